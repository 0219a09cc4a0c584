"""Searches against plain ones, and how they are watched and stopped."""

import os
import subprocess
import sys
import threading

import numpy as np
import oracle
import pytest
import tilewave


@pytest.mark.parametrize("size, goal", [("2x2", "last"), ("2x3", "first"), ("3x2", "blank=3"), ("2x4", "last"), ("3x3", "last")])
def test_counts_are_those_of_a_plain_search(size, goal):
    rows, cols = map(int, size.split("x"))
    known = oracle.depths(tilewave.Puzzle(size, goal=goal).goal.tolist(), rows, cols)
    result = tilewave.bfs(size, goal=goal)
    assert result.counts.dtype == np.uint64
    assert result.counts.tolist() == np.bincount(list(known.values())).tolist()
    assert result.diameter == max(known.values()) and result.antipodes == result.counts[-1]
    farthest = {board for board, depth in known.items() if depth == result.diameter}
    assert {tuple(row) for row in result.last_layer.tolist()} == farthest
    assert result.complete and result.num_found == result.num_states == len(known)


def test_a_goal_and_a_start_can_be_arrays():
    goal = np.array([[0, 1, 2], [3, 4, 5]])
    same = tilewave.bfs("2x3", goal="first")
    assert tilewave.bfs("2x3", goal=goal).checksums.tolist() == same.checksums.tolist()
    start = tilewave.bfs("2x3", start=[4, 5, 0, 1, 2, 3])
    assert start.start == "4 5 0/1 2 3" and start.diameter == tilewave.bfs("2x3", start="4 5 0/1 2 3").diameter


def test_engines_agree_and_the_depth_can_be_limited():
    sweep, reference = (tilewave.bfs("3x3", engine=engine, threads=1) for engine in ("sweep", "reference"))
    assert sweep.checksums.tolist() == reference.checksums.tolist()
    assert (sweep.engine, reference.engine) == ("sweep", "reference")
    short = tilewave.bfs("3x3", max_depth=5)
    assert short.counts.tolist() == sweep.counts[:6].tolist()
    assert not short.complete and short.diameter is None and short.antipodes is None
    assert repr(short) == 'SearchResult("3x3", num_found=51, stopped after depth 5)'


def test_metrics_families_and_files(tmp_path):
    assert tilewave.bfs("3x3", metric="mtm").diameter == 24
    assert tilewave.bfs("topspin:7,4").metric is None
    assert tilewave.bfs("pancake:7").diameter == 8
    file = tmp_path / "five.gap"
    file.write_text("L:=(5,4,3,2,1);\nX:=(1,2);\nGen:=[L,X];\n")
    lrx = tilewave.bfs("lrx:5").counts.tolist()
    assert tilewave.bfs(file).counts.tolist() == tilewave.bfs(str(file)).counts.tolist() == lrx
    directed = tilewave.bfs(file, directed=True)
    assert directed.num_found == 120 and directed.counts.tolist() != lrx


@pytest.mark.parametrize(
    "generators",
    [
        [[1, 2, 0], [1, 0, 2]],
        [[1, 2, 3, 4, 5, 0], [1, 0, 2, 3, 4, 5]],
        [[1, 2, 3, 4, 5, 6, 0], [6, 0, 1, 2, 3, 4, 5], [1, 0, 2, 3, 4, 5, 6]],
        [[1, 2, 3, 0, 4, 5, 6], [0, 1, 2, 4, 5, 6, 3]],
    ],
)
def test_growth_is_that_of_a_plain_search(generators):
    result = tilewave.growth(np.array(generators), name="mine")
    assert result.counts.tolist() == oracle.growth(generators)
    assert result.puzzle == "mine"
    closed = generators + [np.argsort(p).tolist() for p in generators]
    assert tilewave.growth(generators, inverses=True).counts.tolist() == oracle.growth(closed)


def test_results_can_be_written_and_drawn():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    result = tilewave.bfs("3x3")
    found = result.to_dict()
    assert found["counts"] == result.counts.tolist() and found["diameter"] == 31
    assert [int(text, 16) for text in found["checksums"]] == result.checksums.tolist()
    assert "OEIS A089473" in found["agrees_with"]
    assert "God's number  31" in str(result)
    html = result._repr_html_()
    assert "<svg" in html and "diameter=31" in html
    axes = result.plot(log=True, color="black")
    assert axes.get_yscale() == "log" and len(axes.patches) == 32
    assert [int(bar.get_height()) for bar in axes.patches] == result.counts.tolist()
    assert result.plot(axes) is axes
    pyplot.close("all")


def test_a_search_on_disk_goes_on_where_it_stopped(tmp_path):
    class Enough(Exception):
        pass

    def stop(depth, states, seconds):
        if depth == 20:
            raise Enough

    directory = tmp_path / "run"
    with pytest.raises(Enough):
        tilewave.bfs("2x5", dir=directory, progress=stop)
    seen = []
    result = tilewave.bfs("2x5", dir=[directory], progress=lambda depth, *_: seen.append(depth))
    assert result.diameter == 55 and result.engine == "disk"
    assert seen[-1] == 55 and min(seen) >= 20
    with pytest.raises(OSError, match="contains another search"):
        tilewave.bfs("2x4", dir=directory)


def test_progress_is_told_every_level():
    told = []
    result = tilewave.bfs("3x3", progress=lambda depth, states, seconds: told.append((depth, states)))
    assert told == list(enumerate(result.counts.tolist())) or told == list(enumerate(result.counts.tolist()))[1:]
    with pytest.raises(TypeError):
        tilewave.bfs("3x3", progress=lambda: None)


def test_the_interpreter_is_free_meanwhile():
    ticks, done = 0, threading.Event()

    def tick():
        nonlocal ticks
        while not done.wait(0.001):
            ticks += 1

    class Enough(Exception):
        pass

    def stop(depth, states, seconds):
        # The plain engine takes a while for so many states; callbacks are no ticks of the other thread.
        if ticks >= 3:
            raise Enough

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        with pytest.raises(Enough):
            tilewave.bfs("3x4", engine="reference", progress=stop)
    finally:
        done.set()
        thread.join()


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_stops_a_search():
    code = """
import os, signal, threading, tilewave
try:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    tilewave.bfs("3x4", engine="reference", threads=1)
except KeyboardInterrupt:
    print("stopped", tilewave.bfs("2x3").diameter)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout == "stopped 21\n", done.stderr


def test_too_much_memory_is_refused_before_it_is_taken():
    with pytest.raises(MemoryError, match="memory="):
        tilewave.bfs("3x4", memory=1000)
    with pytest.raises(MemoryError, match="dir="):
        tilewave.bfs("3x4", memory=1000)
    with pytest.raises(MemoryError):
        tilewave.PatternDatabase.build("4x4", range(1, 9), memory=1000)
    with pytest.raises(MemoryError):
        tilewave.DistanceTable.build("3x4", memory=1000)
    with pytest.raises(MemoryError):
        tilewave.growth([[*range(1, 13), 0], [1, 0, *range(2, 13)]], memory=1000)


@pytest.mark.parametrize(
    "arguments, said",
    [
        (dict(puzzle="3"), "neither a board size"),
        (dict(puzzle="1x3"), "too small"),
        (dict(puzzle="5x5"), "too many for a complete search"),
        (dict(puzzle="topspin:3"), "topspin:N,K"),
        (dict(puzzle="nonsense"), "is not a puzzle"),
        (dict(puzzle="3x3", metric="qtm"), "is only for twisty puzzles"),
        (dict(puzzle="3x3", metric="fast"), "not a metric"),
        (dict(puzzle="3x3", goal="middle"), "not a goal"),
        (dict(puzzle="3x3", goal=[[1, 2], [3, 0]]), "shape"),
        (dict(puzzle="3x3", start="2 1 3/4 5 6/7 8 0"), "parity"),
        (dict(puzzle="3x3", engine="fast"), "not an engine"),
        (dict(puzzle="3x3", directed=True), "files"),
        (dict(puzzle="pancake:5", goal="last"), "for boards"),
        (dict(puzzle="3x3", threads=0), "threads"),
        (dict(puzzle="3x3", dir=[]), "specify a directory"),
    ],
)
def test_what_is_no_search_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        tilewave.bfs(**arguments)


@pytest.mark.parametrize(
    "generators, said",
    [
        ([[1, 2, 0], [1, 1, 2]], "row 1: not a permutation of 0 to 2: 1 occurs twice"),
        ([[1, 2, 3]], "row 0: not a permutation of 0 to 2: 3 is too large"),
        ([[-1, 0]], "row 0: -1 is not a position"),
        ([1, 2, 0], "rows of a two-dimensional array"),
        ([[0.0, 1.0]], "integers"),
        ([[0, 1, 2]], "moves anything"),
        ([[*range(1, 200), 0]], "at most 128"),
        (np.zeros((0, 5), int), "moves anything"),
        (np.zeros((3, 0), int), "positions"),
    ],
)
def test_what_are_no_generators_is_refused(generators, said):
    with pytest.raises(ValueError, match=said):
        tilewave.growth(generators)
    with pytest.raises(ValueError, match="names"):
        tilewave.growth([[1, 0]], names=["a", "b"])


def test_missing_files_are_missing():
    with pytest.raises(FileNotFoundError):
        tilewave.bfs("nowhere.gap")
