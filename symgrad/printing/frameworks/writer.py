"""Write the lines of a function in the operations of a framework."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from symgrad.ir.body import bodies_in
from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, Node
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.notation.literals import ATOM, NEG
from symgrad.ir.notation.recurrences import is_recurrence, recurrence_of
from symgrad.ir.sizes import Size, names_of
from symgrad.ir.traverse import topological, uses
from symgrad.ir.values.bound_sizes import size_sources
from symgrad.ir.values.evaluate import CONSTANT_VALUES, evaluate
from symgrad.printing.frameworks.array_ops import ARRAYS
from symgrad.printing.frameworks.own_functions import HELPERS, NEEDS
from symgrad.printing.frameworks.scans import write_recurrence
from symgrad.printing.frameworks.table import FRAMEWORK, spelling
from symgrad.printing.limits import SOURCE_CHARACTERS
from symgrad.printing.numpy.loops import carry_text
from symgrad.printing.numpy.sizes import size_source
from symgrad.printing.python_text import HELPER, INFIX, TemplateArgument, infix, template_of, within

_PLAIN = frozenset({"neg", "stop_gradient", "and_", "or_", "xor", "not_", *INFIX})
_KEEPS = frozenset(
    {"add", "mul", "neg", "abs", "sign"}
    | {"maximum", "minimum", "where", "clip", "floor", "ceil", "round", "stop_gradient"}
)
_SAME = frozenset({"floor", "ceil", "round", "stop_gradient"})  # these ops are the identity on integers
_LOGIC = {"and_": "&", "or_": "|", "xor": "^"}


def unspelled(order: Sequence[Node], framework: str) -> list[str]:
    """Return the names of ops that a framework has no function for."""
    helpers = HELPERS[framework]

    def spelled(node: Node) -> bool:
        name = node.op.name
        if name in _PLAIN or name in ARRAYS or recurrence_of(node) is not None or is_recurrence(node):
            return True
        if node.op.pointwise:
            return spelling(name, framework) is not None
        template = template_of(node, framework)
        called = [] if template is None else HELPER.findall(template)
        return template is not None and all(h in helpers for c in called for h in (*NEEDS.get(c, ()), c))

    inside = [n for body in bodies_in(order) for n in topological(body.results)]
    return list(dict.fromkeys(n.op.name for n in (*order, *inside) if n.args and not spelled(n)))


class _Argument:
    """An argument of a template: ``{0}`` is plain, ``{0:a}`` stands next to an operator, ``{0:t}`` is an array."""

    def __init__(self, atom: str, plain: str, tensor: Callable[[], str]) -> None:
        self.atom, self.plain, self.tensor = atom, plain, tensor

    def __format__(self, spec: str) -> str:
        return self.tensor() if spec == "t" else self.atom if spec == "a" else self.plain


class FunctionBody:
    """Write nodes as lines of a function.

    Attributes:
        lines: the lines, except those of `setup`.
        helpers: the functions of `own_functions` that are called; a function comes after those that it calls.
    """

    def __init__(
        self,
        outputs: Sequence[Node],
        framework: str,
        arguments: Mapping[Node, str],
        names: Mapping[Node, str],
        helpers: dict[str, str],
        taken: set[str],
    ) -> None:
        self.framework = framework
        self.known = FRAMEWORK[framework]
        self.arguments = arguments
        self.names = names
        self.helpers = helpers
        self.taken = {*taken, "dtype", "like", *arguments.values(), *names.values()}
        order = topological(outputs)
        self.count = uses(list(outputs))
        for node in reversed(order):
            if node.op.name == "neg":  # such a node is written where it is read
                self.count[node.args[0]] += self.count[node] - 1
                self.count[node] = 1
        self.lines: list[str] = []
        self.sizes: dict[str, str] = {}
        self.size_lines: dict[str, str] = {}
        self.read: dict[str, None] = {}  # the sizes that occur
        self.texts: dict[Node, tuple[str, int]] = {}
        self.constant: set[Node] = set()
        self.integers: set[Node] = set()
        self.counts: set[Node] = (
            set()
        )  # nodes that consist of sizes only: Python numbers, except in TensorFlow
        self.set_up = False
        self.steps = 0
        self.carries: dict[Node, list[str]] = {}  # the texts of all values of the carries of recurrences
        self._bind_sizes(order)
        for node in order:
            self._write(node, last=node in outputs and self.count[node] == 1)

    # -- reading

    def of(self, node: Node, rank: int = 0) -> str:
        """Return an argument, in parentheses if it binds less tightly than a rank."""
        return within(*self.texts[node], rank)

    def tensor(self, node: Node, rank: int = 0) -> str:
        """Return an argument as an array of numbers of the common dtype."""
        if node in self.constant:
            return self._format(self.known.number, node)
        if node in self.counts:
            return self._format(self.known.number if self.framework == "torch" else self.known.cast, node)
        if node in self.integers or node.dtype == "bool":
            return self._format(self.known.cast, node)
        return self.of(node, rank)

    def positions(self, node: Node) -> str:
        """Return an argument as integers."""
        if node.op is NUMBER or node in self.integers:
            return self.of(node)
        return self._format(self.known.cast_whole, node)

    def size(self, size: Size) -> str:
        """Return a size as an expression."""
        self.read.update(dict.fromkeys(names_of(size)))
        return size_source(size, self.sizes)

    def helper(self, name: str) -> str:
        """Define a function of `own_functions`, and return its name."""
        for each in (*NEEDS.get(name, ()), name):
            text = HELPERS[self.framework].get(each)
            if text is not None:
                self.helpers.setdefault(each, text)
        return name

    def unused(self, name: str) -> str:
        """Return a name that nothing else has."""
        found = free_name(name, self.taken)
        self.taken.add(found)
        return found

    def variable(self, text: str) -> str:
        """Return a new variable with a value, or the value itself if it is a name."""
        if text.isidentifier():
            return text
        own = self._temporary()
        self.lines.append(f"{own} = {text}")
        return own

    def step(
        self, results: Sequence[Node], texts: Mapping[Node, str], same: Mapping[Node, Node]
    ) -> tuple[list[str], list[str]]:
        """Return the lines of a step, and its results; the arguments are those of `ScanContext.step`."""
        before, outer, count = dict(self.texts), self.lines, self.count
        groups = self.constant, self.integers, self.counts
        kept = [set(g) for g in groups]
        self.texts.update((n, (text, ATOM)) for n, text in texts.items())
        for s, other in same.items():
            self.texts[s] = self.texts[other]
            for group in groups:
                if other in group:
                    group.add(s)
        self.lines, self.count = [], uses(list(results))
        for node in topological(results):
            if node not in self.texts:
                self._write(node, last=node in results and self.count[node] == 1)
        lines, found = self.lines, [self.tensor(r) for r in results]
        # Other bodies have the same symbols.
        self.texts, self.lines, self.count = before, outer, count
        for group, old in zip(groups, kept, strict=True):
            group.intersection_update(old)
        return lines, found

    def result(self, node: Node) -> str:
        """Return an output as an array of its dtype."""
        if node in self.constant and node.dtype != "bool":
            return self._format(self.known.number, node)
        return self.of(node)

    @property
    def extra(self) -> list[str]:
        """The sizes that occur and that no argument has."""
        return [self.sizes[size] for size in self.read if size not in self.size_lines]

    def setup(self) -> list[str]:
        """Return the first lines: sizes, and the dtype of new arrays."""
        sizes = [line for size, line in self.size_lines.items() if size in self.read]
        return [*self._dtype(), *sizes]

    def _dtype(self) -> list[str]:
        if not self.set_up:
            return []
        real = [s for s in self.arguments if s.dtype == "real"]
        if not real:
            return [self.known.none.format()]
        names = [self.arguments[s] for s in real]
        return [self.known.setup.format(", ".join(names) if self.framework == "jax" else names[0])]

    # -- writing

    def _format(self, template: str, node: Node) -> str:
        text = template.format(_Argument(self.of(node, ATOM), self.of(node), lambda: self.of(node)))
        self._note(text)
        return text

    def _note(self, text: str) -> None:
        self.set_up = self.set_up or "dtype" in text or "like" in text

    def _bind_sizes(self, order: Sequence[Node]) -> None:
        read = [n for n in order if n.op is SIZE or not n.op.pointwise]
        shaped = names_of(*((n.params, n.shape) for n in read))
        for size in dict.fromkeys([*(n.params[0] for n in order if n.op is SIZE), *shaped]):
            name = free_name(size, self.taken)
            self.taken.add(name)
            self.sizes[size] = name
        arguments = list(self.arguments.items())
        for size, found in size_sources([s.shape for s, _ in arguments]).items():
            if size in self.sizes:
                length = self.known.size.format(arguments[found.array][1], found.axis)
                self.size_lines[size] = f"{self.sizes[size]} = {found.source(length)}"

    def _write(self, node: Node, *, last: bool) -> None:
        if node in self.arguments:
            if node.dtype == "int":
                self.integers.add(node)
                if self.framework in ("tensorflow", "keras"):  # integer dtypes of the framework do not mix
                    name = self.arguments[node]
                    self.lines.insert(0, f"{name} = {self.known.cast_whole.format(name)}")
            self.texts[node] = self.arguments[node], ATOM
            return
        text, rank = self._text(node)
        self._note(text)
        if len(self.carries.get(node, ())) > 1:  # its parts are read
            self.texts[node] = text, rank
            return
        own = self.names.get(node) if not last else None
        temporary = own is None and not last and (bool(node.args) or not node.op.pointwise)
        if (
            temporary
            and node not in self.constant
            and (self.count[node] > 1 or len(text) > SOURCE_CHARACTERS or recurrence_of(node) is not None)
        ):
            own = self._temporary()
        if own is not None:
            self.lines.append(f"{own} = {text}")
            text, rank = own, ATOM
        self.texts[node] = text, rank

    def _temporary(self) -> str:
        self.steps += 1
        while f"t{self.steps}" in self.taken:
            self.steps += 1
        return f"t{self.steps}"

    def _text(self, node: Node) -> tuple[str, int]:
        op, args = node.op, node.args
        if op is NUMBER or op is CONSTANT or self._folds(node):
            self.constant.add(node)
            return self._number(node)
        if op is SIZE:
            self.integers.add(node)
            self.counts.add(node)
            return self.size(node.params[0]), ATOM
        if self._is_integer(node):
            self.integers.add(node)
            if node.op.pointwise and all(a in self.counts or a in self.constant for a in args):
                self.counts.add(node)
            if op.name in _SAME:
                return self.texts[args[0]]
        if op.name == "stop_gradient":
            if node.dtype != "real":
                return self.texts[args[0]]
            return self._format(self.known.stop, args[0]), ATOM
        carry = carry_text(node, self.carries, lambda n: write_recurrence(n, self))
        if carry is not None:
            return carry, ATOM
        if op.name in ARRAYS:
            found = ARRAYS[op.name](node, self)
            return (found, ATOM) if isinstance(found, str) else found
        if not op.pointwise:
            return self._from_record(node), ATOM
        if op.name == "not_":
            return f"~{self.of(args[0], ATOM)}", NEG
        if op.name in _LOGIC:
            return f"({self.of(args[0], ATOM)} {_LOGIC[op.name]} {self.of(args[1], ATOM)})", ATOM
        second = self._operand(node, args[-1], 0)
        signed = infix(node, lambda arg, rank: self._operand(node, arg, rank), second)
        return signed if signed is not None else (self._call(node), ATOM)

    def _from_record(self, node: Node) -> str:
        """Write an op on arrays by its template."""
        template = template_of(node, self.framework)
        assert template is not None  # `unspelled` has checked that it exists
        for name in HELPER.findall(template):
            self.helper(name)
        known = self.known
        arguments = (TemplateArgument(a, self.of, self.tensor) for a in node.args)
        return template.format(*arguments, np=known.array, m=known.elementwise, axis=known.axis)

    def _folds(self, node: Node) -> bool:
        """Tell whether a node is a constant scalar, which is computed now."""
        args = node.args
        return bool(args) and not node.shape and node.op.pointwise and all(a in self.constant for a in args)

    def _number(self, node: Node) -> tuple[str, int]:
        if node.op is CONSTANT:
            return repr(CONSTANT_VALUES[node.params[0]]), ATOM
        value = evaluate([node], {})[0].item()
        is_int = isinstance(value, float) and value.is_integer() and abs(value) < 2**31
        text = repr(int(value) if is_int and str(value) != "-0.0" else value)
        if text.lstrip("-") in ("inf", "nan"):
            return f'float("{text}")', ATOM
        return text, NEG if text.startswith("-") else ATOM

    def _is_integer(self, node: Node) -> bool:
        """Tell whether a node is written in integers: it counts positions, or consists only of such nodes."""
        entries = None if node.op.structure is None else node.op.structure.entries
        counts = entries == "counted" and node.op.name != "one_hot"  # the result is cast
        if node.dtype != "int" or counts:
            return counts
        numeric = [a for i, a in enumerate(node.args) if node.op.kind_of(i) == "number"]
        known = [a in self.integers for a in numeric]
        if entries == "moved":
            return all(known)
        alike = all(k or (a.op is NUMBER and a.dtype == "int") for k, a in zip(known, numeric, strict=True))
        return node.op.name in _KEEPS and any(known) and alike

    def _operand(self, node: Node, arg: Node, rank: int) -> str:
        """Return an operand of an infix operator, in which Python numbers stay Python numbers."""
        if arg in self.constant or node in self.integers:
            return self.of(arg, rank)
        if arg in self.counts and self.framework in ("jax", "torch") and self._with_array(node):
            return self.of(arg, rank)
        if node.dtype == "bool" and arg in self.integers and self._all_integers(node):
            return self.of(arg, rank)
        return self.tensor(arg, rank)

    def _with_array(self, node: Node) -> bool:
        return any(a not in self.counts and a not in self.constant for a in node.args)

    def _all_integers(self, node: Node) -> bool:
        return all(a in self.integers or (a.op is NUMBER and a.dtype == "int") for a in node.args)

    def _call(self, node: Node) -> str:
        name, args = node.op.name, node.args
        template = spelling(name, self.framework)
        assert template is not None  # `unspelled` has checked that it exists
        if self._helped(node):
            self.helper(template.partition("(")[0])
        numeric = [a for i, a in enumerate(args) if node.op.kind_of(i) != "bool"]
        if self.framework == "torch" and name in ("maximum", "minimum"):
            for i in (0, 1):
                if args[i] in self.constant:  # torch's functions take only tensors
                    bound = "min" if name == "maximum" else "max"
                    return f"torch.clamp({self.tensor(args[1 - i])}, {bound}={self.of(args[i])})"

        def argument(arg: Node) -> _Argument:
            is_bool = node.op.kind_of(args.index(arg)) == "bool"
            plain = self.of(arg) if is_bool else self._operand(node, arg, 0)
            atom = self._operand(node, arg, ATOM)
            return _Argument(atom, plain, lambda: self._in_call(node, arg, numeric))

        text = template.format(*map(argument, args), p=node.params[0] if node.params else "")
        self._note(text)
        return text

    def _helped(self, node: Node) -> bool:
        """Tell whether a node is a call of a helper whose arguments are arrays."""
        return (spelling(node.op.name, self.framework) or "").startswith("_")

    def _in_call(self, node: Node, arg: Node, numeric: Sequence[Node]) -> str:
        """Return an argument of a function.

        A number stays plain if the function takes its dtype from another argument.
        """
        if arg not in self.constant:
            return self._operand(node, arg, 0)
        if node in self.integers:
            return self._format(self.known.whole, arg)
        arrays = [k for k, a in enumerate(numeric) if a not in self.constant]
        bare = {
            "jax": True,
            "torch": node.op.name == "where" and bool(arrays),
            "tensorflow": any(k < numeric.index(arg) for k in arrays),
            "keras": bool(arrays),
        }[self.framework]
        if not bare or self._helped(node):
            return self._format(self.known.number, arg)
        text = self.of(arg)
        return f"{text}.0" if text.lstrip("-").isdigit() else text
