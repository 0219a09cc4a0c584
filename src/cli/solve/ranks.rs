//! Boards split over the ranks of an MPI job.
//!
//! Invariant: all ranks know the same of every board: they meet several times a second, tell what they have done, and
//! come to the same decision who takes which board. Rank 0 alone logs and writes, in the order of the boards.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};
use tilewave::bfs::Communicator;
use tilewave::bfs::mpi::{Job, abort, end_on_panic};
use tilewave::puzzle::tiles::{Board, Metric, MoveStyle, Moves};
use tilewave::solve::{Answer, Entry};

use super::super::failure::{Exit, complain};
use super::super::interrupt;
use super::super::launcher::launch;
use super::super::ranks::Shared;
use super::answer::Solved;
use super::boards::Arrivals;
use super::solver::Solver;

/// How often ranks meet.
const MEET_EVERY: Duration = Duration::from_millis(20);
/// Turns in which a rank gets its boards, at least, where there are so many.
const TURNS: usize = 64;

/// The ranks of the job that this process is one of.
pub struct Team {
    job: Job,
    /// Where lines of the log wait for the next meeting.
    entries: (Sender<Entry>, Receiver<Entry>),
}

/// What a rank tells the others.
#[derive(Default, Serialize, Deserialize)]
struct Report {
    entries: Vec<Entry>,
    done: Vec<Done>,
    /// Whether it has no board.
    idle: bool,
    interrupted: bool,
}

/// A board that a rank has done.
#[derive(Serialize, Deserialize)]
struct Done {
    at: usize,
    /// None when it has no solution.
    answer: Option<Written>,
}

/// An answer as it travels.
#[derive(Serialize, Deserialize)]
struct Written {
    moves: Option<String>,
    at_least: usize,
    nodes: u64,
    seconds: f64,
    earlier: u64,
}

impl Done {
    fn of(at: usize, solved: &Solved) -> Done {
        let answer = solved.answer.as_ref().ok().map(|answer| Written {
            moves: answer.moves.as_ref().map(|m| m.short(MoveStyle::Tile)),
            at_least: answer.at_least,
            nodes: answer.nodes,
            seconds: answer.seconds,
            earlier: solved.earlier,
        });
        Done { at, answer }
    }

    fn solved(self, solver: &Solver<'_>, board: &Board) -> Result<Solved> {
        let Some(written) = self.answer else {
            let refused = solver.refused(board)?;
            return refused.ok_or(anyhow!("the ranks disagree on '{board}'"));
        };
        let moves = written
            .moves
            .map(|text| Moves::parse(&text, MoveStyle::Tile));
        let answer = Answer {
            moves: moves.transpose()?,
            at_least: written.at_least,
            nodes: written.nodes,
            seconds: written.seconds,
        };
        Ok(Solved {
            board: board.clone(),
            answer: Ok(answer),
            metric: Metric::Stm,
            optimal: true,
            optimum: None,
            proof: None,
            earlier: written.earlier,
        })
    }
}

impl Team {
    /// Returns the ranks of the job that a launcher has started, if it has started several.
    pub fn join() -> Result<Option<Team>> {
        let processes = launch().and_then(|launch| launch.processes);
        if processes.is_none_or(|processes| processes < 2) {
            return Ok(None);
        }
        let job = Job::start().ok_or(anyhow!("MPI cannot be started twice"))?;
        let me = format!("rank {} of {} on {}", job.rank(), job.size(), Job::host());
        end_on_panic(move |reason| complain(&format!("{me}: {reason}")));
        let entries = channel();
        Ok(Some(Team { job, entries }))
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
    pub fn fail(&self, error: &anyhow::Error) -> ! {
        match error.downcast_ref() {
            Some(Exit(code)) => abort(*code),
            None => complain(&format!("{error:#}")),
        }
        abort(1)
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
    pub fn broadcast(&self, entries: Vec<Entry>) -> Result<Vec<Entry>> {
        let bytes = self.job.broadcast(serde_json::to_vec(&entries)?);
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Returns where this rank's lines of the log go.
    pub fn sender(&self) -> Sender<Entry> {
        self.entries.0.clone()
    }

    /// Solves boards; on rank 0, logs what all do and shows each board's answer, in the order of the boards.
    pub fn solve(
        &self,
        solver: &Solver<'_>,
        boards: &[Board],
        pool: &rayon::ThreadPool,
        show: impl FnMut(Solved) -> Result<()>,
    ) -> Result<()> {
        let (give, take) = channel::<usize>();
        let (tell, told) = channel::<Result<Done>>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for at in take {
                    let done = pool.install(|| {
                        let tried = solver.attempt(at, &boards[at])?;
                        Ok(Done::of(at, &solver.finish(at, tried)?))
                    });
                    if tell.send(done).is_err() {
                        return;
                    }
                }
            });
            let ended = self.meet(solver, boards, (give, told), show);
            // The board at hand is not waited for.
            if ended.is_err() {
                interrupt::ask();
            }
            ended
        })
    }

    /// Meets the other ranks until all boards are done or somebody is told to stop.
    fn meet(
        &self,
        solver: &Solver<'_>,
        boards: &[Board],
        (give, told): (Sender<usize>, Receiver<Result<Done>>),
        mut show: impl FnMut(Solved) -> Result<()>,
    ) -> Result<()> {
        let (mut next, mut shown, mut busy) = (0, 0, 0);
        let mut waiting = BTreeMap::new();
        let mut stopped = false;
        loop {
            let end = Instant::now() + MEET_EVERY;
            let left = || end.saturating_duration_since(Instant::now());
            let mut done = Vec::new();
            while let Ok(one) = told.recv_timeout(left()) {
                done.push(one?);
                busy -= 1;
            }
            let report = Report {
                entries: self.entries.1.try_iter().collect(),
                done,
                idle: busy == 0,
                interrupted: interrupt::asked(),
            };
            let reports = self.job.all_gather(serde_json::to_vec(&report)?);
            let mut idle = Vec::new();
            for (rank, report) in reports.iter().enumerate() {
                let report: Report = serde_json::from_slice(report)?;
                stopped |= report.interrupted;
                if report.idle {
                    idle.push(rank);
                }
                if self.is_first() {
                    for entry in &report.entries {
                        solver
                            .log
                            .as_ref()
                            .map_or(Ok(()), |log| log.append(entry))?;
                    }
                    for done in report.done {
                        if rank > 0 {
                            solver.progress.done();
                        }
                        waiting.insert(done.at, done);
                    }
                }
            }
            while let Some(done) = waiting.remove(&shown) {
                show(done.solved(solver, &boards[shown])?)?;
                shown += 1;
            }
            if stopped {
                interrupt::ask();
            }
            if idle.len() == reports.len() && (stopped || next == boards.len()) {
                return Ok(());
            }
            for rank in idle.into_iter().filter(|_| !stopped) {
                // One by one at the end, where a hard board would keep others waiting behind it.
                let share = (boards.len() - next).div_ceil(TURNS * reports.len());
                for at in next..next + share {
                    if rank == self.job.rank() {
                        busy += 1;
                        give.send(at)?;
                    }
                }
                next += share;
            }
        }
    }
}
