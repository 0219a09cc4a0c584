//! Which databases a solver uses: those given, or those of a partition, which are built.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    Error,
    pdb::{Build, Encoding, Kind, Pdb, PdbError, SetFile, partition},
    puzzle::{Board, Size},
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
