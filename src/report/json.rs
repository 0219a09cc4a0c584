//! The result of a search as one JSON object.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::{
    puzzle::Metric,
    report::{Published, Report},
};

impl Report<'_> {
    /// Returns the report as JSON. Existing keys do not change; more may be added.
    ///
    /// `counts`, `checksums` (16 hexadecimal digits each, because JSON readers commonly round integers above 2^53) and
    /// `level_seconds` have one value per depth. `diameter` and `antipodes`, the number of states at that depth, are
    /// null if the search stopped early (see `complete`); `kernel` is null for the reference engine;
    /// `peak_memory_bytes`, for the process, is null if the system does not report it. `seconds` is wall-clock time.
    /// `metric` is `stm` (one tile per move) or `mtm` (any number of tiles in a line); it and `board` are null for
    /// other puzzles, which have a `group_order`. `agrees_with` names the publications whose counts agree with every
    /// level; it is null if there are none or a level differs, and in the latter case `first_wrong_depth` is the first
    /// one that differs. `agrees_with_own` likewise names the file of this project's own results.
    ///
    /// `disk_bytes` is the maximum size of the level files at any time. `disk` has details of a search on disk, and is
    /// null for a search in memory: `planes` says where the bits that cross between chunks were stored (`memory` or
    /// `files`); `bytes_written` covers all sessions; the times for decoding, kernel, encoding, and waiting for readers
    /// or the writer are in thread-seconds of the last session; `network_bytes` is the number of bytes sent between
    /// `ranks` processes in this session for the step to each depth, and is empty for a single process.
    pub fn json(&self) -> Value {
        let outcome = self.outcome;
        let agrees = self.published.filter(|_| self.difference.is_none());
        let own = self.own.filter(|_| self.difference.is_none());
        let checksums = outcome.checksums.iter().map(|c| format!("{c:016x}"));
        let disk = outcome.disk.as_ref();
        json!({
            "board": outcome.space.size().map(|size| size.to_string()),
            "puzzle": outcome.space.name(),
            "metric": outcome.space.metric().map(Metric::name),
            "group_order": outcome.space.definition().map(|_| outcome.states),
            "goal": outcome.space.goal_text(),
            "start": outcome.space.start_text(),
            "engine": outcome.engine.name(),
            "kernel": outcome.kernel.map(|k| k.name()),
            "threads": outcome.threads,
            "complete": outcome.complete,
            "counts": outcome.counts,
            "total": outcome.total(),
            "diameter": outcome.diameter(),
            "antipodes": outcome.antipodes(),
            "mean_depth": outcome.mean_depth(),
            "checksums": checksums.collect::<Vec<_>>(),
            "seconds": outcome.seconds,
            "level_seconds": outcome.level_seconds,
            "states_per_second": self.states_per_second(),
            "peak_memory_bytes": self.peak_memory,
            "disk_bytes": disk.map_or(0, |disk| disk.peak_bytes),
            "disk": disk.map(|disk| json!({
                "chunks": disk.chunks,
                "planes": disk.planes.name(),
                "bytes_written": disk.bytes_written,
                "level_bytes": disk.level_bytes,
                "decode_seconds": disk.decode_seconds,
                "kernel_seconds": disk.kernel_seconds,
                "encode_seconds": disk.encode_seconds,
                "wait_seconds": disk.wait_seconds,
                "ranks": disk.ranks,
                "network_bytes": disk.network_bytes,
            })),
            "agrees_with": agrees.map(|truth| truth.citation()),
            "agrees_with_own": own.map(Published::name),
            "first_wrong_depth": self.difference.map(|difference| difference.depth),
            "machine": self.machine,
            "version": env!("CARGO_PKG_VERSION"),
        })
    }
}

/// Returns JSON with one key of the outermost object per line: readable, and short even with lists of a hundred levels.
///
/// ```
/// let value = serde_json::json!({"board": "3x3", "counts": [1, 2, 4]});
/// let text = tilewave::report::one_key_per_line(&value);
/// assert_eq!(text, "{\n  \"board\": \"3x3\",\n  \"counts\": [1, 2, 4]\n}\n");
/// ```
pub fn one_key_per_line(value: &Value) -> String {
    match value {
        Value::Object(keys) => format!("{{\n  {}\n}}\n", fields(keys, ",\n  ")),
        other => on_one_line(other) + "\n",
    }
}

fn fields(keys: &serde_json::Map<String, Value>, between: &str) -> String {
    let field = |(key, value): (&String, &Value)| format!("{}: {}", json!(key), on_one_line(value));
    keys.iter().map(field).collect::<Vec<_>>().join(between)
}

fn on_one_line(value: &Value) -> String {
    match value {
        Value::Object(keys) => format!("{{{}}}", fields(keys, ", ")),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(on_one_line).collect();
            format!("[{}]", values.join(", "))
        }
        other => other.to_string(),
    }
}

// The depth distribution as comma-separated values.

impl Report<'_> {
    /// Returns the levels as CSV with the columns depth, states, cumulative (states up to this depth)
    /// and checksum (16 hexadecimal digits), one row per depth.
    pub fn csv(&self) -> String {
        let mut text = String::from("depth,states,cumulative,checksum\n");
        let mut cumulative = 0;
        let levels = self.outcome.counts.iter().zip(&self.outcome.checksums);
        for (depth, (states, checksum)) in levels.enumerate() {
            cumulative += states;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{depth},{states},{cumulative},{checksum:016x}");
        }
        text
    }
}
