//! How a session on disk ends early, alone or with all ranks.
//!
//! Invariant: what one rank meets alone is told to the others by the end of the job; what all know ends all
//! of them alike.

use crate::{
    Error,
    search::{Communicator, SearchError},
};

/// Why a rank has stopped.
#[derive(Debug)]
pub enum Stopped {
    /// All ranks have stopped, each with its own error or the one that names the rank at fault.
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

/// Why the levels ended early.
pub(crate) enum Halt {
    /// Something is wrong on this rank.
    Error(Error),
    /// The writer of this rank has failed and says why itself.
    Writer,
    /// All ranks have stopped for this reason.
    Together(Error),
}

impl<E: Into<Error>> From<E> for Halt {
    fn from(error: E) -> Halt {
        Halt::Error(error.into())
    }
}

/// Returns what this rank has, once every rank has something; else every rank stops.
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
