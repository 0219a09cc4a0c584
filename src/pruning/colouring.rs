//! Which pieces look alike in a table for the two-sided solver: colourings of points, and the choice of one.
//!
//! A colouring comes from a **subgroup** that some turns and squares of turns generate: points that it joins have the same
//! colour. Its moves then change no colour, so that they keep the number of remaining moves of what the table knows: a
//! **stay set**. To fit the memory, colourings are made coarser: classes of pieces are merged, their orientations are
//! dropped.
//!
//! Source: stay sets and coset tables, T. Rokicki, nxopt, 2016; the use of subgroups, R. E. Korf, AAAI 1997.
//!
//! Invariant: the choice depends on the puzzle and the memory alone.

use std::{cmp::Reverse, collections::BinaryHeap};

use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

use crate::{
    kernel::points::{ColouredSet, KEPT, PointMap, TURN, binomial},
    pruning::points::PointPuzzle,
    threads::map_numbers,
};

/// Which pieces look alike, and which orientations are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Colouring {
    pub sets: Vec<SetColouring>,
}

/// The colouring of a set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetColouring {
    /// The class of each piece.
    pub class: Vec<u8>,
    /// The orientation that each piece has in the solved state, compared with the others of its class.
    pub turn: Vec<u8>,
    /// For each class, whether orientations matter.
    pub kept: Vec<bool>,
}

/// Colours are numbered in five bits.
const MOST_CLASSES: usize = 32;
/// Number of colourings that are looked at; of those that are compared, and of cosets by which they are: the best of the
/// first comparison once more, by more cosets.
const LOOKED_AT: usize = 6_000;
const COMPARED: [(usize, usize); 2] = [(48, 2_000), (8, 30_000)];
/// Number of symmetries by which colourings are recognized, and of generated subgroups.
const RECOGNIZED_BY: usize = 48;
const SUBGROUPS: usize = 4096;
/// Maximum number of views of a table: look-ups of a state.
pub(crate) const MAX_VIEWS: usize = 8;
/// Maximum number of values of the two halves of an index, for each of which a state is kept while a table is filled.
pub(crate) const MOST_LEADS: u64 = 1 << 22;
pub(crate) const MOST_RESTS: u64 = 1 << 22;
/// What a number of views gains over one, beyond the time that they take, and a third of the moves in stay sets, in moves:
/// measured for three and for six views, and for tables of the 3x3x3 (docs/notebook/solver.md).
const VIEWS_GAIN: [f64; MAX_VIEWS] = [0.0, 0.31, 0.49, 0.5, 0.51, 0.52, 0.53, 0.54];
const STAYS_GAIN: f64 = 0.25;

/// The number of entries in 64 bytes.
pub(crate) const LINE: u64 = 254;

impl SetColouring {
    fn classes(&self) -> usize {
        self.kept.len()
    }

    /// The number of pieces of each class, and whether their orientations matter.
    pub fn counts(&self) -> Vec<(usize, bool)> {
        let pieces = |class| self.class.iter().filter(|own| usize::from(**own) == class).count();
        (0..self.classes()).map(|class| (pieces(class), self.kept[class])).collect()
    }

    /// Numbers the classes in the order of their first pieces.
    fn renumbered(mut self) -> SetColouring {
        let mut order: Vec<u8> = Vec::new();
        for class in &self.class {
            if !order.contains(class) {
                order.push(*class);
            }
        }
        let number = |class: &u8| order.iter().position(|own| own == class).unwrap_or(0) as u8;
        self.class = self.class.iter().map(number).collect();
        self.kept = order.iter().map(|&class| self.kept[usize::from(class)]).collect();
        // Where orientations do not matter, none is noted.
        for (turn, class) in self.turn.iter_mut().zip(&self.class) {
            *turn *= u8::from(self.kept[usize::from(*class)]);
        }
        self
    }

    /// The number of values, as far as one can tell without overflow.
    fn values(&self, orientations: usize, fixed_sum: bool) -> f64 {
        let (mut left, mut kept, mut values) = (self.class.len(), 0, 1.0);
        for (pieces, keeps) in self.counts() {
            values *= binomial(left, pieces) as f64;
            left -= pieces;
            kept += if keeps { pieces } else { 0 };
        }
        let free = if kept == self.class.len() && fixed_sum { kept - 1 } else { kept };
        values * (orientations as f64).powi(free as i32)
    }

    /// Coarser colourings of the set.
    fn coarser(&self) -> Vec<SetColouring> {
        let counts = self.counts();
        let all = 0..self.classes();
        let of_size = |size| all.clone().filter(|&c| counts[c].0 == size).collect::<Vec<_>>();
        let mut groups: Vec<Vec<usize>> = (1..=self.class.len()).map(of_size).collect();
        groups.push(all.clone().filter(|&class| self.kept[class]).collect());
        groups.push(all.clone().collect());
        let mut coarser = Vec::new();
        for group in groups.iter().filter(|group| !group.is_empty()) {
            let mut add = |change: &dyn Fn(&mut SetColouring)| {
                let mut own = self.clone();
                change(&mut own);
                let own = own.renumbered();
                if own != *self && !coarser.contains(&own) {
                    coarser.push(own);
                }
            };
            if group.iter().all(|&class| self.kept[class] == self.kept[group[0]]) {
                add(&|own| {
                    let classes = own.class.iter_mut();
                    classes
                        .filter(|class| group.contains(&usize::from(**class)))
                        .for_each(|class| *class = group[0] as u8);
                });
            }
            add(&|own| group.iter().for_each(|&class| own.kept[class] = false));
        }
        coarser
    }
}

impl Colouring {
    /// The finest colouring that some permutations of points do not change.
    fn of_subgroup<const R: usize>(
        puzzle: &PointPuzzle<R>,
        generators: &[PointMap<R>],
    ) -> Colouring {
        let mut root: Vec<usize> = (0..PointMap::<R>::COUNT).collect();
        fn find(root: &mut [usize], mut point: usize) -> usize {
            while root[point] != point {
                root[point] = root[root[point]];
                point = root[point];
            }
            point
        }
        for generator in generators {
            for point in 0..PointMap::<R>::COUNT {
                let own = find(&mut root, point);
                let other = find(&mut root, generator.get(point));
                root[own.max(other)] = own.min(other);
            }
        }
        let cell: Vec<usize> =
            (0..PointMap::<R>::COUNT).map(|point| find(&mut root, point)).collect();
        let sets = puzzle.sets.iter().map(|set| {
            let turns = 0..set.orientations;
            let mut first: Vec<usize> = Vec::new();
            let mut own = SetColouring { class: vec![], turn: vec![], kept: vec![] };
            for piece in 0..set.positions {
                let at = |piece, turn| cell[set.point(piece, turn)];
                let joined = |of: usize| turns.clone().find(|&turn| at(of, turn) == at(piece, 0));
                let known = first.iter().enumerate().find_map(|(c, &of)| Some((c, joined(of)?)));
                let (class, turn) = known.unwrap_or_else(|| {
                    first.push(piece);
                    let cells: HashSet<usize> = turns.clone().map(|t| at(piece, t)).collect();
                    own.kept.push(set.orientations > 1 && cells.len() == set.orientations);
                    (first.len() - 1, 0)
                });
                own.class.push(class as u8);
                own.turn.push(turn as u8);
            }
            own.renumbered()
        });
        Colouring { sets: sets.collect() }
    }

    /// The colour of each point.
    pub fn colours<const R: usize>(&self, puzzle: &PointPuzzle<R>) -> PointMap<R> {
        let mut colours = PointMap([[0; 64]; R]);
        for (set, own) in puzzle.sets.iter().zip(&self.sets) {
            for (piece, (&class, &turn)) in own.class.iter().zip(&own.turn).enumerate() {
                for turned in 0..set.orientations {
                    let kept = own.kept[usize::from(class)];
                    let turn = (turned + usize::from(turn)) % set.orientations;
                    let turn = if kept { KEPT | (turn as u8) << TURN } else { 0 };
                    colours.set(set.point(piece, turned), class | turn);
                }
            }
        }
        colours
    }

    /// The numbers of the symmetries that take equal colours to equal colours; products of them are among them.
    pub fn symmetries<const R: usize>(&self, puzzle: &PointPuzzle<R>) -> Vec<usize> {
        let colours = self.colours(puzzle);
        let all = puzzle.symmetries.iter();
        let keeps: Vec<bool> =
            all.map(|g| puzzle.keeps_equal(g, |point| colours.get(point))).collect();
        let own: Vec<usize> = (0..keeps.len()).filter(|&g| keeps[g]).collect();
        let closed = own.iter().all(|&a| own.iter().all(|&b| keeps[puzzle.product(a, b)]));
        if closed { own } else { vec![0] }
    }

    /// Its sets, of which the rank is that of some.
    pub fn coloured<const R: usize>(&self, puzzle: &PointPuzzle<R>) -> Vec<ColouredSet> {
        puzzle.sets.iter().zip(&self.sets).map(|(set, own)| set.coloured(own.counts())).collect()
    }

    /// The number of values of each set.
    fn values<const R: usize>(&self, puzzle: &PointPuzzle<R>) -> Vec<f64> {
        let sets = puzzle.sets.iter().zip(&self.sets);
        sets.map(|(set, own)| own.values(set.orientations, set.fixed_sum)).collect()
    }

    /// Whether it fits what the solver can look up.
    pub fn is_valid<const R: usize>(&self, puzzle: &PointPuzzle<R>) -> bool {
        self.sets.len() == puzzle.sets.len()
            && puzzle.sets.iter().zip(&self.sets).all(|(set, own)| {
                own.classes() <= MOST_CLASSES
                    && own.class.len() == set.positions
                    && own.turn.len() == set.positions
                    && own.class.iter().all(|&class| usize::from(class) < own.classes())
                    && own.clone().renumbered() == *own
                    && own.turn.iter().all(|&turn| usize::from(turn) < set.orientations)
            })
    }

    /// The same for colourings that symmetries of the puzzle take to each other, as far as these are tried.
    fn key<const R: usize>(&self, puzzle: &PointPuzzle<R>) -> Vec<u8> {
        let colours = self.colours(puzzle);
        let seen = |symmetry: &PointMap<R>| {
            let mut all = Vec::with_capacity(PointMap::<R>::COUNT);
            for set in &puzzle.sets {
                let (mut numbers, mut next) = ([None; 256], 0u8);
                all.extend(set.points().map(|point| {
                    *numbers[colours.get(symmetry.get(point))].get_or_insert_with(|| {
                        next += 1;
                        next
                    })
                }));
            }
            all
        };
        let symmetries = puzzle.symmetries.iter().take(RECOGNIZED_BY);
        symmetries.map(seen).min().unwrap_or_default()
    }

    /// Which sets come first in an index, and how many bytes the table takes while it is filled: a row for each class of
    /// values of the first sets, whole lines for each row; and a state for each value of either half. `None` if a half has
    /// too many values, or the rest too few.
    pub fn halves<const R: usize>(
        &self,
        puzzle: &PointPuzzle<R>,
        symmetries: usize,
    ) -> Option<(Vec<usize>, u64)> {
        let values = self.values(puzzle);
        let all = values.len();
        let split = |lead: &usize| {
            let of = |first: bool| {
                let own = (0..all).filter(|set| (lead >> set & 1 == 1) == first);
                own.map(|set| values[set]).product::<f64>()
            };
            let (leads, rests) = (of(true), of(false));
            if leads > MOST_LEADS as f64 || rests > MOST_RESTS as f64 || rests <= 1.0 {
                return None;
            }
            let rows = (leads / symmetries as f64).ceil() as u64;
            let states = (leads + rests) as u64 * (64 * R as u64 + 16);
            let steps = rows * 8 * puzzle.moves.len() as u64;
            let lines = rows * (rests as u64).div_ceil(LINE) * 64;
            Some((lines + states + steps, leads as u64, *lead))
        };
        // A short table of first values stays in the cache.
        let best = (1..(1usize << all.min(16)) - 1)
            .filter_map(|lead| split(&lead))
            .min_by_key(|&(bytes, leads, lead)| (bytes.next_power_of_two(), leads, lead));
        let (bytes, _, lead) = best?;
        Some(((0..all).filter(|set| lead >> set & 1 == 1).collect(), bytes))
    }

    /// The mean distance of its cosets, extrapolated from the number of those within a few moves, at least so many.
    fn mean<const R: usize>(&self, puzzle: &PointPuzzle<R>, cosets: usize) -> f64 {
        let all: f64 = self.values(puzzle).iter().product();
        let solved = self.colours(puzzle);
        let mut seen = HashSet::new();
        seen.insert(solved);
        let (mut level, mut depth, mut growth) = (vec![solved], 0.0, 2.0);
        while seen.len() < cosets && !level.is_empty() {
            let mut next = Vec::new();
            for coset in &level {
                let after = puzzle.moves.iter().map(|one| coset.after(one));
                next.extend(after.filter(|after| seen.insert(*after)));
            }
            growth = next.len() as f64 / level.len() as f64;
            depth += 1.0;
            level = next;
        }
        depth + (all / seen.len() as f64).ln() / f64::max(growth, 1.5).ln()
    }

    /// Chooses the colouring whose table of at most this number of bytes promises the best bounds.
    pub fn choose<const R: usize>(puzzle: &PointPuzzle<R>, bytes: u64) -> Option<Colouring> {
        // Most are reached in several ways, and are known without a look at symmetries.
        let (mut known, mut seen) = (HashSet::new(), HashSet::<Vec<u8>>::new());
        let mut left = BinaryHeap::new();
        let mut all: Vec<Colouring> = Vec::new();
        let mut add = |own: Colouring, all: &mut Vec<Colouring>, left: &mut BinaryHeap<_>| {
            if known.insert(own.clone()) && seen.insert(own.key(puzzle)) {
                let size: f64 = own.values(puzzle).iter().product();
                left.push(Reverse(((size.ln() * 1e6) as u64, all.len())));
                all.push(own);
            }
        };
        for generators in subgroups(puzzle) {
            add(Colouring::of_subgroup(puzzle, &generators), &mut all, &mut left);
        }
        let mut fitting: Vec<(u64, usize, usize)> = Vec::new();
        for _ in 0..LOOKED_AT {
            let Some(Reverse((_, index))) = left.pop() else { break };
            let own = all[index].clone();
            let symmetries = own.symmetries(puzzle).len();
            let views = puzzle.symmetries.len() / symmetries.max(1);
            let classes = own.sets.iter().all(|set| set.classes() <= MOST_CLASSES);
            if classes
                && let Some((_, size)) = own.halves(puzzle, symmetries)
                && size <= bytes
            {
                fitting.push((size, views, index));
                continue;
            }
            for (s, set) in own.sets.iter().enumerate() {
                for coarser in set.coarser() {
                    let mut sets = own.sets.clone();
                    sets[s] = coarser;
                    add(Colouring { sets }, &mut all, &mut left);
                }
            }
        }
        fitting.sort_by_key(|&(size, views, index)| (views > MAX_VIEWS, Reverse(size), index));
        let fit = fitting.len();
        let mut best_score = 0.0;
        for (compared, cosets) in COMPARED {
            fitting.truncate(compared);
            let scores = map_numbers(fitting.len(), &|i| {
                let (_, views, index) = fitting[i];
                let colours = all[index].colours(puzzle);
                let stays = puzzle.moves.iter().filter(|one| colours.after(one) == colours).count();
                let stays = (3 * stays) as f64 / puzzle.moves.len() as f64;
                let views = VIEWS_GAIN[views.clamp(1, MAX_VIEWS) - 1];
                all[index].mean(puzzle, cosets) + views + stays.min(1.0) * STAYS_GAIN
            });
            let mut order: Vec<usize> = (0..fitting.len()).collect();
            order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            best_score = *order.first().map(|&best| &scores[best])?;
            fitting = order.iter().map(|&i| fitting[i]).collect();
        }
        tracing::debug!(
            "{} colourings, {fit} of them fit; the best score is {best_score:.3}",
            all.len(),
        );
        Some(all.swap_remove(fitting[0].2))
    }
}

/// Generators of subgroups: some turns, and the squares of others.
fn subgroups<const R: usize>(puzzle: &PointPuzzle<R>) -> Vec<Vec<PointMap<R>>> {
    let turns = puzzle.turns();
    let mut all: Vec<Vec<PointMap<R>>> = vec![Vec::new()];
    for turn in turns {
        let one = puzzle.moves[turn];
        let square = one.after(&one);
        // The square of a turn of odd order generates the same as the turn.
        let is_even = one.cycles().iter().any(|length| length % 2 == 0);
        let more: Vec<Vec<PointMap<R>>> = all
            .iter()
            .flat_map(|own| {
                let with = |new: PointMap<R>| own.iter().copied().chain([new]).collect::<Vec<_>>();
                let squared = (is_even && square != PointMap::identity()).then(|| with(square));
                [Some(with(one)), squared].into_iter().flatten()
            })
            .collect();
        all.extend(more);
        if all.len() > SUBGROUPS {
            break;
        }
    }
    all.truncate(SUBGROUPS);
    all
}
