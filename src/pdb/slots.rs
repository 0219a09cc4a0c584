//! The builder of all databases with five or more tiles: computes complete levels by streaming over words of 60
//! arrangements.
//!
//! Invariant: a slot is a set of occupied cells and a place of the blank ([`SlotGraph`]); a state is a slot and an
//! arrangement, represented by one bit. Every move that counts leads to the other class of slots, so a level only adds
//! bits to one class and only reads the other one: levels are computed in place. The words of a slot are contiguous,
//! slice by slice, so that a slot reads a few contiguous kilobytes of another one; a slice that did not change or is
//! full is skipped.
//!
//! A [`VisitSink`] determines what happens to the states that a level reaches for the first time.

use std::time::Instant;

use parking_lot::Mutex;

use crate::{
    kernel::{Kernel, SlotMoves, SlotStep, SlotStretch, Word, enter_first},
    pdb::{Pattern, PdbError, SlotGraph, database::bit_of},
    perm::{LANES, Layout, Register, bits, set_of},
    progress::{LevelDone, Meter, Phase, Progress},
    store::{Array, MAX_DEPTH},
    system::SystemError,
    threads::Tasks,
};

/// Size in bytes of a stretch of slots: together with the data it reads, half of the nearest private cache.
const STRETCH: usize = 128 << 10;

/// The words of consecutive slots.
#[derive(Debug)]
pub(crate) struct Slots {
    array: Array,
    /// The number of words of a slot.
    unit: usize,
    count: usize,
}

impl Slots {
    pub fn zeroed(count: usize, unit: usize) -> Result<Slots, SystemError> {
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

    pub fn of(&self, slot: usize) -> &[Word] {
        &self.words()[slot * self.unit..][..self.unit]
    }
}

/// The number of words of a slot, which is the number of registers of a slot of bytes.
pub(crate) fn unit(layout: Layout) -> usize {
    layout.blocks() * layout.slice_registers()
}

/// The number of slots of a stretch, in a class that has at least that many.
pub(crate) fn stretch_slots(layout: Layout, slots: usize) -> usize {
    let fit = STRETCH / (8 * unit(layout));
    fit.min(slots.div_ceil(16)).next_multiple_of(4).max(4)
}

/// The size in bytes of the words for a number of entries.
pub(crate) fn word_bytes(entries: u64) -> u64 {
    entries / LANES as u64 * 8
}

/// A class of slots, and the states that have been reached in it.
pub(crate) struct SlotClass {
    pub seen: Slots,
    moves: SlotMoves,
    /// For each slot, the slices that are full.
    full: Vec<u64>,
    /// For each slot, the slices that the last level of the class changed.
    pub changed: Vec<u64>,
}

/// The states in a stretch of slots that a level reaches for the first time.
pub(crate) struct FirstVisits<'a> {
    pub class: usize,
    pub depth: usize,
    /// The number of the stretch, and its first slot.
    pub stretch: usize,
    pub first: usize,
    pub states: u64,
    /// For each slot, the slices with such states.
    gained: &'a [u64],
    /// The words of all slots, which are zero in all other slices.
    pub words: &'a [Word],
    layout: Layout,
}

impl FirstVisits<'_> {
    /// Each slice that has such states: its slot, the index of its first word within the slot, and its words.
    fn slices(&self) -> impl Iterator<Item = (usize, usize, &[Word])> {
        let (unit, slice) = (unit(self.layout), self.layout.slice_registers());
        self.gained.iter().enumerate().flat_map(move |(slot, &gained)| {
            bits(gained).map(move |number| {
                let words = &self.words[slot * unit + number * slice..][..slice];
                (self.first + slot, number * slice, words)
            })
        })
    }
}

/// The destination of the states that a level reaches for the first time.
pub(crate) trait VisitSink: Sync {
    /// Whether it needs the states themselves, and not only their number.
    fn wants(&self, _depth: usize) -> bool {
        true
    }

    /// Takes the states of a stretch, from any thread and in any order; returns how many entries of the table are
    /// reached for the first time.
    fn take(&self, new: &FirstVisits<'_>) -> Result<u64, PdbError> {
        Ok(new.states)
    }

    /// Called when a level begins.
    fn begin(&self, _depth: usize) -> Result<(), PdbError> {
        Ok(())
    }

    /// Called when a level with this many entries is finished; `found` entries were found before it.
    fn end(&self, _depth: usize, _entries: u64, _found: u64) -> Result<(), PdbError> {
        Ok(())
    }
}

/// The values of slots, in parts that are locked by one thread at a time.
struct SlotValues<'a, T> {
    classes: [Vec<Mutex<&'a mut [T]>>; 2],
    unit: usize,
}

/// The number of slots of a part.
const PART: usize = 16;

impl<'a, T> SlotValues<'a, T> {
    fn new(values: [&'a mut [T]; 2], unit: usize) -> SlotValues<'a, T> {
        let parts = |values: &'a mut [T]| values.chunks_mut(PART * unit).map(Mutex::new).collect();
        SlotValues { classes: values.map(parts), unit }
    }

    /// Calls `write(words, values)` for each slice with new states; `home` returns where the values of a slot are.
    fn write(
        &self,
        new: &FirstVisits<'_>,
        home: impl Fn(usize) -> usize,
        write: impl Fn(&[Word], &mut [T]) -> u64,
    ) -> u64 {
        let mut entries = 0;
        let mut held = None;
        for (slot, word, words) in new.slices() {
            let at = home(slot);
            let mut part = match held.take() {
                Some((number, part)) if number == at / PART => part,
                // Two locks are never held at the same time: the previous one is released first.
                before => {
                    drop(before);
                    self.classes[new.class][at / PART].lock()
                }
            };
            entries += write(words, &mut part[at % PART * self.unit + word..][..words.len()]);
            held = Some((at / PART, part));
        }
        entries
    }
}

/// One bit per entry: states whose depth has this bit set are marked in words.
pub(crate) struct MarkBits<'a>(SlotValues<'a, Word>);

impl<'a> MarkBits<'a> {
    pub fn new(values: &'a mut [Slots; 2]) -> MarkBits<'a> {
        let unit = values[0].unit;
        MarkBits(SlotValues::new(values.each_mut().map(Slots::words_mut), unit))
    }
}

impl VisitSink for MarkBits<'_> {
    fn wants(&self, depth: usize) -> bool {
        bit_of(depth as u8) == 1
    }

    fn take(&self, new: &FirstVisits<'_>) -> Result<u64, PdbError> {
        self.0.write(
            new,
            |slot| slot,
            |words, values| {
                for (value, word) in values.iter_mut().zip(words) {
                    *value = (u64::from_le_bytes(*value) | u64::from_le_bytes(*word)).to_le_bytes();
                }
                0
            },
        );
        Ok(new.states)
    }
}

/// One byte per entry: the depth plus one, or 0 for unreached. Slots that share their entries keep the first depth.
pub(crate) struct WriteBytes<'a> {
    parts: SlotValues<'a, Register>,
    /// For each class and slot, the position of its values; `None` if every slot has its own values.
    home: Option<[Vec<u32>; 2]>,
    kernel: Kernel,
}

impl<'a> WriteBytes<'a> {
    /// `shared` means that all slots of a set share their entries.
    pub fn new(
        values: [&'a mut [Register]; 2],
        graph: &SlotGraph,
        shared: bool,
        kernel: Kernel,
    ) -> WriteBytes<'a> {
        let home = |class: usize| {
            let starts = graph.starts[class].windows(2).filter(|of| of[0] < of[1]);
            (0..).zip(starts).flat_map(|(set, of)| (of[0]..of[1]).map(move |_| set)).collect()
        };
        let home = shared.then(|| [home(0), home(1)]);
        WriteBytes { parts: SlotValues::new(values, unit(graph.layout)), home, kernel }
    }

    /// Where the values of a slot are.
    fn home(&self, class: usize, slot: usize) -> usize {
        self.home.as_ref().map_or(slot, |home| home[class][slot] as usize)
    }

    /// Enters the state at depth 0.
    pub fn enter(&self, (class, slot): (usize, usize), (_, word, lane): (usize, usize, usize)) {
        let at = self.home(class, slot);
        let mut part = self.parts.classes[class][at / PART].lock();
        part[at % PART * self.parts.unit + word][lane] = 1;
    }
}

impl VisitSink for WriteBytes<'_> {
    fn take(&self, new: &FirstVisits<'_>) -> Result<u64, PdbError> {
        let home = |slot| self.home(new.class, slot);
        let level = new.depth as u8 + 1;
        let write = |words: &[Word], values: &mut [Register]| {
            enter_first(self.kernel, words, level, values)
        };
        Ok(self.parts.write(new, home, write))
    }
}

/// A search over the slots of a pattern's board.
pub(crate) struct SlotSearch<'a> {
    layout: Layout,
    step: SlotStep,
    pub classes: [SlotClass; 2],
    /// The class of the goal.
    goal: usize,
    /// The number of all entries.
    total: u64,
    observer: &'a dyn Progress,
}

impl<'a> SlotSearch<'a> {
    /// Determines all moves; only the goal has been reached yet.
    pub fn new(
        graph: &SlotGraph,
        pattern: &Pattern,
        total: u64,
        kernel: Kernel,
        observer: &'a dyn Progress,
    ) -> Result<SlotSearch<'a>, PdbError> {
        observer.progress(Phase::Setup, 0, 1);
        let layout = graph.layout;
        let step = SlotStep::new(kernel, layout)?;
        let class = |class| -> Result<SlotClass, SystemError> {
            let (moves, slots) = (graph.moves(class), graph.slots(class));
            let seen = Slots::zeroed(slots, unit(layout))?;
            Ok(SlotClass { seen, moves, full: vec![0; slots], changed: vec![0; slots] })
        };
        let mut classes = [class(0)?, class(1)?];
        let (goal, slot) = graph.find(set_of(pattern.home()), pattern.goal().blank());
        let (block, word, lane) = home_place(pattern, layout);
        classes[goal].seen.words_mut()[slot * unit(layout) + word] = (1u64 << lane).to_le_bytes();
        classes[goal].changed[slot] = 1 << block;
        observer.progress(Phase::Setup, 1, 1);
        Ok(SlotSearch { layout, step, classes, goal, total, observer })
    }

    /// The class of the states at a depth.
    pub fn class(&self, depth: usize) -> usize {
        (self.goal + depth) % 2
    }

    /// Searches level by level until a level finds nothing; returns the number of entries of each level, after those
    /// that are known. The memory for the reached states is free afterwards.
    pub fn run(
        mut self,
        sink: &dyn VisitSink,
        mut histogram: Vec<u64>,
    ) -> Result<Vec<u64>, PdbError> {
        let report = |depth, states, seconds| {
            self.observer.level(&LevelDone { depth, states, seconds });
        };
        if let [first] = histogram[..] {
            report(0, first, 0.0);
        }
        let mut found = histogram.iter().sum();
        while histogram.len() <= MAX_DEPTH {
            let (begun, depth) = (Instant::now(), histogram.len());
            sink.begin(depth)?;
            let class = self.class(depth);
            let [low, high] = &mut self.classes;
            let (own, other) = if class == 0 { (low, &*high) } else { (high, &*low) };
            let meter = Meter::new(self.observer, Phase::Search(depth), found, self.total);
            let step = (&self.step, self.layout);
            let (states, entries) = own.add_level(step, other, (class, depth), sink, &meter)?;
            sink.end(depth, entries, found)?;
            if states == 0 {
                while histogram.last() == Some(&0) {
                    histogram.pop();
                }
                return Ok(histogram);
            }
            if entries > 0 {
                report(depth, entries, begun.elapsed().as_secs_f64());
            }
            histogram.push(entries);
            found += entries;
        }
        Err(PdbError::value(MAX_DEPTH))
    }
}

/// The arrangement of a pattern at home: the slice, the index of the word within a slot, and the lane.
pub(crate) fn home_place(pattern: &Pattern, layout: Layout) -> (usize, usize, usize) {
    let home = pattern.home();
    let mut tiles: Vec<u8> = (0..home.len() as u8).collect();
    tiles.sort_unstable_by_key(|&t| home[usize::from(t)]);
    let place = layout.place(&tiles);
    (place.block, place.block * layout.slice_registers() + layout.in_slice(place), place.lane)
}

impl SlotClass {
    /// Adds a level, from what has been reached in the other class and where that has changed; returns how many states
    /// it reached for the first time, and how many entries.
    fn add_level(
        &mut self,
        (step, layout): (&SlotStep, Layout),
        other: &SlotClass,
        (class, depth): (usize, usize),
        sink: &dyn VisitSink,
        meter: &Meter<'_>,
    ) -> Result<(u64, u64), PdbError> {
        let SlotClass { seen, moves, full, changed } = self;
        let (unit, slice) = (unit(layout), layout.slice_registers());
        let per_task = stretch_slots(layout, changed.len());
        let parts = seen.words_mut().chunks_mut(per_task * unit);
        let masks = full.chunks_mut(per_task).zip(changed.chunks_mut(per_task));
        let tasks: Tasks<_, PdbError> = Tasks::new(parts.zip(masks));
        let wants = sink.wants(depth);
        let counts = rayon::broadcast(|_| {
            let mut sums = (0, 0);
            // Zero except for what the current stretch gains.
            let mut words = vec![[0; 8]; if wants { per_task * unit } else { 0 }];
            tasks.run(|stretch, (seen, (full, gained))| {
                meter.go_on()?;
                let words = if wants { &mut words[..seen.len()] } else { &mut [][..] };
                let first = stretch * per_task;
                let to = SlotStretch {
                    first,
                    source: other.seen.words(),
                    changed: &other.changed,
                    seen,
                    full,
                    gained: &mut *gained,
                    new: &mut *words,
                };
                let states = step.run(moves, to);
                let mut entries = states;
                if wants {
                    let visits =
                        FirstVisits { class, depth, stretch, first, states, gained, words, layout };
                    entries = sink.take(&visits)?;
                    for (words, &gained) in words.chunks_mut(unit).zip(&*gained) {
                        for number in bits(gained) {
                            words[number * slice..(number + 1) * slice].fill([0; 8]);
                        }
                    }
                }
                sums = (sums.0 + states, sums.1 + entries);
                meter.count(entries);
                Ok(())
            });
            sums
        });
        tasks.end()?;
        Ok(counts.into_iter().fold((0, 0), |sums, new| (sums.0 + new.0, sums.1 + new.1)))
    }
}
