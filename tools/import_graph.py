"""Draw the import graph: the packages in the order of the layers, with their imports, to docs/import_graph.svg.

`make picture` runs it. The order is that of the layers in pyproject.toml. The arrows are all imports of the package,
including those for type checkers and inside functions. An arrow is left out if a chain of other arrows implies it, so
that the drawing stays readable; the sentence in a box is the first one of the package's docstring.
"""

from __future__ import annotations

import ast
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import grimp

from symgrad.printing.pictures.picture import Box, Edge, Picture
from symgrad.printing.pictures.svg import picture_svg

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "import_graph.svg"
CAPTION = (
    "Each package builds on those below it. An import that a chain of arrows implies is not drawn again: nearly every "
    "package imports ir and support."
)
_COLUMNS = 30  # number of characters of a line in a box


def layers() -> list[str]:
    """Return the packages in the order of the contract; a package that imports others comes before them."""
    (order,) = (c["layers"] for c in contracts() if c.get("containers") == ["symgrad"])
    return [package.strip("()") for package in order]


def contracts() -> list[dict[str, Any]]:
    """Return which package may import which, as import-linter reads the contract."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["tool"]["importlinter"]["contracts"]


def imports(order: list[str]) -> dict[str, set[str]]:
    """Return which packages each package imports."""
    graph = grimp.build_graph("symgrad", exclude_type_checking_imports=False, cache_dir=None)
    found: dict[str, set[str]] = {package: set() for package in order}
    for module in graph.modules:
        package = _package(module)
        if package in found:
            read = {_package(other) for other in graph.find_modules_directly_imported_by(module)}
            found[package] |= (read & found.keys()) - {package}
    return found


def _package(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def arrows(order: list[str], read: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Return the imports that no chain of others implies: the transitive reduction.

    Raises:
        ValueError: if an import goes against the order.
    """
    reached: dict[str, set[str]] = {}
    drawn: list[tuple[str, str]] = []
    for i in reversed(range(len(order))):
        package = order[i]
        reached[package] = set()
        for other in sorted(read[package], key=order.index):
            if order.index(other) <= i:
                raise ValueError(f"{package} imports {other}, which stands before it")
            if other not in reached[package]:
                drawn.append((package, other))
            reached[package] |= {other} | reached[other]
    return sorted(drawn, key=lambda arrow: (order.index(arrow[0]), order.index(arrow[1])))


def summary(package: str) -> str:
    """Return the description in the docstring of a package: its first sentence, up to a colon or similar."""
    path = ROOT / "symgrad" / package / "__init__.py"
    path = path if path.exists() else ROOT / "symgrad" / f"{package}.py"
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    for end in (". ", ".\n", ": ", "; "):
        text = text.partition(end)[0]
    return " ".join(text.split()).rstrip(".")


def _box(package: str) -> Box:
    first, *rest = textwrap.wrap(summary(package), _COLUMNS)
    return Box("op", package, first, " ".join(rest) or None, None, output=False, wrt=False, noisy=False)


def import_graph() -> str:
    """Return the picture as SVG."""
    order = layers()
    number = {package: i for i, package in enumerate(order)}
    boxes = tuple(_box(package) for package in order)
    edges = tuple(
        Edge(number[a], number[b], cut=False, noisy=False, derivative=False)
        for a, b in arrows(order, imports(order))
    )
    return picture_svg(Picture(boxes, edges, len(boxes)), [CAPTION], [("value", "imports")], "Import graph")


if __name__ == "__main__":
    TARGET.write_text(import_graph(), encoding="utf-8", newline="\n")
    print(f"wrote {TARGET.relative_to(ROOT)}")
