//! The exact number of states of a puzzle with several sets.
//!
//! Positions of a set that exchange places form a **component**: n positions, each with o reachable orientations.
//! Everything that could be done to a component by taking it apart is the wreath product W of the cyclic group of order
//! o and the symmetric group on n points. The moves generate a subgroup G of the product of these. The largest abelian
//! image A of the product consists of the parity and the sum of twists of each component, so G contains at most those
//! elements whose images in A are images of elements of G.
//!
//! Nearly always, G contains exactly these. Elements of G found by random products show that it is no
//! smaller, and this proves the number of states: all arrangements of the parts whose parities and twists are possible,
//! where pieces that look alike are taken into account. If G is smaller, its order is proven by Schreier-Sims itself,
//! as long as this takes little work. The same is then done for the components with pieces that look alike, and for
//! what the moves can do to them while all other components stay fixed. Otherwise, states are counted one by one, as
//! long as there are few.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use num_bigint::BigUint;

use crate::{
    puzzle::{
        Arrangement, GluedPiece, Move, PieceAt, PieceSet, Puzzle, Transformation,
        group::{Bsgs, Points, all_orbits},
        is_even,
        permutation::gcd,
    },
    random::SplitMix64,
};

/// Maximum number of points of a group whose order is determined.
const MAX_POINTS: usize = 1000;
/// Maximum number of states that are counted one by one.
const MAX_COUNTED: usize = 100_000;
/// Maximum number of positions of all these states together.
const MAX_BYTES: usize = 10_000_000;
/// Maximum work of proving an order, in images of single points.
const MAX_WORK: u64 = 4_000_000_000;

/// Maximum number of shapes of a puzzle in which some places are forbidden, or some pieces glued together.
const MAX_SHAPES: usize = 100_000;

/// What moves do that depend on the **shape** of a state: on where one piece is, such as the blank of a board, or on where
/// all pieces are that may not be everywhere, as in Square-1, or that are glued together.
pub(crate) struct Loops {
    /// Moves, or sequences of moves that lead back to the shape of the solved puzzle: what they generate is possible
    /// there.
    pub moves: Vec<MoveWord>,
    shape: StateShape,
    /// Sequences of moves from the shape of the solved puzzle to each one that can be reached.
    ways: BTreeMap<Vec<u8>, MoveWord>,
}

/// A sequence of moves and what it does.
#[derive(Clone)]
pub(crate) struct MoveWord {
    pub effect: Transformation,
    /// The numbers of the moves; less than 0 for those that are undone: -1 is the first one.
    pub moves: Vec<i32>,
}

impl MoveWord {
    fn then(&self, next: &MoveWord, sets: &[PieceSet]) -> MoveWord {
        let moves = [&self.moves[..], &next.moves].concat();
        MoveWord { effect: self.effect.then(&next.effect, sets), moves }
    }

    fn inverse(&self, sets: &[PieceSet]) -> MoveWord {
        let moves = self.moves.iter().rev().map(|one| !one).collect();
        MoveWord { effect: self.effect.inverse(sets), moves }
    }
}

/// What the moves that are possible depend on.
enum StateShape {
    Nothing,
    /// The position of a piece: its kind, and the set.
    Position(PieceAt),
    /// What is at each position of some sets: for each of these, the class of each kind of piece. And where the blocks are,
    /// whichever is where.
    Classes(Vec<(usize, Vec<u8>)>, Vec<Vec<GluedPiece>>),
}

impl StateShape {
    /// The shape of a state; `None` if it has none.
    fn of(&self, state: &Arrangement) -> Option<Vec<u8>> {
        match self {
            StateShape::Nothing => Some(Vec::new()),
            StateShape::Position(PieceAt { set, kind, .. }) => {
                let row = &state.0[usize::from(*set)];
                let at = row.iter().position(|piece| piece.kind == *kind)?;
                Some(vec![at as u8])
            }
            StateShape::Classes(sets, blocks) => {
                let of_set = |(set, class): &(usize, Vec<u8>)| {
                    let row = state.0[*set].iter();
                    row.map(|piece| class[usize::from(piece.kind)]).collect::<Vec<u8>>()
                };
                // The positions of each block, in order, and the blocks in the order of these.
                let place = |one: &GluedPiece| {
                    let mut row = state.0[usize::from(one.set)].iter();
                    let at = row.position(|piece| piece.kind == one.kind);
                    (one.set, at.map_or(u8::MAX, |at| at as u8))
                };
                let places = |block: &Vec<GluedPiece>| block.iter().map(place).collect();
                let places: BTreeSet<BTreeSet<(u8, u8)>> = blocks.iter().map(places).collect();
                let of_block = |block: &BTreeSet<(u8, u8)>| {
                    let all = block.iter().flat_map(|&(set, at)| [set, at]);
                    [block.len() as u8].into_iter().chain(all).collect::<Vec<u8>>()
                };
                Some(sets.iter().flat_map(of_set).chain(places.iter().flat_map(of_block)).collect())
            }
        }
    }

    /// The name of a set on which it depends.
    fn set<'a>(&self, puzzle: &'a Puzzle) -> &'a str {
        let set = match self {
            StateShape::Nothing => 0,
            StateShape::Position(at) => at.set.into(),
            StateShape::Classes(sets, blocks) => {
                sets.first().map_or_else(|| blocks[0][0].set.into(), |(set, _)| *set)
            }
        };
        &puzzle.sets()[set].name
    }
}

impl Loops {
    /// The moves, as if each were always allowed.
    pub(super) fn unconditional(puzzle: &Puzzle) -> Loops {
        let moves = (0..).zip(puzzle.moves()).map(|(number, one)| one_move(number, one)).collect();
        Loops { moves, shape: StateShape::Nothing, ways: BTreeMap::new() }
    }

    /// The number of shapes that can be reached.
    fn shapes(&self) -> usize {
        self.ways.len().max(1)
    }

    /// An arrangement after moves that lead to the shape of the solved puzzle; an error names a set if there are none.
    pub(super) fn home(&self, puzzle: &Puzzle, from: &Arrangement) -> Result<Arrangement, String> {
        if self.ways.is_empty() {
            return Ok(from.clone());
        }
        let way = self.way_home(puzzle, from);
        let way = way.ok_or_else(|| self.shape.set(puzzle).to_string())?;
        Ok(puzzle.after(from, &way.effect))
    }

    /// The sequence of moves that leads from an arrangement to the shape of the solved puzzle; `None` if there is none.
    pub fn way_home(&self, puzzle: &Puzzle, from: &Arrangement) -> Option<MoveWord> {
        match self.ways.is_empty() {
            true => Some(no_move(puzzle)),
            false => Some(self.ways.get(&self.shape.of(from)?)?.inverse(puzzle.sets())),
        }
    }

    /// An arrangement with the shape of the solved puzzle after moves that lead to a random shape.
    pub(super) fn away(
        &self,
        puzzle: &Puzzle,
        home: Arrangement,
        random: &mut SplitMix64,
    ) -> Arrangement {
        let number = random.below(self.shapes() as u64);
        let way = self.ways.values().nth(number as usize);
        way.map_or_else(|| home.clone(), |way| puzzle.after(&home, &way.effect))
    }
}

fn one_move(number: i32, one: &Move) -> MoveWord {
    MoveWord { effect: one.transformation.clone(), moves: vec![number] }
}

fn no_move(puzzle: &Puzzle) -> MoveWord {
    MoveWord { effect: Transformation::identity(puzzle.sets()), moves: Vec::new() }
}

impl Puzzle {
    /// Returns the number of reachable states, or `None` if it is unknown.
    ///
    /// Cost: less than a second for cubes up to nine layers.
    pub fn states(&self) -> Option<BigUint> {
        let free = |loops: Loops| {
            let moves: Vec<_> = loops.moves.iter().map(|word| &word.effect).collect();
            Some(self.free_states(&moves)? * loops.shapes())
        };
        self.loops().and_then(free).or_else(|| self.counted())
    }

    /// What the moves do within a shape. `None` if moves depend on several pieces or on one of several equal ones, or
    /// cannot be undone although they depend on a piece or a shape, or if there are too many shapes.
    ///
    /// By Schreier's lemma, the sequences that go to a shape along a tree, make one move, and return along the tree
    /// generate all others.
    pub(crate) fn loops(&self) -> Option<Loops> {
        let first = self.moves().iter().find_map(|one| one.requires);
        let shape = match first {
            None if self.allows_all_moves() => return Some(Loops::unconditional(self)),
            None => StateShape::Classes(self.classes(), self.blocks().to_vec()),
            Some(first) => {
                let set = &self.sets()[usize::from(first.set)];
                let same = |one: &Move| {
                    one.requires.is_some_and(|at| (at.set, at.kind) == (first.set, first.kind))
                };
                let alone = set.pieces_of(first.kind) == 1 && set.orientations == 1;
                if !alone || !self.illegal().is_empty() || !self.moves().iter().all(same) {
                    return None;
                }
                StateShape::Position(first)
            }
        };
        if self.is_directed() {
            return None;
        }
        let solved = self.solved();
        let own = shape.of(&solved)?;
        let mut ways = BTreeMap::from([(own.clone(), no_move(self))]);
        // Each shape with a state that has it, and the moves between shapes.
        let (mut open, mut steps) = (VecDeque::from([(own, solved)]), Vec::new());
        while let Some((from, state)) = open.pop_front() {
            for (index, one) in self.moves().iter().enumerate() {
                let Some(after) = self.moved(&state, index) else { continue };
                let to = shape.of(&after)?;
                if !ways.contains_key(&to) {
                    let step = one_move(index as i32, one);
                    ways.insert(to.clone(), ways[&from].then(&step, self.sets()));
                    open.push_back((to.clone(), after));
                }
                steps.push((from.clone(), index, to));
            }
            if ways.len() > MAX_SHAPES {
                return None;
            }
        }
        steps.sort_by_key(|&(_, index, _)| index);
        let (mut moves, mut known) = (Vec::new(), HashSet::new());
        for (from, index, to) in steps {
            let step = one_move(index as i32, &self.moves()[index]);
            let way = ways[&from].then(&step, self.sets());
            let round = way.then(&ways[&to].inverse(self.sets()), self.sets());
            if !round.effect.is_identity() && known.insert(round.effect.clone()) {
                moves.push(round);
            }
        }
        Some(Loops { moves, shape, ways })
    }

    /// For each set in which some places are forbidden, the class of each kind: kinds of a class may be at the same places.
    fn classes(&self) -> Vec<(usize, Vec<u8>)> {
        let of_set = |(index, set): (usize, &PieceSet)| {
            let own = self.illegal().iter().filter(|at| usize::from(at.set) == index);
            let own: Vec<&PieceAt> = own.collect();
            let mut classes: Vec<BTreeSet<u8>> = Vec::new();
            let of_kind = (0..set.moduli.len()).map(|kind| {
                let of = own.iter().filter(|at| usize::from(at.kind) == kind);
                let places: BTreeSet<u8> = of.map(|at| at.position).collect();
                let known = classes.iter().position(|class| *class == places);
                known.unwrap_or_else(|| {
                    classes.push(places);
                    classes.len() - 1
                }) as u8
            });
            let of_kind = of_kind.collect();
            (!own.is_empty()).then_some((index, of_kind))
        };
        self.sets().iter().enumerate().filter_map(of_set).collect()
    }

    /// The number of states that these moves produce if every one is always allowed.
    fn free_states(&self, moves: &[&Transformation]) -> Option<BigUint> {
        let mut components = components(self, moves);
        components.retain(Component::is_visible);
        // Components whose pieces all differ come first.
        components.sort_by_key(|component| !component.unseen().is_empty());
        let mut group = MoveGroup::new(&components, moves.len())?;
        if group.is_whole {
            return Some(Parts::new(&components, 0).states(&group.generators));
        }
        if !group.prove() {
            return None;
        }
        let count = components.partition_point(|component| component.unseen().is_empty());
        let points = components[..count].iter().map(Component::points).sum();
        let positions = components[..count].iter().map(|component| component.positions).sum();
        // What is possible while the different pieces stay fixed: everything, or else it is unknown how much of it is
        // visible.
        let whole = group.known.order(0);
        let Some(fixing) = group.known.fixing(positions) else {
            return Some(whole);
        };
        let alike = Parts::new(&components[count..], points);
        let order = group.known.order(positions);
        (order == alike.most(fixing)).then(|| whole / order * alike.states(fixing))
    }

    /// The number of states, counted one by one.
    fn counted(&self) -> Option<BigUint> {
        let positions: usize = self.sets().iter().map(|set| set.positions()).sum();
        let most = MAX_COUNTED.min(MAX_BYTES / positions);
        let mut open = vec![self.solved()];
        let mut seen: HashSet<_> = open.iter().cloned().collect();
        while let Some(state) = open.pop() {
            let after = (0..self.moves().len()).filter_map(|one| self.moved(&state, one));
            open.extend(after.filter(|state| seen.insert(state.clone())));
            if seen.len() > most {
                return None;
            }
        }
        Some(seen.len().into())
    }
}

/// Positions that exchange pieces, numbered from 0, and their reachable orientations.
pub(super) struct Component {
    /// The set, and the positions in it.
    pub(super) set: usize,
    pub(super) places: Vec<usize>,
    /// For each position, the first orientation that the piece of position 0 can have there, then the step between the
    /// orientations that it can have there, and the number of distinguishable orientations.
    pub(super) zero: Vec<u64>,
    pub(super) step: u64,
    pub(super) seen: u64,
    pub(super) positions: usize,
    pub(super) orientations: u64,
    /// For each kind of pieces that look alike, the number of pieces, and the number of distinguishable orientations.
    kinds: Vec<(usize, u64)>,
    /// For each move and each position, where its piece goes, and by how much it turns.
    moves: Vec<Vec<(usize, u64)>>,
}

/// The components of a puzzle under some moves.
pub(super) fn components(puzzle: &Puzzle, moves: &[&Transformation]) -> Vec<Component> {
    let of_set = |(index, set): (usize, &PieceSet)| {
        let sources: Vec<&[u8]> = moves.iter().map(|of| &of.0[index].source[..]).collect();
        let places = all_orbits(set.positions(), &sources).into_iter();
        places.map(|places| component(index, set, moves, places)).collect::<Vec<_>>()
    };
    puzzle.sets().iter().enumerate().flat_map(of_set).collect()
}

fn component(
    index: usize,
    set: &PieceSet,
    moves: &[&Transformation],
    places: Vec<usize>,
) -> Component {
    let positions = places.len();
    let modulus = |position: usize| u64::from(set.moduli[usize::from(set.solved[position].kind)]);
    let seen = places.iter().fold(1, |lcm, &p| lcm / gcd(lcm, modulus(p)) * modulus(p));
    let place = |position: usize| places.binary_search(&position).expect("a component");
    // Where each move takes each position, and by how much it turns the piece.
    let turned = |of: &&Transformation| {
        let turn = &of.0[index];
        let mut to = vec![(0, 0); positions];
        for (i, &position) in places.iter().enumerate() {
            let twist = u64::from(turn.twist[position]) % seen;
            to[place(usize::from(turn.source[position]))] = (i, twist);
        }
        to
    };
    let mut moves: Vec<Vec<(usize, u64)>> = moves.iter().map(turned).collect();
    // Where the first orientation of the first position can arrive.
    let mut reached = vec![vec![false; seen as usize]; positions];
    let mut open = vec![(0, 0)];
    while let Some((at, turn)) = open.pop() {
        if !std::mem::replace(&mut reached[at][turn as usize], true) {
            open.extend(moves.iter().map(|to| (to[at].0, (turn + to[at].1) % seen)));
        }
    }
    let mut own = (1..seen).filter(|&turn| reached[0][turn as usize]);
    let step = own.next().unwrap_or(seen);
    let zero: Vec<u64> = (reached.iter())
        .map(|turns| turns.iter().position(|&reached| reached).expect("all are reached") as u64)
        .collect();
    for to in &mut moves {
        for (from, (at, twist)) in to.iter_mut().enumerate() {
            *twist = (zero[from] + *twist + seen - zero[*at]) % seen / step;
        }
    }
    let mut kinds: BTreeMap<(u8, u64), (usize, u64)> = BTreeMap::new();
    for (i, &position) in places.iter().enumerate() {
        let (piece, modulus) = (set.solved[position], modulus(position));
        let common = gcd(step, modulus);
        // By how much it is turned in a way that no move changes.
        let turn = (u64::from(piece.turn) + seen - zero[i]) % common;
        kinds.entry((piece.kind, turn)).or_insert((0, modulus / common)).0 += 1;
    }
    let kinds = kinds.into_values().collect();
    let orientations = seen / step;
    Component { set: index, places, zero, step, seen, positions, orientations, kinds, moves }
}

impl Component {
    fn is_visible(&self) -> bool {
        self.kinds.len() > 1 || self.kinds[0].1 > 1
    }

    pub(super) fn points(&self) -> usize {
        self.positions * self.orientations as usize
    }

    /// The position to which an element takes the piece of a position, and by how much the piece turns.
    pub(super) fn moved(&self, from: usize, first: usize, element: &[u16]) -> (usize, u64) {
        let turns = self.orientations as usize;
        let point = usize::from(element[first + from * turns]) - first;
        let (to, twist) = (point / turns, (point % turns) as u64 * self.step);
        (to, (twist + self.zero[to] + self.seen - self.zero[from]) % self.seen)
    }

    pub(super) fn parities(&self) -> u64 {
        if self.positions > 1 { 2 } else { 1 }
    }

    /// The number of ways to reassemble the component.
    fn whole(&self) -> BigUint {
        factorial(self.positions) * BigUint::from(self.orientations).pow(self.positions as u32)
    }

    /// The number of these ways that look different.
    fn arrangements(&self) -> BigUint {
        let kinds = self.kinds.iter();
        kinds.fold(factorial(self.positions), |all, &(count, modulus)| {
            all / factorial(count) * BigUint::from(modulus).pow(count as u32)
        })
    }

    /// Parity and twist of a permutation of all points, of which this component's points start at `first`.
    fn image(&self, first: usize, of: &[u16]) -> [u64; 2] {
        let turns = self.orientations as usize;
        let to = |position: usize| usize::from(of[first + position * turns]) - first;
        let to = (0..self.positions).map(|p| (to(p) / turns, (to(p) % turns) as u64));
        self.parity_and_twist(&to.collect::<Vec<_>>())
    }

    /// Parity and twist, given where the piece of each position goes and by how much it turns.
    pub(super) fn parity_and_twist(&self, to: &[(usize, u64)]) -> [u64; 2] {
        let places: Vec<usize> = to.iter().map(|&(at, _)| at).collect();
        let twists = to.iter().map(|&(_, twist)| twist).sum::<u64>();
        [u64::from(!is_even(&places)) % self.parities(), twists % self.orientations]
    }

    /// Parities and twists of invisible changes to the parts.
    pub(super) fn unseen(&self) -> Vec<[u64; 2]> {
        let swaps = self.kinds.iter().filter(|&&(count, _)| count > 1).map(|_| [1, 0]);
        let turned = self.kinds.iter().filter(|&&(_, modulus)| modulus < self.orientations);
        swaps.chain(turned.map(|&(_, modulus)| [0, modulus])).collect()
    }
}

/// Everything that could be done to several components by taking them apart.
pub(super) struct Parts<'a> {
    components: &'a [Component],
    /// The first point of each component.
    first: Vec<usize>,
    /// The numbers of parities and of sums of twists of each component.
    pub(super) factors: Vec<u64>,
}

impl Parts<'_> {
    pub(super) fn new(components: &[Component], mut point: usize) -> Parts<'_> {
        let factors = components.iter().flat_map(|c| [c.parities(), c.orientations]).collect();
        let mut first = Vec::new();
        for component in components {
            first.push(point);
            point += component.points();
        }
        Parts { components, first, factors }
    }

    /// Parities and twists of permutations.
    fn images(&self, elements: &[Points]) -> Vec<Vec<u64>> {
        let all = || self.components.iter().zip(&self.first);
        let image = |of: &Points| all().flat_map(|(c, &first)| c.image(first, of)).collect();
        elements.iter().map(image).collect()
    }

    /// The number of elements whose image is an image of the group that the elements generate, where a function gives
    /// the count for each component.
    fn counted(&self, images: &[Vec<u64>], count: fn(&Component) -> BigUint) -> BigUint {
        let all: BigUint = self.components.iter().map(count).product();
        let factors: BigUint = self.factors.iter().map(|&factor| BigUint::from(factor)).product();
        all * subgroup(&self.factors, images) / factors
    }

    /// The maximum order of a group with these generators.
    fn most(&self, generators: &[Points]) -> BigUint {
        self.counted(&self.images(generators), Component::whole)
    }

    /// The number of states if the group has that order.
    fn states(&self, generators: &[Points]) -> BigUint {
        self.counted(&self.seen_images(generators), Component::arrangements)
    }

    /// Parities and twists of permutations and of invisible changes.
    pub(super) fn seen_images(&self, generators: &[Points]) -> Vec<Vec<u64>> {
        let mut images = self.images(generators);
        // Rearrangements of the parts that are invisible.
        for (i, component) in self.components.iter().enumerate() {
            for unseen in component.unseen() {
                let mut image = vec![0; self.factors.len()];
                image[2 * i..2 * i + 2].copy_from_slice(&unseen);
                images.push(image);
            }
        }
        images
    }
}

fn factorial(n: usize) -> BigUint {
    (1..=n).map(BigUint::from).product()
}

/// Returns the order of the subgroup that elements of a product of cyclic groups generate.
pub(super) fn subgroup(orders: &[u64], elements: &[Vec<u64>]) -> BigUint {
    let mut rows: Vec<Vec<u64>> = elements.to_vec();
    let mut order = BigUint::from(1u8);
    for column in 0..orders.len() {
        // The column of the lattice that the rows span: Euclid on two rows at a time.
        let mut pivot = vec![0; orders.len()];
        pivot[column] = orders[column];
        for row in &mut rows {
            while row[column] != 0 {
                let times = pivot[column] / row[column];
                pivot[column] -= times * row[column];
                for (other, &order) in orders.iter().enumerate().skip(column + 1) {
                    pivot[other] = (pivot[other] + (order - times % order) * row[other]) % order;
                }
                std::mem::swap(&mut pivot, row);
            }
        }
        order *= orders[column] / pivot[column];
        rows.retain(|row| row.iter().any(|&value| value != 0));
    }
    order
}

/// The permutation that takes each position of each component to a position, with a twist.
pub(super) fn element(components: &[Component], to: &[&[(usize, u64)]]) -> Points {
    let mut points: Vec<u16> = Vec::new();
    for (component, to) in components.iter().zip(to) {
        let (first, turns) = (points.len(), component.orientations as usize);
        let turned = |&(at, twist): &(usize, u64)| {
            let after = move |turn| first + at * turns + (turn + twist as usize) % turns;
            (0..turns).map(move |turn| after(turn) as u16)
        };
        points.extend(to.iter().flat_map(turned));
    }
    points.into()
}

/// The group of the moves of some components, as far as it is known.
pub(super) struct MoveGroup {
    /// Its base points are the first points of all positions: only the identity fixes these.
    pub(super) known: Bsgs,
    pub(super) generators: Vec<Points>,
    /// Whether the group is as large as parities and twists allow.
    pub(super) is_whole: bool,
}

impl MoveGroup {
    /// Returns the full group for a number of moves; `None` if that takes too much work.
    pub(super) fn complete(components: &[Component], moves: usize) -> Option<MoveGroup> {
        let mut group = MoveGroup::new(components, moves)?;
        (group.is_whole || group.prove()).then_some(group)
    }

    /// Returns what random products of the moves show; `None` if there are too many points.
    pub(super) fn new(components: &[Component], moves: usize) -> Option<MoveGroup> {
        let whole = Parts::new(components, 0);
        let points: usize = components.iter().map(Component::points).sum();
        if points > MAX_POINTS {
            return None;
        }
        let of_move = |index: usize| {
            let to: Vec<&[(usize, u64)]> =
                components.iter().map(|component| &component.moves[index][..]).collect();
            element(components, &to)
        };
        let generators: Vec<Points> = (0..moves).map(of_move).collect();
        let base = components.iter().zip(&whole.first).flat_map(|(component, &first)| {
            (0..component.positions).map(move |p| first + p * component.orientations as usize)
        });
        let most = whole.most(&generators);
        let known = Bsgs::new(points, base, &generators, &most);
        let is_whole = known.order(0) == most;
        Some(MoveGroup { known, generators, is_whole })
    }

    /// Returns whether all of the group is known, after as much work as is allowed.
    pub(super) fn prove(&mut self) -> bool {
        self.known.prove(MAX_WORK)
    }
}
