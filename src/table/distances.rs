//! A table in memory or in a file, and what it answers.
//!
//! Invariant: an answer rests on entries whose sums were checked.

use std::path::Path;

use std::sync::Arc;

use super::error::TableError;
use super::header::{Header, Puzzle};
use super::shape::MAX_DEPTH;
use super::ways::{Position, Step, Way, Ways};
use super::{Encoding, shape::Shape};
use crate::Error;
use crate::bfs::{State, StateRows, StateSpace, Subject};
use crate::progress::{NoProgress, Progress};
use crate::puzzle::tiles::{Board, Metric, Moves};
use crate::puzzle::{DefinitionError, States};
use crate::store::{Container, Header as _, Image, Problem};

/// The depth of every state of a puzzle.
///
/// ```
/// use tilewave::bfs::Search;
/// use tilewave::progress::NoProgress;
/// use tilewave::puzzle::tiles::{Board, Goal, Size};
/// use tilewave::table::{Encoding, build};
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let table = build(&Search::new(goal), Encoding::Mod3, &NoProgress)?;
/// let board = Board::parse("8 6 7/2 5 4/3 0 1", None)?;
/// assert_eq!(table.depth(&board)?, Some(31));
/// assert_eq!(table.solve(&board)?.map(|moves| moves.len()), Some(31));
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Debug)]
pub struct DistanceTable {
    file: Container<Header>,
    shape: Shape,
    space: StateSpace,
    rows: StateRows,
    ways: Ways,
    /// The cell of the goal.
    home: usize,
}

impl DistanceTable {
    /// Opens a table file, of which only the entries asked for are read and checked, 1 MiB around each.
    /// Cost: constant.
    ///
    /// # Errors
    /// [`TableError::File`] when the file cannot be read, is no table, is of another version, too short or
    /// too long, or damaged in its header.
    pub fn open(path: &Path) -> Result<DistanceTable, Error> {
        DistanceTable::new(Container::open(path).map_err(TableError::from)?)
    }

    /// Reads a table file into memory, on huge pages where the system has them, and checks all of it: for more than
    /// a few look-ups. Cost: the file's size in memory, and about 0.3 ns per byte on two cores while the system has
    /// the file in memory.
    ///
    /// # Errors
    /// As [`DistanceTable::open`], and [`TableError::File`] when a block is damaged or less memory is free.
    pub fn load(path: &Path) -> Result<DistanceTable, Error> {
        DistanceTable::load_with(path, &NoProgress)
    }

    /// Reads a table file as [`DistanceTable::load`] does, which `observer` may stop.
    ///
    /// # Errors
    /// As [`DistanceTable::load`], and [`TableError::Interrupted`].
    pub fn load_with(path: &Path, observer: &dyn Progress) -> Result<DistanceTable, Error> {
        let file: Container<Header> = Container::open(path).map_err(TableError::from)?;
        let loaded = file.load(|_| match observer.interrupted() {
            true => Err(TableError::Interrupted),
            false => Ok(()),
        });
        DistanceTable::new(loaded?)
    }

    /// Returns the table of the bytes of a file, all of them checked. Cost: a copy.
    ///
    /// # Errors
    /// As [`DistanceTable::open`].
    pub fn from_bytes(bytes: &[u8]) -> Result<DistanceTable, Error> {
        let table = DistanceTable::from_image(Image::of(bytes)?)?;
        table.check()?;
        Ok(table)
    }

    /// Returns the table of a file that is in memory or mapped ([`crate::store::Mapped`]). Its header is
    /// checked, its entries are not: call [`DistanceTable::check`].
    ///
    /// # Errors
    /// As [`DistanceTable::open`].
    pub fn from_image(image: Image) -> Result<DistanceTable, Error> {
        DistanceTable::new(Container::from_image(image).map_err(TableError::from)?)
    }

    fn new(file: Container<Header>) -> Result<DistanceTable, Error> {
        let header = file.header();
        let subject = match &header.puzzle {
            Puzzle::Board(goal, metric) => Subject::board(goal.clone()).in_metric(*metric),
            Puzzle::Defined { fingerprint, .. } => {
                let states = States::from_text(file.index());
                let same = |of: &u64| of == fingerprint;
                let states = states.filter(|of| same(&of.definition().fingerprint()));
                let states = states.ok_or_else(|| wrong(&file))?;
                Subject::Puzzle(Arc::new(states))
            }
        };
        let space = StateSpace::of(subject)?;
        let shape = header.shape();
        let shaped = (space.puzzle().cells(), space.lines()) == (shape.cells, shape.lines);
        if !shaped || space.subject().is_directed() {
            return Err(wrong(&file).into());
        }
        Ok(DistanceTable {
            ways: Ways::new(&space),
            home: space.start()?.cell,
            rows: StateRows::new(&space),
            shape,
            file,
            space,
        })
    }

    /// Finishes a table in memory whose entries are set.
    pub(super) fn finish(image: Image, header: Header) -> Result<DistanceTable, Error> {
        DistanceTable::new(Container::finish(image, header))
    }

    /// Returns the puzzle, which is searched from its goal.
    pub fn subject(&self) -> &Subject {
        self.space.subject()
    }

    /// Returns the states, by which entries are found.
    pub fn space(&self) -> &StateSpace {
        &self.space
    }

    /// Returns the goal of a board.
    ///
    /// # Errors
    /// [`TableError::NoBoard`] when the table is one of another puzzle.
    pub fn goal(&self) -> Result<&Board, TableError> {
        let boards = self.subject().boards();
        let puzzle = || self.subject().name();
        let goal = boards.ok_or_else(|| TableError::NoBoard { puzzle: puzzle() });
        Ok(goal?.0)
    }

    /// Returns the encoding.
    pub fn encoding(&self) -> Encoding {
        self.file.header().encoding
    }

    /// Returns the number of states of each depth.
    pub fn histogram(&self) -> &[u64] {
        &self.file.header().histogram
    }

    /// Returns the checksum of the entries.
    pub fn checksum(&self) -> u64 {
        self.file.header().checksum
    }

    /// Returns the bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.file.layout().data.end()
    }

    /// Where the entry of a state lies in memory, to be asked for; nowhere when entries are read from a file.
    pub(super) fn address(&self, state: State) -> *const u8 {
        let place = self.shape.place(state) as usize;
        self.file.data().as_ptr().wrapping_add(place)
    }

    /// Returns the states as rows of an array.
    pub fn rows(&self) -> &StateRows {
        &self.rows
    }

    /// The entry of a state, none when it was not reached.
    pub(super) fn entry(&self, state: State) -> Result<Option<u8>, Error> {
        // Lines that cannot be reached may have no number.
        if state.line >= self.shape.lines {
            return Ok(None);
        }
        let byte = self.file.byte(self.shape.place(state));
        let byte = byte.map_err(TableError::from)?;
        Ok(byte.and_then(|byte| self.shape.decode(byte, state)))
    }

    /// Returns the depth of a board, `None` when it was not reached.
    ///
    /// # Errors
    /// As [`DistanceTable::depth_of`], [`TableError::NoBoard`], and [`crate::puzzle::tiles::BoardError`] when the board has
    /// another size or cannot reach the goal.
    pub fn depth(&self, board: &Board) -> Result<Option<usize>, Error> {
        self.goal()?;
        self.depth_of(self.space.state(board)?)
    }

    /// Returns the depth of a state, `None` when it was not reached.
    ///
    /// Cost: one look-up in the byte encoding; in the other one the walk to the goal, a rank and a look-up for about
    /// every second move of a state.
    ///
    /// # Errors
    /// [`TableError::DeadEnd`] when the table is damaged, [`TableError::File`] when it cannot be read.
    pub fn depth_of(&self, state: State) -> Result<Option<usize>, Error> {
        match self.encoding() {
            Encoding::Byte => Ok(self.entry(state)?.map(usize::from)),
            Encoding::Mod3 => Ok(self.steps(state)?.map(|steps| steps.len())),
        }
    }

    /// Returns a shortest solution of a board, `None` when it was not reached: of those with the fewest moves in the
    /// table's metric the first in the order of [`crate::puzzle::tiles::Direction::ALL`].
    ///
    /// # Errors
    /// As [`DistanceTable::depth`].
    pub fn solve(&self, board: &Board) -> Result<Option<Moves>, Error> {
        self.goal()?;
        let steps = self.steps(self.space.state(board)?)?;
        let moves = |step: &Step| match *step {
            Step::Tiles(direction, tiles) => vec![direction; tiles],
            Step::Generator(_) => Vec::new(),
        };
        Ok(steps.map(|steps| Moves(steps.iter().flat_map(moves).collect())))
    }

    /// Returns the number of moves of a solution in the table's metric.
    pub fn count(&self, moves: &Moves) -> usize {
        moves.count(self.subject().metric().unwrap_or(Metric::Stm))
    }

    /// Returns the names of the generators that solve a state of a puzzle other than a board in the fewest moves, in
    /// their order; `None` when it was not reached, and no names for boards.
    ///
    /// # Errors
    /// As [`DistanceTable::depth_of`].
    pub fn names(&self, state: State) -> Result<Option<Vec<&str>>, Error> {
        let generators = self.subject().definition().map(|of| of.generators());
        let name = |step: &Step| match *step {
            Step::Generator(index) => Some(generators?.get(index)?.name.as_str()),
            Step::Tiles(..) => None,
        };
        let steps = self.steps(state)?;
        Ok(steps.map(|steps| steps.iter().filter_map(name).collect()))
    }

    /// Returns the moves of a shortest solution of a state, `None` when it was not reached; of those the first in
    /// the order of [`Step`]. Cost: a rank and a look-up for about every second move of a state on the way.
    ///
    /// # Errors
    /// As [`DistanceTable::depth_of`].
    pub fn steps(&self, state: State) -> Result<Option<Vec<Step>>, Error> {
        let Some(mut entry) = self.entry(state)? else {
            return Ok(None);
        };
        let mut position = Position::new(&self.space.line(state), state.cell);
        let mut steps = Vec::new();
        while !position.is_goal(self.home) {
            let closer = self.closer(&position, entry)?;
            let Some((way, next)) = closer.filter(|_| steps.len() < MAX_DEPTH) else {
                return Err(self.dead_end(&position));
            };
            steps.push(way.step);
            position = next;
            entry = match (self.encoding(), entry) {
                (Encoding::Mod3, entry) => (entry + 2) % 3,
                (Encoding::Byte, entry) => entry - 1,
            };
        }
        Ok(Some(steps))
    }

    /// Returns the error of a state without a depth, for those to whom that is one: [`TableError::Beyond`] when the
    /// table is one of some depths only.
    pub fn unreached(&self, state: State) -> Error {
        let found = self.histogram().iter().sum::<u64>();
        match self.subject().states() {
            Some(states) if found == states => {
                let puzzle = self.subject().name();
                DefinitionError::Unreachable { puzzle }.into()
            }
            _ => {
                let state = self.space.text(state);
                TableError::Beyond { state }.into()
            }
        }
    }

    /// The error of a position from which no move leads closer to the goal.
    pub(super) fn dead_end(&self, position: &Position) -> Error {
        let state = self.space.id(position.state());
        let path = self.file.path().to_path_buf();
        TableError::DeadEnd { path, state }.into()
    }

    /// The moves from each cell.
    pub(super) fn ways(&self) -> &Ways {
        &self.ways
    }

    /// The cell of the goal.
    pub(super) fn home(&self) -> usize {
        self.home
    }

    /// A neighbour that is one move closer to the goal than a position with a given entry.
    fn closer(&self, position: &Position, entry: u8) -> Result<Option<(&Way, Position)>, Error> {
        let wanted = match self.encoding() {
            Encoding::Mod3 => Some((entry + 2) % 3),
            Encoding::Byte => entry.checked_sub(1),
        };
        for way in self.ways.from(position.cell) {
            let moved = position.after(way);
            if wanted.is_some() && self.entry(moved.state())? == wanted {
                return Ok(Some((way, moved)));
            }
        }
        Ok(None)
    }

    /// Checks all checksums. Cost: one pass over the file.
    ///
    /// # Errors
    /// [`TableError::File`] names the first damaged block.
    pub fn check(&self) -> Result<(), TableError> {
        Ok(self.file.check()?)
    }

    /// Writes the table to a file, which appears when it is complete; `progress(bytes done)` may stop it.
    ///
    /// # Errors
    /// [`TableError::Output`], and [`TableError::Interrupted`] when it was stopped.
    pub fn save(
        &self,
        path: &Path,
        replace: bool,
        progress: impl Fn(u64) -> bool + Sync,
    ) -> Result<(), TableError> {
        Ok(self.file.save(path, replace, progress)?)
    }
}

/// The error of a definition that is not that of the header.
fn wrong(file: &Container<Header>) -> TableError {
    let what = "its definition of the puzzle is none";
    TableError::File(Header::KIND.wrong(file.path(), Problem::Header(what)))
}
