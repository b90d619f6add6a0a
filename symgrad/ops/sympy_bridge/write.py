"""Convert nodes to SymPy expressions, unevaluated and with their sharing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import sympy.codegen.cfunctions as typed_cfunctions

from symgrad.ir.graph import CONSTANT, NUMBER, SYMBOL, Node, Op
from symgrad.ir.traverse import symbols_of, uses
from symgrad.ir.types import Declaration
from symgrad.ops.sympy_bridge.objects import S, Static, sympy
from symgrad.support.errors import InternalError

_cfunctions: Any = typed_cfunctions
_Application: Any = sympy.core.function.Application
_LatticeOp: Any = sympy.core.operations.LatticeOp
_ExprCondPair: Any = sympy.functions.elementary.piecewise.ExprCondPair

# If several sums extend a longer sum than this, it is nested in them instead of copied.
_COPIES = 32


def declarations(nodes: Iterable[Node]) -> dict[str, Declaration]:
    """Return the declarations of the symbols of nodes, by name, for the argument `domains` of `from_sympy`."""
    return {s.name: s.declaration for s in symbols_of(nodes)}


def assumptions(declaration: Declaration) -> dict[str, bool]:
    """Return SymPy's assumptions for a symbol: its kind, and its sign if the interval determines it.

    Example:
        >>> assumptions(Declaration("u"))
        {'real': True}
    """
    support = declaration.values
    if support.kind == "bool":
        return {}
    known = {"integer": True} if support.kind == "int" else {}
    low, high = support.span
    if low is not None and low >= 0:
        known["positive" if low > 0 or not support.closed else "nonnegative"] = True
    elif high is not None and high <= 0:
        known["negative" if high < 0 or not support.closed else "nonpositive"] = True
    return known or {"real": True}


@cache
def _nargs(cls: Any) -> Any:
    return cls.nargs


def _build(cls: Any, *args: Any) -> Any:
    """Construct a SymPy object with these final arguments, without evaluation, and cache its hash."""
    new: Any = sympy.Basic.__new__(cls, *args)
    if cls in (sympy.Add, sympy.Mul, sympy.Pow):
        new.is_commutative = True
    elif issubclass(cls, _Application):
        new.nargs = _nargs(cls)
        if issubclass(cls, (_LatticeOp, sympy.Xor)):
            new._argset = frozenset(args)
    hash(new)
    return new


def _unevaluated(e: Any) -> Any:
    return _build(sympy.UnevaluatedExpr, e)


def is_reciprocal(e: Any) -> bool:
    """Tell whether a SymPy expression is a reciprocal."""
    return type(e) is sympy.Pow and e.args[1] is S.NegativeOne


_SPELLED = {"add": sympy.Add, "maximum": sympy.Max, "minimum": sympy.Min, "polygamma": sympy.polygamma}


@cache
def class_of(op: Op, head_of: Callable[[Op], Any]) -> Any:
    """Return the SymPy class of an op, except for products, powers and choices, which have several forms."""
    if op.cas is None:
        return _SPELLED.get(op.name) or head_of(op)
    found = getattr(sympy, op.cas, None) or getattr(_cfunctions, op.cas, None)
    if not isinstance(found, type):
        raise InternalError(f"op {op.name}: SymPy has no class {op.cas}")
    return found


@cache
def _family(op: Op, head_of: Callable[[Op], Any]) -> tuple[str, int] | None:
    """Return the kind of chain that an op extends, and the position of the argument that is extended; else None."""
    if op.name in {"mul", "div", "neg"}:
        return "product", 0
    if op.name == "where":
        return "where", 2
    if op.name in {"pow", "sqrt"}:
        return None
    return (op.name, 0) if issubclass(class_of(op, head_of), (sympy.Add, _LatticeOp, sympy.Xor)) else None


class Writer:
    """Converts nodes to SymPy expressions, arguments first."""

    def __init__(self, nodes: list[Node], symbols: Mapping[str, Any], head_of: Callable[[Op], Any]) -> None:
        self.head_of = head_of
        self.symbols = symbols
        self.done: dict[Node, Any] = {}
        self.parts: dict[Node, Any] = {}
        self.count = uses(nodes)
        self.inner: dict[Node, Node | None] = {}  # the argument whose terms become the first terms of the key
        self.length: dict[Node, int] = {}
        for node in self.count:
            inner = self.inner[node] = self.joined(node)
            self.length[node] = 1 if inner is None else 1 + self.length[inner]
        inside = {n for n in self.inner.values() if n is not None and self.count[n] == 1}
        for node in self.count:
            if node not in inside:
                self.done[node] = self.write(node)

    def joined(self, node: Node) -> Node | None:
        family = _family(node.op, self.head_of)
        if family is None:
            return None
        inner = node.args[family[1]]
        if inner.op.name == "neg" or _family(inner.op, self.head_of) != family:
            return None
        if self.length[inner] > _COPIES and (self.count[inner] > 1 or node.op.name == "xor"):
            return None
        if node.op.name == "xor":  # SymPy keeps the arguments of Xor as a set
            first, nodes = self.chain(inner)
            terms = [first, *(n.args[1] for n in nodes), node.args[1]]
            return inner if len(set(terms)) == len(terms) else None
        return inner

    def chain(self, node: Node) -> tuple[Node, list[Node]]:
        """Return the first term of a chain, and the nodes that add a term each, in order."""
        nodes = [node]
        while (inner := self.inner[nodes[-1]]) is not None:
            nodes.append(inner)
        nodes.reverse()
        family = _family(node.op, self.head_of)
        return nodes[0].args[family[1] if family else 0], nodes

    def write(self, node: Node) -> Any:
        op, done = node.op, self.done
        if op is NUMBER:
            value = node.value
            if isinstance(value, bool):
                return S.true if value else S.false
            return (
                sympy.Integer(value)
                if isinstance(value, int)
                else sympy.Rational(value.numerator, value.denominator)
            )
        if op is CONSTANT:
            return getattr(sympy, node.params[0])
        if op is SYMBOL:
            known = self.symbols.get(node.name)
            return sympy.Symbol(node.name, **assumptions(node.declaration)) if known is None else known
        if op.name in {"mul", "div", "neg"}:
            return self.product(node)
        if op.name == "pow":
            base, exponent = (done[a] for a in node.args)
            other = exponent is S.NegativeOne or exponent is S.Half
            return _build(sympy.Pow, base, _unevaluated(exponent) if other else exponent)
        if op.name == "sqrt":
            return _build(sympy.Pow, done[node.args[0]], S.Half)
        if op.name == "where":
            last, nodes = self.chain(node)
            pairs = [self.part(n, _ExprCondPair, n.args[1], done[n.args[0]]) for n in reversed(nodes)]
            return _build(sympy.Piecewise, *pairs, _build(_ExprCondPair, done[last], S.true))
        cls = class_of(op, self.head_of)
        if _family(op, self.head_of) is not None:
            first, nodes = self.chain(node)
            terms = [first, *(n.args[1] for n in nodes)]
            if cls is sympy.Xor and terms[0] is terms[1]:
                cls = self.head_of(op)
            return _build(cls, *(done[t] for t in terms))
        if op.parameters:
            static = sympy.Integer(node.params[0]) if op.name == "polygamma" else Static(node.params)
            return _build(cls, static, *(done[a] for a in node.args))
        return _build(cls, *(done[a] for a in node.args))

    def part(self, node: Node, cls: Any, arg: Node, other: Any) -> Any:
        """Return the part of a chain for a node, which is cached for all chains that copy it."""
        if node not in self.parts:
            self.parts[node] = _build(cls, self.done[arg], other)
        return self.parts[node]

    def product(self, node: Node) -> Any:
        first, nodes = self.chain(node)
        signs: list[Any] = []
        if nodes[-1].op.name == "neg":
            signs.append(S.NegativeOne)
            nodes.pop()
        factors: list[Any] = []
        for n in nodes:
            factor = self.done[n.args[1]]
            if n.op.name == "div":
                factors.append(self.part(n, sympy.Pow, n.args[1], S.NegativeOne))
            else:
                factors.append(_unevaluated(factor) if is_reciprocal(factor) else factor)
        if not (first.is_number(1) and nodes and nodes[0].op.name == "div"):  # 1/b is the reciprocal itself
            written = self.done[first]
            factors.insert(0, _unevaluated(written) if written is S.NegativeOne and not signs else written)
        factors = signs + factors
        return _build(sympy.Mul, *factors) if len(factors) > 1 else factors[0]
