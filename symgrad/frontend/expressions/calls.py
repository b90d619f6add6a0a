"""Calls: convert a name and its arguments to nodes; some conveniences of NumPy's and SymPy's spellings are allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from symgrad.frontend.expressions.array_functions import ARRAYS
from symgrad.frontend.expressions.arrays import array_call
from symgrad.frontend.expressions.derivatives import SIGNATURES, derivative_call
from symgrad.frontend.scope import Scope
from symgrad.frontend.tokens.foreign_syntax import argument_names, name_here
from symgrad.frontend.tokens.terms import Argument, ItemList, Keyword, NoneLiteral, Term, Text, Token, span_of
from symgrad.ir.composite import WRITTEN, form_of
from symgrad.ir.exact import CONSTANTS
from symgrad.ir.graph import OPS, Op, constant, number
from symgrad.ir.listing import suggest
from symgrad.support.errors import (
    DomainError,
    ForbiddenSyntaxError,
    ProgramSyntaxError,
    UnknownFunctionError,
    UnsupportedError,
)

_NOT_HERE = {
    **dict.fromkeys(
        ["pinv", "eig", "eigh", "svd", "qr", "matrix_rank"],
        "write its formula, or compute it in NumPy and pass it as an input",
    ),
    **dict.fromkeys(
        ["roll", "tile", "repeat", "tril", "triu", "hstack", "vstack", "split", "array_split"],
        "write it with subscripts, concatenate and where",
    ),
    **dict.fromkeys(
        ["linspace", "empty"],
        "write it with subscripts, concatenate and where",
    ),
    **dict.fromkeys(
        ["elliptic_pi", "hyp0f1", "hyp1f1", "hyp2f1", "hyper", "lerchphi", "legendre", "hermite"],
        "compute it in SciPy and pass it as an input",
    ),
    **dict.fromkeys(["hankel1", "hankel2"], "write its parts: besselj(n, x) and bessely(n, x)"),
    "diff": "write derivative(f, x) for a derivative, x[1:] - x[:-1] for differences",
    "all": "write min(where(c, 1, 0)) == 1",
    "any": "write max(where(c, 1, 0)) == 1",
    "average": "write sum(w*x)/sum(w)",
    "vdot": "write sum(x*y)",
    "diagonal": "write diag(A)",
    "identity": "write eye(n)",
    "full_like": "write full((n, 5), value)",
    "product": "write prod(x)",
    "ravel": "write reshape(x, (-1,))",
    "multi_dot": "write A@B@C",
    "asarray": "leave it out",
    "len": "use the name of the size: n of x : real[n]",
    "size": "use the name of the size: n of x : real[n]",
    "integrate": "write the integral itself, or compute it in SciPy and pass it as an input",
    "Matrix": "declare the matrix: A : real[2, 2], or write stack((a, b))",
    "Sum": "write sum(x) of an array",
    "Product": "write prod(x) of an array",
    "Trace": "write trace(A)",
    "Transpose": "write A.T",
    "Inverse": "write inv(A)",
    "Determinant": "write det(A)",
    "slogdet": "write logdet(A) for the second result",
}


def call(scope: Scope, name: Token, arguments: Sequence[Argument], end: int) -> Term:
    """Return the term of a call, or record an error in the scope."""
    spelled = str(name)
    start, name_end = span_of(name)
    if spelled in ARRAYS:
        return array_call(scope, spelled, arguments, start, end)
    special = FUNCTIONS.get(spelled)
    op = OPS.get(spelled)
    if special is None and op is None:
        return _unknown(scope, spelled, arguments, start, name_end, end)
    terms: list[Term] = []
    keywords: dict[str, Term] = {}
    for argument in arguments:
        if isinstance(argument, Keyword):
            key = str(argument.name)
            if op is None or key not in op.parameters or key in keywords:
                return _wrong_keyword(scope, spelled, op, argument, terms)
            if not isinstance(argument.value, Term):
                return _no_value(scope, argument.value)
            keywords[key] = argument.value
        elif keywords:
            return scope.wrong(
                ProgramSyntaxError,
                "a positional argument follows a keyword argument",
                argument.start,
                argument.end,
                cure="move it before the keyword arguments",
            )
        elif isinstance(argument, Term):
            terms.append(argument)
        elif spelled not in ("Piecewise", "float"):
            return _no_value(scope, argument)
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
    keywords: dict[str, Term],
    start: int,
    end: int,
) -> Term:
    params: list[object] = []
    for parameter in op.parameters:
        if parameter in keywords:
            term = keywords[parameter]
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
            cure="add the missing argument"
            if given < wanted
            else _with_one_more(scope, spelled, terms) or "remove an argument",
        )
    result = scope.make(op, terms[: op.arity], start, end, tuple(params))
    for term in terms[op.arity :]:
        result = scope.make(op, (result, term), start, end)
    return result


def _with_one_more(scope: Scope, spelled: str, terms: Sequence[Term]) -> str | None:
    """Return the cure for a second argument that other notations accept: a root, or a number of digits."""
    if spelled not in ("sqrt", "round") or len(terms) != 2:
        return None
    x, n = (scope.source.text[t.start : t.end] for t in terms)
    x, n = (text if text.isalnum() else f"({text})" for text in (x, n))
    return f"write round({x}*10**{n})/10**{n}" if spelled == "round" else f"write {x}**(1/{n})"


def signature(op: Op, spelled: str) -> str:
    """Return the form of a call of an op, as messages show it."""
    letters = "cxyzw" if op.takes[:1] == ("bool",) and "number" in op.takes else "xyzwv"
    return f"{spelled}({', '.join((*op.parameters, *letters[: op.arity]))})"


def _no_value(scope: Scope, item: ItemList | Text | NoneLiteral) -> Term:
    """Record the error for an invalid operand."""
    if isinstance(item, ItemList):
        return scope.wrong(
            ProgramSyntaxError,
            "a tuple or list is not a value",
            item.start,
            item.end,
            expected="one value",
            cure="write one value, or stack((a, b)) for an array of values",
        )
    if isinstance(item, Text):
        what, cure = "texts in quotes (and f-strings) are not part of formulas", "write the formula itself"
    else:
        what, cure = "'None' is a word of Python, not of formulas", "leave it out"
    return scope.wrong(ForbiddenSyntaxError, what, item.start, item.end, cure=cure)


def _wrong_keyword(
    scope: Scope, spelled: str, op: Op | None, argument: Keyword, terms: Sequence[Term]
) -> Term:
    name, acts, cure = str(argument.name), "", "write == to compare, or leave the name out"
    if name in ("axis", "keepdims", "axes", "dim", "keepdim", "out", "dtype"):
        acts, cure = " acts entry by entry and", "leave it out"
    elif spelled == "log" and name == "base" and len(terms) == 1:
        x, base = (scope.source.text[item.start : item.end] for item in (terms[0], argument.value))
        cure = f"write log({x}, {base})"
    return scope.wrong(
        ProgramSyntaxError,
        f"{spelled}{acts} takes no argument named '{name}'",
        *span_of(argument.name),
        expected=signature(op, spelled) if op is not None else _SIGNATURES[spelled],
        cure=cure,
    )


_ELSEWHERE = {
    **dict.fromkeys(["detach", "sg", "no_grad", "stopgrad", "frozen"], "write stop_gradient(...)"),
    "lg": "write log10(...), or log2(...)",
}
"""Names of functions in other libraries and textbooks, with the names in this notation."""


def _unknown(
    scope: Scope, spelled: str, arguments: Sequence[Argument], start: int, name_end: int, end: int
) -> Term:
    if spelled in CONSTANTS and not arguments:
        return scope.term(constant(spelled), start, end)
    if spelled in _NOT_HERE:
        return scope.wrong(
            UnsupportedError, f"'{spelled}' is not in this version", start, name_end, cure=_NOT_HERE[spelled]
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
    known = [s for s in (*OPS, *FUNCTIONS, *ARRAYS) if s.isalpha() or not s.endswith("_")]
    return scope.wrong(
        UnknownFunctionError,
        f"unknown function '{spelled}'",
        start,
        name_end,
        expected="a function of NumPy, SciPy or SymPy that symgrad knows",
        cure=_ELSEWHERE.get(spelled)
        or _renamed(scope, spelled, name_end, end)
        or suggest(spelled, known)
        or f"write its formula, or {spelled}*(...) for a product",
    )


def _renamed(scope: Scope, spelled: str, name_end: int, end: int) -> str | None:
    """Return the call of a function that has another name here and takes the same arguments."""
    name, rest = name_here(spelled), scope.source.text[name_end:end]
    short = len(rest) <= 60 and "\n" not in rest
    return name and f"write {name}{argument_names(rest) if short else '(...)'}"


def _log(scope: Scope, arguments: Sequence[Argument], start: int, end: int) -> Term | None:
    """Return log(x, b) as log(x)/log(b), as in SymPy."""
    if len(arguments) != 2 or not all(isinstance(a, Term) for a in arguments):
        return None
    logs = [scope.make(OPS["log"], (a,), start, end) for a in arguments if isinstance(a, Term)]
    return scope.make(OPS["div"], logs, start, end)


def _written(name: str) -> Callable[[Scope, Sequence[Argument], int, int], Term | None]:
    """Return a function that is defined by other functions."""

    def read(scope: Scope, arguments: Sequence[Argument], start: int, end: int) -> Term | None:
        terms = [a for a in arguments if isinstance(a, Term)]
        how = form_of(name, len(arguments))
        return (
            None if how is None or len(terms) != len(arguments) else scope.build(how.build, terms, start, end)
        )

    return read


def _rational(scope: Scope, arguments: Sequence[Argument], start: int, end: int) -> Term | None:
    """Return Rational(1, 3) as the number 1/3."""
    values = [Fraction(a.node.value) for a in arguments if isinstance(a, Term) and a.literal]
    if len(values) != len(arguments) or not 1 <= len(values) <= 2 or 0 in values[1:]:
        return None
    return scope.term(number(values[0] / (*values, 1)[1]), start, end)


def _piecewise(scope: Scope, arguments: Sequence[Argument], start: int, end: int) -> Term | None:
    """Return Piecewise((a, c), (b, True)) as where(c, a, b)."""
    pairs = [
        (value, condition)
        for a in arguments
        if isinstance(a, ItemList) and len(a.values) == 2
        for value, condition in [a.values]
        if isinstance(value, Term) and isinstance(condition, Term)
    ]
    if len(pairs) != len(arguments) or not pairs:
        return None
    result, last = pairs[-1]
    condition = last.node
    if not (condition.args == () and condition.dtype == "bool" and condition.params[-1] is True):
        return scope.wrong(
            ProgramSyntaxError,
            "this Piecewise has no last piece for all other values",
            last.start,
            last.end,
            expected=_SIGNATURES["Piecewise"],
            cure="end it with (value, True)",
        )
    for value, where in reversed(pairs[:-1]):
        result = scope.make(OPS["where"], (where, value, result), start, end)
    return Term(result.node, start, end)


def _float(scope: Scope, arguments: Sequence[Argument], start: int, end: int) -> Term | None:
    """Return float("-inf") as -oo."""
    if len(arguments) != 1 or not isinstance(arguments[0], Text):
        return None
    text = arguments[0].value.strip().lower()
    if text.lstrip("+-") not in ("inf", "infinity") or len(text) - len(text.lstrip("+-")) > 1:
        return None
    found = scope.infinite(start, end)
    return scope.make(OPS["neg"], (found,), start, end) if text.startswith("-") else found


FUNCTIONS: dict[str, Callable[[Scope, Sequence[Argument], int, int], Term | None]] = {
    "Piecewise": _piecewise,
    "Rational": _rational,
    "float": _float,
    "log": _log,
    **{name: _written(name) for name in WRITTEN},
    **{name: derivative_call(name) for name in SIGNATURES},
}

_SIGNATURES = {
    "Piecewise": "Piecewise((a, condition), (b, True))",
    "Rational": "Rational(1, 3)",
    "float": 'float("-inf")',
    "log": "log(x)",
    **SIGNATURES,
    **{name: f"{name}({', '.join(forms[-1].parameters)})" for name, forms in WRITTEN.items()},
}
