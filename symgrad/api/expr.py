"""Expr: what users hold. A node of the graph, with what is known about where it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from weakref import WeakValueDictionary

import numpy as np

import symgrad.ops  # noqa: F401  (registers the records that the operators look up)
from symgrad.api.operators import Operators
from symgrad.backward.trace import Trace
from symgrad.errors import (
    NotInProgramError,
    TruthValueError,
    UnsupportedError,
    UsageError,
)
from symgrad.ir.evaluate import evaluate
from symgrad.ir.graph import SYMBOL, Node, as_node, number
from symgrad.ir.inputs import bind
from symgrad.ir.listing import Listing, suggest
from symgrad.ir.op import OPS
from symgrad.ir.traverse import substitute, symbols_of, topological

if TYPE_CHECKING:
    import sympy

__all__ = ["Equation", "Expr", "ExprLike", "apply_op", "handle", "node_of"]

ExprLike: TypeAlias = "Expr | int | float | Fraction"

_handles: WeakValueDictionary[Node, Expr] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Equation:
    """One equation of a graph.

    Attributes:
        name: the variable it defines (a name of the program, or ``t1``, ``t2``, ...).
        op: the name of the operation.
        args: the arguments: names and numbers, as text.
        expr: the value as an Expr.
    """

    name: str
    op: str
    args: tuple[str, ...]
    expr: Expr

    def __str__(self) -> str:
        return f"{self.name} = {self.op}({', '.join(self.args)})"


class Expr(Operators):
    """A formula: an immutable handle on one node of the graph.

    Build one with `symgrad.symbols`, `symgrad.parse`, `symgrad.from_sympy`, and with operators, NumPy
    functions and the functions of `symgrad`. Nothing is evaluated: what you write is what it holds,
    operation by operation.

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

    __slots__ = ("__weakref__", "_listings", "_node", "_nothing", "_origins", "_traces")
    __array_priority__ = 1000

    def __init__(
        self,
        node: Node,
        *,
        listings: tuple[Listing, ...] = (),
        traces: tuple[Trace, ...] = (),
        nothing: str | None = None,
        origins: tuple[Node, ...] = (),
    ) -> None:
        self._node = node
        self._listings = listings
        self._traces = traces
        self._nothing = nothing
        self._origins = origins

    # -- what it is ------------------------------------------------------------------------------------------

    @property
    def node(self) -> Node:
        """The node of the graph (internal: see ``symgrad.ir.graph``)."""
        return self._node

    @property
    def shape(self) -> tuple[int | str, ...]:
        """The shape; () for a scalar."""
        return self._node.shape

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
        """The symbols it reads: in the order of the program's declarations, else of first appearance."""
        return tuple(self._with(s) for s in ordered_symbols([self]))

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
    def listings(self) -> tuple[Listing, ...]:
        """The programs it comes from (internal)."""
        return self._listings

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

    # -- other forms -----------------------------------------------------------------------------------------

    def __str__(self) -> str:
        from symgrad.ir.printer import str_text

        return str_text(self._readable())

    def __repr__(self) -> str:
        text = str(self)
        return f"Expr({text if len(text) <= 200 else text[:197] + '...'})"

    def canonical(self) -> Expr:
        r"""Return it as a person would write it: collected, cancelled, ordered.

        Every rule keeps the value wherever the original is defined; `domain_notes` tells where one is
        defined at more points. stop_gradient stays, so the result may be differentiated again.

        Example:
            >>> import symgrad as sg
            >>> p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(x**2*u)")
            >>> print(sg.grad(p["z"], p["x"]).canonical())
            sqrt(u)*sign(x)
        """
        from symgrad.rules.pipeline import canonical

        node = canonical([self._node]).nodes[0]
        return Expr(
            node, listings=self._listings, traces=self._traces, nothing=self._nothing, origins=self._origins
        )

    @property
    def domain_notes(self) -> tuple[str, ...]:
        """Where the canonical form is defined although the expression as built is not, one sentence each."""
        from symgrad.rules.pipeline import canonical

        return tuple(canonical([self._node]).notes)

    def sympy(self) -> sympy.Basic:
        """Return it as a SymPy expression, unevaluated; shared parts are shared objects.

        Example:
            >>> import symgrad as sg
            >>> x = sg.symbols("x")
            >>> sg.sin(x).sympy()
            sin(x)
        """
        from symgrad.ir.cas import to_sympy

        return to_sympy([self._readable()])[0]

    def latex(self) -> str:
        r"""Return it as LaTeX.

        Example:
            >>> import symgrad as sg
            >>> x = sg.symbols("x")
            >>> print((x / 2).latex())
            \frac{x}{2}
        """
        from symgrad.render.latex import latex

        return latex(self._readable())

    def numpy_source(self, name: str = "f") -> str:
        """Return a self-contained Python function over NumPy that computes it.

        Args:
            name: the name of the function.
        """
        from symgrad.render.numpy_source import numpy_source

        return numpy_source([self._readable()], name=name)

    def _readable(self) -> Node:
        return self.canonical()._node if self._origins else self._node

    # -- values ----------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **values: Any) -> Any:
        """Evaluate without compiling, in NumPy float64.

        Args:
            args: values in the order of `inputs`, if not by name.
            values: a number or array for every input, by name; they broadcast.

        Returns:
            A NumPy scalar or array; NaN where an operation leaves the reals.

        Raises:
            MissingInputError: if an input has no value or a name is not an input.
            ArrayTypeError, ComplexInputError, ShapeError: for values that are not real arrays of the
                declared shapes.
            NumberTooLargeError: if a constant does not fit a float.
        """
        inputs = ordered_symbols([self])
        read = {s.name for s in inputs}
        if not values.keys() <= read:
            # A gradient may have lost an input that its program has; giving it a value is no mistake.
            known = self._known_names()
            values = {name: value for name, value in values.items() if name in read or name not in known}
        return evaluate([self._node], bind(inputs, args, values))[0]

    def __float__(self) -> float:
        if symbols_of([self._node]):
            raise TruthValueError(
                "an expression with inputs has no single value", cure="call it with values: e(x=2.0)"
            )
        return float(evaluate([self._node], {})[0])

    def subs(self, replacements: Mapping[Any, ExprLike] | None = None, /, **by_name: ExprLike) -> Expr:
        """Replace inputs, or intermediate expressions, by other expressions or exact numbers, all at once.

        Args:
            replacements: from Expr (or name) to its replacement.
            by_name: the same for names that are Python identifiers.

        Raises:
            NotInProgramError: if a name is not an input.

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
                        expected="one of " + ", ".join(inputs) if inputs else None,
                        cure=suggest(key, inputs),
                    )
                target = inputs[key]
            else:
                target = node_of(key)
            table[target] = node_of(value)
        return self._with(substitute([self._node], table)[0])

    # -- as a Python object ---------------------------------------------------------------------------------

    def __hash__(self) -> int:
        return hash(self._node)

    def __bool__(self) -> bool:
        raise TruthValueError(
            f"the truth value of '{_short(self)}' is not known: it is an expression",
            cure="use sg.where(condition, a, b) to choose, a.same(b) to compare structure, e(x=...) for a value",
        )

    def __iter__(self) -> Any:
        raise TypeError("a scalar expression is not iterable")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise UnsupportedError(
            "an expression is not an array",
            cure="call it with values, e(x=...), or put expressions in a list",
        )

    # -- plumbing --------------------------------------------------------------------------------------------

    def _apply(self, name: str, *args: Any) -> Expr:
        return apply_op(name, *args)

    def _lift(self, value: Any) -> Expr:
        return as_expr(value)

    def _minus(self, value: Any) -> Expr:
        # x - 2 is x + (-2): the sign of a number literal belongs to the number, as it does in the text notation.
        # x - 0 is x + (-0.0), which keeps the sign of a zero x, so the sign of zero stays an operation.
        if isinstance(value, Expr):
            return -value
        node = node_of(value)
        return -handle(node) if not node.is_number() or node.value == 0 else handle(number(-node.value))

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self._node, self._listings, self._nothing, self._origins))

    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Expr:
        return self

    def _with(self, node: Node) -> Expr:
        """Return another node of the same origin."""
        return Expr(node, listings=self._listings, traces=self._traces) if self._listings else handle(node)

    def _known_names(self) -> set[str]:
        """Return the names of the inputs of all it comes from."""
        known = {name for listing in self._listings for name in listing.symbols}
        return known | {s.name for s in symbols_of(self._origins)}

    def _names(self) -> list[dict[Node, str]]:
        return [listing.name_of() for listing in self._listings]


def _rebuild(
    node: Node, listings: tuple[Listing, ...], nothing: str | None, origins: tuple[Node, ...]
) -> Expr:
    return Expr(node, listings=listings, nothing=nothing, origins=origins)


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
    """Return an Expr as it is, a number as an exact constant."""
    return value if isinstance(value, Expr) else handle(node_of(value))


def node_of(value: Any) -> Node:
    """Return the node of an Expr or a Python or NumPy number.

    Raises:
        UsageError: for anything else.
    """
    if isinstance(value, Expr):
        return value._node  # pyright: ignore[reportPrivateUsage]
    if isinstance(value, bool | int | float | Fraction):
        return as_node(value)
    if isinstance(value, np.ndarray) and not value.ndim:
        return node_of(cast("Any", value)[()])
    if isinstance(value, np.generic):
        given = cast("Any", value)
        scalar: Any = given.item()
        if isinstance(scalar, float):
            # A float32 stands for its own shortest decimal: 0.1f is a tenth. Infinities are refused as floats.
            return number(float(str(given)))
        if isinstance(scalar, bool | int):
            return as_node(scalar)
    kind = type(cast("object", value)).__name__
    raise UsageError(
        f"a value of type {kind} is not part of a formula",
        expected="an Expr, an int, a float or a Fraction",
        cure=_CURES.get(kind, "convert it to an int, a float or a Fraction"),
    )


# By the name of the type, for what is often passed by mistake.
_ARRAYS = "make arrays inputs: declare a symbol and pass the array when you call the kernel"
_CURES = {
    "ndarray": _ARRAYS,
    "list": _ARRAYS,
    "tuple": _ARRAYS,
    "Program": "take one of its values, such as program['y'] or program.last",
    "str": "read a formula with sg.parse(text).result, take a name of a program with program['y']",
    "complex": "write the real and the imaginary part as two real formulas",
}


def apply_op(name: str, *args: Any, params: tuple[Any, ...] = ()) -> Expr:
    """Return an op applied to expressions and numbers, as written, with their origins joined."""
    node = OPS[name](*(node_of(a) for a in args), params=params)
    listings: tuple[Listing, ...] = ()
    traces: tuple[Trace, ...] = ()
    for a in args:
        if isinstance(a, Expr):
            listings += tuple(x for x in a.listings if all(x is not y for y in listings))
            traces += tuple(t for t in a.traces if all(t is not y for y in traces))
    return Expr(node, listings=listings, traces=traces) if listings or traces else handle(node)


def ordered_symbols(exprs: Iterable[Expr]) -> list[Node]:
    """Return the symbols that expressions read: declared ones in the order of their program, others by first use."""
    exprs = list(exprs)
    read = symbols_of([e.node for e in exprs])
    declared = [s for e in exprs for listing in e.listings for s in listing.symbols.values()]
    rank = {s: i for i, s in enumerate(dict.fromkeys([*declared, *read]))}
    return sorted(read, key=rank.__getitem__)


def equations_of(exprs: Sequence[Expr]) -> tuple[Equation, ...]:
    """Return the equations that expressions consist of together, under the names of their programs."""
    from symgrad.ir.printer import expression_text

    roots = [e.node for e in exprs]
    listings = {id(listing): listing for e in exprs for listing in e.listings}
    names: dict[Node, str] = {}
    for listing in listings.values():
        names = {**listing.name_of(), **names}
    taken = {s.name for s in symbols_of(roots)} | set(names.values())
    counter = 0
    equations: list[Equation] = []
    for node in topological(roots):
        if not node.args:
            continue
        if node not in names:
            counter += 1
            while f"t{counter}" in taken:
                counter += 1
            names[node] = f"t{counter}"
        args = tuple(names[a] if a.args else expression_text(a) for a in node.args)
        equations.append(Equation(names[node], node.op.name, args, handle(node)))
    return tuple(equations)
