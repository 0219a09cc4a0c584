//! `tilewave bfs`: search a board completely.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use tilewave::Error;
use tilewave::bfs::disk::{self, Disk};
use tilewave::bfs::{self, Engine, Outcome, Search};
use tilewave::puzzle::tiles::Board;
use tilewave::report::html::LAST_DRAWN;
use tilewave::report::{self, Agreement, Chart, ChartFormat, one_key_per_line, published};

use super::Talk;
use super::disk::OnDisk;
use super::failure::Usage;
use super::launcher::launch;
use super::options::{Format, Running, goal, size};
use super::output::{Destination, Output, OutputFile};
use super::progress::Progress;
use super::ranks;

/// Search a board completely: depth distribution, God's number, antipodes.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave bfs 3x4 --plot 3x4.png")]
pub struct Args {
    /// Size of the board, rows x columns, for example 3x4.
    board: String,

    /// Goal: last, first, blank=CELL (row-major from 0) or a board.
    #[arg(long, default_value = "last")]
    goal: String,

    /// Start of the search, any board that can reach the goal [default: the goal].
    #[arg(long, value_name = "BOARD")]
    start: Option<String>,

    /// Stop after this depth.
    #[arg(long, value_name = "DEPTH")]
    max_depth: Option<usize>,

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
        let size = size(&self.board)?;
        let mut search = self.running.search(goal(&self.goal, size)?)?;
        search.max_depth = self.max_depth;
        if let Some(text) = &self.start {
            search.start = Board::parse(text, Some(size))
                .map_err(Error::from)
                .context("--start")?;
        }
        let disk = self.on_disk.disk()?;
        self.report.run(&self.running, search, disk, talk)
    }
}

/// How the result of a search is written.
#[derive(clap::Args)]
pub struct Report {
    /// How to write the result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Draw the distribution, a linear and a logarithmic panel, to a .svg or .png file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Write the report as a web page, antipodes included: one file, for any browser, without a network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    output: Output,
}

impl Report {
    /// Runs a search, in memory or on disk, and writes its result.
    pub fn run(
        &self,
        running: &Running,
        mut search: Search,
        disk: Option<Disk>,
        talk: Talk,
    ) -> Result<ExitCode> {
        if self.html.is_some() {
            search.keep_last = LAST_DRAWN;
        }
        if let Some(launch) = launch().filter(|launch| launch.concerns(disk.is_some())) {
            return ranks::run(self, launch, running, search, disk, talk);
        }
        let files = self.files()?;
        let progress = Progress::new(talk);
        let outcome = match disk {
            Some(disk) => {
                sweeps(&search)?;
                fits(&search, &disk)?;
                disk::run(&search, &disk, &progress)?
            }
            None => bfs::run(&search, &progress)?,
        };
        drop(progress);
        self.finish(files, &outcome)
    }

    /// Reserves the files to be written.
    pub fn files(&self) -> Result<Files> {
        let files = [
            ("--plot", &self.plot),
            ("--html", &self.html),
            ("--output", &self.output.output),
        ];
        for (i, (second, path)) in files.iter().enumerate() {
            let same = files[..i].iter().find(|(_, p)| p.is_some() && p == path);
            if let Some((first, _)) = same {
                let wrong = format!("{first} and {second} name the same file: choose two");
                return Err(Usage(wrong).into());
            }
        }
        let plot = self.plot.as_ref().map(|path| {
            let format = ChartFormat::of(path).map_err(|e| Usage(e.to_string()))?;
            anyhow::Ok((format, OutputFile::reserve(path, self.output.force)?))
        });
        let html = self.html.as_ref();
        let html = html.map(|path| OutputFile::reserve(path, self.output.force));
        Ok(Files {
            plot: plot.transpose()?,
            html: html.transpose()?,
            report: self.output.reserve()?,
        })
    }

    /// Writes what was found.
    pub fn finish(&self, files: Files, outcome: &Outcome) -> Result<ExitCode> {
        let report = report::Report::new(outcome);
        if let Some((format, file)) = files.plot {
            file.write(&Chart::of(outcome).bytes(format)?)?;
        }
        if let Some(file) = files.html {
            file.write(report.html()?.as_bytes())?;
        }
        files.report.write(&match self.format {
            Format::Text => report.text(),
            Format::Csv => report.csv(),
            Format::Json => one_key_per_line(&report.json())?,
        })?;
        // A search that contradicts a publication is a failed check, however it was asked for.
        if let Agreement::Differs(truth, difference) = &report.agreement {
            return Err(anyhow!(
                "{} disagrees with {}: {difference}; search again with --engine reference to see which \
                  is right",
                outcome.size(),
                truth.name()
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The files to be written at the end.
pub struct Files {
    plot: Option<(ChartFormat, OutputFile)>,
    html: Option<OutputFile>,
    report: Destination,
}

/// Refuses an engine that keeps nothing on disk.
pub fn sweeps(search: &Search) -> Result<(), Usage> {
    if search.engine == Some(Engine::Reference) {
        let wrong = "--dir needs the sweep engine: leave out --engine reference";
        return Err(Usage(wrong.into()));
    }
    Ok(())
}

/// Refuses a search that needs more disk than it may take or than is free.
fn fits(search: &Search, disk: &Disk) -> Result<()> {
    let size = search.goal.size();
    let room = disk::Room::of(disk).map_err(Error::from)?;
    let truth = published(size, search.start.blank());
    let truth = truth.or_else(|| published(size, size.cells() - 1));
    let widths = truth.map_or(&[][..], |truth| truth.counts());
    let levels = search
        .max_depth
        .map_or(usize::MAX, |max| max.saturating_add(1));
    let widths = &widths[..widths.len().min(levels)];
    let fit = disk::Fit::choose(search, disk, None)?;
    let needed = disk::estimate(size, widths, fit, disk.keep_all).peak_bytes;
    Ok(room.check(needed).map_err(Error::from)?)
}
