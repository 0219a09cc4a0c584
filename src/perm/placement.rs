//! Sets of cells, and ranks of placements: k distinct objects on k of n cells.
//!
//! Invariant: the rank of a placement is its position in the lexicographic order of the sequences of
//! cells (c\[0\], .., c\[k-1\]). Digit i counts the cells below c\[i\] that none of c\[0\], .., c\[i-1\]
//! occupies; its radix is n - i; digit 0 is the most significant. With k = n this is the Lehmer rank.
//!
//! ```text
//! n = 5, k = 2:  (0,1)=0 (0,2)=1 (0,3)=2 (0,4)=3 (1,0)=4 (1,2)=5 .. (4,3)=19
//! ```

use crate::perm::Below;

/// Maximum number of cells: sets of cells are bit masks of 64 bits.
pub const MAX_CELLS: usize = 63;

/// The set of some things: bit c represents thing c.
#[inline]
pub fn set_of(things: &[u8]) -> u64 {
    things.iter().fold(0, |set, &thing| set | 1 << thing)
}

/// The set bits of a mask, lowest first.
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        let some = mask != 0;
        mask &= mask.wrapping_sub(1);
        some.then_some(bit)
    })
}

/// Returns the number of placements, n! / (n-k)!, or `None` if it exceeds 64 bits or if k > n.
///
/// ```
/// use tilewave::internals::placement::count;
/// assert_eq!(count(16, 8), Some(518_918_400));
/// ```
pub fn count(n: usize, k: usize) -> Option<u64> {
    if k > n {
        return None;
    }
    ((n - k + 1) as u64..=n as u64).try_fold(1u64, u64::checked_mul)
}

/// Returns the rank of a placement on n cells. Cost: a few shifts and one multiplication per cell, about 2 ns for 8
/// cells.
///
/// The cells must be distinct and below n; otherwise the rank is meaningless.
///
/// ```
/// use tilewave::internals::placement::rank;
/// assert_eq!(rank(5, &[1, 2]), 5);
/// assert_eq!(rank(5, &[4, 3]), 19);
/// ```
#[inline]
pub fn rank(n: usize, cells: &[u8]) -> u64 {
    let mut rank = 0;
    if n <= Below::MAX {
        let mut below = Below::all();
        for (i, &cell) in cells.iter().enumerate() {
            rank = rank * (n - i) as u64 + below.take(cell);
        }
        return rank;
    }
    let mut free = u64::MAX;
    for (i, &cell) in cells.iter().enumerate() {
        let bit = 1u64 << (cell & 63);
        rank = rank * (n - i) as u64 + u64::from((free & (bit - 1)).count_ones());
        free &= !bit;
    }
    rank
}

/// Writes the placement of `cells.len()` objects on n cells with the given rank: the inverse of [`rank`].
///
/// # Panics
/// If the rank is out of range or n exceeds [`MAX_CELLS`].
pub fn unrank(n: usize, mut rank: u64, cells: &mut [u8]) {
    let k = cells.len();
    assert!(n <= MAX_CELLS && count(n, k).is_none_or(|count| rank < count), "rank out of range");
    for (i, cell) in cells.iter_mut().enumerate().rev() {
        let radix = (n - i) as u64;
        *cell = (rank % radix) as u8;
        rank /= radix;
    }
    // From digits to cells: an earlier cell at or below a digit pushes it up, last digit first.
    for i in (1..k).rev() {
        for j in (0..i).rev() {
            if cells[i] >= cells[j] {
                cells[i] += 1;
            }
        }
    }
}

/// Ranks of k-element sets of cells: their positions in the order of increasing bit masks (colexicographic).
///
/// A rank takes three table lookups, for 12 cells each.
#[derive(Clone, Debug)]
pub struct Subsets {
    pub(crate) n: usize,
    pub(crate) k: usize,
    /// For each piece of the mask, the number of set cells below it, and the contents of the piece: the contribution of
    /// the piece.
    tables: Box<[u32]>,
}

/// Number of cells in a piece of a mask.
const PIECE: usize = 12;

const PIECES: usize = 3;

impl Subsets {
    /// Returns the ranking of k-element subsets of n cells, or `None` if n > 36, k > 8 or k > n.
    pub fn new(n: usize, k: usize) -> Option<Subsets> {
        if n > PIECE * PIECES || k > 8 || k > n {
            return None;
        }
        // The contribution of the highest cell of a piece, in addition to that of the piece without it.
        let mut tables = vec![0u32; (PIECES * (k + 1)) << PIECE].into_boxed_slice();
        for row in 0..PIECES * (k + 1) {
            let (piece, below) = (row / (k + 1), row % (k + 1));
            let adds: Vec<u32> = (0..PIECE * (PIECE + 1))
                .map(|i| binomial(piece * PIECE + i / (PIECE + 1), below + i % (PIECE + 1)) as u32)
                .collect();
            let table = &mut tables[row << PIECE..(row + 1) << PIECE];
            for mask in 1..1usize << PIECE {
                let high = mask.ilog2() as usize;
                let chosen = mask.count_ones() as usize;
                let rest = table[mask ^ 1 << high];
                // Ranks of sets with more than k cells are never requested, and may wrap.
                table[mask] = rest.wrapping_add(adds[high * (PIECE + 1) + chosen]);
            }
        }
        Some(Subsets { n, k, tables })
    }

    /// Returns the number of subsets, n choose k.
    pub fn count(&self) -> usize {
        binomial(self.n, self.k) as usize
    }

    /// Returns the rank of a set of k cells: the number of sets of k cells with smaller masks.
    #[inline]
    pub fn rank(&self, set: u64) -> usize {
        let low = (1u64 << PIECE) - 1;
        let [a, b, c] = [set & low, set >> PIECE & low, set >> (2 * PIECE) & low];
        let after_a = a.count_ones() as usize;
        let after_b = after_a + b.count_ones() as usize;
        let rows = self.k + 1;
        let at = |row: usize, piece: u64| self.tables[(row << PIECE) + piece as usize] as usize;
        at(0, a) + at(rows + after_a, b) + at(2 * rows + after_b, c)
    }

    /// Returns the set with a given rank: the inverse of [`Subsets::rank`].
    pub fn unrank(&self, rank: usize) -> u64 {
        let (mut rest, mut set, mut end) = (rank as u64, 0, self.n);
        for chosen in (1..=self.k).rev() {
            let cell = (chosen - 1..end).rfind(|&cell| binomial(cell, chosen) <= rest);
            let cell = cell.unwrap_or(chosen - 1);
            rest -= binomial(cell, chosen);
            set |= 1 << cell;
            end = cell;
        }
        set
    }

    /// Returns all subsets in order of rank.
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<> {
        let first = (1u64 << self.k) - 1;
        let count = self.count();
        std::iter::successors(Some(first), |&set| Some(successor(set))).take(count)
    }
}

/// The next larger mask with the same number of bits (Gosper).
fn successor(set: u64) -> u64 {
    if set == 0 {
        return 0;
    }
    let low = set & set.wrapping_neg();
    let ripple = set + low;
    ripple | ((set ^ ripple) / low) >> 2
}

/// Returns n choose k (0 if k > n).
pub fn binomial(n: usize, k: usize) -> u64 {
    if k > n {
        return 0;
    }
    (0..k as u64).fold(1, |product, i| product * (n as u64 - i) / (i + 1))
}
