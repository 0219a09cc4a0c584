"""A puzzle as a graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Adjacency(NamedTuple):
    """All states of a puzzle and the moves between them, as `Puzzle.adjacency` returns them.

    The neighbours of state i are ``indices[indptr[i]:indptr[i + 1]]``, in increasing order.

    Examples
    --------
    >>> graph = tilewave.Puzzle("2x2").adjacency()
    >>> [part.shape for part in graph.csr]
    [(24,), (24,), (13,)]
    """

    states: Any
    """The states in the order of their depths, (n, positions)."""
    depths: Any
    """The depth of each state, (n,) int32."""
    indices: Any
    """Numbers of the neighbours of all states, state after state, int32."""
    indptr: Any
    """Where the neighbours of each state begin, (n + 1,) int64."""

    @property
    def csr(self) -> tuple[Any, Any, Any]:
        """Ones, indices and indptr: ``scipy.sparse.csr_array(graph.csr)`` is the adjacency matrix."""
        return np.ones(len(self.indices), np.int8), self.indices, self.indptr
