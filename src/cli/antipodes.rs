//! `tilewave antipodes`: the states that are farthest from the goal.

use anyhow::Result;
use serde_json::json;
use tilewave::bfs::{self, State, StateSpace};
use tilewave::report::{counted, thousands};

use super::options::{Format, Output, Running};
use super::progress::Progress;
use super::puzzle::{Counted, puzzle};
use super::values::count;

/// List the boards, or states of another puzzle, at the greatest depth, with their ranks.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave antipodes 3x3")]
pub struct Args {
    /// Size of a board (3x4), family of puzzles (topspin:12,4) or file that defines one (dino.gap).
    #[arg(value_parser = puzzle)]
    puzzle: String,

    #[command(flatten)]
    counted: Counted,

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
    pub fn run(&self) -> Result<()> {
        let subject = self.counted.subject(&self.puzzle)?;
        let space = StateSpace::of(subject.clone())?;
        let mut search = self.running.search(subject)?;
        search.max_depth = self.max_depth;
        search.keep_last = self.limit;
        let destination = self.output.reserve()?;
        let outcome = bfs::run(&search, &Progress::new())?;

        let subject = &outcome.subject;
        let deepest = outcome.counts.len() - 1;
        // Beyond the diameter there is nothing, and the deepest boards are no answer.
        let depth = self.max_depth.unwrap_or(deepest);
        let beyond = depth > deepest;
        let count = if beyond { 0 } else { outcome.counts[depth] };
        let last = if beyond { &[][..] } else { &outcome.last };
        let rows: Vec<[String; 4]> = last
            .iter()
            .map(|&state| {
                let (board, id) = (space.text(state), space.id(state));
                [
                    board,
                    id.to_string(),
                    state.line.to_string(),
                    state.cell.to_string(),
                ]
            })
            .collect();
        let noun = subject.size().map_or("state", |_| "board");
        let text = match self.output.format {
            Format::Json => {
                let column = |f: &dyn Fn(&State) -> u64| last.iter().map(f).collect::<Vec<u64>>();
                let figures = json!({
                    "board": subject.size().map(|size| size.to_string()),
                    "puzzle": subject.name(),
                    "goal": outcome.subject.goal(),
                    "depth": depth,
                    "count": count,
                    "boards": rows.iter().map(|[board, ..]| board).collect::<Vec<_>>(),
                    "state_ids": column(&|&s| space.id(s)),
                    "lines": column(&|s| s.line),
                    "cells": column(&|s| s.cell as u64),
                });
                Format::Json.result(figures, "", String::new)
            }
            Format::Csv => {
                let rows = rows.iter().map(|row| row.join(",") + "\n");
                format!("{noun},state_id,line,cell\n{}", rows.collect::<String>())
            }
            Format::Text => {
                let boards = counted(count, noun);
                let mut text = format!("{subject}: {boards} at depth {depth}");
                text += &match (beyond, outcome.complete) {
                    (true, _) => format!(": the diameter is {deepest}\n"),
                    (false, true) => ", the diameter\n\n".into(),
                    (false, false) => "\n\n".into(),
                };
                if !beyond {
                    let width = rows.iter().map(|[board, ..]| board.len()).max();
                    let width = width.unwrap_or(0);
                    let line = |[board, id, line, cell]: &[String; 4]| {
                        format!("{board:width$}  {id:>16}  {line:>14}  {cell:>4}\n")
                    };
                    text += &line(&[noun, "state id", "line", "cell"].map(String::from));
                    text.extend(rows.iter().map(line));
                }
                match count - rows.len() as u64 {
                    0 => text,
                    more => {
                        text + &format!("\n{} more; raise --limit to see them\n", thousands(more))
                    }
                }
            }
        };
        destination.write(&text)
    }
}
