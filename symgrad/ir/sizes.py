"""Sizes of axes: numbers, names, and polynomials in names.

Size     ::= int | name | Extent
Extent   ::= a polynomial over atoms with integer coefficients           -- n + m, 2*n, n*m
SizeAtom ::= name | max(Size, Size) | min(Size, Size) | ceil(Size/Size)  -- lengths of slices

Extents have a canonical form, as polynomials over their atoms, so shapes are simply compared with ``==``. Names stand
for sizes of at least zero, so max(n, 0) is n.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Literal, NamedTuple, Self, TypeAlias, cast

from symgrad.ir.exact import SIZE_TERMS, exact_value
from symgrad.support.errors import InternalError, NumberTooLargeError, ShapeError, UsageError
from symgrad.support.traversal import leaves

Size: TypeAlias = "int | str | Extent"
Shape: TypeAlias = "tuple[Size, ...]"


class SizeAtom(NamedTuple):
    """An atom of extents: the larger or smaller of two sizes, or a quotient rounded up."""

    op: Literal["max", "min", "ceildiv"]
    a: Size
    b: Size

    def __str__(self) -> str:
        return (
            f"ceil(({extent_text(self.a)})/{_factor(self.b)})"
            if self.op == "ceildiv"
            else f"{self.op}({extent_text(self.a)}, {extent_text(self.b)})"
        )


_Monomial: TypeAlias = "tuple[str | SizeAtom, ...]"


def not_called(size: Size, axis: int = 0) -> Size:
    """Raise an error for torch's ``x.size(axis)``, since NumPy's ``x.size`` is the number of all entries.

    Raises:
        UsageError: always.
    """
    raise UsageError(f"size is {extent_text(size)}, the number of all entries", cure=f"x.shape[{axis!r}]")


@dataclass(frozen=True, slots=True, repr=False)
class Extent:
    """A size that is a polynomial in names.

    Args:
        terms: the monomials with their coefficients, in a fixed order; the monomial of the constant term is ().

    Example:
        >>> print(size_sum(["n", "n", size_product([3, "m"]), -1]))
        3*m + 2*n - 1
    """

    terms: tuple[tuple[_Monomial, int], ...]

    __call__ = not_called

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return polynomial_text(self, str, extent_text)


def polynomial_text(
    size: Extent, atom: Callable[[SizeAtom], str], coefficient: Callable[[int], str] = str
) -> str:
    """Return an extent as text; the functions in the arguments write its atoms and coefficients."""
    text = ""
    for monomial, c in size.terms:
        factors = [a if isinstance(a, str) else atom(a) for a in monomial]
        if abs(c) != 1 or not factors:
            factors.insert(0, coefficient(abs(c)))
        sign = (" - " if c < 0 else " + ") if text else ("-" if c < 0 else "")
        text += sign + "*".join(factors)
    return text


def _factor(size: Size) -> str:
    return f"({size})" if isinstance(size, Extent) else extent_text(size)


def extent_text(size: Size) -> str:
    """Return the text of a size, or of any integer, for a message: all its digits if they are few.

    Example:
        >>> extent_text(2**64), extent_text(-(10**30)), extent_text(10**5000), extent_text("n")
        ('18446744073709551616', 'about -1e30', 'about 1e5000', 'n')
    """
    if not isinstance(size, int) or abs(size) < 10**24:
        return str(size)
    digits = int(abs(size).bit_length() * 0.30102999566398120)  # the decimal logarithm, or one more
    if abs(size) < 10**digits:
        digits -= 1
    return f"about {'-' * (size < 0)}1e{digits}"


def _terms(size: Size) -> dict[_Monomial, int]:
    if isinstance(size, int):
        return {(): size} if size else {}
    return {(size,): 1} if isinstance(size, str) else dict(size.terms)


def _size(terms: Mapping[_Monomial, int]) -> Size:
    """Return a polynomial as a size.

    Raises:
        NumberTooLargeError: if the polynomial has very many terms, or numbers with very many digits.
    """
    nonzero = {m: int(exact_value(c)) for m, c in terms.items() if c}
    _check_terms(nonzero)
    if not nonzero:
        return 0
    joined = _joined(nonzero) if len(nonzero) > 1 else None
    if joined is not None:
        return joined
    if len(nonzero) == 1:
        ((monomial, c),) = nonzero.items()
        if not monomial:
            return c
        if c == 1 and len(monomial) == 1 and isinstance(monomial[0], str):
            return monomial[0]
    # The constant comes last, as in notation.
    return Extent(tuple(sorted(nonzero.items(), key=lambda t: (not t[0], tuple(map(str, t[0]))))))


def _check_terms(terms: Mapping[_Monomial, int]) -> None:
    if len(terms) > SIZE_TERMS:
        raise NumberTooLargeError(
            f"a size with more than {SIZE_TERMS} terms",
            expected="a polynomial in the names of sizes that one can write out",
            cure="declare an array with an axis of this length, and give the size a name: v : real[k]",
        )


def _joined(terms: Mapping[_Monomial, int]) -> Size | None:
    """Add a minimum and a maximum whose sum is a polynomial: min(2, n) + max(n - 2, 0) is n.

    Return None if there is no such pair.
    """
    smaller, larger = (
        [(m, a) for m in terms for a in m if isinstance(a, SizeAtom) and a.op == op] for op in ("min", "max")
    )
    for (m, low), (w, high) in product(smaller, larger):
        by = min(abs(terms[m]), abs(terms[w])) * (1 if terms[m] > 0 else -1)
        rest = _without(m, low)
        if rest != _without(w, high) or (terms[m] > 0) != (terms[w] > 0):
            continue
        gap, other = (size_sum([x.a, size_product([-1, x.b])]) for x in (low, high))
        end = high.b if gap == other else high.a if size_sum([gap, other]) == 0 else None
        if end is not None:
            left = {**terms, m: terms[m] - by, w: terms[w] - by}
            return size_sum([_size(left), size_product([by, _size({rest: 1}), size_sum([low.a, end])])])
    return None


def _without(monomial: _Monomial, atom: SizeAtom) -> _Monomial:
    at = monomial.index(atom)
    return (*monomial[:at], *monomial[at + 1 :])


def size_sum(sizes: Iterable[Size]) -> Size:
    """Return the sum of sizes."""
    total: dict[_Monomial, int] = {}
    for size in sizes:
        for monomial, c in _terms(size).items():
            total[monomial] = total.get(monomial, 0) + c
    return _size(total)


def size_product(sizes: Iterable[Size]) -> Size:
    """Return the product of sizes; the empty product is 1.

    Example:
        >>> print(size_product(["n", 5, "m"]))
        5*m*n
    """
    result: dict[_Monomial, int] = {(): 1}
    for size in sizes:
        terms = _terms(size)
        found: dict[_Monomial, int] = {}
        for a, c in result.items():
            for b, d in terms.items():
                monomial = tuple(sorted((*a, *b), key=str))
                found[monomial] = found.get(monomial, 0) + c * d
        _check_terms(found)
        result = found
    return _size(result)


def size_quotient(total: Size, part: Size) -> Size | None:
    """Return total/part if it is exact for all values of the names, and part is a single product; else None.

    Example:
        >>> print(size_quotient(size_product(["n", 10]), 5))
        2*n
    """
    divisor = _terms(part)
    if len(divisor) != 1:
        return 1 if total == part else None
    ((monomial, c),) = divisor.items()
    quotient: dict[_Monomial, int] = {}
    for m, d in _terms(total).items():
        left = list(m)
        for atom in monomial:
            if atom not in left:
                return None
            left.remove(atom)
        if d % c:
            return None
        quotient[tuple(left)] = d // c
    return _size(quotient)


def nonnegative(size: Size) -> bool:
    """Tell whether a size is provably at least zero for all values of the names.

    Example:
        >>> nonnegative(size_sum([size_max(size_sum(["n", -1]), 0), 1, size_product([-1, "n"])]))
        True
    """
    terms = _terms(size)
    if all(c >= 0 and all(map(_at_least_zero, monomial)) for monomial, c in terms.items()):
        return True
    if all(c >= 0 for c in terms.values()):
        return False
    # A maximum is at least each of its two sizes.
    return any(
        nonnegative(
            size_sum([size, size_product([-c, _atom("max", atom.a, atom.b)]), size_product([c, least])])
        )
        for monomial, c in terms.items()
        if c > 0 and len(monomial) == 1 and isinstance(atom := monomial[0], SizeAtom) and atom.op == "max"
        for least in (atom.a, atom.b)
    )


def least_value(size: Size) -> int | None:
    """Return a lower bound of a size for all values of the names; None if unknown.

    Example:
        >>> least_value(size_sum(["n", -1])), least_value(size_sum([3, size_product([-1, "n"])]))
        (-1, None)
    """
    constant = dict(_terms(size)).get((), 0)
    return constant if nonnegative(size_sum([size, -constant])) else None


def _at_least_zero(atom: str | SizeAtom) -> bool:
    if isinstance(atom, str):
        return True
    known = (nonnegative(atom.a), nonnegative(atom.b))
    return any(known) if atom.op == "max" else all(known)


def _atom(op: Literal["max", "min", "ceildiv"], a: Size, b: Size) -> Extent:
    return Extent(((((SizeAtom(op, a, b)),), 1),))


def bare_size(size: Size) -> Size:
    """Return n for the maximum of n and 0; any other size unchanged."""
    bare = clamped(size)
    return size if bare is None else bare


def clamped(size: Size) -> Size | None:
    """Return p for a size max(p, 0); None for any other size."""
    if isinstance(size, Extent) and len(size.terms) == 1:
        monomial, c = size.terms[0]
        if c == 1 and len(monomial) == 1 and isinstance(monomial[0], SizeAtom):
            atom = monomial[0]
            return atom.a if atom.op == "max" and atom.b == 0 else None
    return None


def size_max(a: Size, b: Size) -> Size:
    """Return the larger of two sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    if b == 0 and isinstance(a, Extent):
        constant = dict(a.terms).get((), 0)
        inner = clamped(size_sum([a, -constant])) if constant < 0 else None
        if inner is not None:  # max(max(p, 0) - 1, 0) is max(p - 1, 0)
            return size_max(size_sum([inner, constant]), 0)
    difference = size_sum([a, size_product([-1, b])])
    if nonnegative(difference):
        return a
    return b if nonnegative(size_product([-1, difference])) else _atom("max", a, b)


def size_min(a: Size, b: Size) -> Size:
    """Return the smaller of two sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    difference = size_sum([a, size_product([-1, b])])
    if nonnegative(difference):
        return b
    if nonnegative(size_product([-1, difference])):
        return a
    p, q = clamped(a), clamped(b)
    if p is not None and (q is not None or nonnegative(b)):  # min(max(p, 0), q) is max(min(p, q), 0)
        return size_max(size_min(p, b if q is None else q), 0)
    if q is not None and nonnegative(a):
        return size_max(size_min(a, q), 0)
    return _atom("min", a, b)


def size_ceildiv(a: Size, b: int) -> Size:
    """Return a/b rounded up, for a positive b."""
    if isinstance(a, int):
        return -(-a // b)
    exact = size_quotient(a, b)
    return exact if exact is not None else _atom("ceildiv", a, b)


_ATOMS: dict[str, Callable[[int, int], int]] = {"max": max, "min": min, "ceildiv": lambda a, b: -(-a // b)}


def evaluate_size(size: Size, sizes: Mapping[str, int]) -> int:
    """Return a size as a number.

    Raises:
        ShapeError: if a name has no value.
    """
    if isinstance(size, int):
        return size
    if isinstance(size, str):
        if size not in sizes:
            raise ShapeError(
                f"the size {size} has no value", cure="pass an input that has this size in its declared shape"
            )
        return sizes[size]
    return sum(c * prod(_value(a, sizes) for a in monomial) for monomial, c in size.terms)


def unsure_lengths(shapes: Iterable[Shape]) -> list[Size]:
    """Return the computed lengths of axes that may be negative for some values of their names, each once.

    Example:
        >>> from symgrad.ir.sizes import size_max, size_sum
        >>> unsure_lengths([("n", size_sum(["n", -5])), (size_max(size_sum(["n", -5]), 0),)])
        [n - 5]
    """
    lengths = dict.fromkeys(size for shape in shapes for size in shape if isinstance(size, Extent))
    return [size for size in lengths if not nonnegative(size)]


def _value(atom: str | SizeAtom, sizes: Mapping[str, int]) -> int:
    if isinstance(atom, str):
        return evaluate_size(atom, sizes)
    return _ATOMS[atom.op](evaluate_size(atom.a, sizes), evaluate_size(atom.b, sizes))


class SizedParameter(ABC):
    """A static parameter that contains sizes and is no size or tuple itself."""

    @property
    @abstractmethod
    def size_names(self) -> Sequence[str]:
        """The names of the sizes in it."""

    @abstractmethod
    def with_sizes(self, names: Mapping[str, Size]) -> Self:
        """Return the parameter with other sizes substituted for names."""


def names_of(*items: Any) -> list[str]:
    """Return the names in sizes, each once, in order of appearance.

    Args:
        items: sizes, and tuples that contain sizes: shapes, static parameters of ops, tuples of these.

    Example:
        >>> names_of(size_sum(["n", -1]), ("m", (3, "n")))
        ['n', 'm']
    """
    return list(dict.fromkeys(leaves(cast("Any", items), _sizes_in)))


def _sizes_in(item: Any) -> Iterable[Any] | None:
    """Return the sizes in a size or tuple; None for a name."""
    if isinstance(item, str):
        return None
    if isinstance(item, Extent):
        atoms = [atom for monomial, _ in item.terms for atom in monomial]
        return [part for a in atoms for part in ((a,) if isinstance(a, str) else (a.a, a.b))]
    if isinstance(item, SizedParameter):
        return item.size_names
    return cast("tuple[Any, ...]", item) if isinstance(item, tuple) else ()


def parts_of(size: Size) -> list[Size]:
    """Return the operands of the atoms of a size.

    Example:
        >>> parts_of(size_max(size_sum(["n", -1]), 0))
        [n - 1, 0]
    """
    if not isinstance(size, Extent):
        return []
    atoms = [a for monomial, _ in size.terms for a in monomial if isinstance(a, SizeAtom)]
    return [part for atom in atoms for part in (atom.a, atom.b)]


def resolve(params: Any, sizes: Mapping[str, int]) -> Any:
    """Return static parameters with each size evaluated to a number."""
    if isinstance(params, tuple):
        return tuple(resolve(p, sizes) for p in cast("tuple[Any, ...]", params))
    if isinstance(params, str | Extent):
        return evaluate_size(params, sizes)
    if params is None or isinstance(params, int):
        return params
    if isinstance(params, SizedParameter):
        return params.with_sizes(sizes)
    raise InternalError(f"a static parameter of type {type(params).__name__}")
