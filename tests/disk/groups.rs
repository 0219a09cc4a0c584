//! Levels of several groups, moves without a way back and puzzles that are not bipartite, through chunks.

use super::team::together;
use super::*;
use tilewave::puzzle::formats;
use tilewave::search::PlaneStore;

fn of(name: &str) -> Search {
    search(name).keep_last(20)
}

/// One class of two groups; both parities in one class and in two; lines of one parity; moves without a way back in one
/// class and in two.
const PUZZLES: [&str; 9] =
    ["3x3 mtm", "2x5 mtm", "lrx:8", "lrx:9", "coxeter:9", "stars:9", "topspin:9,4", "lx:8", "lx:9"];

#[test]
fn chunks_find_the_levels_of_memory() {
    for name in PUZZLES {
        let search = of(name);
        let truth = truth(&search);
        // Lines of seven elements have one digit before a block.
        let most = if name.ends_with('8') { 1 } else { 2 };
        for digits in 0..=most {
            for planes in [PlaneStore::Memory, PlaneStore::Files] {
                let disk = on(&Simulated::default(), digits)
                    .commit_every(std::time::Duration::MAX)
                    .planes(planes);
                let found = disk.run(&search).unwrap();
                let what = format!("{name}, K = {digits}, {planes:?}");
                assert_same(&found, &truth, &what);
                let verified = disk::verify(&disk.directories).unwrap();
                let last: u64 = truth.counts.iter().rev().take(2).sum();
                assert!(verified.states >= *truth.counts.last().unwrap(), "{what}");
                assert!(verified.states <= last, "{what}");
            }
        }
    }
}

#[test]
fn a_search_that_is_stopped_goes_on() {
    for name in ["3x3 mtm", "lrx:8", "lx:8", "lx:9", "coxeter:9"] {
        let search = of(name);
        let truth = truth(&search);
        for (planes, keep_all) in [(PlaneStore::Memory, false), (PlaneStore::Files, true)] {
            let directory = Simulated::default();
            let disk = on(&directory, 1).planes(planes).keep_all(keep_all);
            // Other chunks are done at each stop.
            let (found, sessions) =
                in_sessions(&search, |_| disk.clone(), |session| 7 + session % 5);
            let what = format!("{name}, {planes:?}, {sessions} stops");
            assert!(sessions > 5, "{what}");
            assert_same(&found, &truth, &what);
            if keep_all {
                let verified = disk::verify(&disk.directories).unwrap();
                assert_eq!(verified.states, search.space.states().unwrap(), "{what}");
            }
        }
    }
}

#[test]
fn ranks_find_the_levels_of_memory() {
    for name in ["3x3 mtm", "lrx:8", "lx:9", "lx:8"] {
        let search = of(name);
        let truth = truth(&search);
        for ranks in [2, 3] {
            let directory = Simulated::default();
            let found = together(&search, ranks, |_| on(&directory, 1));
            let found = found.unwrap_or_else(|stopped| panic!("{}", stopped.into_error()));
            let what = format!("{name}, {ranks} ranks");
            assert_same(&found, &truth, &what);
        }
    }
}

/// What the directory holds is another search.
#[test]
fn another_metric_and_other_moves_are_refused() {
    let same_name = |text: &str| {
        let counting = None;
        Search::of(StateSpace::of_puzzle(formats::read("test.gap", text, counting).unwrap()))
    };
    let stm = search("3x3");
    let first = "A:=(1,2,3,4,5,6,7,8,9);\nB:=(1,2);\nGen:=[A,B];";
    let second = "A:=(1,2,3,4,5,6,7,8,9);\nB:=(1,3);\nGen:=[A,B];";
    let cases = [
        (of("3x3 mtm"), stm.clone(), "metric: mtm, not stm"),
        (stm, of("3x3 mtm"), "metric: stm, not mtm"),
        (same_name(first), same_name(second), "hash of the moves: "),
        (of("lrx:9"), of("lx:9"), "lrx:9, not lx:9"),
    ];
    for (held, asked, said) in cases {
        let disk = on(&Simulated::default(), 1);
        run_some(&held, &disk, 5);
        let before = disk.directories.manifest().unwrap();
        let error = disk.run(&asked).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        assert_eq!(disk.directories.manifest().unwrap(), before);
        let (found, ..) = disk::search(&disk.directories).unwrap();
        let held = tilewave::puzzle::Searched::Numbered(held.space);
        assert_eq!(found, held);
        assert_eq!(disk::status(&disk.directories).unwrap().searched, held);
    }
}

/// The states seen lie beside the levels; damage there is found like any other.
#[test]
fn damage_to_the_states_seen_is_found() {
    use tilewave::internals::{LevelReader, RunFile};
    let search = of("lx:9");
    let directory = Simulated::default();
    let mut disk = on(&directory, 1).keep_all(true);
    run_some(&search, &disk, 9 * 20);
    let manifest = disk.directories.manifest().unwrap().unwrap();
    let depth = manifest.levels.len() as u32 - 1;
    let chunk = manifest.files_of(depth).unwrap().chunks[0].chunk;
    let name = RunFile::Level { depth, chunk }.name();
    let reader = LevelReader::open(directory.open(&name).unwrap()).unwrap();
    let seen = reader.index.iter().find(|entry| entry.frame % 2 == 1);
    let at = seen.unwrap().offset as usize;
    directory.damage(&name, |bytes| bytes[at] ^= 1);
    let error = disk::verify(&disk.directories).unwrap_err();
    assert!(error.to_string().contains(&name), "{error}");
    let error = disk.run(&search).unwrap_err();
    assert!(error.to_string().contains(&name), "{error}");
    disk.check = true;
    let found = disk.run(&search).unwrap();
    assert_same(&found, &truth(&search), "computed again");
}

#[test]
fn a_lost_manifest_is_rebuilt() {
    use tilewave::internals::MANIFEST;
    for name in ["3x3 mtm", "lrx:9", "lx:9", "lx:8"] {
        let search = of(name);
        let directory = Simulated::default();
        let disk = on(&directory, 1).keep_all(true);
        run_some(&search, &disk, 100);
        directory.remove(MANIFEST).unwrap();
        let repaired = disk::repair(&disk.directories, disk.patience).unwrap();
        assert!(repaired.manifest.levels.len() > 3, "{name}");
        let found = disk.run(&search).unwrap();
        assert_same(&found, &truth(&search), name);
    }
}

#[test]
fn what_needs_whole_levels_is_refused() {
    let disk = on(&Simulated::default(), 1);
    let error = disk.run(&of("pancake:9")).unwrap_err();
    assert!(error.to_string().contains("only in memory"), "{error}");
    assert!(disk.directories.manifest().unwrap().is_none());
}
