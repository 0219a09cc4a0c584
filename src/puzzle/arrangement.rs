//! The text form of arrangements of a puzzle's pieces.
//!
//! `1 2 3 4/0 1 0 2; 2 1` lists, for each set of pieces, the piece at each position, counted from 1 in the order of the
//! solved puzzle, and after the slash the orientation of each of these pieces, if the pieces of the set can be turned.
//! The name of a set may precede its pieces: `corners 1 2 3 4/0 1 0 2; centers 2 1`.
//!
//! Invariant: printed text is read back as the same arrangement.

use std::collections::BTreeMap;

use crate::{
    puzzle::{
        PuzzleError, algorithm,
        orbits::{Arrangement, Orbit, OrbitPuzzle, Placed, Transformation},
    },
    units::shown,
};

impl OrbitPuzzle {
    /// Returns an arrangement as a line of text: each set's name, its pieces by position counted from 1, and their
    /// orientations.
    pub fn text(&self, arrangement: &Arrangement) -> String {
        let numbers = |values: &mut dyn Iterator<Item = u8>| {
            let text = |value: u8| match value {
                Placed::ANY => "?".into(),
                value => value.to_string(),
            };
            values.map(text).collect::<Vec<_>>().join(" ")
        };
        let row = |(orbit, row): (&Orbit, &Vec<Placed>)| {
            let pieces = numbers(&mut row.iter().map(|piece| piece.kind.saturating_add(1)));
            let turns = match orbit.moduli.iter().any(|&modulus| modulus > 1) {
                true => format!("/{}", numbers(&mut row.iter().map(|piece| piece.turn))),
                false => String::new(),
            };
            format!("{} {pieces}{turns}", orbit.name)
        };
        let rows: Vec<String> = self.orbits().iter().zip(&arrangement.0).map(row).collect();
        rows.join("; ")
    }

    /// Returns the arrangement that a text describes: the pieces of each set by position, or a sequence of moves from
    /// the solved puzzle, `R U2 (R' F)3`. For a sequence of moves, also returns its transformation.
    ///
    /// # Errors
    /// [`PuzzleError`] for the first error in the text.
    pub fn read(&self, text: &str) -> Result<(Arrangement, Option<Transformation>), PuzzleError> {
        if self.is_arrangement(text) {
            return Ok((self.read_arrangement(text)?, None));
        }
        self.read_moves(text).map(|all| (self.after(&self.solved(), &all), Some(all)))
    }

    /// Returns the transformation of a sequence of moves.
    ///
    /// # Errors
    /// Same errors as [`OrbitPuzzle::read`].
    pub(crate) fn read_moves(&self, text: &str) -> Result<Transformation, PuzzleError> {
        if let Some(one) = self.moves().iter().find(|one| one.requires.is_some()) {
            return Err(PuzzleError::SequenceRequires(one.name.clone()));
        }
        let named = |name: &str| self.named_move(name).map(|one| one.transformation.clone());
        algorithm::transformation(text, self.orbits(), named).map_err(|error| match error {
            PuzzleError::UnknownMove { name, .. } => {
                let moves = self.moves().iter().map(|one| one.name.as_str());
                let moves = moves.collect::<Vec<_>>().join(" ");
                let of = format!(" of {}: the moves are {moves}", self.name());
                PuzzleError::UnknownMove { name, of }
            }
            error => error,
        })
    }

    /// Returns the pieces at each position, by sets. `?` stands for any piece or any orientation, and so does a part
    /// that is left out; a sequence of moves is not accepted.
    ///
    /// # Errors
    /// Same errors as [`OrbitPuzzle::read`].
    pub(crate) fn read_mask(&self, text: &str) -> Result<Arrangement, PuzzleError> {
        let any = |orbit: &Orbit| {
            vec![Placed { kind: Placed::ANY, turn: Placed::ANY }; orbit.positions()]
        };
        let mut rows: Vec<Vec<Placed>> = self.orbits().iter().map(any).collect();
        for (at, text) in text.split(';').map(str::trim).enumerate() {
            let name = text.split_whitespace().next().unwrap_or_default();
            let is_name = |orbit: &Orbit| orbit.name.eq_ignore_ascii_case(name);
            let index = self.orbits().iter().position(is_name).unwrap_or(at);
            let Some(orbit) = self.orbits().get(index) else {
                return Err(PuzzleError::Sets { found: at + 1, expected: self.orbits().len() });
            };
            rows[index] = read_set(orbit, text, true)?;
        }
        Ok(Arrangement(rows))
    }

    /// Whether a text lists pieces by position: its first word that is not the name of a set is a number.
    pub(crate) fn is_arrangement(&self, text: &str) -> bool {
        let mut words = text.split_whitespace();
        let first = words.next().unwrap_or_default();
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || c == '?');
        let is_name = self.orbits().iter().any(|orbit| orbit.name.eq_ignore_ascii_case(first));
        let is_move = |word: &str| self.named_move(word).is_some();
        match is_name && words.next().is_some_and(is_number) {
            true => true,
            false => is_number(first) && !is_move(first),
        }
    }

    fn read_arrangement(&self, text: &str) -> Result<Arrangement, PuzzleError> {
        let sets: Vec<&str> = text.split(';').collect();
        if sets.len() != self.orbits().len() {
            return Err(PuzzleError::Sets { found: sets.len(), expected: self.orbits().len() });
        }
        let rows = self.orbits().iter().zip(sets);
        let rows = rows.map(|(orbit, text)| read_set(orbit, text.trim(), false));
        Ok(Arrangement(rows.collect::<Result<_, _>>()?))
    }
}

fn read_set(orbit: &Orbit, text: &str, masked: bool) -> Result<Vec<Placed>, PuzzleError> {
    let name = || orbit.name.clone();
    let is_any = |word: &str| masked && word == "?";
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let is_number = first.starts_with(|c: char| c.is_ascii_digit()) || is_any(first);
    let text = if is_number { text } else { rest };
    if text.is_empty() || text.len() == rest.len() && !first.eq_ignore_ascii_case(&orbit.name) {
        return Err(PuzzleError::SetName { found: shown(first, 32), expected: name() });
    }
    let (pieces, turns) = text.split_once('/').unwrap_or((text, ""));
    let numbers = |text: &str| -> Result<Vec<u8>, PuzzleError> {
        let number = |word: &str| match is_any(word) {
            true => Ok(Placed::ANY),
            false => match word.parse() {
                Ok(number) if number < Placed::ANY => Ok(number),
                _ => Err(PuzzleError::NoNumber { word: shown(word, 32), set: name() }),
            },
        };
        text.split_whitespace().map(number).collect()
    };
    let (pieces, mut turns) = (numbers(pieces)?, numbers(turns)?);
    if turns.is_empty() {
        let turn = |&piece: &u8| if piece == Placed::ANY { Placed::ANY } else { 0 };
        turns = pieces.iter().map(turn).collect();
    }
    if pieces.len() != orbit.positions() || turns.len() != pieces.len() {
        let (found, expected) = (pieces.len().min(turns.len()), orbit.positions());
        return Err(PuzzleError::SetPositions { set: name(), found, expected });
    }
    let mut left: BTreeMap<u8, usize> = BTreeMap::new();
    for piece in &orbit.solved {
        *left.entry(piece.kind).or_default() += 1;
    }
    let mut row = Vec::new();
    for (piece, turn) in pieces.into_iter().zip(turns) {
        let kind = if piece == Placed::ANY { piece } else { piece.wrapping_sub(1) };
        match left.get_mut(&kind) {
            Some(count) if *count > 0 => *count -= 1,
            None if piece == Placed::ANY => {}
            _ => return Err(PuzzleError::PieceCount { set: name(), piece }),
        }
        let modulus = *orbit.moduli.get(usize::from(kind)).unwrap_or(&orbit.orientations);
        if turn >= modulus && turn != Placed::ANY {
            return Err(PuzzleError::Turn { orbit: name(), turn, modulus });
        }
        row.push(Placed { kind, turn });
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::puzzle::{
        named,
        orbits::{OrbitMove, OrbitTurn, Turns},
    };

    /// All arrangements of an orbit's pieces.
    fn all(orbit: &Orbit) -> HashSet<Vec<Placed>> {
        let mut rows = HashSet::from([Vec::new()]);
        for _ in 0..orbit.positions() {
            let more = |row: &Vec<Placed>| {
                let row = row.clone();
                let left = move |kind: &u8| {
                    orbit.pieces_of(*kind) > row.iter().filter(|piece| piece.kind == *kind).count()
                };
                (0..orbit.moduli.len() as u8).filter(left).collect::<Vec<_>>()
            };
            let step = |row: &Vec<Placed>| {
                let place = |kind: u8| {
                    let turns = 0..orbit.moduli[usize::from(kind)];
                    turns.map(|turn| [&row[..], &[Placed { kind, turn }]].concat()).collect()
                };
                more(row).into_iter().flat_map::<Vec<_>, _>(place).collect::<Vec<_>>()
            };
            rows = rows.iter().flat_map(step).collect();
        }
        rows
    }

    #[test]
    fn what_moves_reach_is_told_from_what_they_do_not() {
        let turn = |source: [u8; 4], twist: [u8; 4]| {
            vec![OrbitTurn { source: source.into(), twist: twist.into() }]
        };
        let cycle = turn([1, 2, 3, 0], [0; 4]);
        let sets = [
            vec![cycle.clone(), turn([0, 1, 2, 3], [1, 1, 0, 0])],
            vec![cycle.clone(), turn([1, 0, 2, 3], [0, 0, 0, 1])],
            vec![turn([1, 2, 0, 3], [0; 4]), turn([0, 2, 3, 1], [1, 0, 0, 0])],
            vec![cycle.clone(), turn([0, 3, 2, 1], [0; 4])],
            vec![turn([1, 0, 3, 2], [1, 0, 0, 0])],
        ];
        let kinds = [[0, 1, 2, 3], [0, 1, 1, 2], [0, 0, 1, 1]];
        let (mut told, mut refused) = (0, 0);
        for (moves, kinds) in sets.iter().flat_map(|set| kinds.map(|kinds| (set, kinds))) {
            for (orientations, modulus) in [(1, 1), (2, 2), (3, 3), (4, 2)] {
                let mut orbit = Orbit::distinct("coins", 4, orientations);
                orbit.solved.iter_mut().zip(kinds).for_each(|(piece, kind)| piece.kind = kind);
                orbit.moduli = vec![modulus; 1 + usize::from(*kinds.iter().max().unwrap())];
                let moves = moves.iter().enumerate().map(|(i, turns)| {
                    let mut turns = turns.clone();
                    turns[0].twist.iter_mut().for_each(|twist| *twist %= orientations);
                    let transformation = Transformation(turns);
                    OrbitMove { name: format!("M{i}"), transformation, requires: None }
                });
                let rows = all(&orbit);
                let Ok(puzzle) = OrbitPuzzle::new("coins", vec![orbit], moves.collect()) else {
                    continue;
                };
                let mut open = vec![puzzle.solved()];
                let mut seen: HashSet<Arrangement> = open.iter().cloned().collect();
                while let Some(state) = open.pop() {
                    let after = (0..puzzle.moves().len()).filter_map(|m| puzzle.moved(&state, m));
                    open.extend(after.filter(|state| seen.insert(state.clone())));
                }
                for row in rows {
                    let state = Arrangement(vec![row]);
                    if let Some(reached) = puzzle.reaches(&state) {
                        assert_eq!(reached.is_ok(), seen.contains(&state), "{puzzle:?} {state:?}");
                        told += 1;
                        refused += usize::from(reached.is_err());
                    }
                }
            }
        }
        assert!(told > 3000 && refused > 1000, "{told} {refused}");
    }

    #[test]
    fn sequences_come_back_after_their_order() {
        let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers).unwrap();
        for (text, order) in [("R U", 105), ("R U R' U'", 6), ("R2 U2", 6), ("", 1), ("R", 4)] {
            let (_, moves) = cube.read(text).unwrap();
            assert_eq!(moves.unwrap().order(cube.orbits()), Some(order), "{text}");
        }
    }

    #[test]
    fn texts_come_back_and_moves_are_read() {
        let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers).unwrap();
        let (state, moves) = cube.read("(R U R' U')2 F2").unwrap();
        assert!(moves.is_some());
        let text = cube.text(&state);
        assert_eq!(cube.read(&text).unwrap().0, state);
        // Names may be left out.
        let bare: Vec<&str> = text.split("; ").map(|set| set.split_once(' ').unwrap().1).collect();
        assert_eq!(cube.read(&bare.join(";")).unwrap().0, state);
        assert_eq!(cube.read("").unwrap().0, cube.solved());
        for (text, wrong) in [
            ("R Q", "'Q' is not a move of "),
            ("1 2 3", "found 1 set of pieces, but the puzzle has 2"),
            ("corners 1 2 3; edges 1", "set 'corners' has 8 positions, but 3 are given"),
        ] {
            let told = cube.read(text).unwrap_err().to_string();
            assert!(told.contains(wrong), "{text}: {told}");
        }
    }
}
