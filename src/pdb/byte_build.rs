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

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use crate::kernel::{FirstVisits, Kernel, PatternStep, SetMove, SetMoves, Stretch};
use crate::pdb::regions::SetGraph;
use crate::pdb::{Kind, Pattern, PdbError};
use crate::perm::layout::{Layout, LinePlace, Register};
use crate::progress::{LevelDone, Phase, Progress};
use crate::store::Array;

/// What the search leaves: first visits in the order of the engine.
pub(crate) struct SearchedVisits {
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

impl SearchedVisits {
    /// The same without the memory of the bytes seen.
    pub fn without_seen(self) -> Result<SearchedVisits, PdbError> {
        let seen = [Array::zeroed(0)?, Array::zeroed(0)?];
        Ok(SearchedVisits { seen, ..self })
    }
}

/// Registers of the value slots of a class.
pub(crate) fn class_registers(found: &SetGraph, layout: Layout, kind: Kind, class: usize) -> usize {
    slots(found, kind, class) * layout.blocks() * layout.slice_registers()
}

/// Value slots of a class: its sets, or its sets' regions.
pub(crate) fn slots(graph: &SetGraph, kind: Kind, class: usize) -> usize {
    let class = &graph.classes[class];
    match kind {
        Kind::Minimum | Kind::AllMoves => class.sets.len(),
        Kind::Regions => class.slots[class.sets.len()] as usize,
    }
}

/// Searches all levels of a pattern of five tiles or more.
pub(crate) fn search(
    (pattern, kind): (&Pattern, Kind),
    layout: Layout,
    kernel: Kernel,
    extra_units: u64,
    observer: &dyn Progress,
) -> Result<SearchedVisits, PdbError> {
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

    let start = GoalState::new(pattern, layout, &graph);
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
    observer.level(&LevelDone { depth: 0, states: 1, seconds: 0.0 });
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
        let (own, source) = if class == 0 { (seen0, &*seen1) } else { (seen1, &*seen0) };
        let pass = SetPass {
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
        let own_values = if class == 0 { low } else { &mut high[..sizes[1]] };
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
            observer.level(&LevelDone { depth: value, states: entries, seconds });
        }
        histogram.push(entries);
    }
    while histogram.last() == Some(&0) {
        histogram.pop();
    }
    Ok(SearchedVisits { layout, graph, seen, values, histogram })
}

/// The goal as a state of the engine.
struct GoalState {
    class: usize,
    set: usize,
    region: usize,
    place: LinePlace,
}

impl GoalState {
    fn new(pattern: &Pattern, layout: Layout, graph: &SetGraph) -> GoalState {
        let home = pattern.home();
        let mask = home.iter().fold(0u64, |set, &c| set | 1 << c);
        let (class, set) = graph.find(mask);
        let mut tiles: Vec<u8> = (0..home.len() as u8).collect();
        tiles.sort_by_key(|&t| home[usize::from(t)]);
        GoalState {
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

// One level of one class of sets, cut into stretches that the threads share.
//
// Invariant: a pass only adds bits to its class and only reads the other one.

/// Registers of a stretch: 192 KiB of bytes seen and as many values, half of the nearest private cache.
const STRETCH_REGISTERS: usize = 3072;

/// Collects the slices' flags into a bit mask per set; returns whether any slice changed.
pub(crate) fn merge(flags: &[u8], changed: &mut [u64]) -> bool {
    let sets = changed.len();
    changed
        .par_iter_mut()
        .enumerate()
        .with_min_len(1024)
        .map(|(set, changed)| {
            let slices = flags[set..].iter().step_by(sets).enumerate();
            *changed = slices
                .fold(0, |mask, (slice, &flag)| mask | u64::from(flag & Stretch::CHANGED) << slice);
            *changed != 0
        })
        .reduce(|| false, |a, b| a | b)
}

/// One level of one class.
pub(crate) struct SetPass<'a> {
    /// Levels are kept per arrangement, or per arrangement and bit.
    pub kind: Kind,
    pub layout: Layout,
    pub step: &'a PatternStep,
    /// For each set all its bits.
    pub bits: &'a [u8],
    /// First bit of each set in the values, and one more for the end, where a value is kept per bit.
    pub slots: &'a [u32],
    /// The moves into the sets.
    pub moves: &'a SetMoves,
    /// The level, counted from 1 for the start.
    pub level: usize,
    /// Bits seen by the other class.
    pub source: &'a [Register],
    /// For each set of the other class the slices that changed at the level before.
    pub changed: &'a [u64],
    pub observer: &'a dyn Progress,
    pub found: &'a AtomicU64,
    pub total: u64,
    pub stopped: &'a AtomicBool,
}

/// Consecutive sets of one slice: their registers, values and flags.
struct SetTask<'a> {
    slice: usize,
    first: usize,
    seen: &'a mut [Register],
    values: &'a mut [Register],
    flags: &'a mut [u8],
}

impl SetPass<'_> {
    /// Adds one level to a class; returns how many entries it reached first.
    pub fn run(&self, seen: &mut [Register], values: &mut [Register], flags: &mut [u8]) -> u64 {
        let live: Vec<u64> = (0..self.bits.len())
            .into_par_iter()
            .with_min_len(256)
            .map(|set| {
                let reach =
                    |m: &SetMove| self.step.reaches(m.shift, self.changed[m.source as usize]);
                let moves = self.moves.of(set).iter();
                moves.fold(0, |live, m| live | reach(m))
            })
            .collect();
        let tasks = Mutex::new(self.tasks(seen, values, flags).into_iter());
        let counts = rayon::broadcast(|_| {
            let mut count = 0;
            loop {
                let task = tasks.lock().unwrap_or_else(|e| e.into_inner()).next();
                let Some(task) = task else { break };
                if self.stopped.load(Ordering::Relaxed) || self.observer.interrupted() {
                    self.stopped.store(true, Ordering::Relaxed);
                    break;
                }
                let slots = self.slots;
                let level = self.level as u8;
                let values = task.values;
                let first_visits = match self.kind {
                    Kind::Minimum | Kind::AllMoves => FirstVisits::Any(values),
                    Kind::Regions => FirstVisits::PerBit { values, slots },
                };
                let new = self.step.run(
                    self.moves,
                    Stretch {
                        slice: task.slice,
                        first: task.first,
                        source: self.source,
                        changed: self.changed,
                        live: &live,
                        bits: self.bits,
                        seen: task.seen,
                        flags: task.flags,
                        first_visits,
                        level,
                    },
                );
                let done = self.found.fetch_add(new, Ordering::Relaxed) + new;
                let phase = Phase::Search(self.level - 1);
                self.observer.progress(phase, done, self.total);
                count += new;
            }
            count
        });
        counts.iter().sum()
    }

    /// Cuts the arrays of a class into stretches.
    fn tasks<'b>(
        &self,
        mut seen: &'b mut [Register],
        mut values: &'b mut [Register],
        mut flags: &'b mut [u8],
    ) -> Vec<SetTask<'b>> {
        let sets = self.bits.len();
        let unit = self.layout.slice_registers();
        let per_task = (STRETCH_REGISTERS / unit).min(sets.div_ceil(4)).max(1);
        let mut tasks = Vec::new();
        for slice in 0..self.layout.blocks() {
            for first in (0..sets).step_by(per_task) {
                let count = per_task.min(sets - first);
                let slots = match self.kind {
                    Kind::Minimum | Kind::AllMoves => count,
                    Kind::Regions => (self.slots[first + count] - self.slots[first]) as usize,
                };
                tasks.push(SetTask {
                    slice,
                    first,
                    seen: take(&mut seen, count * unit),
                    values: take(&mut values, slots * unit),
                    flags: take(&mut flags, count),
                });
            }
        }
        tasks
    }
}

/// Takes the first elements off a slice.
fn take<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (head, tail) = std::mem::take(rest).split_at_mut(count);
    *rest = tail;
    head
}
