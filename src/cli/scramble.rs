//! `tilewave scramble`: random states, one per line, all equally likely; or moves that lead to them.
//!
//! Moves come from a solution, inverted: a shortest one where the puzzle is small, otherwise a quick one.

use std::str::FromStr;

use rayon::prelude::*;
use tilewave::{
    Board, Constructive, Optimal, Pattern,
    progress::StopWhen,
    puzzle::{
        Arrangement, MoveStyle, Moves, Puzzle, PuzzleSpec, Searched, notation::SequenceStyle,
    },
    solve::{PhaseSolver, PuzzleSolver, Scrambler, StateSolver},
};

use crate::{
    Failure, GoalOption, PuzzleOptions, Result, count, print, progress, refuse, seed,
    solve::{Databases, FirstTable},
};

/// States that are written together, and moves.
const BATCH: u64 = 4096;
const MOVES_BATCH: u64 = 64;
/// Maximum number of cells of a board for which shortest solutions are quick.
const SMALL_BOARD: usize = 16;

/// Generate random boards, or random states of another puzzle, all equally likely.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave scramble 4x4 --count 5 --seed 1\n  tilewave scramble 3x3x3 | tilewave solve 3x3x3\n  \
                  tilewave scramble skewb --moves --count 5"
)]
pub struct ScrambleArgs {
    /// Number of states to generate.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = count::<u64>(), allow_negative_numbers = true)]
    count: u64,

    /// Random seed; the same seed gives the same states on every machine [default: a random seed, which is logged].
    #[arg(long, value_name = "N", value_parser = count::<u64>(), allow_negative_numbers = true)]
    seed: Option<u64>,

    /// Write the moves that lead to each state: few ones, or with --moves=optimal as few as possible.
    ///
    /// The moves of a board lead there from its goal. The 3x3x3 cube, the clock and puzzles with up to a billion states need few
    /// moves, other puzzles 50 to some hundred; for these, --moves=optimal may take very long.
    #[arg(long, value_name = "optimal", num_args = 0..=1, require_equals = true, default_missing_value = "few", value_parser = ScrambleMoves::from_str)]
    moves: Option<ScrambleMoves>,

    #[command(flatten)]
    of: PuzzleOptions<GoalOption>,
}

/// The value of `--moves`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScrambleMoves {
    Few,
    Optimal,
}

impl FromStr for ScrambleMoves {
    type Err = String;

    fn from_str(text: &str) -> Result<ScrambleMoves, String> {
        match text {
            "few" => Ok(ScrambleMoves::Few),
            "optimal" => Ok(ScrambleMoves::Optimal),
            other => Err(format!("'{other}' is not known: write --moves or --moves=optimal")),
        }
    }
}

impl ScrambleArgs {
    pub fn run(&self) -> Result<()> {
        let searched = self.of.searched()?;
        let seed = seed(self.seed)?;
        match searched {
            Searched::Listed(puzzle) => {
                let Some(states) = puzzle.scrambles(seed) else {
                    refuse!(
                        "cannot generate random states of {puzzle}: the puzzle has too many \
                         pieces, or moves that depend on several of them"
                    );
                };
                match self.moves {
                    None => self.write(states.map(|state| puzzle.text(&state))),
                    Some(how) => self.write_moves(states, &ScrambleSolver::of(&puzzle, how)?),
                }
            }
            Searched::Numbered(space) => match (space.boards(), space.puzzle()) {
                (Some((goal, _)), _) => {
                    let boards = Scrambler::new(goal.clone(), seed);
                    match self.moves {
                        None => self.write(boards.map(|board| board.to_string())),
                        Some(how) => self.write_moves(boards, &*of_boards(goal, how)?),
                    }
                }
                (None, puzzle) => {
                    let puzzle = puzzle.expect("it is no board").clone();
                    let states = puzzle.random_permutations(seed);
                    let states = states.map(|state| puzzle.show(&state));
                    let Some(how) = self.moves else { return self.write(states) };
                    let listed = PuzzleSpec::of(&self.of.puzzle).listed()?;
                    let read = |text: String| listed.read(&text).expect("a state of its own").0;
                    self.write_moves(states.map(read), &ScrambleSolver::of(&listed, how)?)
                }
            },
        }
    }

    fn write(&self, mut states: impl Iterator<Item = String>) -> Result<()> {
        let mut left = self.count;
        while left > 0 {
            let batch = left.min(BATCH);
            let lines = states.by_ref().take(batch as usize);
            print(&lines.map(|state| state + "\n").collect::<String>())?;
            left -= batch;
        }
        Ok(())
    }

    /// Writes the moves that lead to states, found by all threads.
    fn write_moves<S: Send + Sync>(
        &self,
        mut states: impl Iterator<Item = S>,
        solver: &dyn FindsMoves<S>,
    ) -> Result<()> {
        progress::listen();
        let mut left = self.count;
        while left > 0 {
            let batch: Vec<S> = states.by_ref().take(left.min(MOVES_BATCH) as usize).collect();
            let lines: Vec<Result<String>> =
                batch.par_iter().map(|state| solver.moves_to(state)).collect();
            let lines: Result<Vec<String>> = lines.into_iter().collect();
            print(&lines?.iter().map(|line| format!("{line}\n")).collect::<String>())?;
            left -= batch.len() as u64;
        }
        Ok(())
    }
}

/// What finds the moves that lead to a state.
trait FindsMoves<S>: Sync {
    fn moves_to(&self, state: &S) -> Result<String>;
}

/// A solution by a solver of shortest ones.
fn shortest<T: StateSolver>(solver: &T, state: &T::State) -> Result<T::Moves> {
    let stop = StopWhen(progress::asked);
    let answer = solver.solve_with(state, &stop)?;
    answer.moves.ok_or_else(Failure::interrupted)
}

/// What finds the moves of boards.
fn of_boards(goal: &Board, how: ScrambleMoves) -> Result<Box<dyn FindsMoves<Board>>> {
    let (size, side) = (goal.size(), goal.size().rows().max(goal.size().cols()));
    if side > Pattern::MAX_SIDE && how == ScrambleMoves::Optimal {
        refuse!(
            "--moves=optimal needs pattern databases, which have sides of at most {}: use --moves",
            Pattern::MAX_SIDE
        );
    }
    if how == ScrambleMoves::Few && (size.cells() > SMALL_BOARD || side > Pattern::MAX_SIDE) {
        return Ok(Box::new(Constructive::new(goal.clone())));
    }
    let databases = Databases::default().get(goal, None)?;
    Ok(Box::new(Optimal::with_partitions(goal, databases)?))
}

/// The moves that undo others, the last one first.
fn undone(moves: &Moves) -> String {
    let back = moves.0.iter().rev().map(|one| one.opposite());
    Moves(back.collect()).short(MoveStyle::Tile)
}

impl FindsMoves<Board> for Constructive {
    fn moves_to(&self, board: &Board) -> Result<String> {
        Ok(undone(&self.solve(board)?))
    }
}

impl FindsMoves<Board> for Optimal {
    fn moves_to(&self, board: &Board) -> Result<String> {
        Ok(undone(&shortest(self, board)?))
    }
}

/// What finds solutions, and for each move, the name of what undoes it.
struct ScrambleSolver {
    style: SequenceStyle,
    solver: AnySolver,
    undone: Vec<(String, String)>,
}

enum AnySolver {
    Shortest(PuzzleSolver),
    Phases(PhaseSolver),
}

impl ScrambleSolver {
    fn of(puzzle: &Puzzle, how: ScrambleMoves) -> Result<ScrambleSolver> {
        if puzzle.moves().iter().any(|one| one.requires.is_some()) {
            refuse!(
                "the moves of {puzzle} depend on where a piece is, so no state is given by moves: \
                 leave out --moves"
            );
        }
        if *puzzle.goals() != [puzzle.solved()] {
            refuse!("{puzzle} has other solved states than its own: leave out --moves");
        }
        let undone = puzzle.moves().iter().map(|one| {
            let back = one.transformation.inverse(puzzle.sets());
            let inverse = puzzle.moves().iter().find(|other| other.transformation == back)?;
            Some((one.name.clone(), inverse.name.clone()))
        });
        let Some(undone) = undone.collect::<Option<Vec<_>>>() else {
            refuse!(
                "some moves of {puzzle} cannot be undone by one move, so solutions cannot be turned \
                 around: leave out --moves"
            );
        };
        let databases = Databases::default();
        let is_small = || PhaseSolver::phases(puzzle) == Some(Vec::new());
        let tables = |of: &Puzzle, _| databases.phase(of, None);
        let solver = if how == ScrambleMoves::Optimal || is_small() {
            AnySolver::Shortest(databases.solver(puzzle, None, FirstTable::Growing)?)
        } else if let Some(solver) = PhaseSolver::quick(puzzle.clone(), tables)? {
            AnySolver::Phases(solver)
        } else {
            refuse!(
                "{puzzle} has no quick solver: --moves=optimal finds shortest sequences of moves, \
                 which may take very long"
            );
        };
        Ok(ScrambleSolver { style: puzzle.sequence_style(), solver, undone })
    }
}

impl FindsMoves<Arrangement> for ScrambleSolver {
    fn moves_to(&self, state: &Arrangement) -> Result<String> {
        let moves = match &self.solver {
            AnySolver::Shortest(solver) => shortest(solver, state)?,
            AnySolver::Phases(solver) => {
                let answer = solver.solve_with(state, &StopWhen(progress::asked))?;
                answer.moves.ok_or_else(Failure::interrupted)?
            }
        };
        let back = |name: &String| {
            let (_, undone) = self.undone.iter().find(|(own, _)| own == name).expect("its own");
            undone.clone()
        };
        let moves: Vec<String> = moves.iter().rev().map(back).collect();
        Ok(self.style.text(&moves))
    }
}
