use super::*;
use crate::pdb::{Build, Encoding, Pdb, build};
use crate::progress::NoProgress;
use crate::puzzle::tiles::{Goal, Size};
use crate::solve::{Optimal, Scrambler};
use std::sync::Arc;

fn database(goal: &Board, tiles: &[u16], encoding: Encoding) -> Arc<Pdb> {
    let how = Build {
        kind: Kind::Regions,
        encoding,
        ..Build::new(Pattern::new(goal.clone(), tiles).unwrap())
    };
    Arc::new(build(&how, &NoProgress).unwrap())
}

#[test]
fn a_pattern_and_its_mirror_image_need_one_database() {
    let goal = Goal::First.board(Size::new(3, 3).unwrap()).unwrap();
    for encoding in [Encoding::Bit, Encoding::Byte] {
        let of = |tiles: &[u16]| database(&goal, tiles, encoding);
        // Tiles 3, 6 and 7 are the mirror images of 1, 2 and 5; 4 and 8 are on the diagonal.
        let (above, below, diagonal) = (of(&[1, 2, 5]), of(&[3, 6, 7]), of(&[4, 8]));
        let one = Optimal::new(&goal, [above.clone(), diagonal.clone()]).unwrap();
        let two = Optimal::new(&goal, [above.clone(), below, diagonal]).unwrap();
        let alone = Optimal::new(&goal, [above]).unwrap();
        assert_eq!([one.views(), two.views(), alone.views()], [2, 1, 2]);
        let mut more = 0;
        for board in Scrambler::new(goal.clone(), 3).take(50) {
            let (value, least) = (
                one.estimate(&board).unwrap(),
                alone.estimate(&board).unwrap(),
            );
            assert_eq!(value, two.estimate(&board).unwrap(), "{board}");
            more += value - least;
            let solved = |solver: &Optimal| solver.solve(&board, &NoProgress).unwrap();
            let (one, two, alone) = (solved(&one), solved(&two), solved(&alone));
            assert_eq!((&one.moves, one.nodes), (&two.moves, two.nodes), "{board}");
            assert_eq!(one.at_least, alone.at_least, "{board}");
        }
        assert!(more > 50, "{more}");
    }
}
