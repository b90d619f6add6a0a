"""Implicit functions: solve F(z, x) = 0 for z by Newton's method; dz/dx = -F_x/F_z (implicit function theorem)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from symgrad.api.derivatives.distribution_check import refuse_distribution_params
from symgrad.api.derivatives.newton import Array, newton, search_bracket
from symgrad.api.derivatives.targets import (
    Wrt,
    Wrts,
    as_list,
    origins_of,
    scalar_to_differentiate,
    slope_of,
    slopes_by,
)
from symgrad.api.functions.matrices import solve
from symgrad.api.functions.symbols import tensor
from symgrad.api.handles.construction import parts_of
from symgrad.api.handles.expr import Expr, as_expr, handle
from symgrad.api.handles.formula_arguments import Formula, Formulas, formulas
from symgrad.api.handles.inputs import inputs_of, known_symbols, listings_of
from symgrad.api.kernels.compile import compile
from symgrad.api.training.variables import has_end, in_domain
from symgrad.autodiff.vjp import pull_back
from symgrad.compiler.kernels.calls.called import as_tuple
from symgrad.ir.graph import Node, as_node
from symgrad.ir.listing import Derivative, one_of, suggest
from symgrad.ir.values.inputs import bind
from symgrad.ops.array.indexing import gather
from symgrad.ops.numpy.calls import matrix_transpose, stack
from symgrad.ops.numpy.matrices import solve as solve_system
from symgrad.support.errors import ConvergenceError, MissingInputError, NotInProgramError, UsageError

if TYPE_CHECKING:
    from symgrad.pretty.named_formulas import NamedFormulas


class Implicit:
    """Unknowns as functions of the other inputs of equations, as `implicit` returns them.

    A formula of the solution reads the unknowns as inputs, by name. The method `grad` returns derivatives as such
    formulas; `evaluate` solves the equations and computes formulas. ``sg.grad`` treats an unknown as an independent
    input.

    Attributes:
        equations: the residuals, which are zero at a solution.
        unknowns: the symbols to solve for.
        inputs: the symbols of which the unknowns are functions.
    """

    def __init__(
        self,
        equations: Sequence[Expr],
        unknowns: Sequence[Expr],
        start: Sequence[Expr | None],
        bracket: tuple[Expr, Expr] | None,
        atol: float,
    ) -> None:
        self.equations = tuple(equations)
        self.unknowns = tuple(unknowns)
        self._start = start
        self._bracket = bracket
        self._atol = atol
        read = [*equations, *(s for s in start if s is not None), *(bracket or ())]
        own = set(self._own)
        self.inputs = tuple(handle(s) for s in inputs_of(read) if s not in own)
        self._kernels: dict[tuple[Node, ...], Any] = {}

    # -- values ----------------------------------------------------------------------------------------------

    def __call__(self, /, **values: Any) -> Any:
        """Solve the equations.

        Args:
            values: a number or array for every input, by name; all values broadcast.

        Returns:
            The unknown: a number, or an array of the shape to which the values broadcast. For several unknowns, a tuple
            of these.

        Raises:
            MissingInputError: if an input has no value, or a value belongs to no input.
            ConvergenceError: if no solution was found at some point, with the point and the residual.
        """
        found: Any = self._solve(self._bound(values))
        return found if len(found) > 1 else found[0]

    @overload
    def evaluate(self, outputs: Formula, /, **values: Any) -> Any: ...
    @overload
    def evaluate(self, outputs: Formulas, /, **values: Any) -> tuple[Any, ...]: ...
    def evaluate(self, outputs: Any, /, **values: Any) -> Any:
        """Solve the equations, and compute formulas of the solution with a kernel that is compiled once.

        Args:
            outputs: an expression of the unknowns and of inputs, or a list of them.
            values: the values of all inputs, including inputs that only the outputs read.

        Returns:
            An array or number, or a tuple of such for a list.
        """
        exprs = formulas(as_list(outputs), self._readable)
        symbols = inputs_of(exprs)
        known = self._bound(values, [s for s in symbols if s not in self._own], exprs)
        known.update(zip(self._own, self._solve(known), strict=True))
        found = as_tuple(self._kernel(exprs, symbols)(*(known[s] for s in symbols)))
        return found if isinstance(outputs, list | tuple) else found[0]

    # -- derivatives -----------------------------------------------------------------------------------------

    @overload
    def grad(self, y: Formula, wrt: Wrt) -> Expr: ...
    @overload
    def grad(self, y: Formula, wrt: Wrts) -> list[Expr]: ...
    def grad(self, y: Formula, wrt: Wrt | Wrts) -> Any:
        """Return the derivative of a formula of the solution; the unknowns depend on the inputs.

        From F(z, x) = 0 follows dz/dx = -F_x/F_z, and so dy/dx = y_x - y_z*F_x/F_z. For several unknowns F_z is a
        matrix, and the quotient is a `solve`. The result is again a formula of the unknowns and the inputs, so
        derivatives of any order are possible.

        Args:
            y: a scalar: an unknown, or a formula of unknowns and inputs.
            wrt: an input, or its name; or a list of them.

        Raises:
            NotScalarError: if y is an array.
            NotInProgramError: for a variable that is not an input of y or of the equations.
            UsageError: for an unknown.

        Example:
            >>> import symgrad as sg
            >>> z, x = sg.symbols("z x")
            >>> root = sg.implicit(z**5 + z - x, z, start=0)
            >>> print(root.grad(z, x).canonical())
            1/(5*z**4 + 1)
        """
        expr = scalar_to_differentiate(y, "grad", beside=self._readable)
        own = {str(z) for z in self.unknowns}
        known = {str(e): e for e in (*self.inputs, *expr.inputs) if str(e) not in own}
        found: list[Expr] = []
        for item in as_list(wrt):
            name = item if isinstance(item, str) else str(as_expr(item))
            if name in own:
                raise UsageError(
                    f"'{name}' is an unknown, which changes only with the inputs",
                    expected=one_of(known),
                    cure="sg.grad differentiates with respect to it, with all other inputs held fixed",
                )
            if name not in known:
                raise NotInProgramError(
                    f"'{name}' is no input", expected=one_of(known), cure=suggest(name, known)
                )
            found.append(self._total(expr, known[name].node))
        return found if isinstance(wrt, list | tuple) else found[0]

    def _total(self, y: Expr, x: Node) -> Expr:
        exprs = [y, *self.equations]
        by = [x, *self._own]
        refuse_distribution_params(exprs, by)
        by_x, *by_z = _gradients(y, by)
        node = by_x
        if not all(g.is_number(0) for g in by_z):
            node = by_x - _inner(
                _weights(self._jacobian, by_z), [_gradients(f, [x])[0] for f in self.equations]
            )
        # A formula of derivatives, each of which is printed in the names of the program.
        parts = parts_of(exprs)
        for e in exprs:
            parts |= slopes_by(e, dict(zip(by, _gradients(e, by), strict=True)))
        slope = parts.get(node, Derivative(node, ())) if all(map(slope_of, exprs)) else None
        listings, origins = listings_of(exprs), origins_of(exprs)
        return Expr(node, listings=listings, origins=origins, sources=tuple(by), slope=slope, parts=parts)

    @property
    def _readable(self) -> list[Expr]:
        """The expressions whose names a text may use."""
        return [*self.unknowns, *self.inputs]

    @property
    def _own(self) -> list[Node]:
        return [z.node for z in self.unknowns]

    @cached_property
    def _jacobian(self) -> list[list[Node]]:
        return [_gradients(f, self._own) for f in self.equations]

    # -- solving ---------------------------------------------------------------------------------------------

    def _kernel(self, exprs: Sequence[Expr], symbols: Sequence[Node]) -> Any:
        key = tuple(e.node for e in exprs)
        if key not in self._kernels:
            self._kernels[key] = compile(exprs, inputs=[handle(s) for s in symbols])
        return self._kernels[key]

    def _bound(
        self, values: Mapping[str, Any], more: Sequence[Node] = (), outputs: Sequence[Expr] = ()
    ) -> dict[Node, Any]:
        symbols = list(dict.fromkeys([*(e.node for e in self.inputs), *more]))
        names = [s.name for s in symbols]
        known = {s.name for s in known_symbols([*self.equations, *outputs])} - {z.name for z in self._own}
        for name in values:
            if name not in names and name not in known:
                raise MissingInputError(
                    f"'{name}' is not an input",
                    expected=", ".join(names) or "no inputs",
                    cure=suggest(name, names),
                )
        return bind(symbols, (), {n: v for n, v in values.items() if n in names})

    def _solve(self, values: Mapping[Node, Any]) -> tuple[Any, ...]:
        inputs = [e.node for e in self.inputs]
        shape = np.broadcast_shapes(*(np.shape(values[s]) for s in inputs))
        columns = {s: np.broadcast_to(values[s], shape).ravel() for s in inputs}
        count = int(np.prod(shape))
        if not count:
            return tuple(np.empty(shape) for _ in self._own)

        def computed(e: Expr) -> Array:
            symbols = inputs_of([e])
            found = self._kernel([e], symbols)(*(columns[s] for s in symbols))
            return np.broadcast_to(np.asarray(found, float), (count,))

        # The search may pass through undefined points, but must not end at such a point.
        with np.errstate(all="ignore"):
            ends = None if self._bracket is None else [computed(e)[None] for e in self._bracket]
            starts = [computed(e) if e is not None else None for e in self._start]
            if ends is not None:
                low, high = np.minimum(*ends), np.maximum(*ends)
                middle = low / 2 + high / 2
                start = middle if starts[0] is None else np.clip(starts[0][None], low, high)
                z, good, residual = search_bracket(self._evaluate(columns), start, low, high, self._atol)
            else:
                start = np.stack([cast("Array", s) for s in starts])
                z, good, residual = newton(self._evaluate(columns), start, self._inside, self._atol)
        if not good.all():
            raise self._failure(columns, z, good, residual)
        return tuple(row.reshape(shape)[()] for row in z)

    def _inside(self, z: Array) -> Array:
        inside = np.ones(z.shape[1], bool)
        for row, s in zip(z, self._own, strict=True):
            if has_end(s.declaration.domain):
                inside &= in_domain(s.declaration.domain, row)
        return inside

    @cached_property
    def _system(self) -> Any:
        """The kernel of the equations and their Jacobian."""
        own = [handle(s) for s in self._own]
        slopes = [
            Expr(g, origins=(f.node,))
            for f, row in zip(self.equations, self._jacobian, strict=True)
            for g in row
        ]
        return compile([*self.equations, *slopes], inputs=[*own, *(handle(e.node) for e in self._read)])

    @cached_property
    def _read(self) -> list[Expr]:
        own = set(self._own)
        return [handle(s) for s in inputs_of(self.equations) if s not in own]

    def _evaluate(self, columns: Mapping[Node, Array]) -> Any:
        kernel, read, n = self._system, [columns[e.node] for e in self._read], len(self._own)

        def evaluate(z: Array, where: Array) -> tuple[Array, Array]:
            found = kernel(*z, *(c[where] for c in read))
            everything = np.stack([np.broadcast_to(np.asarray(f, float), where.shape) for f in found])
            residual, slopes = everything[:n], everything[n:]
            if n == 1:
                return residual, residual / slopes
            jacobian = np.moveaxis(slopes.reshape(n, n, -1), 2, 0)
            return residual, _newton_step()(
                np.ascontiguousarray(jacobian), np.ascontiguousarray(residual.T)
            ).T

        return evaluate

    def _failure(
        self, columns: Mapping[Node, Array], z: Array, good: Array, residual: Array
    ) -> ConvergenceError:
        k = int(np.argmin(good))

        def point(values: Iterable[tuple[Node, Array]]) -> str:
            return ", ".join(f"{s.name} = {v[k]:.6g}" for s, v in values)

        at = f" at {point(columns.items())}" if columns else ""
        failed = int(np.sum(~good))
        return ConvergenceError(
            f"no solution was found{at}: the search ended at {point(zip(self._own, z, strict=True))}, where "
            f"{float(np.max(np.abs(residual[:, k]))):.6g} is left of the equation{'s' * (len(z) > 1)}"
            + (f"; {failed:,} of {len(good):,} points have none" if failed > 1 else ""),
            expected="a solution with another sign on each side and a slope that is not 0"
            if len(z) == 1
            else "a solution at which the Jacobian is regular",
            cure="start nearer, or give a bracket; atol says how near is near enough to a solution of 0"
            if len(z) == 1
            else "start nearer; atol says how near is near enough to a solution of 0",
        )

    def __str__(self) -> str:
        names = ", ".join(str(z) for z in self.unknowns)
        solution = self._in_names
        if solution is None:
            lines = [f"{names} with " + ", ".join(f"{f} = 0" for f in self.equations)]
            if len(self.unknowns) <= 2:  # for more unknowns the derivatives are long
                lines += [
                    f"  d{z}_d{x} = {self.grad(z, x).canonical()}" for z in self.unknowns for x in self._read
                ]
            return "\n".join(lines)
        equations, slopes = solution
        titles = [f"d{z}_d{x} = " for z in self.unknowns for x in self._read]
        lines = [f"{names} with " + ", ".join(f"{slopes.spelling.text(f)} = 0" for f in equations)]
        return "\n".join([*lines, *(f"  {line}" for line in slopes.text(titles).split("\n") if titles)])

    def latex(self) -> str:
        r"""Return the equations and, for one or two unknowns, the derivatives as LaTeX, an ``aligned`` environment.

        Example:
            >>> import symgrad as sg
            >>> z, a = sg.symbols("z a", "positive")
            >>> print(sg.implicit(z**2 - a, z, start=1.0).latex())
            \begin{aligned}
            z^{2} - a &= 0 \\
            \frac{\partial z}{\partial a} &= \frac{1}{2 z}
            \end{aligned}
        """
        from symgrad.printing.latex.pieces import latex_name  # for start-up time
        from symgrad.printing.texts.named_formulas import formula_rows, latex_rows, leibniz, named_latex

        solution = self._in_names
        if solution is None:
            return latex_rows([f"{f.latex()} &= 0" for f in self.equations])
        equations, slopes = solution
        titles = [
            leibniz(latex_name(str(z)), [latex_name(str(x))]) for z in self.unknowns for x in self._read
        ]
        found = formula_rows(slopes)
        rows = [f"{named_latex(f, slopes.spelling)} &= 0" for f in equations]
        rows += [f"{title} &= {row}" for title, row in zip(titles, found, strict=False)]
        return latex_rows([*rows, *found[len(titles) :]])

    @cached_property
    def _in_names(self) -> tuple[tuple[Node, ...], NamedFormulas] | None:
        """Return the equations and the derivatives of the unknowns in the names of the program, or None."""
        from symgrad.pretty.named_derivatives import name_solution  # for start-up time

        listings = listings_of(self.equations)
        if len(self.unknowns) > 2 or len(listings) > 1:
            return None
        nodes = ([e.node for e in some] for some in (self.equations, self.unknowns, self._read))
        return name_solution(listings[0] if listings else None, *nodes, parts=parts_of(self.equations))

    def __repr__(self) -> str:
        names = ", ".join(str(z) for z in self.unknowns)
        return f"<Implicit {names} of {', '.join(str(x) for x in self.inputs) or 'nothing'}>"


def _gradients(y: Expr, by: Sequence[Node]) -> list[Node]:
    return list(pull_back([y.node], [as_node(1)], by).gradients)


def _weights(jacobian: Sequence[Sequence[Node]], by_z: Sequence[Node]) -> list[Node]:
    """Return the solution w of transpose(J) w = dy/dz.

    For two equations this is Cramer's rule, which is forward stable (Higham, Accuracy and Stability of Numerical
    Algorithms, section 1.10.1); for more equations elimination with pivots is used.
    """
    if len(by_z) == 1:
        return [by_z[0] / jacobian[0][0]]
    if len(by_z) == 2:
        ((a, b), (c, d)), (g, h) = jacobian, by_z
        determinant = a * d - b * c
        return [(d * g - c * h) / determinant, (a * h - b * g) / determinant]
    w = solve_system(matrix_transpose(stack([stack(row) for row in jacobian])), stack(by_z))
    return [gather(w, as_node(i), params=((0,),)) for i in range(len(by_z))]


def _inner(a: Sequence[Node], b: Sequence[Node]) -> Node:
    node = as_node(0)
    for x, y in zip(a, b, strict=True):
        node = node + x * y
    return node


@cache
def _newton_step() -> Any:
    """Return a kernel that solves J step = F for many points.

    A singular J gives NaN, whereas NumPy would raise an error.
    """
    J, F = tensor("J", ("n", "n")), tensor("F", ("n",))
    return compile(solve(J, F), inputs=[J, F])
