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
use tilewave::puzzle::{Board, Direction, Goal, Size};
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

/// Makes the checksum of a file's header right.
pub fn seal(file: &mut [u8]) {
    let sum = xxhash_rust::xxh3::xxh3_64(&file[..4088]);
    file[4088..4096].copy_from_slice(&sum.to_le_bytes());
}

/// Makes all sums of a file right, given where the sum of its only block of entries is, the block itself, and the sum
/// of the former.
pub fn seal_all(file: &mut [u8], (sums, entries): (usize, usize), checksum: usize) {
    let sum = |bytes: &[u8]| xxhash_rust::xxh3::xxh3_64(bytes).to_le_bytes();
    let block = sum(&file[entries..]);
    file[sums..sums + 8].copy_from_slice(&block);
    file[checksum..checksum + 8].copy_from_slice(&sum(&block));
    seal(file);
}

/// The cells beside a cell.
pub fn beside(size: Size, cell: usize) -> Vec<usize> {
    Direction::ALL.into_iter().filter_map(|way| way.tile_cell(size, cell)).collect()
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
