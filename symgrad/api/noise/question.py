"""The moments of a gradient over random inputs, and the reference that gives its bias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from symgrad.analysis.expectations.assumptions import MomentOptions
from symgrad.analysis.expectations.expectation import expectation, variance
from symgrad.analysis.expectations.moment import Estimate, How, Moment
from symgrad.analysis.expectations.reference import (
    Reference,
    gradient_of_mean,
    gradient_without_noise,
    in_short,
    least_certain,
    less,
    symbols_needed,
)
from symgrad.analysis.explain.noise.cancellation import without
from symgrad.api.derivatives.effective import gradient_text, lift_constants, resolve_texts
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.inputs import known_symbols, sizes_by_name
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import is_elementwise, symbols_of
from symgrad.ir.values.inputs import bind, check_shapes
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import ShapeError

if TYPE_CHECKING:
    from symgrad.pretty.forms.numbers import Literals

ReferenceName: TypeAlias = Literal["noise at its mean", "expected value"]


class Estimated:
    """A moment without a formula, computed at numbers. Call it with values by name; it returns a float or an array.

    Attributes:
        how: ``"quadrature"``, ``"monte carlo"``, or ``"none"`` for a moment that does not exist.
        reason: the reason why the moment does not exist.
    """

    def __init__(self, moment: Moment, question: AuditQuestion) -> None:
        self._moment, self._question = moment, question
        self.how = moment.how
        self.reason = moment.reason

    def at(self, **values: Any) -> Estimate:
        """Return the moment at numbers, with an interval that contains it and the method."""
        return self._moment.at(*self._question.bound([self._moment], values))

    def __call__(self, **values: Any) -> Any:
        return self.at(**values).value

    def __str__(self) -> str:
        if self.how == "none":
            return f"none: {self.reason}"
        method = "by quadrature where it converges" if self.how == "quadrature" else "from draws"
        return f"at numbers, {method}"

    def __repr__(self) -> str:
        return f"<Estimated {self}>"


@dataclass(frozen=True)
class AuditQuestion:
    """A gradient, the random inputs of its moments, and the reference of its bias."""

    y: Expr
    wrt: tuple[Expr, ...]
    gradients: tuple[Node, ...]
    over: tuple[Node, ...]
    cancelling: frozenset[Node]  # random inputs that may cancel in some gradient
    reference: ReferenceName
    options: MomentOptions

    @cached_property
    def _averaged(self) -> list[Node]:
        """Return the gradients, in which a number replaces each random input that provably cancels."""
        found: list[Node] = []
        for gradient in self.gradients:
            read = set(symbols_of([gradient]))
            for u in (u for u in self.over if u in read & self.cancelling):
                gradient = without(gradient, u) or gradient
            found.append(gradient)
        return found

    @cached_property
    def expectation(self) -> list[Moment]:
        return [in_short(m) for m in expectation(self._averaged, self.over, self.options)]

    @cached_property
    def variance(self) -> list[Moment]:
        return [in_short(m) for m in variance(self._averaged, self.over, self.options)]

    @cached_property
    def references(self) -> list[Reference]:
        y, wrt = self.y.node, [w.node for w in self.wrt]
        if self.reference == "noise at its mean":
            return gradient_without_noise(y, wrt, self.over)
        return gradient_of_mean(y, wrt, self.over, self.options)

    @cached_property
    def bias(self) -> list[Moment]:
        return [less(m, r) for m, r in zip(self.expectation, self.references, strict=True)]

    def bound(
        self, moments: Sequence[Moment], values: Mapping[str, Any]
    ) -> tuple[dict[Node, Any], dict[str, int]]:
        """Bind values by name to symbols, and check them against the declarations; return the values and the sizes."""
        needed = symbols_needed(moments, self.gradients, self.over)
        names = {s.name for s in needed}
        others = [s for s in known_symbols([self.y]) if s.name not in names]
        # Values of inputs that no moment reads still define sizes.
        unread = [s for s in others if s.name in values]
        lengths = check_shapes(unread, [values[str(s.name)] for s in unread], together=False)
        values = {name: value for name, value in values.items() if name not in {s.name for s in others}}
        sizes = sizes_by_name([self.y], needed, {**lengths, **values})
        for name in lengths.keys() & sizes.keys():
            if lengths[name] != sizes[name]:
                raise ShapeError(
                    f"size {name} is {sizes[name]} and {lengths[name]}", expected="one size for one name"
                )
        values = {name: value for name, value in values.items() if name not in sizes}
        together = is_elementwise(self.gradients)
        return dict(bind(needed, (), values, together=together, sizes=sizes)), sizes

    @property
    def how(self) -> How:
        return least_certain([m.how for m in (*self.expectation, *self.variance, *self.bias)])

    @property
    def rows(self) -> tuple[tuple[str, Sequence[Moment]], ...]:
        """The moments of each gradient, with labels."""
        return (
            ("mean", self.expectation),
            ("variance", self.variance),
            ("reference", [r.moment for r in self.references]),
            ("bias", self.bias),
        )

    @cached_property
    def _lifted(self) -> tuple[AuditQuestion, Literals] | None:
        """Return the question about the program with symbols for long numbers, for printing; None if there are none."""
        found = lift_constants(self.y, self.wrt)
        if found is None:
            return None
        y, wrt, constants = found
        trace = pull_back([y.node], [as_node(1)], [w.node for w in wrt])
        gradients = tuple(canonical(trace.gradients, drop_stops=True).nodes)
        return replace(self, y=y, wrt=tuple(wrt), gradients=gradients), constants.literals

    def gradient_texts(self) -> list[str]:
        """Return the gradients in the names of the program."""
        question, literals = self._lifted or (self, None)
        texts = resolve_texts(question.y, question.gradients, literals)
        return [gradient_text(self.y, [w], text) for w, text in zip(self.wrt, texts, strict=True)]

    def texts(self) -> list[tuple[str, list[str]]]:
        """Return the moments as text: a label, and a formula for each gradient, in the names of the program."""
        question, literals = self._lifted or (self, None)
        return [
            (
                label,
                [
                    self._text(m, question, lifted, literals)
                    for m, lifted in zip(moments, others, strict=True)
                ],
            )
            for (label, moments), (_, others) in zip(self.rows, question.rows, strict=True)
        ]

    def _text(
        self, moment: Moment, question: AuditQuestion, lifted: Moment, literals: Literals | None
    ) -> str:
        """Return a moment as text, from the formula of the lifted question if that formula depends on an input."""
        from symgrad.printing.texts.audit import with_decimals  # for start-up time

        formula, y = moment.formula, self.y
        if formula is None:
            return str(Estimated(moment, self))
        if lifted.formula is not None and symbols_of([formula]):
            formula, y = lifted.formula, question.y
        (text,) = resolve_texts(y, [formula], literals)
        return with_decimals(text, formula)
