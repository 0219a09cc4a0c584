//! Levels estimated from samples: an independent count of the levels that only one search has reached.
//!
//! A sample of a level is a set of its states with weights. Each state passes its weight on to all neighbours that are
//! one move further away; a state of the next level divides what it receives by the number of its neighbours that are
//! one move nearer. The expected sum of the weights is then the number of states of this level, since each state would
//! receive exactly 1 from a complete level. If a sample becomes too large, it is drawn again with probabilities that
//! are proportional to the weights, which changes no expected value (D. E. Knuth, Estimating the efficiency of
//! backtrack programs, Math. Comp. 29, 1975, for trees; P. C. Chen, Heuristic sampling, SIAM J. Comput. 21, 1992). The
//! optimal solver tells which neighbours are further away: nothing is shared with the search.

use std::collections::BTreeMap;
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
        (self.mean - number).abs() <= 4.0 * self.error + 1e-9 * number
    }
}

/// A solver with the databases that `tilewave solve` would build.
fn solver(goal: &Board) -> Optimal {
    let pdbs = default_patterns(goal).unwrap().into_iter().map(|pattern| Build::new(pattern).run());
    Optimal::new(goal, pdbs.collect::<Result<Vec<_>, _>>().unwrap()).unwrap()
}

/// A state of a sample.
struct Sampled {
    weight: f64,
    /// The neighbours that are one move further away.
    further: Vec<Board>,
}

impl Sampled {
    fn new(solver: &Optimal, board: &Board, received: f64, depth: usize) -> Sampled {
        let is_further = |other: &Board| {
            // A bound that is larger already saves most searches.
            solver.estimate(other).unwrap() > depth
                || solver.solve(other).unwrap().moves.unwrap().len() > depth
        };
        let neighbours = board.neighbours().map(|(_, other)| other);
        let (further, nearer): (Vec<_>, Vec<_>) = neighbours.partition(is_further);
        Sampled { weight: received / nearer.len().max(1) as f64, further }
    }
}

/// Draws `size` times from a sample, at equal distances along its weights.
fn drawn(sample: Vec<Sampled>, size: usize, random: &mut SplitMix64) -> Vec<Sampled> {
    let step = sample.iter().map(|one| one.weight).sum::<f64>() / size as f64;
    let mut next = step * (random.draw() >> 11) as f64 / (1_u64 << 53) as f64;
    let mut passed = 0.0;
    let mut times = |weight: f64| {
        passed += weight;
        let mut times = 0.0;
        while next < passed {
            (next, times) = (next + step, times + 1.0);
        }
        times
    };
    let weighed = sample.into_iter().map(|one| Sampled { weight: step * times(one.weight), ..one });
    weighed.filter(|one| one.weight > 0.0).collect()
}

/// The sums of the weights at each depth from 0 to `last`, for samples of up to `size` states.
fn sums(solver: &Optimal, last: usize, size: usize, random: &mut SplitMix64) -> Vec<f64> {
    let mut sample = vec![Sampled::new(solver, solver.goal(), 1.0, 0)];
    let mut sums = vec![1.0];
    for depth in 1..=last {
        // States with the same blank are next to each other: draws then take the right share of each cell.
        let mut received = BTreeMap::<(usize, &[u16]), (&Board, f64)>::new();
        for (board, weight) in sample.iter().flat_map(|s| s.further.iter().map(|b| (b, s.weight))) {
            received.entry((board.blank(), board.tiles())).or_insert((board, 0.0)).1 += weight;
        }
        let next = received.into_values();
        let next = next.map(|(board, weight)| Sampled::new(solver, board, weight, depth)).collect();
        sample = next;
        sums.push(sample.iter().map(|one| one.weight).sum());
        if sample.len() > size {
            sample = drawn(sample, size, random);
        }
    }
    sums
}

/// The estimate of each level from 0 to `last`, from a number of samples.
fn estimates(goal: &Board, last: usize, size: usize, samples: u64) -> Vec<Estimate> {
    let solver = solver(goal);
    let one = |seed| sums(&solver, last, size, &mut SplitMix64::new(seed));
    let sums: Vec<Vec<f64>> = (0..samples).into_par_iter().map(one).collect();
    (0..=last).map(|depth| Estimate::of(sums.iter().map(|one| one[depth]))).collect()
}

#[test]
fn samples_estimate_the_levels_of_the_8_puzzle() {
    let goal = Goal::Last.board("3x3".parse().unwrap()).unwrap();
    let truth: Value =
        serde_json::from_str(&fs::read_to_string(results().join("3x3.json")).unwrap()).unwrap();
    let found = estimates(&goal, 22, 500, 50);
    for (depth, estimate) in found.iter().enumerate() {
        let states = truth["counts"][depth].as_f64().unwrap();
        assert!(estimate.allows(states), "depth {depth}: {} for {states}", estimate.mean);
        assert!(estimate.error < 0.02 * states, "depth {depth}: {}", estimate.error);
    }
}

/// The levels of the 24-puzzle that no other search has counted, to a fraction of a per cent.
#[test]
#[ignore = "ten minutes on one core: cargo test --release --test suite -- --ignored --nocapture levels_of_the_24_puzzle"]
#[allow(clippy::print_stderr)]
fn samples_estimate_the_levels_of_the_24_puzzle() {
    let path = results().join("depths/5x5.json");
    let file: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let counts = file["counts"].as_array().unwrap();
    let goal = Goal::First.board("5x5".parse().unwrap()).unwrap();
    let found = estimates(&goal, counts.len() - 1, 5_000, 50);
    for (depth, estimate) in found.iter().enumerate() {
        let states = counts[depth].as_f64().unwrap();
        let (mean, error) = (estimate.mean, 100.0 * estimate.error / states);
        eprintln!("depth {depth}: {states:.0} counted, {mean:.4e} estimated, ±{error:.3} %");
        assert!(estimate.allows(states) && error < 0.3);
    }
}
