"""Diagnose products of gradients that do not follow the chain rule.

``gradients(y, h)`` times ``gradients(h, x)`` looks like the chain rule. But the second factor is already summed over
the entries of h before it is multiplied by dy/dh. In most cases the shapes do not fit; if they do, the value is wrong.
The same mistake is made with gradients of components that are joined along an axis of x instead of a new axis.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from symgrad.analysis.explain.factors import ComponentGradient, Joined, factors_of, join_of, longest_chain
from symgrad.autodiff.trace import BackwardTrace
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.sizes import Shape, evaluate_size, names_of, size_product
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.layout import shape_text
from symgrad.support.errors import SymgradError
from symgrad.support.texts import join_texts

_LETTERS = "ijklmnpqrstuvwxyz"
_WIDTH = 100
_POINTS = 3


@dataclass(frozen=True, slots=True, repr=False)
class ByParts:
    """The diagnosis of an expression that is made from gradients.

    Attributes:
        chain: gradients such that each is taken with respect to the value that the next differentiates: dy/dh, then
            dh/dx.
        joined: the joined gradients of components, or None.
        upstream: the gradient with respect to the array of the components, or None.
        result: the expression; None if the shapes did not fit.
        names: the names of the values.
        defined: the values that got new names.
    """

    chain: tuple[ComponentGradient, ...]
    joined: Joined | None
    upstream: ComponentGradient | None
    result: Node | None
    names: Mapping[Node, str]
    defined: tuple[Node, ...]

    @property
    def summed(self) -> tuple[ComponentGradient, ...]:
        """The factors that are gradients of a sum of entries, of a value that the chain rule needs entry by entry."""
        return tuple(p for p in self.chain[1:] if size_product(p.of.shape) != 1)

    @property
    def headline(self) -> str:
        """The diagnosis in a line."""
        if self.joined is not None and not self.chain:
            return f"gradients by {self.names[self.joined.parts[0].by]} joined along axis {self.joined.axis}"
        product = " times ".join(self.call(p) for p in self.chain)
        return f"{product} is {'not ' if self.summed else ''}the chain rule"

    def call(self, part: ComponentGradient) -> str:
        """Return the call of a gradient in TensorFlow's style."""
        return f"gradients({self.names[part.of]}, {self.names[part.by]})"

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sums and the joins, and the formula that was meant."""
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
        """Tell whether the result equals the gradient along the chain at some points; None if it cannot be computed."""
        assert self.result is not None
        right = self.chain[0].gradient
        for part in self.chain[1:]:
            (right,) = pull_back([part.of], [right], [part.by]).gradients
        return _agree(self.result, right)

    @property
    def elsewhere(self) -> bool:
        """Whether paths that are not in the chain also lead from the last value to the first."""
        first, last = self._ends
        middle = [p.by for p in self.chain[:-1]] if self.chain else [self.joined and self.joined.whole]
        stops = [n for n in topological([first]) if "stops" in n.op.facts]
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
        """Lines of Python, each of which computes the gradient that was meant."""
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
            whole, middle = self.total_gradient, [self.names[n] for n in list(self.names)[1:-1]]
            title = "What was meant" if whole is None else f"Right, each equal to {whole}"
            if whole is not None and self.elsewhere:
                title = f"Right, each equal to the part of {whole} that passes {join_texts(middle)}"
            lines += ["", title, "", *(f"  {line}" for line in self.code)]
        return "\n".join(lines)

    @property
    def total_gradient(self) -> str | None:
        """The call that gives the whole gradient at once."""
        return _call(self.names, *self._ends) if self.chain or self.upstream is not None else None

    def __repr__(self) -> str:
        return f"<ByParts: {self.headline}>"


def by_parts(
    operands: Sequence[Node], traces: Sequence[BackwardTrace], result: Node | None, names: Mapping[Node, str]
) -> ByParts | None:
    """Find how gradients make up an expression; or how they make up the operands, if the shapes do not fit.

    Args:
        operands: the operands, or only the expression.
        traces: the backward passes of the gradients in the expression.
        result: the expression; None if there is none.
        names: the names of nodes.

    Returns:
        The diagnosis; None if this is neither a product of gradients in a chain nor a join of components.
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
    """Return names for values, and those values whose names are new: y, h, ..."""
    taken = {s.name for s in symbols_of(values)} | set(names.values())
    found: dict[Node, str] = {}
    defined: list[Node] = []
    for i, node in enumerate(values):
        if node.op is SYMBOL or node in names:
            found[node] = node.name if node.op is SYMBOL else names[node]
            continue
        stem = "y" if i == 0 else "x" if i == len(values) - 1 else "h"
        candidates = (f"{stem}{k}" if k > 1 else stem for k in count(1))
        found[node] = next(name for name in candidates if name not in taken)
        taken.add(found[node])
        defined.append(node)
    return found, tuple(defined)


def _agree(a: Node, b: Node) -> bool | None:
    """Tell whether two arrays are equal at some points; None if a point may be outside the domain."""
    symbols = symbols_of([a, b])
    names = names_of(*(s.shape for s in symbols))
    sizes = {name: 2 + i for i, name in enumerate(names)}
    rng = np.random.default_rng(0)
    if any(s.dtype != "real" for s in symbols):
        return None
    for _ in range(_POINTS):
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
    of = "components"
    if joined.whole is not None:
        of = f"entries of {d.names[joined.whole]} : {shape_text(joined.whole.shape)}"
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
    literals = [str(size) if isinstance(size, int) else repr(str(size)) for size in shape]
    return f"({', '.join(literals)}{',' if len(shape) == 1 else ''})"


def _right_ways(names: Mapping[Node, str], y: Node, rest: Sequence[tuple[Node, Node]]) -> list[str]:
    """Return lines that apply the chain rule: from y to the first value, then along pairs (of, by)."""
    first = _call(names, y, rest[0][0])
    contracted = pulled = first
    for of, by in rest:
        rows, columns = _indices(of, by)
        jacobian = f"sg.jacobian({names[of]}, {names[by]})"
        if rows:
            contracted = f'sg.einsum("{rows},{rows}{columns}->{columns}", {contracted}, {jacobian})'
        else:
            contracted = f"{contracted}*{jacobian}"
        pulled = f"sg.vjp({names[of]}, {names[by]}, cotangent={pulled})"
    lines = [contracted, pulled]
    of, by = rest[0]
    if len(rest) == 1 and of.shape and all(isinstance(s, int) for s in of.shape):
        places = f"range({of.shape[0]})" if len(of.shape) == 1 else f"np.ndindex{_sizes(of.shape)}"
        lines.append(f"sum({first}[i]*sg.grad({names[of]}[i], {names[by]}) for i in {places})")
    return lines
