//! From a solver's answer back to moves.
//!
//! Invariant: moves that are returned have been played on the board and end at the goal.

use std::collections::HashMap;

use super::cnf::Cnf;
use super::question::Question;
use crate::puzzle::tiles::{Board, Direction, Moves};
use crate::solve::SolveError;

/// Returns the moves that a solver's answer to a question stands for.
///
/// It reads what SAT solvers print (`v` lines, or MiniSat's file) for [`Cnf`], and for [`super::Program`] any
/// list of names and values: the files of HiGHS, CBC, GLPK (`-o`), SCIP, Gurobi and CPLEX. The number of steps
/// is found in the model.
///
/// ```
/// use tilewave::puzzle::tiles::{Board, Goal};
/// use tilewave::solve::export::decode;
///
/// let board = Board::parse("1 2 3/4 5 6/7 0 8", None)?;
/// let goal = Goal::Last.board(board.size())?;
/// assert_eq!(decode(&board, &goal, "Optimal\n 7 l_0  1  0\n")?.to_string(), "L");
/// # Ok::<(), tilewave::Error>(())
/// ```
///
/// # Errors
/// [`SolveError::NoModel`] when the answer is that there is no solution, or is none at all, or is none of
/// this board.
pub fn decode(board: &Board, goal: &Board, answer: &str) -> Result<Moves, SolveError> {
    let refuse = |reason: String| SolveError::NoModel { reason };
    let status = (0..).zip(answer.lines());
    let mut status = status.filter(|(i, line)| *i < 8 || line.starts_with("s "));
    let negative = ["unsat", "infeasible", "integer empty", "integer undefined"];
    if status.any(|(_, line)| {
        negative
            .iter()
            .any(|word| line.to_ascii_lowercase().contains(word))
    }) {
        return Err(refuse("it says that there is no solution".into()));
    }
    let literals = literals(answer);
    let moves = if literals.is_empty() {
        of_values(answer)
    } else {
        of_literals(board, goal, &literals)
            .ok_or_else(|| refuse("it has not the variables of a formula of this board".into()))?
    };
    match moves.apply(board) {
        Ok(end) if end == *goal => Ok(moves),
        _ if moves.is_empty() => Err(refuse("it says of no move whether it is made".into())),
        _ => Err(refuse(format!(
            "its moves {moves} do not lead from the board to the goal: name the board and the goal of the export"
        ))),
    }
}

/// The literals of a model in the words of SAT solvers, none in any other language.
fn literals(answer: &str) -> Vec<i32> {
    let lines = || answer.lines().map(str::trim);
    let marked = lines().any(|line| line.starts_with("v "));
    let mut literals = Vec::new();
    for line in lines() {
        let numbers = match line.strip_prefix("v ") {
            Some(numbers) => numbers,
            None if marked || line == "SAT" || line.starts_with(['c', 's']) => continue,
            None => line,
        };
        for word in numbers.split_whitespace() {
            match word.parse() {
                Ok(0) => {}
                Ok(literal) => literals.push(literal),
                Err(_) => return Vec::new(),
            }
        }
    }
    literals
}

/// The moves of a formula's model: its variables tell the number of steps.
fn of_literals(board: &Board, goal: &Board, literals: &[i32]) -> Option<Moves> {
    let variables = literals.iter().map(|l| l.unsigned_abs() as usize).max()?;
    let square = board.size().cells().pow(2);
    let steps = variables.checked_sub(square)? / (square + 5);
    let question = Question::new(board.clone(), goal.clone(), steps).ok()?;
    if question.steps() != steps || Cnf::variables_of(&question) != variables {
        return None;
    }
    let holds: std::collections::HashSet<i32> = literals.iter().copied().collect();
    Some(Cnf::decode_of(&question, |variable| {
        holds.contains(&variable)
    }))
}

/// The moves of an integer program's solution: the variables u, d, l and r that are 1.
fn of_values(answer: &str) -> Moves {
    let mut taken: HashMap<usize, (Direction, f64)> = HashMap::new();
    for line in answer.lines() {
        // CPLEX and others: <variable name="u_0" index="5" value="1"/>.
        let (line, marked) = match line.split_once("value=") {
            Some((_, value)) => (line, value.split('"').nth(1)),
            None => (line, None),
        };
        let mut words = line.split(|c: char| c.is_whitespace() || c == '"');
        let Some((direction, step)) = words.find_map(way) else {
            continue;
        };
        let mut numbers = words.filter_map(|word| word.parse().ok());
        let value = marked.and_then(|value| value.parse().ok());
        let Some(value) = value.or_else(|| numbers.next()) else {
            continue;
        };
        if value > 0.5 {
            taken.entry(step).or_insert((direction, value));
        }
    }
    let mut taken: Vec<(usize, Direction)> = taken.into_iter().map(|(t, (d, _))| (t, d)).collect();
    taken.sort_unstable();
    Moves(taken.into_iter().map(|(_, direction)| direction).collect())
}

/// The direction and the step that a name stands for.
fn way(name: &str) -> Option<(Direction, usize)> {
    let (letter, step) = name.split_once('_')?;
    let is =
        |d: &Direction| letter.len() == 1 && letter.starts_with(d.letter().to_ascii_lowercase());
    Some((Direction::ALL.into_iter().find(is)?, step.parse().ok()?))
}
