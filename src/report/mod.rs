//! Reports of a search: text, CSV, JSON, SVG, PNG and HTML, and the comparison with published results.
//!
//! The program and Python pass an outcome: [`Report`] (`text`) turns it into tables and summaries, `json` into an
//! object, `html` into a page, and `chart` into a picture, a `scene` of shapes that is drawn as SVG there or as pixels
//! by `png`. `published` contains the published results, and `verdict` compares. `lists` reports list searches.
//!
//! Invariant: a report reads an [`crate::search::Outcome`] and returns strings or bytes. No function
//! here prints, writes a file or changes an outcome.

#[cfg(feature = "plot")]
pub(crate) mod chart;
pub mod html;
pub(crate) mod json;
pub(crate) mod lists;
#[cfg(feature = "plot")]
pub(crate) mod png;
pub(crate) mod published;
#[cfg(feature = "plot")]
pub(crate) mod scene;
pub(crate) mod text;
pub(crate) mod verdict;

use crate::report::text::title;

#[cfg(feature = "plot")]
pub use crate::report::chart::{Chart, ChartFormat};

pub(crate) use crate::report::published::own_for;
pub use crate::{
    report::{
        json::one_key_per_line,
        lists::{ListReport, grouped},
        published::{Published, published, published_all, published_for, published_growth},
        text::{Machine, Report, histogram, value_histogram},
        verdict::{Difference, Fault, SearchLevels, Truth, Verdict},
    },
    units::{bytes, counted, duration, rate, thousands},
};
