//! The shape of the sources: data flows one way between modules and between files, `unsafe` stands where it
//! is announced, files are small.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(crate) mod graph;

use graph::{Arrows, Crate, circles, tokens};

/// The floors from the top; a module uses only floors above its own (docs/design.md). `error` gathers the
/// errors of all library floors, so anyone may use it and it may use anyone.
const FLOORS: &[&[&str]] = &[
    &["hint"],
    &["system"],
    &["bits", "progress", "random", "threads", "units", "ranks of permutations"],
    &["puzzle"],
    &["perm"],
    &["kernel"],
    &["store"],
    &["resources"],
    &["outcome"],
    &["stop"],
    &["frontier"],
    &["search", "pdb"],
    &["table"],
    &["pruning"],
    &["solve", "report"],
];
/// Modules outside the floors.
const ROOTS: &[&str] = &["error", "internals", "lib"];
/// Where `unsafe` may stand.
const UNSAFE: &[&str] = &[
    "kernel/",
    "store/",
    "pruning/cosets.rs",
    "solve/two_sided.rs",
    "cli/failure.rs",
    "cli/platform.rs",
];

fn src() -> PathBuf {
    crate::program::root().join("src")
}

/// The places and texts of all sources, of the library and of the program.
fn sources() -> Vec<(String, String)> {
    let mut all = Vec::new();
    graph::collect(&src(), &src(), &mut all);
    graph::collect(&src(), &src().join("cli"), &mut all);
    assert!(all.len() > 50, "the sources are read");
    all
}

/// The top module of a file.
fn top(file: &str) -> &str {
    match file {
        // They need nothing: whoever has permutations may rank them.
        "perm/lehmer.rs" | "perm/placement.rs" => "ranks of permutations",
        _ => file.split('/').next().unwrap().trim_end_matches(".rs"),
    }
}

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

/// The arrows that lead down or sideways.
fn wrong_arrows(arrows: &Arrows) -> Vec<String> {
    let mut wrong = Vec::new();
    for (from, reached) in arrows {
        for to in reached {
            let (own, other) = (top(from), top(to));
            let lower = |f, o| f <= o && own != other;
            if matches!((floor(own), floor(other)), (Some(f), Some(o)) if lower(f, o)) {
                wrong.push(format!("{from} uses {to}"));
            }
        }
    }
    wrong
}

#[test]
fn every_arrow_points_up() {
    let arrows = Crate::read(&src()).arrows();
    let count: usize = arrows.values().map(|reached| reached.len()).sum();
    assert!(count > 300, "only {count} arrows seen");
    let unknown = |file: &&String| floor(top(file)).is_none() && !ROOTS.contains(&top(file));
    let unknown: Vec<&String> = arrows.keys().filter(unknown).collect();
    assert!(unknown.is_empty(), "on no floor: {unknown:?}");
    let wrong = wrong_arrows(&arrows);
    assert!(wrong.is_empty(), "modules use lower floors: {wrong:#?}");
}

#[test]
fn files_do_not_use_each_other_in_circles() {
    for root in [src(), src().join("cli")] {
        let mut arrows = Crate::read(&root).arrows();
        // It gathers the errors of all, which all may use.
        arrows.remove("error.rs");
        let closed = circles(&arrows);
        assert!(closed.is_empty(), "files in circles: {closed:#?}");
    }
}

/// The names of the types that a source defines, wherever they stand, but for the associated types of traits.
fn types(text: &str) -> Vec<&str> {
    const KINDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];
    fn of_line(line: &str) -> Option<&str> {
        let item = line.trim_start();
        let words = match item.strip_prefix("pub(") {
            Some(seen) => seen.split_once(") ")?.1,
            None => item.strip_prefix("pub ").unwrap_or(item),
        };
        let (kind, rest) = words.split_once(' ')?;
        let associated = kind == "type" && item.len() < line.len();
        let name = rest.split(|c: char| !c.is_alphanumeric()).next()?;
        (KINDS.contains(&kind) && !associated).then_some(name)
    }
    text.lines().filter_map(of_line).collect()
}

#[test]
fn a_type_name_occurs_once() {
    let mut places = std::collections::BTreeMap::<String, Vec<String>>::new();
    for (file, text) in sources() {
        // The arguments of a command are called so in every command.
        let counts = |name: &&str| *name != "Args";
        for name in types(&text).into_iter().filter(counts) {
            places.entry(name.to_string()).or_default().push(file.clone());
        }
    }
    assert!(places.len() > 300, "the types are found");
    let twice: Vec<_> = places.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
    assert_eq!(
        types(
            "pub struct A;\n    type B = u8;\npub(crate) enum C<T> {\npub(super) enum E {\n    trait D {\nfn f() {"
        ),
        ["A", "C", "E", "D"]
    );
}

/// The types that a file and its public modules offer to other crates.
fn offered(file: &Path, found: &mut BTreeSet<String>) {
    let text = std::fs::read_to_string(file).unwrap();
    let folder = match file.file_stem().unwrap().to_str().unwrap() {
        "lib" | "mod" => file.parent().unwrap().to_path_buf(),
        name => file.with_file_name(name),
    };
    // Items end with a bracket or a semicolon; what is hidden has an attribute on the line before.
    let mut hidden = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let item = line.strip_prefix("pub ").filter(|_| !hidden);
        hidden = line == "#[doc(hidden)]";
        let Some(item) = item else { continue };
        if let Some(name) = item.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) {
            let one = folder.join(format!("{name}.rs"));
            offered(&if one.exists() { one } else { folder.join(name).join("mod.rs") }, found);
        } else if let Some(tree) = item.strip_prefix("use ") {
            let mut tree = tree.to_string();
            while !tree.ends_with(';') {
                tree += lines.next().expect("the end of a tree");
            }
            let names = tree.split(|c: char| !c.is_alphanumeric() && c != '_');
            // Constants are written in capitals alone.
            let is_type = |name: &&str| {
                name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
            };
            found.extend(names.filter(is_type).map(String::from));
        } else {
            found.extend(types(line).into_iter().map(String::from));
        }
    }
}

#[test]
fn the_public_interface_is_small() {
    let mut found = BTreeSet::new();
    offered(&src().join("lib.rs"), &mut found);
    for expected in ["Board", "Cnf", "Error", "Metric", "NoProgress", "PlaneStore", "Search"] {
        assert!(found.contains(expected), "{expected} is found");
    }
    assert!(!found.contains("LevelHeader"), "what is hidden does not count");
    assert!(found.len() <= 150, "{} public types: {found:?}", found.len());
    let errors: Vec<_> = found.iter().filter(|name| name.ends_with("Error")).collect();
    assert!(errors.len() <= 8, "public error types: {errors:?}");
}

#[test]
fn unsafe_code_is_where_it_is_announced() {
    let stray = sources().into_iter().filter(|(file, text)| {
        let announced = UNSAFE.iter().any(|place| file.starts_with(place));
        !announced && tokens(text).iter().any(|token| token == "unsafe")
    });
    let stray: Vec<String> = stray.map(|(file, _)| file).collect();
    assert!(stray.is_empty(), "unsafe code in {stray:?}");
    let announced = |(file, text): &(String, String)| {
        file.starts_with("store/") && tokens(text).iter().any(|token| token == "unsafe")
    };
    assert!(sources().iter().any(announced), "the word is found where it is");
}

/// The arrows of made-up files.
fn arrows(files: &[(&str, &str)]) -> Arrows {
    Crate::new(files.iter().copied()).arrows()
}

/// What one made-up file uses.
fn used(files: &[(&str, &str)], file: &str) -> Vec<String> {
    arrows(files)[file].iter().cloned().collect()
}

#[test]
fn a_circle_between_files_is_found() {
    let files = [
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod one; mod two; mod three; pub use one::One;"),
        ("a/one.rs", "use super::two::Two; pub struct One;"),
        (
            "a/two.rs",
            "use crate::{x::y, a::{three::{self, Three}}}; pub struct Two; fn f() { Three }",
        ),
        ("a/three.rs", "fn f() -> super::One { super::One }"),
    ];
    let circle = ["a/one.rs", "a/three.rs", "a/two.rs"].map(String::from);
    assert_eq!(circles(&arrows(&files)), [circle.to_vec()]);
    // Without the last arrow there is none; what a module passes on makes none either.
    let mut broken = files;
    broken[4].1 = "// super::One\nfn f() -> u8 { 'a'; \"super::One\"; 1 }";
    assert_eq!(circles(&arrows(&broken)), [[""; 0]; 0]);
    // What a module holds itself does.
    let own = [
        ("a/mod.rs", "mod one; use one::One; pub fn shared() { One }"),
        ("a/one.rs", "use super::shared; pub struct One;"),
    ];
    assert_eq!(circles(&arrows(&own)), [["a/mod.rs", "a/one.rs"]]);
    // A method is no use of a function that is passed on under its name.
    let method = [
        ("a/mod.rs", "mod one; pub use one::collect; pub fn shared() { x.collect() }"),
        ("a/one.rs", "use super::shared; pub fn collect() { shared() }"),
    ];
    assert_eq!(circles(&arrows(&method)), [[""; 0]; 0]);
}

#[test]
fn paths_are_followed_to_the_file_that_holds_them() {
    let store = [
        (
            "store/mod.rs",
            "mod memory; mod files; pub use memory::{Array as Words, *}; pub(crate) use files::Files;",
        ),
        ("store/memory.rs", "pub struct Array; pub fn budget() {}"),
        ("store/files.rs", "pub struct Files;"),
    ];
    let uses = |text: &'static str| {
        used(&[&store[..], &[("search/run.rs", text)]].concat(), "search/run.rs")
    };
    assert_eq!(uses("use crate::store::Files;"), ["store/files.rs"]);
    assert_eq!(
        uses("use crate::store::{Words, Files as F};"),
        ["store/files.rs", "store/memory.rs"]
    );
    assert_eq!(uses("use crate::store; fn f() { store::budget() }"), ["store/memory.rs"]);
    assert_eq!(uses("fn f<'a>() { crate::store::Files::new::<'a>() }"), ["store/files.rs"]);
    assert_eq!(uses("fn f() { other::store::Files }"), [""; 0]);
    assert_eq!(uses("#[cfg(test)] mod tests { use crate::store::Files; } fn f() {}"), [""; 0]);
    assert_eq!(uses("use std::store::Files; const T: &str = r#\"crate::store::Files\"#;"), [""; 0]);
}

#[test]
fn a_wrong_arrow_is_found() {
    let wrong = |file: &'static str, text: &'static str| {
        let others =
            [("search/mod.rs", "pub struct Search;"), ("pdb/mod.rs", ""), ("report/json.rs", "")];
        wrong_arrows(&arrows(&[&others[..], &[(file, text)]].concat()))
    };
    assert_eq!(wrong("perm/a.rs", "use crate::search::Search;"), ["perm/a.rs uses search/mod.rs"]);
    assert_eq!(
        wrong("search/b.rs", "use crate::{x, pdb::{Pdb, Q}};"),
        ["search/b.rs uses pdb/mod.rs"]
    );
    assert_eq!(
        wrong("store/c.rs", "use crate::{perm, report::json};fn f() { json::x() }"),
        ["store/c.rs uses report/json.rs"]
    );
    assert_eq!(wrong("search/e.rs", "// use crate::report::json;\nuse super::Search;"), [""; 0]);
}
