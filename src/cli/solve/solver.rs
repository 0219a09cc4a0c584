//! How boards are solved: fast, shortest, or both.
//!
//! Invariant: every thread solves easy boards of its own; a hard one is handed back, to be finished on all
//! threads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use tilewave::progress::{Phase, StopWhen};
use tilewave::puzzle::Metric;
use tilewave::report::{counted, duration, thousands};
use tilewave::search::{Communicator, Ranks};
use tilewave::solve::{
    Answer, Attempt, Cut, LogLine, Logged, Pending, Recorder, SolveError, SolveLog, Stage,
    SubtreeSplit, Walked, certify, explain, replay,
};
use tilewave::{Board, Constructive, DistanceTable, Moves, Optimal};

use crate::cli::pdb::set::Thresholds;
use crate::cli::solve::answer::Solved;
use crate::cli::{Failure, Result, StatusLine, aside, eta, progress};

/// Where shortest solutions come from.
pub enum Oracle {
    /// A search over pattern databases.
    Search(Box<Optimal>),
    /// A walk through a distance table.
    Table(Box<DistanceTable>),
}

/// How to solve the boards of one goal.
pub struct Solver<'a> {
    pub goal: &'a Board,
    /// Solutions that are not the shortest ones, if asked for.
    pub fast: Option<Constructive>,
    /// Shortest solutions: what is asked for, or what fast ones are compared with.
    pub oracle: Option<Oracle>,
    /// When to give up a board.
    pub limits: Limits,
    /// Time for the proof that nothing is shorter, if one is asked for.
    pub certify: Option<Duration>,
    /// What is told of the work.
    pub progress: &'a SolveProgress,
    pub log: Option<BoardLog>,
}

/// What one thread made of a board.
#[derive(Clone, Serialize, Deserialize)]
pub enum Tried {
    /// All that was asked for.
    Done(Solved),
    /// A board that is worth all threads, and its fast solution if one was asked for.
    Hard(Pending, Option<Answer>),
}

impl Solver<'_> {
    /// Attempts boards, the first of which has a place, each on one thread of a rank; returns what was made of them,
    /// in order. Some may be missing when somebody interrupts. All ranks return the same.
    pub fn attempt_all(
        &self,
        first: usize,
        boards: &[Board],
        ranks: Ranks<'_>,
    ) -> Result<Vec<(usize, Tried)>> {
        let told = |tried: &Tried| {
            if matches!(tried, Tried::Done(_)) {
                self.progress.done();
            }
        };
        let failure = Mutex::new(None);
        let (mut tried, stopped) = ranks.share(&progress::asked, &told, |share| {
            share.begin(boards.len());
            (0..rayon::current_num_threads()).into_par_iter().for_each(|_| {
                while let Some(i) = share.next() {
                    match self.attempt(first + i, &boards[i]) {
                        Ok(tried) => share.done(i, tried),
                        Err(error) => {
                            failure.lock().get_or_insert(error);
                            share.stop();
                        }
                    }
                }
            });
            share.end()
        });
        if let Some(error) = failure.into_inner() {
            return Err(error);
        }
        if stopped {
            progress::ask();
        }
        tried.sort_by_key(|(i, _)| *i);
        Ok(tried.into_iter().map(|(i, tried)| (first + i, tried)).collect())
    }

    /// Solves the board at a place on the current thread, unless it is too hard for one.
    pub fn attempt(&self, at: usize, board: &Board) -> Result<Tried> {
        match self.log.as_ref().and_then(|log| log.found(at)) {
            Some(Logged::Solved(answer)) => {
                self.progress.known();
                let solved = self.join(board, None, Some(answer.clone()))?;
                let earlier = answer.nodes;
                return Ok(Tried::Done(Solved { earlier, ..solved }));
            }
            Some(Logged::Pending { search, .. }) => {
                return Ok(Tried::Hard(search.clone(), None));
            }
            None => {}
        }
        if let Some(refused) = self.refused(board)? {
            self.progress.done();
            return Ok(Tried::Done(refused));
        }
        let fast = self.fast.as_ref().map(|solver| {
            let begun = Instant::now();
            let moves = solver.solve(board)?;
            Ok::<_, SolveError>(known(Some(moves), begun))
        });
        let fast = fast.transpose()?;
        let shortest = match &self.oracle {
            None => None,
            Some(Oracle::Table(table)) => {
                let begun = Instant::now();
                let moves = table.solve(board)?;
                // A table that ends before this board knows that the board lies beyond.
                Some(Answer { at_least: table.histogram().len(), ..known(moves, begun) })
            }
            Some(Oracle::Search(solver)) => {
                match solver.attempt(board, &self.watch(at, 0.0, &[]))? {
                    Attempt::Answered(answer) => Some(answer),
                    Attempt::Hard(pending) => return Ok(Tried::Hard(pending, fast)),
                }
            }
        };
        Ok(Tried::Done(self.join(board, fast, shortest)?))
    }

    /// What there is to say of a board without a solution, if it has none.
    pub fn refused(&self, board: &Board) -> Result<Option<Solved>> {
        Ok(explain(board, self.goal)?.map(|why| Solved {
            board: board.clone(),
            answer: Err(Box::new(why)),
            metric: Metric::Stm,
            optimal: false,
            optimum: None,
            proof: None,
            earlier: 0,
        }))
    }

    /// Solves a hard board, the one at a place, with all threads of all ranks. None of a board that was left alone
    /// because somebody interrupted.
    pub fn finish(&self, at: usize, tried: Tried, ranks: Ranks<'_>) -> Result<Option<Solved>> {
        let (pending, fast) = match tried {
            Tried::Done(solved) if self.is_left(&solved) => return Ok(None),
            Tried::Done(solved) => {
                self.note(at, &solved)?;
                return Ok(Some(solved));
            }
            // All ranks stop at the same board.
            Tried::Hard(pending, _) if ranks.communicator.max(progress::asked().into()) > 0 => {
                progress::ask();
                if let Some(log) = self.log.as_ref().filter(|log| log.found(at).is_none()) {
                    log.append(&LogLine::pending(at, &pending))?;
                }
                return Ok(None);
            }
            Tried::Hard(pending, fast) => (pending, fast),
        };
        let board = pending.board.clone();
        let (mut stages, mut earlier) = (vec![pending.stage], 0);
        let found = self.log.as_ref().and_then(|log| log.found(at));
        if let Some(Logged::Pending { stages: known, .. }) = found {
            (stages, earlier) = (known.clone(), pending.nodes());
        }
        let shortest = match &self.oracle {
            Some(Oracle::Search(solver)) => {
                let seconds = pending.seconds;
                let watch = self.watch(at, seconds, &stages);
                if found.is_none() {
                    watch.log(&LogLine::pending(at, &pending));
                }
                let answer = solver.finish_together(pending, ranks, &watch, &watch)?;
                watch.finish()?;
                Some(answer)
            }
            Some(Oracle::Table(_)) | None => None,
        };
        let solved = self.join(&board, fast, shortest)?;
        self.note(at, &solved)?;
        Ok(Some(Solved { earlier, ..solved }))
    }

    /// Whether a board has no answer because somebody interrupted, not because its limits were reached.
    fn is_left(&self, solved: &Solved) -> bool {
        let searched = matches!(self.oracle, Some(Oracle::Search(_)));
        let Ok(answer) = &solved.answer else {
            return false;
        };
        let Limits { nodes, time } = self.limits;
        let ended = nodes.is_some_and(|most| answer.nodes >= most)
            || time.is_some_and(|time| answer.seconds >= time.as_secs_f64());
        progress::asked() && searched && answer.moves.is_none() && !ended
    }

    /// The watch over the board at a place, on which some seconds were spent before, in iterations that were
    /// followed by some stages.
    fn watch(&self, board: usize, spent: f64, stages: &[Stage]) -> BoardWatch<'_> {
        let begun = Instant::now();
        BoardWatch {
            progress: self.progress,
            limits: self.limits,
            board,
            begun,
            spent,
            nodes: AtomicU64::new(0),
            thresholds: Thresholds::after(stages),
            journal: self.log.as_ref(),
            subtrees: Mutex::new(Subtrees { done: Cut::default(), begun, next: begun + LOG_EVERY }),
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    /// Logs an answer that the log does not have.
    fn note(&self, at: usize, solved: &Solved) -> Result<()> {
        if let (Some(log), Ok(answer)) = (&self.log, &solved.answer)
            && !matches!(log.found(at), Some(Logged::Solved(_)))
            && let Some(entry) = LogLine::solved(at, &solved.board, answer)
        {
            log.append(&entry)?;
        }
        Ok(())
    }

    fn join(
        &self,
        board: &Board,
        fast: Option<Answer>,
        shortest: Option<Answer>,
    ) -> Result<Solved> {
        let shortest = shortest.map(|answer| match self.limits.nodes {
            // Found between two looks at the limit.
            Some(most) if answer.nodes > most => Answer { moves: None, ..answer },
            _ => answer,
        });
        let optimum = shortest.as_ref().and_then(|answer| answer.moves.as_ref());
        let metric = match &self.oracle {
            Some(Oracle::Table(table)) => table.space().metric().unwrap_or_default(),
            Some(Oracle::Search(_)) | None => Metric::Stm,
        };
        let optimum = optimum.map(|moves| moves.count(metric));
        let proof = match (self.certify, optimum) {
            (Some(time), Some(length)) => Some(self.prove(board, length, time)?),
            _ => None,
        };
        self.progress.done();
        let (optimal, board) = (fast.is_none(), board.clone());
        let answer = fast.or(shortest);
        Ok(Solved {
            board,
            answer: Ok(answer.expect("a solvable board is solved in one way or the other")),
            metric: if optimal { metric } else { Metric::Stm },
            optimal,
            optimum: optimum.filter(|_| !optimal),
            proof,
            earlier: 0,
        })
    }

    /// Proves that nothing is shorter; says why when there is no proof.
    fn prove(&self, board: &Board, length: usize, time: Duration) -> Result<Result<u64, String>> {
        let begun = Instant::now();
        let stop = StopWhen(|| progress::asked() || begun.elapsed() >= time);
        match certify(board, self.goal, length, &stop) {
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

// What is shown and logged of the search of one board, and when it ends.

/// An iteration that has taken so long is worth a line of its own.
const LONG: Duration = Duration::from_secs(5);

/// How often subtrees are logged.
const LOG_EVERY: Duration = Duration::from_millis(250);

/// When to give up.
#[derive(Clone, Copy)]
pub struct Limits {
    pub nodes: Option<u64>,
    pub time: Option<Duration>,
}

/// Shows the search of a board, logs it, and ends it at its limits.
pub struct BoardWatch<'a> {
    progress: &'a SolveProgress,
    limits: Limits,
    /// Place of the board.
    board: usize,
    begun: Instant,
    /// Seconds spent on the board before.
    spent: f64,
    nodes: AtomicU64,
    thresholds: Thresholds,
    journal: Option<&'a BoardLog>,
    subtrees: Mutex<Subtrees>,
    failed: AtomicBool,
    failure: Mutex<Option<SolveError>>,
}

struct Subtrees {
    done: Cut,
    /// When the iteration was begun, and when to log next.
    begun: Instant,
    next: Instant,
}

impl BoardWatch<'_> {
    fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64() + self.spent
    }

    /// Adds a line to the log. What goes wrong ends the search.
    pub fn log(&self, entry: &LogLine) {
        let Some(Err(error)) = self.journal.map(|log| log.append(entry)) else {
            return;
        };
        self.failure.lock().get_or_insert(error);
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Logs the subtrees that are done.
    fn flush(&self, subtrees: &mut Subtrees) {
        let walked = std::mem::take(&mut subtrees.done.walked);
        if !walked.is_empty() {
            self.log(&LogLine::Subtrees {
                board: self.board,
                of: subtrees.done.pieces,
                walked,
                seconds: self.seconds(),
            });
        }
        subtrees.next = Instant::now() + LOG_EVERY;
    }

    /// Logs what is left and returns what went wrong with the log.
    pub fn finish(self) -> Result<(), SolveError> {
        self.flush(&mut self.subtrees.lock());
        self.failure.lock().take().map_or(Ok(()), Err)
    }
}

impl Recorder for BoardWatch<'_> {
    fn iteration(&self, next: Stage) {
        let mut subtrees = self.subtrees.lock();
        // The next iteration begins where this one came closest, so all of it is known.
        self.flush(&mut subtrees);
        let took = subtrees.begun.elapsed();
        subtrees.begun = Instant::now();
        drop(subtrees);
        self.log(&LogLine::iteration(self.board, next, self.seconds()));
        self.thresholds.close(next.nodes);
        if took >= LONG && self.progress.shown {
            let speed = next.last as f64 / took.as_secs_f64();
            let expected = Thresholds::next(&self.thresholds.nodes());
            let expected = expected.map_or(String::new(), |(nodes, growth)| {
                let time = duration(nodes / speed);
                let nodes = counted(nodes as u64, "node");
                format!(
                    ", excluding {} should take {growth:.1} times as many, {nodes} in {time}",
                    next.threshold
                )
            });
            let (nodes, time) = (counted(next.last, "node"), duration(took.as_secs_f64()));
            aside(|| {
                tracing::info!(
                    "{}no solution of fewer than {} moves: {nodes} in {time}{expected}",
                    self.progress.board(self.board),
                    next.threshold,
                );
            });
        }
    }

    fn subtree(&self, of: SubtreeSplit, walked: Walked) {
        if self.journal.is_none() {
            return;
        }
        let mut subtrees = self.subtrees.lock();
        subtrees.done.pieces = of;
        subtrees.done.walked.push(walked);
        if Instant::now() >= subtrees.next {
            self.flush(&mut subtrees);
        }
    }
}

impl tilewave::Progress for BoardWatch<'_> {
    fn progress(&self, phase: Phase, nodes: u64, _: u64) {
        self.nodes.fetch_max(nodes, Ordering::Relaxed);
        if let Phase::Search(threshold) = phase {
            self.thresholds.note(threshold, nodes);
        }
        self.progress.nodes(nodes, &self.thresholds);
    }

    fn interrupted(&self) -> bool {
        let Limits { nodes, time } = self.limits;
        progress::asked()
            || self.failed.load(Ordering::Relaxed)
            || nodes.is_some_and(|most| self.nodes.load(Ordering::Relaxed) >= most)
            || time.is_some_and(|time| self.seconds() >= time.as_secs_f64())
    }
}

// The log of a long solve (`--log`): all boards are known before the first is solved, and what is done is done once.

/// A log, before and after the databases are there that it is about.
pub struct BoardLog {
    path: PathBuf,
    boards: Vec<Board>,
    /// What it said when it was opened, by a board's place.
    found: BTreeMap<usize, Logged>,
    /// None before it is opened, and where another rank has it.
    file: Option<Mutex<SolveLog>>,
}

impl BoardLog {
    /// The log of some boards, which is not opened yet.
    pub fn new(path: &Path, boards: Vec<Board>) -> BoardLog {
        BoardLog { path: path.to_path_buf(), boards, found: BTreeMap::new(), file: None }
    }

    /// Opens it, and says what is in it. Of several ranks the first one has the file.
    pub fn open(&mut self, solver: &Optimal, ranks: &dyn Communicator) -> Result<()> {
        let mut known = Vec::new();
        if ranks.rank() == 0 {
            let (log, found) = SolveLog::open(&self.path, &self.boards, solver)?;
            (self.file, self.found) = (Some(Mutex::new(log)), found);
            self.say();
            let lines = self.found.iter();
            let lines = lines.flat_map(|(&at, logged)| logged.entries(at, &self.boards[at]));
            known = serde_json::to_vec(&lines.collect::<Vec<LogLine>>())?;
        }
        let known = ranks.broadcast(known);
        if ranks.rank() > 0 {
            let known = serde_json::from_slice::<Vec<LogLine>>(&known)?;
            let found = replay(known, &self.boards, solver.goal());
            self.found = found.ok_or_else(|| Failure::failed("the ranks disagree on the log"))?;
        }
        Ok(())
    }

    fn say(&self) {
        let solved = |logged: &&Logged| matches!(logged, Logged::Solved(_));
        let solved = self.found.values().filter(solved).count();
        if !self.found.is_empty() {
            tracing::info!(
                "going on with {}: {} of {} boards are solved, {} begun",
                self.path.display(),
                thousands(solved as u64),
                thousands(self.boards.len() as u64),
                thousands((self.found.len() - solved) as u64),
            );
        }
    }

    /// What an earlier session has made of a board.
    pub fn found(&self, board: usize) -> Option<&Logged> {
        self.found.get(&board)
    }

    pub fn append(&self, entry: &LogLine) -> Result<(), SolveError> {
        self.file.as_ref().map_or(Ok(()), |log| log.lock().append(entry))
    }

    pub fn sync(&self) -> Result<(), SolveError> {
        self.file.as_ref().map_or(Ok(()), |log| log.lock().sync())
    }
}

// The progress of solving: boards done, and the nodes of the one that takes long.

/// Shows how many boards are done, the nodes of the one that takes long, and the time that is left.
pub struct SolveProgress {
    line: StatusLine,
    boards: AtomicU64,
    done: AtomicU64,
    /// Boards among those done that an earlier session has solved.
    known: AtomicU64,
    begun: Instant,
    /// Whether anything is shown: not where another rank does.
    pub shown: bool,
}

impl SolveProgress {
    pub fn new(boards: usize, shown: bool) -> SolveProgress {
        SolveProgress {
            line: StatusLine::new(),
            boards: AtomicU64::new(boards as u64),
            done: AtomicU64::new(0),
            known: AtomicU64::new(0),
            begun: Instant::now(),
            shown,
        }
    }

    /// A search has come to a number of nodes. Called by any thread, thousands of times a second.
    pub fn nodes(&self, nodes: u64, thresholds: &Thresholds) {
        if !self.shown {
            return;
        }
        self.line.say(|| {
            let all = [&self.done, &self.known, &self.boards];
            let [done, known, boards] = all.map(|n| n.load(Ordering::Relaxed));
            let mut text = String::new();
            if boards > 1 {
                text += &format!("{} of {} boards  ", thousands(done), thousands(boards));
            }
            if done > known {
                let each = self.begun.elapsed().as_secs_f64() / (done - known) as f64;
                text += &format!("{}  ", eta(each * boards.saturating_sub(done) as f64));
            }
            text += &format!("{} on a board", counted(nodes, "node"));
            if let Some(((threshold, nodes), done)) = thresholds.nodes().split_last() {
                text += &format!(", threshold {threshold}");
                if let Some((expected, _)) = Thresholds::next(done) {
                    let share = (100.0 * *nodes as f64 / expected).min(99.0);
                    text +=
                        &format!(", {share:.0} % of about {}", counted(expected as u64, "node"));
                }
            }
            (done as f64 / boards.max(1) as f64, text)
        });
    }

    /// So many boards are known by now, done or not.
    pub fn expect(&self, boards: usize) {
        self.boards.store(boards as u64, Ordering::Relaxed);
    }

    /// A board is solved or refused. Called by any thread.
    pub fn done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// A board was solved by an earlier session; it is done in a moment.
    pub fn known(&self) {
        self.known.fetch_add(1, Ordering::Relaxed);
    }

    /// How the words about a board begin, given its place.
    pub fn board(&self, at: usize) -> String {
        match self.boards.load(Ordering::Relaxed) {
            0 | 1 => String::new(),
            boards => format!("board {} of {}: ", at + 1, thousands(boards)),
        }
    }
}
