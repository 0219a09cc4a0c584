"""Ctrl-C while many states are looked up."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import tilewave
from tilewave import DistanceTable, PatternDatabase

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of Unix")


def bits():
    db = PatternDatabase.build("4x4", [1, 2, 3, 5, 6, 7], kind="region-aware", encoding="bit")
    return db, tilewave.scramble("4x4", 200_000, rng=1)


def walks():
    table = DistanceTable.build("2x6", encoding="mod3")
    return table.depths, tilewave.scramble("2x6", 200_000, rng=1)


def lazy_walks(tmp_path):
    path = tmp_path / "2x5.table"
    DistanceTable.build("2x5", encoding="mod3").save(path)
    return DistanceTable.open(path, lazy=True).depths, tilewave.scramble("2x5", 200_000, rng=1)


@pytest.mark.parametrize("made", [bits, walks, lazy_walks], ids=lambda made: made.__name__)
def test_ctrl_c_ends_a_look_up_of_many_boards(made, tmp_path):
    ask, boards = made(tmp_path) if made is lazy_walks else made()
    expected = ask(boards)
    begun = time.perf_counter()
    ask(boards)
    seconds = time.perf_counter() - begun
    # Some eight seconds of work, of which the first is done.
    many = np.tile(boards, (int(8 / seconds) + 1, 1))
    sent, ended = [], True

    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    while ended:
        ended, timer = False, threading.Timer(1, interrupt)
        try:
            timer.start()
            ask(many)
            # Others have left the machine alone since: that was too little to be interrupted.
            ended, many = True, np.concatenate([many, many])
            time.sleep(10)
        except KeyboardInterrupt:
            waited = time.perf_counter() - sent[-1]
    # A tenth of a second on a machine that does nothing else.
    assert waited < 2, f"{waited} s of some 8 for {len(many)} boards"
    assert (ask(boards) == expected).all()


def test_results_in_pieces_are_those_of_rows():
    """Pieces grow, and may end anywhere."""
    db = PatternDatabase.build("3x3", [1, 2, 3, 4])
    table, puzzle, other = DistanceTable.build("3x3"), tilewave.Puzzle("3x3"), tilewave.Puzzle("topspin:6,4")
    some = tilewave.scramble("3x3", 997, rng=1)
    states = other.unrank(np.arange(0, 720, 7))
    for rows in (1, 2048, 2049, 8191, 8192, 8193, 20_000, 300_001):
        at = np.arange(rows) * 7 % len(some)
        boards = some[at]
        for ask in (db, db.entries, table.depths, puzzle.rank):
            assert (ask(boards) == ask(some)[at]).all()
        ids = puzzle.rank(boards)
        assert (puzzle.unrank(ids) == boards).all()
        for found, expected in zip(puzzle.neighbors(boards), puzzle.neighbors(some)):
            assert (found == expected[at]).all()
        at %= len(states)
        for found, expected in zip(other.neighbors(states[at]), other.neighbors(states)):
            assert (found == expected[at]).all()
        assert (other.rank(states[at]) == other.rank(states)[at]).all()


@pytest.mark.parametrize("row", [0, 2047, 8191, 8192, 100_000, 299_999])
def test_the_first_bad_row_is_named_wherever_it_is(row):
    boards = np.tile(tilewave.scramble("3x3", 1000, rng=1), (300, 1))
    boards[row:, 0] = boards[row:, 1]
    table, puzzle = DistanceTable.build("3x3"), tilewave.Puzzle("3x3")
    for ask in (PatternDatabase.build("3x3", [1]), table.depths, puzzle.rank, puzzle.neighbors):
        with pytest.raises(ValueError, match=f"^row {row}: "):
            ask(boards)
    ids = np.zeros(300_000, np.int64)
    ids[row:] = 181_440
    with pytest.raises(ValueError, match=f"^row {row}: "):
        puzzle.unrank(ids)
