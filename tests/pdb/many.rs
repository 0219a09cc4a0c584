//! Many boards at once against one board after the other.

use tilewave::pdb::{Build, Kind, Pattern};
use tilewave::puzzle::{Board, Goal, Size};
use tilewave::solve::Scrambler;

#[test]
fn values_of_many_boards_are_those_of_each() {
    let goal = Goal::First.board(Size::new(3, 3).unwrap()).unwrap();
    let boards: Vec<Board> = Scrambler::new(goal.clone(), 1).take(5000).collect();
    let rows: Vec<u16> = boards.iter().flat_map(Board::tiles).copied().collect();
    for kind in Kind::ALL {
        for &encoding in kind.encodings() {
            let pdb = Build::new(Pattern::new(goal.clone(), &[1, 2, 5, 8]).unwrap())
                .kind(kind)
                .encoding(encoding);
            let pdb = pdb.run().unwrap();
            let each = |board: &Board| pdb.value(board).unwrap().map_or(-1, i16::from);
            let expected: Vec<i16> = boards.iter().map(each).collect();
            assert_eq!(pdb.values(&rows).unwrap(), expected, "{kind} {encoding}");
            let tiles = |board: &Board| pdb.pattern().cells(board).unwrap();
            let entry = |board: &Board| pdb.entry(&tiles(board), board.blank() as u8);
            let expected: Vec<u64> = boards.iter().map(entry).collect();
            assert_eq!(pdb.entries_of(&rows).unwrap(), expected);
        }
    }
}

#[test]
fn the_first_row_that_is_no_board_is_named() {
    let goal = Goal::Last.board(Size::new(3, 3).unwrap()).unwrap();
    let pattern = Pattern::new(goal.clone(), &[1, 2]).unwrap();
    let pdb = Build::new(pattern).run().unwrap();
    let mut rows = goal.tiles().repeat(20_000);
    for (row, tile) in [(19_000, 64 + 8), (4321, 9), (4322, 8)] {
        rows[9 * row + 8] = tile;
    }
    let error = pdb.values(&rows).unwrap_err().to_string();
    assert_eq!(error, "row 4321: tile 9 is not on a 3x3 board: its tiles are 1 to 8");
    let error = pdb.values(&rows[..25]).unwrap_err().to_string();
    assert_eq!(error, "row 2: the board has 7 cells, but 3x3 needs 9");
    assert!(pdb.values(&[]).unwrap().is_empty());
}
