//! One level: how its lists are computed from those of the previous level, bucket by bucket.
//!
//! The next level of a bucket is the union of what each move produces from the bucket that it comes from, without the
//! bucket's own keys and those of the previous level. Every bucket is computed by the thread that takes it, from lists
//! that do not change. A level can also be **counted ahead**: the lists of the level before it are not kept, and two
//! moves at once lead to the level.
//!
//! Invariant: for each canonical bucket, a level contains every key of its states once.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter::once,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{
    frontier::{
        bucket_space::{BucketSpace, MovePairs, by_words},
        levels::{LevelEnd, LevelTotal, LevelUse, ListSink},
        lists::{BucketLists, ListBuilder, ListChunk, ListWorkspace},
    },
    kernel::{
        key_set::{FreePositions, KeySet},
        keys::KeyOperation,
    },
    progress::{Phase, Progress},
    store::StorageError,
};

/// A level to be computed.
pub(super) struct LevelWork<'a> {
    /// Earlier levels that may contain its states, other than the current one.
    pub seen: &'a [BucketLists],
    pub current: &'a BucketLists,
    pub depth: usize,
    pub becomes: LevelUse,
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
}

/// The working memory with which a thread computes the keys of a bucket.
struct BucketWorker<const W: usize> {
    set: KeySet<W>,
    generated: Vec<u64>,
    known: Vec<u64>,
    new: Vec<[u64; W]>,
    lists: ListWorkspace,
}

impl<const W: usize> BucketWorker<W> {
    fn new() -> BucketWorker<W> {
        let (generated, known, new) = Default::default();
        BucketWorker { set: KeySet::new(), generated, known, new, lists: ListWorkspace::new() }
    }
}

/// The counts.
#[derive(Default)]
pub(super) struct BucketCounter {
    /// The contributions of the keys' fields to a state's number.
    pub adds: Vec<[u32; 128]>,
    pub total: LevelTotal,
    /// The contribution of classes with symmetries of their own to the states up to symmetry, times the order of the
    /// group.
    pub fixed: u64,
}

impl BucketCounter {
    pub fn new(space: &BucketSpace) -> BucketCounter {
        let mut counter = BucketCounter::default();
        if !space.bound {
            space.adds(&[], &mut counter.adds);
        }
        counter
    }

    /// Returns and resets the counts from complete buckets.
    pub fn take(&mut self, space: &BucketSpace) -> LevelTotal {
        self.total.lists.reduced += std::mem::take(&mut self.fixed) / space.symmetries() as u64;
        std::mem::take(&mut self.total)
    }
}

/// The data of one thread.
struct LevelWorker<const W: usize> {
    own: BucketWorker<W>,
    /// The keys of the level before a level that is counted ahead, in one bucket.
    nearer: Vec<u64>,
    of: ClassSources,
    before: Vec<ClassSources>,
    counter: BucketCounter,
}

impl<const W: usize> LevelWorker<W> {
    fn new(space: &BucketSpace) -> LevelWorker<W> {
        LevelWorker {
            own: BucketWorker::new(),
            nearer: Vec::new(),
            of: ClassSources::default(),
            before: Vec::new(),
            counter: BucketCounter::new(space),
        }
    }
}

impl BucketSpace {
    /// Calls a function with the keys of a bucket whose class leaves some positions free, some at a time.
    fn list<const W: usize>(
        &self,
        lists: &BucketLists,
        (class, fine): (u32, u32),
        free: &FreePositions,
        workspace: &mut ListWorkspace,
        keys: impl FnMut(&[u64]),
    ) {
        let each = self.classes_per_chunk();
        let chunk = &lists.chunks[class as usize / each];
        let bucket = class as usize % each * self.coordinate.fine + fine as usize;
        self.coder.keys::<W>(chunk, bucket, free, workspace, keys);
    }

    /// The keys of a bucket whose lists are uncoded.
    pub(super) fn plain_list<'a, const W: usize>(
        &self,
        lists: &'a BucketLists,
        (class, fine): (u32, u32),
    ) -> &'a [u64] {
        let each = self.classes_per_chunk();
        let bucket = class as usize % each * self.coordinate.fine + fine as usize;
        lists.chunks[class as usize / each].plain_keys(bucket, W)
    }

    /// Finds what leads into a class from classes that have keys; nothing if no states may be in the class.
    pub(super) fn find_sources(
        &self,
        class: usize,
        has_keys: impl Fn(u32) -> bool,
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
        let moves = match self.arriving {
            Some((piece, ref moves)) => {
                &moves[usize::from(row[piece]) / self.coordinate.modulus_of(piece)]
            }
            None => &self.all_moves,
        };
        for &one in moves {
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
            let bound = self.bound.then(|| self.operation(one, symmetry, before));
            incoming.push(IncomingClass { one, class, symmetry, fine, free, bound });
        }
    }

    /// Whether a fine value is the one that is kept among those that symmetries of the class take to each other.
    pub(super) fn is_canonical(&self, class: usize, fine: usize) -> bool {
        let own = self.coordinate.self_symmetric[class].as_deref();
        own.is_none_or(|own| own.canonical[fine].fine as usize == fine)
    }

    /// Returns the bucket that a bucket of a class comes from, and the number of the operation on its keys if that does
    /// not depend on the class.
    pub(super) fn source(&self, from: &IncomingClass, fine: usize) -> ((u32, u32), usize) {
        let before = if self.coordinate.fine > 1 { from.fine[fine] } else { 0 };
        let at = self.coordinate.canonical(from.class, before);
        let symmetry = self.coordinate.group.then(from.symmetry, at.symmetry);
        ((from.class, at.fine), from.one * self.symmetries() + usize::from(symmetry))
    }

    /// Returns the operation on the keys that come from a class.
    pub(super) fn forth<'a>(&'a self, from: &'a IncomingClass, number: usize) -> &'a KeyOperation {
        from.bound.as_ref().unwrap_or_else(|| &self.operations[number])
    }

    /// Appends the keys that some moves produce in a bucket from the lists of a level, including duplicates.
    fn generate<const W: usize>(
        &self,
        (of, fine): (&ClassSources, usize),
        level: &BucketLists,
        is_wanted: impl Fn(usize) -> bool,
        workspace: &mut ListWorkspace,
        out: &mut Vec<u64>,
    ) {
        for from in of.incoming.iter().filter(|from| is_wanted(from.one)) {
            let (bucket, number) = self.source(from, fine);
            let operation = self.forth(from, number);
            self.list::<W>(level, bucket, &from.free, workspace, |keys| {
                self.layout.apply(operation, keys, self.kernel, out);
            });
        }
    }

    /// Leaves the keys that a bucket has at the depth after the current one in the worker.
    fn pull<const W: usize>(
        &self,
        of: &ClassSources,
        fine: usize,
        work: &LevelWork,
        worker: &mut BucketWorker<W>,
    ) {
        let BucketWorker { generated, known, lists, .. } = worker;
        (generated.clear(), known.clear());
        self.generate::<W>((of, fine), work.current, |_| true, lists, generated);
        let seen = work.seen.iter().chain((!self.bipartite).then_some(work.current));
        self.keep_new(of, fine, seen, worker);
    }

    /// The same for the depth after that; `before` has the sources of the class's sources.
    ///
    /// Two moves lead from the current level to the levels from two before it to two after it. All of their states that
    /// are not wanted are in the current level or the previous one, or one move leads to them from there: to a state
    /// two levels back, the second move leads from the previous level.
    fn pull_ahead<const W: usize>(
        &self,
        (of, before): (&ClassSources, &[ClassSources]),
        fine: usize,
        (work, pairs): (&LevelWork, &MovePairs),
        nearer: &mut Vec<u64>,
        worker: &mut BucketWorker<W>,
    ) {
        let BucketWorker { generated, known, lists, .. } = worker;
        (generated.clear(), known.clear());
        for (from, before) in of.incoming.iter().zip(before) {
            let ((_, at), number) = self.source(from, fine);
            let is_wanted = |first| pairs.is_new(first, number % self.symmetries(), from.one);
            nearer.clear();
            self.generate::<W>((before, at as usize), work.current, is_wanted, lists, nearer);
            let operation = self.forth(from, number);
            if self.forbidden.is_empty() {
                self.layout.apply(operation, nearer, self.kernel, generated);
                continue;
            }
            let allowed = nearer.chunks_exact(W).filter(|key| !self.is_forbidden(key));
            allowed.for_each(|key| self.layout.apply(operation, key, self.kernel, generated));
        }
        if generated.is_empty() {
            worker.new.clear();
            return;
        }
        let one_back = work.seen.iter().filter(|_| !self.directed);
        for level in one_back.chain((!self.bipartite).then_some(work.current)) {
            self.generate::<W>((of, fine), level, |_| true, lists, known);
        }
        let seen = work.seen.iter().filter(|_| self.directed || !self.bipartite);
        self.keep_new(of, fine, seen.chain(once(work.current)), worker);
    }

    /// Leaves those generated keys of a bucket in the worker that are neither known nor in some lists.
    fn keep_new<'a, const W: usize>(
        &self,
        of: &ClassSources,
        fine: usize,
        seen: impl Iterator<Item = &'a BucketLists>,
        worker: &mut BucketWorker<W>,
    ) {
        let BucketWorker { set, generated, known, new, lists: workspace } = worker;
        new.clear();
        if generated.is_empty() {
            return;
        }
        for lists in seen {
            let at = (of.class as u32, fine as u32);
            self.list::<W>(lists, at, &of.free, workspace, |keys| known.extend_from_slice(keys));
        }
        set.difference(as_keys::<W>(known), as_keys::<W>(generated), self.kernel, new);
        if !self.forbidden.is_empty() {
            new.retain(|key| !self.is_forbidden(key));
        }
    }

    /// Counts the new keys of a bucket.
    pub(super) fn count<const W: usize>(
        &self,
        of: &ClassSources,
        fine: usize,
        new: &[[u64; W]],
        counter: &mut BucketCounter,
    ) {
        let (BucketCounter { adds, total, fixed: images_fixed }, row) = (counter, &of.row);
        let kept = new.len() as u64;
        total.lists.kept += kept;
        let mut weight = u64::from(self.coordinate.members[of.class]);
        match &self.coordinate.self_symmetric[of.class] {
            None => total.lists.reduced += kept,
            Some(own) => {
                let (mut fixing, mut fixed) = (0, 0);
                let mut images = Vec::new();
                for &symmetry in &own.stabiliser {
                    let map = self.coordinate.map(symmetry);
                    self.coordinate.fine_map(row, map, &mut images);
                    if images[fine] as usize != fine {
                        continue;
                    }
                    fixing += 1;
                    let map = &self.coordinate.group.maps[usize::from(symmetry)];
                    let map = self.key_map(map, row);
                    let operation = self.layout.operation(&map.source, &map.table);
                    fixed += self.layout.fixed(&operation, new, self.kernel);
                }
                weight *= (own.stabiliser.len() / fixing) as u64;
                *images_fixed += fixed * (self.symmetries() / fixing) as u64;
            }
        }
        total.tally.states += weight * kept;
        let mut base = 0u32;
        if !self.bound {
            let turns = self.coordinate.turns(fine);
            for ((field, &value), turn) in self.coordinate.fields().zip(row).zip(turns) {
                base = base.wrapping_add(self.checksum.adds[field][usize::from(value + turn)]);
            }
        }
        let sum = self.layout.checksum(new.as_flattened(), base, adds, self.kernel);
        let tally = &mut total.tally;
        tally.checksum = tally.checksum.wrapping_add(sum.wrapping_mul(weight));
    }

    /// Computes the lists of some consecutive classes.
    fn chunk<const W: usize>(
        &self,
        chunk: usize,
        work: &LevelWork,
        (targets, pairs): (&[bool], Option<&MovePairs>),
        worker: &mut LevelWorker<W>,
    ) -> ListChunk {
        let each = self.classes_per_chunk();
        let classes = chunk * each..(chunk * each + each).min(self.coordinate.classes());
        if !targets[classes.clone()].contains(&true) {
            return ListChunk::default();
        }
        let LevelWorker { own, nearer, of, before, counter } = worker;
        let has_keys = |class: u32| !work.current.chunks[class as usize / each].is_empty();
        let mut lists = ListBuilder::default();
        for class in classes {
            of.incoming.clear();
            if targets[class] {
                self.find_sources(class, |class| pairs.is_some() || has_keys(class), of);
            }
            if of.incoming.is_empty() {
                lists.empty(self.coordinate.fine);
                continue;
            }
            if pairs.is_some() {
                before.resize_with(of.incoming.len(), ClassSources::default);
                for (from, before) in of.incoming.iter().zip(&mut *before) {
                    self.find_sources(from.class as usize, has_keys, before);
                }
            }
            if self.bound {
                self.adds(&of.row, &mut counter.adds);
            }
            for fine in 0..self.coordinate.fine {
                if !self.is_canonical(class, fine) {
                    lists.empty(1);
                    continue;
                }
                match pairs {
                    Some(pairs) => {
                        self.pull_ahead((of, before), fine, (work, pairs), nearer, own);
                    }
                    None => self.pull(of, fine, work, own),
                }
                counter.total.lists.generated += (own.generated.len() / W) as u64;
                let new = &own.new[..];
                if !new.is_empty() {
                    self.count(of, fine, new, counter);
                }
                let code = match work.becomes {
                    LevelUse::Kept if !new.is_empty() => None,
                    LevelUse::Coded if !new.is_empty() => Some((&self.coder, &of.free)),
                    _ => {
                        lists.empty(1);
                        continue;
                    }
                };
                lists.list(new, code, &mut own.lists);
            }
        }
        lists.finish()
    }

    /// Computes the parts of a level that are assigned here, each with one thread. Returns their totals.
    pub(super) fn level<const W: usize>(&self, work: &LevelWork) -> Result<LevelTotal, LevelEnd> {
        let pairs = (work.becomes == LevelUse::CountedAhead).then(|| MovePairs::new(self));
        let targets = match pairs {
            Some(_) => vec![true; self.coordinate.classes()],
            None => self.targets(work.current),
        };
        let (chunks, each) = (work.current.chunks.len(), work.sink.chunks_per_part());
        let compute = |worker: &mut LevelWorker<W>, part: usize| {
            let mut lists = Vec::new();
            let mut sum = LevelTotal::default();
            for chunk in part * each..chunks.min((part + 1) * each) {
                if work.progress.interrupted() {
                    return Err(LevelEnd::Interrupted);
                }
                let made = self.chunk::<W>(chunk, work, (&targets, pairs.as_ref()), worker);
                if let Some(error) = worker.own.lists.failed.take() {
                    return Err(LevelEnd::Unread(error));
                }
                let total = worker.counter.take(self);
                sum = sum.plus(total);
                lists.push((made, total));
            }
            work.sink.put(part, lists)?;
            let done = (work.sink.done() * each).min(chunks);
            work.progress.progress(Phase::Search(work.depth), done as u64, chunks as u64);
            Ok(sum)
        };
        let failed = AtomicBool::new(false);
        let sums = rayon::broadcast(|_| {
            let mut worker = LevelWorker::<W>::new(self);
            let mut sum = LevelTotal::default();
            while !failed.load(Ordering::Relaxed)
                && let Some(part) = work.sink.next()
            {
                let own = compute(&mut worker, part);
                sum = sum.plus(own.inspect_err(|_| failed.store(true, Ordering::Relaxed))?);
            }
            Ok(sum)
        });
        sums.into_iter().reduce(|a, b| Ok(a?.plus(b?))).expect("a pool has threads")
    }

    /// Returns the lists of level 0, chunk by chunk, and their totals.
    pub fn start<const W: usize>(
        &self,
        states: &[Vec<u8>],
        coded: bool,
    ) -> Vec<(ListChunk, LevelTotal)> {
        let mut keys: BTreeMap<(usize, usize), BTreeSet<[u64; W]>> = BTreeMap::new();
        for state in states {
            let (bucket, key) = self.bucket::<W>(state);
            keys.entry(bucket).or_default().insert(key);
        }
        let each = self.classes_per_chunk();
        let mut worker = LevelWorker::<W>::new(self);
        let mut chunks = vec![(ListChunk::default(), LevelTotal::default()); self.chunks()];
        for (chunk, made) in chunks.iter_mut().enumerate() {
            let classes = chunk * each..chunk * each + self.buckets(chunk) / self.coordinate.fine;
            if keys.range((classes.start, 0)..(classes.end, 0)).next().is_none() {
                continue;
            }
            let LevelWorker { own, of, counter, .. } = &mut worker;
            let mut lists = ListBuilder::default();
            for class in classes {
                self.find_sources(class, |_| false, of);
                if self.bound {
                    self.adds(&of.row, &mut counter.adds);
                }
                for fine in 0..self.coordinate.fine {
                    let Some(new) = keys.remove(&(class, fine)) else {
                        lists.empty(1);
                        continue;
                    };
                    let new: Vec<[u64; W]> = new.into_iter().collect();
                    self.count(of, fine, &new, counter);
                    lists.list(&new, coded.then_some((&self.coder, &of.free)), &mut own.lists);
                }
            }
            counter.total.lists.generated = counter.total.lists.kept;
            *made = (lists.finish(), counter.take(self));
        }
        chunks
    }

    /// The bucket of a state, by class and fine value, and its key there.
    fn bucket<const W: usize>(&self, state: &[u8]) -> ((usize, usize), [u64; W]) {
        let (coarse, _) = self.coordinate.of_state(state);
        let of = self.coordinate.class_of[coarse];
        let state = self.coordinate.group.maps[usize::from(of.symmetry)].apply(state);
        let (_, fine) = self.coordinate.of_state(&state);
        let at = self.coordinate.canonical(of.class, fine as u32);
        let state = self.coordinate.group.maps[usize::from(at.symmetry)].apply(&state);
        let values: Vec<u8> = (self.parts.iter())
            .map(|part| match part.turn {
                true => state[part.field] % self.coordinate.modulus(part.field) as u8,
                false => state[part.field],
            })
            .collect();
        let mut key = [0; W];
        let packed = self.layout.pack(&values);
        key[..packed.len()].copy_from_slice(&packed);
        ((of.class as usize, at.fine as usize), key)
    }

    /// Recounts the states of a chunk's lists.
    pub fn recount(&self, chunk: usize, lists: &ListChunk) -> Result<LevelTotal, StorageError> {
        by_words!(self.words(), W => self.recount_words::<W>(chunk, lists))
    }

    fn recount_words<const W: usize>(
        &self,
        chunk: usize,
        lists: &ListChunk,
    ) -> Result<LevelTotal, StorageError> {
        let mut counter = LevelWorker::<W>::new(self).counter;
        self.each_list::<W>(chunk, lists, |of, fine, keys, _| {
            if self.bound && fine == 0 {
                self.adds(&of.row, &mut counter.adds);
            }
            self.count(of, fine, keys, &mut counter);
        })?;
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
            self.each_list::<W>(chunk, lists, |_, _, keys, workspace| match keys {
                [] => plain.empty(1),
                keys => plain.list(keys, None, workspace),
            })?;
            Ok(plain.finish())
        })
    }

    /// Calls a function with the fields of each state that is kept in a chunk: one state, or a few, of those that are
    /// symmetric to each other under the symmetries in use.
    pub fn each_row(
        &self,
        chunk: usize,
        lists: &ListChunk,
        each: impl FnMut(&[u8]),
    ) -> Result<(), StorageError> {
        by_words!(self.words(), W => self.each_row_words::<W>(chunk, lists, each))
    }

    fn each_row_words<const W: usize>(
        &self,
        chunk: usize,
        lists: &ListChunk,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), StorageError> {
        if lists.is_empty() {
            return Ok(());
        }
        let mut state = vec![0; self.checksum.adds.len()];
        let parts: Vec<_> = self.parts.iter().map(|part| (part.field, part.turn)).collect();
        self.each_list::<W>(chunk, lists, |of, fine, keys, _| {
            let turns = self.coordinate.turns(fine);
            for ((field, &value), turn) in self.coordinate.fields().zip(&of.row).zip(turns) {
                state[field] = value + turn;
            }
            for key in keys {
                for (part, &(field, turn)) in parts.iter().enumerate() {
                    let value = self.layout.value(key, part) as u8;
                    let modulus = || self.coordinate.modulus(field) as u8;
                    state[field] = match turn {
                        true => state[field] / modulus() * modulus() + value,
                        false => value,
                    };
                }
                each(&state);
            }
        })
    }

    /// Calls a function with the fields of each image of a state under the symmetries in use, itself included, once
    /// each.
    pub fn each_image(&self, row: &[u8], mut each: impl FnMut(&[u8])) {
        let mut images: Vec<Vec<u8>> =
            self.coordinate.group.maps.iter().map(|map| map.apply(row)).collect();
        images.sort_unstable();
        images.dedup();
        images.iter().for_each(|image| each(image));
    }

    /// Calls a function with the keys of each bucket of a chunk, and the bucket's class and its place there.
    pub(super) fn each_list<const W: usize>(
        &self,
        chunk: usize,
        lists: &ListChunk,
        mut each: impl FnMut(&ClassSources, usize, &[[u64; W]], &mut ListWorkspace),
    ) -> Result<(), StorageError> {
        let [mut own, mut other] = [(); 2].map(|()| ListWorkspace::new());
        let mut keys = Vec::new();
        let mut of = ClassSources::default();
        let first = chunk * self.classes_per_chunk();
        let fine = self.coordinate.fine;
        for class in first..first + self.buckets(chunk) / fine {
            self.find_sources(class, |_| false, &mut of);
            for at in 0..fine {
                let bucket = (class - first) * fine + at;
                keys.clear();
                let collect = |some: &[u64]| keys.extend_from_slice(some);
                self.coder.keys::<W>(lists, bucket, &of.free, &mut own, collect);
                each(&of, at, as_keys::<W>(&keys), &mut other);
            }
        }
        own.failed.map_or(Ok(()), Err)
    }
}

/// The keys of a list.
pub(super) fn as_keys<const W: usize>(words: &[u64]) -> &[[u64; W]] {
    words.as_chunks::<W>().0
}
