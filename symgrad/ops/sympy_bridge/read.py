"""Convert SymPy expressions to nodes, in their order and unevaluated."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from sys import maxsize
from typing import Any, SupportsInt

from mpmath import libmp as typed_libmp

from symgrad.ir.composite import WRITTEN, form_of
from symgrad.ir.exact import CONSTANTS
from symgrad.ir.graph import OPS, Node, constant, number, symbol, truth
from symgrad.ir.listing import one_of
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import BOOL, DOMAINS, INT, NONNEGATIVE, POSITIVE, REAL, Declaration, Domain, is_name
from symgrad.ops.sympy_bridge.functions import head_of
from symgrad.ops.sympy_bridge.objects import S, Static, sympy
from symgrad.ops.sympy_bridge.undefined import (
    arguments_of,
    check_arguments,
    clash,
    is_undefined,
    name_of,
    with_entries,
)
from symgrad.ops.sympy_bridge.write import class_of, is_reciprocal
from symgrad.support.errors import (
    DeclarationError,
    NumberTooLargeError,
    RedefinitionError,
    UnsupportedError,
    UsageError,
)

_libmp: Any = typed_libmp
_AppliedUndef: Any = sympy.core.function.AppliedUndef
_BooleanFunction: Any = sympy.logic.boolalg.BooleanFunction
_ExprCondPair: Any = sympy.functions.elementary.piecewise.ExprCondPair


def _malformed(e: Any, why: str) -> UsageError:
    return UsageError(
        f"SymPy's {type(e).__name__} {why}",
        expected="expressions as SymPy's own functions and operators make them",
        cure=f"make it by calling {type(e).__name__}(...)",
    )


def _attribute(e: Any, name: str, kind: type) -> Any:
    """Return an attribute that the constructor of a class sets."""
    value = getattr(e, name, None)
    if not isinstance(value, kind):
        raise _malformed(e, "was not made by its constructor")
    return value


def _declared(e: Any, boolean: bool, domains: Mapping[str, Domain | Declaration | str]) -> Node:
    name = _attribute(e, "name", str)
    if not is_name(name):
        raise DeclarationError(
            f"{name!r} cannot name a symbol",
            expected="a letter, then letters, digits and _; no word of Python, and not pi",
            cure=f"rename the symbol: expr.subs(Symbol({name!r}), Symbol('a'))",
        )
    domain = domains.get(name)
    if isinstance(domain, str):
        if domain not in DOMAINS:
            raise DeclarationError(f"unknown domain '{domain}' for {name}", expected=one_of(DOMAINS))
        domain = DOMAINS[domain]
    if domain is None:
        known = e.assumptions0
        if e.is_real is False or e.is_commutative is False or (known.get("complex") and e.is_real is None):
            raise DeclarationError(
                f"the symbol {name} is not real",
                expected="real symbols",
                cure=f"make it Symbol('{name}', real=True)",
            )
        if boolean:
            domain = BOOL
        elif e.is_integer:
            domain = INT
        else:
            domain = POSITIVE if e.is_positive else NONNEGATIVE if e.is_nonnegative else REAL
    return symbol(domain if isinstance(domain, Declaration) else Declaration(name, domain))


def _exact(value: Any) -> Fraction:
    """Return the shortest decimal that parses to a Float of the same precision."""
    mpf, precision = _attribute(value, "_mpf_", tuple), _attribute(value, "_prec", int)
    if not mpf[1] and mpf[2]:
        raise UnsupportedError("a float is not finite", cure="leave out what is not finite")
    if abs(mpf[2]) > _LARGEST_EXPONENT:
        raise NumberTooLargeError("a float has an exponent too large to write out", cure="keep it symbolic")
    digits: int = _libmp.prec_to_dps(precision)
    while True:
        # The conversion uses Decimal, since Python's int only reads texts of up to 4,300 digits.
        exact = Fraction(Decimal(_libmp.to_str(mpf, digits)))
        if _libmp.from_rational(exact.numerator, exact.denominator, precision, "n") == mpf:
            return exact
        digits += 1


_LARGEST_EXPONENT = 20_000  # of two; doubles have exponents up to 1024, quadruple precision up to 16384


def _chained(op: str) -> Callable[[Any, list[Node]], Node]:
    return lambda e, args: reduce(lambda a, b: OPS[op](a, b), args)


def _read_product(e: Any, args: list[Node]) -> Node:
    factors = e.args
    start = 1 if factors[0] is S.NegativeOne and len(factors) > 1 else 0
    result = args[start]
    for factor, arg in zip(factors[start + 1 :], args[start + 1 :], strict=True):
        # The argument of a reciprocal is 1/b.
        result = OPS["div"](result, arg.args[1]) if is_reciprocal(factor) else OPS["mul"](result, arg)
    return OPS["neg"](result) if start else result


def _read_power(e: Any, args: list[Node]) -> Node:
    base, exponent = args
    if e.args[1] is S.NegativeOne:
        return OPS["div"](number(1), base)
    return OPS["sqrt"](base) if e.args[1] is S.Half else OPS["pow"](base, exponent)


def _read_piecewise(e: Any, args: list[Node]) -> Node:
    values, conditions = args[0::2], args[1::2]
    if e.args[-1].args[1] is not S.true:
        raise UnsupportedError(
            "a Piecewise has no value where none of its conditions holds",
            expected="True as its last condition",
            cure="end it with the value elsewhere: Piecewise(..., (value, True))",
        )
    result = values[-1]
    for value, condition in zip(reversed(values[:-1]), reversed(conditions[:-1]), strict=True):
        result = OPS["where"](condition, value, result)
    return result


def _read_polygamma(_e: Any, args: list[Node]) -> Node:
    if not (args[0].is_number() and isinstance(args[0].value, int) and 0 <= args[0].value <= maxsize):
        raise UnsupportedError(
            "polygamma has no order known to be 0, 1, 2, ...", cure="give its first argument as a number"
        )
    return OPS["polygamma"](args[1], params=(args[0].value,))


def _read_composite(name: str) -> Callable[[Any, list[Node]], Node]:
    """Return the reader of a function that has a formula over ops, or an op only for another number of arguments."""

    def read(_e: Any, args: list[Node]) -> Node:
        how = form_of(name, len(args))
        return OPS[name](*args) if how is None else how.build(*args)

    return read


def _read_expint(_e: Any, args: list[Node]) -> Node:
    return OPS["exp1"](args[1]) if args[0].is_number(1) else OPS["expint"](*args)


def _not(node: Node) -> Node:
    return OPS["not_"](node)


def _either(condition: Node, a: Node, b: Node) -> Node:
    return OPS["or_"](OPS["and_"](condition, a), OPS["and_"](_not(condition), b))


_WRITTEN = ("Li", "Mod", "beta", "binomial", "catalan", "elliptic_e", "erf2", "factorial", "ff", "rf", "zeta")


def _counts(name: str) -> Container[int]:
    op = {OPS[name].arity} if name in OPS else set[int]()
    return op | {len(how.parameters) for how in WRITTEN[name]}


_SOME = range(1, maxsize)

_READ: dict[Any, tuple[Container[int], Callable[[Any, list[Node]], Node]]] = {
    sympy.Add: (_SOME, _chained("add")),
    sympy.Mul: (_SOME, _read_product),
    sympy.Pow: ({2}, _read_power),
    sympy.Piecewise: (_SOME, _read_piecewise),
    sympy.UnevaluatedExpr: ({1}, lambda e, args: args[0]),
    sympy.Max: (_SOME, _chained("maximum")),
    sympy.Min: (_SOME, _chained("minimum")),
    sympy.And: (_SOME, _chained("and_")),
    sympy.Or: (_SOME, _chained("or_")),
    sympy.Xor: (_SOME, _chained("xor")),
    sympy.ITE: ({3}, lambda e, args: _either(*args)),
    sympy.Implies: ({2}, lambda e, args: OPS["or_"](_not(args[0]), args[1])),
    sympy.Equivalent: (
        range(2, maxsize),
        lambda e, args: reduce(OPS["and_"], [_not(OPS["xor"](args[0], a)) for a in args[1:]]),
    ),
    sympy.polygamma: ({2}, _read_polygamma),
    sympy.expint: ({2}, _read_expint),
    **{getattr(sympy, name): (_counts(name), _read_composite(name)) for name in _WRITTEN},
    sympy.erfcinv: ({1}, lambda e, args: OPS["erfcinv"](args[0])),
    # SymPy's sinc is sin(x)/x, and 1 at 0; NumPy's sinc has the argument in multiples of pi.
    sympy.sinc: ({1}, lambda e, args: OPS["spherical_jn"](number(0), args[0])),
    sympy.jn: ({2}, lambda e, args: OPS["spherical_jn"](*args)),
    sympy.loggamma: ({1}, lambda e, args: OPS["lgamma"](args[0])),
}
"""For SymPy classes with several forms, any number of arguments, or no op: the numbers of arguments, and the reader."""

_CURES: list[tuple[tuple[str, ...], str]] = [
    (("Integral", "Derivative", "Sum", "Product", "Limit", "Subs"), "evaluate it first: .doit()"),
    (
        ("ImaginaryUnit", "re", "im", "conjugate", "arg"),
        "symgrad's expressions are real: write out real and imaginary parts",
    ),
    (("NaN", "Infinity", "NegativeInfinity", "ComplexInfinity"), "leave out what is not finite"),
    (("Heaviside", "DiracDelta", "SingularityFunction"), "rewrite it as choices: .rewrite(Piecewise)"),
]


def _unsupported(e: Any) -> UnsupportedError:
    name = type(e).__name__
    if isinstance(e, _AppliedUndef):
        return UnsupportedError(
            f"{e} is a function without a definition",
            expected="one of symbols alone, such as theta(t): an input named theta",
            cure="substitute an expression for it",
        )
    if getattr(e, "is_Matrix", False):
        return UnsupportedError(
            f"a matrix ({name}) is not a scalar expression",
            expected="a matrix of known entries",
            cure=with_entries(e),
        )
    for names, cure in _CURES:
        if name in names:
            return UnsupportedError(f"SymPy's {name} has no op", cure=cure)
    return UnsupportedError(
        f"SymPy's {name} has no op",
        cure="rewrite it in other functions (.rewrite), or register an op for it: sg.register_op",
    )


class _Reader:
    """Converts SymPy expressions to nodes, with arguments first, and each object once."""

    def __init__(self, domains: Mapping[str, Domain | Declaration | str]) -> None:
        self.domains = domains
        self.symbols: dict[str, Any] = {}
        self.functions: dict[str, Any] = {}
        self.floats: set[Fraction] = set()
        self.quotients: set[Fraction] = set()
        self.done: dict[int, Node] = {}  # by id, since comparing expressions would traverse them
        self.op_of = {class_of(op, head_of): op for op in set(OPS.values()) if op.name not in _UNWRITTEN}
        self.op_of[head_of(OPS["xor"])] = OPS["xor"]  # for equal arguments

    def children(self, e: Any) -> tuple[Any, ...]:
        cls: Any = e.__class__
        if cls not in _READ and cls not in self.op_of:
            if not isinstance(e, _LEAVES) and not is_undefined(e):
                raise _unsupported(e)
            return ()
        args = _attribute(e, "_args" if cls is sympy.Xor else "args", tuple)  # .args of Xor sorts a set
        own = tuple(a for a in args if type(a) is not Static)
        if len(own) not in (_READ[cls][0] if cls in _READ else {self.op_of[cls].arity}):
            raise _malformed(e, f"has {len(own)} argument{'s' * (len(own) != 1)}")
        if cls is not sympy.Piecewise:
            return own
        for pair in own:
            if type(pair) is not _ExprCondPair or len(pair.args) != 2:
                raise _malformed(e, "has a part that is no value with its condition")
        return tuple(part for pair in own for part in pair.args)

    def read(self, outputs: list[Any]) -> list[Node]:
        order: list[Any] = []
        seen: set[int] = set()
        truths: set[int] = set()
        for output in outputs:
            stack = [(output, False)]
            while stack:
                e, ready = stack.pop()
                if ready:
                    order.append(e)
                elif id(e) not in seen:
                    seen.add(id(e))
                    children = self.children(e)
                    truths |= self.truths(e, children)
                    stack.append((e, True))
                    stack.extend((child, False) for child in reversed(children))
        for e in order:
            self.done[id(e)] = self.node(e, id(e) in truths)
        return [self.done[id(output)] for output in outputs]

    def truths(self, e: Any, children: tuple[Any, ...]) -> set[int]:
        """Return the ids of the children that must be truth values, which determine the domains of symbols."""
        op = self.op_of.get(type(e))
        if type(e) is sympy.Piecewise:
            return {id(c) for c in children[1::2]}
        if op is not None and len(children) == op.arity:
            return {id(c) for c, takes in zip(children, op.takes, strict=True) if takes == "bool"}
        return {id(c) for c in children} if isinstance(e, _BooleanFunction) else set()

    def node(self, e: Any, boolean: bool) -> Node:
        cls: Any = e.__class__
        children = self.children(e)
        if not all(id(c) in self.done for c in children):
            raise _malformed(e, "is a part of itself")
        args = [self.done[id(c)] for c in children]
        if cls in _READ:
            return _READ[cls][1](e, args)
        if cls in self.op_of:
            return self.op_of[cls](*args, params=e.params if self.op_of[cls].parameters else ())
        if isinstance(e, sympy.Symbol):
            other = self.symbols.setdefault(_attribute(e, "name", str), e)
            if other != e:
                # SymPy distinguishes such symbols by their assumptions, or as Dummies.
                raise RedefinitionError(
                    f"two different symbols of SymPy are named {e.name}: {sympy.srepr(other)} and {sympy.srepr(e)}",
                    cure=f"rename one of them, or make it the other: expr.subs(old, {e.name})",
                )
            return _declared(e, boolean, self.domains)
        if is_undefined(e):
            return self.undefined(e)
        if isinstance(e, sympy.Rational):
            numerator, denominator = _attribute(e, "p", SupportsInt), _attribute(e, "q", SupportsInt)
            if not int(denominator):
                raise _malformed(e, "divides by zero")
            quotient = Fraction(int(numerator), int(denominator))
            self.quotients.add(abs(quotient))
            return number(quotient)
        if isinstance(e, sympy.Float):
            value = _exact(e)
            self.floats.add(abs(value))
            return number(value)
        if e is S.true or e is S.false:
            return truth(e is S.true)
        if str(e) in CONSTANTS:
            return constant(str(e))
        raise _unsupported(e)

    def undefined(self, e: Any) -> Node:
        """Return the input for theta(t) or a derivative of it."""
        name = name_of(e)
        other = self.functions.setdefault(name, e)
        if other != e or name in self.symbols:
            raise clash(e, other if other != e else self.symbols[name])
        if not all(a.is_real is not False for a in arguments_of(e)) or e.is_real is False:
            raise DeclarationError(f"{e} is not real", expected="real functions of real symbols")
        return _declared(sympy.Symbol(name), False, self.domains)

    def check(self) -> None:
        """Raise an error for names of functions that are also symbols, and for functions of inputs."""
        for name in self.functions.keys() & self.symbols.keys():
            self.undefined(self.functions[name])
        check_arguments(self.functions, self.symbols)


_LEAVES: Any = (
    sympy.Rational,
    sympy.Float,
    sympy.NumberSymbol,
    sympy.Symbol,
    sympy.logic.boolalg.BooleanTrue,
    sympy.logic.boolalg.BooleanFalse,
)

_UNWRITTEN = {"mul", "div", "neg", "pow", "sqrt", "where"}  # ops that share a SymPy class


def from_sympy(
    exprs: Sequence[Any],
    domains: Mapping[str, Domain | Declaration | str] | None = None,
    floats: set[Fraction] | None = None,
) -> list[Node]:
    """Convert SymPy expressions to nodes, in their order and unevaluated.

    Args:
        exprs: SymPy expressions or Python numbers.
        domains: for symbols, by name, the domain (or the name of the domain) or the declaration. For a symbol without
            an entry its assumptions determine the domain: a positive symbol is ``positive``, an integer symbol is
            ``int``, a condition is ``bool``, and any other symbol is ``real``. A function without a definition,
            theta(t), is an input ``theta``, and its derivatives are inputs ``dtheta_dt``, ``d2theta_dt2``.
        floats: a set to which the sizes of all numbers are added that are floats, and nowhere quotients of integers.

    Returns:
        One node per expression.

    Raises:
        UnsupportedError: for a SymPy class without an op, such as an integral; the message names it.
        DeclarationError: for a symbol that is not real, or an unknown domain.
        RedefinitionError: if two symbols with the same name differ.

    Example:
        >>> import symgrad.ops.scalar.arith
        >>> a = sympy.Symbol("a", positive=True)
        >>> from_sympy([a**0.9])[0].args
        (<a : positive>, <9/10>)
    """
    read: list[Any] = []
    for e in exprs:
        if getattr(e, "is_Matrix", False):
            raise _unsupported(e)
        if not isinstance(e, (sympy.Basic, int, float, Fraction)):
            raise UsageError(
                f"a value of type {type(e).__name__} is not a SymPy expression",
                cure="read text with parse(); give numbers as an int, a float or a Fraction",
            )
        read.append(sympy.sympify(e))
    reader = _Reader(domains or {})
    nodes = reader.read(read)
    reader.check()
    if floats is not None:
        floats |= reader.floats - reader.quotients
    symbols_of(nodes)
    return nodes
