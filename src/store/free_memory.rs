//! How much memory is free, for this process.
//!
//! Invariant: the limits of every control group from the process's own up to the root hold, so the least
//! of them counts (batch systems set theirs several levels up).

use std::fs;
use std::path::Path;

/// Returns the bytes that this process can still have, where the system tells (Linux).
pub(super) fn free_memory() -> Option<u64> {
    let system = available(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(
        left_in_groups(&groups, Path::new("/sys/fs/cgroup"))
            .map_or(system, |left| left.min(system)),
    )
}

/// The memory that the system says is available without swapping.
fn available(meminfo: &str) -> Option<u64> {
    let mut lines = meminfo.lines();
    let kib = lines.find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = kib.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// The least that is left in the control groups of a process (`/proc/self/cgroup`), of either version;
/// nothing where none has a limit.
fn left_in_groups(groups: &str, root: &Path) -> Option<u64> {
    let left = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let names = if controllers.is_empty() {
            ["memory.max", "memory.current", "inactive_file "]
        } else if controllers.split(',').any(|name| name == "memory") {
            [
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file ",
            ]
        } else {
            return None;
        };
        let root = match controllers {
            "" => root.to_path_buf(),
            _ => root.join("memory"),
        };
        let own = Path::new(path.trim_start_matches('/'));
        own.ancestors()
            .filter_map(|group| left(&root.join(group), names))
            .min()
    });
    left.min()
}

/// What is left in one group: its limit, less what it uses and could not give back at once.
fn left(group: &Path, [limit, used, cache]: [&str; 3]) -> Option<u64> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let limit = read(limit).as_deref().and_then(number)?;
    let used = read(used).as_deref().and_then(number)?;
    let stat = read("memory.stat").unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix(cache));
    let cached = cached.and_then(number).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cached)))
}

#[cfg(test)]
#[path = "../../tests/unit/free_memory.rs"]
mod tests;
