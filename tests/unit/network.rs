//! What `src/bfs/network.rs` keeps to itself.

use super::*;
use crate::puzzle::tiles::Goal;

fn board(size: &str) -> Subject {
    Subject::board(Goal::Last.board(size.parse().unwrap()).unwrap())
}

#[test]
fn bytes_are_a_bit_per_line_and_window() {
    let of = |size: &str, ranks| network(&board(size), ranks).unwrap();
    let lines = lehmer::even_count(11);
    // One process sends nothing and needs no chunks.
    let one = of("2x6", 1);
    assert_eq!((one.shared_digits, one.level_bytes), (1, 0));
    // Two ranks: 11 chunks of one crossing window; half of the bits stay.
    let two = of("2x6", 2);
    assert_eq!((two.shared_digits, two.chunks, two.windows), (1, 11, 1));
    assert_eq!(two.level_bytes, lines / 8 / 2);
    // Four ranks need 16 chunks. The second digit adds a window on 3x4, none on 2x6.
    assert_eq!(of("2x6", 4).windows, 1);
    let four = of("3x4", 4);
    assert_eq!((four.shared_digits, four.windows), (2, 2));
    assert_eq!(four.level_bytes, lines * 2 / 8 * 3 / 4);
    assert!(network(&board("2x3"), 2).is_err());
}

#[test]
fn the_figures_of_the_page_are_right() {
    for (size, ranks, digits, chunks, windows, level, rank) in [
        ("2x7", 4, 2, 156, 1, 292e6, 0.2e9),
        ("3x5", 4, 2, 182, 2, 8.2e9, 5.5e9),
        ("2x8", 16, 2, 210, 1, 76.6e9, 10.9e9),
        ("4x4", 16, 2, 210, 2, 153e9, 21.8e9),
    ] {
        let found = network(&board(size), ranks).unwrap();
        let cut = (found.shared_digits, found.chunks, found.windows);
        assert_eq!(cut, (digits, chunks, windows), "{size}");
        assert!(
            (found.level_bytes as f64 / level - 1.0).abs() < 0.01,
            "{size}: {found:?}"
        );
        assert!(
            (found.rank_bytes as f64 / rank - 1.0).abs() < 0.05,
            "{size}: {found:?}"
        );
    }
}
