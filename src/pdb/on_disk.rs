//! Databases with one bit per entry whose values do not fit in memory: levels are written to files as they are found.
//!
//! Invariant: memory holds what has been reached, with one bit per entry; files hold the depths, with one file per
//! level, whose frames hold the first visits of some slots each, eight words per register. A level is committed when
//! its file is durable and has its final name. At every instant, the committed levels are therefore 1 to d, and a build
//! can continue from them: their union is what has been reached. At the end, the bit of an entry is read from the
//! levels whose values have this bit set. Whatever was written is read back correctly, or the result is an error.

use std::{collections::BTreeMap, io, time::Duration};

use parking_lot::Mutex;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::{
    bits::set_of,
    kernel::{Kernel, Tally, Word, join_planes, split_planes},
    pdb::{
        Build, Meter, Pattern, Pdb, PdbError, SlotGraph, TableBuild, build,
        database::bit_of,
        orders::{ArrangementOrder, WINDOW, bits_by_slots, slots_in_order},
        slots::{FirstVisits, SlotSearch, VisitSink, stretch_slots, unit},
    },
    perm::{Layout, Register},
    progress::{NoProgress, Phase, Progress},
    store::{
        Codec, DEFAULT_LEVEL, Decoder, Encoder, FileHeader as _, LevelHeader, LevelReader,
        LevelWriter, Lock, MANIFEST, RunFile, Storage, StorageError, lock_within, read_marker,
        seal, write_marker,
    },
    system::advice,
};

/// Time to wait until another build in the directory ends.
const PATIENCE: Duration = Duration::from_secs(10);

/// Name of the marker file of a build.
pub const DATABASE: &str = "tilewave-database";

/// First word of this file.
const DATABASE_FORMAT: &str = "tilewave-database";

/// The description of a database build in its directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseMarker {
    /// Random number of the build, which is also in each of its files.
    #[serde(with = "crate::store::hex")]
    pub run: u64,
    /// The size of the board.
    pub board: String,
    /// The goal in board notation.
    pub goal: String,
    /// The tiles of the pattern.
    pub tiles: Vec<u16>,
}

impl DatabaseMarker {
    /// Reads the marker of a directory; `None` if it has none.
    pub fn read(storage: &dyn Storage) -> Result<Option<DatabaseMarker>, StorageError> {
        read_marker(storage, DATABASE, DATABASE_FORMAT)
    }
}

/// A database build that keeps its levels in a directory.
pub struct DiskBuild<'a> {
    storage: &'a dyn Storage,
}

impl DiskBuild<'_> {
    /// Returns access to the build in a directory.
    pub fn new(storage: &dyn Storage) -> DiskBuild<'_> {
        DiskBuild { storage }
    }

    /// Builds a database with one bit per entry, with the levels in files in the directory, or continues a build of the
    /// same pattern that is there. [`build::plan_on_disk`] computes memory and disk space. The files stay until
    /// [`DiskBuild::clear`].
    ///
    /// # Errors
    /// Same errors as [`Build::run`]; [`PdbError::Unsuitable`]; and [`PdbError::Place`] if the directory fails, is
    /// damaged or belongs to a different build. Committed levels are kept in any case.
    pub fn run(&self, how: &Build) -> Result<Pdb, PdbError> {
        self.run_with(how, &NoProgress)
    }

    /// Builds a database like [`DiskBuild::run`], with an observer that sees the progress and may stop the work.
    ///
    /// # Errors
    /// Same errors as [`DiskBuild::run`], plus [`PdbError::Interrupted`].
    pub fn run_with(&self, how: &Build, observer: &dyn Progress) -> Result<Pdb, PdbError> {
        let plan = build::plan_on_disk(how)?;
        let _lock = self.lock()?;
        let kernel = how.resources.choose_kernel()?;
        let run = self.begin(&how.pattern)?;
        let built = how.resources.install(|| {
            let last = self.levels()?.last().copied().unwrap_or(0) as usize;
            let mut work = TableBuild::new(how, plan.entries, observer)?;
            let graph = &work.graph;
            let home = graph.find(set_of(how.pattern.home()), how.pattern.goal().blank());
            let (tiles, size) = (how.pattern.tiles().len(), how.pattern.size());
            let levels = BuildLevels {
                storage: self.storage,
                run,
                last,
                layout: graph.layout,
                kernel,
                codec: Codec::best(kernel),
                label: format!("database of {tiles} tiles on {size}"),
                slots: [0, 1].map(|class: usize| graph.slots(class)),
                goal: home.0,
                file: Mutex::default(),
                encoders: Mutex::default(),
            };
            let mut search = work.begin()?;
            levels.restore(&mut search, &mut work.header.histogram, observer)?;
            if let Err(error) = work.search(search, &levels) {
                levels.give_up();
                return Err(error);
            }
            let TableBuild { graph, header, .. } = work;
            let mut image = build::image(&header)?;
            let entries = header.layout().data.of_mut(image.bytes_mut());
            levels.collect(&graph, header.histogram.len(), entries, observer)?;
            Ok(Pdb::finish(image, header))
        })?;
        built.map_err(|error| match error {
            PdbError::Interrupted(None) => PdbError::Interrupted(Some(self.storage.name())),
            error => error,
        })
    }

    /// Removes the files of a finished build, and nothing else.
    ///
    /// # Errors
    /// [`PdbError::Place`].
    pub fn clear(&self) -> Result<(), PdbError> {
        let _lock = self.lock()?;
        let failed = |name: &str, error| failed(self.storage, name, error);
        // The last level first: what remains is always a build that can be continued.
        let marker = DatabaseMarker::read(self.storage).map_err(|e| failed("", e))?;
        for depth in self.levels()?.into_iter().rev() {
            let name = name(depth);
            let file = self.storage.open(&name);
            let header = file.and_then(|file| LevelReader::header_of(&*file));
            let own = header
                .is_ok_and(|header| marker.as_ref().is_some_and(|marker| marker.run == header.run));
            if own {
                self.storage.remove(&name).map_err(|e| failed(&name, e))?;
            }
        }
        let removed = self.storage.remove(DATABASE).and_then(|()| self.storage.sync_names());
        removed.map_err(|e| failed("", e))
    }

    /// Returns the free disk space, if known, and the size of the existing levels, both in bytes.
    ///
    /// # Errors
    /// [`PdbError::Place`].
    pub fn space(&self) -> Result<(Option<u64>, u64), PdbError> {
        let mut bytes = 0;
        for depth in self.levels()? {
            let name = name(depth);
            let file = self.storage.open(&name);
            bytes += file.map_err(|e| failed(self.storage, &name, e))?.len();
        }
        Ok((self.storage.free(), bytes))
    }

    fn lock(&self) -> Result<Lock, PdbError> {
        let lock = lock_within(self.storage, PATIENCE);
        lock.map_err(|e| failed(self.storage, "", e))?.ok_or_else(|| {
            PdbError::Place(format!(
                "'{}' is in use by another build: wait until it ends, or choose another directory",
                self.storage.name()
            ))
        })
    }

    fn files(&self) -> Result<Vec<RunFile>, PdbError> {
        let names = self.storage.list();
        let names = match names {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            names => names.map_err(|e| failed(self.storage, "", e))?,
        };
        Ok(names.iter().filter_map(|name| RunFile::parse(name)).collect())
    }

    /// The depths of the existing levels, in order.
    fn levels(&self) -> Result<Vec<u32>, PdbError> {
        let depth = |file| match file {
            RunFile::Level { depth, chunk: 0 } => Some(depth),
            _ => None,
        };
        let mut depths: Vec<u32> = self.files()?.into_iter().filter_map(depth).collect();
        depths.sort_unstable();
        Ok(depths)
    }

    /// Finds the existing build, or begins one; returns its number.
    fn begin(&self, pattern: &Pattern) -> Result<u64, PdbError> {
        let storage = self.storage;
        let marker = DatabaseMarker::read(storage).map_err(|e| failed(storage, "", e))?;
        let files = self.files()?;
        let (board, goal) = (pattern.size().to_string(), pattern.goal().to_string());
        let tiles = pattern.tiles().to_vec();
        let other = |what: &str| {
            let name = storage.name();
            Err(PdbError::Place(format!(
                "'{name}' contains {what}: choose another directory, or remove the files in this \
                 directory"
            )))
        };
        let Some(found) = marker else {
            let taken = files.iter().any(|file| !matches!(file, RunFile::NewMarker { .. }));
            if taken || storage.open(MANIFEST).is_ok() {
                return other("files of a search");
            }
            let run = crate::random::seed().map_err(|e| failed(storage, "", e))?;
            let marker = DatabaseMarker { run, board, goal, tiles };
            let written = write_marker(storage, DATABASE, run, &seal(DATABASE_FORMAT, 1, &marker));
            return written.map_err(|e| failed(storage, "", e)).map(|()| run);
        };
        if (&found.board, &found.goal, &found.tiles) != (&board, &goal, &tiles) {
            let tiles: Vec<String> = found.tiles.iter().map(u16::to_string).collect();
            return other(&format!(
                "another build (tiles {} on {} with goal '{}')",
                tiles.join(","),
                found.board,
                found.goal
            ));
        }
        for file in files {
            if matches!(file, RunFile::Uncommitted { run, .. } if run == found.run) {
                let name = file.name();
                storage.remove(&name).map_err(|e| failed(storage, &name, e))?;
            }
        }
        Ok(found.run)
    }
}

// The files of the levels.

/// The levels of a build.
pub(crate) struct BuildLevels<'a> {
    pub storage: &'a dyn Storage,
    pub run: u64,
    /// The last committed level.
    pub last: usize,
    pub layout: Layout,
    pub kernel: Kernel,
    pub codec: Codec,
    pub label: String,
    /// The number of slots of each class.
    pub slots: [usize; 2],
    /// The class of the goal.
    pub goal: usize,
    /// The file of the current level, and its name.
    file: Mutex<Option<(String, InOrder)>>,
    encoders: Mutex<Vec<(Encoder, Vec<Register>)>>,
}

/// The name of a committed level.
pub(crate) fn name(depth: u32) -> String {
    RunFile::Level { depth, chunk: 0 }.name()
}

/// The error that the system reports for a file in a directory.
pub(crate) fn failed(storage: &dyn Storage, name: &str, reason: impl Into<io::Error>) -> PdbError {
    let reason = reason.into();
    let place = match name {
        "" => storage.name(),
        name => format!("{}/{name}", storage.name()),
    };
    PdbError::Place(match reason.kind() {
        io::ErrorKind::InvalidData if !name.is_empty() => format!(
            "cannot use '{place}': {reason}; remove this file and the files of all later levels, \
             and these levels will be recomputed"
        ),
        _ => format!(
            "cannot use '{place}': {reason}{}; the completed levels are kept: run the same command \
             again to continue",
            advice(&reason)
        ),
    })
}

/// Frames on their way to a file, which arrive in any order.
struct InOrder {
    writer: LevelWriter,
    next: usize,
    /// Frames that arrived early; `None` if a frame has no first visits.
    early: BTreeMap<usize, Option<(Vec<u8>, u64)>>,
    checksum: u64,
}

impl InOrder {
    fn put(&mut self, number: usize, frame: Option<(Vec<u8>, u64)>) -> io::Result<()> {
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

/// The decoder of frames, made when there is one to decode, and the registers that it decodes to.
type FrameDecoder = Option<(Decoder, Vec<Register>)>;

impl BuildLevels<'_> {
    fn class(&self, depth: usize) -> usize {
        (self.goal + depth) % 2
    }

    /// The number of slots of a frame.
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

    /// Frees the disk space of an unfinished level; if that fails now, the next session does it.
    pub fn give_up(&self) {
        let file = self.file.lock().take();
        if let Some((name, _)) = file {
            let _ = self.storage.remove(&name);
        }
    }

    /// The bytes of a frame and their checksum.
    fn encode(&self, words: &[Word], name: &str) -> Result<(Vec<u8>, u64), PdbError> {
        let lock = || self.encoders.lock();
        let ready = lock().pop();
        let (mut encoder, mut registers) = match ready {
            Some(ready) => ready,
            None => (Encoder::new(self.codec, DEFAULT_LEVEL, self.kernel)?, Vec::new()),
        };
        registers.resize(words.len().div_ceil(8), [0; 64]);
        join_planes(self.kernel, words, &mut registers);
        let bytes = encoder.encode(&registers);
        let bytes = bytes.map_err(|e| failed(self.storage, name, io::Error::other(e)))?.to_vec();
        lock().push((encoder, registers));
        let hash = XxHash3_64::oneshot(&bytes);
        Ok((bytes, hash))
    }

    fn open(&self, depth: usize) -> Result<LevelReader, PdbError> {
        let name = name(depth as u32);
        let failed = |error| failed(self.storage, &name, error);
        let Some(file) = self.storage.find(&name).map_err(failed)? else {
            return Err(PdbError::Place(format!(
                "'{}/{name}' is missing: restore it, or remove the files of all later levels, and \
                 these levels will be recomputed",
                self.storage.name()
            )));
        };
        let reader = LevelReader::open(file).map_err(failed)?;
        let codec = reader.header.codec;
        if reader.header != (LevelHeader { codec, ..self.header(depth) }) {
            let wrong = self.storage.place(&name).invalid("the file does not belong to this build");
            return Err(failed(wrong));
        }
        Ok(reader)
    }

    /// ORs the first visits of a frame into the words of its slots; returns whether there are any.
    fn join(
        &self,
        reader: &LevelReader,
        frame: usize,
        with: &mut FrameDecoder,
        words: &mut [Word],
    ) -> Result<bool, PdbError> {
        let found = reader.index.binary_search_by_key(&frame, |entry| entry.frame as usize);
        let Ok(at) = found else { return Ok(false) };
        let name = name(reader.header.depth);
        let failed = |error| failed(self.storage, &name, error);
        let frames = reader.read(at..at + 1).map_err(failed)?;
        let (decoder, registers) = match with {
            Some(with) => with,
            None => with.insert((Decoder::new(self.kernel)?, Vec::new())),
        };
        registers.resize(words.len().div_ceil(8), [0; 64]);
        let decoded = frames.decode(0, decoder, registers, false);
        decoded.map_err(|reason| failed(self.storage.place(&name).invalid(reason)))?;
        split_planes(self.kernel, registers, words);
        Ok(true)
    }

    /// Restores what the committed levels have reached.
    pub fn restore(
        &self,
        search: &mut SlotSearch,
        histogram: &mut Vec<u64>,
        observer: &dyn Progress,
    ) -> Result<(), PdbError> {
        let (unit, last) = (unit(self.layout), self.last);
        let meter = Meter::new(observer, Phase::Check, 0, last as u64);
        let mut found = 1;
        for depth in 1..=last {
            let reader = self.open(depth)?;
            let class = self.class(depth);
            let frame_slots = self.frame_slots(class);
            let of = &mut search.classes[class];
            let masks = of.changed.par_chunks_mut(frame_slots);
            let words = of.seen.words_mut().par_chunks_mut(frame_slots * unit);
            let frames = masks.zip(words).enumerate();
            let states = frames.map_init(
                || None,
                |decoder, (frame, (masks, words))| {
                    masks.fill(0);
                    let mut new = vec![[0; 8]; words.len()];
                    if !self.join(&reader, frame, decoder, &mut new)? {
                        return Ok::<u64, PdbError>(0);
                    }
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
                },
            );
            let states = states.try_reduce(|| 0, |a, b| Ok(a + b))?;
            if states != reader.sum.states || found != reader.before {
                let name = name(depth as u32);
                let wrong = self.storage.place(&name).invalid("the number of entries is wrong");
                return Err(failed(self.storage, &name, wrong));
            }
            found += states;
            histogram.push(states);
            meter.add(1)?;
        }
        if last > 0 {
            // Everything reached before the last level was read has been merged.
            search.classes[self.class(last + 1)].changed.fill(0);
            observer.continued(last, found);
        }
        Ok(())
    }

    /// Writes the entries in the order of the file.
    pub fn collect(
        &self,
        graph: &SlotGraph,
        levels: usize,
        mut entries: &mut [u8],
        observer: &dyn Progress,
    ) -> Result<(), PdbError> {
        let mut readers: [Vec<LevelReader>; 2] = [Vec::new(), Vec::new()];
        for depth in (1..levels).filter(|&depth| bit_of(depth as u8) == 1) {
            readers[self.class(depth)].push(self.open(depth)?);
        }
        let order = ArrangementOrder::new(self.layout);
        let (slots, unit) = (slots_in_order(graph), unit(self.layout));
        let meter = Meter::new(observer, Phase::Order, 0, slots.len() as u64);
        let mut words = [Vec::new(), Vec::new()];
        for window in slots.chunks(WINDOW) {
            let mut firsts = [0, 0];
            for (class, words) in words.iter_mut().enumerate() {
                let mut own = window.iter().filter(|slot| slot.0 == class);
                let Some(first) = own.next() else { continue };
                let last = own.next_back().unwrap_or(first);
                let frame_slots = self.frame_slots(class);
                // Complete frames: slot numbers increase within a class.
                let frame = first.1 / frame_slots;
                firsts[class] = frame * frame_slots;
                let end = (last.1 + 1).next_multiple_of(frame_slots);
                let count = end.min(self.slots[class]) - firsts[class];
                words.clear();
                words.resize(count * unit, [0; 8]);
                let parts = words.par_chunks_mut(frame_slots * unit).enumerate();
                let init = || None;
                parts.try_for_each_init(init, |decoder, (i, words)| {
                    let join = |reader| self.join(reader, frame + i, decoder, words).map(drop);
                    readers[class].iter().try_for_each(join)
                })?;
            }
            let (head, tail) =
                std::mem::take(&mut entries).split_at_mut(window.len() * order.len() / 8);
            entries = tail;
            let of = |(class, slot): (usize, usize)| {
                &words[class][(slot - firsts[class]) * unit..][..unit]
            };
            bits_by_slots(&order, window, of, head, &meter)?;
        }
        Ok(())
    }
}

impl VisitSink for BuildLevels<'_> {
    fn wants(&self, _: usize) -> bool {
        true
    }

    fn begin(&self, depth: usize) -> Result<(), PdbError> {
        let header = self.header(depth);
        let new = header.uncommitted().name();
        let failed = |error| failed(self.storage, &new, error);
        let file = self.storage.create(&new).map_err(failed)?;
        let writer = LevelWriter::new(file, &header).map_err(failed)?;
        let out = InOrder { writer, next: 0, early: BTreeMap::new(), checksum: 0 };
        *self.file.lock() = Some((new, out));
        Ok(())
    }

    fn take(&self, new: &FirstVisits<'_>) -> Result<u64, PdbError> {
        let name = self.header(new.depth).uncommitted().name();
        let frame = match new.states {
            0 => None,
            _ => Some(self.encode(new.words, &name)?),
        };
        let mut file = self.file.lock();
        if let Some((_, out)) = &mut *file {
            out.put(new.stretch, frame).map_err(|e| failed(self.storage, &name, e))?;
        }
        Ok(new.states)
    }

    fn end(&self, depth: usize, entries: u64, found: u64) -> Result<(), PdbError> {
        if entries == 0 {
            self.give_up();
            return Ok(());
        }
        let mut file = self.file.lock();
        if let Some((new, InOrder { writer, checksum, .. })) = file.take() {
            let finished = writer.finish(Tally { states: entries, checksum }, found);
            let synced = finished.and_then(|(_, mut file)| file.sync());
            synced.map_err(|e| {
                let _ = self.storage.remove(&new);
                failed(self.storage, &new, e)
            })?;
            let name = name(depth as u32);
            let commit = self.storage.rename(&new, &name);
            commit
                .and_then(|()| self.storage.sync_names())
                .map_err(|e| failed(self.storage, &name, e))?;
        }
        Ok(())
    }
}
