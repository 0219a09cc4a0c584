//! The coordinate that determines the bucket of a state: where some pieces are.
//!
//! The effect of a move on the coordinate depends on the coordinate alone. It has two parts: the positions of the
//! tracked pieces (the coarse part, ranked among all placements) and their orientations (the fine part, as digits).
//! Symmetries join coarse values into **classes**; the buckets of a class are the fine values at the class's
//! representative.
//!
//! Invariant: of the buckets that symmetries take to each other, only one is kept, the **canonical** one, and its
//! weight is their number.

use std::collections::BTreeSet;

use crate::frontier::{
    fields::{FieldKind, FieldMap, StateFields},
    symmetry::{PuzzleRows, SymmetryGroup},
};

/// Maximum number of sets that have tracked pieces.
pub(crate) const MOST_ORBITS: usize = 2;

/// Maximum number of symmetries of a bucket of which conjugate ones are looked for.
pub(super) const MOST_CONJUGATED: usize = 256;

/// A tracked piece.
#[derive(Clone, Debug)]
struct TrackedPiece {
    field: usize,
    set: usize,
    /// The index of its set among those that have tracked pieces.
    slot: usize,
    /// The number of positions of its set that the preceding tracked pieces leave free.
    free: usize,
    modulus: usize,
    /// The weight of its orientation in the fine part: 0 if it follows from the others, or is left to the keys.
    weight: u32,
}

/// The class of a coarse value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassOf {
    pub class: u32,
    /// The symmetry that takes the value to the class's representative.
    pub symmetry: u16,
}

/// The canonical bucket of a fine value, in a class with symmetries of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CanonicalBucket {
    pub fine: u32,
    /// A symmetry that takes the value there.
    pub symmetry: u16,
}

/// A class with symmetries of its own.
#[derive(Clone, Debug)]
pub(crate) struct SelfSymmetric {
    /// Symmetries that fix the representative, and how many others leave as many states of a level as they are.
    pub fixing: Vec<(u16, u64)>,
    /// The canonical value of each fine value.
    pub canonical: Vec<CanonicalBucket>,
}

/// The numbering of states by where some pieces are.
#[derive(Clone, Debug)]
pub(crate) struct Coordinate {
    tracked: Vec<TrackedPiece>,
    /// The symmetries that preserve the set of tracked pieces.
    pub group: SymmetryGroup,
    /// The symmetries as maps of only the tracked fields.
    maps: Vec<FieldMap>,
    pub class_of: Vec<ClassOf>,
    /// The coarse value of each class's representative.
    pub representative: Vec<u32>,
    /// The number of coarse values of each class.
    pub members: Vec<u16>,
    pub self_symmetric: Vec<Option<Box<SelfSymmetric>>>,
    /// The number of fine values.
    pub fine: usize,
    /// For each tracked piece whose orientation follows from the others: this orientation by fine value.
    implied: Vec<(usize, Vec<u8>)>,
}

/// The numbers of coarse and fine values for a choice of fields; `None` if there are too many values or sets.
pub(crate) fn sizes(fields: &StateFields, chosen: &[usize]) -> Option<(u64, u64)> {
    let (mut coarse, mut fine) = (1u64, 1u64);
    let sets: BTreeSet<usize> = chosen.iter().map(|&f| fields.fields[f].set).collect();
    if sets.len() > MOST_ORBITS {
        return None;
    }
    for (i, &f) in chosen.iter().enumerate() {
        let field = &fields.fields[f];
        let before = chosen[..i].iter().filter(|&&e| fields.fields[e].set == field.set).count();
        let positions = field.values / field.modulus - before;
        coarse = coarse.checked_mul(positions as u64)?;
        fine = fine.checked_mul(field.modulus as u64)?;
    }
    Some((coarse, fine))
}

impl Coordinate {
    /// Returns the coordinate of these fields, which must be locations, under the symmetries that preserve them.
    ///
    /// Cost: time and 8 bytes of memory for each coarse value.
    pub fn new(
        of: &PuzzleRows,
        chosen: &[usize],
        oriented: bool,
        group: &SymmetryGroup,
    ) -> Coordinate {
        let group = group.subgroup(|map| keeps(map, chosen));
        let all = &of.fields.fields;
        let mut sets: Vec<usize> = chosen.iter().map(|&f| all[f].set).collect();
        sets.dedup();
        let mut tracked: Vec<TrackedPiece> = Vec::new();
        for &field in chosen {
            let of = &all[field];
            debug_assert!(matches!(of.kind, FieldKind::Location { .. }));
            let slot = sets.iter().position(|&set| set == of.set).unwrap_or_default();
            let before = tracked.iter().filter(|piece| piece.slot == slot).count();
            let (free, modulus) = (of.values / of.modulus - before, of.modulus);
            let (set, weight) = (of.set, 0);
            tracked.push(TrackedPiece { field, set, slot, free, modulus, weight });
        }
        let mut fine = 1;
        let mut omitted = Vec::new();
        if oriented {
            for i in 0..tracked.len() {
                if sum_is_kept(of, &tracked, i) {
                    omitted.push(i);
                } else {
                    tracked[i].weight = fine;
                    fine *= tracked[i].modulus as u32;
                }
            }
        }
        let maps = group.maps.iter().map(|map| restricted(map, chosen)).collect();
        let mut coordinate = Coordinate {
            tracked,
            group,
            maps,
            class_of: Vec::new(),
            representative: Vec::new(),
            members: Vec::new(),
            self_symmetric: Vec::new(),
            fine: fine as usize,
            implied: Vec::new(),
        };
        for i in omitted {
            coordinate.implied.push((i, coordinate.implied_turns(i, &of.start)));
        }
        coordinate.classify();
        coordinate
    }

    /// The orientation of a piece that follows from the others of its set, by fine value.
    fn implied_turns(&self, omitted: usize, start: &[u8]) -> Vec<u8> {
        let modulus = self.tracked[omitted].modulus;
        let set = self.tracked[omitted].set;
        let of_set = || self.tracked.iter().filter(|piece| piece.set == set);
        let sum: usize = of_set().map(|piece| usize::from(start[piece.field]) % modulus).sum();
        let turn = |fine: usize| {
            let digits = of_set().filter(|piece| piece.weight > 0);
            let others: usize = digits.map(|piece| fine / piece.weight as usize % modulus).sum();
            ((sum + modulus * self.tracked.len() - others) % modulus) as u8
        };
        (0..self.fine).map(turn).collect()
    }

    pub fn classes(&self) -> usize {
        self.representative.len()
    }

    pub fn fields(&self) -> impl Iterator<Item = usize> + '_ {
        self.tracked.iter().map(|piece| piece.field)
    }

    /// Returns the coarse value of a row of the tracked fields.
    fn rank(&self, row: &[u8]) -> usize {
        let mut taken = [0u128; MOST_ORBITS];
        let mut rank = 0;
        for (piece, &value) in self.tracked.iter().zip(row) {
            let position = usize::from(value) / piece.modulus;
            let taken = &mut taken[piece.slot];
            let below = (*taken & ((1 << position) - 1)).count_ones() as usize;
            rank = rank * piece.free + position - below;
            *taken |= 1 << position;
        }
        rank
    }

    /// Writes the tracked fields of a coarse value, with all pieces unturned.
    pub fn unrank(&self, coarse: usize, row: &mut Vec<u8>) {
        row.clear();
        row.resize(self.tracked.len(), 0);
        let mut rest = coarse;
        for (piece, digit) in self.tracked.iter().zip(&mut *row).rev() {
            *digit = (rest % piece.free) as u8;
            rest /= piece.free;
        }
        let mut taken = [0u128; MOST_ORBITS];
        for (piece, value) in self.tracked.iter().zip(row) {
            let taken = &mut taken[piece.slot];
            let mut free = !*taken;
            for _ in 0..*value {
                free &= free - 1;
            }
            let position = free.trailing_zeros() as usize;
            *taken |= 1 << position;
            *value = (position * piece.modulus) as u8;
        }
    }

    /// Writes the tracked fields of a class's representative.
    pub fn representative(&self, class: usize, row: &mut Vec<u8>) {
        self.unrank(self.representative[class] as usize, row);
    }

    /// Returns the coarse and the fine value of a state.
    pub fn of_state(&self, state: &[u8]) -> (usize, usize) {
        let row: Vec<u8> = self.tracked.iter().map(|piece| state[piece.field]).collect();
        let digit = |(piece, &value): (&TrackedPiece, &u8)| {
            usize::from(value) % piece.modulus * piece.weight as usize
        };
        (self.rank(&row), self.tracked.iter().zip(&row).map(digit).sum())
    }

    /// Returns the orientations of the tracked pieces that a fine value encodes.
    pub fn turns(&self, fine: usize) -> Vec<u8> {
        let turn = |piece: &TrackedPiece| match piece.weight {
            0 => 0,
            weight => (fine / weight as usize % piece.modulus) as u8,
        };
        let mut turns: Vec<u8> = self.tracked.iter().map(turn).collect();
        for (piece, by_fine) in &self.implied {
            turns[*piece] = by_fine[fine];
        }
        turns
    }

    /// Returns the number of orientations of the piece of a tracked field.
    pub fn modulus(&self, field: usize) -> usize {
        let piece = self.tracked.iter().find(|piece| piece.field == field);
        piece.expect("a tracked field").modulus
    }

    /// Returns the number of orientations of a tracked piece.
    pub fn modulus_of(&self, piece: usize) -> usize {
        self.tracked[piece].modulus
    }

    fn classify(&mut self) {
        let coarse = self.tracked.iter().map(|piece| piece.free).product();
        let (mut row, mut image) = (Vec::new(), Vec::new());
        let none = ClassOf { class: u32::MAX, symmetry: 0 };
        self.class_of = vec![none; coarse];
        for value in 0..coarse {
            if self.class_of[value].class != u32::MAX {
                continue;
            }
            let class = self.representative.len() as u32;
            self.unrank(value, &mut row);
            let mut members = 0;
            let mut stabiliser = Vec::new();
            for symmetry in 0..self.group.order() as u16 {
                self.maps[usize::from(symmetry)].apply_to(&row, &mut image);
                let image = self.rank(&image);
                if image == value {
                    stabiliser.push(symmetry);
                }
                if self.class_of[image].class == u32::MAX {
                    let back = self.group.inverse[usize::from(symmetry)];
                    self.class_of[image] = ClassOf { class, symmetry: back };
                    members += 1;
                }
            }
            self.representative.push(value as u32);
            self.members.push(members);
            let own = (stabiliser.len() > 1).then(|| self.canonical_of(&row, stabiliser));
            self.self_symmetric.push(own.map(Box::new));
        }
    }

    fn canonical_of(&self, row: &[u8], stabiliser: Vec<u16>) -> SelfSymmetric {
        let itself = (0..self.fine as u32).map(|fine| CanonicalBucket { fine, symmetry: 0 });
        let mut canonical: Vec<CanonicalBucket> = itself.collect();
        let mut images = Vec::new();
        for &symmetry in &stabiliser {
            self.fine_map(row, &self.maps[usize::from(symmetry)], &mut images);
            for (best, &fine) in canonical.iter_mut().zip(&images) {
                if fine < best.fine {
                    *best = CanonicalBucket { fine, symmetry };
                }
            }
        }
        SelfSymmetric { fixing: self.alike(&stabiliser), canonical }
    }

    /// Symmetries that stand for those of a group: if all of these fix all buckets, conjugate ones leave as many states as
    /// they are.
    fn alike(&self, of: &[u16]) -> Vec<(u16, u64)> {
        if self.fine > 1 || of.len() > MOST_CONJUGATED {
            return of.iter().map(|&symmetry| (symmetry, 1)).collect();
        }
        let (then, back) =
            (|a, b| self.group.then(a, b), |a: u16| self.group.inverse[usize::from(a)]);
        let mut alike: Vec<(u16, u64)> = Vec::new();
        for &symmetry in of {
            let conjugates = of.iter().map(|&by| then(then(back(by), symmetry), by));
            let conjugates: BTreeSet<u16> = conjugates.collect();
            if conjugates.first() == Some(&symmetry) {
                alike.push((symmetry, conjugates.len() as u64));
            }
        }
        alike
    }

    /// Writes the image of each fine value under a map of the tracked fields, at a row of positions.
    pub fn fine_map(&self, row: &[u8], map: &FieldMap, images: &mut Vec<u32>) {
        images.clear();
        images.reserve(self.fine);
        images.push(0);
        if self.fine == 1 {
            return;
        }
        // The contribution of each orientation of each piece.
        let most = self.tracked.iter().map(|piece| piece.modulus).max().unwrap_or(1);
        let mut adds = vec![0; most * self.tracked.len()];
        for ((piece, &from), table) in self.tracked.iter().zip(&map.source).zip(&map.table) {
            let from = usize::from(from);
            let (modulus, at) = (piece.modulus as u8, usize::from(row[from]));
            let turned = &table[at - at % piece.modulus..][..piece.modulus];
            for (add, value) in adds[most * from..].iter_mut().zip(turned) {
                *add = u32::from(value % modulus) * piece.weight;
            }
        }
        for (piece, adds) in self.tracked.iter().zip(adds.chunks_exact(most)) {
            if piece.weight > 0 {
                let known = images.len();
                for add in &adds[1..piece.modulus] {
                    let begin = images.len();
                    images.extend_from_within(..known);
                    images[begin..].iter_mut().for_each(|image| *image += add);
                }
                images[..known].iter_mut().for_each(|image| *image += adds[0]);
            }
        }
        for (piece, by_fine) in &self.implied {
            let adds = &adds[most * piece..][..most];
            if adds.iter().any(|&add| add > 0) {
                for (image, &turn) in images.iter_mut().zip(by_fine) {
                    *image += adds[usize::from(turn)];
                }
            }
        }
    }

    /// Returns the set and position of each tracked piece, from a row of the tracked fields.
    pub fn positions<'a>(&'a self, row: &'a [u8]) -> impl Iterator<Item = (usize, usize)> + 'a {
        let row = row.iter().map(|&value| usize::from(value));
        self.tracked.iter().zip(row).map(|(piece, value)| (piece.set, value / piece.modulus))
    }

    pub fn class(&self, row: &[u8]) -> ClassOf {
        self.class_of[self.rank(row)]
    }

    /// Returns a symmetry as a map of the tracked fields.
    pub fn map(&self, symmetry: u16) -> &FieldMap {
        &self.maps[usize::from(symmetry)]
    }

    /// Returns the canonical bucket of a class and a fine value, and the symmetry that takes the value there.
    #[inline]
    pub fn canonical(&self, class: u32, fine: u32) -> CanonicalBucket {
        match &self.self_symmetric[class as usize] {
            Some(own) => own.canonical[fine as usize],
            None => CanonicalBucket { fine, symmetry: 0 },
        }
    }
}

/// Whether a symmetry takes chosen fields to chosen fields.
pub(crate) fn keeps(map: &FieldMap, chosen: &[usize]) -> bool {
    chosen.iter().all(|&field| chosen.contains(&usize::from(map.source[field])))
}

/// A map restricted to some fields that it preserves.
pub(super) fn restricted(map: &FieldMap, chosen: &[usize]) -> FieldMap {
    let source = |&field: &usize| {
        let index = chosen.iter().position(|&other| other == usize::from(map.source[field]));
        index.expect("the map keeps the fields") as u16
    };
    FieldMap {
        source: chosen.iter().map(source).collect(),
        table: chosen.iter().map(|&field| map.table[field].clone()).collect(),
    }
}

/// Whether the orientation of a tracked piece follows from those of the preceding pieces of its set, because no move
/// changes the sum of all orientations.
fn sum_is_kept(of: &PuzzleRows, tracked: &[TrackedPiece], piece: usize) -> bool {
    let own = &tracked[piece];
    let set = &of.puzzle.sets()[own.set];
    let of_set = tracked.iter().filter(|other| other.set == own.set).count();
    let last = tracked[piece + 1..].iter().all(|other| other.set != own.set);
    let all = of.fields.fields.iter().filter(|field| field.set == own.set).count();
    own.modulus > 1
        && last
        && of_set == all
        && own.modulus == usize::from(set.orientations)
        && set.moduli.iter().all(|&modulus| usize::from(modulus) == own.modulus)
        && of.puzzle.moves().iter().all(|one| {
            let twists = one.transformation.0[own.set].twist.iter();
            twists.map(|&twist| usize::from(twist)).sum::<usize>() % own.modulus == 0
        })
}
