//! The processes that share a search, each called a rank.
//!
//! Invariant: every method is a meeting: all ranks call the same methods in the same order, each from the
//! thread that runs its search, and none returns before all have come as far as it needs. So whatever
//! decides what is called next must be known to all ranks alike.

use super::disk::DiskError;
use crate::Error;

/// The processes of a job: MPI, or the threads of a test.
pub trait Team {
    /// Returns the number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn size(&self) -> usize;

    /// Sends `parts[i]` to rank i and returns what each rank has sent here, by rank.
    fn swap(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// Replaces each value by its sum over all ranks, modulo 2^64.
    fn sum(&self, values: &mut [u64]);

    /// Replaces each value by its largest over all ranks.
    fn max(&self, values: &mut [u64]);

    /// Waits for all ranks.
    fn barrier(&self) {
        self.sum(&mut [0]);
    }

    /// Returns what every rank gives, by rank.
    fn all(&self, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        self.swap(vec![bytes; self.size()])
    }

    /// Returns what every rank gives, by rank, on rank 0; empty parts elsewhere.
    fn gather(&self, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        let mut parts = vec![Vec::new(); self.size()];
        parts[0] = bytes;
        self.swap(parts)
    }

    /// Returns what rank 0 gives.
    fn share(&self, bytes: Vec<u8>) -> Vec<u8> {
        let given = if self.rank() == 0 { bytes } else { Vec::new() };
        std::mem::take(&mut self.all(given)[0])
    }

    /// Returns the lowest rank that gives a failure, and its reason.
    fn agree(&self, failure: Option<String>) -> Option<(usize, String)> {
        let reasons = self.all(failure.unwrap_or_default().into_bytes());
        let first = reasons.iter().position(|reason| !reason.is_empty())?;
        let reason = String::from_utf8_lossy(&reasons[first]).into_owned();
        Some((first, reason))
    }
}

/// Why a rank has stopped.
#[derive(Debug)]
pub enum Stopped {
    /// All ranks have stopped, each with its own error or the one that names the rank at fault.
    Together(Error),
    /// Only this rank has: the others wait for it until the job is ended.
    Alone(Error),
}

/// Returns what this rank has, once every rank has something; else every rank stops.
pub(super) fn together<T>(
    team: &dyn Team,
    result: Result<T, impl Into<Error>>,
) -> Result<T, Stopped> {
    let result = result.map_err(Into::into);
    let failure = result.as_ref().err().map(ToString::to_string);
    match (team.agree(failure), result) {
        (None, Ok(value)) => Ok(value),
        (_, Err(error)) => Err(Stopped::Together(error)),
        (Some((rank, reason)), Ok(_)) => Err(Stopped::Together(
            DiskError::Elsewhere { rank, reason }.into(),
        )),
    }
}
