//! Power cuts, replayed: all calls of a run on files are recorded with what they wrote; for many instants the disk is
//! built as it may be after a cut then, and the real binary goes on from that.
//!
//! What was not synced may be there, or not, or half; names that were not synced with their directory likewise, each
//! directory up to some instant of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::calls::{self, Call, Class};
use super::program::{room, run, tilewave};
use super::report::{Dice, Plan, Report, Verdict};
use super::runs::{self, SETUPS, Setup, Snapshot};

/// A file as a series of writes and lengths; how many of them were synced.
#[derive(Clone, Default)]
struct Inode {
    done: Vec<Change>,
    synced: usize,
}

#[derive(Clone)]
enum Change {
    Bytes(u64, Vec<u8>),
    Length(u64),
}

/// A directory as a series of changes of names; how many of them were synced.
#[derive(Clone, Default)]
struct Names {
    done: Vec<(String, Option<usize>)>,
    synced: usize,
    /// What each name stands for now.
    now: BTreeMap<String, Option<usize>>,
}

impl Names {
    fn bind(&mut self, name: String, inode: Option<usize>) {
        self.now.insert(name.clone(), inode);
        self.done.push((name, inode));
    }
}

/// The disk, as the calls so far made it.
#[derive(Clone, Default)]
struct Disk {
    inodes: Vec<Inode>,
    directories: BTreeMap<PathBuf, Names>,
    open: BTreeMap<i32, (usize, u64)>,
}

fn split(path: &str) -> (PathBuf, String) {
    let path = Path::new(path.trim_end_matches('/'));
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    (path.parent().unwrap_or(Path::new("/")).to_path_buf(), name)
}

impl Disk {
    /// The disk before the run.
    fn new(folder: &Path, files: &Snapshot) -> Disk {
        let mut disk = Disk::default();
        for (path, bytes) in files {
            let (parent, name) = split(folder.join(path).to_str().unwrap());
            let done = vec![Change::Bytes(0, bytes.clone())];
            disk.inodes.push(Inode { done, synced: 1 });
            let names = disk.directories.entry(parent).or_default();
            names.bind(name, Some(disk.inodes.len() - 1));
            names.synced = names.done.len();
        }
        disk
    }

    fn look_up(&self, path: &str) -> Option<usize> {
        let (parent, name) = split(path);
        *self.directories.get(&parent)?.now.get(&name)?
    }

    fn bind(&mut self, path: &str, inode: Option<usize>) {
        let (parent, name) = split(path);
        self.directories.entry(parent).or_default().bind(name, inode);
    }

    fn apply(&mut self, call: &Call) {
        const TRUNCATE: u32 = 0o1000;
        const APPEND: u32 = 0o2000;
        if call.result < 0 {
            return;
        }
        match call.class {
            Class::Open | Class::Create => {
                let inode = self.look_up(&call.path).or_else(|| {
                    (call.class == Class::Create).then(|| {
                        self.inodes.push(Inode::default());
                        let new = self.inodes.len() - 1;
                        self.bind(&call.path, Some(new));
                        new
                    })
                });
                self.open.remove(&call.descriptor);
                if let Some(inode) = inode {
                    if call.flags & TRUNCATE != 0 {
                        self.inodes[inode].done.push(Change::Length(0));
                    }
                    let at =
                        if call.flags & APPEND != 0 { length(&self.inodes[inode].done) } else { 0 };
                    self.open.insert(call.descriptor, (inode, at));
                }
            }
            Class::Write => {
                if let Some((inode, at)) = self.open.get_mut(&call.descriptor) {
                    let place = if call.offset >= 0 { call.offset as u64 } else { *at };
                    self.inodes[*inode].done.push(Change::Bytes(place, call.data.clone()));
                    if call.offset < 0 {
                        *at += call.data.len() as u64;
                    }
                }
            }
            Class::Read => {
                if let Some((_, at)) = self.open.get_mut(&call.descriptor)
                    && call.offset < 0
                {
                    *at += call.result as u64;
                }
            }
            Class::Seek => {
                if let Some((_, at)) = self.open.get_mut(&call.descriptor) {
                    *at = call.result as u64;
                }
            }
            Class::Size => {
                // FALLOC_FL_KEEP_SIZE is 1: nothing that a reader sees.
                if let Some((inode, _)) = self.open.get(&call.descriptor)
                    && call.flags & 1 == 0
                {
                    self.inodes[*inode].done.push(Change::Length(call.offset as u64));
                }
            }
            Class::Sync | Class::Names => {
                if let Some((inode, _)) = self.open.get(&call.descriptor) {
                    self.inodes[*inode].synced = self.inodes[*inode].done.len();
                } else if let Some(names) =
                    self.directories.get_mut(Path::new(call.path.trim_end_matches('/')))
                {
                    names.synced = names.done.len();
                }
            }
            Class::Rename => {
                let inode = self.look_up(&call.path);
                self.bind(call.second.as_deref().unwrap(), inode);
                self.bind(&call.path, None);
            }
            Class::Link => {
                let inode = self.look_up(&call.path);
                self.bind(call.second.as_deref().unwrap(), inode);
            }
            Class::Remove => self.bind(&call.path, None),
            Class::Close => {
                self.open.remove(&call.descriptor);
            }
            _ => {}
        }
    }

    /// The disk after a cut now.
    fn cut(&self, how: usize, dice: &mut Dice) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        for (place, names) in &self.directories {
            let unsynced = names.done.len() - names.synced;
            let kept = names.synced
                + match how {
                    0 => 0,
                    1 | 2 => unsynced,
                    _ => dice.below(unsynced + 1),
                };
            let mut bound = BTreeMap::new();
            for (name, inode) in &names.done[..kept] {
                bound.insert(name, *inode);
            }
            for (name, inode) in bound.into_iter().filter_map(|(n, i)| Some((n, i?))) {
                files.insert(place.join(name), self.content(inode, how, dice));
            }
        }
        files
    }

    fn content(&self, inode: usize, how: usize, dice: &mut Dice) -> Vec<u8> {
        let inode = &self.inodes[inode];
        let mut bytes = Vec::new();
        for (n, change) in inode.done.iter().enumerate() {
            // 0: nothing unsynced; 1: everything, as after a kill; 2: names, but not their bytes; others: at random.
            let synced = n < inode.synced;
            let there = synced || how == 1 || (how > 2 && !dice.one_in(3));
            let torn = !synced && how > 2 && dice.one_in(4);
            match change {
                Change::Length(length) => {
                    bytes.resize(if there { *length as usize } else { bytes.len() }, 0)
                }
                Change::Bytes(at, data) => {
                    let end = *at as usize + data.len();
                    // What is lost may leave the length and zeros.
                    if there || (how > 2 && dice.one_in(2)) {
                        bytes.resize(bytes.len().max(end), 0);
                    }
                    if there {
                        let part = if torn { dice.below(data.len() + 1) } else { data.len() };
                        bytes[*at as usize..*at as usize + part].copy_from_slice(&data[..part]);
                    }
                }
            }
        }
        bytes
    }
}

fn length(done: &[Change]) -> u64 {
    done.iter().fold(0, |length, change| match change {
        Change::Bytes(at, data) => length.max(at + data.len() as u64),
        Change::Length(length) => *length,
    })
}

/// A recorded run.
struct Recording {
    setup: &'static Setup,
    folder: tempfile::TempDir,
    before: Snapshot,
    calls: Vec<Call>,
}

fn record(setup: &'static Setup) -> Recording {
    let folder = room();
    setup.prepare(folder.path());
    let before = runs::snapshot(folder.path());
    let log = room();
    let log = log.path().join("log");
    let mut command = setup.command(folder.path());
    calls::under(&mut command, folder.path()).env("ATTACK_LOG", &log).env("ATTACK_DATA", "1");
    let done = run(&mut command);
    assert_eq!((done.ok(), setup.wrong(&done)), (true, None), "{done:?}");
    let calls = calls::calls(&log);
    // The model is right: everything there is what is there.
    let mut disk = Disk::new(folder.path(), &before);
    calls.iter().for_each(|call| disk.apply(call));
    let modelled = disk.cut(1, &mut Dice(0));
    for (path, bytes) in runs::snapshot(folder.path()) {
        let path = folder.path().join(path);
        assert!(modelled.get(&path) == Some(&bytes), "the model has another {}", path.display());
    }
    Recording { setup, folder, before, calls }
}

/// Calls with which a search comes to its end.
const LAST: usize = 120;

/// Cuts of searches.
pub fn searches(plan: &Plan, few: bool) -> Report {
    if calls::library().is_none() {
        return Report::default();
    }
    let chosen: &[usize] = if few { &[0, 7] } else { &[0, 1, 2, 5, 7, 8, 9] };
    let recordings: Vec<Recording> = chosen.iter().map(|n| record(&SETUPS[*n])).collect();
    plan.run(|n, dice| {
        let recording = &recordings[n % recordings.len()];
        // The last commit is one among hundreds, and not like the others.
        let calls = recording.calls.len();
        let instant = match dice.one_in(4) {
            true => calls - dice.below(calls.min(LAST)),
            false => dice.below(calls + 1),
        };
        let how = dice.below(6);
        let mut disk = Disk::new(recording.folder.path(), &recording.before);
        recording.calls[..instant].iter().for_each(|call| disk.apply(call));
        // What the program was told to be durable: the manifest with all names and bytes that were synced.
        let manifest = recording.folder.path().join("disk0/manifest");
        let of = |files: &BTreeMap<PathBuf, Vec<u8>>| {
            let text = String::from_utf8(files.get(&manifest)?.clone()).ok()?;
            serde_json::from_str(text.split_once('\n')?.1).ok().map(|m| runs::levels(&m))
        };
        let promised = of(&disk.cut(0, dice)).unwrap_or_default();
        let files = disk.cut(how, dice);
        let found = of(&files).unwrap_or_default();
        let home = room();
        for place in recording.setup.places(home.path()) {
            std::fs::create_dir_all(place).unwrap();
        }
        for (path, bytes) in &files {
            std::fs::write(
                home.path().join(path.strip_prefix(recording.folder.path()).unwrap()),
                bytes,
            )
            .unwrap();
        }
        let before = runs::snapshot(home.path());
        let done = run(&mut recording.setup.command(home.path()));
        let verdict = if done.ok()
            && let Some(wrong) = recording.setup.wrong(&done)
        {
            Verdict::Wrong(wrong)
        } else if !done.ok() {
            Verdict::Lost(format!("does not go on: {}", done.first_words()))
        } else if found.len() < promised.len() {
            Verdict::Lost(format!("{} levels committed, {} there", promised.len(), found.len()))
        } else if let Some(lost) =
            runs::lost(&found, runs::manifest(&home.path().join("disk0")).as_ref())
        {
            Verdict::Lost(lost)
        } else if let Some(touched) = runs::others_touched(&before, home.path()) {
            Verdict::Removed(touched)
        } else {
            Verdict::Harmless
        };
        let what = format!(
            "{} before call {instant} of {}, way {how}",
            recording.setup.board,
            recording.calls.len()
        );
        ("power cut: search".into(), what, verdict)
    })
}

/// Cuts while a database or a table is written: under its name there is all of it or nothing.
pub fn outputs(plan: &Plan) -> Report {
    if calls::library().is_none() {
        return Report::default();
    }
    let commands = [
        ("a.pdb", "pdb build 3x3 --pattern 1,2,3,4 -q -o"),
        ("a.table", "table 3x3 -q -o"),
        ("a.csv", "bfs 2x4 --format csv -q -o"),
    ];
    let recordings: Vec<_> = commands
        .iter()
        .map(|(name, line)| {
            let (folder, log) = (room(), room());
            let log = log.path().join("log");
            let file = folder.path().join(name);
            let mut command = tilewave(line.split(' '));
            calls::under(command.arg(&file), folder.path())
                .env("ATTACK_LOG", &log)
                .env("ATTACK_DATA", "1");
            let done = run(&mut command);
            assert!(done.ok(), "{done:?}");
            (std::fs::read(&file).unwrap(), file, calls::calls(&log), folder)
        })
        .collect();
    plan.run(|n, dice| {
        let (bytes, file, calls, folder) = &recordings[n % recordings.len()];
        let instant = dice.below(calls.len() + 1);
        let how = dice.below(6);
        let mut disk = Disk::new(folder.path(), &Snapshot::new());
        calls[..instant].iter().for_each(|call| disk.apply(call));
        let verdict = match disk.cut(how, dice).get(file) {
            Some(found) if found != bytes => {
                Verdict::Wrong(format!("{} of {} bytes", found.len(), bytes.len()))
            }
            _ => Verdict::Harmless,
        };
        let what =
            format!("{} before call {instant} of {}, way {how}", commands[n % 3].0, calls.len());
        ("power cut: file".into(), what, verdict)
    })
}
