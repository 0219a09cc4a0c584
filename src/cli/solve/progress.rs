//! The progress of solving on stderr: a bar on a terminal, a log line a second elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tilewave::report::thousands;

use super::super::Talk;

/// Least time between two log lines.
const LOG_EVERY: Duration = Duration::from_secs(1);
/// Drawings of the bar per second.
const DRAW_HZ: u8 = 8;

/// Shows how many boards are done, and the nodes of the one that takes long.
pub struct Progress {
    bar: Option<ProgressBar>,
    log: bool,
    boards: u64,
    done: AtomicU64,
    logged: Mutex<Instant>,
}

impl Progress {
    /// Returns the progress of a number of boards.
    pub fn new(talk: Talk, boards: usize) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        let boards = boards as u64;
        Progress {
            bar: (talk.progress && terminal).then(|| bar(boards)),
            log: talk.progress && !terminal,
            boards,
            done: AtomicU64::new(0),
            logged: Mutex::new(Instant::now()),
        }
    }

    /// A search has come to a number of nodes. Called by any thread, thousands of times a second.
    pub fn nodes(&self, nodes: u64) {
        if self.bar.is_none() && !self.log {
            return;
        }
        // Whoever finds the clock taken leaves it to the other.
        let Ok(mut logged) = self.logged.try_lock() else {
            return;
        };
        let every = match self.bar {
            Some(_) => Duration::from_secs(1) / u32::from(DRAW_HZ),
            None => LOG_EVERY,
        };
        if logged.elapsed() < every {
            return;
        }
        *logged = Instant::now();
        let message = format!("{} nodes on a board", thousands(nodes));
        match &self.bar {
            Some(bar) => bar.set_message(message),
            None => tracing::info!(
                "{} of {} boards done, {message}",
                thousands(self.done.load(Ordering::Relaxed)),
                thousands(self.boards)
            ),
        }
    }

    /// A board is solved or refused. Called by any thread.
    pub fn done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Lets `show` write lines, the bar out of the way.
    pub fn show<T>(&self, show: impl FnOnce() -> T) -> T {
        match &self.bar {
            None => show(),
            Some(bar) => bar.suspend(show),
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

fn bar(boards: u64) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(DRAW_HZ);
    let bar = ProgressBar::with_draw_target(Some(boards), target);
    // The template is fixed; a wrong one would show at the first run on a terminal.
    let template = "{bar:20.cyan/blue} {pos} of {len} boards  {elapsed}  {msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
