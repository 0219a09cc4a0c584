//! `tilewave solve`: shortest solutions, or fast ones.

mod answer;
mod databases;

use std::io::BufRead;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rayon::prelude::*;
use tilewave::Error;
use tilewave::puzzle::tiles::{Board, Frame, MoveStyle};
use tilewave::report::html::{Solution, player};
use tilewave::solve::{Answer, Attempt, Constructive, Optimal, Pending};

use self::answer::{Solved, Totals, Wording};
use self::databases::Databases;
use super::failure::Usage;
use super::options::{Format, goal, size};
use super::output::{Output, OutputFile};
use super::{Talk, interrupt};

/// Boards that are solved before their lines are written.
const BATCH: usize = 256;

/// Solve boards: with the fewest moves, or with --fast at once with more.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave solve '5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12'\n  \
                  tilewave scramble 10x10 --count 1000 | tilewave solve --fast\n\n\
                  The first run for a goal builds pattern databases and keeps them."
)]
pub struct Args {
    /// Boards: rows by '/', tiles by spaces, blank 0; none: one per line on standard input.
    #[arg(value_name = "BOARD")]
    boards: Vec<String>,

    /// Size, for flat lists of tiles.
    #[arg(long, value_name = "SIZE")]
    size: Option<String>,

    /// Goal: last, first, blank=CELL (row-major from 0) or a board.
    #[arg(long, default_value = "last")]
    goal: String,

    /// Solve at once, not with the fewest moves; any size.
    #[arg(long)]
    fast: bool,

    #[command(flatten)]
    databases: Databases,

    /// Give up on a board after this many nodes.
    #[arg(long, value_name = "N")]
    max_nodes: Option<u64>,

    /// Give up on a board after this many seconds.
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

/// How one board is solved.
enum Method<'a> {
    Optimal(Box<Optimal<'a>>),
    Fast(Constructive),
}

impl Args {
    /// Runs the command.
    pub fn run(&self, talk: Talk) -> Result<ExitCode> {
        let style: MoveStyle = self.moves.parse().map_err(Error::from)?;
        let boards = self.boards()?;
        let goal = goal(&self.goal, boards[0].size())?;
        let frame = Frame::new(goal.clone());
        for board in &boards {
            // All boards share one goal; a board of another size is a mistake, not a failed search.
            frame.encode(board).map_err(Error::from)?;
        }
        let page = self
            .html
            .as_ref()
            .map(|path| OutputFile::reserve(path, self.output.force));
        let page = page.transpose()?;
        let mut destination = self.output.reserve()?;
        let threads = self.threads.map(usize::from);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.unwrap_or(0))
            .build()?;

        interrupt::listen();
        let begun = Instant::now();
        let pdbs;
        if self.fast {
            self.databases.refuse()?;
        }
        // Where no board can be solved, no database is built to find that out.
        let none_solvable = boards
            .iter()
            .all(|board| frame.encode_solvable(board).is_err());
        let method = if self.fast || none_solvable {
            Method::Fast(Constructive::new(goal.clone()))
        } else {
            pdbs = self.databases.get(&goal, threads, talk)?;
            Method::Optimal(Box::new(Optimal::new(&goal, &pdbs).map_err(Error::from)?))
        };
        let wording = Wording {
            style,
            long: self.long,
            format: self.format,
        };
        let mut totals = Totals::default();
        let mut solved = Vec::new();
        destination.add(&wording.heading())?;
        for batch in boards.chunks(BATCH) {
            let attempts: Vec<Result<Tried>> = pool.install(|| {
                batch
                    .par_iter()
                    .map(|board| self.attempt(&method, &frame, board))
                    .collect()
            });
            // Easy boards are solved one per thread, hard ones one by one on all threads.
            for attempt in attempts {
                let answer = match (attempt?, &method) {
                    (Tried::Done(answer), _) => answer,
                    (Tried::Hard(pending), Method::Optimal(solver)) => {
                        let board = pending.board().clone();
                        let watch = self.watch(pending.seconds());
                        let answer = pool.install(|| solver.finish(pending, &watch));
                        Solved::new(board, answer.map_err(Error::from)?, true)
                    }
                    (Tried::Hard(pending), Method::Fast(_)) => {
                        unreachable!("{pending:?}")
                    }
                };
                totals.count(&answer);
                destination.add(&wording.line(&answer)?)?;
                if page.is_some() {
                    solved.push(answer);
                }
            }
            if interrupt::asked() {
                break;
            }
        }
        destination.add(&wording.summary(&totals, begun.elapsed().as_secs_f64()))?;
        destination.finish()?;
        if let Some(page) = page {
            let solutions = solved.iter().filter_map(|answer| answer.page(&goal));
            let solutions: Vec<Solution> = solutions.collect();
            page.write(player(&solutions, style).map_err(Error::from)?.as_bytes())?;
        }
        Ok(match (interrupt::asked(), totals.all_solved()) {
            (true, _) => ExitCode::from(interrupt::INTERRUPTED),
            (false, true) => ExitCode::SUCCESS,
            (false, false) => ExitCode::FAILURE,
        })
    }

    /// The boards of the command line or of standard input, at least one.
    fn boards(&self) -> Result<Vec<Board>> {
        let size = self.size.as_deref().map(size).transpose()?;
        let parse = |text: &str| Board::parse(text, size).map_err(Error::from);
        let mut boards = Vec::new();
        for text in &self.boards {
            boards.push(parse(text)?);
        }
        if boards.is_empty() {
            for (i, line) in std::io::stdin().lock().lines().enumerate() {
                let line = line.context("cannot read standard input")?;
                let line = line.split('#').next().unwrap_or_default();
                if !line.trim().is_empty() {
                    let number = i + 1;
                    let board = parse(line).map_err(|e| Usage(format!("line {number}: {e}")))?;
                    boards.push(board);
                }
            }
        }
        if boards.is_empty() {
            return Err(Usage(
                "there is no board: name one or write one per line to standard input".into(),
            )
            .into());
        }
        Ok(boards)
    }

    /// Tells a search when to give up; `spent` seconds were spent on the board before.
    fn watch(&self, spent: f64) -> impl Fn(u64) -> bool + Sync {
        let begun = Instant::now();
        let (max_nodes, timeout) = (self.max_nodes, self.timeout);
        move |nodes: u64| {
            interrupt::asked()
                || max_nodes.is_some_and(|most| nodes >= most)
                || timeout.is_some_and(|most| begun.elapsed().as_secs_f64() + spent >= most.as_secs_f64())
        }
    }

    /// Solves one board on one thread, unless it is too hard for one.
    fn attempt(&self, method: &Method<'_>, frame: &Frame, board: &Board) -> Result<Tried> {
        let begun = Instant::now();
        let refused = frame.encode_solvable(board).err();
        if let Some(reason) = refused {
            return Ok(Tried::Done(Solved::refused(board.clone(), reason.to_string())));
        }
        let answer = match method {
            Method::Fast(solver) => {
                let moves = solver.solve(board).map_err(Error::from)?;
                Answer {
                    moves: Some(moves),
                    at_least: 0,
                    nodes: 0,
                    seconds: begun.elapsed().as_secs_f64(),
                }
            }
            Method::Optimal(solver) => {
                match solver.attempt(board, &self.watch(0.0)).map_err(Error::from)? {
                    Attempt::Answered(answer) => answer,
                    Attempt::Hard(pending) => return Ok(Tried::Hard(pending)),
                }
            }
        };
        Ok(Tried::Done(Solved::new(board.clone(), answer, !self.fast)))
    }
}

enum Tried {
    Done(Solved),
    Hard(Pending),
}
