//! Tables at their limits: the deepest that a file holds, the memory of a build, and an observer that stops early.

use tilewave::{
    NoProgress, Resources,
    progress::StopWhen,
    pruning::PruningTable,
    puzzle::{Move, PieceSet, Puzzle, SetAction, Transformation, Turns, named},
    solve::PuzzleSolver,
    table::{TableEncoding, TableError},
};

use super::{fails, keep, succeeds, whole, words_of};

/// Rings that one move turns together, of each of which one piece is told from the others: the states are a ring as
/// long as the least common multiple, and the deepest is half as deep.
fn rings(lengths: &[u8]) -> Puzzle {
    let names = ["A", "B"];
    let ring = |(name, &length): (&&str, &u8)| PieceSet::distinct(*name, length, 1);
    let turn = |&length: &u8| {
        let mut turn = SetAction::still(length.into());
        turn.source.rotate_left(1);
        turn
    };
    let transformation = Transformation(lengths.iter().map(turn).collect());
    let one = Move { name: "m".into(), transformation, requires: None };
    let puzzle = Puzzle::new("rings", names.iter().zip(lengths).map(ring).collect(), vec![one]);
    let kept: Vec<String> = names.iter().take(lengths.len()).map(|n| format!("{n}:1")).collect();
    puzzle.unwrap().counting(Turns::Quarter).unwrap().keeping(&kept).unwrap()
}

#[test]
fn depths_up_to_254_are_built_kept_and_used() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rings.table");
    let puzzle = rings(&[4, 127]);
    for size in [TableEncoding::Mod3, TableEncoding::Byte] {
        let table = PruningTable::build(&puzzle, size, Resources::new()).unwrap();
        let mut counts = vec![2; 255];
        (counts[0], counts[254]) = (1, 1);
        assert_eq!(table.histogram(), counts, "{size}");
        table.verify(&NoProgress).unwrap();
        table.save(&path, true).unwrap();
        let table = PruningTable::load(&path).unwrap();
        let mut state = puzzle.solved();
        let mut states = Vec::new();
        for turns in 0..508 {
            assert_eq!(table.depth(&state).unwrap(), Some(turns.min(508 - turns)), "{size}");
            states.push(state.clone());
            state = puzzle.moved(&state, 0).unwrap();
        }
        let solver = PuzzleSolver::new(puzzle.clone(), [table]).unwrap();
        for turns in [0, 1, 253, 254, 255, 507] {
            let moves = solver.solve(&states[turns]).unwrap().moves.unwrap();
            assert_eq!(moves.len(), turns.min(508 - turns), "{size}");
        }
    }
}

#[test]
fn deeper_tables_are_refused_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rings.table");
    // Depths 255, 333 and 573.
    for lengths in [[5, 102], [23, 29], [31, 37]] {
        let puzzle = rings(&lengths);
        for size in TableEncoding::ALL {
            let on_disk = PruningTable::build_on_disk(
                &puzzle,
                (size, false),
                (&path, false),
                Resources::new(),
                &NoProgress,
            );
            let in_memory = PruningTable::build(&puzzle, size, Resources::new());
            for error in [on_disk.unwrap_err(), in_memory.unwrap_err()] {
                let most = if size == TableEncoding::Nibble { 14 } else { 254 };
                let tilewave::Error::Table(TableError::TooDeep { depth, max }) = error else {
                    panic!("{lengths:?} {size}: {error}");
                };
                assert_eq!((depth, max), (most + 1, most), "{lengths:?} {size}");
                // Only where it helps.
                let advised = error.to_string().contains("use encoding byte");
                assert_eq!(advised, most == 14, "{lengths:?} {size}: {error}");
            }
        }
        assert!(PruningTable::build_narrow(&puzzle, Resources::new(), &NoProgress).is_err());
    }
    let file = dir.path().join("rings.gap");
    let ring = |of: std::ops::RangeInclusive<u16>| {
        format!("({})", of.map(|point| point.to_string()).collect::<Vec<_>>().join(","))
    };
    std::fs::write(&file, format!("A:={}{};\nGen:=[A];\n", ring(1..=31), ring(32..=68))).unwrap();
    let [file, path] = [&file, &path].map(|path| path.to_str().unwrap());
    for size in ["mod3", "byte"] {
        let options = "--pieces PIECES:1,PIECES2:1 --metric qtm --quiet -o";
        let error =
            fails(&words_of("table", &words_of(options, &[path, file, "--encoding", size])));
        assert!(error.contains("at most 254: no encoding holds more"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "something was written");
}

/// The search by lists asks for the level behind the last one, which is empty.
#[test]
fn a_list_search_fills_four_bits_to_depth_14() {
    let ring = rings(&[29]);
    let table = PruningTable::build_narrow(&ring, Resources::new(), &NoProgress).unwrap();
    assert_eq!((table.encoding(), table.histogram().len()), (TableEncoding::Nibble, 15));
    let deeper = rings(&[31]);
    let table = PruningTable::build_narrow(&deeper, Resources::new(), &NoProgress).unwrap();
    assert_eq!((table.encoding(), table.histogram().len()), (TableEncoding::Byte, 16));
}

/// Tables that are chosen for a memory limit are built within it.
#[test]
fn quick_projections_fit_in_the_memory() {
    for name in ["3x3x3", "4x4x4", "5x5x5", "megaminx"] {
        let puzzle = whole(name, Turns::Powers);
        for memory in [200_000, 6_000_000] {
            let chosen = PruningTable::quick_projections(&puzzle, Some(memory)).unwrap();
            assert!(!chosen.is_empty());
            for projection in chosen {
                let resources = Resources::new().memory(memory);
                let table = PruningTable::build_narrow(&projection, resources, &NoProgress);
                assert!(table.is_ok(), "{projection} in {memory} bytes: {:?}", table.err());
            }
        }
        let error = PruningTable::quick_projections(&puzzle, Some(7)).unwrap_err().to_string();
        assert!(error.contains("but the limit is 7 B"), "{error}");
        // Without a limit nothing has changed.
        let unlimited = PruningTable::default_projections(&puzzle, None).unwrap();
        let much = PruningTable::quick_projections(&puzzle, Some(1 << 40)).unwrap();
        assert_eq!(much, unlimited, "{name}");
    }
}

#[test]
fn a_short_scramble_of_a_large_cube_needs_little_memory() {
    for (cube, moves) in [("4x4x4", "L2 2L2 F2 R' F"), ("5x5x5", "R 2U")] {
        let found = succeeds(&["solve", cube, moves, "--no-cache", "--memory", "40MB", "--quiet"]);
        let length = moves.split(' ').count();
        assert!(found.contains(&format!("  {length} moves  ")), "{found}");
    }
    let said = fails(&["solve", "3x3x3", "R", "--memory", "10B", "--no-cache", "--quiet"]);
    assert!(said.contains("but the limit is 10 B") && said.contains("--memory"), "{said}");
    let said = fails(&["solve", "3x3x3", "R", "--memory", "1GB", "--pdb", "some.table"]);
    assert!(said.contains("--memory"), "{said}");
    let said = fails(&["solve", "1 2 3/4 5 6/7 8 0", "--fast", "--memory", "1GB"]);
    assert!(said.contains("leave out --memory"), "{said}");
}

/// Before the memory of a table is asked for, the numbers of its entries are found: that takes time, too.
#[test]
fn an_observer_stops_the_choice_of_numbers() {
    let puzzle = keep(named::parse("3x3x3").unwrap().counting(Turns::Powers).unwrap(), &["edges"]);
    let resources = Resources::new().memory(1);
    let stop = StopWhen(|| true);
    let kind = (TableEncoding::Mod3, true);
    let built = PruningTable::build_with(&puzzle, kind, resources, &stop);
    assert!(
        matches!(built, Err(tilewave::Error::System(tilewave::SystemError::Interrupted))),
        "{:?}",
        built.err()
    );
}

/// A table for which there is no memory is mapped. The limit is on memory that is allocated, not on maps of files.
#[test]
#[cfg(target_os = "linux")]
fn a_table_larger_than_the_memory_is_mapped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("corners.table");
    let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers).unwrap();
    let table =
        PruningTable::build(&keep(cube, &["corners"]), TableEncoding::Byte, Resources::new());
    let table = table.unwrap();
    table.save(&path, true).unwrap();
    let mut limited = std::process::Command::new("sh");
    limited.args([
        "-c",
        &format!("ulimit -d {}; exec \"$0\" \"$@\"", table.file_bytes() / 1024 * 2 / 3),
    ]);
    limited.arg(crate::program::binary());
    limited.args(["solve", "3x3x3", "R U F", "-v", "-j", "1", "--pdb"]).arg(&path);
    let done = crate::program::run(&mut limited);
    assert!(done.ok() && done.err.contains("memory-mapped"), "{}", done.err);
}
