"""The canonical forms of gradients, computed on demand: on a large graph they cost more than the derivation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

from symgrad.analysis.explain.limits import GAP_SECONDS, SLOPE_GAP_SECONDS
from symgrad.analysis.explain.naming import Naming
from symgrad.analysis.explain.removable_singularities.search import Gap, gaps_of, mended, slope_of_form
from symgrad.ir.graph import Node
from symgrad.rewrite.memo import Answers, keeping
from symgrad.rewrite.pipeline import Canonical, canonical


class GradientForms:
    """Gradients from the backward pass, and their simplified forms.

    Args:
        y: the differentiated value.
        wrt: the inputs with respect to which gradients are taken.
        raw: the gradients from the backward pass.
        naming: names for the notes.
        answers: a cache for the rewriter.
    """

    def __init__(
        self, y: Node, wrt: Sequence[Node], raw: Sequence[Node], naming: Naming, answers: Answers
    ) -> None:
        self._y = y
        self._wrt = tuple(wrt)
        self.raw = tuple(raw)
        self._naming = naming
        self._answers = answers

    @cached_property
    def _with_stops(self) -> Canonical:
        with keeping(self._answers):
            return canonical(self.raw)

    @cached_property
    def _values(self) -> Canonical:
        with keeping(self._answers):
            return canonical(self.raw, drop_stops=True)

    @property
    def with_stops(self) -> tuple[Node, ...]:
        """The simplified gradients, still with stop_gradient, so that they can be differentiated again."""
        return tuple(self._with_stops.nodes)

    @property
    def values(self) -> tuple[Node, ...]:
        """The gradients simplified as values: stop_gradient(e) is e."""
        return tuple(self._values.nodes)

    @property
    def faithful(self) -> bool:
        """Whether `values` equal the raw gradients wherever these are defined, without assumptions."""
        return all(s.soundness in ("exact", "widens") for s in self._values.trace.steps)

    @cached_property
    def gaps(self) -> tuple[Gap, ...]:
        """Points at which the differentiated value is undefined but has a limit."""
        with keeping(self._answers):
            return tuple(gaps_of(self._y, seconds=GAP_SECONDS))

    @cached_property
    def _mended(self) -> Node | None:
        return mended(self._y, self.gaps)

    @cached_property
    def gaps_of_gradients(self) -> tuple[tuple[Gap, ...], ...]:
        """The gaps of each gradient; there, the gradient of the repaired value is the gradient."""
        with keeping(self._answers):
            slopes = (partial(slope_of_form, self._mended, [w]) for w in self._wrt)
            return tuple(
                tuple(gaps_of(g, mended_slope=slope, seconds=SLOPE_GAP_SECONDS))
                for g, slope in zip(self.values, slopes, strict=True)
            )

    @property
    def notes(self) -> tuple[str, ...]:
        """How simplification changes the domain, one sentence for each change."""
        found = [note.text.replace("{}", self._naming.text(note.node)) for _, note in self._values.widened]
        return tuple(dict.fromkeys(found))
