"""Closed forms of means and variances against draws: of every audit and every estimator that the pages show.

The Python of a page is run with `sg.audit` and `sg.compare_estimators` listened to, so an example that a page gets
later is held against draws too.
"""

from __future__ import annotations

import contextlib
import doctest
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

import symgrad as sg
from benchmarks.measure import ROOT, Options, Row
from symgrad.analysis.expectations.assumptions import MomentOptions
from symgrad.analysis.expectations.moment import Moment
from symgrad.analysis.expectations.numeric.sampling import sampled
from symgrad.analysis.expectations.reference import symbols_needed
from symgrad.analysis.explain.noise.sample_points import domain_of, place_in
from symgrad.api.noise.audit import Audit
from symgrad.api.noise.estimators import Comparison
from symgrad.ir.graph import SIZE, Node
from symgrad.ir.sizes import evaluate_size, names_of
from symgrad.ir.traverse import symbols_of, topological

__all__ = ["PAGES", "Example", "errors_of", "examples_of", "run"]

PAGES = ("estimators.md", "explain.md", "tutorials/doubt.md", "reports.md")
_SIZES = {"n": 4, "d": 2, "k": 3, "K": 5, "m": 2}
_DRAWS, _SEED = 10**7, 20261128
_ONE_BY_ONE = 10**6  # draws of what cannot be drawn in one go, as a permutation
_QUANTILE = 2.5758293035489004  # of the interval that `sampled` gives, in standard errors
_ROUNDING = 1e-9  # of a moment: what sums over all draws lose
_ERRORS = 5.0  # standard errors that a moment may be off


@dataclass(frozen=True, slots=True)
class Example:
    """An audit of a page.

    Attributes:
        name: where it stands, and of what it is.
        audit: the audit.
    """

    name: str
    audit: Audit


def examples_of(page: str) -> list[Example]:
    """Return what a page audits or compares, each once."""
    found: dict[tuple[str, ...], Example] = {}
    audit, compare = sg.audit, sg.compare_estimators

    def heard(name: str, made: Audit) -> None:
        question = made.question
        if question.over:
            laws = [f"{u.name} ~ {u.declaration.distribution}" for u in question.over]
            by = ", ".join(w.name or str(w) for w in question.wrt)
            found.setdefault((*question.gradient_texts(), *laws), Example(f"{page}: {name}, by {by}", made))

    def audited(*given: Any, **options: Any) -> Audit:
        made = audit(*given, **options)
        heard(f"audit of {made.question.y.name or made.question.y}", made)
        return made

    def compared(*given: Any, **options: Any) -> Comparison:
        made = compare(*given, **options)
        for name, estimator in made.items():
            heard(name, estimator.audit)
        return made

    sg.audit, sg.compare_estimators = audited, compared
    try:
        _play(ROOT / "docs" / page)
    finally:
        sg.audit, sg.compare_estimators = audit, compare
    return list(found.values())


def _play(page: Path) -> None:
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8")):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(sg.errors.SymgradError):
            exec(compile(example.source, page.name, "single"), names)


def errors_of(audit: Audit, draws: int) -> tuple[float, set[str]]:
    """Return by how many standard errors of draws mean and variance are off at most, and how they are known.

    What is known in an interval alone is off by what lies beyond it.
    """
    question = audit.question
    moments = [*question.expectation, *question.variance]
    values, sizes = question.bound(moments, _values(moments, audit))
    options = MomentOptions(samples=draws, seed=_SEED)
    worst, known = 0.0, {m.how for m in moments}
    for gradient, mean, variance in zip(
        question.gradients, question.expectation, question.variance, strict=True
    ):
        first = sampled([gradient], question.over, values, options, "expectation", sizes)
        second = sampled([gradient] * 2, question.over, values, options, "covariance", sizes)
        for moment, drawn in ((mean, first), (variance, second)):
            if moment.how != "none":
                worst = max(worst, _off(moment, values, sizes, drawn.value, drawn.half))
    return worst, known


def _off(moment: Moment, values: dict[Node, Any], sizes: dict[str, int], drawn: Any, half: Any) -> float:
    said = moment.at(values, sizes)
    beyond = np.maximum(np.asarray(said.low) - drawn, drawn - np.asarray(said.high))
    error = np.asarray(half) / _QUANTILE + _ROUNDING * (1 + np.abs(said.value))
    return float(np.max(np.maximum(beyond, 0) / error))


def _values(moments: Sequence[Moment], audit: Audit) -> dict[str, Any]:
    """Return a number, or an array, for every input that is not random, and the sizes."""
    question = audit.question
    found: dict[str, Any] = {}
    for s in [*symbols_needed(moments, question.gradients, question.over), *symbols_of([question.y.node])]:
        if s not in question.over:
            shape = tuple(evaluate_size(size, _SIZES) for size in s.shape)
            numbers = [_number(s, i) for i in range(int(np.prod(shape)))]
            found[str(s.name)] = np.reshape(numbers, shape) if shape else numbers[0]
    order = topological([question.y.node, *question.gradients])
    named = names_of(*((n.shape, n.params if n.op is SIZE else ()) for n in order))
    return {**{name: _SIZES[name] for name in named}, **found}


def _number(s: Node, index: int) -> Any:
    key = blake2b(f"{s.name}|{index}".encode(), digest_size=4).digest()
    place = Fraction(1 + int.from_bytes(key, "big") % 98, 100)
    domain = domain_of(s)
    if s.dtype == "real" and domain.span == (None, None):
        return float(place * 2 - 1)
    value = place_in(domain, place)
    return value if isinstance(value, bool) else int(value) if s.dtype == "int" else float(value)


def run(options: Options) -> Iterator[Row]:
    pages = PAGES[2:3] if options.quick else PAGES
    for page in pages:
        found: list[tuple[float, str]] = []
        ways: set[str] = set()
        for example in examples_of(page):
            options.step(f"moments, {example.name}")
            over = example.audit.question.over
            alone = any(not u.declaration.distribution.family.independent for u in over)
            draws = 10**4 if options.quick else _ONE_BY_ONE if alone else _DRAWS
            worst, known = errors_of(example.audit, draws)
            found.append((worst, f"{example.name.partition(': ')[2]}, {draws:,} draws"))
            ways |= known
        if found:
            worst, which = max(found)
            note = f"the worst: {which}; {' and '.join(sorted(ways))}"
            yield Row(f"{page}: {len(found)} gradients", worst, "standard errors", limit=_ERRORS, note=note)
