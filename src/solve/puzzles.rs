//! Shortest solutions of puzzles of several sets of pieces: iterative deepening over the maximum of pruning tables.
//!
//! A table of a projection is looked up for a state, for its images under the symmetries of the puzzle, and for its inverse, where
//! a state is a product of moves: these **views** all bound the moves left. A node's children are looked up together, view after
//! view, so that their memory is asked for at once.
//!
//! Source: R. E. Korf, Finding optimal solutions to Rubik's cube using pattern databases, AAAI 1997; inverse states: A. Felner, U.
//! Zahavi, J. Schaeffer and R. C. Holte, Dual lookups in pattern databases, IJCAI 2005.
//!
//! Invariant: a solution has been replayed before it is returned. Solutions and nodes do not depend on the number of threads.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use parking_lot::Mutex;
use rayon::prelude::*;

use crate::{
    frontier::{FieldMap, StateFields, SymmetryGroup},
    kernel::prefetch,
    progress::{NoProgress, Phase, Progress},
    pruning::{
        EntrySize, PruningTable,
        row_rank::{PieceMap, RowRank},
    },
    puzzle::{
        PuzzleError,
        orbits::{Arrangement, OrbitPuzzle},
    },
    random::SplitMix64,
    solve::{SolveError, inverses::Inverses, words::WordPruner},
};

/// States by which views are chosen, and the moves that mix each.
const SAMPLES: usize = 1000;
const MIXING: usize = 80;
/// A view is taken while it raises the bound of at least one state in so many.
const WORTH: usize = 25;
/// Most views of all tables.
const MAX_VIEWS: usize = 32;
/// Nodes of an iteration from which on the next one is for all threads, and subtrees for each thread.
const SPLIT_FROM: u64 = 50_000;
const SUBTREES: usize = 512;
/// How often a walk asks whether to stop, in nodes.
const ASK_EVERY: u64 = 1 << 14;

/// A solver of a puzzle, shared by threads.
///
/// ```
/// use tilewave::pruning::{EntrySize, PruningTable};
/// use tilewave::puzzle::{named, orbits::Turns};
/// use tilewave::{Resources, solve::PuzzleSolver};
/// let cube = named::parse("2x2x2").unwrap().counting(Turns::Powers)?;
/// let table = PruningTable::build(&cube, EntrySize::Nibble, Resources::new())?;
/// let solver = PuzzleSolver::new(cube, [table])?;
/// let (state, _) = solver.puzzle().read("R U R' F2 R")?;
/// let answer = solver.solve(&state)?;
/// assert_eq!(answer.moves.unwrap(), ["R'", "F2", "R", "U'", "R'"]);
/// # Ok::<(), tilewave::Error>(())
/// ```
pub struct PuzzleSolver {
    puzzle: OrbitPuzzle,
    fields: StateFields,
    tables: Vec<Arc<PruningTable>>,
    views: Vec<TableView>,
    words: WordPruner,
    moves: Vec<RowMove>,
    /// The tables of all moves, one after the other.
    values: Vec<u8>,
    /// Bytes of a row: the fields of a state and, where there are such views, of its inverse.
    width: usize,
    /// Rows of the solved states, in order.
    goals: Vec<Vec<u8>>,
    /// Values of fields that no state may have.
    illegal: Vec<(usize, Vec<u8>)>,
}

/// A way to look a state up.
struct TableView {
    table: usize,
    rank: RowRank,
    size: EntrySize,
    /// The largest depth.
    most: u8,
}

/// A move of rows: where each byte comes from, and its table.
struct RowMove {
    parts: Vec<(u16, u32)>,
    /// The field that must have one of these values.
    needs: Option<(usize, Vec<u8>)>,
}

/// The answer for a state.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PuzzleAnswer {
    /// The names of a shortest solution's moves, `None` when the search was stopped.
    pub moves: Option<Vec<String>>,
    /// No solution is shorter than this.
    pub at_least: usize,
    /// Nodes generated.
    pub nodes: u64,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// Children of a node that are not cut off.
struct PuzzleLevel {
    rows: Vec<u8>,
    children: Vec<Child>,
    /// For each child and view the depth that its table has.
    bounds: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Child {
    slot: u16,
    one: u16,
    word: u32,
    number: u64,
}

/// What a walk has done.
#[derive(Clone, Debug, Default)]
struct SubtreeWalk {
    nodes: u64,
    /// The least number of moves that a solution through a node that was cut off needs.
    next: usize,
    solution: Option<Vec<u16>>,
    stopped: bool,
}

/// A subtree: the way there, its row, the pruner's state, and what tables say of it.
#[derive(Clone)]
struct PuzzleSubtree {
    path: Vec<u16>,
    row: Vec<u8>,
    word: u32,
    bounds: Vec<u8>,
}

impl PuzzleSolver {
    /// Returns the solver of a puzzle with tables of its projections, all of them in memory. Cost: choosing the views, up to
    /// half a second.
    ///
    /// # Errors
    /// [`SolveError::Database`] says which table cannot be used and why.
    pub fn new(
        puzzle: OrbitPuzzle,
        tables: impl IntoIterator<Item = impl Into<Arc<PruningTable>>>,
    ) -> Result<PuzzleSolver, SolveError> {
        let tables: Vec<Arc<PruningTable>> = tables.into_iter().map(Into::into).collect();
        let fields = StateFields::of(&puzzle);
        let moves: Vec<FieldMap> =
            puzzle.moves().iter().map(|one| fields.of_move(&puzzle, &one.transformation)).collect();
        let back = Inverses::of(&puzzle, &fields);
        let group = SymmetryGroup::find(&puzzle, &fields);
        let directed = puzzle.is_directed();
        let mut views = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            let there = table.puzzle();
            let unfit =
                |why: &str| SolveError::Database { reason: format!("the table of {there} {why}") };
            let map = PieceMap::new(&puzzle, there)
                .ok_or_else(|| unfit(&format!("is of no projection of {puzzle}")))?;
            if !puzzle.goals().iter().all(|goal| there.is_goal(&map.arrangement(there, goal))) {
                return Err(unfit("has other solved states"));
            }
            if !table.is_loaded() {
                return Err(unfit("is not in memory: load it"));
            }
            if directed && table.entry_size() == EntrySize::Mod3 {
                return Err(unfit("has depths modulo 3, but moves go one way only"));
            }
            let most = (table.histogram().len() - 1) as u8;
            for symmetry in &group.maps {
                let rank =
                    RowRank::new((&puzzle, &fields), (there, &table.ranking), &map, symmetry);
                let size = table.entry_size();
                let view = |rank| TableView { table: index, rank, size, most };
                // A move may change what is said of the inverse by more than one.
                if let Some(back) = back.as_ref().filter(|_| size != EntrySize::Mod3) {
                    views.push(view(rank.shifted(back.moves[0].source.len())));
                }
                views.push(view(rank));
            }
        }
        if views.is_empty() {
            return Err(SolveError::Database { reason: "no table is given".into() });
        }
        let mut rows: Vec<FieldMap> = moves;
        let mut goals: Vec<Vec<u8>> = puzzle.goals().iter().map(|g| fields.encode(g)).collect();
        if let Some(back) = &back {
            for (own, back) in rows.iter_mut().zip(&back.moves) {
                let first = own.source.len() as u16;
                own.source.extend(back.source.iter().map(|&from| from + first));
                own.table.extend(back.table.iter().cloned());
            }
            goals[0].extend_from_within(..);
        }
        let mut values = Vec::new();
        let mut known: std::collections::HashMap<Vec<u8>, u32> = Default::default();
        let mut row_moves = Vec::new();
        for (map, one) in rows.into_iter().zip(puzzle.moves()) {
            let part = |(from, table): (u16, Vec<u8>)| {
                let at = *known.entry(table).or_insert_with_key(|table| {
                    values.extend_from_slice(table);
                    (values.len() - table.len()) as u32
                });
                (from, at)
            };
            let parts = map.source.into_iter().zip(map.table).map(part).collect();
            let needs = one.requires.and_then(|at| fields.says(&puzzle, at));
            row_moves.push(RowMove { parts, needs });
        }
        goals.sort_unstable();
        let illegal = puzzle.illegal().iter().filter_map(|&at| fields.says(&puzzle, at)).collect();
        let mut solver = PuzzleSolver {
            words: WordPruner::new(&puzzle),
            width: goals[0].len(),
            puzzle,
            fields,
            tables,
            views,
            moves: row_moves,
            values,
            goals,
            illegal,
        };
        solver.choose_views();
        Ok(solver)
    }

    /// Keeps the views that raise the bounds of states, the best ones first.
    fn choose_views(&mut self) {
        let mut random = SplitMix64::new(1);
        let mut samples = Vec::new();
        for _ in 0..SAMPLES {
            let mut row = self.goals[0].clone();
            let mut next = row.clone();
            for _ in 0..MIXING {
                let one = random.draw() as usize % self.moves.len();
                if self.apply(one, &row, &mut next) {
                    std::mem::swap(&mut row, &mut next);
                }
            }
            samples.push(row);
        }
        let views = std::mem::take(&mut self.views);
        let exact = |view: &TableView, row: &Vec<u8>| {
            let table = &self.tables[view.table];
            let number = view.rank.rank(row);
            match view.size {
                // Only whole ways tell these apart: what they say is worked out for all samples.
                EntrySize::Mod3 => {
                    let state = table.ranking.unrank(number);
                    table.depth(&state).ok().flatten().unwrap_or_default() as u8
                }
                _ => table.value(number).unwrap_or_default(),
            }
        };
        let mut said: Vec<Option<Vec<u8>>> = views
            .par_iter()
            .map(|view| Some(samples.iter().map(|row| exact(view, row)).collect()))
            .collect();
        let mut views: Vec<Option<TableView>> = views.into_iter().map(Some).collect();
        let mut best = vec![0u8; samples.len()];
        while self.views.len() < MAX_VIEWS {
            let raised = |said: &Vec<u8>| {
                said.iter()
                    .zip(&best)
                    .map(|(s, b)| usize::from(s.saturating_sub(*b)))
                    .sum::<usize>()
            };
            let gains =
                said.iter().enumerate().filter_map(|(i, said)| Some((raised(said.as_ref()?), i)));
            // The first of equals.
            let Some((gain, i)) = gains.max_by_key(|&(gain, i)| (gain, std::cmp::Reverse(i)))
            else {
                break;
            };
            if gain < samples.len() / WORTH && !self.views.is_empty() {
                break;
            }
            let own = said[i].take().unwrap_or_default();
            best.iter_mut().zip(own).for_each(|(best, own)| *best = own.max(*best));
            self.views.extend(views[i].take());
        }
        let mean = best.iter().map(|&b| f64::from(b)).sum::<f64>() / samples.len() as f64;
        tracing::debug!(
            "{} views of {} tables, {mean:.3} on average",
            self.views.len(),
            self.tables.len()
        );
    }

    /// Returns the puzzle.
    pub fn puzzle(&self) -> &OrbitPuzzle {
        &self.puzzle
    }

    /// Returns how many look-ups a node takes at most.
    pub fn views(&self) -> usize {
        self.views.len()
    }

    /// Applies a move to a row; false where it is not allowed.
    #[inline]
    fn apply(&self, one: usize, row: &[u8], to: &mut [u8]) -> bool {
        let one = &self.moves[one];
        if one.needs.as_ref().is_some_and(|(field, values)| !values.contains(&row[*field])) {
            return false;
        }
        for (to, &(from, table)) in to.iter_mut().zip(&one.parts) {
            *to = self.values[table as usize + usize::from(row[usize::from(from)])];
        }
        !self.illegal.iter().any(|(field, values)| values.contains(&to[*field]))
    }

    /// Returns a shortest solution of a state. A hard one takes all threads of the current rayon pool.
    ///
    /// # Errors
    /// [`PuzzleError::Unreachable`] when the moves do not lead there, [`SolveError::NoSolution`] when a table is damaged.
    pub fn solve(&self, state: &Arrangement) -> Result<PuzzleAnswer, SolveError> {
        self.solve_with(state, u64::MAX, &NoProgress)
    }

    /// Returns a solution as [`PuzzleSolver::solve`] does, after at most so many nodes; an observer sees the nodes and may stop
    /// the search.
    ///
    /// # Errors
    /// As [`PuzzleSolver::solve`].
    pub fn solve_with(
        &self,
        state: &Arrangement,
        max_nodes: u64,
        progress: &dyn Progress,
    ) -> Result<PuzzleAnswer, SolveError> {
        let begun = Instant::now();
        if let Some(Err(why)) = self.puzzle.reaches(state) {
            return Err(PuzzleError::Unreached {
                puzzle: self.puzzle.to_string(),
                why: why.to_string(),
            }
            .into());
        }
        let root = self.root(state)?;
        let mut limit = root.bounds.iter().copied().max().unwrap_or_default().into();
        let (mut nodes, mut last) = (0, 0);
        let answer = |moves, at_least, nodes| PuzzleAnswer {
            moves,
            at_least,
            nodes,
            seconds: begun.elapsed().as_secs_f64(),
        };
        if self.is_solved(&root.row) {
            return Ok(answer(Some(Vec::new()), 0, 0));
        }
        loop {
            let control = PuzzleControl {
                progress,
                limit,
                max_nodes,
                nodes: nodes.into(),
                best: usize::MAX.into(),
            };
            let walked = if last < SPLIT_FROM {
                self.walk(&root, &control, 0)
            } else {
                self.walk_all(&root, &control)
            };
            (nodes, last) = (nodes + walked.nodes, walked.nodes);
            if let Some(solution) = walked.solution {
                let names = self.replay(state, &solution)?;
                return Ok(answer(Some(names), limit, nodes));
            }
            if walked.stopped {
                return Ok(answer(None, limit, nodes));
            }
            if walked.next == usize::MAX {
                return Err(SolveError::NoSolution);
            }
            limit = walked.next;
        }
    }

    fn root(&self, state: &Arrangement) -> Result<PuzzleSubtree, SolveError> {
        let mut row = self.fields.encode(state);
        if self.width > row.len() {
            let inverse = Inverses::row(&self.puzzle, &self.fields, &row);
            row.extend(inverse);
        }
        let exact = |view: &TableView| -> Result<u8, SolveError> {
            let table = &self.tables[view.table];
            let depth = table.depth(&table.ranking.unrank(view.rank.rank(&row)));
            let unfit = |reason: String| SolveError::Database { reason };
            let depth = depth.map_err(|error| unfit(error.to_string()))?;
            let unreached = || {
                SolveError::Puzzle(PuzzleError::Unreached {
                    puzzle: self.puzzle.to_string(),
                    why: "no table has it".into(),
                })
            };
            Ok(depth.ok_or_else(unreached)? as u8)
        };
        let bounds = self.views.iter().map(exact).collect::<Result<_, _>>()?;
        Ok(PuzzleSubtree { path: Vec::new(), row, word: WordPruner::START, bounds })
    }

    /// The names of a solution's moves, which must solve the state.
    fn replay(&self, state: &Arrangement, solution: &[u16]) -> Result<Vec<String>, SolveError> {
        let mut at = state.clone();
        let mut names = Vec::new();
        for &one in solution {
            let next = self.puzzle.moved(&at, one.into());
            at = next.ok_or(SolveError::NoSolution)?;
            names.push(self.puzzle.moves()[usize::from(one)].name.clone());
        }
        if self.puzzle.is_goal(&at) { Ok(names) } else { Err(SolveError::NoSolution) }
    }

    #[inline]
    fn is_solved(&self, row: &[u8]) -> bool {
        match &self.goals[..] {
            [goal] => row == goal,
            goals => goals.binary_search_by(|goal| goal[..].cmp(row)).is_ok(),
        }
    }

    fn level(&self) -> PuzzleLevel {
        PuzzleLevel {
            rows: vec![0; self.moves.len() * self.width],
            children: Vec::new(),
            bounds: vec![0; self.moves.len() * self.views.len()],
        }
    }

    /// Makes the children of a node from which `room` moves may be made after the one to a child, but for those that tables cut
    /// off.
    fn expand(
        &self,
        (row, word, bounds): (&[u8], u32, &[u8]),
        room: usize,
        level: &mut PuzzleLevel,
        walk: &mut SubtreeWalk,
        limit: usize,
    ) {
        let PuzzleLevel { rows, children, bounds: said } = level;
        children.clear();
        let mut slot = 0u16;
        for &(one, word) in self.words.moves(word) {
            let to = &mut rows[usize::from(slot) * self.width..][..self.width];
            if self.apply(one.into(), row, to) {
                children.push(Child { slot, one, word, number: 0 });
                slot += 1;
            }
        }
        walk.nodes += u64::from(slot);
        let views = self.views.len();
        for (v, view) in self.views.iter().enumerate() {
            if children.is_empty() {
                return;
            }
            let table = &self.tables[view.table];
            let modulo = view.size == EntrySize::Mod3;
            if !modulo && usize::from(view.most) <= room {
                continue;
            }
            for child in children.iter_mut() {
                child.number =
                    view.rank.rank(&rows[usize::from(child.slot) * self.width..][..self.width]);
                prefetch::<1, _>(table.address(child.number));
            }
            children.retain(|child| {
                let entry = table.value(child.number).unwrap_or_default();
                let depth = if modulo {
                    // One more, one less or the same.
                    let before = bounds[v];
                    let depth = match (entry + 3 - before % 3) % 3 {
                        0 => before,
                        1 => before + 1,
                        _ => before - 1,
                    };
                    said[usize::from(child.slot) * views + v] = depth;
                    depth
                } else {
                    entry
                };
                let stays = usize::from(depth) <= room;
                if !stays {
                    walk.next = walk.next.min(limit - room + usize::from(depth));
                }
                stays
            });
        }
    }

    /// Walks through a subtree.
    fn walk(&self, from: &PuzzleSubtree, control: &PuzzleControl<'_>, place: usize) -> SubtreeWalk {
        let mut walk = SubtreeWalk { next: usize::MAX, ..SubtreeWalk::default() };
        let depth = control.limit.saturating_sub(from.path.len());
        let mut levels: Vec<PuzzleLevel> = (0..depth).map(|_| self.level()).collect();
        let mut path: Vec<u16> = Vec::with_capacity(depth);
        let mut told = 0;
        let views = self.views.len();
        let Some(first) = levels.first_mut() else { return walk };
        self.expand(
            (&from.row, from.word, &from.bounds),
            depth - 1,
            first,
            &mut walk,
            control.limit,
        );
        loop {
            let at = path.len();
            let Some(child) = levels[at].children.pop() else {
                if path.pop().is_none() {
                    break;
                }
                continue;
            };
            let slot = usize::from(child.slot);
            let (above, below) = levels.split_at_mut(at + 1);
            let row = &above[at].rows[slot * self.width..][..self.width];
            let Some(next) = below.first_mut() else {
                if self.is_solved(row) {
                    let whole = from.path.iter().chain(&path).copied().chain([child.one]);
                    walk.solution = Some(whole.collect());
                    break;
                }
                continue;
            };
            path.push(child.one);
            let bounds = &above[at].bounds[slot * views..][..views];
            self.expand((row, child.word, bounds), depth - at - 2, next, &mut walk, control.limit);
            if walk.nodes - told >= ASK_EVERY {
                let stop = control.ask(walk.nodes - told, place);
                told = walk.nodes;
                if stop {
                    walk.stopped = true;
                    return walk;
                }
            }
        }
        control.ask(walk.nodes - told, place);
        walk
    }

    /// Walks through a tree with all threads.
    fn walk_all(&self, root: &PuzzleSubtree, control: &PuzzleControl<'_>) -> SubtreeWalk {
        let mut all = SubtreeWalk { next: usize::MAX, ..SubtreeWalk::default() };
        let mut subtrees = vec![root.clone()];
        let mut level = self.level();
        let wanted = SUBTREES * rayon::current_num_threads();
        // The goal is not above the subtrees: it is at the limit.
        for depth in 1..control.limit {
            if subtrees.len() >= wanted {
                break;
            }
            let mut next = Vec::new();
            for from in &subtrees {
                self.expand(
                    (&from.row, from.word, &from.bounds),
                    control.limit - depth,
                    &mut level,
                    &mut all,
                    control.limit,
                );
                let views = self.views.len();
                next.extend(level.children.iter().map(|child| {
                    let slot = usize::from(child.slot);
                    PuzzleSubtree {
                        path: from.path.iter().copied().chain([child.one]).collect(),
                        row: level.rows[slot * self.width..][..self.width].to_vec(),
                        word: child.word,
                        bounds: level.bounds[slot * views..][..views].to_vec(),
                    }
                }));
            }
            subtrees = next;
        }
        let done: Mutex<Vec<(usize, SubtreeWalk)>> = Mutex::default();
        let next = AtomicUsize::new(0);
        (0..rayon::current_num_threads()).into_par_iter().for_each(|_| {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                if place >= subtrees.len() || control.is_over(place) {
                    break;
                }
                let walked = self.walk(&subtrees[place], control, place);
                if walked.solution.is_some() {
                    control.best.fetch_min(place, Ordering::Relaxed);
                }
                done.lock().push((place, walked));
            }
        });
        let mut done = done.into_inner();
        done.sort_unstable_by_key(|&(place, _)| place);
        let best = control.best.load(Ordering::Relaxed);
        all.stopped = best == usize::MAX && done.len() < subtrees.len();
        for (_, walked) in done.into_iter().take_while(|&(place, _)| place <= best) {
            all.nodes += walked.nodes;
            all.next = all.next.min(walked.next);
            all.stopped |= walked.stopped;
            all.solution = all.solution.or(walked.solution);
        }
        all
    }
}

/// What the walks of an iteration share.
struct PuzzleControl<'p> {
    progress: &'p dyn Progress,
    limit: usize,
    max_nodes: u64,
    nodes: AtomicU64,
    /// The first subtree with a solution.
    best: AtomicUsize,
}

impl PuzzleControl<'_> {
    /// Counts nodes; returns whether the walk through the subtree at a place should stop.
    fn ask(&self, nodes: u64, place: usize) -> bool {
        let nodes = self.nodes.fetch_add(nodes, Ordering::Relaxed) + nodes;
        self.progress.progress(Phase::Search(self.limit), nodes, 0);
        nodes >= self.max_nodes || self.is_over(place)
    }

    fn is_over(&self, place: usize) -> bool {
        self.best.load(Ordering::Relaxed) < place
            || self.progress.interrupted()
            || self.nodes.load(Ordering::Relaxed) >= self.max_nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Resources,
        puzzle::{named, orbits::Turns},
    };

    /// All states of puzzles that have a table of their own: through small tables of projections, through depths modulo 3,
    /// directed.
    #[test]
    fn solutions_are_as_long_as_depths() {
        let whole = |name: &str, turns| named::parse(name).unwrap().counting(turns).unwrap();
        for (name, turns, sets) in [
            ("2x2x2", Turns::Powers, &["corners:1-4", "corners:4-7"][..]),
            ("2x2x2", Turns::Directed, &["corners:1-3"]),
            ("pyraminx", Turns::Quarter, &["corners", "edges"]),
            ("skewb", Turns::Powers, &["centres", "corners,corners2"]),
        ] {
            let puzzle = whole(name, turns);
            let truth = PruningTable::build(&puzzle, EntrySize::Byte, Resources::new()).unwrap();
            let sizes = match turns {
                Turns::Directed => vec![EntrySize::Nibble, EntrySize::Byte],
                _ => vec![EntrySize::Nibble, EntrySize::Mod3],
            };
            for size in sizes {
                let table = |set: &&str| {
                    let names: Vec<String> = set.split(',').map(String::from).collect();
                    PruningTable::build(
                        &puzzle.clone().keeping(&names).unwrap(),
                        size,
                        Resources::new(),
                    )
                    .unwrap()
                };
                let solver = PuzzleSolver::new(puzzle.clone(), sets.iter().map(table)).unwrap();
                let mut random = SplitMix64::new(5);
                for _ in 0..12 {
                    let number = random.draw() % truth.entries();
                    let state = truth.ranking.unrank(number);
                    let Some(depth) = truth.depth(&state).unwrap() else { continue };
                    let answer = solver.solve(&state).unwrap();
                    assert_eq!(
                        answer.moves.unwrap().len(),
                        depth,
                        "{name} {turns:?} {size:?} {number}"
                    );
                }
            }
        }
    }
}
