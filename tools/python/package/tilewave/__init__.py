"""Complete breadth-first searches of sliding-tile boards, cubes and other puzzles, pattern databases, solvers.

Everything is computed by the library; docs/python.md of the repository says what there is.
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
