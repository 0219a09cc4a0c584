//! Converts a window permutation into gather tables: where each byte of a block comes from, and which of its registers
//! receive anything.
//!
//! Searches and builds make a [`MoveTable`] for each window, once; the kernels read it for every block. [`Reach`]
//! answers from the same table which groups of registers can receive states, so that sparse levels skip the others.
//!
//! Invariant: tables are computed by applying the window to every arrangement of the elements inside a block, not by
//! formula, so they are right for any window permutation, including odd ones (which take lines of one parity to lines
//! of the other); the resulting [`MoveShape`] only determines which loop of the kernel uses them.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use crate::{
    perm::{
        MAX_LEN, SourceBlocks,
        layout::{GROUP, LANES, Layout, PAD_LANE, TAIL, lane, lane_digits},
        lehmer,
    },
    puzzle::Window,
    threads::each_number,
};

// Key fact. Permuting the positions a..=e of a line changes only the Lehmer digits a..=e: earlier digits still have the
// same set of elements to their right, and later digits have the same suffix. So the work can be split at the block
// boundary. What happens inside the block depends only on how the elements that enter it compare with its own (its
// variant), and what happens before it depends only on which of its own elements leave it. A source register is
// therefore a pair (source block, register within a block); `SourceBlocks` determines these blocks once per block.

/// A source register: the number of its block among the window's source blocks, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceRegister {
    /// The index of the source block, see `SourceBlocks::find`.
    pub block: u16,
    /// Register within the block.
    pub register: u16,
}

impl SourceRegister {
    /// Returns the source that is `i` registers further on.
    pub fn plus(self, i: usize) -> SourceRegister {
        let register = self.register + i as u16;
        SourceRegister { register, ..self }
    }
}

/// For each lane, the lane from which it is taken, or [`PAD_LANE`] for none.
pub type LaneRow = [u8; 64];

/// For each lane, the byte in six concatenated registers from which it is taken (64 * register + lane).
pub type CrossRow = [u16; LANES];

/// A row for each parity of the sum of the target's last five digits.
pub type ByParity<T> = [T; 2];

/// Six sources of a group, in the order in which [`CrossRow`] counts them.
pub type Six = [SourceRegister; GROUP];

/// How the registers of a block are obtained from source registers, where `L` and `C` are the types of rows of lanes.
///
/// Tables of groups are indexed by `variant * groups + group`.
#[derive(Clone, Debug, PartialEq)]
pub enum MoveShape<L = LaneRow, C = CrossRow> {
    /// Every register from itself (the identity).
    Own,
    /// Every register from itself, with its lanes permuted.
    Lanes(Box<ByParity<L>>),
    /// Every register from the same place in the only source block.
    Block,
    /// Every register from the same place in a block that is passed in with the target block, with data from other
    /// chunks. The number is its index.
    Halo(usize),
    /// The six registers of a group from six consecutive ones, with lanes unchanged.
    Runs(Vec<SourceRegister>),
    /// The six registers of a group from any six registers, with lanes unchanged.
    Copies(Vec<Six>),
    /// All registers of a group from the same six sources.
    Shared(Crossing<C>),
    /// Each register of a group from the six registers of some group: the sources are the first of these six.
    Strided(Crossing<C>),
    /// Anything else: a list of pieces per register.
    Scattered(Scattered<L>),
}

/// The tables of a window that one element crosses between prefix and lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing<C> {
    /// The data of each group, in one cache line.
    pub groups: Vec<CrossingGroup>,
    /// The distinct rows.
    pub rows: Vec<ByParity<C>>,
}

/// The sources of one group, and the row of each of its registers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossingGroup {
    /// Six sources, or the first source for each register.
    pub sources: Six,
    /// The row of each register.
    pub rows: [u8; GROUP],
}

/// For each register, the pieces of which it consists.
#[derive(Clone, Debug, PartialEq)]
pub struct Scattered<L> {
    /// End of each register's list in `pieces`, indexed by `variant * registers + register`.
    pub ends: Vec<u32>,
    /// Source and row of each piece.
    pub pieces: Vec<(SourceRegister, u16)>,
    pub rows: Vec<ByParity<L>>,
}

impl<L> Scattered<L> {
    /// Returns the pieces of a register.
    #[inline(always)]
    pub fn of(&self, index: usize) -> &[(SourceRegister, u16)] {
        let begin = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.pieces[begin as usize..self.ends[index] as usize]
    }
}

impl MoveShape {
    /// Returns the same tables with rows in another format.
    pub fn translate<L, C>(
        &self,
        lane_row: impl Fn(&LaneRow) -> L,
        cross_row: impl Fn(&CrossRow) -> C,
    ) -> MoveShape<L, C> {
        let crossing = |crossing: &Crossing<CrossRow>| Crossing {
            groups: crossing.groups.clone(),
            rows: crossing.rows.iter().map(|rows| rows.each_ref().map(&cross_row)).collect(),
        };
        match self {
            MoveShape::Own => MoveShape::Own,
            MoveShape::Lanes(rows) => MoveShape::Lanes(Box::new(rows.each_ref().map(lane_row))),
            MoveShape::Block => MoveShape::Block,
            MoveShape::Halo(index) => MoveShape::Halo(*index),
            MoveShape::Runs(runs) => MoveShape::Runs(runs.clone()),
            MoveShape::Copies(sixes) => MoveShape::Copies(sixes.clone()),
            MoveShape::Shared(tables) => MoveShape::Shared(crossing(tables)),
            MoveShape::Strided(tables) => MoveShape::Strided(crossing(tables)),
            MoveShape::Scattered(tables) => MoveShape::Scattered(Scattered {
                ends: tables.ends.clone(),
                pieces: tables.pieces.clone(),
                rows: tables.rows.iter().map(|rows| rows.each_ref().map(&lane_row)).collect(),
            }),
        }
    }
}

/// The gather tables of one window permutation.
#[derive(Clone, Debug)]
pub struct MoveTable {
    /// The blocks in which the sources are.
    pub source_blocks: SourceBlocks,
    /// What happens inside a block.
    pub shape: MoveShape,
    /// Whether the window is odd, so that the sources of even lines are odd lines, and vice versa.
    pub odd: bool,
}

impl MoveTable {
    /// Returns the tables of a transfer that takes its bits from the `index`-th block that is passed in with the target
    /// block.
    pub fn halo(layout: Layout, index: usize) -> MoveTable {
        MoveTable {
            source_blocks: SourceBlocks::none(layout),
            shape: MoveShape::Halo(index),
            odd: false,
        }
    }

    /// Returns the registers of which a register consists, identified by `variant * registers + register`. A register
    /// that is a copy, possibly with permuted lanes, or that is passed in, has one source.
    pub(crate) fn sources(&self, layout: Layout, index: usize) -> Vec<SourceRegister> {
        let (row, r) = (index / GROUP, index % GROUP);
        match &self.shape {
            MoveShape::Own | MoveShape::Lanes(_) | MoveShape::Block | MoveShape::Halo(_) => {
                let register = (index % layout.block_registers()) as u16;
                vec![SourceRegister { block: 0, register }]
            }
            MoveShape::Runs(runs) => vec![runs[row].plus(r)],
            MoveShape::Copies(sixes) => vec![sixes[row][r]],
            MoveShape::Shared(tables) => tables.groups[row].sources.to_vec(),
            MoveShape::Strided(tables) => {
                (0..GROUP).map(|i| tables.groups[row].sources[r].plus(i)).collect()
            }
            MoveShape::Scattered(tables) => {
                tables.of(index).iter().map(|&(source, _)| source).collect()
            }
        }
    }

    /// Returns whether each source register serves targets with several first digits: the first element enters the
    /// lanes, and these targets differ only in its earlier digit.
    pub fn spreads_first(&self) -> bool {
        matches!(self.shape, MoveShape::Strided(_)) && self.source_blocks.entering().contains(&0)
    }

    /// Returns the tables that compute, for every line, the byte of the line that the window takes to it:
    /// `next[w(line)] = cur[line]`.
    ///
    /// Cost: if lanes change, one ranking per lane, register of a block, parity and variant (a few milliseconds);
    /// otherwise one per register.
    ///
    /// # Panics
    /// If the window reaches beyond the line.
    pub fn new(layout: Layout, window: &Window) -> MoveTable {
        assert!(window.last() < layout.len(), "windows lie within the line");
        let pull = window.inverse();
        let source_blocks = SourceBlocks::new(layout, &pull);
        let shape = if window.is_identity() {
            MoveShape::Own
        } else if window.last() < layout.block_prefix() {
            MoveShape::Block
        } else if window.first() >= layout.prefix() {
            MoveShape::Lanes(Box::new([0, 1].map(|parity| lane_row(layout, &pull, parity))))
        } else {
            let inside = Inside { layout, pull: &pull, source_blocks: &source_blocks };
            if window.last() < layout.prefix() { inside.copies() } else { inside.crossing() }
        };
        MoveTable { source_blocks, shape, odd: !window.is_even() }
    }
}

/// The row of a window that acts only on the last five positions.
fn lane_row(layout: Layout, pull: &Window, parity: usize) -> LaneRow {
    let q = layout.prefix();
    let mut row = [PAD_LANE; 64];
    for (target, source) in row[..LANES].iter_mut().enumerate() {
        let (mut digits, mut line) = ([0; TAIL], [0; TAIL]);
        lane_digits(target, parity, &mut digits);
        lehmer::from_digits(&digits, &mut line);
        let moved: [u8; TAIL] = std::array::from_fn(|x| line[pull.source(q + x) - q]);
        lehmer::digits(&moved, &mut digits);
        *source = lane(&digits);
    }
    row
}

/// The part of a window inside a block.
struct Inside<'a> {
    layout: Layout,
    pull: &'a Window,
    source_blocks: &'a SourceBlocks,
}

/// The source of a lane.
type Byte = (SourceRegister, u8);

/// The sources of the lanes of one register.
type LaneSources = ByParity<[Byte; LANES]>;

impl Inside<'_> {
    /// All variants and first registers of groups, in table order.
    fn all_groups(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let registers = self.layout.block_registers();
        let firsts = move |variant| (0..registers).step_by(GROUP).map(move |r| (variant, r));
        (0..self.source_blocks.variants()).flat_map(firsts)
    }

    /// Applies the window to one line of a block: returns the source of (variant, register, lane).
    fn byte(&self, variant: usize, register: usize, lane_index: usize, parity: usize) -> Byte {
        let (c, q, n) = (self.layout.block_prefix(), self.layout.prefix(), self.layout.len());
        let entering = self.source_blocks.entering();
        let k = entering.len();
        // The elements involved: the k that enter, then the block's own; only their order matters.
        let (mut digits, mut line) = ([0; MAX_LEN], [0; MAX_LEN]);
        self.source_blocks.entering_digits(variant, &mut digits);
        self.layout.inner_digits(register, &mut digits[k..]);
        lane_digits(lane_index, parity, &mut digits[k + q - c..]);
        let len = k + n - c;
        lehmer::from_digits(&digits[..len], &mut line[..len]);

        let mut source = [0; MAX_LEN];
        for (x, element) in (c..n).zip(&mut source) {
            let from = self.pull.source(x);
            *element = match entering.iter().position(|&y| y == from) {
                Some(i) => line[i],
                None => line[k + from - c],
            };
        }
        let own = crate::perm::set_of(&source[..n - c]);
        lehmer::digits_within(&source[..n - c], own, &mut digits);
        let inner = self.layout.inner_register(&digits[..q - c]);
        let source = SourceRegister {
            block: self.source_blocks.number(&line[k..len]) as u16,
            register: inner as u16,
        };
        (source, lane(&digits[q - c..]))
    }

    /// The shape of a window that ends before the lanes.
    fn copies(&self) -> MoveShape {
        let six = |(variant, first)| std::array::from_fn(|r| self.byte(variant, first + r, 0, 0).0);
        let sixes: Vec<Six> = self.all_groups().map(six).collect();
        let is_run = |six: &Six| (0..GROUP).all(|i| six[i] == six[0].plus(i));
        if sixes.iter().all(is_run) {
            MoveShape::Runs(sixes.iter().map(|six| six[0]).collect())
        } else {
            MoveShape::Copies(sixes)
        }
    }

    /// The shape of a window that moves elements between the prefix and the lanes.
    fn crossing(&self) -> MoveShape {
        let lanes = |variant, register| {
            [0, 1].map(|p| std::array::from_fn(|lane| self.byte(variant, register, lane, p)))
        };
        let groups: Vec<[LaneSources; GROUP]> = self
            .all_groups()
            .map(|(variant, first)| std::array::from_fn(|r| lanes(variant, first + r)))
            .collect();
        shared(&groups)
            .map(MoveShape::Shared)
            .or_else(|| strided(&groups).map(MoveShape::Strided))
            .unwrap_or_else(|| MoveShape::Scattered(scattered(&groups)))
    }
}

/// The distinct sources, in order.
fn union<'a>(bytes: impl Iterator<Item = &'a Byte>) -> Vec<SourceRegister> {
    let mut sources: Vec<SourceRegister> = bytes.map(|byte| byte.0).collect();
    sources.sort_unstable();
    sources.dedup();
    sources
}

/// The tables if all registers of each group have the same six sources.
fn shared(groups: &[[LaneSources; GROUP]]) -> Option<Crossing<CrossRow>> {
    // If there are fewer than six, the first is repeated.
    let six = |group: &[LaneSources; GROUP]| {
        let sources = union(group.iter().flatten().flatten());
        let fill = |i: usize| sources.get(i).copied().unwrap_or(sources[0]);
        (sources.len() <= GROUP).then(|| std::array::from_fn(fill))
    };
    let sources = groups.iter().map(six).collect::<Option<Vec<Six>>>()?;
    crossing(groups, sources, |six, _| six)
}

/// The tables if each register has the six registers of one group as its sources.
fn strided(groups: &[[LaneSources; GROUP]]) -> Option<Crossing<CrossRow>> {
    let first = |lanes: &LaneSources| {
        let mut firsts = lanes.iter().flatten().map(|(source, _)| SourceRegister {
            register: source.register - source.register % GROUP as u16,
            ..*source
        });
        let first = firsts.next()?;
        firsts.all(|f| f == first).then_some(first)
    };
    let six = |group: &[LaneSources; GROUP]| {
        let mut sources = [SourceRegister { block: 0, register: 0 }; GROUP];
        for (source, lanes) in sources.iter_mut().zip(group) {
            *source = first(lanes)?;
        }
        Some(sources)
    };
    let sources = groups.iter().map(six).collect::<Option<Vec<Six>>>()?;
    crossing(groups, sources, |six, r| std::array::from_fn(|i| six[r].plus(i)))
}

/// The distinct rows, and which of them each register uses; `six(sources, r)` gives the order of the six sources of
/// register r. `None` if there are too many.
fn crossing(
    groups: &[[LaneSources; GROUP]],
    sources: Vec<Six>,
    six: impl Fn(Six, usize) -> Six,
) -> Option<Crossing<CrossRow>> {
    let mut rows = Rows::new();
    let mut table = Vec::with_capacity(groups.len());
    for (&sources, group) in sources.iter().zip(groups) {
        let mut group_rows = [0; GROUP];
        for (r, lanes) in group.iter().enumerate() {
            let six = six(sources, r);
            let from = |&(source, lane): &Byte| {
                let i = six.iter().position(|s| *s == source);
                (i.expect("the source is one of six") * 64) as u16 + u16::from(lane)
            };
            let row = lanes.each_ref().map(|lanes| std::array::from_fn(|l| from(&lanes[l])));
            group_rows[r] = u8::try_from(rows.number(row)).ok()?;
        }
        table.push(CrossingGroup { sources, rows: group_rows });
    }
    Some(Crossing { groups: table, rows: rows.all })
}

fn scattered(groups: &[[LaneSources; GROUP]]) -> Scattered<LaneRow> {
    let (mut ends, mut pieces) = (Vec::new(), Vec::new());
    let mut rows = Rows::new();
    for lanes in groups.iter().flatten() {
        for source in union(lanes.iter().flatten()) {
            let row = lanes.each_ref().map(|lanes| {
                let mut row = [PAD_LANE; 64];
                for (to, &(from, lane)) in row.iter_mut().zip(lanes) {
                    if from == source {
                        *to = lane;
                    }
                }
                row
            });
            let row = u16::try_from(rows.number(row)).expect("rows of small windows are few");
            pieces.push((source, row));
        }
        ends.push(u32::try_from(pieces.len()).expect("pieces of a block are few"));
    }
    Scattered { ends, pieces, rows: rows.all }
}

/// Distinct rows, numbered in the order of their first use.
struct Rows<T> {
    all: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T: Copy + Eq + std::hash::Hash> Rows<T> {
    fn new() -> Rows<T> {
        Rows { all: Vec::new(), numbers: HashMap::new() }
    }

    fn number(&mut self, row: T) -> usize {
        *self.numbers.entry(row).or_insert_with(|| {
            self.all.push(row);
            self.all.len() - 1
        })
    }
}

/// Returns the maximum number of elements that a window moves at once into a block or into the lanes: the size of
/// tables grows with powers of it.
pub fn crossing_table(layout: Layout, window: &Window) -> usize {
    let into = |border: usize| {
        let inside = border..layout.len().min(window.last() + 1).max(border);
        inside.filter(|&y| window.source(y) < border).count()
    };
    into(layout.block_prefix()).max(into(layout.prefix()))
}

/// Gather tables shared by several steps: equal windows have one table.
#[derive(Debug)]
pub struct Gathers {
    pub(crate) layout: Layout,
    known: Mutex<HashMap<Window, Arc<MoveTable>>>,
}

impl Gathers {
    /// Returns an empty collection of tables.
    pub fn new(layout: Layout) -> Gathers {
        Gathers { layout, known: Mutex::default() }
    }

    /// Makes the tables of some windows, using all threads of the current pool.
    pub fn make(&self, windows: &[Window]) {
        each_number(windows.len(), &|window| drop(self.get(&windows[window])));
    }

    /// Returns the tables of a window. Cost: that of [`MoveTable::new`] for the first call.
    pub fn get(&self, window: &Window) -> Arc<MoveTable> {
        let known = || self.known.lock();
        if let Some(gather) = known().get(window) {
            return gather.clone();
        }
        let made = Arc::new(MoveTable::new(self.layout, window));
        known().entry(window.clone()).or_insert(made).clone()
    }
}

// Single bytes of a gather: which byte of which source register becomes a byte of a target register.
//
// Invariant: this uses the same tables as the kernels, one byte at a time; it is for data that does not go through the
// kernels (bits that cross between chunks) and for tests.

/// A byte of a target block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetByte {
    /// The variant of the block.
    pub variant: usize,
    /// The register within the block.
    pub register: usize,
    /// The lane within the register, below 60.
    pub lane: usize,
    /// The parity of the sum of the last five digits; for even lines, also that of the sum of the prefix digits.
    pub parity: usize,
}

impl MoveTable {
    /// Returns whether every register comes from one complete register.
    pub fn keeps_lanes(&self) -> bool {
        matches!(
            self.shape,
            MoveShape::Own
                | MoveShape::Block
                | MoveShape::Halo(_)
                | MoveShape::Runs(_)
                | MoveShape::Copies(_)
        )
    }

    /// Returns the register and the lane from which a byte is taken. Cost: a few table lookups.
    ///
    /// # Panics
    /// If the target does not fit the layout.
    pub fn byte_source(&self, layout: Layout, at: TargetByte) -> (SourceRegister, usize) {
        let index = at.variant * layout.block_registers() + at.register;
        let sources = self.sources(layout, index);
        let (i, lane) = match &self.shape {
            MoveShape::Lanes(rows) => (0, rows[at.parity][at.lane].into()),
            MoveShape::Shared(tables) | MoveShape::Strided(tables) => {
                let row = tables.groups[index / GROUP].rows[index % GROUP];
                let byte = usize::from(tables.rows[usize::from(row)][at.parity][at.lane]);
                (byte / 64, byte % 64)
            }
            MoveShape::Scattered(tables) => {
                let lane = |&(_, row): &(_, u16)| {
                    usize::from(tables.rows[usize::from(row)][at.parity][at.lane])
                };
                let mut lanes = tables.of(index).iter().map(lane).enumerate();
                lanes.find(|&(_, lane)| lane < LANES).expect("every lane has a source")
            }
            _ => (0, at.lane),
        };
        (sources[i], lane)
    }
}

// Which groups of registers of a block can receive states through a window, when it is known which groups of its
// sources contain any.
//
// Invariant: a group that is not returned receives nothing; one that is returned may receive nothing either. So if few
// groups contain states, only a few have to be computed. A set of groups is a word of bits.

/// All groups of a block.
pub const ALL: u64 = u64::MAX;

/// Maximum number of words of a table: windows that several elements cross have thousands of source blocks.
const MOST: usize = 1 << 19;

/// Where a window leads from each group of registers.
pub enum Reach {
    /// To the same group of the same block.
    Own,
    /// To the same group, from the only source block.
    Block,
    /// From a block that is passed in, to the same group. The number is its index.
    Halo(usize),
    /// For each variant, source block and group of it, the groups to which it leads.
    Table {
        /// Number of source blocks.
        blocks: usize,
        /// Indexed by `(variant * blocks + block) * groups + group`.
        targets: Vec<u64>,
        /// Number of groups per block.
        groups: usize,
    },
    /// Unknown: anywhere.
    Anywhere,
}

impl Reach {
    /// Returns where the tables of a window lead. Cost: one pass over them.
    pub fn of(layout: Layout, gather: &MoveTable) -> Reach {
        match gather.shape {
            MoveShape::Own | MoveShape::Lanes(_) => return Reach::Own,
            MoveShape::Block => return Reach::Block,
            MoveShape::Halo(index) => return Reach::Halo(index),
            _ => {}
        }
        let groups = layout.block_registers() / GROUP;
        let blocks = gather.source_blocks.count();
        let variants = gather.source_blocks.variants();
        if groups > 64 || variants * blocks * groups > MOST {
            return Reach::Anywhere;
        }
        let mut targets = vec![0; variants * blocks * groups];
        for index in 0..variants * layout.block_registers() {
            let (variant, group) = (index / GROUP / groups, index / GROUP % groups);
            for source in gather.sources(layout, index) {
                let block = variant * blocks + usize::from(source.block);
                let from = usize::from(source.register) / GROUP;
                targets[block * groups + from] |= 1 << group;
            }
        }
        Reach::Table { blocks, targets, groups }
    }

    /// Returns the groups that some groups of a source block lead to, for a variant.
    pub fn targets(&self, variant: usize, block: usize, mut held: u64) -> u64 {
        let Reach::Table { blocks, targets, groups } = self else {
            return held;
        };
        let first = (variant * blocks + block) * groups;
        let targets = &targets[first..first + groups];
        let mut all = 0;
        while held != 0 {
            let group = held.trailing_zeros() as usize;
            held &= held - 1;
            all |= targets.get(group).copied().unwrap_or(0);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{perm::lehmer, puzzle::Window, random::SplitMix64};

    /// Random lines are moved by a window: the group at which each arrives is returned, and few others are.
    #[test]
    fn every_group_that_a_window_brings_anything_to_is_named() {
        let layout = Layout::new(9).unwrap();
        let mut random = SplitMix64::new(5);
        let windows = [(0, 3), (1, 3), (2, 3), (1, 5), (3, 5), (4, 5), (2, 7), (6, 3)];
        for (first, len) in windows {
            let window = Window::rotate_left(first, first + len - 1);
            let gather = MoveTable::new(layout, &window);
            let reach = Reach::of(layout, &gather);
            let (mut tried, mut named) = (0, 0);
            for _ in 0..2000 {
                let mut line = [0; 9];
                lehmer::unrank_in_parity(0, random.below(lehmer::even_count(9)), &mut line);
                let (from, to) = (line, std::array::from_fn(|p| line[window.source(p)]));
                let to: [u8; 9] = to;
                let (to, from) = (layout.place(&to), layout.place(&from));
                let (group, held) = (to.register / GROUP, 1 << (from.register / GROUP));
                let mut digits = [0; 9];
                layout.block_digits(to.block, &mut digits);
                let mut sources = vec![0; gather.source_blocks.count()];
                let variant = gather.source_blocks.find(to.block, &digits, &mut sources);
                let targets = match reach {
                    Reach::Own => {
                        assert_eq!(to.block, from.block);
                        held
                    }
                    Reach::Anywhere | Reach::Halo(_) => panic!("{first} {len}"),
                    Reach::Block | Reach::Table { .. } => {
                        let block = sources.iter().position(|&source| source == from.block);
                        reach.targets(variant, block.unwrap(), held)
                    }
                };
                assert!(targets >> group & 1 == 1, "{first} {len}: {line:?}");
                tried += 1;
                named += targets.count_ones();
            }
            assert!(named < tried * 20, "{first} {len}: {named} of {tried} times 56");
        }
    }
}
