//! What the workers and the loop over the levels tell the writing thread.
//!
//! Invariant: the messages of a chunk come as one begin, its frames in any order, one end.

use std::time::Duration;

use crossbeam::channel::Sender;
use twox_hash::XxHash3_64;

use crate::perm::kernel::Tally;
use crate::store::{ChunkRecord, LevelHeader, Manifest};

/// Bytes written between two syncs, so that a commit finds little left to do.
pub(super) const WRITE_BACK: u64 = 256 << 20;

/// Time between two commits of a committer that leaves them to its caller, see [`Committer::sync`].
pub(super) const NEVER: Duration = Duration::MAX;

/// Encoded frames of neighbouring frame numbers; those without states are left out.
pub(super) struct Encoded {
    /// First frame, whether it holds states or not.
    pub first: u32,
    /// One past the last frame.
    pub end: u32,
    /// Frame, length, hash.
    pub frames: Vec<(u32, usize, u64)>,
    /// The bytes of the frames, one after the other.
    pub bytes: Vec<u8>,
}

impl Encoded {
    /// Returns no frames of a range.
    pub fn new(first: usize, end: usize) -> Encoded {
        Encoded {
            first: first as u32,
            end: end as u32,
            frames: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Adds a frame.
    pub fn push(&mut self, frame: usize, bytes: &[u8]) {
        self.frames
            .push((frame as u32, bytes.len(), XxHash3_64::oneshot(bytes)));
        self.bytes.extend(bytes);
    }
}

pub(super) enum Message {
    Begin(LevelHeader),
    Frames(Encoded),
    End(Tally),
    Level([u64; 3], Sender<()>),
    Commit(Sender<()>),
    Finished(u32, Sender<Vec<ChunkRecord>>),
    Sync(Sender<Manifest>),
    Supersede,
}
