//! The log of a long solve: which boards are solved, and how far the others have come.
//!
//! Invariant: what was logged of a search is what the same boards, goal and databases would come to again: the first
//! line names them, and a log of others is refused before anything is written to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::puzzle::{Board, MoveStyle, Moves};
use crate::solve::SolveError;
use crate::solve::control::{Cut, Pending, Stage, SubtreeSplit, Walked};
use crate::solve::optimal::{Answer, Optimal};
use crate::store::{FileKind, FileProblem, Journal};

/// Version of the files.
const VERSION: u32 = 3;

/// How the first line begins.
const OPENING: &str = "{\"tilewave_log\":";

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
    pub fn pending(board: usize, search: &Pending) -> LogLine {
        let mut entry = LogLine::iteration(board, search.stage, search.seconds);
        if let LogLine::Iteration { before, .. } = &mut entry {
            *before = Some(search.before.clone()).filter(|cut| !cut.walked.is_empty());
        }
        entry
    }

    /// Returns the line of a board's answer, if it is solved.
    pub fn solved(at: usize, board: &Board, answer: &Answer) -> Option<LogLine> {
        Some(LogLine::Solved {
            board: at,
            tiles: board.to_string(),
            moves: answer.moves.as_ref()?.short(MoveStyle::Tile),
            nodes: answer.nodes,
            seconds: answer.seconds,
        })
    }
}

/// What a log says of a board.
#[derive(Clone, Debug, PartialEq)]
pub enum Logged {
    /// Its shortest solution.
    Solved(Answer),
    /// How far its search has come.
    Pending {
        /// The search.
        search: Pending,
        /// The stages of its iterations, the last one included.
        stages: Vec<Stage>,
    },
}

impl Logged {
    /// Returns lines that say this of the board at a place.
    pub fn entries(&self, at: usize, board: &Board) -> Vec<LogLine> {
        let (search, stages) = match self {
            Logged::Solved(answer) => {
                return LogLine::solved(at, board, answer).into_iter().collect();
            }
            Logged::Pending { search, stages } => (search, stages),
        };
        let stage = |&stage| LogLine::iteration(at, stage, search.seconds);
        let earlier = &stages[..stages.len().saturating_sub(1)];
        let mut entries: Vec<LogLine> = earlier.iter().map(stage).collect();
        entries.push(LogLine::pending(at, search));
        if !search.done.walked.is_empty() {
            entries.push(LogLine::Subtrees {
                board: at,
                of: search.done.pieces,
                walked: search.done.walked.clone(),
                seconds: search.seconds,
            });
        }
        entries
    }
}

/// A log, to which this process alone writes.
#[derive(Debug)]
pub struct SolveLog {
    journal: Journal,
}

impl SolveLog {
    /// Opens the log of some boards, which is begun when there is none; returns what it says of each, by its place.
    ///
    /// # Errors
    /// [`SolveError::OtherLog`] when it is a log of other boards or databases, [`SolveError::File`] when it cannot be
    /// read, is something else, or a line is damaged.
    pub fn open(
        path: &Path,
        boards: &[Board],
        solver: &Optimal,
    ) -> Result<(SolveLog, BTreeMap<usize, Logged>), SolveError> {
        let heading = Heading::new(boards, solver);
        let (mut journal, lines) = Journal::open(path, KIND, OPENING)?;
        let damaged = |line: usize| KIND.wrong(path, FileProblem::Line { line: line as u64 });
        let mut found = BTreeMap::new();
        let Some((first, rest)) = lines.split_first() else {
            journal.append(&line_of(&heading, path)?)?;
            return Ok((SolveLog { journal }, found));
        };
        heading.compare(first, path)?;
        for (number, line) in (2..).zip(rest) {
            let entry = serde_json::from_str(line).map_err(|_| damaged(number))?;
            take(entry, boards, solver.goal(), &mut found).ok_or_else(|| damaged(number))?;
        }
        Ok((SolveLog { journal }, found))
    }

    /// Adds a line. It outlives this process, and the machine a second later.
    ///
    /// # Errors
    /// [`SolveError::Output`].
    pub fn append(&mut self, entry: &LogLine) -> Result<(), SolveError> {
        let text = serde_json::to_string(entry).map_err(std::io::Error::other);
        let text = text.map_err(crate::store::failed(Path::new("the log")))?;
        Ok(self.journal.append(&text)?)
    }

    /// Makes all lines durable.
    ///
    /// # Errors
    /// [`SolveError::Output`].
    pub fn sync(&mut self) -> Result<(), SolveError> {
        Ok(self.journal.sync()?)
    }
}

fn line_of(heading: &Heading, path: &Path) -> Result<String, SolveError> {
    let text = serde_json::to_string(heading).map_err(std::io::Error::other);
    Ok(text.map_err(crate::store::failed(path))?)
}

impl Heading {
    fn new(boards: &[Board], solver: &Optimal) -> Heading {
        let lines: String = boards.iter().map(|board| format!("{board}\n")).collect();
        Heading {
            tilewave_log: VERSION,
            goal: solver.goal().to_string(),
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

/// Returns what lines of a log say of boards, by their places; none if they do not fit each other.
pub fn replay(
    entries: impl IntoIterator<Item = LogLine>,
    boards: &[Board],
    goal: &Board,
) -> Option<BTreeMap<usize, Logged>> {
    let mut found = BTreeMap::new();
    for entry in entries {
        take(entry, boards, goal, &mut found)?;
    }
    Some(found)
}

/// Takes a line in; none if it does not fit those before it.
fn take(
    entry: LogLine,
    boards: &[Board],
    goal: &Board,
    found: &mut BTreeMap<usize, Logged>,
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
            let (its, done) = (boards.get(board)?.clone(), Cut::default());
            let search = Pending { board: its, stage, done, before, seconds };
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
            let moves = Moves::parse(&moves, MoveStyle::Tile).ok()?;
            let its = boards.get(board).filter(|its| its.to_string() == tiles)?;
            moves.apply(its).ok().filter(|end| end == goal)?;
            let answer = Answer { at_least: moves.len(), moves: Some(moves), nodes, seconds };
            found.insert(board, Logged::Solved(answer));
        }
    }
    Some(())
}
