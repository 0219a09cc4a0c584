//! The progress of work on a database on stderr: a bar on a terminal, a log line a second elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tilewave::pdb::{PdbLevel, PdbObserver, Phase};
use tilewave::report::thousands;

use super::super::{Talk, interrupt};

/// Least time between two log lines.
const LOG_EVERY: Duration = Duration::from_secs(1);
/// Drawings of the bar per second.
const DRAW_HZ: u8 = 8;

/// Shows work on a database and passes on Ctrl-C.
pub struct Progress {
    bar: Option<ProgressBar>,
    log: bool,
    state: Mutex<State>,
}

struct State {
    logged: Instant,
    value: usize,
}

impl Progress {
    /// Returns the observer of some work, and begins to listen for Ctrl-C.
    pub fn new(talk: Talk) -> Progress {
        interrupt::listen();
        let terminal = std::io::stderr().is_terminal();
        let levels_logged = tracing::enabled!(tracing::Level::DEBUG);
        Progress {
            bar: (talk.progress && terminal && !levels_logged).then(bar),
            log: talk.progress && !terminal,
            state: Mutex::new(State {
                logged: Instant::now(),
                value: 0,
            }),
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(DRAW_HZ));
    if let Ok(style) = ProgressStyle::with_template("{bar:20.cyan/blue} {percent:>3} %  {msg}") {
        bar.set_style(style);
    }
    bar
}

fn doing(phase: Phase) -> &'static str {
    match phase {
        Phase::Setup => "looking up sets and moves",
        Phase::Search => "searching",
        Phase::Order => "bringing entries into order",
        Phase::File => "writing",
        Phase::Check => "checking",
    }
}

impl PdbObserver for Progress {
    fn progress(&self, phase: Phase, done: u64, total: u64) {
        if self.bar.is_none() && !self.log {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let mut message = doing(phase).to_string();
        if phase == Phase::Search {
            message += &format!(" value {}: {} entries", state.value + 1, thousands(done));
        }
        if let Some(bar) = &self.bar {
            bar.set_length(total);
            bar.set_position(done);
            bar.set_message(message);
        } else if state.logged.elapsed() >= LOG_EVERY {
            state.logged = Instant::now();
            let share = 100.0 * done as f64 / total.max(1) as f64;
            tracing::info!("{message} ({share:.0} %)");
        }
    }

    fn level(&self, level: &PdbLevel) {
        self.state.lock().unwrap_or_else(|e| e.into_inner()).value = level.value;
        tracing::debug!(
            "value {}: {} entries",
            level.value,
            thousands(level.entries)
        );
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
