//! GAP files: permutations in cycles, and the list of those that are moves.
//!
//! ```text
//! # what follows a # is a remark
//! M_U:=(1,10,7,4)(2,11,8,5);
//! M_R:=(3,6,9)(1,2);
//! Gen:=[M_U,M_R];
//! ip:=[[1],[2]];
//! ```
//!
//! Points are counted from 1. A cycle (1,10,..) takes the element at 1 to 10. A leading `M_` is not part of the name.
//! `ip` lists sets of identical pieces; if one of these sets has several pieces, the points that are in no set are
//! identical as well. Inverses are added. A statement after `Gen` that defines no name, such as `Size(Group(Gen));`, is
//! ignored.

use std::collections::HashMap;

use crate::{
    puzzle::{
        Generator, Permutation, PuzzleError,
        formats::source::{Located, PointSource},
        notation::parse_cycles,
    },
    units::shown,
};

/// The part of a file that ends at a semicolon.
struct Statement<'a> {
    text: &'a str,
    /// The line of its first character other than white space.
    line: usize,
}

impl<'a> Statement<'a> {
    fn new(text: &'a str, line: usize) -> Statement<'a> {
        let body = text.trim_start();
        Statement { text: body.trim_end(), line: line + newlines(&text[..text.len() - body.len()]) }
    }

    /// The line number at a byte offset of the statement.
    fn line(&self, at: usize) -> usize {
        self.line + newlines(&self.text[..at])
    }

    /// Splits the statement at the first occurrence of a text.
    fn split(&self, by: &str) -> Option<(Statement<'a>, Statement<'a>)> {
        let (left, right) = self.text.split_once(by)?;
        let line = self.line(self.text.len() - right.len());
        Some((Statement::new(left, self.line), Statement::new(right, line)))
    }

    fn syntax(&self, expected: &str) -> Located {
        let kind = PuzzleError::FileSyntax {
            found: format!("'{}'", shown(self.text, 32)),
            expected: expected.into(),
        };
        kind.at(self.line)
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|&b| b == b'\n').count()
}

/// Returns the contents of a file.
pub(crate) fn read(text: &str) -> Result<PointSource, Located> {
    let text = without_remarks(text);
    let mut cycles: HashMap<&str, Vec<Vec<usize>>> = HashMap::new();
    let (mut moves, mut sets) = (None, None);
    let mut rest = Statement::new(&text, 1);
    while !rest.text.is_empty() {
        let end = rest.split(";");
        let (statement, next) = end.ok_or_else(|| rest.syntax("a statement that ends in ';'"))?;
        rest = next;
        if statement.text.is_empty() {
            continue;
        }
        let parts = statement.split(":=");
        if parts.is_none() && moves.is_some() && statement.text.ends_with(')') {
            continue;
        }
        let (name, value) = parts.ok_or_else(|| statement.syntax("'NAME:=..;'"))?;
        match name.text {
            "Gen" if moves.is_some() => {
                return Err(PuzzleError::ThereTwice("Gen".into()).at(name.line));
            }
            "Gen" => {
                let names = list(&value)?;
                if names.is_empty() {
                    let kind = crate::puzzle::PuzzleError::NoGenerators;
                    return Err(kind.at(value.line));
                }
                for name in &names {
                    if !cycles.contains_key(name.text) {
                        let kind = PuzzleError::Undefined(shown(name.text, 32));
                        return Err(kind.at(name.line));
                    }
                }
                let names: Vec<&str> = names.iter().map(|name| name.text).collect();
                moves = Some((names, value.line));
            }
            "ip" => sets = Some(identical(&value)?),
            word => {
                identifier(&name)?;
                let read = parse_cycles(value.text).and_then(|read| {
                    // Whether it is a permutation does not depend on the points that are fixed.
                    Permutation::from_cycles(Permutation::MAX_LEN, &read)?;
                    Ok(read)
                });
                let read = read.map_err(|error| generator_error(word, &value, error))?;
                if cycles.insert(word, read).is_some() {
                    return Err(PuzzleError::ThereTwice(shown(word, 32)).at(name.line));
                }
            }
        }
    }
    let missing = || PuzzleError::MissingPart("the list of moves ('Gen:=[..];')".into()).at(0);
    let (names, line) = moves.ok_or_else(missing)?;
    let largest = names.iter().flat_map(|name| cycles[name].iter().flatten());
    let points = largest.max().map_or(0, |&point| point + 1);
    let generator = |name: &&str| Generator {
        name: name.strip_prefix("M_").filter(|n| !n.is_empty()).unwrap_or(name).into(),
        permutation: Permutation::from_cycles(points, &cycles[name]).expect("checked above"),
    };
    let numbers = |(sets, wrong): (Vec<Vec<usize>>, Option<Located>)| {
        let number = |point| sets.iter().position(|set| set.contains(&point)).map_or(0, |i| i + 1);
        Some(((1..=points).map(number).collect(), wrong?))
    };
    Ok(PointSource {
        labels: (1..=points).collect(),
        equal: sets.and_then(numbers),
        generators: names.iter().map(generator).collect(),
        powers: false,
        line,
    })
}

/// The text with spaces in place of comments, so that every byte stays on its line.
fn without_remarks(text: &str) -> String {
    let line = |line: &str| match line.find('#') {
        Some(at) => line[..at].to_string(),
        None => line.to_string(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn generator_error(name: &str, value: &Statement, error: PuzzleError) -> Located {
    let line = value.line(error.byte());
    let name = shown(name, 32);
    PuzzleError::Generator { name, error: error.into() }.at(line)
}

/// Checks that a text is a valid name.
fn identifier(name: &Statement) -> Result<(), Located> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_@'\\.".contains(c);
    match !name.text.is_empty() && name.text.chars().all(allowed) {
        true => Ok(()),
        false => Err(name.syntax("the name of a permutation")),
    }
}

/// The parts of a bracketed list.
fn list<'a>(value: &Statement<'a>) -> Result<Vec<Statement<'a>>, Located> {
    let inner = value.text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let inner = inner.ok_or_else(|| value.syntax("a list in brackets"))?;
    let mut rest = Some(Statement::new(inner, value.line));
    let mut parts = Vec::new();
    while let Some(part) = rest {
        let (first, next) = match part.split(",") {
            Some((first, next)) => (first, Some(next)),
            None => (part, None),
        };
        rest = next;
        parts.push(first);
    }
    match parts.as_slice() {
        [only] if only.text.is_empty() => Ok(Vec::new()),
        _ => Ok(parts),
    }
}

/// Sets of identical pieces, and, for a puzzle whose pieces must all differ, the error for the first set with more than
/// one piece.
fn identical(value: &Statement) -> Result<(Vec<Vec<usize>>, Option<Located>), Located> {
    let inner = value.text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let inner = inner.ok_or_else(|| value.syntax("a list of lists in brackets"))?;
    let inner = Statement::new(inner, value.line);
    let (mut sets, mut wrong) = (Vec::new(), None);
    let mut at = 0;
    while at < inner.text.len() {
        let rest = Statement::new(&inner.text[at..], inner.line(at));
        let set = rest.text.trim_start_matches([',', ' ', '\t', '\r', '\n']);
        let members = set.strip_prefix('[').and_then(|set| set.split_once(']'));
        let (members, behind) = members.ok_or_else(|| rest.syntax("'[..]'"))?;
        if members.contains(',') && wrong.is_none() {
            let kind = PuzzleError::AlikePieces(shown(members, 32));
            wrong = Some(kind.at(inner.line(inner.text.len() - set.len())));
        }
        let point = |word: &str| word.trim().parse::<usize>().ok();
        let words = members.split(',').filter(|_| !members.trim().is_empty());
        let points: Option<Vec<usize>> = words.map(point).collect();
        sets.push(points.ok_or_else(|| rest.syntax("a list of points"))?);
        at = inner.text.len() - behind.len();
    }
    Ok((sets, wrong))
}
