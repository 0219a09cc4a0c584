//! How long a search will take on this machine.

use std::time::{Duration, Instant};

use crate::Error;
use crate::kernel::Kernel;
use crate::progress::{NoProgress, Progress, StopWhen};
use crate::puzzle::StateSpace;
use crate::puzzle::{Goal, Size, families};
use crate::search::error::{Engine, SearchError};
use crate::search::options::Search;
use crate::search::outcome::Outcome;
use crate::search::run::{SearchPlan, run};
use crate::store::budget;

/// Most time that the search of a puzzle is given to find out.
const MOST_TIME: Duration = Duration::from_secs(5);

/// Most states of a puzzle of a file that is searched to find out: seconds.
const MOST_STATES: u64 = 600_000_000;

/// Positions of the members of a family that are searched: the smallest that the sweep engine is made for, and the
/// largest that takes seconds.
const MEMBERS: (usize, usize) = (8, 12);

/// The speed of an engine on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// What was searched to find out.
    pub subject: StateSpace,
    /// Kernel measured (sweep engine only).
    pub kernel: Option<Kernel>,
    /// Worker threads.
    pub threads: usize,
    /// States per second expected of the planned search.
    pub states_per_second: f64,
    /// Seconds that the planned search is expected to take.
    pub seconds: f64,
}

impl Calibration {
    /// What a search says of the planned one, whose every state takes `growth` times as long.
    fn new(plan: &SearchPlan, outcome: &Outcome, growth: f64) -> Calibration {
        let states_per_second = outcome.total() as f64 / outcome.seconds / growth;
        Calibration {
            subject: outcome.subject.clone(),
            kernel: outcome.kernel,
            threads: outcome.threads,
            states_per_second,
            seconds: plan.states as f64 / states_per_second,
        }
    }
}

/// Returns how long a planned search should take here, from complete searches of smaller puzzles of the same kind
/// with the same engine, kernel and threads (0.1 to 2 s for boards, at most 5 s more for others); `None` where
/// there is no smaller one: the puzzle of a file that has more than 600 million states, or takes longer than 5 s.
///
/// The sweep engine's work is states times levels, and the number of levels of boards with the same
/// short side grows with the square of the number of cells (2x6: 80, 2x7: 108, 2x8: 140; 3x4: 53,
/// 3x5: 84). In a family the levels grow with the power of N that its small members show. The reference engine's
/// work is the number of states.
///
/// # Errors
/// What [`run`] returns.
pub fn calibrate(
    plan: &SearchPlan,
    threads: Option<usize>,
    kernel: Option<Kernel>,
) -> Result<Option<Calibration>, Error> {
    by(plan, threads, kernel, &run)
}

/// Does what [`calibrate`] does with another way to run a search.
pub(crate) fn by(
    plan: &SearchPlan,
    threads: Option<usize>,
    kernel: Option<Kernel>,
    run: &dyn Fn(&Search, &dyn Progress) -> Result<Outcome, Error>,
) -> Result<Option<Calibration>, Error> {
    let search = |subject: StateSpace| {
        let mut search = Search::of(subject);
        search.engine = Some(plan.engine);
        search.threads = threads;
        search.kernel = kernel;
        search
    };
    let levels = |growth: f64| match plan.engine {
        Engine::Reference => 1.0,
        Engine::Sweep | Engine::Disk => growth,
    };
    if let Some(size) = plan.subject.size() {
        let short = size.rows().min(size.cols());
        let board = match (plan.engine, size.cells()) {
            (Engine::Sweep | Engine::Disk, cells) if cells > 12 => {
                Size::new(short.min(3), 12 / short.min(3))?
            }
            (Engine::Reference, cells) if cells > 10 => Size::new(2, 5)?,
            _ => size,
        };
        let subject = StateSpace::of_board(Goal::Last.board(board)?);
        let search = search(subject.in_metric(plan.subject.metric().unwrap_or_default()));
        if plan.engine != Engine::Disk {
            // The first search also pays for memory and threads that have never been used; on disk its work counts.
            run(&search, &NoProgress)?;
        }
        let outcome = run(&search, &NoProgress)?;
        let growth = size.cells() as f64 / board.cells() as f64;
        return Ok(Some(Calibration::new(plan, &outcome, levels(growth * growth))));
    }
    let begun = Instant::now();
    let run_some = |subject: StateSpace| {
        let mut search = search(subject);
        search.memory = Some(budget());
        match run(&search, &StopWhen(|| begun.elapsed() > MOST_TIME)) {
            Ok(outcome) => Ok(Some(outcome)),
            Err(Error::Search(SearchError::Interrupted { .. } | SearchError::Memory { .. })) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    };
    let (members, positions) = smaller(&plan.subject);
    let mut found: Vec<(usize, Outcome)> = Vec::new();
    for (positions, member) in members {
        let outcome = match run_some(member) {
            // On disk: the levels of some members are not cut into chunks, those of larger ones may be.
            Err(Error::Search(SearchError::InMemory { .. })) => continue,
            outcome => outcome?,
        };
        let Some(outcome) = outcome else {
            break;
        };
        found.push((positions, outcome));
    }
    let growth = |n: usize, of: &Outcome, power: f64| {
        let growth = (positions as f64 / n as f64).powf(power);
        Some(Calibration::new(plan, of, levels(growth)))
    };
    Ok(match &found[..] {
        [.., (m, before), (n, last)] => {
            let deep = |outcome: &Outcome| outcome.counts.len() as f64;
            let power = (deep(last) / deep(before)).ln() / (*n as f64 / *m as f64).ln();
            growth(*n, last, power)
        }
        [(n, only)] => growth(*n, only, 2.0),
        [] if plan.states <= MOST_STATES => {
            let found = run_some(plan.subject.clone())?;
            found.map(|outcome| Calibration::new(plan, &outcome, 1.0))
        }
        [] => None,
    })
}

/// The smaller members of a puzzle's family with as many positions as it or an even number fewer, since signs decide
/// how states are kept; and its number of positions.
fn smaller(subject: &StateSpace) -> (Vec<(usize, StateSpace)>, usize) {
    let Some(definition) = subject.definition() else {
        return (Vec::new(), 0);
    };
    let positions = definition.positions();
    let known = families::parse(definition.name());
    let family = definition.name().split_once(':');
    let Some((family, numbers)) = family.filter(|_| known.as_ref() == Ok(definition)) else {
        return (Vec::new(), positions);
    };
    let others = numbers.split_once(',').map(|(_, others)| others);
    let member = |n: usize| {
        let others = others.map_or(String::new(), |others| format!(",{others}"));
        let member = families::parse(&format!("{family}:{n}{others}")).ok()?;
        Some((n, StateSpace::of_puzzle(member)))
    };
    let first = (MEMBERS.0 + positions % 2).min(positions);
    let members = (first..=positions.min(MEMBERS.1)).step_by(2);
    (members.filter_map(member).collect(), positions)
}
