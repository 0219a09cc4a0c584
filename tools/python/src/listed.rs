//! Puzzles that are searched with lists: several sets of pieces, pieces that have orientations or look alike, large
//! boards.
//!
//! A state is a row of numbers, one for each position: piece * orientations + orientation.

use std::collections::HashMap;

use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;
use rayon::prelude::*;
use tilewave::puzzle::{Arrangement, Move, PieceSet, Placed, Puzzle, SetAction, Transformation};

use super::arrays::{self, Form, Rows};
use super::errors::{exception, invalid};

/// Largest number in a row for which arrays have bytes.
const MOST_NUMBER: usize = 255;

/// A puzzle for list searches, and how its states are written as rows.
#[derive(Clone, Debug)]
pub struct Listed {
    pub puzzle: Puzzle,
    /// "htm", "qtm", "slice" or "axial" for puzzles with such metrics.
    pub metric: Option<String>,
    /// The set and the position of each number in a row.
    places: Vec<(usize, usize)>,
    /// For each set, the number that stands for a piece of each kind.
    pieces: Vec<Vec<u16>>,
}

/// A puzzle in a serializable form: name, JSON, metric, places, pieces.
pub type ListedParts = (String, String, Option<String>, Vec<(usize, usize)>, Vec<Vec<u16>>);

/// Remarks on how a file was interpreted are not part of the puzzle.
impl PartialEq for Listed {
    fn eq(&self, other: &Listed) -> bool {
        self.parts() == other.parts()
    }
}

impl Listed {
    /// Returns the puzzle with its positions set by set, and its pieces by kind.
    pub fn new(puzzle: Puzzle, metric: Option<String>) -> Listed {
        let sets = puzzle.sets().iter().enumerate();
        let places = sets.flat_map(|(i, of)| (0..of.positions()).map(move |at| (i, at)));
        let kinds = |set: &PieceSet| (0..set.moduli.len() as u16).collect();
        Listed {
            places: places.collect(),
            pieces: puzzle.sets().iter().map(kinds).collect(),
            puzzle,
            metric,
        }
    }

    /// Returns the parts from which an equal puzzle can be made.
    pub fn parts(&self) -> ListedParts {
        let name = self.puzzle.name().to_string();
        let Listed { puzzle, metric, places, pieces } = self.clone();
        (name, puzzle.to_json(), metric, places, pieces)
    }

    /// Returns the puzzle made from such parts.
    pub fn of_parts((name, json, metric, places, pieces): ListedParts) -> PyResult<Listed> {
        let puzzle = Puzzle::of_json(&name, &json);
        let puzzle = puzzle.ok_or_else(|| invalid("the pickled data is not a puzzle"))?;
        Ok(Listed { puzzle, metric, places, pieces })
    }

    pub fn form(&self) -> Form {
        let sets = self.puzzle.sets().iter().zip(&self.pieces);
        let largest = |(set, pieces): (&PieceSet, &Vec<u16>)| {
            let piece = pieces.iter().copied().max().unwrap_or(0);
            usize::from(piece + 1) * usize::from(set.orientations) - 1
        };
        let largest = sets.map(largest).max().unwrap_or(0);
        Form { width: self.places.len(), size: None, largest }
    }

    /// The number of a piece at a position.
    fn number(&self, set: usize, Placed { kind, turn }: Placed) -> u16 {
        let orientations = u16::from(self.puzzle.sets()[set].orientations);
        self.pieces[set][usize::from(kind)] * orientations + u16::from(turn)
    }

    /// Returns a state as a row.
    pub fn row(&self, state: &Arrangement) -> Vec<u16> {
        let one = |&(set, position): &(usize, usize)| self.number(set, state.0[set][position]);
        self.places.iter().map(one).collect()
    }

    /// Returns, for each position of each set, its place in a row.
    pub fn columns(&self) -> Vec<Vec<usize>> {
        let mut columns: Vec<Vec<usize>> =
            self.puzzle.sets().iter().map(|set| vec![0; set.positions()]).collect();
        for (column, &(set, position)) in self.places.iter().enumerate() {
            columns[set][position] = column;
        }
        columns
    }

    /// Returns the piece that a number stands for, in a row that has been read.
    pub fn placed(&self, set: usize, number: u16) -> Placed {
        let orientations = u16::from(self.puzzle.sets()[set].orientations);
        let (piece, turn) = (number / orientations, (number % orientations) as u8);
        let pieces = &self.pieces[set];
        // Most puzzles number their pieces by kinds.
        let kind = match pieces.get(usize::from(piece)) {
            Some(&same) if same == piece => piece as u8,
            _ => pieces.iter().position(|&other| other == piece).unwrap_or(0) as u8,
        };
        Placed { kind, turn }
    }

    /// Whether a row is a state, by the same rules as [`Listed::state`].
    fn is_state(&self, row: &[u16]) -> bool {
        let sets = self.puzzle.sets();
        let mut left = [0u8; 256];
        sets.iter().enumerate().all(|(i, set)| {
            left.fill(0);
            set.solved.iter().for_each(|piece| left[usize::from(piece.kind)] += 1);
            let own = self.places.iter().zip(row).filter(|((set, _), _)| *set == i);
            own.into_iter().all(|(_, &number)| {
                let Placed { kind, turn } = self.placed(i, number);
                let fits = self.number(i, Placed { kind, turn }) == number
                    && turn < set.moduli[usize::from(kind)]
                    && left[usize::from(kind)] > 0;
                left[usize::from(kind)] = left[usize::from(kind)].wrapping_sub(1);
                fits
            })
        })
    }

    /// Returns the state of a row; an error says what is wrong with it.
    pub fn state(&self, row: &[u16]) -> Result<Arrangement, String> {
        let mut state = self.puzzle.solved();
        for (i, (&(set, position), &number)) in self.places.iter().zip(row).enumerate() {
            let of = &self.puzzle.sets()[set];
            let orientations = u16::from(of.orientations);
            let (piece, turn) = (number / orientations, (number % orientations) as u8);
            let kind = self.pieces[set].iter().position(|&other| other == piece);
            let fits = kind.filter(|&kind| turn < of.moduli[kind]);
            let Some(kind) = fits else {
                return Err(format!(
                    "{number} at position {i} is not a piece of set '{}'",
                    of.name
                ));
            };
            state.0[set][position] = Placed { kind: kind as u8, turn };
        }
        for ((set, row), pieces) in self.puzzle.sets().iter().zip(&state.0).zip(&self.pieces) {
            for kind in 0..set.moduli.len() as u8 {
                let found = row.iter().filter(|piece| piece.kind == kind).count();
                let expected = set.pieces_of(kind);
                if found != expected {
                    return Err(format!(
                        "piece {} of set '{}' occurs {found} times instead of {expected}",
                        pieces[usize::from(kind)],
                        set.name
                    ));
                }
            }
        }
        Ok(state)
    }

    /// Reads states and checks that all of them are states of the puzzle.
    pub fn read(&self, states: &Bound<'_, PyAny>) -> PyResult<Rows> {
        let rows = arrays::rows(states, self.form(), &|text| self.row_of_text(text))?;
        let all = rows.numbers.par_chunks_exact(self.places.len()).with_min_len(1 << 12);
        let wrong = all.enumerate().find_first(|(_, row)| !self.is_state(row));
        if let Some((i, row)) = wrong
            && let Err(wrong) = self.state(row)
        {
            let which = if rows.is_one() { String::new() } else { format!("row {i}: ") };
            return Err(invalid(which + &wrong));
        }
        Ok(rows)
    }

    /// The row of a text: its numbers, moves from the solved state, or the piece at each position.
    fn row_of_text(&self, text: &str) -> Result<Vec<u16>, tilewave::Error> {
        let words = text.split(|c: char| c.is_whitespace() || c == '/').filter(|w| !w.is_empty());
        let numbers: Option<Vec<u16>> = words.map(|word| word.parse::<u16>().ok()).collect();
        let width = self.places.len();
        match numbers {
            Some(numbers) if numbers.len() == width => Ok(numbers),
            Some(numbers) if !numbers.is_empty() => Err(tilewave::Error::Report(format!(
                "'{text}' is not a state: a state has {width} numbers"
            ))),
            _ => Ok(self.row(&self.puzzle.read(text)?.0)),
        }
    }

    /// Returns the solved state as numbers.
    pub fn goal_row(&self) -> Vec<u16> {
        self.row(&self.puzzle.solved())
    }

    /// Returns, for each move, the state after it from a state that has been read, or `None` if the move is not
    /// possible.
    pub fn after(&self, row: &[u16]) -> Vec<Option<Vec<u16>>> {
        let Ok(state) = self.state(row) else { return Vec::new() };
        let moves = 0..self.puzzle.moves().len();
        moves.map(|i| self.puzzle.moved(&state, i).map(|after| self.row(&after))).collect()
    }

    /// Returns all states in the order of their depths, or `None` if there are more than `most`: rows, depths, and the
    /// neighbours of each state, as the ends of all ranges and the numbers in them.
    pub fn graph(&self, most: usize, stop: impl Fn() -> bool) -> Option<Graph> {
        let goals: Vec<Vec<u16>> = self.puzzle.goals().iter().map(|of| self.row(of)).collect();
        let depths = vec![0; goals.len()];
        let rows = goals.concat();
        let mut graph = Graph { rows, depths, ends: vec![0], next: Vec::new() };
        let width = graph.rows.len() / goals.len();
        let mut known: HashMap<_, _> = goals.into_iter().zip(0..).collect();
        while graph.ends.len() <= graph.depths.len() && !stop() {
            let at = graph.ends.len() - 1;
            let row = graph.rows[at * width..(at + 1) * width].to_vec();
            let mut next: Vec<i32> = Vec::new();
            for after in self.after(&row).into_iter().flatten() {
                let new = known.len() as i32;
                let number = *known.entry(after).or_insert_with_key(|after| {
                    graph.rows.extend(after);
                    graph.depths.push(graph.depths[at] + 1);
                    new
                });
                if number as usize != at {
                    next.push(number);
                }
            }
            if known.len() > most {
                return None;
            }
            next.sort_unstable();
            next.dedup();
            graph.next.extend(&next);
            graph.ends.push(graph.next.len() as i64);
        }
        Some(graph)
    }
}

/// The states and moves of a puzzle as a graph.
#[derive(Default)]
pub struct Graph {
    pub rows: Vec<u16>,
    pub depths: Vec<i32>,
    pub ends: Vec<i64>,
    pub next: Vec<i32>,
}

/// Moves as arrays: for each move and position, where the position takes its piece from, and by how much the piece
/// turns.
pub struct Turning {
    pub sources: Vec<Vec<usize>>,
    pub twists: Option<Vec<Vec<u16>>>,
    pub orientations: Vec<u8>,
    pub solved: Option<Vec<u16>>,
}

impl Turning {
    /// Reads the arrays of moves over this many positions.
    pub fn read(
        sources: Vec<Vec<usize>>,
        width: usize,
        twists: Option<&Bound<'_, PyAny>>,
        orientations: Option<&Bound<'_, PyAny>>,
        solved: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Turning> {
        let row = |of: &Bound<'_, PyAny>, what: &str| -> PyResult<Vec<u16>> {
            let array = arrays::as_array(of)?;
            let wrong =
                |_, value| invalid(format!("{what} contains {value}: use numbers from 0 to 65535"));
            let numbers = arrays::numbers(&array, &wrong)?;
            match array.shape() {
                [length] if *length == width => Ok(numbers),
                [] => Ok(vec![numbers[0]; width]),
                shape => Err(invalid(format!(
                    "{what} must have one number for each of {width} positions, not the shape \
                     {shape:?}"
                ))),
            }
        };
        let orientations = orientations.map_or(Ok(vec![1; width]), |of| row(of, "orientations"))?;
        let fits = |&number: &u16| u8::try_from(number).ok().filter(|&number| number > 0);
        let orientations: Option<Vec<u8>> = orientations.iter().map(fits).collect();
        let orientations =
            orientations.ok_or_else(|| invalid("orientations must be numbers from 1 to 255"))?;
        let twists = match twists {
            None => None,
            Some(of) => {
                let array = arrays::as_array(of)?;
                if *array.shape() != [sources.len(), width] {
                    let shape = array.shape();
                    return Err(invalid(format!(
                        "twists must have the shape of the generators, ({}, {width}), not \
                         {shape:?}",
                        sources.len()
                    )));
                }
                let wrong = |_, value| {
                    invalid(format!("twists contains {value}: use numbers from 0 to 65535"))
                };
                let numbers = arrays::numbers(&array, &wrong)?;
                Some(numbers.chunks_exact(width.max(1)).map(<[u16]>::to_vec).collect())
            }
        };
        let solved = solved.map(|of| row(of, "solved")).transpose()?;
        Ok(Turning { sources, twists, orientations, solved })
    }

    /// Whether the moves only permute pieces that all differ.
    pub fn is_plain(&self) -> bool {
        let mut pieces = self.solved.clone().unwrap_or_default();
        pieces.sort_unstable();
        let different = pieces.windows(2).all(|two| two[0] != two[1]);
        different && self.orientations.iter().all(|&orientations| orientations == 1)
    }

    /// The sets of positions that exchange pieces with each other.
    fn orbits(&self) -> Vec<Vec<usize>> {
        let width = self.orientations.len();
        let (mut orbits, mut done) = (Vec::new(), vec![false; width]);
        for first in 0..width {
            let (mut open, mut orbit) = (vec![first], Vec::new());
            while let Some(at) = open.pop() {
                if !std::mem::replace(&mut done[at], true) {
                    orbit.push(at);
                    open.extend(self.sources.iter().map(|source| source[at]));
                }
            }
            orbit.sort_unstable();
            if !orbit.is_empty() {
                orbits.push(orbit);
            }
        }
        orbits
    }

    /// Returns the puzzle with these moves and no others, unless inverses are added.
    pub fn puzzle(&self, name: &str, names: &[String], inverses: bool) -> PyResult<Listed> {
        let all = self.orbits();
        let numbers: Vec<u16> = (0..self.orientations.len() as u16).collect();
        let solved = self.solved.as_ref().unwrap_or(&numbers);
        let (mut sets, mut pieces) = (Vec::new(), Vec::new());
        for (i, positions) in all.iter().enumerate() {
            let orientations = self.orientations[positions[0]];
            if let Some(&other) =
                positions.iter().find(|&&at| self.orientations[at] != orientations)
            {
                return Err(invalid(format!(
                    "moves take pieces between positions {} and {other}, so both must have the \
                     same number of orientations",
                    positions[0]
                )));
            }
            let mut kinds: Vec<u16> = positions.iter().map(|&at| solved[at]).collect();
            kinds.sort_unstable();
            kinds.dedup();
            let most = usize::from(*kinds.last().unwrap_or(&0)) + 1;
            if most * usize::from(orientations) > MOST_NUMBER + 1 {
                return Err(invalid(format!(
                    "piece {} with {orientations} orientations has a number above {MOST_NUMBER}: \
                     number the pieces from 0",
                    most - 1
                )));
            }
            let kind = |at: &usize| kinds.iter().position(|piece| *piece == solved[*at]);
            let placed = |at| Placed { kind: kind(at).unwrap_or(0) as u8, turn: 0 };
            let letters = if all.len() == 1 { "pieces".into() } else { format!("pieces{}", i + 1) };
            sets.push(PieceSet {
                name: letters,
                orientations,
                solved: positions.iter().map(placed).collect(),
                moduli: vec![orientations; kinds.len()],
            });
            pieces.push(kinds);
        }
        let mut places = vec![(0, 0); self.orientations.len()];
        for (i, positions) in all.iter().enumerate() {
            for (j, &at) in positions.iter().enumerate() {
                places[at] = (i, j);
            }
        }
        let turn = |number: usize, positions: &Vec<usize>| SetAction {
            source: positions.iter().map(|&at| places[self.sources[number][at]].1 as u8).collect(),
            twist: (positions.iter())
                .map(|&at| self.twists.as_ref().map_or(0, |all| all[number][at].min(255) as u8))
                .collect(),
        };
        let one = |(number, name): (usize, &String)| Move {
            name: name.clone(),
            transformation: Transformation(all.iter().map(|of| turn(number, of)).collect()),
            requires: None,
        };
        let puzzle = Puzzle::new(name, sets, names.iter().enumerate().map(one).collect());
        let puzzle = puzzle.and_then(|of| if inverses { of.inverse_closed() } else { Ok(of) });
        Ok(Listed { puzzle: puzzle.map_err(exception)?, metric: None, places, pieces })
    }
}
