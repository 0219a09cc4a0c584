//! ksolve definitions (`.def`) and those of twsearch (`.tws`).
//!
//! ```text
//! Name Ring            # only lines that begin with a # are remarks
//! Set PIECES 4 1       # name, pieces, orientations
//! Solved
//! PIECES
//! 1 2 3 4
//! End
//! Move L
//! PIECES
//! 2 3 4 1
//! 0 0 0 0              # orientations, may be left out
//! End
//! ```
//!
//! The numbers of a move say which position each position takes its piece from: 2 3 4 1 brings the piece at
//! position 2 to position 1. `StartState` and `MoveTransformation` are `Solved` and `Move` counted from 0. All
//! powers of a move count as one move.

use crate::puzzle::formats::kpuzzle::without_rotations;
use crate::puzzle::formats::source::{FileErrorKind, Located, PointSource, once};
use crate::puzzle::notation::NotationError;
use crate::puzzle::{Generator, Permutation};
use crate::units::shown;

/// A line that is neither empty nor a remark: its number and its words.
type KsolveLine<'a> = (usize, Vec<&'a str>);

struct KsolveReader<'a, I: Iterator<Item = KsolveLine<'a>>> {
    lines: I,
    set: Option<(&'a str, usize)>,
}

/// Returns what a file says.
pub(crate) fn read(text: &str) -> Result<PointSource, Located> {
    let lines = text.split(['\n']).enumerate().map(|(i, line)| (i + 1, line));
    let lines = lines.filter(|(_, line)| !line.starts_with('#'));
    let lines = lines.map(|(i, line)| (i, line.split_whitespace().collect::<Vec<_>>()));
    let mut reader =
        KsolveReader { lines: lines.filter(|(_, words)| !words.is_empty()), set: None };
    let (mut labels, mut generators, mut last) = (None, Vec::new(), 0);
    while let Some((line, words)) = reader.lines.next() {
        let end = |count: usize| match words.get(count) {
            Some(word) => Err(syntax(line, word, "the end of the line")),
            None => Ok(()),
        };
        let word = |at: usize, what: &str| {
            words.get(at).copied().ok_or_else(|| syntax(line, "the end of the line", what))
        };
        match words[0] {
            "Name" => end(2)?,
            "Set" => {
                let name = word(1, "the name of the set")?;
                if reader.set.is_some() {
                    return Err(FileErrorKind::SecondSet(shown(name, 32)).at(line));
                }
                let pieces = number(line, word(2, "the number of pieces")?)?;
                if !(1..=Permutation::MAX_LEN).contains(&pieces) {
                    return Err(FileErrorKind::Pieces(pieces.to_string()).at(line));
                }
                let orientations = number(line, word(3, "the number of orientations")?)?;
                if orientations != 1 {
                    return Err(FileErrorKind::Orientations(orientations).at(line));
                }
                end(4)?;
                reader.set = Some((name, pieces));
            }
            "Solved" | "StartState" => {
                if labels.is_some() {
                    return Err(FileErrorKind::Twice(words[0].into()).at(line));
                }
                end(1)?;
                labels = Some(reader.solved(line, usize::from(words[0] == "Solved"))?);
            }
            "Move" | "MoveTransformation" => {
                let name = word(1, "the name of the move")?;
                end(2)?;
                if labels.is_none() {
                    let solved = FileErrorKind::Missing("'Solved', before the first move,".into());
                    return Err(solved.at(line));
                }
                once(&generators, name).map_err(|kind| kind.at(line))?;
                last = line;
                let base = usize::from(words[0] == "Move");
                generators.push(reader.generator(line, name, base)?);
            }
            // Other names for moves that are there.
            "MoveAlias" => {}
            "MoveSequence" | "Illegal" => {
                return Err(FileErrorKind::Unsupported(words[0].into()).at(line));
            }
            found => {
                let expected = "Name, Set, Solved or Move";
                return Err(syntax(line, found, expected));
            }
        }
    }
    if generators.is_empty() {
        return Err(FileErrorKind::Missing("a 'Move'".into()).at(0));
    }
    Ok(PointSource {
        labels: labels.unwrap_or_default(),
        generators: without_rotations(generators),
        powers: true,
        line: last,
    })
}

impl<'a, I: Iterator<Item = KsolveLine<'a>>> KsolveReader<'a, I> {
    /// The labels of a solved position.
    fn solved(&mut self, line: usize, base: usize) -> Result<Vec<usize>, Located> {
        let (_, pieces) = self.set(line)?;
        let Some((line, words)) = self.numbers("Solved")? else {
            return Ok((base..pieces + base).collect());
        };
        let labels = words.iter().map(|word| number(line, word));
        let labels: Vec<usize> = labels.collect::<Result<_, _>>()?;
        for (i, label) in labels.iter().enumerate() {
            if labels[..i].contains(label) {
                let kind = FileErrorKind::EqualPieces(format!("{label} twice"));
                return Err(kind.at(line));
            }
        }
        Ok(labels)
    }

    fn generator(&mut self, line: usize, name: &str, base: usize) -> Result<Generator, Located> {
        let (_, pieces) = self.set(line)?;
        let shown_name = shown(name, 32);
        let permutation = match self.numbers(&shown_name)? {
            None => Permutation::identity(pieces),
            Some((line, words)) => {
                let sources = words.iter().map(|word| {
                    let number = number(line, word)?;
                    number.checked_sub(base).ok_or_else(|| syntax(line, word, "a position"))
                });
                let sources: Vec<usize> = sources.collect::<Result<_, _>>()?;
                let pulled = Permutation::new(&sources).map_err(|error| {
                    let error = NotationError::Permutation(error);
                    let name = shown_name.clone();
                    FileErrorKind::Generator { name, error }.at(line)
                })?;
                pulled.inverse()
            }
        };
        Ok(Generator { name: name.into(), permutation })
    }

    fn set(&self, line: usize) -> Result<(&'a str, usize), Located> {
        let missing = || FileErrorKind::Missing("'Set', before everything else,".into());
        self.set.ok_or_else(|| missing().at(line))
    }

    /// The numbers of the set up to `End`, none where it is left out. Orientations must be zero.
    fn numbers(&mut self, of: &str) -> Result<Option<KsolveLine<'a>>, Located> {
        let (name, pieces) = self.set(0)?;
        let mut begun = false;
        let mut found = None;
        let mut turned = false;
        loop {
            let missing = || FileErrorKind::Missing(format!("the 'End' of {of}")).at(0);
            let (line, words) = self.lines.next().ok_or_else(missing)?;
            let first = words[0];
            match first {
                "End" => {
                    if begun && found.is_none() {
                        return Err(syntax(line, "End", "numbers"));
                    }
                    return Ok(found);
                }
                _ if !begun => {
                    if first != name || words.len() > 1 {
                        return Err(syntax(line, &words.join(" "), name));
                    }
                    begun = true;
                }
                _ if words.len() != pieces || turned => {
                    if first.parse::<usize>().is_err() {
                        return Err(syntax(line, first, "numbers or End"));
                    }
                    let (found, expected) = (words.len(), pieces);
                    return Err(match turned {
                        true => syntax(line, first, "End"),
                        false => FileErrorKind::Count { found, expected }.at(line),
                    });
                }
                _ if found.is_none() => found = Some((line, words)),
                _ => {
                    turned = true;
                    if let Some(word) = words.iter().find(|word| **word != "0") {
                        return Err(FileErrorKind::Turned(shown(word, 32)).at(line));
                    }
                }
            }
        }
    }
}

fn number(line: usize, word: &str) -> Result<usize, Located> {
    let digits = word.bytes().all(|b| b.is_ascii_digit());
    let number = word.parse().ok().filter(|_| digits);
    number.ok_or_else(|| syntax(line, word, "a number"))
}

fn syntax(line: usize, found: &str, expected: &str) -> Located {
    let kind = FileErrorKind::Syntax { found: shown(found, 32), expected: shown(expected, 32) };
    kind.at(line)
}
