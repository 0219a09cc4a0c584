//! Text forms: of permutations as cycles, of sequences of moves, and of arrangements of pieces.
//!
//! Files of puzzles and the program read and write all three. A state is read by [`Puzzle::read`], as an
//! arrangement or as the moves that lead to it; these are `R U2 R' [F, D3] (L R)2` for [`transformation`].
//!
//! Invariant: printed text is read back as the same permutation or arrangement.

use std::{
    collections::HashMap,
    iter::{self, Peekable},
    slice,
    vec::IntoIter,
};

use crate::{
    puzzle::{
        Arrangement, ErrorPlace, GluedPiece, MoveStyle, Moves, PieceAt, PieceSet, Placed, Puzzle,
        PuzzleError, PuzzleErrorKind, Size, Transformation,
        cube::{self, Rotation, Step},
        error::{END, MAX_POINTS, MAX_REPETITIONS, bail, wrong},
        mechanisms, named,
        sets::Notation,
        solids,
    },
    units::{counted, joined, shown},
};

// Permutations.

/// Words, brackets and commas of a text, each with its byte offset.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let is_end = |c: char| matches!(c, '(' | ')' | ',') || c.is_whitespace();
    let mut at = 0;
    let parts = text.split_inclusive(is_end).flat_map(|part| {
        let word = part.trim_end_matches(is_end);
        let (first, end) = (at, at + word.len());
        at += part.len();
        [(first, word), (end, part[word.len()..].trim())]
    });
    parts.filter(|(_, token)| !token.is_empty()).collect()
}

/// Returns the point, counted from 0, for a word that counts from 1.
fn point(at: usize, word: &str) -> Result<usize, PuzzleError> {
    if !word.bytes().all(|b| b.is_ascii_digit()) {
        return Err(PuzzleError::syntax(at, word, "a point"));
    }
    let number = word.parse().ok().and_then(|n: usize| n.checked_sub(1));
    let number = number.filter(|&n| n < MAX_POINTS);
    let found = shown(word, 32);
    let wrong = || wrong!(Range: "{found} is not a point: points are 1 to {MAX_POINTS}");
    number.ok_or_else(|| wrong().placed(ErrorPlace::Byte(at)))
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
pub fn parse_cycles(text: &str) -> Result<Vec<Vec<usize>>, PuzzleError> {
    let mut cycles = Vec::new();
    let mut tokens = tokens(text).into_iter();
    let end = (text.len(), END);
    while let Some((at, word)) = tokens.next().or(cycles.is_empty().then_some(end)) {
        if word != "(" {
            return Err(PuzzleError::syntax(at, word, "'('"));
        }
        let mut cycle = Vec::new();
        loop {
            let (at, word) = tokens.next().unwrap_or(end);
            if word == ")" && cycle.is_empty() {
                break;
            }
            cycle.push(point(at, word)?);
            match tokens.next().unwrap_or(end) {
                (_, ")") => break,
                (_, ",") => {}
                (at, word) => return Err(PuzzleError::syntax(at, word, "',' or ')'")),
            }
        }
        cycles.push(cycle);
    }
    Ok(cycles)
}

// Sequences of moves in the usual notation.
//
// `(A B)` is A followed by B, `[A, B]` is A B A' B', and `[A: B]` is A B A'. A number repeats the part before it, and
// a ' inverts it. Names of moves take precedence: if a move is named `F2`, then `F2` is that move. What `cube` adds for
// cubes, and moves without spaces between them, are read only where no move has the name.

/// Maximum depth of nested brackets.
pub(super) const DEEPEST: usize = 64;

/// Maximum number of moves of a sequence whose brackets are written out.
const MAX_STEPS: usize = 1_000_000;

/// What steps do, where a function gives what a move does.
fn effect(
    steps: &[Step],
    sets: &[PieceSet],
    named: impl Fn(&str) -> Option<Transformation>,
) -> Result<Transformation, PuzzleError> {
    let mut known: HashMap<&Step, Transformation> = HashMap::new();
    let mut all = Transformation::identity(sets);
    for step in steps {
        if !known.contains_key(step) {
            let (name, times) = step;
            let one = named(name).ok_or_else(|| no_move(name))?;
            known.insert(step, one.power(*times, sets));
        }
        all = all.then(&known[step], sets);
    }
    Ok(all)
}

/// Steps that undo others.
fn undone(steps: &[Step]) -> Vec<Step> {
    steps.iter().rev().map(|(word, times)| (word.clone(), -times)).collect()
}

/// Steps made several times.
fn repeatedly(steps: &[Step], times: u32) -> Result<Vec<Step>, PuzzleError> {
    check_steps(steps.len().saturating_mul(times as usize))?;
    Ok(vec![steps; times as usize].concat())
}

fn check_steps(count: usize) -> Result<(), PuzzleError> {
    match count <= MAX_STEPS {
        true => Ok(()),
        false => Err(wrong!(Range: "the sequence has more than {MAX_STEPS} moves")),
    }
}

fn no_move(word: &str) -> PuzzleError {
    wrong!(Unknown: "'{}' is not a move", shown(word, 32))
}

/// A sequence of moves that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveSequence {
    /// What it does to the pieces, with the puzzle turned back as a whole.
    pub effect: Transformation,
    /// The turns of the whole puzzle that bring it back: `x' y`; empty if it has not turned.
    pub turned_back: String,
    /// How often it must be made until the puzzle is turned as before, and what it does then; `None` if it cannot be made
    /// once more, because another face is where one turned by a quarter.
    period: Option<(u32, Transformation)>,
    /// The first move of it that is not possible from the solved state.
    impossible: Option<PuzzleError>,
}

impl MoveSequence {
    /// Returns how often the sequence must be repeated until nothing has changed, or `None` if that exceeds 64 bits, or if
    /// the sequence, which turns a cuboid as a whole, cannot be made again.
    pub fn order(&self, puzzle: &Puzzle) -> Option<u64> {
        let (times, whole) = self.period.as_ref()?;
        whole.order(puzzle.sets())?.checked_mul((*times).into())
    }
}

/// How a puzzle's sequences of moves are written: as the names of the moves; for the clock, Square-1 and the skewb, as
/// competitions write them; for the octahedron, in the letters of its faces; for boards, as [`Moves`].
///
/// ```
/// use tilewave::puzzle::named;
/// let moves = ["U", "D3'", "/", "U2"].map(String::from);
/// let style = named::parse("square-1").unwrap().sequence_style();
/// assert_eq!(style.text(&moves), "(1,-3)/ (2,0)");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SequenceStyle(Option<Notation>, MoveStyle);

impl SequenceStyle {
    /// Returns the style in which letters of moves of boards mean this direction.
    #[must_use]
    pub fn directed(self, style: MoveStyle) -> SequenceStyle {
        SequenceStyle(self.0, style)
    }

    /// Returns moves as a sequence.
    pub fn text(self, moves: &[String]) -> String {
        let text = match self.0 {
            Some(Notation::Clock) => mechanisms::clock_text(moves),
            Some(Notation::SquareOne) => mechanisms::square_one_text(moves),
            Some(Notation::Slides(size)) => {
                Moves::of_ways(size, moves).map(|moves| moves.short(self.1))
            }
            Some(other) => solids::words(other).and_then(|words| words.lettered("", moves)),
            None => None,
        };
        text.unwrap_or_else(|| joined(moves, " "))
    }

    /// Returns the solution of a state that a sequence gave: what turns the puzzle back comes first. The letters of the skewb
    /// are made as it is held.
    pub fn solution(self, turned_back: &str, moves: &[String]) -> String {
        let held = self.0.filter(|_| self.turns_the_whole()).and_then(solids::words);
        held.and_then(|words| words.lettered(turned_back, moves))
            .unwrap_or_else(|| format!("{turned_back} {}", self.text(moves)).trim().into())
    }

    /// For pictures, which do not turn as the skewb turns with its letters.
    pub(crate) fn still(self) -> SequenceStyle {
        SequenceStyle(self.0.filter(|_| !self.turns_the_whole()), self.1)
    }

    /// Whether letters turn the whole puzzle.
    fn turns_the_whole(self) -> bool {
        matches!(self.0, Some(Notation::Skewb))
    }

    /// Whether each move is written by itself.
    pub(crate) fn is_by_move(self) -> bool {
        matches!(self.0, Some(Notation::Slides(_) | Notation::Octahedron))
    }
}

/// What a word is that is no name, with or without a suffix: other words, or itself if it turns a cube.
type OtherWords<'a> = &'a dyn Fn(&str) -> Result<Option<Vec<String>>, PuzzleError>;

struct Reader<'a> {
    /// Whether there is a move with a name.
    is_move: &'a dyn Fn(&str) -> bool,
    other: OtherWords<'a>,
    words: Peekable<IntoIter<String>>,
    /// The number of open brackets.
    depth: usize,
}

/// Returns the transformation of a sequence of moves. A function provides the transformation of each name.
pub fn transformation(
    text: &str,
    sets: &[PieceSet],
    named: impl Fn(&str) -> Option<Transformation>,
) -> Result<Transformation, PuzzleError> {
    effect(&steps(text, &|name| named(name).is_some(), &|_| Ok(None))?, sets, named)
}

fn steps(
    text: &str,
    is_move: &dyn Fn(&str) -> bool,
    other: OtherWords<'_>,
) -> Result<Vec<Step>, PuzzleError> {
    let mut reader = Reader { is_move, other, words: words(text).into_iter().peekable(), depth: 0 };
    let all = reader.sequence()?;
    match reader.words.next() {
        Some(word) => Err(out_of_place(Some(&word))),
        None => Ok(all),
    }
}

/// Splits a text into names, brackets (each closing one with its suffix), and separators.
fn words(text: &str) -> Vec<String> {
    let in_bracket =
        |words: &[String]| words.last().is_some_and(|word| word.starts_with([')', ']']));
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for c in text.chars() {
        // What word processors and web pages make of it.
        let c = if matches!(c, '\u{2019}' | '\u{2018}' | '\u{2032}' | '\u{b4}' | '`') {
            '\''
        } else {
            c
        };
        match c {
            '(' | '[' | ',' | ':' | ')' | ']' => words.push(c.into()),
            c if c.is_whitespace() => {}
            // A suffix directly after a bracket belongs to it; a letter does not.
            c if open && (c.is_ascii_digit() || c == '\'' || !in_bracket(&words)) => {
                words.last_mut().expect("one is open").push(c);
            }
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

/// The error for a word, or for the end of the text.
fn out_of_place(word: Option<&str>) -> PuzzleError {
    match word {
        None => wrong!(Syntax: "a bracket is not closed in a sequence of moves"),
        Some(word) => wrong!(Syntax: "unexpected '{}' in a sequence of moves", shown(word, 32)),
    }
}

impl Reader<'_> {
    fn sequence(&mut self) -> Result<Vec<Step>, PuzzleError> {
        let mut all = Vec::new();
        while let Some(word) = self.words.next_if(|word| !word.starts_with([')', ']', ',', ':'])) {
            let deep = self.depth == DEEPEST && matches!(word.as_str(), "(" | "[");
            self.depth += usize::from(matches!(word.as_str(), "(" | "["));
            all.extend(match word.as_str() {
                _ if deep => return Err(out_of_place(Some(&word))),
                "(" => {
                    let inner = self.sequence()?;
                    self.closed(')', inner)?
                }
                "[" => self.pair()?,
                name => self.name(name)?,
            });
            check_steps(all.len())?;
        }
        Ok(all)
    }

    /// Reads the contents of square brackets.
    fn pair(&mut self) -> Result<Vec<Step>, PuzzleError> {
        let first = self.sequence()?;
        let between = self.words.next();
        let second = self.sequence()?;
        let both = [&first[..], &second, &undone(&first)].concat();
        match between.as_deref() {
            Some(":") => self.closed(']', both),
            Some(",") => self.closed(']', [both, undone(&second)].concat()),
            other => Err(out_of_place(other)),
        }
    }

    fn closed(&mut self, by: char, of: Vec<Step>) -> Result<Vec<Step>, PuzzleError> {
        let word = self.words.next();
        match word.as_deref().and_then(repeated) {
            Some((bracket, times, back)) if bracket.chars().eq([by]) => {
                self.depth -= 1;
                repeatedly(&if back { undone(&of) } else { of }, times)
            }
            _ => Err(out_of_place(word.as_deref())),
        }
    }

    fn name(&self, word: &str) -> Result<Vec<Step>, PuzzleError> {
        if (self.is_move)(word) {
            return Ok(vec![(word.into(), 1)]);
        }
        // `F2'` may be the inverse of the move `F2`.
        if let Some(plain) = word.strip_suffix('\'').filter(|plain| (self.is_move)(plain)) {
            return Ok(vec![(plain.into(), -1)]);
        }
        match repeated(word) {
            Some((name, times, back)) if (self.is_move)(name) => {
                let times = times as i32;
                return Ok(vec![(name.into(), if back { -times } else { times })]);
            }
            None => {
                let (text, most) = (shown(word, 32), MAX_REPETITIONS);
                bail!(Range: "'{text}' has too many repetitions: at most {most} are allowed");
            }
            Some(_) => {}
        }
        match (self.other)(word)?.as_deref() {
            Some([same]) if same == word => Ok(vec![(word.into(), 1)]),
            Some(words) => words
                .iter()
                .map(|word| self.name(word))
                .collect::<Result<Vec<_>, _>>()
                .map(|all| all.concat()),
            None => Err(no_move(word)),
        }
    }
}

/// Puzzles whose sequences are often written, in the order in which a sequence is tried.
const OFTEN_WRITTEN: [&str; 5] = ["pyraminx-tips", "3x3x3", "4x4x4", "6x6x6", "megaminx"];

/// Maximum length of a word that is split into moves: longer ones are no moves of anybody.
const MAX_SPLIT: usize = 1000;

/// Splits a word into moves written without spaces, if there is exactly one way to do so.
fn split(word: &str, is_move: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    if word.len() > MAX_SPLIT {
        return None;
    }
    // For each end of a move, the number of ways to get there, and where the last move begins.
    let mut ways = vec![(0u32, 0); word.len() + 1];
    ways[0].0 = 1;
    for (end, next) in
        word.char_indices().map(|(at, c)| (at + c.len_utf8(), &word[at + c.len_utf8()..]))
    {
        // A suffix belongs to the move before it.
        if next.starts_with(|c: char| c.is_ascii_digit() || c == '\'') {
            continue;
        }
        for begin in (0..end)
            .filter(|&begin| word.is_char_boundary(begin) && ways[begin].0 > 0)
            .collect::<Vec<_>>()
        {
            let part = &word[begin..end];
            let plain = part.strip_suffix('\'').unwrap_or(part);
            let known = |name: &str| !name.is_empty() && is_move(name);
            if known(part) || known(plain) || repeated(part).is_some_and(|(name, ..)| known(name)) {
                ways[end] = (ways[end].0.saturating_add(ways[begin].0), begin);
            }
        }
    }
    let mut end = word.len();
    if ways[end].0 != 1 {
        return None;
    }
    let mut words = Vec::new();
    while end > 0 {
        words.push(word[ways[end].1..end].to_string());
        end = ways[end].1;
    }
    words.reverse();
    Some(words)
}

// Arrangements of a puzzle's pieces.
//
// `1 2 3 4/0 1 0 2; 2 1` lists, for each set of pieces, the piece at each position, counted from 1 in the order of the
// solved puzzle, and after the slash the orientation of each of these pieces, if the pieces of the set can be turned.
// The name of a set may precede its pieces: `corners 1 2 3 4/0 1 0 2; centers 2 1`. Boards are written row by row, with 0
// for the blank: `1 2 3/4 5 6/7 8 0`.

impl Puzzle {
    /// Returns an arrangement as a line of text: each set's name, its pieces by position counted from 1, and their
    /// orientations; for a board, its rows.
    pub fn text(&self, arrangement: &Arrangement) -> String {
        if let Some(size) = self.board_size() {
            let row = |row: &[Placed]| joined(row.iter().map(|tile| tile.kind), " ");
            return joined(arrangement.0[0].chunks(size.cols()).map(row), "/");
        }
        let numbers = |row: &[Placed], of: fn(&Placed) -> u8| {
            let text = |value: u8| match value {
                Placed::ANY => "?".into(),
                value => value.to_string(),
            };
            joined(row.iter().map(of).map(text), " ")
        };
        let row = |(index, (set, row)): (usize, (&PieceSet, &Vec<Placed>))| {
            let pieces = match self.first_number(index) {
                0 => numbers(row, |piece| piece.kind),
                _ => numbers(row, |piece| piece.kind.saturating_add(1)),
            };
            let turns = match set.moduli.iter().any(|&modulus| modulus > 1) {
                true => format!("/{}", numbers(row, |piece| piece.turn)),
                false => String::new(),
            };
            format!("{} {pieces}{turns}", set.name)
        };
        joined(self.sets().iter().zip(&arrangement.0).enumerate().map(row), "; ")
    }

    /// The number that text uses for the first kind of piece of a set: 0 for the blank of a board, on which moves
    /// depend, otherwise 1.
    pub(crate) fn first_number(&self, index: usize) -> u8 {
        let is_blank = |at: &PieceAt| usize::from(at.set) == index && at.kind == 0;
        let is_board = self.moves().iter().filter_map(|one| one.requires.as_ref()).any(is_blank);
        u8::from(!is_board)
    }

    /// Returns the arrangement that a text describes: the pieces of each set by position, for named cubes the stickers
    /// as [`Puzzle::facelets`] writes them or the pieces in M. Reid's form, or a sequence of moves from the solved
    /// puzzle, `R U2 (R' F)3`. For a sequence of moves, also returns what it does.
    ///
    /// Sequences of a named cube may turn several layers, slices and the whole cube: `Rw`, `r`, `3Rw2`, `M`, `x`. The
    /// centres, or the corner of the 2x2x2 that is held fixed, show where everything belongs, so a cube that is solved
    /// and turned is solved.
    pub fn read(&self, text: &str) -> Result<(Arrangement, Option<MoveSequence>), PuzzleError> {
        if let Some(state) = self.read_facelets(text).or_else(|| self.read_board(text)) {
            return Ok((state?, None));
        }
        if self.is_arrangement(text) {
            return Ok((self.read_arrangement(text)?, None));
        }
        let all = self.read_sequence(text)?;
        match &all.impossible {
            Some(error) => Err(error.clone()),
            None => Ok((self.after(&self.solved(), &all.effect), Some(all))),
        }
    }

    /// The size of a board.
    pub(crate) fn board_size(&self) -> Option<Size> {
        match self.notation? {
            Notation::Slides(size) => Some(size),
            _ => None,
        }
    }

    /// Returns the board that a text gives row by row, or `None` if it is no board, or if its pieces are written as those of
    /// other puzzles.
    fn read_board(&self, text: &str) -> Option<Result<Arrangement, PuzzleError>> {
        let size = self.board_size()?;
        text.trim_start().starts_with(|c: char| c.is_ascii_digit()).then(|| {
            let rows: Vec<&str> = text.split('/').collect();
            let lengths = rows.iter().map(|row| row.split_whitespace().count());
            if rows.len() > 1 && !lengths.eq(iter::repeat_n(size.cols(), size.rows())) {
                bail!(Shape: "the rows are not those of a board of {size}: separate {} rows of {} tiles by /",
                    size.rows(), size.cols());
            }
            let row = read_set(&self.sets()[0], 0, &rows.join(" "), false);
            let row = row.map_err(|error| match self.sets()[0].pieces_of(1) < 2 {
                true => error,
                false => error.followed("; write the number of the colour of each tile, and 0 for the blank"),
            });
            Ok(Arrangement(vec![row?]))
        })
    }

    /// Returns how sequences of the puzzle's moves are written.
    pub fn sequence_style(&self) -> SequenceStyle {
        SequenceStyle(self.notation, MoveStyle::default())
    }

    /// Returns the transformation of a sequence of moves that leaves the cube as a whole as it was.
    pub(crate) fn read_moves(&self, text: &str) -> Result<Transformation, PuzzleError> {
        let all = self.read_sequence(text)?;
        if !all.turned_back.is_empty() {
            let (text, back) = (shown(text, 32), &all.turned_back);
            let whole = if self.layered().is_some() { "cube" } else { "puzzle" };
            bail!(Impossible: "'{text}' turns the whole {whole}, and what is fixed stays where it is here: '{text} {back}' \
                is a move, but other states may come from it than from '{text}'");
        }
        Ok(all.effect)
    }

    pub(super) fn read_sequence(&self, text: &str) -> Result<MoveSequence, PuzzleError> {
        self.read_words(text).map_err(|error: PuzzleError| match error.kind() {
            PuzzleErrorKind::Unknown => {
                let moves = joined(self.moves().iter().map(|one| &one.name), " ");
                let seems = self
                    .other_notation(text)
                    .map_or(String::new(), |what| format!("; the sequence seems to be {what}"));
                error.followed(format_args!(" of {}: the moves are {moves}{seems}", self.name()))
            }
            _ => error,
        })
    }

    /// What a sequence seems to be that is none of this puzzle.
    fn other_notation(&self, text: &str) -> Option<String> {
        let mut words = text.split_whitespace();
        let is_clock = |word: &str| {
            let pins = word.trim_end_matches(['+', '-']);
            let place = pins.trim_end_matches(|c: char| c.is_ascii_digit());
            pins.len() == place.len() + 1
                && pins.len() + 1 == word.len()
                && ["UR", "DR", "DL", "UL", "U", "R", "D", "L", "ALL"].contains(&place)
        };
        let is_square = |word: &str| {
            let numbers = word.trim_end_matches('/').strip_prefix('(')?.strip_suffix(')')?;
            let (top, bottom) = numbers.split_once(',')?;
            Some(top.trim().parse::<i8>().is_ok() && bottom.trim().parse::<i8>().is_ok())
        };
        let first = words.next()?;
        if is_clock(first) {
            return Some("a scramble of the clock".into());
        }
        if is_square(first) == Some(true) {
            return Some("a scramble of Square-1".into());
        }
        let reads = |name: &&&str| {
            // Turns of two layers are hardly ever written for the 3x3x3.
            let is_likely = **name != "3x3x3" || !text.contains('w');
            is_likely
                && **name != self.name()
                && named::parse(name).is_some_and(|puzzle| puzzle.read_words(text).is_ok())
        };
        let name = OFTEN_WRITTEN.iter().find(reads)?;
        Some(match *name == "megaminx" && text.contains(['+', '-']) {
            true => "a scramble of the megaminx".into(),
            false => format!("moves of {name}"),
        })
    }

    fn read_words(&self, text: &str) -> Result<MoveSequence, PuzzleError> {
        if let Some(one) = self.moves().iter().find(|one| one.requires.is_some()) {
            bail!(Impossible: "whether move '{}' is possible depends on where a piece is: write \
                the piece at each position instead of moves", one.name);
        }
        let is_move = |name: &str| self.named_move(name).is_some();
        let layers = self.layered();
        let is_clock = self.notation == Some(Notation::Clock);
        let pairs = (self.notation == Some(Notation::SquareOne))
            .then(|| mechanisms::square_one_words(text));
        let text = pairs.as_deref().unwrap_or(text);
        let solid = self.notation.and_then(solids::words);
        let is_known = |word: &str| {
            let of_clock = is_clock && mechanisms::is_clock_word(word);
            is_move(word) || of_clock || solid.is_some_and(|of| of.is_word(word))
        };
        let other = |word: &str| {
            Ok(match layers {
                Some(layers) if cube::is_word(&layers, word)? => Some(vec![word.into()]),
                Some(_) => cube::split(word),
                None if is_known(word) => Some(vec![word.into()]),
                None => split(word, is_move).or_else(|| split(word, is_known)),
            })
        };
        let all = steps(text, &is_move, &other)?;
        match (layers, solid) {
            (Some(layers), _) => self.sequence(
                Rotation::default(),
                |turned| cube::resolved(&layers, &all, *turned),
                |turned| turned.inverse().text(),
            ),
            (None, Some(solid)) => self.sequence(
                solid.upright(),
                |turned| solid.resolved(&all, turned.clone()),
                |turned| solid.turned_back(turned),
            ),
            (None, None) if is_clock => self.sequence(
                false,
                |over| Ok(mechanisms::clock_moves(&all, *over)),
                |over| if *over { "y2".into() } else { String::new() },
            ),
            (None, None) => self.sequence((), |()| Ok((all.clone(), ())), |()| String::new()),
        }
    }

    /// What words do that are resolved for each way in which the whole puzzle may be turned.
    fn sequence<R: PartialEq>(
        &self,
        upright: R,
        resolved: impl Fn(&R) -> Result<(Vec<Step>, R), PuzzleError>,
        turned_back: impl Fn(&R) -> String,
    ) -> Result<MoveSequence, PuzzleError> {
        let named = |name: &str| self.named_move(name).map(|one| one.transformation.clone());
        let made = |turned: &R| {
            let (own, turned) = resolved(turned)?;
            Ok::<_, PuzzleError>((effect(&own, self.sets(), named)?, turned, own))
        };
        let (effect, mut at, own) = made(&upright)?;
        let impossible = self.first_impossible(&own)?;
        let turned_back = turned_back(&at);
        // As often as it takes until the whole is turned as before: at most 60 times.
        let mut period = Some((1, effect.clone()));
        while at != upright {
            let Some((times, whole)) = period.take() else { break };
            if let Ok((next, then, _)) = made(&at) {
                period = Some((times + 1, whole.then(&next, self.sets())));
                at = then;
            }
        }
        Ok(MoveSequence { effect, turned_back, period, impossible })
    }

    /// The error for the first of some moves that brings a piece to where it may not be, or splits a block, if they begin
    /// in the solved state.
    fn first_impossible(&self, made: &[Step]) -> Result<Option<PuzzleError>, PuzzleError> {
        let named = |name: &str| self.named_move(name).map(|one| one.transformation.clone());
        let mut at = self.solved();
        let is_free = self.illegal().is_empty() && self.blocks().is_empty();
        let mut known: HashMap<&Step, Transformation> = HashMap::new();
        for (number, step) in (1..).zip(made).take_while(|_| !is_free) {
            let (word, _) = step;
            if !known.contains_key(step) {
                known.insert(step, effect(slice::from_ref(step), self.sets(), named)?);
            }
            // What a move takes along stays among what it takes along: if it is possible once, it can be repeated.
            let once = named(word).ok_or_else(|| no_move(word))?;
            if let Some(block) = self.split_by(&once, &at) {
                let (pieces, all) = (self.block_text(block), made.len());
                return Ok(Some(
                    wrong!(Impossible: "move {number} of {all}, {word}, is not possible: it takes along only some \
                    pieces of the block {pieces}"),
                ));
            }
            at = self.after(&at, &known[step]);
            if let Some(PieceAt { set, position, .. }) = self.forbidden(&at) {
                let (set, all) = (&self.sets()[usize::from(set)].name, made.len());
                return Ok(Some(
                    wrong!(Impossible: "move {number} of {all}, {word}, is not possible: it brings a piece to position {} of \
                    {set}, where it may not be", usize::from(position) + 1),
                ));
            }
        }
        Ok(None)
    }

    /// The pieces of a block: `CORNERS 1, EDGES 2`.
    fn block_text(&self, block: &[GluedPiece]) -> String {
        let piece = |one: &GluedPiece| {
            let index = usize::from(one.set);
            format!("{} {}", self.sets()[index].name, one.kind + self.first_number(index))
        };
        joined(block.iter().map(piece), ", ")
    }

    /// Returns the pieces at each position, by sets. `?` stands for any piece or any orientation, and so does a part
    /// that is left out; a sequence of moves is not accepted.
    pub(crate) fn read_mask(&self, text: &str) -> Result<Arrangement, PuzzleError> {
        let any = |set: &PieceSet| vec![Placed::MASK; set.positions()];
        let mut rows: Vec<Vec<Placed>> = self.sets().iter().map(any).collect();
        for (at, text) in text.split(';').map(str::trim).enumerate() {
            let name = text.split_whitespace().next().unwrap_or_default();
            let is_name = |set: &PieceSet| set.name.eq_ignore_ascii_case(name);
            let index = self.sets().iter().position(is_name).unwrap_or(at);
            let Some(set) = self.sets().get(index) else {
                return Err(self.not_all_sets(at + 1));
            };
            rows[index] = read_set(set, self.first_number(index), text, true)?;
        }
        Ok(Arrangement(rows))
    }

    /// Whether a text lists pieces by position: its first word that is not the name of a set consists of numbers, so
    /// `2R` is a move.
    pub(crate) fn is_arrangement(&self, text: &str) -> bool {
        let mut words = text.split_whitespace();
        let first = words.next().unwrap_or_default();
        let is_number = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_digit() || c == '?')
                && !word.contains(|c: char| c.is_alphabetic() || c == '\'')
        };
        let is_name = self.sets().iter().any(|set| set.name.eq_ignore_ascii_case(first));
        let named = is_name && words.next().is_some_and(is_number);
        named || is_number(first) && self.named_move(first).is_none()
    }

    fn not_all_sets(&self, found: usize) -> PuzzleError {
        let (found, expected) = (counted(found as u64, "set"), self.sets().len());
        wrong!(Shape: "found {found} of pieces, but the puzzle has {expected}: write all sets, \
            separated by ';'")
    }

    fn read_arrangement(&self, text: &str) -> Result<Arrangement, PuzzleError> {
        let sets: Vec<&str> = text.split(';').collect();
        if sets.len() != self.sets().len() {
            return Err(self.not_all_sets(sets.len()));
        }
        let rows = self.sets().iter().zip(sets).enumerate();
        let rows = rows.map(|(index, (set, text))| {
            read_set(set, self.first_number(index), text.trim(), false)
        });
        Ok(Arrangement(rows.collect::<Result<_, _>>()?))
    }
}

/// Reads the pieces of a set; the first kind of piece has this number.
fn read_set(
    set: &PieceSet,
    first_number: u8,
    text: &str,
    masked: bool,
) -> Result<Vec<Placed>, PuzzleError> {
    let named = &set.name;
    let is_any = |word: &str| masked && word == "?";
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let is_number = first.starts_with(|c: char| c.is_ascii_digit()) || is_any(first);
    let text = if is_number { text } else { rest };
    if text.is_empty() || text.len() == rest.len() && !first.eq_ignore_ascii_case(&set.name) {
        let found = shown(first, 32);
        bail!(Unknown: "expected the pieces of set '{named}', found '{found}'");
    }
    let (pieces, turns) = text.split_once('/').unwrap_or((text, ""));
    let numbers = |text: &str| -> Result<Vec<u8>, PuzzleError> {
        let number = |word: &str| match is_any(word) {
            true => Ok(Placed::ANY),
            false => match word.parse() {
                Ok(number) if number < Placed::ANY => Ok(number),
                _ => {
                    let word = shown(word, 32);
                    Err(wrong!(Syntax: "'{word}' is not the number of a piece in set '{named}'"))
                }
            },
        };
        text.split_whitespace().map(number).collect()
    };
    let (pieces, mut turns) = (numbers(pieces)?, numbers(turns)?);
    if turns.is_empty() {
        let turn = |&piece: &u8| if piece == Placed::ANY { Placed::ANY } else { 0 };
        turns = pieces.iter().map(turn).collect();
    }
    if pieces.len() != set.positions() || turns.len() != pieces.len() {
        let (found, expected) = (pieces.len().min(turns.len()), set.positions());
        bail!(Shape: "set '{named}' has {expected} positions, but {found} are given");
    }
    let mut row: Vec<Placed> = Vec::new();
    for (piece, turn) in pieces.into_iter().zip(turns) {
        let kind = if piece == Placed::ANY { piece } else { piece.wrapping_sub(first_number) };
        let before = row.iter().filter(|other| other.kind == kind).count();
        if piece != Placed::ANY && before >= set.pieces_of(kind) {
            bail!(Twice: "piece {piece} occurs too often in set '{named}', or does not belong to \
                this set");
        }
        let modulus = *set.moduli.get(usize::from(kind)).unwrap_or(&set.orientations);
        if turn >= modulus && turn != Placed::ANY {
            return Err(set.no_orientation(turn, modulus));
        }
        row.push(Placed { kind, turn });
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::puzzle::{Move, SetAction, named, variant};

    #[test]
    fn what_moves_reach_is_told_from_what_they_do_not() {
        let turn = |source: [u8; 4], twist: [u8; 4]| {
            vec![SetAction { source: source.into(), twist: twist.into() }]
        };
        let cycle = turn([1, 2, 3, 0], [0; 4]);
        let sets = [
            vec![cycle.clone(), turn([0, 1, 2, 3], [1, 1, 0, 0])],
            vec![cycle.clone(), turn([1, 0, 2, 3], [0, 0, 0, 1])],
            vec![turn([1, 2, 0, 3], [0; 4]), turn([0, 2, 3, 1], [1, 0, 0, 0])],
            vec![cycle.clone(), turn([0, 3, 2, 1], [0; 4])],
            vec![turn([1, 0, 3, 2], [1, 0, 0, 0])],
        ];
        let kinds = [[0, 1, 2, 3], [0, 1, 1, 2], [0, 0, 1, 1]];
        let (mut told, mut refused) = (0, 0);
        for (moves, kinds) in sets.iter().flat_map(|set| kinds.map(|kinds| (set, kinds))) {
            for (orientations, modulus) in [(1, 1), (2, 2), (3, 3), (4, 2)] {
                let mut set = PieceSet::distinct("coins", 4, orientations);
                set.solved.iter_mut().zip(kinds).for_each(|(piece, kind)| piece.kind = kind);
                set.moduli = vec![modulus; 1 + usize::from(*kinds.iter().max().unwrap())];
                let moves = moves.iter().enumerate().map(|(i, turns)| {
                    let mut turns = turns.clone();
                    turns[0].twist.iter_mut().for_each(|twist| *twist %= orientations);
                    Move::free(format!("M{i}"), Transformation(turns))
                });
                let rows = variant::rows(&set, &[Placed::MASK; 4]).unwrap();
                let Ok(puzzle) = Puzzle::new("coins", vec![set], moves.collect()) else {
                    continue;
                };
                let mut open = vec![puzzle.solved()];
                let mut seen: HashSet<Arrangement> = open.iter().cloned().collect();
                while let Some(state) = open.pop() {
                    let after = (0..puzzle.moves().len()).filter_map(|m| puzzle.moved(&state, m));
                    open.extend(after.filter(|state| seen.insert(state.clone())));
                }
                for row in rows {
                    let state = Arrangement(vec![row]);
                    if let Some(reached) = puzzle.reaches(&state) {
                        assert_eq!(reached.is_ok(), seen.contains(&state), "{puzzle:?} {state:?}");
                        told += 1;
                        refused += usize::from(reached.is_err());
                    }
                }
            }
        }
        assert!(told > 3000 && refused > 1000, "{told} {refused}");
    }

    #[test]
    fn sequences_come_back_after_their_order() {
        let cube = named::whole("3x3x3");
        for (text, order) in [("R U", 105), ("R U R' U'", 6), ("R2 U2", 6), ("", 1), ("R", 4)] {
            let (_, moves) = cube.read(text).unwrap();
            assert_eq!(moves.unwrap().order(&cube), Some(order), "{text}");
        }
    }

    #[test]
    fn texts_come_back_and_moves_are_read() {
        let cube = named::whole("3x3x3");
        let (state, moves) = cube.read("(R U R' U')2 F2").unwrap();
        assert!(moves.is_some());
        let text = cube.text(&state);
        assert_eq!(cube.read(&text).unwrap().0, state);
        // Names may be left out.
        let bare: Vec<&str> = text.split("; ").map(|set| set.split_once(' ').unwrap().1).collect();
        assert_eq!(cube.read(&bare.join(";")).unwrap().0, state);
        assert_eq!(cube.read("").unwrap().0, cube.solved());
        for (text, wrong) in [
            ("R Q", "'Q' is not a move of "),
            ("1 2 3", "found 1 set of pieces, but the puzzle has 2"),
            ("corners 1 2 3; edges 1", "set 'corners' has 8 positions, but 3 are given"),
        ] {
            let told = cube.read(text).unwrap_err().to_string();
            assert!(told.contains(wrong), "{text}: {told}");
        }
    }
}
