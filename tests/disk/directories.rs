//! Directories that hold half a run, another run, or somebody else's files: recognised, named, left as they are.

use super::*;
use tilewave::internals::{LevelHeader, LevelReader, MANIFEST, MARKER, Manifest, PREVIOUS};
use tilewave::progress::StopWhen;

/// All files with their bytes, but for the lock.
pub fn content(directory: &Simulated) -> Vec<(String, Vec<u8>)> {
    let mut names = directory.list().unwrap();
    names.retain(|name| name != "lock");
    let read = |name: String| {
        let file = directory.open(&name).unwrap();
        let bytes = file.read(0, file.len() as usize).unwrap().as_ref().to_vec();
        (name, bytes)
    };
    names.into_iter().map(read).collect()
}

pub fn over(directories: &[&Simulated]) -> Disk {
    let boxed = |directory: &&Simulated| -> Box<dyn Storage> { Box::new((*directory).clone()) };
    on(directories[0], 1).directories(Directories::new(directories.iter().map(boxed).collect()))
}

/// A run of 3x3 over so many directories, stopped in the middle of a level; the directories, and the search.
pub fn stopped<const N: usize>(keep_all: bool) -> (Search, [Simulated; N]) {
    let search = search("3x3");
    let directories: [Simulated; N] = std::array::from_fn(|_| Simulated::default());
    let disk = over(&directories.each_ref()).keep_all(keep_all);
    run_some(&search, &disk, 8 * 17 + 3);
    (search, directories)
}

/// The search is refused in these directories with all of these words, and nothing changes.
fn refused(search: &Search, directories: &[&Simulated], words: &[&str]) {
    refused_by(search, &over(directories), directories, words);
}

fn refused_by(search: &Search, disk: &Disk, directories: &[&Simulated], words: &[&str]) {
    let before: Vec<_> = directories.iter().map(|d| content(d)).collect();
    let error = disk.run(search).unwrap_err().to_string();
    for word in words {
        assert!(error.contains(word), "'{word}' in: {error}");
    }
    let after: Vec<_> = directories.iter().map(|d| content(d)).collect();
    assert!(before == after, "files have changed: {error}");
}

#[test]
fn a_fresh_start_beside_another_run_is_refused() {
    let (search, [run]) = stopped::<1>(false);
    let empty = Simulated::default();
    refused(&search, &[&empty, &run], &["this directory contains the manifest of a search"]);
    // Without its manifest and marker, its level files are still somebody's.
    run.remove(MANIFEST).unwrap();
    run.remove(PREVIOUS).unwrap();
    let files = &["level files", "tilewave check --repair"];
    refused(&search, &[&empty, &run], files);
    run.remove(MARKER).unwrap();
    refused(&search, &[&empty, &run], files);
    refused(&search, &[&run], files);
}

#[test]
fn a_lost_manifest_does_not_start_over() {
    let (search, [run]) = stopped::<1>(true);
    run.remove(MANIFEST).unwrap();
    refused(&search, &[&run], &["tilewave check --repair"]);
}

#[test]
fn a_disk_that_is_not_mounted_is_asked_about() {
    for keep_all in [false, true] {
        let (search, [first, second]) = stopped::<2>(keep_all);
        let empty = Simulated::default();
        let mut disk = over(&[&first, &empty]).keep_all(keep_all);
        // Asked to check or not: what is not there is not damage.
        for check in [false, true] {
            disk.check = check;
            refused_by(&search, &disk, &[&first, &empty], &["mounted?", "directory 2 of 2"]);
        }
        let disk = over(&[&empty, &second]).keep_all(keep_all);
        refused_by(&search, &disk, &[&empty, &second], &["mounted", "but no manifest"]);
        let whole = over(&[&first, &second]).keep_all(keep_all);
        let found = whole.run(&search).unwrap();
        assert_same(&found, &truth(&search), "both mounted again");
    }
}

/// At the first levels, the second directory holds no level file yet: its marker tells.
#[test]
fn thin_levels_leave_a_marker_in_every_directory() {
    let search = search("3x3");
    let [first, second] = [(); 2].map(|()| Simulated::default());
    run_some(&search, &over(&[&first, &second]), 2);
    assert!(second.list().unwrap().contains(&MARKER.to_string()));
    let empty = Simulated::default();
    refused(&search, &[&first, &empty], &["is the disk of this directory mounted?"]);
    refused(&search, &[&second], &["directory 2 of 2"]);
    refused(&search, &[&empty, &second], &["directory 2 of 2", "mounted?"]);
    let found = over(&[&first, &second]).run(&search).unwrap();
    assert_same(&found, &truth(&search), "both");
}

#[test]
fn directories_in_another_order_or_alone_are_named() {
    let (search, [first, second]) = stopped::<2>(false);
    let (_, [other]) = stopped::<1>(false);
    let both = [&second, &first];
    refused(&search, &both, &["this directory contains the manifest of a search"]);
    refused(&search, &both[..1], &["level files", "not the first directory"]);
    refused(&search, &both[1..], &["directories: 2, not 1"]);
    other.remove(MANIFEST).unwrap();
    let mix = [&first, &other];
    refused(&search, &mix, &["belongs to another search (of 3x3"]);
    let (search, [a, b, c]) = stopped::<3>(false);
    let turned = [&a, &c, &b];
    refused(&search, &turned, &["directory 3 of 3", "given as directory 2 of 3"]);
}

#[test]
fn an_older_manifest_put_back_removes_nothing() {
    for keep_all in [false, true] {
        let search = search("3x3");
        let directory = Simulated::default();
        let disk = on(&directory, 1).keep_all(keep_all);
        run_some(&search, &disk, 8 * 12 + 3);
        let old = content(&directory).into_iter().find(|f| f.0 == MANIFEST).unwrap().1;
        run_some(&search, &disk, 8 * 6);
        let new = content(&directory).into_iter().find(|f| f.0 == MANIFEST).unwrap().1;
        directory.damage(MANIFEST, |bytes| *bytes = old.clone());
        refused_by(&search, &disk, &[&directory], &["the manifest is older than the files"]);
        directory.remove(PREVIOUS).unwrap();
        refused_by(&search, &disk, &[&directory], &["the manifest is older than the files"]);
        directory.damage(MANIFEST, |bytes| *bytes = new);
        let found = disk.run(&search).unwrap();
        assert_same(&found, &truth(&search), "the newer manifest");
    }
}

/// Names that only look like a run's are a user's own.
#[test]
fn files_of_others_are_never_touched() {
    let search = search("3x3");
    let directory = Simulated::default();
    let theirs = [
        "cross-validation.csv",
        "cross-003.chunk-00001",
        "cross-003.chunk-00001.0123456789abcdef",
        "level-notes.txt",
        "level-003.chunk-00001.0123456789abcdef.new",
        "manifest.new",
        "manifest.0123456789abcdef.new",
    ];
    for name in theirs {
        directory.create(name).unwrap().append(b"mine").unwrap();
    }
    let disk = on(&directory, 1).planes(tilewave::search::PlaneStore::Files);
    run_some(&search, &disk, 8 * 12 + 3);
    disk.run(&search).unwrap();
    let after = content(&directory);
    for name in theirs {
        assert!(after.contains(&(name.to_string(), b"mine".to_vec())), "{name}");
    }
    // What stands where the search has to write is refused before anything is.
    for name in [MANIFEST, MARKER, PREVIOUS, "level-002.chunk-00001"] {
        let directory = Simulated::default();
        directory.create(name).unwrap().append(b"mine").unwrap();
        refused(&search, &[&directory], &[name]);
    }
}

/// A level file of another run at a place where this one will write stays, whoever put it there.
#[test]
fn a_foreign_level_file_is_not_overwritten() {
    let (search, [directory]) = stopped::<1>(false);
    let (_, [other]) = stopped::<1>(false);
    let level = content(&other).into_iter().rfind(|f| Manifest::is_file_name(&f.0)).unwrap();
    let name = "level-027.chunk-00001";
    directory.create(name).unwrap().append(&level.1).unwrap();
    refused(&search, &[&directory], &[name, "move the existing file away"]);
}

/// Runs of the version before the markers: no marker, no previous manifest, uncommitted files under the names
/// of committed ones.
#[test]
fn runs_without_markers_go_on_when_everything_is_there() {
    let (search, [first, second]) = stopped::<2>(false);
    let both = [&first, &second];
    for directory in both {
        directory.remove(MARKER).unwrap();
    }
    first.remove(PREVIOUS).unwrap();
    // One that its last session did not commit.
    let files = content(&first);
    let late = files.iter().rfind(|f| Manifest::is_file_name(&f.0)).unwrap();
    let header: LevelHeader = LevelReader::open(Box::new(late.1.clone())).unwrap().header;
    let name = Manifest::file_name(header.depth, 4);
    if !files.iter().any(|f| f.0 == name) {
        let mut bytes = late.1.clone();
        bytes[28..32].copy_from_slice(&4u32.to_le_bytes());
        let hash = xxhash_rust::xxh3::xxh3_64(&bytes[..120]);
        bytes[120..128].copy_from_slice(&hash.to_le_bytes());
        first.create(&name).unwrap().append(&bytes).unwrap();
    }
    let gone = content(&second).into_iter().find(|f| Manifest::is_file_name(&f.0)).unwrap();
    second.remove(&gone.0).unwrap();
    refused(&search, &both, &[&gone.0, "mounted?"]);
    second.create(&gone.0).unwrap().append(&gone.1).unwrap();
    let found = over(&both).run(&search).unwrap();
    assert_same(&found, &truth(&search), "without markers");
    assert!(both.iter().all(|d| d.list().unwrap().contains(&MARKER.to_string())));
}

/// A file system that cannot keep two searches apart says so, not a number.
#[test]
fn a_file_system_without_locks_is_named() {
    let directory = Simulated::with(Faults { no_locks: true, ..Faults::default() });
    let error = on(&directory, 1).run(&search("3x3")).unwrap_err().to_string();
    assert!(error.contains("lock"), "{error}");
}

/// A complete search is only read: on a full disk, a read-only one, or one whose lock is held.
#[test]
fn a_complete_run_writes_nothing() {
    let search = search("3x3");
    let directory = Simulated::default();
    let disk = on(&directory, 1);
    let whole = disk.run(&search).unwrap();
    let before = content(&directory);
    directory.set_faults(Faults { no_locks: true, capacity: Some(0), ..Faults::default() });
    let again = disk.run(&search).unwrap();
    assert_same(&again, &whole, "again");
    assert!(content(&directory) == before);
}

/// Nothing is lost when the last commit succeeds; when it fails, nobody says so.
#[test]
fn an_interrupt_does_not_hide_a_failed_commit() {
    let directory = Simulated::default();
    let disk = on(&directory, 1).commit_every(std::time::Duration::from_secs(3600));
    let left = AtomicI64::new(100);
    let fill = StopWhen(|| {
        let left = left.fetch_sub(1, Ordering::Relaxed);
        if left == 0 {
            let cut_at = Some(directory.syncs() + 1);
            directory.set_faults(Faults { cut_at, ..Faults::default() });
        }
        left <= 0
    });
    let error = disk.run_with(&search("3x3"), &fill).unwrap_err().to_string();
    assert!(error.contains("the power is cut"), "{error}");
}

/// Every disk must have room for its share, and directories on one disk share it.
#[test]
fn every_disk_has_room_for_its_share() {
    let budget = |rooms: &[(u64, u64)]| {
        let directories: Vec<Simulated> = rooms.iter().map(|_| Simulated::default()).collect();
        for (directory, &(room, device)) in directories.iter().zip(rooms) {
            directory.set_faults(Faults {
                capacity: Some(room),
                device: Some(device),
                ..Faults::default()
            });
        }
        disk::DiskBudget::of(&over(&directories.iter().collect::<Vec<_>>())).unwrap()
    };
    // Chunks are dealt out as 32 to 12.
    let two = budget(&[(1000, 1), (400, 2)]);
    assert!(two.check(1300).is_ok());
    let error = two.check(1500).unwrap_err().to_string();
    assert!(
        error.contains("1.09 kB") && error.contains("1000 B") && error.contains("one of the disks"),
        "{error}"
    );
    let one = budget(&[(1000, 1), (1000, 1)]);
    assert!(one.check(1000).is_ok() && one.check(1100).is_err());
}
