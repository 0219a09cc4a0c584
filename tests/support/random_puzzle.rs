//! Random small puzzles of every kind, and plain code that searches them. It shares nothing with the program but the
//! types in which puzzles are described: several sets, many sets, orientations, some of which do not matter, equal
//! pieces, pieces that nothing moves, sets that fall apart, illegal states, pieces that are glued together, moves that need a piece, directed or not,
//! generators made of several moves, goals, symmetric moves.

use std::collections::BTreeSet;

use tilewave::puzzle::{
    Arrangement, GluedPiece, Move, PieceAt, PieceSet, Placed, Puzzle, SetAction, Transformation,
    Turns,
};
use tilewave::puzzle::{PuzzleError, Variant};
use tilewave::random::SplitMix64;

use crate::plain::{HashMap, HashSet, search};

/// More sets than operations of keys have tables in registers.
pub const MANY_SETS: usize = 9;

/// For each set, the kind and orientation of the piece at each position.
pub type State = Vec<Vec<(u8, u8)>>;

/// What is drawn: moves as they are listed, before any is found to do nothing or what another does.
pub struct Drawn {
    pub sets: Vec<PieceSet>,
    pub moves: Vec<Move>,
    pub illegal: Vec<PieceAt>,
    pub blocks: Vec<Vec<GluedPiece>>,
    pub turns: Turns,
    /// Words of moves, each with whether it is undone, that take the place of the moves; none: the moves themselves.
    pub generators: Vec<Vec<(usize, bool)>>,
    /// Words of moves that lead to the goals; none: the solved state is the only one.
    pub goals: Vec<Vec<usize>>,
    /// The order of each move or generator if every orientation is seen.
    orders: Vec<usize>,
}

/// What can be drawn besides sets and moves.
#[derive(Clone, Copy, Default)]
pub struct Features {
    pub many_sets: bool,
    pub goals: bool,
    pub generators: bool,
    /// Illegal states, and moves that need a piece.
    pub conditions: bool,
    /// Pieces that are glued together.
    pub blocks: bool,
}

impl Features {
    pub const ALL: Features = Features {
        many_sets: false,
        goals: true,
        generators: true,
        conditions: true,
        blocks: false,
    };
    /// With blocks, of which moves need no piece; moves may not lead to goals.
    pub const BLOCKS: Features = Features { goals: false, blocks: true, ..Features::ALL };
}

struct Draw(SplitMix64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    fn set(&mut self, index: usize) -> PieceSet {
        let positions = 2 + self.below(if index == 0 { 5 } else { 3 });
        let orientations = [1, 1, 2, 3, 4, 6][self.below(6)];
        let mut set = PieceSet::distinct(format!("set{index}"), positions as u8, orientations);
        // Different pieces, some alike, or all alike.
        let kinds = [positions, 1 + self.below(positions), 1][self.below(3)];
        let moduli: Vec<u8> = (1..=orientations).filter(|n| orientations % n == 0).collect();
        set.moduli = vec![orientations; kinds];
        if self.below(3) == 0 {
            set.moduli = (0..kinds).map(|_| moduli[self.below(moduli.len())]).collect();
        }
        let turned = self.below(4) == 0;
        for (position, piece) in set.solved.iter_mut().enumerate() {
            let kind = if position < kinds { position } else { self.below(kinds) };
            let turn = if turned { self.below(set.moduli[kind].into()) as u8 } else { 0 };
            *piece = Placed { kind: kind as u8, turn };
        }
        set
    }

    /// A turn that takes no piece from one part of the positions to another, and none from the last part.
    fn turn(&mut self, set: &PieceSet, parts: &[usize]) -> SetAction {
        let positions = set.positions();
        let mut turn = SetAction::still(positions);
        let kind = self.below(5);
        if kind == 0 {
            return turn;
        }
        for part in 0..2 {
            let own: Vec<usize> = (0..positions).filter(|&p| parts[p] == part).collect();
            if own.is_empty() {
                continue;
            }
            match kind {
                1 => {}
                2 => (1..own.len()).for_each(|i| turn.source.swap(own[i], own[self.below(i + 1)])),
                _ => {
                    let [a, b, c] = [0; 3].map(|_| own[self.below(own.len())]);
                    turn.source.swap(a, b);
                    turn.source.swap(b, c);
                }
            }
        }
        if self.below(2) == 0 {
            for (twist, _) in turn.twist.iter_mut().zip(parts).filter(|(_, part)| **part < 2) {
                *twist = self.below(set.orientations.into()) as u8;
            }
        }
        turn
    }

    fn place(&mut self, sets: &[PieceSet]) -> PieceAt {
        let set = self.below(sets.len());
        let (positions, kinds) = (sets[set].positions(), sets[set].moduli.len());
        let [position, kind] = [positions, kinds].map(|bound| self.below(bound) as u8);
        PieceAt { set: set as u8, position, kind }
    }

    fn puzzle(&mut self, with: Features) -> Drawn {
        let count = if with.many_sets { MANY_SETS + self.below(6) } else { 1 + self.below(3) };
        let mut sets: Vec<PieceSet> = (0..count).map(|index| self.set(index)).collect();
        if count > 1 && self.below(4) == 0 {
            sets[1] = PieceSet { name: "set1".into(), ..sets[0].clone() };
        }
        // Whole sets, sets in two parts, or sets with a part that nothing moves.
        let kind = self.below(4);
        let part = |draw: &mut Draw| match kind {
            0 | 1 => 0,
            2 => draw.below(2),
            _ => 2 * (draw.below(3) / 2),
        };
        let parts: Vec<Vec<usize>> =
            sets.iter().map(|o| (0..o.positions()).map(|_| part(self)).collect()).collect();
        let turns = [Turns::Powers, Turns::Quarter, Turns::Directed][self.below(3)];
        let mut moves = Vec::new();
        for index in 0..1 + self.below(3) {
            let of = sets.iter().zip(&parts).map(|(set, parts)| self.turn(set, parts));
            let transformation = Transformation(of.collect());
            let needs = with.conditions && turns != Turns::Powers && self.below(6) == 0;
            let requires = needs.then(|| self.place(&sets));
            moves.push(Move { name: format!("m{index}"), transformation, requires });
        }
        if self.below(2) == 0 {
            self.mirror(&sets, &mut moves);
        }
        let mut illegal = Vec::new();
        if with.conditions && self.below(6) == 0 {
            let at = self.place(&sets);
            let solved = &sets[usize::from(at.set)].solved[usize::from(at.position)];
            illegal.extend((solved.kind != at.kind).then_some(at));
        }
        let free = illegal.is_empty() && moves.iter().all(|one| one.requires.is_none());
        let (mut generators, mut goals) = (Vec::new(), Vec::new());
        if free && with.generators && self.below(4) == 0 {
            let word = |draw: &mut Draw| {
                let length = 1 + draw.below(3);
                (0..length).map(|_| (draw.below(moves.len()), draw.below(2) == 0)).collect()
            };
            generators = (0..1 + self.below(2)).map(|_| word(self)).collect();
        }
        if free && with.goals && self.below(4) == 0 {
            let bound = if generators.is_empty() { moves.len() } else { generators.len() };
            let word = |draw: &mut Draw| {
                let length = draw.below(4);
                (0..length).map(|_| draw.below(bound)).collect()
            };
            goals = (0..1 + self.below(3)).map(|_| word(self)).collect();
        }
        let blocks = Vec::new();
        let orders = Vec::new();
        let mut drawn = Drawn { sets, moves, illegal, blocks, turns, generators, goals, orders };
        drawn.orders = drawn.words().iter().map(|word| drawn.order(word)).collect();
        drawn
    }

    /// Adds the mirror images of moves under a random renaming of positions, or of the first two sets if they are
    /// equal.
    fn mirror(&mut self, sets: &[PieceSet], moves: &mut Vec<Move>) {
        let twins = sets.len() > 1
            && (&sets[0].solved, &sets[0].moduli) == (&sets[1].solved, &sets[1].moduli)
            && sets[0].orientations == sets[1].orientations;
        let swap = twins && self.below(2) == 0;
        let renamed = |set: &PieceSet, draw: &mut Draw| {
            let mut to: Vec<usize> = (0..set.positions()).collect();
            (1..to.len()).for_each(|i| to.swap(i, draw.below(i + 1)));
            to
        };
        let to: Vec<Vec<usize>> = sets.iter().map(|set| renamed(set, self)).collect();
        for index in 0.. {
            let (Some(one), true) = (moves.get(index), moves.len() < 5) else { break };
            let mut turns = one.transformation.0.clone();
            for (turn, to) in turns.iter_mut().zip(&to).filter(|_| !swap) {
                let before = turn.clone();
                for (position, &image) in to.iter().enumerate() {
                    turn.source[image] = to[usize::from(before.source[position])] as u8;
                    turn.twist[image] = before.twist[position];
                }
            }
            if swap {
                turns.swap(0, 1);
            }
            let image = Transformation(turns);
            if one.requires.is_none() && moves.iter().all(|other| other.transformation != image) {
                moves.push(Move {
                    name: format!("m{}", moves.len()),
                    transformation: image,
                    requires: None,
                });
            }
        }
    }
}

impl Drawn {
    /// The puzzle of a seed.
    pub fn new(seed: u64, with: Features) -> Drawn {
        let mut drawn = Draw(SplitMix64::new(seed)).puzzle(with);
        if with.blocks && drawn.moves.iter().all(|one| one.requires.is_none()) {
            // From numbers of their own: the rest of the puzzle is the same without them.
            drawn.glue(&mut Draw(SplitMix64::new(!seed)));
        }
        drawn
    }

    /// Draws blocks of two or three pieces.
    fn glue(&mut self, draw: &mut Draw) {
        let mut single = Vec::new();
        for (set, of) in (0..).zip(&self.sets) {
            let kinds = (0..of.moduli.len() as u8).filter(|&kind| of.pieces_of(kind) == 1);
            single.extend(kinds.map(|kind| GluedPiece { set, kind }));
        }
        for _ in 0..1 + draw.below(3) {
            let count = 2 + draw.below(2);
            if single.len() < count {
                break;
            }
            let block = (0..count).map(|_| single.swap_remove(draw.below(single.len())));
            self.blocks.push(block.collect());
        }
    }

    /// Whether one generator is drawn twice: two moves would have the same name, which is refused.
    pub fn has_generator_twice(&self) -> bool {
        let (count, different) =
            (self.generators.len(), self.generators.iter().collect::<HashSet<_>>());
        different.len() < count
    }

    /// The program's puzzle.
    pub fn puzzle(&self, name: &str) -> Result<Puzzle, PuzzleError> {
        let puzzle = Puzzle::new(name, self.sets.clone(), self.moves.clone())?;
        let word = |word: &Vec<(usize, bool)>| {
            let text =
                |&(one, back): &(usize, bool)| format!("m{one}{}", if back { "'" } else { "" });
            word.iter().map(text).collect::<Vec<_>>().join(" ")
        };
        let generators: Vec<String> = self.generators.iter().map(word).collect();
        let goals = self.goals();
        let texts = goals.iter().map(|state| puzzle.text(&arrangement(state)));
        let goals = if self.goals.is_empty() { Vec::new() } else { texts.collect() };
        let variant = Variant { moves: generators, goals, ..Variant::default() };
        let puzzle = puzzle.forbidding(self.illegal.clone())?.gluing(self.blocks.clone())?;
        variant.of(puzzle, self.turns)
    }

    pub fn start(&self) -> State {
        let row = |set: &PieceSet| set.solved.iter().map(|p| (p.kind, p.turn)).collect();
        self.sets.iter().map(row).collect()
    }

    /// The solved states, each once.
    pub fn goals(&self) -> BTreeSet<State> {
        let moves = self.words();
        let goal = |word: &Vec<usize>| {
            word.iter().fold(self.start(), |state, &one| self.effect(&moves[one], &state))
        };
        match self.goals.as_slice() {
            [] => BTreeSet::from([self.start()]),
            goals => goals.iter().map(goal).collect(),
        }
    }

    fn has(state: &State, at: PieceAt) -> bool {
        state[usize::from(at.set)][usize::from(at.position)].0 == at.kind
    }

    fn is_legal(&self, state: &State) -> bool {
        !self.illegal.iter().any(|&at| Drawn::has(state, at))
    }

    fn after(&self, state: &State, of: &Transformation) -> State {
        let row = |(i, turn): (usize, &SetAction)| {
            let place = |(&from, &twist): (&u8, &u8)| {
                let (kind, turn) = state[i][usize::from(from)];
                (kind, (turn + twist) % self.sets[i].moduli[usize::from(kind)])
            };
            turn.source.iter().zip(&turn.twist).map(place).collect()
        };
        of.0.iter().enumerate().map(row).collect()
    }

    /// The state that a move takes to this one.
    fn before(&self, state: &State, of: &Transformation) -> State {
        let mut before = state.clone();
        for (i, turn) in of.0.iter().enumerate() {
            for (to, (&from, &twist)) in turn.source.iter().zip(&turn.twist).enumerate() {
                let (kind, turned) = state[i][to];
                let modulus = self.sets[i].moduli[usize::from(kind)];
                let turned = (turned + modulus * twist - twist) % modulus;
                before[i][usize::from(from)] = (kind, turned);
            }
        }
        before
    }

    /// The moves or generators as words of moves.
    fn words(&self) -> Vec<Vec<(usize, bool)>> {
        match self.generators.is_empty() {
            true => (0..self.moves.len()).map(|one| vec![(one, false)]).collect(),
            false => self.generators.clone(),
        }
    }

    fn effect(&self, word: &[(usize, bool)], state: &State) -> State {
        let step = |state: State, &(one, back): &(usize, bool)| {
            let of = &self.moves[one].transformation;
            if back { self.before(&state, of) } else { self.after(&state, of) }
        };
        word.iter().fold(state.clone(), step)
    }

    /// The repetitions of a word that bring back pieces that all differ, in all orientations.
    fn order(&self, word: &[(usize, bool)]) -> usize {
        let all = self.distinct();
        let after = |state: &State| Some(all.effect(word, state));
        let back = |state: &State| *state == all.start();
        1 + std::iter::successors(after(&all.start()), after).position(|s| back(&s)).unwrap()
    }

    /// The same with pieces that all differ, in all orientations, without conditions.
    fn distinct(&self) -> Drawn {
        let distinct = self
            .sets
            .iter()
            .map(|set| PieceSet::distinct(&set.name, set.positions() as u8, set.orientations));
        let (sets, moves) = (distinct.collect(), self.moves.clone());
        Drawn {
            sets,
            moves,
            illegal: vec![],
            blocks: vec![],
            turns: self.turns,
            generators: vec![],
            goals: vec![],
            orders: vec![],
        }
    }

    /// Whether a move splits a block, given what it makes of a state with pieces that all differ.
    fn splits(&self, start: &State, after: &State, state: &State) -> bool {
        self.blocks.iter().any(|block| {
            let is_moved = |one: &&GluedPiece| {
                let set = usize::from(one.set);
                let at = state[set].iter().position(|&(kind, _)| kind == one.kind).unwrap();
                start[set][at] != after[set][at]
            };
            let moved = block.iter().filter(is_moved).count();
            moved > 0 && moved < block.len()
        })
    }

    /// The state after each move that counts as one, `None` where it is not allowed: the same moves for all states.
    /// Moves may have the same effect, or none.
    pub fn steps(&self, state: &State) -> Vec<Option<State>> {
        let mut found = Vec::new();
        let words = self.words();
        let distinct = self.distinct();
        let start = distinct.start();
        for (word, &order) in words.iter().zip(&self.orders) {
            let needs =
                if self.generators.is_empty() { self.moves[word[0].0].requires } else { None };
            let needed = |state: &State| needs.is_none_or(|at| Drawn::has(state, at));
            let (mut next, mut after) = (state.clone(), start.clone());
            let powers = if self.turns == Turns::Powers { 1..order.max(2) } else { 1..2 };
            for _ in powers {
                next = self.effect(word, &next);
                after = distinct.effect(word, &after);
                let can = needed(state) && self.is_legal(&next);
                let can = can && !self.splits(&start, &after, state);
                found.push(can.then(|| next.clone()));
            }
            if self.turns == Turns::Quarter {
                let back: Vec<_> = word.iter().rev().map(|&(one, back)| (one, !back)).collect();
                let before = self.effect(&back, state);
                let can = needed(&before) && self.is_legal(&before);
                let can = can && !self.splits(&start, &distinct.effect(&back, &start), state);
                found.push(can.then_some(before));
            }
        }
        found
    }

    fn neighbours(&self, state: &State) -> Vec<State> {
        self.steps(state).into_iter().flatten().collect()
    }

    /// The distance of each state from the nearest goal, up to this many states, and whether these are all.
    pub fn distances(&self, most: usize) -> (HashMap<State, usize>, bool) {
        let more = |_, states| states <= most;
        let (found, sizes) = search(self.goals(), more, |state| self.neighbours(state));
        (found, sizes.ends_with(&[0]))
    }

    /// The moves from a state to a goal, `None` where there is no way.
    pub fn way_back(&self, state: &State) -> Option<usize> {
        let (goals, mut seen) = (self.goals(), HashSet::from_iter([state.clone()]));
        let mut level = vec![state.clone()];
        for depth in 0.. {
            if level.iter().any(|state| goals.contains(state)) {
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

    /// The number of classes of states at each depth under all symmetries, where `distances` are those of all states, and
    /// the number of symmetries. A symmetry is a map of the states that takes moves to moves, the set of goals to itself,
    /// and what the places show to what places show: that a place shows the same thing in some states means that some
    /// place shows the same thing in their images. `None` if there are too many ways to map the moves.
    pub fn classes(&self, distances: &HashMap<State, usize>) -> Option<(Vec<u64>, usize)> {
        let states: Vec<&State> = distances.keys().collect();
        let number: HashMap<&State, usize> = states.iter().copied().zip(0..).collect();
        let after: Vec<Vec<Option<usize>>> = states
            .iter()
            .map(|state| {
                self.steps(state).iter().map(|next| Some(number[next.as_ref()?])).collect()
            })
            .collect();
        // Each different effect once, but not those that change nothing wherever they are allowed.
        let column = |step: usize| after.iter().map(|of| of[step]).collect::<Vec<_>>();
        let effects: BTreeSet<Vec<Option<usize>>> = (0..after[0].len()).map(column).collect();
        let still =
            |of: &Vec<Option<usize>>| (0..).zip(of).all(|(s, to)| to.is_none_or(|to| to == s));
        let moves: Vec<Vec<Option<usize>>> = effects.into_iter().filter(|of| !still(of)).collect();
        // What each orientation of each position shows, as a partition of the states.
        let mut shown = BTreeSet::new();
        for (index, set) in self.sets.iter().enumerate() {
            for (position, side) in
                (0..set.positions()).flat_map(|p| (0..set.orientations).map(move |s| (p, s)))
            {
                let shows = |state: &&State| {
                    let (kind, turn) = state[index][position];
                    let modulus = set.moduli[usize::from(kind)];
                    (kind, (side % modulus + modulus - turn) % modulus)
                };
                shown.insert(partition(states.iter().map(shows)));
            }
        }
        let goals: BTreeSet<usize> = self.goals().iter().map(|goal| number[goal]).collect();
        let mut search = Symmetries { moves, shown, goals, found: Vec::new(), tried: 0 };
        search.extend(&mut Vec::new(), vec![None; states.len()])?;
        let mut classes = vec![0; 1 + *distances.values().max()?];
        for (at, state) in states.iter().enumerate() {
            let least = search.found.iter().map(|image| image[at]).min();
            classes[distances[*state]] += u64::from(least == Some(at));
        }
        Some((classes, search.found.iter().collect::<BTreeSet<_>>().len()))
    }
}

/// For each thing, the index of the first equal one.
fn partition<T: Eq + std::hash::Hash>(all: impl Iterator<Item = T>) -> Vec<usize> {
    let mut first = HashMap::default();
    all.enumerate().map(|(at, one)| *first.entry(one).or_insert(at)).collect()
}

struct Symmetries {
    moves: Vec<Vec<Option<usize>>>,
    shown: BTreeSet<Vec<usize>>,
    goals: BTreeSet<usize>,
    found: Vec<Vec<usize>>,
    tried: usize,
}

impl Symmetries {
    /// Collects the symmetries for which the first moves have these images, and these goals, of which each part of the
    /// states needs one.
    fn extend(&mut self, of: &mut Vec<usize>, mut image: Vec<Option<usize>>) -> Option<()> {
        self.tried += 1;
        if self.tried > 3000 {
            return None;
        }
        // What follows from the images of states that are known.
        let mut open: Vec<usize> = (0..image.len()).filter(|&s| image[s].is_some()).collect();
        while let Some(state) = open.pop() {
            for (one, &to) in self.moves.iter().zip(&*of) {
                match (one[state], self.moves[to][image[state]?]) {
                    (None, None) => {}
                    (Some(next), Some(there)) => match image[next] {
                        None => {
                            image[next] = Some(there);
                            open.push(next);
                        }
                        Some(known) if known != there => return Some(()),
                        Some(_) => {}
                    },
                    _ => return Some(()),
                }
            }
        }
        let goals: Vec<usize> = self.goals.iter().copied().collect();
        let is_first = image.iter().all(Option::is_none);
        let open = goals.iter().find(|&&goal| image[goal].is_none());
        if let Some(&goal) = open.filter(|_| is_first || of.len() == self.moves.len()) {
            for to in goals {
                let mut image = image.clone();
                image[goal] = Some(to);
                self.extend(of, image)?;
            }
            return Some(());
        }
        if of.len() < self.moves.len() {
            for to in (0..self.moves.len()).filter(|to| !of.contains(to)).collect::<Vec<_>>() {
                of.push(to);
                self.extend(of, image.clone())?;
                of.pop();
            }
            return Some(());
        }
        let image: Vec<usize> = image.into_iter().collect::<Option<_>>()?;
        let mut back = vec![0; image.len()];
        image.iter().enumerate().for_each(|(from, &to)| back[to] = from);
        if image.iter().collect::<BTreeSet<_>>().len() < image.len() {
            return Some(());
        }
        let there = |shown: &Vec<usize>| partition(back.iter().map(|&from| shown[from]));
        let is_kept = self.shown.iter().all(|shown| self.shown.contains(&there(shown)))
            && self.goals.iter().all(|&goal| self.goals.contains(&image[goal]));
        if is_kept {
            self.found.push(image);
        }
        Some(())
    }
}

/// A state as the program writes it.
pub fn arrangement(state: &State) -> Arrangement {
    let row = |row: &Vec<(u8, u8)>| row.iter().map(|&(kind, turn)| Placed { kind, turn }).collect();
    Arrangement(state.iter().map(row).collect())
}
