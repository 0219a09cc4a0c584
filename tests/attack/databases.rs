//! Damage of databases, tables and the solver's cache: then every command that reads them. What comes with exit code 0
//! is what the intact file gives; nothing that is printed before an error is wrong either.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tilewave::pdb::compress;

use super::damage::damage;
use super::program::{Done, room, run, run_with, tilewave};
use super::report::{Plan, Report, Verdict};
use super::runs::{self, Snapshot};

/// Intact files, one folder for each kind, two of different content in most.
struct Files {
    folder: tempfile::TempDir,
    kinds: BTreeMap<&'static str, Snapshot>,
}

/// Boards to be solved, some of each length.
fn boards(kind: &str) -> &'static str {
    static BOARDS: OnceLock<[String; 2]> = OnceLock::new();
    let both = BOARDS.get_or_init(|| {
        ["3x3 --count 12", "3x4 --count 4"].map(|which| {
            let line = format!("scramble {which} --seed 5 -q");
            let done = run(&mut tilewave(line.split(' ')));
            assert!(done.ok(), "{done:?}");
            done.out
        })
    });
    &both[usize::from(kind.starts_with("blocks"))]
}

fn files(few: bool) -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let folder = room();
        let mut kinds = BTreeMap::new();
        let mut make = |kind: &'static str, commands: &[&str]| {
            let home = folder.path().join(kind);
            std::fs::create_dir(&home).unwrap();
            for line in commands {
                // No command writes compressed files; those of others and of earlier versions are read.
                if let Some((from, to)) =
                    line.strip_prefix("compress ").and_then(|l| l.split_once(' '))
                {
                    compress(home.join(from), home.join(to), true, &tilewave::NoProgress).unwrap();
                    continue;
                }
                let done = run(tilewave(line.split(' ')).arg("-q").current_dir(&home));
                assert!(done.ok(), "{line}: {done:?}");
            }
            kinds.insert(kind, runs::snapshot(&home));
        };
        let build = "pdb build 3x3 --pattern";
        make(
            "min byte",
            &[&format!("{build} 1,2,3,6 -o a.pdb"), &format!("{build} 4,5,7,8 -o b.pdb")],
        );
        let with = |options: &str| {
            ["1,2,3,6 -o a.pdb", "4,5,7,8 -o b.pdb"].map(|p| format!("{build} {p} {options}"))
        };
        let regions = with("--kind region-aware");
        make("regions byte", &[&regions[0], &regions[1]]);
        make(
            "compressed",
            &[
                &format!("{build} 1,2,3,6 -o a"),
                &format!("{build} 4,5,7,8 -o b"),
                "compress a a.pdb",
                "compress b b.pdb",
            ],
        );
        make("table mod3", &["table 3x3 -o a.table"]);
        make("table byte", &["table 3x3 --encoding byte -o a.table"]);
        make("cache", &["solve --cache-dir . 8,6,7/2,5,4/3,0,1"]);
        if !few {
            // Several blocks of checksums.
            let large = "pdb build 3x4 --pattern";
            make(
                "blocks",
                &[
                    &format!("{large} 1,2,3,4,5,6,7 -o a.pdb"),
                    &format!("{large} 8,9,10,11 -o b.pdb"),
                ],
            );
            make(
                "blocks compressed",
                &[
                    &format!("{large} 1,2,3,4,5,6,7 -o a"),
                    &format!("{large} 8,9,10,11 -o b"),
                    "compress a a.pdb",
                    "compress b b.pdb",
                ],
            );
        }
        Files { folder, kinds }
    })
}

/// The commands that read files of a kind, in the folder of the files.
fn commands(kind: &str) -> Vec<Vec<&'static str>> {
    let words = |line: &'static str| line.split(' ').collect::<Vec<_>>();
    if kind == "cache" {
        return vec![words("solve --cache-dir . --format csv")];
    }
    if kind.starts_with("table") {
        return vec![
            words("solve --table a.table --format csv"),
            words("state --table a.table 8,6,7/2,5,4/3,0,1"),
            words("state --table a.table 1,2,3/4,5,6/0,7,8 --format jsonl"),
            words("check a.table"),
        ];
    }
    let mut all = vec![
        words("solve --pdb a.pdb --pdb b.pdb --format csv"),
        words("pdb probe --pdb a.pdb --pdb b.pdb --format csv"),
        words("info a.pdb --format jsonl"),
        words("check a.pdb --seed 7"),
    ];
    all.push(words("pdb export a.pdb --layout positions -o out"));
    all
}

/// What a command answers, without what differs from run to run: for solve board, length and whether it is optimal.
fn answer(args: &[&str], home: &Path, kind: &str) -> (Done, Vec<String>, Option<Vec<u8>>) {
    let mut command = tilewave(args);
    command.arg("-q").current_dir(home);
    let done = if args[0] == "solve" || args.contains(&"-") {
        run_with(&mut command, boards(kind))
    } else {
        run(&mut command)
    };
    let head: Vec<&str> = done.out.lines().next().unwrap_or("").split(',').collect();
    let steady: Vec<usize> = (0..head.len())
        .filter(|i| {
            args[0] != "solve" || ["board", "solvable", "length", "optimal"].contains(&head[*i])
        })
        .collect();
    let lines = done.out.lines().map(|line| {
        if args[0] != "solve" {
            // Paths, times and rates are not the answer.
            let mark = if line.starts_with("sound") { " in " } else { "seconds" };
            return line.split(mark).next().unwrap().to_owned();
        }
        let fields: Vec<&str> = line.split(',').collect();
        steady.iter().filter_map(|i| fields.get(*i).copied()).collect::<Vec<_>>().join(",")
    });
    let lines = lines.collect();
    let written = std::fs::read(home.join("out")).ok();
    (done, lines, written)
}

/// The answers of the intact files; `None` where the program refuses them.
fn truth(
    kind: &'static str,
    args: &[&'static str],
    few: bool,
) -> Option<(Vec<String>, Option<Vec<u8>>)> {
    type Truth = BTreeMap<(&'static str, String), Option<(Vec<String>, Option<Vec<u8>>)>>;
    static KNOWN: std::sync::Mutex<Truth> = std::sync::Mutex::new(BTreeMap::new());
    let key = (kind, args.join(" "));
    if let Some(known) = KNOWN.lock().unwrap().get(&key) {
        return known.clone();
    }
    let home = room();
    runs::restore(&files(few).kinds[kind], home.path());
    let (done, lines, written) = answer(args, home.path(), kind);
    let found = done.ok().then_some((lines, written));
    KNOWN.lock().unwrap().insert(key, found.clone());
    found
}

/// Random damages of one file, and a command that reads it.
pub fn reads(plan: &Plan, few: bool) -> Report {
    let files = files(few);
    assert!(files.folder.path().is_dir());
    let kinds: Vec<&'static str> = files.kinds.keys().copied().collect();
    plan.run(|n, dice| {
        let kind = kinds[n % kinds.len()];
        let intact = &files.kinds[kind];
        let commands = commands(kind);
        let args = dice.pick(&commands);
        let Some((lines, written)) = truth(kind, args, few) else {
            return (
                format!("damaged file: {kind}"),
                format!("{args:?} refuses it"),
                Verdict::Detected,
            );
        };
        let home = room();
        runs::restore(intact, home.path());
        let names: Vec<&PathBuf> = intact.keys().filter(|p| p.extension().is_some()).collect();
        // Most commands read the first file only.
        let name =
            if args[0] == "solve" || args.contains(&"-") { *dice.pick(&names) } else { names[0] };
        let other = names.iter().find(|p| **p != name).map(|p| &intact[*p]);
        let (how, new) = match dice.below(3) {
            // Entries far more often than what stands around them.
            0 if intact[name].len() > 5000 => {
                let mut new = intact[name].clone();
                let at = 4096 + dice.below(new.len() - 4096);
                new[at] ^= 1 << dice.below(8);
                ("bit of an entry", new)
            }
            _ => damage(&intact[name], dice, &[other, other]),
        };
        let path = home.path().join(name);
        std::fs::remove_file(&path).unwrap();
        match how {
            "removed" => {}
            "a directory" => std::fs::create_dir(&path).unwrap(),
            "swapped" => std::fs::write(&path, other.unwrap_or(&new)).unwrap(),
            _ => std::fs::write(&path, &new).unwrap(),
        }
        let before = runs::snapshot(home.path());
        // The same content may be what the file had: then all is as it was.
        let (done, found, made) = answer(args, home.path(), kind);
        let what = format!("{} {how}: {}", name.display(), args.join(" "));
        let verdict = (|| {
            let foreign = ["swapped", "older", "foreign"].contains(&how);
            let solving = args[0] == "solve" || args[0] == "state";
            if done.ok() && (solving || !foreign) && (found != lines || made != written) {
                let differs = found.iter().zip(&lines).find(|(a, b)| a != b);
                return Verdict::Wrong(format!("{differs:?} {}", done.first_words()));
            }
            if !done.ok() && solving && found.iter().any(|l| !l.is_empty() && !lines.contains(l)) {
                return Verdict::Wrong(format!("printed before the error: {}", done.first_words()));
            }
            if kind != "cache" {
                let after = runs::snapshot(home.path());
                if let Some((path, _)) = before.iter().find(|(p, b)| after.get(*p) != Some(b)) {
                    return Verdict::Removed(path.display().to_string());
                }
                if !done.ok() && after.len() > before.len() {
                    return Verdict::Ugly(format!("leaves a file: {}", done.first_words()));
                }
            } else if !done.ok() && how != "a directory" {
                return Verdict::Ugly(format!(
                    "a cache that stops the work: {}",
                    done.first_words()
                ));
            }
            if let Some(ugly) = done.bad_manners() {
                return Verdict::Ugly(ugly);
            }
            if !done.ok()
                && !foreign
                && !format!("{}{}", done.err, done.out).contains(name.to_str().unwrap())
            {
                return Verdict::Ugly(format!("does not name the file: {}", done.first_words()));
            }
            if done.ok() { Verdict::Harmless } else { Verdict::Detected }
        })();
        (format!("damaged file: {kind}"), what, verdict)
    })
}
