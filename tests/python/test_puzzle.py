"""States as numbers, moves, scrambles."""

import subprocess
import sys

import numpy as np
import oracle
import pytest
import tilewave


@pytest.mark.parametrize("goal", ["last", "first", "blank=1", [[3, 1, 2], [4, 0, 5]]])
def test_numbers_of_boards_are_a_bijection(goal):
    puzzle = tilewave.Puzzle("2x3", goal=goal)
    boards = np.array(sorted(oracle.depths(puzzle.goal.tolist(), 2, 3)))
    ids = puzzle.rank(boards)
    assert ids.dtype == np.uint64 and sorted(ids.tolist()) == list(range(puzzle.num_states))
    assert (puzzle.unrank(ids) == boards).all()
    assert puzzle.rank(puzzle.goal) < puzzle.num_positions


@pytest.mark.parametrize("name", ["topspin:6,4", "lrx:6", "pancake:6", "lx:5"])
def test_numbers_of_other_puzzles_are_a_bijection(name):
    puzzle = tilewave.Puzzle(name)
    ids = np.arange(puzzle.num_states, dtype=np.uint64)
    states = puzzle.unrank(ids)
    assert (np.sort(states, axis=1) == np.arange(puzzle.num_positions)).all()
    assert len(np.unique(states, axis=0)) == puzzle.num_states
    assert (puzzle.rank(states) == ids).all()


def test_numbers_of_many_boards_are_those_of_one():
    boards = tilewave.scramble("3x4", 5000, rng=3)
    ids = tilewave.Puzzle("3x4").rank(boards)
    assert ids.tolist()[:50] == [tilewave.Puzzle("3x4").rank(board) for board in boards[:50]]
    assert (tilewave.Puzzle("3x4").unrank(ids) == boards).all()
    grid = boards.reshape(50, 100, 3, 4)
    assert tilewave.Puzzle("3x4").rank(grid).shape == (50, 100)
    assert (tilewave.Puzzle("3x4").unrank(ids.reshape(50, 100)) == boards.reshape(50, 100, 12)).all()


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", ">i4", ">u2"])
def test_any_integers_in_any_order_are_read(dtype):
    boards = tilewave.scramble("3x3", 500, rng=1)
    rank = tilewave.Puzzle("3x3").rank
    ids = rank(boards)
    typed = boards.astype(dtype)
    assert (rank(typed) == ids).all()
    assert (rank(np.asfortranarray(typed)) == ids).all()
    assert (rank(typed[::-2]) == ids[::-2]).all()
    assert (rank(np.repeat(typed, 2, axis=1)[:, ::2]) == ids).all()
    assert (tilewave.Puzzle("3x3").unrank(ids.astype(dtype if dtype[-1] in "48" else "i8")) == boards).all()


def test_sizes_follow_from_shapes():
    shape = lambda boards: tilewave.neighbors(boards)[0].shape
    assert tilewave.Puzzle("2x2").rank([1, 2, 3, 0]) == 2  # cells are numbered along the snake path
    assert shape([1, 2, 3, 0]) == (4, 4)
    assert shape([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 0]]) == (4, 16)
    assert shape([[1, 2, 3, 0]] * 4) == (4, 4, 4)
    assert (tilewave.neighbors("1 2 3/4 5 0")[0] == tilewave.neighbors([[1, 2, 3], [4, 5, 0]])[0]).all()
    assert shape(["1 2 3/4 5 0"] * 2) == (2, 4, 6)
    assert shape(np.zeros((0, 9), np.uint8)) == (0, 4, 9)
    with pytest.raises(ValueError, match="size="):
        tilewave.neighbors([1, 2, 3, 4, 5, 0])


def test_neighbours_are_those_of_a_plain_search():
    puzzle = tilewave.Puzzle("2x4")
    boards = tilewave.scramble("2x4", 3000, rng=5)
    after, can = puzzle.neighbors(boards)
    assert after.shape == (3000, 4, 8) and can.dtype == bool and after.dtype == np.uint8
    for board, afters, cans in zip(boards.tolist(), after.tolist(), can.tolist()):
        plain = dict(oracle.moves(board, 2, 4))
        for letter, moved, there in zip(puzzle.moves, afters, cans):
            assert there == (letter in plain)
            assert moved == list(plain.get(letter, board))
    assert (tilewave.neighbors(boards.reshape(-1, 2, 4))[0] == after).all()
    assert (tilewave.neighbors(boards, size="2x4")[0] == after).all()


def test_neighbours_of_other_puzzles_are_their_generators():
    generators = [[1, 2, 3, 4, 0], [1, 0, 2, 3, 4]]
    puzzle = tilewave.Puzzle.from_generators(generators, names=["L", "X"])
    assert puzzle.moves == ["L", "X"] and puzzle.num_states == 120
    states = np.array([[0, 1, 2, 3, 4], [4, 2, 0, 1, 3]])
    after, can = puzzle.neighbors(states)
    assert (after == np.stack([states[:, p] for p in generators], axis=1)).all() and can.all()
    one, _ = puzzle.neighbors(states[1])
    assert (one == after[1]).all()


def test_large_boards():
    boards = tilewave.scramble("20x20", 3, rng=1)
    assert boards.dtype == np.int16 and (np.sort(boards, axis=1) == np.arange(400)).all()
    after, can = tilewave.neighbors(boards)
    assert after.shape == (3, 4, 400) and can.sum(axis=1).min() >= 2
    assert tilewave.Puzzle("20x20").num_states is None
    assert (tilewave.scramble("16x16", rng=1) < 256).all()
    with pytest.raises(ValueError, match="at most"):
        tilewave.Puzzle("20x20").rank(boards)


def test_scrambles_depend_on_the_seed_alone():
    assert (tilewave.scramble("4x4", 10, rng=7) == tilewave.scramble("4x4", 20, rng=7)[:10]).all()
    assert (tilewave.scramble("4x4", rng=7) == tilewave.scramble("4x4", 1, rng=7)[0]).all()
    assert (tilewave.scramble("4x4", 10) != tilewave.scramble("4x4", 10)).any()
    first = tilewave.scramble("3x3", 100, goal="first", rng=1)
    tilewave.Puzzle("3x3", goal="first").rank(first)
    assert tilewave.scramble("3x3", 0).shape == (0, 9)


@pytest.mark.parametrize("puzzle", ["3x3x3", "pyraminx", "topspin:8,4", "4x4x4"])
def test_scrambles_are_those_of_the_command(puzzle):
    states = tilewave.scramble(puzzle, 4, rng=3)
    command = [sys.executable, "-m", "tilewave", "scramble", puzzle, "-n", "4", "--seed", "3"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    of = tilewave.Puzzle(puzzle)
    assert states.shape == (4, of.num_positions) and (tilewave.scramble(of, rng=3) == states[0]).all()
    # Both are read as the same states.
    assert (of.neighbors(states)[0] == of.neighbors(lines)[0]).all()


def test_scrambles_of_a_cube_are_looked_up_solved_and_spread():
    table = tilewave.PruningTable.build("2x2x2")
    states = tilewave.scramble("2x2x2", 20_000, rng=1)
    depths = table.depths(states)
    assert abs(depths.mean() - np.average(np.arange(len(table.histogram)), weights=table.histogram)) < 0.05
    assert [len(solution) for solution in tilewave.solve("2x2x2", states[:5])] == depths[:5].tolist()
    pieces = tilewave.Puzzle("3x3x3", pieces="corners:1-3")
    assert (tilewave.PruningTable.build(pieces).depths(tilewave.scramble(pieces, 100)) >= 0).all()
    for beyond in (lambda: tilewave.scramble("2x2x2", goal="first"), lambda: tilewave.scramble("cube")):
        with pytest.raises(ValueError):
            beyond()


def test_play_shows_every_board_on_the_way():
    way = tilewave.apply_moves("1 2 3/4 5 6/7 8 0", "R D2 L")
    assert way.shape == (5, 9)
    assert way[-1].tolist() == [1, 3, 0, 4, 2, 6, 7, 5, 8]
    with pytest.raises(ValueError, match="move 1"):
        tilewave.apply_moves("1 2 3/4 5 6/7 8 0", "U")
    with pytest.raises(ValueError, match="not a move"):
        tilewave.apply_moves("1 2 3/4 5 6/7 8 0", "X")


@pytest.mark.parametrize("text", ['Puzzle("3x4", goal="1 2 3 4/5 6 7 8/9 10 11 0")', 'Puzzle("lrx:5")'])
def test_puzzles_say_what_they_are(text):
    assert repr(eval(text, {"Puzzle": tilewave.Puzzle})) == text


def test_an_environment_in_ten_lines():
    class Sliding:
        def __init__(self, size, seed):
            self.puzzle, self.size, self.seed = tilewave.Puzzle(size), size, seed

        def reset(self):
            self.board = tilewave.scramble(self.size, rng=self.seed)
            return self.board

        def step(self, action):
            after, _ = self.puzzle.neighbors(self.board)
            self.board = after[action]
            done = bool((self.board == self.puzzle.goal).all())
            return self.board, -1.0, done

    world, table = Sliding("3x3", 4), tilewave.DistanceTable.build("3x3")
    start = world.reset()
    way = table.solve(start)
    ends = [world.step("UDLR".index(letter))[2] for letter in way]
    assert ends == [False] * (len(way) - 1) + [True] and len(way) == table.depths(start)
