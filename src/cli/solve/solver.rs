//! How boards are solved: fast, shortest, or both.
//!
//! Invariant: every thread solves easy boards of its own; a hard one is handed back, to be finished on all
//! threads.

use std::time::{Duration, Instant};

use anyhow::Result;
use tilewave::Error;
use tilewave::bfs::Communicator;
use tilewave::progress::StopWhen;
use tilewave::puzzle::tiles::{Board, Metric, Moves};
use tilewave::solve::{
    Answer, Attempt, Constructive, Entry, Logged, Optimal, Pending, SolveError, Stage, certify,
    explain,
};
use tilewave::table::DistanceTable;

use super::super::interrupt;
use super::answer::Solved;
use super::log::Log;
use super::progress::Progress;
use super::watch::{Limits, Watch};

/// Where shortest solutions come from.
pub enum Oracle {
    /// A search over pattern databases.
    Search(Box<Optimal>),
    /// A walk through a distance table.
    Table(Box<DistanceTable>),
}

/// How to solve the boards of one goal.
pub struct Solver<'a> {
    /// The goal.
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
    pub progress: &'a Progress,
    /// The log, if one is kept.
    pub log: Option<Log>,
}

/// The ranks of a job, and the threads of this one.
pub type Ranks<'r> = (&'r dyn Communicator, &'r rayon::ThreadPool);

/// What one thread made of a board.
pub enum Tried {
    /// All that was asked for.
    Done(Solved),
    /// A board that is worth all threads, and its fast solution if one was asked for.
    Hard(Pending, Option<Answer>),
}

impl Solver<'_> {
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
            anyhow::Ok(known(Some(moves), begun))
        });
        let fast = fast.transpose()?;
        let shortest = match &self.oracle {
            None => None,
            Some(Oracle::Table(table)) => {
                let begun = Instant::now();
                let moves = table.solve(board)?;
                // A table that ends before this board knows that the board lies beyond.
                Some(Answer {
                    at_least: table.histogram().len(),
                    ..known(moves, begun)
                })
            }
            Some(Oracle::Search(solver)) => {
                let watch = self.watch(at, 0.0, &[]);
                let attempt = solver.attempt(board, &watch);
                match attempt? {
                    Attempt::Answered(answer) => Some(answer),
                    Attempt::Hard(pending) => return Ok(Tried::Hard(pending, fast)),
                }
            }
        };
        Ok(Tried::Done(self.join(board, fast, shortest)?))
    }

    /// Returns what there is to say of a board without a solution, if it has none.
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

    /// Solves a hard board, the one at a place, with all threads of the current pool, or of each rank's pool. None of a
    /// board that was left alone because somebody interrupted.
    pub fn finish(
        &self,
        at: usize,
        tried: Tried,
        ranks: Option<Ranks<'_>>,
    ) -> Result<Option<Solved>> {
        let (pending, fast) = match tried {
            Tried::Done(solved) if self.is_left(&solved) => return Ok(None),
            Tried::Done(solved) => {
                self.note(at, &solved)?;
                return Ok(Some(solved));
            }
            Tried::Hard(pending, _) if interrupt::asked() && ranks.is_none() => {
                if let Some(log) = self.log.as_ref().filter(|log| log.found(at).is_none()) {
                    log.append(&Entry::pending(at, &pending))?;
                }
                return Ok(None);
            }
            Tried::Hard(pending, fast) => (pending, fast),
        };
        let board = pending.board().clone();
        let (mut stages, mut earlier) = (vec![pending.stage()], 0);
        let found = self.log.as_ref().and_then(|log| log.found(at));
        if let Some(Logged::Pending { stages: known, .. }) = found {
            (stages, earlier) = (known.clone(), pending.nodes());
        }
        let shortest = match &self.oracle {
            Some(Oracle::Search(solver)) => {
                let seconds = pending.seconds();
                let watch = self.watch(at, seconds, &stages);
                if found.is_none() {
                    watch.log(&Entry::pending(at, &pending));
                }
                let answer = match ranks {
                    Some(ranks) => solver.finish_together(pending, ranks, &watch, &watch)?,
                    None => solver.finish_recorded(pending, &watch, &watch)?,
                };
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
        interrupt::asked() && searched && answer.moves.is_none() && !ended
    }

    fn watch(&self, at: usize, seconds: f64, stages: &[Stage]) -> Watch<'_> {
        let log = self.log.as_ref();
        Watch::new((self.progress, self.limits, log), at, seconds, stages)
    }

    /// Logs an answer that the log does not have.
    fn note(&self, at: usize, solved: &Solved) -> Result<()> {
        if let (Some(log), Ok(answer)) = (&self.log, &solved.answer)
            && !matches!(log.found(at), Some(Logged::Solved(_)))
            && let Some(entry) = Entry::solved(at, &solved.board, answer)
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
            Some(most) if answer.nodes > most => Answer {
                moves: None,
                ..answer
            },
            _ => answer,
        });
        let optimum = shortest.as_ref().and_then(|answer| answer.moves.as_ref());
        let metric = match &self.oracle {
            Some(Oracle::Table(table)) => table.subject().metric().unwrap_or_default(),
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
        let stop = StopWhen(|| interrupt::asked() || begun.elapsed() >= time);
        match certify(board, self.goal, length, &stop) {
            Ok(certificate) => Ok(Ok(certificate.conflicts)),
            Err(error @ SolveError::Undecided { .. }) => Ok(Err(error.to_string())),
            Err(error) => Err(Error::from(error).into()),
        }
    }
}

/// The answer of a solver that does not search.
fn known(moves: Option<Moves>, begun: Instant) -> Answer {
    Answer {
        at_least: 0,
        moves,
        nodes: 0,
        seconds: begun.elapsed().as_secs_f64(),
    }
}
