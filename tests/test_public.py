"""The public surface: one table, lazy, typed, and stable under the order of imports."""

from __future__ import annotations

import ast
import builtins
import pkgutil
import re
import subprocess
import sys
import zipfile
from collections import Counter
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import symgrad
from symgrad.support.public_names import MODULES, PUBLIC

ROOT = Path(symgrad.__file__).parent.parent
TABLE: dict[str, str] = PUBLIC
SUBMODULES: tuple[str, ...] = MODULES
HEAVY = ("sympy", "scipy", "mpmath", "llvmlite", "lark", "click", "rich", "flint", "matplotlib")


def run(program: str) -> str:
    """The output of a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_light() -> None:
    loaded = run("import sys, symgrad; print(*sorted(n.partition('.')[0] for n in sys.modules))").split()
    assert "symgrad" in loaded
    assert not set(HEAVY) & set(loaded)


@pytest.mark.parametrize("name", sorted(TABLE))
def test_public_name_resolves(name: str) -> None:
    folder, _, framework = TABLE[name].rpartition(".")
    if folder in ("symgrad.interop.exporters", "symgrad.interop.importers"):
        pytest.importorskip(framework)
    value = getattr(symgrad, name)
    assert value is getattr(import_module(TABLE[name]), name)
    assert not isinstance(value, ModuleType)
    assert getattr(value, "__doc__", None), f"symgrad.{name} has no docstring"


@pytest.mark.parametrize("name", SUBMODULES)
def test_public_module_resolves(name: str) -> None:
    assert getattr(symgrad, name) is import_module(f"symgrad.{name}")


def test_dir_lists_the_surface() -> None:
    assert {*TABLE, *SUBMODULES, "__version__"} <= set(dir(symgrad))


def test_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(symgrad, "gradd")
    with pytest.raises(AttributeError, match="gradd"):
        vars(symgrad)["__getattr__"]("gradd")


def lines_of(stub: str) -> tuple[dict[str, str], list[ast.stmt]]:
    """The names of a stub with their modules, and the statements that are no imports."""
    tree = ast.parse((ROOT / "symgrad" / stub).read_text(encoding="utf-8"))
    typed: dict[str, str] = {}
    rest: list[ast.stmt] = []
    for statement in tree.body[1:]:
        if not isinstance(statement, ast.ImportFrom):
            rest.append(statement)
            continue
        assert statement.module is not None
        (alias,) = statement.names
        assert alias.asname == alias.name, "only `import name as name` re-exports"
        assert alias.name not in typed
        typed[alias.name] = statement.module
    return typed, rest


def test_every_line_of_the_stub_is_a_name_of_the_table() -> None:
    typed, rest = lines_of("__init__.pyi")
    assert typed == TABLE | dict.fromkeys(SUBMODULES, "symgrad")
    assert [ast.unparse(statement) for statement in rest] == ["__version__: str"]


MODULES_OF_FUNCTIONS = ("arrays", "linalg", "nn", "special")


def names_of(module: str) -> list[str]:
    return getattr(symgrad, module).__all__


def differing_in_case_alone(names: list[str]) -> list[str]:
    lowered = Counter(name.lower() for name in names)
    return [name for name in names if lowered[name.lower()] > 1]


def test_a_name_has_one_place() -> None:
    names = [*TABLE, *SUBMODULES, *(n for m in SUBMODULES for n in names_of(m))]
    assert [n for n, k in Counter(names).items() if k > 1] == []
    assert len(TABLE) <= 110  # a list that can be read; what is special has a module


def test_no_two_names_differ_in_case_alone() -> None:
    assert differing_in_case_alone(["minimum", "sin", "Minimum"]) == ["minimum", "Minimum"]
    assert differing_in_case_alone([*TABLE, *SUBMODULES]) == []
    functions = [*TABLE, *(n for m in MODULES_OF_FUNCTIONS for n in names_of(m))]  # found in the package, too
    assert differing_in_case_alone(functions) == []
    assert {m: found for m in SUBMODULES if (found := differing_in_case_alone(names_of(m)))} == {}


def test_classes_of_answers_are_in_their_module_alone() -> None:
    typed, rest = lines_of("results.pyi")
    assert rest == []
    assert list(typed) == names_of("results")
    assert {*typed} <= set(dir(symgrad.results))
    text = symgrad.results.__doc__ or ""
    for name, module in typed.items():
        value = getattr(symgrad.results, name)
        assert value is getattr(import_module(module), name)
        assert isinstance(value, type)
        assert f"`{name}`" in text
        assert not hasattr(symgrad, name)
    assert not hasattr(symgrad.results, "minimum")


@pytest.mark.parametrize("name", ["results.Minimum", "results.Derivation", "errors.ShapeError"])
def test_a_class_looked_for_in_the_package_is_told_with_its_place(name: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(f"; try: sg.{name}") + "$"):
        getattr(symgrad, name.partition(".")[2])


def test_what_functions_return_is_public() -> None:
    """But for the classes of frameworks, which would import them."""
    missing: dict[str, set[str]] = {}
    for name, module in TABLE.items():
        if module.startswith("symgrad.interop.exporters."):
            continue
        spec = find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        body = ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body
        for function in body:
            if isinstance(function, ast.FunctionDef) and function.name == name and function.returns:
                said = {n.id for n in ast.walk(function.returns) if isinstance(n, ast.Name)}
                said -= {*dir(builtins), "Any", "Callable", "Generator", *TABLE, *names_of("results")}
                if said:
                    missing[name] = said
    assert missing == {}


def test_a_class_is_imported_when_it_is_asked_for() -> None:
    program = (
        "import sys, symgrad as sg\n"
        "before = 'symgrad.api' in sys.modules, 'numpy' in sys.modules\n"
        "sg.results.__all__; dir(sg.results)\n"
        "print(before == ('symgrad.api' in sys.modules, 'numpy' in sys.modules), end=' ')\n"
        "sg.results.Minimum\n"
        "print('symgrad.apps.review' in sys.modules, 'sympy' in sys.modules)\n"
    )
    assert run(program).split() == ["True", "False", "False"]


@pytest.mark.parametrize("module", MODULES_OF_FUNCTIONS)
def test_functions_of_modules_are_found_without_them(module: str) -> None:
    for name in names_of(module):
        function = getattr(getattr(symgrad, module), name)
        assert function.__doc__
        assert getattr(symgrad, name) is function
        assert name not in dir(symgrad)


@pytest.mark.parametrize(
    ("name", "ours"),
    [("binomial", "binom"), ("expint", "expn"), ("lgamma", "gammaln"), ("LambertW", "lambertw")],
)
def test_functions_of_modules_are_found_under_other_names(name: str, ours: str) -> None:
    assert getattr(symgrad, name) is getattr(symgrad.special, ours)


@pytest.mark.parametrize(
    ("name", "cure"), [("airy", "sg.special.airy(x)"), ("solve", "sg.linalg.solve(x, ...)")]
)
def test_a_function_looked_for_in_an_expression_is_told_with_its_place(name: str, cure: str) -> None:
    with pytest.raises(symgrad.errors.UnknownAttributeError, match=re.escape(cure)):
        getattr(symgrad.symbols("x"), name)


@pytest.mark.parametrize("name", ["asin", "ln", "sec", "lowergamma", "airyai", "Si", "mod"])
def test_other_spellings_are_found_and_not_listed(name: str) -> None:
    assert callable(getattr(symgrad, name))
    assert name not in dir(symgrad)
    assert name not in vars(symgrad)["__all__"]


def test_special_functions_have_the_names_of_scipy() -> None:
    assert {n for n in names_of("special") if not hasattr(scipy.special, n)} == {"polylog"}
    ours = {n for n in names_of("linalg") if not hasattr(scipy.linalg, n) and not hasattr(np.linalg, n)}
    assert ours == {
        *("cosm_frechet", "sinm_frechet", "logdet"),
        "kron",
    }  # as expm_frechet; slogdet gives more; np.kron


def test_functions_of_arrays_have_the_names_of_numpy() -> None:
    assert {n for n in names_of("arrays") if not hasattr(np, n)} == {"scatter_add"}


def test_functions_that_come_together_are_those_of_scipy() -> None:
    x = symgrad.symbols("x")
    for name in ("airy", "fresnel", "sici", "shichi"):
        ours = [float(f(x=1.3)) for f in getattr(symgrad.special, name)(x)]
        assert ours == pytest.approx(list(getattr(scipy.special, name)(1.3)), rel=1e-13)


def test_no_package_has_the_name_of_a_function() -> None:
    # Importing symgrad.explain would bind the package where users call the function.
    assert {module.name for module in pkgutil.iter_modules(symgrad.__path__)} & set(TABLE) == set()


def test_all_is_the_surface_without_what_python_has() -> None:
    table = {name for name in TABLE if ".exporters." not in PUBLIC[name]}
    assert {*vars(symgrad)["__all__"]} == {*table, *SUBMODULES} - set(dir(builtins))
    assert len(set(vars(symgrad)["__all__"])) == len(vars(symgrad)["__all__"])


def test_star_import_leaves_builtins_alone() -> None:
    assert run("from symgrad import *; print(compile is __import__('builtins').compile)").strip() == "True"


def test_installed_version_is_the_stated_one() -> None:
    try:
        installed = version("symgrad")
    except PackageNotFoundError:
        pytest.skip("symgrad runs from its source tree")
    assert installed == symgrad.__version__


def test_it_runs_from_an_archive(tmp_path: Path) -> None:
    archive = tmp_path / "symgrad.zip"
    with zipfile.ZipFile(archive, "w") as files:
        for path in sorted((ROOT / "symgrad").rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                files.write(path, path.relative_to(ROOT).as_posix())
    program = (
        f"import sys; sys.path.insert(0, {str(archive)!r})\n"
        "import symgrad as sg\n"
        f"assert sg.__file__.startswith({str(archive)!r})\n"
        "p = sg.parse('x : real\\ny = sin(x)**2')\n"
        "print(sg.grad(p['y'], p['x']), sg.compile(p['y'])(0.0), sg.explain(p['y'], p['x']).svg()[:4])\n"
    )
    assert run(program).split() == ["2*cos(x)*sin(x)", "0.0", "<svg"]
