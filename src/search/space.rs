//! What is searched: a puzzle, what counts as a move, and the state at depth 0.

use std::fmt;
use std::sync::Arc;

use crate::Error;
use crate::perm::lehmer;
use crate::puzzle::notation::{self, MAX_WIDTH, RowFault};
use crate::puzzle::{
    Board, Coordinates, Definition, DefinitionError, Metric, Permutation, Puzzle, Size, SnakePath,
    States,
};
use crate::search::SearchError;

/// What is searched.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A sliding-tile board.
    Board {
        /// The goal, which numbers the tiles.
        goal: Board,
        /// The board at depth 0.
        start: Board,
        /// What counts as one move.
        metric: Metric,
    },
    /// A permutation puzzle and its start; every generator is one move.
    Puzzle(Arc<States>),
}

impl Subject {
    /// Returns the search of a board from its goal, one tile a move.
    pub fn board(goal: Board) -> Subject {
        Subject::Board { start: goal.clone(), goal, metric: Metric::Stm }
    }

    /// Returns the search of a puzzle from its solved state. Cost: a tenth of a second at most, to choose the
    /// order in which positions are read.
    pub fn puzzle(definition: Definition) -> Subject {
        Subject::Puzzle(Arc::new(States::new(definition)))
    }

    /// Returns the same search of a board from another one; other puzzles stay as they are.
    pub fn from_board(mut self, board: Board) -> Subject {
        if let Subject::Board { start, .. } = &mut self {
            *start = board;
        }
        self
    }

    /// Returns the same search from the goal, the solved state of a puzzle that is no board.
    pub fn from_goal(self) -> Subject {
        match self {
            Subject::Board { goal, metric, .. } => Subject::board(goal).in_metric(metric),
            Subject::Puzzle(states) => {
                let solved = states.definition().solved();
                let states = Arc::unwrap_or_clone(states).from_start(solved);
                Subject::Puzzle(Arc::new(states))
            }
        }
    }

    /// Returns the same search of a board in another metric; other puzzles, whose generators are the moves, stay
    /// as they are.
    pub fn in_metric(mut self, other: Metric) -> Subject {
        if let Subject::Board { metric, .. } = &mut self {
            *metric = other;
        }
        self
    }

    /// Returns the same search from a state in the puzzle's own words: a board, or what [`Definition::show`]
    /// prints.
    ///
    /// # Errors
    /// [`crate::puzzle::BoardError`] and [`crate::puzzle::DefinitionError`].
    pub fn starting_at(self, text: &str) -> Result<Subject, crate::Error> {
        match self {
            Subject::Board { ref goal, .. } => {
                let board = Board::parse(text, Some(goal.size()))?;
                Ok(self.from_board(board))
            }
            Subject::Puzzle(states) => {
                let start = states.definition().arrangement(text)?;
                let states = Arc::unwrap_or_clone(states).from_start(start);
                Ok(Subject::Puzzle(Arc::new(states)))
            }
        }
    }

    /// Returns the goal and the start of a board, or `None` for other puzzles.
    pub fn boards(&self) -> Option<(&Board, &Board)> {
        match self {
            Subject::Board { goal, start, .. } => Some((goal, start)),
            Subject::Puzzle(_) => None,
        }
    }

    /// Returns the size of a board, or `None` for other puzzles.
    pub fn size(&self) -> Option<Size> {
        self.boards().map(|(goal, _)| goal.size())
    }

    /// Returns the metric of a board, or `None` for other puzzles, whose generators are the moves.
    pub fn metric(&self) -> Option<Metric> {
        match self {
            Subject::Board { metric, .. } => Some(*metric),
            Subject::Puzzle(_) => None,
        }
    }

    /// Returns the definition of a puzzle that is no board.
    pub fn definition(&self) -> Option<&Definition> {
        match self {
            Subject::Board { .. } => None,
            Subject::Puzzle(states) => Some(states.definition()),
        }
    }

    /// Returns whether distances are the same in both directions.
    pub fn is_directed(&self) -> bool {
        self.definition().is_some_and(Definition::is_directed)
    }

    /// Returns the number of states that can be reached, N!/2 for a board of N cells, the order of the group of
    /// another puzzle; `None` for boards of more than 20 cells, where it exceeds 64 bits.
    pub fn states(&self) -> Option<u64> {
        match self {
            Subject::Board { goal, .. } => goal.size().states(),
            // 16! fits.
            Subject::Puzzle(states) => states.definition().group_order().try_into().ok(),
        }
    }

    /// Returns the name of the puzzle: the size of a board.
    pub fn name(&self) -> String {
        match self {
            Subject::Board { goal, .. } => goal.size().to_string(),
            Subject::Puzzle(states) => states.definition().name().to_string(),
        }
    }

    /// Returns the goal in the puzzle's own words.
    pub fn goal(&self) -> String {
        match self {
            Subject::Board { goal, .. } => goal.to_string(),
            Subject::Puzzle(states) => {
                let definition = states.definition();
                definition.show(&definition.solved())
            }
        }
    }

    /// Returns the state at depth 0 in the puzzle's own words.
    pub fn start(&self) -> String {
        match self {
            Subject::Board { start, .. } => start.to_string(),
            Subject::Puzzle(states) => states.definition().show(states.start()),
        }
    }
}

impl PartialEq for Subject {
    fn eq(&self, other: &Subject) -> bool {
        match (self, other) {
            (
                Subject::Board { goal, start, metric },
                Subject::Board { goal: other_goal, start: other_start, metric: other_metric },
            ) => (goal, start, metric) == (other_goal, other_start, other_metric),
            (Subject::Puzzle(states), Subject::Puzzle(other)) => {
                states.definition() == other.definition() && states.start() == other.start()
            }
            _ => false,
        }
    }
}

impl Eq for Subject {}

impl fmt::Display for Subject {
    /// Writes the name, and the metric unless it is the usual one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        match self.metric().filter(|&m| m != Metric::Stm) {
            Some(metric) => write!(f, " {metric}"),
            None => Ok(()),
        }
    }
}

// States: as (line, cell) pairs, as single numbers, and in a puzzle's own words.

/// A state of a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// Number of the line: its rank among even permutations, 0 for the goal's; odd ones, where there are
    /// such, follow after all even ones.
    pub line: u64,
    /// Path index of the distinguished element, the blank of a board.
    pub cell: usize,
}

/// The state space of a puzzle: translates what people write to states and back.
///
/// ```
/// use tilewave::search::StateSpace;
/// use tilewave::puzzle::Board;
/// let space = StateSpace::new(Board::parse("1 2 3/4 5 6/7 8 0", None)?)?;
/// let state = space.state(&Board::parse("1 2 3/4 5 6/7 0 8", None)?)?;
/// assert_eq!((state.line, state.cell, space.id(state)), (0, 7, 7));
/// assert_eq!(space.text(state), "1 2 3/4 5 6/7 0 8");
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StateSpace {
    subject: Subject,
    /// The frame of a board's goal.
    frame: Option<Coordinates>,
    puzzle: Puzzle,
    states: u64,
}

impl StateSpace {
    /// Returns the state space of a goal, one tile a move.
    ///
    /// # Errors
    /// As [`StateSpace::of`].
    pub fn new(goal: Board) -> Result<StateSpace, Error> {
        StateSpace::of(Subject::board(goal))
    }

    /// Returns the state space of a subject.
    ///
    /// # Errors
    /// [`SearchError::TooLarge`] when a board has more than 20 cells: state ids no longer fit 64 bits.
    pub fn of(subject: Subject) -> Result<StateSpace, Error> {
        let (frame, puzzle, states) = match &subject {
            Subject::Board { goal, metric, .. } => {
                let size = goal.size();
                let states = size.states().ok_or(SearchError::TooLarge { size })?;
                let frame = Coordinates::new(goal.clone());
                let puzzle = frame.path().puzzle(*metric);
                (Some(frame), puzzle, states)
            }
            Subject::Puzzle(of) => {
                let order = of.definition().group_order();
                // 16! fits.
                let states = u64::try_from(order).unwrap_or(u64::MAX);
                (None, of.puzzle(), states)
            }
        };
        Ok(StateSpace { frame, puzzle, states, subject })
    }

    /// Returns the frame of a board's goal, `None` for other puzzles.
    pub fn frame(&self) -> Option<&Coordinates> {
        self.frame.as_ref()
    }

    /// Returns what is searched.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Returns the moves: cells and windows of the line.
    pub fn puzzle(&self) -> &Puzzle {
        &self.puzzle
    }

    /// Returns the length of a line.
    pub fn line_len(&self) -> usize {
        self.puzzle.line_len()
    }

    /// Returns the number of states that can be reached: N!/2 for a board of N cells, the order of the group of
    /// another puzzle.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// Returns how many lines are numbered: (N-1)!/2 of one parity, twice as many where moves change it.
    pub fn lines(&self) -> u64 {
        let parities = if self.puzzle.keeps_parity() { 1 } else { 2 };
        parities * lehmer::even_count(self.line_len())
    }

    /// Returns the state at depth 0.
    ///
    /// # Errors
    /// [`crate::puzzle::BoardError`] when it cannot reach the goal.
    pub fn start(&self) -> Result<State, Error> {
        match &self.subject {
            Subject::Board { start, .. } => self.state(start),
            Subject::Puzzle(states) => {
                let (line, cell) = states.encode(states.start());
                Ok(self.number(&line, cell))
            }
        }
    }

    /// Returns the state that a text gives in the puzzle's own words.
    ///
    /// # Errors
    /// [`crate::puzzle::BoardError`] and [`crate::puzzle::DefinitionError`]; an arrangement of another
    /// puzzle than a board is not looked at for whether it can be reached.
    pub fn parse(&self, text: &str) -> Result<State, Error> {
        match &self.subject {
            Subject::Board { goal, .. } => self.state(&Board::parse(text, Some(goal.size()))?),
            Subject::Puzzle(states) => {
                let arrangement = states.definition().arrangement(text)?;
                let (line, cell) = states.encode(&arrangement);
                Ok(self.number(&line, cell))
            }
        }
    }

    /// Returns the state of a board.
    ///
    /// # Errors
    /// [`crate::puzzle::BoardError`] when the board has another size or cannot reach the goal.
    ///
    /// # Panics
    /// When the space is not that of a board.
    pub fn state(&self, board: &Board) -> Result<State, Error> {
        let frame = self.frame().expect("the space is that of a board");
        let (line, cell) = frame.encode_solvable(board)?;
        let line: Vec<u8> = line.iter().map(|&x| x as u8).collect();
        Ok(self.number(&line, cell))
    }

    /// Returns the state of a line and a cell.
    pub fn number(&self, line: &[u8], cell: usize) -> State {
        let (parity, rank) = lehmer::rank_in_parity(line);
        let line = parity as u64 * lehmer::even_count(line.len()) + rank;
        State { line, cell }
    }

    /// Returns the line of a state.
    ///
    /// # Panics
    /// When the line is out of range.
    pub fn line(&self, state: State) -> Vec<u8> {
        let mut line = vec![0; self.line_len()];
        let (parity, rank) = self.parity(state);
        lehmer::unrank_in_parity(parity, rank, &mut line);
        line
    }

    /// Returns the parity of a state's line and its rank among the lines of that parity.
    pub fn parity(&self, state: State) -> (usize, u64) {
        let half = lehmer::even_count(self.line_len());
        ((state.line / half) as usize, state.line % half)
    }

    /// Returns the board of a state, `None` for other puzzles.
    ///
    /// # Panics
    /// When the line or the cell is out of range.
    pub fn board(&self, state: State) -> Option<Board> {
        let frame = self.frame()?;
        let line: Vec<u16> = self.line(state).into_iter().map(u16::from).collect();
        Some(frame.decode(&line, state.cell))
    }

    /// Returns a state in the puzzle's own words, which [`StateSpace::parse`] reads.
    ///
    /// # Panics
    /// When the line or the cell is out of range.
    pub fn text(&self, state: State) -> String {
        match &self.subject {
            Subject::Board { .. } => self.board(state).map_or(String::new(), |b| b.to_string()),
            Subject::Puzzle(states) => {
                let arrangement = states.decode(&self.line(state), state.cell);
                states.definition().show(&arrangement)
            }
        }
    }

    /// Returns the state id, line * N + cell.
    pub fn id(&self, state: State) -> u64 {
        state.line * self.puzzle.cells() as u64 + state.cell as u64
    }

    /// Returns the state of a state id, or `None` when there is none with this number.
    pub fn from_id(&self, id: u64) -> Option<State> {
        let cells = self.puzzle.cells() as u64;
        let state = State { line: id / cells, cell: (id % cells) as usize };
        (state.line < self.lines()).then_some(state)
    }
}

// States as rows of an array: the tiles of a board, row-major and 0 for the blank, or the elements of another
// puzzle, each the number of the position that it belongs to.
//
// Invariant: a row has the state that [`StateSpace::parse`] finds for it as text.

/// Translates rows to states and back.
///
/// ```
/// use tilewave::search::{StateRows, StateSpace};
/// use tilewave::{Goal, Size};
/// let space = StateSpace::new(Goal::Last.board(Size::new(3, 3)?)?)?;
/// let rows = StateRows::new(&space);
/// let boards = [1, 2, 3, 4, 5, 6, 7, 8, 0, 8, 6, 7, 2, 5, 4, 3, 0, 1];
/// let ids = rows.ids(&boards)?;
/// assert_eq!(ids[0], 8);
/// assert_eq!(rows.rows(&ids)?, boards);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StateRows {
    space: StateSpace,
    /// The places of the distinguished element by cell, and the cell of each.
    path: Vec<u8>,
    cell: Vec<u8>,
    /// For each cell the other places in the order of the line.
    orders: Vec<Vec<u8>>,
    /// The distinguished element, the element of each number of a line, and the number of each element.
    distinguished: u8,
    element: Vec<u8>,
    number: [u8; MAX_WIDTH + 1],
}

impl StateRows {
    /// Returns the rows of a state space. Cost: some microseconds.
    pub fn new(space: &StateSpace) -> StateRows {
        let narrow = |of: &[usize]| of.iter().map(|&x| x as u8).collect::<Vec<u8>>();
        let (path, orders, distinguished, element): (_, _, _, Vec<u8>) = match space.subject() {
            Subject::Board { goal, .. } => {
                let along = SnakePath::new(goal.size());
                let path: Vec<u8> = (0..goal.size().cells()).map(|i| along.cell(i) as u8).collect();
                let others = |&cell: &u8| path.iter().copied().filter(|&c| c != cell).collect();
                let orders = path.iter().map(others).collect();
                let tiles = path.iter().map(|&c| goal.tiles()[usize::from(c)] as u8);
                let element = tiles.filter(|&tile| tile != 0).collect();
                (path, orders, 0, element)
            }
            Subject::Puzzle(states) => {
                let (reading, start, home) = (states.reading(), states.start(), states.home());
                let cells = 0..reading.path().len();
                let orders = cells.map(|cell| narrow(reading.order(cell))).collect();
                let at_home = reading.order(home).iter();
                let element = at_home.map(|&position| start.images()[position]).collect();
                let distinguished = start.images()[reading.path()[home]];
                (narrow(reading.path()), orders, distinguished, element)
            }
        };
        let mut cell = vec![0; path.len()];
        for (i, &place) in path.iter().enumerate() {
            cell[usize::from(place)] = i as u8;
        }
        let mut number = [0; MAX_WIDTH + 1];
        for (i, &e) in element.iter().enumerate() {
            number[usize::from(e)] = i as u8;
        }
        StateRows { space: space.clone(), path, cell, orders, distinguished, element, number }
    }

    /// Returns the number of elements of a row.
    pub fn width(&self) -> usize {
        self.path.len()
    }

    /// Returns the line of a row and its cell.
    #[inline]
    pub(crate) fn line(&self, row: &[u16]) -> Result<([u8; lehmer::MAX_LEN], usize), Error> {
        let mut place = [0; MAX_WIDTH + 1];
        if row.len() != self.width() || !notation::place(row, &mut place) {
            return Err(self.wrong(row));
        }
        let cell = self.cell[usize::from(place[usize::from(self.distinguished)])];
        let mut line = [0; lehmer::MAX_LEN];
        let order = &self.orders[usize::from(cell)];
        for (to, &position) in line.iter_mut().zip(order) {
            *to = self.number[usize::from(row[usize::from(position)]) & MAX_WIDTH];
        }
        Ok((line, cell.into()))
    }

    /// Returns the state of a row, none when its line has no number: no moves lead there.
    #[inline]
    pub(crate) fn state(&self, row: &[u16]) -> Result<Option<State>, Error> {
        let (line, cell) = self.line(row)?;
        let state = self.space.number(&line[..self.width() - 1], cell);
        Ok((state.line < self.space.lines()).then_some(state))
    }

    /// What is wrong with a row that is no board or arrangement.
    fn wrong(&self, row: &[u16]) -> Error {
        match self.space.subject().size() {
            Some(size) => notation::no_board(size, row),
            None if row.len() != self.width() => DefinitionError::StateLength {
                puzzle: self.space.subject().name(),
                found: row.len(),
                expected: self.width(),
            }
            .into(),
            None => notation::no_arrangement(row),
        }
    }

    /// Checks that an array holds whole rows.
    pub(crate) fn whole(&self, numbers: &[u16]) -> Result<(), Error> {
        let width = self.width();
        match numbers.len() % width {
            0 => Ok(()),
            rest => Err(Error::Row {
                row: numbers.len() / width,
                reason: Box::new(self.wrong(&numbers[numbers.len() - rest..])),
            }),
        }
    }

    /// Returns the state ids of many rows. Cost: some 30 ns per row and core, on all threads of the current pool.
    ///
    /// # Errors
    /// [`Error::Row`] names the first row that is no board or arrangement, or that no moves lead to: of other
    /// puzzles than boards, only what the parity tells is looked at.
    pub fn ids(&self, numbers: &[u16]) -> Result<Vec<u64>, Error> {
        self.whole(numbers)?;
        let width = self.width();
        notation::each_row(numbers, width, 1, |numbers, ids| {
            for (i, (row, id)) in numbers.chunks_exact(width).zip(ids).enumerate() {
                let state = self.state(row).map_err(|error| (i, error))?;
                let state = state.ok_or_else(|| (i, self.unreachable(row)));
                *id = self.space.id(state?);
            }
            Ok(())
        })
    }

    fn unreachable(&self, row: &[u16]) -> Error {
        let puzzle = || self.space.subject().name();
        let refused = match self.space.subject().size() {
            Some(size) => {
                let board = Board::new(size, row).map_err(Error::from);
                board.and_then(|board| self.space.state(&board)).err()
            }
            None => None,
        };
        refused.unwrap_or_else(|| DefinitionError::Unreachable { puzzle: puzzle() }.into())
    }

    /// Returns the rows of many state ids, the inverse of [`StateRows::ids`]. Cost: some 100 ns per row and core, on
    /// all threads of the current pool.
    ///
    /// # Errors
    /// [`Error::Row`] names the first id that no state has.
    pub fn rows(&self, ids: &[u64]) -> Result<Vec<u16>, Error> {
        let width = self.width();
        notation::each_row(ids, 1, width, |ids, numbers| {
            for (i, (&id, row)) in ids.iter().zip(numbers.chunks_exact_mut(width)).enumerate() {
                self.write(id, row).map_err(|error| (i, error))?;
            }
            Ok(())
        })
    }

    fn write(&self, id: u64, row: &mut [u16]) -> Result<(), Error> {
        let ids = self.space.lines() * self.width() as u64;
        let state = self.space.from_id(id);
        let state = state.ok_or_else(|| DefinitionError::NoState {
            puzzle: self.space.subject().name(),
            id,
            ids,
        })?;
        let line = self.space.line(state);
        row[usize::from(self.path[state.cell])] = self.distinguished.into();
        for (&position, number) in self.orders[state.cell].iter().zip(line) {
            row[usize::from(position)] = self.element[usize::from(number)].into();
        }
        Ok(())
    }

    /// Returns the row of the state at depth 0 of a search from the goal: the goal itself.
    pub fn goal(&self) -> Vec<u16> {
        match self.space.subject() {
            Subject::Board { goal, .. } => goal.tiles().to_vec(),
            Subject::Puzzle(_) => (0..self.width() as u16).collect(),
        }
    }

    /// Returns the arrangements after each generator of a puzzle other than a board, in the order of the
    /// definition, of many arrangements. Cost: some nanoseconds per generator and row.
    ///
    /// # Errors
    /// [`Error::Row`] names the first row that is no arrangement. Boards have [`crate::puzzle::neighbours`].
    pub fn after_generators(&self, numbers: &[u16]) -> Result<Vec<u16>, Error> {
        self.whole(numbers)?;
        let definition = self.space.subject().definition();
        let generators = definition.map_or(&[][..], |of| of.generators());
        let sources: Vec<Permutation> =
            generators.iter().map(|generator| generator.permutation.inverse()).collect();
        let width = self.width();
        let per_row = width * sources.len();
        let write = |row: &[u16], after: &mut [u16]| -> Result<(), Error> {
            if !notation::place(row, &mut [0; MAX_WIDTH + 1]) {
                return Err(self.wrong(row));
            }
            for (after, source) in after.chunks_exact_mut(width).zip(&sources) {
                for (to, &from) in after.iter_mut().zip(source.images()) {
                    *to = row[usize::from(from)];
                }
            }
            Ok(())
        };
        notation::each_row(numbers, width, per_row, |numbers, after| {
            let pairs = numbers.chunks_exact(width);
            let pairs = pairs.zip(after.chunks_exact_mut(per_row.max(1)));
            for (i, (row, after)) in pairs.enumerate() {
                write(row, after).map_err(|error| -> RowFault { (i, error) })?;
            }
            Ok(())
        })
    }
}
