//! The step of one block: where its sources are, and what the kernel computes from them.
//!
//! Invariant: the current level is in one array, either completely or one chunk of it; every source of a window that
//! the program gathers itself is in that array. Data from other chunks is passed in (`halo`).

use rayon::prelude::*;

use crate::{
    Error,
    kernel::{ByteBlock, Rule, StepProgram, Tally},
    perm::{ALL, LANES, Layout, MAX_LEN, Reach, Register},
    puzzle::State,
    search::{Chunks, IncomingStep},
    store::Array,
};

/// The states of one class at one depth, in a chunk or in all: for each group in turn, one byte per line, with one bit
/// per cell of the group.
pub(crate) struct Frontier {
    pub registers: Array,
    /// For each group and block, whether any of its bytes is nonzero.
    pub occupied: Vec<bool>,
    /// If known, for each block, which groups of its registers may contain a state, one bit each.
    pub held: Vec<u64>,
}

impl Frontier {
    /// Returns the empty set for a number of blocks, which is the total over all groups.
    pub fn empty(layout: Layout, blocks: usize) -> Result<Frontier, Error> {
        let registers = Array::zeroed((blocks * layout.block_registers()) as u64)?;
        Ok(Frontier { registers, occupied: vec![false; blocks], held: Vec::new() })
    }

    /// Makes the set empty. Cost: a pass over the blocks that contain states, on all threads.
    pub fn clear(&mut self, layout: Layout) {
        let blocks = self.registers.units_mut().par_chunks_mut(layout.block_registers());
        blocks.zip(&mut self.occupied).for_each(|(block, occupied)| {
            if std::mem::take(occupied) {
                block.fill([0; 64]);
            }
        });
    }

    /// Divides the set into parts with a number of blocks: registers, and whether each block contains any state.
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

    /// The first `limit` states, group by group, given the first line and the cells of each group.
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

/// Appends the states of registers whose first line is `first_line`, up to `limit` in total.
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

/// If a block has this many groups of registers with states, all of its groups are computed.
pub(crate) const MANY: u32 = 32;

/// The step from one level to the next for the blocks of one array.
#[derive(Clone, Copy)]
pub(crate) struct Expansion<'a> {
    pub layout: Layout,
    pub step: &'a IncomingStep,
    pub cur: &'a Frontier,
    pub first: usize,
    /// Number of blocks per group in the array.
    pub blocks: usize,
    /// Where each transfer leads, if it is worthwhile to treat blocks with few nonempty groups of registers separately.
    pub reach: &'a [Reach],
}

pub(crate) struct BlockTarget<'a> {
    /// Its previous level, which becomes its next level.
    pub registers: &'a mut [Register],
    /// Whether any of its bytes is nonzero.
    pub occupied: &'a mut bool,
    /// The states seen so far, if the step needs them.
    pub seen: &'a mut [Register],
    /// The data that is passed in with it.
    pub halo: &'a [Register],
}

/// The blocks of a step, one after another: while one is computed, the sources of the next are fetched into the caches.
pub(crate) struct BlockLoop {
    now: PredecessorBlocks,
    ahead: PredecessorBlocks,
}

impl BlockLoop {
    pub fn new(step: &IncomingStep) -> BlockLoop {
        let sources = || PredecessorBlocks::new(&step.program);
        BlockLoop { now: sources(), ahead: sources() }
    }

    /// Computes a block; `after` is the block that follows in the same step. `target` is given the block's sources and
    /// returns the data that is passed in. Also returns which groups of the block's registers may contain a state.
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
    /// Returns the step for an array that contains all blocks.
    pub fn whole(layout: Layout, step: &'a IncomingStep, cur: &'a Frontier) -> Expansion<'a> {
        Expansion { layout, step, cur, first: 0, blocks: layout.blocks(), reach: &[] }
    }

    /// Returns the step for an array that contains one chunk.
    pub fn of_chunk(
        chunks: Chunks,
        chunk: usize,
        step: &'a IncomingStep,
        cur: &'a Frontier,
    ) -> Expansion<'a> {
        let (layout, blocks) = (chunks.layout, chunks.blocks);
        Expansion { layout, step, cur, first: chunk * blocks, blocks, reach: &[] }
    }

    /// Determines the sources of a block, which is numbered over all arrays.
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

    /// The groups of registers of a block that can receive a state, or all of them if there are many.
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
            // There is no state nearby: the next level has none here, and the previous one need not be subtracted.
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

/// The sources of one block.
pub(crate) struct PredecessorBlocks {
    block: usize,
    parity: usize,
    /// First register in the array for each source block, transfer by transfer.
    pub registers: Vec<usize>,
    variants: Vec<usize>,
    /// For each transfer, the block's first register in the group that it comes from.
    own: Vec<usize>,
    /// For each transfer, whether any of its sources contains a state.
    pub live: Vec<bool>,
    /// For each block that is passed in, which groups of its registers contain a state.
    pub handed: Vec<u64>,
    /// First registers of the nonempty blocks that are worth prefetching: the block itself and the sources of the
    /// windows that lie before it. The sources of windows that reach into the block are its neighbours, which are
    /// already in the cache.
    far: Vec<usize>,
}

impl PredecessorBlocks {
    /// Sets whether the data that is passed in, by the last transfer, contains any state.
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
