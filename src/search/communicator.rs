//! The processes that share a search, each called a rank.
//!
//! Invariant: every method is collective unless it says otherwise: all ranks call the same methods in the same
//! order, each from the thread that runs its search, and none returns before all have come as far as it needs. So
//! whatever decides what is called next must be known to all ranks alike.

/// How the values of the ranks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// Their sum modulo 2^64.
    Sum,
    /// The largest.
    Max,
}

/// The processes of a job: one, MPI's, or the threads of a test.
pub trait Communicator {
    /// Returns the number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn size(&self) -> usize;

    /// Sends `parts[i]` to rank i and returns what each rank has sent here, by rank.
    fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// Replaces each value by what those of all ranks come to.
    fn all_reduce(&self, by: Reduce, values: &mut [u64]);

    /// Waits for all ranks.
    fn barrier(&self) {
        self.all_reduce(Reduce::Max, &mut [0]);
    }

    /// Returns the largest value of any rank.
    fn max(&self, value: u64) -> u64 {
        let mut values = [value];
        self.all_reduce(Reduce::Max, &mut values);
        values[0]
    }

    /// Returns what every rank gives, by rank.
    fn all_gather(&self, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        self.all_to_all(vec![bytes; self.size()])
    }

    /// Returns what every rank gives, by rank, on rank 0; empty parts elsewhere.
    fn gather(&self, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        let mut parts = vec![Vec::new(); self.size()];
        parts[0] = bytes;
        self.all_to_all(parts)
    }

    /// Returns what rank 0 gives.
    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        let given = if self.rank() == 0 { bytes } else { Vec::new() };
        std::mem::take(&mut self.all_gather(given)[0])
    }

    /// Returns the name of the machine, where it is known.
    fn host(&self) -> String {
        String::new()
    }

    /// Ends the whole job at once, all ranks of it. Not collective: any rank may, at any time.
    fn abort(&self, code: u8) -> ! {
        std::process::exit(code.into())
    }

    /// Returns the lowest rank that gives a failure, and its reason.
    fn agree(&self, failure: Option<String>) -> Option<(usize, String)> {
        let reasons = self.all_gather(failure.unwrap_or_default().into_bytes());
        let first = reasons.iter().position(|reason| !reason.is_empty())?;
        let reason = String::from_utf8_lossy(&reasons[first]).into_owned();
        Some((first, reason))
    }
}

/// A job of one process.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneProcess;

impl Communicator for OneProcess {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        parts
    }

    fn all_reduce(&self, _: Reduce, _: &mut [u64]) {}
}
