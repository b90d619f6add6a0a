"""All partial derivatives of a value up to an order, by what they are by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from symgrad.api.equations import Equation, equations_of
from symgrad.api.expr import Expr

__all__ = ["Derivatives"]


class Derivatives(Mapping[tuple[Any, ...], Expr]):
    """All distinct partial derivatives up to an order: a mapping from tuples of what one differentiates by.

    ``ds[()]`` is the function, ``ds[a, b]`` the same as ``ds[b, a]``; names do as well: ``ds["a", "b"]``.
    Iteration gives each distinct one once.
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

    @property
    def equations(self) -> tuple[Equation, ...]:
        """The equations of all partials together, arguments first, shared ones once."""
        return equations_of(list(self._partials.values()))

    def latex(self) -> str:
        r"""Return all of them as LaTeX: an ``aligned`` environment with a line for each.

        Example:
            >>> import symgrad as sg
            >>> p = sg.parse("a, b : real\nf = a**2*b")
            >>> print(sg.derivatives(p["f"], ["a", "b"]).latex())
            \begin{aligned}
            f &= a^{2} b \\
            \frac{\partial f}{\partial a} &= 2 a b \\
            \frac{\partial f}{\partial b} &= a^{2}
            \end{aligned}
        """
        from symgrad.render.latex_text import leibniz

        value = self[()]
        top = value.name if value.name and value.node.args else None
        rows = [
            (leibniz(top, [(w.name, w.latex()) for w in by]) if by or top else None, e.latex())
            for by, e in self.items()
        ]
        lines = [right if left is None else f"{left} &= {right}" for left, right in rows]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def moved(self, wrt: Sequence[Expr], change: Callable[[Expr], Expr]) -> Derivatives:
        """Return them changed one by one, by other names for what one differentiates by (internal)."""
        return Derivatives(wrt, {index: change(e) for index, e in self._partials.items()})

    def __contains__(self, key: object) -> bool:
        try:
            self[key]
        except KeyError:
            return False
        return True

    def __repr__(self) -> str:
        return f"Derivatives({len(self)} by {', '.join(e.name or '...' for e in self._wrt)})"
