//! What a program without MPI says to its launcher.

use anyhow::Result;
use tilewave::bfs::Search;
use tilewave::bfs::disk::Disk;

use super::failure::refuse;
use super::found::Report;
use super::launcher::Launch;
use super::options::Running;

/// Refuses: each process would search everything.
pub fn run(_: &Report, _: Launch, _: &Running, _: Search, _: Option<Disk>) -> Result<()> {
    refuse!(
        "an MPI launcher has started this program, which was built without MPI: build it with --features mpi \
         (docs/cluster.md), or start it without the launcher"
    )
}
