//! The step of one chunk: loads its current level, then streams its previous level into its next.
//!
//! Invariant: after loading, the array contains exactly the chunk's current level; blocks that contained another
//! chunk's level are cleared. The readers send the chunks in the order in which they are computed.

use std::{ops::Range, time::Instant};

use parking_lot::Mutex;

use crate::{
    Error,
    kernel::{Kernel, Rule, Tally, collect, spread},
    perm::{ALL, GROUP, Gathers, Reach, Register},
    progress::{Meter, Progress},
    search::{
        BlockLoop, BlockSources, BlockTarget, Chunks, Crossings, Expansion, Frontier, IncomingStep,
        MANY, Plane, PredecessorBlocks, SearchError, SearchProblem, crosses,
        disk::{Batch, Batches, Committer, Fetch, Halo, MemoryPlan, RunFiles},
    },
    stop::Stop,
    store::{Codec, Decoder, EncodedFrames, Encoder},
    system::SystemError,
};

/// Maximum number of batches that may wait, of the previous level or of a level that is only read to restore its bits:
/// they are used at once.
const AHEAD: usize = 32;

/// The data that is fixed while a session computes levels, shared by all its threads.
pub(crate) struct DiskRun<'a> {
    pub files: RunFiles<'a>,
    pub plan: MemoryPlan,
    pub crossings: Crossings,
    pub workers: Workers,
    pub progress: &'a dyn Progress,
    /// Whether there are no other ranks: a single process may be stopped after every chunk, several ranks only
    /// together.
    pub alone: bool,
}

impl DiskRun<'_> {
    fn stops_chunks(&self) -> bool {
        self.alone && self.progress.interrupted()
    }

    pub fn stops_superstep(&self) -> bool {
        !self.alone && self.progress.interrupted()
    }
}

/// The step into one group.
pub(crate) struct GroupStep {
    pub step: IncomingStep,
    /// Planes through which states arrive, in the order of the step's last transfers, with the bit that each sets.
    pub incoming: Vec<(usize, u8)>,
    /// Planes of the next step through which states leave, with the bit that each takes.
    pub outgoing: Vec<(usize, u8)>,
}

/// Returns the steps from the states at a depth into each group.
pub(crate) fn half_step(
    problem: &SearchProblem,
    crossings: &Crossings,
    depth: usize,
) -> Result<Vec<GroupStep>, Error> {
    let (chunks, kernel) = (crossings.chunks, crossings.kernel);
    let tables = Gathers::new(chunks.layout);
    let (class, side) = (problem.class(depth + 1), problem.side(depth));
    let into = |group: usize| {
        let incoming = planes_at(crossings, side, group, |plane| plane.to);
        let halo: Vec<_> = incoming.iter().map(|&(_, bit)| vec![(0, bit)]).collect();
        let groups = &problem.groups;
        let moves = groups.incoming[class][group].iter();
        let inner = moves.filter(|a| !crosses(&a.transfer, chunks));
        let parity = groups.classes[class][group].parity;
        let into = (parity, group, groups.rule());
        let mut step = IncomingStep::of(kernel, &tables, inner, &halo, into)?;
        if step.rule == Rule::Reverse {
            let gathers = step.program.gathers().iter();
            step.reach = gathers.map(|gather| Reach::of(chunks.layout, gather)).collect();
        }
        let outgoing = planes_at(crossings, 1 - side, group, |plane| plane.from);
        Ok(GroupStep { step, incoming, outgoing })
    };
    (0..problem.groups.classes[class].len()).map(into).collect()
}

/// Returns the planes of a side that have a group at one end, with the bit there.
fn planes_at(
    crossings: &Crossings,
    side: usize,
    group: usize,
    end: impl Fn(&Plane) -> (usize, u8),
) -> Vec<(usize, u8)> {
    let ends = crossings.sides[side].iter().map(end).enumerate();
    ends.filter(|(_, (of, _))| *of == group).map(|(plane, (_, bit))| (plane, bit)).collect()
}

// The frames of a chunk that a step can reach.
//
// Invariant: a frame that is skipped neither receives nor sends any state. In thin levels, these are nearly all frames:
// a level of a few million states on a large board must not cost a pass over its lines.

/// A level is thin if at most one block in this many contains states.
const THIN: usize = 16;

/// Returns, for each frame of a chunk, whether any state can arrive in it; `None` if too many states do for them to be
/// counted. `cur` is the current level of the chunk, and `back` is the step of the other side, whose sources are this
/// step's targets; `reached` lists the blocks that bits from other chunks reach, unless there are too many.
pub(crate) fn near(
    chunks: Chunks,
    chunk: usize,
    cur: &Frontier,
    back: &[GroupStep],
    reached: impl FnOnce(usize) -> Option<Vec<usize>>,
) -> Option<Vec<bool>> {
    let most = chunks.blocks / THIN;
    let held = || (0..cur.occupied.len()).filter(|&block| cur.occupied[block]);
    if held().nth(most).is_some() {
        return None;
    }
    let mut near = vec![false; chunks.frames()];
    for block in reached(most)? {
        near[block / chunks.frame_blocks] = true;
    }
    // Groups lead into each other, each with its own windows: this is followed only if there is a single group.
    let [into] = back else {
        let none = !near.contains(&true) && held().next().is_none();
        return none.then_some(near);
    };
    let expansion = Expansion::of_chunk(chunks, chunk, &into.step, cur);
    let mut sources = PredecessorBlocks::new(&into.step.program);
    for block in held() {
        expansion.find(&mut sources, expansion.first + block);
        for register in &sources.registers {
            let block = register / chunks.layout.block_registers();
            near[block / chunks.frame_blocks] = true;
        }
    }
    Some(near)
}

// The step of a chunk.

/// The data of one worker: its codecs, and memory that is passed on from chunk to chunk.
pub(crate) struct Worker {
    pub decoder: Decoder,
    pub encoder: Encoder,
    /// The block loops of each group.
    pub loops: Vec<BlockLoop>,
    pub located: BlockSources,
    /// One block for each plane into a group, expanded to bytes.
    pub halo: Vec<Register>,
    pub words: Vec<u64>,
    pub frame: Vec<Register>,
    /// For each block of the frame, which groups of its registers still contain data of the previous frame.
    pub stale: Vec<u64>,
    pub occupied: Vec<bool>,
    /// The states seen, if they are kept.
    pub seen: Vec<Register>,
}

impl Worker {
    fn new(codec: Codec, level: i32, kernel: Kernel) -> Result<Worker, SystemError> {
        let (decoder, encoder) = (Decoder::new(kernel)?, Encoder::new(codec, level, kernel)?);
        let (loops, located, halo, words) = Default::default();
        let (frame, stale, occupied, seen) = Default::default();
        Ok(Worker { decoder, encoder, loops, located, halo, words, frame, stale, occupied, seen })
    }
}

/// One worker per thread, created before the first thread begins: tables of codecs take megabytes.
///
/// Invariant: a thread has at most one worker at a time, and the previous contents of a worker are never read.
pub(crate) struct Workers(Mutex<Vec<Worker>>);

impl Workers {
    /// Returns workers for a number of threads, which encode with `codec`; `level` is the zstd level.
    pub fn new(
        codec: Codec,
        level: i32,
        kernel: Kernel,
        threads: usize,
    ) -> Result<Workers, SystemError> {
        let workers = (0..threads).map(|_| Worker::new(codec, level, kernel));
        Ok(Workers(Mutex::new(workers.collect::<Result<_, _>>()?)))
    }

    /// Lends a worker to a thread.
    pub fn with<T>(&self, work: impl FnOnce(&mut Worker) -> T) -> T {
        let idle = || self.0.lock();
        let worker = idle().pop();
        let mut worker = worker.expect("there is a worker for every thread");
        let result = work(&mut worker);
        idle().push(worker);
        result
    }
}

pub(crate) struct Level<'a> {
    pub run: &'a DiskRun<'a>,
    pub depth: usize,
    pub step: &'a [GroupStep],
    /// The step of the other side.
    pub back: &'a [GroupStep],
    pub committer: &'a Committer,
    pub current: Fetch<'a>,
    /// The excluded states: the previous level, or the states seen. Their files have the same parts as those being
    /// written.
    pub left_out: Fetch<'a>,
    /// The chunks that this rank has to compute.
    pub order: Vec<usize>,
    /// Counts their frames.
    pub meter: Meter<'a>,
}

impl Level<'_> {
    /// Computes some of the chunks; returns false if interrupted before the last.
    pub fn chunks(
        &self,
        which: Range<usize>,
        cur: &mut Frontier,
        halo: &mut dyn Halo,
    ) -> Result<bool, Stop> {
        let Level { run, depth, committer, .. } = *self;
        let order = &self.order[which];
        std::thread::scope(|scope| {
            let current = self.current.start(scope, order, run.plan.read_ahead)?;
            let previous = self.left_out.start(scope, order, AHEAD)?;
            let frames = self.left_out.parts.frames();
            let next_side = run.files.problem.side(depth);
            for &chunk in order {
                if run.stops_chunks() {
                    return Ok(false);
                }
                let begun = Instant::now();
                let batches = current.recv().expect("a reader sends every chunk");
                run.files.times.wait.add(begun);
                load(run, &batches, cur)?;
                self.current.counted(chunk, true)?;
                halo.begin(depth as u32, chunk)?;
                let batches = previous.recv().expect("a reader sends every chunk");
                let header = run.files.header(depth as u32, chunk, run.plan.codec);
                committer.tell(move |writer| writer.begin(header))?;
                let near = if self.left_out.parts.seen {
                    None
                } else {
                    near(run.plan.chunks, chunk, cur, self.back, |most| halo.reached(most))
                };
                let mut tally = Tally::default();
                if near.as_ref().is_none_or(|near| near.contains(&true)) {
                    let step = ChunkStep { level: self, chunk, cur, halo };
                    tally = step.compute(&batches, near.as_deref())?;
                    self.left_out.counted(chunk, near.is_none())?;
                } else {
                    // Nothing arrives from anywhere: level d - 2 is subtracted from the empty set.
                    batches.iter().try_for_each(|batch| batch.map(drop))?;
                    self.meter.count(frames as u64);
                }
                committer.tell(move |writer| writer.end(tally, None))?;
                halo.end(depth as u32 + 1, chunk, next_side)?;
            }
            Ok(true)
        })
    }
}

/// Lets every thread work on the batches of a chunk, until there are no more or one has failed.
fn each_batch(
    run: &DiskRun,
    batches: &Batches,
    work: impl Fn(&mut Worker, &Batch) -> Result<(), Stop> + Sync,
) -> Result<(), Stop> {
    let first = Mutex::new(None);
    rayon::broadcast(|_| {
        run.workers.with(|worker| {
            while first.lock().is_none() {
                let begun = Instant::now();
                let batch = batches.recv();
                run.files.times.wait.add(begun);
                let Ok(batch) = batch else {
                    break;
                };
                let done = batch.map_err(Stop::from).and_then(|batch| work(worker, &batch));
                if let Err(stop) = done {
                    first.lock().get_or_insert(stop);
                }
            }
        });
    });
    first.into_inner().map_or(Ok(()), Err)
}

/// Writes which groups of the registers of each block contain a state, one bit each; `live` lists the registers that
/// do, if they are known.
fn mark_held(registers: &[Register], live: Option<&[u32]>, size: usize, held: &mut [u64]) {
    let Some(live) = live else {
        for (block, held) in registers.chunks(size).zip(held) {
            let mut words = block.as_flattened().as_chunks::<8>().0.iter();
            *held = ALL * u64::from(words.any(|word| *word != [0; 8]));
        }
        return;
    };
    held.fill(0);
    // In order, so that no division is needed, which would take as long as the rest.
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

/// Clears the groups of registers of a block that may contain a state: usually none.
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

/// Takes one bit of every byte of a block in which some groups of registers may contain a state; returns whether any is
/// set.
fn take(kernel: Kernel, block: &[Register], bit: u8, held: u64, words: &mut [u64]) -> bool {
    if held == ALL {
        return collect(kernel, block, bit, words);
    }
    words.fill(0);
    let groups = block.chunks(GROUP).zip(words.chunks_mut(GROUP)).enumerate();
    let held = groups.filter(|(i, _)| held >> i & 1 == 1);
    held.fold(false, |any, (_, (block, words))| any | collect(kernel, block, bit, words))
}

fn load(run: &DiskRun, batches: &Batches, cur: &mut Frontier) -> Result<(), Stop> {
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
            // Treating groups separately is worthwhile only if few of them contain anything.
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

/// Puts the bits that chunks of earlier sessions have sent, in the step from a level, into the halo again, and counts
/// these chunks; returns false if interrupted before the last.
pub(crate) fn restore(
    run: &DiskRun,
    level: &Fetch,
    order: &[usize],
    halo: &mut dyn Halo,
    meter: &Meter,
) -> Result<bool, Stop> {
    let (side, chunks) = (run.files.problem.side(level.depth as usize), run.plan.chunks);
    if run.crossings.sides[side].is_empty() {
        return Ok(true);
    }
    let size = chunks.layout.block_registers();
    let groups = 0..level.parts.groups;
    let leaving = |group| planes_at(&run.crossings, side, group, |plane| plane.from);
    let leaving: Vec<_> = groups.map(leaving).collect();
    std::thread::scope(|scope| {
        let chunks_read = level.start(scope, order, AHEAD)?;
        for &chunk in order {
            if run.stops_chunks() {
                return Ok(false);
            }
            let batches = chunks_read.recv().expect("a reader sends every chunk");
            let filled = &*halo;
            each_batch(run, &batches, |worker, batch| {
                worker.words.resize(size, 0);
                worker.frame.resize(chunks.frame_registers(), [0; 64]);
                // The remains of a previous frame no longer belong to any chunk.
                worker.stale.fill(ALL);
                for (frame, entry) in batch.frames() {
                    let (group, within) = level.parts.place(frame);
                    let blocks = chunks.frame(within);
                    let registers = &mut worker.frame[..blocks.len() * size];
                    match entry {
                        Some(entry) => {
                            batch.decode(entry, &mut worker.decoder, registers, false)?;
                        }
                        None => registers.fill([0; 64]),
                    }
                    for (i, registers) in blocks.zip(registers.chunks(size)) {
                        let block = chunk * chunks.blocks + i;
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
            level.counted(chunk, true)?;
            halo.end(level.depth + 1, chunk, side)?;
            meter.count(1);
        }
        Ok(true)
    })
}

struct ChunkStep<'a> {
    level: &'a Level<'a>,
    chunk: usize,
    cur: &'a Frontier,
    halo: &'a dyn Halo,
}

impl ChunkStep<'_> {
    /// Computes the chunk's next level from `batches`, which contain the states excluded from it: its previous level,
    /// or the states seen. `near` tells in which frames any state can arrive, if there are few.
    fn compute(&self, batches: &Batches, near: Option<&[bool]>) -> Result<Tally, Stop> {
        let Level { run, step, committer, ref left_out, .. } = *self.level;
        let (chunks, parts) = (run.plan.chunks, left_out.parts);
        let size = chunks.layout.block_registers();
        let planes = step.iter().map(|group| group.incoming.len()).max().unwrap_or(0);
        let sum = Mutex::new(Tally::default());
        each_batch(run, batches, |worker, batch| {
            // Its contents stay there and are not read.
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
                // Elsewhere, level d - 2 is subtracted from the empty set.
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
            self.level.meter.count((batch.end - batch.first) as u64);
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
    ) -> Result<Tally, Stop> {
        let Level { run, step, ref left_out, .. } = *self.level;
        let (chunks, parts, kernel) = (run.plan.chunks, left_out.parts, run.files.kernel);
        let size = chunks.layout.block_registers();
        let (group, within) = parts.place(frame);
        let into = &step[group];
        let blocks = chunks.frame(within);
        let count = blocks.len();
        let expansion = Expansion::of_chunk(chunks, self.chunk, &into.step, self.cur);
        let Worker { decoder, encoder, loops, located, words, stale, occupied, .. } = worker;
        let halo = &mut worker.halo[..size * into.incoming.len()];
        let registers = &mut worker.frame[..count * size];
        // The excluded states are those that have been seen, or those of the previous level, which the next one
        // replaces.
        let seen = worker.seen.chunks_exact_mut(count * size).next().unwrap_or_default();
        let held = entry.is_some();
        if let Some(entry) = entry {
            let to = if parts.seen { &mut *seen } else { &mut *registers };
            batch.decode(entry, decoder, to, false)?;
        } else {
            seen.fill([0; 64]);
        }
        let begun = Instant::now();
        // Remains of the previous frame are removed where nothing has replaced them.
        let replaced = held && !parts.seen;
        for (block, stale) in registers.chunks_mut(size).zip(&mut *stale) {
            if replaced { *stale = ALL } else { clear(block, std::mem::take(stale)) }
        }
        occupied.fill(replaced);
        let mut tally = Tally::default();
        let next_side = run.files.problem.side(self.level.depth);
        let numbers = expansion.first + blocks.start..expansion.first + blocks.end;
        for (i, block) in numbers.clone().enumerate() {
            let after = Some(block + 1).filter(|after| numbers.contains(after));
            let next = &mut registers[i * size..][..size];
            let (found, held) = loops[group].step(&expansion, block, after, |sources| {
                let halos = sources.live.len() - into.incoming.len()..;
                let planes = into.incoming.iter().zip(&mut sources.live[halos]);
                let blocks = halo.chunks_mut(size).zip(&mut sources.handed);
                for ((&(plane, _), live), (halo, handed)) in planes.zip(blocks) {
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
        let any = tally.states > 0;
        let level = any.then_some((false, &*registers));
        let seen = (parts.seen && (held || any)).then_some((true, &*seen));
        for (is_seen, registers) in level.into_iter().chain(seen) {
            let bytes = encoder.encode(registers).map_err(SearchError::uncoded)?;
            encoded.push(parts.in_file(frame, is_seen), bytes);
        }
        run.files.times.encode.add(begun);
        Ok(tally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        puzzle::{Goal, State},
        random::SplitMix64,
        search::Search,
    };

    /// The neighbours of a state within its chunk lie in frames that are marked as near, and few other frames are.
    #[test]
    fn frames_that_states_lead_to_are_near() {
        let goal = Goal::Last.board("2x7".parse().unwrap()).unwrap();
        let problem = SearchProblem::chunked(&Search::new(goal).space).unwrap();
        let chunks = Chunks::new(problem.layout, 1).unwrap();
        let crossings = Crossings::new(&problem.groups, chunks, Kernel::Scalar);
        let side = |depth| half_step(&problem, &crossings, depth).unwrap();
        // The step from depth 0 is followed by the sources of that from depth 1.
        let (back, parity) = (side(1), problem.class(0));
        let (space, puzzle) = (&problem.space, problem.space.moves());
        let frame_of = |state: State| {
            let (register, lane) = problem.place(state);
            let registers = chunks.registers() as u64;
            let within = (register % registers) as usize;
            (register / registers, within / chunks.frame_registers(), within, lane)
        };
        let mut random = SplitMix64::new(3);
        let (mut tried, mut named) = (0, 0);
        while tried < 40 {
            let line = random.below(space.lines());
            let cell = random.below(14) as usize;
            let state = State { line, cell };
            let seat = problem.seat(state);
            if seat.class != parity {
                continue;
            }
            tried += 1;
            let (chunk, own, within, lane) = frame_of(state);
            let mut cur = Frontier::empty(chunks.layout, chunks.blocks).unwrap();
            cur.insert(chunks.layout, within as u64, lane, seat.bit);
            let look = |reached| near(chunks, chunk as usize, &cur, &back, |_| reached);
            let frames = look(Some(vec![])).unwrap();
            assert!(frames[own], "moves along the path stay");
            named += frames.iter().filter(|near| **near).count();
            for edge in puzzle.edges().iter().filter(|edge| edge.from == cell) {
                let (line, window) = (space.line(state), &puzzle.windows()[edge.window]);
                let line: Vec<u8> = (0..line.len()).map(|p| line[window.source(p)]).collect();
                let (other, frame, ..) = frame_of(space.number(&line, edge.to));
                assert!(other != chunk || frames[frame], "{state:?} {edge:?}");
            }
            let last = chunks.blocks - 1;
            let frames = look(Some(vec![last])).unwrap();
            assert!(frames[chunks.frames() - 1], "what comes from other chunks");
            assert_eq!(look(None), None);
        }
        assert!(
            named < tried * chunks.frames() * 2 / 3,
            "{named} of {tried} times {}",
            chunks.frames()
        );
        // Nothing is counted if much is held.
        let mut cur = Frontier::empty(chunks.layout, chunks.blocks).unwrap();
        cur.occupied.fill(true);
        assert_eq!(near(chunks, 0, &cur, &back, |_| Some(vec![])), None);
    }
}
