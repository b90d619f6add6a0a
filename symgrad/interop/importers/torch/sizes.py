"""Convert sizes with names in torch, which are expressions of symbols there, to sizes of axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, cast

from symgrad.interop.importers.program import ImportNote
from symgrad.interop.importers.torch.table import as_items
from symgrad.ir.sizes import Shape, Size, size_max, size_min, size_product, size_sum
from symgrad.support.errors import UnsupportedError

torch: Any = import_module("torch")  # the values of this module have any type here


def name_dimensions(spec: Any) -> Any:
    """Return a tuple of sizes in which names replace torch's dimensions."""
    if type(spec) is not tuple:
        return spec
    sizes = cast("tuple[Any, ...]", spec)
    return tuple(n.__name__ if isinstance(n, torch.export.Dim) else n for n in sizes)


def dims_of(specs: Sequence[Any]) -> dict[str, Any]:
    """Return the dimensions of torch in tuples of sizes, by name."""
    every = [n for spec in specs if type(spec) is tuple for n in cast("tuple[Any, ...]", spec)]
    return {n.__name__: n for n in every if isinstance(n, torch.export.Dim)}


def bound_findings(dimensions: Mapping[str, Any]) -> list[ImportNote]:
    """Return findings for dimensions with bounds: the program may be valid only between the bounds."""
    found: list[ImportNote] = []
    for name, d in dimensions.items():
        if d.min > 2 or str(d.max) != "int_oo":
            ends = f"from {d.min} on" if str(d.max) == "int_oo" else f"from {d.min} to {d.max}"
            found.append(ImportNote(f"the function was read for {name} {ends}", None, f"sizes {name} {ends}"))
    return found


def hints(names: Sequence[str], taken: Sequence[int]) -> dict[str, int]:
    """Return a number for each named size, for the trace; each differs from all other numbers.

    Example:
        >>> hints(["n", "m"], [3, 7])
        {'n': 5, 'm': 11}
    """
    found: dict[str, int] = {}
    candidate = 5
    for name in dict.fromkeys(names):
        while candidate in taken or any(candidate % d == 0 for d in range(2, candidate)):
            candidate += 1
        found[name] = candidate
        candidate += 1
    return found


def dimensions(tensors: Sequence[tuple[Any, Shape]], given: Mapping[str, Any]) -> Any:
    """Return the `dynamic_shapes` for torch.export; None if all sizes are numbers."""
    named = [(t, shape) for t, shape in tensors if any(isinstance(n, str) for n in shape)]
    if not named:
        return None
    made = {n: given.get(n) for _, shape in named for n in shape if isinstance(n, str)}
    made = {n: torch.export.Dim(n) if d is None else d for n, d in made.items()}
    collection = torch.export.ShapesCollection()
    for t, shape in named:
        collection[t] = tuple(made[n] if isinstance(n, str) else torch.export.Dim.STATIC for n in shape)
    return collection


class SizeNames:
    """The names of torch's size symbols."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}

    def bind(self, shape: Sequence[Any], names: Shape) -> None:
        """Find out from the shape of an input which symbol has which name."""
        for n, name in zip(shape, names, strict=True):
            if isinstance(name, str) and isinstance(n, torch.SymInt):
                self._names.setdefault(n.node.expr, name)

    def knows(self, value: Any) -> bool:
        """Tell whether a size of torch consists of known names, and does not depend on data."""
        if not isinstance(value, torch.SymInt):
            return type(value) is int
        return all(s in self._names for s in value.node.expr.free_symbols)

    def shape(self, meta: Any) -> Any:
        """Return the shape in the metadata of a tensor, or a list of shapes; None for other values."""
        parts = as_items(meta)
        if parts is not None:
            return [self.shape(m) for m in parts]
        return tuple(map(self.of, meta.shape)) if isinstance(meta, torch.Tensor) else ()

    def of(self, size: Any) -> Size:
        """Return a size.

        Raises:
            UnsupportedError: if a size is not a polynomial, nor a maximum or minimum of polynomials.
        """
        return self._read(size.node.expr) if isinstance(size, torch.SymInt) else int(size)

    def _read(self, e: Any) -> Size:
        if e.is_Integer:
            return int(e)
        if e.is_Symbol and e in self._names:
            return self._names[e]
        parts = [self._read(a) for a in e.args]
        if e.is_Add:
            return size_sum(parts)
        if e.is_Mul:
            return size_product(parts)
        if e.is_Pow and isinstance(parts[1], int) and parts[1] > 0:
            return size_product([parts[0]] * parts[1])
        if type(e).__name__ in ("Max", "Min") and len(parts) == 2:
            return (size_max if type(e).__name__ == "Max" else size_min)(*parts)
        raise UnsupportedError(f"a size {e}", cure="import it with numbers as sizes")
