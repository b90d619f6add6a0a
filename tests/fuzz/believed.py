"""What a reader believes of a printed statement: the lines that `check` prints, read anew and put to the test.

Nothing here is symgrad's: Python reads the expressions, mpmath and NumPy know what functions are.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

__all__ = ["Believed", "Undefined", "differ", "draw"]

mp: Any = mpmath.MPContext()
mp.dps = 40


class Undefined(Exception):  # noqa: N818
    """An expression has no value at a point."""


# -------------------------------------------------------------------------------------------------------- declarations

_NAME = r"[^\W\d]\w*"
_NUMBER = r"-?[0-9]+(?:/[0-9]+)?"
_SIZE = re.compile(rf"({_NAME}) : size, ({_NAME}) >= 1")
_DECLARED = re.compile(
    rf"({_NAME}) : (real|int|bool|complex)(?:\((-oo|{_NUMBER}), (oo|{_NUMBER})\))?(?:\[([^]]*)\])?( symmetric)?"
    rf"(?:, (?:({_NUMBER}) < )?({_NAME})(?: < ({_NUMBER}))?)?"
)
_DRAWN = re.compile(rf"({_NAME}) ~ (\w+)\(({_NUMBER}(?:, {_NUMBER})*)\)(?:\[([^]]*)\])?")
_SUPPORTS = {
    "Uniform": lambda a, b: ("real", a, b),
    "Normal": lambda _m, _s: ("real", None, None),
    "Beta": lambda _a, _b: ("real", Fraction(0), Fraction(1)),
    "Exponential": lambda _r: ("real", Fraction(0), None),
    "Bernoulli": lambda p: ("int", Fraction(p == 1) - 1, Fraction(2) - (p == 0)),
    "Poisson": lambda _r: ("int", Fraction(-1), None),
}


@dataclass(frozen=True)
class Variable:
    """What is declared of one: between which numbers it is, of what shape."""

    name: str
    kind: str
    low: Fraction | None
    high: Fraction | None
    shape: tuple[str, ...]
    symmetric: bool


def _end(text: str | None) -> Fraction | None:
    return None if text is None or "oo" in text else Fraction(text)


def _shape(text: str | None) -> tuple[str, ...]:
    return tuple(text.split(", ")) if text else ()


def _variable(line: str) -> Variable:
    if found := _DECLARED.fullmatch(line):
        name, kind, low, high, shape, symmetric, least, again, most = found.groups()
        assert again in (None, name)
        ends = (_end(low), _end(high)) if kind == "real" else (_end(least), _end(most))
        return Variable(name, kind, *ends, _shape(shape), symmetric is not None)
    found = _DRAWN.fullmatch(line)
    assert found, line
    name, family, parameters, shape = found.groups()
    return Variable(name, *_SUPPORTS[family](*map(Fraction, parameters.split(", "))), _shape(shape), False)


# ---------------------------------------------------------------------------------------------------------- statements


@dataclass
class Believed:
    """A statement as it is printed.

    Args:
        lines: as `check` prints them.
    """

    lines: Sequence[str]
    sizes: list[str] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    definitions: dict[str, ast.expr] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert all(line.isprintable() for line in self.lines)
        # What is spelled out is a letter: that of a name that is read from right to left, say.
        *rest, claim = (
            re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), line) for line in self.lines
        )
        for line in rest:
            if found := _SIZE.fullmatch(line):
                assert found[1] == found[2]
                self.sizes.append(found[1])
            elif " = " in line:
                name, text = line.split(" = ")
                assert re.fullmatch(_NAME, name)
                assert name not in self.definitions
                self.definitions[name] = _parsed(text)
            else:
                self.variables.append(_variable(line))
        names = [*self.sizes, *(v.name for v in self.variables), *self.definitions]
        assert len(set(names)) == len(names)
        left, right = claim.split(" = ")
        derivative = re.fullmatch(rf"d\((.*)\)/d({_NAME})", left)
        self.wrt = derivative[2] if derivative else None
        self.left, self.right = _parsed(derivative[1] if derivative else left), _parsed(right)
        self.complex = any(v.kind == "complex" for v in self.variables)

    def sides(self, point: Mapping[str, Any]) -> tuple[Any, Any]:
        """The two sides at a point; of a derivative in a direction, if it is one by an array.

        Raises:
            Undefined: if a side has no value there.
        """
        here = _At(self, point, None)
        right = here.value(self.right)
        if self.wrt is None:
            return here.value(self.left), right
        step = mp.mpf(10) ** -12
        direction = self._direction(point)
        moved = [
            _At(self, {**point, self.wrt: point[self.wrt] + sign * step * direction}, here).value(self.left)
            for sign in (1, -1)
        ]
        slope = (moved[0] - moved[1]) / (2 * step)
        here.value(self.left)
        axes = np.ndim(point[self.wrt])
        return slope, np.sum(right * direction, axis=tuple(range(-axes, 0))) if axes else right

    def _direction(self, point: Mapping[str, Any]) -> Any:
        if not np.ndim(point[self.wrt]):
            return mp.mpf(1)
        rng = random.Random(1)
        return np.array(
            [mp.mpf(rng.uniform(-1, 1)) for _ in range(point[self.wrt].size)], dtype=object
        ).reshape(point[self.wrt].shape)


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def draw(b: Believed, rng: random.Random) -> dict[str, Any]:
    """A random point of the declared domains."""
    sizes = {name: rng.randint(1, 4) for name in b.sizes}
    point: dict[str, Any] = dict(sizes)
    for v in b.variables:
        shape = tuple(int(_At(b, sizes, None).value(_parsed(n))) for n in v.shape)
        entries = [_entry(v, rng, sizes) for _ in range(int(np.prod(shape, dtype=int)))]
        value = np.array(entries, dtype=object).reshape(shape) if shape else entries[0]
        if v.symmetric:
            value = np.where(np.tri(*shape, dtype=bool), value, value.T)
        point[v.name] = value
    return point


def _entry(v: Variable, rng: random.Random, sizes: Mapping[str, int]) -> Any:
    if v.kind == "bool":
        return rng.random() < 0.5
    if v.kind == "complex":
        return mp.mpc(rng.uniform(-3, 3), rng.uniform(-3, 3))
    if v.kind == "int":
        reach = max([4, *sizes.values()])
        low = -reach if v.low is None else v.low.__floor__() + 1
        high = low + 2 * reach if v.high is None else v.high.__ceil__() - 1
        return int(rng.randint(low, max(low, high)))
    low = v.low if v.low is not None else v.high - 3 if v.high is not None else Fraction(-3)
    high = v.high if v.high is not None else low + 6
    return mp.mpf(low.numerator) / low.denominator + mp.mpf(rng.random()) * mp.mpf((high - low).numerator) / (
        (high - low).denominator
    )


def differ(left: Any, right: Any) -> bool:
    """Whether some entry of two values is certainly another, where both are numbers."""
    left, right = np.broadcast_arrays(np.asarray(left, dtype=object), np.asarray(right, dtype=object))
    for x, y in zip(left.ravel(), right.ravel(), strict=True):
        if x is None or y is None:
            continue
        if isinstance(x, bool) and isinstance(y, bool):
            if x != y:
                return True
        elif abs(mp.mpmathify(x) - y) > 1e-10 * (1 + abs(mp.mpmathify(x)) + abs(mp.mpmathify(y))):
            return True
    return False


# --------------------------------------------------------------------------------------------------------- expressions


class _At:
    """Expressions at a point; ``frozen``: the point for what `stop_gradient` holds."""

    def __init__(self, b: Believed, point: Mapping[str, Any], frozen: _At | None) -> None:
        self.b, self.point, self.frozen = b, point, frozen
        self.known: dict[str, Any] = {}

    def value(self, e: ast.expr) -> Any:
        try:
            return self._value(e)
        except (ZeroDivisionError, ValueError, OverflowError, IndexError) as error:
            raise Undefined from error

    def _value(self, e: ast.expr) -> Any:
        match e:
            case ast.Constant(bool(v)):
                return v
            case ast.Constant(int(v)):
                return mp.mpf(v)
            case ast.Name("pi"):
                return +mp.pi
            case ast.Name(name) if name in self.point:
                return self.point[name]
            case ast.Name(name):
                if name not in self.known:
                    self.known[name] = self._value(self.b.definitions[name])
                return self.known[name]
            case ast.UnaryOp(ast.USub(), x):
                return _each(lambda v: -v, self._value(x))
            case ast.UnaryOp(ast.Not(), x):
                return _each(lambda v: not v, self._value(x))
            case ast.BinOp(x, op, y):
                return _each(self._operators()[type(op)], self._value(x), self._value(y))
            case ast.BoolOp(op, values):
                fold = all if isinstance(op, ast.And) else any
                return _each(lambda *v: fold(v), *map(self._value, values))
            case ast.Compare(x, [op], [y]):
                return _each(_COMPARISONS[type(op)], self._value(x), self._value(y))
            case ast.Call(ast.Name("where"), [c, x, y], []):
                return self._where(c, x, y)
            case ast.Call(ast.Name("stop_gradient"), [x], []):
                return (self.frozen or self)._value(x)
            case ast.Call(ast.Name(name), args, keywords):
                read = {"shape": self._value}
                named = {k.arg or "": read.get(k.arg or "", ast.literal_eval)(k.value) for k in keywords}
                return self._call(name, args, named)
            case ast.Tuple(values):
                return tuple(self._value(v) for v in values)
            case _:
                raise AssertionError(f"nobody reads {ast.dump(e)}")

    def _operators(self) -> Mapping[type, Any]:
        power = _complex_power if self.b.complex else _power
        return {ast.Add: lambda x, y: _number(x) + _number(y), ast.Mult: _times,
                ast.Div: lambda x, y: _number(x) / _number(y), ast.Pow: power}  # fmt: skip

    def _where(self, c: ast.expr, x: ast.expr, y: ast.expr) -> Any:
        truth = self._value(c)
        if not np.ndim(truth):
            return self._value(x if truth else y)
        return _each(lambda t, u, v: u if t else v, truth, self._value(x), self._value(y))

    def _call(self, name: str, args: list[ast.expr], named: Mapping[str, Any]) -> Any:
        if name in _CONSTANTS and not args:
            return _CONSTANTS[name]()
        if name == "einsum":
            return _einsum(ast.literal_eval(args[0]), *map(self._value, args[1:]))
        if name in ("slice", "unslice"):
            x = self._value(args[0])
            places = tuple(
                slice(*(None if _is_none(t) else int(self._value(t)) for t in triple.elts))  # type: ignore[attr-defined]
                for triple in args[1].elts  # type: ignore[attr-defined]
            )
            return x[places] if name == "slice" else _unslice(x, places, self._lengths(args[2]))
        values = [self._value(a) for a in args]
        if name in _ARRAYS:
            return _ARRAYS[name](*values, **named)
        functions = _COMPLEX if self.b.complex else _REAL
        assert name in functions, f"nobody reads {name}"
        return _each(functions[name], *values)

    def _lengths(self, e: ast.expr) -> tuple[int, ...]:
        return tuple(int(n) for n in self._value(e))


def _is_none(e: ast.expr) -> bool:
    return isinstance(e, ast.Constant) and e.value is None


def _each(function: Any, *args: Any) -> Any:
    """Apply a function to numbers, or to arrays entry by entry; entries without a value are None."""
    if not any(np.ndim(a) for a in args):
        return function(*args)

    def entry(*values: Any) -> Any:
        try:
            return None if None in values else function(*values)
        except (Undefined, ZeroDivisionError, ValueError, OverflowError):
            return None

    arrays = np.broadcast_arrays(*(np.asarray(a, dtype=object) for a in args))
    out = np.empty(arrays[0].shape, dtype=object)
    for place in np.ndindex(out.shape):
        out[place] = entry(*(a[place] for a in arrays))
    return out


def _number(x: Any) -> Any:
    return mp.mpf(int(x)) if isinstance(x, (bool, int)) else x


def _times(x: Any, y: Any) -> Any:
    return _number(x) * _number(y)


def _power(x: Any, y: Any) -> Any:
    x, y = _number(x), _number(y)
    if y == int(y):
        return x ** int(y)
    if x < 0 or (x == 0 and y < 0):
        raise Undefined
    return x**y


def _complex_power(x: Any, y: Any) -> Any:
    x, y = _number(x), _number(y)
    if mp.im(y) == 0 and mp.re(y) == int(mp.re(y)):
        return x ** int(mp.re(y))
    if x == 0:
        if mp.re(y) > 0:
            return mp.mpf(0)
        raise Undefined
    return mp.exp(y * mp.log(x))


_COMPARISONS: Mapping[type, Any] = {
    ast.Lt: lambda x, y: bool(x < y),
    ast.LtE: lambda x, y: bool(x <= y),
    ast.Gt: lambda x, y: bool(x > y),
    ast.GtE: lambda x, y: bool(x >= y),
    ast.Eq: lambda x, y: bool(x == y),
    ast.NotEq: lambda x, y: bool(x != y),
}
_CONSTANTS = {
    "E": lambda: +mp.e,
    "EulerGamma": lambda: +mp.euler,
    "Catalan": lambda: +mp.catalan,
    "GoldenRatio": lambda: +mp.phi,
}


def _on(low: float | None, high: float | None, function: Any, *, closed: bool = True) -> Any:
    """A function of the numbers between two ends."""

    def apply(x: Any) -> Any:
        x = _number(x)
        if (low is not None and (x < low or (x == low and not closed))) or (high is not None and x > high):
            raise Undefined
        return function(x)

    return apply


def _numeric(name: str) -> Any:
    function = getattr(mp, name)
    return lambda x: function(_number(x))


_EVERYWHERE = "exp sin cos tan atan sinh cosh tanh asinh erf erfc gamma".split()  # noqa: SIM905
_WITH_BRANCHES = "log sqrt asin acos acosh atanh".split()  # noqa: SIM905
_REAL: Mapping[str, Any] = {
    **{name: _numeric(name) for name in _EVERYWHERE},
    "expm1": lambda x: mp.expm1(_number(x)),
    "sqrt": _on(0, None, mp.sqrt),
    "log": _on(0, None, mp.log, closed=False),
    "log1p": _on(-1, None, lambda x: mp.log1p(x), closed=False),
    "asin": _on(-1, 1, mp.asin),
    "acos": _on(-1, 1, mp.acos),
    "acosh": _on(1, None, mp.acosh),
    "abs": lambda x: abs(_number(x)),
    "sign": lambda x: mp.sign(_number(x)),
    "floor": lambda x: mp.floor(_number(x)),
    "ceil": lambda x: mp.ceil(_number(x)),
    "maximum": lambda x, y: max(_number(x), _number(y)),
    "minimum": lambda x, y: min(_number(x), _number(y)),
    "relu": lambda x: max(_number(x), mp.mpf(0)),
    "sigmoid": lambda x: 1 / (1 + mp.exp(-_number(x))),
    "cbrt": lambda x: mp.sign(_number(x)) * mp.cbrt(abs(_number(x))),
    "xor": lambda x, y: x != y,
    "atan2": lambda y, x: mp.atan2(_number(y), _number(x)),
    "hypot": lambda x, y: mp.hypot(_number(x), _number(y)),
}
_COMPLEX: Mapping[str, Any] = {
    **{name: _numeric(name) for name in (*_EVERYWHERE, *_WITH_BRANCHES)},
    "expm1": lambda x: mp.exp(_number(x)) - 1,
    "log1p": lambda x: mp.log(1 + _number(x)),
    "abs": lambda x: abs(_number(x)),
    "sign": lambda x: mp.sign(_number(x)),
    "sigmoid": lambda x: 1 / (1 + mp.exp(-_number(x))),
}


# -------------------------------------------------------------------------------------------------------------- arrays


def _sum(values: Sequence[Any]) -> Any:
    return None if any(v is None for v in values) else sum(values, mp.mpf(0))


def _einsum(spec: str, *args: Any) -> Any:
    terms, result = spec.split("->")
    labels = terms.split(",")
    lengths = {
        i: n for own, a in zip(labels, args, strict=True) for i, n in zip(own, np.shape(a), strict=True)
    }
    inner = [i for i in lengths if i not in result]
    out = np.empty(tuple(lengths[i] for i in result), dtype=object)
    for place in np.ndindex(out.shape):
        outer = dict(zip(result, place, strict=True))
        found = []
        for rest in np.ndindex(*(lengths[i] for i in inner)):
            at = outer | dict(zip(inner, rest, strict=True))
            factors = [
                np.asarray(a, dtype=object)[tuple(at[i] for i in own)]
                for own, a in zip(labels, args, strict=True)
            ]
            found.append(None if None in factors else _product(factors))
        out[place] = _sum(found)
    return out if result else out[()]


def _product(factors: Sequence[Any]) -> Any:
    value = mp.mpf(1)
    for f in factors:
        value = value * _number(f)
    return value


def _over(fold: Any) -> Any:
    def reduced(x: Any, axis: tuple[int, ...]) -> Any:
        kept = [k for k in range(x.ndim) if k not in axis]
        out = np.empty(tuple(x.shape[k] for k in kept), dtype=object)
        rows = np.moveaxis(x, kept, range(len(kept)))
        for place in np.ndindex(out.shape):
            row = rows[place].ravel().tolist() if kept else x.ravel().tolist()
            out[place] = None if not row or any(v is None for v in row) else fold(row)
        return out if kept else out[()]

    return reduced


def _cumsum(x: Any, axis: int, reverse: bool) -> Any:
    turned = np.flip(x, axis) if reverse else x
    summed = np.empty(x.shape, dtype=object)
    rows, sums = np.moveaxis(turned, axis, -1), np.moveaxis(summed, axis, -1)
    for place in np.ndindex(rows.shape):
        sums[place] = _sum(rows[place[:-1]][: place[-1] + 1].tolist())
    return np.flip(summed, axis) if reverse else summed


def _unslice(x: Any, places: tuple[slice, ...], shape: tuple[int, ...]) -> Any:
    out = np.full(shape, mp.mpf(0), dtype=object)
    out[places] = x
    return out


def _gather(x: Any, *indices: Any, axes: tuple[int, ...]) -> Any:
    """x at the positions of some axes in a row, counted from either end."""
    places = np.broadcast_arrays(*(np.asarray(i, dtype=object) for i in indices))
    kept = [k for k in range(x.ndim) if k not in axes]
    rows = np.moveaxis(x, axes, range(len(axes)))
    out = np.empty((*places[0].shape, *(x.shape[k] for k in kept)), dtype=object)
    for place in np.ndindex(places[0].shape):
        at = [int(p[place]) for p in places]
        inside = all(-n <= i < n for i, n in zip(at, rows.shape, strict=False))
        out[place] = rows[tuple(at)] if inside else np.full(out.shape[places[0].ndim :], None)[()]
    many = places[0].ndim
    return np.moveaxis(out, range(many), range(axes[0], axes[0] + many)) if out.ndim else out[()]


def _scatter_add(values: Any, *indices: Any, axes: tuple[int, ...], shape: Any) -> Any:
    out = np.full(tuple(int(n) for n in shape), mp.mpf(0), dtype=object)
    places = np.broadcast_arrays(*(np.asarray(i, dtype=object) for i in indices))
    many = places[0].ndim
    rows = np.moveaxis(np.asarray(values, dtype=object), range(axes[0], axes[0] + many), range(many))
    into = np.moveaxis(out, axes, range(len(axes)))
    for place in np.ndindex(places[0].shape):
        at = tuple(int(p[place]) for p in places)
        if not all(-n <= i < n for i, n in zip(at, into.shape, strict=False)):
            raise Undefined
        into[at] = _each(lambda x, y: x + y, into[at], rows[place])
    return out


def _one_hot(index: Any, depth: Any) -> Any:
    index = np.asarray(index, dtype=object)
    return np.array(
        [[mp.mpf(int(i) == k) for k in range(int(depth))] for i in index.ravel()], dtype=object
    ).reshape((*index.shape, int(depth)))


def _soft(x: Any, axis: tuple[int, ...]) -> Any:
    e = _each(lambda v: mp.exp(_number(v)), x)
    shape = tuple(1 if k in axis else n for k, n in enumerate(x.shape))
    total = _over(lambda row: sum(row, mp.mpf(0)))(e, axis)
    return _each(lambda v, t: v / t, e, np.asarray(total, dtype=object).reshape(shape))


def _mean(row: Sequence[Any]) -> Any:
    return sum(map(_number, row), mp.mpf(0)) / len(row)


_ARRAYS: Mapping[str, Any] = {
    "mean": _over(_mean),
    "max": _over(max),
    "min": _over(min),
    "prod": _over(_product),
    "norm": _over(lambda row: mp.sqrt(sum((v * v for v in row), mp.mpf(0)))),
    "logsumexp": _over(lambda row: mp.log(sum(map(mp.exp, row), mp.mpf(0)))),
    "softmax": _soft,
    "log_softmax": lambda x, axis: _each(mp.log, _soft(x, axis)),
    "cumsum": _cumsum,
    "reshape": lambda x, shape: np.asarray(x, dtype=object).reshape(tuple(int(n) for n in shape)),
    "broadcast_to": lambda x, shape: np.broadcast_to(
        np.asarray(x, dtype=object), tuple(int(n) for n in shape)
    ),
    "concatenate": lambda xs, axis: np.concatenate([np.asarray(x, dtype=object) for x in xs], axis),
    "gather": _gather,
    "scatter_add": _scatter_add,
    "one_hot": _one_hot,
    "arange": lambda n: np.array([mp.mpf(k) for k in range(int(n))], dtype=object),
    "eye": lambda n, m: np.array(
        [[mp.mpf(i == j) for j in range(int(m))] for i in range(int(n))], dtype=object
    ),
}
