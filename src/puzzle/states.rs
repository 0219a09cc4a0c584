//! Arrangements as (line, cell) pairs, and the moves of a puzzle in the general form.
//!
//! Invariant: the start's line is 0, 1, 2, .., whatever the start and the reading; `decode` undoes `encode`.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::puzzle::group::orbits;
use crate::puzzle::{Definition, Generator, Permutation, Puzzle, Window};
use crate::random::SplitMix64;

/// The frame of reference that a start defines: one of its elements is distinguished, the others are numbered
/// in the order in which the start is read.
///
/// ```
/// use tilewave::puzzle::{States, families};
/// let puzzle = families::parse("pancake:4")?;
/// let states = States::new(puzzle);
/// let puzzle = states.definition();
/// let flipped = puzzle.after(&puzzle.solved(), 1); // the upper three
/// assert_eq!(puzzle.show(&flipped), "3 2 1 4");
/// let (line, cell) = states.encode(&flipped);
/// assert_eq!(states.decode(&line, cell), flipped);
/// assert_eq!(states.encode(states.start()).0, [0, 1, 2]);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct States {
    definition: Definition,
    reading: Reading,
    /// The cell of the start's distinguished element.
    home: usize,
    start: Permutation,
    /// The position at which the start has each element.
    origin: Permutation,
}

impl States {
    /// Returns the states of a puzzle, the solved one the start. Cost: a tenth of a second at most, to choose how
    /// they are read.
    pub fn new(definition: Definition) -> States {
        let generators = permutations(&definition);
        let reading = choose_reading(definition.positions(), &generators);
        States::read_by(definition, reading)
    }

    /// Returns the states of a puzzle that are read in a given way.
    ///
    /// # Panics
    /// When the reading is one of another number of positions.
    pub fn read_by(definition: Definition, reading: Reading) -> States {
        let cells = definition.positions();
        assert_eq!(reading.path().len(), cells, "a reading of this puzzle");
        let start = definition.solved();
        // In a puzzle of several orbits, the largest has the most cells to a line.
        let orbits = orbits(cells, &permutations(&definition));
        let largest = orbits.iter().rev().max_by_key(|orbit| orbit.len());
        let within = |position: &usize| largest.is_none_or(|orbit| orbit.contains(position));
        let home = reading.path().iter().rposition(within);
        States {
            definition,
            home: home.expect("orbits are positions"),
            reading,
            origin: start.inverse(),
            start,
        }
    }

    /// Returns the same states seen from another start.
    ///
    /// # Panics
    /// When the arrangement is one of another puzzle.
    pub fn from_start(self, start: Permutation) -> States {
        assert_eq!(start.len(), self.start.len(), "an arrangement of this puzzle");
        States { origin: start.inverse(), start, ..self }
    }

    /// Returns the puzzle.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Returns the start.
    pub fn start(&self) -> &Permutation {
        &self.start
    }

    /// Returns how arrangements are read.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Returns the cell of the start's distinguished element.
    pub fn home(&self) -> usize {
        self.home
    }

    /// Returns the line and the cell of an arrangement, whether or not it can be reached.
    ///
    /// # Panics
    /// When the arrangement is one of another puzzle.
    pub fn encode(&self, arrangement: &Permutation) -> (Vec<u8>, usize) {
        assert_eq!(arrangement.len(), self.start.len(), "an arrangement of this puzzle");
        // Where the start has what stands at a position.
        let origin = |position: usize| self.origin.image(arrangement.image(position));
        let path = self.reading.path();
        let cell = path.iter().position(|&p| origin(p) == path[self.home]);
        let cell = cell.expect("every element stands somewhere");
        let home = self.reading.order(self.home);
        let rank = |&position: &usize| {
            let rank = home.iter().position(|&p| p == origin(position));
            rank.expect("every element has a number") as u8
        };
        (self.reading.order(cell).iter().map(rank).collect(), cell)
    }

    /// Returns the arrangement of a line and a cell.
    ///
    /// # Panics
    /// When the line is not a permutation of `0..positions - 1` or there is no such cell.
    pub fn decode(&self, line: &[u8], cell: usize) -> Permutation {
        let (path, home) = (self.reading.path(), self.reading.order(self.home));
        let mut elements = vec![self.start.image(path[self.home]); path.len()];
        for (&rank, &position) in line.iter().zip(self.reading.order(cell)) {
            elements[position] = self.start.image(home[usize::from(rank)]);
        }
        Permutation::new(&elements).expect("every element once")
    }

    /// Returns the moves in the general form, cells numbered along the path of the reading.
    pub fn puzzle(&self) -> Puzzle {
        let generators = permutations(&self.definition);
        self.reading.puzzle(&generators, self.definition.is_directed())
    }
}

fn permutations(definition: &Definition) -> Vec<Permutation> {
    let generators = definition.generators().iter();
    generators.map(|g| g.permutation.clone()).collect()
}

impl Definition {
    /// Returns the moves in the general form, positions read as [`States::new`] chooses.
    pub fn puzzle(&self) -> Puzzle {
        States::new(self.clone()).puzzle()
    }
}

// How an arrangement is read as a line, for each cell of the distinguished element.
//
// Invariant: cells are the positions in the order of a path. Each cell has an order of the other positions; with
// that of the path, they follow it, the cell left out.
//
// A cell may also be read as if the whole puzzle had been turned by a symmetry that takes another cell there. Then both
// have the same windows, and there are fewer in all, but longer ones.

/// Places at the end of the line whose arrangements are the lanes of one register.
const LANE_PLACES: usize = 5;

/// Places at the end of the line whose arrangements are neighbours in memory.
const NEAR_PLACES: usize = 8;

/// The orders in which positions are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The position of each cell.
    path: Vec<usize>,
    /// For each cell the other positions, in the order of the line.
    orders: Vec<Vec<usize>>,
}

impl Reading {
    /// Returns the reading along a path, of which a group of symmetries turns cells to the first one that they
    /// join them with. Only the identity of the group may fix a position; with nothing else in it, or with nothing
    /// at all, every cell is read along the path.
    ///
    /// # Panics
    /// When the path does not have every position once.
    pub fn new(path: &[usize], symmetries: &[Permutation]) -> Reading {
        let mut orders = vec![Vec::new(); path.len()];
        let index = Permutation::new(path).expect("every position once").inverse();
        for cell in 0..path.len() {
            if !orders[cell].is_empty() {
                continue;
            }
            let order: Vec<usize> = path.iter().copied().filter(|&p| p != path[cell]).collect();
            for symmetry in symmetries {
                let turned = order.iter().map(|&position| symmetry.image(position));
                orders[index.image(symmetry.image(path[cell]))] = turned.collect();
            }
            orders[cell] = order;
        }
        Reading { path: path.to_vec(), orders }
    }

    /// Returns the reading with the given orders, or `None` when the path does not have every position once, or an
    /// order not every position but that of its cell.
    pub fn from_orders(path: Vec<usize>, orders: Vec<Vec<usize>>) -> Option<Reading> {
        let full = |order: &[usize]| order.len() == path.len() && Permutation::new(order).is_ok();
        let others = |(cell, order): (&usize, &Vec<usize>)| full(&[&[*cell], &order[..]].concat());
        let whole =
            full(&path) && orders.len() == path.len() && path.iter().zip(&orders).all(others);
        whole.then_some(Reading { path, orders })
    }

    /// Returns the positions in the order of the cells.
    pub fn path(&self) -> &[usize] {
        &self.path
    }

    /// Returns the positions other than that of a cell, in the order of the line.
    pub fn order(&self, cell: usize) -> &[usize] {
        &self.orders[cell]
    }

    /// Calls a function with cell, next cell and, for each place of the line, the place that its element comes
    /// from, for all moves.
    fn each_move(&self, generators: &[Permutation], mut call: impl FnMut(usize, usize, &[u8])) {
        let cells = self.path.len();
        let mut index = vec![0; cells];
        for (cell, &position) in self.path.iter().enumerate() {
            index[position] = cell;
        }
        let mut place = vec![vec![0; cells]; cells];
        for (place, order) in place.iter_mut().zip(&self.orders) {
            for (i, &position) in order.iter().enumerate() {
                place[position] = i as u8;
            }
        }
        let mut pulled = vec![0; cells - 1];
        for generator in generators {
            let source = generator.inverse();
            for from in 0..cells {
                let to = index[generator.image(self.path[from])];
                for (pulled, &position) in pulled.iter_mut().zip(&self.orders[to]) {
                    *pulled = place[from][source.image(position)];
                }
                call(from, to, &pulled);
            }
        }
    }

    /// Returns moves in the general form.
    pub fn puzzle(&self, generators: &[Permutation], directed: bool) -> Puzzle {
        let mut moves = Vec::new();
        self.each_move(generators, |from, to, pulled| {
            moves.push((from, to, Window::new(0, pulled)));
        });
        moves.sort();
        match directed {
            true => Puzzle::directed(self.path.len(), moves),
            false => Puzzle::new(self.path.len(), moves),
        }
    }

    /// Returns what the windows that differ cost together, in about the time that it takes to move a register.
    pub fn cost(&self, generators: &[Permutation]) -> usize {
        self.cost_between(generators, self.path.len())
    }

    /// Returns the same where a byte holds so many cells: a window costs once for every pair of bytes that it leads
    /// from and to.
    pub fn cost_between(&self, generators: &[Permutation], cells: usize) -> usize {
        let mut windows: Vec<(u64, usize, usize)> =
            Vec::with_capacity(generators.len() * self.path.len());
        self.each_move(generators, |from, to, pulled| {
            let join = |window, &p: &u8| window << 4 | u64::from(p);
            windows.push((pulled.iter().fold(0, join), from / cells, to / cells));
        });
        windows.sort_unstable();
        windows.dedup();
        let len = self.path.len() - 1;
        let costs = windows.iter().map(|&(window, ..)| window_cost(window, len));
        costs.sum()
    }
}

/// The cost of the window of a line, four bits per place, the last place lowest.
fn window_cost(window: u64, len: usize) -> usize {
    let source = |place: usize| (window >> (4 * (len - 1 - place)) & 15) as usize;
    let Some(first) = (0..len).find(|&place| source(place) != place) else {
        return 0;
    };
    let near = len.saturating_sub(NEAR_PLACES);
    match (0..near).filter(|&place| source(place) >= near).count() {
        0 if first + LANE_PLACES >= len => 1,
        0 => 2,
        // Tables for each place that the element may come from; with several, a pass for each of them. An element
        // that enters the lanes from just before them makes every register come from six others.
        crossing => {
            let lanes = len.saturating_sub(LANE_PLACES);
            let spread = (lanes..len).any(|place| source(place) + 1 == lanes);
            10 * crossing + usize::from(spread)
        }
    }
}

// The reading of a puzzle, chosen so that moves are cheap.
//
// Invariant: the same moves give the same reading, on every machine and in every version that costs windows alike.
//
// A move permutes the line by a window that depends on the cell and on the reading. Windows in the last five places
// of the line stay inside a register, those in the last eight or in front of them move whole registers; for others it
// counts how many elements cross between the two (docs/puzzles.md).
//
// A generator that is one cycle of all positions can be made to leave the line in place: the line is then read from the
// distinguished element on, round the cycle. The two rotations of LRX move the cell alone, and the swap, which by any
// path is one short window, becomes one for each cell: LRX of 13 elements takes 38 s of processor time instead of 80 s.
//
// Readings by the twelve rotations of the dino cube were measured: 16 windows instead of 57, but the four that move
// the distinguished edge permute the whole line. 5.9 to 8.0 s of processor time, where one path takes 4.0 s.

/// Cells that a byte holds.
const BYTE_CELLS: usize = 8;

/// Windows that the search for a reading may look at: a tenth of a second.
const MOST_WINDOWS: usize = 1_000_000;

/// Paths that are improved: the best natural ones, and as many shuffled ones.
const IMPROVED: usize = 3;

const SEED: u64 = 0x7469_6c65;

/// Returns a cheap reading of a puzzle. Cost: a tenth of a second at most.
///
/// ```
/// use tilewave::puzzle::{Permutation, choose_reading};
/// // Reversals of the first positions: read from the far end, they lie at the end of the line.
/// let flips: Vec<Permutation> = (2..=12)
///     .map(|k| Permutation::from_fn(12, |p| if p < k { k - 1 - p } else { p }))
///     .collect();
/// assert_eq!(choose_reading(12, &flips).path(), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
/// ```
pub fn choose_reading(positions: usize, generators: &[Permutation]) -> Reading {
    let mut search = PathSearch { generators, left: MOST_WINDOWS / (positions * generators.len()) };
    let path = search.best(&natural_paths(positions, generators));
    let path = Reading::new(&path, &[]);
    // A window is carried out for every pair of bytes that it joins.
    let cells = positions.div_ceil(positions.div_ceil(BYTE_CELLS));
    let cost = |reading: &Reading| reading.cost_between(generators, cells);
    let turned = generators.iter().filter_map(turned);
    let readings = std::iter::once(path).chain(turned);
    let best = readings.min_by_key(cost);
    best.expect("there is a path")
}

/// The reading that begins at the distinguished element and goes on round a cycle of all positions, `None` when the
/// generator is none. The generator then moves the cell alone.
fn turned(generator: &Permutation) -> Option<Reading> {
    let positions = generator.len();
    let mut path = vec![0];
    let mut powers = vec![Permutation::identity(positions)];
    for i in 1..positions {
        path.push(generator.image(path[i - 1]));
        let power = |p| generator.image(powers[i - 1].image(p));
        powers.push(Permutation::from_fn(positions, power));
    }
    Permutation::new(&path).ok()?;
    Some(Reading::new(&path, &powers))
}

/// The search for a path.
struct PathSearch<'a> {
    generators: &'a [Permutation],
    /// Readings that may still be looked at.
    left: usize,
}

impl PathSearch<'_> {
    fn cost(&mut self, path: &[usize]) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        Some(Reading::new(path, &[]).cost(self.generators))
    }

    /// The cheapest path found; of equal ones the most natural.
    fn best(&mut self, natural: &[Vec<usize>]) -> Vec<usize> {
        let mut paths: Vec<(usize, Vec<usize>)> = vec![(usize::MAX, natural[0].clone())];
        paths.extend(natural.iter().map_while(|path| Some((self.cost(path)?, path.clone()))));
        paths.sort_by_key(|(cost, _)| *cost);
        paths.truncate(IMPROVED);
        let positions = natural[0].len();
        let mut dice = SplitMix64::new(SEED);
        for _ in 0..IMPROVED {
            let mut path: Vec<usize> = (0..positions).collect();
            for i in (1..positions).rev() {
                path.swap(i, dice.below(i as u64 + 1) as usize);
            }
            paths.extend(self.cost(&path).map(|cost| (cost, path)));
        }
        for (cost, path) in &mut paths {
            self.improve(cost, path);
        }
        let best = paths.into_iter().min_by_key(|(cost, _)| *cost);
        best.expect("there are natural paths").1
    }

    /// Exchanges pairs of positions as long as that helps.
    fn improve(&mut self, least: &mut usize, path: &mut [usize]) {
        let positions = path.len();
        let pairs = (0..positions).flat_map(|i| (i + 1..positions).map(move |j| (i, j)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        let mut unchanged = 0;
        for &(i, j) in pairs.iter().cycle() {
            path.swap(i, j);
            match self.cost(path) {
                Some(cost) if cost < *least => (*least, unchanged) = (cost, 0),
                found => {
                    path.swap(i, j);
                    unchanged += 1;
                    if found.is_none() || unchanged == pairs.len() {
                        return;
                    }
                }
            }
        }
    }
}

/// Paths that puzzles suggest: as numbered, rotated, and along the moves from each position; each also backwards.
fn natural_paths(positions: usize, generators: &[Permutation]) -> Vec<Vec<usize>> {
    let rotated = |first: usize| (0..positions).map(|i| (i + first) % positions).collect();
    let mut paths: Vec<Vec<usize>> = (0..positions).map(rotated).collect();
    for first in 0..positions {
        let mut path = vec![first];
        let mut next = 0;
        while path.len() < positions {
            let reached: Vec<usize> = match path.get(next) {
                Some(&from) => generators.iter().map(|g| g.image(from)).collect(),
                // Positions that no move joins to these come after them.
                None => (0..positions).filter(|p| !path.contains(p)).take(1).collect(),
            };
            next += usize::from(next < path.len());
            for position in reached {
                if !path.contains(&position) {
                    path.push(position);
                }
            }
        }
        paths.push(path);
    }
    let with_reverse = |path: Vec<usize>| [path.iter().rev().copied().collect(), path];
    let mut seen = HashSet::new();
    let all = paths.into_iter().flat_map(with_reverse);
    all.filter(|path: &Vec<usize>| seen.insert(path.clone())).collect()
}

// Puzzles other than boards in files of this program: everything that a reader needs, as JSON.
//
// Invariant: what is read numbers the states as what was written did.

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatesText {
    name: String,
    labels: Vec<usize>,
    generators: Vec<MoveText>,
    path: Vec<usize>,
    orders: Vec<Vec<usize>>,
    home: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MoveText {
    name: String,
    images: Vec<usize>,
}

impl States {
    /// Returns the states of a puzzle, but for the start, as text.
    pub fn to_text(&self) -> Vec<u8> {
        let (definition, reading) = (self.definition(), self.reading());
        let images =
            |g: &Generator| (0..g.permutation.len()).map(|p| g.permutation.image(p)).collect();
        let generators = definition.generators().iter();
        let text = StatesText {
            name: definition.name().into(),
            labels: definition.labels().to_vec(),
            generators: generators
                .map(|g| MoveText { name: g.name.clone(), images: images(g) })
                .collect(),
            path: reading.path().to_vec(),
            orders: (0..definition.positions()).map(|cell| reading.order(cell).to_vec()).collect(),
            home: self.home(),
        };
        serde_json::to_vec(&text).expect("numbers and names are JSON")
    }

    /// Returns the states of a puzzle from text, `None` when it is not what [`States::to_text`] writes.
    pub fn from_text(bytes: &[u8]) -> Option<States> {
        let text: StatesText = serde_json::from_slice(bytes).ok()?;
        let generator = |of: MoveText| {
            let permutation = Permutation::new(&of.images).ok()?;
            let name = of.name;
            Some(Generator { name, permutation })
        };
        let generators = text.generators.into_iter().map(generator);
        let positions = text.labels.len();
        let definition = Definition::new(text.name, positions, generators.collect::<Option<_>>()?);
        let definition = definition.ok()?.labelled(&text.labels).ok()?;
        let reading = Reading::from_orders(text.path, text.orders)?;
        if reading.path().len() != positions {
            return None;
        }
        let states = States::read_by(definition, reading);
        (states.home() == text.home && states.to_text() == bytes).then_some(states)
    }
}
