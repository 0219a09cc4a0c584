//! `tilewave plan`: what a search needs before it is started.

use std::path::{Path, PathBuf};

use clap::ValueHint;
use serde::Serialize;
use tilewave::{
    Directory, Io, Kernel, Storage,
    puzzle::{Metric, StateSpace},
    report::{bytes, counted, duration, published_for, rate, thousands},
    search::{Forecast, Machines},
};

use crate::cli::{
    Counted, Figures, Keep, MaxDepth, OutputFormat, OutputOptions, Result, Running, bandwidth,
    facts, puzzle, whole,
};

/// Estimate memory, disk and time before starting.
#[derive(clap::Args)]
#[command(
    after_help = "Examples: tilewave plan 2x7\n          tilewave plan 4x4 --cores 16 -M 64GiB --disk-bandwidth 5GB/s\n          tilewave plan 4x4 --ranks 16 --cores 32 --disk-bandwidth 5GB/s --network 10GB/s"
)]
pub struct Args {
    /// Size of a board (3x4), family of puzzles (topspin:12,4) or file that defines one (dino.gap).
    #[arg(value_parser = puzzle)]
    puzzle: String,

    #[command(flatten)]
    counted: Counted,

    /// Plan a search on disk even where memory is enough.
    #[arg(long)]
    on_disk: bool,

    /// Plan for a machine with this many cores as fast as this one's.
    #[arg(long, value_name = "N", value_parser = whole(1u16, 4096), allow_negative_numbers = true)]
    cores: Option<u16>,

    /// Plan for this many processes under MPI, each on its own machine with these cores and this disk.
    #[arg(long, value_name = "N", value_parser = whole(1u16, 4096), allow_negative_numbers = true)]
    ranks: Option<u16>,

    /// Bytes per second that each machine sends.
    #[arg(long, value_name = "SIZE/s", value_parser = bandwidth, default_value = "1GB/s")]
    network: u64,

    /// Bytes per second that the disk reads and writes together.
    #[arg(long, value_name = "SIZE/s", value_parser = bandwidth, default_value = "1GB/s")]
    disk_bandwidth: u64,

    /// Compare with the free space here.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = ".")]
    dir: PathBuf,

    #[command(flatten)]
    max_depth: MaxDepth,

    /// Which levels to keep.
    #[arg(long, default_value = "last")]
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
        let space = self.counted.space(&self.puzzle)?;
        let levels = published_for(&space).map(|truth| truth.counts());
        let destination = self.output.reserve()?;
        let last = self.max_depth.max_depth;
        let search = self.running.search(space.clone())?.max_depth(last);
        let machines = Machines {
            cores: self.cores.map(usize::from),
            // One process is no job: it plans as if nothing had been said of processes.
            ranks: self.ranks.map_or(1, u64::from),
            disk_bandwidth: self.disk_bandwidth,
            network: self.network,
        };
        let keep_all = self.keep_levels == Keep::All;
        let widths = levels.unwrap_or_default();
        let of = Forecast::of(&search, self.on_disk, keep_all, widths, &machines)?;
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
            disk_free_bytes: disk.and_then(|_| free(&self.dir)),
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
                format!(", {} of them to the last depth", thousands(reached))
            }
            (_, Some(most)) => format!(", at most {} of them to the last depth", thousands(most)),
            _ => String::new(),
        };
        let kernel = self.kernel.map_or(String::new(), |name| format!(", {name} kernel"));
        let threads = counted(self.threads as u64, "thread");
        let budget = self.memory_budget_bytes;
        let fits = verdict(self.memory_bytes, budget);
        let memory =
            format!("{}: {fits} the budget of {}", bytes(self.memory_bytes), bytes(budget));
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
            rows.push(("chunks", format!("{chunks}, planes in {planes}")));
            rows.push((
                "disk",
                format!(
                    "{} at the peak, {} written, {} read, {} at {}/s",
                    bytes(estimate.peak_bytes),
                    bytes(estimate.bytes_written),
                    bytes(estimate.bytes_read),
                    duration(disk.io_seconds),
                    bytes(self.disk_bandwidth),
                ),
            ));
            let ranks = self.ranks.unwrap_or(1);
            let share = estimate.peak_bytes / u64::from(ranks);
            if let Some(free) = self.disk_free_bytes {
                rows.push(("free", format!("{}: {} there", bytes(free), verdict(share, free))));
            }
            if let Some((network, seconds)) = &disk.network {
                let most = bytes(network.level_bytes);
                let all = seconds.map_or("unknown".into(), duration);
                rows.push(("ranks", format!("{ranks}, {} of disk for each", bytes(share))));
                rows.push(("network", format!("{most} a level at most, {all} in all")));
            }
        }
        let time = of.time.as_ref().map(|(seconds, on)| {
            let speed = self.states_per_second;
            let speed = speed.map_or(String::new(), |s| format!(", {} states/s", rate(s)));
            let apart = if of.is_without_network() { " without the network" } else { "" };
            format!("{} expected{apart}{speed} (calibrated on {on})", duration(*seconds))
        });
        rows.push(("time", time.unwrap_or("unknown: nothing smaller to measure it on".into())));
        let projected = match self.projected.join("; ") {
            none if none.is_empty() => none,
            all => format!("projected, not measured: {all}\n"),
        };
        facts(9, rows) + &projected
    }
}

/// Whether what is needed fits, and by how much it does not.
fn verdict(needed: u64, available: u64) -> String {
    match needed.checked_sub(available) {
        None | Some(0) => "fits".into(),
        Some(short) => format!("{} too much, does NOT fit", bytes(short)),
    }
}

/// The bytes that are free where a directory is, or will be.
fn free(dir: &Path) -> Option<u64> {
    let there = dir.ancestors().find(|place| place.is_dir());
    let there = there.unwrap_or(Path::new("."));
    Directory::open(there, Io::Read).ok()?.free()
}
