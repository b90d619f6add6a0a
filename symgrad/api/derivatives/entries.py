"""Differentiate by entries of an input: rebuild the input with a new symbol for each such entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

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

__all__ = ["by_entries", "target_named"]

P = ParamSpec("P")
R = TypeVar("R")

_TAKES_ENTRIES = frozenset({"slice", "gather", "reshape"})
_MOVES = _TAKES_ENTRIES | {"unslice", "scatter_add", "one_hot", "broadcast_to"}
_SUMS_OF_VECTORS = ((((0,),), ()), (((0,), (0,)), ()))


def by_entries(verb: Callable[P, R]) -> Callable[P, R]:
    """Let a verb of (y, wrt, ...) take entries and slices of inputs, such as x[3], among what it differentiates by.

    A subscript that a program has named is an intermediate value like any other. Others stand for the entries
    themselves, however the program reads them: in ``sum(x)`` as much as in ``x[3]``.
    """
    names = list(signature(verb).parameters)[:2]
    plain = cast("Callable[..., Any]", verb)

    @wraps(verb)
    def apply(*args: Any, **options: Any) -> Any:
        given = [*args, *(options[n] for n in names[len(args) :] if n in options)]
        if len(given) < 2 or not _needs_split(given[1]):
            return plain(*args, **options)
        y, wrt = given[:2]
        rest = {n: v for n, v in options.items() if n not in names}
        outputs = formulas(as_list(y))
        known = names_of(outputs)
        by = [_read(item, known, outputs) for item in as_list(wrt)]
        entries = dict.fromkeys(e.node for e in by if isinstance(e, Expr) and _is_entry(e))
        if not entries:
            return plain(*_as_given(y, outputs), *_as_given(wrt, by), *args[2:], **rest)
        refuse_distribution_params(outputs, [r for r in map(_root, entries) if r is not None])
        apart = _SplitInputs(list(entries))
        moved = [Expr(n) for n in substitute([e.node for e in outputs], apart.whole)]
        targets = [apart.target(e) if isinstance(e, Expr) else e for e in by]
        result = plain(*_as_given(y, moved), *_as_given(wrt, targets), *args[2:], **rest)
        back = partial(apart.back, outputs=outputs, by=by, named=not options.get("expand", False))
        # All partial derivatives also know what they are by.
        return result.moved(by, back) if isinstance(result, Derivatives) else _mapped(result, back)

    return cast("Callable[P, R]", apply)


def target_named(y: Expr, name: str) -> Expr:
    """Return what one differentiates by, from its name in the program of ``y``, or a text such as x[3].

    Raises:
        NotInProgramError: for what is not there.
        SymgradError: for entries that are not.
    """
    known = names_of([y])
    found = _read(name, known, [y])
    return found if isinstance(found, Expr) else targets_of(y, name)[0]


def _as_given(given: Any, found: Sequence[Any]) -> tuple[Any]:
    return (list(found),) if isinstance(given, list | tuple) else (found[0],)


def _needs_split(wrt: Any) -> bool:
    """Tell whether something else than inputs and names is differentiated by."""
    return any(
        not item.isidentifier() if isinstance(item, str) else isinstance(item, Expr) and bool(item.node.args)
        for item in as_list(wrt)
    )


def _read(item: Any, known: Mapping[str, Expr], outputs: Sequence[Expr]) -> Any:
    """Return what a name or a text such as x[3] means in the programs of the outputs, anything else as it is."""
    if not isinstance(item, str) or item in known or "[" not in item:
        return known.get(item, item) if isinstance(item, str) else item
    try:
        node = parse_expression(item, {name: e.node for name, e in known.items()}, "<wrt>")
    except SymgradError:
        if item.partition("[")[0].strip() in known:
            raise
        return item  # the verb says what is wrong with it
    return Expr(node, listings=listings_of(outputs))


def _is_entry(expr: Expr) -> bool:
    return bool(expr.node.args) and expr.name is None and _root(expr.node) is not None


def _root(node: Node) -> Node | None:
    """Return the real input that a node takes entries of, or None."""
    while node.args:
        turned = (
            node.op.name == "einsum" and len(node.args) == 1 and len(node.shape) == len(node.args[0].shape)
        )
        if node.op.name not in _TAKES_ENTRIES and not turned:
            return None
        node = node.args[0]
    return node if node.op is SYMBOL and node.dtype == "real" else None


class _SplitInputs:
    """Inputs rebuilt from their entries, with new symbols in the place of some.

    Args:
        entries: the nodes that take them.
    """

    def __init__(self, entries: Sequence[Node]) -> None:
        self.places = {e: symbol(Declaration(f"__entry{k}", REAL, e.shape)) for k, e in enumerate(entries)}
        self.whole: dict[Node, Node] = {}
        for entry, place in self.places.items():
            root = _root(entry)
            assert root is not None
            change = pull_back([entry], [place - entry], [root]).gradients[0]
            self.whole[root] = self.whole.get(root, root) + change

    def target(self, expr: Expr) -> Expr:
        place = self.places.get(expr.node)
        return Expr(substitute([expr.node], self.whole)[0] if place is None else place)

    def back(self, found: Expr, outputs: Sequence[Expr], by: Sequence[Any], named: bool) -> Expr:
        """Return a result in the inputs themselves, to be printed in names or not."""
        inputs: Mapping[Node, Node] = {made: root for root, made in self.whole.items()}
        (node,) = substitute([found.node], inputs)
        for entry in self.places:
            whole = _same_entries(entry, node)
            if whole is not None:
                node = _take_entries(entry, whole)
        node = _without_units(node)
        sources = union([*(e.sources for e in outputs), tuple(e.node for e in by if isinstance(e, Expr))])
        origins = origins_of(outputs) if found.derived else ()
        return Expr(
            node,
            listings=listings_of(outputs),
            nothing=found.nothing,
            origins=origins,
            sources=sources,
            in_names=found.derived and named,
        )


def _same_entries(entry: Node, node: Node, bottom: Node | None = None) -> Node | None:
    """Return what a node takes the same entries of as another one does of its input; None if it takes others.

    Args:
        entry: takes entries of an input.
        node: what may take the same ones.
        bottom: stands for the input, if it is no symbol.
    """
    while entry.args and entry is not bottom:
        if not node.args or (entry.op, entry.params, entry.args[1:]) != (node.op, node.params, node.args[1:]):
            return None
        entry, node = entry.args[0], node.args[0]
    return node if node.shape == entry.shape else None


def _take_entries(entry: Node, whole: Node) -> Node:
    """Return the entries of a formula as a formula of entries, where it acts entry by entry."""
    root = _root(entry)
    assert root is not None
    made: dict[Node, Node] = {}
    for node in topological([whole]):
        if not node.shape:
            made[node] = node
        elif node.shape != root.shape:
            continue
        elif node.op.name == "broadcast_to" and not node.args[0].shape:
            made[node] = full(node.args[0], entry.shape)
        elif node.op.pointwise and node.args and all(a in made for a in node.args):
            made[node] = node.op(*(made[a] for a in node.args), params=node.params)
        else:
            placed = _placed_value(entry, root, node)
            (taken,) = substitute([entry], {root: node})
            made[node] = entry_of(taken) or taken if placed is None else placed
    return made[whole]


def _placed_value(entry: Node, root: Node, node: Node) -> Node | None:
    """Return what stands at the entries of an array that is zero elsewhere; None if it is none."""
    if any(n.op.name == "gather" and any(a.shape for a in n.args[1:]) for n in topological([entry])):
        return None  # positions that may be equal
    value = symbol(Declaration("__value", REAL, entry.shape))
    (pattern,) = pull_back([entry], [value], [root]).gradients
    found = _same_entries(pattern, node, value)
    if found is not None:
        return full(found, entry.shape)
    within = node
    while within.op.name in ("unslice", "scatter_add", "reshape"):
        within = within.args[0]
    (mask,) = substitute([node], {within: full(as_node(1), within.shape)}) if within is not node else [node]
    (here,) = substitute([entry], {root: mask})
    return as_node(0) if not here.shape and _unit(here) == [] else None


def _without_units(whole: Node) -> Node:
    """Return a formula with what unit vectors select in their place: 1 or 0 of themselves, x[3] of x."""
    made: dict[Node, Node] = {}
    for node in topological([whole]):
        args = [made[a] for a in node.args]
        if not node.shape and node.op.name in _MOVES and _unit(node) is not None:
            made[node] = as_node(len(_unit(node) or ()))
        elif not node.shape and node.op.name in _MOVES and (entry := entry_of(node)) is not None:
            made[node] = entry
        elif node.op.name == "einsum" and node.params in _SUMS_OF_VECTORS:
            picked = _unit_product([f for a in args for f in _factors(a)])
            made[node] = node.op(*args, params=node.params) if picked is None else picked
        elif args != list(node.args) and node.op.name in ("add", "mul"):
            made[node] = args[0] + args[1] if node.op.name == "add" else args[0] * args[1]
        else:
            made[node] = node.op(*args, params=node.params) if args != list(node.args) else node
    return full(made[whole], whole.shape)


def _factors(node: Node) -> list[Node]:
    return [f for a in node.args for f in _factors(a)] if node.op.name == "mul" else [node]


def _unit_product(factors: Sequence[Node]) -> Node | None:
    """Return the sum of a product of factors if one is a unit vector: the entry it selects; else None."""
    vectors = [f for f in factors if f.shape]
    unit = next((f for f in vectors if _unit(f) is not None), None)
    if unit is None or any(f.shape != unit.shape for f in vectors):
        return None
    place = _unit(unit)
    if not place:
        return as_node(0)
    whole = symbol(Declaration("__whole", REAL, unit.shape))
    product = as_node(1)
    for factor in factors:
        if factor is not unit:
            product = product * (_take_entries(index(whole, place[0]), factor) if factor.shape else factor)
    return product


def _unit(node: Node) -> list[int] | None:
    """Return the place of the 1 in an array of zeros that knows no input ([] if there is none), else None."""
    beneath = topological([node])
    if len(node.shape) > 1 or not all(n.op.name in _MOVES or n.is_number() for n in beneath):
        return None
    sizes = [s for n in beneath for s in n.shape]
    if not all(isinstance(s, int) and s <= MAPPED_ENTRIES for s in sizes):
        return unit_of(node)
    found: list[Any] = np.atleast_1d(evaluate([node], {})[0]).tolist()
    places = [i for i, value in enumerate(found) if value]
    return places if len(places) < 2 and all(found[i] == 1 for i in places) else None


def _mapped(result: Any, change: Callable[[Expr], Expr]) -> Any:
    if isinstance(result, list):
        return [_mapped(r, change) for r in cast("list[Any]", result)]
    return change(result) if isinstance(result, Expr) else result
