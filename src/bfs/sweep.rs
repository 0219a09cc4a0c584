//! The sweep engine: whole levels by streaming over two byte arrays in memory.
//!
//! Invariant: before the step to depth d, the array of the group of d - 1 holds exactly level d - 1
//! and the array of the group of d holds exactly level d - 2. The step overwrites the latter with
//! level d block by block and only reads the former. No set of visited states is needed: the graph is
//! undirected and bipartite, so a neighbour of level d - 1 lies in level d - 2 or d.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::arriving::{Arriving, BYTE};
use super::error::SearchError;
use super::expand::{Expansion, Frontier, Sources};
use super::found::{EachLevel, Found};
use super::problem::Problem;
use super::relay::{self, Relay, is_long};
use super::search::Search;
use super::tasks::Tasks;
use crate::Error;
use crate::perm::gathers::Gathers;
use crate::perm::kernel::{Kernel, Tally, Transfer};
use crate::perm::layout::{REGISTER_BYTES, Register};
use crate::progress::{Phase, Progress};
use crate::puzzle::Window;

/// Most blocks that a worker takes at a time: 64 * 21 KiB, half a millisecond's work. Workers take
/// neighbouring blocks, so that they share the sources in the last-level cache.
const BLOCKS_PER_TASK: usize = 64;

/// The steps into the groups of one class.
struct Class {
    steps: Vec<Arriving>,
    /// For each group the windows that are carried out in turn.
    relays: Vec<Option<Relay>>,
}

impl Class {
    fn new(
        problem: &Problem,
        kernel: Kernel,
        tables: &Gathers,
        class: usize,
    ) -> Result<Class, SearchError> {
        let (layout, groups) = (problem.layout, &problem.groups);
        let all = 0..groups.class(class).len();
        let windows = all.clone().flat_map(|group| {
            let short = groups.arrivals(class)[group].iter();
            let short = short.map(|a| a.transfer.window.clone());
            let short = short.filter(|window| !is_long(layout, window));
            short.chain(Relay::windows(layout, groups, (class, group)))
        });
        let windows: Vec<Window> = windows.collect::<HashSet<_>>().into_iter().collect();
        tables.make(&windows);
        let relays = all.clone();
        let relays = relays.map(|group| Relay::new(kernel, tables, groups, (class, group)));
        let relays: Vec<Option<Relay>> = relays.collect::<Result<_, _>>()?;
        let step = |group: usize| {
            let halo = relays[group].as_ref().map(|_| BYTE.to_vec());
            let halo = halo.as_slice();
            let short = |t: &Transfer| !is_long(layout, &t.window);
            Arriving::new(kernel, tables, groups, (class, group), halo, short)
        };
        Ok(Class {
            steps: all.map(step).collect::<Result<_, _>>()?,
            relays,
        })
    }
}

/// Returns the bytes of the arrays of a problem: 64 bytes for 60 lines of each group, two levels of them;
/// all states seen where moves have no way back; and those of the windows that are carried out in turn.
pub(super) fn array_bytes(problem: &Problem, threads: usize) -> u64 {
    let groups = &problem.groups;
    let levels: u64 = [0, groups.next(0)]
        .map(|class| problem.registers(class))
        .iter()
        .sum();
    let seen = if groups.directed {
        (0..groups.classes())
            .map(|class| problem.registers(class))
            .sum()
    } else {
        0
    };
    let relays = relay_arrays(problem, threads) as u64 * problem.layout.registers();
    REGISTER_BYTES as u64 * (levels + seen + relays)
}

/// Returns the number of arrays of one group that windows take which are carried out in turn.
fn relay_arrays(problem: &Problem, threads: usize) -> usize {
    let groups = &problem.groups;
    let all = (0..groups.classes()).flat_map(|c| (0..groups.class(c).len()).map(move |g| (c, g)));
    all.map(|at| relay::arrays(problem.layout, groups, at, threads))
        .max()
        .unwrap_or(0)
}

/// Runs the search. Cost: [`array_bytes`] of memory, one pass over it per level.
pub(super) fn run(
    search: &Search,
    problem: &Problem,
    kernel: Kernel,
    observer: &dyn Progress,
    each: &mut EachLevel,
) -> Result<Found, Error> {
    let (layout, groups) = (problem.layout, &problem.groups);
    let tables = Gathers::new(layout);
    let classes = 0..groups.classes();
    let classes = classes.map(|class| Class::new(problem, kernel, &tables, class));
    let classes: Vec<Class> = classes.collect::<Result<_, _>>()?;
    let empty = |class| Frontier::empty(layout, groups.class(class).len() * layout.blocks());
    let mut class = problem.class(0);
    let (mut cur, mut next) = (empty(class)?, empty(groups.next(class))?);
    let mut seen = Vec::new();
    if groups.directed {
        for class in 0..groups.classes() {
            seen.push(empty(class)?);
        }
    }
    let (register, lane) = problem.place(problem.start);
    let bit = problem.seat(problem.start).bit;
    for first in [Some(&mut cur), seen.get_mut(class)].into_iter().flatten() {
        first.insert(layout, register, lane, bit);
    }

    let mut found = Found::new(problem.space.subject().to_string(), problem.space.states());
    found.push(problem.first(), Instant::now(), observer)?;

    let mut shown = |depth, class, frontier: &Frontier| {
        let size = layout.registers() as usize;
        let registers = frontier.registers.units().chunks(size).enumerate();
        for ((at, registers), group) in registers.zip(groups.class(class)) {
            let first = problem.first_line(class, at);
            each(depth, first, registers, &group.cells)?;
        }
        Ok::<(), Error>(())
    };
    shown(0, class, &cur)?;

    let mut relayed = Relayed::default();
    for depth in 1.. {
        if search.max_depth.is_some_and(|max| depth > max) {
            break;
        }
        let begun = Instant::now();
        let to = groups.next(class);
        let sweep = Sweep {
            problem,
            class: &classes[to],
            observer,
            depth,
        };
        let interrupted = SearchError::Interrupted {
            depth,
            states: found.states,
        };
        let tally = sweep.level(&cur, &mut next, seen.get_mut(to), &mut relayed)?;
        if !found.push(tally.ok_or(interrupted)?, begun, observer)? {
            break;
        }
        std::mem::swap(&mut cur, &mut next);
        class = to;
        shown(depth, class, &cur)?;
    }
    let of = groups.class(class).iter().enumerate();
    let of = of.map(|(at, group)| (problem.first_line(class, at), group.cells.as_slice()));
    found.last = cur.states(layout, of, search.keep_last);
    Ok(found)
}

/// The arrays of the windows that are carried out in turn.
#[derive(Default)]
struct Relayed {
    joined: Option<Frontier>,
    spare: Vec<Frontier>,
}

/// One level.
struct Sweep<'a> {
    problem: &'a Problem,
    class: &'a Class,
    observer: &'a dyn Progress,
    depth: usize,
}

/// A group's part of a level that is computed.
struct Target<'a> {
    expansion: Expansion<'a>,
    registers: &'a mut [Register],
    occupied: &'a mut [bool],
    seen: Option<&'a mut [Register]>,
    joined: Option<&'a Frontier>,
}

impl Sweep<'_> {
    /// Replaces the level before `cur` in `next` by the level after it. Returns `None` when interrupted.
    fn level(
        &self,
        cur: &Frontier,
        next: &mut Frontier,
        seen: Option<&mut Frontier>,
        relayed: &mut Relayed,
    ) -> Result<Option<Tally>, Error> {
        let layout = self.problem.layout;
        let (size, blocks) = (layout.registers() as usize, layout.blocks());
        let mut seen = seen.map(|seen| seen.registers.units_mut().chunks_mut(size));
        let parts = next.registers.units_mut().chunks_mut(size);
        let parts = parts
            .zip(next.occupied.chunks_mut(blocks))
            .zip(&self.class.steps);
        let mut targets = Vec::new();
        let mut tally = Tally::default();
        for (((registers, occupied), step), relay) in parts.zip(&self.class.relays) {
            let expansion = Expansion {
                layout,
                step,
                cur,
                first: 0,
                blocks,
            };
            let seen = seen.as_mut().and_then(Iterator::next);
            let Some(relay) = relay else {
                targets.push(Target {
                    expansion,
                    registers,
                    occupied,
                    seen,
                    joined: None,
                });
                continue;
            };
            let interrupted = || self.observer.interrupted();
            let Relayed { joined, spare } = relayed;
            let joined = match joined {
                Some(joined) => joined,
                None => joined.insert(Frontier::empty(layout, blocks)?),
            };
            let pass = |expansion: Expansion<'_>, to: &mut Frontier| {
                let target = Target {
                    expansion,
                    registers: to.registers.units_mut(),
                    occupied: &mut to.occupied,
                    seen: None,
                    joined: None,
                };
                self.pass(vec![target]).is_some()
            };
            if !relay.run(cur, joined, spare, &interrupted, &pass)? {
                return Ok(None);
            }
            let target = Target {
                expansion,
                registers,
                occupied,
                seen,
                joined: Some(joined),
            };
            match self.pass(vec![target]) {
                Some(part) => tally = tally.plus(part),
                None => return Ok(None),
            }
        }
        Ok(self.pass(targets).map(|rest| tally.plus(rest)))
    }

    /// Computes some groups' parts. Returns `None` when interrupted.
    fn pass(&self, mut targets: Vec<Target>) -> Option<Tally> {
        let layout = self.problem.layout;
        let block = layout.block_registers();
        let threads = rayon::current_num_threads();
        let per_task = (layout.blocks() / (threads * 8)).clamp(1, BLOCKS_PER_TASK);
        let total = (layout.blocks() * targets.len()) as u64;
        // Groups side by side: they read the same sources.
        let mut work = Vec::new();
        let fixed: Vec<_> = targets
            .iter_mut()
            .enumerate()
            .map(|(target, t)| {
                let seen = t.seen.take().map_or_else(Vec::new, |seen| {
                    seen.chunks_mut(block * per_task).collect::<Vec<_>>()
                });
                let mut seen = seen.into_iter();
                let parts = t.registers.chunks_mut(block * per_task);
                let parts = parts.zip(t.occupied.chunks_mut(per_task)).enumerate();
                work.extend(parts.map(|(i, (registers, occupied))| {
                    let seen: &mut [Register] = seen.next().unwrap_or_default();
                    (i * per_task, target, registers, occupied, seen)
                }));
                (&t.expansion, t.joined)
            })
            .collect();
        work.sort_by_key(|(first, target, ..)| (*first, *target));
        let interrupted = || self.observer.interrupted();
        let (tasks, done) = (Tasks::new(work, &interrupted), AtomicU64::new(0));
        let tallies = rayon::broadcast(|_| {
            let mut sources: Vec<[Sources; 2]> = fixed
                .iter()
                .map(|(expansion, _)| [0, 1].map(|_| Sources::new(&expansion.step.program)))
                .collect();
            let mut tally = Tally::default();
            while let Some((first, target, registers, occupied, seen)) = tasks.next() {
                let (expansion, joined) = fixed[target];
                let [now, ahead] = &mut sources[target];
                let mut seen = seen.chunks_mut(block);
                expansion.find(now, first);
                for (i, next) in registers.chunks_mut(block).enumerate() {
                    if i + 1 < occupied.len() {
                        expansion.find(ahead, first + i + 1);
                    } else {
                        ahead.far.clear();
                    }
                    let mut halo: &[Register] = &[];
                    if let Some(joined) = joined {
                        halo = &joined.registers.units()[(first + i) * block..][..block];
                        now.halo(joined.occupied[first + i]);
                    }
                    let seen = seen.next().unwrap_or_default();
                    let occupied = &mut occupied[i];
                    let found = expansion.block(first + i, next, occupied, seen, now, ahead, halo);
                    tally = tally.plus(found);
                    std::mem::swap(now, ahead);
                }
                let blocks = occupied.len() as u64;
                let done = done.fetch_add(blocks, Ordering::Relaxed) + blocks;
                self.observer
                    .progress(Phase::Search(self.depth), done, total);
            }
            tally
        });
        (!tasks.stopped()).then(|| tallies.into_iter().fold(Tally::default(), Tally::plus))
    }
}
