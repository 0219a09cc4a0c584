use std::sync::Arc;

use super::*;
use crate::pdb::{Build, Pattern, build};
use crate::progress::NoProgress;
use crate::puzzle::tiles::Board;

#[test]
fn a_database_of_several_partitions_is_arranged_once() {
    let goal = Board::parse("1 2 3/4 5 6/7 8 0", None).unwrap();
    let pdb = |tiles: &[u16]| {
        let pattern = Pattern::new(goal.clone(), tiles).unwrap();
        let bits = Build {
            kind: Kind::Regions,
            encoding: Encoding::Bit,
            ..Build::new(pattern)
        };
        Arc::new(build(&bits, &NoProgress).unwrap())
    };
    let (one, other) = (pdb(&[1, 2, 3]), pdb(&[4, 5]));
    let same = Arc::clone(&one);
    let all = Database::all(vec![one, other, same]);
    assert!(Arc::ptr_eq(&all[0].arranged, &all[2].arranged));
    assert!(!Arc::ptr_eq(&all[0].arranged, &all[1].arranged));
    all[0].arrange(&NoProgress);
    assert!(all[2].arranged.get().is_some() && all[1].arranged.get().is_none());
}
