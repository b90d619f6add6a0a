"""`equal` and `verify`: decide whether formulas are equal, or a claimed derivative is correct."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from symgrad.api.claims.claim_nodes import claim_nodes, read_claim
from symgrad.api.claims.domains import decide_with_ends, redeclare
from symgrad.api.claims.mistakes import with_mistakes, with_mistakes_of_algebra
from symgrad.api.claims.shape_matching import Built, ShapeMismatch, fit_shapes
from symgrad.api.derivatives.distribution_check import differentiation_targets
from symgrad.api.derivatives.targets import Wrt, differentiable
from symgrad.api.handles.equation_sides import (
    SideLike,
    check_declarations_agree,
    mistaken_constant,
    side_nodes,
    side_sources,
)
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import formula, names_in, parse_closed
from symgrad.api.handles.inputs import number_texts
from symgrad.checker.clock import now
from symgrad.ir.graph import Node
from symgrad.ir.listing import spellings_of
from symgrad.ir.notation.recurrences import has_recurrences
from symgrad.ir.size_substitution import resized
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ops.array.layout import shape_text
from symgrad.ops.user_ops import OwnOp, opaque_in
from symgrad.report.about import About, Subject
from symgrad.support.errors import ShapeError, UnsupportedError, UsageError
from symgrad.support.progress import reports_progress

if TYPE_CHECKING:
    from symgrad.verification.verdict import Verdict

# What is imported in functions here would slow down `import symgrad`: the provers.

_FIRST, _SECOND = "the first side", "the second side"


@reports_progress("verdicts", "deciding whether they are equal")
def equal(
    a: SideLike,
    b: SideLike,
    domain: Mapping[str, str] | str | None = None,
    time_limit: float = 10,
    *,
    values_only: bool = False,
) -> Verdict:
    """Decide whether two formulas are equal wherever both are defined.

    If a side contains `stop_gradient`, this is two questions: whether the values are equal, and whether the gradients
    with respect to every real input that is not random are equal.

    Args:
        a: an Expr, or text; names that neither side declares are real.
        b: an Expr or text as for a, of the same shape.
        domain: domains of names that replace the declared ones, as in programs: ``"positive"``, ``"real(0, 1)"``; or
            ``"complex"``. A text instead of a mapping is the domain of all real variables that are not random. If a
            variable is complex, all values are complex numbers, and functions have their principal branches.
        time_limit: seconds of work on an ordinary machine. The work is counted, so the answer is the same on a slow or
            busy machine. After four times as many seconds the search ends in any case.
        values_only: whether `stop_gradient` counts as its value, so that only values are compared.

    Returns:
        A `Verdict`: read its ``status``. With `stop_gradient` it is ``proved`` if both values and gradients are equal,
        ``refuted`` if either differ. ``of_values`` and ``of_gradients`` have the separate answers; ``differ_by`` has
        the inputs with respect to which the gradients differ.

    Raises:
        UsageError, ShapeError: if the arguments are not two formulas of the same shape.
        RedefinitionError: if both declare a name differently; for text also the other errors of `parse`.

    Example:
        >>> import symgrad as sg
        >>> sg.equal("(x + 1)**2", "x**2 + 2*x + 1").status
        'proved'
        >>> v = sg.equal("sqrt(x**2)", "x")
        >>> v.status, v.witness["x"] < 0
        ('refuted', True)
        >>> sg.equal("sqrt(x**2)", "x", domain={"x": "positive"}).status
        'proved'
        >>> sg.equal("sqrt(x)**2", "x", domain="complex").status
        'proved'
        >>> v = sg.equal("x*y", "stop_gradient(x)*y")
        >>> v.status, v.of_values.status, v.differ_by
        ('refuted', 'proved', ('x',))
    """
    seconds = validate_seconds(time_limit)

    def about() -> Subject:
        from symgrad.api.reports.claim import claimed_equality

        return claimed_equality(a, b)

    return replace(_compared(a, b, domain, seconds, values_only=values_only), about=About(about))


def _compared(
    a: SideLike, b: SideLike, domain: Mapping[str, str] | str | None, seconds: float, *, values_only: bool
) -> Verdict:
    from symgrad.verification.decide import decide
    from symgrad.verification.decide import equal as statement
    from symgrad.verification.diagnosis import Diagnoses, Diagnosis
    from symgrad.verification.gradients.value_and_gradient import decide_both, moved_inputs
    from symgrad.verification.opaque_ops import decide_by_numbers
    from symgrad.verification.recurrences import decide_recurrences

    found = sides_of(a, b)
    if not isinstance(found, tuple):
        return found
    nodes, sizes = found
    (first, second), complexes = redeclare(nodes, domain, sizes)
    inputs = [] if values_only else moved_inputs(first, second)
    opaque = opaque_in([first, second])
    if opaque:
        _only_in_numbers(opaque, complexes, held=bool(inputs))
        return decide_by_numbers(first, second, opaque, seconds, sizes=sizes)
    if complexes is not None and not inputs:
        from symgrad.verification.complex_domain import decide_complex

        return decide_complex(first, second, complexes, seconds)

    def decide_sides(sides: Sequence[Node], limit: float) -> Verdict:
        by = [] if values_only else moved_inputs(sides[0], sides[1])
        if by:
            return decide_both(sides[0], sides[1], by, sizes, complexes, limit)
        if has_recurrences(sides):
            return decide_recurrences(sides[0], sides[1], limit, sizes)
        return decide(statement(sides[0], sides[1], sizes), limit)

    verdict = decide_equality((a, b), (first, second), sizes, decide_sides, seconds)
    hint = mistaken_constant(a, b) if verdict.status == "refuted" else None
    if hint is not None:
        return replace(verdict, diagnoses=Diagnoses([Diagnosis("constant-read-as-variable", hint)]))
    return verdict if sizes else with_mistakes_of_algebra(verdict, (a, b), (first, second))


def sides_of(a: SideLike, b: SideLike) -> tuple[Built, Mapping[str, Size] | None] | Verdict:
    """Return the two sides of a claim and their new sizes as `fit_shapes` does, or an undecided verdict.

    Raises:
        ShapeError: if the sides have no common shape.
    """
    found = fit_shapes(*_equation(a, b))
    if isinstance(found, tuple) or found.status == "undecided":
        return found
    first, second = side_nodes(a, b)
    raise ShapeError(
        f"the two sides have the shapes {shape_text(first.shape)} and {shape_text(second.shape)}",
        expected="one shape",
        cure="compare parts of them",
    )


def decide_equality(
    arguments: Sequence[SideLike],
    sides: Sequence[Node],
    sizes: Mapping[str, Size] | None,
    decide: Callable[[Sequence[Node], float], Verdict],
    seconds: float,
) -> Verdict:
    """Decide whether two sides are equal; return the verdict in the names of their programs.

    Args:
        arguments: the sides as passed by the caller.
        sides: their nodes, in the domains of the claim.
        sizes: their new sizes in terms of the old ones.
        decide: a function that decides a claim with such sides within a number of seconds.
        seconds: the time limit.
    """
    from symgrad.verification.reporting.index_range_hint import with_declared_labels

    end = now() + seconds
    verdict = decide_with_ends(tuple(sides), decide, seconds)
    if sizes:
        return verdict
    verdict = with_declared_labels(verdict, tuple(sides), decide, end - now())
    programs = [e for e in arguments if isinstance(e, Expr)]
    first, second = side_sources(*arguments)[0]
    names = {**spellings_of([*first, *second]), **_named_values(sides, {}, *programs)}
    return _format_verdict(verdict, sides, names)


def _equation(a: SideLike, b: SideLike) -> tuple[Callable[[Mapping[str, Size]], Built], Sequence[Node]]:
    """Return a function that builds the sides with new sizes, and nodes in which all named sizes occur."""
    if isinstance(a, str) and not isinstance(b, str) and parse_closed(a) is None:
        right = formula(b)
        return partial(_with_text, right, a, _FIRST), [right.node, *names_in(right).values()]
    if isinstance(b, str) and not isinstance(a, str) and parse_closed(b) is None:
        left = formula(a)
        return partial(_with_text, left, b, _SECOND), [left.node, *names_in(left).values()]
    sides = side_nodes(a, b)
    return partial(_of_one_shape, sides), sides


def _with_text(side: Expr, text: str, name: str, sizes: Mapping[str, Size]) -> Built:
    known = names_in(side)
    node, *others = resized([side.node, *known.values()], sizes)
    other = read_claim(text, dict(zip(known, others, strict=True)), sizes, name)
    return _of_one_shape((other, node) if name == _FIRST else (node, other), {})


def _of_one_shape(sides: Built, sizes: Mapping[str, Size]) -> Built:
    first, second = resized(sides, sizes)
    if first.shape != second.shape:
        raise ShapeMismatch("the two sides have different shapes", (first.shape, second.shape))
    return first, second


@reports_progress("verdicts", "deciding whether it is the derivative")
def verify(
    y: SideLike,
    wrt: Wrt,
    claim: SideLike,
    domain: Mapping[str, str] | str | None = None,
    time_limit: float = 10,
) -> Verdict:
    r"""Decide whether a claimed derivative is right.

    The result of `stop_gradient` counts as a frozen copy; in the claim, write its value without `stop_gradient`.

    Args:
        y: the function to differentiate; or the text of a bare expression.
        wrt: a name of its program or an Expr, an input or an intermediate value.
        claim: the claimed derivative: an Expr, or text in the names of the program. It has the shape of ``wrt``; if y
            is an array, it is the Jacobian, of shape ``y.shape + wrt.shape``.
        domain: as for `equal`. If a variable is complex, the derivative is the complex derivative of a holomorphic
            function, away from branch cuts.
        time_limit: seconds of work, as for `equal`.

    Returns:
        A `Verdict`: read its ``status``. A claim whose shapes disagree for some sizes is refuted without a witness.

    Raises:
        UsageError, NotInProgramError, NotDifferentiableError: if there is nothing to decide; for text also the errors
            of `parse`.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("x : real\ny = sqrt(x**2)")
        >>> sg.verify(p["y"], p["x"], "x/abs(x)").status
        'proved'
        >>> print(sg.verify(p["y"], "x", "1"))  # doctest: +ELLIPSIS
        refuted: the two sides differ
          at x = -...
          proved where x > 0
          refuted where x < 0
        >>> print(sg.verify("log(z)", "z", "1/z", domain="complex"))
        proved: ...
          not claimed where z is on a branch cut of log
    """
    seconds = validate_seconds(time_limit)
    value = differentiable(y)
    (target,) = differentiation_targets(value, [wrt])

    def about() -> Subject:
        from symgrad.api.reports.claim import claimed_derivative

        return claimed_derivative(value, target, _text_or_expr(claim))

    return replace(_decide_claim(value, target, claim, domain, seconds), about=About(about))


def _decide_claim(
    value: Expr, target: Expr, claim: SideLike, domain: Mapping[str, str] | str | None, seconds: float
) -> Verdict:
    from symgrad.verification.decide import decide, derivative_is
    from symgrad.verification.opaque_ops import decide_by_numbers
    from symgrad.verification.recurrences import decide_recurrences
    from symgrad.verification.reporting.index_range_hint import with_declared_labels

    parts = [*names_in(target).values(), *names_in(value).values(), target.node, value.node]
    declared = parse_closed(claim) if isinstance(claim, str) else formula(claim)
    if declared is not None:
        if isinstance(claim, str):
            check_declarations_agree(value, declared)
        claim = declared
        parts.append(declared.node)
    found = fit_shapes(partial(claim_nodes, value, target, claim), parts)
    if not isinstance(found, tuple):
        return with_mistakes(found, value, target, _text_or_expr(claim), domain)
    nodes, sizes = found
    (of, by, to), complexes = redeclare(nodes, domain, sizes)
    if by.dtype != "real":
        raise UsageError(
            f"'{target}' takes no real values: there is no derivative with respect to it",
            cure="leave it real",
        )
    opaque = opaque_in([of, to])
    if opaque:
        _only_in_numbers(opaque, complexes, held=False)
        return decide_by_numbers(of, to, opaque, seconds, wrt=by, sizes=sizes)
    if complexes is not None:
        from symgrad.verification.complex_domain import decide_complex

        return decide_complex(of, to, complexes, seconds, wrt=by)

    def decide_sides(parts: Sequence[Node], limit: float) -> Verdict:
        if has_recurrences(parts):
            return decide_recurrences(parts[0], parts[1], limit, sizes, by)
        return decide(derivative_is(parts[0], by, parts[1], sizes), limit)

    end = now() + seconds
    verdict = decide_with_ends((of, to), decide_sides, seconds, by)
    if not sizes:
        verdict = with_declared_labels(verdict, (of, to), decide_sides, end - now())
        names = _named_values((of, to), {target.node: by}, target, value)
        verdict = _format_verdict(verdict, (of, to), names)
    return with_mistakes(verdict, value, target, _text_or_expr(claim), domain)


def _text_or_expr(claim: SideLike) -> Expr | str:
    return claim if isinstance(claim, str) else formula(claim)


def _named_values(sides: Sequence[Node], table: Mapping[Node, Node], *exprs: Expr) -> dict[Node, str]:
    """Return the values of a claim that its programs name, and the spellings of numbers.

    Args:
        sides: the claim, perhaps with new domains.
        table: substitutions in the claim.
        exprs: the expressions of the claim.
    """
    found = {name: node for e in reversed(exprs) for name, node in names_in(e).items()}
    own = {s.name: s for s in symbols_of(sides)}
    redeclared = {s: own[s.name] for s in symbols_of(found.values()) if s.name in own}
    nodes = substitute(substitute(list(found.values()), table), redeclared)
    named = {node: name for name, node in reversed([*zip(found, nodes, strict=True)]) if node.args}
    return {**number_texts(exprs), **named}


def _format_verdict(verdict: Verdict, sides: Sequence[Node], names: Mapping[Node, str]) -> Verdict:
    """Return a verdict, and its parts, with excluded points in the names of the program."""
    from symgrad.verification.reporting.side_conditions import describe_conditions

    regions = tuple(
        replace(
            r, excluded=tuple(c for c in describe_conditions(r.excluded, sides, names) if not r.rules_out(c))
        )
        for r in verdict.regions
    )
    told = verdict.left_out
    if told is None and verdict.excluded:
        told = describe_conditions(verdict.excluded, sides, names)
    values, whole = (
        None if part is None else _format_verdict(part, sides, names)
        for part in (verdict.of_values, verdict.of_all_orders)
    )
    return replace(
        verdict,
        regions=regions,
        left_out=told,
        of_values=values,
        of_gradients={name: _format_verdict(v, sides, names) for name, v in verdict.of_gradients.items()},
        of_higher={by: _format_verdict(v, sides, names) for by, v in verdict.of_higher.items()},
        of_all_orders=whole,
    )


def _only_in_numbers(opaque: Sequence[OwnOp], complexes: Sequence[str] | None, *, held: bool) -> None:
    """Raise an error for complex claims and claims with stop_gradient about ops without a definition."""
    if complexes is not None:
        why, expected = "and these are real", "real numbers"
    elif held:
        why, expected = "so gradients inside stop_gradient are not compared", "values_only=True"
    else:
        return
    raise UnsupportedError(
        f"'{opaque[0].op.name}' is known by values alone, {why}",
        expected=expected,
        cure="register it with a definition",
    )


def validate_seconds(limit: float) -> float:
    """Return a time limit.

    Raises:
        UsageError: if it is not a positive number.
    """
    if not isinstance(limit, (int, float)) or not 0 < limit < math.inf:  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        raise UsageError(f"time_limit is {limit!r}", expected="a positive number of seconds")
    return float(limit)
