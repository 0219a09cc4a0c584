//! The step of one chunk: load its current level, then stream its previous level into its next.
//!
//! Invariant: after loading, the array holds exactly the chunk's current level; blocks that held another
//! chunk's are cleared. The readers send the chunks in the order in which they are computed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::Builder;
use std::time::Instant;

use parking_lot::Mutex;

use crate::kernel::{Kernel, Tally, collect, spread};
use crate::perm::{ALL, GROUP, Register};
use crate::search::disk::{
    Batch, Batches, Committer, DiskError, DiskRun, EncodedFrames, Fetch, FrameContent, GroupStep,
    Halo, Halt, Worker, leaving, near, no_thread, reader,
};
use crate::search::{BlockLoop, BlockTarget, Expansion, Frontier, MANY};

/// Batches of the previous level that may wait: they are used at once.
const PREVIOUS_AHEAD: usize = 32;

/// Batches that may wait of a level that only gives its bits again.
const RESTORED_AHEAD: usize = 32;

/// One level of a session.
pub(crate) struct Level<'a> {
    pub run: &'a DiskRun<'a>,
    pub depth: usize,
    pub step: &'a [GroupStep],
    /// The step of the other side.
    pub back: &'a [GroupStep],
    pub committer: &'a Committer,
    pub current: Fetch<'a>,
    /// What is left out: the previous level, or the states seen; its files have the parts of those that are written.
    pub left_out: Fetch<'a>,
}

impl Level<'_> {
    /// Computes chunks in order; returns false when told to stop before the last.
    pub fn chunks(
        &self,
        order: &[usize],
        cur: &mut Frontier,
        halo: &mut dyn Halo,
    ) -> Result<bool, Halt> {
        let Level { run, depth, committer, .. } = *self;
        std::thread::scope(|scope| {
            let (currents, current) = reader::channel();
            let (previouses, previous) = reader::channel();
            let read = move || self.current.run(order, run.plan.read_ahead, &currents);
            Builder::new().spawn_scoped(scope, read).map_err(no_thread)?;
            let read = move || self.left_out.run(order, PREVIOUS_AHEAD, &previouses);
            Builder::new().spawn_scoped(scope, read).map_err(no_thread)?;
            let frames = self.left_out.parts.frames() as u64;
            let next_side = run.files.problem.side(depth);
            for (done, &chunk) in (0..).step_by(frames as usize).zip(order) {
                if run.progress.stops_chunks() {
                    return Ok(false);
                }
                let begun = Instant::now();
                let batches = current.recv().expect("a reader sends every chunk");
                run.files.times.wait.add(begun);
                load(run, &batches, cur)?;
                halo.begin(depth as u32, chunk)?;
                let batches = previous.recv().expect("a reader sends every chunk");
                let header = run.files.header(depth as u32, chunk, run.plan.codec);
                committer.tell(move |writer| writer.begin(header))?;
                let near = if self.left_out.parts.seen {
                    None
                } else {
                    near(run.plan.chunks, chunk, cur, self.back, halo)
                };
                let mut tally = Tally::default();
                if near.as_ref().is_none_or(|near| near.contains(&true)) {
                    let step = ChunkStep { level: self, chunk, cur, halo };
                    tally = step.compute(&batches, near.as_deref(), done)?;
                } else {
                    // Nothing comes from anywhere: what there was at level d - 2 is subtracted from nothing.
                    batches.iter().try_for_each(|batch| batch.map(drop))?;
                    run.progress.frames(depth, done + frames);
                }
                committer.tell(move |writer| writer.end(tally))?;
                halo.end(depth as u32 + 1, chunk, next_side)?;
            }
            Ok(true)
        })
    }
}

/// Has every thread work on the batches of a chunk, until there are no more or one has failed.
fn each_batch(
    run: &DiskRun,
    batches: &Batches,
    work: impl Fn(&mut Worker, &Batch) -> Result<(), Halt> + Sync,
) -> Result<(), Halt> {
    let (failed, first) = (AtomicBool::new(false), Mutex::new(None));
    rayon::broadcast(|_| {
        run.workers.with(|worker| {
            while !failed.load(Ordering::Relaxed) {
                let begun = Instant::now();
                let batch = batches.recv();
                run.files.times.wait.add(begun);
                let Ok(batch) = batch else {
                    break;
                };
                let done = batch.map_err(Halt::from).and_then(|batch| work(worker, &batch));
                if let Err(halt) = done {
                    first.lock().get_or_insert(halt);
                    failed.store(true, Ordering::Relaxed);
                }
            }
        });
    });
    first.into_inner().map_or(Ok(()), Err)
}

/// Writes which groups of the registers of each block hold a state, a bit each; `live` are the registers that do, where they
/// are known.
fn mark_held(registers: &[Register], live: Option<&[u32]>, size: usize, held: &mut [u64]) {
    let Some(live) = live else {
        for (block, held) in registers.chunks(size).zip(held) {
            let mut words = block.as_flattened().as_chunks::<8>().0.iter();
            *held = ALL * u64::from(words.any(|word| *word != [0; 8]));
        }
        return;
    };
    held.fill(0);
    // In order: no division that takes as long as the rest.
    let (mut block, mut first) = (0, 0);
    for register in live.iter().map(|&register| register as usize) {
        while register >= first + size {
            (block, first) = (block + 1, first + size);
        }
        held[block] |= 1 << ((register - first) / GROUP);
    }
    for held in held.iter_mut().filter(|held| held.count_ones() >= MANY) {
        *held = ALL;
    }
}

/// Makes the groups of registers of a block empty that may hold a state: mostly none.
fn clear(block: &mut [Register], mut held: u64) {
    if held == ALL {
        return block.fill([0; 64]);
    }
    while held != 0 {
        let first = held.trailing_zeros() as usize * GROUP;
        let end = block.len().min(first + GROUP);
        block[first..end].fill([0; 64]);
        held &= held - 1;
    }
}

/// Takes one bit of every byte of a block of which some groups of registers may hold a state; returns whether any is set.
fn take(kernel: Kernel, block: &[Register], bit: u8, held: u64, words: &mut [u64]) -> bool {
    if held == ALL {
        return collect(kernel, block, bit, words);
    }
    words.fill(0);
    let groups = block.chunks(GROUP).zip(words.chunks_mut(GROUP)).enumerate();
    let held = groups.filter(|(i, _)| held >> i & 1 == 1);
    held.fold(false, |any, (_, (block, words))| any | collect(kernel, block, bit, words))
}

fn load(run: &DiskRun, batches: &Batches, cur: &mut Frontier) -> Result<(), Halt> {
    let chunks = run.plan.chunks;
    let size = chunks.layout.block_registers();
    cur.held.resize(cur.occupied.len(), 0);
    let registers = cur.registers.units_mut().chunks_mut(chunks.frame_registers());
    let blocks = cur.occupied.chunks_mut(chunks.frame_blocks);
    let frames = registers.zip(blocks.zip(cur.held.chunks_mut(chunks.frame_blocks)));
    let frames = Mutex::new(frames.map(Some).collect::<Vec<_>>());
    each_batch(run, batches, |worker, batch| {
        for (frame, entry) in batch.frames() {
            let place = frames.lock()[frame].take();
            let Some((registers, (occupied, held))) = place else {
                continue;
            };
            // Groups are worth it only where few of them hold anything.
            let full = held.contains(&ALL);
            if !full {
                for (block, held) in registers.chunks_mut(size).zip(&mut *held) {
                    clear(block, std::mem::take(held));
                }
            }
            if let Some(entry) = entry {
                let live = batch.decode(entry, &mut worker.decoder, registers, !full)?;
                mark_held(registers, live, size, held);
            } else if full {
                registers.fill([0; 64]);
                held.fill(0);
            }
            for (occupied, held) in occupied.iter_mut().zip(held) {
                *occupied = *held != 0;
            }
        }
        Ok(())
    })
}

/// What chunks of earlier sessions send again.
pub(crate) struct Restored {
    pub done: usize,
    pub total: usize,
}

impl Restored {
    /// Puts what chunks of a level send, in the step from it, into the halo; returns false when told to stop before
    /// the last.
    pub fn add(
        &mut self,
        run: &DiskRun,
        level: &Fetch,
        order: &[usize],
        halo: &mut dyn Halo,
    ) -> Result<bool, Halt> {
        let (side, chunks) = (run.files.problem.side(level.depth as usize), run.plan.chunks);
        if run.crossings.sides[side].is_empty() {
            return Ok(true);
        }
        let size = chunks.layout.block_registers();
        let groups = 0..level.parts.groups;
        let leaving: Vec<_> = groups.map(|group| leaving(&run.crossings, side, group)).collect();
        std::thread::scope(|scope| {
            let (sender, receiver) = reader::channel();
            let read = move || level.run(order, RESTORED_AHEAD, &sender);
            Builder::new().spawn_scoped(scope, read).map_err(no_thread)?;
            for &chunk in order {
                if run.progress.stops_chunks() {
                    return Ok(false);
                }
                let batches = receiver.recv().expect("a reader sends every chunk");
                let filled = &*halo;
                each_batch(run, &batches, |worker, batch| {
                    worker.words.resize(size, 0);
                    worker.frame.resize(chunks.frame_registers(), [0; 64]);
                    // What a frame before has left behind is of no chunk any more.
                    worker.stale.fill(ALL);
                    for (frame, entry) in batch.frames() {
                        let (group, within) = level.parts.place(frame);
                        let first = within * chunks.frame_blocks;
                        let count = chunks.frame_blocks.min(chunks.blocks - first);
                        let registers = &mut worker.frame[..count * size];
                        match entry {
                            Some(entry) => {
                                batch.decode(entry, &mut worker.decoder, registers, false)?;
                            }
                            None => registers.fill([0; 64]),
                        }
                        for (i, registers) in registers.chunks(size).enumerate() {
                            let block = chunk * chunks.blocks + first + i;
                            for &(plane, bit) in &leaving[group] {
                                let words = &mut worker.words;
                                let any = collect(run.files.kernel, registers, bit, words);
                                let words = any.then_some(&words[..]);
                                filled.outgoing(side, plane, block, words);
                            }
                        }
                    }
                    Ok(())
                })?;
                halo.end(level.depth + 1, chunk, side)?;
                self.done += 1;
                run.progress.resumed(self.done, self.total);
            }
            Ok(true)
        })
    }
}

/// The step of a chunk.
struct ChunkStep<'a> {
    level: &'a Level<'a>,
    chunk: usize,
    cur: &'a Frontier,
    halo: &'a dyn Halo,
}

impl ChunkStep<'_> {
    /// Computes the chunk's next level from `batches`, which bring what is left out of it: its previous one, or the
    /// states seen. `near` says which frames any state can come to, where these are few; `done` frames come before.
    fn compute(&self, batches: &Batches, near: Option<&[bool]>, done: u64) -> Result<Tally, Halt> {
        let Level { run, step, committer, depth, ref left_out, .. } = *self.level;
        let (chunks, parts) = (run.plan.chunks, left_out.parts);
        let size = chunks.layout.block_registers();
        let planes = step.iter().map(|group| group.incoming.len()).max().unwrap_or(0);
        let (sum, done) = (Mutex::new(Tally::default()), AtomicU64::new(done));
        each_batch(run, batches, |worker, batch| {
            // What is in it stays, and nobody reads it.
            worker.halo.resize(size * planes, [0; 64]);
            worker.words.resize(size, 0);
            worker.frame.resize(chunks.frame_registers(), [0; 64]);
            worker.stale.resize(chunks.frame_blocks, ALL);
            worker.occupied.resize(chunks.frame_blocks, false);
            worker.seen.resize(worker.frame.len() * usize::from(parts.seen), [0; 64]);
            worker.loops = step.iter().map(|group| BlockLoop::new(&group.step)).collect();
            let halves = parts.halves();
            let mut encoded = EncodedFrames::new(batch.first * halves, batch.end * halves);
            let mut tally = Tally::default();
            for (frame, entry) in batch.frames() {
                // Elsewhere what there was at level d - 2 is subtracted from nothing.
                if near.is_none_or(|near| near[frame]) {
                    let found = self.frame(worker, batch, (frame, entry), &mut encoded);
                    tally = tally.plus(found?);
                }
            }
            let begun = Instant::now();
            committer.tell(|writer| writer.frames(encoded))?;
            run.files.times.wait.add(begun);
            let mut sum = sum.lock();
            *sum = sum.plus(tally);
            drop(sum);
            let frames = (batch.end - batch.first) as u64;
            run.progress.frames(depth, done.fetch_add(frames, Ordering::Relaxed) + frames);
            Ok(())
        })?;
        Ok(sum.into_inner())
    }

    fn frame(
        &self,
        worker: &mut Worker,
        batch: &Batch,
        (frame, entry): (usize, Option<usize>),
        encoded: &mut EncodedFrames,
    ) -> Result<Tally, Halt> {
        let Level { run, step, ref left_out, .. } = *self.level;
        let (chunks, parts, kernel) = (run.plan.chunks, left_out.parts, run.files.kernel);
        let size = chunks.layout.block_registers();
        let (group, within) = parts.place(frame);
        let into = &step[group];
        let first = within * chunks.frame_blocks;
        let count = chunks.frame_blocks.min(chunks.blocks - first);
        let expansion = Expansion {
            layout: chunks.layout,
            step: &into.step,
            cur: self.cur,
            first: self.chunk * chunks.blocks,
            blocks: chunks.blocks,
            reach: &into.reach,
        };
        let Worker { decoder, encoder, loops, located, words, stale, occupied, .. } = worker;
        let halo = &mut worker.halo[..size * into.incoming.len()];
        let registers = &mut worker.frame[..count * size];
        // What has been seen is left out, or what the previous level holds, in whose place the next one comes.
        let seen = worker.seen.chunks_exact_mut(count * size).next().unwrap_or_default();
        let held = entry.is_some();
        if let Some(entry) = entry {
            let to = if parts.seen { &mut *seen } else { &mut *registers };
            batch.decode(entry, decoder, to, false)?;
        } else {
            seen.fill([0; 64]);
        }
        let begun = Instant::now();
        // What the frame before left behind goes, where nothing has taken its place.
        let replaced = held && !parts.seen;
        for (block, stale) in registers.chunks_mut(size).zip(&mut *stale) {
            if replaced { *stale = ALL } else { clear(block, std::mem::take(stale)) }
        }
        occupied.fill(replaced);
        let mut tally = Tally::default();
        let next_side = run.files.problem.side(self.level.depth);
        let numbers = expansion.first + first..expansion.first + first + count;
        for (i, block) in numbers.clone().enumerate() {
            let after = Some(block + 1).filter(|after| numbers.contains(after));
            let next = &mut registers[i * size..][..size];
            let (found, held) = loops[group].step(&expansion, block, after, |sources| {
                let halos = sources.live.len() - into.incoming.len()..;
                let planes = into.incoming.iter().zip(&mut sources.live[halos]);
                let blocks = halo.chunks_mut(size).zip(&mut sources.handed);
                for ((&plane, live), (halo, handed)) in planes.zip(blocks) {
                    *live = self.halo.incoming(plane, block, located, words);
                    if *live {
                        spread(kernel, words, halo);
                        let groups = words.chunks(GROUP).enumerate();
                        let holds = |words: &[u64]| u64::from(words.iter().any(|&word| word != 0));
                        *handed = groups.map(|(i, words)| holds(words) << i).sum();
                    }
                }
                BlockTarget {
                    registers: next,
                    occupied: &mut occupied[i],
                    seen: seen.chunks_exact_mut(size).nth(i).unwrap_or_default(),
                    halo,
                }
            });
            tally = tally.plus(found);
            stale[i] = held;
            let next = &registers[i * size..][..size];
            for &(plane, bit) in &into.outgoing {
                let any = held != 0 && take(kernel, next, bit, held, words);
                let words = any.then_some(&words[..]);
                self.halo.outgoing(next_side, plane, block, words);
            }
        }
        run.files.times.kernel.add(begun);
        let begun = Instant::now();
        let level = (tally.states > 0).then_some((FrameContent::Level, &*registers));
        let seen =
            (parts.seen && (held || tally.states > 0)).then_some((FrameContent::Seen, &*seen));
        for (kind, registers) in level.into_iter().chain(seen) {
            let bytes = encoder.encode(registers).map_err(|reason| DiskError::Codec { reason })?;
            encoded.push(parts.in_file(frame, kind), bytes);
        }
        run.files.times.encode.add(begun);
        Ok(tally)
    }
}
