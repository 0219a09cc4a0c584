//! One stretch of sets for one level, once for all instruction sets.
//!
//! Invariant: results depend on the tables and the bits alone. Both parities of a slice are computed
//! together: twelve registers gather what all moves with the same pair of bits bring, then these bits are
//! mapped once; most moves are plain copies, one instruction per register.

// Indexing by constant ranges is what keeps arrays of registers in registers.
#![allow(clippy::needless_range_loop)]

use super::mark::Mark;
use super::scalar::Scalar;
use super::spread::{CHANGED, FULL, MAX_MOVES, Marks, Moves, Stretch};
use super::step::Isa;
use crate::perm::arrangement::{Arrangements, Pull, Shift, Spots};
use crate::perm::gather::ByParity;
use crate::perm::layout::{GROUP, Register};

pub(super) trait Run: Send + Sync {
    /// # Safety
    /// The stretch satisfies what `Spread::run` checks, and the processor supports the kernel.
    unsafe fn run(&self, moves: &Moves, stretch: Stretch<'_>) -> u64;
}

/// A shift in the format of one instruction set.
struct Op<I: Isa> {
    pull: ReadyPull<I>,
    flips: usize,
    /// Whether sources lie in other slices.
    far: bool,
    needs: Vec<u64>,
}

enum ReadyPull<I: Isa> {
    Own,
    Lanes(ByParity<I::LaneRow>),
    Copies(Vec<Spots>),
    Shared(Vec<(Spots, [u8; GROUP])>, Vec<ByParity<I::CrossRow>>),
    Strided(Vec<([u8; GROUP], [u8; GROUP])>, Vec<ByParity<I::CrossRow>>),
}

pub(super) struct Ready<I: Isa> {
    layout: Arrangements,
    ops: Vec<Op<I>>,
    /// The map of each pair of bits, `8 * from + to`.
    maps: Vec<I::BitMap>,
}

impl<I: Mark> Ready<I> {
    pub fn new(layout: Arrangements, shifts: &[Shift]) -> Ready<I> {
        let op = |shift: &Shift| Op {
            pull: match &shift.pull {
                Pull::Own => ReadyPull::Own,
                Pull::Lanes(rows) => {
                    ReadyPull::Lanes([I::lane_row(&rows[0]), I::lane_row(&rows[1])])
                }
                Pull::Copies(spots) => ReadyPull::Copies(spots.clone()),
                Pull::Shared {
                    sources,
                    classes,
                    rows,
                } => ReadyPull::Shared(
                    sources
                        .iter()
                        .copied()
                        .zip(classes.iter().copied())
                        .collect(),
                    rows.iter()
                        .map(|r| [I::cross_row(&r[0]), I::cross_row(&r[1])])
                        .collect(),
                ),
                Pull::Strided {
                    slices,
                    classes,
                    rows,
                } => ReadyPull::Strided(
                    slices
                        .iter()
                        .copied()
                        .zip(classes.iter().copied())
                        .collect(),
                    rows.iter()
                        .map(|r| [I::cross_row(&r[0]), I::cross_row(&r[1])])
                        .collect(),
                ),
            },
            flips: usize::from(shift.flips),
            far: (0..)
                .zip(&shift.needs)
                .any(|(slice, &needs)| needs != 1u64 << slice),
            needs: shift.needs.clone(),
        };
        let map = |i: u8| I::bit_maps(&[(i / 8, i % 8)]).pop();
        Ready {
            layout,
            ops: shifts.iter().map(op).collect(),
            maps: (0..64).filter_map(map).collect(),
        }
    }
}

macro_rules! instruction_set {
    ($isa:ty, $(#[$features:meta])?) => {
        impl Run for Ready<$isa> {
            unsafe fn run(&self, moves: &Moves, stretch: Stretch<'_>) -> u64 {
                $(#[$features])?
                unsafe fn with_features(
                    ready: &Ready<$isa>,
                    moves: &Moves,
                    stretch: Stretch<'_>,
                ) -> u64 {
                    // SAFETY: the caller's promise.
                    unsafe {
                        match ready.layout.group() {
                            1 => spread::<$isa, 1>(ready, moves, stretch),
                            _ => spread::<$isa, GROUP>(ready, moves, stretch),
                        }
                    }
                }
                // SAFETY: `Spread::new` has checked the processor, `Spread::run` the stretch.
                unsafe { with_features(self, moves, stretch) }
            }
        }
    };
}

instruction_set!(Scalar,);
#[cfg(target_arch = "x86_64")]
instruction_set!(super::avx2::Avx2, #[target_feature(enable = "avx2,bmi2,popcnt")]);
#[cfg(target_arch = "x86_64")]
instruction_set!(
    super::avx512::Avx512,
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vpopcntdq,gfni,bmi2,popcnt"
    )]
);

/// A move whose source slice has changed.
#[derive(Clone, Copy)]
struct Live {
    /// The source set's first register in slice 0.
    source: *const Register,
    shift: u8,
    /// The pair of bits, `8 * from + to`.
    map: u8,
}

/// The live moves into a set.
struct Lives {
    list: [Live; MAX_MOVES],
    len: usize,
}

/// What a worker needs to know about the slice at hand.
struct Slice<'a, I: Isa> {
    ready: &'a Ready<I>,
    moves: &'a Moves,
    slice: usize,
    parity: usize,
    /// Registers from one slice of the sources to the next.
    stride: usize,
}

impl<I: Mark> Slice<'_, I> {
    /// Lists the moves into a set whose source slices have changed, and fetches the far ones' registers.
    ///
    /// # Safety
    /// As [`Run::run`]; the set exists.
    #[inline(always)]
    unsafe fn find<const G: usize>(&self, stretch: &Stretch<'_>, set: usize, lives: &mut Lives) {
        // SAFETY: the function's contract, and `Moves::new` has checked sources and shifts.
        unsafe {
            lives.len = 0;
            let index = stretch.first + set;
            let full = *stretch.flags.get_unchecked(set) & FULL;
            if *stretch.live.get_unchecked(index) >> self.slice & 1 == 0 || full != 0 {
                return;
            }
            let ends = &self.moves.ends;
            let begin = if index == 0 {
                0
            } else {
                *ends.get_unchecked(index - 1)
            };
            let end = *ends.get_unchecked(index);
            let mut at = 0;
            for m in self.moves.moves.get_unchecked(begin as usize..end as usize) {
                let op = self.ready.ops.get_unchecked(usize::from(m.shift));
                let changed = stretch.changed.get_unchecked(m.source as usize);
                let live = changed & op.needs.get_unchecked(self.slice) != 0;
                let source = stretch.source.as_ptr().add(m.source as usize * 2 * G);
                *lives.list.get_unchecked_mut(at & (MAX_MOVES - 1)) = Live {
                    source,
                    shift: m.shift,
                    map: m.from * 8 + m.to,
                };
                at += usize::from(live);
            }
            lives.len = at;
            for live in lives.list.get_unchecked(..at) {
                self.fetch::<G>(live);
            }
        }
    }

    /// Fetches the registers that a move brings from other slices: they are far away, and a set's work is
    /// about as long as they take to come.
    ///
    /// # Safety
    /// As [`Slice::find`].
    #[inline(always)]
    unsafe fn fetch<const G: usize>(&self, live: &Live) {
        // SAFETY: the function's contract; the addresses are those that `bring` will read.
        unsafe {
            let op = self.ready.ops.get_unchecked(usize::from(live.shift));
            if !op.far {
                return;
            }
            match &op.pull {
                ReadyPull::Copies(spots) => {
                    for spot in spots.get_unchecked(self.slice) {
                        let at = usize::from(spot.slice) * self.stride;
                        let from = live.source.add(at + usize::from(spot.register));
                        prefetch(from);
                        prefetch(from.add(G));
                    }
                }
                ReadyPull::Shared(groups, _) => {
                    for spot in &groups.get_unchecked(self.slice).0 {
                        let at = usize::from(spot.slice) * self.stride;
                        let from = live.source.add(at + usize::from(spot.register));
                        prefetch(from);
                        prefetch(from.add(G));
                    }
                }
                ReadyPull::Strided(groups, _) => {
                    for &slice in &groups.get_unchecked(self.slice).0 {
                        let from = live.source.add(usize::from(slice) * self.stride);
                        for s in 0..2 * G {
                            prefetch(from.add(s));
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Asks for a register to be brought near. A hint: any address will do.
#[inline(always)]
fn prefetch(register: *const Register) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and does not fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(register.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = register;
}

/// Computes a stretch.
///
/// # Safety
/// As [`Run::run`]; `G` is the layout's group.
#[inline(always)]
unsafe fn spread<I: Mark, const G: usize>(
    ready: &Ready<I>,
    moves: &Moves,
    mut stretch: Stretch<'_>,
) -> u64 {
    let slice = Slice {
        ready,
        moves,
        slice: stretch.slice,
        parity: usize::from(ready.layout.slice_parity(stretch.slice)),
        stride: moves.sources * 2 * G,
    };
    let none = Live {
        source: std::ptr::null(),
        shift: 0,
        map: 0,
    };
    let empty = || Lives {
        list: [none; MAX_MOVES],
        len: 0,
    };
    let (mut lives, mut ahead) = (empty(), empty());
    let mut count = 0;
    let sets = stretch.flags.len();
    for set in 0..=sets {
        // SAFETY: the function's contract; `set` is below the stretch's sets.
        unsafe {
            std::mem::swap(&mut lives, &mut ahead);
            ahead.len = 0;
            if set < sets {
                slice.find::<G>(&stretch, set, &mut ahead);
            }
            let Some(set) = set.checked_sub(1) else {
                continue;
            };
            let flag = stretch.flags.get_unchecked_mut(set);
            if lives.len == 0 {
                *flag &= FULL;
                continue;
            }
            let index = stretch.first + set;
            let target = Target {
                seen: stretch.seen.as_mut_ptr().add(set * 2 * G),
                bits: *stretch.bits.get_unchecked(index),
                level: stretch.level,
            };
            let list = lives.list.get_unchecked(..lives.len);
            let (new, flags) = match &mut stretch.marks {
                Marks::First(values) => {
                    let values = values.as_mut_ptr().add(set * 2 * G);
                    gain::<I, G, false>(&slice, list, &target, values)
                }
                Marks::PerBit { values, slots } => {
                    let slot = slots.get_unchecked(index) - slots.get_unchecked(stretch.first);
                    let values = values.as_mut_ptr().add(slot as usize * 2 * G);
                    gain::<I, G, true>(&slice, list, &target, values)
                }
            };
            *flag = flags;
            count += new;
        }
    }
    count
}

/// One set and slice to compute.
struct Target {
    seen: *mut Register,
    bits: u8,
    level: u8,
}

/// Brings the bits of all live moves into a set's slice: returns first visits and flags.
///
/// # Safety
/// As [`spread`].
#[inline(always)]
unsafe fn gain<I: Mark, const G: usize, const PER_BIT: bool>(
    slice: &Slice<'_, I>,
    lives: &[Live],
    target: &Target,
    values: *mut Register,
) -> (u64, u8) {
    // SAFETY: the function's contract: sources, slices and registers exist.
    unsafe {
        let mut new = [[I::zero(); G]; 2];
        let mut at = 0;
        while at < lives.len() {
            let map = lives.get_unchecked(at).map;
            let mut raw = [[I::zero(); G]; 2];
            while at < lives.len() && lives.get_unchecked(at).map == map {
                bring::<I, G>(slice, lives.get_unchecked(at), &mut raw);
                at += 1;
            }
            let map = slice.ready.maps.get_unchecked(usize::from(map));
            for p in 0..2 {
                for r in 0..G {
                    new[p][r] = I::join(new[p][r], map, raw[p][r]);
                }
            }
        }
        let mut count = 0;
        let mut flags = 0;
        let mut common = I::splat(target.bits);
        for p in 0..2 {
            for r in 0..G {
                let seen = target.seen.add(p * G + r);
                let old = I::load(seen);
                let sum = I::or(old, new[p][r]);
                common = I::and(common, sum);
                if I::same(old, sum) {
                    continue;
                }
                flags = CHANGED;
                I::store(seen, sum);
                let level = I::splat(target.level);
                if PER_BIT {
                    for bit in 0..target.bits.count_ones() as usize {
                        let values = values.add((bit * 2 + p) * G + r);
                        count += I::mark(values, old, sum, I::splat(1 << bit), level);
                    }
                } else {
                    let any = I::splat(u8::MAX);
                    count += I::mark(values.add(p * G + r), old, sum, any, level);
                }
            }
        }
        if I::same_lanes(common, I::splat(target.bits)) {
            flags |= FULL;
        }
        (count, flags)
    }
}

/// Joins the registers that a move brings to `raw`, bits as they are.
///
/// # Safety
/// As [`spread`].
#[inline(always)]
unsafe fn bring<I: Mark, const G: usize>(
    slice: &Slice<'_, I>,
    live: &Live,
    raw: &mut [[I::Reg; G]; 2],
) {
    // SAFETY: the function's contract: sources, slices and registers exist.
    unsafe {
        let op = slice.ready.ops.get_unchecked(usize::from(live.shift));
        // Registers of the source's two parities, in slice 0.
        let base = [
            live.source.add(op.flips * G),
            live.source.add((op.flips ^ 1) * G),
        ];
        let own = slice.slice * slice.stride;
        match &op.pull {
            ReadyPull::Own => {
                for p in 0..2 {
                    for r in 0..G {
                        raw[p][r] = I::or(raw[p][r], I::load(base[p].add(own + r)));
                    }
                }
            }
            ReadyPull::Lanes(rows) => {
                for p in 0..2 {
                    for r in 0..G {
                        let row = rows.get_unchecked(slice.parity ^ p ^ (r & 1));
                        let from = I::load(base[p].add(own + r));
                        raw[p][r] = I::or(raw[p][r], I::permute(row, from));
                    }
                }
            }
            ReadyPull::Copies(spots) => {
                let spots = spots.get_unchecked(slice.slice);
                for r in 0..G {
                    let spot = spots[r];
                    let at = usize::from(spot.slice) * slice.stride + usize::from(spot.register);
                    for p in 0..2 {
                        raw[p][r] = I::or(raw[p][r], I::load(base[p].add(at)));
                    }
                }
            }
            ReadyPull::Shared(groups, rows) => {
                let (spots, classes) = groups.get_unchecked(slice.slice);
                for p in 0..2 {
                    let mut six = [I::zero(); GROUP];
                    for s in 0..GROUP {
                        let spot = spots[s];
                        let at = usize::from(spot.slice) * slice.stride;
                        six[s] = I::load(base[p].add(at + usize::from(spot.register)));
                    }
                    for r in 0..G {
                        let rows = rows.get_unchecked(usize::from(classes[r]));
                        let row = rows.get_unchecked(slice.parity ^ p ^ (r & 1));
                        raw[p][r] = I::or(raw[p][r], I::select(row, &six));
                    }
                }
            }
            ReadyPull::Strided(groups, rows) => {
                let (slices, classes) = groups.get_unchecked(slice.slice);
                for r in 0..G {
                    let at = usize::from(slices[r]) * slice.stride;
                    let rows = rows.get_unchecked(usize::from(classes[r]));
                    for p in 0..2 {
                        let mut six = [I::zero(); GROUP];
                        for s in 0..GROUP {
                            six[s] = I::load(base[p].add(at + s));
                        }
                        let row = rows.get_unchecked(slice.parity ^ p ^ (r & 1));
                        raw[p][r] = I::or(raw[p][r], I::select(row, &six));
                    }
                }
            }
        }
    }
}
