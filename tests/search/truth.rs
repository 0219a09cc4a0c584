//! Every published distribution that a test can afford, through the sweep engine.

use std::collections::BTreeMap;

use serde::Deserialize;
use tilewave::puzzle::{Board, Metric, Size, StateSpace};
use tilewave::search::{Engine, Search};

#[derive(Deserialize)]
struct Distribution {
    rows: usize,
    cols: usize,
    metric: String,
    goal_blank: usize,
    states: u64,
    radius: usize,
    counts: Vec<u64>,
}

/// The single-tile distributions, by name.
fn published() -> BTreeMap<String, Distribution> {
    let text = include_str!("../data/distributions.json");
    let all: BTreeMap<String, serde_json::Value> = serde_json::from_str(text).unwrap();
    all.into_iter()
        .filter(|(name, _)| !name.starts_with('_'))
        .map(|(name, value)| (name, serde_json::from_value::<Distribution>(value).unwrap()))
        .collect()
}

fn check(name: &str, d: &Distribution, engine: Engine) {
    let size = Size::new(d.rows, d.cols).unwrap();
    let metric = match d.metric.as_str() {
        "multi-tile" => Metric::Mtm,
        _ => Metric::Stm,
    };
    let goal = Board::ordered(size, d.goal_blank).unwrap();
    let search = Search::of(StateSpace::of_board(goal).in_metric(metric)).engine(engine);
    let outcome = search.run().unwrap();
    assert_eq!(outcome.counts, d.counts, "{name}, {engine} engine");
    assert_eq!(outcome.diameter(), Some(d.radius), "{name}");
    assert_eq!(outcome.total(), d.states, "{name}");
    assert_eq!(Some(d.states), size.states(), "{name}");
}

#[test]
fn sweep_equals_every_published_distribution_up_to_12_cells() {
    let mut checked = Vec::new();
    for (name, d) in published() {
        if (8..=12).contains(&(d.rows * d.cols)) {
            check(&name, &d, Engine::Sweep);
            checked.push(name);
        }
    }
    assert_eq!(
        checked,
        [
            "2x4",
            "2x4/blank1",
            "2x4/blank1/mtm",
            "2x4/mtm",
            "2x5",
            "2x5/mtm",
            "2x6",
            "2x6/mtm",
            "3x3",
            "3x3/blank1",
            "3x3/blank1/mtm",
            "3x3/blank4",
            "3x3/blank4/mtm",
            "3x3/mtm",
            "3x4",
            "3x4/mtm",
        ]
    );
}

#[test]
fn reference_equals_every_published_distribution_up_to_10_cells() {
    let small = published().into_iter().filter(|(_, d)| d.rows * d.cols <= 10);
    let checked: Vec<String> = small
        .map(|(name, d)| {
            check(&name, &d, Engine::Reference);
            name
        })
        .collect();
    assert!(checked.len() >= 9 && checked.contains(&"2x2".into()), "{checked:?}");
}

/// 43,589,145,600 states.
#[test]
#[ignore = "6.7 GB of memory, half a minute: cargo test --release --test suite -- --ignored distribution_of_2x7"]
fn sweep_equals_the_published_distribution_of_2x7() {
    check("2x7", &published()["2x7"], Engine::Sweep);
}
