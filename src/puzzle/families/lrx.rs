//! LRX: rotations of all elements and one swap.

use super::family::{Family, generator, rotate_left, swap};
use crate::puzzle::Generator;

pub(super) const FAMILY: Family = Family {
    name: "lrx",
    parameters: "N",
    states: "N!",
    example: "lrx:12",
    description: "rotate all left or right, swap the first two",
    make,
};

fn make(numbers: &[usize]) -> Vec<Generator> {
    let n = numbers[0];
    let left = rotate_left(n);
    let right = left.inverse();
    vec![
        generator("L", left),
        generator("R", right),
        generator("X", swap(n, 0, 1)),
    ]
}
