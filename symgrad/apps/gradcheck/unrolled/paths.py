"""Explore the execution paths of code that branches on traced values: one run for each outcome of its comparisons.

Each run starts from the beginning and replays the decisions of its path (concolic execution without a solver).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from symgrad.api.handles.expr import Expr, handle
from symgrad.apps.gradcheck.limits import MOST_PATHS
from symgrad.ir.graph import OPS, SYMBOL, Node, as_node
from symgrad.support.errors import UnsupportedError

T = TypeVar("T")

_LESS = {"lt": (False, True), "gt": (True, True), "ge": (False, False), "le": (True, False)}
"""For each comparison, whether its sides are exchanged, and its truth if the first side is then less."""


class OutsideError(IndexError):
    """A position outside the axis: the code raises IndexError on this path."""


@dataclass(slots=True)
class _Path:
    """One execution path: the decisions to replay, those made so far, and the integers they imply."""

    given: Sequence[bool]
    answers: list[tuple[Node, bool]] = field(default_factory=list[tuple[Node, bool]])
    known: dict[Node, bool] = field(default_factory=dict[Node, bool])
    numbers: dict[Node, int] = field(default_factory=dict[Node, int])

    def ask(self, condition: Node) -> bool:
        if condition in self.known:
            return self.known[condition]
        k = len(self.answers)
        found = self.given[k] if k < len(self.given) else True
        self.answers.append((condition, found))
        self.known[condition] = found
        return found


_path: ContextVar[_Path | None] = ContextVar("path of unrolled code", default=None)


@dataclass(frozen=True, slots=True)
class Run(Generic[T]):
    """The result of a run.

    Args:
        answers: the path: its conditions, each with its truth.
        numbers: the integer inputs that the path determines, with their values.
        value: the returned value.
    """

    answers: tuple[tuple[Node, bool], ...]
    numbers: Mapping[Node, Node]
    value: T


def explore_paths(call: Callable[[], T]) -> Iterator[Run[T]]:
    """Yield the result of a call on each execution path, except paths with a position outside an axis.

    Raises:
        UnsupportedError: if there are too many paths.
    """
    pending: list[tuple[bool, ...]] = [()]
    count = 0
    while pending:
        path = _Path(pending.pop())
        count += 1
        if count > MOST_PATHS:
            raise UnsupportedError(f"it asks for the order of entries, in more than {MOST_PATHS} ways")
        token = _path.set(path)
        try:
            value = call()
        except OutsideError:
            value = None
        finally:
            _path.reset(token)
        made = [answer for _, answer in path.answers]
        pending += [(*made[:k], False) for k in range(len(path.given), len(made)) if made[k]]
        if value is not None:
            numbers = {symbol: as_node(n) for symbol, n in path.numbers.items()}
            yield Run(tuple(path.answers), numbers, value)


def _current() -> _Path:
    path = _path.get()
    if path is None:
        raise UnsupportedError("the truth of a formula depends on the values of its inputs")
    return path


def decide(condition: Expr) -> bool:
    """Decide a condition on the current path.

    Raises:
        UnsupportedError: for a condition that is no comparison, and for equality of real numbers: it holds on a set
            without interior, where derivatives cannot be compared.
    """
    node, path = condition.node, _current()
    name = node.op.name
    if name == "not_":
        return not decide(handle(node.args[0]))
    if name in ("and_", "or_"):
        first = decide(handle(node.args[0]))
        return decide(handle(node.args[1])) if first == (name == "and_") else first
    if name in ("eq", "ne"):
        a, b = (_whole(n, path) for n in node.args)
        if isinstance(a, int) and isinstance(b, int):
            return (a == b) == (name == "eq")
        if isinstance(a, Node) and isinstance(b, Node):
            raise UnsupportedError("it asks whether two values are equal")
        symbol, number = (a, b) if isinstance(a, Node) else (b, a)
        assert isinstance(symbol, Node)
        assert isinstance(number, int)
        return _is_number(symbol, number, path) == (name == "eq")
    if name in _LESS:
        a, b = (_whole(n, path) for n in node.args)
        if isinstance(a, int) and isinstance(b, int):
            return {"lt": a < b, "gt": a > b, "ge": a >= b, "le": a <= b}[name]
        if any(n.dtype == "int" for n in node.args if not n.is_number()):
            raise UnsupportedError("it asks for the order of whole numbers")
        turned, strict = _LESS[name]
        args = node.args[::-1] if turned else node.args
        return path.ask(OPS["lt"](*args)) == strict
    raise UnsupportedError("it asks for the truth of what is no comparison")


def _whole(node: Node, path: _Path) -> Node | int:
    """Return the integer that a node is on the current path, else the node."""
    if node in path.numbers:
        return path.numbers[node]
    if node.is_number() and node.value.denominator == 1:
        return int(node.value)
    return node


def _is_number(node: Node, number: int, path: _Path) -> bool:
    if node.op is not SYMBOL or node.dtype != "int":
        raise UnsupportedError("it asks whether two values are equal")
    found = path.ask(OPS["eq"](node, as_node(number)))
    if found:
        path.numbers[node] = number
    return found


def choose(position: Expr, length: int) -> int:
    """Decide which position of an axis an integer input is; negative positions count from the end.

    Raises:
        OutsideError: on the path on which it is outside the axis.
        UnsupportedError: if the position is no input.
    """
    node, path = position.node, _current()
    known = _whole(node, path)
    if isinstance(known, int):
        return known
    if node.op is not SYMBOL:
        raise UnsupportedError("it picks an entry by what is computed")
    for k in (*range(length), *range(-1, -length - 1, -1)):
        if node.declaration.values.admits(k) and _is_number(node, k, path):
            return k
    raise OutsideError
