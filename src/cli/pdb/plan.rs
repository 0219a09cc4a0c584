//! `tilewave pdb plan`: what the building of databases needs, before it starts.

use std::time::Instant;

use anyhow::Result;
use serde_json::json;
use tilewave::pdb::{self, Build, OnDisk, Pattern};
use tilewave::report::{bytes, duration, thousands};
use tilewave::store::Simulated;

use super::build::Wanted;
use super::info::tiles;
use crate::cli::options::{Memory, Output, Threads};
use crate::cli::progress::Progress;

/// Tell the memory, the disk and the time that the building of databases takes.
#[derive(clap::Args)]
#[command(
    after_help = "The time is that of a smaller database of the same board, built at once, times the entries; without the disk's. Exit code 1 when \
                  the memory does not suffice, not even with the levels on disk (pdb build --dir).\n\nExamples:\n  tilewave pdb plan --size 5x5 --pattern 1,2,3,6,7,8,11 \
                  --encoding bit"
)]
pub struct Args {
    #[command(flatten)]
    wanted: Wanted,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    memory: Memory,

    #[command(flatten)]
    output: Output,
}

/// Tiles of the database that is built to know the time: more take more than a second or two.
const SAMPLE: usize = 6;

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let patterns = self.wanted.patterns()?;
        let mut destination = self.output.reserve()?;
        let format = self.output.format;
        let columns = "tiles,entries,bytes,memory_bytes,seconds";
        destination.add(&format.heading(columns))?;
        for pattern in &patterns {
            let unlimited = Build {
                threads: self.threads.get(),
                ..self.wanted.build(pattern)?
            };
            let build = Build {
                memory: Some(self.memory.budget()),
                ..unlimited.clone()
            };
            // Without a directory if that suffices.
            let on_disk = pdb::plan_on_disk(&unlimited).ok();
            let (plan, dir) = match pdb::plan(&build) {
                Ok(plan) => (plan, false),
                Err(error) => match pdb::plan_on_disk(&build) {
                    Ok(plan) => (plan, true),
                    Err(_) => return Err(error.into()),
                },
            };
            let seconds = self.seconds(&build, plan.entries, dir)?;
            let figures = json!({
                "tiles": tiles(pattern.tiles()),
                "kind": build.kind.name(),
                "encoding": build.encoding.name(),
                "entries": plan.entries,
                "bytes": plan.data_bytes,
                "memory_bytes": plan.memory_bytes,
                "seconds": seconds,
                "fast": plan.fast,
                "dir": dir,
                "with_dir": on_disk.map(|plan| json!({
                    "memory_bytes": plan.memory_bytes,
                    "disk_bytes": plan.disk_bytes,
                })),
            });
            let words = || {
                let levels = match dir {
                    true => format!(" with --dir and {} of disk there", bytes(plan.disk_bytes)),
                    false => String::new(),
                };
                format!(
                    "{}  {}, {}: {} entries, {} on disk, {} of memory{levels}, about {}\n",
                    tiles(pattern.tiles()),
                    build.kind,
                    build.encoding,
                    thousands(plan.entries),
                    bytes(plan.data_bytes),
                    bytes(plan.memory_bytes),
                    duration(seconds),
                )
            };
            destination.add(&format.line(figures, columns, words))?;
        }
        destination.finish()
    }

    /// The time of a build, by that of the same pattern without its last tiles; with its levels in files, but not the
    /// time of the disk.
    fn seconds(&self, build: &Build, entries: u64, dir: bool) -> Result<f64> {
        let tiles = build.pattern.tiles();
        let few = &tiles[..tiles.len().min(SAMPLE)];
        let sample = Build {
            memory: None,
            pattern: Pattern::new(build.pattern.goal().clone(), few)?,
            ..build.clone()
        };
        let progress = Progress::new();
        let begun = Instant::now();
        let built = match dir {
            true => OnDisk::new(&Simulated::default()).build(&sample, &progress)?,
            false => pdb::build(&sample, &progress)?,
        };
        let seconds = begun.elapsed().as_secs_f64();
        Ok(seconds * entries as f64 / built.entries() as f64)
    }
}
