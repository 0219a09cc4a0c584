//! One line per board, and a summary.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tilewave::puzzle::{Board, Metric, MoveStyle};
use tilewave::report::html::{Refused, Solution};
use tilewave::report::{duration, rate, thousands};
use tilewave::solve::{Answer, Unsolvable};

use crate::cli::options::OutputFormat;

/// What became of a board.
#[derive(Clone, Serialize, Deserialize)]
pub struct Solved {
    pub board: Board,
    pub answer: Result<Answer, Box<Unsolvable>>,
    /// What counts as one move.
    pub metric: Metric,
    /// Whether the moves are a shortest solution.
    pub optimal: bool,
    /// The least number of moves, where the moves are not a shortest solution but one is known.
    pub optimum: Option<usize>,
    /// The conflicts of the proof that nothing is shorter, or why there is no proof; if one was asked for.
    pub proof: Option<Result<u64, String>>,
    /// Nodes that earlier sessions have generated.
    pub earlier: u64,
}

impl Solved {
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

    /// Returns what a page shows of it, if it has no solution or none was found.
    pub fn page_of_refused(&self) -> Option<Refused> {
        let reason = match &self.answer {
            Err(why) => why.to_string(),
            Ok(answer) if answer.moves.is_none() => "given up".into(),
            Ok(_) => return None,
        };
        Some(Refused { board: self.board.clone(), reason })
    }

    fn length(&self) -> Option<usize> {
        let answer = self.answer.as_ref().ok()?;
        answer.moves.as_ref().map(|moves| moves.count(self.metric))
    }

    /// Moves of a fast solution in the multi-tile metric.
    fn length_mtm(&self) -> Option<usize> {
        let answer = self.answer.as_ref().ok().filter(|_| !self.optimal)?;
        Some(answer.moves.as_ref()?.count(Metric::Mtm))
    }

    /// How many times as long as the shortest solution this one is.
    fn ratio(&self) -> Option<f64> {
        let (length, optimum) = (self.length()?, self.optimum?);
        Some(match optimum {
            0 => 1.0,
            _ => length as f64 / optimum as f64,
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
    pub format: OutputFormat,
    /// Whether proofs are asked for.
    pub certify: bool,
    /// Whether fast solutions are compared with shortest ones.
    pub ratio: bool,
}

impl Wording {
    /// The columns of CSV.
    fn columns(self) -> String {
        let certified = if self.certify { ",certified" } else { "" };
        let ratio = if self.ratio { ",optimum,ratio" } else { "" };
        format!("board,solvable,length,moves,nodes,seconds,optimal{certified}{ratio}")
    }

    /// Returns what comes before the first line.
    pub fn heading(self) -> String {
        self.format.heading(&self.columns())
    }

    /// Returns the line of a board.
    pub fn line(self, solved: &Solved) -> String {
        let words = || self.text(solved);
        self.format.line(self.figures(solved), &self.columns(), words)
    }

    /// The moves of a board, if it was solved.
    fn letters(self, solved: &Solved) -> Option<String> {
        let answer = solved.answer.as_ref().ok()?;
        let moves = answer.moves.as_ref()?;
        Some(match self.long {
            true => moves.long(self.style),
            false => moves.short(self.style),
        })
    }

    fn figures(self, solved: &Solved) -> Value {
        let answer = solved.answer.as_ref();
        let (nodes, seconds) = answer.map_or((0, 0.0), |answer| (answer.nodes, answer.seconds));
        let mut value = json!({
            "board": solved.board.to_string(),
            "solvable": answer.is_ok(),
            "length": solved.length(),
            "moves": self.letters(solved),
            "nodes": nodes,
            "seconds": seconds,
            "optimal": solved.optimal && solved.length().is_some(),
            "metric": solved.metric.name(),
        });
        if let Some(length) = solved.length_mtm() {
            value["length_mtm"] = json!(length);
        }
        match answer {
            Err(why) => {
                value["reason"] = json!(why.to_string());
                value["nearest"] = json!(why.board.to_string());
            }
            Ok(answer) if answer.moves.is_none() => value["at_least"] = json!(answer.at_least),
            Ok(_) => {}
        }
        if self.certify {
            value["certified"] = json!(matches!(solved.proof, Some(Ok(_))));
        }
        if self.ratio {
            value["optimum"] = json!(solved.optimum);
            value["ratio"] = json!(solved.ratio());
        }
        value
    }

    fn text(self, solved: &Solved) -> String {
        let board = &solved.board;
        let answer = match &solved.answer {
            Err(why) => return format!("{board}  not solvable: {why}\n"),
            Ok(answer) => answer,
        };
        let time = duration(answer.seconds);
        let (Some(length), Some(letters)) = (solved.length(), self.letters(solved)) else {
            return format!(
                "{board}  given up after {} nodes: at least {} moves  {time}\n",
                thousands(answer.nodes),
                answer.at_least,
            );
        };
        let also = solved.length_mtm();
        let also = also.map_or(String::new(), |length| format!(" ({length} in mtm)"));
        let mut line = format!("{board}  {length} moves{also}  {letters}");
        if answer.nodes > 0 {
            line += &format!("  {} nodes", thousands(answer.nodes));
        }
        line += &format!("  {time}");
        if let (Some(optimum), Some(ratio)) = (solved.optimum, solved.ratio()) {
            line += &format!("  {ratio:.2} times the optimum {optimum}");
        }
        match &solved.proof {
            None => {}
            Some(Ok(conflicts)) => {
                line += &format!("  certified ({} conflicts)", thousands(*conflicts));
            }
            Some(Err(why)) => line += &format!("  not certified: {why}"),
        }
        line + "\n"
    }

    /// Returns what comes after the last line.
    pub fn summary(self, totals: &Totals, seconds: f64) -> String {
        if self.format != OutputFormat::Text || totals.boards < 2 {
            return String::new();
        }
        let Totals { boards, solved, moves, nodes, proofs, compared, ratios, generated, .. } =
            *totals;
        let begin = if totals.interrupted { "interrupted: " } else { "" };
        let mut text = format!(
            "\n{begin}{} of {} boards solved",
            thousands(solved),
            thousands(totals.known.max(boards))
        );
        if solved > 0 {
            text += &format!(", {:.2} moves on average", moves as f64 / solved as f64);
        }
        if compared > 0 {
            text += &format!(", {:.3} times the optimum", ratios / compared as f64);
        }
        if nodes > 0 {
            let mean = nodes / boards.max(1);
            text += &format!(", {} nodes on average", thousands(mean));
        }
        if self.certify {
            text += &format!(", {} certified", thousands(proofs));
        }
        let speed = if nodes > 0 {
            format!("{} nodes/s", rate(generated as f64 / seconds))
        } else {
            format!("{} boards/s", rate(boards as f64 / seconds))
        };
        text + &format!("\n{}, {speed}\n", duration(seconds))
    }
}

/// Sums over all boards.
#[derive(Clone, Copy, Default)]
pub struct Totals {
    boards: u64,
    solved: u64,
    moves: u64,
    nodes: u64,
    /// Nodes of this session alone.
    generated: u64,
    proofs: u64,
    failed: u64,
    compared: u64,
    ratios: f64,
    /// Lines that are no boards.
    refused: u64,
    /// All boards and lines that came, done or not.
    known: u64,
    interrupted: bool,
}

impl Totals {
    /// Adds a board.
    pub fn count(&mut self, solved: &Solved) {
        self.boards += 1;
        if let Ok(answer) = &solved.answer {
            self.nodes += answer.nodes;
            // A log has subtrees behind the solution, too, which answers do not count.
            self.generated += answer.nodes.saturating_sub(solved.earlier);
        }
        if let Some(length) = solved.length() {
            self.solved += 1;
            self.moves += length as u64;
        }
        match solved.proof {
            Some(Ok(_)) => self.proofs += 1,
            Some(Err(_)) => self.failed += 1,
            None => {}
        }
        if let Some(ratio) = solved.ratio() {
            self.compared += 1;
            self.ratios += ratio;
        }
    }

    /// Adds a line that is no board of the goal's size.
    pub fn refuse(&mut self) {
        self.refused += 1;
    }

    /// Ends the count.
    pub fn close(&mut self, known: usize, interrupted: bool) {
        (self.known, self.interrupted) = (known as u64, interrupted);
    }

    /// Returns how far an interrupted command came.
    pub fn so_far(&self, more: bool) -> String {
        let more = if more { " and more" } else { "" };
        let (solved, known) = (thousands(self.solved), thousands(self.known));
        format!("{solved} of {known}{more} boards are solved")
    }

    /// Returns whether every board was solved, and every proof asked for was found.
    pub fn all_done(&self) -> bool {
        self.solved == self.boards && self.failed + self.refused == 0
    }
}
