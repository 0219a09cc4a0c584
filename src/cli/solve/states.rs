//! States of puzzles other than boards: shortest solutions from a distance table, or by a search over pruning tables.

use std::{
    cell::OnceCell,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use rayon::{ThreadPool, prelude::*};
use serde::Serialize;
use serde_json::{Value, json};
use tilewave::{
    DistanceTable, Progress,
    internals::NearestSolver,
    progress::Phase,
    puzzle::{
        Arrangement, MoveStyle, Placed, Puzzle, State, Unreachable, Variant,
        notation::SequenceStyle,
    },
    report::{
        counted, duration,
        html::{RefusedState, SolvedState, puzzle_player},
    },
    search::{Communicator, OneProcess, Ranks},
    solve::{AllSolutions, Answer, Attempt, MeetingLists, PhaseSolver, PuzzleSolver, SolveError},
};

use crate::{
    Counted, Destination, Failure, Figures, OutputFile, OutputOptions, Result, StatusLine, aside,
    complain, csv_line, first_given, progress, ranks, refuse,
    solve::{
        boards::{Arrivals, BATCH, Given},
        databases::FirstTable,
        search::{Every, SearchLimits, SearchOptions, Searcher, SolveProgress, attempt_all},
        solutions,
    },
};

/// The parser of a phase.
pub fn phase(text: &str) -> Result<Variant, String> {
    if text.trim().is_empty() {
        return Err("no pieces or moves are given: specify a phase".into());
    }
    Ok(match text.trim().starts_with('<') {
        true => Variant { subgroup: Variant::split(text), ..Variant::default() },
        false => {
            let pieces = text.split(',').map(|pieces| pieces.trim().into()).collect();
            Variant { pieces, ..Variant::default() }
        }
    })
}

/// Leaves options of puzzles out of the short help.
pub fn in_long_help(arg: clap::Arg) -> clap::Arg {
    let of_puzzles = ["metric", "directed", "pieces"].contains(&arg.get_id().as_str());
    if of_puzzles { arg.hide_short_help(true) } else { arg }
}

/// What is said of a state.
#[derive(Default, Serialize)]
struct StateAnswer {
    /// As it was given, where the state is a long line.
    #[serde(skip)]
    given: Option<String>,
    /// What turns the whole cube back before the solution.
    #[serde(skip)]
    turned_back: String,
    /// How its moves are written.
    #[serde(skip)]
    style: SequenceStyle,
    /// None: it is no board.
    board: (),
    puzzle: String,
    metric: Option<&'static str>,
    state: String,
    solvable: bool,
    length: Option<usize>,
    moves: Option<String>,
    nodes: u64,
    seconds: f64,
    optimal: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<usize>,
    /// The state and its solution, for a page.
    #[serde(skip)]
    start: Option<Arrangement>,
    #[serde(skip)]
    made: Option<Vec<String>>,
    /// All solutions, if they are wanted.
    #[serde(skip)]
    all: Option<AllSolutions<Vec<String>>>,
    /// The columns of CSV.
    #[serde(skip)]
    columns: &'static str,
}

impl Figures for StateAnswer {
    fn figures(&self) -> Value {
        match &self.all {
            Some(all) => solutions::with_all(json!(self), all, |moves| self.text_of(moves)),
            None => json!(self),
        }
    }

    fn csv(&self) -> Option<String> {
        let lines = solutions::rows(self.length?, self.all.as_ref()?, &self.figures());
        Some(lines.iter().map(|line| csv_line(self.columns, line)).collect())
    }

    fn words(&self) -> String {
        let (state, time) = (self.given.as_ref().unwrap_or(&self.state), duration(self.seconds));
        let nodes = match self.nodes {
            0 => String::new(),
            nodes => format!("{}  ", counted(nodes, "node")),
        };
        match (self.length, &self.moves, self.at_least) {
            (Some(length), ..) if let Some(all) = &self.all => {
                let count = counted(length as u64, "move");
                let (line, each) = solutions::words(length, all, |moves| self.text_of(moves));
                format!("{state}  {count}  {line}  {nodes}{time}\n{each}")
            }
            (Some(length), Some(moves), _) => {
                let gap = if moves.is_empty() { "" } else { "  " };
                let most = if self.optimal { "" } else { "at most " };
                format!(
                    "{state}  {most}{}  {moves}{gap}{nodes}{time}\n",
                    counted(length as u64, "move")
                )
            }
            (.., Some(least)) => {
                let least = counted(least as u64, "move");
                let nodes = counted(self.nodes, "node");
                format!("{state}  gave up after {nodes}: needs at least {least}  {time}\n")
            }
            _ => {
                let none = || format!("no moves of {} lead to this state", self.puzzle);
                format!("{state}  not solvable: {}\n", self.reason.clone().unwrap_or_else(none))
            }
        }
    }
}

impl StateAnswer {
    fn of(table: &DistanceTable, state: State) -> Result<StateAnswer> {
        let begun = Instant::now();
        let space = table.space();
        let names = table.names(state)?;
        let text = space.text(state);
        let placed = |&piece: &u16| Placed { kind: piece as u8, turn: 0 };
        let row = space.row_of_text(&text)?.iter().map(placed).collect();
        Ok(StateAnswer {
            puzzle: space.name(),
            start: Some(Arrangement(vec![row])),
            given: Some(text.clone()),
            state: text,
            solvable: names.is_some(),
            length: names.as_ref().map(Vec::len),
            optimal: names.is_some(),
            made: names.as_ref().map(|names| names.iter().map(ToString::to_string).collect()),
            moves: names.map(|names| names.join(" ")),
            seconds: begun.elapsed().as_secs_f64(),
            ..StateAnswer::default()
        })
    }

    /// What is said of a state of a puzzle of several sets of pieces.
    fn plain(puzzle: &Puzzle, given: &Given<ReadState>) -> StateAnswer {
        StateAnswer {
            given: Some(given.text.clone()),
            turned_back: given.state.turned_back.clone(),
            style: given.state.style,
            puzzle: puzzle.name().into(),
            metric: puzzle.metric(),
            state: puzzle.text(&given.state.state),
            start: Some(given.state.state.clone()),
            solvable: true,
            ..StateAnswer::default()
        }
    }

    fn found(self, answer: Answer<Vec<String>>, optimal: bool) -> StateAnswer {
        let Answer { moves, at_least, nodes, seconds } = answer;
        StateAnswer {
            length: moves.as_ref().map(Vec::len),
            optimal: optimal && moves.is_some(),
            at_least: moves.is_none().then_some(at_least),
            moves: moves.as_ref().map(|moves| self.text_of(moves)),
            made: moves,
            nodes,
            seconds,
            ..self
        }
    }

    fn text_of(&self, moves: &[String]) -> String {
        self.style.solution(&self.turned_back, moves)
    }
}

/// The page of the solutions: what it has so far.
struct PuzzlePage {
    file: OutputFile,
    puzzle: Puzzle,
    /// The meaning of letters of moves of a board.
    letters: MoveStyle,
    solutions: Vec<SolvedState>,
    refused: Vec<RefusedState>,
}

/// The longest text of a state that is a label.
const LABEL: usize = 60;

impl PuzzlePage {
    fn of(file: OutputFile, puzzle: Puzzle, letters: MoveStyle) -> PuzzlePage {
        PuzzlePage { file, puzzle, letters, solutions: Vec::new(), refused: Vec::new() }
    }

    fn add(&mut self, answer: &StateAnswer) {
        let Some(state) = &answer.start else { return };
        let Some(made) = &answer.made else {
            let reason = match answer.solvable {
                true => "the solver gave up".into(),
                false => answer.reason.clone().unwrap_or_else(|| "no moves lead to it".into()),
            };
            return self.refused.push(RefusedState { state: state.clone(), reason });
        };
        let all = answer.all.as_ref().and_then(|all| all.moves.as_deref());
        let all = all.unwrap_or(std::slice::from_ref(made));
        let label = answer.given.as_ref().filter(|given| given.chars().count() <= LABEL);
        self.solutions.extend(all.iter().map(|moves| SolvedState {
            start: state.clone(),
            turned_back: answer.turned_back.clone(),
            moves: moves.clone(),
            optimal: answer.optimal && moves.len() == made.len(),
            label: label.cloned().unwrap_or_default(),
            style: self.letters,
        }));
    }

    fn write(self) -> Result<()> {
        let PuzzlePage { file, puzzle, solutions, refused, .. } = self;
        if solutions.is_empty() && refused.is_empty() {
            return Ok(());
        }
        file.write(puzzle_player(&puzzle, &solutions, &refused)?.as_bytes())
    }
}

/// A state, and what turns the whole cube back, where moves have turned it.
#[derive(Clone)]
struct ReadState {
    state: Arrangement,
    turned_back: String,
    /// How its solution is written.
    style: SequenceStyle,
}

/// What writes an answer.
type Say<'a> = &'a mut dyn FnMut(StateAnswer) -> Result<()>;

/// Writes a shortest solution of each state: of those given, or of one per line of standard input as they come.
pub fn solve(
    table: &DistanceTable,
    states: &[&str],
    output: &OutputOptions,
    page: Option<OutputFile>,
) -> Result<()> {
    let space = table.space().clone();
    let page = page.map(|file| {
        Ok::<_, Failure>(PuzzlePage::of(file, Puzzle::of_space(&space)?, MoveStyle::default()))
    });
    let page = page.transpose()?;
    let parse = move |text: &str| Ok(space.parse(text)?);
    let destination = output.reserve()?;
    let states = Arrivals::of("state", states, parse, &OneProcess)?;
    each(states, (destination, COLUMNS[0], page), &OneProcess, |batch, say| {
        batch.states.iter().try_for_each(|given| say(StateAnswer::of(table, given.state)?))
    })
}

/// Some states, and how many came before them and are known by now.
struct StateBatch<S> {
    states: Vec<Given<S>>,
    before: usize,
    known: usize,
}

/// The columns of CSV for one solution, for all, and for their number.
const COLUMNS: [&str; 3] = [
    "state,solvable,length,moves,seconds,optimal",
    "state,solvable,length,moves,seconds,optimal,complete",
    "state,solvable,length,count,seconds,optimal,complete",
];

/// Has each state answered, in batches of as many as there are to be had; `answer` gets what writes an answer. Of
/// several ranks the first one writes.
fn each<S: Clone + Send + 'static>(
    mut states: Arrivals<S>,
    (mut destination, columns, mut page): (Destination, &'static str, Option<PuzzlePage>),
    ranks: &dyn Communicator,
    mut answer: impl FnMut(&StateBatch<S>, Say<'_>) -> Result<()>,
) -> Result<()> {
    destination.heading(columns)?;
    let (mut before, mut refused, mut all_solved) = (0, 0, true);
    while !progress::asked() {
        let arrived = states.next(BATCH * ranks.size());
        if arrived.is_empty() {
            break;
        }
        let mut batch = Vec::new();
        for arrival in arrived {
            match arrival {
                Ok(given) => batch.push(given),
                Err(wrong) => {
                    complain(&wrong);
                    refused += 1;
                }
            }
        }
        let batch = StateBatch { states: batch, before, known: states.known - refused };
        if !batch.states.is_empty() {
            answer(&batch, &mut |answer| {
                all_solved &= answer.length.is_some();
                if let Some(page) = &mut page {
                    page.add(&answer);
                }
                aside(|| destination.line(&answer))
            })?;
        }
        before += batch.states.len();
    }
    if states.known == 0 && !progress::asked() {
        return states.none();
    }
    destination.finish()?;
    page.map_or(Ok(()), PuzzlePage::write)?;
    if progress::asked() {
        return Err(Failure::interrupted());
    }
    Failure::unless(all_solved && refused == 0)
}

/// What solves states of a puzzle of several sets of pieces.
pub struct StateSolve<'a> {
    pub options: &'a SearchOptions,
    pub output: &'a OutputOptions,
    pub communicator: &'a dyn Communicator,
}

/// What one thread made of a state.
type TriedState = Result<Attempt<Arrangement, Vec<String>>, String>;

impl StateSolve<'_> {
    /// Solves states of a puzzle of sets of pieces; in phases where they are given.
    pub fn run(
        &self,
        counted: &Counted,
        (word, moves): (&str, MoveStyle),
        states: &[&str],
        via: Option<&[Variant]>,
        page: Option<OutputFile>,
    ) -> Result<()> {
        let StateSolve { options, output, communicator } = *self;
        let SearchOptions { databases, threads, log, .. } = options;
        let (puzzle, apart) = counted.listed_or_apart(word)?;
        let style = puzzle.sequence_style().directed(moves);
        progress::listen();
        let pool = &ranks::pool(threads.get(), communicator)?;
        // What is wrong on the command line is said before tables are built.
        let read = puzzle.clone();
        let parse = move |text: &str| {
            let (state, moves) = read.read(text)?;
            let turned_back = moves.map_or(String::new(), |of| of.turned_back);
            Ok(ReadState { state, turned_back, style })
        };
        let destination = Destination::of_rank(communicator, output)?;
        let mut states = Arrivals::of("state", states, parse, communicator)?;
        let page = page.map(|file| PuzzlePage::of(file, puzzle.clone(), moves));
        match (via, apart) {
            (Some(_), Some(_)) => refuse!("--fast needs goals that are fewer: leave it out"),
            (Some(via), None) => {
                return self.in_phases(&puzzle, states, (destination, page), via, pool);
            }
            (None, Some(goals)) => {
                return self.to_nearest(&puzzle, &goals, states, (destination, page), pool);
            }
            (None, None) => {}
        }
        let progress = OnceCell::new();
        // Nothing is built before there is a state; files that are given are read first.
        let given = !databases.pdb.is_empty();
        let ranks = Ranks { communicator, pool };
        let make = || self.searcher(&puzzle, &progress, ranks);
        let mut searcher = given.then(make).transpose()?;
        let mut logged = log.as_ref().map(|_| states.all()).transpose()?;
        // States near a solved one need no tables, which are only built when there is another one.
        let columns = options.solutions.columns(COLUMNS);
        let alone = communicator.size() == 1 && options.solutions.range().is_none();
        let may_meet = !given && log.is_none() && alone && !options.limits.any();
        let meets = may_meet && !databases.is_ready(&puzzle)?;
        let watch = MeetingWatch(StatusLine::new());
        let mut lists = meets.then(|| MeetingLists::new(&puzzle, databases.budget()));
        let solved = each(states, (destination, columns, page), communicator, |batch, say| {
            if let Some(meeting) = &mut lists {
                let met = pool.install(|| met(meeting, &watch, &puzzle, batch));
                if let Some(answers) = met {
                    return answers.into_iter().try_for_each(say);
                }
                lists = None;
            }
            let searcher = match &mut searcher {
                Some(there) => there,
                none => none.insert(make()?),
            };
            if let (Some(path), Some(all)) = (log, logged.take()) {
                let all: Vec<Arrangement> =
                    all.into_iter().map(|given| given.state.state).collect();
                searcher.open_log(path, &all, communicator)?;
            }
            searcher.progress.expect(batch.known);
            solve_batch(searcher, batch, ranks, say)?;
            match &searcher.log {
                Some(log) => Ok(log.sync()?),
                None => Ok(()),
            }
        });
        drop(searcher);
        solved
    }

    /// What solves states of a puzzle, with its tables.
    fn searcher<'p>(
        &self,
        puzzle: &Puzzle,
        progress: &'p OnceCell<SolveProgress>,
        Ranks { communicator, pool }: Ranks<'_>,
    ) -> Result<Searcher<'p, PuzzleSolver>> {
        let SearchOptions { databases, solutions, threads, limits, .. } = self.options;
        let solver = ranks::first_alone(communicator, || {
            // All ranks search with the same table, and so does whoever goes on with a log.
            let is_shared = communicator.size() > 1 || self.options.log.is_some();
            let first = match (is_shared, limits.allow_building()) {
                (true, _) => FirstTable::Large,
                (false, true) => FirstTable::Growing,
                (false, false) => FirstTable::Small,
            };
            pool.install(|| databases.solver(puzzle, threads.get(), first))
        })?;
        let first = communicator.rank() == 0;
        let progress = progress.get_or_init(|| SolveProgress::new("state", 0, first));
        let (limits, range) = (*limits, solutions.range());
        let searcher = Searcher { solver, log: None, limits, range, progress };
        if communicator.size() > 1 {
            searcher.agree(communicator, "tables")?;
        }
        Ok(searcher)
    }

    /// Solves states in phases, one after the other on all threads.
    fn in_phases(
        &self,
        puzzle: &Puzzle,
        states: Arrivals<ReadState>,
        (destination, page): (Destination, Option<PuzzlePage>),
        via: &[Variant],
        pool: &ThreadPool,
    ) -> Result<()> {
        let SearchOptions { databases, threads, .. } = self.options;
        let small = |of: &Puzzle, is_small: bool| match is_small {
            true => databases.tables(of, threads.get()),
            false => databases.phase(of, threads.get()),
        };
        let found = pool.install(|| match via {
            [] => PhaseSolver::quick(puzzle.clone(), small),
            _ => PhaseSolver::new(puzzle.clone(), via, |of: &Puzzle| small(of, false)).map(Some),
        });
        let Some(solver) = found? else {
            let names = puzzle.moves().iter().take(2).map(|one| &one.name[..]);
            refuse!(
                "--fast solves {puzzle} in phases: specify the phases, for example --via {}:1-4, \
                 or --via \"<{}>\"",
                puzzle.sets().last().map_or("", |set| &set.name),
                names.collect::<Vec<_>>().join(",")
            );
        };
        if !solver.has_tables() {
            databases.refuse()?;
        }
        let reaches = |state: &Arrangement| solver.reaches(state);
        let solve = |state: &Arrangement, watch: &PhaseWatch| solver.solve_with(state, watch);
        let of = (puzzle, solver.is_optimal());
        self.one_per_thread(of, states, (destination, page), pool, (&reaches, &solve))
    }

    /// Solves states to the nearest of several goals, each of which is searched for by itself.
    fn to_nearest(
        &self,
        puzzle: &Puzzle,
        goals: &[String],
        states: Arrivals<ReadState>,
        to: (Destination, Option<PuzzlePage>),
        pool: &ThreadPool,
    ) -> Result<()> {
        let SearchOptions { databases, threads, log, solutions, .. } = self.options;
        let refused = first_given(&[
            (log.is_some(), "--log"),
            (solutions.range().is_some(), "--all"),
            (!databases.pdb.is_empty(), "--pdb"),
            (to.1.is_some(), "--html"),
            (self.communicator.size() > 1, "more than one process"),
        ]);
        if let Some(option) = refused {
            refuse!(
                "the goals are too many for one set of goals, and {option} needs one: leave out \
                 {option}, or specify fewer goals"
            );
        }
        tracing::info!("the goals are too many for one set: each is searched for by itself");
        let tables = |goal: &Puzzle| databases.tables(goal, threads.get());
        let solver = pool.install(|| NearestSolver::new(puzzle.clone(), goals, tables))?;
        let reaches = |state: &Arrangement| solver.reaches(state);
        let solve = |state: &Arrangement, watch: &PhaseWatch| solver.solve_with(state, watch);
        self.one_per_thread((puzzle, true), states, to, pool, (&reaches, &solve))
    }

    /// Solves states one per thread.
    fn one_per_thread(
        &self,
        (puzzle, optimal): (&Puzzle, bool),
        states: Arrivals<ReadState>,
        (destination, page): (Destination, Option<PuzzlePage>),
        pool: &ThreadPool,
        (reaches, solve): (Reaches<'_>, Solves<'_>),
    ) -> Result<()> {
        let limits = self.options.limits;
        each(states, (destination, COLUMNS[0], page), &OneProcess, |batch, say| {
            let tried = batch.states.par_iter().map(|given| {
                let plain = StateAnswer::plain(puzzle, given);
                let watch = PhaseWatch { limits, begun: Instant::now(), nodes: 0.into() };
                if let Some(Err(why)) = reaches(&given.state.state) {
                    let reason = Some(why.to_string());
                    return Ok(StateAnswer { solvable: false, reason, ..plain });
                }
                Ok(plain.found(solve(&given.state.state, &watch)?, optimal))
            });
            let tried: Vec<Result<StateAnswer>> = pool.install(|| tried.collect());
            for tried in tried {
                let tried = tried?;
                if !progress::asked() || tried.at_least.is_none() {
                    say(tried)?;
                }
            }
            Ok(())
        })
    }
}

/// What tells whether a state can be reached, and what solves one.
type Reaches<'a> = &'a (dyn Fn(&Arrangement) -> Option<Result<(), Unreachable>> + Sync);
type Solves<'a> =
    &'a (dyn Fn(&Arrangement, &PhaseWatch) -> Result<Answer<Vec<String>>, SolveError> + Sync);

/// Ends the search of a phase at its limits.
struct PhaseWatch {
    limits: SearchLimits,
    begun: Instant,
    nodes: AtomicU64,
}

impl Progress for PhaseWatch {
    fn progress(&self, phase: Phase, nodes: u64, _: u64) {
        if let Phase::Search(_) = phase {
            self.nodes.store(nodes, Ordering::Relaxed);
        }
    }

    fn interrupted(&self) -> bool {
        let seconds = self.begun.elapsed().as_secs_f64();
        progress::asked() || self.limits.are_reached(self.nodes.load(Ordering::Relaxed), seconds)
    }
}

/// Shows how far the search for a state near a solved one is.
struct MeetingWatch(StatusLine);

impl Progress for MeetingWatch {
    fn progress(&self, phase: Phase, nodes: u64, _: u64) {
        if let Phase::Search(length) = phase {
            let words = || {
                let (nodes, moves) = (counted(nodes, "node"), counted(length as u64, "move"));
                (0.0, format!("{nodes}, searching for solutions of {moves}"))
            };
            self.0.say(words);
        }
    }

    fn interrupted(&self) -> bool {
        progress::asked()
    }
}

/// The answers for states that are all near a solved one, or known to be unsolvable.
fn met(
    lists: &mut MeetingLists,
    watch: &MeetingWatch,
    puzzle: &Puzzle,
    batch: &StateBatch<ReadState>,
) -> Option<Vec<StateAnswer>> {
    let answer = |given: &Given<ReadState>| {
        let (state, plain) = (&given.state.state, StateAnswer::plain(puzzle, given));
        if let Some(Err(why)) = lists.reaches(state) {
            let reason = Some(why.to_string());
            return Some(StateAnswer { solvable: false, reason, ..plain });
        }
        Some(plain.found(lists.solve(state, watch).ok()??, true))
    };
    batch.states.iter().map(answer).collect()
}

/// Solves easy states one per thread, hard ones one after the other on all threads of all ranks.
fn solve_batch(
    searcher: &Searcher<'_, PuzzleSolver>,
    StateBatch { states, before, .. }: &StateBatch<ReadState>,
    ranks: Ranks<'_>,
    say: Say<'_>,
) -> Result<()> {
    let attempt = |i: usize| -> Result<TriedState> {
        let state = &states[i].state.state;
        match searcher.solver.reaches(state) {
            Some(Err(why)) => Ok(Err(why.to_string())),
            _ => Ok(Ok(searcher.attempt(before + i, state)?)),
        }
    };
    let told = |tried: &TriedState| {
        if !matches!(tried, Ok(Attempt::Hard(_))) {
            searcher.progress.done();
        }
    };
    for (i, tried) in attempt_all(ranks, states.len(), &told, &attempt)? {
        let plain = StateAnswer::plain(searcher.solver.puzzle(), &states[i]);
        let answer = match tried {
            Err(why) => {
                say(StateAnswer { solvable: false, reason: Some(why), ..plain })?;
                continue;
            }
            Ok(Attempt::Answered(answer)) => Some(answer),
            Ok(Attempt::Hard(pending)) => {
                if ranks.communicator.rank() == 0
                    && searcher.solver.reaches(&states[i].state.state).is_none()
                {
                    tracing::warn!(
                        "{}it is not known whether moves lead to this state: if none do, the \
                         search ends only at --timeout or --max-nodes",
                        searcher.progress.one(before + i)
                    );
                }
                searcher.finish(before + i, pending, ranks)?
            }
        };
        let Some(answer) = answer.filter(|answer| !searcher.is_left(answer)) else { continue };
        let answer = searcher.limited(answer);
        if let Some(log) = &searcher.log {
            log.solved(before + i, &answer)?;
        }
        let every = searcher.every(before + i, &states[i].state.state, answer, ranks)?;
        let Some((answer, all)) = every.map(Every::parts) else { continue };
        let columns = if searcher.range.is_some_and(|range| range.kept) { 1 } else { 2 };
        say(StateAnswer { all, columns: COLUMNS[columns], ..plain.found(answer, true) })?;
    }
    Ok(())
}
