//! Inverses of states, and the effects of moves on them.
//!
//! Invariant: a state and its inverse need the same number of moves.

use crate::{
    frontier::{FieldKind, FieldMap, StateFields},
    puzzle::orbits::{OrbitPlace, OrbitPuzzle},
};

/// Inverses of states, for puzzles whose states are products of moves: all pieces differ, all orientations are visible,
/// and every move has its inverse and is always allowed. A state and its inverse need the same number of moves.
pub(crate) struct Inverses {
    /// The effects of moves on the row of the inverse.
    pub moves: Vec<FieldMap>,
}

impl Inverses {
    /// Returns the effects of moves on inverses; `None` if states have no inverses.
    pub fn of(puzzle: &OrbitPuzzle, fields: &StateFields) -> Option<Inverses> {
        let whole = puzzle.orbits().iter().all(|orbit| {
            let mut kinds: Vec<u8> = orbit.solved.iter().map(|piece| piece.kind).collect();
            kinds.sort_unstable();
            kinds.windows(2).all(|two| two[0] != two[1])
                && orbit.solved.iter().all(|piece| piece.turn == 0)
                && orbit.moduli.iter().all(|&modulus| modulus == orbit.orientations)
        });
        let free =
            puzzle.illegal().is_empty() && puzzle.moves().iter().all(|one| one.requires.is_none());
        let one_goal = *puzzle.goals() == [puzzle.solved()];
        if !whole || !free || !one_goal || puzzle.is_directed() {
            return None;
        }
        let moves = puzzle.moves().iter().map(|one| {
            let inverse = one.transformation.inverse(puzzle.orbits());
            // The inverse of "a state, then a move" is the inverse of the move, then the inverse of the state: a piece
            // goes where the piece goes whose home it reaches first.
            let mut map = FieldMap { source: Vec::new(), table: Vec::new() };
            for field in &fields.fields {
                let FieldKind::Location { kind } = field.kind else { return None };
                let orbit = &puzzle.orbits()[field.orbit];
                let turn = &inverse.0[field.orbit];
                let home = orbit.solved.iter().position(|piece| piece.kind == kind)?;
                let to = turn.source.iter().position(|&from| usize::from(from) == home)?;
                let at = OrbitPlace {
                    orbit: field.orbit as u8,
                    position: 0,
                    kind: orbit.solved[to].kind,
                };
                map.source.push(fields.location(at)? as u16);
                let twist = usize::from(turn.twist[to]);
                let turned = |value| {
                    value / field.modulus * field.modulus
                        + (value % field.modulus + twist) % field.modulus
                };
                map.table.push((0..field.values).map(|value| turned(value) as u8).collect());
            }
            Some(map)
        });
        Some(Inverses { moves: moves.collect::<Option<_>>()? })
    }

    /// Returns the row of the inverse of a state.
    pub fn row(puzzle: &OrbitPuzzle, fields: &StateFields, row: &[u8]) -> Vec<u8> {
        let mut inverse = vec![0; row.len()];
        for (field, &value) in fields.fields.iter().zip(row) {
            let FieldKind::Location { kind } = field.kind else { continue };
            let orbit = &puzzle.orbits()[field.orbit];
            let home = orbit.solved.iter().position(|piece| piece.kind == kind);
            let (position, turn) =
                (usize::from(value) / field.modulus, usize::from(value) % field.modulus);
            let at = OrbitPlace {
                orbit: field.orbit as u8,
                position: 0,
                kind: orbit.solved[position].kind,
            };
            if let (Some(home), Some(of)) = (home, fields.location(at)) {
                inverse[of] = (home * field.modulus + (field.modulus - turn) % field.modulus) as u8;
            }
        }
        inverse
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        puzzle::{named, orbits::Turns},
        random::SplitMix64,
    };

    #[test]
    fn inverses_follow_the_moves() {
        let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers).unwrap();
        let fields = StateFields::of(&cube);
        let inverses = Inverses::of(&cube, &fields).unwrap();
        let mut random = SplitMix64::new(3);
        let mut row = fields.encode(&cube.solved());
        let mut inverse = row.clone();
        for _ in 0..100 {
            let one = random.draw() as usize % cube.moves().len();
            row = fields.of_move(&cube, &cube.moves()[one].transformation).apply(&row);
            inverse = inverses.moves[one].apply(&inverse);
            assert_eq!(inverse, Inverses::row(&cube, &fields, &row));
            assert_eq!(row, Inverses::row(&cube, &fields, &inverse));
        }
    }
}
