//! Automorphisms of relations between coloured things, by individualization and refinement.
//!
//! A **relation** consists of things with colours, and of triples of things with labels. An automorphism is a permutation of
//! the things that keeps colours, and takes triples to triples. **Refinement** gives each thing a colour that depends on its
//! triples and on the colours of the things there, as long as this tells more of them apart. Where that is not enough, one
//! thing after another gets a colour of its own; if this leads to the same colours from two things, they may be images of
//! each other. What is found is checked triple by triple, so that nothing depends on colours that are equal by chance.
//!
//! Invariant: the permutations that are found generate, on the things that count, all automorphisms.
//!
//! Sources: B. D. McKay and A. Piperno, Practical graph isomorphism II (2014); C. C. Sims, Computational methods in the study
//! of permutation groups (1970).

use std::collections::HashSet;

use num_bigint::BigUint;

/// Maximum number of refinements in a search for automorphisms; those of known puzzles take a hundred.
const MOST_REFINED: usize = 20_000;

/// Things with colours, and triples of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Relations {
    /// The number of things that count; they come first.
    pub counting: usize,
    pub colours: Vec<u64>,
    pub triples: Vec<(u64, [u32; 3])>,
}

/// Generators of a group, as far as they differ on the things that count.
#[derive(Clone, Debug)]
pub(super) struct Automorphisms {
    /// The number of automorphisms that differ on these things.
    pub order: BigUint,
    /// Each with its level: it fixes the base points of the levels before it. Those of a level and of all later ones
    /// generate all that do.
    pub generators: Vec<(usize, Vec<u32>)>,
    pub levels: usize,
}

/// A level of the search: one more thing with a colour of its own.
struct SearchLevel {
    /// Refined, and the same in order.
    colours: Vec<u64>,
    sorted: Vec<u64>,
    /// The next thing, the base point.
    next: usize,
}

/// A bijection on 64 bits without a visible pattern.
pub(crate) fn mixed(mut x: u64) -> u64 {
    x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ x >> 32
}

/// Odd numbers by which the places of a triple differ.
const PLACES: [u64; 3] = [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9];

impl Relations {
    /// Adds a thing of a colour.
    pub fn thing(&mut self, colour: u64) -> u32 {
        self.colours.push(mixed(colour + 1));
        self.colours.len() as u32 - 1
    }

    pub fn relate(&mut self, label: u64, things: [u32; 3]) {
        self.triples.push((label, things));
    }

    /// Refines colours, and returns them in order.
    fn refine(&self, colours: &mut [u64]) -> Vec<u64> {
        let ordered = |colours: &[u64]| {
            let mut sorted = colours.to_vec();
            sorted.sort_unstable();
            let classes = sorted.chunk_by(|a, b| a == b).count();
            (sorted, classes)
        };
        let (mut sorted, mut classes) = ordered(colours);
        let mut sums = vec![0u64; colours.len()];
        while classes < colours.len() {
            sums.fill(0);
            for &(label, things) in &self.triples {
                let of = |place: usize| colours[things[place] as usize].wrapping_mul(PLACES[place]);
                let both = of(0) ^ of(1).rotate_left(21) ^ of(2).rotate_left(42);
                let triple = mixed(both.wrapping_add(label));
                for (thing, place) in things.into_iter().zip(PLACES) {
                    let sum = &mut sums[thing as usize];
                    *sum = sum.wrapping_add(mixed(triple ^ place));
                }
            }
            for (colour, sum) in colours.iter_mut().zip(&sums) {
                *colour = mixed(colour.wrapping_mul(3).wrapping_add(*sum));
            }
            let before = classes;
            (sorted, classes) = ordered(colours);
            if classes <= before {
                break;
            }
        }
        sorted
    }

    /// Returns the automorphisms; `None` if they are too hard to find.
    ///
    /// Cost: some hundred refinements, each a few times 20 ns for each triple.
    pub fn automorphisms(&self) -> Option<Automorphisms> {
        let mut colours = self.colours.clone();
        let mut sorted = self.refine(&mut colours);
        let mut levels: Vec<SearchLevel> = Vec::new();
        let triples: HashSet<&(u64, [u32; 3])> = self.triples.iter().collect();
        let paired = self.paired();
        while let Some(next) = self.next_thing(&paired, &colours, &sorted) {
            levels.push(SearchLevel { colours: colours.clone(), sorted, next });
            sorted = self.with_own(&mut colours, next);
        }
        let mut search =
            AutomorphismSearch { of: self, triples, levels, end: (colours, sorted), refined: 0 };
        let prefix = search.levels.iter().take_while(|level| level.next < self.counting).count();
        let mut found =
            Automorphisms { order: BigUint::from(1u8), generators: Vec::new(), levels: prefix };
        for level in (0..prefix).rev() {
            let SearchLevel { next, ref colours, .. } = search.levels[level];
            let (colours, mut orbits) = (colours.clone(), Orbits::new(self.counting));
            found.generators.iter().for_each(|(_, generator)| orbits.join(generator));
            let mut failed: Vec<usize> = Vec::new();
            for to in (0..self.counting).filter(|&to| colours[to] == colours[next]) {
                let tried = |&other: &usize| orbits.root(other) == orbits.root(to);
                if tried(&next) || failed.iter().any(tried) {
                    continue;
                }
                match search.beyond(level, colours.clone(), to)? {
                    Some(generator) => {
                        orbits.join(&generator);
                        found.generators.push((level, generator));
                    }
                    None => failed.push(to),
                }
            }
            found.order *=
                (0..self.counting).filter(|&to| orbits.root(to) == orbits.root(next)).count();
        }
        Some(found)
    }

    /// Gives a thing a colour of its own, and refines.
    fn with_own(&self, colours: &mut [u64], thing: usize) -> Vec<u64> {
        colours[thing] = mixed(!colours[thing]);
        self.refine(colours)
    }

    /// Whether each thing counts and is in a pair with another that counts, a triple in which the second one stands twice.
    fn paired(&self) -> Vec<bool> {
        let mut paired = vec![false; self.colours.len()];
        let counts = |thing: u32| (thing as usize) < self.counting;
        for &(_, [first, next, again]) in &self.triples {
            paired[first as usize] |= counts(first) && counts(next) && next == again;
        }
        paired
    }

    /// The thing that gets a colour of its own: one that counts if there is one, that is in a pair if there is one, because
    /// its colour tells most of others, and of those that share theirs with the fewest.
    fn next_thing(&self, paired: &[bool], colours: &[u64], sorted: &[u64]) -> Option<usize> {
        let alike = |thing: usize| {
            let first = sorted.partition_point(|&other| other < colours[thing]);
            sorted[first..].partition_point(|&other| other == colours[thing])
        };
        let open = (0..colours.len())
            .map(|thing| (thing >= self.counting, !paired[thing], alike(thing), thing));
        open.filter(|&(_, _, alike, _)| alike > 1).min().map(|(.., thing)| thing)
    }
}

/// A search for permutations that take the first way to give things colours to another one.
struct AutomorphismSearch<'a> {
    of: &'a Relations,
    triples: HashSet<&'a (u64, [u32; 3])>,
    levels: Vec<SearchLevel>,
    /// The colours after the last level, all different.
    end: (Vec<u64>, Vec<u64>),
    refined: usize,
}

impl AutomorphismSearch<'_> {
    /// Finds an automorphism that takes the base point of a level to a thing, and fixes those before it as these colours
    /// do. `None` if it takes too long.
    fn beyond(
        &mut self,
        level: usize,
        mut colours: Vec<u64>,
        to: usize,
    ) -> Option<Option<Vec<u32>>> {
        self.refined += 1;
        if self.refined > MOST_REFINED {
            return None;
        }
        let sorted = self.of.with_own(&mut colours, to);
        let Some(next) = self.levels.get(level + 1) else {
            let ends = sorted == self.end.1;
            return Some(ends.then(|| self.permutation(&colours)).flatten());
        };
        if sorted != next.sorted {
            return Some(None);
        }
        let colour = next.colours[next.next];
        for to in (0..colours.len()).filter(|&to| colours[to] == colour).collect::<Vec<_>>() {
            if let Some(found) = self.beyond(level + 1, colours.clone(), to)? {
                return Some(Some(found));
            }
        }
        Some(None)
    }

    /// The permutation that takes each thing to the one that has its colour now, if it takes triples to triples.
    fn permutation(&self, colours: &[u64]) -> Option<Vec<u32>> {
        let order = |colours: &[u64]| {
            let mut order: Vec<u32> = (0..colours.len() as u32).collect();
            order.sort_unstable_by_key(|&thing| colours[thing as usize]);
            order
        };
        let mut to = vec![0; colours.len()];
        for (own, image) in order(&self.end.0).into_iter().zip(order(colours)) {
            to[own as usize] = image;
        }
        let image =
            |(label, things): &(u64, [u32; 3])| (*label, things.map(|thing| to[thing as usize]));
        let keeps = (0..).zip(&to).all(|(own, &image): (usize, _)| {
            self.of.colours[own] == self.of.colours[image as usize]
        });
        (keeps && self.triples.iter().all(|one| self.triples.contains(&image(one)))).then_some(to)
    }
}

/// The orbits of the things that count.
struct Orbits(Vec<usize>);

impl Orbits {
    fn new(things: usize) -> Orbits {
        Orbits((0..things).collect())
    }

    fn root(&self, mut thing: usize) -> usize {
        while self.0[thing] != thing {
            thing = self.0[thing];
        }
        thing
    }

    fn join(&mut self, permutation: &[u32]) {
        for thing in 0..self.0.len() {
            let (own, image) = (self.root(thing), self.root(permutation[thing] as usize));
            self.0[own.max(image)] = own.min(image);
        }
    }
}
