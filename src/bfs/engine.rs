//! The engines by name.

use std::fmt;

/// The engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Streaming passes over byte arrays in memory; needs lines of 6 elements at least.
    Sweep,
    /// The same passes, with the levels in files and one chunk at a time in memory; needs
    /// lines of 6 elements at least.
    Disk,
    /// Unranks, expands and ranks every frontier state; plain, slow, any board.
    Reference,
}

impl Engine {
    /// Returns the name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Sweep => "sweep",
            Engine::Disk => "disk",
            Engine::Reference => "reference",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
