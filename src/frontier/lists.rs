//! The lists of a level: the keys of each bucket, uncoded or coded.
//!
//! A coded list is sorted by the digit strings of its keys. For each string, it contains the number of bytes from the
//! first one that differs from the previous string, followed by these bytes; zstd compresses all of them. Coded lists
//! are in memory or in a file, whose frames contain the lists of some consecutive classes each (docs/format.md).
//!
//! Invariant: a list has the same keys in either form; decoding returns them in the order of the strings. Every coded
//! list has its own check value, which is compared whenever the list is read.

use std::{hash::Hasher, ops::Range, sync::Arc};

use twox_hash::XxHash3_64;
use zstd::zstd_safe::{CCtx, DCtx, compress_bound};

use crate::{
    frontier::{
        fields::{FieldKind, KeyPart},
        symmetry::PuzzleRows,
    },
    kernel::{
        key_digits::{DigitRule, FreePositions, KeyDigits, MOST_POSITIONS, SLOTS},
        keys::{KeyLayout, KeyOperation},
    },
    store::{FrameEntry, ReadAt, SUMLESS, StorageError, compressor, push_number, take_number},
};

/// zstd level: 3 gives 6 % more bytes in the same search time; 6 gives 1 % fewer in 7 % more time.
const ZSTD_LEVEL: i32 = 5;
/// Suffixes of fewer bytes than this are left uncompressed.
const SHORT: usize = 400;
/// Number of keys that are decoded at once: they stay in the nearest cache.
const BLOCK: usize = 512;

/// The first byte of a list: its suffixes follow uncompressed or compressed, or its keys follow, which have no strings.
const PLAIN: u8 = 0;
const PACKED: u8 = 1;
const KEYS: u8 = 2;

/// The lists of some consecutive classes.
#[derive(Clone, Default)]
pub(crate) struct ListChunk {
    keys: Box<[u64]>,
    /// The lists if they are coded; then there are `ends`.
    coded: Box<[u8]>,
    /// The file that contains the coded lists, from this offset on, if they are not in memory.
    file: Option<Box<(Arc<dyn ReadAt>, u64)>>,
    /// For each bucket, where its keys begin, followed by the end of the last one; empty if there are no keys.
    starts: Box<[u32]>,
    /// For each bucket, where its code ends.
    ends: Box<[u32]>,
}

impl ListChunk {
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the number of keys in some consecutive buckets.
    pub fn count(&self, bucket: usize, buckets: usize) -> usize {
        self.range(bucket, buckets).len()
    }

    /// Returns the uncoded keys of a bucket, with this many words each.
    pub fn plain_keys(&self, bucket: usize, words: usize) -> &[u64] {
        let Range { start, end } = self.range(bucket, 1);
        &self.keys[start * words..end * words]
    }

    fn range(&self, bucket: usize, buckets: usize) -> Range<usize> {
        match self.starts[..] {
            [] => 0..0,
            _ => self.starts[bucket] as usize..self.starts[bucket + buckets] as usize,
        }
    }

    /// The memory that the lists take.
    pub fn bytes(&self) -> u64 {
        let indices = self.starts.len() + self.ends.len();
        (self.keys.len() * 8 + self.coded.len() + 4 * indices + size_of::<ListChunk>()) as u64
    }

    /// Returns coded lists as the frame of a file, together with their other counts: a head of numbers, the number of
    /// keys and the size of each list, the lists.
    pub fn frame(&self, generated: u64, reduced: u64) -> Vec<u8> {
        let mut sizes = Vec::new();
        let mut end = 0;
        for (bucket, &own) in self.ends.iter().enumerate() {
            let keys = self.count(bucket, 1);
            push_number(&mut sizes, keys);
            if keys > 0 {
                push_number(&mut sizes, (own - end) as usize);
            }
            end = own;
        }
        let mut packed = Vec::with_capacity(compress_bound(sizes.len()));
        let done = available(|| compressor(ZSTD_LEVEL, &[])).compress2(&mut packed, &sizes);
        done.expect("room for what is packed");
        let mut frame = Vec::with_capacity(HEAD + packed.len() + end as usize);
        frame.extend((packed.len() as u32).to_le_bytes());
        frame.extend((sizes.len() as u32).to_le_bytes());
        frame.extend([generated, reduced].map(u64::to_le_bytes).as_flattened());
        frame.extend(head_hash(&frame, &packed).to_le_bytes());
        frame.extend(packed);
        frame.extend(&self.coded);
        frame
    }

    /// Returns the lists of a frame with this many buckets, and its other counts. The lists stay in the file unless
    /// they are wanted in memory.
    ///
    /// # Errors
    /// The system's errors; [`std::io::ErrorKind::InvalidData`] if it is not a frame of lists.
    pub fn of_frame(
        file: &Arc<dyn ReadAt>,
        entry: &FrameEntry,
        buckets: usize,
        in_memory: bool,
    ) -> Result<(ListChunk, [u64; 2]), StorageError> {
        let wrong = || file.place().invalid(format!("frame {} is damaged", entry.frame));
        let len = u64::from(entry.len);
        if len < HEAD as u64 {
            return Err(wrong());
        }
        let head = file.read(entry.offset, HEAD)?;
        let head = head.as_ref();
        let word = |i: usize| u64::from_le_bytes(head.as_chunks().0[i]);
        let (bytes, plain) = (word(0) as u32 as usize, (word(0) >> 32) as usize);
        // Each bucket has at most two numbers of five bytes.
        let room = len.checked_sub((HEAD + bytes) as u64).filter(|_| plain <= 10 * buckets);
        let room = room.ok_or_else(wrong)?;
        let packed = file.read(entry.offset + HEAD as u64, bytes)?;
        if head_hash(head, packed.as_ref()) != word(3) {
            return Err(wrong());
        }
        let mut sizes = Vec::with_capacity(plain);
        let done = available(DCtx::try_create).decompress(&mut sizes, packed.as_ref());
        done.map_err(|_| wrong())?;
        let [starts, ends] = places(&sizes, buckets).ok_or_else(wrong)?;
        let end = ends.last().copied().unwrap_or(0);
        if u64::from(end) != room {
            return Err(wrong());
        }
        let at = entry.offset + (HEAD + bytes) as u64;
        let mut lists = ListChunk { starts, ends, ..ListChunk::default() };
        if in_memory {
            // From here on, they are not checked again.
            let coded = file.read(at, end as usize)?;
            let mut hash = XxHash3_64::new();
            hash.write(head);
            hash.write(packed.as_ref());
            hash.write(coded.as_ref());
            if hash.finish() != entry.hash {
                return Err(wrong());
            }
            lists.coded = coded.as_ref().into();
        } else {
            lists.file = Some(Box::new((Arc::clone(file), at)));
        }
        Ok((lists, [word(1), word(2)]))
    }
}

/// Size of the head of a frame in bytes: lengths of the sizes, compressed and uncompressed, two numbers, a hash.
const HEAD: usize = 32;

/// The hash of a head, without the place of the hash itself, and of the sizes.
fn head_hash(head: &[u8], packed: &[u8]) -> u64 {
    XxHash3_64::oneshot(&[&head[..HEAD - 8], packed].concat())
}

/// Where the keys of each bucket begin and where its code ends, from the sizes in a frame.
fn places(mut sizes: &[u8], buckets: usize) -> Option<[Box<[u32]>; 2]> {
    let (mut starts, mut ends) = (vec![0], Vec::new());
    let (mut count, mut end) = (0u32, 0u32);
    for _ in 0..buckets {
        let mut number = || u32::try_from(take_number(&mut sizes)?).ok();
        let keys = number()?;
        if keys > 0 {
            count = count.checked_add(keys)?;
            end = end.checked_add(number()?)?;
        }
        starts.push(count);
        ends.push(end);
    }
    Some([starts.into(), ends.into()])
}

/// The lists of consecutive classes while they are being made.
#[derive(Default)]
pub(super) struct ListBuilder {
    keys: Vec<u64>,
    coded: Vec<u8>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    count: usize,
}

impl ListBuilder {
    pub fn empty(&mut self, buckets: usize) {
        self.starts.resize(self.starts.len() + buckets, self.count as u32);
        self.ends.resize(self.ends.len() + buckets, self.coded.len() as u32);
    }

    /// Adds a list: its keys, uncoded or coded.
    pub fn list<const W: usize>(
        &mut self,
        keys: &[[u64; W]],
        code: Option<(&ListCoder, &FreePositions, &mut ListWorkspace)>,
    ) {
        if keys.is_empty() {
            return self.empty(1);
        }
        self.starts.push(self.count as u32);
        self.count += keys.len();
        match code {
            Some((coder, free, workspace)) => {
                let begun = self.coded.len();
                coder.encode(keys, free, workspace, &mut self.coded);
                let check = XxHash3_64::oneshot(&self.coded[begun..]) as u32;
                self.coded.extend(check.to_le_bytes());
            }
            None => self.keys.extend_from_slice(keys.as_flattened()),
        }
        self.ends.push(self.coded.len() as u32);
    }

    /// Whether the keys or the bytes are more than the places in lists can count; nothing need be added after that.
    pub fn is_too_long(&self) -> bool {
        self.count.max(self.coded.len()) > u32::MAX as usize
    }

    /// Returns the lists; `None` if they are too long.
    pub fn finish(mut self) -> Option<ListChunk> {
        if self.is_too_long() {
            return None;
        }
        if self.count == 0 {
            return Some(ListChunk::default());
        }
        self.starts.push(self.count as u32);
        if self.coded.is_empty() {
            self.ends.clear();
        }
        Some(ListChunk {
            keys: self.keys.into(),
            coded: self.coded.into(),
            file: None,
            starts: self.starts.into(),
            ends: self.ends.into(),
        })
    }
}

/// The working memory for coding lists.
pub(crate) struct ListWorkspace {
    strings: Vec<u64>,
    suffixes: Vec<u8>,
    keys: Vec<u64>,
    compressor: CCtx<'static>,
    decompressor: DCtx<'static>,
    /// The reason why a list could not be read; it was treated as empty.
    pub failed: Option<StorageError>,
}

impl Default for ListWorkspace {
    fn default() -> ListWorkspace {
        // Lists have their own checksum, and their length is known.
        let compressor = available(|| compressor(ZSTD_LEVEL, &SUMLESS));
        let decompressor = available(DCtx::try_create);
        let (strings, suffixes, keys, failed) = Default::default();
        ListWorkspace { strings, suffixes, keys, compressor, decompressor, failed }
    }
}

/// Returns what zstd has memory for. zstd asks the system itself: where it gets none, as much is asked for as everything
/// else asks, which then ends the program as every refused allocation does.
pub(super) fn available<T>(create: impl Fn() -> Option<T>) -> T {
    let again = || {
        drop(std::hint::black_box(vec![1u8; 1 << 18]));
        create()
    };
    create().or_else(|| (0..100).find_map(|_| again())).expect("memory for zstd")
}

/// How lists are coded.
pub(crate) struct ListCoder {
    /// `None` if lists cannot be coded.
    digits: Option<KeyDigits>,
    /// The sets whose free positions the digits count, and the set of all of their positions.
    slots: Vec<usize>,
    positions: FreePositions,
}

impl ListCoder {
    /// Returns the coder for keys with these parts.
    pub fn new(of: &PuzzleRows, parts: &[KeyPart], layout: &KeyLayout) -> ListCoder {
        let (puzzle, fields) = (&of.puzzle, &of.fields.fields);
        let mut slots: Vec<usize> = Vec::new();
        let mut rules = Vec::new();
        for &KeyPart { field, turn, values } in parts {
            let of = &fields[field];
            let counted = !turn
                && matches!(of.kind, FieldKind::Location { .. })
                && of.values / of.modulus <= MOST_POSITIONS;
            let slot = slots.iter().position(|&set| set == of.set).unwrap_or(slots.len());
            rules.push(if counted && slot < SLOTS {
                if slot == slots.len() {
                    slots.push(of.set);
                }
                DigitRule::Position { slot, modulus: of.modulus }
            } else {
                DigitRule::Value(values)
            });
        }
        let (mut free, mut positions) = ([0; SLOTS], [0; SLOTS]);
        for (slot, &set) in slots.iter().enumerate() {
            // Tracked pieces of the set have their positions in every class.
            let in_keys = |f: usize| parts.iter().any(|part| part.field == f && !part.turn);
            let is_tracked = |&f: &usize| fields[f].set == set && !in_keys(f);
            let tracked = (0..fields.len()).filter(is_tracked);
            let all = puzzle.sets()[set].positions();
            free[slot] = all - tracked.count();
            positions[slot] = u64::MAX >> (64 - all);
        }
        ListCoder { digits: KeyDigits::new(layout, &rules, &free), slots, positions }
    }

    /// Whether coding makes lists smaller.
    pub fn can_code(&self) -> bool {
        self.digits.is_some()
    }

    /// Returns the positions that tracked pieces leave free, each given by its set and position.
    pub fn free(&self, tracked: impl Iterator<Item = (usize, usize)>) -> FreePositions {
        let mut free = self.positions;
        for (set, position) in tracked {
            if let Some(slot) = self.slots.iter().position(|&other| other == set) {
                free[slot] &= !(1 << position);
            }
        }
        free
    }

    /// Appends the code of a list without its check value: how it is coded, its suffixes or its keys.
    ///
    /// Cost: about 100 ns per key of two words.
    fn encode<const W: usize>(
        &self,
        keys: &[[u64; W]],
        free: &FreePositions,
        workspace: &mut ListWorkspace,
        out: &mut Vec<u8>,
    ) {
        let Some(digits) = &self.digits else {
            out.push(KEYS);
            out.extend(keys.as_flattened().iter().flat_map(|word| word.to_le_bytes()));
            return;
        };
        let ListWorkspace { strings, suffixes, compressor, .. } = workspace;
        strings.clear();
        digits.encode(keys.as_flattened(), free, strings);
        let strings = strings.as_chunks_mut::<W>().0;
        match W {
            // Comparing them as numbers takes half the time.
            2 => strings.sort_unstable_by_key(|s| u128::from(s[0]) << 64 | u128::from(s[W - 1])),
            _ => strings.sort_unstable(),
        }
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
        out.push(PLAIN);
        if suffixes.len() >= SHORT {
            let room = compress_bound(suffixes.len());
            out.resize(tag + 1 + room, 0);
            let packed = compressor.compress2(&mut out[tag + 1..], suffixes);
            if let Some(packed) = packed.ok().filter(|packed| *packed < suffixes.len()) {
                out[tag] = PACKED;
                out.truncate(tag + 1 + packed);
                return;
            }
            out.truncate(tag + 1);
        }
        out.extend_from_slice(suffixes);
    }

    /// Calls a function with the keys of a list's code, some at a time; `None`, and no call, if a [`ListBuilder`] does
    /// not produce such a code.
    ///
    /// Cost: about 30 ns per key of two words.
    fn decode<const W: usize>(
        &self,
        code: &[u8],
        count: usize,
        free: &FreePositions,
        workspace: &mut ListWorkspace,
        each: &mut dyn FnMut(&[u64]),
    ) -> Option<()> {
        let ListWorkspace { strings, suffixes, keys, decompressor, .. } = workspace;
        keys.clear();
        let (code, check) = code.split_last_chunk()?;
        if XxHash3_64::oneshot(code) as u32 != u32::from_le_bytes(*check) {
            return None;
        }
        // Additional bytes, so that two words can be read at any position.
        suffixes.resize(suffixes.len().max(count * (1 + 8 * W) + 16), 0);
        match *code {
            [KEYS, ref words @ ..] => {
                keys.extend(words.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)));
                return (keys.len() == count * W).then(|| each(keys));
            }
            [PLAIN, ref plain @ ..] => suffixes.get_mut(..plain.len())?.copy_from_slice(plain),
            [_, ref packed @ ..] => {
                decompressor.decompress(&mut suffixes[..], packed).ok()?;
            }
            [] => return None,
        }
        let digits = self.digits.as_ref()?;
        let mut rest = &suffixes[..];
        let mut string = [0u64; W];
        for first in (0..count).step_by(BLOCK) {
            strings.clear();
            for _ in first..count.min(first + BLOCK) {
                let bytes = usize::from(rest[0]);
                rest = &rest[1..];
                if W <= 2 {
                    // Without a branch on the number of bytes, which is unpredictable.
                    let read =
                        u128::from_be_bytes(*rest.first_chunk().expect("room for two words"));
                    let same = 128 - 8 * (bytes.clamp(1, 16) as u32);
                    let both = u128::from(string[0]) << 64 | u128::from(string[W - 1]);
                    let both = both & !(u128::MAX >> same) | read >> same;
                    (string[0], string[W - 1]) = ((both >> 64) as u64, both as u64);
                    rest = &rest[bytes..];
                } else {
                    let word = W - bytes.div_ceil(8).clamp(1, W);
                    let first = (bytes + 7) % 8 + 1;
                    let (read, _) = rest.split_first_chunk::<8>().expect("room for a word");
                    let low = u64::MAX >> (64 - 8 * first);
                    string[word] =
                        string[word] & !low | u64::from_be_bytes(*read) >> (64 - 8 * first);
                    rest = &rest[first..];
                    for to in &mut string[word + 1..] {
                        let (read, after) = rest.split_first_chunk::<8>().expect("room for a word");
                        *to = u64::from_be_bytes(*read);
                        rest = after;
                    }
                }
                strings.extend_from_slice(&string);
            }
            keys.clear();
            digits.decode(strings, free, keys);
            each(keys);
        }
        Some(())
    }

    /// Calls a function with the keys of a bucket of a chunk, some at a time; there is no call if the bucket has no
    /// keys or if reading failed, in which case the workspace has the reason.
    pub fn keys<const W: usize>(
        &self,
        (chunk, bucket): (&ListChunk, usize),
        free: &FreePositions,
        workspace: &mut ListWorkspace,
        each: &mut dyn FnMut(&[u64]),
    ) {
        let count = chunk.count(bucket, 1);
        if count == 0 {
            return;
        }
        if chunk.ends.is_empty() {
            return chunk.plain_keys(bucket, W).chunks(BLOCK * W).for_each(each);
        }
        let begin = if bucket == 0 { 0 } else { chunk.ends[bucket - 1] };
        let bytes = begin as usize..chunk.ends[bucket] as usize;
        let Some((file, at)) = chunk.file.as_deref() else {
            let decoded = self.decode::<W>(&chunk.coded[bytes], count, free, workspace, each);
            return decoded.expect("lists in memory were coded or checked here");
        };
        let read = file.read(at + bytes.start as u64, bytes.len()).and_then(|code| {
            let decoded = self.decode::<W>(code.as_ref(), count, free, workspace, each);
            decoded.ok_or_else(|| file.place().invalid("a list of states is damaged"))
        });
        if let Err(error) = read {
            workspace.failed.get_or_insert(error);
        }
    }
}

/// The lists of a level.
#[derive(Default)]
pub(crate) struct BucketLists {
    pub chunks: Vec<ListChunk>,
}

impl BucketLists {
    /// The memory that the lists take.
    pub fn bytes(&self) -> u64 {
        self.chunks.iter().map(ListChunk::bytes).sum()
    }
}

/// The lists among which a list is, and its place there.
pub(super) type ListPlace<'a> = (&'a ListChunk, usize);

/// A list whose keys moves take to a bucket.
pub(super) struct NeededList<'a> {
    pub list: ListPlace<'a>,
    pub free: &'a FreePositions,
    /// The moves, the last one first, among those of [`Needs`].
    pub path: Range<usize>,
    /// Whether the keys are removed from the others.
    pub is_known: bool,
}

impl NeededList<'_> {
    /// Lists are the same if these are.
    fn place(&self) -> (*const ListChunk, usize) {
        (self.list.0, self.list.1)
    }
}

/// A move on keys, and of each block that it may split, how many of the tracked pieces it takes along.
#[derive(Clone, Copy)]
pub(crate) struct KeyStep<'a> {
    pub operation: &'a KeyOperation,
    pub one: usize,
    pub taken: &'a [u8],
}

/// The lists that a bucket needs.
#[derive(Default)]
pub(super) struct Needs<'a> {
    lists: Vec<NeededList<'a>>,
    pub moves: Vec<KeyStep<'a>>,
    /// Number of keys of all lists.
    pub keys: usize,
}

impl<'a> Needs<'a> {
    pub fn clear(&mut self) {
        self.lists.clear();
        self.moves.clear();
        self.keys = 0;
    }

    /// Adds a list unless it is empty; returns whether it is not.
    pub fn add(
        &mut self,
        (list, free): (ListPlace<'a>, &'a FreePositions),
        path: &[KeyStep<'a>],
        is_known: bool,
    ) -> bool {
        let (count, begin) = (list.0.count(list.1, 1), self.moves.len());
        if count > 0 {
            self.keys += count;
            self.moves.extend(path);
            let path = begin..self.moves.len();
            self.lists.push(NeededList { list, free, path, is_known });
        }
        count > 0
    }

    /// Brings paths from the same list together.
    pub fn sort(&mut self) {
        self.lists.sort_unstable_by_key(NeededList::place);
    }

    /// Returns the paths from each list.
    pub fn groups(&self) -> impl Iterator<Item = &[NeededList<'a>]> {
        self.lists.chunk_by(|a, b| a.place() == b.place())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places of 32 bits would start again from 0, and keys would vanish.
    #[test]
    fn lists_that_places_cannot_count_are_none() {
        let counted = |count| ListBuilder { count, ..ListBuilder::default() };
        let most = u32::MAX as usize;
        let mut lists = counted(most - 1);
        lists.list(&[[7u64]], None);
        assert!(!lists.is_too_long());
        lists.list(&[[8u64]], None);
        assert!(lists.is_too_long() && lists.finish().is_none());
        assert!(counted(most).finish().is_some());
    }
}
