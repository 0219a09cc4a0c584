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
        formats::source::{Located, PointSource, line_of},
        notation::parse_cycles,
    },
    units::{joined, shown},
};

/// A part of a file, without the white space around it.
#[derive(Clone, Copy)]
struct GapPart<'a> {
    text: &'a str,
    file: &'a str,
}

impl<'a> GapPart<'a> {
    fn new(text: &'a str, file: &'a str) -> GapPart<'a> {
        // In this order, so that what is empty is at its end, where something is missing.
        GapPart { text: text.trim_start().trim_end(), file }
    }

    fn line(self) -> usize {
        line_of(self.text, self.file)
    }

    /// Splits the part at the first occurrence of a text.
    fn split(self, by: &str) -> Option<(GapPart<'a>, GapPart<'a>)> {
        let (left, right) = self.text.split_once(by)?;
        Some((GapPart::new(left, self.file), GapPart::new(right, self.file)))
    }

    /// What is between brackets.
    fn inner(self, expected: &str) -> Result<GapPart<'a>, Located> {
        let inner = self.text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        inner.map(|inner| GapPart::new(inner, self.file)).ok_or_else(|| self.syntax(expected))
    }

    fn syntax(self, expected: &str) -> Located {
        PuzzleError::syntax(0, self.text, expected).at(self.line())
    }
}

pub(crate) fn read(text: &str) -> Result<PointSource, Located> {
    // Every byte stays on its line.
    let file = text.split('\n').map(|line| line.split('#').next().unwrap_or_default());
    let file = joined(file, "\n");
    let mut cycles: HashMap<&str, Vec<Vec<usize>>> = HashMap::new();
    let (mut moves, mut sets) = (None, None);
    let mut rest = GapPart::new(&file, &file);
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
                return Err(PuzzleError::ThereTwice("Gen".into()).at(name.line()));
            }
            "Gen" => {
                let names = list(value)?;
                if names.is_empty() {
                    return Err(PuzzleError::NoGenerators.at(value.line()));
                }
                if let Some(name) = names.iter().find(|name| !cycles.contains_key(name.text)) {
                    return Err(PuzzleError::Undefined(shown(name.text, 32)).at(name.line()));
                }
                let names: Vec<&str> = names.iter().map(|name| name.text).collect();
                moves = Some((names, value.line()));
            }
            "ip" => sets = Some(identical(value)?),
            word => {
                identifier(name)?;
                let read = parse_cycles(value.text).and_then(|read| {
                    // Whether it is a permutation does not depend on the points that are fixed.
                    Permutation::from_cycles(Permutation::MAX_LEN, &read)?;
                    Ok(read)
                });
                let read = read.map_err(|error| {
                    let line = line_of(&value.text[error.byte()..], value.file);
                    error.in_move(shown(word, 32)).at(line)
                })?;
                if cycles.insert(word, read).is_some() {
                    return Err(PuzzleError::ThereTwice(shown(word, 32)).at(name.line()));
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
        line,
    })
}

/// Checks that a text is a valid name.
fn identifier(name: GapPart) -> Result<(), Located> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_@'\\.".contains(c);
    match !name.text.is_empty() && name.text.chars().all(allowed) {
        true => Ok(()),
        false => Err(name.syntax("the name of a permutation")),
    }
}

/// The parts of a bracketed list.
fn list(value: GapPart) -> Result<Vec<GapPart>, Located> {
    let inner = value.inner("a list in brackets")?;
    match inner.text {
        "" => Ok(Vec::new()),
        text => Ok(text.split(',').map(|part| GapPart::new(part, value.file)).collect()),
    }
}

/// Sets of identical pieces, and, for a puzzle whose pieces must all differ, the error for the first set with more than
/// one piece.
fn identical(value: GapPart) -> Result<(Vec<Vec<usize>>, Option<Located>), Located> {
    let mut rest = value.inner("a list of lists in brackets")?;
    let (mut sets, mut wrong) = (Vec::new(), None);
    while !rest.text.is_empty() {
        let set = rest.text.trim_start_matches([',', ' ', '\t', '\r', '\n']);
        let members = set.strip_prefix('[').and_then(|set| set.split_once(']'));
        let (members, behind) = members.ok_or_else(|| rest.syntax("'[..]'"))?;
        if members.contains(',') && wrong.is_none() {
            let kind = PuzzleError::AlikePieces(shown(members, 32));
            wrong = Some(kind.at(line_of(set, value.file)));
        }
        let point = |word: &str| word.trim().parse::<usize>().ok();
        let words = members.split(',').filter(|_| !members.trim().is_empty());
        let points: Option<Vec<usize>> = words.map(point).collect();
        sets.push(points.ok_or_else(|| rest.syntax("a list of points"))?);
        rest = GapPart::new(behind, value.file);
    }
    Ok((sets, wrong))
}
