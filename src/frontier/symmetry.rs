//! A puzzle as a list search sees it, and its symmetries as maps of rows.
//!
//! Invariant: the elements of a [`SymmetryGroup`] have been checked as maps of rows: each maps the sets of goals and of moves
//! to themselves. The identity comes first.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    mem,
    sync::OnceLock,
};

use num_bigint::BigUint;

use crate::{
    frontier::fields::{FieldMap, KnownMoves, StateFields},
    puzzle::{
        Move, Puzzle,
        automorphisms::mixed,
        symmetry::{PuzzleSymmetries, PuzzleSymmetry, Relabelling, SeenPuzzle, followed},
    },
};

/// Maximum number of symmetries that are used: if there are more, those that also keep some moves.
const MOST: usize = 2048;

/// About the number of symmetries of which pairs are tried as generators of a subgroup.
const MOST_TRIED: usize = 48;

/// Symmetries of a puzzle as maps of rows, of which no two have the same effect on states.
#[derive(Clone, Debug)]
pub(crate) struct SymmetryGroup {
    pub maps: Vec<FieldMap>,
    /// The index of the inverse of each symmetry.
    pub inverse: Vec<u16>,
    /// The index of "i, then j", at `i * order + j`.
    product: Vec<u16>,
    /// The number of all symmetries of the puzzle, if it is known.
    pub whole: Option<BigUint>,
}

impl SymmetryGroup {
    /// Returns the group that consists of the identity alone.
    pub fn trivial(fields: &StateFields) -> SymmetryGroup {
        let identity = FieldMap {
            source: (0..fields.fields.len()).map(|q| q as u16).collect(),
            table: fields.fields.iter().map(|f| (0..f.values).map(|v| v as u8).collect()).collect(),
        };
        let (maps, inverse, product) = (vec![identity], vec![0], vec![0]);
        SymmetryGroup { maps, inverse, product, whole: None }
    }

    /// Returns the symmetries of a puzzle; if there are more than 2048, those that also keep some moves.
    ///
    /// Cost: a tenth of a second for large puzzles, milliseconds for others.
    pub fn find(puzzle: &Puzzle, fields: &StateFields) -> SymmetryGroup {
        SymmetryGroup::with_relabellings(puzzle, fields, MOST).0
    }

    /// Returns at most so many symmetries, and the effect of each on locations and kinds.
    pub fn with_relabellings(
        puzzle: &Puzzle,
        fields: &StateFields,
        most: usize,
    ) -> (SymmetryGroup, Vec<Relabelling>) {
        let PuzzleSymmetries { order, listed } = PuzzleSymmetries::of(puzzle, most);
        let checked = KnownMoves::new(puzzle, fields);
        let of = |one: PuzzleSymmetry| {
            let map = fields
                .can_relabel(&one.relabelling)
                .then(|| fields.of_relabelling(puzzle, &one.relabelling, true))?;
            let is_symmetry = checked.agrees(&map, &one.relabelling, &one.on_moves);
            is_symmetry.then_some((one.relabelling, (map, one.effect)))
        };
        let (all, maps): (Vec<Relabelling>, Vec<_>) = listed.into_iter().filter_map(of).unzip();
        match SymmetryGroup::of(maps) {
            Some(group) => (SymmetryGroup { whole: order, ..group }, all),
            None => {
                let trivial = SymmetryGroup::trivial(fields);
                (SymmetryGroup { whole: order, ..trivial }, vec![Relabelling::identity(puzzle)])
            }
        }
    }

    /// Returns the group of these relabellings, of several with the same effect the first one; `None` if they are not a
    /// group of symmetries of the puzzle that begins with the identity.
    pub fn of_relabellings(
        puzzle: &Puzzle,
        fields: &StateFields,
        all: &[Relabelling],
    ) -> Option<(SymmetryGroup, Vec<Relabelling>)> {
        let (checked, seen) =
            (KnownMoves::new(puzzle, fields), SeenPuzzle::of(puzzle, &puzzle.goals()));
        let (mut known, mut maps, mut different) = (HashSet::new(), Vec::new(), Vec::new());
        for one in all {
            if !one.fits(puzzle) || !fields.can_relabel(one) {
                return None;
            }
            let map = fields.of_relabelling(puzzle, one, true);
            let (images, goals) = checked.images(&map, one)?;
            let effect = seen.effect(&images, &goals);
            if known.insert(effect.clone()) {
                maps.push((map, effect));
                different.push(one.clone());
            }
        }
        Some((SymmetryGroup::of(maps)?, different))
    }

    /// The group of these maps, given with their effects on states; `None` if they are not one, with the identity first.
    fn of(all: Vec<(FieldMap, Vec<u32>)>) -> Option<SymmetryGroup> {
        let (maps, effects): (Vec<FieldMap>, Vec<Vec<u32>>) = all.into_iter().unzip();
        let index: HashMap<&[u32], u16> = effects.iter().map(Vec::as_slice).zip(0..).collect();
        let is_first = effects.first()?.iter().zip(0..).all(|(&to, own)| to == own);
        if index.len() < maps.len() || !is_first {
            return None;
        }
        // All are an earlier one of `order`, then a generator.
        let mut then: Vec<Vec<u16>> = Vec::new();
        let mut order = vec![(0, 0, 0)];
        let mut known = vec![false; maps.len()];
        known[0] = true;
        for new in 1..maps.len() {
            if known[new] {
                continue;
            }
            let both = |first: &Vec<u32>| index.get(&followed(first, &effects[new])[..]).copied();
            then.push(effects.iter().map(both).collect::<Option<_>>()?);
            let mut at = 0;
            while let Some(&(from, ..)) = order.get(at) {
                for (generator, then) in then.iter().enumerate() {
                    let to = usize::from(then[from]);
                    if !mem::replace(&mut known[to], true) {
                        order.push((to, from, generator));
                    }
                }
                at += 1;
            }
        }
        let mut product = vec![0; maps.len() * maps.len()];
        for (first, both) in product.chunks_mut(maps.len()).enumerate() {
            both[0] = first as u16;
            for &(to, from, generator) in &order[1..] {
                both[to] = then[generator][usize::from(both[from])];
            }
        }
        let undoes =
            |first: &[u16]| first.iter().position(|&both| both == 0).map(|next| next as u16);
        let inverse = product.chunks(maps.len()).map(undoes).collect::<Option<_>>()?;
        Some(SymmetryGroup { maps, inverse, product, whole: None })
    }

    pub fn order(&self) -> usize {
        self.maps.len()
    }

    /// Returns the images of a row of fields, itself included, each once.
    pub fn images(&self, row: &[u8]) -> BTreeSet<Vec<u8>> {
        self.maps.iter().map(|map| map.apply(row)).collect()
    }

    /// Returns the number of the type of each value of each field, the same for those that symmetries take to each other,
    /// the first field and value of each type, and whether the maps are also a group on rows that are no states.
    pub fn value_types(&self, fields: &StateFields) -> (Vec<Vec<u32>>, Vec<(usize, usize)>, bool) {
        const NONE: u32 = u32::MAX;
        let mut types: Vec<_> =
            fields.fields.iter().map(|field| vec![NONE; field.values]).collect();
        let target = |map: &FieldMap| {
            let mut to = vec![0; map.source.len()];
            map.source.iter().enumerate().for_each(|(own, &from)| to[usize::from(from)] = own);
            to
        };
        let targets: Vec<Vec<usize>> = self.maps.iter().map(target).collect();
        let (mut firsts, mut is_group) = (Vec::new(), true);
        for field in 0..types.len() {
            for value in 0..types[field].len() {
                if types[field][value] != NONE {
                    continue;
                }
                let number = firsts.len() as u32;
                firsts.push((field, value));
                for (map, targets) in self.maps.iter().zip(&targets) {
                    let to = targets[field];
                    let own = &mut types[to][usize::from(map.table[to][value])];
                    is_group &= [NONE, number].contains(own);
                    *own = number;
                }
            }
        }
        (types, firsts, is_group)
    }

    /// Returns what each value of a field adds to a state's number, from which checksums are made: the same for values that
    /// symmetries take to each other.
    pub fn state_sums(&self, fields: &StateFields) -> Vec<Vec<u32>> {
        let add = |number: &u32| mixed(u64::from(*number) + 1) as u32 | 1;
        let (types, ..) = self.value_types(fields);
        types.iter().map(|types| types.iter().map(add).collect()).collect()
    }

    /// Returns the index of one symmetry followed by another.
    pub fn then(&self, first: u16, next: u16) -> u16 {
        self.product[usize::from(first) * self.order() + usize::from(next)]
    }

    /// Returns, of some subgroups, the one with which canonical forms take the least time. Where a state has many symmetries
    /// of its own, all of them lead to its canonical form; few do if few leave a field as it is.
    fn spread(&self) -> SymmetryGroup {
        let fields = self.maps[0].source.len() as f64;
        let stays = |map: &FieldMap| {
            let fixed = (0..map.source.len()).filter(|&q| {
                usize::from(map.source[q]) == q
                    && map.table[q].iter().zip(0..).all(|(&value, own)| value == own)
            });
            // The share of states that are left as they are, if three moves of as many places make them.
            (fixed.count() as f64 / fields).powi(3)
        };
        let stays: Vec<f64> = self.maps.iter().map(stays).collect();
        let cost = |group: &[u16]| {
            let own: f64 = group.iter().map(|&one| stays[usize::from(one)]).sum();
            own * (2.0 + own) / group.len() as f64
        };
        let all: Vec<u16> = (0..self.order() as u16).collect();
        let mut best = (cost(&all), all);
        let step = (self.order() / MOST_TRIED).max(1);
        for first in (1..self.order()).step_by(step) {
            for next in (first..self.order()).step_by(step) {
                let (mut group, mut known) = (vec![0], vec![false; self.order()]);
                known[0] = true;
                let mut at = 0;
                while let Some(&own) = group.get(at) {
                    for by in [first, next] {
                        let both = self.then(own, by as u16);
                        if !mem::replace(&mut known[usize::from(both)], true) {
                            group.push(both);
                        }
                    }
                    at += 1;
                }
                let cost = cost(&group);
                if cost < best.0 {
                    best = (cost, group);
                }
            }
        }
        best.1.sort_unstable();
        self.of_elements(&best.1)
    }

    /// The subgroup of these elements, in order.
    fn of_elements(&self, kept: &[u16]) -> SymmetryGroup {
        let mut numbers = vec![0; self.order()];
        kept.iter().zip(0u16..).for_each(|(&own, new)| numbers[usize::from(own)] = new);
        let number = |own: u16| numbers[usize::from(own)];
        let products = |&a: &u16| kept.iter().map(move |&b| self.then(a, b));
        SymmetryGroup {
            maps: kept.iter().map(|&own| self.maps[usize::from(own)].clone()).collect(),
            inverse: kept.iter().map(|&own| number(self.inverse[usize::from(own)])).collect(),
            product: kept.iter().flat_map(products).map(number).collect(),
            whole: self.whole.clone(),
        }
    }

    /// Returns the subgroup of the symmetries for which a function returns true; the identity alone if these are not a
    /// group: what keeps fields may have the same effect as a product that does not.
    pub fn subgroup(&self, keep: impl Fn(&FieldMap) -> bool) -> SymmetryGroup {
        let mut kept: Vec<u16> =
            (0..self.order() as u16).filter(|&own| keep(&self.maps[usize::from(own)])).collect();
        let mut is_kept = vec![false; self.order()];
        kept.iter().for_each(|&own| is_kept[usize::from(own)] = true);
        let is_in = |a: u16, b: u16| is_kept[usize::from(self.then(a, b))];
        if !kept.iter().all(|&a| kept.iter().all(|&b| is_in(a, b))) {
            kept.truncate(1);
        }
        self.of_elements(&kept)
    }
}

/// A puzzle whose states are rows of fields.
#[derive(Debug)]
pub(crate) struct PuzzleRows {
    pub puzzle: Puzzle,
    pub fields: StateFields,
    /// The effect of each move.
    pub moves: Vec<FieldMap>,
    pub start: Vec<u8>,
    pub goals: Vec<Vec<u8>>,
    symmetries: OnceLock<SymmetryGroup>,
    spread: OnceLock<SymmetryGroup>,
    pub(super) widths: OnceLock<Vec<f64>>,
}

impl PuzzleRows {
    pub fn of(puzzle: &Puzzle) -> PuzzleRows {
        let fields = StateFields::with_lines(puzzle);
        let map = |one: &Move| fields.of_move(puzzle, one);
        let moves = puzzle.moves().iter().map(map).collect();
        let start = fields.encode(&puzzle.solved());
        let goals = puzzle.goals().iter().map(|goal| fields.encode(goal)).collect();
        PuzzleRows {
            puzzle: puzzle.clone(),
            fields,
            moves,
            start,
            goals,
            symmetries: OnceLock::new(),
            spread: OnceLock::new(),
            widths: OnceLock::new(),
        }
    }

    /// Returns all symmetries, or the identity alone.
    pub fn symmetries(&self, all: bool) -> SymmetryGroup {
        let find = || SymmetryGroup::find(&self.puzzle, &self.fields);
        match all {
            true => self.symmetries.get_or_init(find).clone(),
            false => SymmetryGroup::trivial(&self.fields),
        }
    }

    /// Returns those under which states are made canonical: all that there are, or some of those that are known.
    pub fn canonical_symmetries(&self, all: bool) -> SymmetryGroup {
        let group = self.symmetries(all);
        match group.whole == Some(group.order().into()) || !all {
            true => group,
            false => self.spread.get_or_init(|| group.spread()).clone(),
        }
    }
}
