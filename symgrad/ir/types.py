"""Shapes, kinds of value, domains and distributions: the types of variables.

Shape        ::= (Size*)                                             -- see `ir/sizes.py`; inputs bind the names
Kind         ::= "real" | "int" | "bool"                             -- of the value, not of its storage
Domain       ::= Kind, interval, name                                -- `positive` is real with the interval (0, oo),
                                                                        `int(0, k - 1)` has a size as an end
Distribution ::= name((Number | Node)*)                              -- parameters as in sympy.stats
Declaration  ::= name, Domain, Shape, Distribution | None            -- everything that identifies a symbol
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from keyword import iskeyword
from typing import Any, Literal, TypeAlias, cast
from unicodedata import normalize

from symgrad.ir.bounds import check_axes
from symgrad.ir.exact import decimal_digits
from symgrad.ir.sizes import Extent, Shape, Size, least_value, names_of, size_product, size_sum
from symgrad.support.errors import DeclarationError

NAME = r"[^\W\d][\w\u0300-\u036f]*"
"""The regular expression of names in texts: letters, digits, _ and accents (x\u0302)."""

Kind: TypeAlias = Literal["real", "int", "bool"]
Number: TypeAlias = "int | Fraction"
End: TypeAlias = "Number | Size"


def decimal_text(value: Number) -> str | None:
    """Return the decimal spelling of an exact number, or None if it is not finite.

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
    """The values of a symbol.

    Args:
        name: its name in programs (``real``, ``positive``, ``nonnegative``, ``int``, ``bool``).
        kind: the kind of value.
        low, high: the exact ends of the interval, or None for no end; the ends of an interval of integers may be sizes
            of axes.
        closed: whether the ends belong to the interval (``real(0, 1)`` is open, ``int(0, 1)`` is closed).

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
        """Bounds of the values for all sizes; None for no bound."""
        low, high = self.low, self.high
        if isinstance(low, str | Extent):
            low = least_value(low)
        if isinstance(high, str | Extent):
            least = least_value(size_product([-1, high]))
            high = None if least is None else -least
        return low, high

    def admits(self, value: Any) -> Any:
        """Tell whether numbers are in the interior, or in a closed domain of integers; for an array, entry by entry.

        Example:
            >>> REAL.admits(0), POSITIVE.admits(0), Domain("int", "int", 0, 3, closed=True).admits(0)
            (True, False, True)
        """
        low, high = self.span
        if self.kind == "int" and self.closed:
            return (low is None or value >= low) & (high is None or value <= high)
        return (low is None or value > low) & (high is None or value < high)

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of sizes in the ends of the interval."""
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


@dataclass(frozen=True, slots=True)
class Known:
    """Facts about a parameter of a distribution.

    Args:
        low, high: bounds of all entries of the parameter; None for no bound.
        shape: the shape of the parameter.
        size: the value of the parameter if it is a size, else None.
    """

    low: Number | None = None
    high: Number | None = None
    shape: Shape = ()
    size: Size | None = None


@dataclass(frozen=True, slots=True)
class DistributionFamily:
    """The fields of a family that declarations need; `symgrad.ops.random` has all other fields.

    Args:
        parameters: names of the parameters, in the order of ``sympy.stats``.
        requires: the condition on the parameters: comparisons with spaces around the signs, joined by ``and``.
        support: a function from the `Known` facts about each parameter to a Domain that contains all values; or the two
            parameters that are the ends of the support.
        vectors: whether its parameters have one more axis than a draw, at the end; all other axes broadcast.
        sizes: whether its parameters are sizes of axes.
        independent: whether the entries of an array are independent of each other.
    """

    parameters: tuple[str, ...]
    requires: str
    support: Callable[[Known], Domain] | Callable[[Known, Known], Domain] | tuple[str, str]
    vectors: bool = False
    sizes: bool = False
    independent: bool = True

    def comparisons(self) -> list[tuple[str, str, str]]:
        """Return the requirements, each as left side, sign and right side.

        A side is the name of a parameter or a number.

        Example:
            >>> DISTRIBUTIONS["Bernoulli"].comparisons()
            [('0', '<=', 'p'), ('p', '<=', '1')]
        """
        found: list[tuple[str, str, str]] = []
        for chain in self.requires.split(" and "):
            words = chain.split()
            found += [(words[i], words[i + 1], words[i + 2]) for i in range(0, len(words) - 2, 2)]
        return found


def _positions(count: Size | None) -> Domain:
    """Return the domain of the integers from 0 to a size minus 1; for None, of all integers from 0."""
    return Domain("int", "int", 0, None if count is None else size_sum([count, -1]), closed=True)


DISTRIBUTIONS: dict[str, DistributionFamily] = {
    "Uniform": DistributionFamily(("low", "high"), "low < high", ("low", "high")),
    "Normal": DistributionFamily(("mean", "sd"), "sd > 0", lambda mean, sd: REAL),
    "LogNormal": DistributionFamily(("mean", "sd"), "sd > 0", lambda mean, sd: POSITIVE),
    "Exponential": DistributionFamily(("rate",), "rate > 0", lambda rate: POSITIVE),
    "Gamma": DistributionFamily(("k", "theta"), "k > 0 and theta > 0", lambda k, theta: POSITIVE),
    "Beta": DistributionFamily(("a", "b"), "a > 0 and b > 0", lambda a, b: Domain("real", "real", 0, 1)),
    "Laplace": DistributionFamily(("mean", "scale"), "scale > 0", lambda mean, scale: REAL),
    "Cauchy": DistributionFamily(("x0", "gamma"), "gamma > 0", lambda x0, gamma: REAL),
    "Bernoulli": DistributionFamily(
        ("p",),
        "0 <= p <= 1",
        lambda p: Domain("int", "int", 1 if p.low == 1 else 0, 0 if p.high == 0 else 1, True),
    ),
    "Poisson": DistributionFamily(("rate",), "rate > 0", lambda rate: _positions(None)),
    "Categorical": DistributionFamily(
        ("p",), "p >= 0", lambda p: _positions(p.shape[-1] if p.shape else None), vectors=True
    ),
    "Permutation": DistributionFamily(
        ("n",), "n > 0", lambda n: _positions(n.size), sizes=True, independent=False
    ),
}

_DEPENDENT: dict[str, str] = {
    **dict.fromkeys(
        ("MultivariateNormal", "MvNormal", "MultivariateNormalTriL", "LowRankMultivariateNormal"),
        "declare independent entries, eps ~ Normal(0, 1)[k], and write z = mu + L @ eps, "
        "where L @ L.T is the covariance",
    ),
    "Dirichlet": "declare independent entries, g ~ Gamma(a, 1)[k], and write p = g/sum(g)",
    "Multinomial": "declare independent draws, c ~ Categorical(p)[n], and write counts = sum(one_hot(c, k), axis=0)",
}
"""Families whose entries depend on one another, under their common names, each with the independent form."""

_SIGNS: dict[str, Callable[[Number, Number], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Distribution:
    """A family with its parameters, which are exact numbers or nodes.

    `symgrad.rewrite.facts.distribution_params` checks nodes.

    Raises:
        DeclarationError: if the family is unknown or the parameters do not fit it.

    Example:
        >>> print(Distribution("Uniform", (Fraction(9, 10), Fraction(11, 10))))
        Uniform(0.9, 1.1)
    """

    name: str
    parameters: tuple[Any, ...]

    def __post_init__(self) -> None:
        if self.name in _DEPENDENT:
            raise DeclarationError(
                f"entries of a draw from {self.name} depend on one another",
                expected="a distribution whose entries are independent",
                cure=_DEPENDENT[self.name],
            )
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
        value = dict(zip(family.parameters, self.parameters, strict=True))
        for left, sign, right in family.comparisons():
            a, b = (value[side] if side in value else Fraction(side) for side in (left, right))
            if is_exact(a) and is_exact(b) and not _SIGNS[sign](a, b):
                raise DeclarationError(f"{self} is not a distribution", expected=family.requires)

    @property
    def family(self) -> DistributionFamily:
        """The family of the distribution."""
        return DISTRIBUTIONS[self.name]

    @property
    def formulas(self) -> tuple[Any, ...]:
        """The parameters that are Nodes."""
        return tuple(p for p in self.parameters if not is_exact(p))

    @property
    def support(self) -> Domain:
        """A domain that contains the draws for all values of the formulas in the parameters."""
        return self.support_for({})

    def support_for(self, known: Mapping[Any, tuple[Number | None, Number | None]]) -> Domain:
        """Return a domain that contains the draws.

        Args:
            known: bounds of the values of the formulas; None for no bound.
        """
        found = [_parameter_facts(p, *known.get(p, (None, None))) for p in self.parameters]
        support = self.family.support
        if callable(support):
            return cast("Callable[..., Domain]", support)(*found)
        low, high = (found[self.family.parameters.index(name)] for name in support)
        return Domain("real", "real", low.low, high.high, (low.low, high.high) != (None, None))

    def __str__(self) -> str:
        return self.text({})

    def text(self, written: Mapping[Any, str]) -> str:
        """Return the text of the distribution, with other texts for some of its formulas."""
        shown = (_text(p) if is_exact(p) else written.get(p) or _written(p) for p in self.parameters)
        return f"{self.name}({', '.join(shown)})"


def is_family(name: str) -> bool:
    """Tell whether a distribution has this name, including distributions that cannot be declared."""
    return name in DISTRIBUTIONS or name in _DEPENDENT


def is_exact(parameter: Any) -> bool:
    """Tell whether a parameter is a number; if not, it is a Node."""
    return isinstance(parameter, int | Fraction)


def _parameter_facts(parameter: Any, low: Number | None, high: Number | None) -> Known:
    if is_exact(parameter):
        return Known(parameter, parameter, size=parameter if isinstance(parameter, int) else None)
    is_size = parameter.op.name == "size"
    return Known(low, high, parameter.shape, parameter.params[0] if is_size else None)


_written: Callable[[Any], str] = repr


def write_formulas_with(text: Callable[[Any], str]) -> None:
    """Set the printer of formulas in declarations.

    `symgrad.ir.notation` imports this module, so it cannot be imported here.
    """
    global _written
    _written = text


def _text(value: Number) -> str:
    return decimal_text(value) or str(value)


def _end_text(end: End) -> str:
    return str(end) if isinstance(end, str | Extent) else _text(end)


def is_name(text: str) -> bool:
    """Tell whether programs can declare a name, so that printed programs parse.

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
    """The identity of a symbol: two symbols are the same exactly if their declarations agree.

    Args:
        name: the name.
        domain: the values of the symbol.
        shape: the shape of the symbol.
        distribution: the distribution of a random input.
        symmetric: whether the values are matrices that are equal to their transposes.

    Raises:
        DeclarationError: if a symmetric symbol is not a square matrix, or is random.
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

    @property
    def values(self) -> Domain:
        """The values of the symbol: its domain, or the support of its distribution."""
        return self.domain if self.distribution is None else self.distribution.support

    @property
    def formulas(self) -> tuple[Any, ...]:
        """The parameters of its distribution that are Nodes."""
        return () if self.distribution is None else self.distribution.formulas

    def __str__(self) -> str:
        return self.text({})

    def text(self, written: Mapping[Any, str]) -> str:
        """Return the declaration as a line of a program, with other texts for some formulas of its distribution."""
        shape = f"[{', '.join(map(str, self.shape))}]" if self.shape else ""
        if self.distribution is not None:
            return f"{self.name} ~ {self.distribution.text(written)}{shape}"
        return f"{self.name} : {self.domain}{shape}{' symmetric' if self.symmetric else ''}"
