//! Puzzles derived from another one: with some of its moves, some of its pieces, or several solved states.
//!
//! The program and the files of puzzles describe what they want as a [`Variant`]; [`Variant::of`] makes the puzzle.

use std::{borrow::Cow, collections::BTreeSet, fmt, sync::Arc};

use num_bigint::BigUint;
use serde::Deserialize;

use crate::puzzle::{
    Arrangement, Move, PieceSet, Placed, Puzzle, PuzzleError, PuzzleErrorKind, Transformation,
    Turns,
    error::{MAX_GOALS, bail, wrong},
    reachable::Reachability,
    sets::{GoalSet, check_name},
};
use crate::{
    hint::{GENERATORS, Hint},
    units::{grouped, joined},
};

/// The changes to a puzzle before it is searched; by default there are none.
///
/// ```
/// use tilewave::frontier::FrontierSearch;
/// use tilewave::puzzle::{Variant, named, Turns};
/// let cube = named::parse("3x3x3").unwrap();
/// // What the first phase of H. Kociemba's algorithm has to solve.
/// let phase = Variant { subgroup: Variant::split("U D R2 L2 F2 B2"), ..Variant::default() };
/// let phase = phase.of(cube, Turns::Powers)?;
/// assert_eq!(phase.states().map(|states| states.to_string()), Some("2217093120".into()));
/// let search = FrontierSearch::new(phase).max_depth(3);
/// assert_eq!(search.run()?.counts, [1, 4, 50, 592]);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Variant {
    /// The turns to keep, by name, or sequences of which each becomes one turn; empty for all turns.
    pub moves: Vec<String>,
    /// The pieces to keep, as for [`Puzzle::keeping`]; empty for all pieces.
    pub pieces: Vec<String>,
    /// The pieces whose orientations are ignored, as for [`Puzzle::unoriented`].
    pub ignore_orientation: Vec<String>,
    /// The pieces that are made to look alike, as for [`Puzzle::alike`].
    pub same: Vec<String>,
    /// The solved states, as for [`Puzzle::read`]; `?` stands for any piece or any orientation, and a set that is
    /// left out may have any arrangement. Empty for the puzzle's own solved state.
    pub goals: Vec<String>,
    /// Sequences of moves that generate the subgroup up to which the states are solved.
    pub subgroup: Vec<String>,
}

impl Variant {
    /// Returns the sequences of a list separated by commas, or, if there are none, by spaces; angle brackets around the
    /// list are removed. Where nothing is between two commas, the sequence is empty, which is no move. For
    /// example `U D R2` or `<U, R>`.
    pub fn split(text: &str) -> Vec<String> {
        let text = text.trim();
        let inner = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')).unwrap_or(text);
        let parts = |is_end: fn(char) -> bool| {
            let mut depth = 0usize;
            let outside = move |c: char| {
                match c {
                    '(' | '[' => depth += 1,
                    ')' | ']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth == 0 && is_end(c)
            };
            inner.split(outside).map(|part| part.trim().to_string()).collect::<Vec<_>>()
        };
        let mut all = parts(|c| c == ',');
        if all.len() == 1 || all.iter().all(String::is_empty) {
            all = parts(char::is_whitespace);
            all.retain(|part| !part.is_empty() && part != ",");
        }
        all
    }

    /// Returns the variant of a puzzle whose moves are single turns; `turns` determines which of their powers count as
    /// one move.
    pub fn of(&self, mut puzzle: Puzzle, turns: Turns) -> Result<Puzzle, PuzzleError> {
        if self.moves.iter().chain(&self.subgroup).any(|text| text.trim().is_empty()) {
            bail!(Missing: "a sequence of moves is empty: write moves before and after each comma, \
                for example R,U");
        }
        if !self.moves.is_empty() {
            if matches!(turns, Turns::Slice | Turns::Axial) {
                let metric = Hint::Value("metric", turns.metric());
                bail!(Setting: "{metric} makes moves of all layers, and {GENERATORS} of some turns: leave out one of them");
            }
            let one = |text: &String| {
                let transformation = puzzle.read_moves(text)?;
                let name = joined(text.split_whitespace(), " ");
                // A word of one move, if what counting adds to it is read as that: not `R2` or `R'`, of which a power
                // would be `R23` or `R'2`. A sequence in brackets is read as what it does, with or without a power.
                let is_read = puzzle.named_move(&name).is_some();
                let twice = transformation.then(&transformation, puzzle.sets()).is_identity();
                let is_word = check_name(&name).is_ok() && (is_read || twice);
                let name = if is_word { name } else { format!("({name})") };
                Ok::<_, PuzzleError>(Move::free(name, transformation))
            };
            let moves = self.moves.iter().map(one).collect::<Result<Vec<_>, _>>()?;
            let name = format!("{} <{}>", puzzle.name(), self.moves.join(","));
            let conditions = (puzzle.illegal().to_vec(), puzzle.blocks().to_vec());
            let (sets, notation) = (puzzle.sets().to_vec(), puzzle.notation);
            // Sequences of moves may still use the other moves.
            let others = puzzle.moves.iter().chain(&puzzle.aliases).cloned();
            let is_other = |old: &Move| moves.iter().all(|new| new.name != old.name);
            let others: Vec<Move> = others.filter(is_other).collect();
            let note = match &self.moves[..] {
                [word] if word.len() > 1 => {
                    let letters: Vec<String> = word.chars().map(String::from).collect();
                    let run_together = letters.iter().all(|one| puzzle.named_move(one).is_some());
                    run_together.then(|| {
                        let apart = letters.join(",");
                        format!("{word} is one move, a sequence; commas separate moves: {apart}")
                    })
                }
                _ => None,
            };
            puzzle = Puzzle::under(name, sets, moves, conditions)?;
            puzzle.aliases.extend(others);
            puzzle.notation = notation;
            puzzle.notes.extend(note);
        }
        puzzle = puzzle.counting(turns)?;
        if !self.pieces.is_empty() {
            puzzle = puzzle.keeping(&self.pieces)?;
        }
        if !self.ignore_orientation.is_empty() {
            puzzle = puzzle.unoriented(&self.ignore_orientation)?;
        }
        if !self.same.is_empty() {
            puzzle = puzzle.alike(&self.same)?;
        }
        if self.goals.is_empty() && self.subgroup.is_empty() {
            return Ok(puzzle);
        }
        let reachable = Reachability::of(&puzzle);
        let goal = |(number, text): (usize, &String)| {
            let read = puzzle.read_mask_or_moves(&reachable, text);
            match read.map_err(|error| GOALS.at(number, error))? {
                (goal, true) => Ok(goal),
                (_, false) => Err(unknown_goals(&puzzle, number)),
            }
        };
        let mut goals = (1..).zip(&self.goals).map(goal).collect::<Result<Vec<_>, _>>()?;
        if goals.is_empty() {
            goals.push(puzzle.solved());
        }
        let moves = self.subgroup.iter().map(|text| puzzle.read_moves(text));
        let subgroup = moves.collect::<Result<Vec<_>, _>>()?;
        let name = match self.subgroup.as_slice() {
            [] => puzzle.name().to_string(),
            subgroup => format!("{} up to <{}>", puzzle.name(), subgroup.join(",")),
        };
        puzzle.called(name).solved_by(&goals, &subgroup)
    }
}

// What a result says of its puzzle.

impl Puzzle {
    /// Returns the solved states and masks as text: those of a goal set as they were given, otherwise the only one.
    pub fn goal_texts(&self) -> Vec<String> {
        self.goals
            .as_ref()
            .map_or_else(|| vec![self.text(&self.solved())], |goals| goals.texts.clone())
    }
}

impl fmt::Display for Puzzle {
    /// Writes the name, followed by the metric if it is not the usual one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.metric().filter(|metric| !["stm", "htm"].contains(metric)) {
            Some(metric) => write!(f, " {metric}"),
            None => Ok(()),
        }
    }
}

// Goal sets: puzzles that have several solved states.
//
// A goal is a state or a **mask**, a state in which `?` stands for any piece or any orientation. A goal set may also
// be closed under some moves: the states that are solved up to a subgroup. If all states of a set look alike to some
// of the pieces, the set is a single state of a projection, and the puzzle becomes this projection.
//
// Invariant: moves lead from the solved puzzle to every solved state, and no solved state is listed twice.

impl Puzzle {
    /// Returns the solved states in order: one state, or all states of a goal set.
    pub fn goals(&self) -> Cow<'_, [Arrangement]> {
        match &self.goals {
            Some(goals) => Cow::Borrowed(&goals.states),
            None => Cow::Owned(vec![self.solved()]),
        }
    }

    /// Returns whether a state is solved.
    pub fn is_goal(&self, state: &Arrangement) -> bool {
        match &self.goals {
            Some(goals) => goals.states.binary_search(state).is_ok(),
            None => *state == self.solved(),
        }
    }

    /// Returns the puzzle whose solved states are those that match these states and masks, closed under some moves. If
    /// all of them look alike to some of the pieces, it is the projection in which they are a single state, and a note
    /// says so.
    pub(super) fn solved_by(
        self,
        masks: &[Arrangement],
        subgroup: &[Transformation],
    ) -> Result<Puzzle, PuzzleError> {
        let solved = self.solved();
        let projection = match masks {
            [mask] if subgroup.is_empty() && *mask == solved => return Ok(self),
            [mask] if subgroup.is_empty() => self.seen_by(mask)?,
            [mask] if *mask == solved => self.cosets(subgroup)?,
            _ => None,
        };
        if let Some(projection) = projection {
            return Ok(projection);
        }
        let named = if subgroup.is_empty() { self.named_by(masks)? } else { None };
        match (self.closed(masks, subgroup), named) {
            (Err(error), Some((named, masks))) if error.kind() == PuzzleErrorKind::Range => {
                named.closed(&masks, &[])
            }
            (closed, _) => closed,
        }
    }

    /// The projection in which the pieces that no mask names look alike, and those do not turn whose orientation no mask
    /// asks for, with the masks there; `None` if it would be the puzzle itself.
    fn named_by(
        &self,
        masks: &[Arrangement],
    ) -> Result<Option<(Puzzle, Vec<Arrangement>)>, PuzzleError> {
        if self.moves.iter().any(|one| one.requires.is_some()) {
            return Ok(None);
        }
        let mut seen = self.clone();
        for (index, set) in self.sets.iter().enumerate() {
            let of = |kind: usize| {
                let all = masks.iter().flat_map(|mask| &mask.0[index]);
                all.filter(move |piece| usize::from(piece.kind) == kind)
            };
            let turns = |kind: usize| of(kind).any(|piece| piece.turn != Placed::ANY);
            // Whatever piece is there.
            let any = turns(Placed::ANY.into());
            let kinds = 0..set.moduli.len();
            let hidden: Vec<bool> = kinds.clone().map(|kind| of(kind).next().is_none()).collect();
            let mut moduli = kinds.clone().filter(|&kind| hidden[kind]).map(|k| set.moduli[k]);
            let first = moduli.next();
            if any && moduli.any(|modulus| Some(modulus) != first) {
                return Ok(None);
            }
            seen.merge(index, &hidden, !any)?;
            seen.unturn(index, &kinds.map(|kind| !any && !turns(kind)).collect::<Vec<_>>());
        }
        seen.name = format!("{} with equal pieces where no goal names them", self.name);
        let note = "pieces that no goal names look alike; the counts are those of this projection";
        let seen = seen.rebuilt()?.noted(note.into());
        if seen.sets == self.sets {
            return Ok(None);
        }
        let mapped = |mask: &Arrangement| {
            let row = |(row, (own, there)): (&Vec<Placed>, (&PieceSet, &PieceSet))| {
                let piece = |piece: &Placed| {
                    let home = own.solved.iter().position(|one| one.kind == piece.kind);
                    let kind = home.map_or(Placed::ANY, |home| there.solved[home].kind);
                    let modulus =
                        there.moduli.get(usize::from(kind)).copied().unwrap_or(Placed::ANY);
                    let turn = if modulus == 1 { 0 } else { piece.turn };
                    Placed { kind, turn }
                };
                row.iter().map(piece).collect()
            };
            Arrangement(mask.0.iter().zip(self.sets.iter().zip(&seen.sets)).map(row).collect())
        };
        let masks = masks.iter().map(mapped).collect();
        Ok(Some((seen, masks)))
    }

    /// Returns the puzzle with these solved states, which its moves must reach.
    pub(crate) fn solved_at(self, states: BTreeSet<Arrangement>) -> Puzzle {
        if states.len() == 1 && states.contains(&self.solved()) {
            return self;
        }
        let texts = states.iter().map(|state| self.text(state)).collect();
        let goals = GoalSet { texts, subgroup: Vec::new(), states: states.into_iter().collect() };
        Puzzle { goals: Some(Arc::new(goals)), ..self }
    }

    /// Returns the puzzle with only those moves that lie in the subgroup up to which a variant is solved; `None` if
    /// there is no subgroup, or if these moves do not generate it.
    pub(crate) fn within(&self, variant: &Puzzle, of: &Variant) -> Option<Puzzle> {
        if of.subgroup.is_empty() || !of.goals.is_empty() || !of.pieces.is_empty() {
            return None;
        }
        let stays =
            |one: &Move| variant.is_goal(&variant.after(&variant.solved(), &one.transformation));
        let kept = |name: &str| self.moves.iter().any(|one| one.name == name && stays(one));
        let within = self.clone().only(kept).ok()?;
        let all = self.states()? / variant.states()?;
        let made = match &variant.goals {
            Some(goals) => BigUint::from(goals.states.len()),
            None => all,
        };
        (within.states()? == made).then_some(within)
    }

    /// Returns the puzzle whose solved states are those that match a mask, and those that a subgroup produces from
    /// them.
    pub(super) fn closed(
        self,
        masks: &[Arrangement],
        subgroup: &[Transformation],
    ) -> Result<Puzzle, PuzzleError> {
        let (mut states, unknown) = self.fitting(masks, &GOALS)?;
        if let Some(number) = unknown {
            return Err(unknown_goals(&self, number));
        }
        let mut open: Vec<Arrangement> = states.iter().cloned().collect();
        while let Some(state) = open.pop() {
            let after = subgroup.iter().map(|one| self.after(&state, one));
            open.extend(after.filter(|state| states.insert(state.clone())));
            if states.len() > MAX_GOALS {
                return Err(GOALS.many(&self));
            }
        }
        states.iter().try_for_each(|state| self.check_legal(state, "goal"))?;
        let texts: BTreeSet<String> = masks.iter().map(|mask| self.text(mask)).collect();
        let (texts, states) = (texts.into_iter().collect(), states.into_iter().collect());
        let goals = GoalSet { texts, subgroup: subgroup.to_vec(), states };
        Ok(Puzzle { goals: Some(Arc::new(goals)), ..self })
    }

    /// Returns the state or mask that a text means, and whether it is known that moves reach it if it is a state.
    fn read_mask_or_moves(
        &self,
        reachable: &Reachability,
        text: &str,
    ) -> Result<(Arrangement, bool), PuzzleError> {
        if !self.is_arrangement(text) {
            let all = self.read_sequence(text)?;
            return Ok((self.after(&self.solved(), &all.effect), true));
        }
        let mask = self.read_mask(text)?;
        if is_masked(&mask) {
            return Ok((mask, true));
        }
        match reachable.reaches(self, &mask) {
            Some(Err(why)) => Err(PuzzleError::unreached(self, why)),
            known => Ok((mask, known.is_some())),
        }
    }

    /// Returns the states and masks that some texts mean as states of which something is asked, and whether it is known
    /// that moves reach all that are states.
    pub(crate) fn read_states_asked(
        &self,
        texts: &[String],
    ) -> Result<(Vec<Arrangement>, bool), PuzzleError> {
        let reachable = Reachability::of(self);
        let read = |(number, text): (usize, &String)| {
            self.read_mask_or_moves(&reachable, text).map_err(|e| ASKED.at(number, e))
        };
        let read = (1..).zip(texts).map(read).collect::<Result<Vec<_>, _>>()?;
        let are_known = read.iter().all(|(_, is_known)| *is_known);
        Ok((read.into_iter().map(|(mask, _)| mask).collect(), are_known))
    }

    /// Returns the states that match one of some masks, without those that moves do not reach as far as that is known,
    /// and which mask, counted from 1, matches one of which it is not. A mask without `?` is a state, which is not
    /// tested again.
    pub(crate) fn fitting(
        &self,
        masks: &[Arrangement],
        of: &MaskUse,
    ) -> Result<(BTreeSet<Arrangement>, Option<usize>), PuzzleError> {
        let reached = Reachability::of(self);
        let (mut states, mut unknown) = (BTreeSet::new(), None);
        for (number, mask) in (1..).zip(masks) {
            if !is_masked(mask) {
                states.insert(mask.clone());
                continue;
            }
            let (mut fit, mut wrong) = (false, None);
            for state in self.matching(mask, of)? {
                match reached.reaches(self, &state) {
                    Some(Err(why)) => wrong = Some(why),
                    known => {
                        fit = true;
                        unknown = unknown.or(known.is_none().then_some(number));
                        states.insert(state);
                    }
                }
                if states.len() > MAX_GOALS {
                    return Err(of.many(self));
                }
            }
            if !fit {
                let why = wrong
                    .map_or("the pieces are not those of the puzzle".into(), |why| why.to_string());
                return Err(of.at(number, PuzzleError::unreached(&self.name, why)));
            }
        }
        Ok((states, unknown))
    }

    /// The projection in which a mask is the solved state, if there is one: each kind of piece occurs at all of its
    /// positions or nowhere, and the orientations of the others are given everywhere or nowhere.
    fn seen_by(&self, mask: &Arrangement) -> Result<Option<Puzzle>, PuzzleError> {
        if !fits(&self.solved(), mask) || self.moves.iter().any(|one| one.requires.is_some()) {
            return Ok(None);
        }
        let mut seen = self.clone();
        for (index, row) in mask.0.iter().enumerate() {
            let set = &self.sets[index];
            // For each kind, the masked pieces at its positions.
            let of = |kind: usize| {
                let own = move |(piece, _): &(&Placed, &Placed)| usize::from(piece.kind) == kind;
                set.solved.iter().zip(row).filter(own).map(|(_, masked)| masked)
            };
            let kinds = 0..set.moduli.len();
            let is_free = |k: usize, m: &Placed| m.turn == Placed::ANY || set.moduli[k] == 1;
            let hidden: Vec<bool> =
                kinds.clone().map(|k| of(k).all(|m| m.kind == Placed::ANY)).collect();
            let unturned: Vec<bool> = kinds.clone().map(|k| of(k).all(|m| is_free(k, m))).collect();
            let rest = || kinds.clone().filter(|&k| hidden[k]);
            let unseen = rest().all(|k| unturned[k]);
            let mixed = |k: usize| {
                of(k).any(|m| (m.kind == Placed::ANY) != hidden[k] || is_free(k, m) != unturned[k])
            };
            let modulus = rest().next().map_or(1, |k| set.moduli[k]);
            let alike = |k: usize| unseen || !unturned[k] && set.moduli[k] == modulus;
            if kinds.clone().any(mixed) || !rest().all(alike) {
                return Ok(None);
            }
            if rest().next().is_some() {
                seen.merge(index, &hidden, unseen)?;
            }
            let named = |kind: usize| unturned[kind] && !hidden[kind];
            seen.unturn(index, &kinds.clone().map(named).collect::<Vec<_>>());
        }
        seen.name = format!("{} solved in part", self.name);
        let note = "the goals together correspond to one state of a projection of the puzzle; the \
                    counts are those of the projection";
        Ok(Some(seen.rebuilt()?.noted(note.into())))
    }

    /// The projection whose states are the cosets of the subgroup that some moves generate, if there is one: pieces
    /// that the subgroup takes to each other's places look alike.
    fn cosets(&self, subgroup: &[Transformation]) -> Result<Option<Puzzle>, PuzzleError> {
        if self.free_moves().is_none() {
            return Ok(None);
        }
        let mut seen = self.clone();
        for (index, set) in seen.sets.iter_mut().enumerate() {
            join(set, index, subgroup);
        }
        let Ok(seen) = seen.rebuilt() else { return Ok(None) };
        let one = |(i, of): (usize, &Transformation)| Move::free(i.to_string(), of.clone());
        let moves = subgroup.iter().enumerate().map(one).collect();
        let made = match Puzzle::new("", self.sets.clone(), moves) {
            Ok(made) => made.states(),
            // The subgroup has no visible effect.
            Err(error) if error.kind() == PuzzleErrorKind::NoMoves => Some(BigUint::from(1u8)),
            Err(error) => return Err(error),
        };
        let each = match (self.states(), seen.states(), made) {
            (Some(all), Some(seen), Some(made)) if all == seen.clone() * &made => made,
            _ => return Ok(None),
        };
        let note = format!(
            "states that the subgroup maps to each other count as one; each counted state stands \
             for {}",
            grouped(&each.to_string())
        );
        Ok(Some(seen.noted(note)))
    }

    /// The arrangements that match a mask.
    fn matching(
        &self,
        mask: &Arrangement,
        of: &MaskUse,
    ) -> Result<impl Iterator<Item = Arrangement> + use<>, PuzzleError> {
        let choices = self.sets.iter().zip(&mask.0).map(|(set, row)| rows(set, row));
        let choices = choices.collect::<Option<Vec<_>>>().ok_or_else(|| of.may_be_many(self))?;
        let all = choices.iter().fold(1usize, |all, rows| all.saturating_mul(rows.len()));
        if all > MAX_TRIED {
            return Err(of.may_be_many(self));
        }
        Ok((0..all).map(move |mut rest| {
            let row = |rows: &Vec<Vec<Placed>>| {
                let own = rows[rest % rows.len()].clone();
                rest /= rows.len();
                own
            };
            Arrangement(choices.iter().map(row).collect())
        }))
    }
}

/// What states and masks are for, as errors say it.
pub(crate) struct MaskUse {
    name: &'static str,
    many: &'static str,
}

const GOALS: MaskUse = MaskUse {
    name: "goal",
    many: "goal states, and these do not form a single state of a projection of the puzzle: choose \
           options that leave fewer goals",
};

/// States of which something is asked.
pub(crate) const ASKED: MaskUse =
    MaskUse { name: "state", many: "such states: leave fewer places open" };

impl MaskUse {
    fn at(&self, number: usize, error: PuzzleError) -> PuzzleError {
        error.of_state(self.name, number)
    }

    /// There are too many arrangements to try.
    fn may_be_many(&self, puzzle: &Puzzle) -> PuzzleError {
        wrong!(Range: "{}: there may be more than {MAX_GOALS} {}", puzzle.name, self.many)
    }

    fn many(&self, puzzle: &Puzzle) -> PuzzleError {
        wrong!(Range: "{}: there are more than {MAX_GOALS} {}", puzzle.name, self.many)
    }
}

fn unknown_goals(puzzle: &Puzzle, number: usize) -> PuzzleError {
    let error = wrong!(Undecided: "{puzzle} can have only one goal, because it is not known which other \
        goals the moves reach");
    GOALS.at(number, error)
}

fn is_masked(mask: &Arrangement) -> bool {
    mask.0.iter().flatten().any(Placed::is_masked)
}

/// Maximum number of arrangements that are compared with a mask.
const MAX_TRIED: usize = 1 << 22;

/// Whether an arrangement matches a mask.
fn fits(state: &Arrangement, mask: &Arrangement) -> bool {
    let fits = |(piece, mask): (&Placed, &Placed)| {
        (mask.kind == Placed::ANY || mask.kind == piece.kind)
            && (mask.turn == Placed::ANY || mask.turn == piece.turn)
    };
    state.0.iter().flatten().zip(mask.0.iter().flatten()).all(fits)
}

/// The rows of a set's pieces that match a row of a mask; `None` if there are too many.
pub(super) fn rows(set: &PieceSet, mask: &[Placed]) -> Option<Vec<Vec<Placed>>> {
    let kinds = 0..set.moduli.len() as u8;
    if least_rows(set, mask) > MAX_TRIED as f64 {
        return None;
    }
    let mut rows = vec![Vec::new()];
    for (at, &masked) in mask.iter().enumerate() {
        let mut longer = Vec::new();
        for row in &rows {
            let used = |kind: u8| {
                let later = mask[at..].iter().filter(|later| later.kind == kind).count();
                row.iter().filter(|piece: &&Placed| piece.kind == kind).count() + later
            };
            let free = kinds.clone().filter(|&kind| match masked.kind {
                Placed::ANY => used(kind) < set.pieces_of(kind),
                named => named == kind,
            });
            for kind in free {
                let turns = 0..set.moduli[usize::from(kind)];
                for turn in turns.filter(|&turn| masked.turn == Placed::ANY || masked.turn == turn)
                {
                    let mut next = row.clone();
                    next.push(Placed { kind, turn });
                    longer.push(next);
                }
            }
        }
        if longer.len() > MAX_TRIED {
            return None;
        }
        rows = longer;
    }
    Some(rows)
}

/// A lower bound on the number of rows that match a mask: the orders of the pieces that it does not name, each turned in at
/// least so many ways.
fn least_rows(set: &PieceSet, mask: &[Placed]) -> f64 {
    let is_named = |kind: u8| mask.iter().filter(|masked| masked.kind == kind).count();
    let left = (0..)
        .zip(&set.moduli)
        .map(|(kind, &modulus)| (set.pieces_of(kind).saturating_sub(is_named(kind)), modulus));
    let left: Vec<(usize, u8)> = left.filter(|(count, _)| *count > 0).collect();
    let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    let orders = left
        .iter()
        .fold(factorial(is_named(Placed::ANY)), |all, (count, _)| all / factorial(*count));
    let turned = mask.iter().filter(|masked| **masked == Placed::MASK).count();
    let turns = left.iter().map(|&(_, modulus)| modulus).min().unwrap_or(1);
    orders * f64::from(turns).powi(turned as i32)
}

/// Makes those pieces of a set look alike that a subgroup takes to each other's places, with their orientations
/// matched accordingly.
fn join(set: &mut PieceSet, index: usize, subgroup: &[Transformation]) {
    let each = usize::from(set.orientations);
    let moves: Vec<Vec<u8>> =
        subgroup.iter().map(|of| of.locations(index, set.orientations)).collect();
    let location = |position: usize, turn: usize| position * each + turn % each;
    let mut joined: Vec<Option<Placed>> = vec![None; set.positions()];
    let mut moduli = Vec::new();
    for first in 0..set.positions() {
        if joined[first].is_some() {
            continue;
        }
        // Where a mark on a piece arrives, including places where a piece that looks alike is.
        let mut marked = vec![false; set.locations()];
        let mut open = vec![location(first, set.solved[first].turn.into())];
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut marked[at], true) {
                continue;
            }
            open.extend(moves.iter().map(|to| usize::from(to[at])));
            let piece = set.solved[at / each];
            let modulus = usize::from(set.moduli[usize::from(piece.kind)]);
            let ahead = at % each + each - usize::from(piece.turn);
            let same = set.solved.iter().enumerate().filter(|(_, other)| other.kind == piece.kind);
            for (position, other) in same {
                let turns = (0..each).filter(|turn| turn % modulus == ahead % modulus);
                open.extend(turns.map(|turn| location(position, usize::from(other.turn) + turn)));
            }
        }
        let turns = |position: usize| {
            (0..each).filter(|&turn| marked[location(position, turn)]).collect::<Vec<_>>()
        };
        let modulus = (each / turns(first).len()) as u8;
        for (position, piece) in joined.iter_mut().enumerate() {
            if let Some(&turn) = turns(position).first() {
                *piece = Some(Placed { kind: moduli.len() as u8, turn: turn as u8 % modulus });
            }
        }
        moduli.push(modulus);
    }
    let placed = |piece: Option<Placed>| piece.expect("every position was the first one or joined");
    set.solved = joined.into_iter().map(placed).collect();
    set.moduli = moduli;
}
