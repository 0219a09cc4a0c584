//! Rows of 60 lanes: one symbol for each of 60 coders of asymmetric numeral systems.
//!
//! Invariant: a lane's state is 256 to 65535, low and high byte apart. Decoding a symbol gives up the slot, its low
//! byte; a state that falls below 256 takes a byte of the stream, lanes in order. Encoding does the same backwards: rows,
//! lanes and bytes from the last to the first. All kernels are equal bit for bit.

use super::bytes::{Backward, Forward};
use super::table::Table;
use crate::perm::layout::{LANES, Register};

/// Which lanes hold lines.
pub(super) const HELD: u64 = (1 << LANES) - 1;

/// The states of 60 lanes.
#[derive(Clone, Copy)]
pub(super) struct States {
    pub low: Register,
    pub high: Register,
}

impl States {
    /// Where encoding begins and decoding ends.
    pub const FIRST: States = States {
        low: [0; 64],
        high: [1; 64],
    };

    /// Whether decoding has come to where encoding began.
    pub fn are_first(&self) -> bool {
        self.low[..LANES] == States::FIRST.low[..LANES]
            && self.high[..LANES] == States::FIRST.high[..LANES]
    }
}

/// What is encoded: rows, each with its table. Even and odd rows have states of their own, so that the processor works at
/// two at a time.
pub(super) trait Source {
    fn rows(&self) -> usize;
    fn row(&self, i: usize) -> (&Register, &Table);
}

/// What is decoded.
pub(super) trait Target {
    fn rows(&self) -> usize;
    fn row(&mut self, i: usize) -> (&mut Register, &Table);
}

/// The streams that rows are encoded to: bytes of states, and symbols that have no share of their own.
pub(super) struct Written<'a> {
    pub states: &'a mut [States; 2],
    pub stream: &'a mut Backward,
    pub escaped: &'a mut Backward,
}

/// The streams that rows are decoded from.
pub(super) struct Read<'a, 'b> {
    pub states: &'a mut [States; 2],
    pub stream: &'a mut Forward<'b>,
    pub escaped: &'a mut Forward<'b>,
}
