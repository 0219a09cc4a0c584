//! Sorting on a ring: the Coxeter generators and the swap of the last with the first.

use super::family::{Family, generator, swap};
use crate::puzzle::Generator;

pub(super) const FAMILY: Family = Family {
    name: "cyclic-coxeter",
    parameters: "N",
    states: "N!",
    example: "cyclic-coxeter:12",
    description: "swap neighbours on a ring",
    make,
};

fn make(numbers: &[usize]) -> Vec<Generator> {
    let n = numbers[0];
    let swaps = (1..=n).map(|i| generator(format!("s{i}"), swap(n, i - 1, i % n)));
    swaps.collect()
}
