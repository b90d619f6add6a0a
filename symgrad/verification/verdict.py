"""Verdicts: the status of a claim, its evidence, and their text and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal, NoReturn, TypeAlias, cast

from symgrad.checker.complex.gaussian import Gaussian
from symgrad.checker.numbers import number_to_json
from symgrad.report.about import About
from symgrad.report.report import Reported
from symgrad.support.errors import TruthValueError
from symgrad.support.files import write_atomically
from symgrad.verification.diagnosis import Diagnoses, Diagnosis, first_of_each_kind
from symgrad.verification.limits import DIAGNOSES_TOLD

Status: TypeAlias = Literal["proved", "refuted", "supported", "undecided"]


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof or a refutation that `symgrad check` replays.

    Args:
        data: the content of its JSON.
    """

    data: Mapping[str, Any]

    def to_json(self) -> str:
        """Return the proof as the text of a file."""
        return json.dumps(self.data, separators=(",", ":"))

    def save(self, path: str | Path) -> None:
        """Write the proof into a file.

        Raises:
            FileError: if the file cannot be written.
        """
        write_atomically(Path(path), f"{self.to_json()}\n".encode())


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the domain, and the status of the claim there.

    Args:
        status: ``proved``, ``refuted``, or ``undecided``.
        where: conditions, in the names of the program or of the proof's generators.
        excluded: thin sets of points in the region that a proof excludes, as conditions.
    """

    status: Status
    where: str
    excluded: tuple[str, ...] = ()

    def __str__(self) -> str:
        but = f" (not claimed where {'; '.join(self.excluded)})" if self.excluded else ""
        return f"{self.status} where {self.where}{but}"

    def rules_out(self, condition: str) -> bool:
        """Tell whether the text of the region contradicts a condition.

        Example:
            >>> Region("proved", "x != 0 and sin(y) > 0").rules_out("sin(y) = 0")
            True
        """
        quantity = condition.removesuffix(" = 0")
        others = {f"{quantity} {op} 0" for op in ("<", ">", "!=")}
        return quantity != condition and not others.isdisjoint(self.where.split(" and "))


@dataclass(frozen=True, slots=True)
class Undefined:
    """A condition under which one side of a claim is undefined, although the other side is defined somewhere.

    Args:
        side: the undefined side.
        where: the condition.
        other: the other side.
        point: a point at which the condition holds, and the other side has a value.
    """

    side: str
    where: str
    other: str
    point: Mapping[str, Any]

    def __str__(self) -> str:
        return (
            f"{self.side} has no value where {self.where}; {self.other} has one at {_point_text(self.point)}"
        )


@dataclass(frozen=True, slots=True)
class Verdict(Reported):
    """The decision about a claim and its evidence. It has no truth value: read ``status``.

    Args:
        status: ``proved``: an exact argument, kept in ``proof``, for every point at which both sides are defined,
            except the points in ``excluded``. ``refuted``: at ``witness`` the two sides lie in disjoint balls, or the
            shapes of a claim cannot be right (then there is no witness). ``supported``: the sides agree at all points
            that were tried, and nothing is proved. ``undecided``: none of these.
        why: the reason, as a sentence.
        regions: parts of the domain, if branches of the formulas matter.
        witness: a point at which the claim fails, in exact numbers; complex ones have ``real`` and ``imag``.
        values: the two balls at the witness, as text: first the first side's, then the second's.
        index: the index of the entry that differs there, for arrays.
        excluded: thin sets of points that the proof excludes, as conditions.
        left_out: ``excluded`` in terms of the program, without impossible conditions; None if it cannot be written so.
        undefined: for a proved claim, where one side is undefined although the other is defined: a proof is about the
            points at which both have values.
        points: the number of points of the common domain at which the sides agree.
        digits: the number of decimal digits to which the sides agree.
        error_probability: a bound on the probability that the claim is false although random points agree, where a
            theorem gives one (Schwartz and Zippel's for polynomials).
        proof: the file that `symgrad check` replays; None if there is none.
        seconds: the time that the decision took.
        note: what was compared, if the claim itself does not tell; otherwise None.
        diagnoses: the source of `diagnosis`.
        of_values: if the sides contain ``stop_gradient``, the verdict on their values alone; otherwise None. ``status``
            is then about values and gradients: ``refuted`` if either differ, ``proved`` if both are equal.
        of_gradients: for each input of such sides, by name, the verdict on the gradients with respect to it.
        of_higher: for names of inputs, such as ``("x", "x")``, the verdict on the higher derivatives with respect to
            them.
        of_all_orders: the verdict on both sides as functions of their inputs and of frozen copies of these, if it
            decides the derivatives of every order; otherwise None.
        about: the claim, for the report of the verdict.

    Example:
        >>> import symgrad as sg
        >>> v = sg.equal("sin(x)**2 + cos(x)**2", "1")
        >>> v.status
        'proved'
    """

    told_by: ClassVar[str] = "symgrad.verification.reporting.report:verdict_report"

    status: Status
    why: str
    regions: tuple[Region, ...] = ()
    witness: Mapping[str, Any] | None = None
    values: tuple[str, str] | None = None
    index: tuple[int, ...] = ()
    excluded: tuple[str, ...] = ()
    points: int = 0
    digits: int | None = None
    error_probability: float | None = None
    proof: Proof | None = field(default=None, repr=False)
    seconds: float = 0.0
    diagnoses: Diagnoses = field(default_factory=Diagnoses, repr=False, compare=False)
    of_values: Verdict | None = field(default=None, repr=False)
    of_gradients: Mapping[str, Verdict] = field(default_factory=dict[str, "Verdict"], repr=False)
    of_higher: Mapping[tuple[str, ...], Verdict] = field(
        default_factory=dict[tuple[str, ...], "Verdict"], repr=False
    )
    of_all_orders: Verdict | None = field(default=None, repr=False)
    left_out: tuple[str, ...] | None = None
    undefined: tuple[Undefined, ...] = ()
    note: str | None = None
    about: About = field(default_factory=About, repr=False, compare=False)

    @property
    def diagnosis(self) -> list[Diagnosis]:
        """The mistakes that explain a refuted claim, best first; empty if none is recognised.

        The first access, or printing the verdict, searches for them; the result is cached.
        """
        return list(self.diagnoses.all())

    @property
    def differ_by(self) -> tuple[str, ...]:
        """The inputs with respect to which the two sides' gradients differ; empty if gradients were not compared."""
        return tuple(name for name, v in self.of_gradients.items() if v.status == "refuted")

    def __bool__(self) -> NoReturn:
        raise TruthValueError(
            "a verdict has no truth value: it may also be 'supported' or 'undecided'",
            cure="compare its status: verdict.status == 'proved'",
        )

    def __str__(self) -> str:
        head = f"{self.status}: {self.why}"
        if self.of_values is None:
            return "\n".join([head, *self._details()])
        if self.of_all_orders is not None:
            return "\n".join([head, *self.of_all_orders._details()])
        parts: dict[tuple[int, tuple[str, ...]], list[str]] = {(0, self.of_values._lines()): []}
        derivatives = [*(((name,), v) for name, v in self.of_gradients.items()), *self.of_higher.items()]
        for names, verdict in derivatives:
            parts.setdefault((len(names), verdict._lines()), []).append(by_text(names))
        lines = [head]
        for (order, (first, *more)), inputs in parts.items():
            what = (
                f"{derivatives_text(order)} by {names_text([*dict.fromkeys(inputs)])}" if order else "values"
            )
            lines += [f"  {what}: {first}", *(f"  {line}" for line in more)]
        return "\n".join(lines)

    def _lines(self) -> tuple[str, ...]:
        """Return the lines of this verdict as a part of another verdict; a proof or a witness needs no reason."""
        certain = self.status == "proved" or self.witness is not None
        return (self.status if certain else f"{self.status}, {self.why}", *self._details())

    def _details(self) -> list[str]:
        lines: list[str] = []
        if self.witness is not None and self.values is not None:
            entry = f" (entry {list(self.index)})" if self.index else ""
            left, right = distinct_values(*self.values)
            lines.append(f"  at {_point_text(self.witness)}{entry}: {left} against {right}")
        if self.note is not None:
            lines.append(f"  {self.note}")
        found = self.diagnosis
        lines += [f"  {d}" for d in first_of_each_kind(found)[:DIAGNOSES_TOLD]]
        right = next((d.corrected for d in found if d.corrected is not None), None)
        if right is not None:
            lines.append("  right is: " + right.replace("\n", "\n  "))
        lines += [f"  {region}" for region in self.regions]
        left_out = self.excluded if self.left_out is None else self.left_out
        if left_out:
            lines.append(f"  not claimed where {_some_of(left_out)}")
        lines += [f"  {u}" for u in self.undefined]
        return lines

    def to_json(self) -> dict[str, Any]:
        """Return everything except the proof as an object for `json.dumps`; exact numbers are text.

        Sides with ``stop_gradient`` also have ``differ_by``, ``of_values`` and ``of_gradients``.
        """
        found = {
            "status": self.status,
            "why": self.why,
            "regions": [
                {"status": r.status, "where": r.where, "excluded": list(r.excluded)} for r in self.regions
            ],
            "witness": None if self.witness is None else {k: _plain(v) for k, v in self.witness.items()},
            "values": None if self.values is None else list(self.values),
            "index": list(self.index),
            "excluded": list(self.excluded),
            "left_out": list(self.excluded if self.left_out is None else self.left_out),
            "undefined": [
                {"side": u.side, "where": u.where, "point": {k: _plain(v) for k, v in u.point.items()}}
                for u in self.undefined
            ],
            "points": self.points,
            "digits": self.digits,
            "error_probability": self.error_probability,
            "seconds": round(self.seconds, 6),
            "diagnosis": [d.to_json() for d in self.diagnosis],
        }
        if self.note is not None:
            found["note"] = self.note
        if self.of_values is not None:
            found["differ_by"] = list(self.differ_by)
            found["of_values"] = self.of_values.to_json()
            found["of_gradients"] = {name: v.to_json() for name, v in self.of_gradients.items()}
        if self.of_higher:
            found["of_higher"] = {", ".join(names): v.to_json() for names, v in self.of_higher.items()}
        if self.of_all_orders is not None:
            found["of_all_orders"] = self.of_all_orders.to_json()
        return found


_READ = 24
"""Characters of an exact value that is printed in full; a longer one is rounded."""

_LINE = 120
"""Characters of conditions in a line."""

_ORDINALS = ("", "gradients", "second derivatives", "third derivatives")


def derivatives_text(order: int) -> str:
    """Return the name of the derivatives of an order."""
    return _ORDINALS[order] if order < len(_ORDINALS) else f"derivatives of order {order}"


def by_text(names: Sequence[str]) -> str:
    """Return the text for the inputs of a derivative: x, or (x, y) for a mixed derivative."""
    distinct = [*dict.fromkeys(names)]
    return distinct[0] if len(distinct) == 1 else f"({', '.join(names)})"


def names_text(names: Sequence[str]) -> str:
    """Join names for a sentence.

    Example:
        >>> names_text(["x", "y", "z"])
        'x, y and z'
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _plain(value: Any) -> Any:
    """Convert exact numbers to text and arrays to lists."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in cast("list[Any]", value)]
    if isinstance(value, Gaussian):
        return value.to_json()
    return _plain(value.tolist()) if hasattr(value, "tolist") else number_to_json(value)


def distinct_values(left: str, right: str) -> tuple[str, str]:
    """Return the texts of two values, rounded if an exact one is long and rounding keeps the texts different."""
    if max(len(left), len(right)) <= _READ or "+/-" in left + right:
        return left, right
    try:
        numbers = Fraction(left), Fraction(right)
        about = tuple(
            f"about {float(n):.6g}" if len(t) > _READ else t
            for n, t in zip(numbers, (left, right), strict=True)
        )
    except (ValueError, OverflowError):
        return left, right
    return (about[0], about[1]) if about[0] != about[1] else (left, right)


def _some_of(conditions: Sequence[str]) -> str:
    """Join conditions in one line: the first ones, and how many more there are in `left_out`."""
    shown = list(conditions)
    while len(shown) > 1 and len("; ".join(shown)) > _LINE:
        shown.pop()
    others = len(conditions) - len(shown)
    return "; ".join([*shown, *([f"and {others} more, in `left_out`"] if others else [])])


def _point_text(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value_text(value)}" for name, value in point.items()) or "the only point"


def value_text(value: Any) -> str:
    """Return the value of an input as text, truncated if the text is long."""
    text = str(value) if isinstance(value, Gaussian) else str(_plain(value)).replace("'", "")
    return text if len(text) <= 60 else text[:57] + "..."
