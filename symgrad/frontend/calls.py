"""Calls: from a spelling and its arguments to nodes, with the conveniences of NumPy's and SymPy's spellings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from lark import Token

from symgrad.errors import DomainError, ProgramSyntaxError, UnknownFunctionError, UnsupportedError
from symgrad.frontend.scope import Argument, Keyword, Pair, Scope, Term, ends
from symgrad.ir.graph import CONSTANTS, constant, number
from symgrad.ir.listing import suggest
from symgrad.ir.op import OPS, Op

__all__ = ["ARRAY_FUNCTIONS", "call"]

_ARRAY_WORDS = """
    all any argmax argmin broadcast_to cholesky concat concatenate cumprod cumsum det diag diagonal dot
    einsum empty eye flip full gather identity inner inv linspace logdet logsumexp matmul max mean median
    min multi_dot norm ones ones_like outer pinv prod product reshape roll slogdet softmax solve sort
    stack std sum swapaxes tensordot tile trace transpose tril triu var vdot zeros zeros_like Matrix Sum
    Product Trace Determinant Inverse Transpose
"""
ARRAY_FUNCTIONS = frozenset(_ARRAY_WORDS.split())

_INSTEAD = {
    "max": "write maximum(x, y)",
    "min": "write minimum(x, y)",
    "sum": "write the terms: x1 + x2",
    "prod": "write the factors: x1*x2",
    "mean": "write the terms: (x1 + x2)/2",
    "dot": "write the terms: x1*y1 + x2*y2",
    "softmax": "write exp(x1)/(exp(x1) + exp(x2))",
    "logsumexp": "write log(exp(x1) + exp(x2)), or logaddexp(x1, x2)",
}


def call(scope: Scope, name: Token, arguments: Sequence[Argument], end: int) -> Term:
    """Return the term of a call, or keep an error in the scope."""
    spelled = str(name)
    start, name_end = ends(name)
    special = _SPECIAL.get(spelled)
    op = OPS.get(spelled)
    if special is None and op is None:
        return _unknown(scope, spelled, arguments, start, name_end, end)
    terms: list[Term] = []
    keywords: dict[str, Keyword] = {}
    for argument in arguments:
        if isinstance(argument, Keyword):
            key = str(argument.name)
            if op is None or key not in op.parameters or key in keywords:
                return _wrong_keyword(scope, spelled, op, argument)
            keywords[key] = argument
        elif isinstance(argument, Pair):
            if spelled != "Piecewise":
                return scope.wrong(
                    ProgramSyntaxError,
                    "a pair (a, b) is a value only in Piecewise",
                    argument.start,
                    argument.end,
                    expected="one value",
                    cure="remove the parentheses around the two",
                )
        elif keywords:
            return scope.wrong(
                ProgramSyntaxError,
                "a positional argument follows a keyword argument",
                argument.start,
                argument.end,
                cure="move it before the keyword arguments",
            )
        else:
            terms.append(argument)
    if special is not None:
        result = special(scope, arguments, start, end)
        if result is not None:
            return result
        if op is None:
            return scope.wrong(
                ProgramSyntaxError,
                f"wrong arguments for {spelled}",
                start,
                end,
                expected=_SIGNATURES[spelled],
                cure=f"write {_SIGNATURES[spelled]}",
            )
    assert op is not None
    return _apply(scope, spelled, op, terms, keywords, start, end)


def _apply(
    scope: Scope,
    spelled: str,
    op: Op,
    terms: list[Term],
    keywords: dict[str, Keyword],
    start: int,
    end: int,
) -> Term:
    params: list[object] = []
    for parameter in op.parameters:
        if parameter in keywords:
            term = keywords[parameter].value
        elif terms:
            term = terms.pop(0)
        else:
            break
        value = term.node.value if term.literal else None
        if not isinstance(value, int) or value < 0:
            return scope.wrong(
                DomainError,
                f"the parameter {parameter} of {spelled} is not a literal integer, at least 0",
                term.start,
                term.end,
                expected=signature(op, spelled),
                cure=f"write an integer such as 1 for {parameter}",
            )
        params.append(value)
    variadic = op.arity == 2 and "associative" in op.facts
    if len(params) != len(op.parameters) or (
        len(terms) != op.arity if not variadic else len(terms) < op.arity
    ):
        given = len(terms) + len(params)
        wanted = op.arity + len(op.parameters)
        more = " or more" if variadic else ""
        return scope.wrong(
            ProgramSyntaxError,
            f"{spelled} takes {wanted}{more} argument{'s' if wanted != 1 else ''}, got {given}",
            start,
            end,
            expected=signature(op, spelled),
            cure="add the missing argument" if given < wanted else "remove an argument",
        )
    result = scope.make(op, terms[: op.arity], start, end, tuple(params))
    for term in terms[op.arity :]:
        result = scope.make(op, (result, term), start, end)
    return result


def signature(op: Op, spelled: str) -> str:
    """Return how an op is called, as messages show it."""
    letters = "cxyzw" if op.takes[:1] == ("bool",) and "number" in op.takes else "xyzwv"
    return f"{spelled}({', '.join((*op.parameters, *letters[: op.arity]))})"


def _wrong_keyword(scope: Scope, spelled: str, op: Op | None, argument: Keyword) -> Term:
    start, end = ends(argument.name)
    if str(argument.name) in ("axis", "keepdims", "axes", "dim", "keepdim", "out", "dtype"):
        return scope.wrong(
            UnsupportedError,
            f"the argument {argument.name}= belongs to array functions: array functions are not in this version",
            start,
            end,
            cure="leave it out",
        )
    return scope.wrong(
        ProgramSyntaxError,
        f"{spelled} takes no argument named '{argument.name}'",
        start,
        end,
        expected=signature(op, spelled) if op is not None else _SIGNATURES[spelled],
        cure="write == to compare, or leave the name out",
    )


def _unknown(
    scope: Scope, spelled: str, arguments: Sequence[Argument], start: int, name_end: int, end: int
) -> Term:
    if spelled in CONSTANTS and not arguments:
        return scope.term(constant(spelled), start, end)
    if spelled in ARRAY_FUNCTIONS:
        return scope.wrong(
            UnsupportedError,
            f"'{spelled}' is an array function: array functions are not in this version",
            start,
            name_end,
            cure=_INSTEAD.get(spelled, "write the formula entry by entry"),
        )
    if spelled in scope.defined or spelled == "pi":
        return scope.wrong(
            UnknownFunctionError,
            f"'{spelled}' is not a function",
            start,
            name_end,
            expected="an operator between two values",
            cure=f"write {spelled}*(...) for a product",
        )
    known = [s for s in (*OPS, *_SPECIAL) if s.isalpha() or not s.endswith("_")]
    return scope.wrong(
        UnknownFunctionError,
        f"unknown function '{spelled}'",
        start,
        name_end,
        expected="a function of NumPy, SciPy or SymPy that symgrad knows",
        cure=suggest(spelled, known) or f"write its formula, or {spelled}*(...) for a product",
    )


def _log(scope: Scope, arguments: Sequence[Argument], start: int, end: int) -> Term | None:
    """log(x, b) is log(x)/log(b), as in SymPy."""
    if len(arguments) != 2 or not all(isinstance(a, Term) for a in arguments):
        return None
    logs = [scope.make(OPS["log"], (a,), start, end) for a in arguments if isinstance(a, Term)]
    return scope.make(OPS["div"], logs, start, end)


def _rational(scope: Scope, arguments: Sequence[Argument], start: int, end: int) -> Term | None:
    """Rational(1, 3) is the number 1/3."""
    values = [a.node.value for a in arguments if isinstance(a, Term) and a.literal]
    if len(values) != len(arguments) or not 1 <= len(values) <= 2 or (len(values) == 2 and values[1] == 0):
        return None
    divisor = Fraction(values[1]) if len(values) == 2 else Fraction(1)
    node = number(Fraction(values[0]) / divisor)
    return scope.term(node, start, end)


def _piecewise(scope: Scope, arguments: Sequence[Argument], start: int, end: int) -> Term | None:
    """Piecewise((a, c), (b, True)) is where(c, a, b)."""
    pairs = [a for a in arguments if isinstance(a, Pair)]
    if len(pairs) != len(arguments) or not pairs:
        return None
    last = pairs[-1]
    condition = last.condition.node
    if not (condition.args == () and condition.dtype == "bool" and condition.params[-1] is True):
        return scope.wrong(
            ProgramSyntaxError,
            "this Piecewise has no last piece for all other values",
            last.condition.start,
            last.condition.end,
            expected=_SIGNATURES["Piecewise"],
            cure="end it with (value, True)",
        )
    result = last.value
    for piece in reversed(pairs[:-1]):
        result = scope.make(OPS["where"], (piece.condition, piece.value, result), start, end)
    return Term(result.node, start, end)


_SPECIAL: dict[str, Callable[[Scope, Sequence[Argument], int, int], Term | None]] = {
    "Piecewise": _piecewise,
    "Rational": _rational,
    "log": _log,
}

_SIGNATURES = {
    "Piecewise": "Piecewise((a, condition), (b, True))",
    "Rational": "Rational(1, 3)",
    "log": "log(x)",
}
