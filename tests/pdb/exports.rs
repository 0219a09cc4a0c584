//! Layouts of other solvers, against their definitions written out.

use tilewave::pdb::{ExportLayout, Kind, Pdb, PdbError, export};
use tilewave::{NoProgress, SystemError};

use super::{database, goal};

fn exported(pdb: &Pdb, layout: ExportLayout) -> Result<Vec<u8>, PdbError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    export(pdb, layout, &path, false, &NoProgress)?;
    assert!(matches!(
        export(pdb, layout, &path, false, &NoProgress),
        Err(PdbError::System(SystemError::Exists(_)))
    ));
    Ok(std::fs::read(path).unwrap())
}

/// All placements of k tiles on n cells, in order.
pub fn placements(n: usize, k: usize) -> Vec<Vec<u8>> {
    if k == 0 {
        return vec![vec![]];
    }
    let shorter = placements(n, k - 1);
    let longer = |cells: &Vec<u8>| {
        let free: Vec<u8> = (0..n as u8).filter(|c| !cells.contains(c)).collect();
        let cells = cells.clone();
        free.into_iter().map(move |c| [&cells[..], &[c]].concat())
    };
    shorter.iter().flat_map(longer).collect()
}

#[test]
fn the_lexicographic_table_lists_placements_in_order() {
    let table = database(&goal("3x4", "last"), &[1, 5, 6, 7], Kind::Minimum);
    let bytes = exported(&table, ExportLayout::Lexicographic).unwrap();
    let values: Vec<u8> = placements(12, 4).iter().map(|c| table.lookup(c, 0).unwrap()).collect();
    assert!(bytes == values && bytes == table.bytes());
}

#[test]
fn the_position_table_is_indexed_by_cells() {
    // Up to four tiles, more, and as many as there are: places of no board stay 255.
    for (size, tiles) in
        [("3x3", 1..=1), ("3x3", 1..=3), ("3x3", 2..=6), ("2x3", 1..=5), ("3x4", 4..=9)]
    {
        let tiles: Vec<u16> = tiles.collect();
        let table = database(&goal(size, "first"), &tiles, Kind::Minimum);
        let (n, k) = (table.pattern().size().cells(), tiles.len());
        let mut expected = vec![255; n.pow(k as u32)];
        for cells in placements(n, k) {
            let index = cells.iter().rev().fold(0, |index, &c| index * n + usize::from(c));
            expected[index] = table.lookup(&cells, 0).unwrap_or(255);
        }
        assert!(exported(&table, ExportLayout::Positions).unwrap() == expected, "{size} {tiles:?}");
    }
}

/// The definition: offset = (mapoff[maprank] + region) * k! + pidx.
fn offset(cells: &[u8], blank: Option<u8>) -> usize {
    let mask = cells.iter().fold(0u32, |m, &c| m | 1 << c);
    let k = cells.len() as u32;
    let factorial: usize = (1..=k as usize).product();
    let region_of = |mask: u32, cell: u8| {
        let mut region = 1u32 << cell;
        loop {
            let mut grown = region;
            for c in (0..25).filter(|c| region >> c & 1 == 1) {
                let (row, col) = (c / 5, c % 5);
                for (r, q) in [(row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)] {
                    if (0..5).contains(&r) && (0..5).contains(&q) && mask >> (r * 5 + q) & 1 == 0 {
                        grown |= 1 << (r * 5 + q);
                    }
                }
            }
            if grown == region {
                return region;
            }
            region = grown;
        }
    };
    let regions = |mask: u32| {
        let mut all: Vec<u32> =
            (0..25u8).filter(|c| mask >> c & 1 == 0).map(|c| region_of(mask, c)).collect();
        all.sort_by_key(|region| region.trailing_zeros());
        all.dedup();
        all
    };
    let mut slot = 0;
    for smaller in (0..mask).filter(|m| m.count_ones() == k) {
        slot += if blank.is_some() { regions(smaller).len() } else { 1 };
    }
    if let Some(blank) = blank {
        let own = region_of(mask, blank);
        slot += regions(mask).iter().position(|&r| r == own).unwrap();
    }
    let (mut pidx, mut factor, mut left) = (0, 1, mask);
    for (i, &cell) in cells.iter().enumerate() {
        pidx += (left & ((1 << cell) - 1)).count_ones() as usize * factor;
        factor *= cells.len() - i;
        left &= !(1 << cell);
    }
    slot * factorial + pidx
}

#[test]
fn the_24puzzle_layout_follows_its_definition() {
    let goal = goal("5x5", "first");
    let minimum = database(&goal, &[1, 5, 12], Kind::Minimum);
    let regions = database(&goal, &[1, 5, 12], Kind::Regions);
    let [without, with] =
        [&minimum, &regions].map(|t| exported(t, ExportLayout::Puzzle24).unwrap());
    assert_eq!(without.len(), 13_800);
    assert_eq!(with.len() as u64, regions.entries());
    for cells in placements(25, 3).iter().filter(|c| c.iter().all(|&c| c < 12)).step_by(7) {
        assert_eq!(without[offset(cells, None)], minimum.lookup(cells, 0).unwrap(), "{cells:?}");
        for blank in (0..25).filter(|b| !cells.contains(b)).step_by(4) {
            let value = regions.lookup(cells, blank).unwrap();
            assert_eq!(with[offset(cells, Some(blank))], value, "{cells:?} {blank}");
        }
    }
    assert_eq!(without[offset(&[1, 5, 12], None)], 0);
}

#[test]
fn layouts_refuse_what_they_cannot_hold() {
    let refused = |pdb: &Pdb, layout| {
        assert!(matches!(exported(pdb, layout), Err(PdbError::Unsuitable(_))), "{layout:?}");
    };
    let small = database(&goal("3x3", "first"), &[1, 2], Kind::Minimum);
    refused(&small, ExportLayout::Puzzle24);
    let last = database(&goal("5x5", "last"), &[1, 2], Kind::Minimum);
    refused(&last, ExportLayout::Puzzle24);
    let regions = database(&goal("5x5", "first"), &[1, 2], Kind::Regions);
    refused(&regions, ExportLayout::Lexicographic);
    refused(&regions, ExportLayout::Positions);
}
