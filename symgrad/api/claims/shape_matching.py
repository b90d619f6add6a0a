"""Match the shapes of the two sides of a claim: they agree for all sizes, for some sizes, or for none.

Named sizes of a claim are at least 1. If shapes disagree as written, n = k + 1 with k >= 0 is substituted. A length
such as ``max(n - 1, 0) + 1`` then becomes ``k + 1``, which is n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import TYPE_CHECKING, TypeAlias

from symgrad.api.limits import SIZE_ROWS
from symgrad.ir.graph import Node
from symgrad.ir.size_substitution import never_equal, size_names
from symgrad.ir.sizes import Shape, Size, names_of, size_sum
from symgrad.support.errors import SymgradError

if TYPE_CHECKING:
    from symgrad.verification.verdict import Verdict

_LARGEST = {1: 30, 2: 6, 3: 3}  # for each number of sizes, the largest value that is tried


class ShapeMismatch(Exception):
    """The way in which the shapes of a claim disagree.

    Args:
        why: the reason in words.
        shapes: the two shapes of the sides, if these disagree.
    """

    def __init__(self, why: str, shapes: tuple[Shape, Shape] | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.shapes = shapes


Built: TypeAlias = "tuple[Node, ...]"
_Build: TypeAlias = "Callable[[Mapping[str, Size]], Built]"


def fit_shapes(build: _Build, parts: Sequence[Node]) -> tuple[Built, Mapping[str, Size] | None] | Verdict:
    """Build the sides of a claim so that their shapes agree, or return a verdict on the shapes.

    Args:
        build: a function that builds the nodes, with new sizes for the names in a mapping. It raises ShapeMismatch if
            shapes of the claim disagree, and other errors if there is no claim with these sizes.
        parts: nodes in which all named sizes occur.

    Returns:
        The nodes, and their new sizes in terms of the old ones (None if the sizes stay); or a verdict.
    """
    try:
        return build({}), None
    except ShapeMismatch as error:
        misfit = error
    names = size_names(parts)
    below = _fresh(names)
    try:
        nodes = build({name: size_sum([k, 1]) for name, k in below.items()})
    except (SymgradError, ShapeMismatch):
        own = None if misfit.shapes is None else {*names_of(*misfit.shapes)}
        return _verdict(misfit, build, names if own is None else sorted(own))
    return nodes, {k: size_sum([name, -1]) for name, k in below.items()}


def _fresh(names: Sequence[str]) -> dict[str, str]:
    """Return names for the sizes minus 1, which no program can declare."""
    return {name: f"__{name}" for name in names}


def _verdict(misfit: ShapeMismatch, build: _Build, names: Sequence[str]) -> Verdict:
    from symgrad.verification.verdict import Verdict  # for start-up time

    if not names or (misfit.shapes is not None and _never(*misfit.shapes)):
        return Verdict("refuted", f"the shapes disagree, at every point: {misfit.why}")
    where: dict[bool, str] = {}
    for sizes in _choices(names):
        try:
            build(sizes)
            agree = True
        except ShapeMismatch:
            agree = False
        except SymgradError:  # the program itself has no values with these sizes
            continue
        where.setdefault(agree, ", ".join(f"{name} = {value}" for name, value in sizes.items()))
        if len(where) == 2:
            break
    if False in where:
        some = f"; they agree where {where[True]}, and a claim is about all sizes" if True in where else ""
        return Verdict("refuted", f"the shapes disagree where {where[False]}{some}: {misfit.why}")
    return Verdict(
        "undecided",
        "the shapes agree for all sizes that were tried, and are not known to agree for others"
        if where
        else "no sizes were found for which both sides have values",
    )


def _never(a: Shape, b: Shape) -> bool:
    return len(a) != len(b) or any(never_equal(x, y) for x, y in zip(a, b, strict=True))


def _choices(names: Sequence[str]) -> Iterator[dict[str, int]]:
    """Yield different sizes, then equal sizes, then all other sizes up to a largest one."""
    largest = _LARGEST.get(len(names), 2)
    rows = [tuple(range(start, start + len(names))) for start in (2, 3, 6)]
    rows += [(size,) * len(names) for size in range(1, 5)]
    for row in dict.fromkeys([*rows, *islice(product(range(1, largest + 1), repeat=len(names)), SIZE_ROWS)]):
        yield dict(zip(names, row, strict=True))
