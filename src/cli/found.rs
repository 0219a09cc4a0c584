//! The result of a search: where it is written, and in which forms.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use tilewave::bfs::{Engine, Outcome, Search};
use tilewave::report::{self, Chart, ChartFormat, one_key_per_line};

use super::failure::{Usage, refuse};
use super::options::{Format, Output};
use super::output::{Destination, OutputFile};

/// How the result of a search is written.
#[derive(clap::Args)]
pub struct Report {
    /// Draw the distribution, a linear and a logarithmic panel, to a .svg or .png file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Write the report as a web page, antipodes included: one file, for any browser, without a network.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    #[command(flatten)]
    output: Output,
}

impl Report {
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
                refuse!("{first} and {second} name the same file: choose two");
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
    pub fn finish(&self, files: Files, outcome: &Outcome) -> Result<()> {
        let report = report::Report::new(outcome);
        if let Some((format, file)) = files.plot {
            file.write(&Chart::of(outcome).bytes(format)?)?;
        }
        if let Some(file) = files.html {
            file.write(report.html()?.as_bytes())?;
        }
        files.report.write(&match self.output.format {
            Format::Text => report.text(),
            Format::Csv => report.csv(),
            Format::Json => one_key_per_line(&report.json()),
        })?;
        // A search that contradicts a publication is a failed check, however it was asked for.
        if let (Some(truth), Some(difference)) = (report.published, report.difference) {
            return Err(anyhow!(
                "{} disagrees with {}: {difference}; search again with --engine reference to see which \
                  is right",
                outcome.subject,
                truth.name()
            ));
        }
        Ok(())
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
        refuse!("--dir needs the sweep engine: leave out --engine reference");
    }
    Ok(())
}
