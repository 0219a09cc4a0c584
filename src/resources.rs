//! The resources of the machine that an operation may use, and the methods that set options.

use crate::{kernel::Kernel, store::budget, system::SystemError, threads::pool};

/// The resources of the machine that an operation may use: a search, a build, a table or a solver. Options with a
/// `resources` field also have a setter for each resource.
///
/// ```
/// use tilewave::{Goal, Resources, Search, Size};
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let resources = Resources::new().threads(2).memory(1 << 30);
/// assert_eq!(Search::new(goal.clone()).resources(resources).resources.threads, Some(2));
/// assert_eq!(Search::new(goal).threads(2).memory(1 << 30).resources, resources);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resources {
    /// Number of worker threads, `None` for one per core.
    pub threads: Option<usize>,
    /// Memory limit in bytes, `None` for no limit. An operation that needs more fails before it begins.
    pub memory: Option<u64>,
    /// Kernel, `None` for the fastest one that this processor can run.
    pub kernel: Option<Kernel>,
}

impl Resources {
    /// Returns the resources of the whole machine: one thread per core, no memory limit, and the fastest kernel.
    pub fn new() -> Resources {
        Resources::default()
    }

    /// Limits the memory to a number of bytes, or, for `None`, to half of the free memory, which leaves room for other
    /// programs.
    #[must_use]
    pub fn memory_or_half(self, memory: Option<u64>) -> Resources {
        self.memory(memory.unwrap_or_else(budget))
    }

    /// Runs `work` on a pool with these threads: for operations that use the current rayon pool, such as
    /// [`crate::Optimal::solve`].
    ///
    /// # Errors
    /// [`SystemError`] if the threads cannot be started.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, SystemError> {
        Ok(pool(self.threads)?.install(work))
    }

    /// Returns the kernel to be used.
    pub(crate) fn choose_kernel(&self) -> Result<Kernel, SystemError> {
        match self.kernel {
            None => Ok(Kernel::best()),
            Some(kernel) if kernel.is_supported() => Ok(kernel),
            Some(kernel) => Err(SystemError::UnsupportedKernel(kernel.name())),
        }
    }

    /// Returns the memory limit if it is too small for this number of bytes.
    pub(crate) fn exceeded_by(&self, needed: u64) -> Option<u64> {
        self.memory.filter(|&memory| memory < needed)
    }
}

/// Methods that set fields of options, by value; a field with an `Option` also accepts the value inside.
macro_rules! setters {
    ($options:ident: $($field:ident: $type:ty,)* $(; $($maybe:ident: $inner:ty,)*)?) => {
        impl $options {
            $(
                #[doc = concat!("Sets [`", stringify!($options), "::", stringify!($field),
                    "`](#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $type) -> $options {
                    self.$field = $field;
                    self
                }
            )*
            $($(
                #[doc = concat!("Sets [`", stringify!($options), "::", stringify!($maybe),
                    "`](#structfield.", stringify!($maybe), ").")]
                #[must_use]
                pub fn $maybe(mut self, $maybe: impl Into<Option<$inner>>) -> $options {
                    self.$maybe = $maybe.into();
                    self
                }
            )*)?
        }
    };
}

/// The methods of [`Resources`] for options that have them.
macro_rules! resource_setters {
    ($options:ident) => {
        impl $options {
            /// Sets all resources at once.
            #[must_use]
            pub fn resources(mut self, resources: crate::Resources) -> $options {
                self.resources = resources;
                self
            }

            /// Sets [`Resources::threads`](crate::Resources#structfield.threads).
            #[must_use]
            pub fn threads(mut self, threads: impl Into<Option<usize>>) -> $options {
                self.resources.threads = threads.into();
                self
            }

            /// Sets [`Resources::memory`](crate::Resources#structfield.memory).
            #[must_use]
            pub fn memory(mut self, memory: impl Into<Option<u64>>) -> $options {
                self.resources.memory = memory.into();
                self
            }

            /// Sets [`Resources::kernel`](crate::Resources#structfield.kernel).
            #[must_use]
            pub fn kernel(mut self, kernel: impl Into<Option<crate::Kernel>>) -> $options {
                self.resources.kernel = kernel.into();
                self
            }
        }
    };
}

setters! { Resources: ; threads: usize, memory: u64, kernel: Kernel, }

pub(crate) use resource_setters;
pub(crate) use setters;
