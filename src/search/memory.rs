//! The search in memory: choosing and running an engine, the sweep and the plain engine.
//!
//! [`Search::run`] and `table` come here; [`plan`] says which engine a search takes and how much memory. The engines
//! share only the ranking and the options: the sweep streams over two byte arrays, the plain one expands state by state
//! and is the oracle of the tests, the baseline of the benchmarks, and the engine for boards with fewer than six tiles.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use crate::{
    Error,
    frontier::{FoundLevels, FrontierSearch},
    kernel::{Kernel, Tally},
    perm::{Gathers, LANES, Layout, REGISTER_BYTES, Register, layout, lehmer},
    progress::{Meter, NoProgress, Phase, Progress, go_on},
    puzzle::{Puzzle, Searched, State, StateSpace, Window},
    search::{
        BYTE, BlockLoop, BlockTarget, ChainPlan, EachLevel, Engine, Expansion, Frontier, Groups,
        IncomingStep, LastStates, LongWindowArrays, LongWindows, Outcome, Search, SearchError,
        SearchProblem,
        disk::{Directories, status},
        is_long, long_windows, plans,
    },
    store::LevelRecord,
    system::SystemError,
    threads::{Tasks, map_numbers, pool},
};

// The choice of an engine.

impl Search {
    /// Runs the search on its own threads and returns its result.
    ///
    /// Cost: the sweep engine takes n!/120 * 128 bytes for n tiles moved one at a time (see [`crate::search::plan()`]
    /// for other puzzles), and makes one pass over them per level; the reference engine takes two bits per state and
    /// accesses them at random.
    ///
    /// # Errors
    /// [`SearchError`] if the board is not suitable for the engine, the memory limit or the processor;
    /// [`crate::puzzle::PuzzleError`] if the start cannot reach the goal.
    pub fn run(&self) -> Result<Outcome, Error> {
        self.run_with(&NoProgress)
    }

    /// Runs the search like [`Search::run`], with an observer that sees the progress and may stop the work, which gives
    /// [`SearchError::Interrupted`].
    pub fn run_with(&self, observer: &dyn Progress) -> Result<Outcome, Error> {
        run_each(self, observer, &mut |_, _, _, _| Ok(()))
    }
}

/// Runs a search and passes on the states of each level; only the sweep engine does this. An error from `each` ends the
/// search.
pub(crate) fn run_each(
    search: &Search,
    observer: &dyn Progress,
    each: &mut EachLevel,
) -> Result<Outcome, Error> {
    let begun = Instant::now();
    let space = &search.space;
    let plan = plan(space, search.engine)?;
    if plan.engine == Engine::Disk {
        return Err(SearchError::NoFiles(plan.engine).into());
    }
    if let Some(budget) = search.resources.exceeded_by(plan.array_bytes) {
        let (puzzle, engine, needed) = (space.to_string(), plan.engine, plan.array_bytes);
        return Err(SearchError::Memory { puzzle, engine, needed, budget }.into());
    }
    let pool = pool(search.resources.threads)?;
    let (problem, kernel) = match plan.engine {
        Engine::Reference => (None, None),
        _ => (Some(SearchProblem::new(space)?), Some(search.resources.choose_kernel()?)),
    };
    let start = space.start()?;
    observer.started(plan.states);
    let mut found = FoundLevels::after(space, Some(plan.states), Default::default());
    let last = pool.install(|| match problem.as_ref().zip(kernel) {
        Some(of) => run(search, of, &mut found, observer, each),
        None => run_plainly(search, start, &mut found, observer),
    });
    let last = last.map_err(|error| found.stopped(error))?;
    let (searched, states) = (Searched::Numbered(space.clone()), plan.states.into());
    Ok(Outcome {
        threads: pool.current_num_threads(),
        seconds: begun.elapsed().as_secs_f64(),
        array_bytes: plan.array_bytes,
        last: LastStates::Numbered(last),
        ..Outcome::of((searched, Some(states)), (plan.engine, kernel), &found.levels, found.ended)
    })
}

// The requirements of a search.

/// The memory and the engine that a search needs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchPlan {
    /// The state space that is searched.
    pub space: StateSpace,
    /// Number of reachable states: N!/2 for a board of N cells.
    pub states: u64,
    /// The engine that would run.
    pub engine: Engine,
    /// Size of the engine's state arrays, in bytes.
    pub array_bytes: u64,
}

/// Returns the memory and the engine that a search needs; `engine` is `None` for the fastest one that can run it.
///
/// # Errors
/// [`SearchError::TooLarge`] above [`Search::MAX_CELLS`] cells, [`SearchError::TooSmall`] if the sweep engine is
/// requested for lines with fewer than six elements.
pub fn plan(space: &StateSpace, engine: Option<Engine>) -> Result<SearchPlan, Error> {
    if let Some(size) = space.size().filter(|_| is_large(space)) {
        return Err(SearchError::TooLarge(size, Search::MAX_CELLS).into());
    }
    let sweeps = space.line_len() >= Layout::MIN_LEN;
    let engine = match engine {
        Some(Engine::Sweep | Engine::Disk) if !sweeps => {
            return Err(SearchError::TooSmall(space.to_string()).into());
        }
        Some(Engine::Frontier) => return Err(SearchError::Lists(space.to_string()).into()),
        Some(Engine::Bitmap) => return Err(SearchError::Bitmaps(space.to_string()).into()),
        Some(Engine::Solver) => return Err(SearchError::NoLevels(space.to_string()).into()),
        Some(engine) => engine,
        None if sweeps => Engine::Sweep,
        None => Engine::Reference,
    };
    // Not those of a pool: querying them would start one.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let array_bytes = match engine {
        Engine::Sweep | Engine::Disk => array_bytes(&SearchProblem::new(space)?, threads),
        _ => plain_bytes(space),
    };
    Ok(SearchPlan { space: space.clone(), states: space.numbered_states(), engine, array_bytes })
}

// Searches of puzzles with numbered states that use lists nevertheless.

/// Passes over more than `MANY` states take longer than lists of fewer than one state in `THIN`.
const MANY: u64 = 10_000_000_000;
const THIN: f64 = 4000.0;

/// Where the arrays have more than `WIDE` bytes for each state, passes over them take longer than lists of all states.
/// Measured with `bfs G.gap --engine sweep` and `--engine frontier` on groups of 12 points, two threads, the generators a
/// cycle and a transposition of each part, or an exchange of the parts: S8 x S4 with 88 bytes a state takes 0.08 s by passes and 0.13 by lists,
/// S7 x S5 with 141 bytes 0.11 and 0.11, S6 x S6 with 164 bytes 0.12 and 0.08, S6 wr S2, with more levels, 1.4 and 0.09.
const WIDE: u64 = 100;

fn is_large(space: &StateSpace) -> bool {
    space.size().is_some_and(|size| size.cells() > Search::MAX_CELLS)
}

/// Returns the puzzle if a search should use lists, else `None`. Lists are used for boards with too many states to
/// number, and in memory where a small part of the numbers are those of states, as in the Mathieu group M12. With a
/// maximum depth, they are also used in memory if the states do not all fit, and on disk if the levels
/// are so thin that passes over all states take longer, or if the run in the directories uses lists. `numbered` avoids
/// lists wherever states are numbered. Cost: that of searching some thousand states.
///
/// # Errors
/// Same errors as [`plan`], plus an error of the puzzle if it cannot be searched with lists.
pub fn lists_instead(
    search: &Search,
    numbered: bool,
    on_disk: bool,
    directories: Option<&Directories>,
) -> Result<Option<Puzzle>, Error> {
    let space = &search.space;
    let puzzle = || Ok(Some(Puzzle::of_space(space)?));
    if is_large(space) {
        return puzzle();
    }
    if numbered {
        return Ok(None);
    }
    let plan = plan(space, None)?;
    if !on_disk && space.states().is_some_and(|states| states < plan.array_bytes / WIDE) {
        return puzzle();
    }
    if search.max_depth.is_none() {
        return Ok(None);
    }
    let begun = directories.and_then(|directories| status(directories).ok());
    let takes = match begun {
        _ if !on_disk => search.resources.exceeded_by(plan.array_bytes).is_some(),
        Some(begun) => begun.manifest.lists.is_some(),
        None => {
            let lists = FrontierSearch::new(Puzzle::of_space(space)?).max_depth(search.max_depth);
            plan.states > MANY && lists.expected_widest() < plan.states as f64 / THIN
        }
    };
    if takes { puzzle() } else { Ok(None) }
}

// The sweep engine: computes complete levels by streaming over two byte arrays in memory.
//
// Invariant: before the step to depth d, the array for the group of d - 1 contains exactly level d - 1, and the array
// for the group of d contains exactly level d - 2. The step overwrites the latter with level d, block by block, and
// only reads the former. No set of visited states is needed: the graph is undirected and bipartite, so a neighbour of
// level d - 1 is in level d - 2 or d.

/// Maximum number of blocks that a worker takes at a time: 64 * 21 KiB, half a millisecond's work. Workers take
/// neighbouring blocks, so that they share the sources in the last-level cache.
const BLOCKS_PER_TASK: usize = 64;

struct ClassSteps {
    steps: Vec<IncomingStep>,
    /// For each group, the windows that are carried out in stages.
    long: Vec<Option<LongWindows>>,
    /// Whether blocks that differ only in the first digit are computed one after another: they share sources that would
    /// have left the caches by the time a pass through the array arrives at the next first digit.
    first_digit_inside: bool,
}

impl ClassSteps {
    fn new(
        problem: &SearchProblem,
        kernel: Kernel,
        tables: &Gathers,
        class: usize,
    ) -> Result<ClassSteps, SearchError> {
        let (layout, groups) = (problem.layout, &problem.groups);
        let before = &groups.classes[groups.next(class)];
        let plans = groups.incoming[class].iter().map(|incoming| plans(layout, incoming));
        let plans: Vec<Vec<ChainPlan>> = plans.collect();
        let short = groups.incoming[class].iter().flatten().map(|a| a.transfer.window.clone());
        let short = short.filter(|window| !is_long(layout, window));
        let windows = short.chain(plans.iter().flatten().flat_map(ChainPlan::windows));
        let windows: Vec<Window> = windows.collect::<HashSet<_>>().into_iter().collect();
        tables.make(&windows);
        let long = plans.iter().map(|plans| LongWindows::new(kernel, tables, plans, before));
        let long: Vec<Option<LongWindows>> = long.collect::<Result<_, _>>()?;
        let step = |(group, long): (usize, &Option<LongWindows>)| {
            let halo = long.as_ref().map(|_| BYTE.to_vec());
            let moves = groups.incoming[class][group].iter();
            let short = moves.filter(|a| !is_long(layout, &a.transfer.window));
            let into = (groups.classes[class][group].parity, group, groups.rule());
            IncomingStep::of(kernel, tables, short, halo.as_slice(), into)
        };
        let steps = long.iter().enumerate().map(step);
        let steps: Vec<IncomingStep> = steps.collect::<Result<_, _>>()?;
        let mut gathers = steps.iter().flat_map(|step| step.program.gathers());
        let first_digit_inside = gathers.any(|gather| gather.spreads_first());
        Ok(ClassSteps { steps, long, first_digit_inside })
    }
}

/// Returns the size in bytes of the arrays for a problem: 64 bytes per 60 lines of each group, for two levels; for the
/// set of all states seen, if moves may lack inverses; and for the windows that are carried out in stages.
fn array_bytes(problem: &SearchProblem, threads: usize) -> u64 {
    let groups = &problem.groups;
    let arrays = |class| problem.registers(class);
    let levels = arrays(0) + arrays(groups.next(0));
    let seen = (0..groups.classes.len()).filter(|_| groups.directed).map(arrays).sum::<u64>();
    let incoming = groups.incoming.iter().flatten();
    let long = incoming.map(|a| long_windows::arrays(problem.layout, a, threads)).max();
    let long = long.unwrap_or(0) as u64 * problem.layout.registers();
    REGISTER_BYTES as u64 * (levels + seen + long)
}

/// Runs the search. Cost: [`array_bytes`] of memory, and one pass over it per level.
fn run(
    search: &Search,
    (problem, kernel): (&SearchProblem, Kernel),
    found: &mut FoundLevels,
    observer: &dyn Progress,
    each: &mut EachLevel,
) -> Result<Vec<State>, Error> {
    let (layout, groups) = (problem.layout, &problem.groups);
    let tables = Gathers::new(layout);
    let classes = 0..groups.classes.len();
    let classes = classes.map(|class| ClassSteps::new(problem, kernel, &tables, class));
    let classes: Vec<ClassSteps> = classes.collect::<Result<_, _>>()?;
    let empty =
        |class: usize| Frontier::empty(layout, groups.classes[class].len() * layout.blocks());
    let mut class = problem.class(0);
    let (mut cur, mut next) = (empty(class)?, empty(groups.next(class))?);
    let seen = (0..groups.classes.len()).filter(|_| groups.directed).map(empty);
    let mut seen: Vec<Frontier> = seen.collect::<Result<_, _>>()?;
    let (register, lane) = problem.place(problem.start);
    let bit = problem.seat(problem.start).bit;
    for first in [Some(&mut cur), seen.get_mut(class)].into_iter().flatten() {
        first.insert(layout, register, lane, bit);
    }
    let mut arrays = LongWindowArrays::default();
    found.drive(search.max_depth, observer, |found| {
        let (depth, begun) = (found.depth(), Instant::now());
        let mut tally = problem.first();
        if depth > 0 {
            let to = groups.next(class);
            let sweep = Sweep { problem, class: &classes[to], observer, depth };
            tally = sweep.level(&cur, &mut next, seen.get_mut(to), &mut arrays)?;
            if tally.states > 0 {
                std::mem::swap(&mut cur, &mut next);
                class = to;
            }
        }
        if tally.states > 0 {
            let registers = cur.registers.units().chunks(layout.registers() as usize);
            for ((at, registers), group) in registers.enumerate().zip(&groups.classes[class]) {
                each(depth, problem.first_line(class, at), registers, &group.cells)?;
            }
        }
        Ok::<_, Error>(LevelRecord::new(tally, None, 0, begun.elapsed().as_secs_f64()))
    })?;
    let of = groups.classes[class].iter().enumerate();
    let of = of.map(|(at, group)| (problem.first_line(class, at), group.cells.as_slice()));
    Ok(cur.states(layout, of, search.keep_last))
}

struct Sweep<'a> {
    problem: &'a SearchProblem,
    class: &'a ClassSteps,
    observer: &'a dyn Progress,
    depth: usize,
}

struct GroupTarget<'a> {
    expansion: Expansion<'a>,
    registers: &'a mut [Register],
    occupied: &'a mut [bool],
    seen: Option<&'a mut [Register]>,
    joined: Option<&'a Frontier>,
}

/// Consecutive blocks of a group to compute.
struct BlockRange<'a> {
    registers: &'a mut [Register],
    occupied: &'a mut [bool],
    /// The states seen so far, if the step needs them.
    seen: &'a mut [Register],
}

impl Sweep<'_> {
    /// Replaces the level before `cur`, in `next`, by the level after it.
    fn level(
        &self,
        cur: &Frontier,
        next: &mut Frontier,
        seen: Option<&mut Frontier>,
        arrays: &mut LongWindowArrays,
    ) -> Result<Tally, Error> {
        let layout = self.problem.layout;
        let (size, blocks) = (layout.registers() as usize, layout.blocks());
        let mut seen = seen.map(|seen| seen.registers.units_mut().chunks_mut(size));
        let parts = next.parts(layout, blocks).zip(&self.class.steps);
        let mut targets = Vec::new();
        let mut tally = Tally::default();
        for (((registers, occupied), step), long) in parts.zip(&self.class.long) {
            let expansion = Expansion::whole(layout, step, cur);
            let seen = seen.as_mut().and_then(Iterator::next);
            let target = GroupTarget { expansion, registers, occupied, seen, joined: None };
            let Some(long) = long else {
                targets.push(target);
                continue;
            };
            let pass = |expansion: Expansion<'_>, to: &mut Frontier| {
                let (registers, occupied) = (to.registers.units_mut(), &mut to.occupied[..]);
                let (seen, joined) = (None, None);
                let target = GroupTarget { expansion, registers, occupied, seen, joined };
                self.pass(vec![target]).map(drop)
            };
            long.run(cur, arrays, self.observer, &pass)?;
            let target = GroupTarget { joined: arrays.joined.as_ref(), ..target };
            tally = tally.plus(self.pass(vec![target])?);
        }
        Ok(tally.plus(self.pass(targets)?))
    }

    /// Computes parts of some groups.
    fn pass(&self, targets: Vec<GroupTarget>) -> Result<Tally, SystemError> {
        if targets.is_empty() {
            return Ok(Tally::default());
        }
        let layout = self.problem.layout;
        let (size, blocks) = (layout.block_registers(), layout.blocks());
        let threads = rayon::current_num_threads();
        let mut per_task = (blocks / (threads * 8)).clamp(1, BLOCKS_PER_TASK);
        let (mut run, mut stride) = (per_task, 1);
        if self.class.first_digit_inside {
            (run, stride) = (1, layout.block_stride(0));
            per_task = per_task.next_multiple_of(layout.radix(0));
        }
        // For each run of blocks, the parts of all groups: processed side by side, they read the same sources.
        let mut runs: Vec<Option<(usize, Vec<BlockRange>)>> =
            (0..blocks).step_by(run).map(|first| Some((first, Vec::new()))).collect();
        let mut steps = Vec::new();
        for target in targets {
            steps.push((target.expansion, target.joined));
            let parts = target.registers.chunks_mut(run * size);
            let parts = parts.zip(target.occupied.chunks_mut(run));
            let mut seen = target.seen.unwrap_or_default().chunks_mut(run * size);
            for ((_, of), (registers, occupied)) in runs.iter_mut().flatten().zip(parts) {
                let seen = seen.next().unwrap_or_default();
                of.push(BlockRange { registers, occupied, seen });
            }
        }
        let order = (0..stride).flat_map(|rest| (rest..runs.len()).step_by(stride));
        let order: Vec<usize> = order.collect();
        let task = |runs_of: &[usize]| runs_of.iter().filter_map(|&at| runs[at].take()).collect();
        let work: Vec<Vec<(usize, Vec<BlockRange>)>> =
            order.chunks(per_task / run).map(task).collect();
        let (phase, total) = (Phase::Search(self.depth), blocks as u64);
        let (tasks, meter) = (Tasks::new(work), Meter::new(self.observer, phase, 0, total));
        let tallies = rayon::broadcast(|_| {
            let loops = steps.iter().map(|(expansion, _)| BlockLoop::new(expansion.step));
            let mut loops: Vec<BlockLoop> = loops.collect();
            let mut tally = Tally::default();
            tasks.run(|_, task| {
                meter.go_on()?;
                let numbers = |first: usize| first..blocks.min(first + run);
                let order: Vec<usize> = task.iter().flat_map(|of| numbers(of.0)).collect();
                let mut ahead = order.iter().skip(1).copied();
                for (first, mut parts) in task {
                    for (i, block) in numbers(first).enumerate() {
                        let after = ahead.next();
                        for ((part, blocks), (expansion, joined)) in
                            parts.iter_mut().zip(&mut loops).zip(&steps)
                        {
                            let (found, _) = blocks.step(expansion, block, after, |sources| {
                                let mut halo: &[Register] = &[];
                                if let Some(joined) = joined {
                                    halo = &joined.registers.units()[block * size..][..size];
                                    sources.halo(joined.occupied[block]);
                                }
                                BlockTarget {
                                    registers: &mut part.registers[i * size..][..size],
                                    occupied: &mut part.occupied[i],
                                    seen: part.seen.chunks_mut(size).nth(i).unwrap_or_default(),
                                    halo,
                                }
                            });
                            tally = tally.plus(found);
                        }
                    }
                }
                meter.count(order.len() as u64);
                Ok(())
            });
            tally
        });
        tasks.end().map(|()| tallies.into_iter().fold(Tally::default(), Tally::plus))
    }
}

// The plain engine: two bits per state; it unranks every frontier state, expands it and ranks its neighbours. It has no
// registers, windows or in-place levels.
//
// Invariant: bits of a state are only ever set, never cleared: unseen is 00, frontier is 01 or 10 (alternating with
// the depth), finished is 11. So concurrent updates need only an atomic OR.

const PER_WORD: u64 = 32;

/// Number of words per unit of parallel work: 4 KiB.
const WORDS_PER_TASK: usize = 512;

const TASKS_PER_REPORT: u64 = 64;

/// Returns the memory that a search takes, in bytes.
fn plain_bytes(space: &StateSpace) -> u64 {
    let ids = space.lines() * space.moves().cells() as u64;
    ids.div_ceil(PER_WORD) * 8
}

/// Runs the search. Cost: 2 bits of memory per state; for each level, one pass over them and one unranking per frontier
/// line.
fn run_plainly(
    search: &Search,
    start: State,
    found: &mut FoundLevels,
    observer: &dyn Progress,
) -> Result<Vec<State>, Error> {
    let graph = Graph::new(&search.space, start.cell, search.keep_last);
    graph.mark(search.space.id(start), 1);
    let mut last = Vec::new();
    found.drive(search.max_depth, observer, |found| {
        let (depth, begun) = (found.depth(), Instant::now());
        let tag = 1 + depth as u64 % 2;
        let count_only = search.max_depth == Some(depth);
        let tasks = graph.words.len().div_ceil(WORDS_PER_TASK);
        let done = AtomicU64::new(0);
        let expand = |task: usize| {
            go_on(observer)?;
            let found = graph.expand(task, tag, count_only);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(TASKS_PER_REPORT) {
                observer.progress(Phase::Search(depth), done, tasks as u64);
            }
            Ok::<_, SystemError>(found)
        };
        let parts = map_numbers(tasks, &expand).into_iter();
        let join = |all: PassResult, part| Ok::<_, SystemError>(all.join(part?, graph.keep));
        let pass = parts.into_iter().try_fold(PassResult::default(), join)?;
        if pass.tally.states > 0 {
            last = pass.kept;
        }
        Ok::<_, Error>(LevelRecord::new(pass.tally, None, 0, begun.elapsed().as_secs_f64()))
    })?;
    Ok(last)
}

#[derive(Default)]
struct PassResult {
    tally: Tally,
    kept: Vec<State>,
}

impl PassResult {
    /// Joins two parts, where `next` has the larger state ids.
    fn join(mut self, mut next: PassResult, keep: usize) -> PassResult {
        self.kept.append(&mut next.kept);
        self.kept.truncate(keep);
        PassResult { tally: self.tally.plus(next.tally), kept: self.kept }
    }
}

/// One bit (the lower of each pair) for each state of the word that carries exactly `tag`.
fn tagged(word: u64, tag: u64) -> u64 {
    const LOWER: u64 = 0x5555_5555_5555_5555;
    let differs = word ^ (LOWER * tag);
    !(differs | differs >> 1) & LOWER
}

/// The states of a puzzle, and its moves by cell as plain permutations.
struct Graph<'a> {
    words: Vec<AtomicU64>,
    keep: usize,
    space: &'a StateSpace,
    groups: Groups,
    cells: u64,
    /// For each cell, the cell moved to, and the positions from which the new line takes its elements; `None` if the
    /// line is unchanged.
    moves: Vec<Vec<(u64, Option<Vec<usize>>)>>,
}

impl Graph<'_> {
    fn new(space: &StateSpace, start: usize, keep: usize) -> Graph<'_> {
        let puzzle = space.moves();
        let len = space.line_len();
        let mut moves = vec![Vec::new(); puzzle.cells()];
        for edge in puzzle.edges() {
            let window = &puzzle.windows()[edge.window];
            let sources = || (0..len).map(|p| window.source(p)).collect();
            let sources = (!window.is_identity()).then(sources);
            moves[edge.from].push((edge.to as u64, sources));
        }
        let words = (0..plain_bytes(space) / 8).map(|_| AtomicU64::new(0)).collect();
        let (groups, cells) = (Groups::new(puzzle, start), puzzle.cells() as u64);
        Graph { words, keep, space, groups, cells, moves }
    }

    fn mark(&self, id: u64, bits: u64) {
        let shift = 2 * (id % PER_WORD);
        self.words[(id / PER_WORD) as usize].fetch_or(bits << shift, Ordering::Relaxed);
    }

    /// The contribution of a state to the checksum of its level, see [`crate::search::problem::SearchProblem::place`].
    fn key(&self, state: State) -> u64 {
        let (parity, rank) = self.space.parity(state);
        let seat = self.groups.seat(parity, state.cell);
        let seat = seat.expect("states that are reached have a group");
        let group = lehmer::even_count(self.space.line_len()).div_ceil(LANES as u64);
        let register = seat.group as u64 * group + rank / LANES as u64;
        layout::state(register, (rank % LANES as u64) as usize, usize::from(seat.bit))
    }

    /// Expands the states of a task's words that carry the tag of the frontier, or only counts them, and marks them as
    /// finished.
    fn expand(&self, task: usize, tag: u64, count_only: bool) -> PassResult {
        let words = task * WORDS_PER_TASK..self.words.len().min((task + 1) * WORDS_PER_TASK);
        let mut found = PassResult::default();
        let mut line = [0; lehmer::MAX_LEN];
        let mut neighbour = [0; lehmer::MAX_LEN];
        let len = self.space.line_len();
        let (line, neighbour) = (&mut line[..len], &mut neighbour[..len]);
        let mut unranked = u64::MAX;
        for word in words {
            let mut frontier = tagged(self.words[word].load(Ordering::Relaxed), tag);
            found.tally.states += u64::from(frontier.count_ones());
            while frontier != 0 {
                let slot = u64::from(frontier.trailing_zeros() / 2);
                frontier &= frontier - 1;
                let id = word as u64 * PER_WORD + slot;
                let (rank, cell) = (id / self.cells, id % self.cells);
                let state = State { line: rank, cell: cell as usize };
                found.tally.checksum = found.tally.checksum.wrapping_add(self.key(state));
                if found.kept.len() < self.keep {
                    found.kept.push(state);
                }
                if count_only {
                    continue;
                }
                for (to, sources) in &self.moves[cell as usize] {
                    let rank = match sources {
                        None => rank,
                        Some(sources) => {
                            if rank != unranked {
                                let (parity, rank) = self.space.parity(state);
                                lehmer::unrank_in_parity(parity, rank, line);
                                unranked = state.line;
                            }
                            for (new, &source) in neighbour.iter_mut().zip(sources) {
                                *new = line[source];
                            }
                            self.space.number(neighbour, 0).line
                        }
                    };
                    let id = rank * self.cells + to;
                    let seen = self.words[(id / PER_WORD) as usize].load(Ordering::Relaxed);
                    if (seen >> (2 * (id % PER_WORD))) & 3 == 0 {
                        self.mark(id, 3 - tag);
                    }
                }
                self.mark(id, 3);
            }
        }
        found
    }
}
