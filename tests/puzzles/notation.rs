//! Permutations, and how they are written.

use proptest::prelude::*;
use tilewave::puzzle::notation::parse_cycles;
use tilewave::puzzle::{Permutation, PuzzleError, PuzzleErrorKind};

fn any_permutation() -> impl Strategy<Value = Permutation> {
    (0usize..=Permutation::MAX_LEN).prop_flat_map(|n| {
        let images: Vec<usize> = (0..n).collect();
        Just(images).prop_shuffle().prop_map(|images| Permutation::new(&images).unwrap())
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(p in any_permutation()) {
        let cycles = parse_cycles(&p.to_string()).unwrap();
        prop_assert_eq!(Permutation::from_cycles(p.len(), &cycles), Ok(p.clone()));
    }

    #[test]
    fn inverses_orders_and_signs(p in any_permutation()) {
        let n = p.len();
        prop_assert!(p.then(&p.inverse()).is_identity());
        prop_assert_eq!(p.inverse().inverse(), p.clone());
        prop_assert_eq!(Permutation::from_cycles(n, &p.cycles()), Ok(p.clone()));
        // The sign by counting inversions.
        let images = p.images();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        let inversions = pairs.filter(|&(i, j)| images[i] > images[j]).count();
        prop_assert_eq!(p.is_even(), inversions % 2 == 0);
        if p.order() < 10_000 {
            let mut power = Permutation::identity(n);
            for exponent in 1..=p.order() {
                power = power.then(&p);
                prop_assert_eq!(power.is_identity(), exponent == p.order());
            }
        }
    }

    #[test]
    fn the_first_permutation_acts_first(p in any_permutation(), seed in 0..u64::MAX) {
        let n = p.len();
        let shift = (seed % (n as u64).max(1)) as usize;
        let q = Permutation::from_fn(n, |x| (x + shift) % n);
        for x in 0..n {
            prop_assert_eq!(p.then(&q).image(x), (p.image(x) + shift) % n);
        }
    }

    #[test]
    fn powers_are_the_permutation_that_often(p in any_permutation(), times in -9i64..9, more: i64) {
        let one = if times < 0 { p.inverse() } else { p.clone() };
        let plain = (0..times.abs()).fold(Permutation::identity(p.len()), |all, _| all.then(&one));
        prop_assert_eq!(p.power(times), plain);
        // However many times: the last steps are those of one cycle less, or more.
        let order = i64::try_from(p.order()).unwrap_or(i64::MAX);
        prop_assert_eq!(p.power(more), p.power(more.rem_euclid(order)));
        prop_assert!(p.power(more).then(&p.power(more.wrapping_neg())).is_identity() || more == i64::MIN);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[-() ,0-9a\n]{0,40}") {
        if let Err(error) = parse_cycles(&text) {
            prop_assert!(error.byte() <= text.len());
        }
    }
}

#[test]
fn wrong_notation_says_what_is_wrong() {
    let cycles = |text: &str| parse_cycles(text).unwrap_err();
    for (text, at, message) in [
        ("", 0, "expected '(', found the end"),
        ("(1,2", 4, "expected ',' or ')', found the end"),
        ("(1,", 3, "expected a point, found the end"),
        ("(1 2)", 3, "expected ',' or ')', found '2'"),
        ("(1,2) x", 6, "expected '(', found 'x'"),
        ("(1,)", 3, "expected a point, found ')'"),
        ("(1,-2)", 3, "expected a point, found '-2'"),
        ("(0,1)", 1, "0 is not a point: points are 1 to 255"),
        ("(1,256)", 3, "256 is not a point: points are 1 to 255"),
    ] {
        let error = cycles(text);
        assert_eq!((error.byte(), error.to_string().as_str()), (at, message), "{text}");
    }
    assert_eq!(parse_cycles("()"), Ok(vec![vec![]]));
    assert_eq!(parse_cycles(" ( 1 , 2 )\n(3,4)"), Ok(vec![vec![0, 1], vec![2, 3]]));
}

#[test]
fn permutations_have_at_most_255_points() {
    assert_eq!(Permutation::identity(255).len(), 255);
    let images: Vec<usize> = (0..256).collect();
    let told = |wrong: Result<Permutation, PuzzleError>| {
        let wrong = wrong.unwrap_err();
        (wrong.kind(), wrong.to_string())
    };
    let many = "256 points are too many: a permutation has at most 255";
    assert_eq!(told(Permutation::new(&images)), (PuzzleErrorKind::Range, many.into()));
    let outside = "not a permutation of 3 points: it contains point 4";
    let cycles = |cycle: &[usize]| told(Permutation::from_cycles(3, &[cycle.to_vec()]));
    assert_eq!(cycles(&[0, 3]), (PuzzleErrorKind::Range, outside.into()));
    let twice = "not a permutation: point 1 occurs twice";
    assert_eq!(cycles(&[0, 1, 0]), (PuzzleErrorKind::Twice, twice.into()));
}
