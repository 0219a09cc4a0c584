//! The real binary: run with a time limit, and judged by its manners.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The program under attack: the one that was just built, or another one to be compared with it.
pub fn binary() -> PathBuf {
    std::env::var_os("ATTACK_PROGRAM")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_tilewave")), PathBuf::from)
}

/// How a program ended.
#[derive(Clone, Debug)]
pub struct Done {
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub out: String,
    pub err: String,
    /// It had to be killed: it ran longer than it may, or did not end when it was asked to.
    pub hung: bool,
}

impl Done {
    pub fn ok(&self) -> bool {
        self.code == Some(0)
    }

    /// What is wrong with the way it ended, whatever it found: it may end with 0, 1, 2 or 130, and what went wrong
    /// is one line that begins with `error:`.
    pub fn bad_manners(&self) -> Option<String> {
        self.bad_manners_of(1)
    }

    /// The same of a command that takes several paths, and says one line for each that it cannot read.
    pub fn bad_manners_of(&self, paths: usize) -> Option<String> {
        if self.hung {
            return Some("hangs".into());
        }
        if let Some(signal) = self.signal {
            return Some(format!("ended by signal {signal}: {}", self.first_words()));
        }
        if self.err.contains("panicked at") {
            return Some(format!("panics: {}", self.first_words()));
        }
        let code = self.code.unwrap_or(-1);
        if ![0, 1, 2, 130].contains(&code) {
            return Some(format!("exit code {code}: {}", self.first_words()));
        }
        let lines = self.err.lines().filter(|l| l.starts_with("error:")).count();
        match (code, lines) {
            (0, _) | (1 | 2 | 130, 1) => None,
            (1, several) if (2..=paths).contains(&several) => None,
            // What verify finds, and how an interrupt is told, may be the report itself.
            (1 | 130, 0) if !(self.err.is_empty() && self.out.is_empty()) => None,
            _ => Some(format!("{lines} error lines, code {code}: {}", self.first_words())),
        }
    }

    /// The beginning of what it said, for a report.
    pub fn first_words(&self) -> String {
        let said = if self.err.trim().is_empty() { &self.out } else { &self.err };
        let line: Vec<&str> = said.lines().filter(|l| !l.trim().is_empty()).collect();
        line.join(" | ").chars().take(300).collect()
    }

    /// What it found, without a table's head: the lines that begin with a number.
    pub fn rows(&self) -> Vec<&str> {
        let number = |l: &&str| l.starts_with(|c: char| c.is_ascii_digit());
        self.out.lines().filter(number).collect()
    }
}

/// The program with arguments.
pub fn tilewave<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(binary());
    command.args(args).stdin(Stdio::null());
    // Never in the way of the user who runs this.
    command.env("XDG_CACHE_HOME", "/nonexistent");
    command.env("NO_COLOR", "1").env_remove("RUST_BACKTRACE");
    command
}

/// Who does not end within this hangs: what takes seconds may take a minute on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(240);

/// Runs a command to its end, if it has one.
pub fn run(command: &mut Command) -> Done {
    end(start(command), PATIENCE)
}

/// Runs a command that reads this.
pub fn run_with(command: &mut Command, input: &str) -> Done {
    command.stdin(Stdio::piped());
    let mut child = start(command);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // It may end without reading.
    let feeder = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let done = end(child, PATIENCE);
    feeder.join().unwrap();
    done
}

/// Starts a command whose output is kept.
pub fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

/// Waits for a started command; after the limit it is interrupted, and killed if that does not end it.
pub fn end(mut child: Child, limit: Duration) -> Done {
    fn keep(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                let _ = pipe.read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }
    let (out, err) = (keep(child.stdout.take()), keep(child.stderr.take()));
    let begun = Instant::now();
    let mut hung = false;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > limit {
            hung = true;
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(if hung { 20 } else { 2 }));
    };
    Done {
        code: status.code(),
        signal: status.signal(),
        out: out.join().unwrap(),
        err: err.join().unwrap(),
        hung,
    }
}

/// Sends a signal by name.
pub fn signal(child: &Child, name: &str) {
    let mut kill = Command::new("kill");
    kill.args(["-s", name, &child.id().to_string()]);
    let _ = kill.stderr(Stdio::null()).status();
}

/// A directory for a trial, in memory where there is such a place.
pub fn room() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let place = match std::env::var_os("TMPDIR") {
        Some(place) => PathBuf::from(place),
        None if memory.is_dir() => memory.to_path_buf(),
        None => std::env::temp_dir(),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix("tilewave-attack-").tempdir_in(place).unwrap()
}
