"""The registry: what it refuses, what every record keeps, and what a wrong application raises."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from symgrad.errors import DomainError, ShapeError, UsageError
from symgrad.ir.graph import OPS, Node, Op, symbol, truth
from symgrad.ir.notation.literals import ATOM, OR
from symgrad.ir.op import Structure
from symgrad.ir.types import BOOL, INT, REAL, Declaration
from symgrad.ops.scalar.logic import eq, where
from tests.ops.cases import CASES, every_case
from tests.processes import printed

ALL = [op for op in dict.fromkeys(OPS.values()) if op.pointwise]
every_op = pytest.mark.parametrize("op", ALL, ids=lambda op: op.name)

x = symbol(Declaration("x"))
flag = symbol(Declaration("flag", BOOL))


def fresh(**changes: Any) -> Op:
    return replace(OPS["sin"], **({"name": "unheard_of", "aliases": ()} | changes))


@pytest.mark.parametrize(
    "field", [f.name for f in fields(Op) if f.name not in {"domain", "cas", "push", "pull", "structure"}]
)
def test_a_missing_field_is_refused(field: str) -> None:
    with pytest.raises((UsageError, TypeError)) as caught:
        OPS.register(fresh(**{field: None}))
    if field not in {"name", "aliases"}:
        assert caught.type is UsageError
        assert f"'{field}' is missing" in str(caught.value)


def test_a_field_left_out_is_refused() -> None:
    given = {f.name: getattr(OPS["sin"], f.name) for f in fields(Op)}
    for name in given:
        with pytest.raises(TypeError, match=name):
            Op(**{k: v for k, v in given.items() if k != name})


@pytest.mark.parametrize("changes", [{"name": "sin"}, {"aliases": ("cos",)}, {"aliases": ("arcsin",)}])
def test_a_taken_spelling_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="is taken by"):
        OPS.register(fresh(**changes))


def test_a_wrong_number_of_partials_is_refused() -> None:
    with pytest.raises(UsageError, match="2 partials for 1 arguments"):
        OPS.register(fresh(partials=(None, None)))


def test_a_sample_of_wrong_length_is_refused() -> None:
    with pytest.raises(UsageError, match="does not have 1 arguments"):
        OPS.register(fresh(samples=((1, 2),)))


@pytest.mark.parametrize("field", ["push", "pull"])
def test_push_and_pull_come_together(field: str) -> None:
    with pytest.raises(UsageError, match="push and pull come together"):
        OPS.register(fresh(**{field: lambda node, i, moving: moving}))


def test_a_structure_comes_with_push_and_pull() -> None:
    with pytest.raises(UsageError, match="push and pull come together, and with a structure"):
        OPS.register(fresh(structure=OPS["softmax"].structure))
    with pytest.raises(UsageError, match="push and pull come together, and with a structure"):
        OPS.register(replace(OPS["softmax"], name="unheard_of", structure=None))


@pytest.mark.parametrize("field", [f.name for f in fields(Structure)])
def test_a_missing_field_of_a_structure_is_refused(field: str) -> None:
    softmax = OPS["softmax"]
    given = {f.name: getattr(softmax.structure, f.name) for f in fields(Structure)}
    with pytest.raises(TypeError, match=field):
        Structure(**{k: v for k, v in given.items() if k != field})
    if field not in {"native", "source"}:  # None says something there
        empty = replace(softmax, name="unheard_of", structure=Structure(**{**given, field: None}))
        with pytest.raises(UsageError, match=f"'{field}' is missing"):
            OPS.register(empty)


def test_what_was_refused_left_nothing_behind() -> None:
    assert "unheard_of" not in OPS
    assert OPS["cos"].name == "cos"


def applied(op: Op, change: Callable[[list[Node]], list[Node]]) -> Node:
    args = [flag if t == "bool" else x for t in op.takes]
    params = next(c.params for c in CASES if c.op is op)
    return op(*change(args), params=params)


@every_case
def test_a_wrong_number_of_arguments_is_refused(case: Any) -> None:
    for change in (lambda args: [*args, x], lambda args: args[1:]):
        with pytest.raises(UsageError, match=f"{case.op.name} takes {case.op.arity} arguments"):
            applied(case.op, change)


@pytest.mark.parametrize("op", [op for op in ALL if op.parameters], ids=lambda op: op.name)
def test_missing_parameters_are_refused(op: Op) -> None:
    with pytest.raises(UsageError):
        op(*[x for _ in op.takes])


@pytest.mark.parametrize("op", [op for op in ALL if "bool" in op.takes], ids=lambda op: op.name)
def test_a_number_for_a_truth_value_is_refused(op: Op) -> None:
    with pytest.raises(DomainError, match=f"argument 1 of {op.name} is a number"):
        applied(op, lambda args: [x, *args[1:]])


def test_a_truth_value_for_a_number_counts_as_one_or_zero() -> None:
    node = OPS["sin"](flag)
    assert node.args[0].op is where
    assert [a.value for a in node.args[0].args[1:]] == [1, 0]
    assert eq(truth(True), x).args[0].op is where


@pytest.mark.parametrize("case", [c for c in CASES if c.op.arity > 1], ids=str)
def test_shapes_that_do_not_broadcast_are_refused(case: Any) -> None:
    kinds = [BOOL if t == "bool" else REAL for t in case.op.takes]
    shapes = [(3,), (4,), ()]
    args = [symbol(Declaration(f"a{i}", k, shapes[i])) for i, k in enumerate(kinds)]
    with pytest.raises(ShapeError, match=case.op.name):
        case.op(*args, params=case.params)
    args[1] = symbol(Declaration("a1", kinds[1], (2, 1)))
    assert case.op(*args, params=case.params).shape == (2, 3)


@every_case
def test_kind_of_the_result(case: Any) -> None:
    node = case.node
    assert node.dtype == ("real" if case.op.gives == "same" else case.op.gives)
    if "bool" not in case.op.takes:
        n = symbol(Declaration("n", INT))
        of_integers = case.op(*[n] * case.op.arity, params=case.params)
        assert of_integers.dtype == ("int" if case.op.gives == "same" else case.op.gives)


@every_op
def test_record_is_plain(op: Op) -> None:
    assert pickle.loads(pickle.dumps(op)) is op
    assert OPS[op.name] is op
    assert all(OPS[alias] is op for alias in op.aliases)
    assert op.name.isidentifier()
    assert op.doc
    assert not op.doc.endswith(".")
    assert OR <= op.precedence <= ATOM
    assert repr(op) == f"<op {op.name}>"


@every_op
def test_latex_template_takes_the_arguments(op: Op) -> None:
    letters = ["alpha", "beta", "gamma"][: op.arity]
    text = op.latex.format(*letters, **dict.fromkeys(op.parameters, "n"))
    assert all(letter in text for letter in letters)
    assert text.count("{") == text.count("}")
    assert text.count(r"\left") == text.count(r"\right")


def test_names_of_numpy_scipy_sympy_and_c_are_known() -> None:
    spellings = {
        "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "arcsinh": "asinh",
        "arccosh": "acosh", "arctanh": "atanh", "Abs": "abs", "absolute": "abs", "fabs": "abs", "ceiling": "ceil",
        "Max": "maximum", "Min": "minimum", "loggamma": "lgamma", "gammaln": "lgamma", "tgamma": "gamma",
        "psi": "digamma", "expit": "sigmoid", "rint": "round", "around": "round", "ln": "log", "Cbrt": "cbrt",
        "power": "pow", "multiply": "mul", "negative": "neg", "divide": "div", "logical_and": "and_",
    }  # fmt: skip
    for spelling, name in spellings.items():
        assert OPS[spelling].name == name


def test_importing_the_records_imports_no_heavy_library() -> None:
    code = (
        "import sys, symgrad.ops; print(*sorted({'scipy', 'sympy', 'mpmath', 'llvmlite'} & set(sys.modules)))"
    )
    assert printed(code).strip() == ""
