//! Pruning tables: building, storing in files, and lookups.
//!
//! A table is filled by blocks, by rows, or from a list search.
//!
//! Invariant: every state's entry is written with the depth at which the search found it, and every file has checksums
//! for all of its blocks.

use std::{collections::HashSet, path::Path};

use parking_lot::Mutex;

use crate::{
    Error,
    frontier::{FieldKind, StateFields, SymmetryGroup},
    hint::{BUILD_PRUNING, ENCODING, Hint, MEMORY, PIECES},
    progress::{NoProgress, Phase, Progress, go_on},
    pruning::{
        Entries, PruningHeader,
        blocks::Blocks,
        fill::{TableLevels, TableRows},
        numbers::TableNumbers,
        row_rank::PieceMap,
    },
    puzzle::{
        Arrangement, PieceAt, PieceSet, Placed, Puzzle, PuzzleError,
        ranking::{RankGroup, Ranking},
    },
    resources::Resources,
    store::{Container, FileHeader as _, Image, Output, TableFile, TableKind, shared_bytes},
    system::SystemError,
    table::{TableEncoding, TableError},
    threads::{each_part, map_numbers},
    units::bytes,
};

/// The depth of every state of a puzzle with several sets, usually a projection of another puzzle.
///
/// ```
/// use tilewave::pruning::PruningTable;
/// use tilewave::table::TableEncoding;
/// use tilewave::puzzle::{named, Turns};
/// use tilewave::Resources;
/// let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers)?;
/// let cross = cube.keeping(&["edges:1-4".into()])?;
/// let table = PruningTable::build(&cross, TableEncoding::Nibble, Resources::new())?;
/// assert_eq!(table.histogram(), [1, 15, 158, 1394, 9809, 46381, 97254, 34966, 102]);
/// // Of the whole cube these are three moves, of its cross two.
/// let (state, _) = cross.read("R U F")?;
/// assert_eq!(table.depth(&state)?, Some(2));
/// # Ok::<(), tilewave::Error>(())
/// ```
pub type PruningTable = TableFile<PieceDepths>;

/// What the lookups of a pruning table need.
pub struct PieceDepths {
    puzzle: Puzzle,
    pub(crate) numbers: TableNumbers,
}

impl TableKind for PieceDepths {
    type Header = PruningHeader;

    fn of(file: &Container<PruningHeader>) -> Result<PieceDepths, SystemError> {
        let read = || {
            let text = str::from_utf8(file.index()).ok()?;
            let (name, parts) = text.split_at_checked(file.header.name as usize)?;
            let end = parts.len() - file.header.numbers as usize;
            let (parts, numbers) = parts.split_at_checked(end)?;
            let puzzle = Puzzle::of_json(name, parts)?;
            let numbers = TableNumbers::of_json(&puzzle, numbers)?;
            (numbers.entries == file.header.entries).then_some(PieceDepths { puzzle, numbers })
        };
        read().ok_or_else(|| file.contradictory())
    }

    #[inline]
    fn bits(header: &PruningHeader) -> u32 {
        header.encoding.bits()
    }
}

/// Maximum number of entries of a table that is built by default.
const DEFAULT_ENTRIES: u64 = 600_000_000;
/// Maximum number of entries of a table for quick solutions, and of sets of pieces that such tables join.
const JOINT_ENTRIES: u64 = 1 << 23;
const MOST_JOINT: usize = 4;
/// Bits of memory per entry while a table is built.
const BUILD_BITS: u64 = 7;
/// Number of bytes of a key of a list search, and of a file besides its entries.
const KEY_BYTES: u64 = 8;
const FIXED_BYTES: u64 = 1 << 16;

/// What a projection keeps of a set of pieces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeptOfSet {
    Nothing,
    Places,
    Orientations,
    All,
}

impl KeptOfSet {
    const ALL: [KeptOfSet; 4] =
        [KeptOfSet::Nothing, KeptOfSet::Places, KeptOfSet::Orientations, KeptOfSet::All];

    fn is_part(self, whole: KeptOfSet) -> bool {
        self == whole || self == KeptOfSet::Nothing || whole == KeptOfSet::All
    }
}

/// The projection that keeps this of each set; `None` if there is none, or if it is none of its own.
fn kept_of(puzzle: &Puzzle, kept: &[KeptOfSet]) -> Option<Puzzle> {
    let named = |of: &dyn Fn(KeptOfSet) -> bool| -> Vec<String> {
        let sets = puzzle.sets().iter().zip(kept).filter(|(_, kept)| of(**kept));
        sets.map(|(set, _)| format!("={}", set.name)).collect()
    };
    let is_turned = |(set, kept): (&PieceSet, &KeptOfSet)| {
        let partly = matches!(kept, KeptOfSet::Places | KeptOfSet::Orientations);
        !partly || set.orientations > 1
    };
    if !puzzle.sets().iter().zip(kept).all(is_turned) {
        return None;
    }
    let mut of = puzzle.clone().keeping(&named(&|kept| kept != KeptOfSet::Nothing)).ok()?;
    let places = named(&|kept| kept == KeptOfSet::Places);
    if !places.is_empty() {
        of = of.unoriented(&places).ok()?;
    }
    let orientations = named(&|kept| kept == KeptOfSet::Orientations);
    if orientations.is_empty() { Some(of) } else { of.alike(&orientations).ok() }
}

/// The number of entries of a table, the greatest number if they cannot be numbered.
fn entries_of(puzzle: &Puzzle) -> u64 {
    Ranking::new(puzzle).map_or(u64::MAX, |ranking| ranking.entries)
}

/// The number of bytes in which the table of a puzzle can be built, whatever its encoding: that of lists is estimated.
/// A list search keeps the keys of its two widest levels; if pieces look alike, those of all states in one bucket, it
/// also has those after each move at once.
fn build_bytes(puzzle: &Puzzle) -> u64 {
    let Ok(numbers) = TableNumbers::all(puzzle) else { return u64::MAX };
    let blocks = numbers.plain().and_then(|ranking| Blocks::new(puzzle, ranking));
    let filled = blocks.map(|blocks| blocks.bytes());
    let filled = filled.or_else(|| TableRows::new(puzzle, &numbers).map(|rows| rows.bytes()));
    let mut fields = StateFields::of(puzzle).fields.into_iter();
    let keys = match fields.all(|field| matches!(field.kind, FieldKind::Location { .. })) {
        true => 2,
        false => 1 + puzzle.moves().len() as u64,
    };
    let more = filled.unwrap_or_else(|| numbers.entries.saturating_mul(keys * KEY_BYTES));
    more.saturating_add(numbers.entries).saturating_add(FIXED_BYTES)
}

/// The error if not even the smallest table fits in the memory.
fn too_little(puzzle: &Puzzle, budget: u64) -> TableError {
    let one = |set: &PieceSet| puzzle.clone().keeping(&[format!("={}:1", set.name)]);
    let least = puzzle.sets().iter().filter_map(|set| one(set).ok());
    let least = least.min_by_key(entries_of).unwrap_or_else(|| puzzle.clone());
    let needed = entries_of(&least).div_ceil(8).saturating_mul(BUILD_BITS).max(budget + 1);
    too_large(&least, needed, budget)
}

/// The error for a table that does not fit in the memory.
fn too_large(puzzle: &Puzzle, needed: u64, budget: u64) -> TableError {
    TableError::Memory(format!(
        "a table for {puzzle} takes {} of memory, but the limit is {}: keep fewer pieces \
         ({PIECES}), use smaller entries ({ENCODING}), {}or allow more memory ({MEMORY})",
        bytes(needed),
        bytes(budget),
        Hint::InFile
    ))
}

impl PruningTable {
    /// Returns the table of all states of a puzzle, with the minimum number of moves from each state to the solved one.
    ///
    /// Cost: the search up to symmetry, plus about 20 ns of one core per state; memory for the file and for the lists
    /// of the two widest levels, up to symmetry.
    ///
    /// # Errors
    /// [`TableError`], the errors of [`FrontierSearch::run`](crate::frontier::FrontierSearch::run), and
    /// [`crate::puzzle::PuzzleErrorKind::ManyStates`].
    pub fn build(
        puzzle: &Puzzle,
        encoding: TableEncoding,
        resources: Resources,
    ) -> Result<PruningTable, Error> {
        PruningTable::build_with(puzzle, (encoding, false), resources, &NoProgress)
    }

    /// Returns the table like [`PruningTable::build`], with an observer that sees the progress and may stop the work
    /// ([`SystemError::Interrupted`]). Up to symmetry, it has fewer entries: symmetric places or orientations of some
    /// pieces share one entry. The memory is divided by about the number of symmetries; lookups take twice as long.
    /// Same errors as [`PruningTable::build`], plus [`TableError::NoSymmetry`].
    pub fn build_with(
        puzzle: &Puzzle,
        (encoding, up_to_symmetry): (TableEncoding, bool),
        resources: Resources,
        progress: &dyn Progress,
    ) -> Result<PruningTable, Error> {
        PruningTable::filled(puzzle, (encoding, up_to_symmetry), resources, progress, None)
    }

    /// Returns a table, up to symmetry or not, that is filled in its file, so that only the search needs memory. The
    /// file gets its final name once it is complete, and the table is then mapped: as long as it exists, nobody may
    /// truncate the file. Free memory and a disk with fast random access speed up the build. Same errors as
    /// [`PruningTable::build_with`], plus [`SystemError::Write`], and [`SystemError::Changed`] if somebody else replaces
    /// the file at once.
    pub fn build_on_disk(
        puzzle: &Puzzle,
        (encoding, up_to_symmetry): (TableEncoding, bool),
        (path, replace): (&Path, bool),
        resources: Resources,
        progress: &dyn Progress,
    ) -> Result<PruningTable, Error> {
        let mut output = Output::create(path, replace)?;
        let (kind, to) = ((encoding, up_to_symmetry), Some(&mut output));
        let PruningTable { file, of } =
            PruningTable::filled(puzzle, kind, resources, progress, to)?;
        Ok(PruningTable { file: file.named(output)?, of })
    }

    /// Returns a table with four bits per entry, or with one byte per entry if depths exceed 14. Same errors as
    /// [`PruningTable::build_with`].
    pub fn build_narrow(
        puzzle: &Puzzle,
        resources: Resources,
        progress: &dyn Progress,
    ) -> Result<PruningTable, Error> {
        let build = |of| PruningTable::build_with(puzzle, (of, false), resources, progress);
        match build(TableEncoding::Nibble) {
            Err(Error::Table(TableError::TooDeep { .. })) => build(TableEncoding::Byte),
            built => built,
        }
    }

    fn filled(
        puzzle: &Puzzle,
        (encoding, up_to_symmetry): (TableEncoding, bool),
        resources: Resources,
        progress: &dyn Progress,
        output: Option<&mut Output>,
    ) -> Result<PruningTable, Error> {
        let none = || TableError::NoSymmetry(puzzle.to_string());
        let numbers = match up_to_symmetry {
            true => TableNumbers::up_to_symmetry(puzzle, progress)?.ok_or_else(none)?,
            false => TableNumbers::all(puzzle)?,
        };
        let directed = puzzle.is_directed();
        if directed && encoding == TableEncoding::Mod3 {
            return Err(TableError::Unsuitable(format!(
                "some moves of {puzzle} cannot be reversed, so depths modulo 3 are not enough: \
                 choose another {ENCODING}"
            ))
            .into());
        }
        let (name, parts, reduced) = (puzzle.name(), puzzle.to_json(), numbers.to_json());
        let mut header = PruningHeader {
            encoding,
            entries: numbers.entries,
            histogram: Vec::new(),
            puzzle: (name.len() + parts.len() + reduced.len()) as u64,
            name: name.len() as u64,
            numbers: reduced.len() as u64,
            puzzle_sum: 0,
            checksum: 0,
        };
        let layout = header.layout();
        let needed = layout.data.end();
        let (mut image, used) = match (output, resources.exceeded_by(needed)) {
            (Some(output), _) => (output.image(needed)?, 0),
            (None, None) => (Image::zeroed(needed)?, needed),
            (None, Some(budget)) => return Err(too_large(puzzle, needed, budget).into()),
        };
        let file = image.bytes_mut();
        layout.index.of_mut(file).copy_from_slice([name, &parts, &reduced].concat().as_bytes());
        let data = layout.data.of_mut(file);
        each_part(data, 1 << 20, &|_, part| part.fill(0xff));
        let searched = if directed { puzzle.clone().reversed() } else { puzzle.clone() };
        let left = resources.memory.map(|memory| memory - used);
        let entries = Entries { bytes: shared_bytes(data), encoding };
        let fits = |needed: u64| left.is_none_or(|left| needed <= left);
        let blocks = numbers.plain().and_then(|ranking| Blocks::new(&searched, ranking));
        let blocks = blocks.filter(|blocks| fits(blocks.bytes()));
        let rows = TableRows::new(&searched, &numbers).filter(|rows| fits(rows.bytes()));
        header.histogram = match (blocks, rows) {
            (Some(blocks), _) => resources.install(|| blocks.fill(entries, progress))??,
            (None, Some(rows)) => resources.install(|| rows.fill(entries, progress))??,
            (None, None) => {
                let resources = resources.memory(left);
                TableLevels::fill(searched, (puzzle, &numbers), entries, resources, progress)?
            }
        };
        let of = PieceDepths { puzzle: puzzle.clone(), numbers };
        Ok(PruningTable { file: Container::finish(image, header), of })
    }

    /// Returns projections of a puzzle whose tables are useful for solving it: the puzzle itself if it is small;
    /// otherwise, for each set of pieces, as many first pieces as fit, then as many last pieces. Each table fits in the
    /// given memory during its build, and so do all finished tables together. If no memory is given, there is one table
    /// per set, with at most 600 million entries, which takes seconds.
    ///
    /// # Errors
    /// [`crate::puzzle::PuzzleErrorKind::ManyStates`] if even a single piece has too many arrangements.
    pub fn default_projections(puzzle: &Puzzle, memory: Option<u64>) -> Result<Vec<Puzzle>, Error> {
        match memory {
            Some(bytes) => PruningTable::projections(puzzle, memory, memory, |of| {
                entries_of(of) <= bytes / BUILD_BITS * 8
            }),
            None => PruningTable::quick_projections(puzzle, None),
        }
    }

    /// Returns projections like [`PruningTable::default_projections`] without a limit, but only such whose tables can
    /// be built in a number of bytes each, lists of the search included, if one is given.
    ///
    /// # Errors
    /// [`TableError::Memory`] if even the table of a single piece takes more.
    pub fn quick_projections(puzzle: &Puzzle, memory: Option<u64>) -> Result<Vec<Puzzle>, Error> {
        let fits = |of: &Puzzle| {
            let has_memory = |bytes| build_bytes(of) <= bytes;
            entries_of(of) <= DEFAULT_ENTRIES && memory.is_none_or(has_memory)
        };
        PruningTable::projections(puzzle, None, memory, fits)
    }

    /// Returns projections of a puzzle whose tables are useful for quick solutions: the puzzle itself if it is small;
    /// otherwise those that keep as much of all sets of pieces together as eight million entries can tell: pieces with or
    /// without their orientations, or orientations alone. They are built in a second.
    ///
    /// # Errors
    /// Those of [`PruningTable::quick_projections`], which it returns if sets do not fit together.
    pub fn joint_projections(puzzle: &Puzzle, memory: Option<u64>) -> Result<Vec<Puzzle>, Error> {
        let fits = |of: &Puzzle| {
            entries_of(of) <= JOINT_ENTRIES && memory.is_none_or(|bytes| build_bytes(of) <= bytes)
        };
        let sets = puzzle.sets().len();
        if sets > MOST_JOINT && !fits(puzzle) {
            let runs = PruningTable::runs(puzzle, fits);
            if !runs.is_empty() {
                return Ok(runs);
            }
        }
        if fits(puzzle) || sets > MOST_JOINT {
            return PruningTable::quick_projections(puzzle, memory);
        }
        let mut found: Vec<(Vec<KeptOfSet>, Puzzle)> = Vec::new();
        for number in 1..1usize << (2 * sets) {
            let kept: Vec<KeptOfSet> =
                (0..sets).map(|set| KeptOfSet::ALL[number >> (2 * set) & 3]).collect();
            let projection = kept_of(puzzle, &kept).filter(fits);
            found.extend(projection.map(|projection| (kept, projection)));
        }
        let is_part = |of: &[KeptOfSet], whole: &[KeptOfSet]| {
            of != whole && of.iter().zip(whole).all(|(of, whole)| of.is_part(*whole))
        };
        let is_most = |(kept, _): &&(Vec<KeptOfSet>, Puzzle)| {
            !found.iter().any(|(whole, _)| is_part(kept, whole))
        };
        let most: Vec<Puzzle> =
            found.iter().filter(is_most).map(|(_, projection)| projection.clone()).collect();
        if most.is_empty() { PruningTable::quick_projections(puzzle, memory) } else { Ok(most) }
    }

    /// For each run of neighbouring sets of pieces that fits, and is part of no other, all of their pieces.
    fn runs(puzzle: &Puzzle, fits: impl Fn(&Puzzle) -> bool) -> Vec<Puzzle> {
        let sets = puzzle.sets();
        let run = |first: usize, end: usize| {
            let names: Vec<String> =
                sets[first..end].iter().map(|set| format!("={}", set.name)).collect();
            puzzle.clone().keeping(&names).ok().filter(&fits)
        };
        let (mut all, mut before) = (Vec::new(), 0);
        for first in 0..sets.len() {
            let ends =
                (before.max(first) + 1..=sets.len()).map_while(|end| Some((end, run(first, end)?)));
            if let Some((end, longest)) = ends.last() {
                all.push(longest);
                before = end;
            }
        }
        all
    }

    /// For each set of pieces, as many first pieces as fit; in a memory that all tables share, then as many last
    /// pieces. `limit` is what a single table may take.
    fn projections(
        puzzle: &Puzzle,
        shared: Option<u64>,
        limit: Option<u64>,
        fits_alone: impl Fn(&Puzzle) -> bool,
    ) -> Result<Vec<Puzzle>, Error> {
        if fits_alone(puzzle) {
            return Ok(vec![puzzle.clone()]);
        }
        let mut left = shared.unwrap_or(u64::MAX);
        let mut projections: Vec<Puzzle> = Vec::new();
        let sides = if shared.is_some() { &[false, true][..] } else { &[false] };
        for &last in sides {
            // Small sets leave the rest of their share to the others.
            let mut sets: Vec<_> = puzzle.sets().iter().enumerate().collect();
            sets.sort_by_key(|(_, set)| set.positions() * usize::from(set.orientations));
            for (i, &(index, set)) in sets.iter().enumerate() {
                let (all, name) = (set.moduli.len(), &set.name);
                let greatest = all - 1 + usize::from(puzzle.first_number(index));
                let share = left / (sets.len() - i) as u64;
                let keep = |count: usize| {
                    let pieces = match last {
                        _ if count == all => format!("={name}"),
                        false => format!("={name}:1-{count}"),
                        true => format!("={name}:{}-{greatest}", greatest + 1 - count),
                    };
                    // Where other pieces may not be does not matter: distances are only the less for it.
                    let first = if last { all - count } else { all - greatest };
                    let meant = |at: &PieceAt| {
                        usize::from(at.set) == index
                            && (first..first + count).contains(&usize::from(at.kind))
                    };
                    let kept = puzzle.clone().forbidding_only(meant).keeping(&[pieces]).ok()?;
                    // The part of it that is solved in a solved state.
                    let map = PieceMap::new(puzzle, &kept).expect("a projection");
                    let goals = puzzle.goals();
                    let goals = goals.iter().map(|goal| map.arrangement(&kept, goal)).collect();
                    Some(kept.solved_at(goals))
                };
                let size = |puzzle: &Puzzle| TableEncoding::Nibble.bytes(entries_of(puzzle));
                let fits = |p: &Puzzle| size(p) <= share && fits_alone(p);
                let kept = (1..=all).rev().filter_map(keep).find(fits);
                if let Some(kept) = kept.filter(|kept| !projections.contains(kept)) {
                    left -= size(&kept).min(left);
                    projections.push(kept);
                }
            }
        }
        match (projections.is_empty(), limit) {
            (false, _) => Ok(projections),
            (true, None) => Err(PuzzleError::many_states(puzzle).into()),
            (true, Some(budget)) => Err(too_little(puzzle, budget).into()),
        }
    }

    /// Returns the puzzle, which is usually a projection.
    pub fn puzzle(&self) -> &Puzzle {
        &self.of.puzzle
    }

    /// Returns the size of the entries.
    pub fn encoding(&self) -> TableEncoding {
        self.file.header.encoding
    }

    /// Returns the number of entries: the number of states, or slightly more if some entries represent no state.
    pub fn entries(&self) -> u64 {
        self.file.header.entries
    }

    /// Returns the entry with a number: the depth, or the depth modulo 3; `None` if no state has this number.
    ///
    /// # Errors
    /// [`SystemError`] if the file cannot be read or is damaged there.
    pub fn entry(&self, number: u64) -> Result<Option<u8>, Error> {
        Ok(self.read(number)?.filter(|_| number < self.entries()))
    }

    /// Returns the number of symmetries by which the table is reduced: 1 if each state has its own entry.
    pub fn symmetries(&self) -> usize {
        self.of.numbers.symmetries()
    }

    /// Returns the number of a state's entry, which is different for any two states, or for any two that are not
    /// symmetric.
    pub fn number(&self, state: &Arrangement) -> u64 {
        self.of.numbers.rank(&self.of.puzzle, state)
    }

    /// Returns the depth of a state of the table's puzzle; `None` if the state is unreachable, as far as the table can
    /// tell. Cost: one number and one lookup; for depths modulo 3, a walk to the solved state. Same errors as
    /// [`PruningTable::entry`], plus [`TableError::Wrong`] if no neighbour is closer.
    pub fn depth(&self, state: &Arrangement) -> Result<Option<usize>, Error> {
        self.depth_at(self.number(state))
    }

    /// Returns the depth of the state whose entry has a number; see [`PruningTable::depth`]. Same errors as
    /// [`PruningTable::depth`].
    pub fn depth_at(&self, number: u64) -> Result<Option<usize>, Error> {
        let Some(mut entry) = self.entry(number)? else { return Ok(None) };
        if self.encoding() != TableEncoding::Mod3 {
            return Ok(Some(entry.into()));
        }
        let mut at = self.of.numbers.unrank(number);
        for depth in 0..self.histogram().len() {
            if self.of.puzzle.is_goal(&at) {
                return Ok(Some(depth));
            }
            let wanted = self.encoding().closer(entry);
            let after =
                (0..self.of.puzzle.moves().len()).filter_map(|one| self.of.puzzle.moved(&at, one));
            let mut closer = None;
            for next in after {
                let found = self.entry(self.number(&next))?;
                if found == wanted {
                    closer = found.map(|found| (next, found));
                    break;
                }
            }
            let what = "no neighbour is closer to a solved state";
            (at, entry) = closer.ok_or_else(|| self.wrong(Some(self.number(&at)), what))?;
        }
        let what = "the depth exceeds the maximum depth in the histogram";
        Err(self.wrong(Some(number), what).into())
    }

    /// Returns a function that maps states of a puzzle, given as the piece at each position of each set, to entry
    /// numbers; `None` if the table's puzzle is not a projection of this puzzle. Cost of a number: about 100 ns.
    #[allow(clippy::type_complexity)]
    pub fn numbers_of(
        &self,
        puzzle: &Puzzle,
    ) -> Option<impl Fn(&dyn Fn(usize, usize) -> Placed) -> u64 + Sync + '_> {
        let map = PieceMap::new(puzzle, &self.of.puzzle)?;
        Some(move |at: &dyn Fn(usize, usize) -> Placed| {
            let piece = |set: usize, position: usize| {
                map.piece(set, &self.of.puzzle, at(map.set[set], position))
            };
            let Some(ranking) = self.of.numbers.plain() else {
                let row = |(o, set): (usize, &PieceSet)| {
                    (0..set.positions()).map(|position| piece(o, position)).collect()
                };
                let rows = self.of.puzzle.sets().iter().enumerate().map(row);
                return self.number(&Arrangement(rows.collect()));
            };
            let of_group = |group: &RankGroup| {
                group.rank(|index| piece(group.set, group.positions[index].into()))
            };
            ranking.groups.iter().map(of_group).sum()
        })
    }

    fn wrong(&self, number: Option<u64>, what: &'static str) -> TableError {
        let at = number.map_or(String::new(), |number| format!(" at entry {number}"));
        TableError::Wrong(format!(
            "the table for {} is wrong{at}: {what}; rebuild it with {BUILD_PRUNING}",
            self.of.puzzle
        ))
    }

    /// Checks each entry against those of its neighbours: only the solved state has depth 0, every other state has a
    /// neighbour that is exactly one move closer and none that is closer than that, and the number of states at each
    /// depth agrees with the histogram. For entries with full depths, this proves all depths and relies only on the
    /// numbers of states and on rows of fields, which are compared with arrangements: the number of every state, and
    /// the moves of one state in 16,384. For depths modulo 3, it is merely a check.
    ///
    /// Cost: about 100 ns of one core per state per move; where moves need or forbid a piece, several times that.
    ///
    /// # Errors
    /// [`TableError::Wrong`] for the first wrong entry found; [`SystemError::Interrupted`].
    pub fn verify(&self, progress: &dyn Progress) -> Result<(), Error> {
        let encoding = self.encoding();
        let modulo = encoding == TableEncoding::Mod3;
        let goals = self.of.puzzle.goals();
        let solved: HashSet<u64> = goals.iter().map(|goal| self.number(goal)).collect();
        let counts = Mutex::new([0; 256]);
        const PART: u64 = 1 << 14;
        let parts = self.entries().div_ceil(PART) as usize;
        let puzzle = &self.of.puzzle;
        let fields = StateFields::of(puzzle);
        let maps: Vec<_> = puzzle.moves().iter().map(|one| fields.of_move(puzzle, one)).collect();
        let rank = self.of.numbers.images(puzzle, &SymmetryGroup::trivial(&fields).maps);
        let is_free = puzzle.allows_all_moves();
        let checked = map_numbers(parts, &|part| -> Result<(), Error> {
            let part = part as u64;
            go_on(progress)?;
            progress.progress(Phase::File, part, self.entries() / PART);
            let mut own = [0; 256];
            let mut next = self.of.puzzle.solved();
            let mut neighbours = Vec::with_capacity(self.of.puzzle.moves().len());
            let (mut row_of_next, mut is_first) = (Vec::new(), true);
            for number in part * PART..((part + 1) * PART).min(self.entries()) {
                let wrong = |what| Err(self.wrong(Some(number), what).into());
                let Some(entry) = self.entry(number)? else { continue };
                own[usize::from(entry)] += self.of.numbers.arrangements(number);
                let state = self.of.numbers.unrank(number);
                let row = fields.encode(&state);
                if self.number(&state) != number || rank.number(&row) != number {
                    return wrong("the state of this entry has a different number");
                }
                let is_goal = solved.contains(&number);
                let mut closer = is_goal;
                // All numbers first: the processor then waits for several entries at once.
                neighbours.clear();
                for (one, map) in maps.iter().enumerate() {
                    // Rows are moved and numbered in a fraction of the time that arrangements take.
                    map.apply_to(&row, &mut row_of_next);
                    let found = rank.number(&row_of_next);
                    if is_free && !is_first {
                        neighbours.push(found);
                    } else if self.of.puzzle.write_moved(&state, one, &mut next) {
                        neighbours.push(self.number(&next));
                        if neighbours.last() != Some(&found) {
                            return wrong("a neighbour has two numbers");
                        }
                    }
                }
                is_first = false;
                for &next in &neighbours {
                    let Some(next) = self.entry(next)? else {
                        return wrong("a neighbour has no entry");
                    };
                    let one_closer = Some(next) == encoding.closer(entry);
                    closer |= one_closer;
                    if !modulo && next + 1 < entry || is_goal && one_closer && !modulo {
                        return wrong("the depth of a neighbour is too small");
                    }
                }
                if !closer || !modulo && (entry == 0) != is_goal {
                    return wrong("no neighbour is one move closer");
                }
            }
            counts.lock().iter_mut().zip(own).for_each(|(all, own)| *all += own);
            Ok(())
        });
        checked.into_iter().collect::<Result<(), Error>>()?;
        let mut expected = [0; 256];
        for (depth, count) in self.histogram().iter().enumerate() {
            expected[if modulo { depth % 3 } else { depth }] += count;
        }
        if counts.into_inner() != expected {
            let what = "the number of states at some depth differs from the histogram";
            return Err(self.wrong(None, what).into());
        }
        Ok(())
    }
}
