//! The portable kernel.

use std::array::from_fn;

use crate::{
    kernel::isa::{Isa, Tally, instructions, split_by_shift},
    perm::{CrossRow, GROUP, LANES, LaneRow, Register, layout},
};

/// Portable Rust: arrays of bytes that the compiler vectorises if it can.
pub(crate) struct Scalar;

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
        split_by_shift(bits)
    }

    instructions! {
        fn load(from: *const Register) -> Register { *from }
        fn store(to: *mut Register, value: Register) { *to = value }
    }

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Register {
        [byte; 64]
    }

    #[inline(always)]
    unsafe fn spread(bits: u64) -> Register {
        from_fn(|i| (bits >> i & 1) as u8 * u8::MAX)
    }

    #[inline(always)]
    unsafe fn and(a: Register, b: Register) -> Register {
        from_fn(|i| a[i] & b[i])
    }

    #[inline(always)]
    unsafe fn and_not(a: Register, b: Register) -> Register {
        from_fn(|i| a[i] & !b[i])
    }

    #[inline(always)]
    unsafe fn or(a: Register, b: Register) -> Register {
        from_fn(|i| a[i] | b[i])
    }

    #[inline(always)]
    unsafe fn permute(row: &LaneRow, from: Register) -> Register {
        from_fn(|i| from[usize::from(row[i] & 63)])
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
        from_fn(|i| into[i] | (from[i] << left >> right & mask))
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
            let part = layout::word(register_key, j, word);
            sums.checksum = sums.checksum.wrapping_add(part);
        }
        sums
    }

    #[inline(always)]
    unsafe fn total(sums: Tally) -> Tally {
        sums
    }

    #[inline(always)]
    unsafe fn lanes(a: Register) -> u64 {
        let eights = a.as_chunks::<8>().0.iter().rev();
        eights.fold(0, |lanes, eight| {
            let word = u64::from_le_bytes(*eight);
            let low = word & 0x7f7f_7f7f_7f7f_7f7f;
            // The highest bit of each byte that is not zero.
            let high = ((low + 0x7f7f_7f7f_7f7f_7f7f) | word) >> 7 & 0x0101_0101_0101_0101;
            // Gathers the lowest bits of eight bytes in the highest byte, the first one lowest.
            lanes << 8 | high.wrapping_mul(0x0102_0408_1020_4080) >> 56
        })
    }
}
