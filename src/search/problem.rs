//! A search prepared for the streaming engines, and the planes of bits that cross between chunks.
//!
//! A [`SearchProblem`] is built once, then shared: by the sweep in memory, by the sweep on disk, and by forecasts. The
//! sweep on disk asks [`Crossings`] for the planes of a step, and [`PlaneSources`] for the sources of their bits.
//!
//! Invariant: start, layout and groups belong to the same state space. A level is an array of registers: the lines of
//! each of its class's groups, one group after the other.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, OnceLock},
};

use parking_lot::RwLock;

use crate::{
    Error,
    kernel::{BitGather, BitPiece, BitRow, Kernel, Tally, Transfer},
    perm::{GROUP, LANES, Layout, MAX_LEN, MoveShape, MoveTable, TargetByte, layout},
    puzzle::{State, StateSpace, Window},
    search::{Chunks, Groups, SearchError, Seat, is_long},
};

/// The search in the terms of the kernels.
pub(crate) struct SearchProblem {
    pub space: StateSpace,
    pub start: State,
    pub layout: Layout,
    pub groups: Groups,
}

impl SearchProblem {
    pub fn new(space: &StateSpace) -> Result<SearchProblem, Error> {
        space.numbered()?;
        let layout = Layout::new(space.line_len());
        let layout = layout.ok_or_else(|| SearchError::TooSmall(space.to_string()))?;
        let start = space.start()?;
        let groups = Groups::new(space.moves(), start.cell);
        Ok(SearchProblem { groups, start, space: space.clone(), layout })
    }

    /// Returns the problem of a search through chunks; an error if a window moves several elements at once into a block
    /// or into the lanes.
    pub fn chunked(space: &StateSpace) -> Result<SearchProblem, Error> {
        let alone = |error| match error {
            // No other engine searches on disk.
            Error::Search(SearchError::TooSmall(puzzle)) => SearchError::InMemory(puzzle).into(),
            error => error,
        };
        let problem = SearchProblem::new(space).map_err(alone)?;
        let windows = problem.space.moves().windows();
        if windows.iter().any(|window| is_long(problem.layout, window)) {
            return Err(SearchError::InMemory(space.to_string()).into());
        }
        Ok(problem)
    }

    pub fn seat(&self, state: State) -> Seat {
        let parity = self.space.parity(state).0;
        let seat = self.groups.seat(parity, state.cell);
        seat.expect("states that are reached have a group")
    }

    pub fn class(&self, depth: usize) -> usize {
        let first = self.seat(self.start).class;
        (0..depth % 2).fold(first, |class, _| self.groups.next(class))
    }

    /// Returns the side of the step from the states at a depth: the class, or, if there is only one class, whether the
    /// depth is odd.
    pub fn side(&self, depth: usize) -> usize {
        match self.groups.classes.len() {
            1 => depth % 2,
            _ => self.class(depth),
        }
    }

    pub fn registers(&self, class: usize) -> u64 {
        self.groups.classes[class].len() as u64 * self.layout.registers()
    }

    /// Returns the register, within its level, and the lane of a state.
    pub fn place(&self, state: State) -> (u64, usize) {
        let rank = self.space.parity(state).1;
        let group = self.seat(state).group as u64;
        let register = group * self.layout.registers() + rank / LANES as u64;
        (register, (rank % LANES as u64) as usize)
    }

    pub fn first_line(&self, class: usize, group: usize) -> u64 {
        let parity = self.groups.classes[class][group].parity as u64;
        parity * self.layout.registers() * LANES as u64
    }

    /// Returns the count and the checksum of level 0.
    pub fn first(&self) -> Tally {
        let (register, lane) = self.place(self.start);
        let bit = usize::from(self.seat(self.start).bit);
        Tally { states: 1, checksum: layout::state(register, lane, bit) }
    }
}

// Crossing windows: moves that lead from one chunk to another.
//
// A move takes one cell to one cell, so it needs one bit of each source byte: a **plane**, with one word per register.
//
// The steps of a search have two **sides**, which alternate: the classes if there are two, else even and odd depths.
// Invariant: if moves have inverses, plane i of one side is the inverse of plane i of the other, even if there is only
// one class: its moves and their inverses are the same set.

/// One crossing window and one pair of cells, as a step uses them.
#[derive(Clone)]
pub(crate) struct Plane {
    /// Index of the group in its class, and bit of the cell, from which the moves start.
    pub from: (usize, u8),
    pub to: (usize, u8),
    /// The sources of the bits of a target block.
    pub sources: Arc<PlaneSources>,
    /// The targets of the bits of a source block.
    pub targets: Arc<PlaneSources>,
}

impl Plane {
    fn back(&self) -> Plane {
        let (sources, targets) = (self.targets.clone(), self.sources.clone());
        Plane { from: self.to, to: self.from, sources, targets }
    }
}

/// The crossing planes, for the steps of either side.
pub(crate) struct Crossings {
    /// The planes of a step from each side, in the order in which they are numbered.
    pub sides: [Vec<Plane>; 2],
    /// Whether the words of a step may be stored where those of the next step are: the moves of one side are the
    /// inverses of those of the other, and words move as a whole.
    pub in_place: bool,
    pub chunks: Chunks,
    pub kernel: Kernel,
}

impl Crossings {
    /// Returns the number of planes of a step, computed without their tables: the larger number of both sides.
    pub fn count(groups: &Groups, chunks: Chunks) -> usize {
        let count = |class: usize| -> usize {
            crossing(groups, class, chunks).map(|(_, _, transfer)| transfer.bits.len()).sum()
        };
        (0..groups.classes.len()).map(count).max().unwrap_or(0)
    }

    /// Returns the number of sets of planes that a search keeps in memory, computed without their tables: windows that
    /// reach the lanes do not move whole words.
    pub fn sets(groups: &Groups, chunks: Chunks) -> usize {
        let mut all = (0..groups.classes.len()).flat_map(|class| crossing(groups, class, chunks));
        let lanes = chunks.layout.prefix();
        1 + usize::from(groups.directed || all.any(|(_, _, t)| t.window.last() >= lanes))
    }

    pub fn new(groups: &Groups, chunks: Chunks, kernel: Kernel) -> Crossings {
        let side = |class: usize| -> Vec<Plane> {
            let parity = |class: usize, group: usize| groups.classes[class][group].parity;
            let planes = crossing(groups, class, chunks).flat_map(|(from, to, transfer)| {
                let located = |window: &Window, parity| {
                    Arc::new(PlaneSources::new(kernel, chunks.layout, window, parity))
                };
                let sources = located(&transfer.window, parity(groups.next(class), to));
                let targets = located(&transfer.window.inverse(), parity(class, from));
                transfer.bits.iter().map(move |&(a, b)| Plane {
                    from: (from, a),
                    to: (to, b),
                    sources: sources.clone(),
                    targets: targets.clone(),
                })
            });
            planes.collect()
        };
        let first = side(0);
        let second = match (groups.directed, groups.classes.len()) {
            (false, _) => first.iter().map(Plane::back).collect(),
            (true, 1) => first.clone(),
            (true, _) => side(1),
        };
        let whole = |plane: &Plane| plane.sources.is_whole() && plane.targets.is_whole();
        let in_place = !groups.directed && first.iter().all(whole);
        Crossings { sides: [first, second], in_place, chunks, kernel }
    }

    /// Returns the number of planes of a step, the larger number of both sides.
    pub fn most(&self) -> usize {
        self.sides.iter().map(Vec::len).max().unwrap_or(0)
    }
}

/// The moves from a class that cross, with the indices of the groups that they start from and lead to.
fn crossing(
    groups: &Groups,
    class: usize,
    chunks: Chunks,
) -> impl Iterator<Item = (usize, usize, &Transfer)> {
    let incoming = groups.incoming[groups.next(class)].iter().enumerate();
    let all = incoming.flat_map(|(to, moves)| moves.iter().map(move |a| (a.from, to, &a.transfer)));
    all.filter(move |(_, _, transfer)| crosses(transfer, chunks))
}

pub(crate) fn crosses(transfer: &Transfer, chunks: Chunks) -> bool {
    !transfer.window.is_identity() && transfer.window.first() < chunks.digits
}

// The sources of the bits of a plane.
//
// Invariant: this uses the same tables as the kernels use for bytes.

pub(crate) const ALL_LANES: u64 = (1 << LANES) - 1;

/// Maximum number of portions that are remembered: boards have about a hundred, of a few KB each; a window with
/// thousands of source blocks might have one for every block and chunk.
const MOST_PORTIONS: usize = 4096;

/// The units in which the words of a target block are found in those of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Granularity {
    /// As a whole, in one source block.
    Blocks,
    Words,
    Bits,
}

pub(crate) struct PlaneSources {
    kernel: Kernel,
    layout: Layout,
    gather: MoveTable,
    pub granularity: Granularity,
    /// Computed when first used.
    pieces: OnceLock<WordPieces>,
    parity: usize,
    /// Cached results of [`PlaneSources::portion`], by [`BlockSources::portion_of`].
    portions: RwLock<HashMap<Vec<u64>, Arc<Portion>>>,
}

/// The contribution of some source blocks to a target block.
#[derive(Default)]
pub(crate) struct Portion {
    /// The words that receive any lanes, by their indices in the block, and these lanes.
    pub words: Vec<u16>,
    pub lanes: Vec<u64>,
    /// For each of these words, where its pieces begin, followed by the end of the last.
    starts: Vec<u32>,
    pieces: Vec<BitPiece>,
}

/// The pieces of words: one piece each if words move as a whole.
struct WordPieces {
    rows: Vec<BitRow>,
    /// For each variant, parity and register, where its pieces begin, followed by the end of the last.
    starts: Vec<u32>,
    pieces: Vec<BitPiece>,
}

#[derive(Default)]
pub(crate) struct BlockSources {
    /// The source block for each number.
    pub blocks: Vec<usize>,
    variant: usize,
    parity: usize,
}

impl BlockSources {
    /// Writes the key of the portion that comes from a range of blocks.
    fn portion_of(&self, from: &Range<usize>, key: &mut Vec<u64>) {
        key.clear();
        key.push((2 * self.variant + self.parity) as u64);
        for blocks in self.blocks.chunks(64) {
            let bits = (0..).zip(blocks).map(|(i, block)| u64::from(from.contains(block)) << i);
            key.push(bits.sum());
        }
    }
}

fn forget_many(portions: &mut HashMap<Vec<u64>, Arc<Portion>>) {
    if portions.len() >= MOST_PORTIONS {
        portions.clear();
    }
}

/// Computes the portions of target blocks that come from a range of source blocks.
pub(crate) struct Portions<'a> {
    sources: &'a PlaneSources,
    from: Range<usize>,
    located: BlockSources,
    key: Vec<u64>,
    known: HashMap<Vec<u64>, Arc<Portion>>,
}

impl<'a> Portions<'a> {
    pub fn new(sources: &'a PlaneSources, from: Range<usize>) -> Portions<'a> {
        let (located, key, known) = Default::default();
        Portions { sources, from, located, key, known }
    }

    pub fn of(&mut self, block: usize) -> Arc<Portion> {
        let Portions { sources, from, located, key, known } = self;
        sources.locate(block, located);
        located.portion_of(from, key);
        if let Some(portion) = known.get(&key[..]) {
            return portion.clone();
        }
        let portion = sources.portion(located, from, key);
        forget_many(known);
        known.insert(key.clone(), portion.clone());
        portion
    }

    /// Writes the words of the last located block that receive any lanes, and only these lanes; `load` reads source
    /// words, numbered over the whole array, within the range.
    pub fn take(&self, portion: &Portion, load: impl Fn(usize) -> u64, words: &mut [u64]) {
        let pieces = (&portion.starts[..], &portion.pieces[..]);
        self.sources.gather(&self.located, pieces, load, words);
    }
}

impl PlaneSources {
    /// Returns the sources for a window, for target lines with a given parity.
    pub fn new(kernel: Kernel, layout: Layout, window: &Window, parity: usize) -> PlaneSources {
        let gather = MoveTable::new(layout, window);
        let granularity = match gather.shape {
            MoveShape::Block => Granularity::Blocks,
            _ if gather.keeps_lanes() => Granularity::Words,
            _ => Granularity::Bits,
        };
        let (pieces, portions) = (OnceLock::new(), RwLock::default());
        PlaneSources { kernel, layout, gather, granularity, pieces, parity, portions }
    }

    /// Whether words move as a whole.
    pub fn is_whole(&self) -> bool {
        self.granularity != Granularity::Bits
    }

    /// Determines the source blocks of a target block.
    pub fn locate(&self, block: usize, sources: &mut BlockSources) {
        let layout = self.layout;
        let mut digits = [0; MAX_LEN];
        layout.block_digits(block, &mut digits);
        let digits = &digits[..layout.block_prefix()];
        let source_blocks = &self.gather.source_blocks;
        let sum = digits.iter().map(|&d| usize::from(d)).sum::<usize>();
        sources.parity = (sum + self.parity) % 2;
        sources.blocks.resize(source_blocks.count(), 0);
        sources.variant = source_blocks.find(block, digits, &mut sources.blocks);
    }

    /// Returns the source of each word of a target block, numbered over the whole array, if words move as a whole.
    pub fn words(&self, sources: &BlockSources) -> impl Iterator<Item = usize> {
        let size = self.layout.block_registers();
        let first = self.starts(sources)[0] as usize;
        let pieces = &self.pieces().pieces[first..][..size];
        pieces.iter().map(move |&piece| self.place(sources, piece))
    }

    /// Writes the words of a target block; `load` reads source words, numbered over the whole array.
    pub fn take(&self, sources: &BlockSources, load: impl Fn(usize) -> u64, words: &mut [u64]) {
        self.gather(sources, (self.starts(sources), &self.pieces().pieces), load, words);
    }

    /// The source word of a piece, numbered over the whole array.
    fn place(&self, sources: &BlockSources, piece: BitPiece) -> usize {
        let size = self.layout.block_registers();
        sources.blocks[usize::from(piece.block)] * size + usize::from(piece.word)
    }

    /// Gathers words from their pieces, given with where those of each word begin.
    fn gather(
        &self,
        sources: &BlockSources,
        (starts, pieces): (&[u32], &[BitPiece]),
        load: impl Fn(usize) -> u64,
        words: &mut [u64],
    ) {
        let load = |piece| load(self.place(sources, piece));
        if self.is_whole() {
            for (word, &piece) in words.iter_mut().zip(&pieces[starts[0] as usize..]) {
                *word = load(piece);
            }
        } else {
            let rows = &self.pieces().rows;
            BitGather { rows, starts, pieces }.run(self.kernel, load, words);
        }
    }

    /// Returns the contribution of a range of source blocks to a target block, identified by its key.
    fn portion(&self, sources: &BlockSources, from: &Range<usize>, key: &[u64]) -> Arc<Portion> {
        if let Some(portion) = self.portions.read().get(key) {
            return portion.clone();
        }
        let mut portion = Portion { starts: vec![0], ..Portion::default() };
        for word in 0..self.layout.block_registers() {
            let mut lanes = 0;
            for (piece, its) in self.pieces_of(sources, word) {
                if from.contains(&sources.blocks[usize::from(piece.block)]) {
                    lanes |= its;
                    portion.pieces.push(piece);
                }
            }
            if lanes != 0 {
                portion.words.push(word as u16);
                portion.lanes.push(lanes);
                portion.starts.push(portion.pieces.len() as u32);
            }
        }
        let mut known = self.portions.write();
        forget_many(&mut known);
        known.entry(key.to_vec()).or_insert(Arc::new(portion)).clone()
    }

    fn pieces_of(&self, sources: &BlockSources, word: usize) -> Vec<(BitPiece, u64)> {
        let WordPieces { rows, pieces, .. } = self.pieces();
        let starts = &self.starts(sources)[word..];
        let pieces = &pieces[starts[0] as usize..starts[1] as usize];
        let lanes = |piece: &BitPiece| rows[usize::from(piece.row)].lanes;
        pieces.iter().map(|piece| (*piece, lanes(piece))).collect()
    }

    fn starts(&self, sources: &BlockSources) -> &[u32] {
        let size = self.layout.block_registers();
        let first = (sources.variant * 2 + sources.parity) * size;
        &self.pieces().starts[first..=first + size]
    }

    fn pieces(&self) -> &WordPieces {
        self.pieces.get_or_init(|| self.cut())
    }

    /// Determines the pieces of every word.
    fn cut(&self) -> WordPieces {
        let layout = self.layout;
        let parities = layout.group_parities();
        let mut known = HashMap::new();
        let mut made = WordPieces { rows: Vec::new(), starts: vec![0], pieces: Vec::new() };
        for (variant, parity) in
            (0..self.gather.source_blocks.variants()).flat_map(|v| [(v, 0), (v, 1)])
        {
            for register in 0..layout.block_registers() {
                let inner = usize::from(parities[register / GROUP]) ^ (register % GROUP % 2);
                let mut words: Vec<((u16, u16), BitRow)> = Vec::new();
                for lane in 0..if self.is_whole() { 1 } else { LANES } {
                    let at = TargetByte { variant, register, lane, parity: parity ^ inner };
                    let (source, bit) = self.gather.byte_source(layout, at);
                    let word = (source.block, source.register);
                    let at = words.iter().position(|(known, _)| *known == word);
                    let at = at.unwrap_or_else(|| {
                        let row = BitRow { from: [0; 64], lanes: 0 };
                        words.push((word, row));
                        words.len() - 1
                    });
                    let row = &mut words[at].1;
                    row.from[lane] = bit as u8;
                    row.lanes |= 1 << lane;
                }
                if let ([(_, row)], true) = (&mut words[..], self.is_whole()) {
                    row.lanes = ALL_LANES;
                }
                for ((block, word), row) in words {
                    let number = *known.entry((row.from, row.lanes)).or_insert_with(|| {
                        made.rows.push(row);
                        made.rows.len() as u16 - 1
                    });
                    made.pieces.push(BitPiece { block, word, row: number });
                }
                made.starts.push(made.pieces.len() as u32);
            }
        }
        made
    }
}
