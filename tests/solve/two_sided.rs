//! Shortest solutions with coset tables, against tables of all states and plain searches.

use std::sync::Arc;

use tilewave::{
    Error, Kernel, NoProgress, Resources,
    progress::StopWhen,
    pruning::{CosetTable, PruningTable},
    puzzle::{
        Arrangement, Move, PieceSet, Puzzle, SetAction, Transformation, Turns, Variant, named,
    },
    random::SplitMix64,
    solve::{MeetingLists, PuzzleSolver},
    table::{TableEncoding, TableError},
};

use super::mixed;
use crate::{
    cli::stdout as succeeds,
    plain::{HashMap, of_puzzle},
    pruning::fails,
};

fn puzzle(name: &str, turns: Turns) -> Puzzle {
    named::parse(name).unwrap().counting(turns).unwrap()
}

/// The states within some moves of the solved one, with their depths.
fn near(puzzle: &Puzzle, most: usize) -> HashMap<Arrangement, usize> {
    of_puzzle(puzzle, vec![puzzle.solved()], most).0
}

/// Of puzzles that have exact tables, in both metrics, with coset tables of any size: those that tell hardly anything
/// apart, and those that tell all.
#[test]
fn solutions_are_as_long_as_depths() {
    for (name, turns) in [
        ("pyraminx", Turns::Powers),
        ("pyraminx", Turns::Quarter),
        ("dino", Turns::Powers),
        ("skewb", Turns::Powers),
    ] {
        let puzzle = puzzle(name, turns);
        if !CosetTable::suits(&puzzle) {
            continue;
        }
        let truth = PruningTable::build(&puzzle, TableEncoding::Byte, Resources::new()).unwrap();
        let mut tables = 0;
        for bytes in [10_000, 100_000, 1 << 20] {
            let Ok(table) = CosetTable::build(&puzzle, bytes, Resources::new()) else { continue };
            tables += 1;
            let solver = PuzzleSolver::two_sided(table).unwrap();
            let mut random = SplitMix64::new(5);
            for number in 0..20 {
                let state = mixed(&puzzle, 30 * (number + 1), &mut random);
                let depth = truth.depth(&state).unwrap().unwrap();
                let length = solver.solve(&state).unwrap().moves.unwrap().len();
                assert_eq!(length, depth, "{name} {turns:?} {bytes} {number}");
            }
        }
        assert!(tables > 0, "{name}");
    }
}

/// Random states of twenty puzzles: several sets of pieces, pieces that look alike, orientations that do not matter, several
/// goals, directed moves, and metrics. The lengths of their solutions are the depths of a table of all states, whatever
/// bounds a search has: of a coset table, of tables of three pieces of each set, or none.
fn lengths_are_depths(states: usize) -> usize {
    use Turns::{Directed, Powers, Quarter, Slice};
    let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
    let none = Variant::default;
    let puzzles = [
        ("2x2x2", Powers, none()),
        ("2x2x2", Quarter, none()),
        ("2x2x2", Directed, none()),
        ("2x2x2", Powers, Variant { same: words("corners:1-4"), ..none() }),
        ("2x2x2", Powers, Variant { ignore_orientation: words("corners"), ..none() }),
        ("2x2x2", Powers, Variant { goals: vec!["corners 1 2 3 ? ? ? ?".into()], ..none() }),
        ("pyraminx", Powers, none()),
        ("pyraminx", Directed, none()),
        ("pyraminx", Powers, Variant { same: words("edges:1-3"), ..none() }),
        ("skewb", Powers, none()),
        ("skewb-diamond", Powers, none()),
        ("ivy", Powers, none()),
        ("pyraminx-duo", Powers, none()),
        ("floppy", Powers, none()),
        ("1x2x3", Powers, none()),
        ("2x2x3", Powers, none()),
        ("2x2x3", Powers, Variant { moves: words("U R2"), ..none() }),
        ("3x3x3", Powers, Variant { pieces: words("corners:1-2 edges:1-2"), ..none() }),
        ("3x3x3", Slice, Variant { pieces: words("edges:1-4"), ..none() }),
        ("megaminx", Powers, Variant { pieces: words("corners:1-2 edges:1-2"), ..none() }),
    ];
    let mut compared = 0;
    for (seed, (name, turns, variant)) in (0..).zip(puzzles) {
        let of = variant.of(named::parse(name).unwrap(), turns).unwrap();
        let build =
            |of: &Puzzle| PruningTable::build(of, TableEncoding::Byte, Resources::new()).unwrap();
        let truth = build(&of);
        let part = |set: &PieceSet| {
            let few = format!("{}:1-{}", set.name, set.positions().min(3));
            of.clone().keeping(&[few]).ok().map(|part| build(&part))
        };
        let parts = of.sets().iter().filter_map(part).collect::<Vec<_>>();
        let mut solvers = vec![PuzzleSolver::new(of.clone(), parts).unwrap()];
        if CosetTable::suits(&of) {
            let table = CosetTable::build(&of, 1 << 18, Resources::new()).unwrap();
            solvers.push(PuzzleSolver::two_sided(table).unwrap());
        }
        let mut lists = MeetingLists::new(&of, 1 << 24);
        for (number, state) in of.scrambles(seed).unwrap().take(states).enumerate() {
            let depth = truth.depth(&state).unwrap().unwrap();
            for solver in &solvers {
                let found = solver.solve(&state).unwrap();
                assert_eq!(found.moves.unwrap().len(), depth, "{of} {}", of.text(&state));
                assert!(solver.bound(&state).unwrap() <= depth, "{of} {}", of.text(&state));
            }
            if number % 50 == 0
                && let Some(found) = lists.solve(&state, &NoProgress).unwrap()
            {
                assert_eq!(found.moves.unwrap().len(), depth, "{of} {}", of.text(&state));
            }
            compared += 1;
        }
    }
    compared
}

#[test]
fn lengths_of_some_states_of_twenty_puzzles_are_depths() {
    assert_eq!(lengths_are_depths(20), 400);
}

#[test]
#[ignore = "six minutes: cargo test --release --test suite -- --ignored hundred_thousand_states"]
fn lengths_of_a_hundred_thousand_states_are_depths() {
    assert_eq!(lengths_are_depths(5_000), 100_000);
}

/// Every state within four moves, or some of them, and some that are further away, of puzzles that are too large for
/// exact tables: cubes, cubes without some turns, and the megaminx, whose points take two registers.
#[test]
fn solutions_near_the_solved_state_are_as_long_as_a_plain_search_says() {
    for (of, most, bytes) in [
        (puzzle("3x3x3", Turns::Powers), 4, 1 << 20),
        (puzzle("3x3x3", Turns::Quarter), 4, 4 << 20),
        (
            puzzle("3x3x3", Turns::Powers).only(|name| "URF".contains(&name[..1])).unwrap(),
            6,
            1 << 20,
        ),
        (puzzle("megaminx", Turns::Powers), 2, 8 << 20),
    ] {
        let table = CosetTable::build(&of, bytes, Resources::new()).unwrap();
        assert!(table.file_bytes() <= bytes + (1 << 16), "{of}");
        let solver = PuzzleSolver::two_sided(table).unwrap();
        let known = near(&of, most);
        let mut all: Vec<(&Arrangement, &usize)> = known.iter().collect();
        all.sort_unstable();
        for &(state, &depth) in all.iter().step_by(all.len().div_ceil(1000)) {
            let length = solver.solve(state).unwrap().moves.unwrap().len();
            assert_eq!(length, depth, "{of} {}", of.text(state));
        }
        // Twice as far: at most as long as the way there, and as odd where moves are; shorter than that only if a state
        // near the solved one is reached.
        let mut random = SplitMix64::new(3);
        for _ in 0..20 {
            let state = mixed(&of, most + 2, &mut random);
            let moves = solver.solve(&state).unwrap().moves.unwrap();
            let near = known.get(&state).copied();
            assert!(near.map_or(moves.len() > most, |depth| depth == moves.len()), "{of}");
            assert!(moves.len() <= most + 2, "{of}");
        }
    }
}

/// A state that many symmetries keep is solved as fast as others, and as short: the superflip of some pieces. One
/// register of points, and two.
#[test]
fn solutions_and_nodes_depend_neither_on_threads_nor_on_the_kernel() {
    let cube = [
        "R2 L2 U2 D2 F2 B2",
        "R L U2 D' F B2 R U L",
        "U R2 F B R B2 R U2 L",
        "R U R' U' R' F R F'",
    ];
    let of = [
        (puzzle("3x3x3", Turns::Powers), &cube[..]),
        (puzzle("megaminx", Turns::Powers), &["R U F", "U2 R' L"]),
    ];
    for (of, words) in of {
        let table = Arc::new(CosetTable::build(&of, 4 << 20, Resources::new()).unwrap());
        let kernels = Kernel::ALL.into_iter().filter(|kernel| kernel.is_supported());
        let solvers = kernels.map(|kernel| {
            let solver = PuzzleSolver::two_sided(table.clone()).unwrap();
            solver.with_kernel_of(Resources::new().kernel(kernel)).unwrap()
        });
        let solvers: Vec<PuzzleSolver> = solvers.collect();
        for word in words {
            let (state, _) = of.read(word).unwrap();
            let solve = |solver: &PuzzleSolver, threads| {
                let resources = Resources::new().threads(threads);
                let answer = resources.install(|| solver.solve(&state)).unwrap().unwrap();
                (answer.moves.unwrap(), answer.nodes)
            };
            let one = solve(&solvers[0], 3);
            assert!(one.0.len() <= word.split(' ').count());
            for solver in &solvers {
                assert_eq!(solve(solver, 1), one, "{word}");
            }
        }
    }
}

/// From two lists, whose lengths are those of a plain search: as far as their memory allows.
#[test]
fn states_near_the_solved_one_need_no_table() {
    for (of, most) in [
        (puzzle("3x3x3", Turns::Powers), 4),
        (puzzle("2x2x2", Turns::Directed), 6),
        (puzzle("4x4x4", Turns::Quarter), 2),
        (Puzzle::of_graph("graph:0-1,1-2,3-4,4-5,0-3,1-4,2-5").unwrap().unwrap(), 12),
    ] {
        // Distances to the solved state, also where moves have no inverses.
        let mut lists = MeetingLists::new(&of, 1 << 28);
        let known = near(&of, most);
        let mut all: Vec<&Arrangement> = known.keys().collect();
        all.sort_unstable();
        for state in all.iter().step_by(all.len().div_ceil(200)) {
            let found = lists.solve(state, &NoProgress).unwrap().unwrap();
            let length = found.moves.unwrap().len();
            match of.is_directed() {
                true => assert!(length > 0 || **state == of.solved(), "{of}"),
                false => assert_eq!(length, known[*state], "{of} {}", of.text(state)),
            }
        }
        let far = mixed(&of, 100, &mut SplitMix64::new(1));
        let none = MeetingLists::new(&of, 1000).solve(&far, &StopWhen(|| true)).unwrap();
        assert!(none.is_none(), "{of}");
    }
    // Longer ones, of which nothing shorter is known, with lists as long as their memory allows, on one thread and on two.
    for (name, word, length) in [
        ("3x3x3", "R U2 F' L D B2 U' R F2 L'", 10),
        ("4x4x4", "R U2 2F D 2L' U R 2B'", 8),
        ("megaminx", "R U F L BR' U2' R", 7),
        ("fto", "URF ULB' DRF DLB' URB ULF' DLF' URF'", 8),
    ] {
        let of = puzzle(name, Turns::Powers);
        let (state, _) = of.read(word).unwrap();
        let solve = |threads, memory| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut lists = MeetingLists::new(&of, memory);
            let found = pool.install(|| lists.solve(&state, &NoProgress)).unwrap().unwrap();
            let again = pool.install(|| lists.solve(&state, &NoProgress)).unwrap().unwrap();
            assert_eq!(again.at_least, found.at_least, "{name}");
            (found.moves.unwrap(), found.at_least, found.nodes)
        };
        let found = solve(1, 1 << 30);
        assert_eq!((found.0.len(), found.1), (length, length), "{name}");
        assert_eq!(solve(2, 1 << 30), found, "{name}");
        assert_eq!(solve(2, 1 << 22).1, length, "{name}");
    }
    // Of a small puzzle, all states are listed.
    let of = puzzle("pyraminx", Turns::Powers);
    let exact = PruningTable::build(&of, TableEncoding::Nibble, Resources::new()).unwrap();
    let (exact, mut lists) =
        (PuzzleSolver::new(of.clone(), [exact]).unwrap(), MeetingLists::new(&of, 1 << 30));
    let mut random = SplitMix64::new(2);
    for _ in 0..20 {
        let state = mixed(&of, 100, &mut random);
        let found = lists.solve(&state, &NoProgress).unwrap().unwrap();
        assert_eq!(found.at_least, exact.solve(&state).unwrap().at_least);
    }
}

/// What the program builds, keeps, shows and checks; that it builds nothing for what two lists solve.
#[test]
fn the_program_solves_with_coset_tables() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
    let (cache, set) = (place("cache"), place("set"));
    let near = ["solve", "3x3x3", "R U F", "--cache-dir", &cache];
    assert!(succeeds(&near).contains("3 moves"));
    assert!(!std::path::Path::new(&cache).exists());
    let far = "R U2 F' L D B2 U' R F2 L' D";
    // With a limit, the tables are built at once.
    let limit = "--timeout=1h";
    let solve = ["solve", "3x3x3", far, limit, "--cache-dir", &cache, "--memory", "6MB"];
    let said = succeeds(&solve);
    assert!(said.contains("11 moves"), "{said}");
    let kept = succeeds(&["cache", "list", "--cache-dir", &cache]);
    assert!(kept.contains("3x3x3") && kept.contains("cosets"), "{kept}");
    // The kept one, without --memory, and the same nodes.
    let again = succeeds(&solve[..6]);
    let nodes = |said: &str| said.split("  ").nth(3).map(String::from);
    assert_eq!(nodes(&again), nodes(&said), "{again}");
    // What is kept for another memory is not what was asked for: two lists are enough.
    succeeds(&["solve", "3x3x3", "R U F", "--cache-dir", &cache, "--memory", "9MB"]);
    assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 1);
    succeeds(&["pdb", "set", "build", "3x3x3", "-M", "6MB", "-o", &set, "-q"]);
    let file = format!("{set}/set.json");
    let with_set = succeeds(&["solve", "3x3x3", far, limit, "--pdb", &file]);
    assert_eq!(nodes(&with_set), nodes(&said), "{with_set}");
    let info = succeeds(&["info", &file, "--format", "json"]);
    assert!(info.contains("3x3x3"), "{info}");
    let table = std::fs::read_dir(&set).unwrap().map(|entry| entry.unwrap().path());
    let table = table.into_iter().find(|path| path.extension().is_some_and(|e| e == "cosets"));
    let table = table.unwrap().to_str().unwrap().to_string();
    for words in [["info", &table, "--format", "json"], ["info", &table, "--format", "text"]] {
        assert!(succeeds(&words).contains("corners"));
    }
    let checked = succeeds(&["check", &table, "--full"]);
    assert!(checked.contains("same entries"), "{checked}");
    let refused = fails(&["solve", "2x2x2", "R U F", "--pdb", &table]);
    assert!(refused.contains("is a coset table for 3x3x3"), "{refused}");
    let refused = fails(&["solve", "3x3x3", far, "--pdb", &table, "--pdb", &table]);
    assert!(refused.contains("used alone"), "{refused}");
}

/// Where one move is all there is, where a colouring tells nothing apart, and where it tells everything.
#[test]
fn tables_of_few_cosets_give_bounds_too() {
    let turn = |source: &[u8]| SetAction { source: source.to_vec(), twist: vec![0; source.len()] };
    let one = |name: &str, turns: [&[u8]; 2]| {
        let transformation = Transformation(turns.map(turn).to_vec());
        Move { name: name.into(), transformation, requires: None }
    };
    let sets = || ["a", "b"].map(|name| PieceSet::distinct(name, 3, 1)).to_vec();
    let swap = one("s", [&[1, 0, 2], &[0, 2, 1]]);
    let rings = [one("r", [&[1, 2, 0], &[0, 1, 2]]), one("l", [&[2, 0, 1], &[0, 1, 2]])];
    for moves in [vec![swap.clone()], rings.to_vec(), [vec![swap], rings.to_vec()].concat()] {
        let puzzle = Puzzle::new("few", sets(), moves).unwrap();
        let known = near(&puzzle, 12);
        for bytes in [1 << 20, 1500, 800] {
            let resources = Resources::new().memory(bytes);
            let table = match CosetTable::build(&puzzle, bytes, resources) {
                Ok(table) => table,
                Err(error) => {
                    assert!(error.to_string().contains("no coset table for few fits"), "{error}");
                    continue;
                }
            };
            let solver = PuzzleSolver::two_sided(table).unwrap();
            for (state, &depth) in &known {
                let length = solver.solve(state).unwrap().moves.unwrap().len();
                assert_eq!(length, depth, "{bytes} {}", puzzle.text(state));
            }
        }
    }
}

/// What is saved is read again, proved by another table, and refused when a bit of it differs.
#[test]
fn coset_tables_are_kept_and_checked() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("cube.cosets");
    let cube = puzzle("3x3x3", Turns::Powers);
    let table = CosetTable::build(&cube, 1 << 20, Resources::new()).unwrap();
    table.save(&file, false).unwrap();
    let read = CosetTable::load(&file).unwrap();
    assert_eq!(read.histogram(), table.histogram());
    assert_eq!((read.base(), read.classes()), (table.base(), table.classes()));
    read.verify(Resources::new(), &NoProgress).unwrap();
    let bytes = std::fs::read(&file).unwrap();
    for place in [16, 24, 300, 4200, bytes.len() - 1, bytes.len() / 2] {
        let mut damaged = bytes.clone();
        damaged[place] ^= 4;
        assert!(CosetTable::from_bytes(&damaged).is_err(), "{place}");
    }
    let other = PruningTable::load(&file).unwrap_err().to_string();
    assert!(other.contains("coset table"), "{other}");
    let opened = CosetTable::open(&file).unwrap();
    let Err(refused) = PuzzleSolver::two_sided(opened) else { panic!("it is not loaded") };
    assert!(refused.to_string().contains("not in memory"), "{refused}");
}

/// Puzzles that cannot have such tables, and too little memory for any.
#[test]
fn what_cannot_have_a_coset_table_is_refused() {
    for (name, turns) in
        [("4x4x4", Turns::Powers), ("2x2x2", Turns::Powers), ("3x3x3", Turns::Directed)]
    {
        let of = puzzle(name, turns);
        assert!(!CosetTable::suits(&of), "{name}");
        let refused = CosetTable::build(&of, 1 << 20, Resources::new());
        let Err(Error::Table(TableError::Unsuitable(_))) = refused else { panic!("{name}") };
    }
    let cube = puzzle("3x3x3", Turns::Powers);
    let refused = CosetTable::build(&cube, 100, Resources::new());
    let Err(Error::Table(TableError::Memory(words))) = refused else { panic!("too little") };
    assert!(words.contains("100 B"), "{words}");
}
