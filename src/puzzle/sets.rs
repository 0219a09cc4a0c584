//! A puzzle: sets of pieces, and moves that permute and turn the pieces.
//!
//! Invariant: all moves of a [`Puzzle`] permute the positions of its sets, have a visible effect, and have distinct
//! effects and distinct names.

use std::{collections::HashSet, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    puzzle::{
        PuzzleError, Size,
        error::{MAX_LOCATIONS, MAX_MOVES, bail, wrong},
        permutation::gcd,
    },
    units::{counted, shown},
};

/// A set of positions whose pieces can exchange places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PieceSet {
    /// The name of the set in files.
    pub name: String,
    /// Number of orientations of a piece: 1 if pieces cannot be turned.
    pub orientations: u8,
    /// The piece at each position of the solved puzzle.
    pub solved: Vec<Placed>,
    /// Number of distinguishable orientations for each kind of piece: a divisor of `orientations`.
    pub moduli: Vec<u8>,
}

/// A piece at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Placed {
    /// Its kind, counted from 0 within the set.
    pub kind: u8,
    /// Its orientation, below the modulus of its kind.
    pub turn: u8,
}

impl Placed {
    /// Stands for any kind, or any orientation, in a mask.
    pub(crate) const ANY: u8 = u8::MAX;
    /// Stands for any kind in any orientation.
    pub(super) const MASK: Placed = Placed { kind: Placed::ANY, turn: Placed::ANY };

    /// Whether it stands for several pieces or orientations.
    pub(super) fn is_masked(&self) -> bool {
        self.kind == Placed::ANY || self.turn == Placed::ANY
    }
}

impl PieceSet {
    /// Returns a set whose pieces all differ, solved in the order of their positions.
    pub fn distinct(name: impl Into<String>, positions: u8, orientations: u8) -> PieceSet {
        PieceSet {
            name: name.into(),
            orientations,
            solved: (0..positions).map(|kind| Placed { kind, turn: 0 }).collect(),
            moduli: vec![orientations; usize::from(positions)],
        }
    }

    /// Returns the number of positions.
    pub fn positions(&self) -> usize {
        self.solved.len()
    }

    /// Returns the number of locations, that is, pairs of a position and an orientation.
    pub fn locations(&self) -> usize {
        self.positions() * usize::from(self.orientations)
    }

    /// The error for an orientation that a piece does not have.
    pub(super) fn no_orientation(&self, turn: u8, modulus: u8) -> PuzzleError {
        let (set, all) = (&self.name, counted(modulus.into(), "orientation"));
        wrong!(Range: "set '{set}': orientation {turn} of a piece is out of range: the piece has \
            only {all}")
    }

    /// The error if moves depend on a set that is left out.
    pub(super) fn needed(&self) -> PuzzleError {
        let set = &self.name;
        wrong!(Impossible: "set '{set}' cannot be left out, because some moves depend on it")
    }

    /// Returns the number of pieces of a kind.
    pub fn pieces_of(&self, kind: u8) -> usize {
        self.solved.iter().filter(|piece| piece.kind == kind).count()
    }
}

/// For example `edges:12/2`: the name, the number of positions, and the number of orientations if there are several.
impl fmt::Display for PieceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.positions())?;
        if self.orientations > 1 { write!(f, "/{}", self.orientations) } else { Ok(()) }
    }
}

/// The effect of a move on one set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SetAction {
    /// For each position, the position from which it receives its piece.
    pub source: Vec<u8>,
    /// For each position, by how much the piece that it receives turns.
    pub twist: Vec<u8>,
}

impl SetAction {
    /// Returns the turn that moves nothing.
    pub fn still(positions: usize) -> SetAction {
        SetAction { source: (0..positions).map(|p| p as u8).collect(), twist: vec![0; positions] }
    }

    /// Returns the effect of a permutation of points on positions, each of which consists of points in the order in
    /// which a turn of its piece takes each to the next.
    pub(super) fn of_points(positions: &[Vec<usize>], image: impl Fn(usize) -> usize) -> SetAction {
        let mut turn = SetAction::still(positions.len());
        for (from, points) in positions.iter().enumerate() {
            let image = image(points[0]);
            let at = |points: &Vec<usize>| points.iter().position(|&point| point == image);
            let mut places = positions.iter().enumerate();
            let found = places.find_map(|(place, points)| Some((place, at(points)?)));
            let (place, twist) = found.expect("a set is closed");
            (turn.source[place], turn.twist[place]) = (from as u8, twist as u8);
        }
        turn
    }

    /// Whether some piece changes its position.
    fn moves(&self) -> bool {
        self.source.iter().enumerate().any(|(p, &from)| p != usize::from(from))
    }

    /// Whether some piece is turned.
    fn twists(&self) -> bool {
        self.twist.iter().any(|&twist| twist != 0)
    }
}

/// The effect of a move on each set, in the order of the puzzle's sets.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Transformation(pub Vec<SetAction>);

impl Transformation {
    /// Returns the transformation that does nothing.
    pub fn identity(sets: &[PieceSet]) -> Transformation {
        Transformation(sets.iter().map(|set| SetAction::still(set.positions())).collect())
    }

    /// Returns this transformation followed by another one.
    pub fn then(&self, next: &Transformation, sets: &[PieceSet]) -> Transformation {
        let both = |((first, next), set): ((&SetAction, &SetAction), &PieceSet)| SetAction {
            source: next.source.iter().map(|&p| first.source[usize::from(p)]).collect(),
            twist: (next.source.iter().zip(&next.twist))
                .map(|(&p, &twist)| (first.twist[usize::from(p)] + twist) % set.orientations)
                .collect(),
        };
        Transformation(self.0.iter().zip(&next.0).zip(sets).map(both).collect())
    }

    /// Returns the transformation that undoes this one.
    pub fn inverse(&self, sets: &[PieceSet]) -> Transformation {
        let back = |(turn, set): (&SetAction, &PieceSet)| {
            let mut inverse = turn.clone();
            for (to, (&from, &twist)) in turn.source.iter().zip(&turn.twist).enumerate() {
                inverse.source[usize::from(from)] = to as u8;
                inverse.twist[usize::from(from)] = (set.orientations - twist) % set.orientations;
            }
            inverse
        };
        Transformation(self.0.iter().zip(sets).map(back).collect())
    }

    /// Returns whether the transformation moves and turns no piece.
    pub fn is_identity(&self) -> bool {
        !self.0.iter().any(|turn| turn.moves() || turn.twists())
    }

    /// Returns this transformation made a number of times, or undone as often if that is negative. Cost: two compositions for
    /// each bit of the number.
    pub(super) fn power(&self, times: i32, sets: &[PieceSet]) -> Transformation {
        let mut square = if times < 0 { self.inverse(sets) } else { self.clone() };
        let (mut left, mut all) = (times.unsigned_abs(), Transformation::identity(sets));
        while left > 0 {
            if left % 2 == 1 {
                all = all.then(&square, sets);
            }
            (square, left) = (square.then(&square, sets), left / 2);
        }
        all
    }

    /// Returns the powers 1, 2, .. up to the last one that is not the identity; at most `most` of them.
    pub fn powers(&self, sets: &[PieceSet], most: usize) -> Vec<Transformation> {
        let next = |power: &Transformation| Some(power.then(self, sets));
        std::iter::successors(Some(self.clone()), next)
            .take_while(|power| !power.is_identity())
            .take(most)
            .collect()
    }

    /// Whether the piece at a position of a set is moved or turned, be it in a way that nobody sees.
    pub(crate) fn takes(&self, set: usize, position: usize) -> bool {
        let turn = &self.0[set];
        usize::from(turn.source[position]) != position || turn.twist[position] != 0
    }

    /// Returns the number of repetitions that bring all pieces back; `None` if it exceeds 64 bits.
    pub fn order(&self, sets: &[PieceSet]) -> Option<u64> {
        let mut order = 1u64;
        for (turn, set) in self.0.iter().zip(sets) {
            let mut seen = vec![false; turn.source.len()];
            for first in 0..seen.len() {
                let (mut length, mut twist, mut at) = (0, 0, first);
                while !std::mem::replace(&mut seen[at], true) {
                    (length, twist) = (length + 1, twist + u64::from(turn.twist[at]));
                    at = usize::from(turn.source[at]);
                }
                let turns = u64::from(set.orientations);
                let back = (1..=turns).find(|times| (times * twist).is_multiple_of(turns))?;
                let cycle = length.max(1) * back;
                order = (order / gcd(order, cycle)).checked_mul(cycle)?;
            }
        }
        Some(order)
    }

    /// Returns the location to which a piece at a location of a set goes: position * orientations + orientation.
    pub fn locations(&self, set: usize, orientations: u8) -> Vec<u8> {
        let turn = &self.0[set];
        let mut to = vec![0; turn.source.len() * usize::from(orientations)];
        for (position, (&from, &twist)) in turn.source.iter().zip(&turn.twist).enumerate() {
            for old in 0..orientations {
                let location = usize::from(from) * usize::from(orientations) + usize::from(old);
                to[location] = position as u8 * orientations + (old + twist) % orientations;
            }
        }
        to
    }
}

/// The piece at each position of each set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Arrangement(pub Vec<Vec<Placed>>);

/// A move of a puzzle, with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// Its name, without spaces.
    pub name: String,
    /// The effect of the move.
    pub transformation: Transformation,
    /// The piece that must be at a certain position before the move, in any orientation, such as the blank of a board.
    pub requires: Option<PieceAt>,
}

impl Move {
    /// Returns a move that is always allowed.
    pub(crate) fn free(name: impl Into<String>, transformation: Transformation) -> Move {
        Move { name: name.into(), transformation, requires: None }
    }
}

/// A kind of piece at a position of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PieceAt {
    /// Index of the set.
    #[serde(rename = "orbit")]
    pub set: u8,
    /// The position.
    pub position: u8,
    /// The kind of piece.
    pub kind: u8,
}

impl PieceAt {
    /// Whether a state has such a piece at the position.
    #[inline]
    fn is_in(&self, state: &Arrangement) -> bool {
        state.0[usize::from(self.set)][usize::from(self.position)].kind == self.kind
    }
}

/// A piece of a block: one that differs from all others of its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GluedPiece {
    /// Index of the set.
    #[serde(rename = "orbit")]
    pub set: u8,
    /// The kind of piece, of which there is one.
    pub kind: u8,
}

/// The turns that count as one move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Turns {
    /// Any power of the turn.
    #[default]
    Powers,
    /// The turn and its inverse.
    Quarter,
    /// The turn alone, without its inverse.
    Directed,
    /// For cubes, any turn of any one layer, also of a middle one.
    Slice,
    /// For cubes, any turns of layers of one axis, all together.
    Axial,
}

/// The layers of a cube or cuboid, for the axes from U to D, from F to B and from R to L: how many there are, and which of
/// them, counted from 1, is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layers {
    counts: [u8; 3],
    /// 0 if none of them is.
    fixed: [u8; 3],
}

impl Layers {
    /// Layers of which there are at most 255.
    pub fn new(counts: [usize; 3], fixed: [Option<usize>; 3]) -> Layers {
        let fixed = fixed.map(|layer| layer.unwrap_or_default() as u8);
        Layers { counts: counts.map(|count| count as u8), fixed }
    }

    /// The number of layers of each axis.
    pub fn counts(&self) -> [usize; 3] {
        self.counts.map(usize::from)
    }

    /// The fixed layer of an axis.
    pub fn fixed(&self, axis: usize) -> Option<usize> {
        Some(self.fixed[axis].into()).filter(|&layer| layer > 0)
    }

    /// The number of layers of every axis, if it is a cube.
    pub fn of_cube(&self) -> Option<usize> {
        let [count, ..] = self.counts;
        (self.counts == [count; 3]).then_some(count.into())
    }

    /// Whether the faces across an axis are squares; others turn by half turns only.
    pub fn is_square(&self, axis: usize) -> bool {
        self.counts[(axis + 1) % 3] == self.counts[(axis + 2) % 3]
    }

    /// The number of layers that turn together if those with the fixed piece stay, where that is a move of its own.
    pub fn wide(&self, axis: usize) -> Option<usize> {
        let count = self.counts()[axis];
        (self.fixed(axis) == Some(count) && count > 2).then(|| count - 1)
    }
}

/// What the moves of a named puzzle are called besides their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// Those of a cube or cuboid.
    Layers(Layers),
    Skewb,
    Megaminx,
    Octahedron,
    Clock,
    SquareOne,
    /// That of boards of a size.
    Slides(Size),
}

/// A puzzle: sets of pieces, and moves that permute and turn the pieces. Cubes, minxes, skewbs, boards of any size and
/// permutations are puzzles.
///
/// A **position** of a set holds one piece in one of its orientations. A **move** gives, for each position, the position
/// that its piece comes from, and by how much the piece turns on the way. Pieces of the same **kind** look alike; for a
/// kind with modulus m, orientations that differ by a multiple of m look alike too.
#[derive(Clone, Debug)]
pub struct Puzzle {
    pub(super) name: String,
    /// What the pieces of a puzzle of permutations are called; empty for all others.
    pub(super) labels: Vec<usize>,
    pub(super) sets: Vec<PieceSet>,
    pub(super) moves: Vec<Move>,
    /// Listed moves that are not moves of the puzzle, because they have no visible effect or the same effect as another
    /// move. Sequences of moves may still use their names.
    pub(super) aliases: Vec<Move>,
    pub(super) illegal: Vec<PieceAt>,
    /// Pieces that are glued together: a move that takes along some of a block and leaves others is not possible.
    pub(super) blocks: Vec<Vec<GluedPiece>>,
    pub(super) notes: Vec<String>,
    /// How the moves of a named puzzle can be written besides by their names.
    pub(super) notation: Option<Notation>,
    /// `None` if the solved state is the only one.
    pub(super) goals: Option<Arc<GoalSet>>,
}

/// How sequences of moves may be written is not part of a puzzle: files do not tell it.
impl PartialEq for Puzzle {
    fn eq(&self, other: &Puzzle) -> bool {
        fn told(of: &Puzzle) -> impl PartialEq {
            let Puzzle {
                name,
                labels,
                sets,
                moves,
                aliases,
                illegal,
                blocks,
                notes,
                goals,
                notation: _,
            } = of;
            (name, labels, sets, moves, aliases, illegal, blocks, notes, goals)
        }
        told(self) == told(other)
    }
}

impl Eq for Puzzle {}

/// The solved states of a puzzle that has several of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GoalSet {
    /// States and masks as text, and the moves under which the set is closed.
    pub texts: Vec<String>,
    pub subgroup: Vec<Transformation>,
    /// All solved states, in order.
    pub states: Vec<Arrangement>,
}

/// What no state may have, and the blocks of pieces that no move may split.
pub(super) type PuzzleConditions = (Vec<PieceAt>, Vec<Vec<GluedPiece>>);

/// A puzzle as stored in the files of a run.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PuzzleJson {
    #[serde(rename = "orbits")]
    sets: Vec<PieceSet>,
    moves: Vec<Move>,
    illegal: Vec<PieceAt>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<Vec<GluedPiece>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    goals: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    subgroup: Vec<Transformation>,
}

impl Puzzle {
    /// The maximum number of locations of a set.
    pub const MAX_LOCATIONS: usize = MAX_LOCATIONS;
    /// The maximum number of moves, including inverses and powers.
    pub const MAX_MOVES: usize = MAX_MOVES;

    /// Returns the puzzle with exactly these moves, except that only the first of equal moves is kept, and moves that
    /// have no visible effect are dropped.
    pub fn new(
        name: impl Into<String>,
        sets: Vec<PieceSet>,
        moves: Vec<Move>,
    ) -> Result<Puzzle, PuzzleError> {
        Puzzle::under(name, sets, moves, (Vec::new(), Vec::new()))
    }

    /// The same with what no state may have, and with blocks.
    pub(super) fn under(
        name: impl Into<String>,
        sets: Vec<PieceSet>,
        moves: Vec<Move>,
        (illegal, blocks): PuzzleConditions,
    ) -> Result<Puzzle, PuzzleError> {
        if sets.iter().all(|set| set.solved.is_empty()) {
            bail!(Missing: "a puzzle needs at least one set of pieces");
        }
        for set in &sets {
            check_set(set)?;
        }
        let mut puzzle = Puzzle {
            name: name.into(),
            labels: Vec::new(),
            sets,
            moves: Vec::new(),
            aliases: Vec::new(),
            illegal: Vec::new(),
            blocks,
            notes: Vec::new(),
            notation: None,
            goals: None,
        };
        puzzle.check_blocks(&moves)?;
        (puzzle.moves, puzzle.aliases) = puzzle.distinct(moves)?;
        puzzle.forbidding(illegal)
    }

    /// The moves that have an effect, without duplicates, and the remaining moves.
    fn distinct(&self, moves: Vec<Move>) -> Result<(Vec<Move>, Vec<Move>), PuzzleError> {
        let mut names = HashSet::new();
        let mut known = HashSet::new();
        let (mut kept, mut aliases) = (Vec::new(), Vec::new());
        for one in moves {
            self.check_move(&one)?;
            // A sequence of moves in brackets is read as what it does.
            if !one.name.starts_with('(') {
                check_name(&one.name)?;
            }
            if !names.insert(one.name.clone()) {
                return Err(PuzzleError::name_twice(&one.name));
            }
            let is_new =
                self.does_something(&one.transformation) && known.insert(self.effect(&one));
            if is_new { &mut kept } else { &mut aliases }.push(one);
        }
        match kept.len() {
            0 => Err(no_moves()),
            count if count > Puzzle::MAX_MOVES => Err(PuzzleError::many_moves()),
            _ => Ok((kept, aliases)),
        }
    }

    /// The move with this name, whether it is a move of the puzzle or has the same effect as another move.
    pub(super) fn named_move(&self, name: &str) -> Option<&Move> {
        self.moves.iter().chain(&self.aliases).find(|one| one.name == name)
    }

    /// Checks that each piece of a block can be told from others, and drops blocks of one piece.
    fn check_blocks(&mut self, moves: &[Move]) -> Result<(), PuzzleError> {
        self.blocks.retain(|block| block.len() > 1);
        // Searches count the pieces that a move takes along in a byte.
        if self.blocks.iter().any(|block| block.len() > usize::from(u8::MAX)) {
            bail!(Unsupported: "a block has more than {} pieces", u8::MAX);
        }
        let mut known = HashSet::new();
        for &one in self.blocks.iter().flatten() {
            self.check_place(PieceAt { set: one.set, position: 0, kind: one.kind })?;
            let set = &self.sets[usize::from(one.set)];
            if set.pieces_of(one.kind) != 1 || !known.insert(one) {
                bail!(Unsupported: "a piece of set '{}' cannot be glued to others: it must look different from \
                    the others of its set, and be in one block", set.name);
            }
        }
        if known.is_empty() || moves.iter().all(|one| one.requires.is_none()) {
            return Ok(());
        }
        bail!(Unsupported: "pieces cannot be glued together if moves require a piece");
    }

    fn check_move(&self, one: &Move) -> Result<(), PuzzleError> {
        one.requires.map_or(Ok(()), |at| self.check_place(at))?;
        let still = SetAction::still(0);
        for (index, set) in self.sets.iter().enumerate() {
            let turn = one.transformation.0.get(index).unwrap_or(&still);
            let mut sorted = turn.source.clone();
            sorted.sort_unstable();
            let (positions, name, named) = (set.positions(), &one.name, &set.name);
            let all = one.transformation.0.len() == self.sets.len();
            let is_permutation = sorted.iter().copied().eq(0..positions as u8);
            if !all || turn.twist.len() != positions || !is_permutation {
                bail!(Shape: "move '{name}' is not a permutation of the {positions} positions of \
                    set '{named}'");
            }
            if let Some(&twist) = turn.twist.iter().find(|&&twist| twist >= set.orientations) {
                let all = counted(set.orientations.into(), "orientation");
                bail!(Range: "move '{name}' turns a piece of set '{named}' by {twist}, but the piece \
                    has only {all}");
            }
        }
        Ok(())
    }

    /// Checks that there are this position and this kind of piece.
    fn check_place(&self, at: PieceAt) -> Result<(), PuzzleError> {
        let set = self.sets.get(usize::from(at.set));
        let (position, kind) = (usize::from(at.position), usize::from(at.kind));
        let exists = set.is_some_and(|o| position < o.positions() && kind < o.moduli.len());
        let PieceAt { set, position, kind } = at;
        let wrong = || {
            wrong!(Unknown: "set {set} has no position {position} or no kind of piece \
            {kind}, all counted from 0")
        };
        exists.then_some(()).ok_or_else(wrong)
    }

    /// The least common multiple of a set's moduli: twists matter only modulo this number.
    pub(crate) fn visible(set: &PieceSet) -> u8 {
        // In most puzzles. All pairs of moves ask, and of hundreds of pieces a fold takes a microsecond.
        if set.moduli.iter().all(|&own| own == set.orientations) {
            return set.orientations;
        }
        let moduli = set.solved.iter().map(|piece| set.moduli[usize::from(piece.kind)]);
        // It divides the number of orientations.
        moduli.fold(1, |all, own| (u64::from(all) / gcd(all.into(), own.into())) as u8 * own)
    }

    /// A transformation without invisible twists.
    pub(crate) fn seen(&self, of: &Transformation) -> Transformation {
        let turn = |(turn, set): (&SetAction, &PieceSet)| {
            let visible = Puzzle::visible(set);
            if visible == set.orientations {
                return turn.clone();
            }
            let twist = turn.twist.iter().map(|twist| twist % visible).collect();
            SetAction { source: turn.source.clone(), twist }
        };
        Transformation(of.0.iter().zip(&self.sets).map(turn).collect())
    }

    /// What a move does and needs: moves for which this is the same are one. With blocks, turns that nobody sees count.
    fn effect(&self, one: &Move) -> (Option<PieceAt>, Transformation, Vec<bool>) {
        let taken = self.taken(&one.transformation);
        (one.requires, self.seen(&one.transformation), taken)
    }

    /// Whether a transformation takes what is at each position of the sets that have pieces of blocks.
    pub(crate) fn taken(&self, of: &Transformation) -> Vec<bool> {
        let glued =
            |set: &usize| self.blocks.iter().flatten().any(|one| usize::from(one.set) == *set);
        let sets = (0..self.sets.len()).filter(glued);
        sets.flat_map(|set| (0..self.sets[set].positions()).map(move |p| of.takes(set, p)))
            .collect()
    }

    pub(crate) fn does_something(&self, of: &Transformation) -> bool {
        // Pieces that look alike may be turned by different amounts.
        let differ = |set: &PieceSet| {
            let kinds = set.solved.windows(2).any(|two| two[0].kind != two[1].kind);
            kinds || Puzzle::visible(set) > 1
        };
        let mut turns = self.seen(of).0.into_iter().zip(&self.sets);
        turns.any(|(turn, set)| turn.twists() || differ(set) && turn.moves())
    }

    /// Whether states are products of moves, and so have inverses: all pieces differ, all orientations are visible, every
    /// move is always allowed and has its inverse, and there is one goal, the solved state.
    pub(crate) fn is_group(&self) -> bool {
        let distinct = |set: &PieceSet| {
            set.solved.iter().all(|piece| set.pieces_of(piece.kind) == 1 && piece.turn == 0)
                && set.moduli.iter().all(|&modulus| modulus == set.orientations)
        };
        self.sets.iter().all(distinct)
            && self.allows_all_moves()
            && *self.goals() == [self.solved()]
            && !self.is_directed()
    }

    /// The transformation that makes a state of the solved one, where states are products of moves.
    pub(crate) fn transformation_to(&self, state: &Arrangement) -> Transformation {
        let turns = self.sets.iter().zip(&state.0).map(|(set, row)| {
            let home = |piece: &Placed| set.solved.iter().position(|own| own.kind == piece.kind);
            SetAction {
                source: row.iter().map(|piece| home(piece).unwrap_or_default() as u8).collect(),
                twist: row.iter().map(|piece| piece.turn).collect(),
            }
        });
        Transformation(turns.collect())
    }

    /// Whether every state allows all moves.
    pub(crate) fn allows_all_moves(&self) -> bool {
        let is_free = self.illegal.is_empty() && self.blocks.is_empty();
        is_free && self.moves.iter().all(|one| one.requires.is_none())
    }

    /// The transformations of the moves if all moves are always allowed.
    pub(crate) fn free_moves(&self) -> Option<Vec<&Transformation>> {
        self.allows_all_moves().then(|| self.moves.iter().map(|one| &one.transformation).collect())
    }

    /// Returns the puzzle in which no state may have a piece of one of these kinds at the given position.
    ///
    /// # Errors
    /// [`PuzzleError`] if there is no such position or kind, or if the solved state has such a piece there.
    pub fn forbidding(mut self, illegal: Vec<PieceAt>) -> Result<Puzzle, PuzzleError> {
        illegal.iter().try_for_each(|&at| self.check_place(at))?;
        self.illegal = illegal;
        self.check_legal(&self.solved(), "solved")?;
        Ok(self)
    }

    /// Returns the puzzle in which the pieces of each block are glued together: a move that would take along some of
    /// them and leave others is not possible. Blocks of one piece are none.
    ///
    /// # Errors
    /// [`PuzzleError`] if there is no such piece, if others look like it, if it occurs twice, or if moves require a piece.
    pub fn gluing(self, blocks: Vec<Vec<GluedPiece>>) -> Result<Puzzle, PuzzleError> {
        let Puzzle { name, labels, sets, moves, aliases, illegal, .. } = self;
        let (notes, notation, goals) = (self.notes, self.notation, self.goals);
        let puzzle = Puzzle::under(name, sets, [moves, aliases].concat(), (illegal, blocks))?;
        Ok(Puzzle { labels, notes, notation, goals, ..puzzle })
    }

    /// The block of which a transformation would take along some pieces of a state, and leave others.
    pub(super) fn split_by(
        &self,
        of: &Transformation,
        state: &Arrangement,
    ) -> Option<&Vec<GluedPiece>> {
        let is_taken = |one: &&GluedPiece| {
            let mut row = state.0[usize::from(one.set)].iter();
            row.position(|piece| piece.kind == one.kind)
                .is_some_and(|position| of.takes(one.set.into(), position))
        };
        let some = |block: &&Vec<GluedPiece>| {
            let taken = block.iter().filter(is_taken).count();
            taken > 0 && taken < block.len()
        };
        self.blocks.iter().find(some)
    }

    /// Returns the puzzle in which only some of the pieces that are forbidden at certain positions still are.
    pub(crate) fn forbidding_only(mut self, kept: impl Fn(&PieceAt) -> bool) -> Puzzle {
        self.illegal.retain(kept);
        self
    }

    /// The place of a state whose piece may not be there.
    pub(super) fn forbidden(&self, state: &Arrangement) -> Option<PieceAt> {
        self.illegal.iter().copied().find(|at| at.is_in(state))
    }

    /// Refuses a state, with this name, that has a piece where it may not be.
    pub(super) fn check_legal(&self, state: &Arrangement, name: &str) -> Result<(), PuzzleError> {
        let Some(PieceAt { set, position, .. }) = self.forbidden(state) else {
            return Ok(());
        };
        let set = &self.sets[usize::from(set)].name;
        Err(
            wrong!(Impossible: "the {name} state has a piece at position {} of {set} that is illegal \
            there", usize::from(position) + 1),
        )
    }

    /// Returns the puzzle with a remark for its users, a sentence without a full stop.
    pub fn noted(mut self, note: String) -> Puzzle {
        self.notes.push(note);
        self
    }

    /// Returns the puzzle with a different name.
    pub fn called(self, name: impl Into<String>) -> Puzzle {
        Puzzle { name: name.into(), ..self }
    }

    /// Returns the puzzle with the inverse of every move added, `U'` for `U`.
    pub fn inverse_closed(self) -> Result<Puzzle, PuzzleError> {
        self.with(|puzzle, one| {
            let name = format!("{}'", one.name);
            vec![Move { name, ..puzzle.inverse_of(one) }]
        })
    }

    /// Returns the puzzle with all powers of every move added: `U2`, `U'`. A turn by any angle is then one move. A move
    /// that takes away the piece that it requires cannot be repeated: only its inverse is added.
    pub fn with_powers(self) -> Result<Puzzle, PuzzleError> {
        self.with(|puzzle, one| {
            let powers = one.transformation.powers(&puzzle.sets, Puzzle::MAX_MOVES + 1);
            let order = powers.len() + 1;
            let name = |exponent: usize| match order - exponent {
                1 => format!("{}'", one.name),
                back if back < exponent => format!("{}{back}'", one.name),
                _ => format!("{}{exponent}", one.name),
            };
            let stays = |at: PieceAt| {
                let turn = &one.transformation.0[usize::from(at.set)];
                turn.source[usize::from(at.position)] == at.position
            };
            if order > 1 && !one.requires.is_none_or(stays) {
                return vec![Move { name: format!("{}'", one.name), ..puzzle.inverse_of(one) }];
            }
            let made = |(i, transformation)| {
                let (name, requires) = (name(i + 1), one.requires);
                Move { name, transformation, requires }
            };
            powers.into_iter().enumerate().skip(1).map(made).collect()
        })
    }

    /// The puzzle with the moves that a function derives from each move added, where they are new. Other moves keep
    /// their names, even those that are not moves of the puzzle.
    fn with(self, made: impl Fn(&Puzzle, &Move) -> Vec<Move>) -> Result<Puzzle, PuzzleError> {
        let mut added = Vec::new();
        let mut names: HashSet<String> = self.moves.iter().map(|one| one.name.clone()).collect();
        let others = |new: &Move| {
            let mut same = self.aliases.iter().filter(|old| old.name == new.name);
            same.any(|old| old.transformation != new.transformation)
        };
        let mut known: HashSet<_> = self.moves.iter().map(|one| self.effect(one)).collect();
        for mut new in self.moves.iter().flat_map(|one| made(&self, one)) {
            // Only what is new takes a name.
            if !known.insert(self.effect(&new)) {
                continue;
            }
            while others(&new) || !names.insert(new.name.clone()) {
                new.name.push('\'');
            }
            added.push(new);
        }
        self.adding(added)
    }

    /// Returns the puzzle with more moves, where they are new.
    pub(super) fn adding(self, added: Vec<Move>) -> Result<Puzzle, PuzzleError> {
        let (moves, more) = self.distinct([&self.moves[..], &added].concat())?;
        let aliases = [self.aliases, more].concat();
        Ok(Puzzle { moves, aliases, ..self })
    }

    /// Returns the puzzle with only those moves for whose names the function returns true.
    pub fn only(mut self, keep: impl Fn(&str) -> bool) -> Result<Puzzle, PuzzleError> {
        self.moves.retain(|one| keep(&one.name));
        if self.moves.is_empty() { Err(no_moves()) } else { Ok(self) }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the sets.
    pub fn sets(&self) -> &[PieceSet] {
        &self.sets
    }

    /// Returns the moves.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Returns the kinds of pieces that may not be at certain positions in any state.
    pub fn illegal(&self) -> &[PieceAt] {
        &self.illegal
    }

    /// Returns the pieces that are glued together, block by block.
    pub fn blocks(&self) -> &[Vec<GluedPiece>] {
        &self.blocks
    }

    /// Returns remarks on how the puzzle was interpreted.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the solved arrangement.
    pub fn solved(&self) -> Arrangement {
        Arrangement(self.sets.iter().map(|set| set.solved.clone()).collect())
    }

    /// Returns an arrangement after a transformation.
    pub fn after(&self, arrangement: &Arrangement, of: &Transformation) -> Arrangement {
        let mut after = arrangement.clone();
        self.write_after(arrangement, of, &mut after);
        after
    }

    fn write_after(&self, before: &Arrangement, of: &Transformation, after: &mut Arrangement) {
        let rows = before.0.iter().zip(&mut after.0);
        for (((before, after), turn), set) in rows.zip(&of.0).zip(&self.sets) {
            for ((to, &from), &twist) in after.iter_mut().zip(&turn.source).zip(&turn.twist) {
                let Placed { kind, turn } = before[usize::from(from)];
                let turn = match twist {
                    0 => turn,
                    _ => (turn + twist) % set.moduli[usize::from(kind)],
                };
                *to = Placed { kind, turn };
            }
        }
    }

    /// Returns an arrangement after the move with an index; `None` if the move is not allowed.
    pub fn moved(&self, arrangement: &Arrangement, index: usize) -> Option<Arrangement> {
        let mut after = arrangement.clone();
        self.write_moved(arrangement, index, &mut after).then_some(after)
    }

    /// Writes an arrangement after a move to another one of this puzzle; returns whether the move is allowed.
    pub(crate) fn write_moved(
        &self,
        before: &Arrangement,
        index: usize,
        after: &mut Arrangement,
    ) -> bool {
        let one = &self.moves[index];
        if one.requires.is_some_and(|at| !at.is_in(before))
            || self.split_by(&one.transformation, before).is_some()
        {
            return false;
        }
        self.write_after(before, &one.transformation, after);
        self.forbidden(after).is_none()
    }

    /// Returns the puzzle as JSON without its name, as stored in the files of a run.
    pub fn to_json(&self) -> String {
        let Puzzle { sets, moves, illegal, blocks, goals, .. } = self.clone();
        let goals = goals.map(|of| (of.texts.clone(), of.subgroup.clone()));
        let (goals, subgroup) = goals.unwrap_or_default();
        let parts = PuzzleJson { sets, moves, illegal, blocks, goals, subgroup };
        serde_json::to_string(&parts).expect("numbers and names have a JSON form")
    }

    /// Returns the puzzle from the text that [`Puzzle::to_json`] produces; `None` for any other text.
    pub fn of_json(name: &str, text: &str) -> Option<Puzzle> {
        let parts: PuzzleJson = serde_json::from_str(text).ok()?;
        let conditions = (parts.illegal, parts.blocks);
        let mut puzzle = Puzzle::under(name, parts.sets, parts.moves, conditions).ok()?;
        puzzle.notation = puzzle.notation_by_name();
        for one in &parts.subgroup {
            puzzle.check_move(&Move::free("", one.clone())).ok()?;
        }
        if parts.goals.is_empty() {
            return Some(puzzle);
        }
        let masks = parts.goals.iter().map(|text| puzzle.read_mask(text));
        let masks = masks.collect::<Result<Vec<_>, _>>().ok()?;
        puzzle.closed(&masks, &parts.subgroup).ok()
    }

    /// Returns the inverse of a move.
    pub(crate) fn inverse_of(&self, one: &Move) -> Move {
        // After the move, the required piece is in a different place.
        let requires = one.requires.map(|at| {
            let source = &one.transformation.0[usize::from(at.set)].source;
            let to = source.iter().position(|&from| from == at.position);
            PieceAt { position: to.expect("a permutation") as u8, ..at }
        });
        let transformation = one.transformation.inverse(&self.sets);
        Move { name: one.name.clone(), transformation, requires }
    }

    /// Returns the puzzle with the inverse moves: distances to its solved state are distances from the solved state of
    /// this puzzle.
    pub(crate) fn reversed(mut self) -> Puzzle {
        self.moves = self.moves.iter().map(|one| self.inverse_of(one)).collect();
        self
    }

    /// Returns whether the inverse of some move is missing, so that distances depend on the direction.
    pub fn is_directed(&self) -> bool {
        let known: HashSet<_> = self.moves.iter().map(|one| self.effect(one)).collect();
        !self.moves.iter().all(|one| known.contains(&self.effect(&self.inverse_of(one))))
    }
}

/// Checks that a word can be the name of a move: a sequence of moves must be able to contain it.
pub(super) fn check_name(name: &str) -> Result<(), PuzzleError> {
    let is_wrong = |c: char| c.is_whitespace() || c.is_control() || "()[],:".contains(c);
    match name.is_empty() || name.contains(is_wrong) {
        true => {
            Err(wrong!(Syntax: "'{}' cannot be the name of a move: a name must not be empty or \
            contain spaces, brackets, commas or colons", shown(name, 32)))
        }
        false => Ok(()),
    }
}

fn no_moves() -> PuzzleError {
    wrong!(NoMoves: "no move changes anything: a puzzle needs at least one move that does")
}

/// The error for a set with more locations than a byte can number.
pub(super) fn many_locations(set: &str, locations: usize) -> PuzzleError {
    wrong!(Range: "set '{set}' has {locations} combinations of position and orientation, but at \
        most {MAX_LOCATIONS} are supported")
}

fn check_set(set: &PieceSet) -> Result<(), PuzzleError> {
    let locations = set.locations();
    if locations > Puzzle::MAX_LOCATIONS || set.orientations == 0 {
        return Err(many_locations(&set.name, locations));
    }
    // What pieces look like is numbered as their locations are.
    let looks: usize = set.moduli.iter().map(|&modulus| usize::from(modulus)).sum();
    let is_wrong = |modulus: u8| modulus == 0 || !set.orientations.is_multiple_of(modulus);
    if looks > Puzzle::MAX_LOCATIONS || set.moduli.iter().any(|&modulus| is_wrong(modulus)) {
        return Err(many_locations(&set.name, looks));
    }
    // A kind without a modulus has no orientation.
    let modulus = |kind: u8| set.moduli.get(usize::from(kind)).copied().unwrap_or_default();
    for &Placed { kind, turn } in &set.solved {
        let modulus = modulus(kind);
        if turn >= modulus {
            return Err(set.no_orientation(turn, modulus));
        }
    }
    Ok(())
}
