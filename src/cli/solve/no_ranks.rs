//! The ranks of a program without MPI: none.

use tilewave::solve::LogLine;
use tilewave::{Board, Optimal};

use crate::cli::solve::answer::Solved;
use crate::cli::solve::boards::Arrivals;
use crate::cli::solve::solver::Solver;
use crate::cli::{Failure, Result};

/// There is none.
pub enum Team {}

impl Team {
    /// Returns none.
    pub fn join() -> Result<Option<Team>> {
        Ok(None)
    }

    pub fn is_first(&self) -> bool {
        match *self {}
    }

    pub fn threads(&self) -> usize {
        match *self {}
    }

    pub fn fail(&self, _: &Failure) -> ! {
        match *self {}
    }

    pub fn boards(&self, _: impl FnOnce() -> Result<Arrivals>) -> Result<Arrivals> {
        match *self {}
    }

    pub fn in_turn<T>(&self, _: impl FnOnce() -> Result<T>) -> Result<T> {
        match *self {}
    }

    pub fn broadcast(&self, _: Vec<LogLine>) -> Result<Vec<LogLine>> {
        match *self {}
    }

    pub fn compare(&self, _: &Optimal) -> Result<()> {
        match *self {}
    }

    pub fn solve(
        &self,
        _: &Solver<'_>,
        _: &[Board],
        _: &rayon::ThreadPool,
        _: impl FnMut(Solved) -> Result<()>,
    ) -> Result<()> {
        match *self {}
    }
}
