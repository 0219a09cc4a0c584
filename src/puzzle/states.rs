//! Arrangements as (line, cell) pairs, and the moves of a puzzle in the general form.
//!
//! Invariant: the start's line is 0, 1, 2, .., whatever the start and the reading; `decode` undoes `encode`.

use super::Puzzle;
use super::definition::Definition;
use super::orbits::orbits;
use super::permutation::Permutation;
use super::reading::Reading;
use super::reading_order::choose_reading;

/// The frame of reference that a start defines: one of its elements is distinguished, the others are numbered
/// in the order in which the start is read.
///
/// ```
/// use tilewave::puzzle::{States, families};
/// let puzzle = families::parse("pancake:4")?;
/// let states = States::new(puzzle);
/// let puzzle = states.definition();
/// let flipped = puzzle.after(&puzzle.solved(), 1); // the upper three
/// assert_eq!(puzzle.show(&flipped), "3 2 1 4");
/// let (line, cell) = states.encode(&flipped);
/// assert_eq!(states.decode(&line, cell), flipped);
/// assert_eq!(states.encode(states.start()).0, [0, 1, 2]);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct States {
    definition: Definition,
    reading: Reading,
    /// The cell of the start's distinguished element.
    home: usize,
    start: Permutation,
    /// The position at which the start has each element.
    origin: Permutation,
}

impl States {
    /// Returns the states of a puzzle, the solved one the start. Cost: a tenth of a second at most, to choose how
    /// they are read.
    pub fn new(definition: Definition) -> States {
        let generators = permutations(&definition);
        let reading = choose_reading(definition.positions(), &generators);
        States::read_by(definition, reading)
    }

    /// Returns the states of a puzzle that are read in a given way.
    ///
    /// # Panics
    /// When the reading is one of another number of positions.
    pub fn read_by(definition: Definition, reading: Reading) -> States {
        let cells = definition.positions();
        assert_eq!(reading.path().len(), cells, "a reading of this puzzle");
        let start = definition.solved();
        // In a puzzle of several orbits, the largest has the most cells to a line.
        let orbits = orbits(cells, &permutations(&definition));
        let largest = orbits.iter().rev().max_by_key(|orbit| orbit.len());
        let within = |position: &usize| largest.is_none_or(|orbit| orbit.contains(position));
        let home = reading.path().iter().rposition(within);
        States {
            definition,
            home: home.expect("orbits are positions"),
            reading,
            origin: start.inverse(),
            start,
        }
    }

    /// Returns the same states seen from another start.
    ///
    /// # Panics
    /// When the arrangement is one of another puzzle.
    pub fn from_start(self, start: Permutation) -> States {
        assert_eq!(
            start.len(),
            self.start.len(),
            "an arrangement of this puzzle"
        );
        States {
            origin: start.inverse(),
            start,
            ..self
        }
    }

    /// Returns the puzzle.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Returns the start.
    pub fn start(&self) -> &Permutation {
        &self.start
    }

    /// Returns how arrangements are read.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Returns the cell of the start's distinguished element.
    pub fn home(&self) -> usize {
        self.home
    }

    /// Returns the line and the cell of an arrangement, whether or not it can be reached.
    ///
    /// # Panics
    /// When the arrangement is one of another puzzle.
    pub fn encode(&self, arrangement: &Permutation) -> (Vec<u8>, usize) {
        assert_eq!(
            arrangement.len(),
            self.start.len(),
            "an arrangement of this puzzle"
        );
        // Where the start has what stands at a position.
        let origin = |position: usize| self.origin.image(arrangement.image(position));
        let path = self.reading.path();
        let cell = path.iter().position(|&p| origin(p) == path[self.home]);
        let cell = cell.expect("every element stands somewhere");
        let home = self.reading.order(self.home);
        let rank = |&position: &usize| {
            let rank = home.iter().position(|&p| p == origin(position));
            rank.expect("every element has a number") as u8
        };
        (self.reading.order(cell).iter().map(rank).collect(), cell)
    }

    /// Returns the arrangement of a line and a cell.
    ///
    /// # Panics
    /// When the line is not a permutation of `0..positions - 1` or there is no such cell.
    pub fn decode(&self, line: &[u8], cell: usize) -> Permutation {
        let (path, home) = (self.reading.path(), self.reading.order(self.home));
        let mut elements = vec![self.start.image(path[self.home]); path.len()];
        for (&rank, &position) in line.iter().zip(self.reading.order(cell)) {
            elements[position] = self.start.image(home[usize::from(rank)]);
        }
        Permutation::new(&elements).expect("every element once")
    }

    /// Returns the moves in the general form, cells numbered along the path of the reading.
    pub fn puzzle(&self) -> Puzzle {
        let generators = permutations(&self.definition);
        self.reading
            .puzzle(&generators, self.definition.is_directed())
    }
}

fn permutations(definition: &Definition) -> Vec<Permutation> {
    let generators = definition.generators().iter();
    generators.map(|g| g.permutation.clone()).collect()
}

impl Definition {
    /// Returns the moves in the general form, positions read as [`States::new`] chooses.
    pub fn puzzle(&self) -> Puzzle {
        States::new(self.clone()).puzzle()
    }
}
