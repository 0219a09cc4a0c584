//! The contents of a file before it becomes a puzzle: points, sets of pieces, and points joined into pieces.
//!
//! The module of a format makes a [`PointSource`] or a [`SetSource`]; mod.rs makes a puzzle of it, in the same
//! way for all formats.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    puzzle::{
        GluedPiece, Move, NamedPermutation, Permutation, PieceAt, PieceSet, Placed, Puzzle,
        PuzzleError, SetAction, Transformation, Turns,
        error::wrong,
        group::{faithful, orbits, restricted},
        notation,
        sets::check_name,
    },
    units::{digits, joined, shown},
};

// Invariant: all moves permute the same points, and they become a puzzle in the same way for all formats.

/// Points, their labels, and the moves.
#[derive(Clone)]
pub(crate) struct PointSource {
    pub labels: Vec<usize>,
    pub moves: Vec<NamedPermutation>,
    /// For each point, the number of the element there, if some elements look alike.
    pub equal: Option<Vec<usize>>,
    /// The line number for errors that concern the whole definition.
    pub line: usize,
}

impl PointSource {
    fn permutations(&self) -> Vec<Permutation> {
        self.moves.iter().map(|(_, permutation)| permutation.clone()).collect()
    }

    /// Returns the puzzle of permutations of as few points as suffice to distinguish its states, with inverses or
    /// powers added; `None` if they are too many, or if some elements look alike.
    pub fn puzzle(&self, name: &str, turns: Turns) -> Result<Option<Puzzle>, PuzzleError> {
        if self.equal.is_some() {
            return Ok(None);
        }
        if self.moves.len() > Puzzle::MAX_MOVES {
            return Err(PuzzleError::many_moves());
        }
        let (points, permutations) = (self.labels.len(), self.permutations());
        if permutations.iter().all(Permutation::is_identity) {
            return Err(PuzzleError::no_generators());
        }
        let Some(kept) = faithful(points, &permutations, Puzzle::MAX_POSITIONS) else {
            return Ok(None);
        };
        let restricted = |(name, of): &NamedPermutation| (name.clone(), restricted(of, &kept));
        let moves = self.moves.iter().map(restricted).collect();
        let labels: Vec<usize> = kept.iter().map(|&p| self.labels[p]).collect();
        let puzzle = Puzzle::of_permutations(name, kept.len(), moves)?;
        let mut puzzle = puzzle.labelled(&labels)?.counting(turns)?;
        let (count, moved) = (kept.len(), orbits(points, &permutations).concat().len());
        if count < moved {
            let points = joined(labels, " ");
            puzzle = puzzle.noted(format!(
                "{count} of the {moved} points are enough to distinguish all states: {points}"
            ));
        }
        Ok(Some(puzzle))
    }
}

/// Checks that a name is not used for a second move, and that a puzzle can have one more move.
pub(crate) fn once<'a>(
    mut names: impl ExactSizeIterator<Item = &'a str>,
    name: &str,
) -> Result<(), PuzzleError> {
    if names.len() == Puzzle::MAX_MOVES {
        return Err(PuzzleError::many_moves());
    }
    check_name(name)?;
    match names.any(|other| other == name) {
        true => Err(PuzzleError::name_twice(&shown(name, 32))),
        false => Ok(()),
    }
}

/// The error for a list of the wrong length.
pub(crate) fn wrong_numbers(found: usize, expected: usize) -> PuzzleError {
    wrong!(Shape: "found {found} numbers, but {expected} are needed")
}

/// Returns the line number of a part of a text.
pub(crate) fn line_of(part: &str, text: &str) -> usize {
    let at = part.as_ptr() as usize - text.as_ptr() as usize;
    1 + text[..at].matches('\n').count()
}

/// Returns the orientation that a word gives a piece.
pub(crate) fn turn(word: &str, orientations: u8) -> Result<u8, PuzzleError> {
    let turn = digits(word).filter(|&turn| turn < orientations);
    let wrong = || {
        let all = match orientations {
            1 => "one orientation".into(),
            all => format!("{all} orientations"),
        };
        let by = shown(word, 32);
        wrong!(Range: "a piece is turned by {by}, but the pieces of its set have only {all}")
    };
    turn.ok_or_else(wrong)
}

// Invariant: whatever the file format, its sets become those of a puzzle in the same way, and those of its names that are moves
// become moves.

/// A piece of the solved puzzle, as given in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FilePiece {
    pub number: usize,
    /// The number of orientations that can be distinguished.
    pub modulus: u8,
    pub turn: u8,
}

pub(crate) struct FileSet {
    pub name: String,
    pub orientations: u8,
    pub solved: Vec<FilePiece>,
}

impl FileSet {
    /// Returns a set of pieces that all differ. The numbers of pieces and orientations come with their lines.
    pub fn new(
        name: impl Into<String>,
        (pieces, pieces_line): (usize, usize),
        (orientations, orientations_line): (usize, usize),
    ) -> Result<FileSet, PuzzleError> {
        if !(1..=Permutation::MAX_LEN).contains(&pieces) {
            return Err(wrong!(Range: "the set has {pieces} pieces, but a set must have 1 to 255")
                .at(pieces_line));
        }
        let modulus = u8::try_from(orientations).ok().filter(|o| (1..=127).contains(o));
        let wrong = || {
            wrong!(Unsupported: "pieces with {orientations} orientations are not supported here: \
                the number of orientations must be 1 to 127")
            .at(orientations_line)
        };
        let modulus = modulus.ok_or_else(wrong)?;
        let piece = |number| FilePiece { number, modulus, turn: 0 };
        Ok(FileSet {
            name: name.into(),
            orientations: modulus,
            solved: (0..pieces).map(piece).collect(),
        })
    }

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

    fn piece_set(&self) -> PieceSet {
        let kinds = self.kinds();
        let placed = |piece: &FilePiece| {
            let kind = kinds.binary_search(&(piece.number, piece.modulus)).expect("its own kind");
            Placed { kind: kind as u8, turn: piece.turn }
        };
        PieceSet {
            name: self.name.clone(),
            orientations: self.orientations,
            solved: self.solved.iter().map(placed).collect(),
            moduli: kinds.iter().map(|&(_, modulus)| modulus).collect(),
        }
    }
}

pub(crate) struct FileSequence {
    pub name: String,
    pub text: String,
    pub line: usize,
    pub is_move: bool,
}

/// Sets of pieces, and the moves.
#[derive(Default)]
pub(crate) struct SetSource {
    pub sets: Vec<FileSet>,
    /// Moves, and rotations of the whole puzzle.
    pub moves: Vec<(String, Transformation)>,
    /// The effects of other names.
    pub named: Vec<(String, Transformation)>,
    pub illegal: Vec<PieceAt>,
    /// Pieces that are glued together.
    pub blocks: Vec<Vec<GluedPiece>>,
    /// The line number for errors that concern the whole definition.
    pub line: usize,
}

impl SetSource {
    pub fn piece_sets(&self) -> Vec<PieceSet> {
        self.sets.iter().map(FileSet::piece_set).collect()
    }

    /// Checks that a name is not used for a second move, and that the puzzle can have one more move.
    pub fn check_new(&self, name: &str, line: usize) -> Result<(), PuzzleError> {
        let names = self.moves.iter().map(|(name, _)| name.as_str());
        once(names, name).map_err(|error| error.at(line))
    }

    /// Resolves named sequences: those that are moves, and those that are only names. Each may use the names of others.
    /// The error is that of the first move that uses an unknown name.
    pub fn resolve(&mut self, sequences: Vec<FileSequence>) -> Result<(), PuzzleError> {
        let sets = self.piece_sets();
        let mut open = sequences;
        loop {
            let before = open.len();
            let mut left = Vec::new();
            for one in open {
                match self.sequence(&one.text, &sets) {
                    Ok(done) if one.is_move => self.moves.push((one.name, done)),
                    Ok(done) => self.named.push((one.name, done)),
                    Err(error) => left.push((one, error)),
                }
            }
            if left.len() == before || left.is_empty() {
                let wrong = left.into_iter().find(|(one, _)| one.is_move);
                return wrong.map_or(Ok(()), |(one, error)| Err(error.at(one.line)));
            }
            open = left.into_iter().map(|(one, _)| one).collect();
        }
    }

    /// Returns the effect of a sequence of names in the file.
    fn sequence(&self, text: &str, sets: &[PieceSet]) -> Result<Transformation, PuzzleError> {
        let all = || self.moves.iter().chain(&self.named);
        let find = |name: &str| all().find(|(other, _)| other == name).map(|(_, of)| of.clone());
        notation::transformation(text, sets, find)
    }

    /// Returns the puzzle as points, if it has one set of pieces that all differ and never turn.
    pub fn points(&self) -> Option<PointSource> {
        let [set] = self.sets.as_slice() else { return None };
        let labels: Vec<usize> = set.solved.iter().map(|piece| piece.number).collect();
        let different: BTreeSet<&usize> = labels.iter().collect();
        let is_free = self.illegal.is_empty() && self.blocks.is_empty();
        if set.orientations > 1 || different.len() < labels.len() || !is_free {
            return None;
        }
        let moves = self.moves.iter().filter(|(name, _)| !is_rotation(name));
        let permutation = |(name, of): &(String, Transformation)| {
            let source = &of.0[0].source;
            let pulled = Permutation::from_fn(source.len(), |p| usize::from(source[p]));
            (name.clone(), pulled.inverse())
        };
        let moves = moves.map(permutation).collect();
        Some(PointSource { labels, moves, equal: None, line: self.line })
    }

    /// Returns the puzzle.
    pub fn puzzle(&self, name: &str, turns: Turns) -> Result<Puzzle, PuzzleError> {
        let listed = self.moves.iter().filter(|(name, _)| !is_rotation(name));
        let moves = listed.map(|(name, of)| Move::free(name, of.clone())).collect();
        let conditions = (self.illegal.clone(), self.blocks.clone());
        Puzzle::under(name, self.piece_sets(), moves, conditions)?.counting(turns)
    }
}

/// Whether a name is that of a rotation of the whole puzzle, which twsearch does not count as a move: x, y or z, or
/// capital letters followed by a v.
fn is_rotation(name: &str) -> bool {
    let axis = name.strip_prefix(['x', 'y', 'z']);
    let grip = name.strip_suffix('v').filter(|grip| !grip.is_empty());
    let capital = |c: char| c.is_ascii_uppercase() || c == '_';
    axis.is_some_and(|rest| matches!(rest, "" | "2" | "'"))
        || grip.is_some_and(|grip| grip.chars().all(capital))
}

// Joins points of a puzzle into pieces: stickers that always move together are one piece, which may turn.
//
// A point determines another one if every product of moves that fixes the first also fixes the second. Within an orbit
// of the group, points that determine each other form a piece. Permutations that commute with all moves can exchange
// them; a cycle of such permutations is the way in which a piece turns. Points of other orbits that they determine are
// attached to them.
//
// Invariant: the pieces, their positions and turns determine the element at every point that moves, and nothing else.

/// A set of pieces.
struct Pieces {
    /// For each position, its points, in the order in which a turn takes each to the next.
    positions: Vec<Vec<usize>>,
    /// For each attached orbit, the point that is attached to each point.
    stuck: Vec<BTreeMap<usize, usize>>,
}

impl SetSource {
    /// Returns the sets of pieces that the points form, without those in which nothing is visible.
    pub fn of_points(points: &PointSource) -> SetSource {
        let moves = points.permutations();
        let number = |&point: &usize| match &points.equal {
            Some(numbers) => numbers[point],
            None => points.labels[point],
        };
        let mut sets = Vec::new();
        let mut turns: Vec<Vec<SetAction>> = vec![Vec::new(); moves.len()];
        for pieces in pieces_of(points.labels.len(), &moves) {
            let solved = pieces.solved(number);
            if solved.windows(2).all(|two| two[0] == two[1]) && solved[0].modulus == 1 {
                continue;
            }
            let orientations = pieces.positions[0].len() as u8;
            let own = if orientations > 1 { "PIECES" } else { "POINTS" };
            let before = sets.iter().filter(|set: &&FileSet| set.name.starts_with(own)).count();
            let number = if before == 0 { String::new() } else { (before + 1).to_string() };
            sets.push(FileSet { name: format!("{own}{number}"), orientations, solved });
            for (turns, of) in turns.iter_mut().zip(&moves) {
                turns.push(SetAction::of_points(&pieces.positions, |point| of.image(point)));
            }
        }
        let names = points.moves.iter().map(|(name, _)| name.clone());
        SetSource {
            sets,
            moves: names.zip(turns.into_iter().map(Transformation)).collect(),
            line: points.line,
            ..SetSource::default()
        }
    }
}

/// The pieces that the points form, largest orbits first.
fn pieces_of(points: usize, moves: &[Permutation]) -> Vec<Pieces> {
    let mut open = orbits(points, moves);
    open.sort_by_key(|orbit| std::cmp::Reverse(orbit.len()));
    let mut all = Vec::new();
    while !open.is_empty() {
        let orbit = open.remove(0);
        let map = |by: &usize| equivariant_map(orbit[0], *by, moves);
        let mut stuck = Vec::new();
        open.retain(|other| {
            let found = other.iter().find_map(map);
            stuck.extend(found.clone());
            found.is_none()
        });
        // Among the permutations that commute with all moves, the one with the longest cycles.
        let turn = orbit.iter().filter_map(map).max_by_key(|of| cycle(orbit[0], of).len());
        let turn = turn.expect("a point says where it is itself");
        let mut positions: Vec<Vec<usize>> = Vec::new();
        for &point in &orbit {
            if !positions.iter().any(|position| position.contains(&point)) {
                positions.push(cycle(point, &turn));
            }
        }
        all.push(Pieces { positions, stuck });
    }
    all
}

/// The cycle of points that begins with a point, under a map.
fn cycle(first: usize, of: &BTreeMap<usize, usize>) -> Vec<usize> {
    let next = |&point: &usize| Some(of[&point]).filter(|&next| next != first);
    std::iter::successors(Some(first), next).collect()
}

/// The map that takes one point to another and commutes with all moves; `None` if there is none. It says where the other
/// point is, wherever moves take the first.
fn equivariant_map(
    one: usize,
    other: usize,
    moves: &[Permutation],
) -> Option<BTreeMap<usize, usize>> {
    let mut map = BTreeMap::from([(one, other)]);
    let mut open = vec![(one, other)];
    while let Some((one, other)) = open.pop() {
        for of in moves {
            let (one, other) = (of.image(one), of.image(other));
            match map.insert(one, other) {
                None => open.push((one, other)),
                Some(known) if known != other => return None,
                Some(_) => {}
            }
        }
    }
    Some(map)
}

impl Pieces {
    /// The piece at each position of the solved puzzle, when points have these numbers.
    fn solved(&self, number: impl Fn(&usize) -> usize) -> Vec<FilePiece> {
        let letter = |point: &usize| {
            let stuck = self.stuck.iter().map(|to| number(&to[point]));
            std::iter::once(number(point)).chain(stuck).collect::<Vec<usize>>()
        };
        let words: Vec<Vec<Vec<usize>>> =
            self.positions.iter().map(|points| points.iter().map(letter).collect()).collect();
        let rotated = |word: &Vec<Vec<usize>>, turn: usize| {
            let mut word = word.clone();
            word.rotate_left(turn);
            word
        };
        // The turn for which the resulting piece is smallest, and the turn after which it is the same again.
        let least = |word: &Vec<Vec<usize>>| {
            let turns = 0..word.len();
            let turn = turns.min_by_key(|&turn| (rotated(word, turn), turn)).unwrap_or_default();
            let same = |&turn: &usize| rotated(word, turn) == *word;
            (turn, (1..=word.len()).find(same).unwrap_or(1))
        };
        let mut kinds: Vec<Vec<Vec<usize>>> =
            words.iter().map(|word| rotated(word, least(word).0)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let piece = |word: &Vec<Vec<usize>>| {
            let (turn, modulus) = least(word);
            let kind = kinds.binary_search(&rotated(word, turn)).expect("one of them");
            FilePiece { number: kind + 1, modulus: modulus as u8, turn: turn as u8 }
        };
        words.iter().map(piece).collect()
    }
}
