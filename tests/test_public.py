"""The public surface: one table, lazy, typed, and stable under the order of imports."""

from __future__ import annotations

import ast
import builtins
import pkgutil
import subprocess
import sys
import zipfile
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType

import pytest

import symgrad
from symgrad.surface import MODULES, PUBLIC

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
    if folder in ("symgrad.export", "symgrad.importers"):
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


def test_type_checkers_see_the_same_surface() -> None:
    tree = ast.parse(Path(symgrad.__file__).read_text(encoding="utf-8"))
    (block,) = (n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    typed: dict[str, str] = {}
    for statement in block.body:
        assert isinstance(statement, ast.ImportFrom)
        assert statement.module is not None
        for alias in statement.names:
            assert alias.asname == alias.name, "only `import name as name` re-exports"
            typed[alias.name] = statement.module
    assert typed == TABLE | dict.fromkeys(SUBMODULES, "symgrad")


def test_names_are_sorted() -> None:
    assert list(TABLE) == sorted(TABLE)


def test_no_package_has_the_name_of_a_function() -> None:
    # Importing symgrad.explain would bind the package where users call the function.
    assert {module.name for module in pkgutil.iter_modules(symgrad.__path__)} & set(TABLE) == set()


def test_all_is_the_surface_without_what_python_has() -> None:
    table = {name for name in TABLE if ".export." not in PUBLIC[name]}
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
