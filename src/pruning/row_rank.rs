//! The number of a state in a projection, computed from a row of the full puzzle.
//!
//! Invariant: for every symmetry of the puzzle, the number of a state's image is computed from the state's own row, in
//! one pass.

use std::sync::Arc;

use crate::{
    frontier::{FieldMap, StateFields},
    perm::lehmer::Below,
    puzzle::{
        Arrangement, GluedPiece, PieceAt, PieceSet, Placed, Puzzle, Transformation,
        ranking::{RankGroup, Ranking},
        symmetry::Relabelling,
    },
};

/// How the pieces of a puzzle correspond to those of a projection.
#[derive(Clone, Debug)]
pub(crate) struct PieceMap {
    /// For each set of the projection, the corresponding set of the puzzle.
    pub set: Vec<usize>,
    /// For each set of the projection and each kind of piece, the kind there, and the offset of its orientations.
    kind: Vec<Vec<Option<(u8, u8)>>>,
}

impl PieceMap {
    /// Returns how a puzzle's pieces correspond to those of a projection; `None` if it is not a projection, because a
    /// move of the puzzle has an effect there that no move has, or is allowed where it is not allowed there.
    pub fn new(puzzle: &Puzzle, projection: &Puzzle) -> Option<PieceMap> {
        let mut map = PieceMap { set: Vec::new(), kind: Vec::new() };
        for there in projection.sets() {
            let same = |o: &PieceSet| o.name == there.name && o.positions() == there.positions();
            let index = puzzle.sets().iter().position(same)?;
            let here = &puzzle.sets()[index];
            if here.orientations != there.orientations {
                return None;
            }
            let mut kinds: Vec<Option<(u8, u8)>> = vec![None; here.moduli.len()];
            for (own, piece) in here.solved.iter().zip(&there.solved) {
                let modulus = there.moduli[usize::from(piece.kind)];
                if !here.moduli[usize::from(own.kind)].is_multiple_of(modulus) {
                    return None;
                }
                let ahead = (piece.turn + modulus - own.turn % modulus) % modulus;
                let known = kinds[usize::from(own.kind)].get_or_insert((piece.kind, ahead));
                if *known != (piece.kind, ahead) {
                    return None;
                }
            }
            map.set.push(index);
            map.kind.push(kinds);
        }
        map.keeps_moves(puzzle, projection).then_some(map)
    }

    /// Returns the arrangement of the projection that corresponds to an arrangement of the puzzle.
    pub fn arrangement(&self, projection: &Puzzle, of: &Arrangement) -> Arrangement {
        let row = |(set, &own): (usize, &usize)| {
            of.0[own].iter().map(|&piece| self.piece(set, projection, piece)).collect()
        };
        Arrangement(self.set.iter().enumerate().map(row).collect())
    }

    /// Returns the mask of the projection that the images of exactly those states match that match a mask of the puzzle,
    /// or the name of the set in which the mask tells apart what looks alike in the projection.
    pub fn mask<'p>(
        &self,
        (puzzle, projection): (&'p Puzzle, &Puzzle),
        mask: &Arrangement,
    ) -> Result<Arrangement, &'p str> {
        let any = Placed::ANY;
        let masked = |own: usize, &piece: &Placed| -> Option<Placed> {
            let Some(set) = self.set.iter().position(|&there| there == own) else {
                return (piece.kind == any && piece.turn == any).then_some(piece);
            };
            let (here, there) = (&puzzle.sets()[own], &projection.sets()[set]);
            let kinds = &self.kind[set];
            // Of each kind that may stand there, the turn that is meant.
            let turned = |kind: usize| {
                let (seen, ahead) = kinds[kind].unwrap_or_default();
                let modulus = there.moduli[usize::from(seen)];
                let turn = if piece.turn == any { any } else { (piece.turn + ahead) % modulus };
                let same = piece.turn == any || modulus == here.moduli[kind];
                same.then_some(Placed { kind: seen, turn })
            };
            if piece.kind == any {
                let mut turns = (0..kinds.len()).map(|kind| Some(turned(kind)?.turn));
                let turn = turns.next()??;
                return turns
                    .all(|other| other == Some(turn))
                    .then_some(Placed { kind: any, turn });
            }
            let meant = turned(piece.kind.into())?;
            let alike =
                kinds.iter().filter(|kind| kind.is_some_and(|(seen, _)| seen == meant.kind));
            (alike.count() == 1).then_some(meant)
        };
        let rows = mask.0.iter().enumerate().map(|(own, row)| {
            let row: Option<Vec<Placed>> = row.iter().map(|piece| masked(own, piece)).collect();
            row.ok_or(&puzzle.sets()[own].name[..])
        });
        let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
        Ok(Arrangement(self.set.iter().map(|&own| std::mem::take(&mut rows[own])).collect()))
    }

    fn keeps_moves(&self, puzzle: &Puzzle, projection: &Puzzle) -> bool {
        let place = |at: &PieceAt| {
            let set = self.set.iter().position(|&o| o == usize::from(at.set))?;
            let (kind, _) = self.kind[set][usize::from(at.kind)]?;
            Some(PieceAt { set: set as u8, position: at.position, kind })
        };
        let seen = |one: &Transformation| projection.seen(one);
        let taken = |of: &Transformation| projection.taken(of);
        let known: Vec<_> = projection
            .moves()
            .iter()
            .map(|one| (seen(&one.transformation), taken(&one.transformation), one.requires))
            .collect();
        let moves = puzzle.moves().iter().all(|one| {
            let turns = self.set.iter().map(|&o| one.transformation.0[o].clone());
            let own = Transformation(turns.collect());
            let needs = one.requires.as_ref().map(place);
            !projection.does_something(&own)
                || known.iter().any(|(known, takes, requires)| {
                    (known, takes) == (&seen(&own), &taken(&own))
                        && (requires.is_none() || needs == Some(*requires))
                })
        });
        let illegal: Vec<_> = puzzle.illegal().iter().map(place).collect();
        moves
            && projection.illegal().iter().all(|at| illegal.contains(&Some(*at)))
            && projection.blocks().iter().all(|block| self.is_glued(puzzle, block))
    }

    /// Whether pieces that are glued together in the projection are so in the puzzle.
    fn is_glued(&self, puzzle: &Puzzle, block: &[GluedPiece]) -> bool {
        let kind = |one: &GluedPiece| {
            let set = self.set.iter().position(|&own| own == usize::from(one.set))?;
            let (kind, _) = self.kind[set][usize::from(one.kind)]?;
            Some(GluedPiece { set: set as u8, kind })
        };
        puzzle.blocks().iter().any(|own| {
            let own: Vec<_> = own.iter().filter_map(kind).collect();
            block.iter().all(|one| own.contains(one))
        })
    }

    /// Returns the piece in a set of the projection that corresponds to a piece of the puzzle.
    pub fn piece(&self, set: usize, projection: &Puzzle, piece: Placed) -> Placed {
        let (kind, ahead) = self.kind[set][usize::from(piece.kind)].unwrap_or_default();
        let modulus = projection.sets()[set].moduli[usize::from(kind)];
        Placed { kind, turn: (piece.turn + ahead) % modulus }
    }
}

/// A field of a row, and the meaning of each of its values.
#[derive(Clone, Debug)]
struct RowPart<T> {
    field: usize,
    values: Vec<T>,
}

/// For each value of a field, the index of a place in the group, and the piece there.
type PiecePart = RowPart<(u8, Placed)>;

/// How a group's share of a number is computed.
#[derive(Clone, Debug)]
enum GroupRank {
    /// From places in order: for each value, the place, above it (from bit 8) the orientation's share; and a weight.
    Places(Vec<(RowPart<u64>, u64)>),
    /// The same for few places.
    FewPlaces(Vec<(RowPart<u64>, u64)>),
    /// From the set of places of one kind: for each value, the place as a bit; and the weight of the set's number.
    Set { parts: Vec<RowPart<u32>>, number: Arc<[u32]>, weight: u64 },
    /// From the piece at each place: that of the solved state unless a field determines it.
    Contents { group: RankGroup, base: Vec<Placed>, parts: Vec<PiecePart> },
}

impl GroupRank {
    /// By one set of places; `None` if there are other pieces or orientations, or if not all pieces have fields.
    fn of_set(
        group: &RankGroup,
        parts: &[PiecePart],
        piece_of: impl Fn(&PiecePart) -> Option<u8>,
    ) -> Option<GroupRank> {
        let [first, last] = &group.several[..] else { return None };
        let bit = |&(index, piece): &(u8, Placed)| {
            let here = 1u32.checked_shl(index.into()).filter(|_| piece.kind == first.kind);
            here.unwrap_or_default()
        };
        let own = |part: &&PiecePart| part.values.iter().any(|value| bit(value) > 0);
        let own: Vec<_> = parts.iter().filter(own).collect();
        let pieces = own.iter().all(|part| piece_of(part) == Some(first.kind));
        let told = own.len() == if pieces { first.count } else { group.positions.len() };
        let plain = group.single.is_empty() && first.modulus == 1 && last.modulus == 1;
        if !plain || !told || group.positions.len() > MOST_BITS {
            return None;
        }
        let number = |set: u32| {
            let kind = |index| if set >> index & 1 == 1 { first.kind } else { last.kind };
            let piece = |index| Placed { kind: kind(index), turn: 0 };
            let fits = set.count_ones() as usize == first.count;
            if fits { (group.rank(piece) / first.place.max(1)) as u32 } else { 0 }
        };
        let number = (0..1 << group.positions.len()).map(number).collect();
        let bits = |part: &&PiecePart| part.values.iter().map(bit).collect();
        let parts = own.iter().map(|part| RowPart { field: part.field, values: bits(part) });
        let parts = parts.collect();
        Some(GroupRank::Set { parts, number, weight: first.place })
    }
}

/// Computes the number of a row's image under a symmetry in a projection.
#[derive(Clone, Debug)]
pub(crate) struct RowRank {
    groups: Vec<GroupRank>,
}

impl RowRank {
    /// How rows are numbered in a projection, through a symmetry of the puzzle followed by one of the projection.
    pub fn new(
        (puzzle, fields): (&Puzzle, &StateFields),
        (projection, ranking): (&Puzzle, &Ranking),
        map: &PieceMap,
        (symmetry, then): (&FieldMap, Option<&Relabelling>),
    ) -> RowRank {
        let of_group = |group: &RankGroup| {
            // The index of a position, and the piece there, to which a piece of a set is mapped.
            let image = |set: usize, position: usize, piece: Placed| {
                let piece = map.piece(set, projection, piece);
                let (set, position, piece) = match then {
                    Some(then) => then.of_piece(projection, (set, position), piece),
                    None => (set, position, piece),
                };
                let index = group.positions.iter().position(|&p| usize::from(p) == position);
                let here = index.filter(|_| set == group.set);
                (here.map_or(ELSEWHERE, |index| index as u8), piece)
            };
            let parts: Vec<PiecePart> = (0..fields.fields.len())
                .filter_map(|f| {
                    let own = fields.fields[f].set;
                    let set = map.set.iter().position(|&set| set == own)?;
                    let value = |&value: &u8| {
                        let (position, piece) = fields.piece_at(puzzle, f, value);
                        image(set, position, piece)
                    };
                    let values: Vec<_> = symmetry.table[f].iter().map(value).collect();
                    let here = values.iter().any(|(index, _)| *index != ELSEWHERE);
                    here.then(|| RowPart { field: usize::from(symmetry.source[f]), values })
                })
                .collect();
            let piece_of = |part: &PiecePart| {
                let first = part.values.first()?.1.kind;
                part.values.iter().all(|(_, piece)| piece.kind == first).then_some(first)
            };
            // Each single piece has its own field, and nothing else is visible.
            let places: Option<Vec<_>> = (group.single.iter())
                .map(|single| {
                    let mut own = parts.iter().filter(|part| piece_of(part) == Some(single.kind));
                    let part = own.next().filter(|_| own.next().is_none())?;
                    // It never arrives at positions outside the group.
                    let value = |(index, piece): &(u8, Placed)| {
                        u64::from(index & 63) | (u64::from(piece.turn) * single.turn) << 8
                    };
                    let values = part.values.iter().map(value).collect();
                    Some((RowPart { field: part.field, values }, single.place))
                })
                .collect();
            let unseen =
                group.several.len() < 2 && group.several.iter().all(|kind| kind.modulus == 1);
            if let (Some(mut places), true, true) = (places, unseen, group.positions.len() <= 64) {
                let counts = |(part, weight): &(RowPart<u64>, u64)| {
                    *weight > 0 || part.values.iter().any(|value| value >> 8 > 0)
                };
                places.truncate(places.iter().rposition(counts).map_or(0, |last| last + 1));
                return match group.positions.len() {
                    0..=Below::MAX => GroupRank::FewPlaces(places),
                    _ => GroupRank::Places(places),
                };
            }
            if let Some(set) = GroupRank::of_set(group, &parts, piece_of) {
                return set;
            }
            let mut base = vec![Placed { kind: 0, turn: 0 }; group.positions.len()];
            for (set, &own) in map.set.iter().enumerate() {
                let here = &puzzle.sets()[own];
                // Pieces that look alike are where no others are.
                let alike = here.solved.iter().find(|piece| here.pieces_of(piece.kind) > 1);
                let by_place = |piece: &Placed| {
                    let place = PieceAt { set: own as u8, position: 0, kind: piece.kind };
                    fields.location(place).is_some()
                };
                for (position, &solved) in here.solved.iter().enumerate() {
                    let rest = alike.filter(|_| by_place(&solved)).copied().unwrap_or(solved);
                    let (index, piece) = image(set, position, rest);
                    if let Some(at) = base.get_mut(usize::from(index)) {
                        *at = piece;
                    }
                }
            }
            GroupRank::Contents { group: group.clone(), base, parts }
        };
        let groups = ranking.groups.iter().filter(|group| !group.digits().is_empty());
        RowRank { groups: groups.map(of_group).collect() }
    }

    /// Calls a function with each field that is read; the same field may occur several times.
    pub fn each_field(&mut self, mut each: impl FnMut(&mut usize)) {
        for group in &mut self.groups {
            match group {
                GroupRank::Places(parts) | GroupRank::FewPlaces(parts) => {
                    parts.iter_mut().for_each(|(part, _)| each(&mut part.field));
                }
                GroupRank::Set { parts, .. } => {
                    parts.iter_mut().for_each(|part| each(&mut part.field));
                }
                GroupRank::Contents { parts, .. } => {
                    parts.iter_mut().for_each(|part| each(&mut part.field));
                }
            }
        }
    }

    #[inline]
    pub fn rank(&self, row: &[u8]) -> u64 {
        let mut number = 0;
        for group in &self.groups {
            match group {
                GroupRank::FewPlaces(parts) => {
                    let mut free = Below::all();
                    for (part, weight) in parts {
                        let value = part.values[usize::from(row[part.field])];
                        number += free.take(value as u8) * weight + (value >> 8);
                    }
                }
                GroupRank::Places(parts) => {
                    let mut taken = 0u64;
                    for (part, weight) in parts {
                        let value = part.values[usize::from(row[part.field])];
                        let place = value & 63;
                        let free = place - u64::from((taken & ((1 << place) - 1)).count_ones());
                        number += free * weight + (value >> 8);
                        taken |= 1 << place;
                    }
                }
                GroupRank::Set { parts, number: of, weight } => {
                    let bit = |part: &RowPart<u32>| part.values[usize::from(row[part.field])];
                    let set = parts.iter().fold(0, |set, part| set | bit(part));
                    number += u64::from(of[set as usize]) * weight;
                }
                GroupRank::Contents { group, base, parts } => {
                    let mut pieces = [Placed { kind: 0, turn: 0 }; 128];
                    pieces[..base.len()].copy_from_slice(base);
                    for part in parts {
                        let (index, piece) = part.values[usize::from(row[part.field])];
                        if let Some(at) = pieces.get_mut(usize::from(index)) {
                            *at = piece;
                        }
                    }
                    number += group.rank(|index| pieces[index]);
                }
            }
        }
        number
    }
}

/// Maximum number of places of a set that is numbered with an array.
const MOST_BITS: usize = 14;
/// The place of a piece that is not in a group.
const ELSEWHERE: u8 = u8::MAX;
