//! The search by lists against the sweep, on puzzles that both take.

use std::collections::BTreeSet;

use tilewave::frontier::FrontierSearch;
use tilewave::puzzle::{Metric, StateSpace, families};
use tilewave::puzzle::{Move, PieceSet, Placed, Puzzle, SetAction, Transformation};
use tilewave::search::{Outcome, Search};
use tilewave::{Goal, Kernel};

fn spaces() -> Vec<StateSpace> {
    let board = |size: &str, goal: &str| {
        let goal: Goal = goal.parse().unwrap();
        StateSpace::of_board(goal.board(size.parse().unwrap()).unwrap())
    };
    let moved = board("3x3", "last").starting_at("8 6 7/2 5 4/3 0 1").unwrap();
    let mut spaces = vec![
        board("2x4", "last"),
        board("3x3", "blank=4"),
        board("3x3", "blank=1").in_metric(Metric::Mtm),
        moved,
    ];
    // One has an inverse that is no move: lx goes one way.
    for family in ["topspin:8,4", "pancake:7", "lx:8", "stars:7"] {
        spaces.push(StateSpace::of_puzzle(families::parse(family).unwrap()));
    }
    spaces
}

#[test]
fn lists_find_what_the_sweep_finds() {
    for space in spaces() {
        let expected = Search::of(space.clone()).run().unwrap();
        let by_lists = FrontierSearch::new(Puzzle::of_space(&space).unwrap());
        let found = by_lists.run().unwrap();
        assert_eq!(found.counts, expected.counts, "{space}");
        assert!(found.complete);
        let shorter = by_lists.symmetry(false).threads(1).max_depth(9).run().unwrap();
        let levels = |of: &Outcome| -> Vec<(u64, u64)> {
            of.counts.iter().copied().zip(of.checksums.iter().copied()).take(10).collect()
        };
        assert_eq!(levels(&shorter), levels(&found), "{space}");
    }
}

/// Levels from another state than the solved one have its states, not only as many.
#[test]
fn lists_begin_where_the_sweep_begins() {
    let starts = [
        ("topspin:6,3", "2 1 3 4 6 5"),
        ("pancake:6", "3 1 2 6 5 4"),
        ("lx:6", "6 5 4 1 2 3"),
        ("stars:6", "2 3 1 5 6 4"),
    ];
    for (family, start) in starts {
        let space = StateSpace::of_puzzle(families::parse(family).unwrap());
        let space = space.starting_at(start).unwrap();
        let expected = Search::of(space.clone()).keep_last(1000).run().unwrap();
        let by_lists = FrontierSearch::new(Puzzle::of_space(&space).unwrap()).keep_last(1000);
        let found = by_lists.run().unwrap();
        assert_eq!(found.counts, expected.counts, "{space}");
        let states = |of: &Outcome| -> BTreeSet<String> {
            let texts = of.last_texts(1000).into_iter();
            texts.map(|text| text.trim_start_matches("positions ").into()).collect()
        };
        assert_eq!(states(&found), states(&expected), "{space}");
    }
}

#[test]
fn little_memory_changes_the_bytes_and_not_the_result() {
    let goal: Goal = "first".parse().unwrap();
    let board = StateSpace::of_board(goal.board("4x4".parse().unwrap()).unwrap());
    let search = FrontierSearch::new(Puzzle::of_space(&board).unwrap()).max_depth(20);
    let roomy = search.run().unwrap();
    let tight = search.clone().memory(4 << 20).run().unwrap();
    assert_eq!((&roomy.counts, &roomy.checksums), (&tight.counts, &tight.checksums));
    assert_eq!(roomy.reduced(), tight.reduced());
    let [roomy, tight] = [roomy, tight].map(|found| found.lists.unwrap());
    assert!(roomy.bytes[19] > 8 * roomy.kept[19] && tight.bytes[19] < 3 * tight.kept[19]);
    let error = search.memory(1 << 20).run().unwrap_err().to_string();
    assert!(error.contains("do not fit in 1.00 MiB of memory"), "{error}");
}

/// A ring of beads, the first half of one colour, that turns, and a gate that reverses some of them.
fn ring(beads: u8, gate: usize) -> Puzzle {
    let mut set = PieceSet::distinct("beads", beads, 1);
    let colour = |bead| Placed { kind: u8::from(bead >= beads / 2), turn: 0 };
    set = PieceSet { solved: (0..beads).map(colour).collect(), moduli: vec![1, 1], ..set };
    let one = |name: &str, source: Vec<u8>| Move {
        name: name.into(),
        transformation: Transformation(vec![SetAction { twist: vec![0; source.len()], source }]),
        requires: None,
    };
    let mut reversed: Vec<u8> = (0..beads).collect();
    reversed[..gate].reverse();
    let moves = vec![one("L", (0..beads).map(|b| (b + 1) % beads).collect()), one("X", reversed)];
    Puzzle::new("ring", vec![set], moves).unwrap().inverse_closed().unwrap()
}

#[test]
fn full_levels_are_bits_and_rings_of_two_colours_are_as_published() {
    // cayleypy/cayleypy 7355621 cayleypy/data/top_spin_coset_growth.csv, row of 18 beads.
    let published = [
        1, 2, 3, 5, 9, 14, 26, 42, 62, 90, 139, 215, 289, 406, 580, 813, 1100, 1491, 2033, 2704,
        3458, 4295, 5059, 5446, 5415, 4807, 3927, 2837, 1688, 929, 478, 178, 48, 20, 9, 2,
    ];
    let search = FrontierSearch::new(ring(18, 4));
    let found = search.run().unwrap();
    assert_eq!((&found.counts[..], found.complete), (&published[..], true));
    // A bit for each of 48,620 states.
    let lists = found.lists.as_ref().unwrap();
    let full = lists.bytes.iter().filter(|&&bytes| bytes == 48_620u64.div_ceil(64) * 8);
    assert!(full.count() > 20, "{found:?}");
    // Lists where bits do not fit, other kernels and threads, another depth.
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_supported()) {
        for (memory, threads) in [(1 << 20, 1), (150 << 10, 2), (17 << 10, 1)] {
            let other = search.clone().kernel(kernel).memory(memory).threads(threads);
            let other = other.max_depth(27).keep_last(3000).run();
            let other = match other {
                Ok(other) => other,
                Err(error) if memory < 100 << 10 => {
                    assert!(error.to_string().contains("do not fit"), "{error}");
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            assert!(other.array_bytes <= memory, "{other:?}");
            assert_eq!(
                (&other.counts[..], &other.checksums[..]),
                (&found.counts[..28], &found.checksums[..28])
            );
            assert_eq!(other.last.len(), 2837);
        }
    }
}
