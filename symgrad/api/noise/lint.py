"""`lint`: find places in a program whose gradient or value may differ from the author's intention."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast, overload

from symgrad.analysis.explain.naming import naming_of
from symgrad.analysis.stop_gradient.checks.context import LintQuery
from symgrad.analysis.stop_gradient.checks.naive import frameworks_of
from symgrad.analysis.stop_gradient.finding import Finding
from symgrad.analysis.stop_gradient.table import CHECKS, findings
from symgrad.api.claims.verify import validate_seconds
from symgrad.api.derivatives.targets import Wrt, Wrts, differentiable, targets_of
from symgrad.api.explaining.explain import joined_listing
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import Formula
from symgrad.checker.clock import now
from symgrad.ir.graph import Node
from symgrad.ir.listing import one_of, suggest
from symgrad.report.report import Report, Reported
from symgrad.support.errors import Cure, UsageError
from symgrad.support.progress import reports_progress

__all__ = ["Finding", "Findings", "lint"]

_FRAMEWORKS = ("jax", "torch", "tensorflow", "keras", "numpy")


class Findings(Sequence[Finding], Reported):
    """The results of `lint`: a sequence of `Finding`, sorted by place, then by code; `print` shows them all."""

    def __init__(self, found: Sequence[Finding]) -> None:
        self._found = tuple(found)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Findings: ...
    def __getitem__(self, index: int | slice) -> Finding | Findings:
        return Findings(self._found[index]) if isinstance(index, slice) else self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._found)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all findings, in their order."""
        return tuple(f.code for f in self._found)

    def report(self) -> Report:
        """Return a report of the findings, each with its line."""
        from symgrad.printing.reports.lint import findings_report  # for start-up time

        return findings_report(self)

    def json(self) -> list[dict[str, Any]]:
        """Return the findings as plain values, keyed by attribute names; ``repaired`` is text."""
        return [f.json() for f in self._found]

    def __str__(self) -> str:
        return "\n".join(str(f) for f in self._found) or "nothing was found"

    def __repr__(self) -> str:
        return f"<Findings: {', '.join(self.codes) or 'none'}>"


@reports_progress("stops", "checking")
def lint(
    y: Formula,
    wrt: Wrt | Wrts | None = None,
    noise: Wrt | Wrts | None = None,
    frozen: Wrt | Wrts | None = None,
    variables: Wrt | Wrts | None = None,
    ignore: Collection[str] = (),
    time_limit: float = 5,
    framework: str | None = None,
) -> Findings:
    r"""Find places in a program whose gradient or value may differ from the author's intention.

    Args:
        y: the function to differentiate, of any shape.
        wrt: an input or intermediate expression (or its name), or a list of them; by default every real input that is
            not random. A variable in ``wrt`` that receives no gradient is a finding.
        noise: random inputs that must not enter the gradient.
        frozen: inputs or values that must not receive a gradient.
        variables: the variables of an optimiser; variables that y does not read are findings.
        ignore: codes of checks to skip, such as ``("SG101",)``.
        time_limit: approximate seconds. Only findings that are proved in this time are reported.
        framework: where the program runs: ``"jax"``, ``"torch"``, ``"tensorflow"`` or ``"keras"``. Only problems of
            that framework are findings. By default it is the framework that the program was read from, else all of
            them (``"numpy"``).

    Returns:
        A `Findings`. Each finding has ``code``, ``message``, ``reason``, ``places``. If there is a repair, it also has
        ``repaired`` (the whole program as an Expr), ``cure`` (the text to write) and ``verdict`` (whether the repair is
        correct).

    Raises:
        NotInProgramError: if a name does not occur in the program.
        NotDifferentiableError: if ``y`` is a truth value.
        UsageError: for an unknown code or framework, noise that is not a random input, or noise in ``wrt``.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("x, w : real\nh = stop_gradient(stop_gradient(x)*w)\ny = h*x")
        >>> print(sg.lint(p["y"]))
        <text>, line 2: SG102 stop_gradient(x) stops nothing: no derivative path from y arrives there
          it is inside stop_gradient(stop_gradient(x)*w), where the derivative edge is cut already
          instead: write x instead of stop_gradient(x)
        >>> sg.lint("x : real\ny = where(x > 0, sqrt(x), 0)")[0].cure
        'write where(x > 0, sqrt(where(x > 0, x, 1)), 0)'
    """
    expr = differentiable(y)
    if isinstance(y, (int, float)):
        raise UsageError(
            f"{y!r} is a number, in which lint has nothing to find",
            expected="a value of a program",
            cure="pass one, such as sg.lint(p['y']), or text: sg.lint('x : real\\ny = x**2')",
        )
    seconds = validate_seconds(time_limit)
    if framework not in (None, *_FRAMEWORKS):
        raise UsageError(
            f"{framework!r} is not a framework that lint knows",
            expected=one_of(_FRAMEWORKS),
            cure=suggest(str(framework), _FRAMEWORKS),
        )
    ignored = _codes(ignore)

    def nodes(names: Wrt | Wrts | None) -> tuple[Node, ...]:
        return () if names is None else tuple(e.node for e in targets_of(expr, names))

    by = nodes(wrt)
    if wrt is None:
        real = [i.node for i in expr.inputs if i.dtype == "real"]
        by = tuple(s for s in real if s.declaration.distribution is None)
    listing = joined_listing(expr.listings)
    random = _random(nodes(noise))
    for u in random:
        if u in by:
            raise UsageError(
                f"'{u.declaration.name}' is noise, and the gradient with respect to it would be noise, too",
                expected="noise that is not a variable of differentiation",
                cure=Cure(
                    "leave it out of noise=, or differentiate with respect to another input than "
                    f"{u.declaration.name!r}",
                    command="leave it out of --noise, or differentiate with respect to another input than "
                    f"{u.declaration.name}",
                ),
            )
    question = LintQuery(
        y=expr.node,
        wrt=by,
        named=wrt is not None,
        noise=random,
        frozen=nodes(frozen),
        variables=nodes(variables),
        listing=listing,
        naming=naming_of(expr.node, listing),
        end=now() + seconds,
        frameworks=frameworks_of(framework or (listing.framework if listing else None)),
    )
    return Findings([_with_expr(f, expr) for f in findings(question, ignored)])


def _with_expr(finding: Finding, of: Expr) -> Finding:
    """Return a finding with an Expr in place of the repaired node."""
    if finding.repaired is None:
        return finding
    return replace(finding, repaired=Expr(finding.repaired, listings=of.listings))


def _codes(ignore: Any) -> tuple[str, ...]:
    known = [c.code for c in CHECKS]
    if not isinstance(ignore, Iterable):
        raise UsageError(
            f"ignore is {ignore!r}", expected="codes of checks", cure=f"write ignore=({known[0]!r},)"
        )
    codes = (ignore,) if isinstance(ignore, str) else tuple(cast("Iterable[Any]", ignore))
    for code in codes:
        if code not in known:
            raise UsageError(
                f"no check has the code {code!r}",
                expected=f"one of {', '.join(known)}",
                cure=suggest(str(code), known),
            )
    return codes


def _random(nodes: Sequence[Node]) -> tuple[Node, ...]:
    for n in nodes:
        if n.args or n.declaration.distribution is None:
            raise UsageError(
                f"'{n.declaration.name if not n.args else 'an intermediate value'}' is not a random input",
                expected="an input with a distribution, such as u ~ Normal(0, 1)",
                cure="name it in frozen= if it is to receive no gradient",
            )
    return tuple(nodes)
