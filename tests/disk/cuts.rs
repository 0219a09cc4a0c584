//! Power cuts at every sync of a run.

use super::*;
use tilewave::search::PlaneStore;

/// Cuts the power at every `stride`-th of at least so many syncs of a search, and at each of the `last` ones, then
/// finishes it: the levels are those of a search that was never interrupted.
pub fn survives_cuts(
    (search, truth): (&impl DiskSearch, &Outcome),
    disk: impl Fn(&Simulated) -> Disk,
    (least, stride, last): (u64, usize, u64),
    name: &str,
) {
    let whole = Simulated::default();
    assert_same(&disk(&whole).run(search).unwrap(), truth, "no cut");
    let syncs = whole.syncs();
    assert!(syncs > least, "{name}: {syncs}");
    let end = syncs - last;
    for cut in (1..end).step_by(stride).chain(end..=syncs) {
        let directory = Simulated::with(Faults { cut_at: Some(cut), ..Faults::default() });
        disk(&directory).run(search).unwrap_err();
        let after = directory.after_cut(cut);
        let what = format!("{name}, cut at sync {cut} of {syncs}");
        let found = disk(&after).run(search).expect(&what);
        assert_same(&found, truth, &what);
        disk::verify(&disk(&after).directories).expect(&what);
    }
}

fn cuts(name: &str, planes: PlaneStore, keep_all: bool, stride: usize) {
    let search = search(name);
    let disk = |directory: &Simulated| on(directory, 1).planes(planes).keep_all(keep_all);
    survives_cuts((&search, &truth(&search)), disk, (400, stride, 40), name);
}

/// A prime: in the course of a search it meets every sync of a commit.
const STRIDE: usize = 11;

#[test]
fn a_cut_at_a_sync_loses_nothing() {
    cuts("2x4", PlaneStore::Memory, false, STRIDE);
}

#[test]
fn a_cut_at_a_sync_loses_nothing_with_planes_in_files() {
    cuts("2x4", PlaneStore::Files, false, STRIDE);
}

#[test]
fn a_cut_at_a_sync_loses_nothing_when_all_levels_are_kept() {
    cuts("2x4", PlaneStore::Memory, true, STRIDE);
}

/// Where moves have no way back, the level behind the deepest one has files.
#[test]
fn a_cut_at_a_sync_loses_nothing_of_directed_puzzles() {
    cuts("lx:8", PlaneStore::Memory, false, 97);
    cuts("lx:8", PlaneStore::Files, true, 97);
    cuts("lx:9", PlaneStore::Memory, false, 211);
    cuts("lrx:8", PlaneStore::Memory, false, 97);
}

/// A complete run may have leftovers of its last commit: the next look takes them away, and several ranks find what one
/// finds.
#[test]
fn what_the_last_commit_left_is_cleared_by_one_rank_or_two() {
    for name in ["lx:8", "2x4"] {
        let search = search(name);
        let truth = truth(&search);
        let whole = Simulated::default();
        on(&whole, 1).run(&search).unwrap();
        let (syncs, clean) = (whole.syncs(), level_files(&whole));
        for (cut, ranks) in (syncs - 12..=syncs).flat_map(|cut| [(cut, 1), (cut, 2)]) {
            let directory = Simulated::with(Faults { cut_at: Some(cut), ..Faults::default() });
            on(&directory, 1).run(&search).unwrap_err();
            for seed in 0..8 {
                let after = directory.after_cut(seed);
                let what = format!("{name}, {ranks} ranks, cut {cut} of {syncs}, {seed}");
                let found = super::team::together(&search, ranks, |_| on(&after, 1));
                assert_same(&found.map_err(|e| format!("{what}: {e:?}")).unwrap(), &truth, &what);
                assert_eq!(level_files(&after), clean, "{what}");
            }
        }
    }
}

/// A file whose sync has failed is named by no manifest, also where its bytes never come: in searches of hundreds of
/// chunks whose commits are far apart, a sync fails, then the power is cut.
#[test]
fn a_sync_that_fails_loses_nothing_that_was_committed() {
    let search = search("2x5").max_depth(18);
    let truth = truth(&search);
    let disk =
        |directory: &Simulated| on(directory, 3).commit_every(std::time::Duration::from_secs(3600));
    let whole = Simulated::default();
    disk(&whole).run(&search).unwrap();
    let syncs = whole.syncs();
    assert!(syncs > 300, "files are synced between commits: {syncs}");
    for fail in (8..syncs).step_by(syncs as usize / 5) {
        let directory = Simulated::with(Faults { fail_sync: Some(fail), ..Faults::default() });
        let error = disk(&directory).run(&search).unwrap_err();
        assert!(error.to_string().contains("is lost"), "{error}");
        let after = directory.after_cut(fail);
        let what = format!("sync {fail} of {syncs} fails");
        let found = disk(&after).run(&search).expect(&what);
        assert_same(&found, &truth, &what);
    }
}

/// A file that is no longer needed and cannot be removed: what is committed then still names it, or what takes its
/// place.
#[test]
fn a_removal_that_fails_loses_nothing() {
    for (name, seconds) in [("2x4", 0), ("2x4", 3600), ("lx:8", 3600)] {
        let search = search(name);
        let truth = truth(&search);
        let disk = |directory: &Simulated| {
            on(directory, 1).commit_every(std::time::Duration::from_secs(seconds))
        };
        let whole = Simulated::default();
        disk(&whole).run(&search).unwrap();
        let removals = whole.removals();
        assert!(removals > 50, "{removals} files are removed");
        let mut failed = 0;
        for fail in (1..=removals).step_by(5) {
            let directory =
                Simulated::with(Faults { fail_removal: Some(fail), ..Faults::default() });
            let what = format!("{name}, commits after {seconds} s, removal {fail} of {removals}");
            if let Err(error) = disk(&directory).run(&search) {
                assert!(error.to_string().contains("input/output error"), "{what}: {error}");
                failed += 1;
            }
            let found = disk(&directory).run(&search).expect(&what);
            assert_same(&found, &truth, &what);
            disk::verify(&disk(&directory).directories).expect(&what);
        }
        assert!(failed > removals / 10, "{failed} of {removals} removals matter");
    }
}

#[test]
#[ignore = "a minute, the same at every sync: cargo test --release --test disk -- --ignored any_sync"]
fn a_cut_at_any_sync_loses_nothing() {
    std::thread::scope(|scope| {
        scope.spawn(|| cuts("2x4", PlaneStore::Memory, false, 1));
        scope.spawn(|| cuts("2x4", PlaneStore::Files, false, 1));
        scope.spawn(|| cuts("2x4", PlaneStore::Memory, true, 1));
        scope.spawn(|| cuts("lx:8", PlaneStore::Memory, false, 1));
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
        directory.set_faults(Faults { cut_at: Some(7 + cuts % 23), ..Faults::default() });
        match on(&directory, 1).run(&search) {
            Ok(found) => break found,
            Err(_) => directory = directory.after_cut(cuts),
        }
        cuts += 1;
        assert!(cuts < 2000, "it comes no further");
    };
    assert!(cuts > 30, "{cuts} cuts");
    assert_same(&found, &truth, "many cuts");
}
