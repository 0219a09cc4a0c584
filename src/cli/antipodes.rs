//! `tilewave antipodes`: the boards that are farthest from the goal.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;
use tilewave::bfs::{self, StateSpace};
use tilewave::report::{one_key_per_line, thousands};

use super::Talk;
use super::options::{Format, Running, goal, size};
use super::output::Output;
use super::progress::Progress;

/// List the boards at the greatest depth, with their ranks.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave antipodes 3x3")]
pub struct Args {
    /// Size of the board, rows x columns.
    board: String,

    /// Goal: last, first, blank=CELL (row-major from 0) or a board.
    #[arg(long, default_value = "last")]
    goal: String,

    /// List the boards at this depth instead.
    #[arg(long, value_name = "DEPTH")]
    max_depth: Option<usize>,

    /// List at most this many boards.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    limit: usize,

    /// How to write the result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    output: Output,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, talk: Talk) -> Result<ExitCode> {
        let size = size(&self.board)?;
        let goal = goal(&self.goal, size)?;
        let space = StateSpace::new(goal.clone())?;
        let mut search = self.running.search(goal)?;
        search.max_depth = self.max_depth;
        search.keep_last = self.limit;
        let destination = self.output.reserve()?;
        let outcome = bfs::run(&search, &Progress::new(talk))?;

        let depth = outcome.counts.len() - 1;
        let count = outcome.counts[depth];
        let states = outcome
            .last
            .iter()
            .map(|&state| (space.board(state).to_string(), state));
        let states: Vec<_> = states.collect();
        let text = match self.format {
            Format::Json => {
                let boards: Vec<&String> = states.iter().map(|(board, _)| board).collect();
                let column = |f: &dyn Fn(&bfs::State) -> u64| {
                    states
                        .iter()
                        .map(|(_, state)| f(state))
                        .collect::<Vec<u64>>()
                };
                one_key_per_line(&json!({
                    "board": size.to_string(),
                    "goal": outcome.goal.to_string(),
                    "depth": depth,
                    "count": count,
                    "boards": boards,
                    "state_ids": column(&|&s| space.id(s)),
                    "lines": column(&|s| s.line),
                    "cells": column(&|s| s.cell as u64),
                    "version": env!("CARGO_PKG_VERSION"),
                }))?
            }
            Format::Csv => {
                let mut text = String::from("board,state_id,line,cell\n");
                for (board, state) in &states {
                    writeln!(
                        text,
                        "{board},{},{},{}",
                        space.id(*state),
                        state.line,
                        state.cell
                    )?;
                }
                text
            }
            Format::Text => {
                let which = if outcome.complete {
                    ", the diameter"
                } else {
                    ""
                };
                let plural = if count == 1 { "" } else { "s" };
                let count_text = thousands(count);
                let mut text =
                    format!("{size}: {count_text} board{plural} at depth {depth}{which}\n\n");
                let width = states
                    .iter()
                    .map(|(board, _)| board.len())
                    .max()
                    .unwrap_or(0);
                writeln!(
                    text,
                    "{:width$}  {:>16}  {:>14}  cell",
                    "board", "state id", "line"
                )?;
                for (board, state) in &states {
                    let (id, line, cell) = (space.id(*state), state.line, state.cell);
                    writeln!(text, "{board:width$}  {id:>16}  {line:>14}  {cell:>4}")?;
                }
                let more = count - states.len() as u64;
                if more > 0 {
                    writeln!(
                        text,
                        "\n{} more; raise --limit to see them",
                        thousands(more)
                    )?;
                }
                text
            }
        };
        destination.write(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}
