//! The question "is the board solvable in at most T moves", in the formats of other solvers.
//!
//! Invariant: a model has a solution if and only if the board has one with at most T moves; moves come first, idle
//! steps last. In every format, letters give the direction of the tile.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    io::{self, Write},
};

use crate::{
    puzzle::{Board, Direction, Moves},
    solve::SolveError,
};

pub use crate::solve::cnf::{Cnf, Question};

// The question as an integer program, in CPLEX LP and in MPS format.
//
// Invariant: the feasible points of the program are the solutions of the question, and its objective is their number of
// moves. Both formats contain the same program.
//
// Source of the variables: NEOS Guide, case study "15 Puzzle".

/// A variable; its display form is its name in the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Variable {
    /// Column of the blank after a number of steps, from 1.
    Column(usize),
    /// Row of the blank.
    Row(usize),
    /// Cell of an element, from 1.
    Cell(usize, usize),
    /// Whether a tile moves in this direction in a step.
    Way(usize, Direction),
    /// Whether an element moves in a step.
    Moves(usize, usize),
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Variable::Column(t) => write!(f, "x_{t}"),
            Variable::Row(t) => write!(f, "y_{t}"),
            Variable::Cell(i, t) => write!(f, "p_{i}_{t}"),
            Variable::Way(t, d) => write!(f, "{}_{t}", d.letter().to_ascii_lowercase()),
            Variable::Moves(i, t) => write!(f, "z_{i}_{t}"),
        }
    }
}

/// How a sum of terms compares with the number on the right-hand side, as LP and MPS files write it.
type Relation = (&'static str, char);
const AT_MOST: Relation = ("<=", 'L');
const AT_LEAST: Relation = (">=", 'G');
const EQUAL: Relation = ("=", 'E');

/// A constraint.
struct Constraint {
    name: String,
    terms: Vec<(i64, Variable)>,
    relation: Relation,
    right: i64,
}

/// An integer program that solves a board in the minimum number of moves, up to a given maximum.
///
/// With cells numbered from 1 in row-major order, `i` for a tile (0 is the blank) and `t` for the time step:
///
/// | variable | meaning |
/// |---|---|
/// | `p_i_t` | cell of tile i after t steps |
/// | `x_t`, `y_t` | column and row of the blank after t steps, from 1 |
/// | `z_i_t` | 1 if tile i moves in step t |
/// | `u_t`, `d_t`, `l_t`, `r_t` | 1 if a tile moves up, down, left, right in step t |
///
/// The objective is the number of moves. Steps without a move come last. Bounds on `p` rule out cells that are too far
/// from start or goal. CBC needs 0.1 s for an 11-move board of the 15-puzzle and 8 s for a 15-move board; much longer
/// solutions are out of reach.
///
/// ```
/// use tilewave::puzzle::{Board, Goal};
/// use tilewave::solve::models::{IntegerProgram, Question};
///
/// let board = Board::parse("1 2 3/4 5 6/7 0 8", None)?;
/// let goal = Goal::Last.board(board.size())?;
/// let program = IntegerProgram::new(Question::new(board, goal, 1)?);
/// let mut text = Vec::new();
/// program.write_lp(&mut text).unwrap();
/// assert!(String::from_utf8_lossy(&text).contains("Minimize\n moves: + z_0_0\n"));
/// # Ok::<(), tilewave::Error>(())
/// ```
pub struct IntegerProgram {
    question: Question,
    rows: Vec<Constraint>,
    /// The variables with their bounds, in order.
    bounds: BTreeMap<Variable, (i64, i64)>,
}

impl IntegerProgram {
    /// Returns the program for a question.
    pub fn new(question: Question) -> IntegerProgram {
        let mut program = IntegerProgram { question, rows: Vec::new(), bounds: BTreeMap::new() };
        let steps = program.question.steps();
        for t in 0..=steps {
            program.place(t);
        }
        for t in 0..steps {
            program.blank(t);
            program.tiles(t);
            if t + 1 < steps {
                program.order(t);
            }
        }
        // Whether every tile and the blank can get home in time, according to their distances.
        let near = |(start, home)| program.question.is_possible(start, home, start, 0);
        if !program.question.ways().into_iter().all(near) {
            program.row("far".into(), &[(1, Variable::Column(0))], AT_MOST, 0);
        }
        program
    }

    fn row(&mut self, name: String, terms: &[(i64, Variable)], relation: Relation, right: i64) {
        self.rows.push(Constraint { name, terms: terms.to_vec(), relation, right });
    }

    /// The cells that are close enough to start and goal; the blank's cell follows from its column and row.
    fn place(&mut self, t: usize) {
        let size = self.question.size();
        let cols = size.cols() as i64;
        self.bounds.insert(Variable::Column(t), (1, cols));
        self.bounds.insert(Variable::Row(t), (1, size.rows() as i64));
        for (i, (start, home)) in self.question.ways().into_iter().enumerate() {
            let near = |&cell: &usize| self.question.is_possible(start, home, cell, t);
            // Cells that are too far away do not exist; the constraint `far` then rules out everything.
            let number = |cell: Option<usize>| cell.unwrap_or(start) as i64 + 1;
            let first = number((0..size.cells()).find(near));
            let last = number((0..size.cells()).rfind(near));
            self.bounds.insert(Variable::Cell(i, t), (first, last));
        }
        let cell =
            [(1, Variable::Cell(0, t)), (-cols, Variable::Row(t)), (-1, Variable::Column(t))];
        self.row(format!("cell_{t}"), &cell, EQUAL, -cols);
    }

    /// A tile moves in one direction at a time, and the blank's column and row change in the opposite direction.
    fn blank(&mut self, t: usize) {
        let [up, down, left, right] = Direction::ALL.map(|d| Variable::Way(t, d));
        let cells = self.question.size().cells();
        for variable in [up, down, left, right] {
            self.bounds.insert(variable, (0, 1));
        }
        for i in 0..cells {
            self.bounds.insert(Variable::Moves(i, t), (0, 1));
        }
        let moved = (-1, Variable::Moves(0, t));
        let way = [(1, up), (1, down), (1, left), (1, right), moved];
        self.row(format!("way_{t}"), &way, EQUAL, 0);
        for (name, at, after, back, on) in [
            ("col", Variable::Column(t), Variable::Column(t + 1), right, left),
            ("row", Variable::Row(t), Variable::Row(t + 1), down, up),
        ] {
            let terms = [(1, after), (-1, at), (-1, on), (1, back)];
            self.row(format!("{name}_{t}"), &terms, EQUAL, 0);
        }
        let mut one: Vec<_> = (1..cells).map(|i| (1, Variable::Moves(i, t))).collect();
        one.push(moved);
        self.row(format!("one_{t}"), &one, EQUAL, 0);
    }

    /// A tile that moves is where the blank goes and moves in its direction; the others stay.
    fn tiles(&mut self, t: usize) {
        let [up, down, left, right] = Direction::ALL.map(|d| Variable::Way(t, d));
        let (cols, far) =
            (self.question.size().cols() as i64, self.question.size().cells() as i64 - 1);
        let way = [(cols, up), (-cols, down), (1, left), (-1, right)];
        for i in 1..=far as usize {
            let go = [(1, Variable::Cell(i, t + 1)), (-1, Variable::Cell(i, t))];
            let meet = [(1, Variable::Cell(i, t)), (-1, Variable::Cell(0, t + 1))];
            let turn = [&go[..], &way].concat();
            let mut row = |name: &str, terms: &[(i64, Variable)], factor, relation, right| {
                let terms = [terms, &[(factor, Variable::Moves(i, t))]].concat();
                self.row(format!("{name}_{i}_{t}"), &terms, relation, right);
            };
            row("stay", &go, -cols, AT_MOST, 0);
            row("rest", &go, cols, AT_LEAST, 0);
            row("swap", &turn, cols, AT_MOST, cols);
            row("turn", &turn, -cols, AT_LEAST, -cols);
            row("meet", &meet, far, AT_MOST, far);
            row("find", &meet, -far, AT_LEAST, -far);
        }
    }

    /// Moves come first, and none undoes the previous one.
    fn order(&mut self, t: usize) {
        let last = [(1, Variable::Moves(0, t + 1)), (-1, Variable::Moves(0, t))];
        self.row(format!("last_{t}"), &last, AT_MOST, 0);
        for direction in Direction::ALL {
            let (way, back) =
                (Variable::Way(t, direction), Variable::Way(t + 1, direction.opposite()));
            let name = format!("no_{way}").replace(&format!("_{t}"), "");
            self.row(format!("{name}_{t}"), &[(1, way), (1, back)], AT_MOST, 1);
        }
    }

    /// Writes the program in CPLEX LP format.
    pub fn write_lp(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}Minimize\n moves:", self.question.title("\\ "))?;
        for t in 0..self.question.steps() {
            write!(out, " + {}", Variable::Moves(0, t))?;
            if t % 10 == 9 {
                writeln!(out)?;
            }
        }
        if self.question.steps() == 0 {
            write!(out, " 0 x_0")?;
        }
        writeln!(out, "\nSubject To")?;
        for row in &self.rows {
            write!(out, " {}:", row.name)?;
            for &(factor, variable) in &row.terms {
                let sign = if factor < 0 { '-' } else { '+' };
                match factor.abs() {
                    1 => write!(out, " {sign} {variable}")?,
                    many => write!(out, " {sign} {many} {variable}")?,
                }
            }
            writeln!(out, " {} {}", row.relation.0, row.right)?;
        }
        writeln!(out, "Bounds")?;
        for (variable, (least, most)) in &self.bounds {
            writeln!(out, " {least} <= {variable} <= {most}")?;
        }
        writeln!(out, "General")?;
        for variable in self.bounds.keys() {
            writeln!(out, " {variable}")?;
        }
        writeln!(out, "End")
    }

    /// Writes the program in MPS format, with fields in the columns of the fixed format, which readers of the free
    /// format also accept. Constraints are called R1, R2, ..
    pub fn write_mps(&self, out: &mut dyn Write) -> io::Result<()> {
        let title = self.question.title("* ");
        writeln!(out, "{title}NAME          tilewave\nROWS\n N  moves")?;
        let mut columns: BTreeMap<Variable, Vec<(usize, i64)>> = BTreeMap::new();
        for (number, row) in (1..).zip(&self.rows) {
            writeln!(out, " {}  R{number}", row.relation.1)?;
            for &(factor, variable) in &row.terms {
                columns.entry(variable).or_default().push((number, factor));
            }
        }
        let entry = |out: &mut dyn Write, column: &dyn fmt::Display, row: &str, value: i64| {
            writeln!(out, "    {:<8}  {row:<8}  {value:>12}", column.to_string())
        };
        let marker = |out: &mut dyn Write, which: &str| {
            writeln!(out, "    MARKER    'MARKER'                 '{which}'")
        };
        writeln!(out, "COLUMNS")?;
        marker(out, "INTORG")?;
        for variable in self.bounds.keys() {
            if let Variable::Moves(0, _) = variable {
                entry(out, variable, "moves", 1)?;
            }
            for &(row, factor) in columns.get(variable).into_iter().flatten() {
                entry(out, variable, &format!("R{row}"), factor)?;
            }
        }
        marker(out, "INTEND")?;
        writeln!(out, "RHS")?;
        for (number, row) in (1..).zip(&self.rows).filter(|(_, row)| row.right != 0) {
            entry(out, &"RHS", &format!("R{number}"), row.right)?;
        }
        writeln!(out, "BOUNDS")?;
        for (variable, (least, most)) in &self.bounds {
            let name = variable.to_string();
            writeln!(out, " LO BND       {name:<8}  {least:>12}")?;
            writeln!(out, " UP BND       {name:<8}  {most:>12}")?;
        }
        writeln!(out, "ENDATA")
    }
}

// From a solver's answer back to moves.
//
// Invariant: moves that are returned have been applied to the board and end at the goal.

/// Returns the moves that a solver's answer to a question represents.
///
/// It reads the output of SAT solvers (`v` lines, or MiniSat's file) for [`Cnf`], and any list of names and values for
/// [`IntegerProgram`]: the files of HiGHS, CBC, GLPK (`-o`), SCIP, Gurobi and CPLEX. The number of steps follows from
/// the model.
///
/// ```
/// use tilewave::puzzle::{Board, Goal};
/// use tilewave::solve::models::decode;
///
/// let board = Board::parse("1 2 3/4 5 6/7 0 8", None)?;
/// let goal = Goal::Last.board(board.size())?;
/// assert_eq!(decode(&board, &goal, "Optimal\n 7 l_0  1  0\n")?.to_string(), "L");
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// # Errors
/// [`SolveError::NoModel`] if the answer says that there is no solution, cannot be read, or does not solve this board.
pub fn decode(board: &Board, goal: &Board, answer: &str) -> Result<Moves, SolveError> {
    let refuse = |reason: String| SolveError::NoModel { reason };
    let status = (0..).zip(answer.lines());
    let mut status = status.filter(|(i, line)| *i < 8 || line.starts_with("s "));
    let negative = ["unsat", "infeasible", "integer empty", "integer undefined"];
    if status.any(|(_, line)| negative.iter().any(|word| line.to_ascii_lowercase().contains(word)))
    {
        return Err(refuse("it says that there is none as short as the formula allows".into()));
    }
    let literals = literals(answer);
    let foreign = "the answer does not have the variables of a formula for this board";
    let moves = match literals.is_empty() {
        true => of_values(answer),
        false => of_literals(board, goal, &literals).ok_or_else(|| refuse(foreign.into()))?,
    };
    match moves.apply(board) {
        Ok(end) if end == *goal => Ok(moves),
        _ if moves.is_empty() => Err(refuse("the answer does not say which moves are made".into())),
        _ => Err(refuse(format!(
            "the moves {moves} do not lead from the board to the goal: specify the board and the \
             goal that were encoded"
        ))),
    }
}

/// The literals of a model in the output format of SAT solvers; empty for any other format.
fn literals(answer: &str) -> Vec<i32> {
    let lines = || answer.lines().map(str::trim);
    let marked = lines().any(|line| line.starts_with("v "));
    let mut literals = Vec::new();
    for line in lines() {
        let numbers = match line.strip_prefix("v ") {
            Some(numbers) => numbers,
            None if marked || line == "SAT" || line.starts_with(['c', 's']) => continue,
            None => line,
        };
        for word in numbers.split_whitespace() {
            match word.parse() {
                Ok(0) => {}
                Ok(literal) => literals.push(literal),
                Err(_) => return Vec::new(),
            }
        }
    }
    literals
}

/// The moves of a formula's model; the number of steps follows from its variables.
fn of_literals(board: &Board, goal: &Board, literals: &[i32]) -> Option<Moves> {
    let variables = literals.iter().map(|l| l.unsigned_abs() as usize).max()?;
    let square = board.size().cells().pow(2);
    let steps = variables.checked_sub(square)? / (square + 5);
    let question = Question::new(board.clone(), goal.clone(), steps).ok()?;
    let formula = Cnf::without_clauses(question);
    if formula.question().steps() != steps || formula.variables() != variables {
        return None;
    }
    let holds: HashSet<i32> = literals.iter().copied().collect();
    Some(formula.decode(|variable| holds.contains(&variable)))
}

/// The moves of an integer program's solution: the variables u, d, l and r that are 1.
fn of_values(answer: &str) -> Moves {
    let mut taken: BTreeMap<usize, Direction> = BTreeMap::new();
    for line in answer.lines() {
        // CPLEX and others: <variable name="u_0" index="5" value="1"/>.
        let (line, marked) = match line.split_once("value=") {
            Some((_, value)) => (line, value.split('"').nth(1)),
            None => (line, None),
        };
        let mut words = line.split(|c: char| c.is_whitespace() || c == '"');
        let Some((direction, step)) = words.find_map(way) else {
            continue;
        };
        let mut numbers = words.filter_map(|word| word.parse().ok());
        let value: Option<f64> = marked.and_then(|value| value.parse().ok());
        if value.or_else(|| numbers.next()).is_some_and(|value| value > 0.5) {
            taken.entry(step).or_insert(direction);
        }
    }
    Moves(taken.into_values().collect())
}

/// The direction and the step that a name represents.
fn way(name: &str) -> Option<(Direction, usize)> {
    let (letter, step) = name.split_once('_')?;
    let is =
        |d: &Direction| letter.len() == 1 && letter.starts_with(d.letter().to_ascii_lowercase());
    Some((Direction::ALL.into_iter().find(is)?, step.parse().ok()?))
}
