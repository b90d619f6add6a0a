"""Explain a gradient: its derivation step by step, and the effect of the noise on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from symgrad.analysis.explain.by_hand import RuleLine
from symgrad.analysis.explain.derivation import DerivationRecord as Record
from symgrad.analysis.explain.derivation import DerivationStep
from symgrad.analysis.explain.derivation import explain as derive
from symgrad.analysis.explain.noise.jumps import MovedJump
from symgrad.analysis.explain.noise.verdict import NoiseVerdict
from symgrad.analysis.explain.product_of_gradients import ByParts, by_parts
from symgrad.analysis.explain.removable_singularities.search import Gap
from symgrad.analysis.explain.step_gradients import StepCut
from symgrad.api.derivatives.distribution_check import differentiation_targets
from symgrad.api.derivatives.targets import Wrt, Wrts
from symgrad.api.handles.construction import parts_of
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import Formula, formula
from symgrad.ir.graph import OPS, Node
from symgrad.ir.listing import Listing
from symgrad.ops.numpy.calls import total
from symgrad.ops.scalar.arith import mul
from symgrad.pretty.adjoints import Adjoint
from symgrad.report.report import Report, Reported, called
from symgrad.support.errors import UsageError

if TYPE_CHECKING:
    from symgrad.api.explaining.lessons import DerivationLine, Lesson, NextStep
    from symgrad.printing.pictures.interactive import Graph
    from symgrad.verification.verdict import Verdict

__all__ = ["Adjoint", "ByParts", "Derivation", "explain"]

# What is imported in functions here would slow down `import symgrad`: the printers.


class Derivation(Reported):
    """The derivation of a gradient, and the random inputs that enter it.

    Attributes:
        adjoints: the backward pass in the names of the program, from the output back, with a line for each named value.
        rules: the derivation as one writes it by hand, with one rule of calculus per line.
        steps: the pullbacks, from the output back, each with rule, forward equation, inputs and results.
        noise: for each random input its verdict: ``.enters`` (True, False, or None if symgrad cannot tell), ``.path``
            along value edges, ``.reason`` in a sentence, ``.witness``.
        gaps: points at which the value or a gradient is undefined (0/0, oo - oo), but has a limit.
        jumps: jumps that a random input crosses and a parameter moves; they add a term to the gradient of the mean.
        cuts: what stop_gradients cut in the steps of recurrences: the values to which no gradient passes, and where.
        notes: sentences that say where simplification made the domain larger.
    """

    def __init__(self, record: Record, y: Expr, wrt: Sequence[Expr]) -> None:
        self._record = record
        self._y = y
        self._wrt = tuple(wrt)

    @property
    def record(self) -> Record:
        """The derivation on nodes (internal)."""
        return self._record

    @property
    def steps(self) -> tuple[DerivationStep, ...]:
        """The pullbacks in the order in which they run."""
        return self._record.steps

    @property
    def adjoints(self) -> tuple[Adjoint, ...]:
        """The backward pass as lines in the names of the program, such as ``mu_bar = mu/n + zs_bar``.

        There is one line for each named value on a path to ``wrt``, from the output back, with the sum of all
        contributions to its adjoint. A line uses only names of the program and earlier lines, so the lines can be
        parsed as a program. The last lines are the gradients. The tuple is empty if the program has no names for
        intermediate values, in which the backward pass could be written.
        """
        return self._record.adjoints

    @property
    def rules(self) -> tuple[RuleLine, ...]:
        r"""The derivation as one writes it by hand: from the inside out, with one rule of calculus per line.

        Each has a ``.rule`` (``"product rule"``), the function (``.of``), the variable (``.by``), the result of the
        rule (``.applied``), and its short form (``.derivative``). The tuple is empty for arrays, stopped gradients, and
        programs with random inputs, which need a longer explanation.

        Example:
            >>> import symgrad as sg
            >>> for line in sg.explain("x : real\ny = x**2*sin(3*x)", "x").rules:
            ...     print(line.rule, "|", line)
            chain rule (sin) | d(sin(3*x))/dx = 3*cos(3*x)
            product rule | dy/dx = 2*x*sin(3*x) + x**2*(3*cos(3*x)) = 3*x**2*cos(3*x) + 2*x*sin(3*x)
        """
        return self._record.rules

    @property
    def noise(self) -> Mapping[str, NoiseVerdict]:
        """The verdict on each random input, by name."""
        return self._record.noise

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Points at which the value, or a gradient, is undefined but has a limit; see `check_domain`."""

        def as_expr(n: Any) -> Any:
            return None if n is None else self._exprs([n])[0]

        return tuple(with_exprs(g, as_expr) for _, g in self._record.gaps)

    @property
    def jumps(self) -> tuple[MovedJump, ...]:
        """Jumps that a random input crosses and that a parameter moves, with the term that the gradient misses.

        The gradient of the mean over the random input is the mean of the gradient plus ``.terms[name]``: an Expr, or
        None if no formula is known.
        """
        return tuple(
            replace(j, terms={n: None if t is None else self._exprs([t])[0] for n, t in j.terms.items()})
            for j in self._record.jumps
        )

    @property
    def cuts(self) -> tuple[StepCut, ...]:
        r"""What stop_gradients cut in the steps of recurrences, each with a ``headline`` and a ``reason``.

        Example:
            >>> import symgrad as sg
            >>> p = sg.parse("w : real\nh[0] = 1\nh[t] = tanh(w*stop_gradient(h[t-1])) for t in 1..9\ny = h[9]")
            >>> print(*sg.explain(p["y"], "w").cuts)
            no gradient passes from step t to step t-1: h[t-1] stands only inside ...
        """
        return self._record.cuts

    @property
    def notes(self) -> tuple[str, ...]:
        """For each simplification that made the domain larger, a sentence that says where."""
        return self._record.notes

    @property
    def gradient(self) -> tuple[Expr, ...]:
        """The gradients, simplified; stop_gradient stays, so they may be differentiated again."""
        return self._exprs(self._record.canonical)

    @property
    def values(self) -> tuple[Expr, ...]:
        """The values of the gradients: stop_gradient(e) is replaced by e, which often simplifies further."""
        return self._exprs(self._record.values)

    @property
    def nothing(self) -> tuple[str | None, ...]:
        """For each gradient the reason why it is zero (a `ZeroReason` as text), or None if it is not zero."""
        return tuple(None if n is None else str(n) for n in self._record.nothing)

    def _exprs(self, nodes: Sequence[Any]) -> tuple[Expr, ...]:
        return tuple(Expr(n, listings=self._y.listings, origins=(self._y.node,)) for n in nodes)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        by = ", ".join(str(w) for w in self._wrt)
        return f"<Derivation of {self._y.name or self._y} by {by}: {len(self.steps)} steps>"

    def text(self, *, steps: bool = False) -> str:
        """Return the text that `print` shows, of at most 100 columns.

        Args:
            steps: whether to list every pullback with its rule, even if there are adjoints or rules to print.
        """
        from symgrad.printing.texts.derivation import derivation_text

        return derivation_text(self._record, steps=steps)

    def latex(self, *, steps: bool = False) -> str:
        """Return LaTeX with an aligned line for each adjoint or rule.

        Args:
            steps: whether to print a line for each pullback instead. A derivation without adjoints and rules always
                prints pullbacks.
        """
        from symgrad.printing.texts.derivation import derivation_latex

        return derivation_latex(self._record, steps=steps)

    def report(self) -> Report:
        """Return a report with the picture, which can be written as text, Markdown, LaTeX, HTML or JSON."""
        from symgrad.printing.reports.steps import derivation_report

        return derivation_report(self._record)

    def json(self) -> dict[str, Any]:
        """Return the derivation as a dictionary of plain values, keyed by attribute names."""
        from symgrad.printing.texts.plain import derivation_json

        return derivation_json(self._record)

    def svg(self, noise: str | None = None) -> str:
        """Return a picture of the graph in which the path of the noise is visible.

        Args:
            noise: the random input to follow; by default all.
        """
        from symgrad.printing.texts.derivation import derivation_svg

        if noise is not None and noise not in self.noise:
            known = ", ".join(self.noise) or "none: the program has no random input"
            raise UsageError(f"'{noise}' is not a random input", expected=known)
        return derivation_svg(self._record, noise)

    def graph(self, values: Mapping[str, Any] | None = None, /, **by_name: Any) -> Graph:
        r"""Return a picture for notebooks and pages; its boxes show values and gradients, and fold.

        Args:
            values: a value for each input, by name; without values, boxes show only equations.
            by_name: values of inputs whose names are Python identifiers.

        Returns:
            A Graph: notebooks show it; ``.svg()``, ``.html()``, ``.save(path)`` and ``.notes``.

        Raises:
            MissingInputError: if there are values, but not for each input.
            SymgradError: for values that a call of the formula would not accept.

        Example:
            >>> import symgrad as sg
            >>> d = sg.explain("x : real\ny = sin(x**2)", "x")
            >>> d.graph(x=2.0)
            <Graph of y, differentiated by x: 3 boxes>
        """
        return called(
            "symgrad.api.reports.graph:derivation_graph", self, self._y, {**(values or {}), **by_name}
        )

    @property
    def lines(self) -> tuple[DerivationLine, ...]:
        """The derivation line by line, from the output back; each line has ``.name``, ``.formula``, and ``.rule``.

        The lines are the adjoints if the program has names, else the derivatives with respect to the values on the
        path.
        """
        return self._lesson.lines

    def hide_last(self) -> str:
        """Return the derivation without its last line, as an exercise; `check_answer` checks an answer."""
        return self._lesson.hidden()

    def check_answer(self, answer: str) -> Verdict:
        r"""Return the verdict whether a formula is the last line, with the mistake if it is not.

        Args:
            answer: the formula, in the names of the program and of the lines above; a left side before ``=`` is
                ignored.

        Raises:
            SymgradError: if the answer cannot be read.

        Example:
            >>> import symgrad as sg
            >>> d = sg.explain("x : real\ns = x**2\nz = sin(s)")
            >>> d.check_answer("x_bar = 2*x*s_bar").status, d.check_answer("s_bar").status
            ('proved', 'refuted')
        """
        return self._lesson.judged(answer)

    def next_step(self, lines: str | Sequence[str] = "") -> NextStep:
        r"""Return the next line of the derivation after the lines of a student.

        Each line is compared with the derivation as a formula, so a line may be written differently, and lines may be
        left out.

        Args:
            lines: the lines so far: ``"z_bar = 1"``, ``"dz/ds = cos(s)"``, or just a formula; in the names of the
                program, of the derivation, and of lines above.

        Returns:
            A NextStep: the next ``line``, with its ``rule``; or in ``wrong`` the first line that is wrong.

        Raises:
            SymgradError: if a line cannot be read.

        Example:
            >>> import symgrad as sg
            >>> d = sg.explain("x : real\ns = x**2\nz = sin(s)")
            >>> print(d.next_step("z_bar = 1"))
            s_bar = cos(s)
              rule: sin
            >>> d.next_step(["ds = -cos(s)"]).wrong.number
            1
        """
        return self._lesson.next_step(lines)

    @cached_property
    def _lesson(self) -> Lesson:
        from symgrad.api.explaining.lessons import Lesson

        return Lesson(self._record, self._y)


@overload
def explain(y: Formula, wrt: None = None) -> Any: ...
@overload
def explain(y: Formula, wrt: Wrt | Wrts) -> Derivation: ...
def explain(y: Formula, wrt: Any = None) -> Any:
    """Derive a gradient step by step; tell for every random input whether and by which path it enters the gradient.

    Args:
        y: a scalar expression.
        wrt: an input or intermediate expression (or its name), or a list of them; by default every real input that is
            not random. If ``y`` is a gradient from `grad`, and ``wrt`` is omitted, its own derivation is explained.

    Returns:
        A Derivation. Without ``wrt``, the result is a ByParts for a product of gradients (``gradients(y,
        h)*gradients(h, x)``) and for joined gradients of components. It tells which axes were summed away, and which
        product was probably meant, with the shapes.

    Raises:
        NotScalarError: if ``y`` is not a scalar.
        NotInProgramError: if ``wrt`` does not occur in the program.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse('''
        ... x : real
        ... u ~ Uniform(0.9, 1.1)
        ... z = sqrt(stop_gradient(x**2*u - x**2) + x**2)
        ... ''')
        >>> d = sg.explain(p["z"], p["x"])
        >>> d.noise["u"].enters
        True
        >>> print(d.noise["u"].reason)
        the pullback of sqrt reads the forward value z, which depends on u through x**2*u; ...
    """
    expr = formula(y)
    if wrt is None and expr.traces and not expr.derived:
        listing = joined_listing(expr.listings)
        names = {} if listing is None else listing.name_of()
        found = by_parts([expr.node], expr.traces, expr.node, names)
        if found is not None:
            return found
    if wrt is None and expr.derived and len(expr.traces) == 1:
        trace = expr.traces[0]
        (origin, seed), *others = trace.outputs
        if not others:
            by = [w for w, g in zip(trace.wrt, trace.gradients, strict=True) if g is expr.node] or trace.wrt
            wrt = [Expr(w, listings=expr.listings) for w in by]
            expr = Expr(_weighted_sum(origin, seed), listings=expr.listings)
    if wrt is None:
        wrt = [i for i in expr.inputs if i.dtype == "real" and i.node.declaration.distribution is None]
        if not wrt:
            raise UsageError(
                "there is no real input to differentiate with respect to",
                cure="declare an input that is real and not random, as in x : real",
            )
    exprs = differentiation_targets(expr, wrt)
    listing = joined_listing(expr.listings)
    return Derivation(derive(expr.node, [e.node for e in exprs], listing, parts_of([expr])), expr, exprs)


def _weighted_sum(y: Node, seed: Node) -> Node:
    """Return sum(cotangent*y), the scalar whose gradient the backward pass from y computes."""
    if not seed.is_number(1):
        y = mul(OPS["stop_gradient"](seed), y)
    return total(y) if y.shape else y


def with_exprs(gap: Gap, as_expr: Callable[[Any], Any]) -> Gap:
    """Return a gap with expressions in place of its nodes (internal)."""
    return replace(
        gap, at=as_expr(gap.at), part=as_expr(gap.part), limit=as_expr(gap.limit), form=as_expr(gap.form)
    )


def joined_listing(listings: Sequence[Listing]) -> Listing | None:
    """Merge the listings of several programs; the first one takes precedence."""
    if len(listings) < 2:
        return listings[0] if listings else None
    symbols = {name: node for listing in reversed(listings) for name, node in listing.symbols.items()}
    assignments = {name: node for listing in reversed(listings) for name, node in listing.assignments.items()}
    places = {node: place for listing in reversed(listings) for node, place in listing.places.items()}
    frameworks = {listing.framework for listing in listings}
    framework = frameworks.pop() if len(frameworks) == 1 else None
    assigned = {k: v for k, v in assignments.items() if k not in symbols}
    decimals = {value: text for listing in reversed(listings) for value, text in listing.decimals.items()}
    return Listing(symbols, assigned, places=places, framework=framework, decimals=decimals)
