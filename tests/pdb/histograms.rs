//! Value histograms against published and independently computed ones.

use serde_json::Value;
use tilewave::pdb::{Kind, partition};
use tilewave::puzzle::Size;

use super::{database, goal};

fn check(most: u64, least: u64) {
    let text = include_str!("../data/pdb_histograms.json");
    let facts: Value = serde_json::from_str(text).unwrap();
    let mut checked = 0;
    for (name, fact) in facts.as_object().unwrap() {
        let Some(entries) = fact.get("entries").and_then(Value::as_u64) else {
            continue;
        };
        if !(least..most).contains(&entries) {
            continue;
        }
        let numbers = |key: &str| -> Vec<u64> {
            let list = fact[key].as_array().unwrap();
            list.iter().map(|n| n.as_u64().unwrap()).collect()
        };
        let tiles: Vec<u16> = numbers("tiles").iter().map(|&t| t as u16).collect();
        let goal = goal(fact["board"].as_str().unwrap(), "first");
        let pdb = database(&goal, &tiles, Kind::Minimum);
        assert_eq!(pdb.entries(), entries, "{name}");
        assert_eq!(pdb.histogram(), numbers("hist"), "{name}");
        assert_eq!(u64::from(pdb.maximum()), fact["max"].as_u64().unwrap());
        let mean = fact["mean"].as_f64().unwrap();
        assert!((pdb.mean() - mean).abs() < 1e-6, "{name}: {}", pdb.mean());
        checked += 1;
    }
    assert!(checked > 0, "the facts are read");
}

#[test]
fn small_patterns_have_the_known_histograms() {
    check(10_000_000, 0);
}

/// 57,657,600 and 127,512,000 entries: a second in a release build, too long in a debug build.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation: run with --release")]
fn large_patterns_have_the_known_histograms() {
    check(u64::MAX, 10_000_000);
}

/// {8..15} on 4x4: 518,918,400 entries. No table of it is published that we know; the numbers are those that
/// all kernels find.
#[test]
#[ignore = "1.1 GB of memory: cargo test --release --test suite -- --ignored eight_tiles"]
fn eight_tiles_have_the_known_maximum() {
    let pdb = database(&goal("4x4", "first"), &[8, 9, 10, 11, 12, 13, 14, 15], Kind::Minimum);
    assert_eq!(pdb.entries(), 518_918_400);
    assert_eq!(pdb.histogram().iter().sum::<u64>(), 518_918_400);
    assert_eq!(pdb.histogram()[..6], [1, 4, 10, 44, 155, 498]);
    assert_eq!(pdb.maximum(), 38);
}

/// Turning the goal turns the patterns: the tables have the same histograms.
#[test]
fn the_goal_last_has_the_histograms_of_the_goal_first() {
    for name in ["5-5-5", "6-6-3"] {
        let histograms = ["first", "last", "blank=3", "blank=12"].map(|text| {
            let goal = goal("4x4", text);
            let patterns = partition(name, &goal).unwrap();
            let small = patterns.iter().filter(|p| p.tiles().len() < 6);
            let tables = small.map(|p| database(&goal, p.tiles(), Kind::Minimum));
            tables.map(|t| t.histogram().to_vec()).collect::<Vec<_>>()
        });
        assert_eq!(histograms[0], histograms[1]);
        assert_eq!(histograms[0], histograms[2]);
        assert_eq!(histograms[0], histograms[3]);
    }
    assert_eq!(goal("4x4", "last").size(), Size::new(4, 4).unwrap());
}
