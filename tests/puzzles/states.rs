//! Arrangements, lines and cells, and states as people write them.

use proptest::prelude::*;
use tilewave::puzzle::Puzzle;
use tilewave::puzzle::{
    MoveGraph, Permutation, PositionOrder, PuzzleErrorKind, StateSpace, Window, families,
};

use super::{after, names, puzzle};

fn shuffled(positions: usize) -> impl Strategy<Value = Permutation> {
    let elements: Vec<usize> = (0..positions).collect();
    Just(elements).prop_shuffle().prop_map(|images| Permutation::new(&images).unwrap())
}

fn puzzles() -> Vec<Puzzle> {
    let families = ["pancake:9", "topspin:8,4", "lrx:7", "lx:6", "stars:5", "reversals:4", "lrx:2"];
    let mut all: Vec<Puzzle> = families.iter().map(|name| families::parse(name).unwrap()).collect();
    all.extend(["dino.gap", "dino.tws", "wheels.kpuzzle.json", "five.gap"].map(puzzle));
    all
}

proptest! {
    #[test]
    fn decoding_undoes_encoding_from_any_start(seed in 0..u64::MAX) {
        let mut dice = tilewave::random::SplitMix64::new(seed);
        for definition in puzzles() {
            let n = definition.labels().len();
            let mut random = || {
                let mut images: Vec<usize> = (0..n).collect();
                for i in (1..n).rev() {
                    images.swap(i, dice.below(i as u64 + 1) as usize);
                }
                Permutation::new(&images).unwrap()
            };
            let (start, arrangement) = (random(), random());
            let mut path: Vec<usize> = (0..n).collect();
            path.rotate_left(dice.below(n as u64) as usize);
            let [start, other] = [start, arrangement].map(|of| definition.show(&of));
            let space = StateSpace::ordered_by(definition, PositionOrder::new(&path, &[]));
            let space = space.starting_at(&start).unwrap();
            let state = space.start().unwrap();
            let line = space.line(state);
            prop_assert!(line.iter().enumerate().all(|(i, &x)| i == usize::from(x)));
            prop_assert_eq!(space.text(state), start);
            prop_assert_eq!(space.text(space.parse(&other).unwrap()), other);
        }
    }

    #[test]
    fn written_states_are_read_again(arrangement in shuffled(12)) {
        for definition in [puzzle("dino.gap"), puzzle("dino.kpuzzle.json"), families::parse("stars:12").unwrap()] {
            let text = definition.show(&arrangement);
            prop_assert_eq!(definition.arrangement(&text), Ok(arrangement.clone()));
            let commas = text.replace(' ', ",");
            prop_assert_eq!(definition.arrangement(&commas), Ok(arrangement.clone()));
        }
    }
}

/// Every move of an arrangement is an edge of the general form, and the edge makes the same state.
#[test]
fn edges_do_to_lines_what_generators_do_to_arrangements() {
    for definition in puzzles() {
        let space = StateSpace::of_puzzle(definition.clone());
        let puzzle = space.moves();
        let encode = |of: &Permutation| space.parse(&definition.show(of)).unwrap();
        let mut arrangement = Permutation::identity(definition.labels().len());
        for step in 0..200 {
            let generator = step * 7 % definition.moves().len();
            let state = encode(&arrangement);
            arrangement = after(&definition, &arrangement, generator);
            let reached = encode(&arrangement);
            let edges = puzzle.edges().iter().filter(|edge| edge.from == state.cell);
            let mut made = edges.map(|edge| {
                let mut line = space.line(state);
                puzzle.windows()[edge.window].apply(&mut line);
                space.number(&line, edge.to)
            });
            assert!(made.any(|state| state == reached), "{} step {step}", definition.name());
        }
    }
}

#[test]
fn states_are_printed_as_the_source_counts() {
    let after = |puzzle: &Puzzle, name: &str| {
        let index = puzzle.moves().iter().position(|one| one.name == name).unwrap();
        puzzle.show(&after(puzzle, &Permutation::identity(puzzle.labels().len()), index))
    };
    // A GAP cycle (5,4,3,2,1) takes what stands at 5 to 4.
    assert_eq!(after(&puzzle("five.gap"), "L"), "2 3 4 5 1");
    // The numbers of a ksolve or KPuzzle move are the state that it makes of the solved one.
    assert_eq!(after(&puzzle("wheels.tws"), "B"), "1 2 4 5 6 3");
    assert_eq!(after(&puzzle("wheels.kpuzzle.json"), "B"), "0 1 3 4 5 2");
    assert_eq!(after(&puzzle("wheels.gap"), "B"), "1 2 4 5 6 3");
    // A turn of the corner URF takes the edge UF to UR, UR to FR and FR to UF.
    assert_eq!(after(&puzzle("dino.tws"), "URF"), "9 1 3 4 5 6 7 8 2 10 11 12");
    assert_eq!(after(&puzzle("dino.kpuzzle.json"), "URF"), "8 0 2 3 4 5 6 7 1 9 10 11");
    let stickers = after(&puzzle("dino.gap"), "URF");
    assert_eq!(stickers.split(' ').count(), 12);
    let moved: Vec<(usize, &str)> = puzzle("dino.gap")
        .labels()
        .iter()
        .copied()
        .zip(stickers.split(' '))
        .filter(|(label, word)| label.to_string() != *word)
        .map(|(label, _)| (label, "moved"))
        .collect();
    assert_eq!(moved.len(), 3);
}

#[test]
fn wrong_states_say_what_is_wrong() {
    let five = puzzle("five.gap");
    let refused = |text: &str| five.arrangement(text).unwrap_err().to_string();
    assert_eq!(refused("1 2 3 4"), "the state has 4 elements, but five has 5");
    assert_eq!(
        refused("1 2 3 4 4"),
        "element 4 occurs twice in the state and element 5 is missing"
    );
    assert_eq!(
        refused("1 2 3 4 6"),
        "'6' in the state is not an element: the elements of five are 1 to 5"
    );
    assert_eq!(
        refused("1 2 3 4 0"),
        "'0' in the state is not an element: the elements of five are 1 to 5"
    );
    assert_eq!(
        refused("1 2 +3 4 5"),
        "'+3' in the state is not an element: the elements of five are 1 to 5"
    );
    assert_eq!(refused(""), "the state has 0 elements, but five has 5");
    let dino = puzzle("dino.gap");
    let error = dino.arrangement("2").unwrap_err();
    assert_eq!(error.kind(), PuzzleErrorKind::Unknown);
    assert!(error.to_string().contains("is not an element"), "{error}");
}

#[test]
fn powers_and_inverses_are_named_by_what_they_undo() {
    assert_eq!(names(&puzzle("wheels.tws")), ["A", "B", "A2", "A'", "B2", "B'"]);
    assert_eq!(names(&puzzle("wheels.gap")), ["A", "B", "A'", "B'"]);
    assert_eq!(puzzle("dino.tws").moves().len(), 16);
    let seven = "Set P 7 1\nSolved\nEnd\nMove T\nP\n2 3 4 5 6 7 1\nEnd\n";
    let seven = tilewave::puzzle::formats::read("seven.def", seven, Default::default()).unwrap();
    assert_eq!(names(&seven), ["T", "T2", "T3", "T3'", "T2'", "T'"]);
    let permutations = seven.permutations();
    for (name, permutation) in names(&seven).into_iter().zip(&permutations) {
        let undone = permutations.iter().position(|other| *other == permutation.inverse()).unwrap();
        let expected = match name.strip_suffix('\'') {
            Some(plain) => plain.to_string(),
            None => format!("{name}'"),
        };
        assert_eq!(names(&seven)[undone], expected);
    }
}

/// The windows of a puzzle by where they lie: within the last five places, the last eight, further in front.
fn windows(puzzle: &MoveGraph) -> [usize; 3] {
    let len = puzzle.line_len();
    let mut counts = [0; 3];
    for window in puzzle.windows().iter().filter(|w| !w.is_identity()) {
        counts[match len - window.first() {
            0..=5 => 0,
            6..=8 => 1,
            _ => 2,
        }] += 1;
    }
    counts
}

#[test]
fn orders_put_windows_at_the_end_of_the_line() {
    let moves = |of: &Puzzle| StateSpace::of_puzzle(of.clone()).moves().clone();
    let of = |name: &str| windows(&moves(&families::parse(name).unwrap()));
    let of_file = |name: &str| windows(&moves(&puzzle(name)));
    // Reversals of the last 2 to 11 elements.
    assert_eq!(of("pancake:12"), [4, 3, 3]);
    // The gate with three or four elements; only the two rotations of all are long.
    let [lanes, near, far] = of("topspin:12,4");
    assert_eq!((near, far), (0, 2), "{lanes} in the lanes");
    // Read from the distinguished element on, rotations leave the line as it is: eleven swaps of neighbours, and
    // the two rotations of the line by the swap that moves the distinguished element.
    assert_eq!(of("lrx:13"), [4, 3, 6]);
    // One rotation of all but the cell, in the direction in which each register has six sources for six targets.
    let lx = moves(&families::parse("lx:13").unwrap());
    let rotation = Window::rotate_left(0, 11);
    assert_eq!(windows(&lx), [1, 0, 1]);
    assert!(lx.windows().contains(&rotation));
    // Whatever the file calls the edges, it costs the same.
    assert_eq!(of_file("dino.gap"), of_file("dino.tws"));
}

#[test]
fn the_same_puzzle_is_always_read_in_the_same_way() {
    for definition in puzzles() {
        let order = PositionOrder::choose(definition.labels().len(), &definition.permutations());
        let positions = 0..definition.labels().len();
        for (cell, &position) in order.path().iter().enumerate() {
            let mut all = order.order(cell).to_vec();
            all.push(position);
            all.sort_unstable();
            assert!(all.into_iter().eq(positions.clone()));
        }
        assert_eq!(StateSpace::of_puzzle(definition).order(), Some(&order));
    }
}

#[test]
fn a_closed_set_of_moves_is_not_directed() {
    assert!(!families::parse("lrx:5").unwrap().is_directed());
    let directed = |of: &Puzzle| StateSpace::of_puzzle(of.clone()).moves().is_directed();
    let lx = families::parse("lx:5").unwrap();
    assert!(lx.is_directed() && directed(&lx));
    let closed = lx.clone().inverse_closed().unwrap();
    assert!(!closed.is_directed() && !directed(&closed));
    assert_eq!(closed.fingerprint(), families::parse("lrx:5").unwrap().fingerprint());
    assert_ne!(closed.fingerprint(), lx.fingerprint());
}

/// Boards have as many states as the sum of their levels, whatever the board's size or the metric.
#[test]
fn boards_have_half_of_all_arrangements() {
    use tilewave::puzzle::{Goal, Metric};
    let half = |cells: u64| ((3..=cells).product::<u64>()).to_string();
    for (size, cells) in [("2x2", 4), ("2x3", 6), ("3x3", 9), ("3x4", 12), ("4x4", 16), ("2x9", 18)]
    {
        for goal in [Goal::First, Goal::Last] {
            let goal = goal.board(size.parse().unwrap()).unwrap();
            for metric in [Metric::Stm, Metric::Mtm] {
                let space = StateSpace::of_board(goal.clone()).in_metric(metric);
                let puzzle = Puzzle::of_space(&space).unwrap();
                assert_eq!(puzzle.states().unwrap().to_string(), half(cells), "{size}");
            }
        }
    }
}
