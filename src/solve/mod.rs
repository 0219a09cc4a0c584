//! Solving: optimal, constructive, exported to other solvers, and certified by one.

mod arranged;
mod bit_tables;
mod bit_walk;
#[cfg(feature = "certify")]
mod certify;
mod constructive;
mod control;
mod database;
mod error;
pub mod export;
mod ida;
mod lens;
mod log;
mod node;
mod optimal;
mod partitions;
mod pruner;
mod record;
mod scramble;
mod sets;
mod solvability;
mod split;
mod together;
mod tree;
mod view;
mod walk;

#[cfg(feature = "certify")]
pub use certify::{Certificate, certify};
pub use constructive::Constructive;
pub use error::SolveError;
pub use log::{Entry, Logged, SolveLog, replay};
pub use optimal::{Answer, Attempt, Optimal, Pending};
pub use partitions::{default_patterns, sweeps};
pub use pruner::MovePruner;
pub use record::{Cut, NoRecorder, Pieces, Recorder, Stage, Walked};
pub use scramble::Scrambler;
pub use solvability::{Unsolvable, explain};
pub use view::View;
