//! Resources that run short while the real binary runs: a full disk, a largest file size, little memory, few threads,
//! read-only places, closed or full outputs, a terminal that goes away.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::calls::{self, ENOSPC, Fault};
use super::program::{Done, PATIENCE, binary, end, room, run, signal, start, tilewave};
use super::report::{Dice, Plan, Report, Verdict};
use super::runs::{self, Setup};

const SEARCH: Setup = Setup::new("2x5", &["--shared-digits", "1", "--planes", "files"], 1);

/// The same command from a shell that sets limits first.
fn shell(before: &str, command: &Command) -> Command {
    let mut shell = Command::new("bash");
    shell.arg("-c").arg(format!("{before}; exec \"$0\" \"$@\"")).arg(binary());
    shell.args(command.get_args()).stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// Ended well or said why; then the search goes on to the right end.
fn goes_on(setup: &Setup, folder: &Path, done: &Done, says: &[&str]) -> Verdict {
    if done.ok()
        && let Some(wrong) = setup.wrong(done)
    {
        return Verdict::Wrong(wrong);
    }
    let kept = runs::manifest(&folder.join("disk0")).map(|m| runs::levels(&m)).unwrap_or_default();
    let again = run(&mut setup.command(folder));
    if !again.ok() {
        return Verdict::Lost(format!("does not go on: {}", again.first_words()));
    }
    if let Some(wrong) = setup.wrong(&again) {
        return Verdict::Wrong(format!("afterwards {wrong}"));
    }
    if let Some(lost) = runs::lost(&kept, runs::manifest(&folder.join("disk0")).as_ref()) {
        return Verdict::Lost(lost);
    }
    said(done, says)
}

/// Ended well, or said one of these in one line.
fn said(done: &Done, says: &[&str]) -> Verdict {
    if let Some(ugly) = done.bad_manners() {
        return Verdict::Ugly(ugly);
    }
    match done.ok() {
        true => Verdict::Harmless,
        false if says.is_empty() || says.iter().any(|s| done.err.contains(s)) => Verdict::Detected,
        false => Verdict::Ugly(format!("does not say {says:?}: {}", done.first_words())),
    }
}

/// Each trial is one shortage.
pub fn shortages(plan: &Plan) -> Report {
    type Shortage = fn(&Path, &mut Dice) -> (String, Verdict);
    let shortages: [(&str, Shortage); 11] = [
        ("full disk", full_disk),
        ("largest file", largest_file),
        ("address space", address_space),
        ("threads", threads),
        ("hangup under nohup", nohup),
        ("interrupt", interrupt),
        ("output to a full device", full_device),
        ("closed output", closed_output),
        ("real full disk", small_disk),
        ("read-only disk", read_only),
        ("broken pipe", broken_pipe),
    ];
    plan.run(|n, dice| {
        let (name, shortage) = shortages[n % shortages.len()];
        let home = room();
        let (what, verdict) = shortage(home.path(), dice);
        (format!("short: {name}"), what, verdict)
    })
}

fn full_disk(folder: &Path, dice: &mut Dice) -> (String, Verdict) {
    if calls::library().is_none() {
        return ("skipped".into(), Verdict::Harmless);
    }
    SEARCH.prepare(folder);
    let nth = 1 + dice.below(1500);
    let mut command = SEARCH.command(folder);
    calls::strike(&mut command, folder, "write", nth, true, Fault::Error(ENOSPC));
    let done = run(&mut command);
    (format!("from write {nth} on"), goes_on(&SEARCH, folder, &done, &["No space left", "full"]))
}

fn largest_file(folder: &Path, dice: &mut Dice) -> (String, Verdict) {
    SEARCH.prepare(folder);
    let blocks = 1 + dice.below(60);
    let done = run(&mut shell(&format!("ulimit -f {blocks}"), &SEARCH.command(folder)));
    (format!("ulimit -f {blocks}"), goes_on(&SEARCH, folder, &done, &["File too large", "limit"]))
}

fn address_space(folder: &Path, dice: &mut Dice) -> (String, Verdict) {
    let mib = 30 + dice.below(400);
    let limit = format!("ulimit -v {}", mib * 1024);
    if dice.one_in(2) {
        SEARCH.prepare(folder);
        let done = run(&mut shell(&limit, &SEARCH.command(folder)));
        // Where not even the program can be loaded nobody can say anything.
        if done.err.contains("loading shared libraries") || done.code == Some(127) {
            return (limit, Verdict::Harmless);
        }
        return (limit, goes_on(&SEARCH, folder, &done, &[]));
    }
    let lines = [
        "bfs 2x5 -q",
        "solve 8,6,7/2,5,4/3,0,1 --no-cache -q",
        "pdb build 3x4 --pattern 1,2,3,4,5,6 -q -o out.pdb",
        "table 3x3 -q -o out.table",
        "bfs 3x3 -q --html out.html",
    ];
    let line = *dice.pick(&lines);
    let done = run(shell(&limit, &tilewave(line.split(' '))).current_dir(folder));
    if done.err.contains("loading shared libraries") || done.code == Some(127) {
        return (limit, Verdict::Harmless);
    }
    (format!("{limit}, {line}"), said(&done, &[]))
}

fn threads(folder: &Path, dice: &mut Dice) -> (String, Verdict) {
    if calls::library().is_none() {
        return ("skipped".into(), Verdict::Harmless);
    }
    SEARCH.prepare(folder);
    let nth = 1 + dice.below(30);
    let mut command = SEARCH.command(folder);
    calls::strike(&mut command, folder, "thread", nth, true, Fault::Error(11));
    let done = run(&mut command);
    (format!("from thread {nth} on"), goes_on(&SEARCH, folder, &done, &["thread"]))
}

fn nohup(folder: &Path, dice: &mut Dice) -> (String, Verdict) {
    SEARCH.prepare(folder);
    let child = start(&mut shell("trap '' HUP", &SEARCH.command(folder)));
    std::thread::sleep(Duration::from_millis(30 + dice.below(150) as u64));
    signal(&child, "HUP");
    let done = end(child, PATIENCE);
    let verdict = match goes_on(&SEARCH, folder, &done, &[]) {
        Verdict::Detected => Verdict::Ugly(format!("stops: {}", done.first_words())),
        other => other,
    };
    ("SIGHUP, ignored".into(), verdict)
}

fn interrupt(folder: &Path, dice: &mut Dice) -> (String, Verdict) {
    SEARCH.prepare(folder);
    let name = *dice.pick(&["INT", "TERM", "HUP"]);
    let child = start(&mut SEARCH.command(folder));
    std::thread::sleep(Duration::from_millis(dice.below(200) as u64));
    signal(&child, name);
    let done = end(child, PATIENCE);
    // Before it can ask for signals one ends it as it ends every program, and in its first instants it may end without a word.
    let early =
        matches!(done.signal, Some(1 | 2 | 15)) || (done.code == Some(130) && done.err.is_empty());
    let verdict = if early {
        let told = Done { signal: None, code: Some(130), err: "error: interrupted".into(), ..done };
        goes_on(&SEARCH, folder, &told, &[])
    } else if !done.ok() && done.code != Some(130) {
        Verdict::Ugly(format!("{:?}: {}", done.code, done.first_words()))
    } else {
        goes_on(&SEARCH, folder, &done, &[])
    };
    (format!("SIG{name}"), verdict)
}

const TALK: [&str; 9] = [
    "bfs 2x4",
    "bfs 2x4 --format json",
    "levels 2x4",
    "puzzle skewb",
    "plan 4x4",
    "solve 8,6,7/2,5,4/3,0,1 --no-cache",
    "scramble 4x4 --count 5",
    "state 1,2,3/4,5,6/7,8,0",
    "completions bash",
];

fn full_device(folder: &Path, dice: &mut Dice) -> (String, Verdict) {
    let line = *dice.pick(&TALK);
    let done = run(shell("exec >/dev/full", &tilewave(line.split(' '))).current_dir(folder));
    let verdict = if done.ok() {
        Verdict::Wrong("code 0 though nothing could be written".into())
    } else {
        said(&done, &["output", "stdout"])
    };
    (format!("{line} > /dev/full"), verdict)
}

fn closed_output(folder: &Path, dice: &mut Dice) -> (String, Verdict) {
    let line = *dice.pick(&TALK);
    let which = *dice.pick(&["exec >&-", "exec 2>&-", "exec <&-", "exec >&- 2>&- <&-"]);
    let done = run(shell(which, &tilewave(line.split(' '))).current_dir(folder));
    let verdict = match done.bad_manners() {
        Some(ugly) if !which.contains("2>") => Verdict::Ugly(ugly),
        Some(ugly) if done.signal.is_some() || done.hung => Verdict::Ugly(ugly),
        _ => Verdict::Harmless,
    };
    (format!("{which}; {line}"), verdict)
}

fn broken_pipe(folder: &Path, dice: &mut Dice) -> (String, Verdict) {
    let line = *dice.pick(&TALK);
    let mut command = Command::new("bash");
    command.arg("-c").arg("\"$0\" \"$@\" | true; exit ${PIPESTATUS[0]}").arg(binary());
    command.args(line.split(' ')).current_dir(folder).stdin(Stdio::null());
    let done = run(&mut command);
    let verdict = if done.ok() {
        Verdict::Harmless
    } else {
        Verdict::Ugly(format!("{:?}: {}", done.code, done.first_words()))
    };
    (format!("{line} | true"), verdict)
}

/// In a namespace of its own, with a disk of `kib` that becomes full and is then made larger.
fn small_disk(folder: &Path, dice: &mut Dice) -> (String, Verdict) {
    let kib = 40 + dice.below(400);
    let script = format!(
        "mount -t tmpfs -o size={kib}k none {0} && \
         {{ \"$0\" \"$@\" >{0}.out 2>{0}.err; echo $? >{0}.code; df --output=used -k {0} >/dev/null; \
         mount -o remount,size=100m {0}; exec \"$0\" \"$@\"; }} || exit 77",
        folder.display()
    );
    namespaced(folder, &script, kib, "No space left")
}

fn namespaced(folder: &Path, script: &str, kib: usize, says: &str) -> (String, Verdict) {
    let mut command = Command::new("unshare");
    command.args(["-Urm", "bash", "-c", script]).arg(binary());
    command.args(SEARCH.command(folder).get_args()).stdin(Stdio::null());
    let again = run(&mut command);
    let beside = |end: &str| {
        let path = format!("{}.{end}", folder.display());
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(path);
        text
    };
    let (out, err, code) = (beside("out"), beside("err"), beside("code"));
    if code.is_empty() {
        return ("*** SKIPPED: no namespaces here ***".into(), Verdict::Harmless);
    }
    let number: i32 = code.trim().parse().unwrap();
    let done = Done {
        code: (number < 128 || number == 130).then_some(number),
        signal: (number > 128 && number != 130).then_some(number - 128),
        out,
        err,
        hung: false,
    };
    let verdict = if done.ok()
        && let Some(wrong) = SEARCH.wrong(&done)
    {
        Verdict::Wrong(wrong)
    } else if !again.ok() {
        Verdict::Lost(format!("does not go on: {}", again.first_words()))
    } else if let Some(wrong) = SEARCH.wrong(&again) {
        Verdict::Wrong(format!("afterwards {wrong}"))
    } else {
        said(&done, &[says, "limit", "space", "of disk"])
    };
    (format!("{kib} KiB"), verdict)
}

/// A stopped search on a disk that can only be read, and a complete one, whose report can still be had.
fn read_only(folder: &Path, dice: &mut Dice) -> (String, Verdict) {
    let complete = dice.one_in(2);
    SEARCH.prepare(folder);
    SEARCH.until(folder, if complete { 99 } else { 20 });
    let script = format!(
        "mount --bind {0} {0} && mount -o remount,bind,ro {0} && \
         {{ \"$0\" \"$@\" >{0}.out 2>{0}.err; echo $? >{0}.code; cd /; umount {0}; exec \"$0\" \"$@\"; }} || exit 77",
        folder.display()
    );
    let (_, verdict) = namespaced(folder, &script, 0, "Read-only");
    let verdict = match verdict {
        Verdict::Detected if complete => {
            Verdict::Ugly("a complete search cannot be reported".into())
        }
        other => other,
    };
    (format!("complete: {complete}"), verdict)
}
