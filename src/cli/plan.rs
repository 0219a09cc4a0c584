//! `tilewave plan`: what a search needs before it is started.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;
use tilewave::Error;
use tilewave::puzzle::Metric;
use tilewave::report::{bytes, counted, duration, published_for, rate, thousands};
use tilewave::search::disk::{self, Directories, Disk, MemoryPlan, PlaneStore};
use tilewave::search::{self, Calibration, Engine, Network, Search, SearchError, Subject};
use tilewave::store::{Directory, Io, MemoryDirectory, Storage};

use crate::cli::disk::KEEP;
use crate::cli::options::{MaxDepth, OutputOptions, Running, bandwidth, choice, kernel, whole};
use crate::cli::puzzle::{Counted, board, puzzle};

/// Say what a search needs: states, memory, disk, engine, and the time expected on this machine.
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

    /// Plan for this many processes under MPI, each on a machine of its own with these cores and this disk.
    #[arg(long, value_name = "N", value_parser = whole(1u16, 4096), allow_negative_numbers = true)]
    ranks: Option<u16>,

    /// Bytes a second that each machine sends.
    #[arg(long, value_name = "SIZE/s", value_parser = bandwidth, default_value = "1GB/s")]
    network: u64,

    /// Bytes a second that the disk reads and writes together.
    #[arg(long, value_name = "SIZE/s", value_parser = bandwidth, default_value = "1GB/s")]
    disk_bandwidth: u64,

    /// Compare with what is free here.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, default_value = ".")]
    dir: PathBuf,

    #[command(flatten)]
    max_depth: MaxDepth,

    /// Which levels to keep.
    #[arg(long, value_parser = choice(KEEP), action = clap::ArgAction::Set, default_value = "last")]
    keep_levels: bool,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    output: OutputOptions,
}

/// What a plan says.
struct Planned {
    states: u64,
    /// Those to the last depth asked for; `None` where nobody knows.
    reached: Option<u64>,
    /// Most that these may be; `None` where they are known, and where they may be all.
    at_most: Option<u64>,
    engine: Engine,
    fits: bool,
    memory: u64,
    budget: u64,
    threads: usize,
    /// Seconds expected, and what was searched to find out.
    time: Option<(f64, String)>,
    kernel: Option<&'static str>,
    disk: Option<PlannedDisk>,
    /// What nobody measured on this machine and the figures rest on.
    projected: Vec<String>,
}

/// What a plan says of the disk.
struct PlannedDisk {
    chunks: usize,
    planes: &'static str,
    estimate: disk::Estimate,
    io_seconds: f64,
    bandwidth: u64,
    /// Bytes that are free where the search would be, if the system tells.
    free: Option<u64>,
    ranks: Option<PlannedRanks>,
}

/// What a plan says of many machines.
struct PlannedRanks {
    ranks: u64,
    network: Network,
    /// Seconds of all levels; `None` where nobody knows how many there are.
    seconds: Option<f64>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let subject = self.counted.subject(&self.puzzle)?;
        let levels = published_for(&subject).map(|truth| truth.counts());
        let destination = self.output.reserve()?;
        let planned = self.plan(&subject, levels.unwrap_or_default())?;
        let last = self.max_depth.max_depth;
        let levels = levels.map(|levels| match last {
            Some(depth) => levels.len().min(depth.saturating_add(1)),
            None => levels.len(),
        });
        let mut figures = planned.figures(&subject, levels);
        figures["board"] = json!(board(&subject, self.output.format));
        let columns = "board,states,engine,memory_bytes,fits,seconds,disk_peak_bytes,bytes_written";
        let words = || planned.text(&subject, levels);
        destination.write(&self.output.format.result(figures, columns, words))
    }

    fn plan(&self, subject: &Subject, widths: &[u64]) -> Result<Planned> {
        let plan = search::plan(subject, self.running.engine)?;
        let budget = self.running.memory.budget();
        let threads = self.running.threads.get();
        let bandwidth = self.disk_bandwidth;
        let sweeps = plan.engine == Engine::Sweep;
        let many = self.ranks.is_some_and(|ranks| ranks > 1);
        let forced = self.on_disk || many;
        let too_large = plan.array_bytes > budget && self.running.engine.is_none();
        // What is searched in memory only is planned there, unless files are asked for.
        let on_disk = sweeps && (forced || too_large && disk::suits(subject));
        let calibration = match on_disk {
            true => disk::calibrate(&plan, threads, kernel()?)?,
            false => search::calibrate(&plan, threads, kernel()?)?,
        };
        let measured = calibration.as_ref();
        let here = std::thread::available_parallelism().map_or(1, usize::from);
        let cores = self.cores.map(usize::from);
        let cores = cores.or(measured.map(|m| m.threads)).or(threads);
        let cores = cores.unwrap_or(here);
        let computing = |m: &Calibration| m.seconds * m.threads as f64 / cores as f64;
        let mut planned = Planned {
            states: plan.states,
            reached: Some(plan.states),
            at_most: None,
            engine: plan.engine,
            fits: plan.array_bytes <= budget,
            memory: plan.array_bytes,
            budget,
            threads: cores,
            time: measured.map(|m| (computing(m), m.subject.to_string())),
            kernel: measured.and_then(|m| m.kernel).map(|k| k.name()),
            disk: None,
            projected: Vec::new(),
        };
        if let Some(m) = measured.filter(|m| m.threads != cores) {
            let (cores, threads) = (counted(cores as u64, "core"), m.threads);
            let words = format!("{cores}, in proportion to the {threads} that were measured");
            planned.projected.push(words);
        }
        if on_disk {
            let mut search = Search::of(subject.clone());
            search.memory = Some(budget);
            search.kernel = kernel()?;
            let directories = Directories::new(vec![Box::new(MemoryDirectory::default())]);
            let mut disk = Disk::new(directories);
            // One process is no job: it plans as if nothing had been said of processes.
            let ranks = self.ranks.map_or(1, u64::from);
            let network = (ranks > 1).then(|| search::network(subject, ranks as usize));
            let network = network.transpose()?;
            if let Some(network) = network {
                disk.shared_digits = Some(network.shared_digits);
                disk.planes = Some(PlaneStore::Files);
            }
            let memory_plan = match MemoryPlan::choose(&search, &disk, None) {
                // What does not fit is planned as for a machine where it does.
                Err(Error::Search(SearchError::Memory { needed, .. })) => {
                    search.memory = Some(needed);
                    MemoryPlan::choose(&search, &disk, None)?
                }
                memory_plan => memory_plan?,
            };
            let memory_plan =
                if network.is_some() { memory_plan.with_planes_sent() } else { memory_plan };
            let depth = self.max_depth.max_depth;
            let shallow = disk::widths(subject, widths, depth)?;
            let estimate = disk::estimate(&shallow, memory_plan, self.keep_levels);
            // The first levels take their share of the time of all.
            if depth.is_some() {
                let (exact, states) = (shallow.exact, shallow.states());
                planned.reached = states.filter(|_| exact);
                planned.at_most = states.filter(|_| !exact);
                if let Some((seconds, _)) = &mut planned.time {
                    *seconds *= disk::share(&shallow, widths, memory_plan);
                }
            }
            let moved = (estimate.bytes_read + estimate.bytes_written) as f64;
            let io_seconds = moved / (bandwidth * ranks) as f64;
            let given = |what: &str, rate: u64| format!("{what} of {}/s, as given", bytes(rate));
            planned.projected.push("bytes a state, as on smaller boards".into());
            planned.projected.push(given("a disk", bandwidth));
            planned.engine = Engine::Disk;
            planned.memory = memory_plan.bytes + network.map_or(0, |n| n.rank_bytes);
            planned.fits = planned.memory <= budget;
            // Readers and the writer work beside the computing threads.
            if let Some((seconds, _)) = &mut planned.time {
                *seconds = (*seconds / ranks as f64).max(io_seconds);
            }
            let ranks = match network {
                None => None,
                Some(network) => {
                    // As if every level were dense: an upper bound, where their number is known.
                    let levels = Some(shallow.counts.len()).filter(|&levels| levels > 0);
                    let all = levels.map(|levels| network.level_bytes as f64 * levels as f64);
                    let machines = format!("{ranks} machines like this one");
                    let network_rate = given("a network", self.network);
                    planned.projected.extend([machines, network_rate]);
                    let seconds = all.map(|all| all / (self.network * ranks) as f64);
                    // Ranks compute, then send: the one waits for the other.
                    if let Some((expected, _)) = &mut planned.time {
                        *expected += seconds.unwrap_or(0.0);
                    }
                    Some(PlannedRanks { ranks, network, seconds })
                }
            };
            planned.disk = Some(PlannedDisk {
                chunks: memory_plan.chunks(),
                planes: memory_plan.planes.name(),
                estimate,
                io_seconds,
                bandwidth,
                free: free(&self.dir),
                ranks,
            });
        }
        Ok(planned)
    }
}

impl Planned {
    /// Whether the time leaves out what nobody knows, the network.
    fn without_network(&self) -> bool {
        let ranks = self.disk.as_ref().and_then(|disk| disk.ranks.as_ref());
        ranks.is_some_and(|ranks| ranks.seconds.is_none())
    }

    fn states_per_second(&self) -> Option<f64> {
        let (seconds, _) = self.time.as_ref().filter(|_| !self.without_network())?;
        Some(self.reached? as f64 / seconds)
    }

    fn figures(&self, subject: &Subject, levels: Option<usize>) -> serde_json::Value {
        let states = self.states;
        let (seconds, calibrated_on) = self.time.clone().unzip();
        let seconds = seconds.filter(|_| !self.without_network());
        let disk = self.disk.as_ref();
        let ranks = disk.and_then(|d| d.ranks.as_ref());
        json!({
            "puzzle": subject.name(),
            "metric": subject.metric().map(Metric::name),
            "group_order": subject.definition().map(|_| states),
            "states": states,
            "states_to_depth": self.reached,
            "states_to_depth_at_most": self.at_most,
            "engine": self.engine.name(),
            "kernel": self.kernel,
            "threads": self.threads,
            "memory_bytes": self.memory,
            "memory_budget_bytes": self.budget,
            "fits": self.fits,
            "chunks": disk.map(|d| d.chunks),
            "planes": disk.map(|d| d.planes),
            "disk_free_bytes": disk.and_then(|d| d.free),
            "disk_peak_bytes": disk.map_or(0, |d| d.estimate.peak_bytes),
            "bytes_written": disk.map_or(0, |d| d.estimate.bytes_written),
            "bytes_read": disk.map_or(0, |d| d.estimate.bytes_read),
            "seconds": seconds,
            "ranks": ranks.map(|r| r.ranks),
            "network_level_bytes": ranks.map(|r| r.network.level_bytes),
            "network_seconds": ranks.and_then(|r| r.seconds),
            "io_seconds": disk.map(|d| d.io_seconds),
            "states_per_second": self.states_per_second(),
            "calibrated_on": calibrated_on,
            "projected": self.projected,
            "levels": levels,
        })
    }

    fn text(&self, subject: &Subject, levels: Option<usize>) -> String {
        let states = self.states;
        let (kind, group) = match subject.size() {
            Some(_) => ("board", String::new()),
            None => ("puzzle", format!("group    order {}\n", thousands(states))),
        };
        let kernel = self.kernel.map_or(String::new(), |k| format!(", {k} kernel"));
        let levels = levels.map_or("unknown".into(), |l| l.to_string());
        let reached = match (self.reached, self.at_most) {
            (Some(reached), _) if reached < states => {
                format!(", {} of them to the last depth", thousands(reached))
            }
            (_, Some(most)) => {
                let most = thousands(most);
                format!(", at most {most} of them to the last depth")
            }
            _ => String::new(),
        };
        let mut text = format!(
            "{kind:<9}{subject}\n{group}states   {}{reached}\nlevels   {levels}\nengine   {}{kernel}, {}\n\
             memory   {}: {} the budget of {}\n",
            thousands(states),
            self.engine,
            counted(self.threads as u64, "thread"),
            bytes(self.memory),
            verdict(self.memory, self.budget),
            bytes(self.budget),
        );
        if let Some(disk) = &self.disk {
            text += &format!(
                "chunks   {}, planes in {}\ndisk     {} at the peak, {} written, {} read, {} at {}/s\n",
                thousands(disk.chunks as u64),
                disk.planes,
                bytes(disk.estimate.peak_bytes),
                bytes(disk.estimate.bytes_written),
                bytes(disk.estimate.bytes_read),
                duration(disk.io_seconds),
                bytes(disk.bandwidth),
            );
            let share = disk.estimate.peak_bytes / disk.ranks.as_ref().map_or(1, |r| r.ranks);
            if let Some(free) = disk.free {
                text += &format!("free     {}: {} there\n", bytes(free), verdict(share, free));
            }
            if let Some(PlannedRanks { ranks, network, seconds }) = &disk.ranks {
                text += &format!(
                    "ranks    {ranks}, {} of disk for each\nnetwork  {} a level at most, {} in all\n",
                    bytes(share),
                    bytes(network.level_bytes),
                    seconds.map_or("unknown".into(), duration),
                );
            }
        }
        text += &match &self.time {
            Some((seconds, on)) => {
                let speed = self.states_per_second();
                let speed = speed.map_or(String::new(), |s| format!(", {} states/s", rate(s)));
                let seconds = duration(*seconds);
                let apart = match self.without_network() {
                    true => " without the network",
                    false => "",
                };
                format!("time     {seconds} expected{apart}{speed} (calibrated on {on})\n")
            }
            None => "time     unknown: nothing smaller to measure it on\n".into(),
        };
        if !self.projected.is_empty() {
            text += &format!("projected, not measured: {}\n", self.projected.join("; "));
        }
        text
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
