//! Shortest solutions with a coset table, searched from both ends: iterative deepening over a state and its inverse.
//!
//! A node is a state and its inverse, and for each a bound through each view of the table. A move made before all others
//! changes one side, one made after all others the other: the node branches where fewer moves are left. A view whose
//! bound is all the room there is forbids its **stay set** on the other side: such a move would leave the bound as it is. A
//! move in the stay set of a view on the other side inherits its bound.
//!
//! ```text
//!        state                            inverse
//!   next moves  m1 m2 m3 ..  ->   <-  .. n3 n2 n1  last moves, inverted
//! ```
//!
//! Look-ups wait for memory, so all nodes of some subtrees share one queue of them: a look-up first asks for the row of its
//! first sets, later for the line of its entry, and a dozen lines are asked for together. What passes its look-ups goes to a
//! stack, from which nodes are taken whenever the queue has room.
//!
//! Source: T. Rokicki, nxopt (stay sets, two sides), 2016; S. Tronto, nissy, 2023.
//!
//! Invariant: only the bounds of the side that moves change by at most one; those of the other side may change by any
//! number. The nodes of a subtree without a solution do not depend on the order in which they are visited; one with a
//! solution is walked once more, in the order of the moves.

#![allow(unsafe_code)]

use std::{
    collections::HashSet,
    sync::{Arc, OnceLock},
};

use crate::{
    kernel::{
        Kernel, dispatch,
        isa::Isa,
        points::{PointMap, after},
        prefetch,
    },
    pruning::cosets::{AnyNumbers, CosetNumbers, CosetTable},
    puzzle::Arrangement,
    solve::{
        canonical::CanonicalWords,
        ida::Rooted,
        pruner::WordPruner,
        walk::{MoveTree, Subtree, SubtreeEnd, Subtrees, Walk},
    },
};

/// Number of look-ups that wait for memory, and of those that are asked for together: a prefetch only ends when its page
/// has been found, so only prefetches close to each other overlap.
const FLIGHT: usize = 40;
const BURST: usize = 12;
const RING: usize = FLIGHT.next_power_of_two();
/// Number of nodes after which a search asks whether to stop.
const ASK_EVERY: u64 = 1 << 14;
/// Marks a step on the side of the inverse.
const BACK: u16 = 1 << 15;
/// What the subtrees of an iteration may take, in bytes.
const SPLIT_BYTES: usize = 1 << 28;

/// The sequences of moves that are searched: for each state of an automaton, the moves that it allows, a bit each, and
/// the states after them.
struct WordMasks {
    allowed: Vec<u64>,
    next: Vec<u32>,
    moves: usize,
}

impl WordMasks {
    fn new(pruner: &WordPruner, moves: usize) -> WordMasks {
        let mut masks = WordMasks { allowed: Vec::new(), next: Vec::new(), moves };
        for state in 0..pruner.states() {
            let all = pruner.moves(state as u32);
            masks.allowed.push(all.iter().fold(0, |mask, (one, _)| mask | 1 << one));
            masks.next.resize(masks.next.len() + moves, WordPruner::START);
            let own = state * moves;
            all.iter().for_each(|&(one, next)| masks.next[own + usize::from(one)] = next);
        }
        masks
    }

    #[inline(always)]
    fn after(&self, state: u32, one: usize) -> u32 {
        self.next[state as usize * self.moves + one]
    }
}

/// What solves a puzzle with a coset table.
pub(crate) struct TwoSided {
    pub table: Arc<CosetTable>,
    /// The sequences of next moves, and of the inverses of last moves, backwards.
    words: [WordMasks; 2],
    /// The same where all solutions are wanted.
    every: OnceLock<[WordMasks; 2]>,
    pub kernel: Kernel,
}

impl TwoSided {
    pub fn new(table: Arc<CosetTable>) -> TwoSided {
        let puzzle = table.puzzle();
        let moves = puzzle.moves().len();
        let pruners = WordPruner::both_ways(puzzle);
        let words = pruners.map(|pruner| WordMasks::new(&pruner, moves));
        TwoSided { words, every: OnceLock::new(), kernel: Kernel::best(), table }
    }

    /// The tree below a state; `odd` says the parity of its solutions, if that is known, and `every` the sequences that
    /// count as solutions, if all are wanted.
    pub fn rooted(
        &self,
        state: &Arrangement,
        odd: Option<usize>,
        every: Option<&CanonicalWords>,
    ) -> Box<dyn Rooted<Arrangement> + '_> {
        fn every_in<'s, const R: usize>(
            tree: SidedTree<'s, R>,
            words: Option<&'s [WordMasks; 2]>,
        ) -> SidedTree<'s, R> {
            match words {
                // Those of symmetric subtrees differ.
                Some(words) => SidedTree { words, fixing: Vec::new(), ..tree },
                None => tree,
            }
        }
        let words = every.map(|every| self.every.get_or_init(|| self.masks(every.forbidden())));
        match &self.table.of.numbers {
            AnyNumbers::One(numbers) => Box::new(every_in(self.tree(numbers, state, odd), words)),
            AnyNumbers::Two(numbers) => Box::new(every_in(self.tree(numbers, state, odd), words)),
        }
    }

    fn masks(&self, forbidden: Vec<Vec<u16>>) -> [WordMasks; 2] {
        let puzzle = self.table.puzzle();
        WordPruner::both_ways_without(puzzle, forbidden)
            .map(|pruner| WordMasks::new(&pruner, puzzle.moves().len()))
    }

    /// The bound of a state.
    pub fn bound(&self, state: &Arrangement) -> usize {
        match &self.table.of.numbers {
            AnyNumbers::One(numbers) => self.tree(numbers, state, None).root.bound(),
            AnyNumbers::Two(numbers) => self.tree(numbers, state, None).root.bound(),
        }
    }

    /// The maximum number of look-ups of a node.
    pub fn views(&self) -> usize {
        2 * self.table.symmetries().1
    }

    fn tree<'s, const R: usize>(
        &'s self,
        numbers: &'s CosetNumbers<R>,
        state: &Arrangement,
        odd: Option<usize>,
    ) -> SidedTree<'s, R>
    where
        Sides: SidedKernels<R>,
    {
        let puzzle = &numbers.puzzle;
        let state = puzzle.state(self.table.puzzle(), state);
        let inverse = puzzle.inverse.iter().map(|&one| puzzle.moves[usize::from(one)]);
        let mut tree = SidedTree {
            numbers,
            lines: self.table.lines(),
            base: self.table.base(),
            words: &self.words,
            inverse: inverse.collect(),
            inherited: numbers.inherited(),
            kernel: self.kernel,
            root: SidedNode {
                states: [state, state.inverse()],
                low: [0; 2],
                word: [WordPruner::START; 2],
            },
            odd,
            fixing: Vec::new(),
        };
        let mut root = tree.root;
        Sides::evaluate(self.kernel, &tree, &mut root, u32::MAX, u8::MAX);
        tree.root = root;
        // Those that keep the state.
        let keeps = |g: &&PointMap<R>| g.after(&state).after(&g.inverse()) == state;
        tree.fixing = puzzle.symmetries.iter().filter(keeps).copied().collect();
        tree
    }
}

impl<const R: usize> CosetNumbers<R> {
    /// For each move, the views, a bit each, whose bounds on the other side it keeps.
    fn inherited(&self) -> Vec<u32> {
        let of = |one: usize| {
            let views = self.views.iter().enumerate();
            views.fold(0, |mask, (v, view)| mask | ((view.stay >> one & 1) as u32) << v)
        };
        (0..self.puzzle.moves.len()).map(of).collect()
    }
}

/// A state and its inverse, with what is known of them.
#[derive(Clone, Copy)]
pub(crate) struct SidedNode<const R: usize> {
    states: [PointMap<R>; 2],
    /// For each side, the bound through each view, a byte each.
    low: [u64; 2],
    word: [u32; 2],
}

impl<const R: usize> SidedNode<R> {
    fn bound(&self) -> usize {
        let bytes = self.low.iter().flat_map(|low| low.to_le_bytes());
        bytes.max().unwrap_or(0).into()
    }
}

/// The tree below a state.
pub(crate) struct SidedTree<'s, const R: usize> {
    numbers: &'s CosetNumbers<R>,
    lines: &'s [u8],
    base: u8,
    words: &'s [WordMasks; 2],
    /// The inverse of each move.
    inverse: Vec<PointMap<R>>,
    inherited: Vec<u32>,
    kernel: Kernel,
    root: SidedNode<R>,
    odd: Option<usize>,
    /// The symmetries that keep the root.
    fixing: Vec<PointMap<R>>,
}

/// The byte of a view.
#[inline(always)]
fn byte(low: u64, view: usize) -> u8 {
    (low >> (8 * view)) as u8
}

impl<const R: usize> SidedTree<'_, R> {
    /// On which side to branch, and with which moves; none if there is no solution below.
    #[inline(always)]
    fn branch(&self, low: [u64; 2], word: [u32; 2], room: u8, both: bool) -> (usize, u64) {
        let mut allowed = [0, 1].map(|side| self.words[side].allowed[word[side] as usize]);
        for (v, view) in self.numbers.views.iter().enumerate() {
            for side in 0..2 {
                if byte(low[side], v) == room {
                    allowed[1 - side] &= !view.stay;
                }
            }
        }
        let side = usize::from(both && allowed[1].count_ones() < allowed[0].count_ones());
        (side, if allowed[1 - side] == 0 { 0 } else { allowed[side] })
    }

    /// The bounds of a node's children before any look-up: on the side that moves, one less than the node's; on the other
    /// side the node's own, of which a move inherits some.
    #[inline(always)]
    fn lowered(&self, low: [u64; 2], side: usize) -> [u64; 2] {
        let mut lowered = low;
        lowered[side] = (0..self.numbers.views.len())
            .fold(0, |all, v| all | u64::from(byte(low[side], v).saturating_sub(1)) << (8 * v));
        lowered
    }

    /// The look-ups of a child: a bit for each view of the side that did not move, then of the one that did.
    #[inline(always)]
    fn to_look_up(&self, one: usize) -> u32 {
        let all = (1 << (2 * self.numbers.views.len())) - 1;
        all & !self.inherited[one]
    }

    /// The child of a node by a move, without look-ups; `lowered` are its bounds.
    ///
    /// # Safety
    /// The processor has the instructions.
    #[inline(always)]
    unsafe fn child<I: Isa>(
        &self,
        node: &SidedNode<R>,
        (side, one): (usize, usize),
        lowered: [u64; 2],
        to: &mut SidedNode<R>,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let (own, other) = (node.states[side].load::<I>(), node.states[1 - side].load::<I>());
            let made = self.numbers.puzzle.moves[one].load::<I>();
            to.states[side].store::<I>(after::<I, R>(&own, &made));
            let undone = self.inverse[one].load::<I>();
            to.states[1 - side].store::<I>(after::<I, R>(&undone, &other));
        }
        to.low[side] = lowered[side];
        let mut kept = 0;
        let mut views = self.inherited[one];
        while views != 0 {
            kept |= 0xff << (8 * views.trailing_zeros());
            views &= views - 1;
        }
        to.low[1 - side] = lowered[1 - side] & kept;
        to.word = node.word;
        to.word[side] = self.words[side].after(node.word[side], one);
    }
}

/// Raises the bound of a view.
#[inline(always)]
fn raise<const R: usize>(node: &mut SidedNode<R>, side: usize, view: usize, bound: u8) {
    let (shift, low) = (8 * view, node.low[side]);
    let bound = u64::from(bound.max(byte(low, view)));
    node.low[side] = low & !(0xff << shift) | bound << shift;
}

// One node, or all nodes of some subtrees, for each instruction set.

/// Looks up the views of side 0, then of side 1, given as bits; ends when a bound exceeds the room, and says so.
#[inline(always)]
unsafe fn evaluate<I: Isa, const R: usize>(
    tree: &SidedTree<'_, R>,
    node: &mut SidedNode<R>,
    views: u32,
    room: u8,
) -> bool {
    let count = tree.numbers.views.len();
    for id in (0..2 * count).filter(|id| views >> id & 1 == 1) {
        let (side, view) = (id / count, id % count);
        // SAFETY: the caller's promise that the processor has the instructions.
        let place = unsafe {
            let state = node.states[side].load::<I>();
            let first = tree.numbers.first_of::<I>(&state, view);
            tree.numbers.place::<I>(&state, view, first)
        };
        let bound = CosetTable::bound_at(tree.lines, tree.base, place);
        raise(node, side, view, bound);
        if bound > room {
            return false;
        }
    }
    true
}

/// [`SidedTree::child`] by itself.
#[inline(always)]
unsafe fn one_child<I: Isa, const R: usize>(
    tree: &SidedTree<'_, R>,
    node: &SidedNode<R>,
    by: (usize, usize),
    to: &mut SidedNode<R>,
) {
    // SAFETY: the caller's promise that the processor has the instructions.
    unsafe { tree.child::<I>(node, by, tree.lowered(node.low, by.0), to) }
}

/// A node whose look-ups are under way.
#[derive(Clone, Copy)]
struct Flying<const R: usize> {
    node: SidedNode<R>,
    /// The views still to be looked up: see [`SidedTree::to_look_up`].
    views: u32,
    /// The subtree.
    live: u32,
    /// The side that moved.
    side: u8,
    /// The moves that are left.
    room: u8,
}

/// A look-up: first the value of the first sets, then line and bit.
#[derive(Clone, Copy, Default)]
struct LookUp {
    of: u32,
    at: u32,
    bit: u32,
    side: u8,
    view: u8,
}

/// A subtree that is searched.
#[derive(Clone, Copy, Default)]
struct Live {
    place: usize,
    nodes: u64,
    /// Number of its nodes on the stack and in the queue.
    count: u32,
    /// Whether it holds a solution.
    ended: bool,
}

/// Searches subtrees with this number of moves left in each.
#[inline(always)]
unsafe fn fly<I: Isa, const R: usize>(
    tree: &SidedTree<'_, R>,
    room: u8,
    work: &mut dyn Subtrees<SidedNode<R>>,
) {
    let count = tree.numbers.views.len();
    let solved = PointMap::<R>::identity();
    let blank = Flying { node: tree.root, views: 0, live: 0, side: 0, room: 0 };
    let mut pool = [blank; FLIGHT];
    let mut free: Vec<u32> = (0..FLIGHT as u32).collect();
    let mut ring = [LookUp::default(); RING];
    let (mut head, mut waiting, mut unasked) = (0usize, 0usize, 0usize);
    let mut stack: Vec<Flying<R>> = Vec::new();
    let (mut live, mut free_live): (Vec<Live>, Vec<u32>) = (Vec::new(), Vec::new());
    // The node whose children come next, its side, their bounds, and the moves that are left.
    let (mut parent, mut lowered, mut moves) = (blank, [0; 2], 0u64);
    let (mut is_parent, mut exhausted) = (false, false);
    let mut unsaid = 0;
    // One node less in a subtree.
    macro_rules! release {
        ($of:expr) => {
            let index = $of;
            let own = &mut live[index as usize];
            own.count -= 1;
            if own.count == 0 {
                free_live.push(index);
                if !own.ended {
                    work.done(own.place, own.nodes, SubtreeEnd::Searched);
                }
            }
        };
    }
    // Asks for the lines of the last look-ups: indices first, then nothing but prefetches.
    macro_rules! ask {
        ($count:expr) => {
            let first = head + waiting - $count;
            for k in first..head + waiting {
                let look_up = &mut ring[k % RING];
                let flying = &pool[look_up.of as usize];
                // SAFETY: the caller's promise that the processor has the instructions.
                unsafe {
                    let state = flying.node.states[usize::from(look_up.side)].load::<I>();
                    let view = usize::from(look_up.view);
                    (look_up.at, look_up.bit) = tree.numbers.place::<I>(&state, view, look_up.at);
                }
            }
            for k in first..head + waiting {
                let line = ring[k % RING].at as usize * 64;
                prefetch::<1, _>(tree.lines.as_ptr().wrapping_add(line));
            }
        };
    }
    loop {
        let mut fresh = None;
        if waiting < FLIGHT {
            if moves != 0 {
                let one = moves.trailing_zeros() as usize;
                moves &= moves - 1;
                live[parent.live as usize].nodes += 1;
                live[parent.live as usize].count += 1;
                unsaid += 1;
                let Some(index) = free.pop() else { unreachable!("as many as may wait") };
                let child = &mut pool[index as usize];
                let side = usize::from(parent.side);
                // SAFETY: the caller's promise that the processor has the instructions.
                unsafe { tree.child::<I>(&parent.node, (side, one), lowered, &mut child.node) };
                child.views = tree.to_look_up(one);
                (child.live, child.side, child.room) = (parent.live, parent.side, parent.room - 1);
                fresh = Some(index);
            } else {
                if std::mem::take(&mut is_parent) {
                    release!(parent.live);
                }
                if unsaid >= ASK_EVERY {
                    let own = live.iter().filter(|own| own.count > 0 && !own.ended);
                    let place = own.map(|own| own.place).min().unwrap_or(0);
                    let stops = work.ask(unsaid, place);
                    unsaid = 0;
                    if stops {
                        for own in live.drain(..).filter(|own| own.count > 0 && !own.ended) {
                            work.done(own.place, own.nodes, SubtreeEnd::Stopped);
                        }
                        (free_live, waiting, unasked) = (Vec::new(), 0, 0);
                        free = (0..FLIGHT as u32).collect();
                        stack.clear();
                    }
                }
                if let Some(next) = stack.pop() {
                    let own = if live[next.live as usize].ended {
                        0
                    } else {
                        let SidedNode { low, word, .. } = next.node;
                        let (side, own) = tree.branch(low, word, next.room, true);
                        lowered = tree.lowered(low, side);
                        parent = Flying { side: side as u8, ..next };
                        own
                    };
                    if own == 0 {
                        release!(next.live);
                    } else {
                        (moves, is_parent) = (own, true);
                    }
                    continue;
                }
                if !exhausted {
                    match work.next() {
                        Some((place, start)) => {
                            let index = free_live.pop().unwrap_or_else(|| {
                                live.push(Live::default());
                                live.len() as u32 - 1
                            });
                            live[index as usize] = Live { place, nodes: 0, count: 1, ended: false };
                            stack.push(Flying { node: *start, live: index, room, ..blank });
                        }
                        None => exhausted = true,
                    }
                    continue;
                }
                if waiting == 0 {
                    break;
                }
            }
        }
        let index = match fresh {
            Some(index) => index,
            None => {
                // The oldest look-up.
                if unasked == waiting {
                    ask!(unasked);
                    unasked = 0;
                }
                let LookUp { of, at, bit, side, view } = ring[head % RING];
                head += 1;
                waiting -= 1;
                let flying = &mut pool[of as usize];
                let bound = CosetTable::bound_at(tree.lines, tree.base, (at, bit));
                if bound > flying.room {
                    let own = flying.live;
                    free.push(of);
                    release!(own);
                    continue;
                }
                raise(&mut flying.node, side.into(), view.into(), bound);
                of
            }
        };
        let flying = &mut pool[index as usize];
        if flying.views == 0 {
            free.push(index);
            let own = flying.live;
            if flying.room > 0 {
                stack.push(*flying);
            } else {
                if flying.node.states[0] == solved && !live[own as usize].ended {
                    live[own as usize].ended = true;
                    let Live { place, nodes, .. } = live[own as usize];
                    work.done(place, nodes, SubtreeEnd::Solved);
                }
                release!(own);
            }
            continue;
        }
        let id = flying.views.trailing_zeros() as usize;
        flying.views &= flying.views - 1;
        let (side, view) = match id < count {
            true => (1 - flying.side, id),
            false => (flying.side, id - count),
        };
        // SAFETY: the caller's promise that the processor has the instructions.
        let at = unsafe {
            let state = flying.node.states[usize::from(side)].load::<I>();
            tree.numbers.first_of::<I>(&state, view)
        };
        ring[(head + waiting) % RING] = LookUp { of: index, at, bit: 0, side, view: view as u8 };
        waiting += 1;
        unasked += 1;
        if unasked == BURST {
            ask!(BURST);
            unasked = 0;
        }
    }
    work.ask(unsaid, 0);
}

/// What is compiled for each instruction set and number of registers.
pub(crate) trait SidedKernels<const R: usize> {
    fn evaluate(
        kernel: Kernel,
        tree: &SidedTree<'_, R>,
        node: &mut SidedNode<R>,
        views: u32,
        room: u8,
    ) -> bool;
    fn child(
        kernel: Kernel,
        tree: &SidedTree<'_, R>,
        node: &SidedNode<R>,
        by: (usize, usize),
        to: &mut SidedNode<R>,
    );
    fn fly(
        kernel: Kernel,
        tree: &SidedTree<'_, R>,
        room: u8,
        work: &mut dyn Subtrees<SidedNode<R>>,
    );
}

/// Puzzles of one and of two registers.
pub(crate) struct Sides;

macro_rules! kernels {
    ($($R:literal)*) => {$(
        impl SidedKernels<$R> for Sides {
            fn evaluate(
                kernel: Kernel,
                tree: &SidedTree<'_, $R>,
                node: &mut SidedNode<$R>,
                views: u32,
                room: u8,
            ) -> bool {
                dispatch!(kernel, evaluate<I, $R>(
                    tree: &SidedTree<'_, $R>,
                    node: &mut SidedNode<$R>,
                    views: u32,
                    room: u8
                ) -> bool)
            }

            fn child(
                kernel: Kernel,
                tree: &SidedTree<'_, $R>,
                node: &SidedNode<$R>,
                by: (usize, usize),
                to: &mut SidedNode<$R>,
            ) {
                dispatch!(kernel, one_child<I, $R>(
                    tree: &SidedTree<'_, $R>,
                    node: &SidedNode<$R>,
                    by: (usize, usize),
                    to: &mut SidedNode<$R>
                ))
            }

            fn fly(
                kernel: Kernel,
                tree: &SidedTree<'_, $R>,
                room: u8,
                work: &mut dyn Subtrees<SidedNode<$R>>,
            ) {
                dispatch!(kernel, fly<I, $R>(
                    tree: &SidedTree<'_, $R>,
                    room: u8,
                    work: &mut dyn Subtrees<SidedNode<$R>>
                ))
            }
        }
    )*};
}

kernels!(1 2);

// The walk in the order of the moves.

/// The children of a node that are not cut off.
pub(crate) struct SidedLevel<const R: usize> {
    children: Vec<(SidedNode<R>, u16)>,
    below: (SidedNode<R>, u16),
}

impl<const R: usize> MoveTree for SidedTree<'_, R>
where
    Sides: SidedKernels<R>,
{
    type Node = SidedNode<R>;
    type Level = SidedLevel<R>;
    const LAST_FIRST: bool = true;
    const DENSEST_FIRST: bool = true;

    fn at_least(&self, bound: usize) -> usize {
        bound + (bound + self.odd.unwrap_or(bound % 2)) % 2
    }

    fn can_split(&self, subtrees: usize) -> bool {
        let each = size_of::<Subtree<SidedNode<R>>>() + size_of::<SidedNode<R>>();
        subtrees * self.inverse.len() * each <= SPLIT_BYTES
    }

    fn root(&self, _limit: usize) -> SidedNode<R> {
        self.root
    }

    fn level(&self) -> SidedLevel<R> {
        SidedLevel { children: Vec::new(), below: (self.root, 0) }
    }

    fn expand(walk: &mut Walk<'_, Self>, depth: usize) -> u64 {
        let tree = walk.tree;
        let node = depth.checked_sub(1).map_or(walk.at, |above| walk.levels[above].below.0);
        let room = walk.slack.room;
        // Subtrees begin after next moves, so that equal ones are found.
        let splits = room as usize > walk.levels.len() - depth;
        let (side, mut moves) = tree.branch(node.low, node.word, room.min(255) as u8, !splits);
        let children = &mut walk.levels[depth].children;
        children.clear();
        let nodes = moves.count_ones().into();
        let count = tree.numbers.views.len();
        while moves != 0 {
            let one = moves.trailing_zeros() as usize;
            moves &= moves - 1;
            let mut child = node;
            Sides::child(tree.kernel, tree, &node, (side, one), &mut child);
            let inherited = tree.inherited[one] << (count * (1 - side));
            let room = (room - 1).min(255) as u8;
            if Sides::evaluate(tree.kernel, tree, &mut child, !inherited, room) {
                children.push((child, one as u16 | if side == 1 { BACK } else { 0 }));
            }
        }
        let all = tree.words[side].allowed[node.word[side] as usize].count_ones();
        if children.len() < all as usize {
            walk.slack.excess = walk.slack.excess.min(1);
        }
        nodes
    }

    fn enter(walk: &mut Walk<'_, Self>, depth: usize) -> bool {
        let level = &mut walk.levels[depth];
        let child = level.children.pop();
        level.below = child.unwrap_or(level.below);
        child.is_some()
    }

    fn step(level: &SidedLevel<R>) -> u16 {
        level.below.1
    }

    fn is_goal(walk: &Walk<'_, Self>) -> bool {
        let node = walk.levels.last().map_or(&walk.at, |level| &level.below.0);
        node.states[0] == PointMap::identity()
    }

    fn node(walk: &Walk<'_, Self>) -> SidedNode<R> {
        walk.levels.last().map_or(walk.at, |level| level.below.0)
    }

    fn solution(&self, steps: Vec<u16>) -> Vec<u16> {
        let last = steps.iter().rev().filter(|step| **step & BACK != 0);
        let undone = last.map(|step| self.numbers.puzzle.inverse[usize::from(step & !BACK)].into());
        let next = steps.iter().copied().filter(|step| step & BACK == 0);
        next.chain(undone).collect()
    }

    /// Of subtrees whose states the root's own symmetries take to each other, the first one suffices: the first of all
    /// shortest solutions in the order of the moves begins with it.
    fn distinct(&self, subtrees: &mut Vec<Subtree<SidedNode<R>>>) {
        if self.fixing.len() < 2 {
            return;
        }
        let mut known = HashSet::new();
        subtrees.retain(|subtree| {
            let state = &subtree.start.states[0];
            let images = self.fixing.iter().map(|g| g.after(state).after(&g.inverse()));
            known.insert(images.min().unwrap_or(*state))
        });
    }

    fn sweep(&self, room: usize, work: &mut dyn Subtrees<SidedNode<R>>) -> bool {
        let Ok(room) = u8::try_from(room) else { return false };
        Sides::fly(self.kernel, self, room, work);
        true
    }
}
