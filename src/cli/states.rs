//! `tilewave state`: a state's place in the state space, or the state in a place.

use std::path::PathBuf;

use serde_json::{Value, json};
use tilewave::{
    Board, DistanceTable, Search, Size,
    pruning::PruningTable,
    puzzle::{
        Coordinates, Placed, Puzzle, PuzzleSpec, Searched, State, StateSpace, Turns, Unreachable,
        families::{self, Family},
        named::{self, NamedPuzzle},
    },
    report::{bytes, counted, csv_field, described, grouped, identity, thousands},
    search::{self, Outcome},
    solve::explain,
};

use crate::{
    Ahead, AnyReply, Context, Figures, FormatOption, Measured, OutputFile, OutputFormat,
    OutputOptions, PuzzleAndStates, PuzzleOptions, Reply, Result, Running, SearchProgress, bfs,
    count, csv_line, facts, info::open_table, make::Table, refuse, refuse_in_lists, subject,
    uncommented, with_more,
};

/// Rank or unrank a state, and show its parity, solvability and (with --table) depth.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave state '8 6 7/2 5 4/3 0 1'\n  tilewave state 3x4 --id 12345\n  \
                  tilewave state pancake:5 '3 2 1 4 5'\n  tilewave state 3x3x3 \"R U R' U'\""
)]
pub struct StateArgs {
    #[command(flatten)]
    of: PuzzleAndStates,

    #[command(flatten)]
    counted: Measured,

    /// Table from which to read the depth (see tilewave table); the table also sets the puzzle and goal.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,

    /// Show the state with the state id ID.
    #[arg(long, value_parser = count::<u64>(), allow_negative_numbers = true)]
    id: Option<u64>,

    #[command(flatten)]
    format: FormatOption,
}

impl StateArgs {
    pub fn run(&self) -> Result<()> {
        let (word, states) = self.of.split("state", self.table.is_some())?;
        let by_number = self.id.is_some();
        if by_number && !states.is_empty() {
            refuse!("both a state and a state number are given: leave out one of them");
        }
        let mut destination = self.format.stdout();
        let searched = word.map(|word| self.counted.spec(word).puzzle()).transpose()?;
        let table = self.table.as_deref().map(open_table).transpose()?;
        let (table, pruning) = match &table {
            Some(Table::Numbered(table)) => (Some(table), None),
            Some(Table::Pruning(table)) => (None, Some(table)),
            None => (None, None),
        };
        let (puzzle, space) = match &searched {
            named if let Some(table) = pruning => {
                let is_same = |named: &Searched| match named {
                    Searched::Listed(puzzle) => puzzle.to_json() == table.puzzle().to_json(),
                    Searched::Numbered(_) => false,
                };
                if let (Some(word), false) = (word, named.as_ref().is_none_or(is_same)) {
                    refuse!("the table is for {}: leave out {word}", table.puzzle());
                }
                (Some(table.puzzle()), None)
            }
            Some(Searched::Listed(puzzle)) if table.is_some() => {
                refuse!("the table is for another puzzle than {puzzle}: leave out --table")
            }
            Some(Searched::Listed(puzzle)) => (Some(puzzle), None),
            Some(Searched::Numbered(space)) => (None, self.other(word, Some(space), table)?),
            None => (None, self.other(word, None, table)?),
        };
        let mut none = true;
        let mut write = |state: Option<&str>| -> Result<()> {
            none = false;
            let answer = match (puzzle, &space) {
                (Some(puzzle), _) => self.of_sets((puzzle, pruning), state)?,
                (None, Some(space)) => self.of_puzzle(space, table, state)?,
                (None, None) => self.of_board(searched.as_ref(), table, state)?,
            };
            destination.answer(&answer)
        };
        for state in &states {
            write(Some(state)).map_err(|mut failure| {
                let is_number = puzzle.is_none() && state.bytes().all(|b| b.is_ascii_digit());
                if let Some(said) = failure.said.as_mut().filter(|_| is_number) {
                    *said += &format!("; to look up a state by its number, use --id {state}");
                }
                failure
            })?;
        }
        if by_number {
            write(None)?;
        } else if states.is_empty() {
            for line in std::io::stdin().lines() {
                let line = line.context("cannot read standard input")?;
                let state = uncommented(&line);
                if !state.is_empty() {
                    write(Some(state))?;
                }
            }
        }
        if none {
            refuse!(
                "no state was given: pass states as arguments, or one per line on standard input"
            );
        }
        destination.finish()
    }

    /// What is said of a state of a puzzle of several sets of pieces.
    fn of_sets(
        &self,
        (puzzle, table): (&Puzzle, Option<&PruningTable>),
        text: Option<&str>,
    ) -> Result<AnyReply> {
        if self.id.is_some() {
            refuse!("--id needs numbered states, which {puzzle} does not have: leave it out");
        }
        let (state, moves) = puzzle.read(text.unwrap_or_default())?;
        // Nothing where that is not known.
        let mut reached = puzzle.reaches(&state);
        let mut depth = None;
        if let (Some(table), None | Some(Ok(()))) = (table, &reached) {
            depth = table.depth(&state)?;
            let none = || Unreachable::Table(puzzle.to_string());
            reached = Some(depth.map(drop).ok_or_else(none));
        }
        let (text, solved) = (puzzle.text(&state), puzzle.is_goal(&state));
        // How often the moves must be repeated until nothing has changed, where the state was given by moves.
        let order = moves.and_then(|moves| moves.order(puzzle));
        let figures = json!({
            "puzzle": puzzle.name(),
            "metric": puzzle.metric(),
            "state": text,
            "facelets": puzzle.facelets(&state),
            "solved": solved,
            "solvable": reached.as_ref().map(|reached| reached.is_ok()),
            "order": order,
            "depth": depth,
            "refused": reached.as_ref().and_then(|reached| Some(reached.as_ref().err()?.to_string())),
        });
        let solvable = match reached {
            Some(Err(reason)) => format!("no: {reason}"),
            Some(Ok(())) => "yes".into(),
            None => "unknown".into(),
        };
        let rows = [
            ("puzzle", puzzle.to_string()),
            ("state", text),
            ("solved", if solved { "yes" } else { "no" }.into()),
            ("solvable", solvable),
            ("order", order.map_or(String::new(), thousands)),
            ("depth", depth.map_or(String::new(), |depth| depth.to_string())),
        ];
        let net = puzzle.net(&state).map_or(String::new(), |net| format!("\n{net}\n"));
        let reply = Reply { figures, words: facts(10, rows) + &net, csv: None };
        Ok(("state,puzzle,solved,solvable,order,depth", reply))
    }

    /// The puzzle of the state, unless it is a board.
    fn other(
        &self,
        word: Option<&str>,
        named: Option<&StateSpace>,
        table: Option<&DistanceTable>,
    ) -> Result<Option<StateSpace>> {
        let of_table = table.map(DistanceTable::space);
        if let (Some(named), Some(of_table)) = (named, of_table)
            && named != of_table
        {
            refuse!("the table is for {of_table}: leave out {}", word.unwrap_or_default());
        }
        let other = of_table.or(named).filter(|space| space.size().is_none()).cloned();
        let goal = self.counted.goal.goal.is_some();
        if let Some(space) = &other
            && (goal || self.counted.metric().is_some())
        {
            refuse!("--goal and --metric do not apply to {space}: leave out both");
        }
        Ok(other)
    }

    fn of_puzzle(
        &self,
        space: &StateSpace,
        table: Option<&DistanceTable>,
        state: Option<&str>,
    ) -> Result<AnyReply> {
        let state = match state {
            Some(text) => parse(space, text)?,
            None => self.unrank(space)?,
        };
        let text = space.text(state);
        let puzzle = space.puzzle().expect("boards have a method of their own");
        let is_even = puzzle.arrangement(&text)?.is_even();
        let reached = space.reaches(state);
        let refused = (!reached).then(|| format!("no moves of {space} lead to this state"));
        let depth = table.filter(|_| reached).map(|table| table.depth_of(state));
        let facts = StateFacts {
            is_even,
            refused,
            line: Some(state.line),
            cell: state.cell,
            state_id: Some(space.id(state)),
            depth: depth.transpose()?.flatten(),
        };
        Ok(facts.of(space, text))
    }

    fn of_board(
        &self,
        named: Option<&Searched>,
        table: Option<&DistanceTable>,
        state: Option<&str>,
    ) -> Result<AnyReply> {
        let named = match named {
            Some(Searched::Numbered(space)) => Some(space),
            _ => None,
        };
        let of_table = table.map(DistanceTable::goal).transpose()?;
        if let (Some(metric), Some(table)) = (self.counted.metric(), table)
            && table.space().metric() != Some(metric)
        {
            refuse!(
                "the table is for {}: leave out --metric, or build a table for your metric with tilewave table",
                table.space()
            );
        }
        let size = named.and_then(StateSpace::size).or(of_table.map(Board::size));
        let goal_of = |size: Size| match (table, named.and_then(StateSpace::boards)) {
            (None, Some((goal, _))) => Ok(goal.clone()),
            _ => self.counted.goal.board_of(table, size),
        };
        let board = match state {
            Some(text) => Board::parse(text, size)?,
            None => {
                let Some(size) = size else {
                    refuse!("a state number needs a puzzle, as in tilewave state 3x4 --id 5");
                };
                let space = StateSpace::of_board(goal_of(size)?);
                space.numbered()?;
                let board = space.board(self.unrank(&space)?);
                board.expect("the space is that of a board")
            }
        };
        let goal = goal_of(board.size())?;
        let frame = Coordinates::new(goal.clone());
        let (_, cell) = frame.encode(&board)?;
        let refused = explain(&board, &goal)?;
        let depth = table.filter(|_| refused.is_none()).map(|table| table.depth(&board));
        let metric = table.map(DistanceTable::space).or(named).and_then(StateSpace::metric);
        let metric = metric.or(self.counted.metric()).unwrap_or_default();
        let space = StateSpace::of_board(goal);
        // Boards of more than 20 cells have no 64-bit rank, but everything else.
        let state = space.state(&board).ok();
        let facts = StateFacts {
            is_even: refused.is_none(),
            refused: refused.map(|reason| reason.to_string()),
            line: state.map(|state| state.line),
            cell,
            state_id: state.map(|state| space.id(state)),
            depth: depth.transpose()?.flatten(),
        };
        Ok(facts.of(&space.in_metric(metric), board.to_string()))
    }

    /// The state with the number asked for.
    fn unrank(&self, space: &StateSpace) -> Result<State> {
        let Some(state) = self.id.and_then(|id| space.from_id(id)) else {
            let board = space.size().is_some();
            let (article, kind) = if board { ("a ", " board") } else { ("", "") };
            let last = space.lines() * space.moves().cells() as u64 - 1;
            refuse!(
                "there is no state with this number: {article}{space}{kind} has ids 0 to {}",
                thousands(last)
            );
        };
        Ok(state)
    }
}

/// The state that a text gives: by what stands where, or by moves from the solved state.
fn parse(space: &StateSpace, text: &str) -> Result<State> {
    let puzzle = space.puzzle().expect("boards have a method of their own");
    if text.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(space.parse(text)?);
    }
    let (state, _) = Puzzle::of_space(space)?.read(text)?;
    let label = |piece: &Placed| puzzle.labels()[usize::from(piece.kind)].to_string();
    let labels: Vec<String> = state.0[0].iter().map(label).collect();
    Ok(space.parse(&labels.join(" "))?)
}

/// What is said of a numbered state.
struct StateFacts {
    is_even: bool,
    /// Why it cannot be solved, if it cannot.
    refused: Option<String>,
    line: Option<u64>,
    cell: usize,
    state_id: Option<u64>,
    depth: Option<usize>,
}

impl StateFacts {
    fn of(self, space: &StateSpace, state: String) -> AnyReply {
        let StateFacts { is_even, refused, line, cell, state_id, depth } = self;
        let size = space.size().map(|size| size.to_string());
        let metric = identity(&Searched::Numbered(space.clone()))["metric"].clone();
        let metric = metric.as_str();
        let parity = if is_even { "even" } else { "odd" };
        let figures = json!({
            "board": size.as_ref().map(|_| &state),
            "size": size,
            "puzzle": space.name(),
            "state": state,
            "metric": metric,
            "goal": space.goal_text(),
            "solvable": refused.is_none(),
            "parity": parity,
            "line": line,
            "cell": cell,
            "state_id": state_id,
            "depth": depth,
        });
        let number = |n: Option<u64>| n.map_or(String::new(), |n| n.to_string());
        let (kind, puzzle, columns) = match size {
            Some(_) => {
                ("board", String::new(), "board,size,goal,solvable,parity,line,cell,state_id,depth")
            }
            None => (
                "state",
                space.name(),
                "state,puzzle,goal,solvable,parity,line,cell,state_id,depth",
            ),
        };
        let rows = [
            ("puzzle", puzzle),
            (kind, state),
            ("goal", space.goal_text()),
            ("metric", depth.and(metric).unwrap_or_default().into()),
            ("parity", parity.into()),
            ("solvable", refused.map_or("yes".into(), |reason| format!("no: {reason}"))),
            ("line", number(line)),
            ("cell", cell.to_string()),
            ("state id", number(state_id)),
            ("depth", number(depth.map(|depth| depth as u64))),
        ];
        (columns, Reply { figures, words: facts(10, rows), csv: None })
    }
}

// `tilewave levels`: the states at a depth, or those that are farthest from the goal.

/// List the states at one depth, or those farthest from the goal.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave levels 3x3\n  tilewave levels 3x3 --depth 20 --limit 5,seed=1"
)]
pub struct LevelsArgs {
    #[command(flatten)]
    of: PuzzleOptions<Measured>,

    /// Depth of the states to list [default: the last one, whose states are the antipodes].
    #[arg(long, value_name = "DEPTH", value_parser = count::<usize>(), allow_negative_numbers = true)]
    depth: Option<usize>,

    /// List at most N states, or with a seed, N states chosen at random.
    ///
    /// The same seed chooses the same states. Without one, a list search may select different states for a different N.
    #[arg(long, value_name = "N[,seed=SEED]", default_value = "1000", value_parser = limit, allow_negative_numbers = true)]
    limit: Limit,

    #[command(flatten)]
    running: Running,

    #[command(flatten)]
    output: OutputOptions,
}

/// How many states are listed, and the seed with which they are chosen at random.
#[derive(Clone, Copy)]
struct Limit(usize, Option<u64>);

/// The parser of limits.
fn limit(text: &str) -> Result<Limit, String> {
    match text.split_once(",seed=") {
        Some((most, seed)) => Ok(Limit(count()(most)?, Some(count()(seed)?))),
        None => Ok(Limit(count()(text)?, None)),
    }
}

/// Maximum number of states among which some are chosen at random.
const MOST_CHOSEN: usize = 1 << 20;

/// States at a depth, or at the last one, that a search has found.
struct DepthStates {
    outcome: Outcome,
    depth: usize,
    /// States of the last depth.
    states: Vec<String>,
    /// State id, line and cell of each; nothing where states have no numbers.
    numbers: Option<Vec<[u64; 3]>>,
}

impl LevelsArgs {
    pub fn run(&self) -> Result<()> {
        let (running, depth) = (&self.running, self.depth);
        running.refuse_bitmap()?;
        let Limit(limit, seed) = self.limit;
        let kept = if seed.is_some() { MOST_CHOSEN } else { limit };
        let searched = match self.of.searched()? {
            Searched::Numbered(space) => {
                match bfs::lists_instead(running, &space, depth, &[], running.numbered())? {
                    Some(puzzle) => Searched::Listed(puzzle),
                    None => Searched::Numbered(space),
                }
            }
            listed => listed,
        };
        let (mut outcome, destination) = match searched {
            Searched::Numbered(space) => {
                let search = running.search(space)?.max_depth(depth).keep_last(kept);
                let destination = self.output.reserve()?;
                (search.run_with(&SearchProgress::new())?, destination)
            }
            Searched::Listed(puzzle) => {
                refuse_in_lists(running.numbered(), &puzzle)?;
                let search =
                    bfs::list_search(puzzle, depth, &Ahead::default(), &running.resources)?;
                let search = search.keep_last(kept);
                let destination = self.output.reserve()?;
                (search.run_with(&SearchProgress::new())?, destination)
            }
        };
        if let Some(seed) = seed {
            let all = outcome.counts.last().copied().unwrap_or(0);
            if all > MOST_CHOSEN as u64 {
                refuse!(
                    "depth {} has {} states, and --limit with a seed chooses among at most {}: choose \
                     another --depth, or leave out the seed",
                    outcome.counts.len() - 1,
                    thousands(all),
                    thousands(MOST_CHOSEN as u64)
                );
            }
            outcome.last.choose(limit, seed);
        }
        let columns = match outcome.space().map(StateSpace::noun) {
            Some("board") => "board,state_id,line,cell,puzzle",
            Some(_) => "state,state_id,line,cell,puzzle",
            None => "state,puzzle",
        };
        destination.write(columns, &DepthStates::of(outcome, depth))
    }
}

impl DepthStates {
    /// The states at a depth, or at the last one. Beyond the last one there is nothing.
    fn of(outcome: Outcome, depth: Option<usize>) -> DepthStates {
        let deepest = outcome.counts.len() - 1;
        let depth = depth.unwrap_or(deepest);
        let most = if depth > deepest { 0 } else { usize::MAX };
        let numbers = outcome.space().map(|space| {
            let numbers = |&state: &State| [space.id(state), state.line, state.cell as u64];
            outcome.last.numbered().iter().take(most).map(numbers).collect()
        });
        DepthStates { depth, states: outcome.last_texts(most), numbers, outcome }
    }

    fn count(&self) -> u64 {
        self.outcome.counts.get(self.depth).copied().unwrap_or(0)
    }

    fn noun(&self) -> &'static str {
        self.outcome.space().map_or("state", StateSpace::noun)
    }

    /// A line for each state, with its numbers.
    fn lines(&self, line: impl Fn(&str, Option<[String; 3]>) -> String) -> String {
        let numbers =
            |i: usize| Some(self.numbers.as_ref()?[i].map(|number: u64| number.to_string()));
        self.states.iter().enumerate().map(|(i, state)| line(state, numbers(i))).collect()
    }
}

impl Figures for DepthStates {
    fn figures(&self) -> Value {
        let rows = self.numbers.as_ref();
        let column = |i: usize| rows.map(|all| all.iter().map(|row| row[i]).collect::<Value>());
        let more = json!({
            "depth": self.depth,
            "count": self.count(),
            "states": self.states,
            "state_ids": column(0),
            "lines": column(1),
            "cells": column(2),
        });
        with_more(subject(&self.outcome.searched, OutputFormat::Json), more)
    }

    fn csv(&self) -> Option<String> {
        let of = csv_field(&described(&self.outcome.searched));
        Some(self.lines(|state, numbers| {
            let fields = numbers.map_or(String::new(), |all| format!(",{}", all.join(",")));
            format!("{}{fields},{of}\n", csv_field(state))
        }))
    }

    fn words(&self) -> String {
        let (name, depth, noun) = (described(&self.outcome.searched), self.depth, self.noun());
        let deepest = self.outcome.counts.len() - 1;
        if depth > deepest {
            return format!("# {name}: no states at depth {depth}; the last depth is {deepest}\n");
        }
        // Lines of states can be read again: what else there is are comments.
        let width = self.states.iter().map(String::len).max().unwrap_or(0).max(noun.len() + 2);
        let line = |state: &str, numbers: Option<[String; 3]>| match numbers {
            Some([id, line, cell]) => {
                format!("{state:width$}  #{id:>15}  {line:>14}  {cell:>4}\n")
            }
            None => format!("{state}\n"),
        };
        let titles = self.numbers.as_ref().map_or(String::new(), |_| {
            let noun = format!("# {noun}");
            format!("{noun:width$}   {:>15}  {:>14}  {:>4}\n", "state id", "line", "cell")
        });
        let lines = titles + &self.lines(line);
        let diameter = if self.outcome.complete { ", the last depth" } else { "" };
        let more = match self.count() - self.states.len() as u64 {
            0 => String::new(),
            more => format!("# {} more; raise --limit to see them\n", thousands(more)),
        };
        format!(
            "# {name}: {} at depth {depth}{diameter}\n{lines}{more}",
            counted(self.count(), noun)
        )
    }
}

// `tilewave puzzles`: the families of puzzles.

/// List the built-in puzzles with their parameters, numbers of states and memory needs.
#[derive(clap::Args)]
#[command(after_help = "Examples: tilewave puzzles\n          tilewave bfs topspin:12,4")]
pub struct PuzzlesArgs {
    #[command(flatten)]
    format: FormatOption,
}

impl PuzzlesArgs {
    pub fn run(&self) -> Result<()> {
        const COLUMNS: &str =
            "family,parameters,states,example,example_states,memory_bytes,description";
        let destination = self.format.stdout();
        let (mut families, mut named) = (Vec::new(), Vec::new());
        let (mut csv, mut words) = (String::new(), String::new());
        for family in families::ALL {
            let Family { name, parameters, states, example, description, .. } = *family;
            // What a search of the example takes.
            let plan = search::plan(&StateSpace::of_puzzle(families::parse(example)?), None)?;
            let figures = json!({
                "family": name,
                "parameters": parameters,
                "states": states,
                "example": example,
                "example_states": plan.states,
                "memory_bytes": plan.array_bytes,
                "description": description,
            });
            csv += &csv_line(COLUMNS, &figures);
            families.push(figures);
            words += &format!(
                "{:<20}{description}\n{:20}{states} states; {example}: {} states, {} of memory\n",
                format!("{name}:{parameters}"),
                "",
                thousands(plan.states),
                bytes(plan.array_bytes),
            );
        }
        words += "\nNamed puzzles, with their sets of pieces (positions/orientations):\n";
        for &NamedPuzzle { name, description } in &named::NAMED {
            let turns = named::parse(name).expect("a puzzle of the list");
            let puzzle = turns.counting(Turns::Powers).expect("few moves");
            let sets: Vec<String> = puzzle.sets().iter().map(ToString::to_string).collect();
            let states = puzzle.states().map(|states| states.to_string());
            let (moves, shown) = (puzzle.moves().len(), states.as_deref().unwrap_or("unknown"));
            words +=
                &format!("{name:<20}{description}\n{:20}{}, {moves} moves\n", "", sets.join(" "));
            words += &format!("{:20}{} states\n", "", grouped(shown));
            named.push(json!({
                "name": name,
                "sets": sets,
                "moves": moves,
                "states": states,
                "description": description,
            }));
        }
        words += "\nAny graph: graph:0-1,1-2,2-3,3-0 (tiles slide along these edges; solved, vertex 0 \
                  is free)\n";
        let figures = json!({"families": families, "named": named});
        destination.write(COLUMNS, &Reply { figures, words, csv: Some(csv) })
    }
}

// `tilewave puzzle`: a puzzle, with all that was asked for, as a file.

/// Describe a puzzle; with -o, write it to a file that every command reads.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave puzzle skewb\n  tilewave puzzle 3x3x3 --pieces edges:1-4 -o \
                  cross.puzzle\n  tilewave bfs cross.puzzle"
)]
pub struct PuzzleArgs {
    #[command(flatten)]
    of: PuzzleOptions,

    /// File to write, whose name must end in .puzzle.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace an existing file.
    #[arg(short, long)]
    force: bool,

    #[command(flatten)]
    report: FormatOption,
}

impl PuzzleArgs {
    pub fn run(&self) -> Result<()> {
        if let Some(file) = self
            .output
            .as_ref()
            .filter(|file| !file.to_string_lossy().ends_with(PuzzleSpec::FILE_ENDING))
        {
            refuse!(
                "'{}' must end in .puzzle: other commands know such files by it",
                file.display()
            );
        }
        let file = self.output.as_ref().map(|file| OutputFile::reserve(file, self.force));
        let file = file.transpose()?;
        let searched = self.of.searched()?;
        let listed = match &searched {
            // A board has one set, of tiles, and moves in four directions.
            _ if searched.size().is_some() => None,
            Searched::Numbered(space) => Puzzle::of_space(space).ok(),
            Searched::Listed(puzzle) => Some(puzzle.clone()),
        };
        let (mut sets, mut moves) = (Vec::new(), String::new());
        if let Some(puzzle) = &listed {
            sets.extend(puzzle.sets().iter().map(ToString::to_string));
            let names: Vec<&str> = puzzle.moves().iter().map(|one| one.name.as_str()).collect();
            moves = format!("{}: {}", names.len(), names.join(" "));
        }
        let states = searched.states().map(|states| states.to_string());
        let search = match &searched {
            Searched::Numbered(space) if space.width() <= Search::MAX_CELLS => {
                "states have numbers"
            }
            _ => "by lists of states",
        };
        let rows = [
            ("puzzle", described(&searched)),
            ("sets", sets.join(" ")),
            ("moves", moves),
            ("states", states.as_deref().map_or("unknown".into(), grouped)),
            ("search", search.into()),
        ];
        let figures = with_more(identity(&searched), json!({"sets": sets, "states": states}));
        if let Some(file) = file {
            file.write(searched.to_file().as_bytes())?;
        }
        let destination = self.report.stdout();
        destination.write("puzzle,states", &Reply { figures, words: facts(8, rows), csv: None })
    }
}
