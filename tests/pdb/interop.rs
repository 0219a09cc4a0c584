//! The same values from C and from Python.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tilewave::pdb::{Encoding, Kind, Pdb, Unobserved, encode};
use tilewave::puzzle::tiles::Board;

use crate::{Random, database, goal};

fn tools(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tools")
        .join(path)
}

/// Databases of all kinds and encodings in files, with random boards and their values.
fn cases(dir: &Path) -> Vec<(PathBuf, Vec<Board>, Vec<Option<u8>>)> {
    let mut random = Random(24);
    let mut cases = Vec::new();
    for (size, tiles) in [("3x3", &[1u16, 2, 3, 6, 7, 8][..]), ("3x4", &[2, 5, 6, 10])] {
        for kind in Kind::ALL {
            for encoding in Encoding::ALL {
                let goal = goal(size, "last");
                let table = encode(&database(&goal, tiles, kind), encoding).unwrap();
                let path = dir.join(format!("{size}_{kind}_{encoding}.pdb"));
                table.save(&path, false, &Unobserved).unwrap();
                let table = Pdb::open(&path).unwrap();
                let boards: Vec<Board> = (0..200).map(|_| random.board(goal.size())).collect();
                let values = boards.iter().map(|b| table.value(b).unwrap()).collect();
                cases.push((path, boards, values));
            }
        }
    }
    cases
}

/// Runs a program with boards on its input; returns its lines.
fn run(command: &mut Command, boards: &[Board]) -> Vec<String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let input: String = boards.iter().map(|board| format!("{board}\n")).collect();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_string)
        .collect()
}

/// Says so, loudly, when a tool is missing: the test then proves nothing.
#[allow(clippy::print_stderr)]
fn skipped(why: &str) {
    eprintln!("\n*** SKIPPED: {why} ***\n");
    assert!(
        std::env::var_os("TILEWAVE_REQUIRE_INTEROP").is_none(),
        "TILEWAVE_REQUIRE_INTEROP is set: {why}"
    );
}

#[test]
fn the_python_reader_agrees() {
    let numpy = Command::new("python3")
        .args(["-c", "import numpy"])
        .output();
    if !numpy.is_ok_and(|output| output.status.success()) {
        skipped("python3 with numpy is not installed (pip install numpy)");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (path, boards, values) in cases(dir.path()) {
        let mut command = Command::new("python3");
        let lines = run(
            command.arg(tools("python/tilewave_pdb.py")).arg(&path),
            &boards,
        );
        let expected = values
            .iter()
            .map(|v| v.map_or("None".to_string(), |v| v.to_string()));
        assert_eq!(lines, expected.collect::<Vec<_>>(), "{}", path.display());
    }
}

/// Where cargo has put the shared library for these tests.
fn library() -> Option<PathBuf> {
    let deps = std::env::current_exe()
        .unwrap()
        .parent()
        .unwrap()
        .to_path_buf();
    let name = format!(
        "{}tilewave{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let found = [deps.clone(), deps.parent().unwrap().to_path_buf()].into_iter();
    found.into_iter().find(|dir| dir.join(&name).exists())
}

#[test]
fn the_c_example_agrees() {
    if Command::new("cc").arg("--version").output().is_err() {
        skipped("there is no C compiler (cc)");
        return;
    }
    let library = library().expect("cargo has built the shared library");
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("example");
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"])
        .arg(tools("c/example.c"))
        .arg("-I")
        .arg(tools("c"))
        .arg("-L")
        .arg(&library)
        .args(["-ltilewave", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{error}");
    let command = || {
        let mut command = Command::new(&program);
        command
            .env("LD_LIBRARY_PATH", &library)
            .env("DYLD_LIBRARY_PATH", &library);
        command
    };
    for (path, boards, values) in cases(dir.path()) {
        let lines = run(command().arg(&path), &boards);
        let expected = values
            .iter()
            .map(|v| v.map_or("-2".to_string(), |v| v.to_string()));
        assert_eq!(lines, expected.collect::<Vec<_>>(), "{}", path.display());
        let wrong = run(
            command().arg(&path),
            &[Random(1).board("2x2".parse().unwrap())],
        );
        assert_eq!(wrong, ["-1"]);
    }
    let missing = command().arg("none.pdb").output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot open 'none.pdb'"));
}

/// The header is made from src/capi*; TILEWAVE_UPDATE=1 writes it again.
#[test]
fn c_header_is_up_to_date() {
    let config = cbindgen::Config::from_file(tools("c/cbindgen.toml")).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(source.join("capi.rs"))
        .with_src(source.join("capi/table.rs"))
        .generate()
        .unwrap();
    let mut header = Vec::new();
    bindings.write(&mut header);
    let path = tools("c/tilewave.h");
    if std::env::var_os("TILEWAVE_UPDATE").is_some() {
        std::fs::write(&path, &header).unwrap();
    }
    let checked_in = std::fs::read(&path).unwrap();
    assert!(
        checked_in == header,
        "tools/c/tilewave.h differs from src/capi*: run TILEWAVE_UPDATE=1 cargo test --test pdb c_header"
    );
}
