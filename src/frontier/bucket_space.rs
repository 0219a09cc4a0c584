//! The parts of a list search that do not change: the choice of the pieces that determine the bucket of a state, the
//! buckets, and the effects of moves on their keys.
//!
//! [`CoordinateChoice`] weighs coordinates for `search` and `forecast`; from the chosen one, [`BucketSpace`] is made
//! once per search, and `level` and `bit_levels` read it.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
};

use num_bigint::BigUint;

use crate::{
    frontier::{
        coordinate::{Coordinate, MOST_CONJUGATED, keeps, restricted, sizes},
        fields::{FieldBlock, FieldKind, FieldMap, KeyPart, StateField, StateFields},
        lists::{BucketLists, KeyStep, ListCoder},
        symmetry::{PuzzleRows, SymmetryGroup},
    },
    kernel::{
        Kernel,
        keys::{KeyLayout, KeyOperation},
    },
    puzzle::{Arrangement, Move, group::all_orbits, is_even, rows::RowSet},
    store::ListCut,
};

// The choice. With more buckets, each has fewer keys, and duplicates are found in a smaller and faster cache. But every
// bucket costs a look at each of those that lead into it, and the symmetries must preserve the set of tracked pieces.

/// How the keys of a bucket are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelForm {
    /// Uncoded.
    #[cfg(test)]
    Lists,
    Coded,
    /// One bit for each number that a key can have.
    Bits,
}

/// The fields of the coordinate.
pub(crate) struct CoordinateChoice {
    pub fields: Vec<usize>,
    /// Whether their orientations belong to the coordinate.
    pub oriented: bool,
    /// The form of all levels, whatever the memory; `None` if it is chosen level by level.
    pub form: Option<LevelForm>,
    /// Number of bytes of keys that a thread generates at once; `None` if it depends on the memory.
    pub slice: Option<usize>,
    /// Whether symmetries are used: those that preserve the fields.
    pub symmetric: bool,
}

impl CoordinateChoice {
    /// Returns the choice with which a run was begun.
    pub fn of_cut(cut: &ListCut) -> CoordinateChoice {
        let ListCut { ref fields, oriented, symmetric, .. } = *cut;
        let fields = fields.clone();
        CoordinateChoice { fields, oriented, symmetric, form: None, slice: None }
    }

    /// Returns a choice for a search to a given depth, with this many bytes of memory.
    pub fn new(
        of: &PuzzleRows,
        symmetric: bool,
        max_depth: Option<usize>,
        memory: Option<u64>,
    ) -> CoordinateChoice {
        CoordinateChoice::weighed(of, symmetric, max_depth, memory).0
    }

    /// The same with its cost: about the nanoseconds that a thread takes for the last level.
    pub fn weighed(
        of: &PuzzleRows,
        symmetric: bool,
        max_depth: Option<usize>,
        memory: Option<u64>,
    ) -> (CoordinateChoice, f64) {
        let (widest, all) = (of.widest(max_depth), of.most_states());
        let moves = of.moves.len() as f64;
        let group = of.symmetries(symmetric);
        let candidates = candidates(of, &group);
        let mut best = (f64::INFINITY, &candidates[0], false);
        for chosen in &candidates {
            let kept = order(&group, chosen);
            for oriented in [false, true] {
                let Some(shape) = ListShape::new(&of.fields, chosen, oriented, kept) else {
                    continue;
                };
                let ListShape { coarse, fine, buckets, key_bytes, .. } = shape;
                if coarse > 1 << 24 || fine > 1 << 15 || oriented && fine == 1 {
                    continue;
                }
                // Where the lists of two levels begin and end.
                let indices = buckets * 16.0;
                // The longer coded lists are, the fewer bytes they take per key.
                let stored = widest / kept;
                let is_too_fine = |memory: u64| {
                    let (memory, bytes) = (memory as f64, stored * key_bytes);
                    indices > memory / 8.0 || bytes > memory / 2.0 && stored < 500.0 * buckets
                };
                // If lists do not fit, full levels are bits, which take about the same time except in small buckets.
                let lists = 2.0 * stored * key_bytes;
                let bits = all / kept * 3.0 / 8.0;
                let is_full = memory.is_some_and(|memory| {
                    let memory = memory as f64;
                    lists > memory / 2.0 && bits < 0.9 * memory && bits < lists
                });
                if !is_full && !chosen.is_empty() && memory.is_some_and(is_too_fine) {
                    continue;
                }
                let keys = stored * moves;
                // Bytes that a bucket takes: the generated keys, and the lines of the set. Nanoseconds, depending on
                // where they fit.
                let bytes = keys / buckets * key_bytes * 3.0;
                let numbers = all / kept / buckets;
                let each = match bytes {
                    _ if is_full => 20.0 + 2e4 / numbers + if numbers > 1e7 { 10.0 } else { 0.0 },
                    small if small < 2e4 => 3.0,
                    middle if middle < 7e5 => 6.0,
                    large => 12.0 + (large / 7e5).min(12.0) + 0.1 * large.log2(),
                };
                let lists = (buckets * moves).min(keys);
                // Users want the states up to all symmetries: using all of them may cost some tenths of a second, or
                // half of the time.
                let used = if chosen.is_empty() { 1.0 } else { kept };
                let partial = symmetric && used < group.order() as f64;
                let (partly, once) = if partial { (2.0, 3e8) } else { (1.0, 0.0) };
                // One bucket is processed by one thread, and without a coordinate there are no symmetries.
                let alone = if chosen.is_empty() && !is_full { 8.0 * kept } else { 1.0 };
                let cost = once
                    + partly * alone * keys * each * key_bytes / 8.0
                    + lists * 60.0
                    + buckets * 200.0
                    + coarse as f64 * 300.0;
                if cost < best.0 {
                    best = (cost, chosen, oriented);
                }
            }
        }
        let (cost, chosen, oriented) = best;
        // Without a coordinate, all states are stored, and symmetries only serve to count classes.
        let counts = group.order() <= MOST_CONJUGATED;
        let (fields, symmetric) = (chosen.clone(), symmetric && (!chosen.is_empty() || counts));
        (CoordinateChoice { fields, oriented, symmetric, form: None, slice: None }, cost)
    }

    pub(super) fn shape(&self, of: &PuzzleRows) -> ListShape {
        let storing = self.symmetric && !self.fields.is_empty();
        let symmetries = order(&of.symmetries(storing), &self.fields);
        let shape = ListShape::new(&of.fields, &self.fields, self.oriented, symmetries);
        shape.expect("it was taken for its sizes")
    }
}

/// How a choice distributes states.
pub(super) struct ListShape {
    /// Number of coarse and fine values of the coordinate.
    coarse: u64,
    fine: u64,
    pub buckets: f64,
    /// Size of an uncoded key.
    pub key_bytes: f64,
    /// Number of symmetries that preserve the coordinate.
    pub symmetries: f64,
}

/// The number of symmetries that preserve these fields.
fn order(group: &SymmetryGroup, chosen: &[usize]) -> f64 {
    group.maps.iter().filter(|map| keeps(map, chosen)).count() as f64
}

/// Number of bytes that a state in canonical form takes at most besides its row, with the places that are free.
pub(super) const PLACE: u64 = 40;

impl ListShape {
    /// Returns how states in canonical form are distributed: they are not.
    pub fn canonical(of: &PuzzleRows, symmetric: bool) -> ListShape {
        let symmetries = of.canonical_symmetries(symmetric).order() as f64;
        let key_bytes = of.fields.fields.len() as f64 + PLACE as f64;
        ListShape { coarse: 1, fine: 1, buckets: 1.0, key_bytes, symmetries }
    }

    /// Returns how keys of all fields are distributed.
    pub fn whole(fields: &StateFields) -> ListShape {
        ListShape::new(fields, &[], false, 1.0).expect("one bucket")
    }

    /// Returns how these fields distribute states if they form the coordinate; `None` if it has too many values.
    fn new(
        fields: &StateFields,
        chosen: &[usize],
        oriented: bool,
        symmetries: f64,
    ) -> Option<ListShape> {
        let (coarse, fine) = sizes(fields, chosen)?;
        let fine = if oriented { fine } else { 1 };
        let buckets = coarse as f64 * fine as f64 / symmetries;
        let values = |(field, of): (usize, &StateField)| match chosen.contains(&field) {
            false => of.values,
            true if oriented => 1,
            true => of.modulus,
        };
        let bits = |values: usize| usize::BITS - (values - 1).leading_zeros();
        let bits: u32 = fields.fields.iter().enumerate().map(values).map(bits).sum();
        let key_bytes = 8.0 * f64::from(bits.div_ceil(60).max(1));
        Some(ListShape { coarse, fine, buckets, key_bytes, symmetries })
    }
}

/// Sets of locations that some symmetries preserve, all of them with the pieces on which moves depend.
pub(super) fn candidates(of: &PuzzleRows, group: &SymmetryGroup) -> Vec<Vec<usize>> {
    let fields = &of.fields;
    let moves = of.puzzle.moves().iter();
    let required: BTreeSet<usize> =
        moves.filter_map(|one| fields.location(one.requires?)).collect();
    let required = Vec::from_iter(required);
    let is_location = |f: usize| matches!(fields.fields[f].kind, FieldKind::Location { .. });
    let mut all: Vec<Vec<usize>> = vec![required.clone()];
    let mut grow = |parts: &[Vec<usize>]| {
        // Unions of sets, the smallest first, one set of the puzzle at a time.
        for first in 0..parts.len() {
            let mut chosen = required.clone();
            for part in &parts[first..] {
                if fields.fields[part[0]].set == fields.fields[parts[first][0]].set {
                    chosen.extend(part.iter().filter(|f| !required.contains(f)));
                    chosen.sort_unstable();
                    chosen.dedup();
                    if sizes(fields, &chosen).is_none_or(|(coarse, _)| coarse > 1 << 24) {
                        break;
                    }
                    if !all.contains(&chosen) {
                        all.push(chosen.clone());
                    }
                }
            }
        }
    };
    let order = group.order() as u16;
    let step = (u32::from(order).pow(2) / 4096).max(1) as usize;
    let pairs = (0..order).flat_map(|i| (i..order).map(move |j| (i, j)));
    for generators in pairs.step_by(step).chain([(0, 0)]) {
        let maps = [generators.0, generators.1].map(|i| &group.maps[usize::from(i)].source[..]);
        let mut parts = all_orbits(fields.fields.len(), &maps);
        parts.retain(|part| is_location(part[0]));
        parts.sort_by_key(Vec::len);
        grow(&parts);
    }
    all
}

/// A parity of states that every move changes: states at an even distance have the same one.
#[derive(Clone, Debug)]
pub(crate) enum MoveParity {
    /// The colour of each value of the location of a piece.
    Place { field: usize, colours: Vec<bool> },
    /// The parity of the permutations of the pieces in these sets.
    Sets(Vec<usize>),
}

impl MoveParity {
    /// Returns the parity of a state, given as an arrangement and as a row of fields.
    pub fn of(&self, state: &Arrangement, row: &[u8]) -> bool {
        match self {
            MoveParity::Place { field, colours } => colours[usize::from(row[*field])],
            MoveParity::Sets(sets) => {
                sets.iter().fold(false, |odd, &set| odd ^ !is_even(&state.0[set]))
            }
        }
    }
}

impl PuzzleRows {
    /// Returns whether every move changes some parity, so that no move leads from a level to itself.
    pub fn is_bipartite(&self) -> bool {
        self.parity().is_some()
    }

    /// Returns a parity that every move changes and that all goals share; `None` if none is found.
    pub fn parity(&self) -> Option<MoveParity> {
        let coloured = (0..self.fields.fields.len()).find_map(|field| self.coloured(field));
        coloured.or_else(|| self.odd_sets())
    }

    /// The two colours of the locations of one piece, if every move changes them, and the goals have one of them.
    fn coloured(&self, field: usize) -> Option<MoveParity> {
        let of = &self.fields.fields[field];
        let FieldKind::Location { kind } = of.kind else { return None };
        let applies = |one: &Move, value: usize| match one.requires {
            Some(at) if usize::from(at.set) == of.set && at.kind == kind => {
                usize::from(at.position) == value / of.modulus
            }
            _ => true,
        };
        let mut colours = vec![None; of.values];
        for first in 0..of.values {
            let mut queue = Vec::from_iter(colours[first].is_none().then_some((first, false)));
            while let Some((value, colour)) = queue.pop() {
                match colours[value].replace(colour) {
                    Some(known) if known != colour => return None,
                    Some(_) => continue,
                    None => {}
                }
                let moves = self.puzzle.moves().iter().zip(&self.moves);
                let moves = moves.filter(|(one, _)| applies(one, value));
                queue.extend(moves.map(|(_, map)| (map.table[field][value].into(), !colour)));
            }
        }
        let colours = colours.into_iter().map(Option::unwrap_or_default).collect::<Vec<bool>>();
        let colour = |goal: &Vec<u8>| colours[usize::from(goal[field])];
        let same = self.goals.iter().all(|goal| colour(goal) == colour(&self.goals[0]));
        same.then_some(MoveParity::Place { field, colours })
    }

    /// Sets of pieces that all differ, where every move changes, and no difference between goals is, the sum of the
    /// parities of their permutations.
    fn odd_sets(&self) -> Option<MoveParity> {
        let sets = self.puzzle.sets().iter().enumerate();
        let distinct = sets.filter(|(_, set)| {
            set.moduli.len() == set.positions()
                && (0..set.moduli.len()).all(|kind| set.pieces_of(kind as u8) == 1)
        });
        let distinct: Vec<usize> = distinct.map(|(index, _)| index).collect();
        let odd = |is_odd: &dyn Fn(usize) -> bool| -> u64 {
            (0..).zip(&distinct).map(|(bit, &set)| u64::from(is_odd(set)) << bit).sum()
        };
        let moves = self.puzzle.moves().iter().map(|one| &one.transformation.0);
        let moves = moves.map(|turns| odd(&|set| !is_even(&turns[set].source)));
        let moves: Vec<u64> = moves.collect();
        let goals = self.puzzle.goals();
        let goals = goals.iter().map(|goal| odd(&|set| !is_even(&goal.0[set])));
        let goals: Vec<u64> = goals.collect();
        let changes = |choice: u64| move |parity: u64| (parity & choice).count_ones() % 2 == 1;
        // More sets than that are not tried.
        let choices = if distinct.len() <= 16 { 1u64 << distinct.len() } else { 0 };
        let choice = (1..choices).find(|&choice| {
            moves.iter().copied().all(changes(choice))
                && !goals.iter().map(|goal| goal ^ goals[0]).any(changes(choice))
        })?;
        let chosen = (0..).zip(distinct).filter(|(bit, _)| choice >> bit & 1 == 1);
        Some(MoveParity::Sets(chosen.map(|(_, set)| set).collect()))
    }

    /// Returns the number of states, infinite if it is not known.
    pub fn all_states(&self) -> f64 {
        let known = self.puzzle.states().and_then(|states| states.to_string().parse().ok());
        known.unwrap_or(f64::INFINITY)
    }

    /// Returns an upper bound on the number of states.
    pub fn most_states(&self) -> f64 {
        self.all_states().min(self.fields.states())
    }

    /// Returns the numbers of states of the first levels, some thousand states in all; of many goals, projected from a
    /// sample.
    pub fn first_widths(&self) -> &[f64] {
        self.widths.get_or_init(|| self.count_first())
    }

    fn count_first(&self) -> Vec<f64> {
        const STATES: usize = 20_000;
        /// What rows of hundreds of fields may take.
        const BYTES: usize = 1 << 28;
        let requires = |one: &Move| {
            let place = one.requires.and_then(|at| self.fields.says(&self.puzzle, at));
            (place, self.fields.blocks(&self.puzzle, &one.transformation))
        };
        let requires = self.puzzle.moves().iter().map(requires);
        let moves: Vec<_> = self.moves.iter().zip(requires).collect();
        // A sample of many goals suffices to show the growth.
        let some = self.goals.len().min(STATES / 20);
        let each = self.goals.len() as f64 / some as f64;
        let width = self.start.len();
        let mut known = RowSet::new(width);
        self.goals[..some].iter().for_each(|goal| _ = known.insert(goal));
        let mut widths = vec![self.goals.len() as f64];
        let (mut level, mut state, mut after) = (0..known.len(), Vec::new(), Vec::new());
        let is_wide = |level: usize| level * moves.len() * width > BYTES;
        while level.end < STATES && !level.is_empty() && !(widths.len() > 2 && is_wide(level.len()))
        {
            for number in level.clone() {
                state.clear();
                state.extend_from_slice(known.row(number));
                for (one, (requires, blocks)) in &moves {
                    let allows =
                        |(field, values): &(usize, Vec<u8>)| values.contains(&state[*field]);
                    if requires.as_ref().is_none_or(allows)
                        && !blocks.iter().any(|block| block.is_split(&state))
                    {
                        one.apply_to(&state, &mut after);
                        known.insert(&after);
                    }
                }
            }
            level = level.end..known.len();
            widths.push(level.len() as f64 * each);
        }
        widths
    }

    /// Returns an estimate of the number of states at the last depth that is stored, based on the growth of the first
    /// levels.
    pub fn widest(&self, max_depth: Option<usize>) -> f64 {
        let widths = self.first_widths();
        let known = widths.len();
        let (middle, last) = (widths[known / 2], widths[known - 1]);
        let growth = (last / middle).powf(1.0 / (known - 1 - known / 2).max(1) as f64);
        let depth = max_depth.map_or(f64::INFINITY, |depth| depth as f64 - known as f64);
        let most = self.most_states() / 4.0;
        (last * growth.max(1.0).powf(depth)).clamp(1.0, most.clamp(1.0, 1e12))
    }
}

// The buckets.
//
// Invariant: every state belongs to one bucket, the canonical one among its images, and has one key there.

/// Minimum number of chunks of a level, if there are that many classes: threads share them.
const CHUNKS: usize = 256;
/// Minimum number of buckets that are stored together, if that leaves enough chunks.
const BUCKETS: usize = 512;

/// A block that a move may split: the tracked pieces and the parts of keys that say where its pieces are, and for each of
/// their values 1 if it says that the move takes one along.
struct KeyBlock {
    pieces: u8,
    tracked: Vec<(usize, Vec<u8>)>,
    parts: Vec<(usize, Vec<u8>)>,
}

/// The parts of a search that do not change.
pub(crate) struct BucketSpace {
    /// The puzzle, as messages name it.
    pub puzzle: String,
    /// How states are distributed, as stored in the files of a run.
    pub cut: ListCut,
    pub coordinate: Coordinate,
    pub parts: Vec<KeyPart>,
    pub layout: KeyLayout,
    /// For each move, its effect on all fields, and its effect and that of its inverse on the tracked fields.
    pub moves: Vec<FieldMap>,
    pub forth: Vec<FieldMap>,
    pub back: Vec<FieldMap>,
    /// If moves depend on a tracked piece, the piece, and the moves that bring it to each position; otherwise all
    /// moves.
    pub arriving: (Option<usize>, Vec<Vec<usize>>),
    /// For each move and symmetry, "undo the symmetry, then make the move", where this does not depend on the class.
    pub operations: Vec<KeyOperation>,
    /// Values that fields of keys, and tracked pieces, must not have.
    pub forbidden: Vec<(usize, Vec<u8>)>,
    pub forbidden_tracked: Vec<(usize, Vec<u8>)>,
    /// For each move, the blocks that it may split.
    blocks: Vec<Vec<KeyBlock>>,
    /// Whether this is computed for each class when it is needed, because orientations are in the keys.
    pub bound: bool,
    /// The contribution of each value of each field to the number of a state, from which checksums are made.
    pub sums: Vec<[u32; 128]>,
    pub coder: ListCoder,
    pub bipartite: bool,
    pub directed: bool,
    /// The number of all symmetries of the puzzle, if it is known.
    pub all_symmetries: Option<BigUint>,
}

impl BucketSpace {
    pub fn new(of: &PuzzleRows, chosen: &CoordinateChoice, kernel: Kernel) -> BucketSpace {
        let (group, whole_group) = (of.symmetries(chosen.symmetric), of.symmetries(true));
        let coordinate = Coordinate::new(of, &chosen.fields, chosen.oriented, &group);
        let part = |(field, of): (usize, &StateField)| {
            let turn = chosen.fields.contains(&field);
            let values = if turn { of.modulus } else { of.values };
            (!turn || !chosen.oriented && of.modulus > 1).then_some(KeyPart { field, turn, values })
        };
        let parts: Vec<KeyPart> = of.fields.fields.iter().enumerate().filter_map(part).collect();
        let values: Vec<usize> = parts.iter().map(|part| part.values).collect();
        let layout = KeyLayout::new(&values, kernel);
        let (mut forbidden, mut forbidden_tracked) = (Vec::new(), Vec::new());
        for &at in of.puzzle.illegal() {
            let Some((field, values)) = of.fields.says(&of.puzzle, at) else { continue };
            match chosen.fields.iter().position(|&other| other == field) {
                Some(tracked) => forbidden_tracked.push((tracked, values)),
                None => {
                    let part = parts.iter().position(|part| part.field == field);
                    forbidden.push((part.expect("a field of the keys"), values));
                }
            }
        }
        let tracked = |field| chosen.fields.iter().position(|&other| other == field);
        let block = |block: FieldBlock| {
            let mut of = KeyBlock { pieces: block.pieces, tracked: Vec::new(), parts: Vec::new() };
            for (field, table) in block.fields {
                match (tracked(field), parts.iter().position(|part| part.field == field)) {
                    (Some(tracked), _) => of.tracked.push((tracked, table)),
                    (None, part) => of.parts.push((part.expect("a field of the keys"), table)),
                }
            }
            of
        };
        let of_move = |one: &Move| {
            let blocks = of.fields.blocks(&of.puzzle, &one.transformation).into_iter();
            blocks.map(block).collect::<Vec<_>>()
        };
        // None at all if no pieces are glued together.
        let glued = of.puzzle.moves().iter().filter(|_| !of.puzzle.blocks().is_empty());
        let blocks: Vec<_> = glued.map(of_move).collect();
        let cut = ListCut {
            fields: chosen.fields.clone(),
            oriented: chosen.oriented,
            symmetric: group.order() > 1,
            symmetries: coordinate.group.order(),
            classes: coordinate.classes(),
            buckets_per_class: coordinate.fine,
            words: layout.words,
            bitmaps: None,
        };
        let table = |adds: &Vec<u32>| {
            let mut table = [0; 128];
            table[..adds.len()].copy_from_slice(adds);
            table
        };
        let mut space = BucketSpace {
            puzzle: of.puzzle.to_string(),
            cut,
            coder: ListCoder::new(of, &parts, &layout),
            forbidden,
            forbidden_tracked,
            blocks,
            forth: of.moves.iter().map(|one| restricted(one, &chosen.fields)).collect(),
            back: of.moves.iter().map(|one| restricted(&one.inverse(), &chosen.fields)).collect(),
            bound: parts.iter().any(|part| part.turn),
            sums: whole_group.state_sums(&of.fields).iter().map(table).collect(),
            bipartite: of.is_bipartite(),
            directed: of.puzzle.is_directed(),
            all_symmetries: whole_group.whole,
            operations: Vec::new(),
            coordinate,
            parts,
            layout,
            moves: of.moves.clone(),
            arriving: arriving_moves(of, &chosen.fields),
        };
        space.operations = space.unbound(false);
        space
    }

    /// The operations for each move and symmetry, or their inverses; none if they depend on the class.
    pub fn unbound(&self, inverse: bool) -> Vec<KeyOperation> {
        let moves = if self.bound { 0 } else { self.moves.len() };
        let of = |one| {
            let symmetries = 0..self.symmetries() as u16;
            symmetries.map(move |symmetry| self.operation(one, symmetry, inverse, &[]))
        };
        (0..moves).flat_map(of).collect()
    }

    /// The effect of "undo a symmetry, then make a move" on the keys of a class with this row of tracked fields, or the
    /// inverse, from a class with this row.
    pub fn operation(&self, one: usize, symmetry: u16, inverse: bool, row: &[u8]) -> KeyOperation {
        let group = &self.coordinate.group;
        let undo = &group.maps[usize::from(group.inverse[usize::from(symmetry)])];
        let map = undo.then(&self.moves[one]);
        self.key_operation(&if inverse { map.inverse() } else { map }, row)
    }

    /// Whether a key has values that no state may have.
    pub fn is_forbidden(&self, key: &[u64]) -> bool {
        let has = |(part, values): &(usize, Vec<u8>)| {
            values.contains(&(self.layout.value(key, *part) as u8))
        };
        self.forbidden.iter().any(has)
    }

    /// Whether moves lead to keys that are to be looked at: they may be forbidden, or a move may not be possible.
    #[inline]
    pub fn is_checked(&self) -> bool {
        !self.forbidden.is_empty() || !self.blocks.is_empty()
    }

    /// Of each block that a move may split, how many of the tracked pieces it takes along, given their places after it;
    /// `None` if it would split these.
    pub fn taken(&self, one: usize, row: &[u8]) -> Option<Vec<u8>> {
        let Some(blocks) = self.blocks.get(one) else { return Some(Vec::new()) };
        let of_block = |block: &KeyBlock| {
            let is_taken = |(at, table): &(usize, Vec<u8>)| table[usize::from(row[*at])];
            let taken = block.tracked.iter().map(is_taken).sum();
            let all = block.tracked.len() as u8;
            let can =
                taken == 0 || taken == all && (taken == block.pieces || !block.parts.is_empty());
            can.then_some(taken)
        };
        blocks.iter().map(of_block).collect()
    }

    /// Whether a move that led to a key took along some pieces of a block, and left others.
    #[inline]
    pub fn is_split(&self, step: &KeyStep, key: &[u64]) -> bool {
        let is_split = |(block, &tracked): (&KeyBlock, &u8)| {
            let is_taken = |(part, table): &(usize, Vec<u8>)| table[self.layout.value(key, *part)];
            let taken = tracked + block.parts.iter().map(is_taken).sum::<u8>();
            taken > 0 && taken < block.pieces
        };
        self.blocks.get(step.one).is_some_and(|all| all.iter().zip(step.taken).any(is_split))
    }

    /// A map of states as an operation on keys, if the tracked pieces have the positions in a row.
    pub fn key_operation(&self, map: &FieldMap, row: &[u8]) -> KeyOperation {
        let mut keys = FieldMap { source: Vec::new(), table: Vec::new() };
        for part in &self.parts {
            let from = usize::from(map.source[part.field]);
            let source = self.parts.iter().position(|other| other.field == from);
            let table = &map.table[part.field];
            keys.source.push(source.expect("moves and symmetries keep the tracked pieces") as u16);
            keys.table.push(if part.turn {
                let tracked = self.coordinate.fields().position(|field| field == from);
                let at = usize::from(row[tracked.expect("a tracked piece")]);
                let modulus = self.coordinate.modulus(from);
                let turned = table[at / modulus * modulus..][..modulus].iter();
                turned.map(|&value| value % modulus as u8).collect()
            } else {
                table.clone()
            });
        }
        self.layout.operation(&keys.source, &keys.table)
    }

    pub fn words(&self) -> usize {
        self.layout.words
    }

    pub fn symmetries(&self) -> usize {
        self.coordinate.group.order()
    }

    pub fn describe(&self) -> String {
        format!(
            "buckets by fields {:?}{}: {} classes of {} buckets under {} symmetries; each key has \
             {} fields in {} words",
            self.cut.fields,
            if self.cut.oriented { " with orientations" } else { "" },
            self.coordinate.classes(),
            self.coordinate.fine,
            self.coordinate.group.order(),
            self.layout.fields.len(),
            self.layout.words,
        )
    }

    pub fn classes_in(&self, chunk: usize) -> Range<usize> {
        let each = self.classes_per_chunk();
        chunk * each..((chunk + 1) * each).min(self.coordinate.classes())
    }

    pub fn classes_per_chunk(&self) -> usize {
        BucketSpace::classes_of_chunk(self.coordinate.classes(), self.coordinate.fine)
    }

    /// Returns the number of classes of a chunk if there are this many classes, each with this many buckets.
    pub fn classes_of_chunk(classes: usize, buckets: usize) -> usize {
        (classes / CHUNKS).clamp(1, BUCKETS.div_ceil(buckets))
    }

    pub fn chunks(&self) -> usize {
        self.coordinate.classes().div_ceil(self.classes_per_chunk())
    }

    /// Returns the number of buckets of all classes.
    pub fn all_buckets(&self) -> usize {
        self.coordinate.classes() * self.coordinate.fine
    }

    pub fn buckets(&self, chunk: usize) -> usize {
        self.classes_in(chunk).len() * self.coordinate.fine
    }

    pub fn classes_with_keys(&self, lists: &BucketLists) -> Vec<bool> {
        let (each, fine) = (self.classes_per_chunk(), self.coordinate.fine);
        let full = |class: usize| lists.chunks[class / each].count(class % each * fine, fine) > 0;
        (0..self.coordinate.classes()).map(full).collect()
    }

    /// Some classes and those that moves lead to from there, or all classes if there are many.
    pub fn targets(&self, from: &[bool]) -> Vec<bool> {
        let sources: Vec<usize> = (0..from.len()).filter(|&class| from[class]).collect();
        if sources.len() * self.moves.len() > from.len() {
            return vec![true; from.len()];
        }
        let mut targets = from.to_vec();
        let (mut row, mut after) = (Vec::new(), Vec::new());
        for class in sources {
            self.coordinate.representative(class, &mut row);
            for one in &self.forth {
                one.apply_to(&row, &mut after);
                targets[self.coordinate.class(&after).class as usize] = true;
            }
        }
        targets
    }

    /// What the fields of keys add to a state's number, if the tracked pieces have the positions in a row.
    pub fn adds(&self, row: &[u8], adds: &mut Vec<[u32; 128]>) {
        adds.clear();
        adds.extend(self.parts.iter().map(|part| {
            let mut own = self.sums[part.field];
            if part.turn {
                let tracked = self.coordinate.fields().position(|field| field == part.field);
                let at = usize::from(row[tracked.expect("a tracked piece")]);
                own.copy_within(at..at + self.coordinate.modulus(part.field), 0);
            }
            own
        }));
    }
}

/// The pairs of successive moves that are made to count a level ahead.
pub(super) struct MovePairs {
    moves: usize,
    /// For each pair, whether it leads to states that single moves, no moves and earlier pairs do not lead to.
    is_new: Vec<bool>,
    /// For each symmetry and move, the move that is the same as the symmetry, the move, and the symmetry undone.
    conjugate: Vec<usize>,
}

impl MovePairs {
    /// Maximum number of moves for which all pairs are compared with each other.
    const MOST: usize = 256;

    /// Returns the pairs of a puzzle's moves. Cost: a few microseconds for each pair and for each symmetry and move.
    pub fn new(space: &BucketSpace) -> MovePairs {
        let (moves, group) = (&space.moves, &space.coordinate.group);
        let identity = &group.maps[0];
        // If moves depend on the state, or some states are forbidden, other pairs may be impossible.
        let is_free = space.arriving.0.is_none()
            && !space.is_checked()
            && space.forbidden_tracked.is_empty()
            && moves.len() <= MovePairs::MOST;
        let mut known: HashSet<FieldMap> = moves.iter().chain([identity]).cloned().collect();
        let pairs = moves.iter().flat_map(|first| moves.iter().map(move |next| first.then(next)));
        let is_new = |both| if is_free { known.insert(both) } else { both != *identity };
        let is_new = pairs.map(is_new).collect();
        let index: HashMap<&FieldMap, usize> = moves.iter().zip(0..).collect();
        let conjugate = (group.maps.iter().zip(&group.inverse))
            .flat_map(|(map, &back)| {
                let back = &group.maps[usize::from(back)];
                moves.iter().map(move |one| map.then(one).then(back))
            })
            .map(|one| *index.get(&one).expect("a symmetry maps moves to moves"))
            .collect();
        MovePairs { moves: moves.len(), is_new, conjugate }
    }

    /// Whether it is worth while to make a first move, which is given as its image under a symmetry, and then another.
    pub fn is_new(&self, first: usize, (symmetry, next): (usize, usize)) -> bool {
        self.is_new[self.conjugate[symmetry * self.moves + first] * self.moves + next]
    }
}

/// The tracked piece on whose position moves depend, if there is one, and the moves that bring it to each position;
/// moves without such a condition may end at any position.
fn arriving_moves(of: &PuzzleRows, chosen: &[usize]) -> (Option<usize>, Vec<Vec<usize>>) {
    let all = of.puzzle.moves();
    let tracked = all.iter().find_map(|one| one.requires).and_then(|at| {
        let field = of.fields.location(at)?;
        Some((at.set, chosen.iter().position(|&other| other == field)?))
    });
    let Some((set, tracked)) = tracked else { return (None, vec![(0..all.len()).collect()]) };
    let mut moves = vec![Vec::new(); of.puzzle.sets()[usize::from(set)].positions()];
    for (index, one) in all.iter().enumerate() {
        let source = &one.transformation.0[usize::from(set)].source;
        for (position, from) in source.iter().enumerate() {
            if one.requires.is_none_or(|needed| needed.position == *from) {
                moves[position].push(index);
            }
        }
    }
    (Some(tracked), moves)
}
