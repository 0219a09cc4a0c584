//! What `src/pdb/grid.rs` keeps to itself.

use super::*;

fn grid(rows: usize, cols: usize) -> Grid {
    Grid::new(Size::new(rows, cols).unwrap())
}

#[test]
fn regions_are_numbered_by_their_lowest_cells() {
    // . 1 . .      region 0: cell 0; region 1: cells 2, 3, 7, 11, 10, 9, ..
    // 4 . . .
    let grid = grid(3, 4);
    let occupied = 1 << 1 | 1 << 4 | 1 << 6;
    assert_eq!(grid.lows(occupied), 0b101);
    assert_eq!(grid.region(grid.free(occupied), 0), 1);
    assert_eq!(grid.region_number(occupied, 0), 0);
    assert_eq!(grid.region_number(occupied, 5), 1);
}

/// A byte holds the regions: eight tiles never cut a board of up to 6x6 into more than eight. All
/// sets are tried on boards up to 4x5, where walls are short; on larger ones the test below samples.
#[test]
fn eight_tiles_leave_at_most_eight_regions() {
    for (rows, cols) in [(2, 6), (3, 3), (3, 4), (3, 5), (3, 6), (4, 4), (4, 5)] {
        let grid = grid(rows, cols);
        let n = rows * cols;
        for k in 1..=8.min(n - 1) {
            let subsets = crate::perm::placement::Subsets::new(n, k).unwrap();
            let most = subsets.iter().map(|s| grid.lows(s).count_ones()).max();
            assert!(most.unwrap() <= 8, "{rows}x{cols} {k}");
        }
    }
}

#[test]
fn eight_tiles_leave_at_most_eight_regions_on_large_boards() {
    for (rows, cols) in [(4, 6), (5, 5), (5, 6), (6, 6)] {
        let grid = grid(rows, cols);
        for k in 1..=8 {
            let subsets = crate::perm::placement::Subsets::new(rows * cols, k).unwrap();
            let most = subsets.iter().map(|s| grid.lows(s).count_ones()).max();
            assert!(most.unwrap() <= 8, "{rows}x{cols} {k}");
        }
    }
}
