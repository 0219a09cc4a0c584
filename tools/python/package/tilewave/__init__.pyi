from collections.abc import Callable, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Literal, NamedTuple, SupportsIndex, TypeAlias, final, overload

import numpy as np
import numpy.typing as npt

__version__: str
__all__: list[str]

_Path: TypeAlias = str | PathLike[str]
# Boards or other states: an array of integers, nested lists of them, a string or a list of strings.
_States: TypeAlias = npt.ArrayLike
# The same, but not a single string.
_Rows: TypeAlias = npt.NDArray[Any] | list[Any] | tuple[Any, ...]
# uint8, or int16 if there are more than 256 positions.
_Array: TypeAlias = npt.NDArray[Any]
_Puzzle: TypeAlias = _Path | Puzzle
_Progress: TypeAlias = Callable[[int, int, float], object]
_SolverProgress: TypeAlias = Callable[[int, int, int], object]
_Metric: TypeAlias = Literal["stm", "mtm", "htm", "qtm", "slice", "axial"]
_Memory: TypeAlias = int | str
_Databases: TypeAlias = _Path | Sequence[PatternDatabase | _Path]

class Adjacency(NamedTuple):
    states: _Array
    depths: npt.NDArray[np.int32]
    indices: npt.NDArray[np.int32]
    indptr: npt.NDArray[np.int64]
    @property
    def csr(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int32], npt.NDArray[np.int64]]: ...

@final
class Puzzle:
    def __new__(
        cls,
        puzzle: _Puzzle,
        *,
        goal: _States | None = None,
        metric: _Metric | None = None,
        directed: bool = False,
        pieces: str | Sequence[str] | None = None,
        ignore_orientation: str | Sequence[str] | None = None,
        same: str | Sequence[str] | None = None,
        moves: str | Sequence[str] | None = None,
        goals: str | Sequence[str] | None = None,
        subgroup: str | Sequence[str] | None = None,
    ) -> Puzzle: ...
    @staticmethod
    def from_generators(
        generators: npt.ArrayLike,
        *,
        twists: npt.ArrayLike | None = None,
        orientations: npt.ArrayLike | None = None,
        solved: npt.ArrayLike | None = None,
        names: Sequence[str] | None = None,
        inverses: bool = False,
        name: str = "generators",
    ) -> Puzzle: ...
    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> tuple[int, int] | None: ...
    @property
    def num_positions(self) -> int: ...
    @property
    def sets(self) -> dict[str, tuple[int, int]]: ...
    @property
    def metric(self) -> _Metric | None: ...
    @property
    def goal(self) -> _Array: ...
    @property
    def num_states(self) -> int | None: ...
    @property
    def moves(self) -> list[str]: ...
    def adjacency(self, *, max_states: int = 1_000_000) -> Adjacency: ...
    @overload
    def rank(self, states: str) -> int: ...
    @overload
    def rank(self, states: _Rows) -> npt.NDArray[np.uint64]: ...
    def unrank(self, ids: npt.ArrayLike) -> _Array: ...
    def neighbors(self, states: _States) -> tuple[_Array, npt.NDArray[np.bool_]]: ...
    def apply_moves(self, state: _States, moves: str | Sequence[str]) -> _Array: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class SearchResult:
    @property
    def puzzle(self) -> str: ...
    @property
    def metric(self) -> _Metric | None: ...
    @property
    def goal(self) -> str: ...
    @property
    def start(self) -> str: ...
    @property
    def counts(self) -> npt.NDArray[np.uint64]: ...
    @property
    def counts_up_to_symmetry(self) -> npt.NDArray[np.uint64] | None: ...
    @property
    def checksums(self) -> npt.NDArray[np.uint64]: ...
    @property
    def level_seconds(self) -> npt.NDArray[np.float64]: ...
    @property
    def diameter(self) -> int | None: ...
    @property
    def antipodes(self) -> int | None: ...
    @property
    def last_layer(self) -> _Array: ...
    @property
    def complete(self) -> bool: ...
    @property
    def num_found(self) -> int: ...
    @property
    def num_states(self) -> int | None: ...
    @property
    def mean_depth(self) -> float: ...
    @property
    def seconds(self) -> float: ...
    @property
    def engine(self) -> Literal["sweep", "reference", "disk", "frontier"]: ...
    @property
    def threads(self) -> int: ...
    @property
    def symmetries(self) -> int: ...
    @property
    def all_symmetries(self) -> int | None: ...
    @property
    def published(self) -> str | None: ...
    def levels(self) -> dict[str, npt.NDArray[Any]]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def svg(self) -> str: ...
    # Axes of matplotlib, which may not be installed.
    def plot(self, ax: Any = None, *, log: bool = False, **options: Any) -> Any: ...
    def _repr_html_(self) -> str: ...

@final
class PatternDatabase:
    @staticmethod
    def build(
        size: str,
        tiles: Sequence[int] | npt.NDArray[np.integer[Any]],
        *,
        goal: _States | None = None,
        kind: Literal["additive-min", "region-aware", "all-moves"] = "additive-min",
        encoding: Literal["byte", "bit"] = "byte",
        threads: int | None = None,
        memory: _Memory | None = None,
        progress: _Progress | None = None,
    ) -> PatternDatabase: ...
    @staticmethod
    def open(path: _Path, *, mmap: bool = False) -> PatternDatabase: ...
    def save(self, path: _Path, *, replace: bool = False) -> None: ...
    def close(self) -> None: ...
    @property
    def closed(self) -> bool: ...
    def __enter__(self) -> PatternDatabase: ...
    def __exit__(
        self,
        *_exception: type[BaseException] | BaseException | TracebackType | None,
    ) -> None: ...
    @overload
    def __call__(self, boards: str) -> int: ...
    @overload
    def __call__(self, boards: _Rows) -> npt.NDArray[np.int16]: ...
    @property
    def num_entries(self) -> int: ...
    @overload
    def entries(self, boards: str) -> int: ...
    @overload
    def entries(self, boards: _Rows) -> npt.NDArray[np.uint64]: ...
    @property
    def values(self) -> npt.NDArray[np.uint8]: ...
    @property
    def tiles(self) -> list[int]: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def goal(self) -> _Array: ...
    @property
    def kind(self) -> Literal["additive-min", "region-aware", "all-moves"]: ...
    @property
    def encoding(self) -> Literal["byte", "bit"]: ...
    @property
    def histogram(self) -> npt.NDArray[np.uint64]: ...
    @property
    def maximum(self) -> int: ...
    @property
    def mean(self) -> float: ...
    @property
    def checksum(self) -> int: ...
    @property
    def nbytes(self) -> int: ...

@final
class DistanceTable:
    @staticmethod
    def build(
        puzzle: _Puzzle,
        *,
        goal: _States | None = None,
        metric: _Metric | None = None,
        directed: bool = False,
        encoding: Literal["byte", "nibble", "mod3"] = "byte",
        threads: int | None = None,
        memory: _Memory | None = None,
        progress: _Progress | None = None,
    ) -> DistanceTable: ...
    @staticmethod
    def open(path: _Path, *, lazy: bool = False, mmap: bool = False) -> DistanceTable: ...
    def save(self, path: _Path, *, replace: bool = False) -> None: ...
    def close(self) -> None: ...
    @property
    def closed(self) -> bool: ...
    def __enter__(self) -> DistanceTable: ...
    def __exit__(
        self,
        *_exception: type[BaseException] | BaseException | TracebackType | None,
    ) -> None: ...
    @overload
    def depths(self, states: str) -> int: ...
    @overload
    def depths(self, states: _Rows) -> npt.NDArray[np.int16]: ...
    # A string for a board, a list of names for another puzzle, and lists of these for many states.
    def solve(self, states: _States) -> Any: ...
    @property
    def puzzle(self) -> str: ...
    @property
    def metric(self) -> _Metric | None: ...
    @property
    def goal(self) -> _Array: ...
    @property
    def encoding(self) -> Literal["byte", "nibble", "mod3"]: ...
    @property
    def histogram(self) -> npt.NDArray[np.uint64]: ...
    @property
    def checksum(self) -> int: ...
    @property
    def nbytes(self) -> int: ...

@final
class Solution:
    @property
    def moves(self) -> str: ...
    @property
    def at_least(self) -> int: ...
    @property
    def optimal(self) -> bool: ...
    @property
    def nodes(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    def __bool__(self) -> bool: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Solver:
    def __new__(
        cls,
        size: str,
        *,
        goal: _States | None = None,
        databases: _Databases | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
    ) -> Solver: ...
    @overload
    def solve(
        self,
        boards: str,
        *,
        max_nodes: int | None = None,
        timeout: float | None = None,
        progress: _SolverProgress | None = None,
    ) -> Solution: ...
    @overload
    def solve(
        self,
        boards: list[str],
        *,
        max_nodes: int | None = None,
        timeout: float | None = None,
        progress: _SolverProgress | None = None,
    ) -> list[Solution]: ...
    # An array may hold one board or many.
    @overload
    def solve(
        self,
        boards: _States,
        *,
        max_nodes: int | None = None,
        timeout: float | None = None,
        progress: _SolverProgress | None = None,
    ) -> Any: ...
    @overload
    def solve_all(
        self, boards: str, *, slack: int = 0, limit: int | None = None
    ) -> list[Solution]: ...
    @overload
    def solve_all(
        self, boards: list[str], *, slack: int = 0, limit: int | None = None
    ) -> list[list[Solution]]: ...
    @overload
    def solve_all(
        self, boards: _States, *, slack: int = 0, limit: int | None = None
    ) -> Any: ...
    @overload
    def count_solutions(self, boards: str, *, slack: int = 0) -> list[int]: ...
    @overload
    def count_solutions(self, boards: list[str], *, slack: int = 0) -> list[list[int]]: ...
    @overload
    def count_solutions(self, boards: _States, *, slack: int = 0) -> Any: ...
    @property
    def goal(self) -> _Array: ...

@final
class PruningTable:
    @staticmethod
    def build(
        puzzle: _Puzzle,
        *,
        metric: _Metric | None = None,
        directed: bool = False,
        pieces: str | Sequence[str] | None = None,
        encoding: Literal["nibble", "mod3", "byte"] = "nibble",
        up_to_symmetry: bool = False,
        threads: int | None = None,
        memory: _Memory | None = None,
        progress: _Progress | None = None,
    ) -> PruningTable: ...
    @staticmethod
    def open(path: _Path) -> PruningTable: ...
    def save(self, path: _Path, *, replace: bool = False) -> None: ...
    @overload
    def depths(self, states: str, *, puzzle: _Puzzle | None = None) -> int: ...
    @overload
    def depths(self, states: _Rows, *, puzzle: _Puzzle | None = None) -> npt.NDArray[np.int16]: ...
    @property
    def puzzle(self) -> str: ...
    @property
    def encoding(self) -> Literal["nibble", "mod3", "byte"]: ...
    @property
    def histogram(self) -> npt.NDArray[np.uint64]: ...
    @property
    def nbytes(self) -> int: ...

@final
class PuzzleSolver:
    def __new__(
        cls,
        puzzle: _Puzzle,
        *,
        metric: _Metric | None = None,
        directed: bool = False,
        pieces: str | Sequence[str] | None = None,
        tables: _Path | Sequence[PruningTable | _Path] | None = None,
        threads: int | None = None,
        memory: _Memory | None = None,
    ) -> PuzzleSolver: ...
    @overload
    def solve(
        self,
        states: str,
        *,
        max_nodes: int | None = None,
        timeout: float | None = None,
        progress: _SolverProgress | None = None,
    ) -> Solution: ...
    @overload
    def solve(
        self,
        states: list[str],
        *,
        max_nodes: int | None = None,
        timeout: float | None = None,
        progress: _SolverProgress | None = None,
    ) -> list[Solution]: ...
    # An array may hold one state or many.
    @overload
    def solve(
        self,
        states: _States,
        *,
        max_nodes: int | None = None,
        timeout: float | None = None,
        progress: _SolverProgress | None = None,
    ) -> Any: ...
    @overload
    def solve_all(
        self, states: str, *, slack: int = 0, limit: int | None = None
    ) -> list[Solution]: ...
    @overload
    def solve_all(
        self, states: list[str], *, slack: int = 0, limit: int | None = None
    ) -> list[list[Solution]]: ...
    @overload
    def solve_all(
        self, states: _States, *, slack: int = 0, limit: int | None = None
    ) -> Any: ...
    @overload
    def bounds(self, states: str) -> int: ...
    @overload
    def bounds(self, states: list[str]) -> npt.NDArray[np.int16]: ...
    @overload
    def bounds(self, states: _States) -> Any: ...
    @overload
    def count_solutions(self, states: str, *, slack: int = 0) -> list[int]: ...
    @overload
    def count_solutions(self, states: list[str], *, slack: int = 0) -> list[list[int]]: ...
    @overload
    def count_solutions(self, states: _States, *, slack: int = 0) -> Any: ...
    @property
    def puzzle(self) -> str: ...

def bfs(
    puzzle: _Puzzle,
    *,
    goal: _States | None = None,
    metric: _Metric | None = None,
    directed: bool = False,
    pieces: str | Sequence[str] | None = None,
    start: _States | None = None,
    max_depth: int | None = None,
    count_ahead: int = 0,
    symmetry: bool = True,
    engine: Literal["sweep", "reference", "frontier"] | None = None,
    threads: int | None = None,
    memory: _Memory | None = None,
    keep_last: int | None = None,
    dir: _Path | Sequence[_Path] | None = None,
    keep_levels: Literal["last", "all"] = "last",
    progress: _Progress | None = None,
) -> SearchResult: ...
def growth(
    generators: npt.ArrayLike,
    *,
    twists: npt.ArrayLike | None = None,
    orientations: npt.ArrayLike | None = None,
    solved: npt.ArrayLike | None = None,
    names: Sequence[str] | None = None,
    inverses: bool = False,
    name: str = "generators",
    max_depth: int | None = None,
    threads: int | None = None,
    memory: _Memory | None = None,
    keep_last: int | None = None,
    progress: _Progress | None = None,
) -> SearchResult: ...
def neighbors(
    boards: _States, *, size: str | None = None
) -> tuple[_Array, npt.NDArray[np.bool_]]: ...
def scramble(
    puzzle: _Puzzle,
    count: SupportsIndex | None = None,
    *,
    rng: int | np.random.Generator | None = None,
    goal: _States | None = None,
) -> _Array: ...
def apply_moves(board: _States, moves: str, *, size: str | None = None) -> _Array: ...
@overload
def solve(
    boards: _Puzzle,
    states: str,
    *,
    databases: _Path | Sequence[PruningTable | _Path] | None = None,
    threads: int | None = None,
    max_nodes: int | None = None,
    timeout: float | None = None,
    progress: _SolverProgress | None = None,
) -> Solution: ...
@overload
def solve(
    boards: _Puzzle,
    states: list[str],
    *,
    databases: _Path | Sequence[PruningTable | _Path] | None = None,
    threads: int | None = None,
    max_nodes: int | None = None,
    timeout: float | None = None,
    progress: _SolverProgress | None = None,
) -> list[Solution]: ...
@overload
def solve(
    boards: _Puzzle,
    states: _States,
    *,
    databases: _Path | Sequence[PruningTable | _Path] | None = None,
    threads: int | None = None,
    max_nodes: int | None = None,
    timeout: float | None = None,
    progress: _SolverProgress | None = None,
) -> Any: ...
@overload
def solve(
    boards: str,
    states: None = None,
    *,
    optimal: bool = True,
    goal: _States | None = None,
    size: str | None = None,
    databases: _Databases | None = None,
    threads: int | None = None,
    max_nodes: int | None = None,
    timeout: float | None = None,
    progress: _SolverProgress | None = None,
) -> Solution: ...
@overload
def solve(
    boards: list[str],
    states: None = None,
    *,
    optimal: bool = True,
    goal: _States | None = None,
    size: str | None = None,
    databases: _Databases | None = None,
    threads: int | None = None,
    max_nodes: int | None = None,
    timeout: float | None = None,
    progress: _SolverProgress | None = None,
) -> list[Solution]: ...
@overload
def solve(
    boards: _States,
    states: None = None,
    *,
    optimal: bool = True,
    goal: _States | None = None,
    size: str | None = None,
    databases: _Databases | None = None,
    threads: int | None = None,
    max_nodes: int | None = None,
    timeout: float | None = None,
    progress: _SolverProgress | None = None,
) -> Any: ...
