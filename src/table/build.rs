//! Fills a table from a search.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{
    Error,
    hint::MEMORY,
    perm::{LANES, Layout, Register, lehmer},
    progress::{NoProgress, Progress},
    puzzle::{Puzzle, State, StateSpace},
    search::{self, Engine, Search, SearchError, memory::run_each},
    store::{BLOCK_BYTES, FileHeader as _, Image},
    system::SystemError,
    table::{
        DistanceTable, TableEncoding, TableError,
        header::{TableHeader, TablePuzzle, UNREACHED},
    },
    threads::{each_part, in_parallel},
    units::bytes,
};

/// Returns the memory, in bytes, of the table of a state space and the search that fills it. Same errors as
/// [`crate::search::plan`], plus [`TableError::Unsuitable`].
pub fn needed(space: &StateSpace, encoding: TableEncoding) -> Result<u64, Error> {
    let (header, _) = described(space, encoding)?;
    Ok(search::plan(space, None)?.array_bytes + header.shape.bytes())
}

impl DistanceTable {
    /// Returns the table of distances to a search's goal, or to the solved state if the puzzle is not a board. The
    /// search's resources are used; its start, engine and maximum depth are ignored.
    ///
    /// Cost: the complete search and [`needed`] bytes of memory; one additional pass over every level. Same errors as
    /// [`Search::run`], plus [`TableError`].
    pub fn build(search: &Search, encoding: TableEncoding) -> Result<DistanceTable, Error> {
        DistanceTable::build_with(search, encoding, &NoProgress)
    }

    /// Returns the table like [`DistanceTable::build`], with an observer that sees the progress and may stop the work
    /// ([`SystemError::Interrupted`]).
    pub fn build_with(
        search: &Search,
        encoding: TableEncoding,
        observer: &dyn Progress,
    ) -> Result<DistanceTable, Error> {
        let space = search.space.clone().from_goal();
        let needed = needed(&space, encoding)?;
        if let Some(budget) = search.resources.exceeded_by(needed) {
            return Err(TableError::Memory(format!(
                "the distance table for {space} and the search that fills it need {} of memory, \
                 but the limit is {}: raise the limit with {MEMORY} if the machine has more, or \
                 choose a smaller puzzle",
                bytes(needed),
                bytes(budget)
            ))
            .into());
        }
        let mut fill = Fill::new(&space, encoding)?;
        let search = search.clone().space(space).max_depth(None).engine(None).keep_last(0);
        if Layout::new(search.space.line_len()).is_none() {
            // The plain engine passes on only its last level, but has so few states here that it can start again.
            let search = search.clone().engine(Engine::Reference).keep_last(usize::MAX).threads(1);
            for depth in 0.. {
                let outcome = search.clone().max_depth(depth).run()?;
                outcome.last.numbered().iter().try_for_each(|&state| fill.state(depth, state))?;
                if outcome.complete {
                    return fill.finish();
                }
            }
        }
        let outcome = run_each(&search, observer, &mut |depth, first, registers, cells| {
            Ok(fill.level(depth, first, registers, cells)?)
        });
        let outcome = outcome.map_err(|error| match error {
            // A partial table is useless, so there is no way to end early with one.
            Error::Search(SearchError::Interrupted { .. }) => SystemError::Interrupted.into(),
            error => error,
        })?;
        let filled = fill.histogram();
        if filled != outcome.counts {
            let (engine, filled) = (outcome.engine.name(), filled.iter().sum::<u64>());
            return Err(TableError::Incomplete(format!(
                "the {engine} engine filled in only {filled} of {} states of the table: choose \
                 another engine",
                outcome.total()
            ))
            .into());
        }
        fill.finish()
    }
}

// Filling a table from a search, level by level.
//
// Invariant: every state is given once, with its depth.

/// Number of registers in one unit of work.
const REGISTERS: usize = 256;

/// Maximum number of cells that a byte of a level represents.
const CLASS: usize = 8;

/// A table that is being filled. Entries are set from the levels of a search, in any order.
///
/// ```
/// use tilewave::puzzle::{Board, Goal, Size, State, StateSpace};
/// use tilewave::table::{TableEncoding, Fill};
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let mut fill = Fill::new(&StateSpace::of_board(goal.clone()), TableEncoding::Mod3)?;
/// fill.state(0, State { line: 0, cell: 8 })?;
/// fill.state(1, State { line: 0, cell: 7 })?;
/// let table = fill.finish()?;
/// assert_eq!(table.depth(&goal)?, Some(0));
/// assert_eq!(table.depth(&Board::parse("1 2 3/4 5 6/7 0 8", None)?)?, Some(1));
/// assert_eq!(table.depth(&Board::parse("1 2 3/4 5 6/0 7 8", None)?)?, None);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Debug)]
pub struct Fill {
    header: TableHeader,
    image: Image,
}

impl Fill {
    /// Returns an empty table, in which no state is reached yet, of depths from the goal, or from the solved state if
    /// the puzzle is not a board. Cost: memory for the whole file, written once.
    ///
    /// # Errors
    /// [`SearchError::TooLarge`] above [`Search::MAX_CELLS`] cells, [`TableError::Unsuitable`] and
    /// [`crate::SystemError::Memory`].
    pub fn new(space: &StateSpace, encoding: TableEncoding) -> Result<Fill, Error> {
        let (header, definition) = described(space, encoding)?;
        let layout = header.layout();
        let mut image = Image::zeroed(layout.data.end())?;
        layout.index.of_mut(image.bytes_mut()).copy_from_slice(&definition);
        let data = layout.data.of_mut(image.bytes_mut());
        // It cannot fail.
        let _ = in_parallel(data.chunks_mut(BLOCK_BYTES), |_, part| {
            part.fill(UNREACHED);
            Ok::<(), ()>(())
        });
        Ok(Fill { header, image })
    }

    /// Sets the depth of a state.
    ///
    /// # Errors
    /// [`TableError::TooDeep`].
    ///
    /// # Panics
    /// If the state does not exist.
    pub fn state(&mut self, depth: usize, state: State) -> Result<(), TableError> {
        let shape = self.header.shape;
        let entry = shape.encoding.entry(depth)?;
        shape.set(self.entries(), state, entry);
        self.count(depth, 1);
        Ok(())
    }

    /// Sets the depths of the states of a level, or of part of it. They are given as registers in the layout of
    /// [`crate::perm::layout`], where `first_line` is the first lane of the first register; bit k of a byte represents
    /// the k-th of `cells` (path indices).
    ///
    /// Cost: a pass over the registers, about 2 ns per line with states of this level; uses all threads of the current
    /// pool.
    ///
    /// # Errors
    /// [`TableError::TooDeep`].
    ///
    /// # Panics
    /// If a line or a cell does not exist.
    pub fn level(
        &mut self,
        depth: usize,
        first_line: u64,
        registers: &[Register],
        cells: &[usize],
    ) -> Result<(), TableError> {
        let shape = self.header.shape;
        let entry = shape.encoding.entry(depth)?;
        let stride = shape.stride();
        let begin = first_line as usize * stride;
        let end = begin + registers.len() * LANES * stride;
        let marks = ByteMarks::new(shape.encoding, entry, cells);
        let data = &mut self.entries()[begin..end];
        let states = AtomicU64::new(0);
        each_part(data, REGISTERS * LANES * stride, &|part, data| {
            let found = marks.set(data, stride, &registers[part * REGISTERS..]);
            states.fetch_add(found, Ordering::Relaxed);
        });
        self.count(depth, states.into_inner());
        Ok(())
    }

    fn entries(&mut self) -> &mut [u8] {
        self.header.layout().data.of_mut(self.image.bytes_mut())
    }

    /// Counts states.
    fn count(&mut self, depth: usize, states: u64) {
        let histogram = &mut self.header.histogram;
        if states > 0 && histogram.len() <= depth {
            histogram.resize(depth + 1, 0);
        }
        if let Some(count) = histogram.get_mut(depth) {
            *count += states;
        }
    }

    /// Returns the number of states set so far at each depth.
    pub fn histogram(&self) -> &[u64] {
        &self.header.histogram
    }

    /// Returns the table. Cost: one pass over it for the checksums.
    ///
    /// # Errors
    /// None, for a table that was created successfully.
    pub fn finish(self) -> Result<DistanceTable, Error> {
        Ok(DistanceTable::finish(self.image, self.header)?)
    }
}

/// The header of an empty table, and the definition of the puzzle that follows it.
fn described(space: &StateSpace, encoding: TableEncoding) -> Result<(TableHeader, Vec<u8>), Error> {
    if let Some((goal, _)) = space.boards() {
        let size = goal.size();
        if size.cells() > Search::MAX_CELLS {
            return Err(SearchError::TooLarge(size, Search::MAX_CELLS).into());
        }
        let metric = space.metric().unwrap_or_default();
        let puzzle = TablePuzzle::Board(goal.clone(), metric);
        return Ok((TableHeader::new(puzzle, encoding), Vec::new()));
    }
    if space.is_directed() {
        return Err(TableError::Unsuitable(format!(
            "some moves of {} cannot be reversed, but a distance table needs the inverse of every \
             move: choose a puzzle whose moves can all be reversed",
            space.name()
        ))
        .into());
    }
    let text = space.puzzle_text().unwrap_or_default().into_bytes();
    let puzzle = TablePuzzle::Defined {
        cells: space.width(),
        parities: (space.lines() / lehmer::even_count(space.line_len())) as u8,
        bytes: text.len() as u64,
        checksum: 0,
        fingerprint: space.puzzle().map_or(0, Puzzle::fingerprint),
    };
    Ok((TableHeader::new(puzzle, encoding), text))
}

/// The effect of a byte of a level on the entries of its line.
struct ByteMarks {
    entry: u8,
    cells: Vec<usize>,
    /// For each byte, the bits of the entries that it sets, unless these are bytes.
    masks: Vec<u64>,
    encoding: TableEncoding,
}

impl ByteMarks {
    fn new(encoding: TableEncoding, entry: u8, cells: &[usize]) -> ByteMarks {
        let cells: Vec<usize> = cells.iter().copied().take(CLASS).collect();
        let (none, bits) = (u64::from(encoding.none()), encoding.bits() as usize);
        let mask = |byte: u64| {
            let set = |(bit, cell): (usize, &usize)| (byte >> bit & 1) * (none << (bits * cell));
            cells.iter().enumerate().map(set).sum()
        };
        let packed = 0..if encoding == TableEncoding::Byte { 0 } else { 256 };
        ByteMarks { entry, masks: packed.map(mask).collect(), cells, encoding }
    }

    /// Sets the entries of some registers; returns the number of states.
    fn set(&self, data: &mut [u8], stride: usize, registers: &[Register]) -> u64 {
        match (self.encoding, stride) {
            (TableEncoding::Byte, _) => self.set_bytes(data, stride, registers),
            (_, 1) => self.set_packed::<1>(data, registers),
            (_, 2) => self.set_packed::<2>(data, registers),
            (_, 3) => self.set_packed::<3>(data, registers),
            (_, 4) => self.set_packed::<4>(data, registers),
            (_, 5) => self.set_packed::<5>(data, registers),
            (_, 6) => self.set_packed::<6>(data, registers),
            (_, 7) => self.set_packed::<7>(data, registers),
            (_, _) => self.set_packed::<8>(data, registers),
        }
    }

    fn set_packed<const STRIDE: usize>(&self, data: &mut [u8], registers: &[Register]) -> u64 {
        // The value in every entry of a line.
        let fill = u64::from(self.entry) * (u64::MAX / u64::from(self.encoding.none()));
        let mut states = 0;
        for (data, register) in data.chunks_exact_mut(LANES * STRIDE).zip(registers) {
            let lines = data.as_chunks_mut::<STRIDE>().0;
            let bytes = register.as_chunks::<4>().0;
            for (lines, bytes) in lines.chunks_exact_mut(4).zip(bytes) {
                let four = u32::from_le_bytes(*bytes);
                if four == 0 {
                    continue;
                }
                states += u64::from(four.count_ones());
                for (line, &byte) in lines.iter_mut().zip(bytes) {
                    let mask = self.masks[usize::from(byte)];
                    let mut word = [0; 8];
                    word[..STRIDE].copy_from_slice(line);
                    let word = u64::from_le_bytes(word);
                    let word = (word & !mask | fill & mask).to_le_bytes();
                    line.copy_from_slice(&word[..STRIDE]);
                }
            }
        }
        states
    }

    fn set_bytes(&self, data: &mut [u8], stride: usize, registers: &[Register]) -> u64 {
        let mut states = 0;
        for (data, register) in data.chunks_exact_mut(LANES * stride).zip(registers) {
            for (line, &byte) in data.chunks_exact_mut(stride).zip(register) {
                let mut rest = byte;
                states += u64::from(byte.count_ones());
                while rest != 0 {
                    line[self.cells[rest.trailing_zeros() as usize]] = self.entry;
                    rest &= rest - 1;
                }
            }
        }
        states
    }
}
