//! The `tilewave` command for the processes of an MPI job.

use std::process::ExitCode;

use tilewave_cli as cli;
use tilewave_mpi::{Job, end_on_panic};

#[global_allocator]
static ALLOCATOR: cli::Allocator = cli::Allocator;

fn main() -> ExitCode {
    let mpi = cli::Mpi {
        start: || Job::start().map(|job| Box::new(job) as _),
        end_on_panic: |say| end_on_panic(say),
    };
    ExitCode::from(cli::run(std::env::args_os(), Some(mpi)))
}
