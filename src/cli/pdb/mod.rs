//! `tilewave pdb`: additive pattern databases.
//!
//! `build` has the commands for single databases; `tilewave pdb set`, which makes and rates partitions of several, is
//! here. `tilewave solve` takes from it how nodes grow from threshold to threshold.

pub(super) mod build;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use clap::Subcommand;
use parking_lot::Mutex;
use serde_json::json;
use tilewave::{
    Board, Directory, Io, Optimal, Pattern, Size,
    internals::DatabaseMarker,
    pdb::{self, Build, DiskBuild, Encoding, Kind, SetFile, tilings},
    progress::Phase,
    pruning::PruningTable,
    report::{bytes, counted, duration},
    solve::{Scrambler, Stage, default_patterns, sweeps},
};

use crate::{
    Failure, MadeDirectories, OutputFile, OutputOptions, PuzzleOptions, Reply, ResourceOptions,
    Result, SearchProgress, count,
    info::OwnFile,
    made,
    pdb::build::{build_file, check_space, file_name},
    print, progress, read_input, refuse, seed,
    solve::{open_partitions, usable_table},
};

/// Build and use pattern databases.
#[derive(Subcommand)]
pub enum PdbCommand {
    Build(build::BuildArgs),
    Plan(build::PlanArgs),
    Probe(build::ProbeArgs),
    #[command(subcommand)]
    Set(SetCommand),
    Export(build::Export),
    /// Compress a database with zstd.
    Compress(build::CopyArgs),
    /// Restore a compressed database, byte for byte.
    Decompress(build::CopyArgs),
}

impl PdbCommand {
    pub fn run(&self) -> Result<()> {
        match self {
            PdbCommand::Build(args) => args.run(),
            PdbCommand::Plan(args) => args.run(),
            PdbCommand::Probe(args) => args.run(),
            PdbCommand::Set(SetCommand::Build(args)) => args.run(),
            PdbCommand::Set(SetCommand::Rate(args)) => args.run(),
            PdbCommand::Export(args) => args.run(),
            PdbCommand::Compress(args) => args.run(pdb::compress_with),
            PdbCommand::Decompress(args) => args.run(pdb::decompress_with),
        }
    }
}

// `tilewave pdb set`: several partitions of databases that are used together.

/// Build and rate sets of databases, which combine several partitions.
#[derive(Subcommand)]
pub enum SetCommand {
    Build(BuildSetArgs),
    Rate(RateArgs),
}

/// Build the best databases that fit in the memory limit for a board, or pruning tables for another puzzle.
#[derive(clap::Args)]
#[command(
    after_help = "To continue an interrupted build, run the same command again; complete databases \
                  are kept. While a database too large for memory is being built, its levels are \
                  kept in a directory next to the database file.\n\nExamples:\n  tilewave pdb set \
                  build 5x5 --memory 16GB -o set24/\n  tilewave solve --pdb set24/set.json < \
                  boards.txt\n  tilewave pdb set build 3x3x3 --memory 4GB -o cube/\n  tilewave \
                  solve 3x3x3 --pdb cube/set.json \"R U F' L2 D B\""
)]
pub struct BuildSetArgs {
    #[command(flatten)]
    of: PuzzleOptions,

    /// Directory for the databases and the set file (set.json); created if missing.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    /// Replace an existing set file, and files that have the name of a database of this set but other contents.
    #[arg(short, long)]
    force: bool,

    #[command(flatten)]
    resources: ResourceOptions,
}

/// Rate a set by its mean value on random boards and, with --boards, by the growth of searches.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  tilewave pdb set rate set24/set.json\n  \
                  tilewave pdb set rate set24/set.json --boards boards.txt --max-nodes 100000000")]
pub struct RateArgs {
    /// Set file, or the databases of one partition.
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Number of random boards over which values are averaged.
    #[arg(long, default_value_t = 10_000, value_parser = count::<u64>(), allow_negative_numbers = true)]
    samples: u64,

    /// Seed for the random boards [default: a random seed, which is logged].
    #[arg(long, value_name = "N", value_parser = count::<u64>(), allow_negative_numbers = true)]
    seed: Option<u64>,

    /// Also search the boards in FILE (one per line; - is stdin) and show the number of nodes at each threshold.
    #[arg(long, value_name = "FILE")]
    boards: Option<PathBuf>,

    /// Maximum number of nodes to search for each board in --boards.
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = count::<u64>(), allow_negative_numbers = true)]
    max_nodes: u64,

    #[command(flatten)]
    output: OutputOptions,
}

/// Removes the levels of a database that is written: a command that was killed between the two leaves them behind.
fn clear_left(levels: &Path) -> Result<()> {
    let Ok(directory) = Directory::open(levels, Io::Read) else {
        return Ok(());
    };
    let _made = MadeDirectories::here(levels);
    if DatabaseMarker::read(&directory)?.is_some() {
        DiskBuild::new(&directory).clear()?;
    }
    Ok(())
}

impl BuildSetArgs {
    fn run(&self) -> Result<()> {
        let begun = Instant::now();
        let _made = MadeDirectories::of(std::slice::from_ref(&self.output));
        made(&self.output, Io::Read)?;
        OutputFile::reserve(&self.set_file(), self.force)?;
        let PuzzleOptions { puzzle, counted } = &self.of;
        let Ok(size) = puzzle.parse::<Size>() else { return self.tables(begun) };
        counted.refuse_of_boards("databases of boards count single-tile moves")?;
        let goal = counted.goal.board(size)?;
        let partitions = self.choose(&goal)?;
        let file = |pattern: &Pattern| self.output.join(file_name(pattern));
        // A pattern of several partitions is one file.
        let all = partitions.iter().flatten();
        let all: BTreeMap<PathBuf, &Pattern> =
            all.map(|pattern| (file(pattern), pattern)).collect();
        let (mut total, mut missing) = (0, Vec::new());
        for (path, pattern) in &all {
            if let Some(bytes) = self.there(path, "database", usable(path, pattern))? {
                total += bytes;
                // Killed between the last byte of the file and the first of these.
                clear_left(&path.with_extension("levels"))?;
            } else {
                let build = self.build(pattern)?;
                let levels = levels(path, &build)?;
                missing.push((path, build, levels));
            }
        }
        for (i, (path, build, levels)) in missing.iter().enumerate() {
            let progress = SearchProgress::of_part(i, missing.len());
            let levels = levels.as_ref().map(|(levels, _)| levels);
            total += build_file(build, levels, (path, self.force), &progress)?.file_bytes();
            drop(progress);
            tracing::info!("wrote {}", path.display());
        }
        let files = partitions.iter().map(|patterns| patterns.iter().map(file).collect());
        let names = partitions.iter().map(|patterns| shown(patterns)).collect();
        self.write(files.collect(), names, total, begun)
    }

    /// What of a file can be used as it is; refuses to replace another file unasked.
    fn there<T>(&self, path: &Path, noun: &str, usable: Option<T>) -> Result<Option<T>> {
        let name = path.display();
        if usable.is_some() {
            tracing::info!("{name} already exists and is used as it is");
        } else if path.exists() && !self.force {
            refuse!(
                "'{name}' exists but is not a {noun} of this set: move it away, or replace it with \
                 --force"
            );
        }
        Ok(usable)
    }

    /// Writes the set file of partitions with these names and says what was built.
    fn write(
        &self,
        partitions: Vec<Vec<PathBuf>>,
        names: Vec<String>,
        total: u64,
        begun: Instant,
    ) -> Result<()> {
        let set = self.set_file();
        SetFile { partitions }.write(&set, self.force)?;
        print(&format!(
            "wrote {}: {}, {} in {}\n",
            set.display(),
            names.join("; "),
            bytes(total),
            duration(begun.elapsed().as_secs_f64()),
        ))
    }

    fn set_file(&self) -> PathBuf {
        self.output.join("set.json")
    }

    /// Builds pruning tables.
    fn tables(&self, begun: Instant) -> Result<()> {
        let puzzle = self.of.counted.listed(&self.of.puzzle)?.expect("it is no board");
        let resources = self.resources.get()?;
        let projections =
            PruningTable::default_projections(&puzzle, Some(self.resources.budget()))?;
        let (mut files, mut total, mut names) = (Vec::new(), 0, Vec::new());
        for (i, projection) in projections.iter().enumerate() {
            let file = self.output.join(table_name(projection.name()) + ".table");
            let table = match self.there(&file, "table", usable_table(&file, projection))? {
                Some(table) => table,
                None => {
                    let progress = SearchProgress::of_part(i, projections.len());
                    let table = PruningTable::build_narrow(projection, resources, &progress)?;
                    table.save(&file, true, &progress)?;
                    drop(progress);
                    tracing::info!("wrote {}", file.display());
                    table
                }
            };
            total += table.file_bytes();
            names.push(projection.to_string());
            files.push(vec![file]);
        }
        self.write(files, names, total, begun)
    }

    fn build(&self, pattern: &Pattern) -> Result<Build> {
        let (kind, encoding) = (Kind::Regions, Encoding::Bit);
        let build = Build::new(pattern.clone()).kind(kind).encoding(encoding);
        Ok(build.resources(self.resources.get()?))
    }

    /// The partitions that fit the memory together: those of the list, or of patterns as large as fit.
    fn choose(&self, goal: &Board) -> Result<Vec<Vec<Pattern>>> {
        // Small patterns only where there is no other.
        let small = default_patterns(goal)?;
        let listed = tilings(goal)?;
        let mut candidates = if listed.is_empty() {
            let larger = small.iter().map(|p| p.tiles().len()).max().unwrap_or(0) + 1;
            let most = goal.size().tiles().min(Pattern::MAX_TILES);
            let sweeps = (larger..=most).rev().map(|most| sweeps(goal, most));
            sweeps.collect::<Result<_, _>>()?
        } else {
            vec![listed]
        };
        candidates.push(vec![small]);
        let mut least = None;
        for all in candidates {
            let (mut chosen, mut total) = (Vec::<Vec<Pattern>>::new(), 0);
            for patterns in all {
                let new = |p: &&Pattern| !chosen.iter().flatten().any(|known| known == *p);
                let plans = patterns.iter().filter(new).map(|p| {
                    let build = self.build(p)?;
                    Ok(pdb::plan(&build).or_else(|_| pdb::plan_on_disk(&build))?)
                });
                match plans.collect::<Result<Vec<_>>>() {
                    Ok(plans) => {
                        let needed = total + plans.iter().map(|plan| plan.data_bytes).sum::<u64>();
                        if needed <= self.resources.budget() {
                            total = needed;
                            chosen.push(patterns);
                        }
                    }
                    Err(error) => least = Some(error),
                }
            }
            if !chosen.is_empty() {
                return Ok(chosen);
            }
        }
        match least {
            Some(error) => Err(error),
            None => refuse!(
                "no set of databases fits in {} of memory: raise --memory",
                bytes(self.resources.budget())
            ),
        }
    }
}

/// Where a database that is too large to be built in memory keeps its levels: beside the file. The directory goes with
/// the last of them.
fn levels(file: &Path, build: &Build) -> Result<Option<(Directory, MadeDirectories)>> {
    if pdb::plan(build).is_ok() {
        return Ok(None);
    }
    let path = file.with_extension("levels");
    let own = MadeDirectories::here(&path);
    let directory = made(&path, Io::Read)?;
    check_space(build, &directory, " or choose another directory")?;
    Ok(Some((directory, own)))
}

/// The bytes of a file that is the database of a set.
fn usable(path: &Path, pattern: &Pattern) -> Option<u64> {
    let summary = pdb::inspect(path).ok()?;
    let is_this = &summary.pattern == pattern
        && (summary.kind, summary.encoding) == (Kind::Regions, Encoding::Bit)
        && !summary.compressed;
    is_this.then(|| summary.file_bytes())
}

/// A partition in words: the numbers of tiles.
fn shown(patterns: &[Pattern]) -> String {
    let lengths = patterns.iter().map(|p| p.tiles().len().to_string());
    lengths.collect::<Vec<_>>().join("-")
}

impl RateArgs {
    fn run(&self) -> Result<()> {
        let mut destination = self.output.reserve()?;
        progress::listen();
        for path in &self.files {
            if OwnFile::find(path).is_ok_and(|file| file.has_pruning_tables()) {
                refuse!(
                    "'{}' contains pruning tables, but only pattern databases of boards can be rated: \
                     specify databases",
                    path.display()
                );
            }
        }
        let partitions = open_partitions(&self.files)?;
        let goal = partitions[0][0].pattern().goal().clone();
        let whole = Optimal::with_partitions(&goal, partitions.clone())?;
        let each = partitions.iter().map(|part| Optimal::with_partitions(&goal, [part.clone()]));
        let each = each.collect::<Result<Vec<Optimal>, _>>()?;
        let seed = seed(self.seed)?;
        let mut sums = vec![0u64; each.len() + 1];
        for board in Scrambler::new(goal.clone(), seed).take(self.samples as usize) {
            for (sum, solver) in sums.iter_mut().zip(each.iter().chain([&whole])) {
                *sum += solver.estimate(&board)? as u64;
            }
            if progress::asked() {
                return Err(Failure::interrupted());
            }
        }
        let names = partitions.iter().map(|part| {
            let patterns: Vec<Pattern> = part.iter().map(|pdb| pdb.pattern().clone()).collect();
            shown(&patterns)
        });
        destination.heading("partition,mean")?;
        for (partition, sum) in names.chain(["all together".into()]).zip(sums) {
            let mean = sum as f64 / self.samples.max(1) as f64;
            let figures = json!({"partition": partition, "mean": mean});
            let words = format!("{partition:14}  mean {mean:.4}\n");
            destination.line(&Reply { figures, words, csv: None })?;
        }
        if let Some(boards) = &self.boards {
            destination.heading("board,length,at_least,nodes,seconds")?;
            for line in read_input(boards)?.lines().filter(|line| !line.trim().is_empty()) {
                let board = Board::parse(line, Some(goal.size()))?;
                destination.line(&growth(&whole, &board, self.max_nodes)?)?;
            }
        }
        destination.finish()
    }
}

/// The search of one board: the nodes of its thresholds as far as they are allowed, and those of the next ones.
fn growth(solver: &Optimal, board: &Board, most: u64) -> Result<Reply> {
    let (total, thresholds) = (AtomicU64::new(0), Thresholds::new(0));
    let watch = ThresholdWatch { most, total, thresholds };
    let answer = solver.solve_with(board, &watch)?;
    let length = answer.moves.as_ref().map(|moves| moves.len());
    let mut done = watch.thresholds.nodes();
    if length.is_none() {
        // The last one is not done.
        done.pop();
    }
    let next = Thresholds::next(&done).filter(|_| length.is_none());
    let figures = json!({
        "board": board.to_string(),
        "length": length,
        "at_least": answer.at_least,
        "nodes": answer.nodes,
        "seconds": answer.seconds,
        "thresholds": done,
        "growth": next.map(|(_, growth)| growth),
        "next_nodes": next.map(|(nodes, _)| nodes),
    });
    let moves = |number| counted(number as u64, "move");
    let mut words = match length {
        Some(length) => format!("{board}  {}, {}", moves(length), counted(answer.nodes, "node")),
        None => format!("{board}  at least {}", moves(answer.at_least)),
    };
    if let (Some((next, growth)), Some(&(last, nodes))) = (next, done.last()) {
        let rate = answer.nodes as f64 / answer.seconds.max(1e-9);
        words += &format!(
            ", {} at threshold {last}, {growth:.2} times as many as at the previous threshold: \
             about {} and {} for the next threshold",
            counted(nodes, "node"),
            counted(next as u64, "node"),
            duration(next / rate),
        );
    }
    Ok(Reply { figures, words: words + "\n", csv: None })
}

/// Notes the thresholds of a search, and ends it after some nodes.
struct ThresholdWatch {
    most: u64,
    total: AtomicU64,
    thresholds: Thresholds,
}

impl tilewave::Progress for ThresholdWatch {
    fn progress(&self, phase: Phase, nodes: u64, _: u64) {
        self.total.fetch_max(nodes, Ordering::Relaxed);
        if let Phase::Search(threshold) = phase {
            self.thresholds.note(threshold, nodes);
        }
    }

    fn interrupted(&self) -> bool {
        progress::asked() || self.total.load(Ordering::Relaxed) >= self.most
    }
}

// The thresholds of a search: how many nodes each took, and how they grow.

/// The nodes of a search at the last look into each of its thresholds.
pub struct Thresholds {
    /// Nodes before the first look.
    before: u64,
    /// Threshold, and the nodes of the search up to then.
    seen: Mutex<Vec<(usize, u64)>>,
    /// When the last threshold was noted first, and the nodes up to then.
    begun: Mutex<(Instant, u64)>,
}

impl Thresholds {
    /// Those of a search that has generated some nodes before.
    pub fn new(before: u64) -> Thresholds {
        let begun = Mutex::new((Instant::now(), before));
        Thresholds { before, seen: Mutex::new(Vec::new()), begun }
    }

    /// Those of a search that goes on after iterations, each given by the stage that followed it.
    pub fn after(stages: &[Stage]) -> Thresholds {
        let first = stages.first().copied().unwrap_or_default();
        let thresholds = Thresholds::new(first.nodes - first.last);
        let mut threshold = first.threshold.saturating_sub(2);
        for stage in stages {
            thresholds.note(threshold, stage.nodes);
            threshold = stage.threshold;
        }
        thresholds
    }

    /// The iteration that was noted last is over, with so many nodes up to its end.
    pub fn close(&self, nodes: u64) {
        let mut seen = self.seen.lock();
        if let Some((_, last)) = seen.last_mut() {
            *last = nodes;
        }
    }

    /// A search has come to a number of nodes within a threshold. Called by any thread.
    pub fn note(&self, threshold: usize, nodes: u64) {
        let mut seen = self.seen.lock();
        match seen.last_mut() {
            Some((last, most)) if *last >= threshold => *most = nodes.max(*most),
            _ => {
                seen.push((threshold, nodes));
                *self.begun.lock() = (Instant::now(), nodes);
            }
        }
    }

    /// The share of the last threshold that is done, out of the nodes to expect of it, and the seconds that the rest
    /// takes at the speed so far; no time where less than a hundredth was done or more than expected.
    pub fn share(&self) -> Option<(f64, f64, Option<f64>)> {
        let all = self.nodes();
        let ((_, nodes), done) = all.split_last()?;
        let (expected, _) = Thresholds::next(done)?;
        let (begun, first) = *self.begun.lock();
        let last = self.seen.lock().last().map_or(0, |(_, nodes)| *nodes);
        let speed = last.saturating_sub(first) as f64 / begun.elapsed().as_secs_f64();
        let left = expected - *nodes as f64;
        let timed = speed * begun.elapsed().as_secs_f64() > expected / 100.0 && left > 0.0;
        Some((*nodes as f64 / expected, expected, timed.then_some(left / speed)))
    }

    /// The thresholds and the nodes of each, the last of which may not be done.
    pub fn nodes(&self) -> Vec<(usize, u64)> {
        let mut before = self.before;
        let seen = self.seen.lock();
        let of = |&(threshold, nodes): &(usize, u64)| {
            (threshold, nodes.saturating_sub(std::mem::replace(&mut before, nodes)))
        };
        seen.iter().map(of).collect()
    }

    /// The nodes to expect of the threshold behind some, and by how many times they grow: as from the last
    /// but one to the last.
    pub fn next(done: &[(usize, u64)]) -> Option<(f64, f64)> {
        match done {
            [.., (_, before), (_, last)] if *before > 0 => {
                let growth = *last as f64 / *before as f64;
                Some((*last as f64 * growth, growth))
            }
            _ => None,
        }
    }
}

/// The name of a puzzle as part of a file's name, which systems limit to 255 bytes: long ones end in a hash.
fn table_name(of: &str) -> String {
    let name = of.replace([' ', ':', ','], "-");
    let name = name.trim_matches('-');
    if name.len() <= 100 {
        return name.into();
    }
    let begin: String = name.chars().take(40).collect();
    format!("{begin}-{:016x}", twox_hash::XxHash3_64::oneshot(of.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::{Thresholds, table_name};

    #[test]
    fn each_threshold_has_its_own_nodes_and_the_next_is_expected() {
        let thresholds = Thresholds::new(100);
        for (threshold, nodes) in [(40, 110), (40, 150), (42, 170), (42, 350), (42, 300), (44, 400)]
        {
            thresholds.note(threshold, nodes);
        }
        let nodes = thresholds.nodes();
        assert_eq!(nodes, [(40, 50), (42, 200), (44, 50)]);
        assert_eq!(Thresholds::next(&nodes[..2]), Some((800.0, 4.0)));
        assert_eq!(Thresholds::next(&nodes[..1]), None);
    }

    #[test]
    fn names_of_tables_fit_into_a_directory() {
        assert_eq!(table_name("2x2x2 corners:1-4"), "2x2x2-corners-1-4");
        let of = |tiles: &str| table_name(&format!("graph:{} tiles:{tiles}", "0-1,".repeat(99)));
        assert!(of("1-4").len() <= 100 && of("1-4") != of("5-8"));
    }
}
