"""Write graphs as a Python function over NumPy that needs no other code, so that it can be shared without symgrad.

The function computes operation by operation, as `ir/values/evaluate.py` does, with the same bits, except for matrix
products, which NumPy passes to BLAS. An op that NumPy evaluates with a function becomes a call of it; a composed op
becomes a helper that is traced from its lowering. Named sizes come from the shapes of the arguments.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np

from symgrad.ir.body import bodies_in
from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, SYMBOL, Node, Op
from symgrad.ir.notation.literals import ATOM, NEG
from symgrad.ir.notation.printer import ONE_LINE, str_text
from symgrad.ir.op import Builder
from symgrad.ir.sizes import Size, names_of
from symgrad.ir.traverse import symbols_of, topological, uses
from symgrad.ir.values.bound_sizes import size_sources
from symgrad.ir.values.evaluate import CONSTANT_VALUES, evaluate
from symgrad.ops.control import as_computed
from symgrad.ops.numpy_builder import ARRAYS, NUMPY_NAMES, OF_SCIPY
from symgrad.ops.special.orders import BY_ORDER, number_of
from symgrad.printing.limits import NUMPY_CHARACTERS
from symgrad.printing.numpy.array_source import ARRAY_SOURCES, is_view
from symgrad.printing.numpy.helpers import ARRAY_HELPERS, HELPERS
from symgrad.printing.numpy.loops import carry_text, write_recurrence
from symgrad.printing.numpy.sizes import functions_in, size_source
from symgrad.printing.python_text import HELPER, TemplateArgument, infix, parameters, template_of, within
from symgrad.support.errors import UnsupportedError, UsageError

_OF_SCIPY = (
    *("erf", "erfc", "gamma", "erfi", "erfinv", "erfcinv", "expi", "exp1", "erfcx"),
    *("dawsn", "log_ndtr", "ellipk", "ellipe"),
)
_CALL = {
    **{name: f"special.{name}({{0}})" for name in _OF_SCIPY},
    **{name: f"special.{name}({{0}}, {{1}})" for name in ("jv", "yv", "iv", "kv")},
    "clip": "np.minimum(np.maximum({0}, {1}), {2})",
    "sinc": "np.sinc({0})",
    "airyai": "special.airy({0})[0]",
    "airyaiprime": "special.airy({0})[1]",
    "airybi": "special.airy({0})[2]",
    "airybiprime": "special.airy({0})[3]",
    "Si": "special.sici({0})[0]",
    "Ci": "np.where({0} > 0, special.sici({0})[1], np.nan)",
    "Shi": "special.shichi({0})[0]",
    "Chi": "np.where({0} > 0, special.shichi({0})[1], np.nan)",
    "fresnels": "special.fresnel({0})[0]",
    "fresnelc": "special.fresnel({0})[1]",
    "li": "(special.expi(np.log({0})) + 0.0)",
    "lgamma": "_lgamma({0})",
    "pow": "_pow({0}, {1})",
    "relu": "np.maximum({0}, 0)",
    "where": "np.where({0}, {1}, {2})",
    "where_minus_oo": "np.where({0}, {1}, -np.inf)",
    "where_plus_oo": "np.where({0}, {1}, np.inf)",
}
_MODULES = frozenset({"np", "scipy", "special"})
_BUILTINS = frozenset({"len", "max", "min", "range"})  # names that sizes and helpers call
_Text = tuple[str, int]


def numpy_source(
    outputs: Node | Sequence[Node] | Mapping[str, Node],
    name: str = "f",
    names: Mapping[Node, str] | None = None,
    inputs: Sequence[Node] | None = None,
    spelled: Mapping[Node, str] = {},
) -> str:
    r"""Return the source of a Python function that computes nodes with NumPy (and SciPy for the special functions).

    Args:
        outputs: a node, or several nodes, perhaps by name.
        name: the function's name.
        names: names of intermediate values, which become variables of the function.
        inputs: the symbols in the order of arguments; by default, in the order of their first use.
        spelled: other spellings of numbers, for the docstring.

    Returns:
        The text of a module. The function takes the symbols (a Python keyword gets an underscore); numbers and arrays
        broadcast. It returns one array, a tuple of several, or a dict by name. A named size that no argument has is an
        argument, too.

    Raises:
        UsageError: if a name is not an identifier, or there is no output.
        UnsupportedError: for an op that has neither a NumPy function nor a formula.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.ops.scalar.trig import sin
        >>> x = symbol(Declaration("x"))
        >>> namespace = {}
        >>> exec(numpy_source(x * sin(x)), namespace)
        >>> float(namespace["f"](0.5))
        0.2397127693021015
    """
    if isinstance(outputs, Node):
        nodes = [outputs]
    else:
        nodes = list(outputs.values() if isinstance(outputs, Mapping) else outputs)
    if not nodes:
        raise UsageError("no outputs", expected="at least one expression")
    _check_function(name, _MODULES | _BUILTINS)
    symbols = list(inputs) if inputs is not None else symbols_of(nodes)
    nodes = as_computed(nodes)
    writer = SourceWriter(nodes, name, names or {}, symbols)
    results = [writer.result(node) for node in nodes]
    _check_function(name, re.findall(r"^def (\w+)", "\n".join(writer.helpers.values()), re.MULTILINE))
    labels, returned = [""] * len(nodes), ", ".join(results)
    if isinstance(outputs, Mapping):
        labels = list(outputs)
        returned = f"{{{', '.join(f'{key!r}: {text}' for key, text in zip(labels, results, strict=True))}}}"
    helpers = "".join(f"\n\n{text}" for text in writer.helpers.values())
    body = "".join(f"    {line}\n" for line in writer.inputs)
    steps = "".join(f"        {line}\n" for line in [*writer.lines, f"return {returned}"])
    imports = (
        "import numpy as np\n"
        + ("import scipy.linalg\n" if "scipy.linalg." in helpers + steps else "")
        + ("from scipy import special\n" if "special." in helpers + steps else "")
    )
    signature = f"def {name}({', '.join([*writer.names.values(), *writer.extra])}):\n"
    return (
        f"{imports}{helpers}\n\n{signature}{_docstring(writer, nodes, labels, spelled)}{body}"
        f'    with np.errstate(all="ignore"):\n{steps}'
    )


def _check_function(name: Any, taken: Collection[str]) -> None:
    read = (
        unicodedata.normalize("NFKC", name) if isinstance(name, str) else ""
    )  # Python normalizes names in this way
    if read != name or not read.isidentifier() or keyword.iskeyword(name) or name in {"__debug__", *taken}:
        raise UsageError(
            f"{name!r} cannot name a function",
            expected="a Python identifier that the source needs for nothing else",
            cure='pass name="f"',
        )


def _docstring(
    writer: SourceWriter, nodes: list[Node], labels: list[str], spelled: Mapping[Node, str]
) -> str:
    texts = [str_text(node, spelled) for node in nodes]
    lines = [
        f"{label} = {text}" if label else text
        for label, text in zip(labels, texts, strict=True)
        if "\n" not in text and len(text) <= ONE_LINE
    ] or ["A formula in several steps."]
    kinds = {"real": "float64", "int": "int64", "bool": "bool"}
    for symbol, parameter in writer.names.items():
        lines.append(f"    {parameter}: {kinds[symbol.dtype]} array, {symbol.declaration}")
    if writer.names:
        lines.insert(len(lines) - len(writer.names), "\nArgs:")
    text = "\n".join(lines).replace("\\", "\\\\").replace('"', '\\"')
    return "".join(f"    {line}\n" if line else "\n" for line in f'"""{text}\n"""'.split("\n"))


class SourceWriter:
    """Writes the lines of one function.

    Args:
        nodes: the outputs.
        name: the name of the function.
        names: names of intermediate values.
        symbols: the arguments.
    """

    def __init__(
        self,
        nodes: list[Node],
        name: str,
        names: Mapping[Node, str],
        symbols: Sequence[Node],
    ) -> None:
        order = topological(nodes)
        order = [*order, *(n for body in bodies_in(order) for n in topological(body.results))]
        self.count = uses(nodes)
        self.carries: dict[Node, list[str]] = {}
        self.outputs = set(nodes)
        self.helpers: dict[str, str] = {}
        self.taken = {*_MODULES, name, *(f"_{n.op.name}" for n in order), *ARRAY_HELPERS}
        self.taken |= {f for n in order for f in functions_in((n.shape, n.params))}
        self.names = parameters(symbols, self.taken)
        self.extra: list[str] = []  # sizes that no argument has
        self.inputs = [
            f"{p} = np.asarray({p}, dtype={'bool' if s.dtype == 'bool' else 'np.float64'})"
            if s.dtype != "int"
            else f"{p} = np.asarray({p})"
            for s, p in self.names.items()
        ]
        self.sizes: dict[str, str] = {}
        self.numbers: dict[
            str, str
        ] = {}  # texts of sizes as numbers, if these differ from their texts in shapes
        self.bind_sizes(order)
        self.lines: list[str] = []
        self.variables: dict[Node, str] = {}
        self.texts: dict[Node, _Text] = {}
        self.steps = 0
        for node in order:
            text = names.get(node, "")
            if node.args and text.isidentifier() and not keyword.iskeyword(text) and text not in self.taken:
                self.taken.add(text)
                self.variables[node] = text
        self.write_all(nodes)

    def write_all(self, nodes: Sequence[Node]) -> None:
        """Write nodes and their arguments; arguments come first."""
        for node in topological(nodes, until=self.texts):
            if node in self.texts:
                continue
            text, rank = self.write(node)
            if node in self.variables and (node not in self.outputs or self.count[node] > 1):
                self.lines.append(f"{self.variables[node]} = {text}")
                text, rank = self.variables[node], ATOM
            elif (node.args or not node.op.pointwise) and (
                self.count[node] > 1 or len(text) > NUMPY_CHARACTERS
            ):
                text, rank = self.temporary(text), ATOM
            self.texts[node] = (text, rank)

    def bind_sizes(self, order: list[Node]) -> None:
        """Name each size that is read, after the first axis that has it."""
        counted = names_of(*(n.params[0] for n in order if n.op is SIZE))
        multiplied = _multiplied(order)
        shaped = names_of(*(n.params for n in order if not n.op.pointwise))
        sources, names = size_sources([s.shape for s in self.names]), list(self.names.values())
        for size in dict.fromkeys([*counted, *shaped]):
            if not size.isidentifier():
                raise UsageError(f"{size!r} cannot name a variable", expected="a Python identifier")
            name = f"{size}_" if keyword.iskeyword(size) else size
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            self.sizes[size] = name
            source = sources.get(size)
            if source is None:
                text = name
                self.extra.append(name)
            else:
                text = source.source(f"{names[source.array]}.shape[{source.axis}]")
            # A number in a formula divides as NumPy's numbers do, not as Python's; products of integers would wrap
            # around.
            kind = "np.float64" if size in multiplied else "np.int64"
            if size in multiplied and size in shaped:
                self.numbers[size] = f"{kind}({name})"
            elif size in counted:
                text = f"{kind}({text})"
            if text != name:
                self.inputs.append(f"{name} = {text}")

    def of(self, node: Node, rank: int = 0) -> str:
        """Return the text of an argument of an op on arrays."""
        if node.op is NUMBER:
            return self.array(node)
        return within(*self.texts[node], rank)

    def size(self, size: Size) -> str:
        """Return a size as an expression."""
        return size_source(size, self.sizes)

    def unused(self, name: str) -> str:
        """Return a name that nothing else has."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def temporary(self, text: str) -> str:
        """Return a new variable with a value."""
        self.steps += 1
        while f"t{self.steps}" in self.taken:
            self.steps += 1
        self.lines.append(f"t{self.steps} = {text}")
        return f"t{self.steps}"

    def result(self, node: Node) -> str:
        if is_view(node):  # the caller may write to a result
            return f"{within(*self.texts[node], ATOM)}.copy()"
        return self.array(node) if node.op is NUMBER else self.texts[node][0]

    def array(self, node: Node) -> str:
        """Write a number as NumPy's: Python's numbers raise errors on division by zero, and give Python's results."""
        text = self.texts[node][0]
        return f"np.bool_({text})" if node.dtype == "bool" else f"np.float64({text})"

    def write(self, node: Node) -> _Text:
        op, args = node.op, node.args
        if op is SYMBOL:
            return self.names[node], ATOM
        if op is NUMBER:
            text = repr(evaluate([node], {})[0].item())
            return text, NEG if text.startswith("-") else ATOM
        if op is CONSTANT:
            value = CONSTANT_VALUES[node.params[0]]
            return f"np.float64({value!r})", ATOM
        if op is SIZE and not isinstance(node.params[0], str):
            return f"({self.size(node.params[0])})", ATOM
        if op is SIZE:
            return self.numbers.get(node.params[0], self.sizes[node.params[0]]), ATOM
        carry = carry_text(node, self.carries, lambda n: write_recurrence(n, self))
        if carry is not None:
            return carry, ATOM
        if op.name in ARRAY_SOURCES:
            source = ARRAY_SOURCES[op.name](node, self)
            self.help(source.helpers)
            return source.text, source.rank
        if not op.pointwise:
            return self.from_record(node), ATOM
        parts = [self.texts[a] for a in args]
        if all(a.op is NUMBER for a in args):
            parts = [(self.array(a), ATOM) for a in args]
        if "stops" in op.facts:
            return parts[0]
        if op.name not in _CALL:
            texts = dict(zip(args, parts, strict=True))
            signed = infix(
                node, lambda arg, rank: within(*texts.get(arg, self.texts[arg]), rank), parts[-1][0]
            )
            if signed is not None:
                return signed
        arguments = [text for text, _ in parts]
        if op.name in _CALL:
            if op.name in HELPERS:
                self.helpers[op.name] = HELPERS[op.name]
            return _CALL[op.name].format(*arguments), ATOM
        if isinstance(op.evaluate, np.ufunc):
            return f"np.{op.evaluate.__name__}({', '.join(arguments)})", ATOM
        return f"{self.helper(op, node)}({', '.join(arguments)})", ATOM

    def from_record(self, node: Node) -> str:
        """Write an op on arrays by its template."""
        template = template_of(node, "numpy")
        if template is None:
            raise UnsupportedError(
                f"{node.op.name} has no NumPy source", cure="compile the expression instead"
            )
        self.help(HELPER.findall(template))
        return template.format(
            *(TemplateArgument(a, self.of, self.of) for a in node.args), np="np", m="np", axis="axis"
        )

    def help(self, names: Sequence[str]) -> None:
        """Define helper functions; a function comes after those that it calls."""
        for name in names:
            text = ARRAY_HELPERS[name]
            self.help([h for h in HELPER.findall(text) if h != name])
            self.helpers.setdefault(name, text)

    def helper(self, op: Op, node: Node) -> str:
        """Return the name of a helper that computes an op by its lowering."""
        suffix = "".join(f"_{value}" for value in node.params)
        if op.name in BY_ORDER:  # there is a function for each order
            order = f"{number_of(node.args[0])!r}"
            suffix = "_of_" + order.replace("-", "minus_").replace(".", "_").replace("+", "")
        name = f"_{op.name}{suffix}"
        if not name.isidentifier():
            raise UnsupportedError(f"{op.name} has no NumPy source", cure="compile the expression instead")
        if name not in self.helpers:
            arguments = list("xyzw"[: op.arity]) if op.arity < 5 else [f"x{k}" for k in range(op.arity)]
            builder = _Formula()
            result = op.lower(cast(Builder, builder), node, *arguments)
            lines = [*builder.lines, f"return {result}"]
            self.helpers[name] = f"def {name}({', '.join(arguments)}):\n" + "".join(
                f"    {line}\n" for line in lines
            )
        return name


def _multiplied(order: list[Node]) -> set[str]:
    """Return the sizes that are multiplied with other integers."""
    found: set[str] = set()
    made_of: dict[Node, frozenset[str]] = {}
    for node in order:
        is_integer = node.dtype == "int" and node.op.pointwise
        made_of[node] = (
            frozenset[str]().union(*(made_of[a] for a in node.args)) if is_integer else frozenset()
        )
        if node.op is SIZE:
            made_of[node] = frozenset(names_of(node.params[0]))
        elif node.op.name == "mul" and not any(a.op is NUMBER for a in node.args):  # literals are floats
            found |= made_of[node]
    return found


_SPELLED = {"abs": "abs", "div": "true_divide"}  # functions that have two names in NumPy


class _Formula:
    """A Builder that writes source: a lane is a variable or a literal, and each operation is a line."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __getattr__(self, name: str) -> Any:
        function = _SPELLED.get(name, getattr(ARRAYS, name).__name__)

        def operation(*args: str) -> str:
            return self.line(f"np.{function}({', '.join(args)})")

        return operation

    fused = False

    def knows(self, name: str) -> bool:  # noqa: ARG002  (the protocol's)
        return False

    def line(self, text: str) -> str:
        self.lines.append(f"a{len(self.lines) + 1} = {text}")
        return f"a{len(self.lines)}"

    def const(self, value: float | Fraction) -> str:
        text = repr(float(value))
        return f"np.{text.lstrip('-')}" if text in {"inf", "nan"} else "-np.inf" if text == "-inf" else text

    def const_named(self, name: str) -> str:
        return repr(CONSTANT_VALUES[name])

    def bool_const(self, value: bool) -> str:
        return f"np.bool_({value})"

    def fma(self, a: str, b: str, c: str) -> str:
        return self.line(f"{a}*{b} + {c}")

    def call(self, name: str, *args: str) -> str:
        if name in OF_SCIPY:
            return self.line(f"special.{name}({', '.join(args)})")
        function = NUMPY_NAMES.get(name, name)
        if not hasattr(np, function):
            raise UnsupportedError(f"{name} has no NumPy function", cure="compile the expression instead")
        return self.line(f"np.{function}({', '.join(args)})")
