//! Sets of several partitions: which there are, and their files. `tests/cmd/databases.md` builds and rates some.

use tilewave::pdb::{Pattern, SetFile, check_partition, tilings};
use tilewave::solve::sweeps;

use super::goal;
use crate::program::room;

#[test]
fn set_files_name_the_databases_beside_them_and_locks_of_others_stay() {
    let dir = room();
    let set = SetFile { partitions: vec![vec![dir.path().join("x.pdb")]] };
    set.write(dir.path().join("set.json"), false).unwrap();
    let written = std::fs::read_to_string(dir.path().join("set.json")).unwrap();
    assert!(written.contains("\"x.pdb\""), "{written}");
    // What somebody keeps under the name of the lock is not lost with it.
    let (levels, mine) = (dir.path().join("mine"), dir.path().join("mine/lock"));
    std::fs::create_dir(&levels).unwrap();
    std::fs::write(&mine, "mine").unwrap();
    tilewave::internals::remove_unused(&levels);
    assert_eq!(std::fs::read(&mine).unwrap(), b"mine");
    std::fs::write(&mine, "").unwrap();
    tilewave::internals::remove_unused(&levels);
    assert!(!levels.exists());
}

#[test]
fn tilings_cover_all_tiles_and_keep_those_around_the_blank_together() {
    // The corners, then the cells beside them.
    for (size, cells, partitions) in [
        ("4x4", &[0, 3, 12, 15][..], 1),
        ("5x5", &[0, 4, 20, 24], 4),
        ("5x5", &[1, 3, 5, 9, 15, 19, 21, 23], 4),
    ] {
        for &blank in cells {
            let goal = goal(size, &format!("blank={blank}"));
            let all = tilings(&goal).unwrap();
            assert_eq!(all.len(), partitions, "{size} {blank}");
            let side = goal.size().cols();
            let beside = (0..side * side).filter(|&at| {
                (at / side).abs_diff(blank / side) + (at % side).abs_diff(blank % side) == 1
            });
            let beside: Vec<u16> = beside.map(|at| goal.tiles()[at]).collect();
            for patterns in all {
                check_partition(&patterns).unwrap();
                let holds = |pattern: &Pattern| beside.iter().all(|t| pattern.tiles().contains(t));
                assert!(patterns.iter().any(holds), "{size} {blank}");
            }
        }
    }
    assert!(tilings(&goal("5x5", "blank=12")).unwrap().is_empty());
    assert!(tilings(&goal("3x4", "last")).unwrap().is_empty());
}

/// Boards and goals without a list have partitions of patterns as large as fit, as many as are looked through quickly.
#[test]
fn sets_of_any_goal_have_large_patterns() {
    for (size, blank, most, partitions) in [
        ("3x5", "blank=2", 8, 3), // seen in two ways: rows from both ends, and columns
        ("3x5", "blank=1", 8, 4),
        ("4x4", "blank=5", 8, 2), // columns are rows seen along the diagonal
        ("5x5", "blank=12", 7, 1), // seen in eight ways
        ("3x4", "last", 7, 4),
        ("2x2", "last", 3, 1),
    ] {
        let goal = goal(size, blank);
        let all = sweeps(&goal, most).unwrap();
        assert_eq!(all.len(), partitions, "{size} {blank}");
        for patterns in &all {
            check_partition(patterns).unwrap();
            assert_eq!(patterns.iter().map(|p| p.tiles().len()).max(), Some(most));
        }
    }
}
