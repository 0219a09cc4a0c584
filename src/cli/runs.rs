//! `tilewave status`: how far a search on disk has come.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueHint;
use serde_json::json;
use tilewave::progress::StopWhen;
use tilewave::puzzle::{Metric, Size, StateSpace};
use tilewave::report::{
    SearchLevels, Truth, Verdict, bytes, counted, duration, published_for, rate, thousands,
};
use tilewave::search::{self, Engine, disk};

use crate::cli::bfs;
use crate::cli::disk::{DiskOptions, directories};
use crate::cli::failure::{Exit, refuse};
use crate::cli::options::{MaxDepth, OutputOptions, Running};
use crate::cli::output::ResultReport;
use crate::cli::progress::{self, SearchProgress};
use crate::cli::puzzle::{Counted, board, puzzle};

/// Say how far a search on disk has come, without disturbing it.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave status RUN")]
pub struct StatusArgs {
    /// The directories of the search, in the order in which they were given.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present = "dir")]
    dirs: Vec<PathBuf>,

    /// The same, one at a time, as for tilewave bfs.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "dirs")]
    dir: Vec<PathBuf>,

    #[command(flatten)]
    output: OutputOptions,
}

impl StatusArgs {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let status = disk::status(&directories(&[&self.dirs[..], &self.dir[..]].concat())?)?;
        let manifest = &status.manifest;
        let speed = status.states_per_second();
        let rest = status.all_states.saturating_sub(status.states());
        // The first levels are so thin that they say nothing about the rest.
        let telling = status.states() > status.all_states / 1000;
        let eta = (telling && !manifest.complete).then(|| rest as f64 / speed.max(1e-9));
        let state = match (manifest.complete, status.running) {
            (true, _) => "complete",
            (false, true) => "running",
            (false, false) => "stopped",
        };
        let disk_bytes = manifest.disk_bytes() + status.scratch_bytes;
        let figures = json!({
            "board": board(&status.space, self.output.format),
            "puzzle": status.space.name(),
            "metric": status.space.metric().map(Metric::name),
            "goal": manifest.identity.goal,
            "start": manifest.identity.start,
            "state": state,
            "depth": status.depth,
            "chunks": manifest.chunks,
            "chunks_done": status.chunks_done,
            "levels": manifest.levels.len(),
            "states": status.states(),
            "all_states": status.all_states,
            "seconds": manifest.seconds,
            "states_per_second": speed,
            "eta_seconds": eta,
            "disk_bytes": disk_bytes,
            "scratch_bytes": status.scratch_bytes,
            "disk_peak_bytes": manifest.peak_bytes,
            "bytes_written": manifest.bytes_written,
        });
        let columns = "board,state,depth,chunks_done,chunks,states,seconds,disk_bytes";
        let words = || {
            let depth = match status.depth {
                None => format!("{}, the last one", manifest.levels.len().saturating_sub(1)),
                Some(depth) => {
                    format!("{depth}, {} of {} chunks done", status.chunks_done, manifest.chunks)
                }
            };
            let share = status.states() as f64 * 100.0 / status.all_states as f64;
            let eta = eta.map_or(String::new(), |eta| format!(", ETA {}", duration(eta)));
            format!(
                "search   {}, goal {}: {state}\ndepth    {depth}\nstates   {} of {} ({share:.1} %)\n\
                 time     {}, {} states/s{eta}\ndisk     {}, {} at most, {} written\n",
                status.space,
                manifest.identity.goal,
                thousands(status.states()),
                thousands(status.all_states),
                duration(manifest.seconds),
                rate(speed),
                bytes(disk_bytes),
                bytes(manifest.peak_bytes),
                bytes(manifest.bytes_written),
            )
        };
        destination.write(&self.output.format.result(figures, columns, words))
    }
}

// `tilewave resume`: go on with a search on disk.

/// Go on with the search that a directory holds, at its last commit.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave resume RUN")]
pub struct ResumeArgs {
    /// The directories of the search, in the order in which they were given (or --dir).
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, group = "place", required_unless_present = "dir")]
    dirs: Vec<PathBuf>,

    #[command(flatten)]
    max_depth: MaxDepth,

    /// First read and check all files; what is damaged is computed again where the levels before are kept.
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    report: ResultReport,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    on_disk: DiskOptions,
}

impl ResumeArgs {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let dirs = match &self.dirs[..] {
            [] => &self.on_disk.dir,
            dirs => dirs,
        };
        let (found, keep_all) = disk::search(&directories(dirs)?)?;
        let mut search = self.running.search(found.space)?;
        search.max_depth = self.max_depth.max_depth;
        let disk = disk::Disk { keep_all, check: self.check, ..self.on_disk.disk_in(dirs)? };
        bfs::run(&self.report, &self.running, search, Some(disk))
    }
}

// `tilewave repair`: a manifest for level files that have lost theirs.

/// Rebuild the lost or damaged manifest of a search on disk from its level files, which stay as they are.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave repair RUN")]
pub struct RepairArgs {
    /// The directories of the search, in the order in which they were given.
    #[arg(required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    dirs: Vec<PathBuf>,

    #[command(flatten)]
    output: OutputOptions,
}

impl RepairArgs {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let directories = directories(&self.dirs)?;
        let found = disk::repair(&directories, std::time::Duration::from_secs(10))?;
        let manifest = &found.manifest;
        let depth = manifest.levels.len();
        let states: u64 = manifest.levels.iter().map(|level| level.states).sum();
        let done = manifest.files_of(depth as u32).map_or(0, |f| f.chunks.len());
        let figures = json!({
            "board": board(&found.space, self.output.format),
            "puzzle": found.space.name(),
            "metric": found.space.metric().map(Metric::name),
            "goal": manifest.identity.goal,
            "files": found.files,
            "damaged": found.damaged,
            "previous_manifest": found.previous,
            "kept": found.kept,
            "levels": depth,
            "states": states,
            "chunks_done": done,
            "complete": manifest.complete,
        });
        let mut text = format!(
            "found    {} level files{}\n",
            thousands(found.files as u64),
            match found.previous {
                true => " and the previous manifest",
                false => "",
            }
        );
        for damaged in &found.damaged {
            text += &format!("damaged  {damaged}\n");
        }
        text += &format!(
            "rebuilt  {}, goal {}: depths 0 to {}, {} states",
            found.space,
            manifest.identity.goal,
            depth.saturating_sub(1),
            thousands(states),
        );
        text += &match manifest.complete {
            true => "; complete\n".to_string(),
            false => format!("; {done} of {} chunks of depth {depth}\n", manifest.chunks),
        };
        text += &format!("disk     {}\n", bytes(manifest.disk_bytes()));
        if let Some(kept) = &found.kept {
            text += &format!("kept     the damaged manifest, as {kept}\n");
        }
        text += "next     tilewave verify reads every file; tilewave resume goes on\n";
        let columns = "board,files,damaged,levels,states,chunks_done,complete";
        destination.write(&self.output.format.result(figures, columns, || text))
    }
}

// `tilewave verify`: search puzzles and hold the result against what is known.

/// Most states that the reference engine checks: seconds to minutes, and 125 MB.
const REFERENCE_STATES: u64 = 1_000_000_000;

/// Search puzzles and compare every level with the published distribution, or with the reference engine;
/// or check the files of a search on disk.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave verify 2x4 3x3\n  tilewave verify lrx:9 dino.gap\n  tilewave verify --dir RUN"
)]
pub struct VerifyArgs {
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
    output: OutputOptions,
}

impl VerifyArgs {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        if !self.dir.is_empty() {
            return self.files(&self.dir);
        }
        let (mut spaces, mut directories) = (Vec::new(), Vec::new());
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
            spaces.push(self.counted.space(word)?);
        }
        match (&spaces[..], &directories[..]) {
            ([], directories) => self.files(directories),
            (spaces, []) => self.puzzles(spaces),
            _ => refuse!("puzzles are searched and directories are checked: give either, not both"),
        }
    }

    /// Searches puzzles.
    fn puzzles(&self, spaces: &[StateSpace]) -> Result<()> {
        let mut destination = self.output.reserve()?;
        let mut all_pass = true;
        let format = self.output.format;
        let columns = "board,pass,first_wrong_depth,compared_with,diameter,total";
        destination.add(&format.heading(columns))?;
        for space in spaces {
            let search = self.running.search(space.clone())?;
            let outcome = search::run(&search, &SearchProgress::new())?;
            let reference;
            let truth = match published_for(space) {
                Some(truth) => Truth::Published(truth),
                None if outcome.total() <= REFERENCE_STATES && outcome.engine == Engine::Sweep => {
                    let engine = Some(Engine::Reference);
                    let search = search::Search { engine, ..search.clone() };
                    reference = search::run(&search, &SearchProgress::new())?;
                    Truth::Reference(SearchLevels::of(&reference))
                }
                None => Truth::Sum,
            };
            let verdict = Verdict::judge(space, SearchLevels::of(&outcome), truth);
            all_pass &= verdict.pass();
            let first_wrong = verdict.fault.as_ref().and_then(|fault| fault.depth());
            let figures = json!({
                "board": board(space, format),
                "puzzle": space.name(),
                "metric": space.metric().map(Metric::name),
                "goal": space.goal_text(),
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
        progress::listen();
        let directories = directories(paths)?;
        let status = disk::status(&directories)?;
        let manifest = &status.manifest;
        let found = disk::verify(&directories, &StopWhen(progress::asked))?;
        let complete = manifest.complete;
        let depth = manifest.levels.len().saturating_sub(1);
        let figures = json!({
            "board": board(&status.space, self.output.format),
            "puzzle": status.space.name(),
            "metric": status.space.metric().map(Metric::name),
            "goal": manifest.identity.goal,
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
                true => format!("{}: PASS, {what}\n", status.space),
                false => format!(
                    "{}: sound so far, {what}; NOT FINISHED, depth {depth}, {:.1} % of the states: tilewave \
                     resume goes on\n",
                    status.space,
                    status.states() as f64 * 100.0 / status.all_states as f64
                ),
            }
        };
        let format = self.output.format;
        let text = format.heading(columns) + &format.line(figures, columns, words);
        destination.write(&text)
    }
}
