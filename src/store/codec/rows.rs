//! Rows of 60 lanes: one symbol for each of 60 coders of asymmetric numeral systems.
//!
//! Invariant: a lane's state is 256 to 65535, low and high byte apart. Decoding a symbol gives up the slot, its low
//! byte; a state that falls below 256 takes a byte of the stream, lanes in order. Encoding does the same backwards: rows,
//! lanes and bytes from the last to the first. All kernels are equal bit for bit.

#![allow(unsafe_code)]

use super::bytes::{Backward, Forward};
use super::rows_avx512 as avx512;
use super::table::Table;
use crate::perm::kernel::Kernel;
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

/// Encodes all rows, from the last to the first.
pub(super) fn encode(kernel: Kernel, source: &impl Source, mut to: Written) {
    #[cfg(target_arch = "x86_64")]
    if kernel == Kernel::Avx512 {
        // SAFETY: the kernel is one of this processor's.
        return unsafe { avx512::encode(source, &mut to) };
    }
    let _ = kernel;
    for i in (0..source.rows()).rev() {
        let (row, table) = source.row(i);
        encode_row(row, table, i % 2, &mut to);
    }
}

/// Decodes all rows.
pub(super) fn decode(kernel: Kernel, target: &mut impl Target, mut from: Read) {
    #[cfg(target_arch = "x86_64")]
    if kernel == Kernel::Avx512 {
        // SAFETY: the kernel is one of this processor's.
        return unsafe { avx512::decode(target, &mut from) };
    }
    let _ = kernel;
    for i in 0..target.rows() {
        let (row, table) = target.row(i);
        decode_row(row, table, i % 2, &mut from);
    }
}

/// Writes how many bytes of each register are not 0.
pub(super) fn count_held(kernel: Kernel, registers: &[Register], held: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if kernel == Kernel::Avx512 {
        // SAFETY: the kernel is one of this processor's.
        return unsafe { avx512::count_held(registers, held) };
    }
    let _ = kernel;
    for (register, held) in registers.iter().zip(held) {
        *held = register.iter().map(|&byte| u8::from(byte != 0)).sum();
    }
}

/// Writes the bytes of a register that are not 0 to the front of `to`, and anything behind them.
pub(super) fn gather_held(kernel: Kernel, register: &Register, to: &mut Register) {
    #[cfg(target_arch = "x86_64")]
    if kernel == Kernel::Avx512 {
        // SAFETY: the kernel is one of this processor's.
        return unsafe { avx512::gather_held(register, to) };
    }
    let _ = kernel;
    let mut at = 0;
    for &byte in register {
        to[at.min(63)] = byte;
        at += usize::from(byte != 0);
    }
}

fn encode_row(row: &Register, table: &Table, set: usize, to: &mut Written) {
    let states = &mut to.states[set];
    for lane in (0..LANES).rev() {
        let index = usize::from(table.index[usize::from(row[lane])]);
        if index == 0 {
            to.escaped.push(row[lane]);
        }
        let share = u16::from(table.share[index]);
        let mut state = u16::from_le_bytes([states.low[lane], states.high[lane]]);
        if state >> 8 >= share {
            to.stream.push(state as u8);
            state >>= 8;
        }
        states.low[lane] = (state % share) as u8 + table.start[index];
        states.high[lane] = (state / share) as u8;
    }
}

fn decode_row(row: &mut Register, table: &Table, set: usize, from: &mut Read) {
    let states = &mut from.states[set];
    row[LANES..].fill(0);
    for lane in 0..LANES {
        let slot = states.low[lane];
        let index = usize::from(table.index[usize::from(slot)] % 64);
        row[lane] = table.symbol[index];
        if index == 0 {
            row[lane] = from.escaped.peek();
            from.escaped.at += 1;
        }
        let within = slot.wrapping_sub(table.start[index]);
        let share = u16::from(table.share[index]);
        let state = (share * u16::from(states.high[lane])).wrapping_add(u16::from(within));
        // No branch: whether a byte comes in cannot be foreseen.
        let less = state < 256;
        let more = state << 8 | u16::from(from.stream.peek());
        let state = if less { more } else { state };
        from.stream.at += usize::from(less);
        [states.low[lane], states.high[lane]] = state.to_le_bytes();
    }
}
