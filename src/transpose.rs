//! Squares of bits.

/// Transposes a square of bits: bit j of word i becomes bit i of word j.
///
/// Source: H. S. Warren, Hacker's Delight, 7-3.
pub(crate) fn transpose(square: &mut [u64; 64]) {
    let (mut side, mut mask) = (32, u64::from(u32::MAX));
    while side > 0 {
        for pair in square.chunks_mut(2 * side) {
            let (upper, lower) = pair.split_at_mut(side);
            for (upper, lower) in upper.iter_mut().zip(lower) {
                let swapped = (*upper >> side ^ *lower) & mask;
                *upper ^= swapped << side;
                *lower ^= swapped;
            }
        }
        side /= 2;
        mask ^= mask << side;
    }
}

#[cfg(test)]
#[path = "../tests/unit/transpose.rs"]
mod tests;
