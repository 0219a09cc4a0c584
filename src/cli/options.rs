//! Options that several commands share.

use anyhow::Result;
use clap::ValueEnum;
use tilewave::Error;
use tilewave::bfs::{Engine, Search, SearchError};
use tilewave::perm::kernel::Kernel;
use tilewave::puzzle::tiles::{Board, Goal, Size};
use tilewave::store;
use tilewave::table::Table;

use super::failure::Usage;

/// The environment variable that forces a kernel.
const KERNEL: &str = "TILEWAVE_KERNEL";

/// How to write results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// Comma-separated values.
    Csv,
    /// One JSON object.
    Json,
}

/// The two engines, as options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// Streaming passes over byte arrays.
    Sweep,
    /// Plain, slow, for any board.
    Reference,
}

impl From<EngineName> for Engine {
    fn from(name: EngineName) -> Engine {
        match name {
            EngineName::Sweep => Engine::Sweep,
            EngineName::Reference => Engine::Reference,
        }
    }
}

/// How a search runs.
#[derive(clap::Args)]
pub struct Running {
    /// Worker threads [default: one per core].
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Most memory for the states, with a unit: 500MB, 8GiB [default: half of what is free].
    #[arg(short = 'M', long, value_name = "SIZE")]
    pub memory: Option<String>,

    /// Engine [default: sweep, reference for boards of fewer than 6 tiles].
    #[arg(long, value_enum)]
    pub engine: Option<EngineName>,
}

impl Running {
    /// Returns the search from a goal that runs as asked.
    pub fn search(&self, goal: Board) -> Result<Search> {
        let memory = match &self.memory {
            Some(text) => parse_bytes(text)?,
            None => store::budget(),
        };
        let mut search = Search::new(goal);
        search.threads = self.threads.map(usize::from);
        search.engine = self.engine.map(Engine::from);
        search.kernel = kernel()?;
        search.memory = Some(memory);
        Ok(search)
    }
}

/// Returns the kernel that the environment asks for.
pub fn kernel() -> Result<Option<Kernel>> {
    let Some(name) = std::env::var_os(KERNEL).filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let kernel: Result<Kernel, _> = name.to_string_lossy().parse();
    Ok(Some(
        kernel.map_err(SearchError::from).map_err(Error::from)?,
    ))
}

/// Returns the size that a word names.
pub fn size(word: &str) -> Result<Size> {
    Ok(word.parse::<Size>().map_err(Error::from)?)
}

/// Returns the goal board of a size.
pub fn goal(text: &str, size: Size) -> Result<Board> {
    let goal: Goal = text.parse().map_err(Error::from)?;
    Ok(goal.board(size).map_err(Error::from)?)
}

/// Returns the goal board of a size, which is a table's when there is one.
pub fn goal_or_of(text: Option<&str>, table: Option<&Table>, size: Size) -> Result<Board> {
    let Some(table) = table else {
        return goal(text.unwrap_or("last"), size);
    };
    match text {
        Some(text) if goal(text, size)? != *table.goal() => Err(Usage(format!(
            "the table is for the goal '{}': leave out --goal, or make one for yours with tilewave table",
            table.goal()
        ))
        .into()),
        _ => Ok(table.goal().clone()),
    }
}

/// Returns the bytes that a size with a unit stands for: decimal (kB, MB, GB, TB) or binary (KiB, MiB,
/// GiB, TiB) units.
pub fn parse_bytes(text: &str) -> Result<u64, Usage> {
    let wrong = || {
        Usage(format!(
            "'{text}' is not a size: write a number and a unit, for example 8GiB or 500MB"
        ))
    };
    let digits = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .ok_or_else(wrong)?;
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024f64.powi(2),
        "gib" => 1024f64.powi(3),
        "tib" => 1024f64.powi(4),
        _ => return Err(wrong()),
    };
    let bytes = number * unit;
    // 2^63 is more than any machine has, and still exact enough as a float.
    if bytes.is_finite() && bytes < 9.2e18 {
        Ok(bytes as u64)
    } else {
        Err(wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_need_units() {
        assert_eq!(parse_bytes("8GiB").unwrap(), 8 << 30);
        assert_eq!(parse_bytes("1.5 kB").unwrap(), 1500);
        assert_eq!(parse_bytes("500mb").unwrap(), 500_000_000);
        for wrong in [
            "8",
            "",
            "GiB",
            "8GiBs",
            "-8GiB",
            "1e99GiB",
            "9999999999999TB",
            ".",
        ] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }
}
