//! Fills a table whose states have numbers but no blocks: by rows of consecutive entries, or from a list search.
//!
//! `table` chooses: rows if several sets of positions have digits, a list search otherwise. [`TableRows`] goes through
//! the levels itself; [`TableLevels`] is the level store of a `FrontierSearch` and writes each level as it arrives.
//! Both write depths into the bytes of the table.
//!
//! Invariant: whichever fills a table, its entries are the same.

use std::{
    array::from_fn,
    sync::{
        OnceLock,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::Instant,
};

use crate::{
    Error,
    frontier::{
        BucketLists, BucketSpace, FieldMap, FoundLists, FrontierError, FrontierLevel,
        FrontierSearch, LevelEnd, LevelStore, LevelTotal, LevelUse, ListSink, MemoryLevels,
        StateFields, SymmetryGroup,
    },
    kernel::prefetch,
    progress::{LevelDone, Phase, Progress},
    pruning::{
        EntrySize,
        numbers::{RowImages, TableNumbers},
    },
    puzzle::{orbits::OrbitPuzzle, ranking::RankGroup},
    resources::Resources,
    store::ListCut,
    table::TableError,
    threads::{each_number, map_numbers},
};

// Fills a table by rows: consecutive entries whose numbers have the same head.
//
// A number consists of a head and a tail, and the tail has a part for each group of positions. A move takes a row to a
// row. Within that row, the tail is a sum over the parts, so that a small array for each part determines where all
// entries of the row go. No state of a row has to be constructed, and nothing but the table is stored.
//
// When a level has few states, each is expanded forward; later, each entry without a depth looks for a neighbour in
// the last level.
//
// Invariant: levels are those of the list search; if several entries represent one state, all of them are written.

/// Minimum number of entries of a row for each value of its parts.
const FEWEST: u64 = 8;
/// Maximum size in bytes of the arrays that serve all heads.
const MOST_BYTES: u64 = 1 << 28;
/// Once a level has one state for this many entries without a depth, these entries look for neighbours.
const FEW: u64 = 4;

/// One part of the tails.
struct TailPart {
    values: u64,
    weight: u64,
    /// For each move, forward and backward, and each symmetry, where values go; only if that does not depend on the
    /// head.
    known: Option<Vec<OnceLock<Vec<u32>>>>,
}

/// The rows of a table.
pub(crate) struct TableRows<'n> {
    numbers: &'n TableNumbers,
    fields: StateFields,
    images: RowImages<'n>,
    /// The moves, and their inverses.
    moves: [Vec<FieldMap>; 2],
    goals: Vec<Vec<u8>>,
    heads: u64,
    /// Number of entries of a row.
    length: u64,
    /// The last part counts in ones.
    parts: Vec<TailPart>,
}

/// Where a move takes the entries of a row.
struct RowStep<'r> {
    first: u64,
    symmetry: u16,
    /// For each part, where its values go: the target is the sum over the parts.
    parts: Vec<PartTarget<'r>>,
}

enum PartTarget<'r> {
    Known(&'r [u32]),
    Own(Vec<u32>),
}

impl PartTarget<'_> {
    #[inline]
    fn of(&self) -> &[u32] {
        match self {
            PartTarget::Known(of) => of,
            PartTarget::Own(of) => of,
        }
    }
}

/// The entries while they are being written.
#[derive(Clone, Copy)]
struct Entries<'e> {
    bytes: &'e [AtomicU8],
    size: EntrySize,
}

impl Entries<'_> {
    #[inline(always)]
    fn get(self, number: u64) -> u8 {
        let (byte, shift) = self.size.place(number);
        self.bytes[byte].load(Ordering::Relaxed) >> shift & self.size.none()
    }

    /// Writes an entry; returns whether it was empty.
    #[inline(always)]
    fn set(self, number: u64, entry: u8) -> bool {
        let (none, (byte, shift)) = (self.size.none(), self.size.place(number));
        // Unwritten entries have all bits set.
        let before = self.bytes[byte].fetch_and(!((none ^ entry) << shift), Ordering::Relaxed);
        before >> shift & none == none
    }

    /// Collects those of `count` entries that have a value.
    fn with(self, first: u64, count: u64, value: u8, found: &mut Vec<u32>) {
        found.clear();
        let bits = self.size.bits();
        let (each, lowest) = (u64::from(64 / bits), u64::MAX / u64::from(self.size.none()));
        let mut word = first / each;
        while word * each < first + count {
            let byte = |i: usize| {
                self.bytes.get(word as usize * 8 + i).map_or(0, |b| b.load(Ordering::Relaxed))
            };
            // In entries with the value, first all bits are set, then only their lowest.
            let mut same = u64::from_le_bytes(from_fn(byte)) ^ !(lowest * u64::from(value));
            for by in [1, 2, 4].into_iter().filter(|by| *by < bits) {
                same &= same >> by;
            }
            same &= lowest;
            while same != 0 {
                let number = word * each + u64::from(same.trailing_zeros() / bits);
                same &= same - 1;
                if (first..first + count).contains(&number) {
                    found.push((number - first) as u32);
                }
            }
            word += 1;
        }
    }
}

impl<'n> TableRows<'n> {
    /// Returns the rows of a puzzle's table; `None` if moves depend on where a piece is, or if the parts are too large
    /// for their rows.
    pub fn new(puzzle: &OrbitPuzzle, numbers: &'n TableNumbers) -> Option<TableRows<'n>> {
        if !puzzle.illegal().is_empty() || puzzle.moves().iter().any(|one| one.requires.is_some()) {
            return None;
        }
        let (length, ranking) = numbers.rows()?;
        let fields = StateFields::of(puzzle);
        let is_tail = |weight: &u64| *weight < length;
        let is_head = |group: &RankGroup| !group.digits().iter().any(is_tail);
        let arrays = (2 * puzzle.moves().len() * numbers.symmetries()) as u64;
        let (mut parts, mut above, mut own, mut shared) = (Vec::new(), length, 0, 0);
        for group in &ranking.groups {
            let digits = group.digits();
            let Some(&weight) = digits.iter().filter(|weight| is_tail(weight)).min() else {
                continue;
            };
            let values = above / weight;
            above = weight;
            let mut others = group.parity.iter().flat_map(|(others, _)| others);
            if !others.all(|&other| is_head(&ranking.groups[other])) {
                return None;
            }
            let alone = group.parity.is_none()
                && digits.iter().all(is_tail)
                && values * arrays * 4 <= MOST_BYTES;
            match alone {
                true => shared += values * arrays * 4,
                false => own += values,
            }
            let known = alone.then(|| (0..arrays).map(|_| OnceLock::new()).collect());
            parts.push(TailPart { values, weight, known });
        }
        if parts.is_empty()
            || own * FEWEST > length
            || shared > MOST_BYTES
            || length > u64::from(u32::MAX)
        {
            return None;
        }
        let back = |map: &FieldMap| map.inverse();
        let forward: Vec<FieldMap> =
            puzzle.moves().iter().map(|one| fields.of_move(puzzle, &one.transformation)).collect();
        let backward = forward.iter().map(back).collect();
        Some(TableRows {
            numbers,
            images: numbers.images(puzzle, &SymmetryGroup::trivial(&fields).maps),
            moves: [forward, backward],
            goals: puzzle.goals().iter().map(|goal| fields.encode(goal)).collect(),
            fields,
            heads: numbers.entries / length,
            length,
            parts,
        })
    }

    /// The rows of fields of a head's states, one for each value of a part.
    fn values(&self, head: u64, part: &TailPart) -> Vec<Vec<u8>> {
        let state = |value| self.numbers.unrank(head * self.length + value * part.weight);
        (0..part.values).map(|value| self.fields.encode(&state(value))).collect()
    }

    /// Where moves take the entries of a row: forward to all entries that represent the resulting states, backward to
    /// one of them.
    fn targets(&self, head: u64, back: bool) -> Vec<RowStep<'_>> {
        let all = &self.moves[usize::from(back)];
        let least = self.fields.encode(&self.numbers.unrank(head * self.length));
        let mut row = Vec::new();
        let mut targets: Vec<(usize, RowStep)> = Vec::new();
        for (one, map) in all.iter().enumerate() {
            map.apply_to(&least, &mut row);
            let from = targets.len();
            self.images.each(&row, |number, symmetry| {
                if !back || targets.len() == from {
                    targets.push((one, RowStep { first: number, symmetry, parts: Vec::new() }));
                }
            });
        }
        // How far a value moves the target of the first ones; the first part determines that target.
        for (p, part) in self.parts.iter().enumerate() {
            let base = |target: &RowStep| target.first / self.length * self.length;
            let values = OnceLock::new();
            let of = |one: usize, target: &RowStep| -> Vec<u32> {
                let (mut row, mut goes) = (Vec::new(), Vec::new());
                for own in values.get_or_init(|| self.values(head, part)) {
                    all[one].apply_to(own, &mut row);
                    self.images.each(&row, |number, symmetry| {
                        if symmetry == target.symmetry {
                            goes.push((number - base(target)) as u32);
                        }
                    });
                }
                let first = goes[0];
                goes.iter_mut().for_each(|to| *to = to.wrapping_sub(first));
                goes
            };
            for (one, target) in &mut targets {
                let made = match &part.known {
                    Some(known) => {
                        let index = (usize::from(back) * all.len() + *one)
                            * self.numbers.symmetries()
                            + usize::from(target.symmetry);
                        PartTarget::Known(known[index].get_or_init(|| of(*one, target)))
                    }
                    None => PartTarget::Own(of(*one, target)),
                };
                debug_assert_eq!(target.parts.len(), p);
                target.parts.push(made);
            }
        }
        targets.into_iter().map(|(_, target)| target).collect()
    }

    /// Returns the maximum memory, in bytes, that a search takes in addition to the table.
    pub fn bytes(&self) -> u64 {
        let arrays = |part: &TailPart| part.known.as_ref().map_or(0, |known| known.len() as u64);
        self.parts.iter().map(|part| part.values * arrays(part) * 4).sum()
    }

    /// The position of the first entry of a line in a target.
    #[inline]
    fn line_of(&self, target: &RowStep, line: u64) -> u64 {
        let of = |(part, to): (&TailPart, &PartTarget)| {
            to.of()[(line / part.weight % part.values) as usize]
        };
        let parts = self.parts.iter().zip(&target.parts).take(self.parts.len() - 1);
        let tail = parts.map(of).fold(0u32, u32::wrapping_add);
        let base = target.first % self.length;
        target.first - base + u64::from((base as u32).wrapping_add(tail))
    }

    /// Writes the depth of every state to the entries, which are initially empty; returns the number of states at each
    /// depth.
    ///
    /// # Errors
    /// [`TableError::TooDeep`], [`TableError::Interrupted`].
    pub fn fill(
        &self,
        size: EntrySize,
        bytes: &[AtomicU8],
        progress: &dyn Progress,
    ) -> Result<Vec<u64>, Error> {
        let entries = Entries { bytes, size };
        let (mut histogram, mut left) = (Vec::new(), self.numbers.entries);
        progress.started(u64::MAX);
        let (mut states, mut found) = (0, 0);
        for goal in &self.goals {
            self.images.each(goal, |number, _| {
                if entries.set(number, 0) {
                    (states, found) = (states + self.numbers.arrangements(number), found + 1);
                }
            });
        }
        let mut begun = Instant::now();
        for depth in 0.. {
            progress.level(&LevelDone { depth, states, seconds: begun.elapsed().as_secs_f64() });
            begun = Instant::now();
            histogram.push(states);
            left -= found;
            let back = found * FEW > left;
            let done = AtomicU64::new(0);
            // A level whose depth does not fit is found, but not written.
            let after = size.entry(depth + 1);
            let now = size.entry(depth).unwrap_or_default();
            let sums = [(); 2].map(|()| AtomicU64::new(0));
            each_number(self.heads as usize, &|head| {
                if progress.interrupted() {
                    return;
                }
                let done = done.fetch_add(1, Ordering::Relaxed);
                progress.progress(Phase::Search(depth + 1), done, self.heads);
                let (states, found) = match back {
                    true => self.pull(head as u64, entries, (now, after)),
                    false => self.push(head as u64, entries, (now, after)),
                };
                sums[0].fetch_add(states, Ordering::Relaxed);
                sums[1].fetch_add(found, Ordering::Relaxed);
            });
            [states, found] = sums.map(AtomicU64::into_inner);
            if progress.interrupted() {
                return Err(TableError::Interrupted.into());
            }
            if found == 0 {
                break;
            }
            if after.is_none() {
                let max = usize::from(size.none()) - 1;
                return Err(TableError::TooDeep { depth: depth + 1, max }.into());
            }
        }
        Ok(histogram)
    }

    /// Expands a row's states at a depth to all states that they reach; returns how many states and entries are new.
    fn push(&self, head: u64, entries: Entries, (now, after): (u8, Option<u8>)) -> (u64, u64) {
        let (mut states, mut new, mut found) = (0, 0, Vec::new());
        let (first, mut targets) = (head * self.length, None);
        let line = self.parts[self.parts.len() - 1].values;
        for at in (0..self.length).step_by(line as usize) {
            entries.with(first + at, line, now, &mut found);
            if found.is_empty() {
                continue;
            }
            for target in targets.get_or_insert_with(|| self.targets(head, false)) {
                let to = self.line_of(target, at);
                let base = to - to % self.length;
                let goes = target.parts[self.parts.len() - 1].of();
                for &value in &found {
                    let tail = ((to - base) as u32).wrapping_add(goes[value as usize]);
                    let number = base + u64::from(tail);
                    let set = |after| entries.set(number, after);
                    if entries.get(number) == entries.size.none() && after.is_none_or(set) {
                        (states, new) = (states + self.numbers.arrangements(number), new + 1);
                    }
                }
            }
        }
        (states, new)
    }

    /// Assigns a depth to a row's entries that have a neighbour in the last level; returns how many states and entries
    /// these are.
    fn pull(&self, head: u64, entries: Entries, (now, after): (u8, Option<u8>)) -> (u64, u64) {
        let (mut new, mut found) = (0, Vec::new());
        let (first, mut targets) = (head * self.length, None);
        let line = self.parts[self.parts.len() - 1].values;
        for at in (0..self.length).step_by(line as usize) {
            entries.with(first + at, line, entries.size.none(), &mut found);
            if found.is_empty() {
                continue;
            }
            for target in targets.get_or_insert_with(|| self.targets(head, true)) {
                let to = self.line_of(target, at);
                let base = to - to % self.length;
                let goes = target.parts[self.parts.len() - 1].of();
                found.retain(|&value| {
                    let tail = ((to - base) as u32).wrapping_add(goes[value as usize]);
                    let is_next = entries.get(base + u64::from(tail)) == now;
                    if is_next {
                        new += 1;
                        after.inspect(|&after| {
                            _ = entries.set(first + at + u64::from(value), after)
                        });
                    }
                    !is_next
                });
            }
        }
        (new * self.numbers.arrangements(first), new)
    }
}

// Fills a table from a list search. The search keeps one state from each class of symmetric states; when a level is
// closed, the entries of all states in the class are written.

/// The levels of a search, whose states are written to a table as they arrive.
pub(crate) struct TableLevels<'t> {
    levels: MemoryLevels,
    depth: usize,
    size: EntrySize,
    entries: &'t [AtomicU8],
    numbers: &'t TableNumbers,
    puzzle: &'t OrbitPuzzle,
    /// The entries of a state and of its images.
    images: Option<RowImages<'t>>,
    progress: &'t dyn Progress,
}

/// Number of entries whose bytes are prefetched before they are written.
const AHEAD: usize = 512;

impl TableLevels<'_> {
    /// Searches a puzzle and writes the depth of every state to the entries of a table; returns the number of states at
    /// each depth.
    ///
    /// # Errors
    /// [`TableError::TooDeep`], [`TableError::Interrupted`], and the errors of the search.
    pub fn fill(
        searched: OrbitPuzzle,
        (puzzle, numbers): (&OrbitPuzzle, &TableNumbers),
        size: EntrySize,
        entries: &[AtomicU8],
        resources: Resources,
        progress: &dyn Progress,
    ) -> Result<Vec<u64>, Error> {
        let mut search = FrontierSearch::new(searched).resources(resources);
        search.keep_last = 1;
        let mut levels = TableLevels {
            levels: MemoryLevels::default(),
            depth: 0,
            size,
            entries,
            numbers,
            puzzle,
            images: None,
            progress,
        };
        let found = search.run_in(&mut levels, None, progress);
        let found = found.map_err(|error| match error {
            // A partial table is useless.
            Error::Frontier(FrontierError::Interrupted) => TableError::Interrupted.into(),
            error => error,
        })?;
        Ok(found.counts())
    }

    /// Writes entries whose bytes have been prefetched.
    fn write(&self, numbers: &[u64], entry: u8) {
        let none = self.size.none();
        for &number in numbers {
            let (byte, shift) = self.size.place(number);
            match self.size {
                EntrySize::Byte => self.entries[byte].store(entry, Ordering::Relaxed),
                // Unwritten entries have all bits set.
                _ => {
                    _ = self.entries[byte].fetch_and(!((none ^ entry) << shift), Ordering::Relaxed)
                }
            }
        }
    }
}

impl LevelStore for TableLevels<'_> {
    fn is_on_disk(&self) -> bool {
        false
    }

    fn sink(&self) -> &dyn ListSink {
        &self.levels
    }

    fn begin(&mut self, space: &BucketSpace, cut: &ListCut) -> Result<(), Error> {
        self.images = Some(self.numbers.images(self.puzzle, &space.coordinate.group.maps));
        self.levels.begin(space, cut)
    }

    fn found(&mut self, space: &BucketSpace, room: u64) -> Result<FoundLists, Error> {
        self.levels.found(space, room)
    }

    fn open(&mut self, depth: usize, becomes: LevelUse, room: u64) {
        self.depth = depth;
        self.levels.open(depth, becomes, room);
    }

    fn close(
        &mut self,
        total: LevelTotal,
        space: &BucketSpace,
        begun: Instant,
    ) -> Result<(BucketLists, FrontierLevel), Error> {
        let (lists, level) = self.levels.close(total, space, begun)?;
        let Some(entry) = self.size.entry(self.depth) else {
            let (depth, max) = (self.depth, usize::from(self.size.none()) - 1);
            return Err(TableError::TooDeep { depth, max }.into());
        };
        let written = map_numbers(lists.chunks.len(), &|chunk| -> Result<(), Error> {
            if self.progress.interrupted() {
                return Err(TableError::Interrupted.into());
            }
            let images = self.images.as_ref().expect("the search has begun");
            let mut numbers = Vec::with_capacity(AHEAD + images.most());
            space.each_row(chunk, &lists.chunks[chunk], &mut |row| {
                images.each(row, |number, _| {
                    prefetch::<1, _>(self.entries.as_ptr().wrapping_add(self.size.place(number).0));
                    numbers.push(number);
                });
                if numbers.len() >= AHEAD {
                    self.write(&numbers, entry);
                    numbers.clear();
                }
            })?;
            self.write(&numbers, entry);
            Ok(())
        });
        written.into_iter().collect::<Result<(), Error>>()?;
        Ok((lists, level))
    }

    fn ended(&self, puzzle: &OrbitPuzzle, depth: usize, end: LevelEnd) -> Error {
        self.levels.ended(puzzle, depth, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Resources,
        frontier::FrontierSearch,
        progress::NoProgress,
        pruning::PruningTable,
        puzzle::{named, orbits::Turns},
        table::TableError,
    };

    /// Parts that depend on heads and parts that do not, complete and up to symmetry, deep levels, directed moves; the
    /// list search is the reference.
    #[test]
    fn levels_are_those_of_the_search() {
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let cube = |turns, pieces: &str, ignored: &str, alike: &str| {
            let cube = named::parse("3x3x3").unwrap().counting(turns).unwrap();
            let kept = cube.keeping(&words(pieces)).unwrap();
            kept.unoriented(&words(ignored)).unwrap().alike(&words(alike)).unwrap()
        };
        let slice = "edges:1-4+9-12 edges:5-8";
        let (mut heads_only, mut filled) = (0, 0);
        for (puzzle, sizes) in [
            (cube(Turns::Powers, "corners:1-3 edges", "edges", slice), 3),
            (cube(Turns::Quarter, "corners:1-3 edges", "edges", slice), 1),
            (cube(Turns::Directed, "corners:1-2 edges", "edges", slice), 2),
            (named::parse("pyraminx").unwrap().counting(Turns::Powers).unwrap(), 3),
        ] {
            let counts = FrontierSearch::new(puzzle.clone()).run().unwrap().counts();
            let reduced = TableNumbers::up_to_symmetry(&puzzle).unwrap();
            for numbers in [TableNumbers::all(&puzzle).ok(), reduced].into_iter().flatten() {
                let Some(rows) = TableRows::new(&puzzle, &numbers) else { continue };
                filled += 1;
                heads_only += usize::from(rows.parts.iter().all(|part| part.known.is_some()));
                let whole = numbers.symmetries() == 1;
                for size in [EntrySize::Byte, EntrySize::Nibble, EntrySize::Mod3].iter().take(sizes)
                {
                    let table = match whole {
                        true => PruningTable::build(&puzzle, *size, Resources::new()),
                        false => PruningTable::build_up_to_symmetry(
                            &puzzle,
                            *size,
                            Resources::new(),
                            &NoProgress,
                        ),
                    };
                    if *size == EntrySize::Nibble && counts.len() > 15 {
                        let error = table.unwrap_err().to_string();
                        assert!(error.contains("15"), "{error}");
                        continue;
                    }
                    let table = table.unwrap();
                    assert_eq!(table.histogram(), counts, "{puzzle} {size} {whole}");
                    if numbers.entries < 1 << 21 {
                        table.verify(&NoProgress).unwrap();
                    }
                }
            }
        }
        // Both kinds of parts have occurred.
        assert!(filled >= 6 && heads_only >= 1 && heads_only < filled, "{filled} {heads_only}");
        let stopped = crate::progress::StopWhen(|| true);
        let puzzle = cube(Turns::Powers, "corners:1-3 edges", "edges", slice);
        let error = PruningTable::build_with(&puzzle, EntrySize::Byte, Resources::new(), &stopped);
        assert!(matches!(error, Err(Error::Table(TableError::Interrupted))));
    }
}
