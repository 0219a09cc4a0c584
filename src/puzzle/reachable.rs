//! Which arrangements moves lead to: whether one is among them, and random ones, all equally likely.
//!
//! Both use what [`states`](super::states) knows about the group that the moves generate. Solvers and goals ask
//! [`Reachability`] before they search; the program scrambles puzzles.

use std::collections::{BTreeSet, HashMap};

use parking_lot::Mutex;
use twox_hash::XxHash3_64;

use crate::{
    puzzle::{
        Arrangement, Permutation, PieceSet, Placed, Puzzle,
        permutation::gcd,
        states::{Component, Loops, MoveGroup, Parts, components, element, subgroup},
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
    fn target(&self, set: &PieceSet, row: &[Placed]) -> Option<Vec<(usize, u64)>> {
        let mut to = vec![None; self.positions];
        for (at, &place) in self.places.iter().enumerate() {
            let Placed { kind, turn } = row[place];
            let modulus = u64::from(set.moduli[usize::from(kind)]);
            let found = (0..self.positions).find_map(|from| {
                let piece = set.solved[self.places[from]];
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
    group: Option<TestedGroup>,
    /// Results for parities and twists that have been computed before.
    cache: Mutex<HashMap<Vec<u64>, Option<Unreachable>>>,
}

/// The group that the moves generate, as it is asked for elements.
struct TestedGroup {
    /// The numbers of parities and twists, and the subgroup that the moves and invisible changes generate.
    factors: Vec<u64>,
    images: Vec<Vec<u64>>,
    generated: MoveGroup,
    /// Whether all of it is known, where parities and twists do not decide.
    is_proven: bool,
}

impl Puzzle {
    /// Returns whether moves lead from the solved puzzle to an arrangement, and if not, the reason; `None` if this is
    /// unknown.
    ///
    /// Cost: that of [`Puzzle::states`].
    pub fn reaches(&self, arrangement: &Arrangement) -> Option<Result<(), Unreachable>> {
        Reachability::of(self).reaches(self, arrangement)
    }
}

impl Reachability {
    /// Returns what is known about a puzzle. If its moves depend on several pieces, or if some places are forbidden,
    /// that is what moves could not reach even if all of them were always allowed.
    pub fn of(puzzle: &Puzzle) -> Reachability {
        let (loops, is_exact) = match puzzle.loops() {
            Some(loops) => (loops, true),
            None => (Loops::unconditional(puzzle), false),
        };
        let moves: Vec<_> = loops.moves.iter().map(|word| &word.effect).collect();
        let components = components(puzzle, &moves);
        let group = MoveGroup::new(&components, moves.len()).map(|mut generated| {
            let whole = Parts::new(&components, 0);
            let images = whole.seen_images(&generated.generators);
            let is_unique = components.iter().all(|component| component.unseen().is_empty());
            let is_proven = !generated.is_whole && is_unique && generated.prove();
            TestedGroup { factors: whole.factors, images, generated, is_proven }
        });
        Reachability { loops, is_exact, components, group, cache: Mutex::default() }
    }

    /// Returns the result of [`Puzzle::reaches`] for the puzzle from which this was made. Cost: a few
    /// microseconds.
    pub fn reaches(
        &self,
        puzzle: &Puzzle,
        arrangement: &Arrangement,
    ) -> Option<Result<(), Unreachable>> {
        if let Some(at) = puzzle.forbidden(arrangement) {
            let set = puzzle.sets()[usize::from(at.set)].name.clone();
            return Some(Err(Unreachable::Place(set)));
        }
        let arrangement = match self.loops.home(puzzle, arrangement) {
            Ok(arrangement) => arrangement,
            Err(set) => return Some(Err(Unreachable::Place(set))),
        };
        let mut targets = Vec::new();
        for component in &self.components {
            let set = &puzzle.sets()[component.set];
            match component.target(set, &arrangement.0[component.set]) {
                Some(target) => targets.push(target),
                None => return Some(Err(Unreachable::Place(set.name.clone()))),
            }
        }
        let group = self.group.as_ref()?;
        // The element of the greatest group with these parities and twists that corresponds to the arrangement.
        let image: Vec<u64> = (self.components.iter().zip(&targets))
            .flat_map(|(component, to)| component.parity_and_twist(to))
            .collect();
        let mut cache = self.cache.lock();
        let wrong = cache.entry(image).or_insert_with_key(|image| self.wrong(puzzle, group, image));
        if let Some(wrong) = wrong {
            return Some(Err(wrong.clone()));
        }
        drop(cache);
        if group.generated.is_whole {
            return self.is_exact.then_some(Ok(()));
        }
        if !group.is_proven {
            return None;
        }
        let targets: Vec<&[(usize, u64)]> = targets.iter().map(|to| &to[..]).collect();
        let left = group.generated.known.strip(0, &element(&self.components, &targets));
        match left {
            Some(_) => Some(Err(Unreachable::Group)),
            None => self.is_exact.then_some(Ok(())),
        }
    }

    /// Returns the error in parities and twists, if there is one.
    fn wrong(&self, puzzle: &Puzzle, group: &TestedGroup, image: &[u64]) -> Option<Unreachable> {
        let set = |factor: usize| puzzle.sets()[self.components[factor / 2].set].name.clone();
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
                let of = |kind| all.iter().filter(move |&&f| f % 2 == kind && image[f] != 0);
                match of(0).next() {
                    Some(_) => Unreachable::Parity(joined(of(0).map(|&f| set(f)), " and ")),
                    // Pieces of one set that never take each other's places have sums of their own, which belong together.
                    None => Unreachable::Twist(of(1).next().map_or_else(String::new, |&f| set(f))),
                }
            }
        })
    }
}

// Random states of puzzles: all reachable states are equally likely.
//
// An element of the group of the moves is drawn as a product with one factor for each level of a strong generating
// set, where all factors are equally likely. Its effect on the solved puzzle is a state, and every state results from
// the same number of elements.

impl Puzzle {
    /// Returns an endless sequence of random reachable states, all equally likely; the same seed gives the same states.
    /// Returns `None` if moves depend on where several pieces are, or if the group of the moves is too large to be
    /// known.
    ///
    /// Cost: that of [`Puzzle::states`], then the number of bytes of a state times its number of positions per
    /// state.
    ///
    /// ```
    /// use tilewave::puzzle::{named, Turns};
    /// let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers)?;
    /// let state = cube.scrambles(1).and_then(|mut states| states.next()).unwrap();
    /// assert_eq!(cube.reaches(&state), Some(Ok(())));
    /// # Ok::<(), tilewave::Error>(())
    /// ```
    pub fn scrambles(&self, seed: u64) -> Option<impl Iterator<Item = Arrangement> + use<>> {
        let loops = self.loops()?;
        let moves: Vec<_> = loops.moves.iter().map(|word| &word.effect).collect();
        let components = components(self, &moves);
        let group = MoveGroup::complete(&components, moves.len())?;
        let mut dice = SplitMix64::new(seed);
        let puzzle = self.clone();
        Some(std::iter::repeat_with(move || {
            let element = group.known.random(&mut dice);
            let (mut state, mut first) = (puzzle.solved(), 0);
            for component in &components {
                let set = &puzzle.sets()[component.set];
                let row = &mut state.0[component.set];
                for (from, &place) in component.places.iter().enumerate() {
                    let (to, twist) = component.moved(from, first, &element);
                    let Placed { kind, turn } = set.solved[place];
                    let modulus = u64::from(set.moduli[usize::from(kind)]);
                    let turn = ((u64::from(turn) + twist) % modulus) as u8;
                    row[component.places[to]] = Placed { kind, turn };
                }
                first += component.points();
            }
            loops.away(&puzzle, state, &mut dice)
        }))
    }
}

impl Puzzle {
    /// Returns an endless sequence of random reachable arrangements of a puzzle of permutations, all equally likely; the
    /// same seed gives the same ones.
    pub fn random_permutations(&self, seed: u64) -> impl Iterator<Item = Permutation> + use<> {
        let (group, mut dice) = (self.group(), SplitMix64::new(seed));
        std::iter::repeat_with(move || {
            let element = group.random(&mut dice);
            Permutation::from_fn(element.len(), |point| usize::from(element[point]))
        })
    }
}

// Whether two puzzles have the same moves.
//
// A puzzle is seen as facets, one for each visible orientation of each position, that moves permute. Two puzzles have
// the same states at each depth if a renaming of facets and moves takes the moves of one to those of the other, and
// facets that look alike in the solved puzzle to facets that do.

/// Moves as the facet from which each facet comes, and what each facet looks like in the solved puzzle.
struct Facets {
    moves: Vec<Vec<usize>>,
    looks: Vec<usize>,
}

/// Number of moves beyond which puzzles are compared only as they are written.
const MAX_COMPARED: usize = 256;

impl Facets {
    /// `None` if moves depend on pieces, or if there are too many.
    fn of(puzzle: &Puzzle) -> Option<Facets> {
        let moves = puzzle.free_moves().filter(|moves| moves.len() <= MAX_COMPARED)?;
        let mut facets = Facets { moves: vec![Vec::new(); moves.len()], looks: Vec::new() };
        let mut seen = Vec::new();
        for (index, set) in puzzle.sets().iter().enumerate() {
            let moduli =
                || set.solved.iter().map(|piece| usize::from(set.moduli[usize::from(piece.kind)]));
            let turns = moduli()
                .fold(1, |all, modulus| all / gcd(all as u64, modulus as u64) as usize * modulus);
            let first = facets.looks.len();
            for (piece, modulus) in set.solved.iter().zip(moduli()) {
                for facet in 0..turns {
                    let look =
                        (index, piece.kind, (facet + modulus - usize::from(piece.turn)) % modulus);
                    let known = seen.iter().position(|of| *of == look);
                    facets.looks.push(known.unwrap_or_else(|| {
                        seen.push(look);
                        seen.len() - 1
                    }));
                }
            }
            for (to, of) in facets.moves.iter_mut().zip(&moves) {
                let turn = &of.0[index];
                for (&from, &twist) in turn.source.iter().zip(&turn.twist) {
                    let back = turns - usize::from(twist) % turns;
                    let place = first + usize::from(from) * turns;
                    to.extend((0..turns).map(|facet| place + (facet + back) % turns));
                }
            }
        }
        // What no move changes does not matter.
        let is_moved = |facet: &usize| facets.moves.iter().any(|one| one[*facet] != *facet);
        let kept: Vec<usize> = (0..facets.looks.len()).filter(is_moved).collect();
        let mut number = vec![usize::MAX; facets.looks.len()];
        for (i, &facet) in kept.iter().enumerate() {
            number[facet] = i;
        }
        let within = |one: &Vec<usize>| kept.iter().map(|&facet| number[one[facet]]).collect();
        let moves = facets.moves.iter().map(within).collect();
        Some(Facets { moves, looks: kept.iter().map(|&facet| facets.looks[facet]).collect() })
    }

    /// A value that is the same for a product of two moves after any renaming: a hash of the lengths of its cycles.
    fn cycles(&self, first: usize, next: usize) -> u64 {
        let both = |facet: usize| self.moves[first][self.moves[next][facet]];
        let (mut seen, mut lengths) =
            (vec![false; self.looks.len()], vec![0u32; self.looks.len() + 1]);
        for start in 0..seen.len() {
            let (mut at, mut length) = (start, 0);
            while !std::mem::replace(&mut seen[at], true) {
                (at, length) = (both(at), length + 1);
            }
            lengths[length] += 1;
        }
        lengths[0] = 0;
        let bytes: Vec<u8> = lengths.iter().flat_map(|count| count.to_le_bytes()).collect();
        XxHash3_64::oneshot(&bytes)
    }

    fn signatures(&self) -> Vec<Vec<u64>> {
        let all = || 0..self.moves.len();
        all().map(|one| all().map(|other| self.cycles(one, other)).collect()).collect()
    }
}

/// A renaming that is being looked for.
struct Renaming<'a> {
    of: [&'a Facets; 2],
    signatures: [Vec<Vec<u64>>; 2],
    /// The move of the second puzzle for each move of the first one, as far as they are chosen.
    moves: Vec<usize>,
    /// Attempts that are left: puzzles with many symmetries could take forever.
    tries: usize,
}

impl Renaming<'_> {
    /// Whether the choices can be completed.
    fn exists(&mut self) -> bool {
        let next = self.moves.len();
        if next == self.of[0].moves.len() {
            let none = vec![usize::MAX; self.of[0].looks.len()];
            return self.places(&none);
        }
        for to in 0..self.of[1].moves.len() {
            let [one, other] = &self.signatures;
            let mut both = self.moves.iter().copied().chain([to]).enumerate();
            let fits = !self.moves.contains(&to)
                && both.all(|(from, image)| one[from][next] == other[image][to]);
            if fits && self.tries > 0 {
                self.tries -= 1;
                self.moves.push(to);
                if self.exists() {
                    return true;
                }
                self.moves.pop();
            }
        }
        false
    }

    /// Whether facets can be renamed for the moves chosen, from those that are renamed already.
    fn places(&mut self, renamed: &[usize]) -> bool {
        let [one, other] = self.of;
        let Some(first) = renamed.iter().position(|&to| to == usize::MAX) else {
            let pairs =
                || renamed.iter().enumerate().map(|(from, &to)| (one.looks[from], other.looks[to]));
            let pairs: BTreeSet<(usize, usize)> = pairs().collect();
            let each = |which: fn(&(usize, usize)) -> usize| {
                pairs.iter().map(which).collect::<BTreeSet<_>>()
            };
            return each(|pair| pair.0).len() == pairs.len()
                && each(|pair| pair.1).len() == pairs.len();
        };
        for start in 0..other.looks.len() {
            if renamed.contains(&start) || self.tries == 0 {
                continue;
            }
            self.tries -= 1;
            let (mut renamed, mut open) = (renamed.to_vec(), vec![first]);
            renamed[first] = start;
            let mut taken: BTreeSet<usize> = renamed.iter().copied().collect();
            let mut fits = true;
            while let (true, Some(at)) = (fits, open.pop()) {
                for (from, &to) in self.moves.iter().enumerate() {
                    let (next, image) = (one.moves[from][at], other.moves[to][renamed[at]]);
                    if renamed[next] == usize::MAX && taken.insert(image) {
                        renamed[next] = image;
                        open.push(next);
                    }
                    fits &= renamed[next] == image;
                }
            }
            if fits && self.places(&renamed) {
                return true;
            }
        }
        false
    }
}

impl Puzzle {
    /// Whether two puzzles with one goal have the same moves but for names, and so the same number of states at each
    /// depth; true only if they have. Cost: milliseconds.
    pub(crate) fn has_moves_of(&self, other: &Puzzle) -> bool {
        if self.moves().len() != other.moves().len() || self.goals().len() + other.goals().len() > 2
        {
            return false;
        }
        if self.to_json() == other.to_json() {
            return true;
        }
        let (Some(one), Some(other)) = (Facets::of(self), Facets::of(other)) else { return false };
        let looks = |of: &Facets| of.looks.iter().collect::<BTreeSet<_>>().len();
        if one.looks.len() != other.looks.len() || looks(&one) != looks(&other) {
            return false;
        }
        let signatures = [one.signatures(), other.signatures()];
        let mut sorted = signatures.clone().map(|all| {
            let mut all: Vec<u64> = all.concat();
            all.sort_unstable();
            all
        });
        let [first, second] = &mut sorted;
        let of = [&one, &other];
        first == second && Renaming { of, signatures, moves: Vec::new(), tries: 10_000 }.exists()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use crate::puzzle::{
        Arrangement, Placed, Puzzle, families,
        named::{part, whole},
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
        let graph = Puzzle::of_graph(graph).unwrap().unwrap();
        for puzzle in [turned, alike.unwrap(), both, graph] {
            let states = puzzle.states().unwrap();
            let states = usize::try_from(states).unwrap();
            even(puzzle.scrambles(3).unwrap(), states);
        }
        let topspin = families::parse("topspin:6,4").unwrap();
        even(topspin.scrambles(4).unwrap(), 720);
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
            let puzzle = Puzzle::of_graph(&format!("graph:{edges}")).unwrap().unwrap();
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
