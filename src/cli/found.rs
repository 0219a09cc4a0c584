//! The result of a search: where it is written, and in which forms.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use serde_json::json;
use tilewave::bfs::{Engine, Outcome, Search, StateSpace};
use tilewave::report::html::LAST_DRAWN;
use tilewave::report::{self, Chart, ChartFormat, one_key_per_line};

use super::failure::{Usage, refuse};
use super::options::{Format, Output};
use super::output::{Destination, OutputFile};
use super::values::count;

/// How the result of a search is written.
#[derive(clap::Args)]
pub struct Report {
    /// Draw the distribution, a linear and a logarithmic panel, to a .svg or .png file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Write the report as a web page, antipodes included: one file, for any browser, without a network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// With --format json: list up to N states of the last depth, as `last`.
    #[arg(long, value_name = "N", value_parser = count::<usize>(), allow_negative_numbers = true)]
    last: Option<usize>,

    #[command(flatten)]
    output: Output,
}

impl Report {
    /// Returns how many states of the last depth the search has to keep.
    pub fn keep_last(&self) -> usize {
        let drawn = self.html.as_ref().map_or(0, |_| LAST_DRAWN);
        self.last.unwrap_or(0).max(drawn)
    }

    /// Returns where the result itself goes.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// Reserves the files to be written.
    pub fn files(&self) -> Result<Files> {
        let files = [
            ("--plot", &self.plot),
            ("--html", &self.html),
            ("--output", &self.output.output),
        ];
        if self.last.is_some() && self.output.format != Format::Json {
            refuse!("--last lists states in the JSON result: add --format json");
        }
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
            Format::Json => {
                let mut figures = report.json();
                if let Some(most) = self.last {
                    let space = StateSpace::of(outcome.subject.clone())?;
                    let last = outcome.last.iter().take(most);
                    figures["last"] = json!(last.map(|&s| space.text(s)).collect::<Vec<_>>());
                }
                one_key_per_line(&figures)
            }
        })?;
        // A search that contradicts what is known is a failed check, however it was asked for.
        if let Some(difference) = report.difference {
            let published = report.published.map(|truth| truth.name().to_string());
            let truth = published.or(report.own.map(|own| own.to_string()));
            return Err(anyhow!(
                "{} disagrees with {}: {difference}; search again with --engine reference to see which \
                  is right",
                outcome.subject,
                truth.unwrap_or_default()
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
