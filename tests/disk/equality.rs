//! Searches through chunks on disk against the search in memory.

use tilewave::internals::{Directory, Io, Storage};
use tilewave::puzzle::Goal;
use tilewave::search::disk::{self, Directories, Disk};
use tilewave::search::{self, Outcome, PlaneStore, Search};

fn search(size: &str) -> Search {
    super::search(size).threads(None)
}

fn on_disk(search: &Search, digits: usize, planes: PlaneStore, io: Io) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    let storage: Box<dyn Storage> = if digits >= 2 {
        // Hundreds of chunks a level: as many files, which cost a real file system a minute.
        Box::new(super::Simulated::default())
    } else {
        Box::new(Directory::create(dir.path(), io).unwrap())
    };
    let disk = Disk::new(Directories::new(vec![storage])).shared_digits(digits).planes(planes);
    disk.run(search).unwrap()
}

/// The same counts and checksums with some K, planes and ways of reading.
fn same_levels(size: &str, goal: Goal, ways: &[(usize, PlaneStore, Io)]) {
    let search = Search::new(goal.board(size.parse().unwrap()).unwrap());
    let memory = search.run().unwrap();
    for &(digits, planes, io) in ways {
        let found = on_disk(&search, digits, planes, io);
        let what = format!("{size}, K = {digits}, {planes:?}");
        super::assert_same(&found, &memory, &what);
    }
}

#[test]
fn chunks_of_2x5_find_the_levels_of_memory() {
    let both =
        |digits| [(digits, PlaneStore::Memory, Io::Read), (digits, PlaneStore::Files, Io::Map)];
    let ways: Vec<_> = (0..=3).flat_map(both).collect();
    same_levels("2x5", Goal::Last, &ways);
    same_levels("2x5", Goal::Blank(3), &both(1));
}

#[test]
fn chunks_of_3x4_find_the_levels_of_memory() {
    // The second digit adds a window that crosses.
    let ways = [(1, PlaneStore::Memory, Io::Read), (2, PlaneStore::Files, Io::Map)];
    same_levels("3x4", Goal::Last, &ways);
}

#[test]
fn chunks_of_2x6_find_the_levels_of_memory() {
    let ways = [(1, PlaneStore::Files, Io::Map), (2, PlaneStore::Memory, Io::Read)];
    same_levels("2x6", Goal::Last, &ways);
}

/// The four ways of reading and of keeping planes, of 2x7 to a depth: chunks of this size send each other so much that
/// the disk space of what was read is given back while the file is still mapped.
fn ways_of_2x7(depth: usize) {
    let search = search("2x7").max_depth(depth).memory(2 << 30);
    let published = include_str!("../data/distributions.json");
    let published: serde_json::Value = serde_json::from_str(published).unwrap();
    let published: Vec<u64> = serde_json::from_value(published["2x7"]["counts"].clone()).unwrap();
    let mut checksums = None;
    for io in [Io::Read, Io::Map] {
        for planes in [PlaneStore::Memory, PlaneStore::Files] {
            let found = on_disk(&search, 1, planes, io);
            assert_eq!(found.counts, published[..=depth], "{io:?} {planes:?}");
            let same = checksums.get_or_insert_with(|| found.checksums.clone());
            assert_eq!(found.checksums, *same, "{io:?} {planes:?}");
        }
    }
}

#[test]
fn large_chunks_find_the_published_levels_however_they_are_read() {
    ways_of_2x7(28);
}

#[test]
#[ignore = "long: cargo test --release --test disk -- --ignored however_they_are_read"]
fn large_chunks_find_more_levels_however_they_are_read() {
    ways_of_2x7(44);
}

/// A budget that the arrays exceed makes chunks; one that they fit does not.
#[test]
fn the_memory_decides_how_many_chunks_there_are() {
    let mut search = search("2x6");
    let chunks = |search: &Search, planes| {
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::create(dir.path(), Io::Read).unwrap();
        let disk = Disk::new(Directories::new(vec![Box::new(directory)])).planes(planes);
        disk::MemoryPlan::choose(search, &disk).map(|plan| (plan.chunks(), plan.planes))
    };
    // 332,640 registers of 64 bytes; a plane takes 8 bytes of each.
    search.resources.memory = Some(22 << 20);
    assert_eq!(chunks(&search, None).unwrap(), (1, PlaneStore::Memory));
    search.resources.memory = Some(5 << 20);
    assert_eq!(chunks(&search, None).unwrap(), (11, PlaneStore::Memory));
    search.resources.memory = Some(3 << 20);
    assert_eq!(chunks(&search, None).unwrap(), (11, PlaneStore::Files));
    search.resources.memory = Some(1 << 20);
    assert_eq!(chunks(&search, None).unwrap(), (110, PlaneStore::Files));
    search.resources.memory = Some(100);
    let error = chunks(&search, None).unwrap_err().to_string();
    assert!(error.contains("2x6"), "{error}");
}

#[test]
fn a_search_in_memory_does_not_claim_to_be_on_disk() {
    let search = search("2x5").engine(search::Engine::Disk);
    let error = search.run().unwrap_err().to_string();
    assert!(error.contains("specify dir"), "{error}");
}
