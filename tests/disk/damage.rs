//! Broken disks, full disks, files that are not what they should be.

use super::corpus::mend;
use super::directories::stopped;
use super::*;
use tilewave::internals::{MANIFEST, Manifest};
use tilewave::search::PlaneStore;

fn message(search: &Search, directory: &Simulated, keep_all: bool) -> String {
    on(directory, 1).keep_all(keep_all).run(search).unwrap_err().to_string()
}

#[test]
fn a_full_disk_stops_the_run_and_room_lets_it_go_on() {
    let search = search("3x3");
    let truth = truth(&search);
    let mut stops = 0;
    for capacity in (2_000..60_000).step_by(1_777) {
        let directory = Simulated::with(Faults { capacity: Some(capacity), ..Faults::default() });
        if let Err(error) = on(&directory, 1).run(&search) {
            stops += 1;
            let error = error.to_string();
            assert!(error.contains("lost: free some space"), "{capacity}: {error}");
        }
        directory.set_faults(Faults::default());
        let found = on(&directory, 1).run(&search).unwrap();
        assert_same(&found, &truth, &format!("{capacity} bytes"));
    }
    assert!(stops > 10, "{stops} of the capacities were too small");
}

/// Is told when levels are computed again: from which depth, and why.
struct OnRebuilding<F>(F);

impl<F: Fn(usize, &str) + Sync> Progress for OnRebuilding<F> {
    fn rebuilding(&self, depth: usize, reason: &str) {
        self.0(depth, reason);
    }
}

/// "Nothing is lost" is said only where the last commit stands.
#[test]
fn a_full_disk_says_what_is_lost() {
    struct Levels(std::sync::atomic::AtomicUsize);
    impl tilewave::Progress for Levels {
        fn level(&self, level: &tilewave::progress::LevelDone) {
            self.0.store(level.depth + 1, std::sync::atomic::Ordering::Relaxed);
        }
    }
    let search = search("2x6").max_depth(36);
    let (mut kept, mut lost) = (0, 0);
    for capacity in (20_000..9_000_000).step_by(300_007) {
        let directory = Simulated::default();
        let faults = Faults { capacity: Some(capacity), ..Faults::default() };
        directory.set_faults(faults);
        let disk =
            on(&directory, 1).commit_every(std::time::Duration::from_secs(3600)).keep_all(true);
        let levels = Levels(0.into());
        let Err(error) = disk.run_with(&search, &levels) else {
            continue;
        };
        directory.set_faults(Faults::default());
        let error = error.to_string();
        let manifest = Manifest::read(&directory).unwrap();
        let committed = manifest.map_or(0, |manifest| manifest.levels.len());
        let done = levels.0.into_inner();
        if error.contains("nothing is lost: free some space") {
            assert!(committed >= done, "{capacity}: {committed} of {done} levels: {error}");
            kept += 1;
        } else {
            assert!(error.contains("is lost: free some space"), "{capacity}: {error}");
            lost += 1;
        }
    }
    assert!(kept > 5 && lost > 5, "{kept} kept, {lost} lost");
}

/// Where no bytes of a file can be given back, they are held until the file goes.
#[test]
fn a_disk_that_gives_no_part_of_a_file_back_ends_no_search() {
    // Smaller boards do not send enough for any part to be given back.
    let search = search("2x7").max_depth(32);
    let found = [false, true].map(|no_release| {
        let directory = Simulated::with(Faults { no_release, ..Faults::default() });
        let disk = on(&directory, 1)
            .planes(PlaneStore::Files)
            .commit_every(std::time::Duration::from_secs(3600));
        let found = disk.run(&search).unwrap();
        assert!(directory.releases() > 0);
        found
    });
    assert_same(&found[1], &found[0], "held");
}

#[test]
fn a_limit_stops_the_run_and_a_larger_one_lets_it_go_on() {
    let search = search("3x3");
    let directory = Simulated::default();
    let mut disk = on(&directory, 1).limit(20_000);
    let error = disk.run(&search).unwrap_err().to_string();
    assert!(error.contains("limit of 20 kB"), "{error}");
    disk.limit = None;
    let found = disk.run(&search).unwrap();
    assert_same(&found, &truth(&search), "after the limit");
    assert!(found.disk.unwrap().peak_bytes > 20_000);
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_read_again_later() {
    let (search, [directory]) = stopped(false);
    for name in level_files(&directory) {
        let broken = directory.copy();
        broken.set_faults(Faults { unreadable: Some(name.clone()), ..Faults::default() });
        let error = message(&search, &broken, false);
        assert!(error.contains(&name) && error.contains("input/output error"), "{error}");
        broken.set_faults(Faults::default());
        let found = on(&broken, 1).run(&search).unwrap();
        assert_same(&found, &truth(&search), &name);
    }
}

#[test]
fn a_flipped_bit_in_any_file_is_found_and_named() {
    let (search, [directory]) = stopped(false);
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
            assert!(error.contains("start again in another dir"), "{error}");
            let checked = disk::verify(&on(&broken, 1).directories);
            assert!(checked.unwrap_err().to_string().contains(name));
        }
    }
}

/// Files cut short, and zeros in place of their pages: a lost write, or a hole.
#[test]
fn truncated_missing_and_zeroed_files_are_named() {
    let (search, [directory]) = stopped(false);
    let files = level_files(&directory);
    let broken = |change: &dyn Fn(&Simulated)| {
        let broken = directory.copy();
        change(&broken);
        message(&search, &broken, false)
    };
    for name in &files {
        for keep in [0, 1, 100, 150] {
            let error = broken(&|directory| directory.damage(name, |bytes| bytes.truncate(keep)));
            let said = error.contains(name) && error.contains("not a complete level file");
            assert!(said, "{error}");
        }
        let len = directory.open(name).unwrap().len() as usize;
        for range in [0..len, 128..len, 128..len - 64, 128..140.min(len), len - 64..len] {
            let zeros = |bytes: &mut Vec<u8>| bytes[range.clone()].fill(0);
            let error = broken(&|directory| directory.damage(name, zeros));
            assert!(error.contains(name), "{range:?}: {error}");
        }
        let zeroed = Faults { zeroed: Some(name.clone()), ..Faults::default() };
        assert!(broken(&|directory| directory.set_faults(zeroed.clone())).contains(name));
        assert!(broken(&|directory| directory.remove(name).unwrap()).contains(name));
    }
    let frame = |bytes: &mut Vec<u8>| bytes[140] ^= 4;
    let error = broken(&|directory| directory.damage(&files[0], frame));
    assert!(error.contains("frame 0 (from line"), "{error}");
}

#[test]
fn kept_levels_are_computed_again_when_one_is_damaged() {
    let (search, [directory]) = stopped(true);
    let truth = truth(&search);
    let files = level_files(&directory);
    for name in [files.last().unwrap(), &files[files.len() / 2], &files[0]] {
        let broken = directory.copy();
        broken.damage(name, |bytes| bytes[150] ^= 1);
        let mut disk = on(&broken, 1);
        (disk.keep_all, disk.check) = (true, true);
        let seen = std::sync::Mutex::new(Vec::new());
        let see = OnRebuilding(|_, reason: &str| seen.lock().unwrap().push(reason.to_string()));
        let found = disk.run_with(&search, &see).unwrap();
        assert_same(&found, &truth, name);
        let seen = seen.into_inner().unwrap();
        assert!(seen.len() == 1 && seen[0].contains(name.as_str()), "{seen:?}");
        let whole = disk::verify(&disk.directories).unwrap();
        assert_eq!(whole.states, truth.total());
    }
}

/// What was committed is computed again only on request.
#[test]
fn a_damaged_level_is_named_and_left_unless_asked() {
    let (search, [directory]) = stopped(true);
    let files = level_files(&directory);
    directory.damage(files.last().unwrap(), |bytes| bytes[150] ^= 1);
    let error = message(&search, &directory, true);
    assert!(error.contains("resume --check") && error.contains("is damaged"), "{error}");
    assert_eq!(level_files(&directory), files, "nothing is removed");
}

/// A disk that always reads a level wrong ends the run instead of computing it for ever.
#[test]
fn a_level_that_always_reads_wrong_is_computed_again_once() {
    let (search, [directory]) = stopped(true);
    let mut disk = on(&directory, 1);
    (disk.keep_all, disk.check) = (true, true);
    directory
        .set_faults(Faults { flipped: Some("level-010.chunk-00003".into()), ..Faults::default() });
    let seen = AtomicI64::new(0);
    let see = OnRebuilding(|_, _: &str| {
        assert!(seen.fetch_add(1, Ordering::Relaxed) < 100, "it never stops");
    });
    let error = disk.run_with(&search, &see).unwrap_err().to_string();
    assert!(error.contains("level-010.chunk-00003"), "{error}");
    assert_eq!(seen.into_inner(), 1);
    directory.set_faults(Faults::default());
    let found = disk.run(&search).unwrap();
    assert_same(&found, &truth(&search), "a disk that reads right again");
}

/// Files and a manifest that agree with each other, but not with the states in the files: a search that goes on counts
/// what arrives in memory; `check` is not the only one who does.
#[test]
fn a_file_with_other_states_than_it_says_ends_the_search() {
    let mut tried = 0;
    for keep_all in [false, true] {
        let (search, [directory]) = stopped(keep_all);
        let manifest = Manifest::read(&directory).unwrap().unwrap();
        // The level that is read first of all, and the one that is subtracted.
        let levels = manifest.levels.len();
        for depth in [levels - 2, levels - 1] {
            let files = manifest.files.iter().position(|files| files.depth as usize == depth);
            let files = files.unwrap();
            for (i, record) in manifest.files[files].chunks.iter().enumerate() {
                // Of chunks that the next level has already, the file that was subtracted is not read again.
                let next = manifest.files_of(levels as u32).unwrap();
                let is_done = next.chunks.iter().any(|done| done.chunk == record.chunk);
                if record.bytes == 0 || depth + 2 == levels && is_done {
                    continue;
                }
                let (broken, mut wrong) = (directory.copy(), manifest.clone());
                wrong.files[files].chunks[i].states += 1;
                wrong.levels[depth].states += 1;
                broken.damage(MANIFEST, |bytes| *bytes = wrong.text().into_bytes());
                let name = Manifest::file_name(depth as u32, record.chunk);
                broken.damage(&name, |bytes| {
                    let at = bytes.len() - 48;
                    bytes[at..at + 8].copy_from_slice(&(record.states + 1).to_le_bytes());
                    mend(bytes);
                });
                tried += 1;
                let error = message(&search, &broken, keep_all);
                assert!(error.contains(&name), "{error}");
                assert!(error.contains("the states in this file do not match"), "{error}");
            }
        }
    }
    assert!(tried > 10, "{tried} files");
}

/// What the manifest says of chunks is compared with what it says of levels, before anything rests on it.
#[test]
fn a_manifest_whose_chunks_do_not_add_up_is_refused() {
    let (search, [directory]) = stopped(false);
    let manifest = Manifest::read(&directory).unwrap().unwrap();
    let last = manifest.levels.len() - 1;
    let files = manifest.files.iter().position(|files| files.depth as usize == last).unwrap();
    let changes: [fn(&mut Manifest, usize); 4] = [
        |manifest, files| _ = manifest.files[files].chunks.swap_remove(0),
        |manifest, files| manifest.files[files].chunks[1].checksum ^= 1,
        |manifest, files| {
            let chunk = manifest.files[files].chunks.iter_mut().find(|chunk| chunk.states > 0);
            chunk.unwrap().states += 1;
        },
        |manifest, files| _ = manifest.files.remove(files),
    ];
    for (i, change) in changes.iter().enumerate() {
        let broken = directory.copy();
        let mut wrong = manifest.clone();
        change(&mut wrong, files);
        broken.damage(MANIFEST, |bytes| *bytes = wrong.text().into_bytes());
        let before = level_files(&broken);
        let error = message(&search, &broken, false);
        assert!(error.contains(&format!("depth {last}")), "{i}: {error}");
        assert!(
            error.contains("manifest") && error.contains("tilewave check --repair"),
            "{i}: {error}"
        );
        assert!(disk::verify(&on(&broken, 1).directories).is_err(), "{i}");
        assert_eq!(level_files(&broken), before, "nothing is removed");
    }
}

/// A flipped bit in a scratch file gave wrong counts, and so did zeros: now they are found, and the planes are filled
/// again from the level files; a disk that always reads them wrong ends the run.
#[test]
fn a_scratch_file_that_reads_wrong_changes_nothing() {
    let search = search("3x3");
    let truth = truth(&search);
    let mut found_damage = 0;
    for depth in (3..30).step_by(4) {
        let directory = Simulated::default();
        let disk = on(&directory, 1).planes(PlaneStore::Files);
        let name = Some(format!("cross-{depth:03}.chunk-00002"));
        let faults = match depth % 8 {
            3 => Faults { flipped: name, ..Faults::default() },
            _ => Faults { zeroed: name, ..Faults::default() },
        };
        directory.set_faults(faults.clone());
        let mend = OnRebuilding(|_, reason: &str| {
            assert!(reason.contains("cross-"), "{reason}");
            directory.set_faults(Faults::default());
        });
        let found = disk.run_with(&search, &mend).unwrap();
        assert_same(&found, &truth, &format!("depth {depth}"));
        let left = directory.list().unwrap();
        let left: Vec<_> = left.iter().filter(|n| n.starts_with("cross-")).collect();
        assert!(left.is_empty(), "{left:?} at the end");

        let directory = Simulated::default();
        let disk = on(&directory, 1).planes(PlaneStore::Files);
        directory.set_faults(faults);
        if let Err(error) = disk.run(&search) {
            found_damage += 1;
            let error = error.to_string();
            assert!(error.contains("the bytes read back differ from those written"), "{error}");
            directory.set_faults(Faults::default());
            let found = disk.run(&search).unwrap();
            assert_same(&found, &truth, &format!("depth {depth}, later"));
        }
    }
    assert!(found_damage >= 4, "{found_damage}");
}

/// Scratch counts against the limit and is gone after an interrupt.
#[test]
fn scratch_is_counted_and_removed() {
    let search = search("3x3");
    let most = |planes| {
        let directory = Simulated::default();
        let disk = on(&directory, 1).planes(planes);
        let found = disk.run(&search).unwrap();
        found.disk.unwrap().peak_bytes
    };
    let (without, with) = (most(PlaneStore::Memory), most(PlaneStore::Files));
    assert!(with > without + without / 20, "{with} and {without}");

    let directory = Simulated::default();
    let mut disk = on(&directory, 1).planes(PlaneStore::Files).limit((without + with) / 2);
    let error = disk.run(&search).unwrap_err().to_string();
    assert!(error.contains("have reached the limit"), "{error}");
    disk.limit = None;
    run_some(&search, &disk, 3);
    let left = directory.list().unwrap();
    assert!(left.iter().all(|n| !n.starts_with("cross-")), "{left:?}");
    let found = disk.run(&search).unwrap();
    assert_same(&found, &truth(&search), "after limit and interrupt");
}

#[test]
fn a_damaged_manifest_is_refused() {
    let (search, [directory]) = stopped(false);
    for at in [0, 15, 20, 60, 300] {
        let broken = directory.copy();
        broken.damage("manifest", |bytes| bytes[at] ^= 2);
        let error = message(&search, &broken, false);
        assert!(error.contains("manifest"), "{error}");
        assert!(error.contains("tilewave check --repair"), "{error}");
        assert_eq!(level_files(&broken), level_files(&directory), "nothing is removed");
    }
}

#[test]
fn the_files_of_another_run_are_refused() {
    let (search, [directory]) = stopped(false);
    directory.remove("tilewave-run").unwrap();
    directory.remove("manifest.previous").unwrap();
    let (_, [other]) = stopped(false);
    let mut theirs = Vec::new();
    other.damage("manifest", |bytes| theirs = bytes.clone());
    directory.damage("manifest", |bytes| *bytes = theirs);
    let error = message(&search, &directory, false);
    assert!(error.contains("belongs to another search"), "{error}");
}

#[test]
fn another_search_in_the_directory_is_refused_by_name() {
    let (_, [directory]) = stopped(false);
    let error = message(&search("2x4"), &directory, false);
    assert!(error.contains("contains another search (board: 3x3, not 2x4)"), "{error}");
    let mut other = search("3x3");
    let start = tilewave::puzzle::Board::parse("1 2 3/4 5 6/7 0 8", None).unwrap();
    other.space = other.space.from_board(start);
    let error = message(&other, &directory, false);
    assert!(error.contains("start: 1 2 3/4 5 6/7 8 0, not 1 2 3/4 5 6/7 0 8"), "{error}");
    let error = message(&search("3x3"), &directory, true);
    assert!(error.contains("levels kept: last, not all"), "{error}");
}
