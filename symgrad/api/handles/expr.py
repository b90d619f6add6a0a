"""`Expr`: a node of the graph with its origin, and the operators and methods of formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

from symgrad.api.handles.base import Number, handle_on
from symgrad.api.handles.construction import lift, make, make_op
from symgrad.api.handles.convert import cure_in_numpy, node_of
from symgrad.api.handles.equations import Equation, equations_of
from symgrad.api.handles.forms import FormMethods
from symgrad.api.handles.inputs import inputs_of, known_symbols, sizes_by_name, unbound_sizes
from symgrad.ir.graph import Node
from symgrad.ir.listing import Derivative, Listing, one_of, suggest
from symgrad.ir.traverse import formulas_of, is_elementwise, substitute, symbols_of, topological
from symgrad.ir.values.evaluate import evaluate
from symgrad.ir.values.exchange import DASK, called_with_arrays, library_of
from symgrad.ir.values.inputs import bind, in_order
from symgrad.ops.array.layout import full, shape_text
from symgrad.ops.control import as_computed
from symgrad.report.report import Reported, called
from symgrad.rewrite.facts.distribution_params import declared
from symgrad.support.errors import (
    NotInProgramError,
    OperandError,
    ShapeError,
    TruthValueError,
    UnsupportedError,
    UsageError,
)

if TYPE_CHECKING:
    from symgrad.printing.pictures.interactive import Graph

__all__ = ["Expr", "ExprLike", "Operand", "apply_op", "as_expr", "build_expr", "handle", "node_of"]

ExprLike: TypeAlias = "Expr | Number"
"""An argument of operators and public functions. Numbers are allowed, because Python's sum of an empty list of
expressions is the number 0."""

Operand: TypeAlias = "ExprLike | list[Any] | tuple[Any, ...]"
"""An argument of functions: an argument of operators, or nested lists as an array."""

_SHOWN = 1_000  # for formulas with more nodes a notebook shows only text


class Expr(FormMethods, Reported):
    """A formula: an immutable handle on one node of the graph.

    Build expressions with `symgrad.symbols`, `symgrad.tensor`, `symgrad.parse`, `symgrad.from_sympy`, and with
    operators, subscripts, NumPy functions and the functions of `symgrad`. Nothing is evaluated: an expression contains
    the operations that you write.

    ``==``, ``<`` and other comparisons give elementwise conditions, which have no Python truth value; compare structure
    with `same`.

    Example:
        >>> import symgrad as sg
        >>> x, u = sg.symbols("x u")
        >>> z = sg.sqrt(x**2*u)
        >>> print(z)
        sqrt(x**2*u)
        >>> float(z(x=-3.0, u=4.0))
        6.0
    """

    told_by: ClassVar[str] = "symgrad.api.reports.gradients:formula_report"

    __slots__ = ()
    __array_priority__ = 1000

    # -- parts -----------------------------------------------------------------------------------------------

    @property
    def inputs(self) -> tuple[Expr, ...]:
        """The symbols that it needs, in the order of the program's declarations, else of first appearance.

        An expression needs the symbols that it reads, and symbols whose shapes are the only source of a named size.
        """
        return tuple(self._with(s) for s in inputs_of([self]))

    @property
    def equations(self) -> tuple[Equation[Expr], ...]:
        """The equations of which the expression consists, with arguments first; shared equations are listed once."""
        return equations_of(Expr, [self])

    def same(self, other: ExprLike) -> bool:
        """Tell whether two expressions are the same graph.

        Example:
            >>> import symgrad as sg
            >>> x, y = sg.symbols("x y")
            >>> (x + y).same(x + y), (x + y).same(y + x)
            (True, False)
        """
        return self._node is node_of(other)

    def graph(self, values: Mapping[str, Any] | None = None, /, **by_name: Any) -> Graph:
        r"""Return the graph of the formula for notebooks and pages.

        Its boxes show values and gradients, and can be folded.

        Args:
            values: a value for each input, by name; without values, boxes show only equations.
            by_name: the same for names that are Python identifiers.

        Returns:
            A Graph: notebooks show it; ``.svg()``, ``.html()``, ``.save(path)`` and ``.notes``.

        Raises:
            MissingInputError: if there are values, but not for each input.
            SymgradError: for values that `__call__` would not accept.

        Example:
            >>> import symgrad as sg
            >>> x = sg.symbols("x")
            >>> print(sg.sin(x**2).graph(x=2.0).notes["x"])
            x : real
            value: 2
            gradient: -2.61457
        """
        return called("symgrad.api.reports.graph:formula_graph", self, {**(values or {}), **by_name})

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        found = {"text/plain": repr(self)}
        if len(topological([self.node])) <= _SHOWN:
            latex = self.latex()
            formula = called("symgrad.report.blocks:Maths", str(self), latex)
            found["text/html"] = called("symgrad.report.writers.html:formula_fragment", formula)
            found["text/latex"] = rf"$\displaystyle {latex}$"
        return found

    # -- values ----------------------------------------------------------------------------------------------

    def __call__(self, /, *args: Any, **values: Any) -> Any:
        """Evaluate without compiling, in NumPy float64.

        Args:
            args: values in the order of `inputs`, as an alternative to names.
            values: a number or array for every input, by name. In an elementwise formula the values broadcast; in an
                array program they must have the declared shapes. Inputs of the program that the result does not need
                are also allowed. A size that no input has in its shape is passed by name, as a whole number.

        Returns:
            A NumPy scalar or array; NaN where an operation leaves the reals. If there is an array of torch, JAX or
            TensorFlow among the values, the result is such an array.

        Raises:
            MissingInputError: if an input has no value, or a name is not an input.
            ArrayTypeError, ComplexInputError, ShapeError: for values that are not real arrays of the
                declared shapes.
            DomainError: for a value beyond the ends of a declared domain, such as -1 for a positive input.
            IndexRangeError: for a position outside its axis.
            NumberTooLargeError: if a constant does not fit a float.
        """
        return evaluate_exprs([self], args, values)[0]

    def __float__(self) -> float:
        self._single("float")
        return float(evaluate([self._node], {})[0])

    def __int__(self) -> int:
        self._single("int")
        return int(self._node.value if self._node.is_number() else evaluate([self._node], {})[0])

    def _single(self, kind: str) -> None:
        """Check that the expression has no inputs."""
        if symbols_of([self._node]):
            raise TruthValueError(
                f"{kind}() of '{_short(self)}', which has no single value",
                expected="an expression without inputs",
                cure=cure_in_numpy(
                    "call it with values, e(x=2.0); for a formula take symgrad's functions: sg.sin, not math.sin",
                    f"leave {kind}() out, and take NumPy's functions: np.sin, not math.sin",
                ),
            )

    def subs(
        self, replacements: Mapping[Any, ExprLike] | None = None, /, *more: Any, **by_name: ExprLike
    ) -> Expr:
        """Replace inputs or intermediate expressions by other expressions or exact numbers, all at once.

        If parameters of a random input depend on a replaced expression, the input gets the new parameters.

        Args:
            replacements: a mapping from each Expr (or name) to its replacement.
            more: not allowed; instead of SymPy's ``subs(x, 2)`` write ``subs({x: 2})``.
            by_name: the same for names that are Python identifiers.

        Raises:
            UsageError: if the replacements are not a mapping.
            NotInProgramError: if a name is not an input.
            ShapeError: if a replacement has another shape; a number stands for all entries.
            DeclarationError: if the new parameters are invalid for the distribution.

        Example:
            >>> import symgrad as sg
            >>> x, y = sg.symbols("x y")
            >>> print((x + y).subs(x=y**2, y=3))
            y**2 + 3
        """
        if more or not isinstance(cast("Any", replacements), Mapping | None):
            raise UsageError(
                "subs takes a mapping from expressions to their replacements",
                expected="a mapping, or names",
                cure="e.subs({x: 2}), or e.subs(x=2)",
            )
        inputs = {s.name: s for s in symbols_of([*formulas_of([self._node]), self._node])}
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
            (node,) = substitute([self._node], table, declared=True)
            for s in symbols_of([node]):
                declared(s.declaration)  # checks the new parameters
            replaced = self._with(node)
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
            # Two handles on one node are equal, so `in`, lists and dictionaries find an expression.
            return node.op.name == "eq"
        cure = "use sg.where(condition, a, b) to choose, a.same(b) to compare structure, e(x=...) for a value"
        if node.op.name in ("lt", "le", "gt", "ge"):
            cure = (
                "use sg.where(c, a, b), sg.minimum(a, b) or sg.maximum(a, b) to choose, & between comparisons"
            )
        cure = cure_in_numpy(
            cure,
            "np.where(condition, a, b) chooses, np.minimum and np.maximum limit, & stands between conditions",
        )
        raise TruthValueError(
            f"the truth value of '{_short(self)}' is not known: it is an expression", cure=cure
        )

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise UnsupportedError(
            "an expression is not an array",
            cure=cure_in_numpy(
                "call it with values, e(x=...); e.subs(x=y) is another formula, sg.arrays.stack([x, y]) an array",
                "np.stack([a, b]) is an array of values; an array that is read at a position of a loop is an argument; "
                "functions of other packages are formulas, or those of symgrad, such as sg.logsumexp",
            ),
        )

    def __format__(self, spec: str) -> str:
        if spec and spec.strip("<>^0123456789s"):
            raise OperandError(
                f"the format '{spec}' is for numbers; '{_short(self)}' is a formula",
                expected="a format of text",
                cure="format a value, f'{e(x=2.0):.3f}', or the text, f'{e}'",
            )
        return format(str(self), spec)

    # -- plumbing --------------------------------------------------------------------------------------------

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
                self._in_names,
                dict(self._parts),
            ),
        )


def _rebuild(
    node: Node,
    listings: tuple[Listing, ...],
    nothing: str | None,
    origins: tuple[Node, ...],
    sources: tuple[Node, ...],
    slope: Derivative | None,
    in_names: Derivative | bool = False,
    parts: Mapping[Node, Derivative] = {},
) -> Expr:
    return Expr(
        node,
        listings=listings,
        nothing=nothing,
        origins=origins,
        sources=sources,
        slope=slope,
        in_names=in_names,
        parts=parts,
    )


def _short(expr: Expr) -> str:
    text = str(expr)
    return text if len(text) <= 60 else text[:57] + "..."


def handle(node: Node) -> Expr:
    """Return the Expr of a node without an origin: one live handle for each node."""
    return handle_on(Expr, node)


def as_expr(value: Any) -> Expr:
    """Return an Expr unchanged, a number as an exact constant, and a list as an array."""
    return lift(Expr, value)


def apply_op(name: str, *args: Any, params: tuple[Any, ...] = ()) -> Expr:
    """Apply an op, or a function composed of ops, to expressions and numbers; join their origins."""
    return make_op(Expr, name, *args, params=params)


def build_expr(build: Callable[[], Node], args: Iterable[Any]) -> Expr:
    """Build a node from expressions and other values; see `api.handles.construction.make`."""
    return make(Expr, build, args)


def evaluate_exprs(exprs: Sequence[Expr], args: tuple[Any, ...], values: Mapping[str, Any]) -> list[Any]:
    """Return the values of expressions, evaluated together.

    Args:
        exprs: the expressions.
        args: values in the order of the inputs, as an alternative to names.
        values: values by name, as `Expr.__call__` takes them.
    """
    inputs = inputs_of(exprs, values)
    needed = {s.name for s in inputs}
    if not values.keys() <= needed:
        # Values for inputs of the program that the gradient does not read are allowed.
        known = {s.name for s in known_symbols(exprs)}
        values = {name: value for name, value in values.items() if name in needed or name not in known}
    sizes = sizes_by_name(exprs, inputs, values)
    values = {name: value for name, value in values.items() if name not in sizes}
    library = library_of((*args, *values.values()))
    if library is not None and library is not DASK:  # arrays of Dask are evaluated here
        names = [s.name for s in inputs]

        def computed(*views: Any) -> Any:
            return tuple(evaluate_exprs(exprs, (), dict(zip(names, views, strict=True)) | sizes))

        return list(called_with_arrays(computed, library, names, in_order(names, args, values), None))
    together = is_elementwise([e.node for e in exprs])
    bound = bind(inputs, args, values, together=together, sizes=sizes)
    return list(evaluate(as_computed(_computed(exprs)), bound, sizes))


def _computed(exprs: Sequence[Expr]) -> Sequence[Node]:
    """Return the forms that are evaluated: for derivatives, the forms that a kernel computes."""
    if not any(e.has_derivatives for e in exprs):
        return [e.node for e in exprs]
    from symgrad.api.handles.output import arrange_nodes  # a late import: values as written need no rules

    return arrange_nodes(exprs, step_sums=True).nodes
