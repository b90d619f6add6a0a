"""Differentiate stable forms of expressions again: it is easier to keep digits than to recover them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symgrad.autodiff.jvp import Pushforward
from symgrad.autodiff.vjp import pull_back
from symgrad.compiler.forms.output import Output
from symgrad.ir.graph import SYMBOL, Node, as_node
from symgrad.ir.listing import Derivative
from symgrad.ir.traverse import topological
from symgrad.ops.scalar.logic import where


def rederivable(outputs: Sequence[Output]) -> bool:
    """Tell whether `rederived` may change derivatives: whether the differentiated expressions may have stable forms."""
    from symgrad.rewrite.choice.samples import (
        searchable,  # for start-up time: values as written need no rules
    )

    return any(searchable([y]) is None for y in dict.fromkeys(n for o in outputs for n in _differentiated(o)))


def _differentiated(output: Output) -> Iterator[Node]:
    for trace in output.traces:
        yield from (y for y, _ in trace.outputs)
    if output.slope is not None:
        yield output.slope.y


def rederived(outputs: Sequence[Output]) -> list[Node]:
    """Return derivatives of stable forms.

    A derivative is replaced only if differentiating the original expression again gives the same node: then nothing was
    held constant.

    Args:
        outputs: the derivatives; a derivative without a record of its differentiation stays as it is.
    """
    anew = _Anew()
    return [next(anew.of(o), o.node) for o in outputs]


class _Anew:
    """Differentiates formulas and their stable forms, and shares work between them."""

    def __init__(self) -> None:
        self._forms: dict[Node, Node] = {}
        self._pushes: dict[Node, Pushforward] = {}

    def of(self, output: Output) -> Iterator[Node]:
        """Yield derivatives of the stable form that are equal to this output; the first is as good as any."""
        for trace in output.traces:
            if len(trace.outputs) == 1 and output.node in trace.gradients:
                ((y, seed),) = trace.outputs
                x = trace.wrt[trace.gradients.index(output.node)]
                form = self._form(y)
                if form is not y and x.op is SYMBOL and _pulled(y, seed, x) is output.node:
                    yield _pulled(form, seed, x)
                break
        slope = output.slope
        if slope is None or not all(x.op is SYMBOL and not x.shape for x in slope.by):
            return
        form = self._form(slope.y)
        if form is slope.y:
            return
        for pulled in (False, True):  # all_partials begins with either mode
            if self._pushed(slope, pulled=pulled) is output.node:
                yield self._pushed(Derivative(form, slope.by), pulled=pulled)

    def _form(self, y: Node) -> Node:
        from symgrad.rewrite.pipeline import stable  # for start-up time: values as written need no rules

        if y not in self._forms:
            form = stable([y]).nodes[0]
            # A choice that only the stable form makes may set the value at a single point; its slope is wrong there.
            self._forms[y] = form if form is y or _choices(form) <= _choices(y) else y
        return self._forms[y]

    def _pushed(self, slope: Derivative, *, pulled: bool) -> Node:
        node, by = slope.y, slope.by
        if pulled and by:
            node, by = _pulled(node, as_node(1), by[0]), by[1:]
        for x in by:
            push = self._pushes.get(x)
            if push is None:
                push = self._pushes[x] = Pushforward({x: as_node(1)})
            node = push([node])[0]
        return node


def _choices(y: Node) -> set[Node]:
    return {n.args[0] for n in topological([y]) if n.op is where}


def _pulled(y: Node, seed: Node, x: Node) -> Node:
    return pull_back([y], [seed], [x]).gradients[0]
