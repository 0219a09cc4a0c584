//! Pruning tables: against plain searches, in files, read by others; and solutions by them.

mod limits;

use std::process::Command;

use tilewave::{
    Mapped, NoProgress, Resources,
    progress::StopWhen,
    pruning::PruningTable,
    puzzle::{
        Arrangement, Move, PieceSet, Puzzle, SetAction, Transformation, Turns, Variant, named,
    },
    random::SplitMix64,
    solve::{PhaseSolver, PuzzleSolver, StateSolver},
    table::{TableEncoding, TableError},
};

use crate::cli::stdout as succeeds;
use crate::pdb::interop;
use crate::program::{run, tilewave};

/// Runs the program, which must fail; returns what it says.
pub fn fails(args: &[&str]) -> String {
    let done = run(&mut tilewave(args));
    let said = done.out + &done.err;
    assert!(matches!(done.code, Some(1 | 2)), "{args:?}: {said}");
    said
}

fn whole(name: &str, turns: Turns) -> Puzzle {
    named::parse(name).unwrap().counting(turns).unwrap()
}

/// The words of a line, and more of them.
fn words_of<'a>(line: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    line.split(' ').chain(more.iter().copied()).collect()
}

fn words(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).into()).collect()
}

fn keep(puzzle: Puzzle, names: &[&str]) -> Puzzle {
    puzzle.keeping(&words(names)).unwrap()
}

/// Two wheels of pieces in one set that no move connects, some alike; and a set in which both turn.
fn odd_puzzle() -> Puzzle {
    let mut wheels = PieceSet::distinct("wheels", 8, 3);
    for (piece, kind) in wheels.solved.iter_mut().zip([0, 1, 1, 2, 3, 4, 4, 4]) {
        piece.kind = kind;
    }
    wheels.moduli = vec![3, 3, 3, 1, 3];
    let ring = PieceSet::distinct("ring", 5, 1);
    let turn =
        |source: &[u8], twist: &[u8]| SetAction { source: source.into(), twist: twist.into() };
    let one = |name: &str, turns| Move {
        name: name.into(),
        transformation: Transformation(turns),
        requires: None,
    };
    let moves = vec![
        one(
            "A",
            vec![
                turn(&[1, 2, 3, 0, 4, 5, 6, 7], &[1, 0, 2, 0, 0, 0, 0, 0]),
                turn(&[1, 0, 2, 3, 4], &[0; 5]),
            ],
        ),
        one(
            "B",
            vec![
                turn(&[0, 1, 2, 3, 5, 6, 7, 4], &[0, 0, 0, 0, 1, 1, 0, 0]),
                turn(&[1, 2, 3, 4, 0], &[0; 5]),
            ],
        ),
    ];
    Puzzle::new("odd", vec![wheels, ring], moves).unwrap().with_powers().unwrap()
}

/// Puzzles of every kind of digit.
fn puzzles() -> Vec<Puzzle> {
    let edges = keep(whole("3x3x3", Turns::Powers), &["edges"]);
    vec![
        keep(whole("3x3x3", Turns::Powers), &["edges:1-4"]),
        edges.alike(&words(&["edges:1-3", "edges:4-12"])).unwrap(),
        keep(whole("3x3x3", Turns::Quarter), &["corners"]).alike(&words(&["corners:1-5"])).unwrap(),
        whole("pyraminx", Turns::Powers),
        keep(whole("2x2x2", Turns::Directed), &["corners:1-4"]),
        keep(whole("skewb", Turns::Powers), &["corners:1-3", "centres"]),
        odd_puzzle(),
    ]
}

/// Puzzles with fewer states than take seconds, for tests that fill each table several times.
fn small(puzzles: Vec<Puzzle>) -> impl Iterator<Item = Puzzle> {
    puzzles.into_iter().filter(is_small)
}

fn is_small(puzzle: &Puzzle) -> bool {
    puzzle.states().is_some_and(|states| states < 600_000u32.into())
}

fn build(puzzle: &Puzzle, size: TableEncoding) -> PruningTable {
    PruningTable::build(puzzle, size, Resources::new()).unwrap()
}

/// States after random moves, and how many moves those were.
fn mixed(puzzle: &Puzzle, count: usize) -> Vec<Arrangement> {
    let mut random = SplitMix64::new(11);
    let mut state = puzzle.solved();
    let mut states = Vec::new();
    for _ in 0..count {
        for _ in 0..random.draw() % 12 {
            let one = random.draw() as usize % puzzle.moves().len();
            state = puzzle.moved(&state, one).unwrap_or(state);
        }
        states.push(state.clone());
    }
    states
}

#[test]
fn every_entry_follows_from_its_neighbours() {
    for puzzle in puzzles() {
        let sizes: &[TableEncoding] = match (puzzle.is_directed(), is_small(&puzzle)) {
            (true, _) => &[],
            (false, true) => &[TableEncoding::Mod3, TableEncoding::Nibble],
            (false, false) => &[TableEncoding::Mod3],
        };
        let truth = build(&puzzle, TableEncoding::Byte);
        truth.verify(&NoProgress).unwrap();
        for &size in sizes {
            let table = build(&puzzle, size);
            table.verify(&NoProgress).unwrap();
            assert_eq!(table.histogram(), truth.histogram());
            for state in mixed(&puzzle, 50) {
                assert_eq!(table.depth(&state).unwrap(), truth.depth(&state).unwrap(), "{puzzle}");
            }
        }
    }
}

/// The last value before that of entries without a state.
#[test]
fn four_bits_hold_depth_14() {
    let cube = whole("2x2x2", Turns::Quarter);
    let table = PruningTable::build_narrow(&cube, Resources::new(), &NoProgress).unwrap();
    assert_eq!(table.encoding(), TableEncoding::Nibble);
    // The published count (J. Scherphuis, www.jaapsch.net/puzzles/cube2.htm).
    assert_eq!((table.histogram().len(), table.histogram().last()), (15, Some(&276)));
}

/// Puzzles with symmetries: of places, of turns, of sets of pieces that look alike, of sets that become each other.
fn symmetric_puzzles() -> Vec<Puzzle> {
    let cube = |turns| whole("3x3x3", turns);
    let phase = keep(cube(Turns::Powers), &["corners", "edges"]);
    let slice = ["corners", "edges:1-4+9-12", "edges:5-8"];
    vec![
        keep(cube(Turns::Powers), &["edges:1-4"]),
        phase.unoriented(&words(&["edges"])).unwrap().alike(&words(&slice)).unwrap(),
        keep(cube(Turns::Quarter), &["edges"]).alike(&words(&["edges"])).unwrap(),
        whole("pyraminx", Turns::Powers),
        whole("2x2x2", Turns::Powers),
        keep(whole("skewb", Turns::Powers), &["corners"]),
        whole("skewb", Turns::Powers),
        keep(cube(Turns::Powers), &["corners:1-2", "edges:1"]),
    ]
}

fn up_to_symmetry_of(puzzle: &Puzzle, size: TableEncoding) -> Option<PruningTable> {
    let built = PruningTable::build_with(puzzle, (size, true), Resources::new(), &NoProgress);
    match built {
        Ok(table) => Some(table),
        Err(tilewave::Error::Table(TableError::NoSymmetry { .. })) => None,
        Err(error) => panic!("{puzzle}: {error}"),
    }
}

#[test]
fn tables_up_to_symmetry_say_what_whole_ones_say() {
    let mut reduced = Vec::new();
    for puzzle in small(puzzles()).chain(symmetric_puzzles()) {
        let truth = build(&puzzle, TableEncoding::Byte);
        let sizes = [TableEncoding::Mod3, TableEncoding::Nibble, TableEncoding::Byte];
        let few = truth.entries() < 200_000;
        let asked = |size: &TableEncoding| match size {
            TableEncoding::Nibble => true,
            TableEncoding::Mod3 => few && !puzzle.is_directed(),
            TableEncoding::Byte => few,
        };
        for size in sizes.into_iter().filter(asked) {
            let Some(table) = up_to_symmetry_of(&puzzle, size) else { continue };
            assert_eq!(table.histogram(), truth.histogram(), "{puzzle}");
            assert!(table.symmetries() > 1 && table.entries() < truth.entries(), "{puzzle}");
            let fewest = truth.entries() / table.symmetries() as u64;
            assert!(table.entries() >= fewest, "{puzzle}");
            reduced.push(fewest as f64 / table.entries() as f64);
            table.verify(&NoProgress).unwrap();
            for state in mixed(&puzzle, 300) {
                assert_eq!(table.depth(&state).unwrap(), truth.depth(&state).unwrap(), "{puzzle}");
            }
        }
    }
    // Most are nearly as small as they can be.
    assert!(reduced.len() >= 13, "{reduced:?}");
    assert!(reduced.iter().filter(|&&share| share > 0.8).count() >= 10, "{reduced:?}");
}

/// Of every way to fill a table the file is the one of a table in memory; and one is filled in less memory than it
/// takes.
#[test]
fn tables_on_disk_are_those_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let (path, truth) = (dir.path().join("on.table"), dir.path().join("in.table"));
    let each = small(puzzles()).map(|puzzle| (puzzle, false));
    let symmetric = small(symmetric_puzzles()).map(|puzzle| (puzzle, true));
    for (puzzle, up_to_symmetry) in each.chain(symmetric) {
        let size = TableEncoding::Byte;
        let table = match up_to_symmetry {
            true => up_to_symmetry_of(&puzzle, size),
            false => Some(build(&puzzle, size)),
        };
        let Some(table) = table else { continue };
        table.save(&truth, true).unwrap();
        let resources = Resources::new().memory(table.file_bytes() - 1);
        let kind = (size, up_to_symmetry);
        let refused = PruningTable::build_with(&puzzle, kind, resources, &NoProgress);
        assert!(refused.unwrap_err().to_string().contains("in its file"));
        // The search by lists has its own needs.
        let resources = Resources::new();
        let built =
            PruningTable::build_on_disk(&puzzle, kind, (&path, true), resources, &NoProgress);
        let built = built.unwrap();
        assert_eq!(built.histogram(), table.histogram(), "{puzzle}");
        // Who has the table cannot write to its file any more.
        if let Ok(maps) = std::fs::read_to_string("/proc/self/maps") {
            let is_own = |line: &&str| line.contains("on.table");
            assert!(maps.lines().filter(is_own).all(|line| !line.contains("rw-s")), "{maps}");
        }
        let mut states = mixed(&puzzle, 3).into_iter();
        assert!(states.all(|state| built.depth(&state).unwrap() == table.depth(&state).unwrap()));
        assert!(std::fs::read(&path).unwrap() == std::fs::read(&truth).unwrap(), "{puzzle}");
    }
    let puzzle = keep(whole("3x3x3", Turns::Powers), &["edges:1-4"]);
    let stop = StopWhen(|| true);
    let kind = (TableEncoding::Byte, false);
    let stopped = |replace| {
        PruningTable::build_on_disk(&puzzle, kind, (&path, replace), Resources::new(), &stop)
    };
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(
        stopped(true),
        Err(tilewave::Error::System(tilewave::SystemError::Interrupted))
    ));
    assert!(stopped(false).unwrap_err().to_string().contains("exists"));
    assert!(std::fs::read(&path).unwrap() == before);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "something was left");
    let out = dir.path().join("of.table");
    let options = "table 3x3x3 --pieces corners:1-2,edges --ignore-orientation edges --same \
                   edges:1-4+9-12 --same edges:5-8 --encoding byte --memory 100kB --on-disk -o";
    let made = succeeds(&words_of(options, &[out.to_str().unwrap()]));
    assert!(made.contains("249,480 states"), "{made}");
    assert!(out.metadata().unwrap().len() > 240_000);
    succeeds(&["check", "--full", out.to_str().unwrap()]);
    assert!(fails(&["table", "3x3", "--on-disk", "-o", "-"]).contains("--on-disk works only for"));
}

/// The whole puzzle's states are looked up through symmetries of the puzzle and of the projection, and through
/// inverses.
#[test]
fn solutions_by_tables_up_to_symmetry_are_as_short() {
    for (name, sets) in [
        ("2x2x2", &["corners:1-4", "corners"][..]),
        ("pyraminx", &["edges", "corners"]),
        ("skewb", &["centres", "corners,corners2"]),
        ("3x3x3", &["edges:1-4", "corners:1-4"]),
    ] {
        let puzzle = whole(name, Turns::Powers);
        let sizes = [TableEncoding::Nibble, TableEncoding::Mod3];
        // Two puzzles with each size: whole tables take most of the time.
        let sizes =
            if name == "3x3x3" { &sizes[..] } else { &sizes[usize::from(name == "skewb")..][..1] };
        for &size in sizes {
            let tables = |reduced: bool| {
                let of = |set: &&str| {
                    let names: Vec<String> = set.split(',').map(String::from).collect();
                    let kept = puzzle.clone().keeping(&names).unwrap();
                    let small = if reduced { up_to_symmetry_of(&kept, size) } else { None };
                    small.unwrap_or_else(|| build(&kept, size))
                };
                let all: Vec<PruningTable> = sets.iter().map(of).collect();
                assert_eq!(all.iter().any(|table| table.symmetries() > 1), reduced, "{name}");
                PuzzleSolver::new(puzzle.clone(), all).unwrap()
            };
            let solvers = [tables(false), tables(true)];
            let mut random = SplitMix64::new(3);
            for _ in 0..6 {
                let mut state = puzzle.solved();
                for _ in 0..if name == "3x3x3" { 7 } else { 30 } {
                    let one = random.draw() as usize % puzzle.moves().len();
                    state = puzzle.moved(&state, one).unwrap();
                }
                let [plain, reduced] = solvers.each_ref().map(|s| s.solve(&state).unwrap());
                assert_eq!(plain.moves.map(|m| m.len()), reduced.moves.map(|m| m.len()), "{name}");
            }
        }
    }
}

#[test]
fn the_python_reader_agrees() {
    let dir = tempfile::tempdir().unwrap();
    let reader = interop::tools("python/tilewave_pruning.py");
    let all = small(puzzles()).map(|puzzle| (puzzle, false));
    for (puzzle, reduced) in all.chain(small(symmetric_puzzles()).map(|p| (p, true))) {
        let sizes = [TableEncoding::Mod3, TableEncoding::Byte];
        for size in sizes.into_iter().skip(usize::from(puzzle.is_directed())) {
            let path = dir.path().join("some.table");
            let small = if reduced { up_to_symmetry_of(&puzzle, size) } else { None };
            let table = small.unwrap_or_else(|| build(&puzzle, size));
            table.save(&path, true).unwrap();
            let again = PruningTable::load(&path).unwrap();
            assert_eq!(
                (again.symmetries(), again.entries()),
                (table.symmetries(), table.entries())
            );
            let states = mixed(&puzzle, 30);
            let texts: Vec<String> = states.iter().map(|state| puzzle.text(state)).collect();
            let said = interop::run(Command::new("python3").arg(&reader).arg(&path), &texts);
            let depth = |state| table.depth(state).unwrap().unwrap().to_string();
            let expected: Vec<String> = states.iter().map(depth).collect();
            assert_eq!(said, expected, "{puzzle} {size}");
        }
    }
}

/// The file pins version 1 of the format; TILEWAVE_UPDATE=1 writes it again.
#[test]
fn version_1_is_what_it_was() {
    let golden = crate::program::root().join("tests/data/pruning_v1.table");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fresh");
    let puzzle = keep(whole("2x2x2", Turns::Powers), &["corners:1-2"]);
    build(&puzzle, TableEncoding::Nibble).save(&path, false).unwrap();
    let fresh = std::fs::read(path).unwrap();
    if std::env::var_os("TILEWAVE_UPDATE").is_some() {
        std::fs::write(&golden, &fresh).unwrap();
    }
    assert!(std::fs::read(&golden).unwrap() == fresh, "the format changed: raise its version");
    let table = PruningTable::load(&golden).unwrap();
    let (state, _) = table.puzzle().read("R U F").unwrap();
    assert!(table.depth(&state).unwrap().is_some_and(|depth| depth <= 3));
}

#[test]
fn damage_is_found_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cross.table");
    let puzzle = keep(whole("3x3x3", Turns::Powers), &["edges:1-4"]);
    build(&puzzle, TableEncoding::Byte).save(&path, false).unwrap();
    let sound = std::fs::read(&path).unwrap();
    // Header, puzzle, sums, entries.
    for (at, told) in
        [(20, "checksum"), (300, "checksum"), (4100, "index"), (4096 + 30_000, "damaged")]
    {
        let mut bytes = sound.clone();
        bytes[at] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let error = PruningTable::load(&path).unwrap_err().to_string();
        assert!(error.contains(told) && error.contains("cross.table"), "{at}: {error}");
    }
    std::fs::write(&path, &sound).unwrap();
    let table = PruningTable::open(&path).unwrap();
    table.check().unwrap();
    // A table that is read block by block is not searched with.
    let error = PuzzleSolver::new(whole("3x3x3", Turns::Powers), [table]).err().unwrap();
    assert!(error.to_string().contains("load or map it"), "{error}");
    let other = PruningTable::load(&path).unwrap();
    let error = PuzzleSolver::new(whole("3x3x3", Turns::Quarter), [other]);
    // A quarter turn is a move of the table's puzzle as well: it is only weaker.
    assert!(error.is_ok());
    let quarter =
        build(&keep(whole("3x3x3", Turns::Quarter), &["edges:1-4"]), TableEncoding::Nibble);
    let error = PuzzleSolver::new(whole("3x3x3", Turns::Powers), [quarter]).err().unwrap();
    assert!(error.to_string().contains("is not for a projection"), "{error}");
}

/// Positions of 3x3x3 with few moves: exact lengths from the published growth are in reach of a plain search to depth
/// 5.
#[test]
fn cubes_are_solved_in_the_fewest_moves() {
    let cube = whole("3x3x3", Turns::Powers);
    let tables = [["corners:1-5"], ["edges:1-5"]]
        .map(|set| build(&keep(cube.clone(), &set), TableEncoding::Nibble));
    let solver = PuzzleSolver::new(cube, tables).unwrap();
    assert!(solver.views() > 2);
    let solve = |text: &str| {
        let (state, _) = solver.puzzle().read(text).unwrap();
        solver.solve(&state).unwrap()
    };
    for (text, length) in [
        ("", 0),
        ("R R'", 0),
        ("R L R", 2),
        ("U R2 F B R B2 R U2", 8),
        ("R U R' U'", 4),
        ("U2 D2 F2 B2 L2 R2", 6), // the checkerboard
    ] {
        let answer = solve(if text.is_empty() { "U U'" } else { text });
        assert_eq!(answer.moves.unwrap().len(), length, "{text}");
    }
    let state = solver.puzzle().read("R U F L D B R U F L D B R2").unwrap().0;
    let stopped = solver.solve_with(&state, &StopWhen(|| true)).unwrap();
    assert_eq!((stopped.moves, stopped.nodes > 0, stopped.at_least > 5), (None, true, true));
}

/// Tables larger than the memory are mapped.
#[cfg(unix)]
#[test]
#[allow(unsafe_code)]
fn mapped_tables_are_checked_and_solve_as_loaded_ones() {
    use std::os::unix::fs::FileExt;

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("some.table");
    let cube = whole("2x2x2", Turns::Powers);
    build(&keep(cube.clone(), &["corners:1-4"]), TableEncoding::Nibble).save(&path, false).unwrap();
    // SAFETY: nobody shortens the file while it is mapped.
    let map = || PruningTable::map(&path, unsafe { Mapped::open(&path) }.unwrap());
    let loaded = PruningTable::load(&path).unwrap();
    let solvers = [loaded, map().unwrap()].map(|t| PuzzleSolver::new(cube.clone(), [t]).unwrap());
    for state in mixed(&cube, 20) {
        let [loaded, mapped] = solvers.each_ref().map(|solver| solver.solve(&state).unwrap());
        assert_eq!((loaded.moves, loaded.nodes), (mapped.moves, mapped.nodes));
    }
    // What somebody writes into a mapped file is noticed before an answer is given.
    let bytes = std::fs::read(&path).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.write_all_at(&[bytes[bytes.len() - 1] ^ 1], bytes.len() as u64 - 1).unwrap();
    assert!(solvers[1].solve(&cube.solved()).is_err());
    assert!(map().unwrap_err().to_string().contains("damaged"));
}

#[test]
fn answers_do_not_depend_on_threads() {
    let cube = whole("3x3x3", Turns::Powers);
    let tables = [["corners:1-5"], ["edges:1-5"]]
        .map(|set| build(&keep(cube.clone(), &set), TableEncoding::Nibble));
    let solver = PuzzleSolver::new(cube, tables).unwrap();
    let (state, _) = solver.puzzle().read("R U F2 L D' B R' U2 F L2 D B'").unwrap();
    let solved = |threads| {
        let resources = Resources::new().threads(threads);
        let answer = resources.install(|| solver.solve(&state).unwrap()).unwrap();
        (answer.moves, answer.nodes)
    };
    let one = solved(1);
    assert!(one.1 > 100_000, "{one:?}");
    assert_eq!([solved(2), solved(3)], [one.clone(), one]);
}

/// The states and lengths of answers.
fn answered(text: &str) -> Vec<(String, u64)> {
    let line = |line: &str| {
        let answer: serde_json::Value = serde_json::from_str(line).unwrap();
        (answer["state"].as_str().unwrap().to_string(), answer["length"].as_u64().unwrap())
    };
    text.lines().map(line).collect()
}

#[test]
fn sets_for_a_memory_limit_solve_as_the_whole_table_does() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).display().to_string();
    let scrambles = succeeds(&["scramble", "2x2x2", "--count", "20", "--seed", "3"]);
    assert_eq!(scrambles, succeeds(&["scramble", "2x2x2", "--count", "20", "--seed", "3"]));
    let states: Vec<&str> = scrambles.lines().collect();
    let build = ["pdb", "set", "build", "2x2x2", "-M", "200KB", "-o", &file("set")];
    let wrote = succeeds(&build);
    assert!(wrote.contains("2x2x2 corners:1-") && wrote.contains("corners:4-7"), "{wrote}");
    // What is there stays.
    let set = file("set/set.json");
    assert!(fails(&build).contains("set.json"), "{wrote}");
    succeeds(&[&build[..], &["--force"]].concat());
    let whole = file("whole.table");
    succeeds(&["table", "2x2x2", "-o", &whole]);
    let solve = |pdb: &str| {
        let args = ["solve", "2x2x2", "--format", "jsonl", "--pdb", pdb];
        answered(&succeeds(&[&args[..], &states].concat()))
    };
    let lengths = solve(&set);
    assert!(lengths.iter().any(|(_, length)| *length > 7), "{lengths:?}");
    assert_eq!(lengths, solve(&whole));
}

/// The lengths of answers.
fn lengths(args: &[&str], states: &[&str]) -> Vec<u64> {
    let found = answered(&succeeds(&[args, &["--format", "jsonl"], states].concat()));
    found.iter().map(|(_, length)| *length).collect()
}

/// A state is as far from several goals as from the nearest of them.
#[test]
fn several_goals_are_solved() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(file("goals"), "U U'\nU\nR F\n").unwrap();
    let solve = ["solve", "2x2x2", "--cache-dir", &file("cache")];
    let states = ["R U F U", "R2 F' U R", "U", "F R", "U F2 R U' F", "R F U2"];
    let to_any = lengths(&[&solve[..], &["--goals", &file("goals")]].concat(), &states);
    let from = |back: &str| {
        let texts: Vec<String> = states.iter().map(|state| format!("{back} {state}")).collect();
        lengths(&solve, &texts.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let each = [from("U U'"), from("U'"), from("F' R'")];
    let nearest = |i: usize| each.iter().map(|lengths| lengths[i]).min().unwrap();
    assert_eq!(to_any, (0..states.len()).map(nearest).collect::<Vec<_>>());
    assert!(to_any != each[0] && to_any.contains(&0), "{to_any:?}");
}

/// What is given up has the bound of its first phase, which every solution goes through.
#[test]
fn phases_that_are_given_up_have_a_lower_bound() {
    let cube = whole("2x2x2", Turns::Powers);
    let one = |puzzle: &Puzzle| {
        let corner = puzzle.clone().keeping(&words(&["corners:1"])).unwrap();
        Ok::<_, tilewave::Error>(vec![build(&corner, TableEncoding::Nibble)])
    };
    let via = Variant { pieces: words(&["corners:1-4"]), ..Variant::default() };
    let solver = PhaseSolver::new(cube, &[via], one).unwrap();
    let (state, _) = solver.puzzle().read("R U F' R2 U F R U' F2").unwrap();
    let stopped = solver.solve_with(&state, &StopWhen(|| true)).unwrap();
    assert_eq!((stopped.moves, stopped.at_least > 0), (None, true));
}

/// Compares the lengths of solutions of random states of a family by different tables: pruning tables of some of its
/// pieces, each set of which is used together, and, if told, the distances of the reference engine.
fn family_is_solved(family: &str, states: [&str; 2], sets: &[&[&str]], by_distances: bool) {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).display().to_string();
    let [count, seed] = states;
    let scrambles = succeeds(&["scramble", family, "--count", count, "--seed", seed]);
    let states: Vec<&str> = scrambles.lines().collect();
    let mut found = Vec::new();
    for set in sets {
        let mut args = vec!["solve".to_string(), family.into()];
        for pieces in *set {
            let (table, pieces) = (file(pieces), format!("positions:{pieces}"));
            let options = ["--pieces", &pieces, "--encoding", "byte", "--force", "-o", &table];
            succeeds(&[&["table", family][..], &options].concat());
            args.extend(["--pdb".into(), table]);
        }
        found.push(lengths(&args.iter().map(String::as_str).collect::<Vec<_>>(), &states));
    }
    if by_distances {
        let table = file("distances.table");
        succeeds(&["table", family, "-o", &table]);
        found.push(lengths(&["solve", "--table", &table], &states));
    }
    assert!(found.len() > 1 && found.iter().all(|lengths| *lengths == found[0]), "{family}");
}

#[test]
fn families_are_solved_in_the_fewest_moves() {
    for family in ["lrx:8", "pancake:8", "topspin:9,4"] {
        family_is_solved(family, ["25", "7"], &[&["1-5"], &["4-8"]], true);
    }
}

#[test]
#[ignore = "three minutes and 3 GB: cargo test --release --test suite -- --ignored a_hundred_states"]
fn a_hundred_states_of_large_families() {
    let states = ["100", "1"];
    family_is_solved("lrx:12", states, &[&["1-7", "6-12"]], true);
    family_is_solved("pancake:16", states, &[&["1-7", "10-16"], &["1-6", "9-16"]], false);
    family_is_solved("topspin:16,4", states, &[&["1-7", "8-14"], &["1-6", "9-16"]], false);
}
