//! What a release consists of: one version, and a crate with all that it needs and nothing else. The whole is made by
//! `tools/release` and tried by `tools/release-test`.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use super::README;
use crate::{
    cli::{json, stdout},
    program::root,
};

/// The version stands in Cargo.toml; whatever repeats it has the same.
#[test]
fn the_version_is_one() {
    let version = env!("CARGO_PKG_VERSION");
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
    for (file, line) in [
        ("Cargo.toml", format!("\nversion = \"{version}\"\n")),
        (
            "src/cli/Cargo.toml",
            format!("\ntilewave = {{ path = \"../..\", version = \"{version}\""),
        ),
        ("tools/python/Cargo.toml", format!("\nversion = \"{version}\"\n")),
        ("tools/mpi/Cargo.toml", format!("\nversion = \"{version}\"\n")),
        ("CITATION.cff", format!("\nversion: {version}\n")),
        ("Cargo.lock", format!("name = \"tilewave\"\nversion = \"{version}\"\n")),
        ("Cargo.lock", format!("-python\"\nversion = \"{version}\"\n")),
        ("Cargo.lock", format!("-mpi\"\nversion = \"{version}\"\n")),
        ("tools/c/tilewave.h", format!("VERSION_MINOR {}\n", env!("CARGO_PKG_VERSION_MINOR"))),
    ] {
        assert!(read(file).contains(&line), "{file} has another version than {version}");
    }
    assert_eq!(json(&["bfs", "2x2", "--format", "json"])["version"], version);
    assert_eq!(stdout(&["-V"]), format!("tilewave {version}\n"));
    let minimal =
        read("Cargo.toml").lines().find(|l| l.starts_with("rust-version")).unwrap().to_string();
    assert!(read("tools/python/Cargo.toml").contains(&minimal), "Python takes another Rust");
    let rust = minimal.split('"').nth(1).unwrap();
    assert!(README.contains(&format!("Rust {rust}")), "the README names another Rust");
}

/// The files of the sources that are compiled into the program or stand in its documentation, by the files that name
/// them.
fn included(dir: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            included(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            for call in ["include_str!(", "include_bytes!("] {
                for rest in text.split(call).skip(1) {
                    let name = rest.split('"').nth(1).unwrap();
                    let file = fs::canonicalize(path.parent().unwrap().join(name)).unwrap();
                    let file = file.strip_prefix(fs::canonicalize(root()).unwrap()).unwrap();
                    found.insert(file.to_str().unwrap().to_string());
                }
            }
        }
    }
}

#[test]
fn the_crate_has_what_it_is_compiled_from_and_nothing_else() {
    let list = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline", "--package", "tilewave"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(list.status.success(), "{}", String::from_utf8_lossy(&list.stderr));
    let listed: BTreeSet<String> =
        String::from_utf8(list.stdout).unwrap().lines().map(String::from).collect();
    let mut needed = BTreeSet::new();
    included(&root().join("src"), &mut needed);
    assert!(needed.len() > 12, "the files are seen: {needed:?}");
    let pictures = README.split("](docs/images/").skip(1).map(|rest| rest.split(')').next());
    needed.extend(pictures.map(|name| format!("docs/images/{}", name.unwrap())));
    let always = ["Cargo.toml", "Cargo.lock", "LICENSE", "README.md", "docs/changelog.md"];
    needed.extend(always.map(String::from));
    let missing: Vec<_> = needed.difference(&listed).collect();
    assert!(missing.is_empty(), "the crate lacks {missing:?}: include of Cargo.toml");
    let made = ["Cargo.toml.orig", ".cargo_vcs_info.json"];
    let useless = |file: &&String| !file.starts_with("src/") && !made.contains(&file.as_str());
    let useless: Vec<_> = listed.difference(&needed).filter(useless).collect();
    assert!(useless.is_empty(), "nothing needs {useless:?} in the crate: include of Cargo.toml");
}
