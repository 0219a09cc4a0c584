//! The search in memory: the choice of an engine and its run.

use std::time::Instant;

use super::engine::Engine;
use super::error::SearchError;
use super::found::EachLevel;
use super::outcome::Outcome;
use super::plan::plan;
use super::problem::Problem;
use super::search::Search;
use super::state::StateSpace;
use super::{reference, sweep};
use crate::Error;
use crate::progress::Progress;

/// Runs a search on its own thread pool and returns what it found.
///
/// Cost: the sweep engine takes n!/120 * 128 bytes for n tiles moved one at a time, see [`super::plan()`] for
/// other puzzles, and passes over them once per level; the reference engine takes two bits a state and random
/// accesses to them.
///
/// # Errors
/// [`SearchError`] when the board does not fit the engine, the budget or the processor, or the observer
/// interrupts; [`crate::puzzle::tiles::BoardError`] when the start cannot reach the goal.
pub fn run(search: &Search, observer: &dyn Progress) -> Result<Outcome, Error> {
    run_each(search, observer, &mut |_, _, _, _| Ok(()))
}

/// Does what [`run`] does, and hands over the states of each level. Only the sweep engine does.
///
/// # Errors
/// What [`run`] returns, and what `each` returns, which ends the search.
pub fn run_each(
    search: &Search,
    observer: &dyn Progress,
    each: &mut EachLevel,
) -> Result<Outcome, Error> {
    let begun = Instant::now();
    let subject = &search.subject;
    let plan = plan(subject, search.engine)?;
    if plan.engine == Engine::Disk {
        return Err(SearchError::NoFiles.into());
    }
    if let Some(budget) = search.memory.filter(|&b| b < plan.array_bytes) {
        let (engine, needed) = (plan.engine, plan.array_bytes);
        return Err(SearchError::Memory {
            puzzle: subject.to_string(),
            engine,
            needed,
            budget,
        }
        .into());
    }
    let pool = search.pool()?;
    let (found, kernel) = if plan.engine == Engine::Reference {
        let space = StateSpace::of(subject.clone())?;
        let start = space.start()?;
        observer.started(plan.states);
        let found = pool.install(|| reference::run(search, &space, start, observer))?;
        (found, None)
    } else {
        let problem = Problem::of(search)?;
        let kernel = search.choose_kernel()?;
        observer.started(plan.states);
        let found = pool.install(|| sweep::run(search, &problem, kernel, observer, each))?;
        (found, Some(kernel))
    };
    Ok(Outcome {
        subject: subject.clone(),
        states: plan.states,
        engine: plan.engine,
        kernel,
        threads: pool.current_num_threads(),
        counts: found.counts,
        checksums: found.checksums,
        level_seconds: found.level_seconds,
        complete: found.complete,
        seconds: begun.elapsed().as_secs_f64(),
        array_bytes: plan.array_bytes,
        last: found.last,
        disk: None,
    })
}
