//! System calls that fail, stop short or are recorded (`tools/attack/calls.c`).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Classes of calls, numbered as in `calls.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Class {
    Other,
    Open,
    Create,
    Read,
    Write,
    Sync,
    Rename,
    Remove,
    Map,
    Size,
    Close,
    Stat,
    Lock,
    Memory,
    Thread,
    Seek,
    Make,
    Link,
    /// A sync of a directory.
    Names,
    /// A hole into a file.
    Punch,
    /// Pages of a map that are to be read.
    Advice,
}

/// All of them in order.
pub const CLASSES: [Class; 21] = {
    use Class::*;
    [
        Other, Open, Create, Read, Write, Sync, Rename, Remove, Map, Size, Close, Stat, Lock,
        Memory, Thread, Seek, Make, Link, Names, Punch, Advice,
    ]
};

impl Class {
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// What happens to the chosen call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It fails with this number.
    Error(i32),
    /// Half of it is done.
    Short,
    /// The program is killed in its place.
    Kill,
    /// SIGINT comes just before it.
    Interrupt,
    /// It succeeds, and what it reads or maps is zeros.
    Zeros,
}

pub const EPERM: i32 = 1;
pub const EINTR: i32 = 4;
pub const EIO: i32 = 5;
pub const ENOMEM: i32 = 12;
pub const EACCES: i32 = 13;
pub const EINVAL: i32 = 22;
pub const EMFILE: i32 = 24;
pub const ENOSPC: i32 = 28;
pub const EROFS: i32 = 30;
pub const ENOSYS: i32 = 38;
pub const EOPNOTSUPP: i32 = 95;
pub const EDQUOT: i32 = 122;

/// The library, built once; `None` where it can not be: another processor, another system, no seccomp.
pub fn library() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(build).as_deref()
}

fn build() -> Option<PathBuf> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        println!("*** SKIPPED: faults of system calls need Linux on x86-64 ***");
        return None;
    }
    let source = crate::program::root().join("tools/attack/calls.c");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("attack-calls.so");
    // A name of its own first: several test processes may build at once.
    let made = library.with_extension(format!("{}.so", std::process::id()));
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o"]);
    compiler.arg(&made).arg(source).arg("-ldl");
    assert!(compiler.status().is_ok_and(|s| s.success()), "tools/attack/calls.c does not compile");
    std::fs::rename(&made, &library).unwrap();
    let mut probe = super::program::tilewave(["--version"]);
    probe.env("LD_PRELOAD", &library).env("ATTACK_UNDER", "/");
    let done = super::program::run(&mut probe);
    if done.code == Some(98) {
        println!("*** SKIPPED: this system forbids seccomp filters ***");
        return None;
    }
    assert!(done.ok(), "{done:?}");
    Some(library)
}

/// Prepares a command whose calls under a path are met.
pub fn under<'a>(command: &'a mut Command, path: &Path) -> &'a mut Command {
    command.env("LD_PRELOAD", library().expect("a library"));
    command.env("ATTACK_UNDER", path)
}

/// Lets the `nth` call of a class fail, and all after it as well.
pub fn strike(
    command: &mut Command,
    path: &Path,
    class: &str,
    nth: usize,
    more: bool,
    fault: Fault,
) {
    let number = match fault {
        Fault::Error(number) => number,
        Fault::Short => 0,
        Fault::Kill => -1,
        Fault::Interrupt => -2,
        Fault::Zeros => -3,
    };
    under(command, path)
        .env("ATTACK_CALL", class)
        .env("ATTACK_NTH", nth.to_string())
        .env("ATTACK_ERROR", number.to_string());
    if more {
        command.env("ATTACK_MORE", "1");
    }
}

/// A call that was recorded.
#[derive(Clone, Debug)]
pub struct Call {
    pub class: Class,
    pub flags: u32,
    pub descriptor: i32,
    pub struck: bool,
    pub result: i64,
    pub offset: i64,
    pub path: String,
    pub second: Option<String>,
    pub data: Vec<u8>,
}

/// Reads a log.
pub fn calls(log: &Path) -> Vec<Call> {
    let bytes = std::fs::read(log).unwrap();
    let (mut at, mut calls) = (0, Vec::new());
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let long = |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    while at + 40 <= bytes.len() {
        let (path, data) = (number(at + 32) as usize, number(at + 36) as usize);
        let body = at + 40;
        if body + path + data > bytes.len() {
            break;
        }
        let text = String::from_utf8_lossy(&bytes[body..body + path]).into_owned();
        let (path_text, second) = match text.split_once('\0') {
            Some((a, b)) => (a.to_owned(), Some(b.to_owned())),
            None => (text, None),
        };
        calls.push(Call {
            class: CLASSES[number(at) as usize],
            flags: number(at + 4),
            descriptor: number(at + 8) as i32,
            struck: number(at + 12) != 0,
            result: long(at + 16),
            offset: long(at + 24),
            path: path_text,
            second,
            data: bytes[body + path..body + path + data].to_vec(),
        });
        at = body + path + data;
    }
    calls
}
