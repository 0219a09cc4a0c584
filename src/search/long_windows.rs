//! Long windows: those that take several elements at once into a block or into the lanes.
//!
//! A window that one element crosses has a variant of its tables for each place where that element may
//! stand among a block's own; with k of them it is k-th powers, and reversals of long pieces would need
//! gigabytes of tables and sixty registers for each. So a long window is carried out in turn: first a
//! window that leaves its first element in place, then the rotation that brings that element to where it
//! goes. Reversals of ever longer pieces share all but their last rotation.
//!
//! A link of such a **chain** whose window begins at position a moves bytes only between lines that share
//! their first a elements: a superblock. So all links but the last few are carried out one superblock after the
//! other, by each thread on its own, in arrays that fit the caches; what begins too far in front passes over whole
//! arrays.
//!
//! Invariant: the array of a link holds, for every line, the byte of the line that the chain's windows up
//! to it take to it.

use crate::Error;
use crate::kernel::{Kernel, Rule, StepProgram, Tally, Transfer};
use crate::perm::layout::{Layout, Register};
use crate::perm::move_table::{Gathers, crossing_table};
use crate::puzzle::Window;
use crate::search::classes::{Arriving, BYTE, Groups, IncomingMoves};
use crate::search::error::SearchError;
use crate::search::expander::{Expansion, Frontier, PredecessorBlocks, Tasks};

/// Superblocks for each thread, so that none waits long for the others.
const PER_THREAD: usize = 4;

/// Whether a window is carried out in turn.
pub(crate) fn is_long(layout: Layout, window: &Window) -> bool {
    crossing_table(layout, window) > 1
}

/// Number of blocks whose lines share their first digits.
fn blocks(layout: Layout, digits: usize) -> usize {
    (digits..layout.block_prefix()).map(|x| layout.radix(x)).product()
}

/// A link before its tables are made.
#[derive(Clone)]
struct LinkPlan {
    /// What all windows up to here come to.
    done: Window,
    /// The window that leads here from the link before.
    last: Window,
    /// The bits of the moves that end here.
    bits: Vec<(u8, u8)>,
}

/// The links from the current level to a transfer: each window leaves one element less in place.
fn chain_of(layout: Layout, transfer: &Transfer) -> Vec<LinkPlan> {
    let mut links = Vec::new();
    let mut done = transfer.window.clone();
    while is_long(layout, &done) {
        let first = done.first();
        let to = (first..=done.last()).find(|&x| done.source(x) == first);
        let last = Window::rotate_left(first, to.expect("a permutation has every source"));
        let before = done.then(&last.inverse());
        let bits = Vec::new();
        links.push(LinkPlan { done, last, bits });
        done = before;
    }
    links.push(LinkPlan { last: done.clone(), done, bits: Vec::new() });
    links.reverse();
    if let Some(end) = links.last_mut() {
        end.bits = transfer.bits.clone();
    }
    links
}

/// The chains of the long windows into a group of a class, with the group that each begins at. A chain that is
/// the beginning of another is part of it.
fn plans(layout: Layout, groups: &Groups, at: (usize, usize)) -> Vec<(usize, Vec<LinkPlan>)> {
    let arrivals = groups.arrivals(at.0)[at.1].iter();
    let mut long: Vec<&IncomingMoves> =
        arrivals.filter(|a| is_long(layout, &a.transfer.window)).collect();
    long.sort_by_key(|a| std::cmp::Reverse(chain_of(layout, &a.transfer).len()));
    let mut chains: Vec<(usize, Vec<LinkPlan>)> = Vec::new();
    for arrival in long {
        let chain = chain_of(layout, &arrival.transfer);
        let same = |links: &[LinkPlan]| {
            let begin = links.iter().map(|link| &link.done);
            begin.eq(chain.iter().map(|link| &link.done))
        };
        let end = chain.len() - 1;
        let found = chains.iter_mut().find(|(from, links)| {
            *from == arrival.from && links.len() > end && same(&links[..=end])
        });
        match found {
            Some((_, links)) => links[end].bits.extend(&arrival.transfer.bits),
            None => chains.push((arrival.from, chain)),
        }
    }
    chains
}

/// How many of a chain's links are carried out superblock by superblock, and the digits that those share.
fn local(layout: Layout, links: &[LinkPlan], threads: usize) -> (usize, usize) {
    let digits = |link: &LinkPlan| link.last.first().min(layout.block_prefix());
    let enough = |digits| layout.blocks() / blocks(layout, digits) >= threads * PER_THREAD;
    let count = links.iter().take_while(|link| enough(digits(link))).count();
    (count, count.checked_sub(1).map_or(0, |last| digits(&links[last])))
}

/// Returns how many arrays of one group the long windows into a group take.
pub(crate) fn arrays(layout: Layout, groups: &Groups, at: (usize, usize), threads: usize) -> usize {
    let whole = |(_, links): &(usize, Vec<LinkPlan>)| {
        // Each link reads the array of the one before, and all but the last fill one.
        match links.len() - local(layout, links, threads).0 {
            0 => 0,
            1 => 1,
            _ => 2,
        }
    };
    let most = plans(layout, groups, at).iter().map(whole).max();
    most.map_or(0, |most| 1 + most)
}

/// What one link does.
struct Link {
    /// Fills its array, `None` for the last one.
    fill: Option<Arriving>,
    /// Joins the states to those of the target group, `None` where no move ends here.
    join: Option<Arriving>,
    /// Digits that the superblocks share that it moves bytes within.
    digits: usize,
}

/// Long windows from one group into another.
struct WindowChain {
    links: Vec<Link>,
    /// Links that are carried out superblock by superblock.
    local: usize,
}

impl WindowChain {
    fn new(
        kernel: Kernel,
        tables: &Gathers,
        plans: &[LinkPlan],
        (from, mut parity): (usize, usize),
        threads: usize,
    ) -> Result<WindowChain, SearchError> {
        let layout = tables.layout();
        let link = |(at, plan): (usize, &LinkPlan)| {
            parity ^= usize::from(!plan.last.is_even());
            let step = |bits: &[(u8, u8)], rule| {
                let (window, bits) = (plan.last.clone(), bits.to_vec());
                let program =
                    StepProgram::shared(kernel, tables, &[Transfer { window, bits }], &[])?;
                Ok::<Arriving, SearchError>(Arriving {
                    program,
                    from: vec![if at == 0 { from } else { 0 }],
                    parity,
                    group: 0,
                    rule,
                })
            };
            let fill = (at + 1 < plans.len()).then(|| step(&BYTE, Rule::Replace));
            let join = (!plan.bits.is_empty()).then(|| step(&plan.bits, Rule::Join));
            Ok::<Link, SearchError>(Link {
                fill: fill.transpose()?,
                join: join.transpose()?,
                digits: plan.last.first().min(layout.block_prefix()),
            })
        };
        Ok(WindowChain {
            links: plans.iter().enumerate().map(link).collect::<Result<_, _>>()?,
            local: local(layout, plans, threads).0,
        })
    }
}

/// All long windows into one group.
pub(crate) struct Relay {
    layout: Layout,
    chains: Vec<WindowChain>,
}

/// A pass over all blocks of an array: what is read, and what it is joined to or takes the place of. Returns
/// false when interrupted.
pub(crate) type RelayPass<'a> = dyn Fn(Expansion<'_>, &mut Frontier) -> bool + Sync + 'a;

impl Relay {
    /// Returns the long windows into a group of a class, `None` when there are none.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn new(
        kernel: Kernel,
        tables: &Gathers,
        groups: &Groups,
        at: (usize, usize),
    ) -> Result<Option<Relay>, SearchError> {
        let (layout, threads) = (tables.layout(), rayon::current_num_threads());
        let before = groups.class(groups.next(at.0));
        let plans = plans(layout, groups, at);
        let chain = |(from, links): &(usize, Vec<LinkPlan>)| {
            let source = (*from, before[*from].parity);
            WindowChain::new(kernel, tables, links, source, threads)
        };
        let chains: Vec<WindowChain> = plans.iter().map(chain).collect::<Result<_, _>>()?;
        Ok((!chains.is_empty()).then_some(Relay { layout, chains }))
    }

    /// Returns the windows whose tables the relay needs.
    pub fn windows(layout: Layout, groups: &Groups, at: (usize, usize)) -> Vec<Window> {
        let plans = plans(layout, groups, at).into_iter();
        plans.flat_map(|(_, links)| links).map(|link| link.last).collect()
    }

    /// Joins the states that the long windows lead to from `cur` in `joined`, whose content is replaced.
    /// `spare` are arrays of one group each, made as needed. Returns false when interrupted.
    ///
    /// # Errors
    /// Memory that is not there.
    pub fn run(
        &self,
        cur: &Frontier,
        joined: &mut Frontier,
        spare: &mut Vec<Frontier>,
        interrupted: &(dyn Fn() -> bool + Sync),
        pass: &RelayPass,
    ) -> Result<bool, Error> {
        let layout = self.layout;
        joined.clear(layout);
        for chain in &self.chains {
            let whole = &chain.links[chain.local..];
            let mut held = None;
            if chain.local > 0 {
                held = match whole.is_empty() {
                    true => None,
                    false => Some(self.spare(spare)?),
                };
                if !self.superblocks(chain, cur, held.as_mut(), joined, interrupted)? {
                    return Ok(false);
                }
            }
            for link in whole {
                let expansion = |step| Expansion {
                    layout,
                    step,
                    cur: held.as_ref().unwrap_or(cur),
                    first: 0,
                    blocks: layout.blocks(),
                    reach: &[],
                };
                if let Some(join) = &link.join
                    && !pass(expansion(join), joined)
                {
                    return Ok(false);
                }
                let mut next = None;
                if let Some(fill) = &link.fill {
                    let mut array = self.spare(spare)?;
                    if !pass(expansion(fill), &mut array) {
                        return Ok(false);
                    }
                    next = Some(array);
                }
                spare.extend(held.take());
                held = next;
            }
        }
        Ok(true)
    }

    fn spare(&self, spare: &mut Vec<Frontier>) -> Result<Frontier, Error> {
        match spare.pop() {
            Some(array) => Ok(array),
            None => Frontier::empty(self.layout, self.layout.blocks()),
        }
    }

    /// Carries out the first links of a chain on all superblocks; `out` is the array of the last of them.
    fn superblocks(
        &self,
        chain: &WindowChain,
        cur: &Frontier,
        out: Option<&mut Frontier>,
        joined: &mut Frontier,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> Result<bool, Error> {
        let layout = self.layout;
        let links = &chain.links[..chain.local];
        let count = blocks(layout, links[links.len() - 1].digits);
        let mut out = out.map(|out| out.parts(layout, count));
        let work = joined.parts(layout, count).enumerate();
        let work: Vec<_> = work
            .map(|(i, joined)| (i * count, joined, out.as_mut().and_then(Iterator::next)))
            .collect();
        let tasks = Tasks::new(work, interrupted);
        let results = rayon::broadcast(|_| {
            let mut scratch = Vec::new();
            for (at, link) in links.iter().enumerate() {
                let size = links.get(at + 1).map_or(0, |next| blocks(layout, next.digits));
                scratch.push(LinkScratch::new(layout, link, size)?);
            }
            while let Some((first, joined, out)) = tasks.next() {
                let mut superblock = Superblock { layout, links, cur, first, joined, out };
                superblock.run(links.len() - 1, first, &mut scratch);
            }
            Ok::<(), Error>(())
        });
        results.into_iter().collect::<Result<(), Error>>()?;
        Ok(!tasks.stopped())
    }
}

/// The blocks of a superblock: registers, and whether each holds any state.
type SuperblockPart<'a> = (&'a mut [Register], &'a mut [bool]);

/// What a thread keeps for a link.
struct LinkScratch {
    /// The link's array over a superblock of the next link; empty for the last.
    array: Frontier,
    /// Sources of a block for filling and joining; and none, of the block after it.
    sources: [Option<[PredecessorBlocks; 2]>; 2],
}

impl LinkScratch {
    fn new(layout: Layout, link: &Link, blocks: usize) -> Result<LinkScratch, Error> {
        let sources = |step: &Option<Arriving>| {
            let step = step.as_ref();
            step.map(|step| [0, 1].map(|_| PredecessorBlocks::new(&step.program)))
        };
        Ok(LinkScratch {
            array: Frontier::empty(layout, blocks)?,
            sources: [&link.fill, &link.join].map(sources),
        })
    }
}

/// One superblock of the last link that is carried out so.
struct Superblock<'a> {
    layout: Layout,
    links: &'a [Link],
    cur: &'a Frontier,
    /// Number of its first block.
    first: usize,
    joined: SuperblockPart<'a>,
    out: Option<SuperblockPart<'a>>,
}

impl Superblock<'_> {
    /// Carries out a link, and those before it, on the superblock of it that begins with block `first`.
    fn run(&mut self, at: usize, first: usize, scratch: &mut [LinkScratch]) {
        let (layout, link) = (self.layout, &self.links[at]);
        let count = blocks(layout, link.digits);
        if let Some(before) = at.checked_sub(1) {
            let part = blocks(layout, self.links[before].digits);
            for first in (first..first + count).step_by(part) {
                self.run(before, first, scratch);
            }
        }
        let (before, own) = scratch.split_at_mut(at);
        let Some(LinkScratch { array, sources }) = own.first_mut() else {
            return;
        };
        let (cur, begin, blocks) = match before.last() {
            Some(before) => (&before.array, first, count),
            None => (self.cur, 0, layout.blocks()),
        };
        let size = layout.block_registers();
        let whole = array.occupied.len();
        let (filled, base): (SuperblockPart, usize) = match &mut self.out {
            Some((registers, occupied)) if whole == 0 => {
                ((&mut registers[..], &mut occupied[..]), self.first)
            }
            _ => (
                (array.registers.units_mut(), &mut array.occupied[..]),
                first - first % whole.max(1),
            ),
        };
        let (registers, occupied) = &mut self.joined;
        let [fill, join] = sources;
        let steps = [
            (&link.fill, fill, filled, base),
            (&link.join, join, (&mut registers[..], &mut occupied[..]), self.first),
        ];
        for (step, sources, (registers, occupied), base) in steps {
            let (Some(step), Some([now, none])) = (step, sources) else {
                continue;
            };
            let expansion = Expansion { layout, step, cur, first: begin, blocks, reach: &[] };
            for block in first..first + count {
                expansion.find(now, block);
                let at = block - base;
                let next = &mut registers[at * size..][..size];
                let _: (Tally, u64) =
                    expansion.block(block, next, &mut occupied[at], &mut [], now, none, &[]);
            }
        }
    }
}
