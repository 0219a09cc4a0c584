//! Sums of database values, kept up to date move by move.
//!
//! Invariant: a move of one tile changes the value of at most one pattern, the one that contains the tile; for every
//! other pattern, the blank stays in its region and all tiles stay in their cells.

use crate::{
    Error,
    kernel::prefetch,
    pdb::{Pattern, Pdb, PdbError, check_disjoint},
    puzzle::{
        Board, rows,
        space::{self, MAX_WIDTH},
    },
};

/// A board and the sum of its values in disjoint databases: one lookup per move.
///
/// ```
/// use tilewave::pdb::{Build, Evaluator, Pattern};
/// use tilewave::puzzle::{Board, Goal, Size};
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let make = |tiles: &[u16]| Build::new(Pattern::new(goal.clone(), tiles)?).run();
/// let pdbs = [make(&[1, 2, 3, 4])?, make(&[5, 6, 7, 8])?];
/// let mut board = Evaluator::new(&pdbs, &goal)?;
/// assert_eq!(board.sum(), 0);
/// board.slide(5); // the tile on cell 5 goes to the blank's cell 8
/// assert_eq!((board.sum(), board.blank()), (1, 5));
/// board.slide(8); // and back
/// assert_eq!(board.sum(), 0);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Evaluator<'a> {
    pdbs: &'a [Pdb],
    /// Tile on each cell, 0 for the blank.
    tiles: Vec<u16>,
    blank: u8,
    /// For each tile, its pattern and its index in the pattern.
    owner: Vec<Option<(u8, u8)>>,
    cells: Vec<[u8; Pattern::MAX_TILES]>,
    values: Vec<u8>,
    sum: u32,
}

impl<'a> Evaluator<'a> {
    /// Returns the evaluation of a board.
    ///
    /// # Errors
    /// [`PdbError::Pattern`] if databases share tiles; [`PdbError::Unsuitable`] if they are for different goals, count
    /// every move, are for a different size, or were opened but not loaded.
    pub fn new(pdbs: &'a [Pdb], board: &Board) -> Result<Evaluator<'a>, PdbError> {
        pdbs.iter().try_for_each(Pdb::loaded)?;
        let patterns: Vec<Pattern> = pdbs.iter().map(|pdb| pdb.pattern().clone()).collect();
        if patterns.iter().any(Pattern::has_blank) {
            return Err(PdbError::not_additive());
        }
        check_disjoint(&patterns)?;
        if patterns.iter().any(|of| of.goal() != patterns[0].goal()) {
            let words =
                "the databases are for different goals: only values for the same goal can be added";
            return Err(PdbError::Unsuitable(words.into()));
        }
        let mut owner = vec![None; board.size().cells()];
        let mut cells = Vec::new();
        for (p, pattern) in patterns.iter().enumerate() {
            let mut padded = [0; Pattern::MAX_TILES];
            let of = pattern.cells(board)?;
            padded[..of.len()].copy_from_slice(&of);
            cells.push(padded);
            for (i, &tile) in pattern.tiles().iter().enumerate() {
                owner[usize::from(tile)] = Some((p as u8, i as u8));
            }
        }
        let mut evaluator = Evaluator {
            pdbs,
            tiles: board.tiles().to_vec(),
            blank: board.blank() as u8,
            owner,
            cells,
            values: vec![0; pdbs.len()],
            sum: 0,
        };
        for p in 0..pdbs.len() {
            let value = pdbs[p].lookup(evaluator.cells(p), evaluator.blank);
            evaluator.set(p, value);
        }
        Ok(evaluator)
    }

    /// Returns the sum of the values: a lower bound on the number of moves to the goal. Entries that no board reaches
    /// count as 255.
    pub fn sum(&self) -> u32 {
        self.sum
    }

    /// Returns the value of one database.
    pub fn value(&self, pdb: usize) -> u8 {
        self.values[pdb]
    }

    /// Returns the row-major cell of the blank.
    pub fn blank(&self) -> usize {
        usize::from(self.blank)
    }

    /// Moves the tile on a cell next to the blank into the blank's cell. Moving it back undoes the move.
    ///
    /// # Panics
    /// If the cell is not on the board.
    pub fn slide(&mut self, cell: usize) {
        let tile = usize::from(self.tiles[cell]);
        let to = self.blank;
        self.tiles.swap(cell, usize::from(to));
        self.blank = cell as u8;
        if let Some((p, i)) = self.owner[tile] {
            self.cells[usize::from(p)][usize::from(i)] = to;
            let p = usize::from(p);
            let before = Some(self.values[p]).filter(|&value| value != u8::MAX);
            let value = self.pdbs[p].lookup_after(self.cells(p), self.blank, before);
            self.set(p, value);
        }
    }

    fn cells(&self, p: usize) -> &[u8] {
        &self.cells[p][..self.pdbs[p].pattern().tiles().len()]
    }

    fn set(&mut self, p: usize, value: Option<u8>) {
        let value = value.unwrap_or(u8::MAX);
        self.sum = self.sum - u32::from(self.values[p]) + u32::from(value);
        self.values[p] = value;
    }
}

// Values of many boards at once.
//
// Invariant: the results are those of [`Pdb::value`], board by board; only the order of the reads differs.

/// The number of boards whose entries are prefetched before the first is read: enough to keep a core's line-fill
/// buffers busy.
const GROUP: usize = 32;

impl Pdb {
    /// Returns the values of many boards, given by their tiles in row-major order, one board after another; -1 where
    /// [`Pdb::value`] returns `None`. Cost: about 20 ns of one core per board; uses all threads of the current pool.
    /// With one bit per entry, a walk to the goal per board.
    ///
    /// ```
    /// use tilewave::pdb::{Build, Pattern};
    /// use tilewave::{Goal, Size};
    /// let goal = Goal::Last.board(Size::new(2, 3)?)?;
    /// let pdb = Build::new(Pattern::new(goal, &[1, 2])?).run()?;
    /// assert_eq!(pdb.values(&[1, 2, 3, 4, 5, 0, 1, 2, 0, 4, 5, 3])?, [0, 0]);
    /// let error = pdb.values(&[1, 2, 3, 4, 5, 0, 1, 2, 2, 4, 5, 0]).unwrap_err().to_string();
    /// assert!(error.starts_with("row 1: tile 2 occurs twice and tile 3 is missing"), "{error}");
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Row`] for the first row that is not a board of the database's size; [`PdbError::Unsuitable`] if the
    /// database was opened but not loaded.
    pub fn values(&self, boards: &[u16]) -> Result<Vec<i16>, Error> {
        self.look_up(boards, |entry, cells, blank| {
            self.at(entry, cells, blank).map_or(-1, i16::from)
        })
    }

    /// Returns the entries of many boards: the indices of their values in [`Pdb::bytes`]. The cost is that of
    /// [`Pdb::values`].
    ///
    /// # Errors
    /// Same errors as [`Pdb::values`].
    pub fn entries_of(&self, boards: &[u16]) -> Result<Vec<u64>, Error> {
        self.look_up(boards, |entry, _, _| entry)
    }

    fn look_up<R: Clone + Default + Send>(
        &self,
        boards: &[u16],
        result: impl Fn(u64, &[u8], u8) -> R + Sync,
    ) -> Result<Vec<R>, Error> {
        self.loaded()?;
        let (size, tiles) = (self.pattern().size(), self.pattern().tiles());
        rows::whole_boards(size, boards)?;
        let n = size.cells();
        let bytes = self.bytes();
        rows::each_row(boards, n, 1, |boards, results| {
            let mut found = [(0, [0; Pattern::MAX_TILES], 0); GROUP];
            let groups = boards.chunks(GROUP * n).zip(results.chunks_mut(GROUP));
            for (group, (boards, results)) in groups.enumerate() {
                let rows = boards.chunks_exact(n).zip(&mut found);
                for (i, (row, (entry, cells, blank))) in rows.enumerate() {
                    let mut place = [0; MAX_WIDTH + 1];
                    if !space::place(row, &mut place) {
                        return Err((group * GROUP + i, rows::no_board(size, row)));
                    }
                    for (cell, &tile) in cells.iter_mut().zip(tiles) {
                        *cell = place[usize::from(tile) & MAX_WIDTH];
                    }
                    *blank = place[0];
                    *entry = self.entry(&cells[..tiles.len()], *blank);
                    prefetch::<1, _>(bytes.as_ptr().wrapping_add(self.place(*entry)));
                }
                for (to, (entry, cells, blank)) in results.iter_mut().zip(&found) {
                    *to = result(*entry, &cells[..tiles.len()], *blank);
                }
            }
            Ok(())
        })
    }
}
