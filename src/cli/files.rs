//! `tilewave info`, `check` and `cache`: files and directories that this program has written.
//!
//! [`OwnFile::find`] says what a path is, by its first bytes; directories given together are those of one search.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use clap::ValueHint::{AnyPath, DirPath};
use serde::Serialize;
use serde_json::Value;
use tilewave::{
    Directory, DistanceTable, Io, Pdb, Resources, Search,
    internals::{
        DATABASE_MAGIC, DatabaseMarker, LOG_OPENING, PRUNING_MAGIC, RUN_MAGICS, TABLE_MAGIC,
        read_log,
    },
    pdb::{self, Build, DiskBuild, Kind, SetFile, Summary, inspect},
    progress::StopWhen,
    pruning::PruningTable,
    puzzle::orbits::OrbitPuzzle,
    random,
    report::{bytes, counted, duration, rate, thousands, value_histogram},
    search::disk,
};

use crate::cli::{
    Context, Destination, Failure, Figures, OutputFormat, OutputOptions, ResourceOptions, Result,
    SearchProgress, Subject, complain, count, counts_csv, directories, facts,
    pdb::inspect::{DatabaseFacts, tiles},
    progress, refuse,
    solve::{cache_dir, is_kept, table_name},
    table::{Table, TableFacts},
};

/// What a path is.
enum OwnFile {
    /// The directories of a search.
    Search(Vec<PathBuf>),
    /// The directory of a database's build.
    Build(PathBuf),
    Set(PathBuf),
    Database(PathBuf),
    Table(PathBuf),
    Pruning(PathBuf),
    Log(PathBuf),
}

impl OwnFile {
    /// What each of some paths is, directories of a search together. What is nothing of ours is reported, and whether there
    /// was any returned.
    fn all(paths: &[PathBuf]) -> Result<(Vec<OwnFile>, bool)> {
        let (mut all, mut search, mut refused) = (Vec::new(), Vec::new(), false);
        for path in paths {
            match OwnFile::find(path) {
                Ok(OwnFile::Search(one)) => search.extend(one),
                Ok(file) => all.push(file),
                Err(Failure { code: 1, said: Some(said) }) => {
                    complain(&said);
                    refused = true;
                }
                Err(other) => return Err(other),
            }
        }
        if !search.is_empty() {
            all.insert(0, OwnFile::Search(search));
        }
        Ok((all, refused))
    }

    fn find(path: &Path) -> Result<OwnFile> {
        let (own, shown) = (path.to_path_buf(), path.display());
        if path.is_dir() {
            let set = path.join("set.json");
            if set.is_file() {
                return Ok(OwnFile::Set(set));
            }
            let directory = Directory::open(path, Io::Read);
            let directory = directory.context(format!("cannot open '{shown}'"))?;
            let builds = DatabaseMarker::read(&directory)?.is_some();
            return Ok(if builds { OwnFile::Build(own) } else { OwnFile::Search(vec![own]) });
        }
        let mut begin = Vec::new();
        let file = File::open(path).context(format!("cannot open '{shown}'"))?;
        let read = file.take(1 << 12).read_to_end(&mut begin);
        read.context(format!("cannot read '{shown}'"))?;
        let begins = |with: &[u8]| begin.starts_with(with);
        Ok(match () {
            () if begins(&DATABASE_MAGIC) => OwnFile::Database(own),
            () if begins(&TABLE_MAGIC) => OwnFile::Table(own),
            () if begins(&PRUNING_MAGIC) => OwnFile::Pruning(own),
            () if begins(LOG_OPENING.as_bytes()) => OwnFile::Log(own),
            () if String::from_utf8_lossy(&begin).contains("\"tilewave_set\"") => OwnFile::Set(own),
            () if RUN_MAGICS.iter().any(|magic| begins(magic)) => {
                return Err(Failure::failed(format!(
                    "'{shown}' belongs to a search or build on disk: name its directory"
                )));
            }
            () => {
                return Err(Failure::failed(format!(
                    "'{shown}' is no database, table, set, log or search of tilewave"
                )));
            }
        })
    }

    /// Its name, and what it is.
    fn named(&self) -> (String, &'static str) {
        let shown = |path: &Path| path.display().to_string();
        match self {
            OwnFile::Search(paths) => {
                let paths: Vec<String> = paths.iter().map(|path| shown(path)).collect();
                (paths.join(" "), "search")
            }
            OwnFile::Build(path) => (shown(path), "build"),
            OwnFile::Set(path) => (shown(path), "set"),
            OwnFile::Database(path) => (shown(path), "pattern database"),
            OwnFile::Table(path) => (shown(path), "distance table"),
            OwnFile::Pruning(path) => (shown(path), "pruning table"),
            OwnFile::Log(path) => (shown(path), "log"),
        }
    }
}

/// An answer, with the path it is about and what that is.
#[derive(Serialize)]
struct About<T> {
    path: String,
    r#type: &'static str,
    #[serde(flatten)]
    of: T,
}

impl<T: Figures> Figures for About<T> {
    const COLUMNS: &'static str = T::COLUMNS;

    fn words(&self) -> String {
        self.of.words()
    }

    fn csv(&self) -> String {
        self.of.csv()
    }
}

// `tilewave info`: what is in a file.

/// Show what a file or directory of tilewave holds: a search on disk, a database, table, set or log.
#[derive(clap::Args)]
#[command(
    after_help = "Reads headers only, and disturbs nothing that is running.\n\nExamples:\n  tilewave info RUN\n  tilewave info *.pdb *.table"
)]
pub struct InfoArgs {
    /// Files, or the directories of a search on disk, in the order in which they were given to it.
    #[arg(required = true, value_name = "PATH", value_hint = AnyPath)]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    output: OutputOptions,
}

impl InfoArgs {
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let (all, refused) = OwnFile::all(&self.paths)?;
        let several = self.paths.len() > 1;
        let mut info = Info { destination, columns: None, several };
        for file in &all {
            let (path, r#type) = file.named();
            match file {
                OwnFile::Search(dirs) => info.add(path, r#type, status(dirs, info.format())?)?,
                OwnFile::Build(dir) => info.add(path, r#type, BuildFacts::of(dir)?)?,
                OwnFile::Set(set) => info.add(path, r#type, SetFacts::of(set)?)?,
                OwnFile::Database(file) => {
                    let summary = inspect(file)?;
                    info.add(path, r#type, InfoFacts::of(&summary))?;
                }
                OwnFile::Table(file) => {
                    let table = Table::Numbered(DistanceTable::open(file)?);
                    info.add(path, r#type, TableFacts::new(&table))?;
                }
                OwnFile::Pruning(file) => {
                    let table = Table::Pruning(PruningTable::open(file)?);
                    info.add(path, r#type, TableFacts::new(&table))?;
                }
                OwnFile::Log(file) => info.add(path, r#type, LogFacts::of(file)?)?,
            }
        }
        info.destination.finish()?;
        Failure::unless(!refused)
    }
}

/// Where answers of several kinds go.
struct Info {
    destination: Destination,
    /// Columns of the last answer.
    columns: Option<&'static str>,
    several: bool,
}

impl Info {
    fn format(&self) -> OutputFormat {
        self.destination.format
    }

    fn add(&mut self, path: String, r#type: &'static str, of: impl Figures) -> Result<()> {
        let (to, first) = (&mut self.destination, self.columns.is_none());
        if to.format == OutputFormat::Text && self.several {
            to.add(&format!("{}{path}: {}\n", if first { "" } else { "\n" }, r#type))?;
        }
        if self.columns != Some(of.columns()) {
            to.heading(of.columns())?;
        }
        self.columns = Some(of.columns());
        to.line(&About { path, r#type, of })
    }
}

/// How far a search has come.
#[derive(Serialize)]
struct StatusFacts {
    #[serde(flatten)]
    subject: Subject,
    goal: String,
    start: String,
    state: &'static str,
    depth: Option<usize>,
    chunks: u32,
    chunks_done: usize,
    levels: usize,
    states: u64,
    /// Nothing where nobody knows, or 64 bits are not enough.
    all_states: Option<u64>,
    seconds: f64,
    states_per_second: f64,
    eta_seconds: Option<f64>,
    disk_bytes: u64,
    scratch_bytes: u64,
    disk_peak_bytes: u64,
    bytes_written: u64,
    #[serde(skip)]
    name: String,
}

fn status(dirs: &[PathBuf], format: OutputFormat) -> Result<StatusFacts> {
    let of = disk::status(&directories(dirs)?)?;
    let (manifest, states, all_states) = (&of.manifest, of.states(), of.all_states);
    let states_per_second = of.states_per_second();
    // The first levels are so thin that they say nothing about the rest.
    let telling = |all: &u64| states > all / 1000 && !manifest.complete;
    let rest = all_states.filter(telling).map(|all| all.saturating_sub(states));
    Ok(StatusFacts {
        subject: Subject::searched(&of.searched, format),
        goal: manifest.identity.goal.clone(),
        start: manifest.identity.start.clone(),
        state: match (manifest.complete, of.running) {
            (true, _) => "complete",
            (false, true) => "running",
            (false, false) => "stopped",
        },
        depth: of.depth,
        chunks: manifest.chunks,
        chunks_done: of.chunks_done,
        levels: manifest.depth(),
        states,
        all_states,
        seconds: manifest.seconds,
        states_per_second,
        eta_seconds: rest.map(|rest| rest as f64 / states_per_second.max(1e-9)),
        disk_bytes: manifest.disk_bytes() + of.scratch_bytes,
        scratch_bytes: of.scratch_bytes,
        disk_peak_bytes: manifest.peak_bytes,
        bytes_written: manifest.bytes_written,
        name: of.searched.to_string(),
    })
}

impl Figures for StatusFacts {
    const COLUMNS: &'static str = "board,state,depth,chunks_done,chunks,states,seconds,disk_bytes";

    fn words(&self) -> String {
        let StatusFacts { name, goal, state, chunks, chunks_done, states, all_states, .. } = self;
        let of = |all: u64| {
            let share = *states as f64 * 100.0 / all as f64;
            format!(" of {} ({share:.1} %)", thousands(all))
        };
        let of = all_states.map_or(String::new(), of);
        let eta = self.eta_seconds.map_or(String::new(), |eta| format!(", ETA {}", duration(eta)));
        let (time, speed) = (duration(self.seconds), rate(self.states_per_second));
        let [now, most, written] =
            [self.disk_bytes, self.disk_peak_bytes, self.bytes_written].map(bytes);
        let last = format!("{}, the last one", self.levels.saturating_sub(1));
        let begun = |depth| format!("{depth}, {chunks_done} of {chunks} chunks done");
        let rows = [
            ("search", format!("{name}, goal {goal}: {state}")),
            ("depth", self.depth.map_or(last, begun)),
            ("states", thousands(*states) + &of),
            ("time", format!("{time}, {speed} states/s{eta}")),
            ("disk", format!("{now}, {most} at most, {written} written")),
        ];
        facts(9, rows)
    }
}

/// What the directory of a database's build says.
#[derive(Serialize)]
struct BuildFacts {
    board: String,
    goal: String,
    tiles: Vec<u16>,
    bytes: u64,
}

impl BuildFacts {
    fn of(dir: &Path) -> Result<BuildFacts> {
        let directory = Directory::open(dir, Io::Read);
        let directory = directory.context(format!("cannot open '{}'", dir.display()))?;
        let Some(DatabaseMarker { board, goal, tiles, .. }) = DatabaseMarker::read(&directory)?
        else {
            return Err(Failure::failed(format!("'{}' has no build any more", dir.display())));
        };
        let (_, bytes) = DiskBuild::new(&directory).space()?;
        Ok(BuildFacts { board, goal, tiles, bytes })
    }
}

impl Figures for BuildFacts {
    const COLUMNS: &'static str = "board,goal,tiles,bytes";

    fn words(&self) -> String {
        let rows = [
            ("build", "of a pattern database, not finished: the same command continues it".into()),
            ("board", self.board.clone()),
            ("goal", self.goal.clone()),
            ("tiles", tiles(&self.tiles)),
            ("levels", bytes(self.bytes)),
        ];
        facts(10, rows)
    }
}

/// The databases of a set.
#[derive(Serialize)]
struct SetFacts {
    board: String,
    goal: String,
    bytes: u64,
    partitions: Vec<Vec<MemberFacts>>,
}

#[derive(Serialize)]
struct MemberFacts {
    file: String,
    tiles: Vec<u16>,
    bytes: u64,
}

impl SetFacts {
    fn of(path: &Path) -> Result<SetFacts> {
        let set = SetFile::read(path)?;
        let mut facts = SetFacts {
            board: String::new(),
            goal: String::new(),
            bytes: 0,
            partitions: Vec::new(),
        };
        let mut known: Vec<&PathBuf> = Vec::new();
        for partition in &set.partitions {
            let mut members = Vec::new();
            for file in partition {
                let summary = inspect(file)?;
                let (pattern, bytes) = (&summary.pattern, summary.file_bytes());
                facts.board = pattern.size().to_string();
                facts.goal = pattern.goal().to_string();
                if !known.contains(&file) {
                    known.push(file);
                    facts.bytes += bytes;
                }
                let (file, tiles) = (file.display().to_string(), pattern.tiles().to_vec());
                members.push(MemberFacts { file, tiles, bytes });
            }
            facts.partitions.push(members);
        }
        Ok(facts)
    }
}

impl Figures for SetFacts {
    const COLUMNS: &'static str = "board,goal,partitions,bytes";

    fn words(&self) -> String {
        let partition = |members: &Vec<MemberFacts>| {
            let all: Vec<String> = members.iter().map(|member| tiles(&member.tiles)).collect();
            ("partition", all.join("  "))
        };
        let mut rows = vec![("board", self.board.clone()), ("goal", self.goal.clone())];
        rows.extend(self.partitions.iter().map(partition));
        rows.push(("bytes", bytes(self.bytes)));
        facts(11, rows)
    }
}

/// What a database file says of itself.
#[derive(Serialize)]
struct InfoFacts<'a> {
    #[serde(flatten)]
    of: DatabaseFacts<'a>,
    compressed: bool,
    order: &'static str,
    metric: &'static str,
    reached: u64,
}

impl InfoFacts<'_> {
    fn of(summary: &pdb::Summary) -> InfoFacts<'_> {
        let (order, metric) = match summary.kind {
            Kind::Minimum => ("lexicographic placements", "moves of pattern tiles"),
            Kind::AllMoves => ("lexicographic placements", "moves of all tiles"),
            Kind::Regions => ("sets, regions, arrangements", "moves of pattern tiles"),
        };
        InfoFacts {
            of: DatabaseFacts::new(summary),
            compressed: summary.compressed,
            order,
            metric,
            reached: summary.histogram.iter().sum(),
        }
    }
}

impl Figures for InfoFacts<'_> {
    const COLUMNS: &'static str = "value,entries";

    fn csv(&self) -> String {
        counts_csv(self.of.histogram)
    }

    fn words(&self) -> String {
        let of = &self.of;
        let compressed = if self.compressed { ", compressed" } else { "" };
        let rows = [
            ("board", of.board.clone()),
            ("goal", of.goal.clone()),
            ("tiles", tiles(of.tiles)),
            ("kind", of.kind.into()),
            ("encoding", format!("{}{compressed}", of.encoding)),
            ("order", self.order.into()),
            ("metric", self.metric.into()),
            ("entries", thousands(of.entries)),
            ("reached", thousands(self.reached)),
            ("maximum", of.max.to_string()),
            ("mean", format!("{:.6}", of.mean)),
            ("bytes", bytes(of.bytes)),
            ("checksum", of.checksum.clone()),
        ];
        value_histogram(of.histogram, self.reached) + &facts(10, rows)
    }
}

/// How far the boards of a log have come.
#[derive(Serialize)]
struct LogFacts {
    goal: String,
    boards: u64,
    solved: u64,
    /// Boards whose search has begun and not ended.
    begun: u64,
    /// Nodes and seconds of the solved ones.
    nodes: u64,
    seconds: f64,
    bytes: u64,
}

impl LogFacts {
    fn of(path: &Path) -> Result<LogFacts> {
        let mut lines = Vec::new();
        for line in read_log(path)? {
            lines.push(serde_json::from_str::<Value>(&line)?);
        }
        let heading = lines.first().cloned().unwrap_or_default();
        let (mut solved, mut begun) = (Vec::new(), Vec::new());
        let (mut nodes, mut seconds) = (0, 0.0);
        for line in lines.iter().skip(1) {
            let board = line["board"].as_u64();
            let known = match line["line"] == "solved" {
                true => {
                    nodes += line["nodes"].as_u64().unwrap_or_default();
                    seconds += line["seconds"].as_f64().unwrap_or_default();
                    &mut solved
                }
                false => &mut begun,
            };
            if !known.contains(&board) {
                known.push(board);
            }
        }
        begun.retain(|board| !solved.contains(board));
        Ok(LogFacts {
            goal: heading["goal"].as_str().unwrap_or_default().into(),
            boards: heading["boards"].as_u64().unwrap_or_default(),
            solved: solved.len() as u64,
            begun: begun.len() as u64,
            nodes,
            seconds,
            bytes: std::fs::metadata(path)?.len(),
        })
    }
}

impl Figures for LogFacts {
    const COLUMNS: &'static str = "goal,boards,solved,begun,nodes,seconds";

    fn words(&self) -> String {
        let [solved, boards, begun] = [self.solved, self.boards, self.begun].map(thousands);
        let rows = [
            ("goal", self.goal.clone()),
            ("boards", format!("{solved} of {boards} solved, {begun} begun")),
            ("nodes", thousands(self.nodes)),
            ("time", duration(self.seconds)),
            ("bytes", bytes(self.bytes)),
        ];
        facts(10, rows)
    }
}

// `tilewave check`: whether files are intact.

/// Check files and directories of tilewave: every byte, and with --full every entry.
#[derive(clap::Args)]
#[command(
    after_help = "All checksums are compared, and for databases some entries with a search. Exit code 1 if anything is damaged or wrong.\n\n\
                  Examples:\n  tilewave check RUN\n  tilewave check *.pdb *.table\n  tilewave check --full 7.pdb"
)]
pub struct CheckArgs {
    /// Files, or the directories of a search on disk, in the order in which they were given to it.
    #[arg(required = true, value_name = "PATH", value_hint = AnyPath)]
    paths: Vec<PathBuf>,

    /// Also compute every entry of databases and tables again, or prove it from its neighbours.
    #[arg(long)]
    full: bool,

    /// With --full: use the plain builder for databases, written independently of the fast one.
    #[arg(long, requires = "full")]
    plain: bool,

    /// Random entries of a database to compare with A* searches.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = count::<u64>(), allow_negative_numbers = true)]
    samples: u64,

    /// Seed of the random entries [default: a random one, which is printed].
    #[arg(long, value_name = "N", value_parser = count::<u64>(), allow_negative_numbers = true)]
    seed: Option<u64>,

    #[command(flatten)]
    resources: ResourceOptions,

    #[command(flatten)]
    output: OutputOptions,
}

/// What was found of a path.
#[derive(Serialize)]
struct CheckFacts {
    path: String,
    r#type: &'static str,
    /// Nothing for a search that is not finished: it passes nothing, however sound it is.
    pass: Option<bool>,
    checked: String,
}

impl Figures for CheckFacts {
    const COLUMNS: &'static str = "path,type,pass,checked";

    fn words(&self) -> String {
        let verdict = match self.pass {
            Some(true) => "PASS ",
            Some(false) => "FAIL ",
            None => "SOUND",
        };
        format!("{verdict} {}: {}\n", self.path, self.checked)
    }
}

impl CheckArgs {
    pub fn run(&self) -> Result<()> {
        let mut destination = self.output.reserve()?;
        let (all, refused) = OwnFile::all(&self.paths)?;
        let seed = match self.seed {
            Some(seed) => seed,
            None => random::seed().context("a seed cannot be drawn: give one with --seed")?,
        };
        let resources = self.resources.get()?;
        progress::listen();
        destination.heading(CheckFacts::COLUMNS)?;
        let mut all_pass = !refused;
        for file in &all {
            let (path, r#type) = file.named();
            let (pass, checked) = match self.check(file, seed, resources) {
                Ok(Finding { finished, checked }) => (finished.then_some(true), checked),
                Err(Failure { code: 1, said: Some(said) }) => (Some(false), said),
                Err(other) => return Err(other),
            };
            all_pass &= pass != Some(false);
            destination.line(&CheckFacts { path, r#type, pass, checked })?;
        }
        destination.finish()?;
        Failure::unless(all_pass)
    }

    /// What was checked. What is wrong is an error.
    fn check(&self, file: &OwnFile, seed: u64, resources: Resources) -> Result<Finding> {
        let stop = StopWhen(progress::asked);
        let checked = match file {
            OwnFile::Search(dirs) => return search(dirs, &stop),
            OwnFile::Build(dir) => {
                BuildFacts::of(dir)?;
                let checked = "a build that is not finished: the same command continues it and \
                               checks what it reads"
                    .into();
                return Ok(Finding { finished: false, checked });
            }
            OwnFile::Set(set) => {
                let files = SetFile::read(set)?.partitions.concat();
                let mut known: Vec<&PathBuf> = Vec::new();
                for file in &files {
                    if !known.contains(&file) {
                        known.push(file);
                        self.database(file, seed, resources)?;
                    }
                }
                format!("{}, each by itself", counted(known.len() as u64, "database"))
            }
            OwnFile::Database(file) => self.database(file, seed, resources)?,
            OwnFile::Table(file) => {
                let table = DistanceTable::open(file)?;
                table.check()?;
                if self.full { rebuilt(&table, resources)? } else { "checksums".into() }
            }
            OwnFile::Pruning(file) if self.full => {
                let progress = SearchProgress::new();
                let table = PruningTable::load_with(file, &stop)?;
                resources.install(|| table.verify(&progress))??;
                "checksums, and every entry by those of its neighbours".into()
            }
            OwnFile::Pruning(file) => {
                PruningTable::open(file)?.check()?;
                "checksums".into()
            }
            OwnFile::Log(file) => {
                let facts = LogFacts::of(file)?;
                format!("every line; {} of {} boards solved", facts.solved, facts.boards)
            }
        };
        Ok(Finding { finished: true, checked })
    }

    fn database(&self, file: &Path, seed: u64, resources: Resources) -> Result<String> {
        let table = Pdb::load(file)?;
        let progress = SearchProgress::new();
        if self.full {
            let how = Build::new(table.pattern().clone()).plain(self.plain).resources(resources);
            pdb::rebuild_with(&table, &how, &progress)?;
            let builder = if self.plain { " by the plain builder" } else { "" };
            return Ok(format!(
                "checksums, and all entries, their order and their histogram rebuilt{builder}"
            ));
        }
        let check = pdb::spot_check_with(&table, self.samples, seed, &progress)?;
        let given_up = match check.undecided {
            0 => String::new(),
            n => format!(", {n} searches given up"),
        };
        Ok(format!("checksums, and {} entries by search (seed {seed}{given_up})", check.confirmed))
    }
}

struct Finding {
    finished: bool,
    checked: String,
}

/// Checks the files of a search.
fn search(dirs: &[PathBuf], stop: &dyn tilewave::Progress) -> Result<Finding> {
    let directories = directories(dirs)?;
    let status = disk::status(&directories)?;
    let found = disk::verify_with(&directories, stop)?;
    let (files, states) = (counted(found.files, "file"), counted(found.states, "state"));
    let mut checked = format!(
        "{}, {files}, {}, {states}; every frame, chunk and level as counted",
        status.searched,
        bytes(found.bytes)
    );
    let finished = status.manifest.complete;
    if !finished {
        let depth = status.manifest.levels.len().saturating_sub(1);
        let share = |all: u64| {
            let share = status.states() as f64 * 100.0 / all as f64;
            format!(", {share:.1} % of the states")
        };
        let share = status.all_states.map_or(String::new(), share);
        checked += &format!("; NOT FINISHED, depth {depth}{share}: tilewave resume continues it");
    }
    Ok(Finding { finished, checked })
}

/// Compares a table with one that is built now.
fn rebuilt(table: &DistanceTable, resources: Resources) -> Result<String> {
    let space = table.space().clone();
    let depth = table.histogram().len() - 1;
    let all = space.states() == Some(table.histogram().iter().sum());
    let search = Search::of(space).max_depth((!all).then_some(depth)).resources(resources);
    let again = DistanceTable::build_with(&search, table.encoding(), &SearchProgress::new())?;
    if (again.checksum(), again.histogram()) != (table.checksum(), table.histogram()) {
        return Err(Failure::failed("its entries are not those of a table that was built now"));
    }
    Ok("checksums, and all entries built again".into())
}

// `tilewave cache`: what `tilewave solve` keeps.

/// List the databases and tables that tilewave solve has built and kept.
#[derive(clap::Args)]
#[command(after_help = "Examples: tilewave cache\n          tilewave cache --clear")]
pub struct CacheArgs {
    /// Remove them. Files of other kinds stay.
    #[arg(long)]
    clear: bool,

    /// The directory [default: ~/.cache/tilewave].
    #[arg(long, value_name = "DIR", value_hint = DirPath)]
    cache_dir: Option<PathBuf>,

    #[command(flatten)]
    output: OutputOptions,
}

#[derive(Serialize)]
struct CacheFacts {
    directory: String,
    cleared: bool,
    bytes: u64,
    files: Vec<KeptFile>,
}

#[derive(Serialize)]
struct KeptFile {
    file: String,
    bytes: u64,
    holds: String,
}

impl CacheArgs {
    pub fn run(&self) -> Result<()> {
        let destination = self.output.reserve()?;
        let Some(dir) = cache_dir(self.cache_dir.as_deref()) else {
            refuse!("there is no home directory: name the cache with --cache-dir");
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&dir).into_iter().flatten() {
            let path = entry.context(format!("cannot read '{}'", dir.display()))?.path();
            // What is not what its name says is not ours to list or remove.
            let holds = match OwnFile::find(&path) {
                Ok(OwnFile::Database(_)) => {
                    let summary = inspect(&path).ok().filter(|summary| is_kept(&path, summary));
                    summary.map(|Summary { pattern, .. }| {
                        format!("{} tiles {}", pattern.size(), tiles(pattern.tiles()))
                    })
                }
                Ok(OwnFile::Pruning(_)) => {
                    let puzzle = PruningTable::open(&path).ok().map(|table| table.puzzle().clone());
                    let kept = |puzzle: &OrbitPuzzle| path.ends_with(table_name(puzzle));
                    puzzle.filter(kept).map(|puzzle| puzzle.to_string())
                }
                _ => None,
            };
            let Some(holds) = holds else { continue };
            let bytes = std::fs::metadata(&path)?.len();
            if self.clear {
                std::fs::remove_file(&path)
                    .context(format!("cannot remove '{}'", path.display()))?;
            }
            files.push(KeptFile { file: path.display().to_string(), bytes, holds });
        }
        files.sort_by(|a, b| a.file.cmp(&b.file));
        destination.write(&CacheFacts {
            directory: dir.display().to_string(),
            cleared: self.clear,
            bytes: files.iter().map(|kept| kept.bytes).sum(),
            files,
        })
    }
}

impl Figures for CacheFacts {
    const COLUMNS: &'static str = "file,bytes";

    fn csv(&self) -> String {
        let line = |kept: &KeptFile| format!("{},{}\n", kept.file, kept.bytes);
        self.files.iter().map(line).collect()
    }

    fn words(&self) -> String {
        let line = |KeptFile { file, bytes: size, holds }: &KeptFile| {
            let name = Path::new(file).file_name().unwrap_or_default();
            format!("{:>10}  {holds}  {}\n", bytes(*size), name.display())
        };
        let (files, size) = (counted(self.files.len() as u64, "file"), bytes(self.bytes));
        let verb = if self.cleared { "removed from" } else { "in" };
        let lines: String = self.files.iter().map(line).collect();
        format!("{lines}{files}, {size} {verb} {}\n", self.directory)
    }
}
