//! `tilewave pdb build`: one or several databases.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::json;
use tilewave::internals::{self, Directory, Io, MemoryDirectory, Storage};
use tilewave::pdb::{
    self, Build, DiskBuild, Encoding, Kind, Pattern, Pdb, PdbError, check_disjoint, check_partition,
};
use tilewave::puzzle::Size;
use tilewave::report::{bytes, duration, histogram, thousands};

use crate::cli::disk::MadeDirectories;
use crate::cli::failure::refuse;
use crate::cli::options::{
    FORMATS, GoalOption, Memory, OutputFormat, OutputOptions, Threads, choice, kernel,
};
use crate::cli::output::{OutputFile, print_beside};
use crate::cli::pdb::inspect::{figures, tiles, written};
use crate::cli::progress::{SearchProgress, part};

/// The databases of a command.
#[derive(clap::Args)]
pub struct Wanted {
    /// Size of the board, rows x columns.
    #[arg(long, value_name = "SIZE")]
    size: Size,

    #[command(flatten)]
    goal: GoalOption,

    /// Tiles of a database and ranges of them, 1-3,7; may be given several times.
    #[arg(long, value_name = "TILES", required_unless_present = "partition")]
    pattern: Vec<String>,

    /// Databases of a standard partition: 7-8, 6-6-3 or 5-5-5 (4x4), 6-6-6-6 (5x5).
    #[arg(long, value_name = "NAME", conflicts_with = "pattern")]
    partition: Option<String>,

    /// What an entry is a value of [default: additive-min, or region-aware for one bit an entry].
    #[arg(long, value_parser = choice(Kind::NAMES))]
    kind: Option<Kind>,

    /// How values are stored: a byte, or one bit.
    #[arg(long, value_parser = choice(Encoding::NAMES), default_value = "byte")]
    encoding: Encoding,
}

impl Wanted {
    /// Returns the patterns.
    pub fn patterns(&self) -> Result<Vec<Pattern>> {
        let goal = self.goal.board(self.size)?;
        let Some(name) = &self.partition else {
            let texts = self.pattern.iter();
            let patterns = texts.map(|text| Ok(Pattern::parse(goal.clone(), text)?));
            return patterns.collect();
        };
        Ok(pdb::partition(name, &goal)?)
    }

    /// Returns the build of a pattern, by the kernel of the environment.
    pub fn build(&self, pattern: &Pattern) -> Result<Build> {
        Ok(Build {
            kind: self.kind.unwrap_or(match self.encoding {
                Encoding::Bit => Kind::Regions,
                Encoding::Byte => Kind::Minimum,
            }),
            encoding: self.encoding,
            kernel: kernel()?,
            ..Build::new(pattern.clone())
        })
    }
}

/// Build additive pattern databases.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave pdb build --size 4x4 --pattern 1,2,3,4,5,6,7 -o 7.pdb\n  \
                  tilewave pdb build --size 4x4 --goal first --partition 7-8 -o databases/\n  \
                  tilewave pdb build --size 5x5 --pattern 1,2,3,6,7,8,11 --encoding bit -o 7.pdb\n  \
                  tilewave pdb build --size 5x5 --pattern 1,2,3,6,7,8,11,12 --encoding bit --dir levels -o 8.pdb"
)]
pub struct BuildArgs {
    #[command(flatten)]
    wanted: Wanted,

    /// Refuse patterns that share tiles or leave tiles out.
    #[arg(long)]
    disjoint: bool,

    /// File to write, once per pattern; or a directory, for files named by size and tiles.
    #[arg(short, long, value_name = "FILE", required = true)]
    output: Vec<PathBuf>,

    /// Replace existing files.
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    memory: Memory,

    /// Keep the levels in files of this directory until the database is written: one bit an entry then takes half the
    /// memory, and a build that was stopped goes on. Remove the directory to give it up.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, conflicts_with = "plain")]
    dir: Option<PathBuf>,

    /// With --dir: start also when there is less disk than the levels take, by the estimate.
    #[arg(long, requires = "dir")]
    ignore_space: bool,

    /// Use the plain builder: slow, independent of the fast one.
    #[arg(long)]
    plain: bool,

    /// How to write the result.
    #[arg(long, value_parser = choice(FORMATS), default_value = "text")]
    format: OutputFormat,
}

/// Refuses a build whose levels do not fit the disk.
pub fn check_space(build: &Build, directory: &Directory) -> Result<()> {
    let plan = pdb::plan_on_disk(build)?;
    let (free, there) = DiskBuild::new(directory).space()?;
    let needed = plan.disk_bytes.saturating_sub(there);
    match free {
        Some(free) if free < needed => {
            Err(PdbError::Space { directory: directory.name(), needed, free }.into())
        }
        _ => Ok(()),
    }
}

impl BuildArgs {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let patterns = self.wanted.patterns()?;
        if self.disjoint {
            check_partition(&patterns)?;
        } else if let Err(error) = check_disjoint(&patterns) {
            tracing::warn!("{error}; each database is right by itself");
        }
        let files = self.files(&patterns)?;
        let (threads, memory) = (self.threads.get(), self.memory.budget());
        let build = |pattern: &Pattern| -> Result<Build> {
            Ok(Build {
                threads,
                memory: Some(memory),
                plain: self.plain,
                ..self.wanted.build(pattern)?
            })
        };
        if self.dir.is_some() && patterns.len() > 1 {
            refuse!("--dir serves one database: build them one after the other");
        }
        let made = MadeDirectories::of(self.dir.as_slice());
        let directory = self.directory()?;
        // Refuse before any work what cannot be finished.
        for (pattern, file) in patterns.iter().zip(&files) {
            OutputFile::reserve(file, self.force)?;
            match &directory {
                None => pdb::plan(&build(pattern)?).map(|_| ())?,
                Some(_) if self.ignore_space => pdb::plan_on_disk(&build(pattern)?).map(|_| ())?,
                Some(directory) => check_space(&build(pattern)?, directory)?,
            }
        }
        for (i, (pattern, file)) in patterns.iter().zip(&files).enumerate() {
            let begun = Instant::now();
            let part = part(i, patterns.len());
            let progress = SearchProgress::of_part(part);
            let on_disk = directory.as_ref().map(|directory| DiskBuild::new(directory));
            let table = match &on_disk {
                None => pdb::build(&build(pattern)?, &progress)?,
                Some(on_disk) => on_disk.build(&build(pattern)?, &progress)?,
            };
            table.save(file, self.force, &progress)?;
            on_disk.map_or(Ok(()), |on_disk| on_disk.clear())?;
            drop(progress);
            let report = self.report(&table, file, begun.elapsed().as_secs_f64());
            print_beside(file, &report)?;
        }
        drop(made);
        Ok(())
    }

    /// The directory of the levels.
    fn directory(&self) -> Result<Option<Directory>> {
        let open = |path: &PathBuf| {
            Directory::create(path, Io::Read).with_context(|| format!("--dir {}", path.display()))
        };
        self.dir.as_ref().map(open).transpose()
    }

    /// The file of each pattern.
    fn files(&self, patterns: &[Pattern]) -> Result<Vec<PathBuf>> {
        let directory =
            |path: &Path| path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/');
        let files: Vec<PathBuf> = match &self.output[..] {
            [path] if directory(path) => {
                let name = |p: &Pattern| {
                    format!("{}_{}.pdb", p.size(), tiles(p.tiles()).replace(',', "-"))
                };
                patterns.iter().map(|p| path.join(name(p))).collect()
            }
            files => files.to_vec(),
        };
        if files.len() != patterns.len() {
            refuse!(
                "there are {} patterns and {} output files: give -o once per pattern, or one directory",
                patterns.len(),
                files.len()
            );
        }
        let repeated = (1..files.len()).find(|&i| files[..i].contains(&files[i]));
        if let Some(i) = repeated {
            let shown = files[i].display();
            refuse!("'{shown}' is named twice: every pattern needs its own file");
        }
        Ok(files)
    }

    fn report(&self, table: &Pdb, file: &Path, seconds: f64) -> String {
        let summary = table.summary();
        let mut figures = figures(summary);
        figures["file"] = json!(file.display().to_string());
        figures["seconds"] = json!(seconds);
        figures["peak_memory_bytes"] = json!(internals::peak_memory());
        written(self.format, summary, figures, || {
            format!(
                "{}\nwrote {}: {} tiles {}, {}, {} entries, maximum {}, mean {:.6}, {} in {}\n",
                histogram(table.histogram(), table.histogram().iter().sum()).trim_end(),
                file.display(),
                table.pattern().size(),
                tiles(table.pattern().tiles()),
                table.kind(),
                thousands(table.entries()),
                table.maximum(),
                table.mean(),
                bytes(table.file_bytes()),
                duration(seconds),
            )
        })
    }
}

// `tilewave pdb plan`: what the building of databases needs, before it starts.

/// Tell the memory, the disk and the time that the building of databases takes.
#[derive(clap::Args)]
#[command(
    after_help = "The time is that of a smaller database of the same board, built at once, times the entries; without the disk's. Exit code 1 when \
                  the memory does not suffice, not even with the levels on disk (pdb build --dir).\n\nExamples:\n  tilewave pdb plan --size 5x5 --pattern 1,2,3,6,7,8,11 \
                  --encoding bit"
)]
pub struct PlanArgs {
    #[command(flatten)]
    wanted: Wanted,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    memory: Memory,

    #[command(flatten)]
    output: OutputOptions,
}

/// Tiles of the database that is built to know the time: more take more than a second or two.
const SAMPLE: usize = 6;

impl PlanArgs {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let patterns = self.wanted.patterns()?;
        let mut destination = self.output.reserve()?;
        let format = self.output.format;
        let columns = "tiles,entries,bytes,memory_bytes,seconds";
        destination.add(&format.heading(columns))?;
        for pattern in &patterns {
            let unlimited = Build { threads: self.threads.get(), ..self.wanted.build(pattern)? };
            let build = Build { memory: Some(self.memory.budget()), ..unlimited.clone() };
            // Without a directory if that suffices.
            let on_disk = pdb::plan_on_disk(&unlimited).ok();
            let (plan, dir) = match pdb::plan(&build) {
                Ok(plan) => (plan, false),
                Err(error) => match pdb::plan_on_disk(&build) {
                    Ok(plan) => (plan, true),
                    Err(_) => return Err(error.into()),
                },
            };
            let seconds = self.seconds(&build, plan.entries, dir)?;
            let figures = json!({
                "tiles": tiles(pattern.tiles()),
                "kind": build.kind.name(),
                "encoding": build.encoding.name(),
                "entries": plan.entries,
                "bytes": plan.data_bytes,
                "memory_bytes": plan.memory_bytes,
                "seconds": seconds,
                "fast": plan.fast,
                "dir": dir,
                "with_dir": on_disk.map(|plan| json!({
                    "memory_bytes": plan.memory_bytes,
                    "disk_bytes": plan.disk_bytes,
                })),
            });
            let words = || {
                let levels = match dir {
                    true => format!(" with --dir and {} of disk there", bytes(plan.disk_bytes)),
                    false => String::new(),
                };
                format!(
                    "{}  {}, {}: {} entries, {} on disk, {} of memory{levels}, about {}\n",
                    tiles(pattern.tiles()),
                    build.kind,
                    build.encoding,
                    thousands(plan.entries),
                    bytes(plan.data_bytes),
                    bytes(plan.memory_bytes),
                    duration(seconds),
                )
            };
            destination.add(&format.line(figures, columns, words))?;
        }
        destination.finish()
    }

    /// The time of a build, by that of the same pattern without its last tiles; with its levels in files, but not the
    /// time of the disk.
    fn seconds(&self, build: &Build, entries: u64, dir: bool) -> Result<f64> {
        let tiles = build.pattern.tiles();
        let few = &tiles[..tiles.len().min(SAMPLE)];
        let sample = Build {
            memory: None,
            pattern: Pattern::new(build.pattern.goal().clone(), few)?,
            ..build.clone()
        };
        let progress = SearchProgress::new();
        let begun = Instant::now();
        let built = match dir {
            true => DiskBuild::new(&MemoryDirectory::default()).build(&sample, &progress)?,
            false => pdb::build(&sample, &progress)?,
        };
        let seconds = begun.elapsed().as_secs_f64();
        Ok(seconds * entries as f64 / built.entries() as f64)
    }
}
