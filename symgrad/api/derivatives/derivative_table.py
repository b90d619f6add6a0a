"""Several derivatives that are printed in one set of names, and computed together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, cast

from symgrad.api.handles.equations import Equation, equations_of
from symgrad.api.handles.expr import Expr, evaluate_exprs
from symgrad.api.handles.formatting import format_many, latex_many, leibniz_of, title
from symgrad.ir.graph import Node
from symgrad.report.report import Reported


class DerivativeRow(NamedTuple):
    """A derivative of a table.

    Args:
        y: the value that is differentiated; None for what is no plain derivative, such as a weighted sum.
        by: the variables.
        expr: the derivative.
    """

    y: Expr | None
    by: Sequence[Expr]
    expr: Expr

    @property
    def title(self) -> str:
        """The derivative as ``dy/dx``."""
        return "" if self.y is None else title(self.y, self.by)


class DerivativeTable(Reported, ABC):
    """The base of `Derivatives` and `DerivativeList`: text, LaTeX, source, values of all derivatives together."""

    told_by: ClassVar[str] = "symgrad.api.reports.gradients:derivatives_report"

    @abstractmethod
    def rows(self) -> Sequence[DerivativeRow]:
        """Return the derivatives in their order (internal)."""

    def _arranged(self, values: list[Any]) -> Any:
        return tuple(values)

    @property
    def equations(self) -> tuple[Equation[Expr], ...]:
        """The equations of all derivatives together, with arguments first; shared equations are listed once."""
        return equations_of(Expr, [row.expr for row in self.rows()])

    def __call__(self, /, *args: Any, **values: Any) -> Any:
        """Evaluate all derivatives together, as `Expr.__call__` does for one.

        Args:
            args: values in the order of the program's inputs.
            values: the same by name.

        Returns:
            The values in the order, and in the lists, of the derivatives.
        """
        return self._arranged(evaluate_exprs([row.expr for row in self.rows()], args, values))

    def __str__(self) -> str:
        return self.text()

    def text(self, *, expand: bool = False) -> str:
        """Return the text that ``print`` shows: one line for each derivative, all in the same set of names.

        Args:
            expand: whether to write each derivative by itself, in terms of the inputs only.
        """
        rows = self.rows()
        texts, below, _ = format_many([row.expr for row in rows], expand=expand)
        titles = [row.title for row in rows]
        lines = [f"{title} = {text}" if title else text for title, text in zip(titles, texts, strict=True)]
        return "\n".join([*lines, *below])

    def latex(self, *, expand: bool = False) -> str:
        """Return the derivatives as LaTeX, with one row for each.

        Args:
            expand: whether to write each derivative by itself, in terms of the inputs only.
        """
        rows = self.rows()
        titles = ["" if row.y is None else leibniz_of(row.y, row.by) for row in rows]
        return latex_many([row.expr for row in rows], titles, expand=expand)

    def numpy_source(self, name: str = "f", *, expand: bool = False) -> str:
        r"""Return the source of a self-contained NumPy function that returns a tuple of the derivatives in their order.

        Args:
            name: the name of the function.
            expand: whether to write it in terms of the inputs only; otherwise names of the program are its variables.

        Raises:
            UsageError: if the name is not a Python identifier, or is a name that the source uses itself.
            UnsupportedError: for an op that has neither a NumPy function nor a formula.

        Example:
            >>> import symgrad as sg
            >>> p = sg.parse("X : real[n, d]; w : real[d]; c : real\nr = X@w + c\nloss = sum(r**2)")
            >>> print(sg.derivatives(p["loss"], ["w", "c"]).numpy_source().splitlines()[-1].strip())
            return 2.0*(X.T @ r), 2.0*np.sum(r)
        """
        from symgrad.api.handles.output import numpy_text  # for start-up time

        return numpy_text([row.expr for row in self.rows()], name, expand=expand, single=False)


class DerivativeList(list[Any], DerivativeTable):
    r"""Derivatives by several variables: a list, or a list of rows, as `grad`, `jacobian` and `hessian` return them.

    It is a list of expressions. Printed, it shows them in one set of names; called, it returns their values in such
    lists.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("x, c : positive\nr = sqrt(x**2 + c)\ny = c/r")
        >>> print(sg.grad(p["y"], ["x", "c"]))
        dy/dx = -x*y/r**2
        dy/dc = (2*r - y)/(2*r**2)
        >>> sg.hessian(sg.parse("x, y : real\nf = x**2*y")["f"], ["x", "y"])(x=1.0, y=3.0)
        [[np.float64(6.0), np.float64(2.0)], [np.float64(2.0), np.float64(0.0)]]
    """

    __slots__ = ("_of",)

    def __init__(self, items: Iterable[Any], of: Sequence[tuple[Expr | None, Sequence[Expr]]] = ()) -> None:
        super().__init__(items)
        self._of = tuple(of)

    def rows(self) -> Sequence[DerivativeRow]:
        """Return the derivatives row by row (internal)."""
        exprs: list[Expr] = []
        self._map(exprs.append)
        known = self._of if len(self._of) == len(exprs) else [(None, ())] * len(exprs)
        return [DerivativeRow(y, by, e) for (y, by), e in zip(known, exprs, strict=True)]

    def _map(self, change: Callable[[Expr], Any]) -> list[Any]:
        """Return such lists of the results of a function."""
        return [
            [change(e) for e in cast("list[Expr]", item)] if isinstance(item, list) else change(item)
            for item in self
        ]

    def _arranged(self, values: list[Any]) -> Any:
        found = iter(values)
        return self._map(lambda _: next(found))

    def mapped(self, change: Callable[[Expr], Expr], stands_for: Mapping[Node, Expr]) -> DerivativeList:
        """Apply a function to each derivative; values and variables are replaced by what they stand for (internal)."""

        def original(e: Expr) -> Expr:
            return stands_for.get(e.node, e)

        of = [(None if y is None else original(y), [*map(original, by)]) for y, by in self._of]
        return DerivativeList(self._map(change), of)

    def __reduce__(self) -> tuple[Any, ...]:
        return (DerivativeList, (list(self), self._of))
