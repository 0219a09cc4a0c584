//! The `tilewave` command.

mod cli;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: cli::Allocator = cli::Allocator;

fn main() -> ExitCode {
    cli::main()
}
