//! Iterative-deepening A* over any tree of moves, with one thread, all threads, or all ranks.
//!
//! `optimal` and `puzzles` are the solvers: each is a [`StateSolver`] over a [`MoveTree`]. The program attempts states
//! and finishes hard ones with the methods of the trait. All walks of an iteration share a [`Control`]; a [`Recorder`],
//! such as `log`, keeps what they found.
//!
//! Source: R. E. Korf, Depth-first iterative-deepening, AIJ 27 (1985).
//!
//! Invariant: all solutions shorter than the threshold of an iteration are excluded by the previous iterations, whoever
//! carried them out. So a search can pause between two iterations and continue with more threads.

use std::{collections::BTreeMap, sync::OnceLock, time::Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::{
    Error,
    progress::{Phase, Progress, StopWhen},
    puzzle::{Board, Moves},
    search::{Ranks, Share},
    solve::{
        SolveError,
        walk::{MoveTree, Slack, Subtree, SubtreeEnd, Subtrees, Walk},
    },
    threads::each_number,
};

/// The answer for one board or other state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer<M = Moves> {
    /// A shortest solution, or `None` if the search was stopped.
    pub moves: Option<M>,
    /// Lower bound on the lengths of all solutions.
    pub at_least: usize,
    /// Number of nodes generated.
    pub nodes: u64,
    /// Wall-clock time in seconds.
    pub seconds: f64,
}

/// Which solutions of a state are wanted.
///
/// Solutions are sequences of moves that end with the first solved state that they come to. On boards, all sequences
/// differ. For other puzzles, sequences count as one if they differ only in the order of moves that commute (`U D` and
/// `D U`), or in how a turn is written (`R R` and `R' R'` in quarter turns).
///
/// Solutions longer than the shortest ones come to no state twice, and contain no moves that could be written as fewer
/// ones of the same axis or as a single move (`U U2`, `U D U`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolutionRange {
    /// The number of moves by which solutions may be longer than the shortest ones.
    pub slack: usize,
    /// The maximum number of solutions; `None` for all.
    pub most: Option<u64>,
    /// Whether the solutions are returned, or only counted.
    pub kept: bool,
}

/// The solutions of a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AllSolutions<M = Moves> {
    /// A shortest solution, with the nodes and seconds of all searches.
    pub shortest: Answer<M>,
    /// The number of solutions of each length, beginning with the shortest ones; of lengths that were searched.
    pub counts: Vec<u64>,
    /// The solutions if they are kept, by length, then in the order of their moves.
    pub moves: Option<Vec<M>>,
    /// Whether these are all: no limit or request to stop has ended the search.
    pub is_complete: bool,
}

/// The result of an attempt to solve a board or other state with one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Attempt<S = Board, M = Moves> {
    /// The attempt found the answer.
    Answered(Answer<M>),
    /// The state is hard: [`StateSolver::finish_with`] solves it with all threads.
    Hard(Pending<S>),
}

/// A solver by iterative deepening: [`Optimal`](crate::solve::Optimal) for boards,
/// [`PuzzleSolver`](crate::solve::PuzzleSolver) for other puzzles. For many states, call [`StateSolver::attempt_with`]
/// for each state on a separate thread, then [`StateSolver::finish_with`] for the hard ones, one after another.
/// Answers, including node counts, do not depend on the number of threads.
pub trait StateSolver: Sync {
    /// The type of the states to solve.
    type State: Clone + Send + Sync;
    /// The type of the solutions.
    type Moves: Clone + Send + Sync;

    /// Number of nodes of an iteration, about 20 ms, from which the following ones are split between threads.
    #[doc(hidden)]
    const SPLIT_FROM: u64;

    /// Returns the search for a state that can be solved.
    #[doc(hidden)]
    fn begin(&self, state: &Self::State) -> Result<Pending<Self::State>, SolveError>;

    /// Returns the tree below a state for its next iteration.
    #[doc(hidden)]
    fn rooted(
        &self,
        search: &Pending<Self::State>,
        words: SearchedWords,
    ) -> Result<Box<dyn Rooted<Self::State> + '_>, SolveError>;

    /// Prepares for the tree of an iteration on all threads.
    #[doc(hidden)]
    fn make_ready(&self, _next: Stage, _progress: &dyn Progress) -> Result<(), SolveError> {
        Ok(())
    }

    /// Checks what a search found, and the data with which it was found.
    #[doc(hidden)]
    fn checked(
        &self,
        state: &Self::State,
        found: FoundPath,
    ) -> Result<Option<Self::Moves>, SolveError>;

    /// Returns whether a path that solves a state counts as one of its solutions; `longer` says that there are shorter
    /// ones.
    #[doc(hidden)]
    fn counts(&self, state: &Self::State, path: &[u16], longer: bool) -> bool;

    /// Returns the moves of a path that solves a state.
    #[doc(hidden)]
    fn moves_of(&self, path: &[u16]) -> Self::Moves;

    /// Returns a description of the common goal of all states.
    #[doc(hidden)]
    fn goal_text(&self) -> String;

    /// Returns descriptions that identify the databases or tables, grouped by sum.
    fn databases(&self) -> Vec<Vec<String>>;

    /// Returns a state in one line.
    #[doc(hidden)]
    fn text(&self, state: &Self::State) -> String;

    /// Returns moves in one line.
    #[doc(hidden)]
    fn written(moves: &Self::Moves) -> String;

    /// Returns the moves of a line and how many they are, if they solve a state.
    #[doc(hidden)]
    fn replayed(&self, state: &Self::State, moves: &str) -> Option<(Self::Moves, usize)>;

    /// Returns a shortest solution of a state, with all threads of the current rayon pool if it is hard. The observer is
    /// informed of the nodes and may stop the search.
    ///
    /// # Errors
    /// Those of [`StateSolver::attempt_with`].
    fn solve_with(
        &self,
        state: &Self::State,
        progress: &dyn Progress,
    ) -> Result<Answer<Self::Moves>, SolveError> {
        match self.attempt_with(state, progress)? {
            Attempt::Answered(answer) => Ok(answer),
            Attempt::Hard(pending) => self.finish_with(pending, progress),
        }
    }

    /// Returns a shortest solution if one thread finds it before an iteration takes about 20 ms, or in the first one
    /// that does; otherwise returns the search so far.
    ///
    /// # Errors
    /// [`SolveError::Puzzle`] if the state cannot be solved.
    fn attempt_with(
        &self,
        state: &Self::State,
        progress: &dyn Progress,
    ) -> Result<Attempt<Self::State, Self::Moves>, SolveError> {
        let begun = Instant::now();
        let mut search = self.begin(state)?;
        let (rooted, share) = (self.rooted(&search, SearchedWords::One)?, Share::alone());
        // Solution and nodes are the same for any number of threads and processes.
        while search.stage.last < Self::SPLIT_FROM {
            if let Some(found) = rooted.iterate(&mut search, &share, (progress, &()), 1) {
                return self.answer(search, begun, found).map(Attempt::Answered);
            }
        }
        search.seconds = begun.elapsed().as_secs_f64();
        Ok(Attempt::Hard(search))
    }

    /// Returns a shortest solution of a hard state, found with all threads of the current rayon pool, or the errors of
    /// [`StateSolver::attempt_with`]. The answer's nodes and seconds include those of the attempt.
    fn finish_with(
        &self,
        pending: Pending<Self::State>,
        progress: &dyn Progress,
    ) -> Result<Answer<Self::Moves>, SolveError> {
        self.finish_recorded_with(pending, progress, &())
    }

    /// Like [`StateSolver::finish_with`], but also reports its steps to a recorder such as [`crate::solve::SolveLog`],
    /// so that the search can continue after the process has ended.
    fn finish_recorded_with(
        &self,
        pending: Pending<Self::State>,
        progress: &dyn Progress,
        recorder: &dyn Recorder,
    ) -> Result<Answer<Self::Moves>, SolveError> {
        self.go_on(pending, &Share::alone(), (progress, recorder))
    }

    /// Returns a shortest solution of a hard state, found jointly by a thread pool on each rank of a job. All ranks
    /// must call this from outside their pools, with the same state and the same progress of an attempt or log; all
    /// return the same moves and nodes as a single thread. If the observer of any rank asks to stop, all ranks stop.
    /// Every recorder receives all subtrees, whichever rank searched them.
    fn finish_together_with(
        &self,
        pending: Pending<Self::State>,
        ranks: Ranks<'_>,
        progress: &dyn Progress,
        recorder: &dyn Recorder,
    ) -> Result<Answer<Self::Moves>, SolveError> {
        let (interrupted, told) = (|| progress.interrupted(), |done: &_| note(recorder, done));
        let work = |share: &_| self.go_on(pending, share, (progress, recorder));
        ranks.share(&interrupted, &told, work)
    }

    /// Returns all solutions of a state within a range, with all threads of the current rayon pool: see
    /// [`SolutionRange`]. If the observer asks to stop, those found so far are returned.
    ///
    /// # Errors
    /// Those of [`StateSolver::attempt_with`].
    fn solve_all_with(
        &self,
        state: &Self::State,
        range: &SolutionRange,
        progress: &dyn Progress,
    ) -> Result<AllSolutions<Self::Moves>, SolveError> {
        let shortest = self.solve_with(state, progress)?;
        self.gather(state, shortest, range, &Share::alone(), progress)
    }

    /// Like [`StateSolver::solve_all_with`], for a state whose shortest solution is known, with a thread pool on each
    /// rank of a job, as for [`StateSolver::finish_together_with`]. Nodes and seconds include those of the answer.
    fn all_together_with(
        &self,
        state: &Self::State,
        shortest: Answer<Self::Moves>,
        range: &SolutionRange,
        ranks: Ranks<'_>,
        progress: &dyn Progress,
    ) -> Result<AllSolutions<Self::Moves>, SolveError> {
        let work = |share: &_| self.gather(state, shortest, range, share, progress);
        ranks.share(&|| progress.interrupted(), &|_| (), work)
    }

    #[doc(hidden)]
    fn gather(
        &self,
        state: &Self::State,
        shortest: Answer<Self::Moves>,
        range: &SolutionRange,
        share: &Share<SubtreeResult>,
        progress: &dyn Progress,
    ) -> Result<AllSolutions<Self::Moves>, SolveError> {
        let (begun, at_least) = (Instant::now(), shortest.at_least);
        let Answer { nodes, seconds, .. } = shortest;
        let is_solved = shortest.moves.is_some();
        let (counts, mut moves) = (Vec::new(), Vec::new());
        let mut all = AllSolutions { shortest, counts, moves: None, is_complete: false };
        if !is_solved {
            return Ok(all);
        }
        let mut search = self.begin(state)?;
        search.stage = Stage { threshold: at_least, nodes, last: nodes };
        // One more, to know whether there are more.
        let mut left = range.most.unwrap_or(u64::MAX - 1);
        let mut ended = false;
        for limit in at_least..=at_least.saturating_add(range.slack) {
            // A solved state has no other solution.
            if at_least == 0 {
                all.counts.push(1);
                moves.push(self.moves_of(&[]));
                break;
            }
            search.stage.threshold = limit;
            match self.make_ready(search.stage, progress) {
                Err(_) if progress.interrupted() => {
                    ended = true;
                    break;
                }
                ready => ready?,
            }
            let rooted = self.rooted(&search, SearchedWords::Every)?;
            let counts = |path: &[u16]| self.counts(state, path, limit > at_least);
            let wanted = WantedPaths { most: left + 1, kept: range.kept, counts: &counts };
            let observers: Observers<'_> = (progress, &());
            let control = Control::new(observers, share, (limit, search.nodes()), &wanted);
            let WalkResult { found, mut paths, stopped, .. } = rooted.every(&mut search, &control);
            let listed = found.min(left);
            paths.truncate(listed as usize);
            paths.sort_unstable();
            moves.extend(paths.iter().map(|path| self.moves_of(path)));
            all.counts.push(listed);
            left -= listed;
            ended = stopped || found > listed;
            if ended {
                break;
            }
        }
        all.is_complete = !ended;
        all.moves = range.kept.then_some(moves);
        all.shortest.nodes = search.nodes();
        all.shortest.seconds = seconds + begun.elapsed().as_secs_f64();
        Ok(all)
    }

    /// Solves a hard state with the threads of the current pool, and of the ranks that take part.
    ///
    /// Every few thousand nodes, the first observer is given the number of nodes so far and asked whether to stop; the
    /// second is given the work that need not be repeated.
    #[doc(hidden)]
    fn go_on(
        &self,
        mut search: Pending<Self::State>,
        share: &Share<SubtreeResult>,
        observers: Observers<'_>,
    ) -> Result<Answer<Self::Moves>, SolveError> {
        let begun = Instant::now();
        self.begin(&search.state)?;
        let threads = rayon::current_num_threads();
        let found = loop {
            match self.make_ready(search.stage, observers.0) {
                Err(_) if observers.0.interrupted() => break Ok(None),
                ready => ready?,
            }
            let rooted = self.rooted(&search, SearchedWords::One)?;
            if let Some(found) = rooted.iterate(&mut search, share, observers, threads) {
                break found;
            }
            observers.1.iteration(search.stage);
        };
        if matches!(found, Ok(None)) {
            share.stop();
        }
        self.answer(search, begun, found)
    }

    /// Makes an answer from what a search that began at a time has found.
    #[doc(hidden)]
    fn answer(
        &self,
        search: Pending<Self::State>,
        begun: Instant,
        found: FoundPath,
    ) -> Result<Answer<Self::Moves>, SolveError> {
        let seconds = search.seconds + begun.elapsed().as_secs_f64();
        let moves = self.checked(&search.state, found)?;
        let Stage { threshold: at_least, nodes, .. } = search.stage;
        Ok(Answer { moves, at_least, nodes, seconds })
    }
}

/// Which sequences of moves a tree holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchedWords {
    /// At least one shortest sequence for each effect.
    One,
    /// All that count as solutions: see [`SolutionRange`].
    Every,
}

/// What a search has found: a shortest solution as numbers of moves, or nothing because an observer asked to stop.
pub type FoundPath = Result<Option<Vec<u16>>, SolveError>;

/// A search tree below the state of a solver.
pub trait Rooted<S> {
    /// Carries out an iteration, or the rest of one, with a number of threads of the current pool. Returns `None` if
    /// the search continues with the next one.
    fn iterate(
        &self,
        search: &mut Pending<S>,
        share: &Share<SubtreeResult>,
        observers: Observers<'_>,
        threads: usize,
    ) -> Option<FoundPath>;

    /// Looks for all solutions of exactly as many moves as the next iteration allows, with the threads of the current
    /// pool.
    fn every(&self, search: &mut Pending<S>, control: &Control<'_>) -> WalkResult;
}

impl<S, T: MoveTree> Rooted<S> for T {
    fn iterate(
        &self,
        search: &mut Pending<S>,
        share: &Share<SubtreeResult>,
        observers: Observers<'_>,
        threads: usize,
    ) -> Option<FoundPath> {
        let bound = self.bound();
        if bound > search.before.pieces.threshold {
            search.before = Cut::default();
        }
        if bound > search.stage.threshold {
            // This tree knows better than that of the previous iteration.
            search.stage.threshold = self.at_least(bound);
            return None;
        }
        let limit = search.stage.threshold;
        if T::is_goal(&Walk::new(self, self.root(limit), limit, 0, &mut Vec::new())) {
            return Some(Ok(Some(Vec::new())));
        }
        let mut theirs = previous(self, &search.before);
        if search.before.is_whole() && theirs.len() != search.before.walked.len() {
            learn(self, search, (observers.0, &()), threads);
            theirs = previous(self, &search.before);
        }
        let before = search.nodes();
        let control = Control::new(observers, share, (limit, before), &FIRST);
        let pass = pass(self, search, &theirs, &control, threads);
        let Walked { nodes, excess, .. } = pass.walked;
        let stage = &mut search.stage;
        (stage.nodes, stage.last) = (stage.nodes + nodes, nodes);
        if pass.found > 0 || pass.stopped {
            return Some(Ok(pass.paths.into_iter().next()));
        }
        if excess == i32::MAX {
            return Some(Err(SolveError::NoSolution));
        }
        stage.threshold = self.at_least(stage.threshold + excess as usize);
        None
    }

    fn every(&self, search: &mut Pending<S>, control: &Control<'_>) -> WalkResult {
        let limit = control.limit;
        if self.at_least(limit) != limit {
            return WalkResult::from(Walked::default());
        }
        let pass = pass(self, search, &[], control, rayon::current_num_threads());
        let Walked { nodes, .. } = pass.walked;
        let stage = &mut search.stage;
        (stage.nodes, stage.last) = (stage.nodes + nodes, nodes);
        pass
    }
}

// One iteration in pieces: the tree is split below the root, and threads of all processes take subtrees, beginning with
// those in which the previous iteration came closest to the goal.
//
// Where a walk comes close with a few moves fewer, there is likely to be a solution with a few more: usually it is in
// one of the first subtrees, so that the last iteration costs little compared to the previous ones.
//
// Source: C. Powley and R. E. Korf, Single-agent parallel window search, IEEE PAMI 13 (1991), which orders nodes in
// this way.
//
// Invariant: the order depends only on the previous iteration, and every subtree before the first one with a solution
// is searched completely. So the solution and the number of nodes are those of a single thread, whatever the number of
// threads and processes.

/// Number of nodes of an iteration per subtree, at least, into which the next one is split; minimum and maximum number
/// of subtrees to request: so many that the largest ones do not keep a single thread busy at the end, and that the
/// first ones are small compared to the total.
const NODES: u64 = 64;

const SUBTREES: [u64; 2] = [4, 1 << 14];

/// Number of nodes after which a walk asks whether to stop: it asks at its first nodes, then whenever they have
/// doubled, and finally at this interval.
const ASK_EVERY: u64 = 1 << 14;

/// The number of subtrees into which an iteration is split after one with this number of nodes; 0 for none.
fn worth(nodes: u64) -> usize {
    let [least, most] = SUBTREES;
    match nodes / NODES {
        few if few < least => 0,
        many => many.min(most) as usize,
    }
}

/// Returns the subtrees of the previous iteration, if it was split and is whole.
fn previous<T: MoveTree>(tree: &T, before: &Cut) -> Vec<Subtree<T::Node>> {
    let SubtreeSplit { threshold, depth, .. } = before.pieces;
    if before.is_whole() { spread(tree, depth as usize, threshold).0 } else { Vec::new() }
}

/// Repeats the previous iteration, which another tree has excluded, with this one, to know where to begin the next one. A
/// better tree makes that cheap, so each rank does it by itself; what stops it stops the next iteration, too.
fn learn<S, T: MoveTree>(
    tree: &T,
    search: &mut Pending<S>,
    observers: Observers<'_>,
    threads: usize,
) {
    let (limit, before, share) = (search.before.pieces.threshold, search.nodes(), &Share::alone());
    let control = Control::new(observers, share, (limit, before), &FIRST);
    let mut again = Pending { stage: search.stage, ..Pending::new((), limit) };
    let pass = pass(tree, &mut again, &[], &control, threads);
    search.stage.nodes += pass.walked.nodes;
    search.before = if pass.stopped { Cut::default() } else { again.before };
}

/// Returns the numbers of the subtrees in the order in which to walk through them: by the number of remaining moves
/// where the previous iteration came closest to the goal in the same or the surrounding subtree, or by its nodes there,
/// most first; those that it never reached come last.
fn order<T: MoveTree>(
    subtrees: &[Subtree<T::Node>],
    theirs: &[Subtree<T::Node>],
    before: &Cut,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..subtrees.len()).collect();
    let (Some(first), Some(their_first)) = (subtrees.first(), theirs.first()) else {
        return order;
    };
    let common = first.path.len().min(their_first.path.len());
    let mut found: BTreeMap<&[u16], (u32, u64)> = BTreeMap::new();
    for walked in &before.walked {
        if let Some(theirs) = theirs.get(walked.subtree as usize) {
            let (least, nodes) = found.entry(&theirs.path[..common]).or_insert((u32::MAX, 0));
            (*least, *nodes) = (walked.left.min(*least), walked.nodes + *nodes);
        }
    }
    let found = |&i: &usize| found.get(&subtrees[i].path[..common]);
    order.sort_by_cached_key(|i| match T::DENSEST_FIRST {
        true => u64::MAX - found(i).map_or(0, |(_, nodes)| *nodes),
        false => found(i).map_or(u64::MAX, |(least, _)| u64::from(*least)),
    });
    order
}

/// Walks through the tree with a number of threads of the current pool, looking for solutions with as many moves as the
/// iteration allows, when there are none with fewer. Subtrees that are already done are not walked through again; those
/// that are done at the end become the record of the previous iteration, which had subtrees of its own.
fn pass<S, T: MoveTree>(
    tree: &T,
    search: &mut Pending<S>,
    theirs: &[Subtree<T::Node>],
    control: &Control<'_>,
    threads: usize,
) -> WalkResult {
    let (limit, wanted) = (control.limit, worth(search.stage.last));
    let (done, before) = (std::mem::take(&mut search.done), std::mem::take(&mut search.before));
    let (mut subtrees, mut above, mut depth) = (Vec::new(), None, 0);
    // The goal is not among the nodes above the subtrees: it is `limit` moves away.
    while depth + 1 < limit && subtrees.len() < wanted && tree.can_split(subtrees.len().max(1)) {
        depth += 1;
        let (found, walked) = spread(tree, depth, limit);
        let none = found.is_empty();
        (subtrees, above) = (found, Some(walked));
        if none {
            break;
        }
    }
    let Some(above) = above else {
        let whole = Subtree { start: tree.root(limit), path: Vec::new() };
        return walk(tree, &whole, control, 0, &mut Vec::new());
    };
    let (depth, count) = (depth as u32, subtrees.len() as u32);
    let pieces = SubtreeSplit { threshold: limit, depth, subtrees: count };
    // A different split gives no information.
    let known = done.walked.into_iter();
    let known = known.filter(|walked| done.pieces == pieces && walked.subtree < count);
    let mut passes: BTreeMap<usize, WalkResult> =
        known.map(|walked| (walked.subtree as usize, walked.into())).collect();
    let order = order::<T>(&subtrees, theirs, &before);
    let left: Vec<usize> = order.iter().copied().filter(|i| !passes.contains_key(i)).collect();
    let share = control.share;
    share.begin(left.len());
    let before_subtrees = control.before + above.nodes;
    let control = &Control::new(control.observers, share, (limit, before_subtrees), control.wanted);
    control.ask(0, 0);
    let work = || {
        let mut stack = Vec::new();
        let order = (&subtrees[..], &left[..]);
        let mut taken = TakenSubtrees { tree, order, control, pieces, stack: Vec::new() };
        if tree.sweep(limit - depth as usize, &mut taken) {
            return;
        }
        while let Some(place) = share.next() {
            let subtree = &subtrees[left[place]];
            let mut pass = walk(tree, subtree, control, place, &mut stack);
            pass.walked.subtree = left[place] as u32;
            control.done(place, (pieces, pass));
        }
    };
    if threads > 1 {
        each_number(threads, &|_| work());
    } else {
        work();
    }
    let (results, stopped) = share.end();
    let results = results.into_iter().map(|(_, (_, pass))| pass);
    passes.extend(results.map(|pass| (pass.walked.subtree as usize, pass)));
    // The results of the subtrees in their order: those known before, and those of this iteration.
    let mut whole = WalkResult::from(above);
    let mut walked = Vec::with_capacity(passes.len());
    for pass in order.iter().filter_map(|i| passes.remove(i)) {
        whole.walked.nodes += pass.walked.nodes;
        whole.walked.excess = whole.walked.excess.min(pass.walked.excess);
        whole.walked.left = whole.walked.left.min(pass.walked.left);
        walked.extend(pass.is_done().then_some(pass.walked));
        whole.found += pass.found;
        whole.paths.extend(pass.paths);
        // Subtrees after the last solution would not have been searched by a single thread.
        if control.is_enough(whole.found) && !stopped {
            break;
        }
    }
    search.before = Cut { pieces, walked };
    whole.stopped = stopped && !control.is_enough(whole.found);
    whole
}

/// Returns the subtrees whose roots are this number of moves below the root, and through which a solution of at most
/// `limit` moves can lead, in the order of their moves; and the nodes above them.
fn spread<T: MoveTree>(tree: &T, depth: usize, limit: usize) -> (Vec<Subtree<T::Node>>, Walked) {
    let (mut stack, mut found) = (Vec::new(), Vec::new());
    let mut walk = Walk::new(tree, tree.root(limit), limit, depth, &mut stack);
    if depth > 0 {
        let arrived = |walk: &mut Walk<'_, T>| {
            found.push(Subtree { start: T::node(walk), path: walk.path() });
            false
        };
        walk.descend(|_| false, arrived);
    }
    if T::LAST_FIRST {
        found.reverse();
    }
    tree.distinct(&mut found);
    (found, walked(&walk, limit - depth))
}

/// Walks through a subtree that was handed out with an index, looking for solutions with as many moves as the iteration
/// allows: there are none with fewer.
fn walk<T: MoveTree>(
    tree: &T,
    from: &Subtree<T::Node>,
    control: &Control<'_>,
    place: usize,
    stack: &mut Vec<T::Level>,
) -> WalkResult {
    let room = control.limit - from.path.len();
    let mut walk = Walk::new(tree, from.start.clone(), room, room, stack);
    let (mut asked_at, mut ask_at, mut stopped) = (0, 1, false);
    let (mut found, mut paths) = (0, Vec::new());
    let deepest = walk.descend(
        |nodes| {
            if nodes >= ask_at {
                stopped = control.ask(nodes - asked_at, place);
                (asked_at, ask_at) = (nodes, nodes + nodes.min(ASK_EVERY));
            }
            stopped
        },
        |walk| {
            if T::is_goal(walk) {
                let path = walk.tree.solution([&from.path[..], &walk.path()].concat());
                if (control.wanted.counts)(&path) {
                    found += 1;
                    paths.extend(control.wanted.kept.then_some(path));
                }
            }
            // Otherwise no bound shows that it takes more moves: on boards, the tiles that still have to move are in no
            // pattern.
            walk.slack.excess = walk.slack.excess.min(1);
            control.is_enough(found)
        },
    );
    control.ask(walk.nodes - asked_at, place);
    WalkResult { found, paths, stopped, walked: walked(&walk, room - deepest) }
}

/// The subtrees of an iteration that a tree takes to search them in a way of its own.
struct TakenSubtrees<'t, T: MoveTree> {
    tree: &'t T,
    /// All subtrees, and the numbers of those that are left, in order.
    order: (&'t [Subtree<T::Node>], &'t [usize]),
    control: &'t Control<'t>,
    pieces: SubtreeSplit,
    stack: Vec<T::Level>,
}

impl<T: MoveTree> Subtrees<T::Node> for TakenSubtrees<'_, T> {
    fn next(&mut self) -> Option<(usize, &T::Node)> {
        let (subtrees, left) = self.order;
        let place = self.control.share.next()?;
        Some((place, &subtrees[left[place]].start))
    }

    fn ask(&mut self, nodes: u64, place: usize) -> bool {
        self.control.ask(nodes, place)
    }

    fn done(&mut self, place: usize, nodes: u64, end: SubtreeEnd) {
        let (subtrees, left) = self.order;
        let walked = Walked { subtree: 0, nodes, excess: 1, left: 0 };
        let stopped = end == SubtreeEnd::Stopped;
        let mut pass = WalkResult { stopped, ..WalkResult::from(walked) };
        if end == SubtreeEnd::Solved {
            // The paths, and nodes that do not depend on what else was searched at the same time.
            pass = walk(self.tree, &subtrees[left[place]], self.control, place, &mut self.stack);
        }
        pass.walked.subtree = left[place] as u32;
        self.control.done(place, (self.pieces, pass));
    }
}

fn walked<T: MoveTree>(walk: &Walk<'_, T>, left: usize) -> Walked {
    let Slack { excess, .. } = walk.slack;
    Walked { subtree: 0, nodes: walk.nodes, excess, left: left as u32 }
}

// The data that the walks of one iteration share, across all threads and processes.
//
// Invariant: each subtree is assigned once, and its result is known to all when the iteration ends.

/// The result of a walk through a subtree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WalkResult {
    pub walked: Walked,
    /// The number of solutions.
    pub found: u64,
    /// The paths from the root of the tree to the goal, as numbers of moves, if they are kept.
    pub paths: Vec<Vec<u16>>,
    /// Whether the walk was stopped before it had found all that was wanted.
    pub stopped: bool,
}

impl WalkResult {
    /// Whether the subtree holds nothing more to find.
    pub fn is_done(&self) -> bool {
        self.found == 0 && !self.stopped
    }
}

impl From<Walked> for WalkResult {
    fn from(walked: Walked) -> WalkResult {
        WalkResult { walked, found: 0, paths: Vec::new(), stopped: false }
    }
}

/// The result for a subtree: how the iteration is split, and what a walk through it found. Subtrees are handed out in
/// the order in which a single thread would walk through them.
pub type SubtreeResult = (SubtreeSplit, WalkResult);

/// The observer of the progress of a search, and the recorder of work that need not be repeated.
pub type Observers<'c> = (&'c dyn Progress, &'c dyn Recorder);

/// The data that the walks of one iteration share.
pub struct Control<'c> {
    pub observers: Observers<'c>,
    pub share: &'c Share<SubtreeResult>,
    /// Number of moves that the iteration allows.
    pub limit: usize,
    /// Number of nodes generated before, plus those that every process generates.
    pub before: u64,
    pub wanted: &'c WantedPaths<'c>,
    /// The number of solutions in the subtrees that are done here, and the last of these subtrees.
    tally: Mutex<(u64, usize)>,
}

/// Which solutions of an iteration are wanted.
pub struct WantedPaths<'c> {
    /// Their number, at most.
    pub most: u64,
    /// Whether they are kept or only counted.
    pub kept: bool,
    /// Whether a path is one of them.
    pub counts: &'c (dyn Fn(&[u16]) -> bool + Sync),
}

/// The first one is wanted.
const FIRST: WantedPaths<'_> = WantedPaths { most: 1, kept: true, counts: &|_| true };

impl<'c> Control<'c> {
    /// `limit` and `before` are those of the fields.
    pub fn new(
        observers: Observers<'c>,
        share: &'c Share<SubtreeResult>,
        (limit, before): (usize, u64),
        wanted: &'c WantedPaths<'c>,
    ) -> Control<'c> {
        Control { observers, share, limit, before, wanted, tally: Mutex::default() }
    }

    fn is_enough(&self, found: u64) -> bool {
        found >= self.wanted.most
    }

    /// Takes the result of a subtree that was handed out with this index.
    pub fn done(&self, place: usize, result: SubtreeResult) {
        note(self.observers.1, &result);
        let found = result.1.found;
        if self.is_enough(found) {
            self.share.last(place);
        } else if found > 0 {
            // Subtrees are handed out in order: all up to the last one of these will be searched.
            let mut tally = self.tally.lock();
            *tally = (tally.0 + found, tally.1.max(place));
            if self.is_enough(tally.0) {
                self.share.last(tally.1);
            }
        }
        self.share.done(place, result);
    }

    /// Counts nodes; returns whether the walk through the subtree with this index should stop.
    pub fn ask(&self, nodes: u64, place: usize) -> bool {
        let nodes = self.before + self.share.count(nodes);
        let progress = self.observers.0;
        progress.progress(Phase::Search(self.limit), nodes, 0);
        if progress.interrupted() {
            self.share.stop();
        }
        self.share.is_stopped() || !self.share.is_needed(place)
    }
}

/// Reports a subtree to a recorder if it holds nothing more to find.
fn note(recorder: &dyn Recorder, (pieces, result): &SubtreeResult) {
    if result.is_done() {
        recorder.subtree(*pieces, result.walked);
    }
}

// The progress of a search: sufficient for continuing from there.
//
// Invariant: a continued search finds the same solution and counts the same nodes as one that was never interrupted.

/// The start of an iteration: its threshold, and the nodes spent before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stage {
    /// Number of moves that the iteration allows; all shorter solutions are excluded.
    pub threshold: usize,
    /// Number of nodes generated before this iteration.
    pub nodes: u64,
    /// Number of nodes generated by the previous iteration.
    pub last: u64,
}

/// The solver with which hard states are continued, made when the first one needs it; none where it cannot be had.
pub(crate) struct Reserve<S> {
    /// The number of nodes from which a state is hard.
    from: u64,
    made: OnceLock<Option<Box<S>>>,
    make: Box<MakesSolver<S>>,
}

type MakesSolver<S> = dyn Fn(&dyn Progress) -> Result<Option<S>, Error> + Send + Sync;

impl<S> Reserve<S> {
    pub fn new(
        from: u64,
        make: impl Fn(&dyn Progress) -> Result<Option<S>, Error> + Send + Sync + 'static,
    ) -> Reserve<S> {
        Reserve { from, made: OnceLock::new(), make: Box::new(make) }
    }

    /// Makes the solver if the next iteration needs it; the observer of the search may stop that, too.
    pub fn make_ready(
        &self,
        next: Stage,
        progress: &dyn Progress,
        change: impl FnOnce(S) -> S,
    ) -> Result<(), SolveError> {
        if next.nodes >= self.from && self.made.get().is_none() {
            let watch = StopWhen(|| progress.interrupted());
            let larger = (self.make)(&watch).map_err(SolveError::of)?;
            self.made.get_or_init(|| larger.map(change).map(Box::new));
        }
        Ok(())
    }

    /// What carries out the next iteration, if it is this solver.
    pub fn of_stage(&self, next: Stage) -> Option<&S> {
        self.made().filter(|_| next.nodes >= self.from)
    }

    /// The solver, if it has been made.
    pub fn made(&self) -> Option<&S> {
        self.made.get()?.as_deref()
    }
}

/// A subtree of an iteration that was searched completely and holds no solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(u32, u64, i32, u32)")]
pub struct Walked {
    /// Number of the subtree.
    pub subtree: u32,
    /// Number of nodes generated.
    pub nodes: u64,
    /// Amount by which the closest node that was cut off exceeds the threshold.
    pub excess: i32,
    /// Minimum number of remaining moves at any of its nodes.
    pub left: u32,
}

impl From<Walked> for (u32, u64, i32, u32) {
    fn from(walked: Walked) -> (u32, u64, i32, u32) {
        (walked.subtree, walked.nodes, walked.excess, walked.left)
    }
}

/// The division of an iteration into subtrees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubtreeSplit {
    /// Number of moves that the iteration allows.
    pub threshold: usize,
    /// Number of moves from the board to the root of each subtree.
    pub depth: u32,
    /// Number of subtrees, which are numbered in the order of their moves.
    pub subtrees: u32,
}

/// The division of an iteration into subtrees, and the subtrees that are done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// The division into subtrees.
    pub pieces: SubtreeSplit,
    /// The subtrees that are done.
    pub walked: Vec<Walked>,
}

impl Cut {
    /// Returns whether there are any subtrees and all of them are done.
    pub fn is_whole(&self) -> bool {
        !self.walked.is_empty() && self.walked.len() == self.pieces.subtrees as usize
    }
}

/// A search that continues with an iteration, because it is too hard for one thread or because a log recorded it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Pending<S = Board> {
    /// The board or other state to be solved.
    pub state: S,
    /// The iteration that comes next.
    pub stage: Stage,
    /// The completed part of this iteration.
    pub(crate) done: Cut,
    /// The completed part of the previous iteration, which determines where to look first.
    pub(crate) before: Cut,
    /// Time spent on the board so far, in seconds.
    pub seconds: f64,
}

impl<S> Pending<S> {
    /// Returns a search that begins with the given threshold.
    pub(crate) fn new(state: S, threshold: usize) -> Pending<S> {
        let stage = Stage { threshold, ..Stage::default() };
        Pending { state, stage, done: Cut::default(), before: Cut::default(), seconds: 0.0 }
    }

    /// Returns the number of nodes generated so far.
    pub fn nodes(&self) -> u64 {
        self.stage.nodes + self.done.walked.iter().map(|walked| walked.nodes).sum::<u64>()
    }
}

/// A recorder of the completed steps of a search on all threads, so that they need not be repeated.
pub trait Recorder: Sync {
    /// Called by the thread that runs the search, when an iteration has ended without a solution and the next one
    /// starts at a stage.
    fn iteration(&self, _next: Stage) {}

    /// Called by any worker when it has determined that a subtree of an iteration holds no solution.
    fn subtree(&self, _pieces: SubtreeSplit, _walked: Walked) {}
}

/// Records nothing.
impl Recorder for () {}
