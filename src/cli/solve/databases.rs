//! The databases of a solver: files given, or a set that is built once and kept.
//!
//! `solve` and `states` ask [`Databases`] when there is a state to solve; [`get_all`] opens what is kept and builds the
//! rest. `pdb set` and `cache` know the same places.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use tilewave::{
    Board, Error, Mapped, Pattern, Pdb, Resources, SystemError,
    internals::{self, parse_bytes as bytes_of},
    pdb::{self, Build, Encoding, PdbError, SetFile, Summary},
    progress::{LevelDone, NoProgress, Phase, Progress, StopWhen},
    pruning::{CosetTable, PruningTable},
    puzzle::Puzzle,
    report::{bytes, duration},
    solve::{DatabaseSource, GivenDatabase, PuzzleSolver, SolverTables},
};

use crate::{
    Context, Failure, Result, SearchProgress, first_given,
    info::OwnFile,
    options,
    platform::{self, CACHES, caches},
    progress, refuse, tiles,
};

/// Where databases come from.
#[derive(clap::Args, Clone, Default)]
pub struct Databases {
    /// Pattern database, set file or pruning table to use; repeatable.
    ///
    /// Databases must not share tiles, because their values are added. For all-moves databases and for tables, the
    /// largest value is used instead.
    #[arg(long, value_name = "FILE", conflicts_with = "partition")]
    pub pdb: Vec<PathBuf>,

    /// Distance table to use instead of searching.
    ///
    /// The table also sets the goal.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pdb", "partition"])]
    pub table: Option<PathBuf>,

    /// Partition of the tiles: 7-8, 6-6-3 or 5-5-5 (4x4), 6-6-6-6 (5x5).
    ///
    /// By default, every pattern has at most six tiles, as in 6-6-3 (4x4) and 6-6-6-6 (5x5); a board that turns out to be
    /// hard is continued with 7-8 (4x4). Databases that are not in the cache are built first.
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,

    /// Memory limit for building databases, e.g. 500MB, 8GiB or 8G [default: half of the free memory].
    ///
    /// For puzzles other than boards, tables are chosen that fit in this memory.
    #[arg(short = 'M', long, value_name = "BYTES", value_parser = bytes_of, conflicts_with_all = ["pdb", "table"], hide_short_help = true)]
    memory: Option<u64>,

    #[arg(long, value_name = "DIR", hide_short_help = true,
        help = format!("Cache directory, in which built databases are kept [default: {CACHES}]"))]
    cache_dir: Option<PathBuf>,

    /// Do not use the cache: build databases again, and do not keep them.
    #[arg(long, conflicts_with = "cache_dir", hide_short_help = true)]
    no_cache: bool,
}

impl Databases {
    /// Those that are kept, or that fit in this memory if it is given.
    pub fn within(memory: Option<u64>) -> Databases {
        Databases { memory, ..Databases::default() }
    }

    /// The databases for a goal: those given, else those kept, else new ones, which are kept.
    pub fn get(&self, goal: &Board, threads: Option<usize>) -> Result<Vec<Vec<Arc<Pdb>>>> {
        let files = self.pdb.iter().cloned().map(GivenDatabase::File).collect();
        let source = match self.pdb.is_empty() {
            true => DatabaseSource::Partition(self.partition.clone()),
            false => DatabaseSource::Given(files),
        };
        let side = goal.size().rows().max(goal.size().cols());
        self.of_source(source, goal, threads, &NoProgress).map_err(|error| match error {
            Error::Pdb(PdbError::Pattern(_)) if side > Pattern::MAX_SIDE => Failure::usage(
                format!("{error}; --fast solves boards of any size, but with more moves"),
            ),
            error => error.into(),
        })
    }

    /// The larger databases for boards that are hard, unless databases were chosen. An observer may stop the building.
    pub fn get_larger(
        &self,
        goal: &Board,
        threads: Option<usize>,
        watch: &dyn Progress,
    ) -> Result<Option<Vec<Vec<Arc<Pdb>>>>, Error> {
        let chosen = !self.pdb.is_empty() || self.partition.is_some() || self.table.is_some();
        let source = DatabaseSource::of_hard_boards(goal).filter(|_| !chosen);
        let Some(source) = source else { return Ok(None) };
        DatabaseSource::if_memory_allows(self.of_source(source, goal, threads, watch))
    }

    /// Databases from a source; what is built is kept, unless an observer stops that.
    fn of_source(
        &self,
        source: DatabaseSource,
        goal: &Board,
        threads: Option<usize>,
        watch: &dyn Progress,
    ) -> Result<Vec<Vec<Arc<Pdb>>>, Error> {
        let build = |builds: Vec<Build>| {
            let cache = self.cache();
            let file =
                |build: &Build| Some(cache.as_ref()?.join(name(&build.pattern, build.encoding)));
            // None is built if another one cannot be.
            for build in
                builds.iter().filter(|build| !file(build).is_some_and(|file| file.is_file()))
            {
                pdb::plan(&build.clone().memory(self.budget()))?;
            }
            get_all(
                (cache.as_deref(), "pattern databases"),
                &builds,
                |build| name(&build.pattern, build.encoding),
                |path, build| {
                    let is_this = |pdb: &Pdb| {
                        *pdb.pattern() == build.pattern
                            && (pdb.kind(), pdb.encoding()) == (build.kind, build.encoding)
                    };
                    open(path).ok().filter(is_this)
                },
                |build, progress| {
                    let build = build.clone().threads(threads).memory(self.budget());
                    Ok(build.run_with(&Watched(progress, watch))?)
                },
                |pdb, path, progress| Ok(pdb.save_with(path, true, progress)?),
                Pdb::file_bytes,
            )
        };
        source.get(goal, |path| Ok(open(path)?), build)
    }

    /// What solves a puzzle: the tables given, else those kept, else new ones, which are kept.
    pub fn solver(
        &self,
        puzzle: &Puzzle,
        threads: Option<usize>,
        first: FirstTable,
    ) -> Result<PuzzleSolver> {
        let resources = Resources::new().threads(threads).kernel(options::kernel()?);
        if let Some(table) = self.given_cosets(puzzle)? {
            return Ok(PuzzleSolver::two_sided(table)?.with_kernel_of(resources)?);
        }
        if !self.pdb.is_empty() {
            return Ok(PuzzleSolver::new(puzzle.clone(), self.tables(puzzle, threads)?)?);
        }
        let budget = self.budget();
        let (bytes, hard) = match SolverTables::of(puzzle, self.memory, budget)? {
            SolverTables::Cosets { bytes, hard } => (bytes, hard),
            SolverTables::Projections(all) => {
                return Ok(PuzzleSolver::new(puzzle.clone(), self.tables_of(&all, threads)?)?);
            }
        };
        let solver =
            |table| Ok::<_, Error>(PuzzleSolver::two_sided(table)?.with_kernel_of(resources)?);
        let kept = self.memory.is_none().then(|| self.kept_cosets(puzzle, budget)).flatten();
        let table = match kept {
            Some(kept) => kept,
            None => {
                let large = hard.filter(|_| first == FirstTable::Large);
                self.cosets(puzzle, large.unwrap_or(bytes), resources, &NoProgress)?
            }
        };
        let is_growing = first == FirstTable::Growing;
        let Some(most) = hard.filter(|hard| is_growing && table.file_bytes() <= hard / 8) else {
            return Ok(solver(table)?);
        };
        let (databases, puzzle) = (self.clone(), puzzle.clone());
        let larger = move |watch: &dyn Progress| {
            let table = databases.cosets(&puzzle, most, resources, watch);
            let table = DatabaseSource::if_memory_allows(table)?;
            let solver = |table| Ok(PuzzleSolver::two_sided(table)?.with_kernel_of(resources)?);
            table.map(solver).transpose()
        };
        Ok(solver(table)?.with_reserve(larger))
    }

    /// The coset table of a puzzle for a number of bytes: that which is kept, else a new one, which is kept. An observer
    /// may stop the building.
    fn cosets(
        &self,
        puzzle: &Puzzle,
        bytes: u64,
        resources: Resources,
        watch: &dyn Progress,
    ) -> Result<CosetTable, Error> {
        let resources = resources.memory(self.budget());
        let made = get_all(
            (self.cache().as_deref(), "a coset table"),
            &[bytes],
            |&bytes| cosets_name(puzzle, bytes),
            |path, _| usable_cosets(path, puzzle),
            |&bytes, progress| {
                CosetTable::build_with(puzzle, bytes, resources, &Watched(progress, watch))
            },
            |table, path, progress| Ok(table.save_with(path, true, progress)?),
            CosetTable::file_bytes,
        );
        Ok(made?.remove(0))
    }

    /// Whether what solves a puzzle is kept, or built faster than a state near a solved one is found without it.
    pub fn is_ready(&self, puzzle: &Puzzle) -> Result<bool> {
        let tables = SolverTables::of(puzzle, self.memory, self.budget())?;
        if tables.are_quick(puzzle) {
            return Ok(true);
        }
        let Some(dir) = self.place() else { return Ok(false) };
        Ok(match (tables, self.memory) {
            (SolverTables::Cosets { bytes, .. }, Some(_)) => {
                dir.join(cosets_name(puzzle, bytes)).is_file()
            }
            (SolverTables::Cosets { .. }, None) => {
                !self.kept_names(puzzle, self.budget()).is_empty()
            }
            (SolverTables::Projections(all), _) => {
                all.iter().all(|of| dir.join(table_name(of)).is_file())
            }
        })
    }

    /// The coset table that is given for a puzzle.
    fn given_cosets(&self, puzzle: &Puzzle) -> Result<Option<CosetTable>> {
        let files = self.files()?;
        let is_one = |file: &PathBuf| matches!(OwnFile::find(file), Ok(OwnFile::Cosets(_)));
        let Some(file) = files.iter().find(|file| is_one(file)) else { return Ok(None) };
        let name = file.display();
        if files.len() > 1 {
            refuse!("'{name}' is a coset table, which is used alone: leave out the other files");
        }
        let table = open_cosets(file)?;
        if table.puzzle().to_json() != puzzle.to_json() {
            refuse!(
                "'{name}' is a coset table for {}, not for {puzzle}: give that of this puzzle, \
                 with the same moves",
                table.puzzle()
            );
        }
        Ok(Some(table))
    }

    /// The files that are given, those of a set one by one.
    fn files(&self) -> Result<Vec<PathBuf>> {
        Ok(match &self.pdb[..] {
            [set] if SetFile::is(set) => SetFile::read(set)?.partitions.concat(),
            files => files.to_vec(),
        })
    }

    /// The largest kept coset table of a puzzle that fits in a number of bytes.
    fn kept_cosets(&self, puzzle: &Puzzle, most: u64) -> Option<CosetTable> {
        let largest = self.kept_names(puzzle, most).into_iter().rev();
        let dir = self.place()?;
        largest.map(|(_, name)| dir.join(name)).find_map(|path| usable_cosets(&path, puzzle))
    }

    /// The files with kept coset tables of a puzzle that were chosen for at most a number of bytes, with that in KiB.
    fn kept_names(&self, puzzle: &Puzzle, most: u64) -> Vec<(u64, String)> {
        let entries = self.place().and_then(|dir| std::fs::read_dir(dir).ok());
        let names = entries.into_iter().flatten().filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let size = name.strip_prefix(&format!("{}-", puzzle_hash(puzzle)))?;
            let kib: u64 = size.strip_suffix(COSETS_ENDING)?.parse().ok()?;
            (kib <= most >> 10).then_some((kib, name))
        });
        let mut names: Vec<(u64, String)> = names.collect();
        names.sort_unstable();
        names
    }

    /// The pruning tables of a puzzle: those given, else those kept, else new ones, which are kept.
    pub fn tables(&self, puzzle: &Puzzle, threads: Option<usize>) -> Result<Vec<PruningTable>> {
        if !self.pdb.is_empty() {
            return self.files()?.iter().map(|file| open_table(file)).collect();
        }
        self.tables_of(&PruningTable::quick_projections(puzzle, Some(self.budget()))?, threads)
    }

    /// The pruning tables of a phase: those kept, else new ones, which are kept.
    pub fn phase(&self, puzzle: &Puzzle, threads: Option<usize>) -> Result<Vec<PruningTable>> {
        self.tables_of(&PruningTable::joint_projections(puzzle, Some(self.budget()))?, threads)
    }

    fn tables_of(
        &self,
        projections: &[Puzzle],
        threads: Option<usize>,
    ) -> Result<Vec<PruningTable>> {
        let resources = Resources::new().threads(threads).memory(self.budget());
        let tables = get_all(
            (self.cache().as_deref(), "pruning tables"),
            projections,
            table_name,
            usable_table,
            |projection, progress| PruningTable::build_narrow(projection, resources, progress),
            |table, path, progress| Ok(table.save_with(path, true, progress)?),
            PruningTable::file_bytes,
        );
        Ok(tables?)
    }

    /// The most bytes that a build may take.
    pub fn budget(&self) -> u64 {
        self.memory.unwrap_or_else(internals::budget)
    }

    /// The directory for kept databases, which may be missing.
    fn place(&self) -> Option<PathBuf> {
        if self.no_cache { None } else { cache_dir(self.cache_dir.as_deref()) }
    }

    /// The directory for kept databases, made when missing; none when it cannot be had.
    fn cache(&self) -> Option<PathBuf> {
        let dir = self.place()?;
        let made = std::fs::create_dir_all(&dir);
        let made =
            made.context(format!("databases will not be kept: cannot create '{}'", dir.display()));
        made.map_err(|error| tracing::warn!("{error}")).ok().map(|()| dir)
    }

    /// Refuses options that mean nothing to the constructive solver.
    pub fn refuse(&self) -> Result<()> {
        let given = first_given(&[
            (!self.pdb.is_empty(), "--pdb"),
            (self.partition.is_some(), "--partition"),
            (self.table.is_some(), "--table"),
            (self.memory.is_some(), "--memory"),
        ]);
        let Some(option) = given else { return Ok(()) };
        refuse!("--fast needs no databases: leave out {option}")
    }
}

/// Where databases are kept: the directory given, or that of the user's cache if there is one.
pub fn cache_dir(given: Option<&Path>) -> Option<PathBuf> {
    let of_user = || Some(caches()?.join("tilewave"));
    given.map(PathBuf::from).or_else(of_user)
}

/// Maps a database, which spares a copy in memory that has to be found and cleared first; reads it where the
/// system cannot tell when the file is cut.
fn open(path: &Path) -> Result<Pdb, SystemError> {
    match platform::map_file(path) {
        Ok(mapped) => Pdb::map(path, mapped),
        // Whatever is wrong with the file, reading it says so.
        Err(_) => Pdb::load(path),
    }
}

/// Whether a file has the name that the solver gives to a database, or table, that it keeps.
pub fn is_kept(path: &Path, database: &Summary) -> bool {
    path.file_name().is_some_and(|its| its == &*name(&database.pattern, database.encoding))
}

/// The name of a kept table: a hash of the puzzle, which is compared on opening.
pub fn table_name(projection: &Puzzle) -> String {
    puzzle_hash(projection) + ".table"
}

fn puzzle_hash(puzzle: &Puzzle) -> String {
    format!("{:016x}", twox_hash::XxHash3_64::oneshot(puzzle.to_json().as_bytes()))
}

/// How the name of a coset table ends, after the memory for which it was chosen, in KiB.
const COSETS_ENDING: &str = "KiB.cosets";
/// The coset table with which states are begun, where none is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FirstTable {
    Large,
    Small,
    /// A small one; hard states go on with a large one.
    Growing,
}

/// The name of a kept coset table, that was chosen for a memory.
fn cosets_name(puzzle: &Puzzle, bytes: u64) -> String {
    format!("{}-{}{COSETS_ENDING}", puzzle_hash(puzzle), bytes >> 10)
}

/// Whether a file has the name of a kept coset table of a puzzle.
pub fn is_kept_cosets(path: &Path, puzzle: &Puzzle) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(&puzzle_hash(puzzle)) && name.ends_with(COSETS_ENDING))
}

/// The coset table of a file, if it is that of a puzzle.
pub fn usable_cosets(path: &Path, puzzle: &Puzzle) -> Option<CosetTable> {
    let table = open_cosets(path).ok()?;
    (table.puzzle().to_json() == puzzle.to_json()).then_some(table)
}

/// A build that another observer may stop as well.
struct Watched<'a>(&'a SearchProgress, &'a dyn Progress);

impl Progress for Watched<'_> {
    fn started(&self, states: u64) {
        self.0.started(states);
    }

    fn at_most(&self, states: u64) {
        self.0.at_most(states);
    }

    fn progress(&self, phase: Phase, done: u64, total: u64) {
        self.0.progress(phase, done, total);
    }

    fn level(&self, level: &LevelDone) {
        self.0.level(level);
    }

    fn interrupted(&self) -> bool {
        self.0.interrupted() || self.1.interrupted()
    }
}

fn open_table(path: &Path) -> Result<PruningTable> {
    let load = PruningTable::load_with(path, &StopWhen(progress::asked));
    loaded_or_mapped(path, load, |mapped| PruningTable::map(path, mapped))
}

fn open_cosets(path: &Path) -> Result<CosetTable> {
    let load = CosetTable::load_with(path, &StopWhen(progress::asked));
    loaded_or_mapped(path, load, |mapped| CosetTable::map(path, mapped))
}

/// A table that has been read; maps one that is larger than the free memory, so that it is read as entries are asked for.
fn loaded_or_mapped<T>(
    path: &Path,
    loaded: Result<T, SystemError>,
    map: impl FnOnce(Mapped) -> Result<T, SystemError>,
) -> Result<T> {
    match loaded {
        Err(SystemError::Memory { .. }) => {
            tracing::info!(
                "{} is larger than the free memory, so it is memory-mapped",
                path.display()
            );
            let mapped = platform::map_file(path);
            let mapped = mapped.context(format!("cannot memory-map '{}'", path.display()))?;
            Ok(map(mapped)?)
        }
        loaded => Ok(loaded?),
    }
}

/// The table of a file, if it is that of a puzzle.
pub fn usable_table(path: &Path, puzzle: &Puzzle) -> Option<PruningTable> {
    let table = open_table(path).ok()?;
    (table.puzzle().to_json() == puzzle.to_json()).then_some(table)
}

/// The name of a kept database: its size, goal and tiles, and how values are stored if not in bytes.
fn name(pattern: &Pattern, encoding: Encoding) -> String {
    let goal = pattern.goal();
    // Common goals by the blank's cell; others by a hash of the board, which is compared on opening.
    let ordered = Board::ordered(goal.size(), goal.blank()).is_ok_and(|ordered| ordered == *goal);
    let goal_name = if ordered {
        format!("blank{}", goal.blank())
    } else {
        format!("{:016x}", twox_hash::XxHash3_64::oneshot(goal.to_string().as_bytes()))
    };
    let stored = match encoding {
        Encoding::Byte => String::new(),
        other => format!("-{other}"),
    };
    let tiles = tiles(pattern.tiles()).replace(',', "-");
    format!("{}-{goal_name}-{tiles}{stored}.pdb", goal.size())
}

// Databases and tables that are built once and kept.

/// Returns the database or table of each pattern or puzzle: what is kept in a directory under its name, if it can be
/// used, else built, and kept.
fn get_all<P, T>(
    (dir, noun): (Option<&Path>, &str),
    wanted: &[P],
    name: impl Fn(&P) -> String,
    usable: impl Fn(&Path, &P) -> Option<T>,
    build: impl Fn(&P, &SearchProgress) -> Result<T, Error>,
    keep: impl Fn(&T, &Path, &SearchProgress) -> Result<(), Error>,
    size: impl Fn(&T) -> u64,
) -> Result<Vec<T>, Error> {
    let (mut all, mut built, mut seconds) = (Vec::new(), 0, 0.0);
    for (i, one) in wanted.iter().enumerate() {
        let path = dir.map(|dir| dir.join(name(one)));
        // A file that cannot be used, for whatever reason, is built again and replaced.
        if let Some(found) = path.as_ref().and_then(|path| usable(path, one)) {
            all.push(found);
            continue;
        }
        let begun = Instant::now();
        let progress = SearchProgress::of_part("database", i, wanted.len());
        let made = build(one, &progress)?;
        if let Some(path) = &path
            && let Err(why) = keep(&made, path, &progress)
        {
            tracing::warn!("{} will not be kept: {why}", path.display());
        }
        built += size(&made);
        seconds += begun.elapsed().as_secs_f64();
        all.push(made);
    }
    if built > 0 {
        let place = match dir {
            Some(dir) => format!("kept in {}", dir.display()),
            None => "not kept".into(),
        };
        tracing::info!("built {noun}: {} in {}, {place}", bytes(built), duration(seconds));
    }
    Ok(all)
}
