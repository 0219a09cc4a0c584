//! Spreading over arrangements: one level of a search whose states are (set, arrangement, bit).
//!
//! Invariant: `seen` only grows. A lane of a target gains the bits that moves bring from the sources'
//! `seen` bytes; because a source slice is skipped when it has not changed since the target last read it,
//! every bit is brought exactly when its level comes.

use rayon::prelude::*;

use super::gain::{Ready, Run};
use super::{Kernel, KernelError, scalar::Scalar};
use crate::perm::arrangement::{Arrangements, Shift};
use crate::perm::layout::Register;

/// A move into a set of positions: one thing comes from another set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The source set.
    pub source: u32,
    /// Number of the shift of positions, see [`Arrangements::shift`].
    pub shift: u8,
    /// Source bit.
    pub from: u8,
    /// Target bit.
    pub to: u8,
}

/// The moves into all sets of one class from the sets of the other.
#[derive(Clone, Debug)]
pub struct Moves {
    layout: Arrangements,
    pub(super) sources: usize,
    pub(super) ends: Vec<u32>,
    pub(super) moves: Vec<Move>,
}

/// Most moves into a set: eight things with at most four free neighbours each.
pub(super) const MAX_MOVES: usize = 32;

impl Moves {
    /// Returns the moves into sets 0, 1, .. given as one list per set, from `sources` source sets.
    ///
    /// # Panics
    /// When a source, a shift or a bit does not exist, or a set has more than 32 moves.
    pub fn new(
        layout: Arrangements,
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
                    && usize::from(m.shift) < layout.shifts()
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

    /// Returns the number of source sets.
    pub fn sources(&self) -> usize {
        self.sources
    }

    /// Returns the moves into a set.
    pub fn of(&self, set: usize) -> &[Move] {
        let begin = if set == 0 { 0 } else { self.ends[set - 1] };
        &self.moves[begin as usize..self.ends[set] as usize]
    }

    /// Returns the bytes of the table.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&*self.moves) + size_of_val(&*self.ends)) as u64
    }
}

/// Where first visits are written.
pub enum Marks<'a> {
    /// A byte per lane: the level at which any bit is first set. As many registers as `seen`.
    First(&'a mut [Register]),
    /// A byte per lane and bit: for each set of the stretch its bits in turn, a slice of registers each.
    PerBit {
        /// The registers.
        values: &'a mut [Register],
        /// First bit slot of each set of the class, and one more for the end.
        slots: &'a [u32],
    },
}

/// Flag of a slice of a set: it gained bits at this level.
pub const CHANGED: u8 = 1;
/// Flag of a slice of a set: all lanes have all bits, nothing can be gained.
pub const FULL: u8 = 2;

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
    /// Flags of the stretch's sets.
    pub flags: &'a mut [u8],
    /// First visits of the stretch.
    pub marks: Marks<'a>,
    /// What to write for a first visit.
    pub level: u8,
}

/// The tables of all shifts for one kernel.
pub struct Spread {
    layout: Arrangements,
    run: Box<dyn Run>,
}

impl Spread {
    /// Returns the tables for arrangements of k things.
    ///
    /// Cost: 50 ms for eight things, less for fewer.
    ///
    /// # Errors
    /// [`KernelError::Unsupported`] when this processor cannot run the kernel.
    pub fn new(kernel: Kernel, layout: Arrangements) -> Result<Spread, KernelError> {
        if !kernel.is_supported() {
            return Err(KernelError::Unsupported(kernel));
        }
        let shifts: Vec<Shift> = (0..layout.shifts())
            .into_par_iter()
            .map(|shift| Shift::new(layout, shift))
            .collect();
        let run: Box<dyn Run> = match kernel {
            Kernel::Scalar => Box::new(Ready::<Scalar>::new(layout, &shifts)),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => Box::new(Ready::<super::avx2::Avx2>::new(layout, &shifts)),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => Box::new(Ready::<super::avx512::Avx512>::new(layout, &shifts)),
            #[cfg(not(target_arch = "x86_64"))]
            _ => return Err(KernelError::Unsupported(kernel)),
        };
        Ok(Spread { layout, run })
    }

    /// Returns the slices of a target that a move may bring bits to, given the changed slices of its
    /// source. May return too many, never too few.
    #[inline]
    pub fn reaches(&self, shift: u8, changed: u64) -> u64 {
        let reached = if self.layout.keeps_slices(usize::from(shift)) {
            changed
        } else {
            u64::MAX
        };
        if changed == 0 { 0 } else { reached }
    }

    /// Brings the bits of one level into a stretch and returns the number of first visits.
    ///
    /// # Panics
    /// When the lengths of the stretch do not fit the layout and the moves.
    pub fn run(&self, moves: &Moves, stretch: Stretch<'_>) -> u64 {
        let unit = self.layout.slice_registers();
        let (targets, sources) = (moves.targets(), moves.sources());
        let sets = stretch.flags.len();
        let last = stretch.first + sets;
        assert_eq!(moves.layout, self.layout);
        assert!(stretch.slice < self.layout.slices() && last <= targets);
        assert_eq!(stretch.source.len(), sources * unit * self.layout.slices());
        assert_eq!(stretch.changed.len(), sources);
        assert_eq!((stretch.live.len(), stretch.bits.len()), (targets, targets));
        assert_eq!(stretch.seen.len(), sets * unit);
        match &stretch.marks {
            Marks::First(values) => assert_eq!(values.len(), sets * unit),
            Marks::PerBit { values, slots } => {
                assert_eq!(slots.len(), targets + 1);
                let own = &slots[stretch.first..=last];
                let enough = own
                    .windows(2)
                    .zip(&stretch.bits[stretch.first..])
                    .all(|(s, bits)| s[0] <= s[1] && s[1] - s[0] == bits.count_ones());
                let count = (own[sets] - own[0]) as usize;
                assert!(enough && values.len() == count * unit, "a slot per bit");
            }
        }
        // SAFETY: lengths were checked above, sources and shifts by `Moves::new`, support by `new`; the
        // tables are built for this layout and name existing slices and registers only.
        unsafe { self.run.run(moves, stretch) }
    }
}
