//! `tilewave pdb info`: what a database file says of itself.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;
use tilewave::Error;
use tilewave::pdb::{Kind, inspect};
use tilewave::report::{bytes, histogram, one_key_per_line, thousands};

use crate::cli::options::{Format, Output};

/// Show the header, the histogram and the mean of a database.
#[derive(clap::Args)]
pub struct Args {
    /// Database file, compressed or not.
    file: PathBuf,

    #[command(flatten)]
    output: Output,
}

/// A histogram as comma-separated values.
pub fn csv(histogram: &[u64]) -> String {
    let rows = histogram.iter().enumerate();
    let rows = rows.map(|(value, entries)| format!("{value},{entries}\n"));
    std::iter::once("value,entries\n".to_string())
        .chain(rows)
        .collect()
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<ExitCode> {
        let destination = self.output.reserve()?;
        let summary = inspect(&self.file).map_err(Error::from)?;
        let pattern = &summary.pattern;
        let reached = summary.histogram.iter().sum::<u64>();
        let order = match summary.kind {
            Kind::Minimum => "lexicographic placements",
            Kind::Regions => "sets, regions, arrangements",
        };
        destination.write(&match self.output.format {
            Format::Json => one_key_per_line(&json!({
                "board": pattern.size().to_string(),
                "goal": pattern.goal().to_string(),
                "tiles": pattern.tiles(),
                "kind": summary.kind.name(),
                "encoding": summary.encoding.name(),
                "compressed": summary.compressed,
                "order": order,
                "metric": "moves of pattern tiles",
                "entries": summary.entries,
                "reached": reached,
                "max": summary.maximum(),
                "mean": summary.mean(),
                "histogram": summary.histogram,
                "bytes": summary.file_bytes,
                "checksum": format!("{:016x}", summary.checksum),
                "version": env!("CARGO_PKG_VERSION"),
            }))?,
            Format::Csv => csv(&summary.histogram),
            Format::Text => format!(
                "{}\nboard     {}\ngoal      {}\ntiles     {}\nkind      {}\nencoding  {}{}\norder     \
                 {order}\nmetric    moves of pattern tiles\nentries   {}\nreached   {}\nmaximum   {}\nmean      \
                 {:.6}\nbytes     {}\nchecksum  {:016x}\n",
                histogram(&summary.histogram, reached).trim_end(),
                pattern.size(),
                pattern.goal(),
                tiles(pattern.tiles()),
                summary.kind,
                summary.encoding,
                if summary.compressed { ", compressed" } else { "" },
                thousands(summary.entries),
                thousands(reached),
                summary.maximum(),
                summary.mean(),
                bytes(summary.file_bytes),
                summary.checksum,
            ),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Tiles as they are shown: `1,2,3`.
pub fn tiles(tiles: &[u16]) -> String {
    let words: Vec<String> = tiles.iter().map(u16::to_string).collect();
    words.join(",")
}
