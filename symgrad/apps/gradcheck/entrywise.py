"""Decide gradient code entry by entry: code that writes into arrays, loops over entries, or indexes by labels."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import numpy as np

from symgrad.api.handles.expr import Expr
from symgrad.apps.gradcheck.question import CodeQuestion, plain_numpy, reason_of
from symgrad.apps.gradcheck.samples import sample_points
from symgrad.apps.gradcheck.unrolled.tracing import Unrolled
from symgrad.ir.values.evaluate import evaluate
from symgrad.support.errors import SymgradError, UnsupportedError
from symgrad.verification.verdict import Verdict

_POINTS = 4  # points at which the formulas are compared with the code
_NEAR = 1e-6  # the relative difference that rounding explains


class EntryWise:
    """The function and its gradient code, run lazily on arrays of formulas.

    Args:
        question: the function and the code.
    """

    def __init__(self, question: CodeQuestion) -> None:
        self._question = question
        self._made: Unrolled | None = None
        self._why: str | None = None
        self.used = False

    def _unrolled(self) -> Unrolled | None:
        q = self._question
        if self._made is None and self._why is None:
            try:
                function, code = plain_numpy(q.f), plain_numpy(q.backward.code)
                made = Unrolled(function, code, q.arguments.inputs, q.cotangents, q.wrt)
                self._hold(made.claims())
            except Exception as error:  # noqa: BLE001  the user's code is run, and may raise anything
                self._why = reason_of(error)
            else:
                self._made = made
        return self._made

    def _hold(self, claims: Mapping[str, Expr]) -> None:
        """Compare the formulas with the code: it may treat arrays of formulas and of numbers differently."""
        q = self._question
        points = sample_points(None, q.inputs, q.arguments.samples, (), np.dtype(np.float64))
        for point in islice(points, _POINTS):
            called = q.backward.at(point, {n: np.shape(point[n]) for n in q.wrt}, len(q.arguments.inputs))
            if called.fault is not None:
                continue
            given = {e.node: point[n] for n, e in q.inputs.items()}
            for name, claim in claims.items():
                try:
                    with np.errstate(all="ignore"):
                        (found,) = evaluate([claim.node], given)
                except (SymgradError, IndexError):
                    continue
                value, other = called.values[name], np.asarray(found, dtype=np.float64)
                near = np.abs(value - other) <= _NEAR * np.maximum(np.max(np.abs(value), initial=0), 1)
                if not np.all(near | ~np.isfinite(value) | ~np.isfinite(other)):
                    raise UnsupportedError("on formulas it computes something else than on numbers")

    def claims(self, unread: str | None) -> tuple[dict[str, Expr], str | None]:
        """Return the gradients as formulas, by name; or the reasons why they cannot be read, ``unread`` first."""
        made = self._unrolled()
        if made is None:
            return {}, "; ".join(dict.fromkeys(w for w in (unread, self._why) if w)) or None
        self.used = True
        return made.claims(), None

    def proved(self, name: str, deadline: float) -> tuple[Verdict, Mapping[str, Verdict]] | None:
        """Prove the gradient by an argument: return the verdict, and those of the entries; None without a proof."""
        made = self._unrolled()
        found = None if made is None else made.proved(name, deadline)
        if not found:
            return None
        self.used = True
        every = found.values()
        said = [v.excluded if v.left_out is None else v.left_out for v in every]
        proved = Verdict(
            "proved",
            f"each of {len(found)} claims about an entry has a proof of its own",
            excluded=tuple(dict.fromkeys(e for v in every for e in v.excluded)),
            left_out=tuple(dict.fromkeys(e for texts in said for e in texts)),
            points=min(v.points for v in every),
            digits=min((v.digits for v in every if v.digits is not None), default=None),
            seconds=sum(v.seconds for v in every),
        )
        return proved, found
