//! Predicts the memory, disk space and time of a search, on this machine or on others like it.

use std::time::{Duration, Instant};

use crate::{
    Error,
    kernel::Kernel,
    progress::{NoProgress, Progress, StopWhen},
    puzzle::{Goal, Size, StateSpace, families},
    resources::Resources,
    search::{
        Chunks, Engine, Outcome, PlaneStore, Search, SearchError, SearchPlan, SearchProblem,
        disk::{self, Directories, Disk, Estimate, MemoryPlan, Network, network},
        plan,
    },
    store::{MemoryDirectory, budget},
    system::OtherWork,
    units::{counted, rate},
};

/// Maximum time for the search of a puzzle that is used to measure the speed.
const MOST_TIME: Duration = Duration::from_secs(3);

/// Last depth of a search that only starts what the next one uses.
const WARM_UP: usize = 8;

/// Maximum number of states of a puzzle in a file that is searched to measure the speed: this takes seconds.
const MOST_STATES: u64 = 600_000_000;

/// Numbers of positions of the members of a family that are searched: the smallest for which the sweep engine is made,
/// and the largest that takes only seconds.
const MEMBERS: (usize, usize) = (8, 12);

/// The speed of an engine on this machine.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Calibration {
    /// The state space that was searched to measure the speed.
    pub space: StateSpace,
    /// Kernel measured (sweep engine only).
    pub kernel: Option<Kernel>,
    /// Number of worker threads.
    pub threads: usize,
    /// The expected number of states per second for the planned search.
    pub states_per_second: f64,
    /// The expected number of seconds for the planned search.
    pub seconds: f64,
}

impl Calibration {
    /// The prediction for the planned search from another search, if each state takes `growth` times as long.
    fn new(plan: &SearchPlan, outcome: &Outcome, growth: f64) -> Calibration {
        let states_per_second = outcome.total() as f64 / outcome.seconds / growth;
        Calibration {
            space: plan.space.clone(),
            kernel: outcome.kernel,
            threads: outcome.threads,
            states_per_second,
            seconds: plan.states as f64 / states_per_second,
        }
    }
}

/// Returns how long a planned search should take here, based on complete searches of smaller puzzles of the same kind
/// with the same engine, kernel and threads (0.1 to 2 s for boards, at most 5 s more for others). Returns `None` for
/// the puzzle of a file, which has no smaller relatives, if it has more than 600 million states or takes longer than 5
/// s. For the disk engine, the time is that of the computation alone, without waiting for a disk.
///
/// The sweep engine's work is states times levels, and the number of levels of boards with the same short side grows
/// with the square of the number of cells (2x6: 80, 2x7: 108, 2x8: 140; 3x4: 53, 3x5: 84). Within a family, the number
/// of levels grows with a power of N that is estimated from its small members. The reference engine's work is the
/// number of states.
///
/// # Errors
/// The errors of [`Search::run`] and [`Disk::run`].
pub fn calibrate(plan: &SearchPlan, resources: Resources) -> Result<Option<Calibration>, Error> {
    let run = if plan.engine == Engine::Disk { worked } else { Search::run_with };
    let resources = resources.memory(None);
    let search = |space: StateSpace| Search::of(space).engine(plan.engine).resources(resources);
    let levels = |growth: f64| match plan.engine {
        Engine::Reference => 1.0,
        _ => growth,
    };
    if let Some(size) = plan.space.size() {
        let short = size.rows().min(size.cols());
        let board = match (plan.engine, size.cells()) {
            (Engine::Sweep | Engine::Disk, cells) if cells > 12 => {
                Size::new(short.min(3), 12 / short.min(3))?
            }
            (Engine::Reference, cells) if cells > 10 => Size::new(2, 5)?,
            _ => size,
        };
        let space = StateSpace::of_board(Goal::Last.board(board)?);
        let search = search(space.in_metric(plan.space.metric().unwrap_or_default()));
        if plan.engine != Engine::Disk {
            // The first search of a process also includes the start of its threads; on disk, only its work counts.
            run(&search.clone().max_depth(WARM_UP), &NoProgress)?;
        }
        let outcome = run(&search, &NoProgress)?;
        let growth = size.cells() as f64 / board.cells() as f64;
        return Ok(Some(Calibration::new(plan, &outcome, levels(growth * growth))));
    }
    let begun = Instant::now();
    let run_some = |space: StateSpace| {
        let search = search(space).memory(budget());
        match run(&search, &StopWhen(|| begun.elapsed() > MOST_TIME)) {
            Ok(outcome) => Ok(Some(outcome)),
            Err(Error::Search(
                SearchError::Interrupted { .. }
                | SearchError::Paused { .. }
                | SearchError::Memory { .. },
            )) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let (members, positions) = smaller(&plan.space);
    let mut found: Vec<(usize, Outcome)> = Vec::new();
    for (positions, member) in members {
        match run_some(member) {
            // On disk: the levels of some members cannot be divided into chunks, but those of larger members may be.
            Err(Error::Search(SearchError::InMemory { .. })) => {}
            outcome => match outcome? {
                Some(outcome) => found.push((positions, outcome)),
                None => break,
            },
        }
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
            let found = run_some(plan.space.clone())?;
            found.map(|outcome| Calibration::new(plan, &outcome, 1.0))
        }
        [] => None,
    })
}

/// A search through chunks in memory.
pub(crate) fn in_memory() -> Disk {
    Disk::new(Directories::new(vec![Box::new(MemoryDirectory::default())]))
}

/// Runs a search through chunks in memory, whose time is that of decoding, kernel and encoding.
fn worked(search: &Search, progress: &dyn Progress) -> Result<Outcome, Error> {
    let mut disk = in_memory();
    let layout = SearchProblem::chunked(&search.space)?.layout;
    disk.shared_digits = Chunks::new(layout, 1).map(|chunks| chunks.digits);
    disk.commit_every = Duration::MAX;
    let mut outcome = disk.run_with(search, progress)?;
    if let Some(used) = &outcome.disk {
        let work = used.decode_seconds + used.kernel_seconds + used.encode_seconds;
        outcome.seconds = work / outcome.threads as f64;
    }
    Ok(outcome)
}

/// The smaller members of a puzzle's family with the same number of positions or an even number fewer, since parity
/// determines how states are stored; and its number of positions.
fn smaller(space: &StateSpace) -> (Vec<(usize, StateSpace)>, usize) {
    let Some(puzzle) = space.puzzle() else {
        return (Vec::new(), 0);
    };
    let positions = puzzle.labels().len();
    let known = families::parse(puzzle.name());
    let family = puzzle.name().split_once(':');
    let Some((family, numbers)) = family.filter(|_| known.as_ref() == Ok(puzzle)) else {
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

/// The machines that a search is planned for; each is like this one except for these fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machines {
    /// Number of cores of each machine; `None` for the number that was measured.
    pub cores: Option<usize>,
    /// Number of MPI processes, each on its own machine.
    pub ranks: u64,
    /// Disk bandwidth of each machine, for reading and writing together, in bytes per second.
    pub disk_bandwidth: u64,
    /// Network bandwidth of each machine for sending, in bytes per second.
    pub network: u64,
}

/// A forecast of the time, memory and disk that a search takes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Forecast {
    /// Number of reachable states.
    pub states: u64,
    /// Number of states up to the last depth requested; `None` if it is unknown.
    pub reached: Option<u64>,
    /// Upper bound on `reached`; `None` if `reached` is known, or if all states may be reached.
    pub at_most: Option<u64>,
    /// The engine that would run.
    pub engine: Engine,
    /// The kernel that was measured.
    pub kernel: Option<Kernel>,
    /// Number of threads of each process.
    pub threads: usize,
    /// Memory of each process, in bytes.
    pub memory: u64,
    /// Expected seconds, and the name of the puzzle that was searched to measure the speed.
    pub time: Option<(f64, String)>,
    /// The share of the processor time that other processes used during the measurement, if the system reports it.
    pub busy: Option<f64>,
    /// The disk and network that a search on disk needs.
    pub disk: Option<DiskForecast>,
    /// The assumptions behind the figures that were not measured on this machine.
    pub projected: Vec<String>,
}

/// A forecast of the disk and network that a search on disk takes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DiskForecast {
    /// Number of chunks.
    pub chunks: usize,
    /// Where the planes are kept.
    pub planes: PlaneStore,
    /// Sizes of the files, in bytes.
    pub estimate: Estimate,
    /// The number of seconds for reading and writing.
    pub io_seconds: f64,
    /// Traffic between several ranks, and its seconds over all levels, which are `None` if the number of levels is
    /// unknown.
    pub network: Option<(Network, Option<f64>)>,
}

impl Forecast {
    /// Returns the forecast of a search. `on_disk` plans for disk even if there is enough memory; `keep_all` keeps the
    /// files of all levels. `widths` contains the published states per depth of the whole search, or is empty. A search
    /// that does not fit in memory is planned for machines where it does.
    ///
    /// # Errors
    /// The errors of [`plan`] and [`calibrate`].
    pub fn of(
        search: &Search,
        on_disk: bool,
        keep_all: bool,
        widths: &[u64],
        machines: &Machines,
    ) -> Result<Forecast, Error> {
        let mut plan = plan(&search.space, search.engine)?;
        let ranks = machines.ranks;
        let too_large = search.resources.memory.is_some_and(|budget| plan.array_bytes > budget);
        // A search that is only possible in memory is planned there, unless files are requested.
        let suits = || SearchProblem::chunked(&search.space).is_ok();
        let needs = || too_large && search.engine.is_none() && suits();
        let on_disk = plan.engine == Engine::Sweep && (on_disk || ranks > 1 || needs());
        if on_disk {
            plan.engine = Engine::Disk;
        }
        let others = OtherWork::begin();
        let measured = calibrate(&plan, search.resources)?;
        let measured = measured.as_ref();
        let here = std::thread::available_parallelism().map_or(1, usize::from);
        let cores = machines.cores.or(measured.map(|m| m.threads)).or(search.resources.threads);
        let cores = cores.unwrap_or(here);
        let computing = |m: &Calibration| m.seconds * m.threads as f64 / cores as f64;
        let mut forecast = Forecast {
            states: plan.states,
            reached: Some(plan.states),
            at_most: None,
            engine: plan.engine,
            kernel: measured.and_then(|m| m.kernel),
            threads: cores,
            memory: plan.array_bytes,
            time: measured.map(|m| (computing(m), m.space.to_string())),
            busy: others.and_then(|others| others.share()),
            disk: None,
            projected: Vec::new(),
        };
        if let Some(m) = measured.filter(|m| m.threads != cores) {
            let [cores, threads] = [(cores, "core"), (m.threads, "thread")]
                .map(|(number, noun)| counted(number as u64, noun));
            forecast.projected.push(format!("the speed of {cores}, scaled up from {threads}"));
        }
        if on_disk {
            forecast.add_disk(search, keep_all, widths, machines)?;
        }
        Ok(forecast)
    }

    fn add_disk(
        &mut self,
        search: &Search,
        keep_all: bool,
        widths: &[u64],
        machines: &Machines,
    ) -> Result<(), Error> {
        let mut disk = in_memory();
        let ranks = machines.ranks;
        let network = (ranks > 1).then(|| network(&search.space, ranks as usize)).transpose()?;
        if let Some(network) = network {
            disk.shared_digits = Some(network.shared_digits);
            disk.planes = Some(PlaneStore::Files);
        }
        let mut plan = match MemoryPlan::choose(search, &disk) {
            Err(Error::Search(SearchError::Memory { needed, .. })) => {
                let larger = search.clone().memory(needed);
                MemoryPlan::choose(&larger, &disk)?
            }
            plan => plan?,
        };
        let given = |what: &str, of: u64| format!("{what} of {}B/s", rate(of as f64));
        self.projected.push("bytes per state, as on smaller boards".into());
        self.projected.push(given("a disk", machines.disk_bandwidth));
        self.memory = plan.bytes;
        if let Some(network) = network {
            // They are sent to other machines.
            plan.plane_files = 0;
            self.memory += network.rank_bytes;
            self.projected.push(format!("{ranks} machines like this one"));
            self.projected.push(given("a network", machines.network));
        }
        let shallow = disk::widths(&search.space, widths, search.max_depth)?;
        let estimate = disk::estimate(&shallow, plan, keep_all);
        let moved = (estimate.bytes_read + estimate.bytes_written) as f64;
        let io_seconds = moved / (machines.disk_bandwidth * ranks) as f64;
        // As if every level were dense: an upper bound, if their number is known.
        let levels = Some(shallow.counts.len()).filter(|&levels| levels > 0);
        let network = network.map(|network| {
            let all = levels.map(|levels| network.level_bytes as f64 * levels as f64);
            (network, all.map(|all| all / (machines.network * ranks) as f64))
        });
        let mut first = 1.0;
        if search.max_depth.is_some() {
            // The first levels take their share of the total time.
            first = disk::share(&shallow, widths, plan);
            let (exact, states) = (shallow.exact, shallow.states());
            self.reached = states.filter(|_| exact);
            self.at_most = states.filter(|_| !exact);
        }
        if let Some((seconds, _)) = &mut self.time {
            // Readers and the writer work at the same time as the computing threads; ranks first compute, then send:
            // one waits for the other.
            *seconds = (*seconds * first / ranks as f64).max(io_seconds);
            *seconds += network.and_then(|(_, seconds)| seconds).unwrap_or(0.0);
        }
        let (chunks, planes) = (plan.chunks(), plan.planes);
        self.disk = Some(DiskForecast { chunks, planes, estimate, io_seconds, network });
        Ok(())
    }

    /// Returns whether the time excludes the network because the number of levels is unknown.
    pub fn is_without_network(&self) -> bool {
        let network = self.disk.as_ref().and_then(|disk| disk.network.as_ref());
        network.is_some_and(|(_, seconds)| seconds.is_none())
    }

    /// Returns the states per second of the whole search if both the time and the number of states are known.
    pub fn states_per_second(&self) -> Option<f64> {
        let (seconds, _) = self.time.as_ref().filter(|_| !self.is_without_network())?;
        Some(self.reached? as f64 / seconds)
    }
}
