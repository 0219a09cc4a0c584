//! `tilewave plan`: what a search needs before it is started.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;
use tilewave::Kernel;
use tilewave::internals::{Directory, Io, Storage};
use tilewave::puzzle::{Metric, StateSpace};
use tilewave::report::{bytes, counted, duration, published_for, rate, thousands};
use tilewave::search::{Forecast, Machines, Search};

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

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let space = self.counted.space(&self.puzzle)?;
        let levels = published_for(&space).map(|truth| truth.counts());
        let destination = self.output.reserve()?;
        let (running, last) = (&self.running, self.max_depth.max_depth);
        let search = Search {
            max_depth: last,
            engine: running.engine,
            kernel: kernel()?,
            threads: running.threads.get(),
            memory: Some(running.memory.budget()),
            ..Search::of(space.clone())
        };
        let machines = Machines {
            cores: self.cores.map(usize::from),
            // One process is no job: it plans as if nothing had been said of processes.
            ranks: self.ranks.map_or(1, u64::from),
            disk_bandwidth: self.disk_bandwidth,
            network: self.network,
        };
        let widths = levels.unwrap_or_default();
        let forecast = Forecast::of(&search, self.on_disk, self.keep_levels, widths, &machines)?;
        let levels = levels.map(|levels| match last {
            Some(depth) => levels.len().min(depth.saturating_add(1)),
            None => levels.len(),
        });
        let mut figures = self.figures(&space, &forecast, levels);
        figures["board"] = json!(board(&space, self.output.format));
        let columns = "board,states,engine,memory_bytes,fits,seconds,disk_peak_bytes,bytes_written";
        let words = || self.text(&space, &forecast, levels);
        destination.write(&self.output.format.result(figures, columns, words))
    }

    fn figures(
        &self,
        space: &StateSpace,
        of: &Forecast,
        levels: Option<usize>,
    ) -> serde_json::Value {
        let states = of.states;
        let (seconds, calibrated_on) = of.time.clone().unzip();
        let seconds = seconds.filter(|_| !of.is_without_network());
        let disk = of.disk.as_ref();
        let network = disk.and_then(|d| d.network.as_ref());
        let budget = self.running.memory.budget();
        json!({
            "puzzle": space.name(),
            "metric": space.metric().map(Metric::name),
            "group_order": space.definition().map(|_| states),
            "states": states,
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
            "disk_free_bytes": disk.and_then(|_| free(&self.dir)),
            "disk_peak_bytes": disk.map_or(0, |d| d.estimate.peak_bytes),
            "bytes_written": disk.map_or(0, |d| d.estimate.bytes_written),
            "bytes_read": disk.map_or(0, |d| d.estimate.bytes_read),
            "seconds": seconds,
            "ranks": network.and(self.ranks),
            "network_level_bytes": network.map(|(n, _)| n.level_bytes),
            "network_seconds": network.and_then(|(_, seconds)| *seconds),
            "io_seconds": disk.map(|d| d.io_seconds),
            "states_per_second": of.states_per_second(),
            "calibrated_on": calibrated_on,
            "projected": of.projected,
            "levels": levels,
        })
    }

    fn text(&self, space: &StateSpace, of: &Forecast, levels: Option<usize>) -> String {
        let states = of.states;
        let (kind, group) = match space.size() {
            Some(_) => ("board", String::new()),
            None => ("puzzle", format!("group    order {}\n", thousands(states))),
        };
        let kernel = of.kernel.map_or(String::new(), |k| format!(", {} kernel", k.name()));
        let levels = levels.map_or("unknown".into(), |l| l.to_string());
        let reached = match (of.reached, of.at_most) {
            (Some(reached), _) if reached < states => {
                format!(", {} of them to the last depth", thousands(reached))
            }
            (_, Some(most)) => {
                let most = thousands(most);
                format!(", at most {most} of them to the last depth")
            }
            _ => String::new(),
        };
        let budget = self.running.memory.budget();
        let mut text = format!(
            "{kind:<9}{space}\n{group}states   {}{reached}\nlevels   {levels}\nengine   {}{kernel}, {}\n\
             memory   {}: {} the budget of {}\n",
            thousands(states),
            of.engine,
            counted(of.threads as u64, "thread"),
            bytes(of.memory),
            verdict(of.memory, budget),
            bytes(budget),
        );
        if let Some(disk) = &of.disk {
            text += &format!(
                "chunks   {}, planes in {}\ndisk     {} at the peak, {} written, {} read, {} at {}/s\n",
                thousands(disk.chunks as u64),
                disk.planes.name(),
                bytes(disk.estimate.peak_bytes),
                bytes(disk.estimate.bytes_written),
                bytes(disk.estimate.bytes_read),
                duration(disk.io_seconds),
                bytes(self.disk_bandwidth),
            );
            let ranks = disk.network.and(self.ranks).unwrap_or(1);
            let share = disk.estimate.peak_bytes / u64::from(ranks);
            if let Some(free) = free(&self.dir) {
                text += &format!("free     {}: {} there\n", bytes(free), verdict(share, free));
            }
            if let Some((network, seconds)) = &disk.network {
                text += &format!(
                    "ranks    {ranks}, {} of disk for each\nnetwork  {} a level at most, {} in all\n",
                    bytes(share),
                    bytes(network.level_bytes),
                    seconds.map_or("unknown".into(), duration),
                );
            }
        }
        text += &match &of.time {
            Some((seconds, on)) => {
                let speed = of.states_per_second();
                let speed = speed.map_or(String::new(), |s| format!(", {} states/s", rate(s)));
                let seconds = duration(*seconds);
                let apart = if of.is_without_network() { " without the network" } else { "" };
                format!("time     {seconds} expected{apart}{speed} (calibrated on {on})\n")
            }
            None => "time     unknown: nothing smaller to measure it on\n".into(),
        };
        if !of.projected.is_empty() {
            text += &format!("projected, not measured: {}\n", of.projected.join("; "));
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
