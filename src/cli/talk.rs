//! How much is said while a command works.

/// What every command needs to know of the command line as a whole.
#[derive(Clone, Copy)]
pub(super) struct Talk {
    /// Whether to show progress.
    pub progress: bool,
}
