//! What `src/store/output.rs` keeps to itself.

use super::*;

fn put(path: &Path, replace: bool, bytes: &[u8]) -> Result<(), OutputError> {
    let mut output = Output::create(path, replace)?;
    output.write(bytes, |_| true)?;
    output.finish()
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn an_output_appears_when_finished_and_not_before() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let mut output = Output::create(&path, false).unwrap();
    output.write(&[7; 100], |_| true).unwrap();
    assert!(!path.exists());
    output.finish().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), [7; 100]);

    for again in [
        Output::check(&path, false),
        Output::create(&path, false).map(drop),
    ] {
        assert!(matches!(again, Err(OutputError::Exists(_))));
    }
    for len in [10, 3 * CHUNK + 5] {
        let mut output = Output::create(&path, true).unwrap();
        let stopped = output.write(&vec![8; len], |_| false);
        assert!(matches!(stopped, Err(OutputError::Interrupted)));
    }
    assert_eq!(std::fs::read(&path).unwrap(), [7; 100]);
    let long: Vec<u8> = (0..3 * CHUNK + 5).map(|i| (i % 251) as u8).collect();
    put(&path, true, &long).unwrap();
    assert!(std::fs::read(&path).unwrap() == long);
    // Made by somebody else while it was written.
    let other = dir.path().join("y");
    let late = Output::create(&other, false).unwrap();
    std::fs::write(&other, "theirs").unwrap();
    assert!(matches!(late.finish(), Err(OutputError::Exists(_))));
    assert_eq!(std::fs::read(&other).unwrap(), b"theirs");
    assert_eq!(names(dir.path()), ["x", "y"]);
}

#[cfg(unix)]
#[test]
fn devices_and_links_are_never_replaced() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let dir = tempfile::tempdir().unwrap();
    let kind = |path: &Path| path.symlink_metadata().unwrap().file_type();
    for device in ["/dev/null", "/dev/full"] {
        let link = dir.path().join(&device[5..]);
        symlink(device, &link).unwrap();
        for path in [Path::new(device), &link] {
            let result = put(path, true, b"abc");
            assert_eq!(result.is_ok(), device == "/dev/null", "{device}");
            assert!(kind(Path::new(device)).is_char_device());
        }
        assert!(kind(&link).is_symlink());
    }
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    symlink("file", &link).unwrap();
    put(&link, false, b"new").unwrap();
    assert!(matches!(
        put(&link, false, b""),
        Err(OutputError::Exists(_))
    ));
    put(&link, true, b"newer").unwrap();
    assert!(kind(&link).is_symlink() && kind(&file).is_file());
    assert_eq!(std::fs::read(&file).unwrap(), b"newer");
    let around = dir.path().join("around");
    symlink("around", &around).unwrap();
    assert!(put(&around, true, b"").is_err());
    assert_eq!(
        names(dir.path()),
        ["around", "file", "full", "link", "null"]
    );
}

#[test]
fn what_a_killed_process_left_is_removed_and_what_others_write_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let kept = ["user.part", ".tilewave-short.part", ".tilewave-notes.txt"];
    for name in kept {
        std::fs::write(dir.path().join(name), "").unwrap();
    }
    std::fs::write(dir.path().join(".tilewave-a1B2c3D4e5F6.part"), "").unwrap();
    let mut other = Output::create(&dir.path().join("other"), false).unwrap();
    put(&dir.path().join("x"), false, b"").unwrap();
    assert_eq!(names(dir.path()).len(), kept.len() + 2);
    other.write(b"abc", |_| true).unwrap();
    other.finish().unwrap();
    let mut expected = kept.map(String::from).to_vec();
    expected.extend(["other".into(), "x".into()]);
    expected.sort();
    assert_eq!(names(dir.path()), expected);
}

#[test]
fn missing_directories_are_made_when_there_is_something_to_write() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b/c");
    Output::check(&path, false).unwrap();
    assert!(names(dir.path()).is_empty());
    put(&path, false, b"abc").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"abc");
    for (wrong, says) in [
        ("a/b", "it is a directory"),
        ("a/b/d/", "it is a directory"),
        ("a/b/c/d", "a part of its path is a file"),
        ("a/b/c/d/e", "a part of its path is a file"),
    ] {
        let path = dir.path().join(wrong);
        for result in [Output::check(&path, true), put(&path, true, b"")] {
            let text = result.unwrap_err().to_string();
            assert!(text.contains(says), "{wrong}: {text}");
        }
    }
}

#[cfg(unix)]
#[test]
fn stdout_has_many_names() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("-");
    std::os::unix::fs::symlink("/dev/stdout", &link).unwrap();
    for name in ["-", "/dev/stdout", "/dev/fd/1", link.to_str().unwrap()] {
        assert!(Output::is_stdout(Path::new(name)), "{name}");
    }
    assert!(!Output::is_stdout(Path::new("./-")));
    assert!(!Output::is_stdout(Path::new("/dev/null")));
}

#[test]
fn the_advice_fits_the_error() {
    for (code, says) in [
        (28, "free some space"),
        (30, "can be written"),
        (13, "you can write to"),
        (20, "a part of its path is a file"),
        (27, "ulimit"),
    ] {
        let text = failed(Path::new("x"))(io::Error::from_raw_os_error(code)).to_string();
        let one = text.contains(says) && text.matches(';').count() == 1;
        assert!(!cfg!(target_os = "linux") || one, "{code}: {text}");
    }
}
