//! Boards and their subtrees split over the ranks of an MPI job.
//!
//! Invariant: all ranks know the same of every board: they meet several times a second, tell what they have done, and
//! come to the same decision who takes which board. A hard board they finish together. Rank 0 alone logs and writes, in
//! the order of the boards.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use serde::{Deserialize, Serialize};
use tilewave::puzzle::{Metric, MoveStyle};
use tilewave::search::Communicator;
use tilewave::search::mpi::{Job, abort, end_on_panic};
use tilewave::solve::{Answer, Cut, LogLine, Logged, Pending, Stage};
use tilewave::{Board, Moves, Optimal};

use crate::cli::ranks::Shared;
use crate::cli::solve::answer::Solved;
use crate::cli::solve::boards::Arrivals;
use crate::cli::solve::solver::{Solver, Tried};
use crate::cli::{Failure, Result, complain, launch, progress};

/// How often ranks meet that attempt boards, at least and at most.
const MEET_EVERY: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(20)];

/// Boards for each rank that are attempted before the hard ones among them are finished.
const BATCH: usize = 256;

/// The ranks of the job that this process is one of.
pub struct Team {
    job: Job,
}

/// What a rank tells the others.
#[derive(Serialize, Deserialize)]
struct BoardReport {
    done: Vec<Done>,
    /// Its threads, and the boards that it has.
    threads: usize,
    busy: usize,
    interrupted: bool,
}

/// A board that a rank has attempted.
#[derive(Serialize, Deserialize)]
struct Done {
    at: usize,
    made: BoardOutcome,
}

/// What became of it.
#[derive(Serialize, Deserialize)]
enum BoardOutcome {
    /// It has no solution.
    Refused,
    Answered(AnswerText),
    /// It is hard: all ranks go on from a stage, or from where the log has come to.
    Hard(Stage, Cut, f64),
}

/// An answer as it travels.
#[derive(Serialize, Deserialize)]
struct AnswerText {
    moves: Option<String>,
    at_least: usize,
    nodes: u64,
    seconds: f64,
    earlier: u64,
}

impl BoardOutcome {
    fn of(tried: &Tried) -> BoardOutcome {
        let solved = match tried {
            Tried::Hard(pending, _) => {
                let before = pending.before().clone();
                return BoardOutcome::Hard(pending.stage(), before, pending.seconds());
            }
            Tried::Done(solved) => solved,
        };
        let Ok(answer) = &solved.answer else {
            return BoardOutcome::Refused;
        };
        BoardOutcome::Answered(AnswerText {
            moves: answer.moves.as_ref().map(|m| m.short(MoveStyle::Tile)),
            at_least: answer.at_least,
            nodes: answer.nodes,
            seconds: answer.seconds,
            earlier: solved.earlier,
        })
    }
}

impl Done {
    fn tried(self, solver: &Solver<'_>, board: &Board) -> Result<Tried> {
        let written = match self.made {
            BoardOutcome::Answered(written) => written,
            BoardOutcome::Refused => {
                let refused = solver.refused(board)?;
                let refused =
                    refused.ok_or(Failure::failed(format!("the ranks disagree on '{board}'")))?;
                return Ok(Tried::Done(refused));
            }
            BoardOutcome::Hard(stage, before, seconds) => {
                let found = solver.log.as_ref().and_then(|log| log.found(self.at));
                let pending = match found {
                    Some(Logged::Pending { search, .. }) => search.clone(),
                    _ => Pending::new(board.clone(), stage, before, seconds),
                };
                return Ok(Tried::Hard(pending, None));
            }
        };
        let moves = written.moves.map(|text| Moves::parse(&text, MoveStyle::Tile));
        let answer = Answer {
            moves: moves.transpose()?,
            at_least: written.at_least,
            nodes: written.nodes,
            seconds: written.seconds,
        };
        Ok(Tried::Done(Solved {
            board: board.clone(),
            answer: Ok(answer),
            metric: Metric::Stm,
            optimal: true,
            optimum: None,
            proof: None,
            earlier: written.earlier,
        }))
    }
}

impl Team {
    /// Returns the ranks of the job that a launcher has started, if it has started several.
    pub fn join() -> Result<Option<Team>> {
        let processes = launch().and_then(|launch| launch.processes);
        if processes.is_none_or(|processes| processes < 2) {
            return Ok(None);
        }
        let job = Job::start().ok_or(Failure::failed("MPI cannot be started twice"))?;
        let me = format!("rank {} of {} on {}", job.rank(), job.size(), Job::host());
        end_on_panic(move |reason| complain(&format!("{me}: {reason}")));
        Ok(Some(Team { job }))
    }

    /// Returns whether this rank logs and writes.
    pub fn is_first(&self) -> bool {
        self.job.rank() == 0
    }

    /// Returns the threads of this rank, where the user has not said how many.
    pub fn threads(&self) -> usize {
        Shared::of(&self.job).threads
    }

    /// Ends all ranks: one cannot go on.
    pub fn fail(&self, error: &Failure) -> ! {
        if let Some(said) = &error.said {
            complain(said);
        }
        abort(error.code)
    }

    /// Returns the boards that rank 0 reads, all of them.
    pub fn boards(&self, read: impl FnOnce() -> Result<Arrivals>) -> Result<Arrivals> {
        let mut lines = String::new();
        if self.is_first() {
            let boards = read().and_then(|mut boards| boards.all());
            for board in boards.unwrap_or_else(|error| self.fail(&error)) {
                lines += &format!("{board}\n");
            }
        }
        let lines = self.job.broadcast(lines.into_bytes());
        let lines = String::from_utf8_lossy(&lines).into_owned();
        let boards = lines.lines().map(|line| Board::parse(line, None));
        Ok(Arrivals::of(boards.collect::<Result<_, _>>()?))
    }

    /// Lets rank 0 do something before the others do: build what is kept for all.
    pub fn in_turn<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        if !self.is_first() {
            self.job.barrier();
            return act();
        }
        let done = act();
        if done.is_ok() {
            self.job.barrier();
        }
        done
    }

    /// Returns what rank 0 gives.
    pub fn broadcast(&self, entries: Vec<LogLine>) -> Result<Vec<LogLine>> {
        let bytes = self.job.broadcast(serde_json::to_vec(&entries)?);
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Ends when this rank's databases are not those of the first one.
    pub fn compare(&self, search: &Optimal) -> Result<()> {
        let mine = serde_json::to_vec(&(env!("CARGO_PKG_VERSION"), search.databases()))?;
        if self.job.broadcast(mine.clone()) == mine {
            return Ok(());
        }
        Err(Failure::failed(format!(
            "rank {} of {} on {} has other databases than rank 0, or another version of this program: give all machines the \
             same files",
            self.job.rank(),
            self.job.size(),
            Job::host()
        )))
    }

    /// Solves boards; on rank 0, logs what all do and shows each board's answer, in the order of the boards.
    pub fn solve(
        &self,
        solver: &Solver<'_>,
        boards: &[Board],
        pool: &ThreadPool,
        mut show: impl FnMut(Solved) -> Result<()>,
    ) -> Result<()> {
        let batch = BATCH * self.job.size();
        for first in (0..boards.len()).step_by(batch) {
            let places = first..(first + batch).min(boards.len());
            // As on one machine: easy boards one per thread, then hard ones one after the other, on all ranks.
            let (tried, mut stopped) = self.attempt(solver, boards, places, pool)?;
            for (at, tried) in tried {
                let hard = matches!(tried, Tried::Hard(..));
                let together = (hard && !stopped).then_some((&self.job as _, pool));
                // When all have stopped, the first one logs how far its boards have come.
                if (together.is_some() || self.is_first())
                    && let Some(solved) = solver.finish(at, tried, together)?
                {
                    show(solved)?;
                }
                if together.is_some() && self.job.max(progress::asked().into()) > 0 {
                    stopped = true;
                    progress::ask();
                }
            }
            if stopped {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Attempts the boards at some places, each on one thread of a rank; returns what was made of them and whether
    /// somebody was told to stop, which is why some may be missing. All ranks return the same.
    fn attempt(
        &self,
        solver: &Solver<'_>,
        boards: &[Board],
        places: Range<usize>,
        pool: &ThreadPool,
    ) -> Result<(BTreeMap<usize, Tried>, bool)> {
        pool.in_place_scope(|scope| {
            let threads = pool.current_num_threads();
            let ended = self.meet((solver, boards), places, (scope, threads));
            // The boards at hand are not waited for.
            if ended.is_err() {
                progress::ask();
            }
            ended
        })
    }

    /// Meets the other ranks until all boards at some places are attempted or somebody is told to stop.
    fn meet<'s>(
        &self,
        (solver, boards): (&'s Solver<'_>, &'s [Board]),
        mut left: Range<usize>,
        (scope, threads): (&rayon::Scope<'s>, usize),
    ) -> Result<(BTreeMap<usize, Tried>, bool)> {
        let (mut tried, mut stopped) = (BTreeMap::new(), false);
        let (tell, told) = channel::<Result<Done>>();
        let begun = Instant::now();
        let mut busy = 0;
        let [least, most] = MEET_EVERY;
        loop {
            let meeting = Instant::now() + (begun.elapsed() / 8).clamp(least, most);
            let wait = || meeting.saturating_duration_since(Instant::now());
            let mut done = Vec::new();
            while let Ok(one) = told.recv_timeout(wait()) {
                done.push(one?);
            }
            busy -= done.len();
            let report = BoardReport { done, threads, busy, interrupted: progress::asked() };
            let reports = self.job.all_gather(serde_json::to_vec(&report)?);
            let reports = reports.iter().map(|report| serde_json::from_slice(report));
            let mut reports = reports.collect::<Result<Vec<BoardReport>, _>>()?;
            for (rank, report) in reports.iter_mut().enumerate() {
                stopped |= report.interrupted;
                for done in report.done.drain(..) {
                    let (at, hard) = (done.at, matches!(done.made, BoardOutcome::Hard(..)));
                    if rank != self.job.rank() && !hard {
                        solver.progress.done();
                    }
                    tried.insert(at, done.tried(solver, &boards[at])?);
                }
            }
            if stopped {
                progress::ask();
            }
            let idle = reports.iter().all(|report| report.busy == 0);
            if idle && (stopped || left.is_empty()) {
                return Ok((tried, stopped));
            }
            for (rank, report) in reports.iter().enumerate().filter(|_| !stopped) {
                // Few at the end, where an attempt that takes long would keep others waiting behind it.
                let room = report.threads.saturating_sub(report.busy);
                let fair = left.len().div_ceil(4 * reports.len());
                let share = if room == 0 { 0 } else { fair.max(room) };
                let given = left.start..left.end.min(left.start + share);
                left.start = given.end;
                for at in given.filter(|_| rank == self.job.rank()) {
                    busy += 1;
                    let tell = tell.clone();
                    scope.spawn(move |_| {
                        let made = solver.attempt(at, &boards[at]);
                        let done = made.map(|tried| Done { at, made: BoardOutcome::of(&tried) });
                        // Nobody takes it when another board has failed.
                        let _ = tell.send(done);
                    });
                }
            }
        }
    }
}
