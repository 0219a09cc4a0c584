//! Levels of a build in files: written as they are found, and read to go on or to put the values together.
//!
//! Invariant: a frame holds the first visits of some slots, eight words a register; a level is in its file as a whole,
//! or not at all. What was written comes back or is an error.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;

use rayon::prelude::*;
use twox_hash::XxHash3_64;

use crate::kernel::{Kernel, Word, join_planes, split_planes};
use crate::pdb::PdbError;
use crate::pdb::encoding::bit_of;
use crate::pdb::error::Meter;
use crate::pdb::file_order::{SLOTS, Turn, order};
use crate::pdb::regions::SetGraph;
use crate::pdb::slots::{FirstVisitSink, SlotBoard, stretch_slots, unit};
use crate::perm::layout::{LANES, Layout, Register};
use crate::perm::lehmer;
use crate::progress::{Phase, Progress};
use crate::store::{
    Codec, DEFAULT_LEVEL, Decoder, Encoder, FrameEntry, LevelHeader, LevelReader, LevelSum,
    LevelWriter, RunFile, Storage, StorageError,
};

/// Slots whose values are put together at once, in the order of the file.
const WINDOW: usize = 16 * SLOTS;

/// Bytes of the words of a window.
pub(crate) fn window_bytes(tiles: usize) -> u64 {
    2 * WINDOW as u64 * (lehmer::count(tiles) / LANES as u64 * 8)
}

/// The levels of a build.
pub(crate) struct BuildLevels<'a> {
    pub storage: &'a dyn Storage,
    /// Number of the build.
    pub run: u64,
    pub layout: Layout,
    pub kernel: Kernel,
    pub codec: Codec,
    pub label: String,
    /// Slots of the classes.
    pub slots: [usize; 2],
    /// The class of the goal.
    pub goal: usize,
}

/// The name of a committed level.
pub(crate) fn name(depth: u32) -> String {
    RunFile::Level { depth, chunk: 0 }.name()
}

/// What the system says of a file of a directory.
pub(crate) fn failed(storage: &dyn Storage, name: &str, reason: impl Into<io::Error>) -> PdbError {
    let reason = reason.into();
    let place = match name {
        "" => storage.name(),
        name => format!("{}/{name}", storage.name()),
    };
    match reason.kind() {
        io::ErrorKind::InvalidData if !name.is_empty() => {
            PdbError::DamagedLevel { place, reason: reason.to_string() }
        }
        _ => PdbError::Storage { place, reason },
    }
}

/// Frames on their way to a file, which come in any order.
struct InOrder {
    writer: LevelWriter,
    next: usize,
    /// Frames that came early; `None` where nothing was first visited.
    early: BTreeMap<usize, Option<(Vec<u8>, u64)>>,
    checksum: u64,
}

impl InOrder {
    fn put(&mut self, number: usize, frame: Option<(Vec<u8>, u64)>) -> Result<(), StorageError> {
        self.early.insert(number, frame);
        while let Some(frame) = self.early.remove(&self.next) {
            if let Some((bytes, hash)) = frame {
                self.writer.frame(self.next as u32, &bytes, hash)?;
                self.checksum = self.checksum.wrapping_add(hash);
            }
            self.next += 1;
        }
        Ok(())
    }
}

impl BuildLevels<'_> {
    fn class(&self, depth: usize) -> usize {
        (self.goal + depth) % 2
    }

    /// Slots of a frame.
    fn frame_slots(&self, class: usize) -> usize {
        stretch_slots(self.layout, self.slots[class])
    }

    fn header(&self, depth: usize) -> LevelHeader {
        let class = self.class(depth);
        LevelHeader {
            run: self.run,
            depth: depth as u32,
            chunk: 0,
            chunks: 1,
            frame_lines: self.frame_slots(class) as u32,
            first_line: 0,
            lines: self.slots[class] as u64,
            label: self.label.clone(),
            codec: self.codec,
        }
    }

    /// Computes a level and commits it; returns how many entries it reached first.
    pub fn level(
        &self,
        board: &mut SlotBoard,
        class: usize,
        depth: usize,
        found: u64,
        observer: &dyn Progress,
    ) -> Result<u64, PdbError> {
        let new = self.header(depth).uncommitted().name();
        let written = self.write(board, class, depth, found, observer);
        if !matches!(written, Ok(1..)) {
            // Gives back its disk; if not now, the next session does.
            let _ = self.storage.remove(&new);
            return written;
        }
        let name = name(depth as u32);
        let commit = self.storage.rename(&new, &name);
        commit
            .and_then(|()| self.storage.sync_names())
            .map_err(|e| failed(self.storage, &name, e))?;
        written
    }

    fn write(
        &self,
        board: &mut SlotBoard,
        class: usize,
        depth: usize,
        found: u64,
        observer: &dyn Progress,
    ) -> Result<u64, PdbError> {
        let header = self.header(depth);
        let new = header.uncommitted().name();
        let failed = |error| failed(self.storage, &new, error);
        let file = self.storage.create(&new).map_err(failed)?;
        let out = Mutex::new(InOrder {
            writer: LevelWriter::new(file, &header).map_err(failed)?,
            next: 0,
            early: BTreeMap::new(),
            checksum: 0,
        });
        let encoders: Mutex<Vec<(Encoder, Vec<Register>)>> = Mutex::default();
        let lock = || encoders.lock().unwrap_or_else(|e| e.into_inner());
        let frame = |number: usize, states: u64, words: &[Word]| -> Result<(), PdbError> {
            let mut frame = None;
            if states > 0 {
                let ready = lock().pop();
                let (mut encoder, mut registers) = match ready {
                    Some(ready) => ready,
                    None => {
                        let encoder = Encoder::new(self.codec, DEFAULT_LEVEL, self.kernel)?;
                        (encoder, Vec::new())
                    }
                };
                registers.resize(words.len().div_ceil(8), [0; 64]);
                join_planes(self.kernel, words, &mut registers);
                let bytes = encoder.encode(&registers);
                let bytes = bytes
                    .map_err(|e| failed(self.storage.error(&new, io::Error::other(e))))?
                    .to_vec();
                let hash = XxHash3_64::oneshot(&bytes);
                frame = Some((bytes, hash));
                lock().push((encoder, registers));
            }
            let mut out = out.lock().unwrap_or_else(|e| e.into_inner());
            out.put(number, frame).map_err(failed)
        };
        let states = board.level(class, depth, found, FirstVisitSink::To(&frame), observer)?;
        if states > 0 {
            let InOrder { writer, checksum, .. } =
                out.into_inner().unwrap_or_else(|e| e.into_inner());
            let sum = LevelSum { states, checksum };
            let (_, mut file) = writer.finish(sum, found).map_err(failed)?;
            file.sync().map_err(failed)?;
        }
        Ok(states)
    }

    /// Opens a committed level; `None` when there is none.
    fn open(&self, depth: usize) -> Result<Option<LevelReader>, PdbError> {
        let name = name(depth as u32);
        let failed = |error| failed(self.storage, &name, error);
        let file = match self.storage.open(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(failed)?,
        };
        let reader = LevelReader::open(file).map_err(failed)?;
        let codec = reader.header().codec;
        let expected = LevelHeader { codec, ..self.header(depth) };
        match *reader.header() == expected {
            true => Ok(Some(reader)),
            false => Err(failed(self.storage.place(&name).invalid("it is not of this build"))),
        }
    }

    /// Joins the first visits of a frame to the words of its slots.
    fn join(
        &self,
        reader: &LevelReader,
        at: usize,
        (decoder, registers): &mut (Decoder, Vec<Register>),
        words: &mut [Word],
    ) -> Result<(), PdbError> {
        let name = name(reader.header().depth);
        let failed = |error| failed(self.storage, &name, error);
        let frames = reader.read(at..at + 1).map_err(failed)?;
        registers.resize(words.len().div_ceil(8), [0; 64]);
        let decoded = frames.decode(0, decoder, registers, false);
        decoded.map_err(|reason| failed(self.storage.place(&name).invalid(reason)))?;
        split_planes(self.kernel, registers, words);
        Ok(())
    }

    fn decoder(&self) -> Result<(Decoder, Vec<Register>), PdbError> {
        Ok((Decoder::new(self.kernel)?, Vec::new()))
    }

    /// Brings back what the committed levels have reached, of which `last` is the last.
    pub fn restore(
        &self,
        last: usize,
        board: &mut SlotBoard,
        histogram: &mut Vec<u64>,
        observer: &dyn Progress,
    ) -> Result<(), PdbError> {
        let unit = unit(self.layout);
        let meter = Meter::new(observer, Phase::Check, 0, last as u64);
        let mut found = 1;
        for depth in 1..=last {
            let Some(reader) = self.open(depth)? else {
                return Err(PdbError::MissingLevel {
                    place: format!("{}/{}", self.storage.name(), name(depth as u32)),
                });
            };
            let class = self.class(depth);
            let frame_slots = self.frame_slots(class);
            let of = &mut board.classes[class];
            let masks = of.changed.par_chunks_mut(frame_slots);
            let words = of.seen.words_mut().par_chunks_mut(frame_slots * unit);
            let work =
                |ready: &mut Option<_>,
                 (frame, (masks, words)): (usize, (&mut [u64], &mut [Word]))| {
                    masks.fill(0);
                    let Some(at) = find(reader.index(), frame) else {
                        return Ok::<u64, PdbError>(0);
                    };
                    let ready = match ready {
                        Some(ready) => ready,
                        None => ready.insert(self.decoder()?),
                    };
                    let mut new = vec![[0; 8]; words.len()];
                    self.join(&reader, at, ready, &mut new)?;
                    let mut states = 0;
                    let slices = self.layout.blocks();
                    let slots = words.chunks_mut(unit).zip(new.chunks(unit));
                    for (mask, (words, new)) in masks.iter_mut().zip(slots) {
                        for (i, (word, new)) in words.iter_mut().zip(new).enumerate() {
                            let new = u64::from_le_bytes(*new);
                            states += u64::from(new.count_ones());
                            *mask |= u64::from(new != 0) << (i / (unit / slices));
                            *word = (u64::from_le_bytes(*word) | new).to_le_bytes();
                        }
                    }
                    Ok(states)
                };
            let states = masks.zip(words).enumerate();
            let states = states.map_init(|| None, work);
            let states = states.try_reduce(|| 0, |a, b| Ok(a + b))?;
            if states != reader.sum().states || found != reader.before() {
                let name = name(depth as u32);
                let why = "its number of entries is wrong";
                let wrong = io::Error::new(io::ErrorKind::InvalidData, why);
                return Err(failed(self.storage, &name, wrong));
            }
            found += states;
            histogram.push(states);
            meter.add(1)?;
        }
        if last > 0 {
            observer.continued(last, found);
        }
        Ok(())
    }

    /// Writes the entries in the order of the file.
    pub fn collect(
        &self,
        graph: &SetGraph,
        levels: usize,
        mut entries: &mut [u8],
        observer: &dyn Progress,
    ) -> Result<(), PdbError> {
        let mut readers: [Vec<LevelReader>; 2] = [Vec::new(), Vec::new()];
        for depth in (1..levels).filter(|&depth| bit_of(depth as u8) == 1) {
            let reader = self.open(depth)?.ok_or_else(|| PdbError::MissingLevel {
                place: format!("{}/{}", self.storage.name(), name(depth as u32)),
            })?;
            readers[self.class(depth)].push(reader);
        }
        let (turn, slots, unit) = (Turn::new(self.layout), order(graph), unit(self.layout));
        let meter = Meter::new(observer, Phase::Order, 0, slots.len() as u64);
        let mut words = [Vec::new(), Vec::new()];
        for window in slots.chunks(WINDOW) {
            let mut firsts = [0, 0];
            for (class, words) in words.iter_mut().enumerate() {
                let mut own = window.iter().filter(|slot| usize::from(slot.0) == class);
                let Some(first) = own.next() else { continue };
                let last = own.next_back().unwrap_or(first);
                let frame_slots = self.frame_slots(class);
                // Whole frames: numbers of slots rise within a class.
                let frame = first.1 as usize / frame_slots;
                firsts[class] = frame * frame_slots;
                let end = (last.1 as usize + 1).next_multiple_of(frame_slots);
                let count = end.min(self.slots[class]) - firsts[class];
                words.clear();
                words.resize(count * unit, [0; 8]);
                let parts = words.par_chunks_mut(frame_slots * unit).enumerate();
                let init = || None;
                parts.try_for_each_init(init, |ready, (i, words)| {
                    for reader in &readers[class] {
                        if let Some(at) = find(reader.index(), frame + i) {
                            let ready = match ready {
                                Some(ready) => ready,
                                None => ready.insert(self.decoder()?),
                            };
                            self.join(reader, at, ready, words)?;
                        }
                    }
                    Ok::<(), PdbError>(())
                })?;
            }
            let bytes = window.len() * turn.slot_bytes();
            let (head, tail) = std::mem::take(&mut entries).split_at_mut(bytes);
            entries = tail;
            head.par_chunks_mut(SLOTS * turn.slot_bytes())
                .zip(window.par_chunks(SLOTS))
                .for_each_init(
                    || turn.buffers(),
                    |buffers, (entries, slots)| {
                        let of = |&(class, slot): &(u8, u32)| {
                            let class = usize::from(class);
                            &words[class][(slot as usize - firsts[class]) * unit..][..unit]
                        };
                        let rows: Vec<&[Word]> = slots.iter().map(of).collect();
                        turn.run(&rows, buffers, entries);
                    },
                );
            meter.add(window.len() as u64)?;
        }
        Ok(())
    }
}

/// The place of a frame in an index.
fn find(index: &[FrameEntry], frame: usize) -> Option<usize> {
    index.binary_search_by_key(&frame, |entry| entry.frame as usize).ok()
}
