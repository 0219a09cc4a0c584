//! The choice of a coordinate: which pieces determine the bucket of a state.
//!
//! With more buckets, each has fewer keys, and the cache in which its duplicates are found is smaller and faster. But
//! every bucket costs a look at each of those that lead into it, and the symmetries must preserve the set of tracked
//! pieces.

use std::collections::{BTreeSet, HashSet};

use crate::{
    frontier::{
        coordinate::{keeps, sizes},
        fields::{FieldKind, FieldMap, StateFields},
        symmetry::SymmetryGroup,
    },
    puzzle::orbits::{Arrangement, OrbitMove, OrbitPuzzle},
    store::ListCut,
};

/// Whether every move changes some parity, so that no move leads from a level to itself.
pub(super) fn is_bipartite(puzzle: &OrbitPuzzle, fields: &StateFields, moves: &[FieldMap]) -> bool {
    let goals: Vec<Vec<u8>> = puzzle.goals().iter().map(|goal| fields.encode(goal)).collect();
    // The locations of one piece in two colours that every move changes.
    let coloured = |field: usize| {
        let of = &fields.fields[field];
        let FieldKind::Location { kind } = of.kind else {
            return false;
        };
        let applies = |one: usize, value: usize| match puzzle.moves()[one].requires {
            Some(at) if usize::from(at.orbit) == of.orbit && at.kind == kind => {
                usize::from(at.position) == value / of.modulus
            }
            _ => true,
        };
        let mut colour = vec![None; of.values];
        for first in 0..of.values {
            if colour[first].is_none() {
                colour[first] = Some(false);
                let mut queue = vec![first];
                while let Some(value) = queue.pop() {
                    for one in (0..moves.len()).filter(|&one| applies(one, value)) {
                        let to = usize::from(moves[one].table[field][value]);
                        let other = colour[value].map(|colour| !colour);
                        if colour[to].is_none() {
                            colour[to] = other;
                            queue.push(to);
                        } else if colour[to] != other {
                            return false;
                        }
                    }
                }
            }
        }
        // The goals have one colour: they are on one side.
        goals
            .iter()
            .all(|goal| colour[usize::from(goal[field])] == colour[usize::from(goals[0][field])])
    };
    if (0..fields.fields.len()).any(coloured) {
        return true;
    }
    // Sums of parities of orbits of different pieces: does every move change one of them?
    let distinct = puzzle.orbits().iter().enumerate().filter(|(_, orbit)| {
        orbit.moduli.len() == orbit.positions()
            && (0..orbit.moduli.len()).all(|kind| orbit.pieces_of(kind as u8) == 1)
    });
    let distinct: Vec<usize> = distinct.map(|(index, _)| index).collect();
    let parities: Vec<u64> = (puzzle.moves().iter())
        .map(|one| {
            let odd = |&index: &usize| !crate::puzzle::is_even(&one.transformation.0[index].source);
            distinct.iter().enumerate().map(|(bit, index)| u64::from(odd(index)) << bit).sum()
        })
        .collect();
    let parity = |goal: &Arrangement| {
        let odd = |&index: &usize| {
            let kinds: Vec<u8> = goal.0[index].iter().map(|piece| piece.kind).collect();
            !crate::puzzle::is_even(&kinds)
        };
        let odd = distinct.iter().enumerate().map(|(bit, index)| u64::from(odd(index)) << bit);
        odd.sum::<u64>()
    };
    let goals: Vec<u64> = puzzle.goals().iter().map(parity).collect();
    let changes = |choice: u64| move |parity: u64| (parity & choice).count_ones() % 2 == 1;
    distinct.len() <= 16
        && (1..1u64 << distinct.len()).any(|choice| {
            parities.iter().copied().all(changes(choice))
                && !goals.iter().map(|goal| goal ^ goals[0]).any(changes(choice))
        })
}

/// How the keys of a bucket are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelForm {
    /// Uncoded.
    #[cfg(test)]
    Lists,
    Coded,
    /// One bit for each number that a key can have.
    Bits,
}

/// The fields of the coordinate.
pub(crate) struct CoordinateChoice {
    pub fields: Vec<usize>,
    /// Whether their orientations belong to the coordinate.
    pub oriented: bool,
    /// The form of all levels, whatever the memory; `None` if it is chosen level by level.
    pub form: Option<LevelForm>,
    /// The symmetries that are used, before those that do not preserve the fields are left out, and all symmetries that
    /// exist.
    pub group: SymmetryGroup,
    pub whole_group: SymmetryGroup,
}

impl CoordinateChoice {
    /// Returns the choice with which a run was begun.
    pub fn of_cut(puzzle: &OrbitPuzzle, fields: &StateFields, cut: &ListCut) -> CoordinateChoice {
        let whole_group = SymmetryGroup::find(puzzle, fields);
        let trivial = || SymmetryGroup::trivial(fields);
        let group = if cut.symmetric { whole_group.clone() } else { trivial() };
        let ListCut { ref fields, oriented, .. } = *cut;
        CoordinateChoice { fields: fields.clone(), oriented, form: None, group, whole_group }
    }

    /// Returns a choice for a search to a given depth, with this many bytes of memory.
    pub fn new(
        puzzle: &OrbitPuzzle,
        fields: &StateFields,
        use_symmetry: bool,
        max_depth: Option<usize>,
        memory: Option<u64>,
    ) -> CoordinateChoice {
        let widest = widest(puzzle, fields, max_depth);
        let all = states(puzzle, fields);
        let whole_group = SymmetryGroup::find(puzzle, fields);
        let mut group =
            if use_symmetry { whole_group.clone() } else { SymmetryGroup::trivial(fields) };
        let required: Vec<usize> = (puzzle.moves().iter())
            .filter_map(|one| fields.location(one.requires?))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let mut best: Option<(f64, Vec<usize>, bool)> = None;
        for chosen in candidates(fields, &group, &required) {
            let Some((coarse, fine)) = sizes(fields, &chosen) else { continue };
            let kept = order(&group, &chosen);
            for (oriented, fine) in [(false, 1), (true, fine)] {
                if coarse > 1 << 24 || fine > 1 << 15 || oriented && fine == 1 {
                    continue;
                }
                let words = words(fields, &chosen, oriented);
                let buckets = coarse as f64 * fine as f64 / kept;
                // Where the lists of two levels begin and end.
                let indices = buckets * 16.0;
                // The longer coded lists are, the fewer bytes they take per key.
                let stored = widest / kept;
                let is_too_fine = |memory: u64| {
                    let (memory, bytes) = (memory as f64, stored * words * 8.0);
                    indices > memory / 8.0 || bytes > memory / 2.0 && stored < 500.0 * buckets
                };
                // If lists do not fit, full levels are bits, which take about the same time except in small buckets.
                let lists = 2.0 * stored * words * 8.0;
                let bits = all / kept * 3.0 / 8.0;
                let is_full = memory.is_some_and(|memory| {
                    let memory = memory as f64;
                    lists > memory / 2.0 && bits < 0.9 * memory && bits < lists
                });
                if !is_full && !chosen.is_empty() && memory.is_some_and(is_too_fine) {
                    continue;
                }
                let keys = stored * puzzle.moves().len() as f64;
                // Bytes that a bucket takes: the generated keys, and the lines of the set. Nanoseconds, depending on
                // where they fit.
                let bytes = keys / buckets * words * 24.0;
                let numbers = all / kept / buckets;
                let each = match bytes {
                    _ if is_full => 20.0 + 2e4 / numbers + if numbers > 1e7 { 10.0 } else { 0.0 },
                    small if small < 2e4 => 3.0,
                    middle if middle < 7e5 => 6.0,
                    large => 12.0 + (large / 7e5).min(12.0) + 0.1 * large.log2(),
                };
                let lists = (buckets * puzzle.moves().len() as f64).min(keys);
                // Users want the states up to all symmetries: using all of them may cost some tenths of a second, or
                // half of the time.
                let used = if chosen.is_empty() { 1.0 } else { kept };
                let partial = use_symmetry && used < whole_group.order() as f64;
                let (partly, once) = if partial { (2.0, 3e8) } else { (1.0, 0.0) };
                // One bucket is processed by one thread, and without a coordinate there are no symmetries.
                let alone = if chosen.is_empty() && !is_full { 8.0 * kept } else { 1.0 };
                let cost = once
                    + partly * alone * keys * each * words
                    + lists * 60.0
                    + buckets * 200.0
                    + coarse as f64 * 300.0;
                if best.as_ref().is_none_or(|(known, ..)| cost < *known) {
                    best = Some((cost, chosen.clone(), oriented));
                }
            }
        }
        let (_, chosen, oriented) = best.unwrap_or((0.0, required, false));
        if chosen.is_empty() {
            group = SymmetryGroup::trivial(fields);
        }
        CoordinateChoice { fields: chosen, oriented, form: None, group, whole_group }
    }

    /// Returns how the choice distributes the states.
    pub(super) fn shape(&self, fields: &StateFields) -> ListShape {
        let (coarse, fine) = sizes(fields, &self.fields).expect("it was taken for its sizes");
        let symmetries = order(&self.group, &self.fields);
        let buckets = coarse as f64 * if self.oriented { fine as f64 } else { 1.0 } / symmetries;
        ListShape { buckets, words: words(fields, &self.fields, self.oriented), symmetries }
    }
}

/// How a choice distributes states.
pub(super) struct ListShape {
    pub buckets: f64,
    /// Number of words of a key.
    pub words: f64,
    /// Number of symmetries that preserve the coordinate.
    pub symmetries: f64,
}

/// The number of symmetries that preserve these fields.
fn order(group: &SymmetryGroup, chosen: &[usize]) -> f64 {
    group.maps.iter().filter(|map| keeps(map, chosen)).count() as f64
}

/// The number of words of keys if these fields form the coordinate.
fn words(fields: &StateFields, chosen: &[usize], oriented: bool) -> f64 {
    let bits: u32 = (fields.fields.iter().enumerate())
        .map(|(field, of)| {
            let values = match (chosen.contains(&field), oriented) {
                (false, _) => of.values,
                (true, false) => of.modulus,
                (true, true) => 1,
            };
            usize::BITS - (values - 1).leading_zeros()
        })
        .sum();
    f64::from(bits.div_ceil(60).max(1))
}

/// Sets of locations that some symmetries preserve.
pub(super) fn candidates(
    fields: &StateFields,
    group: &SymmetryGroup,
    required: &[usize],
) -> Vec<Vec<usize>> {
    let is_location = |f: &usize| matches!(fields.fields[*f].kind, FieldKind::Location { .. });
    let locations: Vec<usize> = (0..fields.fields.len()).filter(is_location).collect();
    let mut all: Vec<Vec<usize>> = vec![required.to_vec()];
    let mut grow = |parts: &[Vec<usize>]| {
        // Unions of orbits, the smallest first, one orbit of the puzzle at a time.
        for first in 0..parts.len() {
            let mut chosen = required.to_vec();
            for part in &parts[first..] {
                if fields.fields[part[0]].orbit == fields.fields[parts[first][0]].orbit {
                    chosen.extend(part.iter().filter(|f| !required.contains(f)));
                    chosen.sort_unstable();
                    chosen.dedup();
                    if sizes(fields, &chosen).is_none_or(|(coarse, _)| coarse > 1 << 24) {
                        break;
                    }
                    if !all.contains(&chosen) {
                        all.push(chosen.clone());
                    }
                }
            }
        }
    };
    let order = group.order() as u16;
    let step = (u32::from(order).pow(2) / 4096).max(1) as usize;
    let pairs = (0..order).flat_map(|i| (i..order).map(move |j| (i, j)));
    for generators in pairs.step_by(step).chain([(0, 0)]) {
        let maps = [&group.maps[usize::from(generators.0)], &group.maps[usize::from(generators.1)]];
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let mut seen = vec![false; fields.fields.len()];
        for &f in &locations {
            if seen[f] {
                continue;
            }
            let mut part = vec![f];
            seen[f] = true;
            let mut next = 0;
            while next < part.len() {
                for map in maps {
                    let to = usize::from(map.source[part[next]]);
                    if !std::mem::replace(&mut seen[to], true) {
                        part.push(to);
                    }
                }
                next += 1;
            }
            parts.push(part);
        }
        parts.sort_by_key(Vec::len);
        grow(&parts);
    }
    all
}

/// An upper bound on the number of states.
pub(super) fn states(puzzle: &OrbitPuzzle, fields: &StateFields) -> f64 {
    let known = puzzle.states().and_then(|states| states.to_string().parse().ok());
    known.unwrap_or(f64::INFINITY).min(fields.states())
}

/// An estimate of the number of states at the last depth that is stored, based on the growth of the first levels.
pub(super) fn widest(puzzle: &OrbitPuzzle, fields: &StateFields, max_depth: Option<usize>) -> f64 {
    const STATES: usize = 20_000;
    let map = |one: &OrbitMove| {
        let field = one.requires.and_then(|at| Some((fields.location(at)?, at.position)));
        (fields.of_move(puzzle, &one.transformation), field)
    };
    let moves: Vec<_> = puzzle.moves().iter().map(map).collect();
    let goals = puzzle.goals();
    // A sample of many goals suffices to show the growth.
    let some = goals.len().min(STATES / 20);
    let each = goals.len() as f64 / some as f64;
    let mut level: Vec<Vec<u8>> = goals[..some].iter().map(|goal| fields.encode(goal)).collect();
    let mut seen: HashSet<Vec<u8>> = level.iter().cloned().collect();
    let mut widths = vec![goals.len() as f64];
    while seen.len() < STATES && !level.is_empty() {
        let mut next = Vec::new();
        for state in &level {
            for (one, requires) in &moves {
                let allowed = requires.is_none_or(|(field, position)| {
                    usize::from(state[field]) / fields.fields[field].modulus
                        == usize::from(position)
                });
                if allowed {
                    let after = one.apply(state);
                    if seen.insert(after.clone()) {
                        next.push(after);
                    }
                }
            }
        }
        widths.push(next.len() as f64 * each);
        level = next;
    }
    let known = widths.len();
    let growth =
        (widths[known - 1] / widths[known / 2]).powf(1.0 / (known - 1 - known / 2).max(1) as f64);
    let depth = max_depth.map_or(f64::INFINITY, |depth| depth as f64 - known as f64);
    let most = states(puzzle, fields) / 4.0;
    (widths[known - 1] * growth.max(1.0).powf(depth)).clamp(1.0, most.clamp(1.0, 1e12))
}
