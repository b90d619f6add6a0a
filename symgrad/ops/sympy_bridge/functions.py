"""SymPy classes for the ops that SymPy lacks, and the conversion of graphs to SymPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import mpmath as typed_mpmath

import symgrad.ops  # noqa: F401  (registers the records, also while unpickling in a fresh process)
from symgrad.ir.graph import OPS, Node, Op, symbol
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import BOOL, REAL, Declaration
from symgrad.ops.sympy_bridge.objects import sympy
from symgrad.ops.sympy_bridge.write import Writer

_mpmath: Any = typed_mpmath
_ArgumentIndexError: Any = sympy.core.function.ArgumentIndexError


_x, _n, _low, _high = sympy.symbols("x n low high")


def _otherwise(end: Any) -> Callable[[Any, Any], Any]:
    return lambda condition, x: sympy.Piecewise((x, condition), (end, True))


def _spherical(n: Any, x: Any) -> Any:
    """Return sinc at order 0, else symgrad's class, since SymPy's jn has the wrong numeric sign for x < 0."""
    return sympy.sinc(x) if n == 0 else heads.spherical_jn(n, x)


_PLAIN: dict[str, Any] = {
    "cbrt": sympy.Lambda(_x, sympy.sign(_x) * sympy.Abs(_x) ** sympy.Rational(1, 3)),
    "clip": sympy.Lambda((_x, _low, _high), sympy.Min(sympy.Max(_x, _low), _high)),
    "dawsn": sympy.Lambda(_x, sympy.sqrt(sympy.pi) / 2 * sympy.exp(-(_x**2)) * sympy.erfi(_x)),
    "ellipeinc": sympy.Lambda((_x, _n), sympy.elliptic_e(_x, _n)),
    "erfcinv": sympy.Lambda(_x, sympy.erfcinv(_x)),
    "erfcx": sympy.Lambda(_x, sympy.exp(_x**2) * sympy.erfc(_x)),
    "exp1": sympy.Lambda(_x, sympy.expint(1, _x)),
    "ive": sympy.Lambda((_n, _x), sympy.exp(-sympy.Abs(_x)) * sympy.besseli(_n, _x)),
    "lgamma": sympy.Lambda(_x, sympy.log(sympy.Abs(sympy.gamma(_x)))),
    "log_ndtr": sympy.Lambda(_x, sympy.log(sympy.erfc(-_x / sympy.sqrt(2)) / 2)),
    "relu": sympy.Lambda(_x, sympy.Max(_x, 0)),
    "sinc": sympy.Lambda(_x, sympy.sinc(sympy.pi * _x)),
    "spherical_jn": _spherical,
    "sigmoid": sympy.Lambda(_x, 1 / (1 + sympy.exp(-_x))),
    "softplus": sympy.Lambda(_x, sympy.log(1 + sympy.exp(_x))),
    "where_minus_oo": _otherwise(-sympy.oo),
    "where_plus_oo": _otherwise(sympy.oo),
    "xor": sympy.Xor,
}
"""The expressions of symgrad's classes in terms of SymPy's own functions, for ``doit`` and ``rewrite``."""


class _Head:
    """The base of the SymPy classes of symgrad's ops, with derivative, numbers and facts from the op's record."""

    op: Op
    args: tuple[Any, ...]

    @property
    def operands(self) -> tuple[Any, ...]:
        """The arguments without the static parameters."""
        return self.args[1:] if self.op.parameters else self.args

    @property
    def params(self) -> tuple[Any, ...]:
        """The static parameters."""
        return self.args[0].params if self.op.parameters else ()

    def doit(self, *, deep: bool = True, **hints: Any) -> Any:
        args = tuple(a.doit(deep=deep, **hints) for a in self.args) if deep else self.args
        return _PLAIN.get(self.op.name, type(self))(*args)

    def _eval_rewrite(self, _rule: Any, args: Sequence[Any], **_hints: Any) -> Any:
        plain = _PLAIN.get(self.op.name)
        return plain(*args) if plain else None


class _FunctionHead(_Head, sympy.Function):
    def fdiff(self, argindex: int = 1) -> Any:
        position = argindex - 1 - bool(self.op.parameters)
        if not 0 <= position < self.op.arity:
            raise _ArgumentIndexError(self, argindex)
        partial, names = _partial(self.op, position, self.params)
        return partial.xreplace(dict(zip(names, self.operands, strict=True)))

    def _eval_mpmath(self) -> Any:
        op, params = self.op, self.params

        def value(*args: Any) -> Any:
            return op.reference(_mpmath.mp, *params, *map(_mpmath.mp.convert, args))  # SymPy may pass ints

        return value, self.operands

    def _eval_evalf(self, prec: int) -> Any:
        if "bool" in self.op.takes:  # SymPy only evaluates functions of numbers
            return self.doit(deep=False)._eval_evalf(prec)
        try:
            return sympy.Function._eval_evalf(self, prec)
        except TypeError:  # for a complex argument the op has no value
            return None

    def _eval_is_real(self) -> bool | None:
        return True if self.op.domain is None and all(a.is_real for a in self.operands) else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.op.facts & {"nonnegative", "positive"} and self._eval_is_real() else None

    def _eval_is_positive(self) -> bool | None:
        return True if "positive" in self.op.facts and self._eval_is_real() else None


class _BooleanHead(_Head, sympy.logic.boolalg.BooleanFunction):
    def to_nnf(self, simplify: bool = True) -> Any:  # SymPy's code printers call it
        plain = _PLAIN.get(self.op.name)
        return plain(*self.args).to_nnf(simplify) if plain else self


@cache
def _partial(op: Op, position: int, params: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Return a partial derivative of an op in SymPy, and its symbols for the arguments."""
    arguments = tuple(
        symbol(Declaration(f"argument_{i}", BOOL if t == "bool" else REAL)) for i, t in enumerate(op.takes)
    )
    rule = op.partials[position]
    if rule is None:
        raise _ArgumentIndexError(op.name, position + 1)
    return to_sympy([rule(op(*arguments, params=params), *arguments)])[0], tuple(to_sympy(arguments))


@cache
def head_of(op: Op) -> Any:
    """Return symgrad's SymPy class for an op."""

    def numeric(*args: Any) -> Any:  # for sympy.lambdify, in NumPy or mpmath
        static, operands = (args[0].params, args[1:]) if op.parameters else ((), args)
        if any(isinstance(a, _mpmath.mpf) for a in operands):
            return op.reference(_mpmath.mp, *static, *operands)
        return op.evaluate(*static, *operands)

    base: Any = _BooleanHead if op.gives == "bool" else _FunctionHead
    body: dict[str, Any] = {
        "op": op,
        "nargs": op.arity + bool(op.parameters),
        "_imp_": staticmethod(numeric),
        "__doc__": op.doc,
        "__module__": __name__,
        "__qualname__": f"heads.{op.name}",
    }
    return type(base)(op.name, (base,), body)


class _Heads:
    """SymPy classes for the ops that SymPy lacks, by the name of the op: ``heads.sigmoid(x)``.

    They can be differentiated, evaluated, printed and lambdified like SymPy's own functions, and they can be pickled.
    ``doit`` and ``rewrite`` replace them by SymPy's own functions if possible.
    """

    def __getattr__(self, name: str) -> Any:
        op = OPS.get(name)
        if op is None or op.name != name:
            raise AttributeError(name)
        return head_of(op)


heads = _Heads()


def to_sympy(nodes: Sequence[Node], symbols: Mapping[str, Any] | None = None) -> list[Any]:
    """Convert nodes to SymPy expressions, unevaluated and with their sharing.

    Args:
        nodes: the nodes; a tensor becomes a scalar symbol, because all ops act elementwise.
        symbols: SymPy symbols to use, by name, instead of new ones with assumptions from the declarations.

    Returns:
        One expression per node; equal subexpressions are the same object. ``from_sympy(to_sympy(nodes),
        declarations(nodes))`` gives the same nodes.

    Raises:
        RedefinitionError: if the same name stands for two symbols.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ops.scalar.arith import div
        >>> x = symbol(Declaration("x"))
        >>> to_sympy([div(x, x)])
        [x/x]
    """
    nodes = list(nodes)
    symbols_of(nodes)
    writer = Writer(nodes, symbols or {}, head_of)
    return [writer.done[node] for node in nodes]
