//! Lexicographic ranks of permutations from Lehmer digits, in linear time.
//!
//! Lehmer digit d\[x\] of a sequence s is the number of y > x with s\[y\] < s\[x\]; its radix is n - x. The rank is the
//! mixed-radix number with these digits, d\[0\] being the most significant. Ranking takes one population count per
//! element, unranking one bit selection.
//!
//! Source: R. E. Korf and P. Schultze, Large-scale parallel breadth-first search, AAAI 2005.
//!
//! Invariant: the rank of an even permutation omits the last non-trivial digit (radix 2), which follows from the
//! evenness of the digit sum. Even permutations of n >= 2 elements have ranks in 0 .. n!/2. The functions panic for
//! more than [`MAX_LEN`] elements, and for ranks that no permutation has.

/// The maximum length of sequences whose ranks fit in 64 bits.
pub const MAX_LEN: usize = 20;

/// Returns n!, the number of permutations of n elements.
pub fn count(n: usize) -> u64 {
    assert!(n <= MAX_LEN, "ranks of more than {MAX_LEN} elements do not fit 64 bits");
    (2..=n as u64).product()
}

/// Returns the number of even permutations of n elements: n!/2, and 1 for n < 2.
pub fn even_count(n: usize) -> u64 {
    count(n).div_ceil(2)
}

/// Writes the Lehmer digits of `line`, a permutation of `0..n`, to `digits`. Cost: n population counts.
pub fn digits(line: &[u8], digits: &mut [u8]) {
    digits_within(line, first(line.len()), digits);
}

/// Writes the Lehmer digits of distinct elements of a set: for each, the number of elements of the set that are smaller
/// and have not occurred before. The set is a bit mask.
pub fn digits_within(elements: &[u8], set: u64, digits: &mut [u8]) {
    let mut unused = set;
    for (digit, &s) in digits.iter_mut().zip(elements) {
        *digit = (unused & first(usize::from(s))).count_ones() as u8;
        unused &= !(1u64 << s);
    }
}

/// Writes the permutation with the given Lehmer digits to `line`: the inverse of [`digits`].
pub fn from_digits(digits: &[u8], line: &mut [u8]) {
    from_partial_digits(digits, digits.len(), line);
}

/// Writes the permutation of `0..universe` that begins with the given Lehmer digits and continues in increasing order.
pub fn from_partial_digits(digits: &[u8], universe: usize, line: &mut [u8]) {
    let mut unused = first(universe);
    for (x, s) in line[..universe].iter_mut().enumerate() {
        *s = select(unused, digits.get(x).map_or(0, |&d| u32::from(d)));
        unused &= !(1u64 << *s);
    }
}

/// Returns the rank of `line` among all permutations of `0..line.len()`, in `0..n!`.
///
/// ```
/// use tilewave::internals::lehmer::{rank, unrank};
/// let mut line = [0; 8];
/// unrank(40_319, &mut line);
/// assert_eq!(line, [7, 6, 5, 4, 3, 2, 1, 0]);
/// assert_eq!(rank(&line), 40_319);
/// ```
pub fn rank(line: &[u8]) -> u64 {
    let mut unused = first(line.len());
    let mut rank = 0;
    for (radix, &s) in (1..=line.len() as u64).rev().zip(line) {
        rank = rank * radix + u64::from((unused & first(usize::from(s))).count_ones());
        unused &= !(1u64 << s);
    }
    rank
}

/// Writes the permutation of `0..line.len()` with the given rank: the inverse of [`rank`].
pub fn unrank(mut rank: u64, line: &mut [u8]) {
    let n = line.len();
    assert!(rank < count(n), "rank out of range");
    let mut digit = [0; MAX_LEN];
    for (d, radix) in digit[..n].iter_mut().rev().zip(1..) {
        *d = (rank % radix) as u8;
        rank /= radix;
    }
    from_digits(&digit[..n], line);
}

/// Returns the parity of a permutation (1 for odd ones) and its rank among those of that parity. The cost is that of
/// [`rank`].
pub fn rank_in_parity(line: &[u8]) -> (usize, u64) {
    let radixes = (1..=line.len() as u64).rev();
    let (mut rank, mut sum) = (0, 0);
    if line.len() <= Below::MAX {
        let mut below = Below::all();
        for (radix, &s) in radixes.zip(line) {
            let digit = below.take(s);
            rank = rank * radix + digit;
            sum += digit;
        }
    } else {
        let mut unused = first(line.len());
        for (radix, &s) in radixes.zip(line) {
            let digit = u64::from((unused & first(usize::from(s))).count_ones());
            unused &= !(1u64 << s);
            rank = rank * radix + digit;
            sum += digit;
        }
    }
    ((sum % 2) as usize, rank / 2)
}

/// For each of 16 elements, the number of smaller elements that are left, four bits each: a digit is read with a shift,
/// whereas processors that may lack POPCNT take a dozen operations.
pub(crate) struct Below(u64);

impl Below {
    /// Maximum number of elements.
    pub const MAX: usize = 16;

    /// Returns the state with all elements left: there are e elements below element e.
    pub fn all() -> Below {
        Below(0xFEDC_BA98_7654_3210)
    }

    /// Returns how many elements are left below one.
    #[inline(always)]
    pub fn below(&self, element: u8) -> u64 {
        self.0 >> (4 * u32::from(element & 15)) & 15
    }

    /// Removes an element and returns how many are left below it. No field borrows from the next one: all elements
    /// above an element that is left have at least that one below them.
    #[inline(always)]
    pub fn take(&mut self, element: u8) -> u64 {
        let digit = self.below(element);
        self.0 = self.0.wrapping_sub(0x1111_1111_1111_1110 << (4 * u32::from(element & 15)));
        digit
    }
}

/// Writes the permutation with the given parity and the given rank among those of that parity: the inverse of
/// [`rank_in_parity`].
pub fn unrank_in_parity(parity: usize, rank: u64, line: &mut [u8]) {
    let n = line.len();
    assert!(rank < even_count(n), "rank out of range");
    unrank(rank * 2, line);
    if rank_in_parity(line).0 != parity {
        line.swap(n - 2, n - 1);
    }
}

/// Returns the set `0..n` as a bit mask, n < 64.
pub fn first(n: usize) -> u64 {
    (1u64 << n) - 1
}

/// The position of the set bit with number `index` (from 0, least significant first).
fn select(mut bits: u64, index: u32) -> u8 {
    for _ in 0..index {
        bits &= bits - 1;
    }
    bits.trailing_zeros() as u8
}
