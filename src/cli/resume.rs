//! `tilewave resume`: go on with a search on disk.

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueHint;
use tilewave::bfs::disk;

use super::bfs;
use super::disk::{OnDisk, directories};
use super::found::Report;
use super::options::{MaxDepth, Running};

/// Go on with the search that a directory holds, at its last commit.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave resume RUN")]
pub struct Args {
    /// The directories of the search, in the order in which they were given (or --dir).
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, group = "place", required_unless_present = "dir")]
    dirs: Vec<PathBuf>,

    #[command(flatten)]
    max_depth: MaxDepth,

    /// First read and check all files; what is damaged is computed again where the levels before are kept.
    #[arg(long)]
    check: bool,

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
        let dirs = match &self.dirs[..] {
            [] => &self.on_disk.dir,
            dirs => dirs,
        };
        let (found, keep_all) = disk::search(&directories(dirs)?)?;
        let mut search = self.running.search(found.subject)?;
        search.max_depth = self.max_depth.max_depth;
        let disk = disk::Disk {
            keep_all,
            check: self.check,
            ..self.on_disk.disk_in(dirs)?
        };
        bfs::run(&self.report, &self.running, search, Some(disk))
    }
}
