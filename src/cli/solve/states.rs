//! States of puzzles other than boards: shortest solutions from a distance table, in generators.

use std::{io::BufRead, time::Instant};

use serde::Serialize;
use tilewave::{DistanceTable, report::duration};

use crate::cli::{Context, Failure, Figures, OutputOptions, Result, complain, refuse};

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
            _ => format!("{state}  not solvable: no moves of {} lead to this state\n", self.puzzle),
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
pub fn solve(table: &DistanceTable, states: &[String], output: &OutputOptions) -> Result<()> {
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
