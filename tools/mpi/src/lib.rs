//! The ranks of an MPI job.
//!
//! Invariant: only the thread that started the job calls MPI (`MPI_THREAD_FUNNELED`), with one exception: the last call
//! of a process that panics, `abort`, may come from any thread. Errors of MPI itself end the job, which is MPI's
//! default.

use std::marker::PhantomData;

use mpi::{
    Threading,
    collective::SystemOperation,
    datatype::{Partition, PartitionMut},
    environment::Universe,
    topology::SimpleCommunicator,
    traits::{Communicator, CommunicatorCollectives},
};

use tilewave::search::{Communicator as Ranks, Reduce};

/// Maximum number of bytes for one rank in one call.
const MESSAGE: usize = 1 << 30;

/// An MPI job, from its start to its end: dropping it waits for all ranks.
pub struct Job {
    world: SimpleCommunicator,
    _universe: Universe,
    /// Keeps the job on the thread that started it.
    _thread: PhantomData<*const ()>,
}

impl Job {
    /// Starts MPI; returns `None` if this process has started MPI before.
    ///
    /// If MPI cannot start, it ends the process with its own message.
    pub fn start() -> Option<Job> {
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        Some(Job { world: universe.world(), _universe: universe, _thread: PhantomData })
    }
}

/// Ends the job at once, with all of its ranks.
fn abort(code: u8) -> ! {
    SimpleCommunicator::world().abort(i32::from(code))
}

/// Installs a panic hook: if any thread of this rank panics, it passes the reason to `say` and ends the whole job.
/// Without it, the other ranks would wait for this one forever.
pub fn end_on_panic(say: impl Fn(&str) + Send + Sync + 'static) {
    std::panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let place = info.location().map(ToString::to_string);
        say(&format!(
            "panic at {}: {}",
            place.as_deref().unwrap_or("an unknown location"),
            text.unwrap_or("no reason given")
        ));
        abort(1);
    }));
}

/// The offsets of parts with the given lengths, one after another. All of them fit, because [`Job::round`] limits the
/// lengths.
fn places(counts: &[i32]) -> Vec<i32> {
    let mut at = 0;
    let next = |count: &i32| {
        at += count;
        at - count
    };
    counts.iter().map(next).collect()
}

impl Job {
    /// Maximum number of bytes of a part in one call: MPI counts and offsets have 32 bits.
    fn message(&self) -> usize {
        MESSAGE.min(i32::MAX as usize / self.size())
    }

    /// One call, with `parts` that are short enough. Appends the received data to `arrived`.
    fn round(&self, parts: &[&[u8]], arrived: &mut [Vec<u8>]) {
        let counts: Vec<i32> = parts.iter().map(|part| part.len() as i32).collect();
        let mut coming = vec![0; self.size()];
        self.world.all_to_all_into(&counts[..], &mut coming[..]);
        // One additional byte: the address of an empty buffer may be 1, which Open MPI takes for MPI_IN_PLACE.
        let mut out = parts.concat();
        out.push(0);
        let places_out = places(&counts);
        let places_in = places(&coming);
        let all: usize = coming.iter().map(|&count| count as usize).sum();
        let mut into = vec![0u8; all + 1];
        self.world.all_to_all_varcount_into(
            &Partition::new(&out[..], &counts[..], &places_out[..]),
            &mut PartitionMut::new(&mut into[..], &coming[..], &places_in[..]),
        );
        let mut rest = &into[..];
        for (part, &count) in arrived.iter_mut().zip(&coming) {
            let (mine, others) = rest.split_at(count as usize);
            part.extend(mine);
            rest = others;
        }
    }
}

impl Ranks for Job {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let most = self.message();
        let longest = parts.iter().map(Vec::len).max().unwrap_or(0);
        let rounds = self.max(longest.div_ceil(most).max(1) as u64);
        let mut arrived = vec![Vec::new(); self.size()];
        for round in 0..rounds as usize {
            let cut = |part: &Vec<u8>| {
                let start = (round * most).min(part.len());
                start..(start + most).min(part.len())
            };
            let now: Vec<&[u8]> = parts.iter().map(|part| &part[cut(part)]).collect();
            self.round(&now, &mut arrived);
        }
        arrived
    }

    fn host(&self) -> String {
        mpi::environment::processor_name().unwrap_or_default()
    }

    fn abort(&self, code: u8) -> ! {
        abort(code)
    }

    fn all_reduce(&self, by: Reduce, values: &mut [u64]) {
        let own = values.to_vec();
        let by = match by {
            Reduce::Sum => SystemOperation::sum(),
            Reduce::Max => SystemOperation::max(),
        };
        self.world.all_reduce_into(&own[..], values, by);
    }
}
