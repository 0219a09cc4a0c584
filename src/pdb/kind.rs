//! What an entry of a database is a value of, and how it is stored.

use crate::names::names;

/// What an entry is a value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One value per placement of the tiles: the minimum over the cells of the blank (Korf and Felner).
    /// Admissible, not consistent: a move may change it by more than one.
    Minimum,
    /// One value per placement and connected region of the blank: at least as large, and consistent
    /// (Clausecker and Reinefeld).
    Regions,
    /// One value per placement of the tiles and the blank, which is the pattern's tile 0: the fewest moves of any tile.
    /// Consistent, not additive: of several such values the largest counts (Culberson and Schaeffer 1998).
    AllMoves,
}

names! { Kind:
    "additive-min" = Minimum, "One value per placement: the minimum over the cells of the blank";
    "region-aware" = Regions, "One value per placement and region of the blank";
    "all-moves" = AllMoves, "One value per placement and cell of the blank, every move counted: not additive, five to seven tiles";
}

/// How values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// One byte per entry.
    Byte,
    /// Four bits per entry: (value - Manhattan distance) / 2.
    Nibble,
    /// One bit per entry, region-aware values only: (value div 2) mod 2. With the parity of the cells it tells
    /// which way the value of a neighbour differs, so that values are carried along, or found by walking home.
    Bit,
}

names! { Encoding:
    "byte" = Byte, "One byte per entry";
    "nibble" | "packed" = Nibble, "Four bits per entry: (value - Manhattan distance) / 2";
    "bit" = Bit, "One bit per entry, region-aware only: (value div 2) mod 2";
}

impl Kind {
    /// Returns the encodings that hold values of this kind.
    pub fn encodings(self) -> &'static [Encoding] {
        match self {
            // Values of neighbours differ by any odd number: one bit does not tell by which.
            Kind::Minimum => &[Encoding::Byte, Encoding::Nibble],
            Kind::Regions => &Encoding::ALL,
            Kind::AllMoves => &[Encoding::Byte],
        }
    }
}
