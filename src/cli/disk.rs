//! Options of a search on disk.

use std::{
    path::{Component, Path, PathBuf},
    time::Duration,
};

use clap::ValueHint::DirPath;
use tilewave::{
    Directory, Io, Storage,
    internals::{Codec, DEFAULT_LEVEL, remove_unused},
    search::disk::{Directories, Disk, PlaneStore},
};

use crate::cli::{
    Context, Result, choice, count,
    options::{bytes, time},
    refuse, whole,
};

/// Which levels are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Keep {
    /// The last two
    Last,
    /// All: the complete distance information
    All,
}

/// How a search runs on disk.
#[derive(clap::Args)]
#[command(next_help_heading = "On disk")]
#[group(requires = "place")]
pub struct DiskOptions {
    /// Keep the search on disk in DIR, continuing one that is already there. Repeat to use several disks.
    ///
    /// A search on disk that is killed loses nothing: the same command continues it.
    #[arg(long, value_name = "DIR", value_hint = DirPath, group = "place")]
    pub dir: Vec<PathBuf>,

    /// How to read files.
    #[arg(long, value_parser = choice(Io::NAMES), default_value = "read", hide_short_help = true)]
    io: Io,

    /// How new files are coded [default: the fastest of this processor].
    #[arg(long, value_parser = choice(Codec::NAMES), hide_short_help = true)]
    codec: Option<Codec>,

    /// zstd level of new files, -131072 (fast) to 22 (small).
    #[arg(long, value_name = "LEVEL", default_value_t = DEFAULT_LEVEL, allow_negative_numbers = true, value_parser = whole(-131_072, 22), hide_short_help = true)]
    level: i32,

    /// Shortest time between two commits, with a unit: 10s, 500ms, 2min; 0 for one after every chunk.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time, hide_short_help = true)]
    commit_every: Duration,

    /// Disk limit for levels and scratch, with a unit: 60GB [default: what is free].
    #[arg(long, value_name = "SIZE", value_parser = bytes, hide_short_help = true)]
    disk_limit: Option<u64>,

    /// Start even if the estimate exceeds the free disk space.
    #[arg(long, hide_short_help = true)]
    ignore_space: bool,

    /// Which levels to keep.
    #[arg(long, default_value = "last")]
    keep_levels: Keep,

    /// Cut levels into chunks by so many leading digits of the line [default: as few as fit the memory].
    #[arg(long, value_name = "K", value_parser = count::<usize>(), allow_negative_numbers = true, hide_short_help = true)]
    shared_digits: Option<usize>,

    /// Where to keep the bits that cross between chunks [default: memory if they fit].
    #[arg(long, value_parser = choice(PlaneStore::NAMES), hide_short_help = true)]
    planes: Option<PlaneStore>,
}

impl DiskOptions {
    /// The first option given that only searches of numbered states have.
    pub fn for_numbers(&self) -> Option<&'static str> {
        let digits = self.shared_digits.map(|_| "--shared-digits");
        digits.or(self.planes.map(|_| "--planes")).or(self.codec.map(|_| "--codec"))
    }

    /// How to use the disk, or `None` for a search in memory.
    pub fn disk(&self) -> Result<Option<Disk>> {
        match &self.dir[..] {
            [] => Ok(None),
            dirs => self.disk_in(dirs).map(Some),
        }
    }

    pub fn disk_in(&self, dirs: &[PathBuf]) -> Result<Disk> {
        let mut storages: Vec<Box<dyn Storage>> = Vec::new();
        let mut places = Vec::new();
        for path in dirs {
            let named = format!("--dir {}", path.display());
            let directory = Directory::create(path, self.io).context(&named)?;
            let place = place(path);
            if places.contains(&place) {
                refuse!("{named} is given twice: name each directory once");
            }
            places.push(place);
            storages.push(Box::new(directory));
        }
        Ok(Disk::new(Directories::new(storages))
            .codec(self.codec)
            .zstd_level(self.level)
            .commit_every(self.commit_every)
            .keep_all(self.keep_levels == Keep::All)
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

/// The directories of a search that is there.
pub fn directories(paths: &[PathBuf]) -> Result<Directories> {
    let open = |path: &PathBuf| -> Result<Box<dyn Storage>> {
        let directory = Directory::open(path, Io::Read);
        Ok(Box::new(directory.context(format!("cannot open '{}'", path.display()))?))
    };
    Ok(Directories::new(paths.iter().map(open).collect::<Result<_>>()?))
}
