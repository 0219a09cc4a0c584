//! A puzzle whose sets of pieces are as small as its moves allow.
//!
//! Where the moves are those of a subgroup, some places of a set cannot be reached from others, and some pieces cannot be
//! turned. Each class of places becomes a set, and orientations that no move changes become part of the kind of a piece:
//! <U,D,R2,L2,F2,B2> has eight corners and eight edges that are not turned, and four other edges. Tables of the sets then
//! have only entries that can be reached: 40,320 for these corners, not 88,179,840.
//!
//! Invariant: states of the puzzle that moves connect, and only those, are connected states of the split puzzle, and a
//! move has the same number in both.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::puzzle::{
    Arrangement, Move, PieceSet, Placed, Puzzle, SetAction, Transformation, group::all_orbits,
};

/// A puzzle, and what its sets are in another one.
pub(crate) struct SplitPuzzle {
    pub puzzle: Puzzle,
    parts: Vec<SplitSet>,
    /// Places whose pieces stay as they are.
    still: Vec<SplitSet>,
}

/// Some places of a set.
struct SplitSet {
    set: usize,
    places: Vec<u8>,
    /// What is subtracted from the orientation of a piece at each place: then no move changes it.
    ahead: Option<Vec<u8>>,
    /// The kinds, as pieces of the set.
    kinds: BTreeMap<Placed, Placed>,
    /// The orientations of each kind of the set.
    moduli: Vec<u8>,
}

impl SplitSet {
    fn is_still(&self) -> bool {
        self.places.len() == 1 && self.ahead.is_some()
    }

    /// What no move changes of a piece at one of the places: its kind, and its orientation if it is not turned.
    fn kept(&self, index: usize, piece: Placed) -> Placed {
        let turn = self.ahead.as_ref().map_or(0, |ahead| {
            let modulus = self.moduli[usize::from(piece.kind)];
            (piece.turn + modulus - ahead[index] % modulus) % modulus
        });
        Placed { turn, ..piece }
    }

    fn piece(&self, index: usize, piece: Placed) -> Option<Placed> {
        let kind = *self.kinds.get(&self.kept(index, piece))?;
        Some(if self.ahead.is_some() { kind } else { Placed { turn: piece.turn, ..kind } })
    }
}

impl SplitPuzzle {
    /// Splits the sets of a puzzle, one of whose moves may always be made; `None` if there is nothing to split.
    pub fn of(puzzle: &Puzzle) -> Option<SplitPuzzle> {
        if !puzzle.allows_all_moves() {
            return None;
        }
        let all = puzzle.sets.iter().enumerate();
        let all = all.flat_map(|(set, _)| puzzle.split_set(set));
        let (still, parts): (Vec<SplitSet>, Vec<SplitSet>) = all.partition(SplitSet::is_still);
        let is_whole = |part: &SplitSet| {
            let set = &puzzle.sets[part.set];
            part.places.len() == set.positions() && (part.ahead.is_none() || set.orientations == 1)
        };
        if still.is_empty() && parts.len() == puzzle.sets.len() && parts.iter().all(is_whole) {
            return None;
        }
        let goals: Option<BTreeSet<Arrangement>> =
            puzzle.goals().iter().map(|goal| state_of(&parts, goal)).collect();
        let solved = state_of(&parts, &puzzle.solved())?;
        let sets = parts.iter().zip(solved.0).map(|(part, solved)| {
            let set = &puzzle.sets[part.set];
            let moduli = |(piece, to): (&Placed, &Placed)| {
                let own = part.moduli[usize::from(piece.kind)];
                (to.kind, if part.ahead.is_some() { 1 } else { own })
            };
            let moduli: BTreeMap<u8, u8> = part.kinds.iter().map(moduli).collect();
            PieceSet {
                name: format!("{}-{}", set.name, part.places[0] + 1),
                orientations: if part.ahead.is_some() { 1 } else { set.orientations },
                solved,
                moduli: moduli.into_values().collect(),
            }
        });
        let moves = puzzle.moves.iter().map(|one| {
            let turns = parts.iter().map(|part| part.action(&one.transformation));
            Move { transformation: Transformation(turns.collect()), ..one.clone() }
        });
        let split = Puzzle {
            name: puzzle.name.clone(),
            labels: Vec::new(),
            sets: sets.collect(),
            moves: moves.collect(),
            aliases: Vec::new(),
            illegal: Vec::new(),
            blocks: Vec::new(),
            notes: Vec::new(),
            notation: None,
            goals: None,
        };
        Some(SplitPuzzle { puzzle: split.solved_at(goals?), parts, still })
    }

    /// The state of the split puzzle; `None` if no moves lead to it from the solved state.
    pub fn state(&self, state: &Arrangement) -> Option<Arrangement> {
        state_of(&self.still, state)?;
        state_of(&self.parts, state)
    }
}

fn state_of(parts: &[SplitSet], state: &Arrangement) -> Option<Arrangement> {
    let row = |part: &SplitSet| {
        let own = &state.0[part.set];
        let pieces = part.places.iter().enumerate();
        pieces.map(|(index, &place)| part.piece(index, own[usize::from(place)])).collect()
    };
    Some(Arrangement(parts.iter().map(row).collect::<Option<_>>()?))
}

impl SplitSet {
    fn action(&self, of: &Transformation) -> SetAction {
        let turn = &of.0[self.set];
        let index = |place: u8| self.places.iter().position(|&own| own == place);
        let source = |&place: &u8| {
            let from = index(turn.source[usize::from(place)]).expect("places of an orbit");
            from as u8
        };
        let twist = |&place: &u8| match self.ahead {
            Some(_) => 0,
            None => turn.twist[usize::from(place)],
        };
        SetAction {
            source: self.places.iter().map(source).collect(),
            twist: self.places.iter().map(twist).collect(),
        }
    }
}

impl Puzzle {
    /// The parts of a set, between which no move takes a piece.
    fn split_set(&self, index: usize) -> Vec<SplitSet> {
        let set = &self.sets[index];
        let turns: Vec<&SetAction> =
            self.moves.iter().map(|one| &one.transformation.0[index]).collect();
        let sources: Vec<&[u8]> = turns.iter().map(|turn| &turn.source[..]).collect();
        let orbits = all_orbits(set.positions(), &sources);
        let part = |places: Vec<usize>| {
            let ahead = self.unturned(index, places[0]);
            let solved = self.solved();
            let goals = self.goals();
            let all = goals.iter().chain([&solved]).map(|goal| &goal.0[index]);
            let mut part = SplitSet {
                set: index,
                places: places.iter().map(|&place| place as u8).collect(),
                ahead: ahead.map(|ahead| places.iter().map(|&place| ahead[place]).collect()),
                kinds: BTreeMap::new(),
                moduli: set.moduli.clone(),
            };
            let mut kinds = BTreeSet::new();
            for (row, (index, &place)) in
                all.flat_map(|row| places.iter().enumerate().map(move |place| (row, place)))
            {
                kinds.insert(part.kept(index, row[place]));
            }
            let number = |(kind, piece)| (piece, Placed { kind, turn: 0 });
            part.kinds = (0..).zip(kinds).map(number).collect();
            part
        };
        orbits.into_iter().map(part).collect()
    }

    /// For the places that moves connect with one, how much a piece is turned on the way there, if that does not depend on
    /// the way.
    fn unturned(&self, set: usize, first: usize) -> Option<Vec<u8>> {
        let modulus = self.sets[set].orientations;
        let mut ahead = vec![None; self.sets[set].positions()];
        ahead[first] = Some(0);
        let mut open = VecDeque::from([first]);
        while let Some(from) = open.pop_front() {
            let own = ahead[from].unwrap_or(0);
            for one in &self.moves {
                let turn = &one.transformation.0[set];
                let to = turn.source.iter().position(|&source| usize::from(source) == from);
                let to = to.expect("moves permute places");
                let there = (own + turn.twist[to]) % modulus;
                match ahead[to] {
                    Some(known) if known != there => return None,
                    Some(_) => {}
                    None => {
                        ahead[to] = Some(there);
                        open.push_back(to);
                    }
                }
            }
        }
        Some(ahead.into_iter().map(Option::unwrap_or_default).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puzzle::{Turns, named};

    /// Subgroups of puzzles that turn and do not turn their pieces; states and moves correspond.
    #[test]
    fn moves_do_the_same_in_a_split_puzzle() {
        for (name, kept, sets) in [
            ("3x3x3", "U D R2 L2 F2 B2", "corners-1:8 edges-1:8 edges-5:4"),
            ("3x3x3", "U", ""),
            ("2x2x2", "U R2 F2", ""),
            ("megaminx", "U R", ""),
        ] {
            let whole = named::parse(name).unwrap().counting(Turns::Powers).unwrap();
            let part = whole.clone().only(|one| {
                kept.split(' ').any(|own| one == own || one.trim_end_matches(['2', '\'']) == own)
            });
            let part = part.unwrap();
            let split = SplitPuzzle::of(&part).unwrap();
            let text: Vec<String> = split.puzzle.sets().iter().map(PieceSet::to_string).collect();
            if !sets.is_empty() {
                assert_eq!(text.join(" "), sets);
            }
            assert_eq!(split.puzzle.states(), part.states(), "{name} {kept}");
            let (mut state, mut random) = (part.solved(), crate::random::SplitMix64::new(1));
            assert_eq!(split.state(&state), Some(split.puzzle.solved()));
            for _ in 0..100 {
                let one = random.draw() as usize % part.moves().len();
                let before = split.state(&state).unwrap();
                state = part.moved(&state, one).unwrap();
                assert_eq!(split.state(&state), split.puzzle.moved(&before, one), "{name} {kept}");
            }
            // What only other moves reach.
            let other = whole.moves().iter().find(|one| {
                split.state(&whole.after(&whole.solved(), &one.transformation)).is_none()
            });
            assert!(other.is_some() || name != "3x3x3");
            // Nothing is left to split.
            assert!(SplitPuzzle::of(&split.puzzle).is_none());
        }
        let whole = named::parse("3x3x3").unwrap().counting(Turns::Powers).unwrap();
        assert!(SplitPuzzle::of(&whole).is_none());
    }
}
