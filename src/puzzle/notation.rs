//! Text forms of permutations: cycles, or the list of their images.
//!
//! Invariant: printed text is read back as the same permutation.

use crate::{
    puzzle::{Permutation, PuzzleError},
    units::shown,
};

/// Words, brackets and commas of a text, each with its byte offset.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    let mut word = None;
    for (at, c) in text.char_indices() {
        let single = matches!(c, '(' | ')' | ',');
        if single || c.is_whitespace() {
            if let Some(begin) = word.take() {
                tokens.push((begin, &text[begin..at]));
            }
            if single {
                tokens.push((at, &text[at..at + 1]));
            }
        } else {
            word.get_or_insert(at);
        }
    }
    tokens.extend(word.map(|begin| (begin, &text[begin..])));
    tokens
}

/// Returns the point, counted from 0, for a word that counts from `base`.
fn point(at: usize, word: &str, base: usize) -> Result<usize, PuzzleError> {
    if !word.bytes().all(|b| b.is_ascii_digit()) {
        return Err(syntax(at, word, "a point"));
    }
    let number = word.parse().ok().and_then(|n: usize| n.checked_sub(base));
    let number = number.filter(|&n| n < Permutation::MAX_LEN);
    number.ok_or_else(|| PuzzleError::NoPoint { at, found: shown(word, 32), base })
}

/// What is found where a text ends.
const END: &str = "the end";

fn syntax(at: usize, found: &str, expected: &'static str) -> PuzzleError {
    let found = if found == END { found.into() } else { format!("'{}'", shown(found, 32)) };
    PuzzleError::CycleSyntax { at, found, expected }
}

/// Returns the cycles written in a text, with points counted from 1 in the text and from 0 in the result:
/// `(1,10,7)(2,11)`, `()`.
///
/// ```
/// use tilewave::puzzle::notation;
/// assert_eq!(notation::parse_cycles("(1,10,7) (2,11)")?, [vec![0, 9, 6], vec![1, 10]]);
/// assert_eq!(notation::parse_cycles("(1,2").unwrap_err().to_string(), "expected ',' or ')', found the end");
/// # Ok::<(), tilewave::puzzle::PuzzleError>(())
/// ```
///
/// # Errors
/// [`PuzzleError`] for the first error in the text.
pub fn parse_cycles(text: &str) -> Result<Vec<Vec<usize>>, PuzzleError> {
    let mut cycles = Vec::new();
    let mut tokens = tokens(text).into_iter();
    let end = (text.len(), END);
    while let Some((at, word)) = tokens.next().or(cycles.is_empty().then_some(end)) {
        if word != "(" {
            return Err(syntax(at, word, "'('"));
        }
        let mut cycle = Vec::new();
        loop {
            let (at, word) = tokens.next().unwrap_or(end);
            if word == ")" && cycle.is_empty() {
                break;
            }
            cycle.push(point(at, word, 1)?);
            match tokens.next().unwrap_or(end) {
                (_, ")") => break,
                (_, ",") => {}
                (at, word) => return Err(syntax(at, word, "',' or ')'")),
            }
        }
        cycles.push(cycle);
    }
    Ok(cycles)
}

/// Returns the permutation of `points` points that a text gives in cycles, with points counted from 1.
///
/// # Errors
/// [`PuzzleError`] if the text is not a permutation.
pub fn parse_cycle_notation(text: &str, points: usize) -> Result<Permutation, PuzzleError> {
    Permutation::from_cycles(points, &parse_cycles(text)?)
}

/// Returns the permutation whose images a text lists, separated by spaces or commas and counted from `base`.
///
/// ```
/// use tilewave::puzzle::notation;
/// let images = notation::parse_one_line("2 3 1", 1)?;
/// assert_eq!(images, notation::parse_one_line("1,2,0", 0)?);
/// assert_eq!(notation::one_line(&images, 0), "1 2 0");
/// # Ok::<(), tilewave::puzzle::PuzzleError>(())
/// ```
///
/// # Errors
/// [`PuzzleError`] if the text is not a permutation.
pub fn parse_one_line(text: &str, base: usize) -> Result<Permutation, PuzzleError> {
    let words = tokens(text).into_iter().filter(|&(_, word)| word != ",");
    let images: Vec<usize> =
        words.map(|(at, word)| point(at, word, base)).collect::<Result<_, _>>()?;
    Permutation::new(&images)
}

/// Returns the images of a permutation, counted from `base`, separated by spaces.
pub fn one_line(permutation: &Permutation, base: usize) -> String {
    let images = permutation.images().iter();
    let images = images.map(|&image| (usize::from(image) + base).to_string());
    images.collect::<Vec<_>>().join(" ")
}
