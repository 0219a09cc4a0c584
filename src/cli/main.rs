//! The `tilewave` command.

use std::process::ExitCode;

use tilewave_cli as cli;

#[global_allocator]
static ALLOCATOR: cli::Allocator = cli::Allocator;

fn main() -> ExitCode {
    ExitCode::from(cli::run(std::env::args_os(), None))
}
