//! Long windows: those that take several elements from the front of a line into a block.
//!
//! A window that one element crosses has one variant of its tables for each place where that element may
//! stand among the block's own; with k of them it is k-th powers, and reversals of long pieces would need
//! gigabytes. So a long window is carried out in turn: first a window that leaves its first element in
//! place, then the rotation that brings that element to where it goes. Reversals of ever longer pieces
//! share all but their last rotation, so a level costs one pass over one array for each of them.
//!
//! Invariant: the array of a chain holds, for every line, the byte of the line that the chain's windows so
//! far take to it.

use super::arriving::{Arriving, BYTE};
use super::expand::{Expansion, Frontier};
use super::groups::{Arrival, Groups};
use super::search::SearchError;
use crate::Error;
use crate::perm::gather::SourceBlocks;
use crate::perm::kernel::{Kernel, Program, Rule, Transfer};
use crate::perm::layout::Layout;
use crate::puzzle::Window;

/// Elements that may cross between the front of a line and a block at a time.
const CROSSING: usize = 1;

/// Whether a window is carried out in turn.
pub(super) fn is_long(layout: Layout, window: &Window) -> bool {
    SourceBlocks::crossing(layout, window) > CROSSING
}

/// A part of a chain: the array that it needs, what it does, and what follows.
struct Link {
    /// The step that fills its array, `None` when no link follows.
    fill: Option<Arriving>,
    /// The step that joins the states to those of the target group, `None` where no move ends here.
    join: Option<Arriving>,
    next: Vec<Link>,
}

/// All long windows into one group.
pub(super) struct Relay {
    /// First links: they read the current level.
    chains: Vec<Link>,
    layout: Layout,
}

/// A pass over all blocks of an array: what is read, and what it is joined to or takes the place of. Returns
/// false when interrupted.
pub(super) type Pass<'a> = dyn FnMut(Expansion<'_>, &mut Frontier) -> bool + 'a;

impl Relay {
    /// Returns the long windows into a group of a class, `None` when there are none.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn new(
        kernel: Kernel,
        layout: Layout,
        groups: &Groups,
        (class, group): (usize, usize),
    ) -> Result<Option<Relay>, SearchError> {
        let before = groups.class(groups.next(class));
        let plans = plans(layout, groups, (class, group)).into_iter();
        let chain = |(from, plan): (usize, Plan)| {
            let source = (from, before[from].parity);
            Link::new(kernel, layout, plan, source)
        };
        let chains: Vec<Link> = plans.map(chain).collect::<Result<_, _>>()?;
        Ok((!chains.is_empty()).then_some(Relay { chains, layout }))
    }

    /// Joins the states that the long windows lead to from `cur` in `joined`, whose content is replaced.
    /// `spare` are arrays of one group each, grown as needed.
    pub fn run(
        &self,
        cur: &Frontier,
        joined: &mut Frontier,
        spare: &mut Vec<Frontier>,
        pass: &mut Pass,
    ) -> Result<bool, Error> {
        joined.clear(self.layout);
        for chain in &self.chains {
            if !chain.run(self.layout, Held::Level(cur), joined, spare, pass)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What a link reads.
enum Held<'a> {
    /// The current level, which stays.
    Level(&'a Frontier),
    /// The array of the link before it, which it may give back.
    Last(Frontier),
    /// The same, which other links need too.
    Shared(&'a Frontier),
}

impl Link {
    fn new(
        kernel: Kernel,
        layout: Layout,
        plan: Plan,
        (from, source): (usize, usize),
    ) -> Result<Link, SearchError> {
        let parity = source ^ usize::from(!plan.last.is_even());
        let step = |bits: &[(u8, u8)], rule| {
            let (window, bits) = (plan.last.clone(), bits.to_vec());
            let program = Program::new(kernel, layout, &[Transfer { window, bits }])?;
            Ok::<Arriving, SearchError>(Arriving {
                program,
                from: vec![from],
                parity,
                group: 0,
                rule,
            })
        };
        let fill = !plan.next.is_empty();
        let fill = fill.then(|| step(&BYTE, Rule::Replace)).transpose()?;
        let join = !plan.bits.is_empty();
        let join = join.then(|| step(&plan.bits, Rule::Join)).transpose()?;
        let next = plan.next.into_iter();
        Ok(Link {
            fill,
            join,
            next: next
                .map(|plan| Link::new(kernel, layout, plan, (0, parity)))
                .collect::<Result<_, _>>()?,
        })
    }

    fn run(
        &self,
        layout: Layout,
        held: Held,
        joined: &mut Frontier,
        spare: &mut Vec<Frontier>,
        pass: &mut Pass,
    ) -> Result<bool, Error> {
        let cur = match &held {
            Held::Level(cur) | Held::Shared(cur) => cur,
            Held::Last(cur) => cur,
        };
        let expansion = |step| Expansion {
            layout,
            step,
            cur,
            first: 0,
            blocks: layout.blocks(),
        };
        if let Some(join) = &self.join
            && !pass(expansion(join), joined)
        {
            return Ok(false);
        }
        let Some(fill) = &self.fill else {
            if let Held::Last(array) = held {
                spare.push(array);
            }
            return Ok(true);
        };
        let mut own = match spare.pop() {
            Some(array) => array,
            None => Frontier::empty(layout, layout.blocks())?,
        };
        if !pass(expansion(fill), &mut own) {
            return Ok(false);
        }
        if let Held::Last(array) = held {
            spare.push(array);
        }
        let (last, others) = self.next.split_last().expect("what is filled is read");
        for link in others {
            if !link.run(layout, Held::Shared(&own), joined, spare, pass)? {
                return Ok(false);
            }
        }
        last.run(layout, Held::Last(own), joined, spare, pass)
    }
}

/// A link before its tables are made.
struct Plan {
    done: Window,
    /// The window that leads here from the link before.
    last: Window,
    bits: Vec<(u8, u8)>,
    next: Vec<Plan>,
}

impl Plan {
    /// How many arrays are in use at a time, that which the link reads not counted.
    fn arrays(&self) -> usize {
        let deeper = self.next.iter().map(|plan| 1 + plan.arrays());
        deeper.max().unwrap_or(0)
    }
}

/// Returns how many arrays of one group the long windows into a group take.
pub(super) fn arrays(layout: Layout, groups: &Groups, at: (usize, usize)) -> usize {
    let plans = plans(layout, groups, at);
    let most = plans.iter().map(|(_, plan)| plan.arrays()).max();
    most.map_or(0, |most| 1 + most)
}

/// The chains of the long windows into a group of a class, with the group that each begins at.
fn plans(layout: Layout, groups: &Groups, (class, group): (usize, usize)) -> Vec<(usize, Plan)> {
    let arrivals = groups.arrivals(class)[group].iter();
    let long: Vec<&Arrival> = arrivals
        .filter(|a| is_long(layout, &a.transfer.window))
        .collect();
    let from_group = |from| {
        let mut plans = Vec::new();
        for arrival in long.iter().filter(|a| a.from == from) {
            plant(layout, &mut plans, &arrival.transfer);
        }
        plans.into_iter().map(move |plan| (from, plan))
    };
    let before = 0..groups.class(groups.next(class)).len();
    before.flat_map(from_group).collect()
}

/// Adds a transfer to the chains.
fn plant(layout: Layout, chains: &mut Vec<Plan>, transfer: &Transfer) {
    // The windows from the first link to the transfer's: each leaves one more element in place.
    let mut path = vec![(transfer.window.clone(), transfer.window.clone())];
    while let Some((done, last)) = path.last_mut()
        && is_long(layout, done)
    {
        let first = done.first();
        let to = (first..=done.last()).find(|&x| done.source(x) == first);
        let rotation = Window::rotate_left(first, to.expect("a permutation has every source"));
        let before = done.then(&rotation.inverse());
        *last = rotation;
        path.push((before.clone(), before));
    }
    let mut level = chains;
    let mut bits = Some(&transfer.bits);
    let ends = path.len() - 1;
    for (at, (done, last)) in path.into_iter().rev().enumerate() {
        let known = level.iter().position(|plan| plan.done == done);
        let known = known.unwrap_or_else(|| {
            level.push(Plan {
                done,
                last,
                bits: Vec::new(),
                next: Vec::new(),
            });
            level.len() - 1
        });
        if at == ends {
            level[known].bits.extend(bits.take().into_iter().flatten());
        }
        level = &mut level[known].next;
    }
}
