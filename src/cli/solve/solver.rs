//! How boards are solved: fast, shortest, or both.
//!
//! Invariant: every thread solves easy boards of its own; a hard one is handed back, to be finished on all
//! threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use tilewave::Error;
use tilewave::progress::{Phase, StopWhen};
use tilewave::puzzle::tiles::{Board, Metric, Moves};
use tilewave::solve::{
    Answer, Attempt, Constructive, Optimal, Pending, SolveError, certify, explain,
};
use tilewave::table::DistanceTable;

use super::super::interrupt;
use super::super::thresholds::Thresholds;
use super::answer::Solved;
use super::progress::Progress;

/// Where shortest solutions come from.
pub enum Oracle {
    /// A search over pattern databases.
    Search(Box<Optimal>),
    /// A walk through a distance table.
    Table(Box<DistanceTable>),
}

/// When to give up.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Nodes of a board.
    pub nodes: Option<u64>,
    /// Time for a board.
    pub time: Option<Duration>,
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
}

/// What one thread made of a board.
pub enum Tried {
    /// All that was asked for.
    Done(Solved),
    /// A board that is worth all threads, and its fast solution if one was asked for.
    Hard(Pending, Option<Answer>),
}

impl Solver<'_> {
    /// Solves one board on the current thread, unless it is too hard for one.
    pub fn attempt(&self, board: &Board) -> Result<Tried> {
        if let Some(why) = explain(board, self.goal)? {
            self.progress.done();
            return Ok(Tried::Done(Solved {
                board: board.clone(),
                answer: Err(Box::new(why)),
                metric: Metric::Stm,
                optimal: false,
                optimum: None,
                proof: None,
            }));
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
                let attempt = solver.attempt(board, &self.watch(0.0, 0));
                match attempt? {
                    Attempt::Answered(answer) => Some(answer),
                    Attempt::Hard(pending) => return Ok(Tried::Hard(pending, fast)),
                }
            }
        };
        Ok(Tried::Done(self.join(board, fast, shortest)?))
    }

    /// Solves a hard board with all threads of the current pool.
    pub fn finish(&self, tried: Tried) -> Result<Solved> {
        let (pending, fast) = match tried {
            Tried::Done(solved) => return Ok(solved),
            Tried::Hard(pending, fast) => (pending, fast),
        };
        let board = pending.board().clone();
        let shortest = match &self.oracle {
            Some(Oracle::Search(solver)) => {
                let watch = self.watch(pending.seconds(), pending.nodes());
                Some(solver.finish(pending, &watch)?)
            }
            Some(Oracle::Table(_)) | None => None,
        };
        self.join(&board, fast, shortest)
    }

    /// Tells a search when to give up; `spent` seconds were spent on the board before, and `before` nodes.
    fn watch(&self, spent: f64, before: u64) -> Watch<'_> {
        Watch {
            progress: self.progress,
            limits: self.limits,
            begun: Instant::now(),
            spent,
            nodes: AtomicU64::new(0),
            thresholds: Thresholds::new(before),
        }
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

/// Shows the search of a board, and ends it at its limits.
struct Watch<'a> {
    progress: &'a Progress,
    limits: Limits,
    begun: Instant,
    /// Seconds spent on the board before.
    spent: f64,
    nodes: AtomicU64,
    thresholds: Thresholds,
}

impl tilewave::Progress for Watch<'_> {
    fn progress(&self, phase: Phase, nodes: u64, _: u64) {
        self.nodes.fetch_max(nodes, Ordering::Relaxed);
        if let Phase::Search(threshold) = phase {
            self.thresholds.note(threshold, nodes);
        }
        self.progress.nodes(nodes, &self.thresholds);
    }

    fn interrupted(&self) -> bool {
        let seconds = || self.begun.elapsed().as_secs_f64() + self.spent;
        let Limits { nodes, time } = self.limits;
        interrupt::asked()
            || nodes.is_some_and(|most| self.nodes.load(Ordering::Relaxed) >= most)
            || time.is_some_and(|time| seconds() >= time.as_secs_f64())
    }
}
