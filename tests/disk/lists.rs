//! Searches by lists on disk: the same levels as in memory, whatever is cut, killed or broken.

use std::time::Duration;

use super::team::refused;
use super::threads::ranks;
use super::*;
use tilewave::frontier::FrontierSearch;
use tilewave::internals::{LevelRecord, MANIFEST, Manifest, PREVIOUS};
use tilewave::puzzle::named;
use tilewave::puzzle::{Puzzle, Turns};
use tilewave::search::Stop;

/// A search of a board, a family or a named puzzle, in bitmaps if that comes first; `depth` after a comma.
fn of(name: &str) -> FrontierSearch {
    let (name, depth) = name.split_once(',').map_or((name, None), |(n, d)| (n, d.parse().ok()));
    let name = match name.strip_prefix("bitmaps ") {
        Some(name) => return of(name).bitmaps(true).max_depth(depth),
        None => name,
    };
    let puzzle = match named::parse(name) {
        Some(puzzle) => puzzle.counting(Turns::Powers).unwrap(),
        None => Puzzle::of_space(&search(name).space).unwrap(),
    };
    FrontierSearch::new(puzzle).max_depth(depth).threads(1)
}

/// A board, without symmetries, with some; pieces that turn; moves that have no way back; levels that end and do not; and
/// bitmaps.
const PUZZLES: [&str; 8] = [
    "2x4",
    "3x3",
    "lx:7",
    "pyraminx,6",
    "2x2x2,6",
    "skewb,5",
    "bitmaps 2x2x2",
    "bitmaps pyraminx,5",
];

/// What a search finds whose levels are nowhere; bitmaps have checksums of their own.
fn truth_of(search: &FrontierSearch) -> Outcome {
    let mut lists = search.clone().bitmaps(false).run().unwrap();
    if search.bitmaps {
        let bitmaps = on_disk(&Simulated::default()).run(search).unwrap();
        lists.checksums.clone_from(&bitmaps.checksums);
        if bitmaps.reduced().is_none() {
            // Not all symmetries are those of a product.
            lists.lists.as_mut().unwrap().reduced = None;
        }
        assert_same(&bitmaps, &lists, "bitmaps");
    }
    lists
}

fn on_disk(directory: &Simulated) -> Disk {
    on(directory, 0).shared_digits(None)
}

#[test]
fn lists_on_disk_are_those_of_memory() {
    for name in PUZZLES {
        let search = of(name);
        let truth = truth_of(&search);
        for (keep_all, memory, threads) in
            [(false, None, 1), (true, Some(1 << 16), 2), (false, Some(1 << 16), 1)]
        {
            let directory = Simulated::default();
            let disk = on_disk(&directory).keep_all(keep_all);
            let search = search.clone().memory(memory).threads(threads);
            let found = disk.run(&search).unwrap();
            assert_same(&found, &truth, &format!("{name} {keep_all} {memory:?}"));
            let verified = disk::verify(&disk.directories).unwrap();
            let stored = match search.max_depth {
                Some(depth) => depth + usize::from(search.bitmaps),
                None => truth.counts.len(),
            };
            let kept = match keep_all || search.puzzle().is_directed() {
                true => stored,
                // The level behind the deepest one takes the place of the last but one; bitmaps need none.
                false => 2 - usize::from(truth.complete && !search.bitmaps),
            };
            let states = truth.counts[..stored].iter().rev().take(kept);
            assert_eq!(verified.states, states.sum::<u64>(), "{name}");
            // Asked again it is all there.
            let again = disk.run(&search).unwrap();
            assert_same(&again, &truth, name);
            let status = disk::status(&disk.directories).unwrap();
            let ended = (status.manifest.complete, status.depth.is_none());
            assert_eq!(ended, (truth.complete, truth.complete));
        }
    }
}

/// What was counted is stored when more is asked for, and what was stored serves to count.
#[test]
fn a_search_goes_deeper_and_counts_ahead() {
    for name in ["3x3x3", "pyraminx", "2x4"] {
        let [short, long] = [4, 6].map(|depth| of(&format!("{name},{depth}")));
        let truth = long.run().unwrap();
        for (ahead_first, ahead_then) in [(0, 0), (1, 0), (0, 1), (2, 2), (0, 2), (3, 1), (0, 3)] {
            // The largest of them with some.
            if name == "3x3x3" && ahead_first + ahead_then != 1 {
                continue;
            }
            let directory = Simulated::default();
            let disk = on_disk(&directory);
            let first = short.clone().count_ahead(ahead_first);
            let found = disk.run(&first).unwrap();
            assert_eq!(found.counts, truth.counts[..5], "{name}");
            assert_eq!(found.checksums, truth.checksums[..5], "{name}");
            assert_eq!(found.reduced(), truth.reduced().map(|of| &of[..5]), "{name}");
            disk::verify(&disk.directories).unwrap();
            let then = long.clone().count_ahead(ahead_then);
            // Later and later: many stops take long.
            let (stop, mut asks) = (StopAfter::asks(20), 20);
            while let Err(error) = disk.run_with(&then, &stop) {
                let error = error.to_string();
                assert!(error.contains("Nothing is lost"), "{error}");
                assert!(error.contains("--max-depth 6"), "{error}");
                let told = format!(" --count-ahead={ahead_then}");
                assert_eq!(error.contains(&told), ahead_then > 0, "{error}");
                asks += 20;
                stop.asks.store(asks, Ordering::Relaxed);
                disk::verify(&disk.directories).unwrap();
            }
            assert!(asks > 100 || name != "3x3x3", "{ahead_first} {ahead_then}: {asks}");
            let found = disk.run(&then).unwrap();
            assert_same(&found, &truth, &format!("{name} {ahead_first} {ahead_then}"));
        }
    }
}

#[test]
fn a_search_by_lists_that_is_stopped_goes_on() {
    for name in PUZZLES.into_iter().filter(|name| *name != "3x3") {
        let search = of(name);
        let truth = truth_of(&search);
        let directory = Simulated::default();
        let asks = |session| 3 + 60 * (session % 5);
        let (found, sessions) = in_sessions(&search, |_| on_disk(&directory), asks);
        assert!(sessions > 0, "{name}: {sessions}");
        assert_same(&found, &truth, &format!("{name}, {sessions} stops"));
    }
}

#[test]
fn a_cut_at_a_sync_loses_no_lists() {
    for (name, keep_all, stride) in [
        ("2x4", false, 17),
        ("lx:7", false, 41),
        ("2x2x2,5", true, 13),
        ("bitmaps 2x2x2,5", false, 397),
    ] {
        let search = of(name);
        let truth = truth_of(&search);
        let disk = |directory: &Simulated| on_disk(directory).keep_all(keep_all);
        super::cuts::survives_cuts((&search, &truth), disk, (60, stride, 8), name);
    }
}

/// A bit that changes in any file of lists is found by a check, and by a search that reads the list.
#[test]
fn damaged_lists_are_found_and_computed_again() {
    for (name, keep_all) in [
        ("2x2x2,6", false),
        ("2x2x2,6", true),
        ("bitmaps pyraminx,6", false),
        ("bitmaps pyraminx,6", true),
    ] {
        let search = of(name);
        let truth = truth_of(&search);
        let directory = Simulated::default();
        let disk = on_disk(&directory).keep_all(keep_all);
        let short = search.clone().max_depth(5);
        disk.run(&short).unwrap();
        let files = level_files(&directory);
        let len = |name: &str| directory.open(name).unwrap().len() as usize;
        assert!(files.len() > 2, "{files:?}");
        // A search by bitmap has a hundred times as many.
        let some = if search.bitmaps { files.len() / 2 } else { 1 };
        for (number, name) in files.iter().enumerate().step_by(some) {
            for bit in (number * 7..8 * len(name)).step_by(8 * len(name) / 5 + 11) {
                let broken = directory.copy();
                broken.damage(name, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
                let disk = on_disk(&broken).keep_all(keep_all);
                let what = format!("{name}, bit {bit}");
                let error = disk::verify(&disk.directories).expect_err(&what);
                assert!(error.to_string().contains(name.as_str()), "{what}: {error}");
                // A bitmap before the last one is not read again, and removed.
                let mut gone = false;
                match disk.run(&search) {
                    // A level before the last two is not read again.
                    Ok(found) => {
                        assert_same(&found, &truth, &what);
                        gone = search.bitmaps && !keep_all;
                    }
                    Err(error) => {
                        assert!(error.to_string().contains(name.as_str()), "{what}: {error}");
                    }
                }
                let disk = on_disk(&broken).keep_all(keep_all).check(true);
                match (keep_all, disk.run(&search)) {
                    (false, found) if !gone => drop(found.expect_err(&what)),
                    (_, found) => assert_same(&found.expect(&what), &truth, &what),
                }
            }
        }
    }
}

#[test]
fn a_lost_manifest_of_lists_is_rebuilt() {
    let ways = [(true, false), (false, true), (true, true)];
    for (name, (keep_all, previous)) in
        ["2x4", "bitmaps pyraminx,6"].map(|n| ways.map(|way| (n, way))).concat()
    {
        let search = of(name);
        let truth = truth_of(&search);
        for asks in (15..70).step_by(11) {
            let directory = Simulated::default();
            let disk = on_disk(&directory).keep_all(keep_all);
            disk.run_with(&search, &StopAfter::asks(asks)).unwrap_err();
            let lost = Manifest::read(&directory).unwrap().unwrap();
            directory.remove(MANIFEST).unwrap();
            if !previous {
                directory.remove(PREVIOUS).unwrap();
            }
            let what = format!("{keep_all}, {previous}, {asks} asks");
            let repaired = disk::repair(&disk.directories, Duration::ZERO).expect(&what);
            let known = &repaired.manifest.levels;
            assert!(known.len() + 1 >= lost.levels.len(), "{what}");
            for (own, lost) in known.iter().zip(&lost.levels) {
                assert_eq!(own.tally(), lost.tally(), "{what}");
                let counts = |of: &LevelRecord| of.lists.map(|lists| (lists.reduced, lists.kept));
                assert_eq!(counts(own), counts(lost), "{what}");
            }
            let found = disk.run(&search).expect(&what);
            assert_same(&found, &truth, &what);
        }
    }
}

#[test]
fn a_search_of_something_else_is_refused() {
    let directory = Simulated::default();
    let disk = on_disk(&directory);
    disk.run(&of("2x2x2,3")).unwrap();
    let before = disk.directories.manifest().unwrap();
    let refused = |search: &FrontierSearch, words: &str| {
        let error = disk.run(search).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert_eq!(disk.directories.manifest().unwrap(), before);
    };
    refused(&of("pyraminx,3"), "board: 2x2x2, not pyraminx");
    refused(&of("2x2x2,3").symmetry(false), "symmetries: used, not none");
    let quarter = named::parse("2x2x2").unwrap().counting(Turns::Quarter).unwrap();
    refused(&FrontierSearch::new(quarter), "hash of the moves: ");
    let error = on(&directory, 0).run(&search("2x4")).unwrap_err().to_string();
    assert!(error.contains("board: 2x2x2, not 2x4"), "{error}");
    let sweep = Simulated::default();
    run_some(&search("2x4"), &on(&sweep, 0), 5);
    let error = on_disk(&sweep).run(&of("2x4")).unwrap_err().to_string();
    assert!(error.contains("contains another search ("), "{error}");
}

/// Ranks that share a directory find the levels of one process and leave its files, run numbers aside.
#[test]
fn ranks_leave_the_lists_of_one_process() {
    for name in PUZZLES {
        let search = of(name);
        let truth = truth_of(&search);
        let one = Simulated::default();
        on_disk(&one).run(&search).unwrap();
        for (size, every) in [(1, 0), (2, 10), (3, 0)] {
            let directory = Simulated::default();
            let disk = || on_disk(&directory).commit_every(Duration::from_secs(every));
            let found = ranks(size, |team| {
                disk().run_distributed_with(&search, team, &NoProgress).unwrap()
            });
            let what = format!("{name}, {size} ranks");
            found.iter().for_each(|found| assert_same(found, &truth, &what));
            let sizes = |directory: &Simulated| {
                let size = |name: String| (directory.open(&name).unwrap().len(), name);
                level_files(directory).into_iter().map(size).collect::<Vec<_>>()
            };
            assert_eq!(sizes(&directory), sizes(&one), "{what}");
            let verified = disk::verify(&disk().directories).unwrap();
            assert_eq!(verified, disk::verify(&on_disk(&one).directories).unwrap(), "{what}");
            // One process goes on with it.
            assert_same(&disk().run(&search).unwrap(), &truth, &what);
        }
    }
}

/// One of the ranks is told to stop, or the power fails; another number of ranks goes on.
#[test]
fn ranks_that_search_by_lists_stop_together_and_others_go_on() {
    for name in ["2x4", "lx:7", "2x2x2,6", "pyraminx,6", "bitmaps 2x2x2,7"] {
        let search = of(name);
        let truth = truth_of(&search);
        let directory = Simulated::default();
        let disk = || on_disk(&directory);
        let mut sessions = 0;
        let found = loop {
            let size = [2, 3, 1][sessions % 3];
            let all = ranks(size, |team| {
                let asks =
                    if team.rank() == size - 1 { 5 + 40 * (sessions as i64 % 7) } else { i64::MAX };
                disk().run_distributed_with(&search, team, &StopAfter::asks(asks))
            });
            let ended = all.iter().filter(|found| found.is_ok()).count();
            assert!(ended == 0 || ended == size, "{name}: {all:?}");
            disk::verify(&disk().directories).unwrap();
            match all.into_iter().next() {
                Some(Ok(found)) => break found,
                Some(Err(Stop::Together(error))) => {
                    assert!(error.to_string().contains("Nothing is lost"), "{error}");
                }
                other => panic!("{name}: {other:?}"),
            }
            sessions += 1;
        };
        assert!(sessions > 0, "{name}");
        assert_same(&found, &truth, &format!("{name}, {sessions} stops"));
    }
    let search = of("2x2x2,5");
    let truth = truth_of(&search);
    let whole = Simulated::default();
    let together = |directory: &Simulated, size| {
        ranks(size, |team| on_disk(directory).run_distributed_with(&search, team, &NoProgress))
    };
    together(&whole, 2);
    let syncs = whole.syncs();
    assert!(syncs > 20, "{syncs}");
    for cut in (1..=syncs).step_by(7) {
        let directory = Simulated::with(Faults { cut_at: Some(cut), ..Faults::default() });
        // Which rank writes when is chance: all or none have come to the end.
        let all = together(&directory, 2);
        assert!(all.iter().all(Result::is_err) || all.iter().all(Result::is_ok), "{all:?}");
        let after = directory.after_cut(cut);
        for found in together(&after, 3) {
            assert_same(&found.unwrap(), &truth, &format!("cut at sync {cut} of {syncs}"));
        }
        disk::verify(&on_disk(&after).directories).unwrap();
    }
}

/// What one rank cannot do all say, and ranks without a common directory search nothing.
#[test]
fn ranks_that_search_by_lists_are_refused_together() {
    let search = of("2x2x2,5");
    let own = [Simulated::default(), Simulated::default()];
    let apart = ranks(2, |team| {
        let disk = on_disk(&own[team.rank()]);
        disk.run_distributed_with(&search, team, &NoProgress)
    });
    let all = |found: Vec<Result<Outcome, Stop>>, words: &[&str]| {
        for (text, words) in found.into_iter().map(refused).zip(words.iter().cycle()) {
            assert!(text.contains(words), "{text}");
        }
    };
    all(apart, &["give every rank the same dir"]);
    assert!(own.iter().all(|directory| directory.list().unwrap().is_empty()));
    let directory = Simulated::default();
    let others = ranks(3, |team| {
        let depth = if team.rank() == 1 { 4 } else { 5 };
        let search = search.clone().max_depth(depth);
        on_disk(&directory).run_distributed_with(&search, team, &NoProgress)
    });
    all(others, &["rank 1 was started with different settings from rank 0 (max-depth: 4, not 5)"]);
    // A rank whose files may not take as many bytes as they do: the others name it.
    let full = ranks(2, |team| {
        let limit = (team.rank() == 1).then_some(1000);
        let disk = on_disk(&directory).limit(limit);
        disk.run_distributed_with(&search, team, &NoProgress)
    });
    all(full, &["rank 1:", "limit"]);
    let found =
        ranks(3, |team| on_disk(&directory).run_distributed_with(&search, team, &NoProgress));
    let truth = truth_of(&search);
    found.iter().for_each(|found| assert_same(found.as_ref().unwrap(), &truth, "three ranks"));
}
