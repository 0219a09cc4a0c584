//! A table in memory or mapped from a file, and what it answers.
//!
//! Invariant: memory holds the very bytes of the file, header first, so that saving is writing and opening
//! is mapping.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::error::TableError;
use super::header::{BLOCK_BYTES, HEADER_BYTES, Header, MAGIC, VERSION};
use super::position::{Position, Steps};
use super::shape::MAX_DEPTH;
use super::{Encoding, shape::Shape};
use crate::Error;
use crate::bfs::StateSpace;
use crate::puzzle::tiles::{Board, Direction, Moves};
use crate::store::{Array, Mapped, Output};

/// The bytes of a file.
#[derive(Debug)]
pub(super) enum Image {
    /// In memory, on huge pages where the system has them.
    Memory {
        /// At least as many bytes.
        array: Array,
        /// Bytes of the file.
        len: usize,
    },
    /// Mapped from the file.
    Mapped(Mapped),
}

impl Image {
    pub fn zeroed(len: u64) -> Result<Image, TableError> {
        let array = Array::zeroed(len.div_ceil(64))?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Ok(Image::Memory { array, len })
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Image::Memory { array, len } => &array.units().as_flattened()[..*len],
            Image::Mapped(mapped) => mapped.bytes(),
        }
    }

    /// The bytes in memory, to be written; none of a mapped file.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Image::Memory { array, len } => &mut array.units_mut().as_flattened_mut()[..*len],
            Image::Mapped(_) => &mut [],
        }
    }
}

/// The depth of every state of a board.
///
/// ```
/// use tilewave::bfs::{Search, Silent};
/// use tilewave::puzzle::tiles::{Board, Goal, Size};
/// use tilewave::table::{Encoding, build};
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let table = build(&Search::new(goal), Encoding::Mod3, &Silent)?;
/// let board = Board::parse("8 6 7/2 5 4/3 0 1", None)?;
/// assert_eq!(table.depth(&board)?, Some(31));
/// assert_eq!(table.solve(&board)?.map(|moves| moves.len()), Some(31));
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    image: Image,
    header: Header,
    shape: Shape,
    space: StateSpace,
    steps: Steps,
    /// Path index of the blank's goal.
    home: usize,
}

impl Table {
    /// Maps a table file. Cost: constant; entries are read from the disk when they are first used.
    ///
    /// The header is validated, and the length of the file; [`Table::check`] validates the entries.
    ///
    /// # Errors
    /// [`TableError`] when the file cannot be read, is no table, is of another version, too short or too
    /// long, or damaged in its header.
    pub fn open(path: &Path) -> Result<Table, Error> {
        let mapped = Mapped::open(path).map_err(TableError::io("cannot open", path))?;
        let header = read_header(path, mapped.bytes())?;
        mapped.read_at_random();
        Table::new(path.to_path_buf(), Image::Mapped(mapped), header)
    }

    fn new(path: PathBuf, image: Image, header: Header) -> Result<Table, Error> {
        let space = StateSpace::new(header.goal.clone())?;
        let snake = space.frame().path();
        Ok(Table {
            steps: Steps::new(snake),
            home: snake.index(header.goal.blank()),
            shape: header.shape(),
            path,
            image,
            header,
            space,
        })
    }

    /// Finishes a table in memory whose entries are set: block checksums and header.
    pub(super) fn finish(mut image: Image, mut header: Header) -> Result<Table, Error> {
        let (front, entries) = image.bytes_mut().split_at_mut(header.entries_at() as usize);
        let sums = block_sums(entries);
        front[HEADER_BYTES..HEADER_BYTES + sums.len()].copy_from_slice(&sums);
        header.checksum = xxh3_64(&sums);
        front[..HEADER_BYTES].copy_from_slice(&*header.encode());
        Table::new(PathBuf::new(), image, header)
    }

    /// Returns the goal.
    pub fn goal(&self) -> &Board {
        &self.header.goal
    }

    /// Returns the encoding.
    pub fn encoding(&self) -> Encoding {
        self.header.encoding
    }

    /// Returns the number of states of each depth.
    pub fn histogram(&self) -> &[u64] {
        &self.header.histogram
    }

    /// Returns the checksum of the entries.
    pub fn checksum(&self) -> u64 {
        self.header.checksum
    }

    /// Returns the bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.header.file_bytes()
    }

    fn entries(&self) -> &[u8] {
        &self.image.bytes()[self.header.entries_at() as usize..]
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
                let position = self.position(board)?;
                let entry = self.shape.get(self.entries(), position.state());
                Ok(entry.map(usize::from))
            }
            Encoding::Mod3 => Ok(self.solve(board)?.map(|moves| moves.len())),
        }
    }

    /// Returns a shortest solution of a board, `None` when it was not reached: the first in the order of
    /// [`Direction::ALL`]. Cost: three ranks and look-ups per move.
    ///
    /// # Errors
    /// As [`Table::depth`].
    pub fn solve(&self, board: &Board) -> Result<Option<Moves>, Error> {
        let mut position = self.position(board)?;
        let Some(mut entry) = self.shape.get(self.entries(), position.state()) else {
            return Ok(None);
        };
        let mut moves = Vec::new();
        while !position.is_goal(self.home) {
            let closer = self.closer(&position, entry);
            let Some((direction, next)) = closer.filter(|_| moves.len() < MAX_DEPTH) else {
                return Err(TableError::DeadEnd {
                    path: self.path.clone(),
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
    fn closer(&self, position: &Position, entry: u8) -> Option<(Direction, Position)> {
        let wanted = match self.encoding() {
            Encoding::Mod3 => (entry + 2) % 3,
            Encoding::Byte => entry.checked_sub(1)?,
        };
        let neighbours = self.steps.from(position.cell).iter();
        let mut neighbours = neighbours.map(|&(direction, from)| {
            let mut moved = position.clone();
            moved.step(from);
            (direction, moved)
        });
        neighbours.find(|(_, moved)| self.shape.get(self.entries(), moved.state()) == Some(wanted))
    }

    fn position(&self, board: &Board) -> Result<Position, Error> {
        let (line, cell) = self.space.frame().encode_solvable(board)?;
        Ok(Position::new(&line, cell))
    }

    /// Checks all checksums. Cost: one pass over the file.
    ///
    /// # Errors
    /// [`TableError::Damaged`] names the first damaged block, [`TableError::Header`] damaged checksums.
    pub fn check(&self) -> Result<(), TableError> {
        let sums = block_sums(self.entries());
        let stored = &self.image.bytes()[HEADER_BYTES..HEADER_BYTES + sums.len()];
        if xxh3_64(stored) != self.header.checksum {
            return Err(TableError::Header {
                path: self.path.clone(),
                reason: "the block checksums differ from their own",
            });
        }
        let differs = |i: &usize| sums[8 * i..8 * i + 8] != stored[8 * i..8 * i + 8];
        match (0..sums.len() / 8).find(differs) {
            None => Ok(()),
            Some(block) => Err(TableError::Damaged {
                path: self.path.clone(),
                block: block as u64,
                blocks: self.header.blocks(),
            }),
        }
    }

    /// Writes the table to a file, which appears when it is complete; `progress(bytes done)` may stop it.
    ///
    /// # Errors
    /// [`TableError::Exists`] when the file exists and may not be replaced,
    /// [`TableError::Interrupted`] when it was stopped, [`TableError::Io`].
    pub fn save(
        &self,
        path: &Path,
        replace: bool,
        progress: impl Fn(u64) -> bool + Sync,
    ) -> Result<(), TableError> {
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => TableError::Exists(path.to_path_buf()),
            std::io::ErrorKind::Interrupted => TableError::Interrupted,
            _ => TableError::io("cannot write", path)(error),
        };
        let mut output = Output::create(path, replace).map_err(failed)?;
        output.write(self.image.bytes(), progress).map_err(failed)?;
        output.finish().map_err(failed)
    }
}

/// Reads and validates the header of a file, and its length.
fn read_header(path: &Path, bytes: &[u8]) -> Result<Header, TableError> {
    let path = path.to_path_buf();
    if bytes.get(..MAGIC.len()) != Some(&MAGIC[..]) {
        return Err(TableError::NotATable(path));
    }
    let (found, known) = (bytes.len() as u64, VERSION);
    let Some(front) = bytes.first_chunk::<HEADER_BYTES>() else {
        let expected = HEADER_BYTES as u64;
        return Err(TableError::Length {
            path,
            found,
            expected,
        });
    };
    let version = u32::from_le_bytes([front[8], front[9], front[10], front[11]]);
    if version != known {
        return Err(TableError::Version {
            path,
            found: version,
            known,
        });
    }
    match Header::decode(front) {
        Err(reason) => Err(TableError::Header { path, reason }),
        Ok(header) if header.file_bytes() != found => Err(TableError::Length {
            path,
            found,
            expected: header.file_bytes(),
        }),
        Ok(header) => Ok(header),
    }
}

/// The checksums of the blocks of some bytes, 8 bytes each.
fn block_sums(entries: &[u8]) -> Vec<u8> {
    entries
        .par_chunks(BLOCK_BYTES)
        .flat_map_iter(|block| xxh3_64(block).to_le_bytes())
        .collect()
}
