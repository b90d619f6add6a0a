"""Programs as text: in program notation, and in operations of a framework; and programs with fixed noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

from symgrad.api.handles.expr import Expr
from symgrad.api.handles.named_derivatives import readable
from symgrad.api.handles.output import listed_names, source_forms
from symgrad.interop.exporters.callee import Callee
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.notation.printer import program_text
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ops.array.layout import full
from symgrad.ops.random.laws import mean as mean_of
from symgrad.printing.frameworks.pasted import framework_source
from symgrad.support.errors import DomainError, MissingInputError, UsageError


def text_of(exprs: Sequence[Expr], inputs: Sequence[Node]) -> tuple[str, list[str]]:
    r"""Return a program that computes expressions, and their names in it.

    Args:
        exprs: the expressions.
        inputs: the first declarations, in order.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("x : positive; h = sin(x); y = h*(h + 1)")
        >>> text, names = text_of([p["y"], p["h"] + 1], [p["x"].node])
        >>> print(text, names, sep="\n")
        x : positive
        h = sin(x)
        y_ = h + 1
        y = h*y_
        ['y', 'y_']
    """
    known = listed_names(exprs)
    nodes = [e.node for e in exprs]
    taken = {s.name for s in symbols_of([*inputs, *nodes])} | {str(size) for s in inputs for size in s.shape}
    names: dict[Node, str] = {}
    texts: list[str] = []
    for node in nodes:
        if node in known and node not in names and known[node] not in taken:
            names[node] = known[node]
        elif node not in names or node.op is SYMBOL:
            names[node] = free_name("y", {*taken, *known.values()})
        taken.add(names[node])
        texts.append(names[node])
    rest = {n: t for n, t in known.items() if n not in names and t not in taken}
    outputs = dict(zip(texts, nodes, strict=True))
    return program_text(outputs, rest, declared=inputs), texts


def source_of(program: Callee, framework: str, name: str, *, single: bool, gradient: int = 0) -> str:
    """Return a program as a function in the operations of a framework; named values of the program are lines.

    Args:
        program: the program.
        framework: ``jax``, ``torch`` or ``tensorflow``.
        name: the name of the function.
        single: whether it returns its only output instead of a tuple.
        gradient: the number of orders with derivatives by symgrad.

    Raises:
        UnsupportedError: if the framework does not have an operation.
    """
    nodes = [readable(e) for e in program.outputs]
    symbols = [e.node for e in program.inputs]
    forms, names = source_forms(program.outputs)
    return source_text(nodes, symbols, framework, name, names, single=single, gradient=gradient, forms=forms)


def source_text(
    nodes: Sequence[Node],
    symbols: Sequence[Node],
    framework: str,
    name: str,
    names: Mapping[Node, str],
    *,
    single: bool,
    gradient: int,
    forms: Sequence[Node] | None = None,
) -> str:
    """Return nodes, in equal forms, as a function in operations of a framework; only real nodes have a gradient."""
    real = all(n.dtype == "real" for n in nodes)
    return framework_source(
        nodes[0] if single else list(nodes),
        framework,
        name,
        names,
        inputs=symbols,
        gradient=gradient if real else 0,
        forms=forms,
    )


def execute_source(source: str, name: str, inputs: Sequence[str]) -> Callable[..., Any]:
    """Return the function that a source text defines; its arguments are the inputs in order.

    Raises:
        MissingInputError: if the function needs a size that no input has.
    """
    space: dict[str, Any] = {}
    exec(compile(source, f"<{name}, written by symgrad>", "exec"), space)  # the text is symgrad's own
    function = space[name]
    sizes = list(signature(function).parameters)[len(inputs) :]
    if sizes:
        raise MissingInputError(
            f"no input has the size {sizes[0]} in its shape",
            expected="inputs that give every size",
            cure=f"list one that has it, such as like : real[{sizes[0]}], among the inputs",
        )
    return function


def fix_noise_at_means(outputs: Sequence[Node], noise: Sequence[Node]) -> tuple[Node, ...]:
    """Return outputs in which random inputs are replaced by their means.

    Raises:
        UsageError: if the outputs have no value there, such as at a position that is not an integer.
    """
    table: dict[Node, Node] = {}
    for s in noise:
        mean = mean_of(s)
        assert mean is not None, s
        table[s] = full(mean, s.shape)
    try:
        return tuple(substitute(list(outputs), table))
    except DomainError as error:
        raise UsageError(
            f"the noise cannot be fixed at its mean: {error.what}",
            expected="noise that takes its mean as a value",
            cure="list it among the inputs, and pass what it is to be",
        ) from None
