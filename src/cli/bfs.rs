//! `tilewave bfs`: search a puzzle completely.

use anyhow::{Context, Result};
use tilewave::bfs::disk::{self, Disk};
use tilewave::bfs::{self, Search, Subject};
use tilewave::report::{published, published_for};

use super::disk::{Made, OnDisk};
use super::failure::refuse;
use super::found::{Report, sweeps};
use super::launcher::launch;
use super::options::{MaxDepth, Running};
use super::progress::Progress;
use super::puzzle::{Counted, puzzle};
use super::ranks;
use super::space::Tiles;

/// Search a board or another puzzle completely: depth distribution, God's number, antipodes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave bfs 3x4 --plot 3x4.png\n  tilewave bfs 3x3 --metric mtm\n  tilewave bfs topspin:12,4\n  \
                  tilewave bfs 4x4 --goal first --tiles 3,7,11,12-15"
)]
pub struct Args {
    /// Size of a board (3x4), family of puzzles (topspin:12,4) or file that defines one (dino.gap).
    #[arg(value_parser = puzzle)]
    puzzle: String,

    #[command(flatten)]
    counted: Counted,

    /// Start of the search: any board that can reach the goal, any state of another puzzle [default: the goal].
    #[arg(long, value_name = "STATE")]
    start: Option<String>,

    #[command(flatten)]
    tiles: Tiles,

    #[command(flatten)]
    max_depth: MaxDepth,

    #[command(flatten)]
    report: Report,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    on_disk: OnDisk,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let mut subject = self.counted.subject(&self.puzzle)?;
        if self.tiles.get().is_some() {
            let Subject::Board { goal, .. } = subject else {
                refuse!("--tiles is for boards, {} is none", self.puzzle);
            };
            let output = self.report.output();
            return self.tiles.run(goal, &self.max_depth, &self.running, output);
        }
        if let Some(text) = &self.start {
            subject = subject.starting_at(text).context("--start")?;
        }
        let mut search = self.running.search(subject)?;
        search.max_depth = self.max_depth.max_depth;
        let _made = Made::of(&self.on_disk.dir);
        let disk = self.on_disk.disk()?;
        run(&self.report, &self.running, search, disk)
    }
}

/// Runs a search, in memory or on disk, and writes its result.
pub fn run(
    report: &Report,
    running: &Running,
    mut search: Search,
    disk: Option<Disk>,
) -> Result<()> {
    search.keep_last = report.keep_last();
    if let Some(launch) = launch().filter(|launch| launch.concerns(disk.is_some())) {
        return ranks::run(report, launch, running, search, disk);
    }
    let files = report.files()?;
    let progress = Progress::new();
    let outcome = match disk {
        Some(disk) => {
            sweeps(&search)?;
            fits(&search, &disk)?;
            disk::run(&search, &disk, &progress)?
        }
        None => bfs::run(&search, &progress)?,
    };
    drop(progress);
    report.finish(files, &outcome)
}

/// Refuses a search that needs more disk than it may take or than is free.
fn fits(search: &Search, disk: &Disk) -> Result<()> {
    let found = disk.directories.manifest()?;
    if disk.ignore_space || found.as_ref().is_some_and(|manifest| manifest.complete) {
        return Ok(());
    }
    let subject = &search.subject;
    let memory_plan = disk::MemoryPlan::choose(search, disk, found.as_ref())?;
    let peak = |counts: &[u64], depth| -> Result<u64> {
        let widths = disk::widths(subject, counts, depth)?;
        Ok(disk::estimate(&widths, memory_plan, disk.keep_all).peak_bytes)
    };
    let corner = || {
        let size = subject.size()?;
        published(size, size.cells() - 1, subject.metric()?)
    };
    let needed = match published_for(subject) {
        Some(truth) => peak(truth.counts(), search.max_depth)?,
        // From other goals the widest levels are as wide, not the first ones.
        None => {
            let whole = corner().map_or(&[][..], |truth| truth.counts());
            peak(&[], search.max_depth)?.min(peak(whole, None)?)
        }
    };
    let budget = disk::DiskBudget::of(disk)?;
    Ok(budget.check(needed)?)
}
