//! `tilewave status`: how far a search on disk has come.

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueHint;
use serde_json::json;
use tilewave::bfs::disk;
use tilewave::puzzle::tiles::Metric;
use tilewave::report::{bytes, duration, rate, thousands};

use super::disk::directories;
use super::options::Output;
use super::puzzle::board;

/// Say how far a search on disk has come, without disturbing it.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave status RUN")]
pub struct Args {
    /// The directories of the search, in the order in which they were given.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present = "dir")]
    dirs: Vec<PathBuf>,

    /// The same, one at a time, as for tilewave bfs.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "dirs")]
    dir: Vec<PathBuf>,

    #[command(flatten)]
    output: Output,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let status = disk::status(&directories(&[&self.dirs[..], &self.dir[..]].concat())?)?;
        let manifest = &status.manifest;
        let speed = status.states_per_second();
        let rest = status.all_states.saturating_sub(status.states());
        // The first levels are so thin that they say nothing about the rest.
        let telling = status.states() > status.all_states / 1000;
        let eta = (telling && !manifest.complete).then(|| rest as f64 / speed.max(1e-9));
        let state = match (manifest.complete, status.running) {
            (true, _) => "complete",
            (false, true) => "running",
            (false, false) => "stopped",
        };
        let disk_bytes = manifest.disk_bytes() + status.scratch_bytes;
        let figures = json!({
            "board": board(&status.subject, self.output.format),
            "puzzle": status.subject.name(),
            "metric": status.subject.metric().map(Metric::name),
            "goal": manifest.goal,
            "start": manifest.start,
            "state": state,
            "depth": status.depth,
            "chunks": manifest.chunks,
            "chunks_done": status.chunks_done,
            "levels": manifest.levels.len(),
            "states": status.states(),
            "all_states": status.all_states,
            "seconds": manifest.seconds,
            "states_per_second": speed,
            "eta_seconds": eta,
            "disk_bytes": disk_bytes,
            "scratch_bytes": status.scratch_bytes,
            "disk_peak_bytes": manifest.peak_bytes,
            "bytes_written": manifest.bytes_written,
        });
        let columns = "board,state,depth,chunks_done,chunks,states,seconds,disk_bytes";
        let words = || {
            let depth = match status.depth {
                None => format!("{}, the last one", manifest.levels.len().saturating_sub(1)),
                Some(depth) => format!(
                    "{depth}, {} of {} chunks done",
                    status.chunks_done, manifest.chunks
                ),
            };
            let share = status.states() as f64 * 100.0 / status.all_states as f64;
            let eta = eta.map_or(String::new(), |eta| format!(", ETA {}", duration(eta)));
            format!(
                "search   {}, goal {}: {state}\ndepth    {depth}\nstates   {} of {} ({share:.1} %)\n\
                 time     {}, {} states/s{eta}\ndisk     {}, {} at most, {} written\n",
                status.subject,
                manifest.goal,
                thousands(status.states()),
                thousands(status.all_states),
                duration(manifest.seconds),
                rate(speed),
                bytes(disk_bytes),
                bytes(manifest.peak_bytes),
                bytes(manifest.bytes_written),
            )
        };
        destination.write(&self.output.format.result(figures, columns, words))
    }
}
