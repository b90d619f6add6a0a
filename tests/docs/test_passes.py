"""The page lists the passes from outputs to machine code as the code calls them."""

from __future__ import annotations

import ast
import re

import pytest

from tests.docs.markdown import ROOT


def called(path: str, *functions: str) -> list[str]:
    """Return what functions of a file call, each by its first call in the text."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    bodies = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name in functions]
    calls = [n for body in bodies for n in ast.walk(body) if isinstance(n, ast.Call)]
    calls.sort(key=lambda n: (n.lineno, n.col_offset))
    return list(dict.fromkeys(n.func.id for n in calls if isinstance(n.func, ast.Name)))


@pytest.mark.parametrize(
    ("path", "functions"),
    [
        ("symgrad/compiler/forms/pipeline.py", ("derivative_forms", "_linear_passes")),
        ("symgrad/compiler/kernels/compile.py", ("compile_nodes", "_array_kernel")),
        ("symgrad/compiler/lowering/arrays/plan.py", ("plan_arrays",)),
    ],
)
def test_passes_are_listed_in_the_order_of_the_code(path: str, functions: tuple[str, ...]) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.split("## From outputs to machine code")[1].split("\n## ")[0]
    # In the text after the name of its file, up to that of the next one, or to the next point.
    told = section.split(f"`{path}`")[1].split("\n2. ")[0]
    listed = re.findall(r"`(\w+)`", told)
    found = called(path, *functions)
    assert [name for name in listed if name in found] == [name for name in found if name in listed]
    assert len([name for name in listed if name in found]) >= 4
    beside = {
        "info",
        "any",
        "len",
        "set",
        "tuple",
        "isinstance",
        "suppress",
        "substitute",
        "topological",
        "zip",
        "Plan",
        "plan_arrays",  # for the body of a recurrence
        "is_elementwise",
        "all_pointwise",
        "cache",
        "anew",  # forms by name, each computed where one asks for it
        "f",
        "_linear_passes",
    }
    if path != "symgrad/compiler/kernels/compile.py":  # which checks what it is given, too
        assert set(found) - beside == {name for name in listed if name in found}
