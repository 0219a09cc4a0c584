//! `tilewave puzzles`: the families of puzzles.

use anyhow::Result;
use serde_json::{Value, json};
use tilewave::bfs::{self, Subject};
use tilewave::puzzle::families::{self, Family};
use tilewave::report::{bytes, thousands};

use super::options::{Format, Output};

/// List the families of puzzles: parameters, states, and the memory of a search.
#[derive(clap::Args)]
#[command(after_help = "Examples: tilewave puzzles\n          tilewave bfs topspin:12,4")]
pub struct Args {
    #[command(flatten)]
    output: Output,
}

/// What is said of a family.
struct Row {
    family: &'static Family,
    /// States of the example.
    states: u64,
    /// Bytes that its search takes.
    memory: u64,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let rows = families::ALL.into_iter().map(Row::of);
        let rows = rows.collect::<Result<Vec<Row>, tilewave::Error>>()?;
        let format = self.output.format;
        let columns = "family,parameters,states,example,example_states,memory_bytes,description";
        let text = match format {
            Format::Json => {
                let families: Vec<Value> = rows.iter().map(Row::figures).collect();
                format.result(json!({ "families": families }), "", String::new)
            }
            Format::Csv | Format::Text => {
                let line = |row: &Row| format.line(row.figures(), columns, || row.text());
                format.heading(columns) + &rows.iter().map(line).collect::<String>()
            }
        };
        destination.write(&text)
    }
}

impl Row {
    fn of(family: &'static Family) -> Result<Row, tilewave::Error> {
        let subject = Subject::puzzle(families::parse(family.example)?);
        let plan = bfs::plan(&subject, None)?;
        Ok(Row {
            family,
            states: plan.states,
            memory: plan.array_bytes,
        })
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
        let Family {
            name,
            parameters,
            states,
            example,
            description,
            ..
        } = self.family;
        format!(
            "{:<18}{description}\n{:18}{states} states; {example}: {} states, {} of memory\n",
            format!("{name}:{parameters}"),
            "",
            thousands(self.states),
            bytes(self.memory),
        )
    }
}
