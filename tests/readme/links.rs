//! Links of the README and of all pages lead somewhere; pages have lines of a readable length.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::root;

/// Columns of a line outside tables, blocks of code, headings and lines of one long word.
const COLUMNS: usize = 100;

/// Pages with generated parts, or of a package of its own, whose lines may be longer.
const LONG: [&str; 3] = ["docs/python.md", "docs/python-api.md", "tools/c/README.md"];

/// All pages: the README, those of docs, of C and of the results.
fn pages() -> Vec<PathBuf> {
    fn below(folder: &Path, all: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, all);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                all.push(path);
            }
        }
    }
    let others = ["README.md", "tools/README.md", "tools/c/README.md"];
    let mut all = others.map(|name| root().join(name)).to_vec();
    below(&root().join("docs"), &mut all);
    assert!(all.len() > 15, "the pages are seen");
    all
}

/// A page without its blocks of code.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The anchors that headings of a page have, as sites that show Markdown make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let text = prose(text);
    let headings = text.lines().filter_map(|line| line.trim_start_matches('#').strip_prefix(' '));
    let anchor = |heading: &str| -> String {
        let kept = heading.to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// The targets of the links and pictures of a text.
fn targets(text: &str) -> Vec<String> {
    let text = prose(text);
    let rest = text.split("](").skip(1);
    rest.filter_map(|rest| rest.split(')').next()).map(str::to_string).collect()
}

/// What is wrong with the links of a page.
fn dead(page: &Path, text: &str) -> Vec<String> {
    let known: BTreeMap<&str, String> = [("", text.to_string())].into();
    let wrong = |target: &String| -> bool {
        if target.contains("://") || target.starts_with("mailto:") {
            return false;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path = page.parent().unwrap().join(file);
        if !file.is_empty() && !path.exists() {
            return true;
        }
        // A page of the web has anchors of its own.
        if anchor.is_empty() || file.ends_with(".html") {
            return false;
        }
        let there = known.get(file).cloned();
        let there = there.unwrap_or_else(|| fs::read_to_string(&path).unwrap());
        !anchors(&there).contains(anchor)
    };
    targets(text).into_iter().filter(wrong).collect()
}

#[test]
fn no_link_is_dead() {
    let mut seen = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        seen += targets(&text).len();
        let dead = dead(&page, &text);
        assert!(dead.is_empty(), "{} has dead links: {dead:#?}", page.display());
    }
    assert!(seen > 200, "only {seen} links are seen");
}

#[test]
fn a_dead_link_is_found() {
    let page = root().join("docs/README.md");
    let text = "# A page's name\n[a](format.md), [b](none.md), [c](#a-pages-name), [d](#none), \
                [e](format.md#none), [f](../README.md#install), [g](https://example.org/none)";
    assert_eq!(dead(&page, text), ["none.md", "#none", "format.md#none"]);
}

#[test]
fn the_index_names_every_page() {
    let index = fs::read_to_string(root().join("docs/README.md")).unwrap();
    let linked = targets(&index);
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") && name != "README.md" {
            assert!(linked.contains(&name), "docs/README.md does not name {name}");
        }
    }
}

#[test]
fn the_list_of_tools_names_every_tool() {
    let list = fs::read_to_string(root().join("tools/README.md")).unwrap();
    for entry in fs::read_dir(root().join("tools")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let name = if entry.path().is_dir() { name + "/" } else { name };
        let listed = list.contains(&format!("`{name}`"));
        assert!(listed || name == "README.md" || name.starts_with('_'), "{name} is not listed");
    }
}

#[test]
fn lines_have_a_readable_length() {
    for page in pages() {
        let place = page.strip_prefix(root()).unwrap();
        if LONG.iter().any(|long| place == Path::new(long)) {
            continue;
        }
        let place = place.display();
        let text = fs::read_to_string(&page).unwrap();
        let (mut code, mut wide) = (false, Vec::new());
        for (number, line) in (1..).zip(text.lines()) {
            code ^= line.trim_start().starts_with("```");
            // A line of one word, a long link for instance, cannot be broken.
            let one_word = line.split_whitespace().filter(|w| w.len() > 2).count() < 2;
            let free =
                code || one_word || ["|", "#", "    ", "!["].iter().any(|p| line.starts_with(p));
            if !free && line.chars().count() > COLUMNS {
                wide.push(format!("{place}:{number}"));
            }
        }
        assert!(wide.is_empty(), "more than {COLUMNS} columns: {wide:#?}");
    }
}

/// What the attributes `href` and `src` of a page name.
fn references(page: &str) -> Vec<String> {
    let of = |opening: &str| -> Vec<String> {
        let rest = page.split(opening).skip(1);
        rest.filter_map(|rest| rest.split('"').next().map(str::to_string)).collect()
    };
    [of(" href=\""), of(" src=\"")].concat()
}

#[test]
fn the_site_has_no_dead_link() {
    let dir = tempfile::tempdir().unwrap();
    let made = Command::new("python3").arg(root().join("tools/site")).arg(dir.path()).output();
    let Ok(made) = made else {
        // Without Python there is no site; where everything is required there is Python.
        assert!(std::env::var_os("TILEWAVE_REQUIRE_ALL").is_none());
        return;
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for source in pages() {
        let place = source.strip_prefix(root()).unwrap().with_extension("html");
        let page = dir.path().join(&place);
        let text = fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", place.display()));
        let prose = text.split("<code>").filter_map(|part| part.split("</code>").last());
        let unread = prose.filter(|part| part.contains("**")).collect::<Vec<_>>();
        assert!(unread.is_empty(), "{}: bold text that is not read: {unread:?}", place.display());
        let references = references(&text);
        for reference in references.iter().filter(|name| !name.contains("://")) {
            let (file, name) = reference.split_once('#').unwrap_or((reference, ""));
            let target =
                if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {reference}", place.display());
            if !name.is_empty() && target.extension().is_some_and(|ending| ending == "html") {
                let text = fs::read_to_string(target).unwrap();
                let named = text.contains(&format!("id=\"{name}\""));
                assert!(named, "{}: {reference}", place.display());
            }
        }
    }
}
