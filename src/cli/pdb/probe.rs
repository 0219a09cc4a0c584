//! `tilewave pdb probe`: the values of boards, and their sums.

use std::io::Read;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;
use tilewave::pdb::{Pattern, PdbError, Probe, check_disjoint};
use tilewave::puzzle::tiles::Board;

use crate::cli::failure::refuse;
use crate::cli::options::{Format, Output};

/// Show the values of a board in one or several databases, and their sum.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave pdb probe 7.pdb --board '15 2 1 12/8 5 6 11/4 9 10 7/3 14 13 0'\n  \
                  tilewave pdb probe 7.pdb 8.pdb --board - < boards.txt"
)]
pub struct Args {
    /// Database files.
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// The board: rows by '/', tiles by spaces, blank 0; or '-' for one board per line of the input.
    #[arg(long)]
    board: String,

    #[command(flatten)]
    output: Output,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let mut destination = self.output.reserve()?;
        let tables = self.files.iter().map(|file| Probe::open(file));
        let tables = tables.collect::<Result<Vec<Probe>, _>>()?;
        let patterns: Vec<Pattern> = tables.iter().map(|t| t.pattern().clone()).collect();
        if patterns.iter().any(|p| p.goal() != patterns[0].goal()) {
            refuse!("the databases have different goals: values of one goal can be shown together");
        }
        let additive = check_disjoint(&patterns);
        let input = match self.board.as_str() {
            "-" => {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text)?;
                text
            }
            board => board.replace('\n', "/"),
        };
        let (format, columns) = (self.output.format, "board,values,sum");
        destination.add(&format.heading(columns))?;
        for line in input.lines().filter(|line| !line.trim().is_empty()) {
            let board = Board::parse(line, Some(patterns[0].size()))?;
            let values = tables.iter().map(|table| table.value(&board));
            let values = values.collect::<Result<Vec<Option<u8>>, _>>()?;
            let total: Option<u32> = values.iter().map(|v| v.map(u32::from)).sum();
            let sum = total.filter(|_| additive.is_ok());
            let shown = |v: Option<u32>| v.map_or("-".to_string(), |v| v.to_string());
            let words: Vec<String> = values.iter().map(|v| shown(v.map(u32::from))).collect();
            let words = words.join(" ");
            let figures = match format {
                Format::Csv => {
                    json!({"board": board.to_string(), "values": words, "sum": shown(sum)})
                }
                _ => json!({"board": board.to_string(), "values": values, "sum": sum}),
            };
            let text = || {
                let sum = match (sum, &additive) {
                    (Some(sum), _) => format!("sum {sum}"),
                    (None, Ok(())) => "no sum: not every value is known".into(),
                    (None, Err(PdbError::NotAdditive)) => "no sum: one counts every move".into(),
                    (None, Err(_)) => "no sum: the databases share tiles".into(),
                };
                format!("{board}  {words}  {sum}\n")
            };
            destination.add(&format.line(figures, columns, text))?;
        }
        destination.finish()
    }
}
