//! The portable kernel.

use super::program::{Step, Tally};
use super::step::{Isa, Ready, Work, split_by_shift, step};
use crate::perm::checksum;
use crate::perm::gather::{CrossRow, Gather, LaneRow};
use crate::perm::layout::{GROUP, LANES, Layout, Register};

/// Portable Rust: arrays of bytes that the compiler vectorises where it can.
pub(super) struct Scalar;

impl Scalar {
    pub fn ready(layout: Layout, transfers: &[&[(u8, u8)]], gathers: &[Gather]) -> Ready<Scalar> {
        Ready::new(layout, transfers, gathers)
    }
}

impl Step for Ready<Scalar> {
    unsafe fn step(&self, work: Work) -> Tally {
        // SAFETY: the caller's promise; portable code runs everywhere.
        unsafe { step(self, &work) }
    }
}

impl Isa for Scalar {
    type Reg = Register;
    type LaneRow = LaneRow;
    type CrossRow = CrossRow;
    /// Left shift, right shift, target bits.
    type BitMap = (u32, u32, u8);
    type Sums = Tally;

    fn lane_row(row: &LaneRow) -> LaneRow {
        *row
    }

    fn cross_row(row: &CrossRow) -> CrossRow {
        *row
    }

    fn bit_maps(bits: &[(u8, u8)]) -> Vec<(u32, u32, u8)> {
        let split = split_by_shift(bits).into_iter();
        split
            .map(|(s, mask)| (s.max(0) as u32, (-s).max(0) as u32, mask))
            .collect()
    }

    #[inline(always)]
    unsafe fn zero() -> Register {
        [0; 64]
    }

    #[inline(always)]
    unsafe fn load(from: *const Register) -> Register {
        // SAFETY: the caller passes a valid register.
        unsafe { *from }
    }

    #[inline(always)]
    unsafe fn store(to: *mut Register, value: Register) {
        // SAFETY: the caller passes a valid register.
        unsafe { *to = value }
    }

    #[inline(always)]
    unsafe fn and_not(a: Register, b: Register) -> Register {
        std::array::from_fn(|i| a[i] & !b[i])
    }

    #[inline(always)]
    unsafe fn or(a: Register, b: Register) -> Register {
        std::array::from_fn(|i| a[i] | b[i])
    }

    #[inline(always)]
    unsafe fn permute(row: &LaneRow, from: Register) -> Register {
        std::array::from_fn(|i| from[usize::from(row[i] & 63)])
    }

    #[inline(always)]
    unsafe fn select(row: &CrossRow, from: &[Register; GROUP]) -> Register {
        let bytes = from.as_flattened();
        let mut value = [0; 64];
        for i in 0..LANES {
            // SAFETY: `check` has found every entry below the length of six registers.
            value[i] = unsafe { *bytes.get_unchecked(usize::from(row[i])) };
        }
        value
    }

    #[inline(always)]
    unsafe fn join(into: Register, map: &(u32, u32, u8), from: Register) -> Register {
        let &(left, right, mask) = map;
        std::array::from_fn(|i| into[i] | (from[i] << left >> right & mask))
    }

    #[inline(always)]
    unsafe fn sums() -> Tally {
        Tally::default()
    }

    #[inline(always)]
    unsafe fn add(mut sums: Tally, register_key: u64, value: Register) -> Tally {
        for (j, bytes) in value.as_chunks::<8>().0.iter().enumerate() {
            let word = u64::from_le_bytes(*bytes);
            sums.states += u64::from(word.count_ones());
            sums.checksum = sums
                .checksum
                .wrapping_add(checksum::word(register_key, j, word));
        }
        sums
    }

    #[inline(always)]
    unsafe fn total(sums: Tally) -> Tally {
        sums
    }
}
