"""An array that is differentiated: which number's gradient is meant."""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.analysis.explain.naming import join_texts
from symgrad.analysis.stop_gradient.checks.context import LintQuestion, Sighting
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import as_node
from symgrad.ops.array.layout import shape_text
from symgrad.ops.numpy.calls import total
from symgrad.verification.verdict import Verdict

__all__ = ["find"]


def find(asked: LintQuestion) -> Iterator[Sighting]:
    """Yield the program itself where it is an array."""
    if not asked.y.shape:
        return
    name, by = asked.text(asked.y), join_texts([asked.text(w) for w in asked.wrt])
    verdict = _of_the_sum(asked)
    yield Sighting(
        asked.y,
        f"{name} is an array of shape {shape_text(asked.y.shape)}: a gradient of it is that of the sum of its entries",
        f"gradients({name}, {by or 'xs'}) adds the gradients of all entries, as TensorFlow does; JAX and torch refuse",
        None if verdict is None else total(asked.y),
        f"say which number is meant, such as mean({name}) or sum({name}), or take sg.jacobian",
        verdict,
    )


def _of_the_sum(asked: LintQuestion) -> Verdict | None:
    """Return that the gradient of the array and that of its sum are one graph; None where nothing is asked by."""
    wrt = [w for w in asked.wrt if w.dtype == "real"]
    if not wrt:
        return None
    of_array = pull_back([asked.y], [as_node(1)], wrt).gradients
    of_sum = pull_back([total(asked.y)], [as_node(1)], wrt).gradients
    if any(a is not b for a, b in zip(of_array, of_sum, strict=True)):
        return None
    name = asked.text(asked.y)
    return Verdict(
        "proved",
        f"the gradient of sum({name}) and what gradients of {name} gives are one graph, node for node; the value is a "
        f"number, where {name} is an array",
    )
