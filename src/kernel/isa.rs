//! Instruction sets: the interface, which is 64 bytes and the operations on them, and its four implementations.
//!
//! The steps (`steps`), fetches (`gather`) and moves of bits (`words`) are written once, for any [`Isa`]; `dispatch`
//! compiles them for [`Scalar`], `Avx2`, `Avx512` and `Neon`.
//!
//! Invariant: an instruction set only specifies how registers are loaded, permuted, mapped, compared and counted; it
//! adds no special cases.

use std::array::from_fn;

use crate::perm::{CrossRow, GROUP, LANES, LaneRow, Register, layout};

#[cfg(target_arch = "aarch64")]
pub(crate) use crate::kernel::isa::arm::Neon;
#[cfg(target_arch = "x86_64")]
pub(crate) use crate::kernel::isa::x86::{Avx2, Avx512};

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
    /// The bytes of one or two registers at the places given by another register, all of them below `64 * R`.
    unsafe fn look_up<const R: usize>(table: &[Self::Reg; R], places: Self::Reg) -> Self::Reg;

    /// The lanes in which two registers are equal, one bit each.
    #[inline(always)]
    unsafe fn equal(a: Self::Reg, b: Self::Reg) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { !Self::lanes(Self::or(Self::and_not(a, b), Self::and_not(b, a))) }
    }

    /// Takes some bits of a word, each from the position given by the row.
    #[inline(always)]
    unsafe fn take_bits(row: &[u8; 64], lanes: u64, word: u64) -> u64 {
        let lanes = (0..64).filter(|lane| lanes >> lane & 1 == 1);
        lanes.fold(0, |bits, lane| bits | (word >> row[lane] & 1) << lane)
    }
    /// Gathers the bits of a word at the positions where the mask has ones into the lowest bits, in order.
    #[inline(always)]
    unsafe fn gather_bits(word: u64, mask: u64) -> u64 {
        let (mut left, mut bits) = (mask, 0);
        for i in 0..mask.count_ones() {
            bits |= (word >> left.trailing_zeros() & 1) << i;
            left &= left - 1;
        }
        bits
    }
    /// Scatters the lowest bits of a word, in order, to the positions where the mask has ones.
    #[inline(always)]
    unsafe fn scatter_bits(word: u64, mask: u64) -> u64 {
        let lanes = (0..64).filter(|lane| mask >> lane & 1 == 1).enumerate();
        lanes.fold(0, |bits, (i, lane)| bits | (word >> i & 1) << lane)
    }
}

/// Functions of an [`Isa`] whose body is one expression.
macro_rules! instructions {
    ($(fn $name:ident($($arg:ident: $of:ty),*) $(-> $value:ty)? { $body:expr })*) => {$(
        #[inline(always)]
        #[allow(unused_unsafe)]
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

/// Splits bits into maps that shift all their bits by the same distance, each with its left shift, right shift and
/// target bits.
fn split_by_shift(bits: &[(u8, u8)]) -> Vec<(u32, u32, u8)> {
    let maps = split(bits, |a, b| a.0 + b.1 == a.1 + b.0).into_iter();
    let shift = |map: Vec<(u8, u8)>| {
        let (from, to) = (u32::from(map[0].0), u32::from(map[0].1));
        let targets = map.iter().fold(0, |targets, bit| targets | 1 << bit.1);
        (to.saturating_sub(from), from.saturating_sub(to), targets)
    };
    maps.map(shift).collect()
}

// The portable kernel.

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
        fn splat(byte: u8) -> Register { [byte; 64] }
        fn load(from: *const Register) -> Register { *from }
        fn store(to: *mut Register, value: Register) { *to = value }
        fn spread(bits: u64) -> Register { from_fn(|i| (bits >> i & 1) as u8 * u8::MAX) }
        fn and(a: Register, b: Register) -> Register { from_fn(|i| a[i] & b[i]) }
        fn and_not(a: Register, b: Register) -> Register { from_fn(|i| a[i] & !b[i]) }
        fn or(a: Register, b: Register) -> Register { from_fn(|i| a[i] | b[i]) }
        fn permute(row: &LaneRow, from: Register) -> Register { from_fn(|i| from[usize::from(row[i] & 63)]) }
        fn select(row: &CrossRow, from: &[Register; GROUP]) -> Register {{
            let bytes = from.as_flattened();
            let mut value = [0; 64];
            for i in 0..LANES {
                value[i] = *bytes.get_unchecked(usize::from(row[i]));
            }
            value
        }}
        fn join(into: Register, map: &(u32, u32, u8), from: Register) -> Register {{
            let &(left, right, mask) = map;
            from_fn(|i| into[i] | (from[i] << left >> right & mask))
        }}
        fn sums() -> Tally { Tally::default() }
        fn total(sums: Tally) -> Tally { sums }
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
    unsafe fn look_up<const R: usize>(table: &[Register; R], places: Register) -> Register {
        let bytes = table.as_flattened();
        from_fn(|i| bytes[usize::from(places[i]) % (64 * R)])
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

/// What AVX2 and NEON share: lane permutations from shuffles that read 16 bytes.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod pieces {
    use crate::perm::LANES;

    /// The index that a 16-byte shuffle turns into zero.
    const NONE: u8 = 0x80;

    /// One 16-byte piece of a source register, and the bytes of a part of the target that come from it.
    #[repr(C, align(32))]
    pub struct Piece<const W: usize> {
        /// First, so that it has the alignment that loads need.
        pub bytes: [u8; W],
        /// Offset of the piece in the concatenated source registers.
        pub offset: usize,
    }

    /// For each part of the target, of `W` bytes, the pieces of which it consists; only nonempty ones.
    pub(crate) struct LanePieces<const W: usize, const PARTS: usize>(pub [Vec<Piece<W>>; PARTS]);

    impl<const W: usize, const PARTS: usize> LanePieces<W, PARTS> {
        /// `source(lane)` is the byte of the concatenated source registers that goes to `lane`.
        pub fn new(source: impl Fn(usize) -> usize) -> LanePieces<W, PARTS> {
            LanePieces(std::array::from_fn(|part| {
                let mut pieces: Vec<Piece<W>> = Vec::new();
                for i in (0..W).filter(|i| part * W + i < LANES) {
                    let byte = source(part * W + i);
                    let offset = byte / 16 * 16;
                    let known = pieces.iter().position(|p| p.offset == offset);
                    let index = known.unwrap_or_else(|| {
                        pieces.push(Piece { bytes: [NONE; W], offset });
                        pieces.len() - 1
                    });
                    pieces[index].bytes[i] = (byte % 16) as u8;
                }
                pieces
            }))
        }
    }
}

/// The kernels of x86-64.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use crate::{
        kernel::isa::{
            Isa, Tally,
            pieces::{LanePieces, Piece},
            split, split_by_shift,
        },
        perm::{CrossRow, GROUP, LANE_KEYS, LANES, LaneRow, Register, layout::PAD_LANE},
    };

    // The AVX2 kernel: lane permutations from 16-byte shuffles.

    /// AVX2 (x86-64 processors from 2013 on).
    pub(crate) struct Avx2;

    /// Two halves of 32 bytes, one after the other: shuffles read pieces of them from memory.
    #[derive(Clone, Copy)]
    #[repr(C)]
    pub(crate) struct Halves(__m256i, __m256i);

    type HalfPieces = LanePieces<32, 2>;

    instructions! {
        fn gather(row: &HalfPieces, from: *const u8) -> Halves {
            Halves(gather_half(&row.0[0], from), gather_half(&row.0[1], from))
        }
        fn gather_half(pieces: &[Piece<32>], from: *const u8) -> __m256i {{
            let mut value = _mm256_setzero_si256();
            for piece in pieces {
                let source = _mm_loadu_si128(from.add(piece.offset).cast());
                let shuffle = _mm256_load_si256(piece.bytes.as_ptr().cast());
                let bytes = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(source), shuffle);
                value = _mm256_or_si256(value, bytes);
            }
            value
        }}
        fn spread_half(bits: u32) -> __m256i {{
            // Each byte receives the byte of its eight lanes, and keeps its own bit.
            let byte = _mm256_setr_epi64x(
                0,
                0x0101_0101_0101_0101,
                0x0202_0202_0202_0202,
                0x0303_0303_0303_0303,
            );
            let own = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
            let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits as i32), byte);
            _mm256_cmpeq_epi8(_mm256_and_si256(bytes, own), own)
        }}
        // The bytes of a piece of 16 that are at some places; zero where a place is before its first byte, or after its
        // last one: then the highest bit of the shuffle's index is set.
        fn within(piece: __m256i, places: __m256i, first: __m256i) -> __m256i {{
            let own = _mm256_sub_epi8(places, first);
            _mm256_shuffle_epi8(piece, _mm256_adds_epu8(own, _mm256_set1_epi8(0x70)))
        }}
        fn equal_half(a: __m256i, b: __m256i) -> u32 {
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)) as u32
        }
        fn zero_lanes(half: __m256i) -> u32 { equal_half(half, _mm256_setzero_si256()) }
    }

    #[derive(Clone, Copy)]
    pub(crate) struct SumsAvx2 {
        states: u64,
        checksum: __m256i,
    }

    impl Isa for Avx2 {
        type Reg = Halves;
        type LaneRow = HalfPieces;
        type CrossRow = HalfPieces;
        /// Left shift, right shift, target bits.
        type BitMap = (u32, u32, u8);
        type Sums = SumsAvx2;

        fn lane_row(row: &LaneRow) -> HalfPieces {
            HalfPieces::new(|lane| usize::from(row[lane]))
        }

        fn cross_row(row: &CrossRow) -> HalfPieces {
            HalfPieces::new(|lane| usize::from(row[lane]))
        }

        fn bit_maps(bits: &[(u8, u8)]) -> Vec<(u32, u32, u8)> {
            split_by_shift(bits)
        }

        instructions! {
            fn splat(byte: u8) -> Halves {
                Halves(_mm256_set1_epi8(byte as i8), _mm256_set1_epi8(byte as i8))
            }
            fn load(from: *const Register) -> Halves {{
                let from: *const __m256i = from.cast();
                Halves(_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)))
            }}
            fn store(to: *mut Register, value: Halves) {{
                let to: *mut __m256i = to.cast();
                _mm256_storeu_si256(to, value.0);
                _mm256_storeu_si256(to.add(1), value.1);
            }}
            fn spread(bits: u64) -> Halves {
                Halves(spread_half(bits as u32), spread_half((bits >> 32) as u32))
            }
            fn and(a: Halves, b: Halves) -> Halves {
                Halves(_mm256_and_si256(a.0, b.0), _mm256_and_si256(a.1, b.1))
            }
            fn and_not(a: Halves, b: Halves) -> Halves {
                Halves(_mm256_andnot_si256(b.0, a.0), _mm256_andnot_si256(b.1, a.1))
            }
            fn or(a: Halves, b: Halves) -> Halves {
                Halves(_mm256_or_si256(a.0, b.0), _mm256_or_si256(a.1, b.1))
            }
            fn permute(row: &HalfPieces, from: Halves) -> Halves { gather(row, (&raw const from).cast()) }
            fn select(row: &HalfPieces, from: &[Halves; GROUP]) -> Halves { gather(row, from.as_ptr().cast()) }
            // 16-bit shifts carry bits between bytes, but never into a target bit: the source bit of every bit of the
            // mask is in the same byte.
            fn join(into: Halves, map: &(u32, u32, u8), from: Halves) -> Halves {{
                let left = _mm_cvtsi32_si128(map.0 as i32);
                let right = _mm_cvtsi32_si128(map.1 as i32);
                let mask = _mm256_set1_epi8(map.2 as i8);
                let first = _mm256_srl_epi16(_mm256_sll_epi16(from.0, left), right);
                let second = _mm256_srl_epi16(_mm256_sll_epi16(from.1, left), right);
                Halves(
                    _mm256_or_si256(into.0, _mm256_and_si256(first, mask)),
                    _mm256_or_si256(into.1, _mm256_and_si256(second, mask)),
                )
            }}
            fn sums() -> SumsAvx2 { SumsAvx2 { states: 0, checksum: _mm256_setzero_si256() } }
            fn add(sums: SumsAvx2, register_key: u64, value: Halves) -> SumsAvx2 {{
                let mut sums = sums;
                let keys: *const __m256i = LANE_KEYS.as_ptr().cast();
                let register_key = _mm256_set1_epi64x(register_key as i64);
                for (half, keys) in [(value.0, keys), (value.1, keys.add(1))] {
                    let key = _mm256_xor_si256(register_key, _mm256_loadu_si256(keys));
                    let low = _mm256_mul_epu32(half, key);
                    let high = _mm256_mul_epu32(_mm256_srli_epi64::<32>(half), _mm256_srli_epi64::<32>(key));
                    sums.checksum = _mm256_add_epi64(sums.checksum, _mm256_add_epi64(low, high));
                    let words: [u64; 4] = std::mem::transmute(half);
                    for word in words {
                        sums.states += u64::from(word.count_ones());
                    }
                }
                sums
            }}
            fn total(sums: SumsAvx2) -> Tally {{
                let words: [u64; 4] = std::mem::transmute(sums.checksum);
                let checksum = words.iter().fold(0u64, |sum, &word| sum.wrapping_add(word));
                Tally { states: sums.states, checksum }
            }}
            fn lanes(a: Halves) -> u64 {
                !(u64::from(zero_lanes(a.0)) | u64::from(zero_lanes(a.1)) << 32)
            }
            fn gather_bits(word: u64, mask: u64) -> u64 { _pext_u64(word, mask) }
            fn equal(a: Halves, b: Halves) -> u64 {
                u64::from(equal_half(a.0, b.0)) | u64::from(equal_half(a.1, b.1)) << 32
            }
        }

        #[inline(always)]
        unsafe fn look_up<const R: usize>(table: &[Halves; R], places: Halves) -> Halves {
            // SAFETY: the caller's promise.
            unsafe {
                let mut found = Halves(_mm256_setzero_si256(), _mm256_setzero_si256());
                for i in 0..4 * R {
                    let halves = table[i / 4];
                    let half = if i % 4 < 2 { halves.0 } else { halves.1 };
                    let piece = match i % 2 {
                        0 => _mm256_permute2x128_si256::<0x00>(half, half),
                        _ => _mm256_permute2x128_si256::<0x11>(half, half),
                    };
                    let first = _mm256_set1_epi8(16 * i as i8);
                    found.0 = _mm256_or_si256(found.0, within(piece, places.0, first));
                    found.1 = _mm256_or_si256(found.1, within(piece, places.1, first));
                }
                found
            }
        }
    }

    // The AVX-512 kernel: one instruction per lane permutation (VBMI), one per bit map (GFNI), and a vector population
    // count.

    /// AVX-512 F, BW, DQ, VBMI, VPOPCNTDQ and GFNI (Intel from Ice Lake, AMD from Zen 4).
    pub(crate) struct Avx512;

    /// Three lane selections, each from two registers; lanes that come from a different pair select a padding lane,
    /// which is zero.
    #[repr(C, align(64))]
    pub(crate) struct Pairs([[u8; 64]; GROUP / 2]);

    #[repr(C, align(64))]
    pub(crate) struct LanePermutation(LaneRow);

    #[derive(Clone, Copy)]
    pub(crate) struct SumsAvx512 {
        states: __m512i,
        checksum: __m512i,
    }

    impl Isa for Avx512 {
        type Reg = __m512i;
        type LaneRow = LanePermutation;
        type CrossRow = Pairs;
        /// An 8 x 8 bit matrix.
        type BitMap = u64;
        type Sums = SumsAvx512;

        fn lane_row(row: &LaneRow) -> LanePermutation {
            LanePermutation(*row)
        }

        fn cross_row(row: &CrossRow) -> Pairs {
            let mut pairs = [[PAD_LANE; 64]; GROUP / 2];
            for (lane, &byte) in row[..LANES].iter().enumerate() {
                pairs[usize::from(byte) / 128][lane] = (byte % 128) as u8;
            }
            Pairs(pairs)
        }

        /// GF2P8AFFINEQB: byte 7 - i of the matrix selects the source bits for target bit i.
        fn bit_maps(bits: &[(u8, u8)]) -> Vec<u64> {
            let matrix = |map: &Vec<(u8, u8)>| {
                map.iter().fold(0, |matrix, &(from, to)| matrix | 1 << (8 * (7 - to) + from))
            };
            // In a map, every target bit occurs once.
            split(bits, |a, b| a.1 != b.1).iter().map(matrix).collect()
        }

        instructions! {
            fn splat(byte: u8) -> __m512i { _mm512_set1_epi8(byte as i8) }
            fn load(from: *const Register) -> __m512i { _mm512_loadu_si512(from.cast()) }
            fn store(to: *mut Register, value: __m512i) { _mm512_storeu_si512(to.cast(), value) }
            fn spread(bits: u64) -> __m512i { _mm512_movm_epi8(bits) }
            fn and(a: __m512i, b: __m512i) -> __m512i { _mm512_and_si512(a, b) }
            fn and_not(a: __m512i, b: __m512i) -> __m512i { _mm512_andnot_si512(b, a) }
            fn or(a: __m512i, b: __m512i) -> __m512i { _mm512_or_si512(a, b) }
            fn permute(row: &LanePermutation, from: __m512i) -> __m512i {
                _mm512_permutexvar_epi8(_mm512_load_si512(row.0.as_ptr().cast()), from)
            }
            fn select(row: &Pairs, from: &[__m512i; GROUP]) -> __m512i {{
                let row: *const __m512i = row.0.as_ptr().cast();
                let a = _mm512_permutex2var_epi8(from[0], _mm512_load_si512(row), from[1]);
                let b = _mm512_permutex2var_epi8(from[2], _mm512_load_si512(row.add(1)), from[3]);
                let c = _mm512_permutex2var_epi8(from[4], _mm512_load_si512(row.add(2)), from[5]);
                _mm512_ternarylogic_epi64::<0xfe>(a, b, c)
            }}
            fn join(into: __m512i, map: &u64, from: __m512i) -> __m512i {{
                let map = _mm512_set1_epi64(*map as i64);
                _mm512_or_si512(into, _mm512_gf2p8affine_epi64_epi8::<0>(from, map))
            }}
            fn sums() -> SumsAvx512 {
                SumsAvx512 { states: _mm512_setzero_si512(), checksum: _mm512_setzero_si512() }
            }
            fn add(sums: SumsAvx512, register_key: u64, value: __m512i) -> SumsAvx512 {{
                let lanes = _mm512_loadu_si512(LANE_KEYS.as_ptr().cast());
                let key = _mm512_xor_si512(_mm512_set1_epi64(register_key as i64), lanes);
                let low = _mm512_mul_epu32(value, key);
                let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(value), _mm512_srli_epi64::<32>(key));
                SumsAvx512 {
                    states: _mm512_add_epi64(sums.states, _mm512_popcnt_epi64(value)),
                    checksum: _mm512_add_epi64(_mm512_add_epi64(sums.checksum, low), high),
                }
            }}
            fn total(sums: SumsAvx512) -> Tally {
                Tally {
                    states: _mm512_reduce_add_epi64(sums.states) as u64,
                    checksum: _mm512_reduce_add_epi64(sums.checksum) as u64,
                }
            }
            fn lanes(a: __m512i) -> u64 { _mm512_test_epi8_mask(a, a) }
            fn equal(a: __m512i, b: __m512i) -> u64 { _mm512_cmpeq_epi8_mask(a, b) }
            fn take_bits(row: &[u8; 64], lanes: u64, word: u64) -> u64 {{
                let from = _mm512_loadu_si512(row.as_ptr().cast());
                _mm512_movepi8_mask(_mm512_maskz_permutexvar_epi8(lanes, from, _mm512_movm_epi8(word)))
            }}
            fn gather_bits(word: u64, mask: u64) -> u64 { _pext_u64(word, mask) }
            fn scatter_bits(word: u64, mask: u64) -> u64 { _pdep_u64(word, mask) }
        }

        #[inline(always)]
        unsafe fn look_up<const R: usize>(table: &[__m512i; R], places: __m512i) -> __m512i {
            // SAFETY: the caller's promise.
            unsafe {
                match table[..] {
                    [one] => _mm512_permutexvar_epi8(places, one),
                    [one, two] => _mm512_permutex2var_epi8(one, places, two),
                    _ => unreachable!("one or two registers"),
                }
            }
        }
    }
}

/// The kernel of ARM processors of 64 bits.
#[cfg(target_arch = "aarch64")]
mod arm {
    use std::arch::aarch64::*;

    use crate::{
        kernel::isa::{
            Isa, Tally,
            pieces::{LanePieces, Piece},
            split_by_shift,
        },
        perm::{CrossRow, GROUP, LANE_KEYS, LaneRow, Register},
    };

    /// NEON: every ARM processor of 64 bits has it.
    pub(crate) struct Neon;

    type QuarterPieces = LanePieces<16, 4>;

    /// The bit of each byte within its eight.
    const OWN: u64 = 0x8040_2010_0804_0201;

    /// A function of the four quarters of one, two or three registers.
    macro_rules! each {
        ($function:ident($($register:expr),*)) => {
            uint8x16x4_t(
                $function($($register.0),*),
                $function($($register.1),*),
                $function($($register.2),*),
                $function($($register.3),*),
            )
        };
    }

    instructions! {
        fn gather(row: &QuarterPieces, from: *const u8) -> uint8x16x4_t {{
            let [a, b, c, d] = &row.0;
            uint8x16x4_t(
                gather_quarter(a, from),
                gather_quarter(b, from),
                gather_quarter(c, from),
                gather_quarter(d, from),
            )
        }}
        fn gather_quarter(pieces: &[Piece<16>], from: *const u8) -> uint8x16_t {{
            let mut value = vdupq_n_u8(0);
            for piece in pieces {
                let shuffle = vld1q_u8(piece.bytes.as_ptr());
                value = vorrq_u8(value, vqtbl1q_u8(vld1q_u8(from.add(piece.offset)), shuffle));
            }
            value
        }}
        // The byte of its eight lanes, for each byte; and all ones where the byte's own bit is set.
        fn spread_quarter(bits: uint8x16_t, first: uint8x16_t) -> uint8x16_t {
            vtstq_u8(vqtbl1q_u8(bits, first), vreinterpretq_u8_u64(vdupq_n_u64(OWN)))
        }
        // Zero where a place is beyond the register.
        fn look_up_one(from: uint8x16x4_t, places: uint8x16x4_t) -> uint8x16x4_t {
            uint8x16x4_t(
                vqtbl4q_u8(from, places.0),
                vqtbl4q_u8(from, places.1),
                vqtbl4q_u8(from, places.2),
                vqtbl4q_u8(from, places.3),
            )
        }
        fn own_bits(quarter: uint8x16_t) -> uint8x16_t {
            vandq_u8(vtstq_u8(quarter, quarter), vreinterpretq_u8_u64(vdupq_n_u64(OWN)))
        }
        fn add_products(sum: uint64x2_t, value: uint8x16_t, key: uint64x2_t) -> uint64x2_t {{
            let (value, key) = (vreinterpretq_u32_u8(value), vreinterpretq_u32_u64(key));
            let sum = vmlal_u32(sum, vget_low_u32(value), vget_low_u32(key));
            vmlal_high_u32(sum, value, key)
        }}
    }

    #[derive(Clone, Copy)]
    pub(crate) struct SumsNeon {
        states: uint64x2_t,
        checksum: [uint64x2_t; 2],
    }

    impl Isa for Neon {
        type Reg = uint8x16x4_t;
        type LaneRow = LaneRow;
        type CrossRow = QuarterPieces;
        /// The shift to the left, or to the right if it is negative, and the target bits.
        type BitMap = (i8, u8);
        type Sums = SumsNeon;

        fn lane_row(row: &LaneRow) -> LaneRow {
            *row
        }

        fn cross_row(row: &CrossRow) -> QuarterPieces {
            QuarterPieces::new(|lane| usize::from(row[lane]))
        }

        fn bit_maps(bits: &[(u8, u8)]) -> Vec<(i8, u8)> {
            let maps = split_by_shift(bits).into_iter();
            maps.map(|(left, right, mask)| (left as i8 - right as i8, mask)).collect()
        }

        instructions! {
            fn splat(byte: u8) -> uint8x16x4_t {{
                let quarter = vdupq_n_u8(byte);
                uint8x16x4_t(quarter, quarter, quarter, quarter)
            }}
            fn load(from: *const Register) -> uint8x16x4_t {{
                let from: *const u8 = from.cast();
                uint8x16x4_t(
                    vld1q_u8(from),
                    vld1q_u8(from.add(16)),
                    vld1q_u8(from.add(32)),
                    vld1q_u8(from.add(48)),
                )
            }}
            fn store(to: *mut Register, value: uint8x16x4_t) {{
                let to: *mut u8 = to.cast();
                vst1q_u8(to, value.0);
                vst1q_u8(to.add(16), value.1);
                vst1q_u8(to.add(32), value.2);
                vst1q_u8(to.add(48), value.3);
            }}
            fn spread(bits: u64) -> uint8x16x4_t {{
                let bits = vreinterpretq_u8_u64(vdupq_n_u64(bits));
                let first = vcombine_u8(vdup_n_u8(0), vdup_n_u8(1));
                let next = |quarter: u8| vaddq_u8(first, vdupq_n_u8(2 * quarter));
                uint8x16x4_t(
                    spread_quarter(bits, first),
                    spread_quarter(bits, next(1)),
                    spread_quarter(bits, next(2)),
                    spread_quarter(bits, next(3)),
                )
            }}
            fn and(a: uint8x16x4_t, b: uint8x16x4_t) -> uint8x16x4_t { each!(vandq_u8(a, b)) }
            fn and_not(a: uint8x16x4_t, b: uint8x16x4_t) -> uint8x16x4_t { each!(vbicq_u8(a, b)) }
            fn or(a: uint8x16x4_t, b: uint8x16x4_t) -> uint8x16x4_t { each!(vorrq_u8(a, b)) }
            fn permute(row: &LaneRow, from: uint8x16x4_t) -> uint8x16x4_t { look_up_one(from, Neon::load(row)) }
            // From memory: six registers would be 24 of the processor's 32, and most pieces come from few of them.
            fn select(row: &QuarterPieces, from: &[uint8x16x4_t; GROUP]) -> uint8x16x4_t {
                gather(row, from.as_ptr().cast())
            }
            fn join(into: uint8x16x4_t, map: &(i8, u8), from: uint8x16x4_t) -> uint8x16x4_t {{
                let (by, mask) = (vdupq_n_s8(map.0), vdupq_n_u8(map.1));
                let moved = uint8x16x4_t(
                    vshlq_u8(from.0, by),
                    vshlq_u8(from.1, by),
                    vshlq_u8(from.2, by),
                    vshlq_u8(from.3, by),
                );
                let mask = uint8x16x4_t(mask, mask, mask, mask);
                Neon::or(into, Neon::and(moved, mask))
            }}
            fn sums() -> SumsNeon {
                SumsNeon { states: vdupq_n_u64(0), checksum: [vdupq_n_u64(0); 2] }
            }
            fn add(sums: SumsNeon, register_key: u64, value: uint8x16x4_t) -> SumsNeon {{
                let register_key = vdupq_n_u64(register_key);
                let key = |quarter: usize| {
                    veorq_u64(register_key, vld1q_u64(LANE_KEYS.as_ptr().add(2 * quarter)))
                };
                let [even, odd] = sums.checksum;
                let even = add_products(add_products(even, value.0, key(0)), value.2, key(2));
                let odd = add_products(add_products(odd, value.1, key(1)), value.3, key(3));
                // At most 32 per byte.
                let ones = each!(vcntq_u8(value));
                let ones = vaddq_u8(vaddq_u8(ones.0, ones.1), vaddq_u8(ones.2, ones.3));
                let states = vpadalq_u32(sums.states, vpaddlq_u16(vpaddlq_u8(ones)));
                SumsNeon { states, checksum: [even, odd] }
            }}
            fn total(sums: SumsNeon) -> Tally {{
                let [even, odd] = sums.checksum;
                Tally {
                    states: vaddvq_u64(sums.states),
                    checksum: vaddvq_u64(vaddq_u64(even, odd)),
                }
            }}
            fn lanes(a: uint8x16x4_t) -> u64 {{
                let own = each!(own_bits(a));
                // The bits of eight bytes, added in pairs, make a byte.
                let sixteen = vpaddq_u8(vpaddq_u8(own.0, own.1), vpaddq_u8(own.2, own.3));
                vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sixteen, sixteen)))
            }}
        }

        #[inline(always)]
        unsafe fn look_up<const R: usize>(
            table: &[uint8x16x4_t; R],
            places: uint8x16x4_t,
        ) -> uint8x16x4_t {
            // SAFETY: the caller's promise. Beyond a register, the instruction gives zero.
            unsafe {
                let mut found = look_up_one(table[0], places);
                for (r, of) in table.iter().enumerate().skip(1) {
                    let first = vdupq_n_u8(64 * r as u8);
                    let own = uint8x16x4_t(
                        vsubq_u8(places.0, first),
                        vsubq_u8(places.1, first),
                        vsubq_u8(places.2, first),
                        vsubq_u8(places.3, first),
                    );
                    found = Neon::or(found, look_up_one(*of, own));
                }
                found
            }
        }
    }
}
