//! The constructive solver: any board, any goal, thousands of boards a second, not optimal.
//!
//! Invariant: the cells outside the current region hold the tiles of the goal and are never touched
//! again; the region is a rectangle that contains the goal's blank cell.
//!
//! A region larger than 4x4 loses one outer line (row or column, whichever keeps it closest to a
//! square) at a time: the line's tiles are carried home one by one from both ends, the last two
//! together by a table. What is left, at most 4x4, loses further lines by tables and is finished
//! optimally. Source of the division into ever smaller boards: S. Muralidharan, The fifteen puzzle: a
//! new approach, Mathematics Magazine 90 (2017).

mod block;
mod carry;
mod field;
mod line;
mod rest;
mod table;
mod view;

use crate::puzzle::tiles::{Board, BoardError, Frame, Moves};
use field::Field;
use line::Peel;
use view::Region;

/// The longest side of a region that the tables finish.
const BLOCK: usize = 4;

/// A constructive solver of one goal. It can be shared between threads.
///
/// ```
/// use tilewave::puzzle::tiles::{Board, Goal, Size};
/// use tilewave::solve::Constructive;
///
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let board = Board::parse("8 6 7/2 5 4/3 0 1", None)?;
/// let moves = Constructive::new(goal.clone()).solve(&board)?;
/// assert_eq!(moves.apply(&board)?, goal);
/// assert_eq!(moves.len(), 31); // boards of up to nine cells are solved optimally
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Constructive {
    goal: Board,
    /// Goal cell of each tile and of the blank.
    home: Vec<u16>,
}

impl Constructive {
    /// Returns the solver of a goal. Cost: linear in the cells; tables are built when first needed, once
    /// per process (at most 2.2 MB and some 50 ms).
    pub fn new(goal: Board) -> Constructive {
        let mut home = vec![0; goal.tiles().len()];
        for (cell, &tile) in goal.tiles().iter().enumerate() {
            home[usize::from(tile)] = cell as u16;
        }
        Constructive { goal, home }
    }

    /// Returns the goal.
    pub fn goal(&self) -> &Board {
        &self.goal
    }

    /// Returns moves that bring the board to the goal: as few as possible up to nine cells, some 1.16
    /// times as many on 4x4, about 2 N^1.5 on square boards of N cells (2000 on 10x10, 17,400 on 20x20).
    /// Cost: some 10 to 20 ns per move; up to 0.5 ms on boards of at most 4x4, where more is tried.
    ///
    /// # Errors
    /// [`BoardError::WrongShape`] when the board has another size than the goal,
    /// [`BoardError::Unsolvable`] when it cannot reach it.
    pub fn solve(&self, board: &Board) -> Result<Moves, BoardError> {
        let size = self.goal.size();
        if board.size() != size {
            return Err(BoardError::WrongShape {
                found: board.size(),
                expected: size,
            });
        }
        let mut field = Field::new(size, &self.home, board);
        if !field.is_solvable() {
            // The frame takes quadratic time, but it words the refusal.
            Frame::new(self.goal.clone()).encode_solvable(board)?;
        }
        let mut region = Region::whole(size);
        while region.rows > BLOCK || region.cols > BLOCK {
            let view = field.cheapest_line(&region);
            Peel::new(&mut field, &view).place();
            region = region.without_first_line(&view);
        }
        block::finish(&mut field, &region);
        Ok(Moves(field.into_moves()))
    }
}
