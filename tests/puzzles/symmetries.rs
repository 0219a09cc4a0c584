//! Symmetries: how many puzzles have, and how long it takes to find them.

use std::time::{Duration, Instant};

use tilewave::frontier::FrontierSearch;
use tilewave::puzzle::{Puzzle, Turns, Variant, formats, named};

use super::sample;

fn built_in(name: &str, turns: Turns) -> Puzzle {
    named::parse(name).unwrap().counting(turns).unwrap()
}

/// All symmetries of well-known puzzles, and of some with pieces that look alike, that never move, or sets that split: in a
/// tenth of a second, or ten times that where the program is not optimized or the machine is busy.
#[test]
fn known_puzzles_have_all_their_symmetries() {
    let mut all = Vec::new();
    for (name, order) in [
        ("2x2x2", 6),
        ("3x3x3", 48),
        ("megaminx", 120),
        ("kilominx", 120),
        ("pyraminx", 24),
        ("skewb", 24),
    ] {
        all.push((built_in(name, Turns::Powers), order));
        all.push((built_in(name, Turns::Quarter), order));
    }
    for (file, order) in [
        ("FTO.tws", 48),
        ("curvy_copter.tws", 48),
        ("helicopter.tws", 48),
        ("Christophers_jewel.tws", 48),
        ("Trajbers_octahedron.tws", 48),
        ("little_chop.tws", 48),
        ("disjoint.tws", 2),
        ("symmetry_equal.tws", 2),
    ] {
        all.push((formats::read(file, &sample(file), None).unwrap(), order));
    }
    // Generators alone, and layers of a cube: those inside may be exchanged, and each with the one opposite to it.
    let cube = || built_in("3x3x3", Turns::Powers);
    let few = cube().only(|name| ["U", "F", "R"].iter().any(|turn| name.starts_with(turn)));
    all.push((few.unwrap(), 6));
    all.push((cube().only(|name| name.ends_with('2')).unwrap(), 48));
    all.push((built_in("4x4x4", Turns::Powers), 2 * 48));
    all.push((built_in("7x7x7", Turns::Powers), 2 * 2 * 2 * 48));
    let mut slow = Vec::new();
    for (puzzle, order) in all {
        let begun = Instant::now();
        assert_eq!(puzzle.symmetries(), Some((order as u32).into()), "{puzzle}");
        if begun.elapsed() > Duration::from_secs(1) {
            slow.push(format!("{puzzle}: {:?}", begun.elapsed()));
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}

/// 765 moves turn several layers of one axis: pairs of those that turn one layer tell them apart.
#[test]
fn moves_of_several_layers_have_the_symmetries_of_single_ones() {
    let begun = Instant::now();
    assert_eq!(built_in("4x4x4", Turns::Axial).symmetries(), Some(96u32.into()));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// Goals may take each other's places.
#[test]
fn symmetries_keep_the_set_of_goals() {
    let order = |goals: &[&str], subgroup: &str| {
        let goals = goals.iter().map(|&goal| goal.into()).collect();
        let variant = Variant { goals, subgroup: Variant::split(subgroup), ..Variant::default() };
        variant.of(named::parse("3x3x3").unwrap(), Turns::Powers).unwrap().symmetries().unwrap()
    };
    let turns = ["U", "U'", "D", "D'", "F", "F'", "B", "B'", "L", "L'", "R", "R'"];
    assert_eq!(order(&turns, ""), 48u8.into());
    // Eight keep the side and so both goals, or exchange them; a half turn of the solved pieces exchanges them, too.
    assert_eq!(order(&["U", "U'"], ""), 16u8.into());
    assert_eq!(order(&[], "U2"), 16u8.into());
    // The four rotations of the sides and those that exchange them; reflections exchange them with all pieces turned.
    assert_eq!(order(&["U", "D"], ""), 16u8.into());
    assert_eq!(order(&["U", "D", "F"], ""), 2u8.into());
    assert_eq!(order(&["U", "R F"], ""), 1u8.into());
}

/// Pieces that look alike have no coordinate, and all states are stored; classes are counted nonetheless.
#[test]
fn classes_are_counted_where_pieces_look_alike() {
    let puzzle = formats::read("e.tws", &sample("symmetry_equal.tws"), None).unwrap();
    let found = FrontierSearch::new(puzzle).run().unwrap();
    // The only symmetry turns the row around: six of the 70 arrangements are their own images.
    assert_eq!(found.reduced().map(|reduced| reduced.iter().sum::<u64>()), Some(38));
    assert_eq!(found.counts.iter().sum::<u64>(), 70);
}
