//! System calls that fail: in a search, in what goes on with it. However it ends, the
//! program says so in one line, and the next start, without faults, comes to the right result from what was committed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use super::calls::{
    self, Call, Class, EACCES, EDQUOT, EINTR, EINVAL, EIO, EMFILE, ENOMEM, ENOSPC, ENOSYS,
    EOPNOTSUPP, EPERM, EROFS, Fault,
};
use super::program::{Done, room, run};
use super::report::{Plan, Report, Verdict};
use super::runs::{self, SETUPS, Setup, Snapshot};

/// What can happen to the sync of a directory.
pub const NAMES: &[Fault] = &[
    Fault::Error(EINVAL),
    Fault::Error(EOPNOTSUPP),
    Fault::Error(EIO),
    Fault::Error(EINTR),
    Fault::Kill,
];

/// What can happen to a hole.
pub const PUNCHES: &[Fault] = &[
    Fault::Error(ENOSYS),
    Fault::Error(EPERM),
    Fault::Error(EINVAL),
    Fault::Error(ENOSPC),
    Fault::Error(EINTR),
    Fault::Error(EOPNOTSUPP),
    Fault::Kill,
];

/// What can happen to calls of a class.
pub const FAULTS: [(Class, &[Fault]); 18] = {
    use Fault::*;
    [
        (
            Class::Write,
            &[Error(EIO), Error(ENOSPC), Error(EINTR), Error(EDQUOT), Short, Kill, Interrupt],
        ),
        (Class::Sync, &[Error(EIO), Error(ENOSPC), Error(EINTR), Kill, Interrupt]),
        (Class::Rename, &[Error(EIO), Error(ENOSPC), Error(EROFS), Error(EACCES), Kill, Interrupt]),
        (Class::Open, &[Error(EIO), Error(EMFILE), Error(EINTR), Error(EACCES), Kill]),
        (Class::Create, &[Error(ENOSPC), Error(EROFS), Error(EMFILE), Error(EACCES), Kill]),
        (Class::Read, &[Error(EIO), Error(EINTR), Short, Kill, Zeros]),
        (Class::Remove, &[Error(EIO), Error(EROFS), Error(EACCES), Kill]),
        (Class::Close, &[Error(EIO), Error(EINTR), Error(ENOSPC)]),
        (Class::Stat, &[Error(EIO), Error(EACCES)]),
        (Class::Lock, &[Error(EIO), Error(ENOMEM)]),
        (Class::Map, &[Error(ENOMEM), Error(EACCES), Zeros]),
        (Class::Size, &[Error(ENOSPC), Error(EIO)]),
        (Class::Make, &[Error(ENOSPC), Error(EROFS), Error(EACCES)]),
        (Class::Link, &[Error(EIO), Error(EACCES)]),
        (Class::Thread, &[Error(EIO)]),
        (Class::Names, NAMES),
        (Class::Punch, PUNCHES),
        (Class::Advice, &[Error(EINVAL)]),
    ]
};

/// A search that was stopped halfway, for each setup, and how many calls of each class going on with it makes.
struct Base {
    files: Snapshot,
    levels: Vec<String>,
    fresh: Counts,
    later: Counts,
}

/// How many calls there are of each class.
pub type Counts = Vec<(Class, usize)>;

/// Counts the calls of a search in a folder that comes to its end.
pub fn count(setup: &Setup, folder: &Path) -> Counts {
    let home = room();
    let log = home.path().join("log");
    let mut command = setup.command(folder);
    calls::under(&mut command, folder).env("ATTACK_LOG", &log);
    let done = run(&mut command);
    assert_eq!((done.ok(), setup.wrong(&done)), (true, None), "{done:?}");
    let calls = calls::calls(&log);
    let of = |class: Class| calls.iter().filter(|c| c.class == class).count();
    let counts = FAULTS.iter().map(|(class, _)| (*class, of(*class)));
    counts.collect()
}

fn base(n: usize) -> &'static Base {
    static BASES: [OnceLock<Base>; SETUPS.len()] = [const { OnceLock::new() }; SETUPS.len()];
    BASES[n].get_or_init(|| {
        let setup = &SETUPS[n];
        let home = room();
        let (whole, half) = (home.path().join("whole"), home.path().join("half"));
        setup.prepare(&whole);
        let fresh = count(setup, &whole);
        setup.prepare(&half);
        if setup.every != "0" {
            // Where commits are rare, nothing but the start would be committed.
            setup.until(&half, 12);
        }
        setup.killed(&half, 60);
        let files = runs::snapshot(&half);
        let levels = runs::levels(&runs::manifest(&half.join("disk0")).unwrap());
        Base { later: count(setup, &half), files, levels, fresh }
    })
}

/// Searches of small boards with one fault each; every fourth one lasts, as that of a full disk does.
pub fn searches(plan: &Plan, few: bool) -> Report {
    if calls::library().is_none() {
        return Report::default();
    }
    plan.run(|n, dice| {
        // 2x5 and K > 1 take longer: less often.
        let all: &[usize] = &[0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6, 6, 7, 7, 7, 8, 8, 9, 10, 10, 10];
        let number = *dice.pick(if few { &[0, 1, 7, 10] } else { all });
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
        let nth = 1 + if dice.one_in(2) { dice.below(calls.min(20)) } else { dice.below(calls) };
        let fault = *dice.pick(faults);
        let lasting = matches!(fault, Fault::Error(e) if e != EINTR) && dice.one_in(4);
        if resumed {
            runs::restore(&base.files, folder);
        }
        setup.prepare(folder);
        let before = runs::snapshot(folder);
        let (done, struck) = struck(setup, folder, class, nth, lasting, fault);
        let what = format!(
            "{} K{} {} {class:?} {nth}{} {fault:?}",
            setup.board,
            setup.options[1],
            if resumed { "resumed" } else { "fresh" },
            if lasting { "+" } else { "" },
        );
        let committed = if resumed { &base.levels[..] } else { &[] };
        let case = Case { setup, folder, before: &before, committed, fault, struck: &struck };
        let verdict = case.judge(&done);
        (format!("failing call: {}", class.name()), what, verdict)
    })
}

/// Searches in a folder with a fault; returns how it ended and the calls that were struck.
pub fn struck(
    setup: &Setup,
    folder: &Path,
    class: Class,
    nth: usize,
    lasting: bool,
    fault: Fault,
) -> (Done, Vec<Call>) {
    let mut command = setup.command(folder);
    calls::strike(&mut command, folder, &class.name(), nth, lasting, fault);
    let home = room();
    let log = home.path().join("log");
    // Not for all: calls that are recorded wait for each other.
    if [Class::Sync, Class::Names, Class::Punch, Class::Advice].contains(&class) {
        command.env("ATTACK_LOG", &log);
    }
    let done = run(&mut command);
    let mut struck = match log.exists() {
        true => calls::calls(&log),
        false => Vec::new(),
    };
    struck.retain(|call| call.struck);
    (done, struck)
}

/// A search that met a fault.
pub struct Case<'a> {
    pub setup: &'a Setup,
    pub folder: &'a Path,
    /// What was there.
    pub before: &'a Snapshot,
    /// The levels that were.
    pub committed: &'a [String],
    pub fault: Fault,
    /// The calls that failed, of classes that are recorded.
    pub struck: &'a [Call],
}

impl Case<'_> {
    /// Judges how the search ended, and how the next one does.
    pub fn judge(&self, done: &Done) -> Verdict {
        let Case { setup, folder, before, committed, fault, .. } = *self;
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
            if let Some(unheeded) = self.unheeded(done, Some(&manifest)) {
                return unheeded;
            }
        } else if let Some(unheeded) = self.unheeded(done, None) {
            return unheeded;
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
        if let Some(left) = litter(folder, manifest.as_ref()) {
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
            Fault::Error(_) | Fault::Zeros if !names_place(done, folder) => {
                Verdict::Ugly(format!("names no file: {}", done.first_words()))
            }
            _ => Verdict::Detected,
        }
    }

    /// What has gone on though it must not, and what has not though it must.
    fn unheeded(&self, done: &Done, manifest: Option<&Value>) -> Option<Verdict> {
        let Fault::Error(number) = self.fault else {
            return None;
        };
        for call in self.struck {
            match call.class {
                // The bytes may be lost, and a later sync that succeeds says nothing of them.
                Class::Sync if number != EINTR => {
                    let path = Path::new(&call.path).strip_prefix(self.folder).unwrap();
                    let name = runs::named_since(path)?;
                    if manifest.is_some_and(|m| runs::named(m).contains(&name)) {
                        let name = name.display();
                        return Some(Verdict::Lost(format!("names {name}, whose sync failed")));
                    }
                }
                Class::Names if [EINVAL, EOPNOTSUPP].contains(&number) => {
                    if done.ok() {
                        return Some(Verdict::Lost("goes on where names do not last".into()));
                    }
                    if !done.err.contains("cannot make names durable") {
                        let said = done.first_words();
                        return Some(Verdict::Ugly(format!("does not say why: {said}")));
                    }
                }
                Class::Punch | Class::Advice if !done.ok() => {
                    let said = done.first_words();
                    return Some(Verdict::Ugly(format!("ends for a mere economy: {said}")));
                }
                _ => {}
            }
        }
        None
    }
}

/// What a finished search leaves that nobody needs.
fn litter(folder: &Path, manifest: Option<&Value>) -> Option<String> {
    let named: BTreeSet<PathBuf> = manifest.iter().flat_map(|m| runs::named(m)).collect();
    let own = |path: &PathBuf, name: &str| {
        name.starts_with("cross-")
            || name.ends_with(".part")
            || name.contains(".new")
            || (name.starts_with("level-") && !named.contains(path))
    };
    let files = runs::snapshot(folder);
    let mut names = files.keys().filter_map(|p| Some((p, p.file_name()?.to_str()?)));
    names
        .find(|(path, name)| own(path, name) && !runs::OTHERS.iter().any(|(n, _)| n == name))
        .map(|(_, name)| name.to_owned())
}

/// Whether a message says where: a thread that can not be started is nowhere.
fn names_place(done: &Done, folder: &Path) -> bool {
    done.err.contains(folder.to_str().unwrap()) || done.err.contains("thread")
}
