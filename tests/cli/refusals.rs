//! Bad input: one clear line, the right exit code.

use super::{refused, stdout, tilewave};

#[test]
fn wrong_sizes() {
    refused(&["bfs", "x"], 2, "'x' is not a puzzle: specify a board (3x4)");
    refused(
        &["bfs", "3x3x3x3"],
        2,
        "'3x3x3x3' is neither a board size (3x4) nor a cube (3x3x3, at most 20x20x20)",
    );
    refused(&["bfs", "1x1"], 2, "too small");
    refused(&["bfs", "1x8"], 2, "too small");
    refused(&["bfs", "5x5"], 1, "limit the depth with --max-depth");
    refused(&["bfs", "300x300"], 2, "too large");
    refused(&["plan", "4x5", "--ranks", "2"], 2, "--ranks");
    refused(&["verify", "3x3", "3by3"], 2, "'3by3'");
    refused(&["antipodes", "0x0"], 2, "too small");
}

#[test]
fn wrong_boards() {
    refused(&["state", "1 2 3/4 5 6/7 8 8"], 2, "tile 8 occurs twice and the blank is missing");
    refused(&["state", "1 2 3/4 5 6/7 9 0"], 2, "tile 9 is not on a 3x3 board");
    refused(&["state", "1 2 3 4 5 0"], 2, "specify the size");
    refused(&["state", "2x3", "1 2/3 4/5 0"], 2, "instead of 2x3");
    refused(&["state", "--id", "3"], 2, "a state number needs a puzzle");
    refused(&["state", "2x3", "--id", "360"], 2, "a 2x3 board has ids 0 to 359");
    refused(&["state", "2x3", "--line", "60", "--cell", "0"], 2, "lines 0 to 59 and cells");
    refused(&["bfs", "3x3", "--start", "1 2 3"], 2, "3x3 needs 9");
    refused(&["bfs", "3x3", "--start", "2 1 3/4 5 6/7 8 0"], 1, "parity is odd");
    refused(&["bfs", "3x3", "--goal", "blank=9"], 2, "cells are numbered 0 to 8");
    refused(&["bfs", "3x3", "--goal", "somewhere"], 2, "not a goal");
}

#[test]
fn wrong_options() {
    refused(&["bfs"], 2, "required arguments");
    refused(
        &["bfs", "3x3", "--frmat", "csv"],
        2,
        "did you mean --format?); see tilewave bfs --help",
    );
    refused(&["bfs", "3x3", "--format", "xml"], 2, "--format: 'xml' is not one of text, csv, json");
    refused(&["bfs", "3x3", "-j", "1025"], 2, "'1025' is not a whole number from 0 to 1024");
    refused(
        &["solve", "2x2x2", "R", "U2"],
        2,
        "to give one state as moves, put quotes around the moves (tilewave solve 2x2x2 \"R U2\")",
    );
    let both = ["solve", "1 2 3/4 5 6/7 0 8", "--pdb", "a.pdb", "--table", "a.table"];
    refused(&both, 2, "cannot be used together with");
    refused(
        &["bfs", "3x3", "--max-depth", "2", "--max-depth", "3"],
        2,
        "--max-depth is given twice",
    );
    refused(&["bfs", "3x3", "-M", "8"], 2, "a number and a unit");
    refused(&["bfs", "2x3", "--engine", "sweep"], 2, "--engine reference");
    refused(&["serach", "3x3"], 2, "unknown command 'serach'");
    refused(&["state"], 2, "no state was given: pass states as arguments, or one per line");
    // No table is built for no state.
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("kept");
    refused(&["solve", "3x3x3", "--cache-dir", kept.to_str().unwrap()], 2, "no state was given");
    assert!(!kept.exists());
    refused(&["check"], 2, "required arguments");
}

#[test]
fn too_little_memory() {
    refused(&["bfs", "3x4", "-M", "1MiB"], 1, "needs 40.6 MiB of memory");
    refused(&["bfs", "4x4"], 1, "raise the limit with --memory");
    // What is too large for any memory ends in the same way, and both name the way out.
    for board in ["4x4", "5x5"] {
        refused(&["bfs", board], 1, " depth with --max-depth");
    }
    refused(&["bfs", "3x3x3"], 1, "has 43,252,003,274,489,856,000 states");
    let depth = ["bfs", "3x3x3", "--max-depth", "7", "-M", "600kB"];
    refused(&depth, 1, "do not fit in 600 kB of memory");
}

#[test]
fn boards_without_quotes_and_metrics_of_others_are_told_apart() {
    let words = ["1", "2", "3/4", "5", "6/7", "8", "0"];
    let quote = "'1' is a single tile, not a board: put quotes around the whole board";
    refused(&[&["solve"], &words[..]].concat(), 2, quote);
    refused(&[&["state"], &words[..]].concat(), 2, quote);
    refused(&["bfs", "3x3", "1"], 2, "quote boards and states that contain spaces");
    let metrics = "--metric mtm is only for boards: use htm or qtm for 3x3x3";
    refused(&["bfs", "3x3x3", "--metric", "mtm", "--max-depth", "2"], 2, metrics);
    refused(&["table", "3x3x3", "-o", "never"], 2, "keep fewer pieces (--pieces)");
    refused(&["bfs", "3x3x3", "--engine", "sweep"], 2, "this is a list search of 3x3x3");
    refused(&["encode", "1 2 3/4 5 6/0 7 8"], 2, "specify a file to write (--cnf, --lp or --mps");
    refused(&["state", "2x2x2", "R X"], 2, "'X' is not a move of 2x2x2: the moves are U F R ");
    refused(&["state", "pancake:3", "3 3 1"], 2, "element 3 occurs twice");
}

#[test]
fn wrong_kernels() {
    let output = tilewave(&["bfs", "3x3"]).env("TILEWAVE_KERNEL", "mmx").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("'mmx' is not a kernel: choose scalar"), "{error}");
}

#[test]
fn no_command_shows_the_help() {
    let output = tilewave(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Usage: tilewave"));
}

/// Arguments that are no Unicode are refused like others.
#[cfg(unix)]
#[test]
fn arguments_that_are_no_unicode_are_refused() {
    use std::os::unix::ffi::OsStringExt;
    let wrong = || std::ffi::OsString::from_vec(vec![b'x', 0xff]);
    for words in [&["bfs", "3x3", "3x4"][..], &["bfs"], &["solve", "--pdb"], &["pdb", "build"], &[]]
    {
        let output = tilewave(words).arg(wrong()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(matches!(output.status.code(), Some(1 | 2)), "{words:?}: {error}");
        assert!(error.lines().count() == 1 && error.starts_with("error: "), "{words:?}: {error}");
    }
}

/// No advice leads back to where it came from.
#[test]
fn advice_can_be_followed() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("new");
    let dir = dir.to_str().unwrap();
    refused(&["bfs", "2x3", "--dir", dir], 2, "can be searched only in memory: leave out --dir");
    refused(&["bfs", "2x3", "--engine", "sweep"], 2, "use --engine reference");
    stdout(&["bfs", "2x3"]);
    stdout(&["bfs", "2x3", "--engine", "reference"]);
    // What would not fit is refused at once, and says what fits.
    let begun = std::time::Instant::now();
    let many = ["bfs", "3x3x3", "--generators", "R,U,F2", "-M", "100MB"];
    refused(&many, 1, "too many for a complete search in 100 MB of memory, in which depth");
    assert!(begun.elapsed().as_secs() < 60);
    stdout(&[&many[..], &["--max-depth", "3"]].concat());
}
