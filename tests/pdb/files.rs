//! Files: what is written is read, damage is found, versions are pinned.

use std::path::{Path, PathBuf};

use tilewave::pdb::{
    Build, Kind, Pattern, Pdb, PdbError, PdbLevel, PdbObserver, Phase, Unobserved, build, compress,
    decompress, inspect, plan, rebuild, spot_check,
};

use crate::{Random, database, goal};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// Format version 1: these bytes are read and written for ever. TILEWAVE_UPDATE=1 writes them again,
/// which is right only together with a new version number.
#[test]
fn golden_files_are_written_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let goal = goal("2x3", "last");
    for (kind, name) in [
        (Kind::Minimum, "pdb_v1_min.pdb"),
        (Kind::Regions, "pdb_v1_regions.pdb"),
    ] {
        let path = dir.path().join(name);
        database(&goal, &[1, 2, 4], kind)
            .save(&path, false, &Unobserved)
            .unwrap();
        if std::env::var_os("TILEWAVE_UPDATE").is_some() {
            std::fs::copy(&path, golden(name)).unwrap();
        }
        let truth = std::fs::read(golden(name)).unwrap();
        assert!(std::fs::read(&path).unwrap() == truth, "{name} has changed");
        let pdb = Pdb::open(&golden(name)).unwrap();
        pdb.check().unwrap();
        assert_eq!(
            (pdb.pattern().tiles(), pdb.kind()),
            (&[1u16, 2, 4][..], kind)
        );
        rebuild(
            &pdb,
            &Build {
                plain: true,
                ..Build::new(pdb.pattern().clone())
            },
            &Unobserved,
        )
        .unwrap();
    }
}

#[test]
fn mapped_loaded_and_built_databases_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.pdb");
    let goal = goal("3x3", "first");
    let mut random = Random(3);
    for kind in Kind::ALL {
        let built = database(&goal, &[1, 3, 5, 7, 8], kind);
        built.save(&path, true, &Unobserved).unwrap();
        let (mapped, loaded) = (Pdb::open(&path).unwrap(), Pdb::load(&path).unwrap());
        for _ in 0..1000 {
            let board = random.board(goal.size());
            let value = built.value(&board).unwrap();
            assert_eq!(mapped.value(&board).unwrap(), value);
            assert_eq!(loaded.value(&board).unwrap(), value);
        }
        assert_eq!(
            mapped.bytes().as_ptr() as usize % 64,
            0,
            "entries are aligned"
        );
        assert_eq!(inspect(&path).unwrap().histogram, built.histogram());
        let other = Random(1).board("3x4".parse().unwrap());
        assert!(matches!(
            mapped.value(&other),
            Err(PdbError::WrongSize { .. })
        ));
    }
}

#[test]
fn packing_for_shipping_restores_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let [plain, packed, back] = ["a", "b", "c"].map(|name| dir.path().join(name));
    let goal = goal("3x4", "last");
    for kind in Kind::ALL {
        database(&goal, &[1, 2, 3, 4, 7, 9], kind)
            .save(&plain, true, &Unobserved)
            .unwrap();
        compress(&plain, &packed, true, None, &Unobserved).unwrap();
        assert!(matches!(Pdb::open(&packed), Err(PdbError::Compressed(_))));
        assert!(matches!(
            decompress(&plain, &back, true, None, &Unobserved),
            Err(PdbError::NotCompressed(_))
        ));
        let sizes = [&plain, &packed].map(|p| std::fs::metadata(p).unwrap().len());
        assert!(sizes[1] < sizes[0] / 2, "{sizes:?}");
        assert_eq!(
            inspect(&packed).unwrap().entries,
            inspect(&plain).unwrap().entries
        );
        decompress(&packed, &back, true, None, &Unobserved).unwrap();
        assert!(std::fs::read(&back).unwrap() == std::fs::read(&plain).unwrap());

        let mut bytes = std::fs::read(&packed).unwrap();
        let last = bytes.len() - 100;
        bytes[last] ^= 1;
        std::fs::write(&packed, &bytes).unwrap();
        let error = decompress(&packed, &dir.path().join("d"), false, None, &Unobserved);
        assert!(matches!(error, Err(PdbError::Damaged { .. })), "{error:?}");
        assert!(!dir.path().join("d").exists());
    }
}

/// Any flipped bit and any truncation is found, by opening or by checking.
#[test]
fn damage_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.pdb");
    let truth = std::fs::read(golden("pdb_v1_regions.pdb")).unwrap();
    let check = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Pdb::open(&path).and_then(|pdb| pdb.check())
    };
    check(&truth).unwrap();
    let pdb = Pdb::open(&golden("pdb_v1_regions.pdb")).unwrap();
    let data = truth.len() - pdb.bytes().len();
    // All of the header and the data, and the used parts of the tables between.
    let tables = (4096..4096 + 4 * 21).chain(4224..4232);
    for byte in (0..4096).chain(tables).chain(data..truth.len()) {
        let mut bytes = truth.clone();
        bytes[byte] ^= 1 << (byte % 8);
        let error = check(&bytes).expect_err(&format!("byte {byte}"));
        match byte {
            0..8 => assert!(matches!(error, PdbError::NotADatabase(_))),
            8..12 => assert!(matches!(error, PdbError::Version { .. })),
            12..8192 if byte < data => assert!(matches!(error, PdbError::Header { .. }), "{error}"),
            _ => assert!(
                matches!(error, PdbError::Damaged { block: 0, .. }),
                "{error}"
            ),
        }
    }
    for length in [0, 1, 7, 8, 11, 12, 100, 4095, 4096, data, truth.len() - 1] {
        let error = check(&truth[..length]).unwrap_err();
        let known = matches!(error, PdbError::NotADatabase(_) | PdbError::Length { .. });
        assert!(known, "{length}: {error}");
    }
    let longer = [&truth[..], &[0]].concat();
    assert!(matches!(check(&longer), Err(PdbError::Length { .. })));
    assert!(matches!(Pdb::open(dir.path()), Err(PdbError::Io { .. })));
    assert!(matches!(
        Pdb::open(&dir.path().join("none")),
        Err(PdbError::Io { .. })
    ));
}

#[test]
fn nothing_is_replaced_unasked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.pdb");
    std::fs::write(&path, "precious").unwrap();
    let table = database(&goal("2x3", "last"), &[1, 2], Kind::Minimum);
    assert!(matches!(
        table.save(&path, false, &Unobserved),
        Err(PdbError::Exists(_))
    ));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    let missing = dir.path().join("none/x.pdb");
    assert!(matches!(
        table.save(&missing, false, &Unobserved),
        Err(PdbError::Io { .. })
    ));
    table.save(&path, true, &Unobserved).unwrap();
    Pdb::open(&path).unwrap().check().unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// Stops at the n-th question.
struct Stop(std::sync::atomic::AtomicI64);

impl PdbObserver for Stop {
    fn interrupted(&self) -> bool {
        self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) <= 0
    }
}

#[test]
fn an_interrupted_build_or_write_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let goal = goal("3x4", "last");
    let pattern = Pattern::new(goal.clone(), &[1, 2, 3, 4, 5]).unwrap();
    for plain in [false, true] {
        for questions in [0, 1, 20] {
            let how = Build {
                plain,
                ..Build::new(pattern.clone())
            };
            let stop = Stop(questions.into());
            assert!(
                matches!(build(&how, &stop), Err(PdbError::Interrupted)),
                "{questions}"
            );
        }
    }
    let table = database(&goal, &[1, 2, 3, 4, 5], Kind::Minimum);
    let path = dir.path().join("x.pdb");
    assert!(matches!(
        table.save(&path, false, &Stop(0.into())),
        Err(PdbError::Interrupted)
    ));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_table_over_the_budget_is_refused_with_numbers() {
    let pattern = Pattern::new(goal("6x6", "last"), &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    for kind in Kind::ALL {
        let how = Build {
            kind,
            memory: Some(1 << 30),
            ..Build::new(pattern.clone())
        };
        let Err(PdbError::Budget {
            entries,
            needed,
            budget,
            ..
        }) = plan(&how)
        else {
            panic!("36!/28! entries fit no gigabyte");
        };
        assert_eq!((entries, budget), (1_220_096_908_800, 1 << 30));
        assert!(needed > 2 * entries);
    }
}

/// Levels and progress as an observer sees them.
#[derive(Default)]
struct Watch {
    levels: std::sync::Mutex<Vec<u64>>,
    phases: std::sync::Mutex<Vec<Phase>>,
}

impl PdbObserver for Watch {
    fn level(&self, level: &PdbLevel) {
        let mut levels = self.levels.lock().unwrap();
        assert_eq!(levels.len(), level.value);
        levels.push(level.entries);
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
        let how = Build {
            kind,
            ..Build::new(pattern.clone())
        };
        let table = build(&how, &watch).unwrap();
        table
            .save(&dir.path().join(kind.name()), false, &watch)
            .unwrap();
        assert_eq!(*watch.levels.lock().unwrap(), table.histogram());
        let phases = watch.phases.lock().unwrap();
        assert!(
            phases.contains(&Phase::Search) && phases.contains(&Phase::File),
            "{phases:?}"
        );
    }
}

#[test]
fn a_wrong_value_is_found_by_search_and_by_rebuilding() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.pdb");
    let goal = goal("3x3", "last");
    let table = database(&goal, &[1, 2, 3, 4], Kind::Minimum);
    assert_eq!(
        spot_check(&table, 50, 1, &Unobserved).unwrap().confirmed,
        50
    );
    table.save(&path, false, &Unobserved).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let first = bytes.len() - table.bytes().len();
    for value in &mut bytes[first..] {
        *value += 2;
    }
    std::fs::write(&path, bytes).unwrap();
    let wrong = Pdb::open(&path).unwrap();
    assert!(matches!(
        spot_check(&wrong, 5, 1, &Unobserved),
        Err(PdbError::Wrong { .. })
    ));
    let how = Build::new(wrong.pattern().clone());
    assert!(matches!(
        rebuild(&wrong, &how, &Unobserved),
        Err(PdbError::Wrong { .. })
    ));
}
