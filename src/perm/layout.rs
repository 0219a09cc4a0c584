//! The register layout: which byte of an array represents which line, and the blocks from which a window brings lines.
//!
//! Everyone who has an array of lines asks a [`Layout`] for its registers and blocks. The kernel asks [`SourceBlocks`],
//! once per block, which blocks the registers of a window's tables are in; what happens inside a block is in
//! `move_table`.

use crate::{
    perm::{MAX_LEN, lehmer, set_of},
    puzzle::Window,
};

// Invariant: even lines and odd lines have arrays of the same shape, and in each of them line = 60 * register + lane.
// The 60 lines of a register share all Lehmer digits but the last five (the **prefix**, q = n - 5 digits with radices
// n, n-1, .., 6); the **lane** numbers the 60 arrangements of the last five elements that give the line its parity.
// Lanes 60..63 are padding and stay zero. Six consecutive registers, which differ only in the last prefix digit, form
// a **group**; all registers with the same first c digits form a **block**, the unit of work and the unit that is
// tracked as empty or not.
//
// A search has an array for each parity that it needs. Pattern databases need both, and store the two blocks with the
// same digits side by side as a **slice**.

/// Size of a register in bytes.
pub const REGISTER_BYTES: usize = 64;

/// Number of lines per register.
pub const LANES: usize = 60;

/// A lane that is always zero.
pub const PAD_LANE: u8 = 63;

/// Number of elements whose arrangement the lane represents.
pub const TAIL: usize = 5;

/// Number of registers per group.
pub const GROUP: usize = 6;

/// Maximum number of prefix digits that vary inside a block: 8 * 7 * 6 = 336 registers (21 KiB), so that a block, its
/// sources and the tables of the kernels fit in the nearest caches.
const INNER_DIGITS: usize = 3;

/// The bytes of one register.
pub type Register = [u8; REGISTER_BYTES];

/// The shape of the arrays for lines of n elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    n: usize,
    block_prefix: usize,
}

/// Where a line is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinePlace {
    /// Parity of the line: 1 for odd lines.
    pub parity: usize,
    /// Block, given by the first c digits.
    pub block: usize,
    /// Register, within the block.
    pub register: usize,
    /// Lane within the register, below 60.
    pub lane: usize,
}

impl Layout {
    /// The length of the shortest lines whose layout has blocks: one prefix digit.
    pub const MIN_LEN: usize = TAIL + 1;
    /// The length of the longest lines whose layout has slices: properties of a slice are stored in one bit of a word.
    pub const MAX_SLICED: usize = 8;

    /// Returns the layout for lines of n elements, or `None` if n is below [`Layout::MIN_LEN`] or ranks do not fit in
    /// 64 bits.
    pub fn new(n: usize) -> Option<Layout> {
        (Layout::MIN_LEN..=MAX_LEN)
            .contains(&n)
            .then_some(Layout { n, block_prefix: (n - TAIL.min(n)).saturating_sub(INNER_DIGITS) })
    }

    /// Returns the layout for all lines of n elements in slices, with blocks of one group for each parity; `None` if n
    /// is below 5 or above [`Layout::MAX_SLICED`]. Five elements have a single slice of two registers.
    pub fn sliced(n: usize) -> Option<Layout> {
        (TAIL..=Layout::MAX_SLICED)
            .contains(&n)
            .then_some(Layout { n, block_prefix: n.saturating_sub(TAIL + 1) })
    }

    /// Returns the layout whose blocks share at least `digits` digits, so that chunks that share these consist of
    /// complete blocks; `None` if fewer than one digit would be left inside a block.
    pub fn with_shared_digits(self, digits: usize) -> Option<Layout> {
        let block_prefix = self.block_prefix.max(digits);
        (block_prefix < self.prefix()).then_some(Layout { block_prefix, ..self })
    }

    /// Returns the length of a line, n.
    pub fn len(self) -> usize {
        self.n
    }

    /// Returns false: there is no layout for empty lines.
    pub fn is_empty(self) -> bool {
        false
    }

    /// Returns the number of prefix digits, q = n - 5.
    pub fn prefix(self) -> usize {
        self.n - TAIL
    }

    /// Returns the number of digits that all registers of a block share, c.
    pub fn block_prefix(self) -> usize {
        self.block_prefix
    }

    /// Returns the radix of digit x, n - x.
    pub fn radix(self, x: usize) -> usize {
        self.n - x
    }

    /// Returns the number of registers of each parity, n!/120.
    pub fn registers(self) -> u64 {
        lehmer::count(self.n) / 120
    }

    /// Returns the number of registers in a block, at most 336.
    pub fn block_registers(self) -> usize {
        (self.block_prefix()..self.prefix()).map(|x| self.radix(x)).product()
    }

    /// Returns the number of registers in a group: 6, or 1 for lines of five elements.
    pub fn group(self) -> usize {
        GROUP.min(self.block_registers())
    }

    pub fn slice_registers(self) -> usize {
        2 * self.block_registers()
    }

    pub fn blocks(self) -> usize {
        (0..self.block_prefix()).map(|x| self.radix(x)).product()
    }

    /// Returns by how many blocks the position changes if a digit x < c increases by one.
    pub fn block_stride(self, x: usize) -> usize {
        (x + 1..self.block_prefix()).map(|y| self.radix(y)).product()
    }

    /// Writes the first c digits of a block.
    pub fn block_digits(self, block: usize, digits: &mut [u8]) {
        write_digits(block, (0..self.block_prefix()).map(|x| self.radix(x)), digits);
    }

    /// Returns the parity of the sum of a block's first c digits.
    pub fn block_parity(self, block: usize) -> usize {
        let mut digits = [0; MAX_LEN];
        self.block_digits(block, &mut digits);
        usize::from(digits.iter().sum::<u8>() % 2)
    }

    /// Returns, for each group of a block, the parity of the sum of its registers' digits c..q, the last of which is 0
    /// in the group's first register.
    pub fn group_parities(self) -> Vec<u8> {
        let firsts = (0..self.block_registers()).step_by(GROUP);
        let parity = |first| {
            let mut digits = [0; MAX_LEN];
            self.inner_digits(first, &mut digits);
            digits.iter().sum::<u8>() % 2
        };
        firsts.map(parity).collect()
    }

    /// Writes the digits c..q of a register within its block to `digits[..q - c]`.
    pub fn inner_digits(self, register: usize, digits: &mut [u8]) {
        let radices = (self.block_prefix()..self.prefix()).map(|x| self.radix(x));
        write_digits(register, radices, digits);
    }

    /// Returns the register within a block that has the digits c..q.
    pub fn inner_register(self, digits: &[u8]) -> usize {
        let radices = (self.block_prefix()..self.prefix()).map(|x| self.radix(x));
        radices.zip(digits).fold(0, |register, (radix, &d)| register * radix + usize::from(d))
    }

    /// Returns where a line, given as a permutation of `0..n`, is stored.
    ///
    /// ```
    /// use tilewave::internals::layout::{Layout, LinePlace};
    /// let layout = Layout::new(7).unwrap(); // 42 registers, one block
    /// let place = layout.place(&[0, 1, 2, 3, 4, 6, 5]);
    /// assert_eq!(place, LinePlace { parity: 1, block: 0, register: 0, lane: 0 });
    /// ```
    pub fn place(self, line: &[u8]) -> LinePlace {
        let (c, q) = (self.block_prefix, self.prefix());
        let mut digits = [0; MAX_LEN];
        lehmer::digits(line, &mut digits[..self.n]);
        let block = |block, x| block * self.radix(x) + usize::from(digits[x]);
        LinePlace {
            parity: usize::from(digits.iter().sum::<u8>() % 2),
            block: (0..c).fold(0, block),
            register: self.inner_register(&digits[c..q]),
            lane: usize::from(lane(&digits[q..])),
        }
    }

    /// Writes the line that is stored in a place to `line[..n]`: the inverse of [`Layout::place`].
    pub fn line(self, place: LinePlace, line: &mut [u8]) {
        let (c, q) = (self.block_prefix, self.prefix());
        let mut digits = [0; MAX_LEN];
        self.block_digits(place.block, &mut digits);
        self.inner_digits(place.register, &mut digits[c..]);
        let parity = digits.iter().map(|&d| usize::from(d)).sum::<usize>() + place.parity;
        lane_digits(place.lane, parity % 2, &mut digits[q..]);
        lehmer::from_digits(&digits[..self.n], &mut line[..self.n]);
    }

    /// Returns the register of a place within its slice, where even lines come first.
    pub fn in_slice(self, place: LinePlace) -> usize {
        place.parity * self.block_registers() + place.register
    }
}

/// Writes the digits of a number with these radices, the most significant one first.
fn write_digits(
    mut number: usize,
    radices: impl DoubleEndedIterator<Item = usize> + ExactSizeIterator,
    digits: &mut [u8],
) {
    for (digit, radix) in digits[..radices.len()].iter_mut().zip(radices).rev() {
        *digit = (number % radix) as u8;
        number /= radix;
    }
}

/// Writes the last five digits of a lane to `digits[..5]`; `parity` is the parity of their sum, which the fourth digit
/// adjusts. For even lines, it is also the parity of the sum of the prefix digits.
pub fn lane_digits(lane: usize, parity: usize, digits: &mut [u8]) {
    let first = [lane / 12, lane / 3 % 4, lane % 3];
    for (digit, value) in digits.iter_mut().zip(first) {
        *digit = value as u8;
    }
    digits[3] = ((parity + first.iter().sum::<usize>()) % 2) as u8;
    digits[4] = 0;
}

/// Returns the lane with the given last digits: the inverse of [`lane_digits`].
pub fn lane(digits: &[u8]) -> u8 {
    digits[0] * 12 + digits[1] * 3 + digits[2]
}

// The checksum of a set of states: a sum over registers that is independent of any order of work.
//
// Invariant: the checksum of a disjoint union is the wrapping sum of the checksums, and the empty set
// has checksum 0. So it does not depend on threads, blocks, chunks or kernels, and empty registers
// need not be read.
//
// A register is eight little-endian 64-bit words. Word j of register r contributes
// `lo(word) * lo(key) + hi(word) * hi(key)` modulo 2^64, with the 64-bit key
// `mix(r) ^ LANE_KEYS[j]` and lo, hi the 32-bit halves: a multilinear hash (Carter and Wegman 1979;
// Lemire and Kaser, Strongly universal string hashing is fast, 2014) with keys from a mixing function
// in place of a key stream. Two 32-bit multiplications per word, vectorised by every kernel.

/// Key of each word of a register: the first 64 fractional bits of the square roots of 2, 3, 5, .., 19.
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
/// The sum over the states of a level is the level's checksum.
pub const fn state(register: u64, lane: usize, bit: usize) -> u64 {
    word(mix(register), lane / 8, 1 << (8 * (lane % 8) + bit))
}

// The part of a window before a block: the blocks in which its sources are.
//
// Some elements before the block may **enter** it, and the same number of its own elements **leave** it. Each choice
// of elements that leave corresponds to a source block; how the entering elements compare with the block's own is the
// **variant** of the tables that apply inside it.
//
// Invariant: all this depends only on the block digits from the window's first position on. If there are few
// combinations of them, the results are tabulated once; otherwise they are computed for each block.

/// Maximum number of table entries: 8 MiB of deltas per window.
const MAX_TABLE: usize = 1 << 21;

/// The source blocks that a window needs for a block, and the variant of its tables.
#[derive(Clone, Debug)]
pub struct SourceBlocks {
    layout: Layout,
    pull: Window,
    /// First and one-past-last block digit that the window changes; equal if the window is inside the block.
    digits: (usize, usize),
    /// Positions before c whose elements are inside the block in the source.
    entering: Vec<usize>,
    /// Positions before c whose elements are inside the block in the target.
    leaving: Vec<usize>,
    count: usize,
    variants: usize,
    table: Option<BlockTable>,
}

#[derive(Clone, Debug)]
struct BlockTable {
    /// Source block minus target block, `count` per key.
    delta: Vec<i32>,
    /// Variant per key.
    variant: Vec<u16>,
}

impl SourceBlocks {
    /// Returns the part of the window before the blocks; `pull` gives, for each position of the source line, the
    /// position of the target line that has the same element.
    pub(crate) fn new(layout: Layout, pull: &Window) -> SourceBlocks {
        let c = layout.block_prefix();
        let inside = layout.len() - c;
        let first = pull.first().min(c);
        let end = if pull.is_identity() { first } else { c.min(pull.last() + 1).max(first) };
        let enters = |&x: &usize| (c..layout.len()).any(|y| pull.source(y) == x);
        let entering: Vec<usize> = (first..end).filter(enters).collect();
        let leaving = (first..end).filter(|&x| pull.source(x) >= c).collect();
        let k = entering.len();
        let count = (inside - k + 1..=inside).product();
        let variants = (inside + 1..=inside + k).product();
        let (pull, digits) = (pull.clone(), (first, end));
        let mut found =
            SourceBlocks { layout, pull, digits, entering, leaving, count, variants, table: None };
        found.table = found.tabulate();
        found
    }

    /// Returns the part before the blocks of a window that needs no source block.
    pub(crate) fn none(layout: Layout) -> SourceBlocks {
        let identity = SourceBlocks::new(layout, &Window::identity());
        SourceBlocks { count: 0, table: None, ..identity }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn variants(&self) -> usize {
        self.variants
    }

    /// Returns whether the only source of every block is the block itself.
    pub fn stays(&self) -> bool {
        self.digits.0 == self.digits.1
    }

    /// The positions whose elements enter the block, in increasing order.
    pub(crate) fn entering(&self) -> &[usize] {
        &self.entering
    }

    /// Writes the digits of the entering elements for a variant: the rank of each among those after it and the block's
    /// own.
    pub(crate) fn entering_digits(&self, variant: usize, digits: &mut [u8]) {
        let inside = self.layout.len() - self.layout.block_prefix();
        let k = self.entering.len();
        write_digits(variant, (0..k).map(|i| inside + k - i), digits);
    }

    /// The number of the source block for a block whose own elements are `line` (in the order of their positions, with
    /// arbitrary numbers).
    pub(crate) fn number(&self, line: &[u8]) -> usize {
        let c = self.layout.block_prefix();
        let mut left = set_of(line);
        self.leaving.iter().fold(0, |number, &x| {
            let element = line[self.pull.source(x) - c];
            let rank = (left & lehmer::first(usize::from(element))).count_ones();
            let radix = left.count_ones() as usize;
            left &= !(1 << element);
            number * radix + rank as usize
        })
    }

    /// Writes the source blocks of the block with the given index and digits, and returns its variant. Cost: a table
    /// lookup per source block, or O(window) per source block for long windows.
    pub fn find(&self, block: usize, digits: &[u8], sources: &mut [usize]) -> usize {
        let key = self.key(digits);
        match &self.table {
            Some(table) => {
                let deltas = &table.delta[key * self.count..][..self.count];
                for (source, &delta) in sources.iter_mut().zip(deltas) {
                    *source = block.wrapping_add_signed(delta as isize);
                }
                usize::from(table.variant[key])
            }
            None => self.solve(&digits[self.digits.0..self.digits.1], |number, delta| {
                sources[number] = block.wrapping_add_signed(delta);
            }),
        }
    }

    fn key(&self, digits: &[u8]) -> usize {
        (self.digits.0..self.digits.1)
            .fold(0, |key, x| key * self.layout.radix(x) + usize::from(digits[x]))
    }

    fn tabulate(&self) -> Option<BlockTable> {
        let (first, end) = self.digits;
        let keys = (first..end)
            .try_fold(1usize, |keys, x| keys.checked_mul(self.layout.radix(x)))
            .filter(|keys| keys.saturating_mul(self.count) <= MAX_TABLE)?;
        let mut table =
            BlockTable { delta: vec![0; keys * self.count], variant: Vec::with_capacity(keys) };
        let mut digits = [0; MAX_LEN];
        for (key, deltas) in table.delta.chunks_mut(self.count).enumerate() {
            write_digits(key, (first..end).map(|x| self.layout.radix(x)), &mut digits);
            let variant = self.solve(&digits[..end - first], |number, delta| {
                deltas[number] =
                    i32::try_from(delta).expect("blocks of tabulated windows are near");
            });
            table
                .variant
                .push(u16::try_from(variant).expect("tabulated windows have few variants"));
        }
        Some(table)
    }

    /// Applies the window before the block with the given changed digits: reports the distance of every source in
    /// blocks, and returns the variant.
    fn solve(&self, digits: &[u8], mut report: impl FnMut(usize, isize)) -> usize {
        let (first, end) = self.digits;
        let universe = self.layout.len() - first;
        let mut line = [0; MAX_LEN];
        let front = digits.len();
        // The block's own elements in increasing order follow those before it.
        lehmer::from_partial_digits(digits, universe, &mut line);
        let (outer, own) = line[..universe].split_at(front);

        let mut variant = 0;
        for (i, &x) in self.entering.iter().enumerate() {
            let element = outer[x - first];
            let smaller = |y: &&u8| **y < element;
            let own_below = own.iter().filter(smaller).count();
            let later =
                self.entering[i + 1..].iter().filter(|&&y| outer[y - first] < element).count();
            let radix = self.layout.len() - self.layout.block_prefix() + self.entering.len() - i;
            variant = variant * radix + own_below + later;
        }
        let mut source = [0; MAX_LEN];
        for number in 0..self.count {
            let mut rising = own.to_vec();
            let mut rest = number;
            let mut radix = self.count;
            for (x, element) in (first..end).zip(&mut source) {
                let from = self.pull.source(x);
                *element = if from < end {
                    outer[from - first]
                } else {
                    radix /= rising.len();
                    let rank = rest / radix;
                    rest %= radix;
                    rising.remove(rank)
                };
            }
            let mut new = [0; MAX_LEN];
            lehmer::digits_within(&source[..front], lehmer::first(universe), &mut new);
            let delta = (first..end)
                .map(|x| {
                    let change =
                        isize::from(new[x - first] as i8) - isize::from(digits[x - first] as i8);
                    change * self.layout.block_stride(x) as isize
                })
                .sum();
            report(number, delta);
        }
        variant
    }
}
