//! Checking a database against searches that share nothing with its builder.
//!
//! Invariant: a search here knows the rules and the goal; it reads the table only to compare.

use std::collections::HashMap;

use crate::pdb::error::Meter;
use crate::pdb::regions::{Grid, bits, number};
use crate::pdb::{Build, Encoding, Kind, Pattern, Pdb, PdbError, build};
use crate::perm::placement;
use crate::progress::{Phase, Progress};
use crate::random::SplitMix64;

/// What a spot check has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpotCheck {
    /// Entries that a search has confirmed.
    pub confirmed: u64,
    /// Entries whose search was given up.
    pub undecided: u64,
}

/// Most states of one search: 100 MB.
const MAX_STATES: usize = 1_000_000;

/// Compares random entries with A* searches over single states, guided by the Manhattan distance.
///
/// Cost: up to a second per sample for 8 tiles, less for fewer.
///
/// # Errors
/// [`PdbError::Wrong`] names the first wrong entry; [`PdbError::Interrupted`].
pub fn spot_check(
    pdb: &Pdb,
    samples: u64,
    seed: u64,
    observer: &dyn Progress,
) -> Result<SpotCheck, PdbError> {
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
        let search = PlacementSearch::new(pdb.pattern(), pdb.kind());
        match search.run(&cells, blank) {
            None => check.undecided += 1,
            Some(expected) if expected == found => check.confirmed += 1,
            Some(expected) => {
                return Err(PdbError::Wrong {
                    path: pdb.file().path().to_path_buf(),
                    entry: pdb.entry(&cells, blank),
                    found: found.unwrap_or(u8::MAX),
                    expected: expected.unwrap_or(u8::MAX),
                });
            }
        }
    }
    Ok(check)
}

/// Builds the database again and compares all entries, the region starts by which they are found, and the histogram.
///
/// # Errors
/// [`PdbError::Wrong`] names the first entry that differs, as it is stored, [`PdbError::WrongPart`] another part, and what
/// [`build`] says.
pub fn rebuild(pdb: &Pdb, how: &Build, observer: &dyn Progress) -> Result<(), PdbError> {
    let again = build(
        &Build {
            pattern: pdb.pattern().clone(),
            kind: pdb.kind(),
            encoding: pdb.encoding(),
            ..how.clone()
        },
        observer,
    )?;
    let part = |wrong: bool, part| match wrong {
        true => Err(PdbError::WrongPart { path: pdb.file().path().to_path_buf(), part }),
        false => Ok(()),
    };
    part(pdb.file().index() != again.file().index(), "list of region starts")?;
    let pairs = pdb.bytes().iter().zip(again.bytes());
    let Some((byte, (a, b))) = pairs.enumerate().find(|(_, (a, b))| a != b) else {
        part(pdb.entries() != again.entries(), "number of entries")?;
        return part(pdb.histogram() != again.histogram(), "histogram");
    };
    let width = match pdb.encoding() {
        Encoding::Byte => 8,
        Encoding::Nibble => 4,
        Encoding::Bit => 1,
    };
    let place = (a ^ b).trailing_zeros() / width;
    let stored = |byte: &u8| byte >> (place * width) & u8::MAX >> (8 - width);
    Err(PdbError::Wrong {
        path: pdb.file().path().to_path_buf(),
        entry: byte as u64 * u64::from(8 / width) + u64::from(place),
        found: stored(a),
        expected: stored(b),
    })
}

/// A state: the tiles' cells, and a bit for the lowest cell of the blank's region.
type PlacementState = ([u8; Pattern::MAX_TILES], u64);

/// A* from a placement to the goal.
struct PlacementSearch<'a> {
    pattern: &'a Pattern,
    kind: Kind,
    grid: Grid,
    k: usize,
}

impl<'a> PlacementSearch<'a> {
    fn new(pattern: &'a Pattern, kind: Kind) -> PlacementSearch<'a> {
        PlacementSearch { pattern, kind, grid: Grid::new(pattern.size()), k: pattern.tiles().len() }
    }

    fn state(&self, cells: &[u8], blank: usize) -> PlacementState {
        let mut padded = [0; Pattern::MAX_TILES];
        padded[..self.k].copy_from_slice(cells);
        if self.kind == Kind::AllMoves {
            return (padded, 0);
        }
        let set = cells.iter().fold(0u64, |set, &c| set | 1 << c);
        let region = self.grid.region(self.grid.free(set), blank);
        (padded, region & region.wrapping_neg())
    }

    /// The fewest moves, `Some(None)` when the goal is out of reach, `None` when there are too many
    /// states.
    fn run(&self, cells: &[u8], blank: u8) -> Option<Option<u8>> {
        let set = cells.iter().fold(0u64, |set, &c| set | 1 << c);
        let starts: Vec<PlacementState> = match self.kind {
            Kind::Regions | Kind::AllMoves => vec![self.state(cells, usize::from(blank))],
            Kind::Minimum => bits(self.grid.lows(set)).map(|low| self.state(cells, low)).collect(),
        };
        let goal = self.state(self.pattern.home(), self.pattern.goal().blank());
        let mut best: HashMap<PlacementState, u32> = HashMap::new();
        let mut buckets: Vec<Vec<(PlacementState, u32)>> = Vec::new();
        let mut push =
            |buckets: &mut Vec<Vec<(PlacementState, u32)>>, state: PlacementState, moves: u32| {
                let known = best.entry(state).or_insert(u32::MAX);
                if moves < *known {
                    *known = moves;
                    let total = (moves + self.pattern.manhattan(&state.0[..self.k])) as usize;
                    if buckets.len() <= total {
                        buckets.resize(total + 1, Vec::new());
                    }
                    buckets[total].push((state, moves));
                }
                best.len() <= MAX_STATES
            };
        for start in starts {
            push(&mut buckets, start, 0);
        }
        let mut total = 0;
        let mut closed: HashMap<PlacementState, u32> = HashMap::new();
        while total < buckets.len() {
            let Some((state, moves)) = buckets[total].pop() else {
                total += 1;
                continue;
            };
            if state == goal {
                return Some(u8::try_from(moves).ok());
            }
            if closed.get(&state).is_some_and(|&m| m <= moves) {
                continue;
            }
            closed.insert(state, moves);
            for next in self.neighbours(&state) {
                if !push(&mut buckets, next, moves + 1) {
                    return None;
                }
            }
        }
        Some(None)
    }

    /// The neighbours where every move counts: the blank, the first of the cells, changes places.
    fn slides(&self, cells: &[u8]) -> Vec<PlacementState> {
        let blank = cells[0];
        let slide = |near: usize| {
            let near = near as u8;
            let moved = cells.iter().map(|&cell| match cell {
                cell if cell == blank => near,
                cell if cell == near => blank,
                cell => cell,
            });
            self.state(&moved.collect::<Vec<u8>>(), 0)
        };
        bits(self.grid.around(1 << blank)).map(slide).collect()
    }

    fn neighbours(&self, state: &PlacementState) -> Vec<PlacementState> {
        let mut cells = state.0;
        let cells = &mut cells[..self.k];
        if self.kind == Kind::AllMoves {
            return self.slides(cells);
        }
        let set = cells.iter().fold(0u64, |set, &c| set | 1 << c);
        let free = self.grid.free(set);
        let region = self.grid.region(free, state.1.trailing_zeros() as usize);
        debug_assert!(number(self.grid.lows(set), region) < 8);
        let mut next = Vec::new();
        for x in 0..self.k {
            let from = cells[x];
            for to in bits(self.grid.around(1 << from) & region) {
                cells[x] = to as u8;
                next.push(self.state(cells, usize::from(from)));
            }
            cells[x] = from;
        }
        next
    }
}
