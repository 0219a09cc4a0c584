//! Which arrangements moves lead to: whether one is among them, and random ones, all equally likely.
//!
//! Both use what [`states`](super::states) knows about the group that the moves generate. Solvers and goals ask
//! [`Reachability`] before they search; the program scrambles puzzles.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::{
    puzzle::{
        Definition, Permutation,
        orbits::{Arrangement, Orbit, OrbitPlace, OrbitPuzzle, Placed},
        states::{Component, Loops, Parts, Sifter, components, element, subgroup},
    },
    random::SplitMix64,
    units::joined,
};

// Tests whether moves lead to an arrangement: first parities and sums of twists, then the group itself.

/// The reason why no sequence of moves leads to an arrangement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreachable {
    /// A piece is in a position or orientation that no moves can give it.
    #[error("a piece of set '{0}' has a position or orientation that no moves can give it")]
    Place(String),
    /// The sum of the orientations is wrong.
    #[error(
        "the sum of the orientations in set '{0}' is wrong, as if a single piece had been turned"
    )]
    Twist(String),
    /// The parities of the permutations are inconsistent.
    #[error("the parity of the permutation of {0} is wrong, as if two pieces had been swapped")]
    Parity(String),
    /// A table of some pieces has all states of them that can be solved, and not this one.
    #[error("no moves bring the pieces of {0} to these places")]
    Table(String),
    /// The moves generate fewer permutations than parities and orientations allow.
    #[error("the permutation of the pieces is not in the group that the moves generate")]
    Group,
}

impl Component {
    /// For each position of the solved puzzle, the position of its piece in an arrangement, and by how much it is
    /// turned: one possible choice if pieces look alike.
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

/// What is known about the reachable arrangements.
pub(crate) struct Reachability {
    loops: Loops,
    /// Whether every move is allowed wherever it was taken to be: otherwise, only what is unreachable is known.
    is_exact: bool,
    components: Vec<Component>,
    /// `None` if the group is too large.
    group: Option<MadeGroup>,
    /// Results for parities and twists that have been computed before.
    told: Mutex<HashMap<Vec<u64>, Option<Unreachable>>>,
}

/// The group that the moves generate.
struct MadeGroup {
    /// The numbers of parities and twists, and the subgroup that the moves and invisible changes generate.
    factors: Vec<u64>,
    images: Vec<Vec<u64>>,
    sifter: Sifter,
    /// Whether the sifter decides which elements belong to the group.
    is_proven: bool,
}

impl OrbitPuzzle {
    /// Returns whether moves lead from the solved puzzle to an arrangement, and if not, the reason; `None` if this is
    /// unknown.
    ///
    /// Cost: that of [`OrbitPuzzle::states`].
    pub fn reaches(&self, arrangement: &Arrangement) -> Option<Result<(), Unreachable>> {
        Reachability::of(self).reaches(self, arrangement)
    }
}

impl Reachability {
    /// Returns what is known about a puzzle. If its moves depend on several pieces, or if some places are forbidden, that
    /// is what moves could not reach even if all of them were always allowed.
    pub fn of(puzzle: &OrbitPuzzle) -> Reachability {
        let (loops, is_exact) = match puzzle.loops() {
            Some(loops) => (loops, true),
            None => (Loops::unconditional(puzzle), false),
        };
        let moves: Vec<_> = loops.moves.iter().collect();
        let components = components(puzzle, &moves);
        let group = Sifter::new(&components, moves.len()).map(|mut sifter| {
            let whole = Parts::new(&components, 0);
            let images = whole.seen_images(&sifter.elements);
            let is_unique = components.iter().all(|component| component.unseen().is_empty());
            let is_proven = !sifter.is_whole && is_unique && sifter.prove();
            MadeGroup { factors: whole.factors, images, sifter, is_proven }
        });
        Reachability { loops, is_exact, components, group, told: Mutex::default() }
    }

    /// Returns the result of [`OrbitPuzzle::reaches`] for the puzzle from which this was made. Cost: a few
    /// microseconds.
    pub fn reaches(
        &self,
        puzzle: &OrbitPuzzle,
        arrangement: &Arrangement,
    ) -> Option<Result<(), Unreachable>> {
        let forbidden = |at: &&OrbitPlace| {
            arrangement.0[usize::from(at.orbit)][usize::from(at.position)].kind == at.kind
        };
        if let Some(at) = puzzle.illegal().iter().find(forbidden) {
            let set = puzzle.orbits()[usize::from(at.orbit)].name.clone();
            return Some(Err(Unreachable::Place(set)));
        }
        let arrangement = match self.loops.home(puzzle, arrangement) {
            Ok(arrangement) => arrangement,
            Err(set) => return Some(Err(Unreachable::Place(set))),
        };
        let mut targets = Vec::new();
        for component in &self.components {
            let orbit = &puzzle.orbits()[component.orbit];
            match component.target(orbit, &arrangement.0[component.orbit]) {
                Some(target) => targets.push(target),
                None => return Some(Err(Unreachable::Place(orbit.name.clone()))),
            }
        }
        let group = self.group.as_ref()?;
        // The element of the greatest group with these parities and twists that corresponds to the arrangement.
        let image: Vec<u64> = (self.components.iter().zip(&targets))
            .flat_map(|(component, to)| component.parity_and_twist(to))
            .collect();
        let mut told = self.told.lock();
        let wrong = told.entry(image).or_insert_with_key(|image| self.wrong(puzzle, group, image));
        if let Some(wrong) = wrong {
            return Some(Err(wrong.clone()));
        }
        drop(told);
        if group.sifter.is_whole {
            return self.is_exact.then_some(Ok(()));
        }
        if !group.is_proven {
            return None;
        }
        let targets: Vec<&[(usize, u64)]> = targets.iter().map(|to| &to[..]).collect();
        let left = group.sifter.sift(0, &element(&self.components, &targets));
        match left {
            Some(_) => Some(Err(Unreachable::Group)),
            None => self.is_exact.then_some(Ok(())),
        }
    }

    /// Returns the error in parities and twists, if there is one.
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
            Some(&factor) if factor % 2 == 1 => Unreachable::Twist(set(factor)),
            Some(&factor) => Unreachable::Parity(set(factor)),
            None => {
                let odd = all.iter().filter(|&&factor| factor % 2 == 0 && image[factor] == 1);
                Unreachable::Parity(joined(odd.map(|&factor| set(factor)), " and "))
            }
        })
    }
}

// Random states of puzzles: all reachable states are equally likely.
//
// An element of the group of the moves is drawn as a product with one factor for each level of a strong generating
// set, where all factors are equally likely. Its effect on the solved puzzle is a state, and every state results from
// the same number of elements.

impl OrbitPuzzle {
    /// Returns an endless sequence of random reachable states, all equally likely; the same seed gives the same states.
    /// Returns `None` if moves depend on where several pieces are, or if the group of the moves is too large to be known.
    ///
    /// Cost: that of [`OrbitPuzzle::states`], then the number of bytes of a state times its number of positions per
    /// state.
    ///
    /// ```
    /// use tilewave::puzzle::{named, orbits::Turns};
    /// let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers)?;
    /// let state = cube.scrambles(1).and_then(|mut states| states.next()).unwrap();
    /// assert_eq!(cube.reaches(&state), Some(Ok(())));
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    pub fn scrambles(&self, seed: u64) -> Option<impl Iterator<Item = Arrangement> + use<>> {
        let loops = self.loops()?;
        let moves: Vec<_> = loops.moves.iter().collect();
        let components = components(self, &moves);
        let sifter = Sifter::complete(&components, moves.len())?;
        let mut dice = SplitMix64::new(seed);
        let puzzle = self.clone();
        Some(std::iter::repeat_with(move || {
            let element = sifter.random(&mut dice);
            let (mut state, mut first) = (puzzle.solved(), 0);
            for component in &components {
                let orbit = &puzzle.orbits()[component.orbit];
                let row = &mut state.0[component.orbit];
                for (from, &place) in component.places.iter().enumerate() {
                    let (to, twist) = component.moved(from, first, &element);
                    let Placed { kind, turn } = orbit.solved[place];
                    let modulus = u64::from(orbit.moduli[usize::from(kind)]);
                    let turn = ((u64::from(turn) + twist) % modulus) as u8;
                    row[component.places[to]] = Placed { kind, turn };
                }
                first += component.points();
            }
            loops.away(&puzzle, state, &mut dice)
        }))
    }
}

impl Definition {
    /// Returns an endless sequence of random reachable arrangements, all equally likely; the same seed gives the same
    /// ones.
    pub fn scrambles(&self, seed: u64) -> impl Iterator<Item = Permutation> + use<> {
        let (chain, mut dice) = (self.group(), SplitMix64::new(seed));
        std::iter::repeat_with(move || chain.random(&mut dice))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use crate::puzzle::{
        families,
        named::{part, whole},
        orbits::{Arrangement, OrbitPuzzle, Placed},
    };

    /// Checks that all states are about equally frequent: chi squared within five of its standard deviations.
    fn even<T: std::hash::Hash + Eq>(drawn: impl Iterator<Item = T>, states: usize) {
        let mut counts: HashMap<T, u64> = HashMap::new();
        drawn.take(states * 20).for_each(|state| *counts.entry(state).or_default() += 1);
        assert_eq!(counts.len(), states);
        let squared: f64 = counts.values().map(|&n| (n as f64 - 20.0).powi(2) / 20.0).sum();
        let free = states as f64 - 1.0;
        assert!((squared - free).abs() < 5.0 * (2.0 * free).sqrt(), "{squared} of {free}");
    }

    #[test]
    fn all_states_are_equally_likely() {
        // Puzzles with pieces that turn; with pieces that look alike; with two sets whose parities are linked.
        let turned = part("2x2x2", &["corners:1-2"]);
        let alike = part("3x3x3", &["edges"]).alike(&["edges:1-10".into(), "edges:11-12".into()]);
        let both = part("pyraminx", &["edges"]).unoriented(&["edges".into()]).unwrap();
        let graph = "graph:0-1,1-2,2-3,3-4,4-5,5-0,0-6,6-3";
        let graph = OrbitPuzzle::of_graph(graph).unwrap().unwrap();
        for puzzle in [turned, alike.unwrap(), both, graph] {
            let states = puzzle.states().unwrap();
            let states = usize::try_from(states).unwrap();
            even(puzzle.scrambles(3).unwrap(), states);
        }
        let topspin = families::parse("topspin:6,4").unwrap();
        even(topspin.scrambles(4), 720);
        let rest = whole("3x3x3");
        for state in rest.scrambles(5).unwrap().take(200) {
            assert_eq!(rest.reaches(&state), Some(Ok(())));
        }
    }

    /// On graphs, of all arrangements of the tiles as many are reached as there are states, and random states are.
    #[test]
    fn moves_that_depend_on_a_piece_reach_their_states() {
        for (edges, vertices) in [
            ("0-1,1-2,2-3", 4),
            ("0-1,1-2,2-3,3-4,4-0", 5),
            ("0-1,1-2,2-0,2-3,3-4", 5),
            ("0-1,1-2,2-3,3-0,3-4,4-5", 6),
            ("0-3,3-4,4-1,1-3,4-5,5-2,2-1", 6),
            ("0-1,1-2,3-4,4-5,0-3,1-4,2-5", 6),
            ("0-1,1-2,2-3,3-4,4-5,5-0,0-6,6-3", 7),
        ] {
            let puzzle = OrbitPuzzle::of_graph(&format!("graph:{edges}")).unwrap().unwrap();
            let all = permutations(vertices);
            let reached = all.iter().filter(|state| puzzle.reaches(state) == Some(Ok(())));
            assert_eq!(puzzle.states(), Some(reached.count().into()), "{edges}");
            for state in puzzle.scrambles(9).unwrap().take(500) {
                assert_eq!(puzzle.reaches(&state), Some(Ok(())), "{edges}");
            }
        }
    }

    /// All arrangements of so many different pieces.
    fn permutations(pieces: u8) -> Vec<Arrangement> {
        let mut all: Vec<Vec<u8>> = vec![Vec::new()];
        for next in 0..pieces {
            let at = |row: &Vec<u8>, at: usize| {
                let mut longer = row.clone();
                longer.insert(at, next);
                longer
            };
            all = all
                .iter()
                .flat_map(|row| (0..=row.len()).map(|i| at(row, i)).collect::<Vec<_>>())
                .collect();
        }
        let placed = |row: &Vec<u8>| row.iter().map(|&kind| Placed { kind, turn: 0 }).collect();
        all.iter().map(|row| Arrangement(vec![placed(row)])).collect()
    }
}
