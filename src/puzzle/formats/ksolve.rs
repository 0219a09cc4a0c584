//! ksolve definitions (`.def`) and twsearch definitions (`.tws`).
//!
//! ```text
//! Name Ring            # only lines that begin with a # are remarks
//! Set PIECES 4 1       # name, pieces, orientations
//! Solved
//! PIECES
//! 1 2 3 4              # pieces of the same number look alike
//! 0 0 0 0              # how they are turned, ? where nobody sees it; may be left out
//! End
//! Move L
//! PIECES
//! 2 3 4 1
//! 0 0 0 0              # by how much pieces 1 2 3 4 are turned, wherever they go; may be left out
//! End
//! MoveSequence LL L L  # a move made of others
//! Ignore
//! PIECES
//! 1 1 0 0              # which pieces look alike, whatever their numbers
//! 0 0 0 1              # of which pieces nobody sees how they are turned; may be left out
//! End
//! Illegal PIECES 1 3 4 # no state may have pieces 3 or 4 at position 1
//! Block                # pieces that are glued together: no move may take along only some of them
//! PIECES
//! 1 2                  # the pieces of a set
//! End
//! ```
//!
//! Of pieces with one orientation, the second row of a move may say that it turns them: nobody sees that, but blocks go
//! along with it, as with the centre of a face.
//!
//! A name may have spaces. `ParallelMoves` and `Multiplicators` only help ksolve to search, and are skipped up to
//! `End`.
//!
//! The numbers of a move give, for each position, the position that its piece comes from: 2 3 4 1 brings the piece at
//! position 2 to position 1. `StartState` and `MoveTransformation` are like `Solved` and `Move`, but count from 0; the
//! latter gives, for each position, by how much the piece that it receives turns. All powers of a move count as one
//! move. Aliases are names only.

use crate::{
    puzzle::{
        GluedPiece, Permutation, PieceAt, Puzzle, PuzzleError, SetAction, Transformation,
        error::{LINE_END, wrong},
        formats::source::{FileSequence, FileSet, SetSource, once, turn, wrong_numbers},
        permutation::gcd,
    },
    units::{digits, joined, shown},
};

/// A line that is neither empty nor a comment: its number and its words.
type KsolveLine<'a> = (usize, Vec<&'a str>);

/// The words with which what is read begins.
const STATEMENTS: &str = "Name, Set, Solved, StartState, Move, MoveTransformation, MoveAlias, \
                          MoveSequence, Ignore, Illegal, Block, ParallelMoves or Multiplicators";
/// The words with which other statements begin, and why they are refused.
const NOT_READ: [(&str, &str); 3] =
    [("ForbiddenPairs", PATHS), ("ForbiddenGroups", PATHS), ("MoveLimits", PATHS)];
const PATHS: &str =
    "it limits sequences of moves, and says nothing of states: leave it out to search all states";

struct KsolveReader<'a> {
    lines: std::vec::IntoIter<KsolveLine<'a>>,
    source: SetSource,
    /// The pieces with one orientation that moves turn: the error if there are no blocks, the move, the set, and the
    /// position.
    unseen: Vec<(PuzzleError, usize, usize, usize)>,
}

pub(crate) fn read(text: &str) -> Result<SetSource, PuzzleError> {
    let lines = (1..).zip(text.split('\n')).filter(|(_, line)| !line.starts_with('#'));
    let lines = lines.map(|(i, line)| (i, line.split_whitespace().collect()));
    let lines = lines.filter(|(_, words): &KsolveLine| !words.is_empty()).collect::<Vec<_>>();
    let mut reader =
        KsolveReader { lines: lines.into_iter(), source: SetSource::default(), unseen: Vec::new() };
    let mut solved = false;
    let mut sequences: Vec<FileSequence> = Vec::new();
    while let Some((line, words)) = reader.lines.next() {
        let end = |count: usize| match words.get(count) {
            Some(word) => Err(syntax(line, word, LINE_END)),
            None => Ok(()),
        };
        let word = |at: usize, what: &str| {
            words.get(at).copied().ok_or_else(|| syntax(line, LINE_END, what))
        };
        let after_solved = |what: &str| match solved {
            true => Ok(()),
            false => Err(wrong!(Syntax: "'Solved' must come before the first {what}").at(line)),
        };
        match words[0] {
            "Name" => {}
            "Set" if solved => return Err(syntax(line, "Set", "Move")),
            "Set" => {
                let name = word(1, "the name of the set")?;
                let pieces = number(line, word(2, "the number of pieces")?)?;
                let orientations = number(line, word(3, "the number of orientations")?)?;
                end(4)?;
                if reader.source.sets.iter().any(|set| set.name == name) {
                    return Err(wrong!(Twice: "set {} occurs twice", shown(name, 32)).at(line));
                }
                let set = FileSet::new(name, (pieces, line), (orientations, line))?;
                reader.source.sets.push(set);
            }
            "Solved" | "StartState" => {
                if solved {
                    return Err(wrong!(Twice: "{} occurs twice", words[0]).at(line));
                }
                end(1)?;
                reader.solved(line, usize::from(words[0] == "Solved"))?;
                solved = true;
            }
            "Move" | "MoveTransformation" => {
                let name = word(1, "the name of the move")?;
                end(2)?;
                after_solved("move")?;
                reader.source.check_new(name, line)?;
                reader.source.line = line;
                let of = reader.transformation(name, words[0] == "Move")?;
                reader.source.moves.push((name.into(), of));
            }
            "MoveAlias" | "MoveSequence" => {
                let name = word(1, "the name of the move")?;
                word(2, "the name of a move")?;
                after_solved("move")?;
                let is_move = words[0] == "MoveSequence";
                let names = sequences.iter().map(|one| one.name.as_str());
                once(names, name).map_err(|kind| kind.at(line))?;
                let (name, text) = (name.into(), words[2..].join(" "));
                sequences.push(FileSequence { name, text, line, is_move });
            }
            "Ignore" => {
                after_solved("'Ignore'")?;
                end(1)?;
                let SetSource { illegal, blocks, .. } = &reader.source;
                let before = [("Illegal", illegal.is_empty()), ("Block", blocks.is_empty())];
                if let Some((word, _)) = before.iter().find(|(_, is_none)| !is_none) {
                    return Err(wrong!(Syntax: "'Ignore' must come before '{word}'").at(line));
                }
                reader.ignored(line)?;
            }
            "Illegal" => {
                after_solved("'Illegal'")?;
                let set = word(1, "the name of a set")?;
                let position = word(2, "a position")?;
                word(3, "a piece")?;
                reader.illegal(line, set, position, &words[3..])?;
            }
            "Block" => {
                after_solved("'Block'")?;
                end(1)?;
                reader.glued(line)?;
            }
            "ParallelMoves" | "Multiplicators" => {
                let missing = || wrong!(Missing: "the 'End' of {} is missing", words[0]).at(line);
                reader.lines.find(|(_, words)| words[0] == "End").ok_or_else(missing)?;
            }
            found => {
                let known = NOT_READ.iter().find(|(word, _)| *word == found);
                let unread = |(word, why): &(&str, &str)| wrong!(Unsupported: "'{word}' is known, but not supported: {why}");
                let wrong = || PuzzleError::syntax(0, found, STATEMENTS);
                return Err(known.map_or_else(wrong, unread).at(line));
            }
        }
    }
    if reader.source.moves.is_empty() {
        return Err(wrong!(Missing: "a 'Move' is missing").at(0));
    }
    reader.turn_unseen()?;
    let mut source = reader.source;
    for one in sequences.iter().filter(|one| one.is_move) {
        source.check_new(&one.name, one.line)?;
    }
    source.resolve(sequences)?;
    Ok(source)
}

impl<'a> KsolveReader<'a> {
    /// Reads which piece is at each position of the solved puzzle.
    fn solved(&mut self, line: usize, base: usize) -> Result<(), PuzzleError> {
        let rows = self.block(line, "Solved")?;
        for (set, rows) in self.source.sets.iter_mut().zip(rows) {
            for (at, piece) in set.solved.iter_mut().enumerate() {
                piece.number = at + base;
            }
            let mut rows = rows.into_iter();
            let Some((line, words)) = rows.next() else { continue };
            for (piece, word) in set.solved.iter_mut().zip(words) {
                piece.number = number(line, word)?;
            }
            let (line, turns) = rows.next().unwrap_or_default();
            for (piece, word) in set.solved.iter_mut().zip(turns) {
                match word {
                    "?" => piece.modulus = 1,
                    word => piece.turn = turn(word, set.orientations).map_err(|e| e.at(line))?,
                }
            }
            check_alike(set, line)?;
        }
        Ok(())
    }

    /// Reads which pieces look alike, and of which the orientation does not matter: those with a 1.
    fn ignored(&mut self, line: usize) -> Result<(), PuzzleError> {
        let rows = self.block(line, "Ignore")?;
        let is_one = |line: usize, word: &str| match word {
            "0" => Ok(false),
            "1" => Ok(true),
            other => Err(syntax(line, other, "0 or 1")),
        };
        for (set, rows) in self.source.sets.iter_mut().zip(rows) {
            let alike = 1 + set.solved.iter().map(|piece| piece.number).max().unwrap_or_default();
            let mut rows = rows.into_iter();
            let (line, words) = rows.next().unwrap_or_default();
            for (piece, word) in set.solved.iter_mut().zip(words) {
                if is_one(line, word)? {
                    piece.number = alike;
                }
            }
            let (line, words) = rows.next().unwrap_or((line, Vec::new()));
            for (piece, word) in set.solved.iter_mut().zip(words) {
                if is_one(line, word)? {
                    (piece.modulus, piece.turn) = (1, 0);
                }
            }
            check_alike(set, line)?;
        }
        Ok(())
    }

    /// Reads the effect of a move, with twists listed by the positions that pieces come from, or by those that receive
    /// them.
    fn transformation(
        &mut self,
        name: &str,
        by_piece: bool,
    ) -> Result<Transformation, PuzzleError> {
        let name = shown(name, 32);
        let base = usize::from(by_piece);
        let rows = self.block(0, &name)?;
        let one = self.source.moves.len();
        let unseen = &mut self.unseen;
        let of_set = |(index, (set, rows)): (usize, (&FileSet, Vec<KsolveLine>))| {
            let mut of = SetAction::still(set.solved.len());
            let mut rows = rows.into_iter();
            let Some((line, words)) = rows.next() else { return Ok(of) };
            let sources = words.iter().map(|word| {
                let number = number(line, word)?;
                number.checked_sub(base).ok_or_else(|| syntax(line, word, "a position"))
            });
            let sources: Vec<usize> = sources.collect::<Result<_, _>>()?;
            let pulled = Permutation::numbered_from(base, &sources);
            let pulled = pulled.map_err(|error| error.behind(&name).at(line))?;
            of.source.copy_from_slice(pulled.images());
            let (line, turns) = rows.next().unwrap_or_default();
            let at = |p: usize| if by_piece { sources[p] } else { p };
            for p in 0..turns.len() {
                let word = turns[at(p)];
                match turn(word, set.orientations).map_err(|error| error.at(line)) {
                    Ok(turn) => of.twist[p] = turn,
                    Err(error) if set.orientations == 1 && digits::<usize>(word).is_some() => {
                        unseen.push((error, one, index, p));
                    }
                    Err(error) => return Err(error),
                }
            }
            Ok(of)
        };
        let turns = self.source.sets.iter().zip(rows).enumerate().map(of_set);
        Ok(Transformation(turns.collect::<Result<_, _>>()?))
    }

    /// Reads the pieces that may not be at a position.
    fn illegal(
        &mut self,
        line: usize,
        name: &str,
        position: &str,
        pieces: &[&str],
    ) -> Result<(), PuzzleError> {
        let index = self.source.sets.iter().position(|set| set.name == name);
        let index = index.ok_or_else(|| syntax(line, name, &self.names()))?;
        let set = &self.source.sets[index];
        let place = number(line, position)?.checked_sub(1).filter(|&p| p < set.solved.len());
        let place = place.ok_or_else(|| syntax(line, position, "a position"))?;
        for word in pieces {
            let piece = number(line, word)?;
            if set.solved[place].number == piece {
                return Err(wrong!(Impossible: "piece {piece} is at position {position} of {name} in the solved state, \
                    so it cannot be illegal there").at(line));
            }
            let kind = set.kinds_of(piece).next();
            let kind = kind.ok_or_else(|| syntax(line, word, "a piece"))?;
            let (set, position) = (index as u8, place as u8);
            self.source.illegal.push(PieceAt { set, position, kind });
        }
        Ok(())
    }

    /// Reads the pieces of a block.
    fn glued(&mut self, line: usize) -> Result<(), PuzzleError> {
        let mut block = Vec::new();
        let mut open = None;
        loop {
            let missing = || wrong!(Missing: "the 'End' of Block is missing").at(line);
            let (line, words) = self.lines.next().ok_or_else(missing)?;
            if words == ["End"] {
                break;
            }
            let named = self.source.sets.iter().position(|set| words == [set.name.as_str()]);
            if named.is_some() {
                open = named;
                continue;
            }
            let index = open.ok_or_else(|| syntax(line, &words.join(" "), &self.names()))?;
            let set = &self.source.sets[index];
            for word in words {
                let piece = number(line, word)?;
                let kind = set.kinds_of(piece).next();
                let kind = kind.ok_or_else(|| syntax(line, word, "a piece"))?;
                if set.solved.iter().filter(|own| own.number == piece).count() > 1 {
                    return Err(wrong!(Unsupported: "several pieces of {} have the number {piece}: a block needs pieces \
                        that look different from all others", shown(&set.name, 32)).at(line));
                }
                let one = GluedPiece { set: index as u8, kind };
                if self.source.blocks.iter().flatten().chain(&block).any(|other| *other == one) {
                    let name = shown(&set.name, 32);
                    return Err(
                        wrong!(Twice: "piece {piece} of {name} is in a block already").at(line)
                    );
                }
                block.push(one);
            }
        }
        if block.len() < 2 {
            return Err(wrong!(Missing: "a block needs at least two pieces").at(line));
        }
        self.source.blocks.push(block);
        Ok(())
    }

    /// Gives pieces with one orientation several, which look the same, if moves turn them: as many that a move turns them
    /// until it has brought everything back.
    fn turn_unseen(&mut self) -> Result<(), PuzzleError> {
        let sets = self.source.piece_sets();
        let orders = self.source.moves.iter().map(|(_, of)| of.order(&sets).unwrap_or(0));
        let orders: Vec<u64> = orders.collect();
        for &(ref error, one, index, _) in &self.unseen {
            let set = &mut self.source.sets[index];
            let (all, order) = (u64::from(set.orientations), orders[one]);
            let all = all / gcd(all, order.max(1)) * order;
            let most = Puzzle::MAX_LOCATIONS / set.solved.len();
            if self.source.blocks.is_empty() || !(1..=most.min(127) as u64).contains(&all) {
                return Err(error.clone());
            }
            set.orientations = all as u8;
        }
        for &(_, one, index, position) in &self.unseen {
            let all = self.source.sets[index].orientations;
            self.source.moves[one].1.0[index].twist[position] = all / orders[one] as u8 % all;
        }
        Ok(())
    }

    fn names(&self) -> String {
        joined(self.source.sets.iter().map(|set| &set.name), " or ")
    }

    /// The rows of each set up to `End`: its numbers, and possibly a second row; none for a set that is left out.
    fn block(&mut self, line: usize, of: &str) -> Result<Vec<Vec<KsolveLine<'a>>>, PuzzleError> {
        if self.source.sets.is_empty() {
            return Err(wrong!(Syntax: "'Set' must come before everything else").at(line));
        }
        let mut found: Vec<Vec<KsolveLine>> = vec![Vec::new(); self.source.sets.len()];
        let mut open: Option<usize> = None;
        loop {
            let missing = || wrong!(Missing: "the 'End' of {of} is missing").at(0);
            let (line, words) = self.lines.next().ok_or_else(missing)?;
            let first = words[0];
            let begun = open.is_none_or(|set| !found[set].is_empty());
            let named = self.source.sets.iter().position(|set| words == [set.name.as_str()]);
            match (first, named, open) {
                ("End", _, _) if begun => return Ok(found),
                ("End", _, _) => return Err(syntax(line, "End", "numbers")),
                (_, Some(set), _) if begun => {
                    if !found[set].is_empty() {
                        return Err(wrong!(Twice: "{} occurs twice", shown(first, 32)).at(line));
                    }
                    open = Some(set);
                }
                (_, _, None) => return Err(syntax(line, &words.join(" "), &self.names())),
                (_, _, Some(set)) => {
                    let expected = self.source.sets[set].solved.len();
                    let full = found[set].len() == 2;
                    if words.len() != expected || full {
                        if first.parse::<usize>().is_err() {
                            return Err(syntax(line, first, "numbers or End"));
                        }
                        let found = words.len();
                        return Err(match full {
                            true => syntax(line, first, "End"),
                            false => wrong_numbers(found, expected).at(line),
                        });
                    }
                    found[set].push((line, words));
                }
            }
        }
    }
}

/// Refuses identical pieces of which only some show how they are turned.
fn check_alike(set: &FileSet, line: usize) -> Result<(), PuzzleError> {
    match set.solved.iter().find(|one| set.kinds_of(one.number).count() > 1) {
        Some(two) => Err(
            wrong!(Unsupported: "only some of the identical pieces with the number {} have the \
            orientation '?' (any orientation): give all or none of them a '?'", two.number)
            .at(line),
        ),
        None => Ok(()),
    }
}

fn number(line: usize, word: &str) -> Result<usize, PuzzleError> {
    digits(word).ok_or_else(|| syntax(line, word, "a number"))
}

fn syntax(line: usize, found: &str, expected: &str) -> PuzzleError {
    PuzzleError::syntax(0, found, &shown(expected, 32)).at(line)
}
