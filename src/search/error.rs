//! What can be wrong with a search: one line each, with what to do.

use std::fmt;

use crate::kernel::KernelError;
use crate::puzzle::Size;
use crate::threads::ThreadsError;
use crate::units::{bytes, thousands};

/// The most cells that a complete search is offered for.
pub(crate) const MAX_CELLS: usize = 16;

/// A search that cannot run or was stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The board has too many cells.
    #[error("board {size} has {} cells: a complete search handles at most {}, choose a smaller board", size.cells(), MAX_CELLS)]
    TooLarge {
        /// Size of the board.
        size: Size,
    },
    /// The sweep engine cannot run boards this small.
    #[error(
        "{puzzle} is too small for the sweep engine (7 positions at least): use --engine reference"
    )]
    TooSmall {
        /// The puzzle.
        puzzle: String,
    },
    /// The arrays exceed the memory budget.
    #[error(
        "{puzzle} needs {} of memory with the {engine} engine, the budget is {}: raise it with --memory if the machine has more, or {}",
        bytes(*needed), bytes(*budget), way_out(*engine)
    )]
    Memory {
        /// The puzzle.
        puzzle: String,
        /// Engine asked for.
        engine: Engine,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// The worker threads could not be started.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
    /// The kernel asked for does not run here.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// This engine keeps its levels in files.
    #[error(
        "the disk engine keeps its levels in files, this search names none: give --dir, or --engine sweep"
    )]
    NoFiles,
    /// The levels of this puzzle are not cut into chunks.
    #[error("{puzzle} is searched in memory only: leave out --dir")]
    InMemory {
        /// The puzzle.
        puzzle: String,
    },
    /// The levels hold more states than there are, or fewer at the end.
    #[error(
        "the levels up to depth {depth} hold {found} states, {puzzle} has {all}: this machine or this program has erred, the result is withheld; run it again, or with another --kernel or --engine"
    )]
    Sum {
        /// The puzzle.
        puzzle: String,
        /// Deepest level counted.
        depth: usize,
        /// States counted.
        found: u64,
        /// States that the board has.
        all: u64,
    },
    /// The observer asked to stop.
    #[error(
        "interrupted at depth {depth} after {} states: a search in memory starts over, --max-depth ends it early with a result",
        thousands(*states)
    )]
    Interrupted {
        /// Depth being computed.
        depth: usize,
        /// States counted in the finished levels.
        states: u64,
    },
}

/// What to do about a search that does not fit the memory.
fn way_out(engine: Engine) -> &'static str {
    match engine {
        Engine::Sweep => "search on disk with --dir DIR",
        _ => "choose a smaller board",
    }
}

// The engines by name.

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
