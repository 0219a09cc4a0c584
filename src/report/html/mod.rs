//! Reports as web pages: the solution player and the report of a search.
//!
//! Invariant: a page is one file that loads nothing. Its styles and scripts stand inside, a content
//! security policy forbids every request, and whatever comes from outside (labels, boards, machine names)
//! is escaped on its way in.

mod page;
mod player;
mod search;

pub use player::{Refused, Solution, player};
pub use search::LAST_DRAWN;
