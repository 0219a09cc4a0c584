"""Charts with matplotlib, which is imported only here."""

from __future__ import annotations

from typing import Any


def distribution(result: Any, ax: Any, log: bool, **options: Any) -> Any:
    """Draws the number of states at each depth of a search."""
    if ax is None:
        try:
            import matplotlib.pyplot as pyplot
        except ImportError as error:
            raise ImportError("plot needs matplotlib: install it, or use svg()") from error
        ax = pyplot.subplots()[1]
    ax.bar(range(len(result.counts)), result.counts, **{"width": 0.9, **options})
    if log:
        ax.set_yscale("log")
    ax.set_xlabel("depth")
    ax.set_ylabel("states")
    end = "" if result.diameter is None else f", God's number {result.diameter}"
    ax.set_title(f"{result.puzzle}: {result.num_found:,} states{end}")
    return ax
