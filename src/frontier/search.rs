//! The search: level after level until the last one that is wanted or that there is.

use std::time::Instant;

use crate::frontier::bucket_space::BucketSpace;
use crate::frontier::choice::CoordinateChoice;
use crate::frontier::fields::StateFields;
use crate::frontier::level::{LevelEnd, LevelTotal, LevelUse, LevelWork};
use crate::frontier::lists::BucketLists;
use crate::kernel::Kernel;
use crate::progress::{LevelDone, NoProgress, Progress};
use crate::puzzle::orbits::{OrbitPlace, OrbitPuzzle};
use crate::resources::{Resources, resource_setters, setters};
use crate::system::SystemError;
use crate::threads::pool;

/// A search of a puzzle of several orbits from its solved state, by lists of states.
///
/// ```
/// use tilewave::frontier::FrontierSearch;
/// use tilewave::puzzle::orbits::{Orbit, OrbitMove, OrbitPuzzle, OrbitTurn, Transformation};
/// // Three coins in a row; a move turns two neighbours over.
/// let turn = |coins: [u8; 3]| Transformation(vec![OrbitTurn { source: vec![0, 1, 2], twist: coins.into() }]);
/// let one = |name: &str, coins| OrbitMove { name: name.into(), transformation: turn(coins), requires: None };
/// let coins = vec![Orbit::distinct("coins", 3, 2)];
/// let puzzle = OrbitPuzzle::new("coins", coins, vec![one("L", [1, 1, 0]), one("R", [0, 1, 1])])?;
/// let found = FrontierSearch::new(puzzle).run()?;
/// assert_eq!(found.counts(), [1, 2, 1]);
/// assert_eq!(found.levels[1].reduced, Some(1)); // L and R are mirror images
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FrontierSearch {
    /// What is searched.
    pub puzzle: OrbitPuzzle,
    /// Last depth to compute, `None` for all. Its states are counted and not stored.
    pub max_depth: Option<usize>,
    /// Whether the last two levels are counted and not stored, so that the lists go to two depths less: for each state of
    /// the last one all that lead to it are made again.
    pub count_ahead: bool,
    /// Whether states are reduced by symmetries.
    pub symmetry: bool,
    /// What it may use; the memory is that of the levels.
    pub resources: Resources,
}

setters! { FrontierSearch: count_ahead: bool, symmetry: bool,; max_depth: usize, }
resource_setters! { FrontierSearch }

/// What a search has found at one depth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrontierLevel {
    /// Number of states.
    pub states: u64,
    /// Number of states up to symmetry; `None` where the search did not use all symmetries.
    pub reduced: Option<u64>,
    /// A number that is the same for equal sets of states, whatever the symmetries, kernel, threads and memory of
    /// the search.
    pub checksum: u64,
    /// Keys that moves made, duplicates included.
    pub generated: u64,
    /// Keys that were new: a few more than states up to symmetry.
    pub kept: u64,
    /// Bytes that its lists take in memory; none where its states were counted only.
    pub bytes: u64,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// What a search has found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrontierOutcome {
    /// The levels from depth 0 on.
    pub levels: Vec<FrontierLevel>,
    /// Whether the search ran until no new state was found.
    pub complete: bool,
    /// How many symmetries of the puzzle were used, 1 for none.
    pub symmetries: usize,
    /// Most bytes that lists have taken at any time.
    pub peak_bytes: u64,
    /// Kernel that ran.
    pub kernel: Kernel,
    /// Worker threads.
    pub threads: usize,
    /// Wall time of the whole search in seconds.
    pub seconds: f64,
}

impl FrontierOutcome {
    /// Returns the number of states of each depth.
    pub fn counts(&self) -> Vec<u64> {
        self.levels.iter().map(|level| level.states).collect()
    }
}

/// Why a search by lists ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrontierError {
    /// The lists of a level do not fit.
    #[error(
        "{puzzle}: the states at depth {depth} do not fit in {budget} bytes of memory: stop at depth {depth}, whose \
         states are counted only (--max-depth {depth}), count one more (--count-ahead), or allow more memory"
    )]
    Memory {
        /// The puzzle.
        puzzle: String,
        /// The depth.
        depth: usize,
        /// The limit.
        budget: u64,
    },
    /// A state does not fit the longest key.
    #[error(
        "{puzzle}: a state takes {words} words of 64 bits, at most {} are supported",
        BucketSpace::MAX_WORDS
    )]
    State {
        /// The puzzle.
        puzzle: String,
        /// Words needed.
        words: usize,
    },
    /// A move that depends on one of several equal pieces, or on another piece than the others do.
    #[error(
        "{puzzle}: move '{name}' depends on a piece that looks like another one: this is not supported"
    )]
    Requires {
        /// The puzzle.
        puzzle: String,
        /// The move.
        name: String,
    },
    /// What the machine refuses.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The observer asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl FrontierSearch {
    /// Returns a complete search with everything else at its default.
    pub fn new(puzzle: OrbitPuzzle) -> FrontierSearch {
        FrontierSearch {
            puzzle,
            max_depth: None,
            count_ahead: false,
            symmetry: true,
            resources: Resources::new(),
        }
    }

    /// Runs the search on its own threads. Cost: for each state up to symmetry and move some nanoseconds, and 8 bytes a
    /// state up to symmetry for every 60 bits that one takes, for the two widest levels that are stored. Where these are
    /// more than half of the memory they are coded: 1 to 6 bytes a state, and some 100 ns more for each.
    ///
    /// # Errors
    /// [`FrontierError`].
    pub fn run(&self) -> Result<FrontierOutcome, FrontierError> {
        self.run_with(&NoProgress)
    }

    /// Runs the search as [`FrontierSearch::run`] does, which an observer sees and may stop.
    ///
    /// # Errors
    /// As [`FrontierSearch::run`], and [`FrontierError::Interrupted`].
    pub fn run_with(&self, progress: &dyn Progress) -> Result<FrontierOutcome, FrontierError> {
        let kernel = self.resources.choose_kernel()?;
        let pool = pool(self.resources.threads)?;
        let begun = Instant::now();
        let fields = StateFields::of(&self.puzzle);
        let mut found = pool.install(|| {
            let (puzzle, most) = (&self.puzzle, self.max_depth);
            let choice =
                CoordinateChoice::new(puzzle, &fields, self.symmetry, most, self.resources.memory);
            self.search(&fields, &choice, kernel, progress)
        })?;
        found.threads = pool.current_num_threads();
        found.seconds = begun.elapsed().as_secs_f64();
        Ok(found)
    }

    fn search(
        &self,
        fields: &StateFields,
        choice: &CoordinateChoice,
        kernel: Kernel,
        progress: &dyn Progress,
    ) -> Result<FrontierOutcome, FrontierError> {
        let puzzle = &self.puzzle;
        // Moves may depend on one piece that has no double, as those of a board on the blank.
        let mut needed = puzzle.moves().iter().filter_map(|one| Some((one, one.requires?)));
        let first = needed.clone().next().map(|(_, at)| at);
        let other =
            |at: &OrbitPlace| first.is_some_and(|f| (f.orbit, f.kind) != (at.orbit, at.kind));
        if let Some((one, _)) = needed.find(|(_, at)| fields.location(*at).is_none() || other(at)) {
            return Err(FrontierError::Requires {
                puzzle: puzzle.to_string(),
                name: one.name.clone(),
            });
        }
        let space = BucketSpace::new(puzzle, fields, choice, kernel);
        tracing::debug!("{}", space.describe(choice));
        let coded = choice.coded && space.coder.can_code();
        match space.words() {
            1 => self.levels::<1>(&space, fields, coded, progress),
            2 => self.levels::<2>(&space, fields, coded, progress),
            3 => self.levels::<3>(&space, fields, coded, progress),
            4 => self.levels::<4>(&space, fields, coded, progress),
            8 => self.levels::<8>(&space, fields, coded, progress),
            16 => self.levels::<16>(&space, fields, coded, progress),
            32 => self.levels::<32>(&space, fields, coded, progress),
            64 => self.levels::<64>(&space, fields, coded, progress),
            128 => self.levels::<128>(&space, fields, coded, progress),
            words => Err(FrontierError::State { puzzle: puzzle.to_string(), words }),
        }
    }

    fn levels<const W: usize>(
        &self,
        space: &BucketSpace,
        fields: &StateFields,
        coded: bool,
        progress: &dyn Progress,
    ) -> Result<FrontierOutcome, FrontierError> {
        let mut found = FrontierOutcome {
            levels: Vec::new(),
            complete: false,
            symmetries: space.symmetries(),
            peak_bytes: 0,
            kernel: space.kernel,
            threads: 0,
            seconds: 0.0,
        };
        let mut push = |total: LevelTotal, bytes: u64, begun: Instant| {
            let seconds = begun.elapsed().as_secs_f64();
            let depth = found.levels.len();
            found.levels.push(FrontierLevel {
                states: total.states,
                reduced: space.is_reduced().then_some(total.reduced),
                checksum: total.checksum,
                generated: total.generated,
                kept: total.kept,
                bytes,
                seconds,
            });
            progress.level(&LevelDone { depth, states: total.states, seconds });
        };
        // The states at the last depth are rarely all that there are.
        progress.started(u64::MAX);
        let begun = Instant::now();
        let (mut current, total) = space.start::<W>(&fields.encode(&self.puzzle.solved()));
        push(total, current.bytes(), begun);
        // Keys of the last level, and what the next one may come to.
        let (mut kept, mut expected) = (1, 1.0);
        // The levels that a new one may meet again.
        let mut seen: Vec<BucketLists> = Vec::new();
        let mut complete = false;
        let mut peak_bytes = current.bytes();
        for depth in 1.. {
            if self.max_depth.is_some_and(|most| depth > most) {
                break;
            }
            let begun = Instant::now();
            let taken = seen.iter().map(BucketLists::bytes).sum::<u64>() + current.bytes();
            let room =
                self.resources.memory.map_or(u64::MAX, |budget| budget.saturating_sub(taken));
            let is_wide = || expected * (8 * W) as f64 > 0.5 * room as f64;
            let becomes = match self.max_depth.map(|most| most - depth) {
                Some(0) if self.count_ahead && depth > 1 => LevelUse::CountedAhead,
                Some(0) => LevelUse::Counted,
                Some(1) if self.count_ahead => LevelUse::Counted,
                _ if coded || space.coder.can_code() && is_wide() => LevelUse::Coded,
                _ => LevelUse::Kept,
            };
            let work = LevelWork { seen: &seen, current: &current, depth, becomes, room, progress };
            let done = match space.level::<W>(&work) {
                Err(LevelEnd::Full) if becomes == LevelUse::Kept && space.coder.can_code() => {
                    space.level::<W>(&LevelWork { becomes: LevelUse::Coded, ..work })
                }
                done => done,
            };
            let (next, total) = done.map_err(|stopped| match stopped {
                LevelEnd::Interrupted => FrontierError::Interrupted,
                LevelEnd::Full => {
                    let (puzzle, budget) =
                        (self.puzzle.to_string(), self.resources.memory.unwrap_or(0));
                    FrontierError::Memory { puzzle, depth, budget }
                }
            })?;
            if total.states == 0 {
                complete = true;
                break;
            }
            let is_stored = matches!(becomes, LevelUse::Kept | LevelUse::Coded);
            push(total, if is_stored { next.bytes() } else { 0 }, begun);
            if !is_stored {
                continue;
            }
            expected = total.kept as f64 * (total.kept as f64 / kept as f64).max(1.0);
            kept = total.kept;
            peak_bytes = peak_bytes.max(taken + next.bytes());
            if !space.directed {
                seen.clear();
            }
            seen.push(std::mem::replace(&mut current, next));
        }
        Ok(FrontierOutcome { complete, peak_bytes, ..found })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::frontier::choice::candidates;
    use crate::frontier::symmetry::SymmetryGroup;
    use crate::progress::StopWhen;
    use crate::puzzle::orbits::{Arrangement, Orbit, OrbitMove, OrbitTurn, Placed, Transformation};

    fn turn(source: &[u8], twist: &[u8]) -> OrbitTurn {
        OrbitTurn { source: source.to_vec(), twist: twist.to_vec() }
    }

    fn one(name: &str, turns: Vec<OrbitTurn>) -> OrbitMove {
        OrbitMove { name: name.into(), transformation: Transformation(turns), requires: None }
    }

    /// A board of any size: the blank is the piece that is at home in a cell.
    fn board(rows: usize, columns: usize, home: usize) -> OrbitPuzzle {
        let cells = rows * columns;
        let mut moves = Vec::new();
        for (from, to) in (0..cells).flat_map(|from| (0..cells).map(move |to| (from, to))) {
            let apart =
                (from / columns).abs_diff(to / columns) + (from % columns).abs_diff(to % columns);
            if apart == 1 {
                let mut source: Vec<u8> = (0..cells as u8).collect();
                source.swap(from, to);
                let blank = OrbitPlace { orbit: 0, position: from as u8, kind: home as u8 };
                let slide = one(&format!("{from}-{to}"), vec![turn(&source, &vec![0; cells])]);
                moves.push(OrbitMove { requires: Some(blank), ..slide });
            }
        }
        let tiles = vec![Orbit::distinct("tiles", cells as u8, 1)];
        OrbitPuzzle::new(format!("{rows}x{columns}"), tiles, moves).unwrap()
    }

    /// Two wheels of four pieces with three orientations that share two places, and a ring of equal pieces.
    fn wheels(kinds: [u8; 6]) -> OrbitPuzzle {
        let mut corners = Orbit::distinct("corners", 6, 3);
        for (piece, kind) in corners.solved.iter_mut().zip(kinds) {
            piece.kind = kind;
        }
        let mut ring = Orbit::distinct("ring", 4, 1);
        ring.solved = [0, 1, 0, 1].map(|kind| Placed { kind, turn: 0 }).to_vec();
        let (still, round) = (turn(&[0, 1, 2, 3], &[0; 4]), turn(&[3, 0, 1, 2], &[0; 4]));
        let left = turn(&[3, 0, 1, 2, 4, 5], &[1, 2, 1, 2, 0, 0]);
        let right = turn(&[0, 1, 5, 2, 3, 4], &[0, 0, 1, 2, 1, 2]);
        let moves = vec![one("L", vec![left, round]), one("R", vec![right, still])];
        OrbitPuzzle::new("wheels", vec![corners, ring], moves).unwrap()
    }

    /// Six pieces in a row that go round, four of them back and forth.
    fn slide(kinds: [u8; 6]) -> OrbitPuzzle {
        let mut pieces = Orbit::distinct("pieces", 6, 1);
        for (piece, kind) in pieces.solved.iter_mut().zip(kinds) {
            piece.kind = kind;
        }
        let all = turn(&[1, 2, 3, 4, 5, 0], &[0; 6]);
        let some = turn(&[3, 0, 1, 2, 4, 5], &[0; 6]);
        let moves = vec![one("A", vec![all]), one("B", vec![some])];
        OrbitPuzzle::new("slide", vec![pieces], moves).unwrap()
    }

    fn puzzles() -> Vec<OrbitPuzzle> {
        let different = [0, 1, 2, 3, 4, 5];
        let at = |position, kind| OrbitPlace { orbit: 0, position, kind };
        vec![
            board(2, 3, 0),
            board(3, 3, 4),
            wheels(different).inverse_closed().unwrap(),
            wheels(different).with_powers().unwrap(),
            wheels([0, 1, 2, 0, 0, 0]).inverse_closed().unwrap(),
            wheels([0, 0, 0, 1, 1, 1]).with_powers().unwrap(),
            wheels([0, 1, 2, 3, 3, 3]),
            wheels(different).with_powers().unwrap().forbidding(vec![at(0, 1), at(5, 2)]),
            wheels([0, 0, 0, 1, 1, 1]).inverse_closed().unwrap().forbidding(vec![at(1, 1)]),
            // Those that look alike and do not turn have no fields of their own.
            slide([0, 1, 2, 2, 2, 2]).with_powers().unwrap().forbidding(vec![at(0, 2)]),
        ]
    }

    /// The states of each depth, by plain code.
    fn plain(puzzle: &OrbitPuzzle, depth: usize) -> Vec<u64> {
        let mut level = vec![puzzle.solved()];
        let mut seen: HashSet<Arrangement> = level.iter().cloned().collect();
        let mut counts = vec![1];
        while counts.len() <= depth {
            let moves = 0..puzzle.moves().len();
            let after = |state| moves.clone().filter_map(move |one| puzzle.moved(state, one));
            let next: Vec<Arrangement> =
                level.iter().flat_map(after).filter(|state| seen.insert(state.clone())).collect();
            if next.is_empty() {
                break;
            }
            counts.push(next.len() as u64);
            level = next;
        }
        counts
    }

    fn levels(found: &FrontierOutcome) -> Vec<(u64, u64)> {
        found.levels.iter().map(|level| (level.states, level.checksum)).collect()
    }

    #[test]
    fn all_coordinates_kernels_and_symmetries_agree_with_plain_code() {
        for puzzle in puzzles() {
            let mut search = FrontierSearch::new(puzzle);
            search.max_depth = Some(7);
            let expected = plain(&search.puzzle, 7);
            assert!(expected.len() > 3, "{}: {expected:?}", search.puzzle);
            let first = search.run().unwrap();
            assert_eq!(first.counts(), expected, "{}", search.puzzle);
            let fields = StateFields::of(&search.puzzle);
            let whole_group = SymmetryGroup::find(&search.puzzle, &fields);
            let moves = search.puzzle.moves().iter();
            let required: Vec<usize> =
                moves.filter_map(|one| fields.location(one.requires?)).take(1).collect();
            for group in [whole_group.clone(), SymmetryGroup::trivial(&fields)] {
                for chosen in candidates(&fields, &group, &required) {
                    for (oriented, kernel, coded, count_ahead) in [
                        (true, Kernel::best(), false, true),
                        (false, Kernel::best(), true, false),
                        (true, Kernel::Scalar, false, false),
                        (true, Kernel::Avx2, false, false),
                        (false, Kernel::Avx2, false, false),
                        (true, Kernel::Scalar, true, true),
                    ] {
                        if !kernel.is_supported() {
                            continue;
                        }
                        let search = search.clone().count_ahead(count_ahead);
                        let choice = CoordinateChoice {
                            fields: chosen.clone(),
                            oriented,
                            coded,
                            group: group.clone(),
                            whole_group: whole_group.clone(),
                        };
                        let found = search.search(&fields, &choice, kernel, &NoProgress).unwrap();
                        let (of, kernel) = (&search.puzzle, kernel.name());
                        let what = format!(
                            "{of}: {chosen:?} {oriented} {kernel} {coded} {}",
                            group.order()
                        );
                        assert_eq!(levels(&found), levels(&first), "{what}");
                        if let (Some(some), Some(other)) =
                            (found.levels[3].reduced, first.levels[3].reduced)
                        {
                            assert_eq!(some, other, "{what}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn complete_searches_end_and_symmetries_are_all_found() {
        let order =
            |puzzle: &OrbitPuzzle| SymmetryGroup::find(puzzle, &StateFields::of(puzzle)).order();
        assert_eq!([board(3, 3, 4), board(3, 3, 0), board(2, 4, 1)].map(|b| order(&b)), [8, 2, 1]);
        let found = FrontierSearch::new(board(3, 3, 8)).run().unwrap();
        assert_eq!((found.complete, found.counts().len()), (true, 32));
        // The two are mirror images.
        assert_eq!((found.levels[31].states, found.levels[31].reduced), (2, Some(1)));
        assert_eq!(found.counts().iter().sum::<u64>(), 181_440);
    }

    #[test]
    fn mirror_images_of_coins_count_once() {
        let coins = |twist: [u8; 3]| vec![turn(&[0, 1, 2], &twist)];
        let moves = vec![one("L", coins([1, 1, 0])), one("R", coins([0, 1, 1]))];
        let puzzle = OrbitPuzzle::new("coins", vec![Orbit::distinct("coins", 3, 2)], moves);
        let found = FrontierSearch::new(puzzle.unwrap()).run().unwrap();
        let levels = found.levels.iter().map(|level| (level.states, level.reduced));
        assert_eq!(levels.collect::<Vec<_>>(), [(1, Some(1)), (2, Some(1)), (1, Some(1))]);
    }

    #[test]
    fn a_search_says_why_it_ends_early() {
        let mut search = FrontierSearch::new(board(5, 5, 0));
        let interrupted = search.run_with(&StopWhen(|| true)).unwrap_err();
        assert!(matches!(interrupted, FrontierError::Interrupted));
        search.resources.memory = Some(8 << 20);
        let FrontierError::Memory { depth, .. } = search.run().unwrap_err() else {
            panic!("eight megabytes are not enough");
        };
        // What the message advises works.
        search.max_depth = Some(depth);
        assert_eq!(search.run().unwrap().levels.len(), depth + 1);
    }
}
