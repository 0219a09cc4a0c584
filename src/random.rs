//! Pseudorandom numbers.
//!
//! Invariant: a seed gives the same numbers on every machine and in every version.

/// SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Returns the sequence for a seed.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// Returns the next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, all equally likely: numbers in the top part of the range, which `bound` does not
    /// divide, are drawn again.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let fair = u64::MAX - u64::MAX % bound;
        loop {
            let number = self.draw();
            if number < fair {
                return number % bound;
            }
        }
    }
}

/// Returns a number from the system's source of randomness: a different one each time.
///
/// # Errors
/// If the system has no such source.
pub fn seed() -> std::io::Result<u64> {
    Ok(getrandom::u64()?)
}
