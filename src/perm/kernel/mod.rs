//! The kernels: one contract, several instruction sets.
//!
//! Invariant: all kernels return the same bytes, counts and checksums for the same block. What a kernel
//! computes is written once, over the operations on registers that an instruction set offers (`isa`):
//! `gather` brings registers from where the tables say; `step` makes the next level of a search of
//! them, `pattern_step` first visits of a pattern database, `slot_step` the same of one bit a line.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bits;
mod choice;
mod gather;
mod isa;
mod moves;
mod pattern;
mod pattern_step;
mod plane;
mod prefetch;
mod program;
mod rule;
mod run;
mod scalar;
mod slot_step;
mod step;

pub use bits::{BitPiece, BitRow, gather_bits, scatter_bits, take_bits};
pub use choice::{Kernel, KernelError};
pub use gather::Word;
pub use isa::Tally;
pub use moves::{FirstVisits, Move, Moves, Stretch};
pub use pattern::PatternStep;
pub use plane::{collect, join_planes, split_planes, spread};
pub use prefetch::prefetch;
pub use program::{Block, Program, Transfer};
pub use rule::Rule;
pub use slot_step::SlotStretch;
