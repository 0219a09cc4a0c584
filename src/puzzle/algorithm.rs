//! Sequences of moves in the usual notation: `R U2 R' [F, D3] (L R)2`.
//!
//! `(A B)` is A followed by B, `[A, B]` is A B A' B', and `[A: B]` is A B A'. A number repeats the part before it, and
//! a ' inverts it. Names of moves take precedence: if a move is named `F2`, then `F2` is that move.

use crate::{
    puzzle::{
        PuzzleError,
        error::MAX_REPETITIONS,
        orbits::{Orbit, Transformation},
    },
    units::shown,
};

/// Maximum depth of nested brackets.
const DEEPEST: usize = 64;

struct Reader<'a, F> {
    orbits: &'a [Orbit],
    named: F,
    words: std::iter::Peekable<std::vec::IntoIter<String>>,
    /// The number of open brackets.
    depth: usize,
}

/// Returns the transformation of a sequence of moves. A function provides the transformation of each name.
///
/// # Errors
/// [`PuzzleError`] for the first error in the text.
pub fn transformation<F>(
    text: &str,
    orbits: &[Orbit],
    named: F,
) -> Result<Transformation, PuzzleError>
where
    F: Fn(&str) -> Option<Transformation>,
{
    let mut reader = Reader { orbits, named, words: words(text).into_iter().peekable(), depth: 0 };
    let all = reader.sequence()?;
    match reader.words.next() {
        Some(word) => Err(out_of_place(&word)),
        None => Ok(all),
    }
}

/// Splits a text into names, brackets (each closing one with its suffix), and separators.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for c in text.chars() {
        match c {
            '(' | '[' | ',' | ':' => words.push(c.into()),
            ')' | ']' => words.push(c.into()),
            c if c.is_whitespace() => {}
            // A suffix directly after a bracket belongs to it.
            c if open => words.last_mut().expect("one is open").push(c),
            c => words.push(c.into()),
        }
        open = !c.is_whitespace() && !"([,:".contains(c);
    }
    words
}

/// Splits a word into the part before the suffix, the number, and whether there is a '.
fn repeated(word: &str) -> Option<(&str, u32, bool)> {
    let (rest, back) = word.strip_suffix('\'').map_or((word, false), |rest| (rest, true));
    let name = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    let times = match &rest[name.len()..] {
        "" => 1,
        digits => digits.parse().ok().filter(|&times| times <= MAX_REPETITIONS)?,
    };
    Some((name, times, back))
}

/// What is found where a text ends.
const END: &str = "end";

fn out_of_place(word: &str) -> PuzzleError {
    PuzzleError::MoveOutOfPlace(match word {
        END => "a bracket is not closed".into(),
        word => format!("unexpected '{}'", shown(word, 32)),
    })
}

impl<F: Fn(&str) -> Option<Transformation>> Reader<'_, F> {
    fn sequence(&mut self) -> Result<Transformation, PuzzleError> {
        let mut all = Transformation::identity(self.orbits);
        while let Some(word) = self.words.next_if(|word| !word.starts_with([')', ']', ',', ':'])) {
            let deep = self.depth == DEEPEST && matches!(word.as_str(), "(" | "[");
            self.depth += usize::from(matches!(word.as_str(), "(" | "["));
            let one = match word.as_str() {
                _ if deep => return Err(out_of_place(&word)),
                "(" => {
                    let inner = self.sequence()?;
                    self.closed(')', inner)?
                }
                "[" => self.pair()?,
                name => self.name(name)?,
            };
            all = all.then(&one, self.orbits);
        }
        Ok(all)
    }

    /// Reads the contents of square brackets.
    fn pair(&mut self) -> Result<Transformation, PuzzleError> {
        let first = self.sequence()?;
        let between = self.words.next().unwrap_or_else(|| END.into());
        let second = self.sequence()?;
        let both = first.then(&second, self.orbits).then(&first.inverse(self.orbits), self.orbits);
        match between.as_str() {
            ":" => self.closed(']', both),
            "," => {
                let all = both.then(&second.inverse(self.orbits), self.orbits);
                self.closed(']', all)
            }
            _ => Err(out_of_place(&between)),
        }
    }

    fn closed(&mut self, by: char, of: Transformation) -> Result<Transformation, PuzzleError> {
        let word = self.words.next().unwrap_or_else(|| END.into());
        match repeated(&word) {
            Some((bracket, times, back)) if bracket.chars().eq([by]) => {
                self.depth -= 1;
                Ok(self.times(of, times, back))
            }
            _ => Err(out_of_place(&word)),
        }
    }

    fn name(&self, word: &str) -> Result<Transformation, PuzzleError> {
        if let Some(whole) = (self.named)(word) {
            return Ok(whole);
        }
        let often = || PuzzleError::RepeatedOften(shown(word, 32));
        let (name, times, back) = repeated(word).ok_or_else(often)?;
        // `F2'` may be the inverse of the move `F2`.
        let plain = word.strip_suffix('\'').and_then(|plain| (self.named)(plain));
        match (plain, (self.named)(name)) {
            (Some(plain), _) => Ok(self.times(plain, 1, true)),
            (None, Some(one)) => Ok(self.times(one, times, back)),
            (None, None) => {
                Err(PuzzleError::UnknownMove { name: shown(word, 32), of: String::new() })
            }
        }
    }

    fn times(&self, one: Transformation, times: u32, back: bool) -> Transformation {
        let one = if back { one.inverse(self.orbits) } else { one };
        let mut all = Transformation::identity(self.orbits);
        for _ in 0..times {
            all = all.then(&one, self.orbits);
        }
        all
    }
}
