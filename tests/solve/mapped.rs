//! Databases that somebody cuts or overwrites while `solve` has them mapped.
#![cfg(target_os = "linux")]

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Output};
use std::time::{Duration, Instant};

use tilewave::pdb::{Build, Pattern};

use super::goal;
use crate::program::{start, tilewave};

/// A database of four tiles of 4x4, with which a board of depth 80 takes far longer than a test.
fn database(directory: &Path) -> PathBuf {
    let goal = goal("first", "4x4".parse().unwrap());
    let pattern = Pattern::new(goal, &[8, 9, 12, 13]).unwrap();
    let path = directory.join("four.pdb");
    let pdb = Build::new(pattern).run().unwrap();
    pdb.save(&path, false).unwrap();
    path
}

/// A search that has the database mapped.
fn search(database: &Path, options: &[&str]) -> Child {
    let mut command = tilewave(["--quiet", "solve", "--goal", "first", "--pdb"]);
    command.arg(database).args(options).arg("15 10 8 12/11 14 9 13/2 6 5 1/3 7 4 0");
    let child = start(&mut command);
    let maps = format!("/proc/{}/maps", child.id());
    let name = database.to_str().unwrap();
    let begun = Instant::now();
    while !fs::read_to_string(&maps).is_ok_and(|maps| maps.contains(name)) {
        assert!(begun.elapsed() < Duration::from_secs(60), "it is not mapped");
        std::thread::sleep(Duration::from_millis(1));
    }
    // Time for the check of the file; what comes before it is as good.
    std::thread::sleep(Duration::from_millis(200));
    child
}

fn assert_refused(output: &Output, database: &Path, what: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    let named = format!("error: '{}' was {what}", database.display());
    assert!(error.starts_with(&named), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(output.stdout.is_empty(), "{:?}", output.stdout);
}

#[test]
fn a_database_cut_while_boards_are_solved_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let database = database(directory.path());
    for threads in ["1", "2"] {
        let bytes = fs::read(&database).unwrap();
        let search = search(&database, &["--threads", threads]);
        OpenOptions::new().write(true).open(&database).unwrap().set_len(100).unwrap();
        assert_refused(&search.wait_with_output().unwrap(), &database, "truncated");
        fs::write(&database, bytes).unwrap();
    }
}

#[test]
fn no_answer_rests_on_a_database_that_was_written_to() {
    let directory = tempfile::tempdir().unwrap();
    let database = database(directory.path());
    let search = search(&database, &["--timeout", "1"]);
    let file = OpenOptions::new().write(true).open(&database).unwrap();
    file.write_all_at(&[0], file.metadata().unwrap().len() - 1).unwrap();
    assert_refused(&search.wait_with_output().unwrap(), &database, "changed");
}

#[test]
fn a_database_replaced_while_boards_are_solved_does_not_matter() {
    let directory = tempfile::tempdir().unwrap();
    let database = database(directory.path());
    let search = search(&database, &["--timeout", "0.5"]);
    fs::remove_file(&database).unwrap();
    fs::write(&database, "another file").unwrap();
    let output = search.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.stderr.is_empty() && text.contains("gave up"), "{text}");
}
