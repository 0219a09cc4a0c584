//! Complete breadth-first searches of sliding-tile boards.
//!
//! A perfect hash turns the states of a board into (line, cell) pairs; the sweep engine expands a whole
//! level by streaming over two byte arrays; the result is the depth distribution of the board, its
//! diameter (God's number) and its antipodes.
//!
//! ```
//! use tilewave::bfs::{self, Search};
//! use tilewave::progress::NoProgress;
//! use tilewave::puzzle::tiles::{Goal, Size};
//!
//! let search = Search::new(Goal::Last.board(Size::new(3, 3)?)?);
//! let outcome = bfs::run(&search, &NoProgress)?;
//! assert_eq!(outcome.total(), 181_440); // 9!/2
//! assert_eq!(outcome.diameter(), Some(31));
//! # Ok::<(), tilewave::Error>(())
//! ```
//!
//! The types that most programs need stand here; a solver with its databases:
//!
//! ```
//! use tilewave::pdb::{Build, build};
//! use tilewave::solve::default_patterns;
//! use tilewave::{Board, Goal, NoProgress, Optimal, Pdb, Size};
//!
//! let goal = Goal::Last.board(Size::new(3, 3)?)?;
//! let patterns = default_patterns(&goal)?.into_iter();
//! let pdbs: Result<Vec<Pdb>, _> = patterns.map(|pattern| build(&Build::new(pattern), &NoProgress)).collect();
//! let solver = Optimal::new(&goal, pdbs?)?;
//! let answer = solver.solve(&Board::parse("8 6 7/2 5 4/3 0 1", None)?, &NoProgress)?;
//! assert_eq!(answer.moves.map(|moves| moves.len()), Some(31));
//! # Ok::<(), tilewave::Error>(())
//! ```
//!
//! Data flows one way: [`puzzle`] → [`perm`] → [`store`] → [`bfs`], [`pdb`] → [`table`] → [`solve`], [`report`]. `docs/design.md`
//! explains the engine with a worked example.

pub mod bfs;
mod capi;
mod error;
mod names;
pub mod pdb;
#[doc(hidden)]
pub mod perm;
pub mod progress;
pub mod puzzle;
pub mod random;
pub mod report;
pub mod solve;
#[doc(hidden)]
pub mod store;
pub mod table;
mod transpose;
mod units;

pub use bfs::Search;
pub use error::Error;
pub use pdb::{Pattern, Pdb};
pub use perm::{kernel::Kernel, placement};
pub use progress::{NoProgress, Progress};
pub use puzzle::tiles::{Board, Direction, Goal, Moves, Size};
pub use solve::{Constructive, Optimal};
pub use store::{
    Directory, FileError, Image, Io, Mapped, MemoryError, OutputError, Problem, Storage,
};
pub use table::DistanceTable;

/// The Rust code of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
