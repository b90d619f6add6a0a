"""The public surface: one table, lazy, typed, and stable under the order of imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType

import pytest

import symgrad

ROOT = Path(symgrad.__file__).parent.parent
TABLE: dict[str, str] = symgrad._PUBLIC
SUBMODULES: tuple[str, ...] = symgrad._MODULES
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
        symgrad.gradd  # type: ignore[attr-defined]  # noqa: B018


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


@pytest.mark.parametrize("name", sorted(n for n, m in TABLE.items() if m == f"symgrad.{n}"))
def test_function_survives_the_import_of_its_namesake_package(name: str) -> None:
    for first in (f"import symgrad.{name}", f"import symgrad; symgrad.{name}; import symgrad.{name}"):
        assert run(f"{first}; import symgrad; print(callable(symgrad.{name}))").strip() == "True"


def test_star_import_leaves_builtins_alone() -> None:
    assert run("from symgrad import *; print(compile is __import__('builtins').compile)").strip() == "True"


def test_installed_version_is_the_stated_one() -> None:
    try:
        installed = version("symgrad")
    except PackageNotFoundError:
        pytest.skip("symgrad runs from its source tree")
    assert installed == symgrad.__version__
