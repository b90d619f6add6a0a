"""Check for the gradient of an array: it is the gradient of the sum of its entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symgrad.analysis.stop_gradient.checks.context import LintQuery, Sighting
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import as_node
from symgrad.ops.array.layout import shape_text
from symgrad.ops.numpy.calls import total
from symgrad.support.texts import join_texts
from symgrad.verification.verdict import Verdict


def find(query: LintQuery) -> Iterator[Sighting]:
    """Yield the program if it is an array."""
    if not query.y.shape:
        return
    name, by = query.text(query.y), join_texts([query.text(w) for w in query.wrt])
    verdict = _of_the_sum(query)
    yield Sighting(
        query.y,
        f"{name} is an array of shape {shape_text(query.y.shape)}: a gradient of it is that of the sum of its entries",
        f"gradients({name}, {by or 'xs'}) adds the gradients of all entries{_elsewhere(query.frameworks)}",
        None if verdict is None else total(query.y),
        f"say which number is meant, such as mean({name}) or sum({name}), or take sg.jacobian",
        verdict,
    )


def _elsewhere(frameworks: Sequence[str]) -> str:
    """Return as text what the frameworks do."""
    adds = [f for f in frameworks if f == "TensorFlow"]
    refuse = [f for f in frameworks if f not in adds]
    verb = "refuses" if len(refuse) == 1 else "refuse"
    return ", as TensorFlow does" * len(adds) + (f"; {join_texts(refuse)} {verb}" if refuse else "")


def _of_the_sum(query: LintQuery) -> Verdict | None:
    """Return the proof that the gradients of the array and of its sum are one graph; None if wrt has no real value."""
    wrt = [w for w in query.wrt if w.dtype == "real"]
    if not wrt:
        return None
    of_array = pull_back([query.y], [as_node(1)], wrt).gradients
    of_sum = pull_back([total(query.y)], [as_node(1)], wrt).gradients
    if any(a is not b for a, b in zip(of_array, of_sum, strict=True)):
        return None
    name = query.text(query.y)
    return Verdict(
        "proved",
        f"the gradient of sum({name}) and what gradients of {name} gives are one graph, node for node; the value is a "
        f"number, where {name} is an array",
    )
