//! How long a search will take on this machine.

use super::engine::Engine;
use super::plan::Plan;
use super::run::run;
use super::search::Search;
use super::subject::Subject;
use crate::Error;
use crate::perm::kernel::Kernel;
use crate::progress::NoProgress;
use crate::puzzle::tiles::{Goal, Size};

/// The speed of an engine on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// What was searched to find out.
    pub subject: Subject,
    /// Kernel measured (sweep engine only).
    pub kernel: Option<Kernel>,
    /// Worker threads.
    pub threads: usize,
    /// States per second expected of the planned search.
    pub states_per_second: f64,
    /// Seconds that the planned search is expected to take.
    pub seconds: f64,
}

/// Returns how long a planned search should take here, from a complete search of a smaller board of the
/// same kind with the same engine, kernel and threads (0.1 to 2 s).
///
/// The sweep engine's work is states times levels, and the number of levels of boards with the same
/// short side grows with the square of the number of cells (2x6: 80, 2x7: 108, 2x8: 140; 3x4: 53,
/// 3x5: 84). The reference engine's work is the number of states.
///
/// # Errors
/// What [`run`] returns.
pub fn calibrate(
    plan: &Plan,
    threads: Option<usize>,
    kernel: Option<Kernel>,
) -> Result<Calibration, Error> {
    let mut subject = plan.subject.clone();
    let mut growth = 1.0;
    if let Some(size) = plan.subject.size() {
        let short = size.rows().min(size.cols());
        let board = match (plan.engine, size.cells()) {
            (Engine::Sweep, cells) if cells > 12 => Size::new(short.min(3), 12 / short.min(3))?,
            (Engine::Reference, cells) if cells > 10 => Size::new(2, 5)?,
            _ => size,
        };
        let goal = Goal::Last.board(board)?;
        subject = Subject::board(goal).in_metric(plan.subject.metric().unwrap_or_default());
        growth = size.cells() as f64 / board.cells() as f64;
    }
    let mut search = Search::of(subject.clone());
    search.engine = Some(plan.engine);
    search.threads = threads;
    search.kernel = kernel;
    // The first search also pays for memory and threads that have never been used.
    run(&search, &NoProgress)?;
    let outcome = run(&search, &NoProgress)?;
    let levels = if plan.engine == Engine::Sweep {
        growth * growth
    } else {
        1.0
    };
    let states_per_second = outcome.total() as f64 / outcome.seconds / levels;
    Ok(Calibration {
        subject,
        kernel: outcome.kernel,
        threads: outcome.threads,
        states_per_second,
        seconds: plan.states as f64 / states_per_second,
    })
}
