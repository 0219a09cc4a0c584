//! `tilewave table` and `encode`: what other commands and other programs read, made from a puzzle.
//!
//! A table has the depth of every state of a puzzle in a file; `info` shows what is in it, too. An encoding is a board as a
//! question to another solver, whose answer it decodes.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use serde_json::json;
use tilewave::{
    Board, Constructive, DistanceTable, Search, internals,
    progress::StopWhen,
    pruning::PruningTable,
    puzzle::{MoveStyle, Puzzle, Searched, StateSpace},
    report::{bytes, counted, csv_field, described, duration, histogram, identity, thousands},
    solve::models::{Cnf, IntegerProgram, Question, decode},
    table::TableEncoding,
};

use crate::{
    AnyReply, Destination, FormatOption, GoalOption, OutputFile, OutputFormat, PuzzleOptions,
    Reply, ResourceOptions, Result, SearchProgress, choice, count, facts, first_given, print,
    progress, read_input, refuse, subject, with_more,
};

// `tilewave table`.

/// Build a distance table for a puzzle, or for some of its pieces.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave table 3x4 -o 3x4.table\n  tilewave state --table 3x4.table '1 2 3 4/5 6 7 8/9 0 10 11'\n  \
                  tilewave table topspin:10,4 -o ts.table\n  tilewave solve --table ts.table '2 1 3 4 5 6 7 8 9 10'\n  \
                  tilewave table 3x3x3 --pieces edges:1-6 -o edges.table"
)]
pub struct TableArgs {
    /// Table file to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    #[command(flatten)]
    of: PuzzleOptions,

    /// How depths are stored [default: nibble if pieces turn, look alike or form several sets, otherwise mod3].
    #[arg(long, value_parser = choice(TableEncoding::NAMES))]
    encoding: Option<TableEncoding>,

    /// Keep one entry per class of symmetric states: a smaller table, but slower lookups.
    ///
    /// This works only for puzzles whose pieces turn, look alike or form several sets. The number of entries is reduced
    /// by a factor that is nearly the number of symmetries.
    #[arg(long)]
    up_to_symmetry: bool,

    /// Build the table directly in its file, for tables larger than memory.
    ///
    /// This works only for puzzles whose pieces turn, look alike or form several sets, and needs a fast disk. The file
    /// appears only once the table is complete.
    #[arg(long)]
    on_disk: bool,

    /// Replace an existing file.
    #[arg(short, long)]
    force: bool,

    #[command(flatten)]
    report: FormatOption,

    #[command(flatten)]
    resources: ResourceOptions,
}

/// A table of numbered states, or of a puzzle of several sets of pieces.
// There is one of them at a time.
#[expect(clippy::large_enum_variant)]
pub enum Table {
    Numbered(DistanceTable),
    Pruning(PruningTable),
}

impl TableArgs {
    pub fn run(&self) -> Result<()> {
        let (begun, file) = (Instant::now(), &self.output);
        let searched = self.of.searched()?;
        // Refuse before any work what could not be kept.
        OutputFile::reserve(file, self.force)?;
        let table = match searched {
            Searched::Numbered(space) => Table::Numbered(self.numbered(space)?),
            Searched::Listed(puzzle) => Table::Pruning(self.listed(&puzzle)?),
        };
        let (columns, reply) = table.reply(Some((file, begun.elapsed().as_secs_f64())));
        Destination::beside(file, self.report.format).write(columns, &reply)
    }

    /// Searches a puzzle and writes its table.
    fn listed(&self, puzzle: &Puzzle) -> Result<PruningTable> {
        let (file, force, symmetric) = (&self.output, self.force, self.up_to_symmetry);
        let (resources, progress) = (self.resources.get()?, SearchProgress::new());
        let size = self.encoding.unwrap_or(TableEncoding::Nibble);
        if self.on_disk {
            let (kind, to) = ((size, symmetric), (file.as_path(), force));
            return Ok(PruningTable::build_on_disk(puzzle, kind, to, resources, &progress)?);
        }
        let table = PruningTable::build_with(puzzle, (size, symmetric), resources, &progress)?;
        table.save_with(file, force, &StopWhen(progress::asked))?;
        Ok(table)
    }

    /// Searches numbered states and writes their table.
    fn numbered(&self, space: StateSpace) -> Result<DistanceTable> {
        let (resources, progress) = (self.resources.get()?, SearchProgress::new());
        let wrong = [(self.up_to_symmetry, "--up-to-symmetry"), (self.on_disk, "--on-disk")];
        if let Some(option) = first_given(&wrong) {
            refuse!(
                "{option} works only for puzzles whose pieces turn, look alike or form several \
                 sets: leave it out"
            );
        }
        let encoding = self.encoding.unwrap_or(TableEncoding::Mod3);
        let search = Search::of(space).resources(resources);
        let table = DistanceTable::build_with(&search, encoding, &progress)?;
        table.save_with(&self.output, self.force, &StopWhen(progress::asked))?;
        Ok(table)
    }
}

impl Table {
    /// What it holds, with the columns of CSV; for one that was built, also its file and the seconds that it took.
    pub fn reply(&self, built: Option<(&Path, f64)>) -> AnyReply {
        let (counts, size, checksum) = match self {
            Table::Numbered(table) => (table.histogram(), table.file_bytes(), table.checksum()),
            Table::Pruning(table) => (table.histogram(), table.file_bytes(), table.checksum()),
        };
        let states: u64 = counts.iter().sum();
        let (searched, goal, encoding, all_entries, symmetries) = match self {
            Table::Numbered(table) => {
                let (space, encoding) = (table.space(), table.encoding().name());
                let searched = Searched::Numbered(space.clone());
                (searched, space.goal_text(), encoding, space.states(), None)
            }
            // Some entries of pruning tables stand for no state, or for symmetric ones.
            Table::Pruning(table) => {
                let (puzzle, encoding) = (table.puzzle(), table.encoding().name());
                let searched = Searched::Listed(puzzle.clone());
                let goal = identity(&searched)["goal"].as_str().unwrap_or_default().to_string();
                let symmetries = Some(table.symmetries()).filter(|&order| order > 1);
                (searched, goal, encoding, Some(table.entries()), symmetries)
            }
        };
        let entries = all_entries.unwrap_or(states);
        let complete = matches!(self, Table::Pruning(_)) || all_entries == Some(states);
        let (last, checksum) = (counts.len() - 1, format!("{checksum:016x}"));
        let name = built.map(|(file, _)| file.display().to_string());
        let mut figures = name.map_or(json!({}), |name| json!({"file": name}));
        // One table is no line among others.
        figures = with_more(figures, subject(&searched, OutputFormat::Json));
        figures = with_more(figures, json!({"encoding": encoding, "entries": entries}));
        if let Some(order) = symmetries {
            figures["symmetries"] = order.into();
        }
        let more = json!({
            "states": states,
            "complete": complete,
            "diameter": complete.then_some(last),
            "histogram": counts,
            "bytes": size,
            "checksum": checksum,
        });
        figures = with_more(figures, more);
        let deepest = format!("{} {last}", if complete { "God's number" } else { "depth" });
        let name = described(&searched);
        // Not twice, and not the long line of a puzzle of many pieces.
        let is_short = |goal: &String| goal.len() <= 60 && !name.contains(goal);
        let goal = Some(goal).filter(is_short).unwrap_or_default();
        let (all, size) = (thousands(states), bytes(size));
        let words = match built {
            Some((file, seconds)) => {
                let more =
                    json!({"seconds": seconds, "peak_memory_bytes": internals::peak_memory()});
                figures = with_more(figures, more);
                let goal = if goal.is_empty() { goal } else { format!("goal {goal}, ") };
                format!(
                    "wrote {}: {name}, {goal}{all} states, {deepest}, {encoding}, {size} in {}\n",
                    file.display(),
                    duration(seconds),
                )
            }
            None => {
                let classes = symmetries.map_or(String::new(), |order| {
                    format!(", one per class of symmetric states ({order} symmetries)")
                });
                let rows = [
                    ("puzzle", name),
                    ("goal", goal),
                    ("encoding", encoding.into()),
                    ("entries", thousands(entries) + &classes),
                    ("states", format!("{all}, {deepest}")),
                    ("bytes", size),
                    ("checksum", checksum),
                ];
                facts(10, rows)
            }
        };
        let words = histogram(counts, states) + &words;
        let of = csv_field(&described(&searched));
        let csv = counts.iter().enumerate().map(|(at, count)| format!("{at},{count},{of}\n"));
        ("depth,states,puzzle", Reply { figures, words, csv: Some(csv.collect()) })
    }
}

// `tilewave encode`.

/// Encode a board as a SAT formula or integer program, or decode a solver's answer.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave encode '5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12' --max-moves \
                  11 --lp neos.lp\n  tilewave encode '1 2 3/4 5 6/0 7 8' --cnf - | cadical | \
                  tilewave encode '1 2 3/4 5 6/0 7 8' --decode -\n\nThe formula asks whether the \
                  board can be solved in at most N moves; the integer program minimises the number \
                  of moves up to N. The letters U, D, L and R in the files are the directions in \
                  which tiles move. The lengths of all solutions of a board have the same parity. \
                  If N has the other parity, the files are for N - 1 moves instead. To prove that \
                  a solution of N moves is optimal, show that the formula for N - 1 moves has no \
                  model: cadical no.cnf proof.drat writes a proof, and drat-trim checks it."
)]
pub struct EncodeArgs {
    /// The board, in quotes: tiles separated by spaces, rows by '/', the blank as 0.
    #[arg(value_parser = |text: &str| Board::parse(text, None))]
    board: Board,

    #[command(flatten)]
    goal: GoalOption,

    /// Maximum number of moves, N [default: the length of a solution found by the fast solver].
    #[arg(long, value_name = "N", value_parser = count::<usize>(), allow_negative_numbers = true)]
    max_moves: Option<usize>,

    /// Write to FILE (- is stdout) a SAT formula in DIMACS CNF, with comments that explain the variables.
    #[arg(long, value_name = "FILE")]
    cnf: Option<PathBuf>,

    /// Write to FILE (- is stdout) an integer program, in CPLEX LP format, that minimises the number of moves.
    #[arg(long, value_name = "FILE")]
    lp: Option<PathBuf>,

    /// Write to FILE (- is stdout) the integer program of --lp in MPS format, for fixed-form and free-form readers.
    #[arg(long, value_name = "FILE")]
    mps: Option<PathBuf>,

    /// Read a solver's answer from MODEL (- is stdin); check and print its moves.
    ///
    /// The answer is a model found by a SAT solver, or a solution file from HiGHS, CBC, GLPK (glpsol -o), SCIP, Gurobi
    /// or CPLEX.
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["cnf", "lp", "mps", "max_moves"])]
    decode: Option<PathBuf>,

    /// Write each move as the direction of the tile or of the blank.
    #[arg(long, value_parser = choice(MoveStyle::NAMES), default_value = "tile", requires = "decode")]
    moves: MoveStyle,

    /// Replace existing files.
    #[arg(short, long)]
    force: bool,
}

impl EncodeArgs {
    pub fn run(&self) -> Result<()> {
        let board = self.board.clone();
        let goal = self.goal.board(board.size())?;
        if let Some(path) = &self.decode {
            return self.decode(path, &board, &goal);
        }
        if self.cnf.is_none() && self.lp.is_none() && self.mps.is_none() {
            refuse!(
                "specify a file to write (--cnf, --lp or --mps FILE; - is stdout) or an answer to \
                 read (--decode MODEL; - is stdin)"
            );
        }
        if self.moves != MoveStyle::default() {
            refuse!("--moves is for the moves that --decode prints: leave it out");
        }
        let moves = match self.max_moves {
            Some(moves) => moves,
            None => Constructive::new(goal.clone()).solve(&board)?.len(),
        };
        let question = Question::new(board, goal, moves)?;
        let steps = question.steps();
        if steps < moves {
            let moves = counted(steps as u64, "move");
            let parity = if steps.is_multiple_of(2) { "even" } else { "odd" };
            tracing::info!(
                "every solution has an {parity} number of moves: the files are for solutions of at \
                 most {moves}"
            );
        }
        let reserve = |path: &Option<PathBuf>| {
            let place = path.as_ref().map(|p| OutputFile::reserve(p, self.force));
            place.transpose()
        };
        let (lp, mps, cnf) = (reserve(&self.lp)?, reserve(&self.mps)?, reserve(&self.cnf)?);
        let mut text = Vec::new();
        if lp.is_some() || mps.is_some() {
            let program = IntegerProgram::new(question.clone());
            if let Some(place) = lp {
                program.write_lp(&mut text)?;
                place.write(&std::mem::take(&mut text))?;
            }
            if let Some(place) = mps {
                program.write_mps(&mut text)?;
                place.write(&std::mem::take(&mut text))?;
            }
        }
        if let Some(place) = cnf {
            let formula = Cnf::new(question);
            let sizes = [formula.variables(), formula.clauses().len()];
            let [variables, clauses] = sizes.map(|size| thousands(size as u64));
            tracing::info!("the formula has {variables} variables and {clauses} clauses");
            formula.write_dimacs(&mut text)?;
            place.write(&text)?;
        }
        Ok(())
    }

    fn decode(&self, path: &Path, board: &Board, goal: &Board) -> Result<()> {
        let moves = decode(board, goal, &read_input(path)?)?;
        let count = counted(moves.len() as u64, "move");
        print(&format!("{board}  {count}  {}\n", moves.short(self.moves)))
    }
}
