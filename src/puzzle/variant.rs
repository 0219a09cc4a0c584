//! Puzzles derived from another one: with some of its moves, some of its pieces, or several solved states.

use serde::Deserialize;

use crate::puzzle::{
    PuzzleError,
    orbits::{OrbitMove, OrbitPuzzle, Placed, Turns},
    reachable::Reachability,
};

/// The changes to a puzzle before it is searched; by default there are none.
///
/// ```
/// use tilewave::frontier::FrontierSearch;
/// use tilewave::puzzle::{Variant, named, orbits::Turns};
/// let cube = named::parse("3x3x3").unwrap();
/// // What the first phase of H. Kociemba's algorithm has to solve.
/// let phase = Variant { subgroup: Variant::split("U D R2 L2 F2 B2"), ..Variant::default() };
/// let phase = phase.of(cube, Turns::Powers)?;
/// assert_eq!(phase.states().map(|states| states.to_string()), Some("2217093120".into()));
/// let search = FrontierSearch::new(phase).max_depth(3);
/// assert_eq!(search.run()?.counts(), [1, 4, 50, 592]);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Variant {
    /// The turns to keep, by name, or sequences of which each becomes one turn; empty for all turns.
    pub moves: Vec<String>,
    /// The pieces to keep, as for [`OrbitPuzzle::keeping`]; empty for all pieces.
    pub pieces: Vec<String>,
    /// The pieces whose orientations are ignored, as for [`OrbitPuzzle::unoriented`].
    pub ignore_orientation: Vec<String>,
    /// The pieces that are made to look alike, as for [`OrbitPuzzle::alike`].
    pub same: Vec<String>,
    /// The solved states, as for [`OrbitPuzzle::read`]; `?` stands for any piece or any orientation, and a set that is
    /// left out may have any arrangement. Empty for the puzzle's own solved state.
    pub goals: Vec<String>,
    /// Sequences of moves that generate the subgroup up to which the states are solved.
    pub subgroup: Vec<String>,
}

impl Variant {
    /// Returns the sequences of a list separated by commas, or, if there are none, by spaces; angle brackets around the
    /// list are removed. `U D R2`, `<U, R>`, `R L', [U, D2]`.
    pub fn split(text: &str) -> Vec<String> {
        let text = text.trim();
        let inner = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')).unwrap_or(text);
        let parts = |is_end: fn(char) -> bool| {
            let mut depth = 0usize;
            let outside = move |c: char| {
                match c {
                    '(' | '[' => depth += 1,
                    ')' | ']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth == 0 && is_end(c)
            };
            inner.split(outside).map(|part| part.trim().to_string()).collect::<Vec<_>>()
        };
        let mut all = parts(|c| c == ',');
        if let [_] = all[..] {
            all = parts(char::is_whitespace);
        }
        all.retain(|part| !part.is_empty());
        all
    }

    /// Returns the variant of a puzzle whose moves are single turns; `turns` determines which of their powers count as
    /// one move.
    ///
    /// # Errors
    /// [`PuzzleError`] if a change is not possible.
    pub fn of(&self, puzzle: OrbitPuzzle, turns: Turns) -> Result<OrbitPuzzle, PuzzleError> {
        let mut puzzle = puzzle;
        if !self.moves.is_empty() {
            let one = |text: &String| {
                let transformation = puzzle.read_moves(text)?;
                let name = text.split_whitespace().collect();
                Ok::<_, PuzzleError>(OrbitMove { name, transformation, requires: None })
            };
            let moves = self.moves.iter().map(one).collect::<Result<_, _>>()?;
            let name = format!("{} <{}>", puzzle.name(), self.moves.join(","));
            let illegal = puzzle.illegal().to_vec();
            puzzle = OrbitPuzzle::new(name, puzzle.orbits().to_vec(), moves)?.forbidding(illegal);
        }
        let mut puzzle = puzzle.counting(turns)?;
        if !self.pieces.is_empty() {
            puzzle = puzzle.keeping(&self.pieces)?;
        }
        if !self.ignore_orientation.is_empty() {
            puzzle = puzzle.unoriented(&self.ignore_orientation)?;
        }
        if !self.same.is_empty() {
            puzzle = puzzle.alike(&self.same)?;
        }
        if self.goals.is_empty() && self.subgroup.is_empty() {
            return Ok(puzzle);
        }
        let reachable = Reachability::of(&puzzle);
        let written = |text: &String| {
            let mask = puzzle.read_mask(text)?;
            let reached = match mask.0.iter().flatten().any(Placed::is_masked) {
                true => Some(Ok(())),
                false => reachable.as_ref().and_then(|known| known.reaches(&puzzle, &mask)),
            };
            match reached {
                Some(Ok(())) => Ok(mask),
                Some(Err(why)) => {
                    let (puzzle, why) = (puzzle.to_string(), why.to_string());
                    Err(PuzzleError::Unreached { puzzle, why })
                }
                None => Err(PuzzleError::UnknownGoals(puzzle.to_string())),
            }
        };
        let goal = |(number, text): (usize, &String)| {
            let read = match puzzle.is_arrangement(text) {
                true => written(text),
                false => puzzle.read_moves(text).map(|all| puzzle.after(&puzzle.solved(), &all)),
            };
            read.map_err(|error| PuzzleError::Goal { number, error: Box::new(error) })
        };
        let mut goals = (1..).zip(&self.goals).map(goal).collect::<Result<Vec<_>, _>>()?;
        if goals.is_empty() {
            goals.push(puzzle.solved());
        }
        let moves = self.subgroup.iter().map(|text| puzzle.read_moves(text));
        let subgroup = moves.collect::<Result<Vec<_>, _>>()?;
        let name = match self.subgroup.as_slice() {
            [] => puzzle.name().to_string(),
            subgroup => format!("{} up to <{}>", puzzle.name(), subgroup.join(",")),
        };
        drop(reachable);
        puzzle.called(name).solved_by(&goals, &subgroup)
    }
}
