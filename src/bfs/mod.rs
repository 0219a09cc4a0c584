//! Breadth-first search of a whole state space.
//!
//! Invariant: every engine returns the same counts and the same checksums for the same search. The
//! checksum of a level depends on its set of states alone.

mod chunks;
mod classes;
mod crossing;
pub mod disk;
mod exchange;
mod expand;
#[cfg(feature = "mpi")]
pub mod mpi;
mod network;
mod observer;
mod outcome;
mod plan;
mod planes;
mod reference;
mod search;
mod state;
mod sweep;
mod team;

pub use exchange::Exchange;
pub use network::{Network, network};
pub use observer::{Level, Observer, Silent};
pub use outcome::Outcome;
pub use plan::{Calibration, Plan, calibrate, plan};
pub use search::{Engine, Search, SearchError, run};
pub use state::{State, StateSpace};
pub use team::{Stopped, Team};
