//! What to search, and how.

use crate::kernel::{Kernel, KernelError};
use crate::puzzle::{Board, StateSpace};
use crate::search::{Engine, MAX_CELLS, SearchError};

/// A search to run: from `start` (the goal itself by default) over everything that it reaches.
#[derive(Clone, Debug)]
pub struct Search {
    /// What is searched.
    pub space: StateSpace,
    /// Last depth to compute, `None` for all.
    pub max_depth: Option<usize>,
    /// Engine, `None` for the fastest that can run the board.
    pub engine: Option<Engine>,
    /// Kernel of the sweep engine, `None` for the fastest of this processor.
    pub kernel: Option<Kernel>,
    /// Worker threads, `None` for one per core.
    pub threads: Option<usize>,
    /// Most bytes the arrays may take, `None` for no limit.
    pub memory: Option<u64>,
    /// Most states of the last depth to return.
    pub keep_last: usize,
}

impl Search {
    /// The most cells a complete search is offered for: the arrays of a larger board exceed any machine.
    pub const MAX_CELLS: usize = MAX_CELLS;

    /// Returns the complete search from a goal, with everything else at its default.
    pub fn new(goal: Board) -> Search {
        Search::of(StateSpace::of_board(goal))
    }

    /// Returns the complete search of a state space, with everything else at its default.
    pub fn of(space: StateSpace) -> Search {
        Search {
            space,
            max_depth: None,
            engine: None,
            kernel: None,
            threads: None,
            memory: None,
            keep_last: 0,
        }
    }

    /// Returns the kernel asked for, or the fastest of this processor.
    pub(crate) fn choose_kernel(&self) -> Result<Kernel, SearchError> {
        match self.kernel {
            None => Ok(Kernel::best()),
            Some(kernel) if kernel.is_supported() => Ok(kernel),
            Some(kernel) => Err(KernelError::Unsupported(kernel).into()),
        }
    }
}
