"""Gradients taken by parts: what a product of gradients leaves out, told from the traces of its factors.

``gradients(y, h)`` times ``gradients(h, x)`` looks like the chain rule. It is not: the second factor is summed over the
entries of h already, before any of them met its own dy/dh. The shapes say so, and mostly refuse; where they happen to
fit, the value is another one. The same goes for gradients of components that were joined along an axis of x instead of
one of their own.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from symgrad.analysis.explain.factors import ComponentGradient, Joined, factors_of, join_of, longest_chain
from symgrad.analysis.explain.naming import join_texts
from symgrad.autodiff.trace import BackwardTrace
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.sizes import Shape, Size, evaluate_size, names_of, size_product
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.layout import shape_text
from symgrad.support.errors import SymgradError

__all__ = ["ByParts", "by_parts"]

_LETTERS = "ijklmnpqrstuvwxyz"
_WIDTH = 100
_POINTS = 3


@dataclass(frozen=True, slots=True, repr=False)
class ByParts:
    """What became of a gradient that was put together from parts.

    Attributes:
        chain: gradients of which each is by what the next one is of: y by h, h by x.
        joined: gradients of components that were joined, or None.
        upstream: the gradient by what the joined ones are components of, or None.
        result: the expression, or None if the shapes did not fit.
        names: what the values are called.
        defined: the values among them that the program has no name for.
    """

    chain: tuple[ComponentGradient, ...]
    joined: Joined | None
    upstream: ComponentGradient | None
    result: Node | None
    names: Mapping[Node, str]
    defined: tuple[Node, ...]

    @property
    def summed(self) -> tuple[ComponentGradient, ...]:
        """The factors that were summed over the entries of a value that is differentiated in turn."""
        return tuple(p for p in self.chain[1:] if size_product(p.of.shape) != 1)

    @property
    def headline(self) -> str:
        """The diagnosis in a line."""
        if self.joined is not None and not self.chain:
            return f"gradients by {self.names[self.joined.parts[0].by]} joined along axis {self.joined.axis}"
        product = " times ".join(self.call(p) for p in self.chain)
        return f"{product} is {'not ' if self.summed else ''}the chain rule"

    def call(self, part: ComponentGradient) -> str:
        """Return how a gradient is asked for in TensorFlow's way."""
        return f"gradients({self.names[part.of]}, {self.names[part.by]})"

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was summed or joined, and what was meant."""
        found: list[str] = []
        for i, part in enumerate(self.chain):
            if part in self.summed:
                found += _summed(self, self.chain[i - 1], part)
        if self.summed:
            found.append(self._result())
        elif self.chain:
            found.append(
                "Every value in between is a number, so that nothing is summed: the product is right."
            )
        if self.joined is not None:
            found += _joined(self, self.joined)
        return tuple(found)

    def _result(self) -> str:
        by = self.chain[-1].by
        wanted = f"the gradient by {self.names[by]} has shape {shape_text(by.shape)}"
        if self.result is None:
            return f"The shapes do not fit each other; {wanted}."
        if self.result.shape != by.shape:
            return f"The result has shape {shape_text(self.result.shape)}; {wanted}."
        fits = f"The shapes happen to fit: the result has shape {shape_text(by.shape)}, like the gradient"
        match self._agrees():
            case True:
                return f"{fits}. At the points that were tried it agrees with the gradient; that is no rule."
            case False:
                return f"{fits}, and another value."
            case None:
                return f"{fits}, which does not make its value right."

    def _agrees(self) -> bool | None:
        """Tell whether the result is the gradient along the chain at some points; None where that cannot be tried."""
        assert self.result is not None
        right = self.chain[0].gradient
        for part in self.chain[1:]:
            (right,) = pull_back([part.of], [right], [part.by]).gradients
        return _agree(self.result, right)

    @property
    def elsewhere(self) -> bool:
        """Whether the last value reaches the first one by other ways than along the chain."""
        first, last = self._ends
        middle = (
            {p.by for p in self.chain[:-1]} if self.chain else {self.joined.whole if self.joined else None}
        )
        stops = {n for n in topological([first]) if "stops" in n.op.facts}
        return last in topological([first], until={n for n in (*middle, *stops) if n is not None})

    @property
    def _ends(self) -> tuple[Node, Node]:
        if self.chain:
            return self.chain[0].of, self.chain[-1].by
        assert self.upstream is not None
        assert self.joined is not None
        return self.upstream.of, self.joined.parts[0].by

    @property
    def code(self) -> tuple[str, ...]:
        """Lines of Python, each of which gives what was meant."""
        if self.chain:
            pairs = [(p.of, p.by) for p in self.chain[1:]]
            return tuple(_right_ways(self.names, self.chain[0].of, pairs)) if self.summed else ()
        if self.joined is None or self.joined.whole is None:
            return ()
        whole, by = self.joined.whole, self.joined.parts[0].by
        if self.upstream is not None:
            return tuple(_right_ways(self.names, self.upstream.of, [(whole, by)]))
        jacobian = f"sg.jacobian({self.names[whole]}, {self.names[by]})"
        return (
            jacobian,
            f"sg.arrays.reshape({jacobian}, {_sizes((size_product(whole.shape), size_product(by.shape)))})",
        )

    def __str__(self) -> str:
        lines = [self.headline, ""]
        for node in self.defined:
            others = {n: name for n, name in self.names.items() if n is not node}
            lines.append(f"  {self.names[node]} = {expression_text(node, others)}")
        lines += [f"  {name} : {shape_text(n.shape)}" for n, name in self.names.items()]
        parts = [*self.chain, *([self.upstream] if self.upstream is not None else [])]
        lines += [f"  {self.call(p)} : {shape_text(p.gradient.shape)}" for p in parts]
        lines += ["", *(line for text in self.sentences for line in textwrap.wrap(text, _WIDTH))]
        if self.code:
            whole, middle = self.whole_gradient, [self.names[n] for n in list(self.names)[1:-1]]
            title = "What was meant" if whole is None else f"Right, each equal to {whole}"
            if whole is not None and self.elsewhere:
                title = f"Right, each equal to the part of {whole} that passes {join_texts(middle)}"
            lines += ["", title, "", *(f"  {line}" for line in self.code)]
        return "\n".join(lines)

    @property
    def whole_gradient(self) -> str | None:
        """The call that gives the whole gradient at once."""
        return _call(self.names, *self._ends) if self.chain or self.upstream is not None else None

    def __repr__(self) -> str:
        return f"<ByParts: {self.headline}>"


def by_parts(
    operands: Sequence[Node], traces: Sequence[BackwardTrace], result: Node | None, names: Mapping[Node, str]
) -> ByParts | None:
    """Find how an expression, or the operands of one that cannot be built, is made of gradients.

    Args:
        operands: the operands, or the expression alone.
        traces: the backward passes that made the gradients in it.
        result: the expression, None if there is none.
        names: the nodes that have a name.

    Returns:
        The diagnosis, or None if it is not put together from gradients of each other, or of components.
    """
    made: dict[Node, list[ComponentGradient]] = {}
    for trace in traces:
        if len(trace.outputs) == 1 and trace.outputs[0][1].is_number(1):
            for by, gradient in zip(trace.wrt, trace.gradients, strict=True):
                if not gradient.is_number():
                    made.setdefault(gradient, []).append(ComponentGradient(gradient, trace.outputs[0][0], by))
    order = topological(operands, until=made)
    chain = longest_chain(factors_of(operands, order, made))
    joins = [found for n in order if n not in made and (found := join_of(n, made)) is not None]
    joined = joins[-1] if joins else None
    if not chain and joined is None:
        return None
    upstream: ComponentGradient | None = None
    if joined is not None and not chain:
        upstream = next((p for n in order for p in made.get(n, ()) if p.by is joined.whole), None)
    values = [p.of for p in chain] + ([chain[-1].by] if chain else [])
    if joined is not None:
        values += [n for n in (upstream and upstream.of, joined.whole, joined.parts[0].by) if n is not None]
    named, defined = _named(list(dict.fromkeys(values)), names)
    return ByParts(chain, joined, upstream, result, named, defined)


def _named(values: Sequence[Node], names: Mapping[Node, str]) -> tuple[dict[Node, str], tuple[Node, ...]]:
    """Return names for values, and those that had none: they are called y, h, ... and defined."""
    taken = {s.name for s in symbols_of(values)} | set(names.values())
    found: dict[Node, str] = {}
    defined: list[Node] = []
    for i, node in enumerate(values):
        if node.op is SYMBOL or node in names:
            found[node] = node.name if node.op is SYMBOL else names[node]
            continue
        stem = "y" if i == 0 else "x" if i == len(values) - 1 else "h"
        name, number = stem, 1
        while name in taken:
            number += 1
            name = f"{stem}{number}"
        taken.add(name)
        found[node] = name
        defined.append(node)
    return found, tuple(defined)


def _agree(a: Node, b: Node) -> bool | None:
    """Tell whether two arrays are equal at some points; None if a point is not known to lie in the domain."""
    symbols = symbols_of([a, b])
    names = names_of(*(s.shape for s in symbols))
    sizes = {name: 2 + i for i, name in enumerate(names)}
    rng = np.random.default_rng(0)
    for _ in range(_POINTS):
        if any(s.dtype != "real" for s in symbols):
            return None
        values = {s: rng.uniform(0.3, 0.9, tuple(evaluate_size(n, sizes) for n in s.shape)) for s in symbols}
        try:
            one, other = evaluate([a, b], values)
        except SymgradError:
            return None
        if not (np.all(np.isfinite(one)) and np.all(np.isfinite(other))):
            return None
        if not np.allclose(one, other, rtol=1e-9, atol=1e-12):
            return False
    return True


# --------------------------------------------------------------------------------------------------------------- texts


def _indices(of: Node, by: Node) -> tuple[str, str]:
    rows = _LETTERS[: len(of.shape)]
    return rows, _LETTERS[len(rows) : len(rows) + len(by.shape)]


def _d(name: str, letters: str) -> str:
    return f"d{name}_{letters}" if letters else f"d{name}"


def _summed(d: ByParts, before: ComponentGradient, part: ComponentGradient) -> list[str]:
    top = d.names[before.of] if not before.of.shape else f"sum({d.names[before.of]})"
    h, x = d.names[part.of], d.names[part.by]
    rows, columns = _indices(part.of, part.by)
    over = ", ".join(rows)
    entry = f"entry ({', '.join(columns)}{',' if len(columns) == 1 else ''})" if columns else "it"
    count = size_product(part.of.shape)
    return [
        f"{d.call(part)} sums over the {count} {'entry' if count == 1 else 'entries'} of {h}: {entry} is the sum over "
        f"{over} of {_d(h, rows)}/{_d(x, columns)}.",
        f"The chain rule needs the sum over {over} of ({_d(top, '')}/{_d(h, rows)})*({_d(h, rows)}/{_d(x, columns)}): "
        "the sum was taken before the product.",
    ]


def _joined(d: ByParts, joined: Joined) -> list[str]:
    by = joined.parts[0].by
    x, count = d.names[by], len(joined.parts)
    of = (
        "components"
        if joined.whole is None
        else f"entries of {d.names[joined.whole]} : {shape_text(joined.whole.shape)}"
    )
    found = [
        f"{count} gradients of {of} by {x}, each of shape {shape_text(by.shape)}, were joined along axis {joined.axis} "
        f"of {x}: shape {shape_text(joined.shape)}.",
        f"That makes a longer {x}; the {count} components need an axis of their own.",
    ]
    if joined.whole is not None:
        jacobian = (*joined.whole.shape, *by.shape)
        found.append(
            f"The Jacobian has the axes of {d.names[joined.whole]}, then those of {x}: {shape_text(jacobian)}, or "
            f"{size_product(joined.whole.shape)} rows of {size_product(by.shape)}."
        )
    return found


def _call(names: Mapping[Node, str], of: Node, by: Node) -> str:
    return f"sg.gradients({names[of]}, {names[by]})[0]" if of.shape else f"sg.grad({names[of]}, {names[by]})"


def _sizes(shape: Shape) -> str:
    return f"({', '.join(map(_literal, shape))}{',' if len(shape) == 1 else ''})"


def _literal(size: Size) -> str:
    return str(size) if isinstance(size, int) else repr(str(size))


def _right_ways(names: Mapping[Node, str], y: Node, rest: Sequence[tuple[Node, Node]]) -> list[str]:
    """Return the lines that apply the chain rule: from y to the first value, then along pairs (of, by)."""
    first = _call(names, y, rest[0][0])
    contracted = pulled = first
    for of, by in rest:
        rows, columns = _indices(of, by)
        jacobian = f"sg.jacobian({names[of]}, {names[by]})"
        contracted = (
            f'sg.einsum("{rows},{rows}{columns}->{columns}", {contracted}, {jacobian})'
            if rows
            else (f"{contracted}*{jacobian}")
        )
        pulled = f"sg.vjp({names[of]}, {names[by]}, cotangent={pulled})"
    lines = [contracted, pulled]
    of, by = rest[0]
    if len(rest) == 1 and of.shape and all(isinstance(s, int) for s in of.shape):
        places = f"range({of.shape[0]})" if len(of.shape) == 1 else f"np.ndindex{_sizes(of.shape)}"
        lines.append(f"sum({first}[i]*sg.grad({names[of]}[i], {names[by]}) for i in {places})")
    return lines
