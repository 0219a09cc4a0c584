//! The optimal solver: a goal, its additive pattern databases, and one search per board; and the patterns to build for
//! a goal if none are specified.
//!
//! Source: R. E. Korf and A. Felner, Disjoint pattern database heuristics, AIJ 134 (2002); reflections: J. Culberson
//! and J. Schaeffer 1998.
//!
//! Invariant: an answer without moves comes from a search that was stopped. An answer with moves has been replayed on
//! the board and ends at the goal; if some tiles are in no pattern, the constructive solver has found no shorter
//! solution.

use std::{
    collections::{BTreeSet, HashSet},
    sync::{Arc, OnceLock},
};

use crate::{
    Error,
    hint::BUILD_SET,
    pdb::{Pattern, Pdb, PdbError, partition},
    progress::{NoProgress, Progress},
    puzzle::{Board, Coordinates, Direction, MoveStyle, Moves, SnakePath},
    solve::{
        SolveError,
        boards::{Heuristic, KnownBoard, MAX_BIT_VIEWS, MAX_PATTERNS, MAX_VIEWS, RootedTree, Tree},
        constructive::Constructive,
        database::Database,
        heuristics::{BitTables, Sums},
        ida::{Answer, FoundPath, Pending, Reserve, Rooted, SearchedWords, Stage, StateSolver},
        pruner::MovePruner,
        symmetry::{Lens, images, symmetries},
    },
    store,
};

/// Maximum length of the sequences whose duplicates are pruned: the two ways around a square of four tiles.
const PRUNER_DEPTH: usize = 12;
/// The same where all solutions are wanted: a move and its inverse.
const UNDONE_DEPTH: usize = 2;

/// An optimal solver for all boards with the same goal. Threads can share it.
///
/// [`Optimal::solve`] solves one board with all threads; [`StateSolver::solve_with`] reports the number of nodes and asks
/// whether to stop every few thousand nodes. For many boards, see [`StateSolver`]. Answers, including node counts, do
/// not depend on the number of threads.
///
/// ```
/// use tilewave::pdb::Build;
/// use tilewave::puzzle::{Board, Goal, Size};
/// use tilewave::solve::{Optimal, default_patterns};
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let patterns = default_patterns(&goal)?;
/// let pdbs = patterns.into_iter().map(|p| Build::new(p).run());
/// let pdbs = pdbs.collect::<Result<Vec<_>, _>>()?;
/// let solver = Optimal::new(&goal, pdbs)?;
/// let board = Board::parse("8 6 7/2 5 4/3 0 1", None)?;
/// let answer = solver.solve(&board)?;
/// assert_eq!(answer.moves.map(|moves| moves.len()), Some(31));
/// # Ok::<(), tilewave::Error>(())
/// ```
pub struct Optimal {
    frame: Coordinates,
    /// Checks answers if some tiles are in no pattern.
    bound: Option<Constructive>,
    pub(crate) tree: Tree,
    /// Allows every sequence that does not undo a move at once.
    every: OnceLock<MovePruner>,
    reserve: Option<Reserve<Optimal>>,
}

impl Optimal {
    /// Returns the solver for a goal with a set of disjoint databases, which it owns or shares. The databases may be of
    /// any kind and encoding, and for a different goal of the same board or of the transposed one, as long as a
    /// rotation or reflection takes one goal's blank to the other's. Lookups are fastest in databases of kind
    /// [`crate::pdb::Kind::Minimum`] with one byte per entry; region-aware values are larger and consistent. Cost:
    /// finding the duplicates among all short move sequences, about 8 ms on 4x4.
    ///
    /// # Errors
    /// [`SolveError::Database`] says which database cannot be used, and why.
    pub fn new(
        goal: &Board,
        pdbs: impl IntoIterator<Item = impl Into<Arc<Pdb>>>,
    ) -> Result<Optimal, SolveError> {
        Optimal::with_partitions(goal, [pdbs.into_iter().map(Into::into).collect()])
    }

    /// Returns the solver for a goal with several partitions, each a set of disjoint databases as for [`Optimal::new`]:
    /// a board's estimate is the maximum of the partitions' sums. A database may be in several partitions, and it is
    /// also used through a symmetry for tiles that its partition leaves out. After a move, only the databases with the
    /// moved tile are looked up, one per partition and symmetry. A database in which every move counts
    /// ([`crate::pdb::Kind::AllMoves`]) is a partition by itself.
    ///
    /// # Errors
    /// Same errors as [`Optimal::new`], also if the number of partitions times symmetries exceeds 16.
    pub fn with_partitions(
        goal: &Board,
        partitions: impl IntoIterator<Item = Vec<Arc<Pdb>>>,
    ) -> Result<Optimal, SolveError> {
        let partitions: Vec<Vec<Arc<Pdb>>> = partitions.into_iter().collect();
        let unfit = |reason: String| Err(SolveError::Database { reason });
        let all = partitions.concat();
        all.iter().try_for_each(|pdb| pdb.loaded())?;
        let Some(first) = all.first().map(|pdb| pdb.pattern()) else {
            return unfit(format!("no databases are given; build a set with {BUILD_SET}"));
        };
        let (size, theirs) = (goal.size(), first.size());
        if images(size, theirs).is_empty() {
            return unfit(format!(
                "the databases are for {theirs}, not for {size}; build a set with {BUILD_SET}"
            ));
        }
        if all.iter().any(|pdb| pdb.pattern().goal() != first.goal()) {
            return unfit(format!(
                "the databases are for different goals; build a set with {BUILD_SET}"
            ));
        }
        let databases = Database::all(all.clone());
        let (mut rest, mut lenses) = (&databases[..], Vec::new());
        for partition in &partitions {
            let (own, others) = rest.split_at(partition.len());
            rest = others;
            let patterns = partition.iter().map(|pdb| pdb.pattern().clone());
            crate::pdb::check_disjoint(&patterns.collect::<Vec<_>>())?;
            if partition.len() > MAX_PATTERNS {
                return unfit(format!(
                    "a partition has more than {MAX_PATTERNS} databases; build a set with {BUILD_SET}"
                ));
            }
            lenses.extend(Lens::of_partition(goal, own));
        }
        if lenses.is_empty() {
            return unfit(format!(
                "no rotation or reflection of the board takes the goal's blank to the blank in the \
                 goal of the databases; build a set with {BUILD_SET}"
            ));
        }
        if lenses.len() > MAX_VIEWS {
            return unfit(format!(
                "the partitions with their mirror images and rotations require {} lookups per \
                 node, but at most {MAX_VIEWS} are supported; use fewer partitions, or databases \
                 with more tiles",
                lenses.len()
            ));
        }
        let pruner = MovePruner::new(size, PRUNER_DEPTH);
        let tree = Tree::new(goal.clone(), lenses, pruner);
        Ok(Optimal {
            frame: Coordinates::new(goal.clone()),
            bound: (!tree.is_covered()).then(|| Constructive::new(goal.clone())),
            tree,
            every: OnceLock::new(),
            reserve: None,
        })
    }

    /// Continues hard boards, which have taken three million nodes, with other, larger databases: partitions as for
    /// [`Optimal::with_partitions`]. They are asked for when the first hard board needs them, so that they can be built
    /// then, until the observer of the search asks to stop; if there are none, hard boards stay with the others.
    #[must_use]
    pub fn with_reserve(
        mut self,
        databases: impl Fn(&dyn Progress) -> Result<Option<Vec<Vec<Arc<Pdb>>>>, Error>
        + Send
        + Sync
        + 'static,
    ) -> Optimal {
        let goal = self.goal().clone();
        let larger = move |watch: &dyn Progress| {
            let larger = databases(watch)?.map(|all| Optimal::with_partitions(&goal, all));
            Ok(larger.transpose()?)
        };
        self.reserve = Some(Reserve::new(RESERVE_FROM, larger));
        self
    }

    /// What carries out the next iteration of a search.
    fn of_stage(&self, next: Stage) -> &Optimal {
        self.reserve.as_ref().and_then(|reserve| reserve.of_stage(next)).unwrap_or(self)
    }

    /// Limits the memory for reordered copies of databases with one bit per entry, which speed up long searches. The
    /// default is half of the free memory; use 0 if other processes on the machine share the files.
    #[must_use]
    pub fn memory(mut self, memory: impl Into<Option<u64>>) -> Optimal {
        self.tree.memory = memory.into();
        self
    }

    /// Returns the goal.
    pub fn goal(&self) -> &Board {
        self.frame.goal()
    }

    /// Returns the number of symmetric lookups per node.
    pub fn views(&self) -> usize {
        self.tree.views.len()
    }

    /// Returns a lower bound on the number of moves of a board, the maximum sum over all partitions and symmetries, or
    /// the errors of [`Optimal::solve`].
    pub fn estimate(&self, board: &Board) -> Result<usize, SolveError> {
        self.frame.encode_solvable(board)?;
        Ok(self.tree.estimate(board))
    }

    /// Returns a shortest solution of a board. A hard board uses all threads of the current rayon pool, which can be
    /// created with [`crate::Resources::install`].
    ///
    /// # Errors
    /// [`SolveError::Puzzle`] if the board has the wrong size or cannot reach the goal.
    pub fn solve(&self, board: &Board) -> Result<Answer, SolveError> {
        self.solve_with(board, &NoProgress)
    }
}

impl StateSolver for Optimal {
    type State = Board;
    type Moves = Moves;
    const SPLIT_FROM: u64 = 1 << 18;

    fn begin(&self, board: &Board) -> Result<Pending, SolveError> {
        self.frame.encode_solvable(board)?;
        Ok(Pending::new(board.clone(), self.tree.estimate(board)))
    }

    fn rooted(
        &self,
        search: &Pending,
        words: SearchedWords,
    ) -> Result<Box<dyn Rooted<Board> + '_>, SolveError> {
        fn of<'t>(
            heuristic: impl Heuristic + 't,
            (pruner, board): (&'t MovePruner, &Board),
        ) -> Box<dyn Rooted<Board> + 't> {
            Box::new(RootedTree::new(heuristic, pruner, board))
        }
        let (tree, board) = (&self.of_stage(search.stage).tree, &search.state);
        let (plain, bits) = (tree.is_plain(), tree.is_bits());
        let pruner = match words {
            SearchedWords::One => &tree.pruner,
            SearchedWords::Every => {
                self.every.get_or_init(|| MovePruner::new(board.size(), UNDONE_DEPTH))
            }
        };
        let board = (pruner, board);
        // The fastest heuristic that the databases allow.
        Ok(match tree.views.len() {
            1 if plain => of(Sums::<1, true>::new(tree), board),
            2 if plain => of(Sums::<2, true>::new(tree), board),
            3..=4 if plain => of(Sums::<4, true>::new(tree), board),
            _ if plain => of(Sums::<MAX_VIEWS, true>::new(tree), board),
            1 if bits => of(BitTables::<1>::new(tree), board),
            2 if bits => of(BitTables::<2>::new(tree), board),
            3..=4 if bits => of(BitTables::<4>::new(tree), board),
            5..=MAX_BIT_VIEWS if bits => of(BitTables::<MAX_BIT_VIEWS>::new(tree), board),
            1 => of(Sums::<1, false>::new(tree), board),
            2 => of(Sums::<2, false>::new(tree), board),
            3..=4 => of(Sums::<4, false>::new(tree), board),
            5..=8 => of(Sums::<8, false>::new(tree), board),
            _ => of(Sums::<MAX_VIEWS, false>::new(tree), board),
        })
    }

    fn make_ready(&self, next: Stage, progress: &dyn Progress) -> Result<(), SolveError> {
        if let Some(reserve) = &self.reserve {
            reserve.make_ready(next, progress, |larger| larger.memory(self.tree.memory))?;
        }
        let tree = &self.of_stage(next).tree;
        if tree.memory != Some(0) && next.last >= tree.bytes() / ARRANGE_FROM {
            tree.arrange(progress);
        }
        Ok(())
    }

    fn checked(&self, board: &Board, found: FoundPath) -> Result<Option<Moves>, SolveError> {
        let larger = self.reserve.as_ref().and_then(Reserve::made);
        let both = std::iter::once(self).chain(larger).flat_map(|own| own.tree.databases());
        both.map(|database| &database.pdb).try_for_each(|pdb| pdb.unchanged())?;
        let Some(solution) = found? else { return Ok(None) };
        let moves = self.moves_of(&solution);
        if moves.apply(board)? != *self.frame.goal() {
            return Err(SolveError::WrongSolution { moves });
        }
        if let Some(bound) = &self.bound {
            let shorter = bound.solve(board)?;
            if shorter.len() < moves.len() {
                return Err(SolveError::Beaten { claimed: moves.len(), moves: shorter });
            }
        }
        Ok(Some(moves))
    }

    fn counts(&self, board: &Board, path: &[u16], longer: bool) -> bool {
        let (mut at, mut seen) = (board.clone(), HashSet::from([board.clone()]));
        let mut moved = |&one: &u16| {
            let next = at.slide(Direction::ALL[usize::from(one)]);
            next.is_some_and(|next| {
                at = next.clone();
                seen.insert(next)
            })
        };
        // No shortest solution comes to a board twice.
        !longer || path.iter().all(&mut moved)
    }

    fn moves_of(&self, path: &[u16]) -> Moves {
        Moves(path.iter().map(|&one| Direction::ALL[usize::from(one)]).collect())
    }

    fn goal_text(&self) -> String {
        self.goal().to_string()
    }

    /// For each partition and symmetry: tiles, kind, encoding, checksum.
    fn databases(&self) -> Vec<Vec<String>> {
        let words = |database: &Database| {
            let pdb = &database.pdb;
            let tiles: Vec<String> = pdb.pattern().tiles().iter().map(u16::to_string).collect();
            let (kind, encoding) = (pdb.kind(), pdb.encoding());
            format!("{} {kind} {encoding} {:016x}", tiles.join(","), pdb.checksum())
        };
        let views = self.tree.views.iter();
        views.map(|lens| lens.databases.iter().map(words).collect()).collect()
    }

    fn text(&self, board: &Board) -> String {
        board.to_string()
    }

    fn written(moves: &Moves) -> String {
        moves.short(MoveStyle::Tile)
    }

    fn replayed(&self, board: &Board, moves: &str) -> Option<(Moves, usize)> {
        let moves = Moves::parse(moves, MoveStyle::Tile).ok()?;
        moves.apply(board).ok().filter(|end| end == self.goal())?;
        let length = moves.len();
        Some((moves, length))
    }
}

// The tree below a board.

/// Bytes of databases per node of an iteration: if there are no more than this, the databases are reordered for the
/// next iteration, which has about seven times as many nodes. Reordering a byte takes about as long as a walk saves at
/// a tenth of a node.
const ARRANGE_FROM: u64 = 64;

/// Number of nodes of a board from which it is hard: they take a quarter of a second, and the next iteration takes two. None
/// of 250 random 15-puzzles is hard with 6-6-3.
const RESERVE_FROM: u64 = 3 << 20;

impl Tree {
    /// The bytes of all databases.
    pub fn bytes(&self) -> u64 {
        let mut seen = BTreeSet::new();
        let pdbs = self.databases().map(|database| &database.pdb);
        pdbs.filter(|pdb| seen.insert(Arc::as_ptr(pdb))).map(|pdb| pdb.file_bytes()).sum()
    }

    /// Reorders databases with one bit per entry for long searches, if there is enough memory for all of them.
    pub(crate) fn arrange(&self, progress: &dyn Progress) {
        if self.bytes() <= self.memory.unwrap_or_else(store::budget) {
            self.databases().for_each(|database| database.arrange(progress));
        }
    }

    /// Returns the lower bound on the number of moves of a board with which a search begins.
    pub fn estimate(&self, board: &Board) -> usize {
        self.at_least(board, KnownBoard::new(self, board).estimate(self) as usize)
    }
}

// Patterns for any goal. Every partition covers all tiles, each once.

/// Returns default patterns for a goal: up to 6 consecutive tiles along the snake path (5 on boards of more than 25
/// cells), so that building a set takes seconds and at most half a gigabyte; on 4x4 and 5x5 with the blank's goal in a
/// corner, 6-6-3 and 6-6-6-6 from the literature.
///
/// # Errors
/// [`PdbError`] if the board is too large for databases.
pub fn default_patterns(goal: &Board) -> Result<Vec<Pattern>, PdbError> {
    let size = goal.size();
    let named = match (size.rows(), size.cols()) {
        (4, 4) => partition("6-6-3", goal).ok(),
        (5, 5) => partition("6-6-6-6", goal).ok(),
        _ => None,
    };
    if let Some(patterns) = named {
        return Ok(patterns);
    }
    let most = if size.cells() > 25 { 5 } else { 6 };
    let path = SnakePath::new(size);
    let along = (0..size.cells()).map(|i| goal.tiles()[path.cell(i)]);
    let tiles: Vec<u16> = along.filter(|&tile| tile != 0).collect();
    let groups = tiles.len().div_ceil(most);
    // Equal shares: 6 + 5 rather than 6 + 6 with one left over.
    patterns(goal, tiles.chunks(tiles.len().div_ceil(groups)))
}

/// Returns partitions into large patterns for any goal, for combined use: patterns of `most` tiles, row by row or
/// column by column, with the smaller rest at the end or at the beginning. No partition is a reflection or rotation of
/// another, and there are only as many as a search can look up quickly.
///
/// ```
/// use tilewave::solve::sweeps;
/// use tilewave::{Goal, Size};
/// let goal = Goal::Last.board(Size::new(2, 3)?)?; // 1 2 3/4 5 0
/// let tiles = |most| -> Result<Vec<Vec<Vec<u16>>>, tilewave::Error> {
///     let all = sweeps(&goal, most)?.into_iter();
///     Ok(all.map(|patterns| patterns.iter().map(|p| p.tiles().to_vec()).collect()).collect())
/// };
/// assert_eq!(tiles(3)?[..2], [[vec![1, 2, 3], vec![4, 5]], [vec![3, 4, 5], vec![1, 2]]]);
/// assert_eq!(tiles(5)?, [[[1, 2, 3, 4, 5]]]);
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// # Errors
/// [`PdbError`] if the board is too large for databases.
pub fn sweeps(goal: &Board, most: usize) -> Result<Vec<Vec<Pattern>>, PdbError> {
    let (size, tiles) = (goal.size(), goal.tiles());
    let symmetries = symmetries(goal, goal);
    let rows: Vec<usize> = (0..size.cells()).collect();
    let columns = rows.iter().map(|i| i % size.rows() * size.cols() + i / size.rows());
    let (mut found, mut known) = (Vec::new(), Vec::new());
    for cells in [rows.clone(), columns.collect()] {
        let mut cells: Vec<usize> = cells.into_iter().filter(|&cell| tiles[cell] != 0).collect();
        for _ in 0..2 {
            let chunks: Vec<&[usize]> = cells.chunks(most).collect();
            // The images of the sets of cells under each symmetry.
            let of = |image: &Vec<u8>| -> BTreeSet<u64> {
                let set =
                    |cells: &&[usize]| cells.iter().fold(0, |set, &cell| set | 1 << image[cell]);
                chunks.iter().map(set).collect()
            };
            let seen: Vec<_> = symmetries.iter().map(of).collect();
            if !seen.iter().any(|sets| known.contains(sets)) {
                known.extend(seen);
                let of = |cells: &&[usize]| cells.iter().map(|&cell| tiles[cell]).collect();
                found.push(patterns(goal, chunks.iter().map(of).collect::<Vec<Vec<u16>>>())?);
            }
            cells.reverse();
        }
    }
    found.truncate((MAX_BIT_VIEWS / symmetries.len().max(1)).max(1));
    Ok(found)
}

fn patterns(
    goal: &Board,
    tiles: impl IntoIterator<Item = impl AsRef<[u16]>>,
) -> Result<Vec<Pattern>, PdbError> {
    tiles.into_iter().map(|tiles| Pattern::new(goal.clone(), tiles.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pdb::Encoding, solve::database::tests::regions};

    #[test]
    fn bits_are_arranged_for_long_searches_unless_there_is_no_memory() {
        let goal = Board::parse("1 2 3/4 5 6/7 8 0", None).unwrap();
        let bits = regions(&goal, &[1, 2, 3, 4], Encoding::Bit);
        for (memory, last) in
            [(None, u64::MAX), (None, 0), (Some(0), u64::MAX), (Some(9), u64::MAX)]
        {
            let solver = Optimal::new(&goal, [bits.clone()]).unwrap().memory(memory);
            let next = Stage { last, ..Stage::default() };
            solver.make_ready(next, &NoProgress).unwrap();
            let arranged = solver.tree.databases().any(|one| one.layout().1[0] == 1);
            assert_eq!(arranged, memory.is_none() && last > 0, "{memory:?} {last}");
        }
    }
}
