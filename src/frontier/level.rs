//! One level: how its lists are computed from those of the previous level, bucket by bucket.
//!
//! The next level of a bucket is the union of what each move produces from the bucket that it comes from, without the
//! bucket's own keys and those of the previous level. Every bucket is computed by the thread that takes it, from lists
//! that do not change. A level can also be **counted ahead**: the lists of the levels before it are not kept, and
//! several moves at once lead to the level.
//!
//! Invariant: for each canonical bucket, a level contains every key of its states once.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Error,
    frontier::{
        bucket_space::{BucketSpace, MovePairs},
        fields::KeyPart,
        levels::{LevelTotal, LevelUse, ListSink, take_parts},
        lists::{
            BucketLists, KeyStep, ListBuilder, ListChunk, ListPlace, ListWorkspace, NeededList,
            Needs,
        },
    },
    kernel::{by_words, key_digits::FreePositions, key_set::KeySet, keys::KeyOperation},
    progress::{Phase, Progress, go_on},
    stop::SearchError,
    store::StorageError,
    system::SystemError,
};

/// A level to be computed.
pub(super) struct LevelWork<'a> {
    /// Earlier levels that may contain its states, other than the current one.
    pub seen: &'a [BucketLists],
    pub current: &'a BucketLists,
    pub depth: usize,
    pub becomes: LevelUse,
    /// Number of bytes of keys that a thread generates at once.
    pub slice: usize,
    pub sink: &'a dyn ListSink,
    pub progress: &'a dyn Progress,
}

/// The buckets from which one move leads into those of a class.
pub(super) struct IncomingClass {
    pub one: usize,
    pub class: u32,
    pub symmetry: u16,
    /// For each fine value of the class, the one that it comes from, if there are several.
    fine: Vec<u32>,
    /// The positions that its class leaves free.
    free: FreePositions,
    /// The operation on its keys, if that depends on the class.
    bound: Option<KeyOperation>,
    /// How many tracked pieces of each block that the move may split it takes along.
    taken: Vec<u8>,
}

/// The current class, and what leads into its buckets.
#[derive(Default)]
pub(super) struct ClassSources {
    pub class: usize,
    /// The tracked fields of its representative.
    pub row: Vec<u8>,
    before: Vec<u8>,
    free: FreePositions,
    pub incoming: Vec<IncomingClass>,
    /// For each incoming class what leads into it, if the level is several moves away.
    farther: Vec<ClassSources>,
}

/// A function of a bucket, by the sources of its class and its place there, and its keys.
type EachList<'a, const W: usize> = dyn FnMut(&ClassSources, usize, &[[u64; W]]) + 'a;

/// The working memory with which a thread computes the keys of a bucket.
#[derive(Default)]
struct BucketWorker<const W: usize> {
    set: KeySet<W>,
    new: Vec<[u64; W]>,
    lists: ListWorkspace,
    /// Some keys after one move, and after the next one.
    moved: [Vec<u64>; 2],
}

/// Number of keys above which several moves are composed, which takes as long as one of them for this many.
const MANY_KEYS: usize = 128;
/// Number of bytes of keys up to which a bucket takes less time if the lists that it needs are not put in order.
const SMALL_BUCKET: usize = 1 << 20;

/// The next move of a path, if there is one: a symmetry, which is undone before, and the move.
type NextMove = Option<(usize, usize)>;

/// What leads into a bucket.
#[derive(Clone, Copy)]
struct Paths<'a> {
    of: &'a ClassSources,
    fine: usize,
    level: &'a BucketLists,
    moves: usize,
    /// Whether its states are removed from the others.
    is_known: bool,
    pairs: Option<&'a MovePairs>,
}

impl<'a> Paths<'a> {
    /// The classes from which it is worth while to go on if the next move is given, with their places.
    fn incoming(self, next: NextMove) -> impl Iterator<Item = (usize, &'a IncomingClass)> {
        let pairs = self.pairs.zip(next);
        let is_new = move |from: &IncomingClass| {
            pairs.is_none_or(|(pairs, next)| pairs.is_new(from.one, next))
        };
        self.of.incoming.iter().enumerate().filter(move |(_, from)| is_new(from))
    }
}

/// The counts.
#[derive(Default)]
pub(super) struct BucketCounter {
    /// The contributions of the keys' fields to a state's number, in the current class.
    adds: Vec<[u32; 128]>,
    /// For each symmetry that preserves the class, the images of the fine values, its effect on keys, and the number of
    /// symmetries for which it stands.
    own: Vec<(Vec<u32>, KeyOperation, u64)>,
    pub total: LevelTotal,
    /// What classes with symmetries of their own add to the states up to symmetry, times the order of the group.
    pub fixed: u64,
}

impl BucketCounter {
    /// Turns to a class.
    pub fn enter(&mut self, space: &BucketSpace, of: &ClassSources) {
        if space.bound || self.adds.is_empty() {
            space.adds(&of.row, &mut self.adds);
        }
        self.own.clear();
        let own = space.coordinate.self_symmetric[of.class].as_ref();
        let fixing = own.map_or(&[][..], |own| &own.fixing);
        self.own.extend(fixing.iter().map(|&(symmetry, alike)| {
            let mut images = Vec::new();
            space.coordinate.fine_map(&of.row, space.coordinate.map(symmetry), &mut images);
            let map = &space.coordinate.group.maps[usize::from(symmetry)];
            (images, space.key_operation(map, &of.row), alike)
        }));
    }

    /// Returns and resets the counts from complete buckets.
    pub fn take(&mut self, space: &BucketSpace) -> LevelTotal {
        self.total.lists.reduced += std::mem::take(&mut self.fixed) / space.symmetries() as u64;
        std::mem::take(&mut self.total)
    }
}

/// The data of one thread.
#[derive(Default)]
struct LevelWorker<const W: usize> {
    own: BucketWorker<W>,
    of: ClassSources,
    counter: BucketCounter,
}

impl BucketSpace {
    #[inline]
    pub(super) fn place<'a>(
        &self,
        lists: &'a BucketLists,
        (class, fine): (u32, u32),
    ) -> ListPlace<'a> {
        let each = self.classes_per_chunk();
        let bucket = class as usize % each * self.coordinate.fine + fine as usize;
        (&lists.chunks[class as usize / each], bucket)
    }

    /// Finds what leads into a class from classes that have keys; nothing if no states may be in the class.
    pub(super) fn find_sources(
        &self,
        class: usize,
        has_keys: &dyn Fn(u32) -> bool,
        of: &mut ClassSources,
    ) {
        let ClassSources { row, before, incoming, .. } = of;
        of.class = class;
        incoming.clear();
        self.coordinate.representative(class, row);
        of.free = self.coder.free(self.coordinate.positions(row));
        let illegal = |(piece, values): &(usize, Vec<u8>)| {
            let modulus = self.coordinate.modulus_of(*piece) as u8;
            values.iter().any(|value| value / modulus == row[*piece] / modulus)
        };
        if self.forbidden_tracked.iter().any(illegal) {
            return;
        }
        let (piece, moves) = &self.arriving;
        let position = |piece| usize::from(row[piece]) / self.coordinate.modulus_of(piece);
        for &one in &moves[piece.map_or(0, position)] {
            let Some(taken) = self.taken(one, row) else { continue };
            self.back[one].apply_to(row, before);
            let from = self.coordinate.class(before);
            let (class, symmetry) = (from.class, from.symmetry);
            if !has_keys(class) {
                continue;
            }
            let mut fine = Vec::new();
            if self.coordinate.fine > 1 {
                let map = self.back[one].then(self.coordinate.map(symmetry));
                self.coordinate.fine_map(row, &map, &mut fine);
            }
            self.coordinate.representative(class as usize, before);
            let free = self.coder.free(self.coordinate.positions(before));
            let bound = self.bound.then(|| self.operation(one, symmetry, false, before));
            incoming.push(IncomingClass { one, class, symmetry, fine, free, bound, taken });
        }
    }

    /// Whether a fine value is the one that is kept among those that symmetries of the class take to each other.
    pub(super) fn is_canonical(&self, class: usize, fine: usize) -> bool {
        let own = self.coordinate.self_symmetric[class].as_deref();
        own.is_none_or(|own| own.canonical[fine].fine as usize == fine)
    }

    /// Returns the bucket that a bucket of a class comes from, and the number of the operation on its keys if that does
    /// not depend on the class.
    #[inline]
    pub(super) fn source(&self, from: &IncomingClass, fine: usize) -> ((u32, u32), usize) {
        let before = if self.coordinate.fine > 1 { from.fine[fine] } else { 0 };
        let at = self.coordinate.canonical(from.class, before);
        let symmetry = self.coordinate.group.then(from.symmetry, at.symmetry);
        ((from.class, at.fine), from.one * self.symmetries() + usize::from(symmetry))
    }

    /// Returns the move of the keys that come from a class.
    pub(super) fn forth<'a>(&'a self, from: &'a IncomingClass, number: usize) -> KeyStep<'a> {
        let operation = from.bound.as_ref().unwrap_or_else(|| &self.operations[number]);
        KeyStep { operation, one: from.one, taken: &from.taken }
    }

    /// The same for successive moves; for each of them, the classes from which it may be made.
    fn find_paths(&self, class: usize, near: &[Vec<bool>], of: &mut ClassSources) {
        let (from, before) = near.split_last().expect("there is a move");
        self.find_sources(class, &|class| from[class as usize], of);
        if !before.is_empty() {
            of.farther.resize_with(of.incoming.len(), ClassSources::default);
            for (from, farther) in of.incoming.iter().zip(&mut of.farther) {
                self.find_paths(from.class as usize, before, farther);
            }
        }
    }

    /// The number of keys from which paths lead to all buckets of a class.
    fn count_paths(&self, paths: Paths) -> usize {
        let number = |(i, from): (usize, &IncomingClass)| {
            if paths.moves > 1 {
                let (of, moves) = (&paths.of.farther[i], paths.moves - 1);
                return self.count_paths(Paths { of, moves, ..paths });
            }
            let (chunk, bucket) = self.place(paths.level, (from.class, 0));
            chunk.count(bucket, self.coordinate.fine)
        };
        paths.incoming(None).map(number).sum()
    }

    /// Calls a function with the lists from which paths lead: it is given a list, the free positions there, whether its
    /// keys are known, and the moves, the last one first, and returns whether there are keys. Returns whether there are
    /// any. The path from the bucket on is given.
    fn each_path<'a>(
        &'a self,
        paths: Paths<'a>,
        (next, path): (NextMove, &mut Vec<KeyStep<'a>>),
        each: &mut impl FnMut(ListPlace<'a>, &'a FreePositions, bool, &[KeyStep<'a>]) -> bool,
    ) -> bool {
        let mut any = false;
        for (i, from) in paths.incoming(next) {
            let (bucket, number) = self.source(from, paths.fine);
            path.push(self.forth(from, number));
            any |= if paths.moves > 1 {
                let of = &paths.of.farther[i];
                let paths = Paths { of, fine: bucket.1 as usize, moves: paths.moves - 1, ..paths };
                let next = Some((number % self.symmetries(), from.one));
                self.each_path(paths, (next, path), each)
            } else {
                each(self.place(paths.level, bucket), &from.free, paths.is_known, path)
            };
            path.pop();
        }
        any
    }

    /// Calls a function with the lists that contain the keys that a bucket has some moves after the current level,
    /// then, if there are any, with those of the keys among which they may be.
    ///
    /// All states to which several moves lead too early are in the current or the previous level, or fewer moves lead
    /// to them from there: back to a level before, the last moves lead from the previous level.
    fn each_needed<'a>(
        &'a self,
        (paths, path): (Paths<'a>, &mut Vec<KeyStep<'a>>),
        work: &'a LevelWork,
        each: &mut impl FnMut(ListPlace<'a>, &'a FreePositions, bool, &[KeyStep<'a>]) -> bool,
    ) {
        if !self.each_path(paths, (None, path), each) {
            return;
        }
        // If every move changes a parity, so does every level.
        let meets = |moves: usize| !self.bipartite || moves.is_multiple_of(2);
        for moves in 1..paths.moves {
            let current = meets(paths.moves - moves).then_some(work.current);
            let is_wanted = !self.directed && meets(paths.moves - moves + 1);
            for level in work.seen.iter().filter(|_| is_wanted).chain(current) {
                self.each_path(Paths { level, moves, is_known: true, ..paths }, (None, path), each);
            }
        }
        let seen = work.seen.iter().filter(|_| self.directed || meets(paths.moves + 1));
        for level in seen.chain(meets(paths.moves).then_some(work.current)) {
            let list = self.place(level, (paths.of.class as u32, paths.fine as u32));
            each(list, &paths.of.free, true, &[]);
        }
    }

    /// Returns the moves of a path as one if that pays for the keys of a list.
    #[inline]
    fn composed(&self, list: ListPlace, path: &[KeyStep]) -> Option<KeyOperation> {
        let (first, later) = path.split_last().filter(|(_, later)| !later.is_empty())?;
        let is_long = list.0.count(list.1, 1) >= MANY_KEYS && !self.is_checked();
        let both = |both: KeyOperation, next: &KeyStep| both.then(next.operation);
        is_long.then(|| later.iter().rev().fold(first.operation.clone(), both))
    }

    /// Appends what moves make of the keys of a list to those of a bucket that has one part.
    #[inline]
    fn pull_one<const W: usize>(
        &self,
        (list, free): (ListPlace, &FreePositions),
        (path, is_known): (&[KeyStep], bool),
        worker: &mut BucketWorker<W>,
    ) {
        let BucketWorker { set, lists: workspace, moved, .. } = worker;
        let whole = set.whole(is_known);
        if let [only] = path
            && !self.is_checked()
        {
            let mut apply = |keys: &[u64]| self.layout.apply(only.operation, keys, whole);
            return self.coder.keys::<W>(list, free, workspace, &mut apply);
        }
        let one = self.composed(list, path);
        let one = one.as_ref().map(|operation| KeyStep { operation, ..path[0] });
        let path = one.as_ref().map_or(path, std::slice::from_ref);
        self.coder.keys::<W>(list, free, workspace, &mut |keys| {
            whole.extend_from_slice(self.follow::<W>(path, keys, moved));
        });
    }

    /// Adds what moves make of the keys of a list, which is read once for several paths, to the set of the bucket.
    fn pull_group<const W: usize>(
        &self,
        group: &[NeededList],
        moves: &[KeyStep],
        worker: &mut BucketWorker<W>,
    ) {
        let BucketWorker { set, lists: workspace, moved, .. } = worker;
        let NeededList { list, free, .. } = group[0];
        let paths = group.iter().map(|needed| &moves[needed.path.clone()]);
        let composed: Vec<_> = paths.clone().map(|path| self.composed(list, path)).collect();
        self.coder.keys::<W>(list, free, workspace, &mut |keys| {
            for ((needed, path), one) in group.iter().zip(paths.clone()).zip(&composed) {
                let one = one.as_ref().map(|operation| KeyStep { operation, ..path[0] });
                let path = one.as_ref().map_or(path, std::slice::from_ref);
                set.add(as_keys(self.follow::<W>(path, keys, moved)), needed.is_known);
            }
        });
    }

    /// Returns keys after the moves of a path, the last one first.
    fn follow<'k, const W: usize>(
        &self,
        path: &[KeyStep],
        keys: &'k [u64],
        [before, moved]: &'k mut [Vec<u64>; 2],
    ) -> &'k [u64] {
        let Some((first, later)) = path.split_last() else { return keys };
        let apply = |step: &KeyStep, keys: &[u64], moved: &mut Vec<u64>| {
            moved.clear();
            self.layout.apply(step.operation, keys, moved);
            if self.is_checked() {
                let is_allowed =
                    |key: &&[u64]| !self.is_forbidden(key) && !self.is_split(step, key);
                let allowed = moved.chunks_exact(W).filter(is_allowed);
                *moved = allowed.flatten().copied().collect();
            }
        };
        apply(first, keys, moved);
        for next in later.iter().rev() {
            std::mem::swap(before, moved);
            apply(next, before, moved);
        }
        moved
    }

    /// Counts the new keys of a bucket.
    pub(super) fn count<const W: usize>(
        &self,
        of: &ClassSources,
        fine: usize,
        new: &[[u64; W]],
        counter: &mut BucketCounter,
    ) {
        let BucketCounter { adds, own, total, fixed: images_fixed } = counter;
        let kept = new.len() as u64;
        total.lists.kept += kept;
        let mut weight = u64::from(self.coordinate.members[of.class]);
        if own.is_empty() {
            total.lists.reduced += kept;
        } else {
            let (mut fixing, mut fixed) = (0, 0);
            let fixes =
                |(images, ..): &&(Vec<u32>, KeyOperation, u64)| images[fine] as usize == fine;
            for (_, operation, alike) in own.iter().filter(fixes) {
                fixing += alike;
                fixed += alike * self.layout.fixed(operation, new);
            }
            weight *= own.iter().map(|(.., alike)| alike).sum::<u64>() / fixing;
            *images_fixed += fixed * (self.symmetries() as u64 / fixing);
        }
        total.tally.states += weight * kept;
        let mut base = 0u32;
        if !self.bound {
            let turns = self.coordinate.turns(fine);
            for ((field, &value), turn) in self.coordinate.fields().zip(&of.row).zip(turns) {
                base = base.wrapping_add(self.sums[field][usize::from(value + turn)]);
            }
        }
        let sum = self.layout.checksum(new.as_flattened(), base, adds).wrapping_mul(weight);
        total.tally.checksum = total.tally.checksum.wrapping_add(sum);
    }

    /// Computes the lists of some consecutive classes.
    fn chunk<const W: usize>(
        &self,
        chunk: usize,
        work: &LevelWork,
        (near, pairs): (&[Vec<bool>], Option<&MovePairs>),
        worker: &mut LevelWorker<W>,
    ) -> Result<ListChunk, Error> {
        let classes = self.classes_in(chunk);
        let (targets, nearer) = near.split_last().expect("there is a move");
        if !targets[classes.clone()].contains(&true) {
            return Ok(ListChunk::default());
        }
        let LevelWorker { own, of, counter } = worker;
        let moves = work.becomes.moves();
        let mut lists = ListBuilder::default();
        for class in classes {
            of.incoming.clear();
            if targets[class] {
                self.find_paths(class, nearer, of);
            }
            if of.incoming.is_empty() {
                lists.empty(self.coordinate.fine);
                continue;
            }
            counter.enter(self, of);
            let level = work.current;
            let paths = |fine| Paths { of, fine, level, moves, is_known: false, pairs };
            // Short lists of small buckets are not worth a list of them.
            let bytes = self.count_paths(paths(0)) * W * 8;
            let is_direct = bytes <= work.slice && bytes / self.coordinate.fine <= SMALL_BUCKET;
            let (mut needs, mut path) = (Needs::default(), Vec::new());
            for fine in 0..self.coordinate.fine {
                if !self.is_canonical(class, fine) {
                    lists.empty(1);
                    continue;
                }
                needs.clear();
                if !is_direct {
                    let from = (paths(fine), &mut path);
                    self.each_needed(from, work, &mut |list, free, is_known, path| {
                        needs.add((list, free), path, is_known)
                    });
                    needs.sort();
                }
                let slices = needs.keys * W * 8 / work.slice + 1;
                own.new.clear();
                for slice in 0..slices {
                    // A chunk of a large level takes minutes, and so may a slice.
                    let go_on = || go_on(work.progress);
                    go_on()?;
                    own.set.begin(needs.keys, (slice, slices));
                    if is_direct {
                        let from = (paths(fine), &mut path);
                        self.each_needed(from, work, &mut |list, free, is_known, path| {
                            let any = list.0.count(list.1, 1) > 0;
                            if any {
                                self.pull_one((list, free), (path, is_known), own);
                            }
                            any
                        });
                    }
                    for group in needs.groups() {
                        go_on()?;
                        self.pull_group(group, &needs.moves, own);
                    }
                    let BucketWorker { set, new, .. } = &mut *own;
                    set.each_new(self.layout.kernel, |keys| {
                        if !is_direct {
                            go_on()?;
                        }
                        if !keys.is_empty() {
                            self.count(of, fine, keys, counter);
                        }
                        if work.becomes.is_stored() {
                            new.extend_from_slice(keys);
                        }
                        Ok::<(), SystemError>(())
                    })?;
                    counter.total.lists.generated += set.generated;
                }
                let is_coded = work.becomes == LevelUse::Coded;
                let code = is_coded.then_some((&self.coder, &of.free, &mut own.lists));
                lists.list(&own.new, code);
                if lists.is_too_long() {
                    return Err(self.too_long(work.depth));
                }
            }
        }
        lists.finish().ok_or_else(|| self.too_long(work.depth))
    }

    /// Computes the parts of a level that are assigned here, each with one thread. Returns their totals.
    pub(super) fn level<const W: usize>(&self, work: &LevelWork) -> Result<LevelTotal, Error> {
        let pairs = (work.becomes.moves() > 1).then(|| MovePairs::new(self));
        // The classes within reach of as many moves.
        let mut near = vec![self.classes_with_keys(work.current)];
        for moves in 0..work.becomes.moves() {
            near.push(self.targets(&near[moves]));
        }
        let (chunks, each) = (work.current.chunks.len(), work.sink.chunks_per_part());
        let compute = |worker: &mut LevelWorker<W>, part: usize| {
            let mut lists = Vec::new();
            let mut sum = LevelTotal::default();
            for chunk in part * each..chunks.min((part + 1) * each) {
                let made = self.chunk::<W>(chunk, work, (&near, pairs.as_ref()), worker)?;
                worker.own.lists.failed.take().map_or(Ok(()), Err)?;
                let total = worker.counter.take(self);
                sum = sum.plus(total);
                lists.push((made, total));
            }
            work.sink.put(part, lists)?;
            let done = (work.sink.done() * each).min(chunks);
            work.progress.progress(Phase::Search(work.depth), done as u64, chunks as u64);
            Ok(sum)
        };
        take_parts(work.sink, compute)
    }

    /// Passes on the lists of level 0; returns their totals.
    pub fn start(
        &self,
        states: &[Vec<u8>],
        coded: bool,
        sink: &dyn ListSink,
    ) -> Result<LevelTotal, Error> {
        // States may differ in parts that no move changes.
        let mut keys: BTreeMap<(usize, usize), BTreeSet<Vec<u64>>> = BTreeMap::new();
        for state in states {
            let (bucket, key) = self.bucket(state);
            keys.entry(bucket).or_default().insert(key);
        }
        let (mut of, mut counter) = (ClassSources::default(), BucketCounter::default());
        let mut workspace = ListWorkspace::default();
        let mut chunks = vec![(ListChunk::default(), LevelTotal::default()); self.chunks()];
        for (chunk, made) in chunks.iter_mut().enumerate() {
            let classes = self.classes_in(chunk);
            if keys.range((classes.start, 0)..(classes.end, 0)).next().is_none() {
                continue;
            }
            let mut lists = ListBuilder::default();
            for class in classes {
                self.find_sources(class, &|_| false, &mut of);
                counter.enter(self, &of);
                for fine in 0..self.coordinate.fine {
                    let Some(new) = keys.remove(&(class, fine)) else {
                        lists.empty(1);
                        continue;
                    };
                    let new: Vec<u64> = new.into_iter().flatten().collect();
                    let code = coded.then_some((&self.coder, &of.free, &mut workspace));
                    by_words!(self.words(), W => {
                        let new = as_keys::<W>(&new);
                        self.count(&of, fine, new, &mut counter);
                        lists.list(new, code);
                    });
                }
            }
            counter.total.lists.generated = counter.total.lists.kept;
            *made = (lists.finish().ok_or_else(|| self.too_long(0))?, counter.take(self));
        }
        for (part, chunks) in chunks.chunks(sink.chunks_per_part()).enumerate() {
            sink.put(part, chunks.to_vec())?;
        }
        Ok(chunks.iter().fold(LevelTotal::default(), |sum, (_, own)| sum.plus(*own)))
    }

    /// The error for lists of a depth that have more than their places can count.
    pub fn too_long(&self, depth: usize) -> Error {
        SearchError::LongList { puzzle: self.puzzle.clone(), depth }.into()
    }

    /// The bucket of a state, by class and fine value, and its key there.
    fn bucket(&self, state: &[u8]) -> ((usize, usize), Vec<u64>) {
        let (coarse, _) = self.coordinate.of_state(state);
        let of = self.coordinate.class_of[coarse];
        let state = self.coordinate.group.maps[usize::from(of.symmetry)].apply(state);
        let (_, fine) = self.coordinate.of_state(&state);
        let at = self.coordinate.canonical(of.class, fine as u32);
        let state = self.coordinate.group.maps[usize::from(at.symmetry)].apply(&state);
        let turn = |field: usize| state[field] % self.coordinate.modulus(field) as u8;
        let value = |part: &KeyPart| if part.turn { turn(part.field) } else { state[part.field] };
        let values: Vec<u8> = self.parts.iter().map(value).collect();
        ((of.class as usize, at.fine as usize), self.layout.pack(&values))
    }

    pub fn recount(&self, chunk: usize, lists: &ListChunk) -> Result<LevelTotal, StorageError> {
        let mut counter = BucketCounter::default();
        by_words!(self.words(), W => self.each_list::<W>(chunk, lists, &mut |of, fine, keys| {
            if fine == 0 {
                counter.enter(self, of);
            }
            self.count(of, fine, keys, &mut counter);
        }))?;
        Ok(counter.take(self))
    }

    /// Returns the size in bytes of the keys of a chunk when uncoded.
    pub fn plain_bytes(&self, chunk: usize, lists: &ListChunk) -> u64 {
        (lists.count(0, self.buckets(chunk)) * self.words() * 8) as u64
    }

    /// Returns coded lists with their keys uncoded.
    pub fn plain(&self, chunk: usize, lists: &ListChunk) -> Result<ListChunk, StorageError> {
        by_words!(self.words(), W => {
            let mut plain = ListBuilder::default();
            self.each_list::<W>(chunk, lists, &mut |_, _, keys| plain.list(keys, None))?;
            Ok(plain.finish().expect("the number of keys, not more than a file of them counts"))
        })
    }

    /// Calls a function with the fields of each state that is kept in a chunk: one state, or a few, of those that are
    /// symmetric to each other under the symmetries in use.
    pub fn each_row(
        &self,
        chunk: usize,
        lists: &ListChunk,
        each: &mut dyn FnMut(&[u8]),
    ) -> Result<(), StorageError> {
        if lists.is_empty() {
            return Ok(());
        }
        let mut state = vec![0; self.sums.len()];
        by_words!(self.words(), W => self.each_list::<W>(chunk, lists, &mut |of, fine, keys| {
            let turns = self.coordinate.turns(fine);
            for ((field, &value), turn) in self.coordinate.fields().zip(&of.row).zip(turns) {
                state[field] = value + turn;
            }
            for key in keys {
                for (i, &KeyPart { field, turn, .. }) in self.parts.iter().enumerate() {
                    let value = self.layout.value(key, i) as u8;
                    let modulus = || self.coordinate.modulus(field) as u8;
                    let placed = |at: u8| at / modulus() * modulus() + value;
                    state[field] = if turn { placed(state[field]) } else { value };
                }
                each(&state);
            }
        }))
    }

    /// Calls a function with each bucket of a chunk.
    pub(super) fn each_list<const W: usize>(
        &self,
        chunk: usize,
        lists: &ListChunk,
        each: &mut EachList<W>,
    ) -> Result<(), StorageError> {
        let mut workspace = ListWorkspace::default();
        let mut keys = Vec::new();
        let mut of = ClassSources::default();
        let (classes, fine) = (self.classes_in(chunk), self.coordinate.fine);
        for class in classes.clone() {
            self.find_sources(class, &|_| false, &mut of);
            for at in 0..fine {
                let bucket = (class - classes.start) * fine + at;
                keys.clear();
                let mut collect = |some: &[u64]| keys.extend_from_slice(some);
                self.coder.keys::<W>((lists, bucket), &of.free, &mut workspace, &mut collect);
                each(&of, at, as_keys::<W>(&keys));
            }
        }
        workspace.failed.map_or(Ok(()), Err)
    }
}

/// The keys of a list.
pub(super) fn as_keys<const W: usize>(words: &[u64]) -> &[[u64; W]] {
    words.as_chunks::<W>().0
}
