//! Random boards.
//!
//! Invariant: the boards depend on goal and seed only, never on the machine or the version of a
//! library; all boards that can reach the goal are equally likely.

use super::solvability;
use crate::puzzle::tiles::Board;
use crate::random::SplitMix64;

/// An endless sequence of random boards that can reach a goal.
///
/// The source of randomness is SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number
/// generators, OOPSLA 2014), seeded with the seed. Each board is a Fisher-Yates shuffle of the goal's
/// cells from the last to the second, indices drawn by rejection; if the result cannot reach the goal,
/// the first two tiles in reading order are exchanged.
///
/// ```
/// use tilewave::puzzle::tiles::{Goal, Size};
/// use tilewave::solve::Scrambler;
///
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let board = Scrambler::new(goal.clone(), 1).next().expect("there is always another");
/// assert_eq!(board.to_string(), "3 5 4/1 7 0/2 8 6");
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scrambler {
    goal: Board,
    random: SplitMix64,
}

impl Scrambler {
    /// Returns the boards of a goal and a seed.
    pub fn new(goal: Board, seed: u64) -> Scrambler {
        Scrambler {
            goal,
            random: SplitMix64::new(seed),
        }
    }
}

impl Iterator for Scrambler {
    type Item = Board;

    fn next(&mut self) -> Option<Board> {
        let mut tiles = self.goal.tiles().to_vec();
        for last in (1..tiles.len()).rev() {
            let other = self.random.below(last as u64 + 1) as usize;
            tiles.swap(last, other);
        }
        let board = Board::new(self.goal.size(), &tiles).ok()?;
        if solvability::explain(&board, &self.goal).ok()?.is_none() {
            return Some(board);
        }
        // Exchanging two fixed places pairs every unsolvable board with one solvable board.
        let mut places = (0..tiles.len()).filter(|&cell| tiles[cell] != 0);
        let (first, second) = (places.next()?, places.next()?);
        tiles.swap(first, second);
        Board::new(self.goal.size(), &tiles).ok()
    }
}
