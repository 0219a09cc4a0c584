//! Pattern databases against the literature, against naive searches, and through every interface.

mod cli;
mod exports;
mod files;
mod histograms;
mod interop;
mod kernels;
mod lookups;
mod oracle;

use tilewave::pdb::{Build, Kind, Pattern, Pdb, Unobserved, build};
use tilewave::puzzle::tiles::{Board, Goal, Size};

/// A goal board in the notation of the command line.
fn goal(size: &str, goal: &str) -> Board {
    let size: Size = size.parse().unwrap();
    goal.parse::<Goal>().unwrap().board(size).unwrap()
}

/// A database of some tiles.
fn database(goal: &Board, tiles: &[u16], kind: Kind) -> Pdb {
    let pattern = Pattern::new(goal.clone(), tiles).unwrap();
    let how = Build {
        kind,
        ..Build::new(pattern)
    };
    build(&how, &Unobserved).unwrap()
}

/// A sequence of well-mixed numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
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
