//! Signals: Ctrl-C once to stop cleanly, twice to quit now.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Once};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Exit code of an interrupted program.
pub const INTERRUPTED: u8 = 130;

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Begins to listen for Ctrl-C, termination and a lost terminal, if not listening already. The second
/// signal ends the process at once. A signal that is ignored, as SIGHUP under nohup, stays ignored.
pub fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let mut signals = vec![SIGINT, SIGTERM];
        #[cfg(unix)]
        signals.push(signal_hook::consts::SIGHUP);
        let ignored = ignored();
        signals.retain(|signal| ignored >> (signal - 1) & 1 == 0);
        for signal in signals {
            // In this order: the first signal finds the flag down, the second finds it up.
            let heard = flag::register_conditional_shutdown(
                signal,
                i32::from(INTERRUPTED),
                Arc::clone(&ASKED),
            )
            .and_then(|_| flag::register(signal, Arc::clone(&ASKED)));
            if let Err(error) = heard {
                tracing::debug!("cannot listen for signal {signal}: {error}");
            }
        }
    });
}

/// Makes a file that outgrows the limit of the shell (`ulimit -f`) an error of writing, not the end.
pub fn outlive_limits() {
    #[cfg(unix)]
    let _ = flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// Returns whether the user has asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Stops as if the user had asked: somebody else was asked.
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
pub fn ask() {
    ASKED.store(true, Ordering::Relaxed);
}

/// The signals that this process was started with ignored, bit n - 1 for signal n.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap_or(0))
}
