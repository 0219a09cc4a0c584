//! `tilewave plan`: what a search needs before it is started.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;
use tilewave::bfs::disk::{self, Directories, Disk, Fit, PlaneStore};
use tilewave::bfs::{self, Engine, Network, Search};
use tilewave::puzzle::tiles::{Goal, Size};
use tilewave::report::{bytes, duration, one_key_per_line, published, rate, thousands};
use tilewave::store::{self, Simulated};

use super::failure::Usage;
use super::options::{Format, Running, kernel, parse_bytes, size};
use super::output::Output;

/// Bandwidth that is assumed of a disk unless told.
const DISK_BANDWIDTH: u64 = 1_000_000_000;

/// Bandwidth that is assumed of each machine's network unless told.
const NETWORK_BANDWIDTH: u64 = 1_000_000_000;

/// Say what a search needs: states, memory, disk, engine, and the time expected on this machine.
#[derive(clap::Args)]
#[command(
    after_help = "Examples: tilewave plan 2x7\n          tilewave plan 4x4 --cores 16 -M 64GiB --disk-bandwidth 5GB/s\n          tilewave plan 4x4 --ranks 16 --cores 32 --disk-bandwidth 5GB/s --network 10GB/s"
)]
pub struct Args {
    /// Size of the board, rows x columns.
    board: String,

    /// Plan a search on disk even where memory is enough.
    #[arg(long)]
    on_disk: bool,

    /// Plan for a machine with this many cores as fast as this one's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    cores: Option<u16>,

    /// Plan for this many processes under MPI, each on a machine of its own with these cores and this disk.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    ranks: Option<u16>,

    /// Bytes a second that each machine sends [default: 1GB/s].
    #[arg(long, value_name = "SIZE/s", requires = "ranks")]
    network: Option<String>,

    /// Bytes a second that the disk reads and writes together [default: 1GB/s].
    #[arg(long, value_name = "SIZE/s")]
    disk_bandwidth: Option<String>,

    /// Plan for keeping the files of all levels, not only of the last two.
    #[arg(long)]
    keep_all: bool,

    /// How to write the result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    output: Output,
}

/// What a plan says.
struct Planned {
    engine: Engine,
    fits: bool,
    memory: u64,
    budget: u64,
    threads: usize,
    seconds: f64,
    calibrated_on: Size,
    kernel: Option<&'static str>,
    disk: Option<OnDisk>,
}

/// What a plan says of the disk.
struct OnDisk {
    chunks: usize,
    planes: &'static str,
    estimate: disk::Estimate,
    io_seconds: f64,
    bandwidth: u64,
    ranks: Option<Ranks>,
}

/// What a plan says of many machines.
struct Ranks {
    ranks: u64,
    network: Network,
    seconds: f64,
}

impl Args {
    /// Runs the command.
    pub fn run(&self) -> Result<ExitCode> {
        let size = size(&self.board)?;
        let levels = published(size, size.cells() - 1).map(|truth| truth.counts().to_vec());
        let destination = self.output.reserve()?;
        let bandwidth = match &self.disk_bandwidth {
            Some(text) => parse_bandwidth(text)?,
            None => DISK_BANDWIDTH,
        };
        let planned = self.plan(size, levels.as_deref().unwrap_or_default(), bandwidth)?;
        let states = size.states().unwrap_or(u64::MAX);
        destination.write(&match self.format {
            Format::Json => one_key_per_line(&planned.json(size, states, levels.map(|l| l.len())))?,
            Format::Csv => planned.csv(size, states),
            Format::Text => planned.text(size, states, levels.map(|l| l.len())),
        })?;
        Ok(ExitCode::SUCCESS)
    }

    fn plan(&self, size: Size, widths: &[u64], bandwidth: u64) -> Result<Planned> {
        let plan = bfs::plan(size, self.running.engine.map(Engine::from))
            .map_err(tilewave::Error::from)?;
        let budget = match &self.running.memory {
            Some(text) => parse_bytes(text)?,
            None => store::budget(),
        };
        let threads = self.running.threads.map(usize::from);
        let sweeps = plan.engine == Engine::Sweep;
        let on_disk = sweeps
            && (self.on_disk
                || self.ranks.is_some()
                || plan.array_bytes > budget && self.running.engine.is_none());
        let calibration = match on_disk {
            true => disk::calibrate(&plan, threads, kernel()?)?,
            false => bfs::calibrate(&plan, threads, kernel()?)?,
        };
        let cores = self.cores.map_or(calibration.threads, usize::from);
        let computing = calibration.seconds * calibration.threads as f64 / cores as f64;
        let mut planned = Planned {
            engine: plan.engine,
            fits: plan.array_bytes <= budget,
            memory: plan.array_bytes,
            budget,
            threads: cores,
            seconds: computing,
            calibrated_on: calibration.board,
            kernel: calibration.kernel.map(|k| k.name()),
            disk: None,
        };
        if on_disk {
            let mut search = Search::new(Goal::Last.board(size).map_err(tilewave::Error::from)?);
            search.memory = Some(budget);
            let directories = Directories::new(vec![Box::new(Simulated::default())]);
            let mut disk = Disk::new(directories);
            let network = self
                .ranks
                .map(|ranks| bfs::network(size, usize::from(ranks)));
            let network = network.transpose()?;
            let ranks = self.ranks.map_or(1, u64::from);
            if let Some(network) = network {
                disk.shared_digits = Some(network.shared_digits);
                disk.planes = Some(PlaneStore::Files);
            }
            let fit = Fit::choose(&search, &disk, None)?;
            let fit = if network.is_some() {
                fit.with_planes_sent()
            } else {
                fit
            };
            let estimate = disk::estimate(size, widths, fit, self.keep_all);
            let moved = (estimate.bytes_read + estimate.bytes_written) as f64;
            let io_seconds = moved / (bandwidth * ranks) as f64;
            planned.engine = Engine::Disk;
            planned.memory = fit.bytes + network.map_or(0, |n| n.rank_bytes);
            planned.fits = planned.memory <= budget;
            // Readers and the writer work beside the computing threads.
            planned.seconds = (computing / ranks as f64).max(io_seconds);
            let ranks = match network {
                None => None,
                Some(network) => {
                    let link = match &self.network {
                        Some(text) => parse_bandwidth(text)?,
                        None => NETWORK_BANDWIDTH,
                    };
                    // As if every level were dense: an upper bound.
                    let all = network.level_bytes as f64 * widths.len().max(1) as f64;
                    let seconds = all / (link * ranks) as f64;
                    // Ranks compute, then send: the one waits for the other.
                    planned.seconds += seconds;
                    Some(Ranks {
                        ranks,
                        network,
                        seconds,
                    })
                }
            };
            planned.disk = Some(OnDisk {
                chunks: fit.chunks(),
                planes: fit.planes.name(),
                estimate,
                io_seconds,
                bandwidth,
                ranks,
            });
        }
        Ok(planned)
    }
}

impl Planned {
    fn json(&self, size: Size, states: u64, levels: Option<usize>) -> serde_json::Value {
        let disk = self.disk.as_ref();
        json!({
            "board": size.to_string(),
            "states": states,
            "engine": self.engine.name(),
            "kernel": self.kernel,
            "threads": self.threads,
            "memory_bytes": self.memory,
            "memory_budget_bytes": self.budget,
            "fits": self.fits,
            "chunks": disk.map(|d| d.chunks),
            "planes": disk.map(|d| d.planes),
            "disk_peak_bytes": disk.map_or(0, |d| d.estimate.peak_bytes),
            "bytes_written": disk.map_or(0, |d| d.estimate.bytes_written),
            "bytes_read": disk.map_or(0, |d| d.estimate.bytes_read),
            "seconds": self.seconds,
            "ranks": disk.and_then(|d| d.ranks.as_ref()).map(|r| r.ranks),
            "network_level_bytes": disk.and_then(|d| d.ranks.as_ref()).map(|r| r.network.level_bytes),
            "network_seconds": disk.and_then(|d| d.ranks.as_ref()).map(|r| r.seconds),
            "io_seconds": disk.map(|d| d.io_seconds),
            "states_per_second": states as f64 / self.seconds,
            "calibrated_on": self.calibrated_on.to_string(),
            "levels": levels,
            "version": env!("CARGO_PKG_VERSION"),
        })
    }

    fn csv(&self, size: Size, states: u64) -> String {
        let (peak, written) = self.disk.as_ref().map_or((0, 0), |d| {
            (d.estimate.peak_bytes, d.estimate.bytes_written)
        });
        format!(
            "board,states,engine,memory_bytes,fits,seconds,disk_peak_bytes,bytes_written\n{size},{states},{},{},{},{},{peak},{written}\n",
            self.engine, self.memory, self.fits, self.seconds
        )
    }

    fn text(&self, size: Size, states: u64, levels: Option<usize>) -> String {
        let kernel = self
            .kernel
            .map_or(String::new(), |k| format!(", {k} kernel"));
        let verdict = if self.fits { "fits" } else { "does NOT fit" };
        let levels = levels.map_or("unknown".into(), |l| l.to_string());
        let plural = if self.threads == 1 { "" } else { "s" };
        let mut text = format!(
            "board    {size}\nstates   {}\nlevels   {levels}\nengine   {}{kernel}, {} thread{plural}\n\
             memory   {}: {verdict} the budget of {}\n",
            thousands(states),
            self.engine,
            self.threads,
            bytes(self.memory),
            bytes(self.budget),
        );
        if let Some(disk) = &self.disk {
            text += &format!(
                "chunks   {}, planes in {}\ndisk     {} at the peak, {} written, {} read, {} at {}/s\n",
                disk.chunks,
                disk.planes,
                bytes(disk.estimate.peak_bytes),
                bytes(disk.estimate.bytes_written),
                bytes(disk.estimate.bytes_read),
                duration(disk.io_seconds),
                bytes(disk.bandwidth),
            );
            if let Some(Ranks {
                ranks,
                network,
                seconds,
            }) = &disk.ranks
            {
                text += &format!(
                    "ranks    {ranks}, {} of disk for each\nnetwork  {} a level at most, {} in all\n",
                    bytes(disk.estimate.peak_bytes / ranks),
                    bytes(network.level_bytes),
                    duration(*seconds),
                );
            }
        }
        text += &format!(
            "time     {} expected, {} states/s (calibrated on {})\n",
            duration(self.seconds),
            rate(states as f64 / self.seconds),
            self.calibrated_on
        );
        text
    }
}

/// Returns the bytes a second that `5GB/s` stands for.
fn parse_bandwidth(text: &str) -> Result<u64, Usage> {
    let wrong = || {
        Usage(format!(
            "'{text}' is not a bandwidth: write a size per second, for example 5GB/s or 800MB/s"
        ))
    };
    let size = text.strip_suffix("/s").ok_or_else(wrong)?;
    let bytes = parse_bytes(size).map_err(|_| wrong())?;
    if bytes == 0 { Err(wrong()) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_are_sizes_per_second() {
        assert_eq!(parse_bandwidth("5GB/s").unwrap(), 5_000_000_000);
        for wrong in ["5GB", "5", "/s", "0MB/s", "-1GB/s"] {
            assert!(parse_bandwidth(wrong).is_err(), "{wrong}");
        }
    }
}
