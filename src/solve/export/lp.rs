//! The question as an integer program in CPLEX LP format.
//!
//! Invariant: the feasible points of the program are the solutions of the question, and its objective is
//! their number of moves.
//!
//! Source of the variables: NEOS Guide, case study "15 Puzzle".

use std::io::{self, Write};

use super::Question;

/// Writes the integer program that solves the board in the fewest moves, at most those asked for.
///
/// With cells numbered from 1 in row-major order, `i` for a tile (0 is the blank) and `t` for the time:
///
/// | variable | meaning |
/// |---|---|
/// | `p_i_t` | cell of tile i after t steps |
/// | `x_t`, `y_t` | column and row of the blank after t steps, from 1 |
/// | `z_i_t` | 1 when tile i moves in step t |
/// | `u_t`, `d_t`, `l_t`, `r_t` | 1 when the blank goes up, down, left, right in step t |
///
/// The objective is the number of moves of the blank. Steps without a move come last. Bounds of `p`
/// rule out cells that are too far from start or goal. CBC needs 0.1 s for an 11-move board of the 15-puzzle
/// and 8 s for a 15-move one; much more is out of reach.
///
/// ```
/// use tilewave::puzzle::tiles::{Board, Goal};
/// use tilewave::solve::export::{Question, write_lp};
///
/// let board = Board::parse("1 2 3/4 5 6/7 0 8", None)?;
/// let goal = Goal::Last.board(board.size())?;
/// let mut program = Vec::new();
/// write_lp(&Question::new(board, goal, 1)?, &mut program).unwrap();
/// assert!(String::from_utf8_lossy(&program).contains("Minimize\n moves: + z_0_0\n"));
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// # Errors
/// What the writer fails with.
pub fn write_lp(question: &Question, out: &mut dyn Write) -> io::Result<()> {
    let program = Program {
        question,
        ways: question.ways(),
        steps: question.steps(),
        cols: question.size().cols(),
        cells: question.size().cells(),
    };
    program.head(out)?;
    for t in 0..program.steps {
        program.blank(t, out)?;
        program.tiles(t, out)?;
        if t + 1 < program.steps {
            program.order(t, out)?;
        }
    }
    program.columns(out)?;
    program.bounds(out)?;
    program.kinds(out)
}

struct Program<'a> {
    question: &'a Question,
    ways: Vec<(usize, usize)>,
    steps: usize,
    cols: usize,
    cells: usize,
}

impl Program<'_> {
    fn head(&self, out: &mut dyn Write) -> io::Result<()> {
        let question = self.question;
        writeln!(
            out,
            "\\ Fewest moves, at most {}, from board {} to goal {}",
            question.moves(),
            question.board(),
            question.goal()
        )?;
        writeln!(out, "Minimize")?;
        write!(out, " moves:")?;
        for t in 0..self.steps {
            write!(out, " + z_0_{t}")?;
            if t % 10 == 9 {
                writeln!(out)?;
            }
        }
        if self.steps == 0 {
            write!(out, " 0 x_0")?;
        }
        writeln!(out, "\nSubject To")
    }

    /// The blank goes one way at a time, and its column and row follow.
    fn blank(&self, t: usize, out: &mut dyn Write) -> io::Result<()> {
        let next = t + 1;
        writeln!(out, " way_{t}: u_{t} + d_{t} + l_{t} + r_{t} - z_0_{t} = 0")?;
        writeln!(out, " col_{t}: x_{next} - x_{t} - r_{t} + l_{t} = 0")?;
        writeln!(out, " row_{t}: y_{next} - y_{t} - d_{t} + u_{t} = 0")?;
        write!(out, " one_{t}:")?;
        for i in 1..self.cells {
            write!(out, " + z_{i}_{t}")?;
        }
        writeln!(out, " - z_0_{t} = 0")
    }

    /// A tile that moves stands where the blank goes and takes the blank's way back; the others stay.
    fn tiles(&self, t: usize, out: &mut dyn Write) -> io::Result<()> {
        let (next, cols, far) = (t + 1, self.cols, self.cells - 1);
        let back = format!("{cols} d_{t} - {cols} u_{t} + r_{t} - l_{t}");
        for i in 1..self.cells {
            let go = format!("p_{i}_{next} - p_{i}_{t}");
            writeln!(out, " stay_{i}_{t}: {go} - {cols} z_{i}_{t} <= 0")?;
            writeln!(out, " rest_{i}_{t}: {go} + {cols} z_{i}_{t} >= 0")?;
            writeln!(
                out,
                " swap_{i}_{t}: {go} + {back} + {cols} z_{i}_{t} <= {cols}"
            )?;
            writeln!(
                out,
                " turn_{i}_{t}: {go} + {back} - {cols} z_{i}_{t} >= -{cols}"
            )?;
            let meet = format!("p_{i}_{t} - p_0_{next}");
            writeln!(out, " meet_{i}_{t}: {meet} + {far} z_{i}_{t} <= {far}")?;
            writeln!(out, " find_{i}_{t}: {meet} - {far} z_{i}_{t} >= -{far}")?;
        }
        Ok(())
    }

    /// Moves come first, and none takes the last one back.
    fn order(&self, t: usize, out: &mut dyn Write) -> io::Result<()> {
        let next = t + 1;
        writeln!(out, " last_{t}: z_0_{next} - z_0_{t} <= 0")?;
        for (way, back) in [("u", "d"), ("d", "u"), ("l", "r"), ("r", "l")] {
            writeln!(out, " no_{way}{back}_{t}: {way}_{t} + {back}_{next} <= 1")?;
        }
        Ok(())
    }

    /// The blank's cell follows from its column and row.
    fn columns(&self, out: &mut dyn Write) -> io::Result<()> {
        let cols = self.cols;
        if !self.is_near() {
            writeln!(out, " far: x_0 <= 0")?;
        }
        for t in 0..=self.steps {
            writeln!(out, " cell_{t}: p_0_{t} - {cols} y_{t} - x_{t} = -{cols}")?;
        }
        Ok(())
    }

    /// Cells, columns and rows that are near enough to start and goal; both ends are thereby fixed.
    fn bounds(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "Bounds")?;
        let size = self.question.size();
        for t in 0..=self.steps {
            writeln!(out, " 1 <= x_{t} <= {}", size.cols())?;
            writeln!(out, " 1 <= y_{t} <= {}", size.rows())?;
            for (i, &(start, home)) in self.ways.iter().enumerate() {
                let near = |&cell: &usize| self.question.is_possible(start, home, cell, t);
                let first = (0..self.cells).find(near);
                let last = (0..self.cells).rfind(near);
                // What is too far has no such cell; the constraint `far` then rules out everything.
                let (first, last) = (first.unwrap_or(start), last.unwrap_or(start));
                writeln!(out, " {} <= p_{i}_{t} <= {}", first + 1, last + 1)?;
            }
        }
        Ok(())
    }

    /// Whether every tile and the blank can get home in time, as far as distances tell.
    fn is_near(&self) -> bool {
        let near =
            |&(start, home): &(usize, usize)| self.question.is_possible(start, home, start, 0);
        self.ways.iter().all(near)
    }

    fn kinds(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "General")?;
        for t in 0..=self.steps {
            writeln!(out, " x_{t} y_{t}")?;
            for i in 0..self.cells {
                writeln!(out, " p_{i}_{t}")?;
            }
        }
        writeln!(out, "Binary")?;
        for t in 0..self.steps {
            writeln!(out, " u_{t} d_{t} l_{t} r_{t}")?;
            for i in 0..self.cells {
                writeln!(out, " z_{i}_{t}")?;
            }
        }
        writeln!(out, "End")
    }
}
