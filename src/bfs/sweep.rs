//! The sweep engine: whole levels by streaming over two byte arrays in memory.
//!
//! Invariant: before the step to depth d, the array of the class of d - 1 holds exactly level d - 1
//! and the array of the class of d holds exactly level d - 2. The step overwrites the latter with
//! level d block by block and only reads the former. No set of visited states is needed: the graph is
//! undirected and bipartite, so a neighbour of level d - 1 lies in level d - 2 or d.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use super::classes::Classes;
use super::expand::{Expansion, Frontier, Sources};
use super::search::Found;
use super::{Level, Observer, Search, SearchError, State, StateSpace};
use crate::Error;
use crate::perm::checksum;
use crate::perm::kernel::{Kernel, Program, Tally};
use crate::perm::layout::{LANES, Layout};

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
    space: &StateSpace,
    start: State,
    kernel: Kernel,
    observer: &dyn Observer,
) -> Result<Found, Error> {
    let size = space.size();
    let layout = Layout::new(size.tiles()).ok_or(SearchError::TooSmall { size })?;
    let puzzle = space.frame().path().puzzle();
    let classes = Classes::new(&puzzle).ok_or(SearchError::TooLarge { size })?;
    let programs =
        [0, 1].map(|from| Program::new(kernel, layout, &classes.transfers(&puzzle, from)));
    let [even, odd] = programs;
    let programs = [
        even.map_err(SearchError::from)?,
        odd.map_err(SearchError::from)?,
    ];

    let mut frontiers = [
        Frontier::empty(layout, layout.blocks())?,
        Frontier::empty(layout, layout.blocks())?,
    ];
    let (class, bit) = classes.place(start.cell);
    frontiers[class].insert(layout, start.line, bit);

    let mut found = Found::default();
    let lane = (start.line % LANES as u64) as usize;
    let checksum = checksum::state(start.line / LANES as u64, lane, usize::from(bit));
    found.push(
        Level {
            depth: 0,
            states: 1,
            checksum,
            seconds: 0.0,
        },
        observer,
    );

    let shown = |depth, class, registers: &crate::store::Array| {
        observer.registers(depth, 0, registers.units(), classes.cells(class));
    };
    shown(0, class, &frontiers[class].registers);

    let mut from = class;
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
            states: found.counts.iter().sum(),
        };
        let tally = sweep.level(next).ok_or(interrupted)?;
        if tally.states == 0 {
            found.complete = true;
            break;
        }
        let seconds = begun.elapsed().as_secs_f64();
        let (states, checksum) = (tally.states, tally.checksum);
        found.push(
            Level {
                depth,
                states,
                checksum,
                seconds,
            },
            observer,
        );
        from = 1 - from;
        shown(depth, from, &next.registers);
    }
    found.last = frontiers[from].states(layout, 0, classes.cells(from), search.keep_last);
    Ok(found)
}

/// One level.
struct Sweep<'a> {
    expansion: Expansion<'a>,
    observer: &'a dyn Observer,
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
                self.observer.progress(self.depth, done, total);
            }
            tally
        });
        (!stopped.into_inner()).then(|| tallies.into_iter().fold(Tally::default(), Tally::plus))
    }
}
