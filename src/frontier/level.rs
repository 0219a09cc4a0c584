//! One level: its lists, and how the next one comes from them, bucket by bucket.
//!
//! The next level of a bucket is the union of what each move makes of the bucket that it comes from, without the bucket's
//! own keys and those of the level before. Every bucket is computed by whoever takes it, from lists that nobody changes.
//!
//! Invariant: a level holds, for each canonical bucket, every key of its states once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use crate::frontier::choice::{CoordinateChoice, is_bipartite};
use crate::frontier::coordinate::Coordinate;
use crate::frontier::fields::{FieldMap, StateFields};
use crate::frontier::lists::{BucketLists, ListBuilder, ListChunk, ListCoder, ListWorkspace};
use crate::frontier::symmetry::SymmetryGroup;
use crate::kernel::Kernel;
use crate::kernel::key_digits::{FreePositions, SLOTS};
use crate::kernel::key_set::KeySet;
use crate::kernel::keys::{KeyLayout, KeyOperation};
use crate::progress::{Phase, Progress};
use crate::puzzle::orbits::OrbitPuzzle;

/// Buckets that are stored together, at least.
const CHUNK: usize = 512;

/// A field of the keys.
#[derive(Clone, Copy, Debug)]
struct KeyPart {
    field: usize,
    /// Whether the coordinate says the position, so that only the orientation is left.
    turn: bool,
}

/// What does not change during a search.
pub(super) struct BucketSpace {
    coordinate: Coordinate,
    parts: Vec<KeyPart>,
    layout: KeyLayout,
    /// For each move what it does to all fields, and what it and its inverse do to the tracked ones.
    moves: Vec<FieldMap>,
    forth: Vec<FieldMap>,
    back: Vec<FieldMap>,
    /// Where moves depend on a tracked piece: which, and the moves that end with it at each position.
    arriving: Option<(usize, Vec<Vec<usize>>)>,
    all_moves: Vec<usize>,
    /// For each move and symmetry, "the symmetry undone, then the move", where that does not depend on the class.
    operations: Vec<KeyOperation>,
    /// The fields of keys, and the tracked pieces, that must not have these values.
    forbidden: Vec<(usize, Vec<u8>)>,
    forbidden_tracked: Vec<(usize, Vec<u8>)>,
    /// For each class and its symmetries, where orientations are in the keys, that is worked out at need.
    bound: bool,
    checksum: StateSums,
    coder: ListCoder,
    pub kernel: Kernel,
    vectors: bool,
    bipartite: bool,
    pub directed: bool,
    all_symmetries: bool,
}

/// What each value of each field adds to the number of a state.
struct StateSums {
    adds: Vec<[u32; 128]>,
}

impl StateSums {
    /// The same number for values that symmetries carry to each other.
    fn new(fields: &StateFields, group: &SymmetryGroup) -> StateSums {
        let mut adds = vec![[0; 128]; fields.fields.len()];
        let mut number = 0u64;
        for field in 0..adds.len() {
            for value in 0..fields.fields[field].values {
                if adds[field][value] != 0 {
                    continue;
                }
                number += 1;
                let mixed = mix(number) as u32 | 1;
                for map in &group.maps {
                    let to = map.source.iter().position(|&from| usize::from(from) == field);
                    let to = to.expect("a symmetry permutes the fields");
                    adds[to][usize::from(map.table[to][value])] = mixed;
                }
            }
        }
        StateSums { adds }
    }
}

/// A bijection of 64 bits without visible pattern.
fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ x >> 32
}

impl BucketSpace {
    /// Returns the buckets of a puzzle for a choice of coordinate.
    pub fn new(
        puzzle: &OrbitPuzzle,
        fields: &StateFields,
        chosen: &CoordinateChoice,
        kernel: Kernel,
    ) -> BucketSpace {
        let coordinate =
            Coordinate::new(puzzle, fields, &chosen.fields, chosen.oriented, &chosen.group);
        let mut parts = Vec::new();
        let mut values = Vec::new();
        for (field, of) in fields.fields.iter().enumerate() {
            let turn = chosen.fields.contains(&field);
            if !turn || !chosen.oriented && of.modulus > 1 {
                parts.push(KeyPart { field, turn });
                values.push(if turn { of.modulus } else { of.values });
            }
        }
        let layout = KeyLayout::new(&values);
        let words = key_words(layout.words).unwrap_or(layout.words);
        let layout = layout.padded(words);
        let moves: Vec<FieldMap> = (puzzle.moves().iter())
            .map(|one| fields.of_move(puzzle, &one.transformation))
            .collect();
        let arriving = arriving_moves(puzzle, fields, &chosen.fields);
        let mut forbidden = Vec::new();
        let mut forbidden_tracked = Vec::new();
        for &at in puzzle.illegal() {
            let Some((field, values)) = fields.says(puzzle, at) else { continue };
            match chosen.fields.iter().position(|&other| other == field) {
                Some(tracked) => forbidden_tracked.push((tracked, values)),
                None => {
                    let part = parts.iter().position(|part: &KeyPart| part.field == field);
                    forbidden.push((part.expect("a field of the keys"), values));
                }
            }
        }
        let listed =
            parts.iter().zip(&values).map(|(part, &values)| (part.field, part.turn, values));
        let mut space = BucketSpace {
            coder: ListCoder::new(puzzle, fields, listed, &layout, kernel),
            forbidden,
            forbidden_tracked,
            forth: moves.iter().map(|one| coordinate.restrict(one)).collect(),
            back: moves.iter().map(|one| coordinate.restrict(&one.inverse())).collect(),
            bound: parts.iter().any(|part| part.turn),
            checksum: StateSums::new(fields, &chosen.whole_group),
            kernel,
            vectors: kernel == Kernel::Avx512,
            bipartite: is_bipartite(puzzle, fields, &moves),
            directed: puzzle.is_directed(),
            all_symmetries: coordinate.group.order() == chosen.whole_group.order(),
            operations: Vec::new(),
            coordinate,
            parts,
            layout,
            moves,
            arriving,
            all_moves: (0..puzzle.moves().len()).collect(),
        };
        if !space.bound {
            for one in 0..space.moves.len() {
                for symmetry in 0..space.coordinate.group.order() as u16 {
                    space.operations.push(space.operation(one, symmetry, &[]));
                }
            }
        }
        space
    }

    /// What "a symmetry undone, then a move" does to the keys of a class with these rows of tracked fields.
    fn operation(&self, one: usize, symmetry: u16, row: &[u8]) -> KeyOperation {
        let back = self.coordinate.group.inverse[usize::from(symmetry)];
        let map = self.coordinate.group.maps[usize::from(back)].then(&self.moves[one]);
        let keys = self.key_map(&map, row);
        self.layout.operation(&keys.source, &keys.table)
    }

    /// A map of states as one of the key's fields, where the tracked pieces have the positions of a row.
    fn key_map(&self, map: &FieldMap, row: &[u8]) -> FieldMap {
        let mut keys = FieldMap { source: Vec::new(), table: Vec::new() };
        for part in &self.parts {
            let from = usize::from(map.source[part.field]);
            let source = self.parts.iter().position(|other| other.field == from);
            let table = &map.table[part.field];
            keys.source.push(source.expect("moves and symmetries keep the tracked pieces") as u16);
            keys.table.push(if part.turn {
                let tracked = self.coordinate.fields().position(|field| field == from);
                let at = usize::from(row[tracked.expect("a tracked piece")]);
                let modulus = self.coordinate.modulus(from);
                let turned = table[at / modulus * modulus..][..modulus].iter();
                turned.map(|&value| value % modulus as u8).collect()
            } else {
                table.clone()
            });
        }
        keys
    }

    /// Most words of a key.
    pub const MAX_WORDS: usize = 128;

    /// Returns the words of a key.
    pub fn words(&self) -> usize {
        self.layout.words
    }

    /// Returns how many symmetries are used.
    pub fn symmetries(&self) -> usize {
        self.coordinate.group.order()
    }

    /// Returns whether lists can be coded.
    pub fn can_code(&self) -> bool {
        self.layout.words <= ListCoder::MAX_WORDS
    }

    /// Returns whether all symmetries of the puzzle are used.
    pub fn is_reduced(&self) -> bool {
        self.all_symmetries
    }

    /// Returns the coordinate and the keys in words.
    pub fn describe(&self, choice: &CoordinateChoice) -> String {
        format!(
            "coordinate {:?}{}: {} classes of {} buckets under {} symmetries; keys of {} fields in {} words",
            choice.fields,
            if choice.oriented { " with orientations" } else { "" },
            self.coordinate.classes(),
            self.coordinate.fine,
            self.coordinate.group.order(),
            self.layout.len(),
            self.layout.words,
        )
    }

    fn classes_per_chunk(&self) -> usize {
        CHUNK.div_ceil(self.coordinate.fine)
    }

    /// The classes that moves lead to from a level, or all where they are many.
    fn targets(&self, lists: &BucketLists) -> Vec<bool> {
        let each = self.classes_per_chunk();
        let classes = self.coordinate.classes();
        let fine = self.coordinate.fine;
        let full = |class: &usize| lists.chunks[class / each].count(class % each * fine, fine) > 0;
        let sources: Vec<usize> = (0..classes).filter(full).collect();
        if sources.len() * self.moves.len() > classes {
            return vec![true; classes];
        }
        let mut targets = vec![false; classes];
        let (mut row, mut after) = (Vec::new(), Vec::new());
        for class in sources {
            self.coordinate.representative(class, &mut row);
            for one in &self.forth {
                one.apply_to(&row, &mut after);
                targets[self.coordinate.class(&after).class as usize] = true;
            }
        }
        targets
    }

    /// The keys of a bucket whose class leaves positions free.
    fn list<'a, const W: usize>(
        &self,
        lists: &'a BucketLists,
        (class, fine): (u32, u32),
        free: &FreePositions,
        workspace: &'a mut ListWorkspace,
    ) -> &'a [u64] {
        let each = self.classes_per_chunk();
        let chunk = &lists.chunks[class as usize / each];
        let bucket = class as usize % each * self.coordinate.fine + fine as usize;
        self.coder.keys::<W>(chunk, bucket, free, workspace)
    }
}

/// What a worker has found, and its working memory.
struct BucketWorker<const W: usize> {
    set: KeySet<W>,
    generated: Vec<u64>,
    new: Vec<[u64; W]>,
    fine_maps: Vec<Vec<u32>>,
    /// The tracked fields of the class at hand, and what the fields of its keys add to a state's number.
    row: Vec<u8>,
    adds: Vec<[u32; 128]>,
    before: Vec<u8>,
    incoming: Vec<IncomingBucket>,
    lists: ListWorkspace,
    /// The positions that the class at hand leaves free.
    free: FreePositions,
    total: LevelTotal,
}

impl<const W: usize> BucketWorker<W> {
    fn new(space: &BucketSpace) -> BucketWorker<W> {
        let mut worker = BucketWorker {
            set: KeySet::new(),
            generated: Vec::new(),
            new: Vec::new(),
            fine_maps: Vec::new(),
            row: Vec::new(),
            adds: Vec::new(),
            before: Vec::new(),
            incoming: Vec::new(),
            lists: ListWorkspace::new(),
            free: [0; SLOTS],
            total: LevelTotal::default(),
        };
        if !space.bound {
            space.adds(&[], &mut worker.adds);
        }
        worker
    }
}

/// What a level comes to.
#[derive(Clone, Copy, Default)]
pub(super) struct LevelTotal {
    pub states: u64,
    /// States up to symmetry.
    pub reduced: u64,
    pub checksum: u64,
    pub generated: u64,
    pub kept: u64,
}

/// A level to be computed.
pub(super) struct LevelWork<'a> {
    /// Earlier levels that its states may be in, the current one aside.
    pub seen: &'a [BucketLists],
    pub current: &'a BucketLists,
    pub depth: usize,
    /// Whether its lists are wanted, or its counts alone.
    pub store: bool,
    /// Whether its lists are coded.
    pub code: bool,
    /// Bytes that its lists may take.
    pub room: u64,
    pub progress: &'a dyn Progress,
}

/// Why a level was not computed.
pub(super) enum LevelEnd {
    Interrupted,
    /// Its lists take more than they may.
    Full,
}

impl LevelTotal {
    fn plus(self, other: LevelTotal) -> LevelTotal {
        LevelTotal {
            states: self.states + other.states,
            reduced: self.reduced + other.reduced,
            checksum: self.checksum.wrapping_add(other.checksum),
            generated: self.generated + other.generated,
            kept: self.kept + other.kept,
        }
    }
}

/// A bucket's predecessors under one move.
struct IncomingBucket {
    one: usize,
    class: u32,
    symmetry: u16,
    /// The positions that its class leaves free, where its lists are coded.
    free: FreePositions,
}

impl BucketSpace {
    /// Leaves with the worker the buckets that lead into its class, and for each the fine values that the class's own
    /// come from.
    fn incoming<const W: usize>(&self, lists: &BucketLists, worker: &mut BucketWorker<W>) {
        let each = self.classes_per_chunk();
        let BucketWorker { row, before, incoming, fine_maps, .. } = worker;
        incoming.clear();
        let moves = match self.arriving {
            Some((piece, ref moves)) => {
                &moves[usize::from(row[piece]) / self.coordinate.modulus_of(piece)]
            }
            None => &self.all_moves,
        };
        for &one in moves {
            self.back[one].apply_to(row, before);
            let of = self.coordinate.class(before);
            let chunk = &lists.chunks[of.class as usize / each];
            if chunk.is_empty() {
                continue;
            }
            if self.coordinate.fine > 1 {
                if fine_maps.len() == incoming.len() {
                    fine_maps.push(Vec::new());
                }
                let map = self.back[one].then(self.coordinate.map(of.symmetry));
                self.coordinate.fine_map(row, &map, &mut fine_maps[incoming.len()]);
            }
            let mut free = [0; SLOTS];
            if chunk.is_coded() {
                self.coordinate.representative(of.class as usize, before);
                free = self.coder.free(self.coordinate.positions(before));
            }
            let (class, symmetry) = (of.class, of.symmetry);
            incoming.push(IncomingBucket { one, class, symmetry, free });
        }
    }

    fn chunk<const W: usize>(
        &self,
        chunk: usize,
        work: &LevelWork,
        targets: &[bool],
        worker: &mut BucketWorker<W>,
    ) -> ListChunk {
        let each = self.classes_per_chunk();
        let classes = chunk * each..(chunk * each + each).min(self.coordinate.classes());
        if !targets[classes.clone()].contains(&true) {
            return ListChunk::default();
        }
        let mut lists = ListBuilder::default();
        for class in classes {
            if !targets[class] {
                lists.empty(self.coordinate.fine);
                continue;
            }
            self.coordinate.representative(class, &mut worker.row);
            let illegal = |(piece, values): &(usize, Vec<u8>)| {
                let modulus = self.coordinate.modulus_of(*piece) as u8;
                values.iter().any(|value| value / modulus == worker.row[*piece] / modulus)
            };
            if self.forbidden_tracked.iter().any(illegal) {
                lists.empty(self.coordinate.fine);
                continue;
            }
            self.incoming(work.current, worker);
            if worker.incoming.is_empty() {
                lists.empty(self.coordinate.fine);
                continue;
            }
            worker.free = self.coder.free(self.coordinate.positions(&worker.row));
            // Operations that depend on the class.
            let mut bound: Vec<KeyOperation> = Vec::new();
            if self.bound {
                for from in &worker.incoming {
                    self.coordinate.representative(from.class as usize, &mut worker.before);
                    bound.push(self.operation(from.one, from.symmetry, &worker.before));
                }
                self.adds(&worker.row, &mut worker.adds);
            }
            let own = self.coordinate.self_symmetric[class].as_deref();
            for fine in 0..self.coordinate.fine {
                if own.is_some_and(|own| own.canonical[fine].fine as usize != fine) {
                    lists.empty(1);
                    continue;
                }
                worker.generated.clear();
                for (i, from) in worker.incoming.iter().enumerate() {
                    let before =
                        if self.coordinate.fine > 1 { worker.fine_maps[i][fine] } else { 0 };
                    let at = self.coordinate.canonical(from.class, before);
                    let (bucket, out) = ((from.class, at.fine), &mut worker.generated);
                    let list = self.list::<W>(work.current, bucket, &from.free, &mut worker.lists);
                    if list.is_empty() {
                        continue;
                    }
                    if self.bound {
                        self.layout.apply(&bound[i], list, self.vectors, out);
                    } else {
                        let symmetry = self.coordinate.group.then(from.symmetry, at.symmetry);
                        let order = self.coordinate.group.order();
                        let operation = &self.operations[from.one * order + usize::from(symmetry)];
                        self.layout.apply(operation, list, self.vectors, out);
                    }
                }
                if worker.generated.is_empty() {
                    lists.empty(1);
                    continue;
                }
                let seen = work.seen.iter().chain((!self.bipartite).then_some(work.current));
                self.keep(class, fine, seen, worker);
                if work.store {
                    let code = work.code.then_some((&self.coder, &worker.free));
                    lists.list(&worker.new, code, &mut worker.lists);
                }
            }
        }
        lists.finish()
    }

    /// Leaves the keys of a bucket that are new with the worker, and counts them.
    fn keep<'a, const W: usize>(
        &self,
        class: usize,
        fine: usize,
        seen: impl Iterator<Item = &'a BucketLists> + Clone,
        worker: &mut BucketWorker<W>,
    ) {
        let generated = as_keys::<W>(&worker.generated);
        let (of, each) = ((class as u32, fine as u32), self.classes_per_chunk());
        let bucket = class % each * self.coordinate.fine + fine;
        let known = seen.clone().map(|lists| lists.chunks[class / each].count(bucket, 1));
        worker.set.clear(generated.len() + known.sum::<usize>());
        for lists in seen {
            let list = self.list::<W>(lists, of, &worker.free, &mut worker.lists);
            worker.new.clear();
            worker.set.insert(as_keys::<W>(list), self.kernel, &mut worker.new);
        }
        worker.new.clear();
        worker.set.insert(generated, self.kernel, &mut worker.new);
        for (part, values) in &self.forbidden {
            let layout = &self.layout;
            worker.new.retain(|key| !values.contains(&(layout.value(key, *part) as u8)));
        }
        let new = worker.new.as_flattened();
        let kept = worker.new.len() as u64;
        worker.total.generated += generated.len() as u64;
        worker.total.kept += kept;
        let mut weight = u64::from(self.coordinate.members[class]);
        match &self.coordinate.self_symmetric[class] {
            None => worker.total.reduced += kept,
            Some(own) => {
                let row = &worker.row;
                let mut fixing = 0;
                let mut fixed = 0;
                let mut images = Vec::new();
                let mut out = Vec::new();
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
                    out.clear();
                    self.layout.apply(&operation, new, self.vectors, &mut out);
                    let same = as_keys::<W>(new).iter().zip(as_keys::<W>(&out));
                    fixed += same.filter(|(key, image)| key == image).count() as u64;
                }
                weight *= (own.stabiliser.len() / fixing) as u64;
                worker.total.reduced += fixed / fixing as u64;
            }
        }
        worker.total.states += weight * kept;
        let mut base = 0u32;
        if !self.bound {
            let turns = self.coordinate.turns(fine);
            for ((field, &value), turn) in self.coordinate.fields().zip(&worker.row).zip(turns) {
                base = base.wrapping_add(self.checksum.adds[field][usize::from(value + turn)]);
            }
        }
        let sum = self.layout.checksum(new, base, &worker.adds, self.vectors);
        worker.total.checksum = worker.total.checksum.wrapping_add(sum.wrapping_mul(weight));
    }

    /// What the fields of keys add to the number of a state, where the tracked pieces have the positions of a row.
    fn adds(&self, row: &[u8], adds: &mut Vec<[u32; 128]>) {
        adds.clear();
        adds.extend(self.parts.iter().map(|part| {
            let mut own = self.checksum.adds[part.field];
            if part.turn {
                let tracked = self.coordinate.fields().position(|field| field == part.field);
                let at = usize::from(row[tracked.expect("a tracked piece")]);
                own.copy_within(at..at + self.coordinate.modulus(part.field), 0);
            }
            own
        }));
    }

    /// Computes a level.
    pub fn level<const W: usize>(
        &self,
        work: &LevelWork,
    ) -> Result<(BucketLists, LevelTotal), LevelEnd> {
        let targets = self.targets(work.current);
        let chunks = work.current.chunks.len();
        let (done, bytes, stop) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
        let compute = |worker: &mut BucketWorker<W>, chunk| {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            worker.total = LevelTotal::default();
            let lists = self.chunk::<W>(chunk, work, &targets, worker);
            let grown = lists.bytes();
            let full = bytes.fetch_add(grown, Ordering::Relaxed) + grown > work.room;
            let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
            work.progress.progress(Phase::Search(work.depth), finished, chunks as u64);
            if full || work.progress.interrupted() {
                stop.store(true, Ordering::Relaxed);
                return None;
            }
            Some((lists, worker.total))
        };
        let found: Option<Vec<(ListChunk, LevelTotal)>> = (0..chunks)
            .into_par_iter()
            .map_init(|| BucketWorker::<W>::new(self), compute)
            .collect();
        let Some(found) = found else {
            let full = bytes.into_inner() > work.room;
            return Err(if full { LevelEnd::Full } else { LevelEnd::Interrupted });
        };
        let total = found.iter().fold(LevelTotal::default(), |sum, (_, total)| sum.plus(*total));
        Ok((BucketLists { chunks: found.into_iter().map(|(chunk, _)| chunk).collect() }, total))
    }
}

/// The least supported number of words for keys of this many; nothing where there is none.
fn key_words(words: usize) -> Option<usize> {
    [1, 2, 3, 4, 8, 16, 32, 64, BucketSpace::MAX_WORDS]
        .into_iter()
        .find(|&supported| supported >= words)
}

/// The tracked piece on whose position moves depend, and the moves that end with it at each position; those that depend
/// on nothing end anywhere.
fn arriving_moves(
    puzzle: &OrbitPuzzle,
    fields: &StateFields,
    chosen: &[usize],
) -> Option<(usize, Vec<Vec<usize>>)> {
    let at = puzzle.moves().iter().find_map(|one| one.requires)?;
    let field = fields.location(at)?;
    let tracked = chosen.iter().position(|&other| other == field)?;
    let mut moves = vec![Vec::new(); puzzle.orbits()[usize::from(at.orbit)].positions()];
    for (index, one) in puzzle.moves().iter().enumerate() {
        let source = &one.transformation.0[usize::from(at.orbit)].source;
        for (position, from) in source.iter().enumerate() {
            if one.requires.is_none_or(|needed| needed.position == *from) {
                moves[position].push(index);
            }
        }
    }
    Some((tracked, moves))
}

/// The keys of a list.
fn as_keys<const W: usize>(words: &[u64]) -> &[[u64; W]] {
    words.as_chunks::<W>().0
}

impl BucketSpace {
    /// Returns the level of the start alone.
    pub fn start<const W: usize>(&self, state: &[u8]) -> (BucketLists, LevelTotal) {
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
        let mut key = self.layout.pack(&values);
        key.resize(W, 0);
        let mut worker = BucketWorker::<W>::new(self);
        worker.generated.clone_from(&key);
        self.coordinate.representative(of.class as usize, &mut worker.row);
        if self.bound {
            self.adds(&worker.row, &mut worker.adds);
        }
        let (class, fine) = (of.class as usize, at.fine as usize);
        self.keep::<W>(class, fine, std::iter::empty(), &mut worker);
        let each = self.classes_per_chunk();
        let before = class % each * self.coordinate.fine + fine;
        let mut chunk = ListBuilder::default();
        chunk.empty(before);
        chunk.list(&worker.new, None, &mut worker.lists);
        chunk.empty(each * self.coordinate.fine - before - 1);
        let chunks = self.coordinate.classes().div_ceil(each);
        let mut lists = BucketLists { chunks: vec![ListChunk::default(); chunks] };
        lists.chunks[class / each] = chunk.finish();
        (lists, worker.total)
    }
}
