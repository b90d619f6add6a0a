"""The benchmark on a GPU: what it says where there is none, and what it compares with."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from benchmarks import on_gpu
from benchmarks.speed import WORKLOADS
from symgrad.errors import KernelError


def test_it_says_that_it_needs_a_gpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none() -> None:
        raise KernelError("there is no CUDA driver on this machine")

    monkeypatch.setattr(on_gpu, "driver", none)
    monkeypatch.setattr(sys, "argv", ["on_gpu"])
    assert on_gpu.main() == 1
    assert "This benchmark needs a GPU. there is no CUDA driver" in capsys.readouterr().err


@pytest.mark.parametrize("what", WORKLOADS)
def test_formulas_by_hand_take_the_functions_of_a_library(what: str) -> None:
    *_, by_hand = WORKLOADS[what]
    called: list[str] = []

    class Library:
        def __getattr__(self, name: str) -> object:
            called.append(name)
            return getattr(np, name)

    given = np.array([0.5, 1.5]), np.array([1.0, 0.75])
    for a, b in zip(on_gpu.with_functions(by_hand, Library())(*given), by_hand(*given), strict=True):
        np.testing.assert_array_equal(a, b)
    assert "sqrt" in called or "tanh" in called


@pytest.mark.parametrize("what", WORKLOADS)
def test_kernels_of_the_workloads_have_code_for_a_gpu(what: str) -> None:
    text, names, wrt, _ = WORKLOADS[what]
    kernel = on_gpu.compiled(text, names, wrt, "float32")
    assert len(kernel.outputs) == 1 + len(wrt)
    assert (".entry kernel_aligned(" in kernel.ptx()) == ("sqrt" in text)
