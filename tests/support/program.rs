//! The program: started, run to its end within a limit of time, or ended by a signal.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The directory of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The program: the one that was just built, or another one to be compared with it.
pub fn binary() -> PathBuf {
    std::env::var_os("ATTACK_PROGRAM")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_tilewave")), PathBuf::from)
}

/// How a program ended.
#[derive(Clone, Debug)]
pub struct Done {
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Windows has no signals.
    pub signal: Option<i32>,
    pub out: String,
    pub err: String,
    /// It had to be killed: it ran longer than it may, or did not end when it was asked to.
    pub hung: bool,
}

impl Done {
    pub fn ok(&self) -> bool {
        self.code == Some(0) && self.signal.is_none() && !self.hung
    }

    /// The beginning of what it said, for a report.
    pub fn first_words(&self) -> String {
        let said = if self.err.trim().is_empty() { &self.out } else { &self.err };
        let line: Vec<&str> = said.lines().filter(|l| !l.trim().is_empty()).collect();
        line.join(" | ").chars().take(300).collect()
    }
}

/// The program with arguments.
pub fn tilewave<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(binary());
    command.args(args).stdin(Stdio::null());
    // Never in the way of the user who runs this.
    command.env("XDG_CACHE_HOME", "/nonexistent");
    command.env("NO_COLOR", "1").env_remove("RUST_BACKTRACE").env_remove("TILEWAVE_KERNEL");
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
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal = None;
    Done { code: status.code(), signal, out: out.join().unwrap(), err: err.join().unwrap(), hung }
}

/// Sends a signal by name.
#[cfg(unix)]
pub fn signal(child: &Child, name: &str) {
    let mut kill = Command::new("kill");
    kill.args(["-s", name, &child.id().to_string()]);
    let _ = kill.stderr(Stdio::null()).status();
}

/// A directory for a test, in memory where there is such a place.
pub fn room() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let place = match std::env::var_os("TMPDIR") {
        Some(place) => PathBuf::from(place),
        None if memory.is_dir() => memory.to_path_buf(),
        None => std::env::temp_dir(),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix("tilewave-test-").tempdir_in(place).unwrap()
}
