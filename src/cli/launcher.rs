//! Whether an MPI launcher has started this process, without asking MPI.

/// Variables that tell the number of processes: Open MPI, MPICH and Intel MPI, and the steps of srun.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// Variables that tell only that there is a launcher.
const SIGNS: [&str; 2] = ["PMIX_RANK", "PMI_RANK"];

/// What a launcher says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Processes that it has started, if it says so.
    pub processes: Option<usize>,
}

impl Launch {
    /// Returns whether a search is for all processes together, or to be refused: not when there is only
    /// one that works in memory, or this program knows no MPI.
    pub fn concerns(self, on_disk: bool) -> bool {
        let several = self.processes.is_some_and(|processes| processes > 1);
        several || (cfg!(feature = "mpi") && on_disk)
    }
}

/// Returns what the launcher of this process says, or `None` without one.
pub fn launch() -> Option<Launch> {
    read(|name| std::env::var(name).ok())
}

fn read(variable: impl Fn(&str) -> Option<String>) -> Option<Launch> {
    let size = |name: &&str| variable(name).and_then(|size| size.trim().parse().ok());
    // A shell inside a SLURM step of one task is no job of ours.
    let slurm = |name: &str, size: usize| name != "SLURM_STEP_NUM_TASKS" || size > 1;
    let told = SIZES.iter().find_map(|name| size(name).filter(|&size| slurm(name, size)));
    let sign = SIGNS.iter().any(|name| variable(name).is_some());
    (told.is_some() || sign).then_some(Launch { processes: told })
}

#[cfg(test)]
mod tests {
    //! What `src/cli/launcher.rs` keeps to itself.

    use super::*;

    #[test]
    fn launchers_are_known_by_their_variables() {
        let under = |set: &[(&str, &str)]| {
            let find = |name: &str| set.iter().find(|(n, _)| *n == name);
            read(|name| find(name).map(|(_, value)| value.to_string()))
        };
        let of = |processes| Some(Launch { processes });
        assert_eq!(under(&[]), None);
        assert_eq!(under(&[("OMPI_COMM_WORLD_SIZE", "4")]), of(Some(4)));
        assert_eq!(under(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]), of(Some(2)));
        assert_eq!(under(&[("SLURM_STEP_NUM_TASKS", "8")]), of(Some(8)));
        assert_eq!(under(&[("SLURM_STEP_NUM_TASKS", "1")]), None);
        assert_eq!(under(&[("SLURM_NTASKS", "8")]), None, "a batch script, no step");
        assert_eq!(under(&[("PMIX_RANK", "3")]), of(None));
    }
}
