//! KPuzzle definitions in JSON, in the form that cubing.js and twips read.
//!
//! ```json
//! { "name": "ring",
//!   "orbits": [{ "orbitName": "PIECES", "numPieces": 4, "numOrientations": 1 }],
//!   "defaultPattern": { "PIECES": { "pieces": [0, 1, 2, 3], "orientation": [0, 0, 0, 0] } },
//!   "moves": { "L": { "PIECES": { "permutation": [1, 2, 3, 0], "orientationDelta": [0, 0, 0, 0] } } } }
//! ```
//!
//! Positions and pieces are counted from 0. The numbers of a move give, for each position, the position that its piece
//! comes from, and by how much the piece turns on the way. `orientationMod` gives, for each piece, how many of its
//! orientations differ, with 0 for all. Older files have other names: `orbits` is an object, `startStateData` or
//! `startPieces` is the default pattern, and moves have an `orientation`. All powers of a move count as one move.
//! Derived moves are left out.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{
    puzzle::{
        Permutation, PuzzleError, SetAction, Transformation,
        error::wrong,
        formats::source::{
            FilePiece, FileSequence, FileSet, SetSource, line_of, turn, wrong_numbers,
        },
    },
    units::shown,
};

/// The members of an object, in file order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Deserialize<'a> for Members<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Members<'a>, D::Error> {
        struct MemberVisitor;

        impl<'a> Visitor<'a> for MemberVisitor {
            type Value = Members<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Members<'a>, A::Error> {
                let next = || map.next_entry().transpose();
                Ok(Members(std::iter::from_fn(next).collect::<Result<_, _>>()?))
            }
        }
        deserializer.deserialize_map(MemberVisitor)
    }
}

/// A value together with the text of the whole file, so that errors have line numbers.
#[derive(Clone, Copy)]
struct Value<'a> {
    raw: &'a RawValue,
    text: &'a str,
}

impl<'a> Value<'a> {
    fn line(self) -> usize {
        // The value is borrowed from the text.
        line_of(self.raw.get(), self.text)
    }

    fn read<T: Deserialize<'a>>(self) -> Result<T, PuzzleError> {
        serde_json::from_str(self.raw.get()).map_err(|error| {
            let line = self.line() + error.line().saturating_sub(1);
            json_error(&error).at(line)
        })
    }

    fn members(self) -> Result<Vec<(String, Value<'a>)>, PuzzleError> {
        let Members(members) = self.read()?;
        let value = |(name, raw)| (name, Value { raw, ..self });
        Ok(members.into_iter().map(value).collect())
    }

    /// A required member, which must occur once.
    fn member(self, name: &str) -> Result<Value<'a>, PuzzleError> {
        let optional = self.optional(name)?;
        let missing = || wrong!(Missing: "\"{}\" is missing", shown(name, 32)).at(self.line());
        optional.ok_or_else(missing)
    }

    /// An optional member, which may occur once.
    fn optional(self, name: &str) -> Result<Option<Value<'a>>, PuzzleError> {
        let mut found = self.members()?.into_iter().filter(|(n, _)| n == name);
        let first = found.next().map(|(_, value)| value);
        match found.next() {
            Some((name, value)) => {
                Err(wrong!(Twice: "\"{}\" occurs twice", shown(&name, 32)).at(value.line()))
            }
            None => Ok(first),
        }
    }

    /// As [`Value::optional`], of a member that has another name in older files.
    fn either(self, [name, older]: [&str; 2]) -> Result<Option<Value<'a>>, PuzzleError> {
        Ok(self.optional(name)?.or(self.optional(older)?))
    }

    /// As [`Value::member`], of a member that has another name in older files.
    fn required(self, names: [&str; 2]) -> Result<Value<'a>, PuzzleError> {
        self.either(names)?.map_or_else(|| self.member(names[0]), Ok)
    }

    /// A list with one number per piece.
    fn numbers(self, pieces: usize) -> Result<Vec<usize>, PuzzleError> {
        let numbers: Vec<usize> = self.read()?;
        match numbers.len() == pieces {
            true => Ok(numbers),
            false => Err(wrong_numbers(numbers.len(), pieces).at(self.line())),
        }
    }

    /// The turns in a member, each less than the number of orientations; all zero if it is left out.
    fn turns(
        self,
        names: [&str; 2],
        pieces: usize,
        orientations: u8,
    ) -> Result<Vec<u8>, PuzzleError> {
        let Some(value) = self.either(names)? else {
            return Ok(vec![0; pieces]);
        };
        let turns = value.numbers(pieces)?.into_iter();
        let turns = turns.map(|by| turn(&by.to_string(), orientations));
        turns.collect::<Result<_, _>>().map_err(|kind| kind.at(value.line()))
    }
}

/// The message of the JSON parser, without its own line number.
fn json_error(error: &serde_json::Error) -> PuzzleError {
    let text = error.to_string();
    let said = text.split(" at line ").next().unwrap_or_default();
    wrong!(Syntax: "{}", shown(said, 200))
}

pub(crate) fn read(text: &str) -> Result<SetSource, PuzzleError> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|e| json_error(&e).at(e.line()))?;
    let file = Value { raw, text };
    if let Some(counts) = file.optional("counts")? {
        return Err(wrong!(Unsupported: "the file contains the result of a search, not the \
            definition of a puzzle: specify the puzzle itself")
        .at(counts.line()));
    }
    let orbits = file.member("orbits")?;
    let sets: Result<Vec<FileSet>, PuzzleError> = match orbits.raw.get().starts_with('{') {
        true => orbits.members()?.into_iter().map(|(name, orbit)| set(name, orbit)).collect(),
        false => {
            let all: Vec<&RawValue> = orbits.read()?;
            let all = all.into_iter().map(|raw| Value { raw, text });
            all.map(|orbit| set(orbit.member("orbitName")?.read()?, orbit)).collect()
        }
    };
    let sets = sets?;
    if sets.is_empty() {
        return Err(wrong!(Missing: "a set of pieces is missing").at(orbits.line()));
    }
    let mut source = SetSource { sets, ..SetSource::default() };
    let pattern = file.either(["defaultPattern", "startStateData"])?;
    if let Some(pattern) = pattern.or(file.optional("startPieces")?) {
        for set in &mut source.sets {
            solved(pattern.member(&set.name)?, set)?;
        }
    }
    let moves = file.member("moves")?;
    source.line = moves.line();
    for (name, value) in moves.members()? {
        source.check_new(&name, value.line())?;
        let turns = source.sets.iter().map(|set| effect(&name, value, set));
        let of = Transformation(turns.collect::<Result<_, _>>()?);
        source.moves.push((name, of));
    }
    let mut derived = Vec::new();
    if let Some(moves) = file.optional("derivedMoves")? {
        for (name, value) in moves.members()? {
            let (text, line) = (value.read()?, value.line());
            derived.push(FileSequence { name, text, line, is_move: false });
        }
    }
    source.resolve(derived)?;
    Ok(source)
}

/// A set of pieces that all differ.
fn set(name: String, orbit: Value) -> Result<FileSet, PuzzleError> {
    let number = |value: Value| Ok::<_, PuzzleError>((value.read()?, value.line()));
    let orientations = orbit.required(["numOrientations", "orientations"])?;
    FileSet::new(name, number(orbit.member("numPieces")?)?, number(orientations)?)
}

/// Reads which piece is at each position of the solved puzzle.
fn solved(pattern: Value, set: &mut FileSet) -> Result<(), PuzzleError> {
    let pieces = set.solved.len();
    let list = pattern.required(["pieces", "permutation"])?;
    let numbers = list.numbers(pieces)?;
    let turns = pattern.turns(["orientation"; 2], pieces, set.orientations)?;
    let moduli = match pattern.optional("orientationMod")? {
        Some(value) => {
            let moduli = value.numbers(pieces)?;
            // 0 stands for all orientations.
            let all = usize::from(set.orientations);
            if let Some(&modulus) = moduli.iter().find(|&&m| m != 0 && all % m != 0) {
                return Err(wrong!(Syntax: "expected a value of 'orientationMod' that divides \
                    {all}, found {modulus}")
                .at(value.line()));
            }
            moduli.into_iter().map(|m| if m == 0 { set.orientations } else { m as u8 }).collect()
        }
        None => vec![set.orientations; pieces],
    };
    let placed = numbers.into_iter().zip(moduli).zip(turns);
    let piece = |((number, modulus), turn)| FilePiece { number, modulus, turn: turn % modulus };
    set.solved = placed.map(piece).collect();
    Ok(())
}

/// The effect of a move on a set; a set that the move does not mention is unchanged.
fn effect(name: &str, value: Value, set: &FileSet) -> Result<SetAction, PuzzleError> {
    let pieces = set.solved.len();
    let Some(value) = value.optional(&set.name)? else {
        return Ok(SetAction::still(pieces));
    };
    let twist = value.turns(["orientationDelta", "orientation"], pieces, set.orientations)?;
    let list = value.member("permutation")?;
    let pulled = Permutation::numbered_from(0, &list.numbers(pieces)?);
    let pulled = pulled.map_err(|error| error.behind(shown(name, 32)).at(list.line()))?;
    Ok(SetAction { source: pulled.images().to_vec(), twist })
}
