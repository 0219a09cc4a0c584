//! Faults of the calls on which most depends: each met in every run of the tests, where random ones may miss it.

use std::sync::OnceLock;

use super::calls::{self, Class, EDQUOT, EINVAL, EIO, ENOSPC, EOPNOTSUPP, Fault};
use super::faults::{self, Case, Counts, PUNCHES};
use super::program::room;
use super::report::{Plan, Report, Verdict};
use super::runs::{self, HUNDREDS, LARGE, LARGE_MAPPED, SETUPS, Setup};

/// Calls of a kind.
struct Aim {
    name: &'static str,
    setup: Setup,
    class: Class,
    faults: &'static [Fault],
    /// Only so many of the last calls.
    last: usize,
    /// The fault stays: what a system cannot do it cannot do a second time.
    lasting: bool,
}

pub const AIMS: usize = 12;

const ALL: Aim = Aim {
    name: "",
    setup: HUNDREDS,
    class: Class::Sync,
    faults: &[],
    last: usize::MAX,
    lasting: false,
};

const AIM: [Aim; AIMS] = {
    use Fault::*;
    [
        Aim {
            name: "sync of one of hundreds of files",
            faults: &[Error(EIO), Error(ENOSPC), Error(EDQUOT)],
            ..ALL
        },
        Aim {
            name: "no syncs of directories",
            setup: SETUPS[1],
            class: Class::Names,
            faults: &[Error(EINVAL), Error(EOPNOTSUPP)],
            lasting: true,
            ..ALL
        },
        Aim {
            name: "sync of a directory",
            setup: SETUPS[7],
            class: Class::Names,
            faults: &[Error(EINVAL), Error(EIO)],
            ..ALL
        },
        Aim { name: "holes", setup: LARGE, class: Class::Punch, faults: PUNCHES, ..ALL },
        Aim {
            name: "holes in maps",
            setup: LARGE_MAPPED,
            class: Class::Punch,
            faults: PUNCHES,
            ..ALL
        },
        Aim { name: "zeros read", setup: SETUPS[0], class: Class::Read, faults: &[Zeros], ..ALL },
        Aim { name: "zeros mapped", setup: SETUPS[10], class: Class::Map, faults: &[Zeros], ..ALL },
        Aim {
            name: "advice on maps",
            setup: SETUPS[6],
            class: Class::Advice,
            faults: &[Error(EINVAL)],
            lasting: true,
            ..ALL
        },
        last(SETUPS[7], Class::Remove),
        last(SETUPS[7], Class::Rename),
        last(SETUPS[8], Class::Remove),
        last(SETUPS[0], Class::Remove),
    ]
};

/// A kill at one of the last calls, when the search is complete but for what it leaves.
const fn last(setup: Setup, class: Class) -> Aim {
    Aim {
        name: "kill at the last commit",
        setup,
        class,
        faults: &[Fault::Kill],
        last: 14,
        lasting: false,
    }
}

fn counts(n: usize) -> &'static Counts {
    static COUNTS: [OnceLock<Counts>; AIMS] = [const { OnceLock::new() }; AIMS];
    COUNTS[n].get_or_init(|| {
        let home = room();
        AIM[n].setup.prepare(home.path());
        faults::count(&AIM[n].setup, home.path())
    })
}

/// One aim after the other, each call by chance.
pub fn faults(plan: &Plan) -> Report {
    if calls::library().is_none() {
        return Report::default();
    }
    plan.run(|n, dice| {
        let Aim { name, setup, class, faults, last, lasting } = &AIM[n % AIMS];
        let of_class = counts(n % AIMS).iter().find(|(c, _)| c == class);
        let calls = of_class.map_or(0, |(_, calls)| *calls);
        assert!(calls > 0, "{name}: {setup:?} makes no such calls");
        let fault = *dice.pick(faults);
        let nth = calls - dice.below(calls.min(*last));
        let home = room();
        let folder = home.path();
        setup.prepare(folder);
        let before = runs::snapshot(folder);
        let (done, struck) = faults::struck(setup, folder, *class, nth, *lasting, fault);
        let what = format!("{} {class:?} {nth} of {calls} {fault:?}", setup.board);
        let case = Case { setup, folder, before: &before, committed: &[], fault, struck: &struck };
        let verdict = match case.judge(&done) {
            Verdict::Harmless if matches!(fault, Fault::Kill) && done.signal.is_none() => {
                // Commits by the clock differ from run to run, those of these searches do not.
                Verdict::Ugly(format!("was not killed: {calls} calls expected"))
            }
            verdict => verdict,
        };
        (format!("aimed: {name}"), what, verdict)
    })
}
