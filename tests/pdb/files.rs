//! Files: what is written is read, damage is found, versions are pinned.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use tilewave::SystemError;
use tilewave::internals::FileProblem;
use tilewave::pdb::{
    Build, Encoding, Kind, Pattern, Pdb, PdbError, compress, encode, inspect, plan, rebuild,
    spot_check,
};
use tilewave::progress::{LevelDone, NoProgress, Phase, Progress, StopWhen};
use tilewave::random::SplitMix64;

use super::{Random, database, goal, seal, seal_all};
use crate::program::{Done, run, tilewave};

fn golden(name: &str) -> PathBuf {
    crate::program::root().join("tests/data").join(name)
}

#[test]
fn reading_can_be_stopped_whatever_the_file_is() {
    let dir = tempfile::tempdir().unwrap();
    let (plain, packed) = (dir.path().join("plain"), dir.path().join("packed"));
    let pdb = database(&goal("3x3", "last"), &[1, 2, 3, 4], Kind::Minimum);
    pdb.save(&plain, false).unwrap();
    compress(&plain, &packed, false, &NoProgress).unwrap();
    for path in [plain, packed] {
        let stopped = Pdb::load_with(&path, &StopWhen(|| true));
        assert!(matches!(stopped, Err(SystemError::Interrupted)));
        let read = Pdb::load(&path).unwrap();
        assert_eq!(read.checksum(), pdb.checksum());
    }
}

/// Format version 1: these bytes are read and written for ever. TILEWAVE_UPDATE=1 writes them again,
/// which is right only together with a new version number.
#[test]
fn golden_files_are_written_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let goal = goal("2x3", "last");
    for (kind, encoding, name) in [
        (Kind::Minimum, Encoding::Byte, "pdb_v1_min.pdb"),
        (Kind::Regions, Encoding::Byte, "pdb_v1_regions.pdb"),
        (Kind::Regions, Encoding::Bit, "pdb_v1_bit.pdb"),
    ] {
        let path = dir.path().join(name);
        encode(&database(&goal, &[1, 2, 4], kind), encoding).unwrap().save(&path, false).unwrap();
        if std::env::var_os("TILEWAVE_UPDATE").is_some() {
            std::fs::copy(&path, golden(name)).unwrap();
        }
        let truth = std::fs::read(golden(name)).unwrap();
        assert!(std::fs::read(&path).unwrap() == truth, "{name} has changed");
        let pdb = Pdb::load(golden(name)).unwrap();
        pdb.check().unwrap();
        assert_eq!(
            (pdb.pattern().tiles(), pdb.kind(), pdb.encoding()),
            (&[1u16, 2, 4][..], kind, encoding)
        );
        rebuild(&pdb, &Build::new(pdb.pattern().clone()).plain(true), &NoProgress).unwrap();
    }
}

#[test]
fn probed_loaded_copied_and_built_databases_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.pdb");
    let goal = goal("3x3", "first");
    let mut random = Random(SplitMix64::new(3));
    for kind in Kind::ALL {
        let encoding = *kind.encodings().last().unwrap();
        let built = encode(&database(&goal, &[1, 3, 5, 7, 8], kind), encoding).unwrap();
        built.save(&path, true).unwrap();
        let (loaded, probe) = (Pdb::load(&path).unwrap(), Pdb::open(&path).unwrap());
        let copied = Pdb::from_bytes(&std::fs::read(&path).unwrap()).unwrap();
        for _ in 0..1000 {
            let board = random.board(goal.size());
            let value = built.value(&board).unwrap();
            assert_eq!(loaded.value(&board).unwrap(), value);
            assert_eq!(copied.value(&board).unwrap(), value);
            assert_eq!(probe.value(&board).unwrap(), value);
        }
        // What needs all entries refuses what has only some.
        let refusal = probe.values(&[1, 2, 3, 4, 5, 6, 7, 8, 0]).unwrap_err().to_string();
        assert!(
            refusal
                .ends_with("was opened only to look up a few boards: load the whole file instead")
        );
        assert!(matches!(spot_check(&probe, 1, 1, &NoProgress), Err(PdbError::Unsuitable(_))));
        let board = random.board(goal.size());
        let cells = built.pattern().cells(&board).unwrap();
        let looked_up = || probe.lookup(&cells, board.blank() as u8);
        let looked_up = std::panic::catch_unwind(std::panic::AssertUnwindSafe(looked_up));
        assert!(looked_up.is_err());
        let saved = dir.path().join("saved.pdb");
        probe.save(&saved, true).unwrap();
        assert!(std::fs::read(&saved).unwrap() == std::fs::read(&path).unwrap());
        assert_eq!(loaded.bytes().as_ptr() as usize % 64, 0, "entries are aligned");
        assert_eq!(inspect(&path).unwrap().histogram, built.histogram());
        let other = Random(SplitMix64::new(1)).board("3x4".parse().unwrap());
        assert!(matches!(loaded.value(&other), Err(PdbError::Unsuitable(_))));
    }
}

#[test]
fn packing_for_shipping_restores_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let [plain, packed, back] = ["a", "b", "c"].map(|name| dir.path().join(name));
    let goal = goal("3x4", "last");
    for kind in Kind::ALL {
        database(&goal, &[1, 2, 3, 4, 7, 9], kind).save(&plain, true).unwrap();
        compress(&plain, &packed, true, &NoProgress).unwrap();
        let bytes = std::fs::read(&packed).unwrap();
        for opened in [Pdb::load(&packed), Pdb::from_bytes(&bytes)] {
            assert!(opened.unwrap().bytes() == Pdb::load(&plain).unwrap().bytes());
        }
        assert!(matches!(compress(&packed, &back, true, &NoProgress), Err(PdbError::Place(_))));
        let sizes = [&plain, &packed].map(|p| std::fs::metadata(p).unwrap().len());
        assert!(sizes[1] < sizes[0] / 2, "{sizes:?}");
        assert_eq!(inspect(&packed).unwrap().entries, inspect(&plain).unwrap().entries);
        Pdb::load(&packed).unwrap().save(&back, true).unwrap();
        assert!(std::fs::read(&back).unwrap() == std::fs::read(&plain).unwrap());
        for at in [1, 100] {
            let mut changed = bytes.clone();
            changed[bytes.len() - at] ^= 1;
            std::fs::write(&back, changed).unwrap();
            let error = Pdb::load(&back).unwrap_err();
            assert!(matches!(error.problem(), Some(FileProblem::Damaged { .. })), "{error}");
        }
    }
}

/// Four bits an entry: what 0.1.0 wrote is named, and what to do.
#[test]
fn files_of_four_bits_an_entry_are_refused() {
    let error = Pdb::load(golden("pdb_v1_nibble.pdb")).unwrap_err().to_string();
    assert!(error.contains("four bits per entry"), "{error}");
}

/// What every way to open a database says of some bytes.
fn opened(path: &Path, bytes: &[u8]) -> Result<Pdb, SystemError> {
    std::fs::write(path, bytes).unwrap();
    let read = Pdb::load(path);
    assert_eq!(Pdb::from_bytes(bytes).is_ok(), read.is_ok());
    read
}

/// Any flipped bit and any other length is found, wherever it is: nothing is between the sections but zeros.
#[test]
fn damage_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.pdb");
    let truth = std::fs::read(golden("pdb_v1_regions.pdb")).unwrap();
    let data = truth.len() - opened(&path, &truth).unwrap().bytes().len();
    for byte in 0..truth.len() {
        let mut bytes = truth.clone();
        bytes[byte] ^= 1 << (byte % 8);
        let error = opened(&path, &bytes).expect_err(&format!("byte {byte}"));
        match byte {
            0..8 => assert!(matches!(error.problem(), Some(FileProblem::Other))),
            8..12 => assert!(matches!(error.problem(), Some(FileProblem::Version { .. }))),
            _ if byte < data => {
                assert!(matches!(error.problem(), Some(FileProblem::Header(_))), "{error}")
            }
            _ => assert!(matches!(error.problem(), Some(FileProblem::Damaged { block: 0, .. }))),
        }
    }
    for length in [0, 1, 7, 8, 11, 12, 100, 4095, 4096, data, truth.len() - 1] {
        let error = opened(&path, &truth[..length]).unwrap_err();
        let known =
            matches!(error.problem(), Some(FileProblem::Other | FileProblem::Length { .. }));
        assert!(known, "{length}: {error}");
    }
    let longer = [&truth[..], &[0]].concat();
    let error = opened(&path, &longer).unwrap_err();
    assert!(matches!(error.problem(), Some(FileProblem::Length { .. })) && error.is_damage());
    for none in [dir.path(), &dir.path().join("none")] {
        let error = Pdb::load(none).unwrap_err();
        assert!(matches!(error, SystemError::Read { .. }));
        // Said once.
        let text = error.to_string();
        assert_eq!(text.matches("os error").count(), usize::from(none != dir.path()), "{text}");
    }
}

/// Random damage of every kind: an error, or the right values.
#[test]
fn no_damage_gives_a_wrong_value() {
    let dir = tempfile::tempdir().unwrap();
    let (path, small) = (dir.path().join("x.pdb"), dir.path().join("x.zst"));
    let goal = goal("3x4", "last");
    let mut random = SplitMix64::new(11);
    for kind in Kind::ALL {
        // Several blocks. The blank is one tile more.
        let tiles = &[1, 2, 3, 5, 8, 9, 11][usize::from(kind == Kind::AllMoves)..];
        let truth = database(&goal, tiles, kind);
        truth.save(&path, true).unwrap();
        compress(&path, &small, true, &NoProgress).unwrap();
        for file in [&path, &small] {
            let whole = std::fs::read(file).unwrap();
            for trial in 0..60 {
                let mut bytes = whole.clone();
                let mut below = |n: usize| random.below(n as u64) as usize;
                let (at, to) = (below(whole.len()), below(whole.len()));
                let len = (1 + below(5000)).min(whole.len() - at.max(to));
                match trial % 6 {
                    0 => bytes[at] ^= 1 << below(8),
                    1 => bytes.truncate(at),
                    2 => bytes.copy_within(at..at + len, to),
                    3 => bytes[at..at + len].fill(0),
                    4 => bytes.extend_from_slice(&whole[at..at + len]),
                    // A header that claims something else, with a right sum.
                    _ => {
                        bytes[16 + below(2500)] ^= 1 << below(8);
                        seal(&mut bytes);
                    }
                }
                let damaged = dir.path().join("damaged");
                std::fs::write(&damaged, &bytes).unwrap();
                if let Ok(pdb) = Pdb::load(&damaged) {
                    // What only says other things of the same entries, as another goal, is no damage of
                    // the entries.
                    assert!(pdb.bytes() == truth.bytes(), "{kind} {trial}");
                    assert!(bytes == whole || trial % 6 == 5, "{kind} {trial}");
                }
            }
        }
    }
}

/// A file of a few bytes cannot claim memory.
#[test]
fn claims_are_measured_against_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.pdb");
    let mut bytes = std::fs::read(golden("pdb_v1_min.pdb")).unwrap();
    // 36!/28! entries of eight tiles of a 6x6 board.
    bytes[16..19].copy_from_slice(&[6, 6, 8]);
    let entries: u64 = (29..=36).product();
    bytes[32..40].copy_from_slice(&entries.to_le_bytes());
    for compressed in [0, 1] {
        bytes[21] = compressed;
        seal(&mut bytes);
        std::fs::write(&path, &bytes).unwrap();
        assert!(Pdb::load(&path).is_err());
    }
}

#[test]
fn nothing_is_replaced_unasked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.pdb");
    std::fs::write(&path, "precious").unwrap();
    let table = database(&goal("2x3", "last"), &[1, 2], Kind::Minimum);
    assert!(matches!(table.save(&path, false), Err(SystemError::Exists(_))));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    let under_a_file = path.join("x.pdb");
    assert!(matches!(table.save(&under_a_file, false), Err(SystemError::Write { .. })));
    table.save(&path, true).unwrap();
    Pdb::load(&path).unwrap().check().unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn an_interrupted_build_or_write_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let goal = goal("3x4", "last");
    let pattern = Pattern::new(goal.clone(), &[1, 2, 3, 4, 5]).unwrap();
    for plain in [false, true] {
        for questions in [0, 1, 20] {
            let how = Build::new(pattern.clone()).plain(plain);
            let asked = AtomicUsize::new(0);
            let stop = StopWhen(|| asked.fetch_add(1, Ordering::Relaxed) >= questions);
            assert!(matches!(how.run_with(&stop), Err(PdbError::Interrupted(None))), "{questions}");
        }
    }
    let table = database(&goal, &[1, 2, 3, 4, 5], Kind::Minimum);
    let path = dir.path().join("x.pdb");
    let saved = table.save_with(&path, false, &StopWhen(|| true));
    assert!(matches!(saved, Err(SystemError::Interrupted)));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_table_over_the_budget_is_refused_with_numbers() {
    let pattern = Pattern::new(goal("6x6", "last"), &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    for kind in [Kind::Minimum, Kind::Regions] {
        let how = Build::new(pattern.clone()).kind(kind).memory(1_000_000_000);
        let Err(PdbError::Memory(said)) = plan(&how) else {
            panic!("36!/28! entries fit no gigabyte");
        };
        assert!(
            said.contains("1,220,096,908,800 entries") && said.contains("limit is 1 GB:"),
            "{said}"
        );
    }
    let small = Build::new(Pattern::new(goal("5x5", "last"), &[1, 2, 3, 4, 5, 6]).unwrap());
    let needs = plan(&small).unwrap();
    assert!(needs.memory_bytes > 2 * needs.entries && needs.data_bytes == needs.entries);
}

/// Levels and progress as an observer sees them.
#[derive(Default)]
struct Watch {
    levels: std::sync::Mutex<Vec<u64>>,
    phases: std::sync::Mutex<Vec<Phase>>,
}

impl Progress for Watch {
    fn level(&self, level: &LevelDone) {
        let mut levels = self.levels.lock().unwrap();
        assert_eq!(levels.len(), level.depth);
        levels.push(level.states);
    }

    fn progress(&self, phase: Phase, done: u64, total: u64) {
        assert!(done <= total, "{phase:?} {done} {total}");
        let mut phases = self.phases.lock().unwrap();
        if !phases.contains(&phase) {
            phases.push(phase);
        }
    }
}

#[test]
fn an_observer_sees_levels_and_phases() {
    let dir = tempfile::tempdir().unwrap();
    let pattern = Pattern::new(goal("3x3", "last"), &[1, 2, 3, 4, 5, 6]).unwrap();
    for kind in Kind::ALL {
        let watch = Watch::default();
        let how = Build::new(pattern.clone()).kind(kind);
        let table = how.run_with(&watch).unwrap();
        table.save_with(dir.path().join(kind.name()), false, &watch).unwrap();
        assert_eq!(*watch.levels.lock().unwrap(), table.histogram());
        let phases = watch.phases.lock().unwrap();
        assert!(phases.contains(&Phase::Search(1)) && phases.contains(&Phase::File), "{phases:?}");
    }
}

/// The number at an offset of a header.
fn number(file: &[u8], at: usize) -> usize {
    u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize
}

/// Makes all sums of a database right whose entries are one block.
fn reseal(file: &mut [u8]) {
    let (starts, len) = (number(file, 56), number(file, 64));
    let sum = xxhash_rust::xxh3::xxh3_64(&file[starts..starts + len]);
    file[136..144].copy_from_slice(&sum.to_le_bytes());
    seal_all(file, (number(file, 72), number(file, 104)), 144);
}

/// Wrong from the beginning: all sums are right.
#[test]
fn all_that_a_file_says_is_rebuilt() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.pdb");
    let add = |file: &mut [u8], at: usize, by: i64| {
        let value = number(file, at) as i64 + by;
        file[at..at + 8].copy_from_slice(&value.to_le_bytes());
    };
    let same = |_: &mut [u8]| {};
    let histogram = |file: &mut [u8]| {
        add(file, 256 + 8 * 5, 5);
        add(file, 256 + 8 * 7, -5);
    };
    // A set of several regions loses one to the set before it.
    let starts = |file: &mut [u8]| {
        let places = (number(file, 56)..).step_by(4);
        let start = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let at = places.skip(1).find(|&at| start(at + 4) - start(at) > 1).unwrap();
        let moved = start(at) + 1;
        file[at..at + 4].copy_from_slice(&moved.to_le_bytes());
    };
    let values = |file: &mut [u8]| {
        let first = number(file, 104);
        file[first..].iter_mut().for_each(|value| *value += 2);
    };
    let bit = |file: &mut [u8]| file[number(file, 104) + 12] ^= 1 << 4;
    type Change<'a> = &'a dyn Fn(&mut [u8]);
    let (regions, byte) = (Kind::Regions, Encoding::Byte);
    let cases: [(Kind, Encoding, &str, Change<'_>); 5] = [
        (regions, byte, "", &same),
        (regions, byte, "the histogram in", &histogram),
        (regions, byte, "the list of region starts in", &starts),
        (Kind::Minimum, byte, "entry 0 of", &values),
        (regions, Encoding::Bit, "entry 100 of", &bit),
    ];
    for (kind, encoding, wrong, change) in cases {
        let built = database(&goal("3x3", "last"), &[1, 3, 5, 7], kind);
        encode(&built, encoding).unwrap().save(&path, true).unwrap();
        let mut file = std::fs::read(&path).unwrap();
        change(&mut file);
        reseal(&mut file);
        std::fs::write(&path, file).unwrap();
        let pdb = Pdb::load(&path).unwrap();
        pdb.check().unwrap();
        let searched = spot_check(&pdb, 50, 1, &NoProgress);
        match kind {
            Kind::Minimum => assert!(matches!(searched, Err(PdbError::Wrong(_)))),
            _ if wrong.is_empty() => assert_eq!(searched.unwrap().confirmed, 50),
            _ => {}
        }
        for plain in [false, true] {
            let how = Build::new(pdb.pattern().clone()).plain(plain);
            match rebuild(&pdb, &how, &NoProgress) {
                Ok(()) => assert_eq!(wrong, ""),
                Err(PdbError::Wrong(said)) => {
                    assert!(!wrong.is_empty() && said.contains(wrong), "{said}");
                }
                Err(other) => panic!("{wrong}: {other}"),
            }
        }
        let Done { code, out, .. } = run(tilewave(["check", "--full"]).arg(&path));
        assert_eq!(code == Some(0), wrong.is_empty(), "{out}");
        let verdict = if wrong.is_empty() { "PASS" } else { "FAIL" };
        assert!(out.contains(verdict) && out.contains(wrong), "{out}");
    }
}
