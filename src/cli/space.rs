//! `tilewave bfs --tiles`: the space of a pattern, every move counted.

use anyhow::Result;
use serde_json::json;
use tilewave::pdb::{Pattern, PdbError, Space};
use tilewave::puzzle::tiles::Board;
use tilewave::report::{bytes, duration, histogram, thousands};
use tilewave::store;

use super::options::{Format, MaxDepth, Output, Running, kernel};
use super::output::counts_csv;
use super::progress::Progress;

/// Options that make a search that of a pattern's space.
#[derive(clap::Args)]
pub struct Tiles {
    /// Search the space of some tiles of a board and the blank, the other tiles alike: 1-7, or 1,2,5. Five to eight
    /// tiles, in memory.
    #[arg(long, value_name = "TILES", conflicts_with_all = ["start", "metric", "plot", "html", "last", "engine", "place", "directed", "quarter"])]
    tiles: Option<String>,

    /// With --tiles: the cell of the blank at depth 0, row-major from 0 [default: all cells at once].
    #[arg(long, value_name = "CELL", requires = "tiles")]
    blank: Option<u8>,
}

impl Tiles {
    /// Returns the tiles, if there are any.
    pub fn get(&self) -> Option<&str> {
        self.tiles.as_deref()
    }

    /// Runs the search for a goal and writes its distribution.
    pub fn run(
        &self,
        goal: Board,
        max_depth: &MaxDepth,
        running: &Running,
        output: &Output,
    ) -> Result<()> {
        let pattern = Pattern::new(goal, &numbers(self.get().unwrap_or_default())?)?;
        let destination = output.reserve()?;
        let space = Space {
            blank: self.blank,
            kernel: kernel()?,
            threads: running.threads.get(),
            memory: Some(running.memory.budget()),
            max_depth: max_depth.max_depth,
            ..Space::new(pattern)
        };
        let progress = Progress::new();
        let found = space.run(&progress)?;
        drop(progress);
        let deepest = found.counts.len() - 1;
        let total: u64 = found.counts.iter().sum();
        let moves = found.counts.iter().zip(0u128..);
        let sum: u128 = moves
            .map(|(&states, depth)| u128::from(states) * depth)
            .sum();
        let mean = sum as f64 / total as f64;
        let pattern = &space.pattern;
        let figures = json!({
            "board": pattern.size().to_string(),
            "goal": pattern.goal().to_string(),
            "tiles": pattern.tiles(),
            "blank": self.blank,
            "states": found.states,
            "found": total,
            "complete": found.complete,
            "diameter": found.complete.then_some(deepest),
            "mean_depth": mean,
            "counts": found.counts,
            "seconds": found.seconds,
            "peak_memory_bytes": store::peak_memory(),
        });
        let words = || {
            let tiles: Vec<String> = pattern.tiles().iter().map(u16::to_string).collect();
            let start = match self.blank {
                None => "the tiles at home, the blank anywhere".to_string(),
                Some(cell) => format!("the tiles at home, the blank on cell {cell}"),
            };
            let diameter = match found.complete {
                true => deepest.to_string(),
                false => format!("more than {deepest} (stopped)"),
            };
            format!(
                "{}\nboard       {}\ntiles       {}\nstart       {start}\nstates      {} of {}\ndiameter    {diameter}\n\
                 mean depth  {mean:.6}\ntime        {}\nmemory      {}\n",
                histogram(&found.counts, found.states).trim_end(),
                pattern.size(),
                tiles.join(","),
                thousands(total),
                thousands(found.states),
                duration(found.seconds),
                bytes(store::peak_memory().unwrap_or_default()),
            )
        };
        destination.write(&match output.format {
            Format::Csv => counts_csv("depth,states", &found.counts),
            format => format.result(figures, "", words),
        })
    }
}

/// The numbers of a list with ranges: 1-3,7.
fn numbers(text: &str) -> Result<Vec<u16>, PdbError> {
    let wrong = || PdbError::PatternSyntax(text.chars().take(80).collect());
    let mut all = Vec::new();
    for word in text.split([',', ' ']).filter(|word| !word.is_empty()) {
        let number = |word: &str| match word.bytes().all(|b| b.is_ascii_digit()) {
            true => word.parse::<u16>().map_err(|_| wrong()),
            false => Err(wrong()),
        };
        match word.split_once('-') {
            None => all.push(number(word)?),
            // Boards have at most 36 cells: a longer range is refused with its first tile that is not there.
            Some((first, last)) => all.extend((number(first)?..=number(last)?).take(64)),
        }
    }
    Ok(all)
}
