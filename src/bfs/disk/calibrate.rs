//! How long a search on disk takes to compute, from a small one.

use std::time::Duration;

use super::directories::Directories;
use super::options::Disk;
use super::run::run;
use crate::Error;
use crate::bfs::calibrate::Calibration;
use crate::bfs::plan::Plan;
use crate::bfs::search::Search;
use crate::bfs::subject::Subject;
use crate::perm::kernel::Kernel;
use crate::progress::NoProgress;
use crate::puzzle::tiles::{Goal, Size};
use crate::store::Simulated;

/// Returns how long computing, without waiting for a disk, should take: decoding, kernel and encoding of
/// a complete search of a board of 12 cells of the same kind, through chunks in memory (about a second),
/// times the states and levels (which grow with the square of the cells) of the planned one.
///
/// # Errors
/// What [`run`] returns.
pub fn calibrate(
    plan: &Plan,
    threads: Option<usize>,
    kernel: Option<Kernel>,
) -> Result<Calibration, Error> {
    let size = plan.subject.size().unwrap_or(Size::new(3, 4)?);
    let short = size.rows().min(size.cols()).clamp(2, 3);
    let board = Size::new(short, 12 / short)?;
    let subject = Subject::board(Goal::Last.board(board)?);
    let mut search = Search::of(subject.clone());
    (search.threads, search.kernel) = (threads, kernel);
    let directories = Directories::new(vec![Box::new(Simulated::default())]);
    let mut disk = Disk::new(directories);
    disk.shared_digits = Some(1);
    disk.commit_every = Duration::MAX;
    let outcome = run(&search, &disk, &NoProgress)?;
    let used = outcome.disk.as_ref();
    let work = used.map_or(outcome.seconds, |used| {
        used.decode_seconds + used.kernel_seconds + used.encode_seconds
    });
    let growth = size.cells() as f64 / board.cells() as f64;
    let seconds = work / outcome.threads as f64 * growth * growth * plan.states as f64
        / outcome.total() as f64;
    Ok(Calibration {
        subject,
        kernel: outcome.kernel,
        threads: outcome.threads,
        states_per_second: plan.states as f64 / seconds,
        seconds,
    })
}
