"""`compare_estimators`: bias, variance and cost of several estimators of one gradient."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from symgrad.analysis.expectations.moment import Estimate, Moment
from symgrad.analysis.expectations.reference import least_certain, less
from symgrad.analysis.expectations.shortest import multiplied_out, shortest
from symgrad.api.claims.verify import equal
from symgrad.api.derivatives.effective import resolve_texts
from symgrad.api.derivatives.targets import Wrt, differentiable
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import Formula
from symgrad.api.noise.audit import Audit, audit
from symgrad.api.noise.question import Estimated
from symgrad.ir.graph import Node
from symgrad.ir.notation.printer import str_text
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ops.array.contraction import sum_over
from symgrad.ops.array.layout import shape_text
from symgrad.pretty.simplify import simplest, simplified
from symgrad.printing.pictures.numeric import sample_values
from symgrad.printing.texts.comparison import ComparisonRow, comparison_text, estimate_text, formula_lines
from symgrad.report.report import Reported
from symgrad.support.errors import NotInProgramError, NotScalarError, ShapeError, UsageError
from symgrad.support.progress import reports_progress, steps
from symgrad.verification.verdict import Verdict

_SECONDS = 4.0  # time limit of the proof that an estimator is unbiased
_NUMERIC = "numeric"
_WHY_NUMERIC = "numeric: no closed form is known; at() computes it at numbers, by quadrature or from draws"
_SHORTER = 2 / 3  # a formula in names replaces one in symbols if its relative length is at most this


@dataclass(frozen=True)
class Estimator:
    """One way to estimate a gradient.

    Attributes:
        name: the name of the estimator.
        audit: its noise audit over all its random inputs together.
        truth: the audit of the target, whose mean is differentiated.
    """

    name: str
    audit: Audit
    truth: Audit = field(repr=False)

    @property
    def gradient(self) -> Expr:
        """The estimate from one draw."""
        return self.audit.gradient

    @property
    def mean(self) -> Any:
        """The mean of the estimate: an Expr, or an `Estimated`."""
        return _short(self.audit.expectation)

    @property
    def variance(self) -> Any:
        """The variance of the estimate, entry by entry: an Expr, or an `Estimated`."""
        return _short(self.audit.variance)

    @cached_property
    def total_variance(self) -> Any:
        """The sum of the variances of the entries, which is the trace of the covariance; for a scalar, the variance."""
        if not self.gradient.shape:
            return self.variance
        return _short(self.audit.result(_total(self.moments["variance"])))

    @cached_property
    def bias(self) -> Any:
        """The mean minus the gradient of the target: an Expr, or an `Estimated`."""
        return _short(self.audit.result(self.moments["bias"]))

    @cached_property
    def unbiased(self) -> Verdict | None:
        """The verdict on the claim that there is no bias; None if mean and gradient have no formulas."""
        mean, target = self.audit.expectation, self.truth.reference
        if isinstance(mean, Estimated) or isinstance(target, Estimated):
            return None
        return equal(mean, target, time_limit=_SECONDS, values_only=True)

    @property
    def operations(self) -> int:
        """The number of operations of value and gradient for one draw; shared and array operations count once."""
        question = self.audit.question
        return sum(bool(n.args) for n in topological([question.y.node, *question.gradients]))

    @property
    def how(self) -> str:
        """The method by which bias and variance were computed; of two methods, the less certain one."""
        return least_certain([m.how for m in self.moments.values()])

    @cached_property
    def moments(self) -> dict[str, Moment]:
        """Bias and variance, on nodes (internal)."""
        question = self.audit.question
        (mean,), (variance,) = question.expectation, question.variance
        return {"bias": less(mean, *self.truth.question.references), "variance": variance}

    def at(self, **values: Any) -> dict[str, Estimate]:
        """Return bias and variance at numbers, each an `Estimate` with an interval and the method.

        Args:
            values: the value of every input that is not random, by name.

        Returns:
            Estimates ``"bias"`` and ``"variance"``, entry by entry, and ``"total variance"``, the sum of the variances.
        """
        question = self.audit.question
        (target,) = self.truth.question.references
        bound = question.bound([*self.moments.values(), target.moment], values)
        found = {name: m.at(*bound) for name, m in self.moments.items()}
        return {**found, "total variance": _sum_of(found["variance"])}


def _short(found: Any) -> Any:
    """Return a formula in its simplest form; a sum of simplified parts may simplify further."""
    if isinstance(found, Estimated):
        return found
    return Expr(simplest(found.node), listings=found.listings, origins=found.origins)


def _total(variance: Moment) -> Moment:
    """Return the sum of the entries of a variance."""

    def at(values: Mapping[Node, Any], sizes: Mapping[str, int] | None) -> Estimate:
        return _sum_of(variance.at(values, sizes))

    node = variance.node
    if variance.how != "closed form" or node is None:
        return replace(variance, node=None, _further=None if variance.how == "none" else at)
    forms = [node, simplified(node).node]
    sums = [shortest(sum_over(form, range(len(node.shape)))) for form in forms]
    sums.append(multiplied_out(sums[0]))
    texts = {str_text(s): s for s in (simplified(s).node for s in sums)}
    return replace(variance, node=texts[min(texts, key=len)], _further=at)


def _sum_of(found: Estimate) -> Estimate:
    return replace(found, value=np.sum(found.value), low=np.sum(found.low), high=np.sum(found.high))


class Comparison(Mapping[str, Estimator], Reported):
    """Estimators of one gradient, by name: ``comparison["score"].variance``. ``print`` shows a table.

    Attributes:
        target: the gradient that they estimate: an Expr, or an `Estimated`.
    """

    told_by: ClassVar[str] = "symgrad.api.reports.gradients:comparison_report"

    def __init__(self, estimators: Mapping[str, Estimator], wrt: str, values: Mapping[str, Any]) -> None:
        self._estimators, self._wrt, self._values = dict(estimators), wrt, dict(values)

    def __getitem__(self, name: str) -> Estimator:
        return self._estimators[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._estimators)

    def __len__(self) -> int:
        return len(self._estimators)

    @property
    def _truth(self) -> Audit:
        return next(iter(self.values())).truth

    @property
    def target(self) -> Any:
        """The estimated gradient, the gradient of a mean: an Expr, or an `Estimated`."""
        return _short(self._truth.reference)

    def __str__(self) -> str:
        return comparison_text(*self.table())

    def table(self) -> tuple[str, list[ComparisonRow], tuple[str, list[ComparisonRow]] | None, list[str]]:
        """Return the printed table: its header, rows, rows at numbers, and notes (internal)."""
        notes = dict.fromkeys(n for e in self.values() for m in e.moments.values() for n in m.notes)
        if any(m.how not in ("closed form", "none") for e in self.values() for m in e.moments.values()):
            notes[_WHY_NUMERIC] = None
        target = _lines(self.target, self._truth.question.y)
        of = self._truth.question.y.name
        head = (
            f"Estimators of dE[{of}]/d{self._wrt}"
            if of
            else f"Estimators of the gradient of the mean by {self._wrt}"
        )
        head += f" = {target[0]}" if len(target) == 1 else "".join(f"\n  {t}" for t in target)
        return head, [(name, self._row(e)) for name, e in self.items()], self._numbers(), list(notes)

    def _row(self, e: Estimator) -> list[tuple[str, list[str]]]:
        y = e.audit.question.y
        return [
            ("gradient", formula_lines(*resolve_texts(y, [_short(e.gradient).node]))),
            ("bias", _bias_lines(e)),
            (self._spread, _lines(e.total_variance, y)),
            ("operations", [str(e.operations)]),
        ]

    def spreads(self) -> tuple[float, dict[str, float], list[tuple[str, float, float]]] | None:
        """Return the gradient at numbers, the numbers, and each estimator's mean and standard deviation (internal).

        Without numbers from the caller, choose some if all moments have closed forms. Return None for arrays, and if no
        numbers are found.
        """
        closed = all(m.how == "closed form" for e in self.values() for m in e.moments.values())
        if self._truth.gradient.shape or not (self._values or closed):
            return None
        (target,) = self._truth.question.references
        question = self._truth.question
        values = self._values or sample_values([question.y.node, *(e.gradient.node for e in self.values())])
        if values is None:
            return None
        truth = float(target.moment.at(*question.bound([target.moment], values)).value)
        rows: list[tuple[str, float, float]] = []
        for name, e in self.items():
            at = self._at_numbers[name] if self._values else e.at(**values)
            rows.append((name, truth + float(at["bias"].value), float(at["variance"].value) ** 0.5))
        return truth, dict(values), rows

    @property
    def _spread(self) -> str:
        return "total variance" if self._truth.gradient.shape else "variance"

    @cached_property
    def _at_numbers(self) -> dict[str, dict[str, Estimate]]:
        return {name: e.at(**self._values) for name, e in self.items()}

    def _numbers(self) -> tuple[str, list[ComparisonRow]] | None:
        """Return bias and variance at the numbers of the caller."""
        if not self._values:
            return None
        rows: list[ComparisonRow] = []
        for name, e in self.items():
            found = self._at_numbers[name]
            proved = e.unbiased is not None and e.unbiased.status == "proved"
            bias = "0" if proved else estimate_text(found["bias"])
            rows.append((name, [("bias", [bias]), (self._spread, [estimate_text(found[self._spread])])]))
        return "where " + ", ".join(f"{k} = {v}" for k, v in self._values.items()), rows

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self._estimators)}>"

    def json(self) -> dict[str, Any]:
        """Return the comparison as a dictionary of plain values."""
        return {
            name: {
                "gradient": str(e.gradient),
                "bias": str(e.bias),
                "variance": str(e.variance),
                "operations": e.operations,
                "how": e.how,
                "unbiased": None if e.unbiased is None else e.unbiased.status,
            }
            for name, e in self._estimators.items()
        }

    def svg(self, along: str, between: tuple[float, float], points: int = 61, **values: Any) -> str:
        """Return a picture of bias and standard deviation along one input, as SVG.

        For an array, the picture shows the length of the bias and the square root of the total variance.

        Args:
            along: the name of a scalar input.
            between: the ends of its range.
            points: the number of its values.
            values: the values of all other inputs.

        Raises:
            UsageError: without matplotlib.
        """
        from symgrad.printing.pictures.curves import estimators_svg  # for start-up time

        grid = np.linspace(*between, points)
        curves: dict[str, tuple[list[float], list[float]]] = {}
        for name, e in self._estimators.items():
            found = [e.at(**{along: float(t)}, **values) for t in grid]
            bias = [float(np.linalg.norm(np.asarray(f["bias"].value))) for f in found]
            spread = [float(f["total variance"].value) ** 0.5 for f in found]
            curves[name] = (bias, spread)
        return estimators_svg(along, grid, curves)


def _lines(found: Any, y: Expr) -> list[str]:
    """Return the printed lines of a formula, in the names of a program."""
    from symgrad.printing.texts.audit import with_decimals  # for start-up time

    if isinstance(found, Estimated):
        return [str(found) if found.how == "none" else _NUMERIC]
    (named,) = resolve_texts(y, [found.node])
    plain = str(found)
    text = named if len(named) < _SHORTER * len(plain) else plain
    *before, last = formula_lines(text)
    return [*before, last if before else with_decimals(last, found.node)]


def _bias_lines(e: Estimator) -> list[str]:
    """Return the printed lines of a bias: 0 if it is proved to be zero, else a formula and the verdict."""
    verdict = e.unbiased
    if verdict is not None and verdict.status == "proved":
        return ["0 (proved)"]
    *before, last = _lines(e.bias, e.audit.question.y)
    if verdict is None or verdict.status == "refuted":
        return [*before, last]
    doubt = "0, by numbers alone" if verdict.status == "supported" else "whether it is 0 is undecided"
    return [*before, f"{last} ({doubt})"]


@reports_progress("moments", "comparing estimators")
def compare_estimators(
    programs: Mapping[str, Formula],
    wrt: Wrt,
    target: Formula | None = None,
    at: Mapping[str, Any] | None = None,
    *,
    seconds: float = 4.0,
    samples: int = 2**18,
    seed: int = 0,
) -> Comparison:
    r"""Compare estimators of the gradient of a mean: their bias, variance and cost, in closed form if possible.

    An estimator is a program whose gradient, for one draw of its random inputs, estimates the gradient of
    ``E[target]``. A draw counts as data, even if its distribution depends on ``wrt``, as in a score-function estimator.

    Args:
        programs: scalar expressions, by name.
        wrt: the variable of differentiation.
        target: an expression whose mean over its random inputs is differentiated; by default the first program.
        at: numbers for the inputs that are not random; the result then also has bias and variance at these numbers.
        seconds: the time limit of symbolic integration, for each integral that is not in the tables.
        samples: the number of draws of an estimate from draws.
        seed: the seed of these draws.

    Returns:
        A `Comparison`: for each program the gradient, its mean, bias, variance and total variance, a verdict whether it
        is unbiased, and the number of operations. It prints formulas in the names of the program.

    Raises:
        UsageError: if there are no programs.
        NotScalarError: if a program is not a scalar.
        NotInProgramError: if a program has no ``wrt``, or a different variable with this name.
        ShapeError: if gradients have different shapes.

    Both estimators of the example are in Mohamed, Rosca, Figurnov and Mnih, "Monte Carlo gradient estimation in machine
    learning", JMLR 21 (2020), sections 4 and 5.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse('''
        ... mu : real
        ... z ~ Normal(mu, 1)
        ... eps ~ Normal(0, 1)
        ... f = z**2
        ... score = stop_gradient(f)*(-(stop_gradient(z) - mu)**2/2)
        ... moved = (mu + eps)**2
        ... ''')
        >>> c = sg.compare_estimators({"score": p["score"], "reparameterised": p["moved"]}, "mu", target=p["f"])
        >>> print(c.target, "|", c["score"].unbiased.status, "|", c["reparameterised"].variance)
        2*mu | proved | 4
    """
    named = isinstance(cast("Any", programs), Mapping)
    if not named or not programs:
        raise UsageError(
            "there is nothing to compare" if named else "the programs have no names",
            expected="programs by name, such as {'score': p['score']}",
            cure="give each a name: sg.compare_estimators({'plain': y, 'other': z}, wrt, target)",
        )
    if isinstance(wrt, list | tuple):
        raise UsageError(
            "estimators are compared for one gradient",
            expected="one input or intermediate value to differentiate with respect to",
            cure="compare for each: {w: sg.compare_estimators(programs, w) for w in names}",
        )
    first = next(iter(programs))
    if target is None:
        _check_default(first, programs[first], wrt)
    options: dict[str, Any] = {"seconds": seconds, "samples": samples, "seed": seed}
    truth = _audit_program(
        "the target" if target is not None else f"'{first}', the target by default",
        programs[first] if target is None else target,
        wrt,
        options,
    )
    counted = steps("moments", "averaging estimators", list(programs.items()))
    each = {n: Estimator(n, _audit_program(f"'{n}'", e, wrt, options), truth) for n, e in counted}
    shapes = {n: e.gradient.shape for n, e in each.items()}
    for n, shape in shapes.items():
        if shape != truth.gradient.shape:
            raise ShapeError(
                f"the gradient of '{n}' with respect to {wrt} has shape {shape_text(shape)}",
                expected=f"that of the target, {shape_text(truth.gradient.shape)}",
                cure=f"declare {wrt} alike in all programs, or write them in one",
            )
    return Comparison(each, str(wrt), at or {})


def _check_default(name: str, program: Formula, wrt: Wrt) -> None:
    """Raise an error for a default target whose draws depend on the variable, since it is a surrogate loss."""
    random_inputs = [i for i in differentiable(program).inputs if i.node.declaration.distribution is not None]
    by = wrt if isinstance(wrt, str) else str(wrt.name)
    if by in {s.name for i in random_inputs for s in symbols_of(i.node.declaration.formulas)}:
        raise UsageError(
            f"a target is missing, and '{name}' is not one: since its draws depend on {by}, its mean is not the loss",
            expected="target=, the expression whose mean is differentiated",
            cure=f"give the loss: sg.compare_estimators(programs, {by!r}, target=p['loss'])",
        )


def _audit_program(what: str, program: Formula, wrt: Wrt, options: Mapping[str, Any]) -> Audit:
    """Return the audit of a program; errors name the program."""
    expr = differentiable(program)
    if expr.shape:
        raise NotScalarError(
            f"{what} has shape {shape_text(expr.shape)}",
            expected="a scalar, whose gradient is an estimate",
            cure="sum it, or average it over its draws: mean(y)",
        )
    try:
        return audit(expr, wrt, "expected value", **options)
    except NotInProgramError as error:
        raise NotInProgramError(
            f"{what}: {error.what}", at=error.at, expected=error.expected, cure=error.cure
        ) from None
