//! The options of a search.

use crate::{
    puzzle::{Board, StateSpace},
    resources::{Resources, resource_setters, setters},
    units::names,
};

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

// The engines by name.

/// An engine that runs a search of numbered states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Makes streaming passes over byte arrays in memory; needs lines with at least 6 elements.
    Sweep,
    /// Unranks, expands and ranks every frontier state; plain and slow, but runs any board.
    Reference,
    /// Makes the passes of the sweep engine, with the levels in files and one chunk at a time in memory; needs lines
    /// with at least 6 elements.
    Disk,
}

names! { Engine:
    "sweep" = Sweep, "Streaming passes over byte arrays in memory";
    "reference" = Reference, "Simple and slow, for any board";
    "disk" = Disk, "Like sweep, but with the levels in files";
}
