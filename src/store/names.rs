//! The names of a run's files.
//!
//! Invariant: a name is taken for a run's file only when it is, letter for letter, one that [`RunFile::name`]
//! gives. Whatever may be removed without reading it carries the run's number in its name.

/// A file of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFile {
    /// The states of a chunk at a depth, named by a manifest once.
    Level {
        /// Depth of its states.
        depth: u32,
        /// Number of the chunk.
        chunk: u32,
    },
    /// The same before a manifest names it.
    Uncommitted {
        /// The run.
        run: u64,
        /// Depth of its states.
        depth: u32,
        /// Number of the chunk.
        chunk: u32,
    },
    /// Bits that a chunk sends to others for the step to a depth.
    Scratch {
        /// The run.
        run: u64,
        /// Depth of the step.
        depth: u32,
        /// The sending chunk.
        chunk: u32,
    },
    /// A manifest that is being written.
    NewManifest {
        /// The run.
        run: u64,
    },
    /// A marker that is being written.
    NewMarker {
        /// The run.
        run: u64,
    },
}

impl RunFile {
    /// Returns the name of the file.
    pub fn name(self) -> String {
        match self {
            RunFile::Level { depth, chunk } => format!("level-{depth:03}.chunk-{chunk:05}"),
            RunFile::Uncommitted { run, depth, chunk } => {
                format!("level-{depth:03}.chunk-{chunk:05}.{run:016x}.new")
            }
            RunFile::Scratch { run, depth, chunk } => {
                format!("cross-{depth:03}.chunk-{chunk:05}.{run:016x}")
            }
            RunFile::NewManifest { run } => format!("manifest.{run:016x}.new"),
            RunFile::NewMarker { run } => format!("tilewave-run.{run:016x}.new"),
        }
    }

    /// Returns the file of a name, if it is one of a run's.
    pub fn parse(name: &str) -> Option<RunFile> {
        let number = |text: &str| text.parse::<u32>().ok();
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let (head, rest) = name.split_once(['-', '.'])?;
        let words: Vec<&str> = rest.split('.').collect();
        let place = || {
            let chunk = words.get(1)?.strip_prefix("chunk-")?;
            Some((number(words[0])?, number(chunk)?))
        };
        let file = match (head, &words[..]) {
            ("level", [_, _]) => {
                let (depth, chunk) = place()?;
                RunFile::Level { depth, chunk }
            }
            ("level", [_, _, run, "new"]) => {
                let ((depth, chunk), run) = (place()?, hex(run)?);
                RunFile::Uncommitted { run, depth, chunk }
            }
            ("cross", [_, _, run]) => {
                let ((depth, chunk), run) = (place()?, hex(run)?);
                RunFile::Scratch { run, depth, chunk }
            }
            ("manifest", [run, "new"]) => RunFile::NewManifest { run: hex(run)? },
            ("tilewave", ["run", run, "new"]) => RunFile::NewMarker { run: hex(run)? },
            _ => return None,
        };
        (file.name() == name).then_some(file)
    }

    /// Returns the run whose number the name carries.
    pub fn run(self) -> Option<u64> {
        match self {
            RunFile::Level { .. } => None,
            RunFile::Uncommitted { run, .. }
            | RunFile::Scratch { run, .. }
            | RunFile::NewManifest { run }
            | RunFile::NewMarker { run } => Some(run),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/names.rs"]
mod tests;
