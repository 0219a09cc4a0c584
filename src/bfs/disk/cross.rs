//! The exchange of one machine whose planes exceed its memory: files.
//!
//! Invariant: these files are scratch. A run that is resumed removes them and makes them again from the
//! level files, so they are never synced.

use std::collections::HashMap;
use std::io;

use super::DiskError;
use super::directories::Directories;
use crate::Error;
use crate::bfs::Exchange;

/// One file per depth and sending chunk, with the segments for all others.
pub(super) struct FileExchange<'a> {
    directories: &'a Directories,
    /// For each depth and receiving chunk where its segments lie.
    sent: HashMap<(u32, usize), Vec<Segment>>,
    /// Depth and sending chunk of the file being written, and its length.
    open: Option<(u32, usize, Box<dyn crate::store::Append>, u64)>,
    names: HashMap<u32, Vec<usize>>,
}

struct Segment {
    from: usize,
    plane: usize,
    offset: u64,
    len: usize,
}

/// Returns the name of the file of a sending chunk.
fn name(depth: u32, from: usize) -> String {
    format!("cross-{depth:03}.chunk-{from:05}")
}

/// Returns whether a name is that of a scratch file.
pub(super) fn is_scratch(name: &str) -> bool {
    name.starts_with("cross-")
}

impl<'a> FileExchange<'a> {
    pub fn new(directories: &'a Directories) -> FileExchange<'a> {
        FileExchange {
            directories,
            sent: HashMap::new(),
            open: None,
            names: HashMap::new(),
        }
    }

    fn error(&self, depth: u32, from: usize, error: io::Error) -> Error {
        let storage = self.directories.of_chunk(from);
        DiskError::io(storage, &name(depth, from), error).into()
    }
}

impl Exchange for FileExchange<'_> {
    fn send(
        &mut self,
        depth: u32,
        from: usize,
        to: usize,
        plane: usize,
        segment: &[u8],
    ) -> Result<(), Error> {
        if !matches!(&self.open, Some((d, f, _, _)) if (*d, *f) == (depth, from)) {
            let storage = self.directories.of_chunk(from);
            let file = storage.create(&name(depth, from));
            let file = file.map_err(|e| self.error(depth, from, e))?;
            self.names.entry(depth).or_default().push(from);
            self.open = Some((depth, from, file, 0));
        }
        let Some((_, _, file, len)) = &mut self.open else {
            return Ok(());
        };
        let offset = *len;
        *len += segment.len() as u64;
        file.append(segment)
            .map_err(|e| self.error(depth, from, e))?;
        self.sent.entry((depth, to)).or_default().push(Segment {
            from,
            plane,
            offset,
            len: segment.len(),
        });
        Ok(())
    }

    fn receive(&mut self, depth: u32, to: usize) -> Result<Vec<(usize, usize, Vec<u8>)>, Error> {
        let mut received = Vec::new();
        let mut open = None;
        for segment in self.sent.get(&(depth, to)).into_iter().flatten() {
            let wrong = |e| self.error(depth, segment.from, e);
            let file = match open.take() {
                Some((from, file)) if from == segment.from => file,
                _ => {
                    let storage = self.directories.of_chunk(segment.from);
                    storage.open(&name(depth, segment.from)).map_err(wrong)?
                }
            };
            let bytes = file.read(segment.offset, segment.len).map_err(wrong)?;
            received.push((segment.from, segment.plane, bytes.as_ref().to_vec()));
            open = Some((segment.from, file));
        }
        Ok(received)
    }

    fn forget(&mut self, depth: u32) -> Result<(), Error> {
        self.sent.retain(|(d, _), _| *d != depth);
        for from in self.names.remove(&depth).unwrap_or_default() {
            let storage = self.directories.of_chunk(from);
            let removed = storage.remove(&name(depth, from));
            removed.map_err(|e| self.error(depth, from, e))?;
        }
        Ok(())
    }
}
