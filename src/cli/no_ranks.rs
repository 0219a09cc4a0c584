//! What a program without MPI says to its launcher.

use tilewave::Search;
use tilewave::search::disk::Disk;

use crate::cli::{Launch, Result, ResultReport, Running, refuse};

/// Refuses: each process would search everything.
pub fn run(_: &ResultReport, _: Launch, _: &Running, _: Search, _: Option<Disk>) -> Result<()> {
    refuse!(
        "an MPI launcher has started this program, which was built without MPI: build it with --features mpi \
         (docs/cluster.md), or start it without the launcher"
    )
}
