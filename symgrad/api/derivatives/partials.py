"""All partial derivatives of a scalar up to an order, printed in one set of names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

from symgrad.api.handles.equations import Equation, equations_of
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formatting import format_many, latex_many, leibniz_of, title
from symgrad.report.report import Reported


class Derivatives(Mapping[tuple[Any, ...], Expr], Reported):
    r"""All distinct partial derivatives up to an order: a mapping from tuples of variables to derivatives.

    ``ds[()]`` is the function itself, and ``ds[a, b]`` is the same as ``ds[b, a]``. Names are also keys: ``ds["a",
    "b"]``. Iteration yields each distinct derivative once; ``print`` shows all derivatives.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("x, c : positive\nr = sqrt(x**2 + c)\ny = c/r")
        >>> print(sg.derivatives(p["y"], ["x", "c"]))
        dy/dx = -x*y/r**2
        dy/dc = (2*r - y)/(2*r**2)
    """

    told_by: ClassVar[str] = "symgrad.api.reports.gradients:partials_report"

    def __init__(self, wrt: Sequence[Expr], partials: Mapping[tuple[int, ...], Expr]) -> None:
        self._wrt = tuple(wrt)
        self._partials = dict(partials)
        self._position: dict[Any, int] = {}
        for i, e in enumerate(self._wrt):
            self._position[e.node] = i
            if e.name is not None:
                self._position.setdefault(e.name, i)

    def __getitem__(self, key: Any) -> Expr:
        parts = cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,)
        try:
            index = tuple(sorted(self._position[p.node if isinstance(p, Expr) else p] for p in parts))
            return self._partials[index]
        except (KeyError, TypeError, AttributeError):
            names = ", ".join(e.name or "..." for e in self._wrt)
            order = max(map(len, self._partials))
            raise KeyError(f"no partial {key}: it holds those by {names} up to order {order}") from None

    def __iter__(self) -> Iterator[tuple[Expr, ...]]:
        for index in self._partials:
            yield tuple(self._wrt[i] for i in index)

    def __len__(self) -> int:
        return len(self._partials)

    @property
    def equations(self) -> tuple[Equation[Expr], ...]:
        """The equations of all partials together, with arguments first; shared equations are listed once."""
        return equations_of(Expr, list(self._partials.values()))

    def __contains__(self, key: object) -> bool:
        try:
            self[key]
        except KeyError:
            return False
        return True

    def __str__(self) -> str:
        return self.text()

    def text(self, *, expand: bool = False) -> str:
        """Return the text that ``print`` shows: one line for each derivative, all in the same set of names.

        Args:
            expand: whether to write each derivative by itself, in terms of the inputs only.
        """
        shown = self._shown()
        exprs, y = [e for _, e in shown], self._partials[()]
        texts, below, _ = format_many(exprs, expand=expand)
        lines = [f"{title(y, by)} = {text}" for (by, _), text in zip(shown, texts, strict=True)]
        return "\n".join([*lines, *below])

    def latex(self, *, expand: bool = False) -> str:
        """Return the derivatives as LaTeX, with one row for each.

        Args:
            expand: whether to write each derivative by itself, in terms of the inputs only.
        """
        shown = self._shown()
        titles = [leibniz_of(self._partials[()], by) for by, _ in shown]
        return latex_many([e for _, e in shown], titles, expand=expand)

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

        exprs = [e for _, e in self._shown()]
        return numpy_text(exprs, name, expand=expand, single=False)

    def moved(self, wrt: Sequence[Expr], change: Callable[[Expr], Expr]) -> Derivatives:
        """Apply a function to each derivative, and replace the variables by new ones (internal)."""
        return Derivatives(wrt, {index: change(e) for index, e in self._partials.items()})

    def _shown(self) -> list[tuple[list[Expr], Expr]]:
        """Return the derivatives with their variables; for order 0, the value."""
        found = [([self._wrt[i] for i in index], e) for index, e in self._partials.items()]
        return found[1:] or found

    def __repr__(self) -> str:
        return f"Derivatives({len(self)} by {', '.join(e.name or '...' for e in self._wrt)})"
