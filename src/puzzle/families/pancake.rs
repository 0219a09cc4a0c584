//! Pancake sorting: W. H. Gates and C. H. Papadimitriou, Bounds for sorting by prefix reversal (1979).

use super::family::{Family, generator, reverse};
use crate::puzzle::Generator;

pub(super) const FAMILY: Family = Family {
    name: "pancake",
    parameters: "N",
    states: "N!",
    example: "pancake:12",
    description: "reverse the first 2, 3, .. N of a stack",
    make,
};

fn make(numbers: &[usize]) -> Vec<Generator> {
    let n = numbers[0];
    let flips = (2..=n).map(|k| generator(format!("F{k}"), reverse(n, 0, k)));
    flips.collect()
}
