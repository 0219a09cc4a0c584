//! Memory that is refused, and threads that can not be started.

use super::calls::{self, ENOMEM, Fault};
use super::program::{room, run, tilewave};
use super::report::{Plan, Report, Verdict};

/// Too little memory, and threads that can not be started.
pub fn starts(plan: &Plan) -> Report {
    if calls::library().is_none() {
        return Report::default();
    }
    let board = "8 6 7/2 5 4/3 0 1";
    let files = room();
    let at = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let (pdb, table, set) = (at("a.pdb"), at("a.table"), at("r.pdb"));
    let build = |args: &[&str]| assert!(run(&mut tilewave(args)).ok(), "{args:?}");
    let pattern = ["pdb", "build", "3x3", "--pattern", "1,2,3,4", "-o"];
    build(&[&pattern[..], &[&pdb]].concat());
    build(&[&pattern[..], &[&set, "--kind", "region-aware"]].concat());
    build(&["table", "3x3", "-o", &table]);
    let commands: [&[&str]; 15] = [
        &["bfs", "2x5", "--format", "csv"],
        &["bfs", "2x5", "--dir", "DIR"],
        &["bfs", "2x5", "--dir", "DIR", "--shared-digits", "1"],
        &["bfs", "3x3", "--dir", "DIR", "--shared-digits", "2", "--planes", "files"],
        &["solve", board, "--no-cache"],
        &["solve", board, "--no-cache", "--pdb", &pdb],
        &["solve", board, "--table", &table],
        &["state", board, "--table", &table],
        &["levels", "skewb-diamond"],
        &["levels", "2x4"],
        &["table", "3x3", "-o", "/dev/null", "--force"],
        &[&pattern[..], &["/dev/null", "--force"]].concat(),
        &["check", &pdb, "--full"],
        &["pdb", "export", &pdb, "--layout", "positions", "-o", "/dev/null", "--force"],
        &["pdb", "probe", "--pdb", &set, board],
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
        calls::strike(&mut command, home.path(), class, nth, dice.one_in(2), Fault::Error(ENOMEM));
        let done = run(&mut command);
        let verdict = match done.bad_manners() {
            Some(ugly) => Verdict::Ugly(ugly),
            None if done.ok() => Verdict::Harmless,
            None if done.code == Some(1) => Verdict::Detected,
            None => Verdict::Ugly(format!("code {:?}: {}", done.code, done.first_words())),
        };
        (format!("short of: {class}"), format!("{} {nth}", args.join(" ")), verdict)
    })
}
