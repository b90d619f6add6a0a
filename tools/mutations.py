"""Small faults in Python source: each is a place and the text that replaces it.

The faults are those that people make: a comparison that is wrong at its boundary, a sign, a number next to the right
one, a condition that is always or never taken, a missing statement. Texts, types and the list in `__all__` stay as they
are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Mutation", "mutations"]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One fault.

    Args:
        line, column: the place, counted from 1 and from 0.
        start, end: the offsets in bytes of the replaced text.
        what: the fault in words.
        before, after: the source at the place, and its replacement.
    """

    line: int
    column: int
    start: int
    end: int
    what: str
    before: str
    after: str

    def applied(self, source: bytes) -> bytes:
        """Return the source with the fault."""
        return source[: self.start] + self.after.encode() + source[self.end :]


# fmt: off
_COMPARISONS = {
    ast.Lt: ("<=", ">="), ast.LtE: ("<", ">"), ast.Gt: (">=", "<="), ast.GtE: (">", "<"),
    ast.Eq: ("!=",), ast.NotEq: ("==",), ast.Is: ("is not",), ast.IsNot: ("is",),
    ast.In: ("not in",), ast.NotIn: ("in",),
}
_OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "//", ast.Pow: "*",
    ast.LShift: ">>", ast.RShift: "<<", ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "&",
}
_PAIRS = (("min", "max"), ("any", "all"), ("floor", "ceil"), ("lt", "le"), ("gt", "ge"), ("and_", "or_"))
# fmt: on
_NAMES = dict(_PAIRS) | {b: a for a, b in _PAIRS}


def mutations(source: str) -> list[Mutation]:
    """Return the faults that a module can have, in the order of its text."""
    tree = ast.parse(source)
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node in _walked(tree):
        for part, what, after in _faults(node, source):
            start = starts[part.lineno - 1] + part.col_offset
            end = starts[(part.end_lineno or 0) - 1] + (part.end_col_offset or 0)
            before = source.encode()[start:end].decode()
            if after != before:
                found.append(Mutation(part.lineno, part.col_offset, start, end, what, before, after))
    return sorted(found, key=lambda m: (m.start, m.end, m.what, m.after))


def _walked(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that compute something: no annotations, no texts of errors, no `if TYPE_CHECKING`."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        yield node
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _left_alone(child):
                    stack += [child]


def _left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("__all__", "__slots__"):
        return True
    if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
        return True
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return (
            True  # the argument of zip: it only turns wrong lengths into errors, and changes no right result
        )
    if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.Assert | ast.JoinedStr):
        return True
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
        ("TypeVar", "Literal", "getLogger", "cast")
    )


def _faults(node: ast.AST, source: str) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    def text(part: ast.AST) -> str:
        return ast.get_source_segment(source, part) or ""

    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            for sign in _COMPARISONS[type(op)]:
                yield node, "comparison", f"(({text(left)}) {sign} ({text(right)}))"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            if not (isinstance(left, ast.Constant) and isinstance(left.value, str)):
                yield node, "operator", f"(({text(left)}) {_OPERATORS[type(op)]} ({text(right)}))"
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield node, "sign", f"({text(operand)})"
        case ast.BoolOp(op=op, values=values):
            for k in range(len(values)):
                rest = [f"({text(v)})" for i, v in enumerate(values) if i != k]
                sign = " and " if isinstance(op, ast.And) else " or "
                yield node, "condition left out", f"({sign.join(rest)})"
        case ast.Constant(value=bool(value)):
            yield node, "truth", str(not value)
        case ast.Constant(value=int(value)):
            yield node, "number", str(value + 1)
            if value > 1:
                yield node, "number", str(value - 1)
        case ast.Constant(value=float(value)):
            yield node, "number", repr(value * 1.01 if value else 1e-3)
        case ast.Call(func=ast.Name(id=name), args=args) if name in _NAMES and args:
            yield node.func, "function", _NAMES[name]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield node, "choice", f"({text(body)})"
            yield node, "choice", f"({text(orelse)})"
        case ast.If(test=test):
            yield test, "branch", f"(not ({text(test)}))"
            yield test, "branch", f"(({text(test)}) and False)"
        case ast.While(test=test):
            yield test, "loop", f"(({text(test)}) and False)"
        case ast.comprehension(ifs=[test]):
            yield test, "filter", f"(({text(test)}) or True)"
        case ast.AugAssign():
            yield node, "statement left out", "pass"
        case ast.Expr(value=ast.Call()):
            yield node, "statement left out", "pass"
        case ast.Continue():
            yield node, "statement left out", "pass"
        case ast.Break():
            yield node, "statement left out", "pass"
        case _:
            return
