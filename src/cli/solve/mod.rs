//! `tilewave solve`: shortest solutions, or fast ones.

mod answer;
mod boards;
mod databases;
#[cfg(feature = "mpi")]
mod ranks;
#[cfg(not(feature = "mpi"))]
#[path = "no_ranks.rs"]
mod ranks;
mod solver;

use std::io::BufRead;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::Serialize;
use tilewave::puzzle::{Coordinates, Metric, MoveStyle};
use tilewave::report::duration;
use tilewave::report::html::{Solution, player};
use tilewave::{Board, Constructive, DistanceTable, Optimal, Size};

use crate::cli::solve::answer::{Solved, Totals, Wording};
use crate::cli::solve::boards::{Arrivals, BoardLine, Boards};
use crate::cli::solve::databases::Databases;
use crate::cli::solve::ranks::Team;
use crate::cli::solve::solver::{BoardLog, Limits, Oracle, SolveProgress, Solver, Tried};
use crate::cli::{
    Context, Destination, Failure, Figures, GoalOption, OutputFile, OutputFormat, OutputOptions,
    Result, Threads, aside, choice, complain, count, progress, refuse,
};

pub use crate::cli::solve::databases::open_partitions;

/// Boards that are solved before their lines are written.
const BATCH: usize = 256;

/// Most cells of a board whose optimum a SAT solver can be asked to prove.
const PROOF_CELLS: usize = 16;

/// Time for a proof, unless told.
const PROOF_TIME: Duration = Duration::from_secs(60);

/// Solve boards, with the fewest moves, or with --fast at once with more; or other puzzles from a distance table.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  tilewave solve '5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12'\n  \
                  tilewave scramble 10x10 --count 1000 | tilewave solve --fast\n\n\
                  The first run for a goal builds pattern databases and keeps them.")]
pub struct Args {
    #[command(flatten)]
    boards: Boards,

    #[command(flatten)]
    goal: GoalOption,

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
    #[arg(long, value_name = "N", value_parser = count::<u64>(), allow_negative_numbers = true)]
    max_nodes: Option<u64>,

    /// Give up on a board after this many seconds, and on a proof after as many [default: proofs 60].
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,

    /// Log what is done of many hard boards, and go on from there: the same command continues when it was
    /// interrupted or killed. Reads all boards first.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fast", "certify", "table"])]
    log: Option<PathBuf>,

    /// What the letters of the moves say: where the tile goes, or where the blank goes.
    #[arg(long, value_parser = choice(MoveStyle::NAMES), default_value = "tile")]
    moves: MoveStyle,

    /// Write every move: RRR, not R3.
    #[arg(long)]
    long: bool,

    /// Write a page that plays the solutions, for any browser.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    output: OutputOptions,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a number of seconds");
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

impl Args {
    pub fn run(&self) -> Result<()> {
        let searches = !self.fast && !self.certify && self.databases.table.is_none();
        let Some(team) = searches.then(Team::join).transpose()?.flatten() else {
            return self.run_on(None);
        };
        match self.run_on(Some(&team)) {
            Err(error) if error.said.is_some() => team.fail(&error),
            // The first rank's exit code is that of the job.
            Err(error) if team.is_first() => Err(error),
            _ => Ok(()),
        }
    }

    /// Runs the command, alone or as one of several ranks.
    fn run_on(&self, team: Option<&Team>) -> Result<()> {
        let style = self.moves;
        let table = self.databases.table.as_ref().map(|path| DistanceTable::open(path));
        let table = table.transpose()?;
        if let Some(table) = &table {
            self.refuse_beside(table)?;
            if table.space().size().is_none() {
                return solve(table, &self.boards.boards, &self.output);
            }
        }
        progress::listen();
        let mut boards = match team {
            Some(team) => team.boards(|| self.boards.arrive())?,
            None => self.boards.arrive()?,
        };
        let Some(size) = first_size(&mut boards)? else {
            return Err(Failure::interrupted());
        };
        let goal = self.goal.board_of(table.as_ref(), size)?;
        self.refuse(&goal)?;
        let log = match &self.log {
            Some(path) => Some(BoardLog::new(path, boards.all()?)),
            None => None,
        };
        let writes = team.is_none_or(Team::is_first);
        let page = self.html.as_ref().filter(|_| writes);
        let page = page.map(|path| OutputFile::reserve(path, self.output.force));
        let page = page.transpose()?;
        let destination = writes.then(|| self.output.reserve()).transpose()?;
        let threads = self.threads.get().or_else(|| Some(team?.threads()));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build()?;

        let begun = Instant::now();
        let progress = SolveProgress::new(boards.known, writes);
        let mut solver = Solver {
            goal: &goal,
            fast: self.fast.then(|| Constructive::new(goal.clone())),
            oracle: table.map(|table| Oracle::Table(Box::new(table))),
            limits: Limits { nodes: self.max_nodes, time: self.timeout },
            certify: self.certify.then(|| self.timeout.unwrap_or(PROOF_TIME)),
            progress: &progress,
            log,
        };
        let (long, certify, ratio) = (self.long, self.certify, self.ratio);
        let wording = Wording { style, long, certify, ratio };
        let mut session = SolveSession {
            args: self,
            wording,
            boards,
            totals: Totals::default(),
            before: 0,
            kept: Vec::new(),
        };
        match (team, destination) {
            (Some(team), destination) => {
                session.run_together(&mut solver, destination, begun, (team, &pool))?;
            }
            (None, Some(destination)) => {
                pool.install(|| session.run(&mut solver, destination, begun))?;
            }
            (None, None) => {}
        }
        let (totals, solved) = (session.totals, session.kept);
        drop(progress);
        if let Some(page) = page.filter(|_| !solved.is_empty()) {
            let solutions = solved.iter().filter_map(|answer| answer.page(&goal));
            let solutions: Vec<Solution> = solutions.collect();
            let refused: Vec<_> = solved.iter().filter_map(Solved::page_of_refused).collect();
            let page_text = player(&solutions, &refused, style)?;
            page.write(page_text.as_bytes())?;
        }
        if progress::asked() && writes {
            complain(&format!("interrupted: {}", totals.so_far(session.boards.is_open())));
        }
        match (progress::asked(), totals.all_done()) {
            (true, _) => Err(Failure::interrupted()),
            (false, true) => Ok(()),
            (false, false) => Err(Failure::exit(1)),
        }
    }

    /// Refuses what a table has no answers for.
    fn refuse_beside(&self, table: &DistanceTable) -> Result<()> {
        let space = table.space();
        let counts_tiles = space.metric() == Some(Metric::Stm);
        let board = space.size().is_some();
        let wrong = [
            (self.fast && !board, "--fast"),
            (self.ratio && !counts_tiles, "--ratio"),
            (self.certify && !counts_tiles, "--certify"),
            (self.html.is_some() && !board, "--html"),
            (self.goal.goal.is_some() && !board, "--goal"),
            (self.boards.size.is_some() && !board, "--size"),
        ];
        match wrong.into_iter().find(|(wrong, _)| *wrong) {
            None => Ok(()),
            Some((_, option)) => {
                let what = if board { "moves of one tile" } else { "boards" };
                refuse!("{option} is for {what}, the table is one of {space}: leave it out");
            }
        }
    }

    /// Refuses what cannot work, before anything is built.
    fn refuse(&self, goal: &Board) -> Result<()> {
        if self.fast && !self.ratio {
            self.databases.refuse()?;
        }
        if let (Some(page), Some(result)) = (&self.html, &self.output.output)
            && std::path::absolute(page).ok() == std::path::absolute(result).ok()
        {
            refuse!(
                "'{}' is named for the page and for the result: name two files",
                page.display()
            );
        }
        let size = goal.size();
        if self.certify && size.cells() > PROOF_CELLS {
            refuse!(
                "--certify takes boards of at most {PROOF_CELLS} cells, {size} has {}: leave it out, or hand \
                 the model of tilewave export --cnf to a solver of your own",
                size.cells()
            );
        }
        Ok(())
    }
}

/// The size of the first board; none when interrupted before it came.
fn first_size(boards: &mut Arrivals) -> Result<Option<Size>> {
    let mut seen: Vec<BoardLine> = Vec::new();
    loop {
        let arrivals = boards.next(BATCH);
        if arrivals.is_empty() {
            return match (progress::asked(), seen.into_iter().find_map(Result::err)) {
                (true, _) => Ok(None),
                (false, Some(error)) => Err(Failure::usage(error)),
                (false, None) => {
                    refuse!("there is no board: name one or write one per line to standard input")
                }
            };
        }
        seen.extend(arrivals);
        let board = seen.iter().flatten().next();
        if let Some(size) = board.map(|(board, _)| board.size()) {
            boards.put_back(seen);
            return Ok(Some(size));
        }
    }
}

struct SolveSession<'a> {
    args: &'a Args,
    wording: Wording,
    boards: Arrivals,
    totals: Totals,
    /// Boards before those at hand.
    before: usize,
    /// What a page needs.
    kept: Vec<Solved>,
}

impl SolveSession<'_> {
    /// Solves the boards as they come and writes their lines and the summary.
    fn run(
        &mut self,
        solver: &mut Solver<'_>,
        mut destination: Destination,
        begun: Instant,
    ) -> Result<()> {
        // Not before it is known that the boards, databases and log go together.
        let mut headed = false;
        while !progress::asked() {
            let arrivals = self.boards.next(BATCH);
            if arrivals.is_empty() {
                break;
            }
            solver.progress.expect(self.boards.known);
            let boards = self.take(arrivals, solver)?;
            self.prepare(&boards, solver, None)?;
            if !std::mem::replace(&mut headed, true) {
                destination.heading(self.wording.columns())?;
            }
            // Easy boards are solved one per thread, hard ones one after the other on all threads.
            let places = self.before..self.before + boards.len();
            let tried = boards.par_iter().zip(places.clone());
            let tried = tried.map(|(board, at)| solver.attempt(at, board));
            let tried: Vec<Result<Tried>> = tried.collect();
            self.before = places.end;
            for (tried, at) in tried.into_iter().zip(places) {
                if let Some(solved) = solver.finish(at, tried?, None)? {
                    self.show(solved, &mut destination)?;
                }
            }
        }
        if !headed {
            destination.heading(self.wording.columns())?;
        }
        self.end(solver, destination, begun)
    }

    /// Solves all boards together with other ranks; the first one writes.
    fn run_together(
        &mut self,
        solver: &mut Solver<'_>,
        mut destination: Option<Destination>,
        begun: Instant,
        (team, pool): (&Team, &rayon::ThreadPool),
    ) -> Result<()> {
        let boards = self.boards.all()?;
        self.prepare(&boards, solver, Some(team))?;
        if let Some(destination) = &mut destination {
            destination.heading(self.wording.columns())?;
        }
        team.solve(solver, &boards, pool, |solved| match &mut destination {
            Some(destination) => self.show(solved, destination),
            None => Ok(()),
        })?;
        match destination {
            Some(destination) => self.end(solver, destination, begun),
            None => Ok(()),
        }
    }

    fn show(&mut self, solved: Solved, destination: &mut Destination) -> Result<()> {
        self.totals.count(&solved);
        aside(|| destination.line(&self.wording.facts(&solved)))?;
        if self.args.html.is_some() {
            self.kept.push(solved);
        }
        Ok(())
    }

    /// Makes the log durable and writes the summary.
    fn end(
        &mut self,
        solver: &Solver<'_>,
        mut destination: Destination,
        begun: Instant,
    ) -> Result<()> {
        if let Some(log) = &solver.log {
            log.sync()?;
        }
        self.totals.known = self.boards.known as u64;
        self.totals.interrupted = progress::asked();
        if destination.format == OutputFormat::Text {
            let seconds = begun.elapsed().as_secs_f64();
            let summary = self.wording.summary(&self.totals, seconds);
            aside(|| destination.add(&summary))?;
        }
        destination.finish()
    }

    /// Returns the boards; says of each other line what is wrong, and goes on. A wrong board on the
    /// command line ends the command.
    fn take(&mut self, arrivals: Vec<BoardLine>, solver: &Solver<'_>) -> Result<Vec<Board>> {
        let size = solver.goal.size();
        let mut boards = Vec::new();
        for arrival in arrivals {
            match arrival {
                Ok((board, _)) if board.size() == size => boards.push(board),
                Ok((board, None)) => {
                    Coordinates::new(solver.goal.clone())
                        .encode(&board)?;
                }
                Ok((board, Some(line))) => self.refused(solver, &format!(
                    "line {line}: the board is {}, the goal is {size}: solve boards of one size at a time",
                    board.size()
                )),
                Err(error) => self.refused(solver, &error),
            }
        }
        Ok(boards)
    }

    fn refused(&mut self, solver: &Solver<'_>, error: &str) {
        complain(error);
        solver.progress.done();
        self.totals.refused += 1;
    }

    /// Gets the databases when the first board comes that can be solved: others need none.
    fn prepare(
        &self,
        boards: &[Board],
        solver: &mut Solver<'_>,
        team: Option<&Team>,
    ) -> Result<()> {
        let searches = !self.args.fast || self.args.ratio;
        let frame = Coordinates::new(solver.goal.clone());
        let solvable = |board: &Board| frame.encode_solvable(board).is_ok();
        if searches && solver.oracle.is_none() && boards.iter().any(solvable) {
            let threads = self.args.threads.get();
            let get = || self.args.databases.get(solver.goal, threads);
            let pdbs = match team {
                Some(team) => team.in_turn(get)?,
                None => get()?,
            };
            let mut search = Optimal::with_partitions(solver.goal, pdbs)?;
            if let Some(team) = team {
                team.compare(&search)?;
                search = search.without_copies();
            }
            if let Some(log) = &mut solver.log {
                if team.is_none_or(Team::is_first) {
                    log.open(&search)?;
                }
                if let Some(team) = team {
                    // The first rank has the file.
                    let known = team.broadcast(log.entries())?;
                    if !team.is_first() {
                        log.follow(known, solver.goal)?;
                    }
                }
            }
            solver.oracle = Some(Oracle::Search(Box::new(search)));
        }
        Ok(())
    }
}

// States of puzzles other than boards: shortest solutions from a distance table, in generators.

/// What is said of a state.
#[derive(Serialize)]
struct StateAnswer {
    /// None: it is no board.
    board: (),
    puzzle: String,
    state: String,
    solvable: bool,
    length: Option<usize>,
    moves: Option<String>,
    nodes: u64,
    seconds: f64,
    optimal: bool,
}

impl Figures for StateAnswer {
    const COLUMNS: &'static str = "state,solvable,length,moves,seconds,optimal";

    fn words(&self) -> String {
        let (state, time) = (&self.state, duration(self.seconds));
        match (self.length, &self.moves) {
            (Some(length), Some(moves)) => format!("{state}  {length} moves  {moves}  {time}\n"),
            _ => format!("{state}  not solvable: no sequence of moves leads there\n"),
        }
    }
}

impl StateAnswer {
    fn of(table: &DistanceTable, text: &str) -> Result<StateAnswer> {
        let begun = Instant::now();
        let space = table.space();
        let state = space.parse(text)?;
        let names = table.names(state)?;
        Ok(StateAnswer {
            board: (),
            puzzle: space.name(),
            state: space.text(state),
            solvable: names.is_some(),
            length: names.as_ref().map(Vec::len),
            optimal: names.is_some(),
            moves: names.map(|names| names.join(" ")),
            nodes: 0,
            seconds: begun.elapsed().as_secs_f64(),
        })
    }
}

/// Writes a shortest solution of each state: of those given, or of one per line of standard input as they come.
fn solve(table: &DistanceTable, states: &[String], output: &OutputOptions) -> Result<()> {
    // What is wrong on the command line is said before anything is written.
    for state in states {
        table.space().parse(state)?;
    }
    let mut destination = output.reserve()?;
    destination.heading(StateAnswer::COLUMNS)?;
    let mut all_solved = true;
    let mut answer = |state: &str| {
        let answer = StateAnswer::of(table, state)?;
        all_solved &= answer.solvable;
        destination.line(&answer)
    };
    if !states.is_empty() {
        states.iter().try_for_each(|state| answer(state))?;
        destination.finish()?;
        return Failure::unless(all_solved);
    }
    let (mut some, mut refused) = (false, false);
    for (number, text) in (1..).zip(std::io::stdin().lock().lines()) {
        let text = text.context("cannot read standard input")?;
        let state = text.split('#').next().unwrap_or_default();
        if state.trim().is_empty() {
            continue;
        }
        some = true;
        match table.space().parse(state) {
            Ok(_) => answer(state)?,
            Err(error) => {
                complain(&format!("line {number}: {error}"));
                refused = true;
            }
        }
    }
    if !some {
        refuse!("there is no state: name one or write one per line to standard input");
    }
    destination.finish()?;
    Failure::unless(all_solved && !refused)
}
