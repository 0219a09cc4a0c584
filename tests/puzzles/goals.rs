//! Goal sets: what they are, and how many states there are around them.

use tilewave::frontier::FrontierSearch;
use tilewave::puzzle::{Arrangement, PieceAt, Puzzle, Turns};
use tilewave::puzzle::{Variant, named};
use tilewave::random::SplitMix64;

use crate::plain::levels;
use crate::program::{room, run, tilewave};

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.into()).collect()
}

/// A puzzle with these goals, up to a subgroup.
fn variant(name: &str, goals: &[&str], subgroup: &str) -> Result<Puzzle, String> {
    let subgroup = Variant::split(subgroup);
    let variant = Variant { goals: words(goals), subgroup, ..Variant::default() };
    variant.of(named::parse(name).unwrap(), Turns::Powers).map_err(|error| error.to_string())
}

fn counts(puzzle: &Puzzle, depth: Option<usize>) -> Vec<u64> {
    let counts = FrontierSearch::new(puzzle.clone()).max_depth(depth).run().unwrap().counts;
    let bare = FrontierSearch::new(puzzle.clone()).max_depth(depth).symmetry(false);
    assert_eq!(bare.run().unwrap().counts, counts, "{puzzle} without symmetry");
    counts
}

#[test]
fn states_around_several_goals_are_those_of_plain_code() {
    for (name, goals, subgroup, depth) in [
        ("2x2x2", &["U U'", "R U F"][..], "", 4),
        ("2x2x2", &["corners 1 2 3 ? ? ? ?/0 0 0 ? ? ? ?", "R"], "", 3),
        // Of both parities, so that neighbours may have one depth.
        ("pyraminx", &["U U'", "L R U B"], "", 5),
        ("pyraminx", &["edges 1 2 ? ? ? ?/0 0 ? ? ? ?; corners 1 2 3 4/0 0 0 0", "B"], "", 4),
        ("skewb", &["URF", "URF'"], "", 4),
        ("skewb", &[], "[URF, DLF]", 4),
        ("dino", &[], "<URF, ULB>", 3),
        ("3x3x3", &[], "U2, R2", 3),
        ("3x3x3", &["U", "U'", "D", "D'", "F", "F'", "B", "B'", "L", "L'", "R", "R'"], "", 2),
    ] {
        let puzzle = variant(name, goals, subgroup);
        let puzzle = puzzle.unwrap_or_else(|error| panic!("{name} {goals:?} {subgroup}: {error}"));
        assert!(puzzle.goals().len() > 1, "{name} {goals:?} {subgroup}");
        assert!(puzzle.goals().iter().all(|goal| puzzle.is_goal(goal)));
        assert_eq!(counts(&puzzle, Some(depth)), levels(&puzzle, depth), "{name} {goals:?}");
    }
}

/// A set that a projection has as its solved state is searched as that; the states that it stands for are as many for
/// each.
#[test]
fn goal_sets_that_are_projections_are_searched_as_such() {
    for (name, mask, subgroup, as_listed, states) in [
        ("2x2x2", "corners 1 2 ? ? ? ? ?/0 0 ? ? ? ? ?", "", 9_720, 378),
        ("2x2x2", "corners 1 2 ? ? ? ? ?/? ? ? ? ? ? ?", "", 87_480, 42),
        ("2x2x2", "corners ? ? ? ? ? ? ?/0 0 0 0 0 0 0", "", 5_040, 729),
        ("pyraminx", "edges 1 2 3 4 5 6/0 0 0 0 0 0", "", 81, 11_520),
        ("pyraminx", "", "U, L", 540, 1_728),
    ] {
        let goals: &[&str] = if mask.is_empty() { &[] } else { &[mask] };
        let seen = variant(name, goals, subgroup).unwrap();
        assert_eq!(seen.goals().len(), 1, "{name} {mask} {subgroup}");
        assert!(!seen.notes().is_empty());
        let found = counts(&seen, None);
        assert_eq!(found.iter().sum::<u64>(), states, "{name} {mask} {subgroup}");
        // The same states one by one.
        let listed = if mask.is_empty() {
            variant(name, &["U U'", "U"], subgroup).unwrap()
        } else {
            variant(name, &[mask, mask], subgroup).unwrap()
        };
        assert_eq!(listed.goals().len(), as_listed, "{name} {mask} {subgroup}");
        let each = as_listed as u64;
        let times: Vec<u64> = found.iter().map(|count| count * each).collect();
        assert_eq!(counts(&listed, None), times, "{name} {mask} {subgroup}");
    }
}

#[test]
fn two_crosses_are_as_far_as_published() {
    let variant = Variant {
        pieces: words(&["edges:1-4+9-12"]),
        goals: words(&["edges 1 2 3 4 ? ? ? ? ? ? ? ?", "edges ? ? ? ? ? ? ? ? 6 7 8 9"]),
        ..Variant::default()
    };
    let puzzle = variant.of(named::parse("3x3x3").unwrap(), Turns::Powers).unwrap();
    let found = FrontierSearch::new(puzzle.clone()).max_depth(2).run().unwrap();
    assert_eq!(found.counts, [53_759, 806_253, 8_484_602]);
    let known = tilewave::report::published_growth(&puzzle).unwrap();
    assert_eq!(known.counts()[..3], found.counts);
}

/// Crosses of all colours are too many for one set: each is searched for, and the nearest one found.
#[test]
fn the_nearest_of_many_goals_is_found() {
    let goals = [
        "edges 1 2 3 4 ? ? ? ? ? ? ? ?/0 0 0 0 ? ? ? ? ? ? ? ?",
        "edges ? ? ? ? ? ? ? ? 9 10 11 12/? ? ? ? ? ? ? ? 0 0 0 0",
        "edges ? ? ? 4 ? ? 7 8 ? ? ? 12/? ? ? 0 ? ? 0 0 ? ? ? 0",
        "edges 1 ? ? ? 5 6 ? ? 9 ? ? ?/0 ? ? ? 0 0 ? ? 0 ? ? ?",
        "edges ? 2 ? ? 5 ? 7 ? ? 10 ? ?/? 0 ? ? 0 ? 0 ? ? 0 ? ?",
        "edges ? ? 3 ? ? 6 ? 8 ? ? 11 ?/? ? 0 ? ? 0 ? 0 ? ? 0 ?",
    ];
    let room = room();
    let file = |name: &str, goals: &[&str]| {
        std::fs::write(room.path().join(name), goals.join("\n")).unwrap();
    };
    file("all.txt", &goals);
    let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers).unwrap();
    // As moves: in the projection of one goal, pieces have other numbers.
    let mut random = SplitMix64::new(5);
    let mut mixed = || {
        let one = |_| cube.moves()[random.below(18) as usize].name.clone();
        (0..20).map(one).collect::<Vec<String>>().join(" ")
    };
    let states: Vec<String> = (0..12).map(|_| mixed()).collect();
    let solve = |goals: &str, more: &[&str]| {
        let args = ["solve", "3x3x3", "--goals", goals, "--format", "json"];
        let states = states.iter().map(String::as_str);
        let all: Vec<&str> = args.into_iter().chain(states).chain(more.iter().copied()).collect();
        let done = run(tilewave(&all).current_dir(room.path()).env("XDG_CACHE_HOME", room.path()));
        (done.code, done.out, done.err)
    };
    let answers = |goals: &str| -> Vec<(usize, String)> {
        let (code, out, err) = solve(goals, &[]);
        assert_eq!(code, Some(0), "{err}");
        let all: serde_json::Value = serde_json::from_str(&out).unwrap();
        let one = |of: &serde_json::Value| {
            (of["length"].as_u64().unwrap() as usize, of["moves"].as_str().unwrap().to_string())
        };
        all.as_array().unwrap().iter().map(one).collect()
    };
    let all = answers("all.txt");
    let mut least = vec![usize::MAX; states.len()];
    for goal in goals {
        file("one.txt", &[goal]);
        for (least, (length, _)) in least.iter_mut().zip(answers("one.txt")) {
            *least = length.min(*least);
        }
    }
    assert_eq!(all.iter().map(|(length, _)| *length).collect::<Vec<_>>(), least);
    // That is where the moves lead.
    let edges = |at: &Arrangement| at.0[1].iter().map(|p| (p.kind, p.turn)).collect::<Vec<_>>();
    let solved = edges(&cube.solved());
    for (state, (_, moves)) in states.iter().zip(&all) {
        let (_, made) = cube.read(moves).unwrap();
        let end = edges(&cube.after(&cube.read(state).unwrap().0, &made.unwrap().effect));
        let has = |goal: &&str| {
            let pieces = goal["edges ".len()..].split('/').next().unwrap().split(' ');
            pieces.enumerate().all(|(at, piece)| piece == "?" || end[at] == solved[at])
        };
        assert!(goals.iter().any(has), "{state}: {moves}");
    }
    for option in ["--all", "--html=x.html", "--log=x.log"] {
        let (code, _, err) = solve("all.txt", &[option]);
        assert!(code == Some(2) && err.contains("specify fewer goals"), "{option}: {err}");
    }
}

#[test]
fn goals_come_back_from_the_text_of_a_puzzle() {
    for (goals, subgroup) in [(&["R", "U"][..], ""), (&["R", "corners 1 2 3 4 5 ? ?"], "U2 R2")] {
        let puzzle = variant("2x2x2", goals, subgroup).unwrap();
        let again = Puzzle::of_json(puzzle.name(), &puzzle.to_json()).unwrap();
        assert_eq!(again.goals(), puzzle.goals());
        assert_eq!(again.to_json(), puzzle.to_json());
    }
    let plain = variant("2x2x2", &["U U'"], "").unwrap();
    assert_eq!(plain.to_json(), variant("2x2x2", &[], "").unwrap().to_json());
}

#[test]
fn goals_that_cannot_be_are_told() {
    let told = |goals: &[&str], subgroup| variant("2x2x2", goals, subgroup).unwrap_err();
    for (goals, why) in [
        (&["R", "Q"][..], "goal 2: 'Q' is not a move"),
        (
            &["corners 1 2 3 4 5 6 7/1 0 0 0 0 0 0"],
            "goal 1: no moves of 2x2x2 lead to this state: the sum of the orientations in set 'corners' is wrong",
        ),
        (&["corners 1 1 ? ? ? ? ?"], "goal 1: piece 1 occurs too often in set 'corners'"),
        (
            &["corners 0 ? ? ? ? ? ?"],
            "goal 1: piece 0 occurs too often in set 'corners', or does not belong",
        ),
        (&["corners ? ? ?"], "goal 1: set 'corners' has 7 positions, but 3 are given"),
        (&["corners 1 ? ? ? ? ? ?/3 ? ? ? ? ? ?"], "goal 1: set 'corners': orientation 3"),
        (&["corners ? ? ? ? ? ? x"], "goal 1: 'x'"),
    ] {
        let error = told(goals, "");
        assert!(error.contains(why), "{goals:?}: {error}");
    }
    assert!(told(&[], "U Q").contains("'Q' is not a move"));
    // A move of the subgroup leads to a state that the puzzle forbids.
    let cube = named::parse("2x2x2").unwrap();
    let (before, after) = (cube.solved(), cube.moved(&cube.solved(), 0).unwrap());
    let moved = (0..7).find(|&at| before.0[0][at] != after.0[0][at]).unwrap();
    let (position, kind) = (moved as u8, after.0[0][moved].kind);
    let forbidden = cube.clone().forbidding(vec![PieceAt { set: 0, position, kind }]).unwrap();
    let subgroup = words(&[&cube.moves()[0].name]);
    let of = Variant { subgroup, ..Variant::default() };
    let error = of.of(forbidden, Turns::Powers).unwrap_err().to_string();
    let place = format!("a piece at position {} of corners that is illegal there", moved + 1);
    assert_eq!(error, format!("the goal state has {place}"));
    let many = "edges 1 2 ? ? ? ? ? ? ? ? ? ?";
    let error = variant("3x3x3", &[many, "R"], "").unwrap_err();
    assert!(error.contains("more than 1048576 goal states"), "{error}");
    let error = variant("3x3x3", &[], "R U, F D").unwrap_err();
    assert!(error.contains("more than 1048576 goal states"), "{error}");
}

#[test]
fn moves_can_be_restricted_and_made_of_sequences() {
    let of = |moves: &str, turns| {
        let variant = Variant { moves: Variant::split(moves), ..Variant::default() };
        variant.of(named::parse("3x3x3").unwrap(), turns).unwrap()
    };
    let names = |puzzle: &Puzzle| {
        puzzle.moves().iter().map(|one| one.name.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&of("U, R", Turns::Powers)), "U R U2 U' R2 R'");
    assert_eq!(names(&of("<U,R2>", Turns::Quarter)), "U R2 U'");
    let slices = of("R L', U D', F B'", Turns::Quarter);
    assert_eq!(counts(&slices, None), [1, 6, 27, 120, 287, 258, 69]);
    assert_eq!(slices.name(), "3x3x3 <R L',U D',F B'>");
    assert_eq!(Variant::split("[R, U] D"), ["[R, U]", "D"]);
    assert_eq!(Variant::split(" (R U)2 , D "), ["(R U)2", "D"]);
}

/// Goals that together are too many states are those of a projection, if they leave pieces open.
#[test]
fn pieces_that_no_goal_names_look_alike() {
    let crosses = ["edges 1 2 3 4 ? ? ? ? ? ? ? ?", "edges ? ? ? ? ? ? ? ? 9 10 11 12"];
    let there = ["edges 1 2 3 4 ? ? ? ? ? ? ? ?", "edges ? ? ? ? ? ? ? ? 6 7 8 9"];
    let flips = words(&[
        "edges 1 2 ? ? ? ? ? ? ? ? ? ?/0 ? 0 0 0 0 0 0 0 0 0 0",
        "edges 2 1 ? ? ? ? ? ? ? ? ? ?/? ? 1 1 0 0 0 0 0 0 0 0",
    ]);
    let of = |goals: Vec<String>, pieces: &[&str], same: &[&str]| {
        let (pieces, same) = (words(pieces), words(same));
        let variant = Variant { goals, pieces, same, ..Variant::default() };
        variant.of(named::parse("3x3x3").unwrap(), Turns::Powers).unwrap()
    };
    let cases = [
        (of(words(&crosses), &[], &[]), of(words(&there), &["edges:1-4+9-12"], &[]), 1),
        (of(flips.to_vec(), &[], &[]), of(flips.to_vec(), &["edges"], &["edges:3-12"]), 20),
    ];
    for (found, by_hand, depth) in cases {
        assert_eq!(found.goals().len(), by_hand.goals().len());
        let counts =
            |puzzle: Puzzle| FrontierSearch::new(puzzle).max_depth(depth).run().unwrap().counts;
        assert!(found.notes().iter().any(|note| note.contains("no goal names")));
        let counts = (counts(found), counts(by_hand));
        assert_eq!(counts.0, counts.1);
        assert!(counts.0.len() > 1);
    }
}
