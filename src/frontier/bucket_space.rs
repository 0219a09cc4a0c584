//! The parts of a list search that do not change: the buckets, and the effects of moves on their keys.
//!
//! Invariant: every state belongs to one bucket, the canonical one among its images, and has one key there.

use crate::{
    frontier::{
        choice::{CoordinateChoice, is_bipartite},
        coordinate::Coordinate,
        fields::{FieldMap, StateFields},
        lists::{BucketLists, ListCoder},
        symmetry::SymmetryGroup,
    },
    kernel::{
        Kernel,
        keys::{KeyLayout, KeyOperation},
    },
    puzzle::orbits::OrbitPuzzle,
    store::ListCut,
};

/// Calls a function that is generic in the number of words of a key.
macro_rules! by_words {
    ($words:expr, $W:ident => $call:expr) => {
        by_words!($words, $W => $call, 1 2 3 4 8 16 32 64 128)
    };
    ($words:expr, $W:ident => $call:expr, $($number:literal)*) => {
        match $words {
            $($number => {
                const $W: usize = $number;
                $call
            })*
            _ => unreachable!("a search checks that its keys are not longer"),
        }
    };
}
pub(super) use by_words;

/// Minimum number of chunks of a level, if there are that many classes: threads share them.
const CHUNKS: usize = 256;
/// Minimum number of buckets that are stored together, if that leaves enough chunks.
const BUCKETS: usize = 512;

/// A field of the keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyPart {
    pub field: usize,
    /// Whether the coordinate determines the position, so that only the orientation is left.
    pub turn: bool,
}

/// The parts of a search that do not change.
pub(crate) struct BucketSpace {
    pub coordinate: Coordinate,
    pub parts: Vec<KeyPart>,
    pub layout: KeyLayout,
    /// For each move, its effect on all fields, and its effect and that of its inverse on the tracked fields.
    pub moves: Vec<FieldMap>,
    pub forth: Vec<FieldMap>,
    pub back: Vec<FieldMap>,
    /// If moves depend on a tracked piece: the piece, and the moves that bring it to each position.
    pub arriving: Option<(usize, Vec<Vec<usize>>)>,
    pub all_moves: Vec<usize>,
    /// For each move and symmetry, "undo the symmetry, then make the move", where this does not depend on the class.
    pub operations: Vec<KeyOperation>,
    /// Values that fields of keys, and tracked pieces, must not have.
    pub forbidden: Vec<(usize, Vec<u8>)>,
    pub forbidden_tracked: Vec<(usize, Vec<u8>)>,
    /// Whether this is computed for each class when it is needed, because orientations are in the keys.
    pub bound: bool,
    pub checksum: StateSums,
    pub coder: ListCoder,
    pub kernel: Kernel,
    pub bipartite: bool,
    pub directed: bool,
    pub all_symmetries: bool,
}

/// The contribution of each value of each field to the number of a state.
pub(crate) struct StateSums {
    pub adds: Vec<[u32; 128]>,
}

impl StateSums {
    /// Values that symmetries take to each other get the same number.
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

/// A bijection on 64 bits without a visible pattern.
fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ x >> 32
}

impl BucketSpace {
    /// Returns the buckets of a puzzle for a given coordinate.
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

    /// The effect of "undo a symmetry, then make a move" on the keys of a class with this row of tracked fields.
    pub fn operation(&self, one: usize, symmetry: u16, row: &[u8]) -> KeyOperation {
        let back = self.coordinate.group.inverse[usize::from(symmetry)];
        let map = self.coordinate.group.maps[usize::from(back)].then(&self.moves[one]);
        let keys = self.key_map(&map, row);
        self.layout.operation(&keys.source, &keys.table)
    }

    /// The inverse of this operation, from a class with this row of tracked fields.
    pub fn inverse_operation(&self, one: usize, symmetry: u16, row: &[u8]) -> KeyOperation {
        let back = self.coordinate.group.inverse[usize::from(symmetry)];
        let map = self.coordinate.group.maps[usize::from(back)].then(&self.moves[one]).inverse();
        let keys = self.key_map(&map, row);
        self.layout.operation(&keys.source, &keys.table)
    }

    /// Whether a key has values that no state may have.
    pub fn is_forbidden(&self, key: &[u64]) -> bool {
        let has = |(part, values): &(usize, Vec<u8>)| {
            values.contains(&(self.layout.value(key, *part) as u8))
        };
        self.forbidden.iter().any(has)
    }

    /// A map of states as a map of the key's fields, if the tracked pieces have the positions in a row.
    pub fn key_map(&self, map: &FieldMap, row: &[u8]) -> FieldMap {
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

    /// Maximum number of words of a key.
    pub const MAX_WORDS: usize = 128;

    /// Returns the number of words of a key.
    pub fn words(&self) -> usize {
        self.layout.words
    }

    /// Returns the number of symmetries that are used.
    pub fn symmetries(&self) -> usize {
        self.coordinate.group.order()
    }

    /// Returns whether all symmetries of the puzzle are used.
    pub fn is_reduced(&self) -> bool {
        self.all_symmetries
    }

    /// Returns a description of the coordinate and the keys.
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

    pub fn classes_per_chunk(&self) -> usize {
        BucketSpace::classes_of_chunk(self.coordinate.classes(), self.coordinate.fine)
    }

    /// Returns the number of classes of a chunk if there are this many classes, each with this many buckets.
    pub fn classes_of_chunk(classes: usize, buckets: usize) -> usize {
        (classes / CHUNKS).clamp(1, BUCKETS.div_ceil(buckets))
    }

    /// Returns how states are distributed, as stored in the files of a run.
    pub fn cut(&self, choice: &CoordinateChoice) -> ListCut {
        ListCut {
            fields: choice.fields.clone(),
            oriented: choice.oriented,
            symmetric: choice.group.order() > 1,
            symmetries: self.symmetries(),
            classes: self.coordinate.classes(),
            buckets_per_class: self.coordinate.fine,
            words: self.words(),
        }
    }

    /// Returns the number of chunks of a level.
    pub fn chunks(&self) -> usize {
        self.coordinate.classes().div_ceil(self.classes_per_chunk())
    }

    /// Returns the number of buckets of a chunk.
    pub fn buckets(&self, chunk: usize) -> usize {
        let each = self.classes_per_chunk();
        each.min(self.coordinate.classes() - chunk * each) * self.coordinate.fine
    }

    /// The classes that moves lead to from a level, or all classes if there are many.
    pub fn targets(&self, lists: &BucketLists) -> Vec<bool> {
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

    /// The contributions of the fields of keys to the number of a state, if the tracked pieces have the positions in a
    /// row.
    pub fn adds(&self, row: &[u8], adds: &mut Vec<[u32; 128]>) {
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
}

/// The smallest supported number of words for keys of this many words; `None` if there is none.
fn key_words(words: usize) -> Option<usize> {
    [1, 2, 3, 4, 8, 16, 32, 64, BucketSpace::MAX_WORDS]
        .into_iter()
        .find(|&supported| supported >= words)
}

/// The tracked piece on whose position moves depend, and the moves that bring it to each position; moves without such a
/// condition may end at any position.
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
