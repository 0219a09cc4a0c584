//! What a command shows on a terminal.
#![cfg(target_os = "linux")]

use std::process::Command;

use crate::program::{binary, run};

/// What a command shows on a terminal of some columns, as it was drawn.
fn on_terminal(columns: usize, environment: &str, command: &str) -> String {
    let program = binary();
    let shown =
        format!("stty cols {columns} rows 24; {environment} {} {command}", program.display());
    let mut script = Command::new("script");
    script.args(["-qec", &shown, "/dev/null"]).env("TERM", "xterm").env("SHELL", "/bin/bash");
    let done = run(script.env_remove("COLUMNS").env_remove("NO_COLOR"));
    assert!(done.ok(), "{} {}", done.out, done.err);
    done.out
}

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
fn visible(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut shown = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |i| i + 1);
        shown += &part[end..];
    }
    shown
}
