//! Puzzles of one set of different pieces that never turn: their states have numbers, which `space` gives.
//!
//! A family (`families`) or a file (`formats`) makes such a puzzle from permutations. A move g takes the piece at
//! position p to position g(p). An **arrangement** a gives the piece at each position: a(p). Piece e is the one at
//! position e of the solved puzzle, so the solved arrangement is the identity, whatever a file calls its pieces; what
//! the file calls them are labels. The arrangement after g is "first the inverse of g, then a".
//!
//! Invariant: a puzzle has labels if and only if it is of this kind.

use std::collections::HashSet;

use twox_hash::XxHash3_64;

use crate::{
    puzzle::{
        Move, PieceSet, Puzzle, PuzzleError, SetAction, Transformation,
        error::{MAX_POSITIONS, bail, wrong},
        group::Bsgs,
        permutation::Permutation,
        sets::check_name,
    },
    units::{digits, joined, shown},
};

/// A named move, as the position to which it takes the piece at each position.
pub type NamedPermutation = (String, Permutation);

impl Puzzle {
    /// Maximum number of positions of a puzzle of permutations: the number that one line of a search can hold.
    pub const MAX_POSITIONS: usize = MAX_POSITIONS;

    /// Returns the puzzle with exactly these moves of different pieces, which are labelled 1, 2, ... Among equal moves,
    /// only the first is kept; those that move nothing are dropped.
    ///
    /// ```
    /// use tilewave::puzzle::{Permutation, Puzzle};
    /// let turn = Permutation::from_cycles(4, &[vec![3, 2, 1, 0]])?;
    /// let puzzle = Puzzle::of_permutations("ring", 4, vec![("L".into(), turn)])?;
    /// assert!(puzzle.is_directed());
    /// let puzzle = puzzle.inverse_closed()?;
    /// let names: Vec<&str> = puzzle.moves().iter().map(|one| one.name.as_str()).collect();
    /// assert_eq!((names, puzzle.group_order()), (vec!["L", "L'"], 4));
    /// let after = puzzle.arrangement("2 3 4 1")?; // all one to the left
    /// assert_eq!(after, puzzle.permutations()[0].inverse());
    /// assert_eq!(puzzle.show(&after), "2 3 4 1");
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    pub fn of_permutations(
        name: impl Into<String>,
        positions: usize,
        moves: Vec<NamedPermutation>,
    ) -> Result<Puzzle, PuzzleError> {
        if !(2..=MAX_POSITIONS).contains(&positions) {
            bail!(Range: "the puzzle has {positions} positions, but a puzzle must have 2 to \
                {MAX_POSITIONS}");
        }
        let (mut names, mut known) = (HashSet::new(), HashSet::new());
        let mut kept = Vec::new();
        for (name, permutation) in moves {
            check_name(&name)?;
            let (word, found) = (shown(&name, 32), permutation.len());
            if found != positions {
                bail!(Shape: "move '{word}' permutes {found} positions, but the puzzle has \
                    {positions}");
            }
            if !names.insert(name.clone()) {
                return Err(PuzzleError::name_twice(&word));
            }
            if !permutation.is_identity() && known.insert(permutation.clone()) {
                let source = permutation.inverse().images().to_vec();
                let turn = SetAction { source, twist: vec![0; positions] };
                kept.push(Move::free(name, Transformation(vec![turn])));
            }
        }
        if kept.is_empty() {
            return Err(PuzzleError::no_generators());
        }
        let pieces = PieceSet::distinct("positions", positions as u8, 1);
        let puzzle = Puzzle::new(name, vec![pieces], kept)?;
        Ok(Puzzle { labels: (1..=positions).collect(), ..puzzle })
    }

    /// Returns the puzzle with different labels: `labels[p]` is the label of the piece that belongs at position p.
    ///
    /// # Errors
    /// A [`PuzzleError`] if two labels are equal.
    ///
    /// # Panics
    /// If the number of labels is not the number of positions.
    pub fn labelled(self, labels: &[usize]) -> Result<Puzzle, PuzzleError> {
        assert_eq!(labels.len(), self.labels.len(), "one label per position");
        let mut seen = HashSet::new();
        if let Some(twice) = labels.iter().find(|label| !seen.insert(**label)) {
            bail!(Twice: "identical pieces ({twice} twice) are not supported: every piece must \
                have its own number");
        }
        Ok(Puzzle { labels: labels.to_vec(), ..self })
    }

    /// Returns the puzzle as any other one of sets of pieces, without numbers of states.
    pub(crate) fn unlabelled(self) -> Puzzle {
        Puzzle { labels: Vec::new(), notes: Vec::new(), ..self }
    }

    /// Returns the labels of the pieces, in the order of their positions in the solved puzzle; none for a puzzle that
    /// is not of permutations.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Returns the permutations of the positions of the first set by the moves.
    pub fn permutations(&self) -> Vec<Permutation> {
        let pulled = |source: &[u8]| Permutation::from_fn(source.len(), |p| source[p].into());
        let moves = self.moves.iter();
        moves.map(|one| pulled(&one.transformation.0[0].source).inverse()).collect()
    }

    /// The group that the permutations generate.
    pub(super) fn group(&self) -> Bsgs {
        let positions = self.sets[0].positions();
        let group = Bsgs::whole(positions, &self.permutations(), 0..positions);
        group.expect("only the identity fixes all points")
    }

    /// Returns the number of reachable states of a puzzle of permutations: the order of the group. Cost: less than a
    /// millisecond.
    pub fn group_order(&self) -> u128 {
        self.group().order(0).try_into().expect("16! fits 128 bits")
    }

    /// Returns a number that is the same for two puzzles of permutations with the same moves on the same positions,
    /// whatever their names. It prevents files from being continued with a different puzzle.
    pub fn fingerprint(&self) -> u64 {
        let permutations = self.permutations();
        let mut images: Vec<&[u8]> = permutations.iter().map(Permutation::images).collect();
        images.sort_unstable();
        // All of them have as many bytes as there are positions.
        let positions = self.sets[0].positions() as u8;
        XxHash3_64::oneshot(&[&[positions], images.concat().as_slice()].concat())
    }

    /// Returns an arrangement as text: the labels of the pieces, in the order of the positions.
    pub fn show(&self, arrangement: &Permutation) -> String {
        joined(arrangement.images().iter().map(|&e| self.labels[usize::from(e)]), " ")
    }

    /// Returns the arrangement described by a text: the labels of the pieces in the order of the positions, separated
    /// by spaces or commas.
    pub fn arrangement(&self, text: &str) -> Result<Permutation, PuzzleError> {
        let words = text.split([' ', ',', '\t', '\r', '\n']).filter(|w| !w.is_empty());
        let element = |word: &str| {
            let label: Option<usize> = digits(word);
            let found = label.and_then(|label| self.labels.iter().position(|&l| l == label));
            found.ok_or_else(|| self.no_element(word))
        };
        let elements: Vec<usize> = words.map(element).collect::<Result<_, _>>()?;
        if elements.len() != self.labels.len() {
            return Err(state_length(&shown(&self.name, 80), elements.len(), self.labels.len()));
        }
        let twice = (1..elements.len()).find(|&i| elements[..i].contains(&elements[i]));
        let missing = (0..self.labels.len()).find(|e| !elements.contains(e));
        if let (Some(twice), Some(missing)) = (twice, missing) {
            let [twice, missing] = [elements[twice], missing].map(|e| self.labels[e]);
            bail!(Twice: "element {twice} occurs twice in the state and element {missing} is \
                missing");
        }
        Permutation::new(&elements)
    }

    fn no_element(&self, word: &str) -> PuzzleError {
        let mut labels = self.labels.clone();
        labels.sort_unstable();
        let labels = match labels.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
            true => format!("{} to {}", labels[0], labels[labels.len() - 1]),
            false => joined(labels, " "),
        };
        let (word, puzzle) = (shown(word, 32), shown(&self.name, 80));
        wrong!(Unknown: "'{word}' in the state is not an element: the elements of {puzzle} are \
            {labels}")
    }
}

/// The error for a state with the wrong number of elements.
pub(super) fn state_length(puzzle: &str, found: usize, expected: usize) -> PuzzleError {
    wrong!(Shape: "the state has {found} elements, but {puzzle} has {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_that_is_there_takes_no_name() {
        let turn = Permutation::new(&[1, 2, 3, 4, 0]).unwrap();
        let moves = vec![("A".into(), turn.clone()), ("A2".into(), turn.then(&turn))];
        let wheel = Puzzle::of_permutations("wheel", 5, moves).unwrap();
        let closed = wheel.with_powers().unwrap();
        let names: Vec<&str> = closed.moves().iter().map(|one| &one.name[..]).collect();
        assert_eq!(names, ["A", "A2", "A2'", "A'"]);
    }
}
