//! Shortest solutions of puzzles with several sets of pieces: iterative deepening with the maximum of pruning tables.
//!
//! A table of a projection is looked up for a state, for its images under the symmetries of the puzzle, and, if states
//! are products of moves, for its inverse: each of these **views** gives a lower bound on the remaining moves. A node's
//! children are looked up together, view after view, so that their memory accesses overlap.
//!
//! Where no move turns pieces of two **parts** of a puzzle (a box of several puzzles), each move counts in one part
//! only: the bound is the sum over the parts of the maximum of each.
//!
//! Source: R. E. Korf, Finding optimal solutions to Rubik's cube using pattern databases, AAAI 1997; inverse states: A.
//! Felner, U. Zahavi, J. Schaeffer and R. C. Holte, Dual lookups in pattern databases, IJCAI 2005.
//!
//! Invariant: a solution has been replayed before it is returned. Solutions and nodes do not depend on the number of
//! threads.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashSet},
    iter,
    sync::{Arc, OnceLock},
};

use crate::{
    Error, Resources,
    frontier::{MoveParity, PuzzleRows, StateFields, SymmetryGroup},
    kernel::prefetch,
    progress::{NoProgress, Progress},
    pruning::{CosetTable, PruningTable, numbers::TableRank, row_rank::PieceMap},
    puzzle::{
        Arrangement, Move, Puzzle, PuzzleError, SetAction, Unreachable, Variant,
        reachable::Reachability,
    },
    random::SplitMix64,
    solve::{
        SolveError,
        canonical::CanonicalWords,
        ida::{Answer, FoundPath, Pending, Reserve, Rooted, SearchedWords, Stage, StateSolver},
        pruner::{RowMoves, WordPruner, inverse, inverse_moves},
        two_sided::TwoSided,
        walk::{MoveTree, Slack, Subtree, Walk},
    },
    system::SystemError,
    table::TableEncoding,
    threads::map_numbers,
};

/// Number of states by which views are chosen, and number of moves that mix each of them.
const SAMPLES: usize = 1000;
const MIXING: usize = 80;
/// A view is used if it raises the bound of at least one state in this many.
const WORTH: usize = 25;
/// Maximum number of views of all tables.
const MAX_VIEWS: usize = 32;
/// Number of nodes of a state from which it is hard: they take some seconds, and the next iteration takes a minute.
const RESERVE_FROM: u64 = 1 << 25;
/// An iteration is not split further if its subtrees could take more memory than this number of bytes.
const SPLIT_BYTES: usize = 1 << 28;

/// An optimal solver for a puzzle. Threads can share it.
///
/// ```
/// use tilewave::pruning::PruningTable;
/// use tilewave::table::TableEncoding;
/// use tilewave::puzzle::{named, Turns};
/// use tilewave::{Resources, solve::PuzzleSolver};
/// let cube = named::parse("2x2x2").unwrap().counting(Turns::Powers)?;
/// let table = PruningTable::build(&cube, TableEncoding::Nibble, Resources::new())?;
/// let solver = PuzzleSolver::new(cube, [table])?;
/// let (state, _) = solver.puzzle().read("R U R' F2 R")?;
/// let answer = solver.solve(&state)?;
/// assert_eq!(answer.moves.unwrap(), ["R'", "F2", "R", "U'", "R'"]);
/// # Ok::<(), tilewave::Error>(())
/// ```
pub struct PuzzleSolver {
    engine: SolverEngine,
    /// Which states are reachable, as far as that is known.
    reachable: Reachability,
    /// A parity that every move changes, if there is one, and that of the solved states.
    parity: Option<(MoveParity, bool)>,
    /// The fields from which it is read.
    fields: StateFields,
    /// The sequences that count as solutions, once all are wanted.
    canonical: OnceLock<CanonicalWords>,
    reserve: Option<Reserve<PuzzleSolver>>,
}

/// How a puzzle is solved.
enum SolverEngine {
    Maximum(Box<TableMaximum>),
    TwoSided(Box<TwoSided>),
}

/// The bound that is the maximum of pruning tables.
struct TableMaximum {
    puzzle: Puzzle,
    fields: StateFields,
    tables: Vec<Arc<PruningTable>>,
    views: Vec<TableView>,
    /// How many parts views belong to.
    parts: usize,
    words: WordPruner,
    /// Allows every sequence that counts as a solution.
    every: OnceLock<WordPruner>,
    moves: RowMoves,
    /// Number of bytes of a row: the fields of a state and, if there are such views, of its inverse.
    width: usize,
    /// The rows of the solved states, in order.
    goals: Vec<Vec<u8>>,
    /// Whether a table has all states of the puzzle, which then are those that can be solved.
    is_whole: bool,
    /// The index of a table without an entry for a state that moves lead to: it is damaged.
    damaged: OnceLock<usize>,
}

/// One way of looking up a state.
struct TableView {
    table: usize,
    rank: TableRank,
    encoding: TableEncoding,
    /// The part of the puzzle that it reads.
    part: usize,
    /// The largest depth.
    most: u8,
}

/// The children of a node that are not cut off.
struct PuzzleLevel {
    rows: Vec<u8>,
    children: Vec<Child>,
    /// The child that the walk is below.
    below: Child,
    /// For each child and view, the depth found in the table.
    bounds: Vec<u8>,
    /// For each child and part, the largest depth so far.
    largest: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
struct Child {
    slot: u16,
    one: u16,
    word: u32,
    number: u64,
}

/// A node's row, the pruner's state, and the values of the tables.
type Bounded<'n> = (&'n [u8], u32, &'n [u8]);

#[derive(Clone)]
struct PuzzleNode {
    row: Vec<u8>,
    word: u32,
    bounds: Vec<u8>,
}

/// Tells views which part of a puzzle they read, removes those that read several, and returns the number of parts. A
/// part is a collection of sets of pieces: no move and no table goes beyond one.
fn number_parts(
    (puzzle, fields): (&Puzzle, &StateFields),
    tables: Vec<Vec<usize>>,
    views: &mut Vec<TableView>,
) -> usize {
    let moved = |one: &Move| {
        let turns = one.transformation.0.iter().enumerate();
        let moved = turns.filter(|(_, turn)| **turn != SetAction::still(turn.source.len()));
        moved.map(|(set, _)| set).collect()
    };
    // For each set, the first one of its part.
    let mut first: Vec<usize> = (0..puzzle.sets().len()).collect();
    for sets in puzzle.moves().iter().map(moved).chain(tables) {
        let joined: Vec<usize> = sets.into_iter().map(|set| first[set]).collect();
        let Some(&least) = joined.iter().min() else { continue };
        first.iter_mut().filter(|own| joined.contains(own)).for_each(|own| *own = least);
    }
    // The fields of the inverse follow those of the state.
    let part = |field: usize| first[fields.fields[field % fields.fields.len()].set];
    views.retain_mut(|view| {
        let mut parts = view.rank.fields().into_iter().map(part);
        view.part = parts.next().unwrap_or_default();
        parts.all(|part| part == view.part)
    });
    let known: BTreeSet<usize> = views.iter().map(|view| view.part).collect();
    views.iter_mut().for_each(|view| view.part = known.range(..view.part).count());
    known.len()
}

impl PuzzleSolver {
    /// Returns the solver for a puzzle with tables of its projections, all of them in memory or mapped. Cost: choosing
    /// the views, up to half a second.
    ///
    /// # Errors
    /// [`SolveError::Database`] says which table cannot be used, and why.
    pub fn new(
        puzzle: Puzzle,
        tables: impl IntoIterator<Item = impl Into<Arc<PruningTable>>>,
    ) -> Result<PuzzleSolver, SolveError> {
        let tables: Vec<Arc<PruningTable>> = tables.into_iter().map(Into::into).collect();
        let fields = StateFields::of(&puzzle);
        // A table of the whole puzzle gives all distances: then symmetries, inverses and a pruner only take time.
        let whole = |table: &Arc<PruningTable>| {
            let of = |puzzle: &Puzzle| (puzzle.moves().len(), puzzle.goals().len());
            table.puzzle().sets() == puzzle.sets() && of(table.puzzle()) == of(&puzzle)
        };
        let exact = tables.iter().position(whole);
        let (back, group, words) = if exact.is_some() {
            (None, SymmetryGroup::trivial(&fields), WordPruner::none(&puzzle))
        } else {
            let group = SymmetryGroup::find(&puzzle, &fields);
            (inverse_moves(&puzzle, &fields), group, WordPruner::new(&puzzle))
        };
        let (mut views, mut sets) = (Vec::new(), Vec::new());
        for (index, table) in tables.iter().enumerate() {
            let there = table.puzzle();
            let unfit =
                |why: &str| SolveError::Database { reason: format!("the table for {there} {why}") };
            let map = PieceMap::new(&puzzle, there)
                .ok_or_else(|| unfit(&format!("is not for a projection of {puzzle}")))?;
            if !puzzle.goals().iter().all(|goal| there.is_goal(&map.arrangement(there, goal))) {
                return Err(unfit("has different solved states"));
            }
            if !table.is_loaded() {
                return Err(unfit("is not in memory: load or map it"));
            }
            let encoding = table.encoding();
            if encoding == TableEncoding::Mod3 && puzzle.is_directed() {
                return Err(unfit("stores depths modulo 3, but some moves cannot be reversed"));
            }
            sets.push(map.set.clone());
            if exact.is_some_and(|exact| exact != index) {
                continue;
            }
            let most = saturated(table.histogram().len() - 1);
            for symmetry in &group.maps {
                let rank = table.of.numbers.of_rows((&puzzle, &fields), there, &map, symmetry);
                let view = |rank| TableView { table: index, rank, encoding, part: 0, most };
                // A move may change the bound of the inverse by more than one.
                if let Some(back) = back.as_ref().filter(|_| encoding != TableEncoding::Mod3) {
                    views.push(view(rank.shifted(back[0].source.len())));
                }
                views.push(view(rank));
            }
        }
        if views.is_empty() {
            return Err(SolveError::Database { reason: "no tables are given".into() });
        }
        let parts = number_parts((&puzzle, &fields), sets, &mut views);
        let mut goals: Vec<Vec<u8>> = puzzle.goals().iter().map(|g| fields.encode(g)).collect();
        if back.is_some() {
            goals[0].extend_from_within(..);
        }
        goals.sort_unstable();
        let mut maximum = TableMaximum {
            words,
            every: OnceLock::new(),
            width: goals[0].len(),
            moves: RowMoves::new(&puzzle, &fields, back.as_deref()),
            puzzle,
            fields,
            tables,
            views,
            parts,
            goals,
            is_whole: exact.is_some(),
            damaged: OnceLock::new(),
        };
        maximum.choose_views();
        let read: Vec<_> = maximum.views.iter().map(|view| view.rank.fields()).collect();
        maximum.moves.divide(&read);
        Ok(PuzzleSolver::with(SolverEngine::Maximum(Box::new(maximum))))
    }

    /// Returns the solver for the puzzle of a coset table, which is in memory or mapped. Cost: some milliseconds.
    ///
    /// # Errors
    /// [`SolveError::Database`] if the table is not in memory.
    pub fn two_sided(table: impl Into<Arc<CosetTable>>) -> Result<PuzzleSolver, SolveError> {
        let table = table.into();
        if !table.is_loaded() {
            let puzzle = table.puzzle();
            let reason = format!("the coset table for {puzzle} is not in memory: load or map it");
            return Err(SolveError::Database { reason });
        }
        Ok(PuzzleSolver::with(SolverEngine::TwoSided(Box::new(TwoSided::new(table)))))
    }

    /// Searches with the kernel of some resources instead of the fastest one, if it searches with a coset table; others
    /// have none.
    ///
    /// # Errors
    /// [`SystemError`] if the processor lacks the instructions.
    pub fn with_kernel_of(mut self, resources: Resources) -> Result<PuzzleSolver, SystemError> {
        let kernel = resources.choose_kernel()?;
        if let SolverEngine::TwoSided(sides) = &mut self.engine {
            sides.kernel = kernel;
        }
        Ok(self)
    }

    fn with(engine: SolverEngine) -> PuzzleSolver {
        let puzzle = engine.puzzle();
        let rows = PuzzleRows::of(puzzle);
        let parity = rows.parity().map(|parity| {
            // The solved state of a puzzle with other goals need not be one.
            let goal = &puzzle.goals()[0];
            let of_goals = parity.of(goal, &rows.fields.encode(goal));
            (parity, of_goals)
        });
        let fields = rows.fields;
        let (reachable, canonical) = (Reachability::of(puzzle), OnceLock::new());
        PuzzleSolver { reachable, parity, fields, canonical, engine, reserve: None }
    }

    /// Continues hard states, which have taken thirty million nodes, with another solver for the puzzle, which has larger
    /// tables. It is asked for when the first hard state needs it, so that its tables can be built then, until the
    /// observer asks to stop, which says when the search is to end; if there is none, hard states stay with this one.
    #[must_use]
    pub fn with_reserve(
        mut self,
        larger: impl Fn(&dyn Progress) -> Result<Option<PuzzleSolver>, Error> + Send + Sync + 'static,
    ) -> PuzzleSolver {
        self.reserve = Some(Reserve::new(RESERVE_FROM, larger));
        self
    }

    /// What carries out the next iteration of a search.
    fn of_stage(&self, next: Stage) -> &PuzzleSolver {
        self.reserve.as_ref().and_then(|reserve| reserve.of_stage(next)).unwrap_or(self)
    }

    /// Returns the puzzle.
    pub fn puzzle(&self) -> &Puzzle {
        self.engine.puzzle()
    }

    /// Returns whether moves lead from the solved puzzle to a state, as far as the moves ([`Puzzle::reaches`]) or
    /// the tables tell; `None` if neither does. Cost: a few microseconds.
    pub fn reaches(&self, state: &Arrangement) -> Option<Result<(), Unreachable>> {
        self.reachable.reaches(self.puzzle(), state).or_else(|| match &self.engine {
            SolverEngine::Maximum(maximum) => maximum.reaches(state),
            SolverEngine::TwoSided(_) => None,
        })
    }

    /// Returns a lower bound for the length of the solutions of a state: that of the tables, and at least 1 if it is not
    /// solved. Cost: microseconds.
    ///
    /// # Errors
    /// [`SolveError::Puzzle`] for a state to which no moves lead, as far as that is known.
    pub fn bound(&self, state: &Arrangement) -> Result<usize, SolveError> {
        if let Some(Err(why)) = self.reaches(state) {
            return Err(unreached(self.puzzle(), why));
        }
        let bound = match &self.engine {
            SolverEngine::Maximum(maximum) => maximum.bound(state)?,
            SolverEngine::TwoSided(sides) => sides.bound(state),
        };
        Ok(bound.max((!self.puzzle().is_goal(state)).into()))
    }

    /// Returns the maximum number of lookups per node.
    pub fn views(&self) -> usize {
        match &self.engine {
            SolverEngine::Maximum(maximum) => maximum.views.len(),
            SolverEngine::TwoSided(sides) => sides.views(),
        }
    }

    /// Returns a shortest solution of a state, as the names of its moves. A hard state uses all threads of the current
    /// rayon pool.
    ///
    /// # Errors
    /// A [`PuzzleError`] if no moves lead to the state, [`SolveError::NoSolution`] if a table is damaged.
    pub fn solve(&self, state: &Arrangement) -> Result<Answer<Vec<String>>, SolveError> {
        self.solve_with(state, &NoProgress)
    }

    /// The parity of the number of moves of all solutions of a state, if that is known.
    fn odd(&self, state: &Arrangement) -> Option<usize> {
        let (parity, solved) = self.parity.as_ref()?;
        Some(usize::from(parity.of(state, &self.fields.encode(state)) != *solved))
    }

    fn canonical(&self) -> &CanonicalWords {
        self.canonical.get_or_init(|| CanonicalWords::new(self.puzzle()))
    }
}

impl SolverEngine {
    fn puzzle(&self) -> &Puzzle {
        match self {
            SolverEngine::Maximum(maximum) => &maximum.puzzle,
            SolverEngine::TwoSided(sides) => sides.table.puzzle(),
        }
    }
}

impl TableMaximum {
    /// Keeps the views that raise the bounds of states, best ones first.
    fn choose_views(&mut self) {
        let mut random = SplitMix64::new(1);
        let mut samples = Vec::new();
        for _ in 0..SAMPLES {
            let mut row = self.goals[0].clone();
            let mut next = row.clone();
            for _ in 0..MIXING {
                let one = random.draw() as usize % self.puzzle.moves().len();
                if self.moves.apply(one, &row, &mut next) {
                    std::mem::swap(&mut row, &mut next);
                }
            }
            samples.push(row);
        }
        let views = std::mem::take(&mut self.views);
        let exact = |view: &TableView, row: &Vec<u8>| {
            let depth = self.tables[view.table].depth_at(view.rank.rank(row));
            saturated(depth.ok().flatten().unwrap_or_default())
        };
        let said: Vec<Vec<u8>> = map_numbers(views.len(), &|view| {
            samples.iter().map(|row| exact(&views[view], row)).collect()
        });
        let mut left: Vec<(TableView, Vec<u8>)> = views.into_iter().zip(said).collect();
        let mut best = vec![vec![0u8; samples.len()]; self.parts];
        while self.views.len() < MAX_VIEWS {
            let raised = |(view, said): &(TableView, Vec<u8>)| -> usize {
                let pairs = said.iter().zip(&best[view.part]);
                pairs.map(|(said, best)| usize::from(said.saturating_sub(*best))).sum()
            };
            // The first among equals.
            let gains = left.iter().map(raised).zip((0..left.len()).map(Reverse));
            let Some((gain, Reverse(i))) = gains.max() else { break };
            if gain < samples.len() / WORTH && !self.views.is_empty() {
                break;
            }
            let (view, own) = left.remove(i);
            best[view.part].iter_mut().zip(own).for_each(|(best, own)| *best = own.max(*best));
            self.views.push(view);
        }
        let mean = best.iter().flatten().map(|&b| f64::from(b)).sum::<f64>() / samples.len() as f64;
        tracing::debug!(
            "{} views of {} tables; their bound is {mean:.3} moves on average",
            self.views.len(),
            self.tables.len()
        );
    }

    /// Whether a state has an entry in all tables; `None` if it has, unless one has all states.
    fn reaches(&self, state: &Arrangement) -> Option<Result<(), Unreachable>> {
        let row = self.row(state);
        let entry = |view: &TableView| self.tables[view.table].entry(view.rank.rank(&row));
        let Some(view) = self.views.iter().find(|view| matches!(entry(view), Ok(None))) else {
            return (self.is_whole && !self.puzzle.is_directed()).then_some(Ok(()));
        };
        Some(Err(Unreachable::Table(self.tables[view.table].puzzle().to_string())))
    }

    /// The row of a state and, if it is looked up, of its inverse.
    fn row(&self, state: &Arrangement) -> Vec<u8> {
        let mut row = self.fields.encode(state);
        if self.width > row.len() {
            row.extend(self.fields.encode(&inverse(&self.puzzle, state)));
        }
        row
    }

    fn root(&self, state: &Arrangement) -> Result<PuzzleNode, SolveError> {
        let row = self.row(state);
        let exact = |view: &TableView| -> Result<u8, SolveError> {
            let depth = self.tables[view.table].depth_at(view.rank.rank(&row));
            let unfit = |error: Error| SolveError::Database { reason: error.to_string() };
            let why = "the tables do not contain this state";
            depth.map_err(unfit)?.map(saturated).ok_or_else(|| unreached(&self.puzzle, why))
        };
        let bounds = self.views.iter().map(exact).collect::<Result<_, _>>()?;
        Ok(PuzzleNode { row, word: WordPruner::START, bounds })
    }

    /// The tree below a state.
    fn tree(
        &self,
        state: &Arrangement,
        odd: Option<usize>,
        every: Option<&CanonicalWords>,
    ) -> Result<RootedPuzzle<'_>, SolveError> {
        let of = |every: &CanonicalWords| {
            let without = || WordPruner::without(self.puzzle.moves().len(), &every.forbidden());
            self.every.get_or_init(without)
        };
        let words = every.map_or(&self.words, of);
        Ok(RootedPuzzle { odd, solver: self, words, root: self.root(state)? })
    }

    /// The bound of a state.
    fn bound(&self, state: &Arrangement) -> Result<usize, SolveError> {
        let root = self.root(state)?;
        let mut largest = vec![0; self.parts];
        for (view, &bound) in self.views.iter().zip(&root.bounds) {
            largest[view.part] = bound.max(largest[view.part]);
        }
        Ok(largest.into_iter().map(usize::from).sum())
    }

    /// Checks that the tables are those that were opened, and that none has shown to be damaged.
    fn checked(&self) -> Result<(), SolveError> {
        self.tables.iter().try_for_each(|table| table.unchanged())?;
        let Some(&table) = self.damaged.get() else { return Ok(()) };
        let of = self.tables[table].puzzle();
        let reason = format!("the table for {of} lacks a reachable state: build it again");
        Err(SolveError::Database { reason })
    }

    /// Cuts off a state without an entry: no moves lead from there to a solved state. Only if some moves cannot be
    /// reversed can moves lead there.
    #[cold]
    fn dead_end(&self, table: usize) -> bool {
        if !self.puzzle.is_directed() {
            _ = self.damaged.set(table);
        }
        false
    }

    #[inline]
    fn is_solved(&self, row: &[u8]) -> bool {
        match &self.goals[..] {
            [goal] => row == goal,
            goals => goals.binary_search_by(|goal| goal[..].cmp(row)).is_ok(),
        }
    }

    /// Generates the children of a node, and keeps those that tables do not cut off; returns how many there were.
    fn expand(
        &self,
        words: &WordPruner,
        (row, word, bounds): Bounded<'_>,
        level: &mut PuzzleLevel,
        slack: &mut Slack,
    ) -> u64 {
        let PuzzleLevel { rows, children, bounds: said, largest, .. } = level;
        let room = slack.room as usize - 1;
        children.clear();
        let parts = self.parts;
        if parts > 1 {
            largest.fill(0);
        }
        let mut slot = 0u16;
        for &(one, word) in words.moves(word) {
            let to = &mut rows[usize::from(slot) * self.width..][..self.width];
            if self.moves.begin(one.into(), row, to) {
                children.push(Child { slot, one, word, number: 0 });
                slot += 1;
            }
        }
        let (views, mut written) = (self.views.len(), 1);
        for (v, view) in self.views.iter().enumerate() {
            if children.is_empty() {
                return slot.into();
            }
            let table = &self.tables[view.table];
            let modulo = view.encoding == TableEncoding::Mod3;
            if !modulo && usize::from(view.most) <= room && parts == 1 {
                continue;
            }
            for child in children.iter_mut() {
                let to = &mut rows[usize::from(child.slot) * self.width..][..self.width];
                self.moves.write(child.one.into(), written..v + 1, row, to);
                child.number = view.rank.rank(to);
                prefetch::<1, _>(table.address(child.number));
            }
            written = v + 1;
            children.retain(|child| {
                let Some(entry) = table.value_of(child.number) else {
                    return self.dead_end(view.table);
                };
                let depth = if modulo {
                    // One more, one less or the same.
                    let before = bounds[v];
                    let depth = match (entry + 3 - before % 3) % 3 {
                        0 => before,
                        1 => before.saturating_add(1),
                        _ => before.saturating_sub(1),
                    };
                    said[usize::from(child.slot) * views + v] = depth;
                    depth
                } else {
                    entry
                };
                let mut bound = usize::from(depth);
                if parts > 1 {
                    let largest = &mut largest[usize::from(child.slot) * parts..][..parts];
                    largest[view.part] = largest[view.part].max(depth);
                    bound = largest.iter().map(|&depth| usize::from(depth)).sum();
                }
                let stays = bound <= room;
                if !stays {
                    slack.excess = slack.excess.min((bound - room) as i32);
                }
                stays
            });
        }
        for child in children.iter() {
            let to = &mut rows[usize::from(child.slot) * self.width..][..self.width];
            self.moves.write(child.one.into(), written..views + 1, row, to);
        }
        slot.into()
    }
}

/// A depth as a bound: tables hold depths up to 254, and a smaller bound is still a bound.
fn saturated(depth: usize) -> u8 {
    u8::try_from(depth).unwrap_or(u8::MAX)
}

/// The error for a state to which no moves lead.
pub(crate) fn unreached(puzzle: &Puzzle, why: impl ToString) -> SolveError {
    PuzzleError::unreached(puzzle, why.to_string()).into()
}

/// The names of some moves, if they solve a state.
pub(crate) fn replayed(
    puzzle: &Puzzle,
    state: &Arrangement,
    moves: impl IntoIterator<Item = usize>,
) -> Option<Vec<String>> {
    let (mut at, mut names) = (state.clone(), Vec::new());
    for one in moves {
        at = puzzle.moved(&at, one)?;
        names.push(puzzle.moves()[one].name.clone());
    }
    puzzle.is_goal(&at).then_some(names)
}

/// The number of the move with a name.
pub(crate) fn move_named(puzzle: &Puzzle, name: &str) -> Option<usize> {
    puzzle.moves().iter().position(|one| one.name == name)
}

/// The tree below a state.
struct RootedPuzzle<'s> {
    solver: &'s TableMaximum,
    words: &'s WordPruner,
    root: PuzzleNode,
    /// Whether all solutions have an odd number of moves (1) or an even one (0), if that is known.
    odd: Option<usize>,
}

/// What the allocator takes for the arrays of a subtree, in bytes.
const ALLOCATIONS: usize = 64;

impl TableMaximum {
    /// The row, the pruner's state and the values of the node below some levels.
    #[inline]
    fn below<'n>(&self, root: &'n PuzzleNode, levels: &'n [PuzzleLevel]) -> Bounded<'n> {
        let Some(PuzzleLevel { rows, bounds, below, .. }) = levels.last() else {
            return (&root.row, root.word, &root.bounds);
        };
        let (slot, views) = (usize::from(below.slot), self.views.len());
        (&rows[slot * self.width..][..self.width], below.word, &bounds[slot * views..][..views])
    }
}

impl MoveTree for RootedPuzzle<'_> {
    type Node = PuzzleNode;
    type Level = PuzzleLevel;
    const LAST_FIRST: bool = true;

    fn at_least(&self, bound: usize) -> usize {
        bound + (bound + self.odd.unwrap_or(bound % 2)) % 2
    }

    fn can_split(&self, subtrees: usize) -> bool {
        let PuzzleNode { row, bounds, .. } = &self.root;
        let each = size_of::<Subtree<PuzzleNode>>() + row.len() + bounds.len() + ALLOCATIONS;
        subtrees * self.solver.puzzle.moves().len() * each <= SPLIT_BYTES
    }

    fn root(&self, _limit: usize) -> PuzzleNode {
        self.root.clone()
    }

    fn level(&self) -> PuzzleLevel {
        let TableMaximum { puzzle, width, views, parts, .. } = self.solver;
        let moves = puzzle.moves().len();
        PuzzleLevel {
            rows: vec![0; moves * width],
            children: Vec::new(),
            below: Child::default(),
            bounds: vec![0; moves * views.len()],
            largest: vec![0; moves * parts],
        }
    }

    fn expand(walk: &mut Walk<'_, Self>, depth: usize) -> u64 {
        let solver = walk.tree.solver;
        let (above, below) = walk.levels.split_at_mut(depth);
        solver.expand(
            walk.tree.words,
            solver.below(&walk.at, above),
            &mut below[0],
            &mut walk.slack,
        )
    }

    fn enter(walk: &mut Walk<'_, Self>, depth: usize) -> bool {
        let level = &mut walk.levels[depth];
        let child = level.children.pop();
        level.below = child.unwrap_or(level.below);
        child.is_some()
    }

    fn step(level: &PuzzleLevel) -> u16 {
        level.below.one
    }

    fn is_goal(walk: &Walk<'_, Self>) -> bool {
        let solver = walk.tree.solver;
        solver.is_solved(solver.below(&walk.at, walk.levels).0)
    }

    fn node(walk: &Walk<'_, Self>) -> PuzzleNode {
        let (row, word, bounds) = walk.tree.solver.below(&walk.at, walk.levels);
        PuzzleNode { row: row.to_vec(), word, bounds: bounds.to_vec() }
    }
}

impl StateSolver for PuzzleSolver {
    type State = Arrangement;
    type Moves = Vec<String>;
    const SPLIT_FROM: u64 = 1 << 16;

    fn begin(&self, state: &Arrangement) -> Result<Pending<Arrangement>, SolveError> {
        let bound = self.bound(state)?;
        let odd = self.odd(state).unwrap_or(bound % 2);
        Ok(Pending::new(state.clone(), bound + (bound + odd) % 2))
    }

    fn rooted(
        &self,
        search: &Pending<Arrangement>,
        words: SearchedWords,
    ) -> Result<Box<dyn Rooted<Arrangement> + '_>, SolveError> {
        let state = &search.state;
        let odd = self.odd(state);
        let every = (words == SearchedWords::Every).then(|| self.canonical());
        Ok(match &self.of_stage(search.stage).engine {
            SolverEngine::Maximum(maximum) => Box::new(maximum.tree(state, odd, every)?),
            SolverEngine::TwoSided(sides) => sides.rooted(state, odd, every),
        })
    }

    fn make_ready(&self, next: Stage, progress: &dyn Progress) -> Result<(), SolveError> {
        let ready = |reserve: &Reserve<_>| reserve.make_ready(next, progress, |larger| larger);
        self.reserve.as_ref().map_or(Ok(()), ready)
    }

    fn checked(
        &self,
        state: &Arrangement,
        found: FoundPath,
    ) -> Result<Option<Vec<String>>, SolveError> {
        for own in iter::once(self).chain(self.reserve.as_ref().and_then(Reserve::made)) {
            match &own.engine {
                SolverEngine::Maximum(maximum) => maximum.checked()?,
                SolverEngine::TwoSided(sides) => sides.table.unchanged()?,
            }
        }
        let Some(moves) = found? else { return Ok(None) };
        let names = replayed(self.puzzle(), state, moves.into_iter().map(usize::from));
        names.map(Some).ok_or(SolveError::NoSolution)
    }

    fn counts(&self, state: &Arrangement, path: &[u16], longer: bool) -> bool {
        let puzzle = self.puzzle();
        let (mut at, mut seen) = (state.clone(), HashSet::from([state.clone()]));
        let mut moved = |&one: &u16| {
            let next = puzzle.moved(&at, one.into()).filter(|_| !puzzle.is_goal(&at));
            next.is_some_and(|next| {
                at = next.clone();
                seen.insert(next)
            })
        };
        // No shortest solution comes to a state twice, or to a solved one before its end.
        self.canonical().counts(path) && (!longer || path.iter().all(&mut moved))
    }

    fn moves_of(&self, path: &[u16]) -> Vec<String> {
        let moves = self.puzzle().moves();
        path.iter().map(|&one| moves[usize::from(one)].name.clone()).collect()
    }

    fn goal_text(&self) -> String {
        let puzzle = self.puzzle();
        let sum = twox_hash::XxHash3_64::oneshot(puzzle.to_json().as_bytes());
        format!("{puzzle} {sum:016x}")
    }

    /// For each table: puzzle, entries, checksum.
    fn databases(&self) -> Vec<Vec<String>> {
        let words = |table: &Arc<PruningTable>| {
            let (puzzle, encoding) = (table.puzzle(), table.encoding());
            vec![format!("{puzzle} {encoding} {:016x}", table.checksum())]
        };
        match &self.engine {
            SolverEngine::Maximum(maximum) => maximum.tables.iter().map(words).collect(),
            SolverEngine::TwoSided(sides) => {
                let (puzzle, sum) = (sides.table.puzzle(), sides.table.checksum());
                vec![vec![format!("{puzzle} cosets {sum:016x}")]]
            }
        }
    }

    fn text(&self, state: &Arrangement) -> String {
        self.puzzle().text(state)
    }

    fn written(moves: &Vec<String>) -> String {
        moves.join(" ")
    }

    fn replayed(&self, state: &Arrangement, moves: &str) -> Option<(Vec<String>, usize)> {
        // The name of a move that consists of others is in brackets, with spaces.
        let names = Variant::split(moves);
        let numbers = names.iter().map(|name| move_named(self.puzzle(), name));
        let moves = replayed(self.puzzle(), state, numbers.collect::<Option<Vec<usize>>>()?)?;
        let length = moves.len();
        Some((moves, length))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;
    use crate::{
        progress::StopWhen,
        puzzle::{Turns, named},
        system::SystemError,
    };

    /// States that have taken some nodes go on with another solver, which is made once, when the first one needs it.
    #[test]
    fn hard_states_go_on_with_larger_tables() {
        let skewb = named::parse("skewb").unwrap().counting(Turns::Powers).unwrap();
        let resources = Resources::new();
        let exact = PruningTable::build(&skewb, TableEncoding::Nibble, resources).unwrap();
        let exact = Arc::new(exact);
        let small = Arc::new(CosetTable::build(&skewb, 10_000, resources).unwrap());
        let alone = PuzzleSolver::two_sided(small.clone()).unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let mut solver = PuzzleSolver::two_sided(small).unwrap();
        let (own, of, table) = (asked.clone(), skewb.clone(), exact.clone());
        let larger = move |_: &dyn Progress| {
            own.fetch_add(1, Ordering::Relaxed);
            Ok(Some(PuzzleSolver::new(of.clone(), [table.clone()])?))
        };
        // Some iterations are left to the other one.
        solver.reserve = Some(Reserve::new(200, larger));
        assert_eq!(solver.solve(&skewb.read("URF DLF").unwrap().0).unwrap().at_least, 2);
        assert_eq!(asked.load(Ordering::Relaxed), 0);
        let mut fewer = 0;
        for state in skewb.scrambles(3).unwrap().take(40) {
            let depth = exact.depth(&state).unwrap().unwrap();
            let search = solver.begin(&state).unwrap();
            // On all threads from the start, which prepares for each iteration.
            let found = solver.finish_with(search, &NoProgress).unwrap();
            assert_eq!(found.moves.unwrap().len(), depth);
            let other = alone.solve(&state).unwrap();
            assert_eq!(other.moves.unwrap().len(), depth);
            fewer += usize::from(found.nodes < other.nodes);
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert!(fewer > 10, "{fewer}");
        // An observer that asks to stop while the other one is made ends the search.
        let asks = Arc::new(AtomicBool::new(false));
        let own = asks.clone();
        let stopped = move |watch: &dyn Progress| {
            assert!(!own.swap(true, Ordering::Relaxed), "it is asked once");
            assert!(watch.interrupted());
            Err(SystemError::Interrupted.into())
        };
        solver.reserve = Some(Reserve::new(1, stopped));
        let far = skewb.scrambles(3).unwrap().next().unwrap();
        let search = solver.begin(&far).unwrap();
        let watch = StopWhen(|| asks.load(Ordering::Relaxed));
        let found = solver.finish_with(search, &watch).unwrap();
        assert!(found.moves.is_none() && found.at_least > 0);
        let (of, none) = (exact.puzzle().clone(), |_: &dyn Progress| Ok(None));
        let lacking = PuzzleSolver::new(of, [exact]).unwrap().with_reserve(none);
        assert_eq!(lacking.solve(&skewb.solved()).unwrap().at_least, 0);
    }
}
