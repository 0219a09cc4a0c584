//! The planes of a session, filled from the level files.
//!
//! Invariant: after this, the planes hold the bits of the current level for the chunks that are still to
//! be computed, and the bits of the next level from those that are done: what they would hold had the
//! session never been interrupted.

use crossbeam::channel::bounded;

use super::chunk::{self, Stop};
use super::cross::FileExchange;
use super::fetch::Fetch;
use super::{Halt, PlaneStore, Run};
use crate::bfs::exchange::RoutedPlanes;
use crate::bfs::planes::{Planes, SharedPlanes};
use crate::perm::kernel::collect;
use crate::store::Manifest;

/// Batches that may wait.
const AHEAD: usize = 32;

impl<'a> Run<'a> {
    /// Returns the planes for the step from class `from` to the first level that is not finished.
    pub(super) fn rebuild(
        &'a self,
        manifest: &Manifest,
        from: usize,
    ) -> Result<Box<dyn Planes + 'a>, Halt> {
        let depth = manifest.levels.len() as u32;
        let current = self.fetch(manifest, depth - 1);
        let done = self.fetch(manifest, depth);
        let chunks = self.fit.chunks;
        if self.fit.planes == PlaneStore::Memory {
            let planes = SharedPlanes::new(chunks, self.crossings, from)?;
            self.each_chunk(
                &current,
                |_, _| Ok(()),
                |plane, block, _, words| {
                    planes.fill(plane, block, words);
                },
                from,
            )?;
            self.each_chunk(
                &done,
                |_, _| Ok(()),
                |plane, block, located, words| {
                    let any = words.iter().any(|&word| word != 0);
                    planes.outgoing(plane, block, located, any.then_some(words));
                },
                1 - from,
            )?;
            return Ok(Box::new(planes));
        }
        let exchange = Box::new(FileExchange::new(&self.disk.directories));
        let planes = RoutedPlanes::new(chunks, self.crossings, from, exchange)?;
        let planes = std::sync::RwLock::new(planes);
        for (fetch, class) in [(&current, from), (&done, 1 - from)] {
            let to = fetch.depth + 1;
            self.each_chunk(
                fetch,
                |chunk, ended| {
                    let mut planes = planes.write().unwrap_or_else(|e| e.into_inner());
                    if ended {
                        planes.send(to, chunk, class)?;
                    } else {
                        planes.open(chunk);
                    }
                    Ok(())
                },
                |plane, block, located, words| {
                    let planes = planes.read().unwrap_or_else(|e| e.into_inner());
                    planes.outgoing(plane, block, located, Some(words));
                },
                class,
            )?;
        }
        Ok(Box::new(
            planes.into_inner().unwrap_or_else(|e| e.into_inner()),
        ))
    }

    /// Calls `each(plane, block, scratch, words)` for every plane and every block of every chunk that the
    /// manifest has of a level of a class, between `turn(chunk, false)` and `turn(chunk, true)`.
    pub(super) fn each_chunk(
        &self,
        fetch: &Fetch,
        turn: impl Fn(usize, bool) -> Result<(), Halt>,
        each: impl Fn(usize, usize, &mut crate::bfs::crossing::Located, &[u64]) + Sync,
        class: usize,
    ) -> Result<(), Halt> {
        let planes = &self.crossings.planes;
        if planes.is_empty() {
            return Ok(());
        }
        let order: Vec<usize> = fetch.records.iter().map(|r| r.chunk as usize).collect();
        std::thread::scope(|scope| {
            let (sender, receiver) = bounded(1);
            let order = &order;
            scope.spawn(move || fetch.run(order, AHEAD, &sender));
            for &chunk in order {
                let batches = receiver.recv().expect("a reader sends every chunk");
                turn(chunk, false)?;
                let read = chunk::blocks(
                    fetch,
                    &batches,
                    &self.codecs,
                    &self.times,
                    |block, registers, located, words| {
                        for (plane, crossing) in planes.iter().enumerate() {
                            collect(self.kernel, registers, crossing.bits[class], words);
                            each(plane, block, located, words);
                        }
                    },
                );
                read.map_err(|stop: Stop| Halt::from(stop))?;
                turn(chunk, true)?;
            }
            Ok(())
        })
    }
}
