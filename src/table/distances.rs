//! A table in memory or in a file, and the lookups in it.
//!
//! Invariant: a result depends only on entries whose checksums were verified.

use crate::{
    Error,
    hint::BUILD_TABLE,
    kernel::prefetch,
    puzzle::{
        Board, CellMove, CellMoves, Metric, Moves, NamedMove, Position, Puzzle, PuzzleError, State,
        StateSpace, rows::RowFault,
    },
    store::{Container, MAX_DEPTH, TableFile, TableKind},
    system::SystemError,
    table::{
        TableEncoding,
        header::{TableError, TableHeader, TablePuzzle},
    },
};

/// The depth of every state of a puzzle.
///
/// ```
/// use tilewave::search::Search;
/// use tilewave::puzzle::{Board, Goal, Size};
/// use tilewave::table::{DistanceTable, TableEncoding};
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let table = DistanceTable::build(&Search::new(goal), TableEncoding::Mod3)?;
/// let board = Board::parse("8 6 7/2 5 4/3 0 1", None)?;
/// assert_eq!(table.depth(&board)?, Some(31));
/// assert_eq!(table.solve(&board)?.map(|moves| moves.len()), Some(31));
/// # Ok::<(), tilewave::Error>(())
/// ```
pub type DistanceTable = TableFile<StateDepths>;

/// What the lookups of a distance table need.
pub struct StateDepths {
    space: StateSpace,
    moves: CellMoves,
    /// The cell of the goal.
    home: usize,
}

impl TableKind for StateDepths {
    type Header = TableHeader;

    fn of(file: &Container<TableHeader>) -> Result<StateDepths, SystemError> {
        let header = &file.header;
        let space = match &header.puzzle {
            TablePuzzle::Board(goal, metric) => {
                Some(StateSpace::of_board(goal.clone()).in_metric(*metric))
            }
            TablePuzzle::Defined { fingerprint, .. } => {
                let text = str::from_utf8(file.index()).ok();
                let space = text.and_then(StateSpace::from_puzzle_text);
                let same = |of: &Puzzle| of.fingerprint() == *fingerprint;
                space.filter(|of| of.puzzle().is_some_and(same))
            }
        };
        let shape = header.shape;
        let fits = |of: &StateSpace| {
            (of.moves().cells(), of.lines()) == (shape.cells, shape.lines) && !of.is_directed()
        };
        let of = space.filter(fits).and_then(|space| {
            let home = space.start().ok()?.cell;
            Some(StateDepths { moves: CellMoves::new(&space), home, space })
        });
        of.ok_or_else(|| file.contradictory())
    }

    #[inline]
    fn bits(header: &TableHeader) -> u32 {
        header.shape.encoding.bits()
    }
}

impl DistanceTable {
    /// Returns the state space of the table, searched from its goal; its states determine the positions of the entries.
    pub fn space(&self) -> &StateSpace {
        &self.of.space
    }

    /// Returns the goal of a board.
    ///
    /// # Errors
    /// [`TableError::Unsuitable`] if the table is not for a board.
    pub fn goal(&self) -> Result<&Board, TableError> {
        let boards = self.of.space.boards().map(|(goal, _)| goal);
        boards.ok_or_else(|| {
            let name = self.of.space.name();
            TableError::Unsuitable(format!("the table is for {name}, which is not a board"))
        })
    }

    /// Returns the encoding.
    pub fn encoding(&self) -> TableEncoding {
        self.file.header.shape.encoding
    }

    /// The number of a state's entry.
    fn number(&self, state: State) -> u64 {
        self.file.header.shape.number(state)
    }

    /// The entry of a state, or `None` if it was not reached.
    fn entry(&self, state: State) -> Result<Option<u8>, Error> {
        // Lines that cannot be reached may have no numbers.
        match state.line < self.file.header.shape.lines {
            true => Ok(self.read(self.number(state))?),
            false => Ok(None),
        }
    }

    /// Returns the depth of a board, or `None` if it was not reached. Same errors as [`DistanceTable::depth_of`], plus
    /// [`TableError::Unsuitable`], and [`crate::puzzle::PuzzleError`] if the board has a different size or cannot reach
    /// the goal.
    pub fn depth(&self, board: &Board) -> Result<Option<usize>, Error> {
        self.depth_of(self.state(board)?)
    }

    fn state(&self, board: &Board) -> Result<State, Error> {
        self.goal()?;
        self.of.space.state(board)
    }

    /// Returns the depth of a state, or `None` if it was not reached.
    ///
    /// Cost: one lookup; with [`TableEncoding::Mod3`] a walk to the goal, with one ranking and one lookup for about every
    /// second possible move of each state on the way.
    ///
    /// # Errors
    /// [`TableError::Incomplete`] if the table is damaged, [`SystemError`] if it cannot be read.
    pub fn depth_of(&self, state: State) -> Result<Option<usize>, Error> {
        match self.encoding() {
            TableEncoding::Mod3 => Ok(self.steps(state)?.map(|steps| steps.len())),
            _ => Ok(self.entry(state)?.map(usize::from)),
        }
    }

    /// Returns a shortest solution of a board in the table's metric, the first one in the order of
    /// [`crate::puzzle::Direction::ALL`]; `None` if the board was not reached. Same errors as [`DistanceTable::depth`].
    pub fn solve(&self, board: &Board) -> Result<Option<Moves>, Error> {
        let steps = self.steps(self.state(board)?)?;
        let moves = |step: &NamedMove| match *step {
            NamedMove::Tiles(direction, tiles) => vec![direction; tiles],
            NamedMove::Generator(_) => Vec::new(),
        };
        Ok(steps.map(|steps| Moves(steps.iter().flat_map(moves).collect())))
    }

    /// Returns the number of moves of a solution in the table's metric.
    pub fn count(&self, moves: &Moves) -> usize {
        moves.count(self.of.space.metric().unwrap_or(Metric::Stm))
    }

    /// Returns the names of the generators of a shortest solution of a state, in order; `None` if the state was not
    /// reached. For boards, the list is empty. Same errors as [`DistanceTable::depth_of`].
    pub fn names(&self, state: State) -> Result<Option<Vec<&str>>, Error> {
        let generators = self.of.space.puzzle().map(Puzzle::moves);
        let name = |step: &NamedMove| match *step {
            NamedMove::Generator(index) => Some(generators?.get(index)?.name.as_str()),
            NamedMove::Tiles(..) => None,
        };
        let steps = self.steps(state)?;
        Ok(steps.map(|steps| steps.iter().filter_map(name).collect()))
    }

    /// Returns the moves of the first shortest solution of a state in the order of [`NamedMove`], or `None` if the
    /// state was not reached. Cost: one ranking and one lookup for about every second possible move of each state on
    /// the way. Same errors as [`DistanceTable::depth_of`].
    pub fn steps(&self, state: State) -> Result<Option<Vec<NamedMove>>, Error> {
        let Some(mut entry) = self.entry(state)? else {
            return Ok(None);
        };
        let mut position = Position::new(&self.of.space.line(state), state.cell);
        let mut steps = Vec::new();
        while !position.is_goal(self.of.home) {
            if steps.len() >= MAX_DEPTH {
                return Err(self.dead_end(&position));
            }
            let (way, next, closer) = self.closer(&position, entry)?;
            steps.push(way.name);
            (position, entry) = (next, closer);
        }
        Ok(Some(steps))
    }

    /// Returns the error for a state without a depth, for callers that need one: [`TableError::Beyond`] if the table
    /// holds only some depths.
    pub fn unreached(&self, state: State) -> Error {
        let found = self.histogram().iter().sum::<u64>();
        match self.of.space.states() {
            Some(states) if found == states => {
                PuzzleError::unreachable(self.of.space.name()).into()
            }
            _ => TableError::Beyond(self.of.space.text(state)).into(),
        }
    }

    /// The error for a position from which no move leads closer to the goal.
    fn dead_end(&self, position: &Position) -> Error {
        TableError::Incomplete(format!(
            "'{}' is damaged: no neighbour of state {} is closer to the goal; rebuild the table \
             with {BUILD_TABLE}",
            self.file.path.display(),
            self.of.space.id(position.state())
        ))
        .into()
    }

    /// A neighbour that is one move closer to the goal than a position with the given entry, and the neighbour's entry.
    fn closer(&self, position: &Position, entry: u8) -> Result<(&CellMove, Position, u8), Error> {
        let wanted = self.encoding().closer(entry);
        for way in self.of.moves.from(position.cell) {
            let moved = position.after(way);
            if let Some(wanted) = wanted
                && self.entry(moved.state())? == Some(wanted)
            {
                return Ok((way, moved, wanted));
            }
        }
        Err(self.dead_end(position))
    }
}

// Depths of many states at once.
//
// Invariant: the results are those of [`DistanceTable::depth_of`], state by state; only the order of the reads differs.

/// A state on its way to the goal.
struct Walker {
    /// Its row.
    row: usize,
    at: Position,
    /// The depth of the current state, modulo 3.
    entry: u8,
    steps: usize,
    /// The move being tried.
    way: usize,
}

impl DistanceTable {
    /// Returns the depths of many states, -1 for those that were not reached. A row lists the tiles of a board in
    /// row-major order, or the elements of another puzzle, each given by the number of the position that it belongs to,
    /// from 0.
    ///
    /// Cost: about 40 ns of one core per state; uses all threads of the current pool. With [`TableEncoding::Mod3`], a walk
    /// to the goal, about 2 us for 3x4.
    ///
    /// ```
    /// use tilewave::table::{DistanceTable, TableEncoding};
    /// use tilewave::{Goal, Search, Size};
    /// let goal = Goal::Last.board(Size::new(3, 3)?)?;
    /// let table = DistanceTable::build(&Search::new(goal), TableEncoding::Byte)?;
    /// let boards = [8, 6, 7, 2, 5, 4, 3, 0, 1, 2, 1, 3, 4, 5, 6, 7, 8, 0];
    /// assert_eq!(table.depths(&boards)?, [31, -1]); // the parity of the second is odd
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Row`] for the first row that is not a board or an arrangement, and the errors of
    /// [`DistanceTable::depth_of`].
    pub fn depths(&self, numbers: &[u16]) -> Result<Vec<i16>, Error> {
        self.of.space.whole(numbers)?;
        let width = self.of.space.width();
        let find = |row: &[u16]| {
            let state = self.of.space.state_of(row)?;
            Ok((state, state.map(|state| self.number(state))))
        };
        self.each_row((numbers, width), find, |numbers, states, depths| {
            // The values of the entries: the depths, or where walks begin.
            for (i, (depth, state)) in depths.iter_mut().zip(states).enumerate() {
                let entry = state.map(|state| self.entry(state)).transpose();
                let entry = entry.map_err(|error| (i, error))?.flatten();
                *depth = entry.map_or(-1, i16::from);
            }
            match self.encoding() {
                TableEncoding::Mod3 => self.walk(numbers, depths),
                _ => Ok(()),
            }
        })
    }

    /// Replaces the depths modulo 3 of some rows by the lengths of their walks to the goal. All rows advance one step
    /// at a time, so that the memory accesses for their entries overlap.
    fn walk(&self, numbers: &[u16], depths: &mut [i16]) -> Result<(), RowFault> {
        let width = self.of.space.width();
        let mut walkers = Vec::with_capacity(depths.len());
        for (row, numbers) in numbers.chunks_exact(width).enumerate() {
            let Ok(entry) = u8::try_from(depths[row]) else {
                continue;
            };
            let (line, cell) = self.of.space.line_of(numbers).map_err(|error| (row, error))?;
            let at = Position::new(&line[..width - 1], cell);
            walkers.push(Walker { row, at, entry, steps: 0, way: 0 });
        }
        // The positions that the moves lead to, and their states.
        let mut tried = Vec::with_capacity(walkers.len());
        loop {
            walkers.retain(|walker| {
                let there = walker.at.is_goal(self.of.home);
                if there {
                    depths[walker.row] = walker.steps as i16;
                }
                !there
            });
            if walkers.is_empty() {
                return Ok(());
            }
            for walker in &walkers {
                let way = self.of.moves.from(walker.at.cell).get(walker.way);
                let way = way.filter(|_| walker.steps < MAX_DEPTH);
                let way = way.ok_or_else(|| (walker.row, self.dead_end(&walker.at)))?;
                let next = walker.at.after(way);
                let state = next.state();
                prefetch::<1, _>(self.address(self.number(state)));
                tried.push((next, state));
            }
            for (walker, (next, state)) in walkers.iter_mut().zip(tried.drain(..)) {
                let wanted = (walker.entry + 2) % 3;
                let found = self.entry(state);
                if found.map_err(|error| (walker.row, error))? == Some(wanted) {
                    walker.at = next;
                    (walker.entry, walker.way) = (wanted, 0);
                    walker.steps += 1;
                } else {
                    walker.way += 1;
                }
            }
        }
    }
}
