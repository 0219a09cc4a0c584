//! States as rows of an array.

use tilewave::puzzle::{Board, Goal, Size, StateSpace, families, neighbours};
use tilewave::solve::Scrambler;

#[test]
fn rows_are_the_states_that_texts_are() {
    for name in ["topspin:7,4", "lrx:6", "pancake:5", "lx:5"] {
        let definition = families::parse(name).unwrap();
        let space = StateSpace::of_puzzle(definition.clone());
        // Numbers of lines and cells that no moves reach have rows, but these rows have no numbers.
        let all = 0..space.lines() * space.moves().cells() as u64;
        let ids: Vec<u64> =
            all.filter(|&id| space.ids(&space.rows(&[id]).unwrap()).is_ok()).collect();
        assert_eq!(Some(ids.len() as u64), space.states());
        let all = space.rows(&ids).unwrap();
        assert_eq!(space.ids(&all).unwrap(), ids);
        for (row, &id) in all.chunks(space.width()).zip(&ids).step_by(7) {
            let labels: Vec<String> =
                row.iter().map(|&e| definition.labels()[usize::from(e)].to_string()).collect();
            assert_eq!(space.id(space.parse(&labels.join(" ")).unwrap()), id);
            let state = space.parse(&labels.join(" ")).unwrap();
            let arrangement = definition.arrangement(&space.text(state)).unwrap();
            let after = space.after_generators(row).unwrap();
            for (g, after) in after.chunks(space.width()).enumerate() {
                let expected = super::after(&definition, &arrangement, g);
                let after: Vec<u8> = after.iter().map(|&e| e as u8).collect();
                assert_eq!(after, expected.images(), "{name}");
            }
        }
        let error = space.rows(&[0, u64::MAX]).unwrap_err().to_string();
        assert!(error.starts_with("row 1: no state of"), "{error}");
        let error = space.ids(&[0, 1]).unwrap_err().to_string();
        assert!(error.contains("2 elements"), "{error}");
    }
}

#[test]
fn rows_of_boards_are_those_of_boards() {
    let goal = Goal::Blank(4).board(Size::new(3, 4).unwrap()).unwrap();
    let space = StateSpace::of_board(goal.clone());
    let boards: Vec<Board> = Scrambler::new(goal.clone(), 1).take(3000).collect();
    let numbers: Vec<u16> = boards.iter().flat_map(Board::tiles).copied().collect();
    let ids = boards.iter().map(|board| space.id(space.state(board).unwrap()));
    let ids: Vec<u64> = ids.collect();
    assert_eq!(space.ids(&numbers).unwrap(), ids);
    assert_eq!(space.rows(&ids).unwrap(), numbers);
    let mut odd = goal.tiles().to_vec();
    odd.swap(0, 1);
    let error = space.ids(&odd).unwrap_err().to_string();
    assert!(error.starts_with("row 0: '2 1 3 4/0 "), "{error}");
}

#[test]
fn neighbours_are_those_of_boards() {
    for (rows, cols) in [(2, 2), (3, 4), (9, 8)] {
        let size = Size::new(rows, cols).unwrap();
        let goal = Goal::Last.board(size).unwrap();
        let boards: Vec<Board> = Scrambler::new(goal, 1).take(2500).collect();
        let numbers: Vec<u16> = boards.iter().flat_map(Board::tiles).copied().collect();
        let (after, can) = neighbours(size, &numbers).unwrap();
        let pairs = after.chunks(4 * size.cells()).zip(can.chunks(4));
        for (board, (after, can)) in boards.iter().zip(pairs) {
            let mut expected = board.neighbours();
            for (after, &can) in after.chunks(size.cells()).zip(can) {
                let next = if can { expected.next().unwrap().1 } else { board.clone() };
                assert_eq!(after, next.tiles());
            }
            assert_eq!(expected.next(), None);
        }
        let error = neighbours(size, &numbers[1..]).unwrap_err();
        assert!(error.to_string().starts_with("row "), "{error}");
    }
}
