r"""Write array expressions as LaTeX: matrix products by juxtaposition, A \odot B entrywise, vectors as columns.

`ir/notation/contractions.py` classifies contractions. Contractions without a matrix form are written in index notation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from symgrad.ir.graph import Node
from symgrad.ir.notation.arrays import entry_items
from symgrad.ir.notation.contractions import ContractionSpelling, Factor, Item, spell, subscript
from symgrad.ir.notation.literals import ATOM, MUL, POW
from symgrad.ir.shapes import typed_slice
from symgrad.ir.sizes import Extent, size_sum
from symgrad.printing.latex.glyphs import Texts
from symgrad.printing.latex.pieces import (
    ACCENTED,
    HADAMARD,
    MATRIX,
    OPEN,
    SCALED,
    SIGNED,
    Written,
    juxtapose,
    within,
)
from symgrad.printing.limits import NESTED_CONTRACTIONS

_IDENTITY = r"\operatorname{Id}"
_INDEXED = re.compile(r"\\right\]_\{([^}]*)\}|\\sum_\{([^}]*)\}")
_SIMPLE = re.compile(rf"\\?[a-zA-Z]+|\\mathrm\{{\w+\}}|{ACCENTED}")  # names that can take an index


# ------------------------------------------------------------------------------------------------- products, quotients


def is_product(rank: float) -> bool:
    """Tell whether a text is a matrix product, perhaps with a scalar factor: next to other factors it is ambiguous."""
    return SCALED <= rank <= MATRIX


def array_product(node: Node, texts: Texts) -> Written:
    """Write a product with an array among its factors."""
    a, b = node.args
    if a.shape and b.shape:
        return _hadamard([texts[a], texts[b]])
    scalar, array = (b, a) if a.shape else (a, b)
    return _scaled(texts[scalar], texts[array])


def _scaled(scalar: Written, array: Written) -> Written:
    if scalar[0] == "1":
        return array
    # A scalar product x'y before a vector could be read as x'(y z); a sum needs parentheses in any case.
    first = rf"\left({scalar[0]}\right)" if is_product(scalar[1]) else within(scalar, SIGNED)
    second = within(array, HADAMARD)
    text = rf"{first} \cdot {second}" if second[0].isdigit() else juxtapose([first, second])
    if scalar[1] == SIGNED:
        return text, SIGNED
    return text, SCALED if is_product(array[1]) else min(MUL, array[1])


def _hadamard(factors: Sequence[Written]) -> Written:
    parts = [
        rf"\left({text}\right)" if is_product(rank) else within((text, rank), HADAMARD)
        for text, rank in factors
    ]
    return r" \odot ".join(parts), HADAMARD


def array_quotient(node: Node, texts: Texts) -> Written | None:
    r"""Write an array over a number with all numbers in one fraction before it: \frac{2}{n} X^{\top} r.

    Return None for a quotient that is a plain fraction.
    """
    above, below = node.args
    if below.shape or not above.shape:
        return None
    scalars: list[Node] = []
    while above.op.name == "mul" and above not in texts.opaque and not all(a.shape for a in above.args):
        scalar, above = above.args[::-1] if above.args[0].shape else above.args
        scalars.append(scalar)
    text, rank = texts[above]
    sign = ""
    if not scalars and rank == SIGNED:
        text, sign, rank = text[1:].lstrip(), "-", MUL
    if rank in (ATOM, POW) and not scalars:
        return rf"{sign}\frac{{{text}}}{{{texts[below][0]}}}", SIGNED if sign else MUL
    top = "1"
    if scalars:
        first, *others = (texts[s] for s in scalars)
        top = juxtapose([within(first, SIGNED if others else 0), *(within(o, MUL) for o in others)])
        if first[1] == SIGNED:
            top, sign = top[1:].lstrip(), "-"
    fraction = rf"{sign}\frac{{{top}}}{{{texts[below][0]}}}"
    return _scaled((fraction, SIGNED if sign else MUL), (text, rank))


def array_power(base: Written, exponent: str, rank: int, texts: Texts) -> Written:
    r"""Write an entrywise power: with a ring for a matrix, since A^2 is a matrix product, and for x^T."""
    ring = r"\circ " if rank > 1 or (rank and exponent == "T") else ""
    text = within(base, ATOM)
    if re.search("[a-zA-Z]", exponent) and texts.glyphs.looks_like_name(f"{text}{exponent}"):
        text = rf"\left({text}\right)"
    return f"{text}^{{{ring}{exponent}}}", POW


# -------------------------------------------------------------------------------------------------------- contractions


def _transposed(node: Node, texts: Texts, depth: int = 0) -> str:
    """Write a transposed factor; for a column that is itself a product, the row: x' A, and not (A' x)'."""
    if node.op.name == "inv" and node not in texts.opaque:
        return f"{within(texts[node.args[0]], ATOM)}^{{-\\top}}"
    if (
        depth < NESTED_CONTRACTIONS
        and node.op.name == "einsum"
        and node not in texts.opaque
        and len(node.shape) == 1
    ):
        s = spell(node)
        if s.form == "product" and all(len(a.shape) <= 2 for a in node.args):
            chain = s.parts[0]
            column = len(node.args[chain[-1].operand].shape) == 1
            return _chain(
                node, _flipped(node, chain) if column else chain, texts, column=False, depth=depth + 1
            )
    return f"{within(texts[node], ATOM)}^{{\\top}}"


def _chain(node: Node, chain: Sequence[Factor], texts: Texts, *, column: bool = True, depth: int = 0) -> str:
    """Write factors side by side. A vector is a transposed column, except if it is the last factor of a column."""
    found: list[str] = []
    for factor in chain:
        arg = node.args[factor.operand]
        row = len(arg.shape) == 1 and not (column and factor is chain[-1])
        found.append(
            _transposed(arg, texts, depth) if factor.transposed or row else within(texts[arg], MATRIX)
        )
    return juxtapose(found)


def _flipped(node: Node, chain: Sequence[Factor]) -> list[Factor]:
    """Return the factors of the transposed product: (A B v)' is v' B' A'."""
    return [
        Factor(f.operand, not f.transposed and len(node.args[f.operand].shape) == 2) for f in reversed(chain)
    ]


def _spelled(node: Node, texts: Texts) -> ContractionSpelling:
    """Return the spelling of a contraction with index letters that are no names, nor indices in a factor."""
    s = spell(node)
    letters = "".join(dict.fromkeys("".join((*s.labels, s.result))))
    inside = "" if s.form == "product" else " ".join(texts[a][0] for a in node.args)
    table = texts.glyphs.indices(letters, "".join(map("".join, _INDEXED.findall(inside))))
    return replace(
        s, labels=tuple(own.translate(table) for own in s.labels), result=s.result.translate(table)
    )


def _einsum(node: Node, texts: Texts) -> Written:
    s = _spelled(node, texts)
    arg = node.args[0]
    flat = all(len(a.shape) <= 2 for a in node.args)
    match s.form:
        case "product" if flat:
            chain: Sequence[Factor] = s.parts[0]
            ends = [len(node.args[chain[i].operand].shape) == 1 for i in (0, -1)]
            if ends == [True, False]:  # a vector is a column, so v @ A is written A' v
                chain = _flipped(node, chain)
            return _chain(node, chain, texts), MATRIX
        case "outer":
            left, right = s.parts
            row = _chain(node, _flipped(node, right), texts, column=False)
            return f"{_chain(node, left, texts)} {row}", MATRIX
        case "trace" if len(node.args) > 1 or len(arg.shape) == 2:
            return _call("tr", _chain(node, s.parts[0], texts))
        case "diagonal" | "diag":
            return _call("diag", texts[arg][0])
        case "permute":
            if s.axes == (1, 0):
                return _transposed(arg, texts), POW
            return _call("transpose", texts[arg][0], s.axes)
        case "sum":
            return _sum(node, s, texts)
        case "elementwise":
            return _entries(node, s, texts)
        case _:
            return _indexed(node, s, texts)


def _sum(node: Node, s: ContractionSpelling, texts: Texts) -> Written:
    arg = node.args[0]
    text = texts[arg][0]
    if len(s.axes) < len(arg.shape):
        return _call("sum", text, s.axes)
    if (
        arg.op.name == "pow"
        and arg not in texts.opaque
        and arg.args[1].is_number(2)
        and arg.shape == arg.args[0].shape
    ) and len(arg.shape) <= 2:
        norm = rf"\left\lVert {texts[arg.args[0]][0]} \right\rVert" + "_{F}" * (len(arg.shape) == 2)
        return f"{norm}^{{2}}", POW
    if _SIMPLE.fullmatch(text):
        return rf"\sum_{{{', '.join(s.labels[0])}}} {_entry(texts[arg], ' '.join(s.labels[0]), texts)}", OPEN
    return _call("sum", text)


def _entries(node: Node, s: ContractionSpelling, texts: Texts) -> Written:
    rank = max(map(len, s.places))
    if all(len(p) == rank for p in s.places):
        text, own = _hadamard([texts[a] for a in node.args])
        if not s.axes:
            return text, own
        return _call("sum", text, s.axes if len(s.axes) < rank else ())
    if rank == 2 and not s.axes and len(node.args) == 2:
        # A vector weights rows or columns.
        k = 0 if len(s.places[0]) == 1 else 1
        scale = _call("diag", texts[node.args[k]][0])[0]
        matrix = within(texts[node.args[1 - k]], MATRIX)
        return (f"{scale} {matrix}" if s.places[k] == (0,) else f"{matrix} {scale}"), MATRIX
    return _indexed(node, s, texts)


def _indexed(node: Node, s: ContractionSpelling, texts: Texts) -> Written:
    factors: list[str] = []
    for arg, own in zip(node.args, s.labels, strict=True):
        factors.append(_entry(texts[arg], " ".join(own), texts))
    text = juxtapose(factors)
    if s.summed:
        text = rf"\sum_{{{', '.join(s.summed)}}} {text}"
    if s.result:
        return rf"\left[{text}\right]_{{{' '.join(s.result)}}}", ATOM
    return text, OPEN if s.summed else MUL


# ------------------------------------------------------------------------------------------------------- calls, layout


def _call(name: str, inside: str, subscripts: Sequence[int | str] = ()) -> Written:
    below = f"_{{{', '.join(map(str, subscripts))}}}" if subscripts else ""
    return rf"\operatorname{{{name}}}{below}\left({inside}\right)", ATOM


def _broadcast(node: Node, texts: Texts) -> Written:
    arg, shape = node.args[0], texts.glyphs.shape(node.shape)
    if arg.shape:
        return _call("broadcast", texts[arg][0], [shape])
    if arg.is_number(0):
        return rf"\mathbf{{0}}_{{{shape}}}", ATOM
    return _scaled(texts[arg], (rf"\mathbf{{1}}_{{{shape}}}", ATOM))


def _reshape(node: Node, texts: Texts) -> Written:
    arg = node.args[0]
    if not arg.shape:
        return texts[arg]  # axes of length 1 are not shown
    entry = entry_items(node, texts.opaque)
    if entry is not None:
        items = [texts[i][0] if isinstance(i, Node) else _item(i, texts) for i in entry[1]]
        return _subscripted(texts[entry[0]], items, texts)
    found = subscript(node, texts.opaque)
    if found is not None:
        return _subscripted(texts[found[0]], [_item(i, texts) for i in found[1]], texts)
    return _call("reshape", texts[arg][0], [texts.glyphs.shape(node.shape)])


def _slice(node: Node, texts: Texts) -> Written:
    x = node.args[0]
    ends = (typed_slice(t, size) for t, size in zip(node.params[0], x.shape, strict=True))
    return _subscripted(texts[x], [_item(t, texts) for t in ends], texts)


def _item(item: Item, texts: Texts) -> str:
    if item is None:
        return r"\ast"
    if isinstance(item, int):
        return str(item)
    start, stop, step = item
    ends = ["" if end is None else texts.glyphs.size(end) for end in (start, stop)]
    return ":".join([*ends, *([str(step)] if step != 1 else [])])


def _subscripted(base: Written, items: Sequence[str], texts: Texts) -> Written:
    shown = list(items)
    while len(shown) > 1 and shown[-1] == ":":
        shown.pop()
    return _entry(base, ", ".join(shown), texts), ATOM


def _entry(base: Written, below: str, texts: Texts) -> str:
    """Return a text with an index, in parentheses if it would look like a name."""
    text = _indexable(base)
    if not text.endswith(")") and texts.glyphs.looks_like_name(f"{text}{below}"):
        text = rf"\left({text}\right)"
    return f"{text}_{{{below}}}"


def _indexable(part: Written) -> str:
    """Return a text that can take an index, in parentheses if necessary."""
    text, rank = part
    call = rank == ATOM and text.endswith(r"\right)") and not text.startswith(r"\left")
    return text if call or _SIMPLE.fullmatch(text) else rf"\left({text}\right)"


def _gather(node: Node, texts: Texts) -> Written:
    base, *indices = node.args
    axes: tuple[int, ...] = node.params[0]
    items = [":"] * (max(axes) + 1)
    for axis, index in zip(axes, indices, strict=True):
        # Positions of a recurrence are numbers: -1 would be the one before its first value.
        last = index.is_number(-1) and isinstance(base.shape[axis], Extent)
        items[axis] = texts.glyphs.size(size_sum([base.shape[axis], -1])) if last else texts[index][0]
    return _subscripted(texts[base], items, texts)


def _transpose_of(name: str) -> Callable[[Node, Texts], Written]:
    """Write the transpose of an index map: values are written, or added, into zeros of a given shape."""

    def write(node: Node, texts: Texts) -> Written:
        inside = ", ".join(texts[a][0] for a in node.args)
        where = ", ".join(_item(t, texts) for t in node.params[0]) if node.op.name == "unslice" else ""
        if where:
            inside = rf"{inside};\ {where}"
        return _call(name, inside, [texts.glyphs.shape(node.shape)])

    return write


def _listed(node: Node, texts: Texts) -> list[Node]:
    """Return the rows or entries of which `array` makes a node; the list is empty for other nodes."""
    if node.op.name != "concatenate" or node.params[0] != 0 or node in texts.opaque:
        return []
    found = [a.args[0] for a in node.args if a.op.name == "broadcast_to" and a.shape == (1, *a.args[0].shape)]
    return found if len(found) == len(node.args) else []


def rows_in(node: Node, texts: Texts) -> Iterator[Node]:
    """Yield the parts of an array that are written only as its rows, and so have no text of their own."""
    entries = _listed(node, texts)
    if entries:
        yield from node.args
        yield from (e for e in entries if e.op.name == "concatenate")


def _concatenate(node: Node, texts: Texts) -> Written:
    entries = _listed(node, texts)
    rows = [_listed(e, texts) for e in entries]
    if len(node.shape) == 2 and rows and all(rows):
        inside = r" \\ ".join(" & ".join(texts[e][0] for e in row) for row in rows)
        return rf"\begin{{pmatrix}} {inside} \end{{pmatrix}}", ATOM
    if entries and len(node.shape) == 1:
        return rf"\left({', '.join(texts[e][0] for e in entries)}\right)", ATOM
    axes = node.params if len(node.shape) > 1 else ()
    return _call("concatenate", ", ".join(texts[a][0] for a in node.args), axes)


def _one_hot(node: Node, texts: Texts) -> Written:
    return _call("onehot", texts[node.args[0]][0], [texts.glyphs.size(node.params[0])])


def _eye(node: Node, texts: Texts) -> Written:
    rows, columns = node.params
    glyphs = texts.glyphs
    below = glyphs.size(rows) if rows == columns else glyphs.shape((rows, columns))
    free = glyphs.is_free("I") and not glyphs.looks_like_name(f"I{below}")
    return f"{'I' if free else _IDENTITY}_{{{below}}}", ATOM


def _iota(node: Node, texts: Texts) -> Written:
    return rf"\left(0, \ldots, {texts.glyphs.size(size_sum([node.params[0], -1]))}\right)", ATOM


def _inv(node: Node, texts: Texts) -> Written:
    return f"{within(texts[node.args[0]], ATOM)}^{{-1}}", POW


def _solve(node: Node, texts: Texts) -> Written:
    a, b = node.args
    turned = a.op.name == "einsum" and a not in texts.opaque and spell(a).axes == (1, 0)
    matrix, power = (a.args[0], r"-\top") if turned else (a, "-1")
    return f"{within(texts[matrix], ATOM)}^{{{power}}} {within(texts[b], MATRIX)}", MATRIX


ARRAY_FORMS: dict[str, Callable[[Node, Texts], Written]] = {
    "broadcast_to": _broadcast,
    "concatenate": _concatenate,
    "einsum": _einsum,
    "eye": _eye,
    "gather": _gather,
    "inv": _inv,
    "iota": _iota,
    "one_hot": _one_hot,
    "pack": lambda node, texts: (rf"\left({', '.join(texts[a][0] for a in node.args)}\right)", ATOM),
    "reshape": _reshape,
    "scatter_add": _transpose_of(r"scatter\_add"),
    "slice": _slice,
    "solve": _solve,
    "unslice": _transpose_of("pad"),
}
"""Ops that construct arrays, and solve, whose text depends on their arguments; others have templates."""
