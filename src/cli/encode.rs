//! `tilewave encode`: a board as a question to other solvers, and their answers.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use tilewave::{
    Board, Constructive,
    puzzle::MoveStyle,
    report::counted,
    solve::models::{Cnf, IntegerProgram, Question, decode},
};

use crate::cli::{Context, GoalOption, OutputFile, Result, choice, count, print, refuse};

/// Encode "solvable in N moves?" as a SAT formula or integer program, or decode the answer.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tilewave encode '5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12' --max-moves \
                  11 --lp neos.lp\n  tilewave encode '1 2 3/4 5 6/0 7 8' --cnf - | cadical | \
                  tilewave encode '1 2 3/4 5 6/0 7 8' --decode -\n\nThe letters U, D, L and R in \
                  the files are the directions in which tiles move. The lengths of all solutions \
                  of a board have the same parity. If N has the other parity, the files encode the \
                  question for N - 1 moves. To prove that a solution of N moves is optimal, show \
                  that the formula for N - 1 moves has no model: cadical no.cnf proof.drat writes \
                  a proof, and drat-trim checks it."
)]
pub struct Args {
    /// The board, in quotes: tiles separated by spaces, rows by '/', the blank as 0.
    #[arg(value_parser = |text: &str| Board::parse(text, None))]
    board: Board,

    #[command(flatten)]
    goal: GoalOption,

    /// Maximum number of moves, N [default: the length of a solution found by the fast solver].
    #[arg(long, value_name = "N", value_parser = count::<usize>(), allow_negative_numbers = true)]
    max_moves: Option<usize>,

    /// Write a SAT formula in DIMACS CNF, with comments that explain the variables; - is stdout.
    #[arg(long, value_name = "FILE")]
    cnf: Option<PathBuf>,

    /// Write an integer program that minimises the number of moves, in CPLEX LP format; - is stdout.
    #[arg(long, value_name = "FILE")]
    lp: Option<PathBuf>,

    /// Write the same integer program in MPS format, for both fixed-form and free-form readers; - is stdout.
    #[arg(long, value_name = "FILE")]
    mps: Option<PathBuf>,

    /// Read a solver's answer, check its moves and print them. The answer is a model found by a SAT solver, or a
    /// solution file from HiGHS, CBC, GLPK (glpsol -o), SCIP, Gurobi or CPLEX; - is stdin.
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["cnf", "lp", "mps", "max_moves"])]
    decode: Option<PathBuf>,

    /// Write each move as the direction of the tile or of the blank.
    #[arg(long, value_parser = choice(MoveStyle::NAMES), default_value = "tile", requires = "decode")]
    moves: MoveStyle,

    /// Replace existing files.
    #[arg(short, long)]
    force: bool,
}

impl Args {
    pub fn run(&self) -> Result<()> {
        let board = self.board.clone();
        let goal = self.goal.board(board.size())?;
        if let Some(path) = &self.decode {
            return self.decode(path, &board, &goal);
        }
        if self.cnf.is_none() && self.lp.is_none() && self.mps.is_none() {
            refuse!(
                "specify a file to write (--cnf, --lp or --mps FILE; - is stdout) or an answer to \
                 read (--decode FILE)"
            );
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
                "every solution has an {parity} number of moves: encoding at most {moves}"
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
            let (variables, clauses) = (formula.variables(), formula.clauses().len());
            tracing::info!("{variables} variables, {clauses} clauses");
            formula.write_dimacs(&mut text)?;
            place.write(&text)?;
        }
        Ok(())
    }

    fn decode(&self, path: &Path, board: &Board, goal: &Board) -> Result<()> {
        let mut answer = Vec::new();
        let read = match path == Path::new("-") {
            true => std::io::stdin().lock().read_to_end(&mut answer),
            false => std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut answer)),
        };
        read.context(format!("cannot read '{}'", path.display()))?;
        let answer = String::from_utf8_lossy(&answer);
        let moves = decode(board, goal, &answer)?;
        let count = counted(moves.len() as u64, "move");
        print(&format!("{board}  {count}  {}\n", moves.short(self.moves)))
    }
}
