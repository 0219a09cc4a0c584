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

use num_bigint::BigUint;

use crate::{
    Error,
    progress::{Phase, Progress},
    pruning::{PruningTable, row_rank::PieceMap},
    puzzle::{
        Arrangement, Puzzle, SetAction, Transformation, Turns, Unreachable, Variant,
        reachable::Reachability, split::SplitPuzzle,
    },
    solve::{
        Answer, SolveError, StateSolver,
        chain::ChainSolver,
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
    way: QuickWay,
}

enum QuickWay {
    Phases(Vec<SolverPhase>),
    /// Piece after piece, without tables.
    Chain(Box<ChainSolver>),
}

/// One of the phases.
struct SolverPhase {
    solver: PuzzleSolver,
    /// What is solved in it, before its sets are split, and how the puzzle's pieces correspond to its own.
    of: Puzzle,
    map: PieceMap,
    split: Option<SplitPuzzle>,
}

impl SolverPhase {
    /// The phase that solves a projection of a puzzle; a function builds its tables.
    fn new<E: From<Error>>(
        puzzle: &Puzzle,
        of: Puzzle,
        tables: &mut impl FnMut(&Puzzle) -> Result<Vec<PruningTable>, E>,
    ) -> Result<SolverPhase, E> {
        let map = PieceMap::new(puzzle, &of).expect("a variant is a projection");
        // The moves of a subgroup keep some pieces apart.
        let split = SplitPuzzle::of(&of);
        let whole = split.as_ref().map_or(&of, |split| &split.puzzle).clone();
        let tables = tables(&whole)?;
        let solver = PuzzleSolver::new(whole, tables).map_err(Error::from)?;
        Ok(SolverPhase { solver, of, map, split })
    }

    /// What a state of the puzzle is in this phase; `None` if no moves of the phase solve it.
    fn seen(&self, state: &Arrangement) -> Option<Arrangement> {
        let seen = self.map.arrangement(&self.of, state);
        self.split.as_ref().map_or(Some(seen.clone()), |split| split.state(&seen))
    }
}

/// A puzzle with at most so many states has shortest solutions in a moment, from a table of all of them.
const SMALL: u64 = 1_000_000_000;
/// Maximum numbers of states of the first and of the second of two phases.
const MOST_FIRST: u64 = 1 << 33;
const MOST_SECOND: u64 = 1 << 36;
/// Maximum number of turns of which either all powers or only their squares are in the second phase.
const MOST_TURNS: usize = 8;

impl PhaseSolver {
    /// Returns phases by which a puzzle is solved in a moment: none if the puzzle is small; else a subgroup in which some
    /// turns are replaced by their squares, <U,D,R2,L2,F2,B2> for the 3x3x3 cube, or that of the moves which leave a set of
    /// pieces alone, as those on the back of the clock leave the front. `None` if there is none that divides the puzzle into
    /// two parts both of which are small enough. Cost: some milliseconds.
    pub fn phases(puzzle: &Puzzle) -> Option<Vec<Variant>> {
        let all = puzzle.states()?;
        if all <= SMALL.into() {
            return Some(Vec::new());
        }
        let is_large = all > BigUint::from(MOST_FIRST) * MOST_SECOND;
        if is_large || !puzzle.allows_all_moves() || puzzle.goals().len() > 1 {
            return None;
        }
        let moves = puzzle.moves();
        let of = |one: &Transformation| moves.iter().position(|own| own.transformation == *one);
        let mut turns: Vec<(usize, usize)> = Vec::new();
        for (index, one) in moves.iter().enumerate() {
            let turn = &one.transformation;
            let square = turn.then(turn, puzzle.sets());
            let inverse = of(&turn.inverse(puzzle.sets()));
            if inverse.is_none_or(|inverse| inverse > index)
                && let Some(square) = of(&square)
                && square != index
            {
                turns.push((index, square));
            }
        }
        let squared = |squares: usize| {
            let own = turns.iter().enumerate();
            let own =
                own.map(|(i, &(one, square))| if squares >> i & 1 == 1 { square } else { one });
            (squares.count_ones(), own.collect::<Vec<usize>>())
        };
        let apart = |set: usize| {
            let still = SetAction::still(puzzle.sets()[set].positions());
            let own = (0..moves.len()).filter(|&one| moves[one].transformation.0[set] == still);
            (0, own.collect::<Vec<usize>>())
        };
        let part = |(squares, own): (u32, Vec<usize>)| {
            let names: Vec<String> = own.iter().map(|&one| moves[one].name.clone()).collect();
            let within = puzzle.clone().only(|name| names.iter().any(|own| own == name)).ok()?;
            let second = within.states()?;
            let first = &all / &second;
            let fits =
                first > 1u32.into() && first <= MOST_FIRST.into() && second <= MOST_SECOND.into();
            let order = (first.max(second), squares);
            fits.then(|| (order, Variant { subgroup: names, ..Variant::default() }))
        };
        let squares = if turns.len() > MOST_TURNS { 0 } else { 1usize << turns.len() };
        let parts = (1..squares).map(squared).chain((0..puzzle.sets().len()).map(apart));
        let parts = parts.filter_map(part);
        Some(vec![parts.min_by(|a, b| a.0.cmp(&b.0))?.1])
    }

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
        let mut phases = Vec::new();
        // The puzzle with the moves that preserve what the subgroups so far have solved.
        let mut left = puzzle.clone();
        for variant in via {
            let of = variant.of(left.clone(), Turns::Directed).map_err(Error::from)?;
            let within = left.within(&of, variant);
            phases.push(SolverPhase::new(&left, of, &mut tables)?);
            left = within.unwrap_or(left);
        }
        phases.push(SolverPhase::new(&left, left.clone(), &mut tables)?);
        let way = QuickWay::Phases(phases);
        Ok(PhaseSolver { reachable: Reachability::of(&puzzle), puzzle, way })
    }

    /// Returns the solver that needs no phases to be named: that of [`PhaseSolver::phases`], or one that solves piece after
    /// piece. Its solutions are 50 to some hundred moves long, and its cost is up to a few seconds, then up to a second for a
    /// state. `None` if there is neither. The function that builds tables is told whether they are those of a small puzzle.
    ///
    /// # Errors
    /// Those of [`PhaseSolver::new`].
    pub fn quick<E: From<Error>>(
        puzzle: Puzzle,
        mut tables: impl FnMut(&Puzzle, bool) -> Result<Vec<PruningTable>, E>,
    ) -> Result<Option<PhaseSolver>, E> {
        if let Some(via) = PhaseSolver::phases(&puzzle) {
            let tables = |of: &Puzzle| tables(of, via.is_empty());
            return PhaseSolver::new(puzzle, &via, tables).map(Some);
        }
        Ok(ChainSolver::new(&puzzle).map(|chain| {
            let way = QuickWay::Chain(Box::new(chain));
            PhaseSolver { reachable: Reachability::of(&puzzle), puzzle, way }
        }))
    }

    /// Returns whether its solutions are shortest: there is only one phase.
    pub fn is_optimal(&self) -> bool {
        matches!(&self.way, QuickWay::Phases(phases) if phases.len() == 1)
    }

    /// Returns whether it solves with tables.
    pub fn has_tables(&self) -> bool {
        matches!(self.way, QuickWay::Phases(_))
    }

    /// Returns the puzzle.
    pub fn puzzle(&self) -> &Puzzle {
        &self.puzzle
    }

    /// Returns whether moves lead from the solved puzzle to a state; see [`PuzzleSolver::reaches`].
    pub fn reaches(&self, state: &Arrangement) -> Option<Result<(), Unreachable>> {
        self.reachable.reaches(&self.puzzle, state).or_else(|| {
            let QuickWay::Phases(phases) = &self.way else { return None };
            let first = phases.first()?;
            let Some(seen) = first.seen(state) else {
                return Some(Err(Unreachable::Table(first.of.to_string())));
            };
            first.solver.reaches(&seen).filter(Result::is_err)
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
        let phases = match &self.way {
            QuickWay::Phases(phases) => phases,
            QuickWay::Chain(chain) => return chain.solve_with(state, progress),
        };
        let mut at = state.clone();
        let mut solution: Vec<usize> = Vec::new();
        let (mut nodes, mut least) = (0, None);
        for phase in phases {
            let seen = phase.seen(&at).ok_or(SolveError::NoSolution)?;
            let answer = phase.solver.solve_with(&seen, &LaterPhase { progress, nodes })?;
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

/// A solver that finds the nearest of several goals, each with tables of its own: crosses of all colours, which are too many
/// solved states for one set of goals.
pub struct NearestSolver {
    puzzle: Puzzle,
    reachable: Reachability,
    goals: Vec<SolverPhase>,
}

impl NearestSolver {
    /// Returns the solver for a puzzle and its goals, given as states or masks. A function builds the tables of each.
    ///
    /// # Errors
    /// Those of [`PhaseSolver::new`].
    pub fn new<E: From<Error>>(
        puzzle: Puzzle,
        goals: &[String],
        mut tables: impl FnMut(&Puzzle) -> Result<Vec<PruningTable>, E>,
    ) -> Result<NearestSolver, E> {
        let mut phase = |goal: &String| -> Result<SolverPhase, E> {
            let variant = Variant { goals: vec![goal.clone()], ..Variant::default() };
            let of = variant.of(puzzle.clone(), Turns::Directed).map_err(Error::from)?;
            SolverPhase::new(&puzzle, of, &mut tables)
        };
        let goals = goals.iter().map(&mut phase).collect::<Result<_, _>>()?;
        Ok(NearestSolver { reachable: Reachability::of(&puzzle), puzzle, goals })
    }

    /// Returns whether moves lead from the solved puzzle to a state; see [`PuzzleSolver::reaches`].
    pub fn reaches(&self, state: &Arrangement) -> Option<Result<(), Unreachable>> {
        self.reachable.reaches(&self.puzzle, state)
    }

    /// Returns a shortest solution of a state to any of the goals, or the errors of [`PuzzleSolver::solve`]. An observer is
    /// informed of the nodes so far and may stop the search.
    pub fn solve_with(
        &self,
        state: &Arrangement,
        progress: &dyn Progress,
    ) -> Result<Answer<Vec<String>>, SolveError> {
        let begun = Instant::now();
        if let Some(Err(why)) = self.reaches(state) {
            return Err(unreached(&self.puzzle, why));
        }
        let bounded = |goal: &'_ SolverPhase| {
            let seen = goal.seen(state).ok_or(SolveError::NoSolution)?;
            Ok((goal.solver.bound(&seen)?, seen))
        };
        let bounded = self.goals.iter().map(bounded).collect::<Result<Vec<_>, SolveError>>()?;
        let mut open: Vec<_> = self.goals.iter().zip(bounded).collect();
        open.sort_by_key(|(_, (bound, _))| *bound);
        let (mut best, mut nodes): (Option<Answer<Vec<String>>>, u64) = (None, 0);
        for (goal, (bound, seen)) in open {
            // None of the others can be nearer.
            if best.as_ref().is_some_and(|best| best.at_least <= bound) {
                break;
            }
            let answer = goal.solver.solve_with(&seen, &LaterPhase { progress, nodes })?;
            nodes += answer.nodes;
            if answer.moves.is_none() {
                // Those that were not searched for may be as near as this bound.
                best = Some(Answer { at_least: bound, ..answer });
                break;
            }
            if best.as_ref().is_none_or(|best| answer.at_least < best.at_least) {
                best = Some(answer);
            }
        }
        let best = best.ok_or(SolveError::NoSolution)?;
        Ok(Answer { nodes, seconds: begun.elapsed().as_secs_f64(), ..best })
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

    /// The phases that a puzzle gets: none if it is small, a subgroup of a cube, and nothing where no turn has a square.
    #[test]
    fn phases_are_found() {
        let phases = |name: &str, turns| {
            PhaseSolver::phases(&named::parse(name).unwrap().counting(turns).unwrap())
        };
        let cube = phases("3x3x3", Turns::Powers).unwrap().remove(0).subgroup;
        let quarters = cube.iter().filter(|one| !one.ends_with('2'));
        assert_eq!((cube.len(), quarters.count()), (6, 2), "{cube:?}");
        assert_eq!(phases("2x2x2", Turns::Powers), Some(Vec::new()));
        // The back of the clock.
        let clock = phases("clock", Turns::Powers).unwrap().remove(0).subgroup;
        assert!(clock.len() == 165 && clock.iter().all(|one| one.starts_with('b')), "{clock:?}");
        assert_eq!(phases("fto", Turns::Powers), None);
        assert_eq!(phases("3x3x3", Turns::Quarter), None);
    }

    /// Random cubes in two phases, with joint tables: as short as the best known way of two phases, and no longer than it.
    #[test]
    fn cubes_are_solved_in_two_phases() {
        let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers).unwrap();
        let tables = |puzzle: &Puzzle| {
            let all = PruningTable::joint_projections(puzzle, None)?.into_iter();
            let table =
                |of: Puzzle| PruningTable::build(&of, TableEncoding::Nibble, Resources::new());
            all.map(table).collect::<Result<Vec<_>, Error>>()
        };
        let via = PhaseSolver::phases(&cube).unwrap();
        let solver = PhaseSolver::new(cube.clone(), &via, tables).unwrap();
        let mut lengths = 0;
        for state in cube.scrambles(3).unwrap().take(20) {
            let answer = solver.solve_with(&state, &NoProgress).unwrap();
            let names = answer.moves.unwrap();
            // 12 moves at most to the subgroup, 18 within it.
            assert!(names.len() <= 30 && answer.at_least <= 12);
            lengths += names.len();
        }
        assert!(lengths <= 20 * 24, "{lengths}");
    }

    /// The nearest of several goals is as far as a plain search from all of them says, and what is claimed of a search that is
    /// stopped is never more than that.
    #[test]
    fn the_nearest_goal_is_found_and_a_stopped_search_claims_no_more() {
        let cube = named::parse("2x2x2").unwrap().counting(Turns::Powers).unwrap();
        let goals = ["R U2 F R2 U F2", "U F2 R U' R2", "F", "U R"];
        let (mut level, mut depth) = (Vec::new(), 0);
        let mut far = std::collections::HashMap::new();
        for goal in goals {
            let (state, _) = cube.read(goal).unwrap();
            far.insert(state.clone(), 0);
            level.push(state);
        }
        while depth < 5 {
            depth += 1;
            let moved = level.iter().flat_map(|at| (0..9).map(|one| cube.moved(at, one).unwrap()));
            let moved: Vec<Arrangement> = moved.collect();
            level = moved.into_iter().filter(|at| !far.contains_key(at)).collect();
            far.extend(level.iter().map(|at| (at.clone(), depth)));
        }
        // Tables of half of the pieces only.
        let tables = |puzzle: &Puzzle| -> Result<Vec<PruningTable>, Error> {
            let half = puzzle.clone().keeping(&["corners:1-3".to_string()])?;
            Ok(vec![PruningTable::build(&half, TableEncoding::Byte, Resources::new())?])
        };
        let goals = goals.map(String::from);
        let solver = NearestSolver::new(cube.clone(), &goals, tables).unwrap();
        let stop = crate::progress::StopWhen(|| true);
        let mut stopped = 0;
        for (state, &depth) in far.iter().filter(|(state, _)| state.0[0][0].kind < 2).take(300) {
            let answer = solver.solve_with(state, &NoProgress).unwrap();
            assert_eq!((answer.moves.unwrap().len(), answer.at_least), (depth, depth));
            let answer = solver.solve_with(state, &stop).unwrap();
            assert!(answer.at_least <= depth, "{} of {depth}", answer.at_least);
            stopped += usize::from(answer.moves.is_none());
        }
        assert!(stopped > 20, "{stopped}");
    }

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
