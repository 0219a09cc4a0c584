//! States of puzzles other than boards: shortest solutions from a distance table, in generators.

use std::io::BufRead;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::json;
use tilewave::report::duration;
use tilewave::table::DistanceTable;

use super::super::failure::{Exit, complain, refuse};
use super::super::options::{Format, Output};

/// The columns of CSV.
const COLUMNS: &str = "state,solvable,length,moves,seconds,optimal";

/// Writes a shortest solution of each state: of those given, or of one per line of standard input as they come.
pub fn solve(table: &DistanceTable, states: &[String], output: &Output) -> Result<()> {
    // What is wrong on the command line is said before anything is written.
    for state in states {
        table.space().parse(state)?;
    }
    let mut destination = output.reserve()?;
    destination.add(&output.format.heading(COLUMNS))?;
    let mut all_solved = true;
    let mut answer = |state: &str| -> Result<()> {
        let (text, solved) = line(table, state, output.format)?;
        all_solved &= solved;
        destination.add(&text)
    };
    if !states.is_empty() {
        states.iter().try_for_each(|state| answer(state))?;
        destination.finish()?;
        return Ok(Exit::unless(all_solved)?);
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
    Ok(Exit::unless(all_solved && !refused)?)
}

/// The line of a state, and whether it was solved.
fn line(table: &DistanceTable, text: &str, format: Format) -> Result<(String, bool)> {
    let begun = Instant::now();
    let space = table.space();
    let state = space.parse(text)?;
    let names = table.names(state)?;
    let seconds = begun.elapsed().as_secs_f64();
    let text = space.text(state);
    let moves = names.as_ref().map(|names| names.join(" "));
    let length = names.as_ref().map(Vec::len);
    let solved = length.is_some();
    let figures = json!({
        "board": null,
        "puzzle": table.subject().name(),
        "state": text,
        "solvable": solved,
        "length": length,
        "moves": moves,
        "nodes": 0,
        "seconds": seconds,
        "optimal": solved,
    });
    let words = || match (&moves, length) {
        (Some(moves), Some(length)) => {
            let time = duration(seconds);
            format!("{text}  {length} moves  {moves}  {time}\n")
        }
        _ => format!("{text}  not solvable: no sequence of moves leads there\n"),
    };
    Ok((format.line(figures, COLUMNS, words), solved))
}
