//! The plain engine: two bits per state; it unranks every frontier state, expands it and ranks its neighbours.
//!
//! It shares only the ranking with the sweep engine: it has no registers, windows or in-place levels. It is the oracle
//! of the tests, the baseline of the benchmarks, and the engine for boards with fewer than six tiles.
//!
//! Invariant: bits of a state are only ever set, never cleared: unseen is 00, frontier is 01 or 10 (alternating with
//! the depth), finished is 11. So concurrent updates need only an atomic OR.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use rayon::prelude::*;

use crate::{
    kernel::Tally,
    perm::{LANES, layout, lehmer},
    progress::{Phase, Progress},
    puzzle::{State, StateSpace},
    search::{FoundLevels, Groups, Search, SearchError},
};

const PER_WORD: u64 = 32;

/// Number of words per unit of parallel work: 4 KiB.
const WORDS_PER_TASK: usize = 512;

const TASKS_PER_REPORT: u64 = 64;

/// Returns the memory that a search takes, in bytes.
pub(crate) fn array_bytes(space: &StateSpace) -> u64 {
    let ids = space.lines() * space.moves().cells() as u64;
    ids.div_ceil(PER_WORD) * 8
}

/// Runs the search. Cost: 2 bits of memory per state; for each level, one pass over them and one unranking per frontier
/// line.
pub(crate) fn run(
    search: &Search,
    space: &StateSpace,
    start: State,
    observer: &dyn Progress,
) -> Result<FoundLevels, SearchError> {
    let graph = Graph::new(space, start.cell, search.keep_last);
    graph.mark(space.id(start), 1);

    let mut found = FoundLevels::new(space.to_string(), space.numbered_states());
    for depth in 0..=search.max_depth.unwrap_or(usize::MAX) {
        let begun = Instant::now();
        let tag = 1 + depth as u64 % 2;
        let count_only = search.max_depth == Some(depth);
        let tasks = graph.words.len().div_ceil(WORDS_PER_TASK);
        let done = AtomicU64::new(0);
        let expand = |task: usize| {
            if observer.interrupted() {
                return None;
            }
            let found = graph.expand(task, tag, count_only);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(TASKS_PER_REPORT) {
                observer.progress(Phase::Search(depth), done, tasks as u64);
            }
            Some(found)
        };
        let pass = (0..tasks).into_par_iter().map(expand);
        let pass = pass.try_reduce(PassResult::default, |a, b| Some(a.join(b, graph.keep)));
        let pass = pass.ok_or(SearchError::Interrupted { depth, states: found.states })?;
        if !found.push(pass.tally, begun, observer)? {
            break;
        }
        found.last = pass.kept;
    }
    Ok(found)
}

#[derive(Default)]
struct PassResult {
    tally: Tally,
    kept: Vec<State>,
}

impl PassResult {
    /// Joins two parts, where `next` has the larger state ids.
    fn join(mut self, mut next: PassResult, keep: usize) -> PassResult {
        self.kept.append(&mut next.kept);
        self.kept.truncate(keep);
        PassResult { tally: self.tally.plus(next.tally), kept: self.kept }
    }
}

/// One bit (the lower of each pair) for each state of the word that carries exactly `tag`.
fn tagged(word: u64, tag: u64) -> u64 {
    const LOWER: u64 = 0x5555_5555_5555_5555;
    let differs = word ^ (LOWER * tag);
    !(differs | differs >> 1) & LOWER
}

/// The states of a puzzle, and its moves by cell as plain permutations.
struct Graph<'a> {
    words: Vec<AtomicU64>,
    /// Maximum number of states to return.
    keep: usize,
    space: &'a StateSpace,
    groups: Groups,
    cells: u64,
    /// For each cell, the cell moved to, and the positions from which the new line takes its elements; `None` if the
    /// line is unchanged.
    moves: Vec<Vec<(u64, Option<Vec<usize>>)>>,
}

impl Graph<'_> {
    fn new(space: &StateSpace, start: usize, keep: usize) -> Graph<'_> {
        let puzzle = space.moves();
        let len = space.line_len();
        let mut moves = vec![Vec::new(); puzzle.cells()];
        for edge in puzzle.edges() {
            let window = &puzzle.windows()[edge.window];
            let sources = || (0..len).map(|p| window.source(p)).collect();
            let sources = (!window.is_identity()).then(sources);
            moves[edge.from].push((edge.to as u64, sources));
        }
        let words = (0..array_bytes(space) / 8).map(|_| AtomicU64::new(0)).collect();
        let (groups, cells) = (Groups::new(puzzle, start), puzzle.cells() as u64);
        Graph { words, keep, space, groups, cells, moves }
    }

    /// Sets bits of a state.
    fn mark(&self, id: u64, bits: u64) {
        let shift = 2 * (id % PER_WORD);
        self.words[(id / PER_WORD) as usize].fetch_or(bits << shift, Ordering::Relaxed);
    }

    /// The contribution of a state to the checksum of its level, see [`crate::search::problem::SearchProblem::place`].
    fn key(&self, state: State) -> u64 {
        let (parity, rank) = self.space.parity(state);
        let seat = self.groups.seat(parity, state.cell);
        let seat = seat.expect("states that are reached have a group");
        let group = lehmer::even_count(self.space.line_len()).div_ceil(LANES as u64);
        let register = seat.group as u64 * group + rank / LANES as u64;
        layout::state(register, (rank % LANES as u64) as usize, usize::from(seat.bit))
    }

    /// Expands the states of a task's words that carry the tag of the frontier, or only counts them, and marks them as
    /// finished.
    fn expand(&self, task: usize, tag: u64, count_only: bool) -> PassResult {
        let words = task * WORDS_PER_TASK..self.words.len().min((task + 1) * WORDS_PER_TASK);
        let mut found = PassResult::default();
        let mut line = [0; lehmer::MAX_LEN];
        let mut neighbour = [0; lehmer::MAX_LEN];
        let len = self.space.line_len();
        let (line, neighbour) = (&mut line[..len], &mut neighbour[..len]);
        let mut unranked = u64::MAX;
        for word in words {
            let mut frontier = tagged(self.words[word].load(Ordering::Relaxed), tag);
            found.tally.states += u64::from(frontier.count_ones());
            while frontier != 0 {
                let slot = u64::from(frontier.trailing_zeros() / 2);
                frontier &= frontier - 1;
                let id = word as u64 * PER_WORD + slot;
                let (rank, cell) = (id / self.cells, id % self.cells);
                let state = State { line: rank, cell: cell as usize };
                found.tally.checksum = found.tally.checksum.wrapping_add(self.key(state));
                if found.kept.len() < self.keep {
                    found.kept.push(state);
                }
                if count_only {
                    continue;
                }
                for (to, sources) in &self.moves[cell as usize] {
                    let rank = match sources {
                        None => rank,
                        Some(sources) => {
                            if rank != unranked {
                                let (parity, rank) = self.space.parity(state);
                                lehmer::unrank_in_parity(parity, rank, line);
                                unranked = state.line;
                            }
                            for (new, &source) in neighbour.iter_mut().zip(sources) {
                                *new = line[source];
                            }
                            self.space.number(neighbour, 0).line
                        }
                    };
                    let id = rank * self.cells + to;
                    let seen = self.words[(id / PER_WORD) as usize].load(Ordering::Relaxed);
                    if (seen >> (2 * (id % PER_WORD))) & 3 == 0 {
                        self.mark(id, 3 - tag);
                    }
                }
                self.mark(id, 3);
            }
        }
        found
    }
}
