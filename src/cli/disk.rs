//! Options of a search on disk.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;
use tilewave::bfs::disk::{Directories, Disk, PlaneStore};
use tilewave::store::{Directory, Io, Storage};

use super::failure::Usage;
use super::options::parse_bytes;

/// Ways to read files, as options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IoName {
    /// Positioned reads into buffers.
    Read,
    /// Memory mapping.
    Mmap,
}

/// Places of the planes, as options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlanesName {
    /// In memory.
    Memory,
    /// In files.
    Files,
}

/// Which levels are kept, as options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// The last two.
    Last,
    /// All: the complete distance information.
    All,
}

/// How a search runs on disk.
#[derive(clap::Args)]
pub struct OnDisk {
    /// Search on disk, in this directory; a search that is there already is continued. Several times: the
    /// chunks are spread over several disks.
    #[arg(long, value_name = "DIR", help_heading = "On disk")]
    pub dir: Vec<PathBuf>,

    /// How to read files.
    #[arg(long, value_enum, default_value_t = IoName::Read, help_heading = "On disk", requires = "dir")]
    pub io: IoName,

    /// zstd level of new files, -131072 (fast) to 22 (small).
    #[arg(long, value_name = "LEVEL", default_value_t = tilewave::store::DEFAULT_LEVEL, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-131072..=22), help_heading = "On disk", requires = "dir")]
    pub level: i32,

    /// Least time between two commits, with a unit: 10s, 500ms, 2min; 0 for one after every chunk.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10s",
        help_heading = "On disk",
        requires = "dir"
    )]
    pub commit_every: String,

    /// Most disk for the levels, with a unit: 60GB [default: what is free].
    #[arg(long, value_name = "SIZE", help_heading = "On disk", requires = "dir")]
    pub disk_limit: Option<String>,

    /// Which levels to keep.
    #[arg(long, value_enum, default_value_t = Keep::Last, help_heading = "On disk", requires = "dir")]
    pub keep_levels: Keep,

    /// Digits of the line that all lines of a chunk share [default: as few as fit the memory].
    #[arg(long, value_name = "K", help_heading = "On disk", requires = "dir")]
    pub shared_digits: Option<usize>,

    /// Where the bits that cross between chunks lie [default: memory if they fit].
    #[arg(long, value_enum, help_heading = "On disk", requires = "dir")]
    pub planes: Option<PlanesName>,
}

impl OnDisk {
    /// Returns how to use the disk, or `None` for a search in memory.
    pub fn disk(&self) -> Result<Option<Disk>> {
        if self.dir.is_empty() {
            return Ok(None);
        }
        let io = match self.io {
            IoName::Read => Io::Read,
            IoName::Mmap => Io::Map,
        };
        let mut storages: Vec<Box<dyn Storage>> = Vec::new();
        for (i, path) in self.dir.iter().enumerate() {
            if self.dir[..i].contains(path) {
                let wrong = format!(
                    "--dir {} is given twice: name each directory once",
                    path.display()
                );
                return Err(Usage(wrong).into());
            }
            let directory = Directory::create(path, io);
            storages.push(Box::new(
                directory.with_context(|| format!("--dir {}", path.display()))?,
            ));
        }
        let mut disk = Disk::new(Directories::new(storages));
        disk.zstd_level = self.level;
        disk.commit_every = parse_time(&self.commit_every)?;
        disk.keep_all = self.keep_levels == Keep::All;
        disk.limit = self.disk_limit.as_deref().map(parse_bytes).transpose()?;
        disk.shared_digits = self.shared_digits;
        disk.planes = self.planes.map(|planes| match planes {
            PlanesName::Memory => PlaneStore::Memory,
            PlanesName::Files => PlaneStore::Files,
        });
        Ok(Some(disk))
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

/// Returns the time that a number with a unit stands for: ms, s, min, h; 0 needs no unit.
pub fn parse_time(text: &str) -> Result<Duration, Usage> {
    let wrong = || {
        Usage(format!(
            "'{text}' is not a time: write a number and a unit, for example 10s, 500ms or 2min"
        ))
    };
    let unit = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let seconds = match unit.trim() {
        "" if number == 0.0 => 0.0,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_need_units() {
        assert_eq!(parse_time("0").unwrap(), Duration::ZERO);
        assert_eq!(parse_time("500ms").unwrap(), Duration::from_millis(500));
        assert_eq!(parse_time("1.5 min").unwrap(), Duration::from_secs(90));
        for wrong in ["", "5", "s", "-1s", "1e9999s", "3 days"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }
}
