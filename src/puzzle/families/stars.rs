//! Star transpositions: S. B. Akers and B. Krishnamurthy, A group-theoretic model for symmetric interconnection networks (1989).

use super::family::{Family, generator, swap};
use crate::puzzle::Generator;

pub(super) const FAMILY: Family = Family {
    name: "stars",
    parameters: "N",
    states: "N!",
    example: "stars:9",
    description: "swap the first with any other",
    make,
};

fn make(numbers: &[usize]) -> Vec<Generator> {
    let n = numbers[0];
    let swaps = (2..=n).map(|i| generator(format!("t{i}"), swap(n, 0, i - 1)));
    swaps.collect()
}
