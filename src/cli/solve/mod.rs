//! `tilewave solve`: shortest solutions, or fast ones.

mod answer;
mod boards;
mod databases;
mod progress;
mod solver;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use rayon::prelude::*;
use tilewave::Error;
use tilewave::puzzle::tiles::{Board, Frame, MoveStyle};
use tilewave::report::html::{Solution, player};
use tilewave::solve::{Constructive, Optimal};

use self::answer::{Solved, Totals, Wording};
use self::boards::Boards;
use self::databases::Databases;
use self::progress::Progress;
use self::solver::{Limits, Oracle, Solver, Tried};
use super::failure::Usage;
use super::options::{Format, goal_or_of};
use super::output::{Destination, Output, OutputFile};
use super::{Talk, interrupt};

/// Boards that are solved before their lines are written.
const BATCH: usize = 256;

/// Most cells of a board whose optimum a SAT solver can be asked to prove.
const PROOF_CELLS: usize = 16;
/// Time for a proof, unless told.
const PROOF_TIME: Duration = Duration::from_secs(60);

/// Solve boards: with the fewest moves, or with --fast at once with more.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave solve '5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12'\n  \
                  tilewave scramble 10x10 --count 1000 | tilewave solve --fast\n\n\
                  The first run for a goal builds pattern databases and keeps them."
)]
pub struct Args {
    #[command(flatten)]
    boards: Boards,

    /// Goal: last, first, blank=CELL (row-major from 0) or a board [default: the table's, or last].
    #[arg(long)]
    goal: Option<String>,

    /// Solve at once, not with the fewest moves; any size.
    #[arg(long)]
    fast: bool,

    /// With --fast: find the least number of moves as well, and say how far from it the solution is.
    #[arg(long, requires = "fast")]
    ratio: bool,

    /// Prove with a SAT solver that nothing is shorter; boards of at most 16 cells.
    #[arg(long, conflicts_with = "fast")]
    certify: bool,

    #[command(flatten)]
    databases: Databases,

    /// Give up on a board after this many nodes.
    #[arg(long, value_name = "N")]
    max_nodes: Option<u64>,

    /// Give up on a board after this many seconds, and on a proof after as many [default: proofs 60].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// What the letters of the moves say: where the tile goes, or where the blank goes.
    #[arg(long, value_name = "WHICH", default_value = "tile")]
    moves: String,

    /// Write every move: RRR, not R3.
    #[arg(long)]
    long: bool,

    /// Write a page that plays the solutions, for any browser.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Worker threads [default: one per core].
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// How to write the result; json is one object per line.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    output: Output,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a number of seconds");
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

impl Args {
    /// Runs the command.
    pub fn run(&self, talk: Talk) -> Result<ExitCode> {
        let style: MoveStyle = self.moves.parse().map_err(Error::from)?;
        let boards = self.boards.read()?;
        let table = self.databases.table()?;
        let goal = goal_or_of(self.goal.as_deref(), table.as_ref(), boards[0].size())?;
        self.refuse(&boards, &goal)?;
        let page = self
            .html
            .as_ref()
            .map(|path| OutputFile::reserve(path, self.output.force));
        let page = page.transpose()?;
        let destination = self.output.reserve()?;
        let threads = self.threads.map(usize::from);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.unwrap_or(0))
            .build()?;

        interrupt::listen();
        let begun = Instant::now();
        // Where no board can be solved, no database is built to find that out.
        let frame = Frame::new(goal.clone());
        let solvable = |board: &Board| frame.encode_solvable(board).is_ok();
        let search = (!self.fast || self.ratio) && boards.iter().any(solvable);
        let pdbs;
        let oracle = if let Some(table) = table {
            Some(Oracle::Table(Box::new(table)))
        } else if search {
            pdbs = self.databases.get(&goal, threads, talk)?;
            let solver = Optimal::new(&goal, &pdbs).map_err(Error::from)?;
            Some(Oracle::Search(Box::new(solver)))
        } else {
            None
        };
        let progress = Progress::new(talk, boards.len());
        let solver = Solver {
            goal: &goal,
            fast: self.fast.then(|| Constructive::new(goal.clone())),
            oracle,
            limits: Limits {
                nodes: self.max_nodes,
                time: self.timeout,
            },
            certify: self.certify.then(|| self.timeout.unwrap_or(PROOF_TIME)),
            progress: &progress,
        };
        let wording = Wording {
            style,
            long: self.long,
            format: self.format,
            certify: self.certify,
            ratio: self.ratio,
        };
        let (totals, solved) =
            pool.install(|| self.solve(&solver, &boards, wording, destination, begun))?;
        progress.finish();
        if let Some(page) = page {
            let solutions = solved.iter().filter_map(|answer| answer.page(&goal));
            let solutions: Vec<Solution> = solutions.collect();
            page.write(player(&solutions, style).map_err(Error::from)?.as_bytes())?;
        }
        Ok(match (interrupt::asked(), totals.all_done()) {
            (true, _) => ExitCode::from(interrupt::INTERRUPTED),
            (false, true) => ExitCode::SUCCESS,
            (false, false) => ExitCode::FAILURE,
        })
    }

    /// Refuses what cannot work, before anything is built.
    fn refuse(&self, boards: &[Board], goal: &Board) -> Result<()> {
        if self.fast && !self.ratio {
            self.databases.refuse()?;
        }
        let size = goal.size();
        if self.certify && size.cells() > PROOF_CELLS {
            return Err(Usage(format!(
                "--certify takes boards of at most {PROOF_CELLS} cells, {size} has {}: leave it out, or hand \
                 the model of tilewave export --cnf to a solver of your own",
                size.cells()
            ))
            .into());
        }
        // All boards share one goal; a board of another size is a mistake, not a failed search.
        let frame = Frame::new(goal.clone());
        for board in boards {
            frame.encode(board).map_err(Error::from)?;
        }
        Ok(())
    }

    /// Solves the boards and writes their lines and the summary; returns what a page needs, too.
    fn solve(
        &self,
        solver: &Solver<'_>,
        boards: &[Board],
        wording: Wording,
        mut destination: Destination,
        begun: Instant,
    ) -> Result<(Totals, Vec<Solved>)> {
        let mut totals = Totals::default();
        let mut kept = Vec::new();
        destination.add(&wording.heading())?;
        for batch in boards.chunks(BATCH) {
            // Easy boards are solved one per thread, hard ones one after the other on all threads.
            let tried = batch.par_iter().map(|board| solver.attempt(board));
            let tried: Vec<Result<Tried>> = tried.collect();
            for tried in tried {
                let solved = solver.finish(tried?)?;
                totals.count(&solved);
                let line = wording.line(&solved);
                solver.progress.show(|| destination.add(&line))?;
                if self.html.is_some() {
                    kept.push(solved);
                }
            }
            if interrupt::asked() {
                break;
            }
        }
        let summary = wording.summary(&totals, begun.elapsed().as_secs_f64());
        solver.progress.finish();
        destination.add(&summary)?;
        destination.finish()?;
        Ok((totals, kept))
    }
}
