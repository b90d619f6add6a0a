"""Write steps of a program, and polynomials in the generators of a proof, as formulas for people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from symgrad.checker.program.steps import ProofProgram
from symgrad.frontend.text import parse_expression
from symgrad.ir.graph import OPS, Node, apply, as_node, constant, truth
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import topological
from symgrad.ops.scalar.logic import NEGATION
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import SymgradError
from symgrad.support.traversal import postorder
from symgrad.verification.limits import CONDITION_LENGTH, CONDITION_PARTS

_LOG, _SIZE = re.compile(r"log\|([^|]+)\|"), re.compile(r"\|([^|]+)\|")


class Wording:
    """Write steps of a program as formulas of its inputs.

    Args:
        program: the program; all of its steps are scalars.
        inputs: the variables of the program.
    """

    def __init__(self, program: ProofProgram, inputs: Sequence[Node]) -> None:
        self._program = program
        self._inputs: Mapping[str, Node] = {s.name: s for s in inputs}
        self._nodes: dict[int, Node | None] = {}

    def step(self, at: int) -> str | None:
        """Return the formula of a step; None if the formula is long."""
        return _text(self._node(at))

    def comparison(self, at: int, *, way: bool) -> str | None:
        """Return a comparison, or its negation if it does not hold; None if the formula is long."""
        step = self._program.steps[at]
        sides = [_text(self._node(a), canonically=False) for a in step.args]
        if None in sides or step.op not in NEGATION:
            return None
        nodes = [self._node(a) for a in step.args]
        op = OPS[step.op if way else NEGATION[step.op]]
        return expression_text(apply(op, tuple(n for n in nodes if n is not None)))

    def formula(self, text: str) -> str:
        """Return a polynomial in the generators of a proof as a formula; its text unchanged if this does not parse."""
        plain = _SIZE.sub(r"abs(\1)", _LOG.sub(r"log(abs(\1))", text))
        try:
            return _text(parse_expression(plain, self._inputs)) or text
        except SymgradError:
            return text

    def _node(self, at: int) -> Node | None:
        """Return the node of a step; None if symgrad has no op of that name."""
        for i in postorder([at], lambda i: self._program.steps[i].args, until=self._nodes):
            args = [self._nodes[a] for a in self._program.steps[i].args]
            self._nodes[i] = self._apply(i, [a for a in args if a is not None]) if None not in args else None
        return self._nodes[at]

    def _apply(self, at: int, args: Sequence[Node]) -> Node | None:
        step = self._program.steps[at]
        match step.op:
            case "symbol":
                return self._inputs.get(step.params[0])
            case "number":
                value = step.params[0]
                return truth(value) if isinstance(value, bool) else as_node(value)
            case "constant":
                return constant(step.params[0])
            case _:
                try:
                    return apply(OPS[step.op], tuple(args), step.params)
                except (KeyError, SymgradError):
                    return None


def _text(node: Node | None, *, canonically: bool = True) -> str | None:
    if node is None or len(topological([node])) > CONDITION_PARTS:
        return None
    text = expression_text(canonical([node], drop_stops=True).nodes[0] if canonically else node)
    return text if len(text) <= CONDITION_LENGTH else None
