//! The question expressed as a propositional formula in conjunctive normal form, and its use as an independent check.
//!
//! `models` passes a [`Question`] and its [`Cnf`] on to those who write formulas for other solvers. With the feature
//! `certify`, the program asks a SAT solver itself: a `Certificate` says that a solution has the fewest moves.
//!
//! Invariant: the models of the formula are the solutions of the question, with one model for each sequence of moves
//! that never undoes the previous move.

use std::io::{self, Write};

use crate::{
    puzzle::{Board, Coordinates, Direction, Moves, Size},
    solve::{SolveError, cells_of, distance},
};

/// An idle step is treated as a fifth direction.
const IDLE: usize = 4;

/// A formula with these variables: element `v` is on cell `c` after `t` steps; step `t` moves a tile in direction `d`,
/// or is idle. Literals are numbers from 1, negative if negated, as in DIMACS.
///
/// With N cells and T steps, it has (T + 1) N² + 5 T variables and at most about T N² (N + 5) clauses; unit clauses
/// rule out cells that are too far from an element's start or goal.
///
/// ```
/// use tilewave::puzzle::{Board, Goal};
/// use tilewave::solve::models::{Cnf, Question};
///
/// let board = Board::parse("1 2 3/4 5 6/7 0 8", None)?;
/// let goal = Goal::Last.board(board.size())?;
/// let cnf = Cnf::new(Question::new(board, goal, 1)?);
/// let mut dimacs = Vec::new();
/// cnf.write_dimacs(&mut dimacs).unwrap();
/// assert!(String::from_utf8_lossy(&dimacs).contains("p cnf 167 "));
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cnf {
    question: Question,
    cells: usize,
    steps: usize,
    clauses: Vec<Vec<i32>>,
}

impl Cnf {
    /// Returns the formula of a question.
    pub fn new(question: Question) -> Cnf {
        let mut cnf = Cnf::without_clauses(question);
        for time in 0..=cnf.steps {
            cnf.arrange(time);
        }
        for time in 0..cnf.steps {
            cnf.choose(time);
            for blank in 0..cnf.cells {
                cnf.slide(time, blank);
            }
        }
        cnf
    }

    /// The formula without its clauses: its variables suffice for reading a model.
    pub(crate) fn without_clauses(question: Question) -> Cnf {
        let (cells, steps) = (question.size().cells(), question.steps());
        Cnf { question, cells, steps, clauses: Vec::new() }
    }

    /// Returns the question.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Returns the number of variables.
    pub fn variables(&self) -> usize {
        (self.steps + 1) * self.cells * self.cells + self.steps * (IDLE + 1)
    }

    /// Returns the clauses.
    pub fn clauses(&self) -> &[Vec<i32>] {
        &self.clauses
    }

    /// Returns the moves that a model describes; `is_true` returns the value of a variable.
    pub fn decode(&self, is_true: impl Fn(i32) -> bool) -> Moves {
        let step = |time| {
            let taken = |d: &usize| is_true(self.moves(time, *d));
            (0..IDLE).find(taken).map(|d| Direction::ALL[d])
        };
        Moves((0..self.steps).filter_map(step).collect())
    }

    /// Writes the formula in DIMACS format, with comments that explain the variables.
    pub fn write_dimacs(&self, out: &mut dyn Write) -> io::Result<()> {
        let (cells, square, steps) = (self.cells, self.cells.pow(2), self.steps);
        let (moves, variables, clauses) = (self.moves(0, 0), self.variables(), self.clauses.len());
        write!(
            out,
            "{}c Variable 1 + {square} t + {cells} v + c: after t = 0..{steps} steps, tile v (0 for \
             the blank) is on cell c, counted row by row from 0\n\
             c Variable {moves} + 5 t + d: step t moves a tile up, down, left or right (d = 0..3), \
             or no tile (d = 4)\np cnf {variables} {clauses}\n",
            self.question.title("c ")
        )?;
        for clause in &self.clauses {
            for literal in clause {
                write!(out, "{literal} ")?;
            }
            writeln!(out, "0")?;
        }
        Ok(())
    }

    fn at(&self, time: usize, element: usize, cell: usize) -> i32 {
        (1 + (time * self.cells + element) * self.cells + cell) as i32
    }

    /// The variable that is true if a step is a move in a direction, or idle.
    fn moves(&self, time: usize, direction: usize) -> i32 {
        let arrangements = (self.steps + 1) * self.cells * self.cells;
        (1 + arrangements + time * (IDLE + 1) + direction) as i32
    }

    /// After `time` steps every element is on one cell, and every cell holds one element.
    fn arrange(&mut self, time: usize) {
        let ways = self.question.ways();
        for (element, &(start, home)) in ways.iter().enumerate() {
            let (possible, impossible): (Vec<usize>, Vec<usize>) =
                (0..self.cells).partition(|&cell| {
                    // The blank changes colour with every move, and idles only at home.
                    let colour = distance(self.question.size(), start, cell) % 2 == time % 2;
                    let resting = element != 0 || colour || cell == home;
                    resting && self.question.is_possible(start, home, cell, time)
                });
            for cell in impossible {
                self.clauses.push(vec![-self.at(time, element, cell)]);
            }
            self.exactly_one(possible.iter().map(|&c| self.at(time, element, c)).collect());
        }
        for cell in 0..self.cells {
            self.exactly_one((0..self.cells).map(|e| self.at(time, e, cell)).collect());
        }
    }

    /// Step `time` is one move or idle; no move undoes the previous one; idle steps come last, in pairs.
    fn choose(&mut self, time: usize) {
        self.exactly_one((0..=IDLE).map(|d| self.moves(time, d)).collect());
        if time + 1 == self.steps {
            return;
        }
        for direction in Direction::ALL {
            let [there, back] = [direction, direction.opposite()].map(|d| d as usize);
            self.clauses.push(vec![-self.moves(time, there), -self.moves(time + 1, back)]);
        }
        let (now, next) = (self.moves(time, IDLE), self.moves(time + 1, IDLE));
        self.clauses.push(vec![-now, next]);
        if (self.steps - time) % 2 == 1 {
            let before = (time > 0).then(|| self.moves(time - 1, IDLE));
            self.clauses.push([-now].into_iter().chain(before).collect());
        }
    }

    /// The effect of step `time` when the blank is on a cell.
    fn slide(&mut self, time: usize, blank: usize) {
        let here = -self.at(time, 0, blank);
        for (d, direction) in Direction::ALL.into_iter().enumerate() {
            let chosen = -self.moves(time, d);
            let Some(cell) = direction.tile_cell(self.question.size(), blank) else {
                self.clauses.push(vec![here, chosen]);
                continue;
            };
            self.clauses.push(vec![here, chosen, self.at(time + 1, 0, cell)]);
            for tile in 1..self.cells {
                let (from, to) = (self.at(time, tile, cell), self.at(time + 1, tile, blank));
                self.clauses.push(vec![here, chosen, -from, to]);
            }
        }
        let idle = -self.moves(time, IDLE);
        self.clauses.push(vec![here, idle, self.at(time + 1, 0, blank)]);
        // A tile leaves its cell only for the blank.
        for tile in 1..self.cells {
            let (before, after) = (self.at(time, tile, blank), self.at(time + 1, tile, blank));
            self.clauses.push(vec![-before, self.at(time + 1, 0, blank), after]);
        }
    }

    fn exactly_one(&mut self, literals: Vec<i32>) {
        for (k, &a) in literals.iter().enumerate() {
            for &b in &literals[k + 1..] {
                self.clauses.push(vec![-a, -b]);
            }
        }
        self.clauses.push(literals);
    }
}

// The question itself: a board, a goal, and how many moves are allowed.
//
// Invariant: the goal can be reached from the board, and no model of the question exceeds what solvers support.

/// The question whether a board can reach a goal in at most a given number of moves.
///
/// ```
/// use tilewave::puzzle::{Board, Goal};
/// use tilewave::solve::models::Question;
///
/// let board = Board::parse("1 2 3/4 5 6/0 7 8", None)?;
/// let goal = Goal::Last.board(board.size())?;
/// let question = Question::new(board, goal, 3)?;
/// assert_eq!(question.steps(), 2); // all solutions have an even number of moves
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Question {
    board: Board,
    goal: Board,
    moves: usize,
}

impl Question {
    /// The maximum number of variables of a model.
    pub const MAX_VARIABLES: usize = 50_000_000;

    /// Returns the question whether `board` can reach `goal` in at most `moves` moves.
    ///
    /// # Errors
    /// [`SolveError::Puzzle`] if the board cannot reach the goal at all, [`SolveError::ModelTooLarge`] if a model would
    /// have more than [`Question::MAX_VARIABLES`] variables.
    pub fn new(board: Board, goal: Board, moves: usize) -> Result<Question, SolveError> {
        let size = goal.size();
        let per_step = size.cells() * size.cells() + 5;
        let steps = moves.checked_add(1);
        let variables = steps.and_then(|steps| steps.checked_mul(per_step));
        if variables.is_none_or(|v| v > Question::MAX_VARIABLES) {
            return Err(SolveError::ModelTooLarge { size, moves, max: Question::MAX_VARIABLES });
        }
        Coordinates::new(goal.clone()).encode_solvable(&board)?;
        Ok(Question { board, goal, moves })
    }

    /// Returns the board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the goal.
    pub fn goal(&self) -> &Board {
        &self.goal
    }

    /// Returns the maximum number of moves allowed.
    pub fn moves(&self) -> usize {
        self.moves
    }

    /// Returns the size of the board.
    pub fn size(&self) -> Size {
        self.goal.size()
    }

    /// Returns the number of steps of a model: the maximum number of moves, less one if all solutions have the opposite
    /// parity (zero if no move is allowed anyway). Every move changes the colour of the blank's cell, as on a
    /// chessboard, so the two blank cells determine the parity.
    pub fn steps(&self) -> usize {
        let parity = distance(self.size(), self.board.blank(), self.goal.blank()) % 2;
        if self.moves % 2 == parity { self.moves } else { self.moves.saturating_sub(1) }
    }

    /// The question of a model as comments that begin with a mark: the maximum number of moves, the board and the goal.
    pub(crate) fn title(&self, mark: &str) -> String {
        let (steps, asked, Question { board, goal, .. }) = (self.steps(), self.moves, self);
        let mut title = format!("{mark}Solvable in at most {steps} moves?");
        if steps < asked {
            let parity = if steps.is_multiple_of(2) { "even" } else { "odd" };
            title += &format!(
                " ({asked} were allowed, but every solution has an {parity} number of moves)"
            );
        }
        title + &format!("\n{mark}Board {board}\n{mark}Goal  {goal}\n")
    }

    /// Whether the element with the given start and goal cells can be on a cell after `time` of `steps` steps.
    pub(crate) fn is_possible(&self, start: usize, home: usize, cell: usize, time: usize) -> bool {
        let to = |other| distance(self.size(), cell, other);
        to(start) <= time && to(home) <= self.steps() - time
    }

    /// The start and goal cells of every element, by number (0 is the blank).
    pub(crate) fn ways(&self) -> Vec<(usize, usize)> {
        let [board, goal] = [&self.board, &self.goal].map(cells_of);
        board.into_iter().zip(goal).map(|(start, home)| (start.into(), home.into())).collect()
    }
}

// An independent check of an optimum: a SAT solver finds a solution of that length and proves that there is no shorter
// one.
//
// Invariant: nothing from the search, the databases or the tables is used; a solution is verified by applying its
// moves.

#[cfg(feature = "certify")]
pub(crate) mod certificate {
    use std::time::Instant;

    use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, lbool};

    use crate::progress::{NoProgress, Progress};
    use crate::solve::cnf::{Board, Cnf, Moves, Question, SolveError};

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
    /// [`SolveError::Beaten`] with a shorter solution if there is one, [`SolveError::TooShort`] if there is no solution
    /// of that length, and the errors of [`Question::new`].
    pub fn certify(board: &Board, goal: &Board, length: usize) -> Result<Certificate, SolveError> {
        certify_with(board, goal, length, &NoProgress)
    }

    /// Like [`certify`], with an observer that may stop the work, which is the error [`SolveError::Undecided`].
    pub fn certify_with(
        board: &Board,
        goal: &Board,
        length: usize,
        progress: &dyn Progress,
    ) -> Result<Certificate, SolveError> {
        let begun = Instant::now();
        let ask = |moves| decide(board, goal, moves, progress, begun);
        let solution = ask(length)?.0.ok_or(SolveError::TooShort { claimed: length })?;
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
        let mut solver = Solver::new(SolverOpts::default(), Interrupter(progress));
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
    struct Interrupter<'a>(&'a dyn Progress);

    impl Callbacks for Interrupter<'_> {
        fn stop(&self) -> bool {
            self.0.interrupted()
        }
    }
}
