//! What a demanding new user meets: words, hints, streams, terminals, shells.

use std::collections::BTreeSet;
use std::fs;

use super::{json, refused, stdout, tilewave};

fn stderr(args: &[&str]) -> String {
    let output = tilewave(args).output().unwrap();
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_is_wrong_is_said_in_our_words() {
    let words = [
        ("bfs abc", "'abc' is not a puzzle: specify a board (3x4)"),
        ("bfs abc", "see tilewave bfs --help"),
        (
            "bfs 3x3 --max-depth -1",
            "--max-depth: '-1' is not a non-negative whole number; see tilewave bfs --help",
        ),
        ("bfs 3x3 -j abc", "--threads: 'abc' is not a whole number from 0 to 1024"),
        ("bfs 3x3 --max-dept 4", "unknown option '--max-dept' (did you mean --max-depth?)"),
        ("verfy 3x3", "unknown command 'verfy' (did you mean verify?); see tilewave --help"),
        ("pdb biuld", "unknown command 'biuld' (did you mean build?); see tilewave pdb --help"),
        ("bfs 3x3 --format jsn", "not one of text, csv, json, jsonl (did you mean json?)"),
        ("bfs 3x3 4x4", "unexpected argument '4x4': specify only one puzzle"),
        ("bfs 3x3 --goal", "needs a value"),
        ("bfs 3x3 --goal lst", "--goal: 'lst' is not a goal"),
        ("bfs 3x3 -M 8", "for example 8GiB (or 8G) or 500MB"),
        ("bfs 3x3 -M 8Gb", "'8Gb' means bits: write 8GB if you mean bytes"),
        (
            "verify nodir",
            "'nodir' is not a puzzle: specify a board (3x4), a puzzle listed by `tilewave puzzles`, or a file (.gap, .tws, .def or \
             .kpuzzle.json)",
        ),
        ("resume --dir RUN", "unknown option '--dir'"),
    ];
    for (line, expected) in words {
        refused(&line.split(' ').collect::<Vec<_>>(), 2, expected);
    }
}

#[test]
fn hints_lead_on() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("a/b");
    let run = place.to_str().unwrap();
    refused(&["bfs", "3x5", "-M", "1GiB"], 1, "search on disk with --dir DIR");
    refused(&["bfs", "3x3", "--dir", run, "--shared-digits", "99"], 2, "3x3 allows at most 2");
    // A slip is told from another word that merely shares letters with an option.
    refused(&["bfs", "3x3", "--max-deth", "3"], 2, "did you mean --max-depth?");
    refused(&["bfs", "3x3", "--cut", "3"], 2, "unknown option '--cut'; see tilewave bfs --help");
    refused(&["bfs", "3x4", "--dir", run, "-M", "100B"], 1, "the limit is");
    assert!(!dir.path().join("a").exists(), "refused commands leave nothing");
    assert!(stdout(&["bfs", "2x3", "-M", "1G"]).contains("God's number  21"));
    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() < 256) {
        assert!(stderr(&["bfs", "2x4", "-j", "1024"]).contains("1024 threads are too many for"));
    }
}

/// Whoever looks at the log may stop: the search goes on and its result is whole.
#[test]
fn a_closed_stderr_loses_no_result() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let whole = stdout(&["bfs", "2x5", "--format", "csv"]);
    for args in [&["bfs", "2x5"][..], &["bfs", "2x5", "--dir", run.to_str().unwrap()]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("tilewave"));
        command.args(args).args(["--format", "csv", "-v"]).stderr(writer);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        let counts = |text: &str| -> Vec<String> {
            text.lines().map(|line| line.split(',').take(2).collect()).collect()
        };
        assert_eq!(counts(&String::from_utf8(output.stdout).unwrap()), counts(&whole));
    }
}

/// Advice names options of the command at hand, or says whose they are.
#[test]
fn errors_name_options_that_the_command_has() {
    let dir = tempfile::tempdir().unwrap();
    let (run, cube) = (dir.path().join("run"), dir.path().join("cube.table"));
    let (run, cube) = (run.to_str().unwrap(), cube.to_str().unwrap());
    let lines = [
        &["bfs", "4x4"][..],
        &["bfs", "5x5"],
        &["bfs", "3x3x3"],
        &["bfs", "3x3x3", "--max-depth", "7", "-M", "600kB"],
        &["bfs", "3x3", "--io", "map"],
        &["bfs", "3x3", "--engine", "frontier", "--html", "x.html"],
        &["bfs", "3x3", "--count-ahead"],
        &["bfs", "2x3", "--engine", "sweep"],
        &["bfs", "pancake:9", "--dir", run],
        &["verify", "4x4"],
        &["verify", "3x4", "-M", "1MiB"],
        &["verify", "5x5"],
        &["verify", "2x3", "--engine", "sweep"],
        &["antipodes", "4x4"],
        &["antipodes", "5x5"],
        &["antipodes", "3x3x3"],
        &["antipodes", "2x2x2", "-M", "100kB"],
        &["plan", "2x3", "--engine", "sweep"],
        &["table", "4x4", "-o", cube],
        &["table", "3x3x3", "-o", cube],
        &["table", "3x4", "-M", "1MiB", "-o", cube],
        &["pdb", "build", "4x4", "--pattern", "1-8", "-M", "1MiB", "-o", run],
        &["pdb", "plan", "4x4", "--partition", "9-9"],
        &["solve", "3x3x3", "R", "--fast"],
        &["solve", "1 2 3/4 5 6/7 8 0", "--via", "edges", "--fast"],
        &["state", "--id", "3"],
        &["encode", "1 2 3/4 5 6/0 7 8"],
        &["resume", run],
        &["repair", run],
        &["check", run],
        &["scramble", "abc"],
    ];
    let (mut all, mut foreign) = (Vec::new(), 0);
    helps(&[], &mut all);
    let has = |command: &str, option: &String| {
        let help = all.iter().find(|(name, ..)| name == command);
        help.is_some_and(|(.., long)| options(long).contains(option))
    };
    for args in lines {
        let output = tilewave(args).output().unwrap();
        assert!(!output.status.success(), "{args:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        let command: Vec<&str> =
            args.iter().copied().take(if args[0] == "pdb" { 2 } else { 1 }).collect();
        let clauses: Vec<&str> = text.split([';', ',', ':', '(']).collect();
        let of_bfs =
            clauses.last().filter(|clause| clause.trim_end().ends_with(" of tilewave bfs"));
        let of_bfs = of_bfs.map_or(BTreeSet::new(), |clause| options(clause));
        foreign += of_bfs.len();
        for clause in clauses {
            let named = clause.split("tilewave ").nth(1).and_then(|words| words.split(' ').next());
            for option in options(clause) {
                let known = has(&command.join(" "), &option)
                    || of_bfs.contains(&option) && has("bfs", &option)
                    || named.is_some_and(|named| has(named, &option));
                assert!(known, "{args:?} names {option}: {text}");
            }
        }
    }
    assert!(foreign > 5, "{foreign}");
}

/// The directory of a result is there: a slip of the pen makes none.
#[test]
fn missing_directories_are_named_and_not_made() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    let says = format!("there is no directory '{}'; create it first", missing.display());
    let file = |name: &str| missing.join(name).display().to_string();
    let (image, page, text) = (file("a.png"), file("a.html"), file("a"));
    let board = "1 2 3/4 5 6/0 7 8";
    for args in [
        &["bfs", "3x3", "--plot", &image][..],
        &["bfs", "3x3", "--html", &page],
        &["bfs", "3x3", "-o", &text],
        &["encode", board, "--cnf", &text],
        &["table", "3x3", "-o", &text],
        &["pdb", "build", "3x3", "--pattern", "1-4", "-o", &text],
        &["solve", board, "--no-cache", "--html", &page],
        &["plan", "3x3", "-o", &text],
    ] {
        refused(args, 1, &says);
    }
    assert!(!missing.exists());
    // The directory of a search is its own.
    let run = file("run");
    stdout(&["bfs", "3x3", "--dir", &run]);
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    let no = format!("cannot open '{file}': Not a directory (os error 20); specify a directory");
    for args in [
        &["bfs", "3x3", "--dir", file][..],
        &["plan", "3x3", "--dir", file],
        &["resume", file],
        &["pdb", "build", "3x3", "--pattern", "1-4", "-o", &run, "--dir", file],
    ] {
        refused(args, 1, &no);
    }
    let gone = "; check the path";
    refused(
        &["bfs", "missing.gap"],
        1,
        &format!("cannot open 'missing.gap': No such file or directory (os error 2){gone}"),
    );
    refused(&["info", "missing.pdb"], 1, gone);
    refused(&["resume", "missing"], 1, gone);
    if cfg!(target_os = "linux") {
        refused(&["bfs", "3x3", "--dir", "/proc/x"], 1, "cannot create directory '/proc/x': ");
    }
    refused(&["check", file], 1, "specify a file or directory that tilewave has written");
}

#[test]
fn arguments_in_the_wrong_place_are_told_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("boards.txt");
    fs::write(&file, "1 2 3/4 5 6/7 8 0\n").unwrap();
    let file = file.to_str().unwrap();
    let from = |command: &str, file: &str| {
        format!("'{file}' is a file: to read states from it, use {command} < {file}")
    };
    refused(&["solve", file], 2, &from("tilewave solve", file));
    refused(&["solve", "none.txt"], 2, &from("tilewave solve", "none.txt"));
    refused(&["state", "3x3", file], 2, &from("tilewave state 3x3", file));
    let named = |puzzle: &str| format!("put the puzzle first: tilewave solve {puzzle} \"R U F2\"");
    refused(&["solve", "R U F2"], 2, &named("3x3x3"));
    refused(&["solve", "R U F2", "2x2x2"], 2, &named("2x2x2"));
    let build = ["pdb", "build", "1-5", "4x4", "--pattern", "1", "-o", "x"];
    refused(&build[..4], 2, "'1-5' is not a board size; to specify tiles, use --pattern 1-5");
    refused(&build[..3], 2, "'1-5' is not a board size; to specify tiles, use --pattern 1-5");
    refused(&["bfs", "3x3", "3x4"], 2, "unexpected argument '3x4': specify only one puzzle");
    refused(&["solve", "867254301"], 2, "separate tiles with spaces and rows with '/'");
    refused(
        &["state", "3x3", "5"],
        2,
        "has 1 cell, but 3x3 needs 9; to look up a state by its number, use --id 5",
    );
    let probe = ["pdb", "probe", "5.pdb", "1 2 3/4 5 6/7 8 0"];
    refused(&probe, 2, "did you mean --pdb 5.pdb?");
    let ranges = "'5-1' is not a range of tiles: ranges must be ascending; write 1-5";
    refused(&["bfs", "4x4", "--tiles", "5-1"], 2, ranges);
    refused(&["bfs", "2x2x2", "--pieces", "edgs"], 2, "--pieces: no set is called 'edgs'");
    let one = stdout(&["solve", "1 2 3/4 5 6/7 0 8", "--no-cache", "--quiet"]);
    assert!(one.contains("  1 move  ") && !one.contains("1 moves"), "{one}");
}

#[test]
fn plans_agree_and_do_not_give_up() {
    let plan = |args: &[&str]| json(&[&["plan", "--format", "json"], args].concat());
    let (alone, one) = (plan(&["4x4", "-M", "1GiB"]), plan(&["4x4", "-M", "1GiB", "--ranks", "1"]));
    for key in ["memory_bytes", "chunks", "planes", "fits", "disk_peak_bytes", "ranks"] {
        assert_eq!(alone[key], one[key], "{key}");
    }
    assert!(alone["disk_free_bytes"].as_u64().unwrap() > 0);
    // The first levels are thin; nobody asks for the disk of the others.
    let thin = plan(&["4x4", "-M", "8GiB", "--max-depth", "25", "--dir", ".", "--engine", "sweep"]);
    assert!(thin["disk_peak_bytes"].as_u64().unwrap() < 1 << 30, "{thin}");
    assert_eq!(thin["levels"], 26);
    assert_eq!(thin["states_to_depth"], 79_070_945);
    // Nobody knows how many states these depths have.
    let deep = plan(&[
        "4x4",
        "--goal",
        "blank=5",
        "-M",
        "8GiB",
        "--max-depth",
        "60",
        "--dir",
        ".",
        "--engine",
        "sweep",
    ]);
    assert!(deep["states_to_depth"].is_null() && deep["states_per_second"].is_null(), "{deep}");
    // What nobody measured is said.
    let scaled = plan(&["3x4", "--dir", ".", "--cores", "16", "--disk-bandwidth", "5GB/s"]);
    let projected = scaled["projected"].to_string();
    assert!(
        projected.contains("16 cores, scaled up from 2 threads") && projected.contains("5.00 GB/s"),
        "{projected}"
    );
    assert_eq!(plan(&["3x4"])["projected"], serde_json::json!([]));
    let small = ["plan", "2x7", "-M", "100B"];
    assert!(stdout(&small).contains(" over the limit of 100 B"));
    assert_eq!(plan(&small[1..])["fits"], false);
    let io = |rate| plan(&["3x4", "--dir", ".", "--disk-bandwidth", rate])["io_seconds"].as_f64();
    let ratio = io("8Gb/s").unwrap() / io("8GB/s").unwrap();
    assert!((7.9..8.1).contains(&ratio), "bits are bits: {ratio}");
}

#[test]
fn nothing_lies_beyond_the_diameter() {
    let far = ["levels", "3x3", "--depth", "40"];
    assert_eq!(
        stdout(&far),
        "3x3, goal 1 2 3/4 5 6/7 8 0: no states at depth 40; the last depth is 31\n"
    );
    let value = json(&[&far[..], &["--format", "json"]].concat());
    assert_eq!((&value["depth"], &value["count"]), (&40.into(), &0.into()));
    assert_eq!(value["boards"], serde_json::json!([]));
}

#[test]
fn what_is_not_finished_does_not_pass() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("2x5");
    let run = run.to_str().unwrap();
    stdout(&["bfs", "2x5", "--dir", run, "--max-depth", "12"]);
    let text = stdout(&["check", run]);
    assert!(text.contains("complete to depth 12") && !text.contains("PASS"), "{text}");
    assert!(json(&["check", run, "--format", "jsonl"])["pass"].is_null());
    // A directory with the name of a board: paths are checked, boards are verified.
    let output = tilewave(&["verify", "2x5"]).current_dir(&dir).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("2x5  last depth 55") && text.ends_with("PASS\n"), "{text}");
    let output = tilewave(&["check", "2x5"]).current_dir(&dir).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("NOT FINISHED"));
    assert!(stdout(&["info", run]).contains("depth "));
    stdout(&["resume", run]);
    assert!(stdout(&["check", run]).starts_with(&format!("PASS  {run}: 2x5, ")));
}

#[test]
fn every_file_written_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
    let (csv, page) = (path("x.csv"), path("x.html"));
    let log = stderr(&["bfs", "2x3", "--format", "csv", "-o", &csv, "--html", &page]);
    assert!(
        log.contains(&format!("wrote {csv}\n")) && log.contains(&format!("wrote {page}\n")),
        "{log}"
    );
    assert_eq!(stderr(&["bfs", "2x3", "-q", "--force", "-o", &csv]), "");
}

/// Runs a shell script with the program as `$0` and an empty directory as `$1`.
#[cfg(unix)]
fn shell(script: &str) -> (Option<i32>, String, String) {
    let dir = tempfile::tempdir().unwrap();
    let output = std::process::Command::new("bash")
        .args(["-c", script])
        .arg(tilewave(&[]).get_program())
        .arg(dir.path())
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[cfg(target_os = "linux")]
#[test]
fn a_stdout_that_cannot_be_written_is_named() {
    for command in ["--help", "bfs --help", "--version", "bfs 2x3", "man", "completions bash"] {
        let (code, _, log) = shell(&format!("\"$0\" {command} > /dev/full"));
        assert_eq!(code, Some(1), "{command}");
        assert!(
            log.lines().count() == 1 && log.contains("stdout: No space left"),
            "{command}: {log}"
        );
        let (code, _, log) = shell(&format!("set -o pipefail; \"$0\" {command} | true"));
        assert_eq!((code, log.as_str()), (Some(0), ""), "{command}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn signals_and_limits_of_the_shell_hold() {
    let search = "bfs 3x4 --engine reference --max-depth 24 --no-progress";
    let (code, _, log) =
        shell(&format!("trap '' HUP; \"$0\" {search} & sleep 0.4; kill -HUP $!; wait $!"));
    assert_eq!(code, Some(0), "as under nohup: {log}");
    // A whole search is not over before the signal comes; who runs the tests under nohup has it ignored.
    let search = "env --default-signal=HUP \"$0\" bfs 3x4 --engine reference --no-progress";
    let (code, _, log) = shell(&format!("{search} & sleep 0.4; kill -HUP $!; wait $!"));
    assert_eq!(code, Some(130), "{log}");
    let (code, _, log) =
        shell("cd \"$1\"; ulimit -f 1; \"$0\" bfs 3x3 --html x.html; c=$?; ls -A; exit $c");
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("cannot write 'x.html'") && log.contains("ulimit -f"), "{log}");
}

/// What a command shows on a terminal of some columns, as it was drawn.
#[cfg(target_os = "linux")]
fn on_terminal(columns: usize, environment: &str, command: &str) -> String {
    let program = tilewave(&[]).get_program().to_owned();
    let program = program.to_str().unwrap();
    let (code, text, log) = shell(&format!(
        "export TERM=xterm SHELL=/bin/bash; unset COLUMNS; \
         script -qec 'stty cols {columns} rows 24; {environment} {program} {command}' /dev/null"
    ));
    assert_eq!(code, Some(0), "{text} {log}");
    text
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_treated_with_care() {
    let coloured = on_terminal(80, "", "bfs 2x3 -v");
    assert!(coloured.contains("\u{1b}["), "{coloured:?}");
    for plain in ["NO_COLOR=1", "TERM=dumb"] {
        let text = on_terminal(80, plain, "bfs 2x3 -v");
        assert!(text.contains("depth 21") && !text.contains('\u{1b}'), "{plain}: {text:?}");
    }
    // The line of progress fits, never says 100 %, and is gone in the end.
    for columns in [80, 50] {
        let text = on_terminal(columns, "", "bfs 3x4 --engine reference --max-depth 24");
        let drawn: Vec<String> = text.split(['\r', '\n']).map(visible).collect();
        let lines: Vec<&String> = drawn.iter().filter(|line| line.contains(" %  depth ")).collect();
        assert!(lines.len() > 3, "{text:?}");
        for line in lines {
            assert!(line.chars().count() <= columns, "{line}");
            assert!(!line.contains("100 %") && !line.contains(" ms"), "{line}");
        }
        assert!(text.contains("\u{1b}[2K"), "cleared: {text:?}");
    }
    for line in on_terminal(60, "", "bfs --help").lines() {
        assert!(visible(line).trim_end().chars().count() <= 60, "{line}");
    }
}

/// Text without what moves the cursor or sets colours.
#[cfg(target_os = "linux")]
fn visible(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut shown = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |i| i + 1);
        shown += &part[end..];
    }
    shown
}

#[cfg(unix)]
#[test]
fn shells_complete_values_and_not_files() {
    let complete = |words: &str| {
        let script = format!(
            "source <(\"$0\" completions bash); cd \"$1\"; touch somefile; COMP_WORDS=(tilewave {words} ''); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _tilewave tilewave '' \"${{COMP_WORDS[COMP_CWORD-1]}}\"; \
             echo \"${{COMPREPLY[@]}}\""
        );
        shell(&script).1.trim().to_string()
    };
    assert_eq!(complete("bfs 3x3 --format"), "text csv json jsonl");
    assert_eq!(complete("solve --moves"), "tile blank");
    assert_eq!(complete("bfs 3x3 --output"), "somefile");
    for value in ["bfs 3x3 --goal", "bfs 3x3 --memory", "pdb build 3x3 --pattern"] {
        assert!(!complete(value).contains("somefile"), "{value}");
    }
}

#[test]
fn manual_pages_are_complete() {
    let dir = tempfile::tempdir().unwrap();
    stdout(&["man", "--dir", dir.path().to_str().unwrap()]);
    for name in ["tilewave", "tilewave-bfs", "tilewave-pdb-build"] {
        let page = fs::read_to_string(dir.path().join(format!("{name}.1"))).unwrap();
        for heading in ["EXIT STATUS", "FILES", "ENVIRONMENT", "SEE ALSO"] {
            assert!(
                page.contains(&format!(".SH \"{heading}\""))
                    || page.contains(&format!(".SH {heading}")),
                "{name}: {heading}"
            );
        }
        // The file of a run that says what it consists of is called so.
        assert!(page.contains("DIR/manifest\\fR"), "{name}");
        assert!(!page.contains("manifest.json"), "{name}");
    }
}

/// The help of a command and of all commands below it: their words, and what -h and --help print.
fn helps(command: &[&str], all: &mut Vec<(String, String, String)>) {
    let help = |option: &str| stdout(&[command, &[option][..]].concat());
    let (short, long) = (help("-h"), help("--help"));
    let names = long.split("Commands:\n").nth(1).unwrap_or_default();
    let names = names.lines().take_while(|line| !line.is_empty());
    let names = names.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !["", "help"].contains(name)).collect();
    for name in names {
        helps(&[command, &[name][..]].concat(), all);
    }
    all.push((command.join(" "), short, long));
}

/// The options that a text names.
fn options(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
    let names = text.split(|c: char| !is_name(c)).filter(|word| word.starts_with("--"));
    names.filter(|name| name.len() > 3).map(String::from).collect()
}

#[test]
fn help_names_options_that_exist_and_is_short() {
    let mut all = Vec::new();
    helps(&[], &mut all);
    assert!(all.len() > 25, "{} commands are seen", all.len());
    // An option begins a line, after its letter if it has one.
    let defined = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let words = lines.filter_map(|line| line.split(' ').find(|word| word.starts_with("--")));
        words.filter_map(|word| options(word).pop_first()).collect()
    };
    let known: BTreeSet<String> = all.iter().flat_map(|(_, _, long)| defined(long)).collect();
    for (command, short, long) in &all {
        let unknown: Vec<String> = options(long).difference(&known).cloned().collect();
        assert!(unknown.is_empty(), "help of '{command}' names {unknown:?}");
        let own = defined(long);
        for default in long.split("[default:").skip(1) {
            let named = options(default.split(']').next().unwrap());
            assert!(named.is_subset(&own), "a default of '{command}' names {named:?}");
        }
        let (lines, most) = (short.lines().count(), if command == "bfs" { 45 } else { 40 });
        assert!(lines <= most, "'{command} -h' has {lines} lines, {most} at most");
    }
}

/// What the engine on disk does not search is refused before anything is written.
#[test]
fn long_windows_are_searched_in_memory_only() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("run");
    for puzzle in ["pancake:9", "reversals:8"] {
        let command = ["bfs", puzzle, "--dir", run.to_str().unwrap()];
        refused(&command, 2, "can be searched only in memory");
        assert!(!run.exists());
    }
}
