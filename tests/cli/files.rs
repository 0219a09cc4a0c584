//! Files are written whole or not at all.

use std::fs;

use super::{refused, stdout, tilewave};

fn entries(dir: &tempfile::TempDir) -> Vec<String> {
    let names = fs::read_dir(dir.path()).unwrap();
    let mut names: Vec<String> = names
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
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
    stdout(&[
        "bfs",
        "3x3",
        "--plot",
        &path("3x3.png"),
        "-o",
        &path("3x3.txt"),
    ]);
    assert_eq!(entries(&dir), ["3x3.csv", "3x3.png", "3x3.svg", "3x3.txt"]);
    assert_eq!(
        fs::read_to_string(path("3x3.csv")).unwrap().lines().count(),
        33
    );
    let svg = fs::read_to_string(path("3x3.svg")).unwrap();
    assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains("3x3: 181,440 states, diameter 31"));
    let png = fs::read(path("3x3.png")).unwrap();
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    assert!(png.ends_with(b"IEND\xae\x42\x60\x82"));
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
        "exists: choose another name or give --force",
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    stdout(&["bfs", "2x3", "--format", "csv", "-o", path, "--force"]);
    assert!(fs::read_to_string(&file).unwrap().starts_with("depth,"));

    let plot = dir.path().join("kept.svg");
    fs::write(&plot, "precious").unwrap();
    refused(
        &["bfs", "2x3", "--plot", plot.to_str().unwrap()],
        1,
        "--force",
    );
    assert_eq!(fs::read_to_string(&plot).unwrap(), "precious");
}

#[test]
fn nothing_is_left_behind_when_a_search_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("never.svg");
    let path = path.to_str().unwrap();
    refused(
        &["bfs", "3x3", "-M", "10B", "--plot", path, "-o", path],
        1,
        "budget",
    );
    assert_eq!(entries(&dir), [""; 0]);
}

#[test]
fn an_unwritable_place_is_refused_before_the_search() {
    refused(
        &["bfs", "2x3", "-o", "/nonexistent/dir/x.csv"],
        1,
        "cannot write '/nonexistent/dir/x.csv'",
    );
    refused(
        &["bfs", "2x3", "--plot", "/nonexistent/x.png"],
        1,
        "cannot write",
    );
    let dir = tempfile::tempdir().unwrap();
    refused(
        &["bfs", "2x3", "-o", dir.path().to_str().unwrap()],
        1,
        "is a directory",
    );
    refused(&["bfs", "2x3", "--plot", "x.pdf"], 2, "end in .svg or .png");
}

#[cfg(target_os = "linux")]
#[test]
fn devices_are_written_to() {
    stdout(&["bfs", "2x3", "-o", "/dev/null", "--force"]);
    refused(
        &["bfs", "2x3", "-o", "/dev/full"],
        1,
        "cannot write '/dev/full'",
    );
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
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_says_so_and_exits_130() {
    use std::process::{Command, Stdio};
    use std::time::Duration;
    let program = tilewave(&[]).get_program().to_owned();
    // The reference engine takes seconds for this board; the signal comes long before.
    let child = Command::new(program)
        .args(["bfs", "3x4", "--engine", "reference", "--no-progress"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.starts_with("error: interrupted at depth ") && error.lines().count() == 1,
        "{error}"
    );
    assert!(output.stdout.is_empty());
}
