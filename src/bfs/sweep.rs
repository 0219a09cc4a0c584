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
use super::search::Found;
use super::{Level, Observer, Search, SearchError, State, StateSpace};
use crate::Error;
use crate::perm::checksum;
use crate::perm::kernel::{Block, Kernel, Program, Tally};
use crate::perm::layout::{LANES, Layout, Register};
use crate::perm::lehmer::MAX_LEN;
use crate::store::Array;

/// Fewest tiles that the register layout can number.
pub(super) const MIN_TILES: usize = Layout::MIN_LEN;

/// Most blocks that a worker takes at a time: 64 * 21 KiB, half a millisecond's work. Workers take
/// neighbouring blocks, so that they share the sources in the last-level cache.
const BLOCKS_PER_TASK: usize = 64;

/// Returns the bytes of the two arrays: n!/120 registers of 64 bytes each for n tiles.
pub(super) fn array_bytes(tiles: usize) -> u64 {
    Layout::new(tiles).map_or(0, |layout| layout.registers() * 128)
}

/// The states of one class at one depth: a byte per line, one bit per cell of the class.
struct Frontier {
    registers: Array,
    /// For each block whether any of its bytes is set.
    occupied: Vec<bool>,
}

impl Frontier {
    fn empty(layout: Layout) -> Result<Frontier, Error> {
        let registers = Array::zeroed(layout.registers())?;
        Ok(Frontier {
            registers,
            occupied: vec![false; layout.blocks()],
        })
    }

    fn insert(&mut self, layout: Layout, line: u64, bit: u8) {
        let (register, lane) = ((line / LANES as u64) as usize, line % LANES as u64);
        self.registers.units_mut()[register][lane as usize] |= 1 << bit;
        self.occupied[register / layout.block_registers()] = true;
    }

    /// The first `limit` states, in order.
    fn states(&self, layout: Layout, cells: &[usize], limit: usize) -> Vec<State> {
        let mut states = Vec::new();
        let blocks = self.registers.units().chunks(layout.block_registers());
        for (block, registers) in blocks
            .enumerate()
            .filter(|(block, _)| self.occupied[*block])
        {
            let first = (block * layout.block_registers() * LANES) as u64;
            let lines = registers.iter().flat_map(|register| &register[..LANES]);
            for (line, byte) in (first..).zip(lines).filter(|(_, byte)| **byte != 0) {
                if states.len() >= limit {
                    return states;
                }
                let bits = (0..8).filter(|bit| byte >> bit & 1 == 1);
                states.extend(bits.map(|bit| State {
                    line,
                    cell: cells[bit],
                }));
            }
        }
        states.truncate(limit);
        states
    }
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

    let mut frontiers = [Frontier::empty(layout)?, Frontier::empty(layout)?];
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

    let shown = |depth, class, registers: &Array| {
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
            layout,
            program: &programs[from],
            cur,
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
    found.last = frontiers[from].states(layout, classes.cells(from), search.keep_last);
    Ok(found)
}

/// One level.
struct Sweep<'a> {
    layout: Layout,
    program: &'a Program,
    cur: &'a Frontier,
    observer: &'a dyn Observer,
    depth: usize,
}

impl Sweep<'_> {
    /// Replaces level d - 2 in `next` by level d. Returns `None` when interrupted.
    fn level(&self, next: &mut Frontier) -> Option<Tally> {
        let block = self.layout.block_registers();
        let total = self.layout.blocks() as u64;
        let threads = rayon::current_num_threads();
        let per_task = (self.layout.blocks() / (threads * 8)).clamp(1, BLOCKS_PER_TASK);
        let registers = next.registers.units_mut().chunks_mut(block * per_task);
        let tasks = Mutex::new(
            registers
                .zip(next.occupied.chunks_mut(per_task))
                .enumerate(),
        );
        let (done, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
        let tallies = rayon::broadcast(|_| {
            let mut sources = [Sources::new(self.program), Sources::new(self.program)];
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
                now.find(self.layout, self.program, first, &self.cur.occupied);
                for (i, next) in registers.chunks_mut(block).enumerate() {
                    if i + 1 < occupied.len() {
                        ahead.find(self.layout, self.program, first + i + 1, &self.cur.occupied);
                    } else {
                        ahead.far.clear();
                    }
                    tally = tally.plus(self.block(first + i, next, &mut occupied[i], now, ahead));
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

    /// Computes one block; `ahead` are the sources of the block after it.
    fn block(
        &self,
        block: usize,
        next: &mut [Register],
        occupied: &mut bool,
        sources: &Sources,
        ahead: &Sources,
    ) -> Tally {
        if !sources.live.contains(&true) {
            // No state near: level d has none here, and level d - 2 need not be subtracted.
            if std::mem::take(occupied) {
                next.fill([0; 64]);
            }
            return Tally::default();
        }
        let size = self.layout.block_registers();
        let tally = self.program.step(Block {
            cur: self.cur.registers.units(),
            next,
            own: block * size,
            register: (block * size) as u64,
            parity: sources.parity,
            sources: &sources.registers,
            downs: &sources.downs,
            live: &sources.live,
            ahead: &ahead.far,
        });
        *occupied = tally.states > 0;
        tally
    }
}

/// Where one block comes from.
struct Sources {
    parity: usize,
    /// First register of each slot's block, transfer by transfer.
    registers: Vec<usize>,
    downs: Vec<usize>,
    live: Vec<bool>,
    /// First registers of the live blocks that are worth fetching ahead: the block itself and the
    /// sources of the windows in front of it. Those of windows that reach into the block are its
    /// neighbours, which are in the cache already.
    far: Vec<usize>,
}

impl Sources {
    fn new(program: &Program) -> Sources {
        let gathers = program.gathers();
        let slots = gathers.iter().map(|g| g.outside.slots()).sum();
        Sources {
            parity: 0,
            registers: vec![0; slots],
            downs: vec![0; gathers.len()],
            live: vec![false; gathers.len()],
            far: Vec::with_capacity(gathers.len()),
        }
    }

    /// Works out the sources of a block.
    fn find(&mut self, layout: Layout, program: &Program, block: usize, occupied: &[bool]) {
        let mut digits = [0; MAX_LEN];
        layout.block_digits(block, &mut digits);
        let digits = &digits[..layout.block_prefix()];
        self.parity = digits.iter().map(|&d| usize::from(d)).sum::<usize>() % 2;
        let size = layout.block_registers();
        self.far.clear();
        let mut begin = 0;
        for (i, gather) in program.gathers().iter().enumerate() {
            let slots = &mut self.registers[begin..begin + gather.outside.slots()];
            begin += slots.len();
            self.downs[i] = gather.outside.sources(block, digits, slots);
            self.live[i] = slots.iter().any(|&source| occupied[source]);
            for source in slots.iter_mut() {
                *source *= size;
            }
            if let (true, &[source]) = (self.live[i], &*slots)
                && !self.far.contains(&source)
            {
                self.far.push(source);
            }
        }
    }
}
