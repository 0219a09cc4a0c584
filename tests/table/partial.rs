//! Tables of some depths only, as other programs may make them.

use std::path::PathBuf;

use tilewave::Error;
use tilewave::puzzle::Puzzle;
use tilewave::puzzle::{Board, Moves, Permutation, PuzzleError, PuzzleErrorKind, StateSpace};
use tilewave::table::{DistanceTable, Fill, TableEncoding, TableError};

use super::goal;
use crate::plain::of_boards;

/// The last depth of the tables.
const LAST: usize = 10;

fn data() -> PathBuf {
    crate::program::root().join("tests/data/table_partial.table")
}

fn partial(goal: &Board, encoding: TableEncoding) -> DistanceTable {
    let space = StateSpace::of_board(goal.clone());
    let mut fill = Fill::new(&space, encoding).unwrap();
    for (board, depth) in of_boards(goal) {
        if depth <= LAST {
            fill.state(depth, space.state(&board).unwrap()).unwrap();
        }
    }
    fill.finish().unwrap()
}

/// The file that the tests of the command line, of Python and of C read; TILEWAVE_UPDATE=1 writes it again.
#[test]
fn the_partial_table_is_what_the_library_makes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fresh.table");
    let fresh = partial(&goal("2x3", "last"), TableEncoding::Byte);
    fresh.save(&path, false).unwrap();
    let fresh = std::fs::read(&path).unwrap();
    if std::env::var_os("TILEWAVE_UPDATE").is_some() {
        std::fs::write(data(), &fresh).unwrap();
    }
    assert!(std::fs::read(data()).unwrap() == fresh);
}

#[test]
fn boards_beyond_a_partial_table_have_no_depth_and_an_error_that_says_so() {
    let goal = goal("2x3", "last");
    let known = of_boards(&goal);
    let mut tables = Vec::from(TableEncoding::ALL.map(|encoding| partial(&goal, encoding)));
    tables.push(DistanceTable::open(data()).unwrap());
    tables.push(DistanceTable::load(data()).unwrap());
    for table in tables {
        assert_eq!(table.histogram().len(), LAST + 1);
        let mut beyond = 0;
        for (board, &depth) in &known {
            let there = (depth <= LAST).then_some(depth);
            assert_eq!(table.depth(board).unwrap(), there, "{board}");
            let many = table.depths(board.tiles()).unwrap();
            assert_eq!(many, [there.map_or(-1, |depth| depth as i16)]);
            let moves = table.solve(board).unwrap();
            assert_eq!(moves.as_ref().map(Moves::len), there);
            if let Some(moves) = moves {
                assert_eq!(moves.apply(board).unwrap(), goal);
                continue;
            }
            beyond += 1;
            match table.unreached(table.space().state(board).unwrap()) {
                Error::Table(TableError::Beyond(state)) => {
                    assert_eq!(state, board.to_string());
                }
                other => panic!("{board}: {other}"),
            }
        }
        assert_eq!(beyond, 360 - table.histogram().iter().sum::<u64>());
        assert!((100..300).contains(&beyond), "{beyond}");
    }
}

/// Four points in a ring: 4 of 24 arrangements can be reached, which the parity does not tell.
#[test]
fn a_state_that_cannot_be_reached_is_none_beyond_a_whole_table() {
    let turn = Permutation::new(&[1, 2, 3, 0]).unwrap();
    let ring = Puzzle::of_permutations("ring", 4, vec![("T".into(), turn)]).unwrap();
    let ring = StateSpace::of_puzzle(ring.inverse_closed().unwrap());
    let table = super::puzzles::table(&ring, TableEncoding::Byte);
    let state = |text: &str| table.space().parse(text).unwrap();
    assert_eq!(table.depth_of(state("3 4 1 2")).unwrap(), Some(2));
    let far = state("3 2 1 4");
    assert_eq!(table.depth_of(far).unwrap(), None);
    let is_unreachable = |error: &PuzzleError| error.kind() == PuzzleErrorKind::Unreachable;
    assert!(matches!(table.unreached(far), Error::Puzzle(error) if is_unreachable(&error)));
    let mut fill = Fill::new(&ring, TableEncoding::Byte).unwrap();
    fill.state(0, table.space().start().unwrap()).unwrap();
    let begun = fill.finish().unwrap();
    let error = begun.unreached(state("3 4 1 2"));
    assert!(
        matches!(&error, Error::Table(TableError::Beyond(state)) if state == "3 4 1 2"),
        "{error}"
    );
}
