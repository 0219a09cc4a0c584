//! `tilewave state`: a board's place in the state space, or the board in a place.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;
use tilewave::bfs::{State, StateSpace};
use tilewave::puzzle::tiles::{Board, Frame, Size};
use tilewave::table::DistanceTable;

use super::failure::refuse;
use super::options::{GoalOption, Output};
use super::values::count;

/// Rank or unrank a board: parity, solvability, line, cell, state id, and its depth from a table.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave state '8 6 7/2 5 4/3 0 1'\n  tilewave state --size 3x4 --id 12345"
)]
pub struct Args {
    /// The board: rows by '/', tiles by spaces, blank 0.
    #[arg(required_unless_present_any = ["id", "line"], conflicts_with_all = ["id", "line", "cell"])]
    board: Option<String>,

    /// Size, for a flat list of tiles or for a number.
    #[arg(long, value_name = "SIZE")]
    size: Option<Size>,

    #[command(flatten)]
    goal: GoalOption,

    /// Distance table (tilewave table) to read the depth from.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,

    /// The board with this state id.
    #[arg(long, conflicts_with_all = ["line", "cell"], value_parser = count::<u64>(), allow_negative_numbers = true)]
    id: Option<u64>,

    /// The board with this line (rank among the even lines).
    #[arg(long, requires = "cell", value_parser = count::<u64>(), allow_negative_numbers = true)]
    line: Option<u64>,

    /// The board with this cell (path index of the blank).
    #[arg(long, requires = "line", value_parser = count::<usize>(), allow_negative_numbers = true)]
    cell: Option<usize>,

    #[command(flatten)]
    output: Output,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let table = self.table.as_ref().map(|path| DistanceTable::open(path));
        let table = table.transpose()?;
        let size = self.size.or_else(|| Some(table.as_ref()?.goal().size()));
        let board = match &self.board {
            Some(text) => Board::parse(text, size)?,
            None => {
                let Some(size) = size else {
                    refuse!("a number needs its board: give --size");
                };
                let goal = self.goal.board_of(table.as_ref(), size)?;
                self.unrank(&StateSpace::new(goal)?)?
            }
        };
        let goal = self.goal.board_of(table.as_ref(), board.size())?;
        let frame = Frame::new(goal.clone());
        let (_, cell) = frame.encode(&board)?;
        let refused = frame.encode_solvable(&board).err();
        let solvable = refused.is_none();
        // Boards of more than 20 cells have no 64-bit rank, but everything else.
        let space = StateSpace::new(goal.clone()).ok();
        let state = space.as_ref().and_then(|space| space.state(&board).ok());
        let id = space
            .as_ref()
            .zip(state)
            .map(|(space, state)| space.id(state));
        let line = state.map(|state| state.line);
        let depth = match &table {
            Some(table) if solvable => table.depth(&board)?,
            _ => None,
        };
        let parity = if solvable { "even" } else { "odd" };

        let figures = json!({
            "board": board.to_string(),
            "size": board.size().to_string(),
            "goal": goal.to_string(),
            "solvable": solvable,
            "parity": parity,
            "line": line,
            "cell": cell,
            "state_id": id,
            "depth": depth,
        });
        let columns = "board,size,goal,solvable,parity,line,cell,state_id,depth";
        let number = |n: Option<u64>| n.map(|n| n.to_string());
        let words = || {
            let solvable = refused.map_or("yes".into(), |reason| format!("no: {reason}"));
            let facts = [
                ("board", Some(board.to_string())),
                ("goal", Some(goal.to_string())),
                ("parity", Some(parity.into())),
                ("solvable", Some(solvable)),
                ("line", number(line)),
                ("cell", Some(cell.to_string())),
                ("state id", number(id)),
                ("depth", number(depth.map(|depth| depth as u64))),
            ];
            let fact =
                |(name, value): (&str, Option<String>)| Some(format!("{name:<10}{}\n", value?));
            facts.into_iter().filter_map(fact).collect()
        };
        let text = self.output.format.result(figures, columns, words);
        self.output.reserve()?.write(&text)
    }

    /// The board with the number asked for.
    fn unrank(&self, space: &StateSpace) -> Result<Board> {
        let cells = space.puzzle().cells();
        let state = match (self.id, self.line, self.cell) {
            (Some(id), _, _) => space.from_id(id),
            (None, Some(line), Some(cell)) => {
                (line < space.lines() && cell < cells).then_some(State { line, cell })
            }
            _ => None,
        };
        let board = state.and_then(|state| space.board(state));
        let Some(board) = board else {
            refuse!(
                "there is no such state: a {} board has lines 0 to {}, cells 0 to {}, ids 0 to {}",
                space.subject(),
                space.lines() - 1,
                cells - 1,
                space.lines() * cells as u64 - 1
            );
        };
        Ok(board)
    }
}
