//! The level step of a block, once for all instruction sets.
//!
//! Invariant: results depend on the gather tables and the bits alone. An instruction set only says how
//! registers are loaded, permuted, mapped and counted ([`Isa`]); it adds no case of its own.

use super::program::Tally;
use crate::perm::checksum;
use crate::perm::gather::{ByParity, CrossRow, Gather, LaneRow, Shape, Source};
use crate::perm::layout::{GROUP, Register};

/// An instruction set: a type for 64 bytes and what can be done with it.
///
/// All functions are unsafe because they may only run on a processor that has the instructions.
pub(super) trait Isa: Sized + 'static {
    /// 64 bytes.
    type Reg: Copy;
    /// A permutation of the lanes of one register.
    type LaneRow: Send + Sync;
    /// A selection of lanes from six registers.
    type CrossRow: Send + Sync;
    /// A map from source bits to target bits, to be joined with others; every target bit has at most
    /// one source.
    type BitMap: Send + Sync;
    /// Running count and checksum.
    type Sums: Copy;

    fn lane_row(row: &LaneRow) -> Self::LaneRow;
    fn cross_row(row: &CrossRow) -> Self::CrossRow;
    fn bit_maps(bits: &[(u8, u8)]) -> Vec<Self::BitMap>;

    /// Fetches a register into the cache; any address will do.
    fn prefetch(_at: *const Register) {}
    unsafe fn zero() -> Self::Reg;
    unsafe fn load(from: *const Register) -> Self::Reg;
    unsafe fn store(to: *mut Register, value: Self::Reg);
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
}

/// Splits bits into maps in which every target bit occurs once.
pub(super) fn split_by_target(bits: &[(u8, u8)]) -> Vec<Vec<(u8, u8)>> {
    let mut maps: Vec<Vec<(u8, u8)>> = Vec::new();
    for &(from, to) in bits {
        match maps
            .iter_mut()
            .find(|map| map.iter().all(|&(_, t)| t != to))
        {
            Some(map) => map.push((from, to)),
            None => maps.push(vec![(from, to)]),
        }
    }
    maps
}

/// Splits bits into maps that shift all their bits by the same distance.
pub(super) fn split_by_shift(bits: &[(u8, u8)]) -> Vec<(i8, u8)> {
    let mut maps: Vec<(i8, u8)> = Vec::new();
    for &(from, to) in bits {
        let shift = to as i8 - from as i8;
        match maps.iter_mut().find(|map| map.0 == shift) {
            Some(map) => map.1 |= 1 << to,
            None => maps.push((shift, 1 << to)),
        }
    }
    maps
}

/// A program in the format of one instruction set.
pub(super) struct Ready<I: Isa> {
    pub ops: Vec<Op<I>>,
    /// For each group of a block the parity of its inner digit sum, last digit 0.
    pub parities: Vec<u8>,
}

/// One transfer in the format of one instruction set.
pub(super) struct Op<I: Isa> {
    maps: Vec<I::BitMap>,
    shape: ReadyShape<I>,
    /// First of its slots among those of all transfers.
    slot: usize,
}

enum ReadyShape<I: Isa> {
    Own,
    Lanes(ByParity<I::LaneRow>),
    Block,
    Carried(usize),
    Runs(Vec<Source>),
    Copies(Vec<[Source; GROUP]>),
    Shared(Crossing<I>),
    Strided(Crossing<I>),
    Scattered {
        ends: Vec<u32>,
        pieces: Vec<(Source, u16)>,
        rows: Vec<ByParity<I::LaneRow>>,
    },
}

struct Crossing<I: Isa> {
    groups: Vec<CrossingGroup>,
    rows: Vec<ByParity<I::CrossRow>>,
}

/// What one group needs, together in one cache line.
#[derive(Clone, Copy)]
struct CrossingGroup {
    sources: [Source; GROUP],
    classes: [u8; GROUP],
}

impl<I: Isa> Op<I> {
    pub(super) fn new(bits: &[(u8, u8)], gather: &Gather, slot: usize) -> Op<I> {
        let shape = match &gather.shape {
            Shape::Own => ReadyShape::Own,
            Shape::Lanes(rows) => ReadyShape::Lanes(both(rows, I::lane_row)),
            Shape::Block => ReadyShape::Block,
            Shape::Carried(index) => ReadyShape::Carried(*index),
            Shape::Runs(runs) => ReadyShape::Runs(runs.clone()),
            Shape::Copies(sixes) => ReadyShape::Copies(sixes.clone()),
            Shape::Shared {
                sources,
                classes,
                rows,
            } => ReadyShape::Shared(Crossing::new(sources, classes, rows)),
            Shape::Strided {
                sources,
                classes,
                rows,
            } => ReadyShape::Strided(Crossing::new(sources, classes, rows)),
            Shape::Scattered { ends, pieces, rows } => ReadyShape::Scattered {
                ends: ends.clone(),
                pieces: pieces.clone(),
                rows: rows.iter().map(|row| both(row, I::lane_row)).collect(),
            },
        };
        Op {
            maps: I::bit_maps(bits),
            shape,
            slot,
        }
    }
}

impl<I: Isa> Op<I> {
    /// Joins the bits of six gathered registers to the six accumulators.
    #[inline(always)]
    unsafe fn join(&self, acc: &mut [I::Reg; GROUP], from: [I::Reg; GROUP]) {
        for map in &self.maps {
            for r in 0..GROUP {
                // SAFETY: the caller's promise that the processor has the instructions.
                acc[r] = unsafe { I::join(acc[r], map, from[r]) };
            }
        }
    }
}

/// The six values of an expression in `r`, unrolled. A macro, because a closure is a function of its own
/// that does not have the caller's instruction set: intrinsics inside it would become calls.
macro_rules! each {
    ($r:ident => $value:expr) => {
        [
            {
                let $r = 0;
                $value
            },
            {
                let $r = 1;
                $value
            },
            {
                let $r = 2;
                $value
            },
            {
                let $r = 3;
                $value
            },
            {
                let $r = 4;
                $value
            },
            {
                let $r = 5;
                $value
            },
        ]
    };
}

impl<I: Isa> Crossing<I> {
    fn new(
        sources: &[[Source; GROUP]],
        classes: &[[u8; GROUP]],
        rows: &[ByParity<CrossRow>],
    ) -> Crossing<I> {
        let groups = sources.iter().zip(classes);
        Crossing {
            groups: groups
                .map(|(&sources, &classes)| CrossingGroup { sources, classes })
                .collect(),
            rows: rows.iter().map(|row| both(row, I::cross_row)).collect(),
        }
    }
}

fn both<A, B>(rows: &ByParity<A>, translate: impl Fn(&A) -> B) -> ByParity<B> {
    [translate(&rows[0]), translate(&rows[1])]
}

/// A block to compute, checked.
pub(super) struct Work<'a> {
    pub cur: *const Register,
    pub next: *mut Register,
    pub own: usize,
    pub register: u64,
    pub parity: usize,
    pub sources: &'a [usize],
    pub downs: &'a [usize],
    pub live: &'a [bool],
    pub carried: *const Register,
    pub ahead: &'a [usize],
}

/// The address of a source register.
///
/// # Safety
/// The slot is one of the block's, the register within a block.
#[inline(always)]
unsafe fn at(cur: *const Register, slots: *const usize, source: Source) -> *const Register {
    // SAFETY: the caller's promise.
    unsafe { cur.add(*slots.add(usize::from(source.slot)) + usize::from(source.register)) }
}

/// Most transfers of a program: distinct windows between two classes.
pub(super) const MAX_OPS: usize = 64;

/// How many groups ahead the sources of runs are fetched: they lie in several blocks, where the
/// processor does not see them coming.
const AHEAD: usize = 8;

/// Computes a block.
///
/// # Safety
/// The processor supports the instruction set; `work.next` and every source block of `work.cur` hold a
/// block of registers; `work.sources`, `work.downs` and `work.live` fit the gather tables, which were
/// checked to stay within blocks and slots; `work.carried` holds a block for each carried transfer.
#[inline(always)]
pub(super) unsafe fn step<I: Isa>(ready: &Ready<I>, work: &Work<'_>) -> Tally {
    let groups = ready.parities.len();
    let mut live = [0u8; MAX_OPS];
    let mut ops = 0;
    for (i, _) in work.live.iter().enumerate().filter(|(_, live)| **live) {
        live[ops] = i as u8;
        ops += 1;
    }
    let live = &live[..ops];
    // SAFETY: see the function's contract; every pointer below is a source or target register of the
    // block that `Program::step` has bounds-checked, plus an offset that `check` has.
    unsafe {
        let own = work.cur.add(work.own);
        let mut sums = I::sums();
        for group in 0..groups {
            let first = group * GROUP;
            let parity = work.parity ^ usize::from(*ready.parities.get_unchecked(group));
            for &block in work.ahead {
                let source = work.cur.wrapping_add(block + first);
                let _ = each!(r => I::prefetch(source.wrapping_add(r)));
            }
            if !work.ahead.is_empty() {
                let next = work.next.wrapping_add(groups * GROUP + first);
                let _ = each!(r => I::prefetch(next.wrapping_add(r)));
            }
            let mut acc = [I::zero(); GROUP];
            for &i in live {
                let op = ready.ops.get_unchecked(usize::from(i));
                let slots = work.sources.as_ptr().add(op.slot);
                let row = *work.downs.get_unchecked(usize::from(i)) * groups + group;
                // Every arm hands over its registers by value, so that they and `acc` stay in registers.
                match &op.shape {
                    ReadyShape::Own => {
                        op.join(&mut acc, each!(r => I::load(own.add(first + r))));
                    }
                    ReadyShape::Lanes(rows) => op.join(
                        &mut acc,
                        each!(r => {
                            let row = rows.get_unchecked(parity ^ (r & 1));
                            I::permute(row, I::load(own.add(first + r)))
                        }),
                    ),
                    ReadyShape::Block => {
                        let source = work.cur.add(*slots + first);
                        op.join(&mut acc, each!(r => I::load(source.add(r))));
                    }
                    ReadyShape::Carried(index) => {
                        let source = work.carried.add(index * groups * GROUP + first);
                        op.join(&mut acc, each!(r => I::load(source.add(r))));
                    }
                    ReadyShape::Runs(runs) => {
                        if let Some(&later) = runs.get(row + AHEAD) {
                            let source = at(work.cur, slots, later);
                            let _ = each!(r => I::prefetch(source.wrapping_add(r)));
                        }
                        let source = at(work.cur, slots, *runs.get_unchecked(row));
                        op.join(&mut acc, each!(r => I::load(source.add(r))));
                    }
                    ReadyShape::Copies(sixes) => {
                        let six = sixes.get_unchecked(row);
                        op.join(&mut acc, each!(r => I::load(at(work.cur, slots, six[r]))));
                    }
                    ReadyShape::Shared(crossing) => {
                        let g = crossing.groups.get_unchecked(row);
                        let six = each!(r => I::load(at(work.cur, slots, g.sources[r])));
                        op.join(
                            &mut acc,
                            each!(r => {
                                let rows = crossing.rows.get_unchecked(usize::from(g.classes[r]));
                                I::select(rows.get_unchecked(parity ^ (r & 1)), &six)
                            }),
                        );
                    }
                    ReadyShape::Strided(crossing) => {
                        let g = crossing.groups.get_unchecked(row);
                        op.join(
                            &mut acc,
                            each!(r => {
                                let source = at(work.cur, slots, g.sources[r]);
                                let six = each!(s => I::load(source.add(s)));
                                let rows = crossing.rows.get_unchecked(usize::from(g.classes[r]));
                                I::select(rows.get_unchecked(parity ^ (r & 1)), &six)
                            }),
                        );
                    }
                    ReadyShape::Scattered { ends, pieces, rows } => op.join(
                        &mut acc,
                        each!(r => {
                            let index = row * GROUP + r;
                            let begin = if index == 0 { 0 } else { ends[index - 1] };
                            let pieces = &pieces[begin as usize..ends[index] as usize];
                            let mut value = I::zero();
                            for &(source, row) in pieces {
                                let row = &rows[usize::from(row)][parity ^ (r & 1)];
                                let part = I::load(at(work.cur, slots, source));
                                value = I::or(value, I::permute(row, part));
                            }
                            value
                        }),
                    ),
                }
            }
            for r in 0..GROUP {
                let next = work.next.add(first + r);
                let value = I::and_not(acc[r], I::load(next));
                I::store(next, value);
                sums = I::add(
                    sums,
                    checksum::mix(work.register + (first + r) as u64),
                    value,
                );
            }
        }
        I::total(sums)
    }
}
