//! Sliding-tile boards of any m x n: geometry, snake path, moves, notation, parity and goals.
//!
//! Invariant: users see boards in row-major order with the tile numbers they wrote; everything below
//! this module sees a line (tiles read along the snake path, numbered by a [`Frame`]) and a cell (path
//! index of the blank). [`Frame`] is the only bridge between the two.

mod board;
mod direction;
mod error;
mod frame;
mod goal;
mod metric;
mod moves;
mod parity;
mod path;
mod size;

pub use board::Board;
pub use direction::Direction;
pub use error::BoardError;
pub use frame::Frame;
pub use goal::Goal;
pub use metric::Metric;
pub use moves::{MoveStyle, Moves};
pub use parity::is_even;
pub use path::Path;
pub use size::{Size, SizeError};
