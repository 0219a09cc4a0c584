//! Reports of a search: text, CSV, JSON, SVG, PNG and HTML, and the comparison with published results.
//!
//! Invariant: a report reads an [`crate::bfs::Outcome`] and returns strings or bytes. Nothing here
//! prints, writes a file or changes what was found.

#[cfg(feature = "plot")]
mod chart;
mod csv;
mod difference;
mod error;
mod histogram;
pub mod html;
mod json;
mod machine;
mod own;
mod published;
mod summary;
mod verdict;

#[cfg(feature = "plot")]
pub use chart::{Chart, ChartFormat};
pub use difference::Difference;
pub use error::ReportError;
pub use histogram::histogram;
use histogram::title;
pub use json::one_key_per_line;
pub use machine::Machine;
pub use own::{Own, own_all, own_for};
pub use published::{Published, published, published_all, published_for};
pub use summary::Report;
pub use verdict::{Fault, Levels, Truth, Verdict};

pub use crate::units::{bytes, counted, duration, rate, thousands};
