//! Manifests that are lost or damaged are rebuilt from the level files, or what is missing is said.

use super::directories::{content, over};
use super::*;
use std::time::Duration;
use tilewave::internals::{MANIFEST, MARKER, Manifest, PREVIOUS};

fn repair(disk: &Disk) -> Result<disk::Repaired, tilewave::Error> {
    disk::repair(&disk.directories, Duration::ZERO)
}

/// Stops a run after every few chunks, loses its manifest, repairs it, and goes on to the end.
#[test]
fn a_lost_manifest_is_rebuilt_wherever_the_search_was() {
    let search = search("3x3");
    let truth = truth(&search);
    for keep_all in [false, true] {
        for chunks in (8..230).step_by(13) {
            let [first, second] = [(); 2].map(|()| Simulated::default());
            let disk = over(&[&first, &second]).keep_all(keep_all);
            run_some(&search, &disk, chunks);
            let lost = Manifest::read(&first).unwrap().unwrap();
            let what = format!("all kept: {keep_all}, {chunks} chunks");
            if chunks % 2 == 0 {
                first.remove(MANIFEST).unwrap();
            } else {
                first.damage(MANIFEST, |bytes| bytes[100] ^= 1);
            }
            let before: Vec<_> = content(&first).into_iter().filter(|f| f.0 != MANIFEST).collect();
            let repaired = repair(&disk).expect(&what);
            assert_eq!(repaired.kept.is_some(), chunks % 2 == 1, "{what}");
            let after = content(&first);
            assert!(before.iter().all(|file| after.contains(file)), "{what}");
            let states = |manifest: &Manifest| {
                let levels = manifest.levels.iter();
                levels.map(|l| (l.states, l.checksum)).collect::<Vec<_>>()
            };
            let known = states(&repaired.manifest);
            assert!(states(&lost).starts_with(&known), "{what}");
            // At most the level whose last chunk was the last one written is not known as finished.
            assert!(known.len() + 1 >= lost.levels.len(), "{what}");
            disk::verify(&disk.directories).expect(&what);
            let found = disk.run(&search).expect(&what);
            assert_same(&found, &truth, &what);
            let error = repair(&disk).unwrap_err().to_string();
            assert!(error.contains("nothing to rebuild"), "{error}");
        }
    }
}

/// Where all levels are kept, the files alone are enough.
#[test]
fn level_files_alone_are_enough_when_all_are_kept() {
    let search = search("3x3");
    let directory = Simulated::default();
    let disk = on(&directory, 1).keep_all(true);
    let whole = disk.run(&search).unwrap();
    directory.remove(MANIFEST).unwrap();
    directory.remove(PREVIOUS).unwrap();
    let repaired = repair(&disk).unwrap();
    assert!(repaired.manifest.complete && !repaired.previous);
    let again = disk.run(&search).unwrap();
    assert_same(&again, &whole, "rebuilt");
}

#[test]
fn what_is_missing_is_named() {
    let search = search("3x3");
    let refused = |directory: &Simulated, keep_all: bool, words: &[&str]| {
        let disk = on(directory, 1).keep_all(keep_all);
        let before = content(directory);
        let error = repair(&disk).unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "'{word}' in: {error}");
        }
        assert!(content(directory) == before, "files have changed: {error}");
    };
    for keep_all in [false, true] {
        let directory = Simulated::default();
        let disk = on(&directory, 1).keep_all(keep_all);
        run_some(&search, &disk, 8 * 17 + 3);
        directory.remove(MANIFEST).unwrap();
        // A file of the last finished level.
        let gone = directory.copy();
        gone.remove("level-016.chunk-00003").unwrap();
        refused(&gone, keep_all, &["cannot be rebuilt", "depth 16"]);
        let broken = directory.copy();
        broken.damage("level-016.chunk-00003", |bytes| bytes.truncate(100));
        refused(&broken, keep_all, &["depth 16", "1 file damaged: ", "level-016.chunk-00003"]);
        let mixed = directory.copy();
        mixed.damage("level-016.chunk-00003", |bytes| bytes[16] ^= 1);
        let bare = directory.copy();
        bare.remove(PREVIOUS).unwrap();
        if !keep_all {
            refused(
                &bare,
                keep_all,
                &["the counts of the previous levels were only in the manifest"],
            );
        }
        bare.remove(MARKER).unwrap();
        refused(&bare, keep_all, &["the start state of the search of 3x3 is not known"]);
    }
    refused(&Simulated::default(), false, &["contains no search"]);
}

/// Beside a running search, nothing looks damaged.
#[test]
fn a_running_search_is_verified_without_false_alarms() {
    let search = search("3x3");
    for keep_all in [false, true] {
        let directory = Simulated::default();
        let disk = on(&directory, 1).keep_all(keep_all);
        run_some(&search, &disk, 60);
        std::thread::scope(|scope| {
            let running = scope.spawn(|| disk.run(&search));
            let mut calls = 0;
            while !running.is_finished() {
                disk::verify(&on(&directory, 1).directories).unwrap();
                disk::status(&on(&directory, 1).directories).unwrap();
                calls += 1;
            }
            running.join().unwrap().unwrap();
            assert!(calls > 3, "{calls}");
        });
    }
}
