//! `tilewave scramble`: random boards that can be solved.

use anyhow::{Context, Result};
use tilewave::puzzle::tiles::Size;
use tilewave::random;
use tilewave::solve::Scrambler;

use super::options::GoalOption;
use super::output::print;
use super::values::count;

/// Boards that are written at once.
const BATCH: u64 = 4096;

/// Print random boards that can reach the goal, all equally likely, one per line.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave scramble 4x4 --count 5 --seed 1")]
pub struct Args {
    /// Size of the boards, rows x columns.
    size: Size,

    /// Number of boards.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count::<u64>(), allow_negative_numbers = true)]
    count: u64,

    /// Number that determines the boards, on every machine the same [default: another one each time, logged].
    #[arg(long, value_name = "N", value_parser = count::<u64>(), allow_negative_numbers = true)]
    seed: Option<u64>,

    #[command(flatten)]
    goal: GoalOption,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let goal = self.goal.board(self.size)?;
        let seed = match self.seed {
            Some(seed) => seed,
            None => {
                let seed =
                    random::seed().context("a seed cannot be drawn: give one with --seed")?;
                tracing::info!("seed {seed}");
                seed
            }
        };
        let mut boards = Scrambler::new(goal, seed);
        let mut left = self.count;
        while left > 0 {
            let batch = left.min(BATCH);
            let lines = boards.by_ref().take(batch as usize);
            print(&lines.map(|board| format!("{board}\n")).collect::<String>())?;
            left -= batch;
        }
        Ok(())
    }
}
