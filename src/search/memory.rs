//! The sweep engine: computes complete levels by streaming over two byte arrays in memory.
//!
//! Invariant: before the step to depth d, the array for the group of d - 1 contains exactly level d - 1, and the array
//! for the group of d contains exactly level d - 2. The step overwrites the latter with level d, block by block, and
//! only reads the former. No set of visited states is needed: the graph is undirected and bipartite, so a neighbour of
//! level d - 1 is in level d - 2 or d.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use crate::{
    Error,
    kernel::{Kernel, Tally},
    perm::{Gathers, REGISTER_BYTES, Register},
    progress::{Phase, Progress},
    puzzle::Window,
    search::{
        BYTE, BlockLoop, BlockTarget, ChainPlan, EachLevel, Expansion, FoundLevels, Frontier,
        IncomingStep, LongWindowArrays, LongWindows, Search, SearchError, SearchProblem, is_long,
        long_windows, plans,
    },
    threads::Tasks,
};

/// Maximum number of blocks that a worker takes at a time: 64 * 21 KiB, half a millisecond's work. Workers take
/// neighbouring blocks, so that they share the sources in the last-level cache.
const BLOCKS_PER_TASK: usize = 64;

struct ClassSteps {
    steps: Vec<IncomingStep>,
    /// For each group, the windows that are carried out in stages.
    long: Vec<Option<LongWindows>>,
    /// Whether blocks that differ only in the first digit are computed one after another: they share sources that would
    /// have left the caches by the time a pass through the array arrives at the next first digit.
    first_digit_inside: bool,
}

impl ClassSteps {
    fn new(
        problem: &SearchProblem,
        kernel: Kernel,
        tables: &Gathers,
        class: usize,
    ) -> Result<ClassSteps, SearchError> {
        let (layout, groups) = (problem.layout, &problem.groups);
        let before = &groups.classes[groups.next(class)];
        let plans = groups.incoming[class].iter().map(|incoming| plans(layout, incoming));
        let plans: Vec<Vec<ChainPlan>> = plans.collect();
        let short = groups.incoming[class].iter().flatten().map(|a| a.transfer.window.clone());
        let short = short.filter(|window| !is_long(layout, window));
        let windows = short.chain(plans.iter().flatten().flat_map(ChainPlan::windows));
        let windows: Vec<Window> = windows.collect::<HashSet<_>>().into_iter().collect();
        tables.make(&windows);
        let long = plans.iter().map(|plans| LongWindows::new(kernel, tables, plans, before));
        let long: Vec<Option<LongWindows>> = long.collect::<Result<_, _>>()?;
        let step = |(group, long): (usize, &Option<LongWindows>)| {
            let halo = long.as_ref().map(|_| BYTE.to_vec());
            let moves = groups.incoming[class][group].iter();
            let short = moves.filter(|a| !is_long(layout, &a.transfer.window));
            let step = IncomingStep::of(kernel, tables, short, halo.as_slice())?;
            let parity = groups.classes[class][group].parity;
            Ok::<IncomingStep, SearchError>(IncomingStep {
                parity,
                group,
                rule: groups.rule(),
                ..step
            })
        };
        let steps = long.iter().enumerate().map(step);
        let steps: Vec<IncomingStep> = steps.collect::<Result<_, _>>()?;
        let mut gathers = steps.iter().flat_map(|step| step.program.gathers());
        Ok(ClassSteps {
            first_digit_inside: gathers.any(|gather| gather.spreads_first()),
            steps,
            long,
        })
    }
}

/// Returns the size in bytes of the arrays for a problem: 64 bytes per 60 lines of each group, for two levels; for the
/// set of all states seen, if moves may lack inverses; and for the windows that are carried out in stages.
pub(crate) fn array_bytes(problem: &SearchProblem, threads: usize) -> u64 {
    let groups = &problem.groups;
    let arrays = |class| problem.registers(class);
    let levels = arrays(0) + arrays(groups.next(0));
    let seen = (0..groups.classes.len()).filter(|_| groups.directed).map(arrays).sum::<u64>();
    let incoming = groups.incoming.iter().flatten();
    let long = incoming.map(|a| long_windows::arrays(problem.layout, a, threads)).max();
    let long = long.unwrap_or(0) as u64 * problem.layout.registers();
    REGISTER_BYTES as u64 * (levels + seen + long)
}

/// Runs the search. Cost: [`array_bytes`] of memory, and one pass over it per level.
pub(crate) fn run(
    search: &Search,
    problem: &SearchProblem,
    kernel: Kernel,
    observer: &dyn Progress,
    each: &mut EachLevel,
) -> Result<FoundLevels, Error> {
    let (layout, groups) = (problem.layout, &problem.groups);
    let tables = Gathers::new(layout);
    let classes = 0..groups.classes.len();
    let classes = classes.map(|class| ClassSteps::new(problem, kernel, &tables, class));
    let classes: Vec<ClassSteps> = classes.collect::<Result<_, _>>()?;
    let empty =
        |class: usize| Frontier::empty(layout, groups.classes[class].len() * layout.blocks());
    let mut class = problem.class(0);
    let (mut cur, mut next) = (empty(class)?, empty(groups.next(class))?);
    let mut seen = Vec::new();
    if groups.directed {
        for class in 0..groups.classes.len() {
            seen.push(empty(class)?);
        }
    }
    let (register, lane) = problem.place(problem.start);
    let bit = problem.seat(problem.start).bit;
    for first in [Some(&mut cur), seen.get_mut(class)].into_iter().flatten() {
        first.insert(layout, register, lane, bit);
    }

    let mut found = FoundLevels::new(problem.space.to_string(), problem.space.numbered_states());
    found.push(problem.first(), Instant::now(), observer)?;

    let mut shown = |depth, class, frontier: &Frontier| {
        let size = layout.registers() as usize;
        let registers = frontier.registers.units().chunks(size).enumerate();
        for ((at, registers), group) in registers.zip(&groups.classes[class]) {
            let first = problem.first_line(class, at);
            each(depth, first, registers, &group.cells)?;
        }
        Ok::<(), Error>(())
    };
    shown(0, class, &cur)?;

    let mut arrays = LongWindowArrays::default();
    for depth in 1.. {
        if search.max_depth.is_some_and(|max| depth > max) {
            break;
        }
        let begun = Instant::now();
        let to = groups.next(class);
        let sweep = Sweep { problem, class: &classes[to], observer, depth };
        let interrupted = SearchError::Interrupted { depth, states: found.states };
        let tally = sweep.level(&cur, &mut next, seen.get_mut(to), &mut arrays)?;
        if !found.push(tally.ok_or(interrupted)?, begun, observer)? {
            break;
        }
        std::mem::swap(&mut cur, &mut next);
        class = to;
        shown(depth, class, &cur)?;
    }
    let of = groups.classes[class].iter().enumerate();
    let of = of.map(|(at, group)| (problem.first_line(class, at), group.cells.as_slice()));
    found.last = cur.states(layout, of, search.keep_last);
    Ok(found)
}

struct Sweep<'a> {
    problem: &'a SearchProblem,
    class: &'a ClassSteps,
    observer: &'a dyn Progress,
    depth: usize,
}

struct GroupTarget<'a> {
    expansion: Expansion<'a>,
    registers: &'a mut [Register],
    occupied: &'a mut [bool],
    seen: Option<&'a mut [Register]>,
    joined: Option<&'a Frontier>,
}

/// Consecutive blocks of a group to compute.
struct BlockRange<'a> {
    registers: &'a mut [Register],
    occupied: &'a mut [bool],
    /// The states seen so far, if the step needs them.
    seen: &'a mut [Register],
}

impl Sweep<'_> {
    /// Replaces the level before `cur`, in `next`, by the level after it. Returns `None` if interrupted.
    fn level(
        &self,
        cur: &Frontier,
        next: &mut Frontier,
        seen: Option<&mut Frontier>,
        arrays: &mut LongWindowArrays,
    ) -> Result<Option<Tally>, Error> {
        let layout = self.problem.layout;
        let (size, blocks) = (layout.registers() as usize, layout.blocks());
        let mut seen = seen.map(|seen| seen.registers.units_mut().chunks_mut(size));
        let parts = next.parts(layout, blocks).zip(&self.class.steps);
        let mut targets = Vec::new();
        let mut tally = Tally::default();
        for (((registers, occupied), step), long) in parts.zip(&self.class.long) {
            let expansion = Expansion::whole(layout, step, cur);
            let seen = seen.as_mut().and_then(Iterator::next);
            let Some(long) = long else {
                targets.push(GroupTarget { expansion, registers, occupied, seen, joined: None });
                continue;
            };
            let pass = |expansion: Expansion<'_>, to: &mut Frontier| {
                let target = GroupTarget {
                    expansion,
                    registers: to.registers.units_mut(),
                    occupied: &mut to.occupied,
                    seen: None,
                    joined: None,
                };
                self.pass(vec![target]).is_some()
            };
            if !long.run(cur, arrays, self.observer, &pass)? {
                return Ok(None);
            }
            let target = GroupTarget {
                expansion,
                registers,
                occupied,
                seen,
                joined: arrays.joined.as_ref(),
            };
            match self.pass(vec![target]) {
                Some(part) => tally = tally.plus(part),
                None => return Ok(None),
            }
        }
        Ok(self.pass(targets).map(|rest| tally.plus(rest)))
    }

    /// Computes parts of some groups. Returns `None` if interrupted.
    fn pass(&self, targets: Vec<GroupTarget>) -> Option<Tally> {
        if targets.is_empty() {
            return Some(Tally::default());
        }
        let layout = self.problem.layout;
        let (size, blocks) = (layout.block_registers(), layout.blocks());
        let threads = rayon::current_num_threads();
        let mut per_task = (blocks / (threads * 8)).clamp(1, BLOCKS_PER_TASK);
        let (mut run, mut stride) = (per_task, 1);
        if self.class.first_digit_inside {
            (run, stride) = (1, layout.block_stride(0));
            per_task = per_task.next_multiple_of(layout.radix(0));
        }
        // For each run of blocks, the parts of all groups: processed side by side, they read the same sources.
        let mut runs: Vec<Option<(usize, Vec<BlockRange>)>> =
            (0..blocks).step_by(run).map(|first| Some((first, Vec::new()))).collect();
        let mut steps = Vec::new();
        for target in targets {
            steps.push((target.expansion, target.joined));
            let parts = target.registers.chunks_mut(run * size);
            let parts = parts.zip(target.occupied.chunks_mut(run));
            let mut seen = target.seen.unwrap_or_default().chunks_mut(run * size);
            for ((_, of), (registers, occupied)) in runs.iter_mut().flatten().zip(parts) {
                let seen = seen.next().unwrap_or_default();
                of.push(BlockRange { registers, occupied, seen });
            }
        }
        let order = (0..stride).flat_map(|rest| (rest..runs.len()).step_by(stride));
        let order: Vec<usize> = order.collect();
        let task = |runs_of: &[usize]| runs_of.iter().filter_map(|&at| runs[at].take()).collect();
        let work: Vec<Vec<(usize, Vec<BlockRange>)>> =
            order.chunks(per_task / run).map(task).collect();
        let (tasks, done) = (Tasks::new(work), AtomicU64::new(0));
        let tallies = rayon::broadcast(|_| {
            let loops = steps.iter().map(|(expansion, _)| BlockLoop::new(expansion.step));
            let mut loops: Vec<BlockLoop> = loops.collect();
            let mut tally = Tally::default();
            tasks.run(|_, task| {
                if self.observer.interrupted() {
                    return Err(());
                }
                let numbers = |first: usize| first..blocks.min(first + run);
                let order: Vec<usize> = task.iter().flat_map(|of| numbers(of.0)).collect();
                let mut ahead = order.iter().skip(1).copied();
                for (first, mut parts) in task {
                    for (i, block) in numbers(first).enumerate() {
                        let after = ahead.next();
                        for ((part, blocks), (expansion, joined)) in
                            parts.iter_mut().zip(&mut loops).zip(&steps)
                        {
                            let (found, _) = blocks.step(expansion, block, after, |sources| {
                                let mut halo: &[Register] = &[];
                                if let Some(joined) = joined {
                                    halo = &joined.registers.units()[block * size..][..size];
                                    sources.halo(joined.occupied[block]);
                                }
                                BlockTarget {
                                    registers: &mut part.registers[i * size..][..size],
                                    occupied: &mut part.occupied[i],
                                    seen: part.seen.chunks_mut(size).nth(i).unwrap_or_default(),
                                    halo,
                                }
                            });
                            tally = tally.plus(found);
                        }
                    }
                }
                let taken = order.len() as u64;
                let done = done.fetch_add(taken, Ordering::Relaxed) + taken;
                self.observer.progress(Phase::Search(self.depth), done, blocks as u64);
                Ok(())
            });
            tally
        });
        tasks.end().ok().map(|()| tallies.into_iter().fold(Tally::default(), Tally::plus))
    }
}
