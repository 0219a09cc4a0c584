//! Levels estimated from random walks: an independent count of the levels that only one search has reached.
//!
//! A walk begins at the goal. Each step goes to one of the neighbours that are one move further away, chosen at random. The
//! weight of a walk is the product of the numbers of neighbours it chose from, divided by the numbers of neighbours from
//! which each of its states could have been reached. The expected weight at a depth is the number of states at this depth:
//! D. E. Knuth, Estimating the efficiency of backtrack programs, Math. Comp. 29 (1975), where each state has one such neighbour.
//! The optimal solver tells how far away a neighbour is, so nothing is shared with the search.

use std::fs;

use rayon::prelude::*;
use serde_json::Value;
use tilewave::pdb::Build;
use tilewave::puzzle::{Board, Goal};
use tilewave::random::SplitMix64;
use tilewave::solve::{Optimal, default_patterns};

use super::results;

/// The mean of many values and its standard error.
struct Estimate {
    mean: f64,
    error: f64,
}

impl Estimate {
    fn of(values: impl ExactSizeIterator<Item = f64> + Clone) -> Estimate {
        let count = values.len() as f64;
        let mean = values.clone().sum::<f64>() / count;
        let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        Estimate { mean, error: (variance / count).sqrt() }
    }

    /// Whether a number is within four standard errors, which one in 16,000 estimates exceeds.
    fn allows(&self, number: f64) -> bool {
        (self.mean - number).abs() <= 4.0 * self.error
    }
}

/// A solver with the databases that `tilewave solve` would build.
fn solver(goal: &Board) -> Optimal {
    let pdbs = default_patterns(goal).unwrap().into_iter().map(|pattern| Build::new(pattern).run());
    Optimal::new(goal, pdbs.collect::<Result<Vec<_>, _>>().unwrap()).unwrap()
}

/// The weight of one walk at each depth; 0 after a state without neighbours that are further away.
fn walk(solver: &Optimal, last: usize, random: &mut SplitMix64) -> Vec<f64> {
    let is_further = |board: &Board, depth: usize| {
        // A bound that is larger already saves most searches.
        solver.estimate(board).unwrap() > depth
            || solver.solve(board).unwrap().moves.unwrap().len() > depth
    };
    let (mut state, mut weight) = (solver.goal().clone(), 1.0);
    let mut weights = Vec::with_capacity(last + 1);
    for depth in 0..=last {
        let neighbours = state.neighbours().map(|(_, board)| board);
        let (further, nearer): (Vec<_>, Vec<_>) =
            neighbours.partition(|board| is_further(board, depth));
        weight /= nearer.len().max(1) as f64;
        weights.push(weight);
        if further.is_empty() {
            break;
        }
        weight *= further.len() as f64;
        state = further[(random.draw() % further.len() as u64) as usize].clone();
    }
    weights.resize(last + 1, 0.0);
    weights
}

/// The estimate of each level from 0 to `last`.
fn estimates(goal: &Board, last: usize, walks: u64) -> Vec<Estimate> {
    let solver = solver(goal);
    let one = |seed| walk(&solver, last, &mut SplitMix64::new(seed));
    let weights: Vec<Vec<f64>> = (0..walks).into_par_iter().map(one).collect();
    (0..=last).map(|depth| Estimate::of(weights.iter().map(|walk| walk[depth]))).collect()
}

#[test]
fn walks_estimate_the_levels_of_the_8_puzzle() {
    let goal = Goal::Last.board("3x3".parse().unwrap()).unwrap();
    let truth: Value =
        serde_json::from_str(&fs::read_to_string(results().join("3x3.json")).unwrap()).unwrap();
    let found = estimates(&goal, 20, 20_000);
    for (depth, estimate) in found.iter().enumerate() {
        let states = truth["counts"][depth].as_f64().unwrap();
        assert!(estimate.allows(states), "depth {depth}: {} for {states}", estimate.mean);
        assert!(estimate.error < 0.02 * states, "depth {depth}: {}", estimate.error);
    }
}

/// The levels of the 24-puzzle that no other search has counted, to a fraction of a per cent.
#[test]
#[ignore = "solves some ten million boards: cargo test --release --test suite -- --ignored --nocapture levels_of_the_24_puzzle"]
fn random_walks_estimate_the_levels_of_the_24_puzzle() {
    let path = results().join("depths/5x5.json");
    let file: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let counts = file["counts"].as_array().unwrap();
    let goal = Goal::First.board("5x5".parse().unwrap()).unwrap();
    let found = estimates(&goal, counts.len() - 1, 200_000);
    for (depth, estimate) in found.iter().enumerate() {
        let states = counts[depth].as_f64().unwrap();
        let (mean, error) = (estimate.mean, 100.0 * estimate.error / states);
        eprintln!("depth {depth}: {states:.0} counted, {mean:.4e} estimated, ±{error:.3} %");
        assert!(estimate.allows(states) && error < 0.3);
    }
}
