//! Permutations of up to 128 points, and numbers for how coloured points lie: what the two-sided solver and its tables
//! compute at every node.
//!
//! A point is a place where a piece can be in one of its orientations. A permutation takes a byte for each point, so
//! that a product is one shuffle of bytes. `pruning::points` says which points a puzzle has, `pruning::colouring` how they
//! are coloured.
//!
//! Invariant: all instruction sets compute the same bytes and numbers.

use std::array::from_fn;

use crate::{kernel::isa::Isa, perm::Register};

/// A byte for each of up to `64 * R` points; mostly a permutation, in which byte `x` is the image of point `x`. PointMap
/// that a puzzle does not use are their own images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(C, align(64))]
pub(crate) struct PointMap<const R: usize>(pub [Register; R]);

impl<const R: usize> PointMap<R> {
    /// The number of points.
    pub const COUNT: usize = 64 * R;

    pub fn identity() -> PointMap<R> {
        PointMap(from_fn(|r| from_fn(|i| (64 * r + i) as u8)))
    }

    #[inline]
    pub fn get(&self, point: usize) -> usize {
        usize::from(self.0[point / 64][point % 64])
    }

    pub fn set(&mut self, point: usize, byte: u8) {
        self.0[point / 64][point % 64] = byte;
    }

    /// The map that takes a point to the image of its image under `first`.
    pub fn after(&self, first: &PointMap<R>) -> PointMap<R> {
        PointMap(from_fn(|r| from_fn(|i| self.get(usize::from(first.0[r][i])) as u8)))
    }

    pub fn inverse(&self) -> PointMap<R> {
        let mut inverse = PointMap::identity();
        (0..Self::COUNT).for_each(|point| inverse.set(self.get(point), point as u8));
        inverse
    }

    /// The lengths of the cycles, in ascending order.
    pub fn cycles(&self) -> Vec<u8> {
        let (mut seen, mut lengths) = ([false; 256], Vec::new());
        for first in 0..Self::COUNT {
            let (mut at, mut length) = (first, 0);
            while !std::mem::replace(&mut seen[at], true) {
                (at, length) = (self.get(at), length + 1);
            }
            lengths.extend((length > 0).then_some(length));
        }
        lengths.sort_unstable();
        lengths
    }

    /// # Safety
    /// The processor has the instructions.
    #[inline(always)]
    pub unsafe fn load<I: Isa>(&self) -> [I::Reg; R] {
        // SAFETY: the caller's promise. No closure: it would not be compiled for the instructions.
        unsafe {
            let mut value = [I::load(&raw const self.0[0]); R];
            for r in 1..R {
                value[r] = I::load(&raw const self.0[r]);
            }
            value
        }
    }

    /// # Safety
    /// The processor has the instructions.
    #[inline(always)]
    pub unsafe fn store<I: Isa>(&mut self, value: [I::Reg; R]) {
        for r in 0..R {
            // SAFETY: the caller's promise.
            unsafe { I::store(&raw mut self.0[r], value[r]) };
        }
    }
}

/// [`PointMap::after`] in registers.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
pub(crate) unsafe fn after<I: Isa, const R: usize>(
    then: &[I::Reg; R],
    first: &[I::Reg; R],
) -> [I::Reg; R] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut value = [I::look_up(then, first[0]); R];
        for r in 1..R {
            value[r] = I::look_up(then, first[r]);
        }
        value
    }
}

/// How a state looks through a symmetry: the colour of the sticker at each point of its image.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct ColourView<const R: usize> {
    back: PointMap<R>,
    colour: PointMap<R>,
}

impl<const R: usize> ColourView<R> {
    /// The view through a permutation of points, with a colour for each point of the solved state.
    pub fn new(symmetry: &PointMap<R>, colour: &PointMap<R>) -> ColourView<R> {
        ColourView { back: symmetry.inverse(), colour: colour.after(symmetry) }
    }

    /// The view in which another permutation is carried out before this view.
    pub fn before(&self, last: &PointMap<R>) -> ColourView<R> {
        ColourView { back: last.after(&self.back), colour: self.colour }
    }

    /// # Safety
    /// The processor has the instructions.
    #[inline(always)]
    pub unsafe fn colours<I: Isa>(&self, state: &[I::Reg; R]) -> [I::Reg; R] {
        // SAFETY: the caller's promise.
        unsafe {
            let stickers = after::<I, R>(state, &self.back.load::<I>());
            after::<I, R>(&self.colour.load::<I>(), &stickers)
        }
    }
}

/// A colour: the class of a piece, its orientation and whether that matters.
pub(crate) const CLASS: u8 = 31;
pub(crate) const TURN: u32 = 5;
pub(crate) const KEPT: u8 = 128;

/// The positions of a set of pieces: points of one register.
#[derive(Clone, Debug)]
pub(crate) struct ColouredSet {
    pub register: usize,
    /// The points of the positions within the register.
    pub points: u64,
    /// The number of orientations, and whether the sum of all of them never changes.
    pub orientations: usize,
    pub fixed_sum: bool,
    /// For each class, how many pieces it has, and whether their orientations matter.
    pub classes: Vec<(usize, bool)>,
}

/// Maximum number of bits by which a table of ranks is addressed at once, and of positions of a set.
const BITS: usize = 20;
pub(crate) const MOST_POSITIONS: usize = 32;

/// A mixed-radix number of the colours of some sets: the positions of each class, smallest class first, among those left
/// over; then the orientations that matter, by position.
#[derive(Clone, Debug)]
pub(crate) struct ColourRank {
    steps: Vec<RankStep>,
    pub size: u64,
}

/// Lanes that have a value after masking are gathered from some positions into a number, whose rank is looked up.
#[derive(Clone, Debug)]
struct RankStep {
    register: usize,
    mask: u8,
    value: u8,
    /// The positions; zero for those that the previous step has left.
    points: u64,
    only_kept: bool,
    /// Whether the lanes found are left out in the next step.
    removes: bool,
    /// Ranks of the lowest bits, whose number this is.
    low_bits: u32,
    low: Vec<u32>,
    /// If there are more bits: the ranks of the others for each number of ones among the lowest.
    high_bits: u32,
    high: Vec<u32>,
}

/// The number of ways to choose `k` of `n`; a large number if it does not fit.
pub(crate) fn binomial(n: usize, k: usize) -> u64 {
    (0..k).fold(1u64, |all, i| all.saturating_mul(n.saturating_sub(i) as u64) / (i as u64 + 1))
}

impl RankStep {
    /// Ranks of `bits` bits: the sum of what each one adds, given its place and how many come before it.
    fn new(bits: usize, adds: impl Fn(usize, usize) -> u64) -> RankStep {
        let low_bits = if bits <= BITS { bits } else { bits / 2 };
        let high_bits = bits - low_bits;
        let rank = |number: usize, first: usize, before: usize| {
            let (mut rank, mut ones, mut left) = (0u64, before, number);
            while left != 0 {
                rank = rank.wrapping_add(adds(first + left.trailing_zeros() as usize, ones));
                left &= left - 1;
                ones += 1;
            }
            rank as u32
        };
        let low = (0..1 << low_bits).map(|number| rank(number, 0, 0)).collect();
        let of = |before| (0..1 << high_bits).map(move |number| (before, number));
        let high = match high_bits {
            0 => Vec::new(),
            _ => (0..=low_bits).flat_map(of).map(|(ones, n)| rank(n, low_bits, ones)).collect(),
        };
        RankStep {
            register: 0,
            mask: 0,
            value: 0,
            points: 0,
            only_kept: false,
            removes: false,
            low_bits: low_bits as u32,
            low,
            high_bits: high_bits as u32,
            high,
        }
    }
}

impl ColourRank {
    /// The number of the colours of some sets. `None` if there are 2^32 or more.
    pub fn new(sets: &[ColouredSet]) -> Option<ColourRank> {
        let (mut steps, mut size) = (Vec::new(), 1u64);
        for set in sets {
            let mut classes: Vec<usize> = (0..set.classes.len()).collect();
            classes.sort_by_key(|&class| set.classes[class].0);
            let positions = set.points.count_ones() as usize;
            let mut left = positions;
            // The positions of the last class are those left over.
            for (i, &class) in classes[..classes.len() - 1].iter().enumerate() {
                let (pieces, now) = (set.classes[class].0, size);
                let adds = |place, before| binomial(place, before + 1).wrapping_mul(now);
                size = size.checked_mul(binomial(left, pieces)).filter(|&size| size < 1 << 32)?;
                steps.push(RankStep {
                    register: set.register,
                    mask: CLASS,
                    value: class as u8,
                    points: if i == 0 { set.points } else { 0 },
                    removes: true,
                    ..RankStep::new(left, adds)
                });
                left -= pieces;
            }
            let kept: usize = set.classes.iter().filter(|(_, kept)| *kept).map(|(n, _)| n).sum();
            if kept == 0 {
                continue;
            }
            let free = if kept == positions && set.fixed_sum { kept - 1 } else { kept };
            let radix = set.orientations as u64;
            let now = size;
            let all = radix.checked_pow(free as u32).and_then(|all| all.checked_mul(size));
            size = all.filter(|&size| size < 1 << 32)?;
            for bit in 0..if radix > 2 { 2 } else { 1 } {
                let adds = |place: usize, _| match place < free {
                    true => radix.pow(place as u32) * (now << bit),
                    false => 0,
                };
                steps.push(RankStep {
                    register: set.register,
                    mask: 1 << (TURN + bit),
                    value: 1 << (TURN + bit),
                    points: set.points,
                    only_kept: true,
                    ..RankStep::new(kept, adds)
                });
            }
        }
        Some(ColourRank { steps, size })
    }

    /// The number of colours.
    ///
    /// # Safety
    /// The processor has the instructions.
    #[inline(always)]
    pub unsafe fn rank<I: Isa, const R: usize>(&self, colours: &[I::Reg; R]) -> u32 {
        let (mut left, mut rank) = (0u64, 0u32);
        for step in &self.steps {
            // SAFETY: the caller's promise.
            unsafe {
                let own = colours[step.register];
                let found = I::equal(I::and(own, I::splat(step.mask)), I::splat(step.value));
                if step.points != 0 {
                    left = step.points;
                    if step.only_kept {
                        left &= I::lanes(I::and(own, I::splat(KEPT)));
                    }
                }
                let bits = I::gather_bits(found, left);
                let low = bits & ((1 << step.low_bits) - 1);
                rank = rank.wrapping_add(step.low[low as usize]);
                if step.high_bits > 0 {
                    let at = u64::from(low.count_ones()) << step.high_bits | bits >> step.low_bits;
                    rank = rank.wrapping_add(step.high[at as usize]);
                }
                if step.removes {
                    left &= !found;
                }
            }
        }
        rank
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernel::{Kernel, dispatch},
        random::SplitMix64,
    };

    #[inline(always)]
    unsafe fn product_and_rank<I: Isa, const R: usize>(
        (then, first): (&PointMap<R>, &PointMap<R>),
        (colour, rank): (&PointMap<R>, &ColourRank),
        to: &mut PointMap<R>,
    ) -> u32 {
        // SAFETY: `dispatch` has checked the instructions.
        unsafe {
            let product = after::<I, R>(&then.load::<I>(), &first.load::<I>());
            to.store::<I>(product);
            rank.rank::<I, R>(&after::<I, R>(&colour.load::<I>(), &product))
        }
    }

    fn run_one(
        kernel: Kernel,
        of: (&PointMap<1>, &PointMap<1>),
        by: (&PointMap<1>, &ColourRank),
        to: &mut PointMap<1>,
    ) -> u32 {
        dispatch!(kernel, product_and_rank<I, 1>(
            of: (&PointMap<1>, &PointMap<1>), by: (&PointMap<1>, &ColourRank), to: &mut PointMap<1>
        ) -> u32)
    }

    fn run_two(
        kernel: Kernel,
        of: (&PointMap<2>, &PointMap<2>),
        by: (&PointMap<2>, &ColourRank),
        to: &mut PointMap<2>,
    ) -> u32 {
        dispatch!(kernel, product_and_rank<I, 2>(
            of: (&PointMap<2>, &PointMap<2>), by: (&PointMap<2>, &ColourRank), to: &mut PointMap<2>
        ) -> u32)
    }

    fn shuffled<const R: usize>(random: &mut SplitMix64) -> PointMap<R> {
        let mut points = PointMap::identity();
        for at in (1..PointMap::<R>::COUNT).rev() {
            let other = random.below(at as u64 + 1) as usize;
            let (a, b) = (points.get(at), points.get(other));
            points.set(at, b as u8);
            points.set(other, a as u8);
        }
        points
    }

    /// The number of docs/format.md, digit by digit.
    fn plain_rank<const R: usize>(sets: &[ColouredSet], seen: &PointMap<R>) -> u64 {
        let (mut rank, mut weight) = (0, 1);
        for set in sets {
            let own: Vec<u8> = (0..64)
                .filter(|place| set.points >> place & 1 == 1)
                .map(|place| seen.get(64 * set.register + place) as u8)
                .collect();
            let mut classes: Vec<usize> = (0..set.classes.len()).collect();
            classes.sort_by_key(|&class| set.classes[class].0);
            let mut free: Vec<usize> = (0..own.len()).collect();
            for &class in &classes[..classes.len() - 1] {
                let is_own = |place: &usize| usize::from(own[*place] & CLASS) == class;
                let found: Vec<usize> = (0..free.len()).filter(|&i| is_own(&free[i])).collect();
                let digit = found.iter().zip(1..).map(|(&c, k)| binomial(c, k)).sum::<u64>();
                rank += weight * digit;
                weight *= binomial(free.len(), found.len());
                free.retain(|place| !is_own(place));
            }
            let mut kept: Vec<u64> = own
                .iter()
                .filter(|colour| **colour & KEPT != 0)
                .map(|colour| u64::from(colour >> TURN & 3))
                .collect();
            if kept.len() == own.len() && set.fixed_sum {
                kept.pop();
            }
            for turn in kept {
                rank += weight * turn;
                weight *= set.orientations as u64;
            }
        }
        rank
    }

    /// Sets of one and two registers, of up to 30 positions, with classes of which some keep their orientations.
    #[test]
    fn kernels_compute_the_products_and_ranks_of_plain_code() {
        let mut random = SplitMix64::new(1);
        let set =
            |register, first: u32, positions: u32, orientations, classes: &[(usize, bool)]| {
                ColouredSet {
                    register,
                    points: ((1 << positions) - 1) << first,
                    orientations,
                    fixed_sum: true,
                    classes: classes.to_vec(),
                }
            };
        let one = [
            set(0, 0, 8, 3, &[(4, true), (4, true)]),
            set(0, 8, 12, 2, &[(1, false), (8, false), (3, true)]),
        ];
        let two = [
            set(0, 0, 20, 3, &[(18, false), (2, true)]),
            set(1, 3, 30, 2, &[(26, false), (2, true), (2, false)]),
        ];
        for _ in 0..4 {
            check(&one, run_one, &mut random);
            check(&two, run_two, &mut random);
        }
    }

    type Run<const R: usize> = fn(
        Kernel,
        (&PointMap<R>, &PointMap<R>),
        (&PointMap<R>, &ColourRank),
        &mut PointMap<R>,
    ) -> u32;

    fn check<const R: usize>(sets: &[ColouredSet], run: Run<R>, random: &mut SplitMix64) {
        let rank = ColourRank::new(sets).unwrap();
        // Colours of the places of each set, in any order; states only exchange these.
        let mut colour = PointMap([[0; 64]; R]);
        let mut state = PointMap::<R>::identity();
        for set in sets {
            let places: Vec<usize> = (0..64)
                .filter(|place| set.points >> place & 1 == 1)
                .map(|place| 64 * set.register + place)
                .collect();
            let mut next = places.iter();
            for (class, &(pieces, kept)) in set.classes.iter().enumerate() {
                for &place in next.by_ref().take(pieces) {
                    let turn = random.below(set.orientations as u64) as u8;
                    let kept = if kept { KEPT | turn << TURN } else { 0 };
                    colour.set(place, class as u8 | kept);
                }
            }
            let mut order = places.clone();
            for at in (1..order.len()).rev() {
                order.swap(at, random.below(at as u64 + 1) as usize);
            }
            places.iter().zip(order).for_each(|(&place, from)| state.set(place, from as u8));
        }
        // The state as a product of two permutations.
        let then = shuffled::<R>(random);
        let first = then.inverse().after(&state);
        let expected = plain_rank(sets, &colour.after(&state));
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_supported()) {
            let mut product = PointMap::identity();
            let found = run(kernel, (&then, &first), (&colour, &rank), &mut product);
            assert_eq!((product, u64::from(found)), (state, expected), "{kernel}");
        }
    }
}
