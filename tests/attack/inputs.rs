//! Command lines and boards that nobody should type: one clear line and exit code 2 or 1, and no file comes or goes.

use super::program::{room, run_with, tilewave};
use super::report::{Dice, Plan, Report, Verdict};
use super::runs;

/// Command lines that are right, in a folder that has `run`, `a.pdb` and `a.table`.
const LINES: [&str; 26] = [
    "bfs 2x4",
    "bfs 3x3 --format json --max-depth 5",
    "bfs 2x4 --goal first --start 1,0,2,3/4,5,6,7 -j 2",
    "bfs 2x4 --dir run --shared-digits 1 --commit-every 0",
    "bfs 2x4 -M 1MiB --engine reference",
    "resume run --max-depth 9",
    "info run --format jsonl",
    "puzzle 2x2x2 -o new.puzzle",
    "check run",
    "levels 2x4 --goal blank=3",
    "plan 4x4 --format json",
    "state 1,2,3/4,5,6/7,8,0 --goal first",
    "state 3x3 --id 77",
    "state 3x3 --id 47",
    "check a.table",
    "state --table a.table 1,2,3/4,5,6/7,0,8",
    "pdb build 3x3 --pattern 1,2,3 -o new.pdb",
    "info a.pdb",
    "pdb probe 1,2,3/4,5,6/7,0,8 --pdb a.pdb",
    "check a.pdb --samples 5 --seed 3",
    "pdb export a.pdb --layout positions -o new.bin",
    "solve 8,6,7/2,5,4/3,0,1 --no-cache --max-nodes 1000 --timeout 5",
    "solve --table a.table 1,2,3/4,5,6/7,0,8 --moves blank",
    "solve --fast 8,6,7/2,5,4/3,0,1",
    "scramble 3x3 --count 3 --seed 5",
    "encode 1,2,3/4,5,6/7,0,8 --max-moves 3 --cnf new.cnf",
];

const WORDS: [&str; 64] = [
    "",
    " ",
    "-",
    "--",
    "---",
    "-1",
    "0",
    "1",
    "-0",
    "00",
    "1e9",
    "NaN",
    "inf",
    "18446744073709551616",
    "99999999999999999999999",
    "9223372036854775807",
    "4294967296",
    "0.5",
    "1.5GiB",
    "8G",
    "0B",
    "-5MB",
    "5Gb/s",
    "99999999999EiB",
    "1x1",
    "0x0",
    "2x2",
    "1x9",
    "3x",
    "x3",
    "3x3x3",
    "3*3",
    "65536x65536",
    "100x100",
    "2x-3",
    "4294967297x2",
    "\u{1b}[31mred",
    "a\nb",
    "a\tb",
    "\u{feff}2x4",
    "ü",
    "\u{202e}abc",
    "💥",
    "/",
    ".",
    "..",
    "/dev/null",
    "/dev/full",
    "/nonexistent/x",
    "run",
    "a.pdb",
    "a.table",
    "run/manifest",
    "manifest",
    "1,2,3/4,5,6/7,8,8",
    "1,2,3/4,5,6/7,8,9",
    "1,2,3/4,5/6,7,8,0",
    "0,0,0/0,0,0/0,0,0",
    "1,2,3,4,5,6,7,8",
    "last",
    "blank=99",
    "blank=-1",
    "%s%n",
    "$(id)",
];

/// A line with something wrong in it.
fn mutated(dice: &mut Dice) -> (Vec<String>, String) {
    let mut args: Vec<String> = dice.pick(&LINES).split(' ').map(str::to_owned).collect();
    let mut input = String::from("1,2,3/4,5,6/7,0,8\n");
    for _ in 0..1 + dice.below(2) {
        let at = 1 + dice.below(args.len() - 1);
        let word = (*dice.pick(&WORDS)).to_owned();
        match dice.below(8) {
            0..=2 => args[at] = word,
            3 => args.insert(at, word),
            4 if args.len() > 2 => drop(args.remove(at)),
            5 => {
                let twice = args[at].clone();
                args.insert(at, twice);
            }
            6 => {
                // One letter of one word.
                let mut letters: Vec<char> = args[at].chars().collect();
                let k = dice.below(letters.len());
                if k < letters.len() {
                    letters[k] = *dice.pick(&['0', '9', '-', 'x', ',', '/', ' ', '.', '=', 'Z']);
                }
                args[at] = letters.into_iter().collect();
            }
            _ => {
                let other: Vec<&str> = dice.pick(&LINES).split(' ').collect();
                args[at] = other[1 + dice.below(other.len() - 1)].to_owned();
            }
        }
    }
    if dice.one_in(4) {
        input = (*dice.pick(&WORDS)).repeat(1 + dice.below(3)) + "\n";
    }
    // Searches that are right but take minutes are not the point.
    for arg in &mut args {
        if matches!(arg.as_str(), "4x4" | "3x4" | "2x6" | "2x7" | "3x5") {
            "2x4".clone_into(arg);
        }
    }
    args.retain(|a| !a.contains('\0'));
    (args, input)
}

pub fn lines(plan: &Plan) -> Report {
    let files = {
        let home = room();
        let make = |line: &str| {
            let done =
                super::program::run(tilewave(line.split(' ')).arg("-q").current_dir(home.path()));
            assert!(done.ok(), "{done:?}");
        };
        make("bfs 2x4 --dir run --shared-digits 1 --commit-every 0 --max-depth 12");
        make("pdb build 3x3 --pattern 1,2,3 -o a.pdb");
        make("table 3x3 -o a.table");
        std::fs::write(home.path().join("notes.txt"), "the user's").unwrap();
        runs::snapshot(home.path())
    };
    plan.run(|_, dice| {
        let (args, input) = mutated(dice);
        let home = room();
        runs::restore(&files, home.path());
        let mut command = tilewave(&args);
        let done = run_with(command.current_dir(home.path()), &input);
        let after = runs::snapshot(home.path());
        let forced = args.iter().any(|a| a.starts_with("--force") || a == "-f");
        let gone = files
            .iter()
            .filter(|(path, _)| !path.starts_with("run"))
            .find(|(path, bytes)| !forced && after.get(*path) != Some(bytes));
        let first = done.err.lines().find(|l| l.starts_with("error:")).unwrap_or("").to_owned();
        let raw =
            done.err.chars().chain(done.out.chars()).any(|c| c == '\u{1b}' || c == '\u{202e}');
        let paths = match args.first().map_or("", String::as_str) {
            "info" | "check" => args.len() - 1,
            _ => 1,
        };
        let verdict = if let Some((path, _)) = gone {
            Verdict::Removed(path.display().to_string())
        } else if let Some(ugly) = done.bad_manners_of(paths) {
            Verdict::Ugly(ugly)
        } else if raw {
            Verdict::Ugly(format!("echoes control characters: {first:?}"))
        } else if done.ok() {
            Verdict::Harmless
        } else if !first.is_empty() && first.len() < 12 {
            Verdict::Ugly(format!("says nothing: {first}"))
        } else if done.code == Some(1) && after.len() > files.len() + 40 {
            Verdict::Ugly("leaves files".into())
        } else {
            Verdict::Detected
        };
        ("bad input".into(), format!("{args:?}"), verdict)
    })
}
