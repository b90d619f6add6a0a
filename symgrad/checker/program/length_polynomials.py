"""Lengths of axes in normal form: polynomials in names and in atoms, which are max, min and ceil of a quotient.

    Size ::= ((monomial, coefficient), ...)    sorted, no coefficient 0
    monomial ::= (atom, ...)                   sorted
    atom ::= name | ("max" | "min", Size, Size) | ("ceil", Size, divisor)

Names are at least 1. Lengths with the same form are equal for all values of the names; lengths with different forms may
be equal, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import compress, product
from typing import Any, TypeAlias

from symgrad.checker.limits import LENGTH_FACTORS, LENGTH_TERMS
from symgrad.checker.program.length_values import postfix
from symgrad.support.errors import UsageError

Size: TypeAlias = "tuple[tuple[tuple[Any, ...], int], ...]"

ZERO: Size = ()
ONE: Size = (((), 1),)


def _from_terms(terms: Mapping[tuple[Any, ...], int]) -> Size:
    if len(terms) > LENGTH_TERMS:
        raise UsageError("a length with too many terms")
    return tuple(sorted(((m, c) for m, c in terms.items() if c), key=repr))


def _number(value: int) -> Size:
    return _from_terms({(): value})


def _value(a: Size) -> int | None:
    """Return the value of a constant length, otherwise None."""
    if not a:
        return 0
    return a[0][1] if len(a) == 1 and not a[0][0] else None


def _atom(*atom: Any) -> Size:
    return (((atom,), 1),)


def add(sizes: Iterable[Size]) -> Size:
    """Return a sum."""
    total: dict[tuple[Any, ...], int] = {}
    for a in sizes:
        for monomial, c in a:
            total[monomial] = total.get(monomial, 0) + c
    return _merge_min_max(_from_terms(total))


def _merge_min_max(a: Size) -> Size:
    """Simplify min(a, b) + max(a, b) to a + b, also after a common shift: min(2, n) + max(n - 2, 0) = n."""
    atoms = [(m, c, k, x) for m, c in a for k, x in enumerate(m) if not isinstance(x, str)]
    smaller, larger = ([t for t in atoms if t[3][0] == op] for op in ("min", "max"))
    for (m, c, i, low), (w, d, j, high) in product(smaller, larger):
        rest = (*m[:i], *m[i + 1 :])
        if rest != (*w[:j], *w[j + 1 :]) or (c > 0) != (d > 0):
            continue
        gap, other = subtract(low[1], low[2]), subtract(high[1], high[2])
        end = high[2] if gap == other else high[1] if add([gap, other]) == ZERO else None
        if end is not None:
            by = min(abs(c), abs(d)) * (1 if c > 0 else -1)
            left = _from_terms({**dict(a), m: c - by, w: d - by})
            return add([left, multiply([((rest, by),), add([low[1], end])])])
    return a


def multiply(sizes: Iterable[Size]) -> Size:
    """Return a product; 1 if there are no factors."""
    result = ONE
    for a in sizes:
        terms: dict[tuple[Any, ...], int] = {}
        for m, c in result:
            for n, d in a:
                monomial = tuple(sorted((*m, *n), key=repr))
                terms[monomial] = terms.get(monomial, 0) + c * d
        result = _from_terms(terms)
    return result


def scale(a: Size, by: int) -> Size:
    """Return a multiple."""
    return _from_terms({m: c * by for m, c in a})


def subtract(a: Size, b: Size) -> Size:
    """Return a difference."""
    return add([a, scale(b, -1)])


def is_nonnegative(a: Size) -> bool:
    """Tell whether a length is certainly nonnegative, perhaps since a maximum is at least each of its two lengths."""
    if _has_no_negative_part(a):
        return True
    if all(c >= 0 for _, c in a):
        return False
    return any(
        is_nonnegative(add([a, ((m, -c),), scale(least, c)]))
        for m, c in a
        if c > 0 and len(m) == 1 and not isinstance(m[0], str) and m[0][0] == "max"
        for least in (m[0][1], m[0][2])
    )


def _has_no_negative_part(a: Size) -> bool:
    """Tell whether no coefficient of a length is negative after substituting n = 1 + (n - 1)."""
    above: dict[tuple[Any, ...], int] = {}
    for m, c in a:
        if not all(isinstance(x, str) or _atom_has(x, is_nonnegative) for x in m):
            return False
        names = [x for x in m if isinstance(x, str)]
        if len(names) > LENGTH_FACTORS:
            return False
        others = tuple(x for x in m if not isinstance(x, str))
        for chosen in product((False, True), repeat=len(names)):
            kept = tuple(compress(names, chosen))
            above[kept, others] = above.get((kept, others), 0) + c
    return all(c >= 0 for c in above.values())


def _atom_has(atom: Any, holds: Callable[[Size], bool]) -> bool:
    """Tell whether a maximum, a minimum or a rounded quotient has a property that every larger length also has."""
    if atom[0] == "ceil":
        return holds(atom[1])
    known = (holds(atom[1]), holds(atom[2]))
    return any(known) if atom[0] == "max" else all(known)


def _clamp_argument(a: Size) -> Size | None:
    """Return p if a length is max(p, 0), otherwise None."""
    if len(a) == 1 and a[0][1] == 1 and len(a[0][0]) == 1:
        (atom,) = a[0][0]
        if not isinstance(atom, str) and atom[0] == "max" and atom[2] == ZERO:
            return atom[1]
    return None


def _max(a: Size, b: Size) -> Size:
    if b == ZERO and a:
        constant = dict(a).get((), 0)
        inner = _clamp_argument(subtract(a, _number(constant))) if constant < 0 else None
        if inner is not None:  # max(max(p, 0) - 1, 0) is max(p - 1, 0)
            return _max(add([inner, _number(constant)]), ZERO)
    difference = subtract(a, b)
    if is_nonnegative(difference):
        return a
    return b if is_nonnegative(scale(difference, -1)) else _atom("max", a, b)


def _min(a: Size, b: Size) -> Size:
    difference = subtract(a, b)
    if is_nonnegative(difference):
        return b
    if is_nonnegative(scale(difference, -1)):
        return a
    p, q = _clamp_argument(a), _clamp_argument(b)
    if p is not None and (q is not None or is_nonnegative(b)):  # min(max(p, 0), q) is max(min(p, q), 0)
        return _max(_min(p, b if q is None else q), ZERO)
    if q is not None and is_nonnegative(a):
        return _max(_min(a, q), ZERO)
    return _atom("min", a, b)


def _ceil(a: Size, by: int) -> Size:
    if by < 1:
        raise UsageError("a length divided by a number that is not positive")
    if all(c % by == 0 for _, c in a):
        return _from_terms({m: c // by for m, c in a})
    number = _value(a)
    return _atom("ceil", a, by) if number is None else _number(-(-number // by))


class _Quotient:
    """A quotient that is not yet rounded up."""

    def __init__(self, above: Size, below: int) -> None:
        self.above, self.below = above, below


@lru_cache(maxsize=4096)
def length_polynomial(length: int | str) -> Size:
    """Return the normal form of a length.

    Raises:
        UsageError: if the text is not a length.

    Example:
        >>> pairs = (("n*(m + 1) - n", "m*n"), ("max(n, 0)", "n"), ("n", "m"))
        >>> tuple(length_polynomial(a) == length_polynomial(b) for a, b in pairs)
        (True, True, False)
    """
    if isinstance(length, int):
        return _number(length)
    stack: list[Size | _Quotient] = []
    for item in postfix(length):
        if isinstance(item, Fraction):
            stack.append(_number(int(item)))
        elif item.isidentifier():
            stack.append((((item,), 1),))
        elif item == "ceil()":
            top = stack.pop()
            if not isinstance(top, _Quotient):
                raise UsageError(f"'{length}' rounds something that is not a quotient")
            stack.append(_ceil(top.above, top.below))
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(_apply_operator(item, left, right))
    found = stack.pop()
    if isinstance(found, _Quotient):
        raise UsageError(f"the length '{length}' is a quotient that is not rounded")
    return found


def length_text(a: Size) -> str:
    """Return a length as text, of which it is the normal form.

    Example:
        >>> [length_text(length_polynomial(a)) for a in ("max(n - 2, 0)*2 - m", "ceil((2*n - 1)/2)", "n - n")]
        ['2*max(n - 2, 0) - m', 'ceil((2*n - 1)/2)', '0']
    """
    terms = [
        "*".join([str(c), *map(_atom_text, m)]).replace("1*", "", abs(c) == 1)
        for m, c in sorted(a, key=lambda t: t[1] < 0)
    ]
    return " + ".join(terms).replace("+ -", "- ") or "0"


def _atom_text(atom: Any) -> str:
    if isinstance(atom, str):
        return atom
    op, first, second = atom
    one = length_text(first)
    return f"ceil(({one})/{second})" if op == "ceil" else f"{op}({one}, {length_text(second)})"


def _apply_operator(operator: str, left: Size | _Quotient, right: Size | _Quotient) -> Size | _Quotient:
    if isinstance(left, _Quotient) or isinstance(right, _Quotient):
        raise UsageError("a quotient in a length that is not rounded")
    match operator:
        case "+":
            return add([left, right])
        case "-":
            return subtract(left, right)
        case "*":
            return multiply([left, right])
        case "max()":
            return _max(left, right)
        case "min()":
            return _min(left, right)
        case _:
            below = _value(right)
            if below is None or below < 1:
                raise UsageError("a length divided by something that is not a positive number")
            return _Quotient(left, below)


def empty_axis_condition(length: int | str) -> str:
    """Return as text the condition on the names under which an axis has no entries; "" if it always has entries.

    Example:
        >>> [empty_axis_condition(n) for n in ("n", "max(n - 1, 0)", "max(2*n - 7, 0)", "max(n - m, 0)")]
        ['', 'n = 1', 'n < 4', 'max(n - m, 0) < 1']
    """
    form = length_polynomial(length)
    if _is_positive(form):
        return ""
    inner = _clamp_argument(form) or form
    names = [m[0] for m, _ in inner if len(m) == 1 and isinstance(m[0], str)]
    factor = dict(inner).get((names[0],), 0) if len(names) == 1 else 0
    if factor > 0 and {m for m, _ in inner} <= {(), (names[0],)}:
        least = -((dict(inner).get((), 0) - 1) // factor)  # the smallest value for which there is an entry
        return f"{names[0]} = 1" if least == 2 else f"{names[0]} < {least}"
    return f"{length} < 1"


def _is_positive(a: Size) -> bool:
    if is_nonnegative(subtract(a, ONE)):
        return True
    if len(a) != 1 or a[0][1] < 1:
        return False
    return all(isinstance(x, str) or _atom_has(x, _is_positive) for x in a[0][0])


def slice_length(whole: Size, start: int | str | None, stop: int | str | None, step: int) -> Size:
    """Return the length of a NumPy slice of an axis; symbolic ends must be at least 0.

    Example:
        >>> n = length_polynomial("n")
        >>> slice_length(n, 1, None, 1) == length_polynomial("max(n - 1, 0)")
        True
        >>> slice_length(n, -2, None, 1) == length_polynomial("min(2, n)")
        True
    """
    length = _value(whole)
    ends = [None if e is None else length_polynomial(e) for e in (start, stop)]
    low, high = (None if e is None else _value(e) for e in ends)
    if length is not None and all(e is None or _value(e) is not None for e in ends):
        first, last, _ = slice(low, high, step).indices(length)
        return _number(max(0, -((first - last) // step)))
    begin, end = ends
    if step > 0:
        return _forward_slice_length(whole, begin, None if end == whole else end, step)
    if begin is None:
        begin = subtract(whole, ONE)
    elif low is not None and low < 0:
        begin = add([whole, begin])
    else:
        begin = _min(begin, subtract(whole, ONE))
    if end is None:
        end = _number(-1)
    elif high is not None and high < 0:
        end = _max(add([whole, end]), _number(-1))
    return _ceil(_max(subtract(begin, end), ZERO), -step)


def _forward_slice_length(whole: Size, begin: Size | None, end: Size | None, step: int) -> Size:
    low, high = (None if e is None else _value(e) for e in (begin, end))
    if begin is not None and low is not None and low < 0:
        if end is None:
            return _ceil(_min(_number(-low), whole), step)
        begin = _max(add([whole, begin]), ZERO)
    if end is None:
        last = whole
    elif high is not None and high < 0:
        last = add([whole, end])
    else:
        last = _min(end, whole)
    return _ceil(_max(subtract(last, begin or ZERO), ZERO), step)
