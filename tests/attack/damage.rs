//! Damage of every kind of file of a search on disk, and of its directories: then every command that reads it. An
//! answer with exit code 0 is right; a refusal loses nothing: with the damage undone the search goes on where it was.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::program::{Done, room, run, tilewave};
use super::report::{Dice, Plan, Report, Verdict};
use super::runs::{self, SETUPS, Setup, Snapshot};

/// Searches in three states, each with another one of the same kind and with its own past.
struct Base {
    setup: &'static Setup,
    /// How it ended: killed in the middle of a level, stopped at a depth, complete.
    state: &'static str,
    files: Snapshot,
    /// The same search as it was some levels earlier.
    past: Snapshot,
    /// Another search of the same board and options, as far as this one.
    foreign: Snapshot,
    named: BTreeSet<PathBuf>,
    levels: Vec<String>,
    /// Whether `check` passes it undamaged.
    passes: bool,
}

fn make(setup: &'static Setup, state: &'static str) -> Base {
    let home = room();
    let search = |name: &str| {
        let folder = home.path().join(name);
        setup.prepare(&folder);
        setup.until(&folder, 9);
        let past = runs::snapshot(&folder);
        match state {
            "killed" => setup.killed(&folder, 70),
            "stopped" => setup.until(&folder, 17),
            _ => setup.until(&folder, 99),
        }
        (folder, past)
    };
    let (folder, past) = search("one");
    let foreign = runs::snapshot(&search("two").0);
    let files = runs::snapshot(&folder);
    let manifest = runs::manifest(&folder.join("disk0")).unwrap();
    let done = run(tilewave(["check", "-q"]).args(setup.places(&folder)));
    Base {
        setup,
        state,
        past,
        foreign,
        named: runs::named(&manifest).into_iter().collect(),
        levels: runs::levels(&manifest),
        passes: done.ok(),
        files,
    }
}

fn base(n: usize) -> &'static Base {
    const STATES: [&str; 3] = ["killed", "stopped", "complete"];
    const ALL: usize = SETUPS.len() * STATES.len();
    static BASES: [OnceLock<Base>; ALL] = [const { OnceLock::new() }; ALL];
    let n = n % ALL;
    BASES[n].get_or_init(|| make(&SETUPS[n / STATES.len()], STATES[n % STATES.len()]))
}

/// The commands that read a search; `repair` is `check --repair`.
const COMMANDS: [&str; 6] = ["bfs", "resume", "resume --check", "info", "check", "repair"];

/// The command on directories.
fn command(setup: &Setup, verb: &str, places: &[PathBuf]) -> Done {
    match verb {
        "bfs" | "resume" => run(&mut setup.with(verb, places)),
        "resume --check" => run(setup.with("resume", places).arg("--check")),
        "repair" => run(tilewave(["check", "--repair", "-q"]).args(places)),
        _ => run(tilewave([verb, "-q"]).args(places)),
    }
}

/// Random damages, each tried with one of the commands.
pub fn searches(plan: &Plan, few: bool) -> Report {
    plan.run(|n, dice| {
        // A quick selection makes few searches to be damaged: one that is complete without ways back, one of hundreds
        // of chunks among them.
        let base = base(if few { [0, 4, 6, 23, 27][n % 5] } else { n });
        let home = room();
        let folder = home.path();
        runs::restore(&base.files, folder);
        let mut places = base.setup.places(folder);
        let (kind, how) = if dice.one_in(3) {
            directories(base, folder, &mut places, dice)
        } else {
            file(base, folder, dice)
        };
        let verb = *dice.pick(&COMMANDS);
        let damaged = runs::snapshot(folder);
        let done = command(base.setup, verb, &places);
        let verdict = judge(base, folder, &damaged, verb, &kind, &done);
        let what =
            format!("{} {} {} {how}: {verb}", base.setup.board, base.setup.directories, base.state);
        (format!("damaged search: {kind}"), what, verdict)
    })
}

/// Damages one file of a kind; says which and how.
fn file(base: &Base, folder: &Path, dice: &mut Dice) -> (String, String) {
    let of = |kind: &str, path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let level = base.named.contains(path);
        !runs::OTHERS.iter().any(|(n, _)| *n == name)
            && match kind {
                "level" => level,
                "scratch" => name.starts_with("cross-") || (name.starts_with("level-") && !level),
                "manifest" | "lock" => name == kind,
                _ => !["level-", "cross-", "manifest", "lock"].iter().any(|p| name.starts_with(p)),
            }
    };
    let kinds =
        ["level", "level", "level", "scratch", "scratch", "manifest", "manifest", "marker", "lock"];
    let all = base.files.keys();
    let there = kinds.iter().filter(|kind| all.clone().any(|p| of(kind, p)));
    let kind = *dice.pick(&there.collect::<Vec<_>>());
    let files: Vec<&PathBuf> = all.clone().filter(|p| of(kind, p)).collect();
    let file = *dice.pick(&files);
    let bytes = &base.files[file];
    let path = folder.join(file);
    let (how, new) = damage(bytes, dice, &[base.past.get(file), base.foreign.get(file)]);
    let how = match how {
        "removed" => {
            std::fs::remove_file(&path).unwrap();
            how
        }
        "a directory" => {
            std::fs::remove_file(&path).unwrap();
            std::fs::create_dir(&path).unwrap();
            how
        }
        "swapped" => {
            let other = *dice.pick(&files);
            std::fs::write(&path, &base.files[other]).unwrap();
            std::fs::write(folder.join(other), bytes).unwrap();
            how
        }
        _ => {
            std::fs::write(&path, new).unwrap();
            how
        }
    };
    ((*kind).to_owned(), format!("{} {how}", file.display()))
}

/// Other bytes in place of these.
pub fn damage(
    bytes: &[u8],
    dice: &mut Dice,
    others: &[Option<&Vec<u8>>],
) -> (&'static str, Vec<u8>) {
    let mut new = bytes.to_vec();
    let at = dice.below(new.len());
    let how = match dice.below(14) {
        0..=3 if !new.is_empty() => {
            new[at] ^= 1 << dice.below(8);
            "bit"
        }
        4 if !new.is_empty() => {
            new[at] = dice.next() as u8;
            "byte"
        }
        5 if !new.is_empty() => {
            let end = (at + 1 + dice.below(512)).min(new.len());
            new[at..end].fill(0);
            "zeros"
        }
        6 if !new.is_empty() => {
            new.truncate(at);
            "cut"
        }
        7 => {
            new.clear();
            "emptied"
        }
        8 => {
            new.extend((0..1 + dice.below(200)).map(|_| dice.next() as u8));
            "longer"
        }
        9 => "removed",
        10 => "a directory",
        11 => "swapped",
        12 if others.first().is_some_and(|o| o.is_some()) => {
            new.clone_from(others[0].unwrap());
            "older"
        }
        13 if others.get(1).is_some_and(|o| o.is_some()) => {
            new.clone_from(others[1].unwrap());
            "foreign"
        }
        _ => {
            for _ in 0..1 + dice.below(20) {
                let at = dice.below(new.len());
                if let Some(byte) = new.get_mut(at) {
                    *byte = dice.next() as u8;
                }
            }
            "bytes"
        }
    };
    (how, new)
}

/// Directories that are missing, empty, in another order, foreign, older.
fn directories(
    base: &Base,
    folder: &Path,
    places: &mut Vec<PathBuf>,
    dice: &mut Dice,
) -> (String, String) {
    let which = dice.below(places.len());
    let place = places[which].clone();
    let part = |files: &Snapshot| -> Snapshot {
        let disk = place.file_name().unwrap();
        files
            .iter()
            .filter(|(p, _)| p.starts_with(disk))
            .map(|(p, b)| (p.clone(), b.clone()))
            .collect()
    };
    let clear = || {
        std::fs::remove_dir_all(&place).unwrap();
        std::fs::create_dir(&place).unwrap();
    };
    // One directory that is new, empty or another's is simply another search.
    let how = match if base.setup.directories > 1 { dice.below(9) } else { 6 + dice.below(3) } {
        0 => {
            std::fs::remove_dir_all(&place).unwrap();
            "missing"
        }
        1 => {
            clear();
            "empty"
        }
        2 => {
            clear();
            restore_all(&part(&base.foreign), folder);
            "foreign"
        }
        3 => {
            clear();
            restore_all(&part(&base.past), folder);
            "older"
        }
        4 => {
            places.reverse();
            "reversed"
        }
        5 => {
            *places = vec![place.clone()];
            "alone"
        }
        6 => {
            places.push(place.clone());
            "twice"
        }
        7 => {
            let extra = folder.join("extra");
            std::fs::create_dir(&extra).unwrap();
            places.push(extra);
            "one more, empty"
        }
        _ => {
            // The manifest is lost, and with it whatever else marks the run.
            for (path, _) in part(&base.files) {
                let name = path.file_name().unwrap().to_str().unwrap();
                if !name.starts_with("level-") && !runs::OTHERS.iter().any(|(n, _)| *n == name) {
                    std::fs::remove_file(folder.join(&path)).unwrap();
                }
            }
            "only levels left"
        }
    };
    ("directories".into(), format!("disk{which} {how}"))
}

fn restore_all(files: &Snapshot, folder: &Path) {
    runs::restore(files, folder);
}

fn judge(
    base: &Base,
    folder: &Path,
    damaged: &Snapshot,
    verb: &str,
    kind: &str,
    done: &Done,
) -> Verdict {
    let searching = ["bfs", "resume", "resume --check"].contains(&verb);
    let wrong = base.setup.wrong(done);
    // The right total with another number of directories or another run beside it is still right.
    if done.ok()
        && searching
        && let Some(wrong) = wrong
    {
        return Verdict::Wrong(wrong);
    }
    let after = runs::snapshot(folder);
    if let Some(gone) = removed(base, damaged, &after, searching && done.ok(), verb) {
        return Verdict::Removed(format!("{gone} ({})", done.first_words()));
    }
    if verb == "check" && done.ok() && base.passes && (kind == "level" || kind == "directories") {
        let other = base.named.iter().find(|p| damaged.get(*p) != base.files.get(*p));
        if let Some(path) = other {
            return Verdict::Wrong(format!("check passes though {} is damaged", path.display()));
        }
    }
    // With the damage undone nothing is lost. After an answer there was none that mattered, or it was repaired.
    if !(searching && done.ok()) {
        let unmoved =
            after.get(Path::new("disk0/manifest")) == damaged.get(Path::new("disk0/manifest"));
        // After it went on for a while, what it still needs.
        let now = runs::manifest(&folder.join("disk0"));
        let now: BTreeSet<PathBuf> = now.iter().flat_map(runs::named).collect();
        if verb != "repair" || !done.ok() {
            for (path, bytes) in &base.files {
                // A level that a commit named and that had not got its name yet may have it now.
                let named = runs::named_since(path).filter(|p| folder.join(p).exists());
                let needed = now.contains(named.as_ref().unwrap_or(path));
                if damaged.get(path) != Some(bytes) && (unmoved || needed) {
                    let path = named.as_ref().unwrap_or(path);
                    restore_all(&[(path.clone(), bytes.clone())].into(), folder);
                }
            }
            for path in damaged.keys().filter(|p| !base.files.contains_key(*p)) {
                let _ = std::fs::remove_file(folder.join(path));
            }
        }
        let again = run(&mut base.setup.with("bfs", &base.setup.places(folder)));
        if !again.ok() {
            let repaired = verb == "repair" && done.ok();
            // A repair may say what it could not bring back, as long as it does not lose it.
            let how = if repaired { "after repair" } else { "with the damage undone" };
            return Verdict::Lost(format!(
                "{how}: {} (it said {})",
                again.first_words(),
                done.first_words()
            ));
        }
        if let Some(wrong) = base.setup.wrong(&again) {
            return Verdict::Wrong(format!("afterwards {wrong} (it said {})", done.first_words()));
        }
        if verb != "repair" && !(verb == "resume --check" && kind == "level") {
            let manifest = runs::manifest(&folder.join("disk0"));
            if let Some(lost) = runs::lost(&base.levels, manifest.as_ref()) {
                return Verdict::Lost(format!("{lost} (it said {})", done.first_words()));
            }
        }
    } else if let Some(lost) =
        runs::lost(&base.levels, runs::manifest(&folder.join("disk0")).as_ref())
    {
        // To compute damaged levels again is what --check is for.
        if verb != "resume --check" || kind != "level" {
            return Verdict::Lost(format!("unasked: {lost} ({})", done.first_words()));
        }
    }
    let paths = if verb == "info" || verb == "check" { base.setup.places(folder).len() } else { 1 };
    if let Some(ugly) = done.bad_manners_of(paths) {
        return Verdict::Ugly(ugly);
    }
    if done.ok() { Verdict::Harmless } else { Verdict::Detected }
}

/// A file that had to stay as it was: the user's, another run's, and of its own whatever the manifest names; for
/// commands that only look, every file.
fn removed(
    base: &Base,
    damaged: &Snapshot,
    after: &Snapshot,
    moved: bool,
    verb: &str,
) -> Option<String> {
    let looks = verb == "info" || verb == "check";
    let moved = moved
        || damaged.get(Path::new("disk0/manifest")) != after.get(Path::new("disk0/manifest"))
        || verb == "repair";
    let stays = |path: &Path, bytes: &Vec<u8>| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let foreign = name.starts_with("level-")
            && base.foreign.get(path) == Some(bytes)
            && base.files.get(path) != Some(bytes);
        let own = base.named.contains(path) && base.files.get(path) == Some(bytes);
        runs::OTHERS.iter().any(|(n, _)| *n == name)
            || foreign
            || (own && !moved)
            || (looks && name != "lock")
    };
    let (path, _) = damaged
        .iter()
        .find(|(path, bytes)| stays(path, bytes) && after.get(*path) != Some(bytes))?;
    Some(path.display().to_string())
}
