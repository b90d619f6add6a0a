"""Classify the comparisons at all points: right, wrong, or inaccurate, and for which inputs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from symgrad.apps.gradcheck.compare import Measurement
from symgrad.apps.gradcheck.limits import SLACK
from symgrad.apps.gradcheck.record import CodeKind, number_text, point_text

_CLEAR = (
    1e-8  # the least relative error of a mistake on a branch: a smaller one may be a term that is small there
)
_SHARE_KEPT = 0.6  # the share of the digits that ordinary rounding leaves
_REACH = 1e8  # values beyond which lost digits are no mistake
_GENERIC = 7  # the first points, whose entries are about 1
_ENOUGH = 3  # points with a right gradient that a branch needs
_MANY = 5  # points on each side of a condition on an input


@dataclass(frozen=True, slots=True)
class Classification:
    """The classification of a gradient.

    Args:
        kind: the kind of right or wrong.
        told: the kind as a sentence.
        shown: a point as an example.
        where: the inputs that the sentence is about.
        notes: further observations.
        points: the number of points that agree.
        digits: the number of digits to which they agree.
        small: whether the error of a cancellation is everywhere below a rounding of the usual size of the derivative.
    """

    kind: CodeKind
    told: str
    shown: Measurement | None = None
    where: str | None = None
    notes: tuple[str, ...] = ()
    points: int = 0
    digits: int | None = None
    small: bool = False


def classify(
    measured: Sequence[Measurement], conditions: Sequence[str], wrt: Sequence[str]
) -> Classification:
    """Classify a gradient by comparisons at several points.

    Args:
        measured: the comparisons, generic points first.
        conditions: the conditions on which the function branches.
        wrt: the names of real inputs.
    """
    usual = SLACK * _usual(measured)
    groups: dict[str, list[Measurement]] = defaultdict(list)
    for m in measured:
        groups[_group(m, usual)].append(m)
    groups["single" if groups["single"] else "wrong"] += groups["near"]
    rights, cancels, wrongs, singles = (groups[g] for g in ("right", "cancels", "wrong", "single"))
    notes = () if groups["not finite"] else _notes(groups)
    if groups["far"] or any(_largest(m) > _REACH for m in groups["beyond"]):
        notes = (*notes, f"digits are lost at values beyond {_REACH:.0e}")
    good = [m for m in (*rights, *singles) if m.informs]
    if wrongs:
        where = _magnitude([*wrongs, *cancels], good, wrt)
        if cancels and where is not None and _more_extreme(wrongs, cancels, where[1]):
            return _cancelling([*wrongs, *cancels], rights, where[0], notes, usual)
        return _wrong(wrongs, good, conditions, wrt, notes)
    if groups["not finite"]:
        return _not_finite(groups["not finite"], good, conditions, wrt, notes)
    if singles:
        return _single_precision(singles, len(rights), len(cancels), notes)
    if cancels:
        return _cancels(cancels, rights, wrt, notes, usual)
    return _right(rights, notes)


def _group(m: Measurement, usual: float) -> str:
    """Return the group of a comparison: its level, unless rounding explains the error.

    An error below a rounding of the usual size of the derivative is no mistake in a formula: `1 - s` for `s` near 1 is
    0. Rounding usually leaves more than half of the digits.
    """
    level = m.level
    if level in ("wrong", "near", "single") and m.off <= m.eps * usual:
        level = "cancels"
    if level == "cancels" and m.relative <= m.eps**_SHARE_KEPT:
        return "right"
    if level == "cancels" and _largest(m) > _REACH:
        return "far"
    return level


def _not_finite(
    bad: Sequence[Measurement],
    good: Sequence[Measurement],
    conditions: Sequence[str],
    wrt: Sequence[str],
    notes: tuple[str, ...],
) -> Classification:
    where = _side(bad, good, conditions) or _region(bad, good, wrt)
    value = bad[0].worst_entry[0]
    text = f"it gives {value} where the derivative is a number" + (f": {where}" if where else "")
    return Classification("not finite", text, bad[0], where, notes)


def _single_precision(
    singles: Sequence[Measurement], rights: int, cancels: int, notes: tuple[str, ...]
) -> Classification:
    digits = _digits(sorted(m.relative for m in singles)[len(singles) // 2])
    also = (f"at {cancels} points terms cancel besides",) if cancels else ()
    text = f"right to about {digits} digits, as single precision is: a value on the way is no float64"
    worst = max(singles, key=lambda m: m.relative)
    return Classification("float32 noise", text, worst, None, (*notes, *also), rights + len(singles), digits)


def _cancels(
    cancels: Sequence[Measurement],
    rights: Sequence[Measurement],
    wrt: Sequence[str],
    notes: tuple[str, ...],
    usual: float,
) -> Classification:
    """Report cancellation, unless only a few entries far below the usual size lose digits."""
    bad = [m for m in cancels if m.relative > _CLEAR] or cancels
    where = _magnitude(bad, [m for m in rights if m.informs], wrt)
    if all(m.off <= m.eps * usual for m in bad) and (where is None or len(bad) < _ENOUGH):
        worst = max(bad, key=lambda m: m.relative)
        given, exact = map(number_text, worst.worst_entry)
        return _right(
            [*rights, *cancels],
            (*notes, f"entries far smaller than usual keep few digits: {given} for {exact}"),
        )
    return _cancelling(cancels, rights, where and where[0], notes, usual)


def _right(rights: Sequence[Measurement], notes: tuple[str, ...]) -> Classification:
    if not rights:
        return Classification("undecided", "at no point could both be computed", None, None, notes)
    digits = _digits(max((m.off / m.size for m in rights if m.informs and m.size), default=0))
    told = f"right to {digits} digits at {len(rights)} point{'s' * (len(rights) != 1)}"
    if not any(m.informs for m in rights):
        told += ", at all of which the derivative is zero"
    return Classification("right", told, None, None, notes, len(rights), digits)


def _wrong(
    wrongs: Sequence[Measurement],
    good: Sequence[Measurement],
    conditions: Sequence[str],
    wrt: Sequence[str],
    notes: tuple[str, ...],
) -> Classification:
    bad = [m for m in wrongs if m.informs] or list(wrongs)
    clear = min(m.relative for m in bad) > _CLEAR
    if clear and len(good) >= _ENOUGH:
        where = _side(bad, good, conditions) or _region(bad, good, wrt)
        if where is not None:
            told = f"right elsewhere, wrong {where}"
            return Classification("wrong on a branch", told, bad[0], where, notes, len(good))
    tried = len(wrongs) + len(good)
    return Classification(
        "wrong", f"at {len(wrongs)} of {tried} point{'s' * (tried != 1)}", wrongs[0], None, notes
    )


def _cancelling(
    bad: Sequence[Measurement],
    rights: Sequence[Measurement],
    where: str | None,
    notes: tuple[str, ...],
    usual: float,
) -> Classification:
    worst = max(bad, key=lambda m: m.relative)
    left = _digits(worst.relative)
    lost = f"{left} digit{'s' * (left != 1)} left" if left > 0 else "no digit left"
    place = where
    if place is None and len(bad) <= 2:
        place = " and ".join(f"at {point_text(m.point)}" for m in sorted(bad, key=lambda m: -m.relative))
    elif place is None:
        place = f"at {len(bad)} points"
    return Classification(
        "cancellation",
        f"right, but large terms cancel {place}: {lost}",
        worst,
        where,
        notes,
        len(rights),
        left,
        all(m.off <= m.eps * usual for m in bad),
    )


def _notes(by: Mapping[str, Sequence[Measurement]]) -> tuple[str, ...]:
    notes: list[str] = []
    beyond = [m for m in by.get("beyond", []) if _largest(m) <= _REACH]
    if beyond:
        m = beyond[0]
        given, exact = map(number_text, m.worst_entry)
        notes.append(
            f"leaves the range of floats: gives {given} for {exact} at {point_text(m.point)}"
            + (f", and at {len(beyond) - 1} other points" if len(beyond) > 1 else "")
        )
    kinks = [
        m for m in by.get("kink", []) if np.all(np.isfinite(m.exact)) and not np.all(np.isfinite(m.given))
    ]
    if kinks:
        given = np.asarray(kinks[0].given)
        notes.append(f"gives {given[~np.isfinite(given)][0]} at the kink {point_text(kinks[0].point)}")
    return tuple(notes)


# ------------------------------------------------------------------------------------------------------- which inputs


def _side(bad: Sequence[Measurement], good: Sequence[Measurement], conditions: Sequence[str]) -> str | None:
    """Return the condition that holds at all bad points and at no good one."""
    if len(good) < _ENOUGH:
        return None
    for text in conditions:
        there = [m.sides[text] for m in bad if text in m.sides]
        others = [m.sides[text] for m in good if text in m.sides]
        if len(there) < len(bad) or len(others) < len(good):
            continue
        if all(np.any(s) for s in there) and not any(np.any(s) for s in others):
            return f"where {'an entry has ' if np.shape(there[0]) else ''}{text}"
    return None


def _region(bad: Sequence[Measurement], good: Sequence[Measurement], wrt: Sequence[str]) -> str | None:
    """Return the sign or magnitude of an input that all bad points have and no good one."""
    if len(good) < _MANY or len(bad) < _MANY:
        return None
    for name in wrt:
        for sign, text in ((1, ">"), (-1, "<")):
            there = [np.any(sign * np.asarray(m.point[name]) > 0) for m in bad]
            others = [np.any(sign * np.asarray(m.point[name]) > 0) for m in good]
            if all(there) and not any(others):
                entry = "an entry has " if np.shape(bad[0].point[name]) else ""
                return f"where {entry}{name} {text} 0"
    found = _magnitude(bad, good, wrt)
    return None if found is None else found[0]


def _magnitude(
    bad: Sequence[Measurement], good: Sequence[Measurement], wrt: Sequence[str]
) -> tuple[str, tuple[str, bool]] | None:
    """Find an input that is small, or large, at all bad points and at no good one.

    Returns:
        The condition as text; and the name of the input with whether it is small.
    """
    if len(good) < _ENOUGH:
        return None
    for name in wrt:
        sizes = [_size(m, name) for m in bad]
        others = [_size(m, name) for m in good]
        shown = f"|{name}|" if not np.shape(bad[0].point[name]) else f"the largest |{name}|"
        if max(sizes) < min(others):
            return f"where {shown} <= {_rounded(max(sizes))}", (name, True)
        if min(sizes) > max(others):
            return f"where {shown} >= {_rounded(min(sizes))}", (name, False)
    return None


def _more_extreme(
    wrongs: Sequence[Measurement], cancels: Sequence[Measurement], by: tuple[str, bool]
) -> bool:
    """Tell whether the points that lose all digits lie beyond those that lose some."""
    name, small = by
    lost = [_size(m, name) for m in wrongs]
    some = [_size(m, name) for m in cancels]
    return max(lost) <= max(some) if small else min(lost) >= min(some)


def _largest(m: Measurement) -> float:
    return max(_size(m, name) for name in m.point)


def _size(m: Measurement, name: str) -> float:
    return float(np.max(np.abs(np.asarray(m.point[name], dtype=np.float64)), initial=0))


def _rounded(value: float) -> str:
    return number_text(float(f"{value:.2g}"))


def _usual(measured: Sequence[Measurement]) -> float:
    """Return the median size of the derivative at the generic points."""
    sizes = sorted(m.size for m in measured[:_GENERIC] if m.size)
    return sizes[len(sizes) // 2] if sizes else 0.0


def _digits(relative: float) -> int:
    if not math.isfinite(relative) or relative <= 0:
        return 0 if relative else 16
    return max(0, min(16, math.floor(-math.log10(relative))))
