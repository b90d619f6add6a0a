"""Diagnose gradient code known only by its values: find the mistake that reproduces them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from symgrad.api.derivatives.differentiate import grad
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import names_in
from symgrad.apps.gradcheck.claims import claims_of
from symgrad.apps.gradcheck.question import CodeQuestion
from symgrad.apps.gradcheck.samples import DTYPES
from symgrad.ir.graph import Node, Op
from symgrad.ir.size_substitution import resized
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import symbols_of
from symgrad.support.errors import InternalError, SymgradError, UsageError
from symgrad.support.source import Location
from symgrad.verification.diagnosis import Diagnoses, Diagnosis
from symgrad.verification.mistakes.axis_length_numbers import SizedPairs
from symgrad.verification.mistakes.diagnoses import WrongClaim, diagnose
from symgrad.verification.verdict import Verdict

_FIRST = (5, 3, 7, 11, 13, 17)
"""Lengths of axes at which mistakes are searched, in code that needs numbers."""

_SQUARES = (4, 9, 16, 25, 36, 49), (9, 16, 25, 36, 49, 64)
"""Two choices of lengths that tell lengths from numbers in the code; their roots are exact."""


def with_code_mistakes(
    verdict: Verdict, question: CodeQuestion, loss: Expr, name: str, claim: Expr | None = None
) -> Verdict:
    """Return a verdict on code that finds the mistakes lazily.

    Args:
        verdict: the verdict on the gradient by an argument.
        question: the code.
        loss: the differentiated number.
        name: the name of the argument.
        claim: the gradient of the code as a formula, if it can be read.
    """
    lengths = dict(zip(question.fixed, _FIRST, strict=False))
    wrt = question.arguments.inputs[name].node
    inputs = [e.node for e in question.inputs.values()]

    def build(sizes: Mapping[str, int]) -> list[Node]:
        if question.fixed:
            sizes = sizes or lengths
            return _read(question.again(sizes), name, read=claim is not None)
        y, by, *args = resized([loss.node, wrt, *inputs], sizes)
        if claim is not None:
            return [y, by, *resized([claim.node], sizes)]
        return [y, by, _opaque_op(question, name, by.shape)(*args)]

    def locate(node: Node, _in_claim: bool) -> Location | None:
        return next((at for one in loss.listings if (at := one.location(node)) is not None), None)

    def corrected() -> str | None:
        return derivative_text(question, loss, name)

    def find() -> list[Diagnosis]:
        return diagnose(
            WrongClaim(
                build=build,
                y=loss.node,
                claim=None if claim is None else claim.node,
                symbols=symbols_of([loss.node, wrt]),
                locate=locate,
                names={node: text for text, node in names_in(loss).items()},
                witness=None,
                proved=(),
                corrected=corrected,
                sizes=lengths,
            )
        )

    return replace(verdict, diagnoses=Diagnoses(find=find))


def _read(question: CodeQuestion, name: str, *, read: bool) -> list[Node]:
    """Return the loss, the variable of differentiation and the gradient of the code, for other sizes."""
    assert question.loss is not None
    by = question.arguments.inputs[name].node
    if read:
        claims, unread = claims_of(question)
        if unread is not None:
            raise UsageError(unread)
        return [question.loss.node, by, claims[name].node]
    args = [e.node for e in question.inputs.values()]
    return [question.loss.node, by, _opaque_op(question, name, by.shape)(*args)]


def derivative_text(question: CodeQuestion, loss: Expr, name: str) -> str | None:
    """Return the derivative as text, in names of sizes that were numbers for the code.

    It is None if there is no derivative, or a number may be a size.
    """
    try:
        found = grad(loss, question.arguments.inputs[name])
        if not question.fixed:
            return str(found)
        first, second = (dict(zip(question.fixed, squares, strict=False)) for squares in _SQUARES)
        one, other = (grad_at(question.again(sizes), name) for sizes in (first, second))
        pairs = SizedPairs(first, second)
        pairs.add(one.node, other.node)
        named = pairs.named(one.node)
        return None if named is None else str(Expr(named, listings=one.listings).canonical())
    except SymgradError:
        return None


def grad_at(question: CodeQuestion, name: str) -> Expr:
    """Return the derivative by an argument."""
    assert question.loss is not None
    return grad(question.loss, question.arguments.inputs[name])


def _opaque_op(question: CodeQuestion, name: str, shape: Shape) -> Op:
    """Return an op without a name in programs that evaluates the code for one argument."""
    inputs = question.inputs
    elementwise = not any(e.shape for e in inputs.values())

    def once(*values: Any) -> Any:
        given = {n: v[()] if not np.ndim(v) else v for n, v in zip(inputs, values, strict=True)}
        shapes = {n: np.shape(given[n]) for n in question.wrt}
        called = question.backward.at(given, shapes, len(question.arguments.inputs))
        return called.values.get(name, np.full(shapes[name], np.nan))

    def evaluate(*values: Any) -> Any:
        arrays = [np.asarray(v).astype(DTYPES[e.dtype]) for v, e in zip(values, inputs.values(), strict=True)]
        if not elementwise:
            return once(*arrays)
        lanes = np.broadcast_arrays(*arrays)
        found = [
            float(once(*(np.asarray(a) for a in row))) for row in zip(*map(np.ravel, lanes), strict=True)
        ]
        return np.reshape(found, lanes[0].shape)

    return _op(evaluate, len(inputs), shape, elementwise=elementwise)


def _op(evaluate: Callable[..., Any], count: int, shape: Shape, *, elementwise: bool) -> Op:
    def never(*_: Any) -> Any:
        raise InternalError("of gradient code only values are known")

    return Op(
        name="grad_f",
        aliases=(),
        doc="what gradient code gives",
        parameters=(),
        takes=("number",) * count,
        variadic=False,
        gives="real",
        shape=lambda *_: shape,
        cas=None,
        domain=None,
        evaluate=evaluate,
        reference=never,
        partials=(),
        push=None if elementwise else never,
        pull=None if elementwise else never,
        structure=None,
        kinks=(),
        lower=never,
        cost=0,
        latex="",
        precedence=100,
        facts=frozenset(),
        samples=(),
    )
