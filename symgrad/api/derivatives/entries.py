"""Differentiate by entries of an input, such as x[3]: substitute x + scatter(s - x[3]) for x, with a new symbol s."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from symgrad.api.derivatives.derivative_table import DerivativeList
from symgrad.api.derivatives.distribution_check import refuse_distribution_params
from symgrad.api.derivatives.partials import Derivatives
from symgrad.api.derivatives.targets import as_list, names_of, origins_of, targets_of
from symgrad.api.functions.entry_tracing import entry_of, unit_of
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import formulas
from symgrad.api.handles.inputs import listings_of, union
from symgrad.api.limits import MAPPED_ENTRIES
from symgrad.autodiff.vjp import pull_back
from symgrad.frontend.text import parse_expression
from symgrad.ir.graph import SYMBOL, Node, as_node, symbol
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import REAL, Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.layout import full
from symgrad.ops.numpy.subscripts import index
from symgrad.support.errors import SymgradError
from symgrad.support.traversal import leaves

P = ParamSpec("P")
R = TypeVar("R")

_TAKES_ENTRIES = frozenset({"slice", "gather", "reshape"})
_MOVES = _TAKES_ENTRIES | {"unslice", "scatter_add", "one_hot", "broadcast_to"}
_SUMS_OF_VECTORS = ((((0,),), ()), (((0,), (0,)), ()))


def by_entries(verb: Callable[P, R]) -> Callable[P, R]:
    """Let a function of (y, wrt, ...) differentiate by entries and slices of inputs, such as x[3].

    A subscript that has a name in the program is an intermediate value. Any other subscript stands for entries of the
    input, wherever the program reads them; x[3], for example, is also read in ``sum(x)``.
    """
    names = list(signature(verb).parameters)[:2]
    plain = cast("Callable[..., Any]", verb)

    @wraps(verb)
    def apply(*args: Any, **options: Any) -> Any:
        arguments = [*args, *(options[n] for n in names[len(args) :] if n in options)]
        if len(arguments) < 2 or not _needs_split(arguments[1]):
            return plain(*args, **options)
        y, wrt = arguments[:2]
        rest = {n: v for n, v in options.items() if n not in names}
        outputs = formulas(as_list(y))
        known = names_of(outputs)
        by = [_parse_target(item, known, outputs) for item in as_list(wrt)]
        entries = dict.fromkeys(e.node for e in by if isinstance(e, Expr) and _is_entry(e))
        if not entries:
            return plain(_one_or_list(y, outputs), _one_or_list(wrt, by), *args[2:], **rest)
        refuse_distribution_params(outputs, [r for r in map(_root, entries) if r is not None])
        split = _SplitInputs(list(entries))
        substituted = [Expr(n) for n in substitute([e.node for e in outputs], split.inputs)]
        targets = [split.target(e) if isinstance(e, Expr) else e for e in by]
        result = plain(_one_or_list(y, substituted), _one_or_list(wrt, targets), *args[2:], **rest)
        back = partial(split.back, outputs=outputs, by=by, named=not options.get("expand", False))
        # Tables of derivatives also contain what is differentiated, and the variables.
        if isinstance(result, DerivativeList):
            pairs = zip((*substituted, *targets), (*outputs, *by), strict=True)
            return result.mapped(back, {s.node: e for s, e in pairs if isinstance(s, Expr)})
        return result.moved(by, back) if isinstance(result, Derivatives) else back(result)

    return cast("Callable[P, R]", apply)


def target_named(y: Expr, name: str) -> Expr:
    """Return the target that a name in the program of ``y``, or a text such as x[3], stands for.

    Raises:
        NotInProgramError: if the program has no such name.
        SymgradError: if the array has no such entries.
    """
    found = _parse_target(name, names_of([y]), [y])
    return found if isinstance(found, Expr) else targets_of(y, name)[0]


def _one_or_list(argument: Any, values: Sequence[Any]) -> Any:
    """Return a list of values if the argument was a list, else the single value."""
    return list(values) if isinstance(argument, list | tuple) else values[0]


def _needs_split(wrt: Any) -> bool:
    """Tell whether a target is neither an input nor a name."""
    return any(
        not item.isidentifier() if isinstance(item, str) else isinstance(item, Expr) and bool(item.node.args)
        for item in as_list(wrt)
    )


def _parse_target(item: Any, known: Mapping[str, Expr], outputs: Sequence[Expr]) -> Any:
    """Return the expression of a name or a text such as x[3] in the programs of the outputs, or the item itself."""
    if not isinstance(item, str):
        return item
    if item in known or "[" not in item:
        return known.get(item, item)
    try:
        node = parse_expression(item, {name: e.node for name, e in known.items()}, "<wrt>")
    except SymgradError:
        if item.partition("[")[0].strip() in known:
            raise
        return item  # the caller raises the error
    return Expr(node, listings=listings_of(outputs))


def _is_entry(expr: Expr) -> bool:
    return bool(expr.node.args) and expr.name is None and _root(expr.node) is not None


def _root(node: Node) -> Node | None:
    """Return the real input from which a node takes entries, or None."""
    while node.args:
        transposes = (
            node.op.name == "einsum" and len(node.args) == 1 and len(node.shape) == len(node.args[0].shape)
        )
        if node.op.name not in _TAKES_ENTRIES and not transposes:
            return None
        node = node.args[0]
    return node if node.op is SYMBOL and node.dtype == "real" else None


class _SplitInputs:
    """Inputs with new symbols at some of their entries.

    Args:
        entries: nodes that take entries of inputs.

    Attributes:
        symbols: the new symbol of each entry.
        inputs: for each input x, the formula x + scatter(symbol - entry).
    """

    def __init__(self, entries: Sequence[Node]) -> None:
        self.symbols = {e: symbol(Declaration(f"__entry{k}", REAL, e.shape)) for k, e in enumerate(entries)}
        self.inputs: dict[Node, Node] = {}
        for entry, new in self.symbols.items():
            root = _root(entry)
            assert root is not None
            change = pull_back([entry], [new - entry], [root]).gradients[0]
            self.inputs[root] = self.inputs.get(root, root) + change

    def target(self, expr: Expr) -> Expr:
        new = self.symbols.get(expr.node)
        return Expr(substitute([expr.node], self.inputs)[0] if new is None else new)

    def back(self, result: Expr, outputs: Sequence[Expr], by: Sequence[Any], named: bool) -> Expr:
        """Rewrite a result in the inputs themselves.

        Args:
            result: an expression in the inputs with new symbols.
            outputs: the expressions that were differentiated.
            by: the targets.
            named: whether to print the result in the names of the program.
        """
        (node,) = substitute([result.node], {split: root for root, split in self.inputs.items()})
        for entry in self.symbols:
            array = _same_entries(entry, node)
            if array is not None:
                node = _take_entries(entry, array)
        return Expr(
            _without_units(node),
            listings=listings_of(outputs),
            nothing=result.nothing,
            origins=origins_of(outputs) if result.derived else (),
            sources=union([*(e.sources for e in outputs), tuple(e.node for e in by if isinstance(e, Expr))]),
            in_names=result.derived and named,
        )


def _same_entries(entry: Node, node: Node, bottom: Node | None = None) -> Node | None:
    """Match ``node = take(array)`` with ``entry = take(input)`` and return the array, or None.

    Args:
        entry: a node that takes entries of an input.
        node: a node that may take the same entries.
        bottom: the input, if it is not a symbol.
    """
    while entry.args and entry is not bottom:
        if not node.args or (entry.op, entry.params, entry.args[1:]) != (node.op, node.params, node.args[1:]):
            return None
        entry, node = entry.args[0], node.args[0]
    return node if node.shape == entry.shape else None


def _take_entries(entry: Node, array: Node) -> Node:
    """Take entries before elementwise operations: f(x)[i] = f(x[i])."""
    root = _root(entry)
    assert root is not None
    result: dict[Node, Node] = {}
    for node in topological([array]):
        if not node.shape:
            result[node] = node
        elif node.shape != root.shape:
            continue
        elif node.op.name == "broadcast_to" and not node.args[0].shape:
            result[node] = full(node.args[0], entry.shape)
        elif node.op.pointwise and node.args and all(a in result for a in node.args):
            result[node] = node.op(*(result[a] for a in node.args), params=node.params)
        else:
            scattered = _scattered_value(entry, root, node)
            (taken,) = substitute([entry], {root: node})
            result[node] = entry_of(taken) or taken if scattered is None else scattered
    return result[array]


def _scattered_value(entry: Node, root: Node, node: Node) -> Node | None:
    """Return the value at the entries of an array that is zero elsewhere; None for other arrays."""
    if any(n.op.name == "gather" and any(a.shape for a in n.args[1:]) for n in topological([entry])):
        return None  # positions may repeat
    value = symbol(Declaration("__value", REAL, entry.shape))
    (pattern,) = pull_back([entry], [value], [root]).gradients
    found = _same_entries(pattern, node, value)
    if found is not None:
        return full(found, entry.shape)
    inner = node
    while inner.op.name in ("unslice", "scatter_add", "reshape"):
        inner = inner.args[0]
    (mask,) = substitute([node], {inner: full(as_node(1), inner.shape)}) if inner is not node else [node]
    (here,) = substitute([entry], {root: mask})
    return as_node(0) if not here.shape and _unit(here) == [] else None


def _without_units(array: Node) -> Node:
    """Contract unit vectors: e_i[j] = 0 or 1, sum(e_i*x) = x[i]."""
    result: dict[Node, Node] = {}
    for node in topological([array]):
        args = [result[a] for a in node.args]
        if not node.shape and node.op.name in _MOVES and (unit := _unit(node)) is not None:
            result[node] = as_node(len(unit))
        elif not node.shape and node.op.name in _MOVES and (entry := entry_of(node)) is not None:
            result[node] = entry
        elif node.op.name == "einsum" and node.params in _SUMS_OF_VECTORS:
            factors = [f for a in args for f in leaves(a, lambda n: n.args if n.op.name == "mul" else None)]
            selected = _unit_product(factors)
            result[node] = node.op(*args, params=node.params) if selected is None else selected
        elif args != list(node.args) and node.op.name in ("add", "mul"):
            result[node] = args[0] + args[1] if node.op.name == "add" else args[0] * args[1]
        else:
            result[node] = node.op(*args, params=node.params) if args != list(node.args) else node
    return full(result[array], array.shape)


def _unit_product(factors: Sequence[Node]) -> Node | None:
    """Return sum(e_i*x*y*...) = x[i]*y[i]*... if one of the factors is a unit vector e_i, else None."""
    vectors = [f for f in factors if f.shape]
    unit, position = next(((f, p) for f in vectors if (p := _unit(f)) is not None), (None, None))
    if unit is None or any(f.shape != unit.shape for f in vectors):
        return None
    if not position:
        return as_node(0)
    vector = symbol(Declaration("__whole", REAL, unit.shape))
    product = as_node(1)
    for factor in factors:
        if factor is not unit:
            product = product * (
                _take_entries(index(vector, position[0]), factor) if factor.shape else factor
            )
    return product


def _unit(node: Node) -> list[int] | None:
    """Return [i] for a unit vector e_i (or the scalar 1), [] for zeros, None for any other array or an input."""
    beneath = topological([node])
    if len(node.shape) > 1 or not all(n.op.name in _MOVES or n.is_number() for n in beneath):
        return None
    sizes = [s for n in beneath for s in n.shape]
    if not all(isinstance(s, int) and s <= MAPPED_ENTRIES for s in sizes):
        return unit_of(node)
    values: list[Any] = np.atleast_1d(evaluate([node], {})[0]).tolist()
    nonzero = [i for i, value in enumerate(values) if value]
    return nonzero if len(nonzero) < 2 and all(values[i] == 1 for i in nonzero) else None
