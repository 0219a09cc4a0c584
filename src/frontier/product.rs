//! States that are a product: where the pieces of some positions are and how they are turned, independently of each other.
//!
//! A state is a **head**, a **row** and a **bit**. Each is a number with a digit for some **factors**: which kinds of pieces
//! are at the positions of an orbit, or how the pieces there are turned. A move takes heads to heads, rows to rows and bits
//! to bits, whatever the others are, and so does a symmetry. So all states with a head from one class under the symmetries
//! are a block, which a move takes to another block by exchanging rows and permuting bits within them:
//!
//! ```text
//! head (class, symmetry)    block of a class:  row 0   bit 0 1 2 3 ..  b-1
//!                                              row 1   bit 0 1 2 3 ..  b-1
//!                                              ..
//! ```
//!
//! Arrangements of many different pieces are two factors: cosets of a group of exchanges, and the exchanges
//! ([`PieceGroup`]). A move takes an exchange to one that depends on the coset as well. So cosets belong to the head, and
//! the exchanges are the bits.
//!
//! How a piece is turned is counted from an orientation that depends on its kind, chosen so that as many symmetries as
//! possible turn pieces by the same amount whatever their kinds.
//!
//! Invariant: the heads, rows and bits of reachable states are all their combinations.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
    mem,
    sync::Arc,
};

use num_bigint::BigUint;

use crate::{
    frontier::{fields::StateFields, piece_groups::PieceGroup, symmetry::SymmetryGroup},
    kernel::networks::BitNetwork,
    perm::lehmer,
    puzzle::{
        Arrangement, Permutation, Placed, Puzzle, Transformation, group::all_orbits, group_order,
        symmetry::Relabelling,
    },
    random::SplitMix64,
    threads::map_numbers,
};

/// Maximum number of values of a factor, of heads and of rows.
const MOST_VALUES: usize = 1 << 22;
/// Maximum number of choices of the orientations from which pieces of a set are counted that are tried.
const MOST_ZEROS: usize = 1 << 12;
/// What a block costs besides its bits, in bytes.
const BLOCK_BYTES: usize = 16 << 10;
/// Of how many blocks one is in memory while classes are arranged.
const NEAR: usize = 5;
/// Minimum number of heads for each symmetry: with fewer, many heads have symmetries of their own.
const HEADS: usize = 1000;
/// Maximum size in bytes of a block.
const MOST_BYTES: usize = 64 << 20;
/// Maximum number of symmetries that are used.
const MOST_SYMMETRIES: usize = 1024;
/// Maximum number of factors of which all divisions are tried.
const MOST_FACTORS: usize = 10;

/// What a factor says of the kinds at its positions.
#[derive(Clone, Debug)]
enum Kinds {
    None,
    All,
    /// Up to the exchanges of a group.
    Coset(Arc<PieceGroup>),
    /// By which exchange they differ from the representative of their coset.
    Exchange(Arc<PieceGroup>),
}

/// The kinds at the positions of an orbit, or the orientations there, or both.
#[derive(Clone, Debug)]
struct Factor {
    set: usize,
    positions: Vec<u8>,
    kinds: Kinds,
    turns: bool,
    /// The number of values, which are found when they are needed.
    count: usize,
    values: Vec<Box<[u8]>>,
    number: HashMap<Box<[u8]>, u32>,
}

/// The factors of a puzzle's states.
#[derive(Clone, Debug)]
struct Factors {
    puzzle: Puzzle,
    all: Vec<Arc<Factor>>,
    /// For each set, the orientation from which pieces of each kind are counted.
    zeros: Vec<Vec<u8>>,
}

/// A number with a digit for each of some factors, the first of which counts in ones.
#[derive(Clone, Debug)]
struct Digits {
    factors: Vec<usize>,
    count: usize,
}

/// Heads, rows and bits, and the symmetries that respect them.
type Division = ([Digits; 3], Vec<Relabelling>);
/// Whether heads are few, what blocks up to symmetry cost in bytes, and how large they are.
type DivisionOrder = (bool, usize, usize);
/// Factors and how they are divided.
type DividedFactors = (DivisionOrder, Factors, Division);

/// A class of heads under the symmetries.
#[derive(Clone, Debug)]
pub(crate) struct HeadClass {
    /// The head that represents it, and the symmetries that preserve that head.
    pub head: u32,
    pub keeping: Vec<u16>,
    /// The number of its heads.
    pub members: u64,
}

/// A block from which a move comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockSource {
    pub class: u32,
    index: u16,
    /// The symmetry through which the move sees it.
    symmetry: u16,
    /// The bit from which the first bit comes.
    first: u16,
}

/// The states of a puzzle as a product.
#[derive(Clone, Debug)]
pub(crate) struct ProductSpace {
    factors: Factors,
    symmetries: Vec<Relabelling>,
    /// The number of all symmetries, if it is known.
    pub all_symmetries: Option<BigUint>,
    head: Digits,
    row: Digits,
    bit: Digits,
    pub classes: Vec<HeadClass>,
    /// For each head its class, and a symmetry that takes the head to the one that represents it.
    class_of: Vec<(u32, u16)>,
    /// Where the moves, undone, and the symmetries take rows.
    rows: [Vec<Vec<u32>>; 2],
    undone: Vec<Transformation>,
    /// For each class, those of all moves.
    sources: Vec<BlockSource>,
}

impl ProductSpace {
    /// The number of states beyond which no division has heads, rows and bits that are few enough.
    pub const MOST_STATES: u64 =
        (MOST_VALUES * MOST_VALUES) as u64 * 64 * BitNetwork::MOST_WORDS as u64;

    /// Returns the states of a puzzle as a product, with symmetries or without; `None` if they are none, or if rows of bits
    /// would waste more than half of the memory. Cost: some seconds for millions of heads or rows.
    pub fn of(puzzle: &Puzzle, symmetric: bool) -> Option<ProductSpace> {
        let (all_symmetries, choices) = ProductSpace::choices(puzzle, symmetric)?;
        let (_, factors, division) = choices.into_iter().min_by_key(|(order, ..)| *order)?;
        ProductSpace::divided(factors, division, all_symmetries)
    }

    /// The number of all symmetries, and all ways to divide the states of a puzzle.
    fn choices(puzzle: &Puzzle, symmetric: bool) -> Option<(Option<BigUint>, Vec<DividedFactors>)> {
        if !puzzle.allows_all_moves() || puzzle.states()? > ProductSpace::MOST_STATES.into() {
            return None;
        }
        let found = symmetric.then(|| {
            let fields = StateFields::of(puzzle);
            SymmetryGroup::listed(puzzle, &fields, (MOST_SYMMETRIES, false))
        });
        let (all_symmetries, relabellings) = match found {
            Some((group, all)) => (group.whole, all),
            None => (None, vec![Relabelling::identity(puzzle)]),
        };
        let sets = 0..puzzle.sets().len();
        let zeros: Vec<Vec<u8>> = sets.map(|set| zeros(puzzle, set, &relabellings)).collect();
        let factors = Factors { puzzle: puzzle.clone(), all: factors(puzzle, &zeros)?, zeros };
        let counts = factors.all.iter().map(|of| of.count as u64);
        let states = counts.into_iter().try_fold(1, u64::checked_mul)?;
        if puzzle.states()? != states.into() {
            return None;
        }
        let mut choices = Vec::new();
        let exchanged = factors.with_exchanges(&relabellings);
        for factors in [factors].into_iter().chain(exchanged) {
            let divisions = factors.divisions(states, &relabellings);
            choices.extend(divisions.into_iter().map(|(order, own)| (order, factors.clone(), own)));
        }
        Some((all_symmetries, choices))
    }

    fn divided(
        mut factors: Factors,
        ([head, row, bit], symmetries): Division,
        all_symmetries: Option<BigUint>,
    ) -> Option<ProductSpace> {
        factors.find()?;
        let puzzle = &factors.puzzle.clone();
        if !puzzle.goals().iter().all(|goal| factors.has(goal)) {
            return None;
        }
        let (classes, class_of) = factors.classes([&head, &row, &bit], &symmetries);
        let undone = puzzle.moves().iter().map(|one| one.transformation.inverse(puzzle.sets()));
        let undone: Vec<_> = undone.collect();
        let undo = |state: &Arrangement, index: usize| puzzle.after(state, &undone[index]);
        let image =
            |state: &Arrangement, index: usize| symmetries[index].arrangement(puzzle, state);
        let rows = [
            factors.images(&row, undone.len(), &undo),
            factors.images(&row, symmetries.len(), &image),
        ];
        let mut space = ProductSpace {
            factors,
            symmetries,
            all_symmetries,
            head,
            row,
            bit,
            classes,
            class_of,
            rows,
            undone,
            sources: Vec::new(),
        };
        let all = space.classes.len() * space.moves();
        space.sources = map_numbers(all, &|number| space.source(number));
        space.arrange();
        Some(space)
    }

    /// Arranges classes so that those that follow each other have common sources: blocks that were read are used again soon.
    fn arrange(&mut self) {
        let count = self.classes.len();
        let needs = |class: usize| -> BTreeSet<usize> {
            let sources = self.sources(class).iter().map(|source| source.class as usize);
            sources.chain([class]).collect()
        };
        let needs: Vec<BTreeSet<usize>> = (0..count).map(needs).collect();
        let mut users = vec![Vec::new(); count];
        for (class, needs) in needs.iter().enumerate() {
            needs.iter().for_each(|&source| users[source].push(class));
        }
        // How many blocks are here that a class needs, and when each of those was used.
        let (mut here, mut used, mut by_time) = (vec![0; count], vec![0; count], BTreeMap::new());
        let mut left: BTreeSet<(usize, Reverse<usize>)> =
            (0..count).map(|class| (0, Reverse(class))).collect();
        let mut order = Vec::with_capacity(count);
        let mut clock = 0;
        while let Some((_, Reverse(class))) = left.pop_last() {
            order.push(class);
            for &source in &needs[class] {
                clock += 1;
                let is_new = by_time.remove(&mem::replace(&mut used[source], clock)).is_none();
                by_time.insert(clock, source);
                let gone = match by_time.len() > (count / NEAR).max(needs[class].len()) {
                    true => by_time.pop_first().map(|(_, gone)| gone),
                    false => None,
                };
                for (block, comes) in [(Some(source).filter(|_| is_new), true), (gone, false)] {
                    for &user in block.iter().flat_map(|&block| &users[block]) {
                        let now = if comes { here[user] + 1 } else { here[user] - 1 };
                        if left.remove(&(mem::replace(&mut here[user], now), Reverse(user))) {
                            left.insert((now, Reverse(user)));
                        }
                    }
                }
            }
        }
        let mut place = vec![0; count];
        order.iter().zip(0u32..).for_each(|(&class, own)| place[class] = own);
        let sources = order.iter().flat_map(|&class| self.sources(class));
        self.sources = sources
            .map(|source| BlockSource { class: place[source.class as usize], ..*source })
            .collect();
        self.classes = order.iter().map(|&class| self.classes[class].clone()).collect();
        self.class_of.iter_mut().for_each(|(class, _)| *class = place[*class as usize]);
    }

    /// Returns the number of moves.
    pub fn moves(&self) -> usize {
        self.factors.puzzle.moves().len()
    }

    /// Returns the number of symmetries.
    pub fn order(&self) -> usize {
        self.symmetries.len()
    }

    pub fn row_count(&self) -> usize {
        self.row.count
    }

    /// Returns the number of words of a row.
    pub fn words(&self) -> usize {
        width(self.bit.count) / 64
    }

    /// Returns the bits that a full row has.
    pub fn full(&self) -> Vec<u64> {
        let mut full = vec![0; self.words()];
        (0..self.bit.count).for_each(|bit| full[bit / 64] |= 1 << (bit % 64));
        full
    }

    /// Returns what heads, rows and bits are, as text.
    pub fn describe(&self) -> String {
        let parts = [&self.head, &self.row, &self.bit];
        parts.map(|part| self.factors.describe(part)).join("; ")
    }

    /// Returns the blocks from which moves come to the states of a class, one for each move.
    pub fn sources(&self, class: usize) -> &[BlockSource] {
        &self.sources[class * self.moves()..][..self.moves()]
    }

    fn source(&self, number: usize) -> BlockSource {
        let (class, index) = (number / self.moves(), number % self.moves());
        let mut source = BlockSource { class: 0, index: index as u16, symmetry: 0, first: 0 };
        let before = self.before(class, &source, 0);
        let head = self.factors.number(&self.head, &before);
        (source.class, source.symmetry) = self.class_of[head];
        source.first = self.source_bit(class, &source, 0) as u16;
        source
    }

    /// The state with a class's head and a bit, before a move.
    fn before(&self, class: usize, source: &BlockSource, bit: usize) -> Arrangement {
        self.factors.puzzle.after(&self.state(class, bit), &self.undone[usize::from(source.index)])
    }

    /// The state with a class's head and a bit.
    fn state(&self, class: usize, bit: usize) -> Arrangement {
        self.factors.state(&[(&self.head, self.classes[class].head as usize), (&self.bit, bit)])
    }

    /// The bit that a symmetry makes of that of a state.
    fn image_bit(&self, symmetry: u16, state: &Arrangement) -> usize {
        let symmetry = &self.symmetries[usize::from(symmetry)];
        self.factors.number(&self.bit, &symmetry.arrangement(&self.factors.puzzle, state))
    }

    /// The bit from which a bit comes.
    fn source_bit(&self, class: usize, source: &BlockSource, bit: usize) -> usize {
        self.image_bit(source.symmetry, &self.before(class, source, bit))
    }

    /// Returns the row in a move's source from which a row comes, seen through a symmetry.
    #[inline]
    pub fn source_row(&self, source: &BlockSource, row: usize) -> u32 {
        let before = self.rows[0][usize::from(source.index)][row];
        self.rows[1][usize::from(source.symmetry)][before as usize]
    }

    /// Returns the number of networks that take rows of sources to those of their targets.
    pub fn networks(&self) -> usize {
        let each = if self.factors.has_exchanges() { self.bit.count } else { self.moves() };
        self.order() * each
    }

    /// Returns the number of a source's network. Where bits are exchanges, moves multiply them by an exchange, which is the
    /// source of the first one; elsewhere, a move always does the same.
    pub fn network_of(&self, source: &BlockSource) -> usize {
        let of = if self.factors.has_exchanges() { source.first } else { source.index };
        usize::from(of) * self.order() + usize::from(source.symmetry)
    }

    /// Returns the network that takes the rows of a class's source to those of the class.
    pub fn network(&self, class: usize, source: &BlockSource) -> BitNetwork {
        let bits = (0..self.bit.count).map(|bit| self.source_bit(class, source, bit));
        let unused = self.bit.count..width(self.bit.count);
        BitNetwork::new(&bits.chain(unused).collect::<Vec<_>>())
    }

    /// Returns the rows that a symmetry which preserves the head of a class leaves where they are, and a mask of such bits.
    pub fn fixed(
        &self,
        class: usize,
        symmetry: u16,
    ) -> (impl Iterator<Item = usize> + '_, Vec<u64>) {
        let rows = self.rows[1][usize::from(symmetry)].iter().enumerate();
        let rows = rows.filter(|&(own, &to)| own == to as usize).map(|(own, _)| own);
        let mut mask = vec![0; self.words()];
        for bit in 0..self.bit.count {
            if self.image_bit(symmetry, &self.state(class, bit)) == bit {
                mask[bit / 64] |= 1 << (bit % 64);
            }
        }
        (rows, mask)
    }

    /// Returns the class, row and bit of each entry of a state.
    pub fn entries(&self, state: &Arrangement) -> Vec<(usize, usize, usize)> {
        let image = |state: &Arrangement, symmetry: u16| {
            self.symmetries[usize::from(symmetry)].arrangement(&self.factors.puzzle, state)
        };
        let (class, symmetry) = self.class_of[self.factors.number(&self.head, state)];
        let first = image(state, symmetry);
        let entry = |&keep: &u16| {
            let own = image(&first, keep);
            let [row, bit] = [&self.row, &self.bit].map(|part| self.factors.number(part, &own));
            (class as usize, row, bit)
        };
        self.classes[class as usize].keeping.iter().map(entry).collect()
    }

    /// Returns the states of an entry: its images under all symmetries, possibly several times.
    pub fn states_of(
        &self,
        (class, row, bit): (usize, usize, usize),
    ) -> impl Iterator<Item = Arrangement> + '_ {
        let head = self.classes[class].head as usize;
        let state = self.factors.state(&[(&self.head, head), (&self.row, row), (&self.bit, bit)]);
        self.symmetries.iter().map(move |one| one.arrangement(&self.factors.puzzle, &state))
    }
}

impl Factors {
    /// Whether bits are exchanges of different pieces.
    fn has_exchanges(&self) -> bool {
        self.all.iter().any(|factor| matches!(factor.kinds, Kinds::Exchange(_)))
    }

    /// Returns these factors with cosets and exchanges instead of all arrangements of some different pieces.
    fn with_exchanges(&self, symmetries: &[Relabelling]) -> Vec<Factors> {
        let mut all = Vec::new();
        for (at, factor) in self.all.iter().enumerate().filter(|(_, factor)| factor.is_group()) {
            let set = &self.puzzle.sets()[factor.set];
            let kind = |&position: &u8| set.solved[usize::from(position)].kind;
            let mut kinds: Vec<u8> = factor.positions.iter().map(kind).collect();
            kinds.sort_unstable();
            let images = |one: &Relabelling| -> Vec<u8> {
                one.kind[factor.set].iter().map(|(kind, _)| *kind).collect()
            };
            let own = symmetries.iter().filter(|one| one.set[factor.set] == factor.set).map(images);
            let stays =
                |images: &Vec<u8>| kinds.iter().all(|&k| kinds.contains(&images[k as usize]));
            let own: Vec<Vec<u8>> = own.filter(stays).collect();
            let even = (factor.count as u64) < lehmer::count(kinds.len());
            for group in PieceGroup::kept_by(&own, &kinds, (set.moduli.len(), even)) {
                let (group, exchanges) = (Arc::new(group.clone()), group.exchanges.len());
                let part = |kinds: Kinds, count: usize| {
                    Arc::new(Factor { kinds, count, ..Factor::clone(factor) })
                };
                let mut with = self.clone();
                with.all[at] = part(Kinds::Coset(group.clone()), factor.count / exchanges);
                with.all.push(part(Kinds::Exchange(group), exchanges));
                all.push(with);
            }
        }
        all
    }

    /// Finds the values of all factors that were only counted; `None` if one has others.
    fn find(&mut self) -> Option<()> {
        for factor in &mut self.all {
            let zeros = &self.zeros[factor.set];
            if factor.values.is_empty() {
                let counted = factor.count;
                Arc::make_mut(factor).close(&self.puzzle, zeros)?;
                if factor.count != counted {
                    return None;
                }
            }
        }
        Some(())
    }

    /// Returns all divisions into heads, rows and bits, with the symmetries that they respect; the first one in order takes
    /// the least memory.
    fn divisions(&self, states: u64, symmetries: &[Relabelling]) -> Vec<(DivisionOrder, Division)> {
        let digits = |factors: Vec<usize>| {
            let counts = factors.iter().map(|&f| self.all[f].count);
            let count = counts.into_iter().try_fold(1, usize::checked_mul);
            Some(Digits { factors, count: count.filter(|&count| count <= MOST_VALUES)? })
        };
        let is_coset = |&f: &usize| matches!(self.all[f].kinds, Kinds::Coset(_));
        let mut choices = Vec::new();
        for bit in 0..self.all.len() {
            if self.has_exchanges() && !matches!(self.all[bit].kinds, Kinds::Exchange(_)) {
                continue;
            }
            let others: Vec<usize> = (0..self.all.len()).filter(|&f| f != bit).collect();
            // Bit by bit, the other factors that heads have; rows have the rest.
            for heads in 0..1u32 << others.len().min(MOST_FACTORS) {
                let part = |wanted: bool| {
                    let own = others.iter().enumerate();
                    own.filter(|(i, _)| (heads >> i & 1 == 1) == wanted).map(|(_, &f)| f).collect()
                };
                let parts = [digits(part(true)), digits(part(false)), digits(vec![bit])];
                let [Some(head), Some(row), Some(bit)] = parts else { continue };
                let width = width(bit.count);
                let bits = (head.count * row.count) as u64 * width as u64;
                let block_bytes = row.count * width / 8;
                if width > 64 * BitNetwork::MOST_WORDS
                    || block_bytes > MOST_BYTES
                    || bits / 2 > states
                    || row.factors.iter().any(is_coset)
                {
                    continue;
                }
                let parts = [head, row, bit];
                let own = symmetries.iter().filter(|one| self.is_product(&parts, one));
                let own: Vec<Relabelling> = own.cloned().collect();
                let heads = parts[0].count;
                let few = heads < HEADS * own.len();
                // Large blocks take the least time; heads that are few have symmetries of their own.
                let bytes = heads * (block_bytes + BLOCK_BYTES) / own.len();
                let order = (few, bytes, if few { usize::MAX - heads } else { heads });
                choices.push((order, (parts, own)));
            }
        }
        choices
    }

    /// What a part consists of, as text.
    fn describe(&self, part: &Digits) -> String {
        let factor = |&f: &usize| {
            let Factor { set, positions, kinds, turns, .. } = &*self.all[f];
            let what = match (kinds, turns) {
                (Kinds::None, _) => "orientations of ",
                (Kinds::Exchange(_), _) => "exchanges of ",
                (Kinds::Coset(group), _) => {
                    &format!("places up to {} exchanges of ", group.exchanges.len())
                }
                (Kinds::All, true) => "",
                (Kinds::All, false) => "places of ",
            };
            let set = &self.puzzle.sets()[*set];
            let from = match positions.len() < set.positions() {
                true => format!(" from position {}", positions[0] + 1),
                false => String::new(),
            };
            format!("{what}{}{from}", set.name)
        };
        match part.factors.is_empty() {
            true => "none".to_string(),
            false => part.factors.iter().map(factor).collect::<Vec<_>>().join(", "),
        }
    }

    /// Whether moves lead from the solved state to each factor's value of a state.
    fn has(&self, state: &Arrangement) -> bool {
        let has = |of: &Arc<Factor>| {
            let value = of.value(state, &self.puzzle, &self.zeros[of.set]);
            of.number.contains_key(&value[..])
        };
        self.all.iter().all(has)
    }

    /// The state with these values of parts, and the first value of all others.
    fn state(&self, parts: &[(&Digits, usize)]) -> Arrangement {
        let mut values = vec![0; self.all.len()];
        for &(part, number) in parts {
            let mut left = number;
            for &f in &part.factors {
                values[f] = left % self.all[f].count;
                left /= self.all[f].count;
            }
        }
        let mut state = self.puzzle.solved();
        let mut all: Vec<_> = self.all.iter().zip(values).collect();
        // Kinds first: orientations are counted from theirs. Exchanges change those of cosets.
        all.sort_by_key(|(factor, _)| match factor.kinds {
            Kinds::All | Kinds::Coset(_) => 0,
            Kinds::Exchange(_) => 1,
            Kinds::None => 2,
        });
        for (factor, value) in all {
            let (row, zeros) = (&mut state.0[factor.set], &self.zeros[factor.set]);
            let at = factor.positions.iter().map(|&at| usize::from(at));
            if let Kinds::Exchange(group) = &factor.kinds {
                let exchange = &group.exchanges[value];
                at.for_each(|at| row[at].kind = exchange[usize::from(row[at].kind)]);
                continue;
            }
            let moduli = &self.puzzle.sets()[factor.set].moduli;
            let (has_kinds, each) = (factor.has_kinds(), factor.each());
            for (at, own) in at.zip(factor.values[value].chunks_exact(each)) {
                let piece = &mut row[at];
                if has_kinds {
                    piece.kind = own[0];
                }
                if factor.turns {
                    let kind = usize::from(piece.kind);
                    let zero = if has_kinds { 0 } else { zeros[kind] };
                    piece.turn = (own[each - 1] + zero) % moduli[kind];
                }
            }
        }
        state
    }

    /// The number of a state's part.
    fn number(&self, part: &Digits, state: &Arrangement) -> usize {
        let (mut number, mut weight) = (0, 1);
        for &f in &part.factors {
            let factor = &self.all[f];
            let value = factor.value(state, &self.puzzle, &self.zeros[factor.set]);
            number += weight * factor.number[&value[..]] as usize;
            weight *= factor.count;
        }
        number
    }

    /// Where each of so many maps of states takes the values of a part.
    fn images(
        &self,
        part: &Digits,
        maps: usize,
        map: &(dyn Fn(&Arrangement, usize) -> Arrangement + Sync),
    ) -> Vec<Vec<u32>> {
        let states: Vec<Arrangement> =
            (0..part.count).map(|value| self.state(&[(part, value)])).collect();
        let number = |state, index| self.number(part, &map(state, index)) as u32;
        map_numbers(maps, &|index| states.iter().map(|state| number(state, index)).collect())
    }

    /// Whether a symmetry takes heads to heads, rows to rows and bits to bits, whatever the others are: it takes each position
    /// to one of the same part, and turns pieces there by the same amount whatever their kinds.
    fn is_product(&self, parts: &[Digits; 3], of: &Relabelling) -> bool {
        // The parts of a position's kinds, and those of its orientations.
        let part_of = |set: usize, position: usize| {
            [true, false].map(|kinds| {
                let has = |&f: &usize| {
                    let own = &self.all[f];
                    let here = own.set == set && own.positions.contains(&(position as u8));
                    here && if kinds { own.has_kinds() } else { own.turns }
                };
                let all = parts.iter().enumerate();
                let own = all.filter(|(_, part)| part.factors.iter().any(has));
                own.map(|(index, _)| index).collect::<Vec<_>>()
            })
        };
        self.puzzle.sets().iter().enumerate().all(|(set, pieces)| {
            (0..pieces.positions()).all(|position| {
                let piece = Placed { turn: 0, ..pieces.solved[position] };
                let (to_set, to, _) = of.of_piece(&self.puzzle, (set, position), piece);
                let own = part_of(set, position);
                let zeros = (&self.zeros[set][..], &self.zeros[to_set][..]);
                let alike = || turns_alike(&self.puzzle, of, (set, position), zeros);
                // Within a part, orientations may depend on kinds.
                own == part_of(to_set, to) && (own[0] == own[1] || alike())
            })
        })
    }

    /// For each symmetry, the index of the one that undoes it.
    fn inverses(&self, parts: [&Digits; 3], symmetries: &[Relabelling]) -> Vec<usize> {
        let mut random = SplitMix64::new(1);
        let mut state =
            || self.state(&parts.map(|part| (part, (random.draw() % part.count as u64) as usize)));
        let states: Vec<Arrangement> = (0..8).map(|_| state()).collect();
        let image = |one: &Relabelling, of: &Arrangement| one.arrangement(&self.puzzle, of);
        let inverse = |one: &Relabelling| {
            let images: Vec<Arrangement> = states.iter().map(|state| image(one, state)).collect();
            let undoes = |other: &Relabelling| {
                images.iter().zip(&states).all(|(there, state)| image(other, there) == *state)
            };
            symmetries.iter().position(undoes).expect("symmetries are a group")
        };
        symmetries.iter().map(inverse).collect()
    }

    /// The classes of heads, and for each head its class and a symmetry that takes it to the one that represents it.
    fn classes(
        &self,
        parts @ [heads, ..]: [&Digits; 3],
        symmetries: &[Relabelling],
    ) -> (Vec<HeadClass>, Vec<(u32, u16)>) {
        let inverses = self.inverses(parts, symmetries);
        let mut class_of = vec![(u32::MAX, 0); heads.count];
        let mut classes = Vec::new();
        for head in 0..heads.count {
            if class_of[head].0 != u32::MAX {
                continue;
            }
            let state = self.state(&[(heads, head)]);
            let (mut keeping, mut members) = (Vec::new(), 0);
            for ((index, one), back) in (0..).zip(symmetries).zip(&inverses) {
                let to = self.number(heads, &one.arrangement(&self.puzzle, &state));
                if to == head {
                    keeping.push(index);
                }
                if class_of[to].0 == u32::MAX {
                    class_of[to] = (classes.len() as u32, *back as u16);
                    members += 1;
                }
            }
            classes.push(HeadClass { head: head as u32, keeping, members });
        }
        (classes, class_of)
    }
}

impl Factor {
    fn has_kinds(&self) -> bool {
        !matches!(self.kinds, Kinds::None)
    }

    /// The number of bytes of a value for each position.
    fn each(&self) -> usize {
        usize::from(self.has_kinds()) + usize::from(self.turns)
    }

    /// Whether its values are all arrangements of different pieces, or all even ones.
    fn is_group(&self) -> bool {
        let (pieces, count) = (self.positions.len(), self.count as u64);
        let is_all =
            |count: u64| [lehmer::count(pieces), lehmer::even_count(pieces)].contains(&count);
        self.values.is_empty() && pieces <= lehmer::MAX_LEN && is_all(count)
    }

    /// The value of a factor in a state, with orientations counted from these.
    fn value(&self, state: &Arrangement, puzzle: &Puzzle, zeros: &[u8]) -> Vec<u8> {
        let moduli = &puzzle.sets()[self.set].moduli;
        let has_kinds = self.has_kinds();
        let mut value = Vec::with_capacity(2 * self.positions.len());
        for &at in &self.positions {
            let Placed { kind, turn } = state.0[self.set][usize::from(at)];
            if has_kinds {
                value.push(kind);
            }
            if self.turns {
                let modulus = moduli[usize::from(kind)];
                let zero = if has_kinds { 0 } else { zeros[usize::from(kind)] };
                value.push((turn + modulus - zero) % modulus);
            }
        }
        match &self.kinds {
            Kinds::None | Kinds::All => {}
            Kinds::Coset(group) => drop(group.make_least(&mut value)),
            Kinds::Exchange(group) => {
                let exchange = group.make_least(&mut value);
                value = group.exchanges[exchange].to_vec();
            }
        }
        value
    }
}

/// The number of bits of a row of so many that are used: a power of two.
fn width(bits: usize) -> usize {
    bits.next_power_of_two().max(64)
}

/// The factors of a puzzle's states; `None` if one has too many values. Arrangements of different pieces are only counted.
fn factors(puzzle: &Puzzle, zeros: &[Vec<u8>]) -> Option<Vec<Arc<Factor>>> {
    let mut factors = Vec::new();
    for (index, set) in puzzle.sets().iter().enumerate() {
        let actions: Vec<_> =
            puzzle.moves().iter().map(|one| &one.transformation.0[index]).collect();
        let sources: Vec<&[u8]> = actions.iter().map(|action| &action.source[..]).collect();
        for orbit in all_orbits(set.positions(), &sources) {
            let positions: Vec<u8> = orbit.iter().map(|&p| p as u8).collect();
            let kind = |&p: &usize| usize::from(set.solved[p].kind);
            let modulus = set.moduli[kind(&orbit[0])];
            let alike = orbit.iter().all(|p| set.moduli[kind(p)] == modulus);
            let shapes = match alike {
                true => vec![(Kinds::All, false), (Kinds::None, true)],
                false => vec![(Kinds::All, true)],
            };
            let copies = |kind| set.solved.iter().filter(|of| of.kind == kind).count();
            let differ = orbit.iter().all(|&p| copies(set.solved[p].kind) == 1);
            for (kinds, turns) in shapes {
                let mut factor = Factor {
                    set: index,
                    positions: positions.clone(),
                    kinds,
                    turns,
                    count: 0,
                    values: Vec::new(),
                    number: HashMap::new(),
                };
                let order = (factor.has_kinds() && !turns && differ).then(|| {
                    let at = |p: u8| orbit.iter().position(|&own| own == usize::from(p));
                    let images = |source: &&[u8]| {
                        let images = orbit.iter().map(|&p| at(source[p]).expect("an orbit"));
                        Permutation::new(&images.collect::<Vec<_>>()).ok()
                    };
                    let all: Option<Vec<Permutation>> = sources.iter().map(images).collect();
                    group_order(orbit.len(), &all?)
                });
                match order.flatten() {
                    Some(order) => factor.count = order.try_into().ok()?,
                    None => factor.close(puzzle, &zeros[index])?,
                }
                if factor.count > 1 {
                    factors.push(Arc::new(factor));
                }
            }
        }
    }
    Some(factors)
}

impl Factor {
    /// Finds all values that moves lead to from the solved state, with orientations counted from these; `None` if there are
    /// too many.
    fn close(&mut self, puzzle: &Puzzle, zeros: &[u8]) -> Option<()> {
        if let Kinds::Exchange(group) = &self.kinds {
            self.values = group.exchanges.clone();
            self.number = group.exchanges.iter().cloned().zip(0..).collect();
            return Some(());
        }
        let set = &puzzle.sets()[self.set];
        // For each position of the factor: where its piece comes from, and by how much it turns.
        let actions: Vec<Vec<(usize, u8)>> = (puzzle.moves().iter())
            .map(|one| {
                let action = &one.transformation.0[self.set];
                let of = |&at: &u8| {
                    let from = action.source[usize::from(at)];
                    let from = self.positions.iter().position(|&p| p == from);
                    (from.expect("an orbit is closed"), action.twist[usize::from(at)])
                };
                self.positions.iter().map(of).collect()
            })
            .collect();
        let (has_kinds, each) = (self.has_kinds(), self.each());
        let modulus = set.moduli[usize::from(set.solved[usize::from(self.positions[0])].kind)];
        let solved = puzzle.solved();
        let start = self.value(&solved, puzzle, zeros).into_boxed_slice();
        self.number.insert(start.clone(), 0);
        self.values.push(start);
        let mut at = 0;
        while at < self.values.len() {
            for action in &actions {
                let value = &self.values[at];
                let moved = action.iter().flat_map(|&(from, twist)| {
                    let piece = &value[from * each..][..each];
                    let mut piece = piece.to_vec();
                    if self.turns {
                        let modulus =
                            if has_kinds { set.moduli[usize::from(piece[0])] } else { modulus };
                        piece[each - 1] = (piece[each - 1] + twist) % modulus;
                    }
                    piece
                });
                let mut moved: Box<[u8]> = moved.collect();
                if let Kinds::Coset(group) = &self.kinds {
                    group.make_least(&mut moved);
                }
                let number = self.values.len() as u32;
                self.number.entry(moved.clone()).or_insert_with(|| {
                    self.values.push(moved);
                    number
                });
            }
            if self.values.len() > MOST_VALUES {
                return None;
            }
            at += 1;
        }
        self.count = self.values.len();
        Some(())
    }
}

/// Whether a symmetry turns pieces at a position by the same amount whatever their kinds, if orientations are counted from
/// these in their set and its image.
fn turns_alike(
    puzzle: &Puzzle,
    of: &Relabelling,
    (set, position): (usize, usize),
    (from, to): (&[u8], &[u8]),
) -> bool {
    let moduli = &puzzle.sets()[set].moduli;
    let first = moduli[usize::from(puzzle.sets()[set].solved[position].kind)];
    (0..first).all(|turn| {
        let image = |kind: u8| {
            let turn = (turn + from[usize::from(kind)]) % first;
            let (_, _, image) = of.of_piece(puzzle, (set, position), Placed { kind, turn });
            (image.turn + first - to[usize::from(image.kind)]) % first
        };
        let alike = (0..moduli.len() as u8).filter(|&kind| moduli[usize::from(kind)] == first);
        let mut images = alike.map(image);
        let one = images.next();
        images.all(|image| Some(image) == one)
    })
}

/// The orientations of a set's kinds from which most symmetries turn pieces whatever their kinds.
fn zeros(puzzle: &Puzzle, set: usize, symmetries: &[Relabelling]) -> Vec<u8> {
    let pieces = &puzzle.sets()[set];
    let mut zeros = vec![0; pieces.moduli.len()];
    let own: Vec<&Relabelling> = symmetries.iter().filter(|one| one.set[set] == set).collect();
    let count = |zeros: &[u8]| {
        let positions = 0..pieces.positions();
        let fits = |one: &&&Relabelling| {
            positions.clone().all(|at| turns_alike(puzzle, one, (set, at), (zeros, zeros)))
        };
        own.iter().filter(fits).count()
    };
    let (mut best, mut most) = (zeros.clone(), count(&zeros));
    for _ in 0..MOST_ZEROS {
        // The next one; the first kind is counted from 0.
        let mut at = 1;
        while at < zeros.len() && zeros[at] + 1 == pieces.moduli[at] {
            zeros[at] = 0;
            at += 1;
        }
        if at >= zeros.len() || most == own.len() {
            break;
        }
        zeros[at] += 1;
        let found = count(&zeros);
        if found > most {
            (best, most) = (zeros.clone(), found);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        frontier::{Bitmaps, FrontierSearch},
        kernel::Kernel,
        puzzle::{PuzzleSpec, Variant},
    };

    /// States of each depth, all of them and up to symmetry, by bitmaps in memory.
    fn levels(space: &ProductSpace, goals: &[Arrangement]) -> (Vec<u64>, Vec<u64>) {
        let bitmaps = Bitmaps::new(space, Kernel::best());
        let entries: Vec<_> = goals.iter().flat_map(|goal| space.entries(goal)).collect();
        let classes = 0..space.classes.len();
        let (mut counts, mut reduced) = (Vec::new(), Vec::new());
        let mut last: Vec<_> =
            classes.clone().map(|class| bitmaps.first(class, &entries)).collect();
        loop {
            let totals = last.iter().flatten().map(|(_, total)| total.level);
            let (own, up_to) = totals.fold((0, 0), |(own, up_to), total| {
                (own + total.tally.states, up_to + total.lists.reduced)
            });
            if own == 0 {
                return (counts, reduced);
            }
            counts.push(own);
            reduced.push(up_to);
            let blocks: Vec<Option<Arc<_>>> = (last.iter())
                .map(|coded| {
                    let (code, total) = coded.as_ref()?;
                    let (block, told) = bitmaps.decode(code).unwrap();
                    assert_eq!(told, *total);
                    Some(Arc::new(block))
                })
                .collect();
            let next = |class| bitmaps.next(class, |class| Ok::<_, ()>(blocks[class].clone()));
            last = classes.clone().map(|class| next(class).unwrap()).collect();
        }
    }

    #[test]
    fn every_division_has_the_same_levels() {
        /// Blocks of more divisions would take minutes.
        const BLOCKS: usize = 1000;
        let mut exchanged = 0;
        for (name, pieces, moves) in [
            ("fto", vec!["corners"], vec![]),
            ("2x2x2", vec![], vec![]),
            ("pyraminx", vec![], vec![]),
        ] {
            let owned = |names: Vec<&str>| names.into_iter().map(str::to_string).collect();
            let variant =
                Variant { pieces: owned(pieces), moves: owned(moves), ..Variant::default() };
            let spec = PuzzleSpec { variant, ..PuzzleSpec::of(name) };
            let puzzle = spec.listed().unwrap();
            for symmetric in [false, true] {
                let search = FrontierSearch::new(puzzle.clone()).symmetry(symmetric);
                let wanted = search.run().unwrap();
                let (all, choices) = ProductSpace::choices(&puzzle, symmetric).unwrap();
                for (_, factors, division) in choices {
                    if division.0[0].count > BLOCKS * division.1.len() {
                        continue;
                    }
                    exchanged += usize::from(factors.has_exchanges());
                    let space = ProductSpace::divided(factors, division, all.clone()).unwrap();
                    let found = levels(&space, &puzzle.goals());
                    let what = space.describe();
                    assert_eq!(found.0, wanted.counts, "{name}: {what}");
                    if Some(space.order().into()) == space.all_symmetries {
                        assert_eq!(found.1, wanted.reduced().unwrap(), "{name}: {what}");
                    }
                }
            }
        }
        assert!(exchanged > 5, "{exchanged}");
    }
}
