//! States that are a product: where the pieces of some positions are and how they are turned, independently of each other.
//!
//! A state is a **head**, a **row** and a **bit**. Each is a number with a digit for some **factors**: which kinds of pieces
//! are at the positions of an orbit, or how the pieces there are turned. A move takes heads to heads, rows to rows and bits
//! to bits, whatever the others are, and so does a symmetry. So all states with a head from one class under the symmetries
//! are a block, which a move takes to another block by exchanging rows and permuting bits within them:
//!
//! ```text
//! head (class, symmetry)    block of a class:  row 0   bit 0 1 2 3 ..  b-1
//!                                              row 1   bit 0 1 2 3 ..  b-1
//!                                              ..
//! ```
//!
//! How a piece is turned is counted from an orientation that depends on its kind, chosen so that as many symmetries as
//! possible turn pieces by the same amount whatever their kinds.
//!
//! Invariant: the heads, rows and bits of reachable states are all their combinations.

use std::collections::HashMap;

use num_bigint::BigUint;

use crate::{
    frontier::{fields::StateFields, symmetry::SymmetryGroup},
    kernel::networks::BitNetwork,
    puzzle::{Arrangement, Placed, Puzzle, group::all_orbits, symmetry::Relabelling},
    random::SplitMix64,
    threads::map_numbers,
};

/// Maximum number of values of a factor, of heads and of rows.
const MOST_VALUES: usize = 1 << 22;
/// Maximum number of choices of the orientations from which pieces of a set are counted that are tried.
const MOST_ZEROS: usize = 1 << 12;
/// Minimum number of heads for each symmetry: with fewer, many heads have symmetries of their own.
const HEADS: usize = 1000;
/// Maximum size in bytes of a block.
const MOST_BYTES: usize = 64 << 20;
/// Maximum number of symmetries that are used.
const MOST_SYMMETRIES: usize = 256;
/// Maximum number of factors of which all divisions are tried.
const MOST_FACTORS: usize = 10;

/// The kinds at the positions of an orbit, or the orientations there, or both.
#[derive(Clone, Debug)]
struct Factor {
    set: usize,
    positions: Vec<u8>,
    kinds: bool,
    turns: bool,
    values: Vec<Box<[u8]>>,
    number: HashMap<Box<[u8]>, u32>,
}

/// The factors of a puzzle's states.
#[derive(Clone, Debug)]
struct Factors {
    puzzle: Puzzle,
    all: Vec<Factor>,
    /// For each set, the orientation from which pieces of each kind are counted.
    zeros: Vec<Vec<u8>>,
}

/// A number with a digit for each of some factors, the first of which counts in ones.
#[derive(Clone, Debug)]
struct Digits {
    factors: Vec<usize>,
    count: usize,
}

/// A class of heads under the symmetries.
#[derive(Clone, Debug)]
pub(crate) struct HeadClass {
    /// The head that represents it, and the symmetries that preserve that head.
    pub head: u32,
    pub keeping: Vec<u16>,
    /// The number of its heads.
    pub members: u64,
}

/// The states of a puzzle as a product.
#[derive(Clone, Debug)]
pub(crate) struct ProductSpace {
    factors: Factors,
    symmetries: Vec<Relabelling>,
    /// The number of all symmetries, if it is known.
    pub all_symmetries: Option<BigUint>,
    head: Digits,
    row: Digits,
    bit: Digits,
    pub classes: Vec<HeadClass>,
    /// For each head its class, and a symmetry that takes the head to the one that represents it.
    class_of: Vec<(u32, u16)>,
    /// Where the moves, undone, and the symmetries take rows and bits.
    rows: [Vec<Vec<u32>>; 2],
    bits: [Vec<Vec<u32>>; 2],
}

impl ProductSpace {
    /// Returns the states of a puzzle as a product, with symmetries or without; `None` if they are none, or if rows of bits
    /// would waste more than half of the memory. Cost: some seconds for millions of heads or rows.
    pub fn of(puzzle: &Puzzle, symmetric: bool) -> Option<ProductSpace> {
        if !puzzle.allows_all_moves() {
            return None;
        }
        let found = symmetric.then(|| {
            let fields = StateFields::of(puzzle);
            SymmetryGroup::with_relabellings(puzzle, &fields, MOST_SYMMETRIES)
        });
        let (all_symmetries, relabellings) = match found {
            Some((group, all)) => (group.whole, all),
            None => (None, vec![Relabelling::identity(puzzle)]),
        };
        let sets = 0..puzzle.sets().len();
        let zeros: Vec<Vec<u8>> = sets.map(|set| zeros(puzzle, set, &relabellings)).collect();
        let factors = Factors { puzzle: puzzle.clone(), all: factors(puzzle, &zeros)?, zeros };
        let counts = factors.all.iter().map(|of| of.values.len() as u64);
        let states = counts.into_iter().try_fold(1, u64::checked_mul)?;
        if puzzle.states()? != states.into() || !puzzle.goals().iter().all(|goal| factors.has(goal))
        {
            return None;
        }
        let ([head, row, bit], symmetries) = factors.divided(states, &relabellings)?;
        let (classes, class_of) = factors.classes([&head, &row, &bit], &symmetries);
        let undone = puzzle.moves().iter().map(|one| one.transformation.inverse(puzzle.sets()));
        let undone: Vec<_> = undone.collect();
        let undo = |state: &Arrangement, index: usize| puzzle.after(state, &undone[index]);
        let image =
            |state: &Arrangement, index: usize| symmetries[index].arrangement(puzzle, state);
        let [rows, bits] = [&row, &bit].map(|part| {
            let undo = factors.images(part, undone.len(), &undo);
            [undo, factors.images(part, symmetries.len(), &image)]
        });
        Some(ProductSpace {
            factors,
            symmetries,
            all_symmetries,
            head,
            row,
            bit,
            classes,
            class_of,
            rows,
            bits,
        })
    }

    /// Returns the number of moves.
    pub fn moves(&self) -> usize {
        self.factors.puzzle.moves().len()
    }

    /// Returns the number of symmetries.
    pub fn order(&self) -> usize {
        self.symmetries.len()
    }

    pub fn row_count(&self) -> usize {
        self.row.count
    }

    /// Returns the number of words of a row.
    pub fn words(&self) -> usize {
        width(self.bit.count) / 64
    }

    /// Returns the bits that a full row has.
    pub fn full(&self) -> Vec<u64> {
        let mut full = vec![0; self.words()];
        (0..self.bit.count).for_each(|bit| full[bit / 64] |= 1 << (bit % 64));
        full
    }

    /// Returns what heads, rows and bits are, as text.
    pub fn describe(&self) -> String {
        let parts = [&self.head, &self.row, &self.bit];
        parts.map(|part| self.factors.describe(part)).join(" / ")
    }

    /// Returns the class of blocks from which a move comes to the states of a class, and the symmetry through which it sees
    /// them.
    pub fn source(&self, class: usize, index: usize) -> (usize, usize) {
        let puzzle = &self.factors.puzzle;
        let state = self.factors.state(&[(&self.head, self.classes[class].head as usize)]);
        let undone = puzzle.moves()[index].transformation.inverse(puzzle.sets());
        let head = self.factors.number(&self.head, &puzzle.after(&state, &undone));
        let (class, symmetry) = self.class_of[head];
        (class as usize, symmetry.into())
    }

    /// Returns the row in a move's source from which a row comes, seen through a symmetry.
    #[inline]
    pub fn source_row(&self, (index, symmetry): (usize, usize), row: usize) -> u32 {
        self.rows[1][symmetry][self.rows[0][index][row] as usize]
    }

    /// Returns the network that takes the rows of a move's source to those of its target.
    pub fn network(&self, (index, symmetry): (usize, usize)) -> BitNetwork {
        let source =
            |bit: usize| self.bits[1][symmetry][self.bits[0][index][bit] as usize] as usize;
        let unused = self.bit.count..width(self.bit.count);
        BitNetwork::new(&(0..self.bit.count).map(source).chain(unused).collect::<Vec<_>>())
    }

    /// Returns the rows that a symmetry leaves where they are, and a mask of such bits.
    pub fn fixed(&self, symmetry: usize) -> (impl Iterator<Item = usize> + '_, Vec<u64>) {
        fn fixed(images: &[u32]) -> impl Iterator<Item = usize> + '_ {
            let all = images.iter().enumerate();
            all.filter(|&(own, &to)| own == to as usize).map(|(own, _)| own)
        }
        let mut mask = vec![0; self.words()];
        fixed(&self.bits[1][symmetry]).for_each(|bit| mask[bit / 64] |= 1 << (bit % 64));
        (fixed(&self.rows[1][symmetry]), mask)
    }

    /// Returns the class, row and bit of each entry of a state.
    pub fn entries(&self, state: &Arrangement) -> Vec<(usize, usize, usize)> {
        let [head, row, bit] =
            [&self.head, &self.row, &self.bit].map(|part| self.factors.number(part, state));
        let (class, symmetry) = self.class_of[head];
        let image = |symmetry: u16, row: usize, bit: usize| {
            let symmetry = usize::from(symmetry);
            (self.rows[1][symmetry][row] as usize, self.bits[1][symmetry][bit] as usize)
        };
        let (row, bit) = image(symmetry, row, bit);
        let entry = |&keep: &u16| {
            let (row, bit) = image(keep, row, bit);
            (class as usize, row, bit)
        };
        self.classes[class as usize].keeping.iter().map(entry).collect()
    }

    /// Returns the states of an entry: its images under all symmetries, possibly several times.
    pub fn states_of(
        &self,
        (class, row, bit): (usize, usize, usize),
    ) -> impl Iterator<Item = Arrangement> + '_ {
        let head = self.classes[class].head as usize;
        let state = self.factors.state(&[(&self.head, head), (&self.row, row), (&self.bit, bit)]);
        self.symmetries.iter().map(move |one| one.arrangement(&self.factors.puzzle, &state))
    }
}

impl Factors {
    /// Returns the division into heads, rows and bits that takes the least memory, and the symmetries that it respects.
    fn divided(
        &self,
        states: u64,
        symmetries: &[Relabelling],
    ) -> Option<([Digits; 3], Vec<Relabelling>)> {
        let digits = |factors: Vec<usize>| {
            let counts = factors.iter().map(|&f| self.all[f].values.len());
            let count = counts.into_iter().try_fold(1, usize::checked_mul);
            Some(Digits { factors, count: count.filter(|&count| count <= MOST_VALUES)? })
        };
        let mut choices = Vec::new();
        for bit in 0..self.all.len() {
            let others: Vec<usize> = (0..self.all.len()).filter(|&f| f != bit).collect();
            // Bit by bit, the other factors that heads have; rows have the rest.
            for heads in 0..1u32 << others.len().min(MOST_FACTORS) {
                let part = |wanted: bool| {
                    let own = others.iter().enumerate();
                    own.filter(|(i, _)| (heads >> i & 1 == 1) == wanted).map(|(_, &f)| f).collect()
                };
                let parts = [digits(part(true)), digits(part(false)), digits(vec![bit])];
                let [Some(head), Some(row), Some(bit)] = parts else { continue };
                let width = width(bit.count);
                let bits = (head.count * row.count) as u64 * width as u64;
                if width > 64 * BitNetwork::MOST_WORDS
                    || row.count * width / 8 > MOST_BYTES
                    || bits / 2 > states
                {
                    continue;
                }
                let parts = [head, row, bit];
                let own = symmetries.iter().filter(|one| self.is_product(&parts, one));
                let own: Vec<Relabelling> = own.cloned().collect();
                let heads = parts[0].count;
                let few = heads < HEADS * own.len();
                // Large blocks take the least time; heads that are few have symmetries of their own.
                let order =
                    (few, bits / own.len() as u64, if few { usize::MAX - heads } else { heads });
                choices.push((order, parts, own));
            }
        }
        choices.into_iter().min_by_key(|(order, ..)| *order).map(|(_, parts, own)| (parts, own))
    }

    /// What a part consists of, as text.
    fn describe(&self, part: &Digits) -> String {
        let factor = |&f: &usize| {
            let Factor { set, positions, kinds, turns, .. } = &self.all[f];
            let what = match (kinds, turns) {
                (true, true) => "",
                (true, false) => "places of ",
                (false, _) => "orientations of ",
            };
            let set = &self.puzzle.sets()[*set];
            let from = match positions.len() < set.positions() {
                true => format!(" from position {}", positions[0] + 1),
                false => String::new(),
            };
            format!("{what}{}{from}", set.name)
        };
        part.factors.iter().map(factor).collect::<Vec<_>>().join(", ")
    }

    /// Whether moves lead from the solved state to each factor's value of a state.
    fn has(&self, state: &Arrangement) -> bool {
        let has = |of: &Factor| {
            let value = of.value(state, &self.puzzle, &self.zeros[of.set]);
            of.number.contains_key(&value[..])
        };
        self.all.iter().all(has)
    }

    /// The state with these values of parts, and the first value of all others.
    fn state(&self, parts: &[(&Digits, usize)]) -> Arrangement {
        let mut values = vec![0; self.all.len()];
        for &(part, number) in parts {
            let mut left = number;
            for &f in &part.factors {
                values[f] = left % self.all[f].values.len();
                left /= self.all[f].values.len();
            }
        }
        let mut state = self.puzzle.solved();
        let mut all: Vec<(&Factor, usize)> = self.all.iter().zip(values).collect();
        // Kinds first: orientations are counted from theirs.
        all.sort_by_key(|(factor, _)| !factor.kinds);
        for (factor, value) in all {
            let (row, zeros) = (&mut state.0[factor.set], &self.zeros[factor.set]);
            let moduli = &self.puzzle.sets()[factor.set].moduli;
            let each = usize::from(factor.kinds) + usize::from(factor.turns);
            let own = factor.values[value].chunks_exact(each);
            for (&at, own) in factor.positions.iter().zip(own) {
                let piece = &mut row[usize::from(at)];
                if factor.kinds {
                    piece.kind = own[0];
                }
                if factor.turns {
                    let kind = usize::from(piece.kind);
                    let zero = if factor.kinds { 0 } else { zeros[kind] };
                    piece.turn = (own[each - 1] + zero) % moduli[kind];
                }
            }
        }
        state
    }

    /// The number of a state's part.
    fn number(&self, part: &Digits, state: &Arrangement) -> usize {
        let (mut number, mut weight) = (0, 1);
        for &f in &part.factors {
            let factor = &self.all[f];
            let value = factor.value(state, &self.puzzle, &self.zeros[factor.set]);
            number += weight * factor.number[&value[..]] as usize;
            weight *= factor.values.len();
        }
        number
    }

    /// Where each of so many maps of states takes the values of a part.
    fn images(
        &self,
        part: &Digits,
        maps: usize,
        map: &(dyn Fn(&Arrangement, usize) -> Arrangement + Sync),
    ) -> Vec<Vec<u32>> {
        let states: Vec<Arrangement> =
            (0..part.count).map(|value| self.state(&[(part, value)])).collect();
        let number = |state, index| self.number(part, &map(state, index)) as u32;
        map_numbers(maps, &|index| states.iter().map(|state| number(state, index)).collect())
    }

    /// Whether a symmetry takes heads to heads, rows to rows and bits to bits, whatever the others are: it takes each position
    /// to one of the same part, and turns pieces there by the same amount whatever their kinds.
    fn is_product(&self, parts: &[Digits; 3], of: &Relabelling) -> bool {
        // The part of a position's kinds, and that of its orientations.
        let part_of = |set: usize, position: usize| {
            [true, false].map(|kinds| {
                let has = |&f: &usize| {
                    let own = &self.all[f];
                    let here = own.set == set && own.positions.contains(&(position as u8));
                    here && if kinds { own.kinds } else { own.turns }
                };
                parts.iter().position(|part| part.factors.iter().any(has))
            })
        };
        self.puzzle.sets().iter().enumerate().all(|(set, pieces)| {
            (0..pieces.positions()).all(|position| {
                let piece = Placed { turn: 0, ..pieces.solved[position] };
                let (to_set, to, _) = of.of_piece(&self.puzzle, (set, position), piece);
                let own @ [kinds, turns] = part_of(set, position);
                let zeros = (&self.zeros[set][..], &self.zeros[to_set][..]);
                let alike = || turns_alike(&self.puzzle, of, (set, position), zeros);
                // Within a part, orientations may depend on kinds.
                own == part_of(to_set, to) && (kinds == turns || alike())
            })
        })
    }

    /// For each symmetry, the index of the one that undoes it.
    fn inverses(&self, parts: [&Digits; 3], symmetries: &[Relabelling]) -> Vec<usize> {
        let mut random = SplitMix64::new(1);
        let mut state =
            || self.state(&parts.map(|part| (part, (random.draw() % part.count as u64) as usize)));
        let states: Vec<Arrangement> = (0..8).map(|_| state()).collect();
        let image = |one: &Relabelling, of: &Arrangement| one.arrangement(&self.puzzle, of);
        let inverse = |one: &Relabelling| {
            let images: Vec<Arrangement> = states.iter().map(|state| image(one, state)).collect();
            let undoes = |other: &Relabelling| {
                images.iter().zip(&states).all(|(there, state)| image(other, there) == *state)
            };
            symmetries.iter().position(undoes).expect("symmetries are a group")
        };
        symmetries.iter().map(inverse).collect()
    }

    /// The classes of heads, and for each head its class and a symmetry that takes it to the one that represents it.
    fn classes(
        &self,
        parts @ [heads, ..]: [&Digits; 3],
        symmetries: &[Relabelling],
    ) -> (Vec<HeadClass>, Vec<(u32, u16)>) {
        let inverses = self.inverses(parts, symmetries);
        let mut class_of = vec![(u32::MAX, 0); heads.count];
        let mut classes = Vec::new();
        for head in 0..heads.count {
            if class_of[head].0 != u32::MAX {
                continue;
            }
            let state = self.state(&[(heads, head)]);
            let (mut keeping, mut members) = (Vec::new(), 0);
            for ((index, one), back) in (0..).zip(symmetries).zip(&inverses) {
                let to = self.number(heads, &one.arrangement(&self.puzzle, &state));
                if to == head {
                    keeping.push(index);
                }
                if class_of[to].0 == u32::MAX {
                    class_of[to] = (classes.len() as u32, *back as u16);
                    members += 1;
                }
            }
            classes.push(HeadClass { head: head as u32, keeping, members });
        }
        (classes, class_of)
    }
}

impl Factor {
    /// The value of a factor in a state, with orientations counted from these.
    fn value(&self, state: &Arrangement, puzzle: &Puzzle, zeros: &[u8]) -> Vec<u8> {
        let moduli = &puzzle.sets()[self.set].moduli;
        let mut value = Vec::with_capacity(2 * self.positions.len());
        for &at in &self.positions {
            let Placed { kind, turn } = state.0[self.set][usize::from(at)];
            if self.kinds {
                value.push(kind);
            }
            if self.turns {
                let modulus = moduli[usize::from(kind)];
                let zero = if self.kinds { 0 } else { zeros[usize::from(kind)] };
                value.push((turn + modulus - zero) % modulus);
            }
        }
        value
    }
}

/// The number of bits of a row of so many that are used: a power of two.
fn width(bits: usize) -> usize {
    bits.next_power_of_two().max(64)
}

/// The factors of a puzzle's states; `None` if one has too many values.
fn factors(puzzle: &Puzzle, zeros: &[Vec<u8>]) -> Option<Vec<Factor>> {
    let mut factors = Vec::new();
    for (index, set) in puzzle.sets().iter().enumerate() {
        let actions: Vec<_> =
            puzzle.moves().iter().map(|one| &one.transformation.0[index]).collect();
        let sources: Vec<&[u8]> = actions.iter().map(|action| &action.source[..]).collect();
        for orbit in all_orbits(set.positions(), &sources) {
            let positions: Vec<u8> = orbit.iter().map(|&p| p as u8).collect();
            let kind = |&p: &usize| usize::from(set.solved[p].kind);
            let modulus = set.moduli[kind(&orbit[0])];
            let alike = orbit.iter().all(|p| set.moduli[kind(p)] == modulus);
            let shapes =
                if alike { vec![(true, false), (false, true)] } else { vec![(true, true)] };
            for (kinds, turns) in shapes {
                let mut factor = Factor {
                    set: index,
                    positions: positions.clone(),
                    kinds,
                    turns,
                    values: Vec::new(),
                    number: HashMap::new(),
                };
                factor.close(puzzle, &zeros[index])?;
                if factor.values.len() > 1 {
                    factors.push(factor);
                }
            }
        }
    }
    Some(factors)
}

impl Factor {
    /// Finds all values that moves lead to from the solved state, with orientations counted from these; `None` if there are
    /// too many.
    fn close(&mut self, puzzle: &Puzzle, zeros: &[u8]) -> Option<()> {
        let set = &puzzle.sets()[self.set];
        // For each position of the factor: where its piece comes from, and by how much it turns.
        let actions: Vec<Vec<(usize, u8)>> = (puzzle.moves().iter())
            .map(|one| {
                let action = &one.transformation.0[self.set];
                let of = |&at: &u8| {
                    let from = action.source[usize::from(at)];
                    let from = self.positions.iter().position(|&p| p == from);
                    (from.expect("an orbit is closed"), action.twist[usize::from(at)])
                };
                self.positions.iter().map(of).collect()
            })
            .collect();
        let each = usize::from(self.kinds) + usize::from(self.turns);
        let modulus = set.moduli[usize::from(set.solved[usize::from(self.positions[0])].kind)];
        let solved = puzzle.solved();
        let start = self.value(&solved, puzzle, zeros).into_boxed_slice();
        self.number.insert(start.clone(), 0);
        self.values.push(start);
        let mut at = 0;
        while at < self.values.len() {
            for action in &actions {
                let value = &self.values[at];
                let moved = action.iter().flat_map(|&(from, twist)| {
                    let piece = &value[from * each..][..each];
                    let mut piece = piece.to_vec();
                    if self.turns {
                        let modulus =
                            if self.kinds { set.moduli[usize::from(piece[0])] } else { modulus };
                        piece[each - 1] = (piece[each - 1] + twist) % modulus;
                    }
                    piece
                });
                let moved: Box<[u8]> = moved.collect();
                let number = self.values.len() as u32;
                self.number.entry(moved.clone()).or_insert_with(|| {
                    self.values.push(moved);
                    number
                });
            }
            if self.values.len() > MOST_VALUES {
                return None;
            }
            at += 1;
        }
        Some(())
    }
}

/// Whether a symmetry turns pieces at a position by the same amount whatever their kinds, if orientations are counted from
/// these in their set and its image.
fn turns_alike(
    puzzle: &Puzzle,
    of: &Relabelling,
    (set, position): (usize, usize),
    (from, to): (&[u8], &[u8]),
) -> bool {
    let moduli = &puzzle.sets()[set].moduli;
    let first = moduli[usize::from(puzzle.sets()[set].solved[position].kind)];
    (0..first).all(|turn| {
        let image = |kind: u8| {
            let turn = (turn + from[usize::from(kind)]) % first;
            let (_, _, image) = of.of_piece(puzzle, (set, position), Placed { kind, turn });
            (image.turn + first - to[usize::from(image.kind)]) % first
        };
        let alike = (0..moduli.len() as u8).filter(|&kind| moduli[usize::from(kind)] == first);
        let mut images = alike.map(image);
        let one = images.next();
        images.all(|image| Some(image) == one)
    })
}

/// The orientations of a set's kinds from which most symmetries turn pieces whatever their kinds.
fn zeros(puzzle: &Puzzle, set: usize, symmetries: &[Relabelling]) -> Vec<u8> {
    let pieces = &puzzle.sets()[set];
    let mut zeros = vec![0; pieces.moduli.len()];
    let own: Vec<&Relabelling> = symmetries.iter().filter(|one| one.set[set] == set).collect();
    let count = |zeros: &[u8]| {
        let positions = 0..pieces.positions();
        let fits = |one: &&&Relabelling| {
            positions.clone().all(|at| turns_alike(puzzle, one, (set, at), (zeros, zeros)))
        };
        own.iter().filter(fits).count()
    };
    let (mut best, mut most) = (zeros.clone(), count(&zeros));
    for _ in 0..MOST_ZEROS {
        // The next one; the first kind is counted from 0.
        let mut at = 1;
        while at < zeros.len() && zeros[at] + 1 == pieces.moduli[at] {
            zeros[at] = 0;
            at += 1;
        }
        if at >= zeros.len() || most == own.len() {
            break;
        }
        zeros[at] += 1;
        let found = count(&zeros);
        if found > most {
            (best, most) = (zeros.clone(), found);
        }
    }
    best
}
