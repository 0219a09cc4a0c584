//! What the pages say of options is true: they exist, have the defaults that are named, and are few.

use std::collections::{BTreeMap, BTreeSet};

use super::{PAGES, text};

/// The commands of a page with what they print, those of scripts left out.
fn steps(page: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for line in text(page).lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            all.push((command.into(), String::new()));
        } else if let Some((_, printed)) = all.last_mut() {
            *printed += &format!("{line}\n");
        }
    }
    all.retain(|(command, _)| command.starts_with("tilewave"));
    all
}

/// The help of each command, by its words without `tilewave`.
fn helps() -> BTreeMap<String, String> {
    let helps = steps("help").into_iter().filter_map(|(command, printed)| {
        let words = command.strip_suffix(" --help")?.trim_start_matches("tilewave").trim();
        Some((words.to_string(), printed))
    });
    helps.collect()
}

/// The options that a text names.
fn options(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
    let names = text.split(|c: char| !is_name(c)).filter(|word| word.starts_with("--"));
    names.filter(|name| name.len() > 3).map(String::from).collect()
}

/// Advice names options of the command at hand, or says whose they are.
#[test]
fn errors_name_options_that_the_command_has() {
    let helps = helps();
    let has = |command: &str, option: &String| {
        helps.get(command).is_some_and(|help| options(help).contains(option))
    };
    let (mut errors, mut foreign) = (0, 0);
    for (line, printed) in PAGES.iter().flat_map(|page| steps(page)) {
        let words = line.trim_start_matches("tilewave").trim_start();
        let is_called = |command: &&String| words.starts_with(&format!("{command} "));
        let command = helps.keys().filter(is_called).max_by_key(|command| command.len());
        let command = command.map_or("", |command| command.as_str());
        for text in printed.lines().filter_map(|line| line.strip_prefix("! error: ")) {
            errors += 1;
            let clauses: Vec<&str> = text.split([';', ',', ':', '(']).collect();
            // What it does not have is named by what was given.
            let own = |clause: &&&str| {
                !["unknown option", " is no option of "].iter().any(|words| clause.contains(words))
            };
            for clause in clauses.iter().filter(own) {
                let named = clause.split("tilewave ").nth(1);
                let named = named.and_then(|words| words.split(' ').next());
                let named = if clause.contains("build a database with") {
                    Some("pdb build")
                } else {
                    named
                };
                for option in options(clause) {
                    let known =
                        has(command, &option) || named.is_some_and(|named| has(named, &option));
                    foreign += usize::from(!has(command, &option));
                    assert!(known, "{line} names {option}: {text}");
                }
            }
        }
    }
    assert!(errors > 300 && foreign > 2, "{errors} {foreign}");
}

#[test]
fn help_names_options_that_exist_and_is_short() {
    let all = helps();
    assert!(all.len() > 20, "{} commands are seen", all.len());
    // An option begins a line, after its letter if it has one.
    let defined = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let words = lines.filter_map(|line| line.split(' ').find(|word| word.starts_with("--")));
        words.filter_map(|word| options(word).pop_first()).collect()
    };
    let known: BTreeSet<String> = all.values().flat_map(|help| defined(help)).collect();
    for (command, help) in &all {
        let unknown: Vec<String> = options(help).difference(&known).cloned().collect();
        assert!(unknown.is_empty(), "help of '{command}' names {unknown:?}");
        let own = defined(help);
        for default in help.split("[default:").skip(1) {
            let named = options(default.split(']').next().unwrap());
            assert!(named.is_subset(&own), "a default of '{command}' names {named:?}");
        }
        // Every command below this one is there.
        for name in crate::cli::commands(help) {
            assert!(all.contains_key(format!("{command} {name}").trim()), "{command} {name}");
        }
    }
    for (command, short) in steps("help").iter().filter(|(command, _)| command.ends_with(" -h")) {
        let long = ["tilewave -h", "tilewave bfs -h"].contains(&command.as_str());
        let (lines, most) = (short.lines().count(), if long { 45 } else { 40 });
        assert!(lines <= most, "'{command}' has {lines} lines, {most} at most");
    }
}
