//! The boards to solve: on the command line, or on standard input, as they arrive.

use std::{
    io::BufRead,
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    time::Duration,
};

use tilewave::{Board, Size, search::Communicator};

use crate::cli::{Failure, Result, progress, refuse};

/// Lines that are read ahead.
const AHEAD: usize = 1 << 16;

/// How often a wait for input looks for Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Where boards come from: the command line, or standard input where that has none.
pub struct Boards<'a> {
    pub boards: Vec<&'a str>,
    /// Size of the boards, for lists of tiles without '/'.
    pub size: Option<Size>,
}

/// A board, or what is wrong with its line, which is named where there are lines.
pub type BoardLine = Result<(Board, Option<usize>), String>;

/// The boards that are there, and those that come.
pub struct Arrivals {
    waiting: std::collections::VecDeque<BoardLine>,
    lines: Option<Receiver<BoardLine>>,
    /// Boards and wrong lines so far, including those that are waiting.
    pub known: usize,
}

impl Boards<'_> {
    /// The boards, which arrive one by one when none is on the command line. Of several ranks the first one
    /// reads, all of them before any is solved.
    pub fn arrive(&self, ranks: &dyn Communicator) -> Result<Arrivals> {
        if ranks.size() == 1 {
            return self.read();
        }
        let mut lines = String::new();
        if ranks.rank() == 0 {
            for board in self.read()?.all()? {
                lines += &format!("{board}\n");
            }
        }
        let lines = ranks.broadcast(lines.into_bytes());
        let lines = String::from_utf8_lossy(&lines).into_owned();
        let boards = lines.lines().map(|line| Board::parse(line, None));
        Ok(Arrivals::of(boards.collect::<Result<_, _>>()?, None))
    }

    fn read(&self) -> Result<Arrivals> {
        let boards = self.boards.iter().map(|text| Board::parse(text, self.size));
        let boards = boards.collect::<Result<Vec<Board>, _>>()?;
        let lines = boards.is_empty().then(|| read(self.size));
        Ok(Arrivals::of(boards, lines))
    }
}

impl Arrivals {
    fn of(boards: Vec<Board>, lines: Option<Receiver<BoardLine>>) -> Arrivals {
        let known = boards.len();
        let waiting = boards.into_iter().map(|board| Ok((board, None))).collect();
        Arrivals { waiting, lines, known }
    }

    /// Waits for all boards, which stay, and returns them: of one size, or it says which is not.
    pub fn all(&mut self) -> Result<Vec<Board>> {
        let more = || Some(self.next(usize::MAX)).filter(|some| !some.is_empty());
        let all: Vec<BoardLine> = std::iter::from_fn(more).flatten().collect();
        if progress::asked() {
            return Err(Failure::interrupted());
        }
        let mut boards: Vec<Board> = Vec::new();
        for arrival in &all {
            match (arrival, boards.first().map(Board::size)) {
                (Err(wrong), _) => refuse!("{wrong}; every line must be a board"),
                (Ok((board, _)), Some(size)) if board.size() != size => refuse!(
                    "board {} is {}, but the first is {size}: solve boards of one size at a time",
                    boards.len() + 1,
                    board.size()
                ),
                (Ok((board, _)), _) => boards.push(board.clone()),
            }
        }
        self.put_back(all);
        Ok(boards)
    }

    /// The next boards, at most so many, as soon as there is one; none at the end, or when
    /// interrupted.
    pub fn next(&mut self, most: usize) -> Vec<BoardLine> {
        while self.waiting.is_empty() && !progress::asked() {
            let Some(lines) = &self.lines else { break };
            match lines.recv_timeout(LOOK_EVERY) {
                Ok(arrival) => self.arrived(arrival),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.lines = None,
            }
        }
        while let Some(Ok(arrival)) = self.lines.as_ref().map(Receiver::try_recv) {
            self.arrived(arrival);
        }
        let count = self.waiting.len().min(most);
        self.waiting.drain(..count).collect()
    }

    /// The size of the first board, which is looked for some boards at a time; none when interrupted before it came.
    pub fn first_size(&mut self, most: usize) -> Result<Option<Size>> {
        let mut seen: Vec<BoardLine> = Vec::new();
        loop {
            let arrivals = self.next(most);
            if arrivals.is_empty() {
                return match (progress::asked(), seen.into_iter().find_map(Result::err)) {
                    (true, _) => Ok(None),
                    (false, Some(error)) => Err(Failure::usage(error)),
                    (false, None) => {
                        refuse!(
                            "no board was given: pass boards as arguments, or one per line on standard input"
                        )
                    }
                };
            }
            seen.extend(arrivals);
            let board = seen.iter().flatten().next();
            if let Some(size) = board.map(|(board, _)| board.size()) {
                self.put_back(seen);
                return Ok(Some(size));
            }
        }
    }

    /// Puts boards back that were looked at.
    fn put_back(&mut self, arrivals: Vec<BoardLine>) {
        for arrival in arrivals.into_iter().rev() {
            self.waiting.push_front(arrival);
        }
    }

    /// Whether more may come than is known.
    pub fn is_open(&self) -> bool {
        self.lines.is_some()
    }

    fn arrived(&mut self, arrival: BoardLine) {
        self.known += 1;
        self.waiting.push_back(arrival);
    }
}

/// Reads the lines of standard input on a thread of its own, so that Ctrl-C does not wait for it.
fn read(size: Option<Size>) -> Receiver<BoardLine> {
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
                    let board = line.trim_start_matches('\u{feff}').split('#').next();
                    let board = board.unwrap_or_default();
                    if board.trim().is_empty() {
                        continue;
                    }
                    let board = Board::parse(board, size).map_err(|error| wrong(&error));
                    board.map(|board| (board, Some(number)))
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
