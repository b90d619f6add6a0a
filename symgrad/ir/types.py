"""Shapes, kinds of value, domains and distributions: what is known of a variable before it is computed.

Shape        ::= (Size*)                                             -- see `ir/sizes.py`; a name is bound by the inputs
Kind         ::= "real" | "int" | "bool"                             -- of the value, not of its storage
Domain       ::= Kind, interval, name                                -- `positive` is real with the interval (0, oo),
                                                                        `int(0, k - 1)` has a size as an end
Distribution ::= name(parameters)                                    -- parameters as in sympy.stats
Declaration  ::= name, Domain, Shape, Distribution | None            -- everything that makes a symbol
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from keyword import iskeyword
from typing import Any, Literal, TypeAlias, TypeVar, cast
from unicodedata import normalize

from symgrad.errors import DeclarationError, ShapeError
from symgrad.ir.bounds import check_axes
from symgrad.ir.exact import decimal_digits
from symgrad.ir.sizes import (
    Extent,
    Shape,
    Size,
    least_value,
    names_of,
    size_min,
    size_product,
)

__all__ = [
    "BOOL",
    "DISTRIBUTIONS",
    "DOMAINS",
    "INT",
    "NAME",
    "NONNEGATIVE",
    "POSITIVE",
    "REAL",
    "Declaration",
    "Distribution",
    "DistributionFamily",
    "Domain",
    "End",
    "Kind",
    "Number",
    "Shape",
    "Size",
    "broadcast_shapes",
    "decimal_text",
    "fitting",
    "is_name",
]

NAME = r"[^\W\d][\w\u0300-\u036f]*"
"""What names in texts look like, as a regular expression: letters, digits, _ and accents (x\u0302)."""

Kind: TypeAlias = Literal["real", "int", "bool"]
Number: TypeAlias = "int | Fraction"
End: TypeAlias = "Number | Size"


def broadcast_shapes(shapes: Iterable[Shape]) -> Shape:
    """Return the shape that NumPy broadcasting gives, for sizes that may be names.

    Args:
        shapes: the operands' shapes. A named size matches itself and 1, nothing else.

    Raises:
        ShapeError: if two sizes differ and neither is 1.

    Example:
        >>> broadcast_shapes([("n", 1), (5,)])
        ('n', 5)
    """
    result: list[Size] = []
    for shape in shapes:
        if len(shape) > len(result):
            result[:0] = [1] * (len(shape) - len(result))
        offset = len(result) - len(shape)
        for i, size in enumerate(shape):
            present = result[offset + i]
            if size == present or size == 1:
                continue
            if present != 1:
                raise ShapeError(
                    f"sizes {present} and {size} do not broadcast",
                    expected="equal sizes, or one of them 1",
                    cure="a slice x[:, :1] may be empty: write x[:, 0][:, None] for one column"
                    if _may_be_empty(present) or _may_be_empty(size)
                    else "check the declared shapes of the operands",
                )
            result[offset + i] = size
    return tuple(result)


def fitting(a: tuple[str, Shape], b: tuple[str, Shape]) -> str | None:
    """Return what makes two operands fit that do not broadcast: axes that one of them has in front of the others.

    Args:
        a: the text of one, and its shape.
        b: that of the other.

    Example:
        >>> fitting(("A", ("n", 3)), ("b", ("n",)))
        'b goes with the first axis of A: write b[:, None]'
    """
    (short, few), (long, many) = sorted((a, b), key=lambda term: len(term[1]))
    missing = len(many) - len(few)
    try:
        broadcast_shapes([(*few, *[1] * missing), many])
    except ShapeError:
        return None
    if not few or not missing:
        return None
    whole = short.isidentifier() or (short[0] == "(" and short.find(")") == len(short) - 1)
    text = short if whole else f"({short})"
    which = "axis" if len(few) == 1 else "axes"
    subscript = ", ".join([":"] * len(few) + ["None"] * missing)
    return f"{short} goes with the first {which} of {long}: write {text}[{subscript}]"


def _may_be_empty(size: Size) -> bool:
    """Tell whether a size is one, or zero where an axis is empty: the length of x[:1]."""
    return isinstance(size, Extent) and any(size == size_min(1, name) for name in names_of(size))


def decimal_text(value: Number) -> str | None:
    """Return the finite decimal spelling of an exact number, or None if it has none.

    Example:
        >>> decimal_text(Fraction(9, 10)), decimal_text(Fraction(1, 3))
        ('0.9', None)
    """
    found = decimal_digits(abs(value))
    if found is None:
        return None
    digits, places = found
    sign = "-" if value < 0 else ""
    if not places:
        return sign + digits
    digits = digits.rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


@dataclass(frozen=True, slots=True)
class Domain:
    """The values a symbol may take.

    Args:
        name: how it is written in a program (``real``, ``positive``, ``nonnegative``, ``int``, ``bool``).
        kind: the kind of value.
        low, high: ends of the interval, exact, or None for none; those of whole numbers may be sizes of axes.
        closed: whether the ends belong to it (``real(0, 1)`` is open, ``int(0, 1)`` closed).

    Example:
        >>> from symgrad.ir.sizes import size_sum
        >>> labels = Domain("int", "int", 0, size_sum(["k", -1]), closed=True)
        >>> print(labels, labels.span, labels.sizes)
        int(0, k - 1) (0, None) ('k',)
    """

    name: str
    kind: Kind
    low: End | None = None
    high: End | None = None
    closed: bool = False

    @property
    def span(self) -> tuple[Number | None, Number | None]:
        """The numbers between which the values are whatever the sizes are, None for no end."""
        low, high = self.low, self.high
        if isinstance(low, str | Extent):
            low = least_value(low)
        if isinstance(high, str | Extent):
            least = least_value(size_product([-1, high]))
            high = None if least is None else -least
        return low, high

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of sizes that its ends are computed from."""
        ends = (e for e in (self.low, self.high) if isinstance(e, str | Extent))
        return tuple(names_of(*ends))

    def __str__(self) -> str:
        if self.name not in DOMAINS or DOMAINS[self.name] == self:
            return self.name
        low, high = (
            none if end is None else _end_text(end) for end, none in ((self.low, "-oo"), (self.high, "oo"))
        )
        return f"{self.name}({low}, {high})"


REAL = Domain("real", "real")
POSITIVE = Domain("positive", "real", low=0)
NONNEGATIVE = Domain("nonnegative", "real", low=0, closed=True)
INT = Domain("int", "int")
BOOL = Domain("bool", "bool")
DOMAINS = {d.name: d for d in (REAL, POSITIVE, NONNEGATIVE, INT, BOOL)}


T = TypeVar("T")

# Written by arity, so that the type checker reads inside the lambdas of the table.
OfParameters: TypeAlias = "Callable[[Number], T] | Callable[[Number, Number], T]"
Call: TypeAlias = tuple[str, tuple[float, ...]]
Draw: TypeAlias = "Callable[[float], Call] | Callable[[float, float], Call]"


@dataclass(frozen=True, slots=True)
class DistributionFamily:
    """One row of the table of distributions: parameters, their conditions and the support.

    Args:
        parameters: names of the parameters, in the order in which ``sympy.stats`` takes them.
        valid: tells from the parameters whether they are admissible.
        requires: that condition in words.
        support: the Domain of the values, from the parameters.
        draw: how NumPy's Generator draws from it: method name and arguments from the parameters as floats.
    """

    parameters: tuple[str, ...]
    valid: OfParameters[bool]
    requires: str
    support: OfParameters[Domain]
    draw: Draw


def _interval(low: Number | None, high: Number | None, *, closed: bool = False) -> Domain:
    return Domain("real", "real", low, high, closed)


DISTRIBUTIONS: dict[str, DistributionFamily] = {
    "Uniform": DistributionFamily(
        ("low", "high"),
        lambda a, b: a < b,
        "low < high",
        lambda a, b: _interval(a, b, closed=True),
        lambda a, b: ("uniform", (a, b)),
    ),
    "Normal": DistributionFamily(
        ("mean", "sd"), lambda m, s: s > 0, "sd > 0", lambda m, s: REAL, lambda m, s: ("normal", (m, s))
    ),
    "LogNormal": DistributionFamily(
        ("mean", "sd"),
        lambda m, s: s > 0,
        "sd > 0",
        lambda m, s: POSITIVE,
        lambda m, s: ("lognormal", (m, s)),
    ),
    "Exponential": DistributionFamily(
        ("rate",), lambda r: r > 0, "rate > 0", lambda r: POSITIVE, lambda r: ("exponential", (1 / r,))
    ),
    "Gamma": DistributionFamily(
        ("k", "theta"),
        lambda k, t: k > 0 and t > 0,
        "k > 0 and theta > 0",
        lambda k, t: POSITIVE,
        lambda k, t: ("gamma", (k, t)),
    ),
    "Beta": DistributionFamily(
        ("a", "b"),
        lambda a, b: a > 0 and b > 0,
        "a > 0 and b > 0",
        lambda a, b: _interval(0, 1),
        lambda a, b: ("beta", (a, b)),
    ),
    "Laplace": DistributionFamily(
        ("mean", "scale"),
        lambda m, s: s > 0,
        "scale > 0",
        lambda m, s: REAL,
        lambda m, s: ("laplace", (m, s)),
    ),
    "Bernoulli": DistributionFamily(
        ("p",),
        lambda p: 0 <= p <= 1,
        "0 <= p <= 1",
        lambda p: Domain("int", "int", 1 if p == 1 else 0, 0 if p == 0 else 1, True),
        lambda p: ("binomial", (1, p)),
    ),
    "Poisson": DistributionFamily(
        ("rate",),
        lambda r: r > 0,
        "rate > 0",
        lambda r: Domain("int", "int", 0, None, True),
        lambda r: ("poisson", (r,)),
    ),
}


@dataclass(frozen=True, slots=True)
class Distribution:
    """A family with its parameters, all exact.

    Raises:
        DeclarationError: if the family is unknown or the parameters do not fit it.

    Example:
        >>> print(Distribution("Uniform", (Fraction(9, 10), Fraction(11, 10))))
        Uniform(0.9, 1.1)
    """

    name: str
    parameters: tuple[Number, ...]

    def __post_init__(self) -> None:
        family = DISTRIBUTIONS.get(self.name)
        if family is None:
            raise DeclarationError(
                f"unknown distribution '{self.name}'", expected="one of " + ", ".join(DISTRIBUTIONS)
            )
        if len(self.parameters) != len(family.parameters):
            raise DeclarationError(
                f"{self.name} got {len(self.parameters)} parameters",
                expected=f"{self.name}({', '.join(family.parameters)})",
            )
        if not cast("Callable[..., Any]", family.valid)(*self.parameters):
            raise DeclarationError(f"{self} is not a distribution", expected=family.requires)

    @property
    def support(self) -> Domain:
        """The values it takes."""
        return cast("Callable[..., Domain]", DISTRIBUTIONS[self.name].support)(*self.parameters)

    def draw(self, generator: Any, shape: int | tuple[int, ...]) -> Any:
        """Return independent draws.

        Args:
            generator: a ``numpy.random.Generator``.
            shape: the shape of the array of draws.
        """
        draw = cast("Callable[..., Call]", DISTRIBUTIONS[self.name].draw)
        method, arguments = draw(*map(float, self.parameters))
        return getattr(generator, method)(*arguments, size=shape)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(_text, self.parameters))})"


def _text(value: Number) -> str:
    return decimal_text(value) or str(value)


def _end_text(end: End) -> str:
    return str(end) if isinstance(end, str | Extent) else _text(end)


def is_name(text: str) -> bool:
    """Tell whether the notation can declare a name: only then does what is printed read back.

    Example:
        >>> [is_name(t) for t in ("x", "x_1", "sin", "1x", "lambda", "pi", "__x", "\N{FULLWIDTH LATIN SMALL LETTER X}")]
        [True, True, True, False, False, False, False, False]
    """
    plain = text.isidentifier() and normalize("NFKC", text) == text
    return (
        plain
        and re.fullmatch(NAME, text) is not None
        and not (iskeyword(text) or text.startswith("__") or text in ("pi", "π"))
    )


@dataclass(frozen=True, slots=True)
class Declaration:
    """Everything that makes a symbol: two symbols are one exactly when these agree.

    Args:
        name: the name.
        domain: the values it may take.
        shape: its shape.
        distribution: what it is drawn from.
        symmetric: whether its values are matrices that are their own transposes.

    Raises:
        DeclarationError: if what is declared symmetric is no square matrix, or is drawn.
        ShapeError: if an axis is longer than any array.

    Example:
        >>> print(Declaration("X", REAL, ("n", 5)))
        X : real[n, 5]
        >>> print(Declaration("S", REAL, ("n", "n"), symmetric=True))
        S : real[n, n] symmetric
    """

    name: str
    domain: Domain = REAL
    shape: Shape = ()
    distribution: Distribution | None = None
    symmetric: bool = False

    def __post_init__(self) -> None:
        check_axes(self.shape)
        if self.symmetric and (len(self.shape) != 2 or self.shape[0] != self.shape[1]):
            raise DeclarationError(
                f"'{self.name}' is declared symmetric and is no square matrix",
                expected="two axes of one size, such as real[n, n] symmetric",
                cure="correct the shape; of a stack of matrices X, (X + swapaxes(X, 1, 2))/2 is symmetric",
            )
        if self.symmetric and self.distribution is not None:
            raise DeclarationError(
                f"'{self.name}' is declared symmetric and is drawn entry by entry",
                expected="symmetric after a domain",
                cure=f"draw {self.name} without it, and write ({self.name} + {self.name}.T)/2",
            )

    def __str__(self) -> str:
        shape = f"[{', '.join(map(str, self.shape))}]" if self.shape else ""
        if self.distribution is not None:
            return f"{self.name} ~ {self.distribution}{shape}"
        return f"{self.name} : {self.domain}{shape}{' symmetric' if self.symmetric else ''}"
