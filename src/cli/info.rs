//! `tilewave info`: what files and directories of this program hold, read from their headers.
//!
//! [`OwnFile::find`] says what a path is, by its first bytes; directories given together are those of one search.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use clap::ValueHint::AnyPath;
use serde::Serialize;
use serde_json::Value;
use tilewave::{
    Directory, DistanceTable, Io,
    internals::{
        DATABASE_MAGIC, DatabaseMarker, LOG_OPENING, PRUNING_MAGIC, RUN_MAGICS, TABLE_MAGIC,
        read_log,
    },
    pdb::{self, DiskBuild, Kind, SetFile, inspect},
    pruning::PruningTable,
    report::{bytes, duration, rate, thousands, value_histogram},
    search::disk,
};

use crate::cli::{
    Context, Destination, Failure, Figures, OutputFormat, OutputOptions, Result, Subject, complain,
    counts_csv, directories, facts,
    make::{Table, TableFacts},
    pdb::build::{DatabaseFacts, tiles},
    unopened,
};

/// What a path is.
pub enum OwnFile {
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
    pub fn all(paths: &[PathBuf]) -> Result<(Vec<OwnFile>, bool)> {
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

    pub fn find(path: &Path) -> Result<OwnFile> {
        let (own, shown) = (path.to_path_buf(), path.display());
        if path.is_dir() {
            let set = path.join("set.json");
            if set.is_file() {
                return Ok(OwnFile::Set(set));
            }
            let directory = Directory::open(path, Io::Read).map_err(unopened(path))?;
            let builds = DatabaseMarker::read(&directory)?.is_some();
            return Ok(if builds { OwnFile::Build(own) } else { OwnFile::Search(vec![own]) });
        }
        let mut begin = Vec::new();
        let file = File::open(path).map_err(unopened(path))?;
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
                    "'{shown}' belongs to a search or build on disk: specify the directory that \
                     contains this file"
                )));
            }
            () => {
                return Err(Failure::failed(format!(
                    "'{shown}' is not a database, table, set, log or search: specify a file or \
                     directory that tilewave has written"
                )));
            }
        })
    }

    /// Its name, and what it is.
    pub fn named(&self) -> (String, &'static str) {
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

/// Show what a tilewave file or directory contains.
#[derive(clap::Args)]
#[command(
    after_help = "Only headers are read, and a running search is not disturbed.\n\nExamples:\n  tilewave info RUN\n  tilewave info *.pdb *.table"
)]
pub struct InfoArgs {
    /// Files or directories; list all directories of a search on disk together, in their original order.
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
        let last = format!("{}, the last depth", self.levels.saturating_sub(1));
        let begun = |depth| format!("{depth}, {chunks_done} of {chunks} chunks done");
        let rows = [
            ("search", format!("{name}, goal {goal}: {state}")),
            ("depth", self.depth.map_or(last, begun)),
            ("states", thousands(*states) + &of),
            ("time", format!("{time}, {speed} states/s{eta}")),
            ("disk", format!("{now} now, {most} at the peak, {written} written")),
        ];
        facts(9, rows)
    }
}

/// What the directory of a database's build says.
#[derive(Serialize)]
pub struct BuildFacts {
    board: String,
    goal: String,
    tiles: Vec<u16>,
    bytes: u64,
}

impl BuildFacts {
    pub fn of(dir: &Path) -> Result<BuildFacts> {
        let directory = Directory::open(dir, Io::Read).map_err(unopened(dir))?;
        let Some(DatabaseMarker { board, goal, tiles, .. }) = DatabaseMarker::read(&directory)?
        else {
            return Err(Failure::failed(format!(
                "'{}' no longer contains an unfinished build: the build has ended, or its files \
                 were removed",
                dir.display()
            )));
        };
        let (_, bytes) = DiskBuild::new(&directory).space()?;
        Ok(BuildFacts { board, goal, tiles, bytes })
    }
}

impl Figures for BuildFacts {
    const COLUMNS: &'static str = "board,goal,tiles,bytes";

    fn words(&self) -> String {
        let rows = [
            (
                "build",
                "an unfinished pattern database: to continue the build, repeat the command that \
                 started it"
                    .into(),
            ),
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

/// What a database file says about itself.
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
pub struct LogFacts {
    goal: String,
    pub boards: u64,
    pub solved: u64,
    /// Boards whose search has begun and not ended.
    begun: u64,
    /// Nodes and seconds of the solved ones.
    nodes: u64,
    seconds: f64,
    bytes: u64,
}

impl LogFacts {
    pub fn of(path: &Path) -> Result<LogFacts> {
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
            ("boards", format!("{solved} of {boards} solved, {begun} partly searched")),
            ("nodes", thousands(self.nodes)),
            ("time", duration(self.seconds)),
            ("bytes", bytes(self.bytes)),
        ];
        facts(10, rows)
    }
}
