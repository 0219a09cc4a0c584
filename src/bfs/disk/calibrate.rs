//! How long a search on disk takes to compute, from a small one.

use std::time::Duration;

use super::directories::Directories;
use super::error::DiskError;
use super::options::Disk;
use super::run::run;
use crate::Error;
use crate::bfs::calibrate::{Calibration, by};
use crate::bfs::chunks::Chunks;
use crate::bfs::engine::Engine;
use crate::bfs::error::SearchError;
use crate::bfs::outcome::Outcome;
use crate::bfs::plan::Plan;
use crate::bfs::problem::Problem;
use crate::bfs::search::Search;
use crate::perm::kernel::Kernel;
use crate::progress::Progress;
use crate::store::Simulated;

/// Returns how long computing, without waiting for a disk, should take: as [`crate::bfs::calibrate`], with decoding,
/// kernel and encoding of complete searches through chunks in memory.
///
/// # Errors
/// What [`run`] returns.
pub fn calibrate(
    plan: &Plan,
    threads: Option<usize>,
    kernel: Option<Kernel>,
) -> Result<Option<Calibration>, Error> {
    let plan = Plan {
        engine: Engine::Disk,
        ..plan.clone()
    };
    by(&plan, threads, kernel, &worked)
}

/// Runs a search whose seconds are those of its work.
fn worked(search: &Search, progress: &dyn Progress) -> Result<Outcome, Error> {
    let directories = Directories::new(vec![Box::new(Simulated::default())]);
    let mut disk = Disk::new(directories);
    let layout = Problem::chunked(&search.subject)?.layout;
    disk.shared_digits = Chunks::new(layout, 1).map(|chunks| chunks.digits);
    disk.commit_every = Duration::MAX;
    let ended = run(search, &disk, progress).map_err(|error| match error {
        Error::Disk(DiskError::Interrupted { depth, states, .. }) => {
            SearchError::Interrupted { depth, states }.into()
        }
        error => error,
    });
    let mut outcome = ended?;
    if let Some(used) = &outcome.disk {
        let work = used.decode_seconds + used.kernel_seconds + used.encode_seconds;
        outcome.seconds = work / outcome.threads as f64;
    }
    Ok(outcome)
}
