"""Trace functions of plain NumPy by running them on arrays of entries; prove claims about one entry at a time."""

# NumPy's annotations know no arrays of objects.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from symgrad.api.claims.verify import verify
from symgrad.api.handles.expr import Expr, handle
from symgrad.apps.gradcheck.gradient_code import CallResult, by_name
from symgrad.apps.gradcheck.limits import MOST_UNROLLED
from symgrad.apps.gradcheck.unrolled.arrays import EntryArray, MaskedEntries
from symgrad.apps.gradcheck.unrolled.entries import FormulaEntry, formula_of
from symgrad.apps.gradcheck.unrolled.numpy_shim import rebind_numpy
from symgrad.apps.gradcheck.unrolled.paths import Run, explore_paths
from symgrad.checker.clock import now
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.sizes import names_of
from symgrad.ir.traverse import substitute
from symgrad.ops.numpy.calls import stack
from symgrad.ops.numpy.subscripts import index
from symgrad.ops.scalar.logic import where
from symgrad.support.errors import SymgradError, UnsupportedError
from symgrad.verification.verdict import Verdict

_LEAST = 0.3  # seconds for an entry


class _Inputs:
    """Arrays of entries for the inputs of code.

    Args:
        exprs: the inputs, by name, with numbers for sizes.

    Raises:
        UnsupportedError: if there are too many entries, or an input is random or symmetric.
    """

    def __init__(self, exprs: Mapping[str, Expr]) -> None:
        self.exprs = exprs
        self.symbols: dict[str, Any] = {}
        self.places: dict[Node, Node] = {}
        if names_of(*(e.shape for e in exprs.values())):
            raise UnsupportedError("the sizes of its arrays are not known")
        if sum(math.prod(n for n in e.shape if isinstance(n, int)) for e in exprs.values()) > MOST_UNROLLED:
            raise UnsupportedError(f"its arguments have more than {MOST_UNROLLED} entries")
        for name, e in exprs.items():
            declaration = e.node.declaration
            if declaration.distribution is not None or declaration.symmetric:
                raise UnsupportedError(f"the entries of '{name}' are not independent inputs")
            shape: Any = e.shape
            table = np.empty(shape, dtype=object)
            for at in np.ndindex(*table.shape):
                own = "_".join([name, *map(str, at)])
                entry = symbol(replace(declaration, name=own, shape=())) if at else e.node
                table[at] = entry
                self.places[entry] = index(e.node, at) if at else e.node
            self.symbols[name] = table

    def arrays(self) -> dict[str, Any]:
        """Return new arrays, by name, because code may write into its arguments."""
        found: dict[str, Any] = {}
        for name, table in self.symbols.items():
            array = np.empty(table.shape, dtype=object)
            for at in np.ndindex(*table.shape):
                array[at] = FormulaEntry(handle(table[at]))
            found[name] = array.view(EntryArray) if array.shape else array[()]
        return found

    def joined(self, entries: Any) -> Expr:
        """Return an array of nodes over entries as a formula over the inputs."""
        flat = list(np.ravel(entries))
        table = dict(zip(flat, substitute(flat, self.places), strict=True))
        array = np.asarray(entries, dtype=object)

        def nested(at: tuple[int, ...]) -> Node:
            if len(at) == array.ndim:
                return table[array[at]]
            return stack([nested((*at, k)) for k in range(array.shape[len(at)])])

        return handle(nested(()))


def _nodes(value: Any) -> Any:
    """Return a value that code returned as an array of nodes."""
    if isinstance(value, MaskedEntries):
        raise UnsupportedError("it returns what a mask takes out")
    given: Any = np.array(value, dtype=object) if isinstance(value, list) else value
    array = np.asarray(given.view(np.ndarray) if isinstance(given, np.ndarray) else None, dtype=object)
    if not isinstance(given, np.ndarray):
        array = np.empty((), dtype=object)
        array[()] = given
    found = np.empty(array.shape, dtype=object)
    for at in np.ndindex(*array.shape):
        found[at] = formula_of(array[at]).node
    return found


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = list(cast("Mapping[Any, Any]", value).values())
    if isinstance(value, list | tuple):
        for part in cast("Sequence[Any]", value):
            yield from _leaves(part)
    elif value is not None:
        yield value


def _merge_paths(found: Sequence[Run[list[Any]]], depth: int = 0) -> list[Any]:
    """Merge the results of all paths into one formula, by their conditions."""
    if len(found) == 1 and depth >= len(found[0].answers):
        return found[0].value
    sides = [[r for r in found if r.answers[depth][1] is answer] for answer in (True, False)]
    if not all(sides):  # the other side indexes outside an axis
        return _merge_paths(sides[0] or sides[1], depth + 1)
    condition = found[0].answers[depth][0]
    first, second = (_merge_paths(s, depth + 1) for s in sides)
    if [a.shape for a in first] != [a.shape for a in second]:
        raise UnsupportedError("the shapes of what it returns depend on the values")
    chosen = np.frompyfunc(lambda a, b: a if a is b else where(condition, a, b), 2, 1)
    return [np.asarray(chosen(a, b), dtype=object) for a, b in zip(first, second, strict=True)]


def _every(call: Callable[[], list[Any]]) -> list[Run[list[Any]]]:
    found = list(explore_paths(call))
    if not found:
        raise UnsupportedError("it asks for positions that no axis has")
    return [replace(r, value=[_with(a, r.numbers) for a in r.value]) for r in found]


def _with(entries: Any, numbers: Mapping[Node, Node]) -> Any:
    """Substitute numbers for inputs in entries."""
    if not numbers or not entries.size:
        return entries
    made = np.empty(entries.size, dtype=object)
    made[:] = substitute(list(entries.flat), numbers)
    return made.reshape(entries.shape)


def unrolled_outputs(function: Callable[..., Any], inputs: Mapping[str, Expr]) -> list[Expr]:
    """Return the outputs of a function of plain NumPy as formulas, by running it on arrays of entries.

    Args:
        function: the function; it may write into its own arrays, and loop over entries.
        inputs: its arguments, by name, with numbers for sizes.

    Raises:
        UnsupportedError: if the function cannot be traced; the function may raise anything else.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> def loss(w):
        ...     total = np.zeros(2)
        ...     for i in range(2):
        ...         total[i] += w[i]**2
        ...     return total
        >>> print(unrolled_outputs(loss, {"w": sg.tensor("w", (2,))})[0])
        stack((w[0]**2, w[1]**2))
    """
    own, made = _Inputs(inputs), rebind_numpy(function)
    found = _every(lambda: [_nodes(v) for v in _leaves(made(*own.arrays().values()))])
    return [own.joined(entries) for entries in _merge_paths(found)]


class Unrolled:
    """A function and its gradient code, run together on arrays of entries.

    Args:
        function: the differentiated function.
        code: the gradient code.
        inputs: the arguments of the function, by name.
        cotangents: the further arguments of the code, by name.
        wrt: the names of the arguments by which the code differentiates.

    Raises:
        UnsupportedError: if they cannot be traced; both may raise anything else.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        code: Callable[..., Any],
        inputs: Mapping[str, Expr],
        cotangents: Mapping[str, Expr],
        wrt: Sequence[str],
    ) -> None:
        self._inputs = _Inputs({**inputs, **cotangents})
        self._wrt = wrt
        f, grad_f = rebind_numpy(function), rebind_numpy(code)

        def call() -> list[Any]:
            given = self._inputs.arrays()
            outputs = [_nodes(v) for v in _leaves(f(*(given[n] for n in inputs)))]
            outputs = [a for a in outputs if any(n.dtype == "real" or n.is_number() for n in a.flat)]
            given = self._inputs.arrays()
            returned = by_name(grad_f(*given.values()), wrt, list(inputs))
            if isinstance(returned, CallResult):
                raise UnsupportedError(returned.says)
            none = [n for n in wrt if returned[n] is None]
            if none:
                raise UnsupportedError(f"it returns None by '{none[0]}'")
            claims = [_nodes(returned[n]) for n in wrt]
            for n, claim in zip(wrt, claims, strict=True):
                if claim.shape != inputs[n].shape:
                    raise UnsupportedError(
                        f"by '{n}' it has the shape {claim.shape}, and not {inputs[n].shape}"
                    )
            return [self._loss(outputs, list(cotangents)), *claims]

        self._runs = _every(call)

    def _loss(self, outputs: Sequence[Any], cotangents: Sequence[str]) -> Any:
        if not cotangents:
            (loss,) = outputs
            return np.reshape(loss, ())
        total = as_node(0)
        for name, output in zip(cotangents, outputs, strict=True):
            for seed, node in zip(self._inputs.symbols[name].flat, output.flat, strict=True):
                total = total + seed * node
        found = np.empty((), dtype=object)
        found[()] = total
        return found

    def claims(self) -> dict[str, Expr]:
        """Return the gradients of the code as formulas over the inputs."""
        _, *found = _merge_paths(self._runs)
        return {n: self._inputs.joined(entries) for n, entries in zip(self._wrt, found, strict=True)}

    def proved(self, name: str, deadline: float) -> dict[str, Verdict] | None:
        """Prove the gradient by an argument, entry by entry, on each execution path.

        Returns:
            A verdict for each entry; None if one of them is not proved.
        """
        position = self._wrt.index(name)
        entries = list(np.ndindex(*self._inputs.symbols[name].shape))
        left = len(entries) * len(self._runs)
        found: dict[str, Verdict] = {}
        for k, run in enumerate(self._runs):
            loss, *claims = run.value
            for at in entries:
                limit = (deadline - now()) / left
                left -= 1
                if limit <= 0:
                    return None
                try:
                    verdict = verify(
                        handle(loss[()]),
                        handle(self._inputs.symbols[name][at]),
                        handle(claims[position][at]),
                        time_limit=max(limit, _LEAST),
                    )
                except SymgradError:
                    return None
                if verdict.status != "proved":
                    return None
                place = f"{name}[{', '.join(map(str, at))}]" if at else name
                found[place if len(self._runs) == 1 else f"{place}, way {k + 1}"] = verdict
        return found
