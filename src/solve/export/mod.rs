//! The question "is the board solvable in at most T moves", in the languages of other solvers.
//!
//! Invariant: a model has a solution exactly when the board has one of at most T moves; moves come
//! first, idle steps last. Letters say where the tile goes, in every language.

mod cnf;
mod decode;
mod program;
mod question;

pub use cnf::Cnf;
pub use decode::decode;
pub use program::Program;
pub use question::Question;
