//! Arrangements as (line, cell) pairs, and the moves of a puzzle in the general form.
//!
//! Invariant: the start's line is 0, 1, 2, .., whatever the start; `decode` undoes `encode`.

use super::definition::Definition;
use super::permutation::Permutation;
use super::reading_order::reading_order;
use super::{Puzzle, Window};

/// The frame of reference that a start defines: one of its elements is distinguished, the others are numbered
/// in the order in which the start has them along the path of positions.
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
    /// The positions in reading order.
    path: Vec<usize>,
    /// The path index of each position.
    index: Vec<usize>,
    /// The path index of the start's distinguished element.
    home: usize,
    start: Permutation,
    /// The position at which the start has each element.
    origin: Permutation,
}

impl States {
    /// Returns the states of a puzzle, the solved one the start. Cost: a tenth of a second at most, for the path.
    pub fn new(definition: Definition) -> States {
        let generators: Vec<Permutation> = definition
            .generators()
            .iter()
            .map(|g| g.permutation.clone())
            .collect();
        let path = reading_order(definition.positions(), &generators);
        States::along(definition, path)
    }

    /// Returns the states of a puzzle whose positions are read in a given order.
    ///
    /// # Panics
    /// When `path` does not have every position once.
    pub fn along(definition: Definition, path: Vec<usize>) -> States {
        let order = Permutation::new(&path).expect("every position once");
        let index = order
            .inverse()
            .images()
            .iter()
            .map(|&i| usize::from(i))
            .collect();
        let start = definition.solved();
        let mut states = States {
            definition,
            path,
            index,
            home: 0,
            origin: start.inverse(),
            start,
        };
        // In a puzzle of several orbits, the largest has the most cells to a line.
        let reached = |&cell: &usize| states.orbit(cell);
        let largest = (0..states.path.len()).rev().max_by_key(reached);
        states.home = largest.unwrap_or(0);
        states
    }

    /// The number of cells that moves join to a cell.
    fn orbit(&self, cell: usize) -> usize {
        let mut cells = vec![cell];
        let mut next = 0;
        while next < cells.len() {
            for generator in self.definition.generators() {
                let to = self.index[generator.permutation.image(self.path[cells[next]])];
                if !cells.contains(&to) {
                    cells.push(to);
                }
            }
            next += 1;
        }
        cells.len()
    }

    /// Returns the same states seen from another start.
    ///
    /// # Panics
    /// When the arrangement is one of another puzzle.
    pub fn from_start(self, start: Permutation) -> States {
        assert_eq!(
            start.len(),
            self.path.len(),
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

    /// Returns the positions in reading order.
    pub fn path(&self) -> &[usize] {
        &self.path
    }

    /// Returns the line and the cell of an arrangement, whether or not it can be reached.
    ///
    /// # Panics
    /// When the arrangement is one of another puzzle.
    pub fn encode(&self, arrangement: &Permutation) -> (Vec<u8>, usize) {
        assert_eq!(
            arrangement.len(),
            self.path.len(),
            "an arrangement of this puzzle"
        );
        let origin = |&position: &usize| self.index[self.origin.image(arrangement.image(position))];
        let mut line: Vec<usize> = self.path.iter().map(origin).collect();
        let cell = line.iter().position(|&i| i == self.home);
        let cell = cell.expect("every element stands somewhere");
        line.remove(cell);
        let rank = |&i: &usize| (i - usize::from(i > self.home)) as u8;
        (line.iter().map(rank).collect(), cell)
    }

    /// Returns the arrangement of a line and a cell.
    ///
    /// # Panics
    /// When the line is not a permutation of `0..positions - 1` or there is no such cell.
    pub fn decode(&self, line: &[u8], cell: usize) -> Permutation {
        let mut origins: Vec<usize> = line.iter().map(|&rank| usize::from(rank)).collect();
        origins
            .iter_mut()
            .for_each(|i| *i += usize::from(*i >= self.home));
        origins.insert(cell, self.home);
        Permutation::from_fn(self.path.len(), |position| {
            self.start.image(self.path[origins[self.index[position]]])
        })
    }

    /// Returns the moves in the general form, cells numbered along the path.
    pub fn puzzle(&self) -> Puzzle {
        let cells = self.path.len();
        let mut moves = Vec::new();
        for generator in self.definition.generators() {
            let source = generator.permutation.inverse();
            let from = |to: usize| self.index[source.image(self.path[to])];
            for to in 0..cells {
                let places = (0..cells).filter(|&i| i != to);
                let pulled = places.map(|i| (from(i) - usize::from(from(i) > from(to))) as u8);
                let window = Window::new(0, &pulled.collect::<Vec<u8>>());
                moves.push((from(to), to, window));
            }
        }
        moves.sort();
        match self.definition.is_directed() {
            true => Puzzle::directed(cells, moves),
            false => Puzzle::new(cells, moves),
        }
    }
}

impl Definition {
    /// Returns the moves in the general form, positions read in the order that [`States::new`] chooses.
    pub fn puzzle(&self) -> Puzzle {
        States::new(self.clone()).puzzle()
    }
}
