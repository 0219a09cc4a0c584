//! A table in memory or in a file, and what it answers.
//!
//! Invariant: an answer rests on entries whose sums were checked.

use std::path::Path;

use super::error::TableError;
use super::header::Header;
use super::position::{Position, Steps};
use super::shape::MAX_DEPTH;
use super::{Encoding, shape::Shape};
use crate::Error;
use crate::bfs::{State, StateSpace};
use crate::puzzle::tiles::{Board, Direction, Frame, Moves};
use crate::store::{Container, Image};

/// The depth of every state of a board.
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
    frame: Frame,
    steps: Steps,
    /// Path index of the blank's goal.
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

    /// Returns the table of the bytes of a file, all of them checked. Cost: a copy.
    ///
    /// # Errors
    /// As [`DistanceTable::open`].
    pub fn from_bytes(bytes: &[u8]) -> Result<DistanceTable, Error> {
        let table = DistanceTable::from_image(Image::of(bytes)?)?;
        table.check()?;
        Ok(table)
    }

    /// Returns the table of a file that is in memory or mapped ([`crate::Mapped`]). Its header is
    /// checked, its entries are not: call [`DistanceTable::check`].
    ///
    /// # Errors
    /// As [`DistanceTable::open`].
    pub fn from_image(image: Image) -> Result<DistanceTable, Error> {
        DistanceTable::new(Container::from_image(image).map_err(TableError::from)?)
    }

    fn new(file: Container<Header>) -> Result<DistanceTable, Error> {
        let goal = &file.header().goal;
        let frame = Frame::new(goal.clone());
        let space = StateSpace::new(goal.clone())?;
        Ok(DistanceTable {
            steps: Steps::new(frame.path()),
            home: frame.path().index(goal.blank()),
            frame,
            shape: file.header().shape(),
            file,
            space,
        })
    }

    /// Finishes a table in memory whose entries are set.
    pub(super) fn finish(image: Image, header: Header) -> Result<DistanceTable, Error> {
        DistanceTable::new(Container::finish(image, header))
    }

    /// Returns the goal.
    pub fn goal(&self) -> &Board {
        &self.file.header().goal
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

    /// The entry of a state, none when it was not reached.
    fn entry(&self, state: State) -> Result<Option<u8>, Error> {
        let byte = self.file.byte(self.shape.place(state));
        let byte = byte.map_err(TableError::from)?;
        Ok(byte.and_then(|byte| self.shape.decode(byte, state)))
    }

    /// Returns the depth of a board, `None` when it was not reached.
    ///
    /// Cost: one rank and one look-up in the byte encoding; in the other one the walk to the goal, three
    /// look-ups per move.
    ///
    /// # Errors
    /// [`crate::puzzle::tiles::BoardError`] when the board has another size or cannot reach the goal,
    /// [`TableError::DeadEnd`] when the table is damaged.
    pub fn depth(&self, board: &Board) -> Result<Option<usize>, Error> {
        match self.encoding() {
            Encoding::Byte => {
                let entry = self.entry(self.position(board)?.state())?;
                Ok(entry.map(usize::from))
            }
            Encoding::Mod3 => Ok(self.solve(board)?.map(|moves| moves.len())),
        }
    }

    /// Returns a shortest solution of a board, `None` when it was not reached: the first in the order of
    /// [`Direction::ALL`]. Cost: three ranks and look-ups per move.
    ///
    /// # Errors
    /// As [`DistanceTable::depth`].
    pub fn solve(&self, board: &Board) -> Result<Option<Moves>, Error> {
        let mut position = self.position(board)?;
        let Some(mut entry) = self.entry(position.state())? else {
            return Ok(None);
        };
        let mut moves = Vec::new();
        while !position.is_goal(self.home) {
            let closer = self.closer(&position, entry)?;
            let Some((direction, next)) = closer.filter(|_| moves.len() < MAX_DEPTH) else {
                return Err(TableError::DeadEnd {
                    path: self.file.path().to_path_buf(),
                    state: self.space.id(position.state()),
                }
                .into());
            };
            moves.push(direction);
            position = next;
            entry = match (self.encoding(), entry) {
                (Encoding::Mod3, entry) => (entry + 2) % 3,
                (Encoding::Byte, entry) => entry - 1,
            };
        }
        Ok(Some(Moves(moves)))
    }

    /// A neighbour that is one move closer to the goal than a position with a given entry.
    fn closer(
        &self,
        position: &Position,
        entry: u8,
    ) -> Result<Option<(Direction, Position)>, Error> {
        let wanted = match self.encoding() {
            Encoding::Mod3 => Some((entry + 2) % 3),
            Encoding::Byte => entry.checked_sub(1),
        };
        for &(direction, from) in self.steps.from(position.cell) {
            let mut moved = position.clone();
            moved.step(from);
            if wanted.is_some() && self.entry(moved.state())? == wanted {
                return Ok(Some((direction, moved)));
            }
        }
        Ok(None)
    }

    fn position(&self, board: &Board) -> Result<Position, Error> {
        let (line, cell) = self.frame.encode_solvable(board)?;
        Ok(Position::new(&line, cell))
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
