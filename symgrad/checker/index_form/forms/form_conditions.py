"""Print the conditions that a proof about arrays excludes: zeros of denominators, singular matrices, kinks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import count
from string import ascii_lowercase

from symgrad.checker.index_form.forms.canonical_labels import Component, Form
from symgrad.checker.index_form.forms.terms import FormAlgebra, Head

_LONGEST = 200
_DEEPEST = 8
_INDEX_MARK = re.compile("\0([^\1]*)\1")
_LETTERS = "ijklpqrsuvwxyz" + ascii_lowercase
_SLOT = re.compile(r"\$\d+")
_FLIPPED = {"<= 0": ">= 0", "< 0": "> 0", "= 0": "= 0"}

_SIGNS = {"<": ("<= 0", "< 0", "= 0"), ">": (">= 0", "> 0", "= 0")}
_RELATION = re.compile(r" (?:[<>]=?|=) 0(?=$| for some )")

_Names = Mapping[str, str]


def merge_conditions(conditions: Iterable[str]) -> tuple[str, ...]:
    """Merge conditions that another condition covers: x < 0 and x = 0 become x <= 0.

    Example:
        >>> merge_conditions(["x < 0", "x = 0", "y = 0", "an entry of z = 0", "an entry of z <= 0"])
        ('x <= 0', 'y = 0', 'an entry of z <= 0')
    """
    found = dict.fromkeys(conditions)
    for condition in list(found):
        for either, strictly, zero in _SIGNS.values():
            one, other, both = (_RELATION.sub(f" {r}", condition, count=1) for r in (strictly, zero, either))
            if condition in (one, other) and (both in found or (one in found and other in found)):
                found = dict.fromkeys(both if c in (one, other) else c for c in found)
    return tuple(found)


def failure_condition(t: FormAlgebra, form: Form, what: str) -> str:
    """Return the condition that an entry of a form has a property, such as ``"is a whole number"``."""
    return _entry_condition(t, _FormWriter(t).form(form), what)


def zero_conditions(t: FormAlgebra, form: Form, relation: str, names: _Names | None = None) -> Iterator[str]:
    """Yield the conditions under which a form is zero, negative, or either.

    For a product, the conditions of its factors.

    Args:
        t: the algebra of forms.
        form: the form.
        relation: ``"= 0"``, ``"< 0"`` or ``"<= 0"``.
        names: the indices that fill the slots of the form.
    """
    write = _FormWriter(t)
    if len(form) > 1:
        text, negative = write.signed(form, names)
        yield _entry_condition(t, text, _FLIPPED[relation] if negative else relation)
        return
    for monomial, c in form.items():
        left: list[tuple[Component, Fraction]] = []
        zero: list[Component] = []
        parts = [(part, e) for part, e in monomial if not _is_positive(t, part)]
        inside = {_sign_argument(t, part, names) for part, _ in parts} - {""}
        for part, e in parts:
            if _without_sum_numbers(write.component(part, names)) in inside or (
                inside and _sign_argument(t, part, names)
            ):
                zero.append(part)  # u*sign(u) is the absolute value of u
            elif e.numerator % 2 == 0 or relation == "= 0":
                zero += [part] if e > 0 else []
            else:
                left.append((part, Fraction(1)))
        if relation != "< 0":
            for part in zero:
                yield from _component_zeros(t, part, names)
        if left or (c < 0 and relation != "= 0"):
            text = write.form({tuple(left): Fraction(1)}, names)
            yield _entry_condition(t, text, _FLIPPED[relation] if c < 0 else relation)


def singular_condition(t: FormAlgebra, form: Form, row: str, column: str, names: _Names | None = None) -> str:
    """Return the condition that a matrix is singular."""
    names = names or {}
    ways = ((row, column), (column, row))
    plain = [_FormWriter(t).matrix(form, *ends, names) for ends in ways]
    known = [text for text in plain if text is not None]
    if known:
        return _name_indices(t, min(known, key=lambda text: (text.count(".T"), text)), "is singular")
    texts = [_FormWriter(t).signed(form, {**names, i: "%row", j: "%column"})[0] for i, j in ways]
    return min(_name_indices(t, f"the matrix with entries {text}", "is singular") for text in texts)


def tie_condition(t: FormAlgebra, form: Form, kind: str) -> str:
    """Return the condition that different entries tie for the largest or the smallest."""
    text = _FormWriter(t).form(form)
    alone = _array_of_any_entry(text)
    what = alone or _name_indices(t, text, "")
    return f"different entries of {what} tie for its {kind}"


def _is_positive(t: FormAlgebra, part: Component) -> bool:
    return all(t.heads[h].positive for h, _, _ in part[1])


def _sign_argument(t: FormAlgebra, part: Component, names: _Names | None) -> str:
    """Return the text of u if a factor is sign(u), otherwise ""."""
    head, positions = t.heads[part[1][0][0]], part[1][0][1]
    if part[0] or head.kind != "sign":
        return ""
    return _without_sum_numbers(_FormWriter(t).form(head.forms[0], _slot_names(positions, names or {})))


def _without_sum_numbers(text: str) -> str:
    """Return a text without the numbers of its sums, so that equal forms have equal texts."""
    return re.sub(" \\d+\1", "\1", text)


def _component_zeros(t: FormAlgebra, part: Component, names: _Names | None) -> Iterator[str]:
    head, positions = t.heads[part[1][0][0]], part[1][0][1]
    if not part[0] and head.kind in ("sign", "sum", "cbrt"):
        yield from zero_conditions(t, head.forms[0], "= 0", _slot_names(positions, names or {}))
    elif not part[0] and head.kind == "det":
        yield singular_condition(t, head.forms[0], "$r", "$c", _slot_names(positions, names or {}))
    else:
        yield _entry_condition(t, _FormWriter(t).component(part, names), "= 0")


def _slot_names(positions: tuple[str, ...], names: _Names) -> dict[str, str]:
    return {f"${k}": names.get(p, p) for k, p in enumerate(positions)}


# ------------------------------------------------------------------------------------------------------------- indices


def _array_of_any_entry(text: str) -> str | None:
    """Return the name of the array if a text is a general entry of an array, otherwise None."""
    found = re.fullmatch("(\\w+)\\[(.*)\\]", text)
    indices = _INDEX_MARK.findall(text)
    plain = (
        found is not None
        and not _INDEX_MARK.sub("", found[2]).strip(", ")
        and len(set(indices)) == len(indices)
    )
    return found[1] if found is not None and plain else None


def _entry_condition(t: FormAlgebra, text: str, what: str) -> str:
    alone = _array_of_any_entry(text)
    return f"an entry of {alone} {what}" if alone else _name_indices(t, text, what)


def _name_indices(t: FormAlgebra, text: str, what: str) -> str:
    """Return a text with letters for its indices, followed by "for some" and the free letters."""
    taken = {str(p) for h in t.heads for p in h.params if h.kind in ("tensor", "size")}
    taken |= {n for h in t.heads for p in h.params for n in re.findall(r"\w+", str(p))}
    letters = _letters(taken)
    names: dict[str, str] = {}
    for index in _INDEX_MARK.findall(text):
        if index not in names:
            names[index] = next(letters)
    text = _INDEX_MARK.sub(lambda m: names[m[1]], text)
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    free = [letter for index, letter in names.items() if index[0] != "%"]
    where = f" for some {', '.join(free)}" if free and what else ""
    return f"{text} {what}{where}".rstrip()


def _letters(taken: set[str]) -> Iterator[str]:
    """Yield names of indices that differ from the names of arrays and sizes."""
    yield from (x for x in dict.fromkeys(_LETTERS) if x not in taken)
    yield from (x for k in count(1) if (x := f"i{k}") not in taken)


# --------------------------------------------------------------------------------------------------------------- forms


def _sum(terms: list[tuple[str, Fraction]]) -> str:
    """Return a sum as text, with the constant last."""
    found = ""
    for text, c in sorted(terms, key=lambda term: (not term[0], _INDEX_MARK.sub("", term[0]), term[0])):
        size = abs(c)
        shown = text if size == 1 and text else f"{size}*{text}" if text else str(size)
        sign = "-" if c < 0 else "+"
        found += f" {sign} {shown}" if found else shown if c > 0 else f"-{shown}"
    return found or "0"


def _mark_indices(indices: list[str]) -> str:
    marks = [f"\0{i}\1" for i in indices]
    return f"[{', '.join(marks)}]" if marks else ""


class _FormWriter:
    """Prints forms; indices are marked first, and get letters later."""

    def __init__(self, t: FormAlgebra) -> None:
        self.t = t
        self.sums = count()

    def signed(self, form: Form, names: _Names | None = None) -> tuple[str, bool]:
        """Return the text of a form without a leading minus sign, and whether it is the text of the negative form."""
        text = self.form(form, names)
        if not text.startswith("-"):
            return text, False
        return self.form({monomial: -c for monomial, c in form.items()}, names), True

    def form(self, form: Form, names: _Names | None = None, level: int = 0) -> str:
        if level > _DEEPEST:
            return "..."
        return _sum([(self._monomial([*m], names, level), c) for m, c in form.items()])

    def matrix(self, form: Form, row: str, column: str, names: _Names | None, level: int = 0) -> str | None:
        """Return a matrix as a sum of products of arrays without indices, otherwise None."""
        terms: list[tuple[str, Fraction]] = []
        for monomial, c in form.items():
            chains = [p for p, e in monomial if e == 1 and any({row, column} & {*f[1]} for f in p[1])]
            found = self._chain(chains[0], row, column) if len(chains) == 1 else None
            rest = [(p, e) for p, e in monomial if p not in chains]
            if found is None or any({row, column} & {*f[1]} for p, _ in rest for f in p[1]):
                return None
            terms.append((f"{self._monomial(rest, names, level)}*{found}" if rest else found, c))
        if len(terms) == 1:
            terms = [(terms[0][0], Fraction(1))]
        return _sum(terms)

    def _chain(self, part: Component, row: str, column: str) -> str | None:
        """Return a component as a matrix product from the row to the column, otherwise None."""
        left = list(part[1])
        used = Counter(i for _, positions, _ in left for i in positions)
        if any(n != (1 if i in (row, column) else 2) for i, n in used.items()):
            return None
        links: list[str] = []
        at = row
        while left:
            found = next((f for f in left if len(f[1]) == 2 and at in f[1] and f[2] == 1), None)
            head = None if found is None else self.t.heads[found[0]]
            if found is None or head is None or head.kind not in ("tensor", "delta"):
                return None
            left.remove(found)
            turned = found[1][0] != at and (1, 0) not in head.symmetries
            name = str(head.params[0])
            links.append(f"eye({name})" if head.kind == "delta" else f"{name}.T" if turned else name)
            at = found[1][0] if found[1][0] != at else found[1][1]
        return "@".join(links) if at == column else None

    def component(self, part: Component, names: _Names | None = None, level: int = 0) -> str:
        """Return the text of a component: a factor, or a sum of products."""
        lengths, own = part
        number = next(self.sums) if lengths else 0
        names = {**(names or {}), **{f"%{i}": f"%{i} {number}" for i in range(len(lengths))}}
        factors = [self._power(self._factor(self.t.heads[h], p, names, level), e) for h, p, e in own]
        if not lengths:
            return factors[0]
        bound = tuple(f"%{i}" for i in range(len(lengths)))
        if all(p == bound and self.t.heads[h].kind == "tensor" for h, p, _ in own):
            factors = [self._power(str(self.t.heads[h].params[0]), e) for h, _, e in own]
        return f"sum({'*'.join(factors)})"

    def _monomial(self, parts: list[tuple[Component, Fraction]], names: _Names | None, level: int) -> str:
        shown = [self._power(self.component(part, names, level), e) for part, e in parts]
        return "*".join(sorted(shown, key=lambda s: (_INDEX_MARK.sub("", s), s)))

    def _power(self, text: str, e: Fraction) -> str:
        if e == 1:
            return text
        return f"{text}**{e}" if e.denominator == 1 and e > 0 else f"{text}**({e})"

    def _factor(self, head: Head, positions: tuple[str, ...], names: _Names, level: int) -> str:
        indices = [names.get(p, p) for p in positions]
        at = _mark_indices(indices)
        if not head.forms:
            name = str(head.params[0]) if head.params else head.kind
            plain = {"delta": f"eye({name})", "iota": f"arange({name})"}.get(head.kind, name)
            return (plain if head.kind != "size" or plain.isidentifier() else f"({plain})") + at
        number = next(self.sums)
        filled = len({slot for f in head.forms for slot in _SLOT.findall(str(list(f)))})
        ends, rest = indices[: len(indices) - filled], indices[len(indices) - filled :]
        own = ("$r", "$c", *(f"$m{k}" for k in range(_DEEPEST)))
        inner = {i: f"%{i} {number}" for i in own} | {f"${k}": index for k, index in enumerate(rest)}
        texts = [
            self.matrix(f, "$r", "$c", inner, level + 1) or self.form(f, inner, level + 1) for f in head.forms
        ]
        at = _mark_indices(ends)
        return f"({texts[0]})" if head.kind == "sum" else f"{head.kind}({', '.join(texts)}){at}"
