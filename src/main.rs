//! The `tilewave` command.

mod cli;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: tilewave::store::Allocator = tilewave::store::Allocator::new(cli::out_of_memory);

fn main() -> ExitCode {
    cli::main()
}
