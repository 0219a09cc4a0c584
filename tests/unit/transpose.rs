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
