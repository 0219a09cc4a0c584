//! Databases of one bit an entry whose values do not fit the memory: levels go to files as they are found.
//!
//! Invariant: in memory is what has been reached, one bit an entry; in files is when, a file for each level, whose
//! frames hold the first visits of some slots each. A level is committed when its file is durable and has its name.
//! So at every instant the committed levels are 1 to d, and a build goes on from them: what has been reached is their
//! union. In the end the bit of an entry is read from the levels whose values have it.

use std::io;
use std::time::Duration;

use crate::pdb::build::{self, Build};
use crate::pdb::database::Pdb;
use crate::pdb::error::pool;
use crate::pdb::levels::{BuildLevels, failed, name};
use crate::pdb::regions::{EntryOrder, SetGraph};
use crate::pdb::slots::SlotBoard;
use crate::pdb::{Pattern, PdbError};
use crate::perm::layout::Layout;
use crate::perm::lehmer;
use crate::progress::Progress;
use crate::store::{
    Codec, DatabaseMarker, FileHeader as _, LevelReader, Lock, MANIFEST, RunFile, Storage,
    lock_within,
};

/// Time to wait for another build in the directory to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// A build in a directory.
pub struct DiskBuild<'a> {
    storage: &'a dyn Storage,
}

impl DiskBuild<'_> {
    /// Returns the builds of a directory.
    pub fn new(storage: &dyn Storage) -> DiskBuild<'_> {
        DiskBuild { storage }
    }

    /// Builds a database of one bit an entry, with the levels in files of the directory; goes on with a build of the
    /// same pattern that is there. Memory and disk: as [`build::plan_on_disk`] says. The files stay until
    /// [`DiskBuild::clear`].
    ///
    /// # Errors
    /// As [`build::build`]; [`PdbError::DiskKind`], [`PdbError::Storage`] for what the directory refuses, and what
    /// says that the directory is another one's or damaged. What is committed stays in any case.
    pub fn build(&self, how: &Build, observer: &dyn Progress) -> Result<Pdb, PdbError> {
        build::plan_on_disk(how)?;
        let _lock = self.lock()?;
        let kernel = how.kernel()?;
        let layout = Layout::sliced(how.pattern.tiles().len()).ok_or(PdbError::DiskKind)?;
        let run = self.begin(&how.pattern)?;
        let built = pool(how.threads)?.install(|| {
            let mut board = SlotBoard::new(&how.pattern, layout, kernel, observer)?;
            let levels = BuildLevels {
                storage: self.storage,
                run,
                layout,
                kernel,
                codec: Codec::best(kernel),
                label: format!("database of {} tiles on {}", layout.len(), how.pattern.size()),
                slots: [0, 1].map(|class: usize| board.classes[class].changed.len()),
                goal: board.goal_class(&how.pattern),
            };
            let mut histogram = vec![1];
            let last = self.levels()?.last().copied().unwrap_or(0);
            levels.restore(last as usize, &mut board, &mut histogram, observer)?;
            board.search(
                &how.pattern,
                &mut histogram,
                observer,
                |board, class, depth, found| levels.level(board, class, depth, found, observer),
            )?;
            let SlotBoard { graph, classes, .. } = board;
            drop(classes);
            let mut header = build::header(how, graph_entries(&graph, layout), how.encoding);
            header.histogram = histogram;
            let starts = EntryOrder::new(&how.pattern, how.kind).region_starts();
            let mut image = build::image(&header, &starts)?;
            let entries = header.layout().data.of_mut(image.bytes_mut());
            levels.collect(&graph, header.histogram.len(), entries, observer)?;
            Ok(Pdb::finish(image, header))
        });
        built.map_err(|error| match error {
            PdbError::Interrupted => PdbError::Stopped(self.storage.name()),
            error => error,
        })
    }

    /// Removes the files of a build that has come to its end, and nothing else.
    ///
    /// # Errors
    /// [`PdbError::Storage`].
    pub fn clear(&self) -> Result<(), PdbError> {
        let _lock = self.lock()?;
        let failed = |name: &str, error| failed(self.storage, name, error);
        // The last first: what is left is always a build that can go on.
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
        DatabaseMarker::remove(self.storage).map_err(|e| failed("", e))
    }

    /// Returns the bytes that may still be written, where that is known, and those of the levels that are there.
    ///
    /// # Errors
    /// [`PdbError::Storage`].
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
        lock.map_err(|e| failed(self.storage, "", e))?
            .ok_or_else(|| PdbError::DirectoryInUse(self.storage.name()))
    }

    /// The files that there are.
    fn files(&self) -> Result<Vec<RunFile>, PdbError> {
        let names = self.storage.list();
        let names = match names {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            names => names.map_err(|e| failed(self.storage, "", e))?,
        };
        Ok(names.iter().filter_map(|name| RunFile::parse(name)).collect())
    }

    /// The depths of the levels that are there, in order.
    fn levels(&self) -> Result<Vec<u32>, PdbError> {
        let depth = |file| match file {
            RunFile::Level { depth, chunk: 0 } => Some(depth),
            _ => None,
        };
        let mut depths: Vec<u32> = self.files()?.into_iter().filter_map(depth).collect();
        depths.sort_unstable();
        Ok(depths)
    }

    /// Finds the build that is there, or begins one; returns its number.
    fn begin(&self, pattern: &Pattern) -> Result<u64, PdbError> {
        let storage = self.storage;
        let marker = DatabaseMarker::read(storage).map_err(|e| failed(storage, "", e))?;
        let files = self.files()?;
        let (board, goal) = (pattern.size().to_string(), pattern.goal().to_string());
        let tiles = pattern.tiles().to_vec();
        let Some(found) = marker else {
            let taken = files.iter().any(|file| !matches!(file, RunFile::NewMarker { .. }));
            if taken || storage.open(MANIFEST).is_ok() {
                return Err(PdbError::OtherDirectory {
                    directory: storage.name(),
                    what: "files of a search".into(),
                });
            }
            let run = crate::random::seed().map_err(|e| failed(storage, "", e))?;
            let marker = DatabaseMarker { run, board, goal, tiles };
            marker.write(storage).map_err(|e| failed(storage, "", e))?;
            return Ok(run);
        };
        if (&found.board, &found.goal, &found.tiles) != (&board, &goal, &tiles) {
            let tiles: Vec<String> = found.tiles.iter().map(u16::to_string).collect();
            return Err(PdbError::OtherDirectory {
                directory: storage.name(),
                what: format!(
                    "the build of tiles {} of {} with goal '{}'",
                    tiles.join(","),
                    found.board,
                    found.goal
                ),
            });
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

/// The entries of all slots.
fn graph_entries(graph: &SetGraph, layout: Layout) -> u64 {
    let slots = graph.classes.iter().map(|class| u64::from(class.slots[class.sets.len()]));
    slots.sum::<u64>() * lehmer::count(layout.len())
}
