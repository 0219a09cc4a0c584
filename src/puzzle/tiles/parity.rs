//! Parity of sequences of distinct numbers.

/// Returns whether the sequence has an even number of inversions. The entries must be distinct.
///
/// Cost: quadratic in the length, meant for boards and windows, not for inner loops.
///
/// ```
/// use tilewave::puzzle::tiles::is_even;
/// assert!(is_even(&[2, 3, 1]));
/// assert!(!is_even(&[2, 1, 3]));
/// ```
pub fn is_even<T: PartialOrd>(sequence: &[T]) -> bool {
    let inversions: usize = sequence
        .iter()
        .enumerate()
        .map(|(i, x)| sequence[i + 1..].iter().filter(|y| *y < x).count())
        .sum();
    inversions.is_multiple_of(2)
}
