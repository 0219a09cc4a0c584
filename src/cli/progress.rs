//! The progress of a search on stderr: a bar on a terminal, a log line per level elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tilewave::bfs::{Level, Observer};
use tilewave::report::{duration, rate, thousands};

use super::{Talk, interrupt};

/// Least time between two log lines.
const LOG_EVERY: Duration = Duration::from_secs(1);
/// Drawings of the bar per second.
const DRAW_HZ: u8 = 8;

/// Shows a search and passes on Ctrl-C.
pub struct Progress {
    bar: Option<ProgressBar>,
    log: bool,
    tally: Mutex<Tally>,
}

struct Tally {
    all: u64,
    found: u64,
    /// States of an earlier session.
    before: u64,
    depth: usize,
    begun: Instant,
    logged: Instant,
}

impl Progress {
    /// Returns the observer of a search, and begins to listen for Ctrl-C.
    pub fn new(talk: Talk) -> Progress {
        interrupt::listen();
        let terminal = std::io::stderr().is_terminal();
        // A log line per level (-v) and a bar would write over each other.
        let levels_logged = tracing::enabled!(tracing::Level::DEBUG);
        let now = Instant::now();
        Progress {
            bar: (talk.progress && terminal && !levels_logged).then(bar),
            log: talk.progress && !terminal,
            tally: Mutex::new(Tally {
                all: 0,
                found: 0,
                before: 0,
                depth: 0,
                begun: now,
                logged: now,
            }),
        }
    }

    fn tally(&self) -> std::sync::MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(|e| e.into_inner())
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(DRAW_HZ));
    // The template is fixed; a wrong one would show at the first run of any test.
    if let Ok(style) = ProgressStyle::with_template("{bar:20.cyan/blue} {percent:>3} %  {msg}") {
        bar.set_style(style);
    }
    bar
}

impl Tally {
    /// `depth 31 (41 %)  12,345 states  1.9 G states/s  ETA 12 s`: the share is of the level.
    fn line(&self, level_share: Option<f64>) -> String {
        let seconds = self.begun.elapsed().as_secs_f64();
        let speed = (self.found - self.before) as f64 / seconds.max(1e-9);
        let rest = self.all.saturating_sub(self.found) as f64 / speed.max(1e-9);
        let mut line = format!("depth {}", self.depth);
        if let Some(share) = level_share {
            line += &format!(" ({:.0} %)", share * 100.0);
        }
        line += &format!(
            "  {} states  {} states/s",
            thousands(self.found),
            rate(speed)
        );
        // The first levels are so thin that they say nothing about the rest.
        if self.found - self.before > self.all / 1000 {
            line += &format!("  ETA {}", duration(rest));
        }
        line
    }
}

impl Observer for Progress {
    fn started(&self, states: u64) {
        self.tally().all = states;
        if let Some(bar) = &self.bar {
            bar.set_length(states);
        }
    }

    fn continued(&self, depth: usize, states: u64) {
        let mut tally = self.tally();
        (tally.depth, tally.found, tally.before) = (depth, states, states);
        if let Some(bar) = &self.bar {
            bar.set_position(states);
        }
        if depth > 0 {
            tracing::info!("going on after depth {depth}, {} states", thousands(states));
        }
    }

    fn progress(&self, depth: usize, done: u64, total: u64) {
        if let Some(bar) = &self.bar {
            let mut tally = self.tally();
            tally.depth = depth;
            let line = tally.line(Some(done as f64 / total.max(1) as f64));
            drop(tally);
            bar.set_message(line);
        }
    }

    fn level(&self, level: &Level) {
        let mut tally = self.tally();
        tally.depth = level.depth;
        tally.found += level.states;
        tracing::debug!("depth {}: {} states", level.depth, thousands(level.states));
        if let Some(bar) = &self.bar {
            bar.set_position(tally.found);
            bar.set_message(tally.line(None));
            if tally.found == tally.all {
                bar.finish_and_clear();
            }
        } else if self.log && tally.logged.elapsed() >= LOG_EVERY {
            tally.logged = Instant::now();
            tracing::info!("{}", tally.line(None));
        }
    }

    fn rebuilding(&self, depth: usize, reason: &str) {
        tracing::warn!("{reason}: computing depth {depth} again");
    }

    fn interrupted(&self) -> bool {
        interrupt::asked()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
