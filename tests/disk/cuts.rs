//! Power cuts at every sync of a run.

use super::*;
use tilewave::bfs::disk::PlaneStore;
use tilewave::store::Faults;

/// Cuts the power at every `stride`-th sync of a search of 2x4, then finishes it: the levels are those of a search
/// that was never interrupted.
fn survives_cuts(planes: PlaneStore, keep_all: bool, stride: usize) {
    let (size, digits) = ("2x4", 1);
    let search = search(size);
    let truth = truth(&search);
    let disk = |directory: &Simulated| {
        let mut disk = on(directory, digits);
        disk.planes = Some(planes);
        disk.keep_all = keep_all;
        disk
    };
    let whole = Simulated::default();
    assert_same(
        &disk::run(&search, &disk(&whole), &NoProgress).unwrap(),
        &truth,
        "no cut",
    );
    let syncs = whole.syncs();
    assert!(syncs > 400);
    for cut in (1..=syncs).step_by(stride) {
        let directory = Simulated::default();
        directory.set_faults(Faults {
            cut_at: Some(cut),
            ..Faults::default()
        });
        disk::run(&search, &disk(&directory), &NoProgress).unwrap_err();
        let after = directory.after_cut(cut);
        let what = format!("{size}, K = {digits}, cut at sync {cut} of {syncs}");
        let found = disk::run(&search, &disk(&after), &NoProgress).expect(&what);
        assert_same(&found, &truth, &what);
        disk::verify(&disk(&after).directories, &NoProgress).expect(&what);
    }
}

/// A prime: in the course of a search it meets every sync of a commit.
const STRIDE: usize = 11;

#[test]
fn a_cut_at_a_sync_loses_nothing() {
    survives_cuts(PlaneStore::Memory, false, STRIDE);
}

#[test]
fn a_cut_at_a_sync_loses_nothing_with_planes_in_files() {
    survives_cuts(PlaneStore::Files, false, STRIDE);
}

#[test]
fn a_cut_at_a_sync_loses_nothing_when_all_levels_are_kept() {
    survives_cuts(PlaneStore::Memory, true, STRIDE);
}

#[test]
#[ignore = "a minute, the same at every sync: cargo test --release --test disk -- --ignored"]
fn a_cut_at_any_sync_loses_nothing() {
    std::thread::scope(|scope| {
        scope.spawn(|| survives_cuts(PlaneStore::Memory, false, 1));
        scope.spawn(|| survives_cuts(PlaneStore::Files, false, 1));
        scope.spawn(|| survives_cuts(PlaneStore::Memory, true, 1));
    });
}

/// Cuts again and again, each session coming a little further.
#[test]
fn cut_after_cut_comes_to_the_end() {
    let search = search("3x3");
    let truth = truth(&search);
    let mut directory = Simulated::default();
    let mut cuts = 0;
    let found = loop {
        directory.set_faults(Faults {
            cut_at: Some(7 + cuts % 23),
            ..Faults::default()
        });
        match disk::run(&search, &on(&directory, 1), &NoProgress) {
            Ok(found) => break found,
            Err(_) => directory = directory.after_cut(cuts),
        }
        cuts += 1;
        assert!(cuts < 2000, "it comes no further");
    };
    assert!(cuts > 30, "{cuts} cuts");
    assert_same(&found, &truth, "many cuts");
}
