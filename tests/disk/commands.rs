//! The commands of a search on disk, as a user types them.

use assert_cmd::Command;
use serde_json::Value;
use tilewave::Kernel;
use tilewave::internals::Codec;

fn tilewave(args: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("tilewave").unwrap().args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(args: &[&str]) -> Value {
    let (code, out, err) = tilewave(args);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn a_search_is_started_looked_at_continued_and_verified() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("run");
    let dir = dir.to_str().unwrap();
    let part =
        json(&["bfs", "2x5", "--dir", dir, "-M", "100kB", "--max-depth", "20", "--format", "json"]);
    assert_eq!((part["engine"].as_str(), part["diameter"].as_u64()), (Some("disk"), None));
    assert!(part["disk"]["chunks"].as_u64().unwrap() > 1);

    let status = json(&["info", dir, "--format", "jsonl"]);
    assert_eq!((status["state"].as_str(), status["depth"].as_u64()), (Some("stopped"), Some(21)));
    let (_, text, _) = tilewave(&["info", dir]);
    assert!(text.contains("search   2x5, goal 1 2 3 4 5/6 7 8 9 0: stopped"), "{text}");

    let whole = json(&["resume", dir, "--check", "--format", "json"]);
    assert_eq!((whole["diameter"].as_u64(), whole["total"].as_u64()), (Some(55), Some(1_814_400)));
    assert!(whole["agrees_with"].is_string());
    let memory = json(&["bfs", "2x5", "--format", "json"]);
    assert_eq!(whole["checksums"], memory["checksums"]);
    // Once more: nothing is left to do, so nothing is said of arrays and work.
    let (code, text, _) = tilewave(&["resume", dir]);
    assert!(code == 0 && text.contains("God's number  55"), "{text}");
    assert!(!text.contains("state arrays") && !text.contains("decode"), "{text}");

    let (_, text, _) = tilewave(&["info", dir]);
    assert!(text.contains(": complete"), "{text}");
    let (code, text, _) = tilewave(&["check", dir]);
    assert!(code == 0 && text.starts_with("PASS") && text.contains(": 2x5, "), "{text}");

    let mut files = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let file = files.find(|p| p.to_string_lossy().contains("level-")).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[150] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let (code, text, err) = tilewave(&["check", dir]);
    assert_eq!(code, 1);
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(text.starts_with("FAIL") && text.contains(name), "{text}");
    assert!(err.contains("1 of 1 check failed") && err.lines().count() == 1, "{err}");
}

#[test]
fn wrong_uses_are_one_clear_line() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("run");
    let dir = dir.to_str().unwrap();
    let one_line = |args: &[&str], code: i32, what: &str| {
        let (found, out, err) = tilewave(args);
        assert_eq!(found, code, "{args:?}: {err}");
        assert!(
            out.is_empty() && err.lines().count() == 1 && err.contains(what),
            "{args:?}: {err}"
        );
    };
    one_line(&["bfs", "3x5", "--dir", dir, "--disk-limit", "1GB"], 1, "the search needs about");
    one_line(&["bfs", "3x4", "--dir", dir, "-M", "100B"], 1, "3x4 needs");
    one_line(&["bfs", "2x2", "--dir", dir], 2, "can be searched only in memory: leave out --dir");
    one_line(&["bfs", "3x3", "--dir", dir, "--commit-every", "5x"], 2, "'5x' is not a time");
    one_line(&["bfs", "3x3", "--dir", dir, "--dir", dir], 2, "given twice");
    let another = format!("{dir}/../{}", dir.rsplit('/').next().unwrap());
    one_line(&["bfs", "3x3", "--dir", dir, "--dir", &another], 2, "given twice");
    one_line(&["bfs", "3x3", "--io", "mmap"], 2, "--dir");
    let digits = ["bfs", "3x3", "--dir", dir, "--shared-digits", "9"];
    one_line(&digits, 2, "--shared-digits 9 is too large: 3x3 allows at most 2");
    one_line(&["plan", "3x4", "--disk-bandwidth", "5GB"], 2, "'5GB' is not a bandwidth");
    one_line(&["resume"], 2, "<DIR>");
    // Refused commands have left nothing there.
    for gone in [&["resume", dir][..], &["check", dir], &["info", dir]] {
        one_line(gone, 1, "cannot open");
    }
    std::fs::create_dir(dir).unwrap();
    one_line(&["resume", dir], 1, "contains no search");
    // A search in two directories of which one is given or there, and one that has lost its manifest.
    let two = ["first", "second"].map(|name| home.path().join(name).display().to_string());
    let [first, second] = [&*two[0], &*two[1]];
    json(&["bfs", "3x3", "--max-depth", "8", "--dir", first, "--dir", second, "--format", "json"]);
    for verb in ["info", "check", "resume"] {
        one_line(&[verb, second], 1, "is directory 2 of 2 of a search: specify all directories");
    }
    for manifest in ["manifest", "manifest.previous"] {
        std::fs::remove_file(home.path().join("first").join(manifest)).unwrap();
    }
    let repair = format!("rebuild it with tilewave repair {first} {second}");
    for verb in ["info", "check", "resume"] {
        one_line(&[verb, first, second], 1, &repair);
    }
    one_line(&["info", "/no/such/directory"], 1, "/no/such/directory");
    one_line(&["check", home.path().to_str().unwrap()], 1, "contains no search");
}

#[cfg(unix)]
#[test]
fn ctrl_c_commits_and_the_same_command_goes_on() {
    use std::process::Stdio;
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("run");
    let dir = dir.to_str().unwrap();
    let args =
        ["bfs", "3x4", "--dir", dir, "--shared-digits", "1", "--commit-every", "1h", "-j", "1"];
    // A busy machine may send the signal only when the search is over: it is begun again then.
    let interrupted = |_| {
        let _ = std::fs::remove_dir_all(dir);
        let child = std::process::Command::new(assert_cmd::cargo::cargo_bin("tilewave"))
            .args(args)
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Wait until it is under way: the first commit, that of the start, is there.
        let manifest = home.path().join("run/manifest");
        for _ in 0..5000 {
            if manifest.exists() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let pid = child.id().to_string();
        let sent = std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(matches!(output.status.code(), Some(0 | 130)), "{err}");
        (output.status.code() == Some(130)).then_some(err)
    };
    let err = (0..8).find_map(interrupted).expect("no search was interrupted in time");
    assert!(err.contains("Nothing is lost") && err.contains("`tilewave resume "), "{err}");
    let whole = json(&["bfs", "3x4", "--dir", dir, "--format", "json"]);
    assert_eq!(whole["diameter"].as_u64(), Some(53));
    assert!(whole["agrees_with"].is_string());
}

#[test]
fn plans_say_what_other_machines_need() {
    let plan = json(&["plan", "3x5", "-M", "14GiB", "--format", "json"]);
    assert_eq!((plan["engine"].as_str(), plan["chunks"].as_u64()), (Some("disk"), Some(14)));
    // With zstd the search took 42.0 GB at its peak and wrote 316 GB (docs/results/3x5.json); rANS is a tenth smaller.
    let share = match Codec::best(Kernel::best()) {
        Codec::Zstd => 1.0,
        Codec::Rans => 0.9,
    };
    let within = |name: &str, gigabytes: std::ops::Range<f64>| {
        let bytes = plan[name].as_f64().unwrap();
        assert!(gigabytes.contains(&(bytes / 1e9 / share)), "{name} {bytes}");
    };
    within("disk_peak_bytes", 40.0..46.0);
    within("bytes_written", 290.0..360.0);

    let local = json(&[
        "plan",
        "4x4",
        "--cores",
        "16",
        "-M",
        "64GiB",
        "--disk-bandwidth",
        "5GB/s",
        "--format",
        "json",
    ]);
    assert_eq!((local["threads"].as_u64(), local["levels"].as_u64()), (Some(16), Some(81)));
    let ranks = json(&[
        "plan",
        "4x4",
        "--ranks",
        "16",
        "--cores",
        "16",
        "-M",
        "64GiB",
        "--disk-bandwidth",
        "5GB/s",
        "--network",
        "10GB/s",
        "--format",
        "json",
    ]);
    assert_eq!(ranks["ranks"].as_u64(), Some(16));
    assert!(ranks["seconds"].as_f64().unwrap() * 4.0 < local["seconds"].as_f64().unwrap());
    assert!(ranks["disk_peak_bytes"].as_u64() < local["disk_peak_bytes"].as_u64());
    assert_eq!(ranks["fits"].as_bool(), Some(true));
}

/// Next to no memory asks for billions of chunks; a million is what a manifest holds.
#[test]
fn there_is_an_end_to_chunks() {
    let plan = json(&["plan", "4x4", "-M", "10kB", "--format", "json"]);
    assert_eq!(plan["fits"].as_bool(), Some(false), "{plan}");
    assert_eq!(plan["chunks"].as_u64(), Some(360_360), "{plan}");
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("run");
    let four = ["bfs", "4x4", "--dir", dir.to_str().unwrap()];
    let (code, _, err) = tilewave(&[&four[..], &["-M", "10kB"]].concat());
    assert!(code == 1 && err.contains("needs 5.54 MiB"), "{err}");
    let (code, _, err) = tilewave(&[&four[..], &["--shared-digits", "6"]].concat());
    assert!(code == 2 && err.contains("allows at most 5"), "{err}");
    assert!(!dir.exists());
}

#[test]
fn estimates_follow_the_depth() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("run");
    let dir = dir.to_str().unwrap();
    // Dense planes of 4x4 would take 300 GB; those of the first depths take next to nothing.
    let start = |more: &[&str]| {
        let four = ["bfs", "4x4", "--dir", dir, "-M", "3GB", "--disk-limit", "1GB"];
        tilewave(&[&four, more].concat())
    };
    let (code, _, err) = start(&["--max-depth", "60"]);
    assert!(code == 1 && err.contains("--ignore-space"), "{err}");
    let (code, _, err) = start(&["--max-depth", "0"]);
    assert_eq!(code, 0, "{err}");
    let small =
        ["bfs", "3x4", "--dir", &format!("{dir}-3x4"), "--max-depth", "20", "--disk-limit", "5kB"];
    let (_, _, err) = tilewave(&small);
    assert!(err.contains("--ignore-space"), "{err}");
    let (_, _, err) = tilewave(&[&small[..], &["--ignore-space"]].concat());
    assert!(err.contains("have reached the limit"), "{err}");
}

#[test]
fn a_lost_manifest_is_repaired() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("run");
    let dir = dir.to_str().unwrap();
    // Within the first ten seconds nothing else has been committed: all levels must be there.
    json(&[
        "bfs",
        "2x5",
        "--dir",
        dir,
        "-M",
        "100kB",
        "--keep-levels",
        "all",
        "--max-depth",
        "20",
        "--format",
        "json",
    ]);
    std::fs::remove_file(home.path().join("run/manifest")).unwrap();
    let (code, _, err) = tilewave(&["bfs", "2x5", "--dir", dir]);
    assert!(code == 1 && err.contains("tilewave repair"), "{err}");
    let (code, out, err) = tilewave(&["repair", dir]);
    assert!(code == 0 && out.contains("rebuilt  2x5"), "{out}{err}");
    let whole = json(&["resume", dir, "--format", "json"]);
    assert_eq!(whole["total"].as_u64(), Some(1_814_400));
    let (code, _, err) = tilewave(&["repair", dir]);
    assert!(code == 1 && err.contains("nothing to rebuild"), "{err}");
}
