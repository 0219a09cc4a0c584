//! The result of a search as one JSON object.

use std::io;

use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;

use super::{Agreement, Machine, Report};

/// The JSON form of a report. The keys are stable; more may be added.
#[derive(Clone, Debug, Serialize)]
pub struct SearchJson<'a> {
    /// Size of the board, `RxC`.
    pub board: String,
    /// Metric: `stm`, one tile per move.
    pub metric: &'static str,
    /// The goal in board notation.
    pub goal: String,
    /// The board at depth 0 in board notation.
    pub start: String,
    /// Engine that ran.
    pub engine: &'static str,
    /// Kernel that ran, null for the reference engine.
    pub kernel: Option<&'static str>,
    /// Worker threads.
    pub threads: usize,
    /// Whether the search ran until no new state was found.
    pub complete: bool,
    /// States per depth.
    pub counts: &'a [u64],
    /// Sum of the counts.
    pub total: u64,
    /// Largest depth, null when the search stopped early.
    pub diameter: Option<usize>,
    /// States at the largest depth, null when the search stopped early.
    pub antipodes: Option<u64>,
    /// Mean depth of the states found.
    pub mean_depth: f64,
    /// Checksum per depth, 16 hexadecimal digits each.
    #[serde(serialize_with = "hex")]
    pub checksums: &'a [u64],
    /// Wall time of the search.
    pub seconds: f64,
    /// Wall time per depth.
    pub level_seconds: &'a [f64],
    /// States found per second of wall time.
    pub states_per_second: f64,
    /// Peak resident memory of the process, null where the system does not tell.
    pub peak_memory_bytes: Option<u64>,
    /// Most bytes of level files at any time, 0 for a search in memory.
    pub disk_bytes: u64,
    /// What a search on disk used of it, null for one in memory.
    pub disk: Option<DiskJson<'a>>,
    /// The publications that every level agrees with, null when there is none or a level differs.
    pub agrees_with: Option<String>,
    /// First depth that differs from what is published, null when none does.
    pub first_wrong_depth: Option<usize>,
    /// The machine that the search ran on.
    pub machine: &'a Machine,
    /// Version of this program.
    pub version: &'static str,
}

/// What a search on disk used.
#[derive(Clone, Debug, Serialize)]
pub struct DiskJson<'a> {
    /// Number of chunks.
    pub chunks: usize,
    /// Where the bits that cross between chunks lay: `memory` or `files`.
    pub planes: &'static str,
    /// Bytes of level files written, over all sessions.
    pub bytes_written: u64,
    /// Bytes of each level's files.
    pub level_bytes: &'a [u64],
    /// Thread-seconds of the last session spent decoding frames.
    pub decode_seconds: f64,
    /// Thread-seconds of the last session spent in the kernel.
    pub kernel_seconds: f64,
    /// Thread-seconds of the last session spent encoding frames.
    pub encode_seconds: f64,
    /// Thread-seconds of the last session in which workers waited for a reader or the writer.
    pub wait_seconds: f64,
    /// Processes of this session.
    pub ranks: usize,
    /// Bytes sent between ranks in this session for the step to each depth; empty for one process.
    pub network_bytes: &'a [u64],
}

impl Report<'_> {
    /// Returns the report in its JSON form.
    pub fn json(&self) -> SearchJson<'_> {
        let outcome = self.outcome;
        let (agrees_with, first_wrong_depth) = match &self.agreement {
            Agreement::Unpublished => (None, None),
            Agreement::Agrees(truth) => (Some(truth.citation()), None),
            Agreement::Differs(_, difference) => (None, Some(difference.depth)),
        };
        SearchJson {
            board: outcome.size().to_string(),
            metric: "stm",
            goal: outcome.goal.to_string(),
            start: outcome.start.to_string(),
            engine: outcome.engine.name(),
            kernel: outcome.kernel.map(|k| k.name()),
            threads: outcome.threads,
            complete: outcome.complete,
            counts: &outcome.counts,
            total: outcome.total(),
            diameter: outcome.diameter(),
            antipodes: outcome.antipodes(),
            mean_depth: outcome.mean_depth(),
            checksums: &outcome.checksums,
            seconds: outcome.seconds,
            level_seconds: &outcome.level_seconds,
            states_per_second: self.states_per_second(),
            peak_memory_bytes: self.peak_memory,
            disk_bytes: outcome.disk.as_ref().map_or(0, |disk| disk.peak_bytes),
            disk: outcome.disk.as_ref().map(|disk| DiskJson {
                chunks: disk.chunks,
                planes: disk.planes.name(),
                bytes_written: disk.bytes_written,
                level_bytes: &disk.level_bytes,
                decode_seconds: disk.decode_seconds,
                kernel_seconds: disk.kernel_seconds,
                encode_seconds: disk.encode_seconds,
                wait_seconds: disk.wait_seconds,
                ranks: disk.ranks,
                network_bytes: &disk.network_bytes,
            }),
            agrees_with,
            first_wrong_depth,
            machine: &self.machine,
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// Checksums as text: JSON readers commonly round integers above 2^53.
fn hex<S: Serializer>(checksums: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(checksums.iter().map(|c| format!("{c:016x}")))
}

/// Returns a value as JSON with one key of the outermost object per line: readable, and short even
/// with lists of a hundred levels.
///
/// # Errors
/// When the value has no JSON form, for example a map whose keys are not strings.
///
/// ```
/// let value = serde_json::json!({"board": "3x3", "counts": [1, 2, 4]});
/// let text = tilewave::report::one_key_per_line(&value)?;
/// assert_eq!(text, "{\n  \"board\": \"3x3\",\n  \"counts\": [1, 2, 4]\n}\n");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn one_key_per_line<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, KeyPerLine::default());
    value.serialize(&mut serializer)?;
    text.push(b'\n');
    Ok(String::from_utf8(text).expect("JSON is written as UTF-8"))
}

/// Breaks lines between the keys of the outermost object only.
#[derive(Default)]
struct KeyPerLine {
    depth: usize,
}

impl KeyPerLine {
    fn open<W: io::Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(bracket)
    }

    fn close<W: io::Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(bracket)
    }
}

impl Formatter for KeyPerLine {
    fn begin_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        let outermost = self.depth == 1;
        self.close(writer, if outermost { b"\n}" } else { b"}" })
    }

    fn begin_object_key<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        writer.write_all(match (self.depth, first) {
            (1, true) => b"\n  ",
            (1, false) => b",\n  ",
            (_, true) => b"",
            (_, false) => b", ",
        })
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
