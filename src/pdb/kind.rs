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
}

names! { Kind:
    "additive-min" = Minimum, "One value per placement: the minimum over the cells of the blank";
    "region-aware" = Regions, "One value per placement and region of the blank";
}

/// How values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// One byte per entry.
    Byte,
    /// Four bits per entry: (value - Manhattan distance) / 2.
    Nibble,
}

names! { Encoding:
    "byte" = Byte, "One byte per entry";
    "nibble" | "packed" = Nibble, "Four bits per entry: (value - Manhattan distance) / 2";
}
