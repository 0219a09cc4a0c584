//! What the program prints, as it prints it: each page beside this file has commands and their output.
//!
//! A heading begins a case. Its commands run one after the other in `bash`, in an empty directory of their own;
//! `../data` is `tests/data`, and `functions.sh` has more commands. Below a command stand `? CODE` unless it is 0, its
//! stdout, and its stderr with `! ` before each line. What differs between machines or runs is replaced (`REDACTED`).
//! In a page, a line `...` stands for any lines and `[..]` for any part of a line.
//!
//! `TILEWAVE_UPDATE=1 cargo test --release --test suite cmd::` writes into the pages what the commands print now.

mod advice;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rayon::prelude::*;
use regex::Regex;
use snapbox::{Assert, Data, assert::Action};

use crate::program::{binary, room};

/// What differs between machines and runs, and what stands for it: patterns, in this order.
const REDACTED: [(&str, &str); 24] = [
    // What a busy machine says, or a search that takes more than a second.
    (r"(?m)^load +other processes .*\n", ""),
    (
        r"(?m)^! +INFO ((database|puzzle) [0-9]+ of [0-9]+: )?(built |.* % done |.*, searching for solutions of |checking$|value [0-9]+: |building tables$|rereading |sorting |reading or ).*\n",
        "",
    ),
    (
        r#""((?:[a-z_]+_)?seconds|busy|states_per_second|nodes_per_second)":( ?)(\[[^\]]*\]|[0-9.e+-]+|null)"#,
        r#""$1":$2[TIME]"#,
    ),
    (r#""(peak_memory_bytes|memory_budget_bytes|disk_free_bytes)":( ?)[0-9]+"#, r#""$1":$2[SIZE]"#),
    (
        r#""(kernel|machine|version|threads|cores)":( ?)(\{[^}]*\}|"[^"]*"|[0-9]+)"#,
        r#""$1":$2[HERE]"#,
    ),
    (r",[0-9]+\.[0-9]+(e-[0-9]+)?(,|\n)", ",[TIME]$2"),
    (r"[0-9.]+ ([kMGT] )?(states|nodes|boards)/s", "[RATE]"),
    (
        r"(?m)^(time +)[0-9][0-9.]* (ms|s|min|h|days)(?-u:\b)( [0-9]+ (s|min|h)(?-u:\b))?",
        "$1[TIME]",
    ),
    (r"(?m)^[0-9][0-9.]* (ms|s|min|h|days)(?-u:\b)( [0-9]+ (s|min|h)(?-u:\b))?", "[TIME]"),
    (r" *(?-u:\b)[0-9][0-9.]* (ms|s|min|h|days)(?-u:\b)( [0-9]+ (s|min|h)(?-u:\b))?", " [TIME]"),
    // What is left is known where enough has been done.
    (r", ETA \[TIME\]", ""),
    (r"(?m)^(memory +)[0-9.]+ [KMGT]?i?B( at the peak|$)", "$1[SIZE]$2"),
    // Hash tables have groups of 8 or 16 places: the processor decides. JSON tells the bytes of the keys.
    (r"(?m)^(memory +.* at the peak, )[0-9.]+ [kKMGT]?i?B for lists", "$1[SIZE] for lists"),
    (r"(?m)^(free +).*", "$1[HERE]"),
    // The manifest names the machine.
    (r"(?m)^(ranks +[0-9]+, )[0-9.]+ [KMGT]?i?B", "$1[SIZE]"),
    (r"(?m)^(disk +).* at the peak, .* written, .* read, \[TIME\] at", "$1[SIZE], [TIME] at"),
    (r"(?m)^tilewave [0-9]+\.[0-9]+\.[0-9]+$", "tilewave [VERSION]"),
    (r"(?m)^v[0-9]+\.[0-9]+\.[0-9]+$", "v[VERSION]"),
    (r"(?m)^(target|kernels) .*$", "$1 [HERE]"),
    (r"(?-u:\b)[0-9,]+ threads?(?-u:\b)", "[THREADS]"),
    (r"(?-u:\b)(scalar|neon|avx2|avx512) kernel", "[KERNEL]"),
    // Manifests and logs have times of several digits in them.
    (
        r"(?m)^(disk +)[0-9.]+ KiB at the peak, [0-9.]+ KiB written",
        "$1[SIZE] at the peak, [SIZE] written",
    ),
    (r"(?m)^(time +\[TIME\]\nbytes +)[0-9]+ B$", "$1[SIZE]"),
    (r#"("nodes":[0-9]+,"seconds":\[TIME\],"bytes":)[0-9]+"#, "$1[SIZE]"),
];

macro_rules! pages {
    ($($page:ident)*) => {
        /// The pages, each with a test of its name.
        const PAGES: &[&str] = &[$(stringify!($page)),*];

        $(#[test]
        fn $page() {
            check(stringify!($page));
        })*
    };
}

pages! { bfs databases disk files help info lists plan refusals solve solve_puzzles states tables }

#[test]
fn every_page_is_checked() {
    let names = std::fs::read_dir(tests().join("cmd")).unwrap();
    let names = names.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".md")?.into())).collect();
    pages.sort();
    assert_eq!(pages, PAGES);
}

fn tests() -> PathBuf {
    crate::program::root().join("tests")
}

fn file(page: &str) -> PathBuf {
    tests().join(format!("cmd/{page}.md"))
}

fn text(page: &str) -> String {
    std::fs::read_to_string(file(page)).unwrap()
}

/// Runs the commands of a page and compares it with what they print, or rewrites it.
fn check(page: &str) {
    // A heading in a block of code is none.
    let mut cases = vec![String::new()];
    let mut is_code = false;
    for line in text(page).lines() {
        is_code ^= line.starts_with("```");
        if line.starts_with('#') && !is_code {
            cases.push(String::new());
        }
        *cases.last_mut().unwrap() += &format!("{line}\n");
    }
    let redactions = REDACTED.map(|(pattern, with)| (Regex::new(pattern).unwrap(), with));
    let found: String = cases.par_iter().map(|case| run(case, &redactions)).collect();
    let updates = std::env::var_os("TILEWAVE_UPDATE").is_some();
    let action = if updates { Action::Overwrite } else { Action::Verify };
    let assert = Assert::new().action(action).normalize_paths(false);
    assert.eq(found, Data::read_from(&file(page), None));
}

/// A case with what its commands print.
fn run(case: &str, redactions: &[(Regex, &str)]) -> String {
    let place = room();
    let dir = place.path().join("here");
    std::fs::create_dir(&dir).unwrap();
    std::os::unix::fs::symlink(tests().join("data"), place.path().join("data")).unwrap();
    let mut shown = String::new();
    let mut lines = case.lines().peekable();
    let mut is_console = false;
    while let Some(line) = lines.next() {
        is_console = line == "```console" || is_console && line != "```";
        let command = line.strip_prefix("$ ").filter(|_| is_console);
        if command.is_some() || !is_console || line == "```console" {
            shown += &format!("{line}\n");
        }
        let Some(command) = command else { continue };
        let mut script = command.to_string();
        while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
            shown += &format!("{more}\n");
            script += &format!("\n{}", &more[2..]);
        }
        let printed = output(&script, place.path());
        let mut printed = printed.replace(place.path().to_str().unwrap(), "[DIR]");
        for (pattern, with) in redactions {
            printed = pattern.replace_all(&printed, *with).into_owned();
        }
        shown += &printed;
    }
    shown
}

/// What a command prints, as a page shows it.
fn output(script: &str, place: &Path) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let program = binary();
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(place.join("here"));
    command.env("PATH", format!("{}:{path}", program.parent().unwrap().display()));
    command.env("XDG_CACHE_HOME", place.join("cache"));
    command.env("BASH_ENV", tests().join("cmd/functions.sh"));
    for name in ["TILEWAVE_KERNEL", "NO_COLOR", "COLUMNS"] {
        command.env_remove(name);
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let mut shown = match output.status.code() {
        Some(0) => String::new(),
        code => format!("? {}\n", code.map_or("signal".into(), |code| code.to_string())),
    };
    shown += &out;
    if !out.is_empty() && !out.ends_with('\n') {
        shown += "[no end of line]\n";
    }
    for line in err.lines() {
        shown += format!("! {line}").trim_end();
        shown += "\n";
    }
    shown
}
