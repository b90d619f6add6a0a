"""`symgrad verify-code`: two functions in files of Python's in, a verdict and its exit code out."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

LAYERS = """
import numpy as np

def loss(w, x):
    return np.sum(np.tanh(x @ w))

def loss_grad(w, x):
    return x.T @ (1 - np.tanh(x @ w)**2)

def hurried(w, x):
    return x.T @ (1 - np.tanh(x @ w))

def smooth(w, x):
    return np.sum(np.sin(x @ w))

def single(w, x):
    return np.float64(np.float32(x).T @ np.cos(np.float32(x) @ np.float32(w)))

class Scale:
    def __init__(self, by):
        self.by = by

    def loss(self, w):
        return self.by*np.sum(w**2)

    def grad(self, w):
        return 2*self.by*w

scale = Scale(3)
"""

SPECS = ("--specs", "w : real[3]; x : real[5, 3]", "--wrt", "w")


@pytest.fixture
def files(call: Callable[..., Result]) -> Callable[..., Result]:
    """What runs `symgrad verify-code` beside layers.py and other.py."""
    Path("layers.py").write_text(LAYERS, encoding="utf-8")
    Path("other.py").write_text(
        textwrap.dedent("""
        import numpy as np
        def backward(w, x):
            return x.T @ (1 - np.tanh(x @ w)**2)
    """),
        encoding="utf-8",
    )
    return lambda *args: call("verify-code", *args)


@pytest.mark.parametrize(
    ("gradient", "code", "word"),
    [
        ("loss_grad", 0, "proved"),
        ("layers.py::loss_grad", 0, "proved"),
        ("other.py::backward", 0, "proved"),
        ("hurried", 5, "refuted"),
    ],
)
def test_the_exit_code_is_the_verdict(
    files: Callable[..., Result], gradient: str, code: int, word: str
) -> None:
    found = files("layers.py::loss", gradient, *SPECS)
    assert found.exit_code == code, found.output
    assert word in found.stdout


def test_single_precision_that_comes_as_double_is_told(files: Callable[..., Result]) -> None:
    found = files("layers.py::smooth", "single", *SPECS)
    assert (found.exit_code, "float32 noise" in found.stdout) == (6, True)


def test_methods_of_an_object_of_the_file_are_taken(files: Callable[..., Result]) -> None:
    found = files("layers.py::scale.loss", "scale.grad", "--specs", "w : real[3]")
    assert (found.exit_code, found.stdout.split(":")[0]) == (0, "proved")


def test_json_is_that_of_the_verdict(files: Callable[..., Result]) -> None:
    found = files("layers.py::loss", "hurried", *SPECS, "--format", "json", "-o", "found.json")
    assert found.exit_code == 5
    told = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert (told["status"], told["arguments"]["w"]["kind"]) == ("refuted", "wrong")


def test_single_precision_is_held_to_its_own_accuracy(files: Callable[..., Result]) -> None:
    found = files("layers.py::loss", "loss_grad", *SPECS, "--dtype", "float32", "--format", "json")
    assert json.loads(found.stdout)["arguments"]["w"]["kind"] == "right"
    found = files("layers.py::loss", "loss_grad", *SPECS, "--dtype", "float16")
    assert found.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("layers.py", "loss_grad"), "names no function"),
        (("layers.sg::loss", "loss_grad"), "is no function in a file"),
        (("layers.py::loss", "other.py"), "names no function"),
        (("layers.py::loss", "2*w"), "is no function in a file"),
        (("layers.py::loss", "los_grad"), "did you mean 'loss_grad'?"),
        (("layers.py::loss", "Scale"), "is a class"),
    ],
)
def test_what_names_no_function_is_refused(
    files: Callable[..., Result], arguments: tuple[str, str], said: str
) -> None:
    found = files(*arguments, *SPECS)
    assert found.exit_code == 2
    assert said in found.stderr


def test_the_help_says_that_the_code_is_run(call: Callable[..., Result]) -> None:
    assert "This RUNS the code" in call("verify-code", "--help").stdout
