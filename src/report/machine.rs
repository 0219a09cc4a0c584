//! The machine that a search ran on.

use serde::Serialize;

/// The machine that figures were measured on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Model name of the processor, where the system tells.
    pub cpu: Option<String>,
    /// Threads that the process may run at once.
    pub cores: usize,
    /// Operating system.
    pub os: &'static str,
    /// Processor architecture.
    pub arch: &'static str,
}

impl Machine {
    /// Returns a description of this machine. Cost: reads one small system file on Linux.
    pub fn this() -> Machine {
        Machine {
            cpu: std::fs::read_to_string("/proc/cpuinfo")
                .ok()
                .as_deref()
                .and_then(model_name),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
        }
    }
}

fn model_name(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo
        .lines()
        .find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim();
    (!name.is_empty()).then(|| name.to_string())
}
