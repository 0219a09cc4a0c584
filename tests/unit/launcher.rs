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
    assert_eq!(
        under(&[("SLURM_NTASKS", "8")]),
        None,
        "a batch script, no step"
    );
    assert_eq!(under(&[("PMIX_RANK", "3")]), of(None));
}
