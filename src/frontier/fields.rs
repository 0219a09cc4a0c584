//! States as rows of small numbers, and the effects of moves and symmetries on them.
//!
//! A **field** is a number below 128. In a set whose pieces all differ, field p is the location of piece p,
//! `position * modulus + orientation`. If all pieces but a few look alike and have no visible orientations, only these
//! few have fields. Otherwise, field i is the piece at position i. If all moves depend on one piece of such a set,
//! as those of a board depend on the blank, lists of states may be shorter **with lines**: this piece has its location,
//! and field i is the piece at place i of the line, which is the other positions in their order.
//!
//! Invariant: every move and every symmetry is a [`FieldMap`]: each field of the result is an entry of a table, indexed
//! by one field of the argument. Two arrangements that look alike have the same fields. Pieces that never move have
//! none.

use std::collections::{BTreeSet, HashMap};

use crate::puzzle::{
    Arrangement, GluedPiece, Move, PieceAt, PieceSet, Placed, Puzzle, SetAction, Transformation,
    symmetry::Relabelling,
};

/// The meaning of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    /// The location of the only piece of a kind.
    Location { kind: u8 },
    /// The piece at a position, or at a place of the line.
    Content { position: u8 },
}

/// The place in the line of a position that is not that of the piece without a place.
fn place_of(position: usize, without: usize) -> usize {
    position - usize::from(position > without)
}

/// The position of a place in the line.
fn position_of(place: usize, without: usize) -> usize {
    place + usize::from(place >= without)
}

/// One field of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateField {
    pub set: usize,
    pub kind: FieldKind,
    /// The number of its values.
    pub values: usize,
    /// For a location, the number of orientations per position.
    pub modulus: usize,
}

/// The fields of a puzzle's states.
#[derive(Clone, Debug)]
pub(crate) struct StateFields {
    pub fields: Vec<StateField>,
    /// For each set whose fields are contents, the first value of each kind, whose orientations are consecutive.
    pub first_value: Vec<Vec<u8>>,
    /// For each set whose other pieces stand in a line, the kind of the piece that does not.
    pub without: Vec<Option<u8>>,
}

/// A field of the keys: a field that the coordinate does not determine, or not completely.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyPart {
    pub field: usize,
    /// Whether the coordinate determines the position, so that only the orientation is left.
    pub turn: bool,
    pub values: usize,
}

/// A map of rows of fields: field q of the result is the entry of `table[q]` for field `source[q]` of the argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FieldMap {
    pub source: Vec<u16>,
    pub table: Vec<Vec<u8>>,
}

impl FieldMap {
    pub fn apply(&self, row: &[u8]) -> Vec<u8> {
        let mut image = Vec::with_capacity(self.source.len());
        self.apply_to(row, &mut image);
        image
    }

    pub fn apply_to(&self, row: &[u8], to: &mut Vec<u8>) {
        to.clear();
        let value = |(&from, table): (&u16, &Vec<u8>)| table[usize::from(row[usize::from(from)])];
        to.extend(self.source.iter().zip(&self.table).map(value));
    }

    /// Whether a map takes this one to another: this, then the map, is the same as the map, then the other.
    fn becomes(&self, map: &FieldMap, other: &FieldMap) -> bool {
        (0..self.source.len()).all(|q| {
            let (own, from) = (usize::from(map.source[q]), usize::from(other.source[q]));
            let both = self.table[own].iter().map(|&value| map.table[q][usize::from(value)]);
            let others = map.table[from].iter().map(|&value| other.table[q][usize::from(value)]);
            self.source[own] == map.source[from] && both.eq(others)
        })
    }

    pub fn then(&self, next: &FieldMap) -> FieldMap {
        let both = |(&middle, last): (&u16, &Vec<u8>)| {
            let first = &self.table[usize::from(middle)];
            first.iter().map(|&value| last[usize::from(value)]).collect()
        };
        FieldMap {
            source: next.source.iter().map(|&q| self.source[usize::from(q)]).collect(),
            table: next.source.iter().zip(&next.table).map(both).collect(),
        }
    }

    /// Returns the inverse map; panics if a table is not a permutation.
    pub fn inverse(&self) -> FieldMap {
        let mut inverse = self.clone();
        for (q, (&from, table)) in self.source.iter().zip(&self.table).enumerate() {
            inverse.source[usize::from(from)] = q as u16;
            let back = &mut inverse.table[usize::from(from)];
            *back = vec![0; table.len()];
            for (value, &image) in table.iter().enumerate() {
                back[usize::from(image)] = value as u8;
            }
        }
        inverse
    }
}

/// What turns rows with lines into rows by position.
pub(crate) struct Unlined(Vec<UnlinedField>);

enum UnlinedField {
    /// This field of the other row.
    Same(usize),
    /// What is at a position of a set whose line begins with this field, after that of the location of a piece.
    Placed { position: usize, line: usize, alone: u8 },
}

impl Unlined {
    /// Returns `None` if the rows are the same.
    pub fn new(puzzle: &Puzzle, lined: &StateFields) -> Option<Unlined> {
        lined.without.iter().flatten().next()?;
        let field = |own: &StateField| {
            let (set, first) = (own.set, |of: &StateField| of.set == own.set);
            let first = lined.fields.iter().position(first).expect("it has the same sets");
            match (lined.without[set], own.kind) {
                (Some(kind), FieldKind::Content { position }) => UnlinedField::Placed {
                    position: position.into(),
                    line: first + 1,
                    alone: lined.first_value[set][usize::from(kind)],
                },
                _ => {
                    let same = lined.fields.iter().position(|other| other == own);
                    UnlinedField::Same(same.expect("it has the same fields"))
                }
            }
        };
        Some(Unlined(StateFields::of(puzzle).fields.iter().map(field).collect()))
    }

    /// Writes the row by position of a row with lines.
    pub fn write(&self, row: &[u8], to: &mut Vec<u8>) {
        to.clear();
        to.extend(self.0.iter().map(|field| match *field {
            UnlinedField::Same(field) => row[field],
            UnlinedField::Placed { position, line, alone } => match usize::from(row[line - 1]) {
                at if at == position => alone,
                at => row[line + place_of(position, at)],
            },
        }));
    }
}

/// A block that a move may split, as fields show it.
pub(crate) struct FieldBlock {
    pub pieces: u8,
    /// The fields that say where pieces are, and for each of their values 1 if it says that the move takes one along.
    pub fields: Vec<(usize, Vec<u8>)>,
}

impl FieldBlock {
    /// Whether the move takes along some of the pieces, and leaves others.
    #[inline]
    pub fn is_split(&self, row: &[u8]) -> bool {
        let taken = |(field, table): &(usize, Vec<u8>)| table[usize::from(row[*field])];
        let taken: u8 = self.fields.iter().map(taken).sum();
        taken > 0 && taken < self.pieces
    }
}

impl StateFields {
    pub fn of(puzzle: &Puzzle) -> StateFields {
        StateFields::with(puzzle, |_| None)
    }

    pub fn with_lines(puzzle: &Puzzle) -> StateFields {
        StateFields::with(puzzle, |index| needed_by_all(puzzle, index))
    }

    /// A function gives the kind of the piece that does not stand in the line of a set.
    fn with(puzzle: &Puzzle, alone: impl Fn(usize) -> Option<u8>) -> StateFields {
        let mut fields = Vec::new();
        let mut first_value = Vec::new();
        let mut without = Vec::new();
        for (index, set) in puzzle.sets().iter().enumerate() {
            let kinds = 0..set.moduli.len() as u8;
            let (single, several): (Vec<u8>, Vec<u8>) = kinds
                .filter(|&kind| set.pieces_of(kind) > 0)
                .partition(|&kind| set.pieces_of(kind) == 1);
            // If moves depend on pieces that look alike, these pieces have fields.
            let looked_at = |kind| {
                let of = |at: &PieceAt| usize::from(at.set) == index && at.kind == kind;
                puzzle.illegal().iter().any(of)
            };
            let rest = match several[..] {
                [] => true,
                [kind] => set.moduli[usize::from(kind)] == 1 && !looked_at(kind),
                _ => false,
            };
            let mut first = Vec::new();
            let mut values = 0;
            for modulus in &set.moduli {
                first.push(values as u8);
                values += usize::from(*modulus);
            }
            let home = |kind| set.solved.iter().position(|piece| piece.kind == kind);
            let located = |kind| {
                let modulus = usize::from(set.moduli[usize::from(kind)]);
                let values = set.positions() * modulus;
                StateField { set: index, kind: FieldKind::Location { kind }, values, modulus }
            };
            let held = |position: usize| {
                let kind = FieldKind::Content { position: position as u8 };
                StateField { set: index, kind, values, modulus: 1 }
            };
            let needed = if rest { None } else { alone(index) };
            if rest {
                let single = single
                    .iter()
                    .filter(|&&kind| home(kind).is_some_and(|p| puzzle.moves_at(index, p)));
                fields.extend(single.map(|&kind| located(kind)));
            } else if let Some(kind) = needed {
                fields.push(located(kind));
                fields.extend((1..set.positions()).map(|place| held(place - 1)));
            } else {
                fields
                    .extend((0..set.positions()).filter(|&p| puzzle.moves_at(index, p)).map(held));
            }
            first_value.push(first);
            without.push(needed);
        }
        StateFields { fields, first_value, without }
    }

    pub fn encode(&self, arrangement: &Arrangement) -> Vec<u8> {
        let at = |row: &[Placed], kind| {
            let position = row.iter().position(|piece| piece.kind == kind);
            position.expect("every piece is somewhere")
        };
        let value = |field: &StateField| {
            let row = &arrangement.0[field.set];
            let position = match field.kind {
                FieldKind::Location { kind } => at(row, kind),
                FieldKind::Content { position } => match self.without[field.set] {
                    Some(kind) => position_of(position.into(), at(row, kind)),
                    None => position.into(),
                },
            };
            self.value(field, field.set, position, row[position])
        };
        self.fields.iter().map(value).collect()
    }

    /// Returns the arrangement with these fields, which must be those of an arrangement.
    pub fn decode(&self, puzzle: &Puzzle, row: &[u8]) -> Arrangement {
        let set = |(index, set): (usize, &PieceSet)| {
            // Where no piece with a field is, there is one that never moves, or one of those that look alike.
            let alike = set.solved.iter().find(|piece| set.pieces_of(piece.kind) > 1);
            let is_placed = |kind| self.find(index, FieldKind::Location { kind }).is_some();
            let rest = |own: &Placed| *alike.filter(|_| is_placed(own.kind)).unwrap_or(own);
            let mut pieces: Vec<Placed> = set.solved.iter().map(rest).collect();
            let mut alone = None;
            for (field, &value) in row.iter().enumerate() {
                if self.fields[field].set == index {
                    let (place, piece) = self.piece_at(puzzle, field, value);
                    // The piece that does not stand in the line has the first field.
                    let position = alone.map_or(place, |alone| position_of(place, alone));
                    pieces[position] = piece;
                    if self.without[index] == Some(piece.kind) {
                        alone = Some(position);
                    }
                }
            }
            pieces
        };
        Arrangement(puzzle.sets().iter().enumerate().map(set).collect())
    }

    /// Returns the meaning of a value of a field: that a piece is at a position of its set, or at a place of its
    /// line.
    pub fn piece_at(&self, puzzle: &Puzzle, field: usize, value: u8) -> (usize, Placed) {
        let field = &self.fields[field];
        match field.kind {
            FieldKind::Location { kind } => {
                let (position, turn) =
                    (usize::from(value) / field.modulus, usize::from(value) % field.modulus);
                (position, Placed { kind, turn: turn as u8 })
            }
            FieldKind::Content { position } => {
                let first = &self.first_value[field.set];
                let moduli = &puzzle.sets()[field.set].moduli;
                let mut kinds =
                    (0..moduli.len()).filter(|&kind| moduli[kind] > 0 && first[kind] <= value);
                let kind = kinds.next_back().unwrap_or_default();
                (position.into(), Placed { kind: kind as u8, turn: value - first[kind] })
            }
        }
    }

    /// Returns the number of rows in which no two pieces are at the same position: at least the number of states.
    pub fn states(&self) -> f64 {
        let values = |(f, field): (usize, &StateField)| {
            let before = self.fields[..f].iter().filter(|other| other.set == field.set).count();
            match field.kind {
                FieldKind::Location { .. } => (field.values - before * field.modulus) as f64,
                FieldKind::Content { .. } => field.values as f64,
            }
        };
        self.fields.iter().enumerate().map(values).product()
    }

    /// Returns the field that determines whether this kind of piece is at this position, and the values for which it
    /// is; `None` if no move changes that.
    pub fn says(&self, puzzle: &Puzzle, at: PieceAt) -> Option<(usize, Vec<u8>)> {
        let set = usize::from(at.set);
        let modulus = puzzle.sets()[set].moduli[usize::from(at.kind)];
        let by_content = || self.find(set, FieldKind::Content { position: at.position });
        let field = self.location(at).or_else(by_content)?;
        let piece = Placed { kind: at.kind, turn: 0 };
        let first = self.value(&self.fields[field], set, at.position.into(), piece);
        Some((field, (first..first + modulus).collect()))
    }

    /// Returns the blocks that a move may split.
    pub fn blocks(&self, puzzle: &Puzzle, of: &Transformation) -> Vec<FieldBlock> {
        let field = |field: usize, block: &[GluedPiece]| {
            let StateField { set, values, .. } = self.fields[field];
            let is_taken = |value: usize| {
                let (position, piece) = self.piece_at(puzzle, field, value as u8);
                let is_glued =
                    |one: &GluedPiece| usize::from(one.set) == set && one.kind == piece.kind;
                u8::from(block.iter().any(is_glued) && of.takes(set, position))
            };
            let table: Vec<u8> = (0..values).map(is_taken).collect();
            table.contains(&1).then_some((field, table))
        };
        let of_block = |block: &Vec<GluedPiece>| {
            let fields = (0..self.fields.len()).filter_map(|f| field(f, block)).collect();
            FieldBlock { pieces: block.len() as u8, fields }
        };
        let blocks = puzzle.blocks().iter().map(of_block);
        blocks.filter(|block| !block.fields.is_empty()).collect()
    }

    /// Returns the field with the location of the only piece of a kind.
    pub fn location(&self, of: PieceAt) -> Option<usize> {
        self.find(of.set.into(), FieldKind::Location { kind: of.kind })
    }

    fn find(&self, set: usize, kind: FieldKind) -> Option<usize> {
        self.fields.iter().position(|field| field.set == set && field.kind == kind)
    }

    /// The value with which a field says that a piece is at a position of a set.
    fn value(&self, field: &StateField, set: usize, position: usize, piece: Placed) -> u8 {
        match field.kind {
            FieldKind::Location { .. } => (position * field.modulus) as u8 + piece.turn,
            FieldKind::Content { .. } => {
                self.first_value[set][usize::from(piece.kind)] + piece.turn
            }
        }
    }

    pub fn of_move(&self, puzzle: &Puzzle, one: &Move) -> FieldMap {
        let Transformation(turns) = &one.transformation;
        let target = |turn: &SetAction| {
            let mut to = vec![0; turn.source.len()];
            turn.source.iter().zip(0..).for_each(|(&from, place)| to[usize::from(from)] = place);
            to
        };
        let targets: Vec<Vec<usize>> = turns.iter().map(target).collect();
        self.map(puzzle, |(set, place), piece| {
            let needed = one.requires.filter(|at| usize::from(at.set) == set);
            let line = needed.filter(|_| self.without[set].is_some_and(|kind| kind != piece.kind));
            let line = line.map(|at| usize::from(at.position));
            let position = line.map_or(place, |from| position_of(place, from));
            let to = targets[set][position];
            let modulus = puzzle.sets()[set].moduli[usize::from(piece.kind)];
            let twist = turns[set].twist[to] % modulus;
            let piece = Placed { turn: (piece.turn + twist) % modulus, ..piece };
            (set, line.map_or(to, |from| place_of(to, targets[set][from])), piece)
        })
    }

    /// Whether a relabelling acts on fields: it must not change the order of a line.
    pub fn can_relabel(&self, of: &Relabelling) -> bool {
        let stays = |set: usize| {
            of.set[set] == set && of.location[set].iter().zip(0..).all(|(&to, at)| to == at)
        };
        (0..self.without.len()).all(|set| self.without[set].is_none() || stays(set))
    }

    /// Returns the effect of a relabelling that [`StateFields::can_relabel`]. If `still` is set, a value at a position
    /// that no move changes, where no piece with a field is in any state, keeps its orientation, so that relabellings
    /// with the same effect on states have the same map.
    pub fn of_relabelling(&self, puzzle: &Puzzle, of: &Relabelling, still: bool) -> FieldMap {
        let still: Vec<Vec<bool>> = (puzzle.sets().iter().enumerate())
            .map(|(index, set)| {
                let positions = 0..set.positions();
                positions.map(|position| still && !puzzle.moves_at(index, position)).collect()
            })
            .collect();
        self.map(puzzle, |place, piece| {
            let (set, position, image) = of.of_piece(puzzle, place, piece);
            match still[place.0][place.1] {
                true => (set, position, Placed { kind: image.kind, turn: piece.turn }),
                false => (set, position, image),
            }
        })
    }

    /// The map of rows, given where it takes the piece at a position of a set, and to which piece.
    fn map(
        &self,
        puzzle: &Puzzle,
        image: impl Fn((usize, usize), Placed) -> (usize, usize, Placed),
    ) -> FieldMap {
        let size = self.fields.len();
        let mut map = FieldMap { source: vec![0; size], table: vec![Vec::new(); size] };
        for (p, field) in self.fields.iter().enumerate() {
            let mut target = (field.set, field.kind);
            let table = (0..field.values).map(|value| {
                let (position, piece) = self.piece_at(puzzle, p, value as u8);
                let is_content = matches!(field.kind, FieldKind::Content { .. });
                if is_content && self.without[field.set] == Some(piece.kind) {
                    return value as u8; // It never stands in the line.
                }
                let (set, position, piece) = image((field.set, position), piece);
                let kind = match field.kind {
                    FieldKind::Location { .. } => FieldKind::Location { kind: piece.kind },
                    FieldKind::Content { .. } => FieldKind::Content { position: position as u8 },
                };
                target = (set, kind);
                self.value(field, set, position, piece)
            });
            let table = table.collect();
            let q = self.find(target.0, target.1).expect("a field of the puzzle");
            (map.source[q], map.table[q]) = (p as u16, table);
        }
        map
    }
}

/// The moves and goals of a puzzle as maps of rows and rows, against which relabellings are checked.
pub(super) struct KnownMoves<'a> {
    puzzle: &'a Puzzle,
    maps: Vec<FieldMap>,
    /// The number of each move, and of each goal.
    moves: HashMap<(FieldMap, Option<PieceAt>), usize>,
    goals: HashMap<Vec<u8>, usize>,
}

impl<'a> KnownMoves<'a> {
    pub fn new(puzzle: &'a Puzzle, fields: &StateFields) -> KnownMoves<'a> {
        let maps: Vec<_> = puzzle.moves().iter().map(|one| fields.of_move(puzzle, one)).collect();
        let map = |(one, own): (&Move, &FieldMap)| (own.clone(), one.requires);
        let moves = puzzle.moves().iter().zip(&maps).map(map).zip(0..).collect();
        let goals = puzzle.goals().iter().map(|goal| fields.encode(goal)).zip(0..).collect();
        KnownMoves { puzzle, maps, moves, goals }
    }

    /// Whether a map takes each move to a given one, and preserves the set of goals and the forbidden placements.
    pub fn agrees(&self, map: &FieldMap, of: &Relabelling, on_moves: &[u16]) -> bool {
        let illegal = self.puzzle.illegal();
        let moves = self.puzzle.moves();
        illegal.iter().all(|&at| illegal.contains(&self.place(of, at)))
            && self.keeps_blocks(of, |one| usize::from(on_moves[one]))
            && self.goals.keys().all(|goal| self.goals.contains_key(&map.apply(goal)))
            && (0..moves.len()).all(|one| {
                let to = usize::from(on_moves[one]);
                let requires = moves[one].requires.map(|at| self.place(of, at));
                requires == moves[to].requires && self.maps[one].becomes(map, &self.maps[to])
            })
    }

    /// The image of a placement.
    fn place(&self, of: &Relabelling, at: PieceAt) -> PieceAt {
        let set = usize::from(at.set);
        let orientations = usize::from(self.puzzle.sets()[set].orientations);
        let to = of.location[set][usize::from(at.position) * orientations];
        PieceAt {
            set: of.set[set] as u8,
            position: to / orientations as u8,
            kind: of.kind[set][usize::from(at.kind)].0,
        }
    }

    /// Whether a relabelling takes blocks to blocks, and what each move takes along to what its image does.
    fn keeps_blocks(&self, of: &Relabelling, image: impl Fn(usize) -> usize) -> bool {
        let (blocks, moves) = (self.puzzle.blocks(), self.puzzle.moves());
        let place = |set: u8, position: usize, kind| {
            self.place(of, PieceAt { set, position: position as u8, kind })
        };
        let sorted = |block: &mut dyn Iterator<Item = GluedPiece>| block.collect::<BTreeSet<_>>();
        let is_block = |block: &Vec<GluedPiece>| {
            let images = sorted(&mut block.iter().map(|one| {
                let PieceAt { set, kind, .. } = place(one.set, 0, one.kind);
                GluedPiece { set, kind }
            }));
            blocks.iter().any(|other| sorted(&mut other.iter().copied()) == images)
        };
        let takes_alike = |one: usize| {
            let (own, to) = (&moves[one].transformation, &moves[image(one)].transformation);
            blocks.iter().flatten().all(|piece| {
                (0..own.0[usize::from(piece.set)].source.len()).all(|position| {
                    let there = place(piece.set, position, piece.kind);
                    own.takes(piece.set.into(), position)
                        == to.takes(there.set.into(), there.position.into())
                })
            })
        };
        blocks.iter().all(is_block) && (0..moves.len()).all(takes_alike)
    }

    /// The image of each move, of several with the same effect only of one, and of each goal; `None` if a map does not
    /// preserve the set of goals, the set of moves and the forbidden placements.
    pub fn images(
        &self,
        map: &FieldMap,
        of: &Relabelling,
    ) -> Option<(Vec<Option<usize>>, Vec<usize>)> {
        let place = |at: PieceAt| self.place(of, at);
        let back = map.inverse();
        let illegal = self.puzzle.illegal();
        if !illegal.iter().all(|&at| illegal.contains(&place(at))) {
            return None;
        }
        let mut images = vec![None; self.puzzle.moves().len()];
        for ((one, requires), &number) in &self.moves {
            let image = (back.then(one).then(map), requires.map(place));
            images[number] = Some(*self.moves.get(&image)?);
        }
        if !self.keeps_blocks(of, |one| images[one].unwrap_or(one)) {
            return None;
        }
        let mut goals = vec![0; self.goals.len()];
        for (goal, &number) in &self.goals {
            goals[number] = *self.goals.get(&map.apply(goal))?;
        }
        Some((images, goals))
    }
}

/// The piece on whose position all moves of the pieces of a set depend; it must not turn.
fn needed_by_all(puzzle: &Puzzle, index: usize) -> Option<u8> {
    let set = &puzzle.sets()[index];
    let is_of = |at: &&PieceAt| usize::from(at.set) == index;
    let mut needed = puzzle.moves().iter().map(|one| one.requires.as_ref().filter(is_of));
    let kind = needed.next()??.kind;
    let is_alone = set.pieces_of(kind) == 1 && set.moduli[usize::from(kind)] == 1;
    let by_all = needed.all(|at| at.is_some_and(|at| at.kind == kind));
    (is_alone && by_all && !puzzle.illegal().iter().any(|at| is_of(&at))).then_some(kind)
}
