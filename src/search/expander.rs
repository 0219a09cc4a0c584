//! The step of one block: where its sources lie, and what the kernel makes of them.
//!
//! Invariant: the current level lies in one array, all of it or one chunk; every source of a window that
//! the program gathers itself lies in that array. What lies in other chunks is handed over (`halo`).

use rayon::prelude::*;

use crate::{
    Error,
    kernel::{ByteBlock, Rule, StepProgram, Tally},
    perm::{ALL, LANES, Layout, MAX_LEN, Reach, Register},
    puzzle::State,
    search::{Chunks, IncomingStep},
    store::Array,
};

/// The states of one class at one depth, of a chunk or of all: for each group in turn a byte per line, one
/// bit per cell of the group.
pub(crate) struct Frontier {
    pub registers: Array,
    /// For each group and block whether any of its bytes is set.
    pub occupied: Vec<bool>,
    /// Where it is known, for each block which groups of its registers may hold a state, a bit each.
    pub held: Vec<u64>,
}

impl Frontier {
    /// Returns the empty set over a number of blocks, those of all groups together.
    pub fn empty(layout: Layout, blocks: usize) -> Result<Frontier, Error> {
        let registers = Array::zeroed((blocks * layout.block_registers()) as u64)?;
        Ok(Frontier { registers, occupied: vec![false; blocks], held: Vec::new() })
    }

    /// Makes the set empty. Cost: a pass over the blocks that hold states, on all threads.
    pub fn clear(&mut self, layout: Layout) {
        let blocks = self.registers.units_mut().par_chunks_mut(layout.block_registers());
        blocks.zip(&mut self.occupied).for_each(|(block, occupied)| {
            if std::mem::take(occupied) {
                block.fill([0; 64]);
            }
        });
    }

    /// Cuts the set into parts of a number of blocks: registers, and whether each block holds any state.
    pub fn parts(
        &mut self,
        layout: Layout,
        blocks: usize,
    ) -> impl Iterator<Item = (&mut [Register], &mut [bool])> {
        let size = blocks * layout.block_registers();
        let registers = self.registers.units_mut().chunks_mut(size);
        registers.zip(self.occupied.chunks_mut(blocks))
    }

    pub fn insert(&mut self, layout: Layout, register: u64, lane: usize, bit: u8) {
        let register = register as usize;
        self.registers.units_mut()[register][lane] |= 1 << bit;
        self.occupied[register / layout.block_registers()] = true;
    }

    /// The first `limit` states, group by group; each group has its first line and its cells.
    pub fn states<'a>(
        &self,
        layout: Layout,
        groups: impl ExactSizeIterator<Item = (u64, &'a [usize])>,
        limit: usize,
    ) -> Vec<State> {
        let mut states = Vec::new();
        let size = layout.block_registers();
        let blocks = self.occupied.len() / groups.len();
        for (group, (first_line, cells)) in groups.enumerate() {
            for block in (0..blocks).filter(|block| self.occupied[group * blocks + block]) {
                let registers = &self.registers.units()[(group * blocks + block) * size..][..size];
                let first = first_line + (block * size * LANES) as u64;
                states_of(registers, first, cells, limit, &mut states);
                if states.len() >= limit {
                    return states;
                }
            }
        }
        states
    }
}

/// Appends the states of registers whose first line is `first_line`, up to `limit` in all.
pub(crate) fn states_of(
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

/// So many groups of registers of a block are computed like all of them.
pub(crate) const MANY: u32 = 32;

/// The step from one level to the next for the blocks of one array.
#[derive(Clone, Copy)]
pub(crate) struct Expansion<'a> {
    pub layout: Layout,
    pub step: &'a IncomingStep,
    pub cur: &'a Frontier,
    pub first: usize,
    /// Number of blocks of a group in the array.
    pub blocks: usize,
    /// Where each transfer leads, when blocks of which few groups of registers hold states are worth it.
    pub reach: &'a [Reach],
}

pub(crate) struct BlockTarget<'a> {
    /// Its previous level, which becomes its next.
    pub registers: &'a mut [Register],
    /// Whether any of its bytes is set.
    pub occupied: &'a mut bool,
    /// The states seen so far, where the step needs them.
    pub seen: &'a mut [Register],
    /// What is handed over with it.
    pub halo: &'a [Register],
}

/// The blocks of a step, one after the other: while one is computed, the sources of the next come to the caches.
pub(crate) struct BlockLoop {
    now: PredecessorBlocks,
    ahead: PredecessorBlocks,
}

impl BlockLoop {
    pub fn new(step: &IncomingStep) -> BlockLoop {
        let sources = || PredecessorBlocks::new(&step.program);
        BlockLoop { now: sources(), ahead: sources() }
    }

    /// Computes a block; `after` is the one that will follow in the same step. `target` learns the block's sources and says what is
    /// handed over. Returns also which groups of the block's registers may hold a state.
    pub fn step<'t>(
        &mut self,
        expansion: &Expansion,
        block: usize,
        after: Option<usize>,
        target: impl FnOnce(&mut PredecessorBlocks) -> BlockTarget<'t>,
    ) -> (Tally, u64) {
        let BlockLoop { now, ahead } = self;
        if now.block != block {
            expansion.find(now, block);
        }
        match after {
            Some(after) => expansion.find(ahead, after),
            None => {
                ahead.far.clear();
                ahead.block = NO_BLOCK;
            }
        }
        let target = target(now);
        let found = expansion.block(target, now, ahead);
        std::mem::swap(now, ahead);
        found
    }
}

impl<'a> Expansion<'a> {
    /// Returns the step for an array of all blocks.
    pub fn whole(layout: Layout, step: &'a IncomingStep, cur: &'a Frontier) -> Expansion<'a> {
        Expansion { layout, step, cur, first: 0, blocks: layout.blocks(), reach: &[] }
    }

    /// Returns the step for an array of one chunk.
    pub fn of_chunk(
        chunks: Chunks,
        chunk: usize,
        step: &'a IncomingStep,
        cur: &'a Frontier,
    ) -> Expansion<'a> {
        let (layout, blocks) = (chunks.layout, chunks.blocks);
        Expansion { layout, step, cur, first: chunk * blocks, blocks, reach: &[] }
    }

    /// Works out the sources of a block, counted over all arrays.
    pub fn find(&self, sources: &mut PredecessorBlocks, block: usize) {
        let layout = self.layout;
        let mut digits = [0; MAX_LEN];
        layout.block_digits(block, &mut digits);
        let digits = &digits[..layout.block_prefix()];
        let sum = digits.iter().map(|&d| usize::from(d)).sum::<usize>();
        sources.parity = (sum + self.step.parity) % 2;
        let size = layout.block_registers();
        sources.block = block;
        sources.far.clear();
        let mut begin = 0;
        for (i, gather) in self.step.program.gathers().iter().enumerate() {
            let group = self.step.from[i] * self.blocks;
            let blocks = &mut sources.registers[begin..begin + gather.source_blocks.count()];
            begin += blocks.len();
            sources.variants[i] = gather.source_blocks.find(block, digits, blocks);
            sources.live[i] = false;
            for source in blocks.iter_mut() {
                *source = group + *source - self.first;
                sources.live[i] |= self.cur.occupied[*source];
                *source *= size;
            }
            sources.own[i] = (group + block - self.first) * size;
            if let (true, &[source]) = (sources.live[i], &*blocks)
                && !sources.far.contains(&source)
            {
                sources.far.push(source);
            }
        }
    }

    /// The groups of registers of a block that can get a state, or all where these are many.
    fn few(&self, sources: &PredecessorBlocks) -> u64 {
        let size = self.layout.block_registers();
        let held = |first: usize| self.cur.held[first / size];
        let (mut all, mut begin) = (0, 0);
        let gathers = self.step.program.gathers().iter().zip(self.reach);
        for (i, (gather, reach)) in gathers.enumerate() {
            let blocks = &sources.registers[begin..][..gather.source_blocks.count()];
            begin += blocks.len();
            if !sources.live[i] {
                continue;
            }
            match reach {
                Reach::Own => all |= held(sources.own[i]),
                Reach::Halo(index) => all |= sources.handed[*index],
                Reach::Anywhere => return ALL,
                Reach::Block | Reach::Table { .. } => {
                    for (block, &first) in blocks.iter().enumerate() {
                        let held = held(first);
                        if held == ALL {
                            return ALL;
                        }
                        all |= reach.targets(sources.variants[i], block, held);
                    }
                }
            }
        }
        match all.count_ones() {
            0..MANY => all,
            _ => ALL,
        }
    }

    fn block(
        &self,
        target: BlockTarget,
        sources: &PredecessorBlocks,
        ahead: &PredecessorBlocks,
    ) -> (Tally, u64) {
        let BlockTarget { registers: next, occupied, seen, halo } = target;
        let block = sources.block;
        if !sources.live.contains(&true) {
            // No state near: the next level has none here, and the previous one need not be subtracted.
            if self.step.rule != Rule::Join && std::mem::take(occupied) {
                next.fill([0; 64]);
            }
            return (Tally::default(), 0);
        }
        let size = self.layout.block_registers();
        let (own, group) = (block - self.first, self.step.group);
        let rule = match self.step.rule {
            Rule::Reverse if !self.reach.is_empty() => match self.few(sources) {
                ALL => Rule::Reverse,
                few => Rule::Few(few),
            },
            Rule::Stay(_) => Rule::Stay((group * self.blocks + own) * size),
            rule => rule,
        };
        let tally = self.step.program.step(ByteBlock {
            cur: self.cur.registers.units(),
            next,
            rule,
            seen,
            own: &sources.own,
            register: group as u64 * self.layout.registers() + (block * size) as u64,
            parity: sources.parity,
            source_blocks: &sources.registers,
            variants: &sources.variants,
            live: &sources.live,
            halo,
            ahead: &ahead.far,
            ahead_by: (ahead.block as isize).wrapping_sub(block as isize) * size as isize,
        });
        *occupied = tally.states > 0 || matches!(rule, Rule::Replace | Rule::Join);
        let held = match rule {
            Rule::Few(few) => few,
            _ => ALL,
        };
        (tally, held * u64::from(*occupied))
    }
}

const NO_BLOCK: usize = usize::MAX;

/// Where one block comes from.
pub(crate) struct PredecessorBlocks {
    block: usize,
    parity: usize,
    /// First register in the array of each source block, transfer by transfer.
    pub registers: Vec<usize>,
    variants: Vec<usize>,
    /// For each transfer the block's first register in the group that it comes from.
    own: Vec<usize>,
    /// For each transfer whether any of its sources holds a state.
    pub live: Vec<bool>,
    /// For each block that is handed over which groups of its registers hold a state.
    pub handed: Vec<u64>,
    /// First registers of the live blocks that are worth fetching ahead: the block itself and the
    /// sources of the windows in front of it. Those of windows that reach into the block are its
    /// neighbours, which are in the cache already.
    far: Vec<usize>,
}

impl PredecessorBlocks {
    /// Says whether what is handed over, by the last transfer, holds any state.
    pub fn halo(&mut self, live: bool) {
        if let Some(last) = self.live.last_mut() {
            *last = live;
        }
    }

    pub fn new(program: &StepProgram) -> PredecessorBlocks {
        let gathers = program.gathers();
        let blocks = gathers.iter().map(|g| g.source_blocks.count()).sum();
        PredecessorBlocks {
            block: NO_BLOCK,
            parity: 0,
            registers: vec![0; blocks],
            variants: vec![0; gathers.len()],
            own: vec![0; gathers.len()],
            live: vec![false; gathers.len()],
            handed: vec![0; gathers.len()],
            far: Vec::with_capacity(gathers.len()),
        }
    }
}
