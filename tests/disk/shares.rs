//! Disks of different size: each directory has chunks in proportion to the room where the search began.

use super::directories::over;
use super::*;
use std::time::Duration;
use tilewave::internals::{MANIFEST, MARKER, Manifest, PREVIOUS, RunFile};

/// Directories on disks of their own with so many megabytes free.
fn disks(rooms: [u64; 3]) -> [Simulated; 3] {
    let mut device = 0;
    rooms.map(|room| {
        let directory = Simulated::default();
        device += 1;
        directory.set_faults(Faults {
            capacity: Some(room << 20),
            device: Some(device),
            ..Faults::default()
        });
        directory
    })
}

/// The chunks whose level files lie in a directory.
fn chunks(directory: &Simulated) -> Vec<u32> {
    let names = directory.list().unwrap();
    let files = names.iter().filter_map(|name| RunFile::parse(name));
    let mut chunks: Vec<u32> = files
        .filter_map(|file| match file {
            RunFile::Level { chunk, .. } => Some(chunk),
            _ => None,
        })
        .collect();
    chunks.sort_unstable();
    chunks.dedup();
    chunks
}

#[test]
fn chunks_follow_the_room_and_stay_where_they_are() {
    let search = search("3x3");
    let truth = truth(&search);
    let all = disks([40, 10, 80]);
    let disk = || over(&all.each_ref());
    run_some(&search, &disk(), 8 * 20 + 3);
    let manifest = Manifest::read(&all[0]).unwrap().unwrap();
    assert_eq!(manifest.shares, [16, 4, 32]);
    assert!(manifest.text().starts_with("tilewave-run 3 "));
    let dealt = all.each_ref().map(chunks);
    let [a, b, c] = dealt.each_ref().map(Vec::len);
    assert!(b >= 1 && a >= 2 * b && c > a, "{dealt:?}");

    // What is free later changes nothing, not even after the manifest was lost.
    for (directory, device) in all.iter().zip(1..) {
        directory.set_faults(Faults {
            capacity: Some(1 << 30),
            device: Some(device),
            ..Faults::default()
        });
    }
    let _ = all[0].remove(PREVIOUS);
    all[0].remove(MANIFEST).unwrap();
    let repaired = disk::repair(&disk().directories, Duration::ZERO);
    // Where not all levels are kept, the manifest before is needed to know the counts.
    assert!(repaired.is_err());
    manifest.write(&all[0]).unwrap();
    run_some(&search, &disk(), 8 * 3);
    for (now, before) in all.each_ref().map(chunks).iter().zip(&dealt) {
        assert!(now.iter().all(|chunk| before.contains(chunk)));
    }
    let [first, second, third] = all.each_ref();
    let error = over(&[first, third, second]).run(&search);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("in the order"), "{error}");
    let found = disk().run(&search).unwrap();
    assert_same(&found, &truth, "three disks");
    disk::verify(&disk().directories).unwrap();
}

#[test]
fn a_lost_manifest_is_rebuilt_with_its_shares() {
    let search = search("3x3");
    for lost in 0..2 {
        let all = disks([40, 10, 80]);
        let disk = over(&all.each_ref()).keep_all(true);
        run_some(&search, &disk, 8 * 20 + 3);
        let before = Manifest::read(&all[0]).unwrap().unwrap();
        all[0].remove(MANIFEST).unwrap();
        all[0].remove(PREVIOUS).unwrap();
        // One marker that is left is enough.
        all[lost].remove(MARKER).unwrap();
        let repaired = disk::repair(&disk.directories, Duration::ZERO).unwrap();
        assert_eq!(repaired.manifest.shares, before.shares);
        let found = disk.run(&search).unwrap();
        assert_same(&found, &truth(&search), "after a repair");
    }
}

#[test]
fn shares_that_cannot_be_are_refused() {
    let all = disks([40, 10, 80]);
    let disk = over(&all.each_ref());
    run_some(&search("3x3"), &disk, 8 * 5);
    let whole = Manifest::read(&all[0]).unwrap().unwrap();
    for shares in [vec![1, 2], vec![0, 0, 0], vec![1, 2, 1 << 20]] {
        let manifest = Manifest { shares, ..whole.clone() };
        manifest.write(&all[0]).unwrap();
        let error = disk::status(&disk.directories).unwrap_err().to_string();
        assert!(error.contains("shares"), "{error}");
    }
}
