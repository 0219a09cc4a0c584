//! Complete breadth-first searches of sliding-tile boards.
//!
//! A perfect hash turns the states of a board into (line, cell) pairs; the sweep engine expands a whole
//! level by streaming over two byte arrays; the result is the depth distribution of the board, its
//! diameter (God's number) and its antipodes.
//!
//! ```
//! use tilewave::bfs::{self, Search, Silent};
//! use tilewave::puzzle::tiles::{Goal, Size};
//!
//! let search = Search::new(Goal::Last.board(Size::new(3, 3)?)?);
//! let outcome = bfs::run(&search, &Silent)?;
//! assert_eq!(outcome.total(), 181_440); // 9!/2
//! assert_eq!(outcome.diameter(), Some(31));
//! # Ok::<(), tilewave::Error>(())
//! ```
//!
//! Data flows one way: [`puzzle`] → [`perm`] → [`store`] → [`bfs`], [`pdb`] → [`table`] → [`solve`], [`report`]. `docs/design.md`
//! explains the engine with a worked example.

pub mod bfs;
mod capi;
mod error;
pub mod pdb;
pub mod perm;
pub mod puzzle;
pub mod report;
pub mod solve;
pub mod store;
pub mod table;

pub use error::Error;
