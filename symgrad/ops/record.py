"""Constructors of op records: they fill in the fields that all pointwise or all array ops share.

By default an elementwise op is the real function with its name in C, NumPy or SciPy, mpmath, SymPy and LaTeX. Fields
that no other library can tell, such as a domain or a kink, have no default, because a silent default would be a silent
bug.

`unary`, `binary` and `ternary` have the fields of `pointwise` with the types for one, two and three arguments, so that
the type checker infers the types of lambdas in records.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, Unpack

import numpy as np

from symgrad.ir.graph import OPS, Node, Op, Partial, Pull, Push, pointwise_shape
from symgrad.ir.notation.arrays import write_call
from symgrad.ir.notation.literals import ATOM, Part
from symgrad.ir.op import Builder, Entries, Fact, Kink, Lane, Loop, Scan, Structure, Total
from symgrad.ir.sizes import Shape
from symgrad.ir.types import Kind
from symgrad.ops.numpy_builder import ARRAYS
from symgrad.support.errors import InternalError


def facts(*names: Fact) -> frozenset[Fact]:
    """Return a set of facts; the type checker checks their names."""
    return frozenset(names)


def libm(name: str) -> Callable[..., Lane]:
    """Return a lowering to one call of a C99 function."""

    def lower(builder: Builder, _node: Node, *lanes: Lane) -> Lane:
        return builder.call(name, *lanes)

    return lower


def _lowering(code: Callable[..., Lane]) -> Callable[..., Lane]:
    """Return a lowering by a formula that does not need the node."""

    def lower(builder: Builder, _node: Node, *lanes: Lane) -> Lane:
        return code(builder, *lanes)

    return lower


def by_scipy(name: str, part: int | None = None) -> Callable[..., Any]:
    """Return an evaluation by one call of a function of scipy.special, or by one part of its result."""

    def evaluate(*args: Any) -> Any:
        from scipy import special  # for start-up time

        value = getattr(special, name)(*args)
        return value if part is None else value[part]

    return evaluate


def _reference(name: str) -> Callable[..., Any]:
    """Return the reference by mpmath's function with this name."""

    def reference(mp: Any, *args: Any) -> Any:
        return getattr(mp, name)(*args)

    return reference


def function_latex(latex: str, count: int) -> str:
    """Return the template of a call from the LaTeX of its function."""
    return (
        latex.replace("{", "{{").replace("}", "}}")
        + r"\left("
        + ", ".join(f"{{{i}}}" for i in range(count))
        + r"\right)"
    )


def without_rounding(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """Return the reference of an op that does not round: its evaluation in NumPy, which is exact."""

    def reference(_mp: Any, *args: Any) -> Any:
        return evaluate(*args)

    return reference


def poles(*points: int) -> tuple[Kink, ...]:
    """Return the kinks of a function of one argument at its poles."""
    return tuple(Kink(f"x = {p}", (p,), (None,), "a pole") for p in points)


def vertical_tangents(*points: int) -> tuple[Kink, ...]:
    """Return the kinks of a function of one argument at its vertical tangents."""
    return tuple(Kink(f"x = {p}", (p,), (None,), "a vertical tangent: no finite slope") for p in points)


FUNCTION_COST, DIVISION_COST = 20, 5
"""The cost of a function such as exp, and of a division or root, in simple operations."""

Takes: TypeAlias = "tuple[Literal['number', 'bool', 'index'], ...]"

_ONE_NUMBER: Takes = ("number",)


class _Shared(TypedDict):
    doc: str
    kinks: tuple[Kink, ...]
    samples: tuple[tuple[Any, ...], ...]
    gives: NotRequired[Kind | Literal["same"]]
    cas: NotRequired[str | None]
    latex: NotRequired[str]
    facts: NotRequired[frozenset[Fact]]
    aliases: NotRequired[tuple[str, ...]]
    takes: NotRequired[Takes]
    precedence: NotRequired[int]
    cost: NotRequired[int]


class _Unary(_Shared):
    domain: Callable[[Node], Node] | None
    evaluate: NotRequired[Callable[[Any], Any]]
    reference: NotRequired[Callable[[Any, Any], Any]]
    partials: tuple[Callable[[Node, Node], Node] | None]
    lower: NotRequired[Callable[[Builder, Node, Lane], Lane]]
    code: NotRequired[Callable[[Builder, Lane], Lane]]


class _Binary(_Shared):
    domain: Callable[[Node, Node], Node] | None
    evaluate: NotRequired[Callable[[Any, Any], Any]]
    reference: NotRequired[Callable[[Any, Any, Any], Any]]
    partials: tuple[Callable[[Node, Node, Node], Node] | None, Callable[[Node, Node, Node], Node] | None]
    lower: NotRequired[Callable[[Builder, Node, Lane, Lane], Lane]]
    code: NotRequired[Callable[[Builder, Lane, Lane], Lane]]


class _Ternary(_Shared):
    domain: Callable[[Node, Node, Node], Node] | None
    evaluate: NotRequired[Callable[[Any, Any, Any], Any]]
    reference: NotRequired[Callable[[Any, Any, Any, Any], Any]]
    partials: tuple[
        Callable[[Node, Node, Node, Node], Node] | None,
        Callable[[Node, Node, Node, Node], Node] | None,
        Callable[[Node, Node, Node, Node], Node] | None,
    ]
    lower: NotRequired[Callable[[Builder, Node, Lane, Lane, Lane], Lane]]


def unary(name: str, **fields: Unpack[_Unary]) -> Op:
    """Register an elementwise op of one argument."""
    return pointwise(name, **fields)


def binary(name: str, **fields: Unpack[_Binary]) -> Op:
    """Register an elementwise op of two arguments."""
    return pointwise(name, **fields)


def ternary(name: str, **fields: Unpack[_Ternary]) -> Op:
    """Register an elementwise op of three arguments."""
    return pointwise(name, **fields)


def pointwise(
    name: str,
    *,
    doc: str,
    domain: Callable[..., Node] | None,
    partials: tuple[Partial, ...],
    kinks: tuple[Kink, ...],
    samples: tuple[tuple[Any, ...], ...],
    gives: Kind | Literal["same"] = "real",
    cas: str | None = "",
    evaluate: Callable[..., Any] | None = None,
    reference: Callable[..., Any] | None = None,
    lower: Callable[..., Lane] | None = None,
    code: Callable[..., Lane] | None = None,
    latex: str | None = None,
    facts: frozenset[Fact] = frozenset(),
    aliases: tuple[str, ...] = (),
    takes: Takes | None = None,
    parameters: tuple[str, ...] = (),
    precedence: int = ATOM,
    cost: int | None = None,
) -> Op:
    """Register an op that acts elementwise with broadcasting; by default all its arguments are numbers.

    A formula ``code(builder, *lanes)`` replaces both ``evaluate`` and ``lower``, which compute the same. An empty
    ``cas`` stands for the op's own name. The default cost is that of a function if the result is real, and that of a
    simple operation otherwise.
    """
    if cost is None:
        cost = FUNCTION_COST if gives == "real" else 1
    if code is not None:
        evaluate, lower = partial(code, ARRAYS), _lowering(code)
    if latex is None:
        latex = function_latex(rf"\operatorname{{{name}}}", len(partials))
    return OPS.register(
        Op(
            name=name,
            aliases=aliases,
            doc=doc,
            parameters=parameters,
            takes=takes if takes is not None else ("number",) * len(partials),
            variadic=False,
            gives=gives,
            shape=pointwise_shape,
            cas=name if cas == "" else cas,
            domain=domain,
            evaluate=evaluate or getattr(np, name, None) or by_scipy(name),
            reference=reference or _reference(name),
            partials=partials,
            push=None,
            pull=None,
            structure=None,
            kinks=kinks,
            lower=lower or libm(name),
            cost=cost,
            latex=latex,
            precedence=precedence,
            facts=facts,
            samples=samples,
        )
    )


class _Array(TypedDict):
    doc: str
    gives: Kind | Literal["same"]
    batch: Callable[[Node, Sequence[Node | None], Shape], Node]
    rows: Callable[[Node, Sequence[int | None]], int | None]
    entries: Entries
    total: Total
    native: Callable[[Node, tuple[Node, ...]], Node] | Scan | Loop | None
    source: Callable[[Node], str | Mapping[str, str]] | None
    latex: NotRequired[str | Callable[[Node], str]]
    written: NotRequired[Callable[[Node, Container[Node]], tuple[list[Part], int]]]
    cost: NotRequired[int]
    takes: NotRequired[Takes]
    facts: NotRequired[frozenset[Fact]]
    kinks: NotRequired[tuple[Kink, ...]]
    variadic: NotRequired[bool]
    aliases: NotRequired[tuple[str, ...]]
    precedence: NotRequired[int]


class _Structural(_Array):
    parameters: tuple[str, ...]
    shape: Callable[..., Shape]
    evaluate: Callable[..., Any]
    reference: Callable[..., Any]


def structural(
    name: str,
    *,
    push: Callable[[Node, int, Node], Node],
    pull: Callable[[Node, int, Node], Node],
    **fields: Unpack[_Structural],
) -> Op:
    """Register an op that is not elementwise, with a derivative for each argument.

    Args:
        name: its name.
        push: ``push(node, i, tangent)``: the tangent of the node if only argument i has a tangent.
        pull: ``pull(node, i, cotangent)``: the cotangent of argument i for a cotangent of the node.
        fields: the other fields of the record; by default the op takes one array of numbers, is written as a call,
            costs as much as a function, and has no facts.
    """

    def push_all(node: Node, tangents: Sequence[Node | None]) -> Node:
        moved = [push(node, i, t) for i, t in enumerate(tangents) if t is not None]
        return sum(moved[1:], moved[0])

    def pull_all(node: Node, cotangent: Node, wanted: Sequence[bool]) -> Sequence[Node | None]:
        return [pull(node, i, cotangent) if w else None for i, w in enumerate(wanted)]

    return joint(name, push=push_all, pull=pull_all, **fields)


def joint(name: str, *, push: Push, pull: Pull, **fields: Unpack[_Structural]) -> Op:
    """Register an op that is not elementwise, with one derivative for all its arguments.

    Tests of such ops draw shapes, so the op has no sample points.
    """

    def lower(_builder: Builder, node: Node, *_lanes: Lane) -> Lane:
        raise InternalError(
            f"'{node.op.name}' is not computed lane by lane: its record says how kernels compute it"
        )

    structure: Structure[Node] = Structure(
        batch=fields["batch"],
        rows=fields["rows"],
        entries=fields["entries"],
        total=fields["total"],
        native=fields["native"],
        written=fields.get("written", write_call),
        source=fields["source"],
    )
    return OPS.register(
        Op(
            name=name,
            aliases=fields.get("aliases", ()),
            doc=fields["doc"],
            parameters=fields["parameters"],
            takes=fields.get("takes", _ONE_NUMBER),
            variadic=fields.get("variadic", False),
            gives=fields["gives"],
            shape=fields["shape"],
            cas=None,
            domain=None,
            evaluate=fields["evaluate"],
            reference=fields["reference"],
            partials=(),
            push=push,
            pull=pull,
            structure=structure,
            kinks=fields.get("kinks", ()),
            lower=lower,
            cost=fields.get("cost", FUNCTION_COST),
            latex=fields.get("latex", function_latex(rf"\operatorname{{{name}}}", 1)),
            precedence=fields.get("precedence", ATOM),
            facts=fields.get("facts", facts()),
            samples=(),
        )
    )


class _OfOneArray(_Array):
    parameters: tuple[str]
    shape: Callable[[tuple[Shape, ...], Any], Shape]
    evaluate: Callable[[Any, Any], Any]
    reference: Callable[[Any, Any, Any], Any]
    push: Callable[[Node, int, Node], Node]
    pull: Callable[[Node, int, Node], Node]


def of_one_array(name: str, **fields: Unpack[_OfOneArray]) -> Op:
    """Register an op that is not elementwise, with one array and one static parameter."""
    return structural(name, **fields)
