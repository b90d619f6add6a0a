"""Interactive graphs whose boxes show values and gradients at a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.analysis.explain.naming import Naming
from symgrad.api.derivatives.differentiate import grad
from symgrad.api.explaining.explain import Derivation, joined_listing
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.inputs import inputs_of, known_symbols, sizes_by_name
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.short_value import short_value
from symgrad.ir.traverse import is_elementwise
from symgrad.ir.values.evaluate import evaluate
from symgrad.ir.values.inputs import bind
from symgrad.ops.array.layout import shape_text
from symgrad.ops.control import as_computed
from symgrad.printing.limits import BOXES, GRADIENT_CHARACTERS
from symgrad.printing.pictures.interactive import Graph
from symgrad.printing.pictures.picture import Highlight
from symgrad.printing.pictures.svg import graph_svg
from symgrad.printing.texts.derivation import derivation_highlight, title_text


def formula_graph(y: Expr, values: Mapping[str, Any]) -> Graph:
    """Return the graph of a formula in the names of its program."""
    listing = joined_listing(y.listings)
    naming = Naming({}) if listing is None else Naming(listing.name_of(), listing.spellings)
    return _graph(y, values, naming, Highlight(), y.name or naming.body(y.node))


def derivation_graph(d: Derivation, y: Expr, values: Mapping[str, Any]) -> Graph:
    """Return the graph of a derivation with the paths of the noise and of the derivative."""
    record = d.record
    return _graph(y, values, record.naming, derivation_highlight(record), title_text(record))


def _graph(y: Expr, values: Mapping[str, Any], naming: Naming, highlight: Highlight, title: str) -> Graph:
    """Return the graph of a formula, with values and gradients at a point.

    Args:
        y: the formula; boxes of an array show only values.
        values: a value for each input, by name; without values, boxes show only equations.
        naming: the names of nodes.
        highlight: the paths to emphasise.
        title: a line above the picture.
    """
    notes_by_text: dict[str, str] = {}

    def noted(nodes: Sequence[Node]) -> list[str]:
        notes = [_equation(n, naming) for n in nodes]
        texts = [naming.text(n, GRADIENT_CHARACTERS) for n in nodes]
        if values or not inputs_of([y]):
            below = _numbers(y, nodes, values)
            notes = ["\n".join([note, *lines]) for note, lines in zip(notes, below, strict=True)]
        notes_by_text.update(zip(texts, notes, strict=True))
        return notes

    names, numbers = naming.names, naming.numbers
    svg = graph_svg(
        [y.node], names, highlight=highlight, title=title, limit=BOXES, noted=noted, numbers=numbers
    )
    return Graph(title, svg, notes_by_text)


def _equation(node: Node, naming: Naming) -> str:
    if not node.args:
        return str(node.declaration) if node.op is SYMBOL else naming.text(node)
    body, shape = naming.body(node, GRADIENT_CHARACTERS), f" : {shape_text(node.shape)}" if node.shape else ""
    return f"{naming.names[node]} = {body}{shape}" if node in naming.names else f"{body}{shape}"


def _numbers(y: Expr, nodes: Sequence[Node], values: Mapping[str, Any]) -> list[list[str]]:
    """Return for each node, as lines, its value and the gradient with respect to it."""
    inputs = inputs_of([y], values)
    known = {s.name for s in known_symbols([y])} - {s.name for s in inputs}
    values = {n: v for n, v in values.items() if n not in known}
    sizes = sizes_by_name([y], inputs, values)
    given = {n: v for n, v in values.items() if n not in sizes}
    bound = bind(inputs, (), given, together=is_elementwise([y.node]), sizes=sizes)
    lines = [[f"value: {short_value(v)}"] for v in evaluate(as_computed(nodes), bound, sizes)]
    if y.shape or y.dtype != "real" or (any(np.ndim(v) for v in bound.values()) and is_elementwise([y.node])):
        return lines
    moving = [i for i, n in enumerate(nodes) if n.dtype == "real"]
    exprs = grad(y, [Expr(nodes[i], listings=y.listings) for i in moving])
    slopes = evaluate(as_computed([e.node for e in exprs]), bound, sizes)
    for i, e, slope in zip(moving, exprs, slopes, strict=True):
        why = "" if e.nothing is None else f" ({e.nothing})"
        lines[i].append(f"gradient: {short_value(slope)}{why}")
    return lines
