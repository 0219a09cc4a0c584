//! The exported models, read back and handed to real solvers.
//!
//! `tools/setup solvers` installs the integer-programming solvers from Debian. Without them the test
//! says so on stderr and passes.

use std::io::Write;
use std::process::Command;

use tilewave::puzzle::{Board, Direction, Moves};
use tilewave::solve::models::{Cnf, IntegerProgram, Question, decode};

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
        assert!(clause.iter().all(|l| (1..=most).contains(&l.unsigned_abs())));
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
    cnf.clauses().iter().all(|clause| clause.iter().any(literal))
}

#[test]
fn steps_have_the_parity_of_the_solutions() {
    for (moves, steps) in [(0, 0), (1, 1), (2, 1), (3, 3), (10, 9), (11, 11)] {
        assert_eq!(question(NEOS, moves).steps(), steps);
    }
}

/// Solvers: the program, the extension of what it reads, and its arguments.
const SOLVERS: [(&str, &str, &str); 7] = [
    ("cbc", "lp", "MODEL solve solu ANSWER"),
    ("cbc", "mps", "MODEL solve solu ANSWER"),
    ("glpsol", "lp", "--lp MODEL --cuts -o ANSWER"),
    ("glpsol", "mps", "--mps MODEL --cuts -o ANSWER"),
    ("glpsol", "mps", "--freemps MODEL --cuts -o ANSWER"),
    ("cadical", "cnf", "-q -w ANSWER MODEL"),
    ("minisat", "cnf", "-verb=0 MODEL ANSWER"),
];

/// Board to model to solver to moves and back, and no moves where none are enough.
#[test]
fn answers_of_solvers_become_moves_that_solve_the_board() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_string();
    let (start, last) = (board(NEOS), goal("last", board(NEOS).size()));
    for (number, (name, extension, arguments)) in SOLVERS.into_iter().enumerate() {
        for (moves, solvable) in [(12, true), (10, false)] {
            let (question, mut text) = (question(NEOS, moves), Vec::new());
            match extension {
                "cnf" => Cnf::new(question).write_dimacs(&mut text),
                "lp" => IntegerProgram::new(question).write_lp(&mut text),
                _ => IntegerProgram::new(question).write_mps(&mut text),
            }
            .unwrap();
            let model = path(&format!("{number}-{moves}.{extension}"));
            let answer = path(&format!("{number}-{moves}.answer"));
            std::fs::write(&model, &text).unwrap();
            let words = arguments.split(' ').map(|word| match word {
                "MODEL" => model.as_str(),
                "ANSWER" => answer.as_str(),
                word => word,
            });
            let run = Command::new(name).args(words).output();
            if run.is_err() {
                // Past the capture of the test's output: nobody should believe that this was tested.
                let note = format!("SKIPPED: {name} is not installed, run tools/setup solvers\n");
                std::io::stderr().write_all(note.as_bytes()).unwrap();
                assert!(std::env::var_os("TILEWAVE_REQUIRE_ALL").is_none(), "{note}");
                break;
            }
            let text = std::fs::read_to_string(&answer).unwrap_or_default();
            match decode(&start, &last, &text) {
                Ok(moves) => {
                    assert!(solvable, "{name}: {moves}");
                    assert_eq!((moves.len(), moves.apply(&start).unwrap()), (11, last.clone()));
                }
                Err(error) => assert!(!solvable, "{name} {extension}: {error}"),
            }
        }
    }
}

/// What the files of other solvers look like that are not in every distribution.
#[test]
fn answers_in_other_formats_are_read() {
    let (start, last) =
        (board("1 2 3/4 5 6/0 7 8"), goal("last", board("1 2 3/4 5 6/0 7 8").size()));
    for answer in [
        "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 2\n# Columns 30\nx_0 1\nu_0 0\nl_0 1\nl_1 0.9999999\nz_0_0 1\n# Rows 9\nway_0 0\n",
        "solution status: optimal solution found\nobjective value: 2\nl_0                  1 \t(obj:0)\nl_1     1   (obj:0)\n",
        "# Objective value = 2\nu_0 0\nl_0 1\nr_1 0\nl_1 1\n",
        "<CPLEXSolution>\n <variable name=\"l_0\" index=\"7\" value=\"1\"/>\n <variable name=\"u_1\" index=\"8\" value=\"0\"/>\n <variable name=\"l_1\" index=\"9\" value=\"1\"/>\n",
    ] {
        assert_eq!(decode(&start, &last, answer).unwrap().to_string(), "L2", "{answer}");
    }
    for (answer, why) in [
        ("s UNSATISFIABLE\n", "there is none as short"),
        ("UNSAT\n", "there is none as short"),
        ("Infeasible - objective value 0\n", "there is none as short"),
        ("l_0 1\nu_1 1\n", "do not lead"),
        ("v 1 -2 3 0\n", "variables of a formula"),
        ("hello\n", "does not say which moves"),
        ("", "does not say which moves"),
    ] {
        let error = decode(&start, &last, answer).unwrap_err().to_string();
        assert!(error.contains(why), "{answer}: {error}");
    }
}

/// One convention: a tile goes left from the board to the goal, and the letters of all files say so.
#[test]
fn letters_of_all_models_say_where_the_tile_goes() {
    let question = question("1 2 3/4 5 6/7 0 8", 1);
    let (start, last) = (question.board().clone(), question.goal().clone());
    let mut text = Vec::new();
    IntegerProgram::new(question).write_lp(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    // The blank's column grows by one when a tile goes left.
    assert!(text.contains(" col_0: + x_1 - x_0 - l_0 + r_0 = 0\n"), "{text}");
    assert_eq!(decode(&start, &last, "l_0 1\n").unwrap().to_string(), "L");
}
