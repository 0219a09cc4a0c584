//! Bubble sort: the Coxeter generators of the symmetric group.

use super::family::{Family, generator, swap};
use crate::puzzle::Generator;

pub(super) const FAMILY: Family = Family {
    name: "coxeter",
    parameters: "N",
    states: "N!",
    example: "coxeter:12",
    description: "swap neighbours: distances are inversions",
    make,
};

fn make(numbers: &[usize]) -> Vec<Generator> {
    let n = numbers[0];
    let swaps = (1..n).map(|i| generator(format!("s{i}"), swap(n, i - 1, i)));
    swaps.collect()
}
