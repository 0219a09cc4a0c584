//! A search by the ranks of an MPI job.
//!
//! Invariant: rank 0 alone shows progress and writes results. What goes wrong before the search is agreed
//! upon by all ranks and said once; what goes wrong later ends the job at once.

use tilewave::search::Communicator;
use tilewave::search::disk::{self, Disk, DiskError, Stopped};
use tilewave::search::mpi::{Job, abort, end_on_panic};
use tilewave::{Error, Search};

use crate::cli::{
    Failure, Launch, Result, ResultReport, Running, SearchProgress, complain, refuse, sweeps,
};

/// Runs a search together with the other ranks, and writes its result.
pub fn run(
    report: &ResultReport,
    launch: Launch,
    running: &Running,
    mut search: Search,
    disk: Option<Disk>,
) -> Result<()> {
    let Some(disk) = disk else {
        refuse!("a search over several processes keeps its levels in files: give --dir");
    };
    sweeps(&search)?;
    let job = Job::start().ok_or_else(|| Failure::failed("MPI cannot be started twice"))?;
    let (rank, size) = (job.rank(), job.size());
    if let Some(processes) = launch.processes.filter(|&processes| processes != size) {
        return Err(Failure::failed(format!(
            "the launcher started {processes} processes, MPI knows of {size}: use the launcher of the MPI that \
             this program was built with; with srun, try --mpi=pmix or --mpi=pmi2"
        )));
    }
    let me = format!("rank {rank} of {size} on {}", Job::host());
    let name = me.clone();
    end_on_panic(move |reason| complain(&format!("{name}: {reason}")));
    let first = rank == 0;
    let files = first.then(|| report.files()).transpose();
    let failure = files.as_ref().err().map(|error| error.to_string());
    let agreed = job.agree(failure);
    let files = match (files, agreed) {
        (Ok(files), None) => files,
        (Err(error), _) => return Err(error),
        (Ok(_), Some(_)) => return Ok(()),
    };
    share_machine(&job, running, &mut search);
    if !first {
        crate::cli::progress::hide();
    }
    let progress = SearchProgress::new();
    let found = disk::run_distributed(&search, &disk, &job, &progress);
    drop(progress);
    match (found, files) {
        (Ok(outcome), Some(files)) => report.finish(files, &outcome),
        (Err(Stopped::Together(error)), Some(_)) => Err(error.into()),
        // All ranks know, and the words of each are the same: one that sees another rank's terminal knows too.
        (Err(Stopped::Together(error @ Error::Disk(DiskError::Ranks { .. }))), None) => {
            complain(&format!("{me}: {error}"));
            // Rank 0 fails for all: a launcher kills the others when one does.
            Ok(())
        }
        (Ok(_) | Err(Stopped::Together(_)), None) => Ok(()),
        (Err(Stopped::Alone(error)), _) => {
            complain(&format!("{me}: {error}"));
            abort(1)
        }
    }
}

/// Shares cores and memory with the ranks on the same machine, where the user has not said how.
fn share_machine(job: &Job, running: &Running, search: &mut Search) {
    let shared = Shared::of(job);
    search.threads = running.resources.threads.get().or(Some(shared.threads));
    if running.resources.memory.is_none() {
        search.memory = search.memory.map(|budget| budget / shared.ranks);
    }
}

/// What ranks on the same machine share.
pub struct Shared {
    /// Threads for this rank.
    pub threads: usize,
    /// Ranks on this machine.
    pub ranks: u64,
}

impl Shared {
    /// Returns what the ranks of a job share on this machine.
    pub fn of(job: &Job) -> Shared {
        let host = Job::host();
        let all = job.all_gather(format!("{host}\n{}", cores()).into_bytes());
        let all: Vec<String> =
            all.iter().map(|place| String::from_utf8_lossy(place).into_owned()).collect();
        // Launchers often bind ranks to cores of their own: only ranks with the same ones share them.
        let sharing = all.iter().filter(|&place| *place == all[job.rank()]);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let here = |place: &&String| place.split('\n').next() == Some(&host);
        Shared {
            threads: (cores / sharing.count()).max(1),
            ranks: all.iter().filter(here).count() as u64,
        }
    }
}

/// The cores that this process may run on, in words.
fn cores() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("Cpus_allowed_list"));
    line.unwrap_or_default().to_string()
}
