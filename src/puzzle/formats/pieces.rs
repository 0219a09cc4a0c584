//! Joins points of a puzzle into pieces: stickers that always move together are one piece, which may turn.
//!
//! A point determines another one if every product of moves that fixes the first also fixes the second. Within an orbit
//! of the group, points that determine each other form a piece. Permutations that commute with all moves can exchange
//! them; a cycle of such permutations is the way in which a piece turns. Points of other orbits that they determine are
//! attached to them.
//!
//! Invariant: the pieces, their positions and turns determine the element at every point that moves, and nothing else.

use std::collections::BTreeMap;

use crate::puzzle::{
    Permutation,
    formats::{
        sets::{FilePiece, PieceSet, SetSource},
        source::PointSource,
    },
    group::orbits,
    orbits::{OrbitTurn, Transformation},
};

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
        let moves: Vec<&Permutation> = points.generators.iter().map(|g| &g.permutation).collect();
        let number = |&point: &usize| match &points.equal {
            Some((numbers, _)) => numbers[point],
            None => points.labels[point],
        };
        let mut sets = Vec::new();
        let mut turns: Vec<Vec<OrbitTurn>> = vec![Vec::new(); moves.len()];
        for pieces in joined(points.labels.len(), &moves) {
            let solved = pieces.solved(number);
            if solved.windows(2).all(|two| two[0] == two[1]) && solved[0].modulus == 1 {
                continue;
            }
            let orientations = pieces.positions[0].len() as u8;
            let own = if orientations > 1 { "PIECES" } else { "POINTS" };
            let before = sets.iter().filter(|set: &&PieceSet| set.name.starts_with(own)).count();
            let number = if before == 0 { String::new() } else { (before + 1).to_string() };
            let lines = (points.line, points.line);
            sets.push(PieceSet { name: format!("{own}{number}"), orientations, lines, solved });
            for (turns, of) in turns.iter_mut().zip(&moves) {
                turns.push(pieces.turn(of));
            }
        }
        let names = points.generators.iter().map(|generator| generator.name.clone());
        SetSource {
            sets,
            moves: names.zip(turns.into_iter().map(Transformation)).collect(),
            powers: points.powers,
            line: points.line,
            ..SetSource::default()
        }
    }
}

/// The pieces that the points form, largest orbits first.
fn joined(points: usize, moves: &[&Permutation]) -> Vec<Pieces> {
    let permutations: Vec<Permutation> = moves.iter().map(|&of| of.clone()).collect();
    let mut open = orbits(points, &permutations);
    open.sort_by_key(|orbit| std::cmp::Reverse(orbit.len()));
    let mut all = Vec::new();
    while !open.is_empty() {
        let orbit = open.remove(0);
        let said = |by: &usize| said(orbit[0], *by, moves);
        let mut stuck = Vec::new();
        open.retain(|other| {
            let found = other.iter().find_map(said);
            stuck.extend(found.clone());
            found.is_none()
        });
        // Among the permutations that commute with all moves, the one with the longest cycles.
        let turn = orbit.iter().filter_map(said).max_by_key(|of| cycle(orbit[0], of).len());
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

/// For each point that moves take the first point to, where they take the other; `None` if that is not determined.
fn said(one: usize, other: usize, moves: &[&Permutation]) -> Option<BTreeMap<usize, usize>> {
    let mut said = BTreeMap::from([(one, other)]);
    let mut open = vec![(one, other)];
    while let Some((one, other)) = open.pop() {
        for of in moves {
            let (one, other) = (of.image(one), of.image(other));
            match said.insert(one, other) {
                None => open.push((one, other)),
                Some(known) if known != other => return None,
                Some(_) => {}
            }
        }
    }
    Some(said)
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

    /// The effect of a move on the positions.
    fn turn(&self, of: &Permutation) -> OrbitTurn {
        let mut turn = OrbitTurn::still(self.positions.len());
        for (from, points) in self.positions.iter().enumerate() {
            let image = of.image(points[0]);
            for (to, points) in self.positions.iter().enumerate() {
                if let Some(twist) = points.iter().position(|&point| point == image) {
                    (turn.source[to], turn.twist[to]) = (from as u8, twist as u8);
                }
            }
        }
        turn
    }
}
