//! Reports of a search: text, CSV, JSON, SVG, PNG and HTML, and the comparison with published results.
//!
//! The program and Python pass an outcome: [`Report`] (`text`) turns it into tables, summaries and JSON objects, `html`
//! into a page, and `chart` into a picture, a `scene` of shapes that is drawn as SVG or as pixels. `published` contains
//! the published results and compares with them.
//!
//! Invariant: a report reads an [`crate::search::Outcome`] and returns strings or bytes. No function
//! here prints, writes a file or changes an outcome.

#[cfg(feature = "plot")]
pub(crate) mod chart;
pub mod html;
pub(crate) mod published;
#[cfg(feature = "plot")]
pub(crate) mod scene;
pub(crate) mod text;

use crate::report::text::title;

#[cfg(feature = "plot")]
pub use crate::report::chart::{Chart, ChartFormat};

pub(crate) use crate::report::published::own_for;
pub use crate::{
    report::{
        published::{
            Difference, Published, published, published_all, published_for, published_growth,
        },
        text::{
            Machine, Report, described, histogram, identity, one_key_per_line, value_histogram,
        },
    },
    units::{bytes, counted, csv_field, duration, grouped, rate, thousands},
};
