//! System calls that fail: in a search, in what goes on with it, in commands that write files. However it ends, the
//! program says so in one line, and the next start, without faults, comes to the right result from what was committed.

use std::path::Path;
use std::sync::OnceLock;

use super::calls::{self, Class, EACCES, EDQUOT, EINTR, EIO, EMFILE, ENOMEM, ENOSPC, EROFS, Fault};
use super::program::{Done, room, run, tilewave};
use super::report::{Plan, Report, Verdict};
use super::runs::{self, SETUPS, Setup, Snapshot};

/// What can happen to calls of a class.
const FAULTS: [(Class, &[Fault]); 15] = {
    use Fault::*;
    [
        (
            Class::Write,
            &[
                Error(EIO),
                Error(ENOSPC),
                Error(EINTR),
                Error(EDQUOT),
                Short,
                Kill,
                Interrupt,
            ],
        ),
        (
            Class::Sync,
            &[Error(EIO), Error(ENOSPC), Error(EINTR), Kill, Interrupt],
        ),
        (
            Class::Rename,
            &[
                Error(EIO),
                Error(ENOSPC),
                Error(EROFS),
                Error(EACCES),
                Kill,
                Interrupt,
            ],
        ),
        (
            Class::Open,
            &[Error(EIO), Error(EMFILE), Error(EINTR), Error(EACCES), Kill],
        ),
        (
            Class::Create,
            &[
                Error(ENOSPC),
                Error(EROFS),
                Error(EMFILE),
                Error(EACCES),
                Kill,
            ],
        ),
        (Class::Read, &[Error(EIO), Error(EINTR), Short, Kill]),
        (
            Class::Remove,
            &[Error(EIO), Error(EROFS), Error(EACCES), Kill],
        ),
        (Class::Close, &[Error(EIO), Error(EINTR), Error(ENOSPC)]),
        (Class::Stat, &[Error(EIO), Error(EACCES)]),
        (Class::Lock, &[Error(EIO), Error(ENOMEM)]),
        (Class::Map, &[Error(ENOMEM), Error(EACCES)]),
        (Class::Size, &[Error(ENOSPC), Error(EIO)]),
        (Class::Make, &[Error(ENOSPC), Error(EROFS), Error(EACCES)]),
        (Class::Link, &[Error(EIO), Error(EACCES)]),
        (Class::Thread, &[Error(EIO)]),
    ]
};

/// A search that was stopped halfway, for each setup, and how many calls of each class going on with it makes.
struct Base {
    files: Snapshot,
    levels: Vec<String>,
    fresh: Vec<(Class, usize)>,
    later: Vec<(Class, usize)>,
}

fn base(n: usize) -> &'static Base {
    static BASES: [OnceLock<Base>; SETUPS.len()] = [const { OnceLock::new() }; SETUPS.len()];
    BASES[n].get_or_init(|| {
        let setup = &SETUPS[n];
        let count = |folder: &Path, log: &Path| {
            let mut command = setup.command(folder);
            calls::under(&mut command, folder).env("ATTACK_LOG", log);
            let done = run(&mut command);
            assert_eq!((done.ok(), setup.wrong(&done)), (true, None), "{done:?}");
            let calls = calls::calls(log);
            FAULTS
                .iter()
                .map(|(class, _)| (*class, calls.iter().filter(|c| c.class == *class).count()))
                .collect()
        };
        let home = room();
        let (whole, half, log) = (
            home.path().join("whole"),
            home.path().join("half"),
            home.path().join("log"),
        );
        setup.prepare(&whole);
        let fresh = count(&whole, &log);
        setup.prepare(&half);
        setup.killed(&half, 60);
        let files = runs::snapshot(&half);
        let levels = runs::levels(&runs::manifest(&half.join("disk0")).unwrap());
        Base {
            later: count(&half, &log),
            files,
            levels,
            fresh,
        }
    })
}

/// Searches of small boards with one fault each; every fourth one lasts, as that of a full disk does.
pub fn searches(plan: &Plan, few: bool) -> Report {
    if calls::library().is_none() {
        return Report::default();
    }
    plan.run(|n, dice| {
        // 2x5 and K = 2 take longer: less often.
        let all: &[usize] = &[0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6];
        let number = *dice.pick(if few { &[0, 1] } else { all });
        let (setup, base) = (&SETUPS[number], base(number));
        let home = room();
        let folder = home.path();
        let resumed = dice.one_in(2);
        let counts = if resumed { &base.later } else { &base.fresh };
        // Every class in turn, and of each any call: the first ones, of which there are few sorts, more often.
        let (class, faults, calls) = (0..FAULTS.len())
            .map(|k| (n + k) % FAULTS.len())
            .map(|k| (FAULTS[k].0, FAULTS[k].1, counts[k].1))
            .find(|(_, _, calls)| *calls > 0)
            .unwrap();
        let nth = 1 + if dice.one_in(2) {
            dice.below(calls.min(20))
        } else {
            dice.below(calls)
        };
        let fault = *dice.pick(faults);
        let lasting = matches!(fault, Fault::Error(e) if e != EINTR) && dice.one_in(4);
        if resumed {
            runs::restore(&base.files, folder);
        }
        setup.prepare(folder);
        let before = runs::snapshot(folder);
        let mut command = setup.command(folder);
        calls::strike(&mut command, folder, &class.name(), nth, lasting, fault);
        let done = run(&mut command);
        let what = format!(
            "{} K{} {} {class:?} {nth}{} {fault:?}",
            setup.board,
            setup.options[1],
            if resumed { "resumed" } else { "fresh" },
            if lasting { "+" } else { "" },
        );
        let committed = if resumed { &base.levels[..] } else { &[] };
        let verdict = judge(setup, folder, &before, committed, &done, fault);
        (format!("failing call: {}", class.name()), what, verdict)
    })
}

fn judge(
    setup: &Setup,
    folder: &Path,
    before: &Snapshot,
    committed: &[String],
    done: &Done,
    fault: Fault,
) -> Verdict {
    if done.ok()
        && let Some(wrong) = setup.wrong(done)
    {
        return Verdict::Wrong(wrong);
    }
    if let Some(touched) = runs::others_touched(before, folder) {
        return Verdict::Removed(touched);
    }
    // What the interrupted search had committed must be there when the next one has finished.
    let mut kept = committed.to_vec();
    if let Some(manifest) = runs::manifest(&folder.join("disk0")) {
        if let Some(lost) = runs::lost(committed, Some(&manifest)) {
            return Verdict::Lost(lost);
        }
        kept = runs::levels(&manifest);
    }
    let again = run(&mut setup.command(folder));
    if !again.ok() {
        return Verdict::Lost(format!("does not go on: {}", again.first_words()));
    }
    if let Some(wrong) = setup.wrong(&again) {
        return Verdict::Wrong(format!("afterwards {wrong}"));
    }
    let manifest = runs::manifest(&folder.join("disk0"));
    if let Some(lost) = runs::lost(&kept, manifest.as_ref()) {
        return Verdict::Lost(lost);
    }
    if let Some(touched) = runs::others_touched(before, folder) {
        return Verdict::Removed(format!("{touched}, afterwards"));
    }
    if let Some(left) = litter(folder) {
        return Verdict::Ugly(format!("leaves {left}"));
    }
    if fault == Fault::Kill && done.signal == Some(9) {
        return Verdict::Detected;
    }
    if let Some(ugly) = done.bad_manners() {
        return Verdict::Ugly(ugly);
    }
    match fault {
        _ if done.ok() => Verdict::Harmless,
        // An interrupted call is to be made again, a short one to be finished.
        Fault::Short | Fault::Error(EINTR) => {
            Verdict::Ugly(format!("gives up: {}", done.first_words()))
        }
        Fault::Error(_) if !names_place(done, folder) => {
            Verdict::Ugly(format!("names no file: {}", done.first_words()))
        }
        _ => Verdict::Detected,
    }
}

/// What a finished search leaves that nobody needs.
fn litter(folder: &Path) -> Option<String> {
    let own =
        |name: &str| name.starts_with("cross-") || name.ends_with(".part") || name.contains(".new");
    runs::snapshot(folder)
        .keys()
        .filter_map(|p| p.file_name()?.to_str())
        .find(|name| own(name) && !runs::OTHERS.iter().any(|(n, _)| n == name))
        .map(str::to_owned)
}

/// Whether a message says where: a thread that can not be started is nowhere.
fn names_place(done: &Done, folder: &Path) -> bool {
    done.err.contains(folder.to_str().unwrap()) || done.err.contains("thread")
}

/// Commands that write one file: it is there whole or not at all, the older one is kept, nothing is left beside it.
pub fn outputs(plan: &Plan) -> Report {
    if calls::library().is_none() {
        return Report::default();
    }
    let board = "8 6 7/2 5 4/3 0 1";
    let commands: [(&str, &[&str]); 6] = [
        (
            "out.pdb",
            &["pdb", "build", "--size", "3x3", "--pattern", "1,2,3,4"],
        ),
        ("out.table", &["table", "3x3"]),
        ("out.csv", &["bfs", "2x4", "--format", "csv"]),
        ("out.txt", &["verify", "2x4"]),
        (
            "out.txt",
            &["solve", board, "--no-cache", "--format", "json"],
        ),
        (
            "out.cnf",
            &["export", "1 2 3/4 5 6/7 0 8", "--max-moves", "3", "--cnf"],
        ),
    ];
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
        let (class, faults) = *dice.pick(&FAULTS[..12]);
        let fault = *dice.pick(faults);
        let (nth, lasting) = (
            1 + dice.below(6),
            dice.one_in(3) && fault != Fault::Error(EINTR),
        );
        let log = home.path().join("log");
        std::fs::write(&log, "").unwrap();
        let mut command = write(older);
        calls::strike(
            &mut command,
            home.path(),
            &class.name(),
            nth,
            lasting,
            fault,
        );
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
            let of_name = [Class::Sync, Class::Open].contains(&class);
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
            let steady = !args.contains(&"--format") && args[0] != "verify";
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
                Fault::Short | Fault::Error(EINTR) if struck => {
                    Verdict::Ugly(format!("gives up: {}", done.first_words()))
                }
                Fault::Error(_) if !done.err.contains(home.path().to_str().unwrap()) => {
                    Verdict::Ugly(format!("names no file: {}", done.first_words()))
                }
                _ => Verdict::Detected,
            }
        })();
        (
            format!("failing call of -o: {}", class.name()),
            what,
            verdict,
        )
    })
}

/// Too little memory, and threads that can not be started.
pub fn scarce(plan: &Plan) -> Report {
    if calls::library().is_none() {
        return Report::default();
    }
    let board = "8 6 7/2 5 4/3 0 1";
    let files = room();
    let at = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let (pdb, table, set) = (at("a.pdb"), at("a.table"), at("r.pdb"));
    let build = |args: &[&str]| assert!(run(&mut tilewave(args)).ok(), "{args:?}");
    let pattern = [
        "pdb",
        "build",
        "--size",
        "3x3",
        "--pattern",
        "1,2,3,4",
        "-o",
    ];
    build(&[&pattern[..], &[&pdb]].concat());
    build(&[&pattern[..], &[&set, "--kind", "region-aware"]].concat());
    build(&["table", "3x3", "-o", &table]);
    let commands: [&[&str]; 15] = [
        &["bfs", "2x5", "--format", "csv"],
        &["bfs", "2x5", "--dir", "DIR"],
        &["bfs", "2x5", "--dir", "DIR", "--shared-digits", "1"],
        &[
            "bfs",
            "3x3",
            "--dir",
            "DIR",
            "--shared-digits",
            "2",
            "--planes",
            "files",
        ],
        &["solve", board, "--no-cache"],
        &["solve", board, "--no-cache", "--pdb", &pdb],
        &["solve", board, "--table", &table],
        &["state", board, "--table", &table],
        &["verify", "2x4"],
        &["antipodes", "2x4"],
        &["table", "3x3", "-o", "/dev/null", "--force"],
        &[&pattern[..], &["/dev/null", "--force"]].concat(),
        &["pdb", "verify", &pdb, "--rebuild"],
        &[
            "pdb",
            "export",
            &pdb,
            "--layout",
            "positions",
            "-o",
            "/dev/null",
            "--force",
        ],
        &["pdb", "probe", &set, "--board", board],
    ];
    plan.run(|n, dice| {
        let args = commands[n % commands.len()];
        let (class, most) = *dice.pick(&[("thread", 6), ("memory", 40)]);
        let nth = 1 + dice.below(most);
        let home = room();
        let dir = home.path().join("run");
        let named = |word: &&str| match *word {
            "DIR" => dir.clone().into_os_string(),
            word => word.into(),
        };
        let mut command = tilewave(args.iter().map(named));
        command.arg("-q");
        if !["state", "probe"].iter().any(|word| args.contains(word)) {
            command.args(["-j", "3"]);
        }
        calls::strike(
            &mut command,
            home.path(),
            class,
            nth,
            dice.one_in(2),
            Fault::Error(ENOMEM),
        );
        let done = run(&mut command);
        let verdict = match done.bad_manners() {
            Some(ugly) => Verdict::Ugly(ugly),
            None if done.ok() => Verdict::Harmless,
            None if done.code == Some(1) => Verdict::Detected,
            None => Verdict::Ugly(format!("code {:?}: {}", done.code, done.first_words())),
        };
        (
            format!("short of: {class}"),
            format!("{} {nth}", args.join(" ")),
            verdict,
        )
    })
}
