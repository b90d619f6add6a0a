"""An array that is differentiated: which number's gradient is meant."""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.ops.array.layout import shape_text
from symgrad.reasons.naming import join_texts
from symgrad.stops.checks.asked import LintQuestion, Sighting

__all__ = ["find"]


def find(asked: LintQuestion) -> Iterator[Sighting]:
    """Yield the program itself where it is an array."""
    if not asked.y.shape:
        return
    name, by = asked.text(asked.y), join_texts([asked.text(w) for w in asked.wrt])
    yield Sighting(
        asked.y,
        f"{name} is an array of shape {shape_text(asked.y.shape)}: a gradient of it is that of the sum of its entries",
        f"gradients({name}, {by or 'xs'}) adds the gradients of all entries, as TensorFlow does; JAX and torch refuse",
        cure=f"say which number is meant, such as mean({name}) or sum({name}), or take sg.jacobian",
    )
