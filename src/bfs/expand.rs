//! The step of one block: where its sources lie, and what the kernel makes of them.
//!
//! Invariant: the current level lies in one array, all of it or one chunk; every source of a window that
//! the program gathers itself lies in that array. What lies in other chunks is handed over (`carried`).

use super::state::State;
use crate::Error;
use crate::perm::kernel::{Block, Program, Tally};
use crate::perm::layout::{LANES, Layout, Register};
use crate::perm::lehmer::MAX_LEN;
use crate::store::Array;

/// The states of one class at one depth, of a chunk or of all: a byte per line, one bit per cell of the
/// class.
pub(super) struct Frontier {
    pub registers: Array,
    /// For each block whether any of its bytes is set.
    pub occupied: Vec<bool>,
}

impl Frontier {
    /// Returns the empty set over a number of blocks.
    pub fn empty(layout: Layout, blocks: usize) -> Result<Frontier, Error> {
        let registers = Array::zeroed((blocks * layout.block_registers()) as u64)?;
        Ok(Frontier {
            registers,
            occupied: vec![false; blocks],
        })
    }

    /// Adds a state; `line` counts from the array's first.
    pub fn insert(&mut self, layout: Layout, line: u64, bit: u8) {
        let (register, lane) = ((line / LANES as u64) as usize, line % LANES as u64);
        self.registers.units_mut()[register][lane as usize] |= 1 << bit;
        self.occupied[register / layout.block_registers()] = true;
    }

    /// The first `limit` states, in order; `first_line` is the array's first.
    pub fn states(
        &self,
        layout: Layout,
        first_line: u64,
        cells: &[usize],
        limit: usize,
    ) -> Vec<State> {
        let mut states = Vec::new();
        let blocks = self.registers.units().chunks(layout.block_registers());
        for (block, registers) in blocks
            .enumerate()
            .filter(|(block, _)| self.occupied[*block])
        {
            let first = first_line + (block * layout.block_registers() * LANES) as u64;
            states_of(registers, first, cells, limit, &mut states);
            if states.len() >= limit {
                break;
            }
        }
        states
    }
}

/// Appends the states of registers whose first line is `first_line`, up to `limit` in all.
pub(super) fn states_of(
    registers: &[Register],
    first_line: u64,
    cells: &[usize],
    limit: usize,
    states: &mut Vec<State>,
) {
    let lines = registers.iter().flat_map(|register| &register[..LANES]);
    for (line, byte) in (first_line..).zip(lines).filter(|(_, byte)| **byte != 0) {
        for (bit, &cell) in cells.iter().enumerate() {
            if byte >> bit & 1 == 1 && states.len() < limit {
                states.push(State { line, cell });
            }
        }
        if states.len() >= limit {
            return;
        }
    }
}

/// The step from one level to the next for the blocks of one array.
pub(super) struct Expansion<'a> {
    pub layout: Layout,
    pub program: &'a Program,
    pub cur: &'a Frontier,
    /// Number of the array's first block.
    pub first: usize,
}

impl Expansion<'_> {
    /// Works out the sources of a block, counted over all arrays.
    pub fn find(&self, sources: &mut Sources, block: usize) {
        let layout = self.layout;
        let mut digits = [0; MAX_LEN];
        layout.block_digits(block, &mut digits);
        let digits = &digits[..layout.block_prefix()];
        sources.parity = digits.iter().map(|&d| usize::from(d)).sum::<usize>() % 2;
        let size = layout.block_registers();
        sources.far.clear();
        let mut begin = 0;
        for (i, gather) in self.program.gathers().iter().enumerate() {
            let blocks = &mut sources.registers[begin..begin + gather.source_blocks.count()];
            begin += blocks.len();
            sources.variants[i] = gather.source_blocks.find(block, digits, blocks);
            sources.live[i] = false;
            for source in blocks.iter_mut() {
                *source -= self.first;
                sources.live[i] |= self.cur.occupied[*source];
                *source *= size;
            }
            if let (true, &[source]) = (sources.live[i], &*blocks)
                && !sources.far.contains(&source)
            {
                sources.far.push(source);
            }
        }
    }

    /// Computes one block: `next` is its previous level and becomes its next; `ahead` are the sources of
    /// the block after it.
    pub fn block(
        &self,
        block: usize,
        next: &mut [Register],
        occupied: &mut bool,
        sources: &Sources,
        ahead: &Sources,
        carried: &[Register],
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
            own: (block - self.first) * size,
            register: (block * size) as u64,
            parity: sources.parity,
            source_blocks: &sources.registers,
            variants: &sources.variants,
            live: &sources.live,
            halo: carried,
            ahead: &ahead.far,
        });
        *occupied = tally.states > 0;
        tally
    }
}

/// Where one block comes from.
pub(super) struct Sources {
    pub parity: usize,
    /// First register of each source block, transfer by transfer.
    registers: Vec<usize>,
    variants: Vec<usize>,
    /// For each transfer whether any of its sources holds a state.
    pub live: Vec<bool>,
    /// First registers of the live blocks that are worth fetching ahead: the block itself and the
    /// sources of the windows in front of it. Those of windows that reach into the block are its
    /// neighbours, which are in the cache already.
    pub far: Vec<usize>,
}

impl Sources {
    pub fn new(program: &Program) -> Sources {
        let gathers = program.gathers();
        let blocks = gathers.iter().map(|g| g.source_blocks.count()).sum();
        Sources {
            parity: 0,
            registers: vec![0; blocks],
            variants: vec![0; gathers.len()],
            live: vec![false; gathers.len()],
            far: Vec::with_capacity(gathers.len()),
        }
    }
}
