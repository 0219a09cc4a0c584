//! What boards, sizes and goals may be, and what is said of those that may not.

use tilewave::Kernel;
use tilewave::puzzle::{
    Board, Coordinates, Direction, Goal, Metric, MoveStyle, Moves, Size, SnakePath, StateSpace,
};
use tilewave::search::{self, Engine, Search};

fn board_error(text: &str, size: Option<&str>) -> String {
    let size = size.map(|s| s.parse().unwrap());
    Board::parse(text, size).unwrap_err().to_string()
}

#[test]
fn notation_is_generous() {
    let board = Board::parse("1 2 3/4 5 6/7 8 0", None).unwrap();
    for same in [
        "1,2,3/4,5,6/7,8,x",
        "1 2 3\n4 5 6\n7 8 _\n",
        " 1  2 3 / 4 5 6 / 7 8 X ",
        "1 2 3 4 5 6 7 8 0",
        "1, 2, 3, 4, 5, 6, 7, 8, 0",
    ] {
        assert_eq!(Board::parse(same, None).unwrap(), board, "{same}");
    }
    let flat = Board::parse("1 2 3 4 5 6 7 0", Some("2x4".parse().unwrap())).unwrap();
    assert_eq!(flat.to_string(), "1 2 3 4/5 6 7 0");
}

#[test]
fn wrong_boards_are_refused_by_name() {
    for (text, size, word) in [
        ("", None, "empty"),
        ("1 2 a/3 4 0", None, "'a' in the board is not a tile"),
        ("1 2 -3/4 5 0", None, "'-3'"),
        ("1 2 3/4 5 6/7 8 +0", None, "'+0'"),
        ("1 2 3/4 5/6 7 8 0", None, "row 2 of the board has 2 tiles, but row 1 has 3"),
        ("1 2 3 4 5 0", None, "specify the size"),
        ("1 2 3/4 5 6/7 8 8", None, "tile 8 occurs twice and the blank is missing"),
        ("1 2 3/4 0 6/7 8 0", None, "the blank occurs twice and tile 5 is missing"),
        ("1 2 3/4 5 6/7 9 0", None, "tile 9 is not on a 3x3 board"),
        ("1 2/3 0", Some("3x3"), "the board is 2x2 instead of 3x3"),
        ("1 2 3 0", Some("3x3"), "the board has 4 cells, but 3x3 needs 9"),
        ("0", None, "both sides must be at least 2"),
        ("99999999999 1/2 0", None, "'99999999999'"),
    ] {
        let error = board_error(text, size);
        assert!(error.contains(word), "{text:?}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn wrong_sizes_and_goals_are_refused_by_name() {
    for (size, word) in [
        ("3", "not a board size"),
        ("3x", "not a board size"),
        ("axb", "not a board size"),
        ("+3x3", "not a board size"),
        ("3x3x3", "not a board size"),
        ("1x1", "too small"),
        ("1x9", "too small"),
        ("0x4", "too small"),
        ("999x999", "too large"),
        ("99999999999999999999999x2", "not a board size"),
    ] {
        let error = size.parse::<Size>().unwrap_err().to_string();
        assert!(error.contains(word), "{size}: {error}");
    }
    let size = Size::new(3, 3).unwrap();
    assert!("middle".parse::<Goal>().unwrap_err().to_string().contains("not a goal"));
    assert!("blank=".parse::<Goal>().unwrap_err().to_string().contains("not a goal"));
    let goal: Goal = "blank=9".parse().unwrap();
    assert!(goal.board(size).unwrap_err().to_string().contains("cells are numbered 0 to 8"));
    let goal: Goal = "1 2 3/8 0 4/7 6 5".parse().unwrap();
    assert_eq!(goal.board(size).unwrap().blank(), 4);
}

#[test]
fn solvability_is_the_parity_of_the_snake_path() {
    let goal = Board::parse("1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0", None).unwrap();
    let frame = Coordinates::new(goal);
    let solvable = |text: &str| frame.solvable(&Board::parse(text, None).unwrap()).unwrap();
    assert!(!solvable("1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0"));
    assert!(solvable("5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12"));
    let odd = Board::parse("1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0", None).unwrap();
    let error = frame.encode_solvable(&odd).unwrap_err().to_string();
    assert!(error.contains("parity is odd") && error.contains("14 and 15"), "{error}");

    // Parity can be told for boards far too large to search.
    let size = Size::new(30, 40).unwrap();
    let frame = Coordinates::new(Goal::Last.board(size).unwrap());
    let mut tiles = frame.goal().tiles().to_vec();
    assert!(frame.solvable(frame.goal()).unwrap());
    tiles.swap(500, 900);
    assert!(!frame.solvable(&Board::new(size, &tiles).unwrap()).unwrap());
}

#[test]
fn the_short_side_is_the_row_of_the_path() {
    for (rows, cols) in [(3, 5), (5, 3)] {
        let size = Size::new(rows, cols).unwrap();
        let path = SnakePath::new(size);
        for i in 1..15 {
            let (a, b) = (path.cell(i - 1), path.cell(i));
            let step = (a / cols).abs_diff(b / cols) + (a % cols).abs_diff(b % cols);
            assert_eq!(step, 1, "consecutive path cells are neighbours");
        }
        let puzzle = path.puzzle(Metric::Stm);
        let longest = puzzle.windows().iter().map(|w| w.last() - w.first() + 1).max();
        assert_eq!(longest, Some(5), "at most 2 * 3 - 1 positions");
        assert!(puzzle.keeps_parity());
    }
}

fn search_error(change: impl Fn(&mut Search), size: &str) -> String {
    let mut search = Search::new(Goal::Last.board(size.parse().unwrap()).unwrap());
    change(&mut search);
    search.run().unwrap_err().to_string()
}

#[test]
fn searches_that_cannot_run_are_refused() {
    assert!(search_error(|_| (), "5x5").contains("at most 16"));
    assert!(search_error(|s| s.engine = Some(Engine::Sweep), "2x3").contains("engine reference"));
    assert!(search_error(|s| s.resources.memory = Some(1000), "3x3").contains("the limit is"));
    let odd = Board::parse("2 1 3/4 5 6/7 8 0", None).unwrap();
    assert!(
        search_error(|s| s.space = s.space.clone().from_board(odd.clone()), "3x3")
            .contains("parity is odd")
    );
    let small = Board::parse("1 2/3 0", None).unwrap();
    assert!(
        search_error(|s| s.space = s.space.clone().from_board(small.clone()), "3x3")
            .contains("2x2")
    );
    for kernel in Kernel::ALL.into_iter().filter(|k| !k.is_supported()) {
        assert!(search_error(|s| s.resources.kernel = Some(kernel), "3x3").contains(kernel.name()));
    }
}

#[test]
fn plans_name_engine_memory_and_time() {
    let board = |size: &str| StateSpace::of_board(Goal::Last.board(size.parse().unwrap()).unwrap());
    let planned = |size, engine| search::plan(&board(size), engine);
    let plan = planned("2x7", None).unwrap();
    assert_eq!((plan.states, plan.engine), (43_589_145_600, Engine::Sweep));
    assert_eq!(plan.array_bytes, 51_891_840 * 64 * 2);
    let plan = planned("2x2", None).unwrap();
    assert_eq!((plan.states, plan.engine), (12, Engine::Reference));
    assert_eq!(planned("4x4", None).unwrap().states, 10_461_394_944_000);

    let plan = planned("3x3", Some(Engine::Sweep)).unwrap();
    let calibration =
        search::calibrate(&plan, tilewave::Resources::new().threads(1).kernel(Kernel::Scalar))
            .unwrap()
            .unwrap();
    assert_eq!((calibration.threads, calibration.kernel), (1, Some(Kernel::Scalar)));
    assert!(calibration.seconds > 0.0 && calibration.seconds < 60.0);
}

#[test]
fn moves_are_read_and_written_in_both_styles() {
    let moves = Moves::parse("r d2, U", MoveStyle::Tile).unwrap();
    let blank = Moves::parse("LUUD", MoveStyle::Blank).unwrap();
    assert_eq!(moves, blank);
    assert_eq!(moves.0[0], Direction::Right);
    assert_eq!(moves.to_string(), "RD2U");
    assert_eq!(moves.long(MoveStyle::Blank), "LUUD");
    assert!(Moves::parse("", MoveStyle::Tile).unwrap().is_empty());
    for (text, word) in
        [("RX", "'X' at character 2"), ("3R", "'3R' at"), ("R99999999999999999999", "more than")]
    {
        let error = Moves::parse(text, MoveStyle::Tile).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let goal = Goal::Last.board(Size::new(2, 2).unwrap()).unwrap();
    assert_eq!(
        moves.apply(&goal).unwrap_err().to_string(),
        "move 3 (D) is blocked by the border of the board"
    );
    let there_and_back = Moves::parse("RDLURDLURDLU", MoveStyle::Tile).unwrap();
    assert_eq!(there_and_back.apply(&goal).unwrap(), goal);
}
