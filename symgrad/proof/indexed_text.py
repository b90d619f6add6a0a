"""Forms as text, for messages and for the conditions of a proof."""

from __future__ import annotations

import re

from symgrad.proof.indexed_terms import Form, Terms

__all__ = ["opposite", "text"]

_LONGEST = 200
_OPPOSITE = (
    (" > 0", " <= 0"),
    (" >= 0", " < 0"),
    (" >= 1", " < 1"),
    (" != 0", " = 0"),
    (" is in the domain of ", " is not in the domain of "),
    (" is no jump of ", " is a jump of "),
    (" is not singular", " is singular"),
    (" has one entry that is its ", " has several different entries that tie for its "),
)


def opposite(condition: str) -> str:
    """Return where a condition does not hold, which is where nothing is claimed.

    Example:
        >>> opposite("x[a0] != 0"), opposite("X is not singular")
        ('x[a0] = 0', 'X is singular')
    """
    for holds, fails in _OPPOSITE:
        before, found, after = condition.rpartition(holds)
        if found:
            return before + fails + after.removesuffix(", or equal ones")
    return f"not: {condition}"


def text(t: Terms, form: Form) -> str:
    """Return a form as one reads it, cut where it is long."""
    found = _form(t, form)
    for k, name in enumerate(
        dict.fromkeys(re.findall(r"\?\d+", found))
    ):  # names that were made up on the way
        found = re.sub(re.escape(name) + r"\b", f"i{k}", found)
    return found if len(found) <= _LONGEST else found[: _LONGEST - 3] + "..."


def _form(t: Terms, form: Form, level: int = 0) -> str:
    if level > 3:
        return "..."
    terms: list[str] = []
    for monomial, c in sorted(form.items()):
        parts = [] if c == 1 and monomial else [str(c) if c.denominator == 1 else f"({c})"]
        for (lengths, own), exponent in monomial:
            factors: list[str] = []
            for h, positions, e in own:
                head = t.heads[h]
                total = e if lengths else e * exponent
                inner = ", ".join(_form(t, f, level + 1) for f in head.forms)
                name = str(head.params[0]) if head.params and not head.forms else head.kind
                shown = f"({inner})" if head.kind == "sum" else name + (f"({inner})" if inner else "")
                shown += f"[{', '.join(positions)}]" if positions else ""
                factors.append(
                    shown
                    if total == 1
                    else f"{shown}**{total if total.denominator == 1 and total > 0 else f'({total})'}"
                )
            product = "*".join(factors)
            if lengths:
                product = f"sum({product})"
                product += f"**{exponent}" if exponent != 1 else ""
            parts.append(product)
        terms.append("*".join(parts))
    return " + ".join(terms) if terms else "0"
