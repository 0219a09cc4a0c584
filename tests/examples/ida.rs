//! A complete solver on tilewave's pattern databases: iterative-deepening A* with the incremental index.
//!
//! The goal is Korf's, with the blank in the first cell.
//!
//! cargo run --release --example ida -- '4 1 2 3/8 5 6 7/12 9 10 11/13 14 0 15'

use tilewave::pdb::{Build, Pdb};
use tilewave::puzzle::{Board, Coordinates, Direction, Goal, Moves};
use tilewave::solve::{MovePruner, SymmetricView, default_patterns};

struct Ida {
    goal: Board,
    pdbs: Vec<Pdb>,
    view: SymmetricView,
    pruner: MovePruner,
    /// Tile on each cell, 0 for the blank, and the entry of the board in each database.
    tiles: Vec<u8>,
    entries: Vec<u64>,
    moves: Vec<Direction>,
}

impl Ida {
    fn bound(&self) -> usize {
        let values = self.pdbs.iter().zip(&self.entries);
        values.map(|(pdb, &entry)| usize::from(pdb.bytes()[entry as usize])).sum()
    }

    /// Looks for a solution of at most `limit` moves below this board; otherwise returns the least limit
    /// that leads further.
    fn descend(&mut self, blank: usize, state: u32, limit: usize) -> Result<(), usize> {
        let least = self.moves.len() + self.bound();
        if least > limit {
            return Err(least);
        }
        if self.tiles.iter().zip(self.goal.tiles()).all(|(&a, &b)| u16::from(a) == b) {
            return Ok(());
        }
        let mut next = usize::MAX;
        for (direction, state) in self.pruner.moves(state) {
            let cell =
                direction.tile_cell(self.goal.size(), blank).expect("the pruner knows the border");
            let change = self.view.change(&self.tiles, blank, direction);
            self.tiles.swap(blank, cell);
            self.moves.push(direction);
            if let Some((pattern, change)) = change {
                self.entries[pattern] = self.entries[pattern].wrapping_add_signed(change);
            }
            next = next.min(match self.descend(cell, state, limit) {
                Ok(()) => return Ok(()),
                Err(least) => least,
            });
            if let Some((pattern, change)) = change {
                self.entries[pattern] = self.entries[pattern].wrapping_add_signed(-change);
            }
            self.moves.pop();
            self.tiles.swap(blank, cell);
        }
        Err(next)
    }
}

/// Returns shortest solutions of boards of one size to Korf's goal.
pub fn solve(boards: &[Board]) -> Result<Vec<Moves>, tilewave::Error> {
    let Some(first) = boards.first() else {
        return Ok(Vec::new());
    };
    let goal = Goal::First.board(first.size())?;
    let patterns = default_patterns(&goal)?;
    let view = SymmetricView::all(&goal, &patterns).remove(0);
    let pdbs = patterns.into_iter().map(|pattern| Build::new(pattern).run());
    let pdbs = pdbs.collect::<Result<Vec<Pdb>, _>>()?;
    let pruner = MovePruner::new(goal.size(), 12);
    let (tiles, entries, moves) = (Vec::new(), Vec::new(), Vec::new());
    let mut ida = Ida { goal, pdbs, view, pruner, tiles, entries, moves };
    // Of a board that cannot reach the goal the search would never end.
    let frame = Coordinates::new(ida.goal.clone());
    let mut solve = |board: &Board| {
        frame.encode_solvable(board)?;
        ida.tiles = board.tiles().iter().map(|&tile| tile as u8).collect();
        ida.entries = (0..ida.pdbs.len()).map(|pattern| ida.view.index(pattern, board)).collect();
        ida.moves.clear();
        let (mut limit, start) = (ida.bound(), ida.pruner.start(board.blank()));
        while let Err(next) = ida.descend(board.blank(), start, limit) {
            limit = next;
        }
        Ok(Moves(ida.moves.clone()))
    };
    boards.iter().map(&mut solve).collect()
}

#[allow(dead_code, clippy::print_stdout)] // a test includes this file
fn main() -> Result<(), tilewave::Error> {
    let boards = std::env::args().skip(1).map(|text| Board::parse(&text, None));
    for moves in solve(&boards.collect::<Result<Vec<Board>, _>>()?)? {
        println!("{} {moves}", moves.len());
    }
    Ok(())
}
