"""Write declared shapes as the signature of a generalised ufunc."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from symgrad.ir.notation.free_names import free_name
from symgrad.ir.sizes import Shape, Size


@dataclass(frozen=True, slots=True)
class Signature:
    """The core dimensions of a program's arrays.

    Args:
        text: the signature in NumPy's notation.
        sizes: the core dimensions: the distinct sizes, in order of appearance.
        axes: for every argument the core dimension of each axis.
        nin: how many arguments are inputs.
    """

    text: str
    sizes: tuple[Size, ...]
    axes: tuple[tuple[int, ...], ...]
    nin: int

    @property
    def frozen(self) -> tuple[int, ...]:
        """The size of every core dimension that is a number in the text; -1 for all others."""
        return tuple(size if isinstance(size, int) and size else -1 for size in self.sizes)


def signature_of(inputs: Sequence[Shape], outputs: Sequence[Shape]) -> Signature:
    """Return the signature of a program.

    A computed size gets a new name; so does 0, which NumPy does not accept as a number.

    Example:
        >>> signature_of([("n", 5), (5,)], [(), ("n",)]).text
        '(n,5),(5)->(),(n)'
        >>> signature_of([("σ", 0)], [("σ",)]).text
        '(_u03C3,_0)->(_u03C3)'
    """
    names: dict[Size, str] = {}
    for size in chain(*inputs, *outputs):
        if size not in names:
            names[size] = _spell(size, set(names.values()))
    numbers = {size: i for i, size in enumerate(names)}
    texts = [f"({','.join(names[size] for size in shape)})" for shape in (*inputs, *outputs)]
    return Signature(
        text=",".join(texts[: len(inputs)]) + "->" + ",".join(texts[len(inputs) :]),
        sizes=tuple(names),
        axes=tuple(tuple(numbers[size] for size in shape) for shape in (*inputs, *outputs)),
        nin=len(inputs),
    )


def _spell(size: Size, taken: set[str]) -> str:
    if isinstance(size, int) and size:
        return str(size)
    ascii_text = re.sub(r"[^\x00-\x7f]", lambda m: f"_u{ord(m[0]):04X}", str(size))
    name = "_".join(re.findall(r"[A-Za-z0-9_]+", ascii_text))
    if name[0].isdigit():
        name = "_" + name
    return free_name(name, taken)
