//! The checksum of a set of states: a sum over registers that is independent of any order of work.
//!
//! Invariant: the checksum of a disjoint union is the wrapping sum of the checksums, and the empty set
//! has checksum 0. So it does not depend on threads, blocks, chunks or kernels, and empty registers
//! need not be read.
//!
//! A register is eight little-endian 64-bit words. Word j of register r contributes
//! `lo(word) * lo(key) + hi(word) * hi(key)` modulo 2^64, with the 64-bit key
//! `mix(r) ^ LANE_KEYS[j]` and lo, hi the 32-bit halves: a multilinear hash (Carter and Wegman 1979;
//! Lemire and Kaser, Strongly universal string hashing is fast, 2014) with keys from a mixing function
//! in place of a key stream. Two 32-bit multiplications per word, vectorised by every kernel.

/// Key of each word of a register: the first 64-bit fractions of the square roots of 2, 3, 5, .., 19.
pub const LANE_KEYS: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// Returns the key of a register: a bijective mix of its index (the first half of Murmur3's finaliser).
#[inline(always)]
pub const fn mix(register: u64) -> u64 {
    let mut x = register.wrapping_add(1).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

/// Returns the contribution of word `j` of a register.
#[inline(always)]
pub const fn word(register_key: u64, j: usize, word: u64) -> u64 {
    const LOW: u64 = 0xffff_ffff;
    let key = register_key ^ LANE_KEYS[j];
    let low = (word & LOW).wrapping_mul(key & LOW);
    low.wrapping_add((word >> 32).wrapping_mul(key >> 32))
}

/// Returns the contribution of one state: bit `bit` of lane `lane` of register `register`.
///
/// Summed over the states of a level this is the level's checksum.
pub const fn state(register: u64, lane: usize, bit: usize) -> u64 {
    word(mix(register), lane / 8, 1 << (8 * (lane % 8) + bit))
}
