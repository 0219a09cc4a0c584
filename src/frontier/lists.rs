//! The lists of a level: the keys of each bucket, as they are or coded.
//!
//! A coded list is sorted by its keys' strings of digits. Of each string it has the bytes from the first one that differs
//! from the string before, behind their number, and zstd packs all of them.
//!
//! Invariant: a list has the same keys either way; what is coded comes back in the order of the strings.

use zstd::bulk::{Compressor, Decompressor};

use crate::frontier::fields::{FieldKind, StateFields};
use crate::kernel::Kernel;
use crate::kernel::key_digits::{DigitRule, FreePositions, KeyDigits, MOST_POSITIONS, SLOTS};
use crate::kernel::keys::KeyLayout;
use crate::puzzle::orbits::OrbitPuzzle;

/// Level of zstd: level 6 takes about three times as long for a tenth fewer bytes at most.
const ZSTD_LEVEL: i32 = 3;
/// Suffixes of fewer bytes are left as they are.
const SHORT: usize = 64;

/// The lists of some consecutive classes.
#[derive(Clone, Default)]
pub(super) struct ListChunk {
    keys: Box<[u64]>,
    /// The lists where they are coded; then there are `ends`.
    coded: Box<[u8]>,
    /// For each bucket where its keys begin, and where the last one's end; nothing when there are no keys.
    starts: Box<[u32]>,
    /// For each bucket where its code ends.
    ends: Box<[u32]>,
}

impl ListChunk {
    /// Returns whether all lists are empty.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns how many keys some consecutive buckets have.
    pub fn count(&self, bucket: usize, buckets: usize) -> usize {
        match self.starts[..] {
            [] => 0,
            _ => (self.starts[bucket + buckets] - self.starts[bucket]) as usize,
        }
    }

    /// Returns whether the lists are coded.
    pub fn is_coded(&self) -> bool {
        !self.ends.is_empty()
    }

    /// Returns the bytes that the lists take.
    pub fn bytes(&self) -> u64 {
        let indices = self.starts.len() + self.ends.len();
        (self.keys.len() * 8 + self.coded.len() + 4 * indices + size_of::<ListChunk>()) as u64
    }
}

/// The lists of consecutive classes while they are made.
#[derive(Default)]
pub(super) struct ListBuilder {
    keys: Vec<u64>,
    coded: Vec<u8>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    count: u32,
}

impl ListBuilder {
    /// Adds empty lists.
    pub fn empty(&mut self, buckets: usize) {
        self.starts.resize(self.starts.len() + buckets, self.count);
        self.ends.resize(self.ends.len() + buckets, self.coded.len() as u32);
    }

    /// Adds a list: its keys as they are, or coded.
    pub fn list<const W: usize>(
        &mut self,
        keys: &[[u64; W]],
        code: Option<(&ListCoder, &FreePositions)>,
        workspace: &mut ListWorkspace,
    ) {
        self.starts.push(self.count);
        self.count += keys.len() as u32;
        match code {
            Some((coder, free)) => coder.encode(keys, free, workspace, &mut self.coded),
            None => self.keys.extend_from_slice(keys.as_flattened()),
        }
        self.ends.push(self.coded.len() as u32);
    }

    /// Returns the lists.
    pub fn finish(mut self) -> ListChunk {
        if self.count == 0 {
            return ListChunk::default();
        }
        self.starts.push(self.count);
        if self.coded.is_empty() {
            self.ends.clear();
        }
        ListChunk {
            keys: self.keys.into(),
            coded: self.coded.into(),
            starts: self.starts.into(),
            ends: self.ends.into(),
        }
    }
}

/// What codes lists, and where that happens.
pub(super) struct ListWorkspace {
    strings: Vec<u64>,
    suffixes: Vec<u8>,
    keys: Vec<u64>,
    compressor: Compressor<'static>,
    decompressor: Decompressor<'static>,
}

impl ListWorkspace {
    /// Returns an empty one.
    pub fn new() -> ListWorkspace {
        let mut compressor = Compressor::new(ZSTD_LEVEL).expect("a level that zstd has");
        let _ = compressor.include_checksum(false);
        let _ = compressor.include_contentsize(false);
        ListWorkspace {
            strings: Vec::new(),
            suffixes: Vec::new(),
            keys: Vec::new(),
            compressor,
            decompressor: Decompressor::new().expect("zstd begins"),
        }
    }
}

/// How lists are coded.
pub(super) struct ListCoder {
    /// Nothing where lists cannot be coded.
    digits: Option<KeyDigits>,
    kernel: Kernel,
    /// The orbits whose free positions the digits count, and all of their positions.
    slots: Vec<usize>,
    positions: FreePositions,
}

impl ListCoder {
    /// Most words of keys that are coded: the number of bytes that differ is one byte.
    const MAX_WORDS: usize = 16;

    /// Returns what codes keys with these parts: the field, whether only its orientation is left, and the number of values.
    pub fn new(
        puzzle: &OrbitPuzzle,
        fields: &StateFields,
        parts: impl Iterator<Item = (usize, bool, usize)> + Clone,
        layout: &KeyLayout,
        kernel: Kernel,
    ) -> ListCoder {
        let mut slots: Vec<usize> = Vec::new();
        let mut rules = Vec::new();
        for (field, turn, values) in parts.clone() {
            let of = &fields.fields[field];
            let counted = !turn
                && matches!(of.kind, FieldKind::Location { .. })
                && of.values / of.modulus <= MOST_POSITIONS;
            let slot = slots.iter().position(|&orbit| orbit == of.orbit).unwrap_or(slots.len());
            rules.push(if counted && slot < SLOTS {
                if slot == slots.len() {
                    slots.push(of.orbit);
                }
                DigitRule::Position { slot, modulus: of.modulus }
            } else {
                DigitRule::Value(values)
            });
        }
        let (mut free, mut positions) = ([0; SLOTS], [0; SLOTS]);
        for (slot, &orbit) in slots.iter().enumerate() {
            // Tracked pieces of the orbit have their positions in every class.
            let in_keys = |f: usize| parts.clone().any(|(field, turn, _)| field == f && !turn);
            let of_orbit = |&f: &usize| fields.fields[f].orbit == orbit;
            let tracked = (0..fields.fields.len()).filter(of_orbit).filter(|&f| !in_keys(f));
            let all = puzzle.orbits()[orbit].positions();
            free[slot] = all - tracked.count();
            positions[slot] = u64::MAX >> (64 - all);
        }
        let few = layout.words <= ListCoder::MAX_WORDS;
        let digits = KeyDigits::new(layout, &rules, &free).filter(|_| few);
        ListCoder { digits, kernel, slots, positions }
    }

    /// Returns whether lists can be coded.
    pub fn can_code(&self) -> bool {
        self.digits.is_some()
    }

    fn digits(&self) -> &KeyDigits {
        self.digits.as_ref().expect("lists are coded only where they can be")
    }

    /// Returns the positions that tracked pieces, each of an orbit and at a position, leave free.
    pub fn free(&self, tracked: impl Iterator<Item = (usize, usize)>) -> FreePositions {
        let mut free = self.positions;
        for (orbit, position) in tracked {
            if let Some(slot) = self.slots.iter().position(|&other| other == orbit) {
                free[slot] &= !(1 << position);
            }
        }
        free
    }

    /// Appends the code of a list: whether it is packed, and its suffixes.
    ///
    /// Cost: some 100 ns a key of two words.
    fn encode<const W: usize>(
        &self,
        keys: &[[u64; W]],
        free: &FreePositions,
        workspace: &mut ListWorkspace,
        out: &mut Vec<u8>,
    ) {
        let ListWorkspace { strings, suffixes, compressor, .. } = workspace;
        strings.clear();
        self.digits().encode(keys.as_flattened(), free, self.kernel, strings);
        let strings = strings.as_chunks_mut::<W>().0;
        strings.sort_unstable();
        suffixes.clear();
        let mut before = [0u64; W];
        for string in strings {
            let word = (0..W).find(|&word| string[word] != before[word]).unwrap_or(W - 1);
            let same = ((string[word] ^ before[word]).leading_zeros() / 8).min(7) as usize;
            suffixes.push((8 * (W - word) - same) as u8);
            suffixes.extend_from_slice(&string[word].to_be_bytes()[same..]);
            for word in &string[word + 1..] {
                suffixes.extend_from_slice(&word.to_be_bytes());
            }
            before = *string;
        }
        let tag = out.len();
        out.push(0);
        if suffixes.len() >= SHORT {
            let room = zstd::zstd_safe::compress_bound(suffixes.len());
            out.resize(tag + 1 + room, 0);
            let packed = compressor.compress_to_buffer(suffixes, &mut out[tag + 1..]);
            if let Ok(packed) = packed
                && packed < suffixes.len()
            {
                out[tag] = 1;
                out.truncate(tag + 1 + packed);
                return;
            }
            out.truncate(tag + 1);
        }
        out.extend_from_slice(suffixes);
    }

    /// Leaves the keys of a list's code in the workspace.
    ///
    /// # Panics
    /// When it is nothing that [`ListCoder::encode`] makes.
    ///
    /// Cost: some 30 ns a key of two words.
    fn decode<const W: usize>(
        &self,
        code: &[u8],
        count: usize,
        free: &FreePositions,
        workspace: &mut ListWorkspace,
    ) {
        let ListWorkspace { strings, suffixes, keys, decompressor, .. } = workspace;
        // Eight bytes more, so that a whole word can be read anywhere.
        suffixes.clear();
        suffixes.resize(count * (1 + 8 * W) + 8, 0);
        match code {
            [0, plain @ ..] => suffixes[..plain.len()].copy_from_slice(plain),
            [_, packed @ ..] => {
                let read = decompressor.decompress_to_buffer(packed, &mut suffixes[..]);
                read.expect("the list is whole");
            }
            [] => {}
        }
        strings.clear();
        strings.reserve(count * W);
        let mut rest = &suffixes[..];
        let mut string = [0u64; W];
        for _ in 0..count {
            let bytes = usize::from(rest[0]);
            rest = &rest[1..];
            let word = W - bytes.div_ceil(8).clamp(1, W);
            let first = (bytes + 7) % 8 + 1;
            let (read, _) = rest.split_first_chunk::<8>().expect("room for a word");
            let low = u64::MAX >> (64 - 8 * first);
            string[word] = string[word] & !low | u64::from_be_bytes(*read) >> (64 - 8 * first);
            rest = &rest[first..];
            for to in &mut string[word + 1..] {
                let (read, after) = rest.split_first_chunk::<8>().expect("room for a word");
                *to = u64::from_be_bytes(*read);
                rest = after;
            }
            strings.extend_from_slice(&string);
        }
        keys.clear();
        self.digits().decode(strings, free, self.kernel, keys);
    }

    /// Returns the keys of a bucket of a chunk, read where they are or in the workspace.
    pub fn keys<'a, const W: usize>(
        &self,
        chunk: &'a ListChunk,
        bucket: usize,
        free: &FreePositions,
        workspace: &'a mut ListWorkspace,
    ) -> &'a [u64] {
        let count = chunk.count(bucket, 1);
        if count == 0 {
            return &[];
        }
        let from = chunk.starts[bucket] as usize;
        if !chunk.is_coded() {
            return &chunk.keys[from * W..(from + count) * W];
        }
        let begin = if bucket == 0 { 0 } else { chunk.ends[bucket - 1] };
        let code = &chunk.coded[begin as usize..chunk.ends[bucket] as usize];
        self.decode::<W>(code, count, free, workspace);
        &workspace.keys
    }
}

/// The lists of a level.
#[derive(Default)]
pub(super) struct BucketLists {
    pub chunks: Vec<ListChunk>,
}

impl BucketLists {
    /// Returns the bytes that the lists take.
    pub fn bytes(&self) -> u64 {
        self.chunks.iter().map(ListChunk::bytes).sum()
    }
}
