//! Unsolvable boards, explained.

use tilewave::puzzle::{Board, Coordinates, PuzzleErrorKind};
use tilewave::solve::{Scrambler, explain};

use super::{board, goal};

/// The board with its first two tiles exchanged: solvable becomes unsolvable.
fn spoiled(board: &Board) -> Board {
    let mut tiles = board.tiles().to_vec();
    let places: Vec<usize> = (0..tiles.len()).filter(|&cell| tiles[cell] != 0).collect();
    tiles.swap(places[0], places[1]);
    Board::new(board.size(), &tiles).unwrap()
}

#[test]
fn explanations_agree_with_the_frame_and_help() {
    for size in ["2x2", "2x3", "3x3", "4x4", "3x7"] {
        for name in ["first", "last"] {
            let goal = goal(name, size.parse().unwrap());
            let frame = Coordinates::new(goal.clone());
            for good in Scrambler::new(goal.clone(), 3).take(200) {
                assert_eq!(explain(&good, &goal).unwrap(), None, "{good}");
                let bad = spoiled(&good);
                let why = explain(&bad, &goal).unwrap().expect("one exchange spoils a board");
                assert!(!frame.solvable(&bad).unwrap());
                assert_ne!(why.exchanges % 2, why.blank_steps % 2, "{bad}");
                assert!(frame.solvable(&why.board).unwrap(), "{bad}: {why}");
                assert_eq!(differences(&bad, &why.board), why.swap);
                assert_eq!(differences(&goal, &why.goal), why.swap);
                assert!(Coordinates::new(why.goal.clone()).solvable(&bad).unwrap(), "{bad}: {why}");
            }
        }
    }
}

/// The two tiles that stand on exchanged places.
fn differences(a: &Board, b: &Board) -> (u16, u16) {
    let pairs = a.tiles().iter().zip(b.tiles());
    let different: Vec<u16> = pairs.filter(|(x, y)| x != y).map(|(&x, _)| x).collect();
    assert_eq!(different.len(), 2, "{a} and {b}");
    (different[0].min(different[1]), different[0].max(different[1]))
}

#[test]
fn the_exchange_brings_a_tile_home_where_it_can() {
    let last = goal("last", "4x4".parse().unwrap());
    let why = explain(&board("13 2 3 4/5 6 7 8/9 10 11 12/1 14 15 0"), &last).unwrap().unwrap();
    assert_eq!((why.swap, &why.board), ((1, 13), &last));
    let text = why.to_string();
    assert!(
        text.contains("1 exchange of two cells (an odd number) would turn the board into the goal")
            && text.contains("Exchange tiles 1 and 13"),
        "{text}"
    );
}

#[test]
fn only_the_blank_can_be_in_the_way() {
    // Tile 1 and the blank have changed places: no tile can go home by an exchange.
    let last = goal("last", "3x3".parse().unwrap());
    let why = explain(&board("0 2 3/4 5 6/7 8 1"), &last).unwrap().unwrap();
    assert_eq!((why.exchanges, why.blank_steps, why.swap), (1, 4, (1, 6)));
}

#[test]
fn another_size_is_refused() {
    let answer = explain(&board("1 2/3 0"), &goal("last", "2x3".parse().unwrap()));
    assert_eq!(answer.unwrap_err().kind(), PuzzleErrorKind::Shape);
}
