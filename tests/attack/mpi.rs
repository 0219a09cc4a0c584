//! Ranks of an MPI job that were given different searches: one clear line and an end, no hang, no counts.
//!
//! Needs `mpirun` and the program `tilewave-mpi`, which `ATTACK_MPI` names (`tools/attack/run` builds it).

use std::process::{Command, Stdio};

use super::program::{room, run};
use super::report::{Plan, Report, Verdict};

/// What rank 0 and the others are told.
const DIFFERENT: [(&str, &str, &str); 8] = [
    ("boards", "2x5", "3x3"),
    ("boards of one size in states", "2x4", "4x2"),
    ("goals", "2x5 --goal first", "2x5"),
    ("starts", "2x4 --start 1,2,3,4/5,6,0,7", "2x4"),
    ("depths", "2x5 --max-depth 9", "2x5 --max-depth 30"),
    ("depths, one without", "2x5 --max-depth 9", "2x5"),
    ("chunks", "2x5 --shared-digits 1", "2x5 --shared-digits 2"),
    ("levels kept", "2x5 --keep-levels all", "2x5"),
];

pub fn different_ranks(plan: &Plan) -> Report {
    let Some(program) = std::env::var_os("ATTACK_MPI") else {
        println!("*** SKIPPED: no ATTACK_MPI, the program tilewave-mpi ***");
        return Report::default();
    };
    let one_at_a_time = Plan { threads: 1, ..plan.clone() };
    one_at_a_time.run(|n, dice| {
        let (name, first, others) = DIFFERENT[n % DIFFERENT.len()];
        let ranks = 2 + dice.below(3);
        let home = room();
        let script = format!(
            "if [ $OMPI_COMM_WORLD_RANK = 0 ]; then set -- {first}; else set -- {others}; fi; \
             exec \"$0\" bfs \"$@\" -q --format csv --dir {}",
            home.path().join("run").display()
        );
        let mut command = Command::new("mpirun");
        command.args(["--oversubscribe", "--allow-run-as-root", "-n", &ranks.to_string()]);
        command.args(["bash", "-c", &script]).arg(&program).stdin(Stdio::null());
        command.env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
        let done = run(&mut command);
        // Every rank says it, each with its name: one may see another's terminal only. Lines may run together.
        let said = done.err.matches("error:").count();
        let names = done.err.matches("was started with").count();
        let verdict = if done.hung {
            Verdict::Ugly("hangs".into())
        } else if done.ok() {
            Verdict::Wrong(format!("{} rows, code 0", done.rows().len()))
        } else if !(1..=ranks).contains(&said) || names == 0 || done.err.contains("panicked") {
            Verdict::Ugly(format!("{said} error lines: {}", done.first_words()))
        } else {
            Verdict::Detected
        };
        ("ranks that differ".into(), format!("{name}, {ranks} ranks"), verdict)
    })
}
