//! Which databases and tables a solver uses: those given, or those that are built for a board or another puzzle.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    Error,
    pdb::{Build, Encoding, Kind, Pdb, PdbError, SetFile, partition},
    pruning::{CosetTable, PruningTable},
    puzzle::{Board, Puzzle, Size},
    solve::{SolveError, default_patterns},
    system::SystemError,
    table::TableError,
};

/// Where the databases of a solver come from.
pub enum DatabaseSource {
    /// The file of a set, which has several partitions; or databases that are used together.
    Given(Vec<GivenDatabase>),
    /// The databases of a partition, by its name, or of the one that suits the board best.
    Partition(Option<String>),
}

/// A database that is given.
pub enum GivenDatabase {
    /// An open one.
    Open(Arc<Pdb>),
    /// A file, of a set if it is alone.
    File(PathBuf),
}

impl DatabaseSource {
    /// Returns the larger databases with which hard boards are continued, for [`Optimal::with_reserve`]: those of 7-8 on
    /// 4x4 with the blank's goal in a corner.
    ///
    /// [`Optimal::with_reserve`]: crate::solve::Optimal::with_reserve
    pub fn of_hard_boards(goal: &Board) -> Option<DatabaseSource> {
        partition(LARGER, goal).ok().map(|_| DatabaseSource::Partition(Some(LARGER.into())))
    }

    /// Returns larger databases, or none if what was lacking is memory, which is said.
    ///
    /// # Errors
    /// Any other error.
    pub fn if_memory_allows<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
        match found {
            Err(
                error @ (Error::System(SystemError::Memory { .. })
                | Error::Pdb(PdbError::Memory(_))
                | Error::Table(TableError::Memory(_))),
            ) => {
                tracing::info!("hard ones go on without larger databases: {error}");
                Ok(None)
            }
            found => found.map(Some),
        }
    }

    /// Returns the databases of each partition, of which all are opened by `open` and built by `build`. A file of
    /// several partitions is opened once.
    ///
    /// # Errors
    /// Those of `open` and `build`, and [`PdbError`] for a partition that the board does not have, and for files that
    /// are no databases.
    pub fn get(
        self,
        goal: &Board,
        open: impl Fn(&Path) -> Result<Pdb, Error>,
        build: impl FnOnce(Vec<Build>) -> Result<Vec<Pdb>, Error>,
    ) -> Result<Vec<Vec<Arc<Pdb>>>, Error> {
        match self {
            DatabaseSource::Given(given) => given_partitions(given, goal.size(), open),
            DatabaseSource::Partition(name) => {
                let built = build(builds(goal, name.as_deref())?)?;
                Ok(vec![built.into_iter().map(Arc::new).collect()])
            }
        }
    }
}

/// Which tables solve the states of a puzzle of several sets of pieces, where none are given.
#[derive(Debug)]
pub enum SolverTables {
    /// Pruning tables of these projections.
    Projections(Vec<Puzzle>),
    /// A coset table ([`CosetTable::build`]).
    Cosets {
        /// The number of bytes for which it is chosen.
        bytes: u64,
        /// That of the table with which states are continued that turn out to be hard
        /// ([`PuzzleSolver::with_reserve`]).
        ///
        /// [`PuzzleSolver::with_reserve`]: crate::solve::PuzzleSolver::with_reserve
        hard: Option<u64>,
    },
}

/// The most memory for which a coset table is chosen unless the user asks for more: a minute of building.
const DEFAULT_COSETS: u64 = 512 << 20;
/// The same for easy states, up to fifteen moves of the 3x3x3: seconds of building.
const EASY_COSETS: u64 = 32 << 20;
/// Number of states of a puzzle, a table of which is built in a fifth of a second.
const QUICK_STATES: u64 = 1 << 24;

impl SolverTables {
    /// Returns the tables for a puzzle that fit in a number of bytes, and use as much if the user asks for `memory`: one
    /// of all its states if that is quickly built, else a coset table if it can have one, else tables of projections.
    ///
    /// # Errors
    /// Those of [`PruningTable::quick_projections`].
    pub fn of(puzzle: &Puzzle, memory: Option<u64>, bytes: u64) -> Result<SolverTables, Error> {
        let quick = PruningTable::quick_projections(puzzle, Some(bytes))?;
        if quick == [puzzle.clone()] {
            return Ok(SolverTables::Projections(quick));
        }
        if !CosetTable::suits(puzzle) {
            let wanted = memory.map(|_| PruningTable::default_projections(puzzle, memory));
            return Ok(SolverTables::Projections(wanted.unwrap_or(Ok(quick))?));
        }
        Ok(match memory {
            Some(bytes) => SolverTables::Cosets { bytes, hard: None },
            None => {
                // What is free differs from day to day: half as much, or a quarter, not a little less.
                let most = 1 << bytes.clamp(1, DEFAULT_COSETS).ilog2();
                let hard = Some(most).filter(|&most| most > EASY_COSETS);
                SolverTables::Cosets { bytes: most.min(EASY_COSETS), hard }
            }
        })
    }

    /// Returns whether they are built faster than a state near a solved one is found without them
    /// ([`MeetingLists`](crate::solve::MeetingLists)).
    pub fn are_quick(&self, puzzle: &Puzzle) -> bool {
        let is_small = || puzzle.states().is_some_and(|states| states <= QUICK_STATES.into());
        matches!(self, SolverTables::Projections(all) if all[..] == [puzzle.clone()]) && is_small()
    }
}

/// They take longer to build than most boards take to solve.
const LARGER: &str = "7-8";

/// The builds of a partition.
fn builds(goal: &Board, name: Option<&str>) -> Result<Vec<Build>, PdbError> {
    let patterns = match name {
        Some(name) => partition(name, goal)?,
        None => default_patterns(goal)?,
    };
    // 7-8: a third of the memory of bytes, and a little faster (docs/notebook/solver.md).
    let (kind, encoding) = match patterns.iter().any(|pattern| pattern.tiles().len() > 6) {
        true => (Kind::Regions, Encoding::Bit),
        false => (Kind::Minimum, Encoding::Byte),
    };
    let build = |pattern| Build::new(pattern).kind(kind).encoding(encoding);
    Ok(patterns.into_iter().map(build).collect())
}

fn given_partitions(
    given: Vec<GivenDatabase>,
    size: Size,
    open: impl Fn(&Path) -> Result<Pdb, Error>,
) -> Result<Vec<Vec<Arc<Pdb>>>, Error> {
    let mut known: HashMap<PathBuf, Arc<Pdb>> = HashMap::new();
    let mut file = |path: PathBuf| -> Result<Arc<Pdb>, Error> {
        if let Some(pdb) = known.get(&path) {
            return Ok(pdb.clone());
        }
        let pdb = Arc::new(open(&path)?);
        Ok(known.entry(path).or_insert(pdb).clone())
    };
    if let [GivenDatabase::File(set)] = &given[..]
        && SetFile::is(set)
    {
        let partitions = SetFile::read(set)?.partitions.into_iter();
        return partitions.map(|files| files.into_iter().map(&mut file).collect()).collect();
    }
    // What does not add up counts alone.
    let (mut additive, mut alone) = (Vec::new(), Vec::new());
    for one in given {
        let pdb = match one {
            GivenDatabase::Open(pdb) => pdb,
            GivenDatabase::File(path) => {
                let refused = match (SetFile::is(&path), path.is_dir()) {
                    (true, _) => {
                        "a set file, which lists its own databases: pass only the set file"
                    }
                    (_, true) => {
                        "a directory: pass the set file in it, or its databases individually"
                    }
                    _ => "",
                };
                if !refused.is_empty() {
                    let refused = format!("'{}' is {refused}", path.display());
                    return Err(PdbError::Unsuitable(refused).into());
                }
                let pdb = file(path.clone())?;
                let (theirs, turned) = (pdb.pattern().size(), Size::new(size.cols(), size.rows())?);
                if ![size, turned].contains(&theirs) {
                    let path = path.display();
                    let reason = format!(
                        "'{path}' is a database for {theirs}, but the board is {size}: leave this file out"
                    );
                    return Err(SolveError::Database { reason }.into());
                }
                pdb
            }
        };
        match pdb.kind() {
            Kind::AllMoves => alone.push(vec![pdb]),
            Kind::Minimum | Kind::Regions => additive.push(pdb),
        }
    }
    let additive = Some(additive).filter(|pdbs| !pdbs.is_empty());
    Ok(additive.into_iter().chain(alone).collect())
}
