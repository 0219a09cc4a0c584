//! The pages that `tools/test-html` opens in a browser. What a page says is tested beside its code.

use std::path::PathBuf;

use tilewave::frontier::FrontierSearch;
use tilewave::puzzle::{
    Board, Direction, Goal, Metric, MoveStyle, Moves, PuzzleSpec, Searched, Size, StateSpace,
    Variant,
};
use tilewave::report::html::{
    LAST_DRAWN, Refused, RefusedState, Solution, SolvedState, player, puzzle_player,
};
use tilewave::report::{Report, published};
use tilewave::search::{self, LastStates, Search};

fn solution(start: &str, goal: Goal, moves: &str, label: Option<&str>) -> Solution {
    let start = Board::parse(start, None).unwrap();
    Solution {
        goal: goal.board(start.size()).unwrap(),
        start,
        moves: Moves::parse(moves, MoveStyle::Tile).unwrap(),
        optimal: true,
        label: label.map(String::from),
    }
}

/// An antipode of 3x3.
fn farthest() -> Solution {
    let moves = "DDLURRULLDRRDLLURURDDLUURDDLLUU";
    solution("8 6 7/2 5 4/3 0 1", Goal::Last, moves, None)
}

/// Boards of several shapes, and labels that try to be markup.
fn mixture() -> Vec<Solution> {
    vec![
        solution(
            "5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12",
            Goal::Last,
            "R2D3L3U3",
            Some("NEOS case study"),
        ),
        solution(
            "5 1 7 3/9 2 11 4/13 6 15 8/0 10 14 12",
            Goal::Last,
            "DDDLUUULDDDLUUU",
            Some("</script><img src=x onerror=alert(1)> & \"quotes\""),
        ),
        solution("0 3 2 1/7 6 5 4", Goal::Last, "LURDLLURDLLURRRDLLURRDLLUL", None),
        solution("1 3/2 0", Goal::First, "DR", Some("blank first")),
        solution("1 2/3 0", Goal::Last, "", Some("solved")),
    ]
}

/// A long solution of a large board: a walk from the goal, taken backwards.
fn long(size: Size, length: usize) -> Solution {
    let goal = Goal::Last.board(size).unwrap();
    let mut blank = goal.blank();
    let mut walk: Vec<Direction> = Vec::new();
    let mut random: u64 = 1;
    while walk.len() < length {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let direction = Direction::ALL[(random >> 62) as usize];
        let back = walk.last().map(|d| d.opposite());
        if let Some(cell) = direction.tile_cell(size, blank).filter(|_| back != Some(direction)) {
            walk.push(direction);
            blank = cell;
        }
    }
    let start = Moves(walk.clone()).apply(&goal).unwrap();
    let moves = Moves(walk.iter().rev().map(|d| d.opposite()).collect());
    Solution { start, goal, moves, optimal: false, label: None }
}

/// A page of solutions of a puzzle, each as a state and moves.
fn puzzle(word: &str, variant: Variant, solutions: &[(&str, &str)]) -> String {
    let puzzle = PuzzleSpec { variant, ..PuzzleSpec::of(word) }.listed().unwrap();
    let solved = |(state, moves): &(&str, &str)| {
        let (start, made) = puzzle.read(state).unwrap();
        SolvedState {
            start,
            turned_back: made.map_or(String::new(), |made| made.turned_back),
            moves: moves.split_whitespace().map(String::from).collect(),
            optimal: true,
            label: (*state).into(),
            style: MoveStyle::Tile,
        }
    };
    let refused = RefusedState { state: puzzle.solved(), reason: "it is <odd>".into() };
    let solutions: Vec<SolvedState> = solutions.iter().map(solved).collect();
    puzzle_player(&puzzle, &solutions, &[refused]).unwrap()
}

fn search(size: &str, change: impl Fn(&mut Search)) -> search::Outcome {
    let goal = Goal::Last.board(size.parse().unwrap()).unwrap();
    let mut search = Search::new(goal);
    search.keep_last = LAST_DRAWN;
    change(&mut search);
    search.run().unwrap()
}

#[test]
#[ignore = "writes the pages that tools/test-html opens in a browser: run that"]
fn pages() {
    let directory = PathBuf::from(std::env::var_os("TILEWAVE_PAGES").expect("TILEWAVE_PAGES"));
    let write = |name: &str, page: String| std::fs::write(directory.join(name), page).unwrap();

    // Made by tools/results.
    let atlas = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/atlas.html");
    write("atlas.html", std::fs::read_to_string(atlas).unwrap());

    let play = |solutions: &[Solution]| player(solutions, &[], MoveStyle::Tile).unwrap();
    write("one.html", play(&[farthest()]));
    let refused = Refused {
        board: Board::parse("1 2 3/4 5 6/8 7 0", None).unwrap(),
        reason: "its parity is <odd>".into(),
    };
    let many = player(&mixture(), &[refused], MoveStyle::Tile).unwrap();
    write("many.html", many);
    write("blank.html", player(&[farthest()], &[], MoveStyle::Blank).unwrap());
    write("long.html", play(&[long(Size::new(12, 20).unwrap(), 20_000)]));

    let whole = Variant::default;
    let part = Variant { pieces: vec!["corners".into(), "edges:1-4".into()], ..whole() };
    let domino = Variant { subgroup: Variant::split("U D R2 L2 F2 B2"), ..whole() };
    let flat = Variant { ignore_orientation: vec!["edges".into()], ..whole() };
    let cube = [("R U F' L2 D x", "D' L2 F U' R'"), ("y", ""), ("R2 U2", "U2 R2")];
    write("cube.html", puzzle("3x3x3", whole(), &cube));
    write("wide.html", puzzle("4x4x4", whole(), &[("Rw U2 x'", "U2 2R' R'")]));
    write("cuboid.html", puzzle("2x3x3", whole(), &[("R2 U F2 U'", "U F2 U' R2")]));
    write("skewb.html", puzzle("skewb", whole(), &[("ULB DRB' URF", "URF' DRB ULB'")]));
    write("octahedron.html", puzzle("fto", whole(), &[("U R' BL", "ULB' DRF URF'")]));
    write("megaminx.html", puzzle("megaminx", whole(), &[("R++ D-- U", "DL L2'")]));
    write("part.html", puzzle("3x3x3", part, &[("R U F2 L", "L' F2 U' R'")]));
    write("domino.html", puzzle("3x3x3", domino, &[("R U F", "F' U' R'")]));
    write("flat.html", puzzle("3x3x3", flat, &[("F", "F'")]));
    write("ring.html", puzzle("topspin:9,4", whole(), &[("L L F", "F R R")]));
    write("gear.html", puzzle("gear", whole(), &[("U R F'", "F R' U'")]));
    let same = Variant { same: ["1-2", "3-5"].map(String::from).to_vec(), ..whole() };
    write("colours.html", puzzle("2x3", same, &[("1 1 2/0 2 2", "3-4 4-5")]));
    write("graph.html", puzzle("graph:0-1,1-2,2-0,2-3", whole(), &[("1 0 2 3", "1-0")]));

    let report = |outcome: &search::Outcome| Report::new(outcome).html().unwrap();
    write("3x3.html", report(&search("3x3", |_| {})));
    write("3x4.html", report(&search("3x4", |_| {})));
    write("limited.html", report(&search("3x4", |s| s.max_depth = Some(9))));
    let mut wrong = search("2x4", |_| {});
    wrong.counts[5] += 1;
    write("wrong.html", report(&wrong));
    let listed = |word: &str, variant: Variant| {
        let puzzle = PuzzleSpec { variant, ..PuzzleSpec::of(word) }.listed().unwrap();
        let mut search = FrontierSearch::new(puzzle);
        search.keep_last = LAST_DRAWN;
        report(&search.run().unwrap())
    };
    write("ivy.html", listed("ivy", whole()));
    let same = Variant { same: ["1-4", "5-8"].map(String::from).to_vec(), ..whole() };
    write("two-colours.html", listed("3x3", same));
    // The shape of a long distribution, without the minutes that it takes.
    let mut long = search("2x2", |_| {});
    let size = Size::new(2, 7).unwrap();
    long.searched = Searched::Numbered(StateSpace::of_board(Goal::Last.board(size).unwrap()));
    long.states = size.states().map(Into::into);
    long.counts = published(size, 0, Metric::Stm).unwrap().counts().to_vec();
    long.checksums = long.counts.clone();
    long.last = LastStates::Numbered(Vec::new());
    write("2x7.html", report(&long));
}
