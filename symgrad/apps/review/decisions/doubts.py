"""Why formulas that differ may be equal all the same: what the document says of their names, and is not used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from symgrad.api.derivatives.differentiate import grad
from symgrad.api.handles.expr import Expr
from symgrad.apps.review.formulas.names import NAME_IN_TEXT, DocumentNames
from symgrad.frontend.latex.meaning.inputs import inputs_of
from symgrad.ir.graph import SYMBOL, Node, symbol
from symgrad.ir.traverse import symbols_of, topological
from symgrad.verification.diagnosis import Diagnoses
from symgrad.verification.verdict import Verdict

_SHIFTED = re.compile(r"(?P<term>[^\W\d]\w*_[a-z])(?:_plus_|_minus_|[pm])\d+")  # x_n_plus_1, x_np1


def read_as_number(names: DocumentNames, nodes: Sequence[Node]) -> str | None:
    """Return why formulas are not judged that read as a number what the document uses as an array."""
    arrays = names.facts.arrays
    for s in topological(nodes) if arrays else ():
        if s.op is SYMBOL and not s.shape and s.name in arrays and names.is_unknown(s.name):
            return f"{s.name} is used as an array, and nothing declares it: it is read as a number"
    return None


def unread_about(names: DocumentNames, nodes: Sequence[Node]) -> str | None:
    """Return why an equation may follow from one that was not understood; None if none is about its inputs."""
    line = max((names.unread[s.name] for s in symbols_of(nodes) if s.name in names.unread), default=None)
    if line is None:
        return None
    return f"it does not follow from what was read, but line {line} is not understood"


def recurrence_in(nodes: Sequence[Node]) -> str | None:
    """Return why an equation of terms of a sequence is not solved for one of them; None if it is none.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("a_n, a_n_plus_1, b_n : real; f = a_n_plus_1 - 3*a_n; g = a_n_plus_1 - b_n")
        >>> recurrence_in([p["f"]]), recurrence_in([p["g"]])
        ('a_n and a_n_plus_1 are terms of a sequence, whose recurrence is not solved here', None)
    """
    names, seen = sorted({s.name for s in symbols_of(nodes)}), dict[str, str]()
    for name in names:
        shifted = _SHIFTED.fullmatch(name)
        term = name if shifted is None else shifted["term"]
        if term in seen:
            return f"{seen[term]} and {name} are terms of a sequence, whose recurrence is not solved here"
        seen[term] = name
    return None


def is_product_of_differentials(names: DocumentNames, node: Node) -> bool:
    """Tell whether a formula is a product of differentials: dx*dy is an area, and no product of numbers."""
    found = [d for d in symbols_of([node]) if d in names.differentials.values()]
    if node.shape or len(found) < 2:
        return False
    second = {
        (x, y) for x in found for y in found if y in symbols_of([grad(Expr(node), Expr(x)).canonical().node])
    }
    return bool(second) and not any(x is y for x, y in second)


def unread_name(names: DocumentNames, text: str) -> int | None:
    """Return the last line with the name that a text is, or is the derivative of, which was not understood."""
    words = [
        w[1:] if w[0] in "d∂" and w not in names and w[1:] in names else w for w in NAME_IN_TEXT.findall(text)
    ]
    lines = [names.unread[w] for w in words if w in names.unread and names.is_defined(w)]
    return max(lines, default=None)


def doubt_about(names: DocumentNames, nodes: Sequence[Node]) -> str | None:
    """Return what is said of an input of formulas and not used here, so that a difference proves nothing."""
    for s in symbols_of(nodes):
        word = names.facts.unused(s.name) if s.shape else None
        if word is not None:
            return f"the sides differ, but {s.name} is said to be {word}, which is not used here"
        if s in names.unsure:
            return f"the sides differ, but what line {names.unsure[s]} says of {s.name} is not understood"
        if s in names.units:
            return f"the sides differ, but {s.name} behind a number may be a unit, and is a name here"
        head, _, tail = s.name.partition("_")
        base = names.values.get(head)
        base = names.fixed.get(base, base) if base is not None else None
        inputs: set[str] = set() if base is None or not base.args else {i.name for i in inputs_of(base)}
        if tail and (set(tail) <= inputs or set(tail.split("_")) <= inputs):
            return f"the sides differ, but {s.name} may be a derivative of {head}, and is read as an input"
        near = (int(tail) - 1, int(tail) + 1) if tail.isdigit() and names.is_unknown(s.name) else ()
        others = [names.values[n] for k in near if names.is_defined(n := f"{head}_{k}")]
        if others and s not in symbols_of(others):
            return f"the sides differ, but {s.name} is a name beside one that has a formula, and nothing explains it"
        if s.name == "i" and s.dtype == "real" and names.is_unknown(s.name):
            return "the sides differ, but i may be the imaginary unit, and is read as a real number"
    return None


def symmetric_cases(names: DocumentNames, nodes: Sequence[Node]) -> dict[Node, Node]:
    """Return the matrices in formulas that are said to be symmetric in a case, each as a symmetric one."""
    return {
        s: symbol(replace(s.declaration, symmetric=True))
        for s in symbols_of(nodes)
        if len(s.shape) == 2 and s.shape[0] == s.shape[1] and names.facts.in_case(s.name) is not None
    }


def without_evidence(verdict: Verdict, why: str) -> Verdict:
    """Return a verdict of a difference that proves nothing: a point and a mistake would say that it does."""
    return replace(
        verdict, status="undecided", why=why, proof=None, witness=None, values=None, diagnoses=Diagnoses()
    )
