//! The fast builder: whole levels by streaming over registers of 60 arrangements.
//!
//! Invariant: a state is a set of occupied cells, an arrangement of the tiles on it and a region of the
//! blank. A byte per (set, arrangement) holds the regions reached so far, a bit each. Every tile move
//! changes the colour of the set, so a level only adds bits to one class and only reads the other: levels
//! are in place, and a slice that did not change or is full is skipped.
//!
//! Registers are kept slice by slice, and set by set within a slice: most moves stay within a slice, and
//! the sets that a set exchanges tiles with are near it in the order of masks. So the sources of a
//! stretch of sets stay in the caches.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use super::pass::{Pass, merge};
use super::set_graph::SetGraph;
use super::{Kind, Pattern, PdbError};
use crate::perm::kernel::{Kernel, PatternStep};
use crate::perm::layout::{Layout, Place};
use crate::progress::{Level, Phase, Progress};
use crate::store::Array;

/// What the search leaves: first visits in the order of the engine.
pub(super) struct Found {
    pub layout: Layout,
    pub graph: SetGraph,
    /// Bytes seen, one array per class: no longer needed, memory to be used again.
    pub seen: [Array; 2],
    /// Levels plus one, 0 for never, both classes one after the other; per class slice by slice, and
    /// within a slice a register group per set, or per set and region.
    pub values: Array,
    /// Entries per value.
    pub histogram: Vec<u64>,
}

impl Found {
    /// The same without the memory of the bytes seen.
    pub fn without_seen(self) -> Result<Found, PdbError> {
        let seen = [Array::zeroed(0)?, Array::zeroed(0)?];
        Ok(Found { seen, ..self })
    }
}

/// Registers of the value slots of a class.
pub(super) fn class_registers(found: &SetGraph, layout: Layout, kind: Kind, class: usize) -> usize {
    slots(found, kind, class) * layout.blocks() * layout.slice_registers()
}

/// Value slots of a class: its sets, or its sets' regions.
pub(super) fn slots(graph: &SetGraph, kind: Kind, class: usize) -> usize {
    let class = &graph.classes[class];
    match kind {
        Kind::Minimum | Kind::AllMoves => class.sets.len(),
        Kind::Regions => class.slots[class.sets.len()] as usize,
    }
}

/// Searches all levels of a pattern of five tiles or more.
pub(super) fn search(
    (pattern, kind): (&Pattern, Kind),
    layout: Layout,
    kernel: Kernel,
    extra_units: u64,
    observer: &dyn Progress,
) -> Result<Found, PdbError> {
    observer.progress(Phase::Setup, 0, 1);
    let step = PatternStep::new(kernel, layout)?;
    let graph = SetGraph::new(pattern, layout);
    observer.progress(Phase::Setup, 1, 1);

    let unit = layout.slice_registers() * layout.blocks();
    let array = |class: usize| Array::zeroed((graph.classes[class].sets.len() * unit) as u64);
    let mut seen = [array(0)?, array(1)?];
    let sizes = [0, 1].map(|class| class_registers(&graph, layout, kind, class));
    let mut values = Array::zeroed((sizes[0] + sizes[1]) as u64 + extra_units)?;
    let mut flags = [0, 1].map(|c| vec![0u8; graph.classes[c].sets.len() * layout.blocks()]);
    let mut changed = [0, 1].map(|c| vec![0u64; graph.classes[c].sets.len()]);

    let start = Start::new(pattern, layout, &graph);
    let register = start.register(layout, graph.classes[start.class].sets.len(), start.set);
    seen[start.class].units_mut()[register][start.place.lane] = 1 << start.region;
    let slot = match kind {
        Kind::Minimum | Kind::AllMoves => start.set,
        Kind::Regions => graph.classes[start.class].slots[start.set] as usize + start.region,
    };
    let register = start.register(layout, slots(&graph, kind, start.class), slot);
    let first = if start.class == 0 { 0 } else { sizes[0] };
    values.units_mut()[first + register][start.place.lane] = 1;
    changed[start.class][start.set] = 1 << start.place.block;

    let mut histogram = vec![1];
    observer.level(&Level {
        depth: 0,
        states: 1,
        seconds: 0.0,
    });
    let total = match kind {
        Kind::Minimum | Kind::AllMoves => pattern.placements(),
        Kind::Regions => {
            (slots(&graph, kind, 0) + slots(&graph, kind, 1)) as u64
                * crate::perm::lehmer::count(layout.len())
        }
    };
    let (found, stopped) = (AtomicU64::new(1), AtomicBool::new(false));
    for value in 1.. {
        let begun = Instant::now();
        let class = (start.class + value) % 2;
        if value > 254 {
            return Err(PdbError::ValueTooLarge { max: 254 });
        }
        let (low, high) = values.units_mut().split_at_mut(sizes[0]);
        let [seen0, seen1] = &mut seen;
        let (own, source) = if class == 0 {
            (seen0, &*seen1)
        } else {
            (seen1, &*seen0)
        };
        let pass = Pass {
            kind,
            layout,
            step: &step,
            bits: &graph.classes[class].bits,
            slots: &graph.classes[class].slots,
            moves: &graph.classes[class].moves,
            level: value + 1,
            source: source.units(),
            changed: &changed[1 - class],
            observer,
            found: &found,
            total,
            stopped: &stopped,
        };
        let own_values = if class == 0 {
            low
        } else {
            &mut high[..sizes[1]]
        };
        let entries = pass.run(own.units_mut(), own_values, &mut flags[class]);
        if stopped.load(Ordering::Relaxed) {
            return Err(PdbError::Interrupted);
        }
        let any = merge(&flags[class], &mut changed[class]);
        if !any {
            break;
        }
        if entries > 0 {
            let seconds = begun.elapsed().as_secs_f64();
            observer.level(&Level {
                depth: value,
                states: entries,
                seconds,
            });
        }
        histogram.push(entries);
    }
    while histogram.last() == Some(&0) {
        histogram.pop();
    }
    Ok(Found {
        layout,
        graph,
        seen,
        values,
        histogram,
    })
}

/// The goal as a state of the engine.
struct Start {
    class: usize,
    set: usize,
    region: usize,
    place: Place,
}

impl Start {
    fn new(pattern: &Pattern, layout: Layout, graph: &SetGraph) -> Start {
        let home = pattern.home();
        let mask = home.iter().fold(0u64, |set, &c| set | 1 << c);
        let (class, set) = graph.find(mask);
        let mut tiles: Vec<u8> = (0..home.len() as u8).collect();
        tiles.sort_by_key(|&t| home[usize::from(t)]);
        Start {
            class,
            set,
            region: graph.grid.region_number(mask, pattern.goal().blank()),
            place: layout.place(&tiles),
        }
    }

    /// The register in an array of `slots` register groups per slice.
    fn register(&self, layout: Layout, slots: usize, slot: usize) -> usize {
        (self.place.block * slots + slot) * layout.slice_registers() + layout.in_slice(self.place)
    }
}
