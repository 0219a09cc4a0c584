//! Predicts the time and memory of a list search before it starts.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use num_bigint::BigUint;

use crate::{
    Error,
    frontier::{
        bucket_space::{LevelForm, ListShape},
        levels::MemoryLevels,
        search::{FrontierSearch, LevelKeeping},
    },
    outcome::Outcome,
    progress::{LevelDone, Progress, StopWhen},
    puzzle::PieceSet,
    stop::SearchError,
    system::OtherWork,
};

/// Time for each of three measuring searches: how deep they get, how fast, and how small their coded lists are.
const MEASURING: Duration = Duration::from_millis(700);
/// Seconds for a level below which it is not representative: starting it may take longer than its states do.
const TELLING: f64 = 0.02;
/// Nanoseconds that a thread takes to code a key and to read it again.
const CODING: f64 = 150.0;
/// Number of keys from which a list is packed, maximum number of chunks of a level, and bytes of one besides its lists.
const SHORT: f64 = 200.0;
const CHUNKS: f64 = 256.0;
const OF_CHUNK: f64 = 100.0;
/// Maximum number of levels that are predicted beyond the known ones.
const FURTHEST: usize = 30;

/// The forecast of a search to a depth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DepthForecast {
    /// The depth.
    pub depth: usize,
    /// Number of states at this depth.
    pub states: f64,
    /// Whether `states` is known from the measuring search or from published results.
    pub known: bool,
    /// Peak memory of the lists of a search to this depth, in bytes. The lists are coded if the memory limit would make
    /// the search code them.
    pub memory: f64,
    /// Peak memory in bytes if the last two levels are only counted.
    pub memory_ahead: f64,
    /// Disk space in bytes that a search on disk takes.
    pub disk: f64,
    /// Wall-clock time in seconds: measured if the measuring search reached this depth, otherwise predicted; `None` if
    /// that search was too short for a prediction.
    pub seconds: Option<f64>,
}

/// The forecast of searches of a puzzle to all depths.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrontierForecast {
    /// The depths from 0 on, up to the depth requested or the third depth that does not fit; fewer if the search is
    /// complete before that.
    pub depths: Vec<DepthForecast>,
    /// Number of symmetries of the puzzle that are used, 1 for none.
    pub symmetries: usize,
    /// Number of all symmetries of the puzzle; `None` if it is not known.
    pub all_symmetries: Option<BigUint>,
    /// The depth that was searched to measure the speed.
    pub measured_to: usize,
    /// Number of worker threads.
    pub threads: usize,
    /// The share of the processor time that other processes used during the measurement, if the system reports it.
    pub busy: Option<f64>,
    /// The greatest depth that fits in memory, `None` if there is none.
    pub fits: Option<usize>,
    /// The greatest depth that fits in memory with `count_ahead`.
    pub fits_ahead: Option<usize>,
}

/// Number of digits of a number of states that nobody searches completely.
const MOST_DIGITS: usize = 13;

impl FrontierSearch {
    /// Refuses a complete search of more states than any has.
    pub(crate) fn check_states(&self, states: Option<&BigUint>) -> Result<(), SearchError> {
        // Bitmaps are as large as the states are many, whatever the levels.
        let lists = self.max_depth.is_none() && !self.bitmaps;
        let states = states.filter(|_| lists).map(BigUint::to_string);
        match states.filter(|digits| digits.len() > MOST_DIGITS) {
            Some(states) => Err(SearchError::ManyStates {
                puzzle: self.puzzle().to_string(),
                states,
                fits: None,
            }),
            None => Ok(()),
        }
    }

    /// Refuses a complete search in memory that is not expected to fit there. Cost: nothing if the memory has a bit for
    /// each state up to symmetry, otherwise that of a forecast.
    pub(crate) fn check_room(&self, progress: &dyn Progress) -> Result<(), Error> {
        let Some(budget) = self.resources.memory.filter(|_| self.max_depth.is_none()) else {
            return Ok(());
        };
        let states = self.puzzle().states();
        self.check_states(states.as_ref())?;
        let many = |symmetries: usize| Some(BigUint::from(budget) * 8u8 * symmetries) < states;
        if !many(1) || !many(self.rows().symmetries(self.symmetry).order()) {
            return Ok(());
        }
        let forecast = self.forecast(&[], &StopWhen(|| progress.interrupted()))?;
        let last = forecast.depths.last().map(|last| last.depth);
        match states.zip(forecast.fits) {
            Some((states, depth)) if last > Some(depth) => {
                let (puzzle, states) = (self.puzzle().to_string(), states.to_string());
                let fits = Some((depth, budget));
                Err(SearchError::ManyStates { puzzle, states, fits }.into())
            }
            _ => Ok(()),
        }
    }

    /// Returns the forecast for searches to all depths up to that of this search; `published` contains the known
    /// numbers of states. Fails like [`FrontierSearch::run_with`].
    ///
    /// Cost: searches that take one to four seconds in total, which measure speed and growth. Further levels are
    /// predicted to grow like the last known ones, which usually overestimates them.
    pub fn forecast(
        &self,
        published: &[u64],
        progress: &dyn Progress,
    ) -> Result<FrontierForecast, Error> {
        self.forecast_within(MEASURING, published, progress)
    }

    /// The same, with this much time for each measuring search.
    fn forecast_within(
        &self,
        measuring: Duration,
        published: &[u64],
        progress: &dyn Progress,
    ) -> Result<FrontierForecast, Error> {
        let most = self.max_depth.unwrap_or(usize::MAX);
        let until = Instant::now() + measuring;
        let others = OtherWork::begin();
        let mut measuring = self.clone();
        measuring.measures = true;
        let to = |depth| measuring.clone().max_depth(depth).count_ahead(0).keep_last(0);
        let rows = self.rows();
        // A search is arranged for its last depth, and one for a great depth spends its time with empty lists: so one
        // search after the other, each as far as it is expected to come in the time left.
        let pieces = self.puzzle().sets().iter().map(PieceSet::positions).sum();
        let first = first_depth(rows.first_widths(), pieces).min(most);
        let mut depth = first;
        let mut reached = 0;
        let found = loop {
            let measure = Measure { progress, until, deepest: AtomicUsize::new(0) };
            let found = match to(depth).run_with(&measure) {
                Err(Error::Search(SearchError::Level { .. } | SearchError::Interrupted { .. }))
                    if !progress.interrupted() =>
                {
                    let deepest = measure.deepest.into_inner().max(reached);
                    // The first levels have few states: their growth is known however slow the machine is.
                    break match to(deepest.max(first)).run_with(progress) {
                        Err(Error::Search(SearchError::Level { .. })) => {
                            to(deepest).run_with(progress)?
                        }
                        found => found?,
                    };
                }
                found => found?,
            };
            let left = until.saturating_duration_since(Instant::now()).as_secs_f64();
            let growth = growth(&found.counts).max(1.5);
            let further = found.level_seconds.last().map_or(0.0, |last| last.max(1e-5)) * growth;
            // What remains of the time is enough for this many levels more: a geometric series.
            let more = (left - found.seconds) * (1.0 - 1.0 / growth) / further;
            let levels = if more < 1.0 { 0 } else { more.log(growth) as usize + 1 };
            if found.complete || depth == most || levels == 0 {
                break found;
            }
            reached = depth;
            depth = (depth + levels).min(most);
        };
        let searched = found.counts.len();
        let counts = found.counts.iter().copied().chain(published.iter().copied().skip(searched));
        let mut counts: Vec<f64> = counts.map(|states| states as f64).collect();
        let known = counts.len();
        let total = rows.all_states();
        let (seconds, states) = (found.level_seconds[searched - 1], found.counts[searched - 1]);
        let pace = (seconds > TELLING).then(|| seconds / states as f64);
        let memory = self.resources.memory.map_or(f64::INFINITY, |memory| memory as f64);
        let threads = found.threads as f64;
        let all = rows.most_states();
        let is_canonical =
            |depth| matches!(self.clone().max_depth(depth).weigh(rows), LevelKeeping::Canonical);
        // Levels have an order that random sets of states do not have: what this saves, and what lists cost beyond
        // these bits, is measured on the widest level.
        let saved = if is_canonical(searched - 1) {
            1.0
        } else {
            let search = to(searched - 1).keep_last(1);
            let mut choice = search.choose(rows, None);
            choice.form = Some(LevelForm::Coded);
            let found = search.search(rows, &choice, &mut MemoryLevels::default(), progress);
            match found {
                Err(Error::Search(SearchError::Level { .. })) => 1.0,
                found => {
                    let Outcome { counts, lists, .. } = found?;
                    let lists = lists.unwrap_or_default();
                    let widest = (0..counts.len()).max_by_key(|&depth| lists.kept[depth]);
                    widest.filter(|&depth| lists.kept[depth] > 10_000).map_or(1.0, |depth| {
                        let bits = 8.0 * lists.bytes[depth] as f64 / lists.kept[depth] as f64;
                        bits / all_bits(total, counts[depth] as f64)
                    })
                }
            }
        };
        // The time of the measuring search until the end of a level.
        let until = |depth: usize| {
            found.level_seconds[depth + 1..].iter().fold(found.seconds, |all, level| all - level)
        };
        let mut of = FrontierForecast {
            depths: Vec::new(),
            symmetries: found.symmetries(),
            all_symmetries: found.lists.and_then(|lists| lists.all_symmetries),
            measured_to: searched - 1,
            threads: found.threads,
            busy: others.and_then(|others| others.share()),
            fits: None,
            fits_ahead: None,
        };
        let (mut peak, mut peak_ahead) = (0.0f64, 0.0f64);
        let mut seconds = Some(found.seconds);
        for depth in 0..searched.max(known) + FURTHEST {
            if depth > most || found.complete && depth == searched {
                break;
            }
            if depth == counts.len() {
                let whole: Vec<u64> = counts.iter().map(|&states| states as u64).collect();
                let left = total - counts.iter().sum::<f64>();
                // From the start alone nothing is known but that each move leads somewhere.
                let growth = match &whole[..] {
                    [_] => self.puzzle().moves().len() as f64,
                    whole => growth(whole),
                };
                counts.push((counts[depth - 1] * growth).min(left));
            }
            let states = counts[depth];
            if states < 1.0 {
                break;
            }
            let search = self.clone().max_depth(depth);
            let keeping = search.weigh(rows);
            let lists = |shape: ListShape| {
                let kept = all / shape.symmetries;
                // Small buckets remain lists.
                let is_small = kept < 1000.0 * shape.buckets;
                let full = if is_small { f64::INFINITY } else { kept * 3.0 / 8.0 };
                let directed = self.puzzle().is_directed();
                ListSizes { shape, total, saved, all, full, memory, directed }
            };
            // Searches on disk always have buckets.
            let (lists, on_disk) = match keeping {
                LevelKeeping::Buckets(choice) => {
                    (lists(choice.shape(rows)), lists(choice.shape(rows)))
                }
                LevelKeeping::Canonical => (
                    lists(ListShape::canonical(rows, self.symmetry)),
                    lists(search.choose(rows, None).shape(rows)),
                ),
            };
            // The states at the last depth are only counted.
            let (bytes, is_coded) = lists.peak(&counts[..depth]);
            peak = peak.max(bytes);
            peak_ahead = peak_ahead.max(lists.peak(&counts[..depth.saturating_sub(1)]).0);
            let at = |back: usize| depth.checked_sub(back).map_or(0.0, |depth| counts[depth]);
            seconds = match depth < searched {
                true => Some(until(depth)),
                false => seconds.zip(pace).map(|(seconds, pace)| {
                    let coding = CODING * 1e-9 / threads * at(1) / lists.shape.symmetries;
                    seconds + states * pace + if is_coded { coding } else { 0.0 }
                }),
            };
            of.depths.push(DepthForecast {
                depth,
                states,
                known: depth < known,
                memory: peak,
                memory_ahead: peak_ahead,
                disk: on_disk.coded(at(1)) + on_disk.coded(at(2)),
                seconds,
            });
            of.fits = (peak <= memory).then_some(depth).or(of.fits);
            of.fits_ahead = (peak_ahead <= memory).then_some(depth).or(of.fits_ahead);
            if self.max_depth.is_none() && of.fits_ahead.is_some_and(|fits| depth >= fits + 2) {
                break;
            }
        }
        Ok(of)
    }
}

/// Stops a search in time, and records how deep it got.
struct Measure<'a> {
    progress: &'a dyn Progress,
    until: Instant,
    deepest: AtomicUsize,
}

impl Progress for Measure<'_> {
    fn level(&self, level: &LevelDone) {
        self.deepest.store(level.depth, Ordering::Relaxed);
    }

    fn interrupted(&self) -> bool {
        self.progress.interrupted() || Instant::now() > self.until
    }
}

/// The depth to which any search measures: one more than these, unless that costs more than some seconds, as it does with
/// hundreds of moves or thousands of pieces.
fn first_depth(widths: &[f64], pieces: usize) -> usize {
    let next = match widths {
        [.., before, last] => last * last / before.max(1.0),
        _ => 0.0,
    };
    widths.len() - usize::from(next * pieces as f64 > 3e8)
}

/// The ratio between the last of some levels and the previous one.
fn growth(counts: &[u64]) -> f64 {
    match counts {
        [.., before, last] => *last as f64 / *before as f64,
        _ => 1.0,
    }
}

/// The number of bits per state of a list of this many of all states.
fn all_bits(total: f64, states: f64) -> f64 {
    (total.min(1e300) / states).log2().max(0.0) + 4.0
}

/// The sizes of the lists of levels, in bytes, for a given coordinate.
struct ListSizes {
    shape: ListShape,
    /// The number of all states, infinite if it is not known, and the share of [`all_bits`] that a list takes.
    total: f64,
    saved: f64,
    /// An upper bound on the number of states, and the size in bytes of all levels as bits.
    all: f64,
    full: f64,
    /// The memory limit.
    memory: f64,
    /// Whether all levels are kept.
    directed: bool,
}

impl ListSizes {
    /// Size of the indices: where the lists begin, and where their codes end.
    fn indices(&self, coded: bool) -> f64 {
        let of_bucket = if coded { 8.0 } else { 4.0 };
        self.shape.buckets * of_bucket + self.shape.buckets.min(CHUNKS) * OF_CHUNK
    }

    fn plain(&self, states: f64) -> f64 {
        states / self.shape.symmetries * self.shape.key_bytes + self.indices(false)
    }

    fn coded(&self, states: f64) -> f64 {
        let keys = states / self.shape.symmetries;
        // Short lists are not compressed.
        let least = if keys < SHORT * self.shape.buckets { 2.2 } else { 1.0 };
        let each = self.saved * all_bits(self.total, states) / 8.0;
        let each = each.clamp(least, self.shape.key_bytes);
        // Lists of some puzzles take a tenth more than those that were measured.
        1.1 * keys * each + self.indices(true)
    }

    /// The maximum size of the lists of these levels, given that a search decides level by level whether to code them;
    /// and whether it codes the last one.
    fn peak(&self, counts: &[f64]) -> (f64, bool) {
        let (mut taken, mut before, mut peak) = (0.0, 0.0, 0.0f64);
        let mut is_coded = false;
        for (depth, &states) in counts.iter().enumerate() {
            let left = self.memory - taken;
            let plain = self.plain(states);
            // What the search expects for the level.
            let last = depth.checked_sub(1).map_or(1.0, |last| counts[last]);
            let growth = depth.checked_sub(2).map_or(1.0, |before| last / counts[before]).max(1.0);
            let keys = last * growth / self.shape.symmetries * self.shape.key_bytes;
            let is_wide = keys > 0.5 * left;
            let is_alone = self.shape.buckets < 2.0;
            if (is_wide || is_alone) && self.full <= left && keys > self.full / 3.0 {
                // Levels before the middle are computed from lists if these fit.
                let mut known = 0.0;
                let listed = counts.iter().map(|&states| {
                    known += states;
                    let is_early = 2.0 * known < self.all;
                    self.plain(states) * f64::from(u8::from(is_early))
                });
                let listed = listed.skip(depth).filter(|&bytes| bytes <= left - self.full);
                let listed = listed.fold(0.0, f64::max);
                return (peak.max(taken + self.full).max(self.full + listed), false);
            }
            is_coded = depth > 0 && (is_wide || plain > left);
            let bytes = if is_coded { self.coded(states) } else { plain };
            peak = peak.max(taken + bytes);
            taken = bytes + if self.directed { taken } else { before };
            before = bytes;
        }
        (peak, is_coded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        progress::NoProgress,
        puzzle::{Turns, named},
    };

    fn pocket_cube() -> FrontierSearch {
        let puzzle = named::parse("2x2x2").unwrap().counting(Turns::Powers).unwrap();
        FrontierSearch::new(puzzle)
    }

    fn forecast(depth: Option<usize>, memory: u64) -> FrontierForecast {
        let search = pocket_cube().max_depth(depth).memory(memory);
        search.forecast_within(Duration::from_secs(60), &[], &NoProgress).unwrap()
    }

    /// A search that has no time measures nothing beyond the first levels, some thousand states, and all further levels
    /// are predicted until they have all states.
    #[test]
    fn what_was_not_measured_in_time_is_expected() {
        let search = pocket_cube().max_depth(Some(11)).memory(1 << 30);
        let of = search.forecast_within(Duration::ZERO, &[], &NoProgress).unwrap();
        let first = search.rows().first_widths().len();
        assert!(of.measured_to <= first, "{first}: {of:?}");
        assert!(of.depths.iter().all(|depth| depth.known == (depth.depth <= of.measured_to)));
        let all: f64 = of.depths.iter().map(|depth| depth.states).sum();
        assert_eq!((all.round(), of.fits), (3_674_160.0, Some(of.depths.len() - 1)), "{of:?}");
    }

    #[test]
    fn times_are_those_of_the_search_that_measures_as_far_as_it_goes() {
        let of = forecast(None, 1 << 30);
        assert_eq!((of.measured_to, of.fits, of.fits_ahead), (11, Some(11), Some(11)));
        let took = pocket_cube().run().unwrap().seconds;
        let expected = of.depths[11].seconds.unwrap();
        assert!(expected < 8.0 * took + 0.5, "{expected} s, {took} s measured");
        // The cost of one level is not that of starting the levels before it.
        let of = forecast(Some(2), 1 << 30);
        assert!(of.depths.iter().all(|depth| depth.seconds.is_some_and(|s| s < 2.0)));
    }

    #[test]
    fn searches_that_measure_do_not_begin_with_levels_that_take_minutes() {
        // Rubik's cube, 990 signed reversals, the 20x20x20.
        assert_eq!(first_depth(&[1.0, 18.0, 243.0, 3240.0, 43239.0], 20), 5);
        assert_eq!(first_depth(&[1.0, 990.0, 470_000.0], 44), 2);
        assert_eq!(first_depth(&[1.0, 180.0, 24_000.0], 2_400), 2);
        assert_eq!(first_depth(&[1.0], 2), 1);
    }

    #[test]
    fn the_memory_is_the_peak_of_the_lists_and_what_fits_by_it_fits() {
        for budget in [1 << 20, 3 << 20, 1 << 30] {
            let of = forecast(None, budget);
            assert!(of.depths.is_sorted_by(|a, b| a.memory <= b.memory), "{of:?}");
            for depth in &of.depths {
                assert!(depth.memory_ahead <= depth.memory);
                let fits = depth.memory <= budget as f64;
                assert_eq!(fits, of.fits.is_some_and(|most| depth.depth <= most), "{of:?}");
            }
            let most = of.fits.unwrap();
            let found = pocket_cube().max_depth(most).memory(budget).run().unwrap();
            let (expected, took) = (of.depths[most].memory, found.array_bytes as f64);
            let near = 0.6 * expected < took && took < 1.5 * expected;
            assert!(near, "{budget}, depth {most}: {expected} expected, {took}");
        }
    }
}
