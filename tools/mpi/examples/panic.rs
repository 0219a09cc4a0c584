//! A search in which a thread of rank 1 panics. tools/mpi-test runs it under mpirun and expects all ranks
//! to end at once.

use tilewave::internals::{Directory, Io};
use tilewave::progress::{Phase, Progress};
use tilewave::puzzle::Goal;
use tilewave::search::disk::{Directories, Disk};
use tilewave::search::{Communicator, Search};
use tilewave_mpi::{Job, end_on_panic};

struct Panics(bool);

impl Progress for Panics {
    // Called by the workers.
    fn progress(&self, phase: Phase, _: u64, _: u64) {
        assert!(!self.0 || phase != Phase::Search(20), "told to");
    }
}

#[allow(clippy::print_stderr)]
fn main() {
    let dir = std::env::args_os().nth(1).expect("a directory");
    let job = Job::start().expect("MPI starts");
    let (rank, size) = (job.rank(), job.size());
    end_on_panic(move |reason| eprintln!("rank {rank} of {size}: {reason}"));
    let directory = Directory::create(dir, Io::Read).expect("a directory");
    let disk = Disk::new(Directories::new(vec![Box::new(directory)]));
    let board = Goal::Last.board("2x6".parse().expect("a size"));
    let mut search = Search::new(board.expect("a board"));
    search.resources.threads = Some(2);
    disk.run_distributed_with(&search, &job, &Panics(rank == 1)).expect("a search");
}
