//! Gather tables against carrying out the window on lines, for every board up to 16 cells and for
//! windows that no board has.

use proptest::prelude::*;
use tilewave::internals::layout::{LANES, Layout, LinePlace};
use tilewave::internals::move_table::{MoveShape, MoveTable};
use tilewave::internals::{TargetByte, lehmer};
use tilewave::puzzle::{Metric, Size, SnakePath, Window, is_even};

/// Checks the tables on the target line of a parity with the given number.
fn check(layout: Layout, gather: &MoveTable, window: &Window, parity: usize, number: u64) {
    let (n, size) = (layout.len(), layout.block_registers());
    let register = (number / LANES as u64) as usize;
    let place = LinePlace {
        parity,
        block: register / size,
        register: register % size,
        lane: (number % LANES as u64) as usize,
    };
    let mut line = vec![0; n];
    layout.line(place, &mut line);
    let mut digits = vec![0; n];
    lehmer::digits(&line, &mut digits);
    let mut blocks = vec![0; gather.source_blocks.count()];
    let target = TargetByte {
        variant: gather.source_blocks.find(place.block, &digits, &mut blocks),
        register: place.register,
        lane: place.lane,
        parity: usize::from(digits[layout.prefix()..].iter().sum::<u8>() % 2),
    };
    let (source, lane) = gather.byte_source(layout, target);
    let found = LinePlace {
        parity: parity ^ usize::from(gather.odd),
        block: blocks[usize::from(source.block)],
        register: usize::from(source.register),
        lane,
    };
    window.inverse().apply(&mut line);
    assert_eq!(found, layout.place(&line), "{window:?}, {place:?} of {n}");
}

fn check_all(layout: Layout, window: &Window, samples: u64) -> MoveTable {
    let gather = MoveTable::new(layout, window);
    assert_eq!(gather.odd, !window.is_even());
    for number in ranks(layout.len(), samples) {
        check(layout, &gather, window, 0, number);
        check(layout, &gather, window, 1, number);
    }
    gather
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
    let sizes = [(2, 4), (3, 3), (2, 5), (5, 2), (3, 4), (2, 6), (2, 7), (3, 5), (2, 8), (4, 4)];
    let mut shapes = std::collections::HashSet::new();
    for (rows, cols) in sizes {
        let puzzle = SnakePath::new(Size::new(rows, cols).unwrap()).puzzle(Metric::Stm);
        let layout = Layout::new(puzzle.line_len()).unwrap();
        for window in puzzle.windows() {
            let gather = check_all(layout, window, 3000);
            shapes.insert(std::mem::discriminant(&gather.shape));
        }
    }
    assert_eq!(shapes.len(), 7, "boards use all shapes but the scattered one");
}

#[test]
fn windows_that_carry_several_elements_across_are_scattered() {
    // Two tiles at once: what a multi-tile move does to a line.
    for (n, first, by) in [(7, 0, 2), (8, 1, 3), (9, 2, 2), (11, 3, 2)] {
        let layout = Layout::new(n).unwrap();
        let len = n - first - usize::from((n - first).is_multiple_of(2));
        let source: Vec<u8> = (0..len).map(|i| ((i + by) % len) as u8).collect();
        let window = Window::new(first, &source);
        let gather = check_all(layout, &window, 3000);
        assert!(matches!(gather.shape, MoveShape::Scattered(_)));
    }
}

#[test]
fn rotations_of_slices_are_never_scattered() {
    for k in 5..=Layout::MAX_SLICED {
        let layout = Layout::sliced(k).unwrap();
        for (first, last) in (0..k).flat_map(|a| (a..k).map(move |b| (a, b))) {
            for window in [Window::rotate_left(first, last), Window::rotate_right(first, last)] {
                let gather = check_all(layout, &window, 1000);
                assert!(!matches!(gather.shape, MoveShape::Scattered(_)));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn tables_of_any_window_are_the_window(
        n in 6usize..=10,
        odd: bool,
        order in Just((0..6u8).collect::<Vec<u8>>()).prop_shuffle(),
        first in 0usize..5,
    ) {
        let layout = Layout::new(n).unwrap();
        let mut source: Vec<u8> = order.iter().copied().filter(|&s| usize::from(s) < n - first).collect();
        if is_even(&source) == odd {
            source.swap(0, 1);
        }
        check_all(layout, &Window::new(first, &source), 300);
    }
}
