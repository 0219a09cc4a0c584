//! `tilewave pdb build`: one or several databases.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use serde::Serialize;
use tilewave::{
    Directory, Io, Pattern, Pdb, Size, Storage,
    internals::{self, MemoryDirectory},
    pdb::{self, Build, DiskBuild, Encoding, Kind, PdbError, check_disjoint, check_partition},
    puzzle::PuzzleError,
    report::{bytes, duration, thousands, value_histogram},
};

use crate::cli::{
    Destination, Figures, GoalOption, MadeDirectories, OutputFile, OutputFormat, OutputOptions,
    ResourceOptions, Result, SearchProgress, choice, counts_csv, made, part,
    pdb::inspect::{DatabaseFacts, tiles},
    refuse,
};

/// The databases of a command.
#[derive(clap::Args)]
pub struct Wanted {
    /// Board size, e.g. 4x4.
    #[arg(value_name = "ROWSxCOLS", value_parser = size)]
    size: Size,

    #[command(flatten)]
    goal: GoalOption,

    /// Tiles of a database, e.g. 1,2,5 or 1-3,7; repeat for several databases.
    #[arg(long, value_name = "TILES", required_unless_present = "partition")]
    pattern: Vec<String>,

    /// All databases of a standard partition: 7-8, 6-6-3 or 5-5-5 (4x4), 6-6-6-6 (5x5).
    #[arg(long, value_name = "NAME", conflicts_with = "pattern")]
    partition: Option<String>,

    /// What an entry holds [default: additive-min, or region-aware with --encoding bit].
    #[arg(long, value_parser = choice(Kind::NAMES))]
    kind: Option<Kind>,

    /// How values are stored: in one byte or in one bit each.
    #[arg(long, value_parser = choice(Encoding::NAMES), default_value = "byte")]
    encoding: Encoding,
}

/// The parser of the size, which is not the place of tiles.
fn size(text: &str) -> Result<Size, String> {
    text.parse().map_err(|error: PuzzleError| {
        match text.bytes().all(|b| b.is_ascii_digit() || b",-".contains(&b)) {
            true => format!("'{text}' is not a board size; to specify tiles, use --pattern {text}"),
            false => error.to_string(),
        }
    })
}

impl Wanted {
    pub fn patterns(&self) -> Result<Vec<Pattern>> {
        let goal = self.goal.board(self.size)?;
        let Some(name) = &self.partition else {
            let texts = self.pattern.iter();
            return texts.map(|text| Ok(Pattern::parse(goal.clone(), text)?)).collect();
        };
        let patterns = pdb::partition(name, &goal);
        Ok(patterns.map_err(|e| match e {
            PdbError::Pattern(words) => PdbError::Pattern(format!(
                "{words}; or specify tiles with \
                --pattern"
            )),
            other => other,
        })?)
    }

    pub fn build(&self, pattern: &Pattern, resources: &ResourceOptions) -> Result<Build> {
        let kind = self.kind.unwrap_or(match self.encoding {
            Encoding::Bit => Kind::Regions,
            Encoding::Byte => Kind::Minimum,
        });
        let build = Build::new(pattern.clone()).kind(kind).encoding(self.encoding);
        Ok(build.resources(resources.get()?))
    }
}

/// The name of a database among others: size and tiles.
pub fn file_name(pattern: &Pattern) -> String {
    format!("{}_{}.pdb", pattern.size(), tiles(pattern.tiles()).replace(',', "-"))
}

/// Refuses a build whose levels do not fit the disk; `or` names the alternatives to freeing some space.
pub fn check_space(build: &Build, directory: &Directory, or: &str) -> Result<()> {
    let plan = pdb::plan_on_disk(build)?;
    let (free, there) = DiskBuild::new(directory).space()?;
    let needed = plan.disk_bytes.saturating_sub(there);
    match free {
        Some(free) if free < needed => Err(PdbError::Place(format!(
            "the levels need about {}, but '{}' has only {} free: free some space{or}",
            bytes(needed),
            directory.name(),
            bytes(free)
        ))
        .into()),
        _ => Ok(()),
    }
}

/// Builds a database, its levels in a directory where there is one until the file is written.
pub fn build_file(
    build: &Build,
    levels: Option<&Directory>,
    (file, force): (&Path, bool),
    progress: &SearchProgress,
) -> Result<Pdb> {
    let on_disk = levels.map(|levels| DiskBuild::new(levels));
    let pdb = match &on_disk {
        None => build.run_with(progress)?,
        Some(on_disk) => on_disk.run_with(build, progress)?,
    };
    pdb.save_with(file, force, progress)?;
    on_disk.map_or(Ok(()), |on_disk| on_disk.clear())?;
    Ok(pdb)
}

/// Build additive pattern databases.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  tilewave pdb build 4x4 --pattern 1,2,3,4,5,6,7 -o 7.pdb\n  \
                  tilewave pdb build 4x4 --goal first --partition 7-8 -o databases/\n  \
                  tilewave pdb build 5x5 --pattern 1,2,3,6,7,8,11 --encoding bit -o 7.pdb\n  \
                  tilewave pdb build 5x5 --pattern 1,2,3,6,7,8,11,12 --encoding bit --dir levels -o 8.pdb")]
pub struct BuildArgs {
    #[command(flatten)]
    wanted: Wanted,

    /// Require every tile to be in exactly one pattern.
    #[arg(long)]
    disjoint: bool,

    /// Output file (repeat for each pattern), or a directory.
    #[arg(short, long, value_name = "FILE", required = true)]
    output: Vec<PathBuf>,

    /// Replace existing files.
    #[arg(short, long)]
    force: bool,

    /// Keep the levels in DIR until the database is written.
    ///
    /// With --dir, a build with one bit per entry needs only half the memory. If the build is stopped, run the same
    /// command again to continue it. To abandon a build, remove DIR.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, conflicts_with = "plain")]
    dir: Option<PathBuf>,

    /// With --dir: start even if too little disk space seems to be free.
    #[arg(long, requires = "dir")]
    ignore_space: bool,

    /// Use the plain builder, which is slow but written independently of the fast one.
    #[arg(long)]
    plain: bool,

    /// Report format.
    #[arg(long, default_value = "text")]
    format: OutputFormat,

    #[command(flatten)]
    resources: ResourceOptions,
}

/// The alternatives to freeing some space.
const OR_ANYWAY: &str = ", choose another directory, or start anyway with --ignore-space";

/// What is said of a database that was built.
#[derive(Serialize)]
struct Built<'a> {
    #[serde(flatten)]
    of: DatabaseFacts<'a>,
    file: String,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
}

impl BuildArgs {
    pub fn run(&self) -> Result<()> {
        let patterns = self.wanted.patterns()?;
        if self.disjoint {
            check_partition(&patterns)?;
        } else if let Err(error) = check_disjoint(&patterns) {
            tracing::warn!("{error}; each database is correct on its own");
        }
        let _made = MadeDirectories::of(&[self.dir.as_slice(), &self.output].concat());
        let files = self.files(&patterns)?;
        if self.dir.is_some() && patterns.len() > 1 {
            refuse!(
                "--dir can hold the levels of only one database: build the databases one at a \
                     time"
            );
        }
        let directory = self.dir.as_ref().map(|path| made(path, Io::Read)).transpose()?;
        let mut builds = Vec::new();
        // Refuse before any work what cannot be finished.
        for (pattern, file) in patterns.iter().zip(&files) {
            OutputFile::reserve(file, self.force)?;
            let build = self.wanted.build(pattern, &self.resources)?;
            let build = build.plain(self.plain);
            match &directory {
                None => drop(pdb::plan(&build)?),
                Some(_) if self.ignore_space => drop(pdb::plan_on_disk(&build)?),
                Some(directory) => check_space(&build, directory, OR_ANYWAY)?,
            }
            builds.push(build);
        }
        let mut destination = Destination::beside(&files[0], self.format);
        destination.as_mut().map_or(Ok(()), |to| to.heading(Built::COLUMNS))?;
        for (i, (build, file)) in builds.iter().zip(&files).enumerate() {
            let begun = Instant::now();
            let progress = SearchProgress::of_part(part(i, patterns.len()));
            let table = build_file(build, directory.as_ref(), (file, self.force), &progress)?;
            drop(progress);
            let built = Built {
                of: DatabaseFacts::new(table.summary()),
                file: file.display().to_string(),
                seconds: begun.elapsed().as_secs_f64(),
                peak_memory_bytes: internals::peak_memory(),
            };
            destination.as_mut().map_or(Ok(()), |to| to.line(&built))?;
        }
        destination.map_or(Ok(()), Destination::finish)
    }

    /// The file of each pattern.
    fn files(&self, patterns: &[Pattern]) -> Result<Vec<PathBuf>> {
        let directory =
            |path: &Path| path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/');
        let files: Vec<PathBuf> = match &self.output[..] {
            [path] if directory(path) => {
                made(path, Io::Read)?;
                patterns.iter().map(|pattern| path.join(file_name(pattern))).collect()
            }
            files => files.to_vec(),
        };
        if files.len() != patterns.len() {
            refuse!(
                "there are {} patterns but {} output files: use -o once per pattern, or specify \
                 one directory",
                patterns.len(),
                files.len()
            );
        }
        let repeated = (1..files.len()).find(|&i| files[..i].contains(&files[i]));
        if let Some(i) = repeated {
            let shown = files[i].display();
            refuse!("'{shown}' is given twice: every pattern needs its own file");
        }
        Ok(files)
    }
}

impl Figures for Built<'_> {
    const COLUMNS: &'static str = "value,entries";

    fn csv(&self) -> String {
        counts_csv(self.of.histogram)
    }

    fn words(&self) -> String {
        let DatabaseFacts { board, kind, max, mean, histogram: values, .. } = &self.of;
        format!(
            "{}wrote {}: {board} tiles {}, {kind}, {} entries, maximum {max}, mean {mean:.6}, {} in {}\n",
            value_histogram(values, values.iter().sum()),
            self.file,
            tiles(self.of.tiles),
            thousands(self.of.entries),
            bytes(self.of.bytes),
            duration(self.seconds),
        )
    }
}

// `tilewave pdb plan`: what the building of databases needs, before it starts.

/// Estimate the memory, disk space and time that a build needs.
#[derive(clap::Args)]
#[command(
    after_help = "The time is estimated by building a smaller database for the same board; the \
                  time for disk access is not included. The exit code is 1 if there is too little \
                  memory even with the levels on disk (pdb build --dir).\n\nExample:\n  tilewave \
                  pdb plan 5x5 --pattern 1,2,3,6,7,8,11 --encoding bit"
)]
pub struct PlanArgs {
    #[command(flatten)]
    wanted: Wanted,

    #[command(flatten)]
    resources: ResourceOptions,

    #[command(flatten)]
    output: OutputOptions,
}

/// Tiles of the database that is built to know the time: more take more than a second or two.
const SAMPLE: usize = 6;

/// What the building of a database takes.
#[derive(Serialize)]
struct BuildForecast {
    tiles: String,
    kind: &'static str,
    encoding: &'static str,
    entries: u64,
    bytes: u64,
    memory_bytes: u64,
    seconds: f64,
    fast: bool,
    /// Whether it takes a directory.
    dir: bool,
    with_dir: Option<WithDirectory>,
    #[serde(skip)]
    disk_bytes: u64,
}

/// What it takes with a directory.
#[derive(Serialize)]
struct WithDirectory {
    memory_bytes: u64,
    disk_bytes: u64,
}

impl Figures for BuildForecast {
    const COLUMNS: &'static str = "tiles,entries,bytes,memory_bytes,seconds";

    fn words(&self) -> String {
        let BuildForecast { tiles, kind, encoding, .. } = self;
        let levels = match self.dir {
            true => format!(", {} of disk space (with --dir)", bytes(self.disk_bytes)),
            false => String::new(),
        };
        format!(
            "{tiles}  {kind}, {encoding}: {} entries in a file of {}; the build needs {} of \
             memory{levels} and about {}\n",
            thousands(self.entries),
            bytes(self.bytes),
            bytes(self.memory_bytes),
            duration(self.seconds),
        )
    }
}

impl PlanArgs {
    pub fn run(&self) -> Result<()> {
        let patterns = self.wanted.patterns()?;
        let mut destination = self.output.reserve()?;
        destination.heading(BuildForecast::COLUMNS)?;
        for pattern in &patterns {
            let build = self.wanted.build(pattern, &self.resources)?;
            let unlimited = build.clone().memory(None);
            let with_dir = pdb::plan_on_disk(&unlimited).ok();
            // Without a directory if that suffices.
            let (plan, dir) = match pdb::plan(&build) {
                Ok(plan) => (plan, false),
                Err(error) => (pdb::plan_on_disk(&build).map_err(|_| error)?, true),
            };
            destination.line(&BuildForecast {
                tiles: tiles(pattern.tiles()),
                kind: build.kind.name(),
                encoding: build.encoding.name(),
                entries: plan.entries,
                bytes: plan.data_bytes,
                memory_bytes: plan.memory_bytes,
                seconds: seconds(&build, plan.entries, dir)?,
                fast: plan.fast,
                dir,
                with_dir: with_dir.map(|plan| WithDirectory {
                    memory_bytes: plan.memory_bytes,
                    disk_bytes: plan.disk_bytes,
                }),
                disk_bytes: plan.disk_bytes,
            })?;
        }
        destination.finish()
    }
}

/// The time of a build, by that of the same pattern without its last tiles; with its levels in files, but not the
/// time of the disk.
fn seconds(build: &Build, entries: u64, dir: bool) -> Result<f64> {
    let tiles = build.pattern.tiles();
    let few = &tiles[..tiles.len().min(SAMPLE)];
    let pattern = Pattern::new(build.pattern.goal().clone(), few)?;
    let sample = build.clone().memory(None).pattern(pattern);
    let progress = SearchProgress::new();
    let begun = Instant::now();
    let built = match dir {
        true => DiskBuild::new(&MemoryDirectory::default()).run_with(&sample, &progress)?,
        false => sample.run_with(&progress)?,
    };
    let seconds = begun.elapsed().as_secs_f64();
    Ok(seconds * entries as f64 / built.entries() as f64)
}
