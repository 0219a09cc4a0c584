//! Ranking is a bijection in both directions.

use proptest::prelude::*;
use tilewave::internals::layout::{LANES, Layout};
use tilewave::internals::{layout, lehmer, placement};
use tilewave::puzzle::{Board, Coordinates, Metric, Size, SnakePath, State, StateSpace, is_even};

#[test]
fn all_ranks_of_up_to_8_elements_are_lexicographic() {
    for n in 1..=8usize {
        let mut previous = Vec::new();
        let mut even = 0;
        for rank in 0..lehmer::count(n) {
            let mut line = vec![0; n];
            lehmer::unrank(rank, &mut line);
            assert!(line > previous, "{line:?} follows {previous:?}");
            assert_eq!(lehmer::rank(&line), rank);
            if is_even(&line) {
                let mut same = vec![0; n];
                lehmer::unrank_in_parity(0, even, &mut same);
                assert_eq!(line, same);
                assert_eq!(lehmer::rank_in_parity(&line), (0, even));
                even += 1;
            }
            previous = line;
        }
        assert_eq!(even, lehmer::even_count(n));
    }
}

#[test]
fn all_placements_of_3_in_6_cells_are_lexicographic() {
    let mut previous = Vec::new();
    for rank in 0..placement::count(6, 3).unwrap() {
        let mut cells = [0; 3];
        placement::unrank(6, rank, &mut cells);
        assert!(cells.to_vec() > previous);
        assert_eq!(placement::rank(6, &cells), rank);
        previous = cells.to_vec();
    }
    assert_eq!(placement::count(6, 3).unwrap(), 120);
}

fn board() -> impl Strategy<Value = Board> {
    (2usize..=4, 2usize..=5).prop_flat_map(|(rows, cols)| {
        let size = Size::new(rows, cols).unwrap();
        let tiles: Vec<u16> = (0..size.cells() as u16).collect();
        Just(tiles).prop_shuffle().prop_map(move |tiles| Board::new(size, &tiles).unwrap())
    })
}

proptest! {
    #[test]
    fn ranks_of_long_lines_are_inverse(n in 9usize..=20, seed in any::<u64>()) {
        let mut line = vec![0; n];
        let rank = seed % lehmer::count(n);
        lehmer::unrank(rank, &mut line);
        prop_assert_eq!(lehmer::rank(&line), rank);
        let rank = seed % lehmer::even_count(n);
        lehmer::unrank_in_parity(0, rank, &mut line);
        prop_assert!(is_even(&line));
        prop_assert_eq!(lehmer::rank_in_parity(&line), (0, rank));
    }

    #[test]
    fn placements_are_inverse(cells in 1usize..=36, k in 0usize..=8, seed in any::<u64>()) {
        let k = k.min(cells);
        let rank = seed % placement::count(cells, k).unwrap();
        let mut tiles = vec![0; k];
        placement::unrank(cells, rank, &mut tiles);
        prop_assert_eq!(placement::rank(cells, &tiles), rank);
    }

    #[test]
    fn boards_survive_notation_and_frames(goal in board(), swaps in any::<u64>()) {
        let parsed = Board::parse(&goal.to_string(), None).unwrap();
        prop_assert_eq!(&parsed, &goal);
        // Any board of the goal's size: the goal's entries rotated.
        let mut tiles = goal.tiles().to_vec();
        tiles.rotate_left(swaps as usize % goal.size().cells());
        let board = Board::new(goal.size(), &tiles).unwrap();
        let frame = Coordinates::new(goal.clone());
        let (line, cell) = frame.encode(&board).unwrap();
        prop_assert_eq!(frame.decode(&line, cell), board.clone());
        let space = StateSpace::of_board(goal);
        match space.state(&board) {
            Ok(state) => {
                prop_assert!(frame.solvable(&board).unwrap());
                prop_assert_eq!(space.board(state).unwrap(), board);
                prop_assert_eq!(space.from_id(space.id(state)), Some(state));
            }
            Err(error) => {
                prop_assert!(!frame.solvable(&board).unwrap());
                prop_assert!(error.to_string().contains("parity is odd"));
            }
        }
    }

    /// A random walk of tile slides on the board and of window moves on the line stay together: the
    /// moves of every size are right, and slides never change the parity.
    #[test]
    fn window_moves_are_slides(goal in board(), steps in prop::collection::vec(any::<u8>(), 1..60)) {
        let size = goal.size();
        let path = SnakePath::new(size);
        let puzzle = path.puzzle(Metric::Stm);
        let frame = Coordinates::new(goal.clone());
        let mut tiles = goal.tiles().to_vec();
        let (mut line, mut cell) = frame.encode(&goal).unwrap();
        for step in steps {
            let edges: Vec<_> = puzzle.edges().iter().filter(|e| e.from == cell).collect();
            let edge = edges[usize::from(step) % edges.len()];
            let (from, to) = (path.cell(edge.from), path.cell(edge.to));
            let near = from.abs_diff(to);
            prop_assert!(near == size.cols() || (near == 1 && from / size.cols() == to / size.cols()));
            tiles.swap(from, to);
            puzzle.windows()[edge.window].apply(&mut line);
            cell = edge.to;
            prop_assert_eq!(frame.decode(&line, cell), Board::new(size, &tiles).unwrap());
            prop_assert!(is_even(&line));
        }
    }
}

#[test]
fn a_state_id_out_of_range_is_no_state() {
    let space = StateSpace::of_board(Board::ordered(Size::new(2, 3).unwrap(), 0).unwrap());
    assert_eq!(space.from_id(359), Some(State { line: 59, cell: 5 }));
    assert_eq!(space.from_id(360), None);
}

#[test]
fn every_line_has_one_place() {
    let layouts =
        (5..=8).map(|n| Layout::sliced(n).unwrap()).chain((6..=8).map(|n| Layout::new(n).unwrap()));
    for layout in layouts {
        let n = layout.len();
        let mut seen = std::collections::HashSet::new();
        for rank in 0..lehmer::count(n) {
            let mut line = vec![0; n];
            lehmer::unrank(rank, &mut line);
            let place = layout.place(&line);
            let register = place.block * layout.block_registers() + place.register;
            assert!(place.register < layout.block_registers() && place.block < layout.blocks());
            assert_eq!((register * LANES + place.lane) as u64, rank / 2);
            assert_eq!(place.parity, usize::from(!is_even(&line)));
            assert!(layout.in_slice(place) < layout.slice_registers());
            assert!(seen.insert(place));
            let mut back = vec![0; n];
            layout.line(place, &mut back);
            assert_eq!(back, line);
        }
    }
    assert!(Layout::sliced(4).is_none() && Layout::sliced(9).is_none() && Layout::new(5).is_none());
}

#[test]
fn subsets_are_ranked_in_order() {
    for (n, k) in [(9, 4), (16, 8), (25, 3), (36, 2), (5, 0), (36, 4)] {
        let subsets = placement::Subsets::new(n, k).unwrap();
        let mut last = None;
        let mut count = 0;
        for (rank, set) in subsets.iter().enumerate() {
            assert_eq!((subsets.rank(set), set.count_ones() as usize), (rank, k));
            assert!(set >> n == 0 && last.is_none_or(|last| last < set));
            assert_eq!(subsets.unrank(rank), set);
            last = Some(set);
            count += 1;
        }
        assert_eq!(count, subsets.count());
    }
    assert!(placement::Subsets::new(37, 2).is_none());
}

#[test]
fn checksums_of_states_and_of_words_agree() {
    let bits = 0x8001_0402_8000_0001u64;
    let sum = (0..64)
        .filter(|i| bits >> i & 1 == 1)
        .fold(0u64, |sum, i| sum.wrapping_add(layout::state(7, 16 + i / 8, i % 8)));
    let word = |r, j, word| layout::word(layout::mix(r), j, word);
    assert_eq!(sum, word(7, 2, bits));
    assert_eq!(word(0, 2, 0), 0);
    // Registers exchanged.
    assert_ne!(
        word(0, 0, 1).wrapping_add(word(1, 0, 2)),
        word(0, 0, 2).wrapping_add(word(1, 0, 1))
    );
}

#[test]
fn ranks_of_few_and_of_many_elements_are_the_same() {
    // Up to 16 elements and beyond are ranked by different means: a line that goes on in order has the same digits.
    let mut random = tilewave::random::SplitMix64::new(1);
    for n in 2..=16u8 {
        let mut line: Vec<u8> = (0..n).collect();
        for _ in 0..200 {
            for last in (1..line.len()).rev() {
                line.swap(last, random.below(last as u64 + 1) as usize);
            }
            let (odd, half) = lehmer::rank_in_parity(&line);
            let rank = lehmer::rank(&line);
            assert_eq!(half, rank / 2);
            let digits =
                (0..line.len()).map(|x| line[x + 1..].iter().filter(|y| **y < line[x]).count());
            assert_eq!(odd, digits.clone().sum::<usize>() % 2);
            let radixes = (1..=line.len()).rev();
            let plain = digits
                .zip(radixes)
                .fold(0, |rank, (digit, radix)| rank * radix as u64 + digit as u64);
            assert_eq!(rank, plain);
            let cells = &line[..line.len().div_ceil(2)];
            let plain = placement_rank(line.len(), cells);
            assert_eq!(tilewave::placement::rank(line.len(), cells), plain);
        }
    }
}

/// The rank of a placement by its definition.
fn placement_rank(n: usize, cells: &[u8]) -> u64 {
    let digit = |i: usize| cells[i] as usize - cells[..i].iter().filter(|c| **c < cells[i]).count();
    (0..cells.len()).fold(0, |rank, i| rank * (n - i) as u64 + digit(i) as u64)
}
