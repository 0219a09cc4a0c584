//! What a report can fail at.

/// A report that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The name of a plot file ends in neither of the formats that can be drawn.
    #[error("'{0}' is not a plot file: let its name end in .svg or .png")]
    PlotFormat(String),
    /// The picture could not be drawn.
    #[error("cannot draw the plot: {0}; write it as .svg instead")]
    Draw(String),
    /// A page of solutions without any board.
    #[error("there is no board to show")]
    NoSolution,
    /// A solution that is none.
    #[error("cannot show solution {number}: {reason}")]
    Solution {
        /// Its number from 1.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
}
