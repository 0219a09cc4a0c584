//! Searches of several ranks, here threads of one process, against the search in memory.

use std::sync::{Barrier, Mutex};

use tilewave::bfs::disk::{self, Directories, Disk, DiskError};
use tilewave::bfs::{self, Level, Observer, Outcome, Search, Silent, Stopped, Team};
use tilewave::puzzle::tiles::{Goal, Size};
use tilewave::store::{Directory, Io};
use tilewave::{Error, perm::lehmer};

/// What the ranks of a team share.
struct Table {
    /// What rank i has for rank j.
    parts: Vec<Vec<Mutex<Vec<u8>>>>,
    values: Mutex<Vec<Vec<u64>>>,
    meeting: Barrier,
}

/// A rank that is a thread.
struct Thread<'a> {
    rank: usize,
    table: &'a Table,
}

impl Thread<'_> {
    fn reduce(&self, values: &mut [u64], join: impl Fn(u64, u64) -> u64) {
        self.table.values.lock().unwrap()[self.rank] = values.to_vec();
        self.table.meeting.wait();
        let all = self.table.values.lock().unwrap().clone();
        self.table.meeting.wait();
        for (i, value) in values.iter_mut().enumerate() {
            *value = all.iter().map(|of| of[i]).reduce(&join).unwrap();
        }
    }
}

impl Team for Thread<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.table.parts.len()
    }

    fn swap(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        assert_eq!(parts.len(), self.size());
        for (to, part) in parts.into_iter().enumerate() {
            *self.table.parts[self.rank][to].lock().unwrap() = part;
        }
        self.table.meeting.wait();
        let here = (0..self.size()).map(|from| &self.table.parts[from][self.rank]);
        let arrived = here.map(|part| std::mem::take(&mut *part.lock().unwrap()));
        let arrived = arrived.collect();
        self.table.meeting.wait();
        arrived
    }

    fn sum(&self, values: &mut [u64]) {
        self.reduce(values, u64::wrapping_add);
    }

    fn max(&self, values: &mut [u64]) {
        self.reduce(values, u64::max);
    }
}

/// Runs a closure on every rank and returns what each returns.
fn ranks<T: Send>(size: usize, run: impl Fn(&dyn Team) -> T + Sync) -> Vec<T> {
    let row = || (0..size).map(|_| Mutex::default()).collect();
    let table = Table {
        parts: (0..size).map(|_| row()).collect(),
        values: Mutex::new(vec![Vec::new(); size]),
        meeting: Barrier::new(size),
    };
    std::thread::scope(|scope| {
        let (table, run) = (&table, &run);
        let threads = (0..size).map(|rank| scope.spawn(move || run(&Thread { rank, table })));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

fn search(size: &str) -> Search {
    let size: Size = size.parse().unwrap();
    let mut search = Search::new(Goal::Last.board(size).unwrap());
    search.threads = Some(1);
    search.keep_last = 5;
    search
}

fn disk_in(path: &std::path::Path) -> Disk {
    let directory = Directory::create(path, Io::Read).unwrap();
    Disk::new(Directories::new(vec![Box::new(directory)]))
}

/// A search of several ranks: what rank 0 returns.
fn together(
    search: &Search,
    size: usize,
    disk: impl Fn(usize) -> Disk + Sync,
) -> Result<Outcome, Stopped> {
    ranks(size, |team| {
        disk::run_together(search, &disk(team.rank()), team, &Silent)
    })
    .swap_remove(0)
}

fn same(found: &Outcome, memory: &Outcome, what: &str) {
    assert_eq!(found.counts, memory.counts, "{what}");
    assert_eq!(found.checksums, memory.checksums, "{what}");
    assert_eq!(found.last, memory.last, "{what}");
    assert!(found.complete, "{what}");
}

/// The same levels with 1 to 4 ranks and K = 1 and 2, and no more bytes than 1 bit per line and window.
fn same_levels(board: &str, windows: [u64; 2]) {
    let search = search(board);
    let memory = bfs::run(&search, &Silent).unwrap();
    let lines = lehmer::even_count(search.goal.size().tiles());
    for (digits, windows) in [1, 2].into_iter().zip(windows) {
        for size in 1..=4 {
            let what = format!("{board}, K = {digits}, {size} ranks");
            let dir = tempfile::tempdir().unwrap();
            let outcome = together(&search, size, |_| {
                let mut disk = disk_in(dir.path());
                disk.shared_digits = Some(digits);
                disk
            });
            let outcome = outcome.unwrap();
            same(&outcome, &memory, &what);
            let used = outcome.disk.unwrap();
            assert_eq!(used.ranks, size);
            assert_eq!(used.network_bytes.len(), memory.counts.len() + 1);
            let most = used.network_bytes.iter().max().unwrap();
            assert!(*most <= lines * windows / 8, "{what}: {most} bytes");
            assert_eq!(*most > 0, size > 1, "{what}");
            // The thin first levels send next to nothing.
            assert!(size == 1 || used.network_bytes[1] < most / 10, "{what}");
        }
    }
}

#[test]
fn ranks_find_the_levels_of_3x3() {
    let search = search("3x3");
    let memory = bfs::run(&search, &Silent).unwrap();
    for size in 1..=4 {
        let dir = tempfile::tempdir().unwrap();
        let outcome = together(&search, size, |_| disk_in(dir.path())).unwrap();
        same(&outcome, &memory, &format!("{size} ranks"));
    }
}

#[test]
fn ranks_find_the_levels_of_2x5() {
    same_levels("2x5", [1, 1]);
}

#[test]
fn ranks_find_the_levels_of_3x4() {
    same_levels("3x4", [1, 2]);
}

#[test]
fn ranks_find_the_levels_of_2x6() {
    same_levels("2x6", [1, 1]);
}

/// Says after some levels, or in the middle of one, that the search should stop.
struct StopAt(usize);

impl Observer for StopAt {
    fn interrupted(&self) -> bool {
        STOP.with(|depth| depth.get() >= self.0)
    }

    fn continued(&self, depth: usize, _: u64) {
        STOP.with(|stop| stop.set(depth));
    }

    fn level(&self, level: &Level) {
        STOP.with(|depth| depth.set(level.depth));
    }
}

thread_local! {
    static STOP: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[test]
fn a_search_goes_on_with_another_number_of_ranks() {
    let search = search("2x5");
    let memory = bfs::run(&search, &Silent).unwrap();
    let dir = tempfile::tempdir().unwrap();
    for (size, depth) in [(3, 10), (1, 20), (4, 30), (2, 40)] {
        let stopped = ranks(size, |team| {
            let mut disk = disk_in(dir.path());
            disk.shared_digits = Some(1);
            disk.commit_every = std::time::Duration::ZERO;
            disk::run_together(&search, &disk, team, &StopAt(depth))
        });
        for stopped in stopped {
            let Err(Stopped::Together(Error::Disk(DiskError::Interrupted { depth: at, .. }))) =
                stopped
            else {
                panic!("{size} ranks: {stopped:?}");
            };
            assert_eq!(at, depth + 1);
        }
    }
    // Now without ranks.
    let outcome = disk::run(&search, &disk_in(dir.path()), &Silent).unwrap();
    same(&outcome, &memory, "one machine");
    // And a finished one is only read.
    let again = together(&search, 3, |_| disk_in(dir.path())).unwrap();
    same(&again, &memory, "again");
}

#[test]
fn a_search_of_one_machine_goes_on_with_ranks() {
    let search = search("2x5");
    let memory = bfs::run(&search, &Silent).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut first = search.clone();
    first.max_depth = Some(25);
    let mut disk = disk_in(dir.path());
    disk.shared_digits = Some(2);
    disk::run(&first, &disk, &Silent).unwrap();
    let outcome = together(&search, 3, |_| disk_in(dir.path())).unwrap();
    same(&outcome, &memory, "three ranks");
    assert_eq!(outcome.disk.unwrap().chunks, 72);
}

#[test]
fn ranks_with_directories_of_their_own_need_them_again() {
    let search = search("2x5");
    let memory = bfs::run(&search, &Silent).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let node = |rank: usize| disk_in(&dir.path().join(format!("node-{rank}")));
    let mut first = search.clone();
    first.max_depth = Some(30);
    // Four ranks on two machines.
    together(&first, 4, |rank| node(rank / 2)).unwrap();
    // One machine alone lacks the other's files.
    let refused = together(&search, 2, |_| node(0));
    let Err(Stopped::Together(Error::Disk(DiskError::Apart { .. }))) = refused else {
        panic!("{refused:?}");
    };
    // The manifest is the first machine's.
    let refused = together(&search, 2, |rank| node(1 - rank));
    let Err(Stopped::Together(Error::Disk(DiskError::Elsewhere { rank: 1, .. }))) = refused else {
        panic!("{refused:?}");
    };
    // Another number of ranks on the same machines will do.
    let mut middle = search.clone();
    middle.max_depth = Some(40);
    together(&middle, 3, |rank| node(usize::from(rank == 1))).unwrap();
    // And so will one machine that has all files.
    for entry in std::fs::read_dir(dir.path().join("node-1")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if name.to_string_lossy().starts_with("level-") {
            std::fs::rename(entry.path(), dir.path().join("node-0").join(name)).unwrap();
        }
    }
    let outcome = disk::run(&search, &node(0), &Silent).unwrap();
    same(&outcome, &memory, "one machine");
}

#[test]
fn one_job_at_a_time_works_in_a_directory() {
    let search = search("3x3");
    let dir = tempfile::tempdir().unwrap();
    let outer = Directory::create(dir.path(), Io::Read).unwrap();
    let lock = tilewave::store::Storage::lock(&outer).unwrap().unwrap();
    for stopped in ranks(3, |team| {
        disk::run_together(&search, &disk_in(dir.path()), team, &Silent)
    }) {
        let Err(Stopped::Together(error)) = stopped else {
            panic!("{stopped:?}");
        };
        assert!(
            error.to_string().contains("another search is running"),
            "{error}"
        );
    }
    drop(lock);
    together(&search, 3, |_| disk_in(dir.path())).unwrap();
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
    assert!(left.iter().all(|f| {
        !f.as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with("cross-")
    }));
}

#[test]
fn ranks_refuse_what_one_machine_refuses() {
    let dir = tempfile::tempdir().unwrap();
    together(&search("3x3"), 2, |_| disk_in(dir.path())).unwrap();
    for (board, what) in [("2x5", "board"), ("2x3", "too small")] {
        let refused = together(&search(board), 2, |_| disk_in(dir.path()));
        let Err(Stopped::Together(error)) = refused else {
            panic!("{board}: {refused:?}");
        };
        assert!(error.to_string().contains(what), "{board}: {error}");
    }
    // One rank has too little memory: all stop, and rank 0 says whose.
    let dir = tempfile::tempdir().unwrap();
    let stopped = ranks(3, |team| {
        let mut search = search("2x5");
        search.memory = (team.rank() == 2).then_some(1000);
        disk::run_together(&search, &disk_in(dir.path()), team, &Silent)
    });
    let Err(Stopped::Together(Error::Disk(DiskError::Elsewhere { rank: 2, reason }))) = &stopped[0]
    else {
        panic!("{:?}", stopped[0]);
    };
    assert!(reason.contains("1000 bytes"), "{reason}");
    assert!(matches!(
        stopped[2],
        Err(Stopped::Together(Error::Search(_)))
    ));
}
