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

use super::descent::bit_of;
use super::set_graph::SetGraph;
use super::{Encoding, Kind, Pattern, PdbError};
use crate::perm::kernel::{FirstVisits, Kernel, Move, PatternStep, Stretch};
use crate::perm::layout::{LANES, Layout, Place, REGISTER_BYTES, Register};
use crate::progress::{Level, Phase, Progress};
use crate::store::Array;

/// Registers of a stretch: 192 KiB of bytes seen and as many values, half of the nearest private cache.
const STRETCH_REGISTERS: usize = 3072;

/// What the search leaves: first visits in the order of the engine.
pub(super) struct Found {
    pub layout: Layout,
    pub graph: SetGraph,
    /// Bytes seen, one array per class: no longer needed, memory to be used again.
    pub seen: [Array; 2],
    /// Levels plus one, 0 for never, both classes one after the other; per class slice by slice, and
    /// within a slice a register group per set, or per set and region. For one bit an entry, words of 64 lanes
    /// in the place of registers: the bit of the value.
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

/// Bytes of the values of a register's lanes.
pub(super) fn width(encoding: Encoding) -> usize {
    match encoding {
        Encoding::Byte | Encoding::Nibble => REGISTER_BYTES,
        Encoding::Bit => LANES.div_ceil(8),
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
        Kind::Minimum => class.sets.len(),
        Kind::Regions => class.slots[class.sets.len()] as usize,
    }
}

/// Searches all levels of a pattern of five tiles or more.
pub(super) fn search(
    (pattern, kind, encoding): (&Pattern, Kind, Encoding),
    layout: Layout,
    kernel: Kernel,
    extra_units: u64,
    observer: &dyn Progress,
) -> Result<Found, PdbError> {
    let width = width(encoding);
    observer.progress(Phase::Setup, 0, 1);
    let step = PatternStep::new(kernel, layout)?;
    let graph = SetGraph::new(pattern, layout);
    observer.progress(Phase::Setup, 1, 1);

    let unit = layout.slice_registers() * layout.blocks();
    let array = |class: usize| Array::zeroed((graph.classes[class].sets.len() * unit) as u64);
    let mut seen = [array(0)?, array(1)?];
    let sizes = [0, 1].map(|class| class_registers(&graph, layout, kind, class));
    let bytes = ((sizes[0] + sizes[1]) * width) as u64;
    let mut values = Array::zeroed(bytes.div_ceil(REGISTER_BYTES as u64) + extra_units)?;
    let mut flags = [0, 1].map(|c| vec![0u8; graph.classes[c].sets.len() * layout.blocks()]);
    let mut changed = [0, 1].map(|c| vec![0u64; graph.classes[c].sets.len()]);

    let start = Start::new(pattern, layout, &graph);
    let register = start.register(layout, graph.classes[start.class].sets.len(), start.set);
    seen[start.class].units_mut()[register][start.place.lane] = 1 << start.region;
    let slot = match kind {
        Kind::Minimum => start.set,
        Kind::Regions => graph.classes[start.class].slots[start.set] as usize + start.region,
    };
    let register = start.register(layout, slots(&graph, kind, start.class), slot);
    let first = if start.class == 0 { 0 } else { sizes[0] };
    if encoding != Encoding::Bit {
        values.units_mut()[first + register][start.place.lane] = 1;
    }
    changed[start.class][start.set] = 1 << start.place.block;

    let mut histogram = vec![1];
    observer.level(&Level {
        depth: 0,
        states: 1,
        seconds: 0.0,
    });
    let total = match kind {
        Kind::Minimum => pattern.placements(),
        Kind::Regions => {
            (slots(&graph, kind, 0) + slots(&graph, kind, 1)) as u64
                * crate::perm::lehmer::count(layout.len())
        }
    };
    let (found, stopped) = (AtomicU64::new(1), AtomicBool::new(false));
    for value in 1.. {
        let begun = Instant::now();
        let class = (start.class + value) % 2;
        let level = u8::try_from(value + 1).map_err(|_| PdbError::ValueTooLarge { max: 254 })?;
        let bytes = values.units_mut().as_flattened_mut();
        let (low, high) = bytes.split_at_mut(sizes[0] * width);
        let [seen0, seen1] = &mut seen;
        let (own, source) = if class == 0 {
            (seen0, &*seen1)
        } else {
            (seen1, &*seen0)
        };
        let pass = Pass {
            kind,
            width,
            layout,
            step: &step,
            graph: &graph,
            class,
            level,
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
            &mut high[..sizes[1] * width]
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

/// Collects the slices' flags into a bit mask per set; returns whether any slice changed.
fn merge(flags: &[u8], changed: &mut [u64]) -> bool {
    let sets = changed.len();
    changed
        .par_iter_mut()
        .enumerate()
        .with_min_len(1024)
        .map(|(set, changed)| {
            let slices = flags[set..].iter().step_by(sets).enumerate();
            *changed = slices.fold(0, |mask, (slice, &flag)| {
                mask | u64::from(flag & Stretch::CHANGED) << slice
            });
            *changed != 0
        })
        .reduce(|| false, |a, b| a | b)
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

/// One level.
struct Pass<'a> {
    kind: Kind,
    /// Bytes of the values of a register.
    width: usize,
    layout: Layout,
    step: &'a PatternStep,
    graph: &'a SetGraph,
    class: usize,
    level: u8,
    source: &'a [Register],
    changed: &'a [u64],
    observer: &'a dyn Progress,
    found: &'a AtomicU64,
    total: u64,
    stopped: &'a AtomicBool,
}

/// Consecutive sets of one slice: their registers, values and flags.
struct Task<'a> {
    slice: usize,
    first: usize,
    seen: &'a mut [Register],
    values: &'a mut [u8],
    flags: &'a mut [u8],
}

impl Pass<'_> {
    /// Adds one level to a class; returns how many entries it reached first.
    fn run(&self, seen: &mut [Register], values: &mut [u8], flags: &mut [u8]) -> u64 {
        let class = &self.graph.classes[self.class];
        let live: Vec<u64> = (0..class.sets.len())
            .into_par_iter()
            .with_min_len(256)
            .map(|set| {
                let reach = |m: &Move| self.step.reaches(m.shift, self.changed[m.source as usize]);
                let moves = class.moves.of(set).iter();
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
                let (slots, mut level) = (&class.slots, self.level);
                let first_visits = match (self.kind, self.width) {
                    (Kind::Minimum, _) => FirstVisits::Any(task.values.as_chunks_mut().0),
                    (Kind::Regions, REGISTER_BYTES) => FirstVisits::PerBit {
                        values: task.values.as_chunks_mut().0,
                        slots,
                    },
                    (Kind::Regions, _) => {
                        level = bit_of(self.level - 1);
                        let values = task.values.as_chunks_mut().0;
                        FirstVisits::Lanes { values, slots }
                    }
                };
                let new = self.step.run(
                    &class.moves,
                    Stretch {
                        slice: task.slice,
                        first: task.first,
                        source: self.source,
                        changed: self.changed,
                        live: &live,
                        bits: &class.bits,
                        seen: task.seen,
                        flags: task.flags,
                        first_visits,
                        level,
                    },
                );
                let done = self.found.fetch_add(new, Ordering::Relaxed) + new;
                let phase = Phase::Search(usize::from(self.level) - 1);
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
        mut values: &'b mut [u8],
        mut flags: &'b mut [u8],
    ) -> Vec<Task<'b>> {
        let class = &self.graph.classes[self.class];
        let sets = class.sets.len();
        let unit = self.layout.slice_registers();
        let per_task = (STRETCH_REGISTERS / unit).min(sets.div_ceil(4)).max(1);
        let mut tasks = Vec::new();
        for slice in 0..self.layout.blocks() {
            for first in (0..sets).step_by(per_task) {
                let count = per_task.min(sets - first);
                let slots = match self.kind {
                    Kind::Minimum => count,
                    Kind::Regions => (class.slots[first + count] - class.slots[first]) as usize,
                };
                tasks.push(Task {
                    slice,
                    first,
                    seen: take(&mut seen, count * unit),
                    values: take(&mut values, slots * unit * self.width),
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
