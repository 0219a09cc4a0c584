//! Breadth-first search of numbered states: boards of up to 16 cells, and puzzles with one set of different pieces.
//!
//! [`Search::run`] runs a [`Search`] and returns an [`Outcome`] or a [`SearchError`]; the program, tables, Python and
//! Rust programs call it. It chooses an engine: the sweep or the plain one (both in `memory`). `disk` runs the sweep
//! with levels in files, alone or as a rank of a job (`ranks`). The sweep turns the state space into a `problem`: a
//! layout, and classes of groups with the moves between them. Each level goes block by block through `blocks` to the
//! kernel; `long_windows` carries out moves that are too long for tables. How they go from level to level is that of
//! list searches, too (`frontier::levels`). `outcome` says which levels can be expected, `forecast` how much memory and
//! time.
//!
//! Invariant: every engine returns the same counts and the same checksums for the same search. The checksum of a level
//! depends only on its set of states.

pub(crate) mod blocks;
pub mod disk;
pub(crate) mod forecast;
pub(crate) mod long_windows;
pub(crate) mod memory;
pub(crate) mod outcome;
pub(crate) mod problem;
pub(crate) mod ranks;

use crate::{
    puzzle::{Board, StateSpace},
    resources::{Resources, resource_setters, setters},
};

pub use crate::outcome::{DiskUse, Engine, LastStates, ListLevels, Outcome, PlaneStore};
pub use crate::search::{
    disk::plan::{Network, network},
    forecast::{Calibration, DiskForecast, Forecast, Machines, calibrate},
    memory::{SearchPlan, plan},
    ranks::{Communicator, OneProcess, Ranks, Reduce, Share},
};
pub use crate::stop::{SearchError, Stop};

pub(crate) use crate::search::{
    blocks::{
        BYTE, BlockLoop, BlockTarget, Chunks, Expansion, Frontier, Group, Groups, IncomingMoves,
        IncomingStep, MANY, PredecessorBlocks, Seat, states_of,
    },
    long_windows::{ChainPlan, LongWindowArrays, LongWindows, is_long, plans},
    outcome::EachLevel,
    problem::{
        ALL_LANES, BlockSources, Crossings, Granularity, Plane, PlaneSources, Portions,
        SearchProblem, crosses,
    },
};

// The options of a search.

/// A search: over all states that are reachable from `start` (by default the goal itself).
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
    /// The state space that is searched.
    pub space: StateSpace,
    /// Last depth to compute, `None` for all depths.
    pub max_depth: Option<usize>,
    /// Engine, `None` for the fastest one that can run the board.
    pub engine: Option<Engine>,
    /// Maximum number of states of the last depth to return.
    pub keep_last: usize,
    /// Resources of the search: `memory` limits its arrays, `kernel` applies to the sweep engine.
    pub resources: Resources,
}

setters! { Search: space: StateSpace, keep_last: usize,; max_depth: usize, engine: Engine, }
resource_setters! { Search }

impl Search {
    /// The maximum number of cells for a complete search: the arrays of a larger board exceed the memory of any
    /// machine.
    pub const MAX_CELLS: usize = 16;

    /// Returns the complete search from a goal, with default options.
    pub fn new(goal: Board) -> Search {
        Search::of(StateSpace::of_board(goal))
    }

    /// Returns the complete search of a state space, with default options.
    pub fn of(space: StateSpace) -> Search {
        Search { space, max_depth: None, engine: None, keep_last: 0, resources: Resources::new() }
    }
}
