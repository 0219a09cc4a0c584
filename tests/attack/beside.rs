//! `check` and `info` beside a running search: no false alarm, and the search is not disturbed.

use std::sync::atomic::{AtomicBool, Ordering};

use super::program::{PATIENCE, end, room, run, start, tilewave};
use super::report::{Plan, Report, Verdict};
use super::runs::{self, Setup};

/// Looks `trials` times at searches that run meanwhile.
pub fn looks(plan: &Plan) -> Report {
    let setups = [
        Setup::new("2x5", &["--shared-digits", "2", "--planes", "files"], 1),
        Setup::new("2x5", &["--shared-digits", "1", "--keep-levels", "all"], 2),
        Setup::new("lx:9", &["--shared-digits", "1"], 1),
        runs::HUNDREDS.every("100ms"),
    ];
    let mut report = Report::default();
    let mut looked = 0;
    for round in 0.. {
        if looked >= plan.trials {
            break;
        }
        let setup = &setups[round % setups.len()];
        let home = room();
        setup.prepare(home.path());
        let child = start(&mut setup.command(home.path()));
        let over = AtomicBool::new(false);
        let (found, done) = std::thread::scope(|scope| {
            let search = scope.spawn(|| {
                let done = end(child, PATIENCE);
                over.store(true, Ordering::Relaxed);
                done
            });
            let mut found = Vec::new();
            for n in 0.. {
                if over.load(Ordering::Relaxed) || looked + found.len() >= plan.trials {
                    break;
                }
                let verb = ["check", "info"][n % 2];
                let before = runs::manifest(&home.path().join("disk0")).is_some();
                let done = run(tilewave([verb, "-q"]).args(setup.places(home.path())));
                // Before the first commit there is nothing to look at.
                if before {
                    found.push((verb, done));
                }
            }
            (found, search.join().unwrap())
        });
        for (verb, done) in found {
            looked += 1;
            // A search that is not complete may be told so with exit code 1, but not as damage.
            let alarm = [
                "damage",
                "No such file",
                "missing",
                "not found",
                "mounted",
                "checksum",
                "corrupt",
            ];
            let said = format!("{}{}", done.out, done.err);
            let verdict = match done.bad_manners() {
                Some(ugly) => Verdict::Ugly(ugly),
                None if done.ok() => Verdict::Harmless,
                None if alarm.iter().any(|a| said.contains(a)) => {
                    Verdict::Wrong(format!("false alarm: {}", done.first_words()))
                }
                None => Verdict::Detected,
            };
            report.add(
                &format!("beside a search: {verb}"),
                &format!("round {round}, {}", setup.board),
                verdict,
            );
        }
        let verdict = match (done.ok(), setup.wrong(&done)) {
            (true, None) => Verdict::Harmless,
            (true, Some(wrong)) => Verdict::Wrong(wrong),
            (false, _) => {
                Verdict::Lost(format!("the search was disturbed: {}", done.first_words()))
            }
        };
        report.add(
            "beside a search: the search",
            &format!("round {round}, {}", setup.board),
            verdict,
        );
    }
    report
}

/// A search that starts while another process looks at its directory all the time.
pub fn starts(plan: &Plan) -> Report {
    let setup = Setup::new("2x4", &["--shared-digits", "1"], 1);
    plan.run(|_, _| {
        let home = room();
        setup.prepare(home.path());
        // An older session left the file that is locked.
        setup.until(home.path(), 3);
        let over = AtomicBool::new(false);
        let done = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    run(tilewave(["info", "-q"]).args(setup.places(home.path())));
                }
            });
            let mut done = run(&mut setup.command(home.path()));
            for _ in 0..4 {
                if done.ok() {
                    done = run(&mut setup.command(home.path()));
                }
            }
            over.store(true, Ordering::Relaxed);
            done
        });
        let verdict = match (done.ok(), setup.wrong(&done)) {
            (true, None) => Verdict::Harmless,
            (true, Some(wrong)) => Verdict::Wrong(wrong),
            (false, _) => Verdict::Ugly(format!("could not start: {}", done.first_words())),
        };
        ("status while a search starts".into(), setup.board.into(), verdict)
    })
}
