"""Loops in traced functions as recurrences: the body runs a few times on symbols, and stands for every step.

The first run finds the variables that change: the carries. The second run computes one step from symbols for the
carries and the number of the step. A third run, from the values before the loop, must compute the same formulas;
otherwise the body does not do the same in all steps. Then the carries are bound to their values after the last step.
"""

# The variables of users have any type.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import builtins
import ctypes
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Protocol, cast

import numpy as np

from symgrad.api.functions.loops import fori_loop
from symgrad.api.functions.sizes import size_of
from symgrad.api.functions.structures import leaves_of, rebuilt, structure_text
from symgrad.api.handles.convert import tracing
from symgrad.api.handles.expr import Expr, as_expr
from symgrad.api.limits import UNROLLED_STEPS
from symgrad.api.tracing.rebinding import same_values
from symgrad.ir.body import bound_symbol
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.support.errors import SymgradError, UnsupportedError, placed_error
from symgrad.support.source import Place

_ROUNDS = 6  # runs that may find further carries

_numbers = count(2_000_000)  # beyond the heights of all bodies, and of the loops that are being built


class Loops(Protocol):
    """What a trace knows of its loops.

    Attributes:
        open: the loops that have begun and not ended.
        symbols: the symbols of loops, which must not remain in a result.
        rolls: whether loops over Python's `range` become recurrences, too.
        rolled: whether one has begun.
        carried: for each recurrence the name of its variable, by the values of all steps, and by the last value.
    """

    open: list[Any]
    symbols: set[Node]
    rolls: bool
    rolled: bool
    carried: dict[Node, str]


class NotRepeatedError(Exception):
    """A loop over Python's `range` is to be written out."""


def range(start: Any, stop: Any = None) -> Any:
    """Return the numbers of a loop, which becomes a recurrence in a function that is traced.

    In a function that runs on numbers it is Python's `range`.

    Args:
        start: the first number; without ``stop`` the number after the last one.
        stop: the number after the last one: a number, or an entry of a shape.

    Returns:
        An iterator, for ``for``.

    Raises:
        UnsupportedError: in the loop, if it is left by break or return, if a list grows in it, or if its steps differ.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> def decay(a, x):
        ...     h = 0.0
        ...     for t in sg.range(x.shape[0]):
        ...         h = np.tanh(a*h + x[t])
        ...     return h
        >>> p = sg.from_numpy(decay, a="real", x="real[T]")
        >>> print(p.last(0.5, [1.0, 2.0]) - decay(0.5, np.array([1.0, 2.0])))
        0.0
        >>> print(p)
        a : real
        x : real[T]
        h[0] = 0
        h[t] = tanh(a*h[t-1] + x[t-1]) for t in 1..T
        decay = h[T]
    """
    first, end = (0, start) if stop is None else (start, stop)
    trace = tracing.get()
    if trace is None:
        return builtins.range(first, end)
    return _Steps(cast("Any", trace), size_of(first), size_of(end), rolled=False)


def python_range(*args: Any) -> Any:
    """Return what traced functions have as `range`: loops of many equal steps become recurrences."""
    trace = cast("Any", tracing.get())
    plain = builtins.range(*args)
    if trace is None or not trace.rolls or len(plain) <= UNROLLED_STEPS or plain.step != 1:
        return plain
    trace.rolled = True
    return _Steps(trace, plain.start, plain.stop, rolled=True)


class _Value:
    """The value of a variable at one time."""

    def __init__(self, value: Any) -> None:
        self.leaves = [leaf.copy() if isinstance(leaf, np.ndarray) else leaf for leaf in leaves_of(value)]
        self.tree = rebuilt(value, self.leaves)
        self._text = structure_text(value)

    def same(self, value: Any) -> bool:
        """Tell whether a variable still has this value."""
        return self.fits(value) and all(map(same_values, self.leaves, leaves_of(value)))

    def fits(self, value: Any) -> bool:
        """Tell whether a value has the same structure."""
        return structure_text(value) == self._text

    def with_leaves(self, leaves: Sequence[Any]) -> Any:
        """Return the structure with other values."""
        return rebuilt(self.tree, leaves)


class _Steps:
    """The iterator of a loop that becomes a recurrence."""

    def __init__(self, loops: Loops, start: Size, stop: Size, *, rolled: bool) -> None:
        self._loops, self._start, self._stop, self._rolled = loops, start, stop, rolled
        self._runs = self._body()
        self._frame: Any = None
        self.place: Place | None = None
        self.own: set[Node] = set()  # the symbols of the present run

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self._frame = frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  (the variables of the loop)
        try:
            return next(self._runs)
        except StopIteration:
            raise StopIteration from None
        finally:
            self._frame = None
            del frame

    def refusal(self, what: str, cure: str) -> Exception:
        """Return the error for a loop that cannot be a recurrence."""
        if self._rolled:
            return NotRepeatedError(what)
        error = UnsupportedError(what, expected="a loop whose steps all compute the same", cure=cure)
        return error if self.place is None else placed_error(error, self.place.location())

    def _body(self) -> Iterator[Any]:
        """Yield the number of a step for each run of the body; bind the variables before each run and at the end."""
        self._loops.open.append(self)
        self.place = Place.of(self._frame.f_code.co_filename, self._frame.f_lineno)
        before = {name: _Value(v) for name, v in self._variables().items() if not self._is_of_ended_loop(v)}
        carries: dict[str, list[Node]] = {}
        index = self._symbol("row", (), "int")
        yield index
        for _ in builtins.range(_ROUNDS):
            now = self._variables()
            new = [n for n, v in before.items() if n not in carries and n in now and not v.same(now[n])]
            self.own = {s for symbols in carries.values() for s in symbols}
            for name in new:
                self._check(name, before[name], now[name])
                starts = [as_expr(leaf) for leaf in before[name].leaves]
                carries[name] = [self._symbol("carry", e.shape, "real").node for e in starts]
            if not new:
                break
            self._bind(
                {n: before[n].with_leaves([Expr(s) for s in symbols]) for n, symbols in carries.items()}
            )
            index = self._symbol("row", (), "int")
            yield index
        else:
            raise self.refusal(
                "more and more variables change in the steps of a loop",
                "sg.scan takes the step as a function",
            )
        now = self._variables()
        steps = {n: self._leaves(n, before[n], now[n]) for n in carries}
        self._forget_targets(index.node, carries, steps)
        yield from self._checked(before, carries, steps, index.node)
        last = self._last(before, carries, steps, index.node)
        if (
            self._rolled
            and last
            and not any(symbols_of([e.node]) for leaves in last.values() for e in leaves)
        ):
            raise NotRepeatedError("a loop of numbers")
        self._bind({n: before[n].with_leaves(leaves) for n, leaves in last.items()})
        self._loops.open.remove(self)
        for name, leaves in last.items():
            for e in leaves:
                node = e.node
                self._loops.carried[node] = name
                while node.args and node.op.name not in ("recurrence", "part"):
                    node = node.args[0]
                self._loops.carried[node] = name

    def _checked(
        self,
        before: Mapping[str, _Value],
        carries: Mapping[str, Sequence[Node]],
        steps: Mapping[str, Sequence[Expr]],
        index: Node,
    ) -> Iterator[Any]:
        """Yield the number of the step for a run from the values before the loop; compare it with the formulas."""
        starts = {n: [as_expr(leaf) for leaf in before[n].leaves] for n in carries}
        self._bind({n: before[n].with_leaves(leaves) for n, leaves in starts.items()})
        self.own = set()
        again = self._symbol("row", (), "int")
        yield again
        now = self._variables()
        table = {s: e.node for n, symbols in carries.items() for s, e in zip(symbols, starts[n], strict=True)}
        table[index] = again.node
        for name in carries:
            formulas = [e.node for e in steps[name]]
            first = [e.node for e in self._leaves(name, before[name], now[name])]
            if any(a is not b for a, b in zip(substitute(formulas, table), first, strict=True)):
                raise self.refusal(
                    f"the first step of a loop computes '{name}' in another way than the next",
                    "take this step out of the loop, or np.where(t == 0, a, b)",
                )

    def _last(
        self,
        before: Mapping[str, _Value],
        carries: Mapping[str, Sequence[Node]],
        steps: Mapping[str, Sequence[Expr]],
        index: Node,
    ) -> dict[str, Sequence[Expr]]:
        """Return the values of the carries after the last step."""
        symbols = [s for n in carries for s in carries[n]]
        formulas = [e for n in carries for e in steps[n]]
        init = [as_expr(leaf) for n in carries for leaf in before[n].leaves]

        def step(number: Any, values: Sequence[Expr]) -> list[Expr]:
            table = {index: number.node, **{s: v.node for s, v in zip(symbols, values, strict=True)}}
            nodes = substitute([e.node for e in formulas], table)
            return [
                Expr(n, listings=e.listings, sources=tuple(substitute(e.sources, table)))
                for n, e in zip(nodes, formulas, strict=True)
            ]

        try:
            ends = iter(
                fori_loop(cast("Any", self._start), cast("Any", self._stop), step, init) if init else []
            )
        except SymgradError as error:
            if self._rolled:
                raise NotRepeatedError(str(error)) from None
            raise
        return {n: [next(ends) for _ in carries[n]] for n in carries}

    def _check(self, name: str, before: _Value, now: Any) -> None:
        if not before.fits(now):
            raise self.refusal(
                f"'{name}' has another structure after a step: {structure_text(now)}",
                "sg.scan returns what each step computes as an array",
            )
        for first, value in zip(before.leaves, leaves_of(now), strict=True):
            shapes = [None if _is_other(v) else as_expr(v).shape for v in (first, value)]
            if None in shapes:
                raise self.refusal(
                    f"'{name}', a value of type {type(first).__name__}, changes from step to step",
                    "np.where(t == 0, a, b) chooses by the number t of the step",
                )
            if shapes[0] != shapes[1]:
                raise self.refusal(
                    f"'{name}' has the shape {shapes[0]} before a loop, and {shapes[1]} after a step",
                    "begin with an array of this shape: np.zeros(shape)",
                )

    def _leaves(self, name: str, before: _Value, now: Any) -> list[Expr]:
        self._check(name, before, now)
        return [as_expr(leaf) for leaf in leaves_of(now)]

    def _forget_targets(
        self, index: Node, carries: dict[str, list[Node]], steps: dict[str, list[Expr]]
    ) -> None:
        """Leave out variables that are the number of the step, unless the next step reads them."""
        read = set(symbols_of([e.node for leaves in steps.values() for e in leaves]))
        for name in list(carries):
            if [e.node for e in steps[name]] == [index] and not read.intersection(carries[name]):
                del carries[name], steps[name]

    def _symbol(self, role: str, shape: Any, kind: Any) -> Expr:
        node = bound_symbol(role, 0, next(_numbers), shape, kind)
        self._loops.symbols.add(node)
        self.own.add(node)
        return Expr(node)

    def _is_of_ended_loop(self, value: Any) -> bool:
        """Tell whether a variable has a value of a step of an earlier loop."""
        nodes = [leaf.node for leaf in leaves_of(value) if isinstance(leaf, Expr)]
        ended = self._loops.symbols - {s for loop in self._loops.open for s in loop.own}
        return not ended.isdisjoint(symbols_of(nodes))

    def _variables(self) -> dict[str, Any]:
        return dict(self._frame.f_locals)

    def _bind(self, values: Mapping[str, Any]) -> None:
        """Bind variables of the function, as a debugger does."""
        names = self._frame.f_locals
        for name, value in values.items():
            names[name] = value
        if sys.version_info < (3, 13):  # later versions write through
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(self._frame), ctypes.c_int(0))


def _is_other(value: Any) -> bool:
    numbers = int | float | np.number | Expr | np.ndarray
    return isinstance(value, bool | np.bool_) or not isinstance(value, numbers)
