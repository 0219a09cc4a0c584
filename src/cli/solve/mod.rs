//! `tilewave solve`: shortest solutions, or fast ones.
//!
//! Boards come from `boards` in batches. `databases` gets what they need when the first can be solved. Easy boards are
//! attempted one per thread, hard ones finished on all threads of all ranks (`search`, which shows how far it is);
//! `solutions` says which of several solutions are wanted. `boards` makes a line of each and a summary. `states` solves puzzles other than boards.

mod boards;
mod databases;
mod search;
mod solutions;
mod states;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use tilewave::{
    Board, Constructive, DistanceTable, Moves, Optimal, Size,
    progress::{NoProgress, Progress, StopWhen},
    puzzle::{Coordinates, Metric, MoveStyle, PuzzleSpec, Searched, Variant},
    report::html::player,
    search::{Communicator, OneProcess, Ranks},
    solve::{Answer, Attempt, Logged, Pending, SolveError, certify_with, explain},
};

use crate::{
    Counted, Destination, Failure, OutputFile, OutputFormat, OutputOptions, PuzzleAndStates,
    Result, aside, complain, first_given,
    info::open_table,
    make::Table,
    progress, ranks, refuse, refuse_same,
    solve::{
        boards::{Arrival, Arrivals, BATCH, BoardFacts, Given, Solved, Totals, Wording},
        search::{SearchOptions, Searcher, SolveProgress},
        states::StateSolve,
    },
};

pub use crate::solve::databases::{
    Databases, FirstTable, cache_dir, is_kept, is_kept_cosets, table_name, usable_cosets,
    usable_table,
};

/// Most cells of a board whose optimum a SAT solver can be asked to prove.
const PROOF_CELLS: usize = 16;

const PROOF_TIME: Duration = Duration::from_secs(60);

/// Solve boards, cubes and other puzzles optimally, or quickly with --fast.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  tilewave solve '5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12'\n  \
                  tilewave solve 3x3x3 \"R U F' L2 D B\"\n  tilewave scramble 10x10 --count 1000 | tilewave solve --fast\n\n\
                  The first run builds pattern databases and keeps them (12 MB for 4x4, 510 MB for 5x5).\n\
                  `tilewave cache list` lists them; `tilewave cache clean` removes them.")]
#[command(mut_args(states::in_long_help))]
pub struct Args {
    #[command(flatten)]
    of: PuzzleAndStates,

    #[command(flatten)]
    counted: Counted,

    /// Solve quickly but not optimally.
    ///
    /// Boards, the 3x3x3 cube and the clock have short solutions, and puzzles with up to a billion states shortest ones. Other
    /// puzzles are solved piece after piece, in 50 to some hundred moves; --via can make that shorter.
    #[arg(long)]
    fast: bool,

    /// With --fast: the pieces to solve or the subgroup to reach in one phase; repeat for each phase.
    ///
    /// Specify pieces as for --pieces (edges:1-4), or a subgroup by its moves ("<U,D,R2,L2,F2,B2>"). Once the subgroup
    /// is reached, only moves that stay in the subgroup are used. Boards have no phases.
    #[arg(long, value_name = "PHASE", value_parser = states::phase, requires = "fast", conflicts_with = "pdb", hide_short_help = true)]
    via: Vec<Variant>,

    #[command(flatten)]
    wording: Wording,

    #[command(flatten)]
    search: SearchOptions,

    /// Write a web page that plays back the solutions.
    ///
    /// It shows boards, the unfolded stickers of cubes and other built-in solids, and the pieces of all other puzzles.
    /// Stickers of pieces that are left out or look alike have no colour. The page needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    output: OutputOptions,
}

impl Args {
    pub fn run(&self) -> Result<()> {
        let (word, states) = self.of.split("solve", self.search.databases.table.is_some())?;
        let other = self.fast || self.wording.certify;
        let searches = !other && self.search.databases.table.is_none();
        let ranks: Box<dyn Communicator> =
            if searches { ranks::join()? } else { Box::new(OneProcess) };
        match self.run_on(&*ranks, word, states) {
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
    fn run_on(
        &self,
        communicator: &dyn Communicator,
        word: Option<&str>,
        states: Vec<&str>,
    ) -> Result<()> {
        let table = self.search.databases.table.as_deref().map(open_table).transpose()?;
        let table = table.map(|table| match table {
            Table::Numbered(table) => Ok(table),
            Table::Pruning(table) => refuse!(
                "the table for {} is a pruning table: specify the puzzle, and use the table with --pdb instead of --table",
                table.puzzle()
            ),
        });
        let table = table.transpose()?;
        if let Some(table) = &table {
            self.refuse_beside(table)?;
            // A file has a goal of its own.
            let is_file = |word: &&str| word.ends_with(PuzzleSpec::FILE_ENDING);
            if let Some(word) = word.filter(is_file)
                && self.counted.searched(word)? != Searched::Numbered(table.space().clone())
            {
                refuse!("the table is for {}: leave out {word}", table.space());
            }
            if table.space().size().is_none() {
                if let Some(word) = word.filter(|word| table.space().name() != *word) {
                    refuse!("the table is for {}: leave out {word}", table.space());
                }
                let page = self.page(&OneProcess)?;
                return states::solve(table, &states, &self.output, page);
            }
        }
        let why = match table {
            Some(_) => "the table says what it is for",
            None => "it belongs to a puzzle, such as 3x3, and none is specified",
        };
        let measured = &self.counted.measured;
        let unusual = match word {
            Some(word) if table.is_none() => self.counted.is_unusual_board(word)?,
            _ => false,
        };
        let goal = word.filter(|_| !unusual).map(|word| measured.goal_board(word, why));
        let goal = goal.transpose()?.flatten();
        if let (Some(word), None) = (word, &goal) {
            self.refuse_of_puzzle(word, unusual)?;
            let via = self.fast.then_some(&self.via[..]);
            let page = self.page(communicator)?;
            let solve = StateSolve { options: &self.search, output: &self.output, communicator };
            let moves = self.wording.moves;
            return solve.run(&self.counted, (word, moves), &states, via, page);
        }
        self.counted.refuse_of_boards(why)?;
        let size = goal.as_ref().map(Board::size);
        if !self.via.is_empty() {
            refuse!("--via does not apply to boards: leave it out");
        }
        progress::listen();
        let parse = move |text: &str| Ok(Board::parse(text, size)?);
        let mut boards = Arrivals::of("board", &states, parse, communicator)?;
        let Some(size) = boards.first_size()? else {
            return Err(Failure::interrupted());
        };
        let goal = match (goal, &table) {
            (Some(goal), None) => goal,
            (_, table) => measured.goal.board_of(table.as_ref(), size)?,
        };
        self.refuse(&goal)?;
        let keeps = self.search.log.is_some();
        // Of several ranks, each has all boards.
        let checked = keeps || communicator.size() > 1;
        let all = checked.then(|| all_of_size(&mut boards, size)).transpose()?;
        let logged = all.filter(|_| keeps);
        let writes = communicator.rank() == 0;
        let page = self.page(communicator)?;
        let destination = Destination::of_rank(communicator, &self.output)?;
        // Whatever is done at once is done by these threads: others may not be to be had.
        let pool = &ranks::pool(self.search.threads.get(), communicator)?;
        let progress = SolveProgress::new("board", boards.known, writes);
        let mut session = SolveSession {
            ranks: Ranks { communicator, pool },
            solver: Solver {
                args: self,
                goal: &goal,
                fast: self.fast.then(|| Constructive::new(goal.clone())),
                table,
                search: None,
                progress: &progress,
            },
            boards,
            logged,
            totals: Totals::default(),
            kept: Vec::new(),
        };
        session.run(destination)?;
        let SolveSession { totals, kept: solved, solver, .. } = session;
        drop(solver);
        if let Some(page) = page.filter(|_| !solved.is_empty()) {
            let (mut solutions, mut refused) = (Vec::new(), Vec::new());
            for answer in &solved {
                match answer.page(&goal) {
                    Ok(all) => solutions.extend(all),
                    Err(none) => refused.push(none),
                }
            }
            page.write(player(&solutions, &refused, self.wording.moves)?.as_bytes())?;
        }
        if progress::asked() {
            if writes {
                complain(&format!("interrupted: {}", totals.so_far()));
            }
            return Err(Failure::interrupted());
        }
        Failure::unless(totals.all_done())
    }

    /// The file of the page, which the first rank writes.
    fn page(&self, communicator: &dyn Communicator) -> Result<Option<OutputFile>> {
        refuse_same([("--html", &self.html), ("--output", &self.output.output)])?;
        if self.html.is_some() && self.search.solutions.only_counts() {
            refuse!("--html shows solutions, and --all=count has none: leave out one of them");
        }
        let path = self.html.as_ref().filter(|_| communicator.rank() == 0);
        path.map(|path| OutputFile::reserve(path, self.output.force)).transpose()
    }

    /// Refuses what is for boards, or, of boards, what is for those whose tiles all differ and move one at a time.
    fn refuse_of_puzzle(&self, word: &str, is_board: bool) -> Result<()> {
        let wrong = first_given(&[
            (self.wording.certify, "--certify"),
            (self.wording.moves != MoveStyle::default() && !is_board, "--moves"),
            (self.search.databases.table.is_some(), "the distance table"),
            (self.search.databases.partition.is_some(), "--partition"),
        ]);
        if let Some(option) = wrong {
            if is_board {
                refuse!(
                    "{option} is only for boards whose tiles all differ and move one at a time: \
                     leave out {option}"
                );
            }
            refuse!("{option} is only for boards, and {word} is not a board: leave out {option}");
        }
        Ok(())
    }

    /// Refuses what a table has no answers for.
    fn refuse_beside(&self, table: &DistanceTable) -> Result<()> {
        if !self.wording.certify {
            self.search.limits.refuse("--table")?;
        }
        let space = table.space();
        if self.counted.measured.metric().is_some_and(|metric| space.metric() != Some(metric)) {
            refuse!("the table is for {space}: leave out --metric");
        }
        let counts_tiles = space.metric() == Some(Metric::Stm);
        let board = space.size().is_some();
        let wrong = first_given(&[
            (self.fast && !board, "--fast"),
            (self.wording.certify && !counts_tiles, "--certify"),
            (self.counted.measured.goal.goal.is_some() && !board, "--goal"),
        ]);
        if let Some(option) = wrong {
            let what = if board { "single-tile moves" } else { "boards" };
            refuse!(
                "{option} is only for {what}, and the table is for {space}: leave out {option}"
            );
        }
        Ok(())
    }

    /// Refuses what cannot work, before anything is built.
    fn refuse(&self, goal: &Board) -> Result<()> {
        if self.fast {
            self.search.databases.refuse()?;
            self.search.limits.refuse("--fast")?;
        }
        let size = goal.size();
        if self.wording.certify && size.cells() > PROOF_CELLS {
            refuse!(
                "--certify works only for boards of at most {PROOF_CELLS} cells, but {size} has \
                 {}: leave out --certify, or pass the formula from tilewave encode --cnf to a SAT \
                 solver yourself",
                size.cells()
            );
        }
        Ok(())
    }
}

/// All boards, which are of the size of the first one.
fn all_of_size(boards: &mut Arrivals<Board>, size: Size) -> Result<Vec<Board>> {
    let all: Vec<Board> = boards.all()?.into_iter().map(|given| given.state).collect();
    match all.iter().zip(1..).find(|(board, _)| board.size() != size) {
        Some((board, number)) => refuse!(
            "board {number} is {}, but the first board is {size}: solve boards of one size at a \
             time",
            board.size()
        ),
        None => Ok(all),
    }
}

/// The boards of a command, and what has come of them.
struct SolveSession<'a> {
    ranks: Ranks<'a>,
    solver: Solver<'a>,
    boards: Arrivals<Board>,
    /// All boards, until their log is opened.
    logged: Option<Vec<Board>>,
    totals: Totals,
    /// What a page needs.
    kept: Vec<Solved>,
}

impl SolveSession<'_> {
    /// Solves the boards as they come; rank 0 writes their lines and the summary.
    fn run(&mut self, mut destination: Destination) -> Result<()> {
        let (begun, args) = (Instant::now(), self.solver.args);
        let columns = args.wording.columns(&args.search.solutions);
        // Not before it is known that the boards, databases and log go together.
        let mut headed = false;
        let mut before = 0;
        while !progress::asked() {
            let arrivals = self.boards.next(BATCH * self.ranks.communicator.size());
            if arrivals.is_empty() {
                break;
            }
            self.solver.progress.expect(self.boards.known);
            let boards = self.take(arrivals)?;
            self.prepare(&boards)?;
            if !std::mem::replace(&mut headed, true) {
                destination.heading(columns)?;
            }
            // Easy boards are solved one per thread, hard ones one after the other on all threads of all ranks.
            let solver = &self.solver;
            let told = |tried: &Tried| {
                if matches!(tried, Tried::Done(_)) {
                    solver.progress.done();
                }
            };
            let attempt = |i: usize| solver.attempt(before + i, &boards[i]);
            let tried = search::attempt_all(self.ranks, boards.len(), &told, &attempt)?;
            for (i, tried) in tried {
                let solved = self.solver.finish(before + i, tried, self.ranks)?;
                if let Some(solved) = solved {
                    self.totals.count(&solved);
                    aside(|| {
                        let wording = &args.wording;
                        destination.line(&BoardFacts { of: &solved, wording, columns })
                    })?;
                    self.kept.extend(args.html.is_some().then_some(solved));
                }
            }
            before += boards.len();
        }
        if !headed {
            destination.heading(columns)?;
        }
        if let Some(log) = self.solver.search.as_ref().and_then(|search| search.log.as_ref()) {
            log.sync()?;
        }
        self.totals.known = self.boards.known as u64;
        self.totals.interrupted = progress::asked();
        self.totals.more = self.totals.interrupted && self.boards.is_open();
        if destination.format == OutputFormat::Text {
            let summary = args.wording.summary(&self.totals, begun.elapsed().as_secs_f64());
            aside(|| destination.add(&summary))?;
        }
        destination.finish()
    }

    /// Returns the boards; says of each other line what is wrong, and goes on. A wrong board on the
    /// command line ends the command.
    fn take(&mut self, arrivals: Vec<Arrival<Board>>) -> Result<Vec<Board>> {
        let size = self.solver.goal.size();
        let mut boards = Vec::new();
        for arrival in arrivals {
            let error = match arrival {
                Ok(Given { state: board, .. }) if board.size() == size => {
                    boards.push(board);
                    continue;
                }
                Ok(Given { state: board, line: None, .. }) => {
                    Coordinates::new(self.solver.goal.clone()).encode(&board)?;
                    continue;
                }
                Ok(Given { state: board, line: Some(line), .. }) => format!(
                    "line {line}: the board is {}, but the goal is {size}: solve boards of one size at a time",
                    board.size()
                ),
                Err(error) => error,
            };
            complain(&error);
            self.solver.progress.done();
            self.totals.refused += 1;
        }
        Ok(boards)
    }

    /// Gets the databases when the first board comes that can be solved: others need none.
    fn prepare(&mut self, boards: &[Board]) -> Result<()> {
        let Solver { args, goal, table, search, progress, .. } = &mut self.solver;
        let searches = !args.fast;
        let frame = Coordinates::new(goal.clone());
        let solvable = |board: &Board| frame.encode_solvable(board).is_ok();
        if !searches || table.is_some() || search.is_some() || !boards.iter().any(solvable) {
            return Ok(());
        }
        let Ranks { communicator, pool } = self.ranks;
        let pdbs = ranks::first_alone(communicator, || {
            pool.install(|| args.search.databases.get(goal, args.search.threads.get()))
        })?;
        let several = communicator.size() > 1;
        let mut solver = pool.install(|| Optimal::with_partitions(goal, pdbs))?;
        let (goal, databases) = (goal.clone(), args.search.databases.clone());
        let threads = args.search.threads.get();
        let larger = move |watch: &dyn Progress| databases.get_larger(&goal, threads, watch);
        if several {
            solver = solver.memory(0);
            // All ranks at once, and the same: a search may not wait for one of them.
            let ready =
                ranks::first_alone(communicator, || Ok(pool.install(|| larger(&NoProgress))?))?;
            let lacks = communicator.max(ready.is_none().into()) > 0;
            let ready = ready.filter(|_| !lacks);
            solver = solver.with_reserve(move |_| Ok(ready.clone()));
        } else if args.search.limits.allow_building() {
            solver = solver.with_reserve(larger);
        }
        let SearchOptions { limits, solutions, .. } = &args.search;
        let (limits, range) = (*limits, solutions.range());
        let mut made = Searcher { solver, log: None, limits, range, progress };
        if several {
            made.agree(communicator, "databases")?;
        }
        if let (Some(path), Some(boards)) = (&args.search.log, self.logged.take()) {
            made.open_log(path, &boards, communicator)?;
        }
        *search = Some(made);
        Ok(())
    }
}

/// How boards are solved: fast, or with the fewest moves.
struct Solver<'a> {
    args: &'a Args,
    goal: &'a Board,
    /// Solutions that are not the shortest ones, if asked for.
    fast: Option<Constructive>,
    /// Shortest solutions, from one of the two.
    table: Option<DistanceTable>,
    search: Option<Searcher<'a, Optimal>>,
    progress: &'a SolveProgress,
}

/// What one thread made of a board.
#[derive(Clone, Serialize, Deserialize)]
enum Tried {
    /// All that was asked for.
    Done(Solved),
    /// A board that is worth all threads.
    Hard(Pending),
}

impl Solver<'_> {
    /// Solves the board at a place on the current thread, unless it is too hard for one.
    fn attempt(&self, at: usize, board: &Board) -> Result<Tried> {
        if let Some(why) = explain(board, self.goal)? {
            return Ok(Tried::Done(Solved {
                board: board.clone(),
                answer: Err(Box::new(why)),
                metric: Metric::Stm,
                optimal: false,
                proof: None,
                earlier: 0,
                all: None,
            }));
        }
        let begun = Instant::now();
        let answer = if let Some(solver) = &self.fast {
            known(Some(solver.solve(board)?), begun)
        } else if let Some(table) = &self.table {
            let moves = table.solve(board)?;
            // A table that ends before this board knows that the board lies beyond.
            Answer { at_least: table.histogram().len(), ..known(moves, begun) }
        } else {
            let searcher = self.search.as_ref().expect("databases for boards that can be solved");
            match searcher.attempt(at, board)? {
                Attempt::Answered(answer) => answer,
                Attempt::Hard(pending) => return Ok(Tried::Hard(pending)),
            }
        };
        let solved = self.solved(board, answer)?;
        // What the log has was generated before.
        let earlier = match self.search.as_ref().and_then(|searcher| searcher.found(at)) {
            Some(Logged::Solved(answer)) => answer.nodes,
            _ => 0,
        };
        Ok(Tried::Done(Solved { earlier, ..solved }))
    }

    /// Finishes the board at a place, with all threads of all ranks if it is hard, and logs its answer. None of a board
    /// that was left alone because somebody interrupted.
    fn finish(&self, at: usize, tried: Tried, ranks: Ranks<'_>) -> Result<Option<Solved>> {
        let solved = match tried {
            Tried::Done(solved) if self.is_left(&solved) => None,
            Tried::Done(solved) => Some(solved),
            Tried::Hard(pending) => {
                let searcher = self.search.as_ref().expect("what is hard was searched for");
                let board = pending.state.clone();
                // A log has subtrees behind a solution, too.
                let earlier = searcher.found(at).map_or(0, |_| pending.nodes());
                let answer = searcher.finish(at, pending, ranks)?;
                let solved = answer.map(|answer| self.solved(&board, answer));
                solved.transpose()?.map(|solved| Solved { earlier, ..solved })
            }
        };
        let log = self.search.as_ref().and_then(|searcher| searcher.log.as_ref());
        if let (Some(log), Some(Solved { answer: Ok(answer), .. })) = (log, &solved) {
            log.solved(at, answer)?;
        }
        let (Some(searcher), Some(mut solved)) = (&self.search, solved.clone()) else {
            return Ok(solved);
        };
        if let Ok(answer) = solved.answer {
            let Some(every) = searcher.every(at, &solved.board, answer, ranks)? else {
                return Ok(None);
            };
            let (answer, all) = every.parts();
            (solved.answer, solved.all) = (Ok(answer), all);
        }
        Ok(Some(solved))
    }

    /// Whether a board has no answer because somebody interrupted, not because its limits were reached.
    fn is_left(&self, solved: &Solved) -> bool {
        let searched = self.search.as_ref().zip(solved.answer.as_ref().ok());
        searched.is_some_and(|(searcher, answer)| searcher.is_left(answer))
    }

    fn solved(&self, board: &Board, answer: Answer) -> Result<Solved> {
        let answer = match &self.search {
            Some(searcher) => searcher.limited(answer),
            None => answer,
        };
        let table = self.table.as_ref();
        let metric = table.and_then(|table| table.space().metric()).unwrap_or_default();
        let length = answer.moves.as_ref().map(|moves| moves.count(metric));
        let proof = length.filter(|_| self.args.wording.certify);
        let proof = proof.map(|length| self.prove(board, length)).transpose()?;
        let (board, optimal) = (board.clone(), self.fast.is_none());
        Ok(Solved { board, answer: Ok(answer), metric, optimal, proof, earlier: 0, all: None })
    }

    /// Proves that nothing is shorter; says why when there is no proof.
    fn prove(&self, board: &Board, length: usize) -> Result<Result<u64, String>> {
        let (begun, time) = (Instant::now(), self.args.search.limits.timeout.unwrap_or(PROOF_TIME));
        let stop = StopWhen(|| progress::asked() || begun.elapsed() >= time);
        match certify_with(board, self.goal, length, &stop) {
            Ok(certificate) => Ok(Ok(certificate.conflicts)),
            Err(error @ SolveError::Undecided { .. }) => Ok(Err(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }
}

/// The answer of a solver that does not search.
fn known(moves: Option<Moves>, begun: Instant) -> Answer {
    Answer { at_least: 0, moves, nodes: 0, seconds: begun.elapsed().as_secs_f64() }
}
