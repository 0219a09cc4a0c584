//! Data flows one way: a module uses only the floors above it.

use std::path::{Path, PathBuf};

/// The floors from the top; modules on one floor do not use each other. `error` gathers the errors of
/// all library floors, so anyone may use it and it may use anyone.
const FLOORS: &[&[&str]] = &[
    &["puzzle"],
    &["perm"],
    &["store"],
    &["bfs", "pdb"],
    &["table"],
    &["solve", "report"],
    &["cli"],
];

fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

/// The modules of this crate that a source text names, whether by `crate::` or, in the binary, by the
/// library's name.
fn used(text: &str) -> Vec<String> {
    let mut modules = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
    {
        for prefix in ["crate::", "tilewave::"] {
            for (at, _) in line.match_indices(prefix) {
                let rest = &line[at + prefix.len()..];
                let names = rest.strip_prefix('{').map_or(rest, |list| list);
                let names: Vec<&str> = if rest.starts_with('{') {
                    names.split(',').collect()
                } else {
                    vec![names]
                };
                for name in names {
                    let word: String = name
                        .trim()
                        .chars()
                        .take_while(|c| c.is_alphanumeric() || *c == '_')
                        .collect();
                    modules.push(word);
                }
            }
        }
    }
    modules
}

/// The arrows of one file that point up or sideways.
fn wrong_arrows(module: &str, text: &str) -> Vec<String> {
    let Some(own) = floor(module) else {
        return Vec::new();
    };
    let wrong = |name: &&String| name.as_str() != module && floor(name).is_some_and(|f| f >= own);
    used(text)
        .iter()
        .filter(wrong)
        .map(|name| format!("{module} -> {name}"))
        .collect()
}

#[test]
fn every_arrow_points_up() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut seen = 0;
    let mut wrong = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let first = inside.iter().next().unwrap().to_str().unwrap();
        let module = first.trim_end_matches(".rs");
        let text = std::fs::read_to_string(&file).unwrap();
        seen += used(&text).len();
        for arrow in wrong_arrows(module, &text) {
            wrong.push(format!("{}: {arrow}", inside.display()));
        }
    }
    assert!(seen > 30, "the test reads the sources");
    assert!(wrong.is_empty(), "modules use lower floors: {wrong:#?}");
}

#[test]
fn a_wrong_arrow_is_found() {
    assert_eq!(
        wrong_arrows("perm", "use crate::bfs::Search;"),
        ["perm -> bfs"]
    );
    assert_eq!(wrong_arrows("bfs", "use crate::pdb::Pdb;"), ["bfs -> pdb"]);
    assert_eq!(
        wrong_arrows("store", "use crate::{perm, report::json};"),
        ["store -> report"]
    );
    assert_eq!(wrong_arrows("cli", "use crate::bfs::Search;"), [""; 0]);
    assert_eq!(wrong_arrows("bfs", "// use crate::report::json;"), [""; 0]);
}

#[test]
fn unsafe_code_is_where_it_is_announced() {
    const ALLOWED: &[&str] = &["perm/kernel/", "store/", "bfs/mpi.rs", "capi"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    for file in files {
        let inside = file
            .strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .replace('\\', "/");
        let text = std::fs::read_to_string(&file).unwrap();
        let has = text.lines().any(|line| {
            let code = line.split("//").next().unwrap_or("");
            code.contains("unsafe {") || code.contains("unsafe fn") || code.contains("unsafe impl")
        });
        assert!(
            !has || ALLOWED.iter().any(|a| inside.starts_with(a)),
            "unsafe code in {inside}"
        );
    }
}
