"""Every keyword argument of every public function has an effect, or is refused."""

import inspect

import numpy as np
import pytest
import tilewave

BOARD = "8 6 7/2 5 4/3 0 1"
COINS = [[0, 1, 2]] * 2
TWISTS = [[1, 1, 0], [0, 1, 1]]


class Stop(Exception):
    pass


def stop(*_):
    raise Stop


def summary(value):
    """What can be compared of a result: arrays as lists, results as what they say of themselves, without times."""
    if isinstance(value, tilewave.SearchResult):
        layer = value.last_layer.tolist()
        said = value.to_dict()
        kept = ["puzzle", "metric", "goal", "start", "moves", "engine", "threads", "kernel", "counts", "complete", "reduced"]
        return [said.get(key) for key in kept] + [layer, said.get("lists"), (said.get("disk") or {}).get("level_bytes")]
    if isinstance(value, tilewave.Puzzle):
        states = value.num_states
        return [value.name, value.metric, value.moves, states, value.goal.tolist(), tilewave.bfs(value, max_depth=2).counts.tolist()]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tilewave.Solution):
        return [value.length, value.moves, value.optimal, value.at_least]
    if isinstance(value, (list, tuple)):
        return [summary(one) for one in value]
    return value


def outcome(function, args, options):
    try:
        return summary(function(*args, **options))
    except Exception as error:  # noqa: BLE001: a refusal is an effect
        return type(error).__name__, str(error)


# For each function and argument: positional arguments, what both calls have, and what only the second has. The results
# differ, or the second call is refused.
EFFECTS = {
    "Puzzle": {
        "goal": (["2x3"], {}, {"goal": "first"}),
        "metric": (["2x3"], {}, {"metric": "mtm"}),
        "directed": (["2x3"], {}, {"directed": True}),
        "pieces": (["pancake:5"], {}, {"pieces": "1-2"}),
        "ignore_orientation": (["2x2x2"], {}, {"ignore_orientation": "corners"}),
        "same": (["2x3"], {}, {"same": "1-2"}),
        "moves": (["2x2x2"], {}, {"moves": "U R"}),
        "goals": (["2x2x2"], {}, {"goals": ["U", "R"]}),
        "subgroup": (["2x2x2"], {}, {"subgroup": "U"}),
    },
    "bfs": {
        "goal": (["2x3"], {}, {"goal": "blank=1"}),
        "metric": (["2x2x2"], {"max_depth": 3}, {"metric": "qtm"}),
        "directed": (["2x3"], {}, {"directed": True}),
        "pieces": (["2x2x2"], {"max_depth": 3}, {"pieces": "corners:1-3"}),
        "start": (["2x3"], {}, {"start": "1 2 3/0 4 5"}),
        "max_depth": (["2x3"], {}, {"max_depth": 3}),
        "count_ahead": (["2x2x2"], {"max_depth": 5}, {"count_ahead": 2}),
        "symmetry": (["skewb-diamond"], {"max_depth": 3}, {"symmetry": False}),
        "engine": (["2x4"], {}, {"engine": "reference"}),
        "threads": (["2x4"], {"threads": 1}, {"threads": 2}),
        "memory": (["2x4"], {}, {"memory": 1}),
        "keep_last": (["2x4"], {}, {"keep_last": 0}),
        "dir": (["2x4"], {}, {"dir": "DIR"}),
        "keep_levels": (["2x4"], {}, {"keep_levels": "all"}),
        "progress": (["2x4"], {}, {"progress": stop}),
    },
    "growth": {
        "twists": ([COINS], {"orientations": 2, "twists": [[1, 0, 0], [0, 1, 0]]}, {"twists": TWISTS}),
        "orientations": ([COINS], {"twists": TWISTS, "orientations": 2}, {"orientations": 4}),
        "solved": ([[[1, 2, 0], [1, 0, 2]]], {}, {"solved": [0, 0, 1]}),
        "names": ([[[1, 2, 0], [1, 0, 2]]], {}, {"names": ["A", "B"]}),
        "inverses": ([[[1, 2, 0], [1, 0, 2]]], {}, {"inverses": True}),
        "name": ([[[1, 2, 0], [1, 0, 2]]], {}, {"name": "three"}),
        "max_depth": ([[[1, 2, 0], [1, 0, 2]]], {}, {"max_depth": 1}),
        "threads": ([np.roll(np.arange(9), 1)[None]], {"threads": 1}, {"threads": 2}),
        "memory": ([np.array([np.roll(np.arange(9), 1), [1, 0, *range(2, 9)]])], {}, {"memory": 1}),
        "keep_last": ([[[1, 2, 0], [1, 0, 2]]], {}, {"keep_last": 0}),
        "progress": ([[[1, 2, 0], [1, 0, 2]]], {}, {"progress": stop}),
    },
    "neighbors": {"size": ([np.arange(6)[::-1].reshape(1, 6)], {"size": "2x3"}, {"size": "3x2"})},
    "scramble": {
        "goal": (["2x3", 5], {"rng": 1}, {"goal": "1 2 3/5 4 0"}),
        "rng": (["2x3", 5], {"rng": 1}, {"rng": 2}),
    },
    "apply_moves": {"size": ([[1, 2, 3, 4, 5, 0], "D"], {"size": "2x3"}, {"size": "3x2"})},
}


def arguments(of):
    return [p for p in inspect.signature(of).parameters.values() if p.kind is p.KEYWORD_ONLY]


def functions():
    """Public functions, and the puzzle; classes of files and solvers have tests of their own."""
    for name in tilewave.__all__:
        of = getattr(tilewave, name)
        if name == "Puzzle" or callable(of) and not inspect.isclass(of):
            yield name, of


def test_every_argument_is_tested():
    untested = {
        f"{name}({one.name}=)"
        for name, of in functions()
        # `solve` gives its arguments on to a Solver.
        if name != "solve"
        for one in arguments(of)
        if one.name not in EFFECTS.get(name, {})
    }
    assert not untested


@pytest.mark.parametrize("name, option", [(name, option) for name, of in EFFECTS.items() for option in of])
def test_every_argument_has_an_effect_or_is_refused(name, option, tmp_path):
    args, both, more = EFFECTS[name][option]
    more = {key: str(tmp_path / "run") if value == "DIR" else value for key, value in more.items()}
    of = getattr(tilewave, name)
    assert outcome(of, args, both) != outcome(of, args, {**both, **more})


def test_what_the_program_takes_is_taken():
    # Lists are chosen by the same rule as the program's.
    deep = tilewave.bfs("4x4", metric="mtm", max_depth=5, memory="1GB")
    assert deep.engine == "frontier" and deep.counts.tolist()[:3] == [1, 6, 18]
    assert deep.metric == "mtm" and "4x4 mtm" in repr(deep)
    assert tilewave.bfs("4x4", metric="mtm", max_depth=5, memory="1GB", keep_last=1).last_layer.shape == (1, 16)
    alike = tilewave.Puzzle("2x3", same="1-5")
    assert alike.num_states == 6 and tilewave.bfs(alike).diameter == 3
    assert tilewave.Puzzle("pancake:5", pieces="1-2").num_states == 20


def test_a_search_that_ends_at_the_last_depth_is_complete():
    for options in [{}, {"engine": "reference"}, {"engine": "frontier"}]:
        short, whole = (tilewave.bfs("2x3", max_depth=depth, **options) for depth in (20, 21))
        assert (whole.complete, whole.diameter, whole.antipodes) == (True, 21, 1)
        assert (short.complete, short.diameter, short.antipodes) == (False, None, None)
        assert tilewave.bfs("2x3", **options).published == whole.published != None  # noqa: E711


def test_results_say_which_puzzle_they_are_of():
    half, quarter = (tilewave.bfs("2x2x2", metric=metric, max_depth=3) for metric in ("htm", "qtm"))
    assert "2x2x2 qtm" in repr(quarter) and "2x2x2 qtm" in str(quarter) and "qtm" not in repr(half)
    assert (half.to_dict()["metric"], quarter.to_dict()["metric"]) == ("htm", "qtm")
    assert half.to_dict()["fingerprint"] != quarter.to_dict()["fingerprint"]
    centre = tilewave.bfs("3x3", goal="blank=4", engine="frontier", max_depth=4)
    assert "1 2 3/4 0 5/6 7 8" in repr(centre) and centre.published
