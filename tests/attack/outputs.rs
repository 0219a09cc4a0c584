//! System calls that fail in commands that write files.

use super::calls::{self, Class, EINTR, EINVAL, EOPNOTSUPP, Fault};
use super::faults::{FAULTS, NAMES};
use super::program::{room, run, tilewave};
use super::report::{Plan, Report, Verdict};

/// Commands that write one file: it is there whole or not at all, the older one is kept, nothing is left beside it.
pub fn writes(plan: &Plan) -> Report {
    if calls::library().is_none() {
        return Report::default();
    }
    let board = "8 6 7/2 5 4/3 0 1";
    let commands: [(&str, &[&str]); 6] = [
        ("out.pdb", &["pdb", "build", "3x3", "--pattern", "1,2,3,4"]),
        ("out.table", &["table", "3x3"]),
        ("out.csv", &["bfs", "2x4", "--format", "csv"]),
        ("out.txt", &["levels", "2x4"]),
        ("out.txt", &["solve", board, "--no-cache", "--format", "jsonl"]),
        ("out.cnf", &["encode", "1 2 3/4 5 6/7 0 8", "--max-moves", "3", "--cnf"]),
    ];
    let mut kinds = FAULTS[..12].to_vec();
    kinds.push((Class::Names, NAMES));
    plan.run(|n, dice| {
        let (name, args) = commands[n % commands.len()];
        let home = room();
        let file = home.path().join(name);
        let write = |force: bool| {
            let mut command = tilewave(args);
            // The option itself stands last where it is not -o.
            if !args.last().unwrap().starts_with("--cnf") {
                command.arg("-o");
            }
            command.arg(&file).arg("-q");
            if force {
                command.arg("--force");
            }
            command
        };
        let older = dice.one_in(2);
        if older {
            std::fs::write(&file, "something older").unwrap();
        }
        let (class, faults) = *dice.pick(&kinds);
        let fault = *dice.pick(faults);
        let (nth, lasting) = (1 + dice.below(6), dice.one_in(3) && fault != Fault::Error(EINTR));
        let log = home.path().join("log");
        std::fs::write(&log, "").unwrap();
        let mut command = write(older);
        calls::strike(&mut command, home.path(), &class.name(), nth, lasting, fault);
        let done = run(command.env("ATTACK_LOG", &log));
        let struck = calls::calls(&log).iter().any(|c| c.struck);
        std::fs::remove_file(&log).unwrap();
        let what = format!("{} -o: {class:?} {nth} {fault:?} older {older}", args[0]);
        let verdict = (|| {
            let killed = done.signal == Some(9) && fault == Fault::Kill;
            let found = std::fs::read(&file).ok();
            let whole = std::fs::metadata(&file).is_ok_and(|m| m.len() > 0)
                && found.as_deref() != Some(b"something older");
            if done.ok() && !whole {
                return Verdict::Wrong(format!("code 0 without the file: {}", done.first_words()));
            }
            if older && found.is_none() {
                return Verdict::Removed("the older file".into());
            }
            let kept = std::fs::read_dir(home.path()).unwrap().count();
            // What cannot be removed stays.
            if !killed && kept > usize::from(found.is_some()) && class != Class::Remove {
                return Verdict::Ugly(format!("leaves a file beside it: {}", done.first_words()));
            }
            // When only the name could not be synced (the directory opened, and synced) the file is there.
            let of_name = [Class::Sync, Class::Names, Class::Open].contains(&class);
            if !killed && !done.ok() && !older && found.is_some() && !of_name {
                return Verdict::Ugly(format!(
                    "says error, leaves the file: {}",
                    done.first_words()
                ));
            }
            // What stands there under the name is the whole of it.
            let again = home.path().join("again");
            std::fs::create_dir(&again).unwrap();
            let _ = std::fs::rename(&file, again.join(name));
            let fresh = run(&mut write(false));
            let (first, second) = (std::fs::read(again.join(name)), std::fs::read(&file));
            let steady = !args.contains(&"--format");
            if !fresh.ok() {
                return Verdict::Lost(format!("not even afterwards: {}", fresh.first_words()));
            }
            if whole && steady && first.ok() != second.ok() {
                return Verdict::Wrong("a file that is not the whole".into());
            }
            if killed {
                return Verdict::Detected;
            }
            if let Some(ugly) = done.bad_manners() {
                return Verdict::Ugly(ugly);
            }
            match fault {
                _ if done.ok() => Verdict::Harmless,
                // A result is there, whether its name would outlive a power cut or not.
                Fault::Error(EINVAL | EOPNOTSUPP) if struck && class == Class::Names => {
                    Verdict::Ugly(format!("gives up a result: {}", done.first_words()))
                }
                Fault::Short | Fault::Error(EINTR) if struck => {
                    Verdict::Ugly(format!("gives up: {}", done.first_words()))
                }
                Fault::Error(_) if !done.err.contains(home.path().to_str().unwrap()) => {
                    Verdict::Ugly(format!("names no file: {}", done.first_words()))
                }
                _ => Verdict::Detected,
            }
        })();
        (format!("failing call of -o: {}", class.name()), what, verdict)
    })
}
