//! A search prepared for the streaming engines: built once, then shared.
//!
//! Invariant: start, layout and groups belong to the same state space.
//!
//! A level is an array of registers: the lines of each of its class's groups, one group after the other.

use std::sync::Arc;

use crate::{
    Error,
    kernel::{Kernel, Tally, Transfer},
    perm::{LANES, Layout, layout},
    puzzle::{State, StateSpace, Window},
    search::{Chunks, Groups, SearchError, Seat, disk::PlaneSources, is_long},
};

/// The search in the terms of the kernels.
pub(crate) struct SearchProblem {
    pub space: StateSpace,
    pub start: State,
    pub layout: Layout,
    pub groups: Groups,
}

impl SearchProblem {
    /// Returns the problem of a state space.
    pub fn new(space: &StateSpace) -> Result<SearchProblem, Error> {
        space.numbered()?;
        let puzzle = space.to_string();
        let layout = Layout::new(space.line_len()).ok_or(SearchError::TooSmall { puzzle })?;
        let start = space.start()?;
        let groups = Groups::new(space.moves(), start.cell);
        Ok(SearchProblem { groups, start, space: space.clone(), layout })
    }

    /// Returns the problem of a search through chunks; an error if a window moves several elements at once into a block
    /// or into the lanes.
    pub fn chunked(space: &StateSpace) -> Result<SearchProblem, Error> {
        let problem = SearchProblem::new(space)?;
        let windows = problem.space.moves().windows();
        if windows.iter().any(|window| is_long(problem.layout, window)) {
            let puzzle = space.to_string();
            return Err(SearchError::InMemory { puzzle }.into());
        }
        Ok(problem)
    }

    pub fn seat(&self, state: State) -> Seat {
        let parity = self.space.parity(state).0;
        let seat = self.groups.seat(parity, state.cell);
        seat.expect("states that are reached have a group")
    }

    pub fn class(&self, depth: usize) -> usize {
        let first = self.seat(self.start).class;
        (0..depth % 2).fold(first, |class, _| self.groups.next(class))
    }

    /// Returns the side of the step from the states at a depth: the class, or, if there is only one class, whether the
    /// depth is odd.
    pub fn side(&self, depth: usize) -> usize {
        match self.groups.classes.len() {
            1 => depth % 2,
            _ => self.class(depth),
        }
    }

    pub fn registers(&self, class: usize) -> u64 {
        self.groups.classes[class].len() as u64 * self.layout.registers()
    }

    /// Returns the register, within its level, and the lane of a state.
    pub fn place(&self, state: State) -> (u64, usize) {
        let rank = self.space.parity(state).1;
        let group = self.seat(state).group as u64;
        let register = group * self.layout.registers() + rank / LANES as u64;
        (register, (rank % LANES as u64) as usize)
    }

    pub fn first_line(&self, class: usize, group: usize) -> u64 {
        let parity = self.groups.classes[class][group].parity as u64;
        parity * self.layout.registers() * LANES as u64
    }

    /// Returns the count and the checksum of level 0.
    pub fn first(&self) -> Tally {
        let (register, lane) = self.place(self.start);
        let bit = usize::from(self.seat(self.start).bit);
        Tally { states: 1, checksum: layout::state(register, lane, bit) }
    }
}

// Crossing windows: moves that lead from one chunk to another.
//
// A move takes one cell to one cell, so it needs one bit of each source byte: a **plane**, with one word per register.
//
// The steps of a search have two **sides**, which alternate: the classes if there are two, else even and odd depths.
// Invariant: if moves have inverses, plane i of one side is the inverse of plane i of the other, even if there is only
// one class: its moves and their inverses are the same set.

/// One crossing window and one pair of cells, as a step uses them.
#[derive(Clone)]
pub(crate) struct Plane {
    /// Index of the group in its class, and bit of the cell, from which the moves start.
    pub from: (usize, u8),
    pub to: (usize, u8),
    /// The sources of the bits of a target block.
    pub sources: Arc<PlaneSources>,
    /// The targets of the bits of a source block.
    pub targets: Arc<PlaneSources>,
}

impl Plane {
    fn back(&self) -> Plane {
        Plane {
            from: self.to,
            to: self.from,
            sources: self.targets.clone(),
            targets: self.sources.clone(),
        }
    }
}

/// The crossing planes, for the steps of either side.
pub(crate) struct Crossings {
    /// The planes of a step from each side, in the order in which they are numbered.
    pub sides: [Vec<Plane>; 2],
    /// Whether the words of a step may be stored where those of the next step are: the moves of one side are the
    /// inverses of those of the other, and words move as a whole.
    pub in_place: bool,
    pub chunks: Chunks,
    pub kernel: Kernel,
}

impl Crossings {
    /// Returns the number of planes of a step, computed without their tables: the larger number of both sides.
    pub fn count(groups: &Groups, chunks: Chunks) -> usize {
        let count = |class: usize| -> usize {
            let crossing = moves(groups, class).filter(|(_, _, t)| crosses(t, chunks));
            crossing.map(|(_, _, t)| t.bits.len()).sum()
        };
        (0..groups.classes.len()).map(count).max().unwrap_or(0)
    }

    /// Returns the number of sets of planes that a search keeps in memory, computed without their tables: windows that
    /// reach the lanes do not move whole words.
    pub fn sets(groups: &Groups, chunks: Chunks) -> usize {
        let all = (0..groups.classes.len()).flat_map(|class| moves(groups, class));
        let mut crossing = all.filter(|(_, _, t)| crosses(t, chunks));
        let lanes = chunks.layout.prefix();
        let reaches = crossing.any(|(_, _, t)| t.window.last() >= lanes);
        1 + usize::from(groups.directed || reaches)
    }

    pub fn new(groups: &Groups, chunks: Chunks, kernel: Kernel) -> Crossings {
        let side = |class: usize| -> Vec<Plane> {
            let parity = |class: usize, group: usize| groups.classes[class][group].parity;
            let crossing = moves(groups, class).filter(|(_, _, t)| crosses(t, chunks));
            let planes = crossing.flat_map(|(from, to, transfer)| {
                let located = |window: &Window, parity| {
                    Arc::new(PlaneSources::new(kernel, chunks.layout, window, parity))
                };
                let sources = located(&transfer.window, parity(groups.next(class), to));
                let targets = located(&transfer.window.inverse(), parity(class, from));
                transfer.bits.iter().map(move |&(a, b)| Plane {
                    from: (from, a),
                    to: (to, b),
                    sources: sources.clone(),
                    targets: targets.clone(),
                })
            });
            planes.collect()
        };
        let first = side(0);
        let second = match (groups.directed, groups.classes.len()) {
            (false, _) => first.iter().map(Plane::back).collect(),
            (true, 1) => first.clone(),
            (true, _) => side(1),
        };
        let whole = |plane: &Plane| plane.sources.is_whole() && plane.targets.is_whole();
        let in_place = !groups.directed && first.iter().all(whole);
        Crossings { sides: [first, second], in_place, chunks, kernel }
    }

    /// Returns the number of planes of a step, the larger number of both sides.
    pub fn most(&self) -> usize {
        self.sides.iter().map(Vec::len).max().unwrap_or(0)
    }
}

/// The moves from a class, with the indices of the groups that they start from and lead to.
fn moves(groups: &Groups, class: usize) -> impl Iterator<Item = (usize, usize, &Transfer)> {
    let incoming = groups.incoming[groups.next(class)].iter().enumerate();
    incoming.flat_map(|(to, incoming)| incoming.iter().map(move |a| (a.from, to, &a.transfer)))
}

pub(crate) fn crosses(transfer: &Transfer, chunks: Chunks) -> bool {
    !transfer.window.is_identity() && transfer.window.first() < chunks.digits
}
