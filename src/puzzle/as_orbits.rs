//! Boards and permutation puzzles as puzzles with orbits: of any size, without state numbers.
//!
//! Invariant: the solved arrangement is the space's start, and the moves are those of the space.

use crate::puzzle::{
    Board, Definition, Metric, Permutation, PuzzleError, StateSpace,
    orbits::{Orbit, OrbitMove, OrbitPlace, OrbitPuzzle, OrbitTurn, Transformation},
};

impl OrbitPuzzle {
    /// Returns the puzzle of a space, with the start of the space as its solved state.
    ///
    /// ```
    /// use tilewave::frontier::FrontierSearch;
    /// use tilewave::puzzle::orbits::OrbitPuzzle;
    /// use tilewave::{Goal, puzzle::StateSpace};
    /// let space = StateSpace::of_board(Goal::First.board("5x5".parse()?)?);
    /// let mut search = FrontierSearch::new(OrbitPuzzle::of_space(&space)?);
    /// search.max_depth = Some(8);
    /// assert_eq!(search.run()?.counts(), [1, 2, 4, 10, 26, 64, 159, 366, 862]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PuzzleError::Locations`] for boards of more than 128 cells.
    pub fn of_space(space: &StateSpace) -> Result<OrbitPuzzle, PuzzleError> {
        match (space.boards(), space.definition()) {
            (Some((_, start)), _) => board(start, space.metric().unwrap_or_default()),
            (None, Some(definition)) => positions(definition),
            (None, None) => unreachable!("a space is that of a board or has a definition"),
        }
    }
}

fn board(start: &Board, metric: Metric) -> Result<OrbitPuzzle, PuzzleError> {
    let (cells, columns) = (start.size().cells(), start.size().cols());
    if cells > OrbitPuzzle::MAX_LOCATIONS {
        return Err(PuzzleError::Locations { orbit: "tiles".into(), locations: cells });
    }
    let mut tiles = Orbit::distinct("tiles", cells as u8, 1);
    for (piece, &tile) in tiles.solved.iter_mut().zip(start.tiles()) {
        piece.kind = tile as u8;
    }
    let mut moves = Vec::new();
    for (from, to) in (0..cells).flat_map(|from| (0..cells).map(move |to| (from, to))) {
        let in_row = from / columns == to / columns;
        let step = if in_row { 1 } else { columns };
        let in_line = in_row || from % columns == to % columns;
        let far = from.abs_diff(to) / step;
        if !in_line || far == 0 || far > 1 && metric == Metric::Stm {
            continue;
        }
        // The tiles in between follow the blank, one cell each.
        let mut turn = OrbitTurn::still(cells);
        for i in 0..far {
            let cell =
                |steps: usize| if to > from { from + steps * step } else { from - steps * step };
            turn.source[cell(i)] = cell(i + 1) as u8;
        }
        turn.source[to] = from as u8;
        moves.push(OrbitMove {
            name: format!("{from}-{to}"),
            transformation: Transformation(vec![turn]),
            requires: Some(OrbitPlace { orbit: 0, position: from as u8, kind: 0 }),
        });
    }
    OrbitPuzzle::new(start.size().to_string(), vec![tiles], moves)
}

fn positions(definition: &Definition) -> Result<OrbitPuzzle, PuzzleError> {
    let orbit = Orbit::distinct("positions", definition.positions() as u8, 1);
    let one = |(name, permutation): (&String, &Permutation)| OrbitMove {
        name: name.clone(),
        transformation: Transformation(vec![OrbitTurn {
            source: permutation.inverse().images().to_vec(),
            twist: vec![0; definition.positions()],
        }]),
        requires: None,
    };
    let generators = definition.generators().iter().map(|g| one((&g.name, &g.permutation)));
    OrbitPuzzle::new(definition.name(), vec![orbit], generators.collect())
}
