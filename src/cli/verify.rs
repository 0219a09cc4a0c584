//! `tilewave verify`: search boards and hold the result against what is known.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::ValueHint;
use serde_json::json;
use tilewave::bfs::{self, Engine, disk};
use tilewave::progress::StopWhen;
use tilewave::puzzle::tiles::Size;
use tilewave::report::{Levels, Truth, Verdict, bytes, counted, published};

use super::disk::directories;
use super::failure::Usage;
use super::options::{Format, GoalOption, Output, Running};
use super::progress::Progress;
use super::{Talk, interrupt};

/// Most states that the reference engine checks: seconds to minutes, and 125 MB.
const REFERENCE_STATES: u64 = 1_000_000_000;

/// Search boards and compare every level with the published distribution, or with the reference engine;
/// or check the files of a search on disk.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  tilewave verify 2x4 3x3\n  tilewave verify --dir RUN")]
pub struct Args {
    /// Sizes of boards to search; or the directories of one search on disk, to check all its files. What can
    /// be read as a size is one: write ./2x6 for a directory of that name.
    #[arg(value_name = "BOARD|DIR", value_hint = ValueHint::DirPath, required_unless_present = "dir")]
    boards: Vec<String>,

    /// A directory of the search to check, as for tilewave bfs.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "boards")]
    dir: Vec<PathBuf>,

    #[command(flatten)]
    goal: GoalOption,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    output: Output,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, talk: Talk) -> Result<ExitCode> {
        if !self.dir.is_empty() {
            return self.files(&self.dir);
        }
        let (mut sizes, mut directories) = (Vec::new(), Vec::new());
        for word in &self.boards {
            match word.parse::<Size>() {
                Ok(size) => {
                    if Path::new(word).is_dir() {
                        tracing::info!("{word} is searched: write ./{word} for the directory");
                    }
                    sizes.push(size);
                }
                Err(_) if Path::new(word).is_dir() => directories.push(PathBuf::from(word)),
                // A size that is too small or too large says so itself.
                Err(error) if word.starts_with(|c: char| c.is_ascii_digit()) => {
                    return Err(tilewave::Error::from(error).into());
                }
                Err(_) => {
                    return Err(Usage(format!(
                        "'{word}' is not a board size (rows x columns, for example 3x4), and there is no \
                         such directory"
                    ))
                    .into());
                }
            }
        }
        match (&sizes[..], &directories[..]) {
            ([], directories) => self.files(directories),
            (sizes, []) => self.boards(sizes, talk),
            _ => Err(Usage(
                "boards are searched and directories are checked: give either, not both".into(),
            )
            .into()),
        }
    }

    /// Searches boards.
    fn boards(&self, sizes: &[Size], talk: Talk) -> Result<ExitCode> {
        let mut destination = self.output.reserve()?;
        let mut all_pass = true;
        if self.output.format == Format::Csv {
            destination.add("board,pass,first_wrong_depth,compared_with,diameter,total\n")?;
        }
        for &size in sizes {
            let search = self.running.search(self.goal.board(size)?)?;
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
            destination.add(&match self.output.format {
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
        Ok(ExitCode::from(u8::from(!all_pass)))
    }

    /// Checks the files of a search on disk. One that is not finished passes nothing, however sound it is.
    fn files(&self, paths: &[PathBuf]) -> Result<ExitCode> {
        let destination = self.output.reserve()?;
        interrupt::listen();
        let directories = directories(paths)?;
        let status = disk::status(&directories)?;
        let manifest = &status.manifest;
        let found = disk::verify(&directories, &StopWhen(interrupt::asked))?;
        let complete = manifest.complete;
        let depth = manifest.levels.len().saturating_sub(1);
        destination.write(&match self.output.format {
            Format::Json => format!(
                "{}\n",
                json!({
                    "board": manifest.board,
                    "goal": manifest.goal,
                    "pass": complete.then_some(true),
                    "sound": true,
                    "complete": complete,
                    "levels": manifest.levels.len(),
                    "files": found.files,
                    "bytes": found.bytes,
                    "states": found.states,
                    "version": env!("CARGO_PKG_VERSION"),
                })
            ),
            Format::Csv => format!(
                "board,pass,files,bytes,states\n{},{},{},{},{}\n",
                manifest.board,
                if complete { "true" } else { "unfinished" },
                found.files,
                found.bytes,
                found.states
            ),
            Format::Text => {
                let what = format!(
                    "{}, {}, {}; every frame, chunk and level as counted",
                    counted(found.files, "file"),
                    bytes(found.bytes),
                    counted(found.states, "state")
                );
                match complete {
                    true => format!("{}: PASS, {what}\n", manifest.board),
                    false => format!(
                        "{}: sound so far, {what}; NOT FINISHED, depth {depth}, {:.1} % of the states: tilewave \
                         resume goes on\n",
                        manifest.board,
                        status.states() as f64 * 100.0 / status.all_states as f64
                    ),
                }
            }
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
