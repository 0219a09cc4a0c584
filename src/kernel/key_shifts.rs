//! The effect of an operation on the keys of list searches, with NEON: each word of a key is a register of 16 bytes,
//! one for each field.
//!
//! Invariant: the results are those of the plain loop in `keys`.

use std::arch::aarch64::*;

/// How the fields of a word become bytes, and bytes a word.
#[derive(Clone, Copy, Debug, Default)]
struct WordShifts {
    /// For each half of the fields: the two bytes of the word in which each field begins and ends, and the shift that
    /// takes it to the lowest bits.
    pairs: [[u8; 16]; 2],
    falls: [[i16; 8]; 2],
    /// The bits of each field.
    mask: [u8; 16],
    /// The shifts that take the odd bytes, 16-bit numbers and 32-bit numbers of each half of the fields next to the
    /// even ones, and those that take both halves to their places.
    odd_byte: [i16; 8],
    odd_short: [i32; 4],
    odd_half: [i64; 2],
    place: [i64; 2],
}

/// How the words of a key are unpacked and packed.
#[derive(Clone, Debug)]
pub(super) struct KeyShifts(Vec<WordShifts>);

impl KeyShifts {
    /// Returns the shifts for fields given by their byte in an unpacked key, the bit at which they begin in their word,
    /// and their number of bits; `None` if a key has more than four words.
    pub fn of(words: usize, fields: impl Iterator<Item = (usize, u32, u32)>) -> Option<KeyShifts> {
        if words > 4 {
            return None;
        }
        let mut shifts = vec![WordShifts { pairs: [[0xff; 16]; 2], ..Default::default() }; words];
        // Where each field begins, and what is behind the last field of a half, which adds nothing.
        let mut begins = vec![[[0; 9]; 2]; words];
        for (byte, begin, bits) in fields {
            let (half, i, own) = (byte / 8 % 2, byte % 8, &mut shifts[byte / 16]);
            let first = (begin / 8) as u8;
            // There is no byte after the last one: the index gives 0.
            own.pairs[half][2 * i..][..2].copy_from_slice(&[first, first + 1]);
            own.falls[half][i] = -((begin % 8) as i16);
            own.mask[byte % 16] = ((1u32 << bits) - 1) as u8;
            begins[byte / 16][half][i] = begin as i64;
            begins[byte / 16][half][i + 1..].fill(i64::from(begin + bits));
        }
        for (own, begins) in shifts.iter_mut().zip(begins) {
            for (half, begins) in begins.iter().enumerate() {
                let apart = |first: usize, by: usize| begins[first + by] - begins[first];
                for i in 0..4 {
                    own.odd_byte[4 * half + i] = apart(2 * i, 1) as i16 - 8;
                }
                for i in 0..2 {
                    own.odd_short[2 * half + i] = apart(4 * i, 2) as i32 - 16;
                }
                own.odd_half[half] = apart(0, 4) - 32;
                own.place[half] = begins[0];
            }
        }
        Some(KeyShifts(shifts))
    }

    /// Appends the results of an operation on keys of `W` words: its shuffle takes bytes of unpacked keys to their
    /// places, where the tables map them, each the bytes that its mask has.
    pub fn apply<const W: usize>(
        &self,
        shuffle: &[u8; 64],
        tables: &[(&[u8; 128], u64)],
        keys: &[u64],
        out: &mut Vec<u64>,
    ) {
        let shifts: &[WordShifts; W] = self.0.first_chunk().expect("as many as words");
        let start = out.len();
        out.resize(start + keys.len(), 0);
        let made = out[start..].as_chunks_mut::<W>().0;
        // SAFETY: every ARM processor of 64 bits has these instructions; all loads are of whole arrays, or of 16 bytes
        // of the 64 of a shuffle and the 128 of a table.
        unsafe {
            let to: [uint8x16_t; W] =
                std::array::from_fn(|o| vld1q_u8(shuffle.as_ptr().add(16 * o)));
            for (key, made) in keys.as_chunks::<W>().0.iter().zip(made) {
                let mut bytes =
                    uint8x16x4_t(vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0));
                let parts = [&mut bytes.0, &mut bytes.1, &mut bytes.2, &mut bytes.3];
                for (w, part) in parts.into_iter().enumerate().take(W) {
                    *part = unpack(&shifts[w], key[w]);
                }
                for (o, word) in made.iter_mut().enumerate() {
                    let x = match W {
                        1 => vqtbl1q_u8(bytes.0, to[o]),
                        _ => vqtbl4q_u8(bytes, to[o]),
                    };
                    let mut y = vdupq_n_u8(0);
                    for (table, mask) in tables {
                        let of = bytes_of((mask >> (16 * o)) as u16);
                        let entries = vqtbl4q_u8(load_table(table), x);
                        y = vbslq_u8(of, entries, y);
                    }
                    *word = pack(&shifts[o], y);
                }
            }
        }
    }
}

/// # Safety
/// The processor has NEON.
#[inline(always)]
unsafe fn load_table(table: &[u8; 128]) -> uint8x16x4_t {
    let part = |i: usize| {
        // SAFETY: the caller's promise; 64 of the 128 bytes are read.
        unsafe { vld1q_u8(table.as_ptr().add(16 * i)) }
    };
    uint8x16x4_t(part(0), part(1), part(2), part(3))
}

/// All bits of the bytes that correspond to the 16 given bits.
///
/// # Safety
/// The processor has NEON.
#[inline(always)]
unsafe fn bytes_of(bits: u16) -> uint8x16_t {
    // SAFETY: the caller's promise.
    unsafe {
        let [low, high] = bits.to_le_bytes();
        let own = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
        vtstq_u8(vcombine_u8(vdup_n_u8(low), vdup_n_u8(high)), own)
    }
}

/// The values of the fields of a word.
///
/// # Safety
/// The processor has NEON.
#[inline(always)]
unsafe fn unpack(shifts: &WordShifts, word: u64) -> uint8x16_t {
    // SAFETY: the caller's promise; whole arrays are read.
    unsafe {
        let word = vcombine_u8(vcreate_u8(word), vdup_n_u8(0));
        let half = |half: usize| {
            let pairs = vqtbl1q_u8(word, vld1q_u8(shifts.pairs[half].as_ptr()));
            let falls = vld1q_s16(shifts.falls[half].as_ptr());
            vreinterpretq_u8_u16(vshlq_u16(vreinterpretq_u16_u8(pairs), falls))
        };
        // The lower bytes.
        vandq_u8(vuzp1q_u8(half(0), half(1)), vld1q_u8(shifts.mask.as_ptr()))
    }
}

/// The word whose fields have these values.
///
/// # Safety
/// The processor has NEON.
#[inline(always)]
unsafe fn pack(shifts: &WordShifts, values: uint8x16_t) -> u64 {
    // SAFETY: the caller's promise; whole arrays are read.
    unsafe {
        let values = vandq_u8(values, vld1q_u8(shifts.mask.as_ptr()));
        let low = vdupq_n_u16(0xff);
        let x = vreinterpretq_u16_u8(values);
        let odd = vshlq_u16(vbicq_u16(x, low), vld1q_s16(shifts.odd_byte.as_ptr()));
        let x = vreinterpretq_u32_u16(vorrq_u16(vandq_u16(x, low), odd));
        let low = vdupq_n_u32(0xffff);
        let odd = vshlq_u32(vbicq_u32(x, low), vld1q_s32(shifts.odd_short.as_ptr()));
        let x = vreinterpretq_u64_u32(vorrq_u32(vandq_u32(x, low), odd));
        let low = vdupq_n_u64(0xffff_ffff);
        let odd = vshlq_u64(vbicq_u64(x, low), vld1q_s64(shifts.odd_half.as_ptr()));
        let x = vshlq_u64(vorrq_u64(vandq_u64(x, low), odd), vld1q_s64(shifts.place.as_ptr()));
        vgetq_lane_u64::<0>(x) | vgetq_lane_u64::<1>(x)
    }
}
