//! Whether moves lead to an arrangement.
//!
//! What [`states`](super::states) knows of the group that the moves make tells it: parities and sums of twists first, then the
//! group itself.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use crate::puzzle::{
    orbits::{Arrangement, Orbit, OrbitPuzzle, Placed, Transformation},
    states::{Component, MOST_POINTS, Parts, Sifter, components, element, subgroup},
};

/// The reason why no sequence of moves leads to an arrangement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreachable {
    /// A piece has a position or orientation to which no moves bring it.
    #[error("a piece of set '{set}' has a position or orientation to which no moves bring it")]
    Place {
        /// The set of pieces.
        set: String,
    },
    /// The sum of the orientations is wrong.
    #[error("a single piece of set '{set}' is turned: the sum of the orientations is wrong")]
    Twist {
        /// The set of pieces.
        set: String,
    },
    /// The parities of the permutations do not agree.
    #[error("two pieces are swapped: the parity of set {sets} is wrong")]
    Parity {
        /// The sets of pieces.
        sets: String,
    },
    /// The moves generate fewer permutations than parities and orientations allow.
    #[error("the moves do not generate this permutation")]
    Group,
}

impl Component {
    /// For each position of the solved puzzle where its piece goes in an arrangement, and by how much it is turned: one
    /// choice where pieces look alike.
    fn target(&self, orbit: &Orbit, row: &[Placed]) -> Option<Vec<(usize, u64)>> {
        let mut to = vec![None; self.positions];
        for (at, &place) in self.places.iter().enumerate() {
            let Placed { kind, turn } = row[place];
            let modulus = u64::from(orbit.moduli[usize::from(kind)]);
            let found = (0..self.positions).find_map(|from| {
                let piece = orbit.solved[self.places[from]];
                if to[from].is_some() || piece.kind != kind {
                    return None;
                }
                let ahead = (u64::from(turn) + modulus - u64::from(piece.turn)) % modulus;
                let turns = (0..self.seen.div_ceil(modulus)).map(|n| ahead + n * modulus);
                let mut turned = turns
                    .map(|twist| (self.zero[from] + twist + self.seen - self.zero[at]) % self.seen);
                turned.find(|twist| twist % self.step == 0).map(|twist| (from, twist / self.step))
            });
            let (from, twist) = found?;
            to[from] = Some((at, twist));
        }
        to.into_iter().collect()
    }
}

/// What is known of the arrangements that moves reach.
pub(crate) struct Reachability {
    components: Vec<Component>,
    /// Nothing where the group is too large.
    group: Option<MadeGroup>,
    /// What was said of parities and twists.
    told: Mutex<HashMap<Vec<u64>, Option<Unreachable>>>,
}

/// The group that the moves generate.
struct MadeGroup {
    /// How many parities and twists there are, and those that the moves and what nobody sees make.
    factors: Vec<u64>,
    images: Vec<Vec<u64>>,
    sifter: Sifter,
    /// Whether it is all that parities and twists allow.
    is_whole: bool,
    /// Whether the sifter tells its elements.
    is_proven: bool,
}

impl OrbitPuzzle {
    /// Returns whether moves lead from the solved puzzle to an arrangement, and if not, the reason; `None` if it is unknown.
    ///
    /// Cost: as for [`OrbitPuzzle::states`].
    pub fn reaches(&self, arrangement: &Arrangement) -> Option<Result<(), Unreachable>> {
        Reachability::of(self)?.reaches(self, arrangement)
    }
}

impl Reachability {
    /// Returns what is known of a puzzle; nothing where moves depend on the state.
    pub fn of(puzzle: &OrbitPuzzle) -> Option<Reachability> {
        if !puzzle.illegal().is_empty() || puzzle.moves().iter().any(|one| one.requires.is_some()) {
            return None;
        }
        let moves: Vec<&Transformation> =
            puzzle.moves().iter().map(|one| &one.transformation).collect();
        let components: Vec<Component> =
            (0..puzzle.orbits().len()).flat_map(|o| components(puzzle, o, &moves)).collect();
        let fits = components.iter().map(Component::points).sum::<usize>() <= MOST_POINTS;
        let group = fits.then(|| {
            let mut sifter = Sifter::new(&components, moves.len());
            let whole = Parts::new(&components, 0);
            let most = whole.most(&sifter.elements);
            let images = whole.seen_images(&sifter.elements);
            sifter.fill(&most);
            let is_whole = sifter.order(0) == most;
            let is_unique = components.iter().all(|component| component.unseen().is_empty());
            let is_proven = !is_whole && is_unique && sifter.prove();
            MadeGroup { factors: whole.factors, images, sifter, is_whole, is_proven }
        });
        Some(Reachability { components, group, told: Mutex::default() })
    }

    /// Returns what [`OrbitPuzzle::reaches`] does for the puzzle that this is of. Cost: some microseconds.
    pub fn reaches(
        &self,
        puzzle: &OrbitPuzzle,
        arrangement: &Arrangement,
    ) -> Option<Result<(), Unreachable>> {
        let mut targets = Vec::new();
        for component in &self.components {
            let orbit = &puzzle.orbits()[component.orbit];
            match component.target(orbit, &arrangement.0[component.orbit]) {
                Some(target) => targets.push(target),
                None => return Some(Err(Unreachable::Place { set: orbit.name.clone() })),
            }
        }
        let group = self.group.as_ref()?;
        // What the arrangement is of the greatest group that has these parities and twists.
        let image: Vec<u64> = (self.components.iter().zip(&targets))
            .flat_map(|(component, to)| {
                let places: Vec<usize> = to.iter().map(|&(at, _)| at).collect();
                let odd = u64::from(!crate::puzzle::is_even(&places));
                let twists = to.iter().map(|&(_, twist)| twist).sum::<u64>();
                [odd % component.parities(), twists % component.orientations]
            })
            .collect();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let wrong = told.entry(image).or_insert_with_key(|image| self.wrong(puzzle, group, image));
        if let Some(wrong) = wrong {
            return Some(Err(wrong.clone()));
        }
        drop(told);
        if group.is_whole {
            return Some(Ok(()));
        }
        if !group.is_proven {
            return None;
        }
        let targets: Vec<&[(usize, u64)]> = targets.iter().map(|to| &to[..]).collect();
        let left = group.sifter.sift(0, &element(&self.components, &targets));
        Some(left.map_or(Ok(()), |_| Err(Unreachable::Group)))
    }

    /// What is wrong with parities and twists.
    fn wrong(&self, puzzle: &OrbitPuzzle, group: &MadeGroup, image: &[u64]) -> Option<Unreachable> {
        let set = |factor: usize| puzzle.orbits()[self.components[factor / 2].orbit].name.clone();
        let is_in = |factors: &[usize]| {
            let of = |row: &[u64]| factors.iter().map(|&f| row[f]).collect::<Vec<_>>();
            let orders = of(&group.factors);
            let mut rows: Vec<Vec<u64>> = group.images.iter().map(|row| of(row)).collect();
            let before = subgroup(&orders, &rows);
            rows.push(of(image));
            subgroup(&orders, &rows) == before
        };
        let all: Vec<usize> = (0..group.factors.len()).collect();
        if is_in(&all) {
            return None;
        }
        Some(match all.iter().find(|&&factor| !is_in(&[factor])) {
            Some(&factor) if factor % 2 == 1 => Unreachable::Twist { set: set(factor) },
            Some(&factor) => Unreachable::Parity { sets: set(factor) },
            None => {
                let odd = all.iter().filter(|&&factor| factor % 2 == 0 && image[factor] == 1);
                let sets: Vec<String> = odd.map(|&factor| set(factor)).collect();
                Unreachable::Parity { sets: sets.join(" and ") }
            }
        })
    }
}
