//! The `tilewave` command.

use std::process::ExitCode;

mod cli;

#[global_allocator]
static ALLOCATOR: tilewave::store::Allocator = tilewave::store::Allocator::new(cli::out_of_memory);

fn main() -> ExitCode {
    cli::main()
}
