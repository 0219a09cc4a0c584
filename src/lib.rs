//! Exhaustive search, pattern databases and optimal solving for sliding-tile and permutation puzzles.
//!
//! | I want | use |
//! |---|---|
//! | God's number, the depth distribution, the antipodes | [`Search`] |
//! | the same on disk, continued at any time | [`search::disk::Disk`] |
//! | cubes and other puzzles with several sets of pieces, to a given depth | [`frontier::FrontierSearch`] |
//! | the exact distance of every state | [`DistanceTable`] |
//! | heuristics for a custom solver | [`pdb::Build`], [`Pdb`], [`pdb::Evaluator`] |
//! | shortest solutions | [`Optimal`], [`solve::PuzzleSolver`] |
//! | longer solutions, found quickly | [`Constructive`] |
//! | results as text, JSON, pictures, web pages | [`report`] |
//!
//! An operation that takes [`Resources`] runs on their threads; any other runs on the current rayon pool. Memory is
//! unlimited unless [`Resources`] set a limit: [`Resources::memory_or_half`] leaves room for other programs. Features:
//! `plot` (pictures), `certify` (a SAT solver). The program is a crate of its own, `tilewave-cli`. The library is
//! tested on Linux on x86-64. The fastest kernels need AVX-512, AVX2 or NEON; the scalar kernel runs
//! everywhere.
//!
//! ```
//! use tilewave::search::Search;
//! use tilewave::puzzle::{Goal, Size};
//!
//! let search = Search::new(Goal::Last.board(Size::new(3, 3)?)?);
//! let outcome = search.run()?;
//! assert_eq!(outcome.total(), 181_440); // 9!/2
//! assert_eq!(outcome.diameter(), Some(31));
//! # Ok::<(), tilewave::Error>(())
//! ```
//!
//! The types that most programs need are re-exported at the top level. A solver with its databases:
//!
//! ```
//! use tilewave::pdb::Build;
//! use tilewave::solve::default_patterns;
//! use tilewave::{Board, Goal, Optimal, Pdb, Size};
//!
//! let goal = Goal::Last.board(Size::new(3, 3)?)?;
//! let patterns = default_patterns(&goal)?.into_iter();
//! let pdbs: Result<Vec<Pdb>, _> = patterns.map(|pattern| Build::new(pattern).run()).collect();
//! let solver = Optimal::new(&goal, pdbs?)?;
//! let answer = solver.solve(&Board::parse("8 6 7/2 5 4/3 0 1", None)?)?;
//! assert_eq!(answer.moves.map(|moves| moves.len()), Some(31));
//! # Ok::<(), tilewave::Error>(())
//! ```
//!
//! Options are set by methods, and all types with options share [`Resources`]. Long operations have two forms: `run()`,
//! and `run_with(&progress)`, where a [`Progress`] observes the operation and may stop it.
//!
//! Data flows one way: [`puzzle`] → `perm` → `kernel` → `store` → [`search`], [`pdb`] → [`table`] → [`pruning`] →
//! [`solve`], [`report`].
//! `docs/design.md` is a map of the program; `docs/engine.md` explains the engine with a worked example.

mod error;
pub mod frontier;
mod hint;
#[doc(hidden)]
pub mod internals;
// For these three modules, only the items re-exported below are documented.
#[allow(missing_docs)]
mod kernel;
mod outcome;
pub mod pdb;
#[allow(missing_docs)]
mod perm;
pub mod progress;
pub mod pruning;
pub mod puzzle;
pub mod random;
pub mod report;
mod resources;
pub mod search;
pub mod solve;
mod stop;
#[allow(missing_docs)]
mod store;
mod system;
pub mod table;
mod threads;
mod units;

pub use crate::{
    error::{Class, Error},
    kernel::Kernel,
    pdb::{Pattern, Pdb},
    perm::placement,
    progress::{NoProgress, Progress},
    puzzle::{Board, Direction, Goal, Moves, Size},
    resources::Resources,
    search::Search,
    solve::{Constructive, Optimal},
    store::{Directory, Image, Io, Mapped, Storage},
    system::{FileProblem, SystemError},
    table::DistanceTable,
};

/// The types that most programs use: `use tilewave::prelude::*`.
///
/// ```
/// use tilewave::prelude::*;
/// let goal = Goal::Last.board(Size::new(2, 3)?)?;
/// assert_eq!(Search::new(goal).run()?.diameter(), Some(21));
/// # Ok::<(), tilewave::Error>(())
/// ```
pub mod prelude {
    pub use crate::{
        Board, Constructive, DistanceTable, Goal, Moves, NoProgress, Optimal, Pattern, Pdb,
        Progress, Resources, Search, Size,
    };
}

/// Checks that the Rust code of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
