//! All builders make the same tables.

use proptest::prelude::*;
use tilewave::Kernel;
use tilewave::pdb::{Build, Encoding, Kind, Pattern};
use tilewave::puzzle::{Board, Size};

use super::goal;

fn tables_are_equal(pattern: &Pattern, kind: Kind) {
    encoded_tables_are_equal(pattern, kind, Encoding::Byte);
    if kind == Kind::Regions {
        encoded_tables_are_equal(pattern, kind, Encoding::Bit);
    }
}

fn encoded_tables_are_equal(pattern: &Pattern, kind: Kind, encoding: Encoding) {
    let how = Build::new(pattern.clone()).kind(kind).encoding(encoding);
    let plain = how.clone().plain(true);
    let truth = plain.run().unwrap();
    let kernels = Kernel::ALL.into_iter().filter(|k| k.is_supported());
    for (kernel, threads) in kernels.zip([1, 3].into_iter().cycle()) {
        let fast = how.clone().kernel(kernel).threads(threads);
        let table = fast.run().unwrap();
        assert_eq!(table.histogram(), truth.histogram(), "{kernel} {pattern:?}");
        assert!(table.bytes() == truth.bytes(), "{kernel} {pattern:?} {kind} {encoding}");
        assert_eq!(table.checksum(), truth.checksum());
    }
}

#[test]
fn builders_agree_on_every_length_of_pattern() {
    let cases: [(&str, &str, &[u16]); 5] = [
        ("4x4", "first", &[1, 2, 5, 6, 10]),
        ("3x4", "blank=5", &[3, 4, 6, 7, 9, 10]),
        ("2x5", "last", &[1, 2, 3, 6, 7, 8, 9]),
        ("3x3", "last", &[1, 2, 3, 4, 6, 7, 8]),
        ("3x3", "first", &[1, 2, 3, 4, 5, 6, 7, 8]),
    ];
    for (size, goal_text, tiles) in cases {
        // The blank is one tile more where every move counts.
        let kinds = Kind::ALL.into_iter();
        for kind in kinds.filter(|&kind| kind != Kind::AllMoves || tiles.len() < Pattern::MAX_TILES)
        {
            tables_are_equal(&Pattern::new(goal(size, goal_text), tiles).unwrap(), kind);
        }
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation: run with --release")]
fn builders_agree_on_seven_and_eight_tiles() {
    let seven = Pattern::new(goal("3x4", "last"), &[1, 2, 3, 5, 6, 8, 11]).unwrap();
    encoded_tables_are_equal(&seven, Kind::Regions, Encoding::Bit);
    let eight = Pattern::new(goal("2x5", "first"), &[1, 2, 3, 4, 5, 6, 8, 9]).unwrap();
    tables_are_equal(&eight, Kind::Minimum);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn builders_agree_on_random_goals(
        rows in 2usize..4,
        cols in 3usize..5,
        order in Just((0u16..12).collect::<Vec<u16>>()).prop_shuffle(),
        k in 5usize..8,
        regions: bool,
    ) {
        let size = Size::new(rows, cols).unwrap();
        let cells = size.cells() as u16;
        let tiles: Vec<u16> = order.iter().copied().filter(|&t| t < cells).collect();
        let goal = Board::new(size, &tiles).unwrap();
        // Seven tiles of 3x4 have a test of their own.
        let k = if cells == 12 { k.min(6) } else { k };
        let chosen: Vec<u16> = tiles.iter().copied().filter(|&t| t > 0).take(k).collect();
        let pattern = Pattern::new(goal, &chosen).unwrap();
        tables_are_equal(&pattern, if regions { Kind::Regions } else { Kind::Minimum });
    }
}
