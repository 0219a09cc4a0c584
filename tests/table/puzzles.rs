//! Tables of puzzles other than boards, and of boards in the multi-tile metric.

use std::path::PathBuf;

use tilewave::puzzle::Puzzle;
use tilewave::puzzle::formats;
use tilewave::puzzle::{
    Board, Direction, Metric, Moves, NamedMove, Permutation, StateSpace, families,
};
use tilewave::search::Search;
use tilewave::table::{DistanceTable, TableEncoding};

use super::{encodings, goal};
use crate::pdb::seal;
use crate::plain::{HashMap, of_boards, reached};
use crate::puzzles::after;

pub fn table(space: &StateSpace, encoding: TableEncoding) -> DistanceTable {
    DistanceTable::build(&Search::of(space.clone()), encoding).unwrap()
}

fn sample(name: &str) -> Puzzle {
    let path = data("puzzles").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    formats::read(name, &text, None).unwrap()
}

fn data(name: &str) -> PathBuf {
    crate::program::root().join("tests/data").join(name)
}

/// Distances of all arrangements from the solved one, by nothing but the generators.
fn plainly(puzzle: &Puzzle) -> HashMap<Permutation, usize> {
    reached(Permutation::identity(puzzle.labels().len()), |arrangement| {
        (0..puzzle.moves().len()).map(|one| after(puzzle, arrangement, one)).collect::<Vec<_>>()
    })
}

/// Small ones of all kinds: lines of both parities, one sign, several groups, plain search, a group that is not all.
fn puzzles() -> Vec<Puzzle> {
    let families = ["pancake:4", "lrx:6", "pancake:7", "lrx:7", "topspin:7,4", "stars:7"];
    let families = families.map(|name| families::parse(name).unwrap());
    families.into_iter().chain([sample("wheels.gap"), sample("five.gap")]).collect()
}

#[test]
fn every_depth_of_a_puzzle_is_that_of_a_plain_search() {
    for puzzle in puzzles() {
        let known = plainly(&puzzle);
        let space = StateSpace::of_puzzle(puzzle.clone());
        for encoding in encodings(*known.values().max().unwrap()) {
            let table = table(&space, encoding);
            let name = puzzle.name();
            assert_eq!(table.histogram().iter().sum::<u64>(), known.len() as u64);
            assert!(table.goal().is_err());
            for (arrangement, &depth) in &known {
                let text = puzzle.show(arrangement);
                let state = table.space().parse(&text).unwrap();
                assert_eq!(table.space().text(state), text);
                assert_eq!(table.depth_of(state).unwrap(), Some(depth), "{name} {text}");
            }
        }
    }
}

/// In four bits, a table has half of the bytes, and what is deeper than 14 moves gets a line that says what to do.
#[test]
fn four_bits_hold_depths_to_14() {
    let space = |name: &str| StateSpace::of_puzzle(families::parse(name).unwrap());
    let pancakes = space("pancake:9");
    let [half, whole] =
        [TableEncoding::Nibble, TableEncoding::Byte].map(|encoding| table(&pancakes, encoding));
    assert_eq!((half.histogram(), half.histogram().len()), (whole.histogram(), 11));
    let entries = |table: &DistanceTable| table.file_bytes() - 8192;
    // Lines of nine entries begin at a byte.
    assert!(9 * entries(&half) <= 5 * entries(&whole) + 9 * 8, "{}", half.file_bytes());
    let error =
        DistanceTable::build(&Search::of(space("lrx:7")), TableEncoding::Nibble).unwrap_err();
    let expected = "depth 15 does not fit in the table, which holds depths of at most 14: use";
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[test]
fn names_of_generators_solve() {
    for puzzle in puzzles() {
        let known = plainly(&puzzle);
        let table = table(&StateSpace::of_puzzle(puzzle.clone()), TableEncoding::Mod3);
        for (arrangement, &depth) in known.iter().take(500) {
            let state = table.space().parse(&puzzle.show(arrangement)).unwrap();
            let names = table.names(state).unwrap().unwrap();
            assert_eq!(names.len(), depth);
            let mut moved = arrangement.clone();
            for name in names {
                let index = puzzle.moves().iter().position(|one| one.name == name).unwrap();
                moved = after(&puzzle, &moved, index);
            }
            assert!(moved.is_identity(), "{}", puzzle.name());
        }
    }
}

/// What no moves lead to has no depth, with or without a line of its own.
#[test]
fn what_cannot_be_reached_has_no_depth() {
    let puzzle = families::parse("topspin:7,4").unwrap();
    let table = table(&StateSpace::of_puzzle(puzzle), TableEncoding::Byte);
    let state = table.space().parse("2 1 3 4 5 6 7").unwrap();
    assert_eq!(table.depth_of(state).unwrap(), None);
    assert_eq!(table.names(state).unwrap(), None);
}

#[test]
fn multi_tile_depths_are_those_of_a_plain_search() {
    for (size, at) in [("2x3", "last"), ("2x4", "last"), ("3x3", "blank=4"), ("4x2", "first")] {
        let goal = goal(size, at);
        let known = reached(goal.clone(), |board| {
            let slides = Direction::ALL.into_iter().flat_map(|d| (1..4).map(move |n| vec![d; n]));
            slides.filter_map(|slide| Moves(slide).apply(board).ok()).collect::<Vec<_>>()
        });
        assert_eq!(known.len(), of_boards(&goal).len());
        let space = StateSpace::of_board(goal.clone()).in_metric(Metric::Mtm);
        for encoding in encodings(*known.values().max().unwrap()) {
            let table = table(&space, encoding);
            for (board, &depth) in &known {
                assert_eq!(table.depth(board).unwrap(), Some(depth), "{board}");
            }
            for (board, &depth) in known.iter().take(300) {
                let moves = table.solve(board).unwrap().unwrap();
                assert_eq!(moves.apply(board).unwrap(), goal);
                assert_eq!((moves.count(Metric::Mtm), table.count(&moves)), (depth, depth));
                assert!(moves.len() >= depth);
                let state = table.space().state(board).unwrap();
                let steps = table.steps(state).unwrap().unwrap();
                assert_eq!(steps.len(), depth);
                assert!(steps.iter().all(|step| matches!(step, NamedMove::Tiles(..))));
            }
        }
    }
}

#[test]
fn files_say_what_they_are_of() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.table");
    let board = StateSpace::of_board(goal("2x3", "first")).in_metric(Metric::Mtm);
    let wheels = StateSpace::of_puzzle(sample("wheels.gap"));
    for space in [board, wheels] {
        let made = table(&space, TableEncoding::Mod3);
        made.save(&path, true).unwrap();
        let opened = DistanceTable::open(&path).unwrap();
        opened.check().unwrap();
        assert_eq!(opened.space().name(), space.name());
        assert_eq!(opened.space().metric(), space.metric());
        assert_eq!(opened.space().goal_text(), space.goal_text());
        let moves = |of: &StateSpace| of.puzzle().map(|of| of.moves().to_vec());
        assert_eq!(moves(opened.space()), moves(&space));
        for id in 0..made.space().lines() * made.space().moves().cells() as u64 {
            let state = made.space().from_id(id).unwrap();
            let depth = made.depth_of(state).unwrap();
            assert_eq!(opened.depth_of(state).unwrap(), depth);
            assert_eq!(opened.space().text(state), made.space().text(state));
        }
    }
    // A definition that is changed is found, and one that is wrong with right sums is no definition.
    let whole = std::fs::read(&path).unwrap();
    let at = whole.windows(6).position(|w| w == b"\"path\"").unwrap();
    let mut bytes = whole.clone();
    bytes[at + 1] = b'q';
    std::fs::write(&path, &bytes).unwrap();
    let error = DistanceTable::open(&path).unwrap_err().to_string();
    assert!(error.contains("wrong checksum of the index"), "{error}");
    let length = u64::from_le_bytes(bytes[104..112].try_into().unwrap()) as usize;
    let sum = xxhash_rust::xxh3::xxh3_64(&bytes[4096..4096 + length]);
    bytes[96..104].copy_from_slice(&sum.to_le_bytes());
    seal(&mut bytes);
    std::fs::write(&path, &bytes).unwrap();
    let error = DistanceTable::open(&path).unwrap_err().to_string();
    assert!(error.contains("invalid puzzle definition"), "{error}");
    assert!(DistanceTable::from_bytes(&bytes).is_err());
}

/// The file pins version 2 of the format, and how its puzzle is read; TILEWAVE_UPDATE=1 writes it again.
#[test]
fn version_2_is_what_it_was() {
    let golden = data("table_v2.table");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fresh.table");
    if std::env::var_os("TILEWAVE_UPDATE").is_some() {
        let space = StateSpace::of_puzzle(families::parse("pancake:4").unwrap());
        let made = table(&space, TableEncoding::Mod3);
        made.save(&golden, true).unwrap();
    }
    let opened = DistanceTable::open(&golden).unwrap();
    let state = opened.space().parse("2 4 1 3").unwrap();
    assert_eq!(opened.depth_of(state).unwrap(), Some(4));
    // Others may be chosen later: positions are read in the order of the file.
    let fresh = table(opened.space(), TableEncoding::Mod3);
    fresh.save(&path, false).unwrap();
    assert!(
        std::fs::read(&golden).unwrap() == std::fs::read(path).unwrap(),
        "the format changed: raise its version"
    );
}

#[test]
fn one_way_moves_have_no_table() {
    let space = StateSpace::of_puzzle(families::parse("lx:6").unwrap());
    let error = DistanceTable::build(&Search::of(space), TableEncoding::Mod3).unwrap_err();
    assert!(error.to_string().contains("lx:6 cannot be reversed"), "{error}");
    // Boards are not asked of tables of other puzzles.
    let table =
        table(&StateSpace::of_puzzle(families::parse("lrx:4").unwrap()), TableEncoding::Mod3);
    let error = table.depth(&Board::parse("1 2/3 0", None).unwrap()).unwrap_err();
    assert!(error.to_string().contains("lrx:4, which is not a board"), "{error}");
}
