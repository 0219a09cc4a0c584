//! Random small puzzles of every kind (several sets, many sets, orientations, some of which do not matter, equal pieces,
//! illegal states, moves that need a piece, directed or not) against a search in plain code: states at each depth, tables
//! and shortest solutions.

use std::{
    collections::{HashMap, HashSet},
    time::Instant,
};

use tilewave::frontier::FrontierSearch;
use tilewave::progress::StopWhen;
use tilewave::pruning::{EntrySize, PruningTable};
use tilewave::puzzle::orbits::{
    Arrangement, Orbit, OrbitMove, OrbitPlace, OrbitPuzzle, OrbitTurn, Placed, Transformation,
    Turns,
};
use tilewave::random::SplitMix64;
use tilewave::solve::PuzzleSolver;
use tilewave::{Kernel, Resources};

/// Most states of a puzzle whose tables and solutions are compared; of others, the first depths are.
const STATES: usize = 3000;
/// More sets than operations of keys have tables in registers.
const MANY_SETS: usize = 9;

type State = Vec<Vec<(u8, u8)>>;

/// What is drawn: moves as they are listed, before any is found to do nothing or what another does.
struct Drawn {
    orbits: Vec<Orbit>,
    moves: Vec<OrbitMove>,
    illegal: Vec<OrbitPlace>,
    turns: Turns,
}

struct Draw(SplitMix64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    fn orbit(&mut self, index: usize) -> Orbit {
        let positions = 2 + self.below(if index == 0 { 5 } else { 3 });
        let orientations = [1, 1, 2, 3, 4][self.below(5)];
        let mut orbit = Orbit::distinct(format!("set{index}"), positions as u8, orientations);
        // Different pieces, some alike, or all alike.
        let kinds = [positions, 1 + self.below(positions), 1][self.below(3)];
        let moduli: Vec<u8> = (1..=orientations).filter(|n| orientations % n == 0).collect();
        orbit.moduli = vec![orientations; kinds];
        if self.below(3) == 0 {
            orbit.moduli = (0..kinds).map(|_| moduli[self.below(moduli.len())]).collect();
        }
        let turned = self.below(4) == 0;
        for (position, piece) in orbit.solved.iter_mut().enumerate() {
            let kind = if position < kinds { position } else { self.below(kinds) };
            let turn = if turned { self.below(orbit.moduli[kind].into()) as u8 } else { 0 };
            *piece = Placed { kind: kind as u8, turn };
        }
        orbit
    }

    fn turn(&mut self, orbit: &Orbit) -> OrbitTurn {
        let positions = orbit.positions();
        let mut turn = OrbitTurn::still(positions);
        match self.below(5) {
            0 => return turn,
            1 => {}
            2 => (1..positions).for_each(|i| turn.source.swap(i, self.below(i + 1))),
            _ => {
                let (a, b) = (self.below(positions), self.below(positions));
                turn.source.swap(a, b);
                turn.source.swap(b, self.below(positions));
            }
        }
        if self.below(2) == 0 {
            turn.twist.iter_mut().for_each(|t| *t = self.below(orbit.orientations.into()) as u8);
        }
        turn
    }

    fn place(&mut self, orbits: &[Orbit]) -> OrbitPlace {
        let orbit = self.below(orbits.len());
        let (positions, kinds) = (orbits[orbit].positions(), orbits[orbit].moduli.len());
        let [position, kind] = [positions, kinds].map(|bound| self.below(bound) as u8);
        OrbitPlace { orbit: orbit as u8, position, kind }
    }

    fn puzzle(&mut self, many_sets: bool) -> Drawn {
        let sets = if many_sets { MANY_SETS + self.below(6) } else { 1 + self.below(3) };
        let orbits: Vec<Orbit> = (0..sets).map(|index| self.orbit(index)).collect();
        let turns = [Turns::Powers, Turns::Quarter, Turns::Directed][self.below(3)];
        let mut moves = Vec::new();
        for index in 0..1 + self.below(3) {
            let transformation = Transformation(orbits.iter().map(|o| self.turn(o)).collect());
            let needs = turns != Turns::Powers && self.below(6) == 0;
            let requires = needs.then(|| self.place(&orbits));
            moves.push(OrbitMove { name: format!("m{index}"), transformation, requires });
        }
        let mut illegal = Vec::new();
        if self.below(6) == 0 {
            let at = self.place(&orbits);
            let solved = &orbits[usize::from(at.orbit)].solved[usize::from(at.position)];
            illegal.extend((solved.kind != at.kind).then_some(at));
        }
        Drawn { orbits, moves, illegal, turns }
    }
}

impl Drawn {
    fn start(&self) -> State {
        let row = |orbit: &Orbit| orbit.solved.iter().map(|p| (p.kind, p.turn)).collect();
        self.orbits.iter().map(row).collect()
    }

    fn has(state: &State, at: OrbitPlace) -> bool {
        state[usize::from(at.orbit)][usize::from(at.position)].0 == at.kind
    }

    fn after(&self, state: &State, of: &Transformation) -> State {
        let row = |(i, turn): (usize, &OrbitTurn)| {
            let place = |(&from, &twist): (&u8, &u8)| {
                let (kind, turn) = state[i][usize::from(from)];
                (kind, (turn + twist) % self.orbits[i].moduli[usize::from(kind)])
            };
            turn.source.iter().zip(&turn.twist).map(place).collect()
        };
        of.0.iter().enumerate().map(row).collect()
    }

    /// The states that moves lead to, and whether they lead there.
    fn neighbours(&self, state: &State) -> Vec<State> {
        let mut found = Vec::new();
        let legal = |state: &State| !self.illegal.iter().any(|&at| Drawn::has(state, at));
        for one in &self.moves {
            let needed = |state: &State| one.requires.is_none_or(|at| Drawn::has(state, at));
            let mut next = state.clone();
            match self.turns {
                Turns::Directed | Turns::Quarter => {
                    next = self.after(&next, &one.transformation);
                    found.extend((needed(state) && legal(&next)).then_some(next));
                }
                Turns::Powers => loop {
                    next = self.after(&next, &one.transformation);
                    if next == *state {
                        break;
                    }
                    found.extend(legal(&next).then(|| next.clone()));
                },
            }
            if self.turns == Turns::Quarter {
                // The move back: the state that the move takes here.
                let mut before = state.clone();
                for (i, turn) in one.transformation.0.iter().enumerate() {
                    for (to, (&from, &twist)) in turn.source.iter().zip(&turn.twist).enumerate() {
                        let (kind, turned) = state[i][to];
                        let modulus = self.orbits[i].moduli[usize::from(kind)];
                        let turned = (turned + modulus * twist - twist) % modulus;
                        before[i][usize::from(from)] = (kind, turned);
                    }
                }
                found.extend((needed(&before) && legal(&before)).then_some(before));
            }
        }
        found
    }

    /// The distance of each state from the solved one, and whether these are all: otherwise, depths are missing.
    fn distances(&self) -> (HashMap<State, usize>, bool) {
        let mut found = HashMap::from([(self.start(), 0)]);
        let mut level = vec![self.start()];
        for depth in 1.. {
            let next: HashSet<State> = level.iter().flat_map(|s| self.neighbours(s)).collect();
            level = next.into_iter().filter(|state| !found.contains_key(state)).collect();
            found.extend(level.iter().map(|state| (state.clone(), depth)));
            if level.is_empty() || found.len() > STATES {
                break;
            }
        }
        (found, level.is_empty())
    }

    /// The moves from a state to the solved one, `None` where there is no way.
    fn way_back(&self, state: &State) -> Option<usize> {
        let (goal, mut seen) = (self.start(), HashSet::from([state.clone()]));
        let mut level = vec![state.clone()];
        for depth in 0.. {
            if level.contains(&goal) {
                return Some(depth);
            }
            let next: HashSet<State> = level.iter().flat_map(|s| self.neighbours(s)).collect();
            level = next.into_iter().filter(|state| seen.insert(state.clone())).collect();
            if level.is_empty() {
                break;
            }
        }
        None
    }
}

fn arrangement(state: &State) -> Arrangement {
    let row = |row: &Vec<(u8, u8)>| row.iter().map(|&(kind, turn)| Placed { kind, turn }).collect();
    Arrangement(state.iter().map(row).collect())
}

/// What was compared, and what differs.
#[derive(Default)]
struct Comparison {
    puzzles: usize,
    tables: usize,
    solutions: usize,
    wrong: Vec<String>,
}

impl Comparison {
    fn agreed(self) -> Comparison {
        let wrong = &self.wrong;
        let first = wrong[..wrong.len().min(20)].join("\n");
        assert!(wrong.is_empty(), "{} differ:\n{first}", wrong.len());
        self
    }

    fn hold<T: PartialEq + std::fmt::Debug>(&mut self, what: String, found: T, expected: T) {
        if found != expected {
            self.wrong.push(format!("{what}: {found:?} is found, {expected:?} expected"));
        }
    }

    /// Compares the states at each depth, of many sets only the first; with few sets, also tables and solutions.
    fn puzzle(&mut self, seed: u64, many_sets: bool) {
        let drawn = Draw(SplitMix64::new(seed)).puzzle(many_sets);
        let (distances, mut complete) = drawn.distances();
        let mut counts = vec![0; distances.values().max().unwrap() + 1];
        distances.values().for_each(|&depth| counts[depth] += 1);
        if many_sets {
            // Wrong moves could lead to more states than any memory holds.
            counts.truncate(6);
            complete = false;
        }
        let name = format!("puzzle {seed}");
        let puzzle = OrbitPuzzle::new(&name, drawn.orbits.clone(), drawn.moves.clone())
            .and_then(|puzzle| puzzle.forbidding(drawn.illegal.clone()).counting(drawn.turns));
        let puzzle = match puzzle {
            Ok(puzzle) => puzzle,
            // Refused where no move does anything.
            Err(error) => return self.hold(format!("{name}, {error}"), counts, vec![1]),
        };
        let mut search = FrontierSearch::new(puzzle.clone());
        search.max_depth = (!complete).then_some(counts.len() - 1);
        let kernels = Kernel::ALL.into_iter().filter(|kernel| kernel.is_supported());
        let each = kernels.map(|kernel| (false, Some(kernel)));
        for (symmetry, kernel) in each.chain([(true, None)]) {
            search.symmetry = symmetry;
            search.resources.kernel = kernel;
            match search.run() {
                Ok(found) => {
                    let what = format!("{name}, {symmetry}, {kernel:?}");
                    self.hold(what, found.counts(), counts.clone())
                }
                Err(error) => {
                    return assert!(error.to_string().contains("depends on a piece"), "{error}");
                }
            }
        }
        self.puzzles += 1;
        if !complete {
            return;
        }
        if let Some(states) = puzzle.states() {
            let expected = distances.len().to_string();
            self.hold(format!("{name}, states"), states.to_string(), expected);
        }
        let mut some: Vec<&State> = distances.keys().collect();
        some.sort();
        let some = some
            .iter()
            .step_by(some.len().div_ceil(9))
            .map(|&state| (state, arrangement(state), drawn.way_back(state)));
        let some: Vec<_> = some.collect();
        let table = |of: &OrbitPuzzle| PruningTable::build(of, EntrySize::Byte, Resources::new());
        let Ok(whole) = table(&puzzle) else { return };
        self.tables += 1;
        for (state, arranged, back) in &some {
            self.hold(format!("{name}, table, {state:?}"), whole.depth(arranged).unwrap(), *back);
        }
        // By a table of each set, too, where there are several.
        let each = puzzle.orbits().iter().map(|orbit| format!("={}", orbit.name));
        let each = each.filter_map(|set| puzzle.clone().keeping(&[set]).ok());
        let each: Vec<_> = each.map(|set| table(&set).unwrap()).collect();
        for tables in [vec![whole], each] {
            let Ok(solver) = PuzzleSolver::new(puzzle.clone(), tables) else { continue };
            for (state, arranged, back) in some.iter().filter(|(_, _, back)| back.is_some()) {
                // A solution that is never found is a wrong one.
                let begun = Instant::now();
                let stop = StopWhen(|| begun.elapsed().as_secs() > 5);
                let found = solver.solve_with(arranged, &stop);
                let found = found.map(|answer| answer.moves.map(|m| m.len()));
                let found = found.map_err(|error| error.to_string());
                self.hold(format!("{name}, solution, {state:?}"), found, Ok(*back));
                self.solutions += 1;
            }
        }
    }
}

#[test]
fn random_puzzles_are_as_in_plain_code() {
    let mut comparison = Comparison::default();
    (0..250).for_each(|seed| comparison.puzzle(seed, false));
    let Comparison { puzzles, tables, solutions, .. } = comparison.agreed();
    assert!(puzzles > 150 && tables > 120 && solutions > 1200, "{puzzles} {tables} {solutions}");
}

#[test]
fn random_puzzles_of_many_sets_are_as_in_plain_code() {
    let mut comparison = Comparison::default();
    (0..15).for_each(|seed| comparison.puzzle(seed, true));
    let Comparison { puzzles, .. } = comparison.agreed();
    assert!(puzzles > 9, "{puzzles}");
}
