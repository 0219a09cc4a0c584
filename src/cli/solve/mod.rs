//! `tilewave solve`: shortest solutions, or fast ones.

mod answer;
mod boards;
mod databases;
mod solver;

use std::io::BufRead;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Serialize;
use tilewave::puzzle::{Coordinates, Metric, MoveStyle};
use tilewave::report::duration;
use tilewave::report::html::{Solution, player};
use tilewave::search::{Communicator, OneProcess, Ranks};
use tilewave::{Board, Constructive, DistanceTable, Optimal, Size};

use crate::cli::ranks::{self, me};
use crate::cli::solve::answer::{Solved, Totals, Wording};
use crate::cli::solve::boards::{Arrivals, BoardLine, Boards};
use crate::cli::solve::databases::Databases;
use crate::cli::solve::solver::{BoardLog, Limits, Oracle, SolveProgress, Solver};
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
        let ranks: Box<dyn Communicator> =
            if searches { ranks::join()? } else { Box::new(OneProcess) };
        match self.run_on(&*ranks) {
            // The others would wait for this rank.
            Err(Failure { said: Some(said), .. }) if ranks.size() > 1 => {
                complain(&said);
                ranks.abort(1)
            }
            // The first rank's exit code is that of the job.
            Err(_) if ranks.rank() > 0 => Ok(()),
            result => result,
        }
    }

    /// Runs the command, alone or as one of several ranks.
    fn run_on(&self, ranks: &dyn Communicator) -> Result<()> {
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
        let mut boards = self.boards.arrive(ranks)?;
        let Some(size) = first_size(&mut boards)? else {
            return Err(Failure::interrupted());
        };
        let goal = self.goal.board_of(table.as_ref(), size)?;
        self.refuse(&goal)?;
        let log = match &self.log {
            Some(path) => Some(BoardLog::new(path, boards.all()?)),
            None => None,
        };
        let writes = ranks.rank() == 0;
        let page = self.html.as_ref().filter(|_| writes);
        let page = page.map(|path| OutputFile::reserve(path, self.output.force));
        let page = page.transpose()?;
        let destination = writes.then(|| self.output.reserve()).transpose()?;
        let own = || (ranks.size() > 1).then(|| ranks::shared(ranks).0);
        let threads = self.threads.get().or_else(own);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build()?;

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
        if ranks.size() == 1 {
            // Whatever is done at once is done by these threads: others may not be to be had.
            let alone = || Ranks { communicator: &OneProcess, pool: &pool };
            pool.install(|| session.run(&mut solver, destination, alone()))?;
        } else {
            session.run(&mut solver, destination, Ranks { communicator: ranks, pool: &pool })?;
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
    /// Solves the boards as they come; rank 0 writes their lines and the summary.
    fn run(
        &mut self,
        solver: &mut Solver<'_>,
        mut destination: Option<Destination>,
        ranks: Ranks<'_>,
    ) -> Result<()> {
        let begun = Instant::now();
        // Not before it is known that the boards, databases and log go together.
        let mut headed = false;
        while !progress::asked() {
            let arrivals = self.boards.next(BATCH * ranks.communicator.size());
            if arrivals.is_empty() {
                break;
            }
            solver.progress.expect(self.boards.known);
            let boards = self.take(arrivals, solver)?;
            self.prepare(&boards, solver, ranks)?;
            if let (false, Some(to)) = (std::mem::replace(&mut headed, true), &mut destination) {
                to.heading(self.wording.columns())?;
            }
            // Easy boards are solved one per thread, hard ones one after the other on all threads of all ranks.
            for (at, tried) in solver.attempt_all(self.before, &boards, ranks)? {
                let solved = solver.finish(at, tried, ranks)?;
                if let (Some(solved), Some(destination)) = (solved, &mut destination) {
                    self.show(solved, destination)?;
                }
            }
            self.before += boards.len();
        }
        let Some(mut destination) = destination else {
            return Ok(());
        };
        if !headed {
            destination.heading(self.wording.columns())?;
        }
        self.end(solver, destination, begun)
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
    fn prepare(&self, boards: &[Board], solver: &mut Solver<'_>, ranks: Ranks<'_>) -> Result<()> {
        let searches = !self.args.fast || self.args.ratio;
        let frame = Coordinates::new(solver.goal.clone());
        let solvable = |board: &Board| frame.encode_solvable(board).is_ok();
        if !searches || solver.oracle.is_some() || !boards.iter().any(solvable) {
            return Ok(());
        }
        let Ranks { communicator, pool } = ranks;
        let first = communicator.rank() == 0;
        // Rank 0 builds what is kept for all; when it cannot, it ends all.
        if !first {
            communicator.barrier();
        }
        let threads = self.args.threads.get();
        let pdbs = pool.install(|| self.args.databases.get(solver.goal, threads))?;
        if first {
            communicator.barrier();
        }
        let mut search = Optimal::with_partitions(solver.goal, pdbs)?;
        if communicator.size() > 1 {
            let mine = serde_json::to_vec(&(env!("CARGO_PKG_VERSION"), search.databases()))?;
            if communicator.broadcast(mine.clone()) != mine {
                return Err(Failure::failed(format!(
                    "{} has other databases than rank 0, or another version of this program: give all machines the \
                     same files",
                    me(communicator)
                )));
            }
            search = search.without_copies();
        }
        if let Some(log) = &mut solver.log {
            log.open(&search, communicator)?;
        }
        solver.oracle = Some(Oracle::Search(Box::new(search)));
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
