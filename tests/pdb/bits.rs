//! One bit an entry against a byte an entry.

use std::collections::HashSet;

use rayon::prelude::*;
use tilewave::NoProgress;
use tilewave::pdb::{
    Build, Encoding, Evaluator, ExportLayout, Kind, Pattern, Pdb, PdbError, encode, export,
};
use tilewave::puzzle::Board;
use tilewave::random::SplitMix64;

use super::{Random, beside, database, exports::placements, goal};

/// Both databases of a pattern, one bit and one byte an entry.
fn pair(goal: &Board, tiles: &[u16]) -> (Pdb, Pdb) {
    let how = Build::new(Pattern::new(goal.clone(), tiles).unwrap())
        .kind(Kind::Regions)
        .encoding(Encoding::Bit);
    let bit = how.run().unwrap();
    let byte = database(goal, tiles, Kind::Regions);
    assert_eq!(bit.histogram(), byte.histogram());
    assert_eq!(bit.bytes().len() as u64, byte.entries().div_ceil(8));
    // The fast builder against values that are packed.
    assert!(bit.bytes() == encode(&byte, Encoding::Bit).unwrap().bytes());
    (bit, byte)
}

/// Boards that are looked up at a time, on all cores.
const AT_ONCE: usize = 1 << 16;

/// Compares every entry, found by a walk.
fn compare(goal: &Board, tiles: &[u16]) -> u64 {
    let (bit, byte) = pair(goal, tiles);
    let n = goal.size().cells();
    let all = placements(n, tiles.len());
    let entries = all.par_iter().flat_map_iter(|cells| {
        let region = |&cell: &u8| byte.entry_order().region(cells, cell).1;
        let mut blanks: Vec<u8> = (0..n as u8).filter(|cell| !cells.contains(cell)).collect();
        blanks.sort_by_key(region);
        blanks.dedup_by_key(|cell| region(cell));
        let look_up = |blank| {
            let (found, truth) = (bit.lookup(cells, blank), byte.lookup(cells, blank));
            assert_eq!(found, truth, "{tiles:?}: {cells:?} {blank}");
            byte.entry(cells, blank)
        };
        blanks.into_iter().map(look_up).collect::<Vec<u64>>()
    });
    let entries: HashSet<u64> = entries.collect();
    assert!(entries.iter().all(|&entry| entry < byte.entries()));
    assert_eq!(entries.len() as u64, byte.entries());
    byte.entries()
}

/// Compares random entries, found by a walk, and the values carried along random moves.
fn sample(goal: &Board, tiles: &[u16], samples: u64) {
    let (bit, byte) = pair(goal, tiles);
    let mut random = Random(SplitMix64::new(7));
    let mut left = samples as usize;
    while left > 0 {
        let boards = (0..left.min(AT_ONCE)).map(|_| random.board(goal.size()));
        let boards: Vec<Board> = boards.collect();
        boards.par_iter().for_each(|board| {
            let (found, truth) = (bit.value(board).unwrap(), byte.value(board).unwrap());
            assert_eq!(found, truth, "{tiles:?} {board}");
        });
        left -= boards.len();
    }
    let bits = [bit];
    let mut evaluator = Evaluator::new(&bits, goal).unwrap();
    let mut tiles = goal.tiles().to_vec();
    for _ in 0..samples {
        let blank = evaluator.blank();
        let near = beside(goal.size(), blank);
        let cell = near[random.below(near.len() as u64) as usize];
        evaluator.slide(cell);
        tiles.swap(cell, blank);
        let board = Board::new(goal.size(), &tiles).unwrap();
        let truth = byte.value(&board).unwrap().unwrap();
        assert_eq!(evaluator.value(0), truth, "{board}");
    }
}

/// With at most two tiles outside the pattern some entries are reached by no board: they have no value in either.
#[test]
fn every_entry_of_small_boards_has_the_byte_value() {
    for (size, text, all) in [
        ("2x2", "last", 1..=3),
        ("2x3", "first", 1..=5),
        ("3x2", "blank=3", 1..=5),
        ("2x4", "last", 1..=7),
        ("3x3", "last", 1..=7),
        ("3x3", "blank=4", 7..=7),
        ("2x5", "first", 2..=5),
        ("2x6", "last", 4..=4),
        ("3x4", "last", 1..=4),
    ] {
        let goal = goal(size, text);
        let mut gaps = 0;
        for k in all {
            let tiles: Vec<u16> =
                (0..k).map(|i| (i * 3 % goal.size().tiles()) as u16 + 1).collect();
            // Every third tile, or the first ones where the number of tiles is a multiple of three.
            let pattern = Pattern::new(goal.clone(), &tiles);
            let tiles = pattern.map_or_else(|_| (1..=k as u16).collect(), |p| p.tiles().to_vec());
            let entries = compare(&goal, &tiles);
            let table = database(&goal, &tiles, Kind::Regions);
            let reached = table.histogram().iter().sum::<u64>();
            assert!(entries == reached || k + 2 >= goal.size().tiles(), "{size} {tiles:?}");
            gaps += entries - reached;
        }
        let few = ["2x2", "2x3", "3x2", "2x4", "3x3"].contains(&size);
        assert_eq!(gaps > 0, few, "{size}");
    }
}

#[test]
fn samples_of_larger_boards_have_the_byte_value() {
    sample(&goal("3x4", "last"), &[1, 2, 3, 4, 5, 6, 8], 20_000);
    sample(&goal("2x5", "last"), &[1, 2, 3, 4, 5, 6, 8, 9], 20_000);
    sample(&goal("4x4", "first"), &[1, 4, 5, 8, 9, 12], 20_000);
    sample(&goal("5x5", "blank=7"), &[2, 3, 8, 12, 24], 20_000);
    sample(&goal("3x6", "last"), &[1, 2, 3, 7, 9], 20_000);
}

#[test]
#[ignore = "takes minutes and 4 GB: cargo test --release --test suite -- --ignored ten_million"]
fn all_entries_of_3x4_and_ten_million_samples_have_the_byte_value() {
    let board = goal("3x4", "last");
    assert!(compare(&board, &[1, 2, 3, 5, 6, 7]) > 665_280);
    assert!(compare(&board, &[1, 2, 3, 5, 6, 7, 9]) > 3_991_680);
    sample(&goal("4x4", "last"), &[9, 10, 11, 12, 13, 14, 15], 10_000_000);
    sample(&goal("5x5", "first"), &[1, 2, 5, 6, 7, 12], 10_000_000);
}

#[test]
fn what_one_bit_cannot_hold_is_refused() {
    let goal = goal("3x3", "last");
    let pattern = Pattern::new(goal.clone(), &[1, 2, 3, 4, 5]).unwrap();
    let minimum = Build::new(pattern).encoding(Encoding::Bit);
    assert!(matches!(minimum.run(), Err(PdbError::Unsuitable(_))));
    let table = database(&goal, &[1, 2], Kind::Minimum);
    assert!(matches!(encode(&table, Encoding::Bit), Err(PdbError::Unsuitable(_))));
    let (bit, byte) = pair(&goal, &[1, 2, 3, 4, 5]);
    let back = encode(&bit, Encoding::Byte);
    assert!(matches!(back, Err(PdbError::Unsuitable(_))), "{back:?}");
    assert!(encode(&bit, Encoding::Bit).unwrap().bytes() == bit.bytes());
    assert!(encode(&byte, Encoding::Bit).unwrap().bytes() == bit.bytes());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let exported = export(&bit, ExportLayout::Puzzle24, &path, false, &NoProgress);
    assert!(exported.unwrap_err().to_string().contains("encoding byte"));
    assert!(!path.exists());
}
