//! Searches of several ranks, here threads of one process, against the search in memory.

use std::sync::atomic::{AtomicUsize, Ordering};

use tilewave::Error;
use tilewave::internals::{Directory, Io, Manifest, lehmer};
use tilewave::progress::{LevelDone, NoProgress, Progress};
use tilewave::puzzle::{Goal, StateSpace};
use tilewave::search::Stop;
use tilewave::search::disk::{Directories, Disk};
use tilewave::search::{Communicator, Outcome, Reduce, Search, SearchError};

use super::simulated::Simulated;
use super::threads::ranks;
use super::{assert_same, on};

fn search(size: &str) -> Search {
    super::search(size).keep_last(5)
}

fn disk_in(path: &std::path::Path) -> Disk {
    let directory = Directory::create(path, Io::Read).unwrap();
    Disk::new(Directories::new(vec![Box::new(directory)]))
}

/// A search of several ranks: what rank 0 returns.
pub fn together(
    search: &Search,
    size: usize,
    disk: impl Fn(usize) -> Disk + Sync,
) -> Result<Outcome, Stop> {
    ranks(size, |team| disk(team.rank()).run_distributed_with(search, team, &NoProgress))
        .swap_remove(0)
}

/// The same levels with some ranks, K and windows that cross, and no more bytes than 1 bit per line and
/// window, 2 % for the numbers of the blocks, and 20 for each message of a chunk to another.
fn same_levels(board: &str, ways: &[(usize, usize, u64)]) {
    let search = search(board);
    let memory = search.run().unwrap();
    let lines = lehmer::even_count(search.space.size().unwrap().tiles());
    for &(size, digits, windows) in ways {
        let what = format!("{board}, K = {digits}, {size} ranks");
        let directory = Simulated::default();
        let outcome = together(&search, size, |_| {
            on(&directory, digits).commit_every(std::time::Duration::from_secs(10))
        });
        let outcome = outcome.unwrap();
        assert_same(&outcome, &memory, &what);
        let used = outcome.disk.unwrap();
        assert_eq!(used.ranks, size);
        if size == 1 {
            assert!(used.network_bytes.is_empty(), "{what}");
            continue;
        }
        assert_eq!(used.network_bytes.len(), memory.counts.len() + 1);
        let most = used.network_bytes.iter().max().unwrap();
        let headers = 20 * windows * (used.chunks * (used.chunks - 1)) as u64;
        assert!(*most <= lines * windows / 8 * 102 / 100 + headers, "{what}: {most} bytes");
        assert!(*most > 0, "{what}");
        // The thin first levels send next to nothing.
        assert!(used.network_bytes[1] < most / 10, "{what}");
    }
}

#[test]
fn ranks_find_the_levels_of_3x3() {
    let search = search("3x3");
    let memory = search.run().unwrap();
    for size in 1..=4 {
        let dir = tempfile::tempdir().unwrap();
        let outcome = together(&search, size, |_| disk_in(dir.path())).unwrap();
        assert_same(&outcome, &memory, &format!("{size} ranks"));
    }
}

#[test]
fn ranks_find_the_levels_of_2x5() {
    let sizes = 1..=4;
    let ways: Vec<_> = sizes.flat_map(|size| [(size, 1, 1), (size, 2, 1)]).collect();
    same_levels("2x5", &ways);
}

#[test]
fn ranks_find_the_levels_of_3x4() {
    same_levels("3x4", &[(2, 2, 2)]);
}

#[test]
fn ranks_find_the_levels_of_2x6() {
    same_levels("2x6", &[(3, 1, 1)]);
}

/// Says after a depth that the search should stop.
struct StopAt {
    at: usize,
    depth: AtomicUsize,
}

impl StopAt {
    fn depth(at: usize) -> StopAt {
        let depth = AtomicUsize::new(0);
        StopAt { at, depth }
    }
}

impl Progress for StopAt {
    fn interrupted(&self) -> bool {
        self.depth.load(Ordering::Relaxed) >= self.at
    }

    fn continued(&self, depth: usize, _: u64) {
        self.depth.store(depth, Ordering::Relaxed);
    }

    fn level(&self, level: &LevelDone) {
        self.depth.store(level.depth, Ordering::Relaxed);
    }
}

/// What a rank says that stopped together with the others.
pub fn refused(stopped: Result<Outcome, Stop>) -> String {
    match stopped {
        Err(Stop::Together(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

/// The depth at which a rank says that it stopped, together with the others.
fn paused_at(stopped: Result<Outcome, Stop>) -> usize {
    match stopped {
        Err(Stop::Together(Error::Search(SearchError::Paused { depth, .. }))) => depth,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_search_goes_on_with_another_number_of_ranks() {
    let search = search("2x5");
    let memory = search.run().unwrap();
    let dir = tempfile::tempdir().unwrap();
    for (size, depth) in [(3, 10), (1, 20), (4, 30), (2, 40)] {
        let stopped = ranks(size, |team| {
            let disk = disk_in(dir.path()).shared_digits(1).commit_every(std::time::Duration::ZERO);
            disk.run_distributed_with(&search, team, &StopAt::depth(depth))
        });
        stopped.into_iter().for_each(|stopped| assert_eq!(paused_at(stopped), depth + 1));
    }
    // Now without ranks.
    let outcome = disk_in(dir.path()).run(&search).unwrap();
    assert_same(&outcome, &memory, "one machine");
    // And a finished one is only read.
    let again = together(&search, 3, |_| disk_in(dir.path())).unwrap();
    assert_same(&again, &memory, "again");
}

/// One of the ranks is told to stop while they read their levels again: all stop there, before they compute anything.
#[test]
fn ranks_that_read_their_levels_again_stop_together() {
    let search = search("2x5");
    let memory = search.run().unwrap();
    let directory = Simulated::default();
    let first = search.clone().max_depth(25);
    together(&first, 3, |_| on(&directory, 1)).unwrap();
    let stopped = ranks(3, |team| {
        let stop = StopAt::depth(if team.rank() == 1 { 0 } else { usize::MAX });
        on(&directory, 1).run_distributed_with(&search, team, &stop)
    });
    stopped.into_iter().for_each(|stopped| assert_eq!(paused_at(stopped), 26));
    let manifest = Manifest::read(&directory).unwrap().unwrap();
    assert!(manifest.files_of(26).is_none());
    let outcome = together(&search, 2, |_| on(&directory, 1)).unwrap();
    assert_same(&outcome, &memory, "afterwards");
}

#[test]
fn a_search_of_one_machine_goes_on_with_ranks() {
    let search = search("2x5");
    let memory = search.run().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let first = search.clone().max_depth(25);
    let disk = disk_in(dir.path()).shared_digits(2);
    disk.run(&first).unwrap();
    let outcome = together(&search, 3, |_| disk_in(dir.path())).unwrap();
    assert_same(&outcome, &memory, "three ranks");
    assert_eq!(outcome.disk.unwrap().chunks, 72);
}

#[test]
fn ranks_with_directories_of_their_own_need_them_again() {
    let search = search("2x5");
    let memory = search.run().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let node = |rank: usize| disk_in(&dir.path().join(format!("node-{rank}")));
    let first = search.clone().max_depth(30);
    // Four ranks on two machines.
    together(&first, 4, |rank| node(rank / 2)).unwrap();
    // One machine alone lacks the other's files.
    let refused = together(&search, 2, |_| node(0));
    let Err(Stop::Together(Error::Search(SearchError::Apart { .. }))) = refused else {
        panic!("{refused:?}");
    };
    // The manifest is the first machine's.
    let refused = together(&search, 2, |rank| node(1 - rank));
    let Err(Stop::Together(Error::Search(SearchError::Elsewhere { rank: 1, .. }))) = refused else {
        panic!("{refused:?}");
    };
    // Another number of ranks on the same machines will do.
    let middle = search.clone().max_depth(40);
    together(&middle, 3, |rank| node(usize::from(rank == 1))).unwrap();
    // And so will one machine that has all files.
    for entry in std::fs::read_dir(dir.path().join("node-1")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if name.to_string_lossy().starts_with("level-") {
            std::fs::rename(entry.path(), dir.path().join("node-0").join(name)).unwrap();
        }
    }
    let outcome = node(0).run(&search).unwrap();
    assert_same(&outcome, &memory, "one machine");
}

#[test]
fn one_job_at_a_time_works_in_a_directory() {
    let search = search("3x3");
    let dir = tempfile::tempdir().unwrap();
    let outer = Directory::create(dir.path(), Io::Read).unwrap();
    let lock = tilewave::internals::Storage::lock(&outer).unwrap().unwrap();
    for stopped in
        ranks(3, |team| disk_in(dir.path()).run_distributed_with(&search, team, &NoProgress))
    {
        let error = refused(stopped);
        assert!(error.contains("another search is running"), "{error}");
    }
    drop(lock);
    // What a job leaves that is killed while its ranks find each other, and what only looks like it.
    let files = [
        ("cross-job-0123456789abcdef.000003", ""),
        ("cross-job-0123456789abcdef.000004", "mine"),
        ("cross-job-interviews.txt", ""),
        ("cross-job-0123456789abcdef.3", ""),
    ];
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    together(&search, 3, |_| disk_in(dir.path())).unwrap();
    let left = std::fs::read_dir(dir.path()).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut left: Vec<_> = left.filter(|name| name.starts_with("cross-")).collect();
    left.sort_unstable();
    assert_eq!(left, [files[1].0, files[3].0, files[2].0].map(String::from));
}

#[test]
fn ranks_refuse_what_one_machine_refuses() {
    let dir = tempfile::tempdir().unwrap();
    together(&search("3x3"), 2, |_| disk_in(dir.path())).unwrap();
    for (board, what) in [("2x5", "board"), ("2x3", "only in memory")] {
        let error = refused(together(&search(board), 2, |_| disk_in(dir.path())));
        assert!(error.contains(what), "{board}: {error}");
    }
    // One rank has too little memory: all stop, and rank 0 says whose.
    let dir = tempfile::tempdir().unwrap();
    let stopped = ranks(3, |team| {
        let search = search("2x5").memory((team.rank() == 2).then_some(1000));
        disk_in(dir.path()).run_distributed_with(&search, team, &NoProgress)
    });
    let Err(Stop::Together(Error::Search(SearchError::Elsewhere { rank: 2, reason }))) =
        &stopped[0]
    else {
        panic!("{:?}", stopped[0]);
    };
    assert!(reason.contains("1000 B"), "{reason}");
    assert!(matches!(stopped[2], Err(Stop::Together(Error::Search(_)))));
}

/// Every rank says who was started for another search, and none computes anything.
#[test]
fn ranks_that_were_started_for_different_searches_stop_with_the_same_words() {
    type Change = (&'static str, fn(&mut Search, &mut Disk));
    let changes: [Change; 7] = [
        ("goal", |search, _| {
            let size = search.space.size().unwrap();
            search.space = StateSpace::of_board(Goal::First.board(size).unwrap())
        }),
        ("start", |search, _| {
            let start = Goal::Blank(2).board(search.space.size().unwrap());
            search.space = search.space.clone().from_board(start.unwrap())
        }),
        ("board", |search, _| *search = self::search("2x5")),
        ("max-depth", |search, _| search.max_depth = Some(5)),
        ("shared-digits", |_, disk| disk.shared_digits = Some(2)),
        ("levels kept", |_, disk| disk.keep_all = true),
        ("directories", |_, disk| {
            let two = || -> Box<dyn tilewave::internals::Storage> { Box::<Simulated>::default() };
            disk.directories = Directories::new(vec![two(), two()]);
        }),
    ];
    for (name, change) in changes {
        let directory = Simulated::default();
        let stopped = ranks(3, |communicator| {
            let (mut search, mut disk) = (search("3x3"), on(&directory, 1));
            if communicator.rank() == 1 {
                change(&mut search, &mut disk);
            }
            disk.run_distributed_with(&search, communicator, &NoProgress)
        });
        for text in stopped.into_iter().map(refused) {
            assert!(text.contains("rank 1 was started with") && text.contains(name), "{text}");
        }
        assert_eq!(tilewave::internals::Storage::list(&directory).unwrap(), [""; 0]);
    }
}

/// Damages what rank 1 sends to rank 0 where it also sends something to itself, once it is long enough to be segments.
struct Damaged<'a>(&'a dyn Communicator);

impl Communicator for Damaged<'_> {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn all_to_all(&self, mut parts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let segments = parts[0] != parts[1] && !parts[1].is_empty() && parts[0].len() > 100;
        if self.rank() == 1 && segments {
            let last = parts[0].len() - 20;
            parts[0][last] ^= 1;
        }
        self.0.all_to_all(parts)
    }

    fn all_reduce(&self, by: Reduce, values: &mut [u64]) {
        self.0.all_reduce(by, values);
    }
}

#[test]
fn messages_that_arrive_damaged_are_noticed() {
    // Rank 0 stops alone, as the ends of a job do that the others wait for; here the job has two ranks, and
    // the other waits until it is told that nobody comes.
    let directory = Simulated::default();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        ranks(2, |communicator| {
            let damaged = Damaged(communicator);
            let search = search("2x5");
            let found = on(&directory, 1).run_distributed_with(&search, &damaged, &NoProgress);
            sender.send((communicator.rank(), format!("{found:?}"))).unwrap();
        });
    });
    let (rank, found) = receiver.recv().unwrap();
    assert_eq!(rank, 0);
    assert!(
        found.contains("Alone") && found.contains("received from this rank is damaged"),
        "{found}"
    );
}
