"""Replace declared domains of names for one claim (the argument `domain`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node, symbol
from symgrad.ir.listing import one_of
from symgrad.ir.size_substitution import domain_with, size_with
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.types import NONNEGATIVE, REAL
from symgrad.ops.scalar.rounding import abs as size_of
from symgrad.support.errors import DeclarationError, UsageError
from symgrad.verification.verdict import Verdict

_COMPLEX = "complex"
_EXPECTED = 'a domain such as "positive", "real(0, 1)" or "complex", or a mapping such as {"x": "positive"}'


def validate_domain(domain: Any) -> Mapping[str, str] | str | None:
    """Check the argument `domain` and return it.

    Raises:
        UsageError: if it is neither a text, nor a mapping of names to texts, nor None.
    """
    if domain is None or (isinstance(domain, str) and domain.strip()):
        return domain
    if not isinstance(domain, Mapping):
        raise UsageError(f"the domain is {domain!r}", expected=_EXPECTED)
    for name, text in cast("Mapping[Any, Any]", domain).items():
        if not (isinstance(name, str) and isinstance(text, str) and text.strip()):
            raise UsageError(
                f"the domain of {name!r} is {text!r}",
                expected='text, such as {"x": "positive"} or {"x": "real(0, 1)"}',
            )
    return cast("Mapping[str, str]", domain)


def redeclare(
    nodes: Sequence[Node], domain: Mapping[str, str] | str | None, sizes: Mapping[str, Size] | None = None
) -> tuple[list[Node], list[str] | None]:
    """Redeclare names in other domains. Return also the complex names, or None if all numbers are real.

    Args:
        nodes: the sides of a claim.
        domain: as for `equal`.
        sizes: the sizes of the nodes in terms of the sizes in messages and domains.

    Raises:
        UsageError: for an invalid domain, or a name that no side reads.
        DeclarationError: if a domain has another shape than the name.
    """
    domain, nodes = validate_domain(domain), list(nodes)
    if not domain:
        return nodes, None
    symbols = {s.name: s for s in symbols_of(nodes)}
    if isinstance(domain, str):
        if domain.strip() != _COMPLEX:
            _declared("x", domain)
        plain = [n for n, s in symbols.items() if s.dtype == "real" and s.declaration.distribution is None]
        texts, is_complex = dict.fromkeys(plain, domain.strip()), domain.strip() == _COMPLEX
    else:
        texts = {name: text.strip() for name, text in domain.items()}
        is_complex = _COMPLEX in texts.values()
    unknown = next((name for name in texts if name not in symbols), None)
    if unknown is not None:
        raise UsageError(
            f"there is a domain for '{unknown}', which neither side reads", expected=one_of(symbols)
        )
    declared = {
        symbols[name]: _with_domain(symbols[name], text, sizes or {})
        for name, text in texts.items()
        if text != _COMPLEX
    }
    complexes = [name for name, text in texts.items() if text == _COMPLEX]
    return (substitute(nodes, declared) if declared else nodes), complexes if is_complex else None


def decide_with_ends(
    nodes: Sequence[Node],
    decide: Callable[[Sequence[Node], float], Verdict],
    seconds: float,
    by: Node | None = None,
) -> Verdict:
    """Decide a claim about nonnegative values by claims about open intervals, since proofs are about these.

    First decide the equivalent claim about ``abs(x)`` of a real ``x``. If it is neither proved nor refuted, decide the
    claim about positive values, and exclude 0.

    Args:
        nodes: the parts of the claim.
        decide: a function that decides a claim with such parts within a number of seconds.
        seconds: the time limit.
        by: the variable of a derivative. Its domain stays, since a claim does not include derivatives at the end of an
            interval.
    """
    found = [s for s in symbols_of(nodes) if s.declaration.domain == NONNEGATIVE and s is not by]
    if not found:
        return decide(nodes, seconds)
    real = {s: size_of(symbol(replace(s.declaration, domain=REAL))) for s in found}
    verdict = decide(substitute(nodes, real), seconds / 2)
    names = {s.name for s in found}
    if verdict.status == "refuted" and verdict.witness is not None:
        if verdict.regions:  # regions are defined by the signs of the substituted variables
            inside = decide(nodes, seconds / 2)
            if inside.status == "refuted":
                return replace(inside, seconds=verdict.seconds + inside.seconds)
        return replace(verdict, witness=_with_absolute(verdict.witness, names), regions=())
    if verdict.status in ("proved", "refuted"):
        gaps = (replace(u, point=_with_absolute(u.point, names)) for u in verdict.undefined)
        return replace(verdict, undefined=tuple(gaps))
    inside = decide(nodes, seconds / 2)
    if inside.status != "proved":
        return replace(verdict, seconds=verdict.seconds + inside.seconds)
    ends = tuple(f"{s.name} = 0" if not s.shape else f"an entry of {s.name} is 0" for s in found)
    return replace(inside, excluded=(*inside.excluded, *ends), seconds=verdict.seconds + inside.seconds)


def _with_absolute(point: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return a point with the absolute values of some variables."""
    return {n: _absolute(v) if n in names else v for n, v in point.items()}


def _absolute(value: Any) -> Any:
    return [_absolute(v) for v in cast("list[Any]", value)] if isinstance(value, list) else abs(value)


def _declared(name: str, text: str) -> Node:
    """Return a new symbol with a domain.

    Raises:
        UsageError: if the text declares more than a domain; parsing a declaration may raise other errors.
    """
    listing = parse_program(f"{name} : {text}", "the domain")
    if listing.names != (name,) or listing.result is not None:
        raise UsageError(
            f"the domain of '{name}' is {text!r}, which is more than a domain",
            expected="one domain, such as positive or real(0, 1)",
            cure='give each name its own: {"x": "positive", "y": "real"}',
        )
    return listing[name]


def _with_domain(old: Node, text: str, sizes: Mapping[str, Size]) -> Node:
    """Return a symbol with another domain and the same shape."""
    new, before = _declared(old.name, text).declaration, old.declaration
    shape = tuple(size_with(s, sizes) for s in before.shape)
    if new.shape and new.shape != shape:
        raise DeclarationError(
            f"the domain of '{old.name}' has another shape: '{new}' instead of '{before}'",
            expected="a domain alone, such as positive",
            cure="leave out the shape",
        )
    return symbol(
        replace(
            new,
            domain=domain_with(new.domain, sizes),
            shape=before.shape,
            symmetric=before.symmetric or new.symmetric,
        )
    )
