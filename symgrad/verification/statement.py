"""Convert graphs to the steps that the checker reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from symgrad.checker.program.distributions import ProofDistribution
from symgrad.checker.program.steps import ProofProgram, ProofStep, StepBody, Symbol
from symgrad.ir.body import Body
from symgrad.ir.graph import CONSTANT, NUMBER, OPS, SIZE, SYMBOL, Node, symbol
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.size_substitution import size_with
from symgrad.ir.sizes import Extent, Size, size_sum
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import End
from symgrad.ops.user_ops import without_definitions
from symgrad.rewrite.facts.distribution_params import conditions_on
from symgrad.verification.softmax_masks import without_infinities


def guards(outputs: Sequence[Node]) -> list[Node]:
    """Return nodes that have values exactly at those points that the random inputs of outputs can take.

    This is needed if parameters are formulas, so that the support depends on the point, or if entries must differ
    pairwise.
    """
    conditions = [c for s in symbols_of(outputs) if s.op is SYMBOL for c in conditions_on(s)]
    return [_guard(c.op.name, *c.args) for c in conditions]


def _guard(sign: str, a: Node, b: Node) -> Node:
    gap = b - a if sign in ("lt", "le") else a - b
    return OPS["log" if sign in ("lt", "gt") else "sqrt"](gap)


def program_of(
    outputs: Sequence[Node], inputs: Sequence[Node] = (), sizes: Mapping[str, Size] | None = None
) -> tuple[ProofProgram, list[int]]:
    """Convert graphs to a program; return it and the positions of the outputs.

    Args:
        outputs: nodes.
        inputs: symbols that are declared even if no output reads them.
        sizes: replacements of named sizes.
    """

    def length(size: Size) -> int | str:
        found = size_with(size, sizes) if sizes else size
        return found if isinstance(found, int) else str(found)

    return _converted(outputs, inputs, length)


def _converted(
    outputs: Sequence[Node], inputs: Sequence[Node], length: Callable[[Size], int | str]
) -> tuple[ProofProgram, list[int]]:
    outputs = without_infinities(without_definitions(outputs))
    steps: list[ProofStep] = []
    at: dict[Node, int] = {}
    for node in topological(outputs):
        at[node] = len(steps)
        shape = tuple(length(s) for s in node.shape)
        args = tuple(at[a] for a in node.args)
        if node.op is SYMBOL:
            params: tuple[Any, ...] = (node.name,)
        elif node.op is NUMBER:
            value = node.value
            params = (value if isinstance(value, bool) else Fraction(value),)
        elif node.op is CONSTANT:
            params = (str(node.params[0]),)
        elif node.op is SIZE:
            params = (str(length(node.params[0])),)
        elif is_recurrence(node):
            steps_taken, reverse, body = node.params
            params = (length(steps_taken), reverse, _step_body(body, length))
        else:
            params = tuple(_static(p, length) for p in node.params)
        steps.append(ProofStep(node.op.name, args, params, shape, node.dtype))
    symbols = dict.fromkeys([*symbols_of(outputs), *inputs])
    return ProofProgram(tuple(steps), tuple(symbol_of(s, length) for s in symbols)), [at[o] for o in outputs]


def _step_body(body: Body, length: Callable[[Size], int | str]) -> StepBody:
    """Convert the formulas of a step; their variables get names that a program can declare."""
    roles = {"before": body.carries, "row": body.rows, "same": body.operands}
    inputs = {
        bound: symbol(replace(bound.declaration, name=f"{role}{k}"))
        for role, several in roles.items()
        for k, bound in enumerate(several)
    }
    own = list(inputs.values())
    program, results = _converted(substitute(body.results, inputs), own, length)
    order = {s.name: k for k, s in enumerate(own)}
    # The checker does not trust that a row holds positions: for it, all that a step reads is real.
    symbols = (replace(s, kind="real") for s in sorted(program.symbols, key=lambda s: order[s.name]))
    steps = (replace(s, kind="real") if s.op == "symbol" else s for s in program.steps)
    inner = ProofProgram(tuple(steps), tuple(symbols))
    return StepBody(inner, len(body.carries), len(body.rows), tuple(results))


def _length(size: Size) -> int | str:
    return size if isinstance(size, int) else str(size)


def symbol_of(node: Node, length: Callable[[Size], int | str] = _length) -> Symbol:
    """Return the range of a variable; for a random one, the support of its distribution."""
    declared = node.declaration
    # For random inputs with formulas as parameters, or with dependent entries, the checker knows only the interval.
    distribution = declared.distribution
    if distribution is not None and (distribution.formulas or not distribution.family.independent):
        distribution = None
    domain = declared.values
    low, least = _end(domain.low, -1 if domain.closed and domain.kind == "int" else 0, length)
    high, most = _end(domain.high, 1 if domain.closed and domain.kind == "int" else 0, length)
    return Symbol(
        node.name,
        node.dtype,
        low,
        high,
        tuple(length(s) for s in node.shape),
        declared.symmetric,
        None
        if distribution is None
        else ProofDistribution(distribution.name, tuple(map(Fraction, distribution.parameters))),
        (least, most),
    )


def _end(
    end: End | None, beyond: int, length: Callable[[Size], int | str]
) -> tuple[Fraction | None, str | None]:
    """Return an end as an excluded end, a number or a length: the integers 0 and 1 lie between -1 and 2."""
    if isinstance(end, str | Extent):
        found = length(size_sum([end, beyond]))
        return (Fraction(found), None) if isinstance(found, int) else (None, found)
    return (None if end is None else Fraction(end) + beyond), None


def _static(value: Any, length: Callable[[Size], int | str]) -> Any:
    """Convert lengths in a static parameter to text; numbers stay."""
    if isinstance(value, tuple):
        return tuple(_static(v, length) for v in cast("tuple[Any, ...]", value))
    return length(value) if isinstance(value, str | Extent) else value
