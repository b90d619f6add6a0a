"""The import graph of the page shows the packages and the imports that there are."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.markdown import ROOT


def _tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return _tool("import_graph")


def test_the_picture_is_up_to_date(tool: ModuleType, golden: Callable[[str, str], None]) -> None:
    """If not: make picture."""
    golden("../../docs/import_graph.svg", tool.import_graph())


def test_every_room_is_a_layer(tool: ModuleType) -> None:
    names = {
        p.stem for p in (ROOT / "symgrad").iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()
    }
    assert {n for n in names if not n.startswith("__")} == set(tool.layers())


def test_the_checker_of_proofs_imports_nothing_of_mathematics(tool: ModuleType) -> None:
    (refused,) = (
        c["forbidden_modules"] for c in tool.contracts() if c.get("source_modules") == ["symgrad.checker"]
    )
    assert {f"symgrad.{package}" for package in tool.layers()} - {*refused} == {
        "symgrad.checker",
        "symgrad.support",
    }
    support = {p.stem for p in (ROOT / "symgrad" / "support").glob("*.py")} - {"__init__"}
    assert support - {module.removeprefix("symgrad.support.") for module in refused} == {
        "errors",
        "files",
        "source",
        "traversal",
    }


def test_arrows_and_their_chains_are_the_imports(tool: ModuleType) -> None:
    order = tool.layers()
    read = tool.imports(order)
    drawn = tool.arrows(order, read)
    assert all(b in read[a] for a, b in drawn)
    for a, b in ((package, other) for package in order for other in read[package]):
        assert b in _reached(a, drawn)
    for arrow in drawn:  # none too many
        assert arrow[1] not in _reached(arrow[0], [other for other in drawn if other != arrow])


def _reached(package: str, drawn: list[tuple[str, str]]) -> set[str]:
    found: set[str] = set()
    pending = [package]
    while pending:
        top = pending.pop()
        new = {b for a, b in drawn if a == top} - found
        found |= new
        pending += new
    return found


def test_an_import_against_the_order_is_refused(tool: ModuleType) -> None:
    with pytest.raises(ValueError, match="below imports above"):
        tool.arrows(["above", "below"], {"above": set(), "below": {"above"}})


def test_the_page_names_the_layers_in_their_order(tool: ModuleType) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^support .*$", page, re.MULTILINE)
    order = tool.layers()[::-1]
    assert line.split() == order


@pytest.mark.parametrize(
    ("source", "places"),
    [
        ("def f():\n    import a\n", [2]),
        ("def f():\n    if f:\n        import a\n        from b import c\n", [3]),
        ("class C:\n    def f(self):\n        import a\n        self()\n        import b  # slow\n", [3]),
        ("def f():\n    # Slow.\n    import a\n    import b\n", []),
        ("# What is imported in functions here is slow.\ndef f():\n    import a\n", []),
        ("import a\nif a:\n    import b\n", []),
    ],
)
def test_imports_inside_functions_say_why(
    source: str, places: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    structure = _tool("structure")
    for name in ("ROOT", "PACKAGE"):
        monkeypatch.setattr(structure, name, tmp_path)
    (tmp_path / "package.py").write_text(f"\n{source}", encoding="utf-8")
    assert list(structure.unexplained()) == [f"package.py:{line + 1}" for line in places]
