//! Options that several commands share, each written once, and those of a search on disk.
//!
//! Commands take them into their own structs; each struct makes what the library wants of what was given: resources, a
//! goal, a [`Directories`].

use std::{
    fmt::Display,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Once,
    time::Duration,
};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tilewave::{
    Board, Directory, DistanceTable, Goal, Io, Kernel, Resources, Search, Size, Storage,
    SystemError,
    internals::{self, Codec, create_directory, parts, remove_unused},
    puzzle::{Puzzle, StateSpace},
    random,
    search::{
        Engine, PlaneStore, SearchError,
        disk::{Directories, Disk},
    },
};

use crate::{Context, Failure, Result, failure::KERNEL, refuse};

// What sizes are written with.
pub use tilewave::internals::parse_bytes as bytes;

/// `--threads`.
#[derive(clap::Args)]
pub struct Threads {
    /// Number of worker threads; 0 means one per core [default: 0].
    #[arg(short = 'j', long, value_name = "N", value_parser = whole(0usize, 1024), allow_negative_numbers = true)]
    threads: Option<usize>,
}

impl Threads {
    /// The number asked for, which is cut, with a line that says so, where it could only do harm.
    pub fn get(&self) -> Option<usize> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let most = (4 * cores).max(64);
        let asked = self.threads.filter(|&asked| asked > 0)?;
        // Once, however many parts of a command ask.
        static SAID: Once = Once::new();
        if asked > most {
            SAID.call_once(|| {
                tracing::warn!("{asked} threads are too many for {cores} cores: using {most}")
            });
        }
        Some(asked.min(most))
    }
}

/// What work may use of the machine.
#[derive(clap::Args)]
#[command(next_help_heading = "Resources")]
pub struct ResourceOptions {
    #[command(flatten)]
    pub threads: Threads,

    /// Memory limit, e.g. 500MB, 8GiB or 8G [default: half of the free memory].
    ///
    /// Leave some memory for other programs: if memory runs out, the system kills a process.
    #[arg(short = 'M', long, value_name = "BYTES", value_parser = bytes)]
    pub memory: Option<u64>,
}

impl ResourceOptions {
    /// The most bytes that arrays may take.
    pub fn budget(&self) -> u64 {
        self.memory.unwrap_or_else(internals::budget)
    }

    pub fn get(&self) -> Result<Resources> {
        let kernel = kernel()?;
        if let Some(kernel) = kernel {
            tracing::debug!("using the {kernel} kernel, as specified");
        }
        let resources = Resources::new().threads(self.threads.get()).kernel(kernel);
        Ok(resources.memory(self.budget()))
    }
}

/// The kernel that the environment asks for.
pub fn kernel() -> Result<Option<Kernel>> {
    let Some(name) = std::env::var_os(KERNEL).filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let kernel: Result<Kernel, _> = name.to_string_lossy().parse();
    Ok(Some(kernel.map_err(SearchError::from).context(KERNEL)?))
}

/// How a search runs.
#[derive(clap::Args)]
#[command(next_help_heading = "Resources")]
pub struct Running {
    #[command(flatten)]
    pub resources: ResourceOptions,

    /// Search engine [default: the fastest one that supports the puzzle and fits in memory].
    // A directory makes it the one on disk.
    #[arg(long, value_parser = choice(ENGINES))]
    pub engine: Option<Engine>,
}

const ENGINES: &[Choice<Engine>] =
    &[Engine::NAMES[0], Engine::NAMES[1], Engine::NAMES[3], Engine::NAMES[4]];

impl Running {
    pub fn search(&self, space: StateSpace) -> Result<Search> {
        Ok(Search::of(space).engine(self.engine).resources(self.resources.get()?))
    }

    pub fn by_lists(&self) -> bool {
        matches!(self.engine, Some(Engine::Frontier | Engine::Bitmap))
    }

    /// Refuses the engine that only searches on disk have.
    pub fn refuse_bitmap(&self) -> Result<()> {
        if self.engine == Some(Engine::Bitmap) {
            refuse!("--engine bitmap is for complete searches with bfs: leave it out");
        }
        Ok(())
    }

    /// The engine for numbered states that was asked for.
    pub fn numbered(&self) -> Option<&'static str> {
        first_given(&[(self.engine.is_some() && !self.by_lists(), "--engine")])
    }
}

/// The first of some options that is given.
pub fn first_given(options: &[(bool, &'static str)]) -> Option<&'static str> {
    options.iter().find(|(given, _)| *given).map(|(_, option)| *option)
}

/// Refuses an option that only searches of numbered states have.
pub fn refuse_in_lists(option: Option<&str>, puzzle: &Puzzle) -> Result<()> {
    if let Some(option) = option {
        refuse!(
            "{option} works only with numbered states (boards of at most {} cells, and puzzles \
             with one set of at most 16 distinct pieces), but this is a list search of {puzzle}: \
             leave it out",
            Search::MAX_CELLS
        );
    }
    Ok(())
}

/// `--goal`.
#[derive(clap::Args)]
pub struct GoalOption {
    /// Goal: last, first, blank=CELL or a board [default: last].
    ///
    /// The goals last, first and blank=CELL have the tiles in order and the blank in the last, first or given cell.
    /// Cells are numbered row by row from 0.
    #[arg(long)]
    pub goal: Option<Goal>,
}

impl GoalOption {
    pub fn board(&self, size: Size) -> Result<Board> {
        Ok(self.goal.as_ref().unwrap_or(&Goal::Last).board(size)?)
    }

    /// The goal board of a size, which is a table's when there is one.
    pub fn board_of(&self, table: Option<&DistanceTable>, size: Size) -> Result<Board> {
        let Some(table) = table else {
            return self.board(size);
        };
        let goal = table.goal()?;
        if self.goal.is_some() && self.board(size)? != *goal {
            refuse!(
                "the table is for the goal '{goal}': leave out --goal, or build a table for your \
                 goal with tilewave table"
            );
        }
        Ok(goal.clone())
    }
}

/// `--max-depth`.
#[derive(clap::Args)]
pub struct MaxDepth {
    /// Stop after this depth.
    ///
    /// If a search on disk has already gone deeper, all its levels are shown.
    #[arg(long, value_name = "DEPTH", value_parser = count::<usize>(), allow_negative_numbers = true)]
    pub max_depth: Option<usize>,
}

/// The seed asked for, or one that is drawn and logged.
pub fn seed(asked: Option<u64>) -> Result<u64> {
    if let Some(seed) = asked {
        return Ok(seed);
    }
    let seed = drawn_seed()?;
    tracing::info!("random seed {seed}");
    Ok(seed)
}

pub fn drawn_seed() -> Result<u64> {
    random::seed().map_err(|error| {
        Failure::failed(format!("cannot generate a random seed ({error}); specify one with --seed"))
    })
}

// Words of the command line and what they stand for. Every error says what was written and what to write.

/// A value of an enum of the library, its names, the present one first, and what to say of it.
type Choice<T> = (&'static [&'static str], T, &'static str);

/// The parser of a list of names.
pub fn choice<T>(all: &'static [Choice<T>]) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    let value = |(names, _, help): &Choice<T>| {
        PossibleValue::new(names[0]).aliases(&names[1..]).help(*help)
    };
    PossibleValuesParser::new(all.iter().map(value)).try_map(|word| {
        let found = all.iter().find(|(names, ..)| names.contains(&word.as_str()));
        found.map(|(_, value, _)| value.clone()).ok_or("no such value")
    })
}

/// The parser of whole numbers within bounds.
pub fn whole<T>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static,
{
    move |text| match text.parse() {
        Ok(number) if number >= least && number <= most => Ok(number),
        _ => Err(format!("'{text}' is not a whole number from {least} to {most}")),
    }
}

/// The parser of counts: whole numbers from 0.
pub fn count<T>() -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr,
{
    |text| text.parse().map_err(|_| format!("'{text}' is not a non-negative whole number"))
}

/// The bytes a second that `5GB/s` stands for; `5Gb/s` and `5Gbit/s` are bits, an eighth of that.
pub fn bandwidth(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "'{text}' is not a bandwidth: write bytes per second (5GB/s) or bits per second (40Gb/s)"
        )
    };
    let size = text.strip_suffix("/s").ok_or_else(wrong)?;
    let bits = size.strip_suffix("bit").or(size.strip_suffix('b'));
    let rate = match bits {
        Some(number) => bytes(&format!("{number}B")).map(|bits| bits / 8),
        None => bytes(size),
    };
    rate.ok().filter(|&rate| rate > 0).ok_or_else(wrong)
}

/// The time that a number with a unit stands for: ms, s, min, h; without a unit seconds.
pub fn time(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!("'{text}' is not a time: write a number and a unit, for example 10s, 2min or 1h")
    };
    let (number, unit) = parts(text).ok_or_else(wrong)?;
    let seconds = match unit {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())
}

// Options of a search on disk.

/// Time between two commits, unless told.
const COMMIT_EVERY: Duration = Duration::from_secs(10);

/// Which levels are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Keep {
    /// Only the last two levels
    Last,
    /// All levels, which together give the depth of every state
    All,
}

pub const ON_DISK: &str = "On disk";

/// How a search runs on disk.
#[derive(clap::Args)]
#[command(next_help_heading = ON_DISK)]
pub struct DiskOptions {
    /// How to read the files of the search [default: read].
    #[arg(long, value_parser = choice(Io::NAMES), hide_short_help = true)]
    io: Option<Io>,

    /// Compression of new files [default: rans with AVX-512, otherwise zstd].
    #[arg(long, value_parser = choice(Codec::NAMES), hide_short_help = true)]
    codec: Option<Codec>,

    /// Minimum time between commits of finished work, e.g. 500ms or 2min; 0 means after every chunk [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = time, hide_short_help = true)]
    commit_every: Option<Duration>,

    /// Maximum disk space for levels and scratch files, e.g. 60GB [default: the free space].
    #[arg(long, value_name = "BYTES", value_parser = bytes, hide_short_help = true)]
    disk_limit: Option<u64>,

    /// Start even if there seems to be too little free disk space.
    #[arg(long, hide_short_help = true)]
    ignore_space: bool,

    /// Where to keep the bits that chunks exchange [default: in memory if they fit, otherwise in files].
    #[arg(long, value_parser = choice(PlaneStore::NAMES), hide_short_help = true)]
    planes: Option<PlaneStore>,
}

impl DiskOptions {
    /// The first option given that only searches of numbered states have.
    pub fn for_numbers(&self) -> Option<&'static str> {
        first_given(&[(self.planes.is_some(), "--planes"), (self.codec.is_some(), "--codec")])
    }

    /// The first option given that a search in memory has not.
    pub fn given(&self) -> Option<&'static str> {
        let others = first_given(&[
            (self.io.is_some(), "--io"),
            (self.commit_every.is_some(), "--commit-every"),
            (self.disk_limit.is_some(), "--disk-limit"),
            (self.ignore_space, "--ignore-space"),
        ]);
        self.for_numbers().or(others)
    }

    pub fn disk_in(&self, dirs: &[PathBuf]) -> Result<Disk> {
        let (io, commits) =
            (self.io.unwrap_or(Io::Read), self.commit_every.unwrap_or(COMMIT_EVERY));
        tracing::debug!("level files: {}, committed every {commits:?}", io.name());
        let mut storages: Vec<Box<dyn Storage>> = Vec::new();
        let mut places = Vec::new();
        for path in dirs {
            let named = format!("'{}'", path.display());
            let directory = made(path, io)?;
            // Two names may be of one directory.
            let place = path.canonicalize().map_err(SystemError::unopened(path))?;
            if places.contains(&place) {
                refuse!("directory {named} is given twice: specify each directory only once");
            }
            places.push(place);
            storages.push(Box::new(directory));
        }
        Ok(Disk::new(Directories::new(storages))
            .codec(self.codec)
            .commit_every(commits)
            .limit(self.disk_limit)
            .ignore_space(self.ignore_space)
            .planes(self.planes))
    }
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
    if !path.exists()
        && let Err(error) = create_directory(path)
    {
        return Err(Failure::failed(format!(
            "cannot create directory '{}': {error}; choose a location that you can write to",
            path.display()
        )));
    }
    Ok(Directory::open(path, io).map_err(SystemError::unopened(path))?)
}

/// The directories of a search that is there.
pub fn directories(paths: &[PathBuf]) -> Result<Directories> {
    let open = |path: &PathBuf| -> Result<Box<dyn Storage>> {
        Ok(Box::new(Directory::open(path, Io::Read).map_err(SystemError::unopened(path))?))
    };
    Ok(Directories::new(paths.iter().map(open).collect::<Result<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_need_units() {
        let sizes = [
            ("8GiB", 8 << 30),
            ("8G", 8 << 30),
            ("512k", 512 << 10),
            ("1.5 kB", 1500),
            ("500mb", 500_000_000),
            ("7B", 7),
        ];
        for (text, expected) in sizes {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        let wrong = "8 GiB 8GiBs -8GiB 1e99GiB 9999999999999TB . 8Gb 8bb 8i";
        for text in wrong.split(' ').chain([""]) {
            assert!(bytes(text).is_err(), "{text}");
        }
        let rates = [
            ("5GB/s", 5_000_000_000),
            ("5Gb/s", 625_000_000),
            ("40Gbit/s", 5_000_000_000),
            ("1GiB/s", 1 << 30),
        ];
        for (text, expected) in rates {
            assert_eq!(bandwidth(text), Ok(expected), "{text}");
        }
        for text in ["5GB", "5", "/s", "0MB/s", "-1GB/s", "b/s"] {
            assert!(bandwidth(text).is_err(), "{text}");
        }
        let times = [("0", 0), ("500ms", 500), ("2.5", 2500), ("1.5 min", 90_000)];
        for (text, expected) in times {
            assert_eq!(time(text), Ok(Duration::from_millis(expected)), "{text}");
        }
        for text in ["", "5x", "s", "-1s", "1e9999s", "3 days"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
