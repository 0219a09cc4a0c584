"""Solutions: optimal and fast."""

import numpy as np
import pytest
import tilewave
from tilewave import PatternDatabase

# Korf's instance 12, of 45 moves.
KORF = [14, 1, 9, 6, 4, 8, 12, 5, 7, 2, 3, 0, 10, 11, 13, 15]


def ends(board, moves, goal, size=None):
    return (tilewave.apply_moves(board, str(moves), size=size)[-1] == np.ravel(goal)).all()


def test_solutions_are_shortest():
    table = tilewave.DistanceTable.build("3x3")
    boards = tilewave.scramble("3x3", 100, rng=1)
    solutions = tilewave.solve(boards)
    assert [len(solution) for solution in solutions] == table.depths(boards).tolist()
    assert all(ends(board, solution, table.goal) for board, solution in zip(boards, solutions))
    assert all(solution.nodes > 0 and solution.seconds >= 0 for solution in solutions)
    one = tilewave.solve(boards[0])
    assert one.moves == solutions[0].moves and str(one) == one.moves


def test_goals_and_shapes():
    table = tilewave.DistanceTable.build("2x4", goal="first")
    boards = tilewave.scramble("2x4", 50, goal="first", rng=1)
    for shaped, size in ((boards, "2x4"), (boards.reshape(50, 2, 4), None)):
        solutions = tilewave.solve(shaped, goal="first", size=size)
        assert [len(solution) for solution in solutions] == table.depths(boards).tolist()
    assert tilewave.solve(boards[:0], size="2x4") == []
    texts = ["1 2 3 4/5 6 0 7", "1 2 3 4/5 6 7 0"]
    assert [len(solution) for solution in tilewave.solve(texts)] == [1, 0]


def test_fifteen_puzzles_with_databases_of_ones_own():
    boards = tilewave.scramble("4x4", 4, rng=11)
    expected = [len(solution) for solution in tilewave.solve(boards)]
    parts = [[1, 2, 5, 6, 9, 10], [3, 4, 7, 8, 11, 12], [13, 14, 15]]
    databases = [PatternDatabase.build("4x4", part) for part in parts]
    solver = tilewave.Solver("4x4", databases=databases)
    for db in databases:
        db.close()
    assert [len(solution) for solution in solver.solve(boards)] == expected
    korf = tilewave.solve(KORF, goal="first")
    assert len(korf) == 45 and ends(KORF, korf, range(16))


def test_databases_that_leave_tiles_out_give_shortest_solutions():
    five = PatternDatabase.build("4x4", [1, 2, 3, 4, 5])
    near = "1 2 3 4/5 6 7 8/9 10 15 11/13 14 12 0"
    assert len(tilewave.Solver("4x4", databases=[five]).solve(near)) == 4
    random = np.random.default_rng(24)
    for size, goal in (("2x3", "first"), ("2x4", "last"), ("3x3", "blank=1"), ("3x3", "last")):
        table = tilewave.DistanceTable.build(size, goal=goal)
        for trial in range(8):
            tiles = random.permutation(np.arange(1, table.goal.size))[:-1].tolist()
            parts = [tiles[:2], tiles[2:5][: trial % 4]]
            kinds = ({"kind": "additive-min"}, {"kind": "region-aware"}, {"kind": "region-aware", "encoding": "bit"})
            databases = [
                PatternDatabase.build(size, part, goal=goal, **kinds[random.integers(3)])
                for part in parts
                if part
            ]
            boards = tilewave.scramble(size, 20, goal=goal, rng=trial)
            solutions = tilewave.Solver(size, goal=goal, databases=databases).solve(boards)
            assert [len(solution) for solution in solutions] == table.depths(boards).tolist()
            assert all(ends(b, s, table.goal, size) for b, s in zip(boards, solutions))


def test_fast_solutions_are_solutions():
    for size in ("3x3", "4x4", "3x5", "10x10", "17x17"):
        boards = tilewave.scramble(size, 20, rng=1)
        goal = tilewave.Puzzle(size).goal
        for board, moves in zip(boards, tilewave.solve(boards, size=size, optimal=False)):
            assert ends(board, moves, goal, size)
    assert str(tilewave.solve("1 2/3 0", optimal=False)) == ""


@pytest.mark.parametrize("solve", [tilewave.solve, lambda boards: tilewave.solve(boards, optimal=False)])
def test_the_row_that_cannot_be_solved_is_named(solve):
    good, odd = [1, 2, 3, 4, 5, 6, 7, 0, 8], [2, 1, 3, 4, 5, 6, 7, 8, 0]
    with pytest.raises(ValueError, match="^row 1: .*parity is odd"):
        solve([good, odd, odd])
    with pytest.raises(ValueError, match="^'2 1 3/4 5 6/7 8 0' is not solvable"):
        solve(odd)
    with pytest.raises(ValueError, match="^row 2: tile 8 occurs twice"):
        solve([good, good, [1, 2, 3, 4, 5, 6, 7, 8, 8]])
    with pytest.raises(ValueError, match="one-dimensional sequence of boards"):
        solve([[good]])


def test_databases_that_do_not_fit_are_refused():
    one = PatternDatabase.build("3x3", [1, 2, 3])
    with pytest.raises(ValueError, match="more than one pattern"):
        tilewave.Solver("3x3", databases=[one, one])
    with pytest.raises(ValueError, match="the databases are for 3x3"):
        tilewave.Solver("4x4", databases=[one])
    with pytest.raises(ValueError, match="no database"):
        tilewave.Solver("3x3", databases=[])
    with pytest.raises(ValueError, match="too large"):
        tilewave.Solver("7x7")
    one.close()
    with pytest.raises(ValueError, match="closed"):
        tilewave.Solver("3x3", databases=[one])
