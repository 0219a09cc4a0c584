"""What is no board, no file and no number: exceptions that say which row and why."""

import re

import numpy as np
import pytest
import tilewave
from tilewave import DistanceTable, PatternDatabase

GOOD = [1, 2, 3, 4, 5, 6, 7, 8, 0]


@pytest.fixture(scope="module")
def asks():
    """Everything that takes 3x3 boards."""
    db, table, puzzle = PatternDatabase.build("3x3", [1, 2, 3]), DistanceTable.build("3x3"), tilewave.Puzzle("3x3")
    return [
        lambda boards: db(boards),
        db.entries,
        table.depths,
        table.solve,
        puzzle.rank,
        puzzle.neighbors,
        lambda boards: tilewave.neighbors(boards, size="3x3"),
        lambda boards: tilewave.solve(boards, size="3x3"),
        lambda boards: tilewave.solve(boards, size="3x3", optimal=False),
    ]


def with_bad(bad, at=3):
    boards = np.array([GOOD] * 7, np.int64)
    boards[at] = bad
    return boards


@pytest.mark.parametrize(
    "boards, said",
    [
        (with_bad([1, 2, 3, 4, 5, 6, 7, 8, 8]), "^row 3: tile 8 occurs twice and the blank is missing"),
        (with_bad([1, 2, 3, 4, 5, 6, 7, 0, 0]), "^row 3: the blank occurs twice and tile 8 is missing"),
        (with_bad([1, 2, 3, 4, 5, 6, 7, 9, 0]), "^row 3: tile 9 is not on a 3x3 board"),
        (with_bad([1, 2, 3, 4, 5, 6, 7, 64, 0]), "^row 3: tile 64 is not on a 3x3 board"),
        (with_bad([1, 2, 3, 4, 5, 6, 7, 72, 0]), "^row 3: tile 72 is not on a 3x3 board"),
        (with_bad([1, 2, 3, 4, 5, 6, 7, 65544, 0]), "^row 3: tile 65544 is not on a 3x3 board"),
        (with_bad([1, 2, 3, 4, 5, 6, 7, -8, 0]), "^row 3: tile -8 is not on a 3x3 board"),
        (with_bad([1, 2, 3, 4, 5, 6, 7, 2**62, 0]), "^row 3: tile .* is not on a 3x3 board"),
        (np.tile(with_bad([8] * 9), (3000, 1)), "^row 3: "),
        ([1, 2, 3, 4, 5, 6, 7, 8, 8], "^tile 8 occurs twice"),
        ("1 2 3/4 5 6/7 8 8", "^tile 8 occurs twice"),
        (["1 2 3/4 5 6/7 8 0", "1 2 3/4 5 6/7 8 x x"], "^row 1: row 3 of the board has 4 tiles"),
        ("hello", "not a tile"),
        (np.zeros((5, 16), np.uint8), r"shape \[5, 16\] contains no 3x3 boards: the shape must be \(.., 9\)"),
        (np.zeros((5, 4, 4), np.uint8), "shape"),
        (np.zeros((9, 0), np.uint8), "shape"),
        (np.array(5), "shape"),
        (np.array(GOOD, float), "the array must contain integers, not float64"),
        (np.array([GOOD], bool), "the array must contain integers, not bool"),
        (np.array([GOOD], object), "the array must contain integers, not object"),
        (np.array([GOOD], complex), "integers"),
        (np.array([GOOD], "M8[s]"), "integers"),
        ([GOOD, GOOD[:-1]], "inhomogeneous|shape|sequence"),
        (None, "integers"),
        ({}, "integers"),
        (object(), "integers"),
    ],
    ids=range(26),
)
def test_bad_boards_are_refused_everywhere(asks, boards, said):
    for ask in asks:
        with pytest.raises(ValueError, match=said):
            ask(boards)


def test_no_boards_are_no_fault(asks):
    for ask in asks:
        ask(np.zeros((0, 9), np.uint8))
        ask(np.zeros((0, 3, 3), np.int32))


@pytest.mark.parametrize(
    "states, said",
    [
        ([[0, 1, 2, 3, 4], [0, 1, 2, 3, 3]], "^row 1: not a permutation: point 4 occurs twice"),
        ([[0, 1, 2, 3, 5]], "^row 0: .*point 6"),
        ([0, 1, 2, 3, -1], "^-1 is not an element: elements are 0 to 4"),
        ([0, 1, 2, 3], "arrangements of 5 elements"),
        ("1 2 3 4", "4 elements"),
        ("1 2 3 4 4", "occurs twice"),
    ],
)
def test_bad_arrangements_are_refused(states, said):
    puzzle, table = tilewave.Puzzle("lrx:5"), DistanceTable.build("lrx:5")
    for ask in (puzzle.rank, puzzle.neighbors, table.depths, table.solve):
        with pytest.raises(ValueError, match=said):
            ask(states)


@pytest.mark.parametrize("ids, said", [([0, 181440], "^row 1: no state of 3x3 has the id 181440"), (-1, "-1"), ([0.5], "integers"), ("0", "integers"), (2**64 - 1, "id")])
def test_bad_numbers_are_refused(ids, said):
    with pytest.raises(ValueError, match=said):
        tilewave.Puzzle("3x3").unrank(ids)


@pytest.mark.parametrize(
    "arguments, said",
    [
        (dict(tiles=[]), "1 to 8 tiles"),
        (dict(tiles=range(1, 10)), "1 to 8 tiles"),
        (dict(tiles=[0, 1]), "blank"),
        (dict(tiles=[1, 1]), "tile 1 occurs twice"),
        (dict(tiles=[99]), "tile 99"),
        (dict(tiles=[-1]), "tile -1"),
        (dict(tiles=[1], kind="best"), "'best' is not a valid kind"),
        (dict(tiles=[1], encoding="bits"), "'bits' is not a valid encoding"),
        (dict(tiles=[1], encoding="bit"), "region-aware"),
        (dict(tiles=[1], goal="nowhere"), "not a goal"),
        (dict(tiles=[1], threads=0), "threads"),
        (dict(tiles=[1], size="7x7"), "at most 6"),
        (dict(tiles=[1], size="four"), "not a board size"),
    ],
)
def test_bad_patterns_are_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        PatternDatabase.build(**{"size": "4x4", **arguments})


def test_bad_tables_are_refused():
    with pytest.raises(ValueError, match="cannot be reversed"):
        DistanceTable.build("lx:5")
    with pytest.raises(ValueError, match="encoding"):
        DistanceTable.build("2x3", encoding="gzip")
    with pytest.raises(ValueError, match="at most 16"):
        DistanceTable.build("5x5")


@pytest.mark.parametrize("open_", [PatternDatabase.open, DistanceTable.open, lambda path: DistanceTable.open(path, lazy=True)])
def test_files_that_are_none_are_refused(tmp_path, open_):
    with pytest.raises(FileNotFoundError, match="nothing"):
        open_(tmp_path / "nothing")
    with pytest.raises(OSError):
        open_(tmp_path)
    other = tmp_path / "other"
    other.write_bytes(b"hello")
    with pytest.raises(ValueError, match="build"):
        open_(other)
    other.write_bytes(b"")
    with pytest.raises(ValueError):
        open_(other)


def test_damage_is_found(tmp_path):
    rng = np.random.default_rng(1)
    db, table = tmp_path / "a.pdb", tmp_path / "a.table"
    PatternDatabase.build("3x3", [1, 2, 3, 4]).save(db)
    DistanceTable.build("2x4").save(table)
    for path, open_ in ((db, PatternDatabase.open), (table, DistanceTable.open)):
        whole = path.read_bytes()
        bad = tmp_path / "bad"
        for _ in range(200):
            damaged = bytearray(whole)
            damaged[rng.integers(len(whole))] ^= 1 << rng.integers(8)
            bad.write_bytes(damaged)
            with pytest.raises(ValueError):
                open_(bad)
        for length in (0, 8, 4095, 4096, len(whole) - 1):
            bad.write_bytes(whole[:length])
            with pytest.raises(ValueError):
                open_(bad)
    lazy = bytearray(table.read_bytes())
    lazy[-1] ^= 1
    table.write_bytes(lazy)
    with DistanceTable.open(table, lazy=True) as opened, pytest.raises((RuntimeError, ValueError), match="damaged"):
        opened.depths(tilewave.scramble("2x4", 100))


def test_outputs_that_cannot_be_written(tmp_path):
    db = PatternDatabase.build("2x3", [1])
    (tmp_path / "file").touch()
    with pytest.raises(IsADirectoryError):
        db.save(tmp_path)
    with pytest.raises(OSError):
        db.save(tmp_path / "file" / "below")


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: tilewave.bfs(3), "^puzzle must be a name such as '4x4', a path or a Puzzle, not int"),
        (lambda: tilewave.scramble(1000), "^puzzle must be a name such as '4x4', a path or a Puzzle, not int"),
        (lambda: PatternDatabase.build([1, 2], "4x4"), "^size must be a text such as '4x4', not list"),
        (lambda: tilewave.neighbors([1, 2, 3, 0], size=4), "^size must be a text such as '4x4', not int"),
        (lambda: tilewave.bfs("3x3", max_depth="deep"), "^max_depth must be a whole number, not str"),
        (lambda: tilewave.bfs("3x3x3", max_depth=1, pieces=3), "^pieces must be a string or a list of strings, not int"),
        (lambda: tilewave.solve(3), "^boards must be a string, a list or an array, not int"),
        (lambda: tilewave.bfs("3x3", dir=3), "^dir must be a path or a list of paths, not int"),
        (lambda: tilewave.PatternDatabase.build("3x3", 3), "^tiles must be a list of whole numbers, not int"),
        (lambda: tilewave.solve("1 2 3/4 5 6/7 8 0", databases=3), "^databases must be a path or a list of"),
        (lambda: tilewave.solve("1 2 3/4 5 6/7 8 0", timeout="long"), "^timeout must be a number of seconds, not str"),
    ],
)
def test_what_is_of_another_type_is_told_what_was_expected(call, said):
    with pytest.raises(TypeError, match=said):
        call()


def test_a_file_that_is_not_there_and_a_goal_that_is_a_number_are_named(tmp_path):
    missing = tmp_path / "none.gap"
    with pytest.raises(FileNotFoundError, match="none.gap"):
        tilewave.bfs(missing)
    with pytest.raises(ValueError, match='^goal=3 is not a goal: choose "last", "first", "blank=3" or a board'):
        tilewave.bfs("3x3", goal=3)


def failures(files):
    """Calls of what usually goes wrong, and what the exception says."""
    cube, table = tilewave.Puzzle("3x3x3"), tilewave.PruningTable.build("3x3x3", pieces="corners:1-3")
    pdb, distances, pruning = files / "a.pdb", files / "b.table", files / "c.table"
    PatternDatabase.build("3x3", [1, 2]).save(pdb)
    DistanceTable.build("2x3").save(distances)
    table.save(pruning)
    build, open_ = tilewave.PruningTable.build, tilewave.PruningTable.open
    six = dict(tiles=[1, 2, 3, 4, 5, 6], kind="region-aware")
    return [
        (lambda: build("4x4"), "use DistanceTable.build for boards, use smaller entries (encoding=)"),
        (lambda: build("4x4", memory="1MB"), "use DistanceTable.build"),
        (lambda: build("3x3"), 'use encoding="byte"'),
        (lambda: build("3x3x3"), "keep fewer pieces (pieces=)"),
        (lambda: build("3x3x3", pieces="corners", memory="1MB"), "(pieces=), use smaller entries (encoding=), or allow more memory (memory=)"),
        (lambda: open_(pdb), "build one with PruningTable.build"),
        (lambda: open_(distances), "build one with PruningTable.build"),
        (lambda: DistanceTable.open(pruning), "build one with DistanceTable.build"),
        (lambda: PatternDatabase.open(pruning), "build one with PatternDatabase.build"),
        (lambda: tilewave.PuzzleSolver("3x3x3", tables=[pdb]), "build one with PruningTable.build"),
        (lambda: tilewave.Solver("3x3", databases=pruning), "build one with PatternDatabase.build"),
        (lambda: table.save(pruning), "replace=True"),
        (lambda: table.depths(["R", "R U Q"], puzzle=cube), "row 1: 'Q' is not a move"),
        (lambda: table.depths("1 2 3", puzzle=cube), "a state has 20 numbers"),
        (lambda: table.depths(cube.goal), "for states of the whole puzzle, specify puzzle="),
        (lambda: DistanceTable.build("4x4"), "memory="),
        (lambda: DistanceTable.build("5x5"), "at most 16"),
        (lambda: tilewave.bfs("4x4", memory="1MB"), "dir="),
        (lambda: tilewave.bfs("5x5"), "max_depth="),
        (lambda: tilewave.bfs("3x3x3"), "max_depth="),
        (lambda: tilewave.bfs("3x3x3", max_depth=12, memory="10MB"), "(max_depth=7), or one depth further with count_ahead=1"),
        (lambda: tilewave.bfs("2x2", engine="sweep"), 'use engine="reference"'),
        (lambda: PatternDatabase.build("5x5", memory="1MB", **six), "choose fewer tiles, or raise the limit with memory="),
        (lambda: PatternDatabase.build("5x5", memory="80MB", encoding="bit", **six), "choose fewer tiles, or raise the limit with memory="),
        (lambda: tilewave.solve("1 2 3/4 5 6/7 8 0", databases=files / "none.json"), "none.json"),
    ]


def test_advice_is_that_of_python(tmp_path):
    # A RuntimeError would be a fault of the library.
    for i, (call, said) in enumerate(failures(tmp_path)):
        with pytest.raises((ValueError, MemoryError, OSError)) as raised:
            call()
        assert said in str(raised.value), (i, str(raised.value))
        assert not re.search(r"--[a-z]|(?<!-m )\btilewave (pdb|table|bfs|check)", str(raised.value)), (i, str(raised.value))
