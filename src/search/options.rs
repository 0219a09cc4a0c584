//! What to search, and how; what can be wrong with that.

use crate::kernel::KernelError;
use crate::puzzle::{Board, Size, StateSpace};
use crate::resources::{Resources, resource_setters, setters};
use crate::threads::ThreadsError;
use crate::units::{bytes, names, thousands};

/// A search to run: from `start` (the goal itself by default) over everything that it reaches.
///
/// ```
/// use tilewave::{Goal, Search, Size};
/// let search = Search::new(Goal::Last.board(Size::new(3, 3)?)?);
/// let outcome = search.max_depth(2).threads(2).run()?;
/// assert_eq!((outcome.counts, outcome.complete), (vec![1, 2, 4], false));
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Search {
    /// What is searched.
    pub space: StateSpace,
    /// Last depth to compute, `None` for all.
    pub max_depth: Option<usize>,
    /// Engine, `None` for the fastest that can run the board.
    pub engine: Option<Engine>,
    /// Most states of the last depth to return.
    pub keep_last: usize,
    /// What it may use: the memory is that of its arrays, the kernel that of the sweep engine.
    pub resources: Resources,
}

setters! { Search: space: StateSpace, keep_last: usize,; max_depth: usize, engine: Engine, }
resource_setters! { Search }

impl Search {
    /// The most cells a complete search is offered for: the arrays of a larger board exceed any machine.
    pub const MAX_CELLS: usize = 16;

    /// Returns the complete search from a goal, with everything else at its default.
    pub fn new(goal: Board) -> Search {
        Search::of(StateSpace::of_board(goal))
    }

    /// Returns the complete search of a state space, with everything else at its default.
    pub fn of(space: StateSpace) -> Search {
        Search { space, max_depth: None, engine: None, keep_last: 0, resources: Resources::new() }
    }
}

/// A search that cannot run or was stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The board has too many cells.
    #[error("board {size} has {} cells: a complete search handles at most {}, choose a smaller board", size.cells(), Search::MAX_CELLS)]
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
    /// Unranks, expands and ranks every frontier state; plain, slow, any board.
    Reference,
    /// The passes of the sweep engine, with the levels in files and one chunk at a time in memory; needs
    /// lines of 6 elements at least.
    Disk,
}

names! { Engine:
    "sweep" = Sweep, "Streaming passes over byte arrays";
    "reference" = Reference, "Plain, slow, for any board";
    "disk" = Disk, "The passes of sweep, with the levels in files";
}
