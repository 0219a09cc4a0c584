//! `tilewave plan`: what a search needs before it is started.

use std::path::{Path, PathBuf};

use clap::ValueHint;
use serde_json::{Value, json};
use tilewave::{
    Directory, Io, Kernel, Storage, SystemError,
    frontier::{DepthForecast, FrontierForecast, FrontierSearch},
    internals::{binary_bytes, used_symmetries},
    progress::StopWhen,
    puzzle::{Puzzle, Searched, StateSpace},
    report::{
        bytes, counted, described, duration, grouped, published_for, published_growth, rate,
        thousands,
    },
    search::{Forecast, Machines},
};

use crate::{
    FormatOption, Keep, MaxDepth, OutputFormat, PuzzleOptions, Reply, Result, Running, bandwidth,
    bfs, facts, first_given, progress, refuse, refuse_in_lists, subject, whole, with_more,
};

/// Estimate the memory, disk space and time that a search needs.
#[derive(clap::Args)]
#[command(
    after_help = "Examples: tilewave plan 2x7\n          tilewave plan 4x4 --cores 16 -M 64GiB --disk-bandwidth 5GB/s\n          tilewave plan 4x4 --ranks 16 --cores 32 --disk-bandwidth 5GB/s --network 10GB/s"
)]
pub struct Args {
    #[command(flatten)]
    of: PuzzleOptions,

    /// Plan for a machine with N cores like those of this machine.
    #[arg(long, value_name = "N", value_parser = whole(1u16, 4096), allow_negative_numbers = true)]
    cores: Option<u16>,

    /// Plan for N MPI processes, each on its own machine with the given --cores and --disk-bandwidth.
    #[arg(long, value_name = "N", value_parser = whole(1u16, 4096), allow_negative_numbers = true)]
    ranks: Option<u16>,

    /// With --ranks: bandwidth of each machine's network [default: 1GB/s].
    #[arg(long, value_name = "BYTES/s", value_parser = bandwidth, requires = "ranks")]
    network: Option<u64>,

    /// On disk: total read and write bandwidth [default: 1GB/s].
    #[arg(long, value_name = "BYTES/s", value_parser = bandwidth)]
    disk_bandwidth: Option<u64>,

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
    format: FormatOption,
}

/// Bytes a second of a disk or network of which nothing is said.
const BANDWIDTH: u64 = 1_000_000_000;

/// Most depths that the text of a plan of lists has; the first ones take next to nothing.
const MOST_ROWS: usize = 12;

impl Args {
    pub fn run(&self) -> Result<()> {
        self.running.refuse_bitmap()?;
        let space = match self.of.searched()? {
            Searched::Numbered(space) => space,
            Searched::Listed(puzzle) => {
                return self.by_lists(puzzle);
            }
        };
        let published = published_for(&space);
        let last = self.max_depth.max_depth;
        if let Some(puzzle) =
            bfs::lists_instead(&self.running, &space, last, self.dir.as_slice(), self.numbered())?
        {
            return self.by_lists(puzzle);
        }
        let levels = published.map(|truth| truth.counts());
        let destination = self.format.stdout();
        let search = self.running.search(space.clone())?.max_depth(last);
        if let Some(dir) = self.dir.as_deref().filter(|dir| dir.exists()) {
            Directory::open(dir, Io::Read).map_err(SystemError::unopened(dir))?;
        }
        let machines = Machines {
            cores: self.cores.map(usize::from),
            // One process is no job: it plans as if nothing had been said of processes.
            ranks: self.ranks.map_or(1, u64::from),
            disk_bandwidth: self.disk_bandwidth.unwrap_or(BANDWIDTH),
            network: self.network.unwrap_or(BANDWIDTH),
        };
        let keep_all = self.keep_levels == Keep::All;
        let widths = levels.unwrap_or_default();
        let of = Forecast::of(&search, self.dir.is_some(), keep_all, widths, &machines)?;
        if let Some(option) = self.on_disk().filter(|_| of.disk.is_none()) {
            refuse!(
                "{option} is for a search on disk, but {space} would be searched in memory: plan for a disk with --dir DIR, \
                 or leave out {option}"
            );
        }
        let levels = levels.map(|levels| match last {
            Some(depth) => levels.len().min(depth.saturating_add(1)),
            None => levels.len(),
        });
        destination.write(
            "board,states,engine,memory_bytes,fits,seconds,disk_peak_bytes,bytes_written",
            &self.planned(&space, &of, levels),
        )
    }

    /// What a search of numbered states will take, and where.
    fn planned(&self, space: &StateSpace, of: &Forecast, levels: Option<usize>) -> Reply {
        let disk = of.disk.as_ref();
        let network = disk.and_then(|disk| disk.network.as_ref());
        let seconds = of.time.as_ref().map(|(seconds, _)| seconds);
        let budget = self.running.resources.budget();
        let free = disk.and_then(|_| self.free());
        let keys = subject(&Searched::Numbered(space.clone()), self.format.format);
        let figures = json!({
            "states": of.states.to_string(),
            "states_to_depth": of.reached,
            "states_to_depth_at_most": of.at_most,
            "engine": of.engine.name(),
            "kernel": of.kernel.map(Kernel::name),
            "threads": of.threads,
            "memory_bytes": of.memory,
            "memory_budget_bytes": budget,
            "fits": of.memory <= budget,
            "chunks": disk.map(|d| d.chunks),
            "planes": disk.map(|d| d.planes.name()),
            "disk_free_bytes": free,
            "disk_peak_bytes": disk.map_or(0, |d| d.estimate.peak_bytes),
            "bytes_written": disk.map_or(0, |d| d.estimate.bytes_written),
            "bytes_read": disk.map_or(0, |d| d.estimate.bytes_read),
            "seconds": seconds.filter(|_| !of.is_without_network()),
            "ranks": network.and(self.ranks),
            "network_level_bytes": network.map(|(n, _)| n.level_bytes),
            "network_seconds": network.and_then(|(_, seconds)| *seconds),
            "io_seconds": disk.map(|d| d.io_seconds),
            "states_per_second": of.states_per_second(),
            "busy": of.busy,
            "calibrated_on": of.time.as_ref().map(|(_, on)| on),
            "projected": of.projected,
            "levels": levels,
        });
        let figures = with_more(keys, figures);
        let kind = if space.size().is_some() { "board" } else { "puzzle" };
        let states = thousands(of.states);
        let reached = match (of.reached, of.at_most) {
            (Some(reached), _) if reached < of.states => {
                format!(", {} of them within --max-depth", thousands(reached))
            }
            (_, Some(most)) => {
                format!(", at most {} of them within --max-depth", thousands(most))
            }
            _ => String::new(),
        };
        let kernel = of.kernel.map_or(String::new(), |kernel| format!(", {kernel} kernel"));
        let threads = counted(of.threads as u64, "thread");
        let fits = match of.memory.saturating_sub(budget) {
            0 => "fits within".into(),
            over => format!("does NOT fit, {} over", bytes(over)),
        };
        let memory = format!("{}: {fits} the limit of {}", bytes(of.memory), bytes(budget));
        let mut rows = vec![
            (kind, described(&Searched::Numbered(space.clone()))),
            ("states", format!("{states}{reached}")),
            ("levels", levels.map_or("unknown".into(), |levels| levels.to_string())),
            ("engine", format!("{}{kernel}, {threads}", of.engine)),
            ("memory", memory),
        ];
        if let Some(disk) = disk {
            let (chunks, planes) = (thousands(disk.chunks as u64), disk.planes);
            let estimate = &disk.estimate;
            rows.push(("chunks", format!("{chunks}, exchanging bits in {planes}")));
            rows.push((
                "disk",
                format!(
                    "{} at the peak, {} written, {} read, {} at {}B/s",
                    bytes(estimate.peak_bytes),
                    bytes(estimate.bytes_written),
                    bytes(estimate.bytes_read),
                    duration(disk.io_seconds),
                    rate(self.disk_bandwidth.unwrap_or(BANDWIDTH) as f64),
                ),
            ));
            let ranks = network.and(self.ranks).unwrap_or(1);
            let share = estimate.peak_bytes / u64::from(ranks);
            if let Some(free) = free {
                let enough = match share.saturating_sub(free) {
                    0 => "enough".into(),
                    more => format!("NOT enough, {} more needed", bytes(more)),
                };
                rows.push(("free", format!("{}: {enough}", bytes(free))));
            }
            if let Some((network, seconds)) = network {
                let most = bytes(network.level_bytes);
                let all = seconds.map_or("unknown".into(), duration);
                rows.push(("ranks", format!("{ranks}, {} of disk for each", bytes(share))));
                rows.push(("network", format!("at most {most} sent per level, {all} in total")));
            }
        }
        let time = of.time.as_ref().map(|(seconds, on)| {
            let speed = of.states_per_second();
            let speed = speed.map_or(String::new(), |s| format!(", {} states/s", rate(s)));
            let apart = if of.is_without_network() { " without the network" } else { "" };
            format!("{} expected{apart}{speed} (calibrated on {on})", duration(*seconds))
        });
        let unknown = || "unknown: there is no smaller puzzle on which to measure the speed".into();
        rows.push(("time", time.unwrap_or_else(unknown)));
        rows.push(("load", load(of.busy)));
        let projected = match of.projected.join("; ") {
            none if none.is_empty() => none,
            all => format!("projected, not measured: {all}\n"),
        };
        Reply { figures, words: facts(9, rows) + &projected, csv: None }
    }

    /// Bytes free where a search on disk would be.
    fn free(&self) -> Option<u64> {
        let dir = self.dir.as_deref().unwrap_or(Path::new("."));
        let there = dir.ancestors().find(|place| place.is_dir());
        Directory::open(there.unwrap_or(Path::new(".")), Io::Read).ok()?.free()
    }

    /// An option that only searches on disk have.
    fn on_disk(&self) -> Option<&'static str> {
        let bandwidth = (self.disk_bandwidth.is_some(), "--disk-bandwidth");
        first_given(&[bandwidth, (self.keep_levels == Keep::All, "--keep-levels")])
    }

    /// An option that only searches of numbered states have.
    fn numbered(&self) -> Option<&'static str> {
        let own = [(self.cores.is_some(), "--cores"), (self.ranks.is_some(), "--ranks")];
        first_given(&own).or(self.running.numbered())
    }

    fn by_lists(&self, puzzle: Puzzle) -> Result<()> {
        refuse_in_lists(self.numbered().or(self.on_disk()), &puzzle)?;
        let destination = self.format.stdout();
        let search = FrontierSearch::new(puzzle)
            .max_depth(self.max_depth.max_depth)
            .resources(self.running.resources.get()?);
        let published = published_growth(search.puzzle());
        let known = published.as_ref().map_or(&[][..], |published| published.counts());
        tracing::info!(
            "searching the first levels to measure speed and growth; this takes some seconds"
        );
        let of = search.forecast(known, &StopWhen(progress::asked))?;
        destination.write(
            "depth,states,known,memory_bytes,disk_bytes,seconds",
            &self.lists_planned(search.puzzle(), &of),
        )
    }

    fn lists_planned(&self, puzzle: &Puzzle, of: &FrontierForecast) -> Reply {
        let all_states = puzzle.states().map(|states| states.to_string());
        let (memory, free) = (self.running.resources.budget(), self.free());
        let level = |level: &DepthForecast| {
            json!({
                "depth": level.depth,
                "states": level.states,
                "known": level.known,
                "memory_bytes": level.memory as u64,
                "memory_bytes_counting_ahead": level.memory_ahead as u64,
                "disk_bytes": level.disk as u64,
                // Nothing where the search that measures the speed was too short.
                "seconds": level.seconds,
            })
        };
        let searched = Searched::Listed(puzzle.clone());
        let figures = json!({
            "engine": "frontier",
            "states": all_states,
            "symmetries": of.symmetries,
            "all_symmetries": of.all_symmetries.as_ref().map(ToString::to_string),
            "threads": of.threads,
            "memory_budget_bytes": memory,
            "disk_free_bytes": free,
            "fits_to_depth": of.fits,
            "fits_to_depth_counting_ahead": of.fits_ahead,
            "calibrated_to_depth": of.measured_to,
            "busy": of.busy,
            // What a search to each depth takes.
            "levels": of.depths.iter().map(level).collect::<Value>(),
        });
        let figures = with_more(subject(&searched, OutputFormat::Json), figures);
        let row = |level: &DepthForecast| {
            let DepthForecast { depth, states, known, memory, disk, seconds, .. } = *level;
            let (memory, disk) = (memory as u64, disk as u64);
            let seconds = seconds.map_or(String::new(), |seconds| format!("{seconds:.3}"));
            format!("{depth},{states:.0},{known},{memory},{disk},{seconds}\n")
        };
        let csv = of.depths.iter().map(row).collect();
        let line = |cells: [String; 6]| {
            let [depth, states, memory, ahead, disk, time] = cells;
            format!("{depth:>5}  {states:>24}  {memory:>10}  {ahead:>13}  {disk:>12}  {time:>11}\n")
        };
        let heading = ["depth", "states", "memory", "--count-ahead", "with --dir", "time"];
        let mut text = line(heading.map(String::from));
        let left_out = of.depths.len().saturating_sub(MOST_ROWS);
        for level in &of.depths[left_out..] {
            let states = match (level.known, level.states < 1e15) {
                (true, true) => thousands(level.states as u64),
                (true, false) => format!("{:.4e}", level.states),
                (false, _) => format!("about {:.1e}", level.states),
            };
            let [memory, ahead, disk] = [level.memory, level.memory_ahead, level.disk]
                .map(|size| binary_bytes(size as u64));
            let time = level.seconds.map_or("unknown".into(), duration);
            text += &line([level.depth.to_string(), states, memory, ahead, disk, time]);
        }
        let memory = bytes(memory);
        let mut fits = match of.fits {
            Some(depth) => format!("{memory}: a search to depth {depth} fits"),
            None => format!("{memory}: no search fits"),
        };
        if of.fits_ahead != of.fits
            && let Some(depth) = of.fits_ahead
        {
            fits += &format!("; with --count-ahead, a search to depth {depth} fits");
        }
        let beyond = match of.depths.last() {
            Some(last) if last.depth <= of.measured_to => "",
            Some(last) if last.seconds.is_none() => {
                ", too briefly to estimate the times for greater depths"
            }
            _ => "; the times for greater depths are estimates",
        };
        let rest = match left_out.checked_sub(1) {
            None => String::new(),
            Some(last) => format!(
                "depths 0 to {last}, which need less memory and time: use --format csv to see them"
            ),
        };
        let rows = [
            ("puzzle", described(&searched)),
            ("states", all_states.as_deref().map_or("unknown".into(), grouped)),
            ("engine", format!("frontier, {}", counted(of.threads as u64, "thread"))),
            ("symmetries", used_symmetries(of.symmetries, of.all_symmetries.as_ref())),
            ("memory", fits),
            ("free", free.map_or(String::new(), bytes)),
            ("time", format!("measured to depth {}{beyond}", of.measured_to)),
            ("load", load(of.busy)),
            ("left out", rest),
        ];
        Reply { figures, words: format!("{text}\n{}", facts(12, rows)), csv: Some(csv) }
    }
}

/// What a machine that is busy does to the times of a plan; nothing for one that is not.
fn load(busy: Option<f64>) -> String {
    let busy = busy.filter(|&share| share >= BUSY);
    busy.map_or(String::new(), |share| {
        let share = share * 100.0;
        format!("other processes used {share:.0} % of the processor time meanwhile: alone, the search takes less time")
    })
}

/// The share of the processor time of other processes that makes itself felt.
const BUSY: f64 = 0.1;
