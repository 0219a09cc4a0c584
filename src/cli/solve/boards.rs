//! The boards or states to solve, as they arrive from the command line or from standard input, and what is written of
//! each board: one line, and a summary of all.
//!
//! `solve` and `states` take [`Arrivals`] in batches; `solve` makes a [`Solved`] of every board, and [`Totals`] adds
//! them up.

use std::{
    collections::VecDeque,
    io::BufRead,
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tilewave::{
    Board, Moves, Size,
    puzzle::{Metric, MoveStyle},
    report::{
        counted, duration,
        html::{Refused, Solution},
        rate, thousands,
    },
    search::Communicator,
    solve::{AllSolutions, Answer, Unsolvable},
};

use crate::{
    Failure, Figures, Result, choice, csv_line, progress, refuse,
    solve::solutions::{self, SolutionOptions},
    uncommented,
};

// The boards or states.

/// Boards or states that are solved before their lines are written.
pub const BATCH: usize = 256;

/// Lines that are read ahead.
const AHEAD: usize = 1 << 16;

/// How often a wait for input looks for Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A board or state as it was given, with the number of its line where there are lines.
#[derive(Clone)]
pub struct Given<S> {
    pub text: String,
    pub state: S,
    pub line: Option<usize>,
}

/// A board or state, or what is wrong with its line.
pub type Arrival<S> = Result<Given<S>, String>;

/// The boards or states that are there, and those that come.
pub struct Arrivals<S> {
    /// What they are: boards or states.
    noun: &'static str,
    waiting: VecDeque<Arrival<S>>,
    lines: Option<Receiver<Arrival<S>>>,
    /// Those so far, wrong lines and those that are waiting among them.
    pub known: usize,
}

impl<S: Clone + Send + 'static> Arrivals<S> {
    /// Those of the command line, or, when it has none, those of standard input one by one. Of several ranks the first
    /// one reads, all of them before any is solved.
    pub fn of(
        noun: &'static str,
        given: &[&str],
        parse: impl Fn(&str) -> Result<S> + Clone + Send + 'static,
        ranks: &dyn Communicator,
    ) -> Result<Arrivals<S>> {
        let none = || Arrivals { noun, waiting: VecDeque::new(), lines: None, known: 0 };
        let (mut own, mut texts) = (none(), Vec::new());
        if ranks.rank() == 0 {
            own.give(given, &parse)?;
            own.lines = given.is_empty().then(|| read(parse.clone()));
        }
        if ranks.size() == 1 {
            return Ok(own);
        }
        if ranks.rank() == 0 {
            texts.extend(own.all()?.into_iter().map(|given| given.text));
        }
        let texts: Vec<String> =
            serde_json::from_slice(&ranks.broadcast(serde_json::to_vec(&texts)?))?;
        let mut all = none();
        all.give(&texts, &parse)?;
        Ok(all)
    }

    /// Takes those that texts give.
    fn give(
        &mut self,
        texts: &[impl AsRef<str>],
        parse: &impl Fn(&str) -> Result<S>,
    ) -> Result<()> {
        for text in texts.iter().map(AsRef::as_ref) {
            self.arrived(Ok(Given { text: text.into(), state: parse(text)?, line: None }));
        }
        Ok(())
    }

    /// Waits for all of them, which stay, and returns them, or says what is wrong with one.
    pub fn all(&mut self) -> Result<Vec<Given<S>>> {
        let more = || Some(self.next(usize::MAX)).filter(|some| !some.is_empty());
        let all = std::iter::from_fn(more).flatten().collect();
        if progress::asked() {
            return Err(Failure::interrupted());
        }
        self.waiting = all;
        let right = |arrival: &Arrival<S>| match arrival {
            Ok(given) => Ok(given.clone()),
            Err(wrong) => refuse!("{wrong}; every line must be a {}", self.noun),
        };
        self.waiting.iter().map(right).collect()
    }

    /// The next ones, at most so many, as soon as there is one; none at the end, or when interrupted.
    pub fn next(&mut self, most: usize) -> Vec<Arrival<S>> {
        while self.waiting.is_empty() && !progress::asked() {
            let Some(lines) = &self.lines else { break };
            match lines.recv_timeout(LOOK_EVERY) {
                Ok(arrival) => self.arrived(arrival),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.lines = None,
            }
        }
        // What is not taken soon stays with whoever writes it.
        while self.waiting.len() < most.max(AHEAD)
            && let Some(Ok(arrival)) = self.lines.as_ref().map(Receiver::try_recv)
        {
            self.arrived(arrival);
        }
        let count = self.waiting.len().min(most);
        self.waiting.drain(..count).collect()
    }

    /// Whether more may come than is known.
    pub fn is_open(&self) -> bool {
        self.lines.is_some()
    }

    /// Whoever asks for one finds none.
    pub fn none<T>(&self) -> Result<T> {
        refuse!(
            "no {} was given: pass {0}s as arguments, or one per line on standard input",
            self.noun
        )
    }

    fn arrived(&mut self, arrival: Arrival<S>) {
        self.known += 1;
        self.waiting.push_back(arrival);
    }
}

impl Arrivals<Board> {
    /// The size of the first board; none when interrupted before it came.
    pub fn first_size(&mut self) -> Result<Option<Size>> {
        let mut seen: Vec<Arrival<Board>> = Vec::new();
        loop {
            let arrivals = self.next(BATCH);
            if arrivals.is_empty() {
                return match (progress::asked(), seen.into_iter().find_map(Result::err)) {
                    (true, _) => Ok(None),
                    (false, Some(error)) => Err(Failure::usage(error)),
                    (false, None) => self.none(),
                };
            }
            seen.extend(arrivals);
            if let Some(size) = seen.iter().flatten().next().map(|given| given.state.size()) {
                for arrival in seen.into_iter().rev() {
                    self.waiting.push_front(arrival);
                }
                return Ok(Some(size));
            }
        }
    }
}

/// Reads the lines of standard input on a thread of its own, so that Ctrl-C does not wait for it.
fn read<S: Send + 'static>(
    parse: impl Fn(&str) -> Result<S> + Send + 'static,
) -> Receiver<Arrival<S>> {
    let (send, receive) = sync_channel(AHEAD);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        for number in 1.. {
            let mut line = Vec::new();
            let wrong = |error: &dyn std::fmt::Display| format!("line {number}: {error}");
            let arrival = match input.read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(_) => {
                    let line = String::from_utf8_lossy(&line);
                    let text = uncommented(line.trim_start_matches('\u{feff}'));
                    if text.is_empty() {
                        continue;
                    }
                    let given = |state| Given { text: text.into(), state, line: Some(number) };
                    parse(text).map(given).map_err(|failure| wrong(&failure))
                }
                Err(error) => {
                    let _ = send.send(Err(wrong(&format!("cannot read standard input: {error}"))));
                    return;
                }
            };
            if send.send(arrival).is_err() {
                return;
            }
        }
    });
    receive
}

// The answers.

/// What became of a board.
#[derive(Clone, Serialize, Deserialize)]
pub struct Solved {
    pub board: Board,
    pub answer: Result<Answer, Box<Unsolvable>>,
    /// What counts as one move.
    pub metric: Metric,
    /// Whether the moves are a shortest solution.
    pub optimal: bool,
    /// The conflicts of the proof that nothing is shorter, or why there is no proof; if one was asked for.
    pub proof: Option<Result<u64, String>>,
    /// Nodes that earlier sessions have generated.
    pub earlier: u64,
    /// All solutions, if they are wanted.
    pub all: Option<AllSolutions>,
}

impl Solved {
    fn moves(&self) -> Option<&Moves> {
        self.answer.as_ref().ok()?.moves.as_ref()
    }

    /// What a page shows of it: the solution, or all that were wanted, or why there is none.
    pub fn page(&self, goal: &Board) -> Result<Vec<Solution>, Refused> {
        let reason = match &self.answer {
            Ok(Answer { moves: Some(moves), .. }) => {
                let all = self.all.as_ref().and_then(|all| all.moves.as_deref());
                let all = all.unwrap_or(std::slice::from_ref(moves));
                let one = |moves: &Moves| Solution {
                    start: self.board.clone(),
                    goal: goal.clone(),
                    moves: moves.clone(),
                    optimal: self.optimal && moves.len() == all[0].len(),
                    label: None,
                };
                return Ok(all.iter().map(one).collect());
            }
            Ok(_) => "the solver gave up".into(),
            Err(why) => why.to_string(),
        };
        Err(Refused { board: self.board.clone(), reason })
    }

    fn length(&self) -> Option<usize> {
        self.moves().map(|moves| moves.count(self.metric))
    }

    /// The length of a solution that is not a shortest one, if lines of tiles are moved at once.
    fn length_mtm(&self) -> Option<usize> {
        self.moves().filter(|_| !self.optimal).map(|moves| moves.count(Metric::Mtm))
    }
}

/// What is said of a board, and how.
#[derive(clap::Args)]
pub struct Wording {
    /// Confirm with a SAT solver that no shorter solution exists.
    ///
    /// This works only for boards of at most 16 cells.
    #[arg(long, conflicts_with = "fast")]
    pub certify: bool,

    /// Write each move as the direction of the tile or of the blank.
    #[arg(long, value_parser = choice(MoveStyle::NAMES), default_value = "tile", hide_short_help = true)]
    pub moves: MoveStyle,
}

/// A board as it is written.
pub struct BoardFacts<'a> {
    pub of: &'a Solved,
    pub wording: &'a Wording,
    pub columns: &'static str,
}

impl Wording {
    /// The columns of CSV.
    pub fn columns(&self, solutions: &SolutionOptions) -> &'static str {
        let columns = [
            "board,solvable,length,moves,nodes,seconds,optimal",
            "board,solvable,length,moves,nodes,seconds,optimal,complete",
            "board,solvable,length,count,nodes,seconds,optimal,complete",
        ];
        match self.certify {
            true => "board,solvable,length,moves,nodes,seconds,optimal,certified",
            false => solutions.columns(columns),
        }
    }

    fn letters(&self, moves: &Moves) -> String {
        moves.short(self.moves)
    }

    /// What comes after the last line.
    pub fn summary(&self, totals: &Totals, seconds: f64) -> String {
        // One of many that were not looked at any more is to be told of.
        let left = if totals.interrupted { totals.known + u64::from(totals.more) } else { 0 };
        if totals.boards.max(left) < 2 {
            return String::new();
        }
        let Totals { boards, solved, searched, moves, nodes, .. } = *totals;
        let Totals { proofs, generated, .. } = *totals;
        let begin = if totals.interrupted { "interrupted: " } else { "" };
        let mut text = format!(
            "\n{begin}{} of {}{} boards solved",
            thousands(solved),
            thousands(totals.known.max(boards)),
            totals.and_more()
        );
        if solved > 0 {
            text += &format!(", {:.2} moves on average", moves as f64 / solved as f64);
        }
        if nodes > 0 {
            let mean = nodes / searched.max(1);
            text += &format!(", {} nodes on average", thousands(mean));
        }
        if self.certify {
            text += &format!(", {} certified", thousands(proofs));
        }
        let (done, noun) = if nodes > 0 { (generated, "nodes") } else { (boards, "boards") };
        let speed = rate(done as f64 / seconds);
        text + &format!("\n{}, {speed} {noun}/s\n", duration(seconds))
    }
}

impl Figures for BoardFacts<'_> {
    fn figures(&self) -> Value {
        let BoardFacts { of, wording, .. } = *self;
        let (answer, moves, length) = (of.answer.as_ref().ok(), of.moves(), of.length());
        let mut figures = json!({
            "board": of.board.to_string(),
            "solvable": answer.is_some(),
            "length": length,
            "moves": moves.map(|moves| wording.letters(moves)),
            "nodes": answer.map_or(0, |answer| answer.nodes),
            "seconds": answer.map_or(0.0, |answer| answer.seconds),
            "optimal": of.optimal && length.is_some(),
            "metric": of.metric.name(),
        });
        if let Some(length) = of.length_mtm() {
            figures["length_mtm"] = length.into();
        }
        match &of.answer {
            Err(why) => {
                figures["reason"] = why.to_string().into();
                figures["nearest"] = why.board.to_string().into();
            }
            Ok(answer) if moves.is_none() => figures["at_least"] = answer.at_least.into(),
            Ok(_) => {}
        }
        if wording.certify {
            figures["certified"] = matches!(of.proof, Some(Ok(_))).into();
        }
        match &of.all {
            Some(all) => solutions::with_all(figures, all, |moves| wording.letters(moves)),
            None => figures,
        }
    }

    fn csv(&self) -> Option<String> {
        let lines = solutions::rows(self.of.length()?, self.of.all.as_ref()?, &self.figures());
        Some(lines.iter().map(|line| csv_line(self.columns, line)).collect())
    }

    fn words(&self) -> String {
        let BoardFacts { of, wording, .. } = *self;
        let board = &of.board;
        let answer = match &of.answer {
            Ok(answer) => answer,
            Err(why) => return format!("{board}  not solvable: {why}\n"),
        };
        let (time, nodes) = (duration(answer.seconds), counted(answer.nodes, "node"));
        let Some((moves, length)) = of.moves().zip(of.length()) else {
            let least = counted(answer.at_least as u64, "move");
            return format!("{board}  gave up after {nodes}: needs at least {least}  {time}\n");
        };
        let also = of.length_mtm().map_or(String::new(), |length| format!(" ({length} in mtm)"));
        let (count, letters) = (counted(length as u64, "move"), wording.letters(moves));
        let found = of.all.as_ref().map(|all| {
            let (line, each) = solutions::words(length, all, |moves| wording.letters(moves));
            (format!("{board}  {count}  {line}"), each)
        });
        let one = || (format!("{board}  {count}{also}  {letters}"), String::new());
        let (mut line, each) = found.unwrap_or_else(one);
        if answer.nodes > 0 {
            line += &format!("  {nodes}");
        }
        line += &format!("  {time}");
        match &of.proof {
            None => {}
            Some(Ok(conflicts)) => {
                line += &format!("  certified ({} conflicts)", thousands(*conflicts));
            }
            Some(Err(why)) => line += &format!("  not certified: {why}"),
        }
        line + "\n" + &each
    }
}

/// Sums over all boards.
#[derive(Clone, Copy, Default)]
pub struct Totals {
    boards: u64,
    solved: u64,
    /// Boards that can be solved.
    searched: u64,
    moves: u64,
    nodes: u64,
    /// Nodes of this session alone.
    generated: u64,
    proofs: u64,
    failed: u64,
    /// Lines that are no boards of the goal's size.
    pub refused: u64,
    /// All boards and lines that came, done or not.
    pub known: u64,
    /// Whether the command ended before all lines had come.
    pub more: bool,
    pub interrupted: bool,
}

impl Totals {
    pub fn count(&mut self, solved: &Solved) {
        self.boards += 1;
        if let Ok(answer) = &solved.answer {
            self.searched += 1;
            self.nodes += answer.nodes;
            // A log has subtrees behind the solution, too, which answers do not count.
            self.generated += answer.nodes.saturating_sub(solved.earlier);
        }
        if let Some(length) = solved.length() {
            self.solved += 1;
            self.moves += length as u64;
        }
        match solved.proof {
            Some(Ok(_)) => self.proofs += 1,
            Some(Err(_)) => self.failed += 1,
            None => {}
        }
    }

    /// How far an interrupted command came.
    pub fn so_far(&self) -> String {
        let (solved, known) = (thousands(self.solved), thousands(self.known));
        format!("{solved} of {known}{} boards solved", self.and_more())
    }

    fn and_more(&self) -> &'static str {
        if self.more { " or more" } else { "" }
    }

    /// Whether every board was solved, and every proof asked for was found.
    pub fn all_done(&self) -> bool {
        self.solved == self.boards && self.failed + self.refused == 0
    }
}
