//! Searches on disk to be attacked: how they are made, what they hold, what is true.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;

use super::calls::{self, Fault};
use super::program::{Done, run, tilewave};

/// Files of a user that happen to lie in a run's directory, named to tempt.
pub const OTHERS: [(&str, &str); 6] = [
    ("cross-validation.csv", "fold,error\n1,0.5\n"),
    ("level-notes.txt", "depth 20 looks fine\n"),
    ("level-003.chunk-00001.bak", "an old copy\n"),
    ("manifest.txt", "what is in here\n"),
    ("cross-001.txt", "x\n"),
    ("manifest-old", "y\n"),
];

/// A kind of search on disk.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub board: &'static str,
    pub options: &'static [&'static str],
    pub directories: usize,
    /// How often what is done is committed.
    pub every: &'static str,
    /// The last depth, where the whole would take too long.
    pub depth: Option<usize>,
}

pub const SETUPS: [Setup; 11] = [
    Setup::new("2x4", &["--shared-digits", "1", "--planes", "files"], 1),
    Setup::new("3x3", &["--shared-digits", "1", "--planes", "files"], 1),
    Setup::new("3x3", &["--shared-digits", "1", "--keep-levels", "all"], 2),
    Setup::new("3x3", &["--shared-digits", "2", "--planes", "files"], 2),
    Setup::new("2x5", &["--shared-digits", "1"], 1),
    Setup::new("2x5", &["--shared-digits", "1", "--planes", "files"], 2),
    Setup::new("2x4", &["--shared-digits", "1", "--keep-levels", "all", "--io", "mmap"], 1),
    // Moves without a way back: the level behind the deepest one has files.
    Setup::new("lx:8", &["--shared-digits", "1"], 1),
    Setup::new("lx:8", &["--shared-digits", "1", "--planes", "files"], 2),
    HUNDREDS,
    Setup::new("3x3", &["--shared-digits", "1", "--planes", "files", "--io", "mmap"], 1),
];

/// Hundreds of files wait for one commit: more than may be open, so that some are synced long before it.
pub const HUNDREDS: Setup = Setup::new("2x5", &["--shared-digits", "3"], 1).every("1h");

/// Chunks that send each other so much that the room of what was read is given back while the file is used. What they
/// send depends on the layout, so on the kernel: of depth 28 AVX-512 gives nothing back, AVX2 does.
pub const LARGE: Setup =
    Setup::new("2x7", &["--shared-digits", "1", "--planes", "files"], 1).to(34);

/// The same, mapped: what is given back is still in a map.
pub const LARGE_MAPPED: Setup =
    Setup::new("2x7", &["--shared-digits", "1", "--planes", "files", "--io", "mmap"], 1).to(34);

impl Setup {
    pub const fn new(
        board: &'static str,
        options: &'static [&'static str],
        directories: usize,
    ) -> Setup {
        Setup { board, options, directories, every: "0", depth: None }
    }

    /// The same with fewer commits.
    pub const fn every(self, every: &'static str) -> Setup {
        Setup { every, ..self }
    }

    /// The same to a depth only.
    pub const fn to(self, depth: usize) -> Setup {
        let depth = Some(depth);
        Setup { depth, ..self }
    }

    /// The directories of a search in a folder.
    pub fn places(&self, folder: &Path) -> Vec<PathBuf> {
        (0..self.directories).map(|n| folder.join(format!("disk{n}"))).collect()
    }

    /// The command that starts the search in a folder, or goes on with it.
    pub fn command(&self, folder: &Path) -> Command {
        self.with("bfs", &self.places(folder))
    }

    /// The same with directories as given.
    pub fn with(&self, verb: &str, places: &[PathBuf]) -> Command {
        self.limited(verb, places, self.depth)
    }

    fn limited(&self, verb: &str, places: &[PathBuf], depth: Option<usize>) -> Command {
        let mut command = tilewave([verb]);
        if verb == "bfs" {
            command.arg(self.board).args(self.options);
        }
        if let Some(depth) = depth {
            command.args(["--max-depth", &depth.to_string()]);
        }
        command.args(["-q", "-j", "2", "--format", "csv"]);
        command.args(["--commit-every", self.every]);
        for place in places {
            command.args((verb == "bfs").then_some("--dir")).arg(place);
        }
        command
    }

    /// Makes the directories with a user's files in them.
    pub fn prepare(&self, folder: &Path) {
        for place in self.places(folder) {
            std::fs::create_dir_all(&place).unwrap();
            for (name, text) in OTHERS {
                std::fs::write(place.join(name), text).unwrap();
            }
        }
    }

    /// Searches in a folder to a depth.
    pub fn until(&self, folder: &Path, depth: usize) {
        let done = run(&mut self.limited("bfs", &self.places(folder), Some(depth)));
        assert!(done.ok(), "{done:?}");
    }

    /// Searches in a folder until the `nth` rename, and is killed there. Where commits are rare, until so many files
    /// are new that the first of them are synced.
    pub fn killed(&self, folder: &Path, nth: usize) {
        let (class, nth) = match self.every {
            "0" => ("rename", nth),
            _ => ("create", nth + 300),
        };
        let mut command = self.command(folder);
        calls::strike(&mut command, folder, class, nth, false, Fault::Kill);
        let done = run(&mut command);
        assert!(done.signal == Some(9) || done.ok(), "{done:?}");
    }

    /// What the search must find, as rows of text.
    pub fn truth(&self) -> Vec<String> {
        type Key = (&'static str, Option<usize>);
        static KNOWN: Mutex<BTreeMap<Key, Vec<String>>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap();
        let rows = known.entry((self.board, self.depth)).or_insert_with(|| {
            let home = super::program::room();
            let mut command = match self.depth {
                None => tilewave(["bfs", self.board, "-q", "--format", "csv"]),
                // Too large for the memory.
                Some(_) => self.command(home.path()),
            };
            let done = run(&mut command);
            assert!(done.ok(), "{done:?}");
            let rows: Vec<String> = done.rows().iter().map(|r| r.to_string()).collect();
            check_published(self.board, &rows);
            rows
        });
        rows.clone()
    }

    /// Why this is not the right and complete answer.
    pub fn wrong(&self, done: &Done) -> Option<String> {
        let truth = self.truth();
        if done.rows() == truth {
            return None;
        }
        let at = done.rows().iter().zip(&truth).position(|(a, b)| a != b);
        Some(format!(
            "{} rows of {}, first wrong {at:?}: {}",
            done.rows().len(),
            truth.len(),
            done.rows().get(at.unwrap_or(0)).unwrap_or(&"none")
        ))
    }
}

/// The truth is that of the literature, not only of the program: the states of each depth.
fn check_published(board: &str, rows: &[String]) {
    let (file, entry) = match board.contains(':') {
        true => ("growth.json", format!("/{board}/counts")),
        false => ("distributions.json", format!("/{board}/counts")),
    };
    let path = crate::program::root().join("tests/data").join(file);
    let data: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let counts = data.pointer(&entry).and_then(Value::as_array);
    let counts = counts.unwrap_or_else(|| panic!("no published figures of {board} here"));
    let published: Vec<u64> = counts.iter().filter_map(Value::as_u64).collect();
    let found: Vec<u64> =
        rows.iter().map(|row| row.split(',').nth(1).unwrap().parse().unwrap()).collect();
    assert!(published.starts_with(&found) && !found.is_empty(), "{board}: {found:?}");
}

/// Path below a folder and bytes of every file.
pub type Snapshot = BTreeMap<PathBuf, Vec<u8>>;

/// Reads a folder and what is in it.
pub fn snapshot(folder: &Path) -> Snapshot {
    fn add(at: &Path, folder: &Path, files: &mut Snapshot) {
        for entry in std::fs::read_dir(at).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                add(&path, folder, files);
            } else if let Ok(bytes) = std::fs::read(&path) {
                files.insert(path.strip_prefix(folder).unwrap().to_path_buf(), bytes);
            }
        }
    }
    let mut files = Snapshot::new();
    add(folder, folder, &mut files);
    files
}

/// Writes a snapshot into a folder.
pub fn restore(files: &Snapshot, folder: &Path) {
    for (path, bytes) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if path.is_dir() {
            std::fs::remove_dir_all(&path).unwrap();
        }
        std::fs::write(path, bytes).unwrap();
    }
}

/// The first of the user's files that is gone or changed.
pub fn others_touched(before: &Snapshot, folder: &Path) -> Option<String> {
    let user = |path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        OTHERS.iter().any(|(n, _)| *n == name)
    };
    let (path, _) = before
        .iter()
        .filter(|(path, _)| user(path))
        .find(|(path, bytes)| std::fs::read(folder.join(path)).ok().as_ref() != Some(bytes))?;
    Some(format!("the user's file {}", path.display()))
}

/// What a manifest says, if it says anything.
pub fn manifest(place: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(place.join("manifest")).ok()?;
    serde_json::from_str(text.split_once('\n')?.1).ok()
}

/// The levels that a manifest counts as done, with the seconds that each took: who computes one again shows it.
pub fn levels(manifest: &Value) -> Vec<String> {
    let levels = manifest["levels"].as_array();
    levels.into_iter().flatten().map(Value::to_string).collect()
}

/// Why what was committed is not what the search now has: a level is missing or was computed again.
pub fn lost(before: &[String], after: Option<&Value>) -> Option<String> {
    let Some(after) = after else {
        return Some("no manifest any more".into());
    };
    let after = levels(after);
    let same = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    (same < before.len())
        .then(|| format!("of {} committed levels only {same} are kept", before.len()))
}

/// The files that a manifest names, below the folder of its directories.
pub fn named(manifest: &Value) -> Vec<PathBuf> {
    let directories = manifest["directories"].as_u64().unwrap_or(1);
    let mut names = Vec::new();
    for files in manifest["files"].as_array().into_iter().flatten() {
        for chunk in files["chunks"].as_array().into_iter().flatten() {
            // A damaged one may name nothing.
            let (Some(number), Some(depth)) = (chunk["chunk"].as_u64(), files["depth"].as_u64())
            else {
                continue;
            };
            // A chunk of a directed search may have a file without a state of the level.
            if ["states", "bytes"].iter().any(|key| chunk[key].as_u64() != Some(0)) {
                let disk = PathBuf::from(format!("disk{}", number % directories.max(1)));
                names.push(disk.join(format!("level-{depth:03}.chunk-{number:05}")));
            }
        }
    }
    names
}

/// The name that a file `level-..RUN.new` gets when a commit has named it.
pub fn named_since(path: &Path) -> Option<PathBuf> {
    let name = path.to_str()?.strip_suffix(".new")?;
    Some(PathBuf::from(&name[..name.rfind('.')?]))
}
