//! The search for shortest solutions: shared by all threads of all ranks, shown, logged, and ended at its limits.
//!
//! [`attempt_all`] deals easy boards or states to threads; a [`Searcher`] finishes a hard one on all of them. Both tell
//! a [`SolveProgress`] how far they are.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rayon::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use tilewave::{
    internals::{Recorder, SubtreeSplit, Walked},
    progress::Phase,
    report::{counted, duration, thousands},
    search::{Communicator, Ranks},
    solve::{
        AllSolutions, Answer, Attempt, Logged, Pending, SolutionRange, SolveLog, Stage, StateSolver,
    },
};

use crate::{
    Failure, Result, StatusLine, Threads, aside, count, eta, first_given,
    pdb::Thresholds,
    progress,
    ranks::me,
    refuse,
    solve::{databases::Databases, solutions::SolutionOptions},
    time,
};

/// How shortest solutions are searched for.
#[derive(clap::Args)]
pub struct SearchOptions {
    #[command(flatten)]
    pub databases: Databases,

    #[command(flatten)]
    pub solutions: SolutionOptions,

    #[command(flatten)]
    pub limits: SearchLimits,

    /// Log progress to FILE, so the same command can continue an interrupted run.
    ///
    /// With --log, all boards are read before the first one is solved. With --all, the log keeps one shortest solution:
    /// the others are searched for again.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fast", "certify", "table"])]
    pub log: Option<PathBuf>,

    #[command(flatten)]
    pub threads: Threads,
}

/// When a board or other state is given up.
#[derive(clap::Args, Clone, Copy)]
pub struct SearchLimits {
    /// Give up on a board or state after this many nodes.
    #[arg(long, value_name = "N", value_parser = count::<u64>(), allow_negative_numbers = true)]
    max_nodes: Option<u64>,

    /// Give up on a board or state after this time, e.g. 90s or 2min.
    ///
    /// With --certify, this is also the time limit for the SAT solver, which is 60s by default.
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,
}

impl SearchLimits {
    /// Refuses limits where nothing is searched, because of an option.
    pub fn refuse(self, because: &str) -> Result<()> {
        let given =
            [(self.max_nodes.is_some(), "--max-nodes"), (self.timeout.is_some(), "--timeout")];
        match first_given(&given) {
            Some(option) => {
                refuse!("{option} limits searches, and {because} makes none: leave out {option}")
            }
            None => Ok(()),
        }
    }

    /// Whether there is time to build databases for a board or state when it proves hard.
    pub fn allow_building(self) -> bool {
        self.timeout.is_none_or(|time| time >= BUILD_FROM)
    }

    /// Whether there are any.
    pub fn any(self) -> bool {
        self.max_nodes.is_some() || self.timeout.is_some()
    }

    /// Whether they are reached after so many nodes and seconds.
    pub fn are_reached(self, nodes: u64, seconds: f64) -> bool {
        self.max_nodes.is_some_and(|most| nodes >= most)
            || self.timeout.is_some_and(|time| seconds >= time.as_secs_f64())
    }
}

/// With less time than this, no databases are built for hard ones.
const BUILD_FROM: Duration = Duration::from_secs(60);

/// Attempts so many boards or states, each on one thread of a rank; returns what was made of them, in order. Some may
/// be missing when somebody interrupts. `told` hears of each. All ranks return the same.
pub fn attempt_all<O: Clone + Send + Serialize + DeserializeOwned>(
    ranks: Ranks<'_>,
    count: usize,
    told: &(dyn Fn(&O) + Sync),
    attempt: &(dyn Fn(usize) -> Result<O> + Sync),
) -> Result<Vec<(usize, O)>> {
    let failure = Mutex::new(None);
    let (mut tried, stopped) = ranks.share(&progress::asked, &told, |share| {
        share.begin(count);
        (0..rayon::current_num_threads()).into_par_iter().for_each(|_| {
            while let Some(i) = share.next() {
                match attempt(i) {
                    Ok(tried) => {
                        told(&tried);
                        share.done(i, tried);
                    }
                    Err(error) => {
                        failure.lock().get_or_insert(error);
                        share.stop();
                    }
                }
            }
        });
        share.end()
    });
    if let Some(error) = failure.into_inner() {
        return Err(error);
    }
    if stopped {
        progress::ask();
    }
    tried.sort_unstable_by_key(|(i, _)| *i);
    Ok(tried)
}

/// A solver with its log and limits.
pub struct Searcher<'a, T: StateSolver> {
    pub solver: T,
    pub log: Option<SolveLog<T>>,
    pub limits: SearchLimits,
    /// The solutions that are wanted, unless it is one.
    pub range: Option<SolutionRange>,
    pub progress: &'a SolveProgress,
}

impl<T: StateSolver> Searcher<'_, T> {
    /// Opens the log of all boards or states, and says how far it has come.
    pub fn open_log(
        &mut self,
        path: &Path,
        states: &[T::State],
        ranks: &dyn Communicator,
    ) -> Result<()> {
        let opened = SolveLog::open(path, states, &self.solver, ranks)?;
        let is_solved = |logged: &&Logged<_, _>| matches!(logged, Logged::Solved(_));
        let (known, solved) = (opened.found.len(), opened.found.values().filter(is_solved).count());
        if ranks.rank() == 0 && known > 0 {
            tracing::info!(
                "continuing {}: {} of {} {}s are solved, {} partly searched",
                path.display(),
                thousands(solved as u64),
                thousands(states.len() as u64),
                self.progress.noun,
                thousands((known - solved) as u64),
            );
        }
        self.log = Some(opened);
        Ok(())
    }

    /// Fails where another rank has other databases or tables.
    pub fn agree(&self, communicator: &dyn Communicator, what: &str) -> Result<()> {
        let mine = serde_json::to_vec(&(env!("CARGO_PKG_VERSION"), self.solver.databases()))?;
        if communicator.broadcast(mine.clone()) == mine {
            return Ok(());
        }
        Err(Failure::failed(format!(
            "{} has different {what} from those of rank 0, or a different version of this program: \
             use the same files and the same version on all machines",
            me(communicator)
        )))
    }

    /// What an earlier session has made of the one at a place.
    pub fn found(&self, at: usize) -> Option<&Logged<T::State, T::Moves>> {
        self.log.as_ref()?.found.get(&at)
    }

    /// Solves the one at a place on the current thread, unless it is too hard for one, or the log has it.
    pub fn attempt(&self, at: usize, state: &T::State) -> Result<Attempt<T::State, T::Moves>> {
        match self.found(at) {
            Some(Logged::Solved(answer)) => {
                self.progress.known();
                Ok(Attempt::Answered(answer.clone()))
            }
            Some(Logged::Pending { search, .. }) => Ok(Attempt::Hard(search.clone())),
            None => Ok(self.solver.attempt_with(state, &self.watch(at, 0.0, &[]))?),
        }
    }

    /// Finishes a hard one, with all threads of all ranks. None where it was left alone because somebody interrupted.
    pub fn finish(
        &self,
        at: usize,
        pending: Pending<T::State>,
        ranks: Ranks<'_>,
    ) -> Result<Option<Answer<T::Moves>>> {
        if let Some(log) = &self.log {
            log.begin(at, &pending)?;
        }
        // All ranks stop at the same one.
        if ranks.communicator.max(progress::asked().into()) > 0 {
            progress::ask();
            return Ok(None);
        }
        let stages = match self.found(at) {
            Some(Logged::Pending { stages, .. }) => stages.clone(),
            _ => vec![pending.stage],
        };
        let watch = self.watch(at, pending.seconds, &stages);
        let answer = self.solver.finish_together_with(pending, ranks, &watch, &watch)?;
        if let Some(log) = &self.log {
            log.end()?;
        }
        self.progress.done();
        Ok(Some(answer))
    }

    /// Finds all solutions of the one at a place that are wanted, with all threads of all ranks, if it is solved and more
    /// than one is wanted. None where it was left alone because somebody interrupted.
    pub fn every(
        &self,
        at: usize,
        state: &T::State,
        answer: Answer<T::Moves>,
        ranks: Ranks<'_>,
    ) -> Result<Option<Every<T::Moves>>> {
        let Some(range) = self.range.filter(|_| answer.moves.is_some()) else {
            return Ok(Some(Every::One(answer)));
        };
        let watch = self.watch(at, answer.seconds, &[]);
        let all = self.solver.all_together_with(state, answer, &range, ranks, &watch)?;
        let ended = self.limits.are_reached(all.shortest.nodes, all.shortest.seconds);
        let is_left = progress::asked() && !all.is_complete && !ended;
        Ok((!is_left).then_some(Every::All(all)))
    }

    /// Whether there is no answer because somebody interrupted, not because limits were reached.
    pub fn is_left(&self, answer: &Answer<T::Moves>) -> bool {
        let ended = self.limits.are_reached(answer.nodes, answer.seconds);
        progress::asked() && answer.moves.is_none() && !ended
    }

    /// The answer, without what was found between two looks at the limit.
    pub fn limited(&self, answer: Answer<T::Moves>) -> Answer<T::Moves> {
        match self.limits.max_nodes {
            Some(most) if answer.nodes > most => Answer { moves: None, ..answer },
            _ => answer,
        }
    }

    /// The watch over the one at a place, on which some seconds were spent before, in iterations that were
    /// followed by some stages.
    fn watch(&self, at: usize, spent: f64, stages: &[Stage]) -> SearchWatch<'_, T> {
        let (begun, nodes) = (Instant::now(), AtomicU64::new(0));
        let thresholds = Thresholds::after(stages);
        SearchWatch { searcher: self, at, begun, spent, nodes, thresholds, last: Mutex::new(begun) }
    }
}

/// One answer, or all solutions.
pub enum Every<M> {
    One(Answer<M>),
    All(AllSolutions<M>),
}

impl<M: Clone> Every<M> {
    /// The answer, and all solutions if they were wanted.
    pub fn parts(self) -> (Answer<M>, Option<AllSolutions<M>>) {
        match self {
            Every::One(answer) => (answer, None),
            Every::All(all) => (all.shortest.clone(), Some(all)),
        }
    }
}

/// An iteration that has taken so long is worth a line of its own.
const LONG: Duration = Duration::from_secs(5);

/// Shows the search of one, logs it, and ends it at its limits.
struct SearchWatch<'a, T: StateSolver> {
    searcher: &'a Searcher<'a, T>,
    /// Its place.
    at: usize,
    begun: Instant,
    /// Seconds spent on it before.
    spent: f64,
    nodes: AtomicU64,
    thresholds: Thresholds,
    /// When the last iteration began.
    last: Mutex<Instant>,
}

impl<T: StateSolver> Recorder for SearchWatch<'_, T> {
    fn iteration(&self, next: Stage) {
        if let Some(log) = &self.searcher.log {
            log.iteration(next);
        }
        let took = std::mem::replace(&mut *self.last.lock(), Instant::now()).elapsed();
        self.thresholds.close(next.nodes);
        if took >= LONG && self.searcher.progress.shown {
            let speed = next.last as f64 / took.as_secs_f64();
            let expected = Thresholds::next(&self.thresholds.nodes());
            let expected = expected.map_or(String::new(), |(nodes, growth)| {
                let time = duration(nodes / speed);
                let nodes = counted(nodes as u64, "node");
                format!(
                    "; ruling out solutions of {} should take {growth:.1} times as many \
                     nodes: about {nodes} and {time}",
                    counted(next.threshold as u64, "move")
                )
            });
            let (nodes, time) = (counted(next.last, "node"), duration(took.as_secs_f64()));
            aside(|| {
                tracing::info!(
                    "{}no solution has fewer than {}: {nodes} in {time}{expected}",
                    self.searcher.progress.one(self.at),
                    counted(next.threshold as u64, "move"),
                );
            });
        }
    }

    fn subtree(&self, of: SubtreeSplit, walked: Walked) {
        if let Some(log) = &self.searcher.log {
            log.subtree(of, walked);
        }
    }
}

impl<T: StateSolver> tilewave::Progress for SearchWatch<'_, T> {
    fn progress(&self, phase: Phase, nodes: u64, _: u64) {
        self.nodes.fetch_max(nodes, Ordering::Relaxed);
        if let Phase::Search(threshold) = phase {
            self.thresholds.note(threshold, nodes);
        }
        self.searcher.progress.nodes(nodes, &self.thresholds);
    }

    fn interrupted(&self) -> bool {
        let seconds = self.begun.elapsed().as_secs_f64() + self.spent;
        progress::asked()
            || self.searcher.log.as_ref().is_some_and(SolveLog::has_failed)
            || self.searcher.limits.are_reached(self.nodes.load(Ordering::Relaxed), seconds)
    }
}

// The progress of solving: boards done, and the nodes of the one that takes long.

/// The seconds that the boards that are left take if each takes as long as those that are done, of which the last one
/// was done at `last` milliseconds; none when the current one already takes longer than all of that.
fn rest((done, last): (u64, u64), now: u64, left: u64) -> Option<f64> {
    let all = last as f64 * left as f64 / done.max(1) as f64;
    let rest = all - now.saturating_sub(last) as f64;
    (done > 0 && rest > 0.0).then_some(rest / 1000.0)
}

/// Shows how many boards are done, the nodes of the one that takes long, and the time that is left.
pub struct SolveProgress {
    line: StatusLine,
    boards: AtomicU64,
    done: AtomicU64,
    /// Boards among those done that an earlier session has solved.
    known: AtomicU64,
    begun: Instant,
    /// When the last one was done, in milliseconds.
    last: AtomicU64,
    /// Whether anything is shown: not where another rank does.
    pub shown: bool,
    /// What is solved: a board, or a state.
    pub noun: &'static str,
}

impl SolveProgress {
    pub fn new(noun: &'static str, boards: usize, shown: bool) -> SolveProgress {
        SolveProgress {
            line: StatusLine::new(),
            boards: AtomicU64::new(boards as u64),
            done: AtomicU64::new(0),
            known: AtomicU64::new(0),
            begun: Instant::now(),
            last: AtomicU64::new(0),
            shown,
            noun,
        }
    }

    /// A search has come to a number of nodes. Called by any thread, thousands of times a second.
    pub fn nodes(&self, nodes: u64, thresholds: &Thresholds) {
        if !self.shown {
            return;
        }
        self.line.say(|| {
            let all = [&self.done, &self.known, &self.boards];
            let [done, known, boards] = all.map(|n| n.load(Ordering::Relaxed));
            let mut text = String::new();
            if boards > 1 {
                let (done, noun) = (thousands(done), self.noun);
                text += &format!("{done} of {} {noun}s  ", thousands(boards));
            }
            let last = self.last.load(Ordering::Relaxed);
            let now = self.begun.elapsed().as_millis() as u64;
            if let Some(rest) =
                rest((done.saturating_sub(known), last), now, boards - done.min(boards))
            {
                text += &format!("{}  ", eta(rest));
            }
            text += &counted(nodes, "node");
            if boards > 1 {
                text += &format!(" for the current {}", self.noun);
            }
            if let Some((threshold, _)) = thresholds.nodes().last() {
                let moves = counted(*threshold as u64, "move");
                text += &format!(", searching for solutions of {moves}");
            }
            if let Some((share, expected, rest)) = thresholds.share() {
                let share = (100.0 * share).min(99.0);
                text += &format!(" ({share:.0} % of about {})", counted(expected as u64, "node"));
                if let Some(rest) = rest {
                    text += &format!("  {} for this length", eta(rest));
                }
            }
            (done as f64 / boards.max(1) as f64, text)
        });
    }

    /// So many boards are known by now, done or not.
    pub fn expect(&self, boards: usize) {
        self.boards.store(boards as u64, Ordering::Relaxed);
    }

    /// A board is solved or refused. Called by any thread.
    pub fn done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.last.store(self.begun.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    /// A board was solved by an earlier session; it is done in a moment.
    pub fn known(&self) {
        self.known.fetch_add(1, Ordering::Relaxed);
    }

    /// How the words about a board begin, given its place.
    pub fn one(&self, at: usize) -> String {
        match self.boards.load(Ordering::Relaxed) {
            0 | 1 => String::new(),
            boards => format!("{} {} of {}: ", self.noun, at + 1, thousands(boards)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What counts up is no time that is left.
    #[test]
    fn a_time_that_is_left_counts_down_until_nothing_is_known() {
        // Ten boards of a second each are done, five are left.
        assert_eq!(rest((10, 10_000), 10_000, 5), Some(5.0));
        assert_eq!(rest((10, 10_000), 12_000, 5), Some(3.0));
        assert_eq!(rest((10, 10_000), 15_000, 5), None);
        // An easy board, then a hard one.
        assert_eq!(rest((1, 10), 2_000, 1), None);
        assert_eq!(rest((0, 0), 2_000, 2), None);
        // Of an iteration, by its share: ten times as many nodes as the one before.
        let thresholds = Thresholds::new(0);
        thresholds.note(10, 100);
        thresholds.note(12, 1_100);
        thresholds.note(14, 1_200);
        std::thread::sleep(Duration::from_millis(30));
        thresholds.note(14, 3_700);
        let (share, expected, left) = thresholds.share().unwrap();
        assert_eq!((share, expected), (0.26, 10_000.0));
        // 2,500 nodes in 30 ms or more, 7,400 nodes to go.
        let left = left.unwrap();
        assert!((0.088..30.0).contains(&left), "{left}");
        thresholds.note(14, 11_200);
        assert_eq!(thresholds.share().unwrap().2, None);
    }
}
