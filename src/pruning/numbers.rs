//! The numbers of a table's entries: one for each arrangement, or one for each set of symmetric arrangements.
//!
//! Up to symmetry, a number has two parts. The **coordinate** describes where some pieces are, and possibly their
//! orientations: those of its values that symmetries take to each other form a class, represented by the smallest of
//! them. The rest of an arrangement is taken from its image under the symmetry that takes its coordinate to the
//! smallest value.
//!
//! Invariant: symmetric arrangements whose coordinates have no symmetry of their own have the same number; arrangements
//! with the same number are symmetric.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    Error,
    frontier::{FieldMap, StateFields, SymmetryGroup},
    progress::{Progress, go_on},
    pruning::row_rank::{PieceMap, RowRank},
    puzzle::{
        Arrangement, Puzzle, PuzzleError,
        ranking::{FirstDigits, KindRole, RankGroup, Ranking},
        symmetry::Relabelling,
    },
};

/// Maximum number of values of a coordinate: two bytes of cache for each.
const MOST_VALUES: u64 = 1 << 21;
/// A coordinate with at most this number of entries, in percent of the states up to symmetry, is good enough.
const ENOUGH: u64 = 110;
/// Maximum number of symmetry-invariant sets of kinds for which all unions are tried.
const MOST_SETS: usize = 10;
/// Number of bits of a symmetry's index, stored next to its class.
const SYMMETRY: u32 = 8;

/// The numbers of a table's entries.
#[derive(Clone, Debug)]
pub(crate) struct TableNumbers {
    pub entries: u64,
    ranking: Ranking,
    reduction: Option<Box<Reduction>>,
}

/// A coordinate in which one value represents all values symmetric to it.
#[derive(Clone, Debug)]
struct Reduction {
    relabellings: Vec<Relabelling>,
    group: SymmetryGroup,
    first: FirstDigits,
    /// For each value its class, and in the low bits the first symmetry that takes it to the smallest value there.
    class_of: Arc<Vec<u32>>,
    /// For each class the smallest value, the symmetries that preserve it, and the number of values.
    least: Vec<u32>,
    keeping: Vec<Vec<u8>>,
    members: Vec<u16>,
}

/// The description of a coordinate in a file, as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReductionJson {
    coordinate: FirstDigits,
    symmetries: Vec<Relabelling>,
    least: Vec<u32>,
}

impl TableNumbers {
    /// The numbering of all arrangements of a puzzle.
    pub fn all(puzzle: &Puzzle) -> Result<TableNumbers, PuzzleError> {
        let ranking = Ranking::new(puzzle)?;
        Ok(TableNumbers { entries: ranking.entries, ranking, reduction: None })
    }

    /// The numbering up to symmetry with the fewest numbers; `None` if symmetries do not reduce them. An observer may
    /// stop the work between any two of up to 2048 candidates, which take up to 0.1 s each.
    pub fn up_to_symmetry(
        puzzle: &Puzzle,
        progress: &dyn Progress,
    ) -> Result<Option<TableNumbers>, Error> {
        let plain = Ranking::new(puzzle)?;
        let (group, relabellings) =
            SymmetryGroup::listed(puzzle, &StateFields::of(puzzle), (1 << SYMMETRY, false));
        if group.order() < 2 {
            return Ok(None);
        }
        let enough = plain.entries / group.order() as u64 * ENOUGH / 100;
        let mut candidates: Vec<(u64, FirstDigits, Ranking)> = Vec::new();
        for first in coordinates(puzzle, &plain, &relabellings) {
            go_on(progress)?;
            let ranking = Ranking::with_first(puzzle, &first)?;
            let values = ranking.entries / ranking.rest;
            let is_new = candidates.iter().all(|(.., other)| *other != ranking);
            if is_new && (2..=MOST_VALUES).contains(&values) && is_alone(&ranking, &first) {
                candidates.push((values, first, ranking));
            }
        }
        candidates.sort_by_key(|(values, ..)| *values);
        let mut best: Option<TableNumbers> = None;
        for (_, first, ranking) in candidates {
            if best.as_ref().is_some_and(|best| best.entries <= enough) {
                break;
            }
            go_on(progress)?;
            let symmetries = (group.clone(), relabellings.clone());
            let numbers = TableNumbers::reduced(puzzle, ranking, first, symmetries);
            if numbers.entries < best.as_ref().map_or(plain.entries, |best| best.entries) {
                best = Some(numbers);
            }
        }
        Ok(best)
    }

    /// Returns the numbering that [`TableNumbers::to_json`] has written, or `None` for any other text. An empty text
    /// stands for the numbering of all arrangements.
    pub fn of_json(puzzle: &Puzzle, text: &str) -> Option<TableNumbers> {
        if text.is_empty() {
            return TableNumbers::all(puzzle).ok();
        }
        let ReductionJson { coordinate, symmetries, least } = serde_json::from_str(text).ok()?;
        let (group, symmetries) =
            SymmetryGroup::of_relabellings(puzzle, &StateFields::of(puzzle), &symmetries)?;
        let ranking = Ranking::with_first(puzzle, &coordinate).ok()?;
        let values = ranking.entries / ranking.rest;
        let small = values <= MOST_VALUES && group.order() <= 1 << SYMMETRY;
        if !small || !is_alone(&ranking, &coordinate) {
            return None;
        }
        let numbers = TableNumbers::reduced(puzzle, ranking, coordinate, (group, symmetries));
        Some(numbers).filter(|own| own.reduction.as_ref().is_some_and(|of| of.least == least))
    }

    fn reduced(
        puzzle: &Puzzle,
        ranking: Ranking,
        first: FirstDigits,
        symmetries: (SymmetryGroup, Vec<Relabelling>),
    ) -> TableNumbers {
        let reduction = Reduction::new(puzzle, &ranking, first, symmetries);
        let entries = reduction.least.len() as u64 * ranking.rest;
        TableNumbers { entries, ranking, reduction: Some(Box::new(reduction)) }
    }

    /// The description of the numbering, apart from the puzzle, for a file.
    pub fn to_json(&self) -> String {
        let Some(of) = &self.reduction else { return String::new() };
        let (coordinate, symmetries) = (of.first.clone(), of.relabellings.clone());
        let json = ReductionJson { coordinate, symmetries, least: of.least.clone() };
        serde_json::to_string(&json).expect("numbers have a JSON form")
    }

    /// Returns the ranking if every arrangement has its own number.
    pub fn plain(&self) -> Option<&Ranking> {
        self.reduction.is_none().then_some(&self.ranking)
    }

    /// Returns the number of entries with the same first digits, and the ranking; `None` if there is only one such row.
    pub fn rows(&self) -> Option<(u64, &Ranking)> {
        let first =
            self.ranking.groups.iter().map(RankGroup::digits).find(|all| !all.is_empty())?;
        let length = match self.reduction {
            Some(_) => self.ranking.rest,
            None => first.into_iter().min()?,
        };
        (length > 1).then_some((length, &self.ranking))
    }

    pub fn symmetries(&self) -> usize {
        self.reduction.as_deref().map_or(1, |of| of.group.order())
    }

    /// Returns the number of a reachable arrangement; for another one, it may be the number of none.
    pub fn rank(&self, puzzle: &Puzzle, state: &Arrangement) -> u64 {
        let rank = self.ranking.rank(state);
        let (Some(of), rest) = (&self.reduction, self.ranking.rest) else { return rank };
        let Some(found) = of.class_of.get((rank / rest) as usize) else { return u64::MAX };
        let (class, symmetry) = class_in(*found);
        let image = of.relabellings[symmetry].arrangement(puzzle, state);
        class * rest + self.ranking.rank(&image) % rest
    }

    /// An arrangement with a number below `entries`.
    pub fn unrank(&self, number: u64) -> Arrangement {
        let (Some(of), rest) = (&self.reduction, self.ranking.rest) else {
            return self.ranking.unrank(number);
        };
        self.ranking.unrank(u64::from(of.least[(number / rest) as usize]) * rest + number % rest)
    }

    /// Returns the number of arrangements that share an entry.
    pub fn arrangements(&self, number: u64) -> u64 {
        let members = |of: &Reduction| of.members[(number / self.ranking.rest) as usize].into();
        self.reduction.as_deref().map_or(1, members)
    }

    /// How rows of a puzzle are numbered through a symmetry; `own` is the table's puzzle, a projection.
    pub fn of_rows(
        &self,
        (puzzle, fields): (&Puzzle, &StateFields),
        own: &Puzzle,
        map: &PieceMap,
        symmetry: &FieldMap,
    ) -> TableRank {
        let rank = |ranking: &Ranking, image: Option<&Relabelling>| {
            RowRank::new((puzzle, fields), (own, ranking), map, (symmetry, image))
        };
        let Some(of) = &self.reduction else { return TableRank::Whole(rank(&self.ranking, None)) };
        let (coordinate, rest) = (self.ranking.part(true), self.ranking.part(false));
        TableRank::Reduced {
            coordinate: rank(&coordinate, None),
            rests: of.relabellings.iter().map(|image| rank(&rest, Some(image))).collect(),
            class_of: of.class_of.clone(),
            rest: rest.entries,
        }
    }

    /// Returns how the rows of a state's images are numbered, where one image is written for each entry.
    pub fn images(&self, puzzle: &Puzzle, maps: &[FieldMap]) -> RowImages<'_> {
        let fields = StateFields::of(puzzle);
        let own = PieceMap::new(puzzle, puzzle).expect("a puzzle is its own projection");
        let rank = |map: &FieldMap| self.of_rows((puzzle, &fields), puzzle, &own, map);
        // Up to symmetry, the rests of the images follow from that of one image.
        let maps = if self.reduction.is_some() { &maps[..1] } else { maps };
        RowImages { ranks: maps.iter().map(rank).collect(), reduction: self.reduction.as_deref() }
    }
}

/// The class of a value of a coordinate, and the symmetry that takes it to the smallest one: see `Reduction::class_of`.
#[inline(always)]
fn class_in(found: u32) -> (u64, usize) {
    (u64::from(found >> SYMMETRY), (found & ((1 << SYMMETRY) - 1)) as usize)
}

/// Computes the number of a row's entry.
#[derive(Clone, Debug)]
pub(crate) enum TableRank {
    Whole(RowRank),
    /// The coordinate's value; for each symmetry, the number of the rest of the image.
    Reduced {
        coordinate: RowRank,
        rests: Vec<RowRank>,
        class_of: Arc<Vec<u32>>,
        rest: u64,
    },
}

impl TableRank {
    #[inline]
    pub fn rank(&self, row: &[u8]) -> u64 {
        match self {
            TableRank::Whole(rank) => rank.rank(row),
            TableRank::Reduced { coordinate, rests, class_of, rest } => {
                let (class, symmetry) = class_in(class_of[coordinate.rank(row) as usize]);
                class * rest + rests[symmetry].rank(row)
            }
        }
    }

    fn each_field(&mut self, mut each: impl FnMut(&mut usize)) {
        match self {
            TableRank::Whole(rank) => rank.each_field(each),
            TableRank::Reduced { coordinate, rests, .. } => {
                coordinate.each_field(&mut each);
                rests.iter_mut().for_each(|rest| rest.each_field(&mut each));
            }
        }
    }

    /// Returns the fields that are read; the same field may occur several times.
    pub fn fields(&self) -> Vec<usize> {
        let mut fields = Vec::new();
        self.clone().each_field(|field| fields.push(*field));
        fields
    }

    /// Returns the same for rows whose fields are shifted by this number of places.
    pub fn shifted(&self, by: usize) -> TableRank {
        let mut shifted = self.clone();
        shifted.each_field(|field| *field += by);
        shifted
    }
}

/// The entries of a row and of its images under all symmetries.
pub(crate) struct RowImages<'n> {
    ranks: Vec<TableRank>,
    reduction: Option<&'n Reduction>,
}

impl RowImages<'_> {
    /// Returns the maximum number of entries for a row.
    pub fn most(&self) -> usize {
        self.reduction.map_or(self.ranks.len(), |of| of.group.order())
    }

    /// Returns the number of a row's entry.
    #[inline]
    pub fn number(&self, row: &[u8]) -> u64 {
        self.ranks[0].rank(row)
    }

    /// Calls a function with the number of each entry and the symmetry that leads to it.
    #[inline]
    pub fn each(&self, row: &[u8], mut call: impl FnMut(u64, u16)) {
        for (rank, own) in self.ranks.iter().zip(0..) {
            let (TableRank::Reduced { coordinate, rests, class_of, rest }, Some(of)) =
                (rank, self.reduction)
            else {
                call(rank.rank(row), own);
                continue;
            };
            let (class, symmetry) = class_in(class_of[coordinate.rank(row) as usize]);
            // Symmetries that preserve the smallest value produce other entries of its class.
            for &next in &of.keeping[class as usize] {
                let both = of.group.then(symmetry as u16, next.into());
                call(class * rest + rests[usize::from(both)].rank(row), both);
            }
        }
    }
}

impl Reduction {
    /// Determines the classes of a coordinate. Cost: one number for each value and symmetry, about 50 ns each.
    fn new(
        puzzle: &Puzzle,
        ranking: &Ranking,
        first: FirstDigits,
        (group, relabellings): (SymmetryGroup, Vec<Relabelling>),
    ) -> Reduction {
        let fields = StateFields::of(puzzle);
        let coordinate = ranking.part(true);
        let ranks = own_ranks((puzzle, &fields), &coordinate, &group);
        let mut class_of = vec![u32::MAX; coordinate.entries as usize];
        let (mut least, mut keeping, mut members) = (Vec::new(), Vec::new(), Vec::new());
        for value in 0..coordinate.entries {
            if class_of[value as usize] != u32::MAX {
                continue;
            }
            let row = fields.encode(&ranking.unrank(value * ranking.rest));
            let class = (least.len() as u32) << SYMMETRY;
            let (mut keep, mut found) = (Vec::new(), 0);
            for (symmetry, (rank, &back)) in (0..).zip(ranks.iter().zip(&group.inverse)) {
                let image = rank.rank(&row);
                if image == value {
                    keep.push(symmetry);
                }
                let known = &mut class_of[image as usize];
                found += u16::from(*known == u32::MAX);
                *known = (*known).min(class | u32::from(back));
            }
            least.push(value as u32);
            keeping.push(keep);
            members.push(found);
        }
        let class_of = Arc::new(class_of);
        Reduction { relabellings, group, first, class_of, least, keeping, members }
    }
}

/// How a puzzle's own rows are numbered through each symmetry.
fn own_ranks(
    (puzzle, fields): (&Puzzle, &StateFields),
    ranking: &Ranking,
    group: &SymmetryGroup,
) -> Vec<RowRank> {
    let own = PieceMap::new(puzzle, puzzle).expect("a puzzle is its own projection");
    let rank = |map| RowRank::new((puzzle, fields), (puzzle, ranking), &own, (map, None));
    group.maps.iter().map(rank).collect()
}

/// Digits that symmetries may exchange: those of unions of invariant sets of kinds.
fn coordinates(puzzle: &Puzzle, plain: &Ranking, relabellings: &[Relabelling]) -> Vec<FirstDigits> {
    let mut sets: Vec<BTreeSet<(usize, u8)>> = Vec::new();
    for group in &plain.groups {
        for (kind, role) in (0..).zip(&group.role) {
            let one = (group.set, kind);
            if *role == KindRole::Elsewhere || sets.iter().flatten().any(|other| *other == one) {
                continue;
            }
            let image =
                |of: &Relabelling| (of.set[group.set], of.kind[group.set][usize::from(kind)].0);
            sets.push(relabellings.iter().map(image).collect());
        }
    }
    let few = sets.len() <= MOST_SETS;
    let unions = if few { 1 << sets.len() } else { sets.len() };
    let mut all = Vec::new();
    for union in 1..=unions {
        let has = |set: usize| if few { union >> set & 1 == 1 } else { set < union };
        let mut kinds = vec![Vec::new(); puzzle.sets().len()];
        for (_, set) in sets.iter().enumerate().filter(|(set, _)| has(*set)) {
            set.iter().for_each(|&(set, kind)| kinds[set].push(kind));
        }
        kinds.iter_mut().for_each(|kinds| kinds.sort_unstable());
        all.extend([false, true].map(|turns| FirstDigits { kinds: kinds.clone(), turns }));
    }
    all
}

/// Whether the first digits determine everything that follows from them, and depend on nothing else: sets of pieces
/// that look alike come after single pieces, and the last choice but one comes after the digits from which it follows.
fn is_alone(ranking: &Ranking, first: &FirstDigits) -> bool {
    let has = |set: usize, kind: u8| first.kinds.get(set).is_some_and(|k| k.contains(&kind));
    let single = |g: usize| {
        let group = &ranking.groups[g];
        group.single.iter().all(|piece| has(group.set, piece.kind))
    };
    ranking.groups.iter().enumerate().all(|(g, group)| {
        let several = group.several.iter().any(|kind| has(group.set, kind.kind));
        let last = group.single.len().wrapping_sub(2);
        let follows = group.single.get(last).is_some_and(|piece| has(group.set, piece.kind));
        let known =
            || group.parity.iter().flat_map(|(others, _)| others).all(|&other| single(other));
        (!several || single(g)) && (!follows || known())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        progress::NoProgress,
        puzzle::{Turns, named},
        random::SplitMix64,
    };

    /// Pieces that are there twice, or not at all: their number may be that of any entry, or of none.
    #[test]
    fn arrangements_that_cannot_be_reached_have_numbers_too() {
        let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers).unwrap();
        let puzzle = cube.keeping(&["edges:1-4".to_string()]).unwrap();
        let numbers = TableNumbers::up_to_symmetry(&puzzle, &NoProgress).unwrap().unwrap();
        let mut random = SplitMix64::new(1);
        for _ in 0..1000 {
            let mut state = puzzle.solved();
            for piece in &mut state.0[0] {
                let kinds = &puzzle.sets()[0].moduli;
                piece.kind = (random.draw() % kinds.len() as u64) as u8;
                piece.turn = (random.draw() % u64::from(kinds[usize::from(piece.kind)])) as u8;
            }
            let number = numbers.rank(&puzzle, &state);
            if number < numbers.entries {
                numbers.unrank(number);
            }
        }
    }
}
