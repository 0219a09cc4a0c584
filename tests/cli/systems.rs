//! What the program says of bad input on every system: the pages in `tests/cmd` are those of one.

use std::ffi::OsString;

use crate::program::{room, run, tilewave};

/// The one line of a command that must fail.
fn refusal(args: &[OsString], code: i32) -> String {
    let place = room();
    for name in ["dir", "dir.gap"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
    }
    let done = run(tilewave(args).current_dir(place.path()));
    assert_eq!(done.code, Some(code), "{args:?}: {}", done.err);
    let lines: Vec<&str> = done.err.lines().collect();
    assert!(lines.len() == 1 && lines[0].starts_with("error: "), "{args:?}: {}", done.err);
    lines[0].to_string()
}

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

/// Windows says of a directory that access to it is denied.
#[test]
fn a_directory_in_place_of_a_file_is_called_a_directory() {
    for line in [
        "state --table dir 8,6,7,2,5,4,3,0,1",
        "pdb probe --pdb dir 8,6,7,2,5,4,3,0,1",
        "solve --no-cache -q --log dir 8,6,7,2,5,4,3,0,1",
        "bfs 2x3 -o dir",
        "table 2x3 -o dir",
        "bfs dir.gap",
    ] {
        let said = refusal(&words(line), 1).to_lowercase();
        assert!(said.contains("is a directory"), "{line}: {said}");
    }
}

#[test]
fn an_argument_that_is_no_unicode_is_one_line() {
    #[cfg(unix)]
    let odd: OsString = std::os::unix::ffi::OsStringExt::from_vec(b"x\xff".to_vec());
    #[cfg(windows)]
    let odd: OsString = std::os::windows::ffi::OsStringExt::from_wide(&[0x78, 0xd800]);
    for line in ["bfs", "pdb build", "bfs 3x3 3x4"] {
        let args: Vec<OsString> = words(line).into_iter().chain([odd.clone()]).collect();
        refusal(&args, 2);
    }
}

/// Names of devices, and characters that no name may have.
#[cfg(windows)]
#[test]
fn names_that_windows_refuses_are_named() {
    for (name, says) in [
        ("aux", "is a device in Windows"),
        ("dir\\com1.json", "is a device in Windows"),
        ("a?b", "choose a name without any of"),
        ("trailing*", "choose a name without any of"),
    ] {
        let line = format!("bfs 2x3 --format json -o {name}");
        let said = refusal(&words(&line), 1);
        assert!(said.contains(says), "{name}: {said}");
    }
}

/// A file that is open is replaced, or the line says why not and the old file stays.
#[test]
fn a_file_that_is_in_use_is_replaced_or_the_line_says_so() {
    let place = room();
    let path = place.path().join("in use.json");
    std::fs::write(&path, "old").unwrap();
    let open = std::fs::File::open(&path).unwrap();
    let mut command = tilewave(["bfs", "2x3", "--format", "json", "--force", "-o"]);
    let done = run(command.arg(&path));
    drop(open);
    let text = std::fs::read_to_string(&path).unwrap();
    if done.ok() || cfg!(unix) {
        assert!(text.starts_with('{'), "{text} {}", done.err);
    } else {
        assert_eq!(text, "old");
        assert!(done.err.contains("; close the programs that use the file"), "{}", done.err);
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "something was left");
}
