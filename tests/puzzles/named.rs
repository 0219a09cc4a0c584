//! Puzzles that have a name: published growth and numbers of states, and what their sets are.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use tilewave::puzzle::named::{self, NAMED, NamedPuzzle};
use tilewave::puzzle::{
    Arrangement, Move, PieceAt, PieceSet, Placed, Puzzle, SetAction, Transformation, Turns,
};
use tilewave::puzzle::{Goal, PuzzleSpec, StateSpace, Variant};
use tilewave::report::published_growth;

use crate::plain::levels;

#[derive(serde::Deserialize)]
struct Published {
    name: String,
    turns: String,
    #[serde(default)]
    variant: Variant,
    counts: Vec<u64>,
    complete: bool,
    states: Option<String>,
}

/// What is published, and the puzzles of it.
fn published() -> Vec<(Published, Puzzle)> {
    let path = crate::program::root().join("tests/data/frontier.json");
    let text = std::fs::read_to_string(path).unwrap();
    let mut rows: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    rows.remove("_comment");
    let row = |value| {
        let row: Published = serde_json::from_value(value).unwrap();
        let turns = match row.turns.as_str() {
            "powers" => Turns::Powers,
            "quarter" => Turns::Quarter,
            "directed" => Turns::Directed,
            "slice" => Turns::Slice,
            turns => panic!("{turns}"),
        };
        if let Ok(size) = row.name.parse() {
            let goal = Goal::First.board(size).unwrap();
            let board = Puzzle::of_space(&StateSpace::of_board(goal)).unwrap();
            return (row, board);
        }
        let puzzle = row.variant.of(named::parse(&row.name).unwrap(), turns).unwrap();
        (row, puzzle)
    };
    rows.into_values().map(row).collect()
}

fn sets(puzzle: &Puzzle) -> String {
    let sets: Vec<String> = puzzle.sets().iter().map(PieceSet::to_string).collect();
    sets.join(" ")
}

fn states(puzzle: &Puzzle) -> String {
    puzzle.states().map_or("unknown".into(), |states| states.to_string())
}

#[test]
fn growth_is_as_published() {
    for (row, puzzle) in published() {
        // As deep as some thousands of states go.
        let deep = row.counts.iter().position(|&count| count > 3000).unwrap_or(row.counts.len());
        if deep == 0 {
            // Many goals: a test of its own searches these.
            assert_eq!(puzzle.goals().len() as u64, row.counts[0], "{}", row.name);
            continue;
        }
        let found = levels(&puzzle, deep.min(row.counts.len() - 1));
        assert_eq!(found, row.counts[..found.len()], "{} {}", row.name, row.turns);
        assert!(found.len() > 2, "{}", row.name);
        assert_eq!(puzzle.is_directed(), row.turns == "directed", "{}", row.name);
    }
}

#[test]
fn states_are_as_many_as_published() {
    let rows = published();
    assert!(rows.len() > 15);
    for (row, puzzle) in rows {
        let found = states(&puzzle);
        assert_eq!(row.states.as_deref().unwrap_or(&found), found, "{}", row.name);
        if row.complete {
            assert_eq!(row.counts.iter().sum::<u64>().to_string(), found, "{}", row.name);
        }
    }
}

#[test]
fn elements_with_two_sides_have_as_many_moves_as_parts_and_none_beyond_the_limits() {
    let of = |word: String| PuzzleSpec::of(word).listed().map(|puzzle| puzzle.moves().len());
    for n in 2..=64 {
        assert_eq!(of(format!("burnt-pancake:{n}")).unwrap(), n);
    }
    for n in 2..=44 {
        assert_eq!(of(format!("signed-reversals:{n}")).unwrap(), n * (n + 1) / 2);
    }
    for (word, most) in [
        ("burnt-pancake:1", 64),
        ("burnt-pancake:65", 64),
        ("burnt-pancake:x", 64),
        ("burnt-pancake:8,2", 64),
        ("signed-reversals", 44),
        ("signed-reversals:45", 44),
    ] {
        let (family, _) = word.split_once(':').unwrap_or((word, ""));
        let line = format!("write {family}:N with an N from 2 to {most}, for example {family}:8");
        assert_eq!(of(word.into()).unwrap_err().to_string(), line);
    }
    // Files of the same puzzles are recognised by their moves.
    let root = crate::program::root().join("docs/results/pieces");
    for (family, depth) in [("burnt-pancake", 10), ("signed-reversals", 6)] {
        let file = root.join(format!("{family}-5.tws")).display().to_string();
        let file = PuzzleSpec::of(file).listed().unwrap();
        let growth = published_growth(&file).unwrap();
        let found = growth.counts();
        assert_eq!((found.len(), found.iter().sum()), (depth + 1, 3840), "{family}");
    }
}

#[test]
fn sets_are_the_pieces_that_trade_places() {
    for (name, expected, turns) in [
        ("2x2x2", "corners:7/3", 3),
        ("3x3x3", "corners:8/3 edges:12/2", 6),
        ("4x4x4", "corners:8/3 edges:24 centres:24", 12),
        ("5x5x5", "corners:8/3 edges:12/2 edges2:24 centres:24 centres2:24", 12),
        ("pyraminx", "corners:4/3 edges:6/2", 4),
        ("pyraminx-tips", "corners:4/3 tips:4/3 edges:6/2", 8),
        ("skewb", "corners:4/3 corners2:4/3 centres:6", 4),
        ("master-skewb", "corners:4/3 corners2:4/3 edges:12 centres:6 centres2:12 centres3:12", 8),
        ("rex", "edges:12 centres:6 centres2:12 centres3:12", 8),
        ("ivy", "corners:4/3 centres:6", 4),
        ("pyraminx-duo", "corners:4/3 centres:4", 4),
        ("dino", "edges:12", 8),
        ("helicopter", "corners:8/3 centres:6 centres2:6 centres3:6 centres4:6", 12),
        ("clock", "corners:4/12 front:5/12 back:5/12", 30),
        ("square-1", "wedges:24 middle:1/2", 3),
        ("gear", "corners:4 edges:4/3 edges2:4/3 edges3:4/3", 3),
        ("1x2x3", "corners:4 edges:1/2", 3),
        ("1x3x3", "corners:4 edges:4/2", 4),
        ("2x2x3", "corners:8 edges:3", 4),
        ("2x3x3", "corners:8 edges:7 centres:2", 5),
        ("megaminx", "corners:20/3 edges:30/2", 12),
        ("kilominx", "corners:20/3", 12),
        ("fto", "corners:6/2 edges:12 centres:12 centres2:12", 8),
        ("skewb-diamond", "corners:6/2 centres:4", 4),
    ] {
        let puzzle = named::parse(name).unwrap();
        assert_eq!(sets(&puzzle), expected);
        // Without their inverses, all moves but half turns are directed.
        let told = puzzle.to_string();
        let told = told.strip_suffix(" directed").unwrap_or(&told);
        assert_eq!((puzzle.moves().len(), told), (turns, name));
    }
    let names = |name: &str| {
        let puzzle = named::parse(name).unwrap().counting(Turns::Powers).unwrap();
        puzzle.moves().iter().map(|one| one.name.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("2x2x2"), "U F R U2 U' F2 F' R2 R'");
    assert!(names("4x4x4").starts_with("U 2U D 2D F 2F B 2B L 2L R 2R U2 U' 2U2 2U' "));
    assert!(names("megaminx").contains(" U2 U2' U' "));
    // A centre's pieces look alike, four of each colour.
    let cube = named::parse("4x4x4").unwrap();
    let centres = &cube.sets()[2];
    assert!((0..6).all(|kind| centres.pieces_of(kind) == 4));
    assert!((0..24).all(|kind| cube.sets()[1].pieces_of(kind) == 1));
}

#[test]
fn every_name_is_a_puzzle() {
    for NamedPuzzle { name, description } in NAMED {
        let puzzle = named::parse(name).unwrap();
        assert_eq!(puzzle.name(), name);
        assert!(!description.is_empty() && states(&puzzle) != "unknown", "{name}");
    }
    for name in [
        "", "cube", "1x1x1", "3x3", "1x1x4", "0x2x3", "2x3x21", "2x2x2x2", "21x21x21", "03x3x3",
        "3x3x3 ", "Dino",
    ] {
        assert_eq!(named::parse(name), None, "{name}");
    }
    assert_eq!(named::parse("20x20x20").unwrap().moves().len(), 60);
}

#[test]
fn sets_can_be_left_out() {
    let keep = |name: &str, sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|&set| set.into()).collect();
        named::parse(name).unwrap().keeping(&sets)
    };
    // Pieces that look alike, and what else there is, whose parity goes with theirs.
    assert_eq!(states(&keep("4x4x4", &["centres"]).unwrap()), "3246670537110000");
    assert_eq!(states(&keep("5x5x5", &["Centres2"]).unwrap()), "3246670537110000");
    assert_eq!(sets(&keep("5x5x5", &["centres"]).unwrap()), "centres:24 centres2:24");
    assert_eq!(states(&keep("4x4x4", &["corners", "edges"]).unwrap()), {
        let edges: u128 = (1..=24).product();
        (num_bigint::BigUint::from(edges) * 88_179_840_u32).to_string()
    });
    let error = keep("dino", &["corners"]).unwrap_err().to_string();
    assert_eq!(error, "no set is called 'corners': the sets are edges");
}

/// A puzzle of one set whose moves are written in cycles.
fn cycles(set: PieceSet, moves: &[&[&[usize]]]) -> Puzzle {
    let make = |(i, cycles): (usize, &&[&[usize]])| {
        let mut turn = SetAction::still(set.positions());
        for cycle in *cycles {
            for (at, &from) in cycle.iter().enumerate() {
                turn.source[cycle[(at + 1) % cycle.len()]] = from as u8;
            }
        }
        let transformation = Transformation(vec![turn]);
        Move { name: format!("m{i}"), transformation, requires: None }
    };
    let moves = moves.iter().enumerate().map(make).collect();
    Puzzle::new("cycles", vec![set], moves).unwrap()
}

#[test]
fn small_groups_are_counted_too() {
    // M12 is far smaller than the even permutations of twelve.
    let (rotate, swap): (&[&[usize]], &[&[usize]]) =
        (&[&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]], &[&[2, 6, 10, 7], &[3, 9, 4, 5]]);
    let m11 = cycles(PieceSet::distinct("A", 12, 1), &[rotate, swap]);
    assert_eq!(states(&m11), "7920");
    // Two colours: four of the eight ways to lay a square, and all permutations of ten.
    let mut square = PieceSet::distinct("A", 4, 1);
    square.solved.iter_mut().for_each(|piece| piece.kind /= 2);
    let square = cycles(square, &[&[&[0, 1, 2, 3]], &[&[0, 1], &[2, 3]]]);
    assert_eq!(states(&square), "4");
    let mut ten = PieceSet::distinct("A", 10, 1);
    ten.solved.iter_mut().for_each(|piece| piece.kind /= 5);
    let ten = cycles(ten, &[&[&[0, 1]], &[&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]]);
    assert_eq!(states(&ten), "252");
    // Where something is not allowed, what is left is counted one by one.
    let place = PieceAt { set: 0, position: 0, kind: 1 };
    let refused = |at| ten.clone().forbidding(vec![place, at]).unwrap_err().to_string();
    let solved = "the solved state has a piece at position 1 of A that is illegal there";
    assert_eq!(refused(PieceAt { kind: 0, ..place }), solved);
    for at in [
        PieceAt { set: 1, ..place },
        PieceAt { position: 10, ..place },
        PieceAt { kind: 10, ..place },
    ] {
        assert!(refused(at).contains("all counted from 0"), "{at:?}");
    }
    let some = ten.forbidding(vec![place]).unwrap();
    assert_eq!(states(&some), levels(&some, 99).iter().sum::<u64>().to_string());
    assert_eq!(states(&some), "1");
}

fn counted(name: &str, turns: Turns) -> Puzzle {
    named::parse(name).unwrap().counting(turns).unwrap()
}

fn effects(puzzle: &Puzzle) -> HashSet<Arrangement> {
    (0..puzzle.moves().len()).filter_map(|one| puzzle.moved(&puzzle.solved(), one)).collect()
}

#[test]
fn a_turn_of_a_middle_layer_is_one_of_all_others() {
    for (name, count) in [("3x3x3", 27), ("5x5x5", 45), ("7x7x7", 63)] {
        let (whole, slices) = (counted(name, Turns::Powers), counted(name, Turns::Slice));
        let mut expected = effects(&whole);
        for (word, power) in
            ["M", "E", "S"].into_iter().flat_map(|word| ["", "2", "'"].map(|power| (word, power)))
        {
            let read = whole.read(&format!("{word}{power}")).unwrap().0;
            assert!(expected.insert(read.clone()), "{name} {word}{power}");
            // The move is read as what it does, by cubes of every metric.
            let own = slices
                .moves()
                .iter()
                .enumerate()
                .find(|(one, _)| slices.moved(&slices.solved(), *one).unwrap() == read);
            assert_eq!(whole.read(&own.unwrap().1.name).unwrap().0, read, "{name} {word}{power}");
        }
        assert_eq!((slices.moves().len(), effects(&slices)), (count, expected), "{name}");
        assert_eq!((slices.metric(), slices.to_string()), (Some("slice"), format!("{name} slice")));
        let stored = Puzzle::of_json(name, &slices.to_json()).unwrap();
        assert_eq!(stored.metric(), Some("slice"));
        assert_eq!(slices.keeping(&["corners:1-3".into()]).unwrap().metric(), Some("slice"));
    }
    let names: Vec<String> =
        counted("3x3x3", Turns::Slice).moves()[18..].iter().map(|one| one.name.clone()).collect();
    assert_eq!(
        names,
        [
            "(D' U)", "(D2 U2)", "(D U')", "(F' B)", "(F2 B2)", "(F B')", "(L' R)", "(L2 R2)",
            "(L R')"
        ]
    );
    for name in ["2x2x2", "4x4x4"] {
        let (whole, slices) = (counted(name, Turns::Powers), counted(name, Turns::Slice));
        assert_eq!((effects(&slices), slices.metric()), (effects(&whole), Some("htm")));
        assert_eq!(
            slices.notes(),
            [
                "metric slice gives this cube the moves of metric htm: there is no other layer to turn"
            ]
        );
    }
}

#[test]
fn layers_of_an_axis_turn_together() {
    for (name, depth, first) in
        [("2x2x2", 4, 9), ("3x3x3", 3, 45), ("4x4x4", 1, 765), ("5x5x5", 1, 765)]
    {
        let (whole, axial) = (counted(name, Turns::Powers), counted(name, Turns::Axial));
        // By single turns: whatever those of one axis reach is one move away.
        let of_axis = |faces: &str| {
            let is_of = |one: &Move| one.name.contains(|c| faces.contains(c));
            (0..whole.moves().len())
                .filter(|&one| is_of(&whole.moves()[one]))
                .collect::<Vec<usize>>()
        };
        let axes = ["UD", "FB", "LR"].map(of_axis);
        let mut seen = HashSet::from([whole.solved()]);
        let mut level = vec![whole.solved()];
        let mut sizes = vec![1];
        for _ in 0..depth {
            let mut next = Vec::new();
            for (state, axis) in
                level.iter().flat_map(|state| axes.iter().map(move |axis| (state, axis)))
            {
                let (mut near, mut open) = (HashSet::from([state.clone()]), vec![state.clone()]);
                while let Some(at) = open.pop() {
                    let after = axis.iter().filter_map(|&one| whole.moved(&at, one));
                    open.extend(after.filter(|after| near.insert(after.clone())));
                }
                next.extend(near.into_iter().filter(|after| seen.insert(after.clone())));
            }
            sizes.push(next.len() as u64);
            level = next;
        }
        assert_eq!((sizes[1], levels(&axial, depth)), (first, sizes), "{name}");
        assert_eq!(axial.metric(), Some(if name == "2x2x2" { "htm" } else { "axial" }), "{name}");
    }
    let error = named::parse("6x6x6").unwrap().counting(Turns::Axial).unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric axial gives this cube more than 1024 moves: it is for cubes of up to 5 layers"
    );
}

#[test]
fn cuboids_are_cubes_that_turn_less() {
    let variant = |moves: &str, pieces: &str, subgroup: &str| Variant {
        moves: Variant::split(moves),
        pieces: Variant::split(pieces),
        subgroup: Variant::split(subgroup),
        ..Variant::default()
    };
    let cube =
        |variant: Variant| variant.of(named::parse("3x3x3").unwrap(), Turns::Powers).unwrap();
    // The edges of the 3x3x3 between U and D are pieces of the 2x2x3; the others are those of the 2x3x3.
    let of_cube = named::parse("3x3x3").unwrap();
    let edges = &of_cube.moves().iter().find(|one| one.name == "U").unwrap().transformation.0[1];
    let down = &of_cube.moves().iter().find(|one| one.name == "D").unwrap().transformation.0[1];
    let is_middle = |&edge: &usize| {
        usize::from(edges.source[edge]) == edge && usize::from(down.source[edge]) == edge
    };
    let numbers = |is_of: &dyn Fn(&usize) -> bool| {
        let numbers: Vec<String> =
            (0..12).filter(is_of).map(|edge| (edge + 1).to_string()).collect();
        numbers.join("+")
    };
    let middle = format!("corners,edges:{}", numbers(&is_middle));
    let outer = format!("corners,edges:{}", numbers(&|edge| !is_middle(edge)));
    let tower = cube(variant("U,D,F2,R2", &middle, ""));
    assert_eq!(levels(&tower, 20), levels(&counted("2x2x3", Turns::Powers), 20));
    // Without the centres of the 3x3x3, four of its states are one that is turned as a whole.
    let domino = cube(variant("U,D,F2,B2,L2,R2", &outer, "(U D')"));
    let own = counted("2x3x3", Turns::Powers);
    assert_eq!((states(&domino), states(&own)), ("1625702400".into(), "406425600".into()));
    let four: Vec<u64> = levels(&own, 5).iter().map(|size| 4 * size).collect();
    assert_eq!(levels(&domino, 5), four);
    // The floppy cube: corners that change places, and edges that flip.
    let mut seen = HashSet::from([([0, 1, 2, 3], 0u8)]);
    let (mut level, mut sizes) = (seen.iter().copied().collect::<Vec<_>>(), Vec::new());
    while !level.is_empty() {
        sizes.push(level.len() as u64);
        let turned = |&(mut corners, flips): &([usize; 4], u8), side: usize| {
            corners.swap(side, (side + 1) % 4);
            (corners, flips ^ 1 << side)
        };
        let next = level.iter().flat_map(|state| (0..4).map(move |side| turned(state, side)));
        level = next.filter(|&state| seen.insert(state)).collect();
    }
    assert_eq!(sizes, [1, 4, 10, 24, 53, 64, 31, 4, 1]);
    assert_eq!(levels(&counted("floppy", Turns::Powers), 20)[..9], sizes);
    for (name, same, moves) in
        [("3x2x3", "2x3x3", "U F2 B2 R2 Rw2 U2 U'"), ("4x2x3", "2x3x4", "U2 F2 B2 2L2 R2 2R2 3Rw2")]
    {
        let puzzle = counted(name, Turns::Powers);
        let names: Vec<&str> = puzzle.moves().iter().map(|one| one.name.as_str()).collect();
        assert_eq!((puzzle.name(), names.join(" ")), (same, moves.into()));
    }
}

#[test]
fn puzzles_have_as_many_states_as_their_pieces_allow() {
    // Each set of four corners, of which one turns and three change places with each turn: its even permutations and turns,
    // and the sum of the turns follows from how the other set is arranged.
    let corners = 12 * 12 * 3u128.pow(8) / 9;
    let even = |count: u128| (3..=count).product::<u128>();
    let rex = even(12) * even(6) * (even(12) * 2 / 2u128.pow(6)).pow(2);
    for (name, expected) in [
        ("rex", rex),
        ("master-skewb", rex * corners),
        // Six centres, four corners that turn in place.
        ("ivy", even(6) * 81),
        // The turns of the corners say which of three arrangements of the centres it is, up to exchanges of two pairs.
        ("pyraminx-duo", even(4) * 81 / 3),
    ] {
        assert_eq!(states(&counted(name, Turns::Powers)), expected.to_string(), "{name}");
    }
    // God's numbers on J. Scherphuis' pages.
    for (name, most) in [("ivy", 8), ("pyraminx-duo", 4)] {
        let sizes = levels(&counted(name, Turns::Powers), 20);
        assert_eq!(sizes.iter().rposition(|&size| size > 0), Some(most), "{name}");
    }
}

/// Square-1 as two rings of pieces from the cut on, each clockwise as seen from its own side, and the middle layer.
type Rings = ([Vec<u8>; 2], bool);

#[test]
fn square_one_turns_where_the_cut_is_free() {
    // Corners have even numbers and are twice as wide.
    let width = |piece: &u8| if piece.is_multiple_of(2) { 2 } else { 1 };
    let free = |ring: &[u8]| {
        let mut at = 0;
        ring.iter().position(|piece| {
            at += width(piece);
            at - width(piece) == 6
        })
    };
    let turns = |(rings, middle): &Rings| {
        let mut all: Vec<Rings> = Vec::new();
        for layer in 0..2 {
            for by in 1..rings[layer].len() {
                let mut next = (rings.clone(), *middle);
                next.0[layer].rotate_left(by);
                all.extend(free(&next.0[layer]).map(|_| next));
            }
        }
        let [upper, lower] = rings;
        let (up, down) = (free(upper).unwrap(), free(lower).unwrap());
        let over =
            [[&upper[..up], &lower[..down]].concat(), [&upper[up..], &lower[down..]].concat()];
        all.push((over, !middle));
        all
    };
    let solved: Rings = ([(0..8).collect(), [9, 8, 11, 10, 13, 12, 15, 14].into()], false);
    let (mut seen, mut level, mut sizes) = (HashSet::from([solved.clone()]), vec![solved], vec![1]);
    for _ in 0..6 {
        let all = level.iter().flat_map(&turns);
        level = all.filter(|state| seen.insert(state.clone())).collect();
        sizes.push(level.len() as u64);
    }
    let puzzle = counted("square-1", Turns::Powers);
    assert_eq!((sizes[1], levels(&puzzle, 6)), (15, sizes));
    // C. Shuang's number: 3,678 shapes, and all places of the corners and edges in each.
    assert_eq!(states(&puzzle), (3678 * 2 * 40_320u64.pow(2)).to_string());
    for state in puzzle.scrambles(5).unwrap().take(20) {
        assert_eq!(puzzle.reaches(&state), Some(Ok(())));
    }
    // Halves of two corners.
    let mut torn = puzzle.solved();
    torn.0[0].swap(0, 3);
    assert!(matches!(puzzle.reaches(&torn), Some(Err(_))));
    // Scrambles are read as competitions write them.
    let state = |text: &str| puzzle.read(text).unwrap().0;
    assert_eq!(state("(1,0)/ (3, -3)/(-1,0) /"), state("U / U3 D3' / U' /"));
    assert_eq!(state("(0,0)/(6,6)/(0,0)/(6,6)/"), state("/ U6 D6 / / U6 D6 /"));
    // How often a turn is made costs nothing: once, this took half a minute, and minutes before.
    let begun = Instant::now();
    assert_eq!(state("(U9999 D9999 U9999' D9999')5000"), puzzle.solved());
    assert_eq!(state("U9999 / (U9999 /)'"), puzzle.solved());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let error = puzzle.read("(1,0)/ (-2,0)/").unwrap_err();
    assert_eq!(
        error.to_string(),
        "move 3 of 4, U2', is not possible: it brings a piece to position 1 of wedges, where it may not be"
    );
    assert!(puzzle.read("(1;0)/").is_err() && puzzle.read("(1,0").is_err());
}

#[test]
fn clocks_are_turned_by_hours_on_both_sides() {
    let clock = counted("clock", Turns::Powers);
    assert_eq!((clock.moves().len(), states(&clock)), (330, 12u64.pow(14).to_string()));
    let turned = |text: &str| {
        let (state, _) = clock.read(text).unwrap();
        let hours = |row: &Vec<Placed>| row.iter().map(|dial| dial.turn).collect::<Vec<u8>>();
        state.0.iter().map(hours).collect::<Vec<_>>()
    };
    // The corner, the edges next to it and the middle; on the back, the corner turns the other way.
    assert_eq!(turned("UR3+"), [vec![0, 3, 0, 0], vec![3, 0, 3, 3, 0], vec![0; 5]]);
    assert_eq!(turned("y2 UR3+ y2"), [vec![9, 0, 0, 0], vec![0; 5], vec![3, 0, 3, 3, 0]]);
    assert_eq!(turned("D2-"), [vec![0, 0, 10, 10], vec![0, 10, 10, 10, 10], vec![0; 5]]);
    assert_eq!(turned("ALL1+ y2 ALL1+"), [vec![0; 4], vec![1; 5], vec![1; 5]]);
    let scramble = "UR4+ DR2+ DL5+ UL5+ U2+ R4- D0+ L3+ ALL6+ y2 U4+ R2- D1+ L5- ALL3+";
    assert_eq!(clock.read(scramble).unwrap().1.unwrap().turned_back, "y2");
    let own = "UR4 DR2 DL5 UL5 U2 R4' L3 ALL6 bU4 bR2' bD bL5' bALL3";
    assert_eq!(turned(scramble), turned(own));
    assert!(clock.read("UR7").is_ok());
    assert!(clock.read("XX3+").is_err() && clock.read("UR+").is_err());
}

/// The clock as eighteen dials that gears and pins connect: with each pin, the dials of its corner on both sides, and the
/// hours of those next to it. Turns a wheel in front by an hour while some pins are up, or one on the back.
fn with_an_hour(dials: &[[u8; 9]; 2], up: [bool; 4], back: bool) -> [[u8; 9]; 2] {
    // UR DR DL UL, as cells of three rows, seen from in front and from behind.
    let corners = [[2usize, 8, 6, 0], [0, 6, 8, 2]];
    let moved = up.map(|up| up != back);
    let mut turned = *dials;
    let (own, other) = (usize::from(back), usize::from(!back));
    for (pin, _) in moved.iter().enumerate().filter(|(_, moved)| **moved) {
        let [row, column] = [corners[own][pin] / 3, corners[own][pin] % 3];
        // The corner and the three dials that touch it; a dial touches one or two corners, the middle all.
        for cell in (0..9usize)
            .filter(|cell| (cell / 3).abs_diff(row) <= 1 && (cell % 3).abs_diff(column) <= 1)
        {
            turned[own][cell] = (dials[own][cell] + 1) % 12;
        }
        turned[other][corners[other][pin]] = (dials[other][corners[other][pin]] + 11) % 12;
    }
    turned
}

#[test]
fn levels_of_the_clock_are_those_of_its_dials() {
    let solved = [[0u8; 9]; 2];
    let (mut seen, mut level, mut sizes) = (HashSet::from([solved]), vec![solved], vec![1]);
    for _ in 0..2 {
        let mut next = Vec::new();
        for state in level {
            for code in 0..32 {
                let up = std::array::from_fn(|pin| code >> pin & 1 == 1);
                let mut turned = state;
                for _ in 0..11 {
                    turned = with_an_hour(&turned, up, code & 16 != 0);
                    next.extend(seen.insert(turned).then_some(turned));
                }
            }
        }
        sizes.push(next.len() as u64);
        level = next;
    }
    assert_eq!(sizes, [1, 330, 51651]);
    let clock = counted("clock", Turns::Powers);
    assert_eq!(levels(&clock, 2), sizes);
    // Turns, reflections, the back, and hours that are multiplied by 1, 5, 7 or 11.
    assert_eq!(clock.symmetries(), Some(64u8.into()));
}

/// The cube of gears as twenty-six pieces on a grid, each with the piece that is there and how far its gear has turned.
#[test]
fn gears_turn_with_the_layer_between_faces() {
    type Cell = [i8; 3];
    let cells: Vec<Cell> = (0..27).map(|i| [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1]).collect();
    let index = |at: Cell| cells.iter().position(|cell| *cell == at).unwrap();
    // A quarter turn about an axis, clockwise as seen from its positive end.
    let quarter = |[x, y, z]: Cell, axis: usize| match axis {
        0 => [x, z, -y],
        1 => [-z, y, x],
        _ => [y, -x, z],
    };
    let half = |state: &Vec<(usize, u8)>, axis: usize| {
        let mut turned = state.clone();
        for (from, &cell) in cells.iter().enumerate() {
            let once = quarter(cell, axis);
            let (piece, gear) = state[from];
            match cell[axis] {
                1 => turned[index(quarter(once, axis))] = (piece, gear),
                0 => {
                    let is_edge = cell.iter().filter(|&&at| at == 0).count() == 1;
                    turned[index(once)] = (piece, (gear + u8::from(is_edge)) % 3);
                }
                _ => {}
            }
        }
        turned
    };
    for (turns, most) in [(Turns::Quarter, 12), (Turns::Powers, 6)] {
        let solved: Vec<(usize, u8)> = (0..27).map(|piece| (piece, 0)).collect();
        let (mut seen, mut level, mut sizes) =
            (HashSet::from([solved.clone()]), vec![solved], vec![]);
        while !level.is_empty() {
            sizes.push(level.len() as u64);
            let mut next = Vec::new();
            for (state, axis) in
                level.iter().flat_map(|state| (0..3).map(move |axis| (state, axis)))
            {
                let mut at = state.clone();
                for times in 1..12 {
                    at = half(&at, axis);
                    if (turns == Turns::Powers || [1, 11].contains(&times))
                        && seen.insert(at.clone())
                    {
                        next.push(at.clone());
                    }
                }
            }
            level = next;
        }
        assert_eq!((seen.len(), sizes.len()), (41_472, most + 1));
        assert_eq!(levels(&counted("gear", turns), 20)[..sizes.len()], sizes);
    }
}
