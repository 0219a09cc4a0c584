//! What a program without MPI says to its launcher.

use std::process::ExitCode;

use anyhow::Result;

use super::Talk;
use super::bfs::Args;
use super::failure::Usage;
use super::launcher::Launch;

/// Refuses: each process would search everything.
pub fn run(_: &Args, _: Launch, _: Talk) -> Result<ExitCode> {
    Err(Usage(
        "an MPI launcher has started this program, which was built without MPI: build it with --features mpi \
         (docs/cluster.md), or start it without the launcher"
            .into(),
    )
    .into())
}
