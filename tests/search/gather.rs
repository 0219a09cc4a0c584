//! Gather tables against carrying out the window on lines, for every board up to 16 cells and for
//! windows that no board has.

use proptest::prelude::*;
use tilewave::perm::Target;
use tilewave::perm::gather::{Gather, Shape};
use tilewave::perm::layout::{LANES, Layout};
use tilewave::perm::lehmer;
use tilewave::puzzle::Window;
use tilewave::puzzle::tiles::{Path, Size, is_even};

/// Checks the tables on the target line with the given rank.
fn check(layout: Layout, gather: &Gather, window: &Window, rank: u64) {
    let (n, size) = (layout.len(), layout.block_registers());
    let (register, lane) = (
        (rank / LANES as u64) as usize,
        (rank % LANES as u64) as usize,
    );
    let block = register / size;
    let mut digits = [0; 20];
    layout.block_digits(block, &mut digits);
    let mut sources = vec![0; gather.outside.slots()];
    let digits = &digits[..layout.block_prefix()];
    let down = gather.outside.sources(block, digits, &mut sources);

    let mut line = vec![0; n];
    lehmer::unrank_even(rank, &mut line);
    let mut all = vec![0; n];
    lehmer::digits(&line, &mut all);
    let parity = all[..layout.prefix()]
        .iter()
        .map(|&d| usize::from(d))
        .sum::<usize>()
        % 2;
    let target = Target {
        down,
        register: register % size,
        lane,
        parity,
    };
    let (source, lane) = gather.origin(layout, target);
    let register = sources[usize::from(source.slot)] * size + usize::from(source.register);
    let found = (register * LANES + lane) as u64;

    window.inverse().apply(&mut line);
    assert_eq!(
        found,
        lehmer::rank_even(&line),
        "{window:?}, line {rank} of {n}"
    );
}

fn ranks(n: usize, samples: u64) -> Vec<u64> {
    let lines = lehmer::even_count(n);
    if lines <= samples {
        return (0..lines).collect();
    }
    let spread = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % lines;
    (0..samples).map(spread).chain([0, lines - 1]).collect()
}

#[test]
fn tables_of_every_board_are_the_window_moves() {
    let sizes = [
        (2, 4),
        (3, 3),
        (2, 5),
        (5, 2),
        (3, 4),
        (2, 6),
        (2, 7),
        (3, 5),
        (2, 8),
        (4, 4),
    ];
    let mut shapes = std::collections::HashSet::new();
    for (rows, cols) in sizes {
        let puzzle = Path::new(Size::new(rows, cols).unwrap()).puzzle();
        let layout = Layout::new(puzzle.line_len()).unwrap();
        for window in puzzle.windows() {
            let gather = Gather::new(layout, window);
            shapes.insert(std::mem::discriminant(&gather.shape));
            for rank in ranks(layout.len(), 3000) {
                check(layout, &gather, window, rank);
            }
        }
    }
    assert_eq!(
        shapes.len(),
        7,
        "boards use all shapes but the scattered one"
    );
}

#[test]
fn windows_that_carry_several_elements_across_are_scattered() {
    // Two tiles at once: what a multi-tile move does to a line.
    for (n, first, by) in [(7, 0, 2), (8, 1, 3), (9, 2, 2), (11, 3, 2)] {
        let layout = Layout::new(n).unwrap();
        let len = n - first - usize::from((n - first).is_multiple_of(2));
        let source: Vec<u8> = (0..len).map(|i| ((i + by) % len) as u8).collect();
        let window = Window::new(first, &source);
        let gather = Gather::new(layout, &window);
        assert!(matches!(gather.shape, Shape::Scattered { .. }));
        for rank in ranks(n, 3000) {
            check(layout, &gather, &window, rank);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn tables_of_any_even_window_are_the_window(
        n in 6usize..=10,
        order in Just((0..6u8).collect::<Vec<u8>>()).prop_shuffle(),
        first in 0usize..5,
    ) {
        let layout = Layout::new(n).unwrap();
        let mut source: Vec<u8> = order.iter().copied().filter(|&s| usize::from(s) < n - first).collect();
        if !is_even(&source) {
            source.swap(0, 1);
        }
        let window = Window::new(first, &source);
        let gather = Gather::new(layout, &window);
        for rank in ranks(n, 300) {
            check(layout, &gather, &window, rank);
        }
    }
}
