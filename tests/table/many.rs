//! Many states at once against one state after the other.

use tilewave::puzzle::{StateSpace, families};
use tilewave::solve::Scrambler;

use super::*;

#[test]
fn depths_of_many_boards_are_those_of_each() {
    let dir = tempfile::tempdir().unwrap();
    let goal = goal("2x4", "first");
    let boards: Vec<Board> = Scrambler::new(goal.clone(), 1).take(5000).collect();
    let mut rows: Vec<u16> = boards.iter().flat_map(Board::tiles).copied().collect();
    for encoding in encodings(36) {
        let built = table(&goal, encoding);
        let path = dir.path().join(encoding.name());
        built.save(&path, false).unwrap();
        let each = |board: &Board| built.depth(board).unwrap().map(|depth| depth as i16);
        let expected: Option<Vec<i16>> = boards.iter().map(each).collect();
        let (read, loaded) = (DistanceTable::open(&path), DistanceTable::load(&path));
        for table in [&built, &read.unwrap(), &loaded.unwrap()] {
            assert_eq!(table.depths(&rows).unwrap(), *expected.as_ref().unwrap());
        }
        let error = built.depths(&[&rows[..], &[1]].concat()).unwrap_err();
        let error = error.to_string();
        assert_eq!(error, "row 5000: the board has 1 cell, but 2x4 needs 8");
    }
    // The other half cannot be solved.
    for row in rows.chunks_mut(8) {
        let tiles = |tile| row.iter().position(|&t| t == tile).unwrap();
        let (one, two) = (tiles(1), tiles(2));
        row.swap(one, two);
    }
    let depths = table(&goal, TableEncoding::Byte).depths(&rows).unwrap();
    assert_eq!(depths, vec![-1; 5000]);
}

#[test]
fn depths_of_other_puzzles_are_those_of_each() {
    for name in ["topspin:7,4", "lrx:6", "pancake:6"] {
        let space = StateSpace::of_puzzle(families::parse(name).unwrap());
        let table = DistanceTable::build(&Search::of(space), TableEncoding::Byte).unwrap();
        let space = table.space();
        let states: Vec<u64> = (0..space.lines() * space.moves().cells() as u64).collect();
        let rows = space.rows(&states).unwrap();
        let each = |&id: &u64| {
            let depth = table.depth_of(space.from_id(id).unwrap()).unwrap();
            depth.map_or(-1, |depth| depth as i16)
        };
        let expected: Vec<i16> = states.iter().map(each).collect();
        assert_eq!(table.depths(&rows).unwrap(), expected, "{name}");
    }
}
