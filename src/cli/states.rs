//! `tilewave state`: a state's place in the state space, or the state in a place.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tilewave::puzzle::families::{self, Family};
use tilewave::puzzle::{Board, Coordinates, Metric, Size, State, StateSpace};
use tilewave::random;
use tilewave::report::{bytes, counted, thousands};
use tilewave::search;
use tilewave::solve::Scrambler;
use tilewave::table::DistanceTable;

use crate::cli::failure::refuse;
use crate::cli::options::{GoalOption, OutputFormat, OutputOptions, Running, count};
use crate::cli::output::print;
use crate::cli::progress::SearchProgress;
use crate::cli::puzzle::{Counted, puzzle};

/// Rank or unrank a state: parity, solvability, line, cell, state id, and its depth from a table.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave state '8 6 7/2 5 4/3 0 1'\n  tilewave state --size 3x4 --id 12345\n  \
                  tilewave state --puzzle pancake:5 '3 2 1 4 5'"
)]
pub struct StateArgs {
    /// The board: rows by '/', tiles by spaces, blank 0; or the elements of another puzzle's state by spaces.
    #[arg(value_name = "STATE", required_unless_present_any = ["id", "line"], conflicts_with_all = ["id", "line", "cell"])]
    state: Option<String>,

    /// Size of a board, for a flat list of tiles or for a number.
    #[arg(long, value_name = "SIZE", conflicts_with = "puzzle")]
    size: Option<Size>,

    /// Puzzle of the state: a board (3x4), a family (topspin:12,4) or a file (dino.gap) [default: that of --table].
    #[arg(long, value_name = "PUZZLE", value_parser = puzzle)]
    puzzle: Option<String>,

    #[command(flatten)]
    counted: Counted,

    /// Distance table (tilewave table) to read the depth from.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,

    /// The state with this state id.
    #[arg(long, conflicts_with_all = ["line", "cell"], value_parser = count::<u64>(), allow_negative_numbers = true)]
    id: Option<u64>,

    /// The state with this line (rank among the even lines, odd ones behind them).
    #[arg(long, requires = "cell", value_parser = count::<u64>(), allow_negative_numbers = true)]
    line: Option<u64>,

    /// The state with this cell (path index of the blank).
    #[arg(long, requires = "line", value_parser = count::<usize>(), allow_negative_numbers = true)]
    cell: Option<usize>,

    #[command(flatten)]
    output: OutputOptions,
}

/// What is said of a state.
struct Facts {
    space: StateSpace,
    state: String,
    /// Why it cannot be solved, if it cannot.
    refused: Option<String>,
    even: bool,
    line: Option<u64>,
    cell: usize,
    id: Option<u64>,
    depth: Option<usize>,
}

impl StateArgs {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let table = self.table.as_ref().map(|path| DistanceTable::open(path));
        let table = table.transpose()?;
        let facts = match self.other(table.as_ref())? {
            Some(space) => self.of_puzzle(space, table.as_ref())?,
            None => self.of_board(table.as_ref())?,
        };
        let columns = "board,size,goal,solvable,parity,line,cell,state_id,depth";
        let columns = match facts.space.size() {
            Some(_) => columns.into(),
            None => columns.replace("board,size", "state,puzzle"),
        };
        let words = || facts.text();
        let text = self.output.format.result(facts.figures(), &columns, words);
        self.output.reserve()?.write(&text)
    }

    /// The puzzle of the state, unless it is a board.
    fn other(&self, table: Option<&DistanceTable>) -> Result<Option<StateSpace>> {
        let named = self.puzzle.as_ref().map(|word| self.counted.space(word));
        let named = named.transpose()?;
        let of_table = table.map(DistanceTable::space);
        if let (Some(named), Some(of_table)) = (&named, of_table)
            && named != of_table
        {
            refuse!("the table is one of {of_table}: leave out --puzzle");
        }
        let space = of_table.cloned().or(named);
        let other = space.filter(|space| space.size().is_none());
        let goal = self.counted.goal.is_given();
        if let Some(space) = &other
            && (goal || self.counted.metric.is_some() || self.size.is_some())
        {
            refuse!("--goal, --metric and --size are for boards, {space} is none");
        }
        Ok(other)
    }

    fn of_puzzle(&self, space: StateSpace, table: Option<&DistanceTable>) -> Result<Facts> {
        // A table knows how its states are read.
        let space = match table {
            Some(table) => table.space().clone(),
            None => space.clone(),
        };
        let state = match &self.state {
            Some(text) => space.parse(text)?,
            None => self.unrank(&space)?,
        };
        let text = space.text(state);
        let definition = space.definition().expect("boards have a method of their own");
        let arrangement = definition.arrangement(&text)?;
        let reached = space.reaches(state);
        let refused = (!reached).then(|| "no sequence of moves leads there".to_string());
        let depth = table.filter(|_| reached).map(|table| table.depth_of(state));
        Ok(Facts {
            refused,
            even: arrangement.is_even(),
            line: Some(state.line),
            cell: state.cell,
            id: Some(space.id(state)),
            depth: depth.transpose()?.flatten(),
            state: text,
            space,
        })
    }

    fn of_board(&self, table: Option<&DistanceTable>) -> Result<Facts> {
        let named = self.puzzle.as_ref().map(|word| word.parse::<Size>());
        let named = named.transpose().map_err(tilewave::Error::from)?;
        let of_table = table.map(DistanceTable::goal).transpose()?;
        if let (Some(metric), Some(table)) = (self.counted.metric, table)
            && table.space().metric() != Some(metric)
        {
            refuse!(
                "the table is one of {}: leave out --metric, or make one for yours with tilewave table",
                table.space()
            );
        }
        let size = self.size.or(named).or(of_table.map(Board::size));
        let goal_option = &self.counted.goal;
        let board = match &self.state {
            Some(text) => Board::parse(text, size)?,
            None => {
                let Some(size) = size else {
                    refuse!("a number needs its board: give --size");
                };
                let goal = goal_option.board_of(table, size)?;
                let space = StateSpace::of_board(goal);
                space.numbered().map_err(tilewave::Error::from)?;
                let board = space.board(self.unrank(&space)?);
                board.expect("the space is that of a board")
            }
        };
        let goal = goal_option.board_of(table, board.size())?;
        let frame = Coordinates::new(goal.clone());
        let (_, cell) = frame.encode(&board)?;
        let refused = frame.encode_solvable(&board).err();
        // Boards of more than 20 cells have no 64-bit rank, but everything else.
        let space = StateSpace::of_board(goal.clone());
        let state = space.state(&board).ok();
        let depth = table.filter(|_| refused.is_none());
        let metric = table.and_then(|table| table.space().metric());
        let metric = metric.or(self.counted.metric).unwrap_or_default();
        Ok(Facts {
            even: refused.is_none(),
            line: state.map(|state| state.line),
            cell,
            id: state.map(|state| space.id(state)),
            depth: depth.map(|table| table.depth(&board)).transpose()?.flatten(),
            refused: refused.map(|reason| reason.to_string()),
            state: board.to_string(),
            space: StateSpace::of_board(goal).in_metric(metric),
        })
    }

    /// The state with the number asked for.
    fn unrank(&self, space: &StateSpace) -> Result<State> {
        let cells = space.moves().cells();
        let state = match (self.id, self.line, self.cell) {
            (Some(id), _, _) => space.from_id(id),
            (None, Some(line), Some(cell)) => {
                (line < space.lines() && cell < cells).then_some(State { line, cell })
            }
            _ => None,
        };
        let Some(state) = state else {
            let board = space.size().is_some();
            let (article, kind) = if board { ("a ", " board") } else { ("", "") };
            refuse!(
                "there is no such state: {article}{}{kind} has lines 0 to {}, cells 0 to {}, ids 0 to {}",
                space,
                space.lines() - 1,
                cells - 1,
                space.lines() * cells as u64 - 1
            );
        };
        Ok(state)
    }
}

impl Facts {
    fn parity(&self) -> &'static str {
        if self.even { "even" } else { "odd" }
    }

    fn figures(&self) -> Value {
        let space = &self.space;
        let size = space.size().map(|size| size.to_string());
        json!({
            "board": size.as_ref().map(|_| &self.state),
            "size": size,
            "puzzle": space.name(),
            "state": self.state,
            "metric": space.metric().map(Metric::name),
            "goal": space.goal_text(),
            "solvable": self.refused.is_none(),
            "parity": self.parity(),
            "line": self.line,
            "cell": self.cell,
            "state_id": self.id,
            "depth": self.depth,
        })
    }

    fn text(&self) -> String {
        let number = |n: Option<u64>| n.map(|n| n.to_string());
        let refused = self.refused.as_ref();
        let solvable = refused.map_or("yes".into(), |reason| format!("no: {reason}"));
        let other = self.space.definition().map(|of| of.name().to_string());
        let facts = [
            ("puzzle", other.clone()),
            (if other.is_some() { "state" } else { "board" }, Some(self.state.clone())),
            ("goal", Some(self.space.goal_text())),
            ("metric", self.depth.and_then(|_| self.space.metric()).map(|m| m.name().into())),
            ("parity", Some(self.parity().into())),
            ("solvable", Some(solvable)),
            ("line", number(self.line)),
            ("cell", Some(self.cell.to_string())),
            ("state id", number(self.id)),
            ("depth", number(self.depth.map(|depth| depth as u64))),
        ];
        let fact = |(name, value): (&str, Option<String>)| Some(format!("{name:<10}{}\n", value?));
        facts.into_iter().filter_map(fact).collect()
    }
}

// `tilewave antipodes`: the states that are farthest from the goal.

/// List the boards, or states of another puzzle, at the greatest depth, with their ranks.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave antipodes 3x3")]
pub struct AntipodesArgs {
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
    output: OutputOptions,
}

impl AntipodesArgs {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let space = self.counted.space(&self.puzzle)?;
        let mut search = self.running.search(space)?;
        search.max_depth = self.max_depth;
        search.keep_last = self.limit;
        let destination = self.output.reserve()?;
        let outcome = search::run(&search, &SearchProgress::new())?;

        let space = &outcome.space;
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
                [board, id.to_string(), state.line.to_string(), state.cell.to_string()]
            })
            .collect();
        let noun = space.size().map_or("state", |_| "board");
        let text = match self.output.format {
            OutputFormat::Json => {
                let column = |f: &dyn Fn(&State) -> u64| last.iter().map(f).collect::<Vec<u64>>();
                let figures = json!({
                    "board": space.size().map(|size| size.to_string()),
                    "puzzle": space.name(),
                    "goal": outcome.space.goal_text(),
                    "depth": depth,
                    "count": count,
                    "boards": rows.iter().map(|[board, ..]| board).collect::<Vec<_>>(),
                    "state_ids": column(&|&s| space.id(s)),
                    "lines": column(&|s| s.line),
                    "cells": column(&|s| s.cell as u64),
                });
                OutputFormat::Json.result(figures, "", String::new)
            }
            OutputFormat::Csv => {
                let rows = rows.iter().map(|row| row.join(",") + "\n");
                format!("{noun},state_id,line,cell\n{}", rows.collect::<String>())
            }
            OutputFormat::Text => {
                let boards = counted(count, noun);
                let mut text = format!("{space}: {boards} at depth {depth}");
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

// `tilewave scramble`: random boards that can be solved.

/// Boards that are written at once.
const BATCH: u64 = 4096;

/// Print random boards that can reach the goal, all equally likely, one per line.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave scramble 4x4 --count 5 --seed 1")]
pub struct ScrambleArgs {
    /// Size of the boards, rows x columns.
    size: Size,

    /// Number of boards.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count::<u64>(), allow_negative_numbers = true)]
    count: u64,

    /// Number that determines the boards, on every machine the same [default: another one each time, logged].
    #[arg(long, value_name = "N", value_parser = count::<u64>(), allow_negative_numbers = true)]
    seed: Option<u64>,

    #[command(flatten)]
    goal: GoalOption,
}

impl ScrambleArgs {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let goal = self.goal.board(self.size)?;
        let seed = match self.seed {
            Some(seed) => seed,
            None => {
                let seed =
                    random::seed().context("a seed cannot be drawn: give one with --seed")?;
                tracing::info!("seed {seed}");
                seed
            }
        };
        let mut boards = Scrambler::new(goal, seed);
        let mut left = self.count;
        while left > 0 {
            let batch = left.min(BATCH);
            let lines = boards.by_ref().take(batch as usize);
            print(&lines.map(|board| format!("{board}\n")).collect::<String>())?;
            left -= batch;
        }
        Ok(())
    }
}

// `tilewave puzzles`: the families of puzzles.

/// List the families of puzzles: parameters, states, and the memory of a search.
#[derive(clap::Args)]
#[command(after_help = "Examples: tilewave puzzles\n          tilewave bfs topspin:12,4")]
pub struct PuzzlesArgs {
    #[command(flatten)]
    output: OutputOptions,
}

/// What is said of a family.
struct FamilyRow {
    family: &'static Family,
    /// States of the example.
    states: u64,
    /// Bytes that its search takes.
    memory: u64,
}

impl PuzzlesArgs {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let rows = families::ALL.into_iter().map(FamilyRow::of);
        let rows = rows.collect::<Result<Vec<FamilyRow>, tilewave::Error>>()?;
        let format = self.output.format;
        let columns = "family,parameters,states,example,example_states,memory_bytes,description";
        let text = match format {
            OutputFormat::Json => {
                let families: Vec<Value> = rows.iter().map(FamilyRow::figures).collect();
                format.result(json!({ "families": families }), "", String::new)
            }
            OutputFormat::Csv | OutputFormat::Text => {
                let line = |row: &FamilyRow| format.line(row.figures(), columns, || row.text());
                format.heading(columns) + &rows.iter().map(line).collect::<String>()
            }
        };
        destination.write(&text)
    }
}

impl FamilyRow {
    fn of(family: &'static Family) -> Result<FamilyRow, tilewave::Error> {
        let space = StateSpace::of_puzzle(families::parse(family.example)?);
        let plan = search::plan(&space, None)?;
        Ok(FamilyRow { family, states: plan.states, memory: plan.array_bytes })
    }

    fn figures(&self) -> Value {
        json!({
            "family": self.family.name,
            "parameters": self.family.parameters,
            "states": self.family.states,
            "example": self.family.example,
            "example_states": self.states,
            "memory_bytes": self.memory,
            "description": self.family.description,
        })
    }

    fn text(&self) -> String {
        let Family { name, parameters, states, example, description, .. } = self.family;
        format!(
            "{:<18}{description}\n{:18}{states} states; {example}: {} states, {} of memory\n",
            format!("{name}:{parameters}"),
            "",
            thousands(self.states),
            bytes(self.memory),
        )
    }
}
