//! Quick solutions of any puzzle whose moves can be undone: piece after piece, each brought home by a sequence that leaves
//! those before it alone.
//!
//! ```text
//! level   brings home   from wherever it can be            leaves alone
//! 0       corner 1      24 locations, 24 sequences
//! 1       edge 1        24 locations, 24 sequences         corner 1
//! 2       corner 2      21 locations, 21 sequences         corner 1, edge 1
//! ```
//!
//! The sequences come from short words: what a word does to the first piece that it moves is undone by the sequence that is
//! known for it, and what is left is a longer word that moves only later pieces. Of two that do the same for a piece, the
//! shorter one is kept. The order of the pieces keeps as many moves as possible free for the later ones.
//!
//! A state is solved after each of some thousand short words, and the shortest of all solutions is returned. Where moves depend
//! on the shape of a state, as in Square-1, it is first brought to the shape of the solved one, and a word is a sequence that
//! comes back to that.
//!
//! Source: T. Minkwitz, An algorithm for solving the factorization problem in permutation groups, J. Symbolic Computation 26
//! (1998).
//!
//! Invariant: the moves of a solution have been replayed before it is returned, and do not depend on the threads.

use std::{collections::HashMap, time::Instant};

use rayon::prelude::*;

use crate::{
    progress::Progress,
    puzzle::{
        Arrangement, Move, Placed, Puzzle, Transformation,
        states::{Loops, MoveWord},
    },
    random::SplitMix64,
    solve::{Answer, SolveError, puzzles::replayed},
};

/// Maximum number of points: 2 bytes of each sequence.
const MAX_POINTS: usize = 4096;
/// Maximum number of moves: any two of them are compared with one.
const MAX_MOVES: usize = 2000;
/// Number of points of all sequences that are made before the tables are finished: about two seconds.
const WORK: u64 = 1_500_000_000;
/// Number of words that the tables are made from, and how often sequences of a level are joined meanwhile.
const WORDS: usize = 60_000;
const ROUNDS: usize = 20;
/// The length of the longest word that is taken apart, at first and by how much it grows each round.
const FIRST_LENGTH: f64 = 10.0;
const GROWTH: f64 = 1.25;
/// Number of short words after which a state is solved.
const STARTS: usize = 2000;
/// Number of mixed states that must be solved, and number of moves that mix each.
const TESTED: usize = 20;
const MIXING: usize = 500;

/// A sequence of moves, and where it takes each point: a location of a position, `first + position * orientations + turn`.
#[derive(Clone)]
struct ChainWord {
    points: Vec<u16>,
    moves: Vec<u16>,
    /// Whether it has not been joined with others of its level.
    is_new: bool,
}

/// The sequences that bring a piece to a position.
struct ChainLevel {
    /// The position among those of all sets, and its first point.
    position: usize,
    home: u16,
    /// For each point, the sequence that takes it home.
    from: Vec<Option<Box<ChainWord>>>,
}

/// A position of a set.
struct ChainPosition {
    set: usize,
    /// Its first point, and how many it has.
    first: usize,
    turns: usize,
    solved: Placed,
}

/// A solver without tables of states, for any puzzle whose moves can be undone.
pub struct ChainSolver {
    puzzle: Puzzle,
    positions: Vec<ChainPosition>,
    /// What the moves are possible after, and the words that come back to the shape of the solved puzzle.
    loops: Loops,
    words: Vec<ChainWord>,
    /// Where each move takes each point.
    moves: Vec<Vec<u16>>,
    inverse: Vec<u16>,
    /// Moves one after the other that are the same as one move, or as none.
    joined: HashMap<(u16, u16), Option<u16>>,
    levels: Vec<ChainLevel>,
    starts: Vec<ChainWord>,
    work: u64,
}

impl ChainSolver {
    /// Returns the solver for a puzzle; `None` if some moves cannot be undone by one move or depend on several pieces, if the
    /// puzzle has several solved states, or if the sequences found do not solve it. Cost: up to a few seconds, which is that of
    /// the sequences.
    pub fn new(puzzle: &Puzzle) -> Option<ChainSolver> {
        if *puzzle.goals() != [puzzle.solved()] {
            return None;
        }
        let loops = puzzle.loops()?;
        let mut positions = Vec::new();
        let mut points = 0;
        for (index, set) in puzzle.sets().iter().enumerate() {
            for &solved in &set.solved {
                let turns = usize::from(set.orientations);
                positions.push(ChainPosition { set: index, first: points, turns, solved });
                points += turns;
            }
        }
        if points > MAX_POINTS || puzzle.moves().len() > MAX_MOVES {
            return None;
        }
        let points_of = |of: &Transformation| points_of(&positions, points, of);
        let moves: Vec<Vec<u16>> =
            puzzle.moves().iter().map(|one| points_of(&one.transformation)).collect();
        let key = |one: &Move| (one.transformation.clone(), one.requires);
        let numbers: HashMap<_, u16> = puzzle.moves().iter().map(key).zip(0..).collect();
        let find = |one: &Move| numbers.get(&key(one)).copied();
        let inverse = puzzle.moves().iter().map(|one| find(&puzzle.inverse_of(one)));
        let inverse = inverse.collect::<Option<Vec<u16>>>()?;
        let identity: Vec<u16> = (0..points as u16).collect();
        let mut joined = HashMap::new();
        for (a, first) in (0..).zip(puzzle.moves()) {
            for (b, next) in (0..).zip(puzzle.moves()) {
                let transformation = first.transformation.then(&next.transformation, puzzle.sets());
                // A move may take along less than the moves of which it is made, and split a block that they do not.
                let taken = [first, next].map(|one| puzzle.taken(&one.transformation));
                let is_alike = taken.iter().all(|taken| *taken == puzzle.taken(&transformation));
                if b == inverse[usize::from(a)] {
                    joined.insert((a, b), None);
                } else if let Some(same) = find(&Move { transformation, ..first.clone() })
                    && is_alike
                {
                    joined.insert((a, b), Some(same));
                }
            }
        }
        let word = |word: &MoveWord| {
            let (points, moves) = (points_of(&word.effect), numbered(&inverse, &word.moves));
            ChainWord { points, moves, is_new: true }
        };
        let mut words: Vec<ChainWord> = loops.moves.iter().map(word).collect();
        words.sort_by_key(|word| word.moves.len());
        let order = order(puzzle, &positions, &words);
        let level = |position: usize| {
            let home = positions[position].first as u16;
            let mut from = vec![None; points];
            let (points, moves) = (identity.clone(), Vec::new());
            from[usize::from(home)] = Some(Box::new(ChainWord { points, moves, is_new: false }));
            ChainLevel { position, home, from }
        };
        let levels = order.into_iter().map(level).collect();
        let mut solver = ChainSolver {
            puzzle: puzzle.clone(),
            positions,
            loops,
            words,
            moves,
            inverse,
            joined,
            levels,
            starts: vec![ChainWord { points: identity, moves: Vec::new(), is_new: false }],
            work: 0,
        };
        solver.fill();
        solver.solves_all().then_some(solver)
    }

    /// Returns a solution of a reachable state, which is rarely a short one; the number of nodes is that of solutions that were
    /// compared. An observer may stop it. Cost: up to a second, by all threads of the current rayon pool.
    ///
    /// # Errors
    /// [`SolveError::NoSolution`] if none was found.
    pub fn solve_with(
        &self,
        state: &Arrangement,
        progress: &dyn Progress,
    ) -> Result<Answer<Vec<String>>, SolveError> {
        let begun = Instant::now();
        let (way, row) = self.at_home(state).ok_or(SolveError::NoSolution)?;
        let at_least = usize::from(!self.puzzle.is_goal(state));
        let found = self.starts.par_iter().enumerate().filter_map(|(number, start)| {
            if progress.interrupted() {
                return None;
            }
            let begun = self.joined_moves(way.clone(), &start.moves);
            let moves = self.joined_moves(begun, &self.rest(self.made(start, &row))?);
            Some((moves.len(), number, moves))
        });
        let found = found.min();
        let (nodes, seconds) = (self.starts.len() as u64, begun.elapsed().as_secs_f64());
        if progress.interrupted() {
            return Ok(Answer { moves: None, at_least, nodes, seconds });
        }
        let (_, _, moves) = found.ok_or(SolveError::NoSolution)?;
        let moves = replayed(&self.puzzle, state, moves.into_iter().map(usize::from));
        let moves = Some(moves.ok_or(SolveError::NoSolution)?);
        Ok(Answer { moves, at_least, nodes, seconds })
    }

    /// The moves from a state to the shape of the solved one, and the pieces at all positions there.
    fn at_home(&self, state: &Arrangement) -> Option<(Vec<u16>, Vec<Placed>)> {
        let way = self.loops.way_home(&self.puzzle, state)?;
        let moves = numbered(&self.inverse, &way.moves);
        Some((moves, self.puzzle.after(state, &way.effect).0.concat()))
    }

    /// The pieces at all positions after a sequence.
    fn made(&self, word: &ChainWord, row: &[Placed]) -> Vec<Placed> {
        let mut after = row.to_vec();
        for (at, piece) in self.positions.iter().zip(row) {
            let modulus = self.puzzle.sets()[at.set].moduli[usize::from(piece.kind)];
            let to = usize::from(word.points[at.first]);
            // Positions of one set are next to each other, and have the same number of points.
            let there = self.positions.partition_point(|other| other.first <= to) - 1;
            let twist = (to - self.positions[there].first) as u8;
            after[there] = Placed { turn: (piece.turn + twist) % modulus, ..*piece };
        }
        after
    }

    /// The sequences that solve a state, one level after the other, as far as the tables have them.
    fn rest(&self, mut row: Vec<Placed>) -> Option<Vec<u16>> {
        let mut moves = Vec::new();
        for level in &self.levels {
            let of = &self.positions[level.position];
            let modulus =
                usize::from(self.puzzle.sets()[of.set].moduli[usize::from(of.solved.kind)]);
            // The nearest of the pieces that belong there, however it may be turned if that is not seen.
            let pieces = self.positions.iter().zip(&row);
            let pieces =
                pieces.filter(|(at, piece)| at.set == of.set && piece.kind == of.solved.kind);
            let points = pieces.flat_map(|(at, piece)| {
                let ahead = usize::from(piece.turn) + modulus - usize::from(of.solved.turn);
                (ahead % modulus..at.turns).step_by(modulus).map(move |turn| at.first + turn)
            });
            let words = points.filter_map(|point| level.from[point].as_deref());
            let word = words.min_by_key(|word| word.moves.len())?;
            if !word.moves.is_empty() {
                row = self.made(word, &row);
                moves = self.joined_moves(moves, &word.moves);
            }
        }
        Some(moves)
    }

    /// One sequence, then another, where moves that meet are joined.
    fn joined_moves(&self, mut moves: Vec<u16>, more: &[u16]) -> Vec<u16> {
        more.iter().for_each(|&one| self.append(&mut moves, one));
        moves
    }

    fn append(&self, moves: &mut Vec<u16>, one: u16) {
        let Some(&last) = moves.last() else { return moves.push(one) };
        if let Some(both) = self.joined.get(&(last, one)) {
            moves.pop();
            return both.iter().for_each(|&both| self.append(moves, both));
        }
        // Past one that it commutes with.
        if let [.., before, last] = moves[..]
            && let Some(both) = self.joined.get(&(before, one))
            && self.puzzle.allows_all_moves()
            && self.commute(last, one)
        {
            moves.truncate(moves.len() - 2);
            both.iter().for_each(|&both| self.append(moves, both));
            return self.append(moves, last);
        }
        moves.push(one);
    }

    fn commute(&self, one: u16, other: u16) -> bool {
        let [one, other] = [one, other].map(|of| &self.moves[usize::from(of)]);
        (0..one.len()).all(|p| other[usize::from(one[p])] == one[usize::from(other[p])])
    }

    fn then(&mut self, first: &ChainWord, next: &ChainWord) -> ChainWord {
        self.work += first.points.len() as u64;
        let moves = self.joined_moves(first.moves.clone(), &next.moves);
        ChainWord { points: after(&first.points, &next.points), moves, is_new: true }
    }

    fn back(&self, of: &ChainWord) -> ChainWord {
        let moves = of.moves.iter().rev().map(|&one| self.inverse[usize::from(one)]).collect();
        ChainWord { points: undone(&of.points), moves, is_new: true }
    }

    /// Makes the tables from short words, in the order of their lengths.
    fn fill(&mut self) {
        let mut longest = FIRST_LENGTH;
        let (mut count, mut next) = (0, 0);
        while count < WORDS && next < self.starts.len() && self.work < WORK {
            let word = self.starts[next].clone();
            next += 1;
            for one in 0..self.words.len() {
                let step = self.words[one].clone();
                let longer = self.then(&word, &step);
                if longer.moves.len() <= word.moves.len() {
                    continue;
                }
                if self.starts.len() < WORDS {
                    self.starts.push(longer.clone());
                }
                self.take(longest as usize, 0, longer);
                count += 1;
                if count.is_multiple_of(WORDS / ROUNDS) {
                    self.improve(longest as usize);
                    if count < WORDS / 2 {
                        self.complete();
                    }
                    longest *= GROWTH;
                }
            }
        }
        self.starts.truncate(STARTS);
    }

    /// Takes a word apart from a level on: keeps its inverse if it is shorter than what is known, and goes on with what is left.
    fn take(&mut self, longest: usize, from: usize, mut word: ChainWord) {
        for k in from..self.levels.len() {
            if word.moves.is_empty() || word.moves.len() >= longest {
                return;
            }
            let at = usize::from(word.points[usize::from(self.levels[k].home)]);
            let back = match self.levels[k].from[at].take() {
                None => {
                    self.levels[k].from[at] = Some(Box::new(self.back(&word)));
                    return;
                }
                Some(known) => known,
            };
            let rest = self.then(&word, &back);
            let kept =
                if word.moves.len() < back.moves.len() { Box::new(self.back(&word)) } else { back };
            self.levels[k].from[at] = Some(kept);
            word = rest;
        }
    }

    /// Joins any two sequences of a level of which one is new.
    fn improve(&mut self, longest: usize) {
        for k in 0..self.levels.len() {
            let home = usize::from(self.levels[k].home);
            let known = |level: &ChainLevel| -> Vec<usize> {
                let points = 0..level.from.len();
                points.filter(|&p| p != home && level.from[p].is_some()).collect()
            };
            let points = known(&self.levels[k]);
            for &p in &points {
                for &q in &points {
                    let of = |p: usize| self.levels[k].from[p].as_deref();
                    let (Some(first), Some(next)) = (of(p), of(q)) else { continue };
                    let is_short = first.moves.len() + next.moves.len() < longest;
                    if is_short && (first.is_new || next.is_new) {
                        let (first, next) = (first.clone(), next.clone());
                        let both = self.then(&first, &next);
                        self.take(longest, k, both);
                    }
                }
                if self.work >= WORK {
                    return;
                }
            }
            for word in self.levels[k].from.iter_mut().flatten() {
                word.is_new = false;
            }
        }
    }

    /// Fills points of a level by sequences of later ones, which leave its piece alone.
    fn complete(&mut self) {
        for k in 0..self.levels.len() {
            for later in k + 1..self.levels.len() {
                for p in 0..self.levels[later].from.len() {
                    let Some(step) = self.levels[later].from[p].as_deref().cloned() else {
                        continue;
                    };
                    for q in 0..self.levels[k].from.len() {
                        let to = usize::from(step.points[q]);
                        let level = &self.levels[k];
                        if let (Some(back), None) = (&level.from[q], &level.from[to]) {
                            let (step, back) = (self.back(&step), back.clone());
                            self.levels[k].from[to] = Some(Box::new(self.then(&step, &back)));
                        }
                    }
                }
            }
        }
    }

    /// Whether mixed states are solved.
    fn solves_all(&self) -> bool {
        let mut random = SplitMix64::new(1);
        (0..TESTED).all(|_| {
            let mut state = self.puzzle.solved();
            for _ in 0..MIXING {
                let one = random.below(self.moves.len() as u64) as usize;
                state = self.puzzle.moved(&state, one).unwrap_or(state);
            }
            let Some((_, row)) = self.at_home(&state) else { return false };
            self.starts.iter().any(|start| self.rest(self.made(start, &row)).is_some())
        })
    }
}

/// The moves of a word, where those that it undoes are the moves that undo them.
fn numbered(inverse: &[u16], moves: &[i32]) -> Vec<u16> {
    let number = |&one: &i32| u16::try_from(one).unwrap_or_else(|_| inverse[!one as usize]);
    moves.iter().map(number).collect()
}

/// Where a transformation takes each point.
fn points_of(positions: &[ChainPosition], points: usize, of: &Transformation) -> Vec<u16> {
    let mut to = vec![0; points];
    let mut own = positions.iter();
    for (index, turn) in of.0.iter().enumerate() {
        let first = positions.iter().find(|of| of.set == index).map_or(0, |of| of.first);
        for ((&from, &twist), at) in turn.source.iter().zip(&turn.twist).zip(own.by_ref()) {
            for before in 0..at.turns {
                let after = (before + usize::from(twist)) % at.turns;
                to[first + usize::from(from) * at.turns + before] = (at.first + after) as u16;
            }
        }
    }
    to
}

fn after(first: &[u16], next: &[u16]) -> Vec<u16> {
    first.iter().map(|&point| next[usize::from(point)]).collect()
}

fn undone(of: &[u16]) -> Vec<u16> {
    let mut back = vec![0; of.len()];
    (0..).zip(of).for_each(|(from, &to)| back[usize::from(to)] = from);
    back
}

/// The positions in the order in which they are solved: pieces that differ before those that look alike, and next always one
/// that the fewest of the moves touch that have left all before it alone.
fn order(puzzle: &Puzzle, positions: &[ChainPosition], words: &[ChainWord]) -> Vec<usize> {
    let is_alike = |position: usize| {
        let ChainPosition { set, turns, solved, .. } = positions[position];
        let set = &puzzle.sets()[set];
        let modulus = usize::from(set.moduli[usize::from(solved.kind)]);
        set.pieces_of(solved.kind) > 1 || modulus < turns
    };
    let touches = |word: &ChainWord, position: usize| {
        let first = positions[position].first;
        usize::from(word.points[first]) != first
    };
    let mut free: Vec<&ChainWord> = words.iter().collect();
    let mut rest: Vec<usize> = (0..positions.len()).collect();
    // What no move touches is solved.
    rest.retain(|&position| words.iter().any(|word| touches(word, position)));
    let mut order = Vec::new();
    while let Some(&next) = rest.iter().min_by_key(|&&position| {
        let touched = free.iter().filter(|one| touches(one, position)).count();
        (is_alike(position), touched, positions[position].solved.kind, position)
    }) {
        free.retain(|one| !touches(one, next));
        rest.retain(|&position| position != next);
        order.push(next);
    }
    order
}
