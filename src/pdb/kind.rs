//! What an entry of a database is a value of, and how it is stored.

use std::fmt;

/// What an entry is a value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One value per placement of the tiles: the minimum over the cells of the blank (Korf and Felner).
    /// Admissible, not consistent: a move may change it by more than one.
    Minimum,
    /// One value per placement and connected region of the blank: at least as large, and consistent
    /// (Clausecker and Reinefeld).
    Regions,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 2] = [Kind::Minimum, Kind::Regions];

    /// Returns the name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Minimum => "additive-min",
            Kind::Regions => "region-aware",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// One byte per entry.
    Byte,
    /// Four bits per entry: (value - Manhattan distance) / 2.
    Nibble,
}

impl Encoding {
    /// All encodings.
    pub const ALL: [Encoding; 2] = [Encoding::Byte, Encoding::Nibble];

    /// Returns the name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Byte => "byte",
            Encoding::Nibble => "nibble",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
