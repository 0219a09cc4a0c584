//! Sets as bit masks, and square bit matrices.

/// The set of some things: bit c represents thing c.
#[inline]
pub fn set_of(things: &[u8]) -> u64 {
    things.iter().fold(0, |set, &thing| set | 1 << thing)
}

/// The set bits of a mask, lowest first.
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        let some = mask != 0;
        mask &= mask.wrapping_sub(1);
        some.then_some(bit)
    })
}

/// Transposes a square bit matrix: bit j of word i becomes bit i of word j.
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
mod tests {
    use super::transpose;
    use crate::random::SplitMix64;

    #[test]
    fn every_bit_of_a_square_changes_its_row_with_its_column() {
        let mut random = SplitMix64::new(5);
        let square: [u64; 64] = std::array::from_fn(|_| random.draw());
        let mut turned = square;
        transpose(&mut turned);
        for i in 0..64 {
            for j in 0..64 {
                assert_eq!(square[i] >> j & 1, turned[j] >> i & 1, "{i}, {j}");
            }
        }
    }
}
