//! Orders of groups, and the fewest points that a group needs.

use tilewave::puzzle::Puzzle;
use tilewave::puzzle::{Permutation, StateSpace, formats, group_order, notation};

fn written(points: usize, cycles: &str) -> Permutation {
    Permutation::from_cycles(points, &notation::parse_cycles(cycles).unwrap()).unwrap()
}

fn permutations(points: usize, cycles: &[&str]) -> Vec<Permutation> {
    let read = |text: &&str| written(points, text);
    cycles.iter().map(read).collect()
}

fn order(points: usize, cycles: &[&str]) -> u128 {
    group_order(points, &permutations(points, cycles)).unwrap()
}

#[test]
fn known_groups_have_their_orders() {
    // Cyclic, dihedral, Klein, and the symmetries of a cube's faces.
    assert_eq!(order(7, &["(1,2,3,4,5,6,7)"]), 7);
    assert_eq!(order(5, &["(1,2,3)(4,5)"]), 6);
    assert_eq!(order(6, &["(1,2,3,4,5,6)", "(1,6)(2,5)(3,4)"]), 12);
    assert_eq!(order(4, &["(1,2)(3,4)", "(1,3)(2,4)"]), 4);
    assert_eq!(order(6, &["(1,2,3,4)", "(1,5,3,6)"]), 24);
    // The affine and projective groups of 7 and 8 points, S_5 on six points, and Mathieu's.
    assert_eq!(order(7, &["(1,2,3,4,5,6,7)", "(2,3)(4,7)"]), 168);
    assert_eq!(order(7, &["(1,2,3,4,5,6,7)", "(2,4,3,7,5,6)"]), 42);
    assert_eq!(order(6, &["(1,2,3,4)", "(3,4,5,6)"]), 120);
    let m11 = ["(1,2,3,4,5,6,7,8,9,10,11)", "(3,7,11,8)(4,10,5,6)"];
    assert_eq!(order(11, &m11), 7920);
    let m12 = [m11[0], m11[1], "(1,12)(2,11)(3,6)(4,8)(5,9)(7,10)"];
    assert_eq!(order(12, &m12), 95_040);
    let m24 = [
        "(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23)",
        "(3,17,10,7,9)(4,13,14,19,5)(8,18,11,12,23)(15,20,22,21,16)",
        "(1,24)(2,23)(3,12)(4,16)(5,18)(6,10)(7,20)(8,14)(9,21)(11,17)(13,22)(15,19)",
    ];
    assert_eq!(order(24, &m24), 244_823_040);
    assert_eq!(order(3, &["()"]), 1);
    assert_eq!(group_order(0, &[]), Some(1));
}

#[test]
fn symmetric_and_alternating_groups_have_their_orders() {
    let mut factorial = 2u128;
    for n in 3..=34 {
        factorial *= n as u128;
        let ring = Permutation::from_fn(n, |p| (p + 1) % n);
        let swap = Permutation::from_cycles(n, &[vec![0, 1]]).unwrap();
        let three = Permutation::from_cycles(n, &[vec![0, 1, 2]]).unwrap();
        let tail = Permutation::from_fn(n, |p| match p {
            0 if n % 2 == 0 => 0,
            p if n % 2 == 0 => p % (n - 1) + 1,
            p => (p + 1) % n,
        });
        assert_eq!(group_order(n, &[ring, swap]), Some(factorial), "S_{n}");
        assert_eq!(group_order(n, &[tail, three]), Some(factorial / 2), "A_{n}");
    }
    let ring = Permutation::from_fn(35, |p| (p + 1) % 35);
    let swap = Permutation::from_cycles(35, &[vec![0, 1]]).unwrap();
    assert_eq!(group_order(35, &[ring, swap]), None, "35! exceeds 128 bits");
}

fn gap(text: &str) -> Puzzle {
    formats::read("test.gap", text, None).unwrap()
}

/// The cycles on ordered pairs of points, numbered from 1, of a permutation of these.
fn on_pairs(points: usize, cycles: &str) -> String {
    let permutation = written(points, cycles);
    let pairs = (0..points).flat_map(|a| (0..points).map(move |b| (a, b)));
    let pairs: Vec<(usize, usize)> = pairs.filter(|(a, b)| a != b).collect();
    let image = |i: usize| {
        let (a, b) = pairs[i];
        let to = (permutation.image(a), permutation.image(b));
        pairs.iter().position(|&pair| pair == to).unwrap()
    };
    Permutation::from_fn(pairs.len(), image).to_string()
}

#[test]
fn one_orbit_that_tells_all_states_apart_is_kept() {
    // Two copies of the same three cycle, and points that nothing moves.
    let twice = gap("a:=(4,5,6)(11,12,13); b:=(5,4)(12,11); Gen:=[a,b];");
    assert_eq!((twice.labels(), twice.group_order()), (&[4, 5, 6][..], 6));
    assert_eq!(twice.notes(), ["3 of the 6 points are enough to distinguish all states: 4 5 6"]);
    // Sets that move apart are all needed.
    let apart = gap("a:=(1,2,3); b:=(5,6); Gen:=[a,b];");
    assert_eq!((apart.labels(), apart.group_order()), (&[1, 2, 3, 5, 6][..], 6));
    assert_eq!(apart.notes(), [""; 0]);
    // One of two sets is a picture of the other, not the other way round.
    let picture = gap("a:=(1,2)(3,4,5,6); Gen:=[a];");
    assert_eq!((picture.labels(), picture.group_order()), (&[3, 4, 5, 6][..], 4));
}

#[test]
fn points_that_are_too_many_are_pieces() {
    let text = format!(
        "a:={};\nb:={};\nGen:=[a,b];",
        on_pairs(7, "(1,2,3,4,5,6,7)"),
        on_pairs(7, "(1,2)")
    );
    let puzzle = gap(&text);
    assert_eq!(puzzle.labels(), [0; 0], "42 points have no numbers");
    assert_eq!(puzzle.sets().len(), 1);
    // A pair and the same pair reversed are one piece.
    let pieces = &puzzle.sets()[0];
    assert_eq!((pieces.positions(), pieces.orientations), (21, 2));
    assert_eq!(puzzle.states(), Some(5040u32.into()));
}

/// Swaps of the pairs (1,2), (3,4) .. in cycle notation, each with the same swap that many points further on.
fn swaps(pairs: usize, copies: usize, further: usize) -> String {
    let swap = |i: usize| {
        let copy = |c: usize| format!("({},{})", 2 * i + 1 + c * further, 2 * i + 2 + c * further);
        let copies: String = (0..copies).map(copy).collect();
        format!("a{i}:={copies};")
    };
    let names: Vec<String> = (0..pairs).map(|i| format!("a{i}")).collect();
    let swaps: String = (0..pairs).map(swap).collect();
    format!("{swaps} Gen:=[{}];", names.join(","))
}

#[test]
fn many_orbits_are_searched_for_few_that_do() {
    for copies in [1, 2, 7] {
        let puzzle = gap(&swaps(8, copies, 16));
        let all: Vec<usize> = (1..=16).collect();
        assert_eq!((puzzle.labels(), puzzle.group_order()), (&all[..], 256), "{copies}");
    }
    // All differences of eight pairs are sets of their own: none follows from another.
    let mut moves = vec![String::new(); 8];
    let mut points = 0;
    for set in 1..64usize {
        for (i, cycles) in moves.iter_mut().enumerate() {
            if set >> i & 1 == 1 {
                cycles.push_str(&format!("({},{})", points + 1, points + 2));
            }
        }
        points += 2;
    }
    for (i, cycles) in moves.iter_mut().enumerate().skip(6) {
        cycles.push_str(&format!("({},{})", points + 1 + 2 * i, points + 2 + 2 * i));
    }
    let moves: Vec<String> = (0..8).map(|i| format!("a{i}:={};", moves[i])).collect();
    let puzzle = gap(&format!("{} Gen:=[a0,a1,a2,a3,a4,a5,a6,a7];", moves.concat()));
    assert_eq!((puzzle.labels().len(), puzzle.group_order()), (16, 256));
}

#[test]
fn points_of_which_few_do_not_tell_all_states_apart_are_sets_of_pieces() {
    let states = |text: &str| {
        let puzzle = gap(text);
        assert_eq!(puzzle.labels(), [0; 0]);
        puzzle.states().unwrap().to_string()
    };
    let ring: Vec<String> = (1..=17).map(|p| p.to_string()).collect();
    let ring = ring.join(",");
    assert_eq!(states(&format!("a:=({ring});\nGen:=[a];")), "17");
    let both = states(&format!("a:=({ring});b:=(20,21)(1,2);Gen:=[a,b];"));
    assert_eq!(both, "355687428096000"); // 17!
    assert_eq!(states(&swaps(9, 1, 0)), "512");
    assert_eq!(states(&swaps(20, 1, 0)), "1048576");
}

#[test]
fn reachable_states_are_those_of_the_group() {
    let wheels = super::puzzle("wheels.tws");
    let space = StateSpace::of_puzzle(wheels.clone());
    let mut reached = 0;
    let mut images: Vec<usize> = (0..6).collect();
    // All 720 arrangements, by the factorial digits of their number.
    for number in 0..720 {
        let mut left: Vec<usize> = (0..6).collect();
        let mut digits = number;
        for (i, image) in images.iter_mut().enumerate() {
            *image = left.remove(digits % (6 - i));
            digits /= 6 - i;
        }
        let arrangement = Permutation::new(&images).unwrap();
        let reaches = |of: &Permutation| space.reaches(space.parse(&wheels.show(of)).unwrap());
        reached += u32::from(reaches(&arrangement));
        for one in 0..wheels.moves().len() {
            let after = super::after(&wheels, &arrangement, one);
            assert_eq!(reaches(&after), reaches(&arrangement));
        }
    }
    assert_eq!(reached, 120);
}
