//! Where the entry of a state lies.
//!
//! Invariant: the entries of a line's cells are together, in the order of the cells, and begin with a byte
//! of their own.

use crate::bfs::State;
use crate::names::names;

/// The entry of a state that was not reached, modulo 3.
const UNKNOWN: u8 = 3;
/// The byte of states that were not reached, in any encoding.
pub(super) const UNREACHED: u8 = 0xff;
/// The largest depth.
pub(super) const MAX_DEPTH: usize = 254;

/// How depths are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Two bits per state: the depth modulo 3, or 3 for a state that was not reached.
    Mod3,
    /// One byte per state: the depth, or 255 for a state that was not reached.
    Byte,
}

names! { Encoding:
    "mod3" = Mod3, "Two bits per state: the depth modulo 3";
    "byte" = Byte, "One byte per state: the depth";
}

/// The shape of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Entries of a line.
    pub cells: usize,
    /// The number of lines.
    pub lines: u64,
    pub encoding: Encoding,
}

impl Shape {
    /// The bytes of a line.
    pub fn stride(self) -> usize {
        match self.encoding {
            Encoding::Mod3 => self.cells.div_ceil(4),
            Encoding::Byte => self.cells,
        }
    }

    /// The bytes of all lines.
    pub fn bytes(self) -> u64 {
        self.lines * self.stride() as u64
    }

    /// The byte that the entry of a state lies in.
    pub fn place(self, state: State) -> u64 {
        let cell = match self.encoding {
            Encoding::Mod3 => state.cell / 4,
            Encoding::Byte => state.cell,
        };
        state.line * self.stride() as u64 + cell as u64
    }

    /// The entry of a state in its byte: its depth or the remainder; none when it was not reached.
    pub fn decode(self, byte: u8, state: State) -> Option<u8> {
        match self.encoding {
            Encoding::Mod3 => Some(byte >> (2 * (state.cell % 4)) & 3).filter(|&e| e != UNKNOWN),
            Encoding::Byte => Some(byte).filter(|&e| e != UNREACHED),
        }
    }

    /// Sets the entry of a state that was not reached before.
    pub fn set(self, data: &mut [u8], state: State, depth: usize) {
        let byte = &mut data[self.place(state) as usize];
        match self.encoding {
            Encoding::Mod3 => {
                let shift = 2 * (state.cell % 4);
                *byte = *byte & !(3 << shift) | ((depth % 3) as u8) << shift;
            }
            Encoding::Byte => *byte = depth as u8,
        }
    }
}
