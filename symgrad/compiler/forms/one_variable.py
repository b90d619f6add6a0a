"""Keep the digits of the parts of derivatives that depend on one variable: by other forms, and by choices of forms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias

from symgrad.autodiff.jvp import Pushforward
from symgrad.compiler.forms.output import Output
from symgrad.compiler.forms.parts import number_symbol, parts_of_one_variable, slopes_of_parts, with_slopes
from symgrad.compiler.forms.redifferentiation import rederived
from symgrad.ir.graph import SYMBOL, Node, as_node
from symgrad.ir.traverse import all_pointwise, substitute, symbols_of, topological
from symgrad.ops.control import as_computed, stop_gradient, without_stops
from symgrad.ops.scalar.logic import ne, where
from symgrad.rewrite.choice.float_values import Floats, floats_named
from symgrad.rewrite.choice.lines import VariableLines
from symgrad.rewrite.choice.regimes import OneVariable
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical, stable
from symgrad.support.errors import NumberTooLargeError
from symgrad.support.logs import info
from symgrad.support.progress import steps

if TYPE_CHECKING:
    from symgrad.autodiff.logarithmic import LogarithmicDifferentiation

_Stages: TypeAlias = "Iterator[Sequence[Node]]"

_PARTS = 40
"""The most parts that are looked at: each takes some milliseconds."""

_SEARCHES = 8
"""The most parts for which forms are compared: each takes some tenths of a second."""

_OUTPUTS, _VARIABLES, _EQUATIONS = 12, 6, 160
"""The most derivatives of several variables that are looked at, their variables, and their equations."""


def keep_digits(outputs: Sequence[Output], nodes: Sequence[Node], dtype: str = "float64") -> list[Node]:
    """Return derivatives in forms that keep their digits, with choices of forms where no single form does.

    Args:
        outputs: the derivatives.
        nodes: the forms in which they would be computed.
        dtype: the type of floats in which they are computed.
    """
    simplify = next((o.simplify for o in outputs if o.simplify is not None), None)
    return _DigitGuard(simplify, floats_named(dtype)).keep(outputs, nodes)


def keep_digits_of_values(nodes: Sequence[Node], dtype: str = "float64") -> list[Node]:
    """Return formulas with each part of one variable in a form, or a choice of forms, that keeps its digits."""
    return _DigitGuard(None, floats_named(dtype)).keep_values(nodes)


class _DigitGuard:
    """Looks at derivatives and their parts; each part is looked at once.

    Args:
        simplify: a function that writes a formula as it is printed.
        floats: the type of floats.
    """

    def __init__(self, simplify: Callable[[Node], Node] | None, floats: Floats) -> None:
        self._simplify, self._floats = simplify, floats
        self._known = Conditions()
        self._best_forms: dict[tuple[Node, Node], Node] = {}
        self._parts: dict[tuple[Node, Node], OneVariable] = {}
        self._singular: dict[Node, dict[Fraction, None]] = {}
        self._ways = cache(_logarithmic)
        self._searches = 0

    def keep(self, outputs: Sequence[Output], nodes: Sequence[Node]) -> list[Node]:
        found = list(nodes)
        finished: set[Node] = set()
        looked = 0
        for k, (output, node) in enumerate(zip(outputs, nodes, strict=True)):
            variables = _variables(node)
            order = topological([node])
            several = 2 <= len(variables) <= _VARIABLES and all_pointwise(order)
            if several and looked < _OUTPUTS and len(order) <= _EQUATIONS:
                looked += 1
                found[k], of_parts = self._improve_derivative(output, node, variables)
                if of_parts:
                    finished.add(found[k])
        found = [self._extend_domain(output, node) for output, node in zip(outputs, found, strict=True)]
        wholes = dict(zip(found, outputs, strict=True))
        rest = [node for node in found if node not in finished]
        return self._by_parts(found, rest, lambda node: self._stages(node, wholes.get(node)))

    def _extend_domain(self, output: Output, node: Node) -> Node:
        """Return a derivative by one variable in a shorter form if only that has values where its formula has."""
        formulas = [y for y, _ in _differentiated(output)]
        variables = symbols_of([node, *formulas])
        if (
            not formulas
            or len(variables) != 1
            or variables[0].dtype != "real"
            or len(topological([node])) > _EQUATIONS
        ):
            return node
        part = self._part(node, variables[0])
        gaps = [p for p in part.singular if part.has_value(formulas[0], p) and not part.has_value(node, p)]
        if not gaps:
            return node
        from symgrad.autodiff.products import reassociate  # a late import, as in `_logarithmic`

        for form in (f for s in self._simplified(output.node) for f in (s, reassociate(s))):
            if part.has_value(form, gaps[0]) and part.is_equal(form):
                return form
        return node

    def keep_values(self, nodes: Sequence[Node]) -> list[Node]:
        found = [self._improve_value(node) for node in nodes]
        return self._by_parts(found, found, self._stages_of_value)

    def _improve_value(self, node: Node) -> Node:
        """Return the form of a formula of several variables that loses the fewest digits on lines through these."""
        variables, order = _variables(node), topological([node])
        if not 2 <= len(variables) <= _VARIABLES or not all_pointwise(order) or len(order) > _EQUATIONS:
            return node
        lines = VariableLines(node, variables, self._known, {}, self._floats)
        if not lines.may_lose_digits():
            return node

        def stages() -> _Stages:
            from symgrad.autodiff.products import reassociate  # a late import, as in `_logarithmic`

            made = canonical([node]).nodes[0], reassociate(node)
            yield made
            yield [stable([form]).nodes[0] for form in made]
            yield self._separated(node, self._stages_of_value)

        return lines.best(stages())

    def _part(self, node: Node, variable: Node) -> OneVariable:
        key = node, variable
        if key not in self._parts:
            self._parts[key] = OneVariable(node, variable, self._known.facts(variable), self._floats)
        return self._parts[key]

    def _by_parts(
        self, nodes: Sequence[Node], searched: Sequence[Node], stages: Callable[[Node], _Stages]
    ) -> list[Node]:
        """Return nodes with the parts of one variable of some of them in forms that keep their digits."""
        better: dict[Node, Node] = {}
        parts = list(parts_of_one_variable(searched))[:_PARTS]
        for node, variable in steps("arrange", "comparing forms", parts):
            form = self._improve_part(node, variable, partial(stages, node))
            if form is not node:
                better[node] = form
        if better:
            info("arrange", "%d parts of one variable in other forms, as theirs lose digits", len(better))
        return substitute(nodes, better)

    def _stages_of_value(self, node: Node) -> _Stages:
        from symgrad.autodiff.products import reassociate  # late imports, as in `_logarithmic`
        from symgrad.compiler.forms.value_forms import value_forms

        made = value_forms(node, self._known)
        yield made
        yield [stable([form]).nodes[0] for form in made]
        with suppress(NumberTooLargeError):
            yield [reassociate(form) for form in made]

    def _improve_part(self, node: Node, variable: Node, stages: Callable[[], _Stages]) -> Node:
        """Return a part of one variable in a form, or a choice of forms, that keeps its digits."""
        key = node, variable
        if key not in self._best_forms:
            part = self._part(node, variable)
            self._note_singular_points(part)
            form = node
            if part.may_lose_digits():
                self._searches += 1
                if self._searches <= _SEARCHES:
                    with suppress(NumberTooLargeError):
                        form = part.choose(stages())
                else:
                    info("arrange", "a part may lose digits; %d others were searched before", _SEARCHES)
            self._best_forms[key] = form
        return self._best_forms[key]

    def _improve_derivative(self, output: Output, node: Node, variables: Sequence[Node]) -> tuple[Node, bool]:
        """Return the form of a derivative that loses the fewest digits on lines, and whether its parts are chosen."""
        of_parts: list[Node] = []
        formulas = dict.fromkeys(_differentiated(output))
        for y, by in formulas:
            for _, _, argument, slopes in slopes_of_parts(y, len(by)):
                for slope in reversed(slopes[1:]):
                    form = canonical([slope], drop_stops=True).nodes[0]
                    self._note_singular_points(self._part(form, argument))
        near = {x: list(self._singular.get(x, ())) for x in variables}
        lines = VariableLines(node, variables, self._known, near, self._floats)

        def stages() -> _Stages:
            for y, by in formulas:
                slope = with_slopes(y, len(by), self._slope_of_part)
                for x in by:
                    slope = Pushforward({x: as_node(1)})([slope])[0]
                of_parts.extend(_without_stops(as_computed([slope])))
            yield [*self._simplified(output.node), *of_parts, output.node]
            separate = self._separated(node, partial(self._stages, output=None))
            of_parts.extend(separate)
            yield separate
            yield [*rederived([output]), *self._log_derivatives(output)]
            yield [stable([form]).nodes[0] for form in (node, *self._simplified(output.node))]

        best = lines.best(stages()) if lines.may_lose_digits() else node
        if best is not node:
            info("arrange", "a derivative of several variables in another form, as it loses fewer digits")
        complete = self._complete_at_zeros(output, best, lines)
        return complete, complete is best and best in of_parts

    def _separated(self, node: Node, stages: Callable[[Node], _Stages]) -> list[Node]:
        """Return a formula as powers of its inputs times functions of one product of them, in chosen forms."""
        from symgrad.autodiff.products import (
            product_node,
            product_of,
            total,
        )  # late imports, as in `_logarithmic`
        from symgrad.compiler.forms.separated_variables import separated

        found: list[Node] = []
        inner = [v for _, v in parts_of_one_variable([node]) if v.args]
        for variable in dict.fromkeys([*inner, *_variables(node)]):
            argument = number_symbol("__argument", self._known.facts(variable))
            terms = separated(node, variable, argument) or ()
            made = [
                product_of(
                    product_node(t.product),
                    self._improve_part(t.function, argument, partial(stages, t.function)),
                )
                for t in terms
            ]
            form = total(made)
            if form is not None:
                found += substitute([form], {argument: variable})
        return found

    def _complete_at_zeros(self, output: Output, node: Node, lines: VariableLines) -> Node:
        """Return a derivative in a form that has its value where an input is zero, if it has none there."""
        if all(n.op.name not in ("div", "pow") for n in topological([node])):
            return node
        for y, by in dict.fromkeys(_differentiated(output)):
            gaps = lines.undefined_zeros(node, y)
            if len(by) == 1 and gaps:
                for form in (*self._differentiate([y], by), self._ways(by[0]).by_logarithm(y)):
                    if form is not None and lines.agrees_with_differences(form, y, by[0], gaps):
                        return form
            for x in dict.fromkeys(x for point in gaps for x, value in point.items() if not value):
                slope = None if x in by else _slope_on(y, x, by)
                if slope is not None:
                    node = where(ne(x, as_node(0)), node, slope)
        return node

    def _note_singular_points(self, part: OneVariable) -> None:
        """Record the points near which lines through the variable are sampled."""
        self._singular.setdefault(part.variable, {}).update(dict.fromkeys(part.singular))

    def _slope_of_part(self, slope: Node, variable: Node, part: Node, order: int) -> Node:
        """Return the form of a derivative of a part of a formula."""
        node = canonical([slope], drop_stops=True).nodes[0]

        def stages() -> _Stages:
            yield self._simplified(node)
            made = [node, slope, *self._differentiate([part], [variable] * order)]
            yield made
            yield [stable([form]).nodes[0] for form in made]

        return self._improve_part(node, variable, stages)

    def _stages(self, node: Node, output: Output | None) -> _Stages:
        """Yield forms of a part; more of them if the part is a derivative of a formula of one variable."""
        from symgrad.autodiff.products import reassociate  # late imports, as in `_logarithmic`
        from symgrad.compiler.forms.value_forms import elementary_form, value_forms

        yield self._simplified(node if output is None else output.node)
        made = [node, canonical([node]).nodes[0], elementary_form(node)]
        if output is not None:
            made += [output.node, *rederived([output]), *self._log_derivatives(output)]
        for form in list(made):
            with suppress(NumberTooLargeError):
                made.append(reassociate(form))
        made = list(dict.fromkeys(made))
        yield made
        yield [stable([form]).nodes[0] for form in made]
        yield value_forms(node, self._known)

    def _simplified(self, node: Node) -> list[Node]:
        return [] if self._simplify is None else [self._simplify(node)]

    def _log_derivatives(self, output: Output) -> Iterator[Node]:
        """Yield a derivative by logarithmic differentiation."""
        for y, by in dict.fromkeys(_differentiated(output)):
            yield from self._differentiate(
                dict.fromkeys([y, stable([y]).nodes[0], canonical([y]).nodes[0]]), by
            )

    def _differentiate(self, formulas: Iterable[Node], by: Sequence[Node]) -> Iterator[Node]:
        """Yield derivatives of formulas by one variable after another, by logarithmic differentiation."""
        for formula in formulas:
            slope: Node | None = formula
            with suppress(NumberTooLargeError):
                for x in by:
                    slope = None if slope is None else self._ways(x).derivative(slope)
                if slope is not None:
                    yield slope


def _logarithmic(variable: Node) -> LogarithmicDifferentiation:
    from symgrad.autodiff.logarithmic import (
        LogarithmicDifferentiation,
    )  # for start-up: most formulas lose no digits

    return LogarithmicDifferentiation(variable)


def _without_stops(nodes: Sequence[Node]) -> list[Node]:
    done = without_stops(nodes, {n for n in topological(nodes) if n.op is stop_gradient})
    return [done[n] for n in nodes]


def _slope_on(y: Node, x: Node, by: Sequence[Node]) -> Node | None:
    """Return the derivative of a formula where another variable is zero: that of the formula with zero in its place.

    Returns:
        None if this would have values where the formula has none.
    """
    found = canonical(substitute([y], {x: as_node(0)}))
    widened = found.trace.widening
    for v in by:
        found = canonical(Pushforward({v: as_node(1)})([found.nodes[0]]))
        widened += found.trace.widening
    return None if widened else found.nodes[0]


def _variables(node: Node) -> list[Node]:
    return [s for s in symbols_of([node]) if s.dtype == "real" and not s.shape]


def _differentiated(output: Output) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Yield formulas whose derivative an output is, each with the symbols by which it is one."""
    slope = output.slope
    if slope is not None and all(x.op is SYMBOL for x in slope.by) and all_pointwise(topological([slope.y])):
        yield slope.y, slope.by
    for trace in output.traces:
        if len(trace.outputs) != 1 or output.node not in trace.gradients:
            continue
        ((y, seed),) = trace.outputs
        x = trace.wrt[trace.gradients.index(output.node)]
        if x.op is SYMBOL and seed.is_number(1) and all_pointwise(topological([y])):
            yield y, (x,)
