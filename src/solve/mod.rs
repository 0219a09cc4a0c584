//! Solving: optimal, constructive, exported to other solvers, and certified by one.

mod certify;
mod constructive;
mod error;
pub mod export;
mod fsm;
mod heuristic;
mod ida;
mod optimal;
mod scramble;
mod solvability;
mod split;
mod walk;

pub use certify::{Certificate, certify, certify_unless};
pub use constructive::Constructive;
pub use error::SolveError;
pub use fsm::MoveMachine;
pub use optimal::{Answer, Attempt, Optimal, Pending, Watch, default_patterns};
pub use scramble::Scrambler;
pub use solvability::{Unsolvable, explain};
