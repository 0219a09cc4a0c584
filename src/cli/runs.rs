//! `tilewave resume`, `check` and `cache`: searches on disk, what is known of searches, and whether
//! files and directories of this program are intact.
//!
//! Directories given together are those of one run. `check` asks `info` what a path is.

use std::{
    collections::BTreeSet,
    io::ErrorKind::NotFound,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::ValueHint::{AnyPath, DirPath};
use serde_json::json;
use tilewave::{
    Class, DistanceTable, Error, Pdb, Resources, Search,
    internals::binary_bytes,
    pdb::{self, Build, PdbError, SetFile, Summary, inspect},
    progress::StopWhen,
    pruning::{CosetTable, PruningTable},
    puzzle::{Puzzle, Searched},
    report::{bytes, counted, csv_field, described, thousands},
    search::disk,
    table::TableError,
};

use crate::{
    Ahead, Context, Destination, DiskOptions, Failure, FormatOption, MaxDepth, OutputFormat, Reply,
    ResourceOptions, Result, ResultReport, SearchProgress, bfs, count, directories, drawn_seed,
    info::{self, LogFacts, OwnFile},
    platform::CACHES,
    print, progress, refuse, refuse_in_lists,
    solve::{cache_dir, is_kept, is_kept_cosets, table_name},
    tiles,
};

/// Resume a search on disk.
#[derive(clap::Args)]
#[command(after_help = "Example: tilewave resume RUN")]
pub struct ResumeArgs {
    /// The directories of the search, in the order given when it was started.
    #[arg(required = true, value_name = "DIR", value_hint = DirPath)]
    dirs: Vec<PathBuf>,

    #[command(flatten)]
    max_depth: MaxDepth,

    #[command(flatten)]
    ahead: Ahead,

    /// Check all files first; if all levels were kept (--keep-levels all), recompute damaged levels.
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    report: ResultReport,

    #[command(flatten)]
    resources: ResourceOptions,

    #[command(flatten)]
    on_disk: DiskOptions,
}

impl ResumeArgs {
    pub fn run(&self) -> Result<()> {
        let dirs = &self.dirs;
        let (found, keep_all, symmetric) = disk::search(&directories(dirs)?)?;
        let disk = self.on_disk.disk_in(dirs)?.keep_all(keep_all).check(self.check);
        let max_depth = self.max_depth.max_depth;
        match found {
            Searched::Numbered(space) => {
                self.ahead.refuse(false, &space)?;
                let search = Search::of(space).max_depth(max_depth);
                let search = search.resources(self.resources.get()?);
                bfs::run(&self.report, &self.resources, search, Some(disk))
            }
            Searched::Listed(puzzle) => {
                refuse_in_lists(self.on_disk.for_numbers(), &puzzle)?;
                let mut search = bfs::list_search(puzzle, max_depth, &self.ahead, &self.resources)?;
                search.symmetry = symmetric;
                bfs::run_lists(&search, &self.report, &self.resources, Some(disk))
            }
        }
    }
}

// `tilewave check`: whether files are intact.

/// Verify the checksums of files; with --full, also every entry of databases and tables.
#[derive(clap::Args)]
#[command(
    after_help = "All checksums are verified. For databases, some random entries are also compared \
                  with A* searches. The exit code is 1 if anything is damaged or \
                  wrong.\n\nExamples:\n  tilewave check RUN\n  tilewave check *.pdb \
                  *.table\n  tilewave check --full 7.pdb"
)]
pub struct CheckArgs {
    /// Files or directories; list all directories of a search on disk together, in their original order.
    #[arg(required = true, value_name = "PATH", value_hint = AnyPath)]
    paths: Vec<PathBuf>,

    /// First rebuild the missing or damaged manifest of a search on disk from its level files.
    ///
    /// A damaged manifest is kept under another name.
    #[arg(long)]
    repair: bool,

    /// Also recompute all entries of databases and distance tables, and prove every entry of pruning tables correct.
    ///
    /// Databases and distance tables are computed again and compared with the files. In a pruning table, each entry is
    /// compared with the entries of neighbouring states, which proves all entries correct.
    #[arg(long)]
    full: bool,

    /// With --full: rebuild databases with the plain builder, which shares no code with the fast builder.
    #[arg(long, requires = "full")]
    plain: bool,

    /// Number of random entries of each database to compare with A* searches.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = count::<u64>(), allow_negative_numbers = true)]
    samples: u64,

    /// Seed for the random entries [default: a random seed, which is printed].
    #[arg(long, value_name = "N", value_parser = count::<u64>(), allow_negative_numbers = true)]
    seed: Option<u64>,

    #[command(flatten)]
    resources: ResourceOptions,

    #[command(flatten)]
    format: FormatOption,
}

impl CheckArgs {
    pub fn run(&self) -> Result<()> {
        let mut destination = self.format.stdout();
        if self.repair {
            repair(&self.paths)?;
        }
        let (all, refused) = OwnFile::all(&self.paths)?;
        let seed = self.seed.map_or_else(drawn_seed, Ok)?;
        let resources = self.resources.get()?;
        progress::listen();
        destination.heading("path,type,pass,checked")?;
        let (mut failed, mut unread) = (0, refused);
        for file in &all {
            let (path, kind) = file.named();
            match self.check(file, seed, resources) {
                Ok((pass, checked)) => {
                    failed += u64::from(pass == Some(false));
                    let verdict = match pass {
                        Some(true) => "PASS ",
                        Some(false) => "FAIL ",
                        None => "SOUND",
                    };
                    let words = format!("{verdict} {path}: {checked}\n");
                    let figures =
                        json!({"path": path, "type": kind, "pass": pass, "checked": checked});
                    destination.line(&Reply { figures, words, csv: None })?;
                }
                Err(failure) => {
                    failure.endure()?;
                    unread = true;
                }
            }
        }
        destination.finish()?;
        if failed > 0 {
            let all = counted(all.len() as u64, "check");
            return Err(Failure::failed(format!("{failed} of {all} failed")));
        }
        Failure::unless(!unread)
    }

    fn check(&self, file: &OwnFile, seed: u64, resources: Resources) -> Result<Finding> {
        judged(match file {
            OwnFile::Search(dirs) => return search(dirs),
            OwnFile::Build(dir) => {
                info::build(dir)?;
                let checked = "an unfinished build: to continue the build and check its levels, \
                               repeat the command that started it";
                return Ok((None, checked.into()));
            }
            OwnFile::Set(set) => self.set(set, seed, resources),
            OwnFile::Database(file) => self.database(file, seed, resources),
            OwnFile::Table(file) => self.table(file, resources),
            OwnFile::Pruning(file) => self.pruning(file, resources),
            OwnFile::Cosets(file) => self.cosets(file, resources),
            OwnFile::Log(file) => LogFacts::of(file).map(|LogFacts { solved, boards, .. }| {
                format!("every line is intact; {solved} of {boards} boards are solved")
            }),
        })
    }

    fn set(&self, set: &Path, seed: u64, resources: Resources) -> Result<String, Error> {
        let files: BTreeSet<PathBuf> =
            SetFile::read(set)?.partitions.concat().into_iter().collect();
        let mut noun = "database";
        for file in &files {
            match OwnFile::find(file) {
                Ok(OwnFile::Pruning(table)) => {
                    noun = "pruning table";
                    self.pruning(&table, resources)?;
                }
                Ok(OwnFile::Cosets(table)) => {
                    noun = "coset table";
                    self.cosets(&table, resources)?;
                }
                _ => drop(self.database(file, seed, resources)?),
            }
        }
        let each = if files.len() == 1 { "which" } else { "each of which" };
        Ok(format!("{}, {each} is intact", counted(files.len() as u64, noun)))
    }

    fn table(&self, file: &Path, resources: Resources) -> Result<String, Error> {
        let table = DistanceTable::open(file)?;
        table.check()?;
        if !self.full {
            return Ok("the checksums are correct".into());
        }
        let depth = table.histogram().len() - 1;
        let all = table.space().states() == Some(table.histogram().iter().sum());
        let search = Search::of(table.space().clone()).max_depth((!all).then_some(depth));
        let search = search.resources(resources);
        let again = DistanceTable::build_with(&search, table.encoding(), &SearchProgress::new())?;
        if (again.checksum(), again.histogram()) != (table.checksum(), table.histogram()) {
            let wrong = "the entries differ from those of a newly built table: build the table \
                         again with tilewave table"
                .into();
            return Err(PdbError::Wrong(wrong).into());
        }
        Ok("the checksums are correct, and a newly built table has the same entries".into())
    }

    fn pruning(&self, file: &Path, resources: Resources) -> Result<String, Error> {
        let check = || -> Result<String, Error> {
            if !self.full {
                PruningTable::open(file)?.check()?;
                return Ok("the checksums are correct".into());
            }
            let table = PruningTable::load_with(file, &StopWhen(progress::asked))?;
            table.verify(&SearchProgress::new())?;
            Ok("the checksums are correct, and every entry agrees with those of its neighbours"
                .into())
        };
        resources.install(check)?
    }

    fn cosets(&self, file: &Path, resources: Resources) -> Result<String, Error> {
        if !self.full {
            CosetTable::open(file)?.check()?;
            return Ok("the checksums are correct".into());
        }
        let table = CosetTable::load_with(file, &StopWhen(progress::asked))?;
        table.verify(resources, &SearchProgress::new())?;
        Ok("the checksums are correct, and a newly built table has the same entries".into())
    }

    fn database(&self, file: &Path, seed: u64, resources: Resources) -> Result<String, Error> {
        let table = Pdb::load(file)?;
        let progress = SearchProgress::new();
        if self.full {
            let how = Build::new(table.pattern().clone()).plain(self.plain).resources(resources);
            pdb::rebuild(&table, &how, &progress)?;
            let builder = if self.plain { " with the plain builder" } else { "" };
            return Ok(format!(
                "the checksums are correct, and a database newly built{builder} has the same \
                 entries, order and histogram"
            ));
        }
        let check = pdb::spot_check(&table, self.samples, seed, &progress)?;
        let given_up = match check.undecided {
            0 => String::new(),
            1 => ", 1 search abandoned".into(),
            n => format!(", {n} searches abandoned"),
        };
        let confirmed = counted(check.confirmed, "entry");
        Ok(format!(
            "the checksums are correct, and searches confirm {confirmed} (seed {seed}{given_up})"
        ))
    }
}

/// Rebuilds the manifest of the search in some directories, and says what was found.
fn repair(dirs: &[PathBuf]) -> Result<()> {
    let found = disk::repair(&directories(dirs)?, Duration::from_secs(10))?;
    let manifest = &found.manifest;
    let levels = manifest.levels.len();
    let states = manifest.levels.iter().map(|level| level.states).sum();
    for damaged in &found.damaged {
        tracing::warn!("damaged: {damaged}");
    }
    if let Some(kept) = &found.kept {
        tracing::info!("the damaged manifest is kept as {kept}");
    }
    let ending = match manifest.complete {
        true => "complete".into(),
        false => {
            let done = manifest.files_of(levels as u32).map_or(0, |files| files.chunks.len());
            format!("{done} of {} chunks of depth {levels} done", manifest.chunks)
        }
    };
    tracing::info!(
        "rebuilt the manifest from {}{}: {}, depths 0 to {}, {} states; {ending}",
        counted(found.files as u64, "level file"),
        if found.previous { " and the previous manifest" } else { "" },
        described(&found.searched),
        levels.saturating_sub(1),
        thousands(states),
    );
    Ok(())
}

/// Whether a path passes, and what was checked. What is not finished passes nothing, however sound it is.
type Finding = (Option<bool>, String);

/// What a check has found: that a file is damaged or has wrong entries is no error.
fn judged(checked: Result<String, Error>) -> Result<Finding> {
    let error = match checked {
        Ok(checked) => return Ok((Some(true), checked)),
        Err(error) => error,
    };
    let wrong = match &error {
        Error::Pdb(PdbError::Wrong(_)) | Error::Table(TableError::Wrong(_)) => true,
        Error::System(error) => error.is_damage(),
        _ => false,
    };
    if wrong { Ok((Some(false), error.to_string())) } else { Err(error.into()) }
}

fn search(dirs: &[PathBuf]) -> Result<Finding> {
    let directories = directories(dirs)?;
    let status = disk::status(&directories)?;
    let found = match disk::verify_with(&directories, &StopWhen(progress::asked)) {
        Err(error) if error.class() == Class::Failed => {
            return Ok((Some(false), error.to_string()));
        }
        found => found?,
    };
    let (files, states) = (counted(found.files, "file"), counted(found.states, "state"));
    let finished = status.depth.is_none();
    let levels = status.manifest.levels.len();
    let which = if status.manifest.keep_all {
        "all levels are correct".into()
    } else {
        // Of the level before the last one, some files may be gone.
        let files = status.manifest.files.iter();
        let with_files = files.filter(|files| (files.depth as usize) < levels).count();
        let others = counted((levels - with_files) as u64, "level");
        let all = finished && status.all_states == Some(status.states());
        let sum = if all { ", which add up to all states" } else { "" };
        format!("all files are correct; of {others} there are only counts{sum}")
    };
    let mut checked = format!(
        "{}, {files}, {}, {states}; the checksums and counts of {which}",
        status.searched,
        bytes(found.bytes)
    );
    if !finished {
        let depth = status.manifest.levels.len().saturating_sub(1);
        let share = |all: u64| {
            let share = status.states() as f64 * 100.0 / all as f64;
            format!(", {share:.1} % of the states")
        };
        let share = status.all_states.map_or(String::new(), share);
        checked += &format!("; NOT FINISHED, complete to depth {depth}{share}");
        checked += ": tilewave resume continues the search";
    }
    Ok((finished.then_some(true), checked))
}

// `tilewave cache`: what `tilewave solve` keeps.

/// The databases and tables that tilewave solve has built and kept.
#[derive(clap::Subcommand)]
pub enum CacheCommand {
    /// List them.
    List(CacheListArgs),
    /// Remove them, but no other files.
    Clean(CachePlace),
    /// Print the directory that they are in.
    Dir,
}

#[derive(clap::Args)]
pub struct CachePlace {
    #[arg(long, value_name = "DIR", value_hint = DirPath, help = format!("Cache directory [default: {CACHES}]"))]
    cache_dir: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct CacheListArgs {
    #[command(flatten)]
    place: CachePlace,

    #[command(flatten)]
    of: FormatOption,
}

impl CacheCommand {
    pub fn run(&self) -> Result<()> {
        let (place, format, clears) = match self {
            CacheCommand::List(args) => (args.place.cache_dir.as_deref(), args.of.format, false),
            CacheCommand::Clean(place) => (place.cache_dir.as_deref(), OutputFormat::Text, true),
            CacheCommand::Dir => (None, OutputFormat::Text, false),
        };
        let Some(dir) = cache_dir(place) else {
            refuse!("there is no home directory: specify a cache directory with --cache-dir");
        };
        if let CacheCommand::Dir = self {
            return print(&format!("{}\n", dir.display()));
        }
        let destination = Destination::stdout(format);
        let unread = || format!("cannot read '{}'", dir.display());
        let entries = match std::fs::read_dir(&dir) {
            Err(error) if error.kind() == NotFound => None,
            entries => Some(entries.context(unread())?),
        };
        let mut kept = Vec::new();
        for entry in entries.into_iter().flatten() {
            let path = entry.context(unread())?.path();
            // What is not what its name says is not ours to list or remove.
            let holds = match OwnFile::find(&path) {
                Ok(OwnFile::Database(_)) => {
                    let summary = inspect(&path).ok().filter(|summary| is_kept(&path, summary));
                    summary.map(|Summary { pattern, .. }| {
                        format!("{} tiles {}", pattern.size(), tiles(pattern.tiles()))
                    })
                }
                Ok(OwnFile::Cosets(_)) => {
                    let puzzle = CosetTable::open(&path).ok().map(|of| of.puzzle().clone());
                    let kept = |puzzle: &Puzzle| is_kept_cosets(&path, puzzle);
                    puzzle.filter(kept).map(|puzzle| format!("{puzzle}, cosets"))
                }
                Ok(OwnFile::Pruning(_)) => {
                    let puzzle = PruningTable::open(&path).ok().map(|table| table.puzzle().clone());
                    let kept = |puzzle: &Puzzle| path.ends_with(table_name(puzzle));
                    puzzle.filter(kept).map(|puzzle| puzzle.to_string())
                }
                _ => None,
            };
            let Some(holds) = holds else { continue };
            let size = std::fs::metadata(&path)?.len();
            if clears {
                std::fs::remove_file(&path)
                    .context(format!("cannot remove '{}'", path.display()))?;
            }
            kept.push((path.display().to_string(), size, holds));
        }
        kept.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let (mut files, mut words, mut csv) = (Vec::new(), String::new(), String::new());
        for (file, size, holds) in &kept {
            files.push(json!({"file": file, "bytes": size, "holds": holds}));
            csv += &format!("{},{size}\n", csv_field(file));
            let name = Path::new(file).file_name().unwrap_or_default();
            words += &format!("{:>10}  {holds}  {}\n", binary_bytes(*size), name.display());
        }
        let all: u64 = kept.iter().map(|(_, size, _)| size).sum();
        let dir = dir.display().to_string();
        let verb = if clears { "removed from" } else { "in" };
        let count = counted(kept.len() as u64, "file");
        words += &format!("{count}, {} {verb} {dir}\n", bytes(all));
        let figures = json!({"directory": dir, "bytes": all, "files": files});
        destination.write("file,bytes", &Reply { figures, words, csv: Some(csv) })
    }
}
