"""What generated source is held against: symgrad's own values, gradients and second derivatives, in float64.

A case is a node with values for its symbols. The loss is sum(c*(y + y**2/2)) for fixed numbers c, its first derivatives
are g, and the second derivatives are those of sum(w*g): one number for every entry of every real input, at each order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.autodiff.vjp import pull_back
from symgrad.errors import SymgradError, UnsupportedError, UsageError
from symgrad.ir.graph import OPS, Node, symbol
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.control import as_computed
from symgrad.printing.frameworks.pasted import framework_source
from tests.arrays import PROGRAMS, random_value, symbol_of
from tests.graphs import inputs, random_graph
from tests.recurrences import RECURRENCES

ROOT = Path(__file__).parents[2]
SIZES = {"n": 3, "m": 2, "b": 2}


@dataclass(frozen=True)
class Case:
    """A node, values for its symbols, and what to expect."""

    label: str
    node: Node
    values: Mapping[Node, Any]
    dtype: str = "float64"

    def single(self) -> Case:
        """The same at numbers that float32 has."""
        rounded = {
            s: v.astype("float32").astype(float) if s.dtype == "real" else v for s, v in self.values.items()
        }
        return Case(self.label, self.node, rounded, "float32")

    @property
    def symbols(self) -> list[Node]:
        return symbols_of([self.node])

    @property
    def real(self) -> list[Node]:
        return [s for s in self.symbols if s.dtype == "real"]

    @property
    def differentiable(self) -> bool:
        return self.node.dtype == "real" and bool(self.real)

    @property
    def arrays(self) -> list[Any]:
        given = [np.asarray(self.values[s]) for s in self.symbols]
        return [
            a.astype(self.dtype) if s.dtype == "real" else a for a, s in zip(given, self.symbols, strict=True)
        ]

    def weights(self, shape: Sequence[int], seed: int) -> Any:
        return np.asarray(np.random.default_rng(seed).integers(16, 48, shape) / 32).astype(self.dtype)

    def expected(self) -> Found | None:
        """The value, the gradients of the loss, and the derivatives of their weighted sum; None if there are none."""
        table = dict(self.values)
        with np.errstate(all="ignore"):
            try:
                value = evaluate(as_computed([self.node]), table)[0]
            except (SymgradError, ValueError, IndexError):
                return None
            if not self.differentiable:
                return value, [], []
            c = symbol(Declaration("weight_of_value", shape=self.node.shape))
            w = [symbol(Declaration(f"weight_of_{s.name}", shape=s.shape)) for s in self.real]
            try:
                first = pull_back([self.node + self.node**2 / 2], [c], self.real).gradients
                second = pull_back(list(first), w, self.real).gradients
            except UnsupportedError:  # the derivative by an order
                return None
            table[c] = self.weights(np.shape(value), 1)
            table |= {
                s: self.weights(np.shape(self.values[r]), 2 + k)
                for k, (s, r) in enumerate(zip(w, self.real, strict=True))
            }
            found = evaluate(as_computed([*first, *second]), table)
        shapes = [np.shape(self.values[s]) for s in self.real]
        full = [np.broadcast_to(g, s) for g, s in zip(found, [*shapes, *shapes], strict=True)]
        return value, full[: len(shapes)], full[len(shapes) :]


def pointwise(seed: int) -> Case:
    """A random elementwise graph, with stop_gradient in it."""
    node = random_graph(seed, inputs(2), size=7, stops=0.2)
    return Case(f"graph {seed}", node, {s: np.float64([0.7, -1.3][i]) for i, s in enumerate(inputs(2))})


def each_op() -> Iterator[Case]:
    """Every elementwise op at its samples."""
    for op in dict.fromkeys(OPS.values()):
        if not op.pointwise or not op.samples:
            continue
        for k, sample in enumerate(op.samples[:1]):
            kinds = [op.kind_of(i) for i in range(op.arity)]
            if op.name == "polygamma":
                continue
            names = [
                sg.symbols(f"x{i}").node
                if kind != "bool"
                else sg.parse(f"x{i} : bool\ny = where(x{i}, 1, 2)")[f"x{i}"].node
                for i, kind in enumerate(kinds)
            ]
            values = {
                s: np.asarray(v if isinstance(v, bool) else float(v))
                for s, v in zip(names, sample, strict=True)
            }
            try:
                yield Case(f"{op.name} {k}", op(*names), values)
            except SymgradError:  # such as an order that must be a number
                continue


def array_programs() -> Iterator[Case]:
    """Every array op but `pack`, which only gradients of values that nothing reads apart would have."""
    rng = np.random.default_rng(5)
    for name, make in PROGRAMS.items():
        if name == "values side by side":
            continue
        node = make()
        values = {s: random_value(s, SIZES, rng) for s in [*symbols_of([node]), symbol_of("binder", *SIZES)]}
        yield Case(name, node, values)


LOOPS = {
    "positions": """
        x : real[T, m]; a : real
        h[0] = x[0]; k[0] = a
        h[t] = sin(a*h[t-1])*t + x[t-1]/k[t-1]; k[t] = k[t-1] + t**2*sum(h[t-1]) for t in 1..T
        y = sum(h[1:]*x) + k[T]""",
    "back over positions": """
        x : real[T]; a : real
        b[T] = a
        b[t-1] = sin(t*b[t]) + x[t-1] for t in T..1
        y = sum(b**2)""",
    "a search": """
        a : positive
        z[0] = a + 1
        z[k] = z[k-1] - (z[k-1]**2 - a)/(2*z[k-1]) until abs(z[k]**2 - a) < 1e-3, at most 20
        y = z[20]""",
    "no step": "a : real; x : real[0]\nh[0] = a\nh[t] = h[t-1]*x[t-1] for t in 1..0\ny = h[0]**2",
    "one step": "a : real; x : real[1]\nh[0] = a\nh[t] = sin(h[t-1])*x[t-1] for t in 1..1\ny = h[1]**2",
}


def _loop_inside() -> Node:
    """Return a loop over rows, each of which is a loop over entries; its conditions are carried on."""
    p = sg.parse("M : real[T, m]; a : real")

    def row(state: Any, r: Any) -> Any:
        h, on = state
        last, seen = sg.scan(lambda g, e: (sg.sin(g * e) + p["a"], g), h, r)
        return (sg.where(on, last, h), on & (last < 2)), sg.sum(seen)

    (h, on), seen = sg.scan(row, (p["a"], True), p["M"])
    return (h + sg.sum(seen) + sg.where(on, p["a"], 0)).node


def recurrence_programs() -> Iterator[Case]:
    """Recurrences from textbooks, and of every other kind."""
    rng = np.random.default_rng(11)
    nodes = {name: sg.parse(dedent(text))["y"].node for name, text in {**RECURRENCES, **LOOPS}.items()}
    for name, node in {**nodes, "a loop inside": _loop_inside()}.items():
        sizes = {"T": 4, "n": 3, "m": 2, "k": 2}
        values = {s: random_value(s, sizes, rng) for s in symbols_of([node])}
        for s, v in values.items():
            if s.declaration.domain.low is not None:
                values[s] = 0.3 + 0.5 / (1 + np.exp(-v))
        yield Case(name, node, values)


def programs() -> Iterator[Case]:
    """The whole programs in the repository, as losses."""
    rng = np.random.default_rng(7)
    for path in sorted((ROOT / "examples" / "programs").glob("*.sg")):
        p = sg.parse(path.read_text())
        for name, expr in list(p.outputs.items())[-2:]:
            sizes = {s: 3 for i in p.inputs for s in i.shape if isinstance(s, str)}
            try:
                values = {i.node: random_value(i.node, sizes, rng) for i in p.inputs}
            except Exception:  # noqa: BLE001  (an input whose sizes are not plain names)
                continue
            for symbol_, value in values.items():  # covariances
                if np.ndim(value) == 2 and value.shape[0] == value.shape[1]:
                    values[symbol_] = value @ value.T + np.eye(len(value))
            yield Case(f"{path.stem}.{name}", expr.node, {s: values[s] for s in symbols_of([expr.node])})


Found = tuple[Any, list[Any], list[Any]]
"""Value, gradients, second derivatives."""

Runner = Callable[[Callable[..., Any], Case, Any], Found]
"""Of a function from source, a case and the weights of its value."""


def check(
    case: Case, framework: str, run: Runner, gradient: int, *, derivatives: bool = True, rtol: float = 1e-9
) -> str | None:
    """Compare a case with its source; return what is wrong, if anything; "unsupported" for an op without a row."""
    expected = case.expected()
    if expected is None:
        return None
    if gradient and not case.differentiable:
        return None
    try:
        source = framework_source(case.node, framework, inputs=case.symbols, gradient=gradient)
    except UsageError:  # a size that no argument has
        return None
    except UnsupportedError as error:
        return "unsupported" if "no spelling" in str(error) else f"{case.label}: {error}"
    if "dtype = jnp.result_type(float)" in source or "torch.get_default_dtype()" in source or not case.real:
        return None  # of the framework's own dtype
    head = source.rpartition("\ndef f(")[2].partition(")")[0]
    if not gradient and len(head.split(",")) > len(case.symbols):
        return None  # with sizes as arguments
    namespace: dict[str, Any] = {}
    try:
        exec(compile(source, f"<{case.label}>", "exec"), namespace)
        found = run(namespace["f"], case, case.weights(np.shape(expected[0]), 1))
    except Exception as error:  # noqa: BLE001  (whatever a framework says is told, with the source)
        return f"{case.label}: {type(error).__name__}: {str(error)[:600]}\n{source}"
    parts = zip(("value", "gradients", "second derivatives"), found, expected, strict=True)
    for what, mine, theirs in parts:
        if not derivatives and what != "value":
            continue
        pairs = [(mine, theirs)] if what == "value" else list(zip(mine, theirs, strict=True))
        for got, wanted in pairs:
            got = np.asarray(got)
            if got.shape != np.shape(wanted):
                return f"{case.label}: {what} of shape {got.shape}, not {np.shape(wanted)}\n{source}"
            # The loss loses what is this small beside 1.
            tiny = 1e-6 if case.dtype == "float32" else 1e-18
            scale = float(np.max(np.abs(wanted), initial=0.0, where=np.isfinite(wanted)))
            fine = np.isfinite(wanted)
            if what == "value" and not np.array_equal(np.isnan(got), np.isnan(wanted)):
                return f"{case.label}: NaN in one {what}: {got} {wanted}\n{source}"
            if not np.allclose(got[fine], np.asarray(wanted)[fine], rtol=rtol, atol=rtol * scale + tiny):
                return f"{case.label}: {what} {got}, not {wanted}\n{source}"
    return None


def weights_of(case: Case) -> list[Any]:
    """The weights of the gradients by each real input."""
    return [case.weights(np.shape(case.values[s]), 2 + k) for k, s in enumerate(case.real)]


CASES: Mapping[str, Callable[[], Iterator[Case]]] = {
    "each op": each_op,
    "array programs": array_programs,
    "recurrences": recurrence_programs,
    "random graphs": lambda: (pointwise(seed) for seed in range(25)),
    "whole programs": programs,
}
"""Where cases come from."""

# What a framework has no function for, of what is tried here: a new one is to be looked at.
_INTEGRALS = "Chi Ci LambertW Shi Si airyai airyaiprime airybi airybiprime ellipe ellipeinc ellipk ellipkinc"
_NOWHERE = {
    *_INTEGRALS.split(),
    "erfcinv",
    "erfi",
    "exp1",
    "li",
    "sinc",
}  # sinc: its derivative is a Bessel function
UNSPELLED = {
    "jax": _NOWHERE | {"dawsn", "erfcx", "fresnelc", "fresnels", "log_ndtr"},
    "torch": _NOWHERE | {"cbrt", "dawsn", "expi", "fresnelc", "fresnels", "gamma"},
    "tensorflow": _NOWHERE | {"cbrt", "erfcx", "expi", "gamma", "log_ndtr"},
    "keras": _NOWHERE
    | {
        "dawsn",
        "digamma",
        "erfcx",
        "expi",
        "expm",
        "fresnelc",
        "fresnels",
        "gamma",
        "lgamma",
        "log_ndtr",
        "sinm",
        "cosm",
    }
    | {"expm_frechet", "cosm_frechet", "sinm_frechet"},
}


def all_wrong(
    framework: str, run: Runner, kind: str, gradient: int, *, single: bool = False, rtol: float = 1e-7
) -> list[str]:
    """Return what is wrong with the cases of a kind; that a framework lacks an op must be known."""
    wrong: list[str] = []
    for case in CASES[kind]():
        tried = case.single() if single else case
        found = check(tried, framework, run, gradient, derivatives=gradient > 0, rtol=rtol)
        if found == "unsupported":
            names = ops_of(case)
            if not names & UNSPELLED[framework] and kind != "whole programs":
                wrong.append(f"{case.label}: no spelling")
        elif found is not None:
            wrong.append(found)
    return wrong


def ops_of(case: Case) -> set[str]:
    """The names of the ops of a case."""
    return {n.op.name for n in topological([case.node])}


_HARD = np.asarray(
    [
        np.nan,
        np.inf,
        -np.inf,
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1e-40,
        -1e-40,
        1e-300,
        1e40,
        -1e40,
        1e300,
        745.5,
        -745.5,
    ]
)


def at_hard_points(framework: str, convert: Callable[[Any], Any]) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield, for every elementwise op of one or two numbers that is spelled, its name, arguments, value, and ours."""
    for op in dict.fromkeys(OPS.values()):
        if not op.pointwise or op.arity > 2 or op.parameters or any(k != "number" for k in op.takes):
            continue
        if op.name in ("zeta", "polylog", "expi"):  # whose values here are mpmath's, and take long
            continue
        symbols = [sg.symbols(f"x{i}").node for i in range(op.arity)]
        try:
            node = op(*symbols)
            source = framework_source(node, framework, inputs=symbols)
        except SymgradError:
            continue
        points = [_HARD] if op.arity == 1 else [a.ravel() for a in np.meshgrid(_HARD, _HARD)]
        with np.errstate(all="ignore"):
            ours = evaluate([node], dict(zip(symbols, points, strict=True)))[0]
        namespace: dict[str, Any] = {}
        exec(source, namespace)
        yield op.name, points, np.asarray(namespace["f"](*map(convert, points))), np.asarray(ours)


def assert_like_ours_at_hard_points(framework: str, convert: Callable[[Any], Any], *own_mind: str) -> None:
    """Compare values at poles and ends of domains, but for functions of which the framework has its own mind there."""
    for name, points, mine, ours in at_hard_points(framework, convert):
        if name not in own_mind:
            tiny = (np.abs(mine * 1.0) < 1e-200) & (np.abs(ours * 1.0) < 1e-200)  # flushed to zero
            same = np.isclose(mine, ours, rtol=1e-9, atol=0, equal_nan=True) | tiny
            assert np.all(same), (name, [p[~same] for p in points], mine[~same], ours[~same])
