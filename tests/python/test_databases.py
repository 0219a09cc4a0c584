"""Pattern databases and distance tables, against plain searches and the readers that need no package."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import oracle
import pytest
import tilewave
from tilewave import DistanceTable, PatternDatabase

READERS = Path(__file__).parents[2] / "tools" / "python"


def reader(name):
    spec = importlib.util.spec_from_file_location(name, READERS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def known():
    return oracle.depths([1, 2, 3, 4, 5, 6, 7, 8, 0], 3, 3)


def test_values_are_those_of_a_plain_search():
    goal = tilewave.Puzzle("2x4").goal.tolist()
    db = PatternDatabase.build("2x4", [2, 5, 7])
    least = oracle.pattern_values(goal, [2, 5, 7], 2, 4)
    boards = tilewave.scramble("2x4", 10_000, rng=1)
    values = db(boards)
    assert values.dtype == np.int16
    expected = [least[tuple(board.index(t) for t in (2, 5, 7))] for board in boards.tolist()]
    assert values.tolist() == expected
    assert db(boards[0]) == expected[0] and db(boards[0].reshape(2, 4)) == expected[0]
    assert (db(boards.reshape(100, 100, 8)) == values.reshape(100, 100)).all()
    assert (db(boards.reshape(100, 100, 2, 4)) == values.reshape(100, 100)).all()
    assert np.bincount(db.values, minlength=len(db.histogram)).tolist() == db.histogram.tolist()


@pytest.mark.parametrize(
    "kind, encoding",
    [
        ("additive-min", "byte"),
        ("region-aware", "byte"),
        ("region-aware", "bit"),
    ],
)
def test_files_are_those_that_other_readers_read(tmp_path, kind, encoding):
    path = tmp_path / "a.pdb"
    db = PatternDatabase.build("3x3", (1, 2, 4, 7), goal="first", kind=kind, encoding=encoding)
    db.save(path)
    other = reader("tilewave_pdb").Pdb(str(path))
    boards = tilewave.scramble("3x3", 2500, goal="first", rng=2)
    expected = [other.value(board) for board in boards.tolist()]
    with PatternDatabase.open(path) as opened:
        assert opened(boards).tolist() == expected == db(boards).tolist()
        assert (opened.kind, opened.encoding, opened.tiles) == (kind, encoding, [1, 2, 4, 7])
        assert opened.goal.tolist() == list(range(9)) and opened.shape == (3, 3)
        assert opened.checksum == db.checksum and opened.nbytes == path.stat().st_size
        assert opened.num_entries == other.entries and opened.maximum == len(opened.histogram) - 1
        if encoding == "byte":
            assert (opened.values[opened.entries(boards)] == opened(boards)).all()
        else:
            with pytest.raises(ValueError, match=encoding):
                opened.values


def test_boards_out_of_reach_have_no_value():
    db = PatternDatabase.build("3x3", range(1, 9))
    assert db("1 2 3/4 5 6/7 8 0") == 0
    assert db("2 1 3/4 5 6/7 8 0") == -1
    assert db.values.max() == 255


def test_values_share_the_memory_and_keep_it():
    db = PatternDatabase.build("3x3", [1, 2, 3, 4, 5])
    values = db.values
    assert values.dtype == np.uint8 and values.shape == (db.num_entries,)
    assert values.__array_interface__["data"] == db.values.__array_interface__["data"]
    assert not values.flags.writeable and not values.flags.owndata
    with pytest.raises(ValueError):
        values[0] = 1
    with pytest.raises(ValueError):
        values.flags.writeable = True
    total = values.sum()
    part = values[100:200]
    db.close()
    del db
    assert values.sum() == total
    del values
    assert part.base is not None and part.sum() >= 0


def test_closed_is_closed(tmp_path):
    with PatternDatabase.build("2x3", [1, 2]) as db:
        db.save(tmp_path / "a.pdb")
        with pytest.raises(FileExistsError, match="replace=True"):
            db.save(tmp_path / "a.pdb")
        db.save(tmp_path / "a.pdb", replace=True)
    assert db.closed and repr(db) == "PatternDatabase(closed)"
    for use in (lambda: db([1, 2, 3, 4, 5, 0]), lambda: db.values, lambda: db.num_entries, lambda: db.save("x"), lambda: db.__enter__()):
        with pytest.raises(ValueError, match="the database is closed"):
            use()
    db.close()
    with DistanceTable.build("2x3") as table:
        table.save(tmp_path / "a.table")
    for use in (lambda: table.depths([1, 2, 3, 4, 5, 0]), lambda: table.solve([1, 2, 3, 4, 5, 0]), lambda: table.goal):
        with pytest.raises(ValueError, match="the table is closed"):
            use()


@pytest.mark.parametrize("encoding", ["byte", "mod3"])
@pytest.mark.parametrize("lazy", [False, True])
def test_depths_are_those_of_a_plain_search(tmp_path, known, encoding, lazy):
    path = tmp_path / "a.table"
    DistanceTable.build("3x3", encoding=encoding).save(path)
    with DistanceTable.open(path, lazy=lazy) as table:
        boards = np.array(list(known), np.uint8)
        if encoding == "mod3":
            boards = boards[::20]
        depths = table.depths(boards)
        assert depths.dtype == np.int16
        assert depths.tolist() == [known[board] for board in map(tuple, boards.tolist())]
        swapped = boards[:3000].copy()
        swapped[swapped == 1], swapped[swapped == 2] = 9, 1
        swapped[swapped == 9] = 2
        assert (table.depths(swapped) == -1).all()
        assert table.histogram.sum() == len(known) and table.encoding == encoding
        for board in boards[::2000]:
            way = table.solve(board)
            assert len(way) == known[tuple(board.tolist())]
            assert (tilewave.apply_moves(board, way)[-1] == table.goal).all()
        assert table.solve(boards[:3]) == [table.solve(board) for board in boards[:3]]
        with pytest.raises(ValueError, match="row 1: .*parity"):
            table.solve([boards[0], swapped[0]])
    other = reader("tilewave_table").Table(str(path))
    assert [other.depth(board) for board in boards[:20].tolist()] == depths[:20].tolist()


def test_tables_of_several_tiles_a_move():
    table = DistanceTable.build("3x3", metric="mtm")
    assert table.metric == "mtm" and int(table.histogram.argmax()) > 0
    board = tilewave.scramble("3x3", rng=3)
    way = table.solve(board)
    assert (tilewave.apply_moves(board, way)[-1] == table.goal).all()
    turns = sum(a != b for a, b in zip(way, way[1:])) + 1
    assert turns == table.depths(board) <= len(way)


@pytest.mark.parametrize("name", ["topspin:7,4", "lrx:6", "pancake:6"])
def test_tables_of_other_puzzles(name):
    puzzle, table = tilewave.Puzzle(name), DistanceTable.build(name)
    states = np.array(list(itertools.permutations(range(puzzle.num_positions))), np.uint8)
    depths = table.depths(states)
    states, depths = states[depths >= 0], depths[depths >= 0]
    assert len(states) == puzzle.num_states
    assert (puzzle.unrank(puzzle.rank(states)) == states).all()
    assert np.bincount(depths).tolist() == tilewave.bfs(name).counts.tolist() == table.histogram.tolist()
    after, _ = puzzle.neighbors(states)
    assert (np.abs(table.depths(after) - depths[:, None]) <= 1).all()
    for state in states[:: puzzle.num_states // 50]:
        at = state
        for move in table.solve(state):
            at = puzzle.neighbors(at)[0][puzzle.moves.index(move)]
        assert (at == table.goal).all()


def test_odd_arrangements_of_even_puzzles_are_out_of_reach():
    table = DistanceTable.build("topspin:7,4")
    assert table.depths([1, 0, 2, 3, 4, 5, 6]) == -1
    with pytest.raises(ValueError, match="^no moves of topspin:7,4 lead to this state"):
        table.solve([1, 0, 2, 3, 4, 5, 6])
    with pytest.raises(ValueError, match="^row 1: no moves"):
        table.solve([range(7), [1, 0, 2, 3, 4, 5, 6]])


def test_heuristics_are_admissible_and_consistent(known):
    dbs = [PatternDatabase.build("3x3", tiles, kind="region-aware") for tiles in ([1, 2, 3, 4], [5, 6, 7, 8])]
    boards = np.array(list(known), np.uint8)
    bound = sum(db(boards) for db in dbs)
    assert (bound <= np.array(list(known.values()))).all()
    after, can = tilewave.neighbors(boards)
    change = sum(db(after) for db in dbs) - bound[:, None]
    assert (np.abs(change[can]) <= 1).all()


def test_progress_of_builds():
    told = []
    db = PatternDatabase.build("3x3", [1, 2, 3, 4, 5, 6], progress=lambda value, entries, seconds: told.append((value, entries)))
    assert told and all(db.histogram[value] >= entries > 0 for value, entries in told)
    with pytest.raises(ZeroDivisionError):
        DistanceTable.build("3x3", progress=lambda *_: 1 / 0)


@pytest.mark.parametrize("lazy", [False, True])
def test_boards_beyond_a_partial_table_have_no_solution(lazy):
    """The file of tests/table/partial.rs, which ends at depth 10."""
    depths = oracle.depths([1, 2, 3, 4, 5, 0], 2, 3)
    table = DistanceTable.open(READERS.parents[1] / "tests/data/table_partial.table", lazy=lazy)
    boards = np.array(list(depths))
    expected = np.array([depth if depth <= 10 else -1 for depth in depths.values()])
    assert (table.depths(boards) == expected).all() and 100 < (expected < 0).sum() < 300
    assert [len(way) for way in table.solve(boards[expected >= 0])] == expected[expected >= 0].tolist()
    for board in boards[expected < 0]:
        text = " ".join(map(str, board[:3])) + "/" + " ".join(map(str, board[3:]))
        said = f"^the table has no depth for '{text}': the table contains only smaller depths$"
        assert table.depths(board) == -1
        with pytest.raises(ValueError, match=said):
            table.solve(board)
        with pytest.raises(ValueError, match=said):
            table.solve(text)
        with pytest.raises(ValueError, match="^row 2: the table has no depth for "):
            table.solve([boards[0], boards[1], board, board])
    with pytest.raises(ValueError, match="parity"):
        table.solve("2 1 3/4 5 0")


def test_databases_in_which_every_move_counts(known):
    db = PatternDatabase.build("3x3", [1, 2, 3, 4, 5], kind="all-moves")
    assert db.kind == "all-moves" and db.tiles == [0, 1, 2, 3, 4, 5] and db.num_entries == 9 * 8 * 7 * 6 * 5 * 4
    boards = np.array(list(known))
    depths = np.array(list(known.values()))
    # The least depth of the boards with the same cells of blank and tiles.
    cells = np.argsort(boards, axis=1)[:, :6] @ 9 ** np.arange(6)
    least = np.full(9**6, 255)
    np.minimum.at(least, cells, depths)
    assert (db(boards) == least[cells]).all()
