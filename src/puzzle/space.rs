//! The object of a search: a puzzle, its moves, the state at depth 0, and the numbers of the states.
//!
//! Everything above this level takes a [`StateSpace`] and need not know what kind of puzzle it is. The line of a state
//! is given by its rank among the permutations of its elements.
//!
//! Invariant: [`StateSpace::text`] is the inverse of [`StateSpace::parse`], and [`StateSpace::rows`] that of
//! [`StateSpace::ids`]; a row represents the same state as its text. The line of a board's goal, and of another
//! puzzle's start, is 0, 1, 2, ..

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    Error,
    perm::{MAX_LEN, lehmer},
    puzzle::{
        Board, Coordinates, Metric, MoveGraph, Permutation, PositionOrder, Puzzle, PuzzleError,
        Size, SnakePath, error::wrong, group::orbits,
    },
};

/// A state of a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// Number of the line: its rank among the even permutations, 0 for that of the goal. Odd ones, if they occur,
    /// follow all even ones.
    pub line: u64,
    /// Path index of the distinguished element (the blank of a board).
    pub cell: usize,
}

impl State {
    /// The state with a line and a cell.
    pub(super) fn of(line: &[u8], cell: usize) -> State {
        let (parity, rank) = lehmer::rank_in_parity(line);
        State { line: parity as u64 * lehmer::even_count(line.len()) + rank, cell }
    }
}

/// A puzzle in the form in which it is searched. A clone costs a reference count.
///
/// ```
/// use tilewave::puzzle::{Board, Metric, StateSpace, families};
/// let space = StateSpace::of_board(Board::parse("1 2 3/4 5 6/7 8 0", None)?);
/// let state = space.parse("1 2 3/4 5 6/7 0 8")?;
/// assert_eq!((state.line, state.cell, space.id(state)), (0, 7, 7));
/// assert_eq!(space.text(state), "1 2 3/4 5 6/7 0 8");
/// assert_eq!(space.ids(&[1, 2, 3, 4, 5, 6, 7, 0, 8])?, [7]);
/// assert_eq!(space.in_metric(Metric::Mtm).to_string(), "3x3 mtm");
/// let space = StateSpace::of_puzzle(families::parse("pancake:4")?);
/// assert_eq!((space.name(), space.states()), ("pancake:4".into(), Some(24)));
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// Two spaces are equal if they have the same puzzle, moves and start. Methods panic if a line or a cell is not one of
/// their puzzle.
#[derive(Clone, Debug)]
pub struct StateSpace(Arc<SpaceParts>);

#[derive(Clone, Debug)]
struct SpaceParts {
    kind: PuzzleKind,
    /// `None` if the number of states exceeds 64 bits: boards of more than 20 cells.
    numbering: Option<Numbering>,
}

#[derive(Clone, Debug)]
enum PuzzleKind {
    /// The goal numbers the tiles.
    Board { goal: Board, start: Board, metric: Metric },
    /// Every generator is one move; the start numbers the elements.
    Permutations { puzzle: Box<Puzzle>, order: PositionOrder, start: Permutation },
}

/// How arrangements are represented as (line, cell), and the moves in this representation.
#[derive(Clone, Debug)]
struct Numbering {
    /// The number of states.
    states: u64,
    /// Whether all arrangements are even, if moves keep this parity but not that of lines.
    kept_parity: Option<bool>,
    moves: MoveGraph,
    order: PositionOrder,
    /// The cell of each place of the distinguished element.
    cell: Vec<u8>,
    /// The distinguished element, the element of each number of a line, and the number of each element.
    distinguished: u8,
    element: Vec<u8>,
    number: [u8; MAX_WIDTH + 1],
}

impl Numbering {
    /// `at_home` gives the element at each place in the state whose line is 0, 1, 2, .. and whose distinguished element
    /// is in cell `home`.
    fn new(
        states: u64,
        moves: MoveGraph,
        order: PositionOrder,
        at_home: &[u8],
        home: usize,
    ) -> Numbering {
        let mut cell = vec![0; order.path().len()];
        for (i, &place) in order.path().iter().enumerate() {
            cell[place] = i as u8;
        }
        let element: Vec<u8> = order.order(home).iter().map(|&place| at_home[place]).collect();
        let mut number = [0; MAX_WIDTH + 1];
        for (i, &e) in element.iter().enumerate() {
            number[usize::from(e)] = i as u8;
        }
        let distinguished = at_home[order.path()[home]];
        let kept_parity = None;
        Numbering { states, kept_parity, moves, order, cell, distinguished, element, number }
    }

    fn of_board(goal: &Board, metric: Metric) -> Option<Numbering> {
        let size = goal.size();
        let states = size.states()?;
        let along = SnakePath::new(size);
        let path: Vec<usize> = (0..size.cells()).map(|i| along.cell(i)).collect();
        let order = PositionOrder::new(&path, &[]);
        let tiles: Vec<u8> = goal.tiles().iter().map(|&tile| tile as u8).collect();
        let home = along.index(goal.blank());
        Some(Numbering::new(states, along.puzzle(metric), order, &tiles, home))
    }

    /// The line of a row and its cell; `None` if an element is missing.
    #[inline(always)]
    fn line(&self, row: &[u16]) -> Option<([u8; MAX_LEN], usize)> {
        let mut places = [0; MAX_WIDTH + 1];
        if row.len() != self.cell.len() || !place(row, &mut places) {
            return None;
        }
        let cell = self.cell[usize::from(places[usize::from(self.distinguished)])];
        let mut line = [0; MAX_LEN];
        for (to, &position) in line.iter_mut().zip(self.order.order(cell.into())) {
            *to = self.number[usize::from(row[position]) & MAX_WIDTH];
        }
        Some((line, cell.into()))
    }

    /// Writes the row of a line and a cell.
    fn write(&self, line: &[u8], cell: usize, row: &mut [u16]) {
        row[self.order.path()[cell]] = self.distinguished.into();
        for (&position, &number) in self.order.order(cell).iter().zip(line) {
            row[position] = self.element[usize::from(number)].into();
        }
    }
}

/// Maximum number of elements of a row that [`place`] accepts.
pub(crate) const MAX_WIDTH: usize = 63;

/// Writes the place of each number, and returns whether each of `0..row.len()` occurs exactly once. At most
/// [`MAX_WIDTH`] numbers.
#[inline(always)]
pub(crate) fn place(row: &[u16], place: &mut [u8; MAX_WIDTH + 1]) -> bool {
    let (mut seen, mut beyond) = (0u64, 0);
    for (i, &number) in row.iter().enumerate() {
        let low = usize::from(number) & MAX_WIDTH;
        beyond |= usize::from(number) ^ low;
        seen |= 1 << low;
        place[low] = i as u8;
    }
    // There are as many numbers as bits, so none occurs twice.
    beyond == 0 && seen == (1 << row.len()) - 1
}

/// The row of an arrangement.
fn elements(arrangement: &Permutation) -> Vec<u16> {
    arrangement.images().iter().map(|&element| u16::from(element)).collect()
}

/// The arrangement of a row.
fn arrangement(row: &[u16]) -> Permutation {
    Permutation::from_fn(row.len(), |place| row[place].into())
}

/// The cell of the distinguished element of the start. In a puzzle with several orbits, the largest orbit has the most
/// cells per line.
fn home(puzzle: &Puzzle, order: &PositionOrder) -> usize {
    let orbits = orbits(puzzle.labels().len(), &puzzle.permutations());
    let largest = orbits.iter().rev().max_by_key(|orbit| orbit.len());
    let within = |position: &usize| largest.is_none_or(|orbit| orbit.contains(position));
    order.path().iter().rposition(within).expect("orbits are positions")
}

impl StateSpace {
    fn new(kind: PuzzleKind) -> StateSpace {
        let numbering = match &kind {
            PuzzleKind::Board { goal, metric, .. } => Numbering::of_board(goal, *metric),
            PuzzleKind::Permutations { puzzle, order, start } => {
                let states = u64::try_from(puzzle.group_order()).expect("16! fits");
                let permutations = puzzle.permutations();
                let moves = order.puzzle(&permutations, puzzle.is_directed());
                let home = home(puzzle, order);
                let is_kept = permutations.iter().all(Permutation::is_even);
                let kept = (is_kept && !moves.keeps_parity()).then(|| start.is_even());
                let new = Numbering::new(states, moves, order.clone(), start.images(), home);
                Some(Numbering { kept_parity: kept, ..new })
            }
        };
        StateSpace(Arc::new(SpaceParts { kind, numbering }))
    }

    /// Returns the space of all boards that can reach a goal, searched from the goal, in the single-tile metric.
    pub fn of_board(goal: Board) -> StateSpace {
        StateSpace::new(PuzzleKind::Board { start: goal.clone(), goal, metric: Metric::Stm })
    }

    /// Returns the space of a puzzle's states, searched from the solved state. Cost: at most a tenth of a second, to
    /// choose the order in which positions are read.
    ///
    /// # Panics
    /// If the puzzle is not one of permutations.
    pub fn of_puzzle(puzzle: Puzzle) -> StateSpace {
        let order = PositionOrder::choose(puzzle.labels().len(), &puzzle.permutations());
        StateSpace::ordered_by(puzzle, order)
    }

    /// Returns the space of a puzzle's states with a given order in which positions are read.
    ///
    /// # Panics
    /// If the puzzle is not one of permutations, or the order has a different number of positions.
    pub fn ordered_by(puzzle: Puzzle, order: PositionOrder) -> StateSpace {
        assert_eq!(order.path().len(), puzzle.labels().len(), "an order of this puzzle");
        let start = Permutation::identity(puzzle.labels().len());
        StateSpace::new(PuzzleKind::Permutations { puzzle: Box::new(puzzle), order, start })
    }

    /// Returns the same space of a board, searched from a different board; spaces of other puzzles are unchanged.
    pub fn from_board(self, board: Board) -> StateSpace {
        let mut space = Arc::unwrap_or_clone(self.0);
        if let PuzzleKind::Board { start, .. } = &mut space.kind {
            *start = board;
        }
        StateSpace(Arc::new(space))
    }

    /// Returns the same space, searched from the goal, or from the solved state if the puzzle is not a board.
    pub fn from_goal(self) -> StateSpace {
        let goal = self.goal_text();
        self.starting_at(&goal).expect("the text of a goal is read back")
    }

    /// Returns the same space of a board in a different metric. Other puzzles are unchanged: their moves are the
    /// generators.
    pub fn in_metric(self, metric: Metric) -> StateSpace {
        let PuzzleKind::Board { goal, start, .. } = &self.0.kind else { return self };
        let (goal, start) = (goal.clone(), start.clone());
        StateSpace::new(PuzzleKind::Board { goal, start, metric })
    }

    /// Returns the same space, searched from a state in the puzzle's notation: a board, or the text that
    /// [`Puzzle::show`] prints.
    pub fn starting_at(self, text: &str) -> Result<StateSpace, Error> {
        match &self.0.kind {
            PuzzleKind::Board { goal, .. } => {
                let board = Board::parse(text, Some(goal.size()))?;
                Ok(self.from_board(board))
            }
            PuzzleKind::Permutations { puzzle, order, .. } => {
                let start = puzzle.arrangement(text)?;
                let (puzzle, order) = (puzzle.clone(), order.clone());
                Ok(StateSpace::new(PuzzleKind::Permutations { puzzle, order, start }))
            }
        }
    }

    /// Returns the goal and the start of a board, or `None` for other puzzles.
    pub fn boards(&self) -> Option<(&Board, &Board)> {
        let PuzzleKind::Board { goal, start, .. } = &self.0.kind else { return None };
        Some((goal, start))
    }

    /// Returns the size of a board, or `None` for other puzzles.
    pub fn size(&self) -> Option<Size> {
        self.boards().map(|(goal, _)| goal.size())
    }

    /// Returns the metric of a board, or `None` for other puzzles, whose moves are the generators.
    pub fn metric(&self) -> Option<Metric> {
        let PuzzleKind::Board { metric, .. } = self.0.kind else { return None };
        Some(metric)
    }

    /// Returns the puzzle, or `None` for a board.
    pub fn puzzle(&self) -> Option<&Puzzle> {
        let PuzzleKind::Permutations { puzzle, .. } = &self.0.kind else { return None };
        Some(puzzle)
    }

    /// Returns the order in which the positions of a puzzle are read, or `None` for a board.
    pub fn order(&self) -> Option<&PositionOrder> {
        let PuzzleKind::Permutations { order, .. } = &self.0.kind else { return None };
        Some(order)
    }

    /// Returns whether distances depend on the direction.
    pub fn is_directed(&self) -> bool {
        self.0.numbering.as_ref().is_some_and(|numbering| numbering.moves.is_directed())
    }

    /// Returns the number of reachable states: N!/2 for a board of N cells, the order of the group for another puzzle;
    /// `None` for boards of more than 20 cells, where it exceeds 64 bits.
    pub fn states(&self) -> Option<u64> {
        self.0.numbering.as_ref().map(|numbering| numbering.states)
    }

    /// Returns the name of the puzzle; for a board, its size.
    pub fn name(&self) -> String {
        match &self.0.kind {
            PuzzleKind::Board { goal, .. } => goal.size().to_string(),
            PuzzleKind::Permutations { puzzle, .. } => puzzle.name().to_string(),
        }
    }

    /// Returns the word for one state: `board`, or `state` for other puzzles.
    pub fn noun(&self) -> &'static str {
        self.boards().map_or("state", |_| "board")
    }

    /// Returns the goal in the puzzle's notation.
    pub fn goal_text(&self) -> String {
        match &self.0.kind {
            PuzzleKind::Board { goal, .. } => goal.to_string(),
            PuzzleKind::Permutations { puzzle, .. } => {
                puzzle.show(&Permutation::identity(puzzle.labels().len()))
            }
        }
    }

    /// Returns the puzzle of permutations with its start, or `None` for boards.
    pub(super) fn arranged_start(&self) -> Option<(&Puzzle, &Permutation)> {
        let PuzzleKind::Permutations { puzzle, start, .. } = &self.0.kind else { return None };
        Some((puzzle, start))
    }

    /// Returns the state at depth 0 in the puzzle's notation.
    pub fn start_text(&self) -> String {
        match &self.0.kind {
            PuzzleKind::Board { start, .. } => start.to_string(),
            PuzzleKind::Permutations { puzzle, start, .. } => puzzle.show(start),
        }
    }

    /// Returns a value that is equal for two spaces if their states look the same from depth 0: size, cell of the blank
    /// and metric for boards, or else [`Puzzle::fingerprint`].
    pub(crate) fn distribution_key(&self) -> DistributionKey {
        match &self.0.kind {
            PuzzleKind::Board { start, metric, .. } => {
                DistributionKey::Board(start.size(), start.blank(), *metric)
            }
            PuzzleKind::Permutations { puzzle, .. } => {
                DistributionKey::Puzzle(puzzle.fingerprint())
            }
        }
    }
}

/// The properties on which a depth distribution depends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DistributionKey {
    /// A board, by size, row-major cell of the blank at depth 0, and metric.
    Board(Size, usize, Metric),
    /// A puzzle, by [`Puzzle::fingerprint`]: Cayley graphs look the same from every state.
    Puzzle(u64),
    /// A puzzle for list searches, by [`Puzzle::to_json`].
    Listed(String),
}

impl PartialEq for StateSpace {
    fn eq(&self, other: &StateSpace) -> bool {
        // The order of the positions does not matter.
        let moves =
            |of: &StateSpace| of.puzzle().map(|of| (of.labels().to_vec(), of.moves().to_vec()));
        (self.boards(), self.metric()) == (other.boards(), other.metric())
            && moves(self) == moves(other)
            && self.start_text() == other.start_text()
    }
}

impl Eq for StateSpace {}

impl fmt::Display for StateSpace {
    /// Writes the name, followed by the metric if it is not the usual one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        match self.metric().filter(|&m| m != Metric::Stm) {
            Some(metric) => write!(f, " {metric}"),
            None => Ok(()),
        }
    }
}

// Methods that take a state panic if states are not numbered, since no such state exists; methods that return one fail
// with the error of [`StateSpace::numbered`].

impl StateSpace {
    fn numbering(&self) -> &Numbering {
        self.0.numbering.as_ref().expect("the states have numbers")
    }

    /// Checks that state numbers fit in 64 bits.
    ///
    /// # Errors
    /// A [`PuzzleError`] for boards of more than 20 cells.
    pub fn numbered(&self) -> Result<(), PuzzleError> {
        match (&self.0.numbering, self.size()) {
            (None, Some(size)) => {
                Err(wrong!(Range: "board {size} has {} cells, but only boards of \
                at most 20 cells have numbered states: choose a smaller board", size.cells()))
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of reachable states, for spaces with numbered states.
    pub(crate) fn numbered_states(&self) -> u64 {
        self.numbering().states
    }

    /// Returns the moves: cells, and windows of the line.
    pub fn moves(&self) -> &MoveGraph {
        &self.numbering().moves
    }

    /// Returns the length of a line.
    pub fn line_len(&self) -> usize {
        self.moves().line_len()
    }

    /// Returns the number of numbered lines: (N-1)!/2 of one parity, or twice that if moves change the parity.
    pub fn lines(&self) -> u64 {
        let parities = if self.moves().keeps_parity() { 1 } else { 2 };
        parities * lehmer::even_count(self.line_len())
    }

    /// Returns the state at depth 0.
    ///
    /// # Errors
    /// [`PuzzleError`] if it cannot reach the goal, or if the states are not numbered.
    pub fn start(&self) -> Result<State, Error> {
        match &self.0.kind {
            PuzzleKind::Board { start, .. } => self.state(start),
            PuzzleKind::Permutations { start, .. } => Ok(self.arranged(start)),
        }
    }

    /// Returns the state from a text in the puzzle's notation.
    pub fn parse(&self, text: &str) -> Result<State, Error> {
        match &self.0.kind {
            PuzzleKind::Board { goal, .. } => self.state(&Board::parse(text, Some(goal.size()))?),
            PuzzleKind::Permutations { puzzle, .. } => {
                Ok(self.arranged(&puzzle.arrangement(text)?))
            }
        }
    }

    /// Returns the state of a board.
    ///
    /// # Errors
    /// [`PuzzleError`] if the board has the wrong size or cannot reach the goal, or if the states are not numbered.
    ///
    /// # Panics
    /// If this is not the space of a board.
    pub fn state(&self, board: &Board) -> Result<State, Error> {
        self.numbered()?;
        let (goal, _) = self.boards().expect("the space is that of a board");
        let line = self.numbering().line(board.tiles()).filter(|_| board.size() == goal.size());
        let state = line.map(|(line, cell)| self.number(&line[..self.line_len()], cell));
        if let Some(state) = state.filter(|state| state.line < self.lines()) {
            return Ok(state);
        }
        let refused = Coordinates::new(goal.clone()).encode_solvable(board);
        Err(refused.expect_err("a board of the goal's size and parity has a state").into())
    }

    /// Whether all arrangements are even, if that does not follow from the parity of their lines.
    pub(super) fn kept_parity(&self) -> Option<bool> {
        self.numbering().kept_parity
    }

    fn arranged(&self, arrangement: &Permutation) -> State {
        let (line, cell) =
            self.numbering().line(&elements(arrangement)).expect("an arrangement of this puzzle");
        self.number(&line[..self.line_len()], cell)
    }

    /// Returns the state with a line and a cell.
    pub fn number(&self, line: &[u8], cell: usize) -> State {
        State::of(line, cell)
    }

    /// Returns the line of a state.
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

    /// Returns the number of elements of a row.
    pub fn width(&self) -> usize {
        self.size().map_or_else(|| self.numbering().cell.len(), Size::cells)
    }

    /// Returns the line of a row of elements and its cell; `None` if the row does not contain every element once.
    #[inline(always)]
    pub(super) fn line_of_row(&self, row: &[u16]) -> Option<([u8; MAX_LEN], usize)> {
        self.numbering().line(row)
    }

    /// Writes the elements of a state.
    pub(super) fn write_row(&self, state: State, row: &mut [u16]) {
        self.numbering().write(&self.line(state), state.cell, row);
    }

    fn row(&self, state: State) -> Vec<u16> {
        let mut row = vec![0; self.width()];
        self.write_row(state, &mut row);
        row
    }

    /// Returns the board of a state, or `None` for other puzzles.
    pub fn board(&self, state: State) -> Option<Board> {
        let board = Board::new(self.size()?, &self.row(state));
        Some(board.expect("a line is a permutation of the tiles"))
    }

    /// Returns a state in the puzzle's notation, which [`StateSpace::parse`] reads.
    pub fn text(&self, state: State) -> String {
        match &self.0.kind {
            PuzzleKind::Board { .. } => self.board(state).map_or(String::new(), |b| b.to_string()),
            PuzzleKind::Permutations { puzzle, .. } => puzzle.show(&arrangement(&self.row(state))),
        }
    }

    /// Returns the row of a text in the puzzle's own notation; a board need not be able to reach the goal.
    pub fn row_of_text(&self, text: &str) -> Result<Vec<u16>, Error> {
        match &self.0.kind {
            PuzzleKind::Board { goal, .. } => {
                Ok(Board::parse(text, Some(goal.size()))?.tiles().to_vec())
            }
            PuzzleKind::Permutations { puzzle, .. } => Ok(elements(&puzzle.arrangement(text)?)),
        }
    }

    /// Returns whether moves lead from the solved state to a state. Cost: less than a millisecond.
    pub fn reaches(&self, state: State) -> bool {
        let to = || arrangement(&self.row(state));
        state.line < self.lines() && self.puzzle().is_none_or(|of| of.group().contains(&to()))
    }

    /// Returns the state id, line * N + cell.
    pub fn id(&self, state: State) -> u64 {
        state.line * self.moves().cells() as u64 + state.cell as u64
    }

    /// Returns the state with a state id, or `None` if no state has this id.
    pub fn from_id(&self, id: u64) -> Option<State> {
        let cells = self.moves().cells() as u64;
        let state = State { line: id / cells, cell: (id % cells) as usize };
        (state.line < self.lines()).then_some(state)
    }
}

// Puzzles other than boards in files of this program: everything that a reader needs, as JSON.
//
// Invariant: the puzzle that is read numbers its states in the same way as the one that was written.

#[derive(Serialize, Deserialize)]
struct PuzzleText {
    name: String,
    labels: Vec<usize>,
    generators: Vec<MoveText>,
    path: Vec<usize>,
    orders: Vec<Vec<usize>>,
    home: usize,
}

#[derive(Serialize, Deserialize)]
struct MoveText {
    name: String,
    images: Vec<usize>,
}

impl StateSpace {
    /// Returns a puzzle, except for its start, as text; `None` for boards, which are determined by their goal and
    /// metric.
    pub fn puzzle_text(&self) -> Option<String> {
        let PuzzleKind::Permutations { puzzle, order, .. } = &self.0.kind else {
            return None;
        };
        let moves = puzzle.moves().iter().zip(puzzle.permutations());
        let generators = moves.map(|(one, permutation)| MoveText {
            name: one.name.clone(),
            images: permutation.images().iter().map(|&image| image.into()).collect(),
        });
        let text = PuzzleText {
            name: puzzle.name().into(),
            labels: puzzle.labels().to_vec(),
            generators: generators.collect(),
            path: order.path().to_vec(),
            orders: (0..order.path().len()).map(|cell| order.order(cell).to_vec()).collect(),
            home: home(puzzle, order),
        };
        Some(serde_json::to_string(&text).expect("numbers and names are JSON"))
    }

    /// Returns the space of a puzzle from text, or `None` if it is not text that [`StateSpace::puzzle_text`] writes.
    pub fn from_puzzle_text(written: &str) -> Option<StateSpace> {
        let text: PuzzleText = serde_json::from_str(written).ok()?;
        let generator = |of: MoveText| Some((of.name, Permutation::new(&of.images).ok()?));
        let generators = text.generators.into_iter().map(generator).collect::<Option<_>>()?;
        let positions = text.labels.len();
        let puzzle = Puzzle::of_permutations(text.name, positions, generators).ok()?;
        let puzzle = puzzle.labelled(&text.labels).ok()?;
        let order = PositionOrder::from_orders(text.path, text.orders)?;
        if order.path().len() != positions {
            return None;
        }
        let space = StateSpace::ordered_by(puzzle, order);
        (space.puzzle_text()? == written).then_some(space)
    }

    /// Returns whether both have the same moves, elements and order of positions, whatever their names: if so, they
    /// number their states in the same way.
    pub fn is_renamed(&self, other: &StateSpace) -> bool {
        let moves = |of: &StateSpace| {
            let puzzle = of.puzzle()?;
            Some((puzzle.permutations(), puzzle.labels().to_vec(), of.order().cloned()))
        };
        moves(self).is_some_and(|own| moves(other) == Some(own))
    }
}
