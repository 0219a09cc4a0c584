//! The kernels: one contract, several instruction sets.
//!
//! Invariant: all kernels return the same bytes, counts and checksums for the same block. What a kernel
//! computes is written once, over the operations on registers that an instruction set offers (`isa`):
//! `gather` brings registers from where the tables say; `step` makes the next level of a search of
//! them, `pattern_step` first visits of a pattern database.

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
mod step;

pub use bits::{BitPiece, BitRow, gather_bits, scatter_bits, take_bits};
pub use choice::{Kernel, KernelError};
pub use isa::Tally;
pub use moves::{FirstVisits, Move, Moves, Stretch};
pub use pattern::PatternStep;
pub use plane::{collect, spread};
pub use prefetch::prefetch;
pub use program::{Block, Program, Transfer};
pub use rule::Rule;
