//! `tilewave pdb info`: what a database file says of itself.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};
use tilewave::pdb::{Kind, Summary, inspect};
use tilewave::report::{bytes, histogram, thousands};

use crate::cli::options::{Format, Output};
use crate::cli::output::counts_csv;

/// Show the header, the histogram and the mean of a database.
#[derive(clap::Args)]
pub struct Args {
    /// Database file, compressed or not.
    file: PathBuf,

    #[command(flatten)]
    output: Output,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let summary = inspect(&self.file)?;
        let pattern = &summary.pattern;
        let reached = summary.histogram.iter().sum::<u64>();
        let order = match summary.kind {
            Kind::Minimum | Kind::AllMoves => "lexicographic placements",
            Kind::Regions => "sets, regions, arrangements",
        };
        let mut figures = figures(&summary);
        figures["compressed"] = json!(summary.compressed);
        figures["order"] = json!(order);
        let metric = match summary.kind {
            Kind::AllMoves => "moves of all tiles",
            Kind::Minimum | Kind::Regions => "moves of pattern tiles",
        };
        figures["metric"] = json!(metric);
        figures["reached"] = json!(reached);
        let words = || {
            format!(
                "{}\nboard     {}\ngoal      {}\ntiles     {}\nkind      {}\nencoding  {}{}\norder     \
                 {order}\nmetric    {metric}\nentries   {}\nreached   {}\nmaximum   {}\nmean      \
                 {:.6}\nbytes     {}\nchecksum  {:016x}\n",
                histogram(&summary.histogram, reached).trim_end(),
                pattern.size(),
                pattern.goal(),
                tiles(pattern.tiles()),
                summary.kind,
                summary.encoding,
                if summary.compressed {
                    ", compressed"
                } else {
                    ""
                },
                thousands(summary.entries),
                thousands(reached),
                summary.maximum(),
                summary.mean(),
                bytes(summary.file_bytes()),
                summary.checksum,
            )
        };
        destination.write(&written(self.output.format, &summary, figures, words))
    }
}

/// A database in words, as its figures, or as its histogram.
pub fn written(
    format: Format,
    summary: &Summary,
    figures: Value,
    words: impl FnOnce() -> String,
) -> String {
    match format {
        Format::Csv => counts_csv("value,entries", &summary.histogram),
        format => format.result(figures, "", words),
    }
}

/// What is to be said of every database.
pub fn figures(summary: &Summary) -> Value {
    json!({
        "board": summary.pattern.size().to_string(),
        "goal": summary.pattern.goal().to_string(),
        "tiles": summary.pattern.tiles(),
        "kind": summary.kind.name(),
        "encoding": summary.encoding.name(),
        "entries": summary.entries,
        "max": summary.maximum(),
        "mean": summary.mean(),
        "histogram": summary.histogram,
        "bytes": summary.file_bytes(),
        "checksum": format!("{:016x}", summary.checksum),
    })
}

/// Tiles as they are shown: `1,2,3`.
pub fn tiles(tiles: &[u16]) -> String {
    let words: Vec<String> = tiles.iter().map(u16::to_string).collect();
    words.join(",")
}
