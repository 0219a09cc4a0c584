//! Pattern databases against the literature, against naive searches, and through every interface.

mod all_moves;
mod bits;
mod c;
mod exports;
mod files;
mod histograms;
pub mod interop;
mod kernels;
mod lookups;
mod many;
mod on_disk;
mod oracle;
mod sets;
#[path = "../support/simulated.rs"]
mod simulated;

use tilewave::pdb::{Build, Kind, Pattern, Pdb};
use tilewave::puzzle::{Board, Goal, Size};
use tilewave::random::SplitMix64;

/// A goal board in the notation of the command line.
pub fn goal(size: &str, goal: &str) -> Board {
    let size: Size = size.parse().unwrap();
    goal.parse::<Goal>().unwrap().board(size).unwrap()
}

/// A database of some tiles.
fn database(goal: &Board, tiles: &[u16], kind: Kind) -> Pdb {
    let pattern = Pattern::new(goal.clone(), tiles).unwrap();
    let how = Build::new(pattern).kind(kind);
    how.run().unwrap()
}

struct Random(SplitMix64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    /// Any board, whether or not it can reach the goal.
    fn board(&mut self, size: Size) -> Board {
        let mut tiles: Vec<u16> = (0..size.cells() as u16).collect();
        for i in (1..tiles.len()).rev() {
            tiles.swap(i, self.below(i as u64 + 1) as usize);
        }
        Board::new(size, &tiles).unwrap()
    }
}
