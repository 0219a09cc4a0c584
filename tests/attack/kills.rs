//! Searches that are killed at random and started again at once, until they are complete.

use std::time::{Duration, Instant};

use super::program::{PATIENCE, end, room, run, start, tilewave};
use super::report::{Plan, Report, Verdict};
use super::runs::{self, Setup};

/// `trials` kills; every completed search has the levels of one in memory.
pub fn restarts(plan: &Plan, few: bool) -> Report {
    let setups = [
        Setup::new("2x5", &["--shared-digits", "1", "--planes", "files"], 1),
        Setup::new("lx:9", &["--shared-digits", "1"], 2),
        Setup::new("2x5", &["--shared-digits", "1"], 2),
        Setup::new("2x5", &["--shared-digits", "1", "--keep-levels", "all", "--io", "mmap"], 1),
        Setup::new("2x5", &["--shared-digits", "2", "--planes", "files"], 1),
        runs::HUNDREDS,
        runs::HUNDREDS.every("100ms"),
    ];
    // One trial is a search with up to this many kills.
    let kills = 10;
    let searches = Plan { trials: plan.trials.div_ceil(kills), ..plan.clone() };
    let mut report = searches.run(|n, dice| {
        let setup = &setups[n % if few { 2 } else { setups.len() }];
        let home = room();
        setup.prepare(home.path());
        let before = runs::snapshot(home.path());
        let what = format!("{} {:?}", setup.board, setup.options);
        let kind = "killed and started again".to_owned();
        let mut committed: Vec<String> = Vec::new();
        let mut killed = 0;
        let verdict = loop {
            let mut command = setup.command(home.path());
            let mut child = start(&mut command);
            let stop = Instant::now() + Duration::from_millis(15 + dice.below(120) as u64);
            while killed < kills && Instant::now() < stop && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            if killed < kills && child.try_wait().unwrap().is_none() {
                // Not waited for before the next one starts: its lock may still be there for an instant.
                let _ = child.kill();
                let reaper = std::thread::spawn(move || end(child, PATIENCE));
                killed += 1;
                if dice.one_in(2) {
                    let _ = reaper.join();
                }
            } else {
                let done = end(child, PATIENCE);
                if !done.ok() {
                    break Verdict::Lost(format!("after {killed} kills: {}", done.first_words()));
                }
                if let Some(wrong) = setup.wrong(&done) {
                    break Verdict::Wrong(wrong);
                }
                break Verdict::Harmless;
            }
            if let Some(now) = runs::manifest(&home.path().join("disk0")) {
                if let Some(lost) = runs::lost(&committed, Some(&now)) {
                    break Verdict::Lost(lost);
                }
                committed = runs::levels(&now);
            }
        };
        let verdict = match verdict {
            Verdict::Harmless => {
                let verify = run(tilewave(["check", "-q"]).args(setup.places(home.path())));
                let touched = runs::others_touched(&before, home.path());
                match (touched, verify.ok()) {
                    (Some(touched), _) => Verdict::Removed(touched),
                    (None, false) => Verdict::Ugly(format!("verify: {}", verify.first_words())),
                    _ => Verdict::Harmless,
                }
            }
            other => other,
        };
        (kind, what, verdict)
    });
    // Counted in kills.
    for row in report.rows.values_mut() {
        row.trials *= kills;
        row.harmless *= kills;
    }
    report
}
