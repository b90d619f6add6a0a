"""Bodies of recurrences: pickles."""

from __future__ import annotations

import pickle

import symgrad as sg
from symgrad.ir.graph import Node


def _sum_of_sines(parameters: int) -> Node:
    names = [f"p{k}" for k in range(parameters)]
    terms = " + ".join(f"{name}*sin({k}*h[t-1])" for k, name in enumerate(names, 1))
    return sg.parse(f"{', '.join(names)} : real\nh[0] = 1\nh[t] = {terms} for t in 1..9\ny = h[9]")["y"].node


def test_a_pickle_is_the_same_node() -> None:
    node = _sum_of_sines(3)
    assert pickle.loads(pickle.dumps(node)) is node


def test_a_pickle_grows_with_the_formulas_of_a_step() -> None:
    """The nodes of a body are written once, not once for each of its symbols and results."""
    small, large = (len(pickle.dumps(_sum_of_sines(n))) for n in (20, 80))
    assert large < 5 * small
