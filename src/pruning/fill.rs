//! Fills a table whose states have numbers but no blocks: by rows of consecutive entries, or from a list search.
//!
//! `table` chooses: rows if several sets of positions have digits, a list search otherwise. [`TableRows`] goes through
//! the levels itself; [`TableLevels`] is the level store of a `FrontierSearch` and writes each level as it arrives.
//! Both write depths into the bytes of the table.
//!
//! Invariant: whichever fills a table, its entries are the same.

use std::{
    borrow::Cow,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use crate::{
    Error,
    frontier::{
        BucketLists, BucketSpace, FieldMap, FoundLists, FrontierSearch, LevelStore, LevelTotal,
        LevelUse, ListSink, MemoryLevels, StateFields, SymmetryGroup, Unlined,
    },
    hint::{MEMORY, PIECES},
    kernel::prefetch,
    progress::{Meter, Phase, Progress, go_on},
    pruning::{
        Entries, each_level,
        numbers::{RowImages, TableNumbers},
    },
    puzzle::{Puzzle, ranking::RankGroup},
    resources::Resources,
    stop::SearchError,
    store::LevelRecord,
    system::SystemError,
    table::{TableEncoding, TableError},
    threads::{each_number, map_numbers},
    units::bytes,
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
    /// For each move, forward and backward, and each symmetry, where values go, if that does not depend on the head.
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
    parts: Vec<Cow<'r, [u32]>>,
}

impl<'n> TableRows<'n> {
    /// `None` if moves depend on where a piece is, or if the parts are too large for their rows.
    pub fn new(puzzle: &Puzzle, numbers: &'n TableNumbers) -> Option<TableRows<'n>> {
        if !puzzle.allows_all_moves() {
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
        let forward: Vec<FieldMap> =
            puzzle.moves().iter().map(|one| fields.of_move(puzzle, one)).collect();
        let backward = forward.iter().map(FieldMap::inverse).collect();
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

    /// Where moves take the entries of a row: forward to all entries of the resulting states, backward to one of them.
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
                        Cow::Borrowed(&known[index].get_or_init(|| of(*one, target))[..])
                    }
                    None => Cow::Owned(of(*one, target)),
                };
                debug_assert_eq!(target.parts.len(), p);
                target.parts.push(made);
            }
        }
        targets.into_iter().map(|(_, target)| target).collect()
    }

    /// The maximum memory, in bytes, that a search takes in addition to the table.
    pub fn bytes(&self) -> u64 {
        let arrays = |part: &TailPart| part.known.as_ref().map_or(0, |known| known.len() as u64);
        self.parts.iter().map(|part| part.values * arrays(part) * 4).sum()
    }

    /// The position of the first entry of a line in a target.
    #[inline]
    fn line_of(&self, target: &RowStep, line: u64) -> u64 {
        let of =
            |(part, to): (&TailPart, &Cow<[u32]>)| to[(line / part.weight % part.values) as usize];
        let parts = self.parts.iter().zip(&target.parts).take(self.parts.len() - 1);
        let tail = parts.map(of).fold(0u32, u32::wrapping_add);
        let base = target.first % self.length;
        target.first - base + u64::from((base as u32).wrapping_add(tail))
    }

    /// Writes the depth of every state to the empty entries; returns the number of states at each depth.
    pub fn fill(&self, entries: Entries, progress: &dyn Progress) -> Result<Vec<u64>, TableError> {
        let (encoding, mut left, mut found) = (entries.encoding, self.numbers.entries, 0);
        each_level(encoding, progress, |depth, entry| {
            let Some(before) = depth.checked_sub(1) else {
                let mut states = 0;
                for goal in &self.goals {
                    self.images.each(goal, |number, _| {
                        if entries.set(number, 0) {
                            (states, found) =
                                (states + self.numbers.arrangements(number), found + 1);
                        }
                    });
                }
                return states;
            };
            left -= found;
            let back = found * FEW > left;
            let meter = Meter::new(progress, Phase::Search(depth), 0, self.heads);
            let now = encoding.entry(before).unwrap_or_default();
            let sums = [(); 2].map(|()| AtomicU64::new(0));
            each_number(self.heads as usize, &|head| {
                if meter.add(1).is_err() {
                    return;
                }
                let (states, found) = self.expand(head as u64, back, entries, (now, entry));
                sums[0].fetch_add(states, Ordering::Relaxed);
                sums[1].fetch_add(found, Ordering::Relaxed);
            });
            let [states, new] = sums.map(AtomicU64::into_inner);
            found = new;
            states
        })
    }

    /// Assigns the next depth to all entries without a depth that a row's states at a depth reach; backward, to those
    /// of the row that have a neighbour at the depth. Returns how many states and entries these are.
    fn expand(
        &self,
        head: u64,
        back: bool,
        entries: Entries,
        (now, after): (u8, Option<u8>),
    ) -> (u64, u64) {
        let (mut states, mut new, mut found) = (0, 0, Vec::new());
        let (first, mut targets, none) = (head * self.length, None, entries.encoding.none());
        let line = self.parts[self.parts.len() - 1].values;
        for at in (0..self.length).step_by(line as usize) {
            entries.with(first + at, line, if back { none } else { now }, &mut found);
            if found.is_empty() {
                continue;
            }
            for target in targets.get_or_insert_with(|| self.targets(head, back)) {
                let to = self.line_of(target, at);
                let base = to - to % self.length;
                let goes = &target.parts[self.parts.len() - 1][..];
                let image = |value: u32| {
                    base + u64::from(((to - base) as u32).wrapping_add(goes[value as usize]))
                };
                if back {
                    found.retain(|&value| {
                        let is_next = entries.get(image(value)) == now;
                        if is_next {
                            new += 1;
                            let own = first + at + u64::from(value);
                            after.inspect(|&after| _ = entries.set(own, after));
                        }
                        !is_next
                    });
                } else {
                    for number in found.iter().map(|&value| image(value)) {
                        let set = |after| entries.set(number, after);
                        if entries.get(number) == none && after.is_none_or(set) {
                            (states, new) = (states + self.numbers.arrangements(number), new + 1);
                        }
                    }
                }
            }
        }
        // The entries of a row have equally many arrangements.
        (if back { new * self.numbers.arrangements(first) } else { states }, new)
    }
}

// Fills a table from a list search. The search keeps one state from each class of symmetric states; when a level is
// closed, the entries of all states in the class are written.

/// The levels of a search, whose states are written to a table as they arrive.
pub(crate) struct TableLevels<'t> {
    levels: MemoryLevels,
    depth: usize,
    entries: Entries<'t>,
    numbers: &'t TableNumbers,
    puzzle: &'t Puzzle,
    /// The entries of a state and of its images.
    images: Option<RowImages<'t>>,
    /// How rows with lines are turned into those of the table.
    unlined: Option<Unlined>,
    progress: &'t dyn Progress,
}

/// Number of entries whose bytes are prefetched before they are written.
const AHEAD: usize = 512;

impl TableLevels<'_> {
    /// Searches a puzzle and writes the depth of every state; returns the number of states at each depth.
    pub fn fill(
        searched: Puzzle,
        (puzzle, numbers): (&Puzzle, &TableNumbers),
        entries: Entries,
        resources: Resources,
        progress: &dyn Progress,
    ) -> Result<Vec<u64>, Error> {
        let mut search = FrontierSearch::new(searched).resources(resources);
        search.keep_last = 1;
        let mut levels = TableLevels {
            levels: MemoryLevels::default(),
            depth: 0,
            entries,
            numbers,
            puzzle,
            images: None,
            unlined: Unlined::new(puzzle, &StateFields::with_lines(puzzle)),
            progress,
        };
        match search.run_in(&mut levels, None, progress) {
            // A partial table is useless.
            Err(Error::Search(SearchError::Interrupted { .. })) => {
                Err(SystemError::Interrupted.into())
            }
            Err(Error::Search(SearchError::Level { puzzle, depth, budget })) => {
                let budget = bytes(budget);
                Err(TableError::Memory(format!(
                    "the states at depth {depth} of {puzzle} do not fit in {budget} of memory, so \
                     its table cannot be filled: keep fewer pieces ({PIECES}), or allow more \
                     memory ({MEMORY})"
                ))
                .into())
            }
            found => Ok(found?.counts),
        }
    }

    /// Writes entries whose bytes have been prefetched.
    fn write(&self, numbers: &[u64], value: u8) {
        for &number in numbers {
            let (byte, keep) = self.entries.unwritten(number, value);
            match self.entries.encoding {
                TableEncoding::Byte => byte.store(value, Ordering::Relaxed),
                _ => _ = byte.fetch_and(keep, Ordering::Relaxed),
            }
        }
    }
}

impl LevelStore for TableLevels<'_> {
    fn sink(&self) -> &dyn ListSink {
        &self.levels
    }

    fn found(&mut self, space: &BucketSpace, room: u64) -> Result<FoundLists, Error> {
        let itself = SymmetryGroup::trivial(&StateFields::of(self.puzzle));
        // Images of rows with lines are made before they are turned into others.
        let group = if self.unlined.is_some() { &itself } else { &space.coordinate.group };
        self.images = Some(self.numbers.images(self.puzzle, &group.maps));
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
    ) -> Result<(BucketLists, LevelRecord), Error> {
        let (lists, level) = self.levels.close(total, space, begun)?;
        let (Entries { bytes, encoding }, depth) = (self.entries, self.depth);
        if level.states == 0 {
            return Ok((lists, level));
        }
        let entry = encoding.entry(depth)?;
        let written = map_numbers(lists.chunks.len(), &|chunk| -> Result<(), Error> {
            go_on(self.progress)?;
            let images = self.images.as_ref().expect("the search has begun");
            let mut numbers = Vec::with_capacity(AHEAD + images.most());
            let (mut image, mut plain) = (Vec::new(), Vec::new());
            space.each_row(chunk, &lists.chunks[chunk], &mut |row| {
                let mut add = |row: &[u8]| {
                    images.each(row, |number, _| {
                        prefetch::<1, _>(bytes.as_ptr().wrapping_add(encoding.place(number).0));
                        numbers.push(number);
                    });
                };
                match &self.unlined {
                    None => add(row),
                    Some(unlined) => space.coordinate.group.maps.iter().for_each(|map| {
                        map.apply_to(row, &mut image);
                        unlined.write(&image, &mut plain);
                        add(&plain);
                    }),
                }
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Resources,
        frontier::FrontierSearch,
        progress::NoProgress,
        pruning::PruningTable,
        puzzle::{Turns, named},
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
        for (puzzle, encodings) in [
            (cube(Turns::Powers, "corners:1-3 edges", "edges", slice), 3),
            (cube(Turns::Quarter, "corners:1-3 edges", "edges", slice), 1),
            (cube(Turns::Directed, "corners:1-2 edges", "edges", slice), 2),
            (named::parse("pyraminx").unwrap().counting(Turns::Powers).unwrap(), 3),
        ] {
            let counts = FrontierSearch::new(puzzle.clone()).run().unwrap().counts;
            let reduced = TableNumbers::up_to_symmetry(&puzzle, &NoProgress).unwrap();
            for numbers in [TableNumbers::all(&puzzle).ok(), reduced].into_iter().flatten() {
                let Some(rows) = TableRows::new(&puzzle, &numbers) else { continue };
                filled += 1;
                heads_only += usize::from(rows.parts.iter().all(|part| part.known.is_some()));
                let whole = numbers.symmetries() == 1;
                let all = [TableEncoding::Byte, TableEncoding::Nibble, TableEncoding::Mod3];
                for encoding in &all[..encodings] {
                    let (kind, resources) = ((*encoding, !whole), Resources::new());
                    let table = PruningTable::build_with(&puzzle, kind, resources, &NoProgress);
                    if *encoding == TableEncoding::Nibble && counts.len() > 15 {
                        let error = table.unwrap_err().to_string();
                        assert!(error.contains("15"), "{error}");
                        continue;
                    }
                    let table = table.unwrap();
                    assert_eq!(table.histogram(), counts, "{puzzle} {encoding} {whole}");
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
        let kind = (TableEncoding::Byte, false);
        let error = PruningTable::build_with(&puzzle, kind, Resources::new(), &stopped);
        assert!(matches!(error, Err(Error::System(SystemError::Interrupted))));
    }
}
