//! Progress on stderr: one line on a terminal, log lines after 1, 2, 4, .. seconds and then every minute elsewhere.
//!
//! Invariant: the line fits the terminal and is gone when the work ends; whatever else is written to stderr
//! goes through [`aside`], so that no piece of it stays.

use std::{
    io::{self, IsTerminal, Write},
    sync::{
        Arc, LazyLock, Once,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parking_lot::Mutex;
use tilewave::{
    progress::{LevelDone, Phase},
    report::{counted, duration, rate},
};

use crate::platform;

/// The time before the first line of a log, and the longest one between two: each pause is as long as all before it.
const FIRST_LOG: Duration = Duration::from_secs(1);
const LOG_EVERY: Duration = Duration::from_secs(60);

const DRAW_HZ: u8 = 8;

/// Steps of the bar, more than it has places.
const STEPS: u64 = 1000;

/// The line that is on the terminal.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

static HIDDEN: AtomicBool = AtomicBool::new(false);

pub fn hide() {
    HIDDEN.store(true, Ordering::Relaxed);
}

/// Lets something else be written, the line out of the way.
pub fn aside<T>(write: impl FnOnce() -> T) -> T {
    let bar = SHOWN.lock().clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Whether stderr is a terminal that can move its cursor.
fn is_screen() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether the log is coloured.
pub fn is_coloured() -> bool {
    is_screen() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Where the log goes: stderr, beside the line. What cannot be written there is lost, the work goes on.
pub struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = aside(|| io::stderr().write_all(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line about work: on a terminal drawn again and again, elsewhere a line of the log.
pub struct StatusLine {
    bar: Option<ProgressBar>,
    log: bool,
    begun: Instant,
    /// When there is something to say next.
    next: Mutex<Instant>,
}

impl StatusLine {
    /// The line of some work, empty until something is said.
    pub fn new() -> StatusLine {
        let hidden = HIDDEN.load(Ordering::Relaxed);
        // A log line per level (-v) and a line that moves would take turns.
        let moving = is_screen() && !tracing::enabled!(tracing::Level::DEBUG);
        let bar = (!hidden && moving).then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(DRAW_HZ);
            let bar = ProgressBar::with_draw_target(Some(STEPS), target);
            // The template is fixed; a wrong one would show at the first run on a terminal.
            if let Ok(style) = ProgressStyle::with_template("{bar:12} {wide_msg}") {
                bar.set_style(style);
            }
            SHOWN.lock().replace(bar.clone());
            bar
        });
        StatusLine {
            bar,
            log: !hidden && !is_screen(),
            begun: Instant::now(),
            // A short search says nothing where lines stay.
            next: Mutex::new(Instant::now() + if moving { Duration::ZERO } else { FIRST_LOG }),
        }
    }

    /// Says how far the work is, a share and some words, if it is time to. Called by any thread, thousands
    /// of times a second.
    pub fn say(&self, words: impl FnOnce() -> (f64, String)) {
        let pause = match (&self.bar, self.log) {
            (Some(_), _) => Duration::from_secs(1) / u32::from(DRAW_HZ),
            (None, true) => pause(self.begun.elapsed()),
            (None, false) => return,
        };
        // Whoever finds the clock taken leaves it to the other.
        let Some(mut next) = self.next.try_lock() else {
            return;
        };
        let now = Instant::now();
        if now < *next {
            return;
        }
        *next = now + pause;
        let (share, text) = words();
        match &self.bar {
            Some(bar) => {
                bar.set_position((share * STEPS as f64) as u64);
                bar.set_message(format!("{:>2} %  {text}", percent(share)));
            }
            None => tracing::info!("{text}"),
        }
    }
}

/// The time until the next line of a log, after so much time.
fn pause(begun: Duration) -> Duration {
    begun.clamp(FIRST_LOG, LOG_EVERY)
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
            SHOWN.lock().take();
        }
    }
}

/// A share in whole percent: 100 only when the work is over, and then nobody says it.
fn percent(share: f64) -> u64 {
    ((share * 100.0) as u64).min(99)
}

/// The time that the rest takes, in whole seconds at least.
pub fn eta(seconds: f64) -> String {
    match seconds < 59.5 {
        true => format!("ETA {:.0} s", seconds.max(1.0)),
        false => format!("ETA {}", duration(seconds)),
    }
}

/// Shows a search or work on a database, and passes on Ctrl-C.
pub struct SearchProgress {
    line: StatusLine,
    /// What the work is a part of: `database 2 of 4: `, or nothing.
    part: String,
    tally: Mutex<LineTally>,
}

struct LineTally {
    begun: Instant,
    /// States to find (0: entries of a database), those found, and those of an earlier session among them.
    all: u64,
    found: u64,
    before: u64,
    /// The number of states of a puzzle that is searched by lists, as far as it is known.
    most: u64,
    /// States of the last three levels, and when the one at hand was begun.
    last: [u64; 3],
    level_begun: Instant,
    /// The share of it that existed then; `None` in a search that goes on, until it is told.
    level_first: Option<f64>,
}

impl SearchProgress {
    /// The progress of some work, and begins to listen for Ctrl-C.
    pub fn new() -> SearchProgress {
        SearchProgress::of_part("", 0, 1)
    }

    /// The progress of one of several things, which its words begin with.
    pub fn of_part(thing: &str, index: usize, all: usize) -> SearchProgress {
        let part = match all {
            1 => String::new(),
            all => format!("{thing} {} of {all}: ", index + 1),
        };
        listen();
        SearchProgress {
            line: StatusLine::new(),
            part,
            tally: Mutex::new(LineTally {
                begun: Instant::now(),
                all: 0,
                found: 0,
                before: 0,
                most: u64::MAX,
                last: [0; 3],
                level_begun: Instant::now(),
                level_first: Some(0.0),
            }),
        }
    }
}

impl LineTally {
    /// A level with this many states has been found.
    fn ended(&mut self, states: u64) {
        self.found += states;
        self.last = [self.last[1], self.last[2], states];
        (self.level_begun, self.level_first) = (Instant::now(), Some(0.0));
    }

    /// `depth 31, 41 % of it  12,345 states  1.9 G states/s  ETA 12 s`.
    fn of_search(&mut self, depth: usize, level_share: f64) -> (f64, String) {
        if self.all == u64::MAX {
            return self.of_lists(depth, level_share);
        }
        let seconds = self.begun.elapsed().as_secs_f64();
        let speed = (self.found - self.before) as f64 / seconds.max(1e-9);
        let rest = self.all.saturating_sub(self.found) as f64 / speed.max(1e-9);
        let share = percent(level_share);
        let mut line = format!("depth {depth}, {share} % done  {}", counted(self.found, "state"));
        // States are counted by whole levels: a search that goes on in the middle of one has no speed yet.
        if speed > 0.0 {
            line += &format!("  {} states/s", rate(speed));
        }
        // The first levels are so thin that they say nothing about the rest.
        if self.found - self.before > self.all / 1000 {
            line += &format!("  {}", eta(rest));
        }
        (self.found as f64 / self.all.max(1) as f64, line)
    }

    /// Of a search by lists nobody knows how many states a level will have: the one at hand is expected to grow as the
    /// one before did, less by as much as that grew less, and no level has more states than are left. The time that is
    /// left is the level's. In the first two levels of a search that goes on, nothing is known of that.
    fn of_lists(&mut self, depth: usize, share: f64) -> (f64, String) {
        let first = *self.level_first.get_or_insert(share);
        let mut line = format!("depth {depth}, {} % done", percent(share));
        let [first_one, before, last] = self.last.map(|states| states as f64);
        if before > 0.0 {
            let growth = last / before;
            let trend = if first_one > 0.0 { growth / (before / first_one) } else { 1.0 };
            let left = self.most.saturating_sub(self.found) as f64;
            let level = (last * growth * trend.min(1.0)).min(left);
            let new = (self.found - self.before) as f64 + (share - first) * level;
            let seconds = self.begun.elapsed().as_secs_f64();
            let found = self.found + (share * level) as u64;
            line += &format!("  about {}", counted(found, "state"));
            line += &format!("  {} states/s", rate(new / seconds.max(1e-9)));
        } else {
            line += &format!("  {}", counted(self.found, "state"));
        }
        if share - first > 0.01 {
            let took = self.level_begun.elapsed().as_secs_f64();
            line += &format!("  {} for this depth", eta(took / (share - first) * (1.0 - share)));
        }
        (share, line)
    }
}

impl tilewave::Progress for SearchProgress {
    fn started(&self, states: u64) {
        self.tally.lock().all = states;
    }

    fn at_most(&self, states: u64) {
        self.tally.lock().most = states;
    }

    fn continued(&self, depth: usize, states: u64) {
        let mut tally = self.tally.lock();
        (tally.found, tally.before, tally.level_first) = (states, states, None);
        if depth > 0 {
            let states = counted(states, "state");
            tracing::info!("continuing after depth {depth}: {states} found so far");
        }
    }

    fn progress(&self, phase: Phase, done: u64, total: u64) {
        self.line.say(|| {
            let share = done as f64 / total.max(1) as f64;
            let words = match phase {
                Phase::Search(depth) => {
                    let mut tally = self.tally.lock();
                    if tally.all > 0 {
                        return tally.of_search(depth, share);
                    }
                    format!("value {depth}: {}", counted(done, "entry"))
                }
                Phase::Setup => "building tables".into(),
                Phase::Resume => "rereading the last levels".into(),
                Phase::Order => "sorting entries".into(),
                Phase::File => "reading or writing the file".into(),
                Phase::Check => "checking".into(),
            };
            (share, format!("{}{words}", self.part))
        });
    }

    fn level(&self, level: &LevelDone) {
        let mut tally = self.tally.lock();
        tally.ended(level.states);
        let (depth, noun) = match tally.all {
            0 => ("value", "entry"),
            _ => ("depth", "state"),
        };
        drop(tally);
        let states = counted(level.states, noun);
        tracing::debug!("{}{depth} {}: {states}", self.part, level.depth);
    }

    fn rebuilding(&self, depth: usize, reason: &str) {
        tracing::warn!("{reason}: recomputing depth {depth}");
    }

    fn interrupted(&self) -> bool {
        asked()
    }
}

// Signals: Ctrl-C once to stop cleanly, twice to quit now.

pub const INTERRUPTED: u8 = 130;

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Begins to listen for Ctrl-C, termination and a lost terminal, if not listening already.
pub fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| platform::listen(&ASKED, INTERRUPTED));
}

/// Whether the user has asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Stops as if the user had asked: somebody else was asked.
pub fn ask() {
    ASKED.store(true, Ordering::Relaxed);
}

/// What the system says of this process under a name, in files that only Linux has.
pub fn of_process(name: &str) -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(value.trim().to_string())
}

#[cfg(test)]
mod tests {
    use tilewave::Progress;

    use super::*;

    #[test]
    fn what_an_earlier_session_did_is_no_work_of_this_one() {
        let progress = SearchProgress::new();
        progress.started(u64::MAX);
        progress.continued(29, 25_077_799_715);
        let told = |depth, share| progress.tally.lock().of_search(depth, share).1;
        // Nothing is known of the speed until a level has been found.
        assert_eq!(told(30, 0.13), "depth 30, 13 % done  25,077,799,715 states");
        assert!(!told(30, 0.5).contains("states/s"));
        progress.tally.lock().ended(28_070_588_413);
        assert!(told(31, 0.06).starts_with("depth 31, 6 % done  53,148,388,128 states  ETA "));
        progress.tally.lock().ended(56_212_979_470);
        let line = told(32, 0.5);
        assert!(line.contains("about 165,646,241,5") && line.contains(" states/s"), "{line}");
        // The growth falls, and there are no more states than those of the puzzle.
        progress.tally.lock().ended(70_000_000_000);
        let line = told(33, 0.999_999);
        let about = "about 233,";
        assert!(line.contains(about), "{line}");
        progress.at_most(200_000_000_000);
        assert!(told(33, 0.999_999).contains("about 199,"), "{}", told(33, 0.999_999));
    }

    #[test]
    fn a_log_of_a_long_search_is_short() {
        let mut told = vec![FIRST_LOG];
        while told.last().unwrap().as_secs() < 3600 {
            let last = *told.last().unwrap();
            told.push(last + pause(last));
        }
        let seconds: Vec<u64> = told.iter().map(Duration::as_secs).take(9).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 64, 124, 184]);
        assert_eq!(told.len(), 66);
    }
}
