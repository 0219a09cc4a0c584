//! LX: one rotation of all elements and one swap, without the way back.

use super::family::{Family, generator, rotate_left, swap};
use crate::puzzle::Generator;

pub(super) const FAMILY: Family = Family {
    name: "lx",
    parameters: "N",
    states: "N!",
    example: "lx:12",
    description: "rotate all left only, swap the first two: directed",
    make,
};

fn make(numbers: &[usize]) -> Vec<Generator> {
    let n = numbers[0];
    vec![
        generator("L", rotate_left(n)),
        generator("X", swap(n, 0, 1)),
    ]
}
