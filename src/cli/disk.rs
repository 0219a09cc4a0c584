//! Options of a search on disk.

use std::{
    path::{Component, Path, PathBuf},
    time::Duration,
};

use tilewave::{
    Directory, Io, Storage,
    internals::{Codec, DEFAULT_LEVEL, remove_unused},
    search::disk::{Directories, Disk, PlaneStore},
};

use crate::cli::{
    Failure, Result, choice, count,
    options::{bytes, time},
    refuse, unopened, whole,
};

/// Time between two commits, unless told.
const COMMIT_EVERY: Duration = Duration::from_secs(10);

/// Which levels are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Keep {
    /// Only the last two levels
    Last,
    /// All levels, which record the depth of every state
    All,
}

/// The heading of what concerns directories.
pub const ON_DISK: &str = "On disk";

/// How a search runs on disk.
#[derive(clap::Args)]
#[command(next_help_heading = ON_DISK)]
pub struct DiskOptions {
    /// How to read files [default: read].
    #[arg(long, value_parser = choice(Io::NAMES), hide_short_help = true)]
    io: Option<Io>,

    /// Compression of new files [default: the fastest on this processor].
    #[arg(long, value_parser = choice(Codec::NAMES), hide_short_help = true)]
    codec: Option<Codec>,

    /// With --codec zstd: compression level, from -131072 (fastest) to 22 (smallest) [default: 1].
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true, value_parser = whole(-131_072, 22), hide_short_help = true)]
    zstd_level: Option<i32>,

    /// Minimum time between commits of finished work, e.g. 500ms or 2min; 0 commits after every chunk [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = time, hide_short_help = true)]
    commit_every: Option<Duration>,

    /// Maximum disk space for levels and scratch files, e.g. 60GB [default: the free space].
    #[arg(long, value_name = "BYTES", value_parser = bytes, hide_short_help = true)]
    disk_limit: Option<u64>,

    /// Start even if too little disk space seems to be free.
    #[arg(long, hide_short_help = true)]
    ignore_space: bool,

    /// Number of leading digits that the numbers of all states in a chunk share; more digits make more, smaller chunks
    /// [default: the fewest with which a chunk fits in memory].
    #[arg(long, value_name = "K", value_parser = count::<usize>(), allow_negative_numbers = true, hide_short_help = true)]
    shared_digits: Option<usize>,

    /// Where to keep the bits exchanged between chunks [default: memory if they fit].
    #[arg(long, value_parser = choice(PlaneStore::NAMES), hide_short_help = true)]
    planes: Option<PlaneStore>,
}

impl DiskOptions {
    /// The first option given that only searches of numbered states have.
    pub fn for_numbers(&self) -> Option<&'static str> {
        let digits = self.shared_digits.map(|_| "--shared-digits");
        digits.or(self.planes.map(|_| "--planes")).or(self.codec.map(|_| "--codec"))
    }

    /// The first option given that a search in memory has not.
    pub fn given(&self) -> Option<&'static str> {
        let others = [
            (self.io.is_some(), "--io"),
            (self.zstd_level.is_some(), "--zstd-level"),
            (self.commit_every.is_some(), "--commit-every"),
            (self.disk_limit.is_some(), "--disk-limit"),
            (self.ignore_space, "--ignore-space"),
        ];
        let others = others.into_iter().find(|(given, _)| *given);
        self.for_numbers().or(others.map(|(_, option)| option))
    }

    pub fn disk_in(&self, dirs: &[PathBuf]) -> Result<Disk> {
        if self.zstd_level.is_some() && self.codec != Some(Codec::Zstd) {
            refuse!("--zstd-level needs zstd: add --codec zstd, or leave out --zstd-level");
        }
        let mut storages: Vec<Box<dyn Storage>> = Vec::new();
        let mut places = Vec::new();
        for path in dirs {
            let named = format!("'{}'", path.display());
            let directory = made(path, self.io.unwrap_or(Io::Read))?;
            let place = place(path);
            if places.contains(&place) {
                refuse!("{named} is given twice: specify each directory only once");
            }
            places.push(place);
            storages.push(Box::new(directory));
        }
        Ok(Disk::new(Directories::new(storages))
            .codec(self.codec)
            .zstd_level(self.zstd_level.unwrap_or(DEFAULT_LEVEL))
            .commit_every(self.commit_every.unwrap_or(COMMIT_EVERY))
            .limit(self.disk_limit)
            .ignore_space(self.ignore_space)
            .shared_digits(self.shared_digits)
            .planes(self.planes))
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

/// A directory, made when missing; see [`MadeDirectories`] for what becomes of it.
pub fn made(path: &Path, io: Io) -> Result<Directory> {
    if !path.exists() {
        let made = std::fs::create_dir_all(path);
        made.map_err(|error| {
            let path = path.display();
            Failure::failed(format!(
                "cannot create directory '{path}': {error}; choose a location that you can write to"
            ))
        })?;
    }
    Directory::open(path, io).map_err(unopened(path))
}

/// The directories of a search that is there.
pub fn directories(paths: &[PathBuf]) -> Result<Directories> {
    let open = |path: &PathBuf| -> Result<Box<dyn Storage>> {
        Ok(Box::new(Directory::open(path, Io::Read).map_err(unopened(path))?))
    };
    Ok(Directories::new(paths.iter().map(open).collect::<Result<_>>()?))
}
