//! What `src/bfs/disk/estimate.rs` keeps to itself.

use super::*;

use crate::bfs::Search;
use crate::bfs::Subject;
use crate::bfs::disk::{Directories, Disk, PlaneStore};
use crate::puzzle::families;
use crate::puzzle::tiles::{Goal, Size};
use crate::store::Simulated;

#[test]
fn a_puzzle_that_nobody_has_searched_may_have_half_of_a_class_in_a_level() {
    for (name, classes) in [("coxeter:12", 2), ("stars:12", 2), ("lrx:11", 1)] {
        let search = Search::of(Subject::puzzle(families::parse(name).unwrap()));
        let disk = Disk::new(Directories::new(vec![Box::new(Simulated::default())]));
        let plan = MemoryPlan::choose(&search, &disk, None).unwrap();
        assert_eq!(plan.extent.classes, classes, "{name}");
        let found = estimate(&Widths::default(), plan, false);
        // Two levels of a bit for each state of a class, of which codes take 0.83 at least where there are two classes.
        let most = 2 * plan.extent.states / classes / 8;
        assert!(found.peak_bytes > most / 4 * 3, "{name}: {found:?}");
        assert!(found.peak_bytes < most * 2, "{name}: {found:?}");
        assert!(
            found.bytes_written > found.peak_bytes / 2,
            "{name}: {found:?}"
        );
    }
}

#[test]
fn estimates_grow_with_the_levels() {
    let size = Size::new(3, 4).unwrap();
    let search = Search::new(Goal::Last.board(size).unwrap());
    let mut disk = Disk::new(Directories::new(vec![Box::new(Simulated::default())]));
    disk.shared_digits = Some(1);
    let plan = MemoryPlan::choose(&search, &disk, None).unwrap();
    let counts = vec![1, 1000, 20_000_000, 21_841_159, 10_000];
    let widths = Widths {
        counts: counts.clone(),
        exact: true,
    };
    let found = estimate(&widths, plan, false);
    assert!(found.level_bytes[..4].is_sorted());
    // Two levels of 21 MB of registers each, at half their size.
    assert!(
        (15_000_000..25_000_000).contains(&found.peak_bytes),
        "{found:?}"
    );
    assert!(found.bytes_written < found.peak_bytes);
    assert_eq!(found.bytes_read, 2 * found.bytes_written);
    assert_eq!(
        estimate(&widths, plan, true).peak_bytes,
        found.bytes_written
    );
    let unknown = estimate(&Widths::default(), plan, false);
    assert!(unknown.peak_bytes >= found.peak_bytes * 9 / 10);
    assert!(unknown.bytes_written > unknown.peak_bytes);
    disk.planes = Some(PlaneStore::Files);
    let files = MemoryPlan::choose(&search, &disk, None).unwrap();
    // The first depths of a board that nobody has searched take next to nothing.
    let large = Size::new(4, 4).unwrap();
    let four = Search::new(Goal::Last.board(large).unwrap());
    disk.planes = Some(PlaneStore::Memory);
    let wide = MemoryPlan::choose(&four, &disk, None).unwrap();
    disk.planes = Some(PlaneStore::Files);
    let thin = |depth| super::widths(&four.subject, &[], Some(depth)).unwrap();
    assert_eq!(thin(20).counts[..4], [1, 2, 4, 10]);
    assert_eq!(thin(20).counts.len(), 21);
    let most = estimate(&thin(10), wide, false).peak_bytes;
    assert!(most < 100_000_000, "{most}");
    // In files of their own, 12,000 states take 12,000 blocks of the file system.
    disk.shared_digits = Some(5);
    let many = MemoryPlan::choose(&four, &disk, None).unwrap();
    assert_eq!(many.chunks(), 360_360);
    let twelve = thin(12).counts;
    assert!(twelve[12] + twelve[11] > 12_000, "{twelve:?}");
    let many = estimate(&thin(12), many, false);
    assert!(
        many.peak_bytes > (twelve[12] + twelve[11]) * FILE,
        "{many:?}"
    );
    assert_eq!(thin(60), Widths::default());
    // So is their time, of a search whose levels nobody knows.
    assert!(share(&thin(10), &[], wide) < 0.1);
    assert_eq!(share(&thin(60), &[], wide), 1.0);
    assert_eq!(share(&widths, &counts, plan), 1.0);
    let known = super::widths(&search.subject, &counts, Some(1)).unwrap();
    assert!(known.exact && known.counts == [1, 1000]);
    // Planes of 332,640 registers of 60 lines: a bit for each, coded as the levels are, there once and those of a chunk.
    let more = estimate(&widths, files, false).peak_bytes - found.peak_bytes;
    let dense = 332_640 * 60 / 8;
    let share = found.level_bytes[3] as f64 / (239_500_800.0 / 2.0 / 8.0);
    let coded = (f64::from(dense) * share * 12.0 / 11.0) as u64;
    assert!((coded..coded + 1_000_000).contains(&more), "{coded} {more}");
}
