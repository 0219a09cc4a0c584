//! `tilewave resume`: go on with a search on disk.

use std::process::ExitCode;

use anyhow::Result;
use tilewave::bfs::disk;

use super::Talk;
use super::bfs::Report;
use super::disk::{OnDisk, directories};
use super::failure::Usage;
use super::options::Running;

/// Go on with the search that a directory holds, at its last commit.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave resume --dir RUN")]
pub struct Args {
    /// Stop after this depth.
    #[arg(long, value_name = "DEPTH")]
    max_depth: Option<usize>,

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
    pub fn run(&self, talk: Talk) -> Result<ExitCode> {
        if self.on_disk.dir.is_empty() {
            let wrong = "resume needs the directory of a search: --dir DIR".to_string();
            return Err(Usage(wrong).into());
        }
        let (found, keep_all) = disk::search(&directories(&self.on_disk.dir)?)?;
        let mut search = self.running.search(found.goal.clone())?;
        search.start = found.start;
        search.max_depth = self.max_depth;
        let disk = self.on_disk.disk()?.map(|disk| disk::Disk {
            keep_all,
            check: self.check,
            ..disk
        });
        self.report.run(&self.running, search, disk, talk)
    }
}
