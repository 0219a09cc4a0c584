//! Shortest solutions of puzzles by tables of projections, against tables of all states.

use tilewave::{
    Resources,
    pruning::PruningTable,
    puzzle::{Move, PieceSet, Puzzle, SetAction, Transformation, Turns, named},
    random::SplitMix64,
    solve::PuzzleSolver,
    table::TableEncoding,
};

use super::mixed;

fn table(puzzle: &Puzzle, sets: &str, size: TableEncoding) -> PruningTable {
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
        // Tables of some tiles have the free vertex as well.
        (
            "graph:0-1,1-2,3-4,4-5,6-7,7-8,0-3,1-4,2-5,3-6,4-7,5-8,0-4",
            Turns::Powers,
            &["1-4", "5-8"],
        ),
    ] {
        let puzzle = Puzzle::of_graph(name).map_or_else(
            || named::parse(name).unwrap().counting(turns).unwrap(),
            |graph| graph.unwrap(),
        );
        let truth = PruningTable::build(&puzzle, TableEncoding::Byte, Resources::new()).unwrap();
        let sizes = match turns {
            Turns::Directed => [TableEncoding::Nibble, TableEncoding::Byte],
            // Depths beyond 14.
            _ if name.starts_with("graph") => [TableEncoding::Byte, TableEncoding::Mod3],
            _ => [TableEncoding::Nibble, TableEncoding::Mod3],
        };
        for size in sizes {
            let tables = sets.iter().map(|sets| table(&puzzle, sets, size));
            let solver = PuzzleSolver::new(puzzle.clone(), tables).unwrap();
            let mut random = SplitMix64::new(5);
            for number in 0..12 {
                let state = mixed(&puzzle, 30 * (number + 1), &mut random);
                let depth = truth.depth(&state).unwrap().unwrap();
                let length = solver.solve(&state).unwrap().moves.unwrap().len();
                assert_eq!(length, depth, "{name} {turns:?} {size:?} {number}");
            }
        }
    }
}

/// Three sets of five pieces in one box: a move exchanges two neighbours in a row, or turns a ring.
fn box_of_three(ring: bool) -> Puzzle {
    let sets = ["a", "b", "c"].map(|name| PieceSet::distinct(name, 5, 1));
    let moves = (0..9).map(|one| {
        let turn = |set| {
            let mut turn = SetAction::still(5);
            match one % 3 {
                _ if set != one / 3 => {}
                0 if ring => turn.source.rotate_left(1),
                1 if ring => turn.source.rotate_right(1),
                2 if ring => turn.source.swap(0, 1),
                first => turn.source.swap(first, first + 1),
            }
            turn
        };
        let (name, transformation) = (format!("m{one}"), (0..3).map(turn).collect());
        Move { name, transformation: Transformation(transformation), requires: None }
    });
    Puzzle::new("box", sets.to_vec(), moves.collect()).unwrap()
}

/// No move joins these sets: their distances are added, also where there are several tables of a set, or one of two
/// sets. A table of one ring alone takes millions of nodes.
#[test]
fn bounds_of_sets_that_no_move_joins_are_added() {
    for ring in [false, true] {
        let puzzle = box_of_three(ring);
        let truth = PruningTable::build(&puzzle, TableEncoding::Byte, Resources::new()).unwrap();
        for size in [TableEncoding::Mod3, TableEncoding::Byte] {
            for sets in [&["a", "b", "c"][..], &["a,b", "c"], &["a:1-2", "a", "b", "c"]] {
                let tables = sets.iter().map(|sets| table(&puzzle, sets, size));
                let solver = PuzzleSolver::new(puzzle.clone(), tables).unwrap();
                let mut random = SplitMix64::new(7);
                for _ in 0..8 {
                    let state = mixed(&puzzle, 60, &mut random);
                    let answer = solver.solve(&state).unwrap();
                    let depth = truth.depth(&state).unwrap().unwrap();
                    assert_eq!(answer.moves.unwrap().len(), depth, "{ring} {sets:?} {size}");
                    // The bound is exact, but moves of different sets are made in one order only.
                    assert!(answer.nodes < 10_000, "{sets:?} {size}: {} nodes", answer.nodes);
                }
            }
        }
    }
}
