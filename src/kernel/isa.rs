//! The interface of an instruction set: 64 bytes, and the operations on them.
//!
//! Invariant: an instruction set only specifies how registers are loaded, permuted, mapped, compared and counted; it
//! adds no special cases.

use crate::perm::{CrossRow, GROUP, LANES, LaneRow, Register};

/// The lanes of a register that are not padding, one bit each.
pub(crate) const LANE_MASK: u64 = (1 << LANES) - 1;

/// The contribution of a block to its level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of states of the level in the block.
    pub states: u64,
    /// Their checksum.
    pub checksum: u64,
}

impl Tally {
    /// Returns the tally of two disjoint sets of states.
    pub fn plus(self, other: Tally) -> Tally {
        Tally {
            states: self.states + other.states,
            checksum: self.checksum.wrapping_add(other.checksum),
        }
    }
}

/// An instruction set: a type for 64 bytes, and the operations on it.
///
/// All functions that use registers are unsafe because they may only run on a processor that has the instructions.
pub(crate) trait Isa: Sized + 'static {
    /// 64 bytes.
    type Reg: Copy;
    /// A permutation of the lanes of one register.
    type LaneRow: Send + Sync;
    /// A selection of lanes from six registers.
    type CrossRow: Send + Sync;
    /// A map from source bits to target bits, to be combined with others; every target bit has at most one source.
    type BitMap: Send + Sync;
    /// Running count and checksum.
    type Sums: Copy;

    fn lane_row(row: &LaneRow) -> Self::LaneRow;
    fn cross_row(row: &CrossRow) -> Self::CrossRow;
    fn bit_maps(bits: &[(u8, u8)]) -> Vec<Self::BitMap>;

    unsafe fn splat(byte: u8) -> Self::Reg;
    unsafe fn load(from: *const Register) -> Self::Reg;
    unsafe fn store(to: *mut Register, value: Self::Reg);
    /// A byte of ones for each bit that is set.
    unsafe fn spread(bits: u64) -> Self::Reg;
    unsafe fn and(a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// `a AND NOT b`.
    unsafe fn and_not(a: Self::Reg, b: Self::Reg) -> Self::Reg;
    unsafe fn or(a: Self::Reg, b: Self::Reg) -> Self::Reg;
    unsafe fn permute(row: &Self::LaneRow, from: Self::Reg) -> Self::Reg;
    unsafe fn select(row: &Self::CrossRow, from: &[Self::Reg; GROUP]) -> Self::Reg;
    /// `into OR map(from)`.
    unsafe fn join(into: Self::Reg, map: &Self::BitMap, from: Self::Reg) -> Self::Reg;
    unsafe fn sums() -> Self::Sums;
    unsafe fn add(sums: Self::Sums, register_key: u64, value: Self::Reg) -> Self::Sums;
    unsafe fn total(sums: Self::Sums) -> Tally;
    /// The lanes that are nonzero, one bit each.
    unsafe fn lanes(a: Self::Reg) -> u64;

    /// Takes some bits of a word, each from the position given by the row.
    #[inline(always)]
    unsafe fn take_bits(row: &[u8; 64], lanes: u64, word: u64) -> u64 {
        let lanes = (0..64).filter(|lane| lanes >> lane & 1 == 1);
        lanes.fold(0, |bits, lane| bits | (word >> row[lane] & 1) << lane)
    }
    /// Gathers the bits of a word at the positions where the mask has ones into the lowest bits, in order.
    #[inline(always)]
    unsafe fn gather_bits(word: u64, mask: u64) -> u64 {
        let lanes = (0..64).filter(|lane| mask >> lane & 1 == 1).enumerate();
        lanes.fold(0, |bits, (i, lane)| bits | (word >> lane & 1) << i)
    }
    /// Scatters the lowest bits of a word, in order, to the positions where the mask has ones.
    #[inline(always)]
    unsafe fn scatter_bits(word: u64, mask: u64) -> u64 {
        let lanes = (0..64).filter(|lane| mask >> lane & 1 == 1).enumerate();
        lanes.fold(0, |bits, (i, lane)| bits | (word >> i & 1) << lane)
    }
}

/// Functions of an [`Isa`] whose body is one expression of intrinsics.
macro_rules! instructions {
    ($(fn $name:ident($($arg:ident: $of:ty),*) $(-> $value:ty)? { $body:expr })*) => {$(
        #[inline(always)]
        unsafe fn $name($($arg: $of),*) $(-> $value)? {
            // SAFETY: the caller promises that the processor has the instructions and that pointers are valid
            // registers; tables stay within them, as `check` has verified.
            unsafe { $body }
        }
    )*};
}

/// Splits bits into maps: each bit is added to the first map with all of whose bits it is compatible.
fn split(bits: &[(u8, u8)], may: fn((u8, u8), (u8, u8)) -> bool) -> Vec<Vec<(u8, u8)>> {
    let mut maps: Vec<Vec<(u8, u8)>> = Vec::new();
    for &bit in bits {
        match maps.iter_mut().find(|map| map.iter().all(|&b| may(b, bit))) {
            Some(map) => map.push(bit),
            None => maps.push(vec![bit]),
        }
    }
    maps
}

/// Splits bits into maps in which every target bit occurs once.
pub(crate) fn split_by_target(bits: &[(u8, u8)]) -> Vec<Vec<(u8, u8)>> {
    split(bits, |a, b| a.1 != b.1)
}

/// Splits bits into maps that shift all their bits by the same distance, each with its left shift, right shift and
/// target bits.
pub(crate) fn split_by_shift(bits: &[(u8, u8)]) -> Vec<(u32, u32, u8)> {
    let maps = split(bits, |a, b| a.0 + b.1 == a.1 + b.0).into_iter();
    let shift = |map: Vec<(u8, u8)>| {
        let (from, to) = (u32::from(map[0].0), u32::from(map[0].1));
        let targets = map.iter().fold(0, |targets, bit| targets | 1 << bit.1);
        (to.saturating_sub(from), from.saturating_sub(to), targets)
    };
    maps.map(shift).collect()
}

pub(crate) use instructions;
