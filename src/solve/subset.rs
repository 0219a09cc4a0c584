//! How far some of a puzzle's states are from its goals: of those that begin a phase, or of a trainer's cases.
//!
//! The states are found by what they look like, not by a search from the goals, and each class of them up to symmetry is
//! solved once: that works for a few states of a puzzle of any size.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use rayon::prelude::*;

use crate::{
    Error,
    frontier::{PuzzleRows, SymmetryGroup},
    kernel::keys::digest,
    outcome::{Engine, LastStates, Outcome},
    progress::{Phase, Progress},
    pruning::row_rank::PieceMap,
    puzzle::{Arrangement, Puzzle, PuzzleError, Searched, error::wrong, variant::ASKED},
    solve::{PuzzleSolver, SolveError, StateSolver},
    store::LevelRecord,
    system::SystemError,
};

/// Some of a puzzle's states, whose distances from its goals are asked for.
///
/// ```
/// use tilewave::puzzle::PuzzleSpec;
/// use tilewave::pruning::PruningTable;
/// use tilewave::{Resources, solve::{PuzzleSolver, StateSubset}, table::TableEncoding};
/// // The 2x2x2 cube whose first four corners are in place, and how long the rest takes.
/// let cube = PuzzleSpec::of("2x2x2").listed()?;
/// let layer = StateSubset::of(&cube, &cube, &["corners 1 2 3 4 ? ? ?".into()])?;
/// let table = PruningTable::build(&cube, TableEncoding::Nibble, Resources::new())?;
/// let found = layer.depths(&PuzzleSolver::new(cube, [table])?, &tilewave::NoProgress)?;
/// assert_eq!((found.total(), found.diameter()), (54, Some(11)));
/// # Ok::<(), tilewave::Error>(())
/// ```
pub struct StateSubset {
    puzzle: Puzzle,
    texts: Vec<String>,
    /// The classes of states with the same images under the symmetries of the puzzle.
    classes: Vec<StateClass>,
    /// Whether moves are known to lead to all of them.
    is_known: bool,
}

struct StateClass {
    /// The states of the subset, in order.
    states: Vec<Arrangement>,
    /// The digest that each of them adds to a checksum.
    digest: u64,
}

impl StateSubset {
    /// Returns the states of a puzzle that match at least one of these texts: states, sequences of moves, or masks, in
    /// which `?` stands for any piece or orientation, and a set that is left out may have any arrangement. The texts are
    /// those of `whole`, of which the puzzle may be a projection; otherwise both are the same. Cost: microseconds for each
    /// state.
    ///
    /// # Errors
    /// A [`PuzzleError`] for a text that is no state or mask, if more than a million states match, and if a text tells
    /// apart what looks alike in the projection.
    pub fn of(
        puzzle: &Puzzle,
        whole: &Puzzle,
        texts: &[String],
    ) -> Result<StateSubset, PuzzleError> {
        let (masks, are_known) = whole.read_states_asked(texts)?;
        let Some(map) = PieceMap::new(whole, puzzle) else {
            return Err(wrong!(Setting: "{puzzle} is not a projection of {whole}"));
        };
        let seen = masks.iter().map(|mask| map.mask((whole, puzzle), mask));
        let masks = seen.collect::<Result<Vec<_>, _>>().map_err(|set| {
            wrong!(Setting: "the goals leave open some pieces or orientations of set '{set}' that these \
                states fix: leave them open here, too, or fix them in the goals")
        })?;
        let (states, unknown) = puzzle.fitting(&masks, &ASKED)?;
        let rows = PuzzleRows::of(puzzle);
        let group = rows.symmetries(true);
        let sums = group.state_sums(&rows.fields);
        let mut classes: BTreeMap<Vec<u8>, StateClass> = BTreeMap::new();
        for state in states {
            let row = rows.fields.encode(&state);
            let add = |(sums, &value): (&Vec<u32>, &u8)| sums[usize::from(value)];
            let sum = sums.iter().zip(&row).map(add).fold(0, u32::wrapping_add);
            let least = least_image(&group, &row);
            let class = StateClass { states: Vec::new(), digest: digest(sum) };
            classes.entry(least).or_insert(class).states.push(state);
        }
        let classes = classes.into_values().collect();
        let (puzzle, texts) = (puzzle.clone(), texts.to_vec());
        Ok(StateSubset { puzzle, texts, classes, is_known: are_known && unknown.is_none() })
    }

    /// Returns the puzzle.
    pub fn puzzle(&self) -> &Puzzle {
        &self.puzzle
    }

    /// Returns the number of states, with those that may turn out to be unreachable.
    pub fn states(&self) -> u64 {
        self.classes.iter().map(|class| class.states.len() as u64).sum()
    }

    /// Returns the number of states that are solved: one of each class of states with the same images under symmetries.
    pub fn classes(&self) -> u64 {
        self.classes.len() as u64
    }

    /// Solves one state of each class, and returns how many states have each depth, with all of those of the last
    /// one. The seconds of a depth are those of all threads. Cost: that of the solutions. Uses the threads of the current
    /// rayon pool. The observer is told how many classes are done.
    ///
    /// # Errors
    /// [`SystemError::Interrupted`] if the observer asks to stop, those of [`PuzzleSolver::solve`], and a [`PuzzleError`]
    /// if neither the moves nor the solver's tables tell which states moves reach, or if they reach none.
    pub fn depths(&self, solver: &PuzzleSolver, progress: &dyn Progress) -> Result<Outcome, Error> {
        let (begun, done) = (Instant::now(), AtomicU64::new(0));
        let all = self.classes();
        let solved = self.classes.par_iter().map(|class| {
            match (self.is_known, solver.reaches(&class.states[0])) {
                (true, _) | (_, Some(Ok(()))) => {}
                (_, Some(Err(_))) => return Ok(None),
                (_, None) => {
                    let puzzle = &self.puzzle;
                    let error = wrong!(Undecided: "it is not known which of these states the moves of \
                        {puzzle} reach: allow more memory, for a table of all its states");
                    return Err(SolveError::Puzzle(error).into());
                }
            }
            let answer = solver.solve_with(&class.states[0], &Unseen(progress))?;
            let interrupted = || Error::from(SystemError::Interrupted);
            let moves = answer.moves.ok_or_else(interrupted)?;
            progress.progress(Phase::Check, 1 + done.fetch_add(1, Ordering::Relaxed), all);
            Ok(Some((class, moves.len(), answer.seconds)))
        });
        let solved = solved.collect::<Result<Vec<_>, Error>>()?;
        let mut levels: Vec<LevelRecord> = Vec::new();
        for &(class, depth, seconds) in solved.iter().flatten() {
            if levels.len() <= depth {
                levels.resize_with(depth + 1, LevelRecord::default);
            }
            let (level, states) = (&mut levels[depth], class.states.len() as u64);
            level.states += states;
            level.checksum = level.checksum.wrapping_add(class.digest.wrapping_mul(states));
            level.seconds += seconds;
        }
        let Some(deepest) = levels.len().checked_sub(1) else {
            return Err(PuzzleError::unreached(&self.puzzle, "it is none of their states").into());
        };
        let last = solved.iter().flatten().filter(|(_, depth, _)| *depth == deepest);
        let mut last: Vec<Arrangement> =
            last.flat_map(|(class, ..)| class.states.clone()).collect();
        last.sort();
        let all: u64 = levels.iter().map(|level| level.states).sum();
        let of = (Searched::Listed(self.puzzle.clone()), Some(all.into()));
        Ok(Outcome {
            among: self.texts.clone(),
            threads: rayon::current_num_threads(),
            seconds: begun.elapsed().as_secs_f64(),
            last: LastStates::Listed(last),
            ..Outcome::of(of, (Engine::Solver, None), &levels, true)
        })
    }
}

/// Lets a search be stopped by an observer that is not told of its nodes.
struct Unseen<'p>(&'p dyn Progress);

impl Progress for Unseen<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

fn least_image(group: &SymmetryGroup, row: &[u8]) -> Vec<u8> {
    group.images(row).pop_first().expect("a state is an image of itself")
}
