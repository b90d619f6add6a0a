"""The noise audit: which random inputs enter a gradient, and its mean, variance and bias over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, get_args

from symgrad.analysis.expectations.assumptions import MomentOptions
from symgrad.analysis.expectations.moment import How, Moment
from symgrad.analysis.explain.derivation import DerivationRecord, explain
from symgrad.analysis.explain.noise.verdict import NoiseVerdict
from symgrad.api.derivatives.targets import Wrt, Wrts, differentiable, targets_of
from symgrad.api.explaining.explain import joined_listing
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import Formula
from symgrad.api.handles.inputs import known_symbols
from symgrad.api.noise.question import AuditQuestion, Estimated, ReferenceName
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.report.report import Reported
from symgrad.support.errors import UsageError
from symgrad.support.progress import reports_progress

_INTEGRATED = 60
"""If the gradients have more nodes than this, symbolic integration is skipped, since it would not finish in time."""


class _Moments:
    """The moments of a gradient over some random inputs; other random inputs remain symbols."""

    def __init__(self, question: AuditQuestion, single: bool) -> None:
        self._question, self._single = question, single

    @property
    def question(self) -> AuditQuestion:
        """The gradient, the random inputs and the reference, on nodes (internal)."""
        return self._question

    def result(self, moment: Moment) -> Any:
        """Return a moment as an Expr, or an `Estimated` (internal)."""
        y, formula = self._question.y, moment.formula
        if formula is None:
            return Estimated(moment, self._question)
        return Expr(formula, listings=y.listings, origins=(y.node,))

    def _results(self, moments: Sequence[Moment]) -> Any:
        found = [self.result(m) for m in moments]
        return found[0] if self._single else found

    @property
    def expectation(self) -> Any:
        """The mean of the gradient: an Expr, or an `Estimated`; a list of them for a list of ``wrt``."""
        return self._results(self._question.expectation)

    @property
    def variance(self) -> Any:
        """The variance of the gradient, entry by entry; of the same kind as `expectation`."""
        return self._results(self._question.variance)

    @property
    def bias(self) -> Any:
        """The mean minus the reference; of the same kind as `expectation`."""
        return self._results(self._question.bias)

    @property
    def reference(self) -> Any:
        """The reference of the bias; of the same kind as `expectation`."""
        return self._results([r.moment for r in self._question.references])

    @property
    def how(self) -> How:
        """The method by which the moments were computed; of several methods, the least certain one."""
        return self._question.how

    @property
    def notes(self) -> tuple[str, ...]:
        """Conditions of the formulas, and reasons why a moment does not exist."""
        q = self._question
        notes = [n for m in (*q.expectation, *q.variance, *q.bias) for n in (*m.notes, m.reason) if n]
        return tuple(dict.fromkeys([*notes, *(n for r in q.references for n in r.notes)]))

    def at(self, **values: Any) -> dict[str, Any]:
        """Return mean, variance and bias at numbers, each with an interval and the method.

        Args:
            values: the value of every input that stays a symbol, by name.

        Returns:
            An `Estimate` for ``"expectation"``, ``"variance"`` and ``"bias"``: ``value``, ``low``, ``high``, ``how``,
            ``notes``; a list of them for a list of ``wrt``.
        """
        q = self._question
        moments = {"expectation": q.expectation, "variance": q.variance, "bias": q.bias}
        bound = q.bound([m for each in moments.values() for m in each], values)
        found = {name: [m.at(*bound) for m in each] for name, each in moments.items()}
        return {name: each[0] if self._single else each for name, each in found.items()}

    def moments_json(self) -> dict[str, Any]:
        """Return the moments as plain values, by the names of the attributes."""

        def plain(found: Any) -> Any:
            each = [
                {"how": e.how, "reason": e.reason}
                if isinstance(e, Estimated)
                else {"how": "closed form", "formula": str(e)}
                for e in ([found] if self._single else found)
            ]
            return each[0] if self._single else each

        names = ("expectation", "variance", "bias", "reference")
        return {"how": self.how, "notes": list(self.notes), **{n: plain(getattr(self, n)) for n in names}}


class NoiseAudit(_Moments):
    """One random input of a gradient: whether and by which path it enters, and the moments over only this input.

    Attributes:
        verdict: whether the input enters the gradient, and the reason; see `explain`.
    """

    def __init__(self, verdict: NoiseVerdict, question: AuditQuestion, single: bool) -> None:
        super().__init__(question, single)
        self.verdict = verdict

    @property
    def name(self) -> str:
        """The name of the random input."""
        return self.verdict.name

    @property
    def enters(self) -> bool | None:
        """Whether the input enters the gradient after simplification; None if that is undecided."""
        return self.verdict.enters

    @property
    def path(self) -> tuple[str, ...]:
        """The path from a value that a pullback reads to the random input, along value edges."""
        return self.verdict.path

    @property
    def reason(self) -> str:
        """The reason why the input enters the gradient or does not, as a sentence."""
        return self.verdict.reason

    def __repr__(self) -> str:
        return f"<NoiseAudit of {self.verdict.headline}>"


class Audit(_Moments, Mapping[str, NoiseAudit], Reported):
    """The random inputs of a gradient: a mapping by their names, and the moments over all random inputs together.

    Attributes:
        derivation: the derivation of the gradient; see `explain`.
    """

    told_by: ClassVar[str] = "symgrad.api.reports.noise_audit:audit_report"

    def __init__(
        self, record: DerivationRecord, question: AuditQuestion, single: bool, each: Mapping[str, NoiseAudit]
    ) -> None:
        super().__init__(question, single)
        self.derivation = record
        self._each = dict(each)

    def __getitem__(self, name: str) -> NoiseAudit:
        if name not in self._each:
            known = ", ".join(self._each) or "none: the program has no random input"
            raise UsageError(f"'{name}' is not a random input", expected=known)
        return self._each[name]

    def __contains__(self, name: object) -> bool:
        return name in self._each

    def __iter__(self) -> Iterator[str]:
        return iter(self._each)

    def __len__(self) -> int:
        return len(self._each)

    @property
    def gradient(self) -> Any:
        """The value of the gradient: an Expr, or a list of them for a list of ``wrt``."""
        y = self._question.y
        found = [Expr(g, listings=y.listings, origins=(y.node,)) for g in self._question.gradients]
        return found[0] if self._single else found

    def __str__(self) -> str:
        from symgrad.printing.texts.audit import Averaged, audit_text  # for start-up time

        q = self._question
        sections = [Averaged(a.verdict, a.question.texts(), a.notes) for a in self._each.values()]
        if len(sections) > 1:
            sections.append(Averaged(None, q.texts(), self.notes))
        return audit_text(self.derivation, q.reference, q.gradient_texts(), sections)

    def __repr__(self) -> str:
        return f"<Audit of {self._question.y.name or self._question.y}: {', '.join(self._each) or 'no random input'}>"

    def json(self) -> dict[str, Any]:
        """Return the audit as a dictionary of plain values, keyed by attribute names."""
        inputs = {
            name: {
                "enters": a.enters,
                "path": list(a.path),
                "reason": a.reason,
                **a.moments_json(),
            }
            for name, a in self._each.items()
        }
        return {"against": self._question.reference, "inputs": inputs, **self.moments_json()}


@reports_progress("moments", "averaging")
def audit(
    y: Formula,
    wrt: Wrt | Wrts,
    reference: ReferenceName = "noise at its mean",
    *,
    seconds: float = 4.0,
    samples: int = 2**18,
    seed: int = 0,
) -> Audit:
    r"""Tell how random inputs affect a gradient: whether they enter it, and its mean, variance and bias.

    Moments are closed forms if such forms exist. Other moments are computed at numbers, with an interval: by Gauss
    quadrature if it converges, else from draws. Each moment tells its method. Random inputs are independent of each
    other and of ``wrt``. If a parameter of a distribution depends on ``wrt``, draws count as data, and the reference
    ``"expected value"`` contains the score-function term.

    Args:
        y: a scalar expression.
        wrt: an input or intermediate expression (or its name), or a list of them.
        reference: the reference for the mean of the gradient: ``"noise at its mean"``, the gradient with each random
            input at its mean; or ``"expected value"``, the gradient of the mean of y.
        seconds: the time limit of symbolic integration, for each integral that is not in the tables.
        samples: the number of draws of an estimate from draws.
        seed: the seed of these draws.

    Returns:
        An `Audit`. For a random input u, ``audit(...)["u"]`` tells whether it enters the gradient, and has the moments
        over only this input. The `Audit` itself has the moments over all random inputs.

    Raises:
        NotScalarError: if ``y`` is not a scalar.
        NotInProgramError: if ``wrt`` does not occur in the program.
        UsageError: if ``wrt`` is a random input, or for another reference.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse('''
        ... x : real
        ... s : positive
        ... u ~ LogNormal(-s**2/2, s)
        ... z = sqrt(stop_gradient(x**2*u - x**2) + x**2)
        ... ''')
        >>> a = sg.audit(p["z"], "x")
        >>> a["u"].enters, a["u"].how
        (True, 'closed form')
        >>> print(a["u"].expectation, "|", a["u"].variance)
        sign(x)*exp(3*s**2/8) | ...
    """
    if reference not in get_args(ReferenceName):
        raise UsageError(
            f"reference={reference!r}", expected=" or ".join(repr(r) for r in get_args(ReferenceName))
        )
    expr = differentiable(y)
    exprs = targets_of(expr, wrt)
    for e in exprs:
        if e.node.op.name == "symbol" and e.node.declaration.distribution is not None:
            raise UsageError(
                f"'{e}' is a random input itself",
                expected="a variable that is not averaged over",
                cure="differentiate with respect to an input, such as s in s*e for e ~ Normal(0, 1)",
            )
    listing = joined_listing(expr.listings)
    record = explain(expr.node, [e.node for e in exprs], listing)
    single = not isinstance(wrt, list | tuple)
    short = len(topological(record.values)) <= _INTEGRATED
    options = MomentOptions(seconds=seconds if short else 0, samples=samples, seed=seed)
    symbols = {s.name: s for s in known_symbols([expr])}
    noise = tuple(symbols[name] for name in record.noise)

    # An input that enters some of several gradients may cancel in other gradients.
    cancelling = frozenset(
        u for u in noise if (e := record.noise[u.name].enters) is False or (e and len(record.values) > 1)
    )

    def question(over: tuple[Node, ...]) -> AuditQuestion:
        return AuditQuestion(expr, tuple(exprs), tuple(record.values), over, cancelling, reference, options)

    whole = question(noise)
    of_one = {u: whole if noise == (u,) else question((u,)) for u in noise}
    each = {u.name: NoiseAudit(record.noise[u.name], one, single) for u, one in of_one.items()}
    return Audit(record, whole, single, each)
