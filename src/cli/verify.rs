//! `tilewave verify`: search boards and hold the result against what is known.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;
use tilewave::bfs::{self, Engine, disk};
use tilewave::report::{Levels, Truth, Verdict, bytes, published, thousands};

use super::disk::directories;
use super::options::{Format, Running, goal, size};
use super::output::Output;
use super::progress::Progress;
use super::{Talk, interrupt};

/// Most states that the reference engine checks: seconds to minutes, and 125 MB.
const REFERENCE_STATES: u64 = 1_000_000_000;

/// Search boards and compare every level with the published distribution, or with the reference engine.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave verify 2x4 3x3")]
pub struct Args {
    /// Sizes of the boards; or the directories of a search on disk, to check all its files.
    #[arg(required = true, value_name = "BOARD|DIR")]
    boards: Vec<String>,

    /// Goal: last, first, blank=CELL (row-major from 0) or a board.
    #[arg(long, default_value = "last")]
    goal: String,

    /// How to write the result: text, or one JSON object per line.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    output: Output,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, talk: Talk) -> Result<ExitCode> {
        let directories: Vec<PathBuf> = self.boards.iter().map(PathBuf::from).collect();
        let named = |text: &String| size(text).is_err() && Path::new(text).is_dir();
        if self.boards.iter().all(named) {
            return self.files(&directories);
        }
        let sizes = self
            .boards
            .iter()
            .map(|board| size(board))
            .collect::<Result<Vec<_>>>()?;
        let mut destination = self.output.reserve()?;
        let mut all_pass = true;
        if self.format == Format::Csv {
            destination.add("board,pass,first_wrong_depth,compared_with,diameter,total\n")?;
        }
        for size in sizes {
            let search = self.running.search(goal(&self.goal, size)?)?;
            let outcome = bfs::run(&search, &Progress::new(talk))?;
            let reference;
            let truth = match published(size, search.start.blank()) {
                Some(truth) => Truth::Published(truth),
                None if outcome.total() <= REFERENCE_STATES && outcome.engine == Engine::Sweep => {
                    let engine = Some(Engine::Reference);
                    let search = bfs::Search {
                        engine,
                        ..search.clone()
                    };
                    reference = bfs::run(&search, &Progress::new(talk))?;
                    Truth::Reference(Levels::of(&reference))
                }
                None => Truth::Sum,
            };
            let verdict = Verdict::judge(size, Levels::of(&outcome), truth);
            all_pass &= verdict.pass();
            let first_wrong = verdict.fault.as_ref().and_then(|fault| fault.depth());
            destination.add(&match self.format {
                Format::Text => format!("{verdict}\n"),
                Format::Csv => format!(
                    "{size},{},{},{},{},{}\n",
                    verdict.pass(),
                    first_wrong.map_or(String::new(), |depth| depth.to_string()),
                    verdict.compared_with,
                    verdict.diameter(),
                    verdict.total
                ),
                Format::Json => format!(
                    "{}\n",
                    json!({
                        "board": size.to_string(),
                        "goal": outcome.goal.to_string(),
                        "pass": verdict.pass(),
                        "first_wrong_depth": first_wrong,
                        "compared_with": verdict.compared_with,
                        "diameter": verdict.diameter(),
                        "total": verdict.total,
                        "version": env!("CARGO_PKG_VERSION"),
                    })
                ),
            })?;
        }
        destination.finish()?;
        Ok(if all_pass {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    /// Checks the files of a search on disk.
    fn files(&self, paths: &[PathBuf]) -> Result<ExitCode> {
        let destination = self.output.reserve()?;
        interrupt::listen();
        let directories = directories(paths)?;
        let manifest = disk::status(&directories)?.manifest;
        let found = disk::verify(&directories, &mut |_, _| !interrupt::asked())?;
        destination.write(&match self.format {
            Format::Json => format!(
                "{}\n",
                json!({
                    "board": manifest.board,
                    "goal": manifest.goal,
                    "pass": true,
                    "complete": manifest.complete,
                    "levels": manifest.levels.len(),
                    "files": found.files,
                    "bytes": found.bytes,
                    "states": found.states,
                    "version": env!("CARGO_PKG_VERSION"),
                })
            ),
            Format::Csv => format!(
                "board,pass,files,bytes,states\n{},true,{},{},{}\n",
                manifest.board, found.files, found.bytes, found.states
            ),
            Format::Text => format!(
                "{}: PASS, {} files, {}, {} states; every frame, chunk and level as counted\n",
                manifest.board,
                thousands(found.files),
                bytes(found.bytes),
                thousands(found.states)
            ),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
