//! The boards to solve: on the command line, or on standard input.

use std::io::BufRead;

use anyhow::{Context, Result};
use tilewave::Error;
use tilewave::puzzle::tiles::Board;

use super::super::failure::Usage;
use super::super::options::size;

/// Where boards come from.
#[derive(clap::Args)]
pub struct Boards {
    /// Boards: rows by '/', tiles by spaces, blank 0; none: one per line on standard input.
    #[arg(value_name = "BOARD")]
    boards: Vec<String>,

    /// Size, for flat lists of tiles.
    #[arg(long, value_name = "SIZE")]
    size: Option<String>,
}

impl Boards {
    /// Returns the boards, at least one.
    pub fn read(&self) -> Result<Vec<Board>> {
        let size = self.size.as_deref().map(size).transpose()?;
        let parse = |text: &str| Board::parse(text, size).map_err(Error::from);
        let mut boards = Vec::new();
        for text in &self.boards {
            boards.push(parse(text)?);
        }
        if boards.is_empty() {
            for (i, line) in std::io::stdin().lock().lines().enumerate() {
                let line = line.context("cannot read standard input")?;
                let line = line.split('#').next().unwrap_or_default();
                if !line.trim().is_empty() {
                    let number = i + 1;
                    let board = parse(line).map_err(|e| Usage(format!("line {number}: {e}")))?;
                    boards.push(board);
                }
            }
        }
        if boards.is_empty() {
            let none = "there is no board: name one or write one per line to standard input";
            return Err(Usage(none.into()).into());
        }
        Ok(boards)
    }
}
