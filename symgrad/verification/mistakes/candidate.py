"""Mistakes that give a claim in floats, and how they are confirmed at exact points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from symgrad.checker.clock import is_late
from symgrad.ir.graph import OPS, Node
from symgrad.ir.traverse import symbols_of, topological
from symgrad.support.errors import SymgradError
from symgrad.verification.decide import equal
from symgrad.verification.limits import FIRST_POINTS
from symgrad.verification.mistakes.limits import CONFIRMED
from symgrad.verification.mistakes.numbers import TrialPoint
from symgrad.verification.search.refute import refute

_NEARBY = 4  # number of points near a witness


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake whose result is the claim.

    Args:
        kind: the kind of the diagnosis.
        says: the sentence that describes the mistake.
        at: the equation where it is made; None for the whole claim.
        words: the values for the fields of the sentence.
        rank: how common the mistake is, and how much of the claim it explains.
        sides: a function that returns two formulas, which must be equal; None if they are known to be.
        second: a second mistake that was also made.
        in_claim: whether the equation is one of the claim rather than of the program.
    """

    kind: str
    says: str
    at: Node | None
    words: Mapping[str, object] = field(default_factory=dict[str, object])
    rank: float = 0
    sides: Callable[[], tuple[Node, Node]] | None = None
    second: Mistake | None = None
    in_claim: bool = False


def confirmed(found: Sequence[Mistake], deadline: float) -> list[Mistake]:
    """Return the mistakes that give the claim at exact points, too: first one of each kind, then the others.

    Args:
        found: mistakes that give the claim in floats.
        deadline: on the clock of `symgrad.checker.clock`; no mistake is tested after it.
    """
    ordered = sorted(found, key=lambda f: f.rank)
    firsts: dict[str, Mistake] = {}
    for f in ordered:
        firsts.setdefault(f.kind, f)
    rest = [f for f in ordered if f is not firsts[f.kind]]
    valid: list[Mistake] = []
    seen: set[tuple[str, Node | None]] = set()
    for f in (*firsts.values(), *rest):
        if (f.kind, f.at) in seen or len(seen) == CONFIRMED:
            continue
        seen.add((f.kind, f.at))
        if f.sides is None or _hold(f.sides, deadline):
            valid.append(f)
    return valid


def _hold(sides: Callable[[], tuple[Node, Node]], deadline: float) -> bool:
    if is_late(deadline):
        return True
    try:
        nodes = sides()
        if any(n.op.name not in OPS for n in topological(nodes) if n.args):
            return True  # an op without a name in programs has values only in floats
        return agree_at_points(*nodes, deadline) is not False
    except SymgradError:
        return False


def agree_at_points(one: Node, other: Node, deadline: float) -> bool | None:
    """Tell whether two formulas are equal at the first exact points; None if neither has a value there.

    Args:
        one: a formula.
        other: another formula, of the same shape.
        deadline: on the clock of `symgrad.checker.clock`.

    Raises:
        SymgradError: if the formulas cannot be compared.
    """
    # At a kink both forms may have slopes by convention, and these may differ.
    claim = replace(equal(one, other).equality, strict=True)
    outcome = refute(claim, deadline=deadline, enough=FIRST_POINTS, finer=False)
    if outcome.witness is not None:
        return _only_there((one, other), outcome.witness.point)
    return True if outcome.points else None


def _only_there(nodes: Sequence[Node], witness: Mapping[str, Any]) -> bool:
    """Tell whether two formulas that differ at a point agree around it: a tie of maximum or abs is no mistake.

    Formulas that differ everywhere by a term too small for floats disagree at the point itself: lamT**3 for lamT**2.
    """
    rng = np.random.default_rng(7)
    symbols = symbols_of(nodes)
    named = any(isinstance(size, str) for n in topological(nodes) for size in n.shape)
    if named or any(s.name not in witness for s in symbols):
        return False
    at = {s: np.array(witness[s.name], dtype=object).astype(np.float64) for s in symbols}
    if _close(nodes, at):
        return False
    for _ in range(_NEARBY):
        values: dict[Node, Any] = {}
        for s, there in at.items():
            away = rng.uniform(0.5, 1, there.shape) * rng.choice([-1, 1], there.shape)
            values[s] = there + 1e-6 * (1 + np.abs(there)) * away if s.dtype == "real" else there
        if not _close(nodes, values):
            return False
    return True


def _close(nodes: Sequence[Node], values: Mapping[Node, Any]) -> bool:
    point = TrialPoint(values)
    one, other = (np.asarray(point(n), dtype=np.float64) for n in nodes)
    return np.allclose(one, other, rtol=1e-9, atol=1e-9 * float(np.max(np.abs(one), initial=0)))
