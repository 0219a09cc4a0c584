//! The `tilewave` command.

mod cli;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: cli::Allocator = cli::Allocator;

fn main() -> ExitCode {
    ExitCode::from(cli::run(std::env::args_os(), None))
}
