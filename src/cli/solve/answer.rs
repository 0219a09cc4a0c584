//! One line per board, and a summary.

use std::fmt::Write;

use anyhow::Result;
use serde_json::json;
use tilewave::puzzle::tiles::{Board, MoveStyle};
use tilewave::report::html::Solution;
use tilewave::report::{duration, rate, thousands};
use tilewave::solve::Answer;

use super::super::options::Format;

/// What became of a board.
pub struct Solved {
    board: Board,
    answer: Result<Answer, String>,
    optimal: bool,
}

impl Solved {
    /// Returns the result of a search.
    pub fn new(board: Board, answer: Answer, optimal: bool) -> Solved {
        Solved {
            board,
            answer: Ok(answer),
            optimal,
        }
    }

    /// Returns the result for a board that cannot be solved.
    pub fn refused(board: Board, reason: String) -> Solved {
        Solved {
            board,
            answer: Err(reason),
            optimal: false,
        }
    }

    /// Returns what a page shows of it, if it was solved.
    pub fn page(&self, goal: &Board) -> Option<Solution> {
        let moves = self.answer.as_ref().ok()?.moves.clone()?;
        Some(Solution {
            start: self.board.clone(),
            goal: goal.clone(),
            moves,
            optimal: self.optimal,
            label: None,
        })
    }
}

/// How answers are written.
#[derive(Clone, Copy)]
pub struct Wording {
    /// What the letters say.
    pub style: MoveStyle,
    /// Whether every move is written.
    pub long: bool,
    /// The format.
    pub format: Format,
}

impl Wording {
    /// Returns what comes before the first line.
    pub fn heading(self) -> String {
        match self.format {
            Format::Csv => "board,solvable,length,moves,nodes,seconds,optimal\n".into(),
            _ => String::new(),
        }
    }

    /// Returns the line of a board.
    pub fn line(self, solved: &Solved) -> Result<String> {
        let board = &solved.board;
        let answer = solved.answer.as_ref();
        let moves = answer.ok().and_then(|answer| answer.moves.as_ref());
        let letters = moves.map(|moves| {
            if self.long {
                moves.long(self.style)
            } else {
                moves.short(self.style)
            }
        });
        let length = moves.map(|moves| moves.len());
        let (nodes, seconds) = answer.map_or((0, 0.0), |answer| (answer.nodes, answer.seconds));
        let optimal = solved.optimal && moves.is_some();
        Ok(match self.format {
            Format::Json => {
                let mut value = json!({
                    "board": board.to_string(),
                    "solvable": answer.is_ok(),
                    "length": length,
                    "moves": letters,
                    "nodes": nodes,
                    "seconds": seconds,
                    "optimal": optimal,
                });
                match answer {
                    Err(reason) => value["reason"] = json!(reason),
                    Ok(answer) if moves.is_none() => value["at_least"] = json!(answer.at_least),
                    Ok(_) => {}
                }
                format!("{value}\n")
            }
            Format::Csv => format!(
                "{board},{},{},{},{nodes},{seconds},{optimal}\n",
                answer.is_ok(),
                length.map_or(String::new(), |length| length.to_string()),
                letters.unwrap_or_default(),
            ),
            Format::Text => match (answer, length, letters) {
                (Err(reason), _, _) => format!("{board}  not solvable: {reason}\n"),
                (Ok(_), Some(length), Some(letters)) => {
                    let mut line = format!("{board}  {length} moves  {letters}");
                    if solved.optimal {
                        write!(line, "  {} nodes", thousands(nodes))?;
                    }
                    format!("{line}  {}\n", duration(seconds))
                }
                (Ok(answer), _, _) => format!(
                    "{board}  given up after {} nodes: at least {} moves  {}\n",
                    thousands(nodes),
                    answer.at_least,
                    duration(seconds)
                ),
            },
        })
    }

    /// Returns what comes after the last line.
    pub fn summary(self, totals: &Totals, seconds: f64) -> String {
        if self.format != Format::Text || totals.boards < 2 {
            return String::new();
        }
        let Totals {
            boards,
            solved,
            moves,
            nodes,
        } = *totals;
        let mut text = format!(
            "\n{} of {} boards solved",
            thousands(solved),
            thousands(boards)
        );
        if solved > 0 {
            text += &format!(", {:.2} moves on average", moves as f64 / solved as f64);
        }
        if nodes > 0 {
            let mean = nodes / boards.max(1);
            text += &format!(", {} nodes on average", thousands(mean));
        }
        let speed = if nodes > 0 {
            format!("{} nodes/s", rate(nodes as f64 / seconds))
        } else {
            format!("{} boards/s", rate(boards as f64 / seconds))
        };
        text + &format!("\n{}, {speed}\n", duration(seconds))
    }
}

/// Sums over all boards.
#[derive(Default)]
pub struct Totals {
    boards: u64,
    solved: u64,
    moves: u64,
    nodes: u64,
}

impl Totals {
    /// Adds a board.
    pub fn count(&mut self, solved: &Solved) {
        self.boards += 1;
        if let Ok(answer) = &solved.answer {
            self.nodes += answer.nodes;
            if let Some(moves) = &answer.moves {
                self.solved += 1;
                self.moves += moves.len() as u64;
            }
        }
    }

    /// Returns whether every board was solved.
    pub fn all_solved(&self) -> bool {
        self.solved == self.boards
    }
}
