//! States of puzzles other than boards: shortest solutions from a distance table, or by a search over pruning tables.

use std::{
    cell::OnceCell,
    io::{BufRead, BufReader, Stdin},
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use rayon::{ThreadPool, prelude::*};
use serde::Serialize;
use serde_json::{Value, json};
use tilewave::{
    DistanceTable, Progress,
    progress::Phase,
    puzzle::{
        Variant,
        orbits::{Arrangement, OrbitPuzzle},
    },
    report::{counted, duration},
    search::{Communicator, OneProcess, Ranks},
    solve::{Answer, Attempt, PhaseSolver, PuzzleSolver},
};

use crate::cli::{
    Context, Counted, Destination, Failure, Figures, OutputOptions, Result, Threads, aside,
    complain, progress, ranks, refuse,
    solve::{
        databases::Databases,
        search::{SearchLimits, Searcher, SolveProgress, attempt_all},
    },
};

/// `--via`.
#[derive(clap::Args)]
pub struct Phases {
    /// With --fast: the pieces to solve or the subgroup to reach in one phase; repeat for each phase.
    ///
    /// Specify pieces as for --pieces (edges:1-4), or a subgroup by its moves ("<U,D,R2,L2,F2,B2>"). Once the subgroup
    /// is reached, only moves that stay in the subgroup are used. Boards have no phases.
    #[arg(long, value_name = "PHASE", value_parser = phase, requires = "fast", conflicts_with = "pdb", hide_short_help = true)]
    pub via: Vec<Variant>,
}

impl Phases {
    pub fn refuse_of_boards(&self) -> Result<()> {
        if !self.via.is_empty() {
            refuse!("--via does not apply to boards: leave it out");
        }
        Ok(())
    }
}

/// The parser of a phase.
fn phase(text: &str) -> Result<Variant, String> {
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
    /// None: it is no board.
    board: (),
    puzzle: String,
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
}

impl Figures for StateAnswer {
    fn figures(&self) -> Value {
        json!(self)
    }

    fn words(&self) -> String {
        let (state, time) = (self.given.as_ref().unwrap_or(&self.state), duration(self.seconds));
        let nodes = match self.nodes {
            0 => String::new(),
            nodes => format!("{}  ", counted(nodes, "node")),
        };
        match (self.length, &self.moves, self.at_least) {
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
    fn of(table: &DistanceTable, text: &str) -> Result<StateAnswer> {
        let begun = Instant::now();
        let space = table.space();
        let state = space.parse(text)?;
        let names = table.names(state)?;
        Ok(StateAnswer {
            puzzle: space.name(),
            state: space.text(state),
            solvable: names.is_some(),
            length: names.as_ref().map(Vec::len),
            optimal: names.is_some(),
            moves: names.map(|names| names.join(" ")),
            seconds: begun.elapsed().as_secs_f64(),
            ..StateAnswer::default()
        })
    }

    /// What is said of a state of a puzzle of several sets of pieces.
    fn plain(puzzle: &OrbitPuzzle, text: &str, state: &Arrangement) -> StateAnswer {
        StateAnswer {
            given: Some(text.into()),
            puzzle: puzzle.to_string(),
            state: puzzle.text(state),
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
            moves: moves.map(|moves| moves.join(" ")),
            nodes,
            seconds,
            ..self
        }
    }
}

/// States that are solved before their lines are written.
const BATCH: usize = 256;

/// Writes a shortest solution of each state: of those given, or of one per line of standard input as they come.
pub fn solve(table: &DistanceTable, states: &[&str], output: &OutputOptions) -> Result<()> {
    let parse = |state: &str| Ok(table.space().parse(state)?);
    each(StateSource { states, all: false, ranks: &OneProcess }, output, parse, |batch, _, say| {
        batch.iter().try_for_each(|(text, _)| say(StateAnswer::of(table, text)?))
    })
}

/// Writes an answer.
type Say<'a> = &'a mut dyn FnMut(StateAnswer) -> Result<()>;

/// Where states come from: those given, or standard input.
struct StateSource<'a> {
    states: &'a [&'a str],
    /// Whether all are read before any is answered.
    all: bool,
    ranks: &'a dyn Communicator,
}

/// States, each with its text.
type StateBatch<S> = Vec<(String, S)>;

impl StateSource<'_> {
    /// Reads lines until one would have to be waited for; returns what stood there, and whether more may come. Says what is
    /// wrong with a line.
    fn read<S>(
        &self,
        (lines, number): (&mut BufReader<Stdin>, &mut usize),
        parse: &impl Fn(&str) -> Result<S>,
        refused: &mut bool,
    ) -> Result<(StateBatch<S>, bool)> {
        let mut batch = Vec::new();
        loop {
            let mut text = String::new();
            let more = lines.read_line(&mut text).context("cannot read standard input")? > 0;
            *number += 1;
            let state = text.split('#').next().unwrap_or_default().trim();
            if !state.is_empty() {
                match parse(state) {
                    Ok(parsed) => batch.push((state.into(), parsed)),
                    Err(error) if self.all => {
                        let said = error.said.unwrap_or_default();
                        refuse!("line {number}: {said}; every line must be a state")
                    }
                    Err(error) => {
                        complain(&format!("line {number}: {}", error.said.unwrap_or_default()));
                        *refused = true;
                    }
                }
            }
            let waits = !lines.buffer().contains(&b'\n');
            let enough = !self.all && (batch.len() == BATCH || waits && !batch.is_empty());
            if !more || enough || progress::asked() {
                return Ok((batch, more));
            }
        }
    }
}

/// Answers each state, in batches of as many as there are to be had. What answers them gets their texts, how many came
/// before, and what writes an answer. Of several ranks the first one reads and writes.
fn each<S>(
    source: StateSource<'_>,
    output: &OutputOptions,
    parse: impl Fn(&str) -> Result<S>,
    mut answer: impl FnMut(&[(String, S)], usize, Say<'_>) -> Result<()>,
) -> Result<()> {
    let parse_all = |texts: &mut dyn Iterator<Item = String>| {
        texts.map(|text| Ok((text.clone(), parse(&text)?))).collect::<Result<StateBatch<S>>>()
    };
    // What is wrong on the command line is said before anything is written.
    let mut batch = parse_all(&mut source.states.iter().map(|&state| state.into()))?;
    let ranks = source.ranks;
    let mut destination = Destination::of_rank(ranks, output)?;
    destination.heading("state,solvable,length,moves,seconds,optimal")?;
    let (mut refused, mut all_solved) = (false, true);
    let mut lines = BufReader::new(std::io::stdin());
    let (mut number, mut before, mut more) = (0, 0, source.states.is_empty());
    loop {
        if more && ranks.rank() == 0 {
            (batch, more) = source.read((&mut lines, &mut number), &parse, &mut refused)?;
        }
        if source.states.is_empty() && ranks.size() > 1 {
            let texts: Vec<&String> = batch.iter().map(|(text, _)| text).collect();
            let told = ranks.broadcast(serde_json::to_vec(&texts)?);
            batch = parse_all(&mut serde_json::from_slice::<Vec<String>>(&told)?.into_iter())?;
            more = false;
        }
        answer(&batch, before, &mut |answer| {
            all_solved &= answer.length.is_some();
            aside(|| destination.line(&answer))
        })?;
        before += batch.len();
        if !more || progress::asked() {
            break;
        }
    }
    if before == 0 && !refused && !progress::asked() {
        refuse!("no state was given: pass states as arguments, or one per line on standard input");
    }
    destination.finish()?;
    if progress::asked() {
        return Err(Failure::interrupted());
    }
    Failure::unless(all_solved && !refused)
}

/// What solves states of a puzzle of several sets of pieces.
pub struct StateSolve<'a> {
    pub states: &'a [&'a str],
    pub databases: &'a Databases,
    pub threads: &'a Threads,
    pub limits: SearchLimits,
    pub log: &'a Option<PathBuf>,
    pub output: &'a OutputOptions,
    pub communicator: &'a dyn Communicator,
}

/// What one thread made of a state.
type TriedState = Result<Attempt<Arrangement, Vec<String>>, String>;

impl StateSolve<'_> {
    /// Solves states of a puzzle of sets of pieces; in phases where they are given.
    pub fn run(&self, counted: &Counted, word: &str, via: Option<&[Variant]>) -> Result<()> {
        let Some(puzzle) = counted.listed(word)? else {
            refuse!("{word} is a board size: pass the tiles of a board, without a size");
        };
        progress::listen();
        let StateSolve { states, communicator, .. } = *self;
        let pool = &ranks::pool(self.threads.get(), communicator)?;
        // What is wrong on the command line is said before tables are built.
        for state in states {
            puzzle.read(state)?;
        }
        if let Some(via) = via {
            return self.in_phases(&puzzle, via, pool);
        }
        let progress = OnceCell::new();
        // Nothing is built before there is a state; files that are given are read first.
        let given = !self.databases.pdb.is_empty();
        let make = || self.searcher(&puzzle, &progress, pool);
        let mut searcher = given.then(make).transpose()?;
        let parse = |text: &str| Ok(puzzle.read(text)?.0);
        let all = self.log.is_some() || communicator.size() > 1;
        let source = StateSource { states, all, ranks: communicator };
        let ranks = Ranks { communicator, pool };
        let solved = each(source, self.output, parse, |all, before, say| {
            if all.is_empty() {
                return Ok(());
            }
            let searcher = match &mut searcher {
                Some(there) => there,
                none => none.insert(make()?),
            };
            let progress = searcher.progress;
            if let Some(path) = &self.log {
                let states: Vec<Arrangement> = all.iter().map(|(_, state)| state.clone()).collect();
                searcher.open_log(path, &states, communicator)?;
            }
            progress.expect(before + all.len());
            for (batch, some) in all.chunks(BATCH * communicator.size()).enumerate() {
                let before = before + batch * BATCH * communicator.size();
                if !progress::asked() {
                    solve_batch(searcher, some, before, ranks, say)?;
                }
            }
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
        puzzle: &OrbitPuzzle,
        progress: &'p OnceCell<SolveProgress>,
        pool: &ThreadPool,
    ) -> Result<Searcher<'p, PuzzleSolver>> {
        let communicator = self.communicator;
        let tables = ranks::first_alone(communicator, || {
            pool.install(|| self.databases.tables(puzzle, self.threads.get()))
        })?;
        let first = communicator.rank() == 0;
        let solver = pool.install(|| PuzzleSolver::new(puzzle.clone(), tables))?;
        let progress =
            progress.get_or_init(|| SolveProgress::new("state", self.states.len(), first));
        let searcher = Searcher { solver, log: None, limits: self.limits, progress };
        if communicator.size() > 1 {
            searcher.agree(communicator, "tables")?;
        }
        Ok(searcher)
    }

    /// Solves states in phases, one after the other on all threads.
    fn in_phases(&self, puzzle: &OrbitPuzzle, via: &[Variant], pool: &ThreadPool) -> Result<()> {
        if via.is_empty() {
            let names = puzzle.moves().iter().take(2).map(|one| &one.name[..]);
            refuse!(
                "--fast solves {puzzle} in phases: specify the phases, for example --via {}:1-4, \
                 or --via \"<{}>\"",
                puzzle.orbits().last().map_or("", |orbit| &orbit.name),
                names.collect::<Vec<_>>().join(",")
            );
        }
        let StateSolve { databases, threads, limits, .. } = *self;
        let tables = |phase: &OrbitPuzzle| databases.tables(phase, threads.get());
        let solver = pool.install(|| PhaseSolver::new(puzzle.clone(), via, tables))?;
        let parse = |text: &str| Ok(puzzle.read(text)?.0);
        let source = StateSource { states: self.states, all: false, ranks: &OneProcess };
        each(source, self.output, parse, |batch, _, say| {
            let tried = batch.par_iter().map(|(text, state)| {
                let plain = StateAnswer::plain(puzzle, text, state);
                if let Some(Err(why)) = solver.reaches(state) {
                    let reason = Some(why.to_string());
                    return Ok(StateAnswer { solvable: false, reason, ..plain });
                }
                let watch = PhaseWatch { limits, begun: Instant::now(), nodes: 0.into() };
                Ok(plain.found(solver.solve_with(state, &watch)?, false))
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

/// Solves easy states one per thread, hard ones one after the other on all threads of all ranks.
fn solve_batch(
    searcher: &Searcher<'_, PuzzleSolver>,
    states: &[(String, Arrangement)],
    before: usize,
    ranks: Ranks<'_>,
    say: Say<'_>,
) -> Result<()> {
    let attempt = |i: usize| -> Result<TriedState> {
        let (_, state) = &states[i];
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
        let (text, state) = &states[i];
        let plain = StateAnswer::plain(searcher.solver.puzzle(), text, state);
        let answer = match tried {
            Err(why) => {
                say(StateAnswer { solvable: false, reason: Some(why), ..plain })?;
                continue;
            }
            Ok(Attempt::Answered(answer)) => Some(answer),
            Ok(Attempt::Hard(pending)) => searcher.finish(before + i, pending, ranks)?,
        };
        let Some(answer) = answer.filter(|answer| !searcher.is_left(answer)) else { continue };
        let answer = searcher.limited(answer);
        if let Some(log) = &searcher.log {
            log.solved(before + i, &answer)?;
        }
        say(plain.found(answer, true))?;
    }
    Ok(())
}
