"""Searches by lists: cubes, pieces that turn, pieces that look alike, files, large boards."""

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import oracle
import pytest
import tilewave

DATA = Path(__file__).parents[1] / "data" / "puzzles"


def test_the_growth_of_the_cube_is_the_published_one():
    result = tilewave.bfs("3x3x3", max_depth=6)
    assert result.counts.tolist() == [1, 18, 243, 3240, 43239, 574908, 7618438]
    assert result.counts_up_to_symmetry.tolist() == [1, 2, 9, 75, 934, 12077, 159131]
    assert result.published == "OEIS A080601" and result.symmetries == 48
    assert (result.puzzle, result.metric, result.engine) == ("3x3x3", "htm", "frontier")
    assert result.num_states == 43_252_003_274_489_856_000 and result.num_found == sum(result.counts.tolist())
    assert not result.complete and result.diameter is None and result.antipodes is None
    assert repr(result) == 'SearchResult("3x3x3", num_found=8240087, stopped after depth 6)'
    found = result.to_dict()
    assert found["counts"] == result.counts.tolist() and found["states"] == str(result.num_states)
    assert [int(text, 16) for text in found["checksums"]] == result.checksums.tolist()
    assert "<svg" in result._repr_html_() and "up to symmetry" in str(result)
    assert tilewave.bfs("3x3x3", metric="qtm", max_depth=4).counts.tolist() == [1, 12, 114, 1068, 10011]
    assert tilewave.bfs("3x3x3", metric="slice", max_depth=3).counts.tolist() == [1, 27, 501, 9175]
    assert tilewave.bfs("3x3x3", metric="axial", max_depth=2).metric == tilewave.Puzzle("5x5x5", metric="axial").metric == "axial"


def test_small_puzzles_are_searched_completely():
    result = tilewave.bfs("2x2x2")
    assert result.complete and result.diameter == 11 and result.antipodes == 2644
    assert result.num_found == result.num_states == 3_674_160
    assert tilewave.bfs("pyraminx").diameter == 11
    skewb = tilewave.bfs("skewb", progress=lambda *_: None)
    assert (skewb.num_found, skewb.diameter, skewb.last_layer.shape[0]) == (3_149_280, 11, 90)


def test_tiles_slide_on_any_graph():
    rows = tilewave.Puzzle("graph:0-1,1-2,3-4,4-5,0-3,1-4,2-5")
    result = tilewave.bfs(rows)
    assert result.counts.tolist() == tilewave.bfs("2x3", goal="first").counts.tolist()
    assert result.last_layer.tolist() == [[3, 4, 5, 0, 1, 2]] and rows.goal.tolist() == [0, 1, 2, 3, 4, 5]
    assert pickle.loads(pickle.dumps(rows)) == rows
    solution, = tilewave.solve(rows, result.last_layer)
    assert len(solution) == 21
    assert (rows.apply_moves(result.last_layer[0], solution.moves)[-1] == rows.goal).all()
    with pytest.raises(ValueError, match="^move '1-2' is not possible at that point"):
        rows.apply_moves(rows.goal, "1-2")
    after, legal = rows.neighbors(rows.goal)
    assert after[legal].tolist() == [[1, 0, 2, 3, 4, 5], [3, 1, 2, 0, 4, 5]]
    with pytest.raises(ValueError, match="^edge 1-0 occurs twice: write the edges of a connected graph"):
        tilewave.bfs("graph:0-1,1-0")
    with pytest.raises(ValueError, match="^metric=\"stm\" is only for boards, and graph:0-1 is not a board"):
        tilewave.bfs("graph:0-1", metric="stm")


def test_options_change_no_count_and_no_checksum(tmp_path):
    usual = tilewave.bfs("3x3x3", max_depth=5)
    for options in (
        dict(symmetry=False),
        dict(count_ahead=True),
        dict(count_ahead=3),
        dict(threads=1),
        dict(memory="200MB"),
        dict(dir=tmp_path / "one"),
        dict(dir=[tmp_path / "two", tmp_path / "three"], keep_levels="all"),
    ):
        result = tilewave.bfs("3x3x3", max_depth=5, **options)
        assert result.counts.tolist() == usual.counts.tolist(), options
        assert result.checksums.tolist() == usual.checksums.tolist(), options
    assert tilewave.bfs("3x3x3", max_depth=3, symmetry=False).counts_up_to_symmetry is None


def test_parts_of_puzzles():
    corners = tilewave.Puzzle("3x3x3", pieces="corners")
    assert corners.sets == {"corners": (8, 3)} and corners.num_states == 88_179_840 and corners.num_positions == 8
    both = tilewave.bfs("3x3x3", pieces=["corners", "edges"], max_depth=3).counts.tolist()
    assert both == tilewave.bfs("3x3x3", pieces="corners,edges", max_depth=3).counts.tolist() == [1, 18, 243, 3240]
    assert tilewave.bfs(corners, max_depth=4).counts.tolist() == tilewave.bfs("3x3x3", pieces="corners", max_depth=4).counts.tolist()


@pytest.mark.parametrize("name", ["dino", "wheels"])
def test_files_of_several_formats_are_one_puzzle(name):
    counts = [tilewave.bfs(DATA / (name + ending), max_depth=5).counts.tolist() for ending in (".tws", ".kpuzzle.json")]
    assert counts[0] == counts[1] and len(counts[0]) == 6


def test_files_of_turning_pieces_take_metrics_and_pieces():
    lanterns = DATA / "lanterns.tws"
    quarter, sets = tilewave.Puzzle(lanterns, metric="qtm"), tilewave.Puzzle(str(lanterns)).sets
    assert quarter.metric == "qtm" and len(quarter.moves) < len(tilewave.Puzzle(str(lanterns)).moves)
    assert len(tilewave.Puzzle(lanterns, directed=True).moves) < len(quarter.moves) and len(sets) > 1
    assert tilewave.bfs(lanterns).complete and tilewave.bfs(lanterns, metric="qtm").complete


def test_bandaged_puzzles_are_read():
    bicube = tilewave.Puzzle(DATA / "bicube.def")
    assert bicube.num_states == 1_108_800
    assert tilewave.bfs(bicube, max_depth=7).counts.tolist() == [1, 9, 24, 54, 102, 168, 296, 583]


def random_puzzle(rng):
    """Two sets of positions that mix only within themselves: generators, twists, orientations, solved."""
    sizes, turns = rng.integers(2, 5, 2), rng.integers(1, 4, 2)
    count = rng.integers(1, 4)
    first = np.stack([rng.permutation(sizes[0]) for _ in range(count)])
    second = np.stack([rng.permutation(sizes[1]) + sizes[0] for _ in range(count)])
    generators = np.concatenate([first, second], axis=1)
    # The positions of the two sets stand mixed.
    places = rng.permutation(sizes.sum())
    back = np.argsort(places)
    orientations = np.repeat(turns, sizes)[places]
    generators = back[generators[:, places]]
    twists = rng.integers(0, 4, generators.shape) % orientations
    solved = np.where(rng.random() < 0.5, rng.integers(0, 3, sizes.sum()), np.arange(sizes.sum()))
    return generators, twists, orientations, solved


@pytest.mark.parametrize("seed", range(40))
def test_generators_are_searched_as_a_plain_search_does(seed):
    generators, twists, orientations, solved = random_puzzle(np.random.default_rng(seed))
    options = dict(twists=twists, orientations=orientations, solved=solved)
    expected = oracle.turning(generators.tolist(), twists.tolist(), orientations.tolist(), solved.tolist())
    if len(expected) == 1:
        return
    result = tilewave.growth(generators, **options)
    assert result.counts.tolist() == expected and result.complete
    puzzle = tilewave.Puzzle.from_generators(generators, **options)
    assert puzzle.num_states in (None, sum(expected)) and puzzle.goal.tolist() == (solved * orientations).tolist()
    graph = puzzle.adjacency()
    assert np.bincount(graph.depths).tolist() == expected
    # The moves of arrays are those of plain code; equal ones are there once.
    states = graph.states
    after, legal = puzzle.neighbors(states)
    assert legal.all() and after.shape == (len(states), len(puzzle.moves), len(solved))
    for number, name in enumerate(puzzle.moves):
        source, twist = generators[int(name[1:])], twists[int(name[1:])]
        piece, turn = states // orientations, states % orientations
        moved = piece[:, source] * orientations + (turn[:, source] + twist) % orientations
        assert (after[:, number] == moved).all()


def test_coins_and_beads():
    coins = tilewave.Puzzle.from_generators([[0, 1, 2]] * 2, twists=[[1, 1, 0], [0, 1, 1]], orientations=2, name="coins")
    assert coins.num_states == 4 and coins.sets == {"pieces1": (1, 2), "pieces2": (1, 2), "pieces3": (1, 2)}
    assert coins.neighbors(coins.goal)[0].tolist() == [[1, 3, 4], [0, 3, 5]]
    ring = np.roll(np.arange(20), -1)
    beads = tilewave.growth([ring, [1, 0, *range(2, 20)]], solved=[0] * 10 + [1] * 10, inverses=True)
    assert beads.num_found == beads.num_states == 184_756 and beads.complete
    # Sixteen different pieces and fewer have numbers.
    small = tilewave.Puzzle.from_generators([[1, 2, 0], [1, 0, 2]])
    assert small.rank(small.goal) >= 0


@pytest.mark.parametrize(
    "options, said",
    [
        (dict(twists=[[0, 0]]), "twists must have the shape"),
        (dict(twists=[[0, 0, 1]], orientations=1, solved=[0, 0, 1]), "only 1 orientation"),
        (dict(orientations=0), "from 1 to 255"),
        (dict(orientations=[1, 2, 2]), "moves take pieces between positions 0 and 1"),
        (dict(orientations=[2, 2]), "one number for each of 3 positions"),
        (dict(solved=[0, 1]), "one number for each of 3 positions"),
        (dict(solved=[0, 0, 300]), "number the pieces from 0"),
        (dict(solved=[0, 0, -1]), "numbers from 0"),
        (dict(solved=[0, 0, 0]), "move"),
    ],
)
def test_generators_that_make_no_puzzle_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        tilewave.Puzzle.from_generators([[1, 2, 0]], **options)


def test_large_boards_are_searched_to_a_depth():
    result = tilewave.bfs("5x5", goal="first", max_depth=8)
    assert result.counts.tolist() == [1, 2, 4, 10, 26, 64, 159, 366, 862]
    start = tilewave.bfs("5x5", start=tilewave.scramble("5x5", rng=1), max_depth=3)
    assert start.counts[0] == 1 and start.engine == "frontier"
    assert tilewave.Puzzle("5x5").num_states == 7_755_605_021_665_492_992_000_000


def test_states_of_cubes_as_arrays():
    cube = tilewave.Puzzle("3x3x3")
    assert cube.goal.shape == (20,) and cube.goal.tolist() == [3 * i for i in range(8)] + [2 * i for i in range(12)]
    after, legal = cube.neighbors([cube.goal] * 5)
    assert after.shape == (5, 18, 20) and legal.all()
    up = cube.moves.index("U")
    state = cube.goal
    for _ in range(4):
        state = cube.neighbors(state)[0][up]
    assert (state == cube.goal).all()
    text = " ".join(map(str, cube.goal))
    assert (cube.neighbors(text)[0] == after[0]).all()
    wrong = cube.goal.copy()
    wrong[1] = wrong[0]
    with pytest.raises(ValueError, match="^row 1: piece 0 of set 'corners' occurs 2 times"):
        cube.neighbors([cube.goal, wrong])
    with pytest.raises(ValueError, match="^200 at position 0 is not a piece of set 'corners'"):
        cube.neighbors([200, *cube.goal[1:]])
    with pytest.raises(ValueError, match="20 numbers"):
        cube.neighbors("1 2 3")
    for ask in (cube.rank, cube.unrank):
        with pytest.raises(ValueError, match="which 3x3x3 does not have"):
            ask(cube.goal)


@pytest.mark.parametrize("name, metric", [("3x3", "stm"), ("3x3", "mtm"), ("lrx:6", None), ("2x2x2", "htm")])
def test_adjacency_has_all_states_and_moves(name, metric):
    puzzle = tilewave.Puzzle(name, metric=metric)
    if name == "2x2x2":
        with pytest.raises(ValueError, match="more than 1000 states"):
            puzzle.adjacency(max_states=1000)
        return
    graph = puzzle.adjacency()
    assert np.bincount(graph.depths).tolist() == tilewave.bfs(puzzle).counts.tolist()
    assert (graph.states[0] == puzzle.goal).all() and len(graph.indptr) == len(graph.states) + 1
    assert len(np.unique(puzzle.rank(graph.states))) == len(graph.states)
    data, indices, indptr = graph.csr
    assert len(data) == len(indices) == indptr[-1] and (np.diff(indptr) > 0).all()
    if metric != "mtm":
        # Boards that a move cannot leave are not their own neighbours.
        after, legal = puzzle.neighbors(graph.states)
        ids = puzzle.rank(after)
        own = puzzle.rank(graph.states)
        for i in range(0, len(own), 97):
            assert set(ids[i][legal[i]].tolist()) == {int(own[j]) for j in indices[indptr[i] : indptr[i + 1]]}


def test_a_search_on_disk_is_continued(tmp_path):
    class Enough(Exception):
        pass

    def stop(depth, states, seconds):
        if depth == 4:
            raise Enough

    with pytest.raises(Enough):
        tilewave.bfs("3x3x3", max_depth=6, dir=tmp_path / "run", progress=stop)
    seen = []
    result = tilewave.bfs("3x3x3", max_depth=6, dir=tmp_path / "run", progress=lambda depth, *_: seen.append(depth))
    assert result.counts.tolist() == tilewave.bfs("3x3x3", max_depth=6).counts.tolist()
    assert seen and min(seen) >= 4
    with pytest.raises(OSError, match="contains another search"):
        tilewave.bfs("2x2x2", dir=tmp_path / "run")


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_stops_a_search_by_lists():
    code = """
import os, signal, threading, time, tilewave
begun = []
def told(depth, states, seconds):
    if depth == 5:
        begun.append(time.perf_counter())
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    tilewave.bfs("3x3x3", max_depth=9, threads=1, symmetry=False, progress=told)
except KeyboardInterrupt:
    print("stopped", time.perf_counter() - begun[0] < 10, tilewave.bfs("2x2x2", max_depth=1).counts.tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout == "stopped True [1, 9]\n", done.stderr
    assert signal.SIGINT


@pytest.mark.parametrize(
    "arguments, said",
    [
        (dict(puzzle="3x3x3"), "has 43,252,003,274,489,856,000 states, too many for a complete search: .* max_depth="),
        (dict(puzzle="3x3x3", max_depth=3, engine="sweep"), "needs a list search"),
        (dict(puzzle="3x3x3", max_depth=3, start="1 2 3"), "start= needs numbered states"),
        (dict(puzzle="3x3x3", max_depth=3, goal="last"), "goal= is only for boards"),
        (dict(puzzle="3x3x3", max_depth=3, metric="mtm"), "use htm or qtm"),
        (dict(puzzle="3x3x3", max_depth=3, pieces="wheels"), "wheels"),
        (dict(puzzle="3x3x3", max_depth=3, directed=True), "directed= is only for puzzle files"),
        (dict(puzzle="2x2x2", count_ahead=True), "needs max_depth"),
        (dict(puzzle="3x3", count_ahead=True), "list searches"),
        (dict(puzzle="2x2x2", max_depth=9, count_ahead=4), "count_ahead must be a number from 0 to 3"),
        (dict(puzzle="3x3", symmetry=False), "list searches"),
        (dict(puzzle="3x3", pieces="tiles"), "pieces= does not apply to boards"),
        (dict(puzzle="pancake:5", metric="htm"), "is only for twisty puzzles"),
        (dict(puzzle="21x21x21"), "size"),
    ],
)
def test_what_is_no_search_by_lists_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        tilewave.bfs(**arguments)


def test_too_little_memory_is_told():
    with pytest.raises(MemoryError, match="max_depth=.*count_ahead=1"):
        tilewave.bfs("3x3x3", max_depth=9, memory="1MB")


def test_what_needs_numbers_says_so():
    with pytest.raises(ValueError, match="a distance table needs numbered states"):
        tilewave.DistanceTable.build("2x2x2")


def test_moves_by_name():
    cube = tilewave.Puzzle("3x3x3")
    way = cube.apply_moves(cube.goal, "R U R' U'")
    after = cube.goal
    for i, name in enumerate(["R", "U", "R'", "U'"]):
        after = cube.neighbors(after)[0][cube.moves.index(name)]
        assert (way[i + 1] == after).all()
    assert (cube.apply_moves(way[4], ["U", "R", "U'", "R'"])[-1] == cube.goal).all()
    assert cube.apply_moves(cube.goal, "").shape == (1, 20)
    with pytest.raises(ValueError, match="^'x' is not a move of 3x3x3: its moves are U D F"):
        cube.apply_moves(cube.goal, "R x")
    with pytest.raises(ValueError, match="one state"):
        cube.apply_moves([cube.goal] * 2, "R")
    ring = tilewave.Puzzle("topspin:7,4")
    state = ring.unrank(1000)
    names = tilewave.DistanceTable.build(ring).solve(state)
    assert (ring.apply_moves(state, names)[-1] == ring.goal).all()
    board = tilewave.Puzzle("3x3")
    assert (board.apply_moves("1 2 3/4 5 6/7 8 0", "R D2 L") == tilewave.apply_moves("1 2 3/4 5 6/7 8 0", "R D2 L")).all()
    with pytest.raises(ValueError, match="move 1"):
        board.apply_moves("1 2 3/4 5 6/7 8 0", "U")


def test_the_last_states_are_listed():
    # The farthest states of three coins: one.
    coins = tilewave.growth([[0, 1, 2]] * 2, twists=[[1, 1, 0], [0, 1, 1]], orientations=2)
    assert coins.last_layer.tolist() == [[1, 2, 5]]
    cube = tilewave.Puzzle("3x3x3")
    assert tilewave.bfs(cube, max_depth=1).last_layer.shape == (0, 20)
    last = tilewave.bfs(cube, max_depth=1, keep_last=100).last_layer
    assert sorted(last.tolist()) == sorted(cube.neighbors(cube.goal)[0].tolist())
    assert len(tilewave.bfs(cube, max_depth=2, keep_last=7).last_layer) == 7


def test_boards_can_be_searched_by_lists():
    lists, sweep = tilewave.bfs("3x3", engine="frontier"), tilewave.bfs("3x3")
    assert lists.engine == "frontier" and lists.counts.tolist() == sweep.counts.tolist()
    assert sorted(lists.last_layer.tolist()) == sorted(sweep.last_layer.tolist())
    assert tilewave.bfs("lrx:7", engine="frontier", max_depth=6).counts.tolist() == tilewave.bfs("lrx:7", max_depth=6).counts.tolist()


def test_puzzles_with_several_goals_have_the_distances_to_the_nearest():
    """Against a search of the whole graph of moves by scipy, from all goals."""
    graph = pytest.importorskip("scipy.sparse.csgraph")
    sparse = pytest.importorskip("scipy.sparse")
    whole = tilewave.Puzzle("2x2x2", pieces="corners:1-3").adjacency()
    cube = tilewave.Puzzle("2x2x2", pieces="corners:1-3", goals=["R", "U F", "corners 1 2 3 4 4 4 4/0 0 0 0 0 0 0"])
    found = cube.adjacency()
    number = {state.tobytes(): i for i, state in enumerate(whole.states)}
    order = np.array([number[state.tobytes()] for state in found.states])
    goals = order[found.depths == 0]
    assert len(goals) == len(set(goals)) == 3 and len(order) == len(whole.states)
    matrix = sparse.csr_matrix(whole.csr)
    nearest = graph.dijkstra(matrix, indices=goals, unweighted=True, min_only=True)
    assert (nearest[order] == found.depths).all()
    assert tilewave.bfs(cube).counts.tolist() == np.bincount(found.depths).tolist()
    assert pickle.loads(pickle.dumps(cube)) == cube != tilewave.Puzzle("2x2x2", pieces="corners:1-3")


def test_phases_turns_and_equal_pieces_are_puzzles():
    count = lambda most=None, **given: tilewave.bfs(tilewave.Puzzle("3x3x3", **given), max_depth=most).counts.tolist()
    # H. Kociemba's first phase; all turns of the edges; the places of the edges of the middle layer.
    assert count(3, subgroup="U D R2 L2 F2 B2") == count(3, subgroup=["U", "D", "R2", "L2", "F2", "B2"]) == [1, 4, 50, 592]
    edges = dict(pieces="edges", same="edges")
    assert sum(count(**edges)) == 2048
    layers = ["edges:1-4+9-12", "edges:5-8"]
    assert sum(count(pieces="edges", ignore_orientation="edges", same=layers)) == 495
    assert count(pieces="edges", ignore_orientation="edges", same=layers) == count(
        pieces="edges", ignore_orientation="edges", same=",".join(layers)
    )
    # Two faces alone: corners of 2x2x2 in 29,160 ways.
    two = tilewave.Puzzle("2x2x2", moves="R U")
    assert tilewave.bfs(two).counts.sum() == 29_160 and len(two.moves) == 6
    assert tilewave.bfs(tilewave.Puzzle("2x2x2", moves=["R U R' U'"])).counts.sum() == 6
    solver = tilewave.PuzzleSolver(two)
    assert len(solver.solve("R U R' U'")) == 4


@pytest.mark.parametrize(
    "arguments, said",
    [
        (dict(puzzle="3x3", same="x"), "x"),
        (dict(puzzle="2x3", goals="U"), "goals= does not apply to boards"),
        (dict(puzzle="3x3x3", goals=[]), "goals= is an empty list"),
        (dict(puzzle="3x3x3", goals=["R", "Q"]), "Q"),
        (dict(puzzle="3x3x3", moves="Q"), "Q"),
        (dict(puzzle="3x3x3", subgroup="U Q"), "Q"),
        (dict(puzzle="3x3x3", ignore_orientation="wheels"), "wheels"),
        (dict(puzzle="3x3x3", same="edges:1-40"), "edges"),
        (dict(puzzle=tilewave.Puzzle("3x3x3"), pieces="corners"), "pieces= must be specified when the Puzzle is created"),
    ],
)
def test_what_a_puzzle_cannot_be_made_of_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        tilewave.Puzzle(**arguments)
