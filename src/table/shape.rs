//! Where the entry of a state lies.
//!
//! Invariant: the entries of a line's cells are together, in the order of the cells, and begin with a byte
//! of their own.

use super::Encoding;
use crate::bfs::State;
use crate::perm::lehmer;
use crate::puzzle::tiles::Size;

/// The entry of a state that was not reached, modulo 3.
const UNKNOWN: u8 = 3;
/// The byte of states that were not reached, in any encoding.
pub(super) const BLANK: u8 = 0xff;
/// The largest depth.
pub(super) const MAX_DEPTH: usize = 254;

/// The shape of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub size: Size,
    pub encoding: Encoding,
}

impl Shape {
    /// The number of lines.
    pub fn lines(self) -> u64 {
        lehmer::even_count(self.size.tiles())
    }

    /// The bytes of a line.
    pub fn stride(self) -> usize {
        match self.encoding {
            Encoding::Mod3 => self.size.cells().div_ceil(4),
            Encoding::Byte => self.size.cells(),
        }
    }

    /// The bytes of all lines.
    pub fn bytes(self) -> u64 {
        self.lines() * self.stride() as u64
    }

    /// The entry of a state: its depth or the remainder; none when it was not reached.
    pub fn get(self, data: &[u8], state: State) -> Option<u8> {
        let line = state.line as usize * self.stride();
        match self.encoding {
            Encoding::Mod3 => {
                let entry = data.get(line + state.cell / 4)? >> (2 * (state.cell % 4)) & 3;
                (entry != UNKNOWN).then_some(entry)
            }
            Encoding::Byte => data.get(line + state.cell).copied().filter(|&b| b != BLANK),
        }
    }

    /// Sets the entry of a state that was not reached before.
    pub fn set(self, data: &mut [u8], state: State, depth: usize) {
        let line = state.line as usize * self.stride();
        match self.encoding {
            Encoding::Mod3 => {
                let shift = 2 * (state.cell % 4);
                let byte = &mut data[line + state.cell / 4];
                *byte = *byte & !(3 << shift) | ((depth % 3) as u8) << shift;
            }
            Encoding::Byte => data[line + state.cell] = depth as u8,
        }
    }
}
