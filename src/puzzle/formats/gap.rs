//! GAP files: permutations, and the list of those that are moves.
//!
//! ```text
//! # what follows a # is a remark
//! M_U:=(1,10,7,4)(2,11,8,5);
//! M_R:=(3,6,9)(1,2);
//! Gen:=[M_U,M_R^-1*M_U];
//! ip:=[[1],[2]];
//! ```
//!
//! Points are counted from 1. A cycle (1,10,..) takes the element at 1 to 10. Products are made from the left to the
//! right. A leading `M_` is not part of the name. The list may have another name if there is only one, and
//! `Group(M_U,M_R)` is a list, too. `ip` lists sets of identical pieces; if one of these sets has several pieces, the
//! points that are in no set are identical as well. Inverses are added. Statements that define no permutation, such as
//! `Size(Group(Gen));`, are ignored.

use std::{collections::HashMap, rc::Rc};

use crate::{
    puzzle::{
        Permutation, PuzzleError,
        error::wrong,
        formats::source::{PointSource, line_of},
        notation::{DEEPEST, parse_cycles},
    },
    units::{joined, shown},
};

/// A part of a file, without the white space around it.
#[derive(Clone, Copy)]
struct GapPart<'a> {
    text: &'a str,
    file: &'a str,
}

/// A value, and what follows it.
type ReadPermutation<'a> = Result<(Permutation, GapPart<'a>), PuzzleError>;

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

    /// What is between two texts, if the part begins and ends with them.
    fn between(self, first: &str, last: char) -> Option<GapPart<'a>> {
        let inner = self.text.strip_prefix(first)?.trim_start();
        let inner = if first.ends_with(['[', '(']) { inner } else { inner.strip_prefix('(')? };
        Some(GapPart::new(inner.strip_suffix(last)?, self.file))
    }

    /// What is between brackets.
    fn inner(self, expected: &str) -> Result<GapPart<'a>, PuzzleError> {
        self.between("[", ']').ok_or_else(|| self.syntax(expected))
    }

    /// The parts between commas that are in no brackets.
    fn parts(self) -> Vec<GapPart<'a>> {
        let mut depth = 0usize;
        let is_end = |c: char| {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && c == ','
        };
        match self.text {
            "" => Vec::new(),
            text => text.split(is_end).map(|part| GapPart::new(part, self.file)).collect(),
        }
    }

    fn syntax(self, expected: &str) -> PuzzleError {
        PuzzleError::syntax(0, self.text, expected).at(self.line())
    }

    /// The part from a byte on.
    fn from(self, at: usize) -> GapPart<'a> {
        GapPart::new(&self.text[at..], self.file)
    }
}

/// Permutations of a list, with the names of those that have one, and the line of the list.
type GapList<'a> = (Vec<(Option<&'a str>, Permutation)>, usize);

/// What a file has defined so far.
#[derive(Default)]
struct GapNames<'a> {
    permutations: HashMap<&'a str, Permutation>,
    lists: Vec<(&'a str, Rc<GapList<'a>>)>,
    /// The places of lists by their names, which may be several, and the names of anything else.
    others: HashMap<&'a str, Option<usize>>,
}

const GROUPS: [&str; 3] = ["Group", "GroupWithGenerators", "GroupByGenerators"];

impl<'a> GapNames<'a> {
    fn has(&self, name: &str) -> bool {
        self.permutations.contains_key(name) || self.others.contains_key(name)
    }

    fn list_called(&self, name: &str) -> Option<&Rc<GapList<'a>>> {
        Some(&self.lists[(*self.others.get(name)?)?].1)
    }

    /// The permutations of a list, a group or the name of one.
    fn list(&self, value: GapPart<'a>) -> Result<Rc<GapList<'a>>, PuzzleError> {
        let named = value.between("GeneratorsOfGroup", ')').unwrap_or(value);
        if let Some(list) = self.list_called(named.text) {
            return Ok(list.clone());
        }
        let group = GROUPS.iter().find_map(|name| value.between(name, ')'));
        let is_list =
            |inner: &GapPart| inner.text.starts_with('[') || self.list_called(inner.text).is_some();
        if let Some(inner) = group.filter(is_list) {
            return self.list(inner);
        }
        let inner = group.map_or_else(|| value.inner("a list in brackets"), Ok)?;
        let each = inner.parts().into_iter().map(|part| {
            let name = self.permutations.get_key_value(part.text).map(|(name, _)| *name);
            Ok((name, self.permutation(part)?))
        });
        Ok(Rc::new((each.collect::<Result<_, PuzzleError>>()?, value.line())))
    }

    /// The value of an expression with products, quotients, powers and brackets.
    fn permutation(&self, part: GapPart<'a>) -> Result<Permutation, PuzzleError> {
        let (value, rest) = self.product(part, 0)?;
        if rest.text.is_empty() { Ok(value) } else { Err(rest.syntax("'*', '^' or the end")) }
    }

    /// Reads a product, inside so many brackets, at the beginning of a part, and returns what follows.
    fn product(&self, part: GapPart<'a>, depth: usize) -> ReadPermutation<'a> {
        let (mut all, mut rest) = self.power(part, depth)?;
        while let Some(sign) = rest.text.chars().next().filter(|sign| "*/".contains(*sign)) {
            let (next, behind) = self.power(rest.from(1), depth)?;
            all = all.then(&if sign == '/' { next.inverse() } else { next });
            rest = behind;
        }
        Ok((all, rest))
    }

    fn power(&self, part: GapPart<'a>, depth: usize) -> ReadPermutation<'a> {
        let (mut value, mut rest) = self.factor(part, depth)?;
        while rest.text.starts_with('^') {
            let by = rest.from(1);
            let digits = |c: char| c.is_ascii_digit() || c == '-';
            let number = by.text.split(|c| !digits(c)).next().unwrap_or_default();
            if number.is_empty() {
                // Conjugated by a permutation.
                let (next, behind) = self.factor(by, depth)?;
                (value, rest) = (next.inverse().then(&value).then(&next), behind);
                continue;
            }
            let times: i64 = number.parse().map_err(|_| by.syntax("a number"))?;
            value = value.power(times);
            rest = by.from(number.len());
        }
        Ok((value, rest))
    }

    /// Reads cycles, a name, or an expression in brackets.
    fn factor(&self, part: GapPart<'a>, depth: usize) -> ReadPermutation<'a> {
        let begins =
            |text: &str| text.strip_prefix('(').map(|rest| rest.trim_start().chars().next());
        match begins(part.text) {
            Some(Some(c)) if !c.is_ascii_digit() && c != ')' => {
                if depth == DEEPEST {
                    return Err(part.syntax(&format!("at most {DEEPEST} brackets in brackets")));
                }
                let (value, rest) = self.product(part.from(1), depth + 1)?;
                match rest.text.strip_prefix(')') {
                    Some(_) => Ok((value, rest.from(1))),
                    None => Err(rest.syntax("a point or ')'")),
                }
            }
            Some(_) => {
                let mut end = 0;
                while matches!(begins(part.text[end..].trim_start()), Some(first)
                    if first.is_none_or(|c| c.is_ascii_digit() || c == ')'))
                {
                    let close = part.text[end..].find(')');
                    end = close.map_or(part.text.len(), |close| end + close + 1);
                }
                let cycles = parse_cycles(&part.text[..end]);
                let read =
                    cycles.and_then(|all| Permutation::from_cycles(Permutation::MAX_LEN, &all));
                let read = read.map_err(|error| {
                    let line = line_of(&part.text[error.byte()..], part.file);
                    error.at(line)
                })?;
                Ok((read, part.from(end)))
            }
            None => {
                let name = part.text.split(|c| !is_of_name(c)).next().unwrap_or_default();
                let read = self.permutations.get(name).filter(|_| !name.is_empty());
                let unknown = || match name.is_empty() && !part.text.is_empty() {
                    true => part.syntax("a permutation"),
                    false => wrong!(Unknown: "'{}' is used before it is defined", shown(name, 32))
                        .at(part.line()),
                };
                Ok((read.ok_or_else(unknown)?.clone(), part.from(name.len())))
            }
        }
    }

    /// The list of moves: `Gen`, or the only one.
    fn moves(self, wrong: Option<PuzzleError>) -> Result<Rc<GapList<'a>>, PuzzleError> {
        if let Some(own) = self.list_called("Gen") {
            return Ok(own.clone());
        }
        let mut lists = self.lists.iter().filter(|(_, list)| !list.0.is_empty());
        let Some((one, first)) = lists.next() else {
            let missing = || wrong!(Missing: "the list of moves ('Gen:=[..];') is missing").at(0);
            return Err(wrong.unwrap_or_else(missing));
        };
        let differs = |(_, other): &&(&str, Rc<GapList>)| {
            let moves = |(_, permutation): &(_, Permutation)| permutation.clone();
            !Rc::ptr_eq(first, other) && !first.0.iter().map(moves).eq(other.0.iter().map(moves))
        };
        match lists.find(differs) {
            Some((other, list)) => Err(wrong!(Syntax: "'{}' and '{}' are different lists of \
                permutations: call the list of moves Gen", shown(one, 32), shown(other, 32))
            .at(list.1)),
            None => Ok(first.clone()),
        }
    }
}

pub(crate) fn read(text: &str) -> Result<PointSource, PuzzleError> {
    // Every byte stays on its line.
    let file = text.split('\n').map(|line| line.split('#').next().unwrap_or_default());
    let file = joined(file, "\n");
    let (mut names, mut sets, mut wrong) = (GapNames::default(), None, None);
    let mut rest = GapPart::new(&file, &file);
    while !rest.text.is_empty() {
        let end = rest.split(";");
        let (statement, next) = end.ok_or_else(|| rest.syntax("a statement that ends in ';'"))?;
        rest = next;
        let Some((name, value)) = statement.split(":=") else {
            // What computes something, such as `Size(G)`, defines nothing.
            if statement.text.is_empty() || statement.text.ends_with([')', '"']) {
                continue;
            }
            return Err(statement.syntax("'NAME:=..;'"));
        };
        if value.split(":=").is_some() {
            let name = shown(name.text, 32);
            return Err(wrong!(Syntax: "the ';' after the statement of {name} is missing")
                .at(statement.line()));
        }
        if name.text == "ip" {
            sets = Some(identical(value)?);
            continue;
        }
        identifier(name)?;
        if names.has(name.text) {
            return Err(wrong!(Twice: "{} occurs twice", shown(name.text, 32)).at(name.line()));
        }
        let behind = value.text.trim_start_matches(is_of_name);
        let is_call = behind.len() < value.text.len() && behind.trim_start().starts_with('(');
        let is_list = name.text == "Gen"
            || value.text.starts_with('[')
            || names.list_called(value.text).is_some();
        if is_list || is_call {
            match names.list(value) {
                Ok(list) => {
                    names.others.insert(name.text, Some(names.lists.len()));
                    names.lists.push((name.text, list));
                }
                Err(error) if name.text == "Gen" => return Err(error),
                // Numbers, or what another function computes.
                Err(error) => {
                    let is_group = GROUPS.iter().any(|group| value.between(group, ')').is_some());
                    wrong = wrong.or((is_group || !is_call).then_some(error));
                    names.others.insert(name.text, None);
                }
            }
        } else if value.text.starts_with(|c: char| c.is_ascii_digit() || "-\"".contains(c)) {
            names.others.insert(name.text, None);
        } else {
            let read =
                names.permutation(value).map_err(|error| error.behind(shown(name.text, 32)))?;
            names.permutations.insert(name.text, read);
        }
    }
    let moves = names.moves(wrong)?;
    let (moves, line) = &*moves;
    if moves.is_empty() {
        return Err(PuzzleError::no_generators().at(*line));
    }
    let largest = |of: &Permutation| (0..of.len()).rev().find(|&point| of.image(point) != point);
    let largest = moves.iter().filter_map(|(_, permutation)| largest(permutation)).max();
    let points = largest.map_or(0, |point| point + 1);
    let stripped = |name: &'_ str| match name.strip_prefix("M_") {
        Some(rest) if !rest.is_empty() => rest.to_string(),
        _ => name.to_string(),
    };
    let generator = |(index, (name, of)): (usize, &(Option<&str>, Permutation))| {
        (
            name.map_or_else(|| format!("g{}", index + 1), stripped),
            Permutation::from_fn(points, |point| of.image(point)),
        )
    };
    let numbers = |sets: Vec<Vec<usize>>| {
        let number = |point| sets.iter().position(|set| set.contains(&point)).map_or(0, |i| i + 1);
        let is_alike = sets.iter().any(|set| set.len() > 1);
        is_alike.then(|| (1..=points).map(number).collect())
    };
    Ok(PointSource {
        labels: (1..=points).collect(),
        equal: sets.and_then(numbers),
        moves: moves.iter().enumerate().map(generator).collect(),
        line: *line,
    })
}

/// Whether a character can be in a name.
fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_@'\\.".contains(c)
}

/// Checks that a text is a valid name.
fn identifier(name: GapPart) -> Result<(), PuzzleError> {
    match !name.text.is_empty() && name.text.chars().all(is_of_name) {
        true => Ok(()),
        false => Err(name.syntax("the name of a permutation")),
    }
}

/// Sets of identical pieces.
fn identical(value: GapPart) -> Result<Vec<Vec<usize>>, PuzzleError> {
    let mut rest = value.inner("a list of lists in brackets")?;
    let mut sets = Vec::new();
    while !rest.text.is_empty() {
        let set = rest.text.trim_start_matches([',', ' ', '\t', '\r', '\n']);
        let members = set.strip_prefix('[').and_then(|set| set.split_once(']'));
        let (members, behind) = members.ok_or_else(|| rest.syntax("'[..]'"))?;
        let point = |word: &str| word.trim().parse::<usize>().ok();
        let words = members.split(',').filter(|_| !members.trim().is_empty());
        let points: Option<Vec<usize>> = words.map(point).collect();
        sets.push(points.ok_or_else(|| rest.syntax("a list of points"))?);
        rest = GapPart::new(behind, value.file);
    }
    Ok(sets)
}
