"""Expr: what users hold. A node of the graph, with what is known about where it came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

import numpy as np

import symgrad.ops  # noqa: F401  (registers the records that the operators look up)
from symgrad.api.convert import expressions_in, foreign, left_to_its_class, node_of
from symgrad.api.equations import Equation, equations_of
from symgrad.api.forms import Forms
from symgrad.api.inputs import (
    array_program,
    inputs_of,
    known_symbols,
    listings_of,
    sizes_by_name,
    unbound_sizes,
    union,
)
from symgrad.backward.trace import Slope, Trace
from symgrad.errors import (
    NotInProgramError,
    ShapeError,
    TruthValueError,
    UnsupportedError,
)
from symgrad.ir.evaluate import evaluate
from symgrad.ir.graph import SYMBOL, Node, number
from symgrad.ir.inputs import bind
from symgrad.ir.listing import Listing, one_of, suggest
from symgrad.ir.op import OPS
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.written import form_of
from symgrad.ops.control import as_computed
from symgrad.ops.layout import full
from symgrad.ops.layout import text as shape_text

__all__ = ["Expr", "ExprLike", "Operand", "Operands", "apply_op", "as_expr", "built", "handle", "node_of"]

ExprLike: TypeAlias = "Expr | int | float | Fraction | Decimal | np.number[Any] | np.bool_"
"""A formula: what operators and verbs take. Numbers are exact (a float stands for the decimal it prints). They are
among them because Python's sum of expressions may be its 0."""

Operand: TypeAlias = "ExprLike | list[Any] | tuple[Any, ...]"
"""What functions take: what operators do, and arrays that are spelled by lists."""

Operands: TypeAlias = "Sequence[Operand]"
"""Several of them: what verbs take that give a list for a list."""

_handles: WeakValueDictionary[Node, Expr] = WeakValueDictionary()


class Expr(Forms):
    """A formula: an immutable handle on one node of the graph.

    Build one with `symgrad.symbols`, `symgrad.tensor`, `symgrad.parse`, `symgrad.from_sympy`, and with operators,
    subscripts, NumPy functions and the functions of `symgrad`. Nothing is evaluated: what you write is what it
    holds, operation by operation.

    ``==``, ``<`` and the like give elementwise conditions, whose Python truth value is an error; compare
    structure with `same`.

    Example:
        >>> import symgrad as sg
        >>> x, u = sg.symbols("x u")
        >>> z = sg.sqrt(x**2*u)
        >>> print(z)
        sqrt(x**2*u)
        >>> float(z(x=-3.0, u=4.0))
        6.0
    """

    __slots__ = (
        "__weakref__",
        "_listings",
        "_node",
        "_nothing",
        "_of_entries",
        "_origins",
        "_slope",
        "_sources",
        "_traces",
    )
    __array_priority__ = 1000

    def __init__(
        self,
        node: Node,
        *,
        listings: tuple[Listing, ...] = (),
        traces: tuple[Trace, ...] = (),
        nothing: str | None = None,
        origins: tuple[Node, ...] = (),
        sources: tuple[Node, ...] = (),
        slope: Slope | None = None,
        of_entries: bool = False,
    ) -> None:
        self._node = node
        self._listings = listings
        self._traces = traces
        self._nothing = nothing
        self._origins = origins
        self._sources = sources
        self._slope = slope
        self._of_entries = of_entries

    # -- what it is ------------------------------------------------------------------------------------------

    @property
    def node(self) -> Node:
        """The node of the graph (internal: see ``symgrad.ir.graph``)."""
        return self._node

    @property
    def dtype(self) -> str:
        """The kind of value: ``real``, ``int`` or ``bool``."""
        return self._node.dtype

    @property
    def name(self) -> str | None:
        """The name, for a symbol or a named intermediate value of a program; None for anything else."""
        if self._node.op is SYMBOL:
            return self._node.name
        return next((n[self._node] for n in self._names() if self._node in n), None)

    @property
    def inputs(self) -> tuple[Expr, ...]:
        """The symbols it needs: in the order of the program's declarations, else of first appearance.

        It reads them, or needs a named size that their shapes alone give.
        """
        return tuple(self._with(s) for s in inputs_of([self]))

    @property
    def nothing(self) -> str | None:
        """For a derivative that is nothing, which kind: zero, disconnected, stopped or no tangent; else None."""
        return self._nothing

    @property
    def derived(self) -> bool:
        """Whether it is a derivative that symgrad made, whose arrangement is symgrad's own."""
        return bool(self._origins)

    @property
    def origins(self) -> tuple[Node, ...]:
        """What it is a derivative of (internal)."""
        return self._origins

    @property
    def sources(self) -> tuple[Node, ...]:
        """What else it comes from: where it reads no entry of these, their shapes still give its sizes (internal)."""
        return (*self._origins, *self._sources)

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The programs it comes from (internal)."""
        return self._listings

    @property
    def slope(self) -> Slope | None:
        """Of a derivative of one scalar, what it is the derivative of, and by what (internal)."""
        return self._slope

    @property
    def of_entries(self) -> bool:
        """Whether it is a derivative by entries of an input (internal)."""
        return self._of_entries

    @property
    def traces(self) -> tuple[Trace, ...]:
        """The records of the backward passes that made it (internal)."""
        return self._traces

    @property
    def equations(self) -> tuple[Equation, ...]:
        """The equations it consists of, arguments first, shared ones once."""
        return equations_of([self])

    def same(self, other: ExprLike) -> bool:
        """Tell whether two expressions are structurally the same graph.

        Example:
            >>> import symgrad as sg
            >>> x, y = sg.symbols("x y")
            >>> (x + y).same(x + y), (x + y).same(y + x)
            (True, False)
        """
        return self._node is node_of(other)

    # -- values ----------------------------------------------------------------------------------------------

    def __call__(self, /, *args: Any, **values: Any) -> Any:
        """Evaluate without compiling, in NumPy float64.

        Args:
            args: values in the order of `inputs`, if not by name.
            values: a number or array for every input, by name. In an elementwise formula they broadcast; in an
                array program they have the declared shapes. Inputs of the program that the result does not need
                may be given too. A size that no input has in its shape is given by name, as a whole number.

        Returns:
            A NumPy scalar or array; NaN where an operation leaves the reals.

        Raises:
            MissingInputError: if an input has no value or a name is not an input.
            ArrayTypeError, ComplexInputError, ShapeError: for values that are not real arrays of the
                declared shapes.
            IndexRangeError: for a position outside its axis.
            NumberTooLargeError: if a constant does not fit a float.
        """
        inputs = inputs_of([self], values)
        needed = {s.name for s in inputs}
        if not values.keys() <= needed:
            # A gradient may have lost an input that its program has; giving it a value is no mistake.
            known = {s.name for s in known_symbols([self])}
            values = {name: value for name, value in values.items() if name in needed or name not in known}
        sizes = sizes_by_name(self, inputs, values)
        values = {name: value for name, value in values.items() if name not in sizes}
        together = not array_program([self._node])
        return evaluate(as_computed([self._node]), bind(inputs, args, values, together=together), sizes)[0]

    def __float__(self) -> float:
        self._single("float")
        return float(evaluate([self._node], {})[0])

    def __int__(self) -> int:
        self._single("int")
        return int(self._node.value if self._node.is_number() else evaluate([self._node], {})[0])

    def _single(self, kind: str) -> None:
        """Check that it is an expression without inputs."""
        if symbols_of([self._node]):
            raise TruthValueError(
                f"{kind}() of '{_short(self)}', which has no single value",
                expected="an expression without inputs",
                cure="call it with values, e(x=2.0); for a formula take symgrad's functions: sg.sin, not math.sin",
            )

    def subs(self, replacements: Mapping[Any, ExprLike] | None = None, /, **by_name: ExprLike) -> Expr:
        """Replace inputs, or intermediate expressions, by other expressions or exact numbers, all at once.

        Args:
            replacements: from Expr (or name) to its replacement.
            by_name: the same for names that are Python identifiers.

        Raises:
            NotInProgramError: if a name is not an input.
            ShapeError: if a replacement has a shape that does not fit; a number stands for all entries.

        Example:
            >>> import symgrad as sg
            >>> x, y = sg.symbols("x y")
            >>> print((x + y).subs(x=y**2, y=3))
            y**2 + 3
        """
        inputs = {s.name: s for s in symbols_of([self._node])}
        table: dict[Node, Node] = {}
        pairs: list[tuple[Any, ExprLike]] = [*(replacements or {}).items(), *by_name.items()]
        for key, value in pairs:
            if isinstance(key, str):
                if key not in inputs:
                    raise NotInProgramError(
                        f"'{key}' is not an input of the expression",
                        expected=one_of(inputs),
                        cure=suggest(key, inputs),
                    )
                target = inputs[key]
            else:
                target = node_of(key)
            replacement = node_of(value)
            table[target] = full(replacement, target.shape) if replacement.is_number() else replacement
        try:
            replaced = self._with(substitute([self._node], table)[0])
        except ShapeError as error:
            shapes = ", ".join(
                f"{handle(t)} of shape {shape_text(t.shape)} by one of shape {shape_text(r.shape)}"
                for t, r in table.items()
                if t.shape != r.shape
            )
            raise ShapeError(f"{error.what} (replacing {shapes})", expected=error.expected) from None
        if not unbound_sizes([replaced._node], symbols_of([replaced._node])):
            return replaced
        sources = (*replaced.sources, self._node)
        return Expr(replaced._node, listings=self._listings, traces=replaced._traces, sources=sources)

    # -- as a Python object ---------------------------------------------------------------------------------

    def __hash__(self) -> int:
        return hash(self._node)

    def __bool__(self) -> bool:
        node = self._node
        if node.op.name in ("eq", "ne") and node.args[0] is node.args[1]:
            # One formula, so that `in`, lists and dictionaries find an expression by another handle on it.
            return node.op.name == "eq"
        cure = "use sg.where(condition, a, b) to choose, a.same(b) to compare structure, e(x=...) for a value"
        if node.op.name in ("lt", "le", "gt", "ge"):
            cure = (
                "use sg.where(c, a, b), sg.minimum(a, b) or sg.maximum(a, b) to choose, & between comparisons"
            )
        raise TruthValueError(
            f"the truth value of '{_short(self)}' is not known: it is an expression", cure=cure
        )

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise UnsupportedError(
            "an expression is not an array",
            cure="call it with values, e(x=...); sg.stack([x, y]) is an array of expressions",
        )

    # -- plumbing --------------------------------------------------------------------------------------------

    def _apply(self, name: str, *args: Any) -> Expr:
        return apply_op(name, *args)

    def _lift(self, value: Any) -> Expr:
        return as_expr(value)

    def _foreign(self, value: Any) -> bool:
        return foreign(value)

    def _leaves(self, value: Any) -> bool:
        return left_to_its_class(value)

    def _minus(self, value: Any) -> Expr:
        # x - 2 is x + (-2): the sign of a number literal belongs to the number, as it does in the text notation.
        # x - 0 is x + (-0.0), which keeps the sign of a zero x, so the sign of zero stays an operation.
        if isinstance(value, Expr):
            return -value
        node = node_of(value)
        return -handle(node) if not node.is_number() or node.value == 0 else handle(number(-node.value))

    def __reduce__(self) -> tuple[object, ...]:
        return (
            _rebuild,
            (
                self._node,
                self._listings,
                self._nothing,
                self._origins,
                self._sources,
                self._slope,
                self._of_entries,
            ),
        )

    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Expr:
        return self

    def _in_form(self, node: Node, *, derived: bool) -> Expr:
        if not derived:
            return Expr(node, listings=self._listings, nothing=self._nothing, sources=self.sources)
        return Expr(
            node,
            listings=self._listings,
            traces=self._traces,
            nothing=self._nothing,
            origins=self._origins,
            sources=self._sources,
        )

    def _with(self, node: Node) -> Expr:
        """Return another node of the same origin."""
        if not self._listings and not self.sources:
            return handle(node)
        return Expr(node, listings=self._listings, traces=self._traces, sources=self.sources)

    def _names(self) -> list[dict[Node, str]]:
        return [listing.name_of() for listing in self._listings]


def _rebuild(
    node: Node,
    listings: tuple[Listing, ...],
    nothing: str | None,
    origins: tuple[Node, ...],
    sources: tuple[Node, ...],
    slope: Slope | None,
    of_entries: bool = False,
) -> Expr:
    return Expr(
        node,
        listings=listings,
        nothing=nothing,
        origins=origins,
        sources=sources,
        slope=slope,
        of_entries=of_entries,
    )


def _short(expr: Expr) -> str:
    text = str(expr)
    return text if len(text) <= 60 else text[:57] + "..."


def handle(node: Node) -> Expr:
    """Return the Expr of a node that has no origin: one node, one handle, as long as somebody holds it."""
    expr = _handles.get(node)
    if expr is None:
        expr = _handles.setdefault(node, Expr(node))
    return expr


def as_expr(value: Any) -> Expr:
    """Return an Expr as it is, a number as an exact constant, a list as the array that it spells."""
    return value if isinstance(value, Expr) else built(lambda: node_of(value), [value])


def apply_op(name: str, *args: Any, params: tuple[Any, ...] = ()) -> Expr:
    """Return an op, or a function that is written in ops, of expressions and numbers, with their origins joined."""
    nodes = tuple(node_of(a) for a in args)
    how = form_of(name, len(nodes))
    return built(lambda: OPS[name](*nodes, params=params) if how is None else how.build(*nodes), args)


def built(build: Callable[[], Node], args: Iterable[Any]) -> Expr:
    """Return what was built of expressions (and other values) as an Expr, with their origins joined.

    Raises:
        ShapeError: if the shapes do not fit, with the names of the operands.
    """
    exprs: list[Expr] = list(expressions_in(args))
    try:
        node = build()
    except ShapeError as error:
        raise _diagnosed(_with_names(error, exprs), exprs) from None
    listings = listings_of(exprs)
    traces = tuple({id(t): t for e in exprs for t in e.traces}.values())
    sources = union(e.sources for e in exprs)
    if not listings and not traces and not sources:
        return handle(node)
    return Expr(node, listings=listings, traces=traces, sources=sources)


def _diagnosed(error: ShapeError, operands: Sequence[Expr]) -> ShapeError:
    """Return an error about gradients that do not fit with what is wrong with their product."""
    traces = [t for e in operands for t in e.traces]
    if not traces:
        return error
    from symgrad.explain.parts import by_parts  # only needed for a message

    names = {
        n: name for e in reversed(operands) for listing in e.listings for n, name in listing.name_of().items()
    }
    found = by_parts([e.node for e in operands], traces, None, names)
    if found is None:
        return error
    cure = found.code[1] if len(found.code) > 1 else error.cure
    return type(error)(f"{error.what}\n\n{found}\n", at=error.at, expected=error.expected, cure=cure)


def _with_names(error: ShapeError, operands: Sequence[Expr]) -> ShapeError:
    named = [f"{e.name} has shape {shape_text(e.node.shape)}" for e in operands if e.name is not None]
    what = f"{error.what} ({', '.join(dict.fromkeys(named))})" if named else error.what
    return type(error)(what, at=error.at, expected=error.expected, cure=error.cure)
