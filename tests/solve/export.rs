//! The exported models, read back and handed to real solvers.
//!
//! `tools/solvers-setup` installs the integer-programming solvers from Debian. Without them the test
//! says so on stderr and passes.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use tilewave::puzzle::tiles::{Board, Direction, Moves};
use tilewave::solve::export::{Cnf, Question, write_lp};

use super::{board, goal};

const NEOS: &str = "5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12";

fn question(text: &str, moves: usize) -> Question {
    let board = board(text);
    let goal = goal("last", board.size());
    Question::new(board, goal, moves).unwrap()
}

#[test]
fn dimacs_holds_what_its_header_says() {
    let cnf = Cnf::new(question("1 2 3/0 4 6/7 5 8", 4));
    let mut text = Vec::new();
    cnf.write_dimacs(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let header = format!("p cnf {} {}", cnf.variables(), cnf.clauses().len());
    assert!(text.lines().any(|line| line == header), "{header}");
    let clauses = text.lines().filter(|l| !l.starts_with(['c', 'p']));
    let mut count = 0;
    for (line, clause) in clauses.zip(cnf.clauses()) {
        let numbers: Vec<i32> = line.split(' ').map(|n| n.parse().unwrap()).collect();
        assert_eq!(numbers.split_last().unwrap(), (&0, &clause[..]));
        let most = cnf.variables() as u32;
        assert!(
            clause
                .iter()
                .all(|l| (1..=most).contains(&l.unsigned_abs()))
        );
        count += 1;
    }
    assert_eq!(count, cnf.clauses().len());
}

/// The formula of a small question, all sequences of moves tried: satisfied exactly by the solutions.
#[test]
fn a_formula_is_satisfied_by_solutions_only() {
    let start = board("1 2/0 3");
    let cnf = Cnf::new(question("1 2/0 3", 1));
    assert_eq!(cnf.question().steps(), 1);
    for direction in Direction::ALL {
        let moves = Moves(vec![direction]);
        let solves = moves.apply(&start) == Ok(board("1 2/3 0"));
        assert_eq!(satisfied(&cnf, &start, &moves), solves, "{moves}");
    }
}

/// Whether the assignment that a sequence of moves stands for satisfies the formula.
fn satisfied(cnf: &Cnf, start: &Board, moves: &Moves) -> bool {
    let cells = start.tiles().len();
    let steps = moves.len();
    let mut holds = vec![false; cnf.variables() + 1];
    for time in 0..=steps {
        let Ok(board) = Moves(moves.0[..time].to_vec()).apply(start) else {
            return false;
        };
        for (cell, &tile) in board.tiles().iter().enumerate() {
            holds[1 + time * cells * cells + usize::from(tile) * cells + cell] = true;
        }
    }
    for (time, direction) in moves.0.iter().enumerate() {
        let d = Direction::ALL.iter().position(|d| d == direction).unwrap();
        holds[1 + (steps + 1) * cells * cells + 5 * time + d] = true;
    }
    let literal = |&l: &i32| holds[l.unsigned_abs() as usize] == (l > 0);
    cnf.clauses()
        .iter()
        .all(|clause| clause.iter().any(literal))
}

#[test]
fn steps_have_the_parity_of_the_solutions() {
    for (moves, steps) in [(0, 0), (1, 1), (2, 1), (3, 3), (10, 9), (11, 11)] {
        assert_eq!(question(NEOS, moves).steps(), steps);
    }
}

/// Runs CBC; returns the status line and the values that are not zero.
fn cbc(model: &Path, solution: &Path) -> Option<(String, HashMap<String, f64>)> {
    let run = Command::new("cbc")
        .arg(model)
        .args(["solve", "solu"])
        .arg(solution)
        .output();
    run.ok()?;
    let text = std::fs::read_to_string(solution).unwrap();
    let values = text.lines().skip(1).filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().filter(|&w| w != "**").collect();
        Some((words.get(1)?.to_string(), words.get(2)?.parse().ok()?))
    });
    Some((text.lines().next()?.to_string(), values.collect()))
}

/// Runs GLPK; returns the status line and the values that are not zero.
fn glpk(model: &Path, solution: &Path) -> Option<(String, HashMap<String, f64>)> {
    let run = Command::new("glpsol")
        .arg("--lp")
        .arg(model)
        .args(["--cuts", "-o"])
        .arg(solution)
        .output();
    run.ok()?;
    let text = std::fs::read_to_string(solution).unwrap();
    let status = text.lines().find(|line| line.starts_with("Status:"))?;
    let values = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let starred = words.get(2) == Some(&"*");
        starred.then(|| Some((words[1].to_string(), words.get(3)?.parse().ok()?)))?
    });
    Some((status.to_string(), values.collect()))
}

/// The solution in the values of the variables u, d, l and r, which say where the blank goes.
fn decoded(values: &HashMap<String, f64>, steps: usize) -> Moves {
    let ways = [
        ("u", Direction::Up),
        ("d", Direction::Down),
        ("l", Direction::Left),
        ("r", Direction::Right),
    ];
    let taken = |t: usize| {
        let chosen = |(name, _): &&(&str, Direction)| {
            values.get(&format!("{name}_{t}")).is_some_and(|&v| v > 0.5)
        };
        ways.iter().find(chosen).map(|(_, blank)| blank.opposite())
    };
    Moves((0..steps).filter_map(taken).collect())
}

#[test]
fn integer_programming_solvers_solve_the_neos_board() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, question: &Question| {
        let path = directory.path().join(name);
        let mut file = std::fs::File::create(&path).unwrap();
        write_lp(question, &mut file).unwrap();
        path
    };
    let solvable = question(NEOS, 11);
    let (model, short) = (
        write("neos.lp", &solvable),
        write("short.lp", &question(NEOS, 10)),
    );
    let output = directory.path().join("solution");
    for (name, solve) in [("CBC", cbc as fn(&Path, &Path) -> _), ("GLPK", glpk)] {
        let Some((status, values)) = solve(&model, &output) else {
            // Past the capture of the test's output: nobody should believe that this was tested.
            let note = format!("SKIPPED: {name} is not installed, run tools/solvers-setup\n");
            std::io::stderr().write_all(note.as_bytes()).unwrap();
            continue;
        };
        assert!(
            status.to_lowercase().contains("optimal"),
            "{name}: {status}"
        );
        let moves = decoded(&values, solvable.steps());
        assert_eq!(moves.len(), 11, "{name}: {moves}");
        assert_eq!(
            &moves.apply(solvable.board()).unwrap(),
            solvable.goal(),
            "{name}"
        );
        let (status, _) = solve(&short, &output).expect("the solver ran a moment ago");
        assert!(
            !status.to_lowercase().contains("optimal"),
            "{name}, 10 moves: {status}"
        );
    }
}
