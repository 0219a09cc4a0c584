//! What `src/store/shares.rs` keeps to itself.

use super::*;

#[test]
fn equal_shares_go_round() {
    for shares in [
        vec![],
        vec![1, 1, 1],
        vec![7, 7, 7],
        vec![2, 1],
        vec![0, 0, 0],
    ] {
        let shares = Shares::new(&shares, 3);
        assert!((0..1000).all(|chunk| shares.place(chunk) == chunk % 3));
    }
}

/// Of any stretch from the first chunk on every directory has its share, to one chunk.
#[test]
fn chunks_are_dealt_out_in_proportion() {
    for list in [
        vec![32, 9],
        vec![1, 32, 17, 5],
        vec![0, 3],
        vec![32, 0, 31],
        vec![1],
    ] {
        let shares = Shares::new(&list, list.len());
        let all: u32 = list.iter().sum();
        let mut dealt = vec![0u32; list.len()];
        for chunk in 0..500 {
            dealt[shares.place(chunk)] += 1;
            for (place, (dealt, share)) in dealt.iter().zip(&list).enumerate() {
                let due = f64::from(*share) * (chunk + 1) as f64 / f64::from(all);
                assert!((f64::from(*dealt) - due).abs() < 1.5, "{list:?} {chunk}");
                assert_eq!(shares.share(place), (*share, all));
            }
        }
    }
}

#[test]
fn shares_follow_the_room() {
    let on = |free: u64, device: u64| (Some(free), Some(device));
    let by_room = Shares::by_room;
    assert_eq!(by_room(&[on(2000, 1), on(500, 2)]), [32, 8]);
    // Directories on one disk share its room.
    assert_eq!(
        by_room(&[on(1000, 1), on(1000, 1), on(1000, 2)]),
        [16, 16, 32]
    );
    assert_eq!(by_room(&[on(1000, 1), on(0, 2)]), [32, 0]);
    let alike = [
        vec![on(1000, 1), on(850, 2)],
        vec![on(1000, 1), on(1000, 1)],
        vec![(Some(5), None), (None, None)],
        vec![on(0, 1), on(0, 2)],
        vec![],
    ];
    assert!(alike.iter().all(|rooms| by_room(rooms).is_empty()));
    // Two of which nobody knows the disk are two disks.
    assert_eq!(by_room(&[(Some(4), None), (Some(1), None)]), [32, 8]);
}
