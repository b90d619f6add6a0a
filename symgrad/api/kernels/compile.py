"""From expressions to a kernel."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from symgrad.api.derivatives.targets import Wrt, Wrts, many
from symgrad.api.handles.expr import Expr, node_of
from symgrad.api.handles.given import Formula, Formulas, formulas
from symgrad.api.handles.inputs import array_program, inputs_of, known_symbols, ordered_symbols, unbound_sizes
from symgrad.api.kernels.residuals import residuals
from symgrad.backward.vjp import pull_back
from symgrad.errors import MissingInputError, NotInProgramError, NumberTooLargeError, UsageError
from symgrad.ir.collector import growing
from symgrad.ir.graph import OPS, SYMBOL, Node, as_node
from symgrad.ir.listing import one_of, suggest
from symgrad.ir.traverse import substitute, topological
from symgrad.kernel.compile import compile_nodes
from symgrad.kernel.kernel import Kernel
from symgrad.lower.cost import own_cost
from symgrad.lower.elementwise.coefficients import gathered
from symgrad.lower.elementwise.known_sums import regrouped
from symgrad.lower.elementwise.scales import rescaled
from symgrad.ops.scalar.arith import add, div, mul, neg, pow

__all__ = ["compile"]

_EVERYWHERE = frozenset((add, mul, neg, OPS["stop_gradient"]))
_SMALL = 160  # equations

# Up to this many equations a derivative is brought to canonical form before it is compiled; beyond, rewriting would
# dominate the time to compile.
_CANONICAL_UP_TO = 400


def compile(
    outputs: Formula | Formulas,
    inputs: Wrt | Wrts | None = None,
    *,
    dtype: Any = "float64",
    threads: int = 1,
    accuracy: str = "high",
    effort: str = "auto",
    name: str = "kernel",
) -> Kernel:
    r"""Compile expressions to native code: all outputs in one pass over the inputs.

    What you wrote is computed operation by operation as written, with the bits of NumPy for ``+ - * /`` and
    sqrt; derivatives, whose arrangement is symgrad's own, are brought to canonical form first, and to stable forms
    where those lose fewer digits.

    Args:
        outputs: one expression or several.
        inputs: the symbols, or their names, in the order of the kernel's arguments; by default all that are needed,
            in the order of the program's declarations. Needed is what is read, and for every named size an array
            that has it: the gradient of sum(X) reads no entry of X, but X says how many ones it has.
        dtype: ``float64`` or ``float32``.
        threads: in how many threads a call with large arrays runs, at most as many as there are processors. Results
            have the same bits with any number. Arrays are cut along their longest axis, those of array programs along
            the batch; nothing is started for small ones.
        accuracy: ``high``, or ``fast``: what you wrote may be rearranged too, as derivatives are, and products and sums
            may be rounded once together; and functions are within four units of the last place, instead of one. It is
            equal in exact arithmetic, but no longer NumPy's bits; a difference such as ``g - stop_gradient(g)`` that is
            exactly zero as written may become a rounding error.
        effort: ``auto``, or ``high``. An elementwise kernel is compiled quickly at first, to code that takes up to
            twice the time. Once it has computed so many elements that better code would have paid, or is called with so
            many, the next call compiles that first. Results have the same bits before and after. ``high`` compiles the
            better code at once: for measuring, and where no call may pause.
        name: the name of the kernel and of the symbols in its object file.

    Returns:
        A Kernel: call it with arrays that broadcast. One output gives the array itself, several a tuple.
        ``.ufunc`` is the NumPy ufunc, ``.llvm_ir`` and ``.asm`` the code.

    Raises:
        NotInProgramError: if a name among the inputs is not an input of the program.
        MissingInputError: if an expression reads a symbol that is not among the inputs, or needs a size that none
            of them has.
        NumberTooLargeError: if a constant does not fit the dtype.
        UsageError, UnsupportedError: for arguments that do not fit.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(x**2*u)")
        >>> k = sg.compile([p["z"], sg.grad(p["z"], p["x"])])
        >>> z, dz = k(np.array([-2.0, 3.0]), 1.0)
        >>> z, dz
        (array([2., 3.]), array([-1.,  1.]))
    """
    if accuracy not in ("high", "fast"):
        raise UsageError(f"accuracy={accuracy!r}", expected="accuracy='high' or accuracy='fast'")
    if effort not in ("auto", "high"):
        raise UsageError(f"effort={effort!r}", expected="effort='auto' or effort='high'")
    if not isinstance(cast("Any", name), str):
        raise UsageError(f"name={name!r}", expected="a string", cure="name='kernel'")
    exprs = formulas(many(outputs))
    if not exprs:
        raise UsageError("there is nothing to compile", expected="at least one expression")
    if inputs is None:
        symbols = inputs_of(exprs)
    else:
        symbols = [_input(i, exprs) for i in ([inputs] if isinstance(inputs, Expr | str) else inputs)]
        _check_sizes(exprs, symbols)
    fast = accuracy == "fast"
    nodes, fusable = arranged(exprs, fast=fast)
    return compile_nodes(
        nodes,
        symbols,
        dtype=dtype,
        name=name,
        threads=threads,
        fusable=fusable,
        fast=fast,
        effort=effort,
    )


def _input(item: Any, exprs: Sequence[Expr]) -> Node:
    if not isinstance(item, str):
        return node_of(item)
    known = {s.name: s for s in (*known_symbols(exprs), *ordered_symbols(exprs))}
    if item not in known:
        raise NotInProgramError(
            f"'{item}' is not an input",
            expected=one_of(known),
            cure=suggest(item, known),
        )
    return known[item]


def _check_sizes(exprs: Sequence[Expr], inputs: Sequence[Node]) -> None:
    missing = unbound_sizes([e.node for e in exprs], inputs)
    if missing:
        owner = next((s.name for s in known_symbols(exprs) if missing[0] in s.shape), None)
        raise MissingInputError(
            f"the size {missing[0]} is needed, and no input has it in its shape",
            expected="inputs whose shapes give every size",
            cure=f"declare an input such as like_{missing[0]} : real[{missing[0]}], which need not occur in the outputs"
            if owner is None
            else f"add {owner} to inputs, or leave inputs out",
        )


@growing()
def arranged(exprs: Sequence[Expr], *, fast: bool = False) -> tuple[list[Node], frozenset[Node]]:
    """Return the nodes to compile, and those whose products and sums may be fused.

    The user's own expressions are as written, and derivatives of moderate size in canonical form. In larger ones
    numbers are taken out of products and sums. What the user did not write may be fused; with ``fast`` nothing counts
    as the user's own, and they too may be in another form, if it is cheaper.
    """
    if not fast:
        return _arranged(exprs, fast=False)
    forms = [_arranged(exprs, fast=f)[0] for f in (False, True)]
    everything = [topological(nodes) for nodes in forms]
    cheapest = min((0, 1), key=lambda k: _cost(everything[k]))
    return forms[cheapest], frozenset(everything[cheapest])


def _arranged(exprs: Sequence[Expr], *, fast: bool) -> tuple[list[Node], frozenset[Node]]:
    own = [] if fast else [e for e in exprs if not e.derived]
    ours = [e for e in exprs if fast or e.derived]
    derived = [e.node for e in ours]
    rewritten = dict(zip(derived, derived, strict=True))
    primal = [] if fast else topological([*(e.node for e in own), *(o for e in exprs for o in e.origins)])
    size = len(topological(derived))
    direct = derived
    if size > _SMALL:
        with suppress(NumberTooLargeError):  # numbers that would be too long stay where they are
            direct = rescaled(gathered(regrouped(derived, primal), primal), primal)
    if size > _CANONICAL_UP_TO:
        rewritten = dict(zip(derived, direct, strict=True))
    elif derived:
        stand_ins, values = residuals([e.node for e in own], derived)
        fine = not stand_ins and _evidently_fine(direct, primal)
        nodes = direct if fine else _canonical(ours, direct, primal, stand_ins)
        rewritten = dict(zip(derived, substitute(nodes, values), strict=True))
    fusable = frozenset(topological(list(rewritten.values()))).difference(primal)
    whole = any(n.dtype == "int" for n in rewritten.values())
    arrays = whole and (array_program(rewritten.values()) or any(e.shape for e in exprs))
    return [
        _real(rewritten[e.node], arrays) if e.derived else rewritten[e.node] if fast else e.node
        for e in exprs
    ], fusable


def _canonical(
    exprs: Sequence[Expr], direct: Sequence[Node], primal: Collection[Node], stand_ins: Mapping[Node, Node]
) -> Sequence[Node]:
    """Return derivatives in canonical form, or in the form that loses fewer digits or is cheaper."""
    from symgrad.rules.pipeline import canonical, stable

    derived = [e.node for e in exprs]

    def reduced(nodes: Sequence[Node], values: Mapping[Node, Node]) -> Sequence[Node]:
        # A kernel computes values, and the value of stop_gradient(e) is e.
        return canonical(substitute(nodes, values), drop_stops=True).nodes

    # The user's own values have lost digits where the formula does: they are read only where no other form would keep
    # them. Sums of products are, as long as it is not what they sum up that loses digits.
    sums: Mapping[Node, Node] = {n: s for n, s in stand_ins.items() if n.op.name == "einsum"}
    summed = substitute([a for n in sums for a in n.args], sums)
    if any(a.args for a in summed) and stable(summed).nodes != summed:
        stand_ins = sums = {}
    nodes = reduced(derived, sums)
    # Collecting equal factors can lose digits, or overflow, where the derivative as derived does not.
    others = (lambda: substitute(derived, sums), lambda: reduced(_of_stable(exprs), sums))
    kept = stable(nodes, others).nodes
    if kept != nodes:
        return kept
    if stand_ins:
        return nodes if len(sums) == len(stand_ins) else reduced(derived, stand_ins)
    return _cheaper(nodes, direct, primal)


def _evidently_fine(direct: Sequence[Node], primal: Collection[Node]) -> bool:
    """Tell whether no other form has anything to offer beside derivatives as the chain rule gave them.

    So it is where they are products and sums of what the user's own expressions compute anyway, none of which may be
    infinite, and where no sum has a number among its terms, as those have that cancel (1 - tanh(x)**2): the Jacobian of
    a chain of rotations, say, whose canonical form takes ten times as long to find as to compile. Small ones are never.
    """
    order = topological(direct)
    own = set(primal)
    for n in order:
        with_number = n.op is add and any(a.is_number() for a in n.args)
        if n.args and n not in own and (n.op not in _EVERYWHERE or with_number):
            return False
    return len(order) > _SMALL and not any(map(_may_be_infinite, order))


def _cheaper(nodes: Sequence[Node], direct: Sequence[Node], primal: Collection[Node]) -> Sequence[Node]:
    """Return derivatives as the chain rule gave them if they are cheaper so, and defined wherever they can be.

    What the chain rule reads, the user's own expressions compute anyway; a form that collects has it in other words.
    Small ones, in which a person would see the difference, are as they were chosen; and so are those that collect in an
    exponent, say, what the chain rule multiplies: exp(x - exp(x)) is zero where exp(-exp(x))*exp(x) is no number.
    """
    order, other = topological(direct), topological(nodes)
    if len(order) <= _SMALL:
        return nodes
    known = {*primal, *other}
    everywhere = all(n in known or n.op in _EVERYWHERE or not n.args for n in order)
    cheaper = everywhere and _cost({*order, *primal}) < _cost(known)
    return direct if cheaper and _unbounded(order) == _unbounded(other) else nodes


def _unbounded(order: Sequence[Node]) -> set[Node]:
    """Return what of all these may be infinite where its arguments are not, in canonical form."""
    from symgrad.rules.pipeline import canonical

    found = [*filter(_may_be_infinite, order)]
    if not found:
        return set()
    return {*filter(_may_be_infinite, topological(canonical(found, drop_stops=True).nodes))}


def _may_be_infinite(node: Node) -> bool:
    """Tell whether a node that is no product or sum may be infinite where its arguments are not."""
    if not node.args or node.op in _EVERYWHERE or "bounded-by-one" in node.op.facts:
        return False
    last = node.args[-1]
    if node.op is div:
        return not last.is_number()
    return not (node.op is pow and last.is_number() and last.dtype == "int" and last.value > 0)


def _cost(nodes: Collection[Node]) -> int:
    return sum(map(own_cost, nodes))


def _of_stable(exprs: Sequence[Expr]) -> list[Node]:
    """Return the derivatives anew from stable forms of what was differentiated: digits are kept more easily than found.

    Only where pulling back once more what the trace says gives the same derivative: nothing was held constant then.
    """
    from symgrad.rules.pipeline import stable

    found: list[Node] = []
    forms: dict[Node, Node] = {}
    for e in exprs:
        found.append(e.node)
        for trace in e.traces:
            if len(trace.outputs) != 1 or e.node not in trace.gradients:
                continue
            ((primal, seed),) = trace.outputs
            wrt = trace.wrt[trace.gradients.index(e.node)]
            form = forms.get(primal)
            if form is None:
                form = forms[primal] = stable([primal]).nodes[0]
            if form is not primal and wrt.op is SYMBOL:
                again, other = (pull_back([f], [seed], [wrt]).gradients[0] for f in (primal, form))
                found[-1] = other if again is e.node else e.node
            break
    return found


def _real(derivative: Node, arrays: bool) -> Node:
    """Return a derivative so that a kernel delivers real numbers, even where all of them are whole: ones, say."""
    return div(derivative, as_node(1)) if arrays and derivative.dtype == "int" else derivative
