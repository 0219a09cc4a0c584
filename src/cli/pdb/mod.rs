//! `tilewave pdb`: additive pattern databases.
//!
//! `build` has the commands for single databases; `tilewave pdb set`, which makes and rates partitions of several, is
//! here. `tilewave solve` takes from it how nodes grow from threshold to threshold.

pub(super) mod build;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Subcommand;
use parking_lot::Mutex;
use tilewave::{
    Board, Directory, Io, Pattern,
    internals::DatabaseMarker,
    pdb::{self, Build, DiskBuild, Encoding, Kind, SetFile, tilings},
    pruning::{CosetTable, PruningTable},
    puzzle::Puzzle,
    report::{bytes, duration},
    solve::{Stage, default_patterns, sweeps},
};

use crate::{
    MadeDirectories, Measured, OutputFile, PuzzleOptions, ResourceOptions, Result, SearchProgress,
    made,
    pdb::build::{build_file, check_space, file_name},
    print, refuse,
    solve::{usable_cosets, usable_table},
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
}

impl PdbCommand {
    pub fn run(&self) -> Result<()> {
        match self {
            PdbCommand::Build(args) => args.run(),
            PdbCommand::Plan(args) => args.run(),
            PdbCommand::Probe(args) => args.run(),
            PdbCommand::Set(SetCommand::Build(args)) => args.run(),
            PdbCommand::Export(args) => args.run(),
        }
    }
}

// `tilewave pdb set`: several partitions of databases that are used together.

/// Build sets of databases, which combine several partitions.
#[derive(Subcommand)]
pub enum SetCommand {
    Build(BuildSetArgs),
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
    of: PuzzleOptions<Measured>,

    /// Directory for the databases and the set file (set.json); created if missing.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    /// Replace an existing set file, and files that have the name of a database of this set but other contents.
    #[arg(short, long)]
    force: bool,

    #[command(flatten)]
    resources: ResourceOptions,
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
        let why = "databases of boards count single-tile moves";
        let Some(goal) = counted.goal_board(puzzle, why)? else { return self.tables(begun) };
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
            let progress = SearchProgress::of_part("database", i, missing.len());
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
        let puzzle = self.of.counted.spec(&self.of.puzzle).listed()?;
        let (resources, budget) = (self.resources.get()?, self.resources.budget());
        let projections = PruningTable::default_projections(&puzzle, Some(budget))?;
        if CosetTable::suits(&puzzle) && projections != [puzzle.clone()] {
            return self.cosets(&puzzle, begun);
        }
        let (mut files, mut total, mut names) = (Vec::new(), 0, Vec::new());
        for (i, projection) in projections.iter().enumerate() {
            let file = self.output.join(table_name(projection.name()) + ".table");
            let table = match self.there(&file, "table", usable_table(&file, projection))? {
                Some(table) => table,
                None => {
                    let progress = SearchProgress::of_part("database", i, projections.len());
                    let table = PruningTable::build_narrow(projection, resources, &progress)?;
                    table.save_with(&file, true, &progress)?;
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

    /// Builds the coset table of a puzzle.
    fn cosets(&self, puzzle: &Puzzle, begun: Instant) -> Result<()> {
        let (resources, budget) = (self.resources.get()?, self.resources.budget());
        let size = format!("-{}MiB.cosets", budget >> 20);
        let file = self.output.join(table_name(puzzle.name()) + &size);
        let table = match self.there(&file, "table", usable_cosets(&file, puzzle))? {
            Some(table) => table,
            None => {
                let progress = SearchProgress::new();
                let table = CosetTable::build_with(puzzle, budget, resources, &progress)?;
                table.save_with(&file, true, &progress)?;
                drop(progress);
                tracing::info!("wrote {}", file.display());
                table
            }
        };
        let name = format!("{puzzle} ({})", table.classes());
        self.write(vec![vec![file]], vec![name], table.file_bytes(), begun)
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
