//! Numbers of arrangements: a perfect hash of the piece at each position and its orientation.
//!
//! Positions that exchange pieces form a **group**. A group's number has a digit for each piece that is the only one of
//! its kind: the number of free positions before its own, after the preceding pieces have taken theirs. Then, for each
//! kind with several pieces, comes the number of the set of positions that they occupy among those still free
//! (combinatorial number system); the last such kind takes the remaining positions. Then, for each piece, comes its
//! orientation, in the same order, with pieces of the same kind ordered by position. Digits that follow from the others
//! are left out: the last orientation if all orientations of a group have a constant sum, and the last choice between
//! two positions if the parity of a permutation follows from those of the preceding groups. `docs/format.md` explains
//! this for readers of files.
//!
//! Invariant: reachable arrangements have distinct numbers; [`Ranking::unrank`] is the inverse of [`Ranking::rank`].

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::{
    perm::lehmer::Below,
    puzzle::{Arrangement, PieceSet, Placed, Puzzle, PuzzleError, group::all_orbits, is_even},
};

/// Numbering of the arrangements of a puzzle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranking {
    pub groups: Vec<RankGroup>,
    pub entries: u64,
    /// The number of combinations of all digits other than the first digits: the unit in which the first digits count.
    pub rest: u64,
    solved: Arrangement,
}

/// Digits that precede all others: the places of some kinds of pieces, and possibly their orientations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FirstDigits {
    /// The kinds of each set that are among them.
    pub kinds: Vec<Vec<u8>>,
    pub turns: bool,
}

impl FirstDigits {
    fn has(&self, set: usize, kind: u8) -> bool {
        self.kinds.get(set).is_some_and(|own| own.contains(&kind))
    }
}

/// Positions of a set that exchange pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RankGroup {
    pub set: usize,
    /// The positions, in order.
    pub positions: Vec<u8>,
    /// For each kind of the set, its role in this group.
    pub role: Vec<KindRole>,
    /// Kinds with one piece, each with the weights of its place and its orientation.
    pub single: Vec<SinglePiece>,
    /// Kinds with several pieces.
    pub several: Vec<SeveralPieces>,
    /// The modulus and the value of the constant sum of all orientations; the last orientation has no digit.
    pub constant_sum: Option<(u8, u8)>,
    /// The groups whose parities add up to the parity of this one, and whether it is inverted; the last choice has no
    /// digit.
    pub parity: Option<(Vec<usize>, bool)>,
}

/// The role of a kind of piece in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KindRole {
    Elsewhere,
    Single(u8),
    Several(u8),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SinglePiece {
    pub kind: u8,
    pub modulus: u8,
    pub place: u64,
    pub turn: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeveralPieces {
    pub kind: u8,
    pub count: usize,
    pub modulus: u8,
    /// Weight of the set of positions, 0 for the last kind; and weight of each piece's orientation, by position.
    pub place: u64,
    pub turns: Vec<u64>,
}

impl Ranking {
    /// Returns the numbering of a puzzle's arrangements, at most 2^62 of them. Cost: moves times positions.
    pub fn new(puzzle: &Puzzle) -> Result<Ranking, PuzzleError> {
        Ranking::with_first(puzzle, &FirstDigits::default())
    }

    /// Returns a numbering in which some digits precede all others.
    pub fn with_first(puzzle: &Puzzle, first: &FirstDigits) -> Result<Ranking, PuzzleError> {
        let is_first = |set, kind| first.has(set, kind);
        let is_known = |group: &RankGroup| {
            let mut single = group.single.iter().peekable();
            single.peek().is_some() && single.all(|piece| is_first(group.set, piece.kind))
        };
        let mut groups = RankGroup::all(puzzle, is_known, is_first);
        let (mut entries, mut rest) = (1u64, 1);
        // Whether a digit is one of the first, the number of its values (none if it follows from others), and its
        // weight.
        let mut digits: Vec<(bool, u64, &mut u64)> = Vec::new();
        for RankGroup { set, positions, single, several, constant_sum, parity, .. } in &mut groups {
            let (mut free, mut turns) = (positions.len(), Vec::new());
            let (singles, last) = (single.len(), several.len().wrapping_sub(1));
            for (i, piece) in single.iter_mut().enumerate() {
                let (is_first, modulus) = (is_first(*set, piece.kind), piece.modulus.into());
                let follows = parity.is_some() && i + 2 == singles;
                let places = if follows { 0 } else { free as u64 };
                digits.push((is_first, places, &mut piece.place));
                turns.push((is_first && first.turns, modulus, &mut piece.turn));
                free -= 1;
            }
            for (i, kind) in several.iter_mut().enumerate() {
                let (is_first, modulus) = (is_first(*set, kind.kind), kind.modulus.into());
                let sets = if i == last { 0 } else { BINOMIALS[free][kind.count] };
                digits.push((is_first, sets, &mut kind.place));
                let weights = kind.turns.iter_mut();
                turns.extend(weights.map(|own| (is_first && first.turns, modulus, own)));
                free -= kind.count;
            }
            if let (Some(_), Some(turn)) = (constant_sum, turns.last_mut()) {
                turn.1 = 0;
            }
            digits.append(&mut turns);
        }
        digits.sort_by_key(|&(is_first, ..)| !is_first);
        // The last digit counts in ones.
        for (is_first, values, weight) in digits.into_iter().rev() {
            if values > 0 {
                *weight = entries;
                entries = entries.saturating_mul(values);
            }
            rest = if is_first { rest } else { entries };
        }
        if entries > 1 << 62 {
            return Err(PuzzleError::many_states(puzzle));
        }
        Ok(Ranking { groups, entries, rest, solved: puzzle.solved() })
    }

    /// Returns the numbering by the first digits alone, or by the other digits alone.
    pub fn part(&self, is_first: bool) -> Ranking {
        let mut part = self.clone();
        part.entries = if is_first { self.entries / self.rest } else { self.rest };
        for group in &mut part.groups {
            group.weights().for_each(|weight| {
                *weight = match (*weight >= self.rest, is_first) {
                    (true, true) => *weight / self.rest,
                    (false, false) => *weight,
                    _ => 0,
                }
            });
        }
        part
    }

    /// Returns the number of a reachable arrangement.
    pub fn rank(&self, arrangement: &Arrangement) -> u64 {
        let of = |group: &RankGroup| {
            let row = &arrangement.0[group.set];
            group.rank(|index| row[usize::from(group.positions[index])])
        };
        self.groups.iter().map(of).sum()
    }

    /// Returns the arrangement with a number.
    ///
    /// # Panics
    /// If the number is not below [`Ranking::entries`].
    pub fn unrank(&self, number: u64) -> Arrangement {
        assert!(number < self.entries, "{number} is not the number of an arrangement");
        let digit = |weight: u64, values: usize| number / weight % values as u64;
        let mut arrangement = self.solved.clone();
        let mut odd = Vec::new();
        for group in &self.groups {
            let mut free: Vec<u8> = group.positions.clone();
            let mut places: Vec<(u8, u8, u8)> = Vec::new();
            let mut inversions = 0;
            for (i, piece) in group.single.iter().enumerate() {
                let at = match (&group.parity, piece.place) {
                    (Some((others, flip)), 0) if i + 2 == group.single.len() => {
                        let wanted = others.iter().fold(*flip, |odd_one, &g| odd_one ^ odd[g]);
                        usize::from(wanted != (inversions % 2 == 1))
                    }
                    (_, weight) => digit(weight, free.len()) as usize,
                };
                inversions += at;
                places.push((free.remove(at), piece.kind, piece.modulus));
            }
            odd.push(inversions % 2 == 1);
            for (i, kind) in group.several.iter().enumerate() {
                let sets = BINOMIALS[free.len()][kind.count] as usize;
                let set = match i + 1 == group.several.len() {
                    true => (0..free.len()).collect(),
                    false => combination(digit(kind.place, sets), kind.count),
                };
                places.extend(set.iter().map(|&at| (free[at], kind.kind, kind.modulus)));
                for &at in set.iter().rev() {
                    free.remove(at);
                }
            }
            let mut sum = 0;
            for (place, weight) in places.iter().zip(group.turn_weights()) {
                let &(position, kind, modulus) = place;
                let turn = match (group.constant_sum, weight) {
                    (Some((modulus, all)), 0) => {
                        ((u64::from(all) + u64::from(modulus) * 128 - sum) % u64::from(modulus))
                            as u8
                    }
                    (_, weight) if modulus > 1 => digit(weight, modulus.into()) as u8,
                    _ => 0,
                };
                sum += u64::from(turn);
                arrangement.0[group.set][usize::from(position)] = Placed { kind, turn };
            }
        }
        arrangement
    }
}

impl RankGroup {
    /// Returns the groups of a puzzle without weights. Groups from which parities are known come first, and, within
    /// each group, kinds whose digits are first digits.
    pub fn all(
        puzzle: &Puzzle,
        is_known: impl Fn(&RankGroup) -> bool,
        is_first: impl Fn(usize, u8) -> bool,
    ) -> Vec<RankGroup> {
        let mut groups = groups(puzzle);
        for group in &mut groups {
            let RankGroup { set, single, several, role, .. } = group;
            single.sort_by_key(|piece| !is_first(*set, piece.kind));
            several.sort_by_key(|kind| !is_first(*set, kind.kind));
            for (i, piece) in (0..).zip(single) {
                role[usize::from(piece.kind)] = KindRole::Single(i);
            }
            for (i, kind) in (0..).zip(several) {
                role[usize::from(kind.kind)] = KindRole::Several(i);
            }
        }
        groups.sort_by_key(|group| !is_known(group));
        link_parities(puzzle, &mut groups);
        groups
    }

    /// The contribution of a group to a number, given the piece at each of its positions.
    #[inline]
    pub fn rank(&self, at: impl Fn(usize) -> Placed) -> u64 {
        match self.positions.len() {
            0..=Below::MAX => self.rank_of::<{ Below::MAX }>(at),
            _ => self.rank_of::<128>(at),
        }
    }

    /// The same for at most `MOST` positions: arrays of this length are cleared.
    #[inline]
    fn rank_of<const MOST: usize>(&self, at: impl Fn(usize) -> Placed) -> u64 {
        let mut place = [0u8; MOST];
        let mut turn = [0u8; MOST];
        let mut sets = [0u128; MOST];
        for index in 0..self.positions.len() {
            let piece = at(index);
            turn[index] = piece.turn;
            match self.role[usize::from(piece.kind)] {
                KindRole::Single(i) => place[usize::from(i)] = index as u8,
                KindRole::Several(i) => sets[usize::from(i)] |= 1 << index,
                KindRole::Elsewhere => {}
            }
        }
        let mut free = FreePlaces::<MOST> { few: Below::all(), taken: 0 };
        let mut number = 0;
        for (&place, piece) in place.iter().zip(&self.single) {
            number += free.below(place) * piece.place;
            number += u64::from(turn[usize::from(place)]) * piece.turn;
            free.take(place);
        }
        for (&set, kind) in sets.iter().zip(&self.several) {
            let (mut left, numbers) = (set, &**BINOMIALS);
            for (nth, weight) in kind.turns.iter().enumerate() {
                let index = left.trailing_zeros() as u8;
                left &= left.wrapping_sub(1);
                // An unreachable arrangement may have fewer.
                let Some(&turn) = turn.get(usize::from(index)) else { break };
                if kind.place > 0 {
                    number += numbers[free.below(index) as usize][nth + 1] * kind.place;
                }
                number += u64::from(turn) * weight;
            }
            let mut left = set;
            while left != 0 {
                free.take(left.trailing_zeros() as u8);
                left &= left - 1;
            }
        }
        number
    }

    /// All weights.
    fn weights(&mut self) -> impl Iterator<Item = &mut u64> {
        let single = self.single.iter_mut().flat_map(|piece| [&mut piece.place, &mut piece.turn]);
        let several = self.several.iter_mut();
        single.chain(several.flat_map(|kind| kind.turns.iter_mut().chain([&mut kind.place])))
    }

    /// Returns the weights of its digits.
    pub fn digits(&self) -> Vec<u64> {
        self.clone().weights().map(|weight| *weight).filter(|&weight| weight > 0).collect()
    }

    /// The weights of all orientations, in the order of the pieces.
    fn turn_weights(&self) -> impl Iterator<Item = u64> + '_ {
        let several = self.several.iter().flat_map(|kind| kind.turns.iter().copied());
        self.single.iter().map(|piece| piece.turn).chain(several)
    }
}

/// Counts the free places below each of at most `MOST` places.
struct FreePlaces<const MOST: usize> {
    few: Below,
    taken: u128,
}

impl<const MOST: usize> FreePlaces<MOST> {
    #[inline(always)]
    fn below(&self, place: u8) -> u64 {
        match MOST {
            0..=Below::MAX => self.few.below(place),
            _ => u64::from(place) - u64::from((self.taken & ((1 << place) - 1)).count_ones()),
        }
    }

    #[inline(always)]
    fn take(&mut self, place: u8) {
        match MOST {
            0..=Below::MAX => _ = self.few.take(place),
            _ => self.taken |= 1 << place,
        }
    }
}

/// Numbers of sets: k of n things, or the largest number if the result exceeds 64 bits. They are computed at the first
/// use, because they would be 130 KB of the program.
static BINOMIALS: LazyLock<Box<[[u64; 129]]>> = LazyLock::new(|| {
    let mut sets = vec![[0u64; 129]; 129];
    for n in 0..129 {
        sets[n][0] = 1;
        for k in 1..=n {
            sets[n][k] = sets[n - 1][k - 1].saturating_add(sets[n - 1][k]);
        }
    }
    sets.into()
});

/// The set of k numbers with a given number in the combinatorial number system, in order.
fn combination(mut number: u64, k: usize) -> Vec<usize> {
    let mut set = Vec::new();
    for nth in (1..=k).rev() {
        let mut top = nth - 1;
        while BINOMIALS[top + 1][nth] <= number {
            top += 1;
        }
        number -= BINOMIALS[top][nth];
        set.push(top);
    }
    set.reverse();
    set
}

/// The groups of a puzzle, without weights and roles.
fn groups(puzzle: &Puzzle) -> Vec<RankGroup> {
    let mut groups = Vec::new();
    for (index, set) in puzzle.sets().iter().enumerate() {
        let turns = || puzzle.moves().iter().map(|one| &one.transformation.0[index]);
        let sources: Vec<&[u8]> = turns().map(|turn| &turn.source[..]).collect();
        let moves =
            |&p: &usize| turns().any(|turn| usize::from(turn.source[p]) != p || turn.twist[p] != 0);
        for positions in all_orbits(set.positions(), &sources) {
            if positions.iter().any(moves) {
                let positions = positions.into_iter().map(|p| p as u8).collect();
                groups.push(group(puzzle, index, set, positions));
            }
        }
    }
    groups
}

fn group(puzzle: &Puzzle, index: usize, set: &PieceSet, positions: Vec<u8>) -> RankGroup {
    let home = |&p: &u8| set.solved[usize::from(p)];
    let role = vec![KindRole::Elsewhere; set.moduli.len()];
    let (mut single, mut several) = (Vec::new(), Vec::new());
    for (kind, &modulus) in (0..).zip(&set.moduli) {
        let count = positions.iter().filter(|p| home(p).kind == kind).count();
        let (place, turn) = (0, 0);
        if count == 1 {
            single.push(SinglePiece { kind, modulus, place, turn });
        } else if count > 1 {
            several.push(SeveralPieces { kind, count, modulus, place, turns: vec![0; count] });
        }
    }
    let modulus = set.moduli[usize::from(home(&positions[0]).kind)];
    let alike = positions.iter().all(|p| set.moduli[usize::from(home(p).kind)] == modulus);
    let sum = |turns: &mut dyn Iterator<Item = u8>| {
        (turns.map(u64::from).sum::<u64>() % u64::from(modulus)) as u8
    };
    let keeps = puzzle.moves().iter().all(|one| {
        let twist = &one.transformation.0[index].twist;
        sum(&mut positions.iter().map(|&p| twist[usize::from(p)])) == 0
    });
    let all = sum(&mut positions.iter().map(|p| home(p).turn));
    let constant_sum = (modulus > 1 && alike && keeps).then_some((modulus, all));
    RankGroup { set: index, positions, role, single, several, constant_sum, parity: None }
}

/// Finds the groups whose parity follows from the parities of preceding groups.
fn link_parities(puzzle: &Puzzle, groups: &mut [RankGroup]) {
    // For each independent group, the moves that are odd in it, and the groups of which it consists.
    let mut known: Vec<(Vec<bool>, Vec<usize>)> = Vec::new();
    for g in 0..groups.len() {
        let group = &groups[g];
        if !group.several.is_empty() || group.single.len() < 2 {
            continue;
        }
        let odd_move = |source: &[u8]| {
            let index = |p: u8| group.positions.iter().position(|&q| q == p);
            let at: Vec<_> =
                group.positions.iter().map(|&p| index(source[usize::from(p)])).collect();
            !is_even(&at)
        };
        let mut odd: Vec<bool> = puzzle
            .moves()
            .iter()
            .map(|one| odd_move(&one.transformation.0[group.set].source))
            .collect();
        let mut made = vec![g];
        for (other, theirs) in &known {
            let lead = other.iter().position(|&odd| odd);
            if lead.is_some_and(|lead| odd[lead]) {
                odd.iter_mut().zip(other).for_each(|(odd, other)| *odd ^= other);
                made.extend(theirs);
            }
        }
        if odd.contains(&true) {
            known.push((odd, made));
            continue;
        }
        made.sort_unstable();
        // A group that occurs twice cancels out.
        let others: Vec<usize> =
            (0..g).filter(|o| made.iter().filter(|m| *m == o).count() % 2 == 1).collect();
        let solved = |g: usize| {
            let group = &groups[g];
            let row = &puzzle.sets()[group.set].solved;
            let home = |piece: &SinglePiece| {
                group.positions.iter().position(|&p| row[usize::from(p)].kind == piece.kind)
            };
            !is_even(&group.single.iter().map(home).collect::<Vec<_>>())
        };
        let flip = others.iter().fold(solved(g), |odd, &other| odd ^ solved(other));
        groups[g].parity = Some((others, flip));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        puzzle::named::{part, whole},
        random::SplitMix64,
    };

    /// Makes a random walk and returns the number of distinct numbers that occurred.
    fn walk(puzzle: &Puzzle, steps: usize) -> usize {
        let ranking = Ranking::new(puzzle).unwrap();
        let mut random = SplitMix64::new(7);
        let mut at = puzzle.solved();
        let mut seen = std::collections::HashMap::new();
        for _ in 0..steps {
            let number = ranking.rank(&at);
            assert!(number < ranking.entries);
            assert_eq!(ranking.unrank(number), at, "{puzzle} {number}");
            assert_eq!(*seen.entry(number).or_insert_with(|| at.clone()), at);
            let moves = puzzle.moves().len() as u64;
            at = puzzle.moved(&at, (random.draw() % moves) as usize).unwrap_or(at);
        }
        seen.len()
    }

    #[test]
    fn numbers_are_unranked_and_there_are_as_many_as_states() {
        let corners = part("3x3x3", &["corners"]);
        let turned = corners.clone().alike(&["corners".into()]).unwrap();
        let edges = part("3x3x3", &["edges"]);
        let slice = edges.alike(&["edges:1-4".into(), "edges:5-12".into()]).unwrap();
        for (puzzle, entries) in [
            (whole("2x2x2"), 3_674_160),
            (corners, 88_179_840),
            (turned, 2187),
            (part("3x3x3", &["edges:1-7"]), 510_935_040),
            (part("3x3x3", &["corners:1-2", "edges:1"]), 12_096),
            (slice, 1_013_760),
            (whole("pyraminx"), 933_120),
            // The parities of corners are even; the orientations of the moving ones depend on those of the others.
            (whole("skewb"), 9_447_840 * 4 / 4),
            (whole("dino"), 239_500_800),
        ] {
            assert_eq!(Ranking::new(&puzzle).unwrap().entries, entries, "{puzzle}");
            assert!(walk(&puzzle, 3000) > 1000, "{puzzle}");
        }
        // Half of all combinations: the parities of corners and edges are linked.
        let cube = part("3x3x3", &["corners:1-8", "edges"]);
        let cube = cube.unoriented(&["corners".into(), "edges".into()]);
        assert_eq!(Ranking::new(&cube.unwrap()).unwrap().entries, 40320 * 479_001_600 / 2);
        assert!(Ranking::new(&whole("4x4x4")).is_err());
    }
}
