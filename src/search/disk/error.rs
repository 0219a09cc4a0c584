//! How a session on disk ends early, on one rank or on all of them.
//!
//! Invariant: the others learn of a problem that only one rank notices when the job ends; a problem known to all ends
//! all of them in the same way.

use crate::{
    Error,
    search::{Communicator, SearchError},
};

/// The reason why a rank has stopped.
#[derive(Debug)]
pub enum Stopped {
    /// All ranks have stopped, each with its own error or with the one that names the failed rank.
    Together(Error),
    /// Only this rank has stopped; the others wait for it until the job is ended.
    Alone(Error),
}

impl Stopped {
    /// Returns the error.
    pub fn into_error(self) -> Error {
        match self {
            Stopped::Together(error) | Stopped::Alone(error) => error,
        }
    }
}

/// The reason why the levels ended early.
pub(crate) enum Halt {
    /// There is an error on this rank.
    Error(Error),
    /// The writer of this rank has failed and reports the reason itself.
    Writer,
    /// All ranks have stopped for this reason.
    Together(Error),
}

impl<E: Into<Error>> From<E> for Halt {
    fn from(error: E) -> Halt {
        Halt::Error(error.into())
    }
}

/// Returns the value of this rank once every rank has a value; otherwise every rank stops.
pub(crate) fn agreed<T>(
    communicator: &dyn Communicator,
    result: Result<T, impl Into<Error>>,
) -> Result<T, Stopped> {
    let result = result.map_err(Into::into);
    let failure = result.as_ref().err().map(ToString::to_string);
    match (communicator.agree(failure), result) {
        (None, Ok(value)) => Ok(value),
        (_, Err(error)) => Err(Stopped::Together(error)),
        (Some((rank, reason)), Ok(_)) => {
            Err(Stopped::Together(SearchError::Elsewhere { rank, reason }.into()))
        }
    }
}
