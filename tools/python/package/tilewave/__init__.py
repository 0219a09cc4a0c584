"""Complete breadth-first searches of sliding-tile boards and permutation puzzles, pattern databases, solvers.

Everything is computed by the library; docs/python.md of the repository says what there is.
"""

from ._tilewave import (
    DistanceTable,
    PatternDatabase,
    Puzzle,
    SearchResult,
    Solution,
    Solver,
    __version__,
    bfs,
    fast,
    growth,
    neighbours,
    play,
    rank,
    scramble,
    solve,
    unrank,
)

__all__ = [
    "DistanceTable",
    "PatternDatabase",
    "Puzzle",
    "SearchResult",
    "Solution",
    "Solver",
    "__version__",
    "bfs",
    "fast",
    "growth",
    "neighbours",
    "play",
    "rank",
    "scramble",
    "solve",
    "unrank",
]
