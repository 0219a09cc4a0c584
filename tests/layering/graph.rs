//! Which file uses which: `use` trees and paths in the code, followed through re-exports to the file that
//! holds what they name. What stands in `#[cfg(test)]` does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A path of modules and names, from the root of the crate.
type Names = Vec<String>;

/// One file.
#[derive(Default)]
struct File {
    /// Its place in `src`.
    name: String,
    /// The names that it imports, with the path of each.
    imports: Vec<Import>,
    /// Its code without imports.
    body: Vec<String>,
}

impl File {
    /// Whether the code names something; what stands behind a dot is a method or a field.
    fn names(&self, name: &str) -> bool {
        let mut behind_dot = false;
        self.body.iter().any(|token| {
            let named = token == name && !behind_dot;
            behind_dot = token == ".";
            named
        })
    }
}

struct Import {
    /// The name in this file; `*` for all names of a module.
    name: String,
    path: Names,
    public: bool,
}

/// All files of a crate by module path.
pub struct Crate {
    files: BTreeMap<Names, File>,
}

/// The files that each file uses.
pub type Arrows = BTreeMap<String, BTreeSet<String>>;

impl Crate {
    /// Reads all sources below a directory.
    pub fn read(src: &Path) -> Crate {
        let mut sources = Vec::new();
        collect(src, src, &mut sources);
        Crate::new(sources.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    }

    /// Reads sources given as places in `src` and texts.
    pub fn new<'a>(sources: impl Iterator<Item = (&'a str, &'a str)>) -> Crate {
        let mut files: BTreeMap<Names, File> = BTreeMap::new();
        let mut texts = BTreeMap::new();
        for (name, text) in sources {
            let module = module(name);
            // The roots of library and program are one module here.
            texts.entry(module).or_insert_with(Vec::new).push((name, text));
        }
        for (module, parts) in texts {
            let file = files.entry(module.clone()).or_default();
            file.name = parts[0].0.to_string();
            let tokens: Vec<String> = parts.iter().flat_map(|part| tokens(part.1)).collect();
            read_tokens(file, without_tests(tokens));
        }
        let mut all = Crate { files };
        all.resolve_children();
        all
    }

    /// Returns the arrows between files, and for each the path that makes it.
    pub fn arrows(&self) -> Arrows {
        let mut uses: Vec<(&Names, Names)> = Vec::new();
        let mut through = BTreeSet::new();
        for (module, file) in &self.files {
            for path in self.paths_of(module, file) {
                uses.push((module, self.target(&path, &mut through)));
            }
        }
        for (module, file) in &self.files {
            for import in &file.imports {
                let target = self.target(&import.path, &mut through);
                let named = file.names(&import.name);
                let passed_on = through.contains(&(module.clone(), import.name.clone()));
                // Modules are used by the paths that begin with them; what is only passed on is not used.
                if self.is_module(&import.path) || !named && (import.public || passed_on) {
                    continue;
                }
                uses.push((module, target));
            }
        }
        let names = self.files.values().map(|file| (file.name.clone(), BTreeSet::new()));
        let mut arrows: Arrows = names.collect();
        for (from, to) in uses {
            let (Some(from), Some(to)) = (self.files.get(from), self.files.get(&to)) else {
                continue;
            };
            let (from, to) = (&from.name, &to.name);
            let reached = arrows.entry(from.clone()).or_default();
            if from != to {
                reached.insert(to.clone());
            }
        }
        arrows
    }

    /// The paths in the code of a file that lead to other modules, as they are from the root.
    fn paths_of(&self, module: &Names, file: &File) -> Vec<Names> {
        let body = &file.body;
        let mut paths = Vec::new();
        for i in 0..body.len() {
            let begins = i == 0 || body[i - 1] != "::";
            if !begins || !is_name(&body[i]) || body.get(i + 1).is_none_or(|next| next != "::") {
                continue;
            }
            let mut path = vec![body[i].clone()];
            let mut at = i + 1;
            while at + 1 < body.len() && body[at] == "::" && is_name(&body[at + 1]) {
                path.push(body[at + 1].clone());
                at += 2;
            }
            let import = file.imports.iter().find(|import| import.name == path[0]);
            if let Some(import) = import.filter(|import| self.is_module(&import.path)) {
                paths.push([&import.path, &path[1..]].concat());
            } else if let Some(path) = self.absolute(module, &path) {
                paths.push(path);
            }
        }
        paths
    }

    /// The path from the root, of one that begins with `crate`, `self`, `super` or a module below.
    fn absolute(&self, module: &Names, path: &[String]) -> Option<Names> {
        let mut base = module.clone();
        let mut rest = path;
        match path[0].as_str() {
            "crate" => (base, rest) = (Names::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    base.pop()?;
                    rest = &rest[1..];
                }
            }
            child => {
                let below = [module.as_slice(), &[child.to_string()]].concat();
                if !self.files.contains_key(&below) {
                    return None;
                }
            }
        }
        Some([base.as_slice(), rest].concat())
    }

    fn is_module(&self, path: &Names) -> bool {
        self.files.contains_key(path)
    }

    /// The module whose file holds what a path from the root names; notes the re-exports passed on the way.
    fn target(&self, path: &[String], through: &mut BTreeSet<(Names, String)>) -> Names {
        let depth = (0..=path.len()).rev().find(|&n| self.files.contains_key(&path[..n]));
        let depth = depth.unwrap_or(0);
        let module = path[..depth].to_vec();
        let (Some(name), Some(file)) = (path.get(depth), self.files.get(&module)) else {
            return module;
        };
        let passed = |import: &Import| import.name == *name && import.path != path[..=depth];
        if let Some(import) = file.imports.iter().find(|import| passed(import)) {
            through.insert((module, name.clone()));
            return self.target(&[&import.path, &path[depth + 1..]].concat(), through);
        }
        // A module within a file is part of it.
        let globs = file.imports.iter().filter(|import| {
            let outside =
                self.files.contains_key(&import.path) || !import.path.starts_with(&module);
            import.name == "*" && import.public && outside
        });
        for glob in globs {
            let wanted = [glob.path.as_slice(), &path[depth..]].concat();
            let found = self.target(&wanted, through);
            let defines =
                |file: &File| file.body.windows(2).any(|w| is_item(&w[0]) && w[1] == *name);
            if self.files.get(&found).is_some_and(defines) {
                return found;
            }
        }
        module
    }

    /// Makes imports that begin with the name of a module below absolute, and drops those of other crates.
    fn resolve_children(&mut self) {
        let modules: Vec<Names> = self.files.keys().cloned().collect();
        for module in modules {
            let imports = std::mem::take(&mut self.files.get_mut(&module).unwrap().imports);
            let kept = imports.into_iter().filter_map(|import| {
                let path = self.absolute(&module, &import.path)?;
                Some(Import { path, ..import })
            });
            let kept = kept.collect();
            self.files.get_mut(&module).unwrap().imports = kept;
        }
    }
}

/// Returns the circles among arrows: the sets of files that reach each other, each sorted.
pub fn circles(arrows: &Arrows) -> Vec<Vec<String>> {
    let reached_from = |start: &String| {
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut open: Vec<&String> = arrows[start].iter().collect();
        while let Some(file) = open.pop() {
            if seen.insert(file) {
                open.extend(arrows.get(file).into_iter().flatten());
            }
        }
        seen
    };
    let reach: BTreeMap<&String, BTreeSet<&String>> =
        arrows.keys().map(|file| (file, reached_from(file))).collect();
    let mut circles = BTreeSet::new();
    for (file, reached) in reach.iter().filter(|(file, reached)| reached.contains(*file)) {
        let back = |other: &&&String| reach.get(*other).is_some_and(|r| r.contains(*file));
        let circle = reached.iter().filter(back);
        circles.insert(circle.map(|file| file.to_string()).collect::<Vec<_>>());
    }
    circles.into_iter().collect()
}

/// The places below `root` and the texts of the sources of a crate; a folder with a manifest is another crate.
pub fn collect(root: &Path, dir: &Path, sources: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.join("Cargo.toml").exists() {
                collect(root, &path, sources);
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            sources.push((name.replace('\\', "/"), fs::read_to_string(&path).unwrap()));
        }
    }
}

/// The module of a file: `a/b.rs` and `a/b/mod.rs` are `a::b`.
fn module(name: &str) -> Names {
    let name = name.trim_end_matches(".rs").trim_end_matches("/mod");
    match name {
        "lib" | "main" => Names::new(),
        name => name.split('/').map(String::from).collect(),
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn is_item(token: &str) -> bool {
    ["fn", "struct", "enum", "trait", "const", "static", "type", "union"].contains(&token)
}

/// Names, `::` and single signs; no comments, texts, characters, numbers or lifetimes.
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skip = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            '"' => end_of_text(rest),
            '\'' => end_of_character(rest),
            'r' | 'b' if raw_text(rest).is_some() => raw_text(rest).unwrap(),
            ':' if rest.starts_with("::") => {
                tokens.push("::".into());
                2
            }
            c if c.is_alphabetic() || c == '_' => {
                let word = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_');
                let word: String = word.collect();
                let len = word.len();
                tokens.push(word);
                len
            }
            c if c.is_numeric() => {
                let digits = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_');
                digits.map(char::len_utf8).sum()
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push(c.to_string());
                }
                c.len_utf8()
            }
        };
        rest = &rest[skip..];
    }
    tokens
}

fn end_of_text(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    rest.len()
}

/// Past a character; only past the quote where it begins a lifetime.
fn end_of_character(rest: &str) -> usize {
    let mut signs = rest.char_indices().skip(1);
    match (signs.next(), signs.next()) {
        (Some((_, '\\')), Some(_)) => rest[3..].find('\'').map_or(rest.len(), |at| at + 4),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// The length of a raw text at the beginning, if there is one.
fn raw_text(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('b').unwrap_or(rest).strip_prefix('r')?;
    let hashes = inner.len() - inner.trim_start_matches('#').len();
    let text = inner[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let begin = rest.len() - text.len();
    Some(begin + text.find(&end).map_or(text.len(), |at| at + end.len()))
}

/// Drops items under `#[cfg(test)]`.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].iter().take(7).eq(TEST.iter()) {
            at = end_of_item(&tokens, at + 7);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Past the item that begins here: its first `;` or block outside of other brackets.
fn end_of_item(tokens: &[String], begin: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(begin) {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth -= 1;
                if depth == 0 && token == "}" {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Splits the tokens of a file into its imports and the rest.
fn read_tokens(file: &mut File, tokens: Vec<String>) {
    let mut at = 0;
    while at < tokens.len() {
        let begins = at == 0 || [";", "}", "{", "]", ")", "pub"].contains(&tokens[at - 1].as_str());
        if tokens[at] == "use" && begins {
            // `pub use`, `pub(super) use`.
            let public = at > 0 && ["pub", ")"].contains(&tokens[at - 1].as_str());
            let mut prefix = Names::new();
            at = read_tree(file, &tokens, at + 1, &mut prefix, public);
        } else {
            file.body.push(tokens[at].clone());
            at += 1;
        }
    }
}

/// Reads a tree of imports; returns the place behind it.
fn read_tree(
    file: &mut File,
    tokens: &[String],
    mut at: usize,
    prefix: &mut Names,
    public: bool,
) -> usize {
    let depth = prefix.len();
    loop {
        match tokens.get(at).map(String::as_str) {
            Some("::") => at += 1,
            Some("{") => {
                at += 1;
                while tokens.get(at).is_some_and(|token| token != "}") {
                    at = read_tree(file, tokens, at, prefix, public);
                    if tokens.get(at).is_some_and(|token| token == ",") {
                        at += 1;
                    }
                }
                at += 1;
                break;
            }
            Some(name) if name == "*" || is_name(name) => {
                at += 1;
                if name == "self" && !prefix.is_empty() {
                    // `a::{self}` is `a`.
                } else {
                    prefix.push(name.into());
                }
                if tokens.get(at).is_some_and(|next| next == "::") {
                    continue;
                }
                let mut local = prefix.last().cloned().unwrap_or_default();
                if tokens.get(at).is_some_and(|next| next == "as") {
                    local = tokens[at + 1].clone();
                    at += 2;
                }
                let mut path = prefix.clone();
                if name == "*" {
                    path.pop();
                }
                file.imports.push(Import { name: local, path, public });
                break;
            }
            _ => break,
        }
    }
    prefix.truncate(depth);
    at
}
