//! What a level consists of, and the step of one of its blocks.
//!
//! A `problem` divides the states into [`Groups`], and a search on disk divides their lines into [`Chunks`]. An
//! [`IncomingStep`] has the programs of the kernel for one group; the engines go through blocks with a [`BlockLoop`],
//! which asks an [`Expansion`] where a block's sources are and skips those that are empty.

use std::{collections::VecDeque, ops::Range};

use crate::{
    Error,
    kernel::{ByteBlock, Kernel, Rule, StepProgram, Tally, Transfer},
    perm::{ALL, Gathers, LANES, Layout, MAX_LEN, Reach, Register},
    puzzle::{MoveGraph, State},
    search::SearchError,
    store::Array,
    threads::each_part,
};

// Groups of cells, and the transfers between groups.
//
// A **group** is a parity of lines together with at most 8 cells: the states that one byte per line represents. A
// **class** consists of the groups that a level may contain. Sliding tiles move one at a time on even lines with a
// bipartite graph of cells: this gives two classes with one group each, the colours. If the moves do not determine a
// level's colour, as in the multi-tile metric or if generators of both parities are mixed, there is one class with
// several groups.
//
// Invariant: bit k of a byte of a group represents the k-th of its cells, in increasing order. A level lies in one
// class, the next level in the other class, or in the same one if there is only one.

/// The states that one byte per line represents.
pub(crate) struct Group {
    /// Parity of the lines: 1 for odd ones.
    pub parity: usize,
    /// The cells, in increasing order.
    pub cells: Vec<usize>,
}

/// The moves from a group into another.
pub(crate) struct IncomingMoves {
    /// Index, in its class, of the group that they come from.
    pub from: usize,
    pub transfer: Transfer,
}

/// The groups of a puzzle and the moves between them.
pub(crate) struct Groups {
    /// The groups of each class: there are 1 or 2 classes.
    pub classes: Vec<Vec<Group>>,
    /// For each class and each of its groups, the moves that lead there.
    pub incoming: Vec<Vec<Vec<IncomingMoves>>>,
    /// Whether moves may lack inverses.
    pub directed: bool,
}

/// The position of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub class: usize,
    /// Index of the group in its class.
    pub group: usize,
    pub bit: u8,
}

impl Groups {
    /// Maximum number of cells of a group: the bits of a byte.
    const MAX_CELLS: usize = 8;

    /// Returns the groups of the states that are reachable from even lines with a given cell.
    pub fn new(puzzle: &MoveGraph, start: usize) -> Groups {
        let (colours, bipartite) = reached(puzzle, start);
        let classes = (0..1 + usize::from(bipartite)).map(|class| {
            let groups = |parity: usize| {
                let here = |&cell: &usize| {
                    colours[parity][cell].is_some_and(|colour| !bipartite || colour == class)
                };
                let cells: Vec<usize> = (0..puzzle.cells()).filter(here).collect();
                let parts = cells.len().div_ceil(Groups::MAX_CELLS).max(1);
                let part = |part: &[usize]| Group { parity, cells: part.to_vec() };
                let size = cells.len().div_ceil(parts).max(1);
                cells.chunks(size).map(part).collect::<Vec<Group>>()
            };
            [0, 1].into_iter().flat_map(groups).collect()
        });
        let classes: Vec<Vec<Group>> = classes.collect();
        let incoming = classes.iter().map(|c| c.iter().map(|_| Vec::new()).collect());
        let mut groups =
            Groups { incoming: incoming.collect(), classes, directed: puzzle.is_directed() };
        for (parity, edge) in
            [0, 1].into_iter().flat_map(|p| puzzle.edges().iter().map(move |edge| (p, edge)))
        {
            let window = &puzzle.windows()[edge.window];
            let Some(from) = groups.seat(parity, edge.from) else {
                continue;
            };
            let to = groups.seat(parity ^ usize::from(!window.is_even()), edge.to);
            let to = to.expect("moves lead to what is reached");
            let incoming = &mut groups.incoming[to.class][to.group];
            let bits = (from.bit, to.bit);
            let same =
                |a: &&mut IncomingMoves| a.from == from.group && a.transfer.window == *window;
            match incoming.iter_mut().find(same) {
                Some(moves) => moves.transfer.bits.push(bits),
                None => incoming.push(IncomingMoves {
                    from: from.group,
                    transfer: Transfer { window: window.clone(), bits: vec![bits] },
                }),
            }
        }
        groups
    }

    /// Returns the number of groups of the larger class.
    pub fn most(&self) -> usize {
        self.classes.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Returns the position of states with a given parity of lines and cell, or `None` if none is reached.
    pub fn seat(&self, parity: usize, cell: usize) -> Option<Seat> {
        let mut groups = self.classes.iter().enumerate().flat_map(|(class, groups)| {
            let numbered = groups.iter().enumerate();
            numbered.map(move |(group, of)| (class, group, of))
        });
        groups.find_map(|(class, group, of)| {
            let at = of.cells.iter().position(|&c| c == cell);
            let bit = at.filter(|_| of.parity == parity)? as u8;
            Some(Seat { class, group, bit })
        })
    }

    /// Returns the class of the level that follows a level in a given class.
    pub fn next(&self, class: usize) -> usize {
        self.classes.len() - 1 - class
    }

    /// Returns the states that a step excludes: if the graph is undirected, moves lead to the previous level, the next
    /// one and, if there is only one class, the current one.
    pub fn rule(&self) -> Rule {
        match (self.directed, self.classes.len()) {
            (true, _) => Rule::Unseen,
            (false, 2) => Rule::Reverse,
            (false, _) => Rule::Stay(0),
        }
    }
}

/// Returns, for each parity of lines and each cell, whether paths there have odd length, where paths to the first have
/// even length (`None` if no path leads there), and whether all paths to each of them have lengths of the same parity.
fn reached(puzzle: &MoveGraph, start: usize) -> ([Vec<Option<usize>>; 2], bool) {
    let (mut colours, mut bipartite) = ([0, 1].map(|_| vec![None; puzzle.cells()]), true);
    colours[0][start] = Some(0);
    let mut queue = VecDeque::from([(0, start, 0)]);
    while let Some((parity, cell, colour)) = queue.pop_front() {
        for edge in puzzle.edges().iter().filter(|edge| edge.from == cell) {
            let odd = usize::from(!puzzle.windows()[edge.window].is_even());
            let (to, next) = (&mut colours[parity ^ odd][edge.to], 1 - colour);
            if to.is_none() {
                queue.push_back((parity ^ odd, edge.to, next));
            }
            bipartite &= *to.get_or_insert(next) == next;
        }
    }
    // The first class is that of the first cell, wherever the start is: files depend on this.
    if colours.iter().flatten().flatten().next() == Some(&1) {
        for colour in colours.iter_mut().flatten().flatten() {
            *colour = 1 - *colour;
        }
    }
    (colours, bipartite)
}

// The step into one group, prepared for a kernel.

/// The transfer of whole bytes: every bit to itself.
pub(crate) const BYTE: [(u8, u8); 8] =
    [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7)];

/// The step into one group.
pub(crate) struct IncomingStep {
    pub program: StepProgram,
    /// For each transfer, the index in its class of the group that it comes from.
    pub from: Vec<usize>,
    /// Parity of the lines of the group.
    pub parity: usize,
    /// Index of the group in its class.
    pub group: usize,
    /// The treatment of the states that the step reaches.
    pub rule: Rule,
    /// Where each transfer leads, if it is worthwhile to treat blocks with few nonempty groups of registers separately.
    pub reach: Vec<Reach>,
}

impl IncomingStep {
    /// Returns the step by some moves into a group, given by the parity of its lines, its index and the rule; `halo`
    /// describes what is passed in with the target blocks.
    pub fn of<'a>(
        kernel: Kernel,
        tables: &Gathers,
        moves: impl Iterator<Item = &'a IncomingMoves>,
        halo: &[Vec<(u8, u8)>],
        (parity, group, rule): (usize, usize, Rule),
    ) -> Result<IncomingStep, SearchError> {
        let (mut from, transfers): (Vec<usize>, Vec<Transfer>) =
            moves.map(|a| (a.from, a.transfer.clone())).unzip();
        from.resize(from.len() + halo.len(), 0);
        let program = StepProgram::shared(kernel, tables, &transfers, halo)?;
        Ok(IncomingStep { program, from, parity, group, rule, reach: Vec::new() })
    }
}

// Chunks: the array of lines divided by the first K digits.
//
// Invariant: a chunk is a range of consecutive lines, namely all those that share K digits; it consists of whole blocks
// and is divided into frames of whole blocks, of which only the last may be shorter.

/// How the lines are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunks {
    pub layout: Layout,
    /// Number of digits that all lines of a chunk share, K.
    pub digits: usize,
    /// Number of chunks.
    pub count: usize,
    /// Number of blocks per chunk.
    pub blocks: usize,
    /// Number of blocks per frame.
    pub frame_blocks: usize,
}

impl Chunks {
    /// Maximum number of chunks of a search: each is a file in every level and takes 150 bytes of the manifest, which
    /// is written with every commit.
    pub const MOST: usize = 1 << 20;

    /// Returns the chunks of a layout for K digits, or `None` if K leaves no digit inside a block or gives more than
    /// [`Chunks::MOST`] chunks.
    ///
    /// A frame holds the blocks that differ in one digit, 9!/2 lines for long lines: 181,440 bytes, a size at which the
    /// codec is efficient and which fits in the second-level cache.
    pub fn new(layout: Layout, digits: usize) -> Option<Chunks> {
        let layout = layout.with_shared_digits(digits)?;
        let count: usize = (0..digits).map(|x| layout.radix(x)).product();
        if count > Chunks::MOST {
            return None;
        }
        let blocks = layout.blocks() / count;
        let last = layout.block_prefix().checked_sub(1).filter(|&x| x >= digits);
        let frame_blocks = last.map_or(1, |x| layout.radix(x));
        Some(Chunks { layout, digits, count, blocks, frame_blocks })
    }

    /// All ways to divide the lines, fewest chunks first.
    pub fn cuts(layout: Layout) -> impl DoubleEndedIterator<Item = Chunks> {
        (0..layout.prefix()).filter_map(move |digits| Chunks::new(layout, digits))
    }

    /// The chunks of a run, given their number and the number of lines of a frame.
    pub fn of(layout: Layout, count: u32, frame_lines: u32) -> Option<Chunks> {
        let fits = |cut: &Chunks| (cut.count, cut.frame_lines()) == (count as usize, frame_lines);
        Chunks::cuts(layout).find(fits)
    }

    pub fn registers(&self) -> usize {
        self.blocks * self.layout.block_registers()
    }

    pub fn frame_lines(&self) -> u32 {
        (self.frame_registers() * LANES) as u32
    }

    pub fn frame_registers(&self) -> usize {
        self.frame_blocks * self.layout.block_registers()
    }

    pub fn frames(&self) -> usize {
        self.blocks.div_ceil(self.frame_blocks)
    }

    /// The blocks of a frame, counted from the first block of the chunk.
    pub fn frame(&self, number: usize) -> Range<usize> {
        let first = number * self.frame_blocks;
        first..self.blocks.min(first + self.frame_blocks)
    }

    pub fn lines(&self) -> u64 {
        (self.registers() * LANES) as u64
    }

    pub fn of_block(&self, block: usize) -> usize {
        block / self.blocks
    }
}

// The step of one block: where its sources are, and what the kernel computes from them.
//
// Invariant: the current level is in one array, either completely or one chunk of it; every source of a window that
// the program gathers itself is in that array. Data from other chunks is passed in (`halo`).

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
        const BLOCKS: usize = 64;
        let size = layout.block_registers();
        each_part(self.registers.units_mut(), size * BLOCKS, &|part, registers| {
            let blocks = registers.chunks_mut(size).zip(&self.occupied[part * BLOCKS..]);
            for (block, _) in blocks.filter(|(_, occupied)| **occupied) {
                block.fill([0; 64]);
            }
        });
        self.occupied.fill(false);
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
        Expansion { layout, step, cur, first: 0, blocks: layout.blocks() }
    }

    /// Returns the step for an array that contains one chunk.
    pub fn of_chunk(
        chunks: Chunks,
        chunk: usize,
        step: &'a IncomingStep,
        cur: &'a Frontier,
    ) -> Expansion<'a> {
        let (layout, blocks) = (chunks.layout, chunks.blocks);
        Expansion { layout, step, cur, first: chunk * blocks, blocks }
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
        let gathers = self.step.program.gathers().iter().zip(&self.step.reach);
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
            Rule::Reverse if !self.step.reach.is_empty() => match self.few(sources) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_and_frames_cover_the_lines() {
        for (n, digits) in [(9, 0), (9, 1), (9, 2), (9, 3), (11, 1), (11, 3), (14, 1), (14, 2)] {
            let chunks = Chunks::new(Layout::new(n).unwrap(), digits).unwrap();
            assert_eq!(chunks.count as u64 * chunks.lines(), crate::perm::lehmer::even_count(n));
            assert!(chunks.frames() * chunks.frame_blocks >= chunks.blocks);
            assert!((chunks.frames() - 1) * chunks.frame_blocks < chunks.blocks);
        }
        let chunks = Chunks::new(Layout::new(14).unwrap(), 1).unwrap();
        assert_eq!((chunks.count, chunks.frame_registers() * LANES), (14, 181_440));
        assert_eq!(Chunks::new(Layout::new(9).unwrap(), 4), None);
        let large = Layout::new(15).unwrap();
        let cuts = (0..large.prefix()).filter_map(|k| Chunks::new(large, k));
        assert_eq!(cuts.map(|cut| cut.count).max(), Some(360_360));
    }
}
