//! Every option of every command has an effect, or is refused.
//!
//! The options are read from the help of the program, so a new one fails here until it has a line in a table. A line
//! has a command, options and two command lines that must not give the same, or one that must be refused. What a
//! command prints, logs and leaves in files is compared, without times, rates and sizes in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rayon::prelude::*;

use super::{commands, stdout};
use crate::program::{room, run, tilewave};
use crate::readme::words;

/// `command: option | command line | what is added to it`, where the results differ; `command: option ! command line !
/// words of the refusal`.
const TABLE: &str = r#"
: version | puzzles | --version
: help | puzzles | --help
: quiet | info a.pdb b.pdb nothing.pdb -v | -q
: quiet | bfs 2x4 --dir new --plot new.svg | -q
: verbose | bfs 2x4 --dir new | -v
: no-progress ! bfs 2x4 --dir new --no-progress=yes ! --no-progress
bfs: count-ahead | bfs small.tws --max-depth 3 --format json | --count-ahead
bfs: no-symmetry | bfs skewb-diamond --max-depth 3 --format json | --no-symmetry
bfs: no-symmetry ! bfs 2x4 --no-symmetry ! --no-symmetry
bfs: from | bfs small.tws | --from goals.txt
bfs: from ! bfs small.tws --from goals.txt --max-depth 2 ! --from
bfs: from ! bfs small.tws small.tws --from goals.txt ! --from
bfs: start | bfs 2x3 | --start "1 2 3/0 4 5"
bfs: start ! bfs small.tws --start A ! --start
bfs: max-depth | bfs 2x3 | --max-depth 2
bfs: max-depth | bfs small.tws | --max-depth 2
bfs: plot | bfs 2x3 | --plot new.svg
bfs: html | bfs 2x3 | --html new.html
bfs: html | bfs small.tws | --html new.html
bfs: plot ! bfs 2x3 2x2 --plot new.svg ! --plot
bfs: html ! bfs 2x3 2x2 --html new.html ! --html
bfs: dir ! bfs 2x3 2x2 --dir new ! --dir
bfs: start ! bfs 2x3 2x2 --start "1 2 3/0 4 5" ! --start
bfs: list | bfs 2x3 --format json | --list 1
bfs: list | bfs small.tws --format json | --list 1
bfs: list ! bfs 2x3 --list 1 ! --list
bfs: engine | bfs 2x4 --format json | --engine reference
bfs: engine | bfs 2x4 --format json | --engine frontier
bfs: engine ! bfs small.tws --engine sweep ! --engine
bfs: dir | bfs 2x4 | --dir new
bfs: dir | bfs small.tws | --dir new
bfs: keep-levels | bfs 2x4 --dir new | --keep-levels all
bfs: keep-levels | bfs small.tws --dir new | --keep-levels all
bfs: keep-levels ! bfs 2x4 --keep-levels all ! --dir
bfs: io | bfs 2x4 --dir new -v | --io mmap
bfs: io ! bfs 2x4 --io mmap ! --dir
bfs: codec | bfs 2x4 --dir new --codec zstd --format json | --codec rans
bfs: codec ! bfs small.tws --dir new --codec zstd ! --codec
bfs: commit-every | bfs 2x4 --dir new -v | --commit-every 3s
bfs: commit-every ! bfs 2x4 --commit-every 3s ! --dir
bfs: disk-limit | bfs 2x4 --dir new | --disk-limit 1B
bfs: ignore-space | bfs 2x4 --dir new --disk-limit 1B | --ignore-space
bfs: shared-digits | bfs 2x4 --dir new --format json | --shared-digits 1
bfs: shared-digits ! bfs small.tws --dir new --shared-digits 1 ! --shared-digits
bfs: planes | bfs 2x4 --dir new --shared-digits 1 --format json | --planes files
bfs: planes ! bfs small.tws --dir new --planes files ! --planes
resume: max-depth | resume run | --max-depth 7
resume: max-depth | resume lists | --max-depth 3
resume: count-ahead | resume lists --max-depth 4 --format json | --count-ahead
resume: count-ahead ! resume run --max-depth 7 --count-ahead ! --count-ahead
resume: check | resume damaged --max-depth 7 | --check
resume: plot | resume run | --plot new.svg
resume: html | resume run | --html new.html
resume: html | resume lists | --html new.html
resume: list | resume run --format json | --list 1
resume: io | resume run -v | --io mmap
resume: codec | resume run --codec zstd --format json | --codec rans
resume: codec ! resume lists --codec zstd ! --codec
resume: commit-every | resume run -v | --commit-every 3s
resume: disk-limit | resume run | --disk-limit 1B
resume: ignore-space | resume run --disk-limit 1B | --ignore-space
resume: planes | resume run --format json | --planes files
resume: planes ! resume lists --planes files ! --planes
check: repair | check lost | --repair
check: full | check 2x3.table | --full
check: plain | check a.pdb --full | --plain
check: samples | check a.pdb --seed 1 | --samples 5
check: seed | check a.pdb --seed 1 | --seed 2
levels: limit | levels 3x3 --depth 9 --limit 5 | --limit 5,seed=1
levels: limit | levels 3x3 --depth 9 --limit 5,seed=1 | --limit 5,seed=2
levels: limit ! levels 3x3 --depth 9 --limit 5,1 ! --limit
levels: limit | levels 2x4 --depth 5 | --limit 1
levels: limit | levels small.tws | --limit 0
levels: engine ! levels small.tws --engine sweep ! --engine
levels: depth | levels 2x4 | --depth 6
levels: depth | levels 2x4 --depth 5 | --depth 6
levels: engine | levels 2x4 --depth 5 | --engine frontier
state: table | state "1 2 3/4 0 5" | --table 2x3.table
state: table ! state small.tws A --table 2x3.table ! --table
state: id | state 2x3 --id 5 | --id 6
table: output ! table 2x3 ! --output
table: encoding | table 2x3 -o new.table | --encoding byte
table: encoding | table small.tws -o new.table | --encoding byte
table: up-to-symmetry | table skewb-diamond -o new.table | --up-to-symmetry
table: up-to-symmetry ! table 2x3 -o new.table --up-to-symmetry ! --up-to-symmetry
table: on-disk ! table 2x3 -o new.table --on-disk ! --on-disk
plan: cores | plan 2x4 | --cores 64
plan: cores ! plan small.tws --cores 4 ! --cores
plan: ranks | plan 2x4 --dir new | --ranks 2
plan: ranks ! plan small.tws --ranks 2 ! --ranks
plan: network | plan 2x5 --ranks 2 --max-depth 9 --format json | --network 1kB/s
plan: network ! plan 3x3 --network 1GB/s ! --ranks
plan: disk-bandwidth | plan 2x4 --dir new | --disk-bandwidth 1kB/s
plan: disk-bandwidth ! plan 3x3 --disk-bandwidth 1GB/s ! --disk-bandwidth
plan: dir | plan 2x4 | --dir new
plan: max-depth | plan 2x4 --dir new | --max-depth 4
plan: max-depth | plan small.tws | --max-depth 2
plan: keep-levels | plan 2x4 --dir new --format json | --keep-levels all
plan: keep-levels ! plan 3x3 --keep-levels all ! --keep-levels
plan: keep-levels ! plan small.tws --keep-levels all ! --keep-levels
plan: engine | plan 2x4 | --engine reference
plan: engine | plan 2x4 --max-depth 4 | --engine frontier
plan: engine ! plan small.tws --engine sweep ! --engine
pdb build: goal | pdb build 3x3 --pattern 1-3 -o new.pdb --format json | --goal first
pdb build: pattern | pdb build 3x3 --pattern 1-3 -o new.pdb | --pattern 2-4
pdb build: partition ! pdb build 3x3 --partition 7-8 -o new.pdb ! partition
pdb build: kind | pdb build 3x3 --pattern 1-3 -o new.pdb | --kind all-moves
pdb build: encoding | pdb build 3x3 --pattern 1-3 -o new.pdb | --encoding bit
pdb build: output ! pdb build 3x3 --pattern 1-3 ! --output
pdb build: dir ! pdb build 3x3 --pattern 1-3 --pattern 4-6 -o new.pdb -o other.pdb --dir levels ! --dir
pdb build: ignore-space ! pdb build 3x3 --pattern 1-3 -o new.pdb --ignore-space ! --dir
pdb plan: goal | pdb plan 3x3 --pattern 1-3 --format json | --goal first
pdb plan: pattern | pdb plan 3x3 --pattern 1-3 | --pattern 1-4
pdb plan: partition ! pdb plan 3x3 --partition 7-8 ! partition
pdb plan: kind | pdb plan 3x3 --pattern 1-3 --format json | --kind all-moves
pdb plan: encoding | pdb plan 3x3 --pattern 1-3 --format json | --encoding bit
pdb probe: pdb | pdb probe --pdb a.pdb "8 6 7/2 5 4/3 0 1" | --pdb b.pdb
pdb export: layout ! pdb export a.pdb -o new.bin --layout 24puzzle ! 24
pdb export: output ! pdb export a.pdb --layout hog2-lex ! --output
pdb set build: output ! pdb set build 2x3 ! --output
solve: fast | solve "8 6 7/2 5 4/3 0 1" | --fast
solve: fast | solve fto "R U L F" --format json | --fast
solve: fast ! solve fto "R U" --fast --pdb a.pdb ! --pdb
solve: fast | solve 3x3x3 "R U F L" --format json | --fast
solve: via | solve small.tws "A B A" --fast --via C --via E | --via E:1
solve: via ! solve "1 2 3/4 0 5" --fast --via C ! --via
solve: certify ! solve small.tws A --certify ! --certify
solve: moves | solve "1 2 3/4 0 5" | --moves blank
solve: moves ! solve small.tws A --moves blank ! --moves
solve: pdb | solve "8 6 7/2 5 4/3 0 1" | --pdb a.pdb
solve: pdb | solve small.tws "A B A" --format json | --pdb small.table
solve: table | solve "8 6 7/2 5 4/3 0 1" | --table 3x3.table
solve: table ! solve small.tws A --table 2x3.table ! table
solve: partition ! solve "1 2 3/4 0 5" --partition 7-8 ! partition
solve: partition ! solve small.tws A --partition 7-8 ! --partition
solve: cache-dir | solve "1 2 3/4 0 5" | --cache-dir new
solve: no-cache | solve "1 2 3/4 0 5" | --no-cache
solve: max-nodes | solve "8 6 7/2 5 4/3 0 1" | --max-nodes 10
solve: max-nodes | solve small.tws "A B A" | --max-nodes 0
solve: max-nodes ! solve "8 6 7/2 5 4/3 0 1" --fast --max-nodes 1 ! --max-nodes
solve: max-nodes ! solve "8 6 7/2 5 4/3 0 1" --table 3x3.table --max-nodes 1 ! --max-nodes
solve: timeout | solve "8 6 7/2 5 4/3 0 1" | --timeout 0
solve: timeout ! solve "8 6 7/2 5 4/3 0 1" --fast --timeout 0 ! --timeout
solve: log | solve "1 2 3/4 0 5" | --log new.log
solve: log | solve small.tws A | --log new.log
solve: all | solve "4 1 3/2 0 5" | --all
solve: all | solve small.tws "A B" | --all
solve: all | solve "4 1 3/2 0 5" | --all=count
solve: all ! solve "1 2 3/4 0 5" --all=0 ! from 1 on
solve: all ! solve "1 2 3/4 0 5" --fast --all ! --all
solve: all ! solve "1 2 3/4 0 5" --certify --all ! --all
solve: all ! solve --table 2x3.table "1 2 3/4 0 5" --all ! --all
solve: all ! solve "1 2 3/4 0 5" --html new.html --all=count ! --all
solve: slack | solve "1 2 3/4 0 5" --all | --slack 10
solve: slack | solve small.tws "A B" --all=count | --slack 1
solve: slack ! solve "1 2 3/4 0 5" --slack 1 ! --all
solve: html | solve "1 2 3/4 0 5" | --html new.html
solve: html | solve small.tws A | --html new.html
scramble: count | scramble 2x3 --seed 1 | --count 2
scramble: seed | scramble 2x3 --seed 1 | --seed 2
scramble: moves | scramble 2x3 --seed 1 | --moves
scramble: moves | scramble skewb --seed 1 | --moves=optimal
scramble: moves ! scramble 2x3 --seed 1 --moves=fast ! --moves
scramble: moves | scramble kilominx --seed 1 | --moves
scramble: moves ! scramble graph:0-1,1-2,2-0 --seed 1 --moves ! --moves
encode: goal | encode "1 2 3/4 0 5" --cnf - | --goal first
encode: max-moves | encode "1 2 3/4 0 5" --cnf - | --max-moves 3
encode: cnf | encode "1 2 3/4 0 5" --lp new.lp | --cnf new.cnf
encode: lp | encode "1 2 3/4 0 5" --cnf new.cnf | --lp new.lp
encode: mps | encode "1 2 3/4 0 5" --cnf new.cnf | --mps new.mps
encode: decode ! encode "1 2 3/4 0 5" --decode existing.txt ! answer
encode: moves ! encode "1 2 3/4 0 5" --moves blank --cnf - ! --decode
solve: metric ! solve "1 2 3/4 0 5" --metric mtm ! --metric
solve: same ! solve "1 2 3/4 0 5" --same 1-2 ! --same
encode: force | encode "1 2 3/4 0 5" --cnf existing.txt | --force
puzzle: output | puzzle 2x3 | -o new.puzzle
puzzle: output ! puzzle 2x3 -o new.txt ! .puzzle
puzzle: force | puzzle 2x3 -o cross.puzzle | --force
puzzle: format | puzzle 2x3 | --format json
cache list: cache-dir | cache list | --cache-dir kept
cache list: format | cache list --cache-dir kept | --format json
cache clean: cache-dir | cache clean | --cache-dir kept
man: dir | man | --dir new
"#;

/// For options that many commands share: a command line of each.
const COMMANDS: &[(&str, &str)] = &[
    ("bfs", "bfs 2x3"),
    ("resume", "resume run"),
    ("info", "info 2x3.table"),
    ("check", "check --full a.pdb"),
    ("levels", "levels 2x3 --depth 2"),
    ("state", "state \"1 2 3/4 0 5\""),
    ("table", "table 2x3"),
    ("plan", "plan 2x3"),
    ("puzzles", "puzzles"),
    ("pdb build", "pdb build 3x3 --pattern 1-5"),
    ("pdb plan", "pdb plan 3x3 --pattern 1-5"),
    ("pdb probe", "pdb probe --pdb a.pdb \"8 6 7/2 5 4/3 0 1\""),
    ("pdb set build", "pdb set build 2x3"),
    ("pdb export", "pdb export a.pdb --layout hog2-lex"),
    ("solve", "solve \"1 2 3/4 0 5\""),
];

/// These write a file that has to be named.
const WRITING: [&str; 4] = ["table", "pdb build", "pdb set build", "pdb export"];

/// Most options of all commands together, without those that every command has: more take longer to read than they are
/// worth.
const MOST_OPTIONS: usize = 200;

/// How a puzzle is given to a command, `P`, with a state of it, `S`.
const SHAPED: &[(&str, &str)] = &[
    ("bfs", "bfs P --max-depth 2 --format csv"),
    ("levels", "levels P --depth 1"),
    ("state", "state P S --format json"),
    ("table", "table P -o new.table"),
    ("puzzle", "puzzle P --format json"),
    ("plan", "plan P --max-depth 2 --format json"),
    ("pdb set build", "pdb set build P -o new"),
    ("solve", "solve P S --format json"),
    ("scramble", "scramble P -n 20 --seed 1"),
];

/// What makes another puzzle of one: a puzzle, a state of it, and an option; and commands that refuse it, or for which
/// it cannot matter, with the reason.
const SHAPES: &[(&str, &str, &str, &[&str])] = &[
    ("2x3", "\"1 2 3/4 0 5\"", "--goal first", &[]),
    ("2x3", "\"1 2 3/4 0 5\"", "--metric mtm", &["state", "solve", "scramble", "pdb set build"]),
    ("small.tws", "\"A B A\"", "--metric qtm", &["scramble"]),
    ("wheels.gap", "\"A B A B\"", "--directed", &[]),
    ("small.tws", "\"A B A\"", "--pieces C", &[]),
    ("small.tws", "\"A B A\"", "--ignore-orientation C", &[]),
    ("small.tws", "\"A B A\"", "--same E:1-2", &[]),
    ("small.tws", "\"A A A\"", "--generators A", &[]),
    ("small.tws", "A", "--goals goals.txt", &[]),
    ("small.tws", "A", "--goals part.txt", &[]),
    ("small.tws", "\"A B A\"", "--subgroup A", &[]),
    ("small.tws", "\"A B A\"", "--subgroup \"A A A,\"", &[]),
];

/// A directory with files of all kinds.
fn prepared() -> tempfile::TempDir {
    let dir = room();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write(
        "small.tws",
        "Name small\nSet C 3 2\nSet E 4 1\nSolved\nC\n1 2 3\nE\n1 2 3 4\nEnd\n\
         Move A\nC\n2 3 1\n1 1 0\nE\n2 1 3 4\nEnd\nMove B\nC\n2 1 3\n0 0 0\nE\n2 3 4 1\nEnd\n",
    );
    write("wheels.gap", include_str!("../data/puzzles/wheels.gap"));
    write("goals.txt", "A\nB\n");
    write("part.txt", "C 1 2 3/0 0 0; E ? ? ? ?\n");
    write("boards.txt", "8 6 7/2 5 4/3 0 1\n");
    write("existing.txt", "there is something in this file\n");
    for line in [
        "table 2x3 -o 2x3.table",
        "table 3x3 -o 3x3.table",
        "table small.tws -o small.table",
        "pdb build 3x3 --pattern 1-3 -o a.pdb",
        "pdb build 3x3 --pattern 4-6 -o b.pdb",
        "bfs 2x4 --dir run --max-depth 5 --keep-levels all",
        "bfs 2x4 --dir damaged --max-depth 5 --keep-levels all",
        "bfs 2x4 --dir lost --max-depth 5 --keep-levels all",
        "bfs small.tws --dir lists --max-depth 2",
        "pdb set build 2x3 -o set",
        "puzzle small.tws --pieces C -o cross.puzzle",
        "solve --cache-dir kept \"1 2 3/4 0 5\"",
    ] {
        let mut command = tilewave(words(line));
        let done = run(command.current_dir(dir.path()).env("XDG_CACHE_HOME", dir.path()));
        assert!(done.ok(), "{line}: {}", done.err);
    }
    fs::remove_file(dir.path().join("lost/manifest")).unwrap();
    // A level that `resume` does not read.
    let levels = fs::read_dir(dir.path().join("damaged")).unwrap();
    let levels = levels.map(|file| file.unwrap().path());
    let mut levels: Vec<_> = levels.filter(|path| path.to_string_lossy().contains("003")).collect();
    levels.sort();
    let mut bytes = fs::read(&levels[0]).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&levels[0], bytes).unwrap();
    dir
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        match path.is_dir() {
            true => copy(&path, &to.join(name)),
            false => drop(fs::copy(&path, to.join(name)).unwrap()),
        }
    }
}

/// The files below a directory, by name.
fn files(dir: &Path, below: &Path, all: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, below, all),
            false => {
                let name = path.strip_prefix(below).unwrap().to_string_lossy().into_owned();
                all.insert(name, fs::read(&path).unwrap());
            }
        }
    }
}

/// What a command has done: its exit code, what it said, and its files.
#[derive(PartialEq)]
struct Effect {
    code: Option<i32>,
    said: Vec<String>,
    files: BTreeMap<String, Vec<u8>>,
}

/// A line without what differs from run to run: numbers with a point, and those before units of time and memory.
fn without_times(line: &str) -> String {
    let separators = [' ', ',', ':', '[', ']', '{', '}', '(', ')', ';'];
    let mut kept: Vec<&str> = Vec::new();
    for word in line.split(separators).filter(|word| !word.is_empty()) {
        let units = ["ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "M", "k", "G", "states/s"];
        if units.contains(&word) {
            while kept.last().is_some_and(|last| last.parse::<f64>().is_ok()) {
                kept.pop();
            }
        } else if !(word.contains('.') && word.parse::<f64>().is_ok()) {
            kept.push(word);
        }
    }
    kept.join(" ")
}

fn done(prepared: &Path, line: &str) -> Effect {
    let dir = room();
    copy(prepared, dir.path());
    let mut command = tilewave(words(line));
    let command = command.current_dir(dir.path()).env("XDG_CACHE_HOME", dir.path().join("cache"));
    let ended = run(command);
    let said = ended.out + &ended.err;
    assert!(!said.contains("panicked"), "{line}: {said}");
    let is_volatile =
        |line: &&str| ["peak_memory", "disk_free", "free  "].iter().any(|w| line.contains(w));
    let said = said.lines().filter(|line| !is_volatile(line)).map(without_times).collect();
    let mut all = BTreeMap::new();
    files(dir.path(), dir.path(), &mut all);
    // These have times and random numbers of runs in them.
    all.retain(|name, _| {
        !["manifest", "tilewave-run", "directory"].iter().any(|of| name.contains(of))
    });
    Effect { code: ended.code, said, files: all }
}

/// What is in both of two runs of the same command.
fn stable(prepared: &Path, line: &str) -> Effect {
    let [one, other] = [(); 2].map(|()| done(prepared, line));
    let mut said = one.said;
    said.retain(|line| other.said.contains(line));
    let mut files = one.files;
    for (name, bytes) in &mut files {
        if other.files.get(name) != Some(bytes) {
            bytes.clear();
        }
    }
    Effect { code: one.code, said, files }
}

enum Line {
    Differ(String, String),
    Refused(String, String),
}

/// All lines: the command and option of each.
fn lines() -> Vec<(String, String, Line)> {
    let mut all = Vec::new();
    for line in TABLE.lines().filter(|line| !line.is_empty()) {
        let (command, rest) = line.split_once(": ").unwrap();
        let parts =
            |by| rest.split(by).map(|part: &str| part.trim().to_string()).collect::<Vec<_>>();
        let line = match (&parts(" | ")[..], &parts(" ! ")[..]) {
            ([option, base, more], _) => {
                (option.clone(), Line::Differ(base.clone(), format!("{base} {more}")))
            }
            (_, [option, line, words]) => {
                (option.clone(), Line::Refused(line.clone(), words.clone()))
            }
            _ => panic!("{line}"),
        };
        all.push((command.to_string(), line.0, line.1));
    }
    for &(command, base) in COMMANDS {
        let writes = WRITING.contains(&command);
        let named = if writes { format!("{base} -o new") } else { base.to_string() };
        let mut add = |option: &str, base: String, other: String| {
            all.push((command.into(), option.into(), Line::Differ(base, other)));
        };
        add("format", named.clone(), format!("{named} --format csv"));
        let existing = if command == "pdb set build" { "set" } else { "existing.txt" };
        add("force", format!("{base} -o {existing}"), format!("{base} -o {existing} --force"));
        if !writes {
            add("output", base.into(), format!("{base} -o new.txt"));
        }
        add("threads", named.clone(), format!("{named} --threads 100000"));
        add("memory", named.clone(), format!("{named} --memory 1B"));
    }
    for &(command, how) in SHAPED {
        for &(puzzle, state, option, without) in SHAPES {
            // Others take a file of `tilewave puzzle`.
            let is_simple = ["--goal ", "--metric "].iter().any(|name| option.starts_with(name));
            let shapes = ["bfs", "table", "plan", "solve", "puzzle"].contains(&command);
            if without.contains(&command) || !(is_simple || shapes) {
                continue;
            }
            let line = |puzzle: &str| how.replace('P', puzzle).replace('S', state);
            let name = option.split(' ').next().unwrap().trim_start_matches('-');
            let line = Line::Differ(line(puzzle), line(&format!("{puzzle} {option}")));
            all.push((command.into(), name.into(), line));
        }
    }
    all
}

/// The commands of the program with their options, from its help.
fn options(command: &str, all: &mut BTreeSet<(String, String)>) {
    let help = stdout(&[&words(command)[..], &["--help"]].concat());
    for name in commands(&help) {
        options(format!("{command} {name}").trim(), all);
    }
    for line in help.lines() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let long = trimmed.strip_prefix("--").or_else(|| {
            let (short, long) = trimmed.split_once(", --")?;
            (short.len() == 2 && short.starts_with('-')).then_some(long)
        });
        if let Some(long) = long.filter(|_| (2..=6).contains(&indent)) {
            let name = long.split([' ', '[', '=', '.']).next().unwrap();
            all.insert((command.into(), name.into()));
        }
    }
}

#[test]
fn every_option_has_an_effect_or_is_refused() {
    let mut there = BTreeSet::new();
    options("", &mut there);
    let general: BTreeSet<String> = there
        .iter()
        .filter(|(command, _)| command.is_empty())
        .map(|(_, name)| name.clone())
        .collect();
    there.retain(|(command, name)| command.is_empty() || !general.contains(name));
    let of_commands = there.iter().filter(|(command, _)| !command.is_empty()).count();
    assert!((150..=MOST_OPTIONS).contains(&of_commands), "{of_commands} options: {there:?}");
    let lines = lines();
    let tested: BTreeSet<(String, String)> =
        lines.iter().map(|(command, option, _)| (command.clone(), option.clone())).collect();
    let untested: Vec<_> = there.difference(&tested).collect();
    assert!(untested.is_empty(), "these options have no line: {untested:?}");
    let prepared = prepared();
    let wanted = lines
        .iter()
        .filter(|(command, option, _)| there.contains(&(command.clone(), option.clone())));
    let wanted: Vec<_> = wanted.collect();
    let wrong: Vec<String> = wanted
        .par_iter()
        .filter_map(|(command, option, line)| match line {
            Line::Differ(base, other) => {
                let base_done = stable(prepared.path(), base);
                // Otherwise both command lines could be wrong for the same reason.
                let may_fail =
                    ["--disk-limit", "existing.txt", "-o set", "nothing.pdb", "lost", "-o cross"];
                assert!(
                    base_done.code == Some(0) || may_fail.iter().any(|word| base.contains(word)),
                    "{base}: {:?}",
                    base_done.said
                );
                let same = base_done == stable(prepared.path(), other);
                same.then(|| format!("{command} --{option}: '{other}' does what '{base}' does"))
            }
            Line::Refused(line, words) => {
                let Effect { code, said, .. } = done(prepared.path(), line);
                let is_refused = matches!(code, Some(1 | 2))
                    && said.iter().any(|line| line.starts_with("error") && line.contains(words));
                (!is_refused).then(|| {
                    format!("{command} --{option}: '{line}' is not refused: {code:?} {said:?}")
                })
            }
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
