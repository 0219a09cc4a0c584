//! The sweep engine: whole levels by streaming over two byte arrays in memory.
//!
//! Invariant: before the step to depth d, the array of the group of d - 1 holds exactly level d - 1
//! and the array of the group of d holds exactly level d - 2. The step overwrites the latter with
//! level d block by block and only reads the former. No set of visited states is needed: the graph is
//! undirected and bipartite, so a neighbour of level d - 1 lies in level d - 2 or d.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use super::expand::{Expansion, Frontier, Sources};
use super::found::{EachLevel, Found};
use super::problem::Problem;
use super::search::{Search, SearchError};
use crate::Error;
use crate::perm::kernel::{Kernel, Tally};
use crate::perm::layout::Layout;
use crate::progress::{Phase, Progress};

/// Fewest tiles that the register layout can number.
pub(super) const MIN_TILES: usize = Layout::MIN_LEN;

/// Most blocks that a worker takes at a time: 64 * 21 KiB, half a millisecond's work. Workers take
/// neighbouring blocks, so that they share the sources in the last-level cache.
const BLOCKS_PER_TASK: usize = 64;

/// Returns the bytes of the two arrays: n!/120 registers of 64 bytes each for n tiles.
pub(super) fn array_bytes(tiles: usize) -> u64 {
    Layout::new(tiles).map_or(0, |layout| layout.registers() * 128)
}

/// Runs the search. Cost: 128 bytes per register of memory, one pass over it per level.
pub(super) fn run(
    search: &Search,
    problem: &Problem,
    kernel: Kernel,
    observer: &dyn Progress,
    each: &mut EachLevel,
) -> Result<Found, Error> {
    let (layout, groups) = (problem.layout, &problem.groups);
    let programs = [problem.program(kernel, 0)?, problem.program(kernel, 1)?];
    let mut frontiers = [
        Frontier::empty(layout, layout.blocks())?,
        Frontier::empty(layout, layout.blocks())?,
    ];
    let mut from = problem.group(0);
    let (first, bit) = problem.first();
    frontiers[from].insert(layout, problem.start.line, bit);

    let mut found = Found::new(problem.space.size());
    found.push(first, Instant::now(), observer)?;

    let mut shown = |depth, group, frontier: &Frontier| {
        each(depth, frontier.registers.units(), groups.cells(group))
    };
    shown(0, from, &frontiers[from])?;

    for depth in 1.. {
        if search.max_depth.is_some_and(|max| depth > max) {
            break;
        }
        let begun = Instant::now();
        let [even, odd] = &mut frontiers;
        let (cur, next) = if from == 0 {
            (&*even, odd)
        } else {
            (&*odd, even)
        };
        let sweep = Sweep {
            expansion: Expansion {
                layout,
                program: &programs[from],
                cur,
                first: 0,
            },
            observer,
            depth,
        };
        let interrupted = SearchError::Interrupted {
            depth,
            states: found.states,
        };
        let tally = sweep.level(next).ok_or(interrupted)?;
        if !found.push(tally, begun, observer)? {
            break;
        }
        from = groups.next(from);
        shown(depth, from, next)?;
    }
    found.last = frontiers[from].states(layout, 0, groups.cells(from), search.keep_last);
    Ok(found)
}

/// One level.
struct Sweep<'a> {
    expansion: Expansion<'a>,
    observer: &'a dyn Progress,
    depth: usize,
}

impl Sweep<'_> {
    /// Replaces level d - 2 in `next` by level d. Returns `None` when interrupted.
    fn level(&self, next: &mut Frontier) -> Option<Tally> {
        let expansion = &self.expansion;
        let layout = expansion.layout;
        let block = layout.block_registers();
        let total = layout.blocks() as u64;
        let threads = rayon::current_num_threads();
        let per_task = (layout.blocks() / (threads * 8)).clamp(1, BLOCKS_PER_TASK);
        let registers = next.registers.units_mut().chunks_mut(block * per_task);
        let tasks = Mutex::new(
            registers
                .zip(next.occupied.chunks_mut(per_task))
                .enumerate(),
        );
        let (done, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
        let tallies = rayon::broadcast(|_| {
            let mut sources = [0, 1].map(|_| Sources::new(expansion.program));
            let mut tally = Tally::default();
            loop {
                let task = tasks.lock().unwrap_or_else(|e| e.into_inner()).next();
                let Some((task, (registers, occupied))) = task else {
                    break;
                };
                if stopped.load(Ordering::Relaxed) || self.observer.interrupted() {
                    stopped.store(true, Ordering::Relaxed);
                    break;
                }
                let first = task * per_task;
                let [now, ahead] = &mut sources;
                expansion.find(now, first);
                for (i, next) in registers.chunks_mut(block).enumerate() {
                    if i + 1 < occupied.len() {
                        expansion.find(ahead, first + i + 1);
                    } else {
                        ahead.far.clear();
                    }
                    let occupied = &mut occupied[i];
                    tally = tally.plus(expansion.block(first + i, next, occupied, now, ahead, &[]));
                    std::mem::swap(now, ahead);
                }
                let blocks = occupied.len() as u64;
                let done = done.fetch_add(blocks, Ordering::Relaxed) + blocks;
                self.observer
                    .progress(Phase::Search(self.depth), done, total);
            }
            tally
        });
        (!stopped.into_inner()).then(|| tallies.into_iter().fold(Tally::default(), Tally::plus))
    }
}
