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
    /// Some that generate all symmetries of the puzzle.
    generators: Vec<FieldMap>,
}

impl SymmetryGroup {
    /// Returns the group that consists of the identity alone.
    pub fn trivial(fields: &StateFields) -> SymmetryGroup {
        let identity = FieldMap {
            source: (0..fields.fields.len()).map(|q| q as u16).collect(),
            table: fields.fields.iter().map(|f| (0..f.values).map(|v| v as u8).collect()).collect(),
        };
        let (maps, inverse, product) = (vec![identity], vec![0], vec![0]);
        SymmetryGroup { maps, inverse, product, whole: None, generators: Vec::new() }
    }

    /// Returns the symmetries of a puzzle; if there are more than 2048, those that also keep some moves.
    ///
    /// Cost: a tenth of a second for large puzzles, milliseconds for others.
    pub fn find(puzzle: &Puzzle, fields: &StateFields) -> SymmetryGroup {
        SymmetryGroup::listed(puzzle, fields, (MOST, false)).0
    }

    /// Returns at most so many symmetries, spread or not, and the effect of each on locations and kinds.
    pub fn listed(
        puzzle: &Puzzle,
        fields: &StateFields,
        (most, spread): (usize, bool),
    ) -> (SymmetryGroup, Vec<Relabelling>) {
        let PuzzleSymmetries { order, listed, generators } =
            PuzzleSymmetries::of(puzzle, most, spread);
        let checked = KnownMoves::new(puzzle, fields);
        let of = |one: PuzzleSymmetry| {
            let map = fields
                .can_relabel(&one.relabelling)
                .then(|| fields.of_relabelling(puzzle, &one.relabelling, true))?;
            let is_symmetry = checked.agrees(&map, &one.relabelling, &one.on_moves);
            is_symmetry.then_some((one.relabelling, (map, one.effect)))
        };
        let known = generators.len();
        let generators = generators.into_iter().filter_map(of).map(|(_, (map, _))| map);
        let generators: Vec<FieldMap> = generators.collect();
        if spread && generators.len() < known {
            // Then checksums are those of the symmetries that also keep some moves.
            return SymmetryGroup::listed(puzzle, fields, (most, false));
        }
        let (all, maps): (Vec<Relabelling>, Vec<_>) = listed.into_iter().filter_map(of).unzip();
        let (group, all) = match SymmetryGroup::of(maps) {
            Some(group) => (group, all),
            None => (SymmetryGroup::trivial(fields), vec![Relabelling::identity(puzzle)]),
        };
        (SymmetryGroup { whole: order, generators, ..group }, all)
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
        Some(SymmetryGroup { maps, inverse, product, whole: None, generators: Vec::new() })
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
    /// any symmetries take to each other, also if the group has only some of them.
    pub fn state_sums(&self, fields: &StateFields) -> Vec<Vec<u32>> {
        let all = self.generators.iter().chain(&self.maps);
        let maps: Vec<_> = all.map(|map| (map.inverse().source, &map.table)).collect();
        let mut sums: Vec<_> = fields.fields.iter().map(|field| vec![0; field.values]).collect();
        let (mut number, mut open) = (0, Vec::new());
        for field in 0..sums.len() {
            for value in 0..sums[field].len() {
                if sums[field][value] != 0 {
                    continue;
                }
                number += 1;
                let sum = mixed(number) as u32 | 1;
                sums[field][value] = sum;
                open.push((field, value));
                while let Some((field, value)) = open.pop() {
                    for (target, tables) in &maps {
                        let to = usize::from(target[field]);
                        let image = usize::from(tables[to][value]);
                        if mem::replace(&mut sums[to][image], sum) == 0 {
                            open.push((to, image));
                        }
                    }
                }
            }
        }
        sums
    }

    /// Returns the index of one symmetry followed by another.
    pub fn then(&self, first: u16, next: u16) -> u16 {
        self.product[usize::from(first) * self.order() + usize::from(next)]
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
            generators: self.generators.clone(),
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
        self.found(all, (&self.symmetries, false), &self.spread)
    }

    /// Returns those under which states are made canonical: all that there are, or some that leave few moves as they are.
    pub fn canonical_symmetries(&self, all: bool) -> SymmetryGroup {
        self.found(all, (&self.spread, true), &self.symmetries)
    }

    /// A group that is found once. Another one that has all symmetries is the same.
    fn found(
        &self,
        all: bool,
        (own, spread): (&OnceLock<SymmetryGroup>, bool),
        other: &OnceLock<SymmetryGroup>,
    ) -> SymmetryGroup {
        let find = || {
            let is_whole = |group: &&SymmetryGroup| group.whole == Some(group.order().into());
            let known = other.get().filter(is_whole).cloned();
            known.unwrap_or_else(|| {
                SymmetryGroup::listed(&self.puzzle, &self.fields, (MOST, spread)).0
            })
        };
        match all {
            true => own.get_or_init(find).clone(),
            false => SymmetryGroup::trivial(&self.fields),
        }
    }
}
