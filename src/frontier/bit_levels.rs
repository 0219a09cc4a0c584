//! Levels whose buckets are full: the set of a bucket's keys is a row of bits, one for each number that a key can have.
//!
//! `search` turns to [`BitLevels`] when lists would be larger than bits; [`BucketRanks`] numbers the keys. A level is
//! computed **forward**, from its states, or **backward**: each key that has not been seen yet checks whether a move
//! leads to it from the level. Backward is cheaper once many states have been seen, because it stops at the first such
//! move.

use std::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::{
    frontier::{
        bucket_space::BucketSpace,
        fields::FieldKind,
        level::{BucketCounter, ClassSources, as_keys},
        levels::LevelTotal,
        lists::{BucketLists, KeyStep, ListBuilder, ListChunk},
        symmetry::PuzzleRows,
    },
    kernel::{
        key_ranks::{KeyRanks, PieceRule, RUNS, RankContext, RunRule},
        keys::KeyOperation,
        prefetch,
    },
    progress::{Meter, Phase, Progress},
    puzzle::ranking::RankGroup,
    store::Words,
    system::SystemError,
    threads::{Tasks, each_number, map_numbers},
};

// The numbers of a bucket's keys, and the context on which they depend.
//
// Invariant: all buckets have the same range of numbers, with `KeyRanks::count` elements; reachable states of a
// bucket have distinct numbers.

/// Positions that exchange pieces, as the coordinate sees them.
struct BucketGroup {
    positions: u64,
    /// The tracked pieces.
    tracked: Vec<usize>,
    /// The modulus of the sum of all orientations, and the sum.
    sum: Option<(u8, u8)>,
    /// Whether the places in the start state have an odd number of inversions.
    odd: bool,
}

/// The numbers of a bucket's keys.
pub(super) struct BucketRanks<'a> {
    space: &'a BucketSpace,
    pub keys: KeyRanks,
    groups: Vec<BucketGroup>,
    /// For each fine value, the sums of the orientations of a bucket's keys.
    sums: Vec<[u64; RUNS]>,
}

impl<'a> BucketRanks<'a> {
    /// Returns the numbers in a space; `None` if there are too many.
    pub fn new(space: &'a BucketSpace, of: &PuzzleRows) -> Option<BucketRanks<'a>> {
        let PuzzleRows { puzzle, fields, start, .. } = of;
        let tracked: Vec<usize> = space.coordinate.fields().collect();
        let home = |f: usize| fields.piece_at(puzzle, f, start[f]).0 as u8;
        let is_in = |group: &RankGroup, f: usize| {
            fields.fields[f].set == group.set && group.positions.contains(&home(f))
        };
        let is_known = |group: &RankGroup| {
            (0..fields.fields.len()).all(|f| tracked.contains(&f) || !is_in(group, f))
        };
        let all = RankGroup::all(puzzle, is_known, |_, _| false);
        if all.len() > RUNS {
            return None;
        }
        let (mut groups, mut rules) = (Vec::new(), Vec::new());
        for (index, group) in all.iter().enumerate() {
            let parts = space.parts.iter().enumerate();
            let own: Vec<_> = parts.filter(|(_, part)| is_in(group, part.field)).collect();
            let by_content = |f: usize| matches!(fields.fields[f].kind, FieldKind::Content { .. });
            if own.iter().any(|(_, part)| by_content(part.field)) {
                let set = &puzzle.sets()[group.set];
                let is_of =
                    |p: u8, kind: usize| usize::from(set.solved[usize::from(p)].kind) == kind;
                let kinds = (0..set.moduli.len()).map(|kind| {
                    let count = group.positions.iter().filter(|&&p| is_of(p, kind)).count();
                    (fields.first_value[group.set][kind].into(), set.moduli[kind], count as u8)
                });
                // The piece that does not stand in the line has a field of its own.
                let alone = fields.without[group.set].map(usize::from);
                let kinds = kinds
                    .enumerate()
                    .filter(|&(kind, (.., count))| count > 0 && Some(kind) != alone);
                let kinds = kinds.map(|(_, of)| of).collect();
                let parts = own.iter().map(|&(part, _)| part).collect();
                let sum = group.constant_sum.map(|(_, sum)| sum);
                rules.push(RunRule::Contents { parts, kinds, sum });
                groups.push(BucketGroup { positions: 0, tracked: vec![], sum: None, odd: false });
                continue;
            }
            let mut positions = group.positions.iter();
            let positions =
                positions.try_fold(0, |set, &p| Some(set | 1u64.checked_shl(p.into())?))?;
            let here: Vec<usize> =
                (0..tracked.len()).filter(|&t| is_in(group, tracked[t])).collect();
            let pieces = own.iter().map(|&(part, of)| {
                let modulus = fields.fields[of.field].modulus;
                PieceRule { part, modulus, turn: of.turn }
            });
            let placed = own.iter().filter(|(_, part)| !part.turn).map(|(_, part)| part.field);
            let order: Vec<usize> = here.iter().map(|&t| tracked[t]).chain(placed).collect();
            // Nothing is known about pieces that look alike.
            let is_whole = order.len() == group.positions.len();
            let sum = group.constant_sum.filter(|_| is_whole);
            let others = group.parity.as_ref().filter(|_| is_whole);
            let bits = |others: &[usize]| others.iter().fold(1 << index, |set, g| set | 1 << g);
            rules.push(RunRule::Pieces {
                pieces: pieces.collect(),
                free: group.positions.len() - here.len(),
                sum: sum.is_some(),
                parity: others.map(|(others, _)| bits(others)),
            });
            let mut free = positions;
            let odd = order.iter().fold(false, |odd, &f| odd ^ take(&mut free, home(f)));
            groups.push(BucketGroup { positions, tracked: here, sum, odd });
        }
        let sums = |fine| {
            let turns = space.coordinate.turns(fine);
            let mut sums = [0; RUNS];
            for (group, to) in groups.iter().zip(&mut sums) {
                let (modulus, sum) = group.sum.unwrap_or((1, 0));
                // Orientations that are not in the coordinate belong to the keys.
                let own = group.tracked.iter().filter(|_| !space.bound);
                let tracked: u64 = own.map(|&piece| u64::from(turns[piece])).sum();
                *to = u64::from(sum) + 256 * u64::from(modulus) - tracked % u64::from(modulus);
            }
            sums
        };
        let sums = (0..space.coordinate.fine).map(sums).collect();
        Some(BucketRanks { space, keys: KeyRanks::new(&space.layout, &rules)?, groups, sums })
    }

    /// Whether buckets are so large that bits are about as fast as lists.
    pub fn is_worth_while(&self) -> bool {
        self.keys.count >= 1000
    }

    /// Returns the context of the numbers in a class's first bucket, from a row with the tracked pieces' positions.
    pub fn of_class(&self, row: &[u8]) -> RankContext {
        let mut context = RankContext { sum: self.sums[0], ..RankContext::default() };
        for (g, group) in self.groups.iter().enumerate() {
            let mut free = group.positions;
            let mut odd = group.odd;
            for &piece in &group.tracked {
                odd ^= take(&mut free, row[piece] / self.space.coordinate.modulus_of(piece) as u8);
            }
            context.free[g] = free;
            context.odd |= u16::from(odd) << g;
        }
        context
    }

    /// Returns the same for another bucket of the class.
    pub fn of_bucket(&self, class: &RankContext, fine: usize) -> RankContext {
        RankContext { sum: self.sums[fine], ..*class }
    }
}

/// Takes a position; returns whether the number of free positions before it is odd.
fn take(free: &mut u64, position: u8) -> bool {
    let bit = 1u64 << position;
    let odd = (*free & (bit - 1)).count_ones() % 2 == 1;
    *free &= !bit;
    odd
}

// Levels as rows of bits.
//
// Invariant: a bit of `next` is set, and counted, by the thread that finds the key first. The seen keys include at
// least everything that moves produce from the current level, except for the next level.

/// Number of words of a bucket that a thread takes at a time.
const PIECE: usize = 1 << 14;
/// Number of keys that are numbered at a time: their bits are prefetched.
const BATCH: usize = 1024;

/// The seen keys, and the current and next levels, as rows of bits.
pub(super) struct BitLevels<'a> {
    space: &'a BucketSpace,
    ranks: BucketRanks<'a>,
    /// Number of words of a bucket.
    words: usize,
    seen: Words,
    current: Words,
    next: Words,
    /// For each move and symmetry, the inverse operation, where it does not depend on the class.
    inverses: Vec<KeyOperation>,
    /// The numbers of keys that buckets can have, that have been seen, and that the current level has.
    all: f64,
    known: f64,
    width: f64,
    /// Size in bytes of the lists from which the last level was made.
    pub list_bytes: u64,
}

/// The data of one thread.
#[derive(Default)]
struct BitWorker<const W: usize> {
    numbers: Vec<u64>,
    /// The numbers of the images.
    others: Vec<u64>,
    keys: Vec<u64>,
    images: Vec<u64>,
    new: Vec<[u64; W]>,
    of: ClassSources,
    row: Vec<u8>,
    /// The context on which numbers depend: for the current class, and for those that lead into it.
    context: RankContext,
    contexts: Vec<RankContext>,
    counter: BucketCounter,
}

/// A bucket with the context of its numbers, the beginning of its bits, and how keys come into it.
type NewKeys<'a> = (&'a ClassSources, usize, usize, &'a RankContext, KeyStep<'a>);

impl<'a> BitLevels<'a> {
    /// Returns the size in bytes of the bits of all buckets.
    pub fn bytes_of(ranks: &BucketRanks) -> u64 {
        let buckets = ranks.space.all_buckets() as u64;
        buckets.saturating_mul(3 * 8 * ranks.keys.count.div_ceil(64))
    }

    /// Returns the levels of lists as bits; the last one is the current level. Cost: [`BitLevels::bytes_of`].
    pub fn new<const W: usize>(
        ranks: BucketRanks<'a>,
        lists: &[BucketLists],
    ) -> Result<BitLevels<'a>, SystemError> {
        let space = ranks.space;
        let words = ranks.keys.count.div_ceil(64) as usize;
        let zeroed = || Words::zeroed(space.all_buckets() * words);
        let canonical = (0..space.coordinate.classes()).map(|class| {
            let fine = 0..space.coordinate.fine;
            fine.filter(|&fine| space.is_canonical(class, fine)).count()
        });
        let all = canonical.sum::<usize>() as f64 * ranks.keys.count as f64;
        let mut levels = BitLevels {
            space,
            ranks,
            words,
            seen: zeroed()?,
            current: zeroed()?,
            next: zeroed()?,
            inverses: space.unbound(true),
            all,
            known: 0.0,
            width: 0.0,
            list_bytes: 0,
        };
        for (after, level) in lists.iter().rev().enumerate().rev() {
            let into = [Some(&levels.seen), (after == 0).then_some(&levels.current)];
            levels.enter::<W>(level, into);
            let count = |(chunk, lists): (usize, &ListChunk)| lists.count(0, space.buckets(chunk));
            levels.width = level.chunks.iter().enumerate().map(count).sum::<usize>() as f64;
            levels.known += levels.width;
        }
        Ok(levels)
    }

    /// Sets the bits of lists.
    fn enter<const W: usize>(&self, lists: &BucketLists, into: [Option<&Words>; 2]) {
        each_number(lists.chunks.len(), &|chunk| {
            let lists = &lists.chunks[chunk];
            if lists.is_empty() {
                return;
            }
            let mut numbers = Vec::new();
            let entered = self.space.each_list::<W>(chunk, lists, &mut |of, fine, keys| {
                if keys.is_empty() {
                    return;
                }
                let context = self.ranks.of_bucket(&self.ranks.of_class(&of.row), fine);
                self.rank(keys.as_flattened(), &context, &mut numbers);
                let base = self.bucket((of.class as u32, fine as u32));
                for words in into.into_iter().flatten() {
                    for number in &numbers {
                        let bit = 1 << (number % 64);
                        words.get()[base + (number / 64) as usize].fetch_or(bit, Relaxed);
                    }
                }
            });
            entered.expect("lists in memory were coded or checked here");
        });
    }

    pub fn bytes(&self) -> u64 {
        3 * 8 * self.seen.get().len() as u64
    }

    /// Where the words of a bucket begin.
    fn bucket(&self, (class, fine): (u32, u32)) -> usize {
        (class as usize * self.space.coordinate.fine + fine as usize) * self.words
    }

    /// Writes the numbers of keys.
    fn rank(&self, keys: &[u64], context: &RankContext, numbers: &mut Vec<u64>) {
        numbers.clear();
        self.ranks.keys.rank(keys, context, numbers);
    }

    /// Writes the images of keys.
    fn apply(&self, operation: &KeyOperation, keys: &[u64], images: &mut Vec<u64>) {
        images.clear();
        self.space.layout.apply(operation, keys, images);
    }

    /// Whether it is cheaper to compute the next level backward. Moving and numbering a key takes about as long as
    /// reading its own number, which happens once in a forward computation if there is room for lists.
    fn is_backward(&self, in_lists: bool) -> bool {
        let moves = self.space.moves.len() as f64;
        let unseen = self.all - self.known;
        let near = self.width / (unseen + self.width);
        let tries = (1.0 - (1.0 - near).powf(moves)) / near;
        let forward = if in_lists { 1.0 + moves } else { 2.0 * moves };
        self.width * forward > unseen * (1.0 + tries)
    }

    /// Computes the next level and makes it the current one if it has states, with this many bytes of memory for lists.
    /// Returns its totals.
    pub fn level<const W: usize>(
        &mut self,
        (depth, room): (usize, u64),
        progress: &dyn Progress,
    ) -> Result<LevelTotal, SystemError> {
        let space = self.space;
        let listed = self.width * (8 * W) as f64 + 8.0 * space.all_buckets() as f64;
        let in_lists = listed <= room as f64;
        let backward = self.is_backward(in_lists);
        let lists =
            (in_lists && !backward && self.words < PIECE).then(|| self.lists::<W>()).flatten();
        self.list_bytes = lists.as_ref().map_or(0, BucketLists::bytes);
        let (chunks, pieces) = (space.chunks(), self.words.div_ceil(PIECE));
        let tasks = Tasks::new(0..chunks * pieces);
        let meter = Meter::new(progress, Phase::Search(depth), 0, (chunks * pieces) as u64);
        let compute = |worker: &mut BitWorker<W>, job: usize| {
            let (chunk, piece) = (job / pieces, job % pieces);
            let words = piece * PIECE..((piece + 1) * PIECE).min(self.words);
            for class in space.classes_in(chunk) {
                let mut of = std::mem::take(&mut worker.of);
                space.find_sources(class, &|_| true, &mut of);
                if of.incoming.is_empty() {
                    continue;
                }
                worker.context = self.ranks.of_class(&of.row);
                worker.contexts.clear();
                for from in &of.incoming {
                    space.coordinate.representative(from.class as usize, &mut worker.row);
                    worker.contexts.push(self.ranks.of_class(&worker.row));
                }
                worker.counter.enter(space, &of);
                for fine in (0..space.coordinate.fine).filter(|&f| space.is_canonical(class, f)) {
                    if backward {
                        self.ask(&of, fine, words.clone(), worker);
                    } else {
                        self.pull((&of, fine), words.clone(), lists.as_ref(), worker);
                    }
                }
                worker.of = of;
            }
        };
        let counters = rayon::broadcast(|_| {
            let mut worker = BitWorker::<W>::default();
            tasks.run(|_, job| {
                meter.go_on()?;
                compute(&mut worker, job);
                meter.count(1);
                Ok::<(), SystemError>(())
            });
            worker.counter
        });
        tasks.end()?;
        // The parts of a bucket are with several threads.
        let mut sum = BucketCounter::default();
        for own in counters {
            (sum.total, sum.fixed) = (sum.total.plus(own.total), sum.fixed + own.fixed);
        }
        let total = sum.take(space);
        if total.lists.kept > 0 {
            self.advance(total.lists.kept);
        }
        Ok(total)
    }

    /// Makes the next level, with this many keys, the current one.
    fn advance(&mut self, kept: u64) {
        std::mem::swap(&mut self.current, &mut self.next);
        let rows = [&self.seen, &self.current, &self.next].map(Words::get);
        each_number(rows[0].len().div_ceil(PIECE), &|piece| {
            for at in piece * PIECE..((piece + 1) * PIECE).min(rows[0].len()) {
                rows[0][at].store(rows[0][at].load(Relaxed) | rows[1][at].load(Relaxed), Relaxed);
                rows[2][at].store(0, Relaxed);
            }
        });
        self.width = kept as f64;
        self.known += self.width;
    }

    /// Finds the keys of a bucket that moves produce from some words of their source bucket, or from its lists.
    fn pull<const W: usize>(
        &self,
        (of, fine): (&ClassSources, usize),
        words: Range<usize>,
        lists: Option<&BucketLists>,
        worker: &mut BitWorker<W>,
    ) {
        let space = self.space;
        let own = self.ranks.of_bucket(&worker.context, fine);
        let base = self.bucket((of.class as u32, fine as u32));
        for (i, from) in of.incoming.iter().enumerate() {
            let (bucket, number) = space.source(from, fine);
            let to = (of, fine, base, &own, space.forth(from, number));
            if let Some(lists) = lists {
                let (chunk, bucket) = space.place(lists, bucket);
                for keys in chunk.plain_keys(bucket, W).chunks(BATCH * W) {
                    self.enter_new(to, keys, worker);
                }
                continue;
            }
            let current = &self.current.get()[self.bucket(bucket)..][..self.words];
            let context = self.ranks.of_bucket(&worker.contexts[i], bucket.1 as usize);
            let mut words = words.clone();
            while self.batch(&context, current, &mut words, false, worker) {
                let keys = std::mem::take(&mut worker.keys);
                self.enter_new(to, &keys, worker);
                worker.keys = keys;
            }
        }
    }

    /// Moves keys into a bucket, and sets and counts the bits that are new.
    fn enter_new<const W: usize>(
        &self,
        (of, fine, base, own, step): NewKeys,
        keys: &[u64],
        worker: &mut BitWorker<W>,
    ) {
        let (seen, next) = (&self.seen.get()[base..], &self.next.get()[base..]);
        let BitWorker { others, images, new, counter, .. } = worker;
        self.apply(step.operation, keys, images);
        self.rank(images, own, others);
        for &number in &*others {
            prefetch::<1, _>(&raw const seen[(number / 64) as usize]);
            prefetch::<1, _>(&raw const next[(number / 64) as usize]);
        }
        new.clear();
        for (&number, key) in others.iter().zip(as_keys::<W>(images)) {
            let (at, bit) = ((number / 64) as usize, 1 << (number % 64));
            let known = seen[at].load(Relaxed) | next[at].load(Relaxed);
            if known & bit == 0
                && !self.space.is_forbidden(key)
                && !self.space.is_split(&step, key)
                && next[at].fetch_or(bit, Relaxed) & bit == 0
            {
                new.push(*key);
            }
        }
        counter.total.lists.generated += others.len() as u64;
        self.space.count(of, fine, new, counter);
    }

    /// Finds the keys among some words of a bucket that a move from the current level leads to.
    fn ask<const W: usize>(
        &self,
        of: &ClassSources,
        fine: usize,
        mut words: Range<usize>,
        worker: &mut BitWorker<W>,
    ) {
        let space = self.space;
        let own = self.ranks.of_bucket(&worker.context, fine);
        let base = self.bucket((of.class as u32, fine as u32));
        let seen = &self.seen.get()[base..][..self.words];
        let next = &self.next.get()[base..][..self.words];
        while self.batch(&own, seen, &mut words, true, worker) {
            worker.new.clear();
            for (i, from) in of.incoming.iter().enumerate() {
                let (bucket, number) = space.source(from, fine);
                let step = space.forth(from, number);
                let current = &self.current.get()[self.bucket(bucket)..][..self.words];
                let context = self.ranks.of_bucket(&worker.contexts[i], bucket.1 as usize);
                let BitWorker { numbers, others, keys, images, new, counter, .. } = &mut *worker;
                let bound;
                let operation = match self.inverses.get(number) {
                    Some(operation) => operation,
                    None => {
                        bound = space.operation(from.one, from.symmetry, true, &of.row);
                        &bound
                    }
                };
                self.apply(operation, keys, images);
                self.rank(images, &context, others);
                for number in &*others {
                    prefetch::<1, _>(&raw const current[(number / 64) as usize]);
                }
                counter.total.lists.generated += others.len() as u64;
                let mut others = others.iter();
                retain::<W>(keys, numbers, |key, number| {
                    let other = others.next().expect("a number for each key");
                    let found = current[(other / 64) as usize].load(Relaxed) >> (other % 64) & 1;
                    let found = found == 1 && !space.is_split(&step, key);
                    if found {
                        next[(number / 64) as usize].fetch_or(1 << (number % 64), Relaxed);
                        new.push(*key);
                    }
                    !found
                });
                if keys.is_empty() {
                    break;
                }
            }
            space.count(of, fine, &worker.new, &mut worker.counter);
        }
    }

    /// Leaves the next keys of a bucket, those whose bits are set or those whose bits are not set, in the worker.
    /// Returns whether there are any.
    fn batch<const W: usize>(
        &self,
        context: &RankContext,
        bits: &[AtomicU64],
        words: &mut Range<usize>,
        unset: bool,
        worker: &mut BitWorker<W>,
    ) -> bool {
        let BitWorker { numbers, keys, .. } = worker;
        numbers.clear();
        while numbers.len() < BATCH
            && let Some(at) = words.next()
        {
            let mut word = bits[at].load(Relaxed);
            if unset {
                let left = self.ranks.keys.count - 64 * at as u64;
                word = !word & u64::MAX >> (64 - left.min(64));
            }
            while word != 0 {
                numbers.push(64 * at as u64 + u64::from(word.trailing_zeros()));
                word &= word - 1;
            }
        }
        keys.clear();
        if numbers.is_empty() {
            return false;
        }
        self.ranks.keys.unrank(numbers, context, keys);
        if unset && !self.space.forbidden.is_empty() {
            retain::<W>(keys, numbers, |key, _| !self.space.is_forbidden(key));
        }
        !numbers.is_empty() || words.start < words.end
    }

    /// The lists of the last level; `None` if they are too long.
    pub fn lists<const W: usize>(&self) -> Option<BucketLists> {
        let space = self.space;
        let chunks = map_numbers(space.chunks(), &|chunk| {
            let mut worker = BitWorker::<W>::default();
            let mut lists = ListBuilder::default();
            let fines = 0..space.coordinate.fine;
            let classes = space.classes_in(chunk);
            for (class, fine) in classes.flat_map(|c| fines.clone().map(move |fine| (c, fine))) {
                let base = self.bucket((class as u32, fine as u32));
                let bits = &self.current.get()[base..][..self.words];
                space.coordinate.representative(class, &mut worker.row);
                let context = self.ranks.of_bucket(&self.ranks.of_class(&worker.row), fine);
                let mut words = 0..self.words;
                worker.new.clear();
                while self.batch(&context, bits, &mut words, false, &mut worker) {
                    worker.new.extend_from_slice(as_keys::<W>(&worker.keys));
                }
                lists.list(&worker.new, None);
            }
            lists.finish()
        });
        Some(BucketLists { chunks: chunks.into_iter().collect::<Option<_>>()? })
    }
}

/// Keeps some keys and their numbers. Without a branch, because which ones is unpredictable.
#[inline(always)]
fn retain<const W: usize>(
    keys: &mut Vec<u64>,
    numbers: &mut Vec<u64>,
    mut keep: impl FnMut(&[u64; W], u64) -> bool,
) {
    let mut left = 0;
    for i in 0..numbers.len() {
        let key = std::array::from_fn(|word| keys[i * W + word]);
        let number = numbers[i];
        keys[left * W..][..W].copy_from_slice(&key);
        numbers[left] = number;
        left += usize::from(keep(&key, number));
    }
    keys.truncate(left * W);
    numbers.truncate(left);
}
