//! What `plan` says, and `bfs --dir` takes for granted, where nobody has counted the levels.

use std::fs;

use super::{json, refused, stdout, tilewave};

fn plan(args: &[&str]) -> serde_json::Value {
    json(&[&["plan", "--format", "json"], args].concat())
}

/// A goal of 2x7 that nobody has published.
const UNKNOWN: [&str; 5] = ["2x7", "--metric", "mtm", "--goal", "blank=1"];

#[test]
fn what_crosses_the_network_in_levels_that_nobody_knows_is_unknown() {
    let known = plan(&["2x7", "--metric", "mtm", "--ranks", "4"]);
    let level = known["network_level_bytes"].as_f64().unwrap();
    let seconds = |levels: f64| level * levels / 4e9;
    let near = |value: &serde_json::Value, wanted: f64| {
        let value = value.as_f64().unwrap();
        assert!((value / wanted - 1.0).abs() < 1e-9, "{value}, not {wanted}");
    };
    near(&known["network_seconds"], seconds(53.0));
    assert!(known["seconds"].as_f64().unwrap() > seconds(53.0));
    let ranks = [&UNKNOWN[..], &["--ranks", "4"]].concat();
    let unknown = plan(&ranks);
    assert_eq!(unknown["network_level_bytes"].as_f64(), Some(level));
    for key in ["network_seconds", "seconds", "states_per_second", "levels"] {
        assert!(unknown[key].is_null(), "{key}: {unknown}");
    }
    let text = stdout(&[&["plan"], &ranks[..]].concat());
    assert!(text.contains(" per level, unknown in total\n"), "{text}");
    assert!(text.contains("expected without the network"), "{text}");
    // As far as a search goes its levels are no more than these.
    let few = plan(&[&ranks[..], &["--max-depth", "10"]].concat());
    near(&few["network_seconds"], seconds(11.0));
    assert!(few["seconds"].as_f64().unwrap() > seconds(11.0));
}

/// A search for a great depth divides its states finely, and takes its time for levels of few states: speed and growth
/// are measured without that. OEIS A090031 has 6,427,133,737 states at depth 28.
#[test]
fn how_deep_a_search_shall_go_does_not_matter_for_what_is_measured() {
    let plan = plan(&["5x5", "--goal", "first", "--max-depth", "28", "-M", "4GB"]);
    let measured = plan["calibrated_to_depth"].as_u64().unwrap();
    assert!(measured >= 10, "{plan}");
    let last = &plan["levels"][28];
    let states = last["states"].as_f64().unwrap();
    assert!((4e9..14e9).contains(&states), "{last}");
    // A busy machine may not come to the depths whose time says something.
    let seconds = last["seconds"].as_f64();
    assert!(seconds.map_or(measured < 18, |seconds| seconds > 30.0), "{measured}: {last}");
}

#[test]
fn plans_of_lists_say_what_a_search_then_takes() {
    let plan = plan(&["2x2x2", "-M", "1GiB"]);
    let found = json(&["bfs", "2x2x2", "--format", "json"]);
    let levels = plan["levels"].as_array().unwrap();
    let counts: Vec<f64> = levels.iter().map(|level| level["states"].as_f64().unwrap()).collect();
    let found_counts = found["counts"].as_array().unwrap();
    assert!(counts.iter().zip(found_counts).all(|(a, b)| Some(*a) == b.as_f64()), "{counts:?}");
    // Measured, not expected from the first levels, whose time is that of starting them.
    // A busy machine may not come that far, and then says how busy it is.
    let [expected, took] =
        [&levels[11]["seconds"], &found["seconds"]].map(serde_json::Value::as_f64);
    let (took, busy) = (took.unwrap(), plan["busy"].as_f64().unwrap_or(0.0));
    let is_near = expected.map_or(busy > 0.2, |expected| expected < 10.0 * took + 1.0);
    assert!(is_near, "{expected:?} s, {took} s measured, busy {busy}");
    let memory: Vec<u64> =
        levels.iter().map(|level| level["memory_bytes"].as_u64().unwrap()).collect();
    assert!(memory.is_sorted(), "{memory:?}");
    assert_eq!(plan["fits_to_depth"], 11);
    // It says what it is doing, once, and comes to an end.
    let begun = std::time::Instant::now();
    let output = tilewave(&["plan", "5x5", "-M", "1GiB", "-v"]).output().unwrap();
    let took = begun.elapsed().as_secs_f64();
    assert!(took < 8.0, "{took} s");
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(
        log.contains("searching the first levels to measure") && log.lines().count() < 4,
        "{log}"
    );
    let rows = String::from_utf8(output.stdout).unwrap();
    let first: usize =
        rows.lines().nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    assert!(
        rows.contains(&format!(
            "left out    depths 0 to {}, which need less memory and time",
            first - 1
        )),
        "{rows}"
    );
    let text = stdout(&["plan", "2x2x2", "-M", "1GiB"]);
    assert!(text.starts_with("depth                    states"), "{text}");
    assert!(text.contains("with --dir") && text.contains("a search to depth 11 fits\n"), "{text}");
    // Where others leave it less than the time that it needs, it says so.
    let is_busy = text.contains("load        other processes used");
    assert!(is_busy || text.contains("time        measured to depth 11\n"), "{text}");
}

/// What says how a board is searched to a depth.
fn to<'a>(board: &'a str, depth: &'a str) -> [&'a str; 7] {
    [board, "--metric", "mtm", "-M", "8GiB", "--max-depth", depth]
}

#[test]
fn estimates_follow_the_depth_where_nothing_is_published() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
    // Swaps along a tree: most trade places, so there are far fewer states than ways.
    let tree = "a:=(1,2); b:=(2,3); c:=(3,4); d:=(4,5); e:=(5,6); f:=(6,7); g:=(7,8); h:=(8,9);
        i:=(3,10); Gen:=[a,b,c,d,e,f,g,h,i];";
    let file = path("tree.gap");
    fs::write(&file, tree).unwrap();
    let run = path("run");
    let (limit, depth) = ("100kB", ["--max-depth", "6"]);
    let search = ["bfs", &file, "--dir", &run, "--disk-limit", limit, "--format", "json"];
    let found = json(&[&search[..], &depth].concat());
    assert_eq!(found["counts"], serde_json::json!([1, 9, 45, 166, 499, 1284, 2917]));
    let planned = plan(&[&[&file, "--dir", "."], &depth[..]].concat());
    let most = planned["disk_peak_bytes"].as_u64().unwrap();
    let took = found["disk"]["peak_bytes"].as_u64().unwrap();
    assert!(took <= most && most <= 100_000, "{took} of {most}");
    assert!(planned["states_to_depth"].is_null());
    let at_most = planned["states_to_depth_at_most"].as_u64().unwrap();
    assert!((4921..20_000).contains(&at_most), "{at_most}");

    // 4x4 and 2x8 with several tiles a move: nobody has published their levels.
    let peak = |board: &str, depth: &str| {
        let run = path(board);
        let small = ["--dir", &run, "--disk-limit", "1kB", "--engine", "sweep"];
        let search = [&["bfs"], &to(board, depth)[..], &small].concat();
        refused(&search, 1, " of disk space at its peak, but only 1000 B may be used");
        let error = tilewave(&search).output().unwrap().stderr;
        let error = String::from_utf8(error).unwrap();
        let bytes = error.split("needs about ").nth(1).unwrap();
        bytes.split(" of disk").next().unwrap().to_string()
    };
    for board in ["4x4", "2x8"] {
        let first = peak(board, "18");
        let gib: f64 = first.strip_suffix(" GiB").unwrap().parse().unwrap();
        assert!(gib < 10.0, "{board}: {first}");
        // So far as that every state may be reached, depth tells nothing.
        let whole = peak(board, "60");
        assert!(whole.ends_with(" TiB") && whole == peak(board, "999"), "{whole}");
    }
    let sweep = ["--dir", ".", "--engine", "sweep"];
    let text = stdout(&[&["plan"], &to("4x4", "18")[..], &sweep].concat());
    let same = format!("\ndisk     {} at the peak, ", peak("4x4", "18"));
    assert!(text.contains(&same), "{text}");
    let most = "states   10,461,394,944,000, at most 1,162,261,465 of them within --max-depth\n";
    assert!(text.contains(most), "{text}");
}

/// What `plan` describes is what `bfs` does: in memory and on disk, of boards, families and cubes, with and without a last
/// depth, and where a run by lists was begun.
#[test]
fn plans_name_the_engine_that_a_search_takes() {
    let place = tempfile::tempdir().unwrap();
    let engine = |command: &str, words: &str, dir: Option<&str>| {
        let path = dir.map(|dir| place.path().join(dir).to_str().unwrap().to_string());
        let mut args = vec![command, "--format", "json"];
        args.extend(words.split(' '));
        args.extend(path.as_deref().into_iter().flat_map(|path| ["--dir", path]));
        json(&args)["engine"].as_str().unwrap().to_string()
    };
    let cases = [
        ("2x2", None, "reference"),
        ("3x3", None, "sweep"),
        ("3x4 --metric mtm --max-depth 4", None, "sweep"),
        ("3x4 --max-depth 8 -M 1MB", None, "frontier"),
        ("2x6 --max-depth 8", Some("board"), "disk"),
        ("4x4 --metric mtm --max-depth 6 -M 1GB", None, "frontier"),
        ("4x4 --metric mtm --max-depth 6", Some("thin"), "frontier"),
        ("4x4 --max-depth 8", Some("single"), "frontier"),
        ("topspin:10,4 --max-depth 4", None, "sweep"),
        ("topspin:14,4 --max-depth 3 -M 1GB", None, "frontier"),
        ("topspin:14,4 --max-depth 3", Some("topspin"), "frontier"),
        ("topspin:9,4 --engine frontier", None, "frontier"),
        ("5x5 --goal first --max-depth 6", None, "frontier"),
        ("5x5 --goal first --max-depth 6", Some("corner"), "frontier"),
        ("3x3x3 --max-depth 4", None, "frontier"),
        ("2x6 --max-depth 4 --engine frontier", Some("begun"), "frontier"),
        ("2x6 --max-depth 6", Some("begun"), "frontier"),
    ];
    for (words, dir, expected) in cases {
        let planned = engine("plan", words, dir);
        assert_eq!(planned, expected, "plan {words} {dir:?}");
        assert_eq!(engine("bfs", words, dir), planned, "bfs {words} {dir:?}");
    }
}
