"""What users of Python expect of objects: truth, equality, copies, processes, read-only arrays."""

import copy
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest
import tilewave
from tilewave import DistanceTable, PatternDatabase, Puzzle

DATA = Path(__file__).parents[1] / "data" / "puzzles"
HARD = "14 15 8 12/10 11 9 13/2 6 5 1/3 7 4 0"


def test_a_solution_of_no_moves_is_a_solution():
    solution = tilewave.solve("1 2 3/4 5 6/7 8 0")
    assert solution and len(solution) == 0 and str(solution) == "" and solution.optimal
    quick = tilewave.solve("1 2 3/4 5 6/7 8 0", optimal=False)
    assert quick and quick.moves == "" and len({solution, tilewave.solve("1 2 3/4 5 6/7 0 8")}) == 2


def test_a_solution_that_was_not_found_is_none():
    solver = tilewave.Solver("4x4")
    limited = solver.solve(HARD, max_nodes=10_000)
    assert not limited and not limited.optimal and limited.at_least > 40 and limited.nodes > 0
    assert "not found" in repr(limited)
    for use in (lambda: limited.moves, lambda: len(limited), lambda: str(limited)):
        with pytest.raises(ValueError, match="within the limits: every solution has at least"):
            use()
    some = solver.solve(["1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15", HARD], max_nodes=10_000)
    assert [bool(solution) for solution in some] == [True, False]


def test_a_solver_keeps_to_its_time_and_tells_how_far_it_is():
    told = []
    begun = time.perf_counter()
    solver = tilewave.Solver("5x5", databases=[PatternDatabase.build("5x5", [1, 2, 6, 7])], threads=1)
    board = tilewave.scramble("5x5", rng=3)
    solution = solver.solve(board, timeout=1.0, progress=lambda *now: told.append(now))
    assert not solution and time.perf_counter() - begun < 60
    assert len(told) > 1 and told[-1][0] == 1 and told[0][0] == 0
    assert all(len(now) == 3 and now[2] >= 0 for now in told)
    with pytest.raises(ZeroDivisionError):
        solver.solve(board, timeout=30, progress=lambda *_: 1 / 0)
    for timeout in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="timeout"):
            solver.solve(board, timeout=timeout)
    with pytest.raises(ValueError, match="optimal=True"):
        tilewave.solve(board, optimal=False, timeout=1)


def test_a_database_is_a_function_and_no_sequence():
    db = PatternDatabase.build("3x3", [1, 2, 3])
    assert db and callable(db) and db("1 2 3/4 5 6/7 8 0") == 0
    for use in (list, len, iter, lambda db: 0 in db, lambda db: db[0]):
        with pytest.raises(TypeError):
            use(db)
    db.close()
    assert db and db.closed


PUZZLES = [
    lambda: Puzzle("3x3"),
    lambda: Puzzle("3x4", goal="first", metric="mtm"),
    lambda: Puzzle("2x3", goal=[[3, 1, 2], [4, 0, 5]]),
    lambda: Puzzle("lrx:6"),
    lambda: Puzzle("3x3x3", metric="qtm"),
    lambda: Puzzle("3x3x3", pieces="corners"),
    lambda: Puzzle(DATA / "dino.gap"),
    lambda: Puzzle(DATA / "lanterns.tws"),
    lambda: Puzzle(DATA / "wheels.tws", directed=True),
    lambda: Puzzle.from_generators([[1, 2, 0], [1, 0, 2]], names=["a", "b"]),
    lambda: Puzzle.from_generators([[1, 2, 0], [1, 0, 2]], solved=[0, 0, 1], orientations=2, twists=[[1, 1, 0], [0, 0, 0]]),
]


def test_puzzles_are_equal_when_they_are():
    made = [make() for make in PUZZLES]
    assert len(set(made)) == len(made) and len(set(made + [make() for make in PUZZLES])) == len(made)
    for i, one in enumerate(made):
        assert one == PUZZLES[i]() and hash(one) == hash(PUZZLES[i]()) and one != "3x3"
        assert not any(one == other for other in made[:i])


@pytest.mark.parametrize("number", range(len(PUZZLES)))
def test_puzzles_are_copied_and_pickled(number):
    puzzle = PUZZLES[number]()
    for again in (copy.copy(puzzle), copy.deepcopy(puzzle), pickle.loads(pickle.dumps(puzzle))):
        assert again == puzzle and again.name == puzzle.name and again.moves == puzzle.moves
        assert again.metric == puzzle.metric and again.num_states == puzzle.num_states and repr(again) == repr(puzzle)
        first, second = (tilewave.bfs(of, max_depth=3) for of in (puzzle, again))
        assert first.checksums.tolist() == second.checksums.tolist()


@pytest.mark.parametrize("name", ["3x3", "2x2x2"])
def test_results_are_pickled(name):
    result = tilewave.bfs(name)
    again = pickle.loads(pickle.dumps(result))
    assert again.counts.tolist() == result.counts.tolist() and again.to_dict() == result.to_dict()
    assert str(again) == str(result) and again.svg() == result.svg() and repr(again) == repr(result)
    assert (again.last_layer == result.last_layer).all() and again.num_states == result.num_states
    solution = tilewave.solve("1 2 3/4 5 6/7 0 8")
    assert copy.copy(solution) == solution == pickle.loads(pickle.dumps(solution))


def look_up(db, table, boards):
    return db(boards).tolist(), table.depths(boards).tolist()


@pytest.mark.parametrize("options", [dict(), dict(mmap=True)])
def test_files_that_are_open_go_to_other_processes(tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    boards = tilewave.scramble("3x3", 3000, rng=1)
    built, whole = PatternDatabase.build("3x3", [1, 2, 3]), DistanceTable.build("3x3")
    for of in (built, whole):
        with pytest.raises(TypeError, match="save it, and open the file"):
            pickle.dumps(of)
    built.save("a.pdb")
    whole.save("a.table")
    db, table = PatternDatabase.open("a.pdb", **options), DistanceTable.open("a.table", **options)
    expected = look_up(built, whole, boards)
    assert look_up(db, table, boards) == expected == look_up(*map(copy.copy, (db, table)), boards)
    with multiprocessing.get_context("spawn").Pool(1) as workers:
        assert workers.apply(look_up, (db, table, boards)) == expected
    db.close()
    with pytest.raises(ValueError, match="closed"):
        pickle.dumps(db)


def test_mapped_files_are_checked(tmp_path):
    path = tmp_path / "a.pdb"
    PatternDatabase.build("3x3", [1, 2, 3, 4]).save(path)
    table = tmp_path / "a.table"
    DistanceTable.build("3x3").save(table)
    for file, open_ in ((path, PatternDatabase.open), (table, DistanceTable.open)):
        damaged = bytearray(file.read_bytes())
        damaged[-100] ^= 1
        file.write_bytes(damaged)
        with pytest.raises(ValueError):
            open_(file, mmap=True)
        with pytest.raises(FileNotFoundError):
            open_(tmp_path / "none", mmap=True)
    with pytest.raises(ValueError, match="cannot be used together"):
        DistanceTable.open(table, lazy=True, mmap=True)


def test_counts_are_one_array_that_nobody_writes_into():
    result = tilewave.bfs("2x3")
    for name in ("counts", "checksums", "level_seconds"):
        array = getattr(result, name)
        assert getattr(result, name) is array and not array.flags.writeable
        with pytest.raises(ValueError):
            array[0] = 99
    cube = tilewave.bfs("2x2x2", max_depth=3)
    assert cube.counts_up_to_symmetry is cube.counts_up_to_symmetry


def test_levels_are_columns():
    cube = tilewave.bfs("2x2x2", max_depth=4)
    levels = cube.levels()
    assert list(levels) == ["depth", "states", "states_up_to_symmetry", "cumulative", "seconds", "checksum"]
    assert {len(column) for column in levels.values()} == {5} and levels["cumulative"][-1] == cube.num_found
    assert "states_up_to_symmetry" not in tilewave.bfs("2x3").levels()
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pandas.DataFrame(levels)
    assert frame.shape == (5, 6) and frame.states.sum() == cube.num_found
    assert polars.DataFrame(levels)["states"].to_list() == cube.counts.tolist()


def test_adjacency_makes_a_sparse_matrix():
    sparse = pytest.importorskip("scipy.sparse")
    graph = Puzzle("2x4").adjacency()
    matrix = sparse.csr_array(graph.csr)
    assert matrix.shape == (20160, 20160) and (matrix != matrix.T).nnz == 0
    depths = sparse.csgraph.shortest_path(matrix, unweighted=True, indices=0)
    assert (depths == graph.depths).all()


def test_memory_takes_a_unit():
    assert tilewave.bfs("3x3", memory="1GiB").diameter == 31
    with pytest.raises(MemoryError):
        tilewave.bfs("3x4", memory="1kB")
    for text, said in (("8", "not a size"), ("8Gb", "bits"), ("much", "not a size")):
        with pytest.raises(ValueError, match=f"memory: .*{said}"):
            tilewave.bfs("3x3", memory=text)


def test_scrambles_take_a_generator():
    first, second = (tilewave.scramble("4x4", 5, rng=np.random.default_rng(1)) for _ in range(2))
    assert (first == second).all()
    rng = np.random.default_rng(1)
    assert (tilewave.scramble("4x4", 5, rng=rng) != tilewave.scramble("4x4", 5, rng=rng)).any()
    assert tilewave.scramble("4x4", rng=np.uint8(5)).shape == (16,)


def test_solvers_take_set_files_and_files(tmp_path):
    parts = [[1, 2, 3, 4], [5, 6, 7, 8]]
    for i, part in enumerate(parts):
        PatternDatabase.build("3x3", part, kind="region-aware").save(tmp_path / f"{i}.pdb")
    PatternDatabase.build("3x3", [1, 2, 3], kind="all-moves").save(tmp_path / "all.pdb")
    (tmp_path / "set.json").write_text('{"tilewave_set": 1, "partitions": [["0.pdb", "1.pdb"], ["all.pdb"]]}')
    boards = tilewave.scramble("3x3", 30, rng=1)
    expected = DistanceTable.build("3x3").depths(boards).tolist()
    files = [tmp_path / "0.pdb", str(tmp_path / "1.pdb")]
    for databases in (
        tmp_path / "set.json",
        str(tmp_path / "set.json"),
        files,
        [*files, tmp_path / "all.pdb"],
        [PatternDatabase.open(files[0]), files[1]],
        files[0],
    ):
        solver = tilewave.Solver("3x3", databases=databases, threads=1)
        assert [len(solution) for solution in solver.solve(boards)] == expected
        assert [len(s) for s in tilewave.solve(boards, databases=databases, threads=2)] == expected
    with pytest.raises(FileNotFoundError):
        tilewave.Solver("3x3", databases=tmp_path / "none.json")
    with pytest.raises(TypeError):
        tilewave.Solver("3x3", databases=5)


def program(*arguments):
    return subprocess.run([sys.executable, "-m", "tilewave", *arguments], capture_output=True, text=True, timeout=300)


def test_the_package_has_the_program(tmp_path):
    done = program("bfs", "3x3", "--format", "json")
    assert done.returncode == 0 and json.loads(done.stdout)["diameter"] == 31
    assert program("--version").stdout.splitlines()[0] == f"tilewave {tilewave.__version__}"
    wrong = program("bfs", "nonsense")
    assert wrong.returncode == 2 and wrong.stderr.startswith("error: 'nonsense'") and not wrong.stdout
    assert program("pdb", "build", "3x3", "--pattern", "1-3", "-o", str(tmp_path / "a.pdb")).returncode == 0
    assert PatternDatabase.open(tmp_path / "a.pdb").tiles == [1, 2, 3]
    (scripts,) = [point for point in entry_points(group="console_scripts") if point.name == "tilewave"] or [None]
    assert scripts is None or scripts.value == "tilewave.__main__:main"


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_the_program_stops_at_ctrl_c():
    child = subprocess.Popen([sys.executable, "-m", "tilewave", "bfs", "3x4", "--engine", "reference", "-j", "1"], stderr=subprocess.PIPE)
    time.sleep(2)
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == 130
