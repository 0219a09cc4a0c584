//! What `src/store/free_memory.rs` keeps to itself.

use super::*;

fn group(root: &Path, path: &str, files: &[(&str, &str)]) {
    let dir = root.join(path);
    fs::create_dir_all(&dir).unwrap();
    for (name, text) in files {
        fs::write(dir.join(name), text).unwrap();
    }
}

#[test]
fn this_machine_has_memory() {
    #[cfg(target_os = "linux")]
    assert!(free_memory().unwrap() > 1 << 20);
    assert_eq!(
        available("MemFree: 1 kB\nMemAvailable:   12 kB\n"),
        Some(12 << 10)
    );
    assert_eq!(available("MemFree: 1 kB\n"), None);
}

#[test]
fn the_narrowest_group_above_a_process_counts() {
    let root = tempfile::tempdir().unwrap();
    let job = [
        ("memory.max", "1000\n"),
        ("memory.current", "700\n"),
        ("memory.stat", "anon 500\ninactive_file 150\n"),
    ];
    group(root.path(), "slurm/job_7", &job);
    let step = [("memory.max", "max\n"), ("memory.current", "700\n")];
    group(root.path(), "slurm/job_7/step_0", &step);
    let left = |text: &str| left_in_groups(text, root.path());
    assert_eq!(left("0::/slurm/job_7/step_0\n"), Some(450));
    assert_eq!(left("0::/slurm\n"), None);
    assert_eq!(left("3:cpu,cpuacct:/slurm/job_7\n"), None);
    assert_eq!(left("nonsense\n"), None);
}

#[test]
fn groups_of_version_1_count_as_well() {
    let root = tempfile::tempdir().unwrap();
    let limit = |limit: &'static str| {
        [
            ("memory.limit_in_bytes", limit),
            ("memory.usage_in_bytes", "50"),
        ]
    };
    group(root.path(), "memory/a/b", &limit("9223372036854771712"));
    group(root.path(), "memory/a", &limit("80"));
    let groups = "5:devices:/\n4:memory:/a/b\n0::/\n";
    assert_eq!(left_in_groups(groups, root.path()), Some(30));
}
