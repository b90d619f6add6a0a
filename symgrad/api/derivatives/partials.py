"""All partial derivatives of a scalar up to an order, printed in one set of names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from symgrad.api.derivatives.derivative_table import DerivativeRow, DerivativeTable
from symgrad.api.handles.expr import Expr


class Derivatives(DerivativeTable, Mapping[tuple[Any, ...], Expr]):
    r"""All distinct partial derivatives up to an order: a mapping from tuples of variables to derivatives.

    ``ds[()]`` is the function itself, and ``ds[a, b]`` is the same as ``ds[b, a]``. Names are also keys: ``ds["a",
    "b"]``. Iteration yields each distinct derivative once; ``print`` shows all derivatives, and a call
    returns their values in this order.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("x, c : positive\nr = sqrt(x**2 + c)\ny = c/r")
        >>> print(sg.derivatives(p["y"], ["x", "c"]))
        dy/dx = -x*y/r**2
        dy/dc = (2*r - y)/(2*r**2)
    """

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

    def __contains__(self, key: object) -> bool:
        try:
            self[key]
        except KeyError:
            return False
        return True

    def moved(self, wrt: Sequence[Expr], change: Callable[[Expr], Expr]) -> Derivatives:
        """Apply a function to each derivative, and replace the variables by new ones (internal)."""
        return Derivatives(wrt, {index: change(e) for index, e in self._partials.items()})

    def rows(self) -> list[DerivativeRow]:
        """Return the derivatives with their variables; for order 0, the value (internal)."""
        y = self._partials[()]
        found = [DerivativeRow(y, [self._wrt[i] for i in index], e) for index, e in self._partials.items()]
        return found[1:] or found

    def __repr__(self) -> str:
        return f"Derivatives({len(self)} by {', '.join(e.name or '...' for e in self._wrt)})"
