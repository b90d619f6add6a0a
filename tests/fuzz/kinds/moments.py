"""Moments of functions in pieces of all families: every method gives what sums and integrals between breaks give."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from symgrad.analysis.expectations.assumptions import MomentOptions, Undecided
from symgrad.analysis.expectations.expectation import expectation, variance
from symgrad.analysis.expectations.moment import Estimate
from symgrad.analysis.expectations.numeric.quadrature import Quadrature, first
from symgrad.analysis.expectations.reference import gradient_of_mean
from symgrad.autodiff.vjp import pull_back
from symgrad.errors import UnsupportedError
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import as_node
from symgrad.ir.values.evaluate import evaluate
from tests.analysis.expectations.piecewise import drawn_case, drawn_jump
from tests.fuzz.kind import kind

BUDGET = MomentOptions(seconds=0, samples=2**12)
CLOSE = {"closed form": 1e-7, "quadrature": 3e-6}


def agree(found: Estimate, expected: float, what: str) -> None:
    """Check a value by what its method promises; of draws five times what holds with 99 %."""
    assert found.how != "none", (what, found.notes)
    half = float(found.high - found.low) / 2
    room = CLOSE[found.how] if found.how in CLOSE else max(5 * half, 0.05) if np.isfinite(half) else np.inf
    assert abs(float(found.value) - expected) <= room * max(1.0, abs(expected)), (what, found, expected)


@kind("moments of pieces")
def _moments(rng: random.Random) -> None:
    case = drawn_case(rng)
    listing = parse_program(case.program)
    y, sources = listing["y"], case.sources(listing)
    if not sources:
        return
    at: Any = case.at(listing)
    (mean,), (spread,) = expectation([y], sources, BUDGET), variance([y], sources, BUDGET)
    first_moment, second = case.moments()
    agree(mean.at(at), first_moment, f"mean of {case.program}")
    agree(spread.at(at), second, f"variance of {case.program}")
    if mean.formula is not None and rng.random() < 0.5:
        generic = case.generic()
        name = rng.choice(list(generic.values))
        try:
            (slope,) = pull_back([mean.formula], [as_node(1)], [listing[name]]).gradients
        except UnsupportedError:  # by the order of an incomplete gamma function
            return
        expected = generic.slope(name)
        found = float(evaluate([slope], generic.at(listing))[0])
        assert abs(found - expected) <= 1e-5 * max(1.0, abs(expected)), (case.program, name, found, expected)
    elif len(sources) == 1 and not sources[0].shape:
        try:
            value, error = Quadrature([y], sources).mean(at, first)
        except Undecided:
            return
        assert abs(float(value) - first_moment) <= 3e-6 * max(1.0, abs(first_moment)), (case.program, error)


@kind("gradients of means of jumps")
def _jumps(rng: random.Random) -> None:
    case = drawn_jump(rng)
    listing = parse_program(case.program)
    (reference,) = gradient_of_mean(listing["y"], [listing["t"]], case.sources(listing), BUDGET)
    if reference.moment.how == "none" or not case.sources(listing):
        return
    found = reference.moment.at(case.at(listing))
    expected = case.slope("t")
    room = 2e-5 if found.how in CLOSE else 0.1
    assert abs(float(found.value) - expected) <= room * max(1.0, abs(expected)), (
        case.program,
        found,
        expected,
    )
