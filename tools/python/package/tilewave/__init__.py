"""Complete breadth-first searches of sliding-tile boards, cubes and other puzzles; pattern databases; solvers.

The library does all the computing. For documentation, see docs/python.md in the repository.
"""

from ._graph import Adjacency
from ._tilewave import (
    DistanceTable,
    PatternDatabase,
    PruningTable,
    Puzzle,
    PuzzleSolver,
    SearchResult,
    Solution,
    Solver,
    __version__,
    apply_moves,
    bfs,
    growth,
    neighbors,
    scramble,
    solve,
)

__all__ = [
    "Adjacency",
    "DistanceTable",
    "PatternDatabase",
    "PruningTable",
    "Puzzle",
    "PuzzleSolver",
    "SearchResult",
    "Solution",
    "Solver",
    "__version__",
    "apply_moves",
    "bfs",
    "growth",
    "neighbors",
    "scramble",
    "solve",
]
