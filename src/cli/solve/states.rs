//! States of puzzles other than boards: shortest solutions from a distance table, or by a search over pruning tables.

use std::{
    io::{BufRead, BufReader},
    time::{Duration, Instant},
};

use rayon::prelude::*;
use serde::Serialize;
use tilewave::{
    DistanceTable, Progress, Resources, internals,
    progress::{Phase, StopWhen},
    pruning::{EntrySize, PruningTable},
    puzzle::{
        PuzzleError, Variant,
        orbits::{Arrangement, OrbitPuzzle},
    },
    report::{bytes, counted, duration},
    solve::{PhaseSolver, PuzzleAnswer, PuzzleSolver, SolveError},
    table::TableError,
};

use crate::cli::{
    Context, Counted, Failure, Figures, OutputOptions, Result, SearchProgress, StatusLine, Threads,
    complain, part, progress, refuse,
    solve::databases::{Databases, table_name},
};

/// `--via`.
#[derive(clap::Args)]
pub struct Phases {
    /// With --fast, for puzzles other than boards: solve these first; repeatable.
    ///
    /// Pieces as for --pieces, edges:1-4, or moves up to which a state is solved, "<U,D,R2,L2,F2,B2>"; from there on only moves
    /// that keep it so are used.
    #[arg(long, value_name = "PHASE", value_parser = phase, requires = "fast", conflicts_with = "pdb", hide_short_help = true)]
    pub via: Vec<Variant>,
}

impl Phases {
    pub fn refuse_of_boards(&self) -> Result<()> {
        if !self.via.is_empty() {
            refuse!("--via is for other puzzles than boards: leave it out");
        }
        Ok(())
    }
}

/// The parser of a phase.
fn phase(text: &str) -> Result<Variant, String> {
    if text.trim().is_empty() {
        return Err("no pieces and no moves are named".into());
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
#[derive(Serialize)]
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
    const COLUMNS: &'static str = "state,solvable,length,moves,seconds,optimal";

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
                format!("{state}  given up after {nodes}at least {least} moves  {time}\n")
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
            board: (),
            puzzle: space.name(),
            state: space.text(state),
            solvable: names.is_some(),
            length: names.as_ref().map(Vec::len),
            optimal: names.is_some(),
            moves: names.map(|names| names.join(" ")),
            nodes: 0,
            seconds: begun.elapsed().as_secs_f64(),
            given: None,
            reason: None,
            at_least: None,
        })
    }

    /// What is said of a state of a puzzle of several sets of pieces.
    fn plain(puzzle: &OrbitPuzzle, text: &str, state: &Arrangement) -> StateAnswer {
        StateAnswer {
            given: Some(text.into()),
            board: (),
            puzzle: puzzle.to_string(),
            state: puzzle.text(state),
            solvable: true,
            length: None,
            moves: None,
            nodes: 0,
            seconds: 0.0,
            optimal: false,
            reason: None,
            at_least: None,
        }
    }

    fn found(
        puzzle: &OrbitPuzzle,
        text: &str,
        state: &Arrangement,
        (answer, optimal): (PuzzleAnswer, bool),
    ) -> StateAnswer {
        let PuzzleAnswer { moves, at_least, nodes, seconds, .. } = answer;
        StateAnswer {
            length: moves.as_ref().map(Vec::len),
            optimal: optimal && moves.is_some(),
            at_least: moves.is_none().then_some(at_least),
            moves: moves.map(|moves| moves.join(" ")),
            nodes,
            seconds,
            ..StateAnswer::plain(puzzle, text, state)
        }
    }

    fn unreached(
        puzzle: &OrbitPuzzle,
        text: &str,
        state: &Arrangement,
        error: &PuzzleError,
    ) -> StateAnswer {
        let reason = Some(error.to_string());
        StateAnswer { solvable: false, reason, ..StateAnswer::plain(puzzle, text, state) }
    }
}

/// States that are solved before their lines are written.
const BATCH: usize = 256;
/// Nodes from which on a state is for all threads.
const EASY: u64 = 200_000;

/// Writes a shortest solution of each state: of those given, or of one per line of standard input as they come.
pub fn solve(table: &DistanceTable, states: &[&str], output: &OutputOptions) -> Result<()> {
    each(
        states,
        output,
        |state| Ok(table.space().parse(state)?),
        |batch, _, say| batch.iter().try_for_each(|(text, _)| say(StateAnswer::of(table, text)?)),
    )
}

/// Writes an answer.
type Say<'a> = &'a mut dyn FnMut(StateAnswer) -> Result<()>;

/// Answers each state, of those given, or of one per line of standard input, in batches of as many as there are at once. What
/// answers them gets their texts, how many came before, and what writes an answer.
fn each<S>(
    states: &[&str],
    output: &OutputOptions,
    parse: impl Fn(&str) -> Result<S>,
    mut answer: impl FnMut(&[(String, S)], usize, Say<'_>) -> Result<()>,
) -> Result<()> {
    // What is wrong on the command line is said before anything is written.
    let given = states.iter().map(|&text| Ok((text.into(), parse(text)?)));
    let given = given.collect::<Result<Vec<_>>>()?;
    let mut destination = output.reserve()?;
    destination.heading(StateAnswer::COLUMNS)?;
    let (mut some, mut refused, mut all_solved, mut done) = (!given.is_empty(), false, true, 0);
    let mut write = |batch: &mut Vec<(String, S)>| -> Result<()> {
        answer(batch, done, &mut |answer| {
            all_solved &= answer.length.is_some();
            destination.line(&answer)
        })?;
        done += batch.len();
        batch.clear();
        Ok(())
    };
    let mut batch = given;
    if some {
        write(&mut batch)?;
    } else {
        let mut lines = BufReader::new(std::io::stdin().lock());
        let mut number = 0;
        loop {
            let mut text = String::new();
            let more = lines.read_line(&mut text).context("cannot read standard input")? > 0;
            number += 1;
            let state = text.split('#').next().unwrap_or_default().trim();
            if !state.is_empty() {
                some = true;
                match parse(state) {
                    Ok(parsed) => batch.push((state.into(), parsed)),
                    Err(error) => {
                        complain(&format!("line {number}: {}", error.said.unwrap_or_default()));
                        refused = true;
                    }
                }
            }
            let waits = !lines.buffer().contains(&b'\n');
            if !more || batch.len() == BATCH || waits && !batch.is_empty() {
                write(&mut batch)?;
            }
            if !more || progress::asked() {
                break;
            }
        }
    }
    if !some {
        refuse!("there is no state: name one or write one per line to standard input");
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
    pub max_nodes: &'a Option<u64>,
    pub timeout: &'a Option<Duration>,
    pub output: &'a OutputOptions,
    /// The phases of solutions that need not be shortest.
    pub via: Option<&'a [Variant]>,
}

/// What solves states.
enum StateSolver {
    Optimal(PuzzleSolver),
    Phases(PhaseSolver),
}

/// Solves states of a puzzle of several sets of pieces.
pub fn search(args: &StateSolve<'_>, counted: &Counted, word: &str) -> Result<()> {
    let Some(puzzle) = counted.orbits(word)? else {
        refuse!(
            "{word} has one set of pieces: solve it with a distance table (tilewave table {word} -o FILE, then \
             tilewave solve --table FILE)"
        );
    };
    progress::listen();
    let states = args.states;
    let pool = internals::pool(args.threads.get())?;
    // What is wrong on the command line is said before tables are built.
    for state in states {
        puzzle.read(state).map_err(tilewave::Error::from)?;
    }
    let solver = pool.install(|| match args.via {
        None => {
            let tables = tables(args, &puzzle)?;
            Ok::<_, Failure>(StateSolver::Optimal(PuzzleSolver::new(puzzle.clone(), tables)?))
        }
        Some([]) => refuse!(
            "--fast solves {puzzle} in phases: name them, for example --via {}:1-4, or --via \"<{}>\"",
            puzzle.orbits().last().map_or("", |orbit| &orbit.name),
            puzzle.moves().iter().take(2).map(|one| &one.name[..]).collect::<Vec<_>>().join(",")
        ),
        Some(via) => {
            let of = |phase: &OrbitPuzzle| tables(args, phase);
            Ok(StateSolver::Phases(PhaseSolver::new(puzzle.clone(), via, of)?))
        }
    })?;
    let line = StatusLine::new();
    let parse = |text: &str| Ok(puzzle.read(text).map_err(tilewave::Error::from)?.0);
    each(states, args.output, parse, |batch, before, say| {
        let one = |at: usize, text: &str, state: &Arrangement, most: u64| {
            let begun = Instant::now();
            let over = || args.timeout.is_some_and(|most| begun.elapsed() > most);
            let search = StateSearch { over: &over, line: &line, at: before + at };
            let most = most.min(args.max_nodes.unwrap_or(u64::MAX));
            let found = match &solver {
                StateSolver::Optimal(solver) => solver.solve_with(state, most, &search),
                StateSolver::Phases(solver) => solver.solve_with(state, most, &search),
            };
            let optimal = matches!(solver, StateSolver::Optimal(_));
            match found {
                Ok(answer) => Ok(StateAnswer::found(&puzzle, text, state, (answer, optimal))),
                Err(SolveError::Puzzle(error @ PuzzleError::Unreached { .. })) => {
                    Ok(StateAnswer::unreached(&puzzle, text, state, &error))
                }
                Err(error) => Err(error.into()),
            }
        };
        // Easy states are solved one per thread, hard ones one after the other on all threads.
        let tried: Vec<Result<StateAnswer>> = pool.install(|| {
            let batch = batch.par_iter().enumerate();
            batch.map(|(at, (text, state))| one(at, text, state, EASY)).collect()
        });
        for (at, (mut tried, (text, state))) in tried.into_iter().zip(batch).enumerate() {
            if tried.as_ref().is_ok_and(|tried| tried.at_least.is_some()) {
                tried = pool.install(|| one(at, text, state, u64::MAX));
            }
            let tried = tried?;
            if progress::asked() && tried.at_least.is_some() {
                break;
            }
            say(tried)?;
        }
        Ok(())
    })
}

/// The tables of a puzzle: those given, else those kept, else new ones, which are kept.
fn tables(args: &StateSolve<'_>, puzzle: &OrbitPuzzle) -> Result<Vec<PruningTable>> {
    let stop = StopWhen(progress::asked);
    let given = args.databases.pdb.iter();
    if !args.databases.pdb.is_empty() {
        return given.map(|file| Ok(PruningTable::load_with(file, &stop)?)).collect();
    }
    let cache = args.databases.cache();
    let projections = PruningTable::default_projections(puzzle)?;
    let all = projections.len();
    let mut built = (0, 0.0);
    let mut tables = Vec::new();
    for (i, projection) in projections.iter().enumerate() {
        let kept = cache.as_ref().map(|dir| dir.join(table_name(projection)));
        // A file that cannot be used, for whatever reason, is built again and replaced.
        let usable = kept.as_ref().and_then(|path| PruningTable::load_with(path, &stop).ok());
        if let Some(table) = usable.filter(|table| table.puzzle().to_json() == projection.to_json())
        {
            tables.push(table);
            continue;
        }
        let begun = Instant::now();
        let progress = SearchProgress::of_part(part(i, all));
        let resources = Resources::new().threads(args.threads.get());
        let build = |size| PruningTable::build_with(projection, size, resources, &progress);
        let table = match build(EntrySize::Nibble) {
            Err(tilewave::Error::Table(TableError::TooDeep { .. })) => build(EntrySize::Byte),
            built => built,
        }?;
        if let Some(path) = &kept
            && let Err(error) = table.save(path, true, &progress)
        {
            tracing::warn!("the table is not kept: {error}");
        }
        built.0 += table.file_bytes();
        built.1 += begun.elapsed().as_secs_f64();
        tables.push(table);
    }
    if built.0 > 0 {
        let place = match &cache {
            Some(dir) => format!("kept in {}", dir.display()),
            None => "not kept".into(),
        };
        tracing::info!(
            "built pruning tables: {} in {}, {place}",
            bytes(built.0),
            duration(built.1)
        );
    }
    Ok(tables)
}

/// Shows how far the search of a state is, and stops it.
struct StateSearch<'a> {
    over: &'a (dyn Fn() -> bool + Sync),
    line: &'a StatusLine,
    at: usize,
}

impl Progress for StateSearch<'_> {
    fn progress(&self, phase: Phase, nodes: u64, _: u64) {
        if let Phase::Search(limit) = phase {
            self.line.say(|| {
                (0.0, format!("state {}  {limit} moves  {}", self.at + 1, counted(nodes, "node")))
            });
        }
    }

    fn interrupted(&self) -> bool {
        progress::asked() || (self.over)()
    }
}
