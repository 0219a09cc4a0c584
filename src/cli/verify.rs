//! `tilewave verify`: search puzzles and hold the result against what is known.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueHint;
use serde_json::json;
use tilewave::bfs::{self, Engine, Subject, disk};
use tilewave::progress::StopWhen;
use tilewave::puzzle::tiles::{Metric, Size};
use tilewave::report::{Levels, Truth, Verdict, bytes, counted, published_for};

use super::disk::directories;
use super::failure::{Exit, refuse};
use super::interrupt;
use super::options::{Output, Running};
use super::progress::Progress;
use super::puzzle::{Counted, board, puzzle};

/// Most states that the reference engine checks: seconds to minutes, and 125 MB.
const REFERENCE_STATES: u64 = 1_000_000_000;

/// Search puzzles and compare every level with the published distribution, or with the reference engine;
/// or check the files of a search on disk.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave verify 2x4 3x3\n  tilewave verify lrx:9 dino.gap\n  tilewave verify --dir RUN"
)]
pub struct Args {
    /// Boards (3x4), members of families (topspin:12,4) or files of puzzles (dino.gap) to search; or the directories
    /// of one search on disk, to check all its files. What can be read as a size is one: write ./2x6 for a directory
    /// of that name.
    #[arg(value_name = "PUZZLE|DIR", value_hint = ValueHint::AnyPath, required_unless_present = "dir")]
    puzzles: Vec<String>,

    /// A directory of the search to check, as for tilewave bfs.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "puzzles")]
    dir: Vec<PathBuf>,

    #[command(flatten)]
    counted: Counted,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    output: Output,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        if !self.dir.is_empty() {
            return self.files(&self.dir);
        }
        let (mut subjects, mut directories) = (Vec::new(), Vec::new());
        for word in &self.puzzles {
            let is_dir = Path::new(word).is_dir();
            if word.parse::<Size>().is_ok() && is_dir {
                tracing::info!("{word} is searched: write ./{word} for the directory");
            } else if is_dir {
                directories.push(PathBuf::from(word));
                continue;
            } else if let Err(wrong) = puzzle(word) {
                refuse!("{wrong}, and there is no such directory");
            }
            subjects.push(self.counted.subject(word)?);
        }
        match (&subjects[..], &directories[..]) {
            ([], directories) => self.files(directories),
            (subjects, []) => self.puzzles(subjects),
            _ => refuse!("puzzles are searched and directories are checked: give either, not both"),
        }
    }

    /// Searches puzzles.
    fn puzzles(&self, subjects: &[Subject]) -> Result<()> {
        let mut destination = self.output.reserve()?;
        let mut all_pass = true;
        let format = self.output.format;
        let columns = "board,pass,first_wrong_depth,compared_with,diameter,total";
        destination.add(&format.heading(columns))?;
        for subject in subjects {
            let search = self.running.search(subject.clone())?;
            let outcome = bfs::run(&search, &Progress::new())?;
            let reference;
            let truth = match published_for(subject) {
                Some(truth) => Truth::Published(truth),
                None if outcome.total() <= REFERENCE_STATES && outcome.engine == Engine::Sweep => {
                    let engine = Some(Engine::Reference);
                    let search = bfs::Search {
                        engine,
                        ..search.clone()
                    };
                    reference = bfs::run(&search, &Progress::new())?;
                    Truth::Reference(Levels::of(&reference))
                }
                None => Truth::Sum,
            };
            let verdict = Verdict::judge(subject, Levels::of(&outcome), truth);
            all_pass &= verdict.pass();
            let first_wrong = verdict.fault.as_ref().and_then(|fault| fault.depth());
            let figures = json!({
                "board": board(subject, format),
                "puzzle": subject.name(),
                "metric": subject.metric().map(Metric::name),
                "goal": subject.goal(),
                "pass": verdict.pass(),
                "first_wrong_depth": first_wrong,
                "compared_with": verdict.compared_with,
                "own": verdict.own,
                "diameter": verdict.diameter(),
                "total": verdict.total,
            });
            destination.add(&format.line(figures, columns, || format!("{verdict}\n")))?;
        }
        destination.finish()?;
        Ok(Exit::unless(all_pass)?)
    }

    /// Checks the files of a search on disk. One that is not finished passes nothing, however sound it is.
    fn files(&self, paths: &[PathBuf]) -> Result<()> {
        let destination = self.output.reserve()?;
        interrupt::listen();
        let directories = directories(paths)?;
        let status = disk::status(&directories)?;
        let manifest = &status.manifest;
        let found = disk::verify(&directories, &StopWhen(interrupt::asked))?;
        let complete = manifest.complete;
        let depth = manifest.levels.len().saturating_sub(1);
        let figures = json!({
            "board": board(&status.subject, self.output.format),
            "puzzle": status.subject.name(),
            "metric": status.subject.metric().map(Metric::name),
            "goal": manifest.goal,
            "pass": complete.then_some(true),
            "sound": true,
            "complete": complete,
            "levels": manifest.levels.len(),
            "files": found.files,
            "bytes": found.bytes,
            "states": found.states,
        });
        let columns = "board,pass,files,bytes,states";
        let words = || {
            let what = format!(
                "{}, {}, {}; every frame, chunk and level as counted",
                counted(found.files, "file"),
                bytes(found.bytes),
                counted(found.states, "state")
            );
            match complete {
                true => format!("{}: PASS, {what}\n", status.subject),
                false => format!(
                    "{}: sound so far, {what}; NOT FINISHED, depth {depth}, {:.1} % of the states: tilewave \
                     resume goes on\n",
                    status.subject,
                    status.states() as f64 * 100.0 / status.all_states as f64
                ),
            }
        };
        let format = self.output.format;
        let text = format.heading(columns) + &format.line(figures, columns, words);
        destination.write(&text)
    }
}
