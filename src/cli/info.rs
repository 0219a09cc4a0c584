//! `tilewave info`: what files and directories of this program hold, read from their headers.
//!
//! [`OwnFile::find`] says what a path is, by its first bytes; directories given together are those of one search.

use std::{
    collections::BTreeSet,
    io::Read as _,
    path::{Path, PathBuf},
};

use clap::ValueHint::AnyPath;
use serde_json::{Value, json};
use tilewave::{
    Directory, DistanceTable, Error, Io, SystemError,
    internals::{
        COSETS_MAGIC, DATABASE_MAGIC, DatabaseMarker, LOG_OPENING, PRUNING_MAGIC, RUN_MAGICS,
        TABLE_MAGIC, opened, read_log,
    },
    pdb::{DiskBuild, Kind, SetFile, Summary, inspect},
    pruning::{CosetTable, PruningTable},
    report::{bytes, counted, described, duration, rate, thousands, value_histogram},
    search::disk,
};

use crate::{
    AnyReply, Context, Failure, FormatOption, OutputFormat, Reply, Result, counts_csv, directories,
    facts, make::Table, pdb::build::database_figures, subject, tiles, with_more,
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
    Cosets(PathBuf),
    Log(PathBuf),
}

impl OwnFile {
    /// What each of some paths is, directories of one search together. What is nothing of ours is reported, and whether
    /// there was any returned.
    pub fn all(paths: &[PathBuf]) -> Result<(Vec<OwnFile>, bool)> {
        let (mut all, mut refused) = (Vec::new(), false);
        // The search that was found last, if some of its directories are still to come.
        let mut open: Option<(usize, u64, usize)> = None;
        for path in paths {
            match OwnFile::find(path) {
                Ok(OwnFile::Search(one)) => {
                    let run = directories(&one)?.run();
                    let is_part =
                        |&(_, of, _): &(usize, u64, usize)| run.is_none_or(|(run, _)| run == of);
                    match (open.take().filter(is_part), run) {
                        (Some((at, run, missing)), _) => {
                            if let OwnFile::Search(directories) = &mut all[at] {
                                directories.extend(one);
                            }
                            open = (missing > 1).then(|| (at, run, missing - 1));
                        }
                        (None, run) => {
                            let several = run.filter(|&(_, directories)| directories > 1);
                            open =
                                several.map(|(run, directories)| (all.len(), run, directories - 1));
                            all.push(OwnFile::Search(one));
                        }
                    }
                }
                Ok(file) => all.push(file),
                Err(failure) => {
                    failure.endure()?;
                    refused = true;
                }
            }
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
            let directory = Directory::open(path, Io::Read).map_err(SystemError::unopened(path))?;
            let builds = DatabaseMarker::read(&directory)?.is_some();
            return Ok(if builds { OwnFile::Build(own) } else { OwnFile::Search(vec![own]) });
        }
        let mut begin = Vec::new();
        let (file, _) = opened(path).map_err(SystemError::unopened(path))?;
        let read = file.take(1 << 12).read_to_end(&mut begin);
        read.context(format!("cannot read '{shown}'"))?;
        let begins = |with: &[u8]| begin.starts_with(with);
        Ok(match () {
            () if begins(&DATABASE_MAGIC) => OwnFile::Database(own),
            () if begins(&TABLE_MAGIC) => OwnFile::Table(own),
            () if begins(&PRUNING_MAGIC) => OwnFile::Pruning(own),
            () if begins(&COSETS_MAGIC) => OwnFile::Cosets(own),
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
            OwnFile::Cosets(path) => (shown(path), "coset table"),
            OwnFile::Log(path) => (shown(path), "log"),
        }
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
    format: FormatOption,
}

/// Opens a table of either kind.
pub fn open_table(path: &Path) -> Result<Table> {
    Ok(match OwnFile::find(path)? {
        OwnFile::Pruning(path) => Table::Pruning(PruningTable::open(path)?),
        _ => Table::Numbered(DistanceTable::open(path)?),
    })
}

impl InfoArgs {
    pub fn run(&self) -> Result<()> {
        let mut destination = self.format.stdout();
        let (all, refused) = OwnFile::all(&self.paths)?;
        let several = self.paths.len() > 1;
        for file in &all {
            let (path, kind) = file.named();
            let (columns, reply) = match file {
                OwnFile::Search(dirs) => status(dirs, self.format.format)?,
                OwnFile::Build(dir) => build(dir)?,
                OwnFile::Set(set) => database_set(set)?,
                OwnFile::Database(file) => database(&inspect(file)?),
                OwnFile::Table(file) | OwnFile::Pruning(file) => open_table(file)?.reply(None),
                OwnFile::Cosets(file) => cosets(&CosetTable::open(file)?),
                OwnFile::Log(file) => log(file)?,
            };
            let title = if several { format!("{path}: {kind}\n") } else { String::new() };
            let figures = with_more(json!({"path": path, "type": kind}), reply.figures);
            let words = title + &reply.words;
            destination.answer(&(columns, Reply { figures, words, ..reply }))?;
        }
        destination.finish()?;
        Failure::unless(!refused)
    }
}

/// How far a search has come.
fn status(dirs: &[PathBuf], format: OutputFormat) -> Result<AnyReply> {
    let of = disk::status(&directories(dirs)?)?;
    let (manifest, states, all_states) = (&of.manifest, of.states(), of.all_states);
    let speed = of.states_per_second();
    // The first levels are so thin that they say nothing about the rest.
    let telling = |all: &u64| states > all / 1000 && of.depth.is_some();
    let rest = all_states.filter(telling).map(|all| all.saturating_sub(states));
    let eta = rest.map(|rest| rest as f64 / speed.max(1e-9));
    let state = match (of.depth, of.running) {
        (None, _) => "complete",
        (Some(_), true) => "running",
        (Some(_), false) => "stopped",
    };
    let disk_bytes = manifest.disk_bytes() + of.scratch_bytes;
    // A commit notes the peak, and files have grown since the last one.
    let peak = manifest.peak_bytes.max(disk_bytes);
    let more = json!({
        "state": state,
        "depth": of.depth,
        "chunks": manifest.chunks,
        "chunks_done": of.chunks_done,
        "levels": manifest.depth(),
        "states": states,
        // Nothing where nobody knows, or 64 bits are not enough.
        "all_states": all_states,
        "seconds": manifest.seconds,
        "states_per_second": speed,
        "eta_seconds": eta,
        "disk_bytes": disk_bytes,
        "scratch_bytes": of.scratch_bytes,
        "disk_peak_bytes": peak,
        "bytes_written": manifest.bytes_written,
    });
    let share = |all: u64| {
        let share = states as f64 * 100.0 / all as f64;
        format!(" of {} ({share:.1} %)", thousands(all))
    };
    let share = all_states.map_or(String::new(), share);
    let eta = eta.map_or(String::new(), |eta| format!(", ETA {}", duration(eta)));
    let [now, most, written] = [disk_bytes, peak, manifest.bytes_written].map(bytes);
    let last = format!("{}, the last depth", manifest.depth().saturating_sub(1));
    let (chunks_done, chunks) = (of.chunks_done, manifest.chunks);
    let begun = |depth| format!("{depth}, {chunks_done} of {chunks} chunks done");
    let rows = [
        ("search", format!("{}: {state}", described(&of.searched))),
        ("depth", of.depth.map_or(last, begun)),
        ("states", thousands(states) + &share),
        ("time", format!("{}, {} states/s{eta}", duration(manifest.seconds), rate(speed))),
        ("disk", format!("{now} now, {most} at the peak, {written} written")),
    ];
    let figures = with_more(subject(&of.searched, format), more);
    let reply = Reply { figures, words: facts(9, rows), csv: None };
    Ok(("board,state,depth,chunks_done,chunks,states,seconds,disk_bytes", reply))
}

/// What the directory of a database's build says.
pub fn build(dir: &Path) -> Result<AnyReply> {
    let directory = Directory::open(dir, Io::Read).map_err(SystemError::unopened(dir))?;
    let Some(marker) = DatabaseMarker::read(&directory)? else {
        return Err(Failure::failed(format!(
            "'{}' no longer contains an unfinished build: the build has ended, or its files \
             were removed",
            dir.display()
        )));
    };
    let DatabaseMarker { board, goal, tiles: numbers, .. } = marker;
    let (_, size) = DiskBuild::new(&directory).space()?;
    let figures = json!({"board": board, "goal": goal, "tiles": numbers, "bytes": size});
    let what = "an unfinished pattern database: to continue the build, repeat the command that \
                started it";
    let rows = [
        ("build", what.into()),
        ("board", board),
        ("goal", goal),
        ("tiles", tiles(&numbers)),
        ("levels", bytes(size)),
    ];
    Ok(("board,goal,tiles,bytes", Reply { figures, words: facts(10, rows), csv: None }))
}

fn database_set(path: &Path) -> Result<AnyReply> {
    let (mut board, mut goal, mut size) = (None, None, 0);
    let (mut partitions, mut shown) = (Vec::new(), Vec::new());
    let mut known: Vec<PathBuf> = Vec::new();
    for partition in SetFile::read(path)?.partitions {
        let (mut members, mut words) = (Vec::new(), Vec::new());
        for file in partition {
            let name = file.display().to_string();
            let table = match OwnFile::find(&file)? {
                OwnFile::Pruning(_) => {
                    let table = PruningTable::open(&file)?;
                    Some((table.puzzle().to_string(), table.file_bytes()))
                }
                OwnFile::Cosets(_) => {
                    let table = CosetTable::open(&file)?;
                    Some((table.puzzle().to_string(), table.file_bytes()))
                }
                _ => None,
            };
            let bytes = if let Some((puzzle, bytes)) = table {
                members.push(json!({"file": name, "puzzle": puzzle, "bytes": bytes}));
                words.push(puzzle);
                bytes
            } else {
                let summary = inspect(&file)?;
                let (pattern, bytes) = (&summary.pattern, summary.file_bytes());
                board = Some(pattern.size().to_string());
                goal = Some(pattern.goal().to_string());
                let numbers = pattern.tiles();
                members.push(json!({"file": name, "tiles": numbers, "bytes": bytes}));
                words.push(tiles(numbers));
                bytes
            };
            if !known.contains(&file) {
                known.push(file);
                size += bytes;
            }
        }
        partitions.push(members);
        let label = if board.is_some() { "partition" } else { "table" };
        shown.push((label, words.join("  ")));
    }
    let figures = json!({"board": board, "goal": goal, "bytes": size, "partitions": partitions});
    let mut rows = vec![("board", board.unwrap_or_default()), ("goal", goal.unwrap_or_default())];
    rows.extend(shown);
    rows.push(("bytes", bytes(size)));
    Ok(("board,goal,partitions,bytes", Reply { figures, words: facts(11, rows), csv: None }))
}

/// What a coset table says about itself.
fn cosets(table: &CosetTable) -> AnyReply {
    let (puzzle, counts) = (table.puzzle(), table.histogram());
    let reached: u64 = counts.iter().sum();
    let ((symmetries, views), base) = (table.symmetries(), table.base());
    let (entries, size, checksum) =
        (table.entries(), table.file_bytes(), format!("{:016x}", table.checksum()));
    let figures = json!({
        "puzzle": puzzle.name(),
        "metric": puzzle.metric(),
        "classes": table.classes(),
        "entries": entries,
        "base": base,
        "symmetries": symmetries,
        "views": views,
        "histogram": counts,
        "bytes": size,
        "checksum": checksum,
    });
    let depths = format!("up to {base}, {}, {}, more", base + 1, base + 2);
    let rows = [
        ("puzzle", puzzle.to_string()),
        ("classes", table.classes()),
        ("depths", depths),
        ("entries", thousands(entries)),
        ("symmetries", format!("{symmetries}, and {} of a state", counted(views as u64, "view"))),
        ("bytes", bytes(size)),
        ("checksum", checksum),
    ];
    let words = value_histogram(counts, reached) + &facts(10, rows);
    ("depth,entries", Reply { figures, words, csv: Some(counts_csv(counts)) })
}

/// What a database file says about itself.
fn database(of: &Summary) -> AnyReply {
    let (order, metric) = match of.kind {
        Kind::Minimum => ("lexicographic placements", "moves of pattern tiles"),
        Kind::AllMoves => ("lexicographic placements", "moves of all tiles"),
        Kind::Regions => ("sets, regions, arrangements", "moves of pattern tiles"),
    };
    let reached = of.histogram.iter().sum();
    let more = json!({
        "compressed": of.compressed,
        "order": order,
        "metric": metric,
        "reached": reached,
    });
    let compressed = if of.compressed { ", compressed" } else { "" };
    let rows = [
        ("board", of.pattern.size().to_string()),
        ("goal", of.pattern.goal().to_string()),
        ("tiles", tiles(of.pattern.tiles())),
        ("kind", of.kind.to_string()),
        ("encoding", format!("{}{compressed}", of.encoding)),
        ("order", order.into()),
        ("metric", metric.into()),
        ("entries", thousands(of.entries)),
        ("reached", thousands(reached)),
        ("maximum", of.maximum().to_string()),
        ("mean", format!("{:.6}", of.mean())),
        ("bytes", bytes(of.file_bytes())),
        ("checksum", format!("{:016x}", of.checksum)),
    ];
    let words = value_histogram(&of.histogram, reached) + &facts(10, rows);
    let figures = with_more(database_figures(of), more);
    ("value,entries", Reply { figures, words, csv: Some(counts_csv(&of.histogram)) })
}

/// How far the boards of a log have come.
fn log(path: &Path) -> Result<AnyReply> {
    let LogFacts { goal, boards, solved, begun, nodes, seconds } = LogFacts::of(path)?;
    let size = std::fs::metadata(path)?.len();
    let figures = json!({
        "goal": goal,
        "boards": boards,
        "solved": solved,
        "begun": begun,
        "nodes": nodes,
        "seconds": seconds,
        "bytes": size,
    });
    let [solved, boards, begun] = [solved, boards, begun].map(thousands);
    let rows = [
        ("goal", goal),
        ("boards", format!("{solved} of {boards} solved, {begun} partly searched")),
        ("nodes", thousands(nodes)),
        ("time", duration(seconds)),
        ("bytes", bytes(size)),
    ];
    let reply = Reply { figures, words: facts(10, rows), csv: None };
    Ok(("goal,boards,solved,begun,nodes,seconds", reply))
}

/// What the lines of a log add up to.
pub struct LogFacts {
    goal: String,
    pub boards: u64,
    pub solved: u64,
    /// Boards whose search has begun and not ended.
    begun: u64,
    /// Nodes and seconds of the solved ones.
    nodes: u64,
    seconds: f64,
}

impl LogFacts {
    /// Reads a log.
    ///
    /// # Errors
    /// As of [`read_log`], which checks the checksum of every line.
    pub fn of(path: &Path) -> Result<LogFacts, Error> {
        let lines = read_log(path)?;
        // A line with the right checksum is what the program wrote.
        let mut lines = lines.iter().map(|line| serde_json::from_str(line).unwrap_or(Value::Null));
        let heading = lines.next().unwrap_or_default();
        let (mut solved, mut begun) = (BTreeSet::new(), BTreeSet::new());
        let (mut nodes, mut seconds) = (0, 0.0);
        for line in lines {
            let board = line["board"].as_u64();
            if line["line"] == "solved" {
                nodes += line["nodes"].as_u64().unwrap_or_default();
                seconds += line["seconds"].as_f64().unwrap_or_default();
                solved.insert(board);
            } else {
                begun.insert(board);
            }
        }
        Ok(LogFacts {
            goal: heading["goal"].as_str().unwrap_or_default().into(),
            boards: heading["boards"].as_u64().unwrap_or_default(),
            solved: solved.len() as u64,
            begun: begun.difference(&solved).count() as u64,
            nodes,
            seconds,
        })
    }
}
