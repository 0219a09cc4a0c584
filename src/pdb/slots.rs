//! The builder of one bit an entry: whole levels by streaming over words of 60 arrangements.
//!
//! Invariant: a slot is a set of occupied cells and a region of the blank; a state is a slot and an arrangement, one
//! bit. Every tile move changes the colour of the set, so a level only adds bits to one class of slots and only
//! reads the other one: levels are in place. The words of a slot lie together, slice by slice, so that what a slot
//! reads of another one is some kilobytes in a row; a slice that did not change or is full is skipped.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use crate::kernel::{Kernel, PatternStep, SetMove, SetMoves, SlotStretch, Word};
use crate::pdb::regions::SetGraph;
use crate::pdb::{Pattern, PdbError};
use crate::perm::layout::{LANES, Layout};
use crate::perm::lehmer;
use crate::progress::{LevelDone, Phase, Progress};
use crate::store::{Array, MemoryError};

/// Bytes of a stretch of slots: with what it reads, half of the nearest private cache.
const STRETCH: usize = 128 << 10;

/// Words of consecutive slots.
#[derive(Debug)]
pub(crate) struct Slots {
    array: Array,
    /// Words of a slot.
    unit: usize,
    count: usize,
}

impl Slots {
    pub fn zeroed(count: usize, unit: usize) -> Result<Slots, MemoryError> {
        let array = Array::zeroed((count * unit).div_ceil(8) as u64)?;
        Ok(Slots { array, unit, count })
    }

    pub fn words(&self) -> &[Word] {
        let words = self.array.units().as_flattened().as_chunks().0;
        &words[..self.count * self.unit]
    }

    pub fn words_mut(&mut self) -> &mut [Word] {
        let words = self.array.units_mut().as_flattened_mut().as_chunks_mut().0;
        &mut words[..self.count * self.unit]
    }

    /// The words of a slot.
    pub fn of(&self, slot: usize) -> &[Word] {
        &self.words()[slot * self.unit..][..self.unit]
    }
}

/// A class of slots, and how far it has been reached.
pub(crate) struct SlotClass {
    pub seen: Slots,
    moves: SetMoves,
    /// For each slot the slices that are full.
    full: Vec<u64>,
    /// For each slot the slices that the last level of the class changed.
    pub changed: Vec<u64>,
}

impl SlotClass {
    /// Returns a class of which nothing has been reached.
    pub fn new(layout: Layout, moves: SetMoves) -> Result<SlotClass, MemoryError> {
        let slots = moves.targets();
        Ok(SlotClass {
            seen: Slots::zeroed(slots, unit(layout))?,
            moves,
            full: vec![0; slots],
            changed: vec![0; slots],
        })
    }

    /// Marks the arrangement of the goal in a slot.
    pub fn begin(&mut self, pattern: &Pattern, layout: Layout, slot: usize) {
        let home = pattern.home();
        let mut tiles: Vec<u8> = (0..home.len() as u8).collect();
        tiles.sort_by_key(|&t| home[usize::from(t)]);
        let place = layout.place(&tiles);
        let word = place.block * layout.slice_registers() + layout.in_slice(place);
        self.seen.words_mut()[slot * unit(layout) + word] = (1u64 << place.lane).to_le_bytes();
        self.changed[slot] = 1 << place.block;
    }
}

/// The slots of a pattern's board.
pub(crate) struct SlotBoard {
    pub graph: SetGraph,
    pub layout: Layout,
    step: PatternStep,
    pub classes: [SlotClass; 2],
}

/// What becomes of a level's first visits.
pub(crate) enum FirstVisitSink<'a> {
    /// They are counted.
    Count,
    /// They are marked in the words of the class.
    In(&'a mut [Word]),
    /// They are handed over, with the number of the stretch and how many they are, by any thread in any order.
    To(&'a TakeMarks<'a>),
}

/// Takes the marks of a stretch.
pub(crate) type TakeMarks<'a> = dyn Fn(usize, u64, &[Word]) -> Result<(), PdbError> + Sync + 'a;

/// Words of a slot.
pub(crate) fn unit(layout: Layout) -> usize {
    layout.blocks() * layout.slice_registers()
}

/// The memory of the tables of so many sets and slots, in bytes, without the words.
pub(crate) fn tables(sets: u64, slots: u64, tiles: usize) -> u64 {
    // Two masks and the end of its moves for each slot, and each move once more.
    SetGraph::bytes(sets, tiles) + slots * 20 + sets * 20 * tiles as u64
}

impl SlotBoard {
    /// Looks up all slots and moves; nothing has been reached but the goal.
    pub fn new(
        pattern: &Pattern,
        layout: Layout,
        kernel: Kernel,
        observer: &dyn Progress,
    ) -> Result<SlotBoard, PdbError> {
        observer.progress(Phase::Setup, 0, 1);
        let step = PatternStep::new(kernel, layout)?;
        let mut graph = SetGraph::new(pattern, layout);
        let moves = [0, 1].map(|class| moves(&graph, layout, class));
        // These lead from set to set, which nobody asks for again.
        for class in &mut graph.classes {
            class.moves = SetMoves::new(layout, 0, [[]; 0]);
        }
        let [low, high] = moves;
        let mut board = SlotBoard {
            classes: [SlotClass::new(layout, low)?, SlotClass::new(layout, high)?],
            graph,
            layout,
            step,
        };
        board.begin(pattern);
        observer.progress(Phase::Setup, 1, 1);
        Ok(board)
    }

    /// Marks the goal.
    fn begin(&mut self, pattern: &Pattern) {
        let mask = pattern.home().iter().fold(0u64, |set, &c| set | 1 << c);
        let (class, set) = self.graph.find(mask);
        let region = self.graph.grid.region_number(mask, pattern.goal().blank());
        let slot = self.graph.classes[class].slots[set] as usize + region;
        self.classes[class].begin(pattern, self.layout, slot);
    }

    /// The class of the goal.
    pub fn goal_class(&self, pattern: &Pattern) -> usize {
        let home = pattern.home().iter().fold(0u64, |set, &c| set | 1 << c);
        self.graph.grid.colour(home)
    }

    /// The number of entries.
    pub fn entries(&self) -> u64 {
        let slots = self.classes.iter().map(|class| class.changed.len() as u64);
        slots.sum::<u64>() * lehmer::count(self.layout.len())
    }

    /// Runs `level(board, class, depth, entries found)` for one level after the other, until one finds nothing;
    /// puts the entries of each behind those of the levels that there are.
    pub fn search(
        &mut self,
        pattern: &Pattern,
        histogram: &mut Vec<u64>,
        observer: &dyn Progress,
        mut level: impl FnMut(&mut SlotBoard, usize, usize, u64) -> Result<u64, PdbError>,
    ) -> Result<(), PdbError> {
        let goal = self.goal_class(pattern);
        let mut found = histogram.iter().sum();
        let report = |depth, states, seconds| {
            observer.level(&LevelDone { depth, states, seconds });
        };
        if let [1] = histogram[..] {
            report(0, 1, 0.0);
        }
        for depth in histogram.len().. {
            if depth > 254 {
                return Err(PdbError::ValueTooLarge { max: 254 });
            }
            let begun = Instant::now();
            let entries = level(self, (goal + depth) % 2, depth, found)?;
            if entries == 0 {
                break;
            }
            report(depth, entries, begun.elapsed().as_secs_f64());
            histogram.push(entries);
            found += entries;
        }
        Ok(())
    }

    /// Adds a level to a class; returns how many entries it reached first. `found` is the number of entries found
    /// before.
    pub fn level(
        &mut self,
        class: usize,
        depth: usize,
        found: u64,
        marks: FirstVisitSink<'_>,
        observer: &dyn Progress,
    ) -> Result<u64, PdbError> {
        let total = self.entries();
        let [first, second] = &mut self.classes;
        let (own, other) = match class {
            0 => (first, &*second),
            _ => (second, &*first),
        };
        let level = SlotPass {
            step: &self.step,
            layout: self.layout,
            source: other.seen.words(),
            changed: &other.changed,
            depth,
            found,
            total,
            observer,
        };
        level.run(own, marks)
    }
}

/// One level of one class.
pub(crate) struct SlotPass<'a> {
    pub step: &'a PatternStep,
    pub layout: Layout,
    /// What the other class has been reached in, and where it has changed.
    pub source: &'a [Word],
    pub changed: &'a [u64],
    pub depth: usize,
    /// States found before, and all that there are.
    pub found: u64,
    pub total: u64,
    pub observer: &'a dyn Progress,
}

impl SlotPass<'_> {
    /// Adds the level to its class; returns how many states it reached first.
    pub fn run(&self, own: &mut SlotClass, marks: FirstVisitSink<'_>) -> Result<u64, PdbError> {
        let unit = unit(self.layout);
        let per_task = stretch_slots(self.layout, own.changed.len());
        let (mut values, sink) = match marks {
            FirstVisitSink::Count => (&mut [][..], None),
            FirstVisitSink::In(words) => (words, None),
            FirstVisitSink::To(sink) => (&mut [][..], Some(sink)),
        };
        let marked = !values.is_empty();
        let mut tasks = Vec::new();
        let parts = own.seen.words_mut().chunks_mut(per_task * unit);
        let masks = own.full.chunks_mut(per_task);
        let masks = masks.zip(own.changed.chunks_mut(per_task));
        for (number, (seen, (full, gained))) in parts.zip(masks).enumerate() {
            let taken = if marked { seen.len() } else { 0 };
            let (head, tail) = std::mem::take(&mut values).split_at_mut(taken);
            values = tail;
            tasks.push(SlotStretch {
                first: number * per_task,
                source: self.source,
                changed: self.changed,
                seen,
                full,
                gained,
                marks: head,
            });
        }
        let tasks = Mutex::new(tasks.into_iter().enumerate());
        let next = || tasks.lock().unwrap_or_else(|e| e.into_inner()).next();
        let done = AtomicU64::new(self.found);
        let counts = rayon::broadcast(|_| -> Result<u64, PdbError> {
            let mut count = 0;
            let mut scratch: Vec<Word> = Vec::new();
            while let Some((number, stretch)) = next() {
                if self.observer.interrupted() {
                    return Err(PdbError::Interrupted);
                }
                let new = match sink {
                    None => self.step.run_slots(&own.moves, stretch),
                    Some(sink) => {
                        scratch.clear();
                        scratch.resize(stretch.seen.len(), [0; 8]);
                        let marks = &mut scratch[..];
                        let stretch = SlotStretch { marks, ..stretch };
                        let new = self.step.run_slots(&own.moves, stretch);
                        sink(number, new, &scratch)?;
                        new
                    }
                };
                count += new;
                let done = done.fetch_add(new, Ordering::Relaxed) + new;
                let phase = Phase::Search(self.depth);
                self.observer.progress(phase, done, self.total);
            }
            Ok(count)
        });
        counts.into_iter().sum()
    }
}

/// Slots of a stretch, where a class has so many.
pub(crate) fn stretch_slots(layout: Layout, slots: usize) -> usize {
    let fit = STRETCH / (8 * unit(layout));
    fit.min(slots.div_ceil(16)).next_multiple_of(4).max(4)
}

/// The moves into the slots of a class, by those into its sets.
fn moves(graph: &SetGraph, layout: Layout, class: usize) -> SetMoves {
    let (own, other) = (&graph.classes[class], &graph.classes[1 - class]);
    let sources = other.slots[other.sets.len()] as usize;
    let of_slot = |set: usize, region: u8| {
        let moves = own.moves.of(set).iter().filter(move |m| m.to == region);
        let moves = moves.map(|m| SetMove {
            source: other.slots[m.source as usize] + u32::from(m.from),
            shift: m.shift,
            from: 0,
            to: 0,
        });
        moves.collect::<Vec<SetMove>>()
    };
    let lists: Vec<Vec<SetMove>> = (0..own.sets.len())
        .into_par_iter()
        .with_min_len(64)
        .flat_map_iter(|set| {
            let regions = own.bits[set].count_ones() as u8;
            (0..regions).map(move |region| of_slot(set, region))
        })
        .collect();
    SetMoves::new(layout, sources, lists)
}

/// The bytes of the words of so many entries.
pub(crate) fn word_bytes(entries: u64) -> u64 {
    entries / LANES as u64 * 8
}
