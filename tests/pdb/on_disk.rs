//! Databases whose levels go to files: equal to those built in memory, whatever happens on the way.

use std::sync::atomic::{AtomicUsize, Ordering};

use tilewave::Kernel;
use tilewave::internals::{DATABASE, Storage};
use tilewave::pdb::{Build, DiskBuild, Encoding, Kind, Pattern, Pdb, PdbError};
use tilewave::progress::{NoProgress, StopWhen};

use super::goal;
use super::simulated::{Faults, Simulated};
use crate::program::{room, run, start, tilewave};

fn bits(size: &str, tiles: &[u16]) -> Build {
    Build::new(Pattern::new(goal(size, "first"), tiles).unwrap())
        .kind(Kind::Regions)
        .encoding(Encoding::Bit)
}

/// A small one with many levels.
fn small() -> (Build, Pdb) {
    let how = bits("3x3", &[1, 2, 4, 5, 7, 8]);
    let truth = how.run().unwrap();
    (how, truth)
}

fn assert_same(found: &Pdb, truth: &Pdb) {
    assert_eq!(found.histogram(), truth.histogram());
    assert!(found.bytes() == truth.bytes());
}

/// The depths whose files are there.
fn levels(storage: &Simulated) -> Vec<String> {
    let names = storage.list().unwrap().into_iter();
    names.filter(|name| name.starts_with("level-")).collect()
}

#[test]
fn levels_in_files_give_the_same_database() {
    for (size, tiles) in [
        ("3x3", &[1, 3, 5, 6, 8][..]),
        ("3x4", &[1, 2, 5, 6, 9, 10]),
        ("2x6", &[1, 2, 3, 7, 8, 9, 10, 11]),
        ("4x4", &[1, 2, 3, 4, 5, 6, 7]),
    ] {
        let how = bits(size, tiles);
        let truth = how.run().unwrap();
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_supported()) {
            if size == "4x4" && kernel != Kernel::best() {
                continue;
            }
            let storage = Simulated::default();
            let how = how.clone().kernel(kernel);
            let found = DiskBuild::new(&storage).run(&how, &NoProgress).unwrap();
            assert_same(&found, &truth);
            assert_eq!(levels(&storage).len() + 1, truth.histogram().len());
            DiskBuild::new(&storage).clear().unwrap();
            assert!(levels(&storage).is_empty() && storage.open(DATABASE).is_err());
        }
    }
}

#[test]
fn a_cut_at_any_sync_loses_nothing() {
    let (how, truth) = small();
    let whole = Simulated::default();
    let found = DiskBuild::new(&whole).run(&how, &NoProgress).unwrap();
    assert_same(&found, &truth);
    let syncs = whole.syncs();
    assert!(syncs > 30, "{syncs}");
    for cut in 1..=syncs {
        let storage = Simulated::with(Faults { cut_at: Some(cut), ..Faults::default() });
        DiskBuild::new(&storage).run(&how, &NoProgress).unwrap_err();
        let after = storage.after_cut(cut);
        let kept = levels(&after).len() as u64;
        assert!(kept + 4 > cut / 2, "the levels before sync {cut} are kept, not {kept}");
        let found = DiskBuild::new(&after).run(&how, &NoProgress).unwrap();
        assert_same(&found, &truth);
        let new = |name: &String| name.starts_with("level-") && name.ends_with(".new");
        assert!(!after.list().unwrap().iter().any(new));
    }
}

#[test]
fn a_build_that_is_stopped_goes_on_where_it_was() {
    let how = bits("3x4", &[1, 2, 3, 5, 6, 7]);
    let truth = how.run().unwrap();
    let storage = Simulated::default();
    let asked = AtomicUsize::new(0);
    let stop = StopWhen(|| asked.fetch_add(1, Ordering::Relaxed) > 150);
    let error = DiskBuild::new(&storage).run(&how, &stop).unwrap_err();
    assert!(matches!(error, PdbError::Interrupted(Some(_))), "{error}");
    let kept = levels(&storage).len();
    assert!(kept > 5 && kept + 5 < truth.histogram().len(), "{kept}");
    /// Counts the levels that are computed.
    #[derive(Default)]
    struct Count(AtomicUsize, AtomicUsize);
    impl tilewave::Progress for Count {
        fn level(&self, _: &tilewave::progress::LevelDone) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn continued(&self, depth: usize, _: u64) {
            self.1.store(depth, Ordering::Relaxed);
        }
    }
    let count = Count::default();
    let found = DiskBuild::new(&storage).run(&how, &count).unwrap();
    assert_same(&found, &truth);
    assert_eq!(count.1.load(Ordering::Relaxed), kept);
    assert_eq!(count.0.load(Ordering::Relaxed), truth.histogram().len() - 1 - kept);
}

#[test]
fn a_full_disk_keeps_what_is_committed() {
    let (how, truth) = small();
    for capacity in (100..40_000).step_by(3_331) {
        let storage = Simulated::with(Faults { capacity: Some(capacity), ..Faults::default() });
        let error = DiskBuild::new(&storage).run(&how, &NoProgress).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("space") && said.contains("to continue"), "{capacity}: {said}");
        assert_eq!(said.lines().count(), 1);
        storage.set_faults(Faults::default());
        let found = DiskBuild::new(&storage).run(&how, &NoProgress).unwrap();
        assert_same(&found, &truth);
    }
}

#[test]
fn damaged_and_missing_levels_are_named() {
    let (how, _) = small();
    let whole = Simulated::default();
    DiskBuild::new(&whole).run(&how, &NoProgress).unwrap();
    let name = "level-006.chunk-00000";
    // The header, a frame, the index, the trailer.
    let len = whole.open(name).unwrap().len() as usize;
    for at in [20, 130, len - 70, len - 3] {
        let storage = whole.copy();
        storage.damage(name, |bytes| bytes[at] ^= 4);
        let error = DiskBuild::new(&storage).run(&how, &NoProgress).unwrap_err();
        let said = error.to_string();
        assert!(matches!(error, PdbError::Place(_)), "{at}: {said}");
        assert!(
            said.contains(name) && said.contains("cannot use") && said.lines().count() == 1,
            "{said}"
        );
    }
    let storage = whole.copy();
    storage.remove(name).unwrap();
    let error = DiskBuild::new(&storage).run(&how, &NoProgress).unwrap_err();
    assert!(matches!(error, PdbError::Place(_)), "{error}");
    assert!(error.to_string().contains(&format!("{name}' is missing")), "{error}");
    // A level of another build under this name.
    let other = Simulated::default();
    DiskBuild::new(&other).run(&how, &NoProgress).unwrap();
    let storage = whole.copy();
    let strange = other.open(name).unwrap();
    let strange = strange.read(0, strange.len() as usize).unwrap();
    storage.damage(name, |bytes| *bytes = strange.as_ref().to_vec());
    let error = DiskBuild::new(&storage).run(&how, &NoProgress).unwrap_err();
    assert!(error.to_string().contains("the file does not belong to this build"), "{error}");
}

#[test]
fn directories_of_others_are_refused() {
    let (how, truth) = small();
    let storage = Simulated::default();
    DiskBuild::new(&storage).run(&how, &NoProgress).unwrap();
    let before = storage.list().unwrap();
    let other = bits("3x3", &[1, 2, 3, 4, 5]);
    let error = DiskBuild::new(&storage).run(&other, &NoProgress).unwrap_err();
    assert!(
        matches!(&error, PdbError::Place(said) if said.contains("contains another build")),
        "{error}"
    );
    assert_eq!(storage.list().unwrap(), before);
    assert_same(&DiskBuild::new(&storage).run(&how, &NoProgress).unwrap(), &truth);
    // Levels without a marker are somebody else's.
    storage.remove(DATABASE).unwrap();
    let error = DiskBuild::new(&storage).run(&how, &NoProgress).unwrap_err();
    assert!(matches!(&error, PdbError::Place(said) if said.contains("of a search")), "{error}");
    // Bytes, and few tiles, have no levels in files.
    let empty = Simulated::default();
    for how in [how.clone().encoding(Encoding::Byte), bits("3x3", &[1, 2, 3, 4])] {
        let error = DiskBuild::new(&empty).run(&how, &NoProgress).unwrap_err();
        assert!(matches!(error, PdbError::Unsuitable(_)), "{error}");
        assert!(empty.list().unwrap().is_empty());
    }
}

#[test]
fn a_killed_build_goes_on() {
    let dir = room();
    let dir = dir.path();
    let build = ["pdb", "build", "4x4", "--pattern", "1-7", "--encoding", "bit", "-q", "-o"];
    let whole = |more: &[&str]| {
        let done = run(tilewave(build).args(more).current_dir(dir));
        assert!(done.ok(), "{}", done.err);
    };
    whole(&["whole.pdb"]);
    let on_disk = ["x.pdb", "--dir", "levels"];
    for depth in ["010", "020", "030"] {
        let mut child = start(tilewave(build).args(on_disk).current_dir(dir));
        let level = dir.join(format!("levels/level-{depth}.chunk-00000"));
        while !level.exists() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(level.exists() && !dir.join("x.pdb").exists(), "{depth}");
    }
    whole(&on_disk);
    let read = |name: &str| std::fs::read(dir.join(name)).unwrap();
    assert!(read("x.pdb") == read("whole.pdb"));
    let names = std::fs::read_dir(dir.join("levels")).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["lock"]);
}
