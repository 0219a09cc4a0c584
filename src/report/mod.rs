//! Reports of a search: text, CSV, JSON, SVG, PNG and HTML, and the comparison with published results.
//!
//! Invariant: a report reads an [`crate::bfs::Outcome`] and returns strings or bytes. Nothing here
//! prints, writes a file or changes what was found.

mod agreement;
mod csv;
mod error;
mod histogram;
pub mod html;
mod json;
mod machine;
mod plot;
mod published;
mod summary;
mod units;
mod verdict;

pub use agreement::{Agreement, Difference};
pub use error::ReportError;
pub use histogram::histogram;
pub use json::{SearchJson, one_key_per_line};
pub use machine::Machine;
pub use plot::{Chart, ChartFormat};
pub use published::{Published, published, published_all};
pub use summary::Report;
pub use units::{bytes, duration, rate, thousands};
pub use verdict::{Fault, Levels, Truth, Verdict};
