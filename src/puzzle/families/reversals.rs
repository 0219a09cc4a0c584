//! Sorting by reversals: J. Kececioglu and D. Sankoff, Exact and approximation algorithms for sorting by reversals (1995).

use super::family::{Family, generator, reverse};
use crate::puzzle::Generator;

pub(super) const FAMILY: Family = Family {
    name: "reversals",
    parameters: "N",
    states: "N!",
    example: "reversals:10",
    description: "reverse any part",
    make,
};

fn make(numbers: &[usize]) -> Vec<Generator> {
    let n = numbers[0];
    let parts = (1..n).flat_map(|i| (i + 1..=n).map(move |j| (i, j)));
    let reversals = parts.map(|(i, j)| generator(format!("r{i}-{j}"), reverse(n, i - 1, j)));
    reversals.collect()
}
