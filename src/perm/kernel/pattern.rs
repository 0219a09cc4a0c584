//! The pattern step made ready for a kernel, and its safe entry point.

use rayon::prelude::*;

use std::sync::Arc;

use super::choice::{Kernel, KernelError};
use super::moves::{FirstVisits, Moves, Stretch};
use super::pattern_step::Slice;
use super::run::{Run, ready};
use super::slot_step::SlotStretch;
use crate::perm::gather::Gather;
use crate::perm::layout::Layout;
use crate::perm::lehmer::MAX_LEN;
use crate::puzzle::Window;

/// The tables of all shifts of positions for one kernel.
pub struct PatternStep {
    layout: Layout,
    /// For each shift whether it leads from other slices.
    far: Vec<bool>,
    slices: Vec<Slice>,
    run: Box<dyn Run>,
}

impl PatternStep {
    /// Returns the tables for the lines of a layout in slices.
    ///
    /// Cost: 50 ms for eight things, less for fewer.
    ///
    /// # Errors
    /// [`KernelError::Unsupported`] when this processor cannot run the kernel.
    ///
    /// # Panics
    /// When the layout is not in slices, see [`Layout::sliced`].
    pub fn new(kernel: Kernel, layout: Layout) -> Result<PatternStep, KernelError> {
        let k = layout.len();
        assert_eq!(Layout::sliced(k), Some(layout), "patterns lie in slices");
        let gather = |shift: usize| {
            let (to, from) = (shift / k, shift % k);
            let window = match from < to {
                true => Window::rotate_left(from, to),
                false => Window::rotate_right(to, from),
            };
            Gather::new(layout, &window)
        };
        let gathers = (0..k * k).into_par_iter().map(|i| Arc::new(gather(i)));
        let gathers: Vec<Arc<Gather>> = gathers.collect();
        Ok(PatternStep {
            layout,
            far: gathers.iter().map(|g| !g.source_blocks.stays()).collect(),
            slices: (0..layout.blocks())
                .map(|slice| sources(layout, &gathers, slice))
                .collect(),
            run: ready(kernel, layout, &gathers, &vec![&[][..]; k * k])?,
        })
    }

    /// Returns the slices of a target that a move may bring bits to, given the changed slices of its
    /// source. May return too many, never too few.
    #[inline]
    pub fn reaches(&self, shift: u8, changed: u64) -> u64 {
        let all = u64::MAX >> (64 - self.layout.blocks());
        match self.far[usize::from(shift)] && changed != 0 {
            true => all,
            false => changed,
        }
    }

    /// Brings the bits of one level into a stretch and returns the number of first visits.
    ///
    /// # Panics
    /// When the lengths of the stretch do not fit the layout and the moves.
    pub fn run(&self, moves: &Moves, stretch: Stretch<'_>) -> u64 {
        let unit = self.layout.slice_registers();
        let (targets, sources) = (moves.targets(), moves.sources);
        let sets = stretch.flags.len();
        let last = stretch.first + sets;
        assert_eq!(moves.layout, self.layout);
        assert!(last <= targets);
        assert_eq!(stretch.source.len(), sources * unit * self.slices.len());
        assert_eq!(stretch.changed.len(), sources);
        assert_eq!((stretch.live.len(), stretch.bits.len()), (targets, targets));
        assert_eq!(stretch.seen.len(), sets * unit);
        let per_bit = match &stretch.first_visits {
            FirstVisits::Any(values) => {
                assert_eq!(values.len(), sets * unit);
                None
            }
            FirstVisits::PerBit { values, slots } => Some((values.len(), slots)),
        };
        if let Some((len, slots)) = per_bit {
            assert_eq!(slots.len(), targets + 1);
            let own = &slots[stretch.first..=last];
            let mut pairs = own.windows(2).zip(&stretch.bits[stretch.first..]);
            let enough = pairs.all(|(s, bits)| s[0] <= s[1] && s[1] - s[0] == bits.count_ones());
            let count = (own[sets] - own[0]) as usize;
            assert!(enough && len == count * unit, "a slot per bit");
        }
        let slice = &self.slices[stretch.slice];
        // SAFETY: lengths were checked above, sources and shifts by `Moves::new`, support and tables by
        // `ready`; the layout is in slices.
        unsafe { self.run.pattern_step(slice, moves, stretch) }
    }

    /// Brings the bits of one level into a stretch of slots, whose moves all are of bit 0; returns the number of
    /// first visits.
    ///
    /// # Panics
    /// When the lengths of the stretch do not fit the layout and the moves.
    pub fn run_slots(&self, moves: &Moves, stretch: SlotStretch<'_>) -> u64 {
        let unit = self.layout.slice_registers() * self.slices.len();
        let slots = stretch.full.len();
        assert_eq!(moves.layout, self.layout);
        assert!(stretch.first + slots <= moves.targets());
        assert_eq!(stretch.source.len(), moves.sources * unit);
        assert_eq!(stretch.changed.len(), moves.sources);
        assert_eq!(stretch.seen.len(), slots * unit);
        assert_eq!(stretch.gained.len(), slots);
        assert!(stretch.marks.is_empty() || stretch.marks.len() == slots * unit);
        // SAFETY: lengths were checked above, sources and shifts by `Moves::new`, support and tables by
        // `ready`; the layout is in slices.
        unsafe { self.run.slot_step(&self.slices, moves, stretch) }
    }
}

/// Works out the sources of a slice.
fn sources(layout: Layout, gathers: &[Arc<Gather>], slice: usize) -> Slice {
    let mut digits = [0; MAX_LEN];
    layout.block_digits(slice, &mut digits);
    let mut found = Slice {
        parity: layout.block_parity(slice),
        sources: Vec::new(),
        words: Vec::new(),
        variants: Vec::new(),
        needs: Vec::new(),
    };
    for gather in gathers {
        let mut slices = vec![0; gather.source_blocks.count()];
        let variant = gather.source_blocks.find(slice, &digits, &mut slices);
        found.variants.push(variant);
        found
            .needs
            .push(slices.iter().fold(0, |set, slice| set | 1 << slice));
        found.sources.extend(slices);
    }
    let unit = layout.slice_registers();
    found.words = found.sources.iter().map(|slice| slice * unit).collect();
    found
}
