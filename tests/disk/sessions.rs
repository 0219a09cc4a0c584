//! Searches in several sessions, and in several directories.

use super::directories::content;
use super::*;
use std::time::Duration;
use tilewave::internals::{Codec, Directory, Io, LevelReader, Manifest};
use tilewave::search::PlaneStore;

#[test]
fn a_search_goes_on_in_the_middle_of_a_level() {
    for (size, digits) in [("3x3", 1), ("2x5", 2)] {
        let search = search(size);
        let truth = truth(&search);
        let directory = Simulated::default();
        // Sessions differ in where the planes lie: the files are the same.
        let planes = |session: usize| [PlaneStore::Memory, PlaneStore::Files][session % 2];
        let disk = |session| on(&directory, digits).planes(planes(session));
        let (found, sessions) = in_sessions(&search, disk, |_| 97);
        assert!(sessions >= 2, "{sessions}");
        assert_same(&found, &truth, size);
    }
}

/// Stops when this many chunks of earlier sessions have been read again.
struct StopResuming {
    after: u64,
    seen: std::sync::Mutex<Vec<(u64, u64)>>,
}

impl Progress for StopResuming {
    fn progress(&self, phase: Phase, done: u64, total: u64) {
        if phase == Phase::Resume {
            self.seen.lock().unwrap().push((done, total));
        }
    }

    fn interrupted(&self) -> bool {
        self.seen.lock().unwrap().len() as u64 >= self.after
    }
}

/// To read the last levels again takes minutes where they are large: who interrupts it is not made to wait, and loses
/// nothing.
#[test]
fn a_session_that_reads_its_levels_again_can_be_interrupted() {
    for (name, digits, some) in [("2x5", 2, 200), ("lx:9", 1, 140)] {
        let search = search(name).max_depth(20);
        let truth = truth(&search);
        let directory = Simulated::default();
        let disk = |planes| on(&directory, digits).planes(planes);
        // In the middle of a level: chunks of two levels are read again.
        run_some(&search, &disk(PlaneStore::Memory), some);
        let before = Manifest::read(&directory).unwrap().unwrap();
        let chunks = |depth: usize| {
            let files = before.files_of(depth as u32);
            files.map_or(0, |files| files.chunks.len() as u64)
        };
        let depth = before.levels.len();
        let total = chunks(depth - 1) + chunks(depth);
        assert!(chunks(depth) > 0 && total > 8, "{name}: {total}");
        for planes in [PlaneStore::Memory, PlaneStore::Files] {
            for after in [0, 1, chunks(depth - 1), total - 1] {
                let what = format!("{name}, {planes:?}, {after} of {total}");
                let stop = StopResuming { after, seen: Vec::new().into() };
                let error = disk(planes).run_with(&search, &stop).expect_err(&what);
                let states: u64 = before.levels.iter().map(|level| level.states).sum();
                let states = tilewave::report::counted(states, "state");
                let said = format!("interrupted at depth {depth} ({states} so far). Nothing is");
                assert!(error.to_string().contains(&said), "{what}: {error}");
                let seen = stop.seen.into_inner().unwrap();
                let shown: Vec<_> = (1..=after).map(|done| (done, total)).collect();
                assert_eq!(seen, shown, "{what}");
                let now = Manifest::read(&directory).unwrap().unwrap();
                assert_eq!((&now.levels, &now.files), (&before.levels, &before.files));
            }
        }
        let found = disk(PlaneStore::Files).run(&search).unwrap();
        assert_same(&found, &truth, name);
    }
}

/// Commits grouped by time name the same files as commits after every chunk, with far fewer syncs.
#[test]
fn commits_are_grouped_by_time() {
    let search = search("3x3");
    let (often, seldom) = (Simulated::default(), Simulated::default());
    on(&often, 1).run(&search).unwrap();
    let disk = on(&seldom, 1).commit_every(Duration::from_secs(3600));
    let found = disk.run(&search).unwrap();
    assert_same(&found, &truth(&search), "one commit");
    assert!(seldom.syncs() * 20 < often.syncs(), "{} and {}", seldom.syncs(), often.syncs());
}

#[test]
fn the_last_level_and_depth_limits_work_on_disk() {
    let mut search = search("3x3").keep_last(10);
    let truth = truth(&search);
    let directory = Simulated::default();
    search.max_depth = Some(12);
    let part = on(&directory, 1).run(&search).unwrap();
    assert_eq!((part.counts.len(), part.complete), (13, false));
    assert_eq!(part.counts, truth.counts[..13]);
    search.max_depth = None;
    let found = on(&directory, 1).run(&search).unwrap();
    assert_same(&found, &truth, "in two parts");
    assert_eq!(found.last.len(), 2);
    // A finished search is only read.
    let again = on(&directory, 1).run(&search).unwrap();
    assert_same(&again, &truth, "again");
}

#[test]
fn other_goals_and_starts_search_on_disk() {
    let search = search("2x4");
    let start = tilewave::puzzle::Board::parse("1 0 2 3/5 6 7 4", None).unwrap();
    let search = search.clone().space(search.space.from_board(start));
    let truth = truth(&search);
    let directory = Simulated::default();
    let found = on(&directory, 1).run(&search).unwrap();
    assert_same(&found, &truth, "another start");
}

#[test]
fn other_goals_search_on_disk() {
    for (size, goal) in
        [("3x3", "first"), ("3x3", "blank=4"), ("2x4", "4 3 2 1/0 5 6 7"), ("2x5", "blank=2")]
    {
        let size: Size = size.parse().unwrap();
        let goal = goal.parse::<Goal>().unwrap().board(size).unwrap();
        let search = Search::new(goal.clone()).threads(1);
        let truth = truth(&search);
        assert!(truth.complete && truth.space().unwrap().goal_text() == goal.to_string());
        // 2x4 has digits for one only.
        for digits in 1..=if size.cells() > 8 { 2 } else { 1 } {
            let directory = Simulated::default();
            let disk = on(&directory, digits);
            let found = disk.run(&search).unwrap();
            assert_same(&found, &truth, &format!("goal {goal}, {digits} digits"));
            // Another goal is another search: nothing of this one is taken for it.
            let other = Search::new(Goal::Last.board(size).unwrap());
            let error = disk.run(&other).unwrap_err();
            assert!(error.to_string().contains("goal"), "{error}");
        }
    }
}

#[test]
fn all_levels_are_kept_when_asked() {
    let search = search("3x3");
    let directory = Simulated::default();
    let disk = on(&directory, 1).keep_all(true);
    let found = disk.run(&search).unwrap();
    let whole = disk::verify(&disk.directories).unwrap();
    assert_eq!(whole.states, found.total());
    assert_eq!(
        whole.bytes,
        disk::status(&disk.directories).unwrap().manifest.bytes_written - framing(&directory)
    );
}

/// Bytes of headers, indices and trailers.
fn framing(directory: &Simulated) -> u64 {
    let names = directory.list().unwrap();
    let files = names.iter().filter(|name| tilewave::internals::Manifest::is_file_name(name));
    files
        .map(|name| {
            let reader = LevelReader::open(directory.open(name).unwrap()).unwrap();
            let frames: u64 = reader.index.iter().map(|entry| u64::from(entry.len)).sum();
            reader.file.len() - frames
        })
        .sum()
}

/// Every file says how it is coded, so the files of one run need not be coded alike.
#[test]
fn a_run_goes_on_with_another_codec() {
    let search = search("3x3");
    let truth = truth(&search);
    for (before, after) in [(Codec::Zstd, Codec::Rans), (Codec::Rans, Codec::Zstd)] {
        let directory = Simulated::default();
        let with = |codec| on(&directory, 1).codec(codec);
        run_some(&search, &with(before), 8 * 15 + 3);
        let codecs = || {
            let names = directory.list().unwrap();
            let levels = names.into_iter().filter(|n| n.starts_with("level-"));
            let open = |n: String| LevelReader::open(directory.open(&n).unwrap()).unwrap();
            levels.map(open).map(|r| r.header.codec).collect::<Vec<_>>()
        };
        assert!(codecs().iter().all(|codec| *codec == before));
        run_some(&search, &with(after), 8);
        assert!(codecs().contains(&before) && codecs().contains(&after));
        let found = with(after).run(&search).unwrap();
        assert_same(&found, &truth, after.name());
    }
}

/// What was read of a file of planes gives its disk back, and the rest stays.
#[test]
fn a_part_of_a_file_gives_its_disk_back() {
    let dir = tempfile::tempdir().unwrap();
    let directory = Directory::create(dir.path(), Io::Read).unwrap();
    let mut file = directory.create("planes").unwrap();
    file.append(&vec![7; 1 << 20]).unwrap();
    file.sync().unwrap();
    let released = directory.release("planes", 10_000, 1 << 19);
    let bytes = directory.open("planes").unwrap().read(0, 1 << 20).unwrap();
    let mut left = bytes.as_ref().iter().enumerate().filter(|(_, b)| **b == 7);
    let inside = 10_000..10_000 + (1 << 19);
    // Not every file system can.
    if released {
        #[cfg(unix)]
        {
            let file = std::fs::metadata(dir.path().join("planes")).unwrap();
            assert!(std::os::unix::fs::MetadataExt::blocks(&file) < 2048);
        }
        assert!(left.clone().all(|(at, _)| !inside.contains(&at)));
    }
    assert_eq!(left.by_ref().filter(|(at, _)| !inside.contains(at)).count(), 1 << 19);
    assert!(!directory.release("none", 0, 1));
}

#[test]
fn chunks_are_spread_over_directories() {
    let search = search("3x3");
    let dirs = [0, 1, 2].map(|_| tempfile::tempdir().unwrap());
    let disk = || {
        let open = |dir: &tempfile::TempDir| -> Box<dyn Storage> {
            Box::new(Directory::create(dir.path(), Io::Read).unwrap())
        };
        Disk::new(Directories::new(dirs.iter().map(open).collect()))
            .shared_digits(1)
            .commit_every(Duration::ZERO)
    };
    run_some(&search, &disk(), 8 * 20);
    for dir in &dirs {
        assert!(std::fs::read_dir(dir.path()).unwrap().count() > 2);
    }
    let found = disk().run(&search).unwrap();
    assert_same(&found, &truth(&search), "three directories");
    let fewer = Directory::create(dirs[0].path(), Io::Read).unwrap();
    let fewer = Disk::new(Directories::new(vec![Box::new(fewer)]));
    let error = fewer.run(&search).unwrap_err().to_string();
    assert!(error.contains("directories: 3, not 1"), "{error}");
}

#[test]
fn two_searches_do_not_share_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Directory::create(dir.path(), Io::Read).unwrap();
    let lock = open().lock().unwrap().unwrap();
    let mut disk =
        Disk::new(Directories::new(vec![Box::new(open())])).patience(Duration::from_millis(100));
    let error = disk.run(&search("3x3")).unwrap_err().to_string();
    assert!(error.contains("another search is running in this directory"), "{error}");
    assert!(disk.directories.is_locked());
    // A search that was killed holds the lock until the system has its memory back: the next one waits.
    disk.patience = Duration::from_secs(60);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| disk.run(&search("3x3")));
        std::thread::sleep(Duration::from_millis(300));
        assert!(!second.is_finished());
        drop(lock);
        second.join().unwrap().unwrap();
    });
}

/// The lock of a directory is held by one at a time, also where its file is removed meanwhile.
#[test]
fn a_lock_whose_file_was_removed_locks_nobody_out_and_nobody_in() {
    use std::sync::atomic::AtomicUsize;
    let dir = tempfile::tempdir().unwrap();
    let (holders, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let directory = Directory::create(dir.path(), Io::Read).unwrap();
                for _ in 0..3000 {
                    let Some(lock) = directory.lock().unwrap() else { continue };
                    assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two hold the lock");
                    held.fetch_add(1, Ordering::SeqCst);
                    holders.fetch_sub(1, Ordering::SeqCst);
                    directory.remove("lock").unwrap();
                    drop(lock);
                }
            });
        }
    });
    assert!(held.into_inner() > 100);
}

/// A complete run is read without its lock, and nothing is written; if something is left to be done, the lock is taken.
#[test]
fn a_complete_run_is_read_beside_whoever_holds_its_lock() {
    let search = search("2x4");
    let lists = tilewave::frontier::FrontierSearch::new(
        tilewave::puzzle::Puzzle::of_space(&search.space).unwrap(),
    );
    for listed in [false, true] {
        let directory = Simulated::default();
        let disk = on(&directory, 1).shared_digits((!listed).then_some(1));
        let run = || match listed {
            true => disk.run(&lists).map(|found| found.counts),
            false => disk.run(&search).map(|found| found.counts),
        };
        let counts = run().unwrap();
        let (before, syncs) = (content(&directory), directory.syncs());
        let lock = directory.lock().unwrap();
        assert_eq!(run().unwrap(), counts);
        assert!(content(&directory) == before, "{listed}: files have changed");
        assert_eq!(directory.syncs(), syncs, "{listed}: something was written");
        // A commit whose power was cut before its last renames.
        let manifest = Manifest::read(&directory).unwrap().unwrap();
        let run_number = manifest.run;
        let name = format!("level-003.chunk-00000.{run_number:016x}.new");
        directory.create(&name).unwrap();
        let error = run().unwrap_err().to_string();
        assert!(error.contains("another search is running"), "{error}");
        assert!(directory.list().unwrap().contains(&name));
        drop(lock);
        assert_eq!(run().unwrap(), counts);
        assert!(!directory.list().unwrap().contains(&name), "{listed}");
    }
}
