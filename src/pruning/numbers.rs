//! The numbers of a table's entries: one for each arrangement, or one for those that symmetries make of each other.
//!
//! Up to symmetry, a number has two parts. The **coordinate** is where some pieces are, and perhaps how they are turned: of its
//! values, those that symmetries take to each other are a class, and the least of them stands for it. What is left of an
//! arrangement is taken from its image under the symmetry that takes its coordinate to the least value.
//!
//! Invariant: symmetric arrangements whose coordinates have no symmetry of their own have one number; arrangements with one
//! number are symmetric.

use std::{collections::HashMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    frontier::{FieldMap, Relabelling, StateFields, SymmetryGroup},
    pruning::row_rank::{PieceMap, RowRank},
    puzzle::{
        PuzzleError,
        orbits::{Arrangement, OrbitPuzzle},
        ranking::{FirstDigits, KindRole, RankGroup, Ranking},
    },
    random::SplitMix64,
};

/// Most values of a coordinate: two bytes of a cache for each.
const MOST_VALUES: u64 = 1 << 21;
/// A coordinate is good enough when there are so many entries more than states up to symmetry, in hundredths.
const ENOUGH: u64 = 110;
/// Arrangements that tell symmetries apart.
const SAMPLE: usize = 64;
/// Most sets of kinds that symmetries keep of which all unions are tried.
const MOST_SETS: usize = 10;
/// Bits of a symmetry's index beside its class.
const SYMMETRY: u32 = 8;

/// The numbers of a table's entries.
#[derive(Clone, Debug)]
pub(crate) struct TableNumbers {
    pub entries: u64,
    ranking: Ranking,
    reduction: Option<Box<Reduction>>,
}

/// A coordinate of which one value stands for all that symmetries make of it.
#[derive(Clone, Debug)]
struct Reduction {
    relabellings: Vec<Relabelling>,
    group: SymmetryGroup,
    first: FirstDigits,
    /// For each value its class, and in the low bits the first symmetry that takes it to the least value of the class.
    class_of: Arc<Vec<u32>>,
    /// For each class the least value, the symmetries that keep it, and how many values there are.
    least: Vec<u32>,
    keeping: Vec<Vec<u8>>,
    members: Vec<u16>,
}

/// What a file says of a coordinate, as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReductionJson {
    coordinate: FirstDigits,
    symmetries: Vec<Relabelling>,
    least: Vec<u32>,
}

impl TableNumbers {
    /// Returns the numbers of all arrangements of a puzzle.
    ///
    /// # Errors
    /// As [`Ranking::new`].
    pub fn all(puzzle: &OrbitPuzzle) -> Result<TableNumbers, PuzzleError> {
        let ranking = Ranking::new(puzzle)?;
        Ok(TableNumbers { entries: ranking.entries, ranking, reduction: None })
    }

    /// Returns the numbers up to symmetry, by the coordinate that makes them few; nothing where symmetries make them no fewer.
    ///
    /// # Errors
    /// As [`Ranking::new`].
    pub fn up_to_symmetry(puzzle: &OrbitPuzzle) -> Result<Option<TableNumbers>, PuzzleError> {
        let plain = Ranking::new(puzzle)?;
        let (group, relabellings) =
            SymmetryGroup::with_relabellings(puzzle, &StateFields::of(puzzle));
        if !(2..=1 << SYMMETRY).contains(&group.order()) {
            return Ok(None);
        }
        let enough = plain.entries / actions(puzzle, &plain, &group).1 * ENOUGH / 100;
        let mut candidates: Vec<(u64, FirstDigits, Ranking)> = Vec::new();
        for first in coordinates(puzzle, &plain, &relabellings) {
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
            let reduction =
                Reduction::new(puzzle, &ranking, first, (group.clone(), relabellings.clone()));
            let entries = reduction.least.len() as u64 * ranking.rest;
            let least = best.as_ref().map_or(plain.entries, |best| best.entries);
            if entries < least {
                best =
                    Some(TableNumbers { entries, ranking, reduction: Some(Box::new(reduction)) });
            }
        }
        Ok(best)
    }

    /// Returns the numbers that [`TableNumbers::to_json`] has written; nothing for another text. None at all are those of all
    /// arrangements.
    pub fn of_json(puzzle: &OrbitPuzzle, text: &str) -> Option<TableNumbers> {
        if text.is_empty() {
            return TableNumbers::all(puzzle).ok();
        }
        let ReductionJson { coordinate, symmetries, least } = serde_json::from_str(text).ok()?;
        let fields = StateFields::of(puzzle);
        let (_, known) = SymmetryGroup::with_relabellings(puzzle, &fields);
        let maps = symmetries
            .iter()
            .map(|one| known.contains(one).then(|| fields.of_relabelling(puzzle, one)));
        let group = SymmetryGroup::of(maps.collect::<Option<_>>()?)?;
        let ranking = Ranking::with_first(puzzle, &coordinate).ok()?;
        let values = ranking.entries / ranking.rest;
        let small = values <= MOST_VALUES && group.order() <= 1 << SYMMETRY;
        if !small || !is_alone(&ranking, &coordinate) {
            return None;
        }
        let reduction = Reduction::new(puzzle, &ranking, coordinate, (group, symmetries));
        let entries = least.len() as u64 * ranking.rest;
        let same = reduction.least == least;
        same.then_some(TableNumbers { entries, ranking, reduction: Some(Box::new(reduction)) })
    }

    /// Returns what a file says of the numbers besides the puzzle.
    pub fn to_json(&self) -> String {
        let Some(of) = &self.reduction else { return String::new() };
        let (coordinate, symmetries) = (of.first.clone(), of.relabellings.clone());
        let json = ReductionJson { coordinate, symmetries, least: of.least.clone() };
        serde_json::to_string(&json).expect("numbers have a JSON form")
    }

    /// Returns the ranking where every arrangement has a number.
    pub fn plain(&self) -> Option<&Ranking> {
        self.reduction.is_none().then_some(&self.ranking)
    }

    /// Returns how many entries have the same first digits, and the ranking; nothing where there is but one such row.
    pub fn rows(&self) -> Option<(u64, &Ranking)> {
        let first =
            self.ranking.groups.iter().map(RankGroup::digits).find(|all| !all.is_empty())?;
        let length = match self.reduction {
            Some(_) => self.ranking.rest,
            None => first.into_iter().min()?,
        };
        (length > 1).then_some((length, &self.ranking))
    }

    /// Returns how many symmetries are used.
    pub fn symmetries(&self) -> usize {
        self.reduction.as_deref().map_or(1, |of| of.group.order())
    }

    /// Returns the number of an arrangement that the moves reach.
    pub fn rank(&self, puzzle: &OrbitPuzzle, state: &Arrangement) -> u64 {
        let rank = self.ranking.rank(state);
        let (Some(of), rest) = (&self.reduction, self.ranking.rest) else { return rank };
        let found = of.class_of[(rank / rest) as usize];
        let symmetry = (found & ((1 << SYMMETRY) - 1)) as usize;
        let image = of.relabellings[symmetry].arrangement(puzzle, state);
        u64::from(found >> SYMMETRY) * rest + self.ranking.rank(&image) % rest
    }

    /// Returns an arrangement with a number.
    ///
    /// # Panics
    /// When the number is not below `entries`.
    pub fn unrank(&self, number: u64) -> Arrangement {
        let (Some(of), rest) = (&self.reduction, self.ranking.rest) else {
            return self.ranking.unrank(number);
        };
        self.ranking.unrank(u64::from(of.least[(number / rest) as usize]) * rest + number % rest)
    }

    /// Returns how many arrangements an entry is looked up for.
    pub fn arrangements(&self, number: u64) -> u64 {
        let members = |of: &Reduction| of.members[(number / self.ranking.rest) as usize].into();
        self.reduction.as_deref().map_or(1, members)
    }

    /// Returns how rows of a puzzle are numbered through a symmetry; `own` is the table's puzzle, a projection.
    pub fn of_rows(
        &self,
        (puzzle, fields): (&OrbitPuzzle, &StateFields),
        own: &OrbitPuzzle,
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

    /// Returns how the rows of a state's images are numbered, of which one is written for each entry.
    pub fn images(&self, puzzle: &OrbitPuzzle, maps: &[FieldMap]) -> RowImages<'_> {
        let fields = StateFields::of(puzzle);
        let own = PieceMap::new(puzzle, puzzle).expect("a puzzle is its own projection");
        let rank = |map: &FieldMap| self.of_rows((puzzle, &fields), puzzle, &own, map);
        // Up to symmetry what is left of the images follows from that of one.
        let maps = if self.reduction.is_some() { &maps[..1] } else { maps };
        RowImages { ranks: maps.iter().map(rank).collect(), reduction: self.reduction.as_deref() }
    }
}

/// The number of a row's entry.
#[derive(Clone, Debug)]
pub(crate) enum TableRank {
    Whole(RowRank),
    /// The coordinate's value; for each symmetry the number of what is left of the image.
    Reduced {
        coordinate: RowRank,
        rests: Vec<RowRank>,
        class_of: Arc<Vec<u32>>,
        rest: u64,
    },
}

impl TableRank {
    /// Returns the number.
    #[inline]
    pub fn rank(&self, row: &[u8]) -> u64 {
        match self {
            TableRank::Whole(rank) => rank.rank(row),
            TableRank::Reduced { coordinate, rests, class_of, rest } => {
                let found = class_of[coordinate.rank(row) as usize];
                let symmetry = (found & ((1 << SYMMETRY) - 1)) as usize;
                u64::from(found >> SYMMETRY) * rest + rests[symmetry].rank(row)
            }
        }
    }

    /// Returns the same for rows in which the fields come so much later.
    pub fn shifted(&self, by: usize) -> TableRank {
        match self {
            TableRank::Whole(rank) => TableRank::Whole(rank.shifted(by)),
            TableRank::Reduced { coordinate, rests, class_of, rest } => TableRank::Reduced {
                coordinate: coordinate.shifted(by),
                rests: rests.iter().map(|rank| rank.shifted(by)).collect(),
                class_of: class_of.clone(),
                rest: *rest,
            },
        }
    }
}

/// The entries of a row and of its images under all symmetries.
pub(crate) struct RowImages<'n> {
    ranks: Vec<TableRank>,
    reduction: Option<&'n Reduction>,
}

impl RowImages<'_> {
    /// Returns how many there are for a row, at most.
    pub fn most(&self) -> usize {
        self.reduction.map_or(self.ranks.len(), |of| of.group.order())
    }

    /// Calls with the number of each entry, and the symmetry that leads there.
    #[inline]
    pub fn each(&self, row: &[u8], mut call: impl FnMut(u64, u16)) {
        for (rank, own) in self.ranks.iter().zip(0..) {
            let (TableRank::Reduced { coordinate, rests, class_of, rest }, Some(of)) =
                (rank, self.reduction)
            else {
                call(rank.rank(row), own);
                continue;
            };
            let found = class_of[coordinate.rank(row) as usize];
            let (class, symmetry) = (found >> SYMMETRY, found & ((1 << SYMMETRY) - 1));
            // Symmetries that keep the least value make other entries of its class.
            for &next in &of.keeping[class as usize] {
                let both = of.group.then(symmetry as u16, next.into());
                call(u64::from(class) * rest + rests[usize::from(both)].rank(row), both);
            }
        }
    }
}

impl Reduction {
    /// Finds the classes of a coordinate. Cost: for each value and symmetry a number, some 50 ns.
    fn new(
        puzzle: &OrbitPuzzle,
        ranking: &Ranking,
        first: FirstDigits,
        (group, relabellings): (SymmetryGroup, Vec<Relabelling>),
    ) -> Reduction {
        let fields = StateFields::of(puzzle);
        let own = PieceMap::new(puzzle, puzzle).expect("a puzzle is its own projection");
        let coordinate = ranking.part(true);
        let rank = |map: &FieldMap| {
            RowRank::new((puzzle, &fields), (puzzle, &coordinate), &own, (map, None))
        };
        let ranks: Vec<RowRank> = group.maps.iter().map(rank).collect();
        let (same, _) = actions(puzzle, ranking, &group);
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
                // One of those that do the same.
                if image == value && same[usize::from(symmetry)] == symmetry {
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

/// For each symmetry the first that does the same to some random arrangements, and how many are different: what never moves can
/// be turned without any change. Of those that are not the same, at most every other arrangement is taken to the same one.
fn actions(puzzle: &OrbitPuzzle, ranking: &Ranking, group: &SymmetryGroup) -> (Vec<u8>, u64) {
    let fields = StateFields::of(puzzle);
    let own = PieceMap::new(puzzle, puzzle).expect("a puzzle is its own projection");
    let mut random = SplitMix64::new(1);
    let mut row = || fields.encode(&ranking.unrank(random.draw() % ranking.entries));
    let rows: Vec<Vec<u8>> = (0..SAMPLE).map(|_| row()).collect();
    let mut first = HashMap::new();
    let of = |(symmetry, map): (u8, &FieldMap)| {
        let rank = RowRank::new((puzzle, &fields), (puzzle, ranking), &own, (map, None));
        let images: Vec<u64> = rows.iter().map(|row| rank.rank(row)).collect();
        *first.entry(images).or_insert(symmetry)
    };
    let same = (0..=u8::MAX).zip(&group.maps).map(of).collect();
    (same, first.len() as u64)
}

/// Digits that symmetries may take to each other: those of unions of the sets of kinds that they keep.
fn coordinates(
    puzzle: &OrbitPuzzle,
    plain: &Ranking,
    relabellings: &[Relabelling],
) -> Vec<FirstDigits> {
    let mut sets: Vec<Vec<(usize, u8)>> = Vec::new();
    for group in &plain.groups {
        for (kind, role) in (0..).zip(&group.role) {
            let one = (group.orbit, kind);
            if *role == KindRole::Elsewhere || sets.iter().flatten().any(|other| *other == one) {
                continue;
            }
            let image = |of: &Relabelling| {
                (of.orbit[group.orbit], of.kind[group.orbit][usize::from(kind)].0)
            };
            let mut set: Vec<_> = relabellings.iter().map(image).collect();
            set.sort_unstable();
            set.dedup();
            sets.push(set);
        }
    }
    let unions = if sets.len() <= MOST_SETS { 1 << sets.len() } else { sets.len() };
    let mut all = Vec::new();
    for union in 1..=unions {
        let has = |set: usize| match sets.len() <= MOST_SETS {
            true => union >> set & 1 == 1,
            false => set < union,
        };
        let mut kinds = vec![Vec::new(); puzzle.orbits().len()];
        for (_, set) in sets.iter().enumerate().filter(|(set, _)| has(*set)) {
            set.iter().for_each(|&(orbit, kind)| kinds[orbit].push(kind));
        }
        kinds.iter_mut().for_each(|kinds| kinds.sort_unstable());
        for turns in [false, true] {
            all.push(FirstDigits { kinds: kinds.clone(), turns });
        }
    }
    all
}

/// Whether first digits say all that follows from what they say, and depend on nothing else: sets of pieces that look alike come
/// after pieces of their own, and the last choice but one after what it follows from.
fn is_alone(ranking: &Ranking, first: &FirstDigits) -> bool {
    let has = |orbit: usize, kind: u8| first.kinds.get(orbit).is_some_and(|k| k.contains(&kind));
    let single = |g: usize| {
        let group = &ranking.groups[g];
        group.single.iter().all(|piece| has(group.orbit, piece.kind))
    };
    ranking.groups.iter().enumerate().all(|(g, group)| {
        let several = group.several.iter().any(|kind| has(group.orbit, kind.kind));
        let last = group.single.len().wrapping_sub(2);
        let follows = group.single.get(last).is_some_and(|piece| has(group.orbit, piece.kind));
        let known =
            || group.parity.iter().flat_map(|(others, _)| others).all(|&other| single(other));
        (!several || single(g)) && (!follows || known())
    })
}
