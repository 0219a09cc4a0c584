//! The log of a long solve: which boards are solved, and how far the others have come.
//!
//! Invariant: what was logged of a search is what the same boards, goal and databases would come to again: the first
//! line names them, and a log of others is refused before anything is written to it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::{
    puzzle::{Board, Moves},
    search::Communicator,
    solve::{
        SolveError,
        control::{Cut, Pending, Recorder, Stage, SubtreeSplit, Walked},
        ida::{Answer, StateSolver},
        optimal::Optimal,
    },
    store::Journal,
    system::{FileKind, FileProblem, SystemError},
};

/// Version of the files.
const VERSION: u32 = 3;

/// How the first line begins.
pub const OPENING: &str = "{\"tilewave_log\":";

const KIND: FileKind =
    FileKind { noun: "log of tilewave solve", make: "name another file, for a log of its own" };

/// The first line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Heading {
    tilewave_log: u32,
    goal: String,
    boards: usize,
    /// XXH3-64 of the boards, a line each.
    boards_hash: String,
    /// The databases of each partition: tiles, kind, encoding and checksum.
    databases: Vec<Vec<String>>,
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "lowercase", deny_unknown_fields)]
pub enum LogLine {
    /// The next iteration of a board starts at a stage.
    Iteration {
        /// Place of the board, from 0.
        board: usize,
        /// All shorter solutions are excluded.
        threshold: usize,
        /// Nodes so far.
        nodes: u64,
        /// Nodes of the iteration before.
        last: u64,
        /// What has been done of the iteration before, where no lines in front of this one say so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<Cut>,
        /// Time spent on the board so far.
        seconds: f64,
    },
    /// Subtrees of the current iteration of a board are done.
    Subtrees {
        /// Place of the board.
        board: usize,
        /// How the iteration is cut.
        of: SubtreeSplit,
        /// Those that are done: number, nodes, least excess over the threshold, fewest moves left.
        walked: Vec<Walked>,
        /// Time spent on the board so far.
        seconds: f64,
    },
    /// A board is solved.
    Solved {
        /// Place of the board.
        board: usize,
        /// The board itself.
        tiles: String,
        /// A shortest solution, letters saying where tiles go.
        moves: String,
        /// Nodes generated.
        nodes: u64,
        /// Time spent on the board.
        seconds: f64,
    },
}

impl LogLine {
    /// Returns the line of a stage that the search of a board has come to.
    pub fn iteration(board: usize, stage: Stage, seconds: f64) -> LogLine {
        LogLine::Iteration {
            board,
            threshold: stage.threshold,
            nodes: stage.nodes,
            last: stage.last,
            before: None,
            seconds,
        }
    }

    /// Returns the line of a search that goes on with the next iteration of a board.
    pub fn pending<S>(board: usize, search: &Pending<S>) -> LogLine {
        let mut entry = LogLine::iteration(board, search.stage, search.seconds);
        if let LogLine::Iteration { before, .. } = &mut entry {
            *before = Some(search.before.clone()).filter(|cut| !cut.walked.is_empty());
        }
        entry
    }
}

/// What a log says of a board.
#[derive(Clone, Debug, PartialEq)]
pub enum Logged<S = Board, M = Moves> {
    /// Its shortest solution.
    Solved(Answer<M>),
    /// How far its search has come.
    Pending {
        /// The search.
        search: Pending<S>,
        /// The stages of its iterations, the last one included.
        stages: Vec<Stage>,
    },
}

/// How often subtrees are written.
const WRITE_EVERY: Duration = Duration::from_millis(250);

/// What a log says of each board, by the board's place.
type Found<T> = BTreeMap<usize, Logged<<T as StateSolver>::State, <T as StateSolver>::Moves>>;

/// A log of boards or other states, to which this process alone writes. It records one after the other: [`SolveLog::begin`].
pub struct SolveLog<T: StateSolver = Optimal> {
    /// The states in words.
    texts: Vec<String>,
    /// What it said of each board when it was opened, by the board's place.
    pub found: Found<T>,
    writer: Mutex<BoardRecord>,
}

#[derive(Debug)]
struct BoardRecord {
    /// Of several ranks the first one has the file.
    journal: Option<Journal>,
    /// The board that is solved, since when, and the seconds spent on it before.
    board: usize,
    begun: Instant,
    spent: f64,
    /// Subtrees that are not written yet, and when they will be.
    done: Cut,
    next: Instant,
    /// What went wrong.
    failure: Option<SolveError>,
}

impl BoardRecord {
    /// Adds a line. It outlives this process, and the machine a second later.
    fn append(&mut self, line: &LogLine) -> Result<(), SolveError> {
        match &mut self.journal {
            Some(journal) => Ok(journal.append(&json(line, Path::new("the log"))?)?),
            None => Ok(()),
        }
    }

    /// Adds a line of the current board, given the seconds spent on it.
    fn record(&mut self, line: impl FnOnce(f64) -> LogLine) {
        let seconds = self.begun.elapsed().as_secs_f64() + self.spent;
        if let Err(error) = self.append(&line(seconds)) {
            self.failure.get_or_insert(error);
        }
    }

    /// Writes the subtrees that are done.
    fn flush(&mut self) {
        let Cut { pieces, walked } = std::mem::take(&mut self.done);
        if !walked.is_empty() {
            let board = self.board;
            self.record(|seconds| LogLine::Subtrees { board, of: pieces, walked, seconds });
        }
        self.next = Instant::now() + WRITE_EVERY;
    }
}

impl<T: StateSolver> SolveLog<T> {
    /// Opens the log of some boards, which is begun when there is none. Of several ranks the first one has the file, and tells
    /// the others what it says.
    ///
    /// # Errors
    /// [`SolveError::OtherLog`] when it is a log of other boards or databases, [`SolveError::System`] when it cannot be
    /// read, is something else, or a line is damaged.
    pub fn open(
        path: impl AsRef<Path>,
        boards: &[T::State],
        solver: &T,
        ranks: &dyn Communicator,
    ) -> Result<SolveLog<T>, SolveError> {
        let path = path.as_ref();
        let read = |lines: &[String]| {
            let mut found = BTreeMap::new();
            for (number, line) in (2..).zip(lines) {
                let damaged = || KIND.wrong(path, FileProblem::Line { line: number });
                let line = serde_json::from_str(line).map_err(|_| damaged())?;
                take(line, boards, solver, &mut found).ok_or_else(damaged)?;
            }
            Ok::<_, SolveError>(found)
        };
        let texts: Vec<String> = boards.iter().map(|board| solver.text(board)).collect();
        let (mut journal, mut lines, mut found) = (None, Vec::new(), BTreeMap::new());
        if ranks.rank() == 0 {
            let heading = Heading::new(&texts, solver);
            let (mut file, all) = Journal::open(path, KIND, OPENING)?;
            match all.split_first() {
                Some((first, rest)) => {
                    heading.compare(first, path)?;
                    (found, lines) = (read(rest)?, rest.to_vec());
                }
                None => file.append(&json(&heading, path)?)?,
            }
            journal = Some(file);
        }
        let told = ranks.broadcast(lines.join("\n").into_bytes());
        if ranks.rank() > 0 {
            let told = String::from_utf8_lossy(&told);
            found = read(&told.lines().map(String::from).collect::<Vec<_>>())?;
        }
        let (begun, done) = (Instant::now(), Cut::default());
        let (board, spent, next, failure) = (0, 0.0, begun, None);
        let writer = BoardRecord { journal, board, begun, spent, done, next, failure };
        Ok(SolveLog { texts, found, writer: Mutex::new(writer) })
    }

    /// Begins with a board that a search goes on with: what is recorded from now on is of that one. Where the log did not know
    /// of the search, it does now.
    ///
    /// # Errors
    /// [`SolveError::System`].
    pub fn begin(&self, at: usize, search: &Pending<T::State>) -> Result<(), SolveError> {
        let mut writer = self.writer.lock();
        (writer.board, writer.begun, writer.spent) = (at, Instant::now(), search.seconds);
        writer.next = writer.begun + WRITE_EVERY;
        if self.found.contains_key(&at) {
            return Ok(());
        }
        writer.append(&LogLine::pending(at, search))
    }

    /// Writes what was recorded of the current board.
    ///
    /// # Errors
    /// What went wrong since it was begun: [`SolveError::System`].
    pub fn end(&self) -> Result<(), SolveError> {
        let mut writer = self.writer.lock();
        writer.flush();
        writer.failure.take().map_or(Ok(()), Err)
    }

    /// Returns whether something went wrong that [`SolveLog::end`] will tell of: it is in vain to go on.
    pub fn has_failed(&self) -> bool {
        self.writer.lock().failure.is_some()
    }

    /// Adds the answer of the board at a place, if it is solved and the log does not know of it.
    ///
    /// # Errors
    /// [`SolveError::System`].
    pub fn solved(&self, at: usize, answer: &Answer<T::Moves>) -> Result<(), SolveError> {
        match &answer.moves {
            Some(moves) if !matches!(self.found.get(&at), Some(Logged::Solved(_))) => {
                self.writer.lock().append(&LogLine::Solved {
                    board: at,
                    tiles: self.texts[at].clone(),
                    moves: T::written(moves),
                    nodes: answer.nodes,
                    seconds: answer.seconds,
                })
            }
            _ => Ok(()),
        }
    }

    /// Makes all lines durable.
    ///
    /// # Errors
    /// [`SolveError::System`].
    pub fn sync(&self) -> Result<(), SolveError> {
        let journal = &mut self.writer.lock().journal;
        Ok(journal.as_mut().map_or(Ok(()), Journal::sync)?)
    }
}

impl<T: StateSolver> Recorder for SolveLog<T> {
    fn iteration(&self, next: Stage) {
        let mut writer = self.writer.lock();
        // The next iteration begins where this one came closest, so all of it is to be known.
        writer.flush();
        let board = writer.board;
        writer.record(|seconds| LogLine::iteration(board, next, seconds));
    }

    fn subtree(&self, pieces: SubtreeSplit, walked: Walked) {
        let mut writer = self.writer.lock();
        writer.done.pieces = pieces;
        writer.done.walked.push(walked);
        if Instant::now() >= writer.next {
            writer.flush();
        }
    }
}

/// An object of the log at a path.
fn json(object: &impl Serialize, path: &Path) -> Result<String, SolveError> {
    let text = serde_json::to_string(object).map_err(std::io::Error::other);
    Ok(text.map_err(crate::store::failed(path))?)
}

impl Heading {
    fn new(boards: &[String], solver: &impl StateSolver) -> Heading {
        let lines: String = boards.iter().map(|board| format!("{board}\n")).collect();
        Heading {
            tilewave_log: VERSION,
            goal: solver.goal_text(),
            boards: boards.len(),
            boards_hash: format!("{:016x}", XxHash3_64::oneshot(lines.as_bytes())),
            databases: solver.databases(),
        }
    }

    /// Refuses a log whose first line is another one.
    fn compare(&self, line: &str, path: &Path) -> Result<(), SolveError> {
        #[derive(Deserialize)]
        struct Version {
            tilewave_log: u32,
        }
        let version = serde_json::from_str(line).map(|Version { tilewave_log }| tilewave_log);
        if let Ok(found) = version
            && found != VERSION
        {
            let supported = VERSION;
            return Err(KIND.wrong(path, FileProblem::Version { found, supported }).into());
        }
        let wrong = |_| KIND.wrong(path, FileProblem::Line { line: 1 });
        let theirs: Heading = serde_json::from_str(line).map_err(wrong)?;
        let other = |what: &'static str| {
            let path = PathBuf::from(path);
            Err(SolveError::OtherLog { path, what })
        };
        match () {
            () if theirs.goal != self.goal => other("for another goal"),
            () if (theirs.boards, &theirs.boards_hash) != (self.boards, &self.boards_hash) => {
                other("with other boards, or in another order")
            }
            () if theirs.databases != self.databases => other("with other databases"),
            () => Ok(()),
        }
    }
}

/// Returns the lines of a log, the heading first, also while it is written to.
///
/// # Errors
/// [`SystemError`] when it cannot be read, is something else, or a line is damaged.
pub fn read(path: &Path) -> Result<Vec<String>, SystemError> {
    Journal::read(path, KIND, OPENING)
}

/// Returns what lines of a log say of boards, by their places; none if they do not fit each other.
pub fn replay<T: StateSolver>(
    entries: impl IntoIterator<Item = LogLine>,
    boards: &[T::State],
    solver: &T,
) -> Option<Found<T>> {
    let mut found = BTreeMap::new();
    for entry in entries {
        take(entry, boards, solver, &mut found)?;
    }
    Some(found)
}

/// Takes a line in; none if it does not fit those before it.
fn take<T: StateSolver>(
    entry: LogLine,
    boards: &[T::State],
    solver: &T,
    found: &mut Found<T>,
) -> Option<()> {
    match entry {
        LogLine::Iteration { board, threshold, nodes, last, before, seconds } => {
            let stage = Stage { threshold, nodes, last };
            let (mut stages, done) = match found.remove(&board) {
                Some(Logged::Solved(_)) => return None,
                Some(Logged::Pending { stages, search }) => (stages, search.done),
                None => (Vec::new(), Cut::default()),
            };
            let follows = |before: &Stage| before.threshold < threshold && before.nodes <= nodes;
            if !stages.last().is_none_or(follows) {
                return None;
            }
            stages.push(stage);
            let before = before.unwrap_or(done);
            let (state, done) = (boards.get(board)?.clone(), Cut::default());
            let search = Pending { state, stage, done, before, seconds };
            found.insert(board, Logged::Pending { search, stages });
        }
        LogLine::Subtrees { board, of, walked, seconds } => {
            let Some(Logged::Pending { search, .. }) = found.get_mut(&board) else {
                return None;
            };
            if search.stage.threshold != of.threshold {
                return None;
            }
            // Cut another way by another version: what is cut anew is walked anew.
            if search.done.pieces != of {
                search.done = Cut { pieces: of, walked: Vec::new() };
            }
            search.done.walked.extend(walked);
            search.seconds = seconds;
        }
        LogLine::Solved { board, tiles, moves, nodes, seconds } => {
            let its = boards.get(board).filter(|its| solver.text(its) == tiles)?;
            let (moves, at_least) = solver.replayed(its, &moves)?;
            let answer = Answer { at_least, moves: Some(moves), nodes, seconds };
            found.insert(board, Logged::Solved(answer));
        }
    }
    Some(())
}
