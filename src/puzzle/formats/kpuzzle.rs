//! KPuzzle definitions in JSON, as cubing.js and twips read them.
//!
//! ```json
//! { "name": "ring",
//!   "orbits": [{ "orbitName": "PIECES", "numPieces": 4, "numOrientations": 1 }],
//!   "defaultPattern": { "PIECES": { "pieces": [0, 1, 2, 3], "orientation": [0, 0, 0, 0] } },
//!   "moves": { "L": { "PIECES": { "permutation": [1, 2, 3, 0], "orientationDelta": [0, 0, 0, 0] } } } }
//! ```
//!
//! Positions and pieces count from 0. The numbers of a move say which position each position takes its piece
//! from. All powers of a move count as one move; derived moves are left out.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::puzzle::formats::source::{FileErrorKind, Located, PointSource, once};
use crate::puzzle::notation::NotationError;
use crate::puzzle::{Generator, Permutation};
use crate::units::shown;

/// The members of an object in the order of the file.
struct Members<'a, T>(Vec<(String, T)>, PhantomData<&'a T>);

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Members<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each<'a, T>(PhantomData<&'a T>);

        impl<'de: 'a, 'a, T: Deserialize<'de>> Visitor<'de> for Each<'a, T> {
            type Value = Members<'a, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members, PhantomData))
            }
        }
        deserializer.deserialize_map(Each(PhantomData))
    }
}

/// A value and the text of the whole file: what is wrong with it has a line.
#[derive(Clone, Copy)]
struct Value<'a> {
    raw: &'a RawValue,
    text: &'a str,
}

impl<'a> Value<'a> {
    fn line(self) -> usize {
        // The value is borrowed from the text.
        let at = self.raw.get().as_ptr() as usize - self.text.as_ptr() as usize;
        1 + self.text[..at].matches('\n').count()
    }

    fn read<T: Deserialize<'a>>(self) -> Result<T, Located> {
        serde_json::from_str(self.raw.get()).map_err(|error| {
            let line = self.line() + error.line().saturating_sub(1);
            json_error(&error).at(line)
        })
    }

    /// The members of an object.
    fn members(self) -> Result<Vec<(String, Value<'a>)>, Located> {
        let Members(members, _) = self.read::<Members<'a, &'a RawValue>>()?;
        let text = self.text;
        let value = |(name, raw)| (name, Value { raw, text });
        Ok(members.into_iter().map(value).collect())
    }

    /// A member that must be there, once.
    fn member(self, name: &str) -> Result<Value<'a>, Located> {
        let optional = self.optional(name)?;
        let missing = || FileErrorKind::Missing(format!("\"{}\"", shown(name, 32))).at(self.line());
        optional.ok_or_else(missing)
    }

    /// A member that may be there, once.
    fn optional(self, name: &str) -> Result<Option<Value<'a>>, Located> {
        let mut found = self.members()?.into_iter().filter(|(n, _)| n == name);
        let first = found.next().map(|(_, value)| value);
        match found.next() {
            Some((name, value)) => {
                Err(FileErrorKind::Twice(format!("\"{}\"", shown(&name, 32))).at(value.line()))
            }
            None => Ok(first),
        }
    }

    /// A list of as many numbers as there are pieces.
    fn numbers(self, pieces: usize) -> Result<Vec<usize>, Located> {
        let numbers: Vec<usize> = self.read()?;
        match numbers.len() == pieces {
            true => Ok(numbers),
            false => {
                let (found, expected) = (numbers.len(), pieces);
                Err(FileErrorKind::Count { found, expected }.at(self.line()))
            }
        }
    }

    /// The numbers of a member, if it is there, must be zero.
    fn unturned(self, name: &str, pieces: usize) -> Result<(), Located> {
        let Some(value) = self.optional(name)? else {
            return Ok(());
        };
        match value.numbers(pieces)?.into_iter().find(|&turn| turn != 0) {
            Some(turn) => Err(FileErrorKind::Turned(turn.to_string()).at(value.line())),
            None => Ok(()),
        }
    }
}

/// What the parser of JSON says, without its own idea of the line.
fn json_error(error: &serde_json::Error) -> FileErrorKind {
    let text = error.to_string();
    let said = text.split(" at line ").next().unwrap_or_default();
    FileErrorKind::Json(shown(said, 200))
}

/// Returns what a file says.
pub(crate) fn read(text: &str) -> Result<PointSource, Located> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|e| json_error(&e).at(e.line()))?;
    let file = Value { raw, text };
    if let Some(counts) = file.optional("counts")? {
        return Err(FileErrorKind::Found.at(counts.line()));
    }
    let orbits = file.member("orbits")?;
    let all: Vec<&RawValue> = orbits.read()?;
    let mut all = all.into_iter().map(|raw| Value { raw, text });
    let missing = || FileErrorKind::Missing("a set of pieces".into()).at(orbits.line());
    let orbit = all.next().ok_or_else(missing)?;
    let orbit_name: String = orbit.member("orbitName")?.read()?;
    if let Some(second) = all.next() {
        let name = second.member("orbitName")?.read::<String>()?;
        return Err(FileErrorKind::SecondSet(shown(&name, 32)).at(second.line()));
    }
    let count = orbit.member("numPieces")?;
    let pieces: usize = count.read()?;
    if !(1..=Permutation::MAX_LEN).contains(&pieces) {
        return Err(FileErrorKind::Pieces(pieces.to_string()).at(count.line()));
    }
    let count = orbit.member("numOrientations")?;
    match count.read()? {
        1 => {}
        orientations => return Err(FileErrorKind::Orientations(orientations).at(count.line())),
    }
    let labels = match file.optional("defaultPattern")? {
        None => (0..pieces).collect(),
        Some(pattern) => pattern_labels(pattern, &orbit_name, pieces)?,
    };
    let moves = file.member("moves")?;
    let mut generators = Vec::new();
    for (name, value) in moves.members()? {
        once(&generators, &name).map_err(|kind| kind.at(value.line()))?;
        let permutation = move_permutation(&name, value, &orbit_name, pieces)?;
        generators.push(Generator { name, permutation });
    }
    Ok(PointSource {
        labels,
        generators: without_rotations(generators),
        powers: true,
        line: moves.line(),
    })
}

/// The pieces of the solved puzzle.
fn pattern_labels(pattern: Value, orbit: &str, pieces: usize) -> Result<Vec<usize>, Located> {
    let pattern = pattern.member(orbit)?;
    pattern.unturned("orientation", pieces)?;
    let list = pattern.member("pieces")?;
    let labels = list.numbers(pieces)?;
    for (i, label) in labels.iter().enumerate() {
        if labels[..i].contains(label) {
            let kind = FileErrorKind::EqualPieces(format!("{label} twice"));
            return Err(kind.at(list.line()));
        }
    }
    Ok(labels)
}

/// Where a move takes each piece.
fn move_permutation(
    name: &str,
    value: Value,
    orbit: &str,
    pieces: usize,
) -> Result<Permutation, Located> {
    // Sets that a move does not name stay.
    let Some(value) = value.optional(orbit)? else {
        return Ok(Permutation::identity(pieces));
    };
    value.unturned("orientationDelta", pieces)?;
    let list = value.member("permutation")?;
    let pulled = Permutation::new(&list.numbers(pieces)?).map_err(|error| {
        let (name, error) = (shown(name, 32), NotationError::Permutation(error));
        FileErrorKind::Generator { name, error }.at(list.line())
    })?;
    Ok(pulled.inverse())
}

// Rotations of a whole puzzle, which twsearch does not count as moves.

/// Whether a name is that of a rotation: x, y or z, or capitals and a v.
fn is_rotation(name: &str) -> bool {
    let axis = name.strip_prefix(['x', 'y', 'z']);
    let grip = name.strip_suffix('v').filter(|grip| !grip.is_empty());
    let capital = |c: char| c.is_ascii_uppercase() || c == '_';
    axis.is_some_and(|rest| matches!(rest, "" | "2" | "'"))
        || grip.is_some_and(|grip| grip.chars().all(capital))
}

/// Returns the moves that are no rotations.
pub(crate) fn without_rotations(mut generators: Vec<Generator>) -> Vec<Generator> {
    generators.retain(|generator| !is_rotation(&generator.name));
    generators
}
