//! Shortest solutions of states near a solved one without tables: a list of all states within some moves of the solved
//! ones, and depth-first searches from the state whose ends are looked up in the list.
//!
//! ```text
//!   state  -- e moves, depth-first, nothing is stored -->  ends   in the list?   <-- g moves back --  solved
//! ```
//!
//! Either number grows by one, whichever costs less, until an end is in the list. The list is kept for the next state. It
//! holds a number of 120 bits for each state, the exclusive or of random numbers for the values of its fields (A. L.
//! Zobrist, 1970), and its depth: a move changes the number by what it changes in the state.
//!
//! Source: J. F. Dillenburg and P. C. Nelson, Perimeter search, Artificial Intelligence 65, 1994.
//!
//! Invariant: when a length has been searched, all shorter solutions have been found, unless two states have the same
//! number: for a billion look-ups in a list of 30 million, the probability is below 1e-18. A solution has been replayed.

use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, Hash, Hasher},
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
};

use rayon::prelude::*;

use crate::{
    frontier::StateFields,
    progress::{Phase, Progress},
    pruning::CosetTable,
    puzzle::{Arrangement, Puzzle, Unreachable, reachable::Reachability},
    random::SplitMix64,
    solve::{
        SolveError,
        ida::Answer,
        pruner::{Key, RowMoves, WordPruner},
        puzzles::{replayed, unreached},
    },
};

/// Maximum number of states of the list.
const MOST_STATES: usize = 7 << 22;
/// Maximum number of look-ups of all states, unless a table of all states of the puzzle would cost less; and where a small
/// coset table costs about as much.
const MOST_LOOK_UPS: u64 = 1 << 28;
const COSET_LOOK_UPS: u64 = 1 << 27;
const LEAST_LOOK_UPS: u64 = 1 << 20;
/// How many look-ups cost as much as a new state of the list, and as a new state of a table.
const OF_LISTED: u64 = 12;
const STATES_OF_TABLE: u64 = 4;
/// Searches with fewer ends run on one thread; others are split into about this number of parts for each.
const SPLIT_FROM: u64 = 1 << 16;
const PARTS: usize = 1 << 8;
/// Number of listed states after which an observer is told.
const TELL_EVERY: usize = 1 << 10;
/// What an entry of the list takes, in bytes.
const ENTRY_BYTES: u64 = size_of::<Listed>() as u64 + 1;

/// The number of a state, and in the lowest byte its depth, which equal entries need not share.
#[derive(Clone, Copy)]
struct Listed(u128);

impl Listed {
    fn depth(self) -> u8 {
        self.0 as u8
    }
}

impl PartialEq for Listed {
    fn eq(&self, other: &Listed) -> bool {
        self.0 >> 8 == other.0 >> 8
    }
}

impl Eq for Listed {}

impl Hash for Listed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64((self.0 >> 64) as u64);
    }
}

type NearList = HashSet<Listed, BuildHasherDefault<Key>>;

/// The random numbers of the values of fields, 256 for each field.
struct Numbers(Vec<u128>);

impl Numbers {
    fn new(fields: usize) -> Numbers {
        let mut random = SplitMix64::new(0);
        let mut draw = || u128::from(random.draw()) << 64 | u128::from(random.draw() & !0xff);
        Numbers((0..fields << 8).map(|_| draw()).collect())
    }

    #[inline]
    fn at(&self, field: u16, value: u8) -> u128 {
        self.0[usize::from(field) << 8 | usize::from(value)]
    }

    fn of(&self, row: &[u8]) -> u128 {
        (0..).zip(row).fold(0, |all, (field, &value)| all ^ self.at(field, value))
    }
}

/// The moves, forwards or back, and what each changes.
struct KeyedMoves {
    moves: RowMoves,
    /// What each move changes: see [`RowMoves::changed`].
    changed: Vec<Vec<(u16, u16, u32)>>,
}

impl KeyedMoves {
    fn new(puzzle: &Puzzle, fields: &StateFields) -> KeyedMoves {
        let moves = RowMoves::new(puzzle, fields, None);
        let changed = (0..puzzle.moves().len()).map(|one| moves.changed(one, fields)).collect();
        KeyedMoves { moves, changed }
    }

    /// The number of a state after a move, given its row and number; `None` if the move is not allowed.
    #[inline]
    fn number(&self, numbers: &Numbers, one: usize, row: &[u8], mut number: u128) -> Option<u128> {
        let change = |field, before, after| {
            number ^= numbers.at(field, before) ^ numbers.at(field, after);
        };
        self.moves.each_change((one, &self.changed[one]), row, change).then_some(number)
    }

    /// Writes what a move changes.
    fn write(&self, one: usize, row: &[u8], to: &mut [u8]) {
        to.copy_from_slice(row);
        let change = |field, _, after| to[usize::from(field)] = after;
        self.moves.each_change((one, &self.changed[one]), row, change);
    }
}

/// The state before some last moves of a search.
#[derive(Clone)]
struct Beginning {
    row: Vec<u8>,
    number: u128,
    word: u32,
    path: Vec<u16>,
}

/// A solver for states a few moves from a solved one: up to eleven moves of the 3x3x3, nine of the 4x4x4 and the megaminx.
pub struct MeetingLists {
    puzzle: Puzzle,
    reachable: Reachability,
    fields: StateFields,
    numbers: Numbers,
    words: WordPruner,
    forwards: KeyedMoves,
    back: KeyedMoves,
    list: NearList,
    /// The depth up to which the list is complete, and the rows of the states of this depth; none if there are too many.
    depth: u8,
    level: Option<Vec<u8>>,
    /// What the list may take, in bytes, and how many look-ups are left.
    memory: u64,
    left: u64,
}

impl MeetingLists {
    /// Returns the solver for a puzzle, with a list that takes at most a number of bytes. Cost: milliseconds; the list
    /// grows as states need it. All states together are given up when they cost more than a table of all states of the
    /// puzzle would, or some seconds.
    pub fn new(puzzle: &Puzzle, memory: u64) -> MeetingLists {
        let fields = StateFields::of(puzzle);
        let numbers = Numbers::new(fields.fields.len());
        let [forwards, back] =
            [puzzle, &puzzle.clone().reversed()].map(|of| KeyedMoves::new(of, &fields));
        let (mut list, mut level) = (NearList::default(), Vec::new());
        for goal in puzzle.goals().iter() {
            let row = fields.encode(goal);
            if list.insert(Listed(numbers.of(&row))) {
                level.extend(row);
            }
        }
        let states = puzzle.states().and_then(|states| u64::try_from(states).ok());
        let most = if CosetTable::suits(puzzle) { COSET_LOOK_UPS } else { MOST_LOOK_UPS };
        let left = states.map_or(most, |states| states / STATES_OF_TABLE);
        MeetingLists {
            reachable: Reachability::of(puzzle),
            words: WordPruner::new(puzzle),
            left: left.clamp(LEAST_LOOK_UPS, most),
            puzzle: puzzle.clone(),
            level: Some(level),
            depth: 0,
            fields,
            numbers,
            forwards,
            back,
            list,
            memory,
        }
    }

    /// Returns whether moves lead from the solved puzzle to a state, as far as the moves tell: see
    /// [`Puzzle::reaches`].
    pub fn reaches(&self, state: &Arrangement) -> Option<Result<(), Unreachable>> {
        self.reachable.reaches(&self.puzzle, state)
    }

    /// Returns a shortest solution of a state, or `None` if it costs too much, or if the observer asks to stop. It searches
    /// with all threads of the current rayon pool; solutions do not depend on their number.
    ///
    /// # Errors
    /// [`crate::puzzle::PuzzleErrorKind::Unreachable`] if no moves lead to the state.
    pub fn solve(
        &mut self,
        state: &Arrangement,
        progress: &dyn Progress,
    ) -> Result<Option<Answer<Vec<String>>>, SolveError> {
        match self.reaches(state) {
            Some(Err(why)) => Err(unreached(&self.puzzle, why)),
            _ => Ok(self.meet(state, progress)),
        }
    }

    fn meet(
        &mut self,
        state: &Arrangement,
        progress: &dyn Progress,
    ) -> Option<Answer<Vec<String>>> {
        let begun = std::time::Instant::now();
        let row = self.fields.encode(state);
        let number = self.numbers.of(&row);
        let root = Beginning { row, number, word: WordPruner::START, path: Vec::new() };
        let (mut nodes, mut depth) = (1, 0);
        // How many sequences have a number of moves.
        let mut words = vec![0; self.words.states()];
        words[WordPruner::START as usize] = 1;
        let (mut ends, mut more) = (1, self.more(&words));
        let mut way = self.list.contains(&Listed(number)).then(Vec::new);
        while way.is_none() {
            let longer = more.iter().sum::<u64>();
            let listed = self.cost(longer).filter(|cost| cost.saturating_add(ends) <= longer);
            let cost =
                listed.unwrap_or(longer).saturating_add(if listed.is_some() { ends } else { 0 });
            self.left = self.left.checked_sub(cost).filter(|_| !progress.interrupted())?;
            let length = usize::from(self.depth) + depth + 1;
            if listed.is_some() {
                nodes += self.grow(
                    &|own| progress.progress(Phase::Search(length), nodes + own, 0),
                    progress,
                )?;
            } else {
                depth += 1;
                (ends, more) = (longer, self.more(&more));
            }
            let told = |own| progress.progress(Phase::Search(length), nodes + own, 0);
            let found = self.search(&root, (depth, ends), &told, progress)?;
            nodes += found.0;
            way = found.1;
        }
        let mut way: Vec<usize> = way?.into_iter().map(usize::from).collect();
        self.descend(&root, &mut way);
        let at_least = way.len();
        let moves = replayed(&self.puzzle, state, way)?;
        let seconds = begun.elapsed().as_secs_f64();
        Some(Answer { moves: Some(moves), at_least, nodes, seconds })
    }

    /// How many sequences lead to each state of the pruner with one more move.
    fn more(&self, words: &[u64]) -> Vec<u64> {
        let mut more = vec![0u64; words.len()];
        for (state, &count) in words.iter().enumerate().filter(|(_, count)| **count > 0) {
            for &(_, next) in self.words.moves(state as u32) {
                more[next as usize] = more[next as usize].saturating_add(count);
            }
        }
        more
    }

    /// What the next depth of the list costs, in look-ups, if it may be added and costs no more than a limit.
    fn cost(&self, most: u64) -> Option<u64> {
        let width = self.fields.fields.len();
        let level = self.level.as_ref()?.len() / width;
        let states = level.saturating_mul(self.puzzle.moves().len());
        // A hash table doubles, and has its previous half meanwhile.
        let entries =
            (self.list.len() + states).saturating_mul(8).div_ceil(7).next_power_of_two() as u64;
        let bytes = entries.saturating_mul(ENTRY_BYTES) / 2 * 3;
        let fits =
            self.list.len() + states <= MOST_STATES && bytes <= self.memory && self.depth < u8::MAX;
        let cost = states as u64 * OF_LISTED;
        (fits && cost <= most).then_some(cost)
    }

    /// Adds the next depth to the list; returns the number of states that were generated, or `None` if there are no more
    /// states, or if the observer asks to stop, after which the list is of no use.
    fn grow(&mut self, told: &dyn Fn(u64), progress: &dyn Progress) -> Option<u64> {
        let width = self.fields.fields.len();
        let level = self.level.take()?;
        let (mut next, mut generated) = (Vec::new(), 0);
        self.depth += 1;
        let states = level.len() / width * self.puzzle.moves().len();
        let keeps_rows = states.saturating_mul(width) as u64 <= self.memory / 2;
        let mut after = vec![0; width];
        for (index, row) in level.chunks(width).enumerate() {
            if index % TELL_EVERY == 0 {
                told(generated);
                if progress.interrupted() {
                    self.left = 0;
                    return None;
                }
            }
            let number = self.numbers.of(row);
            for one in 0..self.puzzle.moves().len() {
                let Some(number) = self.back.number(&self.numbers, one, row, number) else {
                    continue;
                };
                generated += 1;
                if self.list.insert(Listed(number | u128::from(self.depth))) && keeps_rows {
                    self.back.write(one, row, &mut after);
                    next.extend_from_slice(&after);
                }
            }
        }
        let is_empty = keeps_rows && next.is_empty();
        self.level = keeps_rows.then_some(next);
        (!is_empty).then_some(generated)
    }

    /// Looks up the ends of all sequences of a number of moves, of which there are so many: returns the number of those up
    /// to the first one that is listed, in the order of the moves, and that one. `None` if the observer asks to stop.
    fn search(
        &self,
        root: &Beginning,
        (depth, ends): (usize, u64),
        told: &(dyn Fn(u64) + Sync),
        progress: &dyn Progress,
    ) -> Option<(u64, Option<Vec<u16>>)> {
        let mut parts = vec![root.clone()];
        let mut first = 0;
        while ends > SPLIT_FROM && parts.len() < PARTS && first + 1 < depth {
            let longer = |part: &Beginning| {
                let of = |&(one, next): &(u16, u32)| self.after(part, one, next);
                self.words.moves(part.word).iter().filter_map(of).collect::<Vec<_>>()
            };
            parts = parts.iter().flat_map(longer).collect();
            first += 1;
        }
        // Those before the first one that has a listed end are searched completely, for whatever number of threads.
        let (found_in, all) = (AtomicUsize::new(usize::MAX), AtomicU64::new(0));
        let search = |(index, part): (usize, &Beginning)| {
            if index > found_in.load(Ordering::Relaxed) || progress.interrupted() {
                return (0, None);
            }
            let mut rows = vec![part.row.clone(); depth - first + 1];
            let (mut nodes, mut path) = (0, part.path.clone());
            let is_found = self.walk(&mut rows, (part.number, part.word), &mut nodes, &mut path);
            told(all.fetch_add(nodes, Ordering::Relaxed) + nodes);
            if is_found {
                found_in.fetch_min(index, Ordering::Relaxed);
            }
            (nodes, is_found.then_some(path))
        };
        let searched: Vec<_> = match parts.len() {
            1 => parts.iter().enumerate().map(search).collect(),
            _ => parts.par_iter().enumerate().map(search).collect(),
        };
        if progress.interrupted() {
            return None;
        }
        let mut nodes = 0;
        for (own, path) in searched {
            nodes += own;
            if path.is_some() {
                return Some((nodes, path));
            }
        }
        Some((nodes, None))
    }

    fn after(&self, part: &Beginning, one: u16, word: u32) -> Option<Beginning> {
        let number = self.forwards.number(&self.numbers, one.into(), &part.row, part.number)?;
        let mut row = part.row.clone();
        self.forwards.write(one.into(), &part.row, &mut row);
        Some(Beginning { row, number, word, path: [&part.path[..], &[one]].concat() })
    }

    /// Walks through the sequences of as many moves as there are rows after the first, which is that of the state. Returns
    /// whether the path leads to a listed state.
    fn walk(
        &self,
        rows: &mut [Vec<u8>],
        (number, word): (u128, u32),
        nodes: &mut u64,
        path: &mut Vec<u16>,
    ) -> bool {
        let Some((row, below)) = rows.split_first_mut() else { return false };
        if below.is_empty() {
            *nodes += 1;
            return self.list.contains(&Listed(number));
        }
        for &(one, next) in self.words.moves(word) {
            let Some(number) = self.forwards.number(&self.numbers, one.into(), row, number) else {
                continue;
            };
            if below.len() > 1 {
                self.forwards.write(one.into(), row, &mut below[0]);
            }
            path.push(one);
            if self.walk(below, (number, next), nodes, path) {
                return true;
            }
            path.pop();
        }
        false
    }

    /// Completes a way to a listed state with moves that each lead to a state of less depth.
    fn descend(&self, root: &Beginning, way: &mut Vec<usize>) {
        let (mut row, mut before) = (root.row.clone(), root.row.clone());
        let mut step = |one: usize, row: &mut Vec<u8>| {
            before.clone_from(row);
            self.forwards.write(one, &before, row);
        };
        way.iter().for_each(|&one| step(one, &mut row));
        let mut at = self.numbers.of(&row);
        while let Some(depth) = self.list.get(&Listed(at)).map(|own| own.depth()).filter(|d| *d > 0)
        {
            let closer = (0..self.puzzle.moves().len()).find(|&one| {
                let after = self.forwards.number(&self.numbers, one, &row, at);
                let own = after.and_then(|after| self.list.get(&Listed(after)));
                own.is_some_and(|own| own.depth() < depth)
            });
            let Some(one) = closer else { break };
            way.push(one);
            step(one, &mut row);
            at = self.numbers.of(&row);
        }
    }
}
