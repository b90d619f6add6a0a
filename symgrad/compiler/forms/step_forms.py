"""Choose the forms in which the steps of derivatives are computed: steps of recurrences that symgrad derives.

A step has many inputs: the values of the step before, rows of arrays, parameters. What functions such as exp read is
mostly a sum of products of these, and digits are lost where it is large. So a symbol stands for it while points are
drawn: exp(w*h[t-1] + x[t-1]) is exp of one number.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction

from symgrad.autodiff.recurrences import StepArrays, with_steps
from symgrad.autodiff.rows.formulas import row_symbol
from symgrad.compiler.forms.choice import cost
from symgrad.compiler.forms.elementwise_parts import with_parts
from symgrad.ir.graph import Node, symbol
from symgrad.ir.notation.recurrences import recurrence_of, sliced_rows
from symgrad.ir.traverse import digest, readers, substitute, topological
from symgrad.ir.types import DOMAINS, Declaration
from symgrad.ops.scalar.arith import add, div, mul, neg

_RATIONAL = (add, neg, mul, div)

_EQUATIONS = 400
"""The most equations of a step of which other forms are made."""


def with_stable_steps(derived: Sequence[Node], primal: Collection[Node]) -> list[Node]:
    r"""Return derivatives whose recurrences have steps in stable forms, where those of the chain rule lose digits.

    Args:
        derived: the derivatives.
        primal: what the program computes anyway; its recurrences stay as they are.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("w : real\nh[0] = 1\nh[t] = 1/(1 + exp(-w*h[t-1])) for t in 1..9\ny = h[9]")
        >>> (slope,) = with_stable_steps([sg.grad(p["y"], "w").node], topological([p["y"].node]))
        >>> back = next(n for n in topological([slope]) if n.op.name == "recurrence" and n.params[1])
        >>> "sigmoid" in {n.op.name for n in topological(back.params[2].results)}
        True
    """

    def change(
        steps: StepArrays, results: Sequence[Node], rows: dict[Node, Node]
    ) -> tuple[Sequence[Node], dict[Node, Node]]:
        if steps.node in primal or steps.body.height > 1:
            return results, rows
        more = dict(rows)
        formulas = _computed_rows(rows, more, steps.body.height)
        return _best_forms(results, formulas, [*steps.body.carries, *more]), more

    return with_steps(derived, change)


def _computed_rows(rows: Mapping[Node, Node], more: dict[Node, Node], height: int) -> dict[Node, Node]:
    """Return the formulas of rows that are values of other recurrences.

    Args:
        rows: the symbols of rows, each with its array.
        more: the same; the rows that the formulas read are added.
        height: the height of the body.
    """
    found: dict[Node, Node] = {}
    for symbol_, array in rows.items():
        of = recurrence_of(sliced_rows(array)[0])
        if of is None:
            continue
        other, k = StepArrays(of[0]), of[1]
        if array is other.after(other.values[k]) and other.body.height == 1:
            read = {s: row_symbol(x, more, height) for s, x in other.step_rows(other.values).items()}
            found[symbol_] = substitute([other.body.results[k]], {**other.constants(), **read})[0]
    return found


def _best_forms(
    results: Sequence[Node], formulas: Mapping[Node, Node], symbols: Sequence[Node]
) -> Sequence[Node]:
    """Return the formulas of a step, or others that lose fewer digits, or no more and cost less.

    Args:
        results: the formulas.
        formulas: rows that they read, each with a formula that has the same value.
        symbols: the symbols of carries and rows.
    """
    order = topological([*results, *formulas.values()])
    varying = readers(order, symbols)
    if len(varying) > _EQUATIONS:
        return results
    # What is the same in all steps is computed outside of them, and stays as it is.
    reads = (_without_number(a) for n in (*results, *varying) for a in (n, *n.args))
    same = {a: _symbol("constant", a) for a in reads if a.args and a not in varying}
    opened = dict(zip(formulas, substitute(list(formulas.values()), same), strict=True))
    found = _best_parts(substitute(results, same), opened)
    return substitute(found, {s: n for n, s in same.items()})


def _without_number(node: Node) -> Node:
    """Return what a multiple such as -w or 2*w is a multiple of; anything else as it is."""
    if node.op is neg:
        return _without_number(node.args[0])
    if node.op is mul and any(a.is_number() for a in node.args):
        return _without_number(next((a for a in node.args if not a.is_number()), node.args[0]))
    return node


def _best_parts(results: Sequence[Node], formulas: Mapping[Node, Node]) -> Sequence[Node]:
    """Return the formulas of a step with the best forms of their elementwise parts."""
    order = topological(results)
    # Points are drawn for numbers, so each elementwise part is a formula of numbers.
    arrays = {n: _symbol("array", n) for n in order if n.args and not n.op.pointwise}
    return with_parts(results, arrays, lambda parts: _stable_form(parts, formulas))


def _stable_form(direct: Sequence[Node], formulas: Mapping[Node, Node]) -> Sequence[Node]:
    """Return elementwise formulas, or a stable form that loses fewer digits, or no more and costs less."""
    # Late imports: most programs need none of them.
    from symgrad.compiler.forms.one_variable import keep_digits_of_values
    from symgrad.rewrite.choice.samples import Sample, measurable
    from symgrad.rewrite.facts.inference import Conditions
    from symgrad.rewrite.pipeline import canonical, stable

    computed = substitute(direct, formulas)
    arguments = _arguments([*direct, *computed])
    if arguments is None:
        return direct
    best, exact = direct, substitute(computed, arguments)
    if not measurable(exact):
        return direct
    sample = Sample(exact, Conditions())
    faults, price = sample.faults(exact), cost(topological(direct))

    def stable_nodes(nodes: Sequence[Node]) -> Sequence[Node]:
        return stable(nodes).nodes

    forms = substitute(direct, arguments), exact, exact
    for form, choose in zip(forms, (stable_nodes, stable_nodes, keep_digits_of_values), strict=True):
        if choose is keep_digits_of_values and not faults:
            break  # regimes take longer
        short = canonical(form, drop_stops=True).nodes
        found = choose(short)
        if found == short:
            continue
        values = substitute(found, {s: n for n, s in arguments.items() if not s.args})
        inside = substitute(substitute(values, formulas), arguments)
        others, more = sample.faults(inside), cost(topological(values))
        if sample.has_values_of(inside, exact) and (others, more) < (faults, price):
            best, faults, price = values, others, more
    return best


def _arguments(formulas: Sequence[Node]) -> dict[Node, Node] | None:
    """Return a symbol, or a multiple, for each rational formula that a function reads; None without functions."""
    from symgrad.autodiff.products import factors_of, scaled  # late imports, as in `_stable_form`
    from symgrad.rewrite.pipeline import canonical

    functions: set[Node] = set()
    order = topological(formulas)
    for node in order:
        power = node.op.name == "pow" and node.args[1].is_number() and node.args[1].dtype == "int"
        if node.args and (any(a in functions for a in node.args) or not (node.op in _RATIONAL or power)):
            functions.add(node)
    found: dict[Node, Node] = {}
    multiples: dict[Hashable, tuple[Node, Fraction]] = {}
    for inner in _read_by_functions(formulas):
        if not inner.args or inner in functions or inner.dtype != "real":
            continue
        # One symbol stands for w*h, -w*h and 2*w*h.
        product = factors_of(canonical([inner]).nodes[0])
        key = frozenset(product.powers.items()), product.exponent
        known, coefficient = multiples.setdefault(key, (_symbol("argument", inner), product.coefficient))
        found.setdefault(inner, scaled(product.coefficient / coefficient, known))
    return found if functions else None


def _read_by_functions(formulas: Sequence[Node]) -> Iterator[Node]:
    """Yield what functions read, without signs."""
    for node in topological(formulas):
        for arg in node.args if node.op not in _RATIONAL else ():
            yield arg.args[0] if arg.op is neg else arg


def _symbol(role: str, node: Node) -> Node:
    """Return a symbol that stands for a node of a step."""
    return symbol(Declaration(f"{role} {digest(node).hex()} of a step", DOMAINS[node.dtype], node.shape))
