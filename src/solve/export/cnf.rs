//! The question as a propositional formula in conjunctive normal form.
//!
//! Invariant: the models of the formula are the solutions of the question, one model for each sequence
//! of moves that never takes a move back.

use std::io::{self, Write};

use super::question::Question;
use crate::puzzle::tiles::{Direction, Moves};

/// Idle steps are a fifth way to move.
const IDLE: usize = 4;

/// A formula: element `v` stands on cell `c` after `t` steps, and step `t` moves a tile in direction
/// `d` or is idle. Literals are numbers from 1, negative when negated, as in DIMACS.
///
/// With N cells and T steps it has (T + 1) N² + 5 T variables and at most some T N² (N + 5) clauses; unit
/// clauses rule out whatever is too far from start or goal.
///
/// ```
/// use tilewave::puzzle::tiles::{Board, Goal};
/// use tilewave::solve::export::{Cnf, Question};
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
        let mut cnf = Cnf {
            cells: question.size().cells(),
            steps: question.steps(),
            question,
            clauses: Vec::new(),
        };
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

    /// Returns the question.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Returns the number of variables.
    pub fn variables(&self) -> usize {
        Cnf::variables_of(&self.question)
    }

    /// The number of variables of a question's formula.
    pub(super) fn variables_of(question: &Question) -> usize {
        let (cells, steps) = (question.size().cells(), question.steps());
        (steps + 1) * cells * cells + steps * (IDLE + 1)
    }

    /// Returns the clauses.
    pub fn clauses(&self) -> &[Vec<i32>] {
        &self.clauses
    }

    /// Returns the moves that a model stands for: `is_true` tells the value of a variable.
    pub fn decode(&self, is_true: impl Fn(i32) -> bool) -> Moves {
        Cnf::decode_of(&self.question, is_true)
    }

    /// The moves of a model of a question's formula, which need not be made for that.
    pub(super) fn decode_of(question: &Question, is_true: impl Fn(i32) -> bool) -> Moves {
        let step = |time| {
            let taken = |d: &usize| is_true(Cnf::move_of(question, time, *d));
            (0..IDLE).find(taken).map(|d| Direction::ALL[d])
        };
        Moves((0..question.steps()).filter_map(step).collect())
    }

    /// The variable that says whether a step is a move in a direction, or idle.
    fn move_of(question: &Question, time: usize, direction: usize) -> i32 {
        let arrangements = (question.steps() + 1) * question.size().cells().pow(2);
        (1 + arrangements + time * (IDLE + 1) + direction) as i32
    }

    /// Writes the formula in DIMACS format, the variables explained in comments.
    ///
    /// # Errors
    /// What the writer fails with.
    pub fn write_dimacs(&self, out: &mut dyn Write) -> io::Result<()> {
        let n = self.cells;
        for line in self.question.title().lines() {
            writeln!(out, "c {line}")?;
        }
        writeln!(
            out,
            "c After t = 0..{} steps tile v (0: blank) is on row-major cell c: variable 1 + {} t + {n} v + c",
            self.steps,
            n * n
        )?;
        writeln!(
            out,
            "c Step t moves a tile up, down, left, right (d = 0..3) or none (4): variable {} + 5 t + d",
            self.moves(0, 0)
        )?;
        writeln!(out, "p cnf {} {}", self.variables(), self.clauses.len())?;
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

    fn moves(&self, time: usize, direction: usize) -> i32 {
        Cnf::move_of(&self.question, time, direction)
    }

    /// After `time` steps every element is on one cell, and every cell holds one element.
    fn arrange(&mut self, time: usize) {
        let ways = self.question.ways();
        for (element, &(start, home)) in ways.iter().enumerate() {
            let (possible, impossible): (Vec<usize>, Vec<usize>) =
                (0..self.cells).partition(|&cell| {
                    // The blank changes colour with every move, and rests only at home.
                    let colour = self.question.distance(start, cell) % 2 == time % 2;
                    let resting = element != 0 || colour || cell == home;
                    resting && self.question.is_possible(start, home, cell, time)
                });
            for cell in impossible {
                self.clauses.push(vec![-self.at(time, element, cell)]);
            }
            self.exactly_one(
                possible
                    .iter()
                    .map(|&c| self.at(time, element, c))
                    .collect(),
            );
        }
        for cell in 0..self.cells {
            self.exactly_one((0..self.cells).map(|e| self.at(time, e, cell)).collect());
        }
    }

    /// Step `time` is one move or idle; no move takes the last one back; idle steps come last, in pairs.
    fn choose(&mut self, time: usize) {
        self.exactly_one((0..=IDLE).map(|d| self.moves(time, d)).collect());
        if time + 1 == self.steps {
            return;
        }
        for (d, direction) in Direction::ALL.into_iter().enumerate() {
            let back = Direction::ALL
                .iter()
                .position(|&b| b == direction.opposite());
            if let Some(back) = back {
                self.clauses
                    .push(vec![-self.moves(time, d), -self.moves(time + 1, back)]);
            }
        }
        let (now, next) = (self.moves(time, IDLE), self.moves(time + 1, IDLE));
        self.clauses.push(vec![-now, next]);
        if (self.steps - time) % 2 == 1 {
            let before = (time > 0).then(|| self.moves(time - 1, IDLE));
            self.clauses
                .push([-now].into_iter().chain(before).collect());
        }
    }

    /// What step `time` does when the blank is on a cell.
    fn slide(&mut self, time: usize, blank: usize) {
        let here = -self.at(time, 0, blank);
        for (d, direction) in Direction::ALL.into_iter().enumerate() {
            let chosen = -self.moves(time, d);
            let Some(cell) = direction.tile_cell(self.question.size(), blank) else {
                self.clauses.push(vec![here, chosen]);
                continue;
            };
            self.clauses
                .push(vec![here, chosen, self.at(time + 1, 0, cell)]);
            for tile in 1..self.cells {
                let (from, to) = (self.at(time, tile, cell), self.at(time + 1, tile, blank));
                self.clauses.push(vec![here, chosen, -from, to]);
            }
        }
        let idle = -self.moves(time, IDLE);
        self.clauses
            .push(vec![here, idle, self.at(time + 1, 0, blank)]);
        // A tile leaves its cell only for the blank.
        for tile in 1..self.cells {
            let (before, after) = (self.at(time, tile, blank), self.at(time + 1, tile, blank));
            self.clauses
                .push(vec![-before, self.at(time + 1, 0, blank), after]);
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
