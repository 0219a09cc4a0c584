//! One level of one class of sets, cut into stretches that the threads share.
//!
//! Invariant: a pass only adds bits to its class and only reads the other one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use super::Kind;
use crate::perm::kernel::{FirstVisits, Move, Moves, PatternStep, Stretch};
use crate::perm::layout::{Layout, Register};
use crate::progress::{Phase, Progress};

/// Registers of a stretch: 192 KiB of bytes seen and as many values, half of the nearest private cache.
const STRETCH_REGISTERS: usize = 3072;

/// Collects the slices' flags into a bit mask per set; returns whether any slice changed.
pub(super) fn merge(flags: &[u8], changed: &mut [u64]) -> bool {
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

/// One level of one class.
pub(super) struct Pass<'a> {
    /// Levels are kept per arrangement, or per arrangement and bit.
    pub kind: Kind,
    pub layout: Layout,
    pub step: &'a PatternStep,
    /// For each set all its bits.
    pub bits: &'a [u8],
    /// First bit of each set in the values, and one more for the end, where a value is kept per bit.
    pub slots: &'a [u32],
    /// The moves into the sets.
    pub moves: &'a Moves,
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
struct Task<'a> {
    slice: usize,
    first: usize,
    seen: &'a mut [Register],
    values: &'a mut [Register],
    flags: &'a mut [u8],
}

impl Pass<'_> {
    /// Adds one level to a class; returns how many entries it reached first.
    pub fn run(&self, seen: &mut [Register], values: &mut [Register], flags: &mut [u8]) -> u64 {
        let live: Vec<u64> = (0..self.bits.len())
            .into_par_iter()
            .with_min_len(256)
            .map(|set| {
                let reach = |m: &Move| self.step.reaches(m.shift, self.changed[m.source as usize]);
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
    ) -> Vec<Task<'b>> {
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
                tasks.push(Task {
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
