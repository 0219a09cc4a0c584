//! The numbers of a bucket's keys, and the context on which they depend.
//!
//! Invariant: all buckets have the same range of numbers, with [`KeyRanks::count`] elements; reachable states of a
//! bucket have distinct numbers.

use crate::{
    frontier::{
        bucket_space::BucketSpace,
        fields::{FieldKind, StateFields},
    },
    kernel::key_ranks::{KeyRanks, PieceRule, RUNS, RankContext, RunRule},
    puzzle::{orbits::OrbitPuzzle, ranking::RankGroup},
};

/// Positions that exchange pieces, as the coordinate sees them.
struct BucketGroup {
    positions: u64,
    /// The tracked pieces.
    tracked: Vec<usize>,
    /// The modulus of the sum of all orientations, and the sum.
    sum: Option<(u8, u8)>,
    /// Whether the places in the start state have an odd number of inversions.
    odd: bool,
}

/// The numbers of a bucket's keys.
pub(super) struct BucketRanks {
    pub keys: KeyRanks,
    groups: Vec<BucketGroup>,
    /// For each fine value, the sums of the orientations of a bucket's keys.
    sums: Vec<[u64; RUNS]>,
}

impl BucketRanks {
    /// Returns the numbers in a space; `None` if there are too many.
    pub fn new(
        space: &BucketSpace,
        puzzle: &OrbitPuzzle,
        fields: &StateFields,
    ) -> Option<BucketRanks> {
        let start = fields.encode(&puzzle.solved());
        let tracked: Vec<usize> = space.coordinate.fields().collect();
        let home = |f: usize| match fields.fields[f].kind {
            FieldKind::Location { .. } => start[f] / fields.fields[f].modulus as u8,
            FieldKind::Content { position } => position,
        };
        let is_in = |group: &RankGroup, f: usize| {
            fields.fields[f].orbit == group.orbit && group.positions.contains(&home(f))
        };
        let is_known = |group: &RankGroup| {
            (0..fields.fields.len()).all(|f| tracked.contains(&f) || !is_in(group, f))
        };
        let all = RankGroup::all(puzzle, is_known, |_, _| false);
        let (mut groups, mut rules) = (Vec::new(), Vec::new());
        for (index, group) in all.iter().enumerate().take(RUNS + 1) {
            let parts = space.parts.iter().enumerate();
            let own: Vec<_> = parts.filter(|(_, part)| is_in(group, part.field)).collect();
            let by_content = |f: usize| matches!(fields.fields[f].kind, FieldKind::Content { .. });
            if own.iter().any(|(_, part)| by_content(part.field)) {
                let orbit = &puzzle.orbits()[group.orbit];
                let kind_of = |&p: &u8| usize::from(orbit.solved[usize::from(p)].kind);
                let kinds = (orbit.moduli.iter().zip(&fields.first_value[group.orbit]).enumerate())
                    .map(|(kind, (&modulus, &first))| {
                        let count = group.positions.iter().filter(|p| kind_of(p) == kind).count();
                        (first.into(), modulus, count as u8)
                    })
                    .filter(|&(.., count)| count > 0)
                    .collect();
                let parts = own.iter().map(|&(part, _)| part).collect();
                let sum = group.constant_sum.map(|(_, sum)| sum);
                rules.push(RunRule::Contents { parts, kinds, sum });
                groups.push(BucketGroup { positions: 0, tracked: vec![], sum: None, odd: false });
                continue;
            }
            let mut positions = 0;
            for &position in &group.positions {
                positions |= 1u64.checked_shl(position.into())?;
            }
            let here: Vec<usize> =
                (0..tracked.len()).filter(|&t| is_in(group, tracked[t])).collect();
            let pieces = own.iter().map(|&(part, of)| {
                let modulus = fields.fields[of.field].modulus;
                PieceRule { part, modulus, turn: of.turn }
            });
            let placed = own.iter().filter(|(_, part)| !part.turn).map(|(_, part)| part.field);
            let order: Vec<usize> = here.iter().map(|&t| tracked[t]).chain(placed).collect();
            // Nothing is known about pieces that look alike.
            let is_whole = order.len() == group.positions.len();
            let sum = group.constant_sum.filter(|_| is_whole);
            let others = group.parity.as_ref().filter(|_| is_whole);
            let bits = |others: &[usize]| others.iter().fold(1 << index, |set, g| set | 1 << g);
            rules.push(RunRule::Pieces {
                pieces: pieces.collect(),
                free: group.positions.len() - here.len(),
                sum: sum.is_some(),
                parity: others.map(|(others, _)| bits(others)),
            });
            let mut free = positions;
            let odd = order.iter().fold(false, |odd, &f| odd ^ take(&mut free, home(f)));
            groups.push(BucketGroup { positions, tracked: here, sum, odd });
        }
        let sums = |fine| {
            let turns = space.coordinate.turns(fine);
            let mut sums = [0; RUNS];
            for (group, to) in groups.iter().zip(&mut sums) {
                let (modulus, sum) = group.sum.unwrap_or((1, 0));
                // Orientations that are not in the coordinate belong to the keys.
                let own = group.tracked.iter().filter(|_| !space.bound);
                let tracked: u64 = own.map(|&piece| u64::from(turns[piece])).sum();
                *to = u64::from(sum) + 256 * u64::from(modulus) - tracked % u64::from(modulus);
            }
            sums
        };
        let sums = (0..space.coordinate.fine).map(sums).collect();
        Some(BucketRanks { keys: KeyRanks::new(&space.layout, &rules)?, groups, sums })
    }

    /// Whether buckets are so large that bits are about as fast as lists.
    pub fn is_worth_while(&self) -> bool {
        self.keys.count >= 1000
    }

    /// Returns the context of the numbers of a class's keys, in its first bucket, from a row with the tracked pieces'
    /// positions.
    pub fn of_class(&self, space: &BucketSpace, row: &[u8]) -> RankContext {
        let mut context = RankContext { sum: self.sums[0], ..RankContext::default() };
        for (g, group) in self.groups.iter().enumerate() {
            let mut free = group.positions;
            let mut odd = group.odd;
            for &piece in &group.tracked {
                odd ^= take(&mut free, row[piece] / space.coordinate.modulus_of(piece) as u8);
            }
            context.free[g] = free;
            context.odd |= u16::from(odd) << g;
        }
        context
    }

    /// Returns the same for another bucket of the class.
    pub fn of_bucket(&self, class: &RankContext, fine: usize) -> RankContext {
        RankContext { sum: self.sums[fine], ..*class }
    }
}

/// Takes a position; returns whether the number of free positions before it is odd.
fn take(free: &mut u64, position: u8) -> bool {
    let bit = 1u64 << position;
    let odd = (*free & (bit - 1)).count_ones() % 2 == 1;
    *free &= !bit;
    odd
}
