//! What counts as one move: which powers of a turn, and, of cubes, turns of which layers together.
//!
//! A cube has a turn of each layer but the fixed ones: the middle ones of odd cubes, and three of the 2x2x2. In the
//! **slice** metric, a turn of any one layer is a move. A turn of a fixed layer is one of all other layers of its axis
//! the other way, and one of the whole cube: on the 3x3x3, `(L' R)` is `M`. In the **axial** metric, any turns of layers
//! of one axis are one move together, such as `(L R2)`.

use std::{collections::HashSet, iter};

use crate::{
    hint::{Hint, METRIC},
    puzzle::{
        Move, Puzzle, PuzzleError, SetAction, Transformation, Turns,
        error::{bail, wrong},
        families,
        sets::Notation,
    },
    units::joined,
};

/// The faces of each axis. The middle layer turns in the direction of the first.
const AXES: [[&str; 2]; 3] = [["D", "U"], ["F", "B"], ["L", "R"]];

/// Maximum number of turning layers of an axis whose turns can be moves together.
const MOST_TOGETHER: usize = 4;

impl Turns {
    /// The word for it.
    pub(crate) fn metric(self) -> &'static str {
        match self {
            Turns::Powers => "htm",
            Turns::Quarter => "qtm",
            Turns::Directed => "directed",
            Turns::Slice => "slice",
            Turns::Axial => "axial",
        }
    }
}

impl Puzzle {
    /// Returns the puzzle with the moves that [`Turns`] makes of its turns.
    ///
    /// ```
    /// use tilewave::puzzle::{Turns, named};
    /// let count = |turns| named::parse("3x3x3").unwrap().counting(turns).map(|cube| cube.moves().len());
    /// assert_eq!((count(Turns::Powers)?, count(Turns::Slice)?, count(Turns::Axial)?), (18, 27, 45));
    /// # Ok::<(), tilewave::puzzle::PuzzleError>(())
    /// ```
    ///
    /// # Errors
    /// A [`PuzzleError`] if there are too many moves, and for turns of layers if the puzzle is not a cube with a name.
    pub fn counting(self, turns: Turns) -> Result<Puzzle, PuzzleError> {
        match turns {
            Turns::Powers => return self.with_powers(),
            Turns::Quarter => return self.inverse_closed(),
            Turns::Directed => return Ok(self),
            Turns::Slice | Turns::Axial => {}
        }
        let word = Hint::Value("metric", turns.metric());
        let axes = self.axes().ok_or_else(|| {
            wrong!(Setting: "{word} is only for cubes with a name, such as 3x3x3: leave out {METRIC}")
        })?;
        if turns == Turns::Axial && axes.iter().any(|axis| axis.len() > MOST_TOGETHER) {
            bail!(Range: "{word} gives this cube more than {} moves: it is for cubes of up to 5 layers",
                Puzzle::MAX_MOVES);
        }
        let more = self.of_layers(turns, &axes);
        let puzzle = self.with_powers()?;
        let before = puzzle.moves.len();
        let puzzle = puzzle.adding(more)?;
        if puzzle.moves.len() > before {
            return Ok(puzzle);
        }
        let same = Hint::Value("metric", "htm");
        Ok(puzzle.noted(format!(
            "{word} gives this cube the moves of {same}: there is no other layer to turn"
        )))
    }

    /// The turns of the layers of each axis; `None` if the puzzle is not a cube with a name that has all of them.
    fn axes(&self) -> Option<Vec<Vec<Move>>> {
        let Some(Notation::Layers(of)) = self.notation else { return None };
        let layers = of.of_cube()?;
        let name = |face: &str, layer| match layer {
            1 => face.to_string(),
            _ => format!("{layer}{face}"),
        };
        let turns = |face| {
            (1..=layers / 2).filter_map(move |layer| self.named_move(&name(face, layer)).cloned())
        };
        let axis =
            |faces: [&'static str; 2]| faces.into_iter().flat_map(turns).collect::<Vec<Move>>();
        let axes: Vec<Vec<Move>> = AXES.into_iter().map(axis).collect();
        let all = if layers == 2 { 1 } else { 2 * (layers / 2) };
        axes.iter().all(|axis| axis.len() == all).then_some(axes)
    }

    /// The moves that turn several layers.
    fn of_layers(&self, turns: Turns, axes: &[Vec<Move>]) -> Vec<Move> {
        // Half of them are on either side of it.
        let has_middle =
            matches!(self.notation, Some(Notation::Layers(of)) if of.counts()[0] % 2 == 1);
        let times = |axis: &[Move]| -> Vec<Vec<usize>> {
            let count = axis.len();
            match turns {
                Turns::Slice if !has_middle => Vec::new(),
                // Layers of the first face one way, those of the other face the other way.
                Turns::Slice => (1..4)
                    .map(|back| {
                        (0..count).map(|i| if 2 * i < count { 4 - back } else { back }).collect()
                    })
                    .collect(),
                _ => (0..1 << (2 * count))
                    .map(|all| (0..count).map(|i| all >> (2 * i) & 3).collect())
                    .collect(),
            }
        };
        let is_several = |times: &Vec<usize>| times.iter().filter(|&&times| times > 0).count() > 1;
        let moves = |axis: &Vec<Move>| {
            let several = times(axis).into_iter().filter(is_several);
            several.map(|times| self.at_once(axis, &times)).collect::<Vec<Move>>()
        };
        axes.iter().flat_map(moves).collect()
    }

    /// Several turns as one move, each as often as its number says: `(L2 R')`.
    fn at_once(&self, turns: &[Move], times: &[usize]) -> Move {
        let made = turns.iter().zip(times).filter(|(_, times)| **times > 0);
        let words =
            made.clone().map(|(one, &times)| format!("{}{}", one.name, ["", "", "2", "'"][times]));
        let name = format!("({})", joined(words, " "));
        let each = made.flat_map(|(one, &times)| iter::repeat_n(&one.transformation, times));
        let none = Transformation::identity(&self.sets);
        Move::free(name, each.fold(none, |all, one| all.then(one, &self.sets)))
    }

    /// Returns what counts as one move: `htm` if every power of every move is a move, `qtm` if every inverse is,
    /// otherwise `directed`; for cubes with a name, `slice` and `axial` if the moves are those of [`Turns`]. For boards
    /// and graphs, `stm` if every move slides one tile, otherwise `mtm`. `None` for members of families, whose names
    /// determine their moves. Cost: composing the powers of all moves.
    pub fn metric(&self) -> Option<&'static str> {
        let displaced =
            |turn: &SetAction| (0..).zip(&turn.source).filter(|(p, from)| p != *from).count();
        let is_slide = |one: &Move| one.transformation.0.iter().all(|turn| displaced(turn) <= 2);
        if self.moves.iter().all(|one| one.requires.is_some()) {
            return Some(if self.moves.iter().all(is_slide) { "stm" } else { "mtm" });
        }
        if families::parse(&self.name).is_ok() {
            return None;
        }
        let known: HashSet<Transformation> =
            self.moves.iter().map(|one| self.seen(&one.transformation)).collect();
        let is_move = |power: &Transformation| {
            !self.does_something(power) || known.contains(&self.seen(power))
        };
        let has_powers = |one: &Move| {
            let next = |power: &Transformation| Some(power.then(&one.transformation, &self.sets));
            let powers = iter::successors(next(&one.transformation), next);
            powers.take_while(|power| !power.is_identity()).all(|power| is_move(&power))
        };
        Some(match self.moves.iter().all(has_powers) {
            true => self.layer_metric(&known).unwrap_or("htm"),
            false if self.is_directed() => "directed",
            false => "qtm",
        })
    }

    /// The metric of a cube in which these moves, of which all powers are moves, are those of its layers.
    fn layer_metric(&self, known: &HashSet<Transformation>) -> Option<&'static str> {
        let axes = self.axes()?;
        let seen =
            |one: &Move| Some(self.seen(&one.transformation)).filter(|of| self.does_something(of));
        let single = axes
            .iter()
            .flatten()
            .flat_map(|one| (1..4).map(|times| self.at_once(std::slice::from_ref(one), &[times])));
        let single: HashSet<Transformation> = single.filter_map(|one| seen(&one)).collect();
        let is_of = |turns| {
            let mut all = single.clone();
            all.extend(self.of_layers(turns, &axes).iter().filter_map(seen));
            all.len() > single.len() && all == *known
        };
        if is_of(Turns::Slice) {
            return Some("slice");
        }
        (axes.iter().all(|axis| axis.len() <= MOST_TOGETHER) && is_of(Turns::Axial))
            .then_some("axial")
    }
}
