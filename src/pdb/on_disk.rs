//! Databases with one bit per entry whose values do not fit in memory: levels are written to files as they are found.
//!
//! Invariant: memory holds what has been reached, with one bit per entry; files hold the depths, with one file per
//! level, whose frames hold the first visits of some slots each, eight words per register. A level is committed when
//! its file is durable and has its final name. At every instant, the committed levels are therefore 1 to d, and a build
//! can continue from them: their union is what has been reached. At the end, the bit of an entry is read from the
//! levels whose values have this bit set. Whatever was written is read back correctly, or the result is an error.

use std::{io, time::Duration};

use parking_lot::Mutex;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    kernel::{Tally, Word, join_planes, split_planes},
    pdb::{
        Build, Pattern, Pdb, PdbError, TableBuild, build,
        database::bit_of,
        orders::{WINDOW, bits_by_slots, slots_in_order},
        slots::{FirstVisits, SlotSearch, VisitSink, stretch_slots, unit},
    },
    perm::{Register, set_of},
    progress::{Meter, Phase, Progress},
    store::{
        Codec, DEFAULT_LEVEL, Decoder, EncodedFrames, Encoder, FramesInOrder, LevelHeader,
        LevelReader, LevelWriter, Lock, MANIFEST, RunFile, Storage, StorageError, lock_within,
        read_marker, seal, write_marker,
    },
    system::advice,
    units::joined,
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
    /// [`DiskBuild::clear`]. Same errors as [`Build::run_with`]; [`PdbError::Unsuitable`]; and [`PdbError::Place`] if the
    /// directory fails, is damaged or belongs to a different build. Committed levels are kept in any case.
    pub fn run(&self, how: &Build, observer: &dyn Progress) -> Result<Pdb, PdbError> {
        let plan = build::plan_on_disk(how)?;
        let _lock = self.lock()?;
        // A kernel that cannot run is refused before anything is written.
        how.resources.choose_kernel()?;
        let run = self.begin(&how.pattern)?;
        let built = how.resources.install(|| {
            let work = TableBuild::new(how, plan.entries, observer)?;
            let levels = BuildLevels {
                storage: self.storage,
                run,
                last: self.levels()?.last().copied().unwrap_or(0) as usize,
                codec: Codec::best(work.kernel),
                work: &work,
                file: Mutex::default(),
                encoders: Mutex::default(),
            };
            let mut search = work.begin()?;
            let known = levels.restore(&mut search)?;
            let histogram = search.run(&levels, known).inspect_err(|_| levels.give_up())?;
            let count = histogram.len();
            work.finish(histogram, |entries| levels.collect(count, entries))
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
        let run = DatabaseMarker::read(self.storage)?.map(|marker| marker.run);
        // The last level first: what remains is always a build that can be continued.
        for depth in self.levels()?.into_iter().rev() {
            let name = name(depth);
            let file = self.storage.open(&name);
            let header = file.and_then(|file| LevelReader::header_of(&*file));
            if header.is_ok_and(|header| run == Some(header.run)) {
                self.storage.remove(&name)?;
            }
        }
        self.storage.remove(DATABASE)?;
        Ok(self.storage.sync_names()?)
    }

    /// Returns the free disk space, if known, and the size of the existing levels, both in bytes.
    ///
    /// # Errors
    /// [`PdbError::Place`].
    pub fn space(&self) -> Result<(Option<u64>, u64), PdbError> {
        let mut bytes = 0;
        for depth in self.levels()? {
            bytes += self.storage.open(&name(depth))?.len();
        }
        Ok((self.storage.free(), bytes))
    }

    fn lock(&self) -> Result<Lock, PdbError> {
        lock_within(self.storage, PATIENCE)?.ok_or_else(|| {
            PdbError::Place(format!(
                "'{}' is in use by another build: wait until it ends, or choose another directory",
                self.storage.name()
            ))
        })
    }

    fn files(&self) -> Result<Vec<RunFile>, PdbError> {
        let names = match self.storage.list() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            names => names?,
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
        let marker = DatabaseMarker::read(storage)?;
        let files = self.files()?;
        let own = |run| DatabaseMarker {
            run,
            board: pattern.size().to_string(),
            goal: pattern.goal().to_string(),
            tiles: pattern.tiles().to_vec(),
        };
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
            let run = crate::random::seed().map_err(|e| storage.error("", e))?;
            write_marker(storage, DATABASE, run, &seal(DATABASE_FORMAT, 1, &own(run)))?;
            return Ok(run);
        };
        if found != own(found.run) {
            let DatabaseMarker { board, goal, tiles, .. } = found;
            let tiles = joined(tiles, ",");
            return other(&format!("another build (tiles {tiles} on {board} with goal '{goal}')"));
        }
        for file in files {
            if matches!(file, RunFile::Uncommitted { run, .. } if run == found.run) {
                storage.remove(&file.name())?;
            }
        }
        Ok(found.run)
    }
}

// The files of the levels.

/// The levels of a build.
struct BuildLevels<'a> {
    storage: &'a dyn Storage,
    work: &'a TableBuild<'a>,
    run: u64,
    /// The last committed level.
    last: usize,
    codec: Codec,
    /// The file of the current level, and its name.
    file: Mutex<Option<(String, LevelInProgress)>>,
    encoders: Mutex<Vec<(Encoder, Vec<Register>)>>,
}

/// The name of a committed level.
fn name(depth: u32) -> String {
    RunFile::Level { depth, chunk: 0 }.name()
}

impl From<StorageError> for PdbError {
    fn from(StorageError { place, reason }: StorageError) -> PdbError {
        let is_level = matches!(RunFile::parse(&place.file), Some(RunFile::Level { .. }));
        PdbError::Place(match reason.kind() {
            io::ErrorKind::InvalidData if is_level => format!(
                "cannot use '{place}': {reason}; remove this file and the files of all later \
                 levels, and these levels will be recomputed"
            ),
            _ => format!(
                "cannot use '{place}': {reason}{}; the completed levels are kept: run the same \
                 command again to continue",
                advice(&reason)
            ),
        })
    }
}

/// The file of a level, and the sum of the hashes of its frames.
struct LevelInProgress {
    writer: LevelWriter,
    frames: FramesInOrder,
    checksum: u64,
}

/// The decoder of frames, made when there is one to decode, and the registers that it decodes to.
type FrameDecoder = Option<(Decoder, Vec<Register>)>;

impl BuildLevels<'_> {
    fn class(&self, depth: usize) -> usize {
        let TableBuild { graph, pattern, .. } = self.work;
        (graph.find(set_of(pattern.home()), pattern.goal().blank()).0 + depth) % 2
    }

    /// The number of slots of a frame.
    fn frame_slots(&self, class: usize) -> usize {
        stretch_slots(self.work.graph.layout, self.work.graph.slots(class))
    }

    fn header(&self, depth: usize) -> LevelHeader {
        let class = self.class(depth);
        let (tiles, size) = (self.work.pattern.tiles().len(), self.work.pattern.size());
        LevelHeader {
            run: self.run,
            depth: depth as u32,
            chunk: 0,
            chunks: 1,
            frame_lines: self.frame_slots(class) as u32,
            first_line: 0,
            lines: self.work.graph.slots(class) as u64,
            label: format!("database of {tiles} tiles on {size}"),
            codec: self.codec,
        }
    }

    /// Frees the disk space of an unfinished level; if that fails now, the next session does it.
    fn give_up(&self) {
        let file = self.file.lock().take();
        if let Some((name, _)) = file {
            let _ = self.storage.remove(&name);
        }
    }

    /// Encodes the words of a frame.
    fn encode(
        &self,
        words: &[Word],
        name: &str,
        (number, frame): (usize, &mut EncodedFrames),
    ) -> Result<(), PdbError> {
        let (lock, kernel) = (|| self.encoders.lock(), self.work.kernel);
        let ready = lock().pop();
        let (mut encoder, mut registers) = match ready {
            Some(ready) => ready,
            None => (Encoder::new(self.codec, DEFAULT_LEVEL, kernel)?, Vec::new()),
        };
        registers.resize(words.len().div_ceil(8), [0; 64]);
        join_planes(kernel, words, &mut registers);
        let bytes = encoder.encode(&registers);
        frame.push(number, bytes.map_err(|e| self.storage.error(name, io::Error::other(e)))?);
        lock().push((encoder, registers));
        Ok(())
    }

    fn open(&self, depth: usize) -> Result<LevelReader, PdbError> {
        let name = name(depth as u32);
        let Some(file) = self.storage.find(&name)? else {
            return Err(PdbError::Place(format!(
                "'{}/{name}' is missing: restore it, or remove the files of all later levels, and \
                 these levels will be recomputed",
                self.storage.name()
            )));
        };
        let reader = LevelReader::open(file)?;
        let codec = reader.header.codec;
        if reader.header != (LevelHeader { codec, ..self.header(depth) }) {
            let wrong = "the file does not belong to this build";
            return Err(self.storage.place(&name).invalid(wrong).into());
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
        let frames = reader.read(at..at + 1)?;
        let (decoder, registers) = match with {
            Some(with) => with,
            None => with.insert((Decoder::new(self.work.kernel)?, Vec::new())),
        };
        registers.resize(words.len().div_ceil(8), [0; 64]);
        let decoded = frames.decode(0, decoder, registers, false);
        let place = || self.storage.place(&name(reader.header.depth));
        decoded.map_err(|reason| place().invalid(reason))?;
        split_planes(self.work.kernel, registers, words);
        Ok(true)
    }

    /// Restores what the committed levels have reached; returns the number of entries at each depth.
    fn restore(&self, search: &mut SlotSearch) -> Result<Vec<u64>, PdbError> {
        let (layout, observer, last) = (self.work.graph.layout, self.work.observer, self.last);
        let (unit, slices) = (unit(layout), layout.blocks());
        let meter = Meter::new(observer, Phase::Check, 0, last as u64);
        let (mut histogram, mut found) = (vec![1], 1);
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
                let place = self.storage.place(&name(depth as u32));
                return Err(place.invalid("the number of entries is wrong").into());
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
        Ok(histogram)
    }

    /// Writes the entries in the order of the file.
    fn collect(&self, levels: usize, mut entries: &mut [u8]) -> Result<(), PdbError> {
        let graph = &self.work.graph;
        let mut readers: [Vec<LevelReader>; 2] = [Vec::new(), Vec::new()];
        for depth in (1..levels).filter(|&depth| bit_of(depth as u8) == 1) {
            readers[self.class(depth)].push(self.open(depth)?);
        }
        let order = &self.work.order;
        let (slots, unit) = (slots_in_order(graph), unit(graph.layout));
        let meter = Meter::new(self.work.observer, Phase::Order, 0, slots.len() as u64);
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
                let count = end.min(graph.slots(class)) - firsts[class];
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
            bits_by_slots(order, window, of, head, &meter)?;
        }
        Ok(())
    }
}

impl VisitSink for BuildLevels<'_> {
    fn begin(&self, depth: usize) -> Result<(), PdbError> {
        let header = self.header(depth);
        let new = header.uncommitted().name();
        let writer = LevelWriter::new(self.storage.create(&new)?, &header)?;
        let frames = FramesInOrder::default();
        *self.file.lock() = Some((new, LevelInProgress { writer, frames, checksum: 0 }));
        Ok(())
    }

    fn take(&self, new: &FirstVisits<'_>) -> Result<u64, PdbError> {
        let mut frame = EncodedFrames::new(new.stretch, new.stretch + 1);
        if new.states > 0 {
            let name = self.header(new.depth).uncommitted().name();
            self.encode(new.words, &name, (new.stretch, &mut frame))?;
        }
        if let Some((_, LevelInProgress { writer, frames, checksum })) = &mut *self.file.lock() {
            frames.put(frame, |number, bytes, hash| {
                *checksum = checksum.wrapping_add(hash);
                writer.frame(number, bytes, hash)
            })?;
        }
        Ok(new.states)
    }

    fn end(&self, depth: usize, entries: u64, found: u64) -> Result<(), PdbError> {
        if entries == 0 {
            self.give_up();
            return Ok(());
        }
        let mut file = self.file.lock();
        if let Some((new, LevelInProgress { writer, checksum, .. })) = file.take() {
            let finished = writer.finish(Tally { states: entries, checksum }, found);
            let synced = finished.and_then(|(_, mut file)| file.sync());
            synced.inspect_err(|_| _ = self.storage.remove(&new))?;
            self.storage.rename(&new, &name(depth as u32))?;
            self.storage.sync_names()?;
        }
        Ok(())
    }
}
