//! `tilewave pdb build`, `plan`, `probe` and `export`: databases one by one, to be built or there already.
//!
//! A set is built with [`build_file`] too, and every command that shows a database shows its [`database_figures`].

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use serde_json::{Value, json};
use tilewave::{
    Board, Directory, Io, Pattern, Pdb, Size, Storage,
    internals::{self, MemoryDirectory},
    pdb::{
        self, Build, DiskBuild, Encoding, ExportLayout, Kind, PdbError, Summary, check_disjoint,
    },
    puzzle::PuzzleError,
    report::{bytes, duration, thousands, value_histogram},
};

use crate::{
    Destination, FormatOption, GoalOption, MadeDirectories, OutputFile, OutputFormat, Reply,
    ResourceOptions, Result, SearchProgress, Threads, choice, counts_csv, made, read_input, refuse,
    tiles, with_more,
};

// Databases to be built.

/// The databases of a command.
#[derive(clap::Args)]
pub struct Wanted {
    /// Board size, e.g. 4x4.
    #[arg(value_name = "ROWSxCOLS", value_parser = size)]
    size: Size,

    #[command(flatten)]
    goal: GoalOption,

    /// Tiles of one database, e.g. 1,2,5 or 1-3,7; repeat for several databases.
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
            PdbError::Pattern(words) => {
                PdbError::Pattern(format!("{words}; or specify tiles with --pattern"))
            }
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
            "the levels need about {} of disk space, but '{}' has only {} free: free some \
             space{or}",
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
        Some(on_disk) => on_disk.run(build, progress)?,
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

    /// Output file (repeat once per pattern), or a directory for all files.
    #[arg(short, long, value_name = "FILE", required = true)]
    output: Vec<PathBuf>,

    /// Replace existing files.
    #[arg(short, long)]
    force: bool,

    /// Keep the levels of the build in DIR until the database is written.
    ///
    /// With --dir, a build with one bit per entry needs only half the memory. If the build is stopped, run the same
    /// command again to continue. To abandon a build, remove DIR.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    dir: Option<PathBuf>,

    /// With --dir: start even if there seems to be too little free disk space.
    #[arg(long, requires = "dir", hide_short_help = true)]
    ignore_space: bool,

    #[command(flatten)]
    report: FormatOption,

    #[command(flatten)]
    resources: ResourceOptions,
}

/// The alternatives to freeing some space.
const OR_ANYWAY: &str = ", choose another directory, or start anyway with --ignore-space";

impl BuildArgs {
    pub fn run(&self) -> Result<()> {
        let patterns = self.wanted.patterns()?;
        if let Err(error) = check_disjoint(&patterns) {
            tracing::warn!("{error}; each database is correct on its own");
        }
        let _made = MadeDirectories::of(&[self.dir.as_slice(), &self.output].concat());
        let files = self.files(&patterns)?;
        if self.dir.is_some() && patterns.len() > 1 {
            refuse!(
                "--dir can hold the levels of only one database: build the databases one at a time"
            );
        }
        let directory = self.dir.as_ref().map(|path| made(path, Io::Read)).transpose()?;
        let mut builds = Vec::new();
        // Refuse before any work what cannot be finished.
        for (pattern, file) in patterns.iter().zip(&files) {
            OutputFile::reserve(file, self.force)?;
            let build = self.wanted.build(pattern, &self.resources)?;
            match &directory {
                None => drop(pdb::plan(&build)?),
                Some(_) if self.ignore_space => drop(pdb::plan_on_disk(&build)?),
                Some(directory) => check_space(&build, directory, OR_ANYWAY)?,
            }
            builds.push(build);
        }
        let mut destination = Destination::beside(&files[0], self.report.format);
        destination.heading("value,entries")?;
        for (i, (build, file)) in builds.iter().zip(&files).enumerate() {
            let begun = Instant::now();
            let progress = SearchProgress::of_part("database", i, patterns.len());
            let table = build_file(build, directory.as_ref(), (file, self.force), &progress)?;
            drop(progress);
            destination.line(&built(table.summary(), file, begun.elapsed().as_secs_f64()))?;
        }
        destination.finish()
    }

    fn files(&self, patterns: &[Pattern]) -> Result<Vec<PathBuf>> {
        let directory = |path: &Path| {
            path.is_dir() || path.to_string_lossy().ends_with(std::path::is_separator)
        };
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

fn built(of: &Summary, file: &Path, seconds: f64) -> Reply {
    let file = file.display();
    let more = json!({
        "file": file.to_string(),
        "seconds": seconds,
        "peak_memory_bytes": internals::peak_memory(),
    });
    let words = format!(
        "{}wrote {file}: {} tiles {}, {}, {} entries, maximum {}, mean {:.6}, {} in {}\n",
        value_histogram(&of.histogram, of.histogram.iter().sum()),
        of.pattern.size(),
        tiles(of.pattern.tiles()),
        of.kind,
        thousands(of.entries),
        of.maximum(),
        of.mean(),
        bytes(of.file_bytes()),
        duration(seconds),
    );
    let figures = with_more(database_figures(of), more);
    Reply { figures, words, csv: Some(counts_csv(&of.histogram)) }
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
    format: FormatOption,
}

/// Tiles of the database that is built to know the time: more take more than a second or two.
const SAMPLE: usize = 6;

impl PlanArgs {
    pub fn run(&self) -> Result<()> {
        let patterns = self.wanted.patterns()?;
        let mut destination = self.format.stdout();
        destination.heading("tiles,entries,bytes,memory_bytes,seconds")?;
        for pattern in &patterns {
            let build = self.wanted.build(pattern, &self.resources)?;
            let unlimited = build.clone().memory(None);
            let with_dir = pdb::plan_on_disk(&unlimited).ok();
            // Without a directory if that suffices.
            let (plan, dir) = match pdb::plan(&build) {
                Ok(plan) => (plan, false),
                Err(error) => (pdb::plan_on_disk(&build).map_err(|_| error)?, true),
            };
            let (tiles, seconds) = (tiles(pattern.tiles()), seconds(&build, plan.entries, dir)?);
            let figures = json!({
                "tiles": tiles,
                "goal": pattern.goal().to_string(),
                "kind": build.kind.name(),
                "encoding": build.encoding.name(),
                "entries": plan.entries,
                "bytes": plan.data_bytes,
                "memory_bytes": plan.memory_bytes,
                "seconds": seconds,
                "fast": plan.fast,
                // Whether it takes a directory, and what it takes with one.
                "dir": dir,
                "with_dir": with_dir.map(|plan| json!({
                    "memory_bytes": plan.memory_bytes,
                    "disk_bytes": plan.disk_bytes,
                })),
            });
            let levels = match dir {
                true => format!(", {} of disk space (with --dir)", bytes(plan.disk_bytes)),
                false => String::new(),
            };
            let words = format!(
                "{tiles}  {}, {}: {} entries in a file of {}; the build needs {} of memory{levels} \
                 and about {}\n",
                build.kind,
                build.encoding,
                thousands(plan.entries),
                bytes(plan.data_bytes),
                bytes(plan.memory_bytes),
                duration(seconds),
            );
            destination.line(&Reply { figures, words, csv: None })?;
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
        true => DiskBuild::new(&MemoryDirectory::default()).run(&sample, &progress)?,
        false => sample.run_with(&progress)?,
    };
    let seconds = begun.elapsed().as_secs_f64();
    Ok(seconds * entries as f64 / built.entries() as f64)
}

// Databases that are there.

/// What is to be said of every database.
pub fn database_figures(of: &Summary) -> Value {
    json!({
        "board": of.pattern.size().to_string(),
        "goal": of.pattern.goal().to_string(),
        "tiles": of.pattern.tiles(),
        "kind": of.kind.name(),
        "encoding": of.encoding.name(),
        "entries": of.entries,
        "max": of.maximum(),
        "mean": of.mean(),
        "histogram": of.histogram,
        "bytes": of.file_bytes(),
        "checksum": format!("{:016x}", of.checksum),
    })
}

// `tilewave pdb probe`: the values of boards, and their sums.

/// Look up boards in one or more databases, and show the values and their sum.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave pdb probe '15 2 1 12/8 5 6 11/4 9 10 7/3 14 13 0' --pdb 7.pdb\n  \
                  tilewave pdb probe --pdb 7.pdb --pdb 8.pdb < boards.txt"
)]
pub struct ProbeArgs {
    /// Boards, each in quotes [default: read from standard input, one per line].
    ///
    /// Tiles are separated by spaces, rows by '/'; the blank is 0.
    #[arg(value_name = "BOARD")]
    boards: Vec<String>,

    /// Pattern database to use; repeatable.
    #[arg(long, value_name = "FILE", required = true)]
    pdb: Vec<PathBuf>,

    #[command(flatten)]
    format: FormatOption,
}

impl ProbeArgs {
    pub fn run(&self) -> Result<()> {
        let mut destination = self.format.stdout();
        let tables = self.pdb.iter().map(Pdb::open);
        let tables = tables.collect::<Result<Vec<Pdb>, _>>()?;
        let patterns: Vec<Pattern> = tables.iter().map(|t| t.pattern().clone()).collect();
        if patterns.iter().any(|p| p.goal() != patterns[0].goal()) {
            refuse!("the databases have different goals: use databases for one goal at a time");
        }
        let additive = check_disjoint(&patterns).is_ok();
        let unknown = if additive {
            "not every value is known"
        } else if patterns.iter().any(Pattern::has_blank) {
            "one of the databases counts every move"
        } else {
            "the databases share tiles"
        };
        let given = self.boards.iter().filter(|board| *board != "-");
        let mut boards: Vec<String> = given.cloned().collect();
        if boards.is_empty() {
            let text = read_input(Path::new("-"))?;
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            boards = lines.map(String::from).collect();
        }
        destination.heading("board,values,sum")?;
        for text in &boards {
            let board = Board::parse(text, Some(patterns[0].size()))?;
            let values = tables.iter().map(|table| table.value(&board));
            let values = values.collect::<Result<Vec<Option<u8>>, _>>()?;
            let sum: Option<u32> = values.iter().map(|v| v.map(u32::from)).sum();
            let sum = sum.filter(|_| additive);
            // What is not known is null in JSON and a dash elsewhere.
            let shown = values.iter().map(|value| value.map_or("-".into(), |v| v.to_string()));
            let shown = shown.collect::<Vec<_>>().join(" ");
            let figures = json!({"board": board.to_string(), "values": values, "sum": sum});
            let words = match sum {
                Some(sum) => format!("{board}  {shown}  sum {sum}\n"),
                None => format!("{board}  {shown}  no sum: {unknown}\n"),
            };
            let sum = sum.map_or("-".into(), |sum| sum.to_string());
            let csv = Some(format!("{board},{shown},{sum}\n"));
            destination.line(&Reply { figures, words, csv })?;
        }
        destination.finish()
    }
}

// `tilewave pdb export`: a database in another form.

/// Write a database as a raw table in another solver's layout.
#[derive(clap::Args)]
#[command(after_help = "The layouts are described in docs/format.md.")]
pub struct Export {
    /// Database file to read.
    file: PathBuf,

    /// File to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Replace an existing file.
    #[arg(short, long)]
    force: bool,

    /// Layout of the table.
    #[arg(long, value_parser = choice(ExportLayout::NAMES))]
    layout: ExportLayout,

    #[command(flatten)]
    threads: Threads,
}

impl Export {
    pub fn run(&self) -> Result<()> {
        OutputFile::reserve(&self.output, self.force)?;
        let progress = SearchProgress::new();
        let resources = tilewave::Resources::new().threads(self.threads.get());
        let write = || {
            let pdb = Pdb::load(&self.file)?;
            pdb::export(&pdb, self.layout, &self.output, self.force, &progress)
        };
        let written = resources.install(write)??;
        drop(progress);
        let (path, size) = (self.output.display(), bytes(written));
        let words = format!("wrote {path}: {} layout, {size}\n", self.layout);
        Destination::beside(&self.output, OutputFormat::Text).add(&words)
    }
}
