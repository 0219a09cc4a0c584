"""Memory, files, threads and processes."""

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import tilewave
from tilewave import DistanceTable, PatternDatabase

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def maps():
    return len(Path("/proc/self/maps").read_text().splitlines())


@linux
def test_ten_thousand_times_open_and_close_leak_nothing(tmp_path):
    db, table = tmp_path / "a.pdb", tmp_path / "a.table"
    PatternDatabase.build("3x3", [1, 2, 3]).save(db)
    DistanceTable.build("2x3").save(table)
    boards = tilewave.scramble("3x3", 100)

    def once(lazy):
        with PatternDatabase.open(db) as opened:
            opened(boards)
            opened.values
        opened = DistanceTable.open(table, lazy=lazy)
        opened.depths("1 2 3/4 5 0")
        with pytest.raises(ValueError):
            opened.depths([1, 2, 3, 4, 5, 5])
        if lazy:
            opened.close()

    for i in range(500):
        once(i % 2 == 0)
    gc.collect()
    # What all tests so far have left need not be looked through again and again.
    gc.freeze()
    before = resident(), len(os.listdir("/proc/self/fd")), maps()
    for i in range(10_000):
        once(i % 2 == 0)
    gc.collect()
    gc.unfreeze()
    after = resident(), len(os.listdir("/proc/self/fd")), maps()
    # A kilobyte lost each time would be ten megabytes.
    assert after[0] - before[0] < 5 << 20, (before, after)
    assert after[1] == before[1] and after[2] < before[2] + 50, (before, after)


@linux
def test_searches_leak_nothing():
    for _ in range(20):
        tilewave.bfs("2x4").last_layer
    before = resident()
    for _ in range(200):
        result = tilewave.bfs("2x4")
        result.to_dict(), result.last_layer, result.svg(), result.counts
    assert resident() - before < 10 << 20


def test_threads_may_share_and_close_a_database():
    boards = tilewave.scramble("3x3", 5000, rng=1)
    db = PatternDatabase.build("3x3", [1, 2, 3, 4])
    expected, wrong, closed = db(boards), [], threading.Event()

    def ask():
        while True:
            try:
                if not (db(boards) == expected).all():
                    wrong.append("values")
            except ValueError as error:
                if "closed" not in str(error) or not closed.is_set():
                    wrong.append(str(error))
                return

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        db(boards)
    closed.set()
    db.close()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_processes_look_up_too():
    code = """
import os, warnings, tilewave
warnings.simplefilter("ignore")
boards = tilewave.scramble("3x3", 50_000, rng=1)
db = tilewave.PatternDatabase.build("3x3", [1, 2, 3, 4])
expected = db(boards)
child = os.fork()
if child == 0:
    good = (db(boards) == expected).all() and tilewave.bfs("3x3").diameter == 31
    os._exit(0 if good else 1)
print(os.waitpid(child, 0)[1])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout == "0\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_processes_do_all_that_their_parents_did():
    code = """
import multiprocessing, os, warnings, tilewave
warnings.simplefilter("ignore")
boards = tilewave.scramble("3x3", 5000, rng=1)
few = boards[:20]

def everything(goal):
    parts = ([1, 2, 3], [4, 5, 6], [7, 8])
    databases = [tilewave.PatternDatabase.build("3x3", part, goal=goal) for part in parts]
    table = tilewave.DistanceTable.build("3x3", goal=goal)
    lengths = [len(s) for s in tilewave.Solver("3x3", goal=goal).solve(few)]
    assert lengths == [len(s) for s in tilewave.solve(few, goal=goal)]
    assert lengths == [len(s) for s in tilewave.Solver("3x3", goal=goal, databases=databases).solve(few)]
    assert lengths == table.depths(few).tolist() == [len(s) for s in tilewave.solve(few, goal=goal, optimal=False)]
    assert tilewave.bfs("3x3", goal=goal).diameter == 31
    assert tilewave.growth(generators).diameter == 6
    return databases[0](boards).sum() + table.depths(boards).sum() + len(tilewave.neighbors(boards, size="3x3"))

generators = [[1, 0, 2, 3], [0, 2, 1, 3], [0, 1, 3, 2]]
expected = everything("last")
child = os.fork()
if child == 0:
    os._exit(0 if everything("last") == expected and everything("first") > 0 else 1)
print(os.waitpid(child, 0)[1])
with multiprocessing.get_context("fork").Pool(2) as workers:
    again = workers.map(everything, ["last", "first", "last"])
print(int(again[0] == again[2] == expected))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "0\n1\n", done.stderr


def test_arrays_that_are_changed_meanwhile_crash_nothing():
    boards = tilewave.scramble("3x3", 20_000, rng=1)
    good, db, done = boards.copy(), PatternDatabase.build("3x3", [1, 2, 3]), threading.Event()

    def change():
        while not done.is_set():
            boards[:] = 200
            boards[:] = good

    thread = threading.Thread(target=change)
    thread.start()
    for _ in range(200):
        try:
            db(boards)
        except ValueError as error:
            assert "row" in str(error)
    done.set()
    thread.join()


def test_readers_of_one_array_do_not_disturb_each_other():
    boards = tilewave.scramble("3x3", 10, rng=1)
    boards.flags.writeable = False
    db = PatternDatabase.build("3x3", [1])
    assert (db(boards) == db(np.array(boards))).all()
