//! Searches through chunks on disk against the search in memory.

use tilewave::bfs::disk::{self, Directories, Disk, PlaneStore};
use tilewave::bfs::{self, Outcome, Search, Silent};
use tilewave::puzzle::tiles::{Goal, Size};
use tilewave::store::{Directory, Io, Simulated, Storage};

fn search(size: &str) -> Search {
    let size: Size = size.parse().unwrap();
    Search::new(Goal::Last.board(size).unwrap())
}

fn on_disk(search: &Search, digits: usize, planes: PlaneStore, io: Io) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    let storage: Box<dyn Storage> = if digits == 3 {
        // A thousand chunks a level: as many files, which cost a real file system a minute.
        Box::new(Simulated::default())
    } else {
        Box::new(Directory::create(dir.path(), io).unwrap())
    };
    let mut disk = Disk::new(Directories::new(vec![storage]));
    disk.shared_digits = Some(digits);
    disk.planes = Some(planes);
    disk::run(search, &disk, &Silent).unwrap()
}

/// The same counts and checksums with K = 0 to 3, both exchanges and both ways of reading.
fn same_levels(size: &str) {
    let search = search(size);
    let memory = bfs::run(&search, &Silent).unwrap();
    for digits in 0..=3 {
        for (planes, io) in [(PlaneStore::Memory, Io::Read), (PlaneStore::Files, Io::Map)] {
            let found = on_disk(&search, digits, planes, io);
            let what = format!("{size}, K = {digits}, {planes:?}");
            assert_eq!(found.counts, memory.counts, "{what}");
            assert_eq!(found.checksums, memory.checksums, "{what}");
            assert!(found.complete);
        }
    }
}

#[test]
fn chunks_of_2x5_find_the_levels_of_memory() {
    same_levels("2x5");
}

#[test]
fn chunks_of_3x4_find_the_levels_of_memory() {
    same_levels("3x4");
}

#[test]
fn chunks_of_2x6_find_the_levels_of_memory() {
    same_levels("2x6");
}

/// A budget that the arrays exceed makes chunks; one that they fit does not.
#[test]
fn the_memory_decides_how_many_chunks_there_are() {
    let mut search = search("2x6");
    let chunks = |search: &Search, planes| {
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::create(dir.path(), Io::Read).unwrap();
        let mut disk = Disk::new(Directories::new(vec![Box::new(directory)]));
        disk.planes = planes;
        disk::Fit::choose(search, &disk, None).map(|fit| (fit.chunks(), fit.planes))
    };
    // 332,640 registers of 64 bytes; a plane takes 8 bytes of each.
    search.memory = Some(22 << 20);
    assert_eq!(chunks(&search, None).unwrap(), (1, PlaneStore::Memory));
    search.memory = Some(5 << 20);
    assert_eq!(chunks(&search, None).unwrap(), (11, PlaneStore::Memory));
    search.memory = Some(3 << 20);
    assert_eq!(chunks(&search, None).unwrap(), (11, PlaneStore::Files));
    search.memory = Some(1 << 20);
    assert_eq!(chunks(&search, None).unwrap(), (110, PlaneStore::Files));
    search.memory = Some(100);
    let error = chunks(&search, None).unwrap_err().to_string();
    assert!(error.contains("2x6"), "{error}");
}
