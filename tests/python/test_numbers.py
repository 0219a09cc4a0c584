"""Numbers that are none: over all functions that take some, a ValueError that names the argument."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import tilewave
from tilewave import DistanceTable, PatternDatabase

CALLS = {
    "bfs": lambda **given: tilewave.bfs("2x3", **given),
    "growth": lambda **given: tilewave.growth([[1, 0, 2], [0, 2, 1]], **given),
    "scramble": lambda **given: tilewave.scramble("3x3", **given),
    "PatternDatabase.build": lambda **given: PatternDatabase.build("2x3", **{"tiles": [1, 2], **given}),
    "DistanceTable.build": lambda **given: DistanceTable.build("2x3", **given),
    "Puzzle.adjacency": lambda **given: tilewave.Puzzle("2x3").adjacency(**given),
    "Solver": lambda **given: tilewave.Solver("2x3", **given),
    "Solver.solve": lambda **given: SOLVER.solve("1 2 3/4 0 5", **given),
    # A solved state ends with its one solution, however many moves more are allowed.
    "Solver.solve_all": lambda **given: SOLVER.solve_all("1 2 3/4 5 0", **given),
    "Solver.count_solutions": lambda **given: SOLVER.count_solutions("1 2 3/4 5 0", **given),
    "solve": lambda **given: tilewave.solve("1 2 3/4 0 5", **given),
    "PruningTable.build": lambda **given: tilewave.PruningTable.build("2x2x2", pieces="corners:1-4", **given),
    "PuzzleSolver": lambda **given: tilewave.PuzzleSolver("2x2x2", **given),
    "PuzzleSolver.solve": lambda **given: PUZZLE_SOLVER.solve("R U", **given),
    "PuzzleSolver.solve_all": lambda **given: PUZZLE_SOLVER.solve_all("R R'", **given),
    "PuzzleSolver.count_solutions": lambda **given: PUZZLE_SOLVER.count_solutions("R R'", **given),
}
SOLVER = tilewave.Solver("2x3")
PUZZLE_SOLVER = tilewave.PuzzleSolver("2x2x2", tables=[tilewave.PruningTable.build("2x2x2")])


def taken():
    """The arguments that are numbers by the types of the package: function and name."""
    tree = ast.parse(Path(tilewave.__file__).with_name("__init__.pyi").read_text())
    functions = [("", tree), *((f"{of.name}.", of) for of in tree.body if isinstance(of, ast.ClassDef))]
    for before, of in functions:
        for function in of.body:
            if isinstance(function, ast.FunctionDef):
                arguments = function.args
                for argument in arguments.posonlyargs + arguments.args + arguments.kwonlyargs:
                    kind = ast.unparse(argument.annotation) if argument.annotation else ""
                    if re.search(r"\b(int|SupportsIndex|_Memory)\b", kind) and "Callable" not in kind:
                        yield (before + function.name).replace(".__new__", ""), argument.arg


TAKEN = sorted(set(taken()))


def test_all_functions_that_take_numbers_are_asked():
    assert {name for name, _ in TAKEN} == set(CALLS)
    # What the types say is what the functions take, and the other way round.
    words = {"tiles", "count", "rng", "threads", "memory", "max_depth", "count_ahead", "keep_last", "max_nodes", "max_states"} | {"slack", "limit"}
    assert {argument for _, argument in TAKEN} == words
    for name in tilewave.__all__:
        of = getattr(tilewave, name)
        members = [(name, of)] if not inspect.isclass(of) else [(f"{name}.{m}", getattr(of, m)) for m in vars(of)]
        for member, function in members:
            if callable(function) and not member.split(".")[-1].startswith("_"):
                asked = words & set(inspect.signature(function).parameters)
                assert {(member, argument) for argument in asked} <= set(TAKEN), member


def given(argument, value):
    return {argument: [3, value] if argument == "tiles" else value}


@pytest.mark.parametrize("value", [-1, -(2**63), -(2**63) - 1, -(2**64), 2**64, 2**200, -(10**6000)], ids=range(7))
@pytest.mark.parametrize("name, argument", TAKEN)
def test_numbers_that_nothing_has_are_values_that_are_none(name, argument, value):
    with pytest.raises(ValueError, match="tile" if argument == "tiles" else f"^{argument} must be a number from "):
        CALLS[name](**given(argument, value))


@pytest.mark.parametrize("value", [1.5, np.float64(1), "1", [1], object(), np.array([1.0, 2.0])], ids=range(6))
@pytest.mark.parametrize("name, argument", TAKEN)
def test_what_is_no_number_is_of_the_wrong_type(name, argument, value):
    # A string is a size: what is wrong with one is its unit.
    unit = argument == "memory" and isinstance(value, str)
    with pytest.raises(ValueError if unit else TypeError, match=argument):
        CALLS[name](**given(argument, value))


@pytest.mark.parametrize("value", [1, np.uint8(1), np.int64(1), True], ids=range(4))
@pytest.mark.parametrize("name, argument", TAKEN)
def test_numbers_may_be_of_any_kind(name, argument, value):
    # A board of six cells has no search by lists.
    if argument in ("memory", "max_states", "count_ahead"):
        with pytest.raises(MemoryError if argument == "memory" else ValueError):
            CALLS[name](**given(argument, value))
    else:
        CALLS[name](**given(argument, value))


@pytest.mark.parametrize("name, argument", [(name, argument) for name, argument in TAKEN if argument not in ("count", "count_ahead", "tiles", "threads")])
def test_the_largest_numbers_do_no_harm(name, argument):
    CALLS[name](**{argument: 2**64 - 1})


@pytest.mark.parametrize("count", [2**40, 2**59, 2**63, 2**64 - 1])
def test_more_boards_than_there_is_memory_are_refused_at_once(count):
    with pytest.raises(MemoryError, match="states"):
        tilewave.scramble("10x10", count)


@pytest.mark.parametrize("threads", [0, 1025, 2**64 - 1])
def test_numbers_of_threads_that_make_no_sense(threads):
    for name in ("bfs", "growth", "PatternDatabase.build", "DistanceTable.build"):
        with pytest.raises(ValueError, match="^threads must be a number from 1 to 1024"):
            CALLS[name](threads=threads)


# What finds the size of boards by itself.
SIZELESS = [
    tilewave.solve,
    lambda boards: tilewave.solve(boards, optimal=False),
    tilewave.neighbors,
    lambda boards: tilewave.apply_moves(boards, ""),
]
PAIR = np.array([[1, 2, 3, 4, 5, 6, 7, 8, 0]] * 2)


@pytest.mark.parametrize("ask", SIZELESS, ids=["solve", "fast", "neighbors", "apply_moves"])
@pytest.mark.parametrize("dtype", [float, np.float32, complex, object, bool, "U2", "M8[s]"])
def test_arrays_of_no_integers_are_refused_without_a_size(ask, dtype):
    for boards in (PAIR, PAIR[0], PAIR.reshape(2, 3, 3), PAIR[:0], PAIR.reshape(3, 6)):
        with pytest.raises(ValueError, match="^the array must contain integers"):
            ask(boards.astype(dtype))


@pytest.mark.parametrize("ask", SIZELESS, ids=["solve", "fast", "neighbors", "apply_moves"])
def test_numbers_of_boards_that_no_board_has_are_refused_without_a_size(ask):
    for dtype, number in ((np.uint64, 2**63), (np.uint64, 2**64 - 1), (np.int64, 2**62), (np.int64, -(2**63)), (np.int8, -1)):
        boards = PAIR.astype(dtype)
        boards[1, 4] = number
        with pytest.raises(ValueError, match="board"):
            ask(boards)
    with pytest.raises(ValueError, match="integers"):
        ask([[1, 2, 3, 4, 5, 6, 7, 8, 2**64]] * 2)


def test_no_boards_have_a_size_too():
    for shape in ((0, 9), (3, 0, 9), (0, 3, 3), (3, 0, 3, 3), (3, 0, 2, 9)):
        after, can = tilewave.neighbors(np.zeros(shape, np.int8))
        assert after.size == can.size == 0 and after.shape[-1] == 9
