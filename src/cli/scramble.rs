//! `tilewave scramble`: random boards that can be solved.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::process::ExitCode;

use anyhow::Result;
use tilewave::solve::Scrambler;

use super::options::{goal, size};
use super::output::print;

/// Boards that are written at once.
const BATCH: u64 = 4096;

/// Print random boards that can reach the goal, all equally likely, one per line.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave scramble 4x4 --count 5 --seed 1")]
pub struct Args {
    /// Size of the boards, rows x columns.
    size: String,

    /// Number of boards.
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u64,

    /// Number that determines the boards, on every machine the same [default: another one each time, logged].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Goal: last, first, blank=CELL (row-major from 0) or a board.
    #[arg(long, default_value = "last")]
    goal: String,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<ExitCode> {
        let goal = goal(&self.goal, size(&self.size)?)?;
        let seed = self.seed.unwrap_or_else(|| {
            // The standard library draws the keys of its hash maps from the system.
            let seed = RandomState::new().build_hasher().finish();
            tracing::info!("seed {seed}");
            seed
        });
        let mut boards = Scrambler::new(goal, seed);
        let mut left = self.count;
        while left > 0 {
            let batch = left.min(BATCH);
            let lines = boards.by_ref().take(batch as usize);
            print(&lines.map(|board| format!("{board}\n")).collect::<String>())?;
            left -= batch;
        }
        Ok(ExitCode::SUCCESS)
    }
}
