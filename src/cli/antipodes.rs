//! `tilewave antipodes`: the boards that are farthest from the goal.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;
use tilewave::bfs::{self, StateSpace};
use tilewave::puzzle::tiles::Size;
use tilewave::report::{counted, one_key_per_line, thousands};

use super::Talk;
use super::options::{Format, GoalOption, Output, Running};
use super::progress::Progress;
use super::values::count;

/// List the boards at the greatest depth, with their ranks.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave antipodes 3x3")]
pub struct Args {
    /// Size of the board, rows x columns.
    board: Size,

    #[command(flatten)]
    goal: GoalOption,

    /// List the boards at this depth instead.
    #[arg(long, value_name = "DEPTH", value_parser = count::<usize>(), allow_negative_numbers = true)]
    max_depth: Option<usize>,

    /// List at most this many boards.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = count::<usize>(), allow_negative_numbers = true)]
    limit: usize,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    output: Output,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, talk: Talk) -> Result<ExitCode> {
        let size = self.board;
        let goal = self.goal.board(size)?;
        let space = StateSpace::new(goal.clone())?;
        let mut search = self.running.search(goal)?;
        search.max_depth = self.max_depth;
        search.keep_last = self.limit;
        let destination = self.output.reserve()?;
        let outcome = bfs::run(&search, &Progress::new(talk))?;

        let deepest = outcome.counts.len() - 1;
        // Beyond the diameter there is nothing, and the deepest boards are no answer.
        let depth = self.max_depth.unwrap_or(deepest);
        let beyond = depth > deepest;
        let count = if beyond { 0 } else { outcome.counts[depth] };
        let last = if beyond { &[][..] } else { &outcome.last };
        let states = last
            .iter()
            .map(|&state| (space.board(state).to_string(), state));
        let states: Vec<_> = states.collect();
        let text = match self.output.format {
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
                let which = match (beyond, outcome.complete) {
                    (true, _) => format!(": the diameter is {deepest}\n"),
                    (false, true) => ", the diameter\n\n".into(),
                    (false, false) => "\n\n".into(),
                };
                let mut text = format!(
                    "{size}: {} at depth {depth}{which}",
                    counted(count, "board")
                );
                if beyond {
                    destination.write(&text)?;
                    return Ok(ExitCode::SUCCESS);
                }
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
