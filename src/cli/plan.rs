//! `tilewave plan`: what a search needs before it is started.

use std::path::{Path, PathBuf};

use clap::ValueHint;
use serde::Serialize;
use tilewave::{
    Directory, Io, Kernel, Storage,
    frontier::{DepthForecast, FrontierSearch},
    progress::StopWhen,
    puzzle::{Metric, StateSpace, orbits::OrbitPuzzle},
    report::{
        Published, bytes, counted, duration, grouped, published_for, published_growth, rate,
        thousands,
    },
    search::{Forecast, Machines},
};

use crate::cli::{
    Counted, Figures, Keep, MaxDepth, OutputFormat, OutputOptions, Result, Running, bandwidth, bfs,
    facts, progress, puzzle, refuse, unopened, whole,
};

/// Estimate the memory, disk space and time that a search needs.
#[derive(clap::Args)]
#[command(
    after_help = "Examples: tilewave plan 2x7\n          tilewave plan 4x4 --cores 16 -M 64GiB --disk-bandwidth 5GB/s\n          tilewave plan 4x4 --ranks 16 --cores 32 --disk-bandwidth 5GB/s --network 10GB/s"
)]
pub struct Args {
    /// Board (3x4), member of a family (topspin:12,4), named puzzle (3x3x3) or file (dino.gap).
    ///
    /// `tilewave puzzles` lists the families and the named puzzles, among them cubes of up to 20x20x20.
    #[arg(value_parser = puzzle)]
    puzzle: String,

    #[command(flatten)]
    counted: Counted,

    /// Plan for a machine with N cores like those of this machine.
    #[arg(long, value_name = "N", value_parser = whole(1u16, 4096), allow_negative_numbers = true)]
    cores: Option<u16>,

    /// Plan for N MPI processes, each on its own machine with the given --cores and --disk-bandwidth.
    #[arg(long, value_name = "N", value_parser = whole(1u16, 4096), allow_negative_numbers = true)]
    ranks: Option<u16>,

    /// Bandwidth at which each machine can send data.
    #[arg(long, value_name = "BYTES/s", value_parser = bandwidth, default_value = "1GB/s")]
    network: u64,

    /// Total read and write bandwidth of the disk.
    #[arg(long, value_name = "BYTES/s", value_parser = bandwidth, default_value = "1GB/s")]
    disk_bandwidth: u64,

    /// Plan a search on disk in DIR, even if memory would suffice.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    dir: Option<PathBuf>,

    #[command(flatten)]
    max_depth: MaxDepth,

    /// Levels to keep on disk.
    #[arg(long, value_name = "WHICH", default_value = "last", hide_short_help = true)]
    keep_levels: Keep,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    output: OutputOptions,
}

/// What a search will take, and where.
#[derive(Serialize)]
struct Planned {
    puzzle: String,
    metric: Option<&'static str>,
    group_order: Option<u64>,
    states: u64,
    states_to_depth: Option<u64>,
    states_to_depth_at_most: Option<u64>,
    engine: &'static str,
    kernel: Option<&'static str>,
    threads: usize,
    memory_bytes: u64,
    memory_budget_bytes: u64,
    fits: bool,
    chunks: Option<usize>,
    planes: Option<&'static str>,
    disk_free_bytes: Option<u64>,
    disk_peak_bytes: u64,
    bytes_written: u64,
    bytes_read: u64,
    seconds: Option<f64>,
    ranks: Option<u16>,
    network_level_bytes: Option<u64>,
    network_seconds: Option<f64>,
    io_seconds: Option<f64>,
    states_per_second: Option<f64>,
    calibrated_on: Option<String>,
    projected: Vec<String>,
    levels: Option<usize>,
    board: Option<String>,
    #[serde(skip)]
    space: StateSpace,
    #[serde(skip)]
    forecast: Forecast,
    #[serde(skip)]
    disk_bandwidth: u64,
}

impl Args {
    pub fn run(&self) -> Result<()> {
        if let Some(puzzle) = self.counted.orbits(&self.puzzle)? {
            let published = published_growth(&puzzle);
            return self.by_lists(puzzle, published.as_ref());
        }
        let space = self.counted.space(&self.puzzle)?;
        let published = published_for(&space);
        let last = self.max_depth.max_depth;
        if let Some(puzzle) =
            bfs::lists_instead(&self.running, &space, last, self.dir.as_slice(), self.numbered())?
        {
            return self.by_lists(puzzle, published);
        }
        let levels = published.map(|truth| truth.counts());
        let destination = self.output.reserve()?;
        let search = self.running.search(space.clone())?.max_depth(last);
        if let Some(dir) = self.dir.as_deref().filter(|dir| dir.exists()) {
            Directory::open(dir, Io::Read).map_err(unopened(dir))?;
        }
        let machines = Machines {
            cores: self.cores.map(usize::from),
            // One process is no job: it plans as if nothing had been said of processes.
            ranks: self.ranks.map_or(1, u64::from),
            disk_bandwidth: self.disk_bandwidth,
            network: self.network,
        };
        let keep_all = self.keep_levels == Keep::All;
        let widths = levels.unwrap_or_default();
        let of = Forecast::of(&search, self.dir.is_some(), keep_all, widths, &machines)?;
        let levels = levels.map(|levels| match last {
            Some(depth) => levels.len().min(depth.saturating_add(1)),
            None => levels.len(),
        });
        let disk = of.disk.as_ref();
        let network = disk.and_then(|d| d.network.as_ref());
        let (seconds, calibrated_on) = of.time.clone().unzip();
        let name = || space.name();
        let board = space.size().map(|size| size.to_string());
        let budget = self.running.resources.budget();
        destination.write(&Planned {
            puzzle: name(),
            metric: space.metric().map(Metric::name),
            group_order: space.definition().map(|_| of.states),
            states: of.states,
            states_to_depth: of.reached,
            states_to_depth_at_most: of.at_most,
            engine: of.engine.name(),
            kernel: of.kernel.map(Kernel::name),
            threads: of.threads,
            memory_bytes: of.memory,
            memory_budget_bytes: budget,
            fits: of.memory <= budget,
            chunks: disk.map(|d| d.chunks),
            planes: disk.map(|d| d.planes.name()),
            disk_free_bytes: disk.and_then(|_| self.free()),
            disk_peak_bytes: disk.map_or(0, |d| d.estimate.peak_bytes),
            bytes_written: disk.map_or(0, |d| d.estimate.bytes_written),
            bytes_read: disk.map_or(0, |d| d.estimate.bytes_read),
            seconds: seconds.filter(|_| !of.is_without_network()),
            ranks: network.and(self.ranks),
            network_level_bytes: network.map(|(n, _)| n.level_bytes),
            network_seconds: network.and_then(|(_, seconds)| *seconds),
            io_seconds: disk.map(|d| d.io_seconds),
            states_per_second: of.states_per_second(),
            calibrated_on,
            projected: of.projected.clone(),
            levels,
            board: board.or_else(|| (self.output.format == OutputFormat::Csv).then(name)),
            disk_bandwidth: self.disk_bandwidth,
            forecast: of,
            space,
        })
    }
}

impl Args {
    /// Bytes free where a search on disk would be.
    fn free(&self) -> Option<u64> {
        free(self.dir.as_deref().unwrap_or(Path::new(".")))
    }

    /// An option that only searches of numbered states have.
    fn numbered(&self) -> Option<&'static str> {
        let cores = self.cores.map(|_| "--cores");
        cores.or(self.ranks.map(|_| "--ranks")).or(self.running.numbered())
    }

    /// What searches by lists take.
    fn by_lists(&self, puzzle: OrbitPuzzle, published: Option<&Published>) -> Result<()> {
        if let Some(option) = self.numbered() {
            refuse!("{option} works only with numbered states, not in a list search: leave it out");
        }
        let destination = self.output.reserve()?;
        let search = FrontierSearch::new(puzzle)
            .max_depth(self.max_depth.max_depth)
            .resources(self.running.resources.get()?);
        let known = published.map_or(&[][..], |published| published.counts());
        tracing::info!(
            "searching the first levels to measure speed and growth; this takes some seconds"
        );
        let of = search.forecast(known, &StopWhen(progress::asked))?;
        let puzzle = &search.puzzle;
        destination.write(&ListsPlanned {
            puzzle: puzzle.to_string(),
            engine: "frontier",
            states: puzzle.states().map(|states| states.to_string()),
            symmetries: of.symmetries,
            threads: of.threads,
            memory_budget_bytes: self.running.resources.budget(),
            disk_free_bytes: self.free(),
            fits_to_depth: of.fits,
            fits_to_depth_counting_ahead: of.fits_ahead,
            calibrated_to_depth: of.measured_to,
            levels: of.depths.iter().map(PlannedLevel::of).collect(),
        })
    }
}

/// Most depths that the text has; the first ones take next to nothing.
const MOST_ROWS: usize = 12;

/// What searches by lists will take.
#[derive(Serialize)]
struct ListsPlanned {
    puzzle: String,
    engine: &'static str,
    states: Option<String>,
    symmetries: usize,
    threads: usize,
    memory_budget_bytes: u64,
    disk_free_bytes: Option<u64>,
    fits_to_depth: Option<usize>,
    fits_to_depth_counting_ahead: Option<usize>,
    calibrated_to_depth: usize,
    /// What a search to each depth takes.
    levels: Vec<PlannedLevel>,
}

#[derive(Serialize)]
struct PlannedLevel {
    depth: usize,
    states: f64,
    known: bool,
    memory_bytes: u64,
    memory_bytes_counting_ahead: u64,
    disk_bytes: u64,
    /// Nothing where the search that measures the speed was too short.
    seconds: Option<f64>,
}

impl PlannedLevel {
    fn of(of: &DepthForecast) -> PlannedLevel {
        PlannedLevel {
            depth: of.depth,
            states: of.states,
            known: of.known,
            memory_bytes: of.memory as u64,
            memory_bytes_counting_ahead: of.memory_ahead as u64,
            disk_bytes: of.disk as u64,
            seconds: of.seconds,
        }
    }

    fn states(&self) -> String {
        match (self.known, self.states < 1e15) {
            (true, true) => thousands(self.states as u64),
            (true, false) => format!("{:.4e}", self.states),
            (false, _) => format!("about {:.1e}", self.states),
        }
    }
}

impl Figures for ListsPlanned {
    const COLUMNS: &'static str = "depth,states,known,memory_bytes,disk_bytes,seconds";

    fn csv(&self) -> String {
        let row = |level: &PlannedLevel| {
            let PlannedLevel { depth, states, known, memory_bytes, disk_bytes, seconds, .. } =
                level;
            let seconds = seconds.map_or(String::new(), |seconds| format!("{seconds:.3}"));
            format!("{depth},{states:.0},{known},{memory_bytes},{disk_bytes},{seconds}\n")
        };
        self.levels.iter().map(row).collect()
    }

    fn words(&self) -> String {
        let line = |cells: [String; 6]| {
            let [depth, states, memory, ahead, disk, time] = cells;
            format!("{depth:>5}  {states:>24}  {memory:>10}  {ahead:>13}  {disk:>12}  {time:>11}\n")
        };
        let heading = ["depth", "states", "memory", "--count-ahead", "with --dir", "time"];
        let mut text = line(heading.map(String::from));
        let left_out = self.levels.len().saturating_sub(MOST_ROWS);
        for level in &self.levels[left_out..] {
            text += &line([
                level.depth.to_string(),
                level.states(),
                bytes(level.memory_bytes),
                bytes(level.memory_bytes_counting_ahead),
                bytes(level.disk_bytes),
                level.seconds.map_or("unknown".into(), duration),
            ]);
        }
        let memory = bytes(self.memory_budget_bytes);
        let mut fits = match self.fits_to_depth {
            Some(depth) => format!("{memory}: a search to depth {depth} fits"),
            None => format!("{memory}: no search fits"),
        };
        if self.fits_to_depth_counting_ahead != self.fits_to_depth
            && let Some(depth) = self.fits_to_depth_counting_ahead
        {
            fits += &format!("; with --count-ahead, a search to depth {depth} fits");
        }
        let beyond = match self.levels.last() {
            Some(last) if last.depth <= self.calibrated_to_depth => "",
            Some(last) if last.seconds.is_none() => {
                ", too briefly to estimate the times for greater depths"
            }
            _ => "; the times for greater depths are estimates",
        };
        let rows = [
            ("puzzle", self.puzzle.clone()),
            ("states", self.states.as_deref().map_or("unknown".into(), grouped)),
            ("engine", format!("{}, {}", self.engine, counted(self.threads as u64, "thread"))),
            ("symmetries", self.symmetries.to_string()),
            ("memory", fits),
            ("free", self.disk_free_bytes.map_or(String::new(), bytes)),
            ("time", format!("measured to depth {}{beyond}", self.calibrated_to_depth)),
            (
                "left out",
                match left_out {
                    0 => String::new(),
                    some => {
                        format!(
                            "depths 0 to {}, which need less memory and time: use --format csv to see them",
                            some - 1
                        )
                    }
                },
            ),
        ];
        format!("{text}\n{}", facts(12, rows))
    }
}

impl Figures for Planned {
    const COLUMNS: &'static str =
        "board,states,engine,memory_bytes,fits,seconds,disk_peak_bytes,bytes_written";

    fn words(&self) -> String {
        let of = &self.forecast;
        let kind = if self.group_order.is_some() { "puzzle" } else { "board" };
        let states = thousands(self.states);
        let order = self.group_order.map_or(String::new(), |_| format!("order {states}"));
        let reached = match (self.states_to_depth, self.states_to_depth_at_most) {
            (Some(reached), _) if reached < self.states => {
                format!(", {} of them within --max-depth", thousands(reached))
            }
            (_, Some(most)) => {
                format!(", at most {} of them within --max-depth", thousands(most))
            }
            _ => String::new(),
        };
        let kernel = self.kernel.map_or(String::new(), |name| format!(", {name} kernel"));
        let threads = counted(self.threads as u64, "thread");
        let budget = self.memory_budget_bytes;
        let fits = match self.memory_bytes.saturating_sub(budget) {
            0 => "fits within".into(),
            over => format!("does NOT fit, {} over", bytes(over)),
        };
        let memory = format!("{}: {fits} the limit of {}", bytes(self.memory_bytes), bytes(budget));
        let mut rows = vec![
            (kind, self.space.to_string()),
            ("group", order),
            ("states", format!("{states}{reached}")),
            ("levels", self.levels.map_or("unknown".into(), |levels| levels.to_string())),
            ("engine", format!("{}{kernel}, {threads}", self.engine)),
            ("memory", memory),
        ];
        if let Some(disk) = &of.disk {
            let (chunks, planes) = (thousands(disk.chunks as u64), disk.planes);
            let estimate = &disk.estimate;
            rows.push(("chunks", format!("{chunks}, exchanging bits in {planes}")));
            rows.push((
                "disk",
                format!(
                    "{} at the peak, {} written, {} read, {} at {}/s",
                    bytes(estimate.peak_bytes),
                    bytes(estimate.bytes_written),
                    bytes(estimate.bytes_read),
                    duration(disk.io_seconds),
                    format_args!("{}B", rate(self.disk_bandwidth as f64)),
                ),
            ));
            let ranks = self.ranks.unwrap_or(1);
            let share = estimate.peak_bytes / u64::from(ranks);
            if let Some(free) = self.disk_free_bytes {
                let enough = match share.saturating_sub(free) {
                    0 => "enough".into(),
                    more => format!("NOT enough, {} more needed", bytes(more)),
                };
                rows.push(("free", format!("{}: {enough}", bytes(free))));
            }
            if let Some((network, seconds)) = &disk.network {
                let most = bytes(network.level_bytes);
                let all = seconds.map_or("unknown".into(), duration);
                rows.push(("ranks", format!("{ranks}, {} of disk for each", bytes(share))));
                rows.push(("network", format!("at most {most} sent per level, {all} in total")));
            }
        }
        let time = of.time.as_ref().map(|(seconds, on)| {
            let speed = self.states_per_second;
            let speed = speed.map_or(String::new(), |s| format!(", {} states/s", rate(s)));
            let apart = if of.is_without_network() { " without the network" } else { "" };
            format!("{} expected{apart}{speed} (calibrated on {on})", duration(*seconds))
        });
        rows.push((
            "time",
            time.unwrap_or(
                "unknown: there is no smaller puzzle on which to measure the speed".into(),
            ),
        ));
        let projected = match self.projected.join("; ") {
            none if none.is_empty() => none,
            all => format!("projected, not measured: {all}\n"),
        };
        facts(9, rows) + &projected
    }
}

/// The bytes that are free where a directory is, or will be.
fn free(dir: &Path) -> Option<u64> {
    let there = dir.ancestors().find(|place| place.is_dir());
    let there = there.unwrap_or(Path::new("."));
    Directory::open(there, Io::Read).ok()?.free()
}
