//! What tables answer.

use tilewave::Error;
use tilewave::progress::StopWhen;
use tilewave::puzzle::{Board, Size, State, StateSpace};
use tilewave::report::published;
use tilewave::search::Search;
use tilewave::solve::Scrambler;
use tilewave::table::{DistanceTable, Fill, TableEncoding, TableError};

use super::{encodings, goal, table};
use crate::plain::of_boards;

#[test]
fn every_depth_is_that_of_a_plain_search() {
    for (size, name) in [
        ("2x2", "last"),
        ("2x3", "last"),
        ("3x2", "blank=2"),
        ("2x4", "last"),
        ("4x2", "3 1/2 4/7 6/5 0"),
        ("3x3", "blank=4"),
        ("3x3", "first"),
    ] {
        let goal = goal(size, name);
        let known = of_boards(&goal);
        for encoding in encodings(*known.values().max().unwrap()) {
            let table = table(&goal, encoding);
            assert_eq!(table.histogram().iter().sum::<u64>(), known.len() as u64);
            for (board, &depth) in &known {
                assert_eq!(table.depth(board).unwrap(), Some(depth), "{board} {encoding}");
            }
        }
    }
}

#[test]
fn solutions_are_shortest_and_solve() {
    let goal = goal("3x3", "last");
    let known = of_boards(&goal);
    for encoding in encodings(31) {
        let table = table(&goal, encoding);
        for board in Scrambler::new(goal.clone(), 5).take(300).chain([goal.clone()]) {
            let moves = table.solve(&board).unwrap().unwrap();
            assert_eq!(moves.len(), known[&board], "{board}");
            assert_eq!(moves.apply(&board).unwrap(), goal);
        }
    }
}

#[test]
fn a_large_table_has_the_published_distribution() {
    let goal = goal("3x4", "first");
    let table = table(&goal, TableEncoding::Mod3);
    let size = Size::new(3, 4).unwrap();
    assert_eq!(
        table.histogram(),
        published(size, 0, tilewave::puzzle::Metric::Stm).unwrap().counts()
    );
    // Two bits per state, and the checksums.
    assert!(table.file_bytes() < 239_500_800 / 4 + 16_384);
    let mut sum = 0;
    for board in Scrambler::new(goal.clone(), 9).take(2000) {
        let moves = table.solve(&board).unwrap().unwrap();
        assert_eq!(moves.apply(&board).unwrap(), goal);
        sum += moves.len();
    }
    // The mean depth of 3x4 with the goal's blank in a corner is 35.07.
    assert!((34.6..35.5).contains(&(sum as f64 / 2000.0)), "{sum}");
}

#[test]
fn levels_may_come_in_parts_and_out_of_order() {
    let goal = goal("2x4", "last");
    let whole = table(&goal, TableEncoding::Mod3);
    let space = StateSpace::of_board(goal.clone());
    for encoding in encodings(36) {
        let mut fill = Fill::new(&space, encoding).unwrap();
        // Registers of one level: 60 lines each, one bit for every other cell.
        let home = space.state(&goal).unwrap().cell;
        let cells = [[0, 2, 4, 6], [1, 3, 5, 7]];
        let mut levels = vec![vec![[0u8; 64]; space.lines() as usize / 60]; 37];
        for id in 0..space.lines() * 8 {
            let state = space.from_id(id).unwrap();
            let depth = whole.depth(&space.board(state).unwrap()).unwrap().unwrap();
            let class = &cells[(depth + home) % 2];
            let bit = class.iter().position(|&cell| cell == state.cell).unwrap();
            let (register, lane) = (state.line as usize / 60, state.line as usize % 60);
            levels[depth][register][lane] |= 1 << bit;
        }
        for depth in (0..levels.len()).rev() {
            let (low, high) = levels[depth].split_at(7);
            let class = &cells[(depth + home) % 2];
            fill.level(depth, 7 * 60, high, class).unwrap();
            fill.level(depth, 0, low, class).unwrap();
        }
        let filled = fill.finish().unwrap();
        assert_eq!(filled.histogram(), whole.histogram());
        assert_eq!(filled.checksum(), table(&goal, encoding).checksum());
    }
}

#[test]
fn what_was_not_reached_has_no_depth() {
    let goal = goal("3x3", "last");
    for encoding in TableEncoding::ALL {
        let mut fill = Fill::new(&StateSpace::of_board(goal.clone()), encoding).unwrap();
        fill.state(0, State { line: 0, cell: 8 }).unwrap();
        let beyond = encoding.max_depth() + 1;
        let deep = fill.state(beyond, State { line: 0, cell: 7 });
        assert!(matches!(deep, Err(TableError::TooDeep { depth, .. }) if depth == beyond));
        let table = fill.finish().unwrap();
        assert_eq!(table.depth(&goal).unwrap(), Some(0));
        let far = Board::parse("1 2 3/4 5 6/7 0 8", None).unwrap();
        assert_eq!(table.depth(&far).unwrap(), None);
        assert_eq!(table.solve(&far).unwrap(), None);
    }
}

#[test]
fn wrong_boards_and_small_budgets_are_refused() {
    let goal = goal("3x3", "last");
    let table = table(&goal, TableEncoding::Byte);
    let error = |text: &str| {
        let board = Board::parse(text, None).unwrap();
        table.depth(&board).unwrap_err().to_string()
    };
    assert!(error("1 2 3/4 5 6/8 7 0").contains("parity is odd"));
    assert!(error("1 2/3 0").contains("2x2"));
    let mut search = Search::new(goal);
    search.resources.memory = Some(1000);
    let refused = DistanceTable::build(&search, TableEncoding::Mod3).unwrap_err().to_string();
    assert!(refused.contains("the limit is 1000 B"), "{refused}");
    let large = Search::new(super::goal("3x6", "last"));
    let refused = DistanceTable::build(&large, TableEncoding::Mod3).unwrap_err().to_string();
    assert!(refused.contains("at most 16"), "{refused}");
}

#[test]
fn an_interrupted_table_is_none_and_offers_nothing() {
    let search = Search::new(super::goal("3x3", "last"));
    let error =
        DistanceTable::build_with(&search, TableEncoding::Mod3, &StopWhen(|| true)).unwrap_err();
    assert!(matches!(error, Error::System(tilewave::SystemError::Interrupted)), "{error}");
}
