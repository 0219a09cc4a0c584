//! Files are written whole or not at all.

use std::fs;

use super::{refused, stdout, tilewave};

fn entries(dir: &tempfile::TempDir) -> Vec<String> {
    let names = fs::read_dir(dir.path()).unwrap();
    let mut names: Vec<String> =
        names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn results_and_plots_go_to_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
    let out = stdout(&[
        "bfs",
        "3x3",
        "--format",
        "csv",
        "-o",
        &path("3x3.csv"),
        "--plot",
        &path("3x3.svg"),
    ]);
    assert_eq!(out, "");
    stdout(&["bfs", "3x3", "--plot", &path("3x3.png"), "-o", &path("3x3.txt")]);
    assert_eq!(entries(&dir), ["3x3.csv", "3x3.png", "3x3.svg", "3x3.txt"]);
    assert_eq!(fs::read_to_string(path("3x3.csv")).unwrap().lines().count(), 33);
    let svg = fs::read_to_string(path("3x3.svg")).unwrap();
    assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains("3x3: 181,440 states, God's number 31"));
    let png = fs::read(path("3x3.png")).unwrap();
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    assert!(png.ends_with(b"IEND\xae\x42\x60\x82"));
}

#[test]
fn the_report_is_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("3x3.html");
    let name = path.to_str().unwrap();
    stdout(&["bfs", "3x3", "--html", name]);
    let page = fs::read_to_string(&path).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(page.contains("<title>3x3: 181,440 states, God&#39;s number 31</title>"));
    assert!(page.contains("2 antipodes at depth 31"));
    assert!(page.contains(r#"aria-label="8 6 7/2 5 4/3 0 1""#));
    refused(&["bfs", "3x3", "--html", name], 1, "--force");
    let both = ["bfs", "3x3", "--html", "x", "-o", "x"];
    refused(&both, 2, "--html and --output specify the same file");
    assert_eq!(entries(&dir), ["3x3.html"]);
}

#[test]
fn an_existing_file_is_kept_without_force() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("kept.csv");
    fs::write(&file, "precious").unwrap();
    let path = file.to_str().unwrap();
    refused(
        &["bfs", "2x3", "-o", path],
        1,
        "already exists: choose another name, or replace it with --force",
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    stdout(&["bfs", "2x3", "--format", "csv", "-o", path, "--force"]);
    assert!(fs::read_to_string(&file).unwrap().starts_with("depth,"));

    let plot = dir.path().join("kept.svg");
    fs::write(&plot, "precious").unwrap();
    refused(&["bfs", "2x3", "--plot", plot.to_str().unwrap()], 1, "--force");
    assert_eq!(fs::read_to_string(&plot).unwrap(), "precious");
}

#[test]
fn nothing_is_left_behind_when_a_search_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("never.svg");
    let path = path.to_str().unwrap();
    refused(&["bfs", "3x3", "-M", "10B", "--plot", path], 1, "the limit is");
    refused(&["bfs", "3x3", "-M", "10B", "-o", path], 1, "the limit is");
    assert_eq!(entries(&dir), [""; 0]);
}

#[test]
fn an_unwritable_place_is_refused_before_the_search() {
    refused(&["bfs", "2x3", "-o", "/dev/null/dir/x.csv"], 1, "cannot write '/dev/null/dir/x.csv'");
    refused(
        &["bfs", "2x3", "--plot", "/dev/null/x.png"],
        1,
        // Not the name of a temporary file.
        "cannot write '/dev/null/x.png': Not a directory (os error 20); a part of the path is a file, not a directory",
    );
    let dir = tempfile::tempdir().unwrap();
    refused(&["bfs", "2x3", "-o", dir.path().to_str().unwrap()], 1, "is a directory");
    refused(&["bfs", "2x3", "--plot", "x.pdf"], 2, "end in .svg or .png");
}

/// Whoever edits a puzzle on Windows has the same puzzle.
#[test]
fn line_ends_of_windows_are_line_ends() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["dino.gap", "dino.tws", "rings.gap", "dino.kpuzzle.json"] {
        let original = format!("{}/tests/data/puzzles/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(&original).unwrap();
        let copy = dir.path().join(file);
        fs::write(&copy, text.replace('\n', "\r\n")).unwrap();
        let search = |path: &str| {
            let json = stdout(&["bfs", path, "--max-depth", "3", "--format", "json"]);
            let found: serde_json::Value = serde_json::from_str(&json).unwrap();
            (found["counts"].clone(), found["checksums"].clone())
        };
        assert_eq!(search(copy.to_str().unwrap()), search(&original), "{file}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn devices_are_written_to() {
    stdout(&["bfs", "2x3", "-o", "/dev/null", "--force"]);
    refused(&["bfs", "2x3", "-o", "/dev/full"], 1, "cannot write '/dev/full'");
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_success() {
    use std::process::{Command, Stdio};
    let program = tilewave(&[]).get_program().to_owned();
    let mut child = Command::new(program)
        .args(["bfs", "2x3"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Starts a search that takes seconds and waits until it has finished a few levels.
#[cfg(unix)]
fn begun(args: &[&str]) -> (std::process::Child, std::io::BufReader<std::process::ChildStderr>) {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let search = ["bfs", "3x4", "--engine", "reference", "-v"];
    let mut child = Command::new(tilewave(&[]).get_program())
        .args(search.iter().chain(args))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("depth 9:") {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "the search ended early");
    }
    (child, log)
}

#[cfg(unix)]
fn signal(child: &std::process::Child, name: &str) {
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill").args([name, &pid]).status().unwrap();
    assert!(sent.success());
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_says_so_and_exits_130() {
    use std::io::Read;
    let (child, mut log) = begun(&[]);
    signal(&child, "-INT");
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let errors: Vec<&str> = rest.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{rest}");
    assert!(errors[0].contains("interrupted at depth ") && rest.trim_end().ends_with(errors[0]));
    assert!(output.stdout.is_empty());
}

#[cfg(unix)]
#[test]
fn a_killed_search_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let (text, plot) = (dir.path().join("3x4.txt"), dir.path().join("3x4.svg"));
    let args = ["-o", text.to_str().unwrap(), "--plot", plot.to_str().unwrap()];
    let (child, _log) = begun(&args);
    assert_eq!(entries(&dir), [""; 0]);
    signal(&child, "-KILL");
    child.wait_with_output().unwrap();
    assert_eq!(entries(&dir), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_file_that_appears_during_the_search_is_kept() {
    use std::io::Read;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("late.txt");
    let (child, mut log) = begun(&["--max-depth", "22", "-o", file.to_str().unwrap()]);
    fs::write(&file, "precious").unwrap();
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(1));
    assert!(
        rest.contains("already exists: choose another name, or replace it with --force"),
        "{rest}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    assert_eq!(entries(&dir), ["late.txt"]);
}

#[cfg(unix)]
#[test]
fn a_new_file_gets_the_permissions_that_the_user_wants() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    for (mask, mode) in [("077", 0o600), ("022", 0o644)] {
        let script = format!("umask {mask}; exec \"$0\" bfs 2x2 --force -o \"$1\"");
        let status = std::process::Command::new("sh")
            .args(["-c", &script])
            .arg(tilewave(&[]).get_program())
            .arg(&file)
            .status()
            .unwrap();
        assert!(status.success());
        let found = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, mode, "umask {mask}");
    }
}

#[test]
fn every_command_with_a_result_writes_files() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.json");
    for command in [
        vec!["state", "1 2 3/4 0 5"],
        vec!["verify", "2x3"],
        vec!["plan", "2x3"],
        vec!["antipodes", "2x3"],
        vec!["bfs", "2x3"],
    ] {
        let options = ["--format", "json", "--force", "-o", file.to_str().unwrap()];
        assert_eq!(stdout(&[&command[..], &options].concat()), "");
        let value: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let first = if value.is_array() { &value[0] } else { &value };
        assert!(first["board"].is_string(), "{command:?}");
    }
}

#[test]
fn one_file_cannot_be_both_table_and_plot() {
    let args = ["bfs", "2x3", "--plot", "both.svg", "-o", "both.svg"];
    refused(&args, 2, "specify the same file");
}
