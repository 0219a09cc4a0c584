//! One level of a pattern database: the sets of positions, the moves between them and what is computed.
//!
//! Invariant: a state is (set of positions, arrangement of the things on it, bit). Bytes `seen` only gain
//! bits.

use crate::perm::layout::{Layout, Register};

/// A move into a set of positions: one thing comes from another set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The source set.
    pub source: u32,
    /// Number of the shift of positions, see [`Moves::shift`].
    pub shift: u8,
    /// Source bit.
    pub from: u8,
    /// Target bit.
    pub to: u8,
}

/// The moves into all sets of one class from the sets of the other.
#[derive(Clone, Debug)]
pub struct Moves {
    pub(super) layout: Layout,
    pub(super) sources: usize,
    ends: Vec<u32>,
    moves: Vec<Move>,
}

/// Most moves into a set: eight things with at most four free neighbours each.
pub(super) const MAX_MOVES: usize = 32;

impl Moves {
    /// Returns the number of the shift that takes the thing at position `from` of a source line to
    /// position `to` of the target line, all others keeping their order.
    pub fn shift(layout: Layout, from: usize, to: usize) -> usize {
        to * layout.len() + from
    }

    /// Returns the moves into sets 0, 1, .. given as one list per set, from `sources` source sets.
    ///
    /// # Panics
    /// When a source, a shift or a bit does not exist, or a set has more than 32 moves.
    pub fn new(
        layout: Layout,
        sources: usize,
        lists: impl IntoIterator<Item = impl AsRef<[Move]>>,
    ) -> Moves {
        let (mut ends, mut moves) = (Vec::new(), Vec::<Move>::new());
        for list in lists {
            let begin = moves.len();
            moves.extend_from_slice(list.as_ref());
            let list = &mut moves[begin..];
            assert!(list.len() <= MAX_MOVES, "a set has few moves");
            let fits = |m: &Move| {
                (m.source as usize) < sources
                    && usize::from(m.shift) < layout.len() * layout.len()
                    && m.from < 8
                    && m.to < 8
            };
            assert!(list.iter().all(fits), "moves fit the layout");
            // Moves that share their bits stand together, plain copies first.
            let copies = |m: &Move| usize::from(m.shift).is_multiple_of(layout.len() + 1);
            list.sort_by_key(|m| (m.to, m.from, !copies(m), m.shift, m.source));
            ends.push(u32::try_from(moves.len()).expect("moves of all sets fit 32 bits"));
        }
        Moves {
            layout,
            sources,
            ends,
            moves,
        }
    }

    /// Returns the number of target sets.
    pub fn targets(&self) -> usize {
        self.ends.len()
    }

    /// Returns the moves into a set.
    #[inline(always)]
    pub fn of(&self, set: usize) -> &[Move] {
        let begin = set.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.moves[begin as usize..self.ends[set] as usize]
    }
}

/// Where first visits are written.
pub enum FirstVisits<'a> {
    /// A byte per lane: the level at which any bit is first set. As many registers as `seen`.
    Any(&'a mut [Register]),
    /// A byte per lane and bit: for each set of the stretch its bits in turn, a slice of registers each.
    PerBit {
        /// The registers.
        values: &'a mut [Register],
        /// First bit slot of each set of the class, and one more for the end.
        slots: &'a [u32],
    },
}

/// Consecutive sets of one slice, to be computed for one level.
pub struct Stretch<'a> {
    /// The slice.
    pub slice: usize,
    /// The first set.
    pub first: usize,
    /// `seen` registers of the whole source class: slice by slice, set by set.
    pub source: &'a [Register],
    /// For each source set the slices that changed at the level before, as a bit mask.
    pub changed: &'a [u64],
    /// For each set of the class the slices that may gain bits, as a bit mask.
    pub live: &'a [u64],
    /// For each set of the class all its bits.
    pub bits: &'a [u8],
    /// `seen` registers of the stretch.
    pub seen: &'a mut [Register],
    /// Flags of the stretch's sets, see [`Stretch::CHANGED`] and [`Stretch::FULL`].
    pub flags: &'a mut [u8],
    /// First visits of the stretch.
    pub first_visits: FirstVisits<'a>,
    /// What to write for a first visit.
    pub level: u8,
}

impl Stretch<'_> {
    /// Flag of a slice of a set: it gained bits at this level.
    pub const CHANGED: u8 = 1;
    /// Flag of a slice of a set: all lanes have all bits, nothing can be gained.
    pub const FULL: u8 = 2;
}
