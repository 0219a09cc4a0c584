//! The searches to a depth in docs/results/depths are taken from reports: deeper ones, and those of turned boards.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use super::{error, results, tool};

/// A copy of one file, in a directory of its own.
struct Copied {
    dir: tempfile::TempDir,
    name: &'static str,
    text: String,
}

impl Copied {
    fn of(name: &'static str) -> Copied {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("depths")).unwrap();
        let text = fs::read_to_string(results().join(format!("depths/{name}.json"))).unwrap();
        let copied = Copied { dir, name, text };
        copied.write(&copied.text);
        copied
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join(format!("depths/{}.json", self.name))
    }

    fn write(&self, text: &str) {
        fs::write(self.path(), text).unwrap();
    }

    fn now(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    fn value(&self) -> Value {
        serde_json::from_str(&self.now()).unwrap()
    }

    /// What `tools/results depths` says of a report; `None` without Python.
    fn take(&self, found: &Value) -> Option<Output> {
        let report = self.dir.path().join("report");
        fs::write(&report, found.to_string()).unwrap();
        tool(self.dir.path(), &["depths", self.name, "--report", report.to_str().unwrap()])
    }

    fn is_right(&self) {
        let check = tool(self.dir.path(), &["check"]).unwrap();
        assert!(check.status.success(), "{}", error(&check));
    }
}

/// A search's JSON with another level, of seven states, as if that were counted and not stored.
fn with_a_level(found: &Value) -> Value {
    let mut longer = found.clone();
    for (key, value) in [("counts", 7.into()), ("reduced", 7.into()), ("checksums", "07".into())] {
        longer[key].as_array_mut().unwrap().push(value);
    }
    longer["level_bytes"] = [9, 0, 0].into_iter().collect();
    longer["level_seconds"].as_array_mut().unwrap().push(0.5.into());
    longer["total"] = (found["total"].as_u64().unwrap() + 7).into();
    longer
}

/// The JSON of a search of the program itself, with the keys of the files, which have no objects in them.
fn searched(board: &str, goal: &str, depth: &str) -> Value {
    let words = ["bfs", board, "--goal", goal, "--engine", "frontier", "--max-depth", depth];
    let mut program = Command::new(crate::program::binary());
    let done = program.args(words).args(["-q", "--format", "json"]).output().unwrap();
    assert!(done.status.success(), "{}", error(&done));
    let mut found: Value = serde_json::from_slice(&done.stdout).unwrap();
    let lists = found["lists"].take();
    for (key, value) in lists.as_object().unwrap() {
        let key = if key == "bytes" { "level_bytes" } else { key };
        found[key] = value.clone();
    }
    found
}

/// A search that took hours is taken from its report if it agrees with the file, whose confirmations stay.
#[test]
fn a_longer_search_is_taken_from_its_report() {
    let file = Copied::of("2x9");
    let before = file.value();
    let levels = before["counts"].as_array().unwrap().len();
    let mut longer = with_a_level(&before);
    let mut other = longer.clone();
    other["counts"][9] = 1.into();
    for (found, told) in [(&before, "no deeper"), (&other, "other counts")] {
        let Some(refused) = file.take(found) else { return };
        assert_eq!(refused.status.code(), Some(1));
        assert!(error(&refused).contains(told), "{}", error(&refused));
        assert_eq!(file.now(), file.text);
    }
    // The command names a directory if the search had one.
    for (disk, options) in [(None, ""), (Some(9), " --dir DIR")] {
        longer["disk_peak_bytes"] = disk.into();
        file.write(&file.text);
        let taken = file.take(&longer).unwrap();
        assert!(taken.status.success(), "{}", error(&taken));
        let after = file.value();
        assert_eq!(after["counts"][levels].as_u64(), Some(7));
        assert_eq!(after["counts"], longer["counts"]);
        assert_eq!(after["confirmed"], before["confirmed"]);
        let command = after["command"].as_str().unwrap();
        let expected = format!("--max-depth 32{options} --count-ahead=1 ");
        assert!(command.contains(&expected), "{command}");
        file.is_right();
    }
}

/// A search of the board turned round confirms the file as far as both go, if it is that search and finds the same.
#[test]
fn a_search_of_the_turned_board_confirms_the_file() {
    let file = Copied::of("2x9");
    let mut before = file.value();
    let by_orientation = |file: &Value| {
        let all = file["confirmed"].as_array().unwrap();
        all.iter().position(|one| one["by"] == "orientation").unwrap()
    };
    let at = by_orientation(&before);
    before["confirmed"][at]["to_depth"] = 9.into();
    file.write(&before.to_string());
    let search = |blank| searched("2x9", blank, "11");
    let turned = search("blank=17");
    let mut other = turned.clone();
    other["reduced"][10] = 1.into();
    // Another goal, a wrong count, and the same search, which confirms nothing.
    for (found, told) in [
        (&search("blank=2"), "no deeper"),
        (&other, "has other reduced than the file"),
        (&search("blank=0"), "no deeper"),
    ] {
        let Some(refused) = file.take(found) else { return };
        assert_eq!(refused.status.code(), Some(1));
        assert!(error(&refused).contains(told), "{}", error(&refused));
        assert_eq!(file.now(), before.to_string());
    }
    for (code, told) in [(0, ""), (1, "is confirmed to depth 11")] {
        let taken = file.take(&turned).unwrap();
        assert_eq!(taken.status.code(), Some(code));
        assert!(error(&taken).contains(told), "{}", error(&taken));
        let after = file.value();
        assert_eq!(after["counts"], before["counts"]);
        let confirmed = &after["confirmed"][by_orientation(&after)];
        assert_eq!(confirmed["to_depth"], 11);
        let command =
            "tilewave bfs 2x9 --goal blank=17 --engine frontier --max-depth 11 --format json";
        assert_eq!(confirmed["command"], command);
    }
    file.is_right();
}

/// A search of the turned board that goes deeper is the file from then on. What was the file confirms it; the other
/// kernel searches the turned board anew, and the file is held to the states of that board.
#[test]
fn a_deeper_search_of_the_turned_board_is_the_file() {
    let file = Copied::of("5x5-blank6");
    let before = file.value();
    let deeper = with_a_level(&searched("5x5", "blank=18", "20"));
    let Some(taken) = file.take(&deeper) else { return };
    assert!(taken.status.success(), "{}", error(&taken));
    let after = file.value();
    for key in ["counts", "reduced", "checksums", "total"] {
        assert_eq!(after[key], deeper[key], "{key}");
    }
    let words = after["command"].as_str().unwrap();
    assert!(words.contains("--goal blank=18 --engine frontier --max-depth 21"), "{words}");
    let by = |name: &str| {
        let all = after["confirmed"].as_array().unwrap();
        all.iter().find(|one| one["by"] == name).unwrap().clone()
    };
    assert_eq!(by("orientation")["command"], before["command"]);
    assert_eq!(by("orientation")["to_depth"], 20);
    assert_eq!(by("orientation")["how"], "the board turned round: goal blank=6");
    assert!(by("kernel")["command"].as_str().unwrap().contains("--goal blank=18 "));
    assert_eq!(by("kernel")["equal"], "counts and checksums and reduced");
    file.is_right();
    // The first computation, which now is the turned one, goes no deeper than the file is confirmed.
    let refused = file.take(&searched("5x5", "blank=6", "20")).unwrap();
    assert!(error(&refused).contains("is confirmed to depth 20, the report goes no deeper"));
}
