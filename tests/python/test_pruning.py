"""Pruning tables and solvers of cubes and other puzzles."""

import json
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
import tilewave


def mixed(puzzle, count, length=15, seed=1):
    """States after random moves, (count, positions)."""
    rng = np.random.default_rng(seed)
    return np.stack([puzzle.apply_moves(puzzle.goal, rng.choice(puzzle.moves, length).tolist())[-1] for _ in range(count)])


def test_tables_have_the_depths_of_searches(tmp_path):
    cube = tilewave.Puzzle("2x2x2")
    graph_counts = tilewave.bfs(cube).counts.tolist()
    for encoding in ["nibble", "byte", "mod3"]:
        table = tilewave.PruningTable.build(cube, encoding=encoding)
        assert table.histogram.tolist() == graph_counts and table.encoding == encoding
        path = tmp_path / f"{encoding}.table"
        table.save(path)
        again = tilewave.PruningTable.open(path)
        states = mixed(cube, 60)
        depths = table.depths(states)
        assert depths.dtype == np.int16 and (again.depths(states) == depths).all()
        assert table.depths(cube.goal) == 0 and again.nbytes == path.stat().st_size
        with pytest.raises(FileExistsError):
            table.save(path)
    solutions = tilewave.PuzzleSolver(cube, tables=[table]).solve(states)
    assert [len(solution) for solution in solutions] == depths.tolist()


def test_a_table_of_some_pieces_takes_states_of_the_puzzle():
    cube = tilewave.Puzzle("3x3x3")
    cross = tilewave.PruningTable.build("3x3x3", pieces="edges:1-4")
    own = tilewave.Puzzle("3x3x3", pieces="edges:1-4")
    states = mixed(cube, 200)
    depths = cross.depths(states, puzzle=cube)
    assert 0 < depths.min() and depths.max() <= 8
    solver = tilewave.PuzzleSolver(own, tables=[cross])
    assert len(solver.solve("R U F")) == cross.depths(cube.apply_moves(cube.goal, "R U F")[-1], puzzle=cube) == 2
    assert cross.depths(["R U F", "R R'"], puzzle=cube).tolist() == [2, 0] and cross.depths("F") == 1
    with pytest.raises(ValueError, match="is not for a projection"):
        cross.depths(tilewave.Puzzle("pyraminx").goal, puzzle="pyraminx")
    with pytest.raises(ValueError, match="row 1"):
        cross.depths(np.stack([cube.goal, np.zeros_like(cube.goal)]), puzzle=cube)


def test_a_table_up_to_symmetry_has_the_same_depths_in_less(tmp_path):
    cube = tilewave.Puzzle("3x3x3")
    whole, less = (tilewave.PruningTable.build("3x3x3", pieces="edges:1-4", up_to_symmetry=less) for less in (False, True))
    states = mixed(cube, 500)
    assert (whole.depths(states, puzzle=cube) == less.depths(states, puzzle=cube)).all()
    assert whole.histogram.tolist() == less.histogram.tolist() and less.nbytes * 3 < whole.nbytes
    less.save(tmp_path / "cross.table")
    again = tilewave.PruningTable.open(tmp_path / "cross.table")
    assert (again.depths(states, puzzle=cube) == whole.depths(states, puzzle=cube)).all()
    # Of the pyraminx all 24 are found.
    whole, less = (tilewave.PruningTable.build("pyraminx", up_to_symmetry=less) for less in (False, True))
    assert whole.histogram.tolist() == less.histogram.tolist() and less.nbytes * 6 < whole.nbytes


def test_a_million_states_are_looked_up_in_a_moment():
    cube = tilewave.Puzzle("3x3x3")
    table = tilewave.PruningTable.build("3x3x3", pieces="corners:1-4")
    states = np.tile(mixed(cube, 1000), (1000, 1))
    begun = time.perf_counter()
    depths = table.depths(states, puzzle=cube)
    seconds = time.perf_counter() - begun
    assert (depths.reshape(1000, 1000) == depths[:1000]).all()
    # Some 0.1 s on two idle cores; builds without optimisation and busy machines take longer.
    assert seconds < 20, seconds


def test_puzzles_are_solved_by_their_names():
    solution = tilewave.solve("2x2x2", "R U R' F2 R")
    assert (str(solution), len(solution), solution.optimal) == ("R' F2 R U' R'", 5, True)
    assert solution == pickle.loads(pickle.dumps(solution)) and "5 moves" in repr(solution)
    many = tilewave.solve("pyraminx", ["U L", "R R'"])
    assert [len(solution) for solution in many] == [2, 0]
    cube = tilewave.Puzzle("2x2x2")
    states = mixed(cube, 10)
    for state, solution in zip(states, tilewave.solve(cube, states)):
        assert (cube.apply_moves(state, solution.moves)[-1] == cube.goal).all()


def test_limits_and_wrong_states_are_told():
    tables = [tilewave.PruningTable.build("3x3x3", pieces=pieces) for pieces in ["corners:1-3", "edges:1-3"]]
    solver = tilewave.PuzzleSolver("3x3x3", tables=tables, threads=1)
    hard = solver.solve("R U F2 L D' B R' U2 F L2 D B' R", max_nodes=20_000)
    assert not hard and hard.at_least >= 6
    with pytest.raises(ValueError, match="sum of the orientations"):
        solver.solve("corners 1 2 3 4 5 6 7 8/0 0 0 0 0 0 0 1; edges 1 2 3 4 5 6 7 8 9 10 11 12/0 0 0 0 0 0 0 0 0 0 0 0")
    with pytest.raises(ValueError, match="Q"):
        solver.solve("R Q")
    with pytest.raises(ValueError, match="are only for boards"):
        tilewave.solve("2x2x2", "R", optimal=False)
    with pytest.raises(TypeError):
        tilewave.PuzzleSolver("2x2x2", tables=7)


def test_coset_tables_solve_cubes(tmp_path):
    """The set that the program builds, and its table alone; another puzzle is refused."""
    command = [sys.executable, "-m", "tilewave", "pdb", "set", "build", "3x3x3", "-M", "6MB", "-o", tmp_path, "-q"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (table,) = tmp_path.glob("*.cosets")
    for tables in (tmp_path / "set.json", table, [table]):
        solver = tilewave.PuzzleSolver("3x3x3", tables=tables)
        assert len(solver.solve("R U F' L2 D B R'")) == 7
        # Exact near the solved state, and never more than the length.
        assert solver.bounds("R U") == 2
        bounds = solver.bounds(["", "R2", "R U F' L2 D B R'"])
        twisted = "corners 1 2 3 4 5 6 7 8/1 0 0 0 0 0 0 0; edges 1 2 3 4 5 6 7 8 9 10 11 12"
        assert solver.bounds(twisted) == -1
        assert bounds.dtype == np.int16 and bounds.tolist()[:2] == [0, 1] and 2 <= bounds[2] <= 7
    with pytest.raises(ValueError, match="is a coset table for 3x3x3"):
        tilewave.PuzzleSolver("3x3x3", metric="qtm", tables=table)


def test_how_long_some_states_take(tmp_path):
    """A step of a method, with the goals' own puzzle and with the one in whose pieces the states are written."""
    cross = tilewave.Puzzle("2x2x2", goals=["corners 1 2 3 ? ? ? ?/0 0 0 ? ? ? ?"])
    begins = "corners 1 2 ? ? ? ? ?/0 0 ? ? ? ? ?"
    found = tilewave.PuzzleSolver(cross).distribution([begins], of=tilewave.Puzzle("2x2x2"))
    (tmp_path / "goals").write_text("corners 1 2 3 ? ? ? ?/0 0 0 ? ? ? ?")
    (tmp_path / "from").write_text(begins)
    command = [sys.executable, "-m", "tilewave", "bfs", "2x2x2", "--format", "json", "-q"]
    command += ["--goals", tmp_path / "goals", "--from", tmp_path / "from"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert found.counts.tolist() == told["counts"] and told["among"] == [begins]
    assert found.counts.sum() == 15 and found.complete and found.engine == "solver"
    with pytest.raises(ValueError, match="leave open some pieces"):
        tilewave.PuzzleSolver(cross).distribution("corners 1 ? ? 4 ? ? ?/0 ? ? 0 ? ? ?", of="2x2x2")
    with pytest.raises(ValueError, match="more than 1048576"):
        tilewave.PuzzleSolver("2x2x2").distribution("corners ? ? ? ? ? ? ?")


def test_solvers_choose_their_tables_as_the_program_does():
    # Near states need no tables, also where these would take minutes.
    wide = tilewave.PuzzleSolver("4x4x4")
    near = wide.solve(["R U2 2F D", "2L' U"])
    assert [len(solution) for solution in near] == [4, 2]
    # Others get a coset table.
    cube = tilewave.PuzzleSolver("3x3x3", memory="16MB")
    sequence = "R U2 F' L D B2 U' R F2 L' U2 B R2 D"
    far = cube.solve(sequence)
    puzzle = tilewave.Puzzle("3x3x3")
    states = puzzle.apply_moves(puzzle.goal, f"{sequence} {far.moves}")
    assert far.optimal and len(far) == 14 and (states[-1] == puzzle.goal).all()
    # The same table solves the others.
    assert len(cube.solve("R U F")) == 3
    with pytest.raises(ValueError, match="no moves of 3x3x3 lead to this state"):
        tilewave.PuzzleSolver("3x3x3").solve("corners 1 2 3 4 5 6 7 8; edges 2 1 3 4 5 6 7 8 9 10 11 12")
