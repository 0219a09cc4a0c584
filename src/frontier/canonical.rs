//! Levels of states in canonical form: of a state and its images under all symmetries, only the least row is kept.
//!
//! Buckets can use only the symmetries that preserve their coordinate, and move whole keys. Here, every state that a move
//! leads to is made canonical, and looked up in a table of hash values. This takes longer for each state, but uses all
//! symmetries of every puzzle, and the table has 16 bytes for each state, however long its row is: the state that it comes
//! from, the move, and the symmetry that makes the result canonical. Rows whose hash values are equal are compared.
//!
//! To find the least image, only few images are computed. Symmetries permute pairs of a field and a value; those that they
//! take to each other have the same **type**. A state has the same number of pairs of each type as all of its images. The
//! candidates are the symmetries that take a pair of its rarest type to the first pair of this type.
//!
//! Invariant: every state has the same canonical form as its images, and the symmetries that lead to it are candidates.

use std::{
    collections::{BTreeSet, HashMap},
    sync::atomic::{AtomicU64, Ordering},
};

use hashbrown::{HashTable, hash_table::Entry};
use parking_lot::Mutex;
use rayon::prelude::*;
use twox_hash::XxHash3_64;

use crate::{
    Error,
    frontier::{
        bucket_space::PLACE,
        fields::FieldMap,
        levels::LevelTotal,
        symmetry::{PuzzleRows, SymmetryGroup},
    },
    kernel::keys::digest,
    progress::{Meter, Phase, Progress},
    stop::SearchError,
};

/// Number of tables among which the states of all levels are distributed.
const SHARDS: usize = 1024;
/// Number of states, and of bytes of the rows after their moves, that a thread brings into the order of the tables.
const MOST_BLOCK: usize = 1024;
const BLOCK_BYTES: usize = 4 << 20;
/// In the place of a move: the state is in the list of a level.
const LISTED: u16 = u16::MAX;

/// The value of a field after a map of rows: the entry of a table for the value of a field before it.
#[derive(Clone, Copy, Debug)]
struct FieldImage {
    to: u16,
    from: u16,
    table: u32,
}

/// A state that has been found: if it is listed, its level and its place there, otherwise the place of the state that it
/// comes from, the move, and the symmetry that makes it canonical.
#[derive(Clone, Copy, Debug)]
struct FoundState {
    hash: u64,
    index: u32,
    one: u16,
    by: u16,
}

/// The working memory with which a thread makes states canonical.
#[derive(Default)]
struct CanonicalWorker {
    least: Vec<u8>,
    moved: Vec<u8>,
    again: Vec<u8>,
    /// The type of the pair of each field, and for each type the number of images, 0 between two states.
    types: Vec<u32>,
    images: Vec<u32>,
    /// The states after moves, with the number of symmetries that leave each as it is, and their rows.
    found: Vec<(FoundState, u64)>,
    rows: Vec<u8>,
    order: Vec<u64>,
}

/// A pair of a field and a value: its type, and those symmetries that take it to the first pair of this type.
#[derive(Clone, Copy, Debug)]
struct ValuePair {
    of_type: u32,
    begin: u32,
    count: u32,
}

/// The states of a puzzle in canonical form, and the effects of its moves.
pub(super) struct CanonicalStates {
    puzzle: String,
    fields: usize,
    pub group: SymmetryGroup,
    /// The different tables of all maps.
    tables: Vec<[u8; 128]>,
    /// For each move, the fields that it may change; for each symmetry, all fields.
    moves: Vec<Vec<FieldImage>>,
    symmetries: Vec<Vec<FieldImage>>,
    /// The number of the first pair of each field, all pairs, and the number of types.
    first: Vec<usize>,
    pairs: Vec<ValuePair>,
    types: usize,
    /// The symmetries that take pairs to the first ones of their types.
    taking: Vec<u16>,
    /// What pairs add to the number of a state, from which checksums are made.
    sums: Vec<u32>,
    directed: bool,
}

impl CanonicalStates {
    fn row<'a>(&self, rows: &'a [u8], index: u32) -> &'a [u8] {
        &rows[index as usize * self.fields..][..self.fields]
    }

    /// Returns the states of a puzzle whose moves are always possible.
    ///
    /// Cost: some nanoseconds for each value of each field and symmetry.
    pub fn new(of: &PuzzleRows, symmetric: bool) -> CanonicalStates {
        let group = of.canonical_symmetries(symmetric);
        let mut first = vec![0];
        for field in &of.fields.fields {
            first.push(first[first.len() - 1] + field.values);
        }
        let (types, mut firsts, is_group) = group.value_types(&of.fields);
        let mut type_of: Vec<u32> = types.concat();
        if !is_group {
            // Maps that have the same effect on states differ on rows that are none.
            type_of.fill(0);
            firsts.truncate(1);
        }
        let mut taking = vec![Vec::new(); type_of.len()];
        for (number, map) in (0..).zip(&group.maps) {
            for (to, (&from, table)) in map.source.iter().zip(&map.table).enumerate() {
                let pairs = first[usize::from(from)]..;
                for (pair, &value) in pairs.zip(table) {
                    if firsts[type_of[pair] as usize] == (to, value.into()) {
                        taking[pair].push(number);
                    }
                }
            }
        }
        let mut begin = 0;
        let pair = |(&of_type, all): (&u32, &Vec<u16>)| {
            let pair = ValuePair { of_type, begin, count: all.len() as u32 };
            begin += pair.count;
            pair
        };
        let pairs = type_of.iter().zip(&taking).map(pair).collect();
        let (mut tables, mut known) = (Vec::new(), HashMap::new());
        let mut images = |map: &FieldMap, all: bool| {
            let mut images = Vec::new();
            for (to, (&from, values)) in map.source.iter().zip(&map.table).enumerate() {
                let is_same = || values.iter().zip(0..).all(|(&value, own)| value == own);
                if all || usize::from(from) != to || !is_same() {
                    let mut table = [0; 128];
                    table[..values.len()].copy_from_slice(values);
                    let table = *known.entry(table).or_insert_with(|| {
                        tables.push(table);
                        tables.len() as u32 - 1
                    });
                    images.push(FieldImage { to: to as u16, from, table });
                }
            }
            images
        };
        CanonicalStates {
            puzzle: of.puzzle.to_string(),
            fields: of.fields.fields.len(),
            moves: of.moves.iter().map(|one| images(one, false)).collect(),
            symmetries: group.maps.iter().map(|one| images(one, true)).collect(),
            tables,
            first,
            pairs,
            types: firsts.len(),
            taking: taking.concat(),
            // Those of all symmetries, so that checksums do not depend on whether they are used.
            sums: of.canonical_symmetries(true).state_sums(&of.fields).concat(),
            directed: of.puzzle.is_directed(),
            group,
        }
    }

    #[inline]
    fn image(&self, of: FieldImage, row: &[u8]) -> u8 {
        self.tables[of.table as usize][usize::from(row[usize::from(of.from)] % 128)]
    }

    /// Writes the row after a move.
    fn moved(&self, one: u16, row: &[u8], moved: &mut Vec<u8>) {
        moved.clear();
        moved.extend_from_slice(row);
        for &change in &self.moves[usize::from(one)] {
            moved[usize::from(change.to)] = self.image(change, row);
        }
    }

    /// Writes the least image of the row that was moved; returns a symmetry that leads to it, and how many do.
    fn canonical(&self, worker: &mut CanonicalWorker) -> (u16, u64) {
        let CanonicalWorker { least, moved: row, types, images, .. } = worker;
        if self.symmetries.len() == 1 {
            least.clone_from(row);
            return (0, 1);
        }
        images.resize(self.types, 0);
        types.clear();
        let pair = |(&first, &value): (&usize, &u8)| self.pairs[first + usize::from(value)];
        for pair in self.first.iter().zip(&*row).map(pair) {
            types.push(pair.of_type);
            images[pair.of_type as usize] += pair.count;
        }
        let number = |&own: &u32| (images[own as usize], own);
        let rarest = types.iter().map(number).filter(|&(images, _)| images > 0).min();
        types.iter().for_each(|&own| images[own as usize] = 0);
        let (mut by, mut alike) = (0, 0);
        least.clear();
        let mut try_image = |symmetry: u16| {
            let map = &self.symmetries[usize::from(symmetry)];
            let differs = (0..least.len()).find(|&at| self.image(map[at], row) != least[at]);
            match differs {
                None if !least.is_empty() => alike += 1,
                Some(at) if self.image(map[at], row) > least[at] => {}
                at => {
                    let same = at.unwrap_or_default();
                    least.truncate(same);
                    least.extend(map[same..].iter().map(|&of| self.image(of, row)));
                    (by, alike) = (symmetry, 1);
                }
            }
        };
        match rarest {
            Some((_, rarest)) => {
                for field in (0..row.len()).filter(|&field| types[field] == rarest) {
                    let pair = pair((&self.first[field], &row[field]));
                    let taking = &self.taking[pair.begin as usize..][..pair.count as usize];
                    taking.iter().for_each(|&one| try_image(one));
                }
            }
            None => (0..self.symmetries.len() as u16).for_each(try_image),
        }
        (by, alike)
    }

    /// Counts a canonical row that this many symmetries leave as it is.
    fn count(&self, row: &[u8], alike: u64, total: &mut LevelTotal) {
        let add = |(&first, &value): (&usize, &u8)| self.sums[first + usize::from(value)];
        let sum = self.first.iter().zip(row).map(add).fold(0, u32::wrapping_add);
        let states = self.symmetries.len() as u64 / alike;
        total.tally.states += states;
        let checksum = digest(sum).wrapping_mul(states);
        total.tally.checksum = total.tally.checksum.wrapping_add(checksum);
        total.lists.reduced += 1;
        total.lists.kept += 1;
    }

    pub fn describe(&self) -> String {
        let (fields, symmetries) = (self.fields, self.symmetries.len());
        format!("states of {fields} fields in canonical form under {symmetries} symmetries")
    }
}

/// The levels that a search has found.
pub(super) struct CanonicalLevels<'a> {
    of: &'a CanonicalStates,
    /// The rows of each level; none of those that moves do not lead back to.
    rows: Vec<Vec<u8>>,
    shards: Vec<Mutex<HashTable<FoundState>>>,
}

fn shard_of(hash: u64) -> usize {
    (hash >> 32) as usize % SHARDS
}

impl CanonicalLevels<'_> {
    /// Returns level 0 with its totals.
    pub fn start<'a>(
        of: &'a CanonicalStates,
        states: &[Vec<u8>],
    ) -> (CanonicalLevels<'a>, LevelTotal) {
        let mut shards: Vec<HashTable<FoundState>> = vec![HashTable::new(); SHARDS];
        let (mut total, mut worker) = (LevelTotal::default(), CanonicalWorker::default());
        let (mut known, mut rows) = (BTreeSet::new(), Vec::new());
        for state in states {
            worker.moved.clone_from(state);
            let (_, alike) = of.canonical(&mut worker);
            if known.insert(worker.least.clone()) {
                of.count(&worker.least, alike, &mut total);
                let (hash, index) = (XxHash3_64::oneshot(&worker.least), known.len() as u32 - 1);
                let found = FoundState { hash, index, one: LISTED, by: 0 };
                shards[shard_of(hash)].insert_unique(hash, found, |found| found.hash);
                rows.extend_from_slice(&worker.least);
            }
        }
        total.lists.generated = total.lists.kept;
        let shards = shards.into_iter().map(Mutex::new).collect();
        (CanonicalLevels { of, rows: vec![rows], shards }, total)
    }

    /// The memory that the levels take.
    pub fn bytes(&self) -> u64 {
        let places: usize = self.shards.iter().map(|shard| shard.lock().allocation_size()).sum();
        (self.rows.iter().map(Vec::capacity).sum::<usize>() + places) as u64
    }

    /// The rows of a level, if they are there.
    pub fn of_level(&self, depth: usize) -> impl Iterator<Item = &[u8]> {
        self.rows.get(depth).into_iter().flat_map(|rows| rows.chunks_exact(self.of.fields))
    }

    /// Computes the next level: it is listed, or only counted; it may take this many bytes.
    pub fn level(
        &mut self,
        is_stored: bool,
        room: u64,
        progress: &dyn Progress,
    ) -> Result<LevelTotal, Error> {
        let (of, depth) = (self.of, self.rows.len());
        let current = self.rows.last().expect("level 0");
        let states = (current.len() / of.fields) as u64;
        let too_large = || SearchError::Level { puzzle: of.puzzle.clone(), depth, budget: room };
        if states > u64::from(u32::MAX) {
            return Err(too_large().into());
        }
        // What is only counted need not be in memory at once.
        let most = states.saturating_mul(of.moves.len() as u64 * PLACE);
        let slices = if is_stored { 1 } else { (most / room.max(1) + 1).min(SHARDS as u64) };
        let slices = slices as usize;
        let after = of.fields * of.moves.len();
        let share = (states as usize).div_ceil(8 * rayon::current_num_threads());
        let each = (BLOCK_BYTES / after.max(1)).min(share).clamp(1, MOST_BLOCK);
        let blocks = (states as usize).div_ceil(each) * slices;
        let meter = Meter::new(progress, Phase::Search(depth), 0, blocks as u64);
        let new = AtomicU64::new(0);
        let mut all = LevelTotal::default();
        for slice in 0..slices {
            let block = |worker: &mut CanonicalWorker, (block, rows): (usize, &[u8])| {
                worker.found.clear();
                worker.rows.clear();
                for (index, row) in (block * each..).zip(rows.chunks_exact(of.fields)) {
                    for one in 0..of.moves.len() as u16 {
                        of.moved(one, row, &mut worker.moved);
                        let (by, alike) = of.canonical(worker);
                        let hash = XxHash3_64::oneshot(&worker.least);
                        if shard_of(hash) % slices == slice {
                            let found = FoundState { hash, index: index as u32, one, by };
                            worker.found.push((found, alike));
                            worker.rows.extend_from_slice(&worker.least);
                        }
                    }
                }
                let total = self.add(worker);
                let new = new.fetch_add(total.lists.kept, Ordering::Relaxed);
                if is_stored && new.saturating_mul(of.fields as u64 + PLACE) > room {
                    return Err(too_large().into());
                }
                meter.add(1)?;
                Ok::<_, Error>(total)
            };
            let blocks = current.par_chunks(each * of.fields).enumerate();
            let sum = blocks
                .map_init(CanonicalWorker::default, block)
                .try_reduce(LevelTotal::default, |a, b| Ok(a.plus(b)))?;
            all = all.plus(sum);
            if !is_stored {
                self.shards.par_iter_mut().skip(slice).step_by(slices).for_each(|shard| {
                    let shard = shard.get_mut();
                    shard.retain(|found| found.one == LISTED);
                    shard.shrink_to_fit(|found| found.hash);
                });
            }
        }
        if is_stored {
            self.list(depth);
        }
        Ok(all)
    }

    /// Adds what moves lead to, table by table; what is new is counted.
    fn add(&self, worker: &mut CanonicalWorker) -> LevelTotal {
        let CanonicalWorker { found, rows, order, again, .. } = worker;
        let mut total = LevelTotal::default();
        total.lists.generated = found.len() as u64;
        order.clear();
        let place = |(at, (found, _)): (usize, &(FoundState, u64))| {
            (shard_of(found.hash) as u64) << 32 | at as u64
        };
        order.extend(found.iter().enumerate().map(place));
        order.sort_unstable();
        for same in order.chunk_by(|a, b| a >> 32 == b >> 32) {
            let mut shard = self.shards[(same[0] >> 32) as usize].lock();
            for &place in same {
                let at = place as u32 as usize;
                let (own, alike) = found[at];
                let row = &rows[at * self.of.fields..][..self.of.fields];
                let is_it =
                    |other: &FoundState| other.hash == own.hash && self.is(other, row, again);
                if let Entry::Vacant(free) = shard.entry(own.hash, is_it, |other| other.hash) {
                    free.insert(own);
                    self.of.count(row, alike, &mut total);
                }
            }
        }
        total
    }

    /// Whether a state that has been found has this row.
    fn is(&self, found: &FoundState, row: &[u8], again: &mut Vec<u8>) -> bool {
        let of = self.of;
        if found.one == LISTED {
            return *row == *of.row(&self.rows[usize::from(found.by)], found.index);
        }
        let before = of.row(self.rows.last().expect("level 0"), found.index);
        of.moved(found.one, before, again);
        let map = &of.symmetries[usize::from(found.by)];
        map.iter().zip(row).all(|(&image, &value)| of.image(image, again) == value)
    }

    /// Lists the states that have been found as the next level.
    fn list(&mut self, depth: usize) {
        let of = self.of;
        let is_new = |found: &&FoundState| found.one != LISTED;
        let counts =
            self.shards.iter_mut().map(|shard| shard.get_mut().iter().filter(is_new).count());
        let counts: Vec<usize> = counts.collect();
        let mut rows = vec![0; counts.iter().sum::<usize>() * of.fields];
        let (mut rest, mut first) = (&mut rows[..], 0);
        let mut work = Vec::new();
        for (shard, count) in self.shards.iter_mut().zip(counts) {
            let (own, others) = rest.split_at_mut(count * of.fields);
            work.push((shard.get_mut(), own, first));
            (rest, first) = (others, first + count as u32);
        }
        let before = self.rows.last().expect("level 0");
        work.into_par_iter().for_each_init(Vec::new, |moved, (shard, rows, first)| {
            // Moves do not lead to earlier levels, unless they cannot be undone.
            shard.retain(|found| {
                of.directed || found.one != LISTED || usize::from(found.by) + 1 == depth
            });
            let new = shard.iter_mut().filter(|found| found.one != LISTED);
            for ((found, row), index) in new.zip(rows.chunks_exact_mut(of.fields)).zip(first..) {
                of.moved(found.one, of.row(before, found.index), moved);
                for (value, &image) in row.iter_mut().zip(&of.symmetries[usize::from(found.by)]) {
                    *value = of.image(image, moved);
                }
                (found.index, found.one, found.by) = (index, LISTED, depth as u16);
            }
        });
        self.rows.push(rows);
        if !of.directed
            && let Some(earlier) = depth.checked_sub(2)
        {
            self.rows[earlier] = Vec::new();
        }
    }
}
