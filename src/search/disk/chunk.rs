//! The step of one chunk: load its current level, then stream its previous level into its next.
//!
//! Invariant: after loading, the array holds exactly the chunk's current level; blocks that held another
//! chunk's are cleared.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::kernel::{Kernel, Tally, collect, spread};
use crate::perm::layout::{GROUP, Register};
use crate::perm::reach::ALL;
use crate::search::classes::Chunks;
use crate::search::disk::error::DiskError;
use crate::search::disk::half_step::{GroupStep, Half, HalfStep, Parts, RankProgress};
use crate::search::disk::halo::Planes;
use crate::search::disk::halo_sources::BlockSources;
use crate::search::disk::reader::{Batch, Batches, Fetch, Times};
use crate::search::disk::writer::{Committer, EncodedFrames, Halt};
use crate::search::expander::{Expansion, Frontier, MANY, PredecessorBlocks};
use crate::store::{Codec, Decoder, Encoder, FrameEntry, Frames, MemoryError};

/// The first reason that any worker met.
#[derive(Default)]
struct FirstFailure {
    any: AtomicBool,
    reason: Mutex<Option<Halt>>,
}

impl FirstFailure {
    fn set(&self, halt: Halt) {
        let mut reason = self.reason.lock().unwrap_or_else(|e| e.into_inner());
        reason.get_or_insert(halt);
        self.any.store(true, Ordering::Relaxed);
    }

    fn result(self) -> Result<(), Halt> {
        let reason = self.reason.into_inner().unwrap_or_else(|e| e.into_inner());
        reason.map_or(Ok(()), Err)
    }
}

/// Hands the batches of a chunk to a worker, until there are no more or another worker has stopped.
fn next(batches: &Batches, stopped: &FirstFailure, times: &Times) -> Option<Batch> {
    if stopped.any.load(Ordering::Relaxed) {
        return None;
    }
    let begun = Instant::now();
    let batch = batches.recv();
    times.wait.add(begun);
    match batch {
        Ok(Ok(batch)) => Some(batch),
        Ok(Err(error)) => {
            stopped.set(Halt::from(error));
            None
        }
        Err(_) => None,
    }
}

/// Writes which groups of the registers of each block hold a state, a bit each; `live` are the registers that do, where they
/// are known.
fn mark_held(registers: &[Register], live: Option<&[u32]>, size: usize, held: &mut [u64]) {
    let Some(live) = live else {
        for (block, held) in registers.chunks(size).zip(held) {
            *held = ALL * u64::from(any(block));
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

/// Where a frame is decoded to.
struct FrameTarget<'a> {
    registers: &'a mut [Register],
    /// Whether these hold nothing.
    is_empty: bool,
    /// For each block where the groups are marked that hold a state; or none.
    held: &'a mut [u64],
}

/// What decodes a frame; returns whether it holds states, else nothing is written.
type Decode<'a> = &'a mut dyn FnMut(FrameTarget) -> Result<bool, Halt>;

/// Decodes the frames of a batch one by one: calls `each(frame, decode)` for every frame number.
fn decode(
    batch: &Batch,
    fetch: &Fetch,
    decoder: &mut Decoder,
    times: &Times,
    mut each: impl FnMut(usize, Decode) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let entries = batch.frames.as_ref().map_or(&[][..], Frames::entries);
    let size = fetch.chunks.layout.block_registers();
    let mut entry = 0;
    for frame in batch.first..batch.end {
        let number = fetch.parts.in_file(frame, fetch.half);
        let before = |e: &FrameEntry| (e.frame as usize) < number;
        entry += entries[entry..].iter().take_while(|e| before(e)).count();
        let found = entries.get(entry).filter(|e| e.frame as usize == number);
        let here = batch.frames.as_ref().filter(|_| found.is_some());
        each(frame, &mut |to| {
            let Some(frames) = here else {
                return Ok(false);
            };
            let begun = Instant::now();
            let decoded = frames.decode(entry, decoder, to.registers, to.is_empty);
            let live = decoded.map_err(|reason| Halt::from(fetch.damaged(batch.chunk, &reason)))?;
            if !to.held.is_empty() {
                mark_held(to.registers, live, size, to.held);
            }
            times.decode.add(begun);
            Ok(true)
        })?;
    }
    Ok(())
}

/// Whether registers hold any state.
fn any(registers: &[Register]) -> bool {
    registers.as_flattened().as_chunks::<8>().0.iter().any(|word| *word != [0; 8])
}

/// Whether a byte has a bit for a cell beyond the last of its group.
pub(crate) fn any_beyond(registers: &[Register], cells: usize) -> bool {
    let beyond = 0xffu32.checked_shl(cells as u32).unwrap_or(0) as u8;
    registers.as_flattened().iter().any(|byte| byte & beyond != 0)
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

/// Loads a chunk: group after group.
pub(crate) fn load(
    fetch: &Fetch,
    batches: &Batches,
    cur: &mut Frontier,
    codecs: &Codecs,
    times: &Times,
) -> Result<(), Halt> {
    let chunks = fetch.chunks;
    let size = chunks.layout.block_registers();
    cur.held.resize(cur.occupied.len(), 0);
    let registers = cur.registers.units_mut().chunks_mut(chunks.frame_registers());
    let blocks = cur.occupied.chunks_mut(chunks.frame_blocks);
    let frames = registers.zip(blocks.zip(cur.held.chunks_mut(chunks.frame_blocks)));
    let frames: Vec<_> = frames.map(Some).collect();
    let frames = Mutex::new(frames);
    let stopped = FirstFailure::default();
    rayon::broadcast(|_| {
        codecs.with(|decoder, _, _| {
            while let Some(batch) = next(batches, &stopped, times) {
                let result = decode(&batch, fetch, decoder, times, |frame, decode| {
                    let place = frames.lock().unwrap_or_else(|e| e.into_inner())[frame].take();
                    let Some((registers, (occupied, holds))) = place else {
                        return Ok(());
                    };
                    // Groups are worth it only where few of them hold anything.
                    let full = holds.contains(&ALL);
                    if !full {
                        for (block, holds) in registers.chunks_mut(size).zip(&mut *holds) {
                            clear(block, std::mem::take(holds));
                        }
                    }
                    let written = decode(FrameTarget { registers, is_empty: !full, held: holds })?;
                    if full && !written {
                        registers.fill([0; 64]);
                        holds.fill(0);
                    }
                    for (occupied, holds) in occupied.iter_mut().zip(holds) {
                        *occupied = *holds != 0;
                    }
                    Ok(())
                });
                if let Err(stop) = result {
                    stopped.set(stop);
                }
            }
        });
    });
    stopped.result()
}

/// Calls `each((group, block), registers, scratch, words)` for every block of a chunk's file.
pub(crate) fn blocks(
    fetch: &Fetch,
    batches: &Batches,
    codecs: &Codecs,
    times: &Times,
    each: impl Fn((usize, usize), &[Register], &mut BlockSources, &mut [u64]) + Sync,
) -> Result<(), Halt> {
    let chunks = fetch.chunks;
    let size = chunks.layout.block_registers();
    let stopped = FirstFailure::default();
    rayon::broadcast(|_| {
        codecs.with(|decoder, _, _| {
            let mut frame_registers = vec![[0; 64]; chunks.frame_registers()];
            let mut located = BlockSources::default();
            let mut words = vec![0; size];
            while let Some(batch) = next(batches, &stopped, times) {
                let chunk = batch.chunk;
                let result = decode(&batch, fetch, decoder, times, |frame, decode| {
                    let (group, within) = fetch.parts.place(frame);
                    let first = within * chunks.frame_blocks;
                    let count = chunks.frame_blocks.min(chunks.blocks - first);
                    let registers = &mut frame_registers[..count * size];
                    let written =
                        decode(FrameTarget { registers, is_empty: false, held: &mut [] })?;
                    if !written {
                        registers.fill([0; 64]);
                    }
                    for (i, registers) in registers.chunks(size).enumerate() {
                        let block = chunk * chunks.blocks + first + i;
                        each((group, block), registers, &mut located, &mut words);
                    }
                    Ok(())
                });
                if let Err(stop) = result {
                    stopped.set(stop);
                }
            }
        });
    });
    stopped.result()
}

/// The step of a chunk.
pub(crate) struct ChunkStep<'a> {
    pub chunks: Chunks,
    pub planes: &'a dyn Planes,
    pub side: &'a HalfStep,
    pub kernel: Kernel,
    pub cur: &'a Frontier,
    pub chunk: usize,
    /// Parts of the file that is written.
    pub parts: Parts,
    /// Which frames any state can come to, where these are few.
    pub near: Option<&'a [bool]>,
    pub codecs: &'a Codecs,
    pub committer: &'a Committer,
    pub times: &'a Times,
    pub progress: &'a RankProgress<'a>,
    pub depth: usize,
    /// Frames done before this chunk.
    pub done: u64,
}

impl ChunkStep<'_> {
    /// Computes the chunk's next level from `batches`, which bring what is left out of it: its previous one, or the
    /// states seen.
    pub fn run(&self, fetch: &Fetch, batches: &Batches) -> Result<Tally, Halt> {
        let stopped = FirstFailure::default();
        let done = AtomicU64::new(self.done);
        let halves = self.parts.halves();
        let tallies = rayon::broadcast(|_| {
            self.codecs.with(|decoder, encoder, scratch| {
                let into = self.side.into.iter();
                let planes = into.clone().map(|group| group.incoming.len()).max();
                scratch.fit(self.chunks, planes.unwrap_or(0), self.parts.seen);
                let sources =
                    |group: &GroupStep| [0, 1].map(|_| PredecessorBlocks::new(&group.step.program));
                let mut sources: Vec<[PredecessorBlocks; 2]> = into.map(sources).collect();
                let mut tally = Tally::default();
                while let Some(batch) = next(batches, &stopped, self.times) {
                    let mut encoded = EncodedFrames::new(batch.first * halves, batch.end * halves);
                    let result = decode(&batch, fetch, decoder, self.times, |frame, decode| {
                        if self.near.is_some_and(|near| !near[frame]) {
                            // What there was at level d - 2 is subtracted from nothing.
                            return Ok(());
                        }
                        tally = tally.plus(self.frame(
                            frame,
                            decode,
                            &mut sources,
                            scratch,
                            encoder,
                            &mut encoded,
                        )?);
                        Ok(())
                    });
                    if let Err(stop) = result {
                        stopped.set(stop);
                        break;
                    }
                    let begun = Instant::now();
                    if self.committer.frames(encoded).is_err() {
                        stopped.set(Halt::Writer);
                    }
                    self.times.wait.add(begun);
                    let frames = (batch.end - batch.first) as u64;
                    let done = done.fetch_add(frames, Ordering::Relaxed) + frames;
                    self.progress.frames(self.depth, done);
                }
                tally
            })
        });
        stopped.result()?;
        Ok(tallies.into_iter().fold(Tally::default(), Tally::plus))
    }

    fn frame(
        &self,
        frame: usize,
        decode: Decode,
        sources: &mut [[PredecessorBlocks; 2]],
        scratch: &mut ChunkScratch,
        encoder: &mut Encoder,
        encoded: &mut EncodedFrames,
    ) -> Result<Tally, Halt> {
        let size = self.chunks.layout.block_registers();
        let (group, within) = self.parts.place(frame);
        let into = &self.side.into[group];
        let first = within * self.chunks.frame_blocks;
        let count = self.chunks.frame_blocks.min(self.chunks.blocks - first);
        let expansion = Expansion {
            layout: self.chunks.layout,
            step: &into.step,
            cur: self.cur,
            first: self.chunk * self.chunks.blocks,
            blocks: self.chunks.blocks,
            reach: &into.reach,
        };
        let ChunkScratch { located, halo, words, frame: registers, stale, occupied, seen } =
            scratch;
        let [now, ahead] = &mut sources[group];
        let halo = &mut halo[..size * into.incoming.len()];
        let registers = &mut registers[..count * size];
        // What has been seen is left out, or what the previous level holds, in whose place the next one comes.
        let kept = self.parts.seen;
        let seen = seen.chunks_exact_mut(count * size).next().unwrap_or_default();
        let held = decode(FrameTarget {
            registers: if kept { &mut *seen } else { &mut *registers },
            is_empty: false,
            held: &mut [],
        })?;
        if kept && !held {
            seen.fill([0; 64]);
        }
        let begun = Instant::now();
        // What the frame before left behind goes, where nothing has taken its place.
        let replaced = held && !kept;
        for (block, stale) in registers.chunks_mut(size).zip(&mut *stale) {
            match replaced {
                true => *stale = ALL,
                false => clear(block, std::mem::take(stale)),
            }
        }
        occupied.fill(replaced);
        let first = expansion.first + first;
        let mut tally = Tally::default();
        expansion.find(now, first);
        for i in 0..count {
            let block = first + i;
            if i + 1 < count {
                expansion.find(ahead, block + 1);
            } else {
                ahead.far.clear();
            }
            let halos = now.live.len() - into.incoming.len()..;
            let planes = into.incoming.iter().zip(&mut now.live[halos]).enumerate();
            for (halo_at, (&plane, live)) in planes {
                *live = self.planes.incoming(plane, block, located, words);
                if *live {
                    spread(self.kernel, words, &mut halo[halo_at * size..][..size]);
                    let groups = words.chunks(GROUP).enumerate();
                    let holds = |words: &[u64]| u64::from(words.iter().any(|&word| word != 0));
                    now.handed[halo_at] = groups.map(|(i, words)| holds(words) << i).sum();
                }
            }
            let next = &mut registers[i * size..][..size];
            let seen = seen.chunks_exact_mut(size).nth(i).unwrap_or_default();
            let occupied = &mut occupied[i];
            let (found, held) = expansion.block(block, next, occupied, seen, now, ahead, halo);
            tally = tally.plus(found);
            stale[i] = held;
            for &(plane, bit) in &into.outgoing {
                let any = held != 0 && take(self.kernel, next, bit, held, words);
                self.planes.outgoing(plane, block, located, any.then_some(&**words));
            }
            std::mem::swap(now, ahead);
        }
        self.times.kernel.add(begun);
        let begun = Instant::now();
        let level = (tally.states > 0).then_some((Half::Level, &*registers));
        let seen = (kept && (held || tally.states > 0)).then_some((Half::Seen, &*seen));
        for (half, registers) in level.into_iter().chain(seen) {
            let bytes = encoder.encode(registers).map_err(|reason| DiskError::Codec { reason })?;
            encoded.push(self.parts.in_file(frame, half), bytes);
        }
        self.times.encode.add(begun);
        Ok(tally)
    }
}

// What each worker keeps from one chunk to the next.
//
// Invariant: a thread has at most one set at a time, and what a set holds from before is never read.

/// Codecs for every worker, made before the first begins, since their tables take megabytes, and the memory
/// that a step works in.
pub(crate) struct Codecs(Mutex<Vec<(Decoder, Encoder, ChunkScratch)>>);

impl Codecs {
    /// Returns the codecs of a number of threads, which encode with `codec`; `level` is zstd's.
    pub fn new(
        codec: Codec,
        level: i32,
        kernel: Kernel,
        threads: usize,
    ) -> Result<Codecs, MemoryError> {
        let set = |_| {
            let encoder = Encoder::new(codec, level, kernel)?;
            Ok((Decoder::new(kernel)?, encoder, ChunkScratch::default()))
        };
        let sets: Result<Vec<_>, MemoryError> = (0..threads).map(set).collect();
        Ok(Codecs(Mutex::new(sets?)))
    }

    /// Lends a set of them to one of the threads.
    pub fn with<T>(
        &self,
        work: impl FnOnce(&mut Decoder, &mut Encoder, &mut ChunkScratch) -> T,
    ) -> T {
        let idle = || self.0.lock().unwrap_or_else(|e| e.into_inner());
        let set = idle().pop();
        let mut set = set.expect("every thread has at most one set");
        let result = work(&mut set.0, &mut set.1, &mut set.2);
        idle().push(set);
        result
    }
}

/// What one worker of a step writes to: memory of one chunk for the next.
#[derive(Default)]
pub(crate) struct ChunkScratch {
    pub located: BlockSources,
    /// One block per plane into a group, spread to bytes.
    pub halo: Vec<Register>,
    pub words: Vec<u64>,
    pub frame: Vec<Register>,
    /// For each block of the frame which groups of its registers are left from the frame before.
    pub stale: Vec<u64>,
    pub occupied: Vec<bool>,
    /// The states seen, where they are kept.
    pub seen: Vec<Register>,
}

impl ChunkScratch {
    /// Makes it as large as a step needs; what is in it stays, and nobody reads it.
    pub fn fit(&mut self, chunks: Chunks, planes: usize, seen: bool) {
        let size = chunks.layout.block_registers();
        self.halo.resize(size * planes, [0; 64]);
        self.words.resize(size, 0);
        self.frame.resize(chunks.frame_registers(), [0; 64]);
        self.stale.resize(chunks.frame_blocks, 0);
        self.occupied.resize(chunks.frame_blocks, false);
        self.seen.resize(self.frame.len() * usize::from(seen), [0; 64]);
    }
}
