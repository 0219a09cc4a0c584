//! What a search by lists takes, told before it is started.

use crate::{
    Error,
    frontier::{
        choice::CoordinateChoice, fields::StateFields, levels::MemoryLevels, search::FrontierSearch,
    },
    progress::Progress,
};

/// Seconds that a level must take to be a measure of others, and that no search for one may take.
const ENOUGH: f64 = 0.25;
const TOO_LONG: f64 = 3.0;
/// Nanoseconds that a thread takes to code a key and to read it again.
const CODING: f64 = 150.0;
/// Most levels that are expected beyond the known ones.
const FURTHEST: usize = 30;

/// What is expected of a search to some depth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DepthForecast {
    /// The depth.
    pub depth: usize,
    /// How many states it has.
    pub states: f64,
    /// Whether that is known: searched just now, or published.
    pub known: bool,
    /// Bytes of memory of the lists of a search to there.
    pub memory: f64,
    /// The same where the last two levels are counted only.
    pub memory_ahead: f64,
    /// Bytes of disk of one on disk.
    pub disk: f64,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// What is expected of the searches of a puzzle.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrontierForecast {
    /// The depths from 0 on, up to the one asked for or the first three that do not fit; fewer where all states come
    /// before.
    pub depths: Vec<DepthForecast>,
    /// How many symmetries there are.
    pub symmetries: usize,
    /// The depth that was searched to measure the speed.
    pub measured_to: usize,
    /// Worker threads.
    pub threads: usize,
    /// The greatest depth that fits the memory.
    pub fits: Option<usize>,
    /// The same with `count_ahead`.
    pub fits_ahead: Option<usize>,
}

impl FrontierSearch {
    /// Returns what searches to the depths up to that of this one take; `published` has known levels.
    ///
    /// Cost: searches of some seconds together, from which speed and growth are taken. Levels beyond are expected to grow as
    /// the last known ones do, which is rather too much.
    ///
    /// # Errors
    /// As [`FrontierSearch::run_with`].
    pub fn forecast(
        &self,
        published: &[u64],
        progress: &dyn Progress,
    ) -> Result<FrontierForecast, Error> {
        let most = self.max_depth.unwrap_or(usize::MAX);
        let mut measured_to = most.min(3);
        let found = loop {
            let search = self.clone().max_depth(measured_to).count_ahead(false).keep_last(0);
            let found = search.run_with(progress)?;
            let last = found.levels.last().map_or(0.0, |level| level.seconds);
            let next = found.seconds + last * growth(&found.counts());
            if found.complete || measured_to >= most || last > ENOUGH || next > TOO_LONG {
                break found;
            }
            measured_to += 1;
        };
        let mut counts: Vec<f64> = found.counts().iter().map(|&states| states as f64).collect();
        let searched = counts.len();
        counts.extend(published.iter().skip(searched).map(|&states| states as f64));
        let known = counts.len();
        let total = self.puzzle.states().and_then(|states| states.to_string().parse().ok());
        let total: f64 = total.unwrap_or(f64::INFINITY);
        let pace = found.levels[searched - 1].seconds / counts[searched - 1];
        let words = f64::from(key_bits(&StateFields::of(&self.puzzle)).div_ceil(60).max(1));
        let symmetries = found.symmetries as f64;
        let memory = self.resources.memory.map_or(f64::INFINITY, |memory| memory as f64);
        let threads = found.threads as f64;
        // Bytes of the lists of a level, as keys and coded: what is left to say of a state, and where its key ends.
        let plain = |states: f64| states / symmetries * 8.0 * words;
        let all_bits = |states: f64| (total.min(1e300) / states).log2().max(0.0) + 4.0;
        // Levels have an order that random sets of states have not: how much that saves is measured.
        let saved = {
            let fields = StateFields::of(&self.puzzle);
            let search = self.clone().max_depth(searched - 1).count_ahead(false).keep_last(1);
            let choice = CoordinateChoice { coded: true, ..search.choose(&fields) };
            let store = &mut MemoryLevels::default();
            let found = search.search(&fields, &choice, store, progress)?;
            let last = found.levels.last().filter(|level| level.kept > 10_000);
            last.map_or(1.0, |level| {
                let bits = 8.0 * level.bytes as f64 / level.kept as f64;
                (bits / all_bits(level.states as f64)).min(1.0)
            })
        };
        let coded = |states: f64| {
            states / symmetries * (saved * all_bits(states) / 8.0).clamp(0.5, 8.0 * words)
        };
        let mut of = FrontierForecast {
            depths: Vec::new(),
            symmetries: found.symmetries,
            measured_to: searched - 1,
            threads: found.threads,
            fits: None,
            fits_ahead: None,
        };
        let mut sum = 0.0;
        let mut seconds = 0.0;
        for depth in 0..searched.max(known) + FURTHEST {
            if depth > most || found.complete && depth == searched {
                break;
            }
            if depth == counts.len() {
                let whole: Vec<u64> = counts.iter().map(|&states| states as u64).collect();
                counts.push((counts[depth - 1] * growth(&whole)).min(total - sum));
            }
            let states = counts[depth];
            if states < 1.0 {
                break;
            }
            sum += states;
            let at = |back: usize| depth.checked_sub(back).map_or(0.0, |depth| counts[depth]);
            let lists = |first: usize| {
                let levels = [at(first), at(first + 1)];
                let kept: f64 = levels.iter().map(|&states| plain(states)).sum();
                let short: f64 = levels.iter().map(|&states| coded(states)).sum();
                if kept > memory / 2.0 { (short.min(kept), true) } else { (kept, false) }
            };
            let (bytes, is_coded) = lists(1);
            let (ahead, _) = lists(2);
            let coding = if is_coded { CODING * 1e-9 / threads * at(1) / symmetries } else { 0.0 };
            seconds += states * pace + coding;
            of.depths.push(DepthForecast {
                depth,
                states,
                known: depth < known,
                memory: bytes,
                memory_ahead: ahead,
                disk: coded(at(1)) + coded(at(2)),
                seconds,
            });
            // A quarter of the memory is for where lists begin and end, and for lists that are longer than expected.
            let room = 0.75 * memory;
            if bytes <= room {
                of.fits = Some(depth);
            }
            if ahead <= room {
                of.fits_ahead = Some(depth);
            }
            if self.max_depth.is_none() && of.fits_ahead.is_some_and(|fits| depth >= fits + 2) {
                break;
            }
        }
        Ok(of)
    }
}

/// By how much the last of some levels is larger than the one before.
fn growth(counts: &[u64]) -> f64 {
    match counts {
        [.., before, last] => *last as f64 / *before as f64,
        _ => 1.0,
    }
}

/// Bits of the fields of a state.
fn key_bits(fields: &StateFields) -> u32 {
    fields.fields.iter().map(|field| usize::BITS - (field.values - 1).leading_zeros()).sum()
}
