//! Long windows: those with which several elements at once enter a block or the lanes.
//!
//! A window that one element crosses has one variant of its tables for each place that this element may take among a
//! block's own elements. With k such elements, the number of variants is a k-th power, and reversals of long pieces
//! would need gigabytes of tables and sixty registers for each register. A long window is therefore carried out in
//! stages: first a window that leaves its first element in place, then the rotation that brings this element to its
//! place. Reversals of ever longer pieces share all stages but their last rotation.
//!
//! A link of such a **chain** whose window begins at position a moves bytes only between lines that share their first a
//! elements: a superblock. So each thread carries out all links but the last few on one superblock after another, in
//! arrays that fit in the caches; links that begin too early are passes over whole arrays.
//!
//! Invariant: for every line, the array of a link contains the byte of the line that the chain's windows up to this
//! link take to it.

use crate::{
    Error,
    kernel::{Kernel, Rule, Transfer},
    perm::{
        Layout, Register,
        move_table::{Gathers, crossing_table},
    },
    progress::Progress,
    puzzle::Window,
    search::{
        BYTE, BlockLoop, BlockTarget, Expansion, Frontier, Group, IncomingMoves, IncomingStep,
        SearchError,
    },
    system::SystemError,
    threads::Tasks,
};

/// Number of superblocks per thread, so that no thread waits long for the others.
const PER_THREAD: usize = 4;

/// Whether a window is carried out in stages.
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
    /// The product of all windows up to here.
    done: Window,
    /// The window that leads here from the previous link.
    last: Window,
    /// The bits of the moves that end here.
    bits: Vec<(u8, u8)>,
}

/// The links from the current level to a transfer: each window leaves one fewer element in place.
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

/// The links of some long windows, with the index in its class of the group at which they begin.
pub(crate) struct ChainPlan {
    from: usize,
    links: Vec<LinkPlan>,
}

impl ChainPlan {
    pub fn windows(&self) -> impl Iterator<Item = Window> {
        self.links.iter().map(|link| link.last.clone())
    }

    /// The number of links that are carried out superblock by superblock.
    fn local(&self, layout: Layout, threads: usize) -> usize {
        let digits = |link: &LinkPlan| link.last.first().min(layout.block_prefix());
        let enough = |digits| layout.blocks() / blocks(layout, digits) >= threads * PER_THREAD;
        self.links.iter().take_while(|link| enough(digits(link))).count()
    }
}

/// The chains of the long windows through which moves arrive in a group. A chain that is the beginning of another is
/// part of it.
pub(crate) fn plans(layout: Layout, incoming: &[IncomingMoves]) -> Vec<ChainPlan> {
    let long = incoming.iter().filter(|a| is_long(layout, &a.transfer.window));
    let mut long: Vec<(usize, Vec<LinkPlan>)> =
        long.map(|a| (a.from, chain_of(layout, &a.transfer))).collect();
    long.sort_by_key(|(_, links)| std::cmp::Reverse(links.len()));
    let mut chains: Vec<ChainPlan> = Vec::new();
    for (from, mut links) in long {
        let end = links.len() - 1;
        let begins = |known: &&mut ChainPlan| {
            let same = known.links.iter().zip(&links).filter(|(a, b)| a.done == b.done).count();
            known.from == from && same == links.len()
        };
        match chains.iter_mut().find(begins) {
            Some(known) => known.links[end].bits.append(&mut links[end].bits),
            None => chains.push(ChainPlan { from, links }),
        }
    }
    chains
}

/// Returns the number of one-group arrays that the long windows need for the moves that arrive in a group.
pub(crate) fn arrays(layout: Layout, incoming: &[IncomingMoves], threads: usize) -> usize {
    // Each link reads the array of the previous one, and all but the last fill one.
    let whole = |plan: &ChainPlan| (plan.links.len() - plan.local(layout, threads)).min(2);
    let most = plans(layout, incoming).iter().map(whole).max();
    most.map_or(0, |most| 1 + most)
}

struct Link {
    /// Fills its array; `None` for the last link.
    fill: Option<IncomingStep>,
    /// ORs the states into those of the target group; `None` if no move ends here.
    join: Option<IncomingStep>,
    /// Number of digits shared by the lines of a superblock within which it moves bytes.
    digits: usize,
}

struct WindowChain {
    links: Vec<Link>,
    /// Number of links that are carried out superblock by superblock.
    local: usize,
}

impl WindowChain {
    /// `parity` is the parity of the lines of the group at which the chain begins.
    fn new(
        kernel: Kernel,
        tables: &Gathers,
        plan: &ChainPlan,
        mut parity: usize,
    ) -> Result<WindowChain, SearchError> {
        let layout = tables.layout;
        let link = |(at, link): (usize, &LinkPlan)| {
            parity ^= usize::from(!link.last.is_even());
            let step = |bits: &[(u8, u8)], rule| {
                let (window, bits) = (link.last.clone(), bits.to_vec());
                let from = if at == 0 { plan.from } else { 0 };
                let moves = [IncomingMoves { from, transfer: Transfer { window, bits } }];
                IncomingStep::of(kernel, tables, moves.iter(), &[], (parity, 0, rule))
            };
            let fill = (at + 1 < plan.links.len()).then(|| step(&BYTE, Rule::Replace));
            let join = (!link.bits.is_empty()).then(|| step(&link.bits, Rule::Join));
            Ok::<Link, SearchError>(Link {
                fill: fill.transpose()?,
                join: join.transpose()?,
                digits: link.last.first().min(layout.block_prefix()),
            })
        };
        Ok(WindowChain {
            links: plan.links.iter().enumerate().map(link).collect::<Result<_, _>>()?,
            local: plan.local(layout, rayon::current_num_threads()),
        })
    }
}

pub(crate) struct LongWindows {
    layout: Layout,
    chains: Vec<WindowChain>,
}

/// Arrays of one group each, created as needed.
#[derive(Default)]
pub(crate) struct LongWindowArrays {
    /// The result of [`LongWindows::run`].
    pub joined: Option<Frontier>,
    spare: Vec<Frontier>,
}

impl LongWindowArrays {
    fn take(&mut self, layout: Layout) -> Result<Frontier, Error> {
        let array = self.joined.take().or_else(|| self.spare.pop());
        array.map_or_else(|| Frontier::empty(layout, layout.blocks()), Ok)
    }
}

/// A pass over all blocks of an array: what is read, and what it is ORed into or replaces.
pub(crate) type LongWindowPass<'a> =
    dyn Fn(Expansion<'_>, &mut Frontier) -> Result<(), SystemError> + Sync + 'a;

impl LongWindows {
    /// Returns the long windows into a group from those of the class `before`, or `None` if there are none.
    pub fn new(
        kernel: Kernel,
        tables: &Gathers,
        plans: &[ChainPlan],
        before: &[Group],
    ) -> Result<Option<LongWindows>, SearchError> {
        let chain = |plan| WindowChain::new(kernel, tables, plan, before[plan.from].parity);
        let chains: Vec<WindowChain> = plans.iter().map(chain).collect::<Result<_, _>>()?;
        Ok((!chains.is_empty()).then_some(LongWindows { layout: tables.layout, chains }))
    }

    /// Collects the states that the long windows reach from `cur` in the array `joined`, whose content is replaced.
    pub fn run(
        &self,
        cur: &Frontier,
        arrays: &mut LongWindowArrays,
        observer: &dyn Progress,
        pass: &LongWindowPass,
    ) -> Result<(), Error> {
        let layout = self.layout;
        let mut joined = arrays.take(layout)?;
        joined.clear(layout);
        for chain in &self.chains {
            let whole = &chain.links[chain.local..];
            let mut held = None;
            if chain.local > 0 {
                held = (!whole.is_empty()).then(|| arrays.take(layout)).transpose()?;
                self.superblocks(chain, cur, held.as_mut(), &mut joined, observer)?;
            }
            for link in whole {
                let expansion = |step| Expansion::whole(layout, step, held.as_ref().unwrap_or(cur));
                if let Some(join) = &link.join {
                    pass(expansion(join), &mut joined)?;
                }
                let mut next = None;
                if let Some(fill) = &link.fill {
                    let mut array = arrays.take(layout)?;
                    pass(expansion(fill), &mut array)?;
                    next = Some(array);
                }
                arrays.spare.extend(held.take());
                held = next;
            }
        }
        arrays.joined = Some(joined);
        Ok(())
    }

    /// Carries out the first links of a chain on all superblocks; `out` is the array of the last of these links.
    fn superblocks(
        &self,
        chain: &WindowChain,
        cur: &Frontier,
        out: Option<&mut Frontier>,
        joined: &mut Frontier,
        observer: &dyn Progress,
    ) -> Result<(), Error> {
        let layout = self.layout;
        let links = &chain.links[..chain.local];
        let count = blocks(layout, links[links.len() - 1].digits);
        let mut out = out.map(|out| out.parts(layout, count));
        let work = joined.parts(layout, count).enumerate();
        let work: Vec<_> = work
            .map(|(i, joined)| (i * count, joined, out.as_mut().and_then(Iterator::next)))
            .collect();
        let tasks = Tasks::new(work);
        let results = rayon::broadcast(|_| {
            let mut scratch = Vec::new();
            for (at, link) in links.iter().enumerate() {
                let size = links.get(at + 1).map_or(0, |next| blocks(layout, next.digits));
                let loops = [&link.fill, &link.join].map(|step| step.as_ref().map(BlockLoop::new));
                scratch.push(LinkScratch { array: Frontier::empty(layout, size)?, loops });
            }
            tasks.run(|_, (first, joined, out)| {
                if observer.interrupted() {
                    return Err(SystemError::Interrupted);
                }
                let mut superblock = Superblock { layout, links, cur, first, joined, out };
                superblock.run(links.len() - 1, first, &mut scratch);
                Ok(())
            });
            Ok::<(), Error>(())
        });
        results.into_iter().collect::<Result<(), Error>>()?;
        Ok(tasks.end()?)
    }
}

/// The blocks of a superblock: registers, and whether each contains any state.
type SuperblockPart<'a> = (&'a mut [Register], &'a mut [bool]);

struct LinkScratch {
    /// The link's array over a superblock of the next link; empty for the last.
    array: Frontier,
    /// For filling and for collecting.
    loops: [Option<BlockLoop>; 2],
}

/// One superblock of the last link that is carried out this way.
struct Superblock<'a> {
    layout: Layout,
    links: &'a [Link],
    cur: &'a Frontier,
    first: usize,
    joined: SuperblockPart<'a>,
    out: Option<SuperblockPart<'a>>,
}

impl Superblock<'_> {
    /// Carries out a link, and those before it, on its superblock that begins with block `first`.
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
        let Some(LinkScratch { array, loops }) = own.first_mut() else {
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
        let [fill, join] = loops;
        let steps = [
            (&link.fill, fill, filled, base),
            (&link.join, join, (&mut registers[..], &mut occupied[..]), self.first),
        ];
        for (step, loops, (registers, occupied), base) in steps {
            let (Some(step), Some(loops)) = (step, loops) else {
                continue;
            };
            let expansion = Expansion { layout, step, cur, first: begin, blocks };
            for block in first..first + count {
                let at = block - base;
                // No prefetching: everything is in the caches.
                loops.step(&expansion, block, None, |_| BlockTarget {
                    registers: &mut registers[at * size..][..size],
                    occupied: &mut occupied[at],
                    seen: &mut [],
                    halo: &[],
                });
            }
        }
    }
}
