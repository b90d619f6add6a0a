"""Check the structure of the package: import cycles between files and between packages, packages with many
entries, file names that occur in neighbouring packages, long files, imports inside functions without a reason.

`python tools/structure.py` prints the counts and everything that is over the limits, and exits with 1 if anything is;
`make layers` runs it. Imports for type checkers, imports inside functions, and modules that are imported by a name in a
text are counted, too.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "symgrad"

MOST_ENTRIES = 16
"""The number of files and packages in one package that a reader can take in at a glance."""

MOST_LINES = 450
"""The number of lines of a file: the aim is 400."""

CROWDED = {
    "symgrad": "the layers themselves, in the order of docs/architecture.md",
}
"""Packages with more entries, each with the reason."""

PARALLEL = {
    "symgrad/apps": "each application has its limits, its report and its question",
    "symgrad/checker": "real numbers, complex numbers and arrays have a file of one name for what is one thing in all",
    "symgrad/compiler": "each stage has a part for elementwise code and one for arrays",
    "symgrad/frontend/latex": "subscripts and superscripts are read as syntax, then given a meaning",
    "symgrad/interop": "each framework is imported and exported",
    "symgrad/interop/importers": "each framework has a file of one name for what is one thing in all",
    "symgrad/verification": "verdicts and the diagnosis of mistakes have limits of their own",
}
"""Packages whose inner packages may have files of the same name, each with the reason."""

BOTH_WAYS = {
    "symgrad/api": "what users hold has methods that are the verbs, and verbs answer with what users hold",
}
"""Packages whose inner packages import each other, although no files form a cycle, each with the reason."""

UPWARD = ("symgrad", "symgrad.support.errors", "symgrad.support.public_names")
"""Modules that name public modules: users see these names, and the modules are found when they are first needed."""


def imports() -> dict[str, set[str]]:
    """Return what every module imports."""
    sys.path.insert(0, str(ROOT))
    graph = grimp.build_graph("symgrad", exclude_type_checking_imports=False, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def cycle(found: Mapping[str, set[str]] | None = None) -> list[str]:
    """Return an import cycle, the first module also last; an empty list if there is none."""
    try:
        TopologicalSorter(imports() if found is None else found).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def between_packages(found: Mapping[str, set[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield every package whose entries import each other in a cycle, with that cycle."""
    for package, names in packages():
        above = ".".join(package.relative_to(ROOT).parts)
        inner = {f"{above}.{name}" for name in names}
        read: dict[str, set[str]] = {name: set() for name in inner}
        for module, others in found.items():
            start = _entry(module, above)
            if start in inner:
                read[start] |= ({_entry(other, above) for other in others} & inner) - {start}
        if around := cycle(read):
            yield _path(package), [name.rpartition(".")[2] for name in around]


def _entry(module: str, above: str) -> str:
    """Return the entry of a package to which a module belongs."""
    return ".".join(module.split(".")[: above.count(".") + 2]) if module.startswith(f"{above}.") else ""


def by_name(found: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Yield modules, each with the modules whose names occur in its texts: it may import them by these names."""
    for file in sorted(PACKAGE.rglob("*.py")):
        place = file.relative_to(ROOT).with_suffix("").parts
        module = ".".join(place[:-1] if place[-1] == "__init__" else place)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and re.fullmatch(r"symgrad(\.\w+)+(:\w+)?", text):
                named = text.partition(":")[0]
                if named in found and named != module:
                    yield module, named


def upward(found: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Yield modules whose texts contain the name of a module in a higher layer."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    order = next(c["layers"] for c in contracts if c.get("containers") == ["symgrad"])
    height = {package.strip("()"): -i for i, package in enumerate(order)}
    for module, named in by_name(found):
        layers = [name.split(".")[1] for name in (module, named) if "." in name]
        if module not in UPWARD and len(layers) == 2 and height[layers[0]] < height[layers[1]]:
            yield module, named


def packages() -> Iterator[tuple[Path, list[str]]]:
    """Yield every package with the names of its entries."""
    for package in sorted(p.parent for p in PACKAGE.rglob("__init__.py")):
        names = [p.stem for p in package.iterdir() if p.suffix == ".py" and not p.stem.startswith("__")]
        names += [p.name for p in package.iterdir() if (p / "__init__.py").exists()]
        yield package, sorted(names)


def twice() -> Iterator[str]:
    """Yield file names that occur in two neighbouring packages, or in a package and in its parent."""
    entries = dict(packages())
    for package, names in entries.items():
        inner = [package / name for name in names if package / name in entries]
        if package != PACKAGE and _path(package) not in PARALLEL:
            yield from (
                f"{package.name}/{n} and {i.name}/{n}" for i in inner for n in set(names) & set(entries[i])
            )
            for a, b in combinations(inner, 2):
                yield from (
                    f"{a.name}/{n} and {b.name}/{n}" for n in sorted(set(entries[a]) & set(entries[b]))
                )


def unexplained() -> Iterator[str]:
    """Yield places where something is imported inside a function and no comment there, or for the file, says why."""
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        lines = ["", *text.splitlines()]
        if "\n# What is imported in functions here" in text:
            continue
        for block in _blocks(ast.parse(text)):
            before: ast.stmt | None = None
            for statement in block:
                if isinstance(statement, ast.Import | ast.ImportFrom) and not isinstance(
                    before, ast.Import | ast.ImportFrom
                ):
                    said = lines[statement.lineno : (statement.end_lineno or 0) + 1]
                    if "#" not in "".join(said) and not lines[statement.lineno - 1].lstrip().startswith("#"):
                        yield f"{_path(file)}:{statement.lineno}"
                before = statement


def _blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of statements inside functions."""
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    nested = {n for f in functions for n in ast.walk(f)}
    for node in nested:
        yield from (block for _, block in ast.iter_fields(node) if block and isinstance(block, list))


def _path(place: Path) -> str:
    return place.relative_to(ROOT).as_posix()


def main() -> int:
    """Print the counts, and everything that is over the limits."""
    found = imports()
    around = cycle(found)
    wrong: list[str] = [f"a cycle: {' -> '.join(around)}"] if around else []
    both_ways = dict(between_packages(found))
    wrong += [
        f"a cycle of packages in {package}: {' -> '.join(names)}"
        for package, names in both_ways.items()
        if package not in BOTH_WAYS
    ]
    wrong += [
        f"no cycle of packages any more: {package}" for package in BOTH_WAYS if package not in both_ways
    ]
    wrong += [f"{module} has the name of {named}, a layer above it" for module, named in upward(found)]
    count = 0
    for package, names in packages():
        count += 1
        if len(names) > MOST_ENTRIES and _path(package) not in CROWDED:
            wrong.append(f"{_path(package)} has {len(names)} entries: {', '.join(names)}")
    wrong += [f"in neighbours: {pair}" for pair in twice()]
    wrong += [f"imported inside a function, and no comment says why: {place}" for place in unexplained()]
    lines = 0
    for file in sorted(PACKAGE.rglob("*.py")):
        length = len(file.read_text(encoding="utf-8").splitlines())
        lines += length
        if length > MOST_LINES:
            wrong.append(f"{_path(file)} has {length} lines")
    print(
        f"{count} packages, {len(list(PACKAGE.rglob('*.py')))} files, {lines:,} lines; {len(wrong)} to mend"
    )
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
