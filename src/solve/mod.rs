//! Solving: optimally, constructively, by export to other solvers, and certified by a SAT solver.
//!
//! The program and Rust programs call [`Optimal`]: a goal with its databases (`database`), seen through symmetries
//! (`symmetry`), is a `tree`. `ida` carries out iterations over any tree and splits them into subtrees; `walk` searches
//! one subtree, with `sums` or `bits` as the heuristic and `pruner` for its moves. `control` collects the results of
//! subtrees from all threads and ranks and passes them to the `log`. `partitions` chooses the databases for a goal.
//! [`Constructive`] solves boards at once. `puzzles` solves puzzles with several sets of pieces optimally with pruning
//! tables, and `phases` solves them quickly; `words` prunes their moves. `models`, `cnf` and `certify` pass the
//! question to other solvers.
//!
//! Invariant: moves and nodes do not depend on the threads, the ranks or an interruption.

pub(crate) mod bits;
#[cfg(feature = "certify")]
pub(crate) mod certify;
pub(crate) mod cnf;
pub(crate) mod constructive;
pub(crate) mod control;
pub(crate) mod database;
pub(crate) mod error;
pub(crate) mod ida;
pub(crate) mod inverses;
pub(crate) mod log;
pub mod models;
pub(crate) mod optimal;
pub(crate) mod partitions;
pub(crate) mod phases;
pub(crate) mod pruner;
pub(crate) mod puzzles;
pub(crate) mod solvability;
pub(crate) mod sums;
pub(crate) mod symmetry;
pub(crate) mod tree;
pub(crate) mod walk;
pub(crate) mod words;

#[cfg(feature = "certify")]
pub use crate::solve::certify::{Certificate, certify, certify_with};

pub use crate::solve::{
    constructive::Constructive,
    control::{Pending, Stage},
    error::SolveError,
    ida::{Answer, Attempt, StateSolver},
    log::{Logged, SolveLog},
    optimal::Optimal,
    partitions::{default_patterns, sweeps},
    phases::PhaseSolver,
    pruner::MovePruner,
    puzzles::PuzzleSolver,
    solvability::{Scrambler, Unsolvable, explain},
    symmetry::SymmetricView,
};
