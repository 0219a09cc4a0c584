"""What is written about the package is true: examples run, the reference is that of the module, the tour goes."""

import doctest
import importlib.machinery
import importlib.util
import inspect
from pathlib import Path

import pytest
import tilewave

ROOT = Path(__file__).parents[2]


def tool(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(ROOT / "tools/python" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def documented():
    """All public objects with what they say of themselves."""
    for name in tilewave.__all__:
        of = getattr(tilewave, name)
        if callable(of):
            yield name, of
        if inspect.isclass(of):
            for member in vars(of):
                if not member.startswith("_"):
                    yield f"{name}.{member}", getattr(of, member)


@pytest.mark.parametrize(
    "name, of",
    sorted(documented(), key=lambda pair: pair[0]),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_object_has_a_docstring_and_its_examples_run(name, of):
    pytest.importorskip("matplotlib").use("Agg")
    assert of.__doc__, name
    test = doctest.DocTestParser().get_doctest(of.__doc__, {"tilewave": tilewave}, name, None, 0)
    assert test.examples or not callable(of), f"{name} has no example"
    said = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert not said, "".join(said)


def test_the_module_has_what_it_lists():
    public = {name for name in vars(tilewave) if not name.startswith("_")}
    assert public - {"annotations"} == set(tilewave.__all__) - {"__version__"}


def test_the_version_is_that_of_the_library():
    manifest = (ROOT / "Cargo.toml").read_text()
    assert f'version = "{tilewave.__version__}"' in manifest.splitlines()


def test_the_reference_is_that_of_the_module():
    reference = tool("reference")
    page = ROOT / "docs/python-api.md"
    assert page.read_text() == reference.page(), "run tools/python/reference in an environment with the package"


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("matplotlib").use("Agg")
    for needed in ("pandas", "polars", "scipy", "networkx"):
        pytest.importorskip(needed)
    text = (ROOT / "docs/python.md").read_text()
    blocks = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    assert len(blocks) >= 15
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)


def test_the_tour_goes_as_it_is_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = tool("notebook")
    for cell, (source, printed, found) in enumerate(notebook.run(ROOT / "docs/tour.ipynb")):
        said = notebook.words(printed)
        assert notebook.words(found) == said, f"code cell {cell}:\n{source}"
        assert notebook.kinds(found) == notebook.kinds(printed), f"code cell {cell}:\n{source}"
