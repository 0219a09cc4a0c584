use super::*;

const KIND: FileKind = FileKind {
    noun: "journal of a test",
    make: "make another",
};

fn open(path: &Path) -> Result<(Journal, Vec<String>), FileError> {
    Journal::open(path, KIND, "{\"test\":")
}

fn written(path: &Path, numbers: std::ops::Range<u32>) -> Vec<String> {
    let (mut journal, before) = open(path).unwrap();
    for n in numbers {
        journal.append(&format!("{{\"test\":{n}}}")).unwrap();
    }
    before
}

#[test]
fn lines_come_back_and_more_follow() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    assert!(written(&path, 0..3).is_empty());
    assert_eq!(
        written(&path, 3..5),
        ["{\"test\":0}", "{\"test\":1}", "{\"test\":2}"]
    );
    assert_eq!(open(&path).unwrap().1.len(), 5);
    for line in std::fs::read_to_string(&path).unwrap().lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["sum"].as_str().unwrap().len(), DIGITS);
    }
}

#[test]
fn half_a_last_line_is_cut_off_by_the_next_and_not_before() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    written(&path, 0..3);
    let bytes = std::fs::read(&path).unwrap();
    for cut in 0..bytes.len() {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let whole = cut / (bytes.len() / 3);
        assert_eq!(open(&path).unwrap().1.len(), whole, "{cut}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes[..cut]);
        let next = whole as u32..3;
        assert_eq!(written(&path, next).len(), whole);
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{cut}");
    }
}

#[test]
fn every_change_is_found_and_the_line_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    written(&path, 0..4);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let damaged = |lines: &[&str]| {
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let error = open(&path).unwrap_err();
        let Some(Problem::Line { line }) = error.problem() else {
            panic!("{error}");
        };
        *line
    };
    assert_eq!(damaged(&[lines[0], lines[2], lines[3]]), 2, "removed");
    assert_eq!(damaged(&[lines[0], lines[2], lines[1]]), 2, "moved");
    assert_eq!(damaged(&[lines[0], lines[0]]), 2, "doubled");
    let other = lines[2].replace("\"test\":2", "\"test\":7");
    assert_eq!(damaged(&[lines[0], lines[1], &other]), 3, "changed");
    assert_eq!(damaged(&[lines[0], "", lines[1]]), 2, "empty");
    assert_eq!(damaged(&[lines[0], "\u{fc}\"}"]), 2, "short");
}

#[test]
fn what_is_somebody_elses_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    for other in ["a table of mine", "{\"tes", "{\"text\":1}\n", "\n"] {
        std::fs::write(&path, other).unwrap();
        match (open(&path), other) {
            (Ok((_, lines)), "{\"tes") => assert!(lines.is_empty(), "half a first line"),
            (opened, _) => {
                let error = opened.unwrap_err();
                assert_eq!(error.problem(), Some(&Problem::Other), "{other}");
            }
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
    }
    assert!(open(dir.path()).is_err());
}

#[test]
fn one_process_writes_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let first = open(&path).unwrap();
    let error = open(&path).unwrap_err().to_string();
    assert!(error.contains("another process"), "{error}");
    drop(first);
    open(&path).unwrap();
}
