//! Broken disks, full disks, files that are not what they should be.

use super::*;
use tilewave::store::{Faults, Manifest};

/// A run of 3x3 stopped in the middle of a level.
fn stopped(keep_all: bool) -> (Search, Simulated) {
    let search = search("3x3");
    let directory = Simulated::default();
    let mut disk = on(&directory, 1);
    disk.keep_all = keep_all;
    run_some(&search, &disk, 8 * 17 + 3);
    (search, directory)
}

fn message(search: &Search, directory: &Simulated, keep_all: bool) -> String {
    let mut disk = on(directory, 1);
    disk.keep_all = keep_all;
    disk::run(search, &disk, &Silent).unwrap_err().to_string()
}

fn level_files(directory: &Simulated) -> Vec<String> {
    let names = directory.list().unwrap();
    names
        .into_iter()
        .filter(|name| Manifest::is_file_name(name))
        .collect()
}

#[test]
fn a_full_disk_stops_the_run_and_room_lets_it_go_on() {
    let search = search("3x3");
    let truth = truth(&search);
    let mut stops = 0;
    for capacity in (2_000..60_000).step_by(1_777) {
        let directory = Simulated::default();
        directory.set_faults(Faults {
            capacity: Some(capacity),
            ..Faults::default()
        });
        if let Err(error) = disk::run(&search, &on(&directory, 1), &Silent) {
            stops += 1;
            let error = error.to_string();
            assert!(
                error.contains("nothing is lost: make room"),
                "{capacity}: {error}"
            );
        }
        directory.set_faults(Faults::default());
        let found = disk::run(&search, &on(&directory, 1), &Silent).unwrap();
        assert_same(&found, &truth, &format!("{capacity} bytes"));
    }
    assert!(stops > 10, "{stops} of the capacities were too small");
}

#[test]
fn a_limit_stops_the_run_and_a_larger_one_lets_it_go_on() {
    let search = search("3x3");
    let directory = Simulated::default();
    let mut disk = on(&directory, 1);
    disk.limit = Some(20_000);
    let error = disk::run(&search, &disk, &Silent).unwrap_err().to_string();
    assert!(error.contains("limit of 20000 bytes"), "{error}");
    disk.limit = None;
    let found = disk::run(&search, &disk, &Silent).unwrap();
    assert_same(&found, &truth(&search), "after the limit");
    assert!(found.disk.unwrap().peak_bytes > 20_000);
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_read_again_later() {
    let (search, directory) = stopped(false);
    for name in level_files(&directory) {
        let broken = directory.copy();
        broken.set_faults(Faults {
            unreadable: Some(name.clone()),
            ..Faults::default()
        });
        let error = message(&search, &broken, false);
        assert!(
            error.contains(&name) && error.contains("input/output error"),
            "{error}"
        );
        broken.set_faults(Faults::default());
        let found = disk::run(&search, &on(&broken, 1), &Silent).unwrap();
        assert_same(&found, &truth(&search), &name);
    }
}

#[test]
fn a_flipped_bit_in_any_file_is_found_and_named() {
    let (search, directory) = stopped(false);
    let files = level_files(&directory);
    assert!(files.len() > 10, "{files:?}");
    for (i, name) in files.iter().enumerate() {
        let depth: u32 = name[6..9].parse().unwrap();
        for at in [3usize, 9, 20, 70, 130, 140 + 11 * i] {
            let broken = directory.copy();
            broken.damage(name, |bytes| {
                let at = at % bytes.len();
                bytes[at] ^= 1 << (i % 8);
            });
            let error = message(&search, &broken, false);
            assert!(error.contains(name), "byte {at}: {error}");
            assert!(error.contains(&format!("depth {depth}")), "{error}");
            assert!(error.contains("start again in another --dir"), "{error}");
            let checked = disk::verify(&on(&broken, 1).directories, &mut |_, _| true);
            assert!(checked.unwrap_err().to_string().contains(name));
        }
    }
}

#[test]
fn a_damaged_frame_is_named_with_its_lines() {
    let (search, directory) = stopped(false);
    let name = &level_files(&directory)[0];
    directory.damage(name, |bytes| bytes[140] ^= 4);
    let error = message(&search, &directory, false);
    assert!(error.contains("frame 0 (lines from"), "{error}");
}

#[test]
fn truncated_and_missing_files_are_named() {
    let (search, directory) = stopped(false);
    for name in level_files(&directory) {
        for keep in [0, 1, 100, 150] {
            let broken = directory.copy();
            broken.damage(&name, |bytes| bytes.truncate(keep));
            let error = message(&search, &broken, false);
            assert!(
                error.contains(&name) && error.contains("not a whole level file"),
                "{error}"
            );
        }
        let broken = directory.copy();
        broken.remove(&name).unwrap();
        assert!(message(&search, &broken, false).contains(&name));
    }
}

#[test]
fn kept_levels_are_computed_again_when_one_is_damaged() {
    struct Seen(std::sync::Mutex<Vec<(usize, String)>>);
    impl Observer for Seen {
        fn rebuilding(&self, depth: usize, reason: &str) {
            self.0.lock().unwrap().push((depth, reason.to_string()));
        }
    }
    let (search, directory) = stopped(true);
    let truth = truth(&search);
    let files = level_files(&directory);
    // Of the current level: found when it is read. Of an old level: found when asked to check.
    for (name, check) in [
        (files.last().unwrap(), false),
        (&files[files.len() / 2], true),
        (&files[0], true),
    ] {
        let broken = directory.copy();
        broken.damage(name, |bytes| bytes[150] ^= 1);
        let mut disk = on(&broken, 1);
        (disk.keep_all, disk.check) = (true, check);
        let seen = Seen(Default::default());
        let found = disk::run(&search, &disk, &seen).unwrap();
        assert_same(&found, &truth, name);
        let seen = seen.0.into_inner().unwrap();
        assert_eq!(seen.len(), 1, "{seen:?}");
        assert!(seen[0].1.contains(name.as_str()), "{seen:?}");
        let whole = disk::verify(&disk.directories, &mut |_, _| true).unwrap();
        assert_eq!(whole.states, truth.total());
    }
}

#[test]
fn a_damaged_manifest_is_refused() {
    let (search, directory) = stopped(false);
    for at in [0, 15, 20, 60, 300] {
        let broken = directory.copy();
        broken.damage("manifest", |bytes| bytes[at] ^= 2);
        let error = message(&search, &broken, false);
        assert!(error.contains("manifest"), "{error}");
        assert!(error.contains("start again in another --dir"), "{error}");
        assert_eq!(
            level_files(&broken),
            level_files(&directory),
            "nothing is removed"
        );
    }
}

#[test]
fn the_files_of_another_run_are_refused() {
    let (search, directory) = stopped(false);
    let (_, other) = stopped(false);
    let mut theirs = Vec::new();
    other.damage("manifest", |bytes| theirs = bytes.clone());
    directory.damage("manifest", |bytes| *bytes = theirs);
    let error = message(&search, &directory, false);
    assert!(error.contains("belongs to another run"), "{error}");
}

#[test]
fn another_search_in_the_directory_is_refused_by_name() {
    let (_, directory) = stopped(false);
    let error = message(&search("2x4"), &directory, false);
    assert!(
        error.contains("holds a search with board 3x3, not 2x4"),
        "{error}"
    );
    let mut other = search("3x3");
    other.start = tilewave::puzzle::tiles::Board::parse("1 2 3/4 5 6/7 0 8", None).unwrap();
    let error = message(&other, &directory, false);
    assert!(
        error.contains("start 1 2 3/4 5 6/7 8 0, not 1 2 3/4 5 6/7 0 8"),
        "{error}"
    );
    let error = message(&search("3x3"), &directory, true);
    assert!(error.contains("levels kept last, not all"), "{error}");
}
