"""What a client writes, for mypy --strict."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import tilewave
from tilewave import DistanceTable, PatternDatabase, Puzzle, SearchResult, Solution, Solver


def search() -> tuple[int, npt.NDArray[np.uint64]]:
    def told(depth: int, states: int, seconds: float) -> None:
        print(depth, states, seconds)

    result: SearchResult = tilewave.bfs("3x3", metric="stm", goal="first", max_depth=40, progress=told)
    diameter = result.diameter
    assert diameter is not None
    more = tilewave.growth([[1, 2, 0], [1, 0, 2]], names=["a", "b"])
    return diameter + more.num_found, result.counts


def look_up(boards: npt.NDArray[np.uint8]) -> npt.NDArray[np.int16]:
    with PatternDatabase.build("3x3", [1, 2, 3], kind="region-aware") as db:
        one: int = db("1 2 3/4 5 6/7 8 0")
        values: npt.NDArray[np.uint8] = db.values
        found: npt.NDArray[np.int16] = db(boards)
        return found + one + int(values.max())


def distances(boards: npt.NDArray[np.uint8]) -> npt.NDArray[np.int16]:
    with DistanceTable.build(Puzzle("3x3", goal=[0, 1, 2, 3, 4, 5, 6, 7, 8]), encoding="byte") as table:
        depths: npt.NDArray[np.int16] = table.depths(boards)
        return depths


def solutions() -> list[str]:
    one: Solution = tilewave.solve("1 2 3/4 5 6/7 0 8")
    many: list[Solution] = Solver("3x3").solve(["1 2 3/4 5 6/7 0 8", "1 2 3/4 5 6/7 8 0"])
    quick: str = str(tilewave.solve("1 2 3/4 5 6/7 0 8", optimal=False))
    return [one.moves, quick, *(solution.moves for solution in many)]


def states() -> bool:
    puzzle = Puzzle.from_generators(np.array([[1, 2, 3, 0], [1, 0, 2, 3]]), inverses=True)
    after, can = puzzle.neighbors(puzzle.goal)
    ids: npt.NDArray[np.uint64] = puzzle.rank(after)
    back = puzzle.unrank(ids)
    return bool((back == after).all() and can.all()) and len(tilewave.apply_moves("1 2/3 0", "R")) == 2


if __name__ == "__main__":
    boards = tilewave.scramble("3x3", 10, goal="first", rng=1)
    print(search(), look_up(boards), distances(boards), solutions(), states())
