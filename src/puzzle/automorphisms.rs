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
//! of permutation groups (1970); J. E. Hopcroft, An n log n algorithm for minimizing states in a finite automaton (1971).

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
    /// Refined.
    colouring: OrderedPartition,
    /// The next thing, the base point.
    next: usize,
}

/// Things by colour: those of one colour, a class, lie next to each other in `order`. What an automorphism takes to each
/// other has its classes at the same places.
#[derive(Clone)]
struct OrderedPartition {
    colours: Vec<u64>,
    order: Vec<u32>,
    /// For each thing its index in `order`.
    places: Vec<u32>,
    /// For each thing where its class begins in `order`.
    classes: Vec<u32>,
    /// For each index where a class begins, how many things it has.
    sizes: Vec<u32>,
    /// A hash of all that refinement has seen: of colourings that an automorphism takes to each other it is the same.
    trace: u64,
}

impl OrderedPartition {
    fn new(colours: &[u64]) -> OrderedPartition {
        let mut order: Vec<u32> = (0..colours.len() as u32).collect();
        order.sort_unstable_by_key(|&thing| colours[thing as usize]);
        let things = colours.len();
        let mut all = OrderedPartition {
            colours: colours.to_vec(),
            order: order.clone(),
            places: vec![0; things],
            classes: vec![0; things],
            sizes: vec![0; things],
            trace: 0,
        };
        let mut start = 0;
        for class in order.chunk_by(|&a, &b| colours[a as usize] == colours[b as usize]) {
            all.sizes[start] = class.len() as u32;
            for (place, &thing) in (start..).zip(class) {
                (all.places[thing as usize], all.classes[thing as usize]) =
                    (place as u32, start as u32);
            }
            start += class.len();
        }
        all
    }

    /// How many things have the colour of this one.
    fn alike(&self, thing: usize) -> usize {
        self.sizes[self.classes[thing] as usize] as usize
    }

    /// Gives some things of a class, not all, a colour of their own.
    fn split(&mut self, part: &[u32], colour: u64) {
        let start = self.classes[part[0] as usize];
        self.sizes[start as usize] -= part.len() as u32;
        let own = start + self.sizes[start as usize];
        self.sizes[own as usize] = part.len() as u32;
        // They change places with what lies at the end of the class.
        for (end, &thing) in (own..own + part.len() as u32).zip(part).rev() {
            let (place, other) = (self.places[thing as usize], self.order[end as usize]);
            self.order.swap(place as usize, end as usize);
            (self.places[thing as usize], self.places[other as usize]) = (end, place);
        }
        for &thing in part {
            (self.classes[thing as usize], self.colours[thing as usize]) = (own, colour);
        }
    }
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

    /// The relations in the form in which they are searched.
    fn of_things(&self) -> Refinement<'_> {
        let mut starts = vec![0; self.colours.len() + 1];
        self.triples
            .iter()
            .flat_map(|(_, things)| things)
            .for_each(|&thing| starts[thing as usize + 1] += 1);
        for thing in 0..self.colours.len() {
            starts[thing + 1] += starts[thing];
        }
        let (mut ends, mut triples) = (starts.clone(), vec![0; 3 * self.triples.len()]);
        for (number, (_, things)) in (0..).zip(&self.triples) {
            for &thing in things {
                triples[ends[thing as usize]] = number;
                ends[thing as usize] += 1;
            }
        }
        Refinement {
            of: self,
            starts,
            triples,
            sums: vec![0; self.colours.len()],
            seen: vec![0; self.triples.len()],
            round: 0,
        }
    }

    /// Returns the automorphisms; `None` if they are too hard to find.
    ///
    /// Cost: some hundred refinements. The first takes some 20 ns for each triple and round, later ones look only at the
    /// triples of things whose colours change.
    pub fn automorphisms(&self) -> Option<Automorphisms> {
        let mut refinement = self.of_things();
        let mut colouring = OrderedPartition::new(&self.colours);
        refinement.refine(&mut colouring, (0..self.colours.len() as u32).collect());
        let mut levels: Vec<SearchLevel> = Vec::new();
        let triples: HashSet<&(u64, [u32; 3])> = self.triples.iter().collect();
        let paired = self.paired();
        while let Some(next) = self.next_thing(&paired, &colouring) {
            levels.push(SearchLevel { colouring: colouring.clone(), next });
            refinement.with_own(&mut colouring, next);
        }
        let mut search =
            AutomorphismSearch { refinement, triples, levels, end: colouring, refined: 0 };
        let prefix = search.levels.iter().take_while(|level| level.next < self.counting).count();
        let mut found =
            Automorphisms { order: BigUint::from(1u8), generators: Vec::new(), levels: prefix };
        for level in (0..prefix).rev() {
            let SearchLevel { next, ref colouring } = search.levels[level];
            let (colouring, mut orbits) = (colouring.clone(), Orbits::new(self.counting));
            found.generators.iter().for_each(|(_, generator)| orbits.join(generator));
            let mut failed: Vec<usize> = Vec::new();
            for to in
                (0..self.counting).filter(|&to| colouring.colours[to] == colouring.colours[next])
            {
                let tried = |&other: &usize| orbits.root(other) == orbits.root(to);
                if tried(&next) || failed.iter().any(tried) {
                    continue;
                }
                match search.beyond(level, colouring.clone(), to)? {
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
    fn next_thing(&self, paired: &[bool], colouring: &OrderedPartition) -> Option<usize> {
        let open = (0..self.colours.len())
            .map(|thing| (thing >= self.counting, !paired[thing], colouring.alike(thing), thing));
        open.filter(|&(_, _, alike, _)| alike > 1).min().map(|(.., thing)| thing)
    }
}

/// Refines colourings of relations.
struct Refinement<'a> {
    of: &'a Relations,
    /// The numbers of the triples of thing t, `triples[starts[t]..starts[t + 1]]`; a number stands as often as the triple has
    /// the thing.
    starts: Vec<usize>,
    triples: Vec<u32>,
    /// For each thing, what its triples say in this round; zero between rounds, and within one with a chance of 2^-64.
    sums: Vec<u64>,
    /// For each triple, in which round it was last looked at.
    seen: Vec<u32>,
    round: u32,
}

impl Refinement<'_> {
    /// Refines a colouring until triples tell no more things apart, given the things whose colours are new.
    ///
    /// In each round, the triples of these things tell the things of a class apart. The largest part of the class keeps its
    /// colour: what its triples say follows from what those of the whole class and of the other parts say (Hopcroft).
    fn refine(&mut self, colouring: &mut OrderedPartition, mut changed: Vec<u32>) {
        let (mut touched, mut next) = (Vec::new(), Vec::new());
        while !changed.is_empty() {
            self.round += 1;
            for &thing in &changed {
                for at in self.starts[thing as usize]..self.starts[thing as usize + 1] {
                    let number = self.triples[at] as usize;
                    if std::mem::replace(&mut self.seen[number], self.round) != self.round {
                        self.ask(number, colouring, &mut touched);
                    }
                }
            }
            touched.sort_unstable_by_key(|&thing: &u32| {
                (colouring.classes[thing as usize], self.sums[thing as usize])
            });
            let mut left = &touched[..];
            while let Some(&first) = left.first() {
                let class = colouring.classes[first as usize];
                let (own, others) = left.split_at(
                    left.partition_point(|&thing| colouring.classes[thing as usize] == class),
                );
                self.divide(own, colouring, &mut next);
                left = others;
            }
            touched.drain(..).for_each(|thing| self.sums[thing as usize] = 0);
            changed.clear();
            std::mem::swap(&mut changed, &mut next);
        }
    }

    /// Adds what a triple says to the sums of its things; those of a class of their own need none.
    fn ask(&mut self, number: usize, colouring: &mut OrderedPartition, touched: &mut Vec<u32>) {
        let (label, things) = self.of.triples[number];
        let of =
            |place: usize| colouring.colours[things[place] as usize].wrapping_mul(PLACES[place]);
        let both = of(0) ^ of(1).rotate_left(21) ^ of(2).rotate_left(42);
        let triple = mixed(both.wrapping_add(label));
        colouring.trace = colouring.trace.wrapping_add(triple);
        for (thing, place) in things.into_iter().zip(PLACES) {
            if colouring.alike(thing as usize) > 1 {
                let sum = &mut self.sums[thing as usize];
                if *sum == 0 {
                    touched.push(thing);
                }
                *sum = sum.wrapping_add(mixed(triple ^ place));
            }
        }
    }

    /// Divides a class by the sums of those of its things that have one, given in order of these.
    fn divide(&self, things: &[u32], colouring: &mut OrderedPartition, next: &mut Vec<u32>) {
        let sum = |thing: u32| self.sums[thing as usize];
        let colour = colouring.colours[things[0] as usize];
        let start = colouring.classes[things[0] as usize] as usize;
        let rest = colouring.sizes[start] as usize - things.len();
        let parts = || things.chunk_by(|&a, &b| sum(a) == sum(b));
        // Of parts of one size the first keeps the colour: the rest, then by sums.
        let most = parts().map(<[u32]>::len).max().unwrap_or(0);
        let mut keeps = rest < most;
        let mut split = |part: &[u32], by: u64, keeps: bool, colouring: &mut OrderedPartition| {
            let own = mixed(colour.wrapping_mul(3).wrapping_add(by));
            colouring.trace = mixed(colouring.trace ^ own).wrapping_add(part.len() as u64);
            if !keeps {
                colouring.split(part, own);
                next.extend_from_slice(part);
            }
        };
        if 0 < rest && rest < most {
            let of_class = &colouring.order[start..start + rest + things.len()];
            let part: Vec<u32> =
                of_class.iter().copied().filter(|&thing| sum(thing) == 0).collect();
            // Its sum is zero, as of other parts of the class in earlier rounds.
            split(&part, colouring.trace, false, colouring);
        }
        for part in parts() {
            let kept = keeps && part.len() == most;
            keeps &= !kept;
            split(part, sum(part[0]), kept, colouring);
        }
    }

    /// Gives a thing a colour of its own, and refines.
    fn with_own(&mut self, colouring: &mut OrderedPartition, thing: usize) {
        colouring.trace = mixed(colouring.trace ^ colouring.colours[thing]);
        colouring.split(&[thing as u32], colouring.trace);
        self.refine(colouring, vec![thing as u32]);
    }
}

/// A search for permutations that take the first way to give things colours to another one.
struct AutomorphismSearch<'a> {
    refinement: Refinement<'a>,
    triples: HashSet<&'a (u64, [u32; 3])>,
    levels: Vec<SearchLevel>,
    /// The colours after the last level, all different.
    end: OrderedPartition,
    refined: usize,
}

impl AutomorphismSearch<'_> {
    /// Finds an automorphism that takes the base point of a level to a thing, and fixes those before it as these colours
    /// do. `None` if it takes too long.
    fn beyond(
        &mut self,
        level: usize,
        mut colouring: OrderedPartition,
        to: usize,
    ) -> Option<Option<Vec<u32>>> {
        self.refined += 1;
        if self.refined > MOST_REFINED {
            return None;
        }
        self.refinement.with_own(&mut colouring, to);
        let Some(next) = self.levels.get(level + 1) else {
            let ends = colouring.trace == self.end.trace;
            return Some(ends.then(|| self.permutation(&colouring)).flatten());
        };
        if colouring.trace != next.colouring.trace {
            return Some(None);
        }
        let colour = next.colouring.colours[next.next];
        let alike = (0..colouring.colours.len()).filter(|&to| colouring.colours[to] == colour);
        for to in alike.collect::<Vec<_>>() {
            if let Some(found) = self.beyond(level + 1, colouring.clone(), to)? {
                return Some(Some(found));
            }
        }
        Some(None)
    }

    /// The permutation that takes each thing to the one that has its place in the order now, if it takes triples to triples.
    fn permutation(&self, colouring: &OrderedPartition) -> Option<Vec<u32>> {
        let mut to = vec![0; colouring.order.len()];
        for (&own, &image) in self.end.order.iter().zip(&colouring.order) {
            to[own as usize] = image;
        }
        let image =
            |(label, things): &(u64, [u32; 3])| (*label, things.map(|thing| to[thing as usize]));
        let keeps = (0..).zip(&to).all(|(own, &image): (usize, _)| {
            self.refinement.of.colours[own] == self.refinement.of.colours[image as usize]
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
