//! Ctrl-C: once to stop cleanly, twice to quit now.

use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Exit code of an interrupted program.
pub const INTERRUPTED: u8 = 130;

static SIGNALS: AtomicUsize = AtomicUsize::new(0);

/// Begins to listen for Ctrl-C and termination, if not listening already. The second signal ends the
/// process at once.
pub fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let result = ctrlc::set_handler(|| {
            if SIGNALS.fetch_add(1, Ordering::Relaxed) > 0 {
                std::process::exit(i32::from(INTERRUPTED));
            }
        });
        if let Err(error) = result {
            tracing::debug!("cannot listen for Ctrl-C: {error}");
        }
    });
}

/// Returns whether the user has asked to stop.
pub fn asked() -> bool {
    SIGNALS.load(Ordering::Relaxed) > 0
}
