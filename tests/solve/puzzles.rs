//! Shortest solutions of puzzles by tables of projections, against tables of all states.

use tilewave::{
    Resources,
    pruning::{EntrySize, PruningTable},
    puzzle::{
        named,
        orbits::{
            Arrangement, Orbit, OrbitMove, OrbitPuzzle, OrbitTurn, Placed, Transformation, Turns,
        },
    },
    random::SplitMix64,
    solve::PuzzleSolver,
};

fn table(puzzle: &OrbitPuzzle, sets: &str, size: EntrySize) -> PruningTable {
    let names: Vec<String> = sets.split(',').map(String::from).collect();
    let kept = puzzle.clone().keeping(&names).unwrap();
    PruningTable::build(&kept, size, Resources::new()).unwrap()
}

/// Through small tables of projections, through depths modulo 3, and directed.
#[test]
fn solutions_are_as_long_as_depths() {
    for (name, turns, sets) in [
        ("2x2x2", Turns::Powers, &["corners:1-4", "corners:4-7"][..]),
        ("2x2x2", Turns::Directed, &["corners:1-3"]),
        ("pyraminx", Turns::Quarter, &["corners", "edges"]),
        ("skewb", Turns::Powers, &["centres", "corners,corners2"]),
    ] {
        let puzzle = named::parse(name).unwrap().counting(turns).unwrap();
        let truth = PruningTable::build(&puzzle, EntrySize::Byte, Resources::new()).unwrap();
        let sizes = match turns {
            Turns::Directed => [EntrySize::Nibble, EntrySize::Byte],
            _ => [EntrySize::Nibble, EntrySize::Mod3],
        };
        for size in sizes {
            let tables = sets.iter().map(|sets| table(&puzzle, sets, size));
            let solver = PuzzleSolver::new(puzzle.clone(), tables).unwrap();
            let mut random = SplitMix64::new(5);
            let mut state = puzzle.solved();
            for number in 0..12 {
                for _ in 0..30 {
                    let one = random.draw() as usize % puzzle.moves().len();
                    state = puzzle.moved(&state, one).unwrap();
                }
                let depth = truth.depth(&state).unwrap().unwrap();
                let length = solver.solve(&state).unwrap().moves.unwrap().len();
                assert_eq!(length, depth, "{name} {turns:?} {size:?} {number}");
            }
        }
    }
}

/// Three rows of six pieces in one box; a move exchanges two neighbours of a row.
fn three_rows() -> OrbitPuzzle {
    let sets = ["a", "b", "c"].map(|name| Orbit::distinct(name, 6, 1));
    let moves = (0..15).map(|one| {
        let turn = |set| {
            let mut turn = OrbitTurn::still(6);
            if set == one / 5 {
                turn.source.swap(one % 5, one % 5 + 1);
            }
            turn
        };
        let (name, transformation) = (format!("m{one}"), (0..3).map(turn).collect());
        OrbitMove { name, transformation: Transformation(transformation), requires: None }
    });
    OrbitPuzzle::new("rows", sets.to_vec(), moves.collect()).unwrap()
}

/// The distance of a row is its number of inversions.
fn inversions(row: &[Placed]) -> usize {
    let above = |i: usize| row[..i].iter().filter(|piece| piece.kind > row[i].kind).count();
    (0..row.len()).map(above).sum()
}

/// Each move is of one row: the distances of the rows are added, also where a symmetry of the box reads one row through the table
/// of another, and where there are several tables of a row. A table of two rows is as good as one of each.
#[test]
fn bounds_of_sets_that_no_move_joins_are_added() {
    let puzzle = three_rows();
    for size in [EntrySize::Mod3, EntrySize::Byte] {
        for sets in [&["a", "b", "c"][..], &["a,b", "c"], &["a:1-3", "a", "b"]] {
            let tables = sets.iter().map(|sets| table(&puzzle, sets, size));
            let solver = PuzzleSolver::new(puzzle.clone(), tables).unwrap();
            let mut random = SplitMix64::new(7);
            for _ in 0..8 {
                let mut state: Arrangement = puzzle.solved();
                for row in &mut state.0 {
                    (1..6).for_each(|i| row.swap(i, random.draw() as usize % (i + 1)));
                }
                let length: usize = state.0.iter().map(|row| inversions(row)).sum();
                let answer = solver.solve(&state).unwrap();
                assert_eq!(answer.moves.unwrap().len(), length, "{sets:?} {size}");
                // The bound is exact, but moves of different rows are made in one order only. By the largest
                // distance of a row alone it would be some 10^12 nodes.
                assert!(answer.nodes < 1_000_000, "{sets:?} {size}: {}", answer.nodes);
            }
        }
    }
}
