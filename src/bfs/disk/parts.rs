//! How the groups of a level lie in the frames of a chunk's file.
//!
//! Invariant: a file holds the groups of its depth's class one after the other, each cut into frames of its own. Where
//! moves have no way back, every frame of the level is followed by the frame of the states seen so far, of which the
//! step to the next level of the class leaves none out.

use crate::bfs::chunks::Chunks;
use crate::bfs::problem::Problem;

/// Which frames of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// Those of the level.
    Level,
    /// Those of the states seen so far.
    Seen,
}

/// The groups of a depth in the file of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub groups: usize,
    /// Whether the states seen so far lie between the frames of the level.
    pub seen: bool,
    /// Frames of one group.
    frames: usize,
}

impl Parts {
    /// Returns the parts of the files of a class.
    pub fn new(problem: &Problem, chunks: Chunks, class: usize) -> Parts {
        Parts {
            groups: problem.groups.class(class).len(),
            seen: problem.groups.directed,
            frames: chunks.frames(),
        }
    }

    /// Returns the number of frames of a level in a file; they are numbered group by group.
    pub fn frames(self) -> usize {
        self.groups * self.frames
    }

    /// Returns the group of a frame of a level, and its number within the group.
    pub fn place(self, frame: usize) -> (usize, usize) {
        (frame / self.frames, frame % self.frames)
    }

    /// Returns how many frames of the file belong to a frame of the level: its own, and that of the states seen.
    pub fn halves(self) -> usize {
        1 + usize::from(self.seen)
    }

    /// Returns the number in the file of a frame of the level, or of the states seen there.
    pub fn in_file(self, frame: usize, half: Half) -> usize {
        frame * self.halves() + usize::from(half == Half::Seen)
    }

    /// Returns how often the lines of a chunk lie in its file.
    pub fn copies(self) -> u64 {
        (self.groups * self.halves()) as u64
    }
}
