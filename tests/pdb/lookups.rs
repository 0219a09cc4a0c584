//! Values of boards: lower bounds, consistent, and the same through every way of looking them up.

use tilewave::pdb::{
    Encoding, Evaluator, Kind, Pattern, Pdb, PdbError, check_partition, encode, partition,
};
use tilewave::puzzle::Board;
use tilewave::random::SplitMix64;

use super::{Random, beside, database, goal};
use crate::plain::of_boards;

fn neighbours(board: &Board) -> Vec<(Board, usize)> {
    let after = |cell: usize| {
        let mut tiles = board.tiles().to_vec();
        tiles.swap(cell, board.blank());
        (Board::new(board.size(), &tiles).unwrap(), cell)
    };
    beside(board.size(), board.blank()).into_iter().map(after).collect()
}

/// On all boards: both sums are lower bounds, the region-aware one is at least the other, and it is
/// consistent: it changes by at most one per move.
fn check(goal: &Board, tiles: [&[u16]; 2]) {
    let make = |kind| tiles.map(|tiles| database(goal, tiles, kind));
    let (minimum, regions) = (make(Kind::Minimum), make(Kind::Regions));
    let sum = |tables: &[Pdb; 2], board: &Board| -> u32 {
        tables.iter().map(|t| u32::from(t.value(board).unwrap().unwrap())).sum()
    };
    let (mut stronger, mut jumps) = (0, 0);
    for (board, depth) in &of_boards(goal) {
        let (low, high) = (sum(&minimum, board), sum(&regions, board));
        assert!(low <= high && high as usize <= *depth, "{board}: {low} {high} {depth}");
        stronger += u32::from(high > low);
        for (next, _) in neighbours(board) {
            jumps += u32::from(sum(&minimum, &next).abs_diff(low) > 1);
            assert!(sum(&regions, &next).abs_diff(high) <= 1, "{board}");
        }
    }
    assert!(stronger > 0, "regions matter somewhere");
    // Leaving the blank out costs consistency: a move may change the minimum by more than one.
    assert!(jumps > 0, "minima jump somewhere");
}

#[test]
fn values_are_admissible_and_consistent_on_all_boards_of_3x3() {
    check(&goal("3x3", "last"), [&[1, 2, 3, 4], &[5, 6, 7, 8]]);
}

#[test]
fn values_are_admissible_and_consistent_on_all_boards_of_2x4() {
    check(&goal("2x4", "first"), [&[1, 2, 4, 5, 6], &[3, 7]]);
}

#[test]
fn databases_of_different_goals_have_no_sum() {
    let pair = [
        database(&goal("3x3", "first"), &[1, 2], Kind::Minimum),
        database(&goal("3x3", "last"), &[3, 4], Kind::Minimum),
    ];
    let refused = Evaluator::new(&pair, &goal("3x3", "first"));
    assert!(matches!(refused.err(), Some(PdbError::Unsuitable(_))));
}

#[test]
fn an_evaluator_keeps_its_sum_along_a_walk() {
    let goal = goal("4x4", "first");
    for kind in [Kind::Minimum, Kind::Regions] {
        let tables: Vec<Pdb> = partition("5-5-5", &goal)
            .unwrap()
            .iter()
            .map(|p| database(&goal, p.tiles(), kind))
            .collect();
        let mut random = Random(SplitMix64::new(4));
        let mut board = goal.clone();
        let mut evaluator = Evaluator::new(&tables, &board).unwrap();
        for _ in 0..2000 {
            let near = neighbours(&board);
            let (next, cell) = near[random.below(near.len() as u64) as usize].clone();
            evaluator.slide(cell);
            board = next;
            let values = tables.iter().map(|t| u32::from(t.value(&board).unwrap().unwrap()));
            assert_eq!(evaluator.sum(), values.sum::<u32>(), "{board}");
            assert_eq!(evaluator.blank(), board.blank());
        }
    }
}

/// The worked examples of docs/format.md.
#[test]
fn entries_are_numbered_as_documented() {
    let goal = goal("3x3", "last");
    let table = database(&goal, &[1, 2, 3], Kind::Minimum);
    assert_eq!(table.entry(&[4, 7, 0], 8), (4 * 8 + 6) * 7);
    let table = database(&goal, &[1, 2, 3], Kind::Regions);
    let starts = table.entry_order().region_starts();
    // Cells 1, 3, 7: masks are ranked by C(1,1) + C(3,2) + C(7,3) = 39.
    assert_eq!((starts[39], starts[40]), (56, 59));
    let bits = encode(&table, Encoding::Bit).unwrap();
    assert_eq!(bits.bytes()[346 / 8], 11);
    assert_eq!(bits.lookup(&[7, 1, 3], 8), Some(8));
    for (cells, entry, bit, value) in [([4, 1, 3], 70, 1, 7), ([8, 1, 3], 562, 0, 9)] {
        assert_eq!(bits.entry(&cells, 7), entry);
        assert_eq!(bits.bytes()[entry as usize / 8] >> (entry % 8) & 1, bit);
        assert_eq!(bits.lookup_after(&cells, 7, Some(8)), Some(value));
    }
    // Cell 0 is region 0, the blank on 8 is in region 1; tiles 1, 2, 3 on 7, 1, 3 have order 2*2! = 4.
    assert_eq!(table.entry(&[7, 1, 3], 8), (56 + 1) * 6 + 4);
}

#[test]
fn wrong_patterns_are_refused() {
    let goal = goal("4x4", "last");
    let refused = |error: PdbError, words: &str| {
        let said = error.to_string();
        assert!(matches!(error, PdbError::Pattern(_)) && said.contains(words), "{said}");
    };
    let new = |tiles: &[u16]| Pattern::new(goal.clone(), tiles).unwrap_err();
    refused(new(&[1, 1]), "tile 1 occurs twice");
    refused(new(&[1, 16]), "tile 16 of the pattern is not on a 4x4 board");
    refused(new(&[0, 1]), "the blank (0) cannot be a tile");
    refused(new(&[]), "this pattern has 0");
    refused(new(&[1, 2, 3, 4, 5, 6, 7, 8, 9]), "this pattern has 9");
    let large = super::goal("2x7", "last");
    refused(Pattern::new(large, &[1]).unwrap_err(), "2x7 is too large");
    let parse = |text: &str| Pattern::parse(goal.clone(), text);
    refused(parse("1,x").unwrap_err(), "is not a pattern");
    refused(parse("1,+2").unwrap_err(), "is not a pattern");
    assert_eq!(parse("3, 1").unwrap().tiles(), [1, 3]);

    let patterns = |texts: &[&str]| -> Vec<Pattern> {
        texts.iter().map(|text| parse(text).unwrap()).collect()
    };
    let overlap = check_partition(&patterns(&["1,2,3", "3,4"])).unwrap_err();
    refused(overlap, "tile 3 is in more than one");
    let open = check_partition(&patterns(&["1,2,3", "5,4"])).unwrap_err();
    refused(open, "tile 6 is in no pattern");
    for name in ["7-8", "6-6-3", "5-5-5"] {
        for text in ["first", "last", "blank=3"] {
            check_partition(&partition(name, &super::goal("4x4", text)).unwrap()).unwrap();
        }
        let elsewhere = partition(name, &super::goal("4x4", "blank=5"));
        refused(elsewhere.unwrap_err(), "with the blank in a corner");
    }
    check_partition(&partition("6-6-6-6", &super::goal("5x5", "last")).unwrap()).unwrap();
    let unknown = partition("7-8", &super::goal("5x5", "last"));
    refused(unknown.unwrap_err(), "is not the name of a partition for 5x5");
}
