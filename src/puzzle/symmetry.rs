//! Symmetries of a puzzle: permutations of its positions under which its set of moves stays the same.
//!
//! Invariant: every group that is returned has the identity, is closed, and only its identity fixes a position.

use std::collections::HashSet;

use super::permutation::Permutation;

/// Most symmetries that are looked for, and most steps of the search for them.
const MOST_SYMMETRIES: usize = 200;
const MOST_STEPS: usize = 4_000;

/// Returns groups of symmetries in which only the identity fixes a position, the largest first: the cyclic ones
/// and those of two generators, of the first 200 symmetries found.
/// Cost: milliseconds.
pub fn free_groups(positions: usize, generators: &[Permutation]) -> Vec<Vec<Permutation>> {
    let symmetries = Search::new(positions, generators).symmetries();
    let free: Vec<&Permutation> = symmetries.iter().filter(|s| is_free(s)).collect();
    let mut groups: Vec<Vec<Permutation>> = Vec::new();
    let mut known = HashSet::new();
    for (i, a) in free.iter().enumerate() {
        for b in &free[i..] {
            if let Some(group) = free_group(positions, &[a, b])
                && known.insert(group.clone())
            {
                groups.push(group);
            }
        }
    }
    // Of equal size the first found.
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups
}

/// Whether no power but the identity fixes a point: all cycles are equally long.
fn is_free(permutation: &Permutation) -> bool {
    let cycles = permutation.cycles();
    let moved: usize = cycles.iter().map(Vec::len).sum();
    moved == permutation.len() && cycles.iter().all(|cycle| cycle.len() == cycles[0].len())
}

/// The group of some generators in increasing order, unless an element other than the identity fixes a position.
fn free_group(positions: usize, generators: &[&Permutation]) -> Option<Vec<Permutation>> {
    let mut group = vec![Permutation::identity(positions)];
    let mut next = 0;
    while next < group.len() {
        for generator in generators {
            let product = group[next].then(generator);
            if !group.contains(&product) {
                // Free groups have at most as many elements as there are positions.
                if !is_free(&product) || group.len() == positions {
                    return None;
                }
                group.push(product);
            }
        }
        next += 1;
    }
    group.sort_unstable();
    Some(group)
}

/// The lengths of the cycles of a permutation, in increasing order.
fn kind(permutation: &Permutation) -> Vec<usize> {
    let mut lengths: Vec<usize> = permutation.cycles().iter().map(Vec::len).collect();
    lengths.sort_unstable();
    lengths
}

/// A search for symmetries, generator by generator.
struct Search<'a> {
    positions: usize,
    generators: &'a [Permutation],
    /// The lengths of the cycles of each: what it becomes has the same.
    kinds: Vec<Vec<usize>>,
    known: HashSet<&'a Permutation>,
    found: Vec<Permutation>,
    steps: usize,
}

/// A symmetry as far as it is known.
#[derive(Clone)]
struct Partial {
    image: Vec<Option<usize>>,
    /// For each generator the one that it becomes.
    becomes: Vec<Option<usize>>,
}

impl<'a> Search<'a> {
    fn new(positions: usize, generators: &'a [Permutation]) -> Search<'a> {
        Search {
            positions,
            generators,
            kinds: generators.iter().map(kind).collect(),
            known: generators.iter().collect(),
            found: Vec::new(),
            steps: 0,
        }
    }

    fn symmetries(mut self) -> Vec<Permutation> {
        self.extend(Partial {
            image: vec![None; self.positions],
            becomes: vec![None; self.generators.len()],
        });
        self.found
    }

    /// Finds what a partial symmetry can become.
    fn extend(&mut self, partial: Partial) {
        self.steps += 1;
        if self.steps > MOST_STEPS || self.found.len() == MOST_SYMMETRIES {
            return;
        }
        // A generator that leads from a known point to an unknown one.
        let leads = |g: &usize| {
            let known = (0..self.positions).filter(|&p| partial.image[p].is_some());
            let mut images = known.map(|p| self.generators[*g].image(p));
            images.any(|image| partial.image[image].is_none())
        };
        if let Some(g) = (0..self.generators.len()).find(leads) {
            let alike = |&other: &usize| self.kinds[other] == self.kinds[g];
            let alike: Vec<usize> = (0..self.generators.len()).filter(alike).collect();
            for other in alike {
                let mut next = partial.clone();
                next.becomes[g] = Some(other);
                if self.propagate(&mut next) {
                    self.extend(next);
                }
            }
        } else if let Some(point) = partial.image.iter().position(Option::is_none) {
            for image in 0..self.positions {
                let mut next = partial.clone();
                next.image[point] = Some(image);
                if !partial.image.contains(&Some(image)) && self.propagate(&mut next) {
                    self.extend(next);
                }
            }
        } else {
            let image = |p: usize| partial.image[p].unwrap_or(p);
            let symmetry = Permutation::from_fn(self.positions, image);
            let back = symmetry.inverse();
            let conjugate = |g: &Permutation| back.then(g).then(&symmetry);
            if self
                .generators
                .iter()
                .all(|g| self.known.contains(&conjugate(g)))
            {
                self.found.push(symmetry);
            }
        }
    }

    /// Draws all conclusions; returns whether they agree.
    fn propagate(&self, partial: &mut Partial) -> bool {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (g, other) in partial.becomes.iter().enumerate() {
                let Some(other) = other else { continue };
                for p in 0..self.positions {
                    let Some(image) = partial.image[p] else {
                        continue;
                    };
                    let to = self.generators[g].image(p);
                    let expected = Some(self.generators[*other].image(image));
                    if partial.image[to].is_none() {
                        if partial.image.contains(&expected) {
                            return false;
                        }
                        partial.image[to] = expected;
                        changed = true;
                    } else if partial.image[to] != expected {
                        return false;
                    }
                }
            }
        }
        true
    }
}
