//! Rows of 60 lanes, one lane after the other.

use crate::perm::layout::{LANES, Register};
use crate::store::codec::rans_table::{RansStreams, Read, RowSource, RowTarget, SymbolTable};

/// Encodes all rows, from the last to the first.
pub(crate) fn encode(source: &impl RowSource, to: &mut RansStreams) {
    for i in (0..source.rows()).rev() {
        let (row, table) = source.row(i);
        encode_row(row, table, i % 2, to);
    }
}

/// Decodes all rows.
pub(crate) fn decode(target: &mut impl RowTarget, from: &mut Read) {
    for i in 0..target.rows() {
        let (row, table) = target.row(i);
        decode_row(row, table, i % 2, from);
    }
}

/// Writes how many bytes of each register are not 0.
pub(crate) fn count_held(registers: &[Register], held: &mut [u8]) {
    for (register, held) in registers.iter().zip(held) {
        *held = register.iter().map(|&byte| u8::from(byte != 0)).sum();
    }
}

/// Writes the bytes of a register that are not 0 to the front of `to`, and anything behind them.
pub(crate) fn gather_held(register: &Register, to: &mut Register) {
    let mut at = 0;
    for &byte in register {
        to[at.min(63)] = byte;
        at += usize::from(byte != 0);
    }
}

/// Writes the numbers of the bytes that are 0, or of the others.
pub(crate) fn list(bytes: &[u8], zeros: bool, to: &mut Vec<u32>) {
    to.resize(bytes.len() + 1, 0);
    let mut next = 0;
    for (i, &byte) in bytes.iter().enumerate() {
        to[next] = i as u32;
        next += usize::from((byte == 0) == zeros);
    }
    to.truncate(next);
}

fn encode_row(row: &Register, table: &SymbolTable, set: usize, to: &mut RansStreams) {
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

fn decode_row(row: &mut Register, table: &SymbolTable, set: usize, from: &mut Read) {
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
