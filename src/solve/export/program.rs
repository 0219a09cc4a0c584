//! The question as an integer program, in CPLEX LP and in MPS format.
//!
//! Invariant: the feasible points of the program are the solutions of the question, and its objective is
//! their number of moves. Both formats hold the same program.
//!
//! Source of the variables: NEOS Guide, case study "15 Puzzle".

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use super::question::Question;
use crate::puzzle::tiles::Direction;

/// A variable; its display form is its name in the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Variable {
    /// Column of the blank after a number of steps, from 1.
    Column(usize),
    /// Row of the blank.
    Row(usize),
    /// Cell of an element, from 1.
    Cell(usize, usize),
    /// Whether a tile goes this way in a step.
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

/// How a sum of terms compares with the number on the right.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    AtMost,
    AtLeast,
    Equal,
}

/// A constraint.
struct Row {
    name: String,
    terms: Vec<(i64, Variable)>,
    relation: Relation,
    right: i64,
}

/// An integer program that solves a board in the fewest moves, at most those asked for.
///
/// With cells numbered from 1 in row-major order, `i` for a tile (0 is the blank) and `t` for the time:
///
/// | variable | meaning |
/// |---|---|
/// | `p_i_t` | cell of tile i after t steps |
/// | `x_t`, `y_t` | column and row of the blank after t steps, from 1 |
/// | `z_i_t` | 1 when tile i moves in step t |
/// | `u_t`, `d_t`, `l_t`, `r_t` | 1 when a tile goes up, down, left, right in step t |
///
/// The objective is the number of moves. Steps without a move come last. Bounds of `p`
/// rule out cells that are too far from start or goal. CBC needs 0.1 s for an 11-move board of the 15-puzzle
/// and 8 s for a 15-move one; much more is out of reach.
///
/// ```
/// use tilewave::puzzle::tiles::{Board, Goal};
/// use tilewave::solve::export::{Program, Question};
///
/// let board = Board::parse("1 2 3/4 5 6/7 0 8", None)?;
/// let goal = Goal::Last.board(board.size())?;
/// let program = Program::new(Question::new(board, goal, 1)?);
/// let mut text = Vec::new();
/// program.write_lp(&mut text).unwrap();
/// assert!(String::from_utf8_lossy(&text).contains("Minimize\n moves: + z_0_0\n"));
/// # Ok::<(), tilewave::Error>(())
/// ```
pub struct Program {
    question: Question,
    rows: Vec<Row>,
    /// The variables with their bounds, in order.
    bounds: BTreeMap<Variable, (i64, i64)>,
}

impl Program {
    /// Returns the program of a question.
    pub fn new(question: Question) -> Program {
        let mut program = Program {
            question,
            rows: Vec::new(),
            bounds: BTreeMap::new(),
        };
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
        if !program.is_near() {
            program.row(
                "far".into(),
                &[(1, Variable::Column(0))],
                Relation::AtMost,
                0,
            );
        }
        program
    }

    fn row(&mut self, name: String, terms: &[(i64, Variable)], relation: Relation, right: i64) {
        self.rows.push(Row {
            name,
            terms: terms.to_vec(),
            relation,
            right,
        });
    }

    /// Cells, columns and rows that are near enough to start and goal; both ends are thereby fixed. The
    /// blank's cell follows from its column and row.
    fn place(&mut self, t: usize) {
        let size = self.question.size();
        let cols = size.cols() as i64;
        self.bounds.insert(Variable::Column(t), (1, cols));
        self.bounds
            .insert(Variable::Row(t), (1, size.rows() as i64));
        for (i, (start, home)) in self.question.ways().into_iter().enumerate() {
            let near = |&cell: &usize| self.question.is_possible(start, home, cell, t);
            let first = (0..size.cells()).find(near);
            let last = (0..size.cells()).rfind(near);
            // What is too far has no such cell; the constraint `far` then rules out everything.
            let (first, last) = (first.unwrap_or(start), last.unwrap_or(start));
            let bounds = (first as i64 + 1, last as i64 + 1);
            self.bounds.insert(Variable::Cell(i, t), bounds);
        }
        let cell = [
            (1, Variable::Cell(0, t)),
            (-cols, Variable::Row(t)),
            (-1, Variable::Column(t)),
        ];
        self.row(format!("cell_{t}"), &cell, Relation::Equal, -cols);
    }

    /// A tile goes one way at a time, and the blank's column and row go the other.
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
        self.row(format!("way_{t}"), &way, Relation::Equal, 0);
        for (name, at, after, back, on) in [
            (
                "col",
                Variable::Column(t),
                Variable::Column(t + 1),
                right,
                left,
            ),
            ("row", Variable::Row(t), Variable::Row(t + 1), down, up),
        ] {
            let terms = [(1, after), (-1, at), (-1, on), (1, back)];
            self.row(format!("{name}_{t}"), &terms, Relation::Equal, 0);
        }
        let mut one: Vec<_> = (1..cells).map(|i| (1, Variable::Moves(i, t))).collect();
        one.push(moved);
        self.row(format!("one_{t}"), &one, Relation::Equal, 0);
    }

    /// A tile that moves stands where the blank goes and goes its way; the others stay.
    fn tiles(&mut self, t: usize) {
        use Relation::{AtLeast, AtMost};
        let [up, down, left, right] = Direction::ALL.map(|d| Variable::Way(t, d));
        let (cols, far) = (
            self.question.size().cols() as i64,
            self.question.size().cells() as i64 - 1,
        );
        let way = [(cols, up), (-cols, down), (1, left), (-1, right)];
        for i in 1..=far as usize {
            let go = [(1, Variable::Cell(i, t + 1)), (-1, Variable::Cell(i, t))];
            let meet = [(1, Variable::Cell(i, t)), (-1, Variable::Cell(0, t + 1))];
            let moves = |factor: i64| [(factor, Variable::Moves(i, t))];
            let turn = [&go[..], &way].concat();
            let mut row = |name: &str, terms: &[(i64, Variable)], factor, relation, right| {
                let terms = [terms, &moves(factor)].concat();
                self.row(format!("{name}_{i}_{t}"), &terms, relation, right);
            };
            row("stay", &go, -cols, AtMost, 0);
            row("rest", &go, cols, AtLeast, 0);
            row("swap", &turn, cols, AtMost, cols);
            row("turn", &turn, -cols, AtLeast, -cols);
            row("meet", &meet, far, AtMost, far);
            row("find", &meet, -far, AtLeast, -far);
        }
    }

    /// Moves come first, and none takes the last one back.
    fn order(&mut self, t: usize) {
        let last = [(1, Variable::Moves(0, t + 1)), (-1, Variable::Moves(0, t))];
        self.row(format!("last_{t}"), &last, Relation::AtMost, 0);
        for direction in Direction::ALL {
            let (way, back) = (
                Variable::Way(t, direction),
                Variable::Way(t + 1, direction.opposite()),
            );
            let name = format!("no_{way}").replace(&format!("_{t}"), "");
            self.row(
                format!("{name}_{t}"),
                &[(1, way), (1, back)],
                Relation::AtMost,
                1,
            );
        }
    }

    /// Whether every tile and the blank can get home in time, as far as distances tell.
    fn is_near(&self) -> bool {
        let near = |(start, home): (usize, usize)| self.question.is_possible(start, home, start, 0);
        self.question.ways().into_iter().all(near)
    }

    /// The variables whose sum is to be least.
    fn objective(&self) -> impl Iterator<Item = Variable> {
        (0..self.question.steps()).map(|t| Variable::Moves(0, t))
    }

    /// Writes the program in CPLEX LP format.
    ///
    /// # Errors
    /// What the writer fails with.
    pub fn write_lp(&self, out: &mut dyn Write) -> io::Result<()> {
        for line in self.question.title().lines() {
            writeln!(out, "\\ {line}")?;
        }
        write!(out, "Minimize\n moves:")?;
        for (t, variable) in self.objective().enumerate() {
            write!(out, " + {variable}")?;
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
            let relation = match row.relation {
                Relation::AtMost => "<=",
                Relation::AtLeast => ">=",
                Relation::Equal => "=",
            };
            writeln!(out, " {relation} {}", row.right)?;
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

    /// Writes the program in MPS format, fields in the columns of the fixed form, which readers of the
    /// free form take as well. Constraints are called R1, R2, ..
    ///
    /// # Errors
    /// What the writer fails with.
    pub fn write_mps(&self, out: &mut dyn Write) -> io::Result<()> {
        for line in self.question.title().lines() {
            writeln!(out, "* {line}")?;
        }
        writeln!(out, "NAME          tilewave\nROWS\n N  moves")?;
        let mut columns: BTreeMap<Variable, Vec<(usize, i64)>> = BTreeMap::new();
        for (number, row) in (1..).zip(&self.rows) {
            let relation = match row.relation {
                Relation::AtMost => 'L',
                Relation::AtLeast => 'G',
                Relation::Equal => 'E',
            };
            writeln!(out, " {relation}  R{number}")?;
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
