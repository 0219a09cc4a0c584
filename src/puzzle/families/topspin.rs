//! TopSpin: the toy of 1988 has 20 discs and a gate of 4.

use super::family::{Family, generator, reverse, rotate_left};
use crate::puzzle::Generator;

pub(super) const FAMILY: Family = Family {
    name: "topspin",
    parameters: "N,K",
    states: "N!, N!/2 or fewer",
    example: "topspin:12,4",
    description: "a ring of N that turns, and a gate that reverses K of it",
    make,
};

fn make(numbers: &[usize]) -> Vec<Generator> {
    let (n, k) = (numbers[0], numbers[1]);
    let left = rotate_left(n);
    let right = left.inverse();
    vec![
        generator("L", left),
        generator("R", right),
        generator("F", reverse(n, 0, k)),
    ]
}
