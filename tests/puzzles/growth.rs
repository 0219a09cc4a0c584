//! How many states there are at each distance: by a plain search of arrangements, by one of lines and cells, and as
//! published.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

use proptest::prelude::*;
use serde::Deserialize;
use tilewave::puzzle::formats::read;
use tilewave::puzzle::{MoveGraph, Permutation, PositionOrder, StateSpace, families};
use tilewave::puzzle::{Puzzle, Turns};

use super::puzzle;

#[derive(Deserialize)]
struct Growth {
    n: usize,
    sum: String,
    diameter: usize,
    counts: Vec<u64>,
}

/// The published growth, by the name of the puzzle here.
fn published() -> BTreeMap<String, Growth> {
    let text = include_str!("../data/growth.json");
    let all: BTreeMap<String, serde_json::Value> = serde_json::from_str(text).unwrap();
    let named = all.into_iter().filter(|(name, _)| !name.starts_with('_'));
    let own = |name: String| match name.split_once(':').unwrap_or((&name, "")) {
        ("topspin4", n) => format!("topspin:{n},4"),
        ("full_reversals", n) => format!("reversals:{n}"),
        ("cyclic_coxeter", n) => format!("cyclic-coxeter:{n}"),
        _ => name,
    };
    named.map(|(name, value)| (own(name), serde_json::from_value(value).unwrap())).collect()
}

/// The sizes of the levels around a start, up to the first that makes more than 50,000 states.
fn levels<S: Clone + Eq + Hash>(start: S, neighbours: impl Fn(&S) -> Vec<S>) -> Vec<u64> {
    let mut seen = HashSet::from([start.clone()]);
    let mut frontier = vec![start];
    let mut counts = Vec::new();
    while !frontier.is_empty() && seen.len() < 50_000 {
        counts.push(frontier.len() as u64);
        let mut next = Vec::new();
        for state in frontier.iter().flat_map(&neighbours) {
            if seen.insert(state.clone()) {
                next.push(state);
            }
        }
        frontier = next;
    }
    if !frontier.is_empty() {
        counts.push(frontier.len() as u64);
    }
    counts
}

/// By arrangements as arrays: what stands at p goes to g(p).
fn by_arrangements(definition: &Puzzle) -> Vec<u64> {
    let start: Vec<u8> = (0..definition.labels().len() as u8).collect();
    let permutations = definition.permutations();
    levels(start, |old| {
        let moved = permutations.iter().map(|permutation| {
            let mut new = vec![0; old.len()];
            for (p, &element) in old.iter().enumerate() {
                new[permutation.image(p)] = element;
            }
            new
        });
        moved.collect()
    })
}

/// By the edges and windows of the general form.
fn by_windows(puzzle: &MoveGraph, start: (Vec<u8>, usize)) -> Vec<u64> {
    levels(start, |(line, cell)| {
        let edges = puzzle.edges().iter().filter(|edge| edge.from == *cell);
        let moved = edges.map(|edge| {
            let mut line = line.clone();
            puzzle.windows()[edge.window].apply(&mut line);
            (line, edge.to)
        });
        moved.collect()
    })
}

fn start(space: &StateSpace) -> (Vec<u8>, usize) {
    let start = space.start().unwrap();
    (space.line(start), start.cell)
}

fn both(definition: Puzzle) -> Vec<u64> {
    let name = definition.name().to_string();
    let counts = by_arrangements(&definition);
    let space = StateSpace::of_puzzle(definition.clone());
    assert_eq!(space.moves().is_directed(), definition.is_directed());
    assert_eq!(by_windows(space.moves(), start(&space)), counts, "{name}");
    assert_eq!(u128::from(counts.iter().sum::<u64>()), definition.group_order(), "{name}");
    assert_eq!(Some(counts.iter().sum()), space.states(), "{name}");
    counts
}

#[test]
fn families_grow_as_published_in_both_forms() {
    let mut checked = HashMap::new();
    for (name, growth) in published() {
        if growth.n > 8 {
            continue;
        }
        let definition = families::parse(&name).unwrap();
        assert_eq!(definition.name(), name);
        assert_eq!(both(definition), growth.counts, "{name}");
        assert_eq!(growth.diameter + 1, growth.counts.len(), "{name}");
        let family = name.split(':').next().unwrap().to_string();
        *checked.entry(family).or_insert(0) += 1;
    }
    assert_eq!(checked.len(), families::ALL.len());
    for family in families::ALL {
        assert!(checked[family.name] >= 3, "{}", family.name);
    }
}

#[test]
fn groups_have_the_published_order() {
    let mut checked = 0;
    for (name, growth) in published() {
        let definition = match name.as_str() {
            "dino" => puzzle("dino.gap"),
            name => families::parse(name).unwrap(),
        };
        let total: u64 = growth.counts.iter().sum();
        assert_eq!(definition.group_order(), u128::from(total), "{name}");
        let factorial: u64 = (1..=growth.n as u64).product();
        let halves = u64::from(growth.sum == "n!/2") + 1;
        assert_eq!(total, factorial / halves, "{name}");
        checked += 1;
    }
    assert!(checked > 60, "{checked}");
}

#[test]
fn all_examples_of_families_are_members() {
    for family in families::ALL {
        let definition = families::parse(family.example).unwrap();
        assert_eq!(definition.name(), family.example);
        assert_eq!(definition.is_directed(), family.name == "lx");
        assert!(!family.description.is_empty() && !family.states.is_empty());
        for n in 2..=16 {
            let k = if family.parameters == "N,K" { ",2" } else { "" };
            let definition = families::parse(&format!("{}:{n}{k}", family.name)).unwrap();
            assert_eq!(definition.labels().len(), n);
        }
    }
}

#[test]
fn small_members_are_what_they_are_by_hand() {
    let names = |puzzle: &Puzzle| -> Vec<String> {
        let moves = puzzle.moves().iter().zip(puzzle.permutations());
        moves.map(|(one, permutation)| format!("{}={permutation}", one.name)).collect()
    };
    let of = |name: &str| names(&families::parse(name).unwrap());
    assert_eq!(of("pancake:4"), ["F2=(1,2)", "F3=(1,3)", "F4=(1,4)(2,3)"]);
    assert_eq!(of("lrx:3"), ["L=(1,3,2)", "R=(1,2,3)", "X=(1,2)"]);
    assert_eq!(of("lrx:2"), ["L=(1,2)"], "equal moves count once");
    assert_eq!(of("lx:3"), ["L=(1,3,2)", "X=(1,2)"]);
    assert_eq!(of("topspin:5,4"), ["L=(1,5,4,3,2)", "R=(1,2,3,4,5)", "F=(1,4)(2,3)"]);
    assert_eq!(of("coxeter:3"), ["s1=(1,2)", "s2=(2,3)"]);
    assert_eq!(of("cyclic-coxeter:3"), ["s1=(1,2)", "s2=(2,3)", "s3=(1,3)"]);
    assert_eq!(of("stars:3"), ["t2=(1,2)", "t3=(1,3)"]);
    assert_eq!(of("reversals:3"), ["r1-2=(1,2)", "r1-3=(1,3)", "r2-3=(2,3)"]);
}

#[test]
fn wrong_names_of_families_say_what_is_wrong() {
    let refused = |name: &str| families::parse(name).unwrap_err().to_string();
    assert_eq!(
        refused("pankake:12"),
        "'pankake' is not a family of puzzles: the families are pancake, topspin, lrx, lx, coxeter, cyclic-coxeter, stars, reversals, burnt-pancake, signed-reversals"
    );
    for name in ["pancake", "pancake:", "pancake:x", "pancake:12,3", "pancake:+4", "pancake:4 "] {
        let error = refused(name);
        assert!(error.ends_with("write pancake:N, for example pancake:12"), "{error}");
    }
    assert_eq!(refused("lrx:17"), "lrx puzzles have 2 to 16 positions, not 17");
    assert_eq!(refused("lrx:1"), "lrx puzzles have 2 to 16 positions, not 1");
    assert_eq!(refused("topspin:9,10"), "topspin:9,10: the second number must be from 2 to 9");
    assert_eq!(refused("topspin:9,1"), "topspin:9,1: the second number must be from 2 to 9");
}

#[test]
fn samples_grow_alike_in_all_formats() {
    let five = both(puzzle("five.gap"));
    assert_eq!(five, published()["lrx:5"].counts);
    // The files of sets count all powers of a turn as one move.
    let wheels = both(puzzle("wheels.tws"));
    assert_eq!(wheels, both(puzzle("wheels.kpuzzle.json")));
    assert_ne!(wheels, both(puzzle("wheels.gap")));
    assert_eq!(wheels[..2], [1, 6]);
}

#[test]
fn the_dino_cube_grows_as_published_from_every_file() {
    let growth = &published()["dino"];
    for name in ["dino.gap", "dino.tws", "dino.kpuzzle.json"] {
        let space = StateSpace::of_puzzle(puzzle(name));
        let counts = by_windows(space.moves(), start(&space));
        assert!(counts.len() > 5);
        assert_eq!(counts, growth.counts[..counts.len()], "{name}");
    }
    let counts = by_arrangements(&puzzle("dino12.gap"));
    assert_eq!(counts, growth.counts[..counts.len()]);
}

#[test]
fn groups_that_do_not_mix_all_elements_grow_alike_in_both_forms() {
    let gap = |text: &str| both(read("x.gap", text, None).unwrap());
    // Two sets, the distinguished element in the larger one.
    assert_eq!(gap("a:=(1,2,3); b:=(5,6); Gen:=[a,b];"), [1, 3, 2]);
    assert_eq!(gap("a:=(1,2)(3,4,5,6,7); b:=(1,2); Gen:=[a,b];"), [1, 3, 4, 2]);
    // Blocks: three pairs on a ring.
    let blocks = gap("a:=(1,2,3)(4,5,6); b:=(1,4); Gen:=[a,b];");
    assert_eq!(blocks.iter().sum::<u64>(), 24);
    let one_way = Some(Turns::Directed);
    let ring = read("x.gap", "a:=(1,2,3,4,5); Gen:=[a];", one_way).unwrap();
    assert_eq!(both(ring), [1; 5]);
}

proptest! {
    /// No order is wrong, some are slow: any path, and any permutations in place of symmetries.
    #[test]
    fn every_order_grows_alike(
        path in Just((0..5).collect::<Vec<usize>>()).prop_shuffle(),
        turn in Just((0..5).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let turn = Permutation::new(&turn).unwrap();
        let order = PositionOrder::new(&path, &[turn.clone(), turn.then(&turn)]);
        for name in ["lrx:5", "lx:5", "pancake:5"] {
            let space = StateSpace::ordered_by(families::parse(name).unwrap(), order.clone());
            let counts = by_windows(space.moves(), start(&space));
            prop_assert_eq!(counts, published()[name].counts.clone());
        }
    }
}
