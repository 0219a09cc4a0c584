//! Breadth-first search of a whole state space.
//!
//! Invariant: every engine returns the same counts and the same checksums for the same search. The
//! checksum of a level depends on its set of states alone.

mod arriving;
mod calibrate;
mod chunks;
mod communicator;
mod crossing;
pub mod disk;
mod engine;
mod error;
mod exchange;
mod expand;
mod found;
mod groups;
#[cfg(feature = "mpi")]
pub mod mpi;
mod network;
mod outcome;
mod plan;
mod plane_sources;
mod planes;
mod problem;
mod reference;
mod relay;
mod run;
mod search;
mod segment;
mod state;
mod state_rows;
mod subject;
mod sweep;
mod tasks;

pub use calibrate::{Calibration, calibrate};
pub use communicator::{Communicator, OneProcess, Reduce};
pub use engine::Engine;
pub use error::SearchError;
pub use exchange::Exchange;
pub use found::EachLevel;
pub use network::{Network, network};
pub use outcome::{DiskUse, Outcome};
pub use plan::{Plan, plan};
pub use run::{run, run_each};
pub use search::Search;
pub use state::{State, StateSpace};
pub use state_rows::StateRows;
pub use subject::Subject;
