//! Random states of puzzles: all reachable states are equally likely.
//!
//! An element of the group of the moves is drawn as a product with one factor for each level of a strong generating
//! set, where all factors are equally likely. Its effect on the solved puzzle is a state, and every state results from
//! the same number of elements.

use crate::{
    puzzle::{
        Definition, Permutation,
        orbits::{Arrangement, OrbitPuzzle, Placed, Transformation},
        states::{Component, Sifter, components},
    },
    random::SplitMix64,
};

impl OrbitPuzzle {
    /// Returns an endless sequence of random reachable states, all equally likely; the same seed gives the same states.
    /// Returns `None` if moves depend on where a piece is, or if the group of the moves is too large to be known.
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
        if !self.illegal().is_empty() || self.moves().iter().any(|one| one.requires.is_some()) {
            return None;
        }
        let moves: Vec<&Transformation> =
            self.moves().iter().map(|one| &one.transformation).collect();
        let components: Vec<Component> =
            (0..self.orbits().len()).flat_map(|orbit| components(self, orbit, &moves)).collect();
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
            state
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

    use crate::puzzle::{families, named, orbits::Turns};

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
        let whole = |name: &str| named::parse(name).unwrap().counting(Turns::Powers).unwrap();
        let keep = |name: &str, pieces: &[&str]| {
            let names: Vec<String> = pieces.iter().map(|name| (*name).into()).collect();
            whole(name).keeping(&names).unwrap()
        };
        // Puzzles with pieces that turn; with pieces that look alike; with two sets whose parities are linked.
        let turned = keep("2x2x2", &["corners:1-2"]);
        let alike = keep("3x3x3", &["edges"]).alike(&["edges:1-10".into(), "edges:11-12".into()]);
        let both = whole("pyraminx").keeping(&["edges".into()]).unwrap();
        let both = both.unoriented(&["edges".into()]).unwrap();
        for puzzle in [turned, alike.unwrap(), both] {
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
}
