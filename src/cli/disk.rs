//! Options of a search on disk.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use tilewave::internals::{Codec, Directory, Io, Storage, remove_unused};
use tilewave::search::disk::{Directories, Disk, PlaneStore};

use crate::cli::failure::refuse;
use crate::cli::options::{Choice, bytes, choice, count, time, whole};

/// Ways to read files, as options.
const IO: &[Choice<Io>] = &[
    (&["read"], Io::Read, "Positioned reads into buffers"),
    (&["mmap"], Io::Map, "Memory mapping"),
];

/// Places of the planes, as options.
const PLANES: &[Choice<PlaneStore>] =
    &[(&["memory"], PlaneStore::Memory, "In memory"), (&["files"], PlaneStore::Files, "In files")];

/// Codecs of level files, as options.
const CODEC: &[Choice<Codec>] = &[
    (&["rans"], Codec::Rans, "Asymmetric numeral systems: fast with AVX-512, a tenth smaller"),
    (&["zstd"], Codec::Zstd, "zstd: the fastest elsewhere"),
];

/// Which levels are kept, as options: whether all are.
pub const KEEP: &[Choice<bool>] = &[
    (&["last"], false, "The last two"),
    (&["all"], true, "All: the complete distance information"),
];

/// How a search runs on disk.
#[derive(clap::Args)]
pub struct DiskOptions {
    /// Search on disk, in this directory; a search that is there already is continued. Several times: the
    /// chunks are spread over several disks, by the room on them.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, help_heading = "On disk", group = "place")]
    pub dir: Vec<PathBuf>,

    /// How to read files.
    #[arg(long, value_parser = choice(IO), default_value = "read", help_heading = "On disk", requires = "place")]
    io: Io,

    /// How new files are coded [default: the fastest of this processor].
    #[arg(long, value_parser = choice(CODEC), help_heading = "On disk", requires = "place")]
    codec: Option<Codec>,

    /// zstd level of new files, -131072 (fast) to 22 (small).
    #[arg(long, value_name = "LEVEL", default_value_t = tilewave::internals::DEFAULT_LEVEL, allow_negative_numbers = true, value_parser = whole(-131_072, 22), help_heading = "On disk", requires = "place")]
    level: i32,

    /// Least time between two commits, with a unit: 10s, 500ms, 2min; 0 for one after every chunk.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time, help_heading = "On disk", requires = "place")]
    commit_every: Duration,

    /// Most disk for levels and scratch, with a unit: 60GB [default: what is free].
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "On disk", requires = "place")]
    disk_limit: Option<u64>,

    /// Start also when the search needs more disk than there is, by the estimate.
    #[arg(long, help_heading = "On disk", requires = "place")]
    ignore_space: bool,

    /// Which levels to keep.
    #[arg(long, value_parser = choice(KEEP), action = clap::ArgAction::Set, default_value = "last", help_heading = "On disk", requires = "place")]
    keep_levels: bool,

    /// Digits of the line that all lines of a chunk share [default: as few as fit the memory].
    #[arg(long, value_name = "K", value_parser = count::<usize>(), allow_negative_numbers = true, help_heading = "On disk", requires = "place")]
    shared_digits: Option<usize>,

    /// Where the bits that cross between chunks lie [default: memory if they fit].
    #[arg(long, value_parser = choice(PLANES), help_heading = "On disk", requires = "place")]
    planes: Option<PlaneStore>,
}

impl DiskOptions {
    /// Returns how to use the disk, or `None` for a search in memory.
    pub fn disk(&self) -> Result<Option<Disk>> {
        match &self.dir[..] {
            [] => Ok(None),
            dirs => self.disk_in(dirs).map(Some),
        }
    }

    /// Returns how to use the disk in these directories.
    pub fn disk_in(&self, dirs: &[PathBuf]) -> Result<Disk> {
        let mut storages: Vec<Box<dyn Storage>> = Vec::new();
        let mut places = Vec::new();
        for path in dirs {
            let named = || format!("--dir {}", path.display());
            let directory = Directory::create(path, self.io).with_context(named)?;
            let place = place(path);
            if places.contains(&place) {
                refuse!("{} is given twice: name each directory once", named());
            }
            places.push(place);
            storages.push(Box::new(directory));
        }
        let mut disk = Disk::new(Directories::new(storages));
        disk.codec = self.codec;
        disk.zstd_level = self.level;
        disk.commit_every = self.commit_every;
        disk.keep_all = self.keep_levels;
        disk.limit = self.disk_limit;
        disk.ignore_space = self.ignore_space;
        disk.shared_digits = self.shared_digits;
        disk.planes = self.planes;
        Ok(disk)
    }
}

/// Where a directory lies that may not be there yet: two names may be of one.
fn place(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = || place(parent.unwrap_or(Path::new(".")));
    path.canonicalize().unwrap_or_else(|_| match path.components().next_back() {
        Some(Component::Normal(name)) => parent().join(name),
        Some(Component::ParentDir) => parent().parent().map_or_else(PathBuf::new, PathBuf::from),
        _ => path.to_path_buf(),
    })
}

/// Directories that a command has made: those that hold nothing when it ends go again, so that a refused command
/// leaves nothing behind.
pub struct MadeDirectories(Vec<PathBuf>);

impl MadeDirectories {
    /// Notes which of the directories are not there yet, parents included.
    pub fn of(dirs: &[PathBuf]) -> MadeDirectories {
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let missing = dirs.iter().flat_map(|dir| dir.ancestors().filter(missing));
        MadeDirectories(missing.map(Path::to_path_buf).collect())
    }

    /// Takes a directory for one of this command's own, whoever made it.
    pub fn here(dir: &Path) -> MadeDirectories {
        MadeDirectories(vec![dir.to_path_buf()])
    }
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        for directory in &self.0 {
            remove_unused(directory);
        }
    }
}

/// Returns the directories of a search that is there.
pub fn directories(paths: &[PathBuf]) -> Result<Directories> {
    let open = |path: &PathBuf| -> Result<Box<dyn Storage>> {
        let directory = Directory::open(path, Io::Read);
        let directory = directory.with_context(|| format!("cannot open '{}'", path.display()))?;
        Ok(Box::new(directory))
    };
    let storages: Result<Vec<_>> = paths.iter().map(open).collect();
    Ok(Directories::new(storages?))
}
