//! The search: level by level, bucket by bucket.
//!
//! The next level of a bucket is the union of what each move makes of the bucket that it comes from, without the bucket's
//! own keys and those of the level before. Every bucket is computed by whoever takes it, from lists that nobody changes.
//!
//! Invariant: a level holds, for each canonical bucket, every key of its states once.

use std::collections::HashSet;
use std::time::Instant;

use rayon::prelude::*;

use crate::frontier::coordinate::{Coordinate, keeps, sizes};
use crate::frontier::fields::{FieldKind, FieldMap, StateField, StateFields};
use crate::frontier::symmetry::SymmetryGroup;
use crate::kernel::Kernel;
use crate::kernel::key_set::KeySet;
use crate::kernel::keys::{KeyLayout, KeyOperation};
use crate::puzzle::orbits::{OrbitMove, OrbitPlace, OrbitPuzzle};

/// Buckets that are stored together, at least.
const CHUNK: usize = 512;

/// A search of a puzzle of several orbits.
#[derive(Clone, Debug)]
pub struct FrontierSearch {
    /// What is searched.
    pub puzzle: OrbitPuzzle,
    /// Last depth to compute, `None` for all.
    pub max_depth: Option<usize>,
    /// Whether symmetries are used.
    pub symmetry: bool,
    /// The instructions that are used.
    pub kernel: Kernel,
}

/// What a search has found at one depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrontierLevel {
    /// Number of states.
    pub states: u64,
    /// Number of states up to symmetry, where all symmetries were used.
    pub reduced: Option<u64>,
    /// Sum over the states of a number that depends on the state alone, and is the same for symmetric ones.
    pub checksum: u64,
    /// Keys that were made, duplicates included, and kept.
    pub generated: u64,
    /// Keys that were kept.
    pub kept: u64,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// A field of the keys.
#[derive(Clone, Copy, Debug)]
struct KeyPart {
    field: usize,
    /// Whether the coordinate says the position, so that only the orientation is left.
    turn: bool,
}

/// What does not change during a search.
struct Space {
    coordinate: Coordinate,
    parts: Vec<KeyPart>,
    layout: KeyLayout,
    /// For each move what it does to all fields, and what it and its inverse do to the tracked ones.
    moves: Vec<FieldMap>,
    forth: Vec<FieldMap>,
    back: Vec<FieldMap>,
    /// For each move the tracked field that must have a position after it.
    arrives: Vec<Option<(usize, usize)>>,
    /// For each move and symmetry, "the symmetry undone, then the move", where that does not depend on the class.
    operations: Vec<KeyOperation>,
    /// The fields of keys, and the tracked pieces, that must not have these values.
    forbidden: Vec<(usize, Vec<u8>)>,
    forbidden_tracked: Vec<(usize, Vec<u8>)>,
    /// For each class and its symmetries, where orientations are in the keys, that is worked out at need.
    bound: bool,
    checksum: Checksum,
    kernel: Kernel,
    vectors: bool,
    bipartite: bool,
    directed: bool,
    all_symmetries: bool,
}

/// What each value of each field adds to the number of a state.
struct Checksum {
    adds: Vec<[u32; 128]>,
}

impl Checksum {
    /// The same number for values that symmetries carry to each other.
    fn new(fields: &StateFields, group: &SymmetryGroup) -> Checksum {
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
        Checksum { adds }
    }
}

/// A bijection of 64 bits without visible pattern.
fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ x >> 32
}

/// The lists of some consecutive classes.
#[derive(Clone, Default)]
struct ListChunk {
    keys: Box<[u64]>,
    /// For each bucket where its keys begin, and where the last one's end; nothing when there are no keys.
    starts: Box<[u32]>,
}

/// The lists of a level.
struct Lists {
    chunks: Vec<ListChunk>,
}

impl Space {
    fn new(search: &FrontierSearch, fields: &StateFields, chosen: &Choice) -> Space {
        let puzzle = &search.puzzle;
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
        let arrives = (puzzle.moves().iter())
            .map(|one| {
                let at = one.requires?;
                let kind = FieldKind::Location { kind: at.kind };
                let field = fields
                    .fields
                    .iter()
                    .position(|field| field.orbit == usize::from(at.orbit) && field.kind == kind)?;
                let tracked = chosen.fields.iter().position(|&other| other == field)?;
                let source = &one.transformation.0[usize::from(at.orbit)].source;
                Some((tracked, source.iter().position(|&from| from == at.position)?))
            })
            .collect();
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
        let mut space = Space {
            forbidden,
            forbidden_tracked,
            forth: moves.iter().map(|one| coordinate.restrict(one)).collect(),
            back: moves.iter().map(|one| coordinate.restrict(&one.inverse())).collect(),
            bound: parts.iter().any(|part| part.turn),
            checksum: Checksum::new(fields, &chosen.whole_group),
            kernel: search.kernel,
            vectors: search.kernel == Kernel::Avx512 && search.kernel.is_supported(),
            bipartite: is_bipartite(puzzle, fields, &moves),
            directed: puzzle.is_directed(),
            all_symmetries: coordinate.group.order() == chosen.whole_group.order(),
            operations: Vec::new(),
            coordinate,
            parts,
            layout,
            moves,
            arrives,
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

    fn classes_per_chunk(&self) -> usize {
        CHUNK.div_ceil(self.coordinate.fine)
    }

    fn empty(&self) -> Lists {
        let chunks = self.coordinate.classes().div_ceil(self.classes_per_chunk());
        Lists { chunks: vec![ListChunk::default(); chunks] }
    }

    /// The classes that moves lead to from a level, or all where they are many.
    fn targets(&self, lists: &Lists) -> Vec<bool> {
        let each = self.classes_per_chunk();
        let classes = self.coordinate.classes();
        let full = |class: &usize| {
            let starts = &lists.chunks[class / each].starts;
            let bucket = class % each * self.coordinate.fine;
            !starts.is_empty() && starts[bucket] < starts[bucket + self.coordinate.fine]
        };
        let sources: Vec<usize> = (0..classes).filter(full).collect();
        if sources.len() * self.moves.len() > classes {
            return vec![true; classes];
        }
        let mut targets = vec![false; classes];
        for class in sources {
            let row = self.coordinate.unrank(self.coordinate.representative[class] as usize);
            for one in &self.forth {
                targets[self.coordinate.class(&one.apply(&row)).class as usize] = true;
            }
        }
        targets
    }

    /// The keys of a bucket.
    fn list<'a>(&self, lists: &'a Lists, class: u32, fine: u32) -> &'a [u64] {
        let each = self.classes_per_chunk();
        let chunk = &lists.chunks[class as usize / each];
        if chunk.starts.is_empty() {
            return &[];
        }
        let bucket = class as usize % each * self.coordinate.fine + fine as usize;
        let (from, to) = (chunk.starts[bucket] as usize, chunk.starts[bucket + 1] as usize);
        &chunk.keys[from * self.layout.words..to * self.layout.words]
    }
}

/// What a worker has found, and its working memory.
struct Worker<const W: usize> {
    set: KeySet<W>,
    generated: Vec<u64>,
    new: Vec<[u64; W]>,
    fine_maps: Vec<Vec<u32>>,
    /// The tracked fields of the class at hand, and what the fields of its keys add to a state's number.
    row: Vec<u8>,
    adds: Vec<[u32; 128]>,
    total: Total,
}

impl<const W: usize> Worker<W> {
    fn new() -> Worker<W> {
        Worker {
            set: KeySet::new(),
            generated: Vec::new(),
            new: Vec::new(),
            fine_maps: Vec::new(),
            row: Vec::new(),
            adds: Vec::new(),
            total: Total::default(),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Total {
    states: u64,
    /// States up to symmetry.
    reduced: u64,
    checksum: u64,
    generated: u64,
    kept: u64,
}

impl Total {
    fn plus(self, other: Total) -> Total {
        Total {
            states: self.states + other.states,
            reduced: self.reduced + other.reduced,
            checksum: self.checksum.wrapping_add(other.checksum),
            generated: self.generated + other.generated,
            kept: self.kept + other.kept,
        }
    }
}

/// A bucket's predecessors under one move.
struct Incoming {
    one: usize,
    class: u32,
    symmetry: u16,
}

impl Space {
    /// The buckets that lead into a class with this row, and for each the fine values that its own come from.
    fn incoming(&self, row: &[u8], lists: &Lists, fine_maps: &mut Vec<Vec<u32>>) -> Vec<Incoming> {
        let each = self.classes_per_chunk();
        let mut all: Vec<Incoming> = Vec::new();
        for (one, back) in self.back.iter().enumerate() {
            if let Some((piece, position)) = self.arrives[one]
                && usize::from(row[piece]) / self.coordinate.modulus_of(piece) != position
            {
                continue;
            }
            let before = back.apply(row);
            let of = self.coordinate.class(&before);
            if lists.chunks[of.class as usize / each].starts.is_empty() {
                continue;
            }
            if fine_maps.len() == all.len() {
                fine_maps.push(Vec::new());
            }
            let map = back.then(self.coordinate.map(of.symmetry));
            self.coordinate.fine_map(row, &map, &mut fine_maps[all.len()]);
            all.push(Incoming { one, class: of.class, symmetry: of.symmetry });
        }
        all
    }

    fn chunk<const W: usize>(
        &self,
        chunk: usize,
        (seen, current): (&[Lists], &Lists),
        (targets, store): (&[bool], bool),
        worker: &mut Worker<W>,
    ) -> ListChunk {
        let each = self.classes_per_chunk();
        let classes = chunk * each..(chunk * each + each).min(self.coordinate.classes());
        if !targets[classes.clone()].contains(&true) {
            return ListChunk::default();
        }
        let mut keys = Vec::new();
        let mut starts = vec![0];
        for class in classes {
            if !targets[class] {
                starts.resize(starts.len() + self.coordinate.fine, (keys.len() / W) as u32);
                continue;
            }
            let row = self.coordinate.unrank(self.coordinate.representative[class] as usize);
            let illegal = |(piece, values): &(usize, Vec<u8>)| {
                let modulus = self.coordinate.modulus_of(*piece) as u8;
                values.iter().any(|value| value / modulus == row[*piece] / modulus)
            };
            if self.forbidden_tracked.iter().any(illegal) {
                starts.resize(starts.len() + self.coordinate.fine, (keys.len() / W) as u32);
                continue;
            }
            let incoming = self.incoming(&row, current, &mut worker.fine_maps);
            if incoming.is_empty() {
                starts.resize(starts.len() + self.coordinate.fine, (keys.len() / W) as u32);
                continue;
            }
            // Operations that depend on the class, by move and symmetry.
            let mut bound: Vec<KeyOperation> = Vec::new();
            if self.bound {
                bound.extend(incoming.iter().map(|from| {
                    let before = self
                        .coordinate
                        .unrank(self.coordinate.representative[from.class as usize] as usize);
                    self.operation(from.one, from.symmetry, &before)
                }));
            }
            self.adds(&row, &mut worker.adds);
            worker.row = row;
            let own = self.coordinate.self_symmetric[class].as_deref();
            for fine in 0..self.coordinate.fine {
                if own.is_some_and(|own| own.canonical[fine].fine as usize != fine) {
                    starts.push((keys.len() / W) as u32);
                    continue;
                }
                worker.generated.clear();
                for (i, from) in incoming.iter().enumerate() {
                    let at = self.coordinate.canonical(from.class, worker.fine_maps[i][fine]);
                    let list = self.list(current, from.class, at.fine);
                    if list.is_empty() {
                        continue;
                    }
                    let out = &mut worker.generated;
                    if self.bound {
                        self.layout.apply(&bound[i], list, self.vectors, out);
                    } else {
                        let symmetry = self.coordinate.group.then(from.symmetry, at.symmetry);
                        let order = self.coordinate.group.order();
                        let operation = &self.operations[from.one * order + usize::from(symmetry)];
                        self.layout.apply(operation, list, self.vectors, out);
                    }
                }
                if !worker.generated.is_empty() {
                    self.keep(class, fine, (seen, current), worker, &mut keys);
                    if !store {
                        keys.clear();
                    }
                }
                starts.push((keys.len() / W) as u32);
            }
        }
        if keys.is_empty() {
            return ListChunk::default();
        }
        ListChunk { keys: keys.into_boxed_slice(), starts: starts.into_boxed_slice() }
    }

    /// Appends the keys of a bucket that are new, and counts them.
    fn keep<const W: usize>(
        &self,
        class: usize,
        fine: usize,
        (seen, current): (&[Lists], &Lists),
        worker: &mut Worker<W>,
        keys: &mut Vec<u64>,
    ) {
        let generated = as_keys::<W>(&worker.generated);
        let lists = seen.iter().chain((!self.bipartite).then_some(current));
        let old = lists.map(|lists| as_keys::<W>(self.list(lists, class as u32, fine as u32)));
        worker.set.clear(generated.len() + old.clone().map(<[_]>::len).sum::<usize>());
        for list in old {
            worker.new.clear();
            worker.set.insert(list, self.kernel, &mut worker.new);
        }
        worker.new.clear();
        worker.set.insert(generated, self.kernel, &mut worker.new);
        for (part, values) in &self.forbidden {
            let layout = &self.layout;
            worker.new.retain(|key| !values.contains(&(layout.value(key, *part) as u8)));
        }
        let new = worker.new.as_flattened();
        let kept = worker.new.len() as u64;
        keys.extend_from_slice(new);
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

    fn level<const W: usize>(
        &self,
        seen: &[Lists],
        current: &Lists,
        store: bool,
    ) -> (Lists, Total) {
        let targets = self.targets(current);
        let found: Vec<(ListChunk, Total)> = (0..current.chunks.len())
            .into_par_iter()
            .map_init(Worker::<W>::new, |worker, chunk| {
                worker.total = Total::default();
                let lists = self.chunk::<W>(chunk, (seen, current), (&targets, store), worker);
                (lists, worker.total)
            })
            .collect();
        let total = found.iter().fold(Total::default(), |sum, (_, total)| sum.plus(*total));
        (Lists { chunks: found.into_iter().map(|(chunk, _)| chunk).collect() }, total)
    }
}

/// The least supported number of words for keys of this many; nothing where there is none.
fn key_words(words: usize) -> Option<usize> {
    [1, 2, 3, 4, 8, 16, 32, 64, 128].into_iter().find(|&supported| supported >= words)
}

/// The keys of a list.
fn as_keys<const W: usize>(words: &[u64]) -> &[[u64; W]] {
    words.as_chunks::<W>().0
}

/// Whether every move changes some parity: then no move leads from a level to itself.
fn is_bipartite(puzzle: &OrbitPuzzle, fields: &StateFields, moves: &[FieldMap]) -> bool {
    // The locations of one piece in two colours that every move changes.
    let coloured = |field: usize| {
        let of = &fields.fields[field];
        let FieldKind::Location { kind } = of.kind else {
            return false;
        };
        let applies = |one: usize, value: usize| match puzzle.moves()[one].requires {
            Some(at) if usize::from(at.orbit) == of.orbit && at.kind == kind => {
                usize::from(at.position) == value / of.modulus
            }
            _ => true,
        };
        let mut colour = vec![None; of.values];
        for first in 0..of.values {
            if colour[first].is_none() {
                colour[first] = Some(false);
                let mut queue = vec![first];
                while let Some(value) = queue.pop() {
                    for one in (0..moves.len()).filter(|&one| applies(one, value)) {
                        let to = usize::from(moves[one].table[field][value]);
                        let other = colour[value].map(|colour| !colour);
                        if colour[to].is_none() {
                            colour[to] = other;
                            queue.push(to);
                        } else if colour[to] != other {
                            return false;
                        }
                    }
                }
            }
        }
        true
    };
    if (0..fields.fields.len()).any(coloured) {
        return true;
    }
    // Sums of parities of orbits of different pieces: is 1 for every move one of them?
    let distinct =
        puzzle.orbits().iter().enumerate().filter(|(_, orbit)| {
            (0..orbit.moduli.len()).all(|kind| orbit.pieces_of(kind as u8) <= 1)
        });
    let distinct: Vec<usize> = distinct.map(|(index, _)| index).collect();
    let parities: Vec<u64> = (puzzle.moves().iter())
        .map(|one| {
            let odd = |&index: &usize| !crate::puzzle::is_even(&one.transformation.0[index].source);
            distinct.iter().enumerate().map(|(bit, index)| u64::from(odd(index)) << bit).sum()
        })
        .collect();
    distinct.len() <= 16
        && (1..1u64 << distinct.len())
            .any(|choice| parities.iter().all(|parity| (parity & choice).count_ones() % 2 == 1))
}

/// Which fields the coordinate has.
struct Choice {
    fields: Vec<usize>,
    oriented: bool,
    group: SymmetryGroup,
    whole_group: SymmetryGroup,
}

/// The choice of a coordinate for about this many states at the widest depth.
fn choose(puzzle: &OrbitPuzzle, fields: &StateFields, use_symmetry: bool, widest: f64) -> Choice {
    let whole_group = SymmetryGroup::find(puzzle, fields);
    let mut group = if use_symmetry { whole_group.clone() } else { SymmetryGroup::trivial(fields) };
    let required: Vec<usize> = (0..fields.fields.len())
        .filter(|&f| {
            let field = &fields.fields[f];
            puzzle.moves().iter().filter_map(|one| one.requires).any(|at| {
                usize::from(at.orbit) == field.orbit
                    && field.kind == FieldKind::Location { kind: at.kind }
            })
        })
        .collect();
    let mut best: Option<(f64, Vec<usize>, bool)> = None;
    for chosen in candidates(fields, &group, &required) {
        let Some((coarse, fine)) = sizes(fields, &chosen) else { continue };
        let kept = group.maps.iter().filter(|map| keeps(map, &chosen)).count() as f64;
        for (oriented, fine) in [(false, 1), (true, fine)] {
            if coarse > 1 << 24 || fine > 1 << 15 || oriented && fine == 1 {
                continue;
            }
            let bits: u32 = (0..fields.fields.len())
                .map(|f| {
                    let of = &fields.fields[f];
                    let values = match (chosen.contains(&f), oriented) {
                        (false, _) => of.values,
                        (true, false) => of.modulus,
                        (true, true) => 1,
                    };
                    usize::BITS - (values - 1).leading_zeros()
                })
                .sum();
            let words = f64::from(bits.div_ceil(60).max(1));
            let buckets = coarse as f64 * fine as f64 / kept;
            let keys = widest / kept * puzzle.moves().len() as f64;
            // Bytes that a bucket takes: keys that are made, and the lines of the set. Nanoseconds by where they fit.
            let bytes = keys / buckets * words * 24.0;
            let each = match bytes {
                small if small < 2e4 => 3.0,
                middle if middle < 7e5 => 6.0,
                large => 12.0 + (large / 7e5).min(12.0),
            };
            let lists = (buckets * puzzle.moves().len() as f64).min(keys);
            // One bucket is one thread's, and without a coordinate there are no symmetries.
            let alone = if chosen.is_empty() { 8.0 * kept } else { 1.0 };
            let cost = alone * keys * each * words + lists * 60.0 + buckets * 200.0 + coarse as f64 * 300.0;
            if best.as_ref().is_none_or(|(known, ..)| cost < *known) {
                best = Some((cost, chosen.clone(), oriented));
            }
        }
    }
    let (_, chosen, oriented) = best.unwrap_or((0.0, required, false));
    if chosen.is_empty() {
        group = SymmetryGroup::trivial(fields);
    }
    Choice { fields: chosen, oriented, group, whole_group }
}

/// Sets of locations that some symmetries keep.
fn candidates(fields: &StateFields, group: &SymmetryGroup, required: &[usize]) -> Vec<Vec<usize>> {
    let is_location = |f: &usize| matches!(fields.fields[*f].kind, FieldKind::Location { .. });
    let locations: Vec<usize> = (0..fields.fields.len()).filter(is_location).collect();
    let mut all: Vec<Vec<usize>> = vec![required.to_vec()];
    let mut grow = |parts: &[Vec<usize>]| {
        // Unions of orbits, the smallest first, one orbit of the puzzle at a time.
        for first in 0..parts.len() {
            let mut chosen = required.to_vec();
            for part in &parts[first..] {
                if fields.fields[part[0]].orbit == fields.fields[parts[first][0]].orbit {
                    chosen.extend(part.iter().filter(|f| !required.contains(f)));
                    chosen.sort_unstable();
                    chosen.dedup();
                    if sizes(fields, &chosen).is_none_or(|(coarse, _)| coarse > 1 << 24) {
                        break;
                    }
                    if !all.contains(&chosen) {
                        all.push(chosen.clone());
                    }
                }
            }
        }
    };
    let order = group.order() as u16;
    let step = (u32::from(order).pow(2) / 4096).max(1) as usize;
    let pairs = (0..order).flat_map(|i| (i..order).map(move |j| (i, j)));
    for generators in pairs.step_by(step).chain([(0, 0)]) {
        let maps = [&group.maps[usize::from(generators.0)], &group.maps[usize::from(generators.1)]];
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let mut seen = vec![false; fields.fields.len()];
        for &f in &locations {
            if seen[f] {
                continue;
            }
            let mut part = vec![f];
            seen[f] = true;
            let mut next = 0;
            while next < part.len() {
                for map in maps {
                    let to = usize::from(map.source[part[next]]);
                    if !std::mem::replace(&mut seen[to], true) {
                        part.push(to);
                    }
                }
                next += 1;
            }
            parts.push(part);
        }
        parts.sort_by_key(Vec::len);
        grow(&parts);
    }
    all
}

impl FrontierSearch {
    /// Returns a complete search.
    pub fn new(puzzle: OrbitPuzzle) -> FrontierSearch {
        FrontierSearch { puzzle, max_depth: None, symmetry: true, kernel: Kernel::best() }
    }

    /// Runs the search and hands over each level.
    pub fn run(&self, each: &mut dyn FnMut(usize, &FrontierLevel)) {
        let fields = StateFields::of(&self.puzzle);
        let widest = self.widest(&fields);
        let choice = choose(&self.puzzle, &fields, self.symmetry, widest);
        let space = Space::new(self, &fields, &choice);
        tracing::debug!(
            "coordinate: {:?}{}, {} classes of {} buckets under {} symmetries; keys of {} fields in {} words",
            choice.fields,
            if choice.oriented { " with orientations" } else { "" },
            space.coordinate.classes(),
            space.coordinate.fine,
            space.coordinate.group.order(),
            space.layout.len(),
            space.layout.words,
        );
        match space.layout.words {
            1 => self.levels::<1>(&space, &fields, each),
            2 => self.levels::<2>(&space, &fields, each),
            3 => self.levels::<3>(&space, &fields, each),
            4 => self.levels::<4>(&space, &fields, each),
            5..=8 => self.levels::<8>(&space, &fields, each),
            9..=16 => self.levels::<16>(&space, &fields, each),
            17..=32 => self.levels::<32>(&space, &fields, each),
            33..=64 => self.levels::<64>(&space, &fields, each),
            65..=128 => self.levels::<128>(&space, &fields, each),
            words => panic!("{words} words"),
        }
    }

    /// About how many states there are at the last depth that is stored, by the growth of the first ones.
    fn widest(&self, fields: &StateFields) -> f64 {
        const STATES: usize = 20_000;
        let map = |one: &OrbitMove| {
            let kind = |at: OrbitPlace| FieldKind::Location { kind: at.kind };
            let field = one.requires.and_then(|at| {
                let is = |field: &StateField| {
                    field.orbit == usize::from(at.orbit) && field.kind == kind(at)
                };
                Some((fields.fields.iter().position(is)?, at.position))
            });
            (fields.of_move(&self.puzzle, &one.transformation), field)
        };
        let moves: Vec<_> = self.puzzle.moves().iter().map(map).collect();
        let mut level = vec![fields.encode(&self.puzzle.solved())];
        let mut seen: HashSet<Vec<u8>> = level.iter().cloned().collect();
        let mut widths = vec![1.0];
        while seen.len() < STATES && !level.is_empty() {
            let mut next = Vec::new();
            for state in &level {
                for (one, requires) in &moves {
                    let allowed = requires.is_none_or(|(field, position)| {
                        usize::from(state[field]) / fields.fields[field].modulus
                            == usize::from(position)
                    });
                    if allowed {
                        let after = one.apply(state);
                        if seen.insert(after.clone()) {
                            next.push(after);
                        }
                    }
                }
            }
            widths.push(next.len() as f64);
            level = next;
        }
        let known = widths.len();
        let growth = (widths[known - 1] / widths[known / 2])
            .powf(1.0 / (known - 1 - known / 2).max(1) as f64);
        let depth = self.max_depth.map_or(f64::INFINITY, |depth| depth as f64 - known as f64);
        let most = fields.states() / 4.0;
        (widths[known - 1] * growth.max(1.0).powf(depth)).clamp(1.0, most.clamp(1.0, 1e12))
    }

    fn levels<const W: usize>(
        &self,
        space: &Space,
        fields: &StateFields,
        each: &mut dyn FnMut(usize, &FrontierLevel),
    ) {
        let begun = Instant::now();
        let state = fields.encode(&self.puzzle.solved());
        let mut current = space.empty();
        let (total, lists) = space.start::<W>(&state);
        let (chunk, list) = lists;
        current.chunks[chunk] = list;
        let report = |total: Total, begun: Instant| FrontierLevel {
            states: total.states,
            reduced: space.all_symmetries.then_some(total.reduced),
            checksum: total.checksum,
            generated: total.generated,
            kept: total.kept,
            seconds: begun.elapsed().as_secs_f64(),
        };
        each(0, &report(total, begun));
        let mut seen: Vec<Lists> = Vec::new();
        for depth in 1.. {
            if self.max_depth.is_some_and(|most| depth > most) {
                break;
            }
            let begun = Instant::now();
            let store = self.max_depth != Some(depth);
            let (next, total) = space.level::<W>(&seen, &current, store);
            if total.states == 0 {
                break;
            }
            each(depth, &report(total, begun));
            if !space.directed {
                seen.clear();
            }
            seen.push(std::mem::replace(&mut current, next));
        }
    }
}

impl Space {
    /// The level of the start alone: what it comes to, and its chunk.
    fn start<const W: usize>(&self, state: &[u8]) -> (Total, (usize, ListChunk)) {
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
        let mut worker = Worker::<W>::new();
        worker.generated.clone_from(&key);
        worker.row =
            self.coordinate.unrank(self.coordinate.representative[of.class as usize] as usize);
        self.adds(&worker.row, &mut worker.adds);
        let (class, fine) = (of.class as usize, at.fine as usize);
        let empty = self.empty();
        self.keep::<W>(class, fine, (&[], &empty), &mut worker, &mut Vec::new());
        let each = self.classes_per_chunk();
        let bucket = class % each * self.coordinate.fine + fine;
        let buckets = each * self.coordinate.fine;
        let starts = (0..=buckets).map(|i| u32::from(i > bucket)).collect();
        (worker.total, (class / each, ListChunk { keys: key.into(), starts }))
    }
}
