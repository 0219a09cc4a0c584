//! Additive pattern databases: tables of lower bounds that other solvers can reuse.
//!
//! Invariant: the value of an entry is the minimum number of moves of the pattern's tiles that bring them home, where
//! moves of all other tiles and the blank are free. The values of patterns without common tiles therefore add up to a
//! lower bound on the number of moves of all tiles.
//!
//! A [`Pattern`] specifies the tiles, [`Build::run`] builds a [`Pdb`] for it, [`Pdb::save`] and [`Pdb::load`] write and
//! read a file (`docs/format.md`), and [`Evaluator`] adds up values along a sequence of moves.
//!
//! How a build proceeds: `build` plans it, `regions` numbers the slots and their moves, `slots` searches level by level
//! and passes first visits to a sink (the one in `on_disk` writes files), `orders` brings values into the order of the
//! file, and `database` stores them after the header (`file`). `solve` looks up values. Checks of databases are here.
//!
//! Sources: R. E. Korf and A. Felner, Disjoint pattern database heuristics, Artificial Intelligence 134 (2002); A.
//! Felner, R. E. Korf and S. Hanan, Additive pattern database heuristics, JAIR 22 (2004); R. Clausecker and A.
//! Reinefeld, Zero-aware pattern databases with 1-bit compression for sliding tile puzzles, SoCS 2019 (the blank's
//! region).
//!
//! For a custom solver: the entry of a placement is [`crate::placement::rank`] of the tiles' cells, and [`Pdb::bytes`]
//! is the table. A move changes the cell of one tile, and hence the entry of one pattern. Ranks take about 2 ns and can
//! be updated with one addition per cell passed; reading a random entry of a table larger than the caches takes 50 to
//! 100 ns. A fast solver therefore ranks all children first, prefetches their bytes, and only then reads them. It keeps
//! tables on huge pages ([`Pdb::load`]).

pub(crate) mod build;
pub(crate) mod database;
pub(crate) mod file;
pub(crate) mod on_disk;
pub(crate) mod orders;
pub(crate) mod partition;
pub(crate) mod pattern;
pub(crate) mod regions;
pub(crate) mod slots;

use std::collections::HashMap;

use crate::{
    perm::{bits, placement, set_of},
    progress::{Meter, Phase, Progress},
    random::SplitMix64,
};

pub use crate::pdb::{
    build::{Build, BuildPlan, plan, plan_on_disk},
    database::{Pdb, encode},
    file::{Encoding, Kind, Summary, compress, inspect},
    on_disk::DiskBuild,
    orders::{ExportLayout, export},
    partition::{Evaluator, SetFile, check_disjoint, check_partition, partition, tilings},
    pattern::{Pattern, PdbError},
    regions::EntryOrder,
};

pub(crate) use crate::pdb::{
    build::TableBuild,
    database::after,
    orders::{ArrangementOrder, SLOTS, WINDOW},
    regions::{PatternMoves, PatternState, SlotGraph, UNREACHED},
};

// Checks a database against searches that share nothing with its builder.
//
// Invariant: these searches know the rules and the goal; they read the table only for comparison.

/// The result of a spot check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpotCheck {
    /// Number of entries that a search has confirmed.
    pub confirmed: u64,
    /// Number of entries whose search was abandoned.
    pub undecided: u64,
}

/// Maximum number of states of one search: 100 MB.
const MAX_STATES: usize = 1_000_000;

/// Compares random entries with A* searches over single states, guided by the Manhattan distance.
///
/// Cost: up to a second per sample for 8 tiles, less for fewer.
///
/// # Errors
/// [`PdbError::Wrong`] for the first wrong entry, and [`PdbError::Interrupted`].
pub fn spot_check(
    pdb: &Pdb,
    samples: u64,
    seed: u64,
    observer: &dyn Progress,
) -> Result<SpotCheck, PdbError> {
    pdb.loaded()?;
    let (n, k) = (pdb.pattern().size().cells(), pdb.pattern().tiles().len());
    let mut random = SplitMix64::new(seed);
    let mut check = SpotCheck { confirmed: 0, undecided: 0 };
    let meter = Meter::new(observer, Phase::Check, 0, samples);
    for sample in 0..samples {
        meter.add(1)?;
        // The goal first, then random placements; the blank on a random free cell.
        let mut cells = pdb.pattern().home().to_vec();
        let mut blank = pdb.pattern().goal().blank() as u8;
        if sample > 0 {
            placement::unrank(n, random.below(pdb.pattern().placements()), &mut cells[..k]);
            let free: Vec<u8> = (0..n as u8).filter(|c| !cells.contains(c)).collect();
            blank = match pdb.kind() {
                Kind::AllMoves => cells[0],
                _ => free[random.below(free.len() as u64) as usize],
            };
        }
        let found = pdb.lookup(&cells, blank);
        match search(pdb, &cells, blank) {
            None => check.undecided += 1,
            Some(expected) if expected == found => check.confirmed += 1,
            Some(expected) => {
                let values = [found, expected].map(|value| value.unwrap_or(u8::MAX));
                return Err(wrong(pdb, pdb.entry(&cells, blank), values));
            }
        }
    }
    Ok(check)
}

/// Builds the database again and compares all entries, their region starts, and the histogram.
///
/// # Errors
/// [`PdbError::Wrong`] for the first entry that differs, in stored order, or for another part that differs, and the
/// errors of [`Build::run_with`].
pub fn rebuild(pdb: &Pdb, how: &Build, observer: &dyn Progress) -> Result<(), PdbError> {
    pdb.loaded()?;
    let how = how.clone().pattern(pdb.pattern().clone());
    let again = how.kind(pdb.kind()).encoding(pdb.encoding()).run_with(observer)?;
    let part = |wrong: bool, part| match wrong {
        true => Err(PdbError::Wrong(format!(
            "the {part} in '{}' is wrong: rebuild the database",
            pdb.file.path.display()
        ))),
        false => Ok(()),
    };
    part(pdb.file.index() != again.file.index(), "list of region starts")?;
    let pairs = pdb.bytes().iter().zip(again.bytes());
    let Some((byte, (a, b))) = pairs.enumerate().find(|(_, (a, b))| a != b) else {
        part(pdb.entries() != again.entries(), "number of entries")?;
        return part(pdb.histogram() != again.histogram(), "histogram");
    };
    let width = pdb.encoding().bits();
    let place = (a ^ b).trailing_zeros() / width;
    let stored = |byte: &u8| byte >> (place * width) & u8::MAX >> (8 - width);
    let entry = byte as u64 * u64::from(8 / width) + u64::from(place);
    Err(wrong(pdb, entry, [stored(a), stored(b)]))
}

/// The error for an entry that differs from an independent search; 255 stands for no value.
fn wrong(pdb: &Pdb, entry: u64, [found, expected]: [u8; 2]) -> PdbError {
    PdbError::Wrong(format!(
        "entry {entry} of '{}' is {found}, but a search finds {expected}: the database is wrong: \
         rebuild it",
        pdb.file.path.display()
    ))
}

/// The minimum number of moves from a placement to the goal, by A*: `Some(None)` if the goal is out of reach, `None` if
/// there are too many states.
fn search(pdb: &Pdb, cells: &[u8], blank: u8) -> Option<Option<u8>> {
    let moves = PatternMoves::new(pdb.pattern(), pdb.kind());
    let goal = moves.goal();
    let blanks = match pdb.kind() {
        Kind::Regions | Kind::AllMoves => vec![blank],
        Kind::Minimum => bits(moves.grid.lows(set_of(cells))).map(|low| low as u8).collect(),
    };
    // States that have just been reached, and their depths.
    let mut reached: Vec<(PatternState, u32)> = Vec::new();
    reached.extend(blanks.into_iter().map(|blank| (moves.state(cells, blank), 0)));
    let mut best: HashMap<PatternState, u32> = HashMap::new();
    // The states to be expanded, by the sum of depth and distance.
    let mut buckets: Vec<Vec<(PatternState, u32)>> = Vec::new();
    let mut total = 0;
    loop {
        for (state, depth) in reached.drain(..) {
            let known = best.entry(state).or_insert(u32::MAX);
            if depth < *known {
                *known = depth;
                let total = (depth + pdb.pattern().manhattan(moves.cells(&state))) as usize;
                buckets.resize_with(buckets.len().max(total + 1), Vec::new);
                buckets[total].push((state, depth));
            }
        }
        if best.len() > MAX_STATES {
            return None;
        }
        let Some(bucket) = buckets.get_mut(total) else { return Some(None) };
        match bucket.pop() {
            None => total += 1,
            Some((state, depth)) if state == goal => return Some(u8::try_from(depth).ok()),
            // A move changes the distance by at most one, so a state's smallest depth is popped first.
            Some((state, depth)) if depth == best[&state] => {
                moves.each(&state, |next| reached.push((next, depth + 1)));
            }
            Some(_) => {}
        }
    }
}
