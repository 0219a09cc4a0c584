//! An independent check of an optimum: a SAT solver finds a solution of that length and proves that there is no shorter
//! one.
//!
//! Invariant: nothing from the search, the databases or the tables is used; a solution is verified by applying its
//! moves.

use std::time::Instant;

use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, lbool};

use crate::{
    progress::{NoProgress, Progress},
    puzzle::{Board, Moves},
    solve::{
        SolveError,
        models::{Cnf, Question},
    },
};

/// A proven optimum.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Certificate {
    /// A solution of the optimal length, found by the SAT solver and verified.
    pub solution: Moves,
    /// Number of conflicts that the solver encountered while proving that there is no shorter solution.
    pub conflicts: u64,
    /// Time taken, in seconds.
    pub seconds: f64,
}

/// Returns the certificate that `length` is the minimum number of moves from `board` to `goal`.
///
/// The solver is BatSat, a descendant of MiniSat. Cost: grows exponentially with the length. The hardest 3x3 board,
/// with 31 moves, takes a second; a 4x4 board with 38 moves takes about 15 s, and one with 42 moves takes minutes.
///
/// ```
/// use tilewave::puzzle::{Board, Goal};
/// use tilewave::solve::{SolveError, certify};
///
/// let board = Board::parse("1 2 3/0 4 6/7 5 8", None)?;
/// let goal = Goal::Last.board(board.size())?;
/// assert_eq!(certify(&board, &goal, 3)?.solution.len(), 3);
/// assert!(matches!(certify(&board, &goal, 5), Err(SolveError::Beaten { .. })));
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// # Errors
/// [`SolveError::Beaten`] with a shorter solution if there is one, [`SolveError::TooShort`] if there is no solution of
/// that length, and the errors of [`Question::new`].
pub fn certify(board: &Board, goal: &Board, length: usize) -> Result<Certificate, SolveError> {
    certify_with(board, goal, length, &NoProgress)
}

/// Like [`certify`], with an observer that may stop the work.
///
/// # Errors
/// Same errors as [`certify`], plus [`SolveError::Undecided`].
pub fn certify_with(
    board: &Board,
    goal: &Board,
    length: usize,
    progress: &dyn Progress,
) -> Result<Certificate, SolveError> {
    let begun = Instant::now();
    let ask = |moves| decide(board, goal, moves, progress, begun);
    let (solution, _) = ask(length)?;
    let Some(solution) = solution else {
        return Err(SolveError::TooShort { claimed: length });
    };
    let (shorter, conflicts) = match length {
        // Found at once, or no solution is shorter.
        _ if solution.len() < length => (Some(solution.clone()), 0),
        0 => (None, 0),
        _ => ask(length - 1)?,
    };
    match shorter {
        Some(moves) => Err(SolveError::Beaten { claimed: length, moves }),
        None => Ok(Certificate { solution, conflicts, seconds: begun.elapsed().as_secs_f64() }),
    }
}

/// Returns a solution with at most `moves` moves, if there is one, and the number of the solver's conflicts.
fn decide(
    board: &Board,
    goal: &Board,
    moves: usize,
    progress: &dyn Progress,
    begun: Instant,
) -> Result<(Option<Moves>, u64), SolveError> {
    let cnf = Cnf::new(Question::new(board.clone(), goal.clone(), moves)?);
    let mut solver = Solver::new(SolverOpts::default(), Stop(progress));
    let variables: Vec<_> = (0..cnf.variables()).map(|_| solver.new_var_default()).collect();
    let mut literals = Vec::new();
    for clause in cnf.clauses() {
        literals.clear();
        literals.extend(
            clause.iter().map(|&l| Lit::new(variables[l.unsigned_abs() as usize - 1], l > 0)),
        );
        if !solver.add_clause_reuse(&mut literals) {
            return Ok((None, 0));
        }
    }
    let answer = solver.solve_limited(&[]);
    if answer == lbool::FALSE {
        return Ok((None, solver.num_conflicts()));
    }
    if answer != lbool::TRUE {
        let seconds = begun.elapsed().as_secs_f64();
        return Err(SolveError::Undecided { moves, seconds });
    }
    let is_true = |v: i32| solver.value_var(variables[v as usize - 1]) == lbool::TRUE;
    let solution = cnf.decode(is_true);
    if solution.len() > moves || solution.apply(board).as_ref() != Ok(goal) {
        return Err(SolveError::WrongModel { moves });
    }
    Ok((Some(solution), solver.num_conflicts()))
}

/// Stops the solver when the observer asks for it.
struct Stop<'a>(&'a dyn Progress);

impl Callbacks for Stop<'_> {
    fn stop(&self) -> bool {
        self.0.interrupted()
    }
}
