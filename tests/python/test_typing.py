"""The stubs: they say what the module has, and help who checks types."""

import re
import subprocess
import sys
from pathlib import Path

import client

HERE = Path(__file__).parent


def mypy(*arguments, module="mypy"):
    return subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, cwd=HERE)


def test_the_stubs_are_those_of_the_module():
    done = mypy("tilewave", "--ignore-missing-stub", module="mypy.stubtest")
    assert done.returncode == 0, done.stdout + done.stderr


def test_client_code_passes_the_strictest_checks(tmp_path):
    done = mypy("--strict", "--cache-dir", str(tmp_path), "client.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_wrong_code_does_not(tmp_path):
    done = mypy("--strict", "--cache-dir", str(tmp_path), "wrong_client.py")
    found = {int(line) for line in re.findall(r"^wrong_client.py:(\d+): error", done.stdout, re.MULTILINE)}
    lines = (HERE / "wrong_client.py").read_text().splitlines()
    assert found == {i for i, line in enumerate(lines, 1) if "  # " in line}, done.stdout


def test_client_code_runs():
    boards = client.tilewave.scramble("3x3", 10, goal="first", rng=1)
    assert client.search()[0] == 31 + 6
    assert client.look_up(client.tilewave.scramble("3x3", 10)).shape == client.distances(boards).shape
    assert client.solutions() == ["L", "L", "L", ""] and client.states()
