//! `tilewave scramble`: random states.

use tilewave::{Size, solve::Scrambler};

use crate::cli::{Counted, Result, count, print, puzzle, refuse, seed};

/// States that are written together.
const BATCH: u64 = 4096;

/// Generate random boards, or random states of another puzzle, all equally likely.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave scramble 4x4 --count 5 --seed 1\n  tilewave scramble 3x3x3 | tilewave solve 3x3x3"
)]
pub struct ScrambleArgs {
    /// Board (4x4), member of a family (topspin:12,4), cube or other named puzzle (3x3x3), or puzzle file.
    #[arg(value_parser = puzzle)]
    puzzle: String,

    /// Number of states.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = count::<u64>(), allow_negative_numbers = true)]
    count: u64,

    /// Random seed; the same seed gives the same states on every machine [default: a random seed, which is logged].
    #[arg(long, value_name = "N", value_parser = count::<u64>(), allow_negative_numbers = true)]
    seed: Option<u64>,

    #[command(flatten)]
    counted: Counted,
}

impl ScrambleArgs {
    pub fn run(&self) -> Result<()> {
        let mut states: Box<dyn Iterator<Item = String>> = match self.puzzle.parse::<Size>() {
            Ok(size) => {
                self.counted.refuse_of_boards()?;
                let goal = self.counted.goal.board(size)?;
                Box::new(Scrambler::new(goal, seed(self.seed)?).map(|board| board.to_string()))
            }
            Err(_) => match self.counted.orbits(&self.puzzle)? {
                Some(puzzle) => {
                    let Some(states) = puzzle.scrambles(seed(self.seed)?) else {
                        refuse!(
                            "cannot generate random states of {puzzle}: it has moves that are not \
                             always allowed, or too many pieces"
                        );
                    };
                    Box::new(states.map(move |state| puzzle.text(&state)))
                }
                None => {
                    let space = self.counted.space(&self.puzzle)?;
                    let puzzle = space.definition().expect("it is no board").clone();
                    let states = puzzle.scrambles(seed(self.seed)?);
                    Box::new(states.map(move |state| puzzle.show(&state)))
                }
            },
        };
        let mut left = self.count;
        while left > 0 {
            let batch = left.min(BATCH);
            let lines = states.by_ref().take(batch as usize);
            print(&lines.map(|state| state + "\n").collect::<String>())?;
            left -= batch;
        }
        Ok(())
    }
}
