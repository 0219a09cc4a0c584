//! Something else than a file in the place of one: a directory, a pipe, a socket. It is named and left where it is.

#![cfg(unix)]

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use super::*;
use tilewave::internals::{Directory, Io, Manifest, RunFile};

/// Puts something in the place of a file.
type Put = fn(&Path);

const NODES: [(&str, Put); 3] = [
    ("directory", |path| {
        std::fs::create_dir(path).unwrap();
        std::fs::write(path.join("thesis.tex"), "of the user").unwrap();
    }),
    ("pipe", |path| {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    }),
    ("socket", |path| {
        drop(std::os::unix::net::UnixListener::bind(path).unwrap());
    }),
];

/// Every level file with its bytes, and what is no file.
fn content(folder: &Path) -> Vec<(String, bool, Vec<u8>)> {
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            let odd = kind.is_dir() || kind.is_fifo() || kind.is_socket();
            let bytes = if odd { Vec::new() } else { std::fs::read(entry.path()).unwrap() };
            (entry.file_name().into_string().unwrap(), odd, bytes)
        })
        .collect();
    // A search that was let in has committed the time that it took.
    all.retain(|(name, odd, _)| name.starts_with("level-") || *odd);
    all.sort();
    all
}

#[test]
fn what_is_no_file_is_named_and_left() {
    let search = search("3x3");
    for (node, put) in NODES {
        // The deepest level, one in the middle that nothing needs until --check, and the manifest.
        for place in ["last", "middle", "manifest"] {
            // One depth before the odd one is damaged: to compute it again means to take away those after it.
            for damaged in [false, true] {
                let folder = tempfile::tempdir().unwrap();
                let storage = Directory::open(folder.path(), Io::Read).unwrap();
                let mut disk = on(&Simulated::default(), 1);
                disk.directories = Directories::new(vec![Box::new(storage)]);
                disk.keep_all = true;
                run_some(&search, &disk, 8 * 12);
                let manifest = disk.directories.manifest().unwrap().unwrap();
                let depth = match place {
                    "middle" => 6,
                    _ => manifest.levels.len() as u32 - 1,
                };
                let chunks = &manifest.files_of(depth).unwrap().chunks;
                let chunk = chunks.iter().find(|r| r.states > 0).unwrap().chunk;
                let name = match place {
                    "manifest" => "manifest".to_string(),
                    _ => RunFile::Level { depth, chunk }.name(),
                };
                if damaged {
                    let chunks = &manifest.files_of(4).unwrap().chunks;
                    let chunk = chunks.iter().find(|r| r.states > 0).unwrap().chunk;
                    let path = folder.path().join(Manifest::file_name(4, chunk));
                    let mut bytes = std::fs::read(&path).unwrap();
                    bytes[130] ^= 1;
                    std::fs::write(&path, bytes).unwrap();
                }
                let path = folder.path().join(&name);
                std::fs::remove_file(&path).unwrap();
                put(&path);
                let before = content(folder.path());
                let what = format!("{node} in the place of {name}, damage before: {damaged}");
                for check in [true, false] {
                    disk.check = check;
                    if !check && (place == "middle" || damaged) {
                        // Nothing reads it: not a matter of this search.
                        continue;
                    }
                    let error = disk.run(&search).unwrap_err();
                    let error = error.to_string();
                    let kind = format!("this is a {node}, not a file");
                    assert!(error.contains(&name) && error.contains(&kind), "{what}: {error}");
                    assert!(before == content(folder.path()), "{what}: {error}");
                }
            }
        }
    }
}
