//! Attacks on the real binary: faults of system calls, power cuts, damage, kills, neighbours, short resources,
//! bad input. A quick selection of each runs with all tests; `tools/attack/run` runs thousands.

#![cfg(unix)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod aimed;
mod beside;
mod calls;
mod cuts;
mod damage;
mod databases;
mod faults;
mod inputs;
mod kills;
mod limits;
mod manners;
mod mpi;
mod outputs;
#[path = "../support/program.rs"]
mod program;
mod report;
mod runs;
mod scarce;

use report::{Plan, Report};

/// Defects that are known and being mended: parts of the lines in which they are reported.
const KNOWN: &[&str] = &[];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |t| t.parse().expect("a number"))
}

/// A quick selection.
fn few(trials: usize) -> Plan {
    Plan { trials, seed: 1, threads: 1, only: None }
}

#[test]
fn searches_with_failing_calls() {
    faults::searches(&few(30), true).assert_clean(KNOWN);
}

#[test]
fn calls_that_matter_most() {
    aimed::faults(&few(2 * aimed::AIMS)).assert_clean(KNOWN);
}

#[test]
fn outputs_with_failing_calls() {
    outputs::writes(&few(40)).assert_clean(KNOWN);
}

#[test]
fn short_memory_and_threads() {
    scarce::starts(&few(150)).assert_clean(KNOWN);
}

#[test]
fn damaged_searches() {
    damage::searches(&few(45), true).assert_clean(KNOWN);
}

#[test]
fn damaged_databases_and_tables() {
    databases::reads(&few(80), true).assert_clean(KNOWN);
}

#[test]
fn power_cuts() {
    cuts::searches(&few(16), true).assert_clean(KNOWN);
    cuts::outputs(&few(60)).assert_clean(KNOWN);
}

#[test]
fn kills_and_restarts() {
    kills::restarts(&few(20), true).assert_clean(KNOWN);
}

#[test]
fn looks_at_a_running_search() {
    beside::looks(&few(20)).assert_clean(KNOWN);
    beside::starts(&few(2)).assert_clean(KNOWN);
}

#[test]
fn short_of_everything() {
    limits::shortages(&few(33)).assert_clean(KNOWN);
}

#[test]
fn bad_input() {
    inputs::lines(&few(150)).assert_clean(KNOWN);
}

/// All attacks with as many trials as `ATTACK_TRIALS` says of each, from `ATTACK_SEED`; `ATTACK_KIND` picks one attack,
/// `ATTACK_ONLY` one trial.
#[test]
#[ignore = "long: tools/attack/run"]
fn all() {
    let plan = Plan {
        trials: number("ATTACK_TRIALS", 1000) as usize,
        seed: number("ATTACK_SEED", 1),
        threads: number("ATTACK_THREADS", 2) as usize,
        only: std::env::var("ATTACK_ONLY").ok().map(|n| n.parse().expect("a number")),
    };
    let kind = std::env::var("ATTACK_KIND").unwrap_or_default();
    type Attack = fn(&Plan) -> Report;
    let attacks: [(&str, Attack); 14] = [
        ("faults", |plan| faults::searches(plan, false)),
        ("aimed", |plan| aimed::faults(&Plan { trials: plan.trials.div_ceil(5), ..plan.clone() })),
        ("outputs", outputs::writes),
        ("scarce", scarce::starts),
        ("damage", |plan| damage::searches(plan, false)),
        ("databases", |plan| databases::reads(plan, false)),
        ("cuts", |plan| cuts::searches(plan, false)),
        ("cut outputs", cuts::outputs),
        ("kills", |plan| kills::restarts(plan, false)),
        ("beside", beside::looks),
        ("starts", |plan| {
            beside::starts(&Plan { trials: plan.trials.div_ceil(20), ..plan.clone() })
        }),
        ("limits", limits::shortages),
        ("inputs", inputs::lines),
        ("mpi", |plan| mpi::different_ranks(&Plan { trials: plan.trials.min(32), ..plan.clone() })),
    ];
    let mut report = Report::default();
    for (name, attack) in attacks {
        if kind.is_empty() || kind.split(',').any(|k| k == name) {
            let begun = std::time::Instant::now();
            report.merge(attack(&plan));
            eprintln!("{name}: {:.1} s", begun.elapsed().as_secs_f64());
        }
    }
    for (trial, what) in &report.defects {
        println!("{trial}: {what}");
    }
    println!("\nseed {}\n\n{report}", plan.seed);
    report.assert_clean(KNOWN);
}
