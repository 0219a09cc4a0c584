//! The depth distribution as comma-separated values.

use std::fmt::Write;

use super::Report;

impl Report<'_> {
    /// Returns the levels as CSV with the columns depth, states, cumulative (states up to this depth)
    /// and checksum (16 hexadecimal digits), one row per depth.
    pub fn csv(&self) -> String {
        let mut text = String::from("depth,states,cumulative,checksum\n");
        let mut cumulative = 0;
        let levels = self.outcome.counts.iter().zip(&self.outcome.checksums);
        for (depth, (states, checksum)) in levels.enumerate() {
            cumulative += states;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{depth},{states},{cumulative},{checksum:016x}");
        }
        text
    }
}
