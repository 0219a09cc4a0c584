//! `tilewave plan`: what a search needs before it is started.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;
use tilewave::bfs::{self, Engine};
use tilewave::report::{bytes, duration, one_key_per_line, published, rate, thousands};
use tilewave::store;

use super::options::{Format, Running, size};
use super::options::{kernel, parse_bytes};
use super::output::Output;

/// Say what a search needs: states, memory, engine, and the time expected on this machine.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave plan 2x7")]
pub struct Args {
    /// Size of the board, rows x columns.
    board: String,

    /// How to write the result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    output: Output,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<ExitCode> {
        let size = size(&self.board)?;
        let plan = bfs::plan(size, self.running.engine.map(Engine::from))
            .map_err(tilewave::Error::from)?;
        let budget = match &self.running.memory {
            Some(text) => parse_bytes(text)?,
            None => store::budget(),
        };
        let threads = self.running.threads.map(usize::from);
        let destination = self.output.reserve()?;
        let calibration = bfs::calibrate(&plan, threads, kernel()?)?;
        let fits = plan.array_bytes <= budget;
        let levels = published(size, size.cells() - 1).map(|truth| truth.counts().len());
        destination.write(&match self.format {
            Format::Json => one_key_per_line(&json!({
                "board": size.to_string(),
                "states": plan.states,
                "engine": plan.engine.name(),
                "kernel": calibration.kernel.map(|k| k.name()),
                "threads": calibration.threads,
                "memory_bytes": plan.array_bytes,
                "memory_budget_bytes": budget,
                "fits": fits,
                "disk_peak_bytes": 0,
                "bytes_written": 0,
                "seconds": calibration.seconds,
                "states_per_second": calibration.states_per_second,
                "calibrated_on": calibration.board.to_string(),
                "levels": levels,
                "version": env!("CARGO_PKG_VERSION"),
            }))?,
            Format::Csv => format!(
                "board,states,engine,memory_bytes,fits,seconds\n{size},{},{},{},{fits},{}\n",
                plan.states, plan.engine, plan.array_bytes, calibration.seconds
            ),
            Format::Text => {
                let kernel = calibration
                    .kernel
                    .map_or(String::new(), |k| format!(", {k} kernel"));
                let verdict = if fits { "fits" } else { "does NOT fit" };
                let levels = levels.map_or("unknown".into(), |l| l.to_string());
                let (threads, board) = (calibration.threads, calibration.board);
                let plural = if threads == 1 { "" } else { "s" };
                format!(
                    "board    {size}\nstates   {}\nlevels   {levels}\nengine   {}{kernel}, {threads} \
                     thread{plural}\nmemory   {}: {verdict} the budget of {}\ntime     {} expected, {} \
                     states/s (calibrated on {board})\n",
                    thousands(plan.states),
                    plan.engine,
                    bytes(plan.array_bytes),
                    bytes(budget),
                    duration(calibration.seconds),
                    rate(calibration.states_per_second),
                )
            }
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
