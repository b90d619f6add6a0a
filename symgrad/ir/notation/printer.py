"""Print graphs in program notation, which parses to the same nodes.

The text has as few parentheses as Python's precedence allows. By a convention of the reader -2 and 1/3 are literal
numbers, so the negation of two is written -(2). The printer does not use recursion. `str_text` and `program_text` give
long common subexpressions the names t1, t2, ...
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, cast

from symgrad.ir.body import Body, StepNotation
from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, SYMBOL, Node, Op, size_node
from symgrad.ir.listing import Derivative
from symgrad.ir.notation.arrays import is_matrix_product, truth_symbol
from symgrad.ir.notation.lags import lags_in_text
from symgrad.ir.notation.literals import (
    ANY,
    ATOM,
    INFIX,
    MUL,
    NEG,
    NOT,
    Operand,
    Part,
    number_text,
    separated,
    size_text,
)
from symgrad.ir.notation.recurrence_names import RecurrenceNames, name_recurrences
from symgrad.ir.notation.recurrences import CarryName, is_recurrence, recurrence_lines, recurrence_of
from symgrad.ir.sizes import Extent, Size, names_of
from symgrad.ir.traverse import formulas_of, symbols_of, topological, uses
from symgrad.ir.types import write_formulas_with
from symgrad.support.errors import RedefinitionError
from symgrad.support.traversal import leaves

ONE_LINE = 1_000  # characters of an expression that is printed on one line
_DEPTH = 200  # the deepest nesting of one definition, well below the limit of the reader
_SMALL = 12  # characters of a common subexpression that is repeated rather than named

_PREFIX = {"neg": ("-", NEG, NEG), "not_": ("not ", NOT, NOT)}


def expression_text(node: Node, names: Mapping[Node, str] | None = None, *, expand: bool = False) -> str:
    """Return a node as one expression.

    The text is as long as the expression tree: use `str_text` or `program_text` for graphs with much sharing.

    Args:
        node: the node.
        names: the names of nodes; a number may have another spelling instead of a name.
        expand: whether to write the expression of the node itself even if it has a name.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> expression_text(parse_program("-(a - b)**2/(1/3*c) + -(2)").result)
        '-(a - b)**2/(1/3*c) - (2)'
    """
    names = names or {}
    out: list[str] = []
    stack: list[Part] = [(node, ANY, False)]
    first = expand
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            out.append(part)
            continue
        inner, needed, bare = part
        name = None if first else names.get(inner)
        first = False
        if name is not None:
            literal = inner.op is NUMBER and name[0] in "-.0123456789"
            out.append(f"({name})" if literal and (bare or (name[0] == "-" and needed > NEG)) else name)
            continue
        parts, precedence = parts_of(inner, names)
        if in_parentheses(part, precedence):
            out.append("(")
            stack.append(")")
        stack.extend(reversed(parts))
    return "".join(out)


_INFINITE = {"where_minus_oo": "-oo", "where_plus_oo": "oo"}


def _is_literal(node: Node) -> bool:
    return node.op is NUMBER and node.dtype != "bool" and node.value != 0


def in_parentheses(operand: Operand, precedence: int) -> bool:
    """Tell whether an operand whose spelling has a given precedence needs parentheses."""
    node, needed, bare = operand
    return precedence < needed or (bare and _is_literal(node))


def parts_of(node: Node, names: Mapping[Node, str] = {}) -> tuple[list[Part], int]:
    """Return the parts of the spelling of a node, and its precedence."""
    op, args = node.op, node.args
    if op is NUMBER:
        text, precedence = _number(node)
        return [text], precedence
    if op is SYMBOL:
        return [node.name], ATOM
    if op is CONSTANT:
        # Only pi is reserved; all other constants are calls, so their names stay free.
        return ["pi" if node.params[0] == "pi" else f"{node.params[0]}()"], ATOM
    if op is SIZE:  # lowering alone has nodes of composed sizes
        return [node.params[0] if isinstance(node.params[0], str) else f"({size_text(node.params[0])})"], ATOM
    if not op.pointwise:
        return op.array.written(node, names)
    if op.name in _PREFIX:
        sign, own, needed = _PREFIX[op.name]
        if op.name == "neg" and args[0].shape and args[0] not in names and is_matrix_product(args[0]):
            return ["-", (args[0], MUL, False)], MUL
        return [sign, (args[0], needed, op.name == "neg")], own
    if op.name in _INFINITE:
        return ["where(", *separated([*args, _INFINITE[op.name]]), ")"], ATOM
    if op.name not in INFIX:
        # Static parameters come before the arguments, as in polygamma(n, x).
        return [f"{op.name}(", *separated((*map(str, node.params), *args)), ")"], ATOM
    sign, own, left, right = INFIX[op.name]
    second = args[1]
    if (
        op.name == "mul"
        and not args[0].shape
        and second.shape
        and second not in names
        and is_matrix_product(second)
    ):
        right = MUL  # 2*A@x means 2*(A@x); a product that is a scalar is easier to read in parentheses
    if op.name == "add" and second.is_number() and second.value < 0:
        text = names.get(second) or number_text(second.value)
        if text.startswith("-"):
            return [(args[0], left, False), " - ", text[1:]], own
    if op.name == "add" and second not in names and second.op.name == "neg":
        return [(args[0], left, False), " - ", (second.args[0], right, True)], own
    divides = op.name == "div" and _is_integer(args[0]) and _is_integer(second) and second.value != 0
    return [(args[0], left, False), sign, (second, right, divides)], own


def _is_integer(node: Node) -> bool:
    return node.op is NUMBER and node.dtype == "int"


def _number(node: Node) -> tuple[str, int]:
    value = node.value
    if isinstance(value, bool):
        return str(value), ATOM
    text = number_text(value)
    return text, MUL if "/" in text else NEG if value < 0 else ATOM


# ------------------------------------------------------------------------------------------------------------ programs


def _length(node: Node, lengths: Mapping[Node, int]) -> int:
    """Return an estimate of the expanded length, capped."""
    if node.op is NUMBER:
        return len(_number(node)[0])
    if node.op is SYMBOL:
        return len(node.name)
    if is_recurrence(node):
        return 10 * ONE_LINE  # a program writes it in lines of its own
    if not node.op.pointwise:
        return min(
            len(f"{node.op.name}{node.params}") + sum(lengths[a] + 2 for a in node.args), 10 * ONE_LINE
        )
    own = 3 if node.op.name in INFIX or node.op.name in _PREFIX else len(node.op.name) + 2
    return min(own + sum(lengths[a] + 2 for a in node.args), 10 * ONE_LINE)


def str_text(
    node: Node,
    spelled: Mapping[Node, str] = {},
    names: Mapping[Node, str] = {},
    steps: Mapping[Body, StepNotation] = {},
) -> str:
    r"""Return the text of an expression for ``str``: one line if it is short, else a program that ends with it.

    The text parses to the same node, except that a single expression does not contain the domains of its symbols. (A
    single expression with a truth-valued symbol would not parse, so it is written as a program, too.)

    Args:
        node: the node.
        spelled: other spellings of numbers.
        names: names for the values of recurrences.
        steps: how the program writes the steps of recurrences.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> str_text(parse_program("sqrt(u)*sign(x) - 2*x").result)
        'sqrt(u)*sign(x) - 2*x'
    """
    text = one_line(node, spelled)
    if text is None or any(n.op is SYMBOL and n.dtype == "bool" for n in topological([node])):
        return program_text({}, names, result=node, spelled=spelled, steps=steps)
    return text


def one_line(node: Node, spelled: Mapping[Node, str] = {}) -> str | None:
    """Return a node as one expression, with other spellings of numbers; None if it is longer than a line."""
    return short_text(node, spelled, ONE_LINE)


def short_text(node: Node, names: Mapping[Node, str], longest: int) -> str | None:
    """Return a node as one expression with names for some nodes, or None if it is longer than ``longest``."""
    lengths: dict[Node, int] = {}
    for n in topological([node], until=names):
        lengths[n] = len(names[n]) if n in names else _length(n, lengths)
    return expression_text(node, names) if lengths[node] <= longest else None


def program_text(
    outputs: Mapping[str, Node],
    names: Mapping[Node, str] | None = None,
    *,
    result: Node | None = None,
    declared: Iterable[Node] = (),
    spelled: Mapping[Node, str] | None = None,
    derivatives: Mapping[Node, Derivative] = {},
    steps: Mapping[Body, StepNotation] = {},
) -> str:
    r"""Return a whole program: declarations, temporaries, outputs, and the result as a bare expression.

    Args:
        outputs: the assignments, in this order as far as the graph allows.
        names: names for intermediate nodes.
        result: the expression of the last line.
        declared: symbols to declare first, in this order, even if they are not read; all other symbols follow by first
            use.
        spelled: other spellings of numbers, and of calls.
        derivatives: nodes to write as derivatives, those inside others first.
        steps: how the program writes the steps of recurrences.

    Raises:
        RedefinitionError: if a name stands for two different things.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("x : positive\ny = sin(x)*exp(cos(x**2))\nz = y + sqrt(y)")
        >>> print(program_text({"z": p["z"]}))
        x : positive
        t1 = sin(x)*exp(cos(x**2))
        z = t1 + sqrt(t1)
    """
    roots = [*outputs.values(), *([result] if result is not None else [])]
    read = symbols_of([*declared, *roots])
    formulas = formulas_of(read)
    symbols = symbols_of([*declared, *formulas, *roots])
    known: dict[str, Node] = {s.name: s for s in symbols}
    named: dict[Node, list[str]] = {}
    until = set(derivatives)
    order = topological([*formulas, *(s for s in read if s.declaration.formulas), *roots], until=until)
    above = names_of(*(s.shape for s in symbols if not s.declaration.formulas))  # declared before any formula
    shapes = names_of(*(s.shape for s in symbols))
    sizes = list(dict.fromkeys([*shapes, *names_of(*(p for node in order for p in _sizes_in(node)))]))
    for name in sizes:
        if known.setdefault(name, size_node(name)) is not size_node(name):
            raise RedefinitionError(
                f"'{name}' stands for a size and a symbol", cure="give one of them another name"
            )
    wanted = list(outputs.items())
    reached = set(order)
    wanted += [
        (k, n) for n, k in (names or {}).items() if not reached.isdisjoint((n, *(recurrence_of(n) or ())[:1]))
    ]
    for name, node in wanted:
        if known.setdefault(name, node) is not node:
            raise RedefinitionError(
                f"'{name}' stands for two different things", cure="give one of them another name"
            )
        own = named.setdefault(node, [])
        if name not in own and not (node.op is SYMBOL and node.name == name):
            own.append(name)
    first = {node: own[0] for node, own in named.items() if own and node.op is not SYMBOL}
    taken = set(known)
    called = RecurrenceNames(taken, steps=steps)
    loops = name_recurrences(order, first, called, lags_in_text([*formulas, *roots, *first]), expression_text)
    first.update(loops.names)
    temporaries = _temporaries(uses([*formulas, *roots], until=until), order, first, taken, until, loops.rows)
    early = {*names_of(*(p for node in topological(formulas) for p in _sizes_in(node)))} - {*above}
    unseen = [name for name in sizes if name not in shapes or name in early]
    lines = [f"{', '.join(unseen)} : size"] if unseen else []
    lines += [str(s.declaration) for s in symbols if not s.declaration.formulas]
    spellings = {**(spelled or {}), **first, **temporaries}
    taken.update(spellings.values())
    calls = derivative_texts(derivatives, spellings)
    texts, spellings = {**(spelled or {}), **calls}, {**calls, **spellings}
    for node in order:
        if node.op is SYMBOL and node.declaration.formulas:
            parameters = {p: expression_text(p, spellings) for p in node.declaration.formulas}
            lines.append(node.declaration.text(parameters))
        if is_recurrence(node):
            lines += definition_lines(node, loops.lines[node], called, spellings)
        if node in temporaries:
            lines.append(f"{temporaries[node]} = {expression_text(node, spellings, expand=True)}")
        for i, name in enumerate(named.get(node, ())):
            if name == loops.names.get(node):
                continue
            text = texts.get(node) if i == 0 else None
            lines.append(f"{name} = {text or expression_text(node, spellings, expand=i == 0)}")
    if result is not None:
        lines.append(expression_text(result, spellings))
    return "\n".join(lines)


def definition_lines(
    node: Node, carries: Sequence[CarryName], called: RecurrenceNames, texts: Mapping[Node, str]
) -> list[str]:
    """Return the lines of a recurrence, given the names of its carries and texts of nodes."""
    letter = called.letter(node)
    lines, _ = recurrence_lines(
        node,
        carries,
        lambda n, more: expression_text(n, {**texts, **more}),
        lambda nodes: parts_named(
            nodes,
            texts,
            {letter, *called.taken},
            called.formulas(lambda n: expression_text(n, texts), letter),
        ),
        letter,
    )
    return lines


def parts_named(
    nodes: Sequence[Node], named: Mapping[Node, str], taken: Iterable[str], called: Mapping[Node, str] = {}
) -> dict[Node, str]:
    """Return names for long common parts of formulas, in the order in which they are computed.

    Args:
        nodes: the formulas.
        named: the names of other nodes.
        taken: names in use.
        called: the names of formulas, which they have where they are parts.
    """
    read = {*topological(nodes, until=named)}
    own: dict[Node, str] = {}
    for node, name in called.items():
        if node in read and node not in named and name not in own.values():
            own[node] = name
    order = topological([*own, *nodes], until=named)
    every = {**named, **own}
    found = _temporaries(uses(list(nodes), until=named), order, every, set(taken), set(named), ())
    every.update(found)
    for node in found:
        if node not in nodes and len(expression_text(node, every, expand=True)) <= _SMALL:
            del every[node]
    kept = {node: name for node, name in found.items() if node in every}
    found = dict(zip(kept, found.values(), strict=False))
    return {node: own.get(node) or found[node] for node in order if node in own or node in found}


def _sizes_in(node: Node) -> list[Size]:
    """Return the sizes in the spelling of a node, without those of its operands."""
    if node.op is SIZE:
        return [node.params[0]]
    if node.op.pointwise or node.op in (SYMBOL, NUMBER, CONSTANT):
        return []
    params = leaves(
        cast("Any", node.params), lambda p: cast("tuple[Any, ...]", p) if isinstance(p, tuple) else None
    )
    return [param for param in params if isinstance(param, str | Extent)]


def derivative_texts(derivatives: Mapping[Node, Derivative], names: Mapping[Node, str]) -> dict[Node, str]:
    """Return derivatives, those inside others first, as calls: grad(f, x), derivative(f, x, 2, z), jacobian(f, x)."""
    found: dict[Node, str] = {}
    for node, derivative in derivatives.items():
        found[node] = _derivative_text(derivative, {**found, **names})
    return found


def _derivative_text(derivative: Derivative, names: Mapping[Node, str]) -> str:
    y, by = derivative.y, derivative.by
    if any(b.shape for b in by) or len(by) == 1:
        function, by = "hessian" if len(by) == 2 else "jacobian" if y.shape else "grad", by[:1]
        variables = [expression_text(b, names) for b in by]
    else:
        function = "derivative"
        groups = [(expression_text(b, names), len(list(same))) for b, same in groupby(by)]
        variables = [
            part for text, count in groups for part in ([text] if count == 1 else [text, str(count)])
        ]
    return f"{function}({', '.join([expression_text(y, names), *variables])})"


def _temporaries(
    count: Mapping[Node, int],
    order: list[Node],
    named: Mapping[Node, str],
    taken: set[str],
    until: Collection[Node],
    forced: Collection[Node],
) -> dict[Node, str]:
    """Choose the nodes to be named t1, t2, ...: long common subexpressions, and nodes at which nesting gets deep."""
    lengths: dict[Node, int] = {}
    depths: dict[Node, int] = {}
    chosen: dict[Node, str] = {}
    counter = 0
    for node in order:
        if not node.args or node in until:
            lengths[node], depths[node] = 0 if node.args else _length(node, lengths), 0
            continue
        length, depth = _length(node, lengths), _depth(node, depths)
        shared = count[node] > 1 and length > _SMALL and truth_symbol(node) is None and not _is_entry(node)
        if node not in named and (shared or depth > _DEPTH or node in forced):
            counter += 1
            while f"t{counter}" in taken:
                counter += 1
            chosen[node] = f"t{counter}"
        if node in named or node in chosen:
            length, depth = len(chosen.get(node) or named[node]), 0
        lengths[node], depths[node] = length, depth
    return chosen


def _is_entry(node: Node) -> bool:
    """Tell whether a node is short: an entry of `array([1, x, 2])`, `zeros(n)`, or `W[1]`."""
    x = node.args[0]
    if node.op.name == "broadcast_to" and not x.args:
        return node.shape == (1,) or x.is_number(0) or x.is_number(1)
    if node.op.name not in ("gather", "slice", "reshape") or len(topological([node])) > 3:
        return False
    return len(expression_text(node)) <= _SMALL


def _depth(node: Node, depths: Mapping[Node, int]) -> int:
    """Return the nesting depth of the spelling of a node; the left side of a flat sum or product does not add to it."""
    inner = 1 + max(depths[a] for a in node.args)
    if node.op.name not in INFIX:
        return inner
    _, _, needed, _ = INFIX[node.op.name]
    left, rest = node.args[0], node.args[1:]
    flat = needed <= _own(left.op) and node.op.name != "pow"
    return max(depths[left] + (0 if flat else 1), 1 + max(depths[a] for a in rest))


def _own(op: Op) -> int:
    if op.name in INFIX:
        return INFIX[op.name][1]
    return _PREFIX[op.name][1] if op.name in _PREFIX else ATOM


write_formulas_with(lambda node: one_line(node) or "...")
