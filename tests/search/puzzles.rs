//! Permutation puzzles on the engines: against published growth, and against each other.

use std::collections::BTreeMap;

use serde::Deserialize;
use tilewave::Kernel;
use tilewave::puzzle::{Puzzle, StateSpace, families};
use tilewave::search::{self, Engine, Search};

#[derive(Deserialize)]
struct Growth {
    n: usize,
    counts: Vec<u64>,
}

/// The published growth of every family, by the family's own name.
fn published() -> Vec<(Puzzle, Growth)> {
    let text = include_str!("../data/growth.json");
    let all: BTreeMap<String, serde_json::Value> = serde_json::from_str(text).unwrap();
    let all = all.into_iter().filter(|(name, _)| name.contains(':'));
    let named = all.map(|(name, value)| {
        let growth: Growth = serde_json::from_value(value).unwrap();
        let (family, parameters) = name.split_once(':').unwrap();
        let name = match family {
            "topspin4" => format!("topspin:{},4", growth.n),
            "cyclic_coxeter" => format!("cyclic-coxeter:{}", growth.n),
            "full_reversals" => format!("reversals:{}", growth.n),
            family => format!("{family}:{parameters}"),
        };
        (families::parse(&name).unwrap(), growth)
    });
    named.collect()
}

fn run(
    space: &StateSpace,
    engine: Engine,
    kernel: Option<Kernel>,
    threads: usize,
) -> search::Outcome {
    let mut search = Search::of(space.clone());
    (search.engine, search.resources.kernel) = (Some(engine), kernel);
    (search.resources.threads, search.keep_last) = (Some(threads), usize::MAX);
    search.run().unwrap()
}

#[test]
fn all_engines_and_kernels_equal_the_published_growth() {
    let mut families = std::collections::BTreeSet::new();
    for (definition, growth) in published().into_iter().filter(|(_, g)| g.n <= 8) {
        families.insert(definition.name().split(':').next().unwrap().to_string());
        let name = definition.name().to_string();
        let space = StateSpace::of_puzzle(definition);
        let reference = run(&space, Engine::Reference, None, 2);
        assert_eq!(reference.counts, growth.counts, "{name}, reference");
        assert!(reference.complete && reference.states == Some(reference.total().into()));
        if growth.n < 7 {
            continue;
        }
        let mut last = reference.last.numbered().to_vec();
        last.sort();
        for kernel in Kernel::ALL.into_iter().filter(|k| k.is_supported()) {
            // More threads carry out fewer links of long windows superblock by superblock.
            for threads in [1, 3] {
                let sweep = run(&space, Engine::Sweep, Some(kernel), threads);
                assert_eq!(sweep.counts, growth.counts, "{name}, {kernel}");
                assert_eq!(sweep.checksums, reference.checksums, "{name}, {kernel}");
                let mut found = sweep.last.numbered().to_vec();
                found.sort();
                assert_eq!(found, last, "{name}, {kernel}");
            }
        }
    }
    assert_eq!(families.len(), 8, "{families:?}");
}

#[test]
fn the_sweep_equals_the_published_growth_of_up_to_ten_elements() {
    let mut checked = 0;
    for (definition, growth) in published() {
        if (9..=10).contains(&growth.n) {
            let name = definition.name().to_string();
            let sweep = run(&StateSpace::of_puzzle(definition), Engine::Sweep, None, 2);
            assert_eq!(sweep.counts, growth.counts, "{name}");
            checked += 1;
        }
    }
    assert!(checked >= 13, "{checked}");
}

/// 479,001,600 states each: seconds.
#[test]
#[ignore = "200 MB of memory, half a minute: cargo test --release --test suite -- --ignored eleven_and_twelve"]
fn the_sweep_equals_the_published_growth_of_eleven_and_twelve_elements() {
    // More elements need more memory than a laptop has, or a disk.
    let growths = published().into_iter().filter(|(_, g)| (11..=12).contains(&g.n));
    let mut checked = 0;
    for (definition, growth) in growths {
        let name = definition.name().to_string();
        let search = Search::of(StateSpace::of_puzzle(definition)).engine(Engine::Sweep);
        let sweep = search.run().unwrap();
        assert_eq!(sweep.counts, growth.counts, "{name}");
        checked += 1;
    }
    assert!(checked >= 8, "{checked}");
}

/// A Cayley graph looks the same from every state, and states are shown in the puzzle's own words.
#[test]
fn searches_begin_anywhere() {
    let space = StateSpace::of_puzzle(families::parse("pancake:8").unwrap());
    let home = run(&space, Engine::Sweep, None, 2);
    let start = "3 1 4 2 8 7 5 6";
    let other = space.starting_at(start).unwrap();
    let away = run(&other, Engine::Sweep, None, 2);
    assert_eq!(away.counts, home.counts);
    let space = other;
    assert_eq!(space.text(space.start().unwrap()), start);
    for &state in away.last.numbered().iter().take(20) {
        assert_eq!(space.parse(&space.text(state)).unwrap(), state);
    }
}
