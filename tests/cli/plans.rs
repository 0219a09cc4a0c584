//! What `plan` says, and `bfs --dir` takes for granted, where nobody has counted the levels.

use std::fs;

use tilewave::Kernel;
use tilewave::internals::Codec;

use super::found;
use crate::program::{room, run, tilewave};
use crate::readme::words;

/// 2x5 with several tiles a move; nobody has published the levels of the second goal.
#[test]
fn what_crosses_the_network_in_levels_that_nobody_knows_is_unknown() {
    let known = found("plan 2x5 --metric mtm --ranks 4");
    let level = known["network_level_bytes"].as_f64().unwrap();
    let seconds = |levels: f64| level * levels / 4e9;
    let near = |value: &serde_json::Value, wanted: f64| {
        let value = value.as_f64().unwrap();
        assert!((value / wanted - 1.0).abs() < 1e-9, "{value}, not {wanted}");
    };
    near(&known["network_seconds"], seconds(37.0));
    assert!(known["seconds"].as_f64().unwrap() > seconds(37.0));
    let unknown = found("plan 2x5 --metric mtm --ranks 4 --goal blank=1");
    assert_eq!(unknown["network_level_bytes"].as_f64(), Some(level));
    for key in ["network_seconds", "seconds", "states_per_second", "levels"] {
        assert!(unknown[key].is_null(), "{key}: {unknown}");
    }
    // As far as a search goes its levels are no more than these.
    let few = found("plan 2x5 --metric mtm --ranks 4 --goal blank=1 --max-depth 10");
    near(&few["network_seconds"], seconds(11.0));
    assert!(few["seconds"].as_f64().unwrap() > seconds(11.0));
}

/// A search for a great depth divides its states finely, and takes its time for levels of few states: speed and growth
/// are measured without that. OEIS A090031 has 6,427,133,737 states at depth 28.
#[test]
fn how_deep_a_search_shall_go_does_not_matter_for_what_is_measured() {
    let plan = found("plan 5x5 --goal first --max-depth 28 -M 4GB");
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
    let plan = found("plan 2x2x2 -M 1GiB");
    let search = found("bfs 2x2x2");
    let levels = plan["levels"].as_array().unwrap();
    let counts: Vec<f64> = levels.iter().map(|level| level["states"].as_f64().unwrap()).collect();
    let found_counts = search["counts"].as_array().unwrap();
    assert!(counts.iter().zip(found_counts).all(|(a, b)| Some(*a) == b.as_f64()), "{counts:?}");
    // Measured, not expected from the first levels, whose time is that of starting them.
    // A busy machine may not come that far, and then says how busy it is.
    let [expected, took] =
        [&levels[11]["seconds"], &search["seconds"]].map(serde_json::Value::as_f64);
    let (took, busy) = (took.unwrap(), plan["busy"].as_f64().unwrap_or(0.0));
    let is_near = expected.map_or(busy > 0.2, |expected| expected < 10.0 * took + 1.0);
    assert!(is_near, "{expected:?} s, {took} s measured, busy {busy}");
    let memory = levels.iter().map(|level| level["memory_bytes"].as_u64().unwrap());
    assert!(memory.is_sorted(), "{plan}");
    let deep = found("plan 5x5 --goal first -M 64MB");
    let (fits, ahead) = (&deep["fits_to_depth"], &deep["fits_to_depth_counting_ahead"]);
    assert!(fits.as_u64().unwrap() > 15 && ahead.as_u64() > fits.as_u64(), "{deep}");
}

/// The first levels of 4x4 are thin; nobody asks for the disk of the others, or knows how many states they have.
#[test]
fn thin_levels_need_little_and_unknown_ones_have_no_number() {
    let plan = |more: &str| found(&format!("plan 4x4 -M 8GiB --dir . --engine sweep {more}"));
    let thin = plan("--max-depth 25");
    assert!(thin["disk_peak_bytes"].as_u64().unwrap() < 1 << 30, "{thin}");
    assert_eq!((&thin["levels"], &thin["states_to_depth"]), (&26.into(), &79_070_945.into()));
    let deep = plan("--goal blank=5 --max-depth 60");
    assert!(deep["states_to_depth"].is_null() && deep["states_per_second"].is_null(), "{deep}");
    let io =
        |rate| found(&format!("plan 2x5 --dir . --disk-bandwidth {rate}"))["io_seconds"].as_f64();
    let ratio = io("8Gb/s").unwrap() / io("8GB/s").unwrap();
    assert!((7.9..8.1).contains(&ratio), "bits are bits: {ratio}");
    let (alone, one) = (found("plan 4x4 -M 1GiB"), found("plan 4x4 -M 1GiB --ranks 1"));
    for key in ["memory_bytes", "chunks", "planes", "fits", "disk_peak_bytes", "ranks"] {
        assert_eq!(alone[key], one[key], "{key}");
    }
}

#[test]
fn estimates_follow_the_depth_where_nothing_is_published() {
    let dir = room();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
    // Swaps along a tree: most trade places, so there are far fewer states than ways.
    let tree = "a:=(1,2); b:=(2,3); c:=(3,4); d:=(4,5); e:=(5,6); f:=(6,7); g:=(7,8); h:=(8,9);
        i:=(3,10); Gen:=[a,b,c,d,e,f,g,h,i];";
    let (file, to) = (path("tree.gap"), path("run"));
    fs::write(&file, tree).unwrap();
    let search = found(&format!("bfs {file} --dir {to} --disk-limit 100kB --max-depth 6"));
    assert_eq!(search["counts"], serde_json::json!([1, 9, 45, 166, 499, 1284, 2917]));
    let planned = found(&format!("plan {file} --dir . --max-depth 6"));
    let most = planned["disk_peak_bytes"].as_u64().unwrap();
    let took = search["disk"]["peak_bytes"].as_u64().unwrap();
    assert!(took <= most && most <= 100_000, "{took} of {most}");
    assert!(planned["states_to_depth"].is_null());
    let at_most = planned["states_to_depth_at_most"].as_u64().unwrap();
    assert!((4921..20_000).contains(&at_most), "{at_most}");

    // 4x4 and 2x8 with several tiles a move: nobody has published their levels.
    let peak = |board: &str, depth: &str| {
        let how = format!("{board} --metric mtm -M 8GiB --engine sweep --max-depth {depth}");
        let search = format!("bfs {how} --disk-limit 1kB --dir {}", path(board));
        let done = run(&mut tilewave(words(&search)));
        assert_eq!(done.code, Some(1), "{}", done.err);
        let (_, bytes) = done.err.split_once("needs about ").unwrap();
        bytes.split_once(" of disk space").unwrap().0.to_string()
    };
    for board in ["4x4", "2x8"] {
        let first = peak(board, "18");
        let gib: f64 = first.strip_suffix(" GiB").unwrap().parse().unwrap();
        assert!(gib < 10.0, "{board}: {first}");
        // So far as that every state may be reached, depth tells nothing.
        let whole = peak(board, "60");
        assert!(whole.ends_with(" TiB") && whole == peak(board, "999"), "{whole}");
    }
    let sweep = "plan 4x4 --metric mtm -M 8GiB --max-depth 18 --dir . --engine sweep";
    let text = run(&mut tilewave(words(sweep))).out;
    let same = format!("\ndisk     {} at the peak, ", peak("4x4", "18"));
    assert!(text.contains(&same), "{text}");
    assert!(text.contains(", at most 1,162,261,465 of them within --max-depth\n"), "{text}");
}

/// What `plan` describes is what `bfs` does: in memory and on disk, of boards, families and cubes, with and without a
/// last depth, and where a run by lists was begun.
#[test]
fn plans_name_the_engine_that_a_search_takes() {
    let place = room();
    let engine = |command: &str, words: &str, dir: Option<&str>| {
        let on = dir.map(|dir| format!(" --dir {}", place.path().join(dir).display()));
        found(&format!("{command} {words}{}", on.unwrap_or_default()))["engine"].take()
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

/// With zstd the search took 42.0 GB at its peak and wrote 316 GB (docs/results/3x5.json); rANS is a tenth smaller.
#[test]
fn plans_say_what_other_machines_need() {
    let plan = found("plan 3x5 -M 14GiB");
    assert_eq!((plan["engine"].as_str(), plan["chunks"].as_u64()), (Some("disk"), Some(14)));
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

    let on = "plan 4x4 --cores 16 -M 64GiB --disk-bandwidth 5GB/s";
    let local = found(on);
    assert_eq!((local["threads"].as_u64(), local["levels"].as_u64()), (Some(16), Some(81)));
    let ranks = found(&format!("{on} --ranks 16 --network 10GB/s"));
    assert_eq!((&ranks["ranks"], &ranks["fits"]), (&16.into(), &true.into()));
    assert!(ranks["seconds"].as_f64().unwrap() * 4.0 < local["seconds"].as_f64().unwrap());
    assert!(ranks["disk_peak_bytes"].as_u64() < local["disk_peak_bytes"].as_u64());
}
