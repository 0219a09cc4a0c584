//! The contents of a file with sets of pieces, before it becomes a puzzle.
//!
//! Invariant: whatever the file format, its sets become orbits in the same way, and those of its names that are moves
//! become moves.

use std::collections::BTreeSet;

use crate::{
    puzzle::{
        Generator, Permutation, PuzzleError, algorithm,
        formats::source::{Counting, Located, PointSource},
        orbits::{Orbit, OrbitMove, OrbitPlace, OrbitPuzzle, Placed, Transformation},
    },
    units::shown,
};

/// A piece of the solved puzzle, as given in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FilePiece {
    pub number: usize,
    /// The number of orientations that can be distinguished.
    pub modulus: u8,
    pub turn: u8,
}

/// A set of pieces.
pub(crate) struct PieceSet {
    pub name: String,
    pub orientations: u8,
    /// The line that defines the set, and the line that gives its contents.
    pub lines: (usize, usize),
    pub solved: Vec<FilePiece>,
}

impl PieceSet {
    /// The kinds of pieces: their numbers, and the moduli for each number in increasing order.
    fn kinds(&self) -> Vec<(usize, u8)> {
        let kinds: BTreeSet<(usize, u8)> =
            self.solved.iter().map(|piece| (piece.number, piece.modulus)).collect();
        kinds.into_iter().collect()
    }

    /// Returns the kinds of pieces with a number.
    pub fn kinds_of(&self, number: usize) -> impl Iterator<Item = u8> {
        let kinds = self.kinds().into_iter().enumerate();
        kinds.filter(move |(_, (other, _))| *other == number).map(|(kind, _)| kind as u8)
    }

    fn orbit(&self) -> Orbit {
        let kinds = self.kinds();
        let placed = |piece: &FilePiece| {
            let kind = kinds.binary_search(&(piece.number, piece.modulus)).expect("its own kind");
            Placed { kind: kind as u8, turn: piece.turn }
        };
        Orbit {
            name: self.name.clone(),
            orientations: self.orientations,
            solved: self.solved.iter().map(placed).collect(),
            moduli: kinds.iter().map(|&(_, modulus)| modulus).collect(),
        }
    }

    /// A number that two pieces share.
    fn twice(&self) -> Option<usize> {
        let mut seen = BTreeSet::new();
        self.solved.iter().map(|piece| piece.number).find(|&number| !seen.insert(number))
    }
}

/// The sets and moves of a file that make up the puzzle, and how its moves count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extract {
    /// How moves count.
    pub counting: Counting,
    /// The sets to keep; empty for all sets.
    pub sets: Vec<String>,
    /// The moves, by name or as `NAME=SEQUENCE`; empty for all moves of the file.
    pub moves: Vec<String>,
}

/// A named sequence of moves.
pub(crate) struct FileSequence {
    pub name: String,
    pub text: String,
    pub line: usize,
    pub is_move: bool,
}

/// Sets of pieces, and the moves.
#[derive(Default)]
pub(crate) struct SetSource {
    pub sets: Vec<PieceSet>,
    /// Moves, and rotations of the whole puzzle.
    pub moves: Vec<(String, Transformation)>,
    /// The effects of other names.
    pub named: Vec<(String, Transformation)>,
    pub illegal: Vec<OrbitPlace>,
    /// The line of the last of these.
    pub illegal_line: usize,
    /// Whether all powers of a move count as one unless the user specifies otherwise.
    pub powers: bool,
    /// The line number for errors that concern the whole definition.
    pub line: usize,
}

impl SetSource {
    pub fn orbits(&self) -> Vec<Orbit> {
        self.sets.iter().map(PieceSet::orbit).collect()
    }

    /// Resolves named sequences: those that are moves, and those that are only names. Each may use the names of others.
    ///
    /// # Errors
    /// The first sequence that uses an unknown name.
    pub fn resolve(&mut self, sequences: Vec<FileSequence>) -> Result<(), Located> {
        let orbits = self.orbits();
        let mut open = sequences;
        loop {
            let before = open.len();
            let mut left = Vec::new();
            for one in open {
                match self.sequence(&one.text, &orbits) {
                    Ok(done) if one.is_move => self.moves.push((one.name, done)),
                    Ok(done) => self.named.push((one.name, done)),
                    Err(_) => left.push(one),
                }
            }
            if left.len() == before || left.is_empty() {
                let wrong = left.into_iter().find(|one| one.is_move);
                return wrong.map_or(Ok(()), |one| {
                    let error = self.sequence(&one.text, &orbits).expect_err("it was one");
                    Err(error.at(one.line))
                });
            }
            open = left;
        }
    }

    /// Returns the effect of a sequence of names in the file.
    fn sequence(&self, text: &str, orbits: &[Orbit]) -> Result<Transformation, PuzzleError> {
        let all = || self.moves.iter().chain(&self.named);
        let find = |name: &str| all().find(|(other, _)| other == name).map(|(_, of)| of.clone());
        algorithm::transformation(text, orbits, find)
    }

    /// Returns the puzzle as points, if it has one set of pieces that all differ and never turn.
    pub fn points(&self) -> Result<PointSource, Located> {
        let [set] = self.sets.as_slice() else {
            let second = &self.sets[1];
            let kind = PuzzleError::SecondSet(shown(&second.name, 32));
            return Err(kind.at(second.lines.0));
        };
        if set.orientations > 1 {
            let kind = PuzzleError::Orientations(set.orientations.into());
            return Err(kind.at(set.lines.0));
        }
        if let Some(twice) = set.twice() {
            return Err(PuzzleError::AlikePieces(format!("{twice} twice")).at(set.lines.1));
        }
        if !self.illegal.is_empty() {
            return Err(PuzzleError::Unsupported("Illegal".into()).at(self.illegal_line));
        }
        let moves = self.moves.iter().filter(|(name, _)| !is_rotation(name));
        let generator = |(name, of): &(String, Transformation)| {
            let source = &of.0[0].source;
            let pulled = Permutation::from_fn(source.len(), |p| usize::from(source[p]));
            Generator { name: name.clone(), permutation: pulled.inverse() }
        };
        Ok(PointSource {
            labels: set.solved.iter().map(|piece| piece.number).collect(),
            generators: moves.map(generator).collect(),
            equal: None,
            powers: true,
            line: self.line,
        })
    }

    /// Returns the puzzle with the selected sets and moves.
    pub fn puzzle(&self, name: &str, extract: &Extract) -> Result<OrbitPuzzle, Located> {
        let orbits = self.orbits();
        let plain = |(name, of): &(String, Transformation)| (name.clone(), of.clone());
        let moves: Vec<(String, Transformation)> = if extract.moves.is_empty() {
            self.moves.iter().filter(|(name, _)| !is_rotation(name)).map(plain).collect()
        } else {
            let chosen = |text: &String| {
                let (name, sequence) = text.split_once('=').unwrap_or((text, text));
                let wrong = |error: PuzzleError| error.at(self.line);
                let of = self.sequence(sequence, &orbits).map_err(wrong)?;
                Ok::<_, Located>((name.into(), of))
            };
            extract.moves.iter().map(chosen).collect::<Result<_, _>>()?
        };
        let one = |(name, transformation)| OrbitMove { name, transformation, requires: None };
        OrbitPuzzle::new(name, orbits, moves.into_iter().map(one).collect())
            .map(|puzzle| puzzle.forbidding(self.illegal.clone()))
            .and_then(|puzzle| match extract.sets.as_slice() {
                [] => Ok(puzzle),
                sets => puzzle.keeping(sets),
            })
            .and_then(|puzzle| puzzle.counting(extract.counting.turns(self.powers)))
            .map_err(|error| error.at(self.line))
    }
}

// Rotations of a whole puzzle, which twsearch does not count as moves.

/// Whether a name is that of a rotation: x, y or z, or capital letters followed by a v.
fn is_rotation(name: &str) -> bool {
    let axis = name.strip_prefix(['x', 'y', 'z']);
    let grip = name.strip_suffix('v').filter(|grip| !grip.is_empty());
    let capital = |c: char| c.is_ascii_uppercase() || c == '_';
    axis.is_some_and(|rest| matches!(rest, "" | "2" | "'"))
        || grip.is_some_and(|grip| grip.chars().all(capital))
}
