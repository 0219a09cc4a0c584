//! Quick solutions of puzzles with several sets of pieces: they reach one goal set after another, each with the fewest
//! moves.
//!
//! A phase is a projection or a subgroup. After a subgroup, only its own moves are used, so that it remains solved;
//! after a projection, any moves may be used.
//!
//! Source: H. Kociemba's two phases and M. Thistlethwaite's four phases for Rubik's cube.
//!
//! Invariant: the moves of a solution have been replayed before it is returned.

use std::time::Instant;

use crate::{
    Error,
    progress::{Phase, Progress},
    pruning::{PruningTable, row_rank::PieceMap},
    puzzle::{Arrangement, Puzzle, Turns, Unreachable, Variant, reachable::Reachability},
    solve::{
        Answer, SolveError, StateSolver,
        puzzles::{PuzzleSolver, move_named, replayed, unreached},
    },
};

/// A solver that brings a puzzle from one set of goals to the next until it is solved.
///
/// ```
/// use tilewave::pruning::PruningTable;
/// use tilewave::table::TableEncoding;
/// use tilewave::puzzle::{Variant, named, Turns};
/// use tilewave::{Error, Resources, solve::PhaseSolver};
/// let puzzle = named::parse("skewb").unwrap().counting(Turns::Powers)?;
/// let centres = Variant { pieces: vec!["centres".into()], ..Variant::default() };
/// let table = |puzzle: &_| {
///     Ok::<_, Error>(vec![PruningTable::build(puzzle, TableEncoding::Nibble, Resources::new())?])
/// };
/// let solver = PhaseSolver::new(puzzle, &[centres], table)?;
/// let (state, _) = solver.puzzle().read("URF DLF URF'")?;
/// let answer = solver.solve_with(&state, &tilewave::progress::NoProgress)?;
/// assert!(answer.moves.unwrap().len() >= 3);
/// # Ok::<(), Error>(())
/// ```
pub struct PhaseSolver {
    puzzle: Puzzle,
    /// Which states are reachable, as far as that is known.
    reachable: Reachability,
    /// For each phase, its solver, and how the puzzle's pieces correspond to those of the phase.
    phases: Vec<(PuzzleSolver, PieceMap)>,
}

impl PhaseSolver {
    /// Returns the solver that reaches the solved states of a puzzle through the solved states of some variants. A
    /// function builds the tables of each phase.
    ///
    /// # Errors
    /// [`PuzzleError`](crate::puzzle::PuzzleError) for an impossible variant; the errors of the function; the errors of
    /// [`PuzzleSolver::new`].
    pub fn new<E: From<Error>>(
        puzzle: Puzzle,
        via: &[Variant],
        mut tables: impl FnMut(&Puzzle) -> Result<Vec<PruningTable>, E>,
    ) -> Result<PhaseSolver, E> {
        let mut phase = |left: &Puzzle, of: Puzzle| -> Result<_, E> {
            let map = PieceMap::new(left, &of).expect("a variant is a projection");
            let tables = tables(&of)?;
            Ok((PuzzleSolver::new(of, tables).map_err(Error::from)?, map))
        };
        let mut phases = Vec::new();
        // The puzzle with the moves that preserve what the subgroups so far have solved.
        let mut left = puzzle.clone();
        for variant in via {
            let of = variant.of(left.clone(), Turns::Directed).map_err(Error::from)?;
            let within = left.within(&of, variant);
            phases.push(phase(&left, of)?);
            left = within.unwrap_or(left);
        }
        phases.push(phase(&left, left.clone())?);
        Ok(PhaseSolver { reachable: Reachability::of(&puzzle), puzzle, phases })
    }

    /// Returns the puzzle.
    pub fn puzzle(&self) -> &Puzzle {
        &self.puzzle
    }

    /// Returns whether moves lead from the solved puzzle to a state; see [`PuzzleSolver::reaches`].
    pub fn reaches(&self, state: &Arrangement) -> Option<Result<(), Unreachable>> {
        self.reachable.reaches(&self.puzzle, state).or_else(|| {
            let (solver, map) = self.phases.first()?;
            let seen = map.arrangement(solver.puzzle(), state);
            solver.reaches(&seen).filter(Result::is_err)
        })
    }

    /// Returns a solution of a state, or the errors of [`PuzzleSolver::solve`]; its length is an upper bound on the
    /// length of the shortest one. An observer is informed of the nodes so far and may stop the search.
    pub fn solve_with(
        &self,
        state: &Arrangement,
        progress: &dyn Progress,
    ) -> Result<Answer<Vec<String>>, SolveError> {
        let begun = Instant::now();
        let seconds = || begun.elapsed().as_secs_f64();
        if let Some(Err(why)) = self.reaches(state) {
            return Err(unreached(&self.puzzle, why));
        }
        let mut at = state.clone();
        let mut solution: Vec<usize> = Vec::new();
        let (mut nodes, mut least) = (0, None);
        for (solver, map) in &self.phases {
            let seen = map.arrangement(solver.puzzle(), &at);
            let answer = solver.solve_with(&seen, &LaterPhase { progress, nodes })?;
            nodes += answer.nodes;
            // Every solution solves everything that the first phase does.
            let first = answer.moves.as_ref().map_or(answer.at_least, Vec::len);
            let at_least = *least.get_or_insert(first);
            let Some(names) = answer.moves else {
                return Ok(Answer { moves: None, at_least, nodes, seconds: seconds() });
            };
            for name in names {
                let one = move_named(&self.puzzle, &name).ok_or(SolveError::NoSolution)?;
                at = self.puzzle.moved(&at, one).ok_or(SolveError::NoSolution)?;
                solution.push(one);
            }
        }
        let moves = replayed(&self.puzzle, state, self.joined(solution));
        let moves = Some(moves.ok_or(SolveError::NoSolution)?);
        Ok(Answer { moves, at_least: least.unwrap_or_default(), nodes, seconds: seconds() })
    }

    /// Merges adjacent moves that are equivalent to one move or to none, where one phase ends and the next begins.
    fn joined(&self, moves: Vec<usize>) -> Vec<usize> {
        let all = self.puzzle.moves();
        if !self.puzzle.allows_all_moves() {
            return moves;
        }
        let mut joined: Vec<usize> = Vec::new();
        for one in moves {
            let Some(before) = joined.pop() else {
                joined.push(one);
                continue;
            };
            let of = |index: usize| &all[index].transformation;
            let both = of(before).then(of(one), self.puzzle.sets());
            let seen = |index: &usize| self.puzzle.seen(of(*index)) == self.puzzle.seen(&both);
            if self.puzzle.does_something(&both) {
                match (0..all.len()).find(seen) {
                    Some(same) => joined.push(same),
                    None => joined.extend([before, one]),
                }
            }
        }
        joined
    }
}

/// Adds the nodes of earlier phases, so that an observer is informed of those of the whole solution.
struct LaterPhase<'p> {
    progress: &'p dyn Progress,
    nodes: u64,
}

impl Progress for LaterPhase<'_> {
    fn progress(&self, phase: Phase, nodes: u64, total: u64) {
        self.progress.progress(phase, self.nodes + nodes, total);
    }

    fn interrupted(&self) -> bool {
        self.progress.interrupted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Resources, progress::NoProgress, puzzle::named, table::TableEncoding};

    /// Random states through phases of every kind; each phase is as short as its table says.
    #[test]
    fn phases_end_at_the_solved_state() {
        let tables = |puzzle: &Puzzle| {
            let all = PruningTable::default_projections(puzzle, None)?.into_iter();
            let table =
                |of: Puzzle| PruningTable::build(&of, TableEncoding::Nibble, Resources::new());
            all.map(table).collect::<Result<Vec<_>, Error>>()
        };
        let pieces = |text: &str| Variant {
            pieces: text.split(',').map(String::from).collect(),
            ..Variant::default()
        };
        let subgroup =
            |text: &str| Variant { subgroup: Variant::split(text), ..Variant::default() };
        for (name, via, most) in [
            ("2x2x2", vec![pieces("corners:1-3")], 20),
            ("2x2x2", vec![subgroup("<U, F2, R2>")], 24),
            ("pyraminx", vec![pieces("corners"), pieces("corners,edges:1-3")], 20),
            ("skewb", vec![], 11),
            ("3x3x3", vec![subgroup("U D R2 L2 F2 B2")], 31),
            ("3x3x3", vec![pieces("edges:1-4"), subgroup("U D R2 L2 F2 B2")], 39),
        ] {
            let puzzle = named::parse(name).unwrap().counting(Turns::Powers).unwrap();
            let solver = PhaseSolver::new(puzzle.clone(), &via, tables).unwrap();
            for state in puzzle.scrambles(7).unwrap().take(3) {
                let answer = solver.solve_with(&state, &NoProgress).unwrap();
                let names = answer.moves.unwrap();
                assert!(names.len() <= most, "{name} {via:?}: {names:?}");
                let (_, undone) = puzzle.read(&names.join(" ")).unwrap();
                assert_eq!(
                    puzzle.after(&state, &undone.unwrap().effect),
                    puzzle.solved(),
                    "{name} {via:?}"
                );
            }
        }
    }
}
