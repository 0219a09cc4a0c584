//! The ranks that this process is one of: those of an MPI job, or itself alone.
//!
//! Invariant: rank 0 alone shows progress and writes results. What goes wrong before the search is agreed
//! upon by all ranks and said once; what goes wrong later ends the job at once.

use std::sync::OnceLock;

use rayon::ThreadPool;
use tilewave::{
    Error, Resources, internals,
    progress::Progress,
    search::{Communicator, OneProcess, SearchError, Stop, disk::Disk},
};

use crate::{
    Failure, ResourceOptions, Result, ResultReport, SearchProgress, complain,
    output::Files,
    progress::{hide, of_process},
    refuse,
};

// Whether an MPI launcher has started this process, without asking MPI.

/// Variables that tell the number of processes: Open MPI, MPICH and Intel MPI, and the steps of srun.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// Variables that tell only that there is a launcher.
const SIGNS: [&str; 2] = ["PMIX_RANK", "PMI_RANK"];

/// What a launcher says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Processes that it has started, if it says so.
    pub processes: Option<usize>,
}

/// Returns what the launcher of this process says if a search is for all processes together, or to be refused: not when
/// there is only one that works in memory, or this program knows no MPI.
pub fn launch(on_disk: bool) -> Option<Launch> {
    let several = |launch: &Launch| launch.processes.is_some_and(|processes| processes > 1);
    let launch = read(|name| std::env::var(name).ok());
    launch.filter(|launch| several(launch) || (mpi().is_some() && on_disk))
}

fn read(variable: impl Fn(&str) -> Option<String>) -> Option<Launch> {
    let size = |name: &&str| variable(name).and_then(|size| size.trim().parse().ok());
    // A shell inside a SLURM step of one task is no job of ours.
    let slurm = |name: &str, size: usize| name != "SLURM_STEP_NUM_TASKS" || size > 1;
    let told = SIZES.iter().find_map(|name| size(name).filter(|&size| slurm(name, size)));
    let sign = SIGNS.iter().any(|name| variable(name).is_some());
    (told.is_some() || sign).then_some(Launch { processes: told })
}

// The ranks.

/// MPI, for a program that is linked with it (tools/mpi).
pub struct Mpi {
    /// Starts it; returns `None` if it has been started before.
    pub start: fn() -> Option<Box<dyn Communicator>>,
    /// From now on, a panic of any thread ends the whole job, after its reason has been told.
    pub end_on_panic: fn(Tell),
}

/// What to do with the reason of a panic.
pub type Tell = Box<dyn Fn(&str) + Send + Sync>;

static MPI: OnceLock<Mpi> = OnceLock::new();

/// Says whether this program has MPI, before anything else is run.
pub fn has_mpi(mpi: Option<Mpi>) {
    if let Some(mpi) = mpi {
        let _ = MPI.set(mpi);
    }
}

pub fn mpi() -> Option<&'static Mpi> {
    MPI.get()
}

/// Starts MPI; a program without it is alone.
fn start() -> Result<Box<dyn Communicator>> {
    let Some(mpi) = mpi() else { return Ok(Box::new(OneProcess)) };
    let job = (mpi.start)().ok_or_else(|| Failure::failed("MPI cannot be started twice"))?;
    let me = me(&*job);
    (mpi.end_on_panic)(Box::new(move |reason| complain(&format!("{me}: {reason}"))));
    Ok(job)
}

/// Returns the ranks that a launcher has started, or this process alone.
pub fn join() -> Result<Box<dyn Communicator>> {
    match launch(false) {
        Some(_) => start(),
        None => Ok(Box::new(OneProcess)),
    }
}

/// Which rank this is, in words.
pub fn me(ranks: &dyn Communicator) -> String {
    format!("rank {} of {} on {}", ranks.rank(), ranks.size(), ranks.host())
}

/// Runs a search and writes its result: alone, or together with the other ranks, with what this one may use, and writes
/// on the first.
pub fn run<T>(
    report: &ResultReport,
    resources: &ResourceOptions,
    disk: Option<Disk>,
    alone: impl FnOnce(Option<Disk>, &dyn Progress) -> Result<T>,
    together: impl FnOnce(&Disk, Resources, &dyn Communicator, &dyn Progress) -> Result<T, Stop>,
    finish: impl FnOnce(Files, T) -> Result<()>,
) -> Result<()> {
    let Some(launch) = launch(disk.is_some()) else {
        let files = report.files()?;
        let progress = SearchProgress::new();
        let found = alone(disk, &progress)?;
        drop(progress);
        return finish(files, found);
    };
    if mpi().is_none() {
        // Each process would search everything.
        refuse!(
            "this program was started by an MPI launcher, but was built without MPI: start \
             tilewave-mpi instead (docs/cluster.md), or start this program without the launcher"
        );
    }
    let Some(disk) = disk else {
        refuse!("a search with several processes keeps its levels in files: specify --dir");
    };
    let mut resources = resources.get()?;
    let ranks = start()?;
    let (rank, size) = (ranks.rank(), ranks.size());
    if let Some(processes) = launch.processes.filter(|&processes| processes != size) {
        return Err(Failure::failed(format!(
            "the launcher started {processes} processes, but MPI sees {size}: use the launcher of the MPI that \
             this program was built with; with srun, try --mpi=pmix or --mpi=pmi2"
        )));
    }
    let first = rank == 0;
    let files = first.then(|| report.files()).transpose();
    let failure = files.as_ref().err().map(|error| error.to_string());
    let agreed = ranks.agree(failure);
    let files = match (files, agreed) {
        (Ok(files), None) => files,
        (Err(error), _) => return Err(error),
        (Ok(_), Some(_)) => return Ok(()),
    };
    // Cores and memory are shared with the ranks on the same machine, where the user has not said how.
    let (threads, neighbours) = shared(&*ranks);
    resources.threads = resources.threads.or(Some(threads));
    if resources.memory.is_none() {
        resources.memory = resources.memory.map(|budget| budget / neighbours);
    }
    if !first {
        hide();
    }
    let progress = SearchProgress::new();
    let found = together(&disk, resources, &*ranks, &progress);
    drop(progress);
    match (found, files) {
        (Ok(outcome), Some(files)) => finish(files, outcome),
        (Err(Stop::Together(error)), Some(_)) => Err(error.into()),
        // All ranks know, and the words of each are the same: one that sees another rank's terminal knows too.
        (Err(Stop::Together(error @ Error::Search(SearchError::Ranks(_)))), None) => {
            complain(&format!("{}: {error}", me(&*ranks)));
            // Rank 0 fails for all: a launcher kills the others when one does.
            Ok(())
        }
        (Ok(_) | Err(Stop::Together(_)), None) => Ok(()),
        (Err(Stop::Alone(error)), _) => {
            complain(&format!("{}: {error}", me(&*ranks)));
            ranks.abort(1)
        }
    }
}

/// Returns the threads for this rank, and how many ranks are on its machine.
pub fn shared(ranks: &dyn Communicator) -> (usize, u64) {
    let host = ranks.host();
    // The cores that this process may run on, in words.
    let bound = of_process("Cpus_allowed_list:").unwrap_or_default();
    let all = ranks.all_gather(format!("{host}\n{bound}").into_bytes());
    let all: Vec<String> =
        all.iter().map(|place| String::from_utf8_lossy(place).into_owned()).collect();
    // Launchers often bind ranks to cores of their own: only ranks with the same ones share them.
    let sharing = all.iter().filter(|&place| *place == all[ranks.rank()]).count();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let here = |place: &&String| place.split('\n').next() == Some(&host);
    ((cores / sharing).max(1), all.iter().filter(here).count() as u64)
}

/// Threads as many as asked for, or those that this rank has for itself.
pub fn pool(asked: Option<usize>, ranks: &dyn Communicator) -> Result<ThreadPool> {
    let own = || (ranks.size() > 1).then(|| shared(ranks).0);
    Ok(internals::pool(asked.or_else(own))?)
}

/// Lets rank 0 do first what it then keeps for all; when it cannot, it ends all.
pub fn first_alone<T>(ranks: &dyn Communicator, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let first = ranks.rank() == 0;
    if !first {
        ranks.barrier();
    }
    let done = work()?;
    if first {
        ranks.barrier();
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_their_variables() {
        let under = |set: &[(&str, &str)]| {
            let find = |name: &str| set.iter().find(|(n, _)| *n == name);
            read(|name| find(name).map(|(_, value)| value.to_string()))
        };
        let of = |processes| Some(Launch { processes });
        assert_eq!(under(&[]), None);
        assert_eq!(under(&[("OMPI_COMM_WORLD_SIZE", "4")]), of(Some(4)));
        assert_eq!(under(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]), of(Some(2)));
        assert_eq!(under(&[("SLURM_STEP_NUM_TASKS", "8")]), of(Some(8)));
        assert_eq!(under(&[("SLURM_STEP_NUM_TASKS", "1")]), None);
        assert_eq!(under(&[("SLURM_NTASKS", "8")]), None, "a batch script, no step");
        assert_eq!(under(&[("PMIX_RANK", "3")]), of(None));
    }
}
