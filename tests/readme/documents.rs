//! The documents of the program's structure are true: what they name is there, what is there is named, and
//! they are short.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::root;
use crate::layering::graph::tokens;

/// The documents whose code spans are looked up, and how many lines each may have.
const DOCUMENTS: [(&str, usize); 7] = [
    ("design.md", 250),
    ("engine.md", 150),
    ("disk.md", 150),
    ("databases.md", 150),
    ("solver.md", 150),
    ("cosets.md", 150),
    ("frontier.md", 150),
];

/// Columns of a line outside tables.
const COLUMNS: usize = 100;

/// Most terms of the glossary.
const TERMS: usize = 25;

/// Where paths begin that are not of this crate.
const OTHERS: [&str; 3] = ["std", "core", "rayon"];

/// What defines a name.
const KINDS: [&str; 9] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "macro_rules"];

fn document(name: &str) -> String {
    let text = fs::read_to_string(root().join("docs").join(name));
    text.unwrap_or_else(|e| panic!("docs/{name}: {e}"))
}

/// The places of all files below a directory, from `src` on.
fn files(below: &Path, all: &mut BTreeSet<String>) {
    for entry in fs::read_dir(below).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, all);
        } else {
            let place = path.strip_prefix(root().join("src")).unwrap();
            all.insert(place.to_str().unwrap().replace('\\', "/"));
        }
    }
}

fn all_files() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    files(&root().join("src"), &mut all);
    all.retain(|file| !file.ends_with("Cargo.toml"));
    assert!(all.len() > 100, "the sources are seen");
    all
}

/// A source: its place, and its names and signs.
type Source = (String, Vec<String>);

fn sources() -> Vec<Source> {
    let rust = all_files().into_iter().filter(|file| file.ends_with(".rs"));
    let read = |file: String| {
        let text = fs::read_to_string(root().join("src").join(&file)).unwrap();
        (file, tokens(&text))
    };
    rust.map(read).collect()
}

/// The code spans of a text, blocks of code left out.
fn spans(text: &str) -> Vec<String> {
    let prose: Vec<&str> = text.split("```").step_by(2).collect();
    let prose = prose.join("\n");
    let spans = prose.split('`').skip(1).step_by(2);
    spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The names of a path, `a::{b, c}` being two paths; none of what is no path of this crate.
fn paths(span: &str) -> Vec<Vec<String>> {
    let span = span.trim_end_matches("()");
    let (head, ends) = match span.split_once("::{") {
        Some((head, ends)) => (head, ends.trim_end_matches('}').split(", ").collect()),
        None => (span, vec![""]),
    };
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let path = |end: &str| -> Option<Vec<String>> {
        let names = head.split("::").chain(end.split("::").filter(|end| !end.is_empty()));
        let names: Vec<String> = names.map(String::from).collect();
        let ours = names.len() > 1 && !OTHERS.contains(&names[0].as_str());
        (ours && names.iter().all(|name| is_name(name))).then_some(names)
    };
    ends.into_iter().filter_map(path).collect()
}

/// Past the block that begins behind a place.
fn end_of_block(tokens: &[String], begin: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(begin) {
        match token.as_str() {
            "{" | "(" => depth += 1,
            "}" | ")" => {
                depth -= 1;
                if depth == 0 && token == "}" {
                    return at;
                }
            }
            ";" if depth == 0 => return at,
            _ => {}
        }
    }
    tokens.len()
}

/// Whether a file defines a name: a function, a type, a constant, a module.
fn defines(tokens: &[String], name: &str) -> bool {
    let defines = |two: &[String]| KINDS.contains(&two[0].as_str()) && two[1] == name;
    let macros = ["macro_rules", "!", name];
    tokens.windows(2).any(defines) || tokens.windows(3).any(|three| three == macros)
}

/// Whether a file has a method, a constant, a variant or a field of a type.
fn has_member(tokens: &[String], of: &str, member: &str) -> bool {
    let begins = |at: usize| ["impl", "struct", "enum", "trait"].contains(&tokens[at].as_str());
    (0..tokens.len()).filter(|&at| begins(at)).any(|at| {
        let open = tokens[at..].iter().position(|token| token == "{" || token == ";");
        let open = at + open.unwrap_or(0);
        if !tokens[at..open].iter().any(|token| token == of) {
            return false;
        }
        let body = &tokens[open..end_of_block(tokens, at)];
        match tokens[at].as_str() {
            "impl" | "trait" => defines(body, member),
            _ => body.iter().any(|token| token == member),
        }
    })
}

/// Whether a path from the root of the crate, or of a type and a member, names what there is.
fn exists<'a>(sources: &'a [Source], path: &'a [String]) -> bool {
    let is_type = |name: &&String| name.starts_with(char::is_uppercase);
    let modules: Vec<&str> = path.iter().take_while(|n| !is_type(n)).map(String::as_str).collect();
    let (modules, names) = match modules.len() {
        // All are lower case: the last one is an item of the others, or a module itself.
        n if n == path.len() => (modules[..n - 1].to_vec(), &path[n - 1..]),
        n => (modules, &path[n..]),
    };
    let within = modules.join("/");
    let here = |file: &str| {
        within.is_empty()
            || file == format!("{within}.rs")
            || file.starts_with(&format!("{within}/"))
    };
    let mut files = sources.iter().filter(|(file, _)| here(file));
    match names {
        [name] => files.any(|(_, tokens)| defines(tokens, name)),
        // The members of a type stand where the type does, or where they are added to it.
        [of, member] => {
            let known = files.any(|(_, tokens)| defines(tokens, of));
            // A name of another type, `type Pdb = TableFile<..>`, has its members too.
            let alias = |(_, tokens): &'a Source| {
                let other =
                    tokens.windows(4).find(|w| w[0] == "type" && w[1] == *of && w[2] == "=");
                other.map(|w| &w[3])
            };
            let types = || sources.iter().filter_map(alias).chain([of]);
            known
                && types()
                    .any(|of| sources.iter().any(|(_, tokens)| has_member(tokens, of, member)))
        }
        _ => false,
    }
}

/// The name that a span is, if it is one of a type or a variant: `WholeHalo`.
fn type_name(span: &str) -> Option<&str> {
    let lower = span.chars().any(char::is_lowercase) && span.chars().all(char::is_alphanumeric);
    (lower && span.starts_with(char::is_uppercase)).then_some(span)
}

/// The paths and types of a text that name nothing.
fn unknown(sources: &[Source], text: &str) -> Vec<String> {
    let of_span = |span: &str| -> Vec<String> {
        let wrong = paths(span).into_iter().filter(|path| !exists(sources, path));
        let wrong = wrong.map(|path| path.join("::"));
        let known = |name: &&str| sources.iter().any(|(_, all)| all.iter().any(|t| t == name));
        let stray = type_name(span).filter(|name| !known(name));
        wrong.chain(stray.map(String::from)).collect()
    };
    spans(text).iter().flat_map(|span| of_span(span)).collect()
}

#[test]
fn what_the_documents_name_exists() {
    let sources = sources();
    let mut seen = 0;
    for (name, _) in DOCUMENTS {
        let text = document(name);
        seen += spans(&text).iter().map(|span| paths(span).len()).sum::<usize>();
        let wrong = unknown(&sources, &text);
        assert!(wrong.is_empty(), "docs/{name} names what is not there: {wrong:#?}");
    }
    assert!(seen > 150, "only {seen} paths are seen");
}

#[test]
fn a_wrong_name_is_found() {
    let sources = sources();
    let text = "`search::memory::run` and `Session::levels`, `std::fs::read` too, `kernel::Rule`, \
                `search::memory::walk`, `Session::floors`, `kernel::Ruler`, `search::{ranks, nmi}`, \
                `WholeHalo` and `HalfHalo`";
    let wrong =
        ["search::memory::walk", "Session::floors", "kernel::Ruler", "search::nmi", "HalfHalo"];
    assert_eq!(unknown(&sources, text), wrong);
}

/// The files that a map names: folders begin a line with `- **`, their files with `  - `, names before the colon.
fn mapped(text: &str) -> BTreeSet<String> {
    let (mut all, mut folder) = (BTreeSet::new(), String::new());
    let section = text.split("\n## ").find(|section| section.starts_with("The map"));
    for line in section.expect("there is a map").lines() {
        let names = || spans(line.split(": ").next().unwrap_or_default());
        if line.starts_with("- **") {
            folder = names()[0].trim_start_matches("src/").to_string();
            if root().join("src").join(&folder).join("mod.rs").exists() {
                all.insert(format!("{folder}mod.rs"));
            }
        } else if line.starts_with("  - ") {
            all.extend(names().into_iter().map(|name| format!("{folder}{name}")));
        }
    }
    all
}

#[test]
fn the_map_has_every_file() {
    let (files, mapped) = (all_files(), mapped(&document("design.md")));
    let missing: Vec<&String> = files.difference(&mapped).collect();
    assert!(missing.is_empty(), "docs/design.md has no line for {missing:#?}");
    let gone: Vec<&String> = mapped.difference(&files).collect();
    assert!(gone.is_empty(), "docs/design.md has lines for what is not there: {gone:#?}");
}

#[test]
fn the_documents_are_short() {
    let performance = ("performance.md", 150);
    for (name, most) in DOCUMENTS.into_iter().chain([performance]) {
        let text = document(name);
        let lines = text.lines().count();
        assert!(lines <= most, "docs/{name} has {lines} lines, {most} at most");
        let wide = |line: &&str| !line.starts_with('|') && line.chars().count() > COLUMNS;
        let wide: Vec<&str> = text.lines().filter(wide).collect();
        assert!(wide.is_empty(), "docs/{name} has lines of more than {COLUMNS} columns: {wide:#?}");
    }
    let text = document("design.md");
    let glossary = text.split("\n## ").find(|section| section.starts_with("Glossary"));
    let rows = glossary.expect("there is a glossary").lines();
    let names = rows.filter_map(|row| row.strip_prefix("| **")?.split_once("**"));
    let terms: usize = names.map(|(names, _)| names.split(", ").count()).sum();
    assert!((15..=TERMS).contains(&terms), "{terms} terms");
}
