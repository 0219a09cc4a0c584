//! `tilewave export`: a board as a question to other solvers.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use tilewave::Error;
use tilewave::puzzle::tiles::Board;
use tilewave::solve::Constructive;
use tilewave::solve::export::{Cnf, Question, write_lp};

use super::options::{goal, size};
use super::output::OutputFile;

/// Write the question whether a board is solvable in at most N moves as SAT formula or integer program.
#[derive(clap::Args)]
#[command(
    after_help = "Example: tilewave export '5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12' --max-moves 11 --lp neos.lp"
)]
pub struct Args {
    /// The board: rows by '/', tiles by spaces, blank 0.
    board: String,

    /// Size, for a flat list of tiles.
    #[arg(long, value_name = "SIZE")]
    size: Option<String>,

    /// Goal: last, first, blank=CELL (row-major from 0) or a board.
    #[arg(long, default_value = "last")]
    goal: String,

    /// Most moves of a solution [default: what the constructive solver needs].
    #[arg(long, value_name = "N")]
    max_moves: Option<usize>,

    /// Write a formula in DIMACS CNF, variables explained in its comments.
    #[arg(long, value_name = "FILE", required_unless_present = "lp")]
    cnf: Option<PathBuf>,

    /// Write an integer program in CPLEX LP format that minimises the moves.
    #[arg(long, value_name = "FILE")]
    lp: Option<PathBuf>,

    /// Replace existing files.
    #[arg(long)]
    force: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<ExitCode> {
        let size = self.size.as_deref().map(size).transpose()?;
        let board = Board::parse(&self.board, size).map_err(Error::from)?;
        let goal = goal(&self.goal, board.size())?;
        let moves = match self.max_moves {
            Some(moves) => moves,
            None => {
                let solver = Constructive::new(goal.clone());
                solver.solve(&board).map_err(Error::from)?.len()
            }
        };
        let question = Question::new(board, goal, moves).map_err(Error::from)?;
        let reserve = |path: &PathBuf| OutputFile::reserve(path, self.force);
        let cnf = self.cnf.as_ref().map(reserve).transpose()?;
        let lp = self.lp.as_ref().map(reserve).transpose()?;
        if let Some(file) = lp {
            let mut text = Vec::new();
            write_lp(&question, &mut text)?;
            file.write(&text)?;
        }
        if let Some(file) = cnf {
            let formula = Cnf::new(question);
            tracing::info!(
                "{} variables, {} clauses",
                formula.variables(),
                formula.clauses().len()
            );
            let mut text = Vec::new();
            formula.write_dimacs(&mut text)?;
            file.write(&text)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
