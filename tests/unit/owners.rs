//! What `src/bfs/disk/owners.rs` keeps to itself.

use super::*;

#[test]
fn chunks_are_dealt_out() {
    assert_eq!(owners(&vec![vec![1; 7]; 3]).unwrap(), [0, 1, 2, 0, 1, 2, 0]);
    assert_eq!(owners(&vec![vec![1; 2]; 4]).unwrap(), [0, 1]);
}

#[test]
fn chunks_stay_where_their_files_are() {
    // Ranks 0 and 1 on one machine, 2 on another; chunk 4 is empty, so anybody's.
    let seen = [
        vec![1, 1, 0, 1, 1],
        vec![1, 1, 0, 1, 1],
        vec![0, 0, 1, 0, 1],
    ];
    let owners = owners(&seen).unwrap();
    assert_eq!(owners[2], 2);
    assert!(
        owners
            .iter()
            .enumerate()
            .all(|(chunk, &rank)| seen[rank][chunk] == 1)
    );
    assert_eq!(owners[4], 1, "the first of those with the fewest");
    assert_eq!(super::owners(&[vec![1, 0], vec![1, 0]]), Err(1));
}
