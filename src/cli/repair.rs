//! `tilewave repair`: a manifest for level files that have lost theirs.

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueHint;
use serde_json::json;
use tilewave::bfs::disk;
use tilewave::puzzle::tiles::Metric;
use tilewave::report::{bytes, thousands};

use super::disk::directories;
use super::options::Output;
use super::puzzle::board;

/// Rebuild the lost or damaged manifest of a search on disk from its level files, which stay as they are.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave repair RUN")]
pub struct Args {
    /// The directories of the search, in the order in which they were given.
    #[arg(required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    dirs: Vec<PathBuf>,

    #[command(flatten)]
    output: Output,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let directories = directories(&self.dirs)?;
        let found = disk::repair(&directories, std::time::Duration::from_secs(10))?;
        let manifest = &found.manifest;
        let depth = manifest.levels.len();
        let states: u64 = manifest.levels.iter().map(|level| level.states).sum();
        let done = manifest
            .files_of(depth as u32)
            .map_or(0, |f| f.chunks.len());
        let figures = json!({
            "board": board(&found.subject, self.output.format),
            "puzzle": found.subject.name(),
            "metric": found.subject.metric().map(Metric::name),
            "goal": manifest.goal,
            "files": found.files,
            "damaged": found.damaged,
            "previous_manifest": found.previous,
            "kept": found.kept,
            "levels": depth,
            "states": states,
            "chunks_done": done,
            "complete": manifest.complete,
        });
        let mut text = format!(
            "found    {} level files{}\n",
            thousands(found.files as u64),
            match found.previous {
                true => " and the previous manifest",
                false => "",
            }
        );
        for damaged in &found.damaged {
            text += &format!("damaged  {damaged}\n");
        }
        text += &format!(
            "rebuilt  {}, goal {}: depths 0 to {}, {} states",
            found.subject,
            manifest.goal,
            depth.saturating_sub(1),
            thousands(states),
        );
        text += &match manifest.complete {
            true => "; complete\n".to_string(),
            false => format!("; {done} of {} chunks of depth {depth}\n", manifest.chunks),
        };
        text += &format!("disk     {}\n", bytes(manifest.disk_bytes()));
        if let Some(kept) = &found.kept {
            text += &format!("kept     the damaged manifest, as {kept}\n");
        }
        text += "next     tilewave verify reads every file; tilewave resume goes on\n";
        let columns = "board,files,damaged,levels,states,chunks_done,complete";
        destination.write(&self.output.format.result(figures, columns, || text))
    }
}
