//! Facts about moves that save a search: sequences that only reach what an earlier sequence reaches are never searched,
//! and a state needs as many moves as its inverse.
//!
//! `optimal` asks a [`MovePruner`] for the moves of a board. For any other puzzle, `puzzles` asks a [`WordPruner`], and
//! looks up inverses of states too; its [`RowMoves`] write only what the next lookup reads.
//!
//! Source: L. A. Taylor and R. E. Korf, Pruning duplicate nodes in depth-first search, AAAI 1993.

use std::{
    array::from_fn,
    collections::{HashMap, VecDeque, hash_map::Entry},
    hash::{BuildHasherDefault, Hasher},
    mem,
    ops::Range,
};

use crate::{
    frontier::{FieldBlock, FieldKind, FieldMap, StateFields},
    kernel::prefetch,
    puzzle::{
        Arrangement, Board, Direction, Move, Moves, PieceAt, PieceSet, Puzzle, Size,
        Transformation, rows::RowSet, symmetry::Relabelling,
    },
    random::SplitMix64,
    threads::map_numbers,
};

// Boards: a finite-state machine.
//
// Invariant: a pruned sequence leads from its starting cell to the same board as an unpruned sequence that is shorter,
// or of equal length and earlier in the order of `Direction::ALL`. This order is preserved when part of a sequence
// is replaced, so every board keeps at least one shortest sequence.

/// A pruner for the blank's walks on boards of one size.
///
/// ```
/// use tilewave::puzzle::{Direction, Size};
/// use tilewave::solve::MovePruner;
/// let pruner = MovePruner::new(Size::new(4, 4)?, 12);
/// let start = pruner.start(5);
/// assert_eq!(pruner.moves(start).count(), 4);
/// let (_, after) = pruner.moves(start).find(|(d, _)| *d == Direction::Up).unwrap();
/// assert!(pruner.moves(after).all(|(d, _)| d != Direction::Down)); // not straight back
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MovePruner {
    /// For each state, the moves that it allows, as next state times four plus direction; [`NONE`] after the last.
    next: Vec<[u32; 4]>,
}

const NONE: u32 = u32::MAX;

impl MovePruner {
    /// Returns the pruner that contains all duplicates among sequences of at most `depth` moves.
    ///
    /// Cost: all such sequences are walked once from every cell, about 16 * 2.2^depth boards on 4x4: 8 ms on two cores
    /// for depth 12.
    pub fn new(size: Size, depth: usize) -> MovePruner {
        let cells = size.cells();
        let all = map_numbers(cells, &|start| duplicates(size, start, depth));
        let forbidden = all.iter().enumerate().flat_map(|(start, sequences)| {
            sequences.iter().map(move |sequence| (start, sequence.iter().map(|&d| d as usize)))
        });
        let leads = |cell, direction: usize| Direction::ALL[direction].tile_cell(size, cell);
        let row = |row: &[u32]| {
            let mut allowed =
                allowed(row).map(|(direction, next)| next << 2 | u32::from(direction));
            from_fn(|_| allowed.next().unwrap_or(NONE))
        };
        MovePruner { next: automaton((cells, 4), leads, forbidden, row) }
    }

    /// Returns the state before the first move, with the blank on a row-major cell.
    pub fn start(&self, blank: usize) -> u32 {
        blank as u32
    }

    /// Returns the state after a move, or `None` if the move is blocked or pruned.
    pub fn next(&self, state: u32, direction: Direction) -> Option<u32> {
        self.moves(state).find_map(|(one, next)| (one == direction).then_some(next))
    }

    /// Returns the moves that a state allows, in the order of [`Direction::ALL`], and the states after them.
    #[inline]
    pub fn moves(&self, state: u32) -> impl Iterator<Item = (Direction, u32)> + use<> {
        let moves = self.next[state as usize].into_iter();
        let moves = moves.take_while(|&next| next != NONE);
        moves.map(|next| (Direction::ALL[(next & 3) as usize], next >> 2))
    }

    /// Prefetches the moves that a state allows.
    #[inline]
    pub(crate) fn prefetch(&self, state: u32) {
        prefetch::<1, _>(self.next.as_ptr().wrapping_add(state as usize));
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.next.len()
    }
}

/// A board, and the first sequence of moves that reaches it.
#[derive(Clone, Copy)]
struct ReachedBoard {
    key: u64,
    /// The previous board; none for the first one.
    before: u32,
    blank: u16,
    /// The move from the previous board.
    direction: Direction,
}

/// The duplicate sequences from one cell, none of which begins with another. A sequence that undoes a move is among
/// them only if it does so at once: all others end with such a sequence from another cell.
fn duplicates(size: Size, start: usize, depth: usize) -> Vec<Vec<Direction>> {
    let cells = size.cells();
    // Which tile is where does not matter as long as they differ. A key is a sum of tiles times random numbers of their
    // cells, which a move changes by one product; boards with equal keys are compared.
    let mut random = SplitMix64::new(0);
    let weights: Vec<u64> = (0..cells).map(|_| random.draw()).collect();
    let mut reached =
        vec![ReachedBoard { key: 0, before: NONE, blank: start as u16, direction: Direction::Up }];
    let mut seen: HashMap<u64, u32, BuildHasherDefault<Key>> = HashMap::from_iter([(0, 0)]);
    let mut found = Vec::new();
    let mut level = 0..1;
    let first = Board::ordered(size, start).expect("sequences start on the board");
    let mut boards = first.tiles().to_vec();
    for left in (0..depth).rev() {
        let mut next_boards = Vec::new();
        for (at, board) in level.clone().zip(boards.chunks(cells)) {
            let from: ReachedBoard = reached[at];
            let blank = usize::from(from.blank);
            for direction in Direction::ALL {
                let back = from.before != NONE
                    && from.before != 0
                    && direction == from.direction.opposite();
                let Some(cell) = direction.tile_cell(size, blank).filter(|_| !back) else {
                    continue;
                };
                let change = weights[blank].wrapping_sub(weights[cell]);
                let to = ReachedBoard {
                    key: from.key.wrapping_add(change.wrapping_mul(board[cell].into())),
                    before: at as u32,
                    blank: cell as u16,
                    direction,
                };
                match seen.entry(to.key) {
                    Entry::Vacant(entry) => {
                        entry.insert(reached.len() as u32);
                        reached.push(to);
                        if left > 0 {
                            let end = next_boards.len();
                            next_boards.extend_from_slice(board);
                            next_boards.swap(end + blank, end + cell);
                        }
                    }
                    Entry::Occupied(entry) => {
                        let earlier = Moves(path(&reached, reached[*entry.get() as usize]));
                        let mut after = board.to_vec();
                        after.swap(blank, cell);
                        if earlier.apply(&first).is_ok_and(|earlier| earlier.tiles() == after) {
                            found.push(path(&reached, to));
                        }
                    }
                }
            }
        }
        level = level.end..reached.len();
        boards = next_boards;
    }
    found
}

/// The moves to a board.
fn path(reached: &[ReachedBoard], to: ReachedBoard) -> Vec<Direction> {
    let earlier = |board: &ReachedBoard| reached.get(board.before as usize).copied();
    let back = std::iter::successors(Some(to), earlier).filter(|board| board.before != NONE);
    let mut moves: Vec<Direction> = back.map(|board| board.direction).collect();
    moves.reverse();
    moves
}

/// Hashes a key, which is already random, to itself.
#[derive(Default)]
pub(crate) struct Key(u64);

impl Hasher for Key {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        unreachable!("keys are words, not {} bytes", bytes.len());
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

// The automaton of the sequences that contain no forbidden one (A. V. Aho and M. J. Corasick, CACM 1975).
//
// A state represents the longest suffix of the moves so far that is a proper prefix of a forbidden sequence. Sequences
// begin at a place, such as the cell of the blank; the first states are those of the places before the first move.

/// What `row` makes of each state's row: for each move, the state that it leads to, or [`NONE`] if it is not allowed.
/// `leads` returns the place to which a move leads from a place, unless there is a border.
fn automaton<T>(
    (places, moves): (usize, usize),
    leads: impl Fn(usize, usize) -> Option<usize>,
    forbidden: impl Iterator<Item = (usize, impl Iterator<Item = usize>)>,
    row: impl Fn(&[u32]) -> T,
) -> Vec<T> {
    let mut place: Vec<usize> = (0..places).collect();
    let (mut child, mut pruned) = (vec![NONE; places * moves], vec![false; places * moves]);
    for (start, sequence) in forbidden {
        let (mut at, mut last) = (start, None);
        for one in sequence {
            if let Some(before) = last.replace(one) {
                let edge = at * moves + before;
                if child[edge] == NONE {
                    child[edge] = place.len() as u32;
                    place.push(leads(place[at], before).unwrap_or(place[at]));
                    child.resize(place.len() * moves, NONE);
                    pruned.resize(place.len() * moves, false);
                }
                at = child[edge] as usize;
            }
        }
        if let Some(last) = last {
            pruned[at * moves + last] = true;
        }
    }
    // For each state, that of the longest proper suffix that is a prefix, too.
    let mut suffix = vec![NONE; place.len()];
    let mut next = vec![NONE; child.len()];
    let mut queue: VecDeque<usize> = (0..places).collect();
    while let Some(at) = queue.pop_front() {
        for one in 0..moves {
            let Some(to) = leads(place[at], one) else { continue };
            let edge = at * moves + one;
            // This state has the transitions of its suffix, unless its own tree goes deeper.
            let shorter = match suffix[at] {
                NONE => to as u32,
                suffix => next[suffix as usize * moves + one],
            };
            pruned[edge] |= shorter == NONE;
            if child[edge] != NONE {
                suffix[child[edge] as usize] = if shorter == NONE { to as u32 } else { shorter };
                queue.push_back(child[edge] as usize);
            }
            if !pruned[edge] {
                next[edge] = if child[edge] != NONE { child[edge] } else { shorter };
            }
        }
    }
    (0..place.len()).map(|state| row(&next[state * moves..][..moves])).collect()
}

/// The moves that a row allows, and the states that they lead to.
fn allowed(row: &[u32]) -> impl Iterator<Item = (u16, u32)> {
    (0..).zip(row.iter().copied()).filter(|(_, next)| *next != NONE)
}

// Any puzzle.
//
// Invariant: a pruned sequence has the same effect as an unpruned one that is shorter, or of equal length and earlier
// in the order of the moves; so every state keeps a shortest sequence.

/// Maximum number of sequences that are compared.
const MOST: usize = 200_000;

/// A pruner for sequences of moves.
#[derive(Clone, Debug)]
pub(crate) struct WordPruner {
    /// For each state, the moves that it allows, and the states after them.
    next: Vec<Vec<(u16, u32)>>,
}

impl WordPruner {
    /// Returns the pruner that contains all duplicates among sequences up to the greatest length for which there are at
    /// most 200,000; if moves depend on where a piece is, it only prevents a move from being undone at once.
    pub fn new(puzzle: &Puzzle) -> WordPruner {
        let free = puzzle.allows_all_moves();
        let forbidden = if free { duplicate_words(puzzle) } else { undone(puzzle) };
        WordPruner::without(puzzle.moves().len(), &forbidden)
    }

    /// Returns the pruner for sequences, and that for the inverses of sequences, which begin with the inverse of the last
    /// move; every move has its inverse.
    pub fn both_ways(puzzle: &Puzzle) -> [WordPruner; 2] {
        WordPruner::both_ways_without(puzzle, duplicate_words(puzzle))
    }

    /// Like [`WordPruner::both_ways`], with the forbidden sequences.
    pub fn both_ways_without(puzzle: &Puzzle, forbidden: Vec<Vec<u16>>) -> [WordPruner; 2] {
        let moves = puzzle.moves();
        let inverse = |one: &u16| {
            let of = moves[usize::from(*one)].transformation.inverse(puzzle.sets());
            let found = moves.iter().position(|other| other.transformation == of);
            found.map_or(*one, |found| found as u16)
        };
        let inverses: Vec<u16> = (0..moves.len() as u16).map(|one| inverse(&one)).collect();
        let back = forbidden
            .iter()
            .map(|word| word.iter().rev().map(|&one| inverses[usize::from(one)]).collect());
        let back: Vec<Vec<u16>> = back.collect();
        [forbidden, back].map(|words| WordPruner::without(moves.len(), &words))
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.next.len()
    }

    /// Returns a pruner that allows all moves.
    pub fn none(puzzle: &Puzzle) -> WordPruner {
        WordPruner::without(puzzle.moves().len(), &[])
    }

    /// The state before the first move.
    pub const START: u32 = 0;

    /// Returns the moves that a state allows, and the states after them.
    #[inline]
    pub fn moves(&self, state: u32) -> &[(u16, u32)] {
        &self.next[state as usize]
    }

    /// Returns the pruner for a number of moves that forbids some sequences, none of which is empty.
    pub fn without(moves: usize, forbidden: &[Vec<u16>]) -> WordPruner {
        let forbidden = forbidden.iter().map(|word| (0, word.iter().map(|&one| one.into())));
        let row = |row: &[u32]| allowed(row).collect();
        WordPruner { next: automaton((1, moves), |_, _| Some(0), forbidden, row) }
    }
}

/// Pairs of moves in which the second undoes the first.
fn undone(puzzle: &Puzzle) -> Vec<Vec<u16>> {
    let moves = puzzle.moves();
    let undoes = |first: &Transformation, then: &Transformation| {
        !puzzle.does_something(&first.then(then, puzzle.sets()))
    };
    let all = (0..moves.len()).flat_map(|a| (0..moves.len()).map(move |b| (a, b)));
    all.filter(|&(a, b)| undoes(&moves[a].transformation, &moves[b].transformation))
        .map(|(a, b)| vec![a as u16, b as u16])
        .collect()
}

/// The shortest sequences that have the same effect as earlier ones.
fn duplicate_words(puzzle: &Puzzle) -> Vec<Vec<u16>> {
    let moves: Vec<EffectStep> =
        puzzle.moves().iter().map(|one| EffectStep::of(puzzle, one)).collect();
    // Where each piece comes from and how much it is turned, as far as that is seen.
    let still: Vec<u8> = puzzle
        .sets()
        .iter()
        .flat_map(|set| (0..set.positions()).flat_map(|at| [at as u8, 0]))
        .collect();
    let mut known = RowSet::new(still.len());
    known.insert(&still);
    let mut forbidden: Vec<Vec<u16>> = Vec::new();
    // The sequences of a length, in order, whose effects are the last rows, and for each the number of the sequence
    // without its first move among those that are shorter by one. For each of these and each move, the number of the
    // sequence that it becomes.
    let mut words: Vec<(Vec<u16>, usize)> = vec![(Vec::new(), 0)];
    let mut longer: Vec<Option<usize>> = vec![Some(0); moves.len()];
    let (mut all, mut done, mut both) = (0, Vec::new(), Vec::new());
    while !words.is_empty() && all + words.len() * moves.len() <= MOST {
        let first = known.len() - words.len();
        let mut next = Vec::new();
        let mut becomes = vec![None; words.len() * moves.len()];
        for (number, (word, end)) in words.iter().enumerate() {
            done.clear();
            done.extend_from_slice(known.row(first + number));
            for (one, step) in moves.iter().enumerate() {
                // A forbidden sequence within it already forbids it.
                let Some(end) = longer[end * moves.len() + one] else { continue };
                step.apply(&done, &mut both);
                let longer = [&word[..], &[one as u16]].concat();
                if known.insert(&both) {
                    becomes[number * moves.len() + one] = Some(next.len());
                    next.push((longer, end));
                } else {
                    forbidden.push(longer);
                }
            }
        }
        all += next.len();
        (words, longer) = (next, becomes);
    }
    forbidden
}

/// What a move does after others: for each position where its piece was, by how much the move turns it, and how many
/// turns are told apart.
struct EffectStep(Vec<(usize, u16, u16)>);

impl EffectStep {
    fn of(puzzle: &Puzzle, one: &Move) -> EffectStep {
        let mut steps = Vec::new();
        for (turn, set) in one.transformation.0.iter().zip(puzzle.sets()) {
            let (first, visible) = (steps.len(), Puzzle::visible(set));
            let step = |(&from, &twist): (&u8, &u8)| {
                (first + usize::from(from), twist.into(), visible.into())
            };
            steps.extend(turn.source.iter().zip(&turn.twist).map(step));
        }
        EffectStep(steps)
    }

    fn apply(&self, row: &[u8], to: &mut Vec<u8>) {
        to.clear();
        to.extend(self.0.iter().flat_map(|&(from, twist, turns)| {
            [row[2 * from], ((u16::from(row[2 * from + 1]) + twist) % turns) as u8]
        }));
    }
}

// Inverses of states, for puzzles whose states are products of moves: all pieces differ, all orientations are visible,
// and every move has its inverse and is always allowed. A state and its inverse need the same number of moves.

/// The effects of moves on the rows of inverses; `None` if states have no inverses.
pub(crate) fn inverse_moves(puzzle: &Puzzle, fields: &StateFields) -> Option<Vec<FieldMap>> {
    let sets = puzzle.sets();
    let located =
        fields.fields.iter().all(|field| matches!(field.kind, FieldKind::Location { .. }));
    if !located || !puzzle.is_group() {
        return None;
    }
    let moves = puzzle.moves().iter().map(|one| {
        // The inverse of "a state, then a move" is the inverse of the move, then the inverse of the state: a piece goes
        // where the piece goes whose home it reaches first.
        let mut of = Relabelling::identity(puzzle);
        let turns = one.transformation.inverse(sets).0;
        for ((kinds, turn), PieceSet { solved, orientations, .. }) in
            of.kind.iter_mut().zip(&turns).zip(sets)
        {
            for (there, (&from, &twist)) in solved.iter().zip(turn.source.iter().zip(&turn.twist)) {
                let piece = solved[usize::from(from)].kind;
                kinds[usize::from(there.kind)] = (piece, (orientations - twist) % orientations);
            }
        }
        fields.of_relabelling(puzzle, &of, false)
    });
    Some(moves.collect())
}

/// The inverse of a state.
pub(crate) fn inverse(puzzle: &Puzzle, state: &Arrangement) -> Arrangement {
    puzzle.after(&puzzle.solved(), &puzzle.transformation_to(state).inverse(puzzle.sets()))
}

// Effects of moves on rows: the fields of a state and, if they are used, of its inverse.

/// The moves of a puzzle, for a search that looks up a state in one table after the other: only those fields are
/// written that the next table reads. Most states are cut off after one or two.
pub(crate) struct RowMoves {
    moves: Vec<RowMove>,
    /// The tables of all moves, concatenated.
    values: Vec<u8>,
    /// Values of fields that no state may have.
    illegal: Vec<(usize, Vec<u8>)>,
}

struct RowMove {
    /// For each stage, its fields: for each one, the field where its byte comes from, and the table of the values.
    stages: Vec<Vec<(u16, u16, u32)>>,
    /// The field that must have one of these values.
    needs: Option<(usize, Vec<u8>)>,
    /// The blocks that it may split.
    blocks: Vec<FieldBlock>,
}

impl RowMoves {
    /// The moves in a single stage; `back` has their effects on inverses, if these are used.
    pub fn new(puzzle: &Puzzle, fields: &StateFields, back: Option<&[FieldMap]>) -> RowMoves {
        let mut values = Vec::new();
        let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut moves = Vec::new();
        for (index, one) in puzzle.moves().iter().enumerate() {
            let mut map = fields.of_move(puzzle, one);
            if let Some(back) = back {
                let (first, back) = (map.source.len() as u16, &back[index]);
                map.source.extend(back.source.iter().map(|&from| from + first));
                map.table.extend(back.table.iter().cloned());
            }
            let part = |(field, (from, table)): (u16, (u16, Vec<u8>))| {
                let at = *known.entry(table).or_insert_with_key(|table| {
                    values.extend_from_slice(table);
                    (values.len() - table.len()) as u32
                });
                (field, from, at)
            };
            let all = (0..).zip(map.source.into_iter().zip(map.table)).map(part).collect();
            // What no move changes is as in the solved state: a move is always allowed, or never.
            let always = |at: PieceAt| {
                let there = puzzle.solved().0[usize::from(at.set)][usize::from(at.position)];
                there.kind == at.kind
            };
            let needs = one.requires.and_then(|at| {
                let never = || (!always(at)).then(|| (0, Vec::new()));
                fields.says(puzzle, at).or_else(never)
            });
            let blocks = fields.blocks(puzzle, &one.transformation);
            moves.push(RowMove { stages: vec![all], needs, blocks });
        }
        let illegal = puzzle.illegal().iter().filter_map(|&at| fields.says(puzzle, at)).collect();
        RowMoves { moves, values, illegal }
    }

    /// Divides the moves into a stage for each list of fields that are read one after the other, and one for the rest.
    pub fn divide(&mut self, read: &[Vec<usize>]) {
        let stage = |field: usize| match self.illegal.iter().any(|(illegal, _)| *illegal == field) {
            // It is looked at first of all.
            true => 0,
            false => read.iter().position(|own| own.contains(&field)).unwrap_or(read.len()),
        };
        for one in &mut self.moves {
            let all = mem::take(&mut one.stages).concat();
            one.stages.resize(read.len() + 1, Vec::new());
            all.into_iter().for_each(|part| one.stages[stage(part.0.into())].push(part));
        }
    }

    /// Applies a move to a row; returns false if it is not allowed.
    pub fn apply(&self, one: usize, row: &[u8], to: &mut [u8]) -> bool {
        let allowed = self.begin(one, row, to);
        self.write(one, 1..self.moves[one].stages.len(), row, to);
        allowed
    }

    /// Returns whether a move may be made; where it leads may be illegal.
    #[inline]
    fn may(&self, one: usize, row: &[u8]) -> bool {
        let RowMove { needs, blocks, .. } = &self.moves[one];
        needs.as_ref().is_none_or(|(field, values)| values.contains(&row[*field]))
            && !blocks.iter().any(|block| block.is_split(row))
    }

    /// Writes the first stage of a row after a move; returns false if the move is not allowed.
    #[inline]
    pub fn begin(&self, one: usize, row: &[u8], to: &mut [u8]) -> bool {
        if !self.may(one, row) {
            return false;
        }
        self.write(one, 0..1, row, to);
        !self.illegal.iter().any(|(field, values)| values.contains(&to[*field]))
    }

    /// Returns, for each field that a move can change, the field where its byte comes from, and the table of the values.
    pub fn changed(&self, one: usize, fields: &StateFields) -> Vec<(u16, u16, u32)> {
        let keeps = |&(field, from, table): &(u16, u16, u32)| {
            let values = self.values[table as usize..].iter().zip(0..);
            let mut values = values.take(fields.fields[usize::from(field)].values);
            field == from && values.all(|(&after, value)| after == value)
        };
        let all = self.moves[one].stages.iter().flatten();
        all.filter(|part| !keeps(part)).copied().collect()
    }

    /// Calls a function with each field that a move changes, its value and the one after the move, given
    /// [`RowMoves::changed`]; returns false if the move is not allowed.
    #[inline]
    pub fn each_change(
        &self,
        (one, changed): (usize, &[(u16, u16, u32)]),
        row: &[u8],
        mut of: impl FnMut(u16, u8, u8),
    ) -> bool {
        let mut allowed = self.may(one, row);
        for &(field, from, table) in changed {
            let after = self.values[table as usize + usize::from(row[usize::from(from)])];
            of(field, row[usize::from(field)], after);
            let is = |(illegal, values): &(usize, Vec<u8>)| {
                *illegal == usize::from(field) && values.contains(&after)
            };
            allowed &= !self.illegal.iter().any(is);
        }
        allowed
    }

    /// Writes some stages of a row after a move.
    #[inline]
    pub fn write(&self, one: usize, stages: Range<usize>, row: &[u8], to: &mut [u8]) {
        for stage in &self.moves[one].stages[stages] {
            for &(field, from, table) in stage {
                let value = usize::from(row[usize::from(from)]);
                to[usize::from(field)] = self.values[table as usize + value];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puzzle::{Turns, named};

    #[test]
    fn sequences_are_as_many_as_states_where_all_duplicates_are_known() {
        let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers).unwrap();
        let pruner = WordPruner::new(&cube);
        let mut states = vec![WordPruner::START];
        let mut counts = Vec::new();
        for _ in 0..4 {
            states = states.iter().flat_map(|&s| pruner.moves(s)).map(|&(_, next)| next).collect();
            counts.push(states.len());
        }
        // OEIS A080601: as many sequences as states.
        assert_eq!(counts, [18, 243, 3240, 43239]);
    }

    #[test]
    fn inverses_follow_the_moves() {
        let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers).unwrap();
        let fields = StateFields::of(&cube);
        let inverses = inverse_moves(&cube, &fields).unwrap();
        let mut random = SplitMix64::new(3);
        let mut state = cube.solved();
        let mut row = fields.encode(&state);
        for _ in 0..100 {
            let one = random.draw() as usize % cube.moves().len();
            state = cube.moved(&state, one).unwrap();
            row = inverses[one].apply(&row);
            let back = inverse(&cube, &state);
            assert_eq!(row, fields.encode(&back));
            assert_eq!(inverse(&cube, &back), state);
        }
    }
}
